/*
 * Embeddings of several vectors per text (ColBERT; Khattab and Zaharia 2020, arXiv 2004.12832): the contract, and whether a
 * description can serve it. One vector for each token that counts, which a package must say: it names lengths, prompts,
 * the filling up of queries and the tokens that are left out, and none of this can be guessed from an encoder.
 */
#include "task/embedding_multi.h"

#include "base/json_write.h"
#include "task/forms.h"
#include "task/needs.h"

#include <string.h>

/* ---- what the package says ------------------------------------------------------------------------------------------ */

bool tn_multi_role_of(const char *name, enum tn_text_role *out)
{
    for (unsigned r = 0; name && r < TN_TEXT_ROLES; r++) {
        *out = (enum tn_text_role)r;
        if (strcmp(name, tn_text_role_name(*out)) == 0) return true;
    }
    return false;
}

bool tn_multi_normalizes(const struct tn_description *d)
{
    return d->module_count > 0 && d->modules[d->module_count - 1].kind == TN_MODULE_NORMALIZE;
}

struct tn_multi_lengths tn_multi_lengths_of(const struct tn_description *d, enum tn_text_role role)
{
    const struct tn_multi_vector *m = d->multi;
    struct tn_multi_lengths l = {.most = m->length[role] ? m->length[role] : d->max_seq_length};
    if (role != TN_OF_QUERY || m->expansion.length == 0) return l;
    l.fill = (uint32_t)m->expansion.length;
    if (m->expansion.fixed) l.most = m->expansion.length;
    return l;
}

/* ---- assessment ------------------------------------------------------------------------------------------------------- */

static void refuse(const struct tn_description *d, struct tn_findings *findings)
{
    char evidence[TN_HEAD_EVIDENCE_BYTES];
    tn_head_evidence(d, evidence, sizeof(evidence));
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, d->head ? TN_TASK_HEAD_MISMATCH : TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                           "nothing in the package says that its texts become several vectors");
    tn_at_class(f, d);
    tn_found(f, "%s", evidence);
    tn_expected(f, "model_type \"MultiVectorEncoder\" or \"ColBERT\" in config_sentence_transformers.json, or the class HF_ColBERT");
    tn_remedy(f, "use a package that was trained for late interaction; `tenon check` lists the tasks that this one serves");
}

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    bool explained = tn_need_encoder(d, findings, out);
    if (!d->multi) {
        if (out->component || !explained) refuse(d, findings);
        return;
    }
    out->first_module = d->module_count > 0 && d->modules[0].kind == TN_MODULE_TRANSFORMER ? 1 : 0;
    out->module_end = d->module_count;
    struct tn_multi_lengths query = tn_multi_lengths_of(d, TN_OF_QUERY), document = tn_multi_lengths_of(d, TN_OF_DOCUMENT);
    out->max_tokens = query.most > document.most ? query.most : document.most;
    if (query.fill > out->max_tokens) out->max_tokens = query.fill;
    if (query.fill && !d->multi->expansion.attended) out->hiding_rows = query.fill;
    if (out->component || !explained) tn_need_tokenizer(d, findings);
    if ((out->component || !explained) && (query.most == 0 || document.most == 0)) tn_need_length(d, findings);
}

enum tn_status tn_multi_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    (void)width;
    tn_text_choices_defaults(&m, route);
    struct tn_multi_lengths query = tn_multi_lengths_of(d, TN_OF_QUERY), document = tn_multi_lengths_of(d, TN_OF_DOCUMENT);
    tn_option_of_package(&m, tn_option_begin(&m, "query_tokens", (struct tn_str){NULL, 0}), tn_json_text_of_u64(arena, query.most),
                         "multi_vector.query_length");
    tn_option_of_package(&m, tn_option_begin(&m, "document_tokens", (struct tn_str){NULL, 0}),
                         tn_json_text_of_u64(arena, document.most), "multi_vector.document_length");
    struct tn_option *fill = tn_option_begin(&m, "query_filled_to", TN_STR("0"));
    if (query.fill) tn_option_of_package(&m, fill, tn_json_text_of_u64(arena, query.fill), "multi_vector.expansion.length");
    return tn_options_end(&m, count, err);
}

/* ---- documents --------------------------------------------------------------------------------------------------------- */

static void write_role(struct tn_json_writer *w, const struct tn_description *d, enum tn_text_role role)
{
    const struct tn_multi_vector *m = d->multi;
    struct tn_multi_lengths l = tn_multi_lengths_of(d, role);
    tn_jw_key(w, tn_text_role_name(role));
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "max_tokens", l.most);
    tn_jw_member_u64(w, "filled_to", l.fill);
    if (l.fill) {
        tn_jw_member_str(w, "filled_with", m->expansion.token);
        tn_jw_member_bool(w, "filling_is_seen", m->expansion.attended);
        tn_jw_member_bool(w, "filling_is_kept", m->expansion.kept);
    }
    tn_jw_key(w, "skips");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; m->skips[role] && i < m->skip_count; i++) tn_jw_str(w, m->skip[i]);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    tn_text_modules_write(w, d, route);
    tn_text_route_write(w, d, route);
    tn_jw_key(w, "roles");
    tn_jw_begin_object(w);
    write_role(w, d, TN_OF_QUERY);
    write_role(w, d, TN_OF_DOCUMENT);
    tn_jw_end_object(w);
    tn_jw_member_bool(w, "normalizes", tn_multi_normalizes(d));
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "vectors", "f32 [vectors, dimensions] per text", "in the order of the tokens; a text may have none");
    tn_contract_field(w, "token_ids", "ids [vectors] per text", "the token that each vector stands for");
    tn_contract_field(w, "dimensions", "count", "of every vector");
    tn_contract_field(w, "normalized", "bool", "whether each vector has length 1");
    tn_contract_field(w, "role", "query | document", "that was asked for");
    tn_contract_field(w, "similarity", "maxsim | meanmaxsim", "sum, or mean, over the query's vectors of the largest product with one of "
                      "the document's");
    tn_contract_field(w, "tokens", "count", "tokens that were used, special tokens and prompt included, without what a query is filled up with");
    tn_contract_field(w, "truncated", "bool per text", "whether tokens beyond the limit were cut");
    tn_contract_field(w, "space", "SHA-256", "vectors are comparable exactly when this is equal");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one result or one error per text");
}

/* ---- the request as a document -------------------------------------------------------------------------------------------- */

TN_DOC_ENUM_TYPE(tn_multi_role_type, "TextRole", "What the texts are.", "query", "document");

TN_DOC_OBJECT_TYPE(tn_multi_request_type, "MultiRequest", "Texts to be turned into several vectors each.",
    TN_DOC_MUST("texts", &tn_form_texts, "Queries, or documents."),
    TN_DOC_MUST("role", &tn_multi_role_type, "What they are: prompt, length, filling up and the tokens that are left out depend on it."),
    TN_FORM_CUTS);

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form form;
    enum tn_status st = tn_form_begin(root, "texts", sizeof(tn_multi_request), arena, &form, out, err);
    tn_multi_request *r = form.request;
    if (st) return st;
    *r = TN_INIT(tn_multi_request);
    r->texts = form.texts;
    r->count = form.count;
    r->role = form.choices.role;
    TN_FORM_CHOOSE(r, form);
    return TN_OK;
}

static const char *const evidence[] = {"encoder.architecture", "multi_vector.", "module.#.type", "module.#.kind", NULL};

const struct tn_task tn_task_embedding_multi = {
    .name = "embedding.multi",
    .contract = "tenon.embedding.multi/v1",
    .recipe = &tn_recipe_embedding_multi,
    .what = "a vector for each token of each text that counts; a query is compared with a document by the "
            "best match of each of its vectors",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_multi_options,
    .evidence = evidence,
    .request = &tn_multi_request_type,
    .read = read,
};
