/*
 * Tagging: the contract, and whether a description can serve it. A label per token by a head of kind token_classification,
 * joined to spans of the text by the request's aggregation.
 */
#include "base/json_write.h"
#include "task/forms.h"
#include "task/needs.h"
#include "task/tag.h"

static const char *const aggregations[] = {"none", "simple", "first", "average", "max", NULL};

const char *tn_aggregation_name(tn_aggregation aggregation)
{
    return (unsigned)aggregation < sizeof(aggregations) / sizeof(aggregations[0]) - 1 ? aggregations[aggregation] : NULL;
}

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    static const enum tn_head_kind kinds[] = {TN_HEAD_TOKEN_CLASSIFICATION};
    tn_need_head(d, kinds, 1, "labels of tokens", findings, out);
}

enum tn_status tn_tag_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                              struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    (void)width;
    tn_option_begin(&m, "aggregation", TN_STR("\"none\""));
    tn_option_begin(&m, "keep_outside", TN_STR("false"));
    tn_text_cuts_defaults(&m, route);
    return tn_options_end(&m, count, err);
}

/* ---- documents --------------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    tn_text_route_write(w, d, route);
    tn_jw_key(w, "labels");
    tn_jw_begin_array(w);
    for (uint64_t i = 0; i < route->head->outputs; i++) tn_jw_str(w, route->head->labels[i]);
    tn_jw_end_array(w);
    tn_jw_member_cstr(w, "function", "softmax");
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "tags", "[{label, score, start, end, bytes, token, tokens}] per text", "in the order of the text; start and end in "
                      "code points, bytes in UTF-8, both half-open; token counts from 0, special tokens included");
    tn_contract_field(w, "score_kind", "probability", "softmax over the labels, in f32; of a joined span the mean of its words'");
    tn_contract_field(w, "logits", "f32 [tokens, labels] per text", "what the head gave, special tokens included; on request");
    tn_contract_field(w, "tokens", "count", "tokens that were used, special tokens included");
    tn_contract_field(w, "truncated", "bool per text", "whether tokens beyond the limit were cut: nothing is said about them");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one result or one error per text");
}

/* ---- the request as a document ------------------------------------------------------------------------------------------ */

static const struct tn_doctype aggregation = {.kind = TN_DOC_ENUM, .name = "Aggregation", .note = "How tokens become spans.", .values = aggregations};

TN_DOC_OBJECT_TYPE(tn_tag_request_type, "TagRequest", "Texts whose parts are to be labelled.",
    TN_DOC_MUST("texts", &tn_form_texts, "The texts as they are; no prompt goes in front."),
    TN_DOC_MAY("aggregation", &aggregation, "\"none\"", "none: a span per token; simple: neighbours of one entity; the others: words first, "
               "by their first token, the mean of their tokens or the surest one."),
    TN_DOC_MAY("keep_outside", TN_DOC_BOOLEAN, "false", "Also spans of the label O."),
    TN_DOC_MAY("want_logits", TN_DOC_BOOLEAN, "false", "Also every token's logits."),
    TN_FORM_CUTS);

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form form;
    struct tn_str text;
    enum tn_status st = tn_form_begin(root, "texts", sizeof(tn_tag_request), arena, &form, out, err);
    tn_tag_request *r = form.request;
    if (st) return st;
    *r = TN_INIT(tn_tag_request);
    r->texts = form.texts;
    r->count = form.count;
    for (unsigned i = 0; tn_json_str(tn_json_get(root, "aggregation"), &text) && aggregations[i]; i++)
        if (tn_str_is(text, aggregations[i])) r->aggregation = (tn_aggregation)i;
    (void)tn_json_bool(tn_json_get(root, "keep_outside"), &r->keep_outside);
    (void)tn_json_bool(tn_json_get(root, "want_logits"), &r->want_logits);
    TN_FORM_CHOOSE(r, form);
    return TN_OK;
}

const struct tn_task tn_task_tag = {
    .name = "tag",
    .contract = "tenon.tag/v1",
    .recipe = &tn_recipe_tag,
    .what = "spans of each text with a label and its probability",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_tag_options,
    .evidence = tn_head_facts,
    .request = &tn_tag_request_type,
    .read = read,
};
