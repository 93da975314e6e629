/*
 * Requests in JSON. Each task has a closed table of its request (base/doctype.h) and a function that turns a document that
 * passed it into the typed request; what several tasks share is here. Documents are untrusted; texts stay in them.
 */
#ifndef TN_TASK_FORMS_H
#define TN_TASK_FORMS_H

#include "base/doctype_rows.h"
#include "task/text_choices.h"

/* What every request over texts has; arrays in the arena, texts of the document. */
struct tn_form {
    void *request;            /* the typed request, zeros */
    tn_string *texts, *pairs; /* pairs NULL: no item has a second text */
    struct tn_str *ids;       /* JSON texts, .s NULL where an item has none; NULL: no item has one */
    size_t count;
    struct tn_text_choices choices;
};

/* "a text", {"text"}, {"id", "text"}; the second type also {"text", "pair"}. */
extern const struct tn_doctype tn_form_texts, tn_form_pairs;

/*
 * Reads the items of the member `list`, which passed one of the types above, and the choices, and fills *out but for the
 * request's own members. A role must not hold a NUL byte (TN_INVALID_REQUEST).
 */
enum tn_status tn_form_begin(struct tn_json root, const char *list, size_t request_size, struct tn_arena *arena,
                             struct tn_form *form, struct tn_task_request *out, struct tn_error *err);
/* The choices, role left out, into a request that has them. */
#define TN_FORM_CHOOSE(r, form)                                                                                        \
    ((r)->truncation = (form).choices.truncation, (r)->side = (form).choices.side, (r)->atomic = (form).choices.atomic, \
     (r)->batch = (form).choices.batch, (r)->timeout_ms = (form).choices.timeout_ms)
/* A member of the type tn_form_count; 0: absent. */
unsigned tn_form_read_count(struct tn_json root, const char *name);
tn_score_choice tn_form_read_scores(struct tn_json v);

extern const struct tn_doctype tn_form_id, tn_form_truncation, tn_form_side, tn_form_scores, tn_form_count, tn_form_timeout;

/* Rows of a request's table for what tn_form_read_choices reads. */
#define TN_FORM_CHOICES                                                                                                \
    TN_DOC_NULL("role", TN_DOC_TEXT, "Name of a prompt of the package, whose text is put in front of what comes first; absent: " \
                "the package's default; empty: none."), TN_FORM_CUTS
/* Those of a task that puts no prompts in front. */
#define TN_FORM_CUTS                                                                                                   \
        TN_DOC_NULL_AS("truncation", &tn_form_truncation, "\"auto\"", "What is cut from texts that are longer together than " \
                       "the model takes; auto: the longest first; no: such an item is input_too_long."),               \
        TN_DOC_NULL_AS("side", &tn_form_side, "\"auto\"", "The end that is cut; auto: as the tokenizer says."),        \
        TN_FORM_STEPS
/* Those of any task over items. */
#define TN_FORM_STEPS                                                                                                  \
        TN_DOC_MAY("atomic", TN_DOC_BOOLEAN, "false", "Whether one bad item fails the whole request."),                \
        TN_DOC_NULL("batch", &tn_form_count, "Most sequences per step; absent: chosen by tokens."),                    \
        TN_FORM_DEADLINE
#define TN_FORM_DEADLINE                                                                                               \
        TN_DOC_NULL_AS("timeout_ms", &tn_form_timeout, "0", "Deadline from the start, in milliseconds; 0: none.")

#endif
