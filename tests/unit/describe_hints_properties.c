/* Execution hints that stand in the properties of model files. */
#include "hints_kit.h"

static void take(struct court *c, const struct tn_hint_property *p, size_t count, struct tn_hint_layers *layers)
{
    memset(layers, 0, sizeof(*layers));
    CHECK_INT(tn_hints_of_properties(p, count, TN_STR("model.onnx"), &c->arena, &c->findings, &c->lists[TN_HINT_FROM_MODEL],
                                     layers, c->err), TN_OK);
}

TEST(properties_become_hints)
{
    static const struct tn_hint_property p[] = {
        OF_MODEL("author", "nobody"), OF_MODEL("onnx_runtime.version", "1"), OF_MODEL("onnx_runtime.model.num_layers", "2"),
        OF_MODEL("onnx_runtime.model.layer_pattern", "layer {} "), OF_MODEL("onnx_runtime.model.architecture", "llama"),
        OF_MODEL("onnx_runtime.memory.arena_cpu_mb", "8192"), OF_MODEL("onnx_runtime.memory.prefetch", "a.weight, embeddings ,"),
        PROPERTY("onnx_runtime.layer", "1", "layer 1 output"), PROPERTY("onnx_runtime.group", "g", "layer 1 output"),
        PROPERTY("onnx_runtime.device", "gpu:0", "layer 1 output"), PROPERTY("onnx_runtime.device.strength", "force", "layer 1 output"),
        PROPERTY("onnx_runtime.kernel", "flash_attention", "layer 0 attention"),
        PROPERTY("onnx_runtime.scheduling.cuda_graph", "true", "layer 0 attention"),
        PROPERTY("onnx_runtime.scheduling.cuda_graph", "false", "embeddings"),
        PROPERTY("onnx_runtime.memory.pin", "false", "embeddings"), PROPERTY("onnx_runtime.memory.priority", "low", "embeddings"),
        PROPERTY("onnx_runtime.memory.priority", "normal", "layer 0 output"), PROPERTY("onnx_runtime.device", "cpu", "embeddings"),
        PROPERTY("onnx_runtime.device.strength", "prefer", "embeddings"), PROPERTY("onnx_runtime.offloadable", "true", "embeddings"),
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, sizeof(p) / sizeof(p[0]), &layers);
    CHECK_INT(c.findings.count, 0);
    static const enum tn_hint_kind kinds[] = {TN_HINT_ARENA_SIZE, TN_HINT_PREFETCH, TN_HINT_GROUP, TN_HINT_PLACE, TN_HINT_KERNEL,
                                              TN_HINT_CUDA_GRAPH_REGION, TN_HINT_NO_CUDA_GRAPH, TN_HINT_LOW_PRIORITY,
                                              TN_HINT_PLACE, TN_HINT_OFFLOADABLE};
    const struct tn_hint_list *list = &c.lists[TN_HINT_FROM_MODEL];
    REQUIRE(list->count == sizeof(kinds) / sizeof(kinds[0]));
    for (size_t i = 0; i < list->count; i++) {
        CHECK_INT(list->items[i].kind, kinds[i]);
        CHECK_INT(list->items[i].origin, TN_HINT_FROM_MODEL);
        CHECK(tn_str_is(list->items[i].file, "model.onnx"));
    }
    CHECK(list->items[0].number == UINT64_C(8192) << 20);
    CHECK_INT(list->items[1].selector.name_count, 2);
    CHECK(tn_str_is(list->items[1].selector.names[1], "embeddings"));
    CHECK(list->items[3].force && list->items[3].device.type == TN_DEVICE_GPU && list->items[3].device.has_index);
    CHECK(!list->items[8].force);
    CHECK(tn_str_is(list->items[4].text, "flash_attention"));
    CHECK_INT(layers.count, 1);
    CHECK(tn_str_is(layers.pattern, "layer {} "));
    REQUIRE(judge(&c) == TN_OK);
    CHECK_INT(c.findings.blockers, 1); /* the forced gpu */
    CHECK(with_code(&c, TN_BLOCKER, TN_PLACEMENT_REFUSED));
    end(&c);
}

TEST(properties_that_cannot_be_read_are_warnings)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.devcie", "gpu", "n"), PROPERTY("onnx_runtime.device", "tpu", "n"),
        PROPERTY("onnx_runtime.layer", "4294967296", "n"), /* more than any layer */
        PROPERTY("onnx_runtime.layer", "-1", "n"), PROPERTY("onnx_runtime.layer", "1e3", "n"),
        PROPERTY("onnx_runtime.memory.pin", "yes", "n"), PROPERTY("onnx_runtime.memory.priority", "urgent", "n"),
        PROPERTY("onnx_runtime.device.strength", "insist", "n"), OF_MODEL("onnx_runtime.memory.arena_gpu_mb", "lots"),
        OF_MODEL("onnx_runtime.memory.arena_gpu_mb", "99999999999999999999"), OF_MODEL("onnx_runtime.model.layer_pattern", "x"),
        OF_MODEL("onnx_runtime.layer", "1") /* of a node only */,
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, sizeof(p) / sizeof(p[0]), &layers);
    CHECK_INT(c.findings.count, sizeof(p) / sizeof(p[0]));
    CHECK_INT(c.findings.blockers, 0);
    CHECK_INT(c.lists[TN_HINT_FROM_MODEL].count, 0);
    for (size_t i = 0; i < c.findings.count; i++) {
        CHECK_INT(c.findings.items[i].severity, TN_WARNING);
        CHECK_STR(c.findings.items[i].file, "model.onnx");
    }
    CHECK_CONTAINS(c.findings.items[0].expected, "onnx_runtime.device");
    CHECK_CONTAINS(c.findings.items[0].element, "n: onnx_runtime.devcie");
    end(&c);
}

TEST(a_property_lists_no_more_names_than_a_document)
{
    enum { MANY = TN_HINT_NAMES_MOST + 1 };
    struct court c;
    struct tn_hint_layers layers;
    char *text = malloc(2 * MANY);
    for (size_t i = 0; i < MANY; i++) memcpy(text + 2 * i, "a,", 2);
    text[2 * MANY - 1] = 0; /* MANY names, with a comma less */
    begin(&c);
    struct tn_hint_property p = {.key = TN_STR("onnx_runtime.memory.prefetch"), .value = {text, 2 * MANY - 1}};
    take(&c, &p, 1, &layers);
    CHECK_INT(c.lists[TN_HINT_FROM_MODEL].count, 0);
    REQUIRE(c.findings.count == 1);
    CHECK_INT(c.findings.items[0].severity, TN_WARNING);
    end(&c);
    free(text);
}

TEST(a_forced_device_that_cannot_be_read_blocks)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.device.strength", "force", "n"), PROPERTY("onnx_runtime.device", "tpu", "n"),
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, 2, &layers);
    CHECK_INT(c.findings.blockers, 1);
    end(&c);
}

TEST(properties_of_another_version_are_left_out)
{
    static const struct tn_hint_property p[] = {
        PROPERTY("onnx_runtime.device", "gpu", "n"), PROPERTY("onnx_runtime.device.strength", "force", "n"),
        OF_MODEL("onnx_runtime.version", "2"),
    };
    struct court c;
    struct tn_hint_layers layers;
    begin(&c);
    take(&c, p, 3, &layers);
    CHECK_INT(c.lists[TN_HINT_FROM_MODEL].count, 0);
    CHECK_INT(c.findings.count, 1);
    CHECK_CONTAINS(c.findings.items[0].message, "another version");
    end(&c);
}
