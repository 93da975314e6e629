/*
 * Regular expressions of Split and Replace as the pinned library's engine (Oniguruma, its default syntax) reads them,
 * for the part of its language that tokenizers use. An expression comes from an untrusted file: it is parsed with limits,
 * anything outside the part is refused, and no expression takes more steps than in proportion to its length times the
 * length of the text. A compiled expression is immutable and shared; a run belongs to one thread.
 *
 *     alternatives a|b, groups (a) (?:a) (?i:a) (?-i:a), atomic (?>a), looking ahead (?=a) (?!a), behind (?<=c) (?<!c)
 *     one character c; quantifiers ? * + {m} {m,} {m,n}, lazy ?? *? +?, possessive ?+ *+ ++; anchors ^ $ \A \z \b \B
 *     . \s \S \w \W \d \D \p{..} \P{..} with a general category, L M N P S Z C, or one of the common scripts
 *     classes of characters, ranges and the above; escapes of signs, \n \t \r \f \v \xHH \x{HHHH} \uHHHH
 */
#ifndef TN_TEXT_REGEX_H
#define TN_TEXT_REGEX_H

#include "base/arena.h"
#include "base/status.h"

struct tn_char;
struct tn_regex;

/*
 * TN_OK; TN_UNSUPPORTED_PROCESSOR: outside the part, *why says what (a constant) and *at where (byte); TN_RESOURCE_LIMIT:
 * too long or too deep; TN_INSUFFICIENT_MEMORY. The expression lives in the arena.
 */
enum tn_status tn_regex_compile(struct tn_arena *arena, struct tn_str text, struct tn_regex **out, const char **why,
                                size_t *at);

/* Whether a match may be empty, as far as the expression's form tells. */
bool tn_regex_can_be_empty(const struct tn_regex *regex);

/* Working memory of matching, reusable; zero it with the allocator set. */
struct tn_regex_run {
    struct tn_alloc *alloc;
    struct tn_regex_frame *stack;
    size_t stack_cap;
    uint64_t *failed; /* per choice and position: known to lead nowhere; only for texts that need it */
    size_t failed_cap;
    bool remembers;   /* failed is in use for this text */
    uint64_t steps, budget; /* of this text */
    const struct tn_regex *regex;
    const struct tn_char *chars;
    size_t count;
    size_t from; /* where the next search begins */
    size_t last_end; /* of the match before, SIZE_MAX: none */
};

void tn_regex_run_release(struct tn_regex_run *run);
/* Sets a text: chars[0, count) alone, what lies around is not seen. */
void tn_regex_begin(struct tn_regex_run *run, const struct tn_regex *regex, const struct tn_char *chars, size_t count);
/*
 * The next leftmost match; a match may be empty, but not where the one before ended. *found false: none is left.
 * TN_RESOURCE_LIMIT: assertions or atomic groups that reach far ahead from too many places.
 */
enum tn_status tn_regex_next(struct tn_regex_run *run, size_t *begin, size_t *end, bool *found);
/* Steps of all searches in this text: what a test of linear time counts. */
uint64_t tn_regex_steps(const struct tn_regex_run *run);

#endif
