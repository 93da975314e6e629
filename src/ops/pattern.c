/*
 * An expression becomes a program of states by Thompson's construction (1968, "Regular expression search algorithm"), and a
 * text is read with the set of states that are possible after each character: no expression makes it go back. Greediness
 * does not matter to whole matches. Repetitions are written out, hence the bound on the program.
 */
#include "ops/pattern.h"

#include "base/utf8.h"

#include <string.h>

enum { PROGRAM = 10000, NESTING = 200, REPEATS = 1000, LAST = 0x10FFFF };

enum op { ANY_OF, NONE_OF, SPLIT, JUMP, BEGIN, END, LINE_BEGIN, LINE_END, BOUNDARY, NO_BOUNDARY, MATCH };

struct state {
    uint8_t op;
    uint32_t a, b; /* targets; or the first range and how many */
};

struct span {
    uint32_t from, to;
};

struct tn_pattern {
    struct state *states;
    struct span *spans;
    uint32_t count, span_count;
};

/* ---- reading ------------------------------------------------------------------------------------------------------ */

enum { FOLD = 1, LINES = 2, DOT_ALL = 4 };

struct parser {
    struct tn_arena *arena;
    const char *at, *end;
    struct tn_pattern *p;
    uint32_t state_cap, span_cap;
    unsigned flags, depth;
    const char *why;
    bool failed;
};

static bool fail(struct parser *s, const char *why)
{
    if (!s->failed) s->why = why;
    s->failed = true;
    return false;
}

static void *grow(struct parser *s, void *items, uint32_t *cap, uint32_t count, size_t each)
{
    if (count < *cap) return items;
    uint32_t more = *cap ? 2 * *cap : 64;
    void *p = tn_arena_array(s->arena, more, each);
    if (!p) {
        fail(s, NULL);
        return NULL;
    }
    if (count) memcpy(p, items, count * each);
    *cap = more;
    return p;
}

static uint32_t emit(struct parser *s, enum op op, uint32_t a, uint32_t b)
{
    struct tn_pattern *p = s->p;
    if (p->count >= PROGRAM) fail(s, "a shorter regular expression, with its repetitions written out");
    struct state *states = s->failed ? NULL : grow(s, p->states, &s->state_cap, p->count, sizeof(*states));
    if (!states) return 0;
    p->states = states;
    states[p->count] = (struct state){(uint8_t)op, a, b};
    return p->count++;
}

static void add_span(struct parser *s, uint32_t from, uint32_t to)
{
    struct tn_pattern *p = s->p;
    if (p->span_count >= 16 * PROGRAM) fail(s, "a shorter regular expression");
    struct span *spans = s->failed ? NULL : grow(s, p->spans, &s->span_cap, p->span_count, sizeof(*spans));
    if (!spans) return;
    p->spans = spans;
    spans[p->span_count++] = (struct span){from, to};
}

/* A range of a class; with both cases of its ASCII letters when case is ignored. */
static void add_range(struct parser *s, uint32_t from, uint32_t to)
{
    add_span(s, from, to);
    if (!(s->flags & FOLD)) return;
    if (from > 0x7F) fail(s, "ASCII letters alone where case is ignored");
    for (uint32_t c = 'A'; c <= 'Z'; c++) {
        if (c >= from && c <= to) add_span(s, c + 32, c + 32);
        if (c + 32 >= from && c + 32 <= to) add_span(s, c, c);
    }
}

static bool looking_at(const struct parser *s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

static bool take(struct parser *s, const char *text)
{
    if (!looking_at(s, text)) return false;
    s->at += strlen(text);
    return true;
}

static uint32_t next_char(struct parser *s)
{
    uint32_t c = 0;
    size_t n = s->at < s->end ? tn_utf8_decode(s->at, (size_t)(s->end - s->at), &c) : 0;
    if (n == 0) fail(s, "a regular expression in UTF-8 that does not end early");
    s->at += n;
    return c;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static uint32_t number(struct parser *s, int base, unsigned most)
{
    uint32_t v = 0;
    unsigned n = 0;
    for (; n < most && s->at < s->end && digit_of(*s->at) < base; n++) v = v * (uint32_t)base + (uint32_t)digit_of(*s->at++);
    if (n == 0 || v > LAST) fail(s, "a number of a character");
    return v;
}

/* Behind \x. */
static uint32_t hexadecimal(struct parser *s)
{
    if (!take(s, "{")) return number(s, 16, 2);
    uint32_t v = number(s, 16, 6);
    if (!take(s, "}")) fail(s, "\\x{..} with an end");
    return v;
}

struct named {
    const char *name;
    const char *spans; /* pairs */
};

static const struct named perl[] = {{"d", "09"}, {"w", "09AZaz__"}, {"s", "\t\n\f\r  "}};
static const struct named posix[] = {
    {"alnum", "09AZaz"}, {"alpha", "AZaz"}, {"ascii", "\x01\x7f"}, {"blank", "\t\t  "}, {"cntrl", "\x01\x1f\x7f\x7f"}, {"digit", "09"}, {"graph", "!~"},
    {"lower", "az"}, {"print", " ~"}, {"punct", "!/:@[`{~"}, {"space", "\t\r  "}, {"upper", "AZ"}, {"word", "09AZaz__"}, {"xdigit", "09AFaf"}};

/* The class, or what is not in it: its spans ascend. */
static void add_named(struct parser *s, const struct named *n, bool negated)
{
    uint32_t from = 0;
    bool zero = n->spans[0] == '\x01'; /* NUL belongs to what begins with 1 */
    for (const char *c = n->spans; *c; c += 2) {
        uint32_t low = zero && c == n->spans ? 0 : (uint32_t)c[0], high = (uint32_t)c[1];
        if (!negated) add_range(s, low, high);
        else if (low > from) add_span(s, from, low - 1);
        from = high + 1;
    }
    if (negated) add_span(s, from, LAST);
}

/* \d and its like, behind the backslash; false: not one. */
static bool take_perl(struct parser *s)
{
    for (size_t i = 0; s->at < s->end && i < sizeof(perl) / sizeof(perl[0]); i++) {
        bool negated = *s->at == perl[i].name[0] - 32;
        if (*s->at != perl[i].name[0] && !negated) continue;
        s->at++;
        add_named(s, &perl[i], negated);
        return true;
    }
    return false;
}

/* A character behind a backslash. */
static uint32_t escaped(struct parser *s)
{
    static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";
    if (s->at >= s->end) fail(s, "a character behind \\");
    if (s->failed) return 0;
    const char *known = strchr(letters, *s->at);
    if (known && *known) {
        s->at++;
        return (uint32_t)values[known - letters];
    }
    if (take(s, "x")) return hexadecimal(s);
    if (*s->at == '0' || (*s->at >= '1' && *s->at <= '7' && s->end - s->at > 1 && digit_of(s->at[1]) < 8)) return number(s, 8, 3);
    bool plain = (unsigned char)*s->at < 0x80 && digit_of(*s->at) > 9 && !(*s->at >= 'a' && *s->at <= 'z') && !(*s->at >= 'A' && *s->at <= 'Z');
    if (!plain) fail(s, *s->at == 'p' || *s->at == 'P' ? "classes other than those of Unicode (\\p)" : "an escape of RE2's syntax");
    return next_char(s);
}

/* [:alpha:] inside a class. */
static bool take_posix(struct parser *s)
{
    if (!looking_at(s, "[:")) return false;
    const char *name = s->at + 2;
    bool negated = name < s->end && *name == '^';
    name += negated;
    for (size_t i = 0; i < sizeof(posix) / sizeof(posix[0]); i++) {
        size_t n = strlen(posix[i].name);
        if ((size_t)(s->end - name) < n + 2 || memcmp(name, posix[i].name, n) != 0 || memcmp(name + n, ":]", 2) != 0) continue;
        s->at = name + n + 2;
        add_named(s, &posix[i], negated);
        return true;
    }
    return !fail(s, "[:..:] with a name of POSIX");
}

static uint32_t class_char(struct parser *s)
{
    return take(s, "\\") ? escaped(s) : next_char(s);
}

/* Behind [. */
static void class_of(struct parser *s)
{
    uint32_t first = s->p->span_count;
    bool negated = take(s, "^");
    for (bool begun = false; !s->failed && (!begun || !take(s, "]")); begun = true) {
        if (take_posix(s)) continue;
        if (s->end - s->at > 1 && *s->at == '\\') {
            s->at++;
            if (take_perl(s)) continue;
            s->at--;
        }
        uint32_t from = class_char(s), to = from;
        if (looking_at(s, "-") && s->end - s->at > 1 && s->at[1] != ']') {
            s->at++;
            to = class_char(s);
        }
        if (to < from) fail(s, "ranges that ascend");
        else add_range(s, from, to);
    }
    emit(s, negated ? NONE_OF : ANY_OF, first, s->p->span_count - first);
}

static void literal(struct parser *s, uint32_t c)
{
    uint32_t first = s->p->span_count;
    add_range(s, c, c);
    emit(s, ANY_OF, first, s->p->span_count - first);
}

static void alternatives(struct parser *s);

/* (?i), (?s-m:..): flags until the group around ends, or of the group that begins. */
static bool take_flags(struct parser *s)
{
    bool off = false;
    unsigned flags = s->flags;
    for (; s->at < s->end && *s->at != ')' && *s->at != ':'; s->at++) {
        unsigned f = *s->at == 'i' ? FOLD : *s->at == 'm' ? LINES : *s->at == 's' ? DOT_ALL : 0;
        if (*s->at == '-' && !off) off = true;
        else if (!f && *s->at != 'U') return fail(s, "the flags i, m, s and U");
        flags = off ? flags & ~f : flags | f;
    }
    s->flags = flags;
    return true;
}

/* Behind (. */
static void group(struct parser *s)
{
    unsigned flags = s->flags;
    if (++s->depth > NESTING) fail(s, "groups that are not nested as deep");
    if (take(s, "?P<") || take(s, "?<")) {
        while (s->at < s->end && *s->at != '>') s->at++;
        if (!take(s, ">")) fail(s, "a name of a group with its end");
    } else if (take(s, "?") && take_flags(s) && take(s, ")")) {
        s->depth--;
        emit(s, JUMP, s->p->count + 1, 0);
        return; /* the flags stay */
    } else if (s->at < s->end && s->at[-1] != '(' && !take(s, ":")) {
        fail(s, "a group of RE2's syntax");
    }
    if (!s->failed) alternatives(s);
    if (!take(s, ")")) fail(s, "a ) for each (");
    s->flags = flags;
    s->depth--;
}

static void escape(struct parser *s)
{
    uint32_t first = s->p->span_count;
    if (take_perl(s)) {
        emit(s, ANY_OF, first, s->p->span_count - first);
    } else if (take(s, "A")) emit(s, BEGIN, 0, 0);
    else if (take(s, "z")) emit(s, END, 0, 0);
    else if (take(s, "b")) emit(s, BOUNDARY, 0, 0);
    else if (take(s, "B")) emit(s, NO_BOUNDARY, 0, 0);
    else literal(s, escaped(s));
}

static void atom(struct parser *s)
{
    uint32_t first = s->p->span_count;
    if (take(s, "(")) group(s);
    else if (take(s, "[")) class_of(s);
    else if (take(s, "\\")) escape(s);
    else if (take(s, "^")) emit(s, s->flags & LINES ? LINE_BEGIN : BEGIN, 0, 0);
    else if (take(s, "$")) emit(s, s->flags & LINES ? LINE_END : END, 0, 0);
    else if (take(s, ".")) {
        add_span(s, '\n', '\n');
        emit(s, NONE_OF, first, s->flags & DOT_ALL ? 0 : 1);
    } else if (looking_at(s, "*") || looking_at(s, "+") || looking_at(s, "?")) fail(s, "something to repeat");
    else literal(s, next_char(s));
}

/* {2}, {2,}, {2,5}; what does not look like it is text. UINT32_MAX: no end. */
static bool take_braces(struct parser *s, uint32_t *least, uint32_t *most)
{
    const char *c = s->at + 1;
    uint32_t v[2] = {0, UINT32_MAX};
    if (!looking_at(s, "{") || c >= s->end || digit_of(*c) > 9) return false;
    for (; c < s->end && digit_of(*c) < 10 && v[0] <= REPEATS; c++) v[0] = v[0] * 10 + (uint32_t)digit_of(*c);
    if (c < s->end && *c == ',') {
        c++;
        if (c < s->end && digit_of(*c) < 10) v[1] = 0;
        for (; c < s->end && digit_of(*c) < 10 && v[1] <= REPEATS; c++) v[1] = v[1] * 10 + (uint32_t)digit_of(*c);
    } else {
        v[1] = v[0];
    }
    if (c >= s->end || *c != '}') return false;
    s->at = c + 1;
    if (v[0] > REPEATS || (v[1] > REPEATS && v[1] != UINT32_MAX) || v[1] < v[0]) return fail(s, "at most 1000 repetitions, the second number not below the first");
    *least = v[0];
    *most = v[1];
    return true;
}

/* Once more what stands in [begin, begin + n): its targets move along. */
static void copy(struct parser *s, const struct state *from, uint32_t n, uint32_t begin)
{
    uint32_t to = s->p->count;
    for (uint32_t i = 0; i < n && !s->failed; i++) {
        struct state t = from[i];
        if (t.op == SPLIT || t.op == JUMP) t.a += to - begin;
        if (t.op == SPLIT) t.b += to - begin;
        emit(s, (enum op)t.op, t.a, t.b);
    }
}

/* What was written from `begin` on, least to most times. */
static void repeat(struct parser *s, uint32_t begin, uint32_t least, uint32_t most)
{
    uint32_t n = s->p->count - begin;
    struct state *once = tn_arena_array(s->arena, n + 1, sizeof(*once));
    if (!once) fail(s, NULL);
    if (s->failed) return;
    if (n) memcpy(once, s->p->states + begin, n * sizeof(*once));
    s->p->count = begin;
    for (uint32_t i = 0; i < least && !s->failed; i++) copy(s, once, n, begin);
    if (most == UINT32_MAX) {
        uint32_t split = emit(s, SPLIT, 0, 0);
        copy(s, once, n, begin);
        emit(s, JUMP, split, 0);
        if (!s->failed) s->p->states[split] = (struct state){SPLIT, split + 1, s->p->count};
        return;
    }
    for (uint32_t i = least; i < most && !s->failed; i++) { /* each may end it */
        uint32_t end = s->p->count + (most - i) * (n + 1);
        emit(s, SPLIT, s->p->count + 1, end);
        copy(s, once, n, begin);
    }
}

/* *, +, ? or {..} behind what was written from `begin` on. */
static void repetition(struct parser *s, uint32_t begin)
{
    for (unsigned times = 0; !s->failed; times++) {
        uint32_t least = 0, most = UINT32_MAX;
        if (take(s, "+")) least = 1;
        else if (take(s, "?")) most = 1;
        else if (!take(s, "*") && !take_braces(s, &least, &most)) return;
        if (times) fail(s, "one repetition behind another only in a group");
        take(s, "?"); /* lazy */
        if (!s->failed) repeat(s, begin, least, most);
    }
}

static void sequence(struct parser *s)
{
    while (!s->failed && s->at < s->end && *s->at != '|' && *s->at != ')') {
        uint32_t begin = s->p->count;
        bool some = true;
        if (!take(s, "\\Q")) {
            atom(s);
        } else { /* as it stands up to \E; what is repeated is the last character */
            for (some = false; !s->failed && s->at < s->end && !take(s, "\\E"); some = true) {
                begin = s->p->count;
                literal(s, next_char(s));
            }
        }
        if (some) repetition(s, begin);
    }
}

/* An alternative that is not the last is written again behind a split, and ends with a jump over the others. */
static void alternatives(struct parser *s)
{
    uint32_t jumps = UINT32_MAX; /* those that wait for the end, each leading to the one before */
    for (;;) {
        uint32_t begin = s->p->count;
        sequence(s);
        if (s->failed || !take(s, "|")) break;
        uint32_t n = s->p->count - begin;
        struct state *once = tn_arena_array(s->arena, n + 1, sizeof(*once));
        if (!once) fail(s, NULL);
        if (s->failed) return;
        if (n) memcpy(once, s->p->states + begin, n * sizeof(*once));
        s->p->count = begin;
        emit(s, SPLIT, begin + 1, begin + n + 2);
        copy(s, once, n, begin);
        jumps = emit(s, JUMP, jumps, 0);
    }
    while (!s->failed && jumps != UINT32_MAX) {
        uint32_t before = s->p->states[jumps].a;
        s->p->states[jumps].a = s->p->count;
        jumps = before;
    }
}

struct tn_pattern *tn_pattern_compile(struct tn_arena *arena, struct tn_str text, const char **why)
{
    struct parser s = {.arena = arena, .at = text.s, .end = text.s + text.n, .p = tn_arena_alloc(arena, sizeof(*s.p))};
    *why = NULL;
    if (!s.p) return NULL;
    alternatives(&s);
    if (!s.failed && s.at < s.end) fail(&s, "a ( for each )");
    if (!s.failed) emit(&s, MATCH, 0, 0);
    *why = s.why;
    return s.failed ? NULL : s.p;
}

/* ---- matching ----------------------------------------------------------------------------------------------------- */

struct set {
    uint32_t *order, *place, count; /* order[place[s]] == s: s is in it (Briggs and Torczon 1993) */
};

struct position {
    uint32_t before, after; /* characters around; UINT32_MAX: none */
};

static bool is_word(uint32_t c)
{
    return c < 0x80 && (c == '_' || digit_of((char)c) < 10 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

static bool holds(enum op op, struct position at)
{
    switch (op) {
    case BEGIN: return at.before == UINT32_MAX;
    case END: return at.after == UINT32_MAX;
    case LINE_BEGIN: return at.before == UINT32_MAX || at.before == '\n';
    case LINE_END: return at.after == UINT32_MAX || at.after == '\n';
    case BOUNDARY: return is_word(at.before) != is_word(at.after);
    default: return is_word(at.before) == is_word(at.after);
    }
}

static bool holds_state(const struct set *s, uint32_t state)
{
    return s->place[state] < s->count && s->order[s->place[state]] == state;
}

/* The state and all that are reached from it without a character. */
static void enter(const struct tn_pattern *p, struct set *s, uint32_t *stack, uint32_t state, struct position at)
{
    uint32_t n = 0;
    stack[n++] = state;
    while (n > 0) {
        uint32_t k = stack[--n];
        if (holds_state(s, k)) continue;
        s->place[k] = s->count;
        s->order[s->count++] = k;
        const struct state *t = &p->states[k];
        if (t->op == SPLIT) stack[n++] = t->b;
        if (t->op == SPLIT || t->op == JUMP) stack[n++] = t->a;
        else if (t->op >= BEGIN && t->op <= NO_BOUNDARY && holds((enum op)t->op, at)) stack[n++] = k + 1;
    }
}

static bool reads(const struct tn_pattern *p, const struct state *t, uint32_t c)
{
    bool in = false;
    if (t->op > NONE_OF) return false;
    for (uint32_t i = 0; i < t->b && !in; i++) in = c >= p->spans[t->a + i].from && c <= p->spans[t->a + i].to;
    return in == (t->op == ANY_OF);
}

size_t tn_pattern_room(const struct tn_pattern *p)
{
    return (size_t)p->count * 6 * sizeof(uint32_t) + 64;
}

static uint32_t decode(struct tn_str text, size_t *at)
{
    uint32_t c;
    if (*at >= text.n) return UINT32_MAX;
    size_t n = tn_utf8_decode(text.s + *at, text.n - *at, &c);
    *at += n ? n : 1;
    return n ? c : 0xFFFD;
}

bool tn_pattern_matches(const struct tn_pattern *p, struct tn_str text, void *room)
{
    uint32_t *w = room;
    struct set now = {w, w + p->count, 0}, next = {w + 2 * (size_t)p->count, w + 3 * (size_t)p->count, 0};
    uint32_t *stack = w + 4 * (size_t)p->count; /* a state pushes two, once */
    size_t at = 0;
    memset(room, 0, tn_pattern_room(p));
    uint32_t c = decode(text, &at);
    enter(p, &now, stack, 0, (struct position){UINT32_MAX, c});
    while (c != UINT32_MAX && now.count) {
        uint32_t after = decode(text, &at);
        next.count = 0;
        for (uint32_t i = 0; i < now.count; i++) {
            if (reads(p, &p->states[now.order[i]], c)) enter(p, &next, stack, now.order[i] + 1, (struct position){c, after});
        }
        struct set t = now;
        now = next;
        next = t;
        c = after;
    }
    return holds_state(&now, p->count - 1);
}
