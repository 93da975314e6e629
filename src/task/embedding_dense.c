/*
 * Dense embeddings: the contract, and whether a description can serve it. One vector per text needs an encoder, a
 * tokenizer, and a statement in the package of how token states become one vector. Without that statement the task is
 * refused: a mean would look plausible and be wrong for half of the packages.
 *
 * Places: a Normalize that ends the chain is applied by the recipe, where the request can ask for it or against it;
 * everything before it runs in the provider.
 */
#include "base/json_write.h"
#include "task/embedding.h"
#include "task/needs.h"
#include "task/text_choices.h"

/* ---- what the architecture was saved for ----------------------------------------------------------------------- */

/* Language-model heads stand on an encoder that embeddings are commonly made from; the others answer another question. */
static const char *other_head(const struct tn_component *c)
{
    enum tn_head_kind kind;
    if (!tn_head_of_class(c->architecture, &kind) || kind == TN_HEAD_MASKED_LM || kind == TN_HEAD_PRETRAINING) return NULL;
    return tn_head_kind_what(kind);
}

static void refuse_head(const struct tn_description *d, const struct tn_component *c, const char *what,
                        struct tn_findings *findings)
{
    char evidence[TN_HEAD_EVIDENCE_BYTES];
    tn_head_evidence(d, evidence, sizeof(evidence));
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS,
                                           "the weights were saved as %.*s: %s, not an embedding model",
                                           TN_FMT_ARG(c->architecture), what);
    tn_at_class(f, d);
    tn_found(f, "%s", evidence);
    tn_expected(f, "a bare encoder, or a package whose modules.json states a Pooling");
    tn_remedy(f, "use the package for the task that its head is for, or use an embedding model");
}

static void refuse_no_pooling(const struct tn_description *d, struct tn_findings *findings)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                           "nothing in the package states how token states become one vector");
    char evidence[TN_HEAD_EVIDENCE_BYTES] = "";
    tn_head_evidence(d, evidence, sizeof(evidence));
    tn_at_file(f, d->chain_document.n ? d->chain_document : TN_STR("modules.json"));
    tn_found(f, "%s%s%s", d->chain_document.n ? "a module list without a Pooling" : "no modules.json", evidence[0] ? "; " : "", evidence);
    tn_expected(f, "a Pooling module: modules.json and its config.json with pooling_mode");
    tn_remedy(f, "add modules.json and 1_Pooling/config.json that state pooling_mode, prompts and normalisation as "
                 "the model's authors document them");
}

/* ---- assessment ------------------------------------------------------------------------------------------------ */

const struct tn_module *tn_embedding_pooling(const struct tn_description *d)
{
    for (uint32_t i = 0; i < d->module_count; i++) {
        if (d->modules[i].kind == TN_MODULE_POOLING) return &d->modules[i];
    }
    return NULL;
}

bool tn_embedding_normalizes(const struct tn_description *d)
{
    if (d->module_count == 0) return false;
    const struct tn_module *last = &d->modules[d->module_count - 1];
    return last->kind == TN_MODULE_NORMALIZE && !last->on_tokens;
}

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    bool explained = tn_need_encoder(d, findings, out);
    const struct tn_module *pooling = tn_embedding_pooling(d);
    const char *head = out->component ? other_head(out->component) : NULL;
    if (!pooling && head) {
        refuse_head(d, out->component, head, findings);
    } else if (!pooling && (out->component ? d->module_count == 0 || !explained : !explained)) {
        refuse_no_pooling(d, findings);
    }
    if (out->component || !explained) {
        tn_need_tokenizer(d, findings);
        tn_need_length(d, findings);
    }
    out->first_module = d->module_count > 0 && d->modules[0].kind == TN_MODULE_TRANSFORMER ? 1 : 0;
    out->module_end = d->module_count - (tn_embedding_normalizes(d) ? 1 : 0);
    if (out->module_end < out->first_module) out->module_end = out->first_module;
}

/* ---- documents ------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    const struct tn_module *pooling = tn_embedding_pooling(d);
    tn_text_modules_write(w, d, route);
    tn_text_route_write(w, d, route);
    tn_jw_member_bool(w, "prompt_in_pooling", !pooling || pooling->include_prompt);
    tn_jw_member_bool(w, "normalizes", tn_embedding_normalizes(d));
    tn_jw_key(w, "truncate_dimensions");
    if (d->truncate_dim) {
        tn_jw_u64(w, d->truncate_dim);
    } else {
        tn_jw_null(w);
    }
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "embedding", "f32 [dimensions] per text", "in the order of the texts; a zero vector stays zero");
    tn_contract_field(w, "tokens", "count", "tokens that were used, special tokens and prompt included");
    tn_contract_field(w, "truncated", "bool per text", "whether tokens beyond the limit were cut");
    tn_contract_field(w, "normalized", "bool", "whether the vectors have length 1");
    tn_contract_field(w, "role", "name or null", "the prompt that was applied");
    tn_contract_field(w, "space", "SHA-256", "vectors are comparable exactly when this is equal");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one result or one error per text");
}

static const char *const evidence[] = {"encoder.architecture", "module.#.type", "module.#.kind", "module.#.pooling", NULL};

const struct tn_task tn_task_embedding_dense = {
    .name = "embedding.dense",
    .contract = "tenon.embedding.dense/v1",
    .recipe = &tn_recipe_embedding_dense,
    .what = "one vector per text; texts near in meaning have vectors near by the package's similarity",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_embedding_options,
    .evidence = evidence,
    .request = &tn_embed_request_type,
    .read = tn_embedding_read,
};
