/*
 * Classification of texts: the contract, and whether a description can serve it. Labels with scores per text or pair of
 * texts, by a head of kind sequence_classification. What a score says follows from problem_type and the number of labels
 * (scores.h); it is named in every result.
 */
#include "base/json_write.h"
#include "task/classify.h"
#include "task/forms.h"
#include "task/needs.h"

/* ---- assessment -------------------------------------------------------------------------------------------------------- */

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    static const enum tn_head_kind kinds[] = {TN_HEAD_SEQUENCE_CLASSIFICATION};
    tn_need_head(d, kinds, 1, "labels of texts", findings, out);
}

/* Whether labels exclude one another. */
static bool is_single(const struct tn_head *head)
{
    return head->problem != TN_PROBLEM_REGRESSION && head->problem != TN_PROBLEM_MULTI_LABEL && head->outputs > 1;
}

struct tn_classify_defaults tn_classify_defaults_of(const struct tn_head *head)
{
    return (struct tn_classify_defaults){.top_k = is_single(head) ? 1 : 0,
                                         .threshold = head->problem == TN_PROBLEM_MULTI_LABEL};
}

/* ---- options ----------------------------------------------------------------------------------------------------------- */

enum tn_status tn_classify_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                   struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    struct tn_classify_defaults defaults = tn_classify_defaults_of(route->head);
    struct tn_scoring scoring = tn_scoring_of_classifier(route->head);
    (void)width;
    struct tn_option *o = tn_option_begin(&m, "scores", tn_json_text_of_str(arena, tn_str_of(tn_score_kind_name(scoring.kind))));
    if (o->count == 0) m.no_memory = true;
    o = tn_option_begin(&m, "function", TN_STR("\"softmax\""));
    tn_option_of_package(&m, o, tn_json_text_of_str(arena, tn_str_of(tn_score_function_name(scoring.function))),
                         route->head->problem ? "head.problem" : "head.outputs");
    tn_option_begin(&m, "top_k", defaults.top_k ? TN_STR("1") : TN_STR("null"));
    tn_option_begin(&m, "threshold", defaults.threshold ? TN_STR("0.5") : TN_STR("null"));
    tn_text_choices_defaults(&m, route);
    return tn_options_end(&m, count, err);
}

/* ---- documents --------------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    const struct tn_head *h = route->head;
    tn_text_route_write(w, d, route);
    tn_jw_key(w, "labels");
    tn_jw_begin_array(w);
    for (uint64_t i = 0; i < h->outputs; i++) tn_jw_str(w, h->labels[i]);
    tn_jw_end_array(w);
    tn_jw_member_cstr(w, "problem", h->problem ? tn_problem_name(h->problem) : NULL);
    tn_jw_member_cstr(w, "function", tn_score_function_name(tn_scoring_of_classifier(h).function));
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "labels", "[{id, label, score}] per text", "best first, equal scores by id");
    tn_contract_field(w, "score_kind", "logit | probability | value", "what the scores say; value: of a regression, in its unit");
    tn_contract_field(w, "logits", "f32 [labels] per text", "what the head gave, by id");
    tn_contract_field(w, "problem", "regression | single_label_classification | multi_label_classification, or null",
                      "as the package says, or one of several where there are several labels");
    tn_contract_field(w, "tokens", "count", "tokens that were used, special tokens included");
    tn_contract_field(w, "truncated", "bool per text", "whether tokens beyond the limit were cut");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one result or one error per text");
}

/* ---- the request as a document ------------------------------------------------------------------------------------------ */

TN_DOC_OBJECT_TYPE(tn_classify_request_type, "ClassifyRequest", "Texts to be labelled.",
    TN_DOC_MUST("texts", &tn_form_pairs, "Texts, or pairs of texts, of which each becomes one sequence by the package's template."),
    TN_DOC_NULL_AS("scores", &tn_form_scores, "\"auto\"", "Kind of score; auto: a probability, or of a regression its value."),
    TN_DOC_NULL("top_k", &tn_form_count, "Most labels per text, best first; absent: 1 where labels exclude one another, else all."),
    TN_DOC_NULL("threshold", TN_DOC_FLOAT, "Labels below it are left out; absent: 0.5 of multi_label_classification unless logits or "
                "top_k are asked for, else none is left out."),
    TN_FORM_CHOICES);

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form form;
    double threshold = 0;
    enum tn_status st = tn_form_begin(root, "texts", sizeof(tn_classify_request), arena, &form, out, err);
    tn_classify_request *r = form.request;
    if (st) return st;
    *r = TN_INIT(tn_classify_request);
    r->texts = form.texts;
    r->pairs = form.pairs;
    r->count = form.count;
    r->role = form.choices.role;
    r->scores = tn_form_read_scores(tn_json_get(root, "scores"));
    r->top_k = tn_form_read_count(root, "top_k");
    r->threshold_set = tn_json_f64(tn_json_get(root, "threshold"), &threshold);
    r->threshold = (float)threshold;
    TN_FORM_CHOOSE(r, form);
    return TN_OK;
}

const struct tn_task tn_task_classify_text = {
    .name = "classify.text",
    .contract = "tenon.classify.text/v1",
    .recipe = &tn_recipe_classify_text,
    .what = "labels of each text, or pair of texts, with scores",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_classify_options,
    .evidence = tn_head_facts,
    .request = &tn_classify_request_type,
    .read = read,
};
