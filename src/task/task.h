/*
 * Tasks: what a request and a result mean (the contract) and how the one becomes the other (the recipe). One task per
 * file, one row per task in registry.c. A task decides from the description alone; it never sees a provider, a thread or
 * a lock.
 *
 * A recipe is a step machine. The scheduler calls advance again and again: each call takes back the results of the
 * sequences it asked for, and puts further sequences into a batch that it may share with other requests. It never
 * blocks and never invokes anything itself.
 */
#ifndef TN_TASK_TASK_H
#define TN_TASK_TASK_H

#include "describe/describe.h"
#include "describe/effective.h"
#include "kernel/kernel.h"
#include "tensor/tensor.h"
#include "text/tokenizer.h"

/* ---- assessment --------------------------------------------------------------------------------------------------- */

/* How a description serves a task. Zeroed where assessment found no way. */
struct tn_task_route {
    const struct tn_component *component;
    const struct tn_graph_facts *graph; /* the package's own computation, called with tensors; then no component */
    uint32_t first_module, module_end; /* modules[first, end) run inside the provider, behind the component */
    uint64_t max_tokens;               /* longest sequence, special tokens included */
    uint64_t hiding_rows;              /* longest sequence whose rows behind its span are seen by none; 0: none has such rows */
    const struct tn_head *head;        /* that runs inside the provider, behind the component; NULL: none */
    bool picked;                       /* ... on the tokens that the recipe picks, and on no others */
};

struct tn_recipe;
struct tn_doctype;

enum { TN_TASK_OPTIONS = 16 };

/* A request of some task that came as a document. */
struct tn_task_request {
    const void *typed;        /* what the recipe's measure and start take */
    uint32_t timeout_ms;
    const struct tn_str *ids; /* [count] JSON texts, .s NULL where an item has none; NULL: no item has one */
    size_t count;
};

struct tn_task {
    const char *name;     /* "embedding.dense" */
    const char *contract; /* "tenon.embedding.dense/v1"; a changed meaning is a new version */
    const struct tn_recipe *recipe;
    const char *what;     /* one line for `tenon tasks` */
    /* The contract's "result" and "invariants": members of the caller's object. */
    void (*write)(struct tn_json_writer *w);
    /* Every blocker goes to `findings`. Pure. */
    void (*assess)(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out);
    /* What the recipe does with this package (module places, prompts, truncation): members of the plan document. */
    void (*write_route)(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route);
    /*
     * What a request means where it says nothing, each option with who says so: at most TN_TASK_OPTIONS. `width` is the
     * provider's output. Strings in the arena or the description. NULL: the task has no options. Fails only without memory.
     */
    enum tn_status (*options)(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                              struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);
    /*
     * Beginnings of the names of facts that say that a package serves the task, the most telling first, NULL-terminated;
     * '#' stands for a number. None is the beginning of another.
     */
    const char *const *evidence;
    /* The request as a document: its table, and what turns a document that passed it into the typed request. */
    const struct tn_doctype *request;
    /* Strings are views of the document or in the arena; *timeout_ms is the request's. */
    enum tn_status (*read)(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err);
};

/* NULL past the end. */
const struct tn_task *tn_task_at(size_t index);
/* NULL when there is none of that name. */
const struct tn_task *tn_task_find(const char *name);
/* An array of all contracts. */
void tn_tasks_write(struct tn_json_writer *w);

/* ---- batches ------------------------------------------------------------------------------------------------------- */

/* Packed sequences for one invocation, of any number of requests. The memory is the scheduler's. */
struct tn_batch {
    int32_t *ids, *type_ids; /* [rows] */
    int32_t *offsets;        /* [sequences + 1] */
    struct tn_span *spans;   /* [sequences] */
    size_t *items;           /* [sequences] item of the request that the sequence belongs to */
    uint8_t *status;         /* [sequences] TN_SEQUENCE_* after the invocation */
    float *out;              /* [sequences, width]; by_row: [rows, width]; with max_picks: a row for each pick */
    size_t width;
    uint32_t rows, sequences, max_rows, max_sequences;
    bool by_row;             /* the provider gives a row for each token */
    /* [pick count], [sequences + 1]: tokens that are asked about, counted within their sequence */
    int32_t *picks, *pick_offsets;
    uint32_t max_picks;      /* 0: whole sequences are asked about */
};

enum { TN_SEQUENCE_DONE, TN_SEQUENCE_STOPPED, TN_SEQUENCE_NOT_FINITE };

/* ---- calls -------------------------------------------------------------------------------------------------------- */

/*
 * One call of the route's graph, in the order of its ports. The run that asks for it owns the values that go in. What comes
 * out belongs to the component, and the run takes a copy before it returns from the advance that it is given to.
 */
struct tn_graph_call {
    struct tn_tensor **in;  /* NULL: the graph's own default */
    struct tn_tensor **out; /* NULL after a failure, and where not wanted */
    const bool *wanted;     /* NULL: all */
};

/* ---- recipes -------------------------------------------------------------------------------------------------------- */

/* What a recipe learns once per load. All of it outlives the model that `prepare` makes. */
struct tn_recipe_env {
    const struct tn_context *ctx;
    const struct tn_description *d;
    const struct tn_task_route *route;
    const struct tn_text_tokenizer *tokenizer;
    uint64_t output_width; /* of the component and what runs behind it */
    uint64_t max_picks;    /* most tokens that one invocation asks about; 0: it asks about whole sequences */
    bool reduced;          /* computed in less than float32 */
};

/* Tokens of the text that did not fit the last batch are kept here, so that it is not tokenized twice. */
struct tn_recipe_scratch {
    struct tn_text_encoding encoding;
    uint64_t owner; /* id of the run whose item is in `encoding`; 0: nobody's */
    size_t item;
    bool oversize;  /* a long text made it grow: its keeper gives it back after the step */
};

struct tn_step {
    uint64_t run_id;                /* of this run in its session, never used twice, not 0 */
    const struct tn_batch *results; /* NULL: none; sequences [first, end) are this run's */
    uint32_t first, end;
    struct tn_graph_call *answered; /* the call that the advance before asked for, with what came out; NULL: none */
    struct tn_batch *wanted;        /* room for more; NULL: none wanted now */
    uint32_t row_quota;             /* the run's fair share of that room; the last text may pass it */
    uint64_t item_end;              /* items from here on wait until the reader has caught up */
    struct tn_recipe_scratch *scratch;
    /* set by advance */
    struct tn_graph_call *call; /* to be made for this run alone, instead of sequences in the batch; NULL: none */
    size_t ready;      /* items [0, ready) are final and may be delivered */
    bool more;         /* another call with `wanted` would do something */
    bool done;         /* every item is final */
};

struct tn_recipe_model; /* per session, immutable, shared by all runs */
struct tn_recipe_run;   /* per request */

struct tn_run_counts {
    uint64_t items, failed, truncated, tokens, sequences;
};

struct tn_recipe {
    const char *name;
    const char *version; /* changes whenever the same request would get another answer */

    enum tn_status (*prepare)(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err);
    void (*discard)(struct tn_recipe_model *model);
    /* Feeds what decides in which space the results live, beside weights and tokenizer. NULL: results have no space. */
    void (*space)(const struct tn_recipe_model *model, struct tn_sha256 *h);
    /*
     * A short legal sequence for the probe of a load: appended to the batch. Brings the scratch to its usual size. NULL: of
     * a graph nobody knows an input that it takes.
     */
    enum tn_status (*probe)(const struct tn_recipe_model *model, struct tn_batch *batch,
                            struct tn_recipe_scratch *scratch, struct tn_error *err);

    /* Checks the request as a whole and says what it will hold in memory; nothing is allocated. */
    enum tn_status (*measure)(const struct tn_recipe_model *model, const void *request, uint64_t *bytes,
                              struct tn_error *err);
    /* Copies what it needs of the request. `measure` has accepted it. */
    enum tn_status (*start)(const struct tn_recipe_model *model, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err);
    /* A failure ends the whole request; items that fail by themselves are events. */
    enum tn_status (*advance)(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err);
    /* Before finish: whether the execution has completed. NULL: nothing depends on it. */
    void (*settle)(struct tn_recipe_run *run, bool good);
    /* Ends the work: texts go, results stay. After this the model may be discarded. */
    void (*finish)(struct tn_recipe_run *run);
    void (*release)(struct tn_recipe_run *run);

    /*
     * Of a final item, also after finish; from any one thread while others are advanced. `item` counts what is delivered,
     * which is the request's order unless the task has another; the event's index is the request's.
     */
    void (*event)(const struct tn_recipe_run *run, size_t item, tn_event *out, struct tn_error *err);
    struct tn_run_counts (*counts)(const struct tn_recipe_run *run);
    uint64_t (*dimensions)(const struct tn_recipe_run *run); /* of a result; NULL where that has no meaning */
    /* The result document, after finish: members beside "data" (NULL: none), and of one item that has not failed. */
    void (*write_result)(const struct tn_recipe_run *run, struct tn_json_writer *w);
    void (*write_item)(const struct tn_recipe_run *run, size_t item, struct tn_json_writer *w);
    /* Members "options" and "result" of the account; after finish. `recipe` is the one that this is a hook of. */
    void (*account)(const struct tn_recipe *recipe, const struct tn_recipe_run *run, struct tn_json_writer *w);
};

/* Appends a sequence; false when it does not fit. `type_ids` NULL: zeros. The span is relative to the sequence. */
bool tn_batch_add(struct tn_batch *batch, size_t item, const uint32_t *ids, const uint32_t *type_ids, uint32_t count,
                  struct tn_span span);
/* The same with `filler` of type 0 behind the ids until the sequence has `total` tokens. */
bool tn_batch_add_filled(struct tn_batch *batch, size_t item, const uint32_t *ids, const uint32_t *type_ids, uint32_t count,
                         uint32_t filler, uint32_t total, struct tn_span span);
/* Asks about a token of the sequence that was added last, after those that it asked about before; false: no room. */
bool tn_batch_pick(struct tn_batch *batch, uint32_t token);
/* Takes back sequences [first, ...) */
void tn_batch_cut(struct tn_batch *batch, uint32_t first);
void tn_batch_clear(struct tn_batch *batch);
/* The rows of a sequence's result, and how many: one, or by_row as many as it has tokens, or as many as it has picks. */
float *tn_batch_result(const struct tn_batch *batch, uint32_t sequence, uint32_t *rows);

extern const struct tn_task tn_task_classify_text;
extern const struct tn_task tn_task_embedding_dense;
extern const struct tn_task tn_task_embedding_multi;
extern const struct tn_task tn_task_embedding_sparse;
extern const struct tn_task tn_task_fill;
extern const struct tn_task tn_task_question_answer;
extern const struct tn_task tn_task_rerank;
extern const struct tn_task tn_task_tag;
extern const struct tn_task tn_task_tensor;

#endif
