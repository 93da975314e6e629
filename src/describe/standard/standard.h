/*
 * The typed form of an inference-metadata document, as executors and later stages read it. It mirrors the published
 * schema object by object and decides nothing: what a document may say is checked by the closed tables, what its parts
 * mean together by tn_standard_check (check.h). Reading is tolerant: a field of the wrong type is as if it were absent.
 *
 * Inputs are untrusted. Strings are views into the JSON document, which must outlive the structure; arrays live in its
 * own arena. Every structure keeps the JSON value it was read from in `at` (absent when the object was not there), so
 * that whoever refuses something can name its place. Immutable once read; any thread may read it.
 *
 * Three shapes repeat. A reference is a name with its place. A list of references is an array of names. A binding list
 * is an object from names to names, in document order.
 */
#ifndef TN_DESCRIBE_STANDARD_STANDARD_H
#define TN_DESCRIBE_STANDARD_STANDARD_H

#include "base/doctype.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

struct tn_std_ref {
    struct tn_str name; /* empty when absent */
    struct tn_json at;
};

struct tn_std_refs {
    struct tn_std_ref *items;
    size_t count;
    struct tn_json at;
};

struct tn_std_binding {
    struct tn_str key;
    struct tn_str value;
    struct tn_json at; /* the value; its key is the member's name */
};

struct tn_std_bindings {
    struct tn_std_binding *items;
    size_t count;
    struct tn_json at;
};

/* A number that may be absent. */
struct tn_std_count {
    bool present;
    uint64_t value;
    struct tn_json at;
};

struct tn_std_real {
    bool present;
    double value;
    struct tn_json at;
};

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

enum tn_std_dtype {
    TN_STD_DTYPE_OTHER, /* an element type of graphs beside these: compared by its name */
    TN_STD_F32,
    TN_STD_F16,
    TN_STD_BF16,
    TN_STD_F8_E4M3FN,
    TN_STD_F8_E5M2,
    TN_STD_I64,
    TN_STD_I32,
    TN_STD_I8,
    TN_STD_U8,
    TN_STD_BOOL,
    TN_STD_STRING
};

enum tn_std_layout_kind {
    TN_STD_SHARED, /* also when nothing is said */
    TN_STD_REQUEST_ALIGNED,
    TN_STD_REQUEST_EXPANDED,
    TN_STD_TOKEN_PACKED,
    TN_STD_RUNTIME_SEQUENCE_STATE
};

struct tn_std_layout {
    enum tn_std_layout_kind kind;
    uint64_t axis;             /* of requests or packed items */
    struct tn_std_count factor; /* rows per request */
    struct tn_std_ref offsets, owner;
    struct tn_json at;
};

/* One extent: a number, or a symbol whose text is opaque ("frames + 1" is one symbol). */
struct tn_std_dim {
    bool fixed;
    int64_t extent;
    struct tn_str symbol;
    struct tn_json at;
};

struct tn_std_contract {
    enum tn_std_dtype dtype;
    struct tn_str dtype_text;
    struct tn_std_count rank;
    bool has_shape;
    struct tn_std_dim *dims;
    size_t dim_count;
    struct tn_std_layout layout;
    bool optional;
    struct tn_json at; /* absent: no contract, nothing is known */
};

struct tn_std_port {
    struct tn_str name;
    struct tn_std_contract contract;
};

struct tn_std_ports {
    struct tn_std_port *items;
    size_t count;
    struct tn_json at;
};

/* ---- workflow: values and components ---------------------------------------------------------------------------- */

enum tn_std_source { TN_STD_SOURCE_OTHER, TN_STD_REQUEST, TN_STD_APPLICATION, TN_STD_LITERAL, TN_STD_ARTIFACT };

struct tn_std_input {
    struct tn_str name;
    struct tn_std_contract contract;
    bool runtime_role; /* role.kind is "runtime" */
    struct tn_std_ref role; /* role.role */
    struct tn_str role_version;
    enum tn_std_source source;
    struct tn_std_ref source_path; /* artifact */
    struct tn_str source_name;     /* application */
    struct tn_json source_at;
    bool required; /* default true */
    bool externally_suppliable;
    struct tn_json default_at; /* a scalar or an array of scalars */
    struct tn_std_ref present_as;
    struct tn_json at;
};

struct tn_std_output {
    struct tn_str name;
    struct tn_std_contract contract;
    struct tn_str role;  /* tokens, text, image, audio, video, tensor, event */
    struct tn_str stage; /* pre_adapter, post_adapter */
    struct tn_std_ref value_range;
    struct tn_json media; /* container, encoding, rates */
    struct tn_json at;
};

enum tn_std_implementation { TN_STD_IMPLEMENTATION_OTHER, TN_STD_ONNX, TN_STD_ADAPTER, TN_STD_BINDING };
enum tn_std_equivalence { TN_STD_SEMANTIC, TN_STD_DISTRIBUTION_PRESERVING, TN_STD_BITWISE };

struct tn_std_component {
    struct tn_str name;
    enum tn_std_implementation implementation;
    struct tn_std_ref artifact, abi, version;
    struct tn_json implementation_at;
    struct tn_std_ports inputs, outputs;
    struct tn_std_bindings roles; /* port name to role */
    bool has_contract;
    struct tn_std_ref contract_id, contract_version;
    struct tn_std_bindings contract_bindings; /* semantic role to port name */
    struct tn_json contract_parameters;
    enum tn_std_equivalence equivalence; /* semantic when nothing is said, or no contract is there */
    struct tn_json contract_at;
    struct tn_std_refs effects;
    struct tn_std_refs cache_affects_state;
    bool has_row_scope, stateful;
    struct tn_std_count row_axis;
    struct tn_json row_scope_at;
    bool application_overridable;
    struct tn_json at;
};

enum tn_std_retry { TN_STD_RETRY_OTHER, TN_STD_PURE, TN_STD_IDEMPOTENT, TN_STD_TRANSACTIONAL, TN_STD_NON_RETRYABLE };
enum tn_std_safety { TN_STD_UNSAFE, TN_STD_CLONABLE, TN_STD_REWINDABLE };

struct tn_std_effect {
    struct tn_str name;
    enum tn_std_retry retry;
    enum tn_std_safety safety; /* unsafe when nothing is said */
    struct tn_std_count max_depth;
    struct tn_json safety_at;
    struct tn_json at;
};

/* ---- workflow: state -------------------------------------------------------------------------------------------- */

enum tn_std_recurrence { TN_STD_INVARIANT, TN_STD_GROWING, TN_STD_BOUNDED };
enum tn_std_management { TN_STD_WORKFLOW, TN_STD_RUNTIME, TN_STD_EXTERNAL };
enum tn_std_boundary { TN_STD_NO_BOUNDARY, TN_STD_END_OF_INVOCATION, TN_STD_END_OF_SESSION, TN_STD_END_OF_ROW };

struct tn_std_cell {
    struct tn_str name;
    struct tn_std_contract contract;
    bool advisory;
    bool session_scope;
    struct tn_std_ref initializer;
    enum tn_std_recurrence recurrence;
    struct tn_std_count axis; /* growing, bounded */
    struct tn_std_ref increment, max;
    struct tn_json recurrence_at;
    enum tn_std_management management;
    enum tn_std_boundary boundary;
    struct tn_json boundary_at;
    struct tn_std_ref group; /* service_group */
    struct tn_json session; /* lease: policy, ttl_seconds, optimistic_metadata_version */
    struct tn_json at;
};

enum tn_std_state_kind {
    TN_STD_STATE_OTHER,
    TN_STD_FULL_ATTENTION,
    TN_STD_SLIDING_ATTENTION,
    TN_STD_LATENT_ATTENTION,
    TN_STD_RECURRENT,
    TN_STD_CROSS_ATTENTION,
    TN_STD_ENCODER
};
enum tn_std_aliasing { TN_STD_ALIASING_FORBIDDEN, TN_STD_ALIASING_PERMITTED, TN_STD_ALIASING_REQUIRED };
enum tn_std_update { TN_STD_APPEND, TN_STD_REPLACE, TN_STD_INDEXED_SCATTER };
enum tn_std_half { TN_STD_NO_HALF, TN_STD_KEY, TN_STD_VALUE, TN_STD_COMBINED };

/* One pair of state ports of one component. `label` is the producer's and orders nothing. */
struct tn_std_state_port {
    struct tn_str component;
    struct tn_json component_at;
    struct tn_str label;
    struct tn_std_ref input, output;
    bool read_only;
    enum tn_std_half half;
    struct tn_json half_at;
    struct tn_std_count layer;
    struct tn_json at;
};

struct tn_std_group {
    struct tn_str name;
    enum tn_std_state_kind kind;
    struct tn_json kind_at;
    struct tn_str layout;
    struct tn_std_count sequence_axis;
    enum tn_std_aliasing aliasing;
    struct tn_std_ref logical_lengths, total_length;
    bool has_update;
    enum tn_std_update update; /* append when nothing is said */
    struct tn_json update_at;
    struct tn_std_ref write_indices, capacity;
    struct tn_std_bindings write_indices_ports, kv_length_ports; /* component to port */
    bool prefix_reusable, evictable_prefix;
    struct tn_std_count rollback_positions;
    bool snapshot, fork;
    struct tn_std_refs cascade;
    struct tn_json capabilities_at;
    struct tn_std_ref checkpoint, checkpoint_version;
    struct tn_std_state_port *ports;
    size_t port_count;
    struct tn_json ports_at;
    struct tn_json at;
};

struct tn_std_serving {
    struct tn_std_ref active, done, accepted_len;
    struct tn_std_group *groups;
    size_t group_count;
    struct tn_json at;
};

/* ---- workflow: steps -------------------------------------------------------------------------------------------- */

enum tn_std_step_kind {
    TN_STD_STEP_OTHER,
    TN_STD_SEQUENCE,
    TN_STD_INVOKE,
    TN_STD_LOOP,
    TN_STD_BRANCH,
    TN_STD_EMIT
};
enum tn_std_emit_mode { TN_STD_EMIT_OTHER, TN_STD_EMIT_REPLACE, TN_STD_EMIT_APPEND, TN_STD_EMIT_EVENT };

struct tn_std_step;

struct tn_std_steps {
    struct tn_std_step *items;
    size_t count;
    struct tn_json at;
};

struct tn_std_carry {
    struct tn_std_ref cell, initial, next;
    struct tn_json at;
};

struct tn_std_phi {
    struct tn_str name; /* of the merged value */
    struct tn_std_bindings cases; /* case to value */
    struct tn_std_ref otherwise;
    struct tn_json at;
};

struct tn_std_step {
    enum tn_std_step_kind kind;
    struct tn_std_ref component;        /* invoke */
    struct tn_std_bindings inputs;      /* invoke: port to value */
    struct tn_std_bindings outputs;     /* invoke: port to new value */
    struct tn_std_steps setup, body;    /* loop; sequence uses body */
    struct tn_std_carry *carried;       /* loop */
    size_t carried_count;
    struct tn_std_ref continue_when, max_iterations;
    bool generation_eos;                /* loop.termination */
    struct tn_std_ref iteration;        /* name of the induction value */
    struct tn_std_contract iteration_contract;
    struct tn_std_ref predicate;        /* branch */
    struct tn_std_steps cases;          /* branch: one step per case, in order; */
    struct tn_str *case_names;          /* ... and its name */
    struct tn_std_step *otherwise;      /* branch: the default case, NULL: none */
    struct tn_std_phi *merged;
    size_t merged_count;
    struct tn_std_ref value, output;    /* emit */
    struct tn_std_ref valid_length, when;
    struct tn_std_count axis;
    enum tn_std_emit_mode mode;
    struct tn_json at;
};

struct tn_std_workflow {
    struct tn_std_refs capabilities; /* manifest */
    struct tn_std_bindings adapter_abis;
    struct tn_json manifest_at;
    struct tn_std_input *inputs;
    size_t input_count;
    struct tn_std_output *outputs;
    size_t output_count;
    struct tn_std_component *components;
    size_t component_count;
    struct tn_std_effect *effects;
    size_t effect_count;
    struct tn_std_cell *cells;
    size_t cell_count;
    struct tn_std_serving serving;
    struct tn_std_steps steps;
    struct tn_json at; /* absent: the document has no workflow */
};

/* ---- adapters --------------------------------------------------------------------------------------------------- */

struct tn_std_target {
    struct tn_std_ref id, component, initializer, node_name, output_name;
    enum tn_std_dtype activation_dtype;
    struct tn_std_count input_features, output_features, layer_index, rank;
    struct tn_std_real alpha;
    struct tn_std_count slice_offset, slice_width;
    struct tn_json slice_at;
    struct tn_std_ref graph_a, graph_b, graph_scale;
    struct tn_json at;
};

struct tn_std_adapter_weight {
    struct tn_std_ref location, config_location, loader, format, scale_encoding;
    struct tn_json at;
};

struct tn_std_adapter_binding {
    struct tn_std_ref target, weight_key;
    struct tn_std_count rank;
    struct tn_std_real alpha;
    struct tn_json at;
};

struct tn_std_adapter {
    struct tn_str name;
    struct tn_std_count index, rank;
    struct tn_std_real alpha;
    struct tn_std_ref identity, version;
    enum tn_std_dtype dtype;
    struct tn_std_adapter_weight *weights;
    size_t weight_count;
    struct tn_std_adapter_binding *bindings;
    size_t binding_count;
    struct tn_json at;
};

struct tn_std_adapters {
    struct tn_std_target *targets;
    size_t target_count;
    struct tn_std_adapter *artifacts;
    size_t artifact_count;
    struct tn_std_ref segments, counts, scales, active; /* workflow inputs */
    struct tn_std_count max_adapters;
    struct tn_json selection_at;
    struct tn_std_ref application;
    bool portable_fallback;
    struct tn_json at;
};

/* ---- speculation ------------------------------------------------------------------------------------------------ */

enum tn_std_vocabulary { TN_STD_VOCABULARY_OTHER, TN_STD_IDENTICAL, TN_STD_SUBSET, TN_STD_MAPPED };

struct tn_std_recurrent {
    struct tn_std_ref state, input, output;
    struct tn_json at;
};

struct tn_std_speculative {
    struct tn_std_ref proposer, target;
    bool chained;
    struct tn_std_ref token_embedding_input, logits_output, folded_carry_output;
    struct tn_std_ref seed_component, seed_output;   /* folded_carry_seed */
    struct tn_std_ref table_component, table;        /* token_embedding */
    struct tn_json seed_at, table_at, execution_at;
    struct tn_std_recurrent *recurrent;
    size_t recurrent_count;
    struct tn_std_bindings port_bindings; /* semantic role to proposer port */
    struct tn_std_refs rollback_state, shared_state, shared_weights;
    enum tn_std_vocabulary vocabulary;
    struct tn_std_ref vocabulary_map;
    struct tn_std_count proposer_vocab_size;
    struct tn_std_count max_proposal_width;
    bool distribution_preserving;
    struct tn_json at;
};

/* ---- generation, preprocessing, profiles ------------------------------------------------------------------------ */

struct tn_std_override {
    struct tn_str field;
    struct tn_std_ref input;
    struct tn_std_real minimum, maximum;
    struct tn_json constraint_at;
    struct tn_json at;
};

struct tn_std_generation {
    struct tn_json defaults;
    struct tn_std_override *overrides;
    size_t override_count;
    struct tn_json at;
};

struct tn_std_transform {
    struct tn_std_ref op;
    struct tn_std_refs inputs, outputs;
    struct tn_json at; /* its parameters are read where the operation is carried out */
};

struct tn_std_program_output {
    struct tn_std_ref name, source, content;
    enum tn_std_dtype dtype;
    struct tn_std_ref dtype_ref;
    struct tn_std_count rank;
    bool optional;
    struct tn_std_contract contract;
    struct tn_json at;
};

struct tn_std_program {
    struct tn_std_transform *transforms;
    size_t transform_count;
    struct tn_std_program_output *outputs;
    size_t output_count;
    struct tn_json outputs_at;
    struct tn_json at;
};

struct tn_std_profile {
    struct tn_str name;
    struct tn_std_ref kind, version;
    bool ignorable;
    bool generation_affecting;
    struct tn_std_ref batch_invariance;
    struct tn_std_bindings outputs; /* semantic role to workflow output */
    bool has_pooling, normalize;
    struct tn_std_ref pooling;
    struct tn_std_count pooling_axis;
    bool has_decoding, collapse_repeats;
    struct tn_std_ref decoding, lengths;
    struct tn_std_count blank_id, time_axis, class_axis;
    bool has_vocabulary;
    struct tn_std_ref vocabulary_source, word_delimiter;
    struct tn_std_count vocabulary_size;
    struct tn_std_refs tokens, ignored_tokens;
    struct tn_json pooling_at, decoding_at, vocabulary_at;
    struct tn_json at;
};

/* ---- facts of the package and the model ------------------------------------------------------------------------- */

struct tn_std_special_token {
    struct tn_str role;
    struct tn_std_count id;
    struct tn_std_ref content;
    struct tn_json at;
};

struct tn_std_tokenizer {
    struct tn_std_ref algorithm;
    struct tn_std_count vocab_size;
    bool byte_level;
    struct tn_std_refs artifacts; /* locations */
    struct tn_std_special_token *special;
    size_t special_count;
    struct tn_json at;
};

struct tn_std_constraint_language {
    struct tn_std_ref dialect, version, component;
    struct tn_json at;
};

struct tn_std_tensor_shard {
    struct tn_str name;
    struct tn_std_count axis, max_shards;
    struct tn_std_refs replicated;
    struct tn_json at;
};

struct tn_std_stage {
    struct tn_std_refs components, outputs, state_groups;
    struct tn_json at;
};

struct tn_std_model {
    struct tn_json io; /* import only; refused beside a workflow */
    struct tn_std_count max_sequence_length, vocab_size;
    struct tn_json attention;
    struct tn_std_ref attention_type;
    struct tn_std_count heads, kv_heads, head_dim, sliding_window, sink_tokens;
    struct tn_json moe;
    struct tn_std_count experts, experts_per_token, expert_groups, groups_per_token;
    struct tn_std_tensor_shard *tensor_parallel;
    size_t tensor_parallel_count;
    struct tn_std_stage *stages;
    size_t stage_count;
    struct tn_std_count expert_count; /* sharding.expert_parallel */
    struct tn_json at;
};

struct tn_std_quantization_override {
    struct tn_std_ref component, precision;
    struct tn_json layers; /* an array of whole numbers, negative ones count from the end */
    struct tn_json at;
};

struct tn_std_hardware {
    struct tn_std_real min_memory_gb, kv_mb_per_1k_tokens;
    struct tn_std_count min_tp_degree;
    bool has_tensor_parallel, tensor_parallel;
    struct tn_std_refs required_dtypes, beneficial_dtypes;
    struct tn_json at;
};

/* ---- the document ----------------------------------------------------------------------------------------------- */

struct tn_standard {
    struct tn_arena arena;
    struct tn_str version; /* as written; empty means v1 */
    struct tn_std_refs required_capabilities;
    struct tn_std_workflow workflow;
    struct tn_json pipeline;
    struct tn_std_adapters adapters;
    struct tn_std_speculative speculative;
    struct tn_std_generation generation;
    struct tn_std_program image, audio;
    struct tn_std_profile *profiles;
    size_t profile_count;
    struct tn_std_tokenizer tokenizer;
    struct tn_std_constraint_language *languages;
    size_t language_count;
    struct tn_std_model model;
    struct tn_std_ref quantization; /* default precision */
    struct tn_std_quantization_override *quantization_overrides;
    size_t quantization_override_count;
    struct tn_json quantization_overrides_at;
    struct tn_std_hardware hardware;
    struct tn_json at; /* the root */
    struct tn_doc_marks marks; /* what the tables refused: of it, nothing is read from the typed form as if it stood there */
};

/* How deep steps may nest; deeper ones are refused by tn_standard_read with TN_RESOURCE_LIMIT. */
enum { TN_STD_STEP_DEPTH = 48 };

/*
 * Fills *doc from a parsed document. Fails only for lack of memory and for steps nested too deep; then *doc is
 * released and zeroed. The JSON document must outlive *doc.
 */
enum tn_status tn_standard_read(struct tn_standard *doc, struct tn_alloc *alloc, struct tn_json root,
                                struct tn_error *err);
/* A zeroed one may be released. */
void tn_standard_release(struct tn_standard *doc);

/* By name; NULL when there is none. */
const struct tn_std_component *tn_standard_component(const struct tn_standard *doc, struct tn_str name);
const struct tn_std_input *tn_standard_input(const struct tn_standard *doc, struct tn_str name);
const struct tn_std_output *tn_standard_output(const struct tn_standard *doc, struct tn_str name);
const struct tn_std_cell *tn_standard_cell(const struct tn_standard *doc, struct tn_str name);
const struct tn_std_group *tn_standard_group(const struct tn_standard *doc, struct tn_str name);
const struct tn_std_effect *tn_standard_effect(const struct tn_standard *doc, struct tn_str name);
const struct tn_std_port *tn_standard_port(const struct tn_std_ports *ports, struct tn_str name);

/* The dtype's name in the vocabulary, aliases folded ("fp32" is "float32"); "other" for the rest. */
const char *tn_std_dtype_name(enum tn_std_dtype dtype);
enum tn_std_dtype tn_std_dtype_of(struct tn_str text);
const char *tn_std_layout_name(enum tn_std_layout_kind kind);

/* ---- fields that name a file ------------------------------------------------------------------------------------ */

enum tn_std_artifact_use {
    TN_STD_USE_COMPONENT,  /* an ONNX graph, or what an adapter loads */
    TN_STD_USE_INPUT,      /* a workflow input's value */
    TN_STD_USE_ADAPTER,    /* weights of a parameter adapter */
    TN_STD_USE_ADAPTER_CONFIG,
    TN_STD_USE_TOKENIZER,
    TN_STD_USE_VOCABULARY_MAP
};

struct tn_std_artifact {
    enum tn_std_artifact_use use;
    struct tn_str path; /* as written */
    struct tn_json at;
    const struct tn_std_component *component; /* of TN_STD_USE_COMPONENT */
};

/* Calls `visit` for every field that names a file, in a fixed order; stops when it returns false. */
void tn_standard_artifacts(const struct tn_standard *doc, bool (*visit)(void *user, const struct tn_std_artifact *a),
                           void *user);

#endif
