/*
 * Dropout: nothing is dropped but in training mode. Then what is dropped follows from the seed alone (SplitMix64, Steele et
 * al. 2014), so that a call can be repeated; without a seed it is as if 0 had been given.
 */
#include "ops/op.h"

#include <string.h>

static bool infer_dropout(struct tn_infer *t)
{
    const struct tn_type *x = tn_in_type(t, 0);
    enum tn_element mask = t->node->version >= 10 ? TN_EL_BOOL : x ? x->element : TN_EL_NONE;
    const struct tn_shape *s;
    tn_infer_same(t);
    if (tn_in_shape(t, 0, &s)) tn_out_tensor(t, 1, mask, s->rank, s->dims);
    else tn_out_unknown(t, 1, mask);
    return true;
}

static const char *lacks_dropout(const struct tn_node *node)
{
    return node->version < 7 && tn_attr_int(node, "is_test", 0) == 0 ? "is_test 0: training of the first versions" : NULL;
}

static double ratio_of(const struct tn_run *r)
{
    const struct tn_tensor *ratio = r->in_count > 1 ? r->in[1] : NULL, *training = r->in_count > 2 ? r->in[2] : NULL;
    if (!training || !training->count || !tn_element_get_int(training->element, training->data, 0)) return 0;
    return ratio && ratio->count ? tn_element_get(ratio->element, ratio->data, 0) : 0.5;
}

static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool run_dropout(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0], *mask = r->out_count > 1 && r->wanted[1] ? r->out[1] : NULL;
    double ratio = ratio_of(r);
    uint64_t state = (uint64_t)tn_attr_int(r->node, "seed", 0);
    if (!(ratio >= 0 && ratio < 1)) return tn_run_refuse(r, "a ratio from 0, below 1", "another");
    if (ratio == 0) {
        if (y != x) tn_run_pass(r, 0, x);
        for (uint64_t i = 0; mask && i < mask->count; i++) tn_element_set(mask->element, mask->data, i, 1, false);
        return true;
    }
    for (uint64_t i = 0; i < x->count; i++) {
        bool keep = (double)(mix(&state) >> 11) * 0x1p-53 >= ratio;
        tn_element_set(y->element, y->data, i, keep ? tn_element_get(x->element, x->data, i) / (1 - ratio) : 0, true);
        if (mask) tn_element_set(mask->element, mask->data, i, keep, false);
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "Dropout", .since = 1, .infer = infer_dropout, .run = run_dropout, .lacks = lacks_dropout, .in_place = true},
};

const struct tn_operators tn_ops_dropout = {rows, sizeof(rows) / sizeof(rows[0])};
