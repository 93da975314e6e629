/* Merged dimensions of broadcast operands; see the header. */
#include "ops/broadcast.h"

void tn_broadcast_init(struct tn_broadcast *b, const struct tn_tensor *out, struct tn_tensor *const *in, uint32_t count)
{
    int64_t own[TN_BROADCAST][TN_RANK], dims[TN_RANK];
    uint32_t rank = 0;
    bool repeats[TN_BROADCAST][TN_RANK];
    *b = (struct tn_broadcast){.operands = count, .rows = 1, .row = 1};
    /* dimensions of 1 fall out; neighbours that all operands walk alike become one */
    for (uint32_t i = 0; i < out->rank; i++) {
        if (out->dims[i] == 1) continue;
        bool merges = rank > 0, now[TN_BROADCAST];
        for (uint32_t k = 0; k < count; k++) {
            uint32_t missing = out->rank - in[k]->rank;
            now[k] = i < missing || in[k]->dims[i - missing] == 1;
            merges = merges && now[k] == repeats[k][rank - 1];
        }
        if (merges) {
            dims[rank - 1] *= out->dims[i];
            continue;
        }
        for (uint32_t k = 0; k < count; k++) repeats[k][rank] = now[k];
        dims[rank++] = out->dims[i];
    }
    for (uint32_t k = 0; k < count; k++) {
        int64_t step = 1;
        for (uint32_t i = rank; i-- > 0;) {
            own[k][i] = repeats[k][i] ? 0 : step;
            if (!repeats[k][i]) step *= dims[i];
        }
    }
    if (rank == 0) return;
    b->rank = rank - 1;
    b->row = (uint64_t)dims[rank - 1];
    for (uint32_t i = 0; i < b->rank; i++) {
        b->dims[i] = dims[i];
        b->rows *= (uint64_t)dims[i];
        for (uint32_t k = 0; k < count; k++) b->stride[k][i] = own[k][i];
    }
    for (uint32_t k = 0; k < count; k++) b->moves[k] = own[k][rank - 1] != 0;
}

void tn_broadcast_row(const struct tn_broadcast *b, uint64_t index, uint64_t *begin)
{
    for (uint32_t k = 0; k < b->operands; k++) begin[k] = 0;
    for (uint32_t i = b->rank; i-- > 0;) {
        uint64_t at = index % (uint64_t)b->dims[i];
        index /= (uint64_t)b->dims[i];
        for (uint32_t k = 0; k < b->operands; k++) begin[k] += at * (uint64_t)b->stride[k][i];
    }
}

struct walk {
    const struct tn_broadcast *b;
    tn_row_fn *fn;
    void *user;
};

/* Items are elements of the output: long rows are shared out as well as many short ones. */
static void walk_items(void *user, uint64_t begin, uint64_t end)
{
    const struct walk *w = user;
    uint64_t in[TN_BROADCAST], row = begin / w->b->row, at = begin % w->b->row;
    while (begin < end) {
        uint64_t n = w->b->row - at < end - begin ? w->b->row - at : end - begin;
        tn_broadcast_row(w->b, row, in);
        for (uint32_t k = 0; k < w->b->operands; k++) in[k] += w->b->moves[k] ? at : 0;
        w->fn(w->user, w->b, in, begin, n);
        begin += n;
        row++;
        at = 0;
    }
}

void tn_run_rows(struct tn_run *r, const struct tn_broadcast *b, uint64_t cost, tn_row_fn *fn, void *user)
{
    struct walk w = {b, fn, user};
    if (b->row) tn_run_items(r, b->rows * b->row, cost, walk_items, &w);
}
