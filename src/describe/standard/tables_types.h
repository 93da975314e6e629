/* The named types of the standard's tables, for the files that make them. One line each, by file. */
#ifndef TN_DESCRIBE_STANDARD_TABLES_TYPES_H
#define TN_DESCRIBE_STANDARD_TABLES_TYPES_H

#include "base/doctype_rows.h"
#include "describe/standard/tables.h"

/* tables_document.c */
extern const struct tn_doctype tn_std_schema_version;
extern const struct tn_doctype tn_std_package_facts;
extern const struct tn_doctype tn_std_constraint_language_facts;
extern const struct tn_doctype tn_std_tokenizer_facts;
extern const struct tn_doctype tn_std_tokenizer_artifact;
extern const struct tn_doctype tn_std_special_token_fact;
extern const struct tn_doctype tn_std_generation_contract;
extern const struct tn_doctype tn_std_generation_defaults;
extern const struct tn_doctype tn_std_generation_override;
extern const struct tn_doctype tn_std_generation_override_constraint;
extern const struct tn_doctype tn_std_hardware_requirements;
extern const struct tn_doctype tn_std_d_type;
extern const struct tn_doctype tn_std_quantization_intent;
extern const struct tn_doctype tn_std_quantization_override;
extern const struct tn_doctype tn_std_precision;
extern const struct tn_doctype tn_std_task_profile;
extern const struct tn_doctype tn_std_profile_requirement;
extern const struct tn_doctype tn_std_batch_invariance;
extern const struct tn_doctype tn_std_pooling_spec;
extern const struct tn_doctype tn_std_pooling_kind;
extern const struct tn_doctype tn_std_sequence_decoding_spec;
extern const struct tn_doctype tn_std_sequence_decoding_kind;
extern const struct tn_doctype tn_std_decoding_vocabulary;
extern const struct tn_doctype tn_std_decoding_vocabulary_source;

/* tables_model.c */
extern const struct tn_doctype tn_std_model_capabilities;
extern const struct tn_doctype tn_std_attention_config;
extern const struct tn_doctype tn_std_attention_type;
extern const struct tn_doctype tn_std_key_sequence_lengths_spec;
extern const struct tn_doctype tn_std_sequence_length_scalar_broadcast;
extern const struct tn_doctype tn_std_runtime_configurable;
extern const struct tn_doctype tn_std_chunked_prefill_config;
extern const struct tn_doctype tn_std_mixture_of_experts_spec;
extern const struct tn_doctype tn_std_moe_representation;
extern const struct tn_doctype tn_std_moe_router_spec;
extern const struct tn_doctype tn_std_moe_group_score;
extern const struct tn_doctype tn_std_moe_router_score_function;
extern const struct tn_doctype tn_std_moe_router_selection_method;
extern const struct tn_doctype tn_std_sharding_contract;
extern const struct tn_doctype tn_std_expert_shard_facts;
extern const struct tn_doctype tn_std_pipeline_stage_facts;
extern const struct tn_doctype tn_std_tensor_shard_facts;

/* tables_model_io.c */
extern const struct tn_doctype tn_std_model_io_spec;
extern const struct tn_doctype tn_std_optional_input_spec;
extern const struct tn_doctype tn_std_absent_input_spec;
extern const struct tn_doctype tn_std_absent_input_kind;
extern const struct tn_doctype tn_std_loop_state_pair;
extern const struct tn_doctype tn_std_state_init_kind;
extern const struct tn_doctype tn_std_state_update_kind;
extern const struct tn_doctype tn_std_static_cache_io_spec;
extern const struct tn_doctype tn_std_kv_cache_layout;
extern const struct tn_doctype tn_std_kv_named_layout;
extern const struct tn_doctype tn_std_kv_stride_descriptor;
extern const struct tn_doctype tn_std_kv_axis_strides;
extern const struct tn_doctype tn_std_kv_stride_dim;
extern const struct tn_doctype tn_std_kv_ownership;
extern const struct tn_doctype tn_std_sequence_input_kind;

/* tables_media.c */
extern const struct tn_doctype tn_std_preprocessing_spec;
extern const struct tn_doctype tn_std_audio_preprocessing_program;
extern const struct tn_doctype tn_std_audio_transform;
extern const struct tn_doctype tn_std_audio_transform_op;
extern const struct tn_doctype tn_std_audio_output_binding;
extern const struct tn_doctype tn_std_audio_output_content;
extern const struct tn_doctype tn_std_image_preprocessing_program;
extern const struct tn_doctype tn_std_image_transform;
extern const struct tn_doctype tn_std_image_transform_op;
extern const struct tn_doctype tn_std_image_size_spec;
extern const struct tn_doctype tn_std_thumbnail_order;
extern const struct tn_doctype tn_std_image_output_binding;
extern const struct tn_doctype tn_std_image_output_content;
extern const struct tn_doctype tn_std_image_output_value_range;
extern const struct tn_doctype tn_std_media_output_contract;
extern const struct tn_doctype tn_std_media_container;
extern const struct tn_doctype tn_std_media_delivery;
extern const struct tn_doctype tn_std_media_encoding;

/* tables_tensor.c */
extern const struct tn_doctype tn_std_tensor_contract;
extern const struct tn_doctype tn_std_tensor_d_type;
extern const struct tn_doctype tn_std_tensor_dimension;
extern const struct tn_doctype tn_std_batch_layout;
extern const struct tn_doctype tn_std_scalar_value;
extern const struct tn_doctype tn_std_literal_value;

/* tables_workflow.c */
extern const struct tn_doctype tn_std_pipeline_spec;
extern const struct tn_doctype tn_std_workflow_spec;
extern const struct tn_doctype tn_std_workflow_manifest;
extern const struct tn_doctype tn_std_workflow_component;
extern const struct tn_doctype tn_std_component_contract;
extern const struct tn_doctype tn_std_equivalence_class;
extern const struct tn_doctype tn_std_component_implementation;
extern const struct tn_doctype tn_std_component_ports;
extern const struct tn_doctype tn_std_port_role;
extern const struct tn_doctype tn_std_component_row_scope;
extern const struct tn_doctype tn_std_workflow_input;
extern const struct tn_doctype tn_std_workflow_input_source;
extern const struct tn_doctype tn_std_semantic_input_role;
extern const struct tn_doctype tn_std_runtime_input_role;
extern const struct tn_doctype tn_std_workflow_output;
extern const struct tn_doctype tn_std_workflow_output_role;
extern const struct tn_doctype tn_std_output_stage;
extern const struct tn_doctype tn_std_effect_contract;
extern const struct tn_doctype tn_std_effect_retry_class;
extern const struct tn_doctype tn_std_speculation_safety;
extern const struct tn_doctype tn_std_workflow_step;
extern const struct tn_doctype tn_std_workflow_branch_output;
extern const struct tn_doctype tn_std_workflow_carry;
extern const struct tn_doctype tn_std_workflow_loop_iteration;
extern const struct tn_doctype tn_std_workflow_loop_termination;
extern const struct tn_doctype tn_std_workflow_emit_mode;

/* tables_state.c */
extern const struct tn_doctype tn_std_workflow_state_cell;
extern const struct tn_doctype tn_std_workflow_state_class;
extern const struct tn_doctype tn_std_workflow_state_scope;
extern const struct tn_doctype tn_std_state_management;
extern const struct tn_doctype tn_std_state_release_boundary;
extern const struct tn_doctype tn_std_shape_recurrence;
extern const struct tn_doctype tn_std_session_lease_contract;
extern const struct tn_doctype tn_std_session_mutation_policy;
extern const struct tn_doctype tn_std_serving_service_contract;
extern const struct tn_doctype tn_std_state_service_contract;
extern const struct tn_doctype tn_std_state_group_contract;
extern const struct tn_doctype tn_std_state_kind;
extern const struct tn_doctype tn_std_state_aliasing;
extern const struct tn_doctype tn_std_state_group_capabilities;
extern const struct tn_doctype tn_std_state_reuse;
extern const struct tn_doctype tn_std_state_checkpoint_contract;
extern const struct tn_doctype tn_std_state_port_alias;
extern const struct tn_doctype tn_std_state_port_access;
extern const struct tn_doctype tn_std_state_port_role;
extern const struct tn_doctype tn_std_state_update;

/* tables_adapters.c */
extern const struct tn_doctype tn_std_adapter_service_contract;
extern const struct tn_doctype tn_std_adapter_artifact;
extern const struct tn_doctype tn_std_adapter_cache_contract;
extern const struct tn_doctype tn_std_adapter_eviction_policy;
extern const struct tn_doctype tn_std_adapter_discovery_fallback;
extern const struct tn_doctype tn_std_adapter_planning_contract;
extern const struct tn_doctype tn_std_adapter_provenance;
extern const struct tn_doctype tn_std_adapter_scale_encoding;
extern const struct tn_doctype tn_std_adapter_selection_contract;
extern const struct tn_doctype tn_std_adapter_target_binding;
extern const struct tn_doctype tn_std_adapter_weight_artifact;
extern const struct tn_doctype tn_std_adapter_weight_format;
extern const struct tn_doctype tn_std_lora_target_manifest;
extern const struct tn_doctype tn_std_lora_target_descriptor;
extern const struct tn_doctype tn_std_lora_graph_input_binding;
extern const struct tn_doctype tn_std_lora_target_slice;

/* tables_speculative.c */
extern const struct tn_doctype tn_std_speculative_contract;
extern const struct tn_doctype tn_std_speculative_proposal_execution;
extern const struct tn_doctype tn_std_speculative_recurrence_binding;
extern const struct tn_doctype tn_std_speculative_value_ref;
extern const struct tn_doctype tn_std_speculative_vocabulary;
extern const struct tn_doctype tn_std_token_embedding_source;

/* tables_hints.c */
extern const struct tn_doctype tn_std_layer_range;
extern const struct tn_doctype tn_std_device_type;
extern const struct tn_doctype tn_std_device_target;
extern const struct tn_doctype tn_std_hint_strength;
extern const struct tn_doctype tn_std_placement_hint;
extern const struct tn_doctype tn_std_memory_action;
extern const struct tn_doctype tn_std_memory_hint;
extern const struct tn_doctype tn_std_scheduling_action;
extern const struct tn_doctype tn_std_scheduling_hint;

#endif
