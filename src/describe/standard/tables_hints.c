/*
 * The execution hints as tables: wishes about placement, memory and scheduling. Shape only; which hint wins and which
 * are conflicts is decided elsewhere. The schema leaves selectors, devices and layer ranges open; they are closed here,
 * because a selector with a misspelt member would select more than its author meant.
 */
#include "describe/standard/tables_types.h"

const struct tn_doctype_title tn_execution_hints_title = {
    .id = "urn:tenon:schema:hints",
    .title = "Execution hints, as tenon reads them",
};

TN_DOC_OBJECT_TYPE(tn_std_layer_range, "LayerRange", "Layers from start to end.",
    TN_DOC_MUST("start", TN_DOC_UINT, "First layer."),
    TN_DOC_MUST("end", TN_DOC_UINT, "Last layer."));

static const struct tn_docfield selector_fields[] = {
    TN_DOC_MAY("names", TN_DOC_LIST_OF(TN_DOC_NAME), NULL, "Names of nodes or tensors."),
    TN_DOC_MAY("pattern", TN_DOC_NAME, NULL, "Pattern over names; * is any run of characters and ? any one."),
    TN_DOC_MAY("op_types", TN_DOC_LIST_OF(TN_DOC_NAME), NULL, "Operator types."),
    TN_DOC_MAY("layer_range", &tn_std_layer_range, NULL, "Layers that the nodes belong to."),
};

static const struct tn_doctype tn_std_node_selector = {
    .kind = TN_DOC_OBJECT,
    .name = "NodeSelector",
    .note = "What a hint is about; at least one member.",
    .fields = selector_fields,
    .field_count = TN_DOC_COUNT(selector_fields),
    .min_items = 1,
};

TN_DOC_ENUM_TYPE(tn_std_device_type, "DeviceType", "Kinds of devices.", "gpu", "cpu", "npu", "any");

TN_DOC_OBJECT_TYPE(tn_std_device_target, "DeviceTarget", "A device, or a kind of devices.",
    TN_DOC_MUST("type", &tn_std_device_type, "Kind of device."),
    TN_DOC_MAY("index", TN_DOC_UINT, NULL, "Which one of several."));

TN_DOC_ENUM_TYPE(tn_std_hint_strength, "HintStrength",
    "\"prefer\" may lose, and is then reported; \"force\" holds or fails.", "prefer", "force");

TN_DOC_OBJECT_TYPE(tn_std_placement_hint, "PlacementHint", "Where nodes should run.",
    TN_DOC_MUST("selector", &tn_std_node_selector, "Which nodes."),
    TN_DOC_MUST("device", &tn_std_device_target, "Where."),
    TN_DOC_MAY("strength", &tn_std_hint_strength, "\"prefer\"", "How firm the wish is."),
    TN_DOC_MAY("reason", TN_DOC_TEXT, NULL, "Why, for people."));

TN_DOC_ENUM_TYPE(tn_std_memory_action, "MemoryAction", "What to do with the memory of tensors.",
    "pin", "low_priority", "allow_alias", "arena_size", "prefetch");

TN_DOC_OBJECT_TYPE(tn_std_memory_hint, "MemoryHint", "How memory should be planned.",
    TN_DOC_MUST("action", &tn_std_memory_action, "What to do."),
    TN_DOC_MAY("selector", &tn_std_node_selector, NULL, "Which tensors; not for arena_size."),
    TN_DOC_MAY("device", &tn_std_device_target, NULL, "Whose arena, for arena_size."),
    TN_DOC_MAY("bytes", TN_DOC_UINT, NULL, "Size of the arena."),
    TN_DOC_MAY("reason", TN_DOC_TEXT, NULL, "Why, for people."));

TN_DOC_ENUM_TYPE(tn_std_scheduling_action, "SchedulingAction", "What to do with the order of work.",
    "overlap", "cuda_graph_region", "no_cuda_graph", "chunk_size");

TN_DOC_OBJECT_TYPE(tn_std_scheduling_hint, "SchedulingHint", "How work should be ordered.",
    TN_DOC_MUST("action", &tn_std_scheduling_action, "What to do."),
    TN_DOC_MAY("selector", &tn_std_node_selector, NULL, "Which nodes."),
    TN_DOC_MAY("chunk_size", TN_DOC_SIZE, NULL, "Pieces that the work is cut into."),
    TN_DOC_MAY("reason", TN_DOC_TEXT, NULL, "Why, for people."));

static const struct tn_docfield hints_fields[] = {
    TN_DOC_MAY("placement", TN_DOC_LIST_OF(&tn_std_placement_hint), NULL, "Where nodes should run."),
    TN_DOC_MAY("memory", TN_DOC_LIST_OF(&tn_std_memory_hint), NULL, "How memory should be planned."),
    TN_DOC_MAY("scheduling", TN_DOC_LIST_OF(&tn_std_scheduling_hint), NULL, "How work should be ordered."),
};

const struct tn_doctype tn_execution_hints_type = {
    .kind = TN_DOC_OBJECT,
    .name = "ExecutionHints",
    .note = "Wishes of a user about the execution of a package. They never change what an answer means.",
    .fields = hints_fields,
    .field_count = TN_DOC_COUNT(hints_fields),
};
