/*
 * Providers: what can execute a component. This interface is all that plan and session know of them; the composition
 * root hands them a list.
 *
 * describe and assess are pure: no weights, no probing, no residency changes. load and release own memory; invoke blocks
 * and is called by the scheduler alone, one call at a time per instance.
 */
#ifndef TN_PROVIDER_H
#define TN_PROVIDER_H

#include "describe/describe.h"
#include "family/family.h"
#include "base/pool.h"
#include "kernel/kernel.h"
#include "tensor/tensor.h"

/* The four fields of a numeric policy. `stored` is a fact of the package. */
struct tn_numeric {
    struct tn_str stored;   /* "f32", or "mixed" */
    enum tn_compute compute;
    const char *accumulate; /* "f32" */
    const char *kv;         /* "none" for encoders */
};

/* What is asked of a provider: run one component followed by a stretch of the module chain. */
struct tn_component_request {
    const struct tn_context *ctx;
    const struct tn_description *d;
    const struct tn_component *component; /* NULL: the package's graph is called with tensors, without head and modules */
    const struct tn_graph_facts *graph;   /* NULL: a family computes the component */
    const struct tn_head *head;        /* that runs behind the component; NULL: none. Then no modules */
    bool picked;                       /* the head reads only the rows that the invocation picks */
    uint32_t first_module, module_end; /* modules[first, end) run inside, in order */
    const char *numeric;               /* "f32", "bf16" as the caller wrote it */
    const char *without;               /* comma-separated rewritings of the graph to leave out; NULL: none */
    unsigned threads;                  /* most threads that an invocation may use, >= 1 */
    uint64_t max_rows;                 /* longest sequence in tokens, >= 1 */
    uint64_t hiding_rows;              /* longest sequence with rows behind its span, which no row then sees; 0: none has */
    uint64_t batch_rows;               /* most rows that one invocation carries, >= max_rows */
    uint64_t batch_sequences;
    uint64_t batch_picks;              /* most rows that one invocation picks; 0: it picks none */
    struct tn_hint_device device;      /* where to run */
    bool split;                        /* parts may run on the CPU instead; else all of it runs there, or nothing does */
    const struct tn_digest *code;      /* [code_count] SHA-256 of code that may run, e.g. libraries of custom operators */
    uint32_t code_count;
    const struct tn_str *told;         /* [told_count] values inside the graph that a later run_told shall tell */
    uint32_t told_count;
};

/* A part of a loaded component, by where it really runs. */
struct tn_partition {
    struct tn_hint_device device;
    struct tn_str by; /* what runs it, in the provider's words */
    uint64_t nodes;
};

struct tn_estimate {
    uint64_t weights_bytes;   /* resident after load */
    uint64_t workspace_bytes; /* activations and scratch, resident after load */
    uint64_t transient_bytes; /* on top, while loading */
    double uncertainty;       /* relative */
};

/* What assessment found out from headers alone; everything that load needs to know. Freed with the arena. */
struct tn_assessment {
    enum tn_decision decision;
    struct tn_findings findings; /* every blocker and missing evidence of this provider */
    struct tn_estimate estimate;
    struct tn_numeric numeric;
    uint64_t output_width;
    bool output_by_row; /* a row of results for each token; else one for each sequence */
    bool output_picked; /* a row of results for each token that the invocation picks */
    struct tn_arena arena;
    const struct tn_provider *provider;
    void *state; /* the provider's own: binding, graph, memory plan */
};

struct tn_load_env {
    const struct tn_context *ctx;
    struct tn_pool *pool;
    const struct tn_cancel *cancel;
    tn_progress_fn progress;
    void *progress_user;
};

struct tn_instance; /* a loaded component */

/*
 * Called after each operator with its rows; for tests and comparisons. The names of the operators that end a stage are
 * fixed: "embeddings", "layer K output norm" or "layer K output sum", and "module K pooling", "dense", "layer norm" or "normalize".
 */
typedef void (*tn_tap_fn)(void *user, struct tn_str op, const float *rows, size_t count, size_t width);

/* One call: S packed sequences. All arrays stay the caller's. */
struct tn_invocation {
    const int32_t *ids;      /* [T] */
    const int32_t *type_ids; /* [T] or NULL: zeros */
    const int32_t *offsets;  /* [S + 1] */
    /* [S] rows that are pooled, `first` relative to the packed rows; with hiding_rows those that are seen by others */
    const struct tn_span *spans;
    /*
     * The rows that are picked, counted from the beginning of their sequence: those of sequence s are
     * picks[pick_offsets[s] .. pick_offsets[s + 1] - 1]. NULL: none is.
     */
    const int32_t *picks, *pick_offsets;
    uint32_t sequences;
    const struct tn_cancel *const *cancel; /* [S] of the owners, entries may be NULL; or NULL */
    float *out;              /* [S, output_width], or a row of output_width for each token, or for each pick, in order */
    uint8_t *status;         /* [S]: TN_ITEM_* */
    const float *given;      /* [T, width] rows that a graph begins with (tn_graph_given); NULL: it begins with ids */
    tn_tap_fn tap;           /* NULL: none; with a tap everything runs on one thread */
    void *tap_user;
};

/*
 * One call of a graph, in the order of its ports: values of any heap in, values of the instance's out. The caller keeps its
 * references; it drops what came out before the next call. in[i] NULL: an initialiser gives the default.
 */
struct tn_tensor_call {
    struct tn_tensor *const *in; /* as many as the description lists */
    struct tn_tensor **out;      /* as many as the graph has outputs; NULL after a failure, and where not wanted */
    const bool *wanted;          /* NULL: all */
    const struct tn_cancel *cancel;
};

/* Who listens to the values of a graph. `by`: the operator that made it; `patch`: the rewriting that made that, or "". */
struct tn_teller {
    void (*tell)(void *user, struct tn_str value, struct tn_str node, struct tn_str by, struct tn_str patch, const struct tn_tensor *t);
    void *user;
};

/* What became of a sequence. BAD_INDEX: a token or type id beyond the rows of the embedding tables. */
enum { TN_ITEM_DONE, TN_ITEM_STOPPED, TN_ITEM_NOT_FINITE, TN_ITEM_BAD_INDEX };

struct tn_provider {
    const char *name;    /* "native" */
    const char *version; /* of its numeric behaviour */
    const char *scope;   /* "component" or "task" */
    /*
     * Whether it is there, and why not (valid as long as the provider); NULL: it is part of this build. Looks for it on first
     * use; `version` holds from then on.
     */
    bool (*present)(const struct tn_provider *p, const struct tn_finding **why);
    /* Where it runs; count 0: the CPU alone. */
    const struct tn_hint_device *devices;
    size_t device_count;
    /*
     * Whether a device is there that is not the CPU: a blocker with the loader's own reason where it is not. Called for such a
     * device alone, before assess: what asks for the CPU never looks at another. NULL: `devices` says it all.
     */
    enum tn_status (*probe_device)(const struct tn_provider *p, const struct tn_component_request *request,
                                   struct tn_findings *findings, struct tn_error *err);
    const char *const *dtypes; /* stored number types that it takes, by the standard's names; NULL: not stated */
    const struct tn_hint_answer *hint_answers; /* [TN_HINT_KINDS]; NULL: it has no use for hints */
    /* What hints can select in an eligible assessment, in the caller's arena; NULL: it names nothing. */
    enum tn_status (*nodes)(const struct tn_assessment *a, struct tn_arena *arena, struct tn_hint_node **out,
                            size_t *count, struct tn_error *err);
    /* Members for `tenon doctor`, in the caller's object. */
    void (*describe)(const struct tn_provider *p, struct tn_json_writer *w);
    /* Always fills *out (release with tn_assessment_release); fails only without memory. */
    enum tn_status (*assess)(const struct tn_provider *p, const struct tn_component_request *request,
                             struct tn_assessment *out, struct tn_error *err);
    /* Gives back what `state` owns outside the arena; NULL: nothing. */
    void (*forget)(struct tn_assessment *a);
    /* Provider-specific members of the plan document ("family", "audit", "graph", "kernels"). */
    void (*write)(const struct tn_assessment *a, struct tn_json_writer *w);
    /* What of the provider, build and machine belongs in a plan's fingerprint. */
    void (*fingerprint)(const struct tn_assessment *a, struct tn_sha256 *h);
    /*
     * `a` must be eligible and stay alive as long as the instance. A failure leaves nothing. That the provider cannot run this
     * after all is a code that tn_status_is_inability knows, and no other failure has such a code.
     */
    enum tn_status (*load)(const struct tn_assessment *a, const struct tn_component_request *request,
                           const struct tn_load_env *env, struct tn_instance **out, struct tn_error *err);
    enum tn_status (*invoke)(struct tn_instance *instance, const struct tn_invocation *call, struct tn_error *err);
    /* The same for a graph; NULL: the provider runs none. Under the same rule: one call at a time per instance. */
    enum tn_status (*run)(struct tn_instance *instance, const struct tn_tensor_call *call, struct tn_error *err);
    /*
     * The same for a comparison, telling values inside the graph by their names as they are made; a value that the provider has
     * made away with is not told. Of a provider that has to know names before it loads, those of request.told are told. NULL: none
     * can be seen.
     */
    enum tn_status (*run_told)(struct tn_instance *instance, const struct tn_tensor_call *call, const struct tn_teller *teller,
                               struct tn_error *err);
    /* Identity "weights": SHA-256 over the bound tensors by role, known once loaded. */
    struct tn_digest (*weights)(const struct tn_instance *instance);
    void (*release)(struct tn_instance *instance);
    /* Where the parts of a loaded component run, as they are and not as they were asked for; NULL: all on the CPU. */
    size_t (*partitions)(const struct tn_instance *instance, const struct tn_partition **out);
};

extern const struct tn_provider tn_native_provider;

void tn_assessment_release(struct tn_assessment *a);
const char *tn_decision_name(enum tn_decision decision);
/*
 * Whether a failure says that a provider cannot do this, and nothing else: another one may then be tried. Broken or changed
 * files, weights that do not fit, missing trust, memory or time, and whatever goes wrong by itself are no such failures.
 */
bool tn_status_is_inability(enum tn_status status);

#endif
