/* Linear layer: every table against sums in double, and bit-equality under every way of calling it. */
#include "kernel_util.h"

#include "kernel/float16.h"

struct problem {
    size_t rows, n, k;
    enum tn_compute compute;
    struct guarded w, bias, x, residual;
    size_t x_stride, residual_stride;
    struct tn_linear layer;
    void *packed, *scratch;
    size_t scratch_bytes;
};

static void *aligned(size_t bytes)
{
    return aligned_alloc(64, bytes ? (bytes + 63) / 64 * 64 : 64);
}

static void pack(const struct tn_kernels *kernels, struct problem *p,
                 const struct tn_linear_part *parts, size_t count, unsigned ranks)
{
    size_t bytes = 0;
    CHECK(kernels->linear_pack_size(p->n, p->k, p->compute, &bytes));
    CHECK(bytes % 64 == 0);
    p->packed = aligned(bytes);
    memset(p->packed, 0xff, bytes); /* NaN wherever packing forgets a byte */
    p->layer = (struct tn_linear){p->n, p->k, p->compute, p->packed};
    for (unsigned r = 0; r < ranks; r++) {
        kernels->linear_pack(&p->layer, parts, count, p->packed, r, ranks);
    }
}

static struct problem setup(const struct tn_kernels *kernels, uint64_t *seed, size_t rows, size_t n,
                            size_t k, enum tn_compute compute)
{
    struct problem p = {.rows = rows, .n = n, .k = k, .compute = compute};
    p.x_stride = k + 3;
    p.residual_stride = n + 5;
    p.w = random_rows(seed, n, k, k, 1, 0.5);
    p.bias = random_rows(seed, 1, n, n, 2, 1.0);
    p.x = random_rows(seed, rows, k, p.x_stride, 3, 2.0);
    p.residual = random_rows(seed, rows, n, p.residual_stride, 1, 1.0);
    struct tn_linear_part part = {.data = p.w.p, .rows = n, .row_stride = k, .k_stride = 1,
                                  .bias = p.bias.p};
    pack(kernels, &p, &part, 1, 1);
    CHECK(kernels->linear_scratch_size(n, k, compute, &p.scratch_bytes));
    CHECK(p.scratch_bytes % 64 == 0);
    p.scratch = aligned(p.scratch_bytes * 8);
    return p;
}

static void teardown(struct problem *p)
{
    guarded_free(&p->w, "weights");
    guarded_free(&p->bias, "bias");
    guarded_free(&p->x, "x");
    guarded_free(&p->residual, "residual");
    free(p->packed);
    free(p->scratch);
}

static struct tn_linear_args args_of(const struct problem *p, float *y, size_t y_stride)
{
    return (struct tn_linear_args){
        .layer = &p->layer,
        .x = p->x.p,
        .x_stride = p->x_stride,
        .y = y,
        .y_stride = y_stride,
        .rows = p->rows,
        .scratch = p->scratch,
        .scratch_bytes = p->scratch_bytes,
    };
}

static void run(const struct tn_kernels *kernels, const struct tn_linear_args *a, unsigned size)
{
    for (unsigned rank = 0; rank < size; rank++) kernels->linear(a, rank, size);
}

static double operand(enum tn_compute compute, float v)
{
    return compute == TN_COMPUTE_BF16 ? (double)tn_bf16_to_f32(tn_f32_to_bf16(v)) : (double)v;
}

/*
 * Sums in double of the operands as the contract rounds them. The tolerance is the standard bound of
 * a sum of k terms in float32, (k + 2) 2^-24 sum |x w|; observed errors are a tenth of it.
 */
static void check_values(const struct problem *p, const float *y, size_t y_stride,
                         const char *table)
{
    for (size_t t = 0; t < p->rows; t++) {
        for (size_t n = 0; n < p->n; n++) {
            double sum = 0.0, magnitude = 0.0;
            for (size_t k = 0; k < p->k; k++) {
                double product = operand(p->compute, p->x.p[t * p->x_stride + k]) *
                                 operand(p->compute, p->w.p[n * p->k + k]);
                sum += product;
                magnitude += fabs(product);
            }
            sum += p->bias.p[n];
            magnitude += fabs(p->bias.p[n]);
            double tolerance = (double)(p->k + 2) * 0x1p-24 * magnitude;
            double found = y[t * y_stride + n];
            if (!(fabs(found - sum) <= tolerance)) {
                test_fail(__FILE__, __LINE__, "%s: [%zu, %zu] rows %zu n %zu k %zu: %.9g for %.9g",
                          table, t, n, p->rows, p->n, p->k, found, sum);
                return;
            }
        }
    }
}

static void check_shape(const struct tn_kernels *kernels, uint64_t *seed, size_t rows, size_t n,
                        size_t k, enum tn_compute compute)
{
    struct problem p = setup(kernels, seed, rows, n, k, compute);
    size_t stride = n + 2;
    struct guarded y = guarded_new((rows - 1) * stride + n, 1);
    struct tn_linear_args a = args_of(&p, y.p, stride);
    run(kernels, &a, 1);
    check_values(&p, y.p, stride, kernels->name);
    CHECK(gaps_intact(&y, rows, n, stride));
    guarded_free(&y, "y");
    teardown(&p);
}

static void check_shapes(enum tn_compute compute)
{
    static const size_t ns[] = {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 65};
    static const size_t ks[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 67, 100};
    uint64_t seed = 1;
    EACH_TABLE(kernels) {
        if (compute == TN_COMPUTE_BF16 && !kernels->bf16) continue;
        for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++) {
            for (size_t j = 0; j < sizeof(ks) / sizeof(*ks); j++) {
                check_shape(kernels, &seed, 1 + (i * 7 + j * 3) % 31, ns[i], ks[j], compute);
            }
        }
        for (size_t rows = 1; rows <= 30; rows++) check_shape(kernels, &seed, rows, 40, 21, compute);
        check_shape(kernels, &seed, 130, 70, 1100, compute); /* more than one block of rows */
    }
}

TEST(f32_values_at_odd_shapes)
{
    check_shapes(TN_COMPUTE_F32);
}

TEST(bf16_values_at_odd_shapes)
{
    check_shapes(TN_COMPUTE_BF16);
}

/* The reference answer of bit-equality: each row alone, by a team of one. */
static void check_companies(const struct tn_kernels *kernels, enum tn_compute compute, size_t rows,
                            size_t n, size_t k)
{
    uint64_t seed = 7;
    struct problem p = setup(kernels, &seed, rows, n, k, compute);
    struct guarded alone = guarded_new(rows * n, 0), y = guarded_new(rows * (n + 1), 3);
    for (size_t t = 0; t < rows; t++) {
        struct tn_linear_args a = args_of(&p, alone.p + t * n, n);
        a.x += t * p.x_stride;
        a.rows = 1;
        run(kernels, &a, 1);
    }
    for (unsigned size = 1; size <= 8; size++) {
        guard_fill(y.p, y.count);
        struct tn_linear_args a = args_of(&p, y.p, n + 1);
        run(kernels, &a, size);
        if (!rows_equal(alone.p, n, y.p, n + 1, rows, n)) {
            test_fail(__FILE__, __LINE__, "%s: rows %zu n %zu k %zu differ in a team of %u",
                      kernels->name, rows, n, k, size);
        }
    }
    for (size_t cut = 1; cut < rows; cut += 1 + rows / 9) {
        guard_fill(y.p, y.count);
        struct tn_linear_args a = args_of(&p, y.p, n + 1), b = a;
        a.rows = cut;
        b.rows = rows - cut;
        b.x += cut * p.x_stride;
        b.y += cut * (n + 1);
        run(kernels, &a, 1);
        run(kernels, &b, 2);
        CHECK(rows_equal(alone.p, n, y.p, n + 1, rows, n));
    }
    guarded_free(&alone, "alone");
    guarded_free(&y, "y");
    teardown(&p);
}

TEST(bits_do_not_depend_on_company_or_team)
{
    static const size_t shapes[][3] = {{1, 33, 64}, {5, 8, 3}, {14, 96, 48}, {29, 70, 129},
                                       {100, 40, 33}, {70, 50, 2000}};
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
            const size_t *s = shapes[i];
            check_companies(kernels, TN_COMPUTE_F32, s[0], s[1], s[2]);
            if (kernels->bf16) check_companies(kernels, TN_COMPUTE_BF16, s[0], s[1], s[2]);
        }
    }
}

/* act(x W + b) + r must be exactly the separate operators, and r may be y. */
TEST(epilogue_equals_separate_operators)
{
    const size_t rows = 17, n = 45, k = 19;
    EACH_TABLE(kernels) {
        uint64_t seed = 3;
        struct problem p = setup(kernels, &seed, rows, n, k, TN_COMPUTE_F32);
        struct guarded plain = guarded_new(rows * n, 0), fused = guarded_new(rows * n, 1);
        struct guarded in_place = guarded_new((rows - 1) * p.residual_stride + n, 2);
        for (int act = 0; act < TN_ACTS; act++) {
            struct tn_linear_args a = args_of(&p, plain.p, n);
            run(kernels, &a, 1);
            kernels->activate((enum tn_act)act, plain.p, n, rows, n, 0, 1);
            a = args_of(&p, fused.p, n);
            a.act = (enum tn_act)act;
            run(kernels, &a, 2);
            CHECK(rows_equal(plain.p, n, fused.p, n, rows, n));
            for (size_t t = 0; t < rows; t++) {
                for (size_t i = 0; i < n; i++) {
                    plain.p[t * n + i] += p.residual.p[t * p.residual_stride + i];
                }
            }
            a.residual = p.residual.p;
            a.residual_stride = p.residual_stride;
            run(kernels, &a, 3);
            CHECK(rows_equal(plain.p, n, fused.p, n, rows, n));
            memcpy(in_place.p, p.residual.p, in_place.count * sizeof(float));
            a.y = in_place.p;
            a.y_stride = p.residual_stride;
            a.residual = in_place.p;
            run(kernels, &a, 2);
            CHECK(rows_equal(plain.p, n, in_place.p, p.residual_stride, rows, n));
        }
        guarded_free(&plain, "plain");
        guarded_free(&fused, "fused");
        guarded_free(&in_place, "in place");
        teardown(&p);
    }
}

/* A stored copy of m in the given type at an odd address; the caller frees `*block`. */
static const void *store_odd(enum tn_float_type type, const float *m, size_t count, char **block)
{
    *block = malloc(count * 4 + 1);
    tn_kernels_select(NULL, "ref")->from_f32(type, m, *block + 1, count);
    return *block + 1;
}

static size_t packed_bytes(const struct tn_kernels *kernels, const struct problem *p)
{
    size_t bytes = 0;
    CHECK(kernels->linear_pack_size(p->n, p->k, p->compute, &bytes));
    return bytes;
}

/*
 * Three stacked parts, one per stored type, at odd addresses, the second one transposed, packed by
 * several ranks: byte-equal to one float32 matrix of the widened values packed by one rank.
 */
static void check_parts(const struct tn_kernels *kernels, enum tn_compute compute, size_t k)
{
    const size_t rows[3] = {13, 21, 6}, n = 40;
    uint64_t seed = 11;
    struct problem p = {.n = n, .k = k, .compute = compute};
    float *matrix = malloc(n * k * sizeof(float)), *bias = malloc(n * sizeof(float));
    float *turned = malloc(n * k * sizeof(float));
    for (size_t i = 0; i < n * k; i++) {
        float v = (float)test_uniform(&seed, -2.0, 2.0);
        size_t row = i / k;
        if (row < 13) matrix[i] = v;
        else if (row < 34) matrix[i] = tn_f16_to_f32(tn_f32_to_f16(v));
        else matrix[i] = tn_bf16_to_f32(tn_f32_to_bf16(v));
    }
    for (size_t i = 0; i < n; i++) {
        bias[i] = i < 13 ? (float)i + 0.5f : i < 34 ? 0.0f : tn_bf16_to_f32(tn_f32_to_bf16(0.1f));
    }
    for (size_t r = 0; r < 21; r++) {
        for (size_t c = 0; c < k; c++) turned[c * 21 + r] = matrix[(13 + r) * k + c];
    }
    struct tn_linear_part one = {.data = matrix, .rows = n, .row_stride = k, .k_stride = 1,
                                 .bias = bias};
    pack(kernels, &p, &one, 1, 1);
    void *expected = p.packed;
    char *blocks[5];
    struct tn_linear_part parts[3] = {
        {.data = store_odd(TN_FLOAT_F32, matrix, 13 * k, &blocks[0]), .type = TN_FLOAT_F32,
         .rows = rows[0], .row_stride = k, .k_stride = 1,
         .bias = store_odd(TN_FLOAT_F32, bias, 13, &blocks[1])},
        {.data = store_odd(TN_FLOAT_F16, turned, 21 * k, &blocks[2]), .type = TN_FLOAT_F16,
         .rows = rows[1], .row_stride = 1, .k_stride = 21},
        {.data = store_odd(TN_FLOAT_BF16, matrix + 34 * k, 6 * k, &blocks[3]),
         .type = TN_FLOAT_BF16, .rows = rows[2], .row_stride = k, .k_stride = 1,
         .bias = store_odd(TN_FLOAT_BF16, bias + 34, 6, &blocks[4]), .bias_type = TN_FLOAT_BF16},
    };
    for (unsigned ranks = 1; ranks <= 7; ranks += 2) {
        pack(kernels, &p, parts, 3, ranks);
        CHECK(memcmp(p.packed, expected, packed_bytes(kernels, &p)) == 0);
        free(p.packed);
    }
    for (int i = 0; i < 5; i++) free(blocks[i]);
    free(expected);
    free(matrix);
    free(turned);
    free(bias);
}

TEST(stacked_parts_of_all_types)
{
    EACH_TABLE(kernels) {
        check_parts(kernels, TN_COMPUTE_F32, 35);
        check_parts(kernels, TN_COMPUTE_F32, 16);
        if (kernels->bf16) check_parts(kernels, TN_COMPUTE_BF16, 35);
        if (kernels->bf16) check_parts(kernels, TN_COMPUTE_BF16, 64);
    }
}

/* A NaN or infinity reaches its own row or column and no other element. */
static void check_specials(const struct tn_kernels *kernels, enum tn_compute compute, float special)
{
    const size_t rows = 16, n = 37, k = 18;
    uint64_t seed = 5;
    struct problem p = setup(kernels, &seed, rows, n, k, compute);
    p.x.p[4 * p.x_stride + 17] = special;
    p.w.p[20 * k] = special;
    free(p.packed);
    struct tn_linear_part part = {.data = p.w.p, .rows = n, .row_stride = k, .k_stride = 1,
                                  .bias = p.bias.p};
    pack(kernels, &p, &part, 1, 1);
    struct guarded y = guarded_new(rows * n, 0);
    struct tn_linear_args a = args_of(&p, y.p, n);
    run(kernels, &a, 1);
    for (size_t t = 0; t < rows; t++) {
        for (size_t c = 0; c < n; c++) {
            bool hit = t == 4 || c == 20;
            if ((bool)isfinite(y.p[t * n + c]) == hit) {
                test_fail(__FILE__, __LINE__, "%s: %g at [%zu, %zu] after %g", kernels->name,
                          (double)y.p[t * n + c], t, c, (double)special);
            }
        }
    }
    guarded_free(&y, "y");
    teardown(&p);
}

TEST(specials_stay_in_their_row_and_column)
{
    EACH_TABLE(kernels) {
        check_specials(kernels, TN_COMPUTE_F32, NAN);
        check_specials(kernels, TN_COMPUTE_F32, -INFINITY);
        if (kernels->bf16) check_specials(kernels, TN_COMPUTE_BF16, NAN);
        if (kernels->bf16) check_specials(kernels, TN_COMPUTE_BF16, INFINITY);
    }
}

TEST(sizes_that_do_not_fit_are_refused)
{
    EACH_TABLE(kernels) {
        size_t bytes = 77;
        CHECK(!kernels->linear_pack_size(SIZE_MAX, 1, TN_COMPUTE_F32, &bytes));
        CHECK(!kernels->linear_pack_size(SIZE_MAX / 8, 16, TN_COMPUTE_F32, &bytes));
        CHECK(!kernels->linear_pack_size((size_t)1 << 33, (size_t)1 << 31, TN_COMPUTE_BF16, &bytes));
        CHECK(!kernels->linear_pack_size(1, SIZE_MAX, TN_COMPUTE_F32, &bytes));
        CHECK(!kernels->linear_pack_size(1, SIZE_MAX, TN_COMPUTE_BF16, &bytes));
        CHECK_INT(bytes, 77);
        CHECK(kernels->linear_pack_size(1, 1, TN_COMPUTE_F32, &bytes));
    }
}

TEST(no_rows_touch_nothing)
{
    EACH_TABLE(kernels) {
        uint64_t seed = 1;
        struct problem p = setup(kernels, &seed, 1, 20, 10, TN_COMPUTE_F32);
        struct guarded y = guarded_new(20, 0);
        struct tn_linear_args a = args_of(&p, y.p, 20);
        a.rows = 0;
        run(kernels, &a, 3);
        CHECK(guard_intact(y.p, 20));
        guarded_free(&y, "y");
        teardown(&p);
    }
}
