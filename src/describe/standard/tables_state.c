/* State: cells of a workflow, and groups of model state that a server moves, forks and rolls back. Constants;
   see tables.h for what they decide. */
#include "describe/standard/tables_types.h"

TN_DOC_OBJECT_TYPE(tn_std_workflow_state_cell, "WorkflowStateCell",
                   "A value that lives across rounds or calls.",
    TN_DOC_MAY("class", &tn_std_workflow_state_class, "\"semantic\"", "Whether answers depend on it."),
    TN_DOC_MUST("contract", &tn_std_tensor_contract, "Its type."),
    TN_DOC_MUST("initializer", TN_DOC_NAME, "Value it begins with."),
    TN_DOC_MAY("management", &tn_std_state_management, "\"workflow\"", "Who keeps the memory."),
    TN_DOC_MUST("recurrence", &tn_std_shape_recurrence, "How its shape changes."),
    TN_DOC_NULL("release_boundary", &tn_std_state_release_boundary, "When it may be given back."),
    TN_DOC_MUST("scope", &tn_std_workflow_state_scope, "How long it lives."),
    TN_DOC_NULL("service_group", TN_DOC_NAME, "State group that it belongs to."),
    TN_DOC_NULL("session", &tn_std_session_lease_contract, "Rules of sharing between calls."));

TN_DOC_ENUM_TYPE(tn_std_workflow_state_class, "WorkflowStateClass",
                 "\"semantic\" state decides answers; \"advisory\" state may be lost.", "semantic", "advisory");

TN_DOC_ENUM_TYPE(tn_std_workflow_state_scope, "WorkflowStateScope", "One call, or a session of many.",
                 "invocation", "session");

TN_DOC_ENUM_TYPE(tn_std_state_management, "StateManagement",
                 "The memory belongs to the workflow, the runtime, or a service outside.", "workflow",
                 "runtime", "external");

TN_DOC_ENUM_TYPE(tn_std_state_release_boundary, "StateReleaseBoundary",
                 "The end of a call, of a session, or of a row.", "invocation", "session", "row");

TN_DOC_UNION_TYPE(tn_std_shape_recurrence, "ShapeRecurrence",
                  "How the shape of a cell changes from round to round.",
    TN_DOC_BARE_VARIANT("invariant", "It does not."),
    TN_DOC_VARIANT("growing", "One axis grows.",
                   TN_DOC_MUST("axis", TN_DOC_UINT, "Which one."),
                   TN_DOC_MUST("increment", TN_DOC_NAME, "Value it grows by."),
                   TN_DOC_MUST("max", TN_DOC_NAME, "Value that bounds it.")),
    TN_DOC_VARIANT("bounded", "One axis changes below a bound.",
                   TN_DOC_MUST("axis", TN_DOC_UINT, "Which one."),
                   TN_DOC_MUST("max", TN_DOC_NAME, "Value that bounds it.")));

TN_DOC_OBJECT_TYPE(tn_std_session_lease_contract, "SessionLeaseContract", "State that is lent to one session.",
    TN_DOC_MAY("optimistic_metadata_version", TN_DOC_BOOLEAN, "false",
               "Whether writers check a version instead of locking."),
    TN_DOC_MAY("policy", &tn_std_session_mutation_policy, "\"exclusive\"", "What a second writer gets."),
    TN_DOC_NULL("ttl_seconds", TN_DOC_UINT64, "Seconds until an unused session ends."));

TN_DOC_ENUM_TYPE(tn_std_session_mutation_policy, "SessionMutationPolicy",
                 "One writer at a time, or a copy for each.", "exclusive", "copy_on_write");

TN_DOC_OBJECT_TYPE(tn_std_serving_service_contract, "ServingServiceContract",
                   "What batched serving needs from a workflow.",
    TN_DOC_NULL("accepted_len", TN_DOC_NAME, "Value with the number of accepted tokens of each row."),
    TN_DOC_MUST("active", TN_DOC_NAME, "Value that says which rows take part."),
    TN_DOC_MUST("done", TN_DOC_NAME, "Value that says which rows have ended."),
    TN_DOC_MUST("state_service", &tn_std_state_service_contract, "Groups of model state."));

TN_DOC_OBJECT_TYPE(tn_std_state_service_contract, "StateServiceContract",
                   "Model state by group; where it lies is the runtime's affair.",
    TN_DOC_MAY("groups", TN_DOC_NAMED(&tn_std_state_group_contract), "{}", "Groups by name."));

TN_DOC_OBJECT_TYPE(tn_std_state_group_contract, "StateGroupContract", "State of one kind and one geometry.",
    TN_DOC_MAY("aliasing", &tn_std_state_aliasing, "\"forbidden\"",
               "Whether input and output may be one buffer."),
    TN_DOC_MAY("capabilities", &tn_std_state_group_capabilities, "{\"fork\": false, \"snapshot\": false}",
               "Rolling back, copying, forking."),
    TN_DOC_NULL("checkpoint", &tn_std_state_checkpoint_contract, "How it leaves the process."),
    TN_DOC_MUST("kind", &tn_std_state_kind, "What kind of state it is."),
    TN_DOC_MUST("layout", TN_DOC_NAME, "Order of axes as the graph sees it."),
    TN_DOC_NULL("logical_lengths", TN_DOC_NAME,
                "State cell with the length of each row, when the graph reads it."),
    TN_DOC_MAY("ports", TN_DOC_NAMED(TN_DOC_NAMED(&tn_std_state_port_alias)), "{}",
               "Pairs of ports by component and label."),
    TN_DOC_MAY("reuse", &tn_std_state_reuse, "{\"evictable_prefix\": false, \"prefix_reusable\": false}",
               "What survives a shared or a dropped beginning."),
    TN_DOC_NULL("sequence_axis", TN_DOC_UINT, "Axis of positions; none for state of fixed size."),
    TN_DOC_NULL("total_length", TN_DOC_NAME, "Total length that the graph reads."),
    TN_DOC_NULL("update", &tn_std_state_update, "How a step writes; absent: along the sequence axis."));

TN_DOC_ENUM_TYPE(tn_std_state_kind, "StateKind",
                 "Attention caches of four kinds, recurrent state, encoder results.", "full_attention",
                 "sliding_attention", "multi_latent_attention", "recurrent", "cross_attention", "encoder");

TN_DOC_ENUM_TYPE(tn_std_state_aliasing, "StateAliasing", "Sharing one buffer is allowed, needed, or wrong.",
                 "permitted", "required", "forbidden");

TN_DOC_OBJECT_TYPE(tn_std_state_group_capabilities, "StateGroupCapabilities",
                   "What can be done to the state beside writing.",
    TN_DOC_MAY("cascade", TN_DOC_SET_OF_NAMES, NULL, "Groups that must go along."),
    TN_DOC_MAY("fork", TN_DOC_BOOLEAN, "false", "Whether a row's state can be copied to another row."),
    TN_DOC_NULL("rollback_positions", TN_DOC_UINT, "Most positions that can be taken back; none if absent."),
    TN_DOC_MAY("snapshot", TN_DOC_BOOLEAN, "false", "Whether it can be kept and restored."));

TN_DOC_OBJECT_TYPE(tn_std_state_reuse, "StateReuse", "What stays right when beginnings are shared or dropped.",
    TN_DOC_MAY("evictable_prefix", TN_DOC_BOOLEAN, "false", "Whether the oldest positions may be dropped."),
    TN_DOC_MAY("prefix_reusable", TN_DOC_BOOLEAN, "false", "Whether equal beginnings give equal state."));

TN_DOC_OBJECT_TYPE(tn_std_state_checkpoint_contract, "StateCheckpointContract",
                   "The adapter that writes the state down.",
    TN_DOC_MUST("adapter", TN_DOC_NAME, "Name of the adapter."),
    TN_DOC_MUST("version", TN_DOC_NAME, "Version of the adapter."));

TN_DOC_OBJECT_TYPE(tn_std_state_port_alias, "StatePortAlias",
                   "One pair of ports that carries state through a component.",
    TN_DOC_MAY("access", &tn_std_state_port_access, NULL, "Whether the component advances the state."),
    TN_DOC_MUST("input", TN_DOC_NAME, "Port that takes it."),
    TN_DOC_NULL("layer", TN_DOC_UINT, "Layer, from 0; required when several pairs have one role."),
    TN_DOC_NULL("output", TN_DOC_NAME, "Port that gives the next state."),
    TN_DOC_NULL("role", &tn_std_state_port_role, "Whether it carries keys, values or both."));

TN_DOC_ENUM_TYPE(tn_std_state_port_access, "StatePortAccess", "Advancing the state, or only reading it.",
                 "read_write", "read_only");

TN_DOC_ENUM_TYPE(tn_std_state_port_role, "StatePortRole", "Keys, values, or both in one buffer.", "key",
                 "value", "combined");

TN_DOC_UNION_TYPE(tn_std_state_update, "StateUpdate", "How a step changes a buffer.",
    TN_DOC_BARE_VARIANT("append", "It grows along the sequence axis."),
    TN_DOC_BARE_VARIANT("replace", "It is written anew."),
    TN_DOC_VARIANT("indexed_scatter", "New positions go to given places of a fixed buffer.",
                   TN_DOC_MUST("capacity", TN_DOC_NAME, "Value with the number of places."),
                   TN_DOC_MAY("kv_length_ports", TN_DOC_NAMED(TN_DOC_NAME), NULL,
                              "Port of the valid length, by component."),
                   TN_DOC_MUST("write_indices", TN_DOC_NAME, "State cell with the places."),
                   TN_DOC_MAY("write_indices_ports", TN_DOC_NAMED(TN_DOC_NAME), "{}",
                              "Port of the places, by component.")));
