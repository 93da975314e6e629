/* Packing of sequences into one invocation. Sizes were checked by whoever allocated the batch. */
#include "task/task.h"

#include <string.h>

void tn_batch_clear(struct tn_batch *batch)
{
    batch->rows = batch->sequences = 0;
    batch->offsets[0] = 0;
    if (batch->max_picks) batch->pick_offsets[0] = 0;
}

void tn_batch_cut(struct tn_batch *batch, uint32_t first)
{
    batch->sequences = first;
    batch->rows = (uint32_t)batch->offsets[first];
}

bool tn_batch_pick(struct tn_batch *batch, uint32_t token)
{
    int32_t *end = &batch->pick_offsets[batch->sequences];
    if (!batch->max_picks || (uint32_t)*end == batch->max_picks) return false;
    batch->picks[(*end)++] = (int32_t)token;
    return true;
}

float *tn_batch_result(const struct tn_batch *batch, uint32_t sequence, uint32_t *rows)
{
    const int32_t *offsets = batch->max_picks ? batch->pick_offsets : batch->by_row ? batch->offsets : NULL;
    uint32_t first = offsets ? (uint32_t)offsets[sequence] : sequence;
    *rows = offsets ? (uint32_t)offsets[sequence + 1] - first : 1;
    return batch->out + (size_t)first * batch->width;
}

bool tn_batch_add(struct tn_batch *batch, size_t item, const uint32_t *ids, const uint32_t *type_ids, uint32_t count,
                  struct tn_span span)
{
    return tn_batch_add_filled(batch, item, ids, type_ids, count, 0, count, span);
}

bool tn_batch_add_filled(struct tn_batch *batch, size_t item, const uint32_t *ids, const uint32_t *type_ids, uint32_t count,
                         uint32_t filler, uint32_t total, struct tn_span span)
{
    uint32_t at = batch->rows, s = batch->sequences;
    if (s == batch->max_sequences || total > batch->max_rows - at) return false;
    for (uint32_t i = 0; i < count; i++) {
        batch->ids[at + i] = (int32_t)ids[i];
        batch->type_ids[at + i] = type_ids ? (int32_t)type_ids[i] : 0;
    }
    for (uint32_t i = count; i < total; i++) {
        batch->ids[at + i] = (int32_t)filler;
        batch->type_ids[at + i] = 0;
    }
    span.first += (int32_t)at;
    batch->spans[s] = span;
    batch->items[s] = item;
    batch->rows = at + total;
    batch->sequences = s + 1;
    batch->offsets[s + 1] = (int32_t)batch->rows;
    if (batch->max_picks) batch->pick_offsets[s + 1] = batch->pick_offsets[s];
    return true;
}
