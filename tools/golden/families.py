"""The tiny packages of the encoder families after the first three; packages.py makes and runs them.

Their tokenizers are WordPiece files that transformers loads as they stand (PreTrainedTokenizerFast), because
here the encoder is under test: every branch of each family's forward pass that a configuration can choose.
"""

import tiny
import transformers
from sentence_transformers.sentence_transformer import modules as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    ElectraModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaModel,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaModel,
)

BERT_NAMES = dict(unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]")
ROBERTA_NAMES = dict(unk_token="<unk>", cls_token="<s>", sep_token="</s>", pad_token="<pad>", mask_token="<mask>",
                     bos_token="<s>", eos_token="</s>")
ROBERTA_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]


def word_pieces(vocab, names, pair, **options):
    """A fast tokenizer without a class of its own: BERT's stages, the given special tokens and pair template."""
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token=names["unk_token"], max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    cls, sep = names["cls_token"], names["sep_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}", pair=pair.format(cls=cls, sep=sep),
        special_tokens=[(cls, vocab[cls]), (sep, vocab[sep])])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names, **options)


def roberta_tokenizer(vocab, **options):
    return word_pieces(vocab, ROBERTA_NAMES, "{cls} $A {sep} {sep} $B {sep}", **options)


def bert_tokenizer(vocab, **options):
    return word_pieces(vocab, BERT_NAMES, "{cls} $A {sep} $B:1 {sep}:1", **options)


def bert_vocabulary(words=24):
    return tiny.vocabulary(words=words)


def table_rows(config):
    return config["max_position_embeddings"]


def roberta_vocabulary(words=24, specials=ROBERTA_SPECIALS):
    return tiny.vocabulary(specials, words=words, last=["<mask>"])


# name: configuration, model, tokenizer, vocabulary, and how many tokens the position table holds
FAMILIES = {
    "roberta": (RobertaConfig, RobertaModel, roberta_tokenizer, roberta_vocabulary,
                lambda c: c["max_position_embeddings"] - c.get("pad_token_id", 1) - 1),
    "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel, roberta_tokenizer, roberta_vocabulary,
                    lambda c: c["max_position_embeddings"] - c.get("pad_token_id", 1) - 1),
}

FAMILIES["electra"] = (ElectraConfig, ElectraModel, bert_tokenizer, bert_vocabulary, table_rows)

PADS = ["a <pad> b <mask> c </s> d <pad>", "<pad>", "<pad> <pad> the people"]


def roberta_specs(Spec, sized, pooling, texts, few):
    full = sized("roberta", 32, 2, 4, 64, 66, type_vocab_size=1)
    yield Spec("roberta_mean_normalize", "roberta", full,
               "Positions count from pad_token_id + 1 = 2; a literal <pad> in the text takes position 1 without "
               "advancing the count; one token type; a text of the greatest length.",
               modules=[pooling(32, "mean"), st.Normalize()], vocab=roberta_vocabulary(None), stages=True,
               texts=texts + PADS)
    yield Spec("roberta_pad_elsewhere", "roberta",
               sized("roberta", 16, 1, 2, 32, 40, type_vocab_size=1, pad_token_id=5, layer_norm_eps=0.01,
                     hidden_act="gelu_new"),
               "pad_token_id is 5: six rows of the position table are reserved.", modules=[pooling(16, "cls")],
               vocab=roberta_vocabulary(specials=["<s>", "</s>", "<unk>", "a", "b", "<pad>"]), texts=few + PADS)
    yield Spec("roberta_two_types", "roberta", sized("roberta", 15, 2, 3, 31, 34),
               "Two token types as the class's default has them, odd widths, saved from RobertaForMaskedLM: prefix "
               "roberta., lm_head, no pooler.", head=RobertaForMaskedLM, texts=few)
    yield Spec("xlm_roberta_mean_normalize", "xlm-roberta",
               sized("xlm-roberta", 36, 2, 3, 72, 50, type_vocab_size=1, layer_norm_eps=1e-5),
               "RoBERTa's forward pass under its own model_type.", modules=[pooling(36, "mean"), st.Normalize()],
               stages=True, texts=texts + PADS)
    yield Spec("xlm_roberta_mlm_head", "xlm-roberta", sized("xlm-roberta", 16, 1, 2, 32, 34, type_vocab_size=1),
               "Saved from XLMRobertaForMaskedLM: prefix roberta., lm_head.", head=XLMRobertaForMaskedLM, texts=few)


def electra_specs(Spec, sized, pooling, texts, few):
    yield Spec("electra_mean_normalize", "electra", sized("electra", 36, 2, 3, 72, 48, embedding_size=20),
               "Embeddings of width 20 are normalised and widened to the layers' 36.",
               modules=[pooling(36, "mean"), st.Normalize()], vocab=bert_vocabulary(None), stages=True, texts=texts)
    yield Spec("electra_same_width", "electra",
               sized("electra", 16, 1, 2, 32, 32, embedding_size=16, hidden_act="relu", layer_norm_eps=0.02),
               "embedding_size is hidden_size: nothing widens.", modules=[pooling(16, "cls")], texts=few)
    yield Spec("electra_discriminator", "electra", sized("electra", 16, 1, 2, 32, 32, embedding_size=10),
               "Saved from ElectraForPreTraining: prefix electra., discriminator_predictions.",
               head=ElectraForPreTraining, texts=few)
    yield Spec("electra_generator", "electra", sized("electra", 12, 1, 2, 24, 32, embedding_size=21),
               "Saved from ElectraForMaskedLM: embeddings wider than the layers, generator_predictions, "
               "generator_lm_head tied.", head=ElectraForMaskedLM, texts=few)


def specs(Spec, sized, pooling, texts, few):
    yield from roberta_specs(Spec, sized, pooling, texts, few)
    yield from electra_specs(Spec, sized, pooling, texts, few)
