/*
 * MPNet's configuration. Defaults are those of MPNetConfig in transformers 4.6 to 4.57 and 5.24.
 *
 * The surprising rows: pad_token_id must be 1 and relative_attention_num_buckets 32. The published forward pass
 * hard-codes both (positions count from padding index 1, distances fall into 32 buckets) and never reads the
 * configuration's numbers, so a package that states others means something that no reference computes.
 */
#include "describe/schema_rows.h"
#include "family/schemas.h"

static const char *const model_types[] = {"mpnet", NULL};

static const char *const architectures[] = {
    "MPNetModel",
    "MPNetForMaskedLM",
    "MPNetForSequenceClassification",
    "MPNetForTokenClassification",
    "MPNetForQuestionAnswering",
    "MPNetForMultipleChoice",
    NULL,
};

static const struct tn_schema_field fields[] = {
    TN_ROW_SIZE("/vocab_size", "vocab_size", "30527", 1, 8388608),
    TN_ROW_SIZE("/hidden_size", "hidden_size", "768", 1, 1048576),
    TN_ROW_SIZE("/num_hidden_layers", "num_hidden_layers", "12", 1, 4096),
    TN_ROW_SIZE("/num_attention_heads", "num_attention_heads", "12", 1, 65536),
    TN_ROW_SIZE("/intermediate_size", "intermediate_size", "3072", 1, 16777216),
    /* Rows of the table; positions count from 2, so two tokens fewer fit. */
    TN_ROW_SIZE("/max_position_embeddings", "max_position_embeddings", "512", 3, 16777216),
    {"/relative_attention_num_buckets", "relative_attention_num_buckets", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "32", "32",
     0, 0},
    TN_ROW_CHOICE("/hidden_act", "hidden_act", "\"gelu\"", TN_HIDDEN_ACTS),
    TN_ROW_NUMBER("/layer_norm_eps", "layer_norm_eps", "1e-12", 0, 1),
    {"/pad_token_id", "pad_token_id", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "1", "1", 0, 0},
    TN_ROW_FLAG("/tie_word_embeddings", "tie_word_embeddings", "true"),
    TN_ROW_DESCRIPTIVE("/hidden_dropout_prob"),
    TN_ROW_DESCRIPTIVE("/attention_probs_dropout_prob"),
    TN_ROW_DESCRIPTIVE("/classifier_dropout"),
};

const struct tn_schema tn_schema_mpnet = {
    .id = "mpnet/1",
    .model_types = model_types,
    .architectures = architectures,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .reserved_positions = 2,
    .tokenizer_class = "MPNetTokenizer",
};
