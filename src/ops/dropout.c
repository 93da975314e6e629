/*
 * Dropout: nothing is dropped but in training mode. Then what is dropped follows from the seed alone, by the generator of
 * the standard's own test data (MT19937, Matsumoto and Nishimura 1998, doi 10.1145/272991.272995), so that a call can be
 * repeated; without a seed it is as if 0 had been given.
 */
#include "ops/op.h"

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

enum { WORDS = 624, MIDDLE = 397 };

struct twister {
    uint32_t word[WORDS];
    unsigned at;
};

static void seed(struct twister *t, uint32_t value)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        t->word[i] = value;
        value = UINT32_C(1812433253) * (value ^ value >> 30) + i + 1;
    }
    t->at = WORDS;
}

static void twist(struct twister *t)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint32_t y = (t->word[i] & UINT32_C(0x80000000)) | (t->word[(i + 1) % WORDS] & UINT32_C(0x7fffffff));
        t->word[i] = t->word[(i + MIDDLE) % WORDS] ^ y >> 1 ^ (y & 1 ? UINT32_C(0x9908b0df) : 0);
    }
    t->at = 0;
}

static uint32_t next_word(struct twister *t)
{
    if (t->at == WORDS) twist(t);
    uint32_t y = t->word[t->at++];
    y ^= y >> 11;
    y ^= y << 7 & UINT32_C(0x9d2c5680);
    y ^= y << 15 & UINT32_C(0xefc60000);
    return y ^ y >> 18;
}

/* In [0, 1), with 53 bits. */
static double next_unit(struct twister *t)
{
    uint32_t high = next_word(t) >> 5, low = next_word(t) >> 6;
    return ((double)high * 0x1p26 + (double)low) * 0x1p-53;
}

static bool run_dropout(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0], *mask = r->out_count > 1 && r->wanted[1] ? r->out[1] : NULL;
    double ratio = ratio_of(r);
    struct twister t;
    if (!(ratio >= 0 && ratio < 1)) return tn_run_refuse(r, "a ratio from 0, below 1", "another");
    if (ratio == 0) {
        if (y != x) tn_run_pass(r, 0, x);
        for (uint64_t i = 0; mask && i < mask->count; i++) tn_element_set(mask->element, mask->data, i, 1, false);
        return true;
    }
    seed(&t, (uint32_t)tn_attr_int(r->node, "seed", 0));
    for (uint64_t i = 0; i < x->count; i++) {
        bool keep = next_unit(&t) >= ratio;
        tn_element_set(y->element, y->data, i, keep ? tn_element_get(x->element, x->data, i) / (1 - ratio) : 0, true);
        if (mask) tn_element_set(mask->element, mask->data, i, keep, false);
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "Dropout", .since = 1, .infer = infer_dropout, .run = run_dropout, .lacks = lacks_dropout, .in_place = true},
};

const struct tn_operators tn_ops_dropout = {rows, sizeof(rows) / sizeof(rows[0])};
