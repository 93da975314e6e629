/* A tokenizer built from JSON text, with its allocator: what the tests of src/text share. */
#ifndef TN_TEST_TEXT_UTIL_H
#define TN_TEST_TEXT_UTIL_H

#include "test.h"

#include "text/tokenizer.h"

#include <stdlib.h>

struct text_fixture {
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_error *err;
    struct tn_text_tokenizer *t;
    struct tn_text_encoding e;
};

static inline void text_init(struct text_fixture *x)
{
    memset(x, 0, sizeof(*x));
    tn_alloc_init(&x->alloc);
    x->ctx = (struct tn_context){.alloc = &x->alloc, .limits = tn_limits_default()};
    x->err = calloc(1, sizeof(*x->err));
    tn_text_encoding_init(&x->e, &x->alloc);
}

/* Builds x->t; the document is gone afterwards, as in the library. */
static inline enum tn_status text_load(struct text_fixture *x, const char *json, size_t n)
{
    struct tn_json_doc doc;
    enum tn_status status = tn_json_parse(&doc, &x->alloc, &x->ctx.limits, TN_STR("tokenizer.json"),
                                          (struct tn_str){json, n}, x->err);
    if (status) return status;
    status = tn_text_tokenizer_from_json(&x->ctx, tn_json_root(&doc), &x->t, x->err);
    tn_json_release(&doc);
    return status;
}

static inline enum tn_status text_open(struct text_fixture *x, const char *relative)
{
    size_t n = 0;
    char *json = test_read_file(test_path(relative), &n);
    if (!json) return TN_ARTIFACT_MISSING;
    enum tn_status status = text_load(x, json, n);
    free(json);
    return status;
}

/* The tokenizer of a row of a golden of tools/golden/tokenizer_families.py. */
static inline enum tn_status text_open_row(struct text_fixture *x, const char *relative, const char *what)
{
    struct tn_json_doc doc;
    struct tn_str name;
    size_t n = 0;
    char *json = test_read_file(test_path(relative), &n);
    enum tn_status status = TN_ARTIFACT_MISSING;
    if (!json || tn_json_parse(&doc, &x->alloc, &x->ctx.limits, TN_STR("rows"), (struct tn_str){json, n}, x->err)) {
        free(json);
        return TN_ARTIFACT_MISSING;
    }
    struct tn_json row = tn_json_first(tn_json_get(tn_json_root(&doc), "rows"));
    while (row.doc && !(tn_json_str(tn_json_get(row, "what"), &name) && tn_str_is(name, what))) row = tn_json_next(row);
    if (row.doc) status = tn_text_tokenizer_from_json(&x->ctx, tn_json_get(row, "file"), &x->t, x->err);
    tn_json_release(&doc);
    free(json);
    return status;
}

static inline enum tn_status text_open_family(struct text_fixture *x, const char *what)
{
    return text_open_row(x, "golden/tokenizer_extra/families.json", what);
}

/* Releases everything and checks that nothing is left. */
static inline void text_close(struct text_fixture *x)
{
    tn_text_encoding_release(&x->e);
    tn_text_tokenizer_free(x->t);
    CHECK_INT(tn_alloc_current(&x->alloc), 0);
    CHECK_INT(atomic_load(&x->alloc.blocks), 0);
    free(x->err);
}

static inline enum tn_status text_encode(struct text_fixture *x, const char *text, const struct tn_text_options *o)
{
    return tn_text_encode(x->t, tn_str_of(text), (struct tn_str){0}, o, &x->e, x->err);
}

/* "id,id,..." of the last encoding; valid until the next call. */
static inline const char *text_ids(const struct text_fixture *x)
{
    static char out[4096];
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < x->e.count && n + 16 < sizeof(out); i++) {
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%lu", i ? "," : "", (unsigned long)x->e.ids[i]);
    }
    return out;
}

#endif
