/*
 * LinearAttention (a state that tokens read and write in turn; with the delta rule Yang et al. 2024, arXiv 2412.06464) and
 * CausalConvWithState, the short convolution in front of it. Computed in float32; the state's type is kept.
 */
#include "ops/real.h"

#include <math.h>
#include <string.h>

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

/* ---- LinearAttention ---------------------------------------------------------------------------------------------- */

enum { Q, K, V, PAST, DECAY, BETA };

struct rule {
    bool gated, delta;
};

static bool read_rule(const struct tn_node *node, struct rule *out)
{
    struct tn_str rule = tn_attr_text(node, "update_rule");
    *out = (struct rule){tn_str_is(rule, "gated") || tn_str_is(rule, "gated_delta") || rule.n == 0,
                         tn_str_is(rule, "delta") || tn_str_is(rule, "gated_delta") || rule.n == 0};
    return out->gated || out->delta || tn_str_is(rule, "linear");
}

static const char *lacks_linear(const struct tn_node *node)
{
    struct rule rule;
    return read_rule(node, &rule) ? NULL : "update_rule";
}

static bool check_gates(struct tn_infer *t, struct rule rule, tn_dim_t batch, tn_dim_t steps, tn_dim_t heads, tn_dim_t size)
{
    const struct tn_shape *s;
    if (tn_in_given(t, DECAY) != rule.gated || tn_in_given(t, BETA) != rule.delta)
        return tn_infer_refuse(t, "decay for gated rules and beta for delta rules, not otherwise", "another choice of them");
    for (uint32_t i = DECAY; i <= BETA; i++) {
        if (!tn_in_shape(t, i, &s)) continue;
        tn_dim_t width = s->rank == 3 ? s->dims[2] : 0, whole = tn_dim_mul(t->symbols, heads, size);
        bool fits = s->rank == 3 && !differ(s->dims[0], batch) && !differ(s->dims[1], steps);
        fits = fits && (!differ(width, heads) || (i == DECAY ? !differ(width, whole) : width == 1));
        if (!fits) return tn_infer_refuse(t, "a gate for each head (decay: or key dimension) and token", "operand %u of another shape", i);
    }
    return true;
}

static bool infer_linear(struct tn_infer *t)
{
    const struct tn_shape *q, *k, *v, *past;
    const struct tn_type *type = tn_in_type(t, Q), *state = tn_in_type(t, PAST);
    enum tn_element e = type ? type->element : TN_EL_NONE, es = state ? state->element : e;
    int64_t heads = tn_attr_int(t->node, "q_num_heads", 0), kv = tn_attr_int(t->node, "kv_num_heads", 0);
    struct rule rule = {false, false};
    read_rule(t->node, &rule);
    tn_out_unknown(t, 0, e);
    tn_out_unknown(t, 1, es);
    if (heads < 1 || kv < 1 || heads % kv != 0 || heads > INT32_MAX)
        return tn_infer_refuse(t, "query heads that are a multiple of the key heads", "%lld and %lld", (long long)heads, (long long)kv);
    if (!tn_in_shape(t, Q, &q) || !tn_in_shape(t, K, &k) || !tn_in_shape(t, V, &v)) return true;
    if (q->rank != 3 || k->rank != 3 || v->rank != 3) return tn_infer_refuse(t, "rank 3", "ranks %u, %u, %u", q->rank, k->rank, v->rank);
    bool whole = (!tn_dim_known(q->dims[2]) || q->dims[2] % heads == 0) && (!tn_dim_known(k->dims[2]) || k->dims[2] % kv == 0) &&
                 (!tn_dim_known(v->dims[2]) || v->dims[2] % kv == 0);
    tn_dim_t size = tn_dim_div(t->symbols, q->dims[2], heads), key = tn_dim_div(t->symbols, k->dims[2], kv), value = tn_dim_div(t->symbols, v->dims[2], kv);
    if (!whole || differ(size, key) || differ(q->dims[0], k->dims[0]) || differ(q->dims[0], v->dims[0]) || differ(q->dims[1], k->dims[1]) ||
        differ(q->dims[1], v->dims[1]))
        return tn_infer_refuse(t, "queries, keys and values that agree", "other batches, tokens or widths");
    if (!check_gates(t, rule, q->dims[0], q->dims[1], kv, size)) return false;
    if (tn_in_shape(t, PAST, &past) && (past->rank != 4 || differ(past->dims[0], q->dims[0]) || differ(past->dims[1], kv) || differ(past->dims[2], size) ||
                                        differ(past->dims[3], value)))
        return tn_infer_refuse(t, "a state [batch, heads, key size, value size]", "another shape");
    tn_out_tensor(t, 0, e, 3, (tn_dim_t[]){q->dims[0], q->dims[1], tn_dim_mul(t->symbols, value, heads)});
    tn_out_tensor(t, 1, es, 4, (tn_dim_t[]){q->dims[0], kv, size, value});
    return true;
}

struct linear {
    const float *q, *k, *v, *decay, *beta;
    float *y, *state, *room; /* room: [batch * heads, v_size] */
    uint64_t steps, q_heads, heads, size, v_size, decay_width, beta_width;
    float scale;
};

/* S <- e^g S; v <- beta (v - S' k); S <- S + k v'; o = scale S' q. For one token of one key head. */
static void linear_step(const struct linear *l, uint64_t batch, uint64_t head, uint64_t t, float *state, float *write)
{
    uint64_t token = batch * l->steps + t, group = l->q_heads / l->heads;
    const float *k = l->k + (token * l->heads + head) * l->size, *v = l->v + (token * l->heads + head) * l->v_size;
    for (uint64_t i = 0; l->decay && i < l->size; i++) {
        bool each = l->decay_width != l->heads;
        float g = expf(l->decay[token * l->decay_width + (each ? head * l->size + i : head)]);
        for (uint64_t m = 0; m < l->v_size; m++) state[i * l->v_size + m] *= g;
    }
    for (uint64_t m = 0; m < l->v_size; m++) write[m] = l->beta ? 0 : v[m];
    if (l->beta) {
        float beta = l->beta[token * l->beta_width + (l->beta_width == 1 ? 0 : head)];
        for (uint64_t i = 0; i < l->size; i++) {
            for (uint64_t m = 0; m < l->v_size; m++) write[m] += state[i * l->v_size + m] * k[i];
        }
        for (uint64_t m = 0; m < l->v_size; m++) write[m] = beta * (v[m] - write[m]);
    }
    for (uint64_t i = 0; i < l->size; i++) {
        for (uint64_t m = 0; m < l->v_size; m++) state[i * l->v_size + m] += k[i] * write[m];
    }
    for (uint64_t h = head * group; h < (head + 1) * group; h++) {
        const float *q = l->q + (token * l->q_heads + h) * l->size;
        float *y = l->y + (token * l->q_heads + h) * l->v_size;
        for (uint64_t m = 0; m < l->v_size; m++) y[m] = 0;
        for (uint64_t i = 0; i < l->size; i++) {
            for (uint64_t m = 0; m < l->v_size; m++) y[m] += q[i] * state[i * l->v_size + m];
        }
        for (uint64_t m = 0; m < l->v_size; m++) y[m] *= l->scale;
    }
}

static void linear_items(void *user, uint64_t begin, uint64_t end)
{
    const struct linear *l = user;
    for (uint64_t i = begin; i < end; i++) {
        for (uint64_t t = 0; t < l->steps; t++)
            linear_step(l, i / l->heads, i % l->heads, t, l->state + i * l->size * l->v_size, l->room + i * l->v_size);
    }
}

static bool run_linear(struct tn_run *r)
{
    const struct tn_tensor *q = r->in[Q], *decay = r->in_count > DECAY ? r->in[DECAY] : NULL, *beta = r->in_count > BETA ? r->in[BETA] : NULL;
    struct tn_reals reals;
    struct linear l = {.steps = (uint64_t)q->dims[1], .q_heads = (uint64_t)tn_attr_int(r->node, "q_num_heads", 1),
                       .heads = (uint64_t)tn_attr_int(r->node, "kv_num_heads", 1), .decay_width = decay ? (uint64_t)decay->dims[2] : 0,
                       .beta_width = beta ? (uint64_t)beta->dims[2] : 0};
    double scale = tn_attr_float(r->node, "scale", 0);
    uint64_t batch = (uint64_t)q->dims[0];
    if (!tn_run_shaped(r)) return false;
    l.size = (uint64_t)q->dims[2] / l.q_heads;
    l.v_size = (uint64_t)r->in[V]->dims[2] / l.heads;
    l.scale = (float)(scale == 0 ? 1 / sqrt((double)l.size) : scale);
    tn_reals_begin(&reals, r, TN_EL_F32);
    l.q = tn_reals_in(&reals, Q);
    l.k = tn_reals_in(&reals, K);
    l.v = tn_reals_in(&reals, V);
    l.decay = tn_reals_in(&reals, DECAY);
    l.beta = tn_reals_in(&reals, BETA);
    const float *past = tn_reals_in(&reals, PAST);
    l.y = tn_reals_out(&reals, 0);
    uint64_t state = batch * l.heads * l.size * l.v_size;
    l.state = r->out_count > 1 && r->wanted[1] ? tn_reals_out(&reals, 1) : tn_reals_scratch(&reals, state);
    l.room = tn_reals_scratch(&reals, batch * l.heads * l.v_size);
    if (tn_reals_good(&reals)) {
        if (past) memcpy(l.state, past, state * sizeof(float));
        else memset(l.state, 0, state * sizeof(float));
        tn_run_items(r, batch * l.heads, l.steps * l.size * l.v_size * 4, linear_items, &l);
    }
    return tn_reals_end(&reals);
}

/* ---- CausalConvWithState ------------------------------------------------------------------------------------------ */

static const char *lacks_causal(const struct tn_node *node)
{
    struct tn_str a = tn_attr_text(node, "activation");
    return a.n == 0 || tn_str_is(a, "none") || tn_str_is(a, "silu") || tn_str_is(a, "swish") ? NULL : "activation";
}

static bool infer_causal(struct tn_infer *t)
{
    const struct tn_shape *x, *w, *s;
    const struct tn_type *type = tn_in_type(t, 0);
    tn_infer_same(t);
    tn_out_unknown(t, 1, type ? type->element : TN_EL_NONE);
    if (!tn_in_shape(t, 0, &x) || !tn_in_shape(t, 1, &w)) return true;
    if (x->rank != 3 || w->rank != 3 || differ(w->dims[0], x->dims[1]) || differ(w->dims[1], 1) || w->dims[2] == 0)
        return tn_infer_refuse(t, "[batch, channels, length] and a kernel [channels, 1, k]", "ranks %u and %u, or other sizes", x->rank, w->rank);
    tn_dim_t kept = tn_dim_sub(t->symbols, w->dims[2], 1);
    if (tn_in_shape(t, 2, &s) && (s->rank != 1 || differ(s->dims[0], x->dims[1]))) return tn_infer_refuse(t, "a bias for each channel", "rank %u", s->rank);
    if (tn_in_shape(t, 3, &s) && (s->rank != 3 || differ(s->dims[0], x->dims[0]) || differ(s->dims[1], x->dims[1]) || differ(s->dims[2], kept)))
        return tn_infer_refuse(t, "a state [batch, channels, k - 1]", "another shape");
    tn_out_tensor(t, 1, type->element, 3, (tn_dim_t[]){x->dims[0], x->dims[1], kept});
    return true;
}

struct causal {
    const float *x, *w, *bias, *past;
    float *y, *kept;
    uint64_t channels, length, taps;
    bool silu;
};

/* Element i of the line that begins with the state. */
static float causal_at(const struct causal *c, uint64_t line, uint64_t i)
{
    uint64_t before = c->taps - 1;
    if (i >= before) return c->x[line * c->length + i - before];
    return c->past ? c->past[line * before + i] : 0;
}

/* Items are (image, channel). */
static void causal_items(void *user, uint64_t begin, uint64_t end)
{
    const struct causal *c = user;
    for (uint64_t line = begin; line < end; line++) {
        const float *w = c->w + line % c->channels * c->taps;
        for (uint64_t i = 0; i < c->length; i++) {
            float sum = c->bias ? c->bias[line % c->channels] : 0;
            for (uint64_t k = 0; k < c->taps; k++) sum += w[k] * causal_at(c, line, i + k);
            c->y[line * c->length + i] = c->silu ? sum / (1 + expf(-sum)) : sum;
        }
        for (uint64_t i = 0; c->kept && i < c->taps - 1; i++) c->kept[line * (c->taps - 1) + i] = causal_at(c, line, c->length + i);
    }
}

static bool run_causal(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_reals reals;
    struct tn_str activation = tn_attr_text(r->node, "activation");
    struct causal c = {.channels = (uint64_t)x->dims[1], .length = (uint64_t)x->dims[2], .taps = (uint64_t)r->in[1]->dims[2],
                       .silu = tn_str_is(activation, "silu") || tn_str_is(activation, "swish")};
    tn_reals_begin(&reals, r, TN_EL_F32);
    c.x = tn_reals_in(&reals, 0);
    c.w = tn_reals_in(&reals, 1);
    c.bias = tn_reals_in(&reals, 2);
    c.past = tn_reals_in(&reals, 3);
    c.y = tn_reals_out(&reals, 0);
    c.kept = tn_reals_out(&reals, 1);
    if (tn_reals_good(&reals)) tn_run_items(r, (uint64_t)x->dims[0] * c.channels, c.length * c.taps * 2, causal_items, &c);
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "LinearAttention", .since = 27, .infer = infer_linear, .run = run_linear, .lacks = lacks_linear},
    {.name = "CausalConvWithState", .since = 27, .infer = infer_causal, .run = run_causal, .lacks = lacks_causal},
};

const struct tn_operators tn_ops_attention_linear = {rows, sizeof(rows) / sizeof(rows[0])};
