/* Operators that take each row, or each sequence's rows, by themselves; operands and attributes in ops/rows.h. */
#include "ops/rows.h"

#include <string.h>

/* A call of one kernel by a team. */
struct job {
    const struct tn_kernels *kernels;
    union {
        struct tn_embed_args embed;
        struct tn_layer_norm_args norm;
        struct tn_gate_args gate;
        struct tn_pooling_args pooling;
    } as;
    const float *x;
    float *y;
    size_t rows, width;
};

/* ---- Embed -------------------------------------------------------------------------------------------------------- */

enum { GAMMA = 3, BETA = 4, TABLES = 5 };

static bool infer_embed(struct tn_infer *x)
{
    const struct tn_shape *s, *rows;
    size_t kinds;
    const int64_t *index = tn_attr_ints(x->node, "index", &kinds);
    int64_t width = 0;
    if (x->in_count <= TABLES || x->in_count - TABLES > TN_EMBED_TABLES || kinds != x->in_count - TABLES)
        return tn_infer_refuse(x, "one to four tables with an index each", "%u operands", x->in_count);
    for (uint32_t i = TABLES; i < x->in_count; i++) {
        const struct tn_type *t = tn_in_type(x, i);
        if (!tn_in_shape(x, i, &s) || s->rank != 2 || !tn_rows_stored(t->element) || index[i - TABLES] < 0 || index[i - TABLES] > 2)
            return tn_infer_refuse(x, "tables of rank 2", "operand %u", i);
        if (i > TABLES && s->dims[1] != width) return tn_infer_refuse(x, "tables of one width", "%lld beside %lld", (long long)s->dims[1], (long long)width);
        width = s->dims[1];
    }
    if (!tn_in_shape(x, 0, &rows) || rows->rank != 1) return tn_infer_refuse(x, "ids [T]", "operand 0");
    return tn_rows_vector(x, GAMMA, width, "gamma") && tn_rows_vector(x, BETA, width, "beta") && tn_rows_out(x, rows->dims[0], width);
}

static enum tn_status prepare_embed(struct tn_prepare *p, void **state)
{
    return tn_rows_widen(p, GAMMA, 2, state);
}

static bool kept_embed(const struct tn_net *net, const struct tn_node *node, const struct tn_kernels *kernels, struct tn_kept *out)
{
    (void)kernels;
    return tn_rows_kept(net, node, GAMMA, 2, out);
}

static void embed_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    j->kernels->embed(&j->as.embed, rank, size);
}

static bool run_embed(struct tn_run *r)
{
    size_t kinds, width = (size_t)r->out[0]->dims[1];
    const int64_t *index = tn_attr_ints(r->node, "index", &kinds);
    struct job j = {.kernels = r->kernels};
    struct tn_embed_args *a = &j.as.embed;
    *a = (struct tn_embed_args){.tables = kinds, .y = r->out[0]->data, .y_stride = width, .rows = (size_t)r->out[0]->dims[0], .width = width,
                                .norm = r->state != NULL, .gamma = tn_rows_vector_of(r, 0), .beta = tn_rows_vector_of(r, 1),
                                .eps = (float)tn_attr_float(r->node, "eps", 0)};
    for (size_t i = 0; i < kinds; i++) {
        const struct tn_tensor *table = r->in[TABLES + i];
        a->table[i] = (struct tn_embed_table){.data = table->data, .type = tn_rows_type(table->element), .index = r->in[index[i] == 1 ? 2 : index[i] == 2 ? 1 : 0]->data};
    }
    tn_run_team(r, r->out[0]->count * 4, embed_member, &j);
    return true;
}

/* ---- Norm --------------------------------------------------------------------------------------------------------- */

static bool infer_norm(struct tn_infer *x)
{
    tn_dim_t rows, other;
    int64_t width, wide;
    if (!tn_rows_in(x, 0, &rows, &width)) return false;
    if (tn_in_given(x, 1) && (!tn_rows_in(x, 1, &other, &wide) || other != rows || wide != width))
        return tn_infer_refuse(x, "a residual of the shape of x", "another one");
    return tn_rows_vector(x, 2, width, "gamma") && tn_rows_vector(x, 3, width, "beta") && tn_rows_out(x, rows, width);
}

static enum tn_status prepare_norm(struct tn_prepare *p, void **state)
{
    return tn_rows_widen(p, 2, 2, state);
}

static bool kept_norm(const struct tn_net *net, const struct tn_node *node, const struct tn_kernels *kernels, struct tn_kept *out)
{
    (void)kernels;
    return tn_rows_kept(net, node, 2, 2, out);
}

static void norm_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    j->kernels->layer_norm(&j->as.norm, rank, size);
}

static bool run_norm(struct tn_run *r)
{
    size_t width = (size_t)r->out[0]->dims[1];
    const struct tn_tensor *residual = r->in_count > 1 ? r->in[1] : NULL;
    struct job j = {.kernels = r->kernels,
                    .as.norm = {.x = r->in[0]->data, .x_stride = width, .residual = residual ? residual->data : NULL, .residual_stride = width,
                                .y = r->out[0]->data, .y_stride = width, .rows = (size_t)r->out[0]->dims[0], .width = width,
                                .gamma = tn_rows_vector_of(r, 0), .beta = tn_rows_vector_of(r, 1), .eps = (float)tn_attr_float(r->node, "eps", 0)}};
    tn_run_team(r, r->out[0]->count * 4, norm_member, &j);
    return true;
}

/* ---- Gate --------------------------------------------------------------------------------------------------------- */

static bool infer_gate(struct tn_infer *x)
{
    tn_dim_t rows;
    int64_t width;
    if (!tn_rows_in(x, 0, &rows, &width)) return false;
    if (width % 2) return tn_infer_refuse(x, "two halves", "%lld columns", (long long)width);
    return tn_rows_out(x, rows, width / 2);
}

static const char *lacks_gate(const struct tn_node *node)
{
    enum tn_act act;
    return tn_rows_activation(node, &act) ? NULL : "an activation of describe/activation.h";
}

static void gate_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    j->kernels->gate(&j->as.gate, rank, size);
}

static bool run_gate(struct tn_run *r)
{
    size_t width = (size_t)r->out[0]->dims[1];
    struct job j = {.kernels = r->kernels, .as.gate = {.x = r->in[0]->data, .x_stride = 2 * width, .y = r->out[0]->data, .y_stride = width,
                                                       .rows = (size_t)r->out[0]->dims[0], .width = width}};
    tn_rows_activation(r->node, &j.as.gate.act);
    tn_run_team(r, r->out[0]->count * 16, gate_member, &j);
    return true;
}

/* ---- Pool --------------------------------------------------------------------------------------------------------- */

static bool mode_of(struct tn_str name, enum tn_pooling *out)
{
    for (unsigned i = 0; i < TN_POOLINGS; i++) {
        *out = (enum tn_pooling)i;
        if (tn_str_is(name, tn_pooling_name(*out))) return true;
    }
    return false;
}

static const char *lacks_pool(const struct tn_node *node)
{
    size_t count;
    enum tn_pooling mode;
    const struct tn_str *names = tn_attr_texts(node, "modes", &count);
    for (size_t i = 0; i < count; i++) {
        if (!mode_of(names[i], &mode)) return "a mode of describe/pooling.h";
    }
    return count ? NULL : "one mode at least";
}

static bool infer_pool(struct tn_infer *x)
{
    const struct tn_shape *spans;
    tn_dim_t rows;
    int64_t width;
    size_t count;
    tn_attr_texts(x->node, "modes", &count);
    if (!tn_rows_in(x, 0, &rows, &width)) return false;
    if (!tn_in_shape(x, 1, &spans) || spans->rank != 2 || spans->dims[1] != 3) return tn_infer_refuse(x, "spans [S, 3]", "operand 1 of another shape");
    return tn_rows_out(x, spans->dims[0], width * (int64_t)count);
}

static void pool_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    j->kernels->pooling(&j->as.pooling, rank, size);
}

static bool run_pool(struct tn_run *r)
{
    size_t width = (size_t)r->in[0]->dims[1], count;
    const struct tn_str *names = tn_attr_texts(r->node, "modes", &count);
    _Static_assert(sizeof(struct tn_span) == 3 * sizeof(int32_t), "a row of spans is one");
    for (size_t i = 0; i < count; i++) {
        struct job j = {.kernels = r->kernels, .as.pooling = {.x = r->in[0]->data, .x_stride = width, .width = width, .spans = r->in[1]->data,
                                                              .sequences = (size_t)r->out[0]->dims[0], .y = (float *)r->out[0]->data + i * width, .y_stride = count * width}};
        mode_of(names[i], &j.as.pooling.mode);
        tn_run_team(r, r->in[0]->count, pool_member, &j);
    }
    return true;
}

/* ---- Unit --------------------------------------------------------------------------------------------------------- */

static bool infer_unit(struct tn_infer *x)
{
    tn_dim_t rows;
    int64_t width;
    return tn_rows_in(x, 0, &rows, &width) && tn_rows_out(x, rows, width);
}

static void unit_member(void *arg, unsigned rank, unsigned size)
{
    const struct job *j = arg;
    j->kernels->normalize(j->x, j->width, j->y, j->width, j->rows, j->width, rank, size);
}

static bool run_unit(struct tn_run *r)
{
    struct job j = {.kernels = r->kernels, .x = r->in[0]->data, .y = r->out[0]->data, .rows = (size_t)r->out[0]->dims[0], .width = (size_t)r->out[0]->dims[1]};
    tn_run_team(r, r->out[0]->count * 2, unit_member, &j);
    return true;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "Embed", .since = 1, .infer = infer_embed, .run = run_embed, .prepare = prepare_embed, .release = tn_rows_release_vectors, .kept = kept_embed, .fresh = true},
    {.domain = "tenon", .name = "Norm", .since = 1, .infer = infer_norm, .run = run_norm, .prepare = prepare_norm, .release = tn_rows_release_vectors, .in_place = true, .kept = kept_norm, .fresh = true},
    {.domain = "tenon", .name = "Gate", .since = 1, .infer = infer_gate, .run = run_gate, .lacks = lacks_gate, .fresh = true},
    {.domain = "tenon", .name = "Pool", .since = 1, .infer = infer_pool, .run = run_pool, .lacks = lacks_pool, .fresh = true},
    {.domain = "tenon", .name = "Unit", .since = 1, .infer = infer_unit, .run = run_unit, .in_place = true, .fresh = true},
};

const struct tn_operators tn_ops_rows_simple = {rows, sizeof(rows) / sizeof(rows[0])};
