/*
 * Filtered windows over images whose channels are neighbours: every table against sums in double, and bits that do not depend
 * on how tiles are cut. The tolerance is relative to the sum of |x w|: filtering adds and subtracts numbers up to about a
 * hundred times larger than the inputs.
 */
#include "kernel_util.h"

static const struct tn_after afters[] = {
    {.kind = TN_FINISH_ACT, .act = TN_ACT_RELU},
    {.kind = TN_FINISH_HARD_SWISH, .a = 1.0f / 6, .b = 0.5f, .line = true, .scale = 1.3f, .shift = 0.1f},
    {.kind = TN_FINISH_ACT, .act = TN_ACT_SILU, .line = true, .scale = 2, .shift = 0.5f},
};

struct shape {
    enum tn_filter form;
    size_t maps, channels, height, width;
    ptrdiff_t top, left;
    size_t out_height, out_width, residual_maps;
    bool turned; /* lines lie down the image */
};

static const size_t downs[] = {3, 1, 1}, acrosses[] = {3, 3, 5};

struct problem {
    struct shape s;
    struct guarded x, w, bias, residual;
    void *packed;
};

static size_t pixel_of(const struct shape *s, size_t row, size_t column, size_t height, size_t width)
{
    return s->turned ? column * height + row : row * width + column;
}

static struct problem setup(const struct tn_kernels *k, uint64_t *seed, struct shape s)
{
    struct problem p = {.s = s};
    size_t bytes, taps = downs[s.form] * acrosses[s.form];
    p.x = random_rows(seed, 1, s.channels * s.height * s.width, s.channels * s.height * s.width, 1, 2.0);
    p.w = random_rows(seed, 1, s.maps * s.channels * taps, s.maps * s.channels * taps, 3, 1.0);
    p.bias = random_rows(seed, 1, s.maps, s.maps, 0, 1.0);
    p.residual = random_rows(seed, 1, s.residual_maps * s.out_height * s.out_width, s.residual_maps * s.out_height * s.out_width, 2, 1.0);
    CHECK(k->filter_pack_size(s.form, s.maps, s.channels, &bytes));
    p.packed = aligned_alloc(64, bytes);
    memset(p.packed, 0xff, bytes);
    for (unsigned r = 0; r < 3; r++) k->filter_pack(s.form, p.w.p, s.maps, s.channels, p.packed, r, 3);
    return p;
}

static void teardown(struct problem *p)
{
    guarded_free(&p->x, "x");
    guarded_free(&p->w, "w");
    guarded_free(&p->bias, "bias");
    guarded_free(&p->residual, "residual");
    free(p->packed);
}

static size_t tiles_of(const struct shape *s)
{
    size_t rows = s->form == TN_FILTER_3X3 ? (s->out_height + 3) / 4 : s->out_height;
    return rows * ((s->out_width + 3) / 4);
}

static void run_tiles(const struct tn_kernels *k, const struct problem *p, const struct tn_after *after, size_t piece, float *y)
{
    const struct shape *s = &p->s;
    size_t bytes, all = tiles_of(s);
    REQUIRE(k->filter_scratch_size(s->form, s->maps, s->channels, piece < all ? piece : all, &bytes));
    void *scratch = aligned_alloc(64, bytes + 64);
    memset(scratch, 0xff, bytes + 64);
    struct tn_filter_args a = {.form = s->form, .x = p->x.p, .channels = s->channels, .height = s->height, .width = s->width,
                               .x_down = s->turned ? 1 : s->width, .x_across = s->turned ? s->height : 1, .top = s->top, .left = s->left,
                               .packed = p->packed, .bias = p->bias.p, .after = after, .residual = s->residual_maps ? p->residual.p : NULL,
                               .residual_maps = s->residual_maps, .y = y, .maps = s->maps, .out_height = s->out_height, .out_width = s->out_width,
                               .y_down = s->turned ? 1 : s->out_width, .y_across = s->turned ? s->out_height : 1, .scratch = scratch};
    for (a.first = 0; a.first < all; a.first += piece) {
        a.count = all - a.first < piece ? all - a.first : piece;
        k->filter(&a);
    }
    for (size_t i = 0; i < 64; i++) CHECK(((unsigned char *)scratch)[bytes + i] == 0xff);
    free(scratch);
}

/* A result in double before what follows it, and the sum of the absolute values. */
static double exact(const struct problem *p, size_t map, size_t row, size_t column, double *magnitude)
{
    const struct shape s = p->s;
    const size_t taps = downs[s.form] * acrosses[s.form], at = pixel_of(&s, row, column, s.out_height, s.out_width);
    double sum = (double)p->bias.p[map] + (map < s.residual_maps ? (double)p->residual.p[at * s.residual_maps + map] : 0);
    *magnitude = fabs(sum);
    for (size_t t = 0; t < taps; t++) {
        ptrdiff_t y = (ptrdiff_t)(row + t / acrosses[s.form]) - s.top, x = (ptrdiff_t)(column + t % acrosses[s.form]) - s.left;
        if (y < 0 || x < 0 || y >= (ptrdiff_t)s.height || x >= (ptrdiff_t)s.width) continue;
        const float *from = p->x.p + pixel_of(&s, (size_t)y, (size_t)x, s.height, s.width) * s.channels;
        for (size_t c = 0; c < s.channels; c++) {
            double v = (double)from[c] * (double)p->w.p[(map * s.channels + c) * taps + t];
            sum += v;
            *magnitude += fabs(v);
        }
    }
    return sum;
}

static double finished(const struct tn_after *f, double v)
{
    double gate = fmin(1, fmax(0, (double)f->a * v + (double)f->b));
    double y = f->kind == TN_FINISH_HARD_SWISH ? v * gate : f->act == TN_ACT_SILU ? v / (1 + exp(-v)) : fmax(0, v);
    return f->line ? (double)f->scale * y + (double)f->shift : y;
}

static void check_shape(const struct tn_kernels *k, uint64_t *seed, struct shape s, const struct tn_after *after)
{
    struct problem p = setup(k, seed, s);
    size_t count = s.maps * s.out_height * s.out_width;
    struct guarded y = guarded_new(count, 1), parts = guarded_new(count, 2);
    run_tiles(k, &p, after, 1000, y.p);
    double worst = 0, magnitude;
    for (size_t i = 0; i < count; i++) {
        size_t row = i / s.maps / s.out_width, column = i / s.maps % s.out_width, map = i % s.maps;
        double want = finished(after, exact(&p, map, row, column, &magnitude));
        note_error(&worst, fabs((double)y.p[pixel_of(&s, row, column, s.out_height, s.out_width) * s.maps + map] - want) / (magnitude + 1));
    }
    if (!(worst < 2e-5)) test_fail(__FILE__, __LINE__, "%s: form %d, %zu maps %zu channels %zux%zu: error %.2g", k->name, (int)s.form, s.maps, s.channels,
                                   s.height, s.width, worst);
    static const size_t pieces[] = {1, 5, 24};
    for (size_t i = 0; i < 3; i++) {
        guard_fill(parts.p, parts.count);
        run_tiles(k, &p, after, pieces[i], parts.p);
        CHECK(memcmp(parts.p, y.p, count * sizeof(float)) == 0);
    }
    guarded_free(&y, "y");
    guarded_free(&parts, "parts");
    teardown(&p);
}

TEST(kernel_filter_against_double)
{
    static const struct shape shapes[] = {
        {TN_FILTER_3X3, 8, 8, 4, 4, 1, 1, 4, 4, 8, false},     {TN_FILTER_3X3, 24, 96, 9, 11, 1, 1, 9, 11, 0, false},
        {TN_FILTER_3X3, 41, 19, 20, 37, 1, 1, 20, 37, 5, false}, {TN_FILTER_3X3, 33, 10, 9, 15, 0, 0, 7, 13, 33, false},
        {TN_FILTER_3X3, 8, 200, 10, 12, 2, 0, 11, 10, 8, true}, {TN_FILTER_3X3, 16, 8, 3, 1, 1, 1, 3, 1, 0, false},
        {TN_FILTER_1X3, 20, 35, 1, 50, 0, 1, 1, 50, 20, false}, {TN_FILTER_1X3, 64, 16, 5, 9, 0, 0, 5, 7, 0, true},
        {TN_FILTER_1X5, 48, 64, 1, 60, 0, 0, 1, 56, 0, false},  {TN_FILTER_1X5, 17, 9, 4, 10, 0, 2, 4, 10, 7, true},
        {TN_FILTER_1X5, 32, 208, 2, 23, 0, 4, 2, 23, 32, false},
    };
    EACH_TABLE(k) {
        uint64_t seed = 5;
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            for (size_t f = 0; f < sizeof(afters) / sizeof(afters[0]); f++) check_shape(k, &seed, shapes[i], &afters[f]);
        }
    }
}

/* What is not finite in a plain sum is not finite here, and nothing else; huge inputs overflow on the way, not in the result. */
static void check_odd(const struct tn_kernels *k, struct shape s)
{
    uint64_t seed = 11;
    struct problem p = setup(k, &seed, s);
    const struct tn_after nothing = {.kind = TN_FINISH_NONE};
    size_t count = s.maps * s.out_height * s.out_width;
    struct guarded y = guarded_new(count, 1);
    p.x.p[(5 * s.width + 7) * s.channels + 2] = INFINITY;
    p.x.p[(s.width - 1) * s.channels] = NAN;
    p.x.p[(9 * s.width + 20) * s.channels + 4] = 1e38f;
    run_tiles(k, &p, &nothing, 16, y.p);
    for (size_t i = 0; i < count; i++) {
        size_t row = i / s.maps / s.out_width, column = i / s.maps % s.out_width;
        double magnitude, want = exact(&p, i % s.maps, row, column, &magnitude);
        CHECK((bool)isfinite(y.p[i]) == (bool)isfinite(want));
        bool beside = row + 6 > 9 && row < 9 + 6 && column + 6 > 20 && column < 20 + 6; /* of a tile with the huge one, which rounds it */
        if (isfinite(want) && (!beside || magnitude > 1e30)) CHECK(fabs((double)y.p[i] - want) < 2e-5 * magnitude);
    }
    guarded_free(&y, "y");
    teardown(&p);
}

TEST(kernel_filter_not_finite)
{
    EACH_TABLE(k) {
        check_odd(k, (struct shape){TN_FILTER_3X3, 10, 9, 13, 30, 1, 1, 13, 30, 0, false});
        check_odd(k, (struct shape){TN_FILTER_1X3, 20, 9, 13, 30, 0, 1, 13, 30, 0, false});
        check_odd(k, (struct shape){TN_FILTER_1X5, 20, 9, 13, 30, 0, 2, 13, 30, 0, false});
    }
}
