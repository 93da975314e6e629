/*
 * Every element-wise activation that a configuration can name, against torch's own values in double precision
 * (tests/golden/embed/activations.json): the spelling leads to an activation, and the activation to the value. In every
 * kernel table of this machine. Those of Dense modules are in the chain of tests/golden/packages/bert_dense_chain.
 */
#include "native_fixture.h"

enum { MOST = 4096 };

static size_t floats_of(struct tn_json array, float *out)
{
    size_t n = 0;
    for (struct tn_json v = tn_json_first(array); v.doc && n < MOST; v = tn_json_next(v)) {
        double value = NAN;
        tn_json_f64(v, &value);
        out[n++] = (float)value;
    }
    return n;
}

static void compare(const struct tn_kernels *k, enum tn_act act, struct tn_str name, const float *x, struct tn_json row)
{
    static float expected[MOST], y[MOST];
    size_t n = floats_of(tn_json_get(row, "f64"), expected);
    memcpy(y, x, n * sizeof(float));
    k->activate(act, y, n, 1, n, 0, 1);
    for (size_t i = 0; i < n; i++) {
        double tolerance = 4e-7 * fmax(1.0, fabs((double)expected[i]));
        if (fabs((double)y[i] - (double)expected[i]) <= tolerance) continue;
        test_fail(__FILE__, __LINE__, "%s, %.*s(%.9g): found %.9g, expected %.9g", k->name, (int)name.n, name.s,
                  (double)x[i], (double)y[i], (double)expected[i]);
        return;
    }
}

TEST(every_activation_equals_torch)
{
    size_t size;
    char *text = test_read_file(test_path("golden/embed/activations.json"), &size);
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    static float x[MOST];
    REQUIRE(text != NULL);
    tn_alloc_init(&alloc);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("activations.json"), (struct tn_str){text, size}, NULL) == TN_OK);
    struct tn_json root = tn_json_root(&doc);
    floats_of(tn_json_get(root, "inputs"), x);
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    unsigned seen = 0;
    for (size_t i = 0; tn_kernels_name(i); i++) {
        const struct tn_kernels *k = tn_kernels_select(&cpu, tn_kernels_name(i));
        if (!k) continue;
        struct tn_json spellings = tn_json_get(root, "hidden_act");
        for (struct tn_json row = tn_json_first(spellings); row.doc; row = tn_json_next(row), seen++) {
            enum tn_act act;
            struct tn_str name = tn_json_key(row);
            if (tn_activation_of(name, &act)) {
                compare(k, act, name, x, row);
            } else {
                test_fail(__FILE__, __LINE__, "no activation for the spelling %.*s", (int)name.n, name.s);
            }
        }
    }
    CHECK(seen > 20);
    tn_json_release(&doc);
    free(text);
}
