/* Names of status codes and phases, and the small string view: no state, no allocation. */
#include "base/status.h"

#include <string.h>

const char *tn_status_name(enum tn_status status)
{
    switch (status) {
#define X(name, text, exit_code)                                                                   \
    case TN_##name:                                                                                \
        return text;
        TN_STATUS_LIST(X)
#undef X
    }
    return "unknown_status";
}

int tn_status_exit_code(enum tn_status status)
{
    switch (status) {
#define X(name, text, exit_code)                                                                   \
    case TN_##name:                                                                                \
        return exit_code;
        TN_STATUS_LIST(X)
#undef X
    }
    return 1;
}

const char *tn_phase_name(enum tn_phase phase)
{
    switch (phase) {
#define X(name, text)                                                                              \
    case TN_PHASE_##name:                                                                          \
        return text;
        TN_PHASE_LIST(X)
#undef X
    }
    return "unknown_phase";
}

bool tn_str_eq(struct tn_str a, struct tn_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

bool tn_str_is(struct tn_str a, const char *b)
{
    return tn_str_eq(a, tn_str_of(b));
}

struct tn_str tn_str_of(const char *s)
{
    return (struct tn_str){s, s ? strlen(s) : 0};
}

bool tn_str_starts(struct tn_str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.s, prefix, n) == 0;
}

bool tn_str_ends(struct tn_str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && memcmp(s.s + (s.n - n), suffix, n) == 0;
}
