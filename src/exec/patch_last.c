/*
 * Chains around depthwise convolutions are computed with channels last (ops/conv_last.c): lanes of a vector are then channels
 * whatever the width of an image, and the products of 1 x 1 windows are rows as they lie. Unlike other patches it looks at a
 * graph as a whole, when it is tried for the first time: which nodes take part is decided by what lies around them. They
 * begin at depthwise windows, grow over what can be computed either way, and shrink where more transpositions would be
 * needed than are saved. Each then becomes its counterpart and a transposition back, which is dropped where nobody reads it.
 */
#include "exec/patch_kit.h"

#include <string.h>

enum role { NONE, DEEP, DENSE, EACH, JOIN, LARGEST, AROUND, MEAN, BLOCKS, NEAREST };

struct tn_last {
    uint32_t nodes, values; /* as many as there were */
    uint8_t *role;          /* by node */
    bool *in;               /* by node: takes part */
    uint32_t *inside;       /* by value: how often nodes that take part read it as an image */
    uint32_t *last;         /* by value: its counterpart, or TN_NET_NONE */
};

void tn_last_free(struct tn_rewrite *w)
{
    struct tn_alloc *a = w->model->ctx->alloc;
    if (!w->last) return;
    tn_free(a, w->last->role);
    tn_free(a, w->last->in);
    tn_free(a, w->last->inside);
    tn_free(a, w->last->last);
    tn_free(a, w->last);
    w->last = NULL;
}

/* ---- what can be computed either way ------------------------------------------------------------------------------ */

static bool is_image(const struct tn_rewrite *w, struct tn_ref_value ref)
{
    if (ref.value == TN_NET_NONE || ref.level || w->alias[ref.value] != ref.value) return false;
    const struct tn_type *t = &w->net->values[ref.value].type;
    return t->kind == TN_KIND_TENSOR && t->element == TN_EL_F32 && t->shape.known && t->shape.rank == 4;
}

/* Whether few channels fill vectors as well as rows do, or half as well: the rest of a chain gains, too. */
static bool lanes_pay(int64_t channels, tn_dim_t width)
{
    enum { LANES = 16 };
    if (channels >= LANES) return true;
    if (!tn_dim_known(width) || width < 1) return false;
    return 2 * channels * ((width + LANES - 1) / LANES) >= width;
}

static enum role role_of_conv(const struct tn_rewrite *w, const struct tn_node *n)
{
    const struct tn_net_value *v = tn_rewrite_operand(w, n, 1);
    if (!v || !is_image(w, n->in[0]) || !tn_rewrite_constant(w, n, 1) || v->type.element != TN_EL_F32 || v->type.shape.rank != 4) return NONE;
    const tn_dim_t *d = v->type.shape.dims;
    int64_t residual = tn_attr_int(n, "tenon.residual", 0);
    if (residual < 0 || residual >= n->in_count || !is_image(w, n->in[residual])) return NONE;
    int64_t groups = tn_attr_int(n, "group", 1);
    for (uint32_t i = 0; i < 4; i++) {
        if (!tn_dim_known(d[i]) || d[i] < 1) return NONE;
    }
    if (groups > 1) return d[1] == 1 && d[0] == groups && lanes_pay(groups, w->net->values[n->out[0]].type.shape.dims[3]) ? DEEP : NONE;
    return DENSE;
}

/* Operators of one element, and of two: the only image of the first is operand 0. */
static const char *const ones[] = {"Relu", "HardSwish", "HardSigmoid", "Sigmoid", "Clip", "LeakyRelu", "Affine", "Tanh", "Swish", "Mish", "Gelu"};
static const char *const twos[] = {"Add", "Sub", "Mul", "Div"};

/* The name of the list that the node has, or NULL. */
static const char *one_of(const struct tn_node *n, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tn_is(n, names[i])) return names[i];
    }
    return NULL;
}

static const char *name_of_each(const struct tn_node *n)
{
    const char *name = one_of(n, ones, sizeof(ones) / sizeof(ones[0]));
    return name ? name : one_of(n, twos, sizeof(twos) / sizeof(twos[0]));
}

/* A rank of four, or one number: the axes of all operands are turned alike. */
static bool broadcasts_turned(const struct tn_rewrite *w, const struct tn_node *n)
{
    bool images = false;
    for (uint32_t k = 0; k < n->in_count; k++) {
        const struct tn_net_value *v = tn_rewrite_operand(w, n, k);
        if (!v) return false;
        const struct tn_shape *s = &v->type.shape;
        bool image = is_image(w, n->in[k]), one = s->known && (s->rank == 0 || (s->rank == 1 && s->dims[0] == 1));
        if (!image && !one) return false;
        images |= image;
    }
    return images;
}

static bool is_small_window(const struct tn_node *n)
{
    size_t count;
    const int64_t *kernel = tn_attr_ints(n, "kernel_shape", &count);
    return kernel && count == 2 && kernel[0] <= 8 && kernel[1] <= 8;
}

static bool means_planes(const struct tn_rewrite *w, const struct tn_node *n)
{
    int64_t axes[4];
    uint32_t count = 0;
    size_t given = 0;
    if (tn_is(n, "GlobalAveragePool")) return true;
    if (!tn_is(n, "ReduceMean") || !tn_attr_int(n, "keepdims", 1)) return false;
    const int64_t *fixed = tn_attr_ints(n, "axes", &given);
    if (fixed && given == 2) memcpy(axes, fixed, sizeof(int64_t[2]));
    else if (fixed || n->in_count < 2 || !tn_rewrite_numbers_of(w, n, 1, axes, 4, &count) || count != 2) return false;
    for (uint32_t i = 0; i < 2; i++) axes[i] += axes[i] < 0 ? 4 : 0;
    return (axes[0] == 2 && axes[1] == 3) || (axes[0] == 3 && axes[1] == 2);
}

static bool joins_channels(const struct tn_rewrite *w, const struct tn_node *n)
{
    int64_t axis = tn_attr_int(n, "axis", 1);
    if (!tn_is(n, "Concat") || (axis != 1 && axis != -3)) return false;
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (!is_image(w, n->in[k])) return false;
    }
    return n->in_count > 0;
}

static bool all_are(const struct tn_node *n, const char *name, int64_t value)
{
    size_t count;
    const int64_t *list = tn_attr_ints(n, name, &count);
    for (size_t i = 0; i < count; i++) {
        if (list[i] != value) return false;
    }
    return true;
}

/* A transposed convolution whose windows lie side by side. */
static bool makes_blocks(const struct tn_rewrite *w, const struct tn_node *n)
{
    const struct tn_net_value *v = tn_rewrite_operand(w, n, 1), *b = tn_rewrite_operand(w, n, 2);
    size_t count;
    const int64_t *stride = tn_attr_ints(n, "strides", &count);
    struct tn_str automatic = tn_attr_text(n, "auto_pad");
    if (!tn_is(n, "ConvTranspose") || !v || !tn_rewrite_constant(w, n, 1) || v->type.element != TN_EL_F32 || v->type.shape.rank != 4) return false;
    if (b && (!tn_rewrite_constant(w, n, 2) || b->type.element != TN_EL_F32)) return false;
    if (tn_attr_int(n, "group", 1) != 1 || !all_are(n, "dilations", 1) || !all_are(n, "pads", 0) || !all_are(n, "output_padding", 0)) return false;
    if (tn_node_attr(n, "output_shape") || tn_node_attr(n, "tenon.residual") || tn_node_attr(n, "tenon.bias")) return false;
    if (automatic.n && !tn_str_is(automatic, "NOTSET") && !tn_str_is(automatic, "VALID")) return false;
    const tn_dim_t *d = v->type.shape.dims;
    for (uint32_t i = 0; i < 4; i++) {
        if (!tn_dim_known(d[i]) || d[i] < 1) return false;
    }
    return stride ? count == 2 && stride[0] == d[2] && stride[1] == d[3] : d[2] == 1 && d[3] == 1;
}

/* Pixels that are copied, whole ones. Regions are stated by dimension, too, and asked for by no nearest neighbour that is usual. */
static bool copies_nearest(const struct tn_node *n)
{
    size_t count;
    return tn_is(n, "Resize") && n->version >= 11 && tn_str_is(tn_attr_text(n, "mode"), "nearest") && !tn_attr_ints(n, "axes", &count) &&
           !tn_str_is(tn_attr_text(n, "coordinate_transformation_mode"), "tf_crop_and_resize");
}

static enum role role_of(const struct tn_rewrite *w, const struct tn_node *n)
{
    if (n->in_count == 0 || n->out_count == 0 || n->out[0] == TN_NET_NONE || !is_image(w, (struct tn_ref_value){n->out[0], 0})) return NONE;
    for (uint32_t k = 1; k < n->out_count; k++) {
        if (n->out[k] != TN_NET_NONE) return NONE;
    }
    if (tn_is(n, "Conv")) return role_of_conv(w, n);
    if (joins_channels(w, n)) return JOIN;
    if (one_of(n, twos, sizeof(twos) / sizeof(twos[0]))) return n->version >= 7 && n->in_count == 2 && broadcasts_turned(w, n) ? EACH : NONE;
    if (!is_image(w, n->in[0])) return NONE;
    if (name_of_each(n)) return EACH;
    if (tn_is(n, "MaxPool")) return is_small_window(n) ? LARGEST : NONE;
    if (tn_is(n, "AveragePool")) return is_small_window(n) ? AROUND : NONE;
    if (makes_blocks(w, n)) return BLOCKS;
    if (copies_nearest(n)) return NEAREST;
    return means_planes(w, n) ? MEAN : NONE;
}

/* Whether operand k of a node with a role is an image that the role turns. */
static bool turns_operand(const struct tn_rewrite *w, const struct tn_node *n, enum role role, uint32_t k)
{
    switch (role) {
    case DEEP:
    case DENSE: return k == 0 || (int64_t)k == tn_attr_int(n, "tenon.residual", 0);
    case EACH:
    case JOIN: return is_image(w, n->in[k]);
    default: return k == 0;
    }
}

/* ---- which take part ---------------------------------------------------------------------------------------------- */

/* The node that makes operand k, when it has a role; TN_NET_NONE otherwise. */
static uint32_t maker(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    uint32_t p = w->net->values[n->in[k].value].producer;
    return p != TN_NET_NONE && w->last->role[p] != NONE && w->net->nodes[p].out[0] == n->in[k].value ? p : TN_NET_NONE;
}

/* One sweep; true while it finds somebody. */
static bool grow(struct tn_rewrite *w)
{
    struct tn_last *l = w->last;
    bool more = false;
    for (uint32_t i = 0; i < l->nodes; i++) {
        const struct tn_node *n = &w->net->nodes[i];
        for (uint32_t k = 0; l->role[i] != NONE && k < n->in_count; k++) {
            uint32_t p = turns_operand(w, n, (enum role)l->role[i], k) ? maker(w, n, k) : TN_NET_NONE;
            if (p == TN_NET_NONE || l->in[p] == l->in[i]) continue;
            l->in[p] = l->in[i] = more = true;
        }
    }
    return more;
}

static void count_inside(struct tn_rewrite *w)
{
    struct tn_last *l = w->last;
    memset(l->inside, 0, l->values * sizeof(*l->inside));
    for (uint32_t i = 0; i < l->nodes; i++) {
        const struct tn_node *n = &w->net->nodes[i];
        for (uint32_t k = 0; l->in[i] && k < n->in_count; k++) {
            if (turns_operand(w, n, (enum role)l->role[i], k)) l->inside[n->in[k].value]++;
        }
    }
}

/* What turning an image costs: its channels, of images of one shape. */
static uint64_t cost_of(const struct tn_rewrite *w, uint32_t value)
{
    enum { UNKNOWN = 64 };
    const tn_dim_t *d = w->net->values[value].type.shape.dims;
    if (d[2] == 1 && d[3] == 1) return 0;
    return tn_dim_known(d[1]) ? (uint64_t)d[1] : UNKNOWN;
}

/* Whether the image is turned for a node, or back from it, and for no other. */
static bool comes_from_outside(const struct tn_rewrite *w, const struct tn_node *n, enum role role, uint32_t k)
{
    const struct tn_last *l = w->last;
    uint32_t p = maker(w, n, k), own = 0;
    if ((p != TN_NET_NONE && l->in[p]) || tn_rewrite_constant(w, n, k)) return false;
    for (uint32_t m = 0; m < n->in_count; m++) own += n->in[m].value == n->in[k].value && turns_operand(w, n, role, m);
    return l->inside[n->in[k].value] == own;
}

static bool goes_outside(const struct tn_rewrite *w, uint32_t i)
{
    uint32_t y = w->net->nodes[i].out[0];
    return w->readers[y] > w->last->inside[y] || w->net->values[y].output;
}

/* Whether more of a node's images come from outside and go there than stay inside. */
static bool pays_not(const struct tn_rewrite *w, uint32_t i)
{
    const struct tn_last *l = w->last;
    const struct tn_node *n = &w->net->nodes[i];
    uint64_t inside = l->inside[n->out[0]] ? cost_of(w, n->out[0]) : 0, outside = goes_outside(w, i) ? cost_of(w, n->out[0]) : 0;
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (!turns_operand(w, n, (enum role)l->role[i], k) || tn_rewrite_constant(w, n, k)) continue;
        if (comes_from_outside(w, n, (enum role)l->role[i], k)) outside += cost_of(w, n->in[k].value);
        else inside += cost_of(w, n->in[k].value);
    }
    return inside < outside;
}

/* Whether so many images would be turned that the depthwise windows among all these nodes are a minor matter. */
static bool turns_too_many(const struct tn_rewrite *w)
{
    const struct tn_last *l = w->last;
    uint64_t turned = 0, deep = 0;
    for (uint32_t i = 0; i < l->nodes; i++) {
        const struct tn_node *n = &w->net->nodes[i];
        if (!l->in[i]) continue;
        deep += l->role[i] == DEEP;
        turned += goes_outside(w, i) && cost_of(w, n->out[0]) > 0 && !w->net->values[n->out[0]].output;
        for (uint32_t k = 0; k < n->in_count; k++) {
            if (turns_operand(w, n, (enum role)l->role[i], k) && cost_of(w, n->in[k].value) > 0) turned += comes_from_outside(w, n, (enum role)l->role[i], k);
        }
    }
    return turned > 3 * deep + 4;
}

static bool shrink(struct tn_rewrite *w)
{
    struct tn_last *l = w->last;
    bool more = false;
    count_inside(w);
    for (uint32_t i = 0; i < l->nodes; i++) {
        if (!l->in[i] || l->role[i] == DEEP || !pays_not(w, i)) continue;
        l->in[i] = false;
        more = true;
    }
    return more;
}

static bool decide(struct tn_rewrite *w)
{
    struct tn_alloc *a = w->model->ctx->alloc;
    struct tn_last *l = w->last = tn_calloc(a, 1, sizeof(*l));
    if (!l) return false;
    l->nodes = w->net->node_count;
    l->values = w->net->value_count;
    l->role = tn_calloc(a, (size_t)l->nodes + 1, sizeof(*l->role));
    l->in = tn_calloc(a, (size_t)l->nodes + 1, sizeof(*l->in));
    l->inside = tn_calloc(a, (size_t)l->values + 1, sizeof(*l->inside));
    l->last = tn_calloc(a, (size_t)l->values + 1, sizeof(*l->last));
    if (!l->role || !l->in || !l->inside || !l->last) return false;
    for (uint32_t v = 0; v < l->values; v++) l->last[v] = TN_NET_NONE;
    for (uint32_t i = 0; i < l->nodes; i++) {
        l->role[i] = (uint8_t)role_of(w, &w->net->nodes[i]);
        l->in[i] = l->role[i] == DEEP;
    }
    while (grow(w)) continue;
    while (shrink(w)) continue;
    if (turns_too_many(w)) memset(l->in, 0, l->nodes * sizeof(*l->in));
    return true;
}

/* ---- rewriting ---------------------------------------------------------------------------------------------------- */

static const struct tn_ref_value nothing = {TN_NET_NONE, 0};

/* The node that turns an image, or back: a reshaping where its planes have one element. */
struct turning {
    struct tn_attr perm;
    struct tn_ref_value in[2];
    struct tn_new_node node;
};

static void turn_image(struct tn_rewrite *w, struct tn_ref_value x, const struct tn_shape *first, bool back, struct turning *t)
{
    static const int64_t perms[2][4] = {{0, 2, 3, 1}, {0, 3, 1, 2}};
    const tn_dim_t *d = first->dims;
    *t = (struct turning){.perm = {.name = TN_STR("perm"), .type = TN_ATTR_INTS, .count = 4, .as = {.ints = perms[back]}}, .in = {x, nothing}};
    t->node = (struct tn_new_node){.type = "Transpose", .version = 13, .in = t->in, .in_count = 1, .attrs = &t->perm, .attr_count = 1};
    if (d[2] != 1 || d[3] != 1 || !tn_dim_known(d[1]) || d[1] == 0) return;
    t->in[1] = tn_rewrite_ints(w, back ? (int64_t[]){0, d[1], 1, 1} : (int64_t[]){0, 1, 1, d[1]}, 4);
    t->node = (struct tn_new_node){.type = "Reshape", .version = 13, .in = t->in, .in_count = 2};
}

/* The counterpart of an image that node i reads. */
static struct tn_ref_value counterpart(struct tn_rewrite *w, uint32_t i, struct tn_ref_value x)
{
    uint32_t *known = &w->last->last[x.value];
    if (*known == TN_NET_NONE) {
        struct turning t;
        struct tn_shape shape = w->net->values[x.value].type.shape;
        turn_image(w, x, &shape, false, &t);
        *known = tn_rewrite_put(w, i, &t.node).value;
    }
    return (struct tn_ref_value){*known, 0};
}

bool tn_patch_last(struct tn_rewrite *w, uint32_t i)
{
    enum { OPERANDS = 64, ATTRS = 16 };
    if (!w->last && !decide(w)) w->no_memory = true;
    if (w->no_memory || !w->last->in[i] || w->net->nodes[i].in_count > OPERANDS) return false;
    const struct tn_node n = w->net->nodes[i]; /* nodes move when others are put */
    const enum role role = (enum role)w->last->role[i];
    struct tn_ref_value in[OPERANDS];
    static const int64_t turned[4] = {0, 3, 1, 2};
    struct tn_attr axis = {.name = TN_STR("axis"), .type = TN_ATTR_INT, .as = {.i = 3}}, attrs[ATTRS];
    for (uint32_t k = 0; k < n.in_count; k++) {
        in[k] = turns_operand(w, &n, role, k) ? counterpart(w, i, n.in[k]) : n.in[k];
        if (in[k].value == TN_NET_NONE && n.in[k].value != TN_NET_NONE) return false;
    }
    static const char *const names[] = {[DEEP] = "LastConv", [DENSE] = "LastConv", [JOIN] = "Concat", [LARGEST] = "LastMaxPool", [AROUND] = "LastAveragePool", [MEAN] = "LastAverage",
                                        [BLOCKS] = "LastUp", [NEAREST] = "Resize"};
    struct tn_new_node node = {.type = role == EACH ? name_of_each(&n) : names[role], .version = n.version, .in = in, .in_count = n.in_count,
                               .attrs = n.attrs, .attr_count = n.attr_count};
    if (role == JOIN) node.attrs = &axis;
    if (role == JOIN) node.attr_count = 1;
    if (role == MEAN) node.attr_count = 0;
    if (role == MEAN) node.in_count = 1;
    if (role == NEAREST) { /* sizes and scales stay those of [N, C, H, W]; axes are known from version 18 on */
        if (n.attr_count + 1u > ATTRS) return false;
        memcpy(attrs, n.attrs, n.attr_count * sizeof(*attrs));
        attrs[n.attr_count] = (struct tn_attr){.name = TN_STR("axes"), .type = TN_ATTR_INTS, .count = 4, .as = {.ints = turned}};
        node.attrs = attrs;
        node.attr_count = n.attr_count + 1;
        node.version = n.version > 19 ? n.version : 19;
    } else if (role != EACH && role != JOIN) {
        node.domain = "tenon";
        node.version = 1;
    }
    struct tn_ref_value made = tn_rewrite_put(w, i, &node);
    if (made.value == TN_NET_NONE) return false;
    struct turning back;
    struct tn_shape shape = w->net->values[n.out[0]].type.shape;
    turn_image(w, made, &shape, true, &back);
    if (!tn_rewrite_turn(w, i, &back.node)) return false;
    w->last->last[n.out[0]] = made.value;
    return true;
}
