/*
 * Findings: what was noticed about a package, a document or a request, each with code, place, found, expected and
 * remedy. A list collects *all* problems of one pass; an error (base/error.h) is one primary finding plus such a list.
 *
 * A finding is written in steps, each of which tolerates NULL:
 *
 *     struct tn_finding *f = tn_findings_add(list, TN_BLOCKER, TN_MISSING_TENSOR, TN_PHASE_LOAD, "no tensor for role %s", r);
 *     tn_at_tensor(f, file, name);
 *     tn_expected(f, "shape [%llu, %llu]", a, b);
 *     tn_remedy(f, "download the package again");
 *
 * Texts are cut at their field's size and cleaned: control characters, bidi controls and invalid UTF-8 become \xNN.
 * Never put a user's request text into a finding; quote lengths and offsets.
 */
#ifndef TN_BASE_FINDINGS_H
#define TN_BASE_FINDINGS_H

#include "base/buf.h"
#include "base/status.h"

#include <stdarg.h>

enum tn_severity { TN_NOTE, TN_WARNING, TN_BLOCKER };

/* What `element` of a place names. */
#define TN_ELEMENT_LIST(X)                                                                         \
    X(NONE, "none")                                                                                \
    X(POINTER, "pointer")                                                                          \
    X(TENSOR, "tensor")                                                                            \
    X(OPERATOR, "operator")                                                                        \
    X(OPTION, "option")                                                                            \
    X(ITEM, "item")                                                                                \
    X(MODULE, "module")

enum tn_element_kind {
#define X(name, text) TN_ELEMENT_##name,
    TN_ELEMENT_LIST(X)
#undef X
};

struct tn_finding {
    enum tn_severity severity;
    enum tn_status code;
    enum tn_phase phase;
    enum tn_element_kind element_kind;
    int64_t offset; /* byte offset inside the file, -1: none */
    int64_t item;   /* index inside the request, -1: none */
    char message[320];
    char file[256]; /* path inside the package */
    char element[256];
    char found[512];
    char expected[384];
    char remedy[256];
};

struct tn_findings {
    struct tn_alloc *alloc;
    struct tn_finding *items;
    size_t count, cap, max;
    size_t dropped;  /* noticed beyond `max`, or when memory was gone */
    bool starved;    /* some of them for want of memory: who asked for the list must fail */
    size_t blockers; /* also counts dropped ones */
};

void tn_findings_init(struct tn_findings *list, struct tn_alloc *alloc, size_t max);
void tn_findings_release(struct tn_findings *list);
/* NULL when the list is NULL, full, or memory is gone (then `dropped` counts it). Valid until the next add. */
struct tn_finding *tn_findings_add(struct tn_findings *list, enum tn_severity severity, enum tn_status code,
                                   enum tn_phase phase, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Appends copies of all of `from` that are not in the list already. */
void tn_findings_append(struct tn_findings *list, const struct tn_findings *from);
/* The first blocker or NULL. */
const struct tn_finding *tn_findings_first_blocker(const struct tn_findings *list);

void tn_finding_begin(struct tn_finding *f, enum tn_severity severity, enum tn_status code, enum tn_phase phase,
                      const char *format, va_list args);
void tn_at_file(struct tn_finding *f, struct tn_str file);
void tn_at_pointer(struct tn_finding *f, struct tn_str file, struct tn_str pointer);
void tn_at_offset(struct tn_finding *f, struct tn_str file, uint64_t offset);
void tn_at_tensor(struct tn_finding *f, struct tn_str file, struct tn_str tensor);
void tn_at_option(struct tn_finding *f, const char *option);
void tn_at_element(struct tn_finding *f, enum tn_element_kind kind, struct tn_str element);
void tn_at_item(struct tn_finding *f, size_t item);
void tn_found(struct tn_finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tn_expected(struct tn_finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tn_remedy(struct tn_finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *tn_severity_name(enum tn_severity severity);
const char *tn_element_name(enum tn_element_kind kind);

/* Copies n bytes into dst[cap] (at least 4), cleaned as described above and NUL-terminated; cut texts end in "...". */
void tn_clean_text(char *dst, size_t cap, const char *s, size_t n);

/* For printf: TN_FMT_ARG(str) fits "%.*s". */
#define TN_FMT_ARG(str) (int)((str).n > 4096 ? 4096 : (str).n), (str).s ? (str).s : ""

struct tn_json_writer;
/* {"severity","code","phase","message","where":{...},"found","expected","remedy"} */
void tn_finding_write(struct tn_json_writer *w, const struct tn_finding *f);
/* The same members inside an object that the caller has begun, without "severity". */
void tn_finding_write_members(struct tn_json_writer *w, const struct tn_finding *f);
/* An array of them; when some were dropped, the last entry says how many. */
void tn_findings_write(struct tn_json_writer *w, const struct tn_findings *list);

#endif
