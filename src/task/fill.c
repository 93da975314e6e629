/*
 * Filling masks: the contract, and whether a description can serve it. For each mask of a text the likeliest tokens, by a head
 * over the vocabulary that reads the rows of the masks alone.
 */
#include "task/fill.h"

#include "base/json_write.h"
#include "task/forms.h"
#include "task/needs.h"

static void need_mask(const struct tn_description *d, struct tn_findings *findings)
{
    if (!d->tokenizer.present || d->tokenizer.mask_token.n) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                           "the tokenizer has no mask token: nothing says what is to be filled");
    tn_expected(f, "mask_token in tokenizer_config.json");
    tn_remedy(f, "add the tokenizer files that belong to the weights");
}

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    /* Weights of pre-training hold the same head beside another; a family that has none in them says so. */
    static const enum tn_head_kind kinds[] = {TN_HEAD_MASKED_LM, TN_HEAD_PRETRAINING};
    tn_need_head(d, kinds, 2, "masked tokens", findings, out);
    out->picked = true;
    need_mask(d, findings);
}

enum tn_status tn_fill_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                               struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    (void)width;
    tn_option_begin(&m, "scores", TN_STR("\"probability\""));
    tn_option_begin(&m, "top_k", tn_json_text_of_u64(arena, TN_FILL_TOP_K));
    tn_option_begin(&m, "targets", TN_STR("null"));
    tn_text_cuts_defaults(&m, route);
    return tn_options_end(&m, count, err);
}

/* ---- documents --------------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    tn_text_route_write(w, d, route);
    tn_jw_member_str(w, "mask_token", d->tokenizer.mask_token);
    tn_jw_member_cstr(w, "function", "softmax");
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "masks", "[{position, start, end, bytes, predictions}] per text", "in the order of the text; position counts "
                      "tokens from 0, special tokens included; start and end in code points, bytes in UTF-8, both half-open");
    tn_contract_field(w, "predictions", "[{token, token_str, score, sequence}] per mask", "best first, equal scores by id; token_str "
                      "and sequence are decoded: the sequence with this token in place of this mask, without padding, and without "
                      "special tokens unless the text has other masks");
    tn_contract_field(w, "score_kind", "probability | logit", "a softmax over the whole vocabulary in f32, or what it was made of");
    tn_contract_field(w, "logits", "f32 [masks, vocabulary] per text", "what the head gave; on request");
    tn_contract_field(w, "tokens", "count", "tokens that were used, special tokens included");
    tn_contract_field(w, "truncated", "bool per text", "whether tokens beyond the limit were cut: masks among them are not filled");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one result or one error per text");
}

/* ---- the request as a document ------------------------------------------------------------------------------------------ */

TN_DOC_OBJECT_TYPE(tn_fill_request_type, "FillRequest", "Texts whose masks are to be filled.",
    TN_DOC_MUST("texts", &tn_form_texts, "The texts, each with at least one mask token of the package; no prompt goes in front."),
    TN_DOC_NULL_AS("top_k", &tn_form_count, "5", "Most predictions per mask."),
    TN_DOC_NULL("targets", TN_DOC_LIST_OF(TN_DOC_TEXT), "Tokens of the vocabulary: only these are predicted, with the same probabilities; "
                "absent: all."),
    TN_DOC_NULL_AS("scores", &tn_form_scores, "\"auto\"", "Kind of score; auto: a probability."),
    TN_DOC_MAY("want_logits", TN_DOC_BOOLEAN, "false", "Also the logits of the whole vocabulary for each mask."),
    TN_FORM_CUTS);

/* False: no memory. */
static bool read_targets(struct tn_json list, struct tn_arena *arena, tn_fill_request *r)
{
    if (!tn_json_is(list, TN_JSON_ARRAY)) return true;
    size_t n = 0;
    tn_string *targets = tn_arena_array(arena, tn_json_count(list) + 1, sizeof(*targets));
    if (!targets) return false;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str s = {NULL, 0};
        (void)tn_json_str(v, &s);
        targets[n++] = (tn_string){s.s ? s.s : "", s.n};
    }
    r->targets = targets;
    r->target_count = n;
    return true;
}

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form form;
    enum tn_status st = tn_form_begin(root, "texts", sizeof(tn_fill_request), arena, &form, out, err);
    tn_fill_request *r = form.request;
    if (st) return st;
    *r = TN_INIT(tn_fill_request);
    r->texts = form.texts;
    r->count = form.count;
    r->top_k = tn_form_read_count(root, "top_k");
    r->scores = tn_form_read_scores(tn_json_get(root, "scores"));
    (void)tn_json_bool(tn_json_get(root, "want_logits"), &r->want_logits);
    TN_FORM_CHOOSE(r, form);
    return read_targets(tn_json_get(root, "targets"), arena, r) ? TN_OK : tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
}

const struct tn_task tn_task_fill = {
    .name = "fill-mask",
    .contract = "tenon.fill-mask/v1",
    .recipe = &tn_recipe_fill,
    .what = "the likeliest tokens in the place of each mask",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_fill_options,
    .evidence = tn_head_facts,
    .request = &tn_fill_request_type,
    .read = read,
};
