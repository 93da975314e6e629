/*
 * One text through the pipeline, stage by stage, against the states that an independent implementation recorded:
 * embeddings, every layer, every module behind. Where the final vectors differ, the first stage that does names the
 * place. Stages are found by the names that providers give to the operators that end one (provider.h, tn_tap_fn).
 */
#include "qualify/suite.h"

#include <math.h>
#include <string.h>

struct stages {
    struct tn_suite *s;
    struct tn_check *check;
    struct tn_json recorded;
    bool *seen;          /* embeddings, layers, modules, one after another */
    size_t layers, modules;
    struct tn_difference worst;
    bool no_memory;
};

/* ---- which stage an operator ends --------------------------------------------------------------------------------- */

/* A number between two parts of a name. */
static bool numbered(struct tn_str name, const char *before, const char *after, uint64_t *number)
{
    size_t n = strlen(before), m = strlen(after);
    if (name.n <= n + m || memcmp(name.s, before, n) != 0 || memcmp(name.s + name.n - m, after, m) != 0) return false;
    *number = 0;
    for (size_t i = n; i < name.n - m; i++) {
        if (name.s[i] < '0' || name.s[i] > '9' || *number > UINT32_MAX) return false;
        *number = *number * 10 + (uint64_t)(name.s[i] - '0');
    }
    return true;
}

static struct tn_json module_output(const struct stages *c, uint64_t index, size_t *slot)
{
    size_t at = 0;
    for (struct tn_json v = tn_json_first(tn_json_get(c->recorded, "modules")); tn_json_present(v); v = tn_json_next(v), at++) {
        uint64_t number;
        if (!tn_json_u64(tn_json_get(v, "index"), &number) || number != index) continue;
        *slot = 1 + c->layers + at;
        return tn_json_get(v, "output");
    }
    return (struct tn_json){0};
}

/* The recorded rows of the stage that this operator ends, and where it is ticked off; absent: it ends none. */
static struct tn_json recorded_rows(const struct stages *c, struct tn_str op, size_t *slot)
{
    static const char *const module_ends[] = {" pooling", " dense", " layer norm", " normalize"};
    uint64_t number;
    *slot = 0;
    if (tn_str_is(op, "embeddings")) return tn_json_get(c->recorded, "embeddings");
    if (numbered(op, "layer ", " output norm", &number) || numbered(op, "layer ", " output sum", &number)) {
        *slot = 1 + (size_t)number;
        return number < c->layers ? tn_json_at(tn_json_get(c->recorded, "layers"), (size_t)number) : (struct tn_json){0};
    }
    for (size_t i = 0; i < sizeof(module_ends) / sizeof(module_ends[0]); i++) {
        if (numbered(op, "module ", module_ends[i], &number)) return module_output(c, number, slot);
    }
    return (struct tn_json){0};
}

static bool has_passed(const struct stages *c)
{
    return c->check->outcome == TN_CHECK_PASSED;
}

/* ---- comparing ---------------------------------------------------------------------------------------------------- */

/* Numbers of a row, or of rows, one after another; how many there are, of which at most `most` are stored. */
static size_t read_numbers(struct tn_json v, float *out, size_t most)
{
    size_t n = 0;
    double number;
    for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e)) {
        if (tn_json_is(e, TN_JSON_ARRAY)) {
            n += read_numbers(e, out + (n < most ? n : most), n < most ? most - n : 0);
            continue;
        }
        if (n < most) out[n] = tn_json_f64(e, &number) ? (float)number : NAN;
        n++;
    }
    return n;
}

static void compare_rows(struct stages *c, struct tn_str op, struct tn_json recorded, const float *rows, size_t count,
                         size_t width)
{
    float *expected = tn_malloc(c->s->alloc, count * width * sizeof(*expected) + 1);
    if (!expected) {
        c->no_memory = true;
        return;
    }
    size_t n = read_numbers(recorded, expected, count * width);
    if (n != count * width) {
        tn_check_fail(c->check, "%.*s: %zu numbers where the golden has %zu", TN_FMT_ARG(op), count * width, n);
    } else {
        struct tn_difference d = tn_compare_rows(rows, expected, count, width);
        if (d.max_abs > c->worst.max_abs) c->worst.max_abs = d.max_abs;
        if (d.max_rel > c->worst.max_rel) c->worst.max_rel = d.max_rel;
        if (!d.finite) tn_check_fail(c->check, "%.*s: a number is not finite", TN_FMT_ARG(op));
        else if (!(d.max_rel <= TN_SUITE_F32_TOLERANCE))
            tn_check_fail(c->check, "%.*s differs first, by %s in row %zu", TN_FMT_ARG(op), TN_F64(d.max_rel), d.worst_row);
    }
    tn_free(c->s->alloc, expected);
}

static void tap(void *user, struct tn_str op, const float *rows, size_t count, size_t width)
{
    struct stages *c = user;
    size_t slot;
    struct tn_json recorded = recorded_rows(c, op, &slot);
    if (!tn_json_present(recorded) || c->seen[slot]) return;
    c->seen[slot] = true;
    /* What follows from the first difference is no news. */
    if (has_passed(c) && !c->no_memory) compare_rows(c, op, recorded, rows, count, width);
}

/* ---- the run ------------------------------------------------------------------------------------------------------ */

static enum tn_status read_ids(struct tn_suite *s, struct tn_json list, size_t count, int32_t **out)
{
    size_t n = 0;
    *out = tn_calloc(s->alloc, count + 1, sizeof(**out));
    if (!*out) return tn_suite_no_memory(s);
    for (struct tn_json v = tn_json_first(list); tn_json_present(v) && n < count; v = tn_json_next(v), n++) {
        int64_t id = -1;
        (void)tn_json_i64(v, &id);
        (*out)[n] = id < 0 || id > INT32_MAX ? INT32_MAX : (int32_t)id; /* the provider says that it is beyond the table */
    }
    return TN_OK;
}

static enum tn_status invoke(struct stages *c, struct tn_instance *instance, size_t count)
{
    struct tn_suite *s = c->s;
    const struct tn_survey_row *row = s->plan->row;
    struct tn_json types = tn_json_get(c->recorded, "type_ids");
    int32_t *ids = NULL, *type_ids = NULL, offsets[2] = {0, (int32_t)count};
    struct tn_span span = {.count = (int32_t)count};
    uint8_t result = TN_ITEM_STOPPED;
    float *vector = tn_malloc(s->alloc, (size_t)row->assessment.output_width * sizeof(*vector));
    enum tn_status st = vector ? read_ids(s, tn_json_get(c->recorded, "ids"), count, &ids) : tn_suite_no_memory(s);
    if (!st && s->d->tokenizer.type_ids && tn_json_is(types, TN_JSON_ARRAY)) st = read_ids(s, types, count, &type_ids);
    if (!st) {
        struct tn_invocation call = {.ids = ids, .type_ids = type_ids, .offsets = offsets, .spans = &span, .sequences = 1,
                                     .out = vector, .status = &result, .tap = tap, .tap_user = c};
        st = row->entry->provider->invoke(instance, &call, s->err);
    }
    if (!st && c->no_memory) st = tn_suite_no_memory(s);
    if (!st && result != TN_ITEM_DONE && has_passed(c)) tn_check_fail(c->check, "the recorded ids cannot be run");
    tn_free(s->alloc, ids);
    tn_free(s->alloc, type_ids);
    tn_free(s->alloc, vector);
    return st;
}

/*
 * Whether the provider runs what this stage is the end of: modules that do nothing at inference have no operator, and a
 * Normalize that ends the chain is the recipe's.
 */
static bool is_due(const struct stages *c, size_t slot)
{
    const struct tn_component_request *request = &c->s->plan->row->request;
    uint64_t index;
    if (slot <= c->layers) return true;
    struct tn_json module = tn_json_at(tn_json_get(c->recorded, "modules"), slot - 1 - c->layers);
    if (!tn_json_u64(tn_json_get(module, "index"), &index)) return true;
    for (uint32_t i = request->first_module; i < request->module_end; i++) {
        if (c->s->d->modules[i].index == index) return true;
    }
    return false;
}

static void judge(struct stages *c)
{
    size_t met = 0, all = 0;
    for (size_t i = 0; i < 1 + c->layers + c->modules; i++) {
        met += c->seen[i];
        all += is_due(c, i);
    }
    tn_check_measure(c->check, "stages", (double)met);
    if (met == 0) {
        tn_check_skip(c->check, "the provider shows no operator that ends a stage");
        return;
    }
    tn_check_measure(c->check, "max_abs", c->worst.max_abs);
    tn_check_measure(c->check, "max_rel", c->worst.max_rel);
    tn_check_measure(c->check, "limit", TN_SUITE_F32_TOLERANCE);
    if (met < all && has_passed(c)) tn_check_fail(c->check, "%zu stages where the golden has %zu", met, all);
}

static enum tn_status compare(struct stages *c)
{
    struct tn_suite *s = c->s;
    const struct tn_survey_row *row = s->plan->row;
    struct tn_load_env env = {.ctx = s->env->ctx, .pool = s->env->pool, .cancel = s->env->stop};
    struct tn_instance *instance = NULL;
    size_t count = tn_json_count(tn_json_get(c->recorded, "ids"));
    if (count == 0 || count > row->request.max_rows) {
        tn_check_fail(c->check, "%zu recorded ids where the plan takes 1 to %llu", count,
                      (unsigned long long)row->request.max_rows);
        return TN_OK;
    }
    c->layers = tn_json_count(tn_json_get(c->recorded, "layers"));
    c->modules = tn_json_count(tn_json_get(c->recorded, "modules"));
    c->seen = tn_calloc(s->alloc, 1 + c->layers + c->modules, sizeof(*c->seen));
    if (!c->seen) return tn_suite_no_memory(s);
    enum tn_status st = row->entry->provider->load(&row->assessment, &row->request, &env, &instance, s->err);
    if (!st) {
        st = invoke(c, instance, count);
        row->entry->provider->release(instance);
    }
    if (!st) judge(c);
    tn_free(s->alloc, c->seen);
    return st;
}

enum tn_status tn_check_stages(struct tn_suite *s)
{
    struct stages c = {.s = s, .recorded = s->golden.stages};
    if (!s->golden.present || !tn_json_present(c.recorded)) return TN_OK;
    c.check = tn_suite_check(s, "golden.stages", TN_LEVEL_REFERENCE_QUALIFIED,
                             "the states of one text equal the reference's, stage by stage", TN_SUITE_F32_WHY);
    if (!c.check) return tn_suite_no_memory(s);
    if (s->plan->row->assessment.numeric.compute != TN_COMPUTE_F32) {
        tn_check_skip(c.check, "single states are compared in f32 alone: bfloat16 rounds each of them");
        return TN_OK;
    }
    return compare(&c);
}
