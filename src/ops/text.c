/*
 * Operators over texts: StringConcat, StringSplit, StringNormalizer, RegexFullMatch, TfIdfVectorizer. Lengths are counted in bytes; case
 * changes ASCII letters, and others by the simple mappings of Unicode that are one to one.
 */
#include "ops/broadcast.h"
#include "ops/pattern.h"

#include "base/utf8.h"

#include <string.h>

/* ---- StringConcat ------------------------------------------------------------------------------------------------- */

static bool infer_concat(struct tn_infer *x)
{
    return tn_infer_elementwise(x, 2, TN_EL_STRING);
}

static bool run_concat(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    struct tn_broadcast b;
    tn_broadcast_init(&b, y, r->in, 2);
    for (uint64_t i = 0; i < y->count; i++) {
        uint64_t in[TN_BROADCAST];
        tn_broadcast_row(&b, i / b.row, in);
        struct tn_str l = tn_tensor_texts(r->in[0])[in[0] + (b.moves[0] ? i % b.row : 0)];
        struct tn_str s = tn_tensor_texts(r->in[1])[in[1] + (b.moves[1] ? i % b.row : 0)];
        char *room = tn_run_scratch(r, l.n + s.n + 1, 1);
        if (!room) return false;
        if (l.n) memcpy(room, l.s, l.n);
        if (s.n) memcpy(room + l.n, s.s, s.n);
        bool good = tn_tensor_set_text(y, i, (struct tn_str){room, l.n + s.n});
        tn_heap_give(r->heap, room);
        if (!good) return tn_run_no_memory(r);
    }
    return true;
}

/* ---- StringSplit -------------------------------------------------------------------------------------------------- */

static bool infer_split(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    tn_out_unknown(x, 0, TN_EL_STRING);
    struct tn_type counts = *t;
    counts.element = TN_EL_I64;
    tn_out_type(x, 1, &counts);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * The next part of a text from *at on, as Python's split has it: without a delimiter runs of blanks separate and none
 * stands at the ends; after `left` cuts the rest is one part.
 */
static bool next_part(struct tn_str s, struct tn_str delimiter, int64_t left, size_t *at, struct tn_str *out)
{
    if (*at > s.n) return false;
    if (delimiter.n == 0) {
        while (*at < s.n && is_blank(s.s[*at])) (*at)++;
        if (*at >= s.n) return false;
        size_t end = *at;
        if (left == 0) {
            end = s.n;
            while (end > *at && is_blank(s.s[end - 1])) end--;
        } else {
            while (end < s.n && !is_blank(s.s[end])) end++;
        }
        *out = (struct tn_str){s.s + *at, end - *at};
        *at = left == 0 ? s.n + 1 : end;
        return true;
    }
    size_t end = *at;
    bool found = false;
    while (left != 0 && !found && end + delimiter.n <= s.n) {
        found = memcmp(s.s + end, delimiter.s, delimiter.n) == 0;
        if (!found) end++;
    }
    if (!found) end = s.n;
    *out = (struct tn_str){s.s + *at, end - *at};
    *at = found ? end + delimiter.n : s.n + 1;
    return true;
}

static bool run_split(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    const struct tn_attr *limit = tn_node_attr(r->node, "maxsplit");
    struct tn_str delimiter = tn_attr_text(r->node, "delimiter"), part;
    int64_t most = 0, dims[TN_RANK];
    if (x->rank + 1 > TN_RANK) return tn_run_refuse(r, "at most 8 dimensions", "%u", x->rank + 1);
    struct tn_tensor *counts = r->out_count > 1 && r->wanted[1] ? r->out[1] : NULL, *y = NULL;
    /* once to count, once to write */
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < x->count; i++) {
            struct tn_str s = tn_tensor_texts(x)[i];
            int64_t n = 0;
            size_t at = s.n ? 0 : 1;
            while (next_part(s, delimiter, limit ? limit->as.i - n : -1, &at, &part)) {
                if (y && !tn_tensor_set_text(y, i * (uint64_t)most + (uint64_t)n, part)) return tn_run_no_memory(r);
                n++;
            }
            if (!y && n > most) most = n;
            if (counts) ((int64_t *)counts->data)[i] = n;
        }
        if (pass) break;
        memcpy(dims, x->dims, sizeof(dims));
        dims[x->rank] = most;
        y = tn_run_output(r, 0, TN_EL_STRING, x->rank + 1, dims);
        if (!y) return false;
    }
    return true;
}

/* ---- StringNormalizer --------------------------------------------------------------------------------------------- */

static bool infer_normalizer(struct tn_infer *x)
{
    const struct tn_shape *s;
    tn_out_unknown(x, 0, TN_EL_STRING);
    if (!tn_in_shape(x, 0, &s)) return true;
    if (s->rank != 1 && !(s->rank == 2 && (s->dims[0] == 1 || !tn_dim_known(s->dims[0])))) return tn_infer_refuse(x, "a list of texts, [C] or [1, C]", "rank %u", s->rank);
    return true;
}

/* Letters of Latin-1, Greek and Cyrillic beside ASCII: those whose two cases are one code point each at a fixed distance. */
static uint32_t change_case(uint32_t c, bool upper)
{
    if (upper) {
        if ((c >= 'a' && c <= 'z') || (c >= 0xe0 && c <= 0xfe && c != 0xf7) || (c >= 0x430 && c <= 0x44f) || (c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2)) return c - 32;
        return c >= 0x450 && c <= 0x45f ? c - 80 : c;
    }
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x410 && c <= 0x42f) || (c >= 0x391 && c <= 0x3a9 && c != 0x3a2)) return c + 32;
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}

/* The text with its case changed, in scratch of as many bytes: all these letters keep their length. */
static bool recase(struct tn_run *r, struct tn_str s, struct tn_str how, char **room, struct tn_str *out)
{
    *room = tn_run_scratch(r, s.n + 4, 1);
    if (!*room) return false;
    *out = (struct tn_str){*room, 0};
    for (size_t i = 0; i < s.n;) {
        uint32_t c;
        size_t n = tn_utf8_decode(s.s + i, s.n - i, &c);
        if (n == 0) {
            (*room)[out->n++] = s.s[i++];
            continue;
        }
        i += n;
        out->n += tn_utf8_encode(change_case(c, tn_str_is(how, "UPPER")), *room + out->n);
    }
    return true;
}

static bool is_stopped(struct tn_run *r, struct tn_str s, bool *out)
{
    size_t n;
    const struct tn_str *stop = tn_attr_texts(r->node, "stopwords", &n);
    bool exact = tn_attr_int(r->node, "is_case_sensitive", 0) != 0;
    *out = false;
    for (size_t i = 0; i < n && !*out; i++) {
        char *a, *b = NULL;
        struct tn_str p, q;
        if (exact) {
            *out = tn_str_eq(stop[i], s);
            continue;
        }
        if (!recase(r, stop[i], TN_STR("LOWER"), &a, &p)) return false;
        bool good = recase(r, s, TN_STR("LOWER"), &b, &q);
        if (good) *out = tn_str_eq(p, q);
        tn_heap_give(r->heap, a);
        tn_heap_give(r->heap, b);
        if (!good) return false;
    }
    return true;
}

static bool run_normalizer(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_str how = tn_attr_text(r->node, "case_change_action");
    struct tn_str *kept = tn_run_scratch(r, (size_t)x->count + 1, sizeof(*kept));
    int64_t n = 0, dims[2] = {1, 0};
    bool good = kept != NULL, stopped;
    for (uint64_t i = 0; good && i < x->count; i++) {
        good = is_stopped(r, tn_tensor_texts(x)[i], &stopped);
        if (good && !stopped) kept[n++] = tn_tensor_texts(x)[i];
    }
    bool flat = x->rank == 1;
    dims[flat ? 0 : 1] = n ? n : 1; /* nothing left: one empty text */
    struct tn_tensor *y = good ? tn_run_output(r, 0, TN_EL_STRING, flat ? 1 : 2, dims) : NULL;
    good = y != NULL;
    for (int64_t i = 0; good && i < n; i++) {
        char *room = NULL;
        struct tn_str s = kept[i];
        if (tn_str_is(how, "UPPER") || tn_str_is(how, "LOWER")) good = recase(r, kept[i], how, &room, &s);
        if (good && !tn_tensor_set_text(y, (size_t)i, s)) good = tn_run_no_memory(r);
        tn_heap_give(r->heap, room);
    }
    tn_heap_give(r->heap, kept);
    return good;
}

/* ---- RegexFullMatch ----------------------------------------------------------------------------------------------- */

struct expression {
    struct tn_arena arena;
    struct tn_pattern *pattern;
};

static bool infer_match(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    struct tn_type out = *t;
    out.element = TN_EL_BOOL;
    tn_out_type(x, 0, &out);
    return true;
}

static void release_match(struct tn_alloc *alloc, void *state)
{
    struct expression *e = state;
    tn_arena_release(&e->arena);
    tn_free(alloc, e);
}

static enum tn_status prepare_match(struct tn_prepare *p, void **state)
{
    const char *why;
    struct expression *e = tn_calloc(p->alloc, 1, sizeof(*e));
    if (!e) return TN_INSUFFICIENT_MEMORY;
    tn_arena_init(&e->arena, p->alloc);
    e->pattern = tn_pattern_compile(&e->arena, tn_attr_text(p->node, "pattern"), &why);
    *state = e;
    if (e->pattern) return TN_OK;
    *state = NULL;
    release_match(p->alloc, e);
    if (why) p->wrong = why;
    return why ? TN_ARTIFACT_MALFORMED : TN_INSUFFICIENT_MEMORY;
}

static bool run_match(struct tn_run *r)
{
    const struct expression *e = r->state;
    if (!e) return tn_run_refuse(r, "a regular expression", "none");
    void *room = tn_run_scratch(r, tn_pattern_room(e->pattern), 1);
    if (!room) return false;
    for (uint64_t i = 0; i < r->in[0]->count; i++) ((uint8_t *)r->out[0]->data)[i] = tn_pattern_matches(e->pattern, tn_tensor_texts(r->in[0])[i], room);
    tn_heap_give(r->heap, room);
    return true;
}

/* ---- TfIdfVectorizer ---------------------------------------------------------------------------------------------- */

static bool infer_tf_idf(struct tn_infer *x)
{
    const struct tn_shape *s;
    size_t n;
    const int64_t *places = tn_attr_ints(x->node, "ngram_indexes", &n);
    int64_t width = 0;
    for (size_t i = 0; i < n; i++) {
        if (places[i] < 0 || places[i] >= INT32_MAX) return tn_infer_refuse(x, "places that are not negative", "%lld", (long long)places[i]);
        if (places[i] + 1 > width) width = places[i] + 1;
    }
    tn_out_unknown(x, 0, TN_EL_F32);
    if (!tn_in_shape(x, 0, &s)) return true;
    if (s->rank != 1 && s->rank != 2) return tn_infer_refuse(x, "[C] or [N, C]", "rank %u", s->rank);
    tn_dim_t dims[2] = {s->dims[0], width};
    tn_out_tensor(x, 0, TN_EL_F32, s->rank, s->rank == 1 ? &dims[1] : dims);
    return true;
}

struct grams {
    const int64_t *ints, *counts, *places;
    const struct tn_str *texts;
    size_t pool, lengths, place_count;
};

static bool same_item(const struct grams *g, const struct tn_tensor *x, uint64_t i, size_t k)
{
    if (x->element == TN_EL_STRING) return g->texts && tn_str_eq(tn_tensor_texts(x)[i], g->texts[k]);
    return g->ints && tn_element_get_int(x->element, x->data, i) == g->ints[k];
}

/* Counts n-grams of length `n`, whose pool entries are [from, to), in items base .. base + row - 1. */
static void count_grams(const struct grams *g, const struct tn_tensor *x, uint64_t base, int64_t row, int64_t n, size_t from, size_t to,
                        int64_t skips, size_t first, float *out)
{
    int64_t most = n == 1 ? 0 : skips; /* a single item has nothing to skip */
    for (int64_t step = 1; step <= most + 1; step++) {
        for (int64_t at = 0; at + (n - 1) * step < row; at++) {
            for (size_t k = from; k + (size_t)n <= to; k += (size_t)n) {
                bool same = true;
                for (int64_t i = 0; same && i < n; i++) same = same_item(g, x, base + (uint64_t)(at + i * step), k + (size_t)i);
                size_t place = first + (k - from) / (size_t)n;
                if (same && place < g->place_count) out[g->places[place]] += 1;
            }
        }
    }
}

static bool run_tf_idf(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    struct grams g = {0};
    size_t strings, weight_count;
    g.ints = tn_attr_ints(r->node, "pool_int64s", &g.pool);
    g.texts = tn_attr_texts(r->node, "pool_strings", &strings);
    g.counts = tn_attr_ints(r->node, "ngram_counts", &g.lengths);
    g.places = tn_attr_ints(r->node, "ngram_indexes", &g.place_count);
    if (g.texts) g.pool = strings;
    const float *weights = tn_attr_floats(r->node, "weights", &weight_count);
    int64_t least = tn_attr_int(r->node, "min_gram_length", 1), longest = tn_attr_int(r->node, "max_gram_length", 1);
    int64_t skips = tn_attr_int(r->node, "max_skip_count", 0), row = x->rank ? x->dims[x->rank - 1] : 0;
    struct tn_str mode = tn_attr_text(r->node, "mode");
    uint64_t width = (uint64_t)y->dims[y->rank - 1], batches = x->rank == 2 ? (uint64_t)x->dims[0] : 1;
    memset(y->data, 0, y->bytes);
    if (skips < 0 || skips > row) skips = skips < 0 ? 0 : row;
    for (uint64_t b = 0; b < batches; b++) {
        float *out = (float *)y->data + b * width;
        size_t first = 0;
        for (size_t k = 0; k < g.lengths; k++) {
            int64_t n = (int64_t)k + 1;
            size_t from = (size_t)g.counts[k], to = k + 1 < g.lengths ? (size_t)g.counts[k + 1] : g.pool;
            if (g.counts[k] < 0 || from > to || to > g.pool) return tn_run_refuse(r, "counts that rise inside the pool", "%lld", (long long)g.counts[k]);
            if (n >= least && n <= longest) count_grams(&g, x, b * (uint64_t)row, row, n, from, to, skips, first, out);
            first += (to - from) / (size_t)n;
        }
        for (size_t k = 0; k < g.place_count; k++) {
            float *v = &out[g.places[k]];
            float weight = weights && k < weight_count ? weights[k] : 1;
            if (tn_str_is(mode, "IDF")) *v = *v > 0 ? weight : 0;
            if (tn_str_is(mode, "TFIDF")) *v *= weight;
        }
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "StringConcat", .since = 20, .infer = infer_concat, .run = run_concat},
    {.name = "StringSplit", .since = 20, .infer = infer_split, .run = run_split},
    {.name = "StringNormalizer", .since = 10, .infer = infer_normalizer, .run = run_normalizer},
    {.name = "RegexFullMatch", .since = 20, .infer = infer_match, .run = run_match, .prepare = prepare_match, .release = release_match},
    {.name = "TfIdfVectorizer", .since = 9, .infer = infer_tf_idf, .run = run_tf_idf},
};

const struct tn_operators tn_ops_text = {rows, sizeof(rows) / sizeof(rows[0])};
