/*
 * Words that were tokenized before, in the caller's scratch: one cache line each, a word's place is its hash, the newest
 * word takes it. Bounded by construction; nearly all words of running text are found.
 */
#ifndef TN_TEXT_WORD_CACHE_H
#define TN_TEXT_WORD_CACHE_H

#include "text/internal.h"

#include <string.h>

/* memcmp for the few bytes of a word, without a call: two loads that may overlap, or four. */
static inline bool tn_same_bytes(const char *a, const char *b, size_t n)
{
    uint64_t x, y, z, w;
    uint32_t p, q, r, s;
    if (n >= 8) {
        for (size_t i = 0; i + 8 < n; i += 8) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y) return false;
        }
        memcpy(&z, a + n - 8, 8);
        memcpy(&w, b + n - 8, 8);
        return z == w;
    }
    if (n >= 4) {
        memcpy(&p, a, 4);
        memcpy(&q, b, 4);
        memcpy(&r, a + n - 4, 4);
        memcpy(&s, b + n - 4, 4);
        return ((p ^ q) | (r ^ s)) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

/* The only place where the word may be; s->cache is not NULL. */
static inline struct tn_cached_word *tn_cache_place(const struct tn_text_scratch *s, uint64_t hash)
{
    return &s->cache[hash >> (64 - s->cache_bits)];
}

/* `kind` keeps apart words of two forms that share a cache; below 4. */
static inline bool tn_cache_holds(const struct tn_cached_word *slot, uint64_t hash, const char *word, size_t n,
                                  unsigned kind)
{
    return slot->tag == (uint32_t)hash && slot->bytes == (n | kind << 6) && tn_same_bytes(slot->word, word, n);
}

static inline void tn_cache_put(struct tn_cached_word *slot, uint64_t hash, const char *word, size_t n, unsigned kind,
                                const uint32_t *ids, const uint8_t *ends, size_t pieces)
{
    slot->tag = (uint32_t)hash;
    slot->bytes = (uint8_t)(n | kind << 6);
    slot->pieces = (uint8_t)pieces;
    memcpy(slot->ids, ids, pieces * sizeof(*ids));
    memcpy(slot->ends, ends, pieces);
    memcpy(slot->word, word, n);
}

/* Appends one token of s->word[from, to); there is room. */
static inline void tn_word_push(const struct tn_text_scratch *s, struct tn_token_list *list, uint32_t id, size_t from,
                                size_t to, bool by_table, uint32_t base)
{
    size_t k = list->count++;
    list->ids[k] = id;
    if (list->want_offsets) {
        list->offsets[k][0] = by_table ? s->word_offsets[from][0] : base + (uint32_t)from;
        list->offsets[k][1] = by_table ? s->word_offsets[to - 1][1] : base + (uint32_t)to;
    }
    if (list->want_blanks) list->blanks[k][0] = TN_BLANKS_OF_TOKEN;
}

/* Appends the pieces of a remembered word; there is room for TN_CACHE_PIECES. */
static inline void tn_cache_push(const struct tn_text_scratch *s, struct tn_token_list *list,
                                 const struct tn_cached_word *slot, bool by_table, uint32_t base)
{
    if (!list->want_offsets && !list->want_blanks) {
        for (size_t i = 0; i < slot->pieces; i++) list->ids[list->count++] = slot->ids[i];
        return;
    }
    for (size_t i = 0, from = 0; i < slot->pieces; i++) {
        tn_word_push(s, list, slot->ids[i], from, slot->ends[i], by_table, base);
        from = slot->ends[i];
    }
}

#endif
