/*
 * tenon: an inference runtime. The only public header; unstable until 1.0.
 *
 * General rules, which hold where a function says nothing else:
 *  - Handles are opaque, made by a *_new / *_open / *_load / *_start function and released by the matching *_free.
 *    Freeing NULL does nothing. A handle keeps what it depends on alive: the order of freeing does not matter.
 *  - Every function that can fail returns a tn_status (TN_OK is 0) and takes a tn_error that may be NULL. On failure
 *    the output pointers are set to NULL (or 0) and nothing stays allocated.
 *  - Strings that go in are UTF-8 as pointer + length (tn_string) or NUL-terminated where the type is char *. Strings
 *    that come out are views valid until the handle that gave them is freed, unless stated.
 *  - Option structs start with their own size: set it with the initialiser TN_INIT(type). NULL options mean defaults.
 *  - Packages, plans, sessions, tokenizers and documents are immutable once made and may be used from any number of
 *    threads. An execution may be read by one thread at a time; tn_execution_cancel may come from any thread.
 *  - The library never prints, exits, reads the environment or opens the network.
 */
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TN_API __attribute__((visibility("default")))
#else
#define TN_API
#endif

#define TN_VERSION_MAJOR 0
#define TN_VERSION_MINOR 1
#define TN_VERSION_PATCH 0

/* A zeroed option struct that carries its size. */
#define TN_INIT(type) ((type){.struct_size = sizeof(type)})

/* ---- status codes --------------------------------------------------------------------------------------------- */

/* X(code, name in JSON, exit code of the command line). Codes are stable: the list only grows at its end. */
#define TN_STATUS_LIST(X)                                                                          \
    X(OK, "ok", 0)                                                                                 \
    X(ARTIFACT_MISSING, "artifact_missing", 3)                                                     \
    X(ARTIFACT_STALE, "artifact_stale", 3)                                                         \
    X(ARTIFACT_MALFORMED, "artifact_malformed", 3)                                                 \
    X(PATH_ESCAPE, "path_escape", 3)                                                               \
    X(RESOURCE_LIMIT, "resource_limit", 4)                                                         \
    X(AMBIGUOUS_PACKAGE, "ambiguous_package", 3)                                                   \
    X(UNKNOWN_DIALECT, "unknown_dialect", 3)                                                       \
    X(UNKNOWN_FAMILY, "unknown_family", 3)                                                         \
    X(UNSUPPORTED_CONFIG, "unsupported_config", 3)                                                 \
    X(METADATA_INVALID, "metadata_invalid", 3)                                                     \
    X(AMBIGUOUS_ROLE, "ambiguous_role", 3)                                                         \
    X(MISSING_CAPABILITY, "missing_capability", 3)                                                 \
    X(MISSING_TENSOR, "missing_tensor", 3)                                                         \
    X(UNEXPECTED_TENSOR, "unexpected_tensor", 3)                                                   \
    X(TENSOR_MISMATCH, "tensor_mismatch", 3)                                                       \
    X(DUPLICATE_TENSOR, "duplicate_tensor", 3)                                                     \
    X(UNSUPPORTED_QUANTIZATION, "unsupported_quantization", 3)                                     \
    X(UNSUPPORTED_TASK, "unsupported_task", 3)                                                     \
    X(TASK_HEAD_MISMATCH, "task_head_mismatch", 3)                                                 \
    X(UNSUPPORTED_PROCESSOR, "unsupported_processor", 3)                                           \
    X(UNSUPPORTED_OPERATOR, "unsupported_operator", 3)                                             \
    X(UNSUPPORTED_OPTION, "unsupported_option", 2)                                                 \
    X(TEMPLATE_FAILED, "template_failed", 1)                                                       \
    X(INPUT_TOO_LONG, "input_too_long", 2)                                                         \
    X(SHAPE_OUTSIDE_ENVELOPE, "shape_outside_envelope", 2)                                         \
    X(PROVIDER_UNAVAILABLE, "provider_unavailable", 3)                                             \
    X(VERSION_UNQUALIFIED, "version_unqualified", 3)                                               \
    X(PLACEMENT_REFUSED, "placement_refused", 5)                                                   \
    X(HINT_CONFLICT, "hint_conflict", 5)                                                           \
    X(CUSTOM_CODE_DENIED, "custom_code_denied", 5)                                                 \
    X(NETWORK_DENIED, "network_denied", 5)                                                         \
    X(INSUFFICIENT_MEMORY, "insufficient_memory", 4)                                               \
    X(BUSY, "busy", 4)                                                                             \
    X(DEADLINE_EXCEEDED, "deadline_exceeded", 4)                                                   \
    X(INVALID_REQUEST, "invalid_request", 2)                                                       \
    X(RUNTIME_FAILURE, "runtime_failure", 1)                                                       \
    X(NUMERICAL_FAILURE, "numerical_failure", 1)                                                   \
    X(CANCELLED, "cancelled", 130)                                                                 \
    X(DRAIN_FAILED, "drain_failed", 1)

typedef enum tn_status {
#define X(name, text, exit_code) TN_##name,
    TN_STATUS_LIST(X)
#undef X
} tn_status;

/* The name in JSON, e.g. "artifact_missing"; "unknown_status" for a number outside the list. Never NULL. */
TN_API const char *tn_status_name(tn_status status);
/* 0 done, 1 failed, 2 usage or invalid request, 3 refused, 4 resources or deadline, 5 policy, 130 interrupted. */
TN_API int tn_status_exit_code(tn_status status);
/* "0.1.0" */
TN_API const char *tn_version(void);

/* ---- basic types ---------------------------------------------------------------------------------------------- */

typedef struct tn_string {
    const char *data;
    size_t length; /* bytes */
} tn_string;

typedef struct tn_error tn_error;
typedef struct tn_document tn_document;
typedef struct tn_runtime tn_runtime;
typedef struct tn_cancel_token tn_cancel_token;
typedef struct tn_package tn_package;
typedef struct tn_plan tn_plan;
typedef struct tn_session tn_session;
typedef struct tn_execution tn_execution;
typedef struct tn_sequence tn_sequence;
typedef struct tn_tokenizer tn_tokenizer;
typedef struct tn_encoding tn_encoding;

/* ---- errors ---------------------------------------------------------------------------------------------------- */

/* A preallocated object (about 120 KB) that is filled by failing calls, reusable. NULL when the host has no memory. */
TN_API tn_error *tn_error_new(void);
TN_API void tn_error_free(tn_error *err);
TN_API tn_status tn_error_code(const tn_error *err);
/* Views valid until the error is filled again or freed; "" when there is nothing to say. */
TN_API const char *tn_error_phase(const tn_error *err);
TN_API const char *tn_error_message(const tn_error *err);
TN_API const char *tn_error_file(const tn_error *err);    /* path inside the package */
TN_API const char *tn_error_element(const tn_error *err); /* JSON pointer, tensor, option ... */
TN_API const char *tn_error_found(const tn_error *err);
TN_API const char *tn_error_expected(const tn_error *err);
TN_API const char *tn_error_remedy(const tn_error *err);
/* Whether the same call may succeed later as it is. */
TN_API bool tn_error_retryable(const tn_error *err);
/* Index of the request's item that is at fault, or -1. */
TN_API int64_t tn_error_item(const tn_error *err);
/* All findings behind the error: their number, and code and message of each. */
TN_API size_t tn_error_finding_count(const tn_error *err);
TN_API tn_status tn_error_finding_code(const tn_error *err, size_t index);
TN_API const char *tn_error_finding_message(const tn_error *err, size_t index);
/*
 * The object {code, phase, message, where, found, expected, remedy, retryable, findings} as JSON text. Returns the
 * length that the whole text has; when it is >= size, buf holds nothing useful and must be larger. Uses the host's
 * memory while it runs; returns 0 when there is none.
 */
TN_API size_t tn_error_json(const tn_error *err, char *buf, size_t size);

/* ---- documents ------------------------------------------------------------------------------------------------- */

/* JSON text that a function made. NUL-terminated; *length may be NULL. */
TN_API const char *tn_document_text(const tn_document *document, size_t *length);
TN_API void tn_document_free(tn_document *document);

/* ---- runtime --------------------------------------------------------------------------------------------------- */

typedef enum tn_log_level { TN_LOG_DEBUG, TN_LOG_INFO, TN_LOG_WARNING, TN_LOG_ERROR } tn_log_level;
/* `text` is valid during the call only. Called from any thread; must not call back into the runtime. */
typedef void (*tn_log_fn)(void *user, tn_log_level level, const char *text, size_t length);

/* A ceiling of the library by its name in tn_doctor's "limits", e.g. "text_bytes". */
typedef struct tn_limit {
    const char *name;
    uint64_t value;
} tn_limit;

typedef struct tn_runtime_options {
    size_t struct_size;
    /* Host allocator, both or neither; must return memory aligned to 16 bytes. Called from any thread. */
    void *(*allocate)(void *user, size_t size);
    void (*release)(void *user, void *p);
    void *allocator_user;
    tn_log_fn log;
    void *log_user;
    unsigned threads;           /* 0: as many as processors that this process may use */
    uint64_t memory_limit;      /* bytes of our allocator; 0: none */
    const char *cache_folder;   /* derived files, private; NULL: no cache on disk */
    const char *state_folder;   /* evidence records; NULL: no records */
    const tn_limit *limits;     /* ceilings that differ from the defaults; tn_doctor lists all of them */
    size_t limit_count;
    /* path of libonnxruntime.so, opened when it is first asked for; NULL: where the system's loader looks */
    const char *onnxruntime_library;
} tn_runtime_options;

TN_API tn_status tn_runtime_new(const tn_runtime_options *options, tn_runtime **out, tn_error *err);
/* Drops the caller's reference; the runtime ends when the last handle that came from it is freed. */
TN_API void tn_runtime_free(tn_runtime *runtime);

typedef struct tn_memory_info {
    size_t struct_size;
    uint64_t current_bytes, peak_bytes, blocks;
} tn_memory_info;
/* What the runtime's allocator holds. `reset_peak` starts a new measurement. */
TN_API void tn_runtime_memory(tn_runtime *runtime, bool reset_peak, tn_memory_info *out);

/* What this build and machine offer; the families' envelopes; the task contracts. JSON documents. */
TN_API tn_status tn_doctor(tn_runtime *runtime, tn_document **out, tn_error *err);
TN_API tn_status tn_families(tn_runtime *runtime, tn_document **out, tn_error *err);
TN_API tn_status tn_tasks(tn_runtime *runtime, tn_document **out, tn_error *err);
/* The capabilities that packages may require, and which of them this build offers. */
TN_API tn_status tn_capabilities(tn_runtime *runtime, tn_document **out, tn_error *err);

/* The documents that have a JSON Schema: {"schemas": [{name, id, what}]}. */
TN_API tn_status tn_schemas(tn_runtime *runtime, tn_document **out, tn_error *err);
/*
 * The JSON Schema (draft 2020-12) of one of them: "description", "package", "hints", "plan", "record" or "error". The same
 * build prints the same bytes. TN_INVALID_REQUEST with all names when there is no such document.
 */
TN_API tn_status tn_schema(tn_runtime *runtime, const char *name, tn_document **out, tn_error *err);

/* A request to stop that several calls may share. Request may come from any thread or a signal handler. */
TN_API tn_status tn_cancel_token_new(tn_runtime *runtime, tn_cancel_token **out, tn_error *err);
TN_API void tn_cancel_token_request(tn_cancel_token *token);
TN_API void tn_cancel_token_free(tn_cancel_token *token);

/* ---- package ---------------------------------------------------------------------------------------------------- */

typedef struct tn_package_options {
    size_t struct_size;
    const char *variant; /* id of one of the alternatives that the package holds; NULL: the only one */
    /* JSON pointers ("/field" of config.json, or "file.json#/pointer") the caller asserts to be descriptive */
    const char *const *descriptive;
    size_t descriptive_count;
    /* not 0: fields that an import drops or does not know are listed under "losses" instead of refusing the package */
    int accept_loss;
} tn_package_options;

/*
 * Reads a directory, a file or a local Hugging Face cache snapshot: headers and small documents only. A package that is
 * malformed or not understood still opens when its files can be listed: the findings are in tn_package_inspect, and
 * tn_plan_new refuses with all of them. Fails when there is nothing to list, or at a limit.
 */
TN_API tn_status tn_package_open(tn_runtime *runtime, const char *path, const tn_package_options *options,
                                 tn_package **out, tn_error *err);
TN_API void tn_package_free(tn_package *package);
/* dialect, variants, evidence, identity, components, tensors, files, findings as JSON. */
TN_API tn_status tn_package_inspect(tn_package *package, tn_document **out, tn_error *err);

typedef struct tn_description_options {
    size_t struct_size;
    const char *format; /* "yaml" (default) or "json": form of the inference-metadata document */
    int provenance;     /* not 0: *content lists the origin of each value */
} tn_description_options;

/*
 * What the package does, as two documents: *metadata in the ONNX inference-metadata form, and *content, the JSON of
 * tenon_package.json, for what that form cannot say. Placed beside the weights under the names inference_metadata.yaml
 * (or .json) and tenon_package.json they replace the documents of the package's own convention.
 */
TN_API tn_status tn_package_describe(tn_package *package, const tn_description_options *options, tn_document **metadata,
                                     tn_document **content, tn_error *err);
/*
 * Whether a metadata document holds: inference_metadata, tenon_package.json or execution_hints.json. A `name` that ends in
 * .yaml, .yml or .json says the form; under another name a text is JSON when it begins with { or [, else YAML, and its
 * content says which document it is. Alone, or the contract of a package with its artifacts. *out: path, kind, valid, identity (of
 * inference metadata, semantic) and findings, all of them. A document that is not valid is no failure of the call.
 */
TN_API tn_status tn_document_validate(tn_runtime *runtime, const char *name, const char *text, size_t length, int *valid,
                                      tn_document **out, tn_error *err);
TN_API tn_status tn_package_validate(tn_package *package, int *valid, tn_document **out, tn_error *err);
/* Reads every byte: fills identity.closure and identity.weights of later inspections. cancel may be NULL. */
TN_API tn_status tn_package_verify(tn_package *package, tn_cancel_token *cancel, tn_error *err);

typedef struct tn_graph_options {
    size_t struct_size;
    const char *format; /* "json" (default) or "dot", the language of Graphviz */
    int optimized;       /* not 0: as it is run, with the rewritings that were made under "patches" */
    const char *without; /* comma-separated names of rewritings to leave out, "all" for every one; NULL: none */
} tn_graph_options;

/*
 * The graph of a package that is one, as it stands in the file or as it is run: values with the types that follow, nodes in
 * the order in which they run. No weights are read. TN_UNSUPPORTED_TASK for other packages; a graph that cannot be run here is shown,
 * and one that cannot be read is refused with all problems.
 */
TN_API tn_status tn_package_graph(tn_package *package, const tn_graph_options *options, tn_document **out, tn_error *err);

/* ---- assessment and plan ---------------------------------------------------------------------------------------- */

typedef struct tn_plan_options {
    size_t struct_size;
    const char *task;          /* "embedding.dense" */
    const char *provider;      /* comma-separated, in order of preference; NULL: native */
    const char *device;        /* NULL or "cpu"; "gpu" or "npu" where a provider has it, with ":INDEX" for one of several */
    const char *placement;     /* NULL or "strict": all of it on that device; "split": parts may run on the CPU */
    const char *numeric;       /* "f32" (default) or "bf16" */
    const char *require_level; /* NULL: structurally valid may run */
    unsigned threads;          /* 0: all of the runtime's */
    uint64_t memory_limit;     /* bytes the session may take; 0: the runtime's limit */
    /*
     * Execution hints as JSON (the form of execution_hints.json): this call's own, which are the strongest, and those of a
     * file that the user keeps, with the name that findings call it by. NULL: none.
     */
    const char *hints;
    const char *user_hints, *user_hints_name;
    /* Of a package that is a graph: comma-separated names of rewritings to leave out, "all" for every one; NULL: none. */
    const char *without;
    /*
     * When the next provider of the list may stand in for one that cannot: NULL or "plan": where planning finds that out;
     * "load": also where loading does, which then loads with the next one. Broken files, weights that do not fit, missing
     * trust or memory are never a reason, nor is anything that happens once a session is loaded.
     */
    const char *fallback;
    const char *precision;  /* NULL or "keep": `numeric` or nothing; "change": another one where a provider lacks it */
    /* Comma-separated SHA-256 digests of code that may run, libraries of custom operators among it; NULL: none may. */
    const char *allow_code;
} tn_plan_options;

typedef enum tn_decision {
    TN_ELIGIBLE,
    TN_UNSUPPORTED, /* cannot be expressed */
    TN_UNQUALIFIED, /* expressible, evidence is missing */
    TN_UNKNOWN      /* not inspected */
} tn_decision;

/* Which providers can run the task and why not. Pure: no weights are read. The best decision goes to *decision. */
TN_API tn_status tn_assess(tn_package *package, const tn_plan_options *options, tn_decision *decision,
                           tn_document **out, tn_error *err);

/*
 * The same for every task: which the package serves, with the facts that say so, and for each other one every reason why
 * not. options->task is not looked at. *served: how many tasks have an eligible provider.
 */
TN_API tn_status tn_package_tasks(tn_package *package, const tn_plan_options *options, int *served, tn_document **out,
                                  tn_error *err);

TN_API tn_status tn_plan_new(tn_package *package, const tn_plan_options *options, tn_plan **out, tn_error *err);
/* A plan that tn_plan_json printed. TN_ARTIFACT_STALE when the package, the build or the machine no longer match. */
TN_API tn_status tn_plan_parse(tn_package *package, const char *json, size_t length, tn_plan **out, tn_error *err);
TN_API tn_status tn_plan_json(tn_plan *plan, tn_document **out, tn_error *err);
TN_API void tn_plan_free(tn_plan *plan);

/* ---- session ---------------------------------------------------------------------------------------------------- */

/* done and total in bytes of weights. Called on the loading thread; must not call back. */
typedef void (*tn_progress_fn)(void *user, uint64_t done, uint64_t total);

typedef struct tn_load_options {
    size_t struct_size;
    tn_cancel_token *cancel;
    uint32_t timeout_ms; /* 0: none */
    tn_progress_fn progress;
    void *progress_user;
} tn_load_options;

/* A transaction: prepares everything, probes it, publishes once; a failure leaves nothing. */
TN_API tn_status tn_session_load(tn_plan *plan, const tn_load_options *options, tn_session **out, tn_error *err);
/* Drops the caller's reference; executions that still run keep the session alive. */
TN_API void tn_session_free(tn_session *session);

/* ---- execution: pulled events ------------------------------------------------------------------------------------ */

typedef enum tn_tristate { TN_AUTO, TN_YES, TN_NO } tn_tristate;

/* What is cut from texts that are longer together than the model takes. */
typedef enum tn_truncation {
    TN_TRUNCATE_AUTO,          /* the longest first */
    TN_TRUNCATE_LONGEST_FIRST, /* token by token from whichever text is longer */
    TN_TRUNCATE_ONLY_FIRST,
    TN_TRUNCATE_ONLY_SECOND,
    TN_TRUNCATE_NO             /* such an item is TN_INPUT_TOO_LONG */
} tn_truncation;

typedef enum tn_side { TN_SIDE_AUTO, TN_SIDE_RIGHT, TN_SIDE_LEFT } tn_side; /* AUTO: as the tokenizer says */

typedef struct tn_embed_request {
    size_t struct_size;
    const tn_string *texts; /* read during the call only */
    size_t count;
    const char *role;       /* name of a prompt of the package; NULL: the default prompt, if any; "": no prompt */
    tn_tristate normalize;  /* TN_AUTO: as the package says */
    unsigned dimensions;    /* 0: all; fewer: the first ones, not normalised again unless asked */
    tn_truncation truncation; /* of a single text: TN_TRUNCATE_AUTO or TN_TRUNCATE_NO */
    tn_side side;
    bool atomic;            /* one bad item fails the whole request */
    unsigned batch;         /* most texts per step; 0: chosen by tokens */
    uint32_t timeout_ms;    /* deadline from start; 0: none */
} tn_embed_request;

/* What a number says. The same head gives either, by a function that the package states or the request asks for. */
typedef enum tn_score_kind {
    TN_SCORE_NONE,        /* the task has no scores */
    TN_SCORE_LOGIT,       /* the head's number as it is, or of two the difference: log-odds */
    TN_SCORE_PROBABILITY, /* sigmoid or softmax of logits, in float32 */
    TN_SCORE_VALUE,       /* of a regression: the predicted number, in the unit of the training data */
    TN_SCORE_OTHER        /* some other function of the logit, which the package states */
} tn_score_kind;
TN_API const char *tn_score_kind_name(tn_score_kind kind); /* "logit" ...; "unknown" outside the list */

typedef enum tn_score_choice {
    TN_SCORES_AUTO, /* as the package and its convention say */
    TN_SCORES_LOGIT,
    TN_SCORES_PROBABILITY
} tn_score_choice;

/* One vector per text over the vocabulary, of which few terms are not zero: embedding.sparse. */
typedef struct tn_sparse_request {
    size_t struct_size;
    const tn_string *texts; /* read during the call only */
    size_t count;
    const char *role;       /* name of a prompt; as in tn_embed_request */
    unsigned max_active;    /* most terms that are kept, the largest; 0: as the package says, else all */
    tn_truncation truncation; /* of a single text: TN_TRUNCATE_AUTO or TN_TRUNCATE_NO */
    tn_side side;
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
} tn_sparse_request;

/* Several vectors per text, one for each token that counts: embedding.multi. */
typedef struct tn_multi_request {
    size_t struct_size;
    const tn_string *texts; /* read during the call only */
    size_t count;
    const char *role;       /* "query" or "document": the package treats them differently, so that one must be named */
    tn_truncation truncation; /* of a single text: TN_TRUNCATE_AUTO or TN_TRUNCATE_NO */
    tn_side side;
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
} tn_multi_request;

typedef struct tn_classify_request {
    size_t struct_size;
    const tn_string *texts; /* read during the call only */
    size_t count;
    const tn_string *pairs; /* [count] second texts, data NULL where there is none; NULL: no text has one */
    const char *role;       /* name of a prompt; as in tn_embed_request */
    tn_score_choice scores;
    unsigned top_k;         /* most labels per item, best first; 0: as the contract says for the kind of problem */
    bool threshold_set;
    float threshold;        /* labels below it are left out */
    tn_truncation truncation;
    tn_side side;
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
} tn_classify_request;

typedef struct tn_rerank_request {
    size_t struct_size;
    tn_string query;            /* read during the call only, as the documents are */
    const tn_string *documents;
    size_t count;
    const char *role;           /* name of a prompt, in front of the query */
    tn_score_choice scores;
    unsigned top_k;             /* the best so many; 0: all */
    tn_truncation truncation;
    tn_side side;
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
} tn_rerank_request;

/* How tokens become spans; the words are those of transformers' token classification. */
typedef enum tn_aggregation {
    TN_AGGREGATE_NONE,   /* each token by itself */
    TN_AGGREGATE_SIMPLE, /* neighbours of one entity; B- begins another */
    TN_AGGREGATE_FIRST,  /* words first: each takes the label of its first token */
    TN_AGGREGATE_AVERAGE, /* ... of the mean of its tokens' probabilities */
    TN_AGGREGATE_MAX     /* ... of its surest token */
} tn_aggregation;

typedef struct tn_tag_request {
    size_t struct_size;
    const tn_string *texts; /* read during the call only */
    size_t count;
    tn_aggregation aggregation;
    bool keep_outside;      /* also spans of the label "O", which stands for no entity */
    bool want_logits;       /* every token's logits in the event */
    tn_truncation truncation; /* of a single text: TN_TRUNCATE_AUTO or TN_TRUNCATE_NO */
    tn_side side;
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
} tn_tag_request;

/* A span of the text with its label. `label` is valid until the execution is freed. */
typedef struct tn_tag {
    tn_string label;              /* as the package names it; without B- and I- where tokens were joined */
    float score;                  /* a probability */
    size_t begin, end;            /* bytes of the text, half-open */
    size_t begin_char, end_char;  /* the same in code points */
    size_t token, token_count;    /* place of its first token in the sequence, and how many it has */
} tn_tag;

/* Filling masks: for each mask token of a text the likeliest tokens. */
typedef struct tn_fill_request {
    size_t struct_size;
    const tn_string *texts;   /* read during the call only; one without a mask fails */
    size_t count;
    unsigned top_k;           /* most predictions per mask; 0: 5 */
    const tn_string *targets; /* [target_count] tokens of the vocabulary: only these are predicted; NULL: all */
    size_t target_count;
    tn_score_choice scores;   /* auto: a probability */
    bool want_logits;         /* the vocabulary's logits of each mask in the event */
    tn_truncation truncation; /* of a single text: TN_TRUNCATE_AUTO or TN_TRUNCATE_NO */
    tn_side side;
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
} tn_fill_request;

/* A token in the place of a mask. Texts are decoded, and valid until the execution is freed. */
typedef struct tn_fill {
    size_t id;
    tn_string token, sequence; /* the token alone, and the whole text with it; not NUL-terminated */
    float score;
} tn_fill;

typedef struct tn_mask {
    size_t position;             /* in the sequence, special tokens included */
    size_t begin, end;           /* bytes of the text, half-open */
    size_t begin_char, end_char; /* the same in code points */
    const tn_fill *fills;        /* [fill_count] best first, equal scores by id */
    size_t fill_count;
} tn_mask;
/* A question about each of several contexts. Answers are parts of the context; what is too long is read in windows. */
typedef struct tn_answer_request {
    size_t struct_size;
    tn_string question;          /* read during the call only, as the contexts are */
    const tn_string *contexts;
    size_t count;
    const tn_string *questions;  /* [count] a context's own, data NULL: `question`; NULL: no context has one */
    unsigned top_k;              /* most answers per context; 0: 1 */
    unsigned max_answer_tokens;  /* 0: 15 */
    unsigned max_tokens;         /* of a window, the question and special tokens included; 0: the model's, at most 384 */
    bool stride_set;             /* else half of max_tokens, at most 128 */
    unsigned stride;             /* tokens of the context that two neighbouring windows share */
    tn_tristate no_answer;       /* whether "no answer" is among the answers; TN_AUTO: as the package says, else not */
    tn_tristate align_words;     /* whether answers are widened to whole words; TN_AUTO: yes */
    bool want_logits;            /* every token's logits in the event */
    bool atomic;
    unsigned batch;
    uint32_t timeout_ms;
} tn_answer_request;

/* A part of the context, or "no answer". `text` is valid until the execution is freed. */
typedef struct tn_answer {
    float score;
    bool none;                    /* there is no answer: the text is empty, all places are 0 */
    tn_string text;
    size_t begin, end;            /* bytes of the context, half-open */
    size_t begin_char, end_char;  /* the same in code points */
} tn_answer;

/* ---- tensors: a package that is a graph, called as it is ---- */

typedef enum tn_value_kind {
    TN_VALUE_TENSOR,
    TN_VALUE_SEQUENCE, /* items of one type */
    TN_VALUE_MAP,      /* items[0]: the keys, a tensor of rank 1; items[1]: the values, as many */
    TN_VALUE_OPTIONAL, /* one item or none */
    TN_VALUE_JSON      /* of requests: JSON text that is read by the port's declared type; `tenon tasks` has the forms */
} tn_value_kind;

/*
 * A value of a port. A tensor's elements stand in row-major order, in the machine's byte order; types below a byte are
 * packed, the first element in the lowest bits; a bool is a byte; a string is a tn_string, and not NUL-terminated.
 */
typedef struct tn_port_value {
    tn_string name;       /* of the port, under a contract of the workflow's value; empty inside a group */
    tn_value_kind kind;
    const char *element;  /* "float32", "float16", "bfloat16", "int64", "bool", "string", "uint4" ...; of tensors */
    size_t rank;          /* at most 8 */
    const int64_t *dims;  /* [rank] */
    const void *data;
    size_t size;          /* bytes of data; of strings sizeof(tn_string) for each; of JSON the length of the text */
    const struct tn_port_value *items; /* [item_count] of groups */
    size_t item_count;
} tn_port_value;

typedef struct tn_tensor_request {
    size_t struct_size;
    const tn_port_value *inputs; /* read during the call only */
    size_t count;
    const tn_string *outputs;    /* names of the outputs that are wanted; NULL: all, of a contract what it publishes */
    size_t output_count;
    uint32_t timeout_ms;
    tn_sequence *sequence;       /* whose state the call starts from and hands on; NULL: the call stands alone */
} tn_tensor_request;

/* One label of a classifier with its score. `name` is valid until the execution is freed. */
typedef struct tn_label {
    size_t id;
    tn_string name;
    float score;
} tn_label;

typedef enum tn_event_kind {
    TN_EVENT_NONE,     /* nothing within the time */
    TN_EVENT_ITEM,     /* one result, or one item's failure */
    TN_EVENT_TERMINAL  /* the outcome; nothing follows */
} tn_event_kind;

typedef struct tn_event {
    tn_event_kind kind;
    tn_status status;       /* of the item or of the execution */
    size_t index;           /* of the item in the request */
    const float *embedding; /* [dimensions]; valid until the execution is freed */
    size_t dimensions;
    size_t tokens;          /* that were used, after truncation, special tokens included */
    size_t tokens_total;    /* before truncation */
    bool truncated;
    size_t failed_items;    /* terminal: how many items have failed */
    tn_score_kind score_kind; /* of `score` and of the labels' */
    float score;              /* rerank */
    /*
     * [logit_count] classify, rerank, tag (tokens times labels), fill (masks times vocabulary): what the head gave; valid
     * until the execution is freed
     */
    const float *logits;
    size_t logit_count;
    const tn_label *labels;   /* [label_count] classify: best first, equal scores by id */
    size_t label_count;
    const tn_tag *tags;       /* [tag_count] tag: in the order of the text; valid until the execution is freed */
    size_t tag_count;
    const tn_mask *masks;     /* [mask_count] fill: in the order of the text; valid until the execution is freed */
    size_t mask_count;
    size_t vectors;           /* embedding.multi: rows of `embedding`, which is [vectors, dimensions] */
    size_t active;            /* embedding.sparse: terms that are not zero; `dimensions` is the size of the vocabulary */
    const uint32_t *indices;  /* [active] ascending: the term's id; valid until the execution is freed, as `values` */
    const float *values;      /* [active] */
    const uint32_t *token_ids; /* [vectors] the token that each row stands for; valid until the execution is freed */
    /*
     * [answer_count] question-answer: best first; [window_count] tokens of each window, whose rows of two logits follow one
     * another where they were wanted. Valid until the execution is freed. Over several windows scores are added up and are
     * no probabilities any more: TN_SCORE_OTHER.
     */
    const tn_answer *answers;
    size_t answer_count;
    const size_t *window_tokens;
    size_t window_count;
    const tn_port_value *tensors; /* [tensor_count] tensor: the outputs, in the graph's order; valid until the execution is freed */
    size_t tensor_count;
} tn_event;

/* Checks and queues the request; TN_BUSY with figures when it is not admitted. */
TN_API tn_status tn_embed_start(tn_session *session, const tn_embed_request *request, tn_execution **out,
                                tn_error *err);
TN_API tn_status tn_embed_sparse_start(tn_session *session, const tn_sparse_request *request, tn_execution **out,
                                       tn_error *err);
TN_API tn_status tn_embed_multi_start(tn_session *session, const tn_multi_request *request, tn_execution **out,
                                      tn_error *err);
TN_API tn_status tn_classify_start(tn_session *session, const tn_classify_request *request, tn_execution **out,
                                   tn_error *err);
/* Documents come best first, equal scores by index, then those that failed by index; nothing before all are scored. */
TN_API tn_status tn_rerank_start(tn_session *session, const tn_rerank_request *request, tn_execution **out,
                                 tn_error *err);
TN_API tn_status tn_fill_start(tn_session *session, const tn_fill_request *request, tn_execution **out, tn_error *err);
TN_API tn_status tn_answer_start(tn_session *session, const tn_answer_request *request, tn_execution **out,
                                 tn_error *err);
TN_API tn_status tn_tag_start(tn_session *session, const tn_tag_request *request, tn_execution **out, tn_error *err);
/*
 * One call of the graph; its result is one item. Names, types, ranks and dimensions are checked before anything runs
 * (TN_INVALID_REQUEST with all problems). Calls of one session run one after another.
 */
TN_API tn_status tn_tensor_start(tn_session *session, const tn_tensor_request *request, tn_execution **out, tn_error *err);

/*
 * State that goes from one call of a session to the next, for packages that declare it (TN_INVALID_REQUEST otherwise). Its
 * ports are then neither inputs nor outputs of a call: the first call begins with the declared initial values, or with what
 * it gives where none are declared. State changes when a call has completed, all of it, and never otherwise: after a failure,
 * a cancel or a deadline it is what it was. One call at a time may use a sequence, from its start until its work has stopped
 * (TN_BUSY, retryable); that holds for the functions below, too. Its memory counts in the session's.
 */
TN_API tn_status tn_sequence_new(tn_session *session, tn_sequence **out, tn_error *err);
TN_API void tn_sequence_free(tn_sequence *sequence);
/* Back to the beginning. */
TN_API tn_status tn_sequence_reset(tn_sequence *sequence, tn_error *err);
/* A second one with the same state, which goes its own way. */
TN_API tn_status tn_sequence_fork(tn_sequence *sequence, tn_sequence **out, tn_error *err);
/*
 * All states by their names, each a tensor; `element` NULL while the sequence has not begun. Views, valid until the next call
 * with the sequence, a reset, a set, or its end.
 */
TN_API tn_status tn_sequence_get(tn_sequence *sequence, const tn_port_value **values, size_t *count, tn_error *err);
/* The same in the other direction: all states or none; checked like inputs. */
TN_API tn_status tn_sequence_set(tn_sequence *sequence, const tn_port_value *values, size_t count, tn_error *err);
/* The request of whatever task the session serves, in its JSON form (tn_tasks, `tenon tasks`). */
TN_API tn_status tn_request_start(tn_session *session, const char *json, size_t length, tn_execution **out, tn_error *err);
/*
 * The next event, waiting up to timeout_ms (0: do not wait, UINT32_MAX: for ever). Items come in request order, unless
 * the task says otherwise. For a
 * failed item or outcome err is filled as well; the return value is TN_OK unless the call itself was wrong.
 */
TN_API tn_status tn_execution_next(tn_execution *execution, uint32_t timeout_ms, tn_event *event, tn_error *err);
/*
 * Asks it to stop; items that are ready and then the terminal event follow, whether or not the provider has let go yet.
 * Any thread, any number of times.
 */
TN_API void tn_execution_cancel(tn_execution *execution);
/* Waits until the work has really stopped and its memory is free: TN_OK, or TN_DRAIN_FAILED when the time is over. */
TN_API tn_status tn_execution_drain(tn_execution *execution, uint32_t timeout_ms, tn_error *err);
/*
 * Once the work has stopped (TN_BUSY before): task, contract, recipe, provider, family, build, outcome, evidence_level,
 * identity {manifest, weights, tokenizer, closure, plan, space}, numeric, plan {id, options}, options (of the request)
 * and result {dimensions, normalized, role}, counts, timings_ms. Every option is {value, origin}.
 */
TN_API tn_status tn_execution_account(tn_execution *execution, tn_document **out, tn_error *err);
/*
 * Once the work has stopped: task, contract, what the task says about its result as a whole, "data" with an object for each
 * item that was delivered or is ready ({index, id?, ...} or {index, id?, error}), and "account".
 */
TN_API tn_status tn_execution_result(tn_execution *execution, tn_document **out, tn_error *err);
/* Cancels when still running, waits for the work to stop, releases results. */
TN_API void tn_execution_free(tn_execution *execution);

/* Space id and role, normalisation and dimension of a session's embeddings are in the account document. */

/* ---- tokenizer --------------------------------------------------------------------------------------------------- */

TN_API tn_status tn_tokenizer_open(tn_package *package, tn_tokenizer **out, tn_error *err);
TN_API void tn_tokenizer_free(tn_tokenizer *tokenizer);

typedef struct tn_encode_request {
    size_t struct_size;
    tn_string text;
    tn_string pair;     /* data NULL: none */
    bool no_special;    /* do not add special tokens */
    size_t max_tokens;  /* 0: no truncation; else keep at most so many, special tokens included */
} tn_encode_request;

/* Offsets are bytes of the text (or of the pair where type id says so), half-open; special tokens have [0, 0]. */
typedef struct tn_tokens {
    const uint32_t *ids;
    const uint32_t *type_ids;
    const uint32_t *attention_mask;
    const uint32_t (*offsets)[2];
    size_t count;
    bool truncated;
} tn_tokens;

TN_API tn_status tn_tokenizer_encode(tn_tokenizer *tokenizer, const tn_encode_request *request, tn_encoding **out,
                                     tn_error *err);
TN_API tn_tokens tn_encoding_tokens(const tn_encoding *encoding);
/* The vocabulary's text of token i of the encoding; data NULL when i is out of range. */
TN_API tn_string tn_encoding_token(const tn_encoding *encoding, size_t i);
TN_API void tn_encoding_free(tn_encoding *encoding);

/* ---- qualification ------------------------------------------------------------------------------------------------ */

typedef struct tn_qualify_options {
    size_t struct_size;
    const tn_plan_options *plan;
    const char *golden; /* path of a golden file; NULL: the task's invariants alone */
    tn_cancel_token *cancel;
} tn_qualify_options;

/* Runs the suite, stores a record when the runtime has a state folder, and returns the record. */
TN_API tn_status tn_qualify(tn_package *package, const tn_qualify_options *options, tn_document **out, tn_error *err);
/* All records: short rows, one whole (id), or everything with its provenance. */
TN_API tn_status tn_records_list(tn_runtime *runtime, tn_document **out, tn_error *err);
TN_API tn_status tn_records_show(tn_runtime *runtime, const char *id, tn_document **out, tn_error *err);
TN_API tn_status tn_records_export(tn_runtime *runtime, tn_document **out, tn_error *err);
/*
 * What a record rests on: {id, level, holds, dependencies: [{kind, then, now, state}], evidence: [{evidence, holds, fell,
 * checks}], withdrawn, replaced_by}. `now` is this build and machine, and with a package what that is (NULL: not known).
 */
TN_API tn_status tn_records_why(tn_runtime *runtime, const char *id, tn_package *package, tn_document **out, tn_error *err);
/*
 * Says that a record no longer counts, and why: a record of its own that stands against it, and hides what is older of the
 * same route. *out: that record. Nothing is deleted. A later qualification of the route replaces it.
 */
TN_API tn_status tn_records_withdraw(tn_runtime *runtime, const char *id, const char *reason, tn_document **out, tn_error *err);

/* ---- comparison ----------------------------------------------------------------------------------------------------- */

typedef struct tn_compare_options {
    size_t struct_size;
    const tn_plan_options *plan; /* the task and what both have in common; its provider is not looked at */
    /*
     * Two of them: "native,onnxruntime". Behind a name stand options that differ, e.g. "native:without=all",
     * "native:numeric=bf16:threads=1"; parts of one value are joined by "+". The second one is the reference.
     */
    const char *providers;
    const tn_tensor_request *tensors; /* what is asked, for the task `tensor` */
    const char *request;              /* or, for any task, the request as JSON; `tenon tasks` has the forms */
    size_t request_length;
    double absolute, relative; /* |a - b| <= absolute + relative * |b| for every number; both 0: by the types of the outputs */
    int layers;                /* not 0: also the first value inside that differs; for packages that are a graph */
    int record;                /* not 0: keeps a record, when the reference is another provider */
    tn_cancel_token *cancel;
    uint32_t timeout_ms;       /* of each request; 0: none */
} tn_compare_options;

/*
 * Asks two providers the same and holds the answers against each other: per output the largest absolute and relative
 * difference, cosine, agreement of the largest entries, and numbers that are not finite. *agree: whether every output is inside
 * its tolerance. That answers differ is no failure of the call; that one cannot be had is.
 */
TN_API tn_status tn_compare(tn_package *package, const tn_compare_options *options, int *agree, tn_document **out, tn_error *err);

#ifdef __cplusplus
}
#endif

#endif
