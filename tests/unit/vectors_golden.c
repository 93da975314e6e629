/*
 * Several vectors per text, and sparse vectors, over the public interface against sentence-transformers: every package of
 * tests/golden/vectors. Numbers within 2e-5 max(1, max|x|); tokens, kept tokens and active terms exact.
 */
#include "heads_util.h"

#include <dirent.h>

#define TOLERANCE 2e-5

static void open_golden(struct heads_golden *g, const char *name, bool *good)
{
    char file[200];
    snprintf(file, sizeof(file), "../vectors/%s", name);
    *good = heads_open(g, file);
}

/* ---- several vectors per text ------------------------------------------------------------------------------------------- */

static tn_execution *embed_multi(struct api *a, tn_session *session, const tn_multi_request *r, tn_event *events, size_t most)
{
    tn_execution *x = NULL;
    memset(events, 0, most * sizeof(*events));
    tn_status st = tn_embed_multi_start(session, r, &x, a->err);
    if (st) test_fail(__FILE__, __LINE__, "embed: %s: %s", tn_status_name(st), tn_error_message(a->err));
    if (x) CHECK_INT(heads_collect(a, x, events, most, TN_OK), r->count);
    return x;
}

static void compare_vectors(const char *name, size_t i, struct tn_json v, const tn_event *e)
{
    struct tn_json rows = tn_json_get(v, "vectors");
    uint64_t total = 0;
    size_t k = 0;
    tn_json_u64(tn_json_get(v, "tokens_untruncated"), &total);
    if (e->status || e->vectors != tn_json_count(rows) || e->tokens_total != total) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %s, %zu vectors of %zu tokens, expected %zu of %zu", name, i, tn_status_name(e->status),
                  e->vectors, e->tokens_total, tn_json_count(rows), (size_t)total);
        return;
    }
    for (struct tn_json row = tn_json_first(rows); row.doc; row = tn_json_next(row), k++)
        heads_compare_row(name, i, row, e->embedding + k * e->dimensions, e->dimensions, TOLERANCE);
}

/* The tokens of the vectors, in the order of the ids that the encoder was given. */
static void compare_kept(const char *name, size_t i, struct tn_json v, const tn_event *e)
{
    struct tn_json id = tn_json_first(tn_json_get(v, "ids"));
    for (size_t k = 0; k < e->vectors; k++, id = tn_json_next(id)) {
        uint64_t found = UINT64_MAX;
        while (id.doc && tn_json_u64(id, &found) && found != e->token_ids[k]) id = tn_json_next(id);
        if (id.doc) continue;
        test_fail(__FILE__, __LINE__, "%s case %zu: vector %zu is of token %u, which is not among the ids", name, i, k, e->token_ids[k]);
        return;
    }
}

enum { MOST = 16 };

static void check_multi(struct api *a, const char *name, tn_session *session, struct tn_json cases)
{
    tn_string texts[2][MOST];
    struct tn_json where[2][MOST];
    size_t counts[2] = {0, 0}, i = 0;
    tn_event e[MOST];
    for (struct tn_json v = tn_json_first(cases); v.doc; v = tn_json_next(v), i++) {
        struct tn_str role = {"", 0};
        tn_multi_request r = TN_INIT(tn_multi_request);
        tn_string text = heads_string(tn_json_get(v, "text"));
        tn_json_str(tn_json_get(v, "role"), &role);
        unsigned which = tn_str_is(role, "document");
        r.texts = &text;
        r.count = 1;
        r.role = which ? "document" : "query";
        tn_execution *x = embed_multi(a, session, &r, e, 1);
        compare_vectors(name, i, v, &e[0]);
        compare_kept(name, i, v, &e[0]);
        tn_execution_free(x);
        texts[which][counts[which]] = text;
        where[which][counts[which]++] = v;
    }
    for (unsigned which = 0; which < 2; which++) { /* the same in company */
        tn_multi_request r = TN_INIT(tn_multi_request);
        r.texts = texts[which];
        r.count = counts[which];
        r.role = which ? "document" : "query";
        tn_execution *x = embed_multi(a, session, &r, e, MOST);
        for (size_t k = 0; k < counts[which]; k++) compare_vectors(name, k, where[which][k], &e[k]);
        tn_execution_free(x);
    }
}

/* ---- sparse vectors ------------------------------------------------------------------------------------------------------- */

static double number_at(struct tn_json list, size_t i)
{
    double x = NAN;
    tn_json_f64(tn_json_at(list, i), &x);
    return x;
}

/*
 * Terms of both sides in step. A value within the tolerance of zero may be there or not: on which side of zero its number
 * falls is rounding.
 */
static void compare_terms(const char *name, size_t i, struct tn_json v, const tn_event *e)
{
    struct tn_json indices = tn_json_get(v, "indices"), values = tn_json_get(v, "values");
    size_t n = tn_json_count(indices), a = 0, b = 0;
    uint64_t total = 0;
    double scale = 1;
    tn_json_u64(tn_json_get(v, "tokens_untruncated"), &total);
    for (size_t k = 0; k < n; k++) scale = fmax(scale, number_at(values, k));
    if (e->status || e->tokens_total != total) {
        test_fail(__FILE__, __LINE__, "%s case %zu: %s, %zu tokens", name, i, tn_status_name(e->status), e->tokens_total);
        return;
    }
    while (a < n || b < e->active) {
        uint64_t term = UINT64_MAX;
        tn_json_u64(tn_json_at(indices, a), &term);
        bool both = a < n && b < e->active && term == e->indices[b], ours = !both && (a == n || (b < e->active && e->indices[b] < term));
        double expected = ours ? 0 : number_at(values, a), found = both || ours ? (double)e->values[b] : 0;
        if (!(fabs(expected - found) <= TOLERANCE * scale)) {
            test_fail(__FILE__, __LINE__, "%s case %zu: term %llu is %.9g, expected %.9g", name, i,
                      (unsigned long long)(ours ? e->indices[b] : term), found, expected);
            return;
        }
        a += both || !ours;
        b += both || ours;
    }
}

static void check_sparse(struct api *a, const char *name, tn_session *session, struct tn_json cases)
{
    tn_string texts[MOST];
    struct tn_json where[MOST];
    tn_event e[MOST];
    size_t count = 0, i = 0;
    for (struct tn_json v = tn_json_first(cases); v.doc; v = tn_json_next(v), i++) {
        tn_sparse_request r = TN_INIT(tn_sparse_request);
        tn_string text = heads_string(tn_json_get(v, "text")), role = heads_string(tn_json_get(v, "role"));
        uint64_t most = 0;
        char asked[32];
        tn_execution *x = NULL;
        snprintf(asked, sizeof(asked), "%.*s", (int)role.length, role.data ? role.data : "");
        tn_json_u64(tn_json_get(v, "max_active"), &most);
        r.texts = &text;
        r.count = 1;
        r.role = role.data ? asked : NULL;
        r.max_active = (unsigned)most;
        CHECK_INT(tn_embed_sparse_start(session, &r, &x, a->err), TN_OK);
        if (!x) continue;
        CHECK_INT(heads_collect(a, x, e, 1, TN_OK), 1);
        compare_terms(name, i, v, &e[0]);
        if (most) CHECK(e[0].active <= most);
        tn_execution_free(x);
        if (role.data || most || count == MOST) continue;
        texts[count] = text;
        where[count++] = v;
    }
    tn_sparse_request r = TN_INIT(tn_sparse_request); /* the same in company */
    tn_execution *x = NULL;
    r.texts = texts;
    r.count = count;
    CHECK_INT(tn_embed_sparse_start(session, &r, &x, a->err), TN_OK);
    if (!x) return;
    CHECK_INT(heads_collect(a, x, e, MOST, TN_OK), count);
    for (size_t k = 0; k < count; k++) compare_terms(name, k, where[k], &e[k]);
    tn_execution_free(x);
}

/* ---- all packages --------------------------------------------------------------------------------------------------------- */

static void check_package(struct api *a, const char *name)
{
    struct heads_golden g;
    struct tn_str task = {"", 0};
    bool good;
    open_golden(&g, name, &good);
    if (!good) return;
    tn_json_str(tn_json_get(g.root, "task"), &task);
    char asked[40];
    snprintf(asked, sizeof(asked), "%.*s", (int)task.n, task.s);
    tn_session *session = heads_session(a, g.path, asked);
    if (session && tn_str_is(task, "embedding.multi")) check_multi(a, name, session, tn_json_get(g.root, "cases"));
    if (session && tn_str_is(task, "embedding.sparse")) check_sparse(a, name, session, tn_json_get(g.root, "cases"));
    tn_session_free(session);
    heads_close(&g);
}

TEST(every_package)
{
    struct api a;
    size_t packages = 0;
    CHECK(api_begin(&a, 2));
    DIR *folder = opendir(test_path("golden/vectors"));
    CHECK(folder != NULL);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        size_t n = strlen(d->d_name);
        if (n < 6 || strcmp(d->d_name + n - 5, ".json") != 0) continue;
        check_package(&a, d->d_name);
        packages++;
    }
    if (folder) closedir(folder);
    CHECK(packages >= 29);
    api_end(&a);
}
