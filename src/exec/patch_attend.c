/*
 * Attention that is written out (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1): MatMul, a factor, a mask, Softmax,
 * MatMul become one operator (ops/fused_attend.c), which reads and writes heads where they lie. So the transpositions
 * around them go, and the reshapings to one dimension of batches and heads.
 *
 * Three steps, each of which is whole without the next: the second product becomes the operator; a Reshape behind it that
 * parts batches from heads takes the place of three before it; a transposition behind it becomes its way of writing.
 */
#include "exec/patch_kit.h"

#include <string.h>

static const char *const names[] = {"q", "k", "v"};

/* What an operator of ours states. */
struct attend {
    struct tn_ref_value in[4]; /* q, k, v, mask */
    int64_t perm[3][4];
    uint32_t rank;
    float scale;
    bool out, merged;
};

static bool is_attend(const struct tn_node *n)
{
    return n && tn_str_is(n->domain, "tenon") && tn_str_is(n->type, "Attend");
}

static const struct tn_shape *shape_of(const struct tn_rewrite *w, struct tn_ref_value ref)
{
    const struct tn_net_value *v = tn_net_at(w->net, ref);
    return v && v->type.kind == TN_KIND_TENSOR && v->type.element == TN_EL_F32 && v->type.shape.known ? &v->type.shape : NULL;
}

static bool same_shape(const struct tn_shape *a, const struct tn_shape *b)
{
    bool same = a && b && a->rank == b->rank;
    for (uint32_t d = 0; same && d < a->rank; d++) same = a->dims[d] == b->dims[d];
    return same;
}

static struct tn_ref_value output_of(const struct tn_node *n)
{
    return (struct tn_ref_value){n->out[0], 0};
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* n multiplies or divides by one number: what else it reads, or TN_NET_NONE. The shape must stay. */
static struct tn_ref_value scaled_by(struct tn_rewrite *w, const struct tn_node *n, float *scale)
{
    const struct tn_ref_value none = {TN_NET_NONE, 0};
    double number;
    bool product = tn_is(n, "Mul");
    if ((!product && !tn_is(n, "Div")) || n->version < 7) return none;
    for (uint32_t k = product ? 2 : 1; k-- > 0;) {
        if (!tn_rewrite_number_of(w, n, 1 - k, &number) || !(number != 0)) continue;
        if (!same_shape(shape_of(w, n->in[k]), shape_of(w, output_of(n)))) continue;
        *scale = (float)(product ? (double)*scale * number : (double)*scale / number);
        return n->in[k];
    }
    return none;
}

/* Operand k of n and what may be taken into its reader: factors, and one transposition that leaves the last dimension. */
static bool read_operand(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, bool turned, struct tn_ref_value *ref, int64_t *perm, float *scale)
{
    const struct tn_shape *s = shape_of(w, n->in[k]);
    if (!s || s->rank < 3 || s->rank > 4) return false;
    const uint32_t rank = s->rank;
    const struct tn_node *made;
    *ref = n->in[k];
    while ((made = tn_rewrite_source(w, n, k, 1)) && scale) {
        struct tn_ref_value x = scaled_by(w, made, scale);
        if (x.value == TN_NET_NONE) break;
        *ref = x;
        n = made;
        k = made->in[0].value == x.value && made->in[0].level == x.level ? 0 : 1;
    }
    for (uint32_t d = 0; d < rank; d++) perm[d] = d;
    made = tn_rewrite_source(w, n, k, 0);
    size_t count;
    const int64_t *stated = tn_is(made, "Transpose") ? tn_attr_ints(made, "perm", &count) : NULL;
    if (stated && count == rank) {
        for (uint32_t d = 0; d < rank; d++) perm[d] = stated[d];
        *ref = made->in[0];
    }
    if (turned) { /* [.., size, rows] stands there */
        int64_t last = perm[rank - 1];
        perm[rank - 1] = perm[rank - 2];
        perm[rank - 2] = last;
    }
    if (perm[rank - 1] == (int64_t)rank - 1) return true;
    if (turned || !stated) return false;
    for (uint32_t d = 0; d < rank; d++) perm[d] = d; /* then it stays */
    *ref = n->in[k];
    return true;
}

/*
 * The node that made operand k of n, past nodes that only give the same elements other dimensions and back. *alone: nobody
 * else reads what comes between.
 */
static struct tn_node *unchanged(struct tn_rewrite *w, struct tn_node *n, uint32_t k, bool *alone)
{
    const struct tn_shape *s = shape_of(w, n->in[k]);
    *alone = true;
    for (unsigned depth = 0; s && depth < 4; depth++) {
        struct tn_node *made = tn_rewrite_source(w, n, k, 0);
        *alone = *alone && tn_rewrite_source(w, n, k, 1) == made;
        if (!tn_is(made, "Reshape")) return made && same_shape(s, shape_of(w, output_of(made))) ? made : NULL;
        n = made;
        k = 0;
    }
    return NULL;
}

static bool along_last(const struct tn_rewrite *w, const struct tn_node *softmax)
{
    const struct tn_shape *s = shape_of(w, output_of(softmax));
    int64_t axis = tn_attr_int(softmax, "axis", softmax->version < 13 ? 1 : -1);
    return s && s->rank && (axis == -1 || axis == (int64_t)s->rank - 1);
}

/* The scores behind a Softmax, with the factor and the mask between; the product's node, or NULL. */
static const struct tn_node *read_scores(struct tn_rewrite *w, const struct tn_node *softmax, struct attend *a)
{
    const struct tn_node *n = softmax;
    const struct tn_shape *s = shape_of(w, output_of(softmax)), *mask;
    uint32_t k = 0;
    const struct tn_node *made = tn_rewrite_source(w, n, k, 1);
    if (tn_is(made, "Add") && made->version >= 7) {
        for (uint32_t side = 0; side < 2; side++) {
            const struct tn_node *inner = tn_rewrite_source(w, made, side, 1);
            if (!tn_is(inner, "MatMul") && !tn_is(inner, "Mul") && !tn_is(inner, "Div")) continue;
            mask = shape_of(w, made->in[1 - side]);
            if (!mask || mask->rank == 0 || mask->rank > s->rank || !same_shape(shape_of(w, made->in[side]), s)) continue;
            a->in[3] = made->in[1 - side];
            n = made;
            k = side;
            break;
        }
        if (n == softmax) return NULL;
        made = tn_rewrite_source(w, n, k, 1);
    }
    for (unsigned depth = 0; depth < 3 && (tn_is(made, "Mul") || tn_is(made, "Div")); depth++) {
        struct tn_ref_value x = scaled_by(w, made, &a->scale);
        if (x.value == TN_NET_NONE) return NULL;
        k = made->in[0].value == x.value && made->in[0].level == x.level ? 0 : 1;
        made = tn_rewrite_source(w, made, k, 1);
    }
    bool plain = tn_is(made, "MatMul") && made->attr_count == 0 && made->in_count == 2;
    return plain && same_shape(shape_of(w, output_of(made)), s) ? made : NULL;
}

/* Batches and heads are the same everywhere, sizes are numbers. */
static bool agree(const struct tn_rewrite *w, const struct attend *a)
{
    const struct tn_shape *s[3];
    for (uint32_t i = 0; i < 3; i++) {
        s[i] = shape_of(w, a->in[i]);
        if (!s[i] || s[i]->rank != a->rank) return false;
        if (s[i]->dims[a->rank - 1] < 1) return false;
    }
    for (uint32_t i = 1; i < 3; i++) {
        for (uint32_t d = 0; d + 2 < a->rank; d++) {
            if (s[i]->dims[a->perm[i][d]] != s[0]->dims[a->perm[0][d]]) return false;
        }
    }
    return s[0]->dims[a->rank - 1] == s[1]->dims[a->rank - 1] && s[1]->dims[a->perm[1][a->rank - 2]] == s[2]->dims[a->perm[2][a->rank - 2]];
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static bool turn(struct tn_rewrite *w, uint32_t i, const struct attend *a, uint32_t softmax, bool keep)
{
    struct tn_attr attrs[6];
    for (uint32_t k = 0; k < 3; k++) {
        int64_t *perm = tn_arena_array(&w->model->arena, 4, sizeof(*perm));
        if (!perm) {
            w->no_memory = true;
            return false;
        }
        memcpy(perm, a->perm[k], sizeof(a->perm[k]));
        attrs[k] = (struct tn_attr){.name = tn_str_of(names[k]), .type = TN_ATTR_INTS, .count = a->rank, .as = {.ints = perm}};
    }
    attrs[3] = (struct tn_attr){.name = TN_STR("scale"), .type = TN_ATTR_FLOAT, .as = {.f = a->scale}};
    attrs[4] = (struct tn_attr){.name = TN_STR("out"), .type = TN_ATTR_INT, .as = {.i = a->out}};
    attrs[5] = (struct tn_attr){.name = TN_STR("merged"), .type = TN_ATTR_INT, .as = {.i = a->merged}};
    struct tn_new_node node = {.domain = "tenon", .type = "Attend", .version = 1, .in = a->in, .in_count = a->in[3].value == TN_NET_NONE ? 3 : 4,
                               .attrs = attrs, .attr_count = 6, .second = keep, .second_of = softmax};
    return tn_rewrite_turn(w, i, &node);
}

static bool read_attend(const struct tn_rewrite *w, const struct tn_node *n, struct attend *a)
{
    size_t count;
    *a = (struct attend){.in = {n->in[0], n->in[1], n->in[2], {TN_NET_NONE, 0}}, .scale = (float)tn_attr_float(n, "scale", 1),
                         .out = tn_attr_int(n, "out", 0) != 0, .merged = tn_attr_int(n, "merged", 0) != 0};
    if (n->in_count > 3) a->in[3] = n->in[3];
    const struct tn_shape *s = shape_of(w, n->in[0]);
    if (!s) return false;
    a->rank = s->rank;
    for (uint32_t k = 0; k < 3; k++) {
        const int64_t *perm = tn_attr_ints(n, names[k], &count);
        for (uint32_t d = 0; d < a->rank; d++) a->perm[k][d] = perm[d];
    }
    return true;
}

/* The node's second output, if it is wanted. */
static bool keeps(const struct tn_node *n)
{
    return n->out_count > 1 && n->out[1] != TN_NET_NONE;
}

/* MatMul(Softmax(...), V) */
static bool begin_attend(struct tn_rewrite *w, uint32_t i)
{
    struct tn_node *n = &w->net->nodes[i], *softmax;
    struct attend a = {.scale = 1, .in = {[3] = {TN_NET_NONE, 0}}};
    const struct tn_shape *y = shape_of(w, output_of(n));
    bool alone;
    if (n->in_count != 2 || n->attr_count || !y || y->rank < 3 || y->rank > 4) return false;
    a.rank = y->rank;
    softmax = unchanged(w, n, 0, &alone);
    if (!tn_is(softmax, "Softmax") || !along_last(w, softmax)) return false;
    const struct tn_node *scores = read_scores(w, softmax, &a);
    if (!scores) return false;
    if (!read_operand(w, scores, 0, false, &a.in[0], a.perm[0], &a.scale) || !read_operand(w, scores, 1, true, &a.in[1], a.perm[1], &a.scale) ||
        !read_operand(w, n, 1, false, &a.in[2], a.perm[2], NULL))
        return false;
    /* Who else reads the probabilities reads them from here. */
    return agree(w, &a) && turn(w, i, &a, tn_rewrite_number(w, softmax), !alone);
}

/* x [batches * heads, rows, size] with batches and heads apart: where it came from, or false. */
static bool apart(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, const struct tn_shape *like, struct tn_ref_value *ref, int64_t *perm)
{
    const struct tn_node *made = tn_rewrite_source(w, n, k, 0);
    const struct tn_shape *x = shape_of(w, n->in[k]), *four = tn_is(made, "Reshape") ? shape_of(w, made->in[0]) : NULL;
    size_t count;
    const int64_t *mine = tn_attr_ints(n, names[k], &count);
    if (!four || four->rank != 4 || !mine || mine[0] != 0 || mine[1] != 1) return false;
    if (four->dims[0] != like->dims[0] || four->dims[1] != like->dims[1] || four->dims[2] != x->dims[1] || four->dims[3] != x->dims[2]) return false;
    if (tn_dim_mul(&w->model->symbols, four->dims[0], four->dims[1]) != x->dims[0]) return false;
    return read_operand(w, made, 0, false, ref, perm, NULL);
}

/* Reshape of the result to rank 4 */
static bool part_heads(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    struct tn_node *made = tn_rewrite_source(w, n, 0, 0);
    struct attend a;
    const struct tn_shape *y = shape_of(w, output_of(n)), *three = shape_of(w, n->in[0]);
    if (!is_attend(made) || w->readers[made->out[0]] != 1 || w->net->values[made->out[0]].output) return false;
    if (!read_attend(w, made, &a) || a.rank != 3 || a.in[3].value != TN_NET_NONE || !y || y->rank != 4 || !three) return false;
    if (y->dims[2] != three->dims[1] || y->dims[3] != three->dims[2]) return false;
    for (uint32_t k = 0; k < 3; k++) {
        if (!apart(w, made, k, y, &a.in[k], a.perm[k])) return false;
    }
    a.rank = 4;
    a.merged = true;
    return agree(w, &a) && turn(w, i, &a, tn_rewrite_number(w, made), keeps(made));
}

/* Transpose of the result: rows in front of heads */
static bool write_rows(struct tn_rewrite *w, uint32_t i)
{
    static const int64_t rows_first[] = {0, 2, 1, 3};
    const struct tn_node *n = &w->net->nodes[i];
    struct tn_node *made = tn_rewrite_source(w, n, 0, 0);
    struct attend a;
    size_t count;
    const int64_t *perm = tn_attr_ints(n, "perm", &count);
    if (!is_attend(made) || w->readers[made->out[0]] != 1 || w->net->values[made->out[0]].output || !perm || count != 4) return false;
    if (memcmp(perm, rows_first, sizeof(rows_first)) != 0 || !read_attend(w, made, &a) || a.rank != 4 || a.out) return false;
    a.out = true;
    return turn(w, i, &a, tn_rewrite_number(w, made), keeps(made));
}

bool tn_patch_attend(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (n->out_count != 1 || n->out[0] == TN_NET_NONE) return false;
    if (tn_is(n, "MatMul")) return begin_attend(w, i);
    if (tn_is(n, "Reshape")) return part_heads(w, i);
    return tn_is(n, "Transpose") && write_rows(w, i);
}
