/*
 * ELECTRA's configuration. Defaults are those of ElectraConfig in transformers 5.24; position_embedding_type existed
 * until 4.57. The summary_* fields shape the head of a multiple-choice model and no other.
 */
#include "describe/schema_rows.h"
#include "family/schemas.h"

static const char *const model_types[] = {"electra", NULL};

static const char *const architectures[] = {
    "ElectraModel",
    "ElectraForPreTraining",
    "ElectraForMaskedLM",
    "ElectraForSequenceClassification",
    "ElectraForTokenClassification",
    "ElectraForQuestionAnswering",
    "ElectraForMultipleChoice",
    NULL,
};

static const struct tn_schema_field fields[] = {
    TN_ROW_SIZE("/vocab_size", "vocab_size", "30522", 1, 8388608),
    TN_ROW_SIZE("/embedding_size", "embedding_size", "128", 1, 1048576),
    TN_ROW_SIZE("/hidden_size", "hidden_size", "256", 1, 1048576),
    TN_ROW_SIZE("/num_hidden_layers", "num_hidden_layers", "12", 1, 4096),
    TN_ROW_SIZE("/num_attention_heads", "num_attention_heads", "4", 1, 65536),
    TN_ROW_SIZE("/intermediate_size", "intermediate_size", "1024", 1, 16777216),
    TN_ROW_SIZE("/max_position_embeddings", "max_position_embeddings", "512", 1, 16777216),
    TN_ROW_SIZE("/type_vocab_size", "type_vocab_size", "2", 1, 65536),
    TN_ROW_CHOICE("/hidden_act", "hidden_act", "\"gelu\"", TN_HIDDEN_ACTS),
    TN_ROW_NUMBER("/layer_norm_eps", "layer_norm_eps", "1e-12", 0, 1),
    TN_ROW_CHOICE("/position_embedding_type", "position_embedding_type", "\"absolute\"", "\"absolute\""),
    /* The row of the embedding table that training kept at zero; no forward pass reads the number. */
    {"/pad_token_id", "pad_token_id", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "0", "null", 0, 0},
    TN_ROW_FLAG("/tie_word_embeddings", "tie_word_embeddings", "true"),
    TN_ROW_DESCRIPTIVE("/hidden_dropout_prob"),
    TN_ROW_DESCRIPTIVE("/attention_probs_dropout_prob"),
    TN_ROW_DESCRIPTIVE("/classifier_dropout"),
    TN_ROW_DESCRIPTIVE("/summary_type"),
    TN_ROW_DESCRIPTIVE("/summary_use_proj"),
    TN_ROW_DESCRIPTIVE("/summary_activation"),
    TN_ROW_DESCRIPTIVE("/summary_last_dropout"),
};

const struct tn_schema tn_schema_electra = {
    .id = "electra/1",
    .model_types = model_types,
    .architectures = architectures,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .tokenizer_class = "BertTokenizer",
};
