/*
 * Sessions and executions. A session is a loaded plan: weights, tokenizer and recipe, shared and immutable, in a memory
 * lease of its own. An execution is one request on its way through the session. The scheduler joins what executions want
 * into invocations and is the only caller of the provider.
 *
 * Who works. Each session has one driver thread, and any caller that waits for events takes over its role when it is
 * free: then a single short text costs no switch between threads. Whoever holds the role (`driving`) runs steps without
 * the lock; nobody else touches runs, batch or provider meanwhile.
 *
 * Lock order: there is one lock per session and nothing is locked inside it, except the allocator of the host. Providers,
 * recipes' steps and caller's functions are never called while it is held; recipe->finish (which only frees) is.
 *
 * Lifetime. The session lives until its handle and all its executions are freed, because their memory is counted in its
 * lease. What it has loaded goes earlier: when the handle is freed and no execution is running, on the thread that
 * brought that about. Results stay readable until their execution is freed.
 */
#ifndef TN_SESSION_SESSION_H
#define TN_SESSION_SESSION_H

#include "base/os_thread.h"
#include "plan/plan.h"

enum {
    TN_TEAM = 64,              /* executions that share one invocation */
    TN_EXECUTIONS = 1024,      /* running at once per session, before start says busy */
    TN_EVENT_QUEUE = 1024,     /* items that may wait for the reader before the producer pauses, at least */
    TN_DRIVE_TIMEOUT_MS = 250, /* a wait of at least this length may do the work itself, and overshoot by one step */
};

struct tn_member { /* an execution's part in the current step */
    struct tn_execution *execution;
    uint32_t first, end; /* its sequences in the batch */
    struct tn_graph_call *call; /* or what it calls the graph with; NULL: nothing */
    bool answered;       /* the call was made */
    size_t ready;
    uint64_t item_end;
    bool more, done;
    enum tn_status failed;
    uint64_t prepare_ns, invoke_ns;
};

struct tn_session {
    struct tn_ref ref; /* the handle and each execution that is not freed */
    struct tn_plan *plan;
    struct tn_pool *pool;
    struct tn_alloc *host;  /* the runtime's; this struct lives there */
    struct tn_alloc lease;  /* everything else; a budget inside the host's */
    struct tn_context ctx;  /* over the lease */
    struct tn_component_request request;

    /* loaded; released by unload */
    const struct tn_provider *provider;
    struct tn_text_tokenizer *tokenizer;
    struct tn_recipe_model *model;
    struct tn_instance *instance;
    struct tn_batch batch;
    const struct tn_cancel **cancels; /* [sequences] of the batch */
    struct tn_recipe_scratch scratch;
    struct tn_error *error;           /* of the current step */
    size_t queue_items;               /* TN_EVENT_QUEUE, or two batches of the shortest texts if that is more */
    double row_ns;                    /* of a row in recent invocations; whoever drives */
    struct tn_digest weights, tokenizer_id, space;
    enum tn_level level; /* of the evidence, now that the weights are known */
    bool unable; /* while loading: the provider cannot run this after all */
    const struct tn_teller *teller; /* of calls of a graph, for comparisons: set before a request, by whoever loaded; NULL */
    struct tn_buf partitions; /* JSON array: where the parts of the component are; empty: the provider does not say */

    struct tn_mutex lock;
    struct tn_cond wake; /* the driver thread waits here */
    struct tn_thread driver;
    bool have_lock, have_wake, have_driver;
    /* guarded by the lock */
    bool driving, handle_gone, unloaded;
    struct tn_execution *ring; /* running executions; the next to be served first */
    uint32_t running;
    uint64_t held_bytes; /* of executions that are not freed */
    uint64_t started, invocations;
    struct tn_member team[TN_TEAM]; /* whoever drives */
    uint32_t team_size;
};

struct tn_load_request {
    struct tn_pool *pool;           /* outlives the session */
    const struct tn_cancel *cancel; /* NULL: none */
    tn_progress_fn progress;
    void *progress_user;
};

/* ---- load.c -------------------------------------------------------------------------------------------------------- */

/*
 * Loads as one transaction: files unchanged, memory admitted, tokenizer, weights, probe, files still unchanged, publish.
 * Takes its own reference on the plan. Any failure, cancel or deadline leaves nothing.
 */
enum tn_status tn_session_open(struct tn_plan *plan, const struct tn_load_request *request, struct tn_session **out,
                               struct tn_error *err);
/* The caller's handle goes; running executions finish first. */
void tn_session_close(struct tn_session *s);
/* Drops one reference; the last one ends the driver thread and frees. Not on the driver thread. */
void tn_session_drop(struct tn_session *s);
/* Releases what is loaded. No execution is running and nobody drives. */
void tn_session_unload(struct tn_session *s);

/* ---- tokenizer.c --------------------------------------------------------------------------------------------------- */

/* Builds the tokenizer that a description names; also for use without a session. */
enum tn_status tn_tokenizer_build(const struct tn_context *ctx, const struct tn_description *d,
                                  struct tn_text_tokenizer **out, struct tn_error *err);

/* For tn_describe: builds it, says what is wrong with it or what of the description it does not carry, and lets it go. */
enum tn_status tn_tokenizer_judge(const struct tn_description *d, struct tn_json file, struct tn_tokenizer_judgement *j,
                                  struct tn_findings *findings, struct tn_error *err);

/*
 * tokenizer_markers.c: the tokenizer that keeps the markers of a package whole, in the place of *t, made from `root`, the
 * document that *t was made from. Where none is taken apart, *t stays.
 */
enum tn_status tn_tokenizer_keep_markers(const struct tn_context *ctx, const struct tn_multi_vector *m, struct tn_json root,
                                         struct tn_text_tokenizer **t, struct tn_error *err);

/* ---- scheduler.c ---------------------------------------------------------------------------------------------------- */

/* Body of the driver thread. */
void *tn_scheduler_thread(void *session);
/*
 * Works until `own` has something to tell, or with `drain` until it has finished (own NULL: until nothing is left), or
 * until the clock passes `until_ns` (0: no matter). Called with the lock and without the role; returns with the lock.
 */
void tn_scheduler_drive(struct tn_session *s, const struct tn_execution *own, bool drain, uint64_t until_ns);
/* Ends the caller's section: unlocks, and unloads when that is due. */
void tn_scheduler_leave(struct tn_session *s);
/* Whether somebody has to look after the session: called with the lock, after work was added. */
void tn_scheduler_wake(struct tn_session *s);

/* ---- execution.c ---------------------------------------------------------------------------------------------------- */

struct tn_execution {
    struct tn_session *session;
    struct tn_plan *plan;
    const struct tn_recipe *recipe;
    struct tn_recipe_run *run;
    struct tn_cancel cancel;
    uint64_t id;    /* of this session's executions, from 1 */
    uint64_t bytes; /* as admitted */
    uint64_t start_ns;
    /* guarded by the session's lock */
    struct tn_execution *next, *prev; /* in the ring while running */
    struct tn_cond changed;
    unsigned waiters;
    bool busy;     /* part of the current step */
    bool decided;  /* `outcome` stands: nothing more will be produced */
    bool finished; /* the work has stopped, its memory is free */
    bool more;     /* a step would do something */
    bool told;     /* the terminal event was pulled */
    size_t ready, pulled;
    enum tn_status outcome;
    struct tn_finding failure; /* of an outcome other than TN_OK */
    struct tn_arena arena;       /* of `ids` */
    const struct tn_str *ids;    /* [id_count] JSON texts of a request that came as a document; NULL: none */
    size_t id_count;
    struct tn_run_counts counts; /* as of the last step */
    uint64_t first_ns, prepare_ns, invoke_ns, steps, end_ns;
};

enum tn_status tn_execution_begin(struct tn_session *s, const void *request, uint32_t timeout_ms,
                                  struct tn_execution **out, struct tn_error *err);
enum tn_status tn_execution_pull(struct tn_execution *x, uint32_t timeout_ms, tn_event *event, struct tn_error *err);
void tn_execution_stop(struct tn_execution *x);
enum tn_status tn_execution_wait(struct tn_execution *x, uint32_t timeout_ms, struct tn_error *err);
void tn_execution_end(struct tn_execution *x);

/* With the lock: the outcome is `st` unless there is one already; err may be NULL. */
void tn_execution_decide(struct tn_execution *x, enum tn_status st, const struct tn_error *err);
/* With the lock, when it is decided and not busy: frees the working memory and leaves the ring. */
void tn_execution_finish(struct tn_execution *x);
/* With the lock: whether the reader has something to hear. */
bool tn_execution_has_news(const struct tn_execution *x);
/* With the lock: whether a step would do something now. */
bool tn_execution_wants_work(const struct tn_execution *x);

/* ---- account.c ------------------------------------------------------------------------------------------------------- */

/* TN_BUSY while the work has not stopped. `closure` is the package's, NULL when it is not known. */
enum tn_status tn_execution_account_write(struct tn_execution *x, const struct tn_digest *closure,
                                          struct tn_json_writer *w, struct tn_error *err);
/* The result document: task, what it says as a whole, an object per item, account. TN_BUSY as above. */
enum tn_status tn_execution_result_write(struct tn_execution *x, const struct tn_digest *closure, struct tn_json_writer *w,
                                         struct tn_error *err);

/* ---- request.c ------------------------------------------------------------------------------------------------------- */

/* Starts the request of the session's task that a document holds. The text is read during the call only. */
enum tn_status tn_execution_begin_document(struct tn_session *s, struct tn_str text, struct tn_execution **out,
                                           struct tn_error *err);

#endif
