/*
 * Prefix search over the pieces of a Unigram vocabulary: a trie over bytes in one flat array, level by level, so that the
 * children of a node lie side by side in the order of their bytes. Built from untrusted pieces without comparing strings:
 * time and memory follow the bytes that were read. Immutable once built; any thread may search.
 */
#ifndef TN_TEXT_PIECE_TRIE_H
#define TN_TEXT_PIECE_TRIE_H

#include "text/vocab.h"

struct tn_piece_node {
    uint32_t child; /* first of `children` nodes */
    uint32_t entry; /* of the vocabulary; TN_NO_ENTRY: no piece ends here */
    uint16_t children;
    uint8_t byte;
};

struct tn_piece_trie {
    struct tn_alloc *alloc;
    struct tn_piece_node *nodes; /* node 0 is the root */
    uint32_t count;
    uint32_t first[256]; /* children of the root; 0: none */
};

/* TN_OK, TN_INSUFFICIENT_MEMORY, or TN_RESOURCE_LIMIT beyond 2^32 nodes. Zeroed before; release in any case. */
enum tn_status tn_piece_trie_build(struct tn_piece_trie *trie, struct tn_alloc *alloc, const struct tn_vocab *v);
void tn_piece_trie_release(struct tn_piece_trie *trie);

/* The child of a node, 0: none. */
static inline uint32_t tn_piece_child(const struct tn_piece_trie *trie, uint32_t node, unsigned char byte)
{
    const struct tn_piece_node *n = &trie->nodes[node];
    uint32_t low = n->child, high = n->child + n->children;
    if (node == 0) return trie->first[byte];
    while (high - low > 8) {
        uint32_t mid = low + (high - low) / 2;
        if (trie->nodes[mid].byte <= byte) {
            low = mid;
        } else {
            high = mid;
        }
    }
    for (; low < high; low++) {
        if (trie->nodes[low].byte == byte) return low;
    }
    return 0;
}

#endif
