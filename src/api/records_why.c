/*
 * tn_records_why and tn_records_withdraw: what a record rests on, what of that is still so, and which evidence fell with the
 * rest; and the end of a record that should not count any more.
 *
 * With a package its facts are those of the route that planning finds for the record's task and provider. Where no such plan
 * can be made the route's facts are this build's, and the reason is told.
 */
#include "api/records.h"

#include "api/api.h"
#include "base/os.h"

#include <stdio.h>
#include <string.h>

/* ---- facts of now ------------------------------------------------------------------------------------------------- */

struct now {
    struct tn_arena arena;
    struct tn_records_present build;
    struct tn_record_facts facts;
    char weights[TN_SHA256_HEX];
    struct tn_error *why; /* no plan can be made any more; .primary.code TN_OK: there is one, or no package */
};

static const char *kept(struct tn_arena *arena, struct tn_str s)
{
    return tn_arena_strndup(arena, s.s ? s.s : "", s.n);
}

/* "bf16" of "stored=f32 compute=bf16 ...". */
static const char *numeric_of(const struct tn_record_index *index)
{
    struct tn_str v = index->facts.value[TN_DEPENDS_ON_NUMERIC];
    static const char sign[] = "compute=bf16";
    for (size_t i = 0; i + sizeof(sign) - 1 <= v.n; i++)
        if (memcmp(v.s + i, sign, sizeof(sign) - 1) == 0) return "bf16";
    return "f32";
}

/* The route of the package for what the record is about. */
static enum tn_status facts_of_package(struct now *n, struct tn_package *package, const struct tn_record_index *index, struct tn_error *err)
{
    struct tn_planner planner = tn_package_planner(package);
    struct tn_plan *plan = NULL;
    tn_plan_options o = TN_INIT(tn_plan_options);
    o.task = kept(&n->arena, index->task);
    o.provider = kept(&n->arena, tn_records_name_part(index->facts.value[TN_DEPENDS_ON_PROVIDER]));
    o.numeric = numeric_of(index);
    if (!o.task || !o.provider) return tn_error_memory(err, TN_PHASE_RECORD, "looking at what a record rests on");
    planner.records = NULL;
    enum tn_status st = tn_plan_make(&planner, &o, NULL, (struct tn_keep){0}, &plan, n->why);
    if (st == TN_INSUFFICIENT_MEMORY) return tn_error_memory(err, TN_PHASE_RECORD, "looking at what a record rests on");
    struct tn_record_route none = {.provider = {NULL, 0}};
    st = tn_record_facts_of(&n->facts, &n->arena, package->description, plan ? &plan->row->record_route : &none, err);
    tn_plan_drop(plan);
    tn_mutex_lock(&package->lock);
    if (package->have_weights) n->facts.value[TN_DEPENDS_ON_WEIGHTS] = tn_str_of(tn_digest_hex(&package->weights, n->weights));
    tn_mutex_unlock(&package->lock);
    return st;
}

static enum tn_status look_at_now(struct now *n, const struct tn_runtime *runtime, struct tn_package *package, const struct tn_record_index *index, struct tn_error *err)
{
    enum tn_status st = package ? facts_of_package(n, package, index, err) : TN_OK;
    tn_records_see_present(&n->build, runtime, index);
    for (unsigned k = 0; k < TN_DEPENDENCIES; k++)
        if (!n->facts.value[k].n) n->facts.value[k] = n->build.facts.value[k];
    return st;
}

/* ---- what replaces a withdrawn record ------------------------------------------------------------------------------- */

struct fate {
    const struct tn_record_index *index;
    struct tn_arena *arena;
    const char *withdrawal, *reason, *replaced_by;
    bool passed_itself, no_memory;
};

static bool same_route(const struct tn_record_index *a, const struct tn_record_index *b)
{
    static const enum tn_dependency kinds[] = {TN_DEPENDS_ON_PROVIDER, TN_DEPENDS_ON_NUMERIC};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!tn_str_eq(tn_records_name_part(a->facts.value[kinds[i]]), tn_records_name_part(b->facts.value[kinds[i]]))) return false;
    return tn_str_eq(a->task, b->task) && tn_str_eq(a->package, b->package);
}

/* Newest first: the last success that is met before the record itself is the one that came next; the newest one counts. */
static enum tn_status learn(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct fate *f = user;
    const struct tn_record_index *r = &row->index;
    (void)err;
    if (row->damage) return TN_OK;
    if (strcmp(r->id, f->index->id) == 0) f->passed_itself = true;
    if (tn_str_is(r->withdraws, f->index->id)) {
        f->withdrawal = kept(f->arena, tn_str_of(r->id));
        f->reason = kept(f->arena, r->reason);
        f->no_memory |= !f->withdrawal || !f->reason;
    }
    bool newer = !f->passed_itself && !f->withdrawal && r->passed && r->level != TN_LEVEL_WITHDRAWN && same_route(r, f->index);
    if (newer && !f->replaced_by) {
        f->replaced_by = kept(f->arena, tn_str_of(r->id));
        f->no_memory |= !f->replaced_by;
    }
    return TN_OK;
}

/* ---- the document --------------------------------------------------------------------------------------------------- */

static void write_dependency(struct tn_json_writer *w, unsigned kind, struct tn_str then, struct tn_str now, uint32_t changed)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", tn_dependency_name((enum tn_dependency)kind));
    tn_jw_key(w, "then");
    if (then.n) tn_jw_str(w, then);
    else tn_jw_null(w);
    tn_jw_key(w, "now");
    if (now.n) tn_jw_str(w, now);
    else tn_jw_null(w);
    bool equal = now.n && tn_str_eq(then, now);
    tn_jw_member_cstr(w, "state", changed >> kind & 1 ? "changed" : equal ? "same" : now.n == 0 ? "unknown" : "superseded");
    tn_jw_end_object(w);
}

static void write_dependencies(struct tn_json_writer *w, const struct tn_record_index *index, const struct now *n, uint32_t changed)
{
    tn_jw_key(w, "dependencies");
    tn_jw_begin_array(w);
    for (unsigned k = 0; k < TN_DEPENDENCIES; k++) {
        struct tn_str then = index->facts.value[k], now = n->facts.value[k];
        if (then.n || (changed >> k & 1)) write_dependency(w, k, then, now, changed);
    }
    tn_jw_end_array(w);
}

/* The checks of one kind, by their names; whether there are any. */
static bool write_checks(struct tn_json_writer *w, struct tn_json root, enum tn_evidence_kind kind)
{
    bool any = false;
    for (struct tn_json c = tn_json_first(tn_json_get(root, "checks")); tn_json_present(c); c = tn_json_next(c)) {
        struct tn_str id, level, outcome;
        enum tn_level at = TN_LEVEL_LOADS;
        if (!tn_json_str(tn_json_get(c, "id"), &id)) continue;
        if (tn_json_str(tn_json_get(c, "level"), &level)) (void)tn_level_parse(level, &at);
        bool tried = tn_json_str(tn_json_get(c, "outcome"), &outcome) && !tn_str_is(outcome, "skipped");
        if (!tried || tn_evidence_of_check(id, at) != kind) continue;
        any = true;
        if (w) tn_jw_str(w, id);
    }
    return any;
}

/* The audit has no check: whatever loads has passed it. */
static bool shows(struct tn_json root, const struct tn_record_index *index, enum tn_evidence_kind kind)
{
    bool loads = index->level >= TN_LEVEL_LOADS || index->withdraws.n;
    if (kind == TN_EVIDENCE_AUDIT) return loads;
    return write_checks(NULL, root, kind);
}

static void write_evidence(struct tn_json_writer *w, struct tn_json root, const struct tn_record_index *index, uint32_t changed)
{
    tn_jw_key(w, "evidence");
    tn_jw_begin_array(w);
    for (unsigned k = 0; k < TN_EVIDENCE_KINDS; k++) {
        enum tn_evidence_kind kind = (enum tn_evidence_kind)k;
        if (!shows(root, index, kind)) continue;
        uint32_t fell = tn_evidence_rests_on(kind) & changed;
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "evidence", tn_evidence_name(kind));
        tn_jw_member_cstr(w, "what", tn_evidence_what(kind));
        tn_jw_member_bool(w, "holds", fell == 0);
        tn_jw_key(w, "fell");
        tn_jw_begin_array(w);
        for (unsigned d = 0; d < TN_DEPENDENCIES; d++)
            if (fell >> d & 1) tn_jw_cstr(w, tn_dependency_name((enum tn_dependency)d));
        tn_jw_end_array(w);
        tn_jw_key(w, "checks");
        tn_jw_begin_array(w);
        (void)write_checks(w, root, kind);
        tn_jw_end_array(w);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_fate(struct tn_json_writer *w, const struct tn_record_index *index, const struct fate *f)
{
    tn_jw_key(w, "withdrawn");
    if (f->withdrawal) {
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "by", f->withdrawal);
        tn_jw_member_cstr(w, "reason", f->reason);
        tn_jw_end_object(w);
    } else {
        tn_jw_null(w);
    }
    if (index->withdraws.n) {
        tn_jw_member_str(w, "withdraws", index->withdraws);
        tn_jw_member_str(w, "reason", index->reason);
    }
    tn_jw_member_cstr(w, "replaced_by", f->withdrawal || index->withdraws.n ? f->replaced_by : NULL);
}

static void write_why(struct tn_json_writer *w, struct tn_json root, const struct tn_record_index *index, const struct now *n,
                      const struct fate *f, bool package)
{
    uint32_t changed = 0;
    enum tn_level level = tn_record_holds(index, &n->facts, true, &changed);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "id", index->id);
    tn_jw_member_cstr(w, "level", tn_level_name(index->level));
    tn_jw_member_cstr(w, "holds", tn_level_name(f->withdrawal ? TN_LEVEL_WITHDRAWN : level));
    tn_jw_member_str(w, "task", index->task);
    tn_jw_member_str(w, "package", index->package);
    tn_jw_member_bool(w, "held_against_package", package);
    tn_jw_key(w, "no_plan");
    if (n->why->primary.code) tn_error_write(w, n->why);
    else tn_jw_null(w);
    write_dependencies(w, index, n, changed);
    write_evidence(w, root, index, changed);
    write_fate(w, index, f);
    tn_jw_end_object(w);
}

/* ---- functions ------------------------------------------------------------------------------------------------------ */

static enum tn_status explain(struct tn_runtime *runtime, const char *id, struct tn_package *package, struct tn_buf *text, struct now *n,
                              struct tn_json_writer *w, struct tn_error *err)
{
    struct tn_json_doc doc = {0};
    struct tn_record_index index;
    struct fate f = {.index = &index, .arena = &n->arena};
    enum tn_status st = tn_record_get(&runtime->records, id, text, err);
    if (!st) st = tn_json_parse(&doc, &runtime->alloc, &runtime->ctx.limits, TN_STR("record"), tn_buf_str(text), err);
    if (!st) st = tn_record_read(tn_json_root(&doc), &index, err);
    if (!st) st = look_at_now(n, runtime, package, &index, err);
    if (!st) st = tn_record_each(&runtime->records, learn, &f, err);
    if (!st && f.no_memory) st = tn_error_memory(err, TN_PHASE_RECORD, "looking at what a record rests on");
    if (!st) write_why(w, tn_json_root(&doc), &index, n, &f, package != NULL);
    tn_json_release(&doc);
    return st;
}

TN_API tn_status tn_records_why(tn_runtime *runtime, const char *id, tn_package *package, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    struct tn_buf text;
    struct now n = {0};
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RECORD, "runtime");
    if (!id) return tn_null_argument(err, TN_PHASE_RECORD, "id");
    if (!out) return tn_null_argument(err, TN_PHASE_RECORD, "out");
    n.why = tn_calloc(&runtime->alloc, 1, sizeof(*n.why));
    if (!n.why) return tn_error_memory(err, TN_PHASE_RECORD, "looking at what a record rests on");
    tn_arena_init(&n.arena, &runtime->alloc);
    tn_buf_init(&text, &runtime->alloc, (size_t)runtime->ctx.limits.json_bytes);
    tn_document_begin(&b, runtime);
    enum tn_status st = explain(runtime, id, package, &text, &n, &b.w, err);
    st = tn_document_finish(&b, st, out, err);
    tn_buf_release(&text);
    tn_arena_release(&n.arena);
    tn_free(&runtime->alloc, n.why);
    return st;
}

TN_API tn_status tn_records_withdraw(tn_runtime *runtime, const char *id, const char *reason, tn_document **out, tn_error *err)
{
    struct tn_buf text;
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RECORD, "runtime");
    if (!id) return tn_null_argument(err, TN_PHASE_RECORD, "id");
    if (!out) return tn_null_argument(err, TN_PHASE_RECORD, "out");
    tn_buf_init(&text, &runtime->alloc, (size_t)runtime->ctx.limits.json_bytes);
    enum tn_status st = tn_record_withdraw(&runtime->records, id, reason, tn_os_wall_seconds(), &text, err);
    if (!st) st = tn_document_of(runtime, tn_buf_str(&text), out, err);
    tn_buf_release(&text);
    return st;
}
