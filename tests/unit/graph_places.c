/*
 * Graphs that code builds, run without a package: planned places against a heap, one thread against several, repeated and
 * varied lengths. What is planned must be the same bits; values that live at the same time must not share a byte; calls must
 * ask for nothing; and what was measured before must be what a program and its contexts then take.
 */
#include "test.h"

#include "exec/patch.h"
#include "exec/program.h"
#include "graph/graph.h"

#include <stdlib.h>

enum { VOCAB = 23, POSITIONS = 40, HEADS = 3, HEAD = 4, WIDTH = HEADS * HEAD, INNER = 16, ROWS = 48, MOST = 20, WEIGHTS = 64 };

struct built {
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_arena arena;
    struct tn_error *err;
    struct tn_pool *pool;
    struct tn_graph g;
    struct tn_tensor_info tensors[WEIGHTS];
    uint32_t tensor_count;
    struct tn_bound bounds[2];
};

/* Numbers that follow from the tensor's place in the list. */
static enum tn_status read_weight(void *user, const struct tn_constant *c, void *out, struct tn_error *err)
{
    const struct built *b = user;
    uint64_t state = 5 + (uint64_t)(c->tensor - b->tensors);
    float *to = out;
    (void)err;
    for (size_t i = 0; i < c->bytes / sizeof(*to); i++) to[i] = (float)test_uniform(&state, -0.6, 0.6);
    return TN_OK;
}

static uint32_t weight(struct built *b, uint64_t rows, uint64_t columns)
{
    struct tn_tensor_info *t = &b->tensors[b->tensor_count++];
    *t = (struct tn_tensor_info){.name = TN_STR("w"), .dtype = TN_DTYPE_F32, .rank = columns ? 2 : 1, .shape = {rows, columns}, .bytes = 4 * rows * (columns ? columns : 1)};
    return tn_graph_weight(&b->g, TN_STR("w"), t);
}

static uint32_t linear(struct built *b, const char *name, uint32_t x, uint32_t residual, uint64_t out, uint64_t in, enum tn_act act)
{
    struct tn_op_linear op = {.weight = {weight(b, out, in)}, .bias = {weight(b, out, 0)}, .parts = 1, .act = act};
    return tn_graph_linear(&b->g, name, x, residual, &op);
}

static uint32_t norm(struct built *b, const char *name, uint32_t x)
{
    struct tn_op_layer_norm op = {weight(b, WIDTH, 0), weight(b, WIDTH, 0), 1e-5};
    return tn_graph_layer_norm(&b->g, name, x, TN_NO_VALUE, &op);
}

/* x is read again behind the rotary turn, so that this one may not be in place. */
static uint32_t layer(struct built *b, uint32_t x, bool turned, bool relative)
{
    struct tn_op_rotary rotary = {.heads = 2 * HEADS, .head_dim = HEAD, .rope = {.kind = TN_ROPE_DEFAULT, .theta = 100}};
    struct tn_op_attention scores = {.heads = HEADS, .head_dim = HEAD, .scale = 0.5, .bias = TN_NO_WEIGHT, .window = turned ? 5 : 0};
    if (relative) {
        uint32_t table = tn_graph_table(&b->g, "distances", weight(b, 12, WIDTH));
        scores.relative = (struct tn_relative_terms){.of_queries = true, .of_keys = true, .span = 6,
                                                     .position_key = linear(b, "position keys", table, TN_NO_VALUE, WIDTH, WIDTH, TN_ACT_IDENTITY),
                                                     .position_query = linear(b, "position queries", table, TN_NO_VALUE, WIDTH, WIDTH, TN_ACT_IDENTITY)};
    } else if (!turned) {
        scores.bias = weight(b, 8, HEADS);
        scores.bias_buckets = 8;
        scores.bias_max_distance = 16;
    }
    uint32_t qkv = linear(b, "qkv", x, TN_NO_VALUE, 3 * WIDTH, WIDTH, TN_ACT_IDENTITY), v = qkv;
    if (turned) v = tn_graph_rotary(&b->g, "turned", v, &rotary);
    v = tn_graph_attention(&b->g, "attention", v, &scores);
    v = norm(b, "attention norm", linear(b, "attention output", v, x, WIDTH, WIDTH, TN_ACT_IDENTITY));
    uint32_t up = linear(b, "up", v, TN_NO_VALUE, 2 * INNER, WIDTH, TN_ACT_IDENTITY);
    up = tn_graph_gate(&b->g, "gate", up, TN_ACT_SILU);
    return norm(b, "norm", linear(b, "down", up, v, WIDTH, INNER, TN_ACT_IDENTITY));
}

static bool build(struct built *b, unsigned threads)
{
    memset(b, 0, sizeof(*b));
    tn_alloc_init(&b->alloc);
    b->ctx = (struct tn_context){.alloc = &b->alloc, .limits = tn_limits_default()};
    b->err = calloc(1, sizeof(*b->err));
    tn_arena_init(&b->arena, &b->alloc);
    if (tn_pool_new(&b->alloc, threads, &b->pool) || !tn_graph_init(&b->g, &b->ctx, &b->arena, MOST, TN_COMPUTE_F32)) return false;
    struct tn_op_embed embed = {.table = {weight(b, VOCAB, WIDTH), weight(b, POSITIONS, WIDTH)}, .index = {TN_INDEX_TOKEN, TN_INDEX_POSITION}, .tables = 2,
                                .gamma = weight(b, WIDTH, 0), .beta = TN_NO_WEIGHT, .eps = 1e-5};
    struct tn_op_pool pool = {.mode = {TN_POOLING_MEAN, TN_POOLING_MAX}, .modes = 2};
    uint32_t x = tn_graph_embed(&b->g, "embeddings", &embed);
    for (unsigned i = 0; i < 3; i++) {
        b->g.layer = i;
        x = layer(b, x, i == 0, i == 2);
    }
    x = tn_graph_normalize(&b->g, "unit", tn_graph_pool(&b->g, "pooling", x, &pool));
    if (tn_graph_finish(&b->g, x, b->err) || tn_net_patch(b->g.part[0], NULL, 0, b->err)) return false;
    b->bounds[0] = (struct tn_bound){b->g.rows, ROWS};
    b->bounds[1] = (struct tn_bound){b->g.sequences, ROWS};
    return true;
}

static void end(struct built *b)
{
    tn_graph_release(&b->g);
    tn_pool_free(b->pool);
    tn_arena_release(&b->arena);
    free(b->err);
    CHECK_INT(tn_alloc_current(&b->alloc), 0);
}

static struct tn_program *program(struct built *b, unsigned threads, bool planned)
{
    struct tn_program *p = NULL;
    struct tn_program_options o = {.pool = b->pool, .threads = threads, .read = read_weight, .read_user = b, .bounds = b->bounds, .bound_count = planned ? 2 : 0};
    if (tn_program_new(b->g.part[0], &o, &p, b->err)) test_fail(__FILE__, __LINE__, "%s", b->err->primary.message);
    return p;
}

/* Sequences of lengths that follow from the seed, packed. */
struct input {
    int32_t ids[ROWS], types[ROWS], positions[ROWS], offsets[ROWS + 1];
    struct tn_span spans[ROWS];
    int64_t rows, sequences;
};

static void fill(struct input *in, uint64_t seed)
{
    memset(in, 0, sizeof(*in));
    int64_t most = 1 + (int64_t)(test_random(&seed) % ROWS);
    while (in->rows < most) {
        int64_t n = 1 + (int64_t)(test_random(&seed) % MOST);
        n = n > most - in->rows ? most - in->rows : n;
        in->spans[in->sequences] = (struct tn_span){(int32_t)in->rows, (int32_t)n, 0};
        for (int64_t i = 0; i < n; i++, in->rows++) {
            in->ids[in->rows] = (int32_t)(test_random(&seed) % VOCAB);
            in->positions[in->rows] = (int32_t)i;
        }
        in->offsets[++in->sequences] = (int32_t)in->rows;
    }
}

static void run(struct tn_exec_context *c, struct input *in, float *out)
{
    struct tn_heap *heap = tn_exec_heap(c);
    int64_t ends = in->sequences + 1, spans[2] = {in->sequences, 3};
    struct tn_tensor *y = NULL, *x[TN_GRAPH_INPUTS] = {
        tn_tensor_foreign(heap, TN_EL_I32, 1, &in->rows, in->ids), tn_tensor_foreign(heap, TN_EL_I32, 1, &in->rows, in->types),
        tn_tensor_foreign(heap, TN_EL_I32, 1, &in->rows, in->positions), tn_tensor_foreign(heap, TN_EL_I32, 1, &ends, in->offsets),
        tn_tensor_foreign(heap, TN_EL_I32, 2, spans, in->spans)};
    struct tn_error *err = calloc(1, sizeof(*err));
    enum tn_status st = tn_exec_run(c, x, &y, NULL, NULL, err);
    if (st) test_fail(__FILE__, __LINE__, "%s", err->primary.message);
    memset(out, 0, ROWS * 2 * WIDTH * sizeof(*out));
    if (y) {
        CHECK_INT(y->dims[0], in->sequences);
        CHECK_INT(y->dims[1], 2 * WIDTH);
        memcpy(out, y->data, y->bytes);
    }
    tn_tensor_drop(y);
    for (size_t i = 0; i < TN_GRAPH_INPUTS; i++) tn_tensor_drop(x[i]);
    free(err);
}

TEST(planned_values_are_those_of_a_heap)
{
    enum { CASES = 60 };
    static float expected[CASES][ROWS * 2 * WIDTH], found[ROWS * 2 * WIDTH];
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct built b;
        struct input in;
        REQUIRE(build(&b, threads));
        for (unsigned planned = 0; planned < 2; planned++) {
            struct tn_program *p = program(&b, threads, planned);
            struct tn_exec_context *c = NULL;
            REQUIRE(p && tn_exec_context_new(p, 0, &c, b.err) == TN_OK);
            uint64_t calls = atomic_load(&b.alloc.calls);
            for (unsigned i = 0; i < CASES; i++) {
                bool first = threads == 1 && !planned;
                fill(&in, i + 1);
                run(c, &in, first ? expected[i] : found);
                if (!first) CHECK(memcmp(found, expected[i], sizeof(found)) == 0);
                if (!first && memcmp(found, expected[i], sizeof(found))) break;
            }
            if (planned) CHECK_INT(atomic_load(&b.alloc.calls), calls);
            CHECK(expected[0][0] != 0 && isfinite(expected[0][0]));
            tn_exec_context_free(c);
            tn_program_free(p);
        }
        end(&b);
    }
}

/* The last node that needs a value, looked for the slow way. */
static uint32_t last_reader(const struct tn_net *net, uint32_t v)
{
    uint32_t last = net->values[v].producer;
    for (uint32_t i = 0; i < net->node_count; i++) {
        for (uint32_t k = 0; k < net->nodes[i].in_count; k++) last = net->nodes[i].in[k].value == v && i > last ? i : last;
    }
    return net->results[0].value == v ? net->node_count : last;
}

static bool follows(const struct tn_net *net, const struct tn_places *at, uint32_t a, uint32_t b)
{
    uint32_t made = net->values[b].producer;
    return at->over[made] && net->nodes[made].in[0].value == a && last_reader(net, a) == made;
}

TEST(values_that_live_together_share_no_byte)
{
    struct built b;
    REQUIRE(build(&b, 1));
    struct tn_program *p = program(&b, 1, true);
    REQUIRE(p);
    const struct tn_net *net = b.g.part[0]->main;
    const struct tn_places *at = &p->places;
    unsigned placed = 0, over = 0;
    for (uint32_t v = 0; v < net->value_count; v++) {
        if (at->at[v] == TN_NOWHERE) continue;
        placed++;
        CHECK(at->at[v] % 64 == 0 && at->at[v] + at->room[v] <= at->bytes);
        for (uint32_t u = 0; u < net->value_count; u++) {
            if (u == v || at->at[u] == TN_NOWHERE || net->values[u].producer < net->values[v].producer || net->values[u].producer > last_reader(net, v)) continue;
            if (follows(net, at, v, u)) continue;
            if (at->at[u] < at->at[v] + at->room[v] && at->at[v] < at->at[u] + at->room[u]) test_fail(__FILE__, __LINE__, "values %u and %u", v, u);
        }
    }
    for (uint32_t i = 0; i < net->node_count; i++) over += at->over[i];
    CHECK(placed >= 20);
    CHECK(over >= 5);
    tn_program_free(p);
    end(&b);
}

TEST(what_is_measured_is_what_is_taken)
{
    struct built b;
    struct tn_program_size size;
    struct tn_exec_context *c = NULL;
    REQUIRE(build(&b, 2));
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    REQUIRE(tn_program_measure(b.g.part[0], tn_kernels_select(&cpu, NULL), b.bounds, 2, &size) == TN_OK);
    uint64_t before = tn_alloc_current(&b.alloc);
    struct tn_program *p = program(&b, 2, true);
    uint64_t made = tn_alloc_current(&b.alloc);
    REQUIRE(p && tn_exec_context_new(p, 0, &c, b.err) == TN_OK);
    uint64_t context = tn_alloc_current(&b.alloc) - made;
    CHECK_NEAR(made - before, size.constants, 0.05 * (double)size.constants + 4096);
    CHECK_NEAR(context, size.values + size.fixed + 2 * size.scratch, 0.02 * (double)context + 1024);
    tn_exec_context_free(c);
    tn_program_free(p);
    end(&b);
}

static enum tn_status finish_with(struct built *b, uint32_t x)
{
    return b->g.failed ? TN_OK : tn_graph_finish(&b->g, x, b->err);
}

TEST(what_does_not_fit_is_named)
{
    struct built b;
    REQUIRE(build(&b, 1));
    struct tn_graph good = b.g;
    REQUIRE(tn_graph_init(&b.g, &b.ctx, &b.arena, MOST, TN_COMPUTE_F32));
    struct tn_op_embed embed = {.table = {weight(&b, VOCAB, WIDTH)}, .index = {TN_INDEX_TOKEN}, .tables = 1, .gamma = weight(&b, WIDTH + 1, 0), .beta = TN_NO_WEIGHT};
    CHECK_INT(finish_with(&b, tn_graph_embed(&b.g, "embeddings", &embed)), TN_TENSOR_MISMATCH);
    CHECK_STR(b.err->primary.element, "embeddings");
    tn_graph_release(&b.g);
    REQUIRE(tn_graph_init(&b.g, &b.ctx, &b.arena, MOST, TN_COMPUTE_F32));
    embed.gamma = TN_NO_WEIGHT;
    embed.table[0] = weight(&b, VOCAB, WIDTH);
    uint32_t x = tn_graph_embed(&b.g, "embeddings", &embed);
    CHECK_INT(finish_with(&b, linear(&b, "narrow", x, TN_NO_VALUE, 4, WIDTH - 1, TN_ACT_IDENTITY)), TN_TENSOR_MISMATCH);
    CHECK_INT(b.err->count, 1);
    CHECK_STR(b.err->primary.element, "narrow");
    CHECK_CONTAINS(b.err->primary.found, "11 columns beside 12");
    tn_graph_release(&b.g);
    b.g = good;
    end(&b);
}
