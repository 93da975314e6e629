/*
 * DistilBERT's configuration under BERT's normalised names. Defaults are those of DistilBertConfig in transformers 4.6
 * to 4.57 and 5.24. Its attribute_map makes the general names (hidden_size ...) aliases of its own (dim ...).
 *
 * The surprising row: sinusoidal_pos_embds is descriptive. It only says how training filled the position table; the
 * forward pass reads the table that is stored.
 */
#include "describe/schema_rows.h"
#include "family/schemas.h"

static const char *const model_types[] = {"distilbert", NULL};

static const char *const architectures[] = {
    "DistilBertModel",
    "DistilBertForMaskedLM",
    "DistilBertForSequenceClassification",
    "DistilBertForTokenClassification",
    "DistilBertForQuestionAnswering",
    "DistilBertForMultipleChoice",
    NULL,
};

static const struct tn_schema_field fields[] = {
    TN_ROW_SIZE("/vocab_size", "vocab_size", "30522", 1, 8388608),
    TN_ROW_SIZE("/dim", "hidden_size", "768", 1, 1048576),
    TN_ROW_SIZE("/hidden_size", "hidden_size", "768", 1, 1048576),
    TN_ROW_SIZE("/n_layers", "num_hidden_layers", "6", 1, 4096),
    TN_ROW_SIZE("/num_hidden_layers", "num_hidden_layers", "6", 1, 4096),
    TN_ROW_SIZE("/n_heads", "num_attention_heads", "12", 1, 65536),
    TN_ROW_SIZE("/num_attention_heads", "num_attention_heads", "12", 1, 65536),
    TN_ROW_SIZE("/hidden_dim", "intermediate_size", "3072", 1, 16777216),
    TN_ROW_SIZE("/max_position_embeddings", "max_position_embeddings", "512", 1, 16777216),
    TN_ROW_CHOICE("/activation", "hidden_act", "\"gelu\"", TN_HIDDEN_ACTS),
    {"/pad_token_id", "pad_token_id", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "0", "null", 0, 0},
    TN_ROW_FLAG("/tie_word_embeddings", "tie_word_embeddings", "true"),
    TN_ROW_DESCRIPTIVE("/sinusoidal_pos_embds"),
    TN_ROW_DESCRIPTIVE("/dropout"),
    TN_ROW_DESCRIPTIVE("/attention_dropout"),
    TN_ROW_DESCRIPTIVE("/qa_dropout"),
    TN_ROW_DESCRIPTIVE("/seq_classif_dropout"),
    TN_ROW_DESCRIPTIVE("/tie_weights_"), /* of the first checkpoints; replaced by tie_word_embeddings, never read */
};

const struct tn_schema tn_schema_distilbert = {
    .id = "distilbert/1",
    .model_types = model_types,
    .architectures = architectures,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .tokenizer_class = "BertTokenizer",
};
