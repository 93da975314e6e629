/*
 * Assessment and plan. Assessment is a relation over package, task, options, build and machine: for every provider a
 * decision with every blocker. A plan is one of its eligible rows made immutable: exactly how the task will run, with
 * the origin of each choice, a fingerprint and the memory that it will need. Both are pure: headers and documents only,
 * no weights, no residency, no refusal for lack of memory.
 *
 * What the layers above decide arrives as data: the list of providers, the machine's threads, the store of records, and
 * what the plan must keep alive.
 */
#ifndef TN_PLAN_PLAN_H
#define TN_PLAN_PLAN_H

#include "base/ref.h"
#include "describe/effective.h"
#include "provider.h"
#include "record/record.h"
#include "task/task.h"

/* ---- policy: the effective options ------------------------------------------------------------------------------ */

/* The options of a plan in the order of its document. */
#define TN_PLAN_OPTION_LIST(X)                                                                     \
    X(TASK, "task")                                                                                \
    X(PROVIDER, "provider")                                                                        \
    X(DEVICE, "device")                                                                            \
    X(PLACEMENT, "placement")                                                                      \
    X(NUMERIC, "numeric")                                                                          \
    X(REQUIRE_LEVEL, "require_level")                                                              \
    X(THREADS, "threads")                                                                          \
    X(MEMORY_LIMIT, "memory_limit")                                                                \
    X(WITHOUT, "without")                                                                          \
    X(FALLBACK, "fallback")                                                                        \
    X(PRECISION, "precision")                                                                      \
    X(ALLOW_CODE, "allow_code")

enum tn_plan_option {
#define X(name, text) TN_OPTION_##name,
    TN_PLAN_OPTION_LIST(X)
#undef X
    TN_PLAN_OPTIONS
};

const char *tn_plan_option_name(enum tn_plan_option option);

enum { TN_POLICY_PROVIDERS = 8 };

/* Strings live in the owner's arena. */
struct tn_policy {
    const char *task_name, *provider_list, *device, *placement, *numeric;
    const char *require_level; /* NULL: whatever is structurally valid may run */
    const char *without;       /* names of rewritings to leave out; NULL: none */
    const char *fallback, *precision;
    const char *allow_code;    /* digests, as the caller wrote them; NULL: none */
    uint64_t threads, memory_limit; /* limit in bytes, 0: none */
    struct tn_option option[TN_PLAN_OPTIONS]; /* the same with who said it, and against whom */
    /* resolved */
    const struct tn_task *task; /* NULL: unknown */
    const char *providers[TN_POLICY_PROVIDERS];
    uint32_t provider_count;
    enum tn_level level;
    struct tn_hint_device place;
    bool split;
    bool falls_at_load;      /* the next provider may be loaded when one cannot be */
    bool precision_changes;  /* another numeric policy may stand in */
    struct tn_digest *code;  /* [code_count] that may run */
    uint32_t code_count;
};

struct tn_policy_defaults {
    uint64_t threads, memory_limit, most_threads;
    uint64_t machine_memory; /* 0: not known */
};

/*
 * Effective options. `origin` NULL: what is set in `options` comes from the request. `place` is the hint that places
 * everything, or NULL. Every option that cannot be obeyed is a blocker. Fails itself only without memory.
 */
enum tn_status tn_policy_make(struct tn_policy *policy, struct tn_arena *arena, const tn_plan_options *options,
                              const enum tn_choice_origin *origin, const struct tn_hint *place,
                              const struct tn_policy_defaults *defaults, struct tn_findings *findings,
                              struct tn_error *err);
/*
 * Whether evidence of this level is enough. What was withdrawn is enough for whoever says that "recognised" is, which is less
 * than anybody requires who says nothing: so it can be looked into, and be qualified again.
 */
bool tn_policy_accepts(const struct tn_policy *policy, enum tn_level level);
/* Member "options": each with value, origin, and what it overrides. */
void tn_policy_write(struct tn_json_writer *w, const struct tn_policy *policy);

/* ---- hints ---------------------------------------------------------------------------------------------------------- */

enum { TN_PLAN_HINT_LISTS = 2 };

/* The hints of all origins. Texts of the request are kept so that a printed plan can be made again. */
struct tn_plan_hints {
    struct tn_str caller, user, user_name; /* .s NULL: none */
    struct tn_hint_list asked;             /* of caller and user */
    const struct tn_hint_list *lists[TN_PLAN_HINT_LISTS]; /* `asked`, and the package's own */
};

/* Reads the request's hints beside those of the description; problems are blockers. Fails only without memory. */
enum tn_status tn_plan_hints_read(struct tn_plan_hints *hints, const struct tn_description *d,
                                  const tn_plan_options *options, const struct tn_limits *limits, struct tn_arena *arena,
                                  struct tn_findings *findings, struct tn_error *err);

struct tn_survey;
struct tn_survey_row;
/* Holds the hints against what the row's provider has: outcomes and findings of the row. */
enum tn_status tn_plan_hints_judge(struct tn_survey *survey, struct tn_survey_row *row, struct tn_error *err);
/* Member "hints": texts of the request, and outcomes. */
void tn_plan_hints_write(struct tn_json_writer *w, const struct tn_plan_hints *hints, const struct tn_hint_results *results);

/* ---- memory ------------------------------------------------------------------------------------------------------- */

/* Bytes of the session's lease; see memory.c for what each figure counts. */
struct tn_memory_estimate {
    uint64_t weights, workspace, transient; /* the provider's */
    uint64_t tokenizer, tokenizer_transient;
    uint64_t session;  /* batch, recipe, bookkeeping */
    uint64_t resident; /* after load, before any request */
    uint64_t peak;     /* while loading, or with a first small request */
    double uncertainty;
};

struct tn_memory_estimate tn_memory_estimate_make(const struct tn_description *d, const struct tn_task_route *route,
                                                  const struct tn_assessment *a,
                                                  const struct tn_component_request *request);
/* Member "memory". */
void tn_memory_estimate_write(struct tn_json_writer *w, const struct tn_memory_estimate *m, uint64_t limit);

/* ---- assessment ----------------------------------------------------------------------------------------------------- */

/* A provider that is known by name; absent ones say why. */
struct tn_provider_entry {
    const char *name;
    const struct tn_provider *provider; /* NULL: absent */
    const char *why_absent;
};

/* What the composition root hands down. Everything outlives surveys and plans, the description by `keep`. */
struct tn_planner {
    const struct tn_context *ctx;
    const struct tn_description *d;
    const struct tn_provider_entry *providers;
    size_t provider_count;
    struct tn_policy_defaults defaults;
    const struct tn_record_store *records; /* NULL: no evidence is kept */
    bool have_closure; /* the package was verified; `closure` is then its identity over all bytes */
    struct tn_digest closure;
};

/* One provider's row. */
struct tn_survey_row {
    const struct tn_provider_entry *entry;
    bool requested, assessed;
    enum tn_decision decision;
    struct tn_findings findings;      /* why, beside the common ones */
    struct tn_assessment assessment;  /* when assessed */
    struct tn_component_request request;
    struct tn_memory_estimate memory;
    struct tn_record_route record_route;
    struct tn_record_standing standing;
    enum tn_level level;
    struct tn_hint_results hints; /* what became of each */
    bool failed_load;      /* eligible, and then it could not be loaded */
    bool other_precision;  /* computes otherwise than was asked, as is permitted */
    bool asserted; /* the caller declared unknown fields descriptive: no evidence is about such a package */
};

/* Name of the row's evidence level; "unqualified" where the caller's assertions stand in for evidence. */
const char *tn_survey_row_level(const struct tn_survey_row *row);

struct tn_survey {
    const struct tn_planner *planner;
    struct tn_arena arena;
    struct tn_policy policy;
    struct tn_plan_hints hints;
    struct tn_task_route route;
    struct tn_findings findings; /* of package, description, task and options: they bind every provider */
    struct tn_survey_row *rows;
    uint32_t row_count;
    enum tn_decision decision; /* the best among the requested */
};

/*
 * Assesses the requested providers, with `everyone` all others too. Fills *survey even when nothing can run; fails only
 * without memory. Release it in any case after success.
 */
enum tn_status tn_survey_make(struct tn_survey *survey, const struct tn_planner *planner, const tn_plan_options *options,
                              const enum tn_choice_origin *origin, bool everyone, struct tn_error *err);
void tn_survey_release(struct tn_survey *survey);
/* The assessment document. */
void tn_survey_write(struct tn_json_writer *w, const struct tn_survey *survey);

/*
 * Every task against the package: {package, tasks: [{task, contract, decision, evidence, findings}]}. The task of the
 * options is not looked at. *served: how many have an eligible provider. Fails only without memory.
 */
enum tn_status tn_survey_tasks_write(struct tn_json_writer *w, const struct tn_planner *planner, const tn_plan_options *options,
                                     int *served, struct tn_error *err);

/* ---- plan ------------------------------------------------------------------------------------------------------------ */

/* A provider that could not be loaded, and why. */
struct tn_plan_failure {
    const char *provider;
    struct tn_finding why;
};

/* What a plan was made of, so that another one can be made of the same. Lives in the plan's arena. */
struct tn_plan_made_of {
    tn_plan_options options;
    enum tn_choice_origin origin[TN_PLAN_OPTIONS];
    bool have_origin;
    const struct tn_plan_failure *failed; /* [failed_count] in the order in which they were tried */
    uint32_t failed_count;
};

/* Immutable and counted; the public handle. */
struct tn_plan {
    struct tn_ref ref;
    struct tn_keep keep;
    struct tn_survey survey; /* owns everything below */
    struct tn_survey_row *row;
    struct tn_digest fingerprint;
    char id[TN_SHA256_HEX];
    const struct tn_task *task;
    struct tn_str provider_members; /* JSON object: what the provider wrote about itself */
    uint32_t skipped;               /* requested providers that came before and could not */
    const struct tn_plan_made_of *made_of;
    struct tn_option task_options[TN_TASK_OPTIONS];
    uint32_t task_option_count;
};

/*
 * Makes a plan or refuses with every blocker. On success the plan owns `keep` and drops it at its end; on failure the
 * caller still owns it.
 */
enum tn_status tn_plan_make(const struct tn_planner *planner, const tn_plan_options *options,
                            const enum tn_choice_origin *origin, struct tn_keep keep, struct tn_plan **out,
                            struct tn_error *err);
/*
 * The evidence level once the weights have been read; TN_VERSION_UNQUALIFIED when the plan requires more than it. Any
 * thread. (confirm.c)
 */
enum tn_status tn_plan_confirm(const struct tn_plan *plan, const struct tn_digest *weights, enum tn_level *level,
                               struct tn_error *err);
/* The same after failures, which count against the providers that they name. `made_of` is the caller's. */
enum tn_status tn_plan_make_of(const struct tn_planner *planner, const struct tn_plan_made_of *made_of, struct tn_keep keep,
                               struct tn_plan **out, struct tn_error *err);
/* The blocker of a row that no other provider may stand in for: of files, weights, trust or resources. NULL: none. */
const struct tn_finding *tn_survey_row_binding(const struct tn_survey_row *row);
/*
 * The plan for the next provider of the list, now that this one could not be loaded, which `why` says; *out NULL when there is
 * none that may be tried. Keeps what the plan keeps. (next.c)
 */
enum tn_status tn_plan_next(const struct tn_plan *plan, const struct tn_finding *why, struct tn_plan **out, struct tn_error *err);
bool tn_plan_has_next(const struct tn_plan *plan);
/* Member "skipped": providers that were preferred and that another one stands in for, with the first reason of each. */
void tn_plan_write_skipped(struct tn_json_writer *w, const struct tn_plan *plan);
/* Drops one reference. */
void tn_plan_drop(struct tn_plan *plan);
void tn_plan_write(struct tn_json_writer *w, const struct tn_plan *plan);
/*
 * The warnings that come with the plan, those of the package before those of its provider: starts with *at 0, moves it
 * on; NULL at the end. Valid as long as the plan.
 */
const struct tn_finding *tn_plan_next_warning(const struct tn_plan *plan, size_t *at);

/*
 * Makes the plan again that a document describes: its options, applied to this package in this build on this machine.
 * Whatever comes out differently is TN_ARTIFACT_STALE with both values; a document that is not one of ours is
 * TN_METADATA_INVALID. The text is untrusted.
 */
enum tn_status tn_plan_again(const struct tn_planner *planner, struct tn_str text, struct tn_keep keep,
                             struct tn_plan **out, struct tn_error *err);

struct tn_digest tn_plan_fingerprint(const struct tn_survey *survey, const struct tn_survey_row *row);

#define TN_PLAN_SCHEMA "tenon.plan/1"

#endif
