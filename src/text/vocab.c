/*
 * Open addressing over a string pool. The file is hostile: it may choose keys that collide, so an insertion that walks
 * too far starts over with another seed, and gives up with an error instead of becoming quadratic.
 */
#include "text/vocab.h"

#include "base/checked.h"

#include <string.h>

enum { LONGEST_WALK = 2048, SEEDS = 8 };

void tn_vocab_init(struct tn_vocab *v, struct tn_alloc *alloc)
{
    *v = (struct tn_vocab){.alloc = alloc, .seed = UINT64_C(0x243F6A8885A308D3)};
}

void tn_vocab_release(struct tn_vocab *v)
{
    if (!v->alloc) return;
    tn_free(v->alloc, v->pool);
    tn_free(v->alloc, v->begin);
    tn_free(v->alloc, v->ids);
    tn_free(v->alloc, v->slots);
    tn_free(v->alloc, v->by_id);
    tn_vocab_init(v, v->alloc);
}

static bool resize(struct tn_alloc *alloc, void *array, size_t count, size_t size)
{
    void **at = array;
    size_t bytes;
    if (!tn_mul(count, size, &bytes)) return false;
    void *p = tn_realloc(alloc, *at, bytes);
    if (!p) return false;
    *at = p;
    return true;
}

/* Where h may go: the slot that holds the token, or the first free one; SIZE_MAX when the walk is too long. */
static size_t place(const struct tn_vocab *v, uint64_t h, struct tn_str token)
{
    size_t mask = ((size_t)1 << v->slot_bits) - 1;
    size_t i = (size_t)(h >> (64 - v->slot_bits));
    for (size_t walked = 0; walked < LONGEST_WALK; walked++, i = (i + 1) & mask) {
        uint32_t entry = v->slots[i].entry;
        if (entry == 0) return i;
        if (v->slots[i].tag == (uint32_t)h && tn_str_eq(tn_vocab_entry(v, entry - 1), token)) return i;
    }
    return SIZE_MAX;
}

static bool place_all(struct tn_vocab *v)
{
    memset(v->slots, 0, sizeof(*v->slots) << v->slot_bits);
    for (uint32_t i = 0; i < v->count; i++) {
        struct tn_str token = tn_vocab_entry(v, i);
        uint64_t h = tn_vocab_hash(v->seed, token.s, token.n);
        size_t at = place(v, h, token);
        if (at == SIZE_MAX) return false;
        v->slots[at] = (struct tn_vocab_slot){(uint32_t)h, i + 1};
    }
    return true;
}

static uint64_t next_seed(uint64_t seed)
{
    return seed * UINT64_C(0xD1342543DE82EF95) + 1;
}

static enum tn_status rehash(struct tn_vocab *v, unsigned bits)
{
    if (bits > 31) return TN_RESOURCE_LIMIT;
    struct tn_vocab_slot *slots = tn_malloc(v->alloc, sizeof(*slots) << bits);
    if (!slots) return TN_INSUFFICIENT_MEMORY;
    tn_free(v->alloc, v->slots);
    v->slots = slots;
    v->slot_bits = bits;
    for (int i = 0; i < SEEDS; i++) {
        if (place_all(v)) return TN_OK;
        v->seed = next_seed(v->seed);
    }
    return TN_RESOURCE_LIMIT;
}

enum tn_status tn_vocab_reserve(struct tn_vocab *v, size_t entries, size_t bytes)
{
    size_t cap, pool;
    if (!tn_add(v->count, entries, &cap) || cap >= UINT32_MAX / 4) return TN_RESOURCE_LIMIT;
    size_t used = v->count ? v->begin[v->count] : 0;
    if (!tn_add(used, bytes, &pool) || pool >= UINT32_MAX) return TN_RESOURCE_LIMIT;
    if (cap > v->cap || !v->begin) {
        bool fresh = !v->begin;
        if (!resize(v->alloc, &v->begin, cap + 1, sizeof(*v->begin))) return TN_INSUFFICIENT_MEMORY;
        if (fresh) v->begin[0] = 0;
        if (!resize(v->alloc, &v->ids, cap, sizeof(*v->ids))) return TN_INSUFFICIENT_MEMORY;
        v->cap = (uint32_t)cap;
    }
    if (pool > v->pool_cap) {
        if (!resize(v->alloc, &v->pool, pool, 1)) return TN_INSUFFICIENT_MEMORY;
        v->pool_cap = pool;
    }
    unsigned bits = v->slot_bits ? v->slot_bits : 4;
    while (((size_t)1 << bits) < cap + cap / 2 + 1) bits++;
    return bits == v->slot_bits ? TN_OK : rehash(v, bits);
}

enum tn_status tn_vocab_add(struct tn_vocab *v, struct tn_str token, uint32_t id, bool replace, uint32_t *entry)
{
    size_t used = v->count ? v->begin[v->count] : 0;
    if (v->count == v->cap || token.n > v->pool_cap - used) {
        size_t more = used / 2 + token.n + 64;
        enum tn_status status = tn_vocab_reserve(v, v->count / 2 + 16, more);
        if (status) return status;
    }
    uint64_t h = tn_vocab_hash(v->seed, token.s, token.n);
    size_t at = place(v, h, token);
    for (int i = 0; at == SIZE_MAX && i < SEEDS; i++) {
        v->seed = next_seed(v->seed);
        enum tn_status status = rehash(v, v->slot_bits);
        if (status) return status;
        h = tn_vocab_hash(v->seed, token.s, token.n);
        at = place(v, h, token);
    }
    if (at == SIZE_MAX) return TN_RESOURCE_LIMIT;
    if (v->slots[at].entry) {
        *entry = v->slots[at].entry - 1;
        if (replace) v->ids[*entry] = id;
        return TN_OK;
    }
    *entry = v->count;
    memcpy(v->pool + used, token.s, token.n);
    v->ids[v->count] = id;
    v->begin[v->count + 1] = (uint32_t)(used + token.n);
    v->slots[at] = (struct tn_vocab_slot){(uint32_t)h, ++v->count};
    if (token.n > v->longest) v->longest = token.n;
    return TN_OK;
}

/* Ids close to their count index an array; false on a clash. */
static bool seal_dense(struct tn_vocab *v, uint32_t clash[2])
{
    memset(v->by_id, 0xFF, v->by_id_count * sizeof(*v->by_id));
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t *entry = &v->by_id[v->ids[i]];
        if (*entry != TN_NO_ENTRY) {
            clash[0] = *entry;
            clash[1] = i;
            return false;
        }
        *entry = i;
    }
    return true;
}

/* One pass of a radix sort by the byte at `shift`. */
static void sort_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift)
{
    uint32_t at[257] = {0};
    for (uint32_t i = 0; i < n; i++) at[(from[i] >> shift & 0xFF) + 1]++;
    for (int i = 0; i < 256; i++) at[i + 1] += at[i];
    for (uint32_t i = 0; i < n; i++) to[at[from[i] >> shift & 0xFF]++] = from[i];
}

static enum tn_status seal_sparse(struct tn_vocab *v, uint32_t clash[2])
{
    uint64_t *pairs = tn_calloc(v->alloc, (size_t)v->count * 2, sizeof(*pairs));
    if (!pairs) return TN_INSUFFICIENT_MEMORY;
    uint64_t *other = pairs + v->count;
    for (uint32_t i = 0; i < v->count; i++) pairs[i] = (uint64_t)v->ids[i] << 32 | i;
    for (unsigned shift = 32; shift < 64; shift += 16) {
        sort_pass(pairs, other, v->count, shift);
        sort_pass(other, pairs, v->count, shift + 8);
    }
    enum tn_status status = TN_OK;
    for (uint32_t i = 0; i < v->count; i++) {
        v->by_id[i] = (uint32_t)pairs[i];
        if (i && pairs[i] >> 32 == pairs[i - 1] >> 32) {
            clash[0] = (uint32_t)pairs[i - 1];
            clash[1] = (uint32_t)pairs[i];
            status = TN_ARTIFACT_MALFORMED;
            break;
        }
    }
    tn_free(v->alloc, pairs);
    return status;
}

enum tn_status tn_vocab_seal(struct tn_vocab *v, uint32_t clash[2])
{
    v->max_id = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        if (v->ids[i] > v->max_id) v->max_id = v->ids[i];
    }
    v->dense = v->max_id < (uint64_t)v->count * 4 + 1024;
    v->by_id_count = v->dense ? v->max_id + 1 : v->count;
    tn_free(v->alloc, v->by_id);
    v->by_id = tn_calloc(v->alloc, v->by_id_count, sizeof(*v->by_id));
    if (!v->by_id) return TN_INSUFFICIENT_MEMORY;
    if (!v->dense) return seal_sparse(v, clash);
    return seal_dense(v, clash) ? TN_OK : TN_ARTIFACT_MALFORMED;
}

bool tn_vocab_id(const struct tn_vocab *v, struct tn_str token, uint32_t *id)
{
    if (!v->slots) return false;
    uint32_t entry = tn_vocab_find(v, tn_vocab_hash(v->seed, token.s, token.n), token.s, token.n);
    if (entry == TN_NO_ENTRY) return false;
    *id = v->ids[entry];
    return true;
}

uint32_t tn_vocab_entry_of(const struct tn_vocab *v, uint32_t id)
{
    if (v->dense) return id < v->by_id_count ? v->by_id[id] : TN_NO_ENTRY;
    uint32_t low = 0, high = v->by_id_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        uint32_t found = v->ids[v->by_id[mid]];
        if (found == id) return v->by_id[mid];
        if (found < id) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return TN_NO_ENTRY;
}

struct tn_str tn_vocab_token(const struct tn_vocab *v, uint32_t id)
{
    uint32_t entry = tn_vocab_entry_of(v, id);
    return entry == TN_NO_ENTRY ? (struct tn_str){0} : tn_vocab_entry(v, entry);
}
