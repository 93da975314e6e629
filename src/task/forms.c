/* Members of JSON requests that several tasks have. */
#include "task/forms.h"

#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

static const struct tn_doctype any_text = {.kind = TN_DOC_STRING};
static const struct tn_doctype whole = {.kind = TN_DOC_INT, .format = "int64", .least = INT64_MIN, .most = INT64_MAX};
const struct tn_doctype tn_form_id = {
    .kind = TN_DOC_CHOICE, .name = "ItemId", .note = "Repeated in the result.", .choices = (const struct tn_doctype *const[]){&any_text, &whole, NULL}};

TN_DOC_OBJECT_TYPE(tn_form_text, "Text", "A text with an id.",
    TN_DOC_MAY("id", &tn_form_id, NULL, NULL),
    TN_DOC_MUST("text", TN_DOC_TEXT, "The text, in UTF-8."));
TN_DOC_OBJECT_TYPE(tn_form_pair, "TextOrPair", "A text, or a pair of texts, with an id.",
    TN_DOC_MAY("id", &tn_form_id, NULL, NULL),
    TN_DOC_MUST("text", TN_DOC_TEXT, "The text, in UTF-8."),
    TN_DOC_NULL("pair", TN_DOC_TEXT, "The second text of a pair."));

static const struct tn_doctype text_item = {.kind = TN_DOC_CHOICE, .choices = (const struct tn_doctype *const[]){&any_text, &tn_form_text, NULL}};
static const struct tn_doctype pair_item = {.kind = TN_DOC_CHOICE, .choices = (const struct tn_doctype *const[]){&any_text, &tn_form_pair, NULL}};
const struct tn_doctype tn_form_texts = {.kind = TN_DOC_LIST, .items = &text_item};
const struct tn_doctype tn_form_pairs = {.kind = TN_DOC_LIST, .items = &pair_item};

TN_DOC_ENUM_TYPE(tn_form_truncation, "Truncation", "What is cut.", "auto", "longest_first", "only_first", "only_second", "no");
TN_DOC_ENUM_TYPE(tn_form_side, "Side", "An end of a text.", "auto", "right", "left");
TN_DOC_ENUM_TYPE(tn_form_scores, "Scores", "What kind of score is asked for.", "auto", "logit", "probability");
const struct tn_doctype tn_form_count = {.kind = TN_DOC_INT, .format = "uint32", .least = 1, .most = UINT32_MAX};
const struct tn_doctype tn_form_timeout = {.kind = TN_DOC_INT, .format = "uint32", .least = 0, .most = UINT32_MAX};

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static tn_string string_of(struct tn_json v)
{
    struct tn_str s = {NULL, 0};
    (void)tn_json_str(v, &s);
    return (tn_string){s.s ? s.s : "", s.n};
}

/* False: no memory. */
static bool read_items(struct tn_json list, struct tn_arena *arena, struct tn_form *out)
{
    size_t i = 0;
    out->count = tn_json_count(list);
    out->texts = tn_arena_array(arena, out->count, sizeof(*out->texts));
    if (!out->texts) return false;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), i++) {
        bool object = tn_json_is(v, TN_JSON_OBJECT);
        struct tn_json pair = tn_json_get(v, "pair"), own = tn_json_get(v, "id");
        out->texts[i] = string_of(object ? tn_json_get(v, "text") : v);
        if (object && tn_json_is(pair, TN_JSON_STRING)) {
            if (!out->pairs) out->pairs = tn_arena_array(arena, out->count, sizeof(*out->pairs));
            if (!out->pairs) return false;
            out->pairs[i] = string_of(pair);
        }
        if (object && tn_json_present(own)) {
            if (!out->ids) out->ids = tn_arena_array(arena, out->count, sizeof(*out->ids));
            if (!out->ids) return false;
            out->ids[i] = tn_json_text(own);
        }
    }
    return true;
}

/* A role as NUL-terminated text; NULL in *out: absent. */
static enum tn_status read_role(struct tn_json v, struct tn_arena *arena, const char **out, struct tn_error *err)
{
    struct tn_str s;
    *out = NULL;
    if (!tn_json_str(v, &s)) return TN_OK;
    if (s.n && memchr(s.s, 0, s.n)) {
        struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "role holds a NUL byte");
        tn_at_option(f, "role");
        return TN_INVALID_REQUEST;
    }
    *out = tn_arena_strndup(arena, s.s, s.n);
    return *out ? TN_OK : tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
}

/* The place of a string in a list of names that begins with what absence means; the table has checked it. */
static unsigned choice_of(struct tn_json v, const struct tn_doctype *type)
{
    struct tn_str s;
    for (unsigned i = 0; tn_json_str(v, &s) && type->values[i]; i++)
        if (tn_str_is(s, type->values[i])) return i;
    return 0;
}

tn_score_choice tn_form_read_scores(struct tn_json v)
{
    return (tn_score_choice)choice_of(v, &tn_form_scores);
}

unsigned tn_form_read_count(struct tn_json root, const char *name)
{
    uint64_t n = 0;
    (void)tn_json_u64(tn_json_get(root, name), &n);
    return (unsigned)n;
}

static enum tn_status read_choices(struct tn_json root, struct tn_arena *arena, struct tn_text_choices *out, struct tn_error *err)
{
    *out = (struct tn_text_choices){
        .truncation = (tn_truncation)choice_of(tn_json_get(root, "truncation"), &tn_form_truncation),
        .side = (tn_side)choice_of(tn_json_get(root, "side"), &tn_form_side),
        .batch = tn_form_read_count(root, "batch"),
        .timeout_ms = tn_form_read_count(root, "timeout_ms"),
    };
    (void)tn_json_bool(tn_json_get(root, "atomic"), &out->atomic);
    return read_role(tn_json_get(root, "role"), arena, &out->role, err);
}

enum tn_status tn_form_begin(struct tn_json root, const char *list, size_t request_size, struct tn_arena *arena,
                             struct tn_form *form, struct tn_task_request *out, struct tn_error *err)
{
    *form = (struct tn_form){.request = tn_arena_alloc(arena, request_size)};
    if (!form->request || !read_items(tn_json_get(root, list), arena, form)) {
        return tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
    }
    enum tn_status st = read_choices(root, arena, &form->choices, err);
    *out = (struct tn_task_request){form->request, form->choices.timeout_ms, form->ids, form->count};
    return st;
}

_Static_assert(TN_TRUNCATE_AUTO == 0 && TN_TRUNCATE_LONGEST_FIRST == 1 && TN_TRUNCATE_ONLY_FIRST == 2 &&
                   TN_TRUNCATE_ONLY_SECOND == 3 && TN_TRUNCATE_NO == 4 && TN_SIDE_RIGHT == 1 && TN_SIDE_LEFT == 2 &&
                   TN_SCORES_LOGIT == 1 && TN_SCORES_PROBABILITY == 2,
               "the tables list the names in the order of the public enumerations");
