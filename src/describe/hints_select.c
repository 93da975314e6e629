/*
 * Which nodes a selector means. Names and patterns may both come from strangers: patterns are short by contract, and the
 * matcher takes at most pattern x name steps.
 */
#include "describe/hints.h"

#include "base/sort.h"
#include "base/utf8.h"

#include <string.h>

/* Bytes of the character at s; a byte that is no UTF-8 counts as one. */
static size_t character(struct tn_str s, size_t at)
{
    uint32_t c;
    size_t n = tn_utf8_decode(s.s + at, s.n - at, &c);
    return n ? n : 1;
}

/* Only the last star is ever tried again: what an earlier one took cannot help a later one. */
bool tn_hint_glob(struct tn_str pattern, struct tn_str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, resume = 0;
    while (n < name.n) {
        if (p < pattern.n && pattern.s[p] == '*') {
            star = ++p;
            resume = n;
        } else if (p < pattern.n && pattern.s[p] == '?') {
            p++;
            n += character(name, n);
        } else if (p < pattern.n && pattern.s[p] == name.s[n]) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star;
            n = resume += character(name, resume);
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.s[p] == '*') p++;
    return p == pattern.n;
}

static bool is_among(const struct tn_str *list, size_t count, struct tn_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (tn_str_eq(list[i], name)) return true;
    }
    return false;
}

static bool named(const struct tn_hint_selector *s, struct tn_str name)
{
    if (s->has_names && !is_among(s->names, s->name_count, name)) return false;
    return !s->pattern.s || tn_hint_glob(s->pattern, name);
}

bool tn_hint_selects(const struct tn_hint_selector *s, const struct tn_hint_node *node)
{
    if (!named(s, node->name) && !(node->alias.n && named(s, node->alias))) return false;
    if (s->has_op_types && !(node->op_type.n && is_among(s->op_types, s->op_type_count, node->op_type))) return false;
    if (!s->has_layers) return true;
    if (node->layer < 0) return false;
    return (uint64_t)node->layer >= s->first_layer && (uint64_t)node->layer <= s->last_layer;
}

bool tn_hint_selects_all(const struct tn_hint_selector *s)
{
    if (s->has_names || s->has_op_types || s->has_layers) return false;
    for (size_t i = 0; s->pattern.s && i < s->pattern.n; i++) {
        if (s->pattern.s[i] != '*') return false;
    }
    return !s->pattern.s || s->pattern.n > 0;
}

/* ---- layers ------------------------------------------------------------------------------------------------------- */

/* The number that stands for "{}" of a pattern "before{}after" anywhere in a name, where no digit continues it. */
static int64_t layer_in_name(struct tn_str before, struct tn_str after, struct tn_str name)
{
    for (size_t at = 0; at + before.n < name.n; at++) {
        size_t end = at + before.n;
        uint64_t layer = 0;
        if (before.n && memcmp(name.s + at, before.s, before.n) != 0) continue;
        if (!before.n && at > 0 && name.s[at - 1] >= '0' && name.s[at - 1] <= '9') continue;
        while (end < name.n && name.s[end] >= '0' && name.s[end] <= '9' && layer < UINT32_MAX) {
            layer = layer * 10 + (uint64_t)(name.s[end++] - '0');
        }
        if (end == at + before.n || layer >= UINT32_MAX || after.n > name.n - end) continue;
        if (after.n == 0 || memcmp(name.s + end, after.s, after.n) == 0) return (int64_t)layer;
    }
    return TN_HINT_NO_LAYER;
}

static int64_t layer_of(const struct tn_hint_layers *layers, struct tn_str name)
{
    for (size_t i = 0; layers->pattern.s && i + 1 < layers->pattern.n; i++) {
        if (layers->pattern.s[i] != '{' || layers->pattern.s[i + 1] != '}') continue;
        struct tn_str before = {layers->pattern.s, i}, after = {layers->pattern.s + i + 2, layers->pattern.n - i - 2};
        return layer_in_name(before, after, name);
    }
    return TN_HINT_NO_LAYER;
}

/* The list is sorted by name. */
static int64_t stated_layer(const struct tn_hint_layers *layers, struct tn_str name)
{
    size_t low = 0, high = layers->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = tn_str_order(layers->nodes[middle].node, name);
        if (order == 0) return (int64_t)layers->nodes[middle].layer;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return TN_HINT_NO_LAYER;
}

void tn_hint_layers_apply(const struct tn_hint_layers *layers, struct tn_hint_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].layer < 0) nodes[i].layer = stated_layer(layers, nodes[i].name);
        if (nodes[i].layer < 0) nodes[i].layer = layer_of(layers, nodes[i].name);
    }
}
