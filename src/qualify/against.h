/*
 * Two providers, one question: each is planned, loaded and asked in turn, and the answers are held against each other. With
 * `layers` the values inside the graph are, too, in the order in which the first provider makes them.
 *
 * A comparison sees what users see, the public functions; only values inside come from the provider (run_told), through the
 * session.
 */
#ifndef TN_QUALIFY_AGAINST_H
#define TN_QUALIFY_AGAINST_H

#include "base/pool.h"
#include "plan/plan.h"
#include "qualify/agree.h"
#include "record/record.h"

/* What the composition root hands down. */
struct tn_against_env {
    const struct tn_context *ctx;
    tn_package *package;
    const tn_compare_options *options;
    const struct tn_cancel *stop; /* options->cancel, to be polled */
};

/* One provider with options of its own, e.g. "native:without=all". */
struct tn_party {
    struct tn_str text; /* as it was written */
    tn_plan_options options;
    tn_plan *plan;
    tn_session *session; /* NULL once it has answered */
    tn_execution *execution;
    tn_event *events;    /* [event_count] items; valid as long as the execution */
    size_t event_count;
    struct tn_digest weights;
    uint64_t answer_ns;
    const struct tn_teller *teller;
};

/* An answer of both sides, by its name. */
struct tn_answered {
    struct tn_str name;
    struct tn_operand value[2];
    struct tn_tolerance tolerance;
    struct tn_agreement agreement;
};

struct tn_layers; /* against_layers.c */

struct tn_against {
    const struct tn_against_env *env;
    struct tn_arena arena;
    struct tn_alloc *alloc;
    struct tn_party side[2];
    struct tn_answered *outputs;
    size_t output_count, output_cap;
    const char *mismatch; /* answers that do not correspond at all; NULL: they do */
    struct tn_layers *layers;
    bool agrees;
};

/* Fills *a; release it in any case. Fails where an answer cannot be had. */
enum tn_status tn_against_run(struct tn_against *a, const struct tn_against_env *env, struct tn_error *err);
void tn_against_release(struct tn_against *a);
/* The document, up to the member "record", which is the caller's. */
void tn_against_write(struct tn_json_writer *w, const struct tn_against *a);
/* What was found out, as a record of the first provider; TN_INVALID_REQUEST when the reference is the same provider. */
enum tn_status tn_against_record(const struct tn_against *a, struct tn_record *out, struct tn_error *err);

/* ---- against_sides.c ---- */

/* The two sides of options->providers. */
enum tn_status tn_against_read_sides(struct tn_against *a, struct tn_error *err);
/* Loads, asks and unloads. */
enum tn_status tn_party_answer(struct tn_against *a, struct tn_party *side, struct tn_error *err);
void tn_party_release(struct tn_against *a, struct tn_party *side);

/* ---- against_outputs.c ---- */

/* Pairs the answers of both sides. Fails only without memory. */
enum tn_status tn_against_pair(struct tn_against *a, struct tn_error *err);
struct tn_tolerance tn_against_tolerance(const struct tn_against *a, enum tn_element type);

/* ---- against_layers.c ---- */

/* Before side `which` is loaded: it will be listened to. */
enum tn_status tn_layers_listen(struct tn_against *a, unsigned which, struct tn_error *err);
/* After side `which` has answered. */
enum tn_status tn_layers_heard(struct tn_against *a, unsigned which, struct tn_error *err);
void tn_layers_release(struct tn_against *a);
void tn_layers_write(struct tn_json_writer *w, const struct tn_against *a);

#endif
