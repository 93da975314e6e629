/* Low-rank adapters: artifacts, what they attach to, how rows select them. Constants; see tables.h for what
   they decide. */
#include "describe/standard/tables_types.h"

TN_DOC_OBJECT_TYPE(tn_std_adapter_service_contract, "AdapterServiceContract",
                   "Adapters of a package and the way a request selects them.",
    TN_DOC_MUST("application_capability", TN_DOC_NAME, "What the runtime must be able to do to apply them."),
    TN_DOC_MAY("artifacts", TN_DOC_NAMED(&tn_std_adapter_artifact), "{}", "Adapters by name."),
    TN_DOC_MAY("cache", &tn_std_adapter_cache_contract, "{\"eviction\": \"lru\", \"max_entries\": 16}",
               "How many are kept ready."),
    TN_DOC_MAY("discovery_fallback", &tn_std_adapter_discovery_fallback, "\"disabled\"",
               "Whether tools may look for targets; execution never does."),
    TN_DOC_MAY("planning", &tn_std_adapter_planning_contract,
               "{\"bucket_by_adapter_set\": true, \"invalidate_capture_on_eviction\": true, "
               "\"stable_buffers\": true}",
               "What a planner may rely on."),
    TN_DOC_MAY("portable_fallback", TN_DOC_BOOLEAN, "false",
               "Whether applying them by plain arithmetic is allowed."),
    TN_DOC_MUST("selection", &tn_std_adapter_selection_contract, "Inputs of a request that select adapters."),
    TN_DOC_MUST("target_manifest", &tn_std_lora_target_manifest, "What adapters attach to."));

TN_DOC_OBJECT_TYPE(tn_std_adapter_artifact, "AdapterArtifact", "One adapter.",
    TN_DOC_MUST("alpha", TN_DOC_DOUBLE, "Numerator of its scale."),
    TN_DOC_MAY("bindings", TN_DOC_LIST_OF(&tn_std_adapter_target_binding), "[]", "Its tensors, by target."),
    TN_DOC_MUST("dtype", &tn_std_tensor_d_type, "Type of its tensors."),
    TN_DOC_MUST("identity", TN_DOC_NAME, "Name of the adapter."),
    TN_DOC_MUST("index", TN_DOC_UINT, "Number that requests use."),
    TN_DOC_NULL("provenance", &tn_std_adapter_provenance, "Who made it, from what."),
    TN_DOC_MUST("rank", TN_DOC_UINT, "Inner width."),
    TN_DOC_MUST("version", TN_DOC_NAME, "Version of the adapter."),
    TN_DOC_MAY("weights", TN_DOC_LIST_OF(&tn_std_adapter_weight_artifact), "[]", "Its files."));

TN_DOC_OBJECT_TYPE(tn_std_adapter_cache_contract, "AdapterCacheContract", "Adapters that stay loaded.",
    TN_DOC_MAY("eviction", &tn_std_adapter_eviction_policy, "\"lru\"", "Which goes first."),
    TN_DOC_MAY("max_entries", TN_DOC_UINT, "16", "How many stay."));

TN_DOC_ENUM_TYPE(tn_std_adapter_eviction_policy, "AdapterEvictionPolicy",
                 "The one that was used longest ago goes first.", "lru");

TN_DOC_ENUM_TYPE(tn_std_adapter_discovery_fallback, "AdapterDiscoveryFallback",
                 "Looking for targets in graphs: never, or by tools at load.", "disabled", "tooling_only");

TN_DOC_OBJECT_TYPE(tn_std_adapter_planning_contract, "AdapterPlanningContract", "What a planner may rely on.",
    TN_DOC_MAY("bucket_by_adapter_set", TN_DOC_BOOLEAN, "true",
               "Whether rows of one set of adapters go together."),
    TN_DOC_MAY("invalidate_capture_on_eviction", TN_DOC_BOOLEAN, "true",
               "Whether recorded graphs die with an evicted adapter."),
    TN_DOC_MAY("stable_buffers", TN_DOC_BOOLEAN, "true", "Whether factors stay at one address."));

TN_DOC_OBJECT_TYPE(tn_std_adapter_provenance, "AdapterProvenance", "Origin of an adapter.",
    TN_DOC_MUST("producer", TN_DOC_TEXT, "Tool that wrote the manifest."),
    TN_DOC_NULL("revision", TN_DOC_TEXT, "Revision of the source."),
    TN_DOC_NULL("source", TN_DOC_TEXT, "Where it came from, without credentials."));

TN_DOC_ENUM_TYPE(tn_std_adapter_scale_encoding, "AdapterScaleEncoding",
                 "alpha / rank is still to be applied, or is in the factors already.", "alpha_over_rank",
                 "baked");

TN_DOC_OBJECT_TYPE(tn_std_adapter_selection_contract, "AdapterSelectionContract",
                   "Workflow inputs that select adapters for each row.",
    TN_DOC_NULL("active", TN_DOC_NAME, "Input that says which rows use adapters at all."),
    TN_DOC_MUST("adapter_counts", TN_DOC_NAME, "Input with the number of adapters of each row."),
    TN_DOC_MUST("max_adapters", TN_DOC_UINT, "Most adapters of a row."),
    TN_DOC_MUST("scales", TN_DOC_NAME, "Input with the scale of each adapter."),
    TN_DOC_MUST("segments", TN_DOC_NAME, "Input with the adapters' numbers, in order of composition."));

TN_DOC_OBJECT_TYPE(tn_std_adapter_target_binding, "AdapterTargetBinding", "The tensors of one target.",
    TN_DOC_NULL("alpha", TN_DOC_DOUBLE, "Numerator here, instead of the adapter's."),
    TN_DOC_NULL("rank", TN_DOC_UINT, "Inner width here, instead of the adapter's."),
    TN_DOC_MUST("target", TN_DOC_NAME, "Target of the manifest."),
    TN_DOC_MUST("weight_key", TN_DOC_NAME, "Key of its two factors in the file."));

TN_DOC_OBJECT_TYPE(tn_std_adapter_weight_artifact, "AdapterWeightArtifact", "One file of an adapter.",
    TN_DOC_NULL("config_location", TN_DOC_NAME, "Path of its configuration."),
    TN_DOC_MAY("format", &tn_std_adapter_weight_format, "\"json\"", "Form of the file."),
    TN_DOC_MUST("loader_capability", TN_DOC_NAME, "What a runtime must be able to read."),
    TN_DOC_MUST("location", TN_DOC_NAME, "Path of the file."),
    TN_DOC_MUST("scale_encoding", &tn_std_adapter_scale_encoding, "Whether the scale is in the factors."));

TN_DOC_ENUM_TYPE(tn_std_adapter_weight_format, "AdapterWeightFormat", "Forms that factors come in.", "json",
                 "ort_genai", "hf_peft", "safetensors");

TN_DOC_OBJECT_TYPE(tn_std_lora_target_manifest, "LoraTargetManifest", "All places that adapters may attach to.",
    TN_DOC_MUST("targets", TN_DOC_LIST_OF(&tn_std_lora_target_descriptor), "The places."));

TN_DOC_OBJECT_TYPE(tn_std_lora_target_descriptor, "LoraTargetDescriptor", "One projection of a graph.",
    TN_DOC_MUST("activation_dtype", &tn_std_tensor_d_type, "Type of its activations."),
    TN_DOC_NULL("alpha", TN_DOC_DOUBLE, "Numerator for adapters of this place."),
    TN_DOC_MUST("component", TN_DOC_NAME, "Component that holds it, or \"model\"."),
    TN_DOC_NULL("graph_inputs", &tn_std_lora_graph_input_binding, "Graph inputs that take the factors."),
    TN_DOC_MUST("id", TN_DOC_NAME, "Its name in bindings."),
    TN_DOC_MUST("initializer", TN_DOC_NAME, "Name of the weight."),
    TN_DOC_MUST("input_features", TN_DOC_UINT, "Width that goes in."),
    TN_DOC_NULL("layer_index", TN_DOC_UINT, "Layer."),
    TN_DOC_MUST("node_name", TN_DOC_NAME, "Name of the node."),
    TN_DOC_MUST("output_features", TN_DOC_UINT, "Width that comes out."),
    TN_DOC_MUST("output_name", TN_DOC_NAME, "Name of the result."),
    TN_DOC_NULL("output_slice", &tn_std_lora_target_slice, "Part of a fused result."),
    TN_DOC_NULL("rank", TN_DOC_UINT, "Inner width for adapters of this place."));

TN_DOC_OBJECT_TYPE(tn_std_lora_graph_input_binding, "LoraGraphInputBinding",
                   "Graph inputs for the two factors.",
    TN_DOC_MUST("a", TN_DOC_NAME, "Input of the first factor."),
    TN_DOC_MUST("b", TN_DOC_NAME, "Input of the second factor."),
    TN_DOC_NULL("scale", TN_DOC_NAME, "Input of the scale, if it is one."));

TN_DOC_OBJECT_TYPE(tn_std_lora_target_slice, "LoraTargetSlice", "A part of a fused projection.",
    TN_DOC_NULL("alpha", TN_DOC_DOUBLE, "Numerator of this part."),
    TN_DOC_MUST("offset", TN_DOC_UINT, "First column."),
    TN_DOC_NULL("rank", TN_DOC_UINT, "Inner width of this part."),
    TN_DOC_MUST("role", TN_DOC_NAME, "What the part is called; never decides anything."),
    TN_DOC_MUST("width", TN_DOC_UINT, "Columns."));
