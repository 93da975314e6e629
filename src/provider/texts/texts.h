/*
 * Texts through a graph: what any provider that runs graphs (tn_provider.run) needs to serve a component whose weights are
 * one. Packed sequences become calls [batch, sequence] with a mask, and what comes out becomes packed rows again. Which ports
 * are which was settled by the description (struct tn_graph_texts); what follows the graph, the package's modules, is a
 * program of the native provider (native.h, tn_native_tail_*).
 *
 * Padding. Texts of like length share a call, longest first; the mask hides what a shorter one lacks. Where numbers depend on
 * their company whatever the mask says (scales that a graph takes from all it is given at once), every text has a call of its
 * own: alone and in company a text gives the same.
 */
#ifndef TN_PROVIDER_TEXTS_TEXTS_H
#define TN_PROVIDER_TEXTS_TEXTS_H

#include "provider/native/tail.h"

/* Rows of one call: enough that a graph's matrices are busy, few enough that a cancel waits little. */
enum { TN_TEXT_CALL_ROWS = 512 };

struct tn_text_graph {
    const struct tn_graph_facts *graph;
    uint32_t output;  /* of the view: the rows */
    bool whole;       /* a row for each text, [batch, width]; else one for each token */
    bool alone;       /* one text per call */
    bool hides;       /* rows behind a sequence's span are seen by none */
    bool from_pad;    /* positions count from the padding index */
    uint64_t width;
    uint64_t length;  /* that the graph fixes for every text; 0: any */
    uint64_t vocab_size, type_count, pad_id, max_rows;
};

/* ---- the graph's ports ---------------------------------------------------------------------------------------------- */

/* How the request's component goes through its graph. What the graph cannot give becomes blockers. Pure. */
void tn_text_graph_make(struct tn_text_graph *t, const struct tn_component_request *r, struct tn_findings *findings);
/* The member "texts" of a plan: which ports, how they are padded. */
void tn_text_graph_write(struct tn_json_writer *w, const struct tn_text_graph *t);
void tn_text_graph_fingerprint(const struct tn_text_graph *t, struct tn_sha256 *h);
/* Most bytes of a call's operands and of its rows. */
uint64_t tn_text_graph_bytes(const struct tn_text_graph *t);

/* ---- calls of the graph (runner.c) ------------------------------------------------------------------------------------ */

typedef enum tn_status tn_graph_run_fn(void *user, const struct tn_tensor_call *call, struct tn_error *err);

/* A text graph with who runs it, over memory of a session. */
struct tn_text_runner {
    const struct tn_text_graph *texts;
    tn_graph_run_fn *run;
    void *user;
    struct tn_alloc *alloc;
    struct tn_heap heap;       /* of the operands; tn_text_runner_init */
    struct tn_tensor **in, **out; /* by port */
    bool *wanted;
};
enum tn_status tn_text_runner_init(struct tn_text_runner *x, const struct tn_text_graph *t, tn_graph_run_fn *run, void *user,
                                   struct tn_alloc *alloc, struct tn_error *err);
void tn_text_runner_release(struct tn_text_runner *x);

/*
 * Runs every sequence of the invocation and sets its status. `rows`: [T, width], or [S, width] of whole texts, in the
 * invocation's order; NULL: results go to call->out, with picks those of the picked rows alone. A sequence that did not run
 * leaves its rows as they were. TN_SHAPE_OUTSIDE_ENVELOPE when the caller broke the contract.
 */
enum tn_status tn_text_runner_invoke(struct tn_text_runner *x, const struct tn_invocation *call, float *rows, struct tn_error *err);

/* ---- with what follows (through.c) --------------------------------------------------------------------------------------- */

/* In an assessment's arena. */
struct tn_texts_plan {
    struct tn_text_graph graph;
    struct tn_native_program *tail; /* the modules behind its rows; NULL: there are none */
};

/*
 * Texts through the graph of an assessment that found the graph itself eligible: sets a->output_*, adds to a->estimate. What
 * stands in the way becomes blockers. tn_texts_forget in any case (takes NULL).
 */
enum tn_status tn_texts_assess(const struct tn_component_request *r, struct tn_assessment *a, struct tn_texts_plan **out, struct tn_error *err);
void tn_texts_forget(struct tn_texts_plan *plan);
/* Members "texts" and "graph" of a plan. */
void tn_texts_write(struct tn_json_writer *w, const struct tn_texts_plan *plan);
void tn_texts_fingerprint(const struct tn_texts_plan *plan, struct tn_sha256 *h);

struct tn_texts;
/*
 * Loaded: `run` answers calls of the graph. *weights, which is the identity of the graph's weights, becomes that of both
 * together. A failure leaves nothing.
 */
enum tn_status tn_texts_load(const struct tn_assessment *a, const struct tn_texts_plan *plan, const struct tn_component_request *r,
                             const struct tn_load_env *env, tn_graph_run_fn *run, void *user, struct tn_texts **out, struct tn_digest *weights,
                             struct tn_error *err);
/* tn_provider.invoke. */
enum tn_status tn_texts_invoke(struct tn_texts *t, const struct tn_invocation *call, struct tn_error *err);
void tn_texts_release(struct tn_texts *t);

#endif
