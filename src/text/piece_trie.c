/* Each node's pieces are one range of an order; distributing the range by the next byte makes its children. */
#include "text/piece_trie.h"

#include <string.h>

/* While building: the pieces below a node and how many bytes of them are behind it. */
struct range {
    uint32_t begin, end, depth;
};

struct builder {
    struct tn_piece_trie *trie;
    const struct tn_vocab *v;
    uint32_t *order, *spare;
    struct range *ranges;
    size_t cap;
};

static bool grow(struct builder *b)
{
    size_t cap = b->cap ? b->cap + b->cap / 2 : 1024;
    if (b->trie->count < b->cap) return true;
    struct tn_piece_node *nodes = tn_realloc(b->trie->alloc, b->trie->nodes, cap * sizeof(*nodes));
    if (!nodes) return false;
    b->trie->nodes = nodes;
    struct range *ranges = tn_realloc(b->trie->alloc, b->ranges, cap * sizeof(*ranges));
    if (!ranges) return false;
    b->ranges = ranges;
    b->cap = cap;
    return true;
}

static bool add_node(struct builder *b, unsigned char byte, uint32_t begin, uint32_t end, uint32_t depth)
{
    if (!grow(b)) return false;
    b->ranges[b->trie->count] = (struct range){begin, end, depth};
    b->trie->nodes[b->trie->count++] = (struct tn_piece_node){.entry = TN_NO_ENTRY, .byte = byte};
    return true;
}

static unsigned char byte_of(const struct builder *b, uint32_t at, uint32_t depth)
{
    return (unsigned char)tn_vocab_entry(b->v, b->order[at]).s[depth];
}

/* Few pieces: insertion. Their order among equals does not matter. */
static void sort_few(struct builder *b, struct range r)
{
    for (uint32_t i = r.begin + 1; i < r.end; i++) {
        uint32_t entry = b->order[i], k = i;
        unsigned char byte = byte_of(b, i, r.depth);
        for (; k > r.begin && byte_of(b, k - 1, r.depth) > byte; k--) b->order[k] = b->order[k - 1];
        b->order[k] = entry;
    }
}

static void sort_many(struct builder *b, struct range r)
{
    uint32_t at[257] = {0};
    for (uint32_t i = r.begin; i < r.end; i++) at[byte_of(b, i, r.depth) + 1]++;
    for (unsigned i = 0; i < 256; i++) at[i + 1] += at[i];
    for (uint32_t i = r.begin; i < r.end; i++) b->spare[at[byte_of(b, i, r.depth)]++] = b->order[i];
    memcpy(b->order + r.begin, b->spare, (r.end - r.begin) * sizeof(*b->order));
}

/* Moves the piece that ends here to the front; there is at most one. */
static bool take_end(struct builder *b, struct range *r, uint32_t *entry)
{
    for (uint32_t i = r->begin; i < r->end; i++) {
        if (tn_vocab_entry(b->v, b->order[i]).n != r->depth) continue;
        *entry = b->order[i];
        b->order[i] = b->order[r->begin];
        b->order[r->begin++] = *entry;
        return true;
    }
    return false;
}

static enum tn_status expand(struct builder *b, uint32_t node)
{
    struct range r = b->ranges[node];
    uint32_t entry, first = b->trie->count;
    if (take_end(b, &r, &entry)) b->trie->nodes[node].entry = entry;
    if (r.begin == r.end) return TN_OK;
    if (r.end - r.begin > 24) {
        sort_many(b, r);
    } else {
        sort_few(b, r);
    }
    for (uint32_t i = r.begin, to; i < r.end; i = to) {
        unsigned char byte = byte_of(b, i, r.depth);
        for (to = i + 1; to < r.end && byte_of(b, to, r.depth) == byte; to++) continue;
        if (b->trie->count == UINT32_MAX - 1) return TN_RESOURCE_LIMIT;
        if (!add_node(b, byte, i, to, r.depth + 1)) return TN_INSUFFICIENT_MEMORY;
        if (node == 0) b->trie->first[byte] = b->trie->count - 1;
    }
    b->trie->nodes[node].child = first;
    b->trie->nodes[node].children = (uint16_t)(b->trie->count - first);
    return TN_OK;
}

enum tn_status tn_piece_trie_build(struct tn_piece_trie *trie, struct tn_alloc *alloc, const struct tn_vocab *v)
{
    struct builder b = {.trie = trie, .v = v};
    *trie = (struct tn_piece_trie){.alloc = alloc};
    b.order = tn_calloc(alloc, v->count ? v->count : 1, sizeof(*b.order));
    b.spare = tn_calloc(alloc, v->count ? v->count : 1, sizeof(*b.spare));
    bool memory = b.order && b.spare && add_node(&b, 0, 0, v->count, 0);
    enum tn_status status = memory ? TN_OK : TN_INSUFFICIENT_MEMORY;
    for (uint32_t i = 0; memory && i < v->count; i++) b.order[i] = i;
    for (uint32_t node = 0; node < trie->count && !status; node++) status = expand(&b, node);
    tn_free(alloc, b.order);
    tn_free(alloc, b.spare);
    tn_free(alloc, b.ranges);
    return status;
}

void tn_piece_trie_release(struct tn_piece_trie *trie)
{
    if (!trie->alloc) return;
    tn_free(trie->alloc, trie->nodes);
    *trie = (struct tn_piece_trie){.alloc = trie->alloc};
}
