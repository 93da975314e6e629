/*
 * Reading a parsed document: walking, typed reads, pointers. Trusts the nodes, which the parser made and checked, and
 * nothing about their values. Look-ups are linear on purpose: documents are read once, by walking.
 */
#include "base/buf.h"
#include "base/json_node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct tn_json_node *node_of(struct tn_json v)
{
    return v.doc ? &v.doc->nodes[v.node] : NULL;
}

struct tn_json tn_json_root(const struct tn_json_doc *doc)
{
    return (struct tn_json){doc && doc->count ? doc : NULL, 0};
}

bool tn_json_present(struct tn_json v)
{
    return v.doc != NULL;
}

enum tn_json_type tn_json_type(struct tn_json v)
{
    return v.doc ? (enum tn_json_type)node_of(v)->type : TN_JSON_NULL;
}

const char *tn_json_type_name(enum tn_json_type type)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    return names[type];
}

bool tn_json_is(struct tn_json v, enum tn_json_type type)
{
    return v.doc && node_of(v)->type == type;
}

size_t tn_json_count(struct tn_json v)
{
    return tn_json_is(v, TN_JSON_OBJECT) || tn_json_is(v, TN_JSON_ARRAY) ? node_of(v)->as.members : 0;
}

struct tn_json tn_json_first(struct tn_json v)
{
    if (tn_json_count(v) == 0) return (struct tn_json){0};
    return (struct tn_json){v.doc, v.node + (tn_json_is(v, TN_JSON_OBJECT) ? 2 : 1)};
}

struct tn_json tn_json_next(struct tn_json v)
{
    const struct tn_json_node *node = node_of(v);
    if (!node || node->parent == TN_JSON_NO_NODE) return (struct tn_json){0};
    const struct tn_json_node *parent = &v.doc->nodes[node->parent];
    if (node->next >= parent->next) return (struct tn_json){0};
    return (struct tn_json){v.doc, node->next + (parent->type == TN_JSON_OBJECT ? 1 : 0)};
}

struct tn_json tn_json_parent(struct tn_json v)
{
    const struct tn_json_node *node = node_of(v);
    if (!node || node->parent == TN_JSON_NO_NODE) return (struct tn_json){0};
    return (struct tn_json){v.doc, node->parent};
}

uint32_t tn_json_end(struct tn_json v)
{
    return v.doc ? node_of(v)->next : 0;
}

struct tn_str tn_json_key(struct tn_json v)
{
    const struct tn_json_node *node = node_of(v);
    if (!node || node->parent == TN_JSON_NO_NODE) return TN_STR("");
    if (v.doc->nodes[node->parent].type != TN_JSON_OBJECT) return TN_STR("");
    return tn_json_node_str(node - 1);
}

struct tn_json tn_json_get_str(struct tn_json object, struct tn_str key)
{
    if (!tn_json_is(object, TN_JSON_OBJECT)) return (struct tn_json){0};
    for (struct tn_json v = tn_json_first(object); v.doc; v = tn_json_next(v)) {
        if (tn_str_eq(tn_json_key(v), key)) return v;
    }
    return (struct tn_json){0};
}

struct tn_json tn_json_get(struct tn_json object, const char *key)
{
    return tn_json_get_str(object, tn_str_of(key));
}

struct tn_json tn_json_at(struct tn_json array, size_t index)
{
    if (!tn_json_is(array, TN_JSON_ARRAY)) return (struct tn_json){0};
    struct tn_json v = tn_json_first(array);
    while (v.doc && index--) v = tn_json_next(v);
    return v;
}

/* One segment of a pointer, unescaped (~0, ~1) into buf; longer segments never match. */
static struct tn_str pointer_segment(const char **pointer, char *buf, size_t cap)
{
    size_t n = 0;
    const char *s = *pointer + 1;
    for (; *s && *s != '/' && n < cap; s++) {
        char c = *s;
        if (c == '~' && (s[1] == '0' || s[1] == '1')) c = *++s == '0' ? '~' : '/';
        buf[n++] = c;
    }
    *pointer = s;
    return (struct tn_str){buf, n};
}

static bool array_index(struct tn_str s, size_t *out)
{
    if (s.n == 0 || s.n > 9 || (s.n > 1 && s.s[0] == '0')) return false;
    size_t value = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] < '0' || s.s[i] > '9') return false;
        value = value * 10 + (size_t)(s.s[i] - '0');
    }
    *out = value;
    return true;
}

struct tn_json tn_json_find(struct tn_json v, const char *pointer)
{
    char buf[256];
    while (v.doc && *pointer == '/') {
        struct tn_str segment = pointer_segment(&pointer, buf, sizeof(buf));
        size_t index;
        if (tn_json_is(v, TN_JSON_ARRAY)) {
            v = array_index(segment, &index) ? tn_json_at(v, index) : (struct tn_json){0};
        } else {
            v = tn_json_get_str(v, segment);
        }
    }
    return *pointer ? (struct tn_json){0} : v;
}

bool tn_json_bool(struct tn_json v, bool *out)
{
    if (!tn_json_is(v, TN_JSON_BOOL)) return false;
    *out = (node_of(v)->flags & TN_JSON_TRUE) != 0;
    return true;
}

bool tn_json_str(struct tn_json v, struct tn_str *out)
{
    if (!tn_json_is(v, TN_JSON_STRING)) return false;
    *out = tn_json_node_str(node_of(v));
    return true;
}

bool tn_json_f64(struct tn_json v, double *out)
{
    if (!tn_json_is(v, TN_JSON_NUMBER) || node_of(v)->flags & TN_JSON_OVERFLOW) return false;
    *out = node_of(v)->as.number;
    return true;
}

/* Digits of an integer literal; false on overflow. */
static bool parse_digits(const char *s, size_t n, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(s[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

/* Magnitude and sign of a number that is integral in value. */
static bool integral(struct tn_json v, uint64_t *magnitude, bool *negative)
{
    if (!tn_json_is(v, TN_JSON_NUMBER)) return false;
    const struct tn_json_node *node = node_of(v);
    struct tn_str text = tn_json_text(v);
    *negative = text.s[0] == '-';
    if (node->flags & TN_JSON_INTEGER) return parse_digits(text.s + *negative, text.n - *negative, magnitude);
    double value = fabs(node->as.number);
    if (node->flags & TN_JSON_OVERFLOW || value > 9007199254740992.0 || value != floor(value)) return false;
    *magnitude = (uint64_t)value;
    return true;
}

bool tn_json_i64(struct tn_json v, int64_t *out)
{
    uint64_t magnitude;
    bool negative;
    if (!integral(v, &magnitude, &negative) || magnitude > (uint64_t)INT64_MAX + negative) return false;
    *out = !negative ? (int64_t)magnitude : magnitude ? -(int64_t)(magnitude - 1) - 1 : 0;
    return true;
}

bool tn_json_u64(struct tn_json v, uint64_t *out)
{
    uint64_t magnitude;
    bool negative;
    if (!integral(v, &magnitude, &negative) || (negative && magnitude)) return false;
    *out = magnitude;
    return true;
}

bool tn_json_is_integer(struct tn_json v)
{
    return tn_json_is(v, TN_JSON_NUMBER) && (node_of(v)->flags & TN_JSON_INTEGER);
}

struct tn_str tn_json_text(struct tn_json v)
{
    const struct tn_json_node *node = node_of(v);
    if (!node) return TN_STR("");
    const char *s = v.doc->text.s + node->offset;
    if (node->type != TN_JSON_STRING) return (struct tn_str){s, node->length};
    size_t n = 1;
    while (s[n] != '"') n += s[n] == '\\' ? 2 : 1;
    return (struct tn_str){s, n + 1};
}

uint64_t tn_json_offset(struct tn_json v)
{
    if (!v.doc) return 0;
    return v.doc->places ? v.doc->places[v.node] : node_of(v)->offset;
}

static void pointer_append(struct tn_buf *out, struct tn_str key)
{
    tn_buf_putc(out, '/');
    for (size_t i = 0; i < key.n; i++) {
        if (key.s[i] == '~') {
            tn_buf_append(out, "~0", 2);
        } else if (key.s[i] == '/') {
            tn_buf_append(out, "~1", 2);
        } else {
            tn_buf_putc(out, key.s[i]);
        }
    }
}

/* A fixed buffer as a tn_buf: full means cut. */
static struct tn_buf fixed_buf(char *buf, size_t cap)
{
    return (struct tn_buf){.data = buf, .cap = cap, .max = cap - 1};
}

struct tn_str tn_json_pointer(struct tn_json v, char *buf, size_t cap)
{
    buf[0] = 0;
    if (!v.doc) return (struct tn_str){buf, 0};
    uint32_t path[160]; /* deeper than that only the lower end is told */
    size_t depth = 0;
    const struct tn_json_node *nodes = v.doc->nodes;
    for (uint32_t i = v.node; nodes[i].parent != TN_JSON_NO_NODE && depth < 160; i = nodes[i].parent) path[depth++] = i;
    struct tn_buf out = fixed_buf(buf, cap);
    while (depth > 0) {
        struct tn_json step = {v.doc, path[--depth]};
        uint32_t parent = node_of(step)->parent;
        if (v.doc->nodes[parent].type == TN_JSON_OBJECT) {
            pointer_append(&out, tn_json_key(step));
        } else {
            char digits[24];
            int n = snprintf(digits, sizeof(digits), "%u", (unsigned)node_of(step)->place);
            pointer_append(&out, (struct tn_str){digits, (size_t)n});
        }
    }
    return (struct tn_str){buf, out.len};
}

void tn_at_json(struct tn_finding *f, struct tn_json v)
{
    if (!f || !v.doc) return;
    char pointer[256];
    tn_at_pointer(f, v.doc->file, tn_json_pointer(v, pointer, sizeof(pointer)));
}

void tn_at_json_member(struct tn_finding *f, struct tn_json object, const char *key)
{
    if (!f || !object.doc) return;
    char pointer[256];
    struct tn_str base = tn_json_pointer(object, pointer, sizeof(pointer));
    struct tn_buf out = fixed_buf(pointer, sizeof(pointer));
    out.len = base.n;
    pointer_append(&out, tn_str_of(key));
    tn_at_pointer(f, object.doc->file, (struct tn_str){pointer, out.len});
}
