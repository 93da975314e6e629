/*
 * Reranking: the contract, and whether a description can serve it. A cross-encoder reads query and document together and
 * gives one number, or one for "not relevant" and one for "relevant".
 *
 * The rules are those of CrossEncoder in sentence-transformers 6.2: the activation that the package states, else a sigmoid
 * on one output; its rank() takes no more. Two outputs that exclude one another are scored as its LogitScore does: log-odds
 * of relevant against not. Where no name says which is which the second is, with a warning; names or a problem_type that say
 * something else are refused, and so are more outputs: their scores would order documents plausibly.
 */
#include "base/json_write.h"
#include "task/forms.h"
#include "task/needs.h"
#include "task/rerank.h"

#include <math.h>
#include <stdio.h>

/* ---- which number is the score --------------------------------------------------------------------------------------- */

/* Names of labels, in lower case, by what they say of a document. Listed, never guessed from parts of words. */
static const char *const relevant_names[] = {"relevant", "relevance", "yes", "true", "match", "related", "duplicate", NULL};
static const char *const other_names[] = {"irrelevant", "not_relevant", "not relevant", "non-relevant", "no", "false", "no_match",
                                          "unrelated", "not_duplicate", NULL};
/* Those of other questions, and bare numbers: they go with the usual order of the outputs, or speak against it. */
static const char *const second_names[] = {"1", "label_1", "positive", "pos", "good", "entailment", "entailed", NULL};
static const char *const first_names[] = {"0", "label_0", "negative", "neg", "bad", "not_entailment", "not_entailed", NULL};
static const char *const numbers[] = {"0", "1", "label_0", "label_1", NULL};

static bool is_named(struct tn_str label, const char *const *names)
{
    char lower[32];
    if (label.n >= sizeof(lower)) return false;
    for (size_t i = 0; i < label.n; i++) {
        char c = label.s[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    for (; *names; names++)
        if (tn_str_is((struct tn_str){lower, label.n}, *names)) return true;
    return false;
}

static enum tn_act activation_of(const struct tn_head *head)
{
    if (head->activation.n == 0) return TN_ACT_SIGMOID;
    for (int act = 0; act < TN_ACTS; act++)
        if (tn_str_is(head->activation, tn_act_name((enum tn_act)act))) return (enum tn_act)act;
    return TN_ACT_IDENTITY;
}

static bool are_named(const struct tn_head *head, uint32_t i, const char *const *names, const char *const *others)
{
    return is_named(head->labels[i], names) && is_named(head->labels[1 - i], others);
}

/* Two numbers are one score only where they exclude one another and nothing was put on them. */
static const char *unfit_for_two(const struct tn_head *head, enum tn_act act)
{
    if (head->problem == TN_PROBLEM_REGRESSION) return "the head predicts two values, neither of which is said to be a document's relevance";
    if (head->problem == TN_PROBLEM_MULTI_LABEL) return "the head's two labels do not exclude one another, so that they are no score against each other";
    if (head->activation.n && act != TN_ACT_IDENTITY) return "the package puts an activation on each of two outputs, which leaves no score of the pair";
    return NULL;
}

/* Where nothing says "relevant", the second output is, as in training with the targets 0 and 1. Names may say otherwise. */
static const char *read_two(const struct tn_head *head, struct tn_rerank_rule *rule)
{
    rule->relevant = 1;
    for (uint32_t i = 0; i < 2; i++) {
        if (!are_named(head, i, relevant_names, other_names)) continue;
        rule->relevant = i;
        return NULL;
    }
    rule->by_convention = true;
    bool scorer = head->cross_encoder || (is_named(head->labels[0], numbers) && is_named(head->labels[1], numbers));
    if (scorer && are_named(head, 1, second_names, first_names)) return NULL;
    if (are_named(head, 0, second_names, first_names) && scorer) return "the names of the head's two labels contradict the order in which relevance comes second";
    return "neither of the head's two labels says that a document is relevant";
}

struct tn_rerank_rule tn_rerank_rule_of(const struct tn_head *head)
{
    struct tn_rerank_rule rule = {.act = activation_of(head)};
    if (head->outputs != 1 && head->outputs != 2) rule.refusal = "the head gives several numbers, none of which is a document's relevance";
    if (head->outputs == 2) rule.refusal = unfit_for_two(head, rule.act);
    if (head->outputs == 2 && !rule.refusal) rule.refusal = read_two(head, &rule);
    if (!rule.refusal) rule.outputs = (uint32_t)head->outputs;
    else rule.by_convention = false;
    return rule;
}

tn_score_kind tn_rerank_kind(const struct tn_rerank_rule *rule, tn_score_choice choice)
{
    if (choice == TN_SCORES_LOGIT) return TN_SCORE_LOGIT;
    if (choice == TN_SCORES_PROBABILITY || rule->outputs == 2 || rule->act == TN_ACT_SIGMOID) return TN_SCORE_PROBABILITY;
    return rule->act == TN_ACT_IDENTITY ? TN_SCORE_LOGIT : TN_SCORE_OTHER;
}

float tn_rerank_score(const struct tn_rerank_rule *rule, tn_score_choice choice, const float *logits)
{
    struct tn_scoring s = {.function = TN_SCORE_AS_IS, .act = rule->act};
    float score;
    tn_score_kind kind = tn_rerank_kind(rule, choice);
    if (rule->outputs == 2 && kind == TN_SCORE_LOGIT) return logits[rule->relevant] - logits[1 - rule->relevant];
    if (rule->outputs == 2) {
        float both[2];
        s.function = TN_SCORE_SOFTMAX;
        tn_score_apply(&s, logits, both, 2);
        return both[rule->relevant];
    }
    if (kind == TN_SCORE_PROBABILITY) s.function = TN_SCORE_SIGMOID;
    if (kind == TN_SCORE_OTHER) s.function = TN_SCORE_ACTIVATION;
    tn_score_apply(&s, logits, &score, 1);
    return score;
}

/* ---- assessment -------------------------------------------------------------------------------------------------------- */

/* The two names, which are the package's own; cut where they are long. */
static void find_labels(struct tn_finding *f, const struct tn_head *h, const char *evidence)
{
    char first[64], second[64];
    if (h->outputs != 2) {
        tn_found(f, "%s", evidence);
        return;
    }
    snprintf(first, sizeof(first), "%.*s", TN_FMT_ARG(h->labels[0]));
    snprintf(second, sizeof(second), "%.*s", TN_FMT_ARG(h->labels[1]));
    tn_found(f, "output 0 is \"%s\", output 1 is \"%s\"%s%s; %s", first, second, h->problem ? ", problem_type is " : "",
             h->problem ? tn_problem_name(h->problem) : "", evidence);
}

static void refuse_outputs(const struct tn_description *d, const char *why, struct tn_findings *findings)
{
    char evidence[TN_HEAD_EVIDENCE_BYTES];
    tn_head_evidence(d, evidence, sizeof(evidence));
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS, "%s", why);
    tn_at_class(f, d);
    find_labels(f, d->head, evidence);
    tn_expected(f, "one output; or two that exclude one another, named irrelevant and relevant, no and yes, LABEL_0 and LABEL_1; or "
                   "negative and positive of a package that was saved as a CrossEncoder");
    tn_remedy(f, "use the task classify.text, which gives all labels of a pair, or a package trained for ranking");
}

static void warn_convention(const struct tn_description *d, struct tn_findings *findings)
{
    char evidence[TN_HEAD_EVIDENCE_BYTES];
    tn_head_evidence(d, evidence, sizeof(evidence));
    struct tn_finding *f = tn_findings_add(findings, TN_WARNING, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS,
                                           "nothing in the package says which of two outputs is a document's relevance: the second is taken for it");
    tn_at_class(f, d);
    find_labels(f, d->head, evidence);
    tn_expected(f, "id2label with names such as irrelevant and relevant, or one output");
}

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    static const enum tn_head_kind kinds[] = {TN_HEAD_SEQUENCE_CLASSIFICATION};
    tn_need_head(d, kinds, 1, "scores of pairs", findings, out);
    if (!out->head || !out->head->labels) return;
    tn_need_pair_types(d, findings);
    struct tn_rerank_rule rule = tn_rerank_rule_of(out->head);
    if (rule.refusal) refuse_outputs(d, rule.refusal, findings);
    else if (rule.by_convention) warn_convention(d, findings);
}

/* ---- options ------------------------------------------------------------------------------------------------------------ */

enum tn_status tn_rerank_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                 struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    struct tn_rerank_rule rule = tn_rerank_rule_of(route->head);
    struct tn_option *o = tn_option_begin(&m, "scores", TN_STR("\"probability\""));
    (void)width;
    if (route->head->activation.n && rule.outputs == 1)
        tn_option_of_package(&m, o, tn_json_text_of_str(arena, tn_str_of(tn_score_kind_name(tn_rerank_kind(&rule, TN_SCORES_AUTO)))),
                             "head.activation");
    o = tn_option_begin(&m, "function", rule.outputs == 2 ? TN_STR("\"softmax\"") : TN_STR("\"sigmoid\""));
    if (route->head->activation.n && rule.outputs == 1)
        tn_option_of_package(&m, o, tn_json_text_of_str(arena, tn_str_of(tn_act_name(rule.act))), "head.activation");
    tn_option_begin(&m, "top_k", TN_STR("null"));
    tn_text_choices_defaults(&m, route);
    return tn_options_end(&m, count, err);
}

/* ---- documents ---------------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    struct tn_rerank_rule rule = tn_rerank_rule_of(route->head);
    tn_text_route_write(w, d, route);
    tn_jw_key(w, "relevant_label");
    if (rule.outputs == 2) {
        tn_jw_str(w, route->head->labels[rule.relevant]);
    } else {
        tn_jw_null(w);
    }
    tn_jw_member_cstr(w, "function", rule.outputs == 2 ? "softmax" : tn_act_name(rule.act));
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "score", "f32 per document", "documents come best first, equal scores by index, failed ones last");
    tn_contract_field(w, "score_kind", "logit | probability | other", "logit: the head's number, or of two the log-odds; other: an "
                      "activation that the package states");
    tn_contract_field(w, "logits", "f32 [1 or 2] per document", "what the head gave");
    tn_contract_field(w, "tokens", "count", "tokens of the pair that were used, special tokens included");
    tn_contract_field(w, "truncated", "bool per document", "whether tokens of the pair were cut");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one score or one error per document; with top_k the best and all errors");
}

/* ---- the request as a document -------------------------------------------------------------------------------------------- */

TN_DOC_OBJECT_TYPE(tn_rerank_request_type, "RerankRequest", "Documents to be ordered by their relevance to a query.",
    TN_DOC_MUST("query", TN_DOC_TEXT, "First text of every pair."),
    TN_DOC_MUST("documents", &tn_form_texts, "Second texts of the pairs."),
    TN_DOC_NULL_AS("scores", &tn_form_scores, "\"auto\"", "Kind of score; auto: as the package says, else a probability."),
    TN_DOC_NULL("top_k", &tn_form_count, "The best so many; absent: all."),
    TN_FORM_CHOICES);

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form form;
    struct tn_str query = TN_STR("");
    enum tn_status st = tn_form_begin(root, "documents", sizeof(tn_rerank_request), arena, &form, out, err);
    tn_rerank_request *r = form.request;
    if (st) return st;
    (void)tn_json_str(tn_json_get(root, "query"), &query);
    *r = TN_INIT(tn_rerank_request);
    r->query = (tn_string){query.s, query.n};
    r->documents = form.texts;
    r->count = form.count;
    r->role = form.choices.role;
    r->scores = tn_form_read_scores(tn_json_get(root, "scores"));
    r->top_k = tn_form_read_count(root, "top_k");
    TN_FORM_CHOOSE(r, form);
    return TN_OK;
}

const struct tn_task tn_task_rerank = {
    .name = "rerank",
    .contract = "tenon.rerank/v1",
    .recipe = &tn_recipe_rerank,
    .what = "documents in the order of their relevance to a query",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_rerank_options,
    .evidence = tn_head_facts,
    .request = &tn_rerank_request_type,
    .read = read,
};
