/*
 * Regular expressions in the syntax of RE2 (github.com/google/re2/wiki/Syntax), for the question whether a whole text
 * matches. Expressions come from untrusted files: size and nesting are bounded, and a text takes steps in proportion to its
 * length times the expression's, whatever both are. Outside: classes of Unicode (\p{..}, \pN), \C, and ignoring the case of
 * letters beyond ASCII; such an expression is refused with the reason.
 */
#ifndef TN_OPS_PATTERN_H
#define TN_OPS_PATTERN_H

#include "base/arena.h"

struct tn_pattern;

/* NULL: *why is what was expected (a constant), or NULL for lack of memory. It lives in the arena. */
struct tn_pattern *tn_pattern_compile(struct tn_arena *arena, struct tn_str text, const char **why);
/* Room that a match needs, in bytes. */
size_t tn_pattern_room(const struct tn_pattern *p);
/* Whether the whole text matches. What is not UTF-8 counts as U+FFFD, byte by byte. */
bool tn_pattern_matches(const struct tn_pattern *p, struct tn_str text, void *room);

#endif
