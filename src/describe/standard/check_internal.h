/*
 * What the files of the semantic check share: the scratch of one run, how findings are made, names, value types.
 *
 * One mistake gives one finding. So whatever refers to something that is missing is told once, where the reference is,
 * and everything derived from it is then "unknown", which agrees with everything.
 */
#ifndef TN_DESCRIBE_STANDARD_CHECK_INTERNAL_H
#define TN_DESCRIBE_STANDARD_CHECK_INTERNAL_H

#include "describe/standard/check.h"

/* ---- names ------------------------------------------------------------------------------------------------------ */

#define TN_STD_NO_NAME UINT32_MAX

struct tn_std_name_slot {
    struct tn_str key;
    uint32_t value;
};

/* Name to index; open addressing, sized once. */
struct tn_std_names {
    struct tn_std_name_slot *slots;
    size_t mask;
};

/* Room for `most` names; false when memory is gone. */
bool tn_std_names_init(struct tn_std_names *names, struct tn_arena *arena, size_t most);
/* The index already stored under the key, or TN_STD_NO_NAME after storing. At most `most` calls may store. */
uint32_t tn_std_names_put(struct tn_std_names *names, struct tn_str key, uint32_t value);
uint32_t tn_std_names_get(const struct tn_std_names *names, struct tn_str key);

/* ---- types ------------------------------------------------------------------------------------------------------ */

/* What is known about a value. `known` false: nothing. */
struct tn_std_type {
    bool known;
    enum tn_std_dtype dtype;
    struct tn_str dtype_text;
    bool has_rank, has_shape;
    uint64_t rank;
    const struct tn_std_dim *dims; /* rank of them when has_shape */
    const struct tn_std_layout *layout;
};

enum { TN_STD_TYPE_TEXT = 200, TN_STD_SYMBOLS = 24 };

/* The sizes that a component's symbols take in one invocation. Only numbers above 1 are kept: 0 and 1 broadcast. */
struct tn_std_symbols {
    struct tn_str name[TN_STD_SYMBOLS];
    int64_t extent[TN_STD_SYMBOLS];
    size_t count;
};

/* Of a contract that the tables refused nothing is known. */
struct tn_std_type tn_std_type_of(const struct tn_standard *doc, const struct tn_std_contract *contract);
/* "float32 [batch, 4]" into text[TN_STD_TYPE_TEXT]; returns it. */
const char *tn_std_type_text(const struct tn_std_type *type, char *text);
bool tn_std_type_is_integer(const struct tn_std_type *type);
/* Rank 0, or rank 1 that says that it has one element. */
bool tn_std_type_is_scalar(const struct tn_std_type *type);

/* Which extents may differ: that of a growing axis. */
#define TN_STD_NO_AXIS UINT64_MAX

/*
 * Why the two disagree ("the ranks differ"), or NULL. Only contradictions count: two symbols are never one, a symbol
 * and a number neither. `symbols` (may be NULL) collects and applies the sizes of `port`'s symbols. Extents are not
 * compared along `free_axis`.
 */
const char *tn_std_type_clash(const struct tn_std_type *value, const struct tn_std_type *port,
                              struct tn_std_symbols *symbols, uint64_t free_axis);

/* ---- the run ---------------------------------------------------------------------------------------------------- */

enum tn_std_origin {
    TN_STD_FROM_INPUT,
    TN_STD_FROM_PRESENCE,
    TN_STD_FROM_CELL,
    TN_STD_FROM_INVOKE,
    TN_STD_FROM_BRANCH,
    TN_STD_FROM_ITERATION
};

struct tn_std_value {
    struct tn_str name;
    struct tn_json at; /* where it is defined */
    enum tn_std_origin origin;
    struct tn_std_type type;
    uint32_t index;  /* of the input or cell; of TN_STD_FROM_PRESENCE: the input */
    bool visible;    /* here, during the walk over the steps */
    bool seen;       /* the walk has passed its definition */
    bool read;       /* something names it: a step, a cell, a state group, another contract */
    bool private_state; /* a cell, or a merge of cells, that must not leave */
    const struct tn_std_component *producer; /* TN_STD_FROM_INVOKE */
    struct tn_str producer_port;
};

/* What a name is looked up in, with what it is called. */
#define TN_STD_SPACE_LIST(X)                                                                       \
    X(VALUE, "value")                                                                              \
    X(COMPONENT, "component")                                                                      \
    X(CELL, "state cell")                                                                          \
    X(GROUP, "state group")                                                                        \
    X(INPUT, "workflow input")                                                                     \
    X(OUTPUT, "workflow output")                                                                   \
    X(TARGET, "adapter target")                                                                    \
    X(EFFECT, "effect domain")                                                                     \
    X(PORT_OR_VALUE, "port or value")                                                              \
    X(VALUE_OR_PORT, "value or input port")                                                        \
    X(GROUP_OR_CELL, "state group or cell")                                                        \
    X(PROFILE_OUTPUT, "output role of this profile")

enum tn_std_space {
#define X(name, text) TN_STD_SPACE_##name,
    TN_STD_SPACE_LIST(X)
#undef X
    TN_STD_SPACES
};

struct tn_std_check {
    const struct tn_standard *doc;
    const struct tn_std_workflow *flow;
    struct tn_findings *findings;
    struct tn_arena arena;
    bool memory_gone;

    struct tn_std_names value_names;
    struct tn_std_value *values;
    size_t value_count;
    struct tn_std_names component_names, cell_names, output_names, group_names;

    /* The walk. */
    uint32_t *scope; /* values in the order in which they became visible */
    size_t scope_top;
    unsigned *present; /* per input: how many enclosing cases guarantee its presence */
    bool *row_wise;    /* per output */
    const struct tn_std_step **carrier; /* per cell: the latest loop that carries it */
    bool *told;        /* per cell: its initializer has been refused */
    unsigned *invoked; /* per component: how often a step names it */

    /* What the tables refused hides names: looking one up in vain says nothing then. */
    bool open[TN_STD_SPACES];
    unsigned predicate_unknown; /* how many enclosing cases are chosen by who knows what */
    bool steps_open; /* some step, or what it produces, carries or chooses, is not known */
};

/* A note: what the standard leaves open, and is probably not meant. */
struct tn_finding *tn_std_note(struct tn_std_check *c, struct tn_json v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A blocker with code TN_METADATA_INVALID at v. */
struct tn_finding *tn_std_say(struct tn_std_check *c, struct tn_json v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same at a member of an object, present or not. */
struct tn_finding *tn_std_say_member(struct tn_std_check *c, struct tn_json object, const char *key,
                                     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "there is no <what> of this name": refuses a reference, quoting it; unless some name of the space may be hidden. */
struct tn_finding *tn_std_say_unknown(struct tn_std_check *c, const struct tn_std_ref *ref, enum tn_std_space space);

/* Whether the tables refused the value, something around it, or something in it. */
bool tn_std_unknown(const struct tn_std_check *c, struct tn_json v);
/* Whether nothing is known of a member, be it there or not. */
bool tn_std_hides(const struct tn_std_check *c, struct tn_json object, const char *key);

/* NULL when there is none of that name. No finding. */
const struct tn_std_component *tn_std_component(const struct tn_std_check *c, struct tn_str name);
const struct tn_std_cell *tn_std_cell(const struct tn_std_check *c, struct tn_str name);
const struct tn_std_output *tn_std_output(const struct tn_std_check *c, struct tn_str name);
const struct tn_std_group *tn_std_group(const struct tn_std_check *c, struct tn_str name);
struct tn_std_value *tn_std_value(const struct tn_std_check *c, struct tn_str name);
/* The same with a finding where the reference is, when it is given and names nothing. */
const struct tn_std_component *tn_std_want_component(struct tn_std_check *c, const struct tn_std_ref *ref);
const struct tn_std_cell *tn_std_want_cell(struct tn_std_check *c, const struct tn_std_ref *ref);
const struct tn_std_group *tn_std_want_group(struct tn_std_check *c, const struct tn_std_ref *ref);
struct tn_std_value *tn_std_want_value(struct tn_std_check *c, const struct tn_std_ref *ref);

/*
 * Whether a name may be a port of one side of a component. Who declares any port is taken to declare all of them; a
 * graph that declares none says nothing, because its file does; an adapter or binding has no file that could.
 */
bool tn_std_may_have_port(const struct tn_std_check *c, const struct tn_std_component *component, bool output,
                          struct tn_str name);

/* Why the sequence axis of a group cannot be one of its cells', with one of these cells; NULL when it can. */
const char *tn_std_axis_clash(const struct tn_std_check *c, const struct tn_std_group *group,
                              const struct tn_std_cell **where);
/* The number that a literal input holds; false for any other value. */
bool tn_std_literal(const struct tn_std_check *c, const struct tn_std_value *v, int64_t *number);

/* Where there is none, nothing is told of names in it: that has been told once. */
bool tn_std_has_workflow(const struct tn_std_check *c);

/* The parts of the check. */
void tn_std_check_values(struct tn_std_check *c);       /* collects values: single assignment */
void tn_std_check_steps(struct tn_std_check *c);        /* references, scopes, types, merges, loops, emits */
void tn_std_check_cells(struct tn_std_check *c);        /* lifetime, recurrence, initializers */
void tn_std_check_groups(struct tn_std_check *c);       /* serving and state groups */
void tn_std_check_components(struct tn_std_check *c);   /* contracts, ABIs, effects, row scope */
void tn_std_check_layouts(struct tn_std_check *c);      /* every contract: axes, packed owners, row-wise outputs */
void tn_std_check_layout(struct tn_std_check *c, const struct tn_std_contract *contract); /* a single one */
void tn_std_check_capabilities(struct tn_std_check *c); /* derived ones are declared */
void tn_std_check_inputs(struct tn_std_check *c);       /* sources, literals, presence */
void tn_std_check_adapters(struct tn_std_check *c);
void tn_std_check_speculative(struct tn_std_check *c);
void tn_std_check_programs(struct tn_std_check *c);
void tn_std_check_profiles(struct tn_std_check *c);
void tn_std_check_generation(struct tn_std_check *c);
void tn_std_check_facts(struct tn_std_check *c); /* tokenizer, model, sharding, quantisation, hardware */
void tn_std_check_paths(struct tn_std_check *c);

#endif
