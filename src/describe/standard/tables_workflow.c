/* The workflow: components with typed ports, values that are assigned once, steps that connect them. Constants;
   see tables.h for what they decide. */
#include "describe/standard/tables_types.h"

TN_DOC_OBJECT_TYPE(tn_std_pipeline_spec, "PipelineSpec", "The executable part of a package.",
    TN_DOC_MUST("workflow", &tn_std_workflow_spec, "Its components and steps."));

TN_DOC_OBJECT_TYPE(tn_std_workflow_spec, "WorkflowSpec",
                   "Components and the steps that run them. Arithmetic happens in components; steps only "
                   "order and connect.",
    TN_DOC_MUST("components", TN_DOC_NAMED(&tn_std_workflow_component), "What can be invoked, by name."),
    TN_DOC_MAY("effects", TN_DOC_NAMED(&tn_std_effect_contract), "{}",
               "Effects on the world outside, by domain."),
    TN_DOC_MAY("inputs", TN_DOC_NAMED(&tn_std_workflow_input), "{}", "Values that come in, by name."),
    TN_DOC_MUST("manifest", &tn_std_workflow_manifest, "What a runtime must know to run it."),
    TN_DOC_MAY("outputs", TN_DOC_NAMED(&tn_std_workflow_output), "{}", "Values that go out, by name."),
    TN_DOC_NULL("serving", &tn_std_serving_service_contract, "What batched serving needs."),
    TN_DOC_MAY("state", TN_DOC_NAMED(&tn_std_workflow_state_cell), "{}",
               "Values that live longer than a step, by name."),
    TN_DOC_MUST("steps", TN_DOC_LIST_OF(&tn_std_workflow_step), "What is done, in order."));

TN_DOC_OBJECT_TYPE(tn_std_workflow_manifest, "WorkflowManifest",
                   "Versions and capabilities that the workflow relies on.",
    TN_DOC_MAY("adapter_abis", TN_DOC_NAMED(TN_DOC_NAME), "{}", "Version of each adapter interface, by name."),
    TN_DOC_MAY("capabilities", TN_DOC_SET_OF_NAMES, "[]", "Capabilities that the workflow's structure needs."));

TN_DOC_OBJECT_TYPE(tn_std_workflow_component, "WorkflowComponent",
                   "Something that can be invoked: a graph, code of an adapter, or what an application binds.",
    TN_DOC_MAY("application_overridable", TN_DOC_BOOLEAN, "false",
               "Whether the application may put another component of the same contract in its place."),
    TN_DOC_MAY("cache_affects_state", TN_DOC_SET_OF_NAMES, NULL,
               "What it depends on that does not come through its ports."),
    TN_DOC_NULL("contract", &tn_std_component_contract, "What it promises to mean."),
    TN_DOC_MAY("effects", TN_DOC_LIST_OF(TN_DOC_NAME), "[]", "Effect domains that it touches."),
    TN_DOC_MUST("implementation", &tn_std_component_implementation, "What runs."),
    TN_DOC_MAY("ports", &tn_std_component_ports, "{\"inputs\": {}, \"outputs\": {}}", "Its inputs and outputs."),
    TN_DOC_NULL("row_scope", &tn_std_component_row_scope, "What it keeps for each row."));

TN_DOC_OBJECT_TYPE(tn_std_component_contract, "ComponentContract",
                   "The meaning of a component, so that another one can take its place.",
    TN_DOC_MAY("bindings", TN_DOC_NAMED(TN_DOC_NAME), "{}", "Ports by role."),
    TN_DOC_MAY("equivalence", &tn_std_equivalence_class, "\"semantic\"", "How alike a replacement must be."),
    TN_DOC_MUST("id", TN_DOC_NAME, "Identifier of the meaning."),
    TN_DOC_MAY("parameters", TN_DOC_NAMED(&tn_std_scalar_value), "{}", "Settings that are not tensors."),
    TN_DOC_MUST("version", TN_DOC_NAME, "Version of the meaning."));

TN_DOC_ENUM_TYPE(tn_std_equivalence_class, "EquivalenceClass", "Same bits, same distribution, or same meaning.",
                 "bitwise", "distribution_preserving", "semantic");

TN_DOC_UNION_TYPE(tn_std_component_implementation, "ComponentImplementation",
                  "What runs when a component is invoked.",
    TN_DOC_VARIANT("onnx", "A graph of the package.",
                   TN_DOC_MUST("artifact", TN_DOC_NAME, "Path of the graph.")),
    TN_DOC_VARIANT("adapter", "Code behind a versioned interface.",
                   TN_DOC_MUST("abi", TN_DOC_NAME, "Name of the interface."),
                   TN_DOC_NULL("artifact", TN_DOC_NAME, "File that the code works with."),
                   TN_DOC_MUST("version", TN_DOC_NAME, "Version of the interface.")),
    TN_DOC_BARE_VARIANT("binding", "Something that the application provides."));

TN_DOC_OBJECT_TYPE(tn_std_component_ports, "ComponentPorts", "Typed inputs and outputs.",
    TN_DOC_MAY("inputs", TN_DOC_NAMED(&tn_std_tensor_contract), "{}", "Inputs by port."),
    TN_DOC_MAY("outputs", TN_DOC_NAMED(&tn_std_tensor_contract), "{}", "Outputs by port."),
    TN_DOC_MAY("roles", TN_DOC_NAMED(&tn_std_port_role), NULL, "Meaning of ports that nothing else tells."));

TN_DOC_ENUM_TYPE(tn_std_port_role, "PortRole", "What a port means, whatever it is called.", "token_ids",
                 "inputs_embeds", "attention_mask", "position_ids", "logits", "hidden_states",
                 "encoder_hidden_states", "audio_features");

TN_DOC_OBJECT_TYPE(tn_std_component_row_scope, "ComponentRowScope",
                   "State that a component keeps for each row.",
    TN_DOC_MUST("axis", TN_DOC_UINT, "Axis of the rows at its ports."),
    TN_DOC_MAY("stateful", TN_DOC_BOOLEAN, "false", "Whether something stays from call to call."));

TN_DOC_OBJECT_TYPE(tn_std_workflow_input, "WorkflowInput", "A value that comes in.",
    TN_DOC_MUST("contract", &tn_std_tensor_contract, "Its type."),
    TN_DOC_NULL("default", &tn_std_literal_value, "Value when none is given."),
    TN_DOC_MAY("externally_suppliable", TN_DOC_BOOLEAN, NULL,
               "Whether an application may give a result that it has already."),
    TN_DOC_NULL("present_as", TN_DOC_NAME, "Value that tells whether it was given."),
    TN_DOC_MAY("required", TN_DOC_BOOLEAN, "true", "Whether it must be given."),
    TN_DOC_MUST("role", &tn_std_semantic_input_role, "What it is for."),
    TN_DOC_MUST("source", &tn_std_workflow_input_source, "Who gives it."));

TN_DOC_UNION_TYPE(tn_std_workflow_input_source, "WorkflowInputSource", "Where an input comes from.",
    TN_DOC_BARE_VARIANT("request", "From the request."),
    TN_DOC_VARIANT("application", "From the application, by name.",
                   TN_DOC_MUST("name", TN_DOC_NAME, "Name that the application uses.")),
    TN_DOC_BARE_VARIANT("literal", "From the default."),
    TN_DOC_VARIANT("artifact", "From a file of the package.",
                   TN_DOC_MUST("path", TN_DOC_NAME, "Path of the file.")));

TN_DOC_UNION_TYPE(tn_std_semantic_input_role, "SemanticInputRole", "What an input is for.",
    TN_DOC_VARIANT("runtime", "A role that runtimes know.",
                   TN_DOC_MUST("role", &tn_std_runtime_input_role, "Which one."),
                   TN_DOC_MUST("version", TN_DOC_NAME, "Version of the role.")),
    TN_DOC_BARE_VARIANT("opaque", "Known to the package alone."));

TN_DOC_ENUM_TYPE(tn_std_runtime_input_role, "RuntimeInputRole",
                 "Roles of inputs that a runtime fills from a request.", "prompt_text", "prompt_tokens",
                 "negative_prompt_text", "negative_prompt_tokens", "media", "max_iterations",
                 "max_output_tokens", "seed", "guidance_scale", "width", "height", "denoising_strength",
                 "sampling_temperature", "sampling_top_k", "sampling_top_p", "sampling_min_p", "constraint",
                 "session_id", "adapter_segments", "adapter_counts", "adapter_scales", "adapter_active",
                 "row_selection");

TN_DOC_OBJECT_TYPE(tn_std_workflow_output, "WorkflowOutput", "A value that goes out.",
    TN_DOC_MUST("contract", &tn_std_tensor_contract, "Its type."),
    TN_DOC_NULL("media", &tn_std_media_output_contract, "Form of delivered sound."),
    TN_DOC_MUST("role", &tn_std_workflow_output_role, "What it is."),
    TN_DOC_MUST("stage", &tn_std_output_stage, "Before or after the output's adapter."),
    TN_DOC_NULL("value_range", &tn_std_image_output_value_range, "Range of pixels."));

TN_DOC_ENUM_TYPE(tn_std_workflow_output_role, "WorkflowOutputRole",
                 "What an output is. \"video\" is frames in time.", "tokens", "text", "image", "audio",
                 "tensor", "event", "video");

TN_DOC_ENUM_TYPE(tn_std_output_stage, "OutputStage", "Before or after the adapter that finishes an output.",
                 "pre_adapter", "post_adapter");

TN_DOC_OBJECT_TYPE(tn_std_effect_contract, "EffectContract", "What an effect domain allows.",
    TN_DOC_MUST("retry", &tn_std_effect_retry_class, "Whether it may be repeated."),
    TN_DOC_MAY("speculation_safety", &tn_std_speculation_safety, "{\"kind\": \"none\"}",
               "Whether it may happen on a guess."));

TN_DOC_ENUM_TYPE(tn_std_effect_retry_class, "EffectRetryClass",
                 "From \"pure\", which may always be repeated, to \"non_retryable\", which may never.", "pure",
                 "idempotent", "transactional", "non_retryable");

TN_DOC_UNION_TYPE(tn_std_speculation_safety, "SpeculationSafety",
                  "Whether an effect may happen before it is known to be wanted.",
    TN_DOC_BARE_VARIANT("none", "It may not."),
    TN_DOC_BARE_VARIANT("clonable", "Its state can be copied beforehand."),
    TN_DOC_VARIANT("rewindable", "It can be taken back a number of positions.",
                   TN_DOC_MUST("max_depth", TN_DOC_UINT, "Most positions.")));

TN_DOC_UNION_TYPE(tn_std_workflow_step, "WorkflowStep", "One step.",
    TN_DOC_VARIANT("sequence", "Steps one after another.",
                   TN_DOC_MUST("steps", TN_DOC_LIST_OF(&tn_std_workflow_step), "The steps.")),
    TN_DOC_VARIANT("invoke", "One call of a component.",
                   TN_DOC_MUST("component", TN_DOC_NAME, "Which one."),
                   TN_DOC_MAY("inputs", TN_DOC_NAMED(TN_DOC_NAME), "{}", "Values by input port."),
                   TN_DOC_MAY("outputs", TN_DOC_NAMED(TN_DOC_NAME), "{}",
                              "Names of new values by output port.")),
    TN_DOC_VARIANT("loop", "Steps again and again.",
                   TN_DOC_MAY("carried", TN_DOC_LIST_OF(&tn_std_workflow_carry), "[]",
                              "State that moves from one round to the next."),
                   TN_DOC_MUST("continue_when", TN_DOC_NAME, "Value that says whether there is another round."),
                   TN_DOC_NULL("iteration", &tn_std_workflow_loop_iteration, "Counter of rounds as a value."),
                   TN_DOC_MUST("max_iterations", TN_DOC_NAME, "Value that bounds the rounds."),
                   TN_DOC_MAY("setup", TN_DOC_LIST_OF(&tn_std_workflow_step), "[]",
                              "Steps before the first round."),
                   TN_DOC_MUST("steps", TN_DOC_LIST_OF(&tn_std_workflow_step), "Steps of a round."),
                   TN_DOC_MAY("termination", &tn_std_workflow_loop_termination, "\"predicate\"",
                              "What ends the loop.")),
    TN_DOC_VARIANT("branch", "One of several steps.",
                   TN_DOC_MUST("cases", TN_DOC_MAP_OF(&tn_std_workflow_step),
                               "Steps by value of the predicate."),
                   TN_DOC_NULL("default", &tn_std_workflow_step, "Step when no case fits."),
                   TN_DOC_MAY("outputs", TN_DOC_NAMED(&tn_std_workflow_branch_output), "{}",
                              "Values that come out, whichever case ran."),
                   TN_DOC_MUST("predicate", TN_DOC_NAME, "Value that decides.")),
    TN_DOC_VARIANT("emit", "A value becomes part of an output.",
                   TN_DOC_NULL("axis", TN_DOC_UINT, "Axis that grows; the last if absent."),
                   TN_DOC_MUST("mode", &tn_std_workflow_emit_mode, "Replace, append, or an event of its own."),
                   TN_DOC_MUST("output", TN_DOC_NAME, "Workflow output."),
                   TN_DOC_NULL("valid_length", TN_DOC_NAME,
                               "Value with the number of valid entries of each row."),
                   TN_DOC_MUST("value", TN_DOC_NAME, "What is given out."),
                   TN_DOC_NULL("when", TN_DOC_NAME, "Value that says whether to.")));

TN_DOC_OBJECT_TYPE(tn_std_workflow_branch_output, "WorkflowBranchOutput", "One value out of a branch.",
    TN_DOC_MUST("cases", TN_DOC_MAP_OF(TN_DOC_NAME), "Value by case."),
    TN_DOC_NULL("default", TN_DOC_NAME, "Value of the default step."));

TN_DOC_OBJECT_TYPE(tn_std_workflow_carry, "WorkflowCarry", "One state across rounds.",
    TN_DOC_MUST("cell", TN_DOC_NAME, "The state."),
    TN_DOC_NULL("initial", TN_DOC_NAME, "Value in the first round; absent: the cell's initializer."),
    TN_DOC_MUST("next", TN_DOC_NAME, "Value for the next round."));

TN_DOC_OBJECT_TYPE(tn_std_workflow_loop_iteration, "WorkflowLoopIteration", "The number of the round, from 0.",
    TN_DOC_MUST("contract", &tn_std_tensor_contract, "Type of the counter: int64, a scalar or one axis."),
    TN_DOC_MUST("value", TN_DOC_NAME, "Name of the value."));

TN_DOC_ENUM_TYPE(tn_std_workflow_loop_termination, "WorkflowLoopTermination",
                 "A predicate ends the loop, or the end-of-text rule of generation.", "predicate",
                 "generation_eos");

TN_DOC_ENUM_TYPE(tn_std_workflow_emit_mode, "WorkflowEmitMode",
                 "Replace the output, append to it, or send an event.", "replace", "append", "event");
