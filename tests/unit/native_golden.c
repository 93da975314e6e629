/*
 * The native provider alone against the reference: every tiny package of tests/golden/embed, with the reference's own
 * token ids, so that a difference is the graph's. Where stages are recorded they are compared in pipeline order and the
 * first that differs is named.
 *
 * Tolerance: 2e-6 max(1, max|x|) per component, the bar for f32 (the reference itself differs by up to a few 1e-7
 * between batch shapes).
 */
#include "test.h"

#include "base/json.h"
#include "native_fixture.h"

#include <dirent.h>

static size_t read_ints(struct tn_json array, int32_t *out, size_t most)
{
    size_t n = 0;
    for (struct tn_json v = tn_json_first(array); v.doc && n < most; v = tn_json_next(v)) {
        int64_t value = -1;
        tn_json_i64(v, &value);
        out[n++] = (int32_t)value;
    }
    return n;
}

static size_t read_floats(struct tn_json array, float *out, size_t most)
{
    size_t n = 0;
    for (struct tn_json v = tn_json_first(array); v.doc && n < most; v = tn_json_next(v)) {
        double value = NAN;
        tn_json_f64(v, &value);
        out[n++] = (float)value;
    }
    return n;
}

static double worst_excess(const float *found, const float *expected, size_t n)
{
    double scale = 1, worst = 0;
    for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs((double)expected[i]));
    for (size_t i = 0; i < n; i++) {
        double difference = fabs((double)found[i] - (double)expected[i]);
        worst = difference > worst || isnan(difference) ? difference : worst;
    }
    return worst / (2e-6 * scale);
}

enum { MOST = 4096 };

/* ---- stages ---------------------------------------------------------------------------------------------------- */

struct stages {
    struct tn_json expected;
    const char *package;
    bool diverged;
    unsigned seen;
};

static struct tn_json expected_rows(const struct stages *s, struct tn_str op)
{
    char text[128];
    unsigned layer;
    snprintf(text, sizeof(text), "%.*s", (int)op.n, op.s);
    if (tn_str_is(op, "embeddings")) return tn_json_get(s->expected, "embeddings");
    if (sscanf(text, "layer %u output", &layer) == 1 && (strstr(text, " output norm") || strstr(text, " output sum"))) {
        return tn_json_at(tn_json_get(s->expected, "layers"), layer);
    }
    return (struct tn_json){0};
}

static void compare_stage(void *user, struct tn_str op, const float *rows, size_t count, size_t width)
{
    struct stages *s = user;
    struct tn_json expected = expected_rows(s, op);
    static float flat[MOST * 64];
    if (!expected.doc || s->diverged) return;
    size_t n = 0;
    for (struct tn_json row = tn_json_first(expected); row.doc; row = tn_json_next(row)) {
        n += read_floats(row, flat + n, sizeof(flat) / sizeof(flat[0]) - n);
    }
    s->seen++;
    if (n == count * width && worst_excess(rows, flat, n) <= 1) return;
    s->diverged = true;
    test_fail(__FILE__, __LINE__, "%s diverges first at \"%.*s\": %.2f times the tolerance (%zu of %zu values)", s->package,
              (int)op.n, op.s, worst_excess(rows, flat, n < count * width ? n : count * width), n, count * width);
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

static int run(struct fixture *x, const int32_t *ids, const int32_t *types, size_t n, int32_t prompt, float *out,
               struct stages *stages)
{
    int32_t offsets[2] = {0, (int32_t)n};
    struct tn_span span = {.first = prompt, .count = (int32_t)n - prompt, .position = prompt};
    uint8_t status = 255;
    struct tn_invocation call = {
        .ids = ids,
        .type_ids = x->d->tokenizer.type_ids ? types : NULL,
        .offsets = offsets,
        .spans = &span,
        .sequences = 1,
        .out = out,
        .status = &status,
        .tap = stages ? compare_stage : NULL,
        .tap_user = stages,
    };
    return tn_native_provider.invoke(x->instance, &call, x->err) ? 254 : status;
}

static bool includes_prompt(const struct tn_description *d)
{
    for (uint32_t i = 0; i < d->module_count; i++) {
        if (d->modules[i].kind == TN_MODULE_POOLING) return d->modules[i].include_prompt;
    }
    return true;
}

static void check_case(struct fixture *x, struct tn_json c, const char *package, unsigned index)
{
    static int32_t ids[MOST], types[MOST];
    static float expected[MOST], found[MOST];
    bool normalized;
    if (tn_json_bool(tn_json_get(c, "normalize_embeddings"), &normalized)) return; /* an option of the recipe */
    if (tn_json_is(tn_json_get(c, "truncate_dim"), TN_JSON_NUMBER)) return;
    int64_t prompt = 0;
    size_t n = read_ints(tn_json_get(c, "ids"), ids, MOST);
    read_ints(tn_json_get(c, "type_ids"), types, MOST);
    if (!includes_prompt(x->d)) tn_json_i64(tn_json_get(c, "prompt_tokens"), &prompt);
    size_t width = read_floats(tn_json_get(c, "embedding"), expected, MOST);
    if (run(x, ids, types, n, (int32_t)prompt, found, NULL) != TN_ITEM_DONE) {
        test_fail(__FILE__, __LINE__, "%s case %u does not run", package, index);
        return;
    }
    double excess = worst_excess(found, expected, width);
    if (!(excess <= 1)) test_fail(__FILE__, __LINE__, "%s case %u: %.3f times the tolerance", package, index, excess);
}

static void check_stages(struct fixture *x, struct tn_json stages, const char *package)
{
    static int32_t ids[MOST];
    static float found[MOST];
    if (!stages.doc) return;
    struct stages s = {.expected = stages, .package = package};
    size_t n = read_ints(tn_json_get(stages, "ids"), ids, MOST);
    CHECK_INT(run(x, ids, NULL, n, 0, found, &s), TN_ITEM_DONE);
    CHECK_INT(s.seen, 1 + x->d->components[0].values[0].present * tn_component_value(&x->d->components[0], "num_hidden_layers")->u);
}

static bool check_golden(const char *name)
{
    char path[512];
    size_t size;
    struct fixture x;
    struct tn_json_doc doc = {0};
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    snprintf(path, sizeof(path), "golden/embed/%s", name);
    char *text = test_read_file(test_path(path), &size);
    tn_alloc_init(&alloc);
    if (!text || tn_json_parse(&doc, &alloc, &limits, tn_str_of(name), (struct tn_str){text, size}, NULL)) {
        test_fail(__FILE__, __LINE__, "%s cannot be read", name);
        free(text);
        return false;
    }
    struct tn_json root = tn_json_root(&doc);
    struct tn_str package;
    bool is_package = tn_json_str(tn_json_get(root, "package"), &package);
    if (is_package) {
        char folder[512];
        snprintf(folder, sizeof(folder), "golden/%.*s", (int)package.n, package.s);
        if (fixture_open(&x, test_path(folder), "f32", 2)) {
            unsigned index = 0;
            if (x.d->module_count == 0) root = (struct tn_json){0}; /* states no pooling: the recipe refuses it */
            check_stages(&x, tn_json_get(root, "stages"), name);
            for (struct tn_json c = tn_json_first(tn_json_get(root, "cases")); c.doc; c = tn_json_next(c)) check_case(&x, c, name, index++);
        } else {
            test_fail(__FILE__, __LINE__, "%s: %s (%s; found %s; expected %s)", name, x.err->primary.message,
                      x.err->primary.element, x.err->primary.found, x.err->primary.expected);
        }
        fixture_close(&x);
    }
    tn_json_release(&doc);
    free(text);
    return is_package;
}

TEST(every_tiny_package_equals_the_reference)
{
    DIR *dir = opendir(test_path("golden/embed"));
    REQUIRE(dir != NULL);
    struct dirent *entry;
    unsigned packages = 0;
    while ((entry = readdir(dir))) {
        if (strstr(entry->d_name, ".json")) packages += check_golden(entry->d_name);
    }
    closedir(dir);
    CHECK(packages > 30);
}
