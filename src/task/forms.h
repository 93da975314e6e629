/*
 * Requests in JSON. Each task has a closed table of its request (base/doctype.h) and a function that turns a document that
 * passed it into the typed request; what several tasks share is here. Documents are untrusted; texts stay in them.
 */
#ifndef TN_TASK_FORMS_H
#define TN_TASK_FORMS_H

#include "base/doctype_rows.h"
#include "task/text_choices.h"

/* Items as tasks get them: parallel arrays in the arena, texts of the document. */
struct tn_form_items {
    tn_string *texts, *pairs; /* pairs NULL: no item has a second text */
    struct tn_str *ids;       /* JSON texts, .s NULL where an item has none; NULL: no item has one */
    size_t count;
};

/* "a text", {"text"}, {"id", "text"}; the second type also {"text", "pair"}. */
extern const struct tn_doctype tn_form_texts, tn_form_pairs;

/* The member, which passed one of the types above. False: no memory. */
bool tn_form_read_items(struct tn_json list, struct tn_arena *arena, struct tn_form_items *out);
/* The members of tn_text_choices; a role must not hold a NUL byte (TN_INVALID_REQUEST). */
enum tn_status tn_form_read_choices(struct tn_json root, struct tn_arena *arena, struct tn_text_choices *out, struct tn_error *err);
/* A string as NUL-terminated text; NULL with *out for absent. */
enum tn_status tn_form_read_name(struct tn_json v, const char *option, struct tn_arena *arena, const char **out, struct tn_error *err);
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
