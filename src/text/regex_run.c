/*
 * Regular expressions: execution by backtracking, in the order of choices that the expression states. Plain at first; a
 * text that takes too many steps for its length is remembered from then on: which choice at which position was found to
 * lead nowhere. Without captures that does not depend on how one came there, so it holds for every later search in the
 * text too, and all searches together take at most (choices x positions) steps. Only an assertion or an atomic group that
 * reaches far ahead again and again, each time with success, can exceed that; it is stopped.
 */
#include "text/regex_program.h"

#include "base/checked.h"
#include "text/internal.h"

#include <string.h>

enum frame_kind {
    FRAME_OTHER, /* the second choice of the SPLIT or LOOP_SET at pc */
    FRAME_RANGE, /* a greedy loop may give back characters down to `low` */
    FRAME_FAILED /* all choices of the code at pc are exhausted */
};

struct tn_regex_frame {
    uint32_t kind, pc, at, low;
};

enum outcome { NO, YES, STOPPED, NO_MEMORY };

/* Per character; and what any text may take, since short pieces cannot take it anyway. */
enum { PLAIN_STEPS = 32, MOST_STEPS = 64, SPARE_STEPS = 4096, SPARE_MORE = 1 << 24 };

void tn_regex_run_release(struct tn_regex_run *run)
{
    tn_free(run->alloc, run->stack);
    tn_free(run->alloc, run->failed);
    *run = (struct tn_regex_run){.alloc = run->alloc};
}

void tn_regex_begin(struct tn_regex_run *run, const struct tn_regex *regex, const struct tn_char *chars, size_t count)
{
    run->regex = regex;
    run->chars = chars;
    run->count = count;
    run->from = 0;
    run->last_end = SIZE_MAX;
    run->steps = 0;
    run->budget = (uint64_t)count * PLAIN_STEPS + SPARE_STEPS;
    run->remembers = false;
}

uint64_t tn_regex_steps(const struct tn_regex_run *run)
{
    return run->steps;
}

/* ---- classes ------------------------------------------------------------------------------------------------------ */

static bool is_word(uint32_t c)
{
    if (c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE)) return true;
    return tn_uc_regex(c) & TN_UC_REGEX_WORD;
}

static bool item_has(const struct tn_regex_item *i, uint32_t c)
{
    bool has = false;
    if (i->script) {
        const struct tn_uc_script *s = &tn_uc_scripts[i->script - 1];
        for (uint32_t k = 0; k < s->count && !has; k++) {
            has = c >= tn_uc_script_ranges[s->first + k][0] && c <= tn_uc_script_ranges[s->first + k][1];
        }
    } else if (i->categories) {
        has = tn_uc_in(c, i->categories);
    } else if (i->bits) {
        has = i->outside ? is_word(c) : (tn_uc_regex(c) & i->bits) != 0;
    } else {
        has = c >= i->low && c <= i->high;
    }
    return has != i->negated;
}

bool tn_regex_set_search(const struct tn_regex_set *set, uint32_t c)
{
    for (size_t i = 0; i < set->count; i++) {
        if (item_has(&set->items[i], c)) return !set->negated;
    }
    return set->negated;
}

static bool set_has(const struct tn_regex_set *set, uint32_t c)
{
    if (c < 128) return set->ascii[c >> 5] >> (c & 31) & 1;
    return tn_regex_set_search(set, c);
}

/* ---- memory of failures ------------------------------------------------------------------------------------------- */

/* More bits than this are not worth a text: 128 MiB. */
enum { MOST_WORDS = 16 << 20 };

/* Past the budget: begin to remember, or stop. */
static enum outcome out_of_steps(struct tn_regex_run *run)
{
    size_t bits, words;
    if (run->remembers || !tn_mul(run->regex->choices, run->count + 1, &bits)) return STOPPED;
    words = bits / 64 + 1;
    if (words > MOST_WORDS) return STOPPED;
    if (!tn_text_grow(run->alloc, &run->failed, &run->failed_cap, words, sizeof(*run->failed))) return NO_MEMORY;
    memset(run->failed, 0, words * sizeof(*run->failed));
    run->remembers = true;
    run->budget = run->steps + SPARE_MORE + (uint64_t)run->regex->count * MOST_STEPS * run->count;
    return NO;
}

static size_t failed_bit(const struct tn_regex_run *run, uint32_t pc, size_t at)
{
    return at * run->regex->choices + run->regex->code[pc].z;
}

static bool has_failed(const struct tn_regex_run *run, uint32_t pc, size_t at)
{
    size_t bit = failed_bit(run, pc, at);
    return run->failed[bit >> 6] >> (bit & 63) & 1;
}

static void set_failed(struct tn_regex_run *run, uint32_t pc, size_t at)
{
    size_t bit = failed_bit(run, pc, at);
    run->failed[bit >> 6] |= UINT64_C(1) << (bit & 63);
}

/* ---- assertions --------------------------------------------------------------------------------------------------- */

static bool word_at(const struct tn_regex_run *run, size_t at)
{
    return at < run->count && is_word(run->chars[at].c);
}

static bool holds(const struct tn_regex_run *run, enum tn_regex_assert which, size_t at)
{
    bool before = at > 0 && is_word(run->chars[at - (at > 0)].c);
    switch (which) {
    case TN_RX_TEXT_BEGIN: return at == 0;
    case TN_RX_TEXT_END: return at == run->count;
    /* A line begins after each newline, but not at the end of the text. */
    case TN_RX_LINE_BEGIN: return at == 0 || (at < run->count && run->chars[at - 1].c == '\n');
    case TN_RX_LINE_END: return at == run->count || run->chars[at].c == '\n';
    case TN_RX_WORD_EDGE: return before != word_at(run, at);
    case TN_RX_WORD_INSIDE: return before == word_at(run, at);
    }
    return false;
}

/* ---- the machine -------------------------------------------------------------------------------------------------- */

struct machine {
    struct tn_regex_run *run;
    size_t depth; /* frames on the stack */
    enum outcome trouble;
};

static bool push(struct machine *m, enum frame_kind kind, uint32_t pc, size_t at, size_t low)
{
    struct tn_regex_run *run = m->run;
    if (m->depth == run->stack_cap &&
        !tn_text_grow(run->alloc, &run->stack, &run->stack_cap, m->depth + 1, sizeof(*run->stack))) {
        m->trouble = NO_MEMORY;
        return false;
    }
    run->stack[m->depth++] = (struct tn_regex_frame){kind, pc, (uint32_t)at, (uint32_t)low};
    return true;
}

static enum outcome execute(struct machine *m, uint32_t pc, size_t at, size_t *end);

static bool in_set(const struct tn_regex_run *run, uint32_t set, size_t at)
{
    return at < run->count && set_has(&run->regex->sets[set], run->chars[at].c);
}

/* Takes back the newest choice; false: none is left above `base`. */
static bool backtrack(struct machine *m, size_t base, uint32_t *pc, size_t *at)
{
    struct tn_regex_run *run = m->run;
    while (m->depth > base) {
        struct tn_regex_frame *f = &run->stack[m->depth - 1];
        if (f->kind == FRAME_FAILED) {
            if (run->remembers) set_failed(run, f->pc, f->at);
            m->depth--;
            continue;
        }
        *pc = run->regex->code[f->pc].y;
        if (f->kind == FRAME_RANGE) {
            *at = --f->at;
            if (f->at == f->low) m->depth--;
            return true;
        }
        *at = f->at;
        f->kind = FRAME_FAILED;
        return true;
    }
    return false;
}

/* A loop over one class. Taking all it can and giving back later is the same as choosing at each character. */
static bool loop_set(struct machine *m, const struct tn_regex_code *code, uint32_t *pc, size_t *at)
{
    struct tn_regex_run *run = m->run;
    size_t from = *at, to = from;
    if (run->remembers) {
        if (has_failed(run, *pc, from)) return false;
        if (!in_set(run, code->x, from)) {
            *pc = code->y;
            return true;
        }
        *at = from + 1;
        return push(m, FRAME_OTHER, *pc, from, 0);
    }
    while (in_set(run, code->x, to)) to++;
    run->steps += to - from;
    if (to > from && !push(m, FRAME_RANGE, *pc, to, from)) return false;
    *pc = code->y;
    *at = to;
    return true;
}

/* One instruction; false: this way leads nowhere. */
static bool step(struct machine *m, uint32_t *pc, size_t *at)
{
    struct tn_regex_run *run = m->run;
    const struct tn_regex_code *code = &run->regex->code[*pc];
    size_t end;
    enum outcome inner;
    switch (code->op) {
    case TN_RX_CHAR:
        ++*pc;
        return *at < run->count && run->chars[(*at)++].c == code->x;
    case TN_RX_SET:
        ++*pc;
        return in_set(run, code->x, (*at)++);
    case TN_RX_ASSERT: ++*pc; return holds(run, (enum tn_regex_assert)code->x, *at);
    case TN_RX_BEHIND: ++*pc; return (*at > 0 && in_set(run, code->x, *at - 1)) != (code->y != 0);
    case TN_RX_JUMP: *pc = code->x; return true;
    case TN_RX_LOOP_SET: return loop_set(m, code, pc, at);
    case TN_RX_SPLIT:
        if (run->remembers && has_failed(run, *pc, *at)) return false;
        if (!push(m, FRAME_OTHER, *pc, *at, 0)) return false;
        *pc = code->x;
        return true;
    case TN_RX_LOOK:
    case TN_RX_ATOMIC:
        inner = execute(m, *pc + 1, *at, &end);
        if (inner > YES) return (m->trouble = inner, false);
        *pc = code->x;
        if (code->op == TN_RX_LOOK) return (inner == YES) != (code->y != 0);
        *at = end;
        return inner == YES;
    case TN_RX_MATCH: break;
    }
    return false;
}

/* From code pc at position `at` to the next MATCH of the same program. */
static enum outcome execute(struct machine *m, uint32_t pc, size_t at, size_t *end)
{
    struct tn_regex_run *run = m->run;
    size_t base = m->depth;
    for (;;) {
        if (run->regex->code[pc].op == TN_RX_MATCH) {
            m->depth = base;
            *end = at;
            return YES;
        }
        if (++run->steps > run->budget && (m->trouble = out_of_steps(run))) return m->trouble;
        if (step(m, &pc, &at)) continue;
        if (m->trouble) return m->trouble;
        if (!backtrack(m, base, &pc, &at)) return NO;
    }
}

enum tn_status tn_regex_next(struct tn_regex_run *run, size_t *begin, size_t *end, bool *found)
{
    struct machine m = {.run = run};
    *found = false;
    for (size_t at = run->from; at <= run->count; at++) {
        enum outcome outcome = execute(&m, 0, at, end);
        if (outcome == STOPPED) return TN_RESOURCE_LIMIT;
        if (outcome == NO_MEMORY) return TN_INSUFFICIENT_MEMORY;
        if (outcome == NO || (*end == at && at == run->last_end)) continue;
        *begin = at;
        *found = true;
        run->from = run->last_end = *end;
        return TN_OK;
    }
    run->from = run->count + 1;
    return TN_OK;
}
