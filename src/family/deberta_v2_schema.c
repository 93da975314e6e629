/*
 * DeBERTa v2's configuration (versions 2 and 3 share it). Defaults are those of DebertaV2Config in transformers 5.24 and,
 * for what its code reads without the class declaring it (share_att_key, position_buckets, norm_rel_ebd, embedding_size,
 * attention_head_size, conv_*), those of that code.
 *
 * The surprising rows: pos_att_type changes the divisor of all scores even without relative_attention, as in the published
 * code; and max_position_embeddings is a table only with position_biased_input.
 */
#include "describe/builder.h"
#include "describe/schema_rows.h"
#include "family/deberta_v2.h"
#include "family/schemas.h"

#include <math.h>
#include <string.h>

static const char *const model_types[] = {"deberta-v2", NULL};

static const char *const architectures[] = {
    "DebertaV2Model",
    "DebertaV2ForMaskedLM",
    "DebertaV2ForSequenceClassification",
    "DebertaV2ForTokenClassification",
    "DebertaV2ForQuestionAnswering",
    "DebertaV2ForMultipleChoice",
    NULL,
};

static const struct tn_schema_field fields[] = {
    TN_ROW_SIZE("/vocab_size", "vocab_size", "128100", 1, 8388608),
    TN_ROW_SIZE("/hidden_size", "hidden_size", "1536", 1, 1048576),
    TN_ROW_SIZE("/num_hidden_layers", "num_hidden_layers", "24", 1, 4096),
    TN_ROW_SIZE("/num_attention_heads", "num_attention_heads", "24", 1, 65536),
    TN_ROW_SIZE("/intermediate_size", "intermediate_size", "6144", 1, 16777216),
    TN_ROW_SIZE("/max_position_embeddings", "max_position_embeddings", "512", 1, 16777216),
    TN_ROW_SIZE("/type_vocab_size", "type_vocab_size", "0", 0, 65536),
    /* Absent: hidden_size. */
    {"/embedding_size", "embedding_size", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "null", "null", 1, 1048576},
    {"/attention_head_size", "attention_head_size", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "null", "null", 1, 1048576},
    TN_ROW_CHOICE("/hidden_act", "hidden_act", "\"gelu\"", TN_HIDDEN_ACTS),
    TN_ROW_NUMBER("/layer_norm_eps", "layer_norm_eps", "1e-7", 0, 1),
    TN_ROW_FLAG("/relative_attention", "relative_attention", "false"),
    TN_ROW_FLAG("/position_biased_input", "position_biased_input", "true"),
    TN_ROW_FLAG("/share_att_key", "share_att_key", "false"),
    /* Below 1: not set. */
    TN_ROW_NUMBER("/position_buckets", "position_buckets", "-1", -1, 1048576),
    TN_ROW_NUMBER("/max_relative_positions", "max_relative_positions", "-1", -1, 1048576),
    {"/pos_att_type", "pos_att_type", TN_FIELD_UNDERSTOOD, TN_TYPE_WORDS, "null",
     "null | \"\" | \"c2p\" | \"p2c\" | \"c2p|p2c\" | \"p2c|c2p\"", 0, 0},
    TN_ROW_CHOICE("/norm_rel_ebd", "norm_rel_ebd", "\"none\"", "\"none\" | \"layer_norm\""),
    TN_ROW_OFF("/conv_kernel_size", "0 | null"),
    TN_ROW_DESCRIPTIVE("/conv_act"), /* of the convolution, which is off */
    TN_ROW_DESCRIPTIVE("/conv_groups"),
    /* The row of the embedding table that training kept at zero; no forward pass reads the number. */
    {"/pad_token_id", "pad_token_id", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "0", "null", 0, 0},
    TN_ROW_FLAG("/tie_word_embeddings", "tie_word_embeddings", "true"),
    /* Of the heads. */
    TN_ROW_FLAG("/legacy", "legacy", "true"),
    TN_ROW_CHOICE("/pooler_hidden_act", "pooler_hidden_act", "\"gelu\"", TN_HIDDEN_ACTS),
    {"/pooler_hidden_size", "pooler_hidden_size", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "null", "null", 1, 1048576},
    TN_ROW_DESCRIPTIVE("/pooler_dropout"),
    TN_ROW_DESCRIPTIVE("/cls_dropout"),
    TN_ROW_DESCRIPTIVE("/hidden_dropout_prob"),
    TN_ROW_DESCRIPTIVE("/attention_probs_dropout_prob"),
};

/* ---- what several fields say together ---------------------------------------------------------------------------------- */

uint64_t tn_deberta_v2_embedding_size(const struct tn_component *c)
{
    const struct tn_value *stated = tn_component_value(c, "embedding_size");
    return stated->present ? stated->u : tn_component_value(c, "hidden_size")->u;
}

uint64_t tn_deberta_v2_max_distance(const struct tn_component *c)
{
    double stated = tn_component_value(c, "max_relative_positions")->f;
    return stated >= 1 ? (uint64_t)stated : tn_component_value(c, "max_position_embeddings")->u;
}

uint64_t tn_deberta_v2_buckets(const struct tn_component *c)
{
    double stated = tn_component_value(c, "position_buckets")->f;
    return stated >= 1 ? (uint64_t)stated : 0;
}

bool tn_deberta_v2_has_term(const struct tn_component *c, const char *term)
{
    struct tn_str words = tn_component_value(c, "pos_att_type")->s;
    size_t n = strlen(term);
    for (size_t i = 0; i + n <= words.n; i++) {
        if (memcmp(words.s + i, term, n) == 0) return true;
    }
    return false;
}

static struct tn_finding *refuse(struct tn_builder *b, const struct tn_component *c, const char *pointer, const char *what)
{
    return tn_refuse_value(b, c, pointer, pointer + 1, what);
}

static void check_whole(struct tn_builder *b, const struct tn_component *c, const char *pointer)
{
    double value = tn_component_value(c, pointer + 1)->f;
    if (value == floor(value)) return;
    struct tn_finding *f = refuse(b, c, pointer, "is no whole number");
    tn_found(f, "%g", value);
}

static void check(struct tn_builder *b, const struct tn_component *c)
{
    uint64_t hidden = tn_component_value(c, "hidden_size")->u, heads = tn_component_value(c, "num_attention_heads")->u;
    uint64_t buckets = tn_deberta_v2_buckets(c), distance = tn_deberta_v2_max_distance(c);
    const struct tn_value *head = tn_component_value(c, "attention_head_size");
    check_whole(b, c, "/position_buckets");
    check_whole(b, c, "/max_relative_positions");
    if (head->present && heads > 0 && (head->u != hidden / heads || hidden % heads)) {
        struct tn_finding *f = refuse(b, c, "/attention_head_size", "does not give hidden_size with the heads");
        tn_found(f, "%llu", (unsigned long long)head->u);
        tn_expected(f, "%llu", (unsigned long long)(hidden / heads));
    }
    if (!tn_component_value(c, "relative_attention")->b || buckets == 0) return;
    if (buckets >= 2 && distance > buckets / 2 + 1) return;
    struct tn_finding *f = refuse(b, c, "/position_buckets", "leaves no distances to share rows");
    tn_found(f, "%llu buckets for distances below %llu", (unsigned long long)buckets, (unsigned long long)distance);
    tn_expected(f, "2 or more, and half of them less than the largest distance");
}

const struct tn_schema tn_schema_deberta_v2 = {
    .id = "deberta-v2/1",
    .model_types = model_types,
    .architectures = architectures,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .position_table = "position_biased_input",
    .check = check,
    .tokenizer_class = "DebertaV2Tokenizer",
};
