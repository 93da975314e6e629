/*
 * The optimiser: each patch where it applies and where it must not, and 2,000 generated graphs whose results are the same
 * with all patches, with each left out, and as they are written; with one thread and with two bit by bit.
 */
#define _GNU_SOURCE
#include "exec_graphs.h"

/* ---- one patch each ----------------------------------------------------------------------------------------------- */

TEST(a_batch_normalisation_goes_into_the_convolution)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    reals(&g, "w", "3,4,3,3", 108, -1, 1, &state);
    for (const char *p = "sbm"; *p; p++) reals(&g, (char[]){*p, 0}, "3", 3, -1, 1, &state);
    reals(&g, "v", "3", 3, 0.5, 2, &state);
    op(&g, "Conv", "x w", "c", "pads=1,1,1,1");
    op(&g, "BatchNormalization", "c s b m v", "n", "epsilon=0.01f");
    op(&g, "Relu", "n", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,3,5,6");
    struct given in = image(2, false);
    /* What is computed once stays among the nodes; a call runs the convolution alone. */
    expect(g, &in, "\"affine\":1", "Add Sqrt Div Mul Sub Reshape Mul Conv ");
}

TEST(a_convolution_whose_result_is_read_elsewhere_stays)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    reals(&g, "w", "3,4,1,1", 12, -1, 1, &state);
    scalar(&g, "two", 2);
    op(&g, "Conv", "x w", "c", "");
    op(&g, "Mul", "c two", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,3,5,6");
    port(&g, 12, "c", TN_EL_F32, "2,3,5,6");
    struct given in = image(2, false);
    expect(g, &in, "{}", "Conv Mul ");
}

TEST(an_addend_along_another_axis_is_no_bias)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    reals(&g, "w", "3,4,1,1", 12, -1, 1, &state);
    reals(&g, "a", "6", 6, -1, 1, &state);
    op(&g, "Conv", "x w", "c", "");
    op(&g, "Add", "c a", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,3,5,6");
    struct given in = image(2, false);
    expect(g, &in, "{}", "Conv Add ");
}

TEST(written_activations_are_found_in_symbolic_shapes)
{
    struct bytes g = {0};
    begin();
    scalar(&g, "three", 3);
    scalar(&g, "zero", 0);
    scalar(&g, "six", 6);
    op(&g, "Add", "x three", "a", "");
    op(&g, "Clip", "a zero six", "b", "");
    op(&g, "Mul", "x b", "c", "");
    op(&g, "Div", "c six", "d", "");
    op(&g, "Sigmoid", "d", "e", "");
    op(&g, "Mul", "d e", "y", "");
    port(&g, 11, "x", TN_EL_F32, "batch,4,h,w");
    port(&g, 12, "y", TN_EL_F32, "batch,4,h,w");
    struct given in = image(3, true);
    expect(g, &in, "\"written\":2", "HardSwish Swish ");
}

TEST(a_factor_and_an_addend_are_one_pass_when_they_are_numbers)
{
    struct bytes g = {0};
    uint64_t state = 4;
    begin();
    scalar(&g, "three", 3);
    scalar(&g, "six", 6);
    reals(&g, "many", "5,1", 5, -1, 1, &state);
    op(&g, "Mul", "three x", "a", "");
    op(&g, "Add", "a six", "b", "");
    op(&g, "Mul", "b many", "c", "");
    op(&g, "Add", "c six", "y", "");
    port(&g, 11, "x", TN_EL_F32, "batch,4,h,w");
    port(&g, 12, "y", TN_EL_F32, "batch,4,h,w");
    struct given in = image(3, true);
    expect(g, &in, "\"written\":1", "Affine Mul Add ");
}

TEST(a_gate_with_other_bounds_is_none)
{
    struct bytes g = {0};
    begin();
    scalar(&g, "three", 3);
    scalar(&g, "zero", 0);
    scalar(&g, "five", 5);
    scalar(&g, "six", 6);
    op(&g, "Add", "x three", "a", "");
    op(&g, "Clip", "a zero five", "b", "");
    op(&g, "Mul", "x b", "c", "");
    op(&g, "Div", "c six", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,6");
    struct given in = image(3, true);
    expect(g, &in, "{}", "Add Clip Mul Div ");
}

TEST(an_identity_between_input_and_output_keeps_both)
{
    struct bytes g = {0};
    begin();
    op(&g, "Identity", "x", "y", "");
    op(&g, "Transpose", "x", "t", "perm=0,1,3,2");
    op(&g, "Transpose", "t", "z", "perm=0,1,3,2");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "z", TN_EL_F32, "2,4,5,6");
    struct given in = image(3, true);
    expect(g, &in, "\"identity\":2,\"pairs\":1", "");
}

TEST(an_unknown_patch_is_refused)
{
    struct tn_model model = {.ctx = &ctx};
    const char *name = "nothing of this name";
    tn_alloc_init(&alloc);
    tn_arena_init(&model.arena, &alloc);
    CHECK_INT(tn_net_patch(&model, &name, 1, err), TN_INVALID_REQUEST);
    CHECK_STR(err->primary.found, name);
    tn_arena_release(&model.arena);
}

/* ---- generated ---------------------------------------------------------------------------------------------------- */

enum { GRAPHS = 2000, CHANNELS = 4 };

struct generating {
    struct bytes g;
    uint64_t state;
    int values; /* v0 is the input; all of one shape */
    int constants, rows;
    int coded, fixed; /* whether the input is there as codes */
    int signs;        /* and as its signs */
};

static int below(struct generating *s, int n)
{
    return (int)(test_random(&s->state) % (uint64_t)n);
}

/* A value made before, recent ones rather. */
static int pick(struct generating *s)
{
    int back = below(s, 2) ? 1 : 1 + below(s, s->values);
    return s->values - back;
}

static void emit(struct generating *s, const char *type, const char *in, const char *attrs)
{
    char out[16];
    snprintf(out, sizeof(out), "v%d", s->values++);
    op(&s->g, type, in, out, attrs);
}

/* A value of another shape, w0, w1 ... */
static void emit_row(struct generating *s, const char *type, const char *in, const char *attrs)
{
    char out[16];
    snprintf(out, sizeof(out), "w%d", s->rows++);
    op(&s->g, type, in, out, attrs);
}

static void emit_product(struct generating *s)
{
    char in[64], bias[16] = "", weights[16];
    bool wide = below(s, 2);
    snprintf(weights, sizeof(weights), "k%d", s->constants++);
    reals(&s->g, weights, wide ? "4,4,3,3" : "4,4,1,1", wide ? 144 : 16, -0.4, 0.4, &s->state);
    if (below(s, 2)) {
        snprintf(bias, sizeof(bias), " k%d", s->constants++);
        reals(&s->g, bias + 1, "4", 4, -1, 1, &s->state);
    }
    snprintf(in, sizeof(in), "v%d %s%s", pick(s), weights, bias);
    emit(s, "Conv", in, wide ? "pads=1,1,1,1" : "");
}

static void emit_normalisation(struct generating *s)
{
    char in[64];
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof(name), "k%d", s->constants + i);
        reals(&s->g, name, "4", CHANNELS, i == 3 ? 0.5 : -1, i == 3 ? 2 : 1, &s->state);
    }
    snprintf(in, sizeof(in), "v%d k%d k%d k%d k%d", s->values - 1, s->constants, s->constants + 1, s->constants + 2, s->constants + 3);
    s->constants += 4;
    emit(s, "BatchNormalization", in, "");
}

static void emit_constant_pair(struct generating *s, const char *type)
{
    static const char *const dims[] = {"", "1", "1,4,1,1", "4,1,1", "6", "6,1"};
    static const int counts[] = {1, 1, 4, 4, 6, 6};
    char name[16], in[64];
    int which = below(s, 6), x = pick(s);
    snprintf(name, sizeof(name), "k%d", s->constants++);
    reals(&s->g, name, dims[which], (size_t)counts[which], 0.5, 2, &s->state);
    if (below(s, 2) && strcmp(type, "Div") != 0) snprintf(in, sizeof(in), "%s v%d", name, x);
    else snprintf(in, sizeof(in), "v%d %s", x, name);
    emit(s, type, in, "");
}

static void emit_gate(struct generating *s)
{
    char in[64];
    int x = pick(s);
    snprintf(in, sizeof(in), "v%d three", x);
    emit(s, "Add", in, "");
    snprintf(in, sizeof(in), "v%d zero six", s->values - 1);
    emit(s, "Clip", in, "");
    bool late = below(s, 2);
    snprintf(in, sizeof(in), "v%d v%d", x, s->values - 1);
    if (late) emit(s, "Mul", in, "");
    snprintf(in, sizeof(in), "v%d six", s->values - 1);
    emit(s, "Div", in, "");
    snprintf(in, sizeof(in), "v%d v%d", x, s->values - 1);
    if (!late) emit(s, "Mul", in, "");
}

/* One of the values is read twice and a shape of one element more than the norm needs may come in between. */
static void emit_norm(struct generating *s)
{
    char in[64];
    int x = pick(s), difference;
    snprintf(in, sizeof(in), "v%d last", x);
    emit_row(s, "ReduceMean", in, "");
    snprintf(in, sizeof(in), "v%d w%d", x, s->rows - 1);
    difference = s->values;
    emit(s, "Sub", in, "");
    snprintf(in, sizeof(in), below(s, 2) ? "v%d two" : "v%d v%d", difference, difference);
    emit(s, strstr(in, "two") ? "Pow" : "Mul", in, "");
    snprintf(in, sizeof(in), "v%d last", s->values - 1);
    emit_row(s, "ReduceMean", in, "");
    snprintf(in, sizeof(in), "w%d tiny", s->rows - 1);
    emit_row(s, "Add", in, "");
    snprintf(in, sizeof(in), "w%d", s->rows - 1);
    emit_row(s, "Sqrt", in, "");
    snprintf(in, sizeof(in), "v%d w%d", difference, s->rows - 1);
    emit(s, "Div", in, "");
    for (int i = 0; i < 2; i++) {
        snprintf(in, sizeof(in), "v%d k%d", s->values - 1, s->constants);
        reals(&s->g, in + strcspn(in, "k"), below(s, 4) ? "6" : "6,1", 6, -1, 1, &s->state);
        s->constants++;
        emit(s, i ? "Add" : "Mul", in, "");
    }
}

/* A value through other heads and back, so that patches that cancel pairs leave both transpositions. */
static int emit_turned(struct generating *s, int x)
{
    char in[64];
    snprintf(in, sizeof(in), "v%d", x);
    emit_row(s, "Transpose", in, "perm=0,2,1,3");
    snprintf(in, sizeof(in), "w%d", s->rows - 1);
    emit_row(s, "Relu", in, "");
    snprintf(in, sizeof(in), "w%d", s->rows - 1);
    emit(s, "Transpose", in, "perm=0,2,1,3");
    return s->values - 1;
}

/* Of large scores the exponentials would tell each rounding: queries and keys are small. */
static int emit_small(struct generating *s)
{
    char in[64];
    snprintf(in, sizeof(in), "v%d", pick(s));
    emit(s, "Tanh", in, "");
    return s->values - 1;
}

static void emit_attention(struct generating *s)
{
    char in[64];
    int q = emit_small(s), k = emit_small(s), v = pick(s), mask = pick(s);
    if (below(s, 2)) q = emit_turned(s, q);
    if (below(s, 2)) v = emit_turned(s, v);
    snprintf(in, sizeof(in), "v%d half", q);
    if (below(s, 3) == 0) emit(s, "Mul", in, "");
    if (below(s, 3) == 0) q = s->values - 1;
    snprintf(in, sizeof(in), "v%d", k);
    emit(s, "Transpose", in, "perm=0,1,3,2");
    snprintf(in, sizeof(in), "v%d v%d", q, s->values - 1);
    emit(s, "MatMul", in, "");
    snprintf(in, sizeof(in), "v%d three", s->values - 1);
    if (below(s, 2)) emit(s, "Div", in, "");
    snprintf(in, sizeof(in), "v%d v%d", s->values - 1, mask);
    if (below(s, 3) == 0) emit(s, "Add", in, "");
    snprintf(in, sizeof(in), "v%d", s->values - 1);
    emit(s, "Softmax", in, "axis=3");
    snprintf(in, sizeof(in), "v%d v%d", s->values - 1, v);
    emit(s, "MatMul", in, "");
    if (below(s, 2)) emit_turned(s, s->values - 1);
}

static void emit_gelu(struct generating *s)
{
    char in[64];
    int x = pick(s);
    bool by_tanh = below(s, 2), early = below(s, 2);
    snprintf(in, sizeof(in), by_tanh ? "v%d three" : "v%d root", x);
    emit(s, by_tanh ? "Pow" : "Div", in, "");
    if (by_tanh) {
        snprintf(in, sizeof(in), "v%d little", s->values - 1);
        emit(s, "Mul", in, "");
        snprintf(in, sizeof(in), "v%d v%d", x, s->values - 1);
        emit(s, "Add", in, "");
        snprintf(in, sizeof(in), "slope v%d", s->values - 1);
        emit(s, "Mul", in, "");
    }
    snprintf(in, sizeof(in), "v%d", s->values - 1);
    emit(s, by_tanh ? "Tanh" : "Erf", in, "");
    snprintf(in, sizeof(in), "one v%d", s->values - 1);
    emit(s, "Add", in, "");
    snprintf(in, sizeof(in), early ? "v%d half" : "v%d v%d", s->values - 1, x);
    emit(s, "Mul", in, "");
    snprintf(in, sizeof(in), early ? "v%d v%d" : "v%d half", s->values - 1, x);
    emit(s, "Mul", in, "");
}

/* Of the input alone: behind a rewritten value the last bit may decide which code a number gets, and codes are steps. */
static void emit_quantised(struct generating *s)
{
    char name[5][16], in[96];
    bool conv = below(s, 2), written = below(s, 2);
    unsigned element = below(s, 2) ? TN_EL_U8 : TN_EL_I8;
    for (int i = 0; i < 5; i++) snprintf(name[i], sizeof(name[i]), "k%d", s->constants++);
    codes(&s->g, name[0], element, conv ? "4,4,3,3" : "6,6", conv ? 144 : 36, &s->state);
    bool many = written && below(s, 2);
    reals(&s->g, name[2], !many ? "1" : conv ? "4,1,1" : "6", !many ? 1 : conv ? 4 : 6, 0.002, 0.01, &s->state);
    if (written) {
        codes(&s->g, name[1], element, "", 1, &s->state);
        if (!s->coded++) op(&s->g, "DynamicQuantizeLinear", "v0", "q s z", "");
        snprintf(in, sizeof(in), "q %s z %s", name[0], name[1]);
        op(&s->g, conv ? "ConvInteger" : "MatMulInteger", in, name[3], conv ? "pads=1,1,1,1" : "");
        snprintf(in, sizeof(in), "%s.f", name[3]);
        op(&s->g, "Cast", name[3], in, "to=1");
        snprintf(in, sizeof(in), "s %s", name[2]);
        op(&s->g, "Mul", in, name[4], "");
        snprintf(in, sizeof(in), "%s %s.f", name[4], name[3]);
        emit(s, "Mul", in, "");
        return;
    }
    if (!s->fixed++) {
        constant(&s->g, "fz", TN_EL_U8, "", (uint8_t[]){131}, 1);
        scalar(&s->g, "fs", 0.04f);
        op(&s->g, "QuantizeLinear", "v0 fs fz", "fq", "");
        op(&s->g, "DequantizeLinear", "fq fs fz", "fd", "");
    }
    snprintf(in, sizeof(in), "%s %s", name[0], name[2]);
    op(&s->g, "DequantizeLinear", in, name[3], "");
    snprintf(in, sizeof(in), "fd %s", name[3]);
    emit(s, conv ? "Conv" : "MatMul", in, conv ? "pads=1,1,1,1" : "");
}

/* Rows of -1, 0 and 1, which 8 bits hold exactly, and of NaN where the input is not finite. */
static void emit_nibbles(struct generating *s)
{
    char name[3][16], in[96], out[16];
    bool zeros = below(s, 2);
    for (int i = 0; i < 3; i++) snprintf(name[i], sizeof(name[i]), "k%d", s->constants++);
    codes(&s->g, name[0], TN_EL_U8, "6,1,16", 96, &s->state);
    reals(&s->g, name[1], "6", 6, -0.1, 0.1, &s->state);
    codes(&s->g, name[2], TN_EL_U8, "6", 6, &s->state);
    if (!s->signs++) {
        op(&s->g, "Sign", "v0", "sign", "");
        op(&s->g, "Mul", "v0 zero", "nothing", "");
        op(&s->g, "Add", "sign nothing", "signs", "");
    }
    snprintf(in, sizeof(in), "signs %s %s%s%s", name[0], name[1], zeros ? " " : "", zeros ? name[2] : "");
    snprintf(out, sizeof(out), "v%d", s->values++);
    op_of(&s->g, "com.microsoft", "MatMulNBits", in, out, "K=6 N=6 bits=4 block_size=32 accuracy_level=4");
    if (below(s, 2)) return;
    snprintf(in, sizeof(in), "v%d k%d", s->values - 1, s->constants);
    reals(&s->g, in + strcspn(in, "k"), "6", 6, -1, 1, &s->state);
    s->constants++;
    emit(s, "Add", in, "");
}

/* Depthwise windows, and what often stands behind them: a gate by the mean of each plane, or two values side by side. */
static void emit_deep(struct generating *s)
{
    char in[96], name[3][16];
    bool wide = below(s, 2);
    int x = s->values;
    for (int i = 0; i < 3; i++) snprintf(name[i], sizeof(name[i]), "k%d", s->constants++);
    reals(&s->g, name[0], wide ? "4,1,5,5" : "4,1,3,3", wide ? 100 : 36, -0.5, 0.5, &s->state);
    reals(&s->g, name[1], "4", CHANNELS, -1, 1, &s->state);
    snprintf(in, sizeof(in), "v%d %s %s", pick(s), name[0], name[1]);
    emit(s, "Conv", in, wide ? "pads=2,2,2,2 group=4" : "pads=2,2,2,2 dilations=2,2 group=4");
    snprintf(in, sizeof(in), "v%d", x);
    if (below(s, 2)) emit(s, (const char *[]){"Relu", "HardSwish", "Tanh"}[below(s, 3)], in, "");
    x = s->values - 1;
    int kind = below(s, 3);
    if (kind < 2) reals(&s->g, name[2], "4,4,1,1", 16, -1, 1, &s->state);
    if (kind == 0) {
        snprintf(in, sizeof(in), "v%d", x);
        emit_row(s, "GlobalAveragePool", in, "");
        snprintf(in, sizeof(in), "w%d %s", s->rows - 1, name[2]);
        emit_row(s, "Conv", in, "");
        snprintf(in, sizeof(in), "w%d", s->rows - 1);
        emit_row(s, "HardSigmoid", in, "");
        snprintf(in, sizeof(in), "v%d w%d", x, s->rows - 1);
        emit(s, "Mul", in, "");
    }
    if (kind < 2) {
        snprintf(in, sizeof(in), "v%d %s", s->values - 1, name[2]);
        emit(s, "Conv", in, "");
        snprintf(in, sizeof(in), "v%d v%d", s->values - 1, pick(s));
        if (below(s, 2)) emit(s, "Add", in, "");
    } else {
        reals(&s->g, name[2], "4,8,1,1", 32, -1, 1, &s->state);
        snprintf(in, sizeof(in), "v%d v%d", x, pick(s));
        emit_row(s, "Concat", in, "axis=1");
        snprintf(in, sizeof(in), "w%d", s->rows - 1);
        emit_row(s, "MaxPool", in, "kernel_shape=3,3 pads=1,1,1,1");
        snprintf(in, sizeof(in), "w%d %s", s->rows - 1, name[2]);
        emit(s, "Conv", in, "");
    }
}

static void emit_any(struct generating *s)
{
    static const struct {
        const char *type, *attrs;
    } unary[] = {{"Relu", ""}, {"Tanh", ""}, {"HardSigmoid", "alpha=0.3f"}, {"LeakyRelu", "alpha=0.2f"}, {"Identity", ""}, {"Dropout", ""},
                 {"HardSwish", ""}, {"Abs", ""}, {"Neg", ""}, {"Sigmoid", ""}};
    static const char *const binary[] = {"Add", "Mul", "Sub", "Max"};
    char in[64];
    snprintf(in, sizeof(in), "v%d", pick(s));
    switch (below(s, 16)) {
    case 0:
    case 1: emit_product(s); return;
    case 2: emit_normalisation(s); return;
    case 3: emit_constant_pair(s, (const char *[]){"Add", "Mul", "Div", "Sub"}[below(s, 4)]); return;
    case 4: emit_gate(s); return;
    case 9: emit_norm(s); return;
    case 10: emit_gelu(s); return;
    case 11:
    case 12: emit_attention(s); return;
    case 13: (below(s, 2) ? emit_nibbles : emit_quantised)(s); return;
    case 14:
    case 15: emit_deep(s); return;
    case 5:
        emit(s, "Transpose", in, "perm=0,1,3,2");
        snprintf(in, sizeof(in), "v%d", s->values - 1);
        emit(s, "Transpose", in, "perm=0,1,3,2");
        return;
    case 6:
        snprintf(in, sizeof(in), "v%d v%d", pick(s), s->values - 1);
        emit(s, binary[below(s, 4)], in, "");
        return;
    default: {
        int which = below(s, 10);
        emit(s, unary[which].type, in, unary[which].attrs);
    }
    }
}

/* Squares: a transposition keeps the shape, and values of one shape fit everywhere. */
static struct bytes generate(uint64_t seed)
{
    struct generating s = {.state = seed * 7919 + 1, .values = 1};
    int wanted = 3 + below(&s, 12), outputs = 1;
    scalar(&s.g, "zero", 0);
    scalar(&s.g, "three", 3);
    scalar(&s.g, "six", 6);
    scalar(&s.g, "one", 1);
    scalar(&s.g, "two", 2);
    scalar(&s.g, "half", 0.5f);
    scalar(&s.g, "tiny", 1e-3f);
    scalar(&s.g, "root", 1.41421354f);
    scalar(&s.g, "little", 0.044715f);
    scalar(&s.g, "slope", 0.797884583f);
    constant(&s.g, "last", TN_EL_I64, "1", &(int64_t){-1}, 8);
    port(&s.g, 11, "v0", TN_EL_F32, seed % 2 ? "2,4,6,6" : "n,4,s,s");
    while (s.values < wanted) emit_any(&s);
    for (int v = 1; v < s.values && outputs < OUTPUTS; v++) {
        char name[16];
        snprintf(name, sizeof(name), "v%d", v);
        if (v + 1 < s.values && below(&s, 5)) continue;
        port(&s.g, 12, name, TN_EL_F32, "a,b,c,d");
        outputs++;
    }
    return s.g;
}

TEST(generated_graphs_compute_the_same_with_and_without_patches)
{
    size_t patches;
    const struct tn_patch *list = tn_patches(&patches);
    static const char *const forms[] = {"\"norm\"", "\"gelu\"", "\"attend\"", "\"affine\"", "\"activation\"", "\"integer\"", "\"nibbles\"",
                                        "\"last\"", "\"pair\""};
    enum { FORMS = sizeof(forms) / sizeof(forms[0]) };
    unsigned applied = 0, failures = 0, found[FORMS] = {0};
    begin();
    for (uint64_t seed = 0; seed < GRAPHS && failures < 5; seed++) {
        struct bytes g = generate(seed);
        struct outcome plain, whole, two, one;
        char why[160] = "";
        struct given in = image(seed, seed % 4 == 3);
        in.dims[2] = in.dims[3] = 6;
        run_graph(&g, "all", 1, &in, &plain);
        run_graph(&g, NULL, 1, &in, &whole);
        run_graph(&g, NULL, 2, &in, &two);
        run_graph(&g, list[seed % patches].name, 1, &in, &one);
        applied += strcmp(whole.patches, "{}") != 0;
        for (int k = 0; k < FORMS; k++) found[k] += strstr(whole.patches, forms[k]) != NULL;
        bool good = alike(&plain, &whole, why, sizeof(why)) && alike(&plain, &one, why, sizeof(why));
        for (uint32_t k = 0; k < whole.count && good; k++) good = memcmp(whole.values[k], two.values[k], whole.sizes[k] * sizeof(float)) == 0;
        if (!good) {
            failures++;
            test_fail(__FILE__, __LINE__, "graph %d: %s %s: %s -> %s", (int)seed, whole.patches, why, plain.types, whole.types);
        }
        free_outcome(&plain);
        free_outcome(&whole);
        free_outcome(&two);
        free_outcome(&one);
        free(g.data);
    }
    CHECK(applied > GRAPHS / 2);
    for (int k = 0; k < FORMS; k++) CHECK(found[k] > GRAPHS / 40); /* each form has been there */
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
