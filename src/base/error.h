/*
 * struct tn_error: one failed call, explained. Preallocated as a whole, so that reporting works when memory is gone.
 * Every function that can fail returns the status and, when err is not NULL, fills it. Set once: the first failure
 * of a call stays, unless tn_error_clear is called.
 */
#ifndef TN_BASE_ERROR_H
#define TN_BASE_ERROR_H

#include "base/findings.h"

enum { TN_ERROR_FINDINGS = 64 };

struct tn_error {
    struct tn_finding primary; /* code TN_OK: no error */
    bool retryable;
    char plan_id[72];
    size_t count;   /* of findings kept */
    size_t dropped; /* findings that did not fit */
    struct tn_finding findings[TN_ERROR_FINDINGS];
};

/* Starts the primary finding and returns it (NULL when err is NULL: all tn_at_* take NULL). */
struct tn_finding *tn_error_set(struct tn_error *err, enum tn_status code, enum tn_phase phase,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "out of memory while ...": sets TN_INSUFFICIENT_MEMORY and returns it. */
enum tn_status tn_error_memory(struct tn_error *err, enum tn_phase phase, const char *what);

/*
 * Turns a list with at least one blocker into an error: the first blocker becomes the primary, all findings (blockers
 * first, up to TN_ERROR_FINDINGS) are attached. Returns the primary's code, or TN_OK when nothing blocks.
 */
enum tn_status tn_error_from_findings(struct tn_error *err, const struct tn_findings *list);

void tn_error_clear(struct tn_error *err);

/* The object that is the value of "error" in JSON output. */
void tn_error_write(struct tn_json_writer *w, const struct tn_error *err);

#endif
