/*
 * The whole road over the public interface against sentence-transformers: every tiny package of tests/golden/embed with
 * its own texts, prompts and options. Tolerance 2e-6 max(1, max|x|) per component, the bar for f32.
 */
#include "texts_kit.h"

#include "onnxruntime_util.h"

#include <dirent.h>

enum { MOST_CASES = 128, MOST_WIDTH = 1024 };

struct golden_case {
    tn_string text;
    const char *role;
    bool normalize;
    unsigned dimensions;
    size_t tokens, total, width;
    float expected[MOST_WIDTH];
};

static char *copy_of(struct tn_str s)
{
    char *p = malloc(s.n + 1);
    memcpy(p, s.s, s.n);
    p[s.n] = 0;
    return p;
}

static void read_case(struct tn_json v, struct golden_case *c)
{
    struct tn_str text = {"", 0}, role;
    uint64_t n = 0;
    memset(c, 0, sizeof(*c));
    tn_json_str(tn_json_get(v, "text"), &text);
    c->text = (tn_string){copy_of(text), text.n};
    if (tn_json_str(tn_json_get(v, "prompt_name"), &role)) c->role = copy_of(role);
    tn_json_bool(tn_json_get(v, "normalize_embeddings"), &c->normalize);
    tn_json_u64(tn_json_get(v, "truncate_dim"), &n);
    c->dimensions = (unsigned)n;
    c->tokens = tn_json_count(tn_json_get(v, "ids"));
    if (tn_json_u64(tn_json_get(v, "tokens_untruncated"), &n)) c->total = (size_t)n;
    struct tn_json list = tn_json_get(v, "embedding");
    for (struct tn_json e = tn_json_first(list); e.doc && c->width < MOST_WIDTH; e = tn_json_next(e)) {
        double x = NAN;
        tn_json_f64(e, &x);
        c->expected[c->width++] = (float)x;
    }
}

static void compare(const char *name, size_t i, const struct golden_case *c, const tn_event *e)
{
    double scale = 1, worst = 0;
    if (e->status || e->dimensions != c->width) {
        test_fail(__FILE__, __LINE__, "%s case %zu: status %s, %zu dimensions for %zu", name, i, tn_status_name(e->status),
                  e->dimensions, c->width);
        return;
    }
    for (size_t k = 0; k < c->width; k++) scale = fmax(scale, fabs((double)c->expected[k]));
    for (size_t k = 0; k < c->width; k++) {
        double d = fabs((double)e->embedding[k] - (double)c->expected[k]);
        if (!(d <= worst)) worst = d;
    }
    if (!(worst <= 2e-6 * scale)) test_fail(__FILE__, __LINE__, "%s case %zu: differs by %g", name, i, worst / scale);
    if (e->tokens != c->tokens || e->tokens_total != c->total) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %zu of %zu tokens, expected %zu of %zu", name, i, e->tokens,
                  e->tokens_total, c->tokens, c->total);
    }
}

/* The library makes up a mean pooling for a bare transformers package; we refuse to. */
static void refuse_plain(struct api *a, const char *path)
{
    tn_package *package = api_open(a, path);
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan;
    o.task = "embedding.dense";
    CHECK_INT(tn_plan_new(package, &o, &plan, a->err), TN_UNSUPPORTED_TASK);
    CHECK(plan == NULL);
    CHECK_STR(tn_error_file(a->err), "modules.json");
    CHECK_CONTAINS(tn_error_remedy(a->err), "1_Pooling/config.json");
    tn_package_free(package);
}

/* One request per case: prompts and options differ. */
static void run_cases(struct api *a, const char *name, tn_session *session, const struct golden_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct golden_case *c = &cases[i];
        tn_embed_request r = api_request(&c->text, 1);
        tn_execution *x;
        tn_event e = {0};
        r.role = c->role;
        r.normalize = c->normalize ? TN_YES : TN_AUTO;
        r.dimensions = c->dimensions;
        tn_status st = tn_embed_start(session, &r, &x, a->err);
        if (st) {
            test_fail(__FILE__, __LINE__, "%s case %zu: %s", name, i, tn_error_message(a->err));
            continue;
        }
        CHECK_INT(api_collect(x, &e, 1, a->err), TN_OK);
        compare(name, i, c, &e);
        tn_execution_free(x);
    }
}

static size_t read_cases(struct tn_json root, struct golden_case *cases)
{
    size_t count = 0;
    for (struct tn_json v = tn_json_first(tn_json_get(root, "cases")); v.doc && count < MOST_CASES; v = tn_json_next(v)) {
        read_case(v, &cases[count++]);
    }
    return count;
}

/* `provider` of a package over a graph; NULL: the usual one. */
static bool run_file(struct api *a, const char *file, bool over_graph, const char *provider)
{
    char path[1280];
    size_t size;
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    struct tn_str package;
    static struct golden_case cases[MOST_CASES];
    snprintf(path, sizeof(path), "golden/embed/%s", file);
    char *text = test_read_file(test_path(path), &size);
    tn_alloc_init(&alloc);
    if (!text || tn_json_parse(&doc, &alloc, &limits, TN_STR("golden"), (struct tn_str){text, size}, NULL)) {
        test_fail(__FILE__, __LINE__, "%s cannot be read", file);
        return false;
    }
    bool ran = tn_json_str(tn_json_get(tn_json_root(&doc), "package"), &package);
    if (ran) {
        snprintf(path, sizeof(path), "golden/%.*s", (int)package.n, package.s);
        bool plain = strcmp(file, "bert_plain.json") == 0;
        size_t count = read_cases(tn_json_root(&doc), cases);
        snprintf(path, sizeof(path), "%s", test_path(path));
        if (over_graph) ran = texts_over_graph(file, path, path, sizeof(path));
        tn_session *session = plain || !ran ? NULL : api_session_of(a, path, provider);
        if (plain) refuse_plain(a, path);
        if (session) run_cases(a, file, session, cases, count);
        tn_session_free(session);
        for (size_t i = 0; i < count; i++) {
            free((void *)(uintptr_t)cases[i].text.data);
            free((void *)(uintptr_t)cases[i].role);
        }
    }
    tn_json_release(&doc);
    free(text);
    return ran;
}

TEST(every_package_equals_the_reference)
{
    struct api a;
    unsigned files = 0;
    REQUIRE(api_begin(&a, 2));
    DIR *dir = opendir(test_path("golden/embed"));
    REQUIRE(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        if (strstr(d->d_name, ".json")) files += run_file(&a, d->d_name, false, NULL);
    }
    closedir(dir);
    CHECK(files >= 60);
    api_end(&a);
}

TEST(packages_over_a_graph_equal_the_reference)
{
    struct api a;
    unsigned files = 0;
    REQUIRE(api_begin(&a, 2));
    DIR *dir = opendir(test_path("golden/embed"));
    REQUIRE(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        if (strstr(d->d_name, ".json")) files += run_file(&a, d->d_name, true, NULL);
    }
    closedir(dir);
    CHECK_INT(files, 6);
    api_end(&a);
}

TEST(onnxruntime_over_a_graph_equals_the_reference)
{
    struct api a;
    unsigned files = 0;
    ort_begin(&a, 2);
    DIR *dir = opendir(test_path("golden/embed"));
    REQUIRE(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        if (strstr(d->d_name, ".json")) files += run_file(&a, d->d_name, true, "onnxruntime");
    }
    closedir(dir);
    CHECK_INT(files, 6);
    api_end(&a);
}
