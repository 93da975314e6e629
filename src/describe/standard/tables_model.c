/* Facts that are true of a package whichever graph runs: attention, experts, sharding. Constants; see tables.h
   for what they decide. */
#include "describe/standard/tables_types.h"

TN_DOC_OBJECT_TYPE(tn_std_model_capabilities, "ModelCapabilities",
                   "Sizes and structure that are built into the graphs.",
    TN_DOC_NULL("attention", &tn_std_attention_config, "Kind and geometry of attention."),
    TN_DOC_OLD("io", &tn_std_model_io_spec,
               "Port names of a lone decoder graph, from before workflows; excluded by a workflow, which "
               "states the ports."),
    TN_DOC_NULL("max_sequence_length", TN_DOC_SIZE, "Most tokens of a sequence."),
    TN_DOC_NULL("mixture_of_experts", &tn_std_mixture_of_experts_spec, "Structure of sparse expert layers."),
    TN_DOC_NULL("runtime_configurable", &tn_std_runtime_configurable, "What a server may switch."),
    TN_DOC_NULL("sharding", &tn_std_sharding_contract, "Along what the model may be cut."),
    TN_DOC_NULL("vocab_size", TN_DOC_SIZE, "Rows of the embedding or logits table."));

TN_DOC_OBJECT_TYPE(tn_std_attention_config, "AttentionConfig", "Attention as it was built.",
    TN_DOC_NULL("fallback_behavior", &tn_std_attention_type,
                "Kind that a reader may use when it does not know `type`."),
    TN_DOC_NULL("head_dim", TN_DOC_SIZE, "Width of one head."),
    TN_DOC_NULL("key_sequence_lengths", &tn_std_key_sequence_lengths_spec,
                "Forms in which key lengths may come, beside one int32 per row."),
    TN_DOC_NULL("num_attention_heads", TN_DOC_SIZE, "Query heads."),
    TN_DOC_NULL("num_kv_heads", TN_DOC_SIZE, "Key and value heads."),
    TN_DOC_NULL("sink_tokens", TN_DOC_UINT, "First tokens that a sliding window never drops."),
    TN_DOC_NULL("sliding_window", TN_DOC_SIZE, "Tokens that are seen back; absent for all."),
    TN_DOC_MUST("type", &tn_std_attention_type, "Kind of attention."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_attention_type, "AttentionType",
                      "Kinds of attention, with their spellings; others need a fallback.", "multi_head",
                      "multi_head_attention", "grouped_query", "group_query_attention",
                      "grouped_query_attention", "gqa", "multi_latent", "multi_latent_attention", "mla");

TN_DOC_OBJECT_TYPE(tn_std_key_sequence_lengths_spec, "KeySequenceLengthsSpec",
                   "Other forms of key lengths that are accepted.",
    TN_DOC_NULL("scalar_broadcast", &tn_std_sequence_length_scalar_broadcast,
                "When one scalar may stand for the vector."));

TN_DOC_ENUM_TYPE(tn_std_sequence_length_scalar_broadcast, "SequenceLengthScalarBroadcast",
                 "\"unit_batch\": only when the batch has one row.", "unit_batch");

TN_DOC_OBJECT_TYPE(tn_std_runtime_configurable, "RuntimeConfigurable",
                   "Settings that a server chooses at load.",
    TN_DOC_NULL("chunked_prefill", &tn_std_chunked_prefill_config, "Cutting prompts into pieces."),
    TN_DOC_NULL("continuous_batching", TN_DOC_BOOLEAN, "Whether rows may join and leave a running batch."),
    TN_DOC_NULL("prefix_cache", TN_DOC_BOOLEAN, "Whether equal beginnings may share their cache."));

TN_DOC_OBJECT_TYPE(tn_std_chunked_prefill_config, "ChunkedPrefillConfig", "A wish about pieces of a prompt.",
    TN_DOC_NULL("chunk_size", TN_DOC_SIZE, "Tokens per piece."));

TN_DOC_OBJECT_TYPE(tn_std_mixture_of_experts_spec, "MixtureOfExpertsSpec",
                   "Sparse expert layers: sizes, routing and how the graph writes them.",
    TN_DOC_MUST("activation", TN_DOC_NAME, "Activation inside an expert, \"silu\" for example."),
    TN_DOC_MUST("expert_intermediate_size", TN_DOC_SIZE, "Inner width of one routed expert."),
    TN_DOC_MUST("experts_per_token", TN_DOC_SIZE, "Experts that each token visits."),
    TN_DOC_MUST("representation", &tn_std_moe_representation, "How the graph writes the experts."),
    TN_DOC_MUST("routed_expert_count", TN_DOC_SIZE, "Experts that routing chooses from."),
    TN_DOC_MUST("router", &tn_std_moe_router_spec, "How experts are scored and chosen."),
    TN_DOC_MUST("shared_expert_count", TN_DOC_UINT, "Experts that every token visits."),
    TN_DOC_MUST("shared_expert_intermediate_size", TN_DOC_UINT, "Inner width of the shared experts together."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_moe_representation, "MoERepresentation",
                      "Experts as dense arithmetic, or as one operator, plain or quantized.", "dense_fallback",
                      "moe", "qmoe");

static const struct tn_docfield router_fields[] = {
    TN_DOC_NULL("group_count", TN_DOC_SIZE, "Groups that experts are divided into."),
    TN_DOC_NULL("group_score", &tn_std_moe_group_score, "How a group's score is made of its experts'."),
    TN_DOC_NULL("groups_per_token", TN_DOC_SIZE, "Groups kept per token."),
    TN_DOC_MUST("normalize_weights", TN_DOC_BOOLEAN, "Whether the chosen weights are scaled to sum 1."),
    TN_DOC_MUST("scaling_factor", TN_DOC_FLOAT_POSITIVE, "Factor on the final weights."),
    TN_DOC_MUST("score_function", &tn_std_moe_router_score_function, "Function on the logits."),
    TN_DOC_MUST("selection_method", &tn_std_moe_router_selection_method, "How experts are picked."),
};

static const struct tn_docrule router_rules[] = {
    {.field = "selection_method",
     .value = "grouped_top_k",
     .required = TN_DOC_VALUES("group_count", "groups_per_token", "group_score"),
     .why = "experts cannot be picked by group without it"},
};

const struct tn_doctype tn_std_moe_router_spec = {
    .kind = TN_DOC_OBJECT,
    .name = "MoERouterSpec",
    .note = "From router logits to weights of the chosen experts.",
    .fields = router_fields,
    .field_count = TN_DOC_COUNT(router_fields),
    .rules = router_rules,
    .rule_count = TN_DOC_COUNT(router_rules),
};

TN_DOC_OPEN_ENUM_TYPE(tn_std_moe_group_score, "MoEGroupScore",
                      "Largest score of a group, or the sum of its two largest.", "maximum", "top_2_sum");

TN_DOC_OPEN_ENUM_TYPE(tn_std_moe_router_score_function, "MoERouterScoreFunction", "Functions on router logits.",
                      "softmax", "sigmoid");

TN_DOC_OPEN_ENUM_TYPE(tn_std_moe_router_selection_method, "MoERouterSelectionMethod",
                      "Ways to pick experts; the grouped one needs the three group members.", "top_k",
                      "grouped_top_k", "sparse_mixer");

TN_DOC_OBJECT_TYPE(tn_std_sharding_contract, "ShardingContract",
                   "Where the model may be cut; how often is the runtime's choice.",
    TN_DOC_NULL("expert_parallel", &tn_std_expert_shard_facts, "Distribution of experts."),
    TN_DOC_MAY("pipeline_parallel", TN_DOC_LIST_OF(&tn_std_pipeline_stage_facts), NULL,
               "Stages of a pipeline, in order."),
    TN_DOC_MAY("tensor_parallel", TN_DOC_NAMED(&tn_std_tensor_shard_facts), NULL,
               "Axes of parameter groups that may be cut, by group."));

TN_DOC_OBJECT_TYPE(tn_std_expert_shard_facts, "ExpertShardFacts", "Distribution of experts over ranks.",
    TN_DOC_MAY("contiguous_groups_only", TN_DOC_BOOLEAN, "false",
               "Whether a rank must hold neighbouring experts."),
    TN_DOC_MUST("expert_count", TN_DOC_SIZE, "Experts in each sparse layer."),
    TN_DOC_MAY("replicated", TN_DOC_SET_OF_NAMES, NULL, "Values that every rank has in full."));

TN_DOC_OBJECT_TYPE(tn_std_pipeline_stage_facts, "PipelineStageFacts", "One stage.",
    TN_DOC_MUST("components", TN_DOC_SOME_OF(TN_DOC_NAME), "Components that the stage runs, in order."),
    TN_DOC_MAY("outputs", TN_DOC_LIST_OF(TN_DOC_NAME), NULL, "Values that go to the next stage."),
    TN_DOC_MAY("state_groups", TN_DOC_SET_OF_NAMES, NULL, "State that stays with this stage."));

TN_DOC_OBJECT_TYPE(tn_std_tensor_shard_facts, "TensorShardFacts", "One parameter group that may be cut.",
    TN_DOC_MUST("max_shards", TN_DOC_SIZE, "Most parts; divisors of it are allowed as well."),
    TN_DOC_MAY("replicated", TN_DOC_SET_OF_NAMES, NULL, "Values that every rank has in full."),
    TN_DOC_MUST("shard_axis", TN_DOC_UINT, "Axis of the cut."));
