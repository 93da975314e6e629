/* The words of findings about documents; private to the doctype files. */
#ifndef TN_BASE_DOCTYPE_TEXT_H
#define TN_BASE_DOCTYPE_TEXT_H

#include "base/doctype.h"
#include "base/nearest.h"

/* A text that is cut when it is full. Starts as zeros. */
struct tn_doc_text {
    size_t n;
    char s[384];
};
void tn_doc_text_add(struct tn_doc_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a value is called in a message: its key, or its role in a list. */
struct tn_doc_label {
    char s[88];
};
struct tn_doc_label tn_doc_label_of(struct tn_json v);
const char *tn_doc_name_of(const struct tn_doctype *type);

/* All take a finding of NULL. */
void tn_doc_expected(struct tn_finding *f, const struct tn_doctype *type);
void tn_doc_found(struct tn_finding *f, struct tn_json v);
/* The nearest name if there is one, else what the member is for; either may be NULL. */
void tn_doc_advise(struct tn_finding *f, const struct tn_nearest *near, const struct tn_docfield *field);

/* doctype_marks.c: the next mark, in any order; sorting ends it and is false when memory was lost. */
void tn_doc_mark(struct tn_doc_marks *marks, struct tn_json v, const char *member);
bool tn_doc_marks_sort(struct tn_doc_marks *marks);

#endif
