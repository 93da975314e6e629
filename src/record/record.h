/*
 * Evidence: what a qualification run has established, for which package, on what machine, and how long it holds. Owns
 * levels, dependencies, the record document and the store. Knows no plan and no session: what they must tell arrives as
 * facts (strings). Record documents and the database file are untrusted when they are read.
 *
 * The surprising decision: the document is the record. The rows of the database are an index that is derived from the
 * document when it is stored, so a document that was exported can be stored elsewhere and nothing is lost.
 */
#ifndef TN_RECORD_RECORD_H
#define TN_RECORD_RECORD_H

#include "base/buf.h"
#include "base/context.h"
#include "base/json.h"
#include "base/json_write.h"
#include "describe/describe.h"

/* ---- levels ------------------------------------------------------------------------------------------------------- */

/* X(enumerator, name in JSON, what it says). Weakest first; WITHDRAWN stands outside the order. */
#define TN_LEVEL_LIST(X)                                                                           \
    X(RECOGNISED, "recognised", "the convention of the package is known")                          \
    X(STRUCTURALLY_VALID, "structurally_valid", "headers, configuration and tensors fit a plan")   \
    X(LOADS, "loads", "it was loaded and kept the task's invariants")                              \
    X(REFERENCE_QUALIFIED, "reference_qualified", "its answers equal an independent oracle's")     \
    X(DEPLOYMENT_QUALIFIED, "deployment_qualified", "measured under the load it is meant for")     \
    X(WITHDRAWN, "withdrawn", "earlier evidence no longer counts")

enum tn_level {
#define X(name, text, what) TN_LEVEL_##name,
    TN_LEVEL_LIST(X)
#undef X
    TN_LEVELS
};

const char *tn_level_name(enum tn_level level);
bool tn_level_parse(struct tn_str name, enum tn_level *out);
/* Whether `have` is enough where `required` is asked for; withdrawn satisfies nothing. */
bool tn_level_satisfies(enum tn_level have, enum tn_level required);

/* ---- dependencies ------------------------------------------------------------------------------------------------- */

/*
 * What evidence rests on, and from which level on: when one of them is another value, what the record says from that
 * level upwards no longer holds, and what it says below still does. So a changed tokenizer ends the comparison with the
 * reference but not the fact that the weights load.
 *
 * WEIGHTS is the identity of the bytes; WEIGHT_HEADERS (names, shapes and sizes) stands in for it while the weights have
 * not been read, as when planning.
 */
#define TN_DEPENDENCY_LIST(X)                                                                      \
    X(WEIGHTS, "weights", LOADS)                                                                   \
    X(WEIGHT_HEADERS, "weight_headers", LOADS)                                                     \
    X(CONFIG, "config", LOADS)       /* values of the components' configuration */                 \
    X(FAMILY, "family", LOADS)       /* "NAME/VERSION" of every component's implementation */      \
    X(PROVIDER, "provider", LOADS)   /* "native/1" */                                              \
    X(ISA_CLASS, "isa_class", LOADS) /* of the kernels: "x86-64-avx512" */                         \
    X(NUMERIC, "numeric", LOADS)     /* "stored=f32 compute=f32 accumulate=f32 kv=none" */         \
    X(DESCRIPTION, "description", REFERENCE_QUALIFIED) /* module chain, prompts, limits */         \
    X(TOKENIZER, "tokenizer", REFERENCE_QUALIFIED)     /* its files */                             \
    X(RECIPE, "recipe", REFERENCE_QUALIFIED)                                                       \
    X(CONTRACT, "contract", REFERENCE_QUALIFIED)

enum tn_dependency {
#define X(name, text, level) TN_DEPENDS_ON_##name,
    TN_DEPENDENCY_LIST(X)
#undef X
    TN_DEPENDENCIES
};

const char *tn_dependency_name(enum tn_dependency kind);
bool tn_dependency_parse(struct tn_str name, enum tn_dependency *out);
enum tn_level tn_dependency_level(enum tn_dependency kind);

/* ---- kinds of evidence -------------------------------------------------------------------------------------------- */

/* What a record can have shown, each kind behind those that it follows from (evidence.c). */
enum tn_evidence_kind {
    TN_EVIDENCE_AUDIT,
    TN_EVIDENCE_TOKENS,
    TN_EVIDENCE_LOADING,
    TN_EVIDENCE_INVARIANTS,
    TN_EVIDENCE_REFERENCE,
    TN_EVIDENCE_DEPLOYMENT,
    TN_EVIDENCE_KINDS
};

const char *tn_evidence_name(enum tn_evidence_kind kind);
const char *tn_evidence_what(enum tn_evidence_kind kind);
/* A bit per dependency: what it rests on, by itself and by what it follows from. */
uint32_t tn_evidence_rests_on(enum tn_evidence_kind kind);
/* Whether it outlives a change of these dependencies, as tn_record_holds reports them. */
bool tn_evidence_holds(enum tn_evidence_kind kind, uint32_t changed);
/* Which kind a check of a suite is about. */
enum tn_evidence_kind tn_evidence_of_check(struct tn_str id, enum tn_level level);

/* Views; "" means unknown. */
struct tn_record_facts {
    struct tn_str value[TN_DEPENDENCIES];
};

/* What the planner chose, in words. Zeroed members stay unknown. */
struct tn_record_route {
    struct tn_str provider, provider_version; /* "native", "1" */
    struct tn_str family;                     /* "bert/1" */
    struct tn_str isa_class;
    struct tn_str stored, compute, accumulate, kv;
    struct tn_str recipe, contract;           /* "embedding.dense/1", "tenon.embedding.dense/v1" */
};

/*
 * The facts of a description and a route; strings live in the arena. The weights stay unknown: whoever has loaded them
 * sets value[TN_DEPENDS_ON_WEIGHTS]. Fails only without memory.
 */
enum tn_status tn_record_facts_of(struct tn_record_facts *facts, struct tn_arena *arena,
                                  const struct tn_description *d, const struct tn_record_route *route,
                                  struct tn_error *err);

/* ---- the record --------------------------------------------------------------------------------------------------- */

#define TN_RECORD_SCHEMA "tenon.record/v1"
enum { TN_RECORD_ID = 32, TN_CHECK_MEASURES = 6 };

enum tn_outcome { TN_CHECK_PASSED, TN_CHECK_FAILED, TN_CHECK_SKIPPED };
const char *tn_outcome_name(enum tn_outcome outcome);

struct tn_measure {
    const char *name; /* with its unit where it has one: "max_abs", "peak_bytes" */
    double value;
};

/* One thing that was tried. All strings but `detail` are constants of the suite. */
struct tn_check {
    const char *id;     /* "company.order" */
    enum tn_level level; /* a failure keeps the record below this level */
    enum tn_outcome outcome;
    const char *what;   /* what must hold */
    const char *why;    /* why this tolerance; NULL where nothing is tolerated */
    struct tn_measure measures[TN_CHECK_MEASURES];
    uint32_t measure_count;
    char detail[320];   /* what happened, for a failure or a skip; "" otherwise */
};

struct tn_record {
    struct tn_arena arena; /* strings of the record */
    struct tn_alloc *alloc;
    int64_t created; /* seconds since 1970 UTC */
    struct tn_str task, contract, recipe, suite; /* suite: "embedding.dense/1" */
    struct tn_str package; /* last part of its path, for people */
    struct tn_str dialect, variant;
    struct tn_str manifest, weights, closure, space; /* hexadecimal; "" prints null */
    struct tn_str plan; /* fingerprint */
    struct tn_record_route route;
    struct tn_str build; /* version of the library */
    struct tn_str brand, os;
    uint64_t max_tokens, dimensions, texts, longest_tokens, threads; /* the input envelope that was exercised */
    struct tn_str golden_file, golden_sha256, golden_certificate; /* certificate: JSON text; "" when no golden */
    uint64_t golden_cases;
    struct tn_str other, other_version; /* provider whose answers were the reference; "": none was */
    uint64_t outputs;                   /* that were compared with its */
    struct tn_check *checks;
    uint32_t check_count, check_cap;
    const char *const *exclusions; /* NULL-terminated */
    struct tn_record_facts facts;
    enum tn_level ceiling; /* the level when no check fails */
};

void tn_record_init(struct tn_record *r, struct tn_alloc *alloc);
void tn_record_release(struct tn_record *r);
/* A new check that has passed so far; NULL without memory. Valid until the next one is added. */
struct tn_check *tn_record_check(struct tn_record *r, const char *id, enum tn_level level, const char *what,
                                 const char *why);
void tn_check_measure(struct tn_check *c, const char *name, double value);
void tn_check_fail(struct tn_check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tn_check_skip(struct tn_check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool tn_record_passed(const struct tn_record *r);
/* The ceiling, or the level below the lowest level at which a check failed. */
enum tn_level tn_record_level(const struct tn_record *r);

/*
 * The document as compact JSON; its "id" is a digest of everything else in it. A member "stored" may be added later: it
 * says what became of the record and is no part of it.
 */
enum tn_status tn_record_write(const struct tn_record *r, struct tn_buf *out, struct tn_error *err);

/* Members "created" and "created_seconds" of a record. */
void tn_record_write_time(struct tn_json_writer *w, int64_t seconds);

/* ---- reading a document ------------------------------------------------------------------------------------------- */

/* The members that the store indexes; views into the parsed document. */
struct tn_record_index {
    char id[TN_RECORD_ID + 1];
    enum tn_level level;
    bool passed;
    int64_t created;
    struct tn_str created_text, task, package, manifest, suite;
    uint64_t failures;
    struct tn_str withdraws, reason; /* of a withdrawal: the record that no longer counts, and why; else "" */
    struct tn_record_facts facts;
    enum tn_level needed[TN_DEPENDENCIES]; /* from which level on each dependency counts, as the document says */
};

/*
 * Checks schema, id and every indexed member. TN_ARTIFACT_MALFORMED names the pointer; TN_VERSION_UNQUALIFIED when the
 * schema is another one.
 */
enum tn_status tn_record_read(struct tn_json document, struct tn_record_index *out, struct tn_error *err);

/* ---- the store ---------------------------------------------------------------------------------------------------- */

/*
 * One SQLite file, records.db (0600) in the state folder (0700). Every call opens it, does one transaction and closes
 * it: nothing is held between calls, any number of threads and processes may call at once. Errors are of phase "record":
 *   TN_BUSY                another process held the file for longer than TN_RECORD_BUSY_MS
 *   TN_ARTIFACT_MALFORMED  not a database, a damaged one, or one that is not ours; it is never deleted or overwritten
 *   TN_VERSION_UNQUALIFIED written by a later version
 *   TN_RESOURCE_LIMIT      the disk is full
 *   TN_RUNTIME_FAILURE     the folder or file cannot be opened, read or written
 */
enum { TN_RECORD_BUSY_MS = 5000 };

struct tn_record_store {
    const struct tn_context *ctx;
    const char *folder; /* state folder; made on the first put */
};

/* Stores a document that tn_record_write made or tn_records_export printed; the same one twice is one. */
enum tn_status tn_record_put(const struct tn_record_store *store, struct tn_str document, struct tn_error *err);
/*
 * Appends the document with this id, or with the only id that starts with it (4 characters at least).
 * TN_ARTIFACT_MISSING when there is none, TN_INVALID_REQUEST when the prefix is short or fits several.
 */
enum tn_status tn_record_get(const struct tn_record_store *store, const char *id, struct tn_buf *out,
                             struct tn_error *err);
/*
 * Says that the record with this id (as for tn_record_get) no longer counts: stores a record that withdraws it and appends that
 * one's document. `created` is now. TN_INVALID_REQUEST without a reason, for a withdrawal, and for what is withdrawn already.
 */
enum tn_status tn_record_withdraw(const struct tn_record_store *store, const char *id, const char *reason, int64_t created,
                                  struct tn_buf *out, struct tn_error *err);
/* A stored record as it was found. */
struct tn_record_row {
    struct tn_str id;       /* as the database has it */
    struct tn_str document; /* valid during the visit */
    enum tn_status damage;  /* not TN_OK: the document does not match its id or schema, and `index` is zeroed */
    struct tn_record_index index;
};

/*
 * Calls visit for every record, newest first. A visit that fails ends the walk with its status. A store that does not
 * exist holds nothing.
 */
typedef enum tn_status (*tn_record_visit_fn)(void *user, const struct tn_record_row *row, struct tn_error *err);
enum tn_status tn_record_each(const struct tn_record_store *store, tn_record_visit_fn visit, void *user,
                              struct tn_error *err);

/* What the store says about one route of one package. */
struct tn_record_standing {
    bool found;          /* some record applies */
    enum tn_level level; /* the best that still holds; TN_LEVEL_WITHDRAWN when the evidence was withdrawn */
    bool failed;         /* the record that says so lists failures */
    char id[TN_RECORD_ID + 1]; /* that record */
};

/*
 * Looks for evidence. A record applies while everything that "loads" rests on is unchanged. A failed record hides all older
 * ones as long as what the failure rests on is unchanged, a withdrawal as long as nothing that the withdrawn record rests on
 * has changed; the withdrawn one counts never again. Damaged records count for nothing. Never
 * creates anything; a store that does not exist finds nothing.
 */
enum tn_status tn_record_level_for(const struct tn_record_store *store, const struct tn_record_facts *facts,
                                   struct tn_record_standing *out, struct tn_error *err);

/*
 * The highest level at which a record with these dependencies still holds under `facts`, at most `level`. Unknown facts
 * count as equal only for `ignore_unknown`. *changed, when not NULL, gets a bit per dependency that differs.
 */
enum tn_level tn_record_holds(const struct tn_record_index *record, const struct tn_record_facts *facts,
                              bool ignore_unknown, uint32_t *changed);

#endif
