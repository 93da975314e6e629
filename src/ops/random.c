/*
 * Random numbers: RandomUniform, RandomNormal, those of a given shape, Bernoulli, Multinomial. The standard leaves the
 * generator open. Ours is Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), counted by the
 * place of the element: results do not depend on threads, and an execution is a function of its operands. The key is the
 * seed; without one it is made from the name of the node (or its place in the file), so that two nodes differ and two executions do not.
 */
#include "ops/op.h"

#include "base/buf.h"

#include <math.h>
#include <string.h>

/* ---- generator ---------------------------------------------------------------------------------------------------- */

struct generator {
    uint32_t key[2];
};

static struct generator generator_of(const struct tn_node *node)
{
    struct generator g = {{0, 0}};
    const struct tn_attr *seed = tn_node_attr(node, "seed");
    if (seed) {
        float f = (float)tn_attr_float(node, "seed", 0);
        memcpy(&g.key[0], &f, sizeof(f));
        return g;
    }
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    h ^= node->name.n ? 0 : node->at;
    for (size_t i = 0; i < node->name.n; i++) h = (h ^ (unsigned char)node->name.s[i]) * UINT64_C(0x100000001b3);
    g.key[0] = (uint32_t)h;
    g.key[1] = (uint32_t)(h >> 32) | 1;
    return g;
}

/* Four words for a place. */
static void draw(const struct generator *g, uint64_t place, uint32_t out[4])
{
    uint32_t k0 = g->key[0], k1 = g->key[1], c[4] = {(uint32_t)place, (uint32_t)(place >> 32), 0, 0};
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)UINT32_C(0xD2511F53) * c[0], b = (uint64_t)UINT32_C(0xCD9E8D57) * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof(c));
        k0 += UINT32_C(0x9E3779B9);
        k1 += UINT32_C(0xBB67AE85);
    }
    memcpy(out, c, sizeof(c));
}

/* In [0, 1), with as many bits as a float32 has: rounding does not reach 1. Double takes 53. */
static double unit(const uint32_t w[4], bool wide)
{
    if (!wide) return (double)(w[0] >> 8) * 0x1p-24;
    return (double)(((uint64_t)w[0] << 32 | w[1]) >> 11) * 0x1p-53;
}

/* Box and Muller (1958). */
static double normal(const uint32_t w[4])
{
    double u = (double)((((uint64_t)w[0] << 32 | w[1]) >> 11) + 1) * 0x1p-53, v = (double)(((uint64_t)w[2] << 32 | w[3]) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.28318530717958647692 * v);
}

/* ---- uniform, normal, Bernoulli ------------------------------------------------------------------------------------ */

static bool infer_shaped(struct tn_infer *x)
{
    size_t rank;
    const int64_t *shape = tn_attr_ints(x->node, "shape", &rank);
    tn_dim_t dims[TN_RANK];
    if (rank > TN_RANK) return tn_infer_refuse(x, "at most 8 dimensions", "%zu", rank);
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] < 0) return tn_infer_refuse(x, "a shape of numbers from 0", "%lld", (long long)shape[i]);
        dims[i] = shape[i];
    }
    tn_out_tensor(x, 0, (enum tn_element)tn_attr_int(x->node, "dtype", TN_EL_F32), (uint32_t)rank, dims);
    return true;
}

static bool infer_like(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    struct tn_type out = *t;
    out.element = (enum tn_element)tn_attr_int(x->node, "dtype", t->element);
    bool bernoulli = tn_str_is(x->node->type, "Bernoulli");
    if (!bernoulli && !(TN_ELS_FLOAT >> out.element & 1)) return tn_infer_refuse(x, "a type of floating point", "%s", "another");
    tn_out_type(x, 0, &out);
    return true;
}

enum kind { UNIFORM, NORMAL, BERNOULLI };

struct job {
    struct generator g;
    enum kind kind;
    double a, b; /* low and width; mean and scale */
    const struct tn_tensor *p;
    struct tn_tensor *y;
};

static void fill(void *user, uint64_t begin, uint64_t end)
{
    const struct job *j = user;
    bool wide = j->kind == BERNOULLI || j->y->element == TN_EL_F64;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t w[4];
        draw(&j->g, i, w);
        double v = j->kind == UNIFORM ? j->a + unit(w, wide) * j->b : j->kind == NORMAL ? j->a + normal(w) * j->b : unit(w, wide) < tn_element_get(j->p->element, j->p->data, i);
        tn_element_set(j->y->element, j->y->data, i, v, false);
    }
}

static bool run_random(struct tn_run *r, enum kind kind)
{
    struct job j = {.g = generator_of(r->node), .kind = kind, .p = kind == BERNOULLI ? r->in[0] : NULL, .y = r->out[0]};
    if (kind == UNIFORM) {
        j.a = tn_attr_float(r->node, "low", 0);
        j.b = tn_attr_float(r->node, "high", 1) - j.a;
    } else if (kind == NORMAL) {
        j.a = tn_attr_float(r->node, "mean", 0);
        j.b = tn_attr_float(r->node, "scale", 1);
    }
    tn_run_items(r, j.y->count, 60, fill, &j);
    return true;
}

static bool run_uniform(struct tn_run *r)
{
    return run_random(r, UNIFORM);
}

static bool run_normal(struct tn_run *r)
{
    return run_random(r, NORMAL);
}

static bool run_bernoulli(struct tn_run *r)
{
    return run_random(r, BERNOULLI);
}

/* ---- Multinomial --------------------------------------------------------------------------------------------------- */

static bool infer_multinomial(struct tn_infer *x)
{
    const struct tn_shape *s;
    int64_t samples = tn_attr_int(x->node, "sample_size", 1);
    enum tn_element e = (enum tn_element)tn_attr_int(x->node, "dtype", TN_EL_I32);
    tn_out_unknown(x, 0, e);
    if (samples < 1) return tn_infer_refuse(x, "one sample at least", "%lld", (long long)samples);
    if (!tn_in_shape(x, 0, &s)) return true;
    if (s->rank != 2) return tn_infer_refuse(x, "[batch, classes]", "rank %u", s->rank);
    tn_out_tensor(x, 0, e, 2, (tn_dim_t[]){s->dims[0], samples});
    return true;
}

/* The class whose part of [0, total) holds the number; operands are logarithms of what is in proportion to probability. */
static bool run_multinomial(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    struct generator g = generator_of(r->node);
    uint64_t classes = (uint64_t)x->dims[1], samples = (uint64_t)y->dims[1];
    if (y->count == 0) return true;
    if (classes == 0) return tn_run_refuse(r, "one class at least", "none");
    double *sum = tn_run_scratch(r, classes, sizeof(*sum));
    if (!sum) return false;
    bool good = true;
    for (uint64_t b = 0; good && b < (uint64_t)x->dims[0]; b++) {
        double most = -INFINITY, total = 0;
        for (uint64_t k = 0; k < classes; k++) most = fmax(most, tn_element_get(x->element, x->data, b * classes + k));
        for (uint64_t k = 0; k < classes; k++) sum[k] = total += exp(tn_element_get(x->element, x->data, b * classes + k) - most);
        if (!(total > 0 && total < INFINITY)) good = tn_run_refuse(r, "logarithms of probabilities", "%s in all", TN_F64(total));
        for (uint64_t i = 0; good && i < samples; i++) {
            uint32_t w[4];
            draw(&g, b * samples + i, w);
            double v = unit(w, true) * total;
            uint64_t k = 0;
            while (k + 1 < classes && !(v < sum[k])) k++;
            if (y->element == TN_EL_I64) ((int64_t *)y->data)[b * samples + i] = (int64_t)k;
            else ((int32_t *)y->data)[b * samples + i] = (int32_t)k;
        }
    }
    tn_heap_give(r->heap, sum);
    return good;
}

#define ROW(type, from, how, what) {.name = type, .since = from, .infer = how, .run = what, .not_pure = true}
static const struct tn_operator rows[] = {
    ROW("RandomUniform", 1, infer_shaped, run_uniform),
    ROW("RandomNormal", 1, infer_shaped, run_normal),
    ROW("RandomUniformLike", 1, infer_like, run_uniform),
    ROW("RandomNormalLike", 1, infer_like, run_normal),
    ROW("Bernoulli", 15, infer_like, run_bernoulli),
    ROW("Multinomial", 7, infer_multinomial, run_multinomial),
};

const struct tn_operators tn_ops_random = {rows, sizeof(rows) / sizeof(rows[0])};
