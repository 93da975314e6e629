/*
 * Writing a record as JSON: fixed order of members, nothing that depends on the locale. The "id" is a digest of all
 * other members by value, so neither white space nor the order of writing a number matters, and a changed word shows.
 */
#include "record/record.h"

#include "record/digest.h"

#include <stdio.h>
#include <string.h>

enum { DOCUMENT_MAX = 16 << 20 };

void tn_record_init(struct tn_record *r, struct tn_alloc *alloc)
{
    *r = (struct tn_record){.alloc = alloc, .ceiling = TN_LEVEL_RECOGNISED};
    tn_arena_init(&r->arena, alloc);
}

void tn_record_release(struct tn_record *r)
{
    if (!r->alloc) return;
    tn_free(r->alloc, r->checks);
    tn_arena_release(&r->arena);
    *r = (struct tn_record){0};
}

struct tn_check *tn_record_check(struct tn_record *r, const char *id, enum tn_level level, const char *what,
                                 const char *why)
{
    if (r->check_count == r->check_cap) {
        uint32_t cap = r->check_cap ? r->check_cap * 2 : 16;
        struct tn_check *checks = tn_realloc(r->alloc, r->checks, cap * sizeof(*checks));
        if (!checks) return NULL;
        r->checks = checks;
        r->check_cap = cap;
    }
    struct tn_check *c = &r->checks[r->check_count++];
    *c = (struct tn_check){.id = id, .level = level, .outcome = TN_CHECK_PASSED, .what = what, .why = why};
    return c;
}

void tn_check_measure(struct tn_check *c, const char *name, double value)
{
    if (!c || c->measure_count == TN_CHECK_MEASURES) return;
    c->measures[c->measure_count++] = (struct tn_measure){name, value};
}

static void end_check(struct tn_check *c, enum tn_outcome outcome, const char *format, va_list args)
{
    char raw[1024];
    if (!c) return;
    /* The first failure is the one to explain; a skip never hides it. */
    if (c->outcome == TN_CHECK_FAILED) return;
    int n = vsnprintf(raw, sizeof(raw), format, args);
    if (n < 0) n = 0;
    tn_clean_text(c->detail, sizeof(c->detail), raw, (size_t)n < sizeof(raw) ? (size_t)n : sizeof(raw) - 1);
    c->outcome = outcome;
}

void tn_check_fail(struct tn_check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    end_check(c, TN_CHECK_FAILED, format, args);
    va_end(args);
}

void tn_check_skip(struct tn_check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    end_check(c, TN_CHECK_SKIPPED, format, args);
    va_end(args);
}

const char *tn_outcome_name(enum tn_outcome outcome)
{
    return outcome == TN_CHECK_PASSED ? "passed" : outcome == TN_CHECK_FAILED ? "failed" : "skipped";
}

bool tn_record_passed(const struct tn_record *r)
{
    for (uint32_t i = 0; i < r->check_count; i++) {
        if (r->checks[i].outcome == TN_CHECK_FAILED) return false;
    }
    return true;
}

enum tn_level tn_record_level(const struct tn_record *r)
{
    enum tn_level level = r->ceiling;
    for (uint32_t i = 0; i < r->check_count; i++) {
        const struct tn_check *c = &r->checks[i];
        if (c->outcome != TN_CHECK_FAILED || level < c->level) continue;
        level = c->level > TN_LEVEL_RECOGNISED ? (enum tn_level)(c->level - 1) : TN_LEVEL_RECOGNISED;
    }
    return level;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/*
 * "2026-11-29T19:44:00Z". Days to civil date by counting 400-year eras from 0000-03-01, so that the leap day is the
 * last of its year (the proleptic Gregorian calendar; ISO 8601).
 */
static void write_time(struct tn_json_writer *w, const char *key, int64_t seconds)
{
    int64_t days = seconds / 86400, rest = seconds % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    days += 719468; /* from 0000-03-01 to 1970-01-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153; /* 0: March */
    int day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
    int month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    year += era * 400 + (month <= 2);
    char text[64];
    snprintf(text, sizeof(text), "%04lld-%02d-%02dT%02d:%02d:%02dZ", (long long)year, month, day, (int)(rest / 3600),
             (int)(rest / 60 % 60), (int)(rest % 60));
    tn_jw_member_cstr(w, key, text);
}

void tn_record_write_time(struct tn_json_writer *w, int64_t seconds)
{
    write_time(w, "created", seconds);
    tn_jw_key(w, "created_seconds");
    tn_jw_i64(w, seconds);
}

static void member_or_null(struct tn_json_writer *w, const char *key, struct tn_str s)
{
    if (s.n) {
        tn_jw_member_str(w, key, s);
    } else {
        tn_jw_member_null(w, key);
    }
}

static void write_package(struct tn_json_writer *w, const struct tn_record *r)
{
    tn_jw_key(w, "package");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", r->package);
    tn_jw_member_str(w, "dialect", r->dialect);
    member_or_null(w, "variant", r->variant);
    tn_jw_member_str(w, "manifest", r->manifest);
    member_or_null(w, "weights", r->weights);
    member_or_null(w, "closure", r->closure);
    member_or_null(w, "space", r->space);
    tn_jw_end_object(w);
}

static void write_route(struct tn_json_writer *w, const struct tn_record *r)
{
    member_or_null(w, "plan", r->plan);
    tn_jw_key(w, "provider");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", r->route.provider);
    tn_jw_member_str(w, "version", r->route.provider_version);
    tn_jw_member_str(w, "build", r->build);
    tn_jw_end_object(w);
    tn_jw_member_str(w, "family", r->route.family);
    tn_jw_key(w, "device");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "kind", "cpu");
    tn_jw_member_str(w, "isa_class", r->route.isa_class);
    member_or_null(w, "brand", r->brand);
    tn_jw_member_str(w, "os", r->os);
    tn_jw_end_object(w);
    tn_jw_key(w, "numeric");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "stored", r->route.stored);
    tn_jw_member_str(w, "compute", r->route.compute);
    tn_jw_member_str(w, "accumulate", r->route.accumulate);
    tn_jw_member_str(w, "kv", r->route.kv);
    tn_jw_end_object(w);
}

static void write_envelope(struct tn_json_writer *w, const struct tn_record *r)
{
    tn_jw_key(w, "envelope");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "max_tokens", r->max_tokens);
    tn_jw_member_u64(w, "dimensions", r->dimensions);
    tn_jw_member_u64(w, "texts", r->texts);
    tn_jw_member_u64(w, "longest_tokens", r->longest_tokens);
    tn_jw_member_u64(w, "threads", r->threads);
    tn_jw_end_object(w);
}

static void write_golden(struct tn_json_writer *w, const struct tn_record *r)
{
    tn_jw_key(w, "golden");
    if (!r->golden_file.n) {
        tn_jw_null(w);
        return;
    }
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "file", r->golden_file);
    tn_jw_member_str(w, "sha256", r->golden_sha256);
    tn_jw_member_u64(w, "cases", r->golden_cases);
    tn_jw_key(w, "certificate");
    if (r->golden_certificate.n) {
        tn_jw_raw(w, r->golden_certificate);
    } else {
        tn_jw_null(w);
    }
    tn_jw_end_object(w);
}

/* The provider that stood for the reference, where one did. */
static void write_reference(struct tn_json_writer *w, const struct tn_record *r)
{
    if (!r->other.n) return;
    tn_jw_key(w, "reference");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "provider", r->other);
    tn_jw_member_str(w, "version", r->other_version);
    tn_jw_member_u64(w, "outputs", r->outputs);
    tn_jw_end_object(w);
}

static void write_check(struct tn_json_writer *w, const struct tn_check *c)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "id", c->id);
    tn_jw_member_cstr(w, "outcome", tn_outcome_name(c->outcome));
    tn_jw_member_cstr(w, "level", tn_level_name(c->level));
    tn_jw_member_cstr(w, "what", c->what);
    tn_jw_key(w, "tolerance");
    tn_jw_cstr(w, c->why);
    tn_jw_key(w, "measured");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < c->measure_count; i++) tn_jw_member_f64(w, c->measures[i].name, c->measures[i].value);
    tn_jw_end_object(w);
    tn_jw_key(w, "detail");
    tn_jw_cstr(w, c->detail[0] ? c->detail : NULL);
    tn_jw_end_object(w);
}

static void write_failures(struct tn_json_writer *w, const struct tn_record *r)
{
    tn_jw_key(w, "failures");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < r->check_count; i++) {
        if (r->checks[i].outcome != TN_CHECK_FAILED) continue;
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "id", r->checks[i].id);
        tn_jw_member_cstr(w, "detail", r->checks[i].detail);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_exclusions(struct tn_json_writer *w, const struct tn_record *r)
{
    tn_jw_key(w, "exclusions");
    tn_jw_begin_array(w);
    for (const char *const *e = r->exclusions; e && *e; e++) tn_jw_cstr(w, *e);
    for (uint32_t i = 0; i < r->check_count; i++) {
        if (r->checks[i].outcome != TN_CHECK_SKIPPED) continue;
        char text[480];
        snprintf(text, sizeof(text), "%s: %s", r->checks[i].id, r->checks[i].detail);
        tn_jw_cstr(w, text);
    }
    tn_jw_end_array(w);
}

static void write_dependencies(struct tn_json_writer *w, const struct tn_record *r)
{
    tn_jw_key(w, "dependencies");
    tn_jw_begin_array(w);
    for (unsigned kind = 0; kind < TN_DEPENDENCIES; kind++) {
        if (!r->facts.value[kind].n) continue;
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "kind", tn_dependency_name((enum tn_dependency)kind));
        tn_jw_member_str(w, "value", r->facts.value[kind]);
        tn_jw_member_cstr(w, "needed_for", tn_level_name(tn_dependency_level((enum tn_dependency)kind)));
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_members(struct tn_json_writer *w, const struct tn_record *r, const char *id)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "schema", TN_RECORD_SCHEMA);
    tn_jw_member_cstr(w, "id", id);
    tn_jw_member_cstr(w, "level", tn_level_name(tn_record_level(r)));
    tn_jw_member_bool(w, "passed", tn_record_passed(r));
    tn_record_write_time(w, r->created);
    tn_jw_member_str(w, "task", r->task);
    tn_jw_member_str(w, "contract", r->contract);
    tn_jw_member_str(w, "recipe", r->recipe);
    tn_jw_member_str(w, "suite", r->suite);
    write_package(w, r);
    write_route(w, r);
    write_envelope(w, r);
    write_golden(w, r);
    write_reference(w, r);
    tn_jw_key(w, "checks");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < r->check_count; i++) write_check(w, &r->checks[i]);
    tn_jw_end_array(w);
    write_failures(w, r);
    write_exclusions(w, r);
    write_dependencies(w, r);
    tn_jw_end_object(w);
}

static enum tn_status buffer_error(const struct tn_buf *b, struct tn_error *err)
{
    if (tn_buf_status(b) == TN_INSUFFICIENT_MEMORY) return tn_error_memory(err, TN_PHASE_RECORD, "writing a record");
    struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_RECORD, "a record document is too large");
    tn_expected(f, "at most %d bytes", DOCUMENT_MAX);
    return TN_RESOURCE_LIMIT;
}

/* Written twice: first without an id to find it out, then with it. */
enum tn_status tn_record_write(const struct tn_record *r, struct tn_buf *out, struct tn_error *err)
{
    struct tn_buf draft;
    struct tn_json_doc doc;
    struct tn_json_writer w;
    char id[TN_RECORD_ID + 1] = "";
    struct tn_limits limits = tn_limits_default();
    tn_buf_init(&draft, r->alloc, DOCUMENT_MAX);
    tn_jw_init(&w, &draft, false);
    write_members(&w, r, id);
    if (tn_buf_status(&draft)) {
        enum tn_status failed = buffer_error(&draft, err);
        tn_buf_release(&draft);
        return failed;
    }
    enum tn_status status =
        tn_json_parse(&doc, r->alloc, &limits, TN_STR("record"), tn_buf_str(&draft), err);
    if (!status) {
        tn_record_digest(tn_json_root(&doc), id);
        tn_json_release(&doc);
        tn_jw_init(&w, out, false);
        write_members(&w, r, id);
        if (tn_buf_status(out)) status = buffer_error(out, err);
    }
    tn_buf_release(&draft);
    return status;
}
