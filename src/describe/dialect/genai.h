/*
 * The genai_config.json convention (packages of onnxruntime-genai) while it is read: the table of its keys, the graphs
 * that it names, their ports and state, and the standard's document that is made of them. Internal to src/describe.
 *
 * The import goes one way and loses nothing in silence: a key is used, dropped for a stated reason, or unknown, and the
 * last two refuse the package unless the caller accepts the loss. Model types are labels here: nothing branches on one.
 */
#ifndef TN_DESCRIBE_DIALECT_GENAI_H
#define TN_DESCRIBE_DIALECT_GENAI_H

#include "describe/builder.h"
#include "package/onnx.h"

#define TN_GENAI_FILE "genai_config.json"
#define TN_GENAI_RULE "genai.config/1"
#define TN_GENAI_SCHEMA "genai_config/0.18"

enum {
    TN_GENAI_DEPTH = 8,     /* names from the root to the deepest key of the table */
    TN_GENAI_LAYERS = 1024, /* the deepest published model has about 130; each layer multiplies ports */
    TN_GENAI_GRAPHS = 64,   /* graphs of one package: the longest published pipeline has a dozen */
    TN_GENAI_NAMED = 8192,  /* ports in all lists of stages: four for each of a thousand layers, and as many again */
    TN_GENAI_IDS = 256,     /* ids in one list: the longest published list of end tokens has nine */
    TN_GENAI_TOKENS = 16    /* roles of special tokens in the table */
};

/* ---- genai_keys.c: what each key is ------------------------------------------------------------------------------ */

enum tn_genai_class {
    TN_GENAI_OBJECT,  /* holds keys of its own */
    TN_GENAI_USED,
    TN_GENAI_DROPPED, /* known, and nothing of a description: refused unless the loss is accepted */
    TN_GENAI_DENIED   /* names code: refused whatever is accepted */
};

enum tn_genai_kind {
    TN_GENAI_ANY,
    TN_GENAI_BOOL,
    TN_GENAI_COUNT,   /* whole number in [low, high] */
    TN_GENAI_NUMBER,  /* number in [low, high] */
    TN_GENAI_TEXT,
    TN_GENAI_PORT,    /* name of a port */
    TN_GENAI_PATTERN, /* name of a port per layer: exactly one %d */
    TN_GENAI_NAMES,   /* list of port names */
    TN_GENAI_RENAMES, /* object from port name to port name */
    TN_GENAI_WORDS,   /* list of texts */
    TN_GENAI_COUNTS,  /* list of whole numbers in [low, high] */
    TN_GENAI_ID,      /* a token */
    TN_GENAI_IDS_KIND, /* a token or a list of them */
    TN_GENAI_FILENAME,
    TN_GENAI_FOLDER
};

struct tn_genai_key {
    const char *path; /* from the root; * stands for any one name, positions in lists are left out */
    enum tn_genai_class class;
    enum tn_genai_kind kind;
    double low, high;
    const char *text;    /* used: name of its fact, * as in the path; dropped: the reason */
    const char *neutral; /* dropped: JSON text of the value that says nothing; empty lists and objects never do */
    const char *rest;    /* object: why members without a row are dropped; NULL: they are unknown */
};

size_t tn_genai_key_count(void);
const struct tn_genai_key *tn_genai_key_at(size_t index);
/* `names` are the member names from the root. NULL: unknown. */
const struct tn_genai_key *tn_genai_key_of(const struct tn_str *names, size_t count);
/* The name of the known sibling that is nearest to the last name; NULL: none is near. */
const char *tn_genai_nearest(const struct tn_str *names, size_t count);

/* ---- genai_ports.c: what a port means ---------------------------------------------------------------------------- */

enum tn_genai_direction { TN_GENAI_INPUT, TN_GENAI_OUTPUT };

/* What the ports of one key carry from step to step. */
enum tn_genai_family {
    TN_GENAI_PLAIN,
    TN_GENAI_ATTENTION, /* cache of self-attention */
    TN_GENAI_CROSS,     /* keys and values that an encoder gives and a decoder reads */
    TN_GENAI_RECURRENT
};

struct tn_genai_port {
    const char *section; /* name below /model, "stage" for a stage of a pipeline */
    enum tn_genai_direction direction;
    const char *key;
    const char *name;  /* the name when the key is absent; used only where the graph has such a port; NULL: none */
    bool per_layer;    /* the name holds %d */
    const char *role;  /* in the standard's vocabulary, or NULL */
    enum tn_genai_family family;
    const char *next;  /* state input: key of the output that gives the next state */
    const char *half;  /* attention and cross: "key", "value", "combined" */
};

const struct tn_genai_port *tn_genai_port_at(size_t index);
size_t tn_genai_port_count(void);

/* ---- the reader -------------------------------------------------------------------------------------------------- */

/* One port that the document gives a meaning. */
struct tn_genai_binding {
    const struct tn_genai_port *port; /* NULL: named by a pipeline's stage alone */
    enum tn_genai_direction direction;
    struct tn_str name;
    uint32_t layer;     /* of a name with %d */
    struct tn_json at;  /* the key that names it; absent: the published default */
    const struct tn_onnx_port *graph_port; /* NULL: the graph was not read, or has none */
    bool taken;         /* of a section's names: some stage has the port */
};

struct tn_genai_bindings {
    struct tn_genai_binding *items;
    size_t count, cap;
};

/* One graph: a section, or a stage of a section's pipeline. */
struct tn_genai_graph {
    struct tn_str name;    /* "decoder", "decoder.embeddings" */
    const char *section;   /* as in tn_genai_port */
    struct tn_json at;     /* the object that has its file name */
    bool stage;            /* of a pipeline: its lists name the ports, the section's keys give them meaning */
    struct tn_str path;    /* inside the package; empty after a finding */
    struct tn_onnx_view *view; /* NULL after a finding */
    struct tn_genai_bindings bound;
    bool doubtful; /* some name of it is wrong: what that leads to is no further fault */
    bool contested; /* some port has two meanings */
};

/* A number of the document that was there and in range. */
struct tn_genai_size {
    bool present;
    uint64_t value;
    struct tn_json at;
};

/* A special token that the standard's form can say: its role, and the text that the tokenizer has for its id. */
struct tn_genai_token {
    struct tn_str role, content;
    uint64_t id;
    struct tn_json at;
};

struct tn_genai_tokenizer {
    struct tn_str path;    /* of tokenizer.json inside the package; empty: there is none */
    bool unread;           /* it is there and does not read, which has its finding */
    const char *algorithm; /* in the standard's spelling; NULL: not known */
    bool byte_level;
    uint64_t size;         /* one more than the largest id */
    struct tn_genai_token special[TN_GENAI_TOKENS];
    size_t special_count;
};

struct tn_genai {
    struct tn_builder *b;
    struct tn_json root, model, search;
    struct tn_str folder; /* of the document; names of files are relative to it */
    struct tn_genai_graph graphs[TN_GENAI_GRAPHS];
    size_t graph_count;
    size_t named;         /* ports in the lists of all stages */
    struct tn_genai_size context, vocabulary, layers, heads, kv_heads, head_size, hidden, window;
    struct tn_genai_size encoder_kv_heads, encoder_head_size, encoder_hidden, convolved;
    struct tn_genai_tokenizer tokenizer;
    bool dropped_ports; /* some port was named and dropped: what it does to the others is not known */
    bool hole;          /* some port or file is not what the document says: no contract can be made */
};

/* genai_read.c: every member against the table; facts, losses and findings. Fills the sizes. */
void tn_genai_read(struct tn_genai *g);

/* What `pointer` says is lost, for a reason that does not change: a loss where losses are accepted, else a finding. */
void tn_genai_lose(struct tn_genai *g, struct tn_json at, struct tn_str pointer, const char *reason);

/* genai_value.c: one value of a used key; false after a finding. */
bool tn_genai_check(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json v);
struct tn_finding *tn_genai_refuse(struct tn_genai *g, struct tn_json v, const char *what);
/* Whether the text holds exactly one %d and no other %. */
bool tn_genai_pattern(struct tn_str text);
/* What is wrong with the name of a port, or with a pattern of names; NULL: nothing. */
const char *tn_genai_name_fault(const struct tn_genai *g, struct tn_str name, bool pattern);
/* The pattern with the layer's number; "" after a failure. */
struct tn_str tn_genai_expand(struct tn_genai *g, struct tn_str pattern, uint32_t layer);
/*
 * The path that a field names. Reports what leaves the package, what is not there and what the inventory refused to
 * list, at the field. False after a finding; `folder` wants a folder instead of a file.
 */
bool tn_genai_file(struct tn_genai *g, struct tn_json v, bool folder, struct tn_str *path);

/* genai_paths.c: no string of the document leads out of the package, and what is called a file is named like one. */
void tn_genai_check_paths(struct tn_genai *g);

/* genai_cross.c: numbers that must agree with one another. */
void tn_genai_cross_check(struct tn_genai *g);

/* genai_types.c: the word for the kind of model. */
void tn_genai_check_type(struct tn_genai *g);

/* What a layer of the decoder keeps from step to step; both false: nothing says. */
struct tn_genai_layer {
    bool attention, recurrent, windowed;
    bool stated; /* by layer_types or state_groups; else the graph's ports decide */
};
struct tn_genai_layer tn_genai_layer_of(const struct tn_genai *g, uint32_t layer);

/* genai_graphs.c: files and views of all graphs. genai_bind.c: their ports. */
void tn_genai_open_graphs(struct tn_genai *g);
void tn_genai_release(struct tn_genai *g);
void tn_genai_bind(struct tn_genai *g);
/* genai_once.c: whether two keys name one port; a finding at each later one. */
bool tn_genai_named_twice(struct tn_genai *g, const struct tn_genai_bindings *list);
/* First with this key and layer, or NULL. */
const struct tn_genai_binding *tn_genai_bound(const struct tn_genai_graph *graph, enum tn_genai_direction direction,
                                              const char *key, uint32_t layer);

/* genai_shapes.c: types and extents of the graphs' ports against the document's numbers. */
void tn_genai_check_shapes(struct tn_genai *g);

/* genai_unsaid.c: what the form has no place for becomes losses; fills the tokenizer. `folder` is the tokenizer's. */
void tn_genai_take_unsaid(struct tn_genai *g, struct tn_str folder);
/* Whether every layer of the decoder looks through the window that is stated. */
bool tn_genai_one_window(const struct tn_genai *g);

/* genai_document.c: the standard's document, into the description, when nothing has a hole. */
void tn_genai_document(struct tn_genai *g);

#endif
