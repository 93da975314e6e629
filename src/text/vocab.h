/*
 * Vocabulary: token text <-> id, over one string pool and flat arrays (no allocation per token). Ids may be any u32 and
 * sparse: memory follows the number of entries, never an id. Built from untrusted files; immutable once sealed.
 */
#ifndef TN_TEXT_VOCAB_H
#define TN_TEXT_VOCAB_H

#include "base/error.h"

struct tn_vocab_slot {
    uint32_t tag;   /* low half of the hash */
    uint32_t entry; /* index + 1; 0: free */
};

struct tn_vocab {
    struct tn_alloc *alloc;
    char *pool;
    uint32_t *begin; /* entry i is pool[begin[i], begin[i + 1]) */
    uint32_t *ids;
    uint32_t count, cap;
    size_t pool_cap;
    struct tn_vocab_slot *slots;
    unsigned slot_bits;
    uint64_t seed;
    /* After tn_vocab_seal: id -> entry, dense when ids are, else sorted by id. */
    uint32_t *by_id;
    uint32_t by_id_count;
    bool dense;
    uint32_t max_id;
    size_t longest; /* bytes of the longest token */
};

enum { TN_NO_ENTRY = UINT32_MAX };

/* The running hash of a token's bytes; prefixes share work. */
static inline uint64_t tn_vocab_hash_step(uint64_t h, unsigned char byte)
{
    return (h ^ byte) * UINT64_C(0x9FB21C651E98DF25);
}

static inline uint64_t tn_vocab_hash(uint64_t h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) h = tn_vocab_hash_step(h, (unsigned char)s[i]);
    return h;
}

void tn_vocab_init(struct tn_vocab *v, struct tn_alloc *alloc);
void tn_vocab_release(struct tn_vocab *v);
/* Room for `entries` tokens of `bytes` bytes together: both counts come from what was read. */
enum tn_status tn_vocab_reserve(struct tn_vocab *v, size_t entries, size_t bytes);
/* Adds a token, or gives an existing one the id when `replace`; *entry is its index, v->count - 1 when it is new. */
enum tn_status tn_vocab_add(struct tn_vocab *v, struct tn_str token, uint32_t id, bool replace, uint32_t *entry);
/* Builds the way back. Two tokens with one id: TN_ARTIFACT_MALFORMED and *clash names their entries. */
enum tn_status tn_vocab_seal(struct tn_vocab *v, uint32_t clash[2]);

/* Entry of the token whose bytes are s[0, n) and whose hash from v->seed is h, or TN_NO_ENTRY. */
static inline uint32_t tn_vocab_find(const struct tn_vocab *v, uint64_t h, const char *s, size_t n)
{
    size_t mask = ((size_t)1 << v->slot_bits) - 1;
    for (size_t i = (size_t)(h >> (64 - v->slot_bits));; i = (i + 1) & mask) {
        uint32_t entry = v->slots[i].entry;
        if (entry == 0) return TN_NO_ENTRY;
        if (v->slots[i].tag != (uint32_t)h) continue;
        uint32_t begin = v->begin[entry - 1];
        if (v->begin[entry] - begin == n && __builtin_memcmp(v->pool + begin, s, n) == 0) return entry - 1;
    }
}

static inline struct tn_str tn_vocab_entry(const struct tn_vocab *v, uint32_t entry)
{
    return (struct tn_str){v->pool + v->begin[entry], v->begin[entry + 1] - v->begin[entry]};
}

/* Entry of an id, or TN_NO_ENTRY; after tn_vocab_seal. */
uint32_t tn_vocab_entry_of(const struct tn_vocab *v, uint32_t id);
bool tn_vocab_id(const struct tn_vocab *v, struct tn_str token, uint32_t *id);
struct tn_str tn_vocab_token(const struct tn_vocab *v, uint32_t id); /* .s NULL: none */

#endif
