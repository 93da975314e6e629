/*
 * Workspaces: all memory that running a piece needs, in one block per thread, allocated at load. So a call allocates
 * nothing, and the memory estimate is the sum of these very sizes.
 */
#include "provider/native/native.h"

#include "base/checked.h"

/* Walks the parts of a block: with base NULL it only measures. */
struct layout {
    char *base;
    size_t at;
    bool overflow;
};

static void *take(struct layout *l, uint64_t count, size_t size)
{
    size_t bytes, end;
    if (count > SIZE_MAX || !tn_mul((size_t)count, size, &bytes) || !tn_round_up(bytes, 64, &bytes) ||
        !tn_add(l->at, bytes, &end)) {
        l->overflow = true;
        return NULL;
    }
    void *p = l->base ? l->base + l->at : NULL;
    l->at = end;
    return p;
}

static void lay_out(struct layout *l, const struct tn_native_program *program, struct tn_workspace *w)
{
    uint64_t rows = program->piece_rows;
    float **slots = take(l, program->plan.slot_count, sizeof(float *));
    for (uint32_t s = 0; s < program->plan.slot_count; s++) {
        uint64_t floats, most = program->plan.slots[s].dim == TN_DIM_PICKS ? TN_PICK_ROWS : rows;
        if (!tn_mul64(most, program->plan.slots[s].width, &floats)) l->overflow = true;
        float *slot = l->overflow ? NULL : take(l, floats, sizeof(float));
        if (slots) slots[s] = slot;
    }
    w->slots = slots;
    w->ids = take(l, rows, sizeof(int32_t));
    w->types = take(l, rows, sizeof(int32_t));
    w->positions = take(l, rows, sizeof(int32_t));
    w->offsets = take(l, rows + 1, sizeof(int32_t));
    w->spans = take(l, rows, sizeof(struct tn_span));
    w->sequences = take(l, rows, sizeof(uint32_t));
    w->picks = take(l, rows, sizeof(int32_t));
    w->pick_of = take(l, rows, sizeof(uint32_t));
    w->pick_to = take(l, rows, sizeof(uint32_t));
    w->finite = take(l, rows, sizeof(uint8_t));
}

bool tn_workspace_bytes(const struct tn_native_program *program, size_t *bytes)
{
    struct layout l = {0};
    struct tn_workspace ignored;
    lay_out(&l, program, &ignored);
    *bytes = l.at;
    return !l.overflow;
}

enum tn_status tn_workspace_new(const struct tn_native_program *program, struct tn_alloc *alloc,
                                struct tn_workspace *out)
{
    size_t bytes;
    *out = (struct tn_workspace){0};
    if (!tn_workspace_bytes(program, &bytes)) return TN_RESOURCE_LIMIT;
    void *block = tn_malloc_aligned(alloc, bytes, 64);
    if (!block) return TN_INSUFFICIENT_MEMORY;
    struct layout l = {.base = block};
    lay_out(&l, program, out);
    out->block = block;
    return TN_OK;
}

void tn_workspace_release(struct tn_workspace *w, struct tn_alloc *alloc)
{
    tn_free(alloc, w->block);
    *w = (struct tn_workspace){0};
}
