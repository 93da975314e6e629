/*
 * Facts of the model in a contract that leads to our own document: lengths, rows, attention, precision of the weights.
 * Knows nothing of workflows. The contract is untrusted; its shape was checked, and what the shape refused is passed over.
 *
 * The surprising decision: a length that our document leaves open (0) contradicts one that the contract states. The
 * component would not keep to it.
 */
#include "describe/dialect/contract.h"
#include "describe/package_document.h"

#include <string.h>

bool tn_contract_refused_below(const struct tn_builder *b, const char *pointer)
{
    size_t n = strlen(pointer);
    for (size_t i = 0; i < b->d->findings.count; i++) {
        const struct tn_finding *f = &b->d->findings.items[i];
        if (f->severity != TN_BLOCKER || !tn_str_is(b->d->chain_document, f->file)) continue;
        if (strncmp(f->element, pointer, n) == 0 && (f->element[n] == 0 || f->element[n] == '/')) return true;
    }
    return false;
}

/* What was said of the very place before is enough. */
static bool is_told(const struct tn_builder *b, struct tn_json v)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    for (size_t i = 0; i < b->d->findings.count; i++) {
        const struct tn_finding *f = &b->d->findings.items[i];
        if (f->severity == TN_BLOCKER && tn_str_is(v.doc->file, f->file) && tn_str_is(at, f->element)) return true;
    }
    return false;
}

/* What is no value in the document, or of the wrong shape there, has been refused as such. */
struct tn_finding *tn_contract_refuse(struct tn_builder *b, struct tn_json v, enum tn_status code, const char *what)
{
    if (!tn_json_present(v) || tn_doc_is_touched(&b->d->standard.marks, v) || is_told(b, v)) return NULL;
    struct tn_finding *f = tn_blocker(b, code, "%s", what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    return f;
}

struct tn_finding *tn_contract_contradiction(struct tn_builder *b, struct tn_json v)
{
    return tn_contract_refuse(b, v, TN_METADATA_INVALID, "the two documents of the package contradict each other");
}

struct tn_finding *tn_contract_unsupported(struct tn_builder *b, struct tn_json v, const char *what)
{
    return tn_contract_refuse(b, v, TN_UNSUPPORTED_CONFIG, what);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static void compare(struct tn_builder *b, const struct tn_std_count *stated, uint64_t other, const char *by)
{
    if (!stated->present || stated->value == other) return;
    tn_expected(tn_contract_contradiction(b, stated->at), "%llu, by %s", (unsigned long long)other, by);
}

static uint64_t value_of(const struct tn_builder *b, const char *name)
{
    const struct tn_component *c = b->d->components;
    const struct tn_value *v = tn_schema_value(c->schema, c->values, name);
    return v && v->present ? v->u : 0;
}

#define CONFIG TN_PACKAGE_FILE "#/components/0/config"

static void compare_rows(struct tn_builder *b, const struct tn_std_model *m)
{
    uint64_t rows = value_of(b, "vocab_size");
    if (rows == 0 || tn_contract_refused_below(b, "/components/0/config/vocab_size")) return;
    compare(b, &m->vocab_size, rows, CONFIG "/vocab_size");
}

static void compare_length(struct tn_builder *b, const struct tn_std_model *m)
{
    if (tn_contract_refused_below(b, "/max_seq_length")) return;
    if (b->d->max_seq_length) {
        compare(b, &m->max_sequence_length, b->d->max_seq_length, TN_PACKAGE_FILE "#/max_seq_length");
    } else if (m->max_sequence_length.present && b->d->component_count > 0) {
        tn_expected(tn_contract_contradiction(b, m->max_sequence_length.at),
                    "nothing: by " TN_PACKAGE_FILE "#/max_seq_length no length is stated");
    }
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

static bool is_one_of(struct tn_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tn_str_is(name, names[i])) return true;
    return false;
}

/* Every family here has as many keys as queries; a kind that nobody knows is what its fallback says. */
static void compare_kind(struct tn_builder *b, struct tn_json attention)
{
    static const char *const same[] = {"multi_head", "multi_head_attention"};
    static const char *const others[] = {"grouped_query", "group_query_attention", "grouped_query_attention", "gqa",
                                         "multi_latent", "multi_latent_attention", "mla"};
    struct tn_json type = tn_json_get(attention, "type"), fallback = tn_json_get(attention, "fallback_behavior");
    struct tn_str kind;
    if (!tn_json_str(type, &kind) || is_one_of(kind, same, 2)) return;
    bool known = is_one_of(kind, others, sizeof(others) / sizeof(others[0]));
    if (!known && tn_json_str(fallback, &kind)) type = fallback;
    if (is_one_of(kind, same, 2)) return;
    tn_expected(tn_contract_contradiction(b, type), "multi_head: each query head has keys and values of its own");
}

static void compare_attention(struct tn_builder *b, const struct tn_std_model *m)
{
    uint64_t heads = value_of(b, "num_attention_heads"), hidden = value_of(b, "hidden_size");
    if (!tn_json_present(m->attention) || tn_contract_refused_below(b, "/components/0/config")) return;
    compare_kind(b, m->attention);
    if (heads == 0 || hidden % heads != 0) return;
    compare(b, &m->heads, heads, CONFIG "/num_attention_heads");
    compare(b, &m->kv_heads, heads, CONFIG "/num_attention_heads");
    compare(b, &m->head_dim, hidden / heads, CONFIG ", hidden_size shared out over num_attention_heads");
    if (!m->sliding_window.present) return;
    if (value_of(b, "local_attention"))
        tn_expected(tn_contract_unsupported(b, m->sliding_window.at,
                                            "the component's own window lies on both sides, and of some layers only"),
                    "nothing; " CONFIG "/local_attention says it");
    else
        tn_expected(tn_contract_contradiction(b, m->sliding_window.at), "nothing: every token sees all the others");
}

/* ---- precision --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum tn_dtype dtype;
} precisions[] = {
    {"float32", TN_DTYPE_F32},          {"fp32", TN_DTYPE_F32},
    {"float16", TN_DTYPE_F16},          {"fp16", TN_DTYPE_F16},
    {"bfloat16", TN_DTYPE_BF16},        {"bf16", TN_DTYPE_BF16},
    {"float8_e4m3fn", TN_DTYPE_F8_E4M3}, {"float8_e5m2", TN_DTYPE_F8_E5M2},
};

/* The one type of the weights, lists of indices aside; TN_DTYPE_UNKNOWN: there are several, or none. */
static enum tn_dtype dtype_of(const struct tn_builder *b)
{
    const struct tn_variant *v = b->d->components[0].variant;
    enum tn_dtype one = TN_DTYPE_UNKNOWN;
    for (uint32_t i = 0; v && i < v->tensor_count; i++) {
        enum tn_dtype dtype = b->inv->tensors[v->first_tensor + i].dtype;
        if (dtype == TN_DTYPE_I64 || dtype == TN_DTYPE_I32 || dtype == TN_DTYPE_BOOL || dtype == one) continue;
        if (one != TN_DTYPE_UNKNOWN) return TN_DTYPE_UNKNOWN;
        one = dtype;
    }
    return one;
}

static void compare_precision(struct tn_builder *b, const struct tn_std_ref *stated, enum tn_dtype weights)
{
    if (!tn_json_present(stated->at)) return;
    if (weights == TN_DTYPE_UNKNOWN) {
        tn_expected(tn_contract_unsupported(b, stated->at, "the weights have several types, which nothing here compares "
                                                           "with a precision that is stated"), "nothing");
        return;
    }
    for (size_t i = 0; i < sizeof(precisions) / sizeof(precisions[0]); i++)
        if (tn_str_is(stated->name, precisions[i].name) && precisions[i].dtype == weights) return;
    if (tn_doc_is_touched(&b->d->standard.marks, stated->at)) return;
    struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "the contract and the weights of the package contradict each other");
    tn_at_json(f, stated->at);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(stated->name));
    tn_expected(f, "the type of the weights, which is %s", tn_dtype_name(weights));
}

/* Whatever part an override names, it has the type of all. */
static void compare_precisions(struct tn_builder *b)
{
    const struct tn_standard *doc = &b->d->standard;
    if (!b->d->components[0].variant) return;
    enum tn_dtype weights = dtype_of(b);
    compare_precision(b, &doc->quantization, weights);
    for (size_t i = 0; i < doc->quantization_override_count; i++)
        compare_precision(b, &doc->quantization_overrides[i].precision, weights);
}

void tn_contract_facts(struct tn_builder *b)
{
    const struct tn_std_model *m = &b->d->standard.model;
    compare_length(b, m);
    if (b->d->component_count == 0 || !b->d->components[0].schema || !b->d->components[0].values) return;
    compare_rows(b, m);
    compare_attention(b, m);
    compare_precisions(b);
}
