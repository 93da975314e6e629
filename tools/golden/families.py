"""The tiny packages of the encoder families after the first three; packages.py makes and runs them.

Their tokenizers are WordPiece files that transformers loads as they stand (PreTrainedTokenizerFast), because
here the encoder is under test: every branch of each family's forward pass that a configuration can choose.
"""

import tiny
import torch
from sentence_transformers.sentence_transformer import modules as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    DebertaV2Tokenizer,
    RobertaTokenizer,
    XLMRobertaTokenizer,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    DebertaV2Model,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    ElectraModel,
    ModernBertConfig,
    ModernBertForMaskedLM,
    ModernBertModel,
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


# The families' own tokenizer classes, which build every stage from a vocabulary that is written out here.


def byte_pairs(**options):
    """RobertaTokenizer over all bytes and a few words."""
    words = ["\u0120the", "\u0120people", "\u0120were", "\u0120there", "Hello", "\u0120world", "\u0120of", "\u0120and"]
    vocab = {t: i for i, t in enumerate(["<s>", "<pad>", "</s>", "<unk>"] + sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = []
    for word in words:
        piece = word[0]
        for letter in word[1:]:
            if (piece, letter) not in merges:
                merges.append((piece, letter))
            piece += letter
            vocab.setdefault(piece, len(vocab))
    vocab["<mask>"] = len(vocab)
    return RobertaTokenizer(vocab=vocab, merges=merges, **options)


def scored_pieces(specials):
    letters = "abcdefghijklmnopqrstuvwxyzABCHILT0123456789.,!?'%#[]\u00e9"
    words = ["the", "people", "were", "there", "world", "of", "and", "water", "ing", "er", "s", "make"]
    pieces = [(t, 0.0) for t in specials]
    pieces += [("\u2581" + w, -3.0 - 0.1 * i) for i, w in enumerate(words[:8])]
    pieces += [(w, -4.0 - 0.1 * i) for i, w in enumerate(words)] + [("\u2581", -2.5)]
    return pieces + [(c, -6.0 - 0.01 * i) for i, c in enumerate(letters)]


def xlm_pieces(**options):
    return XLMRobertaTokenizer(vocab=scored_pieces(["<s>", "<pad>", "</s>", "<unk>"]) + [("<mask>", 0.0)], **options)


def deberta_pieces(**options):
    return DebertaV2Tokenizer(vocab=scored_pieces(["[PAD]", "[CLS]", "[SEP]", "[UNK]"]) + [("[MASK]", 0.0)], **options)


# name: configuration, model, tokenizer, vocabulary, and how many tokens the position table holds
FAMILIES = {
    "roberta": (RobertaConfig, RobertaModel, roberta_tokenizer, roberta_vocabulary,
                lambda c: c["max_position_embeddings"] - c.get("pad_token_id", 1) - 1),
    "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel, roberta_tokenizer, roberta_vocabulary,
                    lambda c: c["max_position_embeddings"] - c.get("pad_token_id", 1) - 1),
}

def modernbert_vocabulary(words=24):
    return tiny.vocabulary(words=words)


FAMILIES["modernbert"] = (ModernBertConfig, ModernBertModel, bert_tokenizer, modernbert_vocabulary, table_rows)
FAMILIES["deberta-v2"] = (DebertaV2Config, DebertaV2Model, bert_tokenizer, bert_vocabulary, table_rows)
FAMILIES["electra"] = (ElectraConfig, ElectraModel, bert_tokenizer, bert_vocabulary, table_rows)

LONGER = "the people of the world make water and words for all of them in time as they were there " * 20
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


def old_modernbert_names(edit, **fields):
    """The file as releases before 5 wrote it: two thetas and a period instead of rope_parameters and layer_types."""
    def run(folder):
        edit(folder / "config.json", rope_parameters=None, layer_types=None, **fields)
    return run


def modernbert_specs(Spec, sized, pooling, texts, few, edit):
    def small(**changes):
        return sized("modernbert", 16, changes.pop("layers", 2), 2, changes.pop("intermediate", 24), 64, pad_token_id=0,
                     **changes)

    full = sized("modernbert", 48, 5, 3, 40, 160, pad_token_id=0, local_attention=16)
    yield Spec("modernbert_mean_normalize", "modernbert", full,
               "Layers 0 and 3 see the whole text, the others 8 neighbours on each side; no biases.",
               modules=[pooling(48, "mean"), st.Normalize()], vocab=modernbert_vocabulary(None), stages=True, texts=texts)
    yield Spec("modernbert_biases", "modernbert",
               small(attention_bias=True, mlp_bias=True, norm_bias=True, norm_eps=0.01, local_attention=5, layers=3),
               "Biases everywhere, a window of two neighbours, saved from ModernBertForMaskedLM: prefix model., head, "
               "decoder tied.", head=ModernBertForMaskedLM, texts=few)
    yield Spec("modernbert_norm_bias_only", "modernbert", small(norm_bias=True, hidden_activation="silu"),
               "norm_bias alone, hidden_activation silu.", texts=few)
    yield Spec("modernbert_layer_types", "modernbert",
               small(layers=4, local_attention=2, layer_types=["sliding_attention", "full_attention",
                                                               "full_attention", "sliding_attention"]),
               "layer_types as a list; a window of one neighbour.", texts=few)
    yield Spec("modernbert_own_place_only", "modernbert", small(layers=2, local_attention=1),
               "local_attention 1: a token of a local layer sees itself.", texts=few[:3])
    yield Spec("modernbert_thetas", "modernbert",
               small(layers=2, rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                                                "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}),
               "Small thetas, so that every pair of dimensions turns.", texts=few)
    yield Spec("modernbert_old_names", "modernbert",
               small(layers=4, local_attention=6,
                     rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 700.0},
                                      "sliding_attention": {"rope_type": "default", "rope_theta": 70.0}},
                     layer_types=["full_attention", "sliding_attention"] * 2),
               "The fields of releases before 5: global_rope_theta, local_rope_theta, global_attn_every_n_layers.",
               after=old_modernbert_names(edit, global_rope_theta=700.0, local_rope_theta=70.0,
                                          global_attn_every_n_layers=2, layer_norm_eps=1e-05,
                                          position_embedding_type="absolute", reference_compile=True), texts=few)
    yield Spec("modernbert_rope_linear", "modernbert",
               small(rope_parameters={"full_attention": {"rope_type": "linear", "rope_theta": 1000.0, "factor": 4.0},
                                      "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}),
               "Linear scaling in the layers that see all.", texts=few)
    yield Spec("modernbert_rope_llama3", "modernbert",
               sized("modernbert", 64, 2, 2, 40, 64, pad_token_id=0,
                     rope_parameters={name: {"rope_type": "llama3", "rope_theta": theta, "factor": 8.0,
                                             "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                             "original_max_position_embeddings": 32}
                                      for name, theta in (("full_attention", 10000.0), ("sliding_attention", 300.0))}),
               "Llama 3 scaling in both kinds of layers: kept, mixed and slowed frequencies.", texts=few)
    yield Spec("modernbert_rope_scaling", "modernbert", small(rope_parameters=None),
               "rope_scaling, the older spelling, which speaks of both kinds of layers.",
               after=lambda folder: edit(folder / "config.json", rope_parameters=None,
                                         rope_scaling={"rope_type": "linear", "factor": 2.0}), texts=few)
    yield Spec("modernbert_longer", "modernbert", small(local_attention=128, layers=3, max_position_embeddings=32),
               "max_seq_length beyond max_position_embeddings: positions are computed and have no end.",
               after=lambda folder: edit(folder / "sentence_bert_config.json", max_seq_length=300),
               texts=[few[1], LONGER])
    yield Spec("modernbert_bf16", "modernbert", small(local_attention=8), "Weights stored as bf16, computed in f32.",
               dtype=torch.bfloat16, texts=few)


def with_position_table(tensors):
    """As the published checkpoints of version 3 have it: a table that nothing reads."""
    name = next(n for n in tensors if n.endswith("embeddings.word_embeddings.weight"))
    prefix = name[: -len("word_embeddings.weight")]
    return {**tensors, f"{prefix}position_embeddings.weight": torch.ones(48, tensors[name].shape[1])}


def deberta_specs(Spec, sized, pooling, texts, few, edit):
    def small(**changes):
        base = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False)
        return sized("deberta-v2", changes.pop("hidden", 16), changes.pop("layers", 2), changes.pop("heads", 2), 24,
                     changes.pop("positions", 48), **{**base, **changes})

    version_3 = dict(share_att_key=True, norm_rel_ebd="layer_norm", position_buckets=8, max_relative_positions=-1)
    yield Spec("deberta_v2_mean_normalize", "deberta-v2", small(hidden=48, heads=3, layers=3, positions=96, **version_3),
               "As version 3 has it: both terms with the layers' own matrices, normed relative embeddings, 8 buckets "
               "for distances up to 95, no absolute positions, no types.",
               modules=[pooling(48, "mean"), st.Normalize()], vocab=bert_vocabulary(None), stages=True, texts=texts)
    yield Spec("deberta_v2_own_projections", "deberta-v2", small(norm_rel_ebd="layer_norm", position_buckets=6,
                                                                 max_relative_positions=20),
               "pos_key_proj and pos_query_proj of each layer; distances end at 20.", texts=few)
    yield Spec("deberta_v2_c2p", "deberta-v2", small(pos_att_type="c2p", max_relative_positions=10),
               "c2p alone, written as a string; a row for each distance up to 10, no norm.", texts=few)
    yield Spec("deberta_v2_p2c_shared", "deberta-v2", small(pos_att_type="P2C ", share_att_key=True,
                                                            position_buckets=4),
               "p2c alone with shared matrices; odd spelling of the string, which the class brings into order.",
               texts=few)
    yield Spec("deberta_v2_v1_style", "deberta-v2",
               small(relative_attention=False, pos_att_type=None, position_biased_input=True, type_vocab_size=2),
               "No relative attention: absolute positions and token types as in BERT.", texts=few)
    yield Spec("deberta_v2_divisor", "deberta-v2",
               small(relative_attention=False, position_biased_input=True, norm_rel_ebd="layer_norm"),
               "pos_att_type without relative_attention: it still changes the divisor of the scores.", texts=few)
    yield Spec("deberta_v2_all_positions", "deberta-v2",
               small(position_biased_input=True, type_vocab_size=3, layer_norm_eps=0.01, hidden_act="gelu_new",
                     position_buckets=16),
               "Absolute positions and types beside both terms.", texts=few)
    yield Spec("deberta_v2_narrow_embeddings", "deberta-v2", small(embedding_size=10, **version_3),
               "Embeddings narrower than the layers, widened without a bias before the norm.", texts=few, stages=True)
    yield Spec("deberta_v2_odd_width", "deberta-v2", small(hidden=33, heads=3, position_buckets=5,
                                                           max_relative_positions=12),
               "Widths and head sizes that no vector length divides, an odd number of buckets.", texts=few)
    yield Spec("deberta_v2_longer", "deberta-v2", small(positions=32, **version_3),
               "max_seq_length beyond max_position_embeddings, where no table ends: distances share the last row.",
               after=lambda folder: edit(folder / "sentence_bert_config.json", max_seq_length=300),
               texts=[few[1], LONGER])
    yield Spec("deberta_v2_mlm_head", "deberta-v2", small(**version_3),
               "Saved from DebertaV2ForMaskedLM: prefix deberta., cls head, and a table of absolute positions that "
               "nothing reads.", head=DebertaV2ForMaskedLM, tensors=with_position_table, texts=few)
    yield Spec("deberta_v2_f16", "deberta-v2", small(**version_3), "Weights stored as f16, computed in f32.",
               dtype=torch.float16, texts=few)


def own_class_specs(Spec, sized, pooling, texts):
    blanks = ["  the  people\twere\nthere ", "Hello<mask> world [MASK] of"]
    yield Spec("roberta_own_tokenizer", "roberta", sized("roberta", 16, 1, 2, 24, 66, type_vocab_size=1),
               "RobertaTokenizer: byte-level pairs, no normaliser, <s> A </s>.", own_tokenizer=byte_pairs,
               texts=texts + blanks)
    yield Spec("roberta_own_tokenizer_prefix", "roberta", sized("roberta", 16, 1, 2, 24, 66, type_vocab_size=1),
               "RobertaTokenizer with add_prefix_space.", own_tokenizer=byte_pairs,
               tokenizer={"add_prefix_space": True, "trim_offsets": False}, texts=texts + blanks)
    yield Spec("xlm_roberta_own_tokenizer", "xlm-roberta", sized("xlm-roberta", 16, 1, 2, 24, 66, type_vocab_size=1),
               "XLMRobertaTokenizer: Unigram over words split at blanks, each with a mark in front.",
               own_tokenizer=xlm_pieces, texts=texts + blanks)
    yield Spec("deberta_v2_own_tokenizer", "deberta-v2", sized("deberta-v2", 16, 1, 2, 24, 48),
               "DebertaV2Tokenizer: blanks joined, Unigram.", own_tokenizer=deberta_pieces, texts=texts + blanks)
    yield Spec("deberta_v2_own_tokenizer_split", "deberta-v2", sized("deberta-v2", 16, 1, 2, 24, 48),
               "DebertaV2Tokenizer with do_lower_case, split_by_punct and a mark in front of the first word alone.",
               own_tokenizer=deberta_pieces, texts=texts + blanks,
               tokenizer={"do_lower_case": True, "split_by_punct": True, "add_prefix_space": False})


def specs(Spec, sized, pooling, texts, few, edit):
    yield from roberta_specs(Spec, sized, pooling, texts, few)
    yield from electra_specs(Spec, sized, pooling, texts, few)
    yield from modernbert_specs(Spec, sized, pooling, texts, few, edit)
    yield from deberta_specs(Spec, sized, pooling, texts, few, edit)
    yield from own_class_specs(Spec, sized, pooling, texts)
