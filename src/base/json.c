/*
 * Strict JSON in one pass with an explicit stack. Input is hostile. Memory grows with what was really read, never with
 * a claimed number. Keys are nodes too (just before their value), so a pointer is found by walking siblings.
 *
 * Written here because nothing that Debian 12 ships has all of: duplicate keys refused, a depth limit, a place for each
 * value, our allocator, and speed on an 11 MB tokenizer file (docs/DEPENDENCIES.md has the comparison).
 */
#include "base/json_node.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    uint32_t key, tag; /* key 0: free; the root is never one */
};

struct parser {
    struct tn_json_doc *doc;
    const struct tn_limits *limits;
    const char *s;
    size_t at, end;
    uint32_t *stack; /* open containers */
    size_t depth;
    struct slot *slots; /* scratch of the duplicate check */
    size_t slot_cap;
    struct tn_error *err;
};

/* ---- failures ------------------------------------------------------------------------------------------------- */

static enum tn_status malformed(struct parser *p, size_t at, const char *what, const char *expected)
{
    struct tn_finding *f = tn_error_set(p->err, TN_ARTIFACT_MALFORMED, TN_PHASE_PACKAGE, "not valid JSON: %s", what);
    tn_at_offset(f, p->doc->file, at);
    if (at < p->end) {
        tn_found(f, "byte 0x%02X", (unsigned)(unsigned char)p->s[at]);
    } else {
        tn_found(f, "the end of the document after %zu bytes", p->end);
    }
    tn_expected(f, "%s", expected);
    tn_remedy(f, "repair the file or fetch it again");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status over_limit(struct parser *p, const char *name, uint64_t limit)
{
    struct tn_finding *f =
        tn_error_set(p->err, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "JSON document exceeds the limit %s", name);
    tn_at_offset(f, p->doc->file, p->at);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    tn_remedy(f, "raise the limit %s if the file is trusted", name);
    return TN_RESOURCE_LIMIT;
}

static enum tn_status no_memory(struct parser *p)
{
    return tn_error_memory(p->err, TN_PHASE_PACKAGE, "reading a JSON document");
}

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

/* Moves the nodes to a larger array, on huge pages when it is large: faults would cost more than parsing. */
static enum tn_status grow_nodes(struct parser *p)
{
    struct tn_json_doc *doc = p->doc;
    uint64_t most = p->limits->json_nodes < TN_JSON_NO_NODE - 1 ? p->limits->json_nodes : TN_JSON_NO_NODE - 1;
    /* A first guess from the text that is really there; documents denser than a node per 12 bytes double once or twice. */
    uint64_t cap = doc->cap ? (uint64_t)doc->cap * 2 : p->end / 12 + 64;
    if (doc->cap >= most) return over_limit(p, "json_nodes", p->limits->json_nodes);
    if (cap > most) cap = most;
    struct tn_json_node *nodes = tn_malloc_aligned(doc->alloc, (size_t)cap * sizeof(*nodes), 64);
    if (!nodes) return no_memory(p);
    if (doc->count) memcpy(nodes, doc->nodes, doc->count * sizeof(*nodes));
    tn_free(doc->alloc, doc->nodes);
    doc->nodes = nodes;
    doc->cap = (uint32_t)cap;
    return TN_OK;
}

static inline enum tn_status add_node(struct parser *p, enum tn_json_type type, size_t offset, uint32_t *index)
{
    struct tn_json_doc *doc = p->doc;
    enum tn_status status = doc->count == doc->cap ? grow_nodes(p) : TN_OK;
    if (status) return status;
    *index = doc->count++;
    uint32_t parent = p->depth ? p->stack[p->depth - 1] : TN_JSON_NO_NODE;
    doc->nodes[*index] = (struct tn_json_node){
        .offset = (uint32_t)offset,
        .next = *index + 1,
        .parent = parent,
        .type = (uint8_t)type,
        .place = p->depth ? doc->nodes[parent].as.members - 1 : 0, /* scan_member has counted this one */
    };
    return TN_OK;
}

/* ---- strings -------------------------------------------------------------------------------------------------- */

static int hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads four hex digits at p->s[at]; -1 when they are not there. */
static int32_t hex4(const struct parser *p, size_t at)
{
    if (p->end - at < 4) return -1;
    int32_t value = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = hex_digit((unsigned char)p->s[at + i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Decodes \uXXXX (and a following low surrogate) from just past the 'u'. Returns bytes read, 0: invalid. */
static size_t decode_unicode_escape(const struct parser *p, size_t at, uint32_t *c)
{
    int32_t high = hex4(p, at);
    if (high < 0 || (high >= 0xDC00 && high < 0xE000)) return 0;
    *c = (uint32_t)high;
    if (high < 0xD800 || high >= 0xDC00) return 4;
    if (p->end - at < 10 || p->s[at + 4] != '\\' || p->s[at + 5] != 'u') return 0;
    int32_t low = hex4(p, at + 6);
    if (low < 0xDC00 || low >= 0xE000) return 0;
    *c = 0x10000 + (((uint32_t)high - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    return 10;
}

static const char escape_letters[] = "\"\\/bfnrt";
static const char escape_values[] = "\"\\/\b\f\n\r\t";

/* Copies s[from, to) with escapes resolved into arena memory. The raw length bounds the result. */
static enum tn_status unescape(struct parser *p, size_t from, size_t to, struct tn_json_node *node)
{
    char *out = tn_arena_alloc(&p->doc->arena, to - from + 1);
    if (!out) return no_memory(p);
    size_t n = 0;
    for (size_t i = from; i < to;) {
        if (p->s[i] != '\\') {
            out[n++] = p->s[i++];
            continue;
        }
        const char *letter = i + 1 < to && p->s[i + 1] ? strchr(escape_letters, p->s[i + 1]) : NULL;
        if (letter) {
            out[n++] = escape_values[letter - escape_letters];
            i += 2;
            continue;
        }
        uint32_t c = 0;
        size_t used = i + 1 < to && p->s[i + 1] == 'u' ? decode_unicode_escape(p, i + 2, &c) : 0;
        if (!used) return malformed(p, i, "bad escape in a string", "an escape of RFC 8259, surrogates in pairs");
        n += tn_utf8_encode(c, out + n);
        i += 2 + used;
    }
    node->as.s = out;
    node->length = (uint32_t)n;
    return TN_OK;
}

/* Eight bytes with the first in the lowest bits, whatever the machine's order. */
static inline uint64_t load_block(const char *s)
{
    uint64_t block;
    memcpy(&block, s, sizeof(block));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    block = __builtin_bswap64(block);
#endif
    return block;
}

/*
 * Marks with 0x80 the bytes that are a quote, a backslash, a control character or not ASCII. The lowest mark is exact;
 * a borrow out of it may mark plain bytes above (Mycroft's test for a zero byte, and for bytes below a bound).
 */
static inline uint64_t mark_special(uint64_t block)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    uint64_t quote = block ^ ones * '"', backslash = block ^ ones * '\\';
    uint64_t hit = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((block - ones * 0x20) & ~block);
    return (hit | block) & high;
}

/* The first byte from i on that is not plain, or fewer than eight bytes from the end. */
static inline size_t skip_plain(const struct parser *p, size_t i)
{
    while (p->end - i >= 8) {
        uint64_t marks = mark_special(load_block(p->s + i));
        if (marks) return i + (size_t)__builtin_ctzll(marks) / 8;
        i += 8;
    }
    return i;
}

/* p->at is just past the opening quote; leaves it past the closing one. */
static enum tn_status scan_string(struct parser *p, uint32_t index)
{
    size_t start = p->at, i = start;
    bool escapes = false;
    for (;;) {
        i = skip_plain(p, i);
        if (i >= p->end) return malformed(p, p->end, "a string does not end", "a closing quote");
        unsigned char c = (unsigned char)p->s[i];
        if (c == '"') break;
        if (c == '\\') {
            escapes = true;
            if (p->end - i < 2) return malformed(p, p->end, "a string does not end", "a closing quote");
            i += 2;
        } else if (c < 0x20) {
            return malformed(p, i, "control character in a string", "an escape such as \\n");
        } else if (c < 0x80) {
            i++;
        } else {
            do {
                uint32_t code_point;
                size_t length = tn_utf8_decode(p->s + i, p->end - i, &code_point);
                if (!length) return malformed(p, i, "invalid UTF-8", "UTF-8 text");
                i += length;
            } while (i < p->end && (unsigned char)p->s[i] >= 0x80);
        }
    }
    p->at = i + 1;
    struct tn_json_node *node = &p->doc->nodes[index];
    if (escapes) return unescape(p, start, i, node);
    node->as.s = p->s + start;
    node->length = (uint32_t)(i - start);
    return TN_OK;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

static size_t skip_digits(const struct parser *p, size_t i)
{
    while (i < p->end && p->s[i] >= '0' && p->s[i] <= '9') i++;
    return i;
}

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Mantissa below 2^53 and a power of ten that is exact: one rounding, so correct (Clinger 1990). */
static bool parse_exact(struct tn_str text, double *out)
{
    uint64_t mantissa = 0;
    int scale = 0, exponent = 0;
    bool negative = text.s[0] == '-', fraction = false;
    size_t i = negative ? 1 : 0;
    for (; i < text.n && text.s[i] != 'e' && text.s[i] != 'E'; i++) {
        if (text.s[i] == '.') {
            fraction = true;
            continue;
        }
        if (mantissa > (UINT64_C(1) << 53) / 10 - 1) return false;
        mantissa = mantissa * 10 + (uint64_t)(text.s[i] - '0');
        scale += fraction;
    }
    if (i < text.n) {
        bool down = text.s[++i] == '-';
        if (text.s[i] == '+' || text.s[i] == '-') i++;
        for (; i < text.n; i++) {
            if (exponent > 1000) return false;
            exponent = exponent * 10 + (text.s[i] - '0');
        }
        if (down) exponent = -exponent;
    }
    exponent -= scale;
    if (exponent < -22 || exponent > 22) return false;
    double value = (double)mantissa;
    value = exponent < 0 ? value / exact_powers[-exponent] : value * exact_powers[exponent];
    *out = negative ? -value : value;
    return true;
}

bool tn_parse_f64(struct tn_str text, double *out)
{
    if (text.n == 0 || text.n > 400) return false;
    if (parse_exact(text, out)) return true;
    char point[16], copy[432];
    /* The C library reads numbers by the locale's decimal point: ask it which, and write that one. */
    snprintf(point, sizeof(point), "%.1f", 0.5);
    size_t point_length = strlen(point) - 2, n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] == '.') {
            memcpy(copy + n, point + 1, point_length);
            n += point_length;
        } else {
            copy[n++] = text.s[i];
        }
    }
    copy[n] = 0;
    double value = strtod(copy, NULL);
    if (!isfinite(value)) return false;
    *out = value;
    return true;
}

static enum tn_status scan_number(struct parser *p, uint32_t index)
{
    size_t start = p->at, i = start;
    uint64_t mantissa = 0;
    if (p->s[i] == '-') i++;
    size_t digits = i;
    for (; i < p->end && p->s[i] >= '0' && p->s[i] <= '9'; i++) mantissa = mantissa * 10 + (uint64_t)(p->s[i] - '0');
    bool small = i - digits <= 15; /* exact as a double, and no overflow on the way */
    if (i == digits) return malformed(p, i, "a number without digits", "a digit");
    if (p->s[digits] == '0' && i - digits > 1) return malformed(p, digits, "a number with a leading zero", "0 alone");
    bool integer = true;
    if (i < p->end && p->s[i] == '.') {
        integer = false;
        digits = ++i;
        i = skip_digits(p, i);
        if (i == digits) return malformed(p, i, "a number that ends in a point", "a digit");
    }
    if (i < p->end && (p->s[i] == 'e' || p->s[i] == 'E')) {
        integer = false;
        i++;
        if (i < p->end && (p->s[i] == '+' || p->s[i] == '-')) i++;
        digits = i;
        i = skip_digits(p, i);
        if (i == digits) return malformed(p, i, "an exponent without digits", "a digit");
    }
    struct tn_json_node *node = &p->doc->nodes[index];
    node->length = (uint32_t)(i - start);
    if (integer) node->flags |= TN_JSON_INTEGER;
    double value = p->s[start] == '-' ? -(double)mantissa : (double)mantissa;
    bool known = (integer && small) || tn_parse_f64((struct tn_str){p->s + start, i - start}, &value);
    if (!known) node->flags |= TN_JSON_OVERFLOW;
    node->as.number = known ? value : 0;
    p->at = i;
    return TN_OK;
}

/* ---- duplicate keys ------------------------------------------------------------------------------------------- */

/* Both halves of the full product folded together: every bit of one operand reaches every bit of the result. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t h = (a ^ a >> 32) * UINT64_C(0xBF58476D1CE4E5B9) + b;
    return (h ^ h >> 29) * UINT64_C(0x94D049BB133111EB);
#endif
}

/* The last one to eight bytes as a number, without reading beyond either end. */
static inline uint64_t load_tail(const char *s, size_t n)
{
    if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, s, 4);
        memcpy(&last, s + n - 4, 4);
        return first | (uint64_t)last << 32;
    }
    const unsigned char *p = (const unsigned char *)s;
    return n ? p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16 : 0;
}

/* Keyed by a seed that the document's author cannot know, so that no document can be made of collisions. */
static uint64_t hash_bytes(const char *s, size_t n, uint64_t seed)
{
    uint64_t h = seed ^ (uint64_t)n * UINT64_C(0x9E3779B97F4A7C15), block;
    for (; n > 8; s += 8, n -= 8) {
        memcpy(&block, s, 8);
        h = fold(h ^ block, seed | 1);
    }
    return fold(h ^ load_tail(s, n), seed | 1);
}

static enum tn_status duplicate(struct parser *p, uint32_t key)
{
    struct tn_json_doc *doc = p->doc;
    struct tn_finding *f =
        tn_error_set(p->err, TN_ARTIFACT_MALFORMED, TN_PHASE_PACKAGE, "duplicate key in a JSON object");
    char pointer[256];
    struct tn_str where = tn_json_pointer((struct tn_json){doc, key + 1}, pointer, sizeof(pointer));
    tn_at_offset(f, doc->file, tn_json_offset((struct tn_json){doc, key}));
    tn_at_element(f, TN_ELEMENT_POINTER, where);
    tn_found(f, "the key \"%.*s\" twice", TN_FMT_ARG(tn_json_node_str(&doc->nodes[key])));
    tn_expected(f, "each key once");
    tn_remedy(f, "remove one of the two; which one is meant cannot be known");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status check_few(struct parser *p, uint32_t object)
{
    const struct tn_json_node *nodes = p->doc->nodes;
    for (uint32_t a = object + 1; a < p->doc->count; a = nodes[a + 1].next) {
        for (uint32_t b = object + 1; b < a; b = nodes[b + 1].next) {
            if (tn_str_eq(tn_json_node_str(&nodes[a]), tn_json_node_str(&nodes[b]))) return duplicate(p, a);
        }
    }
    return TN_OK;
}

/* An open-addressed table of half-filled slots; the tag spares a look at the node of another key. */
static enum tn_status check_many(struct parser *p, uint32_t object, uint32_t members)
{
    size_t cap = 64;
    while (cap < (size_t)members * 2) cap *= 2;
    if (cap > p->slot_cap) {
        tn_free(p->doc->alloc, p->slots);
        p->slot_cap = 0;
        p->slots = tn_malloc_aligned(p->doc->alloc, cap * sizeof(*p->slots), 64);
        if (!p->slots) return no_memory(p);
        p->slot_cap = cap;
    }
    memset(p->slots, 0, cap * sizeof(*p->slots));
    const struct tn_json_node *nodes = p->doc->nodes;
    /* Addresses are random: from the node array and the stack, both out of the author's sight. */
    uint64_t seed = fold((uint64_t)(uintptr_t)nodes ^ UINT64_C(0xA0761D6478BD642F), (uint64_t)(uintptr_t)&cap | 1);
    for (uint32_t key = object + 1; key < p->doc->count; key = nodes[key + 1].next) {
        struct tn_str text = tn_json_node_str(&nodes[key]);
        uint64_t hash = hash_bytes(text.s, text.n, seed);
        uint32_t tag = (uint32_t)(hash >> 32);
        size_t slot = (size_t)hash & (cap - 1);
        for (struct slot *at; (at = &p->slots[slot])->key; slot = (slot + 1) & (cap - 1)) {
            if (at->tag == tag && tn_str_eq(text, tn_json_node_str(&nodes[at->key]))) return duplicate(p, key);
        }
        p->slots[slot] = (struct slot){key, tag};
    }
    return TN_OK;
}

/* ---- the parser ------------------------------------------------------------------------------------------------ */

/* Indented documents are a third spaces: runs of them go eight at a time. */
static void skip_spaces(struct parser *p)
{
    while (p->at < p->end) {
        char c = p->s[p->at];
        if (c == ' ' && p->end - p->at >= 8) {
            uint64_t other = load_block(p->s + p->at) ^ UINT64_C(0x2020202020202020);
            p->at += other ? (size_t)__builtin_ctzll(other) / 8 : 8;
        } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            p->at++;
        } else {
            return;
        }
    }
}

static inline void skip_space(struct parser *p)
{
    if (p->at < p->end && (unsigned char)p->s[p->at] <= ' ') skip_spaces(p);
}

static enum tn_status scan_literal(struct parser *p, const char *word, uint32_t index, uint8_t flags)
{
    size_t n = strlen(word);
    if (p->end - p->at < n || memcmp(p->s + p->at, word, n) != 0) {
        return malformed(p, p->at, "an unknown word", "a JSON value");
    }
    p->doc->nodes[index].length = (uint32_t)n;
    p->doc->nodes[index].flags = flags;
    p->at += n;
    return TN_OK;
}

static enum tn_status open_container(struct parser *p, uint32_t index)
{
    if (p->depth >= p->limits->json_depth) return over_limit(p, "json_depth", p->limits->json_depth);
    p->doc->nodes[index].as.members = 0;
    p->stack[p->depth++] = index;
    p->at++;
    return TN_OK;
}

static enum tn_status close_container(struct parser *p)
{
    uint32_t index = p->stack[--p->depth];
    struct tn_json_node *node = &p->doc->nodes[index];
    p->at++;
    node->next = p->doc->count;
    node->length = (uint32_t)(p->at - node->offset);
    if (node->type != TN_JSON_OBJECT || node->as.members < 2) return TN_OK;
    return node->as.members <= 8 ? check_few(p, index) : check_many(p, index, node->as.members);
}

static enum tn_status scan_value(struct parser *p, bool *opened)
{
    *opened = false;
    if (p->at >= p->end) return malformed(p, p->at, "a value is missing", "a JSON value");
    char c = p->s[p->at];
    enum tn_json_type type = c == '{'                           ? TN_JSON_OBJECT
                             : c == '['                         ? TN_JSON_ARRAY
                             : c == '"'                         ? TN_JSON_STRING
                             : c == '-' || (c >= '0' && c <= '9') ? TN_JSON_NUMBER
                             : c == 't' || c == 'f'             ? TN_JSON_BOOL
                                                                : TN_JSON_NULL;
    uint32_t index;
    enum tn_status status = add_node(p, type, p->at, &index);
    if (status) return status;
    switch (type) {
    case TN_JSON_OBJECT:
    case TN_JSON_ARRAY:
        *opened = true;
        return open_container(p, index);
    case TN_JSON_STRING:
        p->at++;
        return scan_string(p, index);
    case TN_JSON_NUMBER:
        return scan_number(p, index);
    case TN_JSON_BOOL:
        return c == 't' ? scan_literal(p, "true", index, TN_JSON_TRUE) : scan_literal(p, "false", index, 0);
    case TN_JSON_NULL:
        break;
    }
    return scan_literal(p, "null", index, 0);
}

static enum tn_status scan_key(struct parser *p)
{
    if (p->at >= p->end || p->s[p->at] != '"') return malformed(p, p->at, "a key is missing", "a string key");
    uint32_t index;
    enum tn_status status = add_node(p, TN_JSON_STRING, p->at, &index);
    if (status) return status;
    p->doc->nodes[index].flags = TN_JSON_KEY;
    p->at++;
    status = scan_string(p, index);
    if (status) return status;
    skip_space(p);
    if (p->at >= p->end || p->s[p->at] != ':') return malformed(p, p->at, "a key without a colon", "a colon");
    p->at++;
    skip_space(p);
    return TN_OK;
}

/* Scans the next member of the innermost container, its key included. */
static enum tn_status scan_member(struct parser *p, bool *opened)
{
    struct tn_json_node *container = &p->doc->nodes[p->stack[p->depth - 1]];
    container->as.members++;
    enum tn_status status = container->type == TN_JSON_OBJECT ? scan_key(p) : TN_OK;
    return status ? status : scan_value(p, opened);
}

static enum tn_status scan_document(struct parser *p)
{
    skip_space(p);
    bool fresh;
    enum tn_status status = scan_value(p, &fresh);
    while (!status && p->depth > 0) {
        const struct tn_json_node *container = &p->doc->nodes[p->stack[p->depth - 1]];
        bool object = container->type == TN_JSON_OBJECT;
        skip_space(p);
        char c = p->at < p->end ? p->s[p->at] : 0;
        if (c == (object ? '}' : ']')) {
            status = close_container(p);
            fresh = false;
            continue;
        }
        if (!fresh) {
            if (c != ',') return malformed(p, p->at, "values are not separated", object ? "',' or '}'" : "',' or ']'");
            p->at++;
            skip_space(p);
        }
        status = scan_member(p, &fresh);
    }
    if (status) return status;
    skip_space(p);
    if (p->at < p->end) return malformed(p, p->at, "text after the document", "the end of the document");
    return TN_OK;
}

static enum tn_status parse(struct tn_json_doc *doc, const struct tn_limits *limits, struct tn_error *err)
{
    struct parser p = {
        .doc = doc, .limits = limits, .s = doc->text.s, .end = doc->text.n, .err = err,
    };
    uint64_t most = limits->json_bytes < UINT32_MAX ? limits->json_bytes : UINT32_MAX;
    if (p.end > most) return over_limit(&p, "json_bytes", most);
    p.stack = tn_malloc(doc->alloc, (size_t)limits->json_depth * sizeof(*p.stack) + 1);
    enum tn_status status = p.stack ? scan_document(&p) : no_memory(&p);
    tn_free(doc->alloc, p.slots);
    tn_free(doc->alloc, p.stack);
    return status;
}

static enum tn_status parse_into(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                                 struct tn_str file, struct tn_str text, char *owned, uint32_t *places,
                                 struct tn_error *err)
{
    *doc = (struct tn_json_doc){.alloc = alloc, .text = text, .owned = owned, .places = places};
    tn_arena_init(&doc->arena, alloc);
    enum tn_status status = TN_OK;
    doc->file = tn_arena_str(&doc->arena, file);
    if (!doc->file.s || !doc->text.s) {
        status = tn_error_memory(err, TN_PHASE_PACKAGE, "reading a JSON document");
    } else {
        status = parse(doc, limits, err);
    }
    if (status) tn_json_release(doc);
    return status;
}

enum tn_status tn_json_parse(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                             struct tn_str file, struct tn_str text, struct tn_error *err)
{
    if (!text.s) text = TN_STR("");
    return parse_into(doc, alloc, limits, file, text, NULL, NULL, err);
}

enum tn_status tn_json_parse_copy(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                                  struct tn_str file, struct tn_str text, struct tn_error *err)
{
    char *copy = tn_strndup(alloc, text.s, text.n);
    if (!copy) {
        *doc = (struct tn_json_doc){0};
        return tn_error_memory(err, TN_PHASE_PACKAGE, "reading a JSON document");
    }
    return parse_into(doc, alloc, limits, file, (struct tn_str){copy, text.n}, copy, NULL, err);
}

enum tn_status tn_json_parse_take(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                                  struct tn_str file, struct tn_str text, struct tn_error *err)
{
    char *owned = (char *)(uintptr_t)text.s;
    if (!text.s) text = TN_STR("");
    return parse_into(doc, alloc, limits, file, text, owned, NULL, err);
}

enum tn_status tn_json_parse_places(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                                    struct tn_str file, struct tn_str text, uint32_t *places, struct tn_error *err)
{
    return parse_into(doc, alloc, limits, file, text, (char *)(uintptr_t)text.s, places, err);
}

void tn_json_release(struct tn_json_doc *doc)
{
    if (!doc->alloc) return;
    tn_free(doc->alloc, doc->nodes);
    tn_free(doc->alloc, doc->owned);
    tn_free(doc->alloc, doc->places);
    tn_arena_release(&doc->arena);
    *doc = (struct tn_json_doc){0};
}
