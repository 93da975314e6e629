/*
 * Sparse embeddings (SPLADE; Formal et al. 2021, arXiv 2107.05720): the contract, and whether a description can serve it. A
 * weight for each entry of the vocabulary, most of them zero, from a head over the vocabulary and a statement of the package
 * how its numbers become one row. Without that statement the task is refused: sum and maximum are different vectors.
 */
#include "task/embedding_sparse.h"

#include "base/json_write.h"
#include "task/forms.h"
#include "task/needs.h"

#include <string.h>

const struct tn_module *tn_sparse_pooling(const struct tn_description *d)
{
    const struct tn_module *last = d->module_count ? &d->modules[d->module_count - 1] : NULL;
    return last && last->kind == TN_MODULE_SPLADE ? last : NULL;
}

/* ---- terms -------------------------------------------------------------------------------------------------------------- */

size_t tn_sparse_count(const float *row, size_t width, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < width; i++) n += row[i] != 0.0f;
    return most && most < n ? most : n;
}

/* Bits of a number that is not negative order as the number does. */
static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* The value of which `most` terms are larger or equal and fewer than that larger: by bits, from the highest. */
static uint32_t threshold_of(const float *row, size_t width, size_t most)
{
    uint32_t known = 0;
    for (int bit = 30; bit >= 0; bit--) {
        uint32_t tried = known | (uint32_t)1 << bit;
        size_t larger = 0;
        for (size_t i = 0; i < width; i++) larger += bits_of(row[i]) >= tried;
        if (larger >= most) known = tried;
    }
    return known;
}

size_t tn_sparse_terms(const float *row, size_t width, size_t most, uint32_t *indices, float *values)
{
    size_t n = 0, all = tn_sparse_count(row, width, 0), equal = SIZE_MAX;
    uint32_t threshold = 1;
    if (most && most < all) {
        threshold = threshold_of(row, width, most);
        equal = most;
        for (size_t i = 0; i < width; i++) equal -= bits_of(row[i]) > threshold;
    }
    for (size_t i = 0; i < width; i++) {
        uint32_t bits = bits_of(row[i]);
        if (row[i] == 0.0f || bits < threshold || (bits == threshold && equal == 0)) continue;
        if (bits == threshold && equal != SIZE_MAX) equal--;
        indices[n] = (uint32_t)i;
        values[n++] = row[i];
    }
    return n;
}

/* ---- assessment --------------------------------------------------------------------------------------------------------- */

static bool reads_vocabulary(const struct tn_description *d)
{
    return d->head && tn_head_kind_is_vocabulary(d->head->kind);
}

static void refuse(const struct tn_description *d, struct tn_findings *findings)
{
    char evidence[TN_HEAD_EVIDENCE_BYTES];
    tn_head_evidence(d, evidence, sizeof(evidence));
    bool other = d->head && !reads_vocabulary(d);
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, other ? TN_TASK_HEAD_MISMATCH : TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                           "nothing in the package says how its numbers become a sparse vector");
    tn_at_class(f, d);
    tn_found(f, "%s", evidence);
    tn_expected(f, "a head over the vocabulary, and a module list that ends with SpladePooling");
    tn_remedy(f, "use a package that was trained for sparse vectors; `tenon check` lists the tasks that this one serves");
}

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    bool explained = tn_need_encoder(d, findings, out);
    if (!tn_sparse_pooling(d) || !reads_vocabulary(d)) {
        if (!explained) refuse(d, findings);
        return;
    }
    out->head = d->head;
    out->first_module = 1;
    out->module_end = d->module_count;
    if (out->component || !explained) tn_need_tokenizer(d, findings);
    if (out->component || !explained) tn_need_length(d, findings);
}

enum tn_status tn_sparse_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                 struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    struct tn_option *o = tn_option_begin(&m, "max_active", tn_json_text_of_u64(arena, width));
    if (o->count == 0) m.no_memory = true;
    if (d->max_active_dims)
        tn_option_of_package(&m, o, tn_json_text_of_u64(arena, d->max_active_dims), "package.max_active_dims");
    tn_text_choices_defaults(&m, route);
    return tn_options_end(&m, count, err);
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    const struct tn_module *pooling = tn_sparse_pooling(d);
    tn_text_modules_write(w, d, route);
    tn_text_route_write(w, d, route);
    tn_jw_member_cstr(w, "strategy", pooling->sum ? "sum" : "max");
    tn_jw_member_bool(w, "log_twice", pooling->twice);
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "indices", "ids [active] per text", "entries of the vocabulary whose weight is not zero, ascending");
    tn_contract_field(w, "values", "f32 [active] per text", "their weights, all positive");
    tn_contract_field(w, "active", "count", "how many they are");
    tn_contract_field(w, "dimensions", "count", "entries of the vocabulary");
    tn_contract_field(w, "role", "name or null", "the prompt that was applied");
    tn_contract_field(w, "tokens", "count", "tokens that were used, special tokens and prompt included");
    tn_contract_field(w, "truncated", "bool per text", "whether tokens beyond the limit were cut");
    tn_contract_field(w, "space", "SHA-256", "vectors are comparable exactly when this is equal");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one result or one error per text");
}

/* ---- the request as a document ---------------------------------------------------------------------------------------------- */

TN_DOC_OBJECT_TYPE(tn_sparse_request_type, "SparseRequest", "Texts to be turned into sparse vectors.",
    TN_DOC_MUST("texts", &tn_form_texts, "The texts; empty ones are legal: they are their special tokens."),
    TN_DOC_NULL("max_active", &tn_form_count, "The largest so many terms are kept; absent: as the package says, else all."),
    TN_FORM_CHOICES);

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form form;
    enum tn_status st = tn_form_begin(root, "texts", sizeof(tn_sparse_request), arena, &form, out, err);
    tn_sparse_request *r = form.request;
    if (st) return st;
    *r = TN_INIT(tn_sparse_request);
    r->texts = form.texts;
    r->count = form.count;
    r->role = form.choices.role;
    r->max_active = tn_form_read_count(root, "max_active");
    TN_FORM_CHOOSE(r, form);
    return TN_OK;
}

static const char *const evidence[] = {"encoder.architecture", "head.", "module.#.type", "module.#.kind", "module.#.pooling_strategy",
                                       "module.#.activation_function", NULL};

const struct tn_task tn_task_embedding_sparse = {
    .name = "embedding.sparse",
    .contract = "tenon.embedding.sparse/v1",
    .recipe = &tn_recipe_embedding_sparse,
    .what = "a weight for each entry of the vocabulary per text, most of them zero; texts are compared by "
            "the package's similarity, where it is stated",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_sparse_options,
    .evidence = evidence,
    .request = &tn_sparse_request_type,
    .read = read,
};
