/*
 * Regular expressions: text -> tree -> program. Untrusted text; recursion is bounded by MAX_DEPTH, the tree by MAX_NODES,
 * the program by MAX_CODE, so that nested counted repetitions cannot explode.
 *
 * A loop whose body could match nothing is refused: engines disagree about it and nobody writes one on purpose.
 */
#include "text/regex_program.h"

#include "base/utf8.h"

#include <string.h>

enum { MAX_DEPTH = 24, MAX_NODES = 2048, MAX_CODE = 4096, MAX_SETS = 256, MAX_ITEMS = 4096, MAX_REPEAT = 1000,
       MAX_ALTERNATIVES = 512 };

enum node_kind { NODE_EMPTY, NODE_CHAR, NODE_SET, NODE_CAT, NODE_ALT, NODE_REPEAT, NODE_ASSERT, NODE_LOOK, NODE_BEHIND, NODE_ATOMIC };

enum greed { GREEDY, LAZY, POSSESSIVE };

struct node {
    enum node_kind kind;
    struct node *child, *next; /* next: in a CAT or ALT */
    uint32_t value;            /* code point, set, assertion */
    uint32_t least, most;      /* REPEAT; most UINT32_MAX: no bound */
    enum greed greed;
    bool negated;              /* LOOK, BEHIND */
};

struct parser {
    struct tn_arena *arena;
    struct tn_str s;
    size_t at;
    bool fold; /* (?i) */
    unsigned depth, nodes, items;
    uint32_t last_literal; /* under (?i): the letter just read, for foldings of more than one */
    struct tn_regex *rx;
    enum tn_status status;
    const char *why;
};

/* ---- small things ------------------------------------------------------------------------------------------------- */

static void *fail(struct parser *p, enum tn_status status, const char *why)
{
    if (!p->status) {
        p->status = status;
        p->why = why;
    }
    return NULL;
}

static void *refuse(struct parser *p, const char *why)
{
    return fail(p, TN_UNSUPPORTED_PROCESSOR, why);
}

static int peek(const struct parser *p, size_t ahead)
{
    return p->at + ahead < p->s.n ? (unsigned char)p->s.s[p->at + ahead] : -1;
}

static bool eat(struct parser *p, const char *text)
{
    size_t n = strlen(text);
    if (p->s.n - p->at < n || memcmp(p->s.s + p->at, text, n) != 0) return false;
    p->at += n;
    return true;
}

static struct node *new_node(struct parser *p, enum node_kind kind)
{
    if (p->status) return NULL;
    if (++p->nodes > MAX_NODES) return fail(p, TN_RESOURCE_LIMIT, "the expression is too long");
    struct node *n = tn_arena_alloc(p->arena, sizeof(*n));
    if (!n) return fail(p, TN_INSUFFICIENT_MEMORY, "no memory");
    n->kind = kind;
    return n;
}

/* ---- sets --------------------------------------------------------------------------------------------------------- */

struct set_draft {
    struct tn_regex_item items[128];
    size_t count;
    bool negated;
};

static bool add_item(struct parser *p, struct set_draft *d, struct tn_regex_item item)
{
    if (d->count == sizeof(d->items) / sizeof(d->items[0]) || ++p->items > MAX_ITEMS) {
        fail(p, TN_RESOURCE_LIMIT, "a class is too long");
        return false;
    }
    d->items[d->count++] = item;
    return true;
}

/* A range, and under (?i) what else its letters match: the library's engine knows two beyond ASCII. */
static bool add_range(struct parser *p, struct set_draft *d, uint32_t low, uint32_t high)
{
    if (!add_item(p, d, (struct tn_regex_item){.low = low, .high = high})) return false;
    if (!p->fold) return true;
    if (high >= 0x80) return refuse(p, "a character that is not ASCII without regard to case");
    for (uint32_t c = low; c <= high; c++) {
        uint32_t lower = c | 0x20;
        if (lower < 'a' || lower > 'z') continue;
        if (!add_item(p, d, (struct tn_regex_item){.low = c ^ 0x20, .high = c ^ 0x20})) return false;
        uint32_t other = lower == 'k' ? 0x212A : lower == 's' ? 0x17F : 0;
        if (other && !add_item(p, d, (struct tn_regex_item){.low = other, .high = other})) return false;
    }
    return true;
}

static struct node *keep_set(struct parser *p, const struct set_draft *d)
{
    struct tn_regex *rx = p->rx;
    struct node *n = new_node(p, NODE_SET);
    if (!n) return NULL;
    if (rx->set_count == MAX_SETS) return fail(p, TN_RESOURCE_LIMIT, "too many classes");
    struct tn_regex_set *set = &rx->sets[rx->set_count];
    *set = (struct tn_regex_set){.count = d->count, .negated = d->negated};
    set->items = tn_arena_array(p->arena, d->count ? d->count : 1, sizeof(*set->items));
    if (!set->items) return fail(p, TN_INSUFFICIENT_MEMORY, "no memory");
    memcpy(set->items, d->items, d->count * sizeof(*set->items));
    for (uint32_t c = 0; c < 128; c++) {
        if (tn_regex_set_search(set, c)) set->ascii[c >> 5] |= UINT32_C(1) << (c & 31);
    }
    n->value = (uint32_t)rx->set_count++;
    return n;
}

/* ---- escapes ------------------------------------------------------------------------------------------------------ */

/* \p{Name} or \P{Name}, at the brace. */
static bool read_property(struct parser *p, struct tn_regex_item *item)
{
    static const struct {
        const char *name;
        uint32_t categories;
    } groups[] = {{"L", TN_UC_L}, {"M", TN_UC_M}, {"N", TN_UC_N}, {"P", TN_UC_P}, {"S", TN_UC_S},
                  {"Z", 7u << TN_UC_ZS}, {"C", 15u << TN_UC_CC}};
    size_t end = p->at + 1;
    if (peek(p, 0) != '{') return false;
    while (end < p->s.n && p->s.s[end] != '}') end++;
    if (end == p->s.n) return false;
    struct tn_str name = {p->s.s + p->at + 1, end - p->at - 1};
    p->at = end + 1;
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (tn_str_is(name, groups[i].name)) item->categories = groups[i].categories;
    }
    for (unsigned i = 0; i < TN_UC_CATEGORIES; i++) {
        if (tn_str_is(name, tn_uc_category_names[i])) item->categories = UINT32_C(1) << i;
    }
    for (size_t i = 0; i < tn_uc_script_count; i++) {
        if (tn_str_is(name, tn_uc_scripts[i].name)) item->script = (uint8_t)(i + 1);
    }
    return item->categories || item->script;
}

/* \s \S \w \W \d \D \p \P after the backslash; false: it is another escape. */
static bool read_class_escape(struct parser *p, bool bracketed, struct tn_regex_item *item)
{
    *item = (struct tn_regex_item){0};
    switch (peek(p, 0)) {
    case 'S': item->negated = true; /* fall through */
    case 's': item->bits = TN_UC_REGEX_SPACE; break;
    case 'W': item->negated = true; /* fall through */
    case 'w':
        item->bits = TN_UC_REGEX_WORD;
        item->outside = !bracketed;
        break;
    case 'D': item->negated = true; /* fall through */
    case 'd': item->categories = UINT32_C(1) << TN_UC_ND; break;
    case 'P': item->negated = true; /* fall through */
    case 'p':
        p->at++;
        if (!read_property(p, item)) return refuse(p, "a property that is not known here");
        if (p->fold) return refuse(p, "a property without regard to case");
        return true;
    default: return false;
    }
    p->at++;
    return true;
}

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* \xHH, \x{H..}, \uHHHH, at the letter. */
static bool read_hex(struct parser *p, uint32_t *c)
{
    bool braces = peek(p, 0) == 'x' && peek(p, 1) == '{';
    size_t digits = peek(p, 0) == 'u' ? 4 : 2;
    p->at += braces ? 2 : 1;
    *c = 0;
    size_t n = 0, most = braces ? 6 : digits;
    for (; n < most && hex_digit(peek(p, 0)) >= 0; n++, p->at++) *c = *c << 4 | (uint32_t)hex_digit(peek(p, 0));
    bool complete = braces ? n > 0 && peek(p, 0) == '}' : n == digits;
    if (braces && complete) p->at++;
    /* Two digits from 0x80 are a byte to that engine, not a character. */
    return complete && *c <= 0x10FFFF && !(*c >= 0xD800 && *c < 0xE000) && (braces || digits == 4 || *c < 0x80);
}

/* A character after the backslash that stands for one code point. */
static bool read_char_escape(struct parser *p, uint32_t *c)
{
    static const char letters[] = "ntrfv", values[] = "\n\t\r\f\v";
    int next = peek(p, 0);
    if (next == 'x' || next == 'u') return read_hex(p, c) || refuse(p, "an escape of a number");
    const char *letter = next > 0 ? strchr(letters, next) : NULL;
    if (letter) {
        *c = (unsigned char)values[letter - letters];
    } else if (next > 0 && next < 0x80 && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ", next)) {
        *c = (uint32_t)next;
    } else {
        return refuse(p, "an escape that is not known here");
    }
    p->at++;
    return true;
}

static bool read_plain(struct parser *p, uint32_t *c)
{
    size_t n = tn_utf8_decode(p->s.s + p->at, p->s.n - p->at, c);
    if (n == 0) return refuse(p, "text that is not UTF-8");
    p->at += n;
    return true;
}

/* ---- classes ------------------------------------------------------------------------------------------------------ */

/* One end of a range, or a character that stands alone. */
static bool read_class_char(struct parser *p, uint32_t *c)
{
    if (peek(p, 0) == '[') return refuse(p, "a class inside a class");
    if (peek(p, 0) == '&' && peek(p, 1) == '&') return refuse(p, "an intersection of classes");
    if (peek(p, 0) != '\\') return read_plain(p, c);
    p->at++;
    return read_char_escape(p, c);
}

static bool read_class_part(struct parser *p, struct set_draft *d)
{
    uint32_t low = 0, high = 0;
    struct tn_regex_item item;
    if (peek(p, 0) == '\\') {
        p->at++;
        if (read_class_escape(p, true, &item)) {
            if (peek(p, 0) == '-' && peek(p, 1) != ']') return refuse(p, "a range that begins with a class");
            return !p->status && add_item(p, d, item);
        }
        p->at--;
    }
    if (p->status || !read_class_char(p, &low)) return false;
    if (peek(p, 0) != '-' || peek(p, 1) == ']') return add_range(p, d, low, low);
    p->at++;
    if (peek(p, 0) == '\\' && peek(p, 1) > 0 && strchr("sSwWdDpP", peek(p, 1))) return refuse(p, "a range that ends with a class");
    if (!read_class_char(p, &high)) return false;
    if (high < low) return refuse(p, "a range that runs backwards");
    return add_range(p, d, low, high);
}

static struct node *read_class(struct parser *p)
{
    struct set_draft d = {.count = 0};
    p->at++;
    d.negated = peek(p, 0) == '^';
    p->at += d.negated;
    if (peek(p, 0) == ']') return refuse(p, "a class that begins with its end");
    if (p->fold && d.negated) return refuse(p, "a negated class without regard to case");
    while (!p->status && peek(p, 0) != ']') {
        if (p->at >= p->s.n) return refuse(p, "a class without its end");
        if (!read_class_part(p, &d)) return NULL;
    }
    p->at++;
    return keep_set(p, &d);
}

/* ---- atoms -------------------------------------------------------------------------------------------------------- */

static struct node *read_alternatives(struct parser *p);

/* Of two letters that one other character folds to, as in the German sharp s. */
static bool folds_together(uint32_t a, uint32_t b)
{
    static const char pairs[][3] = {"ss", "ff", "fi", "fl", "st"};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if ((a | 0x20) == (uint32_t)pairs[i][0] && (b | 0x20) == (uint32_t)pairs[i][1]) return true;
    }
    return false;
}

static struct node *literal(struct parser *p, uint32_t c)
{
    struct node *n;
    uint32_t lower = c | 0x20;
    if (p->fold && c >= 0x80) return refuse(p, "a character that is not ASCII without regard to case");
    if (p->fold && lower >= 'a' && lower <= 'z') {
        if (folds_together(p->last_literal, c)) return refuse(p, "letters that one character folds to");
        p->last_literal = c;
        struct set_draft d = {.count = 0};
        return add_range(p, &d, c, c) ? keep_set(p, &d) : NULL;
    }
    p->last_literal = 0;
    if ((n = new_node(p, NODE_CHAR))) n->value = c;
    return n;
}

static struct node *assertion(struct parser *p, enum tn_regex_assert which)
{
    struct node *n = new_node(p, NODE_ASSERT);
    if (n) n->value = which;
    return n;
}

static struct node *read_escape(struct parser *p)
{
    struct tn_regex_item item;
    struct set_draft d = {.count = 1};
    uint32_t c = 0;
    p->at++;
    switch (peek(p, 0)) {
    case 'A': p->at++; return assertion(p, TN_RX_TEXT_BEGIN);
    case 'z': p->at++; return assertion(p, TN_RX_TEXT_END);
    case 'b': p->at++; return assertion(p, TN_RX_WORD_EDGE);
    case 'B': p->at++; return assertion(p, TN_RX_WORD_INSIDE);
    default: break;
    }
    if (read_class_escape(p, false, &item)) {
        d.items[0] = item;
        return keep_set(p, &d);
    }
    if (p->status || !read_char_escape(p, &c)) return NULL;
    return literal(p, c);
}

static struct node *close_group(struct parser *p, struct node *n)
{
    if (p->status) return NULL;
    if (peek(p, 0) != ')') return refuse(p, "a group without its end");
    p->at++;
    return n;
}

/* (?i:...) (?-i:...) */
static struct node *read_folding(struct parser *p, bool fold)
{
    bool outer = p->fold;
    p->fold = fold;
    p->last_literal = 0;
    struct node *n = read_alternatives(p);
    p->fold = outer;
    return close_group(p, n);
}

static struct node *read_inner(struct parser *p, enum node_kind kind, bool negated)
{
    struct node *n = new_node(p, kind);
    if (!n) return NULL;
    n->negated = negated;
    n->child = read_alternatives(p);
    if (kind == NODE_BEHIND && n->child && n->child->kind != NODE_SET && n->child->kind != NODE_CHAR) {
        return refuse(p, "looking behind at more than one character");
    }
    if (kind == NODE_BEHIND && n->child && n->child->kind == NODE_CHAR) {
        struct set_draft d = {.count = 0};
        if (!add_range(p, &d, n->child->value, n->child->value)) return NULL;
        n->child = keep_set(p, &d);
    }
    return close_group(p, n);
}

static struct node *read_group(struct parser *p)
{
    if (++p->depth > MAX_DEPTH) return fail(p, TN_RESOURCE_LIMIT, "groups are nested too deeply");
    struct node *n = NULL;
    p->at++;
    if (eat(p, "?:")) {
        n = close_group(p, read_alternatives(p));
    } else if (eat(p, "?i:")) {
        n = read_folding(p, true);
    } else if (eat(p, "?-i:")) {
        n = read_folding(p, false);
    } else if (eat(p, "?>")) {
        n = read_inner(p, NODE_ATOMIC, false);
    } else if (eat(p, "?=") || eat(p, "?!")) {
        n = read_inner(p, NODE_LOOK, p->s.s[p->at - 1] == '!');
    } else if (eat(p, "?<=") || eat(p, "?<!")) {
        n = read_inner(p, NODE_BEHIND, p->s.s[p->at - 1] == '!');
    } else if (peek(p, 0) == '?') {
        return refuse(p, "a group that is not known here");
    } else {
        n = close_group(p, read_alternatives(p));
    }
    p->depth--;
    p->last_literal = 0;
    return n;
}

static struct node *read_dot(struct parser *p)
{
    struct set_draft d = {.count = 1, .negated = true};
    d.items[0] = (struct tn_regex_item){.low = '\n', .high = '\n'};
    p->at++;
    return keep_set(p, &d);
}

static struct node *read_atom(struct parser *p)
{
    uint32_t c = 0;
    int next = peek(p, 0);
    if (next != '\\' && !(next >= 0 && p->fold)) p->last_literal = 0;
    switch (next) {
    case '[': p->last_literal = 0; return read_class(p);
    case '(': return read_group(p);
    case '\\': return read_escape(p);
    case '.': return read_dot(p);
    case '^': p->at++; return assertion(p, TN_RX_LINE_BEGIN);
    case '$': p->at++; return assertion(p, TN_RX_LINE_END);
    case '*':
    case '+':
    case '?': return refuse(p, "a quantifier without an atom");
    case '{': return refuse(p, "a brace that stands for itself");
    default: return read_plain(p, &c) ? literal(p, c) : NULL;
    }
}

/* ---- quantifiers, sequences, alternatives ------------------------------------------------------------------------- */

static bool can_be_empty(const struct node *n)
{
    bool all = true, any = false;
    switch (n->kind) {
    case NODE_CHAR:
    case NODE_SET: return false;
    case NODE_REPEAT: return n->least == 0 || can_be_empty(n->child);
    case NODE_ATOMIC: return can_be_empty(n->child);
    case NODE_CAT:
    case NODE_ALT:
        for (const struct node *c = n->child; c; c = c->next) {
            all &= can_be_empty(c);
            any |= can_be_empty(c);
        }
        return n->kind == NODE_CAT ? all : any;
    default: return true;
    }
}

static bool read_number(struct parser *p, uint32_t *out)
{
    size_t from = p->at;
    for (*out = 0; peek(p, 0) >= '0' && peek(p, 0) <= '9' && *out <= MAX_REPEAT; p->at++) {
        *out = *out * 10 + (uint32_t)(peek(p, 0) - '0');
    }
    return p->at > from && *out <= MAX_REPEAT;
}

/* {m} {m,} {m,n}, at the brace. */
static bool read_braces(struct parser *p, uint32_t *least, uint32_t *most)
{
    p->at++;
    if (!read_number(p, least)) return refuse(p, "a repetition that is not {m}, {m,} or {m,n}");
    *most = *least;
    if (peek(p, 0) == ',') {
        p->at++;
        *most = UINT32_MAX;
        if (peek(p, 0) != '}' && !read_number(p, most)) return refuse(p, "a repetition that is not {m}, {m,} or {m,n}");
    }
    if (peek(p, 0) != '}' || *most < *least || *most == 0) return refuse(p, "a repetition that is not {m}, {m,} or {m,n}");
    p->at++;
    return true;
}

static struct node *read_quantified(struct parser *p)
{
    struct node *atom = read_atom(p);
    uint32_t least = 0, most = UINT32_MAX;
    int sign = peek(p, 0);
    if (!atom || !(sign == '*' || sign == '+' || sign == '?' || sign == '{')) return atom;
    if (sign == '{') {
        if (!read_braces(p, &least, &most)) return NULL;
    } else {
        least = sign == '+';
        most = sign == '?' ? 1 : UINT32_MAX;
        p->at++;
    }
    if (can_be_empty(atom)) return refuse(p, "a repetition of what can be empty");
    struct node *n = new_node(p, NODE_REPEAT);
    if (!n) return NULL;
    n->child = atom;
    n->least = least;
    n->most = most;
    int after = peek(p, 0);
    if (sign != '{' && (after == '?' || after == '+')) {
        n->greed = after == '?' ? LAZY : POSSESSIVE;
        p->at++;
    }
    after = peek(p, 0);
    if (after == '*' || after == '+' || after == '?' || after == '{') return refuse(p, "a repetition of a repetition");
    return n;
}

static struct node *read_sequence(struct parser *p)
{
    struct node *cat = new_node(p, NODE_CAT), **tail = cat ? &cat->child : NULL;
    p->last_literal = 0;
    while (!p->status && peek(p, 0) >= 0 && peek(p, 0) != '|' && peek(p, 0) != ')') {
        struct node *n = read_quantified(p);
        if (!n) return NULL;
        *tail = n;
        tail = &n->next;
    }
    if (p->status) return NULL;
    if (!cat->child) cat->kind = NODE_EMPTY;
    return cat->child && !cat->child->next ? cat->child : cat;
}

static struct node *read_alternatives(struct parser *p)
{
    struct node *first = read_sequence(p);
    if (!first || peek(p, 0) != '|') return first;
    struct node *alt = new_node(p, NODE_ALT);
    if (!alt) return NULL;
    alt->child = first;
    for (struct node *last = first; peek(p, 0) == '|'; last = last->next) {
        p->at++;
        if (!(last->next = read_sequence(p))) return NULL;
    }
    return alt;
}

/* ---- code --------------------------------------------------------------------------------------------------------- */

static uint32_t emit(struct parser *p, enum tn_regex_op op, uint32_t x, uint32_t y)
{
    struct tn_regex *rx = p->rx;
    if (rx->count == MAX_CODE) {
        fail(p, TN_RESOURCE_LIMIT, "the expression is too long");
        return 0;
    }
    rx->code[rx->count] = (struct tn_regex_code){.op = op, .x = x, .y = y};
    if (op == TN_RX_SPLIT || op == TN_RX_LOOP_SET) rx->code[rx->count].z = (uint32_t)rx->choices++;
    return (uint32_t)rx->count++;
}

static uint32_t here(const struct parser *p)
{
    return (uint32_t)p->rx->count;
}

static void emit_node(struct parser *p, const struct node *n);

static void emit_alternatives(struct parser *p, const struct node *n)
{
    uint32_t jumps[MAX_ALTERNATIVES], count = 0;
    for (const struct node *c = n->child; c && !p->status; c = c->next) {
        if (!c->next) {
            emit_node(p, c);
            break;
        }
        uint32_t split = emit(p, TN_RX_SPLIT, 0, 0);
        p->rx->code[split].x = here(p);
        emit_node(p, c);
        if (count == MAX_ALTERNATIVES) {
            fail(p, TN_RESOURCE_LIMIT, "too many alternatives");
            return;
        }
        jumps[count++] = emit(p, TN_RX_JUMP, 0, 0);
        p->rx->code[split].y = here(p);
    }
    for (uint32_t i = 0; i < count; i++) p->rx->code[jumps[i]].x = here(p);
}

static void set_choices(struct parser *p, uint32_t split, uint32_t body, uint32_t out, bool lazy)
{
    p->rx->code[split].x = lazy ? out : body;
    p->rx->code[split].y = lazy ? body : out;
}

/* The endless part of a repetition. */
static void emit_loop(struct parser *p, const struct node *n)
{
    if (n->child->kind == NODE_SET && n->greed != LAZY) {
        emit(p, TN_RX_LOOP_SET, n->child->value, here(p) + 1);
        return;
    }
    uint32_t split = emit(p, TN_RX_SPLIT, 0, 0);
    uint32_t body = here(p);
    emit_node(p, n->child);
    emit(p, TN_RX_JUMP, split, 0);
    set_choices(p, split, body, here(p), n->greed == LAZY);
}

static void emit_repeat(struct parser *p, const struct node *n)
{
    uint32_t inner = n->greed == POSSESSIVE ? emit(p, TN_RX_ATOMIC, 0, 0) : 0;
    uint32_t splits[MAX_REPEAT], count = 0;
    for (uint32_t i = 0; i < n->least && !p->status; i++) emit_node(p, n->child);
    if (n->most == UINT32_MAX) {
        emit_loop(p, n);
    } else {
        for (uint32_t i = n->least; i < n->most && !p->status; i++) {
            splits[count] = emit(p, TN_RX_SPLIT, 0, 0);
            set_choices(p, splits[count++], here(p), 0, n->greed == LAZY);
            emit_node(p, n->child);
        }
        for (uint32_t i = 0; i < count; i++) {
            if (n->greed == LAZY) {
                p->rx->code[splits[i]].x = here(p);
            } else {
                p->rx->code[splits[i]].y = here(p);
            }
        }
    }
    if (n->greed != POSSESSIVE) return;
    emit(p, TN_RX_MATCH, 0, 0);
    p->rx->code[inner].x = here(p);
}

static void emit_inner(struct parser *p, const struct node *n)
{
    uint32_t at = emit(p, n->kind == NODE_LOOK ? TN_RX_LOOK : TN_RX_ATOMIC, 0, n->negated);
    emit_node(p, n->child);
    emit(p, TN_RX_MATCH, 0, 0);
    p->rx->code[at].x = here(p);
}

static void emit_node(struct parser *p, const struct node *n)
{
    if (p->status) return;
    switch (n->kind) {
    case NODE_EMPTY: break;
    case NODE_CHAR: emit(p, TN_RX_CHAR, n->value, 0); break;
    case NODE_SET: emit(p, TN_RX_SET, n->value, 0); break;
    case NODE_ASSERT: emit(p, TN_RX_ASSERT, n->value, 0); break;
    case NODE_BEHIND: emit(p, TN_RX_BEHIND, n->child->value, n->negated); break;
    case NODE_LOOK:
    case NODE_ATOMIC: emit_inner(p, n); break;
    case NODE_REPEAT: emit_repeat(p, n); break;
    case NODE_ALT: emit_alternatives(p, n); break;
    case NODE_CAT:
        for (const struct node *c = n->child; c; c = c->next) emit_node(p, c);
        break;
    }
}

/* The program, cut to its size, into the arena that stays. */
static enum tn_status keep(struct tn_arena *arena, const struct tn_regex *draft, struct tn_regex **out)
{
    struct tn_regex *rx = tn_arena_alloc(arena, sizeof(*rx));
    if (!rx) return TN_INSUFFICIENT_MEMORY;
    *rx = *draft;
    rx->code = tn_arena_array(arena, rx->count, sizeof(*rx->code));
    rx->sets = tn_arena_array(arena, rx->set_count ? rx->set_count : 1, sizeof(*rx->sets));
    if (!rx->code || !rx->sets) return TN_INSUFFICIENT_MEMORY;
    memcpy(rx->code, draft->code, rx->count * sizeof(*rx->code));
    for (size_t i = 0; i < rx->set_count; i++) {
        struct tn_regex_set *set = &rx->sets[i];
        *set = draft->sets[i];
        set->items = tn_arena_array(arena, set->count ? set->count : 1, sizeof(*set->items));
        if (!set->items) return TN_INSUFFICIENT_MEMORY;
        if (set->count) memcpy(set->items, draft->sets[i].items, set->count * sizeof(*set->items));
    }
    *out = rx;
    return TN_OK;
}

static enum tn_status compile(struct parser *p, struct tn_arena *arena, struct tn_regex **out)
{
    struct tn_regex draft = {.code = tn_arena_array(p->arena, MAX_CODE, sizeof(*draft.code)),
                             .sets = tn_arena_array(p->arena, MAX_SETS, sizeof(*draft.sets))};
    if (!draft.code || !draft.sets) return TN_INSUFFICIENT_MEMORY;
    p->rx = &draft;
    struct node *root = read_alternatives(p);
    if (root && p->at < p->s.n) refuse(p, "a bracket that closes nothing");
    if (p->status) return p->status;
    draft.can_be_empty = can_be_empty(root);
    emit_node(p, root);
    emit(p, TN_RX_MATCH, 0, 0);
    return p->status ? p->status : keep(arena, &draft, out);
}

bool tn_regex_can_be_empty(const struct tn_regex *regex)
{
    return regex->can_be_empty;
}

enum tn_status tn_regex_compile(struct tn_arena *arena, struct tn_str text, struct tn_regex **out, const char **why,
                                size_t *at)
{
    struct tn_arena draft;
    *out = NULL;
    tn_arena_init(&draft, arena->alloc);
    struct parser p = {.arena = &draft, .s = text};
    enum tn_status status = compile(&p, arena, out);
    *why = p.why;
    *at = p.at;
    tn_arena_release(&draft);
    return status;
}
