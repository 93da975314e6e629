/*
 * ModernBERT's configuration. Defaults are those of ModernBertConfig in transformers 5.24, which also reads the fields of
 * the releases before (global_rope_theta, local_rope_theta, global_attn_every_n_layers, rope_scaling).
 *
 * The surprising row: max_position_embeddings limits nothing by itself. Positions are angles that are computed, and a
 * package may state a longer input.
 */
#include "describe/builder.h"
#include "describe/schema_rows.h"
#include "family/modernbert.h"
#include "family/schemas.h"

#include <stdio.h>

static const char *const model_types[] = {"modernbert", NULL};

static const char *const architectures[] = {
    "ModernBertModel",
    "ModernBertForMaskedLM",
    "ModernBertForSequenceClassification",
    "ModernBertForTokenClassification",
    "ModernBertForQuestionAnswering",
    "ModernBertForMultipleChoice",
    NULL,
};

#define OPTIONAL_NUMBER(pointer, name) {(pointer), (name), TN_FIELD_UNDERSTOOD, TN_TYPE_NUMBER, "null", "null", 0, 0}

/* One kind of layer: its entry of rope_parameters, and rope_scaling, which speaks of both kinds. */
#define ROPE_ROWS(kind, entry, theta, older)                                                                          \
    TN_ROW_OFF("/rope_parameters/" entry, "null"),                                                                    \
        TN_ROW_NUMBER("/rope_parameters/" entry "/rope_theta", kind ".theta", theta, 1, 1e12),                        \
        TN_ROW_NUMBER(older, kind ".theta", theta, 1, 1e12),                                                          \
        TN_ROW_NUMBER("/rope_scaling/rope_theta", kind ".theta", theta, 1, 1e12),                                     \
        TN_ROW_CHOICE("/rope_parameters/" entry "/rope_type", kind ".rope_type", "\"default\"", ROPE_TYPES),          \
        TN_ROW_CHOICE("/rope_parameters/" entry "/type", kind ".rope_type", "\"default\"", ROPE_TYPES),               \
        TN_ROW_CHOICE("/rope_scaling/rope_type", kind ".rope_type", "\"default\"", ROPE_TYPES),                       \
        OPTIONAL_NUMBER("/rope_parameters/" entry "/factor", kind ".factor"),                                         \
        OPTIONAL_NUMBER("/rope_scaling/factor", kind ".factor"),                                                      \
        OPTIONAL_NUMBER("/rope_parameters/" entry "/low_freq_factor", kind ".low_freq_factor"),                       \
        OPTIONAL_NUMBER("/rope_scaling/low_freq_factor", kind ".low_freq_factor"),                                    \
        OPTIONAL_NUMBER("/rope_parameters/" entry "/high_freq_factor", kind ".high_freq_factor"),                     \
        OPTIONAL_NUMBER("/rope_scaling/high_freq_factor", kind ".high_freq_factor"),                                  \
        OPTIONAL_NUMBER("/rope_parameters/" entry "/original_max_position_embeddings", kind ".original_positions"),   \
        OPTIONAL_NUMBER("/rope_scaling/original_max_position_embeddings", kind ".original_positions")

#define ROPE_TYPES "\"default\" | \"linear\" | \"llama3\""

static const struct tn_schema_field fields[] = {
    TN_ROW_SIZE("/vocab_size", "vocab_size", "50368", 1, 8388608),
    TN_ROW_SIZE("/hidden_size", "hidden_size", "768", 1, 1048576),
    TN_ROW_SIZE("/num_hidden_layers", "num_hidden_layers", "22", 1, 4096),
    TN_ROW_SIZE("/num_attention_heads", "num_attention_heads", "12", 1, 65536),
    TN_ROW_SIZE("/intermediate_size", "intermediate_size", "1152", 1, 16777216),
    TN_ROW_SIZE("/max_position_embeddings", "max_position_embeddings", "8192", 1, 16777216),
    TN_ROW_CHOICE("/hidden_activation", "hidden_activation", "\"gelu\"", TN_HIDDEN_ACTS),
    TN_ROW_NUMBER("/norm_eps", "norm_eps", "1e-5", 0, 1),
    TN_ROW_FLAG("/norm_bias", "norm_bias", "false"),
    TN_ROW_FLAG("/attention_bias", "attention_bias", "false"),
    TN_ROW_FLAG("/mlp_bias", "mlp_bias", "false"),
    TN_ROW_SIZE("/local_attention", "local_attention", "128", 0, 16777216),
    TN_ROW_SIZE("/global_attn_every_n_layers", "global_attn_every_n_layers", "3", 1, 4096),
    {"/layer_types", "layer_types", TN_FIELD_UNDERSTOOD, TN_TYPE_WORDS, "null", "null", 0, 0},
    ROPE_ROWS(TN_MODERNBERT_FULL, "full_attention", "160000", "/global_rope_theta"),
    ROPE_ROWS(TN_MODERNBERT_SLIDING, "sliding_attention", "10000", "/local_rope_theta"),
    /* The row of the embedding table that training kept at zero; no forward pass reads the number. */
    {"/pad_token_id", "pad_token_id", TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, "50283", "null", 0, 0},
    TN_ROW_FLAG("/tie_word_embeddings", "tie_word_embeddings", "true"),
    /* Of the heads. */
    TN_ROW_FLAG("/decoder_bias", "decoder_bias", "true"),
    TN_ROW_CHOICE("/classifier_pooling", "classifier_pooling", "\"cls\"", "\"cls\" | \"mean\""),
    TN_ROW_FLAG("/classifier_bias", "classifier_bias", "false"),
    TN_ROW_CHOICE("/classifier_activation", "classifier_activation", "\"gelu\"", TN_HIDDEN_ACTS),
    TN_ROW_DESCRIPTIVE("/classifier_dropout"),
    TN_ROW_DESCRIPTIVE("/attention_dropout"),
    TN_ROW_DESCRIPTIVE("/embedding_dropout"),
    TN_ROW_DESCRIPTIVE("/mlp_dropout"),
    TN_ROW_DESCRIPTIVE("/initializer_cutoff_factor"),
    TN_ROW_DESCRIPTIVE("/sparse_prediction"), /* which logits a training step computes */
    TN_ROW_DESCRIPTIVE("/sparse_pred_ignore_index"),
    TN_ROW_DESCRIPTIVE("/deterministic_flash_attn"),
    TN_ROW_DESCRIPTIVE("/reference_compile"),
    TN_ROW_DESCRIPTIVE("/repad_logits_with_grad"),
    TN_ROW_DESCRIPTIVE("/layer_norm_eps"),          /* of the first release's files, where no code reads it */
    TN_ROW_DESCRIPTIVE("/position_embedding_type"), /* as well */
};

/* ---- fields that depend on one another ------------------------------------------------------------------------------- */

static struct tn_finding *refuse(struct tn_builder *b, const struct tn_component *c, const char *pointer, const char *what)
{
    return tn_refuse_value(b, c, pointer, pointer + 1, what);
}

static const struct tn_value *rope_value(const struct tn_component *c, const char *kind, const char *name)
{
    char full[64];
    snprintf(full, sizeof(full), "%s.%s", kind, name);
    return tn_component_value(c, full);
}

/* Of one kind of layer; where its parameters stand is known by its object alone. */
struct rope {
    struct tn_builder *b;
    const struct tn_component *c;
    const char *kind, *pointer;
};

static struct tn_finding *refuse_rope(const struct rope *r, const char *name, const char *what)
{
    char full[64];
    snprintf(full, sizeof(full), "%s.%s", r->kind, name);
    return tn_refuse_value(r->b, r->c, r->pointer, full, what);
}

/* Each rule of scaling has its parameters: all of them, and no other, which the published code would leave unread. */
static void check_rope(const struct rope *r)
{
    static const struct {
        const char *name;
        bool linear, llama3, may_be_absent;
    } parameters[] = {
        {"factor", true, true, false},
        {"low_freq_factor", false, true, false},
        {"high_freq_factor", false, true, false},
        {"original_positions", false, true, true},
    };
    struct tn_str type = rope_value(r->c, r->kind, "rope_type")->s;
    if (!rope_value(r->c, r->kind, "rope_type")->present) return; /* refused: which parameters it has is not known */
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        const char *name = parameters[i].name;
        const struct tn_value *value = rope_value(r->c, r->kind, name);
        bool read = tn_str_is(type, "linear") ? parameters[i].linear : tn_str_is(type, "llama3") && parameters[i].llama3;
        if (value->present && !read) {
            struct tn_finding *f = refuse_rope(r, name, "is a parameter that its rope_type does not read");
            tn_found(f, "%s beside rope_type %.*s", name, TN_FMT_ARG(type));
        } else if (read && !parameters[i].may_be_absent && !value->present) {
            struct tn_finding *f = refuse_rope(r, name, "is a parameter of its rope_type and absent");
            tn_found(f, "nothing");
            tn_expected(f, "%s, for rope_type %.*s", name, TN_FMT_ARG(type));
        } else if (read && value->present && !(value->f > 0)) {
            tn_expected(refuse_rope(r, name, "is a parameter out of range"), "%s above 0", name);
        }
    }
    const struct tn_value *low = rope_value(r->c, r->kind, "low_freq_factor");
    const struct tn_value *high = rope_value(r->c, r->kind, "high_freq_factor");
    if (!tn_str_is(type, "llama3") || !low->present || !high->present || high->f > low->f) return;
    struct tn_finding *f = refuse_rope(r, "high_freq_factor", "is a parameter out of range");
    tn_found(f, "%g, and %s.low_freq_factor %g", high->f, r->kind, low->f);
    tn_expected(f, "high_freq_factor above low_freq_factor");
}

/* The i-th word of "a|b|c". */
static bool word_at(struct tn_str words, uint64_t i, struct tn_str *out)
{
    size_t begin = 0;
    for (size_t at = 0; at <= words.n; at++) {
        if (at < words.n && words.s[at] != '|') continue;
        if (i-- == 0) {
            *out = (struct tn_str){words.s + begin, at - begin};
            return out->n > 0;
        }
        begin = at + 1;
    }
    return false;
}

bool tn_modernbert_is_full(const struct tn_component *c, uint64_t layer)
{
    const struct tn_value *types = tn_component_value(c, "layer_types");
    uint64_t every = tn_component_value(c, "global_attn_every_n_layers")->u;
    struct tn_str word;
    if (!types->present) return every == 0 || layer % every == 0;
    return word_at(types->s, layer, &word) && tn_str_is(word, "full_attention");
}

static void check_layer_types(struct tn_builder *b, const struct tn_component *c)
{
    const struct tn_value *types = tn_component_value(c, "layer_types");
    uint64_t layers = tn_component_value(c, "num_hidden_layers")->u, stated = 0;
    struct tn_str word;
    if (!types->present) return;
    for (; word_at(types->s, stated, &word); stated++) {
        if (tn_str_is(word, "full_attention") || tn_str_is(word, "sliding_attention")) continue;
        struct tn_finding *f = refuse(b, c, "/layer_types", "names a kind of layer that is not known");
        tn_found(f, "%.*s", TN_FMT_ARG(word));
        tn_expected(f, "full_attention or sliding_attention");
        return;
    }
    if (stated == layers) return;
    struct tn_finding *f = refuse(b, c, "/layer_types", "does not have one entry for each layer");
    tn_found(f, "%llu entries", (unsigned long long)stated);
    tn_expected(f, "%llu, as num_hidden_layers", (unsigned long long)layers);
}

static void check(struct tn_builder *b, const struct tn_component *c)
{
    uint64_t hidden = tn_component_value(c, "hidden_size")->u, heads = tn_component_value(c, "num_attention_heads")->u;
    check_layer_types(b, c);
    check_rope(&(struct rope){b, c, TN_MODERNBERT_FULL, "/rope_parameters/full_attention"});
    check_rope(&(struct rope){b, c, TN_MODERNBERT_SLIDING, "/rope_parameters/sliding_attention"});
    if (heads == 0 || hidden % heads || hidden / heads % 2 == 0) return;
    struct tn_finding *f = refuse(b, c, "/hidden_size", "gives heads of an odd size, whose dimensions make no pairs");
    tn_found(f, "%llu", (unsigned long long)(hidden / heads));
    tn_expected(f, "an even size");
}

const struct tn_schema tn_schema_modernbert = {
    .id = "modernbert/1",
    .model_types = model_types,
    .architectures = architectures,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .position_table = "",
    .check = check,
    .tokenizer_class = "TokenizersBackend",
};
