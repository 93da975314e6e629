/*
 * What a port of a component means. Three sources, in this order, and the answer says which one settled it:
 *
 *   1. a declared role                         rule "metadata.port_roles/1"
 *   2. a structural signal that one port alone has   rule "onnx.port_structure/1"
 *   3. the names of one exporter convention    rule "onnx.port_names/1"
 *
 * and else a refusal, ambiguous_role, that names the declaration which would settle it. A name never chooses among
 * several ports that bear a name for the same role, and never a port whose type could not play the role. A declared role
 * beats what the port's name suggests, and a note says so.
 *
 * Pure: reads what it is given, opens nothing.
 */
#ifndef TN_DESCRIBE_ROLES_H
#define TN_DESCRIBE_ROLES_H

#include "describe/standard/standard.h"
#include "package/onnx.h"

enum { TN_SIDE_INPUT = 1, TN_SIDE_OUTPUT = 2, TN_SIDE_EITHER = 3 };

/*
 * X(enumerator, name, side): the first eight are the standard's vocabulary. What an encoder makes and a decoder reads is
 * one role on either side. Cache halves come with a layer.
 */
#define TN_ROLE_LIST(X)                                                                            \
    X(TOKEN_IDS, "token_ids", INPUT)                                                               \
    X(INPUTS_EMBEDS, "inputs_embeds", INPUT)                                                       \
    X(ATTENTION_MASK, "attention_mask", INPUT)                                                     \
    X(POSITION_IDS, "position_ids", INPUT)                                                         \
    X(LOGITS, "logits", OUTPUT)                                                                      \
    X(HIDDEN_STATES, "hidden_states", OUTPUT)                                                        \
    X(ENCODER_HIDDEN_STATES, "encoder_hidden_states", EITHER)                                       \
    X(AUDIO_FEATURES, "audio_features", EITHER)                                                     \
    X(TOKEN_TYPE_IDS, "token_type_ids", INPUT)                                                     \
    X(ENCODER_ATTENTION_MASK, "encoder_attention_mask", INPUT)                                     \
    X(PIXEL_VALUES, "pixel_values", INPUT)                                                         \
    X(INPUT_FEATURES, "input_features", INPUT)                                                     \
    X(INPUT_VALUES, "input_values", INPUT)                                                         \
    X(USE_CACHE, "use_cache", INPUT)                                                               \
    X(POOLED, "pooled", OUTPUT)                                                                      \
    X(SENTENCE_EMBEDDING, "sentence_embedding", OUTPUT)                                              \
    X(PAST_KEY, "past_key", INPUT)                                                                 \
    X(PAST_VALUE, "past_value", INPUT)                                                             \
    X(PRESENT_KEY, "present_key", OUTPUT)                                                            \
    X(PRESENT_VALUE, "present_value", OUTPUT)                                                        \
    X(CROSS_PAST_KEY, "cross_past_key", INPUT)                                                     \
    X(CROSS_PAST_VALUE, "cross_past_value", INPUT)                                                 \
    X(CROSS_PRESENT_KEY, "cross_present_key", OUTPUT)                                                \
    X(CROSS_PRESENT_VALUE, "cross_present_value", OUTPUT)

enum tn_role {
#define X(name, text, side) TN_ROLE_OF_##name,
    TN_ROLE_LIST(X)
#undef X
    TN_ROLE_NONE
};

const char *tn_role_name(enum tn_role role);
/* Of the standard's vocabulary; TN_ROLE_NONE for anything else. */
enum tn_role tn_role_of_standard(struct tn_str name);
/* Whether a port of this side may have the role. */
bool tn_role_has_side(enum tn_role role, bool output);

/* Whether a port of this side, element type (number of onnx_schema.h; 0: not known) and rank may have the role. */
bool tn_role_allows(enum tn_role role, bool output, uint32_t element, bool rank_known, uint32_t rank);

/* One port with all that is known of it. */
struct tn_role_port {
    struct tn_str name;
    bool output;
    bool state; /* a state group binds it: it has no role of its own */
    uint32_t element; /* numbers of onnx_schema.h; 0: not known */
    bool rank_known;
    uint32_t rank;
    const struct tn_onnx_dim *dims; /* rank of them */
    uint64_t table_rows;            /* see struct tn_onnx_port */
    enum tn_role declared;          /* TN_ROLE_NONE: nothing, or another word */
    struct tn_json declared_at;
};

enum tn_role_source { TN_ROLE_UNSETTLED, TN_ROLE_DECLARED, TN_ROLE_BY_STRUCTURE, TN_ROLE_BY_NAME };

/* For each source the rule that a fact carries; "" for TN_ROLE_UNSETTLED. */
const char *tn_role_rule(enum tn_role_source source);

struct tn_role_binding {
    enum tn_role role;
    enum tn_role_source source;
    uint32_t port; /* index, when settled */
    char why[160]; /* "the only input that indexes a table of 30522 rows, the size of the vocabulary" */
};

struct tn_role_question {
    struct tn_str component;
    struct tn_str graph;    /* file, for messages */
    struct tn_json place;   /* the component in a document; absent where there is none */
    const struct tn_role_port *ports;
    uint32_t port_count;
    uint64_t vocab_size, hidden_size; /* 0: not known */
    bool names;             /* the exporter convention may be asked */
};

/*
 * How many entries tn_role_ports fills: inputs and outputs of the view. `standard` and `component` may be NULL: nothing
 * is declared then.
 */
uint32_t tn_role_ports(const struct tn_onnx_view *view, const struct tn_standard *standard,
                       const struct tn_std_component *component, struct tn_role_port *out);

/*
 * Settles one role among the inputs or the outputs. TN_ROLE_UNSETTLED comes with a blocker ambiguous_role when `required`, and without a word otherwise
 * unless several ports claim the role. Contradictions between a declaration and the port's type are metadata_invalid.
 */
struct tn_role_binding tn_role_settle(const struct tn_role_question *q, enum tn_role role, bool output, bool required,
                                      struct tn_findings *findings);

struct tn_builder;
/* The fact of a settled role: "port.COMPONENT.ROLE", the port's name, where it stands and by which rule. */
void tn_role_fact(struct tn_builder *b, const struct tn_role_question *q, const struct tn_role_binding *binding);

/* ---- the convention ---------------------------------------------------------------------------------------------- */

#define TN_PORT_NAMES_RULE "onnx.port_names/1"

/*
 * The convention of Optimum's and transformers.js's exports; a changed row is a new version of the rule. N stands for
 * decimal digits without leading zeros: a layer.
 */
struct tn_port_name {
    const char *pattern;
    enum tn_role role;
};
/* Rows in order, ended by .pattern NULL. */
extern const struct tn_port_name tn_port_names[];

/* The role that a name has by the convention; *layer is set for cache halves. TN_ROLE_NONE: no row fits. */
enum tn_role tn_port_name_role(struct tn_str name, bool output, uint32_t *layer);

/*
 * Cache pairs by the convention. Every past half must have its present half of the same layer, half, type and rank,
 * layers count from 0 without holes, each with key and value. Anything else is one blocker ambiguous_role that names the
 * first port without a partner and the declaration (a state group's ports). Pairs are in order of layer, key before
 * value. *count 0 without a finding: no port bears such a name.
 */
struct tn_role_pair {
    uint32_t past, present; /* indices of ports */
    uint32_t layer;
    bool value; /* half: else key */
};
enum tn_status tn_role_cache_pairs(const struct tn_role_question *q, bool cross, struct tn_arena *arena,
                                   struct tn_role_pair **out, uint32_t *count, struct tn_findings *findings,
                                   struct tn_error *err);

#endif
