/*
 * What the tests of ONNX models share: writing wire bytes by hand, opening views from bytes and text, and expecting a
 * failure by code and words.
 */
#ifndef TN_ONNX_UTIL_H
#define TN_ONNX_UTIL_H

#include "package_util.h"

#include "package/onnx.h"

/* ---- bytes by hand ----------------------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *data;
    size_t n, cap;
};

static inline void put(struct bytes *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) b->data = realloc(b->data, b->cap = 2 * (b->n + n) + 64);
    if (n) memcpy(b->data + b->n, p, n);
    b->n += n;
}

static inline void put_byte(struct bytes *b, unsigned value)
{
    unsigned char c = (unsigned char)value;
    put(b, &c, 1);
}

static inline void varint(struct bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) put_byte(b, (unsigned)(value | 0x80) & 0xFF);
    put_byte(b, (unsigned)value);
}

static inline void number(struct bytes *b, unsigned field, uint64_t value)
{
    varint(b, (uint64_t)field << 3);
    varint(b, value);
}

/* A message or string; takes the inner bytes. */
static inline void message(struct bytes *b, unsigned field, struct bytes inner)
{
    varint(b, (uint64_t)field << 3 | 2);
    varint(b, inner.n);
    put(b, inner.data, inner.n);
    free(inner.data);
}

static inline void text(struct bytes *b, unsigned field, const char *s)
{
    struct bytes inner = {0};
    put(&inner, s, strlen(s));
    message(b, field, inner);
}

static inline void opset(struct bytes *model, const char *domain, int64_t version)
{
    struct bytes o = {0};
    if (*domain) text(&o, 1, domain);
    number(&o, 2, (uint64_t)version);
    message(model, 8, o);
}

static inline void node(struct bytes *graph, const char *type, const char *domain)
{
    struct bytes n = {0};
    text(&n, 4, type);
    if (*domain) text(&n, 7, domain);
    message(graph, 1, n);
}

/* ModelProto: version, opset 17, the graph. */
static inline struct bytes model_of(struct bytes graph)
{
    struct bytes m = {0};
    number(&m, 1, 9);
    opset(&m, "", 17);
    message(&m, 7, graph);
    return m;
}

static inline struct bytes model_with_node(void)
{
    struct bytes graph = {0};
    node(&graph, "Relu", "");
    return model_of(graph);
}

static inline struct tn_onnx_view *view_bytes(const void *p, size_t n)
{
    struct tn_onnx_view *view = NULL;
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(p, n, TN_STR("m.onnx"), &holder);
    tn_error_clear(err);
    enum tn_status status = tn_onnx_view_open(&ctx, &source, &view, err);
    CHECK_INT(status, err->primary.code);
    CHECK((status == TN_OK) == (view != NULL));
    return view;
}

static inline void close_view(struct tn_onnx_view *view)
{
    tn_onnx_view_free(view);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* Reads, takes the bytes, and expects this failure; "" in `found`: none. */
static inline void expect_failure(struct bytes b, enum tn_status code, const char *found, int line)
{
    struct tn_onnx_view *view = view_bytes(b.data, b.n);
    if (err->primary.code != code || !strstr(err->primary.found, found)) {
        test_fail(__FILE__, line, "%s: %s, found \"%s\"", tn_status_name(err->primary.code), err->primary.message,
                  err->primary.found);
    }
    close_view(view);
    free(b.data);
}
#define FAILS(b, code, found) expect_failure((b), (code), (found), __LINE__)

static inline struct tn_onnx_view *view_text(const char *s)
{
    struct tn_onnx_view *view = NULL;
    tn_error_clear(err);
    enum tn_status status = tn_onnx_view_open_text(&ctx, TN_STR("m.onnx.textproto"), tn_str_of(s), &view, err);
    CHECK_INT(status, err->primary.code);
    return view;
}

static inline void expect_text_failure(const char *s, enum tn_status code, const char *found, int line)
{
    struct tn_onnx_view *view = view_text(s);
    if (err->primary.code != code || !strstr(err->primary.found, found))
        test_fail(__FILE__, line, "%s: \"%s\"", tn_status_name(err->primary.code), err->primary.found);
    close_view(view);
}
#define TEXT_FAILS(s, code, found) expect_text_failure((s), (code), (found), __LINE__)

#endif
