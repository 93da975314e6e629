/* Scaled dot-product attention: what the operators that compute it share. */
#ifndef TN_OPS_ATTENTION_H
#define TN_OPS_ATTENTION_H

#include "ops/real.h"

/* Rows of heads in a tensor: element (batch, head, row) begins at the sum of the products. */
struct tn_heads {
    uint64_t batch, head, row;
};

struct tn_attention {
    uint64_t batch, q_heads, kv_heads, q_rows, kv_rows, size, v_size; /* sizes of one head */
    struct tn_heads q_at, k_at, v_at, y_at;
    const void *q, *k, *v; /* in the type that computes */
    void *y;               /* NULL: only the scores */
    double scale, softcap; /* softcap 0: none */
    bool causal;
    int64_t left, right;   /* window; -1: open */
    int64_t before;        /* keys before the first query's own */
    const int64_t *valid;  /* [batch] keys that are no padding, also the end of the queries unless `before` is given; NULL: all */
    bool from_valid;       /* queries end where the valid keys end */
    const uint8_t *allow;  /* a bool mask; or */
    const void *add;       /* an additive one; both NULL: none */
    uint64_t mask_step[3]; /* batch, head, row; keys are side by side */
    uint64_t mask_keys;    /* keys beyond are not seen */
    void *scores;          /* [batch, q_heads, q_rows, kv_rows], after the stage; NULL: not wanted */
    int stage;             /* 0 products, 1 capped, 2 with the mask, 3 probabilities */
};

/* All heads, by all threads; `wide`: in double. False with the failure set. */
bool tn_attention_run(struct tn_run *r, const struct tn_attention *a, bool wide);

#endif
