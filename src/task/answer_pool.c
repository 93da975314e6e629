/*
 * The answers of all windows of one context. Windows overlap, and a word may occur twice: what reads the same in lower
 * case is one answer, whose scores add up and which stands where it was found first (get_answer of the pipeline).
 */
#include "task/answer.h"

#include "base/checked.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "text/unicode.h"
#include "text/unicode_regex.h"

#include <string.h>

/* ---- lower case ---------------------------------------------------------------------------------------------------------- */

enum { SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2, SMALL_SIGMA = 0x3C3 };
enum { CASED = 1u << TN_UC_LU | 1u << TN_UC_LL | 1u << TN_UC_LT,
       UNSEEN = 1u << TN_UC_MN | 1u << TN_UC_ME | 1u << TN_UC_CF | 1u << TN_UC_LM | 1u << TN_UC_SK };

/* Case_Ignorable: those categories, and punctuation that stands inside words. */
static bool is_ignorable(uint32_t c)
{
    static const uint16_t inside[] = {'\'', '.', ':', 0xB7, 0x387, 0x55F, 0x5F4, 0x2018, 0x2019, 0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55,
                                      0xFF07, 0xFF0E, 0xFF1A};
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
        if (c == inside[i]) return true;
    return tn_uc_in(c, UNSEEN);
}

static bool cased_before(struct tn_str s, size_t at)
{
    uint32_t c = 0;
    while (at > 0) {
        for (at--; at > 0 && ((unsigned char)s.s[at] & 0xC0) == 0x80; at--) continue;
        tn_utf8_decode(s.s + at, s.n - at, &c);
        if (!is_ignorable(c)) return tn_uc_in(c, CASED);
    }
    return false;
}

static bool cased_after(struct tn_str s, size_t at)
{
    uint32_t c = 0;
    while (at < s.n) {
        at += tn_utf8_decode(s.s + at, s.n - at, &c);
        if (!is_ignorable(c)) return tn_uc_in(c, CASED);
    }
    return false;
}

/* Walks a text in lower case, code point by code point. */
struct lower {
    struct tn_str s;
    size_t at, used, count;
    uint32_t image[TN_UC_MAX_IMAGE];
};

static bool lower_next(struct lower *l, uint32_t *c)
{
    if (l->used == l->count) {
        size_t begin = l->at;
        if (begin >= l->s.n) return false;
        l->at += tn_utf8_decode(l->s.s + begin, l->s.n - begin, c);
        l->used = 0;
        l->count = tn_uc_lower(*c, l->image);
        if (*c == SIGMA) l->image[0] = cased_before(l->s, begin) && !cased_after(l->s, l->at) ? FINAL_SIGMA : SMALL_SIGMA;
    }
    *c = l->image[l->used++];
    return true;
}

bool tn_answer_same_text(struct tn_str a, struct tn_str b)
{
    struct lower one = {.s = a}, two = {.s = b};
    uint32_t c = 0, d = 0;
    for (;;) {
        bool more = lower_next(&one, &c);
        if (more != lower_next(&two, &d)) return false;
        if (!more) return true;
        if (c != d) return false;
    }
}

/* FNV-1a over the code points. */
static uint32_t hash_of(struct tn_str s)
{
    struct lower l = {.s = s};
    uint32_t h = 2166136261u, c = 0;
    while (lower_next(&l, &c)) h = (h ^ c) * 16777619u;
    return h;
}

/* ---- the pool ------------------------------------------------------------------------------------------------------------ */

enum { FIRST_ENTRIES = 64 };

void tn_answer_pool_init(struct tn_answer_pool *pool, struct tn_alloc *alloc)
{
    *pool = (struct tn_answer_pool){.alloc = alloc};
}

void tn_answer_pool_release(struct tn_answer_pool *pool)
{
    if (!pool->alloc) return;
    tn_free(pool->alloc, pool->entries);
    tn_free(pool->alloc, pool->slots);
    tn_answer_pool_init(pool, pool->alloc);
}

void tn_answer_pool_clear(struct tn_answer_pool *pool)
{
    if (pool->slots) memset(pool->slots, 0, pool->slot_count * sizeof(*pool->slots));
    pool->count = 0;
}

static size_t free_slot(const struct tn_answer_pool *pool, uint32_t hash)
{
    size_t i = hash & (pool->slot_count - 1);
    while (pool->slots[i]) i = (i + 1) & (pool->slot_count - 1);
    return i;
}

/* Room for one more entry, and slots twice as many. */
static bool grow(struct tn_answer_pool *pool)
{
    size_t cap = pool->cap ? 2 * pool->cap : FIRST_ENTRIES, bytes;
    if (pool->count < pool->cap) return true;
    if (cap >= UINT32_MAX / 2 || !tn_mul(cap, sizeof(*pool->entries), &bytes)) return false;
    struct tn_answer_entry *entries = tn_realloc(pool->alloc, pool->entries, bytes);
    if (!entries) return false;
    pool->entries = entries;
    uint32_t *slots = tn_calloc(pool->alloc, 2 * cap, sizeof(*slots));
    if (!slots) return false;
    tn_free(pool->alloc, pool->slots);
    pool->slots = slots;
    pool->slot_count = 2 * cap;
    pool->cap = cap;
    for (size_t i = 0; i < pool->count; i++) pool->slots[free_slot(pool, entries[i].hash)] = (uint32_t)i + 1;
    return true;
}

static struct tn_str text_of(struct tn_str context, const struct tn_answer_entry *e)
{
    return (struct tn_str){context.s + e->begin, e->end - e->begin};
}

bool tn_answer_pool_add(struct tn_answer_pool *pool, struct tn_str context, uint32_t begin, uint32_t end, double score)
{
    struct tn_answer_entry entry = {score, begin, end, (uint32_t)pool->count, 0};
    struct tn_str text = text_of(context, &entry);
    entry.hash = hash_of(text);
    if (!grow(pool)) return false;
    size_t i = entry.hash & (pool->slot_count - 1);
    for (; pool->slots[i]; i = (i + 1) & (pool->slot_count - 1)) {
        struct tn_answer_entry *known = &pool->entries[pool->slots[i] - 1];
        if (known->hash != entry.hash || !tn_answer_same_text(text_of(context, known), text)) continue;
        known->score += score;
        return true;
    }
    pool->slots[i] = (uint32_t)pool->count + 1;
    pool->entries[pool->count++] = entry;
    return true;
}

bool tn_answer_pool_add_none(struct tn_answer_pool *pool, double score)
{
    if (!grow(pool)) return false;
    pool->entries[pool->count++] = (struct tn_answer_entry){.score = score, .order = UINT32_MAX};
    return true;
}

static int by_score(const void *a, const void *b, void *context)
{
    const struct tn_answer_entry *x = a, *y = b;
    (void)context;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void tn_answer_pool_sort(struct tn_answer_pool *pool)
{
    tn_sort(pool->entries, pool->count, sizeof(*pool->entries), by_score, NULL);
}
