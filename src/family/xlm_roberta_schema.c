/*
 * XLM-RoBERTa's configuration: RoBERTa's fields under the defaults of XLMRobertaConfig in transformers 5.24, which
 * differ in vocab_size alone. pad_token_id changes answers: positions count from it.
 */
#include "describe/schema_rows.h"
#include "family/schemas.h"

static const char *const model_types[] = {"xlm-roberta", NULL};

static const char *const architectures[] = {
    "XLMRobertaModel",
    "XLMRobertaForMaskedLM",
    "XLMRobertaForSequenceClassification",
    "XLMRobertaForTokenClassification",
    "XLMRobertaForQuestionAnswering",
    "XLMRobertaForMultipleChoice",
    NULL,
};

static const struct tn_schema_field fields[] = {
    TN_ROW_SIZE("/vocab_size", "vocab_size", "30522", 1, 8388608),
    TN_ROW_SIZE("/hidden_size", "hidden_size", "768", 1, 1048576),
    TN_ROW_SIZE("/num_hidden_layers", "num_hidden_layers", "12", 1, 4096),
    TN_ROW_SIZE("/num_attention_heads", "num_attention_heads", "12", 1, 65536),
    TN_ROW_SIZE("/intermediate_size", "intermediate_size", "3072", 1, 16777216),
    TN_ROW_SIZE("/max_position_embeddings", "max_position_embeddings", "512", 2, 16777216),
    TN_ROW_SIZE("/type_vocab_size", "type_vocab_size", "2", 1, 65536),
    TN_ROW_CHOICE("/hidden_act", "hidden_act", "\"gelu\"", TN_HIDDEN_ACTS),
    TN_ROW_NUMBER("/layer_norm_eps", "layer_norm_eps", "1e-12", 0, 1),
    TN_ROW_CHOICE("/position_embedding_type", "position_embedding_type", "\"absolute\"", "\"absolute\""),
    TN_ROW_SIZE("/pad_token_id", "pad_token_id", "1", 0, 8388607),
    TN_ROW_FLAG("/tie_word_embeddings", "tie_word_embeddings", "true"),
    TN_ROW_DESCRIPTIVE("/hidden_dropout_prob"),
    TN_ROW_DESCRIPTIVE("/attention_probs_dropout_prob"),
    TN_ROW_DESCRIPTIVE("/classifier_dropout"),
};

const struct tn_schema tn_schema_xlm_roberta = {
    .id = "xlm-roberta/1",
    .model_types = model_types,
    .architectures = architectures,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .reserved_by = "pad_token_id",
    .tokenizer_class = "XLMRobertaTokenizer",
};
