/*
 * What positions do inside a layer: rotary angles, windows, disentangled terms. And the gate of a gated layer. Each
 * against its definition in double, at odd sizes, in every table; and the same bits for any team.
 */
#include "kernel_util.h"

enum { MOST_SEQUENCES = 16, MOST_LENGTH = 420 };

struct batch {
    struct tn_attention_args args;
    int32_t offsets[MOST_SEQUENCES + 1], row_of[2 * MOST_LENGTH + 1];
    size_t rows, width, longest;
    struct guarded qkv, keys, queries;
};

enum terms { NO_TERMS = 0, QUERY_TERMS = 1, KEY_TERMS = 2 };

/* Distances to rows of a table of 2 * span rows: one by one near zero, then five to a row, then the ends. */
static int32_t row_of_distance(ptrdiff_t distance, int32_t span)
{
    ptrdiff_t far = distance < 0 ? -distance : distance, near = 7;
    ptrdiff_t row = far <= near ? far : near + (far - near) / 5;
    row = distance < 0 ? span - row : span + row;
    return (int32_t)(row < 0 ? 0 : row >= 2 * span ? 2 * span - 1 : row);
}

static void make_batch(struct batch *b, uint64_t seed, const int *lengths, size_t sequences, size_t heads, size_t head_dim,
                       size_t window, unsigned terms)
{
    enum { SPAN = 20 };
    *b = (struct batch){.width = heads * head_dim};
    for (size_t n = 0; n < sequences; n++) {
        b->offsets[n + 1] = b->offsets[n] + lengths[n];
        if ((size_t)lengths[n] > b->longest) b->longest = (size_t)lengths[n];
    }
    b->rows = (size_t)b->offsets[sequences];
    const size_t stride = 3 * b->width + 1, position_stride = b->width + 5;
    b->qkv = random_rows(&seed, b->rows, 3 * b->width, stride, 1, 1.5);
    b->keys = random_rows(&seed, 2 * SPAN, b->width, position_stride, 2, 1.5);
    b->queries = random_rows(&seed, 2 * SPAN, b->width, position_stride, 3, 1.5);
    for (int n = 0; n <= 2 * MOST_LENGTH; n++) b->row_of[n] = row_of_distance(n - MOST_LENGTH, SPAN);
    b->args = (struct tn_attention_args){
        .q = b->qkv.p, .k = b->qkv.p + b->width, .v = b->qkv.p + 2 * b->width,
        .q_stride = stride, .k_stride = stride, .v_stride = stride,
        .offsets = b->offsets, .sequences = sequences, .heads = heads, .head_dim = head_dim,
        .scale = (float)(1.0 / sqrt((double)head_dim * (terms ? 3 : 1))),
        .window = window,
        .position_key = terms & QUERY_TERMS ? b->keys.p : NULL,
        .position_query = terms & KEY_TERMS ? b->queries.p : NULL,
        .position_stride = position_stride,
        .relative_row = b->row_of,
        .relative_center = MOST_LENGTH,
    };
}

static void free_batch(struct batch *b)
{
    guarded_free(&b->qkv, "qkv");
    guarded_free(&b->keys, "keys");
    guarded_free(&b->queries, "queries");
}

/* All members of a team, with scratch of exactly the promised size. */
static void attend(const struct tn_kernels *kernels, struct tn_attention_args a, size_t longest, float *out,
                   size_t out_stride, unsigned size)
{
    a.out = out;
    a.out_stride = out_stride;
    CHECK(kernels->attention_scratch_size(longest, a.head_dim, a.position_key || a.position_query, &a.scratch_bytes));
    struct guarded scratch = guarded_new(a.scratch_bytes / sizeof(float) * size, 0);
    a.scratch = scratch.p;
    for (unsigned rank = 0; rank < size; rank++) kernels->attention(&a, rank, size);
    guarded_free(&scratch, "scratch");
}

static double product(const float *a, const float *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* One output row of one head from the definition. */
static void exact_row(const struct tn_attention_args *a, size_t head, size_t first, size_t length, size_t i, double *out)
{
    static double weights[MOST_LENGTH];
    const size_t column = head * a->head_dim, dim = a->head_dim;
    const float *q = a->q + (first + i) * a->q_stride + column;
    double sum = 0.0, max = -INFINITY;
    for (size_t j = 0; j < length; j++) {
        const float *k = a->k + (first + j) * a->k_stride + column;
        size_t distance = i > j ? i - j : j - i;
        size_t at = (size_t)a->relative_row[a->relative_center + j - i] * a->position_stride + column;
        double s = product(q, k, dim);
        if (a->position_key) s += product(q, a->position_key + at, dim);
        if (a->position_query) s += product(k, a->position_query + at, dim);
        weights[j] = a->window && distance >= a->window ? -INFINITY : s * a->scale;
        if (weights[j] > max) max = weights[j];
    }
    for (size_t j = 0; j < length; j++) sum += weights[j] = exp(weights[j] - max);
    for (size_t d = 0; d < dim; d++) {
        out[d] = 0.0;
        for (size_t j = 0; j < length; j++) out[d] += weights[j] / sum * a->v[(first + j) * a->v_stride + column + d];
    }
}

static void check_values(const struct tn_kernels *kernels, struct batch *b, unsigned size)
{
    const struct tn_attention_args *a = &b->args;
    const size_t stride = b->width + 3;
    struct guarded out = guarded_new((b->rows - 1) * stride + b->width, 3);
    attend(kernels, *a, b->longest, out.p, stride, size);
    double exact[256], worst = 0.0;
    for (size_t n = 0; n < a->sequences; n++) {
        size_t first = (size_t)b->offsets[n], length = (size_t)b->offsets[n + 1] - first;
        for (size_t item = 0; item < length * a->heads; item++) {
            size_t head = item / length, i = item % length;
            exact_row(a, head, first, length, i, exact);
            const float *y = out.p + (first + i) * stride + head * a->head_dim;
            for (size_t d = 0; d < a->head_dim; d++) note_error(&worst, fabs((double)y[d] - exact[d]));
        }
    }
    /* scores are sums of up to three products of head_dim numbers below 1.5; values are below 1.5 */
    double reach = 3 * 1.5 * 1.5 * (double)a->head_dim * a->scale + 2.0;
    CHECK_NEAR(worst, 0.0, (reach + 8.0) * 0x1p-23 * 1.5);
    CHECK(gaps_intact(&out, b->rows, b->width, stride));
    guarded_free(&out, "out");
}

static const int odd_lengths[] = {1, 0, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 3, 64};

TEST(windows_at_odd_shapes)
{
    static const size_t windows[] = {1, 2, 3, 8, 9, 16, 17, 33, 49, 63, 64, 65, 1000};
    static const size_t dims[] = {2, 8, 15, 16, 20, 32, 33, 64, 100};
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
            struct batch b;
            make_batch(&b, 100 + i, odd_lengths, 15, 1 + i % 3, dims[i % 9], windows[i], NO_TERMS);
            check_values(kernels, &b, 1 + (unsigned)i % 4);
            free_batch(&b);
        }
    }
}

/* Windows wider than the chunks of a sum, at the beginning, in the middle and at the end. */
TEST(windows_of_long_sequences)
{
    static const int lengths[] = {420};
    static const size_t windows[] = {5, 65, 110, 200, 300, 419, 420};
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
            struct batch b;
            make_batch(&b, 300 + i, lengths, 1, 2, 16, windows[i], NO_TERMS);
            check_values(kernels, &b, 1 + (unsigned)i);
            free_batch(&b);
        }
    }
}

TEST(terms_at_odd_shapes)
{
    static const size_t dims[] = {1, 3, 8, 15, 16, 17, 20, 32, 33, 64, 96, 128};
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
            for (unsigned terms = QUERY_TERMS; terms <= (QUERY_TERMS | KEY_TERMS); terms++) {
                struct batch b;
                make_batch(&b, 500 + i, odd_lengths, 15, 1 + i % 3, dims[i], 0, terms);
                check_values(kernels, &b, 1 + (unsigned)i % 5);
                free_batch(&b);
            }
        }
    }
}

TEST(terms_of_long_sequences)
{
    static const int lengths[] = {419, 130, 240};
    EACH_TABLE(kernels) {
        struct batch b;
        make_batch(&b, 700, lengths, 3, 2, 32, 0, QUERY_TERMS | KEY_TERMS);
        check_values(kernels, &b, 3);
        free_batch(&b);
    }
}

/* Every sequence alone, team of one: the bits that any other way must give. */
static void check_bits(const struct tn_kernels *kernels, size_t window, unsigned terms)
{
    static const int lengths[] = {5, 70, 1, 0, 33, 16, 45, 400};
    const size_t sequences = 8;
    struct batch b;
    make_batch(&b, 31 + window, lengths, sequences, 3, 20, window, terms);
    struct guarded alone = guarded_new(b.rows * b.width, 0), out = guarded_new(b.rows * b.width, 1);
    for (size_t n = 0; n < sequences; n++) {
        int32_t own[2] = {b.offsets[n], b.offsets[n + 1]};
        struct tn_attention_args a = b.args;
        a.offsets = own;
        a.sequences = 1;
        attend(kernels, a, (size_t)lengths[n] + 1, alone.p, b.width, 1);
    }
    for (unsigned size = 1; size <= 9; size++) {
        guard_fill(out.p, out.count);
        attend(kernels, b.args, b.longest + 20, out.p, b.width, size);
        if (!rows_equal(alone.p, b.width, out.p, b.width, b.rows, b.width)) {
            test_fail(__FILE__, __LINE__, "%s: window %zu, terms %u, a team of %u", kernels->name, window, terms, size);
        }
    }
    guarded_free(&alone, "alone");
    guarded_free(&out, "out");
    free_batch(&b);
}

TEST(bits_do_not_depend_on_company_or_team)
{
    EACH_TABLE(kernels) {
        static const size_t windows[] = {1, 6, 65, 110, 250};
        for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) check_bits(kernels, windows[i], NO_TERMS);
        for (unsigned terms = QUERY_TERMS; terms <= (QUERY_TERMS | KEY_TERMS); terms++) check_bits(kernels, 0, terms);
    }
}

/* ---- rotary --------------------------------------------------------------------------------------------------------- */

TEST(rotary_values)
{
    static const size_t dims[] = {2, 4, 6, 14, 16, 18, 30, 32, 34, 64, 66, 128};
    enum { ROWS = 9, POSITIONS = 13 };
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
            uint64_t seed = 900 + i;
            size_t heads = 1 + i % 3, dim = dims[i], half = dim / 2, width = heads * dim + 5, stride = width + 2;
            struct guarded x = random_rows(&seed, ROWS, width, stride, 1, 2.0);
            struct guarded c = random_rows(&seed, POSITIONS, half, half, 3, 1.0);
            struct guarded s = random_rows(&seed, POSITIONS, half, half, 2, 1.0);
            int32_t positions[ROWS];
            for (int t = 0; t < ROWS; t++) positions[t] = (t * 5) % POSITIONS;
            float *before = malloc(x.count * sizeof(float));
            memcpy(before, x.p, x.count * sizeof(float));
            struct tn_rotary_args a = {.x = x.p, .stride = stride, .rows = ROWS, .heads = heads, .head_dim = dim,
                                       .positions = positions, .cosine = c.p, .sine = s.p};
            for (unsigned rank = 0; rank < 4; rank++) kernels->rotary(&a, rank, 4);
            double worst = 0.0;
            for (size_t t = 0; t < ROWS; t++) {
                for (size_t n = 0; n < width; n++) {
                    const float *row = before + t * stride;
                    size_t d = n % dim, head = n - d, at = (size_t)positions[t] * half + d % half;
                    double low = row[head + d % half], high = head + dim <= heads * dim ? row[head + half + d % half] : 0;
                    double exact = d < half ? low * c.p[at] - high * s.p[at] : high * c.p[at] + low * s.p[at];
                    if (n >= heads * dim) exact = row[n]; /* the values are left alone */
                    note_error(&worst, fabs((double)x.p[t * stride + n] - exact));
                }
            }
            CHECK_NEAR(worst, 0.0, 4e-7);
            CHECK(gaps_intact(&x, ROWS, width, stride));
            free(before);
            guarded_free(&x, "x");
            guarded_free(&c, "cosine");
            guarded_free(&s, "sine");
        }
    }
}

/* ---- gate ----------------------------------------------------------------------------------------------------------- */

TEST(gate_is_activation_times_gate)
{
    static const size_t widths[] = {1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100};
    static const enum tn_act acts[] = {TN_ACT_GELU, TN_ACT_SILU, TN_ACT_RELU, TN_ACT_GELU_TANH, TN_ACT_IDENTITY, TN_ACT_LAPLACE};
    enum { ROWS = 5 };
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
            uint64_t seed = 40 + i;
            size_t width = widths[i], x_stride = 2 * width + 3, y_stride = width + 1;
            enum tn_act act = acts[i % 6];
            struct guarded x = random_rows(&seed, ROWS, 2 * width, x_stride, 1, 4.0);
            struct guarded y = guarded_new((ROWS - 1) * y_stride + width, 2);
            struct tn_gate_args a = {.x = x.p, .x_stride = x_stride, .y = y.p, .y_stride = y_stride,
                                     .rows = ROWS, .width = width, .act = act};
            for (unsigned rank = 0; rank < 3; rank++) kernels->gate(&a, rank, 3);
            CHECK(gaps_intact(&y, ROWS, width, y_stride));
            /* the activation's own values are held by kernel_math.c; here: which half, and one product */
            for (size_t t = 0; t < ROWS; t++) {
                float *first = x.p + t * x_stride;
                kernels->activate(act, first, width, 1, width, 0, 1);
                for (size_t n = 0; n < width; n++) {
                    float expected = first[n] * first[width + n];
                    CHECK(memcmp(&y.p[t * y_stride + n], &expected, sizeof(float)) == 0);
                }
            }
            guarded_free(&x, "x");
            guarded_free(&y, "y");
        }
    }
}
