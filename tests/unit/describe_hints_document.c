/* Execution hints: the document as it is read and refused, results as one, and reading without memory. */
#include "hints_kit.h"

/* ---- the document ---- */

static void expect_refused(const char *text, enum tn_status code, const char *pointer)
{
    struct court c;
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, text), TN_OK);
    CHECK_INT(c.lists[TN_HINT_FROM_USER].count, 0);
    const struct tn_finding *f = tn_findings_first_blocker(&c.findings);
    if (!f || f->code != code || strcmp(f->element, pointer) != 0 || strcmp(f->file, "my_hints.json") != 0) {
        test_fail(__FILE__, __LINE__, "%s: %s at \"%s\" of %s", text, f ? tn_status_name(f->code) : "taken", f ? f->element : "",
                  f ? f->file : "");
    }
    end(&c);
}

TEST(documents_that_are_refused)
{
    expect_refused("{\"speed\": 1}", TN_METADATA_INVALID, "/speed");
    expect_refused("{\"placement\": {}}", TN_METADATA_INVALID, "/placement");
    expect_refused("{\"placement\": [{\"selector\": {\"pattern\": \"*\"}}]}", TN_METADATA_INVALID, "/placement/0/device");
    expect_refused("{\"placement\": [{\"device\": {\"type\": \"cpu\"}}]}", TN_METADATA_INVALID, "/placement/0/selector");
    expect_refused(PLACEMENT(PLACE("{}", ON("cpu"), "prefer")), TN_METADATA_INVALID, "/placement/0/selector");
    expect_refused(PLACEMENT(PLACE(ALL, ON("cpu"), "insist")), TN_METADATA_INVALID, "/placement/0/strength");
    expect_refused(PLACEMENT(PLACE(ALL, ON("tpu"), "force")), TN_METADATA_INVALID, "/placement/0/device/type");
    expect_refused(PLACEMENT(PLACE(ALL, "{\"type\": \"gpu\", \"index\": -1}", "force")), TN_METADATA_INVALID,
                   "/placement/0/device/index");
    expect_refused(PLACEMENT(PLACE("{\"layer_range\": {\"start\": 1}}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/layer_range/end");
    expect_refused("{\"memory\": [{\"action\": \"burn\"}]}", TN_METADATA_INVALID, "/memory/0/action");
    expect_refused("{\"memory\": [{\"selector\": {\"pattern\": \"*\"}}]}", TN_METADATA_INVALID, "/memory/0/action");
    expect_refused("{\"scheduling\": [{\"action\": \"pin\"}]}", TN_METADATA_INVALID, "/scheduling/0/action");
    expect_refused("{\"scheduling\": [{\"action\": \"chunk_size\", \"chunk_size\": 0}]}", TN_METADATA_INVALID,
                   "/scheduling/0/chunk_size");
    /* What the shape allows and means nothing. */
    expect_refused("{\"scheduling\": [{\"action\": \"chunk_size\"}]}", TN_METADATA_INVALID, "/scheduling/0/chunk_size");
    expect_refused("{\"memory\": [{\"action\": \"arena_size\", \"bytes\": 1}]}", TN_METADATA_INVALID, "/memory/0/device");
    expect_refused("{\"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}}]}", TN_METADATA_INVALID,
                   "/memory/0/bytes");
    /* What can select nothing in any graph. */
    expect_refused(PLACEMENT(PLACE("{\"names\": []}", ON("cpu"), "prefer")), TN_METADATA_INVALID, "/placement/0/selector/names");
    expect_refused("{\"memory\": [{\"action\": \"pin\", \"selector\": {\"op_types\": []}}]}", TN_METADATA_INVALID,
                   "/memory/0/selector/op_types");
    expect_refused("{\"scheduling\": [{\"action\": \"overlap\", \"selector\": {\"layer_range\": {\"start\": 5, \"end\": 2}}}]}",
                   TN_METADATA_INVALID, "/scheduling/0/selector/layer_range");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": \"\"}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": \"[a\"}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": \"layers.0]*\"}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
    expect_refused("[]", TN_METADATA_INVALID, "");
    expect_refused("{\"placement\": [}", TN_ARTIFACT_MALFORMED, "");
    expect_refused("{\"memory\": [], \"memory\": []}", TN_ARTIFACT_MALFORMED, "/memory");
    expect_refused(PLACEMENT(PLACE("{\"pattern\": null}", ON("cpu"), "prefer")), TN_METADATA_INVALID,
                   "/placement/0/selector/pattern");
}

/* A text of the caller's is an argument; a file is an artifact. */
TEST(a_text_that_is_no_document_is_told_by_its_origin)
{
    for (int origin = 0; origin < TN_HINT_ORIGINS; origin++) {
        struct court c;
        begin(&c);
        CHECK_INT(give(&c, (enum tn_hint_origin)origin, "fast"), TN_OK);
        REQUIRE(c.findings.count == 1);
        CHECK_INT(c.findings.items[0].code, origin == TN_HINT_FROM_CALLER ? TN_INVALID_REQUEST : TN_ARTIFACT_MALFORMED);
        end(&c);
    }
}

/* One bad hint spoils its document and no other one's. */
TEST(a_document_counts_whole_or_not_at_all)
{
    struct court c;
    begin(&c);
    CHECK_INT(give(&c, TN_HINT_FROM_METADATA, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer"))), TN_OK);
    CHECK_INT(give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer") ", " PLACE("{}", ON("cpu"), "prefer"))),
              TN_OK);
    CHECK_INT(c.findings.blockers, 1);
    CHECK_INT(c.lists[TN_HINT_FROM_METADATA].count, 1);
    CHECK_INT(c.lists[TN_HINT_FROM_USER].count, 0);
    end(&c);
}

TEST(everything_of_the_form_is_read)
{
    struct court c;
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER,
                 "{\"placement\": [{\"selector\": {\"names\": [\"a\", \"b\"]}, \"device\": {\"type\": \"npu\", \"index\": 3}, "
                 "\"strength\": \"force\", \"reason\": \"why not\"}, {\"selector\": {\"pattern\": \"x*\"}, \"device\": "
                 "{\"type\": \"any\"}}], \"memory\": [{\"action\": \"arena_size\", \"device\": {\"type\": \"cpu\"}, \"bytes\": "
                 "4096}, {\"action\": \"pin\", \"selector\": {\"pattern\": \"*\"}}, {\"action\": \"low_priority\"}, {\"action\": "
                 "\"allow_alias\"}, {\"action\": \"prefetch\"}], \"scheduling\": [{\"action\": \"overlap\"}, {\"action\": "
                 "\"cuda_graph_region\"}, {\"action\": \"no_cuda_graph\"}, {\"action\": \"chunk_size\", \"chunk_size\": 4}]}") ==
            TN_OK);
    CHECK_INT(c.findings.count, 0);
    static const enum tn_hint_kind kinds[] = {TN_HINT_PLACE, TN_HINT_PLACE, TN_HINT_ARENA_SIZE, TN_HINT_PIN, TN_HINT_LOW_PRIORITY,
                                              TN_HINT_ALLOW_ALIAS, TN_HINT_PREFETCH, TN_HINT_OVERLAP,
                                              TN_HINT_CUDA_GRAPH_REGION, TN_HINT_NO_CUDA_GRAPH, TN_HINT_CHUNK_SIZE};
    const struct tn_hint_list *list = &c.lists[TN_HINT_FROM_CALLER];
    REQUIRE(list->count == sizeof(kinds) / sizeof(kinds[0]));
    for (size_t i = 0; i < list->count; i++) CHECK_INT(list->items[i].kind, kinds[i]);
    const struct tn_hint *h = &list->items[0];
    CHECK(h->force && h->has_device && h->device.has_index);
    CHECK_INT(h->device.type, TN_DEVICE_NPU);
    CHECK_INT(h->device.index, 3);
    CHECK_INT(h->selector.name_count, 2);
    CHECK(tn_str_is(h->reason, "why not"));
    CHECK(tn_str_is(h->pointer, "/placement/0"));
    CHECK(!list->items[1].force && !list->items[1].device.has_index);
    CHECK_INT(list->items[2].number, 4096);
    CHECK_INT(list->items[10].number, 4);
    CHECK(tn_hint_selects_all(&list->items[3].selector) && tn_hint_selects_all(&list->items[4].selector));
    end(&c);
}

TEST(what_stands_beside_an_action_without_meaning_is_noted)
{
    struct court c;
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, "{\"memory\": [{\"action\": \"pin\", \"bytes\": 7}]}") == TN_OK);
    CHECK_INT(c.lists[TN_HINT_FROM_CALLER].count, 1);
    const struct tn_finding *f = with_code(&c, TN_NOTE, TN_METADATA_INVALID);
    REQUIRE(f);
    CHECK_STR(f->element, "/memory/0/bytes");
    end(&c);
    begin(&c); /* a number of pieces means something for both */
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, "{\"scheduling\": [{\"action\": \"overlap\", \"chunk_size\": 2}, {\"action\": "
                                          "\"chunk_size\", \"chunk_size\": 2}, {\"action\": \"no_cuda_graph\", "
                                          "\"chunk_size\": 2}]}") == TN_OK);
    REQUIRE(c.findings.count == 1);
    CHECK_STR(c.findings.items[0].element, "/scheduling/2/chunk_size");
    end(&c);
}

TEST(documents_are_bounded)
{
    struct court c;
    size_t n = 0, cap = 4 << 20;
    char *text = malloc(cap);
    n += (size_t)snprintf(text + n, cap - n, "{\"memory\": [");
    for (int i = 0; i < 15 * TN_HINTS_MOST; i++) n += (size_t)snprintf(text + n, cap - n, "%s{\"action\": \"pin\"}", i ? "," : "");
    snprintf(text + n, cap - n, "]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    const struct tn_finding *f = tn_findings_first_blocker(&c.findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_STR(f->element, "/memory/1000");
    CHECK_STR(f->found, "15000 hints");
    CHECK_INT(c.findings.count, 1);
    CHECK_INT(c.findings.blockers, 1);
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"names\": [");
    for (int i = 0; i < TN_HINT_NAMES_MOST + 1; i++) n += (size_t)snprintf(text + n, cap - n, "%s\"a\"", i ? "," : "");
    snprintf(text + n, cap - n, "]}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    f = tn_findings_first_blocker(&c.findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_STR(f->element, "/memory/0/selector/names");
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"names\": [");
    for (int i = 0; i < TN_HINT_NAMES_MOST; i++) n += (size_t)snprintf(text + n, cap - n, "%s\"a\"", i ? "," : "");
    snprintf(text + n, cap - n, "]}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    CHECK_INT(c.findings.count, 0);
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"pattern\": \"");
    memset(text + n, '*', TN_HINT_PATTERN_BYTES + 1);
    snprintf(text + n + TN_HINT_PATTERN_BYTES + 1, 100, "\"}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    f = tn_findings_first_blocker(&c.findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_RESOURCE_LIMIT);
    CHECK_STR(f->element, "/memory/0/selector/pattern");
    end(&c);
    n = (size_t)snprintf(text, cap, "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"pattern\": \"");
    memset(text + n, '*', TN_HINT_PATTERN_BYTES);
    snprintf(text + n + TN_HINT_PATTERN_BYTES, 100, "\"}}]}");
    begin(&c);
    REQUIRE(give(&c, TN_HINT_FROM_CALLER, text) == TN_OK);
    CHECK_INT(c.findings.count, 0);
    CHECK_INT(c.lists[TN_HINT_FROM_CALLER].count, 1);
    end(&c);
    free(text);
}

/* ---- documents and memory ---- */

TEST(results_as_a_document)
{
    struct court c;
    struct tn_buf text;
    struct tn_json_writer w;
    begin(&c);
    c.world.device_count = 3;
    give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE(ALL, ON("gpu"), "prefer")));
    give(&c, TN_HINT_FROM_CALLER, PLACEMENT(PLACE(ALL, ON("cpu"), "prefer")));
    REQUIRE(judge(&c) == TN_OK);
    tn_buf_init(&text, &c.alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_hint_results_write(&w, &c.results);
    CHECK_STR(text.data,
              "[{\"hint\":\"placement\",\"origin\":\"caller\",\"strength\":\"prefer\",\"file\":\"hints\",\"pointer\":"
              "\"/placement/0\",\"outcome\":\"satisfied\",\"selected\":7,\"lost\":0,\"by\":null,\"why\":null},"
              "{\"hint\":\"placement\",\"origin\":\"user_file\",\"strength\":\"prefer\",\"file\":\"my_hints.json\",\"pointer\":"
              "\"/placement/0\",\"outcome\":\"overridden\",\"selected\":7,\"lost\":7,\"by\":{\"hint\":\"placement\",\"origin\":"
              "\"caller\",\"strength\":\"prefer\",\"file\":\"hints\",\"pointer\":\"/placement/0\"},\"why\":null}]");
    tn_buf_release(&text);
    tn_buf_init(&text, &c.alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_hint_list_write(&w, &c.lists[TN_HINT_FROM_USER]);
    CHECK_CONTAINS(text.data, "\"selector\":{\"pattern\":\"*\"},\"device\":\"gpu\"");
    tn_buf_release(&text);
    end(&c);
}

/* The n-th allocation fails, for every n: the right code or the whole result, and nothing stays. */
TEST(sweep_of_reading_and_resolving)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.layer", "1", "layer 1 output"), PROPERTY("onnx_runtime.device", "cpu", "embeddings"),
        OF_MODEL("onnx_runtime.memory.prefetch", "a,b"), OF_MODEL("onnx_runtime.model.layer_pattern", "layer {}"),
    };
    bool whole = false;
    for (uint64_t n = 1; !whole && n < 2000; n++) {
        struct court c;
        struct tn_hint_layers layers = {0};
        begin(&c);
        tn_alloc_fail(&c.alloc, n, false);
        enum tn_status st = give(&c, TN_HINT_FROM_USER, PLACEMENT(PLACE("{\"names\": [\"embeddings\"]}", ON("gpu"), "prefer")));
        if (!st) st = tn_hints_of_properties(p, 4, TN_STR("model.onnx"), &c.arena, &c.findings, &c.lists[TN_HINT_FROM_MODEL], &layers, c.err);
        if (!st) st = judge(&c);
        whole = c.alloc.calls < c.alloc.fail_at;
        if (st) CHECK_INT(st, TN_INSUFFICIENT_MEMORY);
        if (st) CHECK_INT(c.err->primary.code, TN_INSUFFICIENT_MEMORY);
        if (whole) CHECK_INT(c.results.count, 3);
        /* A finding that found no room is counted: whoever owns the list fails then. */
        if (!st && !whole) CHECK(c.findings.dropped > 0 || c.results.count == 3);
        end(&c);
    }
    CHECK(whole);
}
