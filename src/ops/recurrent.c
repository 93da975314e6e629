/*
 * RNN, GRU and LSTM. The input's part of all gates is one product of matrices per direction; then each row of the batch
 * goes through its steps. Half precision is computed in float32. Rows shorter than the longest end with zeros.
 */
#include "ops/exp.h"
#include "ops/gemm.h"
#include "ops/real.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- what a node asks for ----------------------------------------------------------------------------------------- */

enum function {
    RELU,
    TANH,
    SIGMOID,
    AFFINE,
    LEAKY_RELU,
    THRESHOLDED_RELU,
    SCALED_TANH,
    HARD_SIGMOID,
    ELU,
    SOFTSIGN,
    SOFTPLUS,
    FUNCTIONS
};

struct activation {
    enum function kind;
    double alpha, beta;
};

/* Constant weights, packed: of the input by direction, of the state by direction and part (see add_state). */
struct packed {
    struct tn_linear *w[2], *r[2][2];
};

struct recurrent {
    const struct packed *state; /* NULL: the weights are operands */
    const struct tn_kernels *kernels;
    unsigned gates, directions;
    bool reverse, coupled, linear_before_reset, by_batch;
    double clip; /* 0: none */
    uint64_t steps, batch, input, hidden;
    uint64_t y_step, y_direction, y_row; /* of Y, in elements */
    const int32_t *lengths;              /* [batch] or NULL */
    struct activation functions[6];
};

enum { X, W, R, B, LENGTHS, H, C, P };

/* Names, and the defaults of the operators of the same name. */
static const struct {
    const char *name;
    double alpha, beta;
} functions[FUNCTIONS] = {
    [RELU] = {"Relu", 0, 0}, [TANH] = {"Tanh", 0, 0}, [SIGMOID] = {"Sigmoid", 0, 0}, [AFFINE] = {"Affine", 1, 0},
    [LEAKY_RELU] = {"LeakyRelu", 0.01, 0}, [THRESHOLDED_RELU] = {"ThresholdedRelu", 1, 0}, [SCALED_TANH] = {"ScaledTanh", 1, 1},
    [HARD_SIGMOID] = {"HardSigmoid", 0.2, 0.5}, [ELU] = {"Elu", 1, 0}, [SOFTSIGN] = {"Softsign", 0, 0}, [SOFTPLUS] = {"Softplus", 0, 0},
};

/* Case does not matter in these names. */
static bool same_name(struct tn_str a, const char *b)
{
    size_t n = strlen(b);
    for (size_t i = 0; i < n && i < a.n; i++) {
        char c = a.s[i], d = b[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
        if (d >= 'A' && d <= 'Z') d = (char)(d + 32);
        if (c != d) return false;
    }
    return a.n == n;
}

static bool takes_alpha(enum function f)
{
    return f == AFFINE || f == LEAKY_RELU || f == THRESHOLDED_RELU || f == SCALED_TANH || f == HARD_SIGMOID || f == ELU;
}

static bool takes_beta(enum function f)
{
    return f == AFFINE || f == SCALED_TANH || f == HARD_SIGMOID;
}

static unsigned gates_of(const struct tn_node *node)
{
    return tn_str_is(node->type, "LSTM") ? 4 : tn_str_is(node->type, "GRU") ? 3 : 1;
}

/* The functions of each direction; what is not given is Sigmoid for gates and Tanh for states. */
static const char *read_functions(const struct tn_node *node, struct recurrent *l)
{
    size_t names, alphas, betas, alpha = 0, beta = 0;
    const struct tn_str *name = tn_attr_texts(node, "activations", &names);
    const float *a = tn_attr_floats(node, "activation_alpha", &alphas), *b = tn_attr_floats(node, "activation_beta", &betas);
    unsigned each = l->gates == 4 ? 3 : l->gates == 3 ? 2 : 1;
    if (name && names != each * l->directions) return "as many activations as the directions have functions";
    for (unsigned i = 0; i < each * l->directions; i++) {
        unsigned kind = each > 1 && i % each == 0 ? SIGMOID : TANH;
        for (kind = name ? 0 : kind; name && kind < FUNCTIONS && !same_name(name[i], functions[kind].name);) kind++;
        if (kind == FUNCTIONS) return "activations of the standard's list";
        l->functions[i] = (struct activation){(enum function)kind, functions[kind].alpha, functions[kind].beta};
        if (takes_alpha((enum function)kind) && alpha < alphas) l->functions[i].alpha = (double)a[alpha++];
        if (takes_beta((enum function)kind) && beta < betas) l->functions[i].beta = (double)b[beta++];
    }
    return NULL;
}

static const char *read_node(const struct tn_node *node, struct recurrent *l)
{
    struct tn_str direction = tn_attr_text(node, "direction");
    *l = (struct recurrent){.gates = gates_of(node), .directions = 1};
    if (tn_str_is(direction, "bidirectional")) l->directions = 2;
    else if (tn_str_is(direction, "reverse")) l->reverse = true;
    /* The table of version 1 of GRU spells its default this way. */
    else if (direction.n && !tn_str_is(direction, "forward") && !tn_str_is(direction, "foward")) return "direction forward, reverse or bidirectional";
    l->coupled = tn_attr_int(node, "input_forget", 0) != 0;
    l->linear_before_reset = tn_attr_int(node, "linear_before_reset", 0) != 0;
    l->by_batch = tn_attr_int(node, "layout", 0) != 0;
    l->clip = tn_attr_float(node, "clip", 0);
    if (!(l->clip >= 0)) return "a clip above 0";
    return read_functions(node, l);
}

/* ---- inference ---------------------------------------------------------------------------------------------------- */

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

/* Operand i is [a, b, c] or, c being -1, [a, b]. */
static bool check(struct tn_infer *t, uint32_t i, tn_dim_t a, tn_dim_t b, tn_dim_t c)
{
    const struct tn_shape *s;
    uint32_t rank = c == -1 ? 2 : 3;
    if (!tn_in_shape(t, i, &s)) return true;
    if (s->rank == rank && !differ(s->dims[0], a) && !differ(s->dims[1], b) && (rank == 2 || !differ(s->dims[2], c))) return true;
    return tn_infer_refuse(t, "weights and states of the sizes that directions, gates and batch make", "operand %u of rank %u", i, s->rank);
}

static bool infer_recurrent(struct tn_infer *t)
{
    const struct tn_shape *x, *r, *s;
    const struct tn_type *type = tn_in_type(t, X);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    struct recurrent l;
    const char *bad = read_node(t->node, &l);
    if (bad) return tn_infer_refuse(t, bad, "other attributes");
    for (uint32_t i = 0; i < 3; i++) tn_out_unknown(t, i, e);
    if (!tn_in_shape(t, X, &x) || !tn_in_shape(t, R, &r)) return true;
    if (x->rank != 3 || r->rank != 3) return tn_infer_refuse(t, "rank 3", "ranks %u and %u", x->rank, r->rank);
    tn_dim_t steps = x->dims[l.by_batch], batch = x->dims[!l.by_batch], hidden = r->dims[2], d = l.directions, n = l.gates;
    int64_t stated = tn_attr_int(t->node, "hidden_size", 0);
    if (stated && differ(hidden, stated)) return tn_infer_refuse(t, "a hidden_size that is the weights'", "%lld", (long long)stated);
    tn_dim_t width = tn_dim_mul(t->symbols, hidden, n), first = l.by_batch ? batch : d, second = l.by_batch ? d : batch;
    tn_dim_t known_hidden = tn_dim_known(hidden) ? hidden : tn_dim_unknown(t->symbols);
    if (!check(t, W, d, width, tn_dim_known(x->dims[2]) ? x->dims[2] : -2) || !check(t, R, d, width, known_hidden)) return false;
    if (!check(t, B, d, tn_dim_mul(t->symbols, width, 2), -1) || !check(t, H, first, second, known_hidden)) return false;
    if (n == 4 && (!check(t, C, first, second, known_hidden) || !check(t, P, d, tn_dim_mul(t->symbols, hidden, 3), -1))) return false;
    if (tn_in_shape(t, LENGTHS, &s) && (s->rank != 1 || differ(s->dims[0], batch))) return tn_infer_refuse(t, "a length for each row", "rank %u", s->rank);
    if (l.by_batch) tn_out_tensor(t, 0, e, 4, (tn_dim_t[]){batch, steps, d, hidden});
    else tn_out_tensor(t, 0, e, 4, (tn_dim_t[]){steps, d, batch, hidden});
    for (uint32_t i = 1; i < (n == 4 ? 3u : 2u); i++) tn_out_tensor(t, i, e, 3, (tn_dim_t[]){first, second, hidden});
    return true;
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

#define REAL float
#define TN_BODY(name) name##_f32
#define EXP(x) tn_exp_f32(x)
#define TANH(x) tanhf(x)
#define PACKED
#include "ops/recurrent_body.h"
#undef PACKED
#undef REAL
#undef TN_BODY
#undef EXP
#undef TANH
#define REAL double
#define TN_BODY(name) name##_f64
#define EXP(x) exp(x)
#define TANH(x) tanh(x)
#include "ops/recurrent_body.h"

static bool read_call(struct tn_run *r, struct recurrent *l)
{
    const struct tn_tensor *x = r->in[X], *lengths = r->in_count > LENGTHS ? r->in[LENGTHS] : NULL;
    read_node(r->node, l);
    l->state = r->state;
    l->kernels = r->kernels;
    l->steps = (uint64_t)x->dims[l->by_batch];
    l->batch = (uint64_t)x->dims[!l->by_batch];
    l->input = (uint64_t)x->dims[2];
    l->hidden = (uint64_t)r->in[R]->dims[2];
    l->y_step = l->by_batch ? l->directions * l->hidden : l->directions * l->batch * l->hidden;
    l->y_direction = l->by_batch ? l->hidden : l->batch * l->hidden;
    l->y_row = l->by_batch ? l->steps * l->directions * l->hidden : l->hidden;
    l->lengths = lengths ? lengths->data : NULL;
    for (uint64_t i = 0; l->lengths && i < l->batch; i++) {
        if (l->lengths[i] < 0 || (uint64_t)l->lengths[i] > l->steps)
            return tn_run_refuse(r, "lengths up to the number of steps", "%d of %llu", (int)l->lengths[i], (unsigned long long)l->steps);
    }
    return true;
}

/* States as [directions, batch, hidden]; zeros without an operand. */
static void *state_in(struct tn_reals *s, const struct recurrent *l, uint32_t i)
{
    size_t each = s->wide ? sizeof(double) : sizeof(float), row = l->hidden * each;
    const char *from = tn_reals_in(s, i);
    char *to = tn_reals_scratch(s, l->directions * l->batch * l->hidden);
    if (!to) return NULL;
    for (uint64_t k = 0; k < l->directions * l->batch; k++) {
        uint64_t d = k / l->batch, b = k % l->batch, at = l->by_batch ? b * l->directions + d : k;
        if (from) memcpy(to + k * row, from + at * row, row);
        else memset(to + k * row, 0, row);
    }
    return to;
}

static void state_out(struct tn_reals *s, const struct recurrent *l, uint32_t k, const void *state)
{
    size_t each = s->wide ? sizeof(double) : sizeof(float), row = l->hidden * each;
    char *to = tn_reals_out(s, k);
    for (uint64_t i = 0; to && i < l->directions * l->batch; i++) {
        uint64_t d = i / l->batch, b = i % l->batch, at = l->by_batch ? b * l->directions + d : i;
        memcpy(to + at * row, (const char *)state + i * row, row);
    }
}

/* The input as [steps, batch, input]. */
static const void *input_of(struct tn_reals *s, const struct recurrent *l)
{
    const char *x = tn_reals_in(s, X);
    size_t row = l->input * (s->wide ? sizeof(double) : sizeof(float));
    if (!l->by_batch || l->batch == 1 || !x) return x;
    char *to = tn_reals_scratch(s, l->steps * l->batch * l->input);
    for (uint64_t i = 0; to && i < l->steps * l->batch; i++)
        memcpy(to + i * row, x + (i % l->batch * l->steps + i / l->batch) * row, row);
    return to;
}

struct parts {
    const void *x, *w, *r, *bias, *peep;
    void *gates, *turned, *h, *c, *y, *room;
};

static bool run_f32(struct tn_run *r, const struct recurrent *l, const struct parts *p)
{
    uint64_t width = l->gates * l->hidden, rows = l->steps * l->batch;
    for (unsigned d = 0; d < l->directions; d++) {
        float *gates = (float *)p->gates + d * rows * width;
        fill_bias_f32(l, p->bias ? (const float *)p->bias + d * 2 * width : NULL, gates, rows);
        if (!l->state) turn_f32((const float *)p->r + d * width * l->hidden, (float *)p->turned + d * width * l->hidden, width, l->hidden);
        struct tn_gemm g = {.m = rows, .n = width, .k = l->input, .a = p->x, .a_row = l->input, .b_k = 1, .b_n = l->input, .c = gates,
                            .c_row = width, .add = true, .packed = l->state ? l->state->w[d] : NULL};
        if (!g.packed) g.b = (const float *)p->w + d * width * l->input;
        if (rows && width && l->input && !tn_gemm_team(r, &g)) return false;
    }
    struct layer_f32 k = {l, p->gates, p->turned, p->bias, p->peep, p->h, p->c, p->y, p->room};
    tn_run_items(r, l->directions * l->batch, l->steps * width * l->hidden, layer_rows_f32, &k);
    return true;
}

static bool run_f64(struct tn_run *r, const struct recurrent *l, const struct parts *p)
{
    uint64_t width = l->gates * l->hidden, rows = l->steps * l->batch;
    for (unsigned d = 0; d < l->directions; d++) {
        double *gates = (double *)p->gates + d * rows * width;
        const double *w = (const double *)p->w + d * width * l->input;
        fill_bias_f64(l, p->bias ? (const double *)p->bias + d * 2 * width : NULL, gates, rows);
        turn_f64((const double *)p->r + d * width * l->hidden, (double *)p->turned + d * width * l->hidden, width, l->hidden);
        for (uint64_t i = 0; i < rows * width; i++) {
            const double *x = (const double *)p->x + i / width * l->input;
            for (uint64_t k = 0; k < l->input; k++) gates[i] += x[k] * w[i % width * l->input + k];
        }
    }
    struct layer_f64 k = {l, p->gates, p->turned, p->bias, p->peep, p->h, p->c, p->y, p->room};
    tn_run_items(r, l->directions * l->batch, l->steps * width * l->hidden, layer_rows_f64, &k);
    return true;
}

static bool run_recurrent(struct tn_run *r)
{
    struct recurrent l;
    struct tn_reals reals;
    struct parts p = {NULL};
    size_t count;
    if (!read_call(r, &l)) return false;
    tn_reals_begin(&reals, r, r->in[X]->element);
    bool fits = tn_mul((size_t)l.batch, (size_t)l.directions * l.gates, &count) && tn_mul(count, (size_t)l.hidden, &count) &&
                tn_mul(count, (size_t)l.steps, &count);
    if (!fits) return tn_run_no_memory(r);
    p.x = input_of(&reals, &l);
    if (!l.state) {
        p.w = tn_reals_in(&reals, W);
        p.r = tn_reals_in(&reals, R);
        p.turned = tn_reals_scratch(&reals, r->in[R]->count);
    }
    p.bias = tn_reals_in(&reals, B);
    p.peep = l.gates == 4 ? tn_reals_in(&reals, P) : NULL;
    p.gates = tn_reals_scratch(&reals, count);
    p.h = state_in(&reals, &l, H);
    p.c = l.gates == 4 ? state_in(&reals, &l, C) : NULL;
    p.room = l.gates == 3 ? tn_reals_scratch(&reals, l.directions * l.batch * l.hidden) : NULL;
    p.y = tn_reals_out(&reals, 0);
    if (tn_reals_good(&reals) && (reals.wide ? run_f64 : run_f32)(r, &l, &p)) {
        state_out(&reals, &l, 1, p.h);
        if (l.gates == 4) state_out(&reals, &l, 2, p.c);
    }
    return tn_reals_end(&reals);
}

/* ---- constant weights --------------------------------------------------------------------------------------------- */

static void release_recurrent(struct tn_alloc *alloc, void *state)
{
    struct packed *k = state;
    for (unsigned d = 0; d < 2; d++) {
        tn_free(alloc, k->w[d]);
        tn_free(alloc, k->r[d][0]);
        tn_free(alloc, k->r[d][1]);
    }
    tn_free(alloc, k);
}

/* Rows [first, first + count) of the matrices of direction d of a weight [directions, gates * hidden, k]. */
static bool pack_rows(struct tn_prepare *p, const struct tn_tensor *t, unsigned d, size_t first, size_t count, struct tn_linear **out)
{
    size_t k = (size_t)t->dims[2], at = (d * (size_t)t->dims[1] + first) * k;
    *out = tn_gemm_pack(p, t, (const char *)t->data + at * tn_element_size(t->element), k, count, 1, k, NULL);
    return *out != NULL;
}

static enum tn_status prepare_recurrent(struct tn_prepare *p, void **state)
{
    const struct tn_tensor *w = p->in[W], *r = p->in[R];
    unsigned gates = gates_of(p->node);
    if (!w || !r || w->element != r->element || w->element == TN_EL_F64 || w->rank != 3 || r->rank != 3 || w->count == 0 || r->count == 0) return TN_OK;
    size_t directions = (size_t)r->dims[0], hidden = (size_t)r->dims[2], part = gates == 3 ? 2 * hidden : gates * hidden;
    if (directions > 2 || r->dims[1] != (int64_t)(gates * hidden) || w->dims[0] != r->dims[0] || w->dims[1] != r->dims[1]) return TN_OK;
    struct packed *k = tn_calloc(p->alloc, 1, sizeof(*k));
    bool good = k != NULL;
    for (unsigned d = 0; good && d < directions; d++) {
        good = pack_rows(p, w, d, 0, (size_t)w->dims[1], &k->w[d]) && pack_rows(p, r, d, 0, part, &k->r[d][0]);
        if (good && gates == 3) good = pack_rows(p, r, d, part, hidden, &k->r[d][1]);
    }
    if (!good) {
        if (k) release_recurrent(p->alloc, k);
        return TN_INSUFFICIENT_MEMORY;
    }
    p->keep[W] = p->keep[R] = false;
    *state = k;
    return TN_OK;
}

static const struct tn_operator rows[] = {
    {.name = "RNN", .since = 1, .infer = infer_recurrent, .run = run_recurrent, .prepare = prepare_recurrent, .release = release_recurrent},
    {.name = "GRU", .since = 1, .infer = infer_recurrent, .run = run_recurrent, .prepare = prepare_recurrent, .release = release_recurrent},
    {.name = "LSTM", .since = 1, .infer = infer_recurrent, .run = run_recurrent, .prepare = prepare_recurrent, .release = release_recurrent},
};

const struct tn_operators tn_ops_recurrent = {rows, sizeof(rows) / sizeof(rows[0])};
