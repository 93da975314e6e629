/*
 * Question answering: the contract, and whether a description can serve it. A head of kind question_answering says of each
 * token of a context how well an answer to the question begins and ends there; answers are parts of the context.
 *
 * The rules are those of transformers 4.57.6 (answer.h), but for three things that would be plausible wrong answers: only
 * tokens of the context can answer, also where the question stands behind it and where it holds the text of a special
 * token; and a question that leaves no room for the context is refused, never cut. What has no rule there has none here:
 * nothing in the published conventions says that a package was trained with questions that have no answer.
 */
#include "task/answer.h"

#include "base/json_write.h"
#include "task/forms.h"
#include "task/needs.h"

static size_t least(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

struct tn_answer_rule tn_answer_rule_of(const tn_answer_request *r, uint64_t max_tokens, bool no_answer)
{
    struct tn_answer_rule rule = {
        .top_k = r->top_k ? r->top_k : 1,
        .most_tokens = r->max_answer_tokens ? r->max_answer_tokens : TN_ANSWER_TOKENS,
        .max_tokens = r->max_tokens ? r->max_tokens : least(max_tokens, TN_ANSWER_WINDOW_TOKENS),
        .no_answer = r->no_answer == TN_AUTO ? no_answer : r->no_answer == TN_YES,
        .align_words = r->align_words != TN_NO,
    };
    rule.stride = r->stride_set ? r->stride : least(rule.max_tokens / 2, TN_ANSWER_OVERLAP);
    return rule;
}

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    static const enum tn_head_kind kinds[] = {TN_HEAD_QUESTION_ANSWERING};
    tn_need_head(d, kinds, 1, "spans that answer a question", findings, out);
    if (out->head) tn_need_pair_types(d, findings);
}

/* ---- options ----------------------------------------------------------------------------------------------------------- */

static void number(struct tn_option_maker *m, const char *name, uint64_t value)
{
    struct tn_str text = tn_json_text_of_u64(m->arena, value);
    if (!text.s) m->no_memory = true;
    tn_option_begin(m, name, text);
}

enum tn_status tn_answer_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                 struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct tn_option_maker m = {.d = d, .arena = arena, .out = out};
    const tn_answer_request nothing = {0};
    struct tn_answer_rule rule = tn_answer_rule_of(&nothing, route->max_tokens, false);
    (void)width;
    number(&m, "top_k", rule.top_k);
    number(&m, "max_answer_tokens", rule.most_tokens);
    struct tn_option *o = tn_option_begin(&m, "max_tokens", TN_STR("384"));
    if (route->max_tokens < TN_ANSWER_WINDOW_TOKENS)
        tn_option_of_package(&m, o, tn_json_text_of_u64(arena, route->max_tokens), "max_seq_length");
    number(&m, "stride", rule.stride);
    o = tn_option_begin(&m, "no_answer", TN_STR("false"));
    if (route->head && route->head->no_answer) tn_option_of_package(&m, o, TN_STR("true"), "head.no_answer");
    tn_option_begin(&m, "align_words", TN_STR("true"));
    tn_option_begin(&m, "atomic", TN_STR("false"));
    tn_option_begin(&m, "batch", TN_STR("\"by tokens\""));
    tn_option_begin(&m, "timeout_ms", TN_STR("0"));
    return tn_options_end(&m, count, err);
}

/* ---- documents --------------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    tn_jw_member_u64(w, "max_tokens", route->max_tokens);
    tn_jw_member_cstr(w, "first", tn_str_is(d->tokenizer.padding_side, "left") ? "context" : "question");
    tn_jw_member_str(w, "windows_from", tn_str_is(d->tokenizer.truncation_side, "left") ? TN_STR("right") : TN_STR("left"));
    tn_jw_member_cstr(w, "function", "softmax");
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "answers", "[{answer, score, start, end, bytes, none}] per context", "best first; start and end in code points, "
                      "bytes in UTF-8, both half-open; what reads the same whatever its case is one answer, placed where its best "
                      "span is in the first window that has it; none: there is no answer");
    tn_contract_field(w, "score_kind", "probability | other", "softmax over beginnings times softmax over ends, in f32, added up over "
                      "equal answers; other: over several windows too, so that it may pass 1");
    tn_contract_field(w, "logits", "f32 [windows][tokens, 2] per context", "begin and end, special tokens included; on request");
    tn_contract_field(w, "windows", "tokens of each window per context", "special tokens included");
    tn_contract_field(w, "tokens", "count", "tokens of all windows together");
    tn_jw_end_array(w);
    tn_contract_invariants(w, "one result or one error per context");
}

/* ---- the request as a document ------------------------------------------------------------------------------------------ */

static const struct tn_doctype any_text = {.kind = TN_DOC_STRING};
static const struct tn_doctype overlap = {.kind = TN_DOC_INT, .format = "uint32", .least = 0, .most = UINT32_MAX};

TN_DOC_OBJECT_TYPE(tn_answer_context_type, "Context", "A context with an id and a question.",
    TN_DOC_MAY("id", &tn_form_id, NULL, NULL),
    TN_DOC_MUST("text", TN_DOC_TEXT, "The context, in UTF-8."),
    TN_DOC_NULL("question", TN_DOC_TEXT, "A question of its own; absent: that of the request."));

static const struct tn_doctype context_item = {.kind = TN_DOC_CHOICE, .choices = (const struct tn_doctype *const[]){&any_text, &tn_answer_context_type, NULL}};
static const struct tn_doctype contexts = {.kind = TN_DOC_LIST, .items = &context_item};

TN_DOC_OBJECT_TYPE(tn_answer_request_type, "AnswerRequest", "A question and the contexts in which its answers are looked for.",
    TN_DOC_NULL("question", TN_DOC_TEXT, "What is asked of every context that has no question of its own."),
    TN_DOC_MUST("contexts", &contexts, "Where answers are looked for."),
    TN_DOC_NULL_AS("top_k", &tn_form_count, "1", "Most answers per context."),
    TN_DOC_NULL_AS("max_answer_tokens", &tn_form_count, "15", "Longest answer in tokens."),
    TN_DOC_NULL("max_tokens", &tn_form_count, "Tokens of a window, the question and special tokens included; absent: what the model takes, "
                "at most 384. A longer context is read in several windows and nothing of it is cut."),
    TN_DOC_NULL("stride", &overlap, "Tokens of the context that neighbouring windows share; absent: half a window, at most 128."),
    TN_DOC_NULL("no_answer", TN_DOC_BOOLEAN, "Whether \"no answer\" is among the answers, with its least score in any window; absent: as "
                "the package says."),
    TN_DOC_MAY("align_words", TN_DOC_BOOLEAN, "true", "Whether answers are widened to whole words."),
    TN_DOC_MAY("want_logits", TN_DOC_BOOLEAN, "false", "Also every token's logits."),
    TN_FORM_STEPS);

/* False without memory. */
static bool read_questions(struct tn_json list, struct tn_arena *arena, size_t count, const tn_string **out)
{
    tn_string *questions = NULL;
    struct tn_str text;
    size_t i = 0;
    *out = NULL;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), i++) {
        if (!tn_json_is(v, TN_JSON_OBJECT) || !tn_json_str(tn_json_get(v, "question"), &text)) continue;
        if (!questions) questions = tn_arena_array(arena, count, sizeof(*questions));
        if (!questions) return false;
        questions[i] = (tn_string){text.s ? text.s : "", text.n};
    }
    *out = questions;
    return true;
}

static tn_tristate choice_of(struct tn_json root, const char *name)
{
    bool value;
    if (!tn_json_bool(tn_json_get(root, name), &value)) return TN_AUTO;
    return value ? TN_YES : TN_NO;
}

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_form form;
    struct tn_str question = {NULL, 0};
    enum tn_status st = tn_form_begin(root, "contexts", sizeof(tn_answer_request), arena, &form, out, err);
    tn_answer_request *r = form.request;
    if (st) return st;
    *r = TN_INIT(tn_answer_request);
    (void)tn_json_str(tn_json_get(root, "question"), &question);
    r->question = (tn_string){question.s, question.n};
    r->contexts = form.texts;
    r->count = form.count;
    r->top_k = tn_form_read_count(root, "top_k");
    r->max_answer_tokens = tn_form_read_count(root, "max_answer_tokens");
    r->max_tokens = tn_form_read_count(root, "max_tokens");
    r->stride_set = tn_json_is(tn_json_get(root, "stride"), TN_JSON_NUMBER);
    r->stride = tn_form_read_count(root, "stride");
    r->no_answer = choice_of(root, "no_answer");
    r->align_words = choice_of(root, "align_words");
    (void)tn_json_bool(tn_json_get(root, "want_logits"), &r->want_logits);
    r->atomic = form.choices.atomic;
    r->batch = form.choices.batch;
    r->timeout_ms = form.choices.timeout_ms;
    bool read = read_questions(tn_json_get(root, "contexts"), arena, r->count, &r->questions);
    return read ? TN_OK : tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
}

const struct tn_task tn_task_question_answer = {
    .name = "question-answer",
    .contract = "tenon.question-answer/v1",
    .recipe = &tn_recipe_answer,
    .what = "parts of each context that answer a question",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .options = tn_answer_options,
    .evidence = tn_head_facts,
    .request = &tn_answer_request_type,
    .read = read,
};
