/*
 * Closed lists: of the members of a contract, which ones somebody compares or obeys. Any other one that says something is
 * refused where it stands. Knows no member's meaning: the lists are their owners' (contract_flow.c, graph_held.c). The
 * contract is untrusted; its shape was checked.
 */
#include "describe/dialect/contract.h"

#include <string.h>

struct list {
    struct tn_builder *b;
    const char *const *rows;
    unsigned count;
    const char *what;
};

/* Segment `depth` of a row, or an empty one behind its end. */
static struct tn_str segment_of(const char *row, unsigned depth)
{
    for (; depth > 0; depth--) {
        row = strchr(row, '/');
        if (!row) return TN_STR("");
        row++;
    }
    const char *end = strchr(row, '/');
    return (struct tn_str){row, end ? (size_t)(end - row) : strlen(row)};
}

/* null, false and what is empty say nothing. */
static bool says_something(struct tn_json v)
{
    bool flag;
    if (tn_json_bool(v, &flag)) return flag;
    bool container = tn_json_is(v, TN_JSON_OBJECT) || tn_json_is(v, TN_JSON_ARRAY);
    return tn_json_type(v) != TN_JSON_NULL && (!container || tn_json_count(v) > 0);
}

/* Rows of `rows` that go on with this key; *whole when one of them ends with it. */
static uint64_t follow(const struct list *l, uint64_t rows, unsigned depth, struct tn_str key, bool *whole)
{
    uint64_t on = 0;
    *whole = false;
    for (unsigned i = 0; i < l->count; i++) {
        if (!(rows >> i & 1)) continue;
        struct tn_str segment = segment_of(l->rows[i], depth);
        if (segment.n == 0 || (!tn_str_is(segment, "*") && !tn_str_eq(segment, key))) continue;
        on |= (uint64_t)1 << i;
        *whole |= segment_of(l->rows[i], depth + 1).n == 0;
    }
    return on;
}

/* As deep as the longest row. */
static void close_members(const struct list *l, struct tn_json object, uint64_t rows, unsigned depth)
{
    for (struct tn_json v = tn_json_first(object); tn_json_present(v) && l->b->failed == TN_OK; v = tn_json_next(v)) {
        bool whole;
        uint64_t on = follow(l, rows, depth, tn_json_key(v), &whole);
        if (whole || !says_something(v)) continue;
        if (on && (tn_json_is(v, TN_JSON_OBJECT) || tn_json_is(v, TN_JSON_ARRAY))) {
            close_members(l, v, on, depth + 1);
            continue;
        }
        tn_expected(tn_contract_unsupported(l->b, v, l->what), "nothing");
    }
}

void tn_contract_close(struct tn_builder *b, struct tn_json object, const char *const *rows, unsigned count, const char *what)
{
    struct list l = {.b = b, .rows = rows, .count = count, .what = what};
    if (count > 0 && count <= TN_CONTRACT_ROWS) close_members(&l, object, UINT64_MAX >> (TN_CONTRACT_ROWS - count), 0);
}
