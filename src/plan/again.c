/*
 * Using a printed plan. The document is never interpreted beyond its options: the plan is made again from the package,
 * printed again, and the two documents are compared member by member. So a plan cannot ask for anything that planning
 * would not have chosen, an unknown member is refused, and whatever has changed since is named with both values.
 *
 * The text is untrusted.
 */
#include "base/json_write.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* ---- reading the options ----------------------------------------------------------------------------------------- */

static enum tn_status invalid(struct tn_json v, const char *message, const char *expected, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_METADATA_INVALID, TN_PHASE_PLAN, "%s", message);
    tn_at_json(f, v);
    tn_expected(f, "%s", expected);
    return TN_METADATA_INVALID;
}

static enum tn_status invalid_member(struct tn_json object, const char *key, const char *expected, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_METADATA_INVALID, TN_PHASE_PLAN, "the plan lacks the member \"%s\"", key);
    tn_at_json_member(f, object, key);
    tn_expected(f, "%s", expected);
    return TN_METADATA_INVALID;
}

struct reader {
    tn_plan_options options;
    enum tn_choice_origin origin[TN_PLAN_OPTIONS];
    struct tn_arena arena;
    struct tn_error *err;
};

static enum tn_status read_origin(struct reader *r, enum tn_plan_option option, struct tn_json object)
{
    struct tn_str name;
    if (tn_json_str(tn_json_get(object, "origin"), &name)) {
        for (int i = 0; i < TN_CHOICE_ORIGINS; i++) {
            if (!tn_str_is(name, tn_choice_origin_name((enum tn_choice_origin)i))) continue;
            r->origin[option] = (enum tn_choice_origin)i;
            return TN_OK;
        }
    }
    return invalid_member(object, "origin", "\"default\", \"package\", \"hint\" or \"request\"", r->err);
}

static enum tn_status read_text(struct reader *r, struct tn_json value, const char **out)
{
    struct tn_str s;
    if (tn_json_is(value, TN_JSON_NULL)) return TN_OK;
    if (!tn_json_str(value, &s) || memchr(s.s, 0, s.n)) return invalid(value, "the option is not a text", "a string or null", r->err);
    *out = tn_arena_strndup(&r->arena, s.s, s.n);
    return *out ? TN_OK : tn_error_memory(r->err, TN_PHASE_PLAN, "reading the plan");
}

static enum tn_status read_number(struct reader *r, struct tn_json value, uint64_t max, uint64_t *out)
{
    if (tn_json_u64(value, out) && *out <= max) return TN_OK;
    return invalid(value, "the option is not a number of its range", "an integer", r->err);
}

static enum tn_status read_value(struct reader *r, enum tn_plan_option option, struct tn_json value)
{
    uint64_t number = 0;
    enum tn_status st;
    switch (option) {
    case TN_OPTION_TASK: return read_text(r, value, &r->options.task);
    case TN_OPTION_PROVIDER: return read_text(r, value, &r->options.provider);
    case TN_OPTION_DEVICE: return read_text(r, value, &r->options.device);
    case TN_OPTION_PLACEMENT: return read_text(r, value, &r->options.placement);
    case TN_OPTION_NUMERIC: return read_text(r, value, &r->options.numeric);
    case TN_OPTION_REQUIRE_LEVEL: return read_text(r, value, &r->options.require_level);
    case TN_OPTION_WITHOUT: return read_text(r, value, &r->options.without);
    case TN_OPTION_FALLBACK: return read_text(r, value, &r->options.fallback);
    case TN_OPTION_PRECISION: return read_text(r, value, &r->options.precision);
    case TN_OPTION_ALLOW_CODE: return read_text(r, value, &r->options.allow_code);
    case TN_OPTION_THREADS:
        st = read_number(r, value, UINT32_MAX, &number);
        r->options.threads = (unsigned)number;
        return st;
    default:
        st = read_number(r, value, UINT64_MAX, &number);
        r->options.memory_limit = number;
        return st;
    }
}

static enum tn_status read_options(struct reader *r, struct tn_json root)
{
    struct tn_json options = tn_json_get(root, "options");
    if (!tn_json_is(options, TN_JSON_OBJECT)) return invalid_member(root, "options", "an object", r->err);
    r->options.struct_size = sizeof(r->options);
    for (int i = 0; i < TN_PLAN_OPTIONS; i++) {
        const char *name = tn_plan_option_name((enum tn_plan_option)i);
        struct tn_json entry = tn_json_get(options, name), value = tn_json_get(entry, "value");
        if (!tn_json_present(value)) return invalid_member(options, name, "an object with value and origin", r->err);
        enum tn_status st = read_origin(r, (enum tn_plan_option)i, entry);
        /* What a hint decided, the hint decides again: hints are read below. */
        if (!st && r->origin[i] != TN_CHOICE_HINT) st = read_value(r, (enum tn_plan_option)i, value);
        if (st) return st;
    }
    return TN_OK;
}

static enum tn_status read_hints(struct reader *r, struct tn_json root)
{
    struct tn_json hints = tn_json_get(root, "hints");
    if (!tn_json_is(hints, TN_JSON_OBJECT)) return invalid_member(root, "hints", "an object", r->err);
    enum tn_status st = read_text(r, tn_json_get(hints, "caller"), &r->options.hints);
    if (!st) st = read_text(r, tn_json_get(hints, "user"), &r->options.user_hints);
    if (!st) st = read_text(r, tn_json_get(hints, "user_name"), &r->options.user_hints_name);
    return st;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

/* What a pointer of the document is about, for people. */
static const char *topic_of(struct tn_str pointer)
{
    static const struct {
        const char *prefix, *topic;
    } topics[] = {
        {"/package/manifest", "the package's files"}, {"/package/closure", "the bytes of the package"},
        {"/package", "how the package is read"},
        {"/build", "the build of tenon"},             {"/machine", "the machine class"},
        {"/kernels", "the machine class"},            {"/provider", "the provider"},
        {"/recipe", "the recipe"},                    {"/options", "the options"},
        {"/task_options", "the options of the task"}, {"/hints", "the execution hints"},
        {"/numeric", "the numeric policy"},           {"/memory", "the memory estimate"},
        {"/id", "the fingerprint"},
    };
    for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
        if (tn_str_starts(pointer, topics[i].prefix)) return topics[i].topic;
    }
    return "the plan";
}

static enum tn_status stale(struct tn_json was, struct tn_json is, struct tn_error *err)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(was, pointer, sizeof(pointer)), now = tn_json_text(is), then = tn_json_text(was);
    struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_STALE, TN_PHASE_PLAN, "%s changed since the plan was made", topic_of(at));
    tn_at_json(f, was);
    tn_found(f, "%.*s", TN_FMT_ARG(now));
    tn_expected(f, "%.*s", TN_FMT_ARG(then));
    tn_remedy(f, "make the plan again with `tenon plan`");
    return TN_ARTIFACT_STALE;
}

static bool same_scalar(struct tn_json a, struct tn_json b)
{
    struct tn_str x, y;
    if (tn_json_str(a, &x) && tn_json_str(b, &y)) return tn_str_eq(x, y);
    return tn_str_eq(tn_json_text(a), tn_json_text(b));
}

/* Evidence grows over time, and what a plan says about it binds nobody; the fingerprint is compared last. */
static bool is_apart(struct tn_str key)
{
    return tn_str_is(key, "evidence_level") || tn_str_is(key, "record") || tn_str_is(key, "note") || tn_str_is(key, "id");
}

/* What an option was said against is for people: another machine has other defaults, and the plan keeps its own word. */
static bool is_told_only(struct tn_str key, unsigned depth)
{
    return depth == 2 && tn_str_is(key, "overrides");
}

/* What verification finds binds only where both sides know it. */
static bool is_unknown(struct tn_json was, struct tn_json is)
{
    return tn_str_is(tn_json_key(was), "closure") && (tn_json_is(was, TN_JSON_NULL) || tn_json_is(is, TN_JSON_NULL)) &&
           (tn_json_is(was, TN_JSON_STRING) || tn_json_is(was, TN_JSON_NULL));
}

enum { DEEPEST = 32 };

static enum tn_status compare(struct tn_json was, struct tn_json is, unsigned depth, struct tn_error *err);

static enum tn_status compare_object(struct tn_json was, struct tn_json is, unsigned depth, struct tn_error *err)
{
    for (struct tn_json v = tn_json_first(was); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_json_present(tn_json_get_str(is, tn_json_key(v)))) {
            return invalid(v, "the plan has a member that is not part of it", "the members that `tenon plan` prints", err);
        }
    }
    for (struct tn_json v = tn_json_first(is); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_json other = tn_json_get_str(was, tn_json_key(v));
        if (!tn_json_present(other)) {
            char key[128];
            struct tn_str k = tn_json_key(v);
            snprintf(key, sizeof(key), "%.*s", (int)(k.n < 100 ? k.n : 100), k.s);
            return invalid_member(was, key, "the members that `tenon plan` prints", err);
        }
        if ((depth == 0 && is_apart(tn_json_key(v))) || (depth == 1 && is_unknown(other, v)) ||
            is_told_only(tn_json_key(v), depth))
            continue;
        enum tn_status st = compare(other, v, depth + 1, err);
        if (st) return st;
    }
    return TN_OK;
}

static enum tn_status compare_array(struct tn_json was, struct tn_json is, unsigned depth, struct tn_error *err)
{
    if (tn_json_count(was) != tn_json_count(is)) return stale(was, is, err);
    struct tn_json a = tn_json_first(was), b = tn_json_first(is);
    for (; tn_json_present(a) && tn_json_present(b); a = tn_json_next(a), b = tn_json_next(b)) {
        enum tn_status st = compare(a, b, depth + 1, err);
        if (st) return st;
    }
    return TN_OK;
}

static enum tn_status compare(struct tn_json was, struct tn_json is, unsigned depth, struct tn_error *err)
{
    if (depth > DEEPEST || tn_json_type(was) != tn_json_type(is)) return stale(was, is, err);
    if (tn_json_is(is, TN_JSON_OBJECT)) return compare_object(was, is, depth, err);
    if (tn_json_is(is, TN_JSON_ARRAY)) return compare_array(was, is, depth, err);
    return same_scalar(was, is) ? TN_OK : stale(was, is, err);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

static enum tn_status check_schema(struct tn_json root, struct tn_error *err)
{
    struct tn_str schema;
    if (!tn_json_is(root, TN_JSON_OBJECT)) return invalid(root, "the plan is not an object", "a JSON object", err);
    if (!tn_json_str(tn_json_get(root, "schema"), &schema)) return invalid_member(root, "schema", "\"" TN_PLAN_SCHEMA "\"", err);
    if (tn_str_is(schema, TN_PLAN_SCHEMA)) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_METADATA_INVALID, TN_PHASE_PLAN, "the plan is of another version");
    tn_at_json_member(f, root, "schema");
    tn_found(f, "%.*s", TN_FMT_ARG(schema));
    tn_expected(f, "%s", TN_PLAN_SCHEMA);
    return TN_METADATA_INVALID;
}

/* What would make planning itself fail in confusing ways is looked at first: another package, another build. */
static enum tn_status check_early(const struct tn_planner *planner, struct tn_json root, struct tn_error *err)
{
    char hex[TN_SHA256_HEX];
    struct tn_json was[2] = {tn_json_find(root, "/package/manifest"), tn_json_find(root, "/build/version")};
    const char *is[2] = {tn_digest_hex(&planner->d->inv->manifest, hex), tn_version()};
    for (int i = 0; i < 2; i++) {
        struct tn_str s;
        if (!tn_json_str(was[i], &s)) return invalid_member(root, i ? "build" : "package", "a string inside", err);
        if (tn_str_is(s, is[i])) continue;
        char pointer[64];
        struct tn_str at = tn_json_pointer(was[i], pointer, sizeof(pointer));
        struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_STALE, TN_PHASE_PLAN, "%s changed since the plan was made", topic_of(at));
        tn_at_json(f, was[i]);
        tn_found(f, "%s", is[i]);
        tn_expected(f, "%.*s", TN_FMT_ARG(s));
        tn_remedy(f, "make the plan again with `tenon plan`");
        return TN_ARTIFACT_STALE;
    }
    return TN_OK;
}

static enum tn_status compare_with(const struct tn_plan *plan, struct tn_json was, struct tn_error *err)
{
    const struct tn_context *ctx = plan->survey.planner->ctx;
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_json_doc doc = {0};
    tn_buf_init(&text, ctx->alloc, (size_t)ctx->limits.json_bytes);
    tn_jw_init(&w, &text, false);
    tn_plan_write(&w, plan);
    enum tn_status st = tn_buf_status(&text) ? tn_error_memory(err, TN_PHASE_PLAN, "printing the plan again") : TN_OK;
    if (!st) st = tn_json_parse(&doc, ctx->alloc, &ctx->limits, TN_STR("plan"), tn_buf_str(&text), err);
    if (!st) st = compare(was, tn_json_root(&doc), 0, err);
    struct tn_json id = tn_json_get(was, "id");
    if (!st && !same_scalar(id, tn_json_get(tn_json_root(&doc), "id"))) {
        st = stale(id, tn_json_get(tn_json_root(&doc), "id"), err);
    }
    tn_json_release(&doc);
    tn_buf_release(&text);
    return st;
}

enum tn_status tn_plan_again(const struct tn_planner *planner, struct tn_str text, struct tn_keep keep,
                             struct tn_plan **out, struct tn_error *err)
{
    const struct tn_context *ctx = planner->ctx;
    struct tn_planner quiet = *planner;
    struct reader r = {.err = err};
    struct tn_json_doc doc = {0};
    struct tn_plan *plan = NULL;
    *out = NULL;
    quiet.defaults.memory_limit = 0; /* the document's word stands; the runtime's limit binds by itself */
    tn_arena_init(&r.arena, ctx->alloc);
    enum tn_status st = tn_json_parse(&doc, ctx->alloc, &ctx->limits, TN_STR("plan"), text, err);
    if (st) goto out;
    struct tn_json root = tn_json_root(&doc);
    st = check_schema(root, err);
    if (!st) st = check_early(&quiet, root, err);
    if (!st) st = read_options(&r, root);
    if (!st) st = read_hints(&r, root);
    if (!st) st = tn_plan_make(&quiet, &r.options, r.origin, (struct tn_keep){0}, &plan, err);
    if (st) goto out;
    st = compare_with(plan, root, err);
    if (st) goto out;
    plan->keep = keep;
    *out = plan;
    plan = NULL;
out:
    tn_plan_drop(plan);
    tn_json_release(&doc);
    tn_arena_release(&r.arena);
    return st;
}
