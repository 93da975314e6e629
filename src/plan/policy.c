/*
 * Effective options of a plan, each with its origin and what it overrides. Options are the caller's: a value that cannot be
 * obeyed is refused with what could be, never replaced.
 */
#include "base/json_write.h"
#include "base/nearest.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

const char *tn_plan_option_name(enum tn_plan_option option)
{
    static const char *const names[TN_PLAN_OPTIONS] = {
#define X(name, text) text,
        TN_PLAN_OPTION_LIST(X)
#undef X
    };
    return (unsigned)option < TN_PLAN_OPTIONS ? names[option] : "unknown";
}

struct maker {
    struct tn_policy *policy;
    struct tn_arena *arena;
    const enum tn_choice_origin *origin;
    const struct tn_hint *place;
    struct tn_findings *findings;
    bool no_memory;
};

static void state(struct maker *m, enum tn_plan_option option, enum tn_choice_origin origin, struct tn_str value)
{
    if (!value.s) m->no_memory = true;
    tn_option_state(&m->policy->option[option], (struct tn_statement){.origin = origin, .value = value});
}

static enum tn_choice_origin origin_of(const struct maker *m, enum tn_plan_option option)
{
    return m->origin ? m->origin[option] : TN_CHOICE_REQUEST;
}

static const char *keep(struct maker *m, enum tn_plan_option option, const char *value, const char *fallback)
{
    m->policy->option[option].name = tn_plan_option_name(option);
    if (fallback) state(m, option, TN_CHOICE_DEFAULT, tn_json_text_of_str(m->arena, tn_str_of(fallback)));
    if (value) state(m, option, origin_of(m, option), tn_json_text_of_str(m->arena, tn_str_of(value)));
    if (!value) value = fallback;
    if (!value) return NULL;
    char *copy = tn_arena_strndup(m->arena, value, strlen(value));
    if (!copy) m->no_memory = true;
    return copy;
}

static uint64_t keep_number(struct maker *m, enum tn_plan_option option, uint64_t value, uint64_t fallback)
{
    m->policy->option[option].name = tn_plan_option_name(option);
    state(m, option, TN_CHOICE_DEFAULT, tn_json_text_of_u64(m->arena, fallback));
    if (value) state(m, option, origin_of(m, option), tn_json_text_of_u64(m->arena, value));
    return value ? value : fallback;
}

/*
 * A hint that places everything on the CPU stands between default and request; one that forces another device is refused
 * when it is judged. A request is policy: the hint then counts no more, and stands in the list of what was overridden.
 */
static const char *keep_device(struct maker *m, const char *asked)
{
    const struct tn_hint *h = m->place;
    struct tn_option *o = &m->policy->option[TN_OPTION_DEVICE];
    o->name = tn_plan_option_name(TN_OPTION_DEVICE);
    state(m, TN_OPTION_DEVICE, TN_CHOICE_DEFAULT, TN_STR("\"cpu\""));
    if (h && tn_hint_device_among(&h->device, &tn_hint_cpu, 1)) {
        tn_option_state(o, (struct tn_statement){.origin = TN_CHOICE_HINT, .value = TN_STR("\"cpu\""), .file = h->file,
                                                 .pointer = h->pointer, .by = tn_hint_origin_name(h->origin)});
    }
    if (!asked) return "cpu";
    state(m, TN_OPTION_DEVICE, origin_of(m, TN_OPTION_DEVICE), tn_json_text_of_str(m->arena, tn_str_of(asked)));
    char *copy = tn_arena_strndup(m->arena, asked, strlen(asked));
    if (!copy) m->no_memory = true;
    return copy;
}

static struct tn_finding *refuse(struct maker *m, enum tn_plan_option option, enum tn_status code, const char *message,
                                 const char *found)
{
    struct tn_finding *f = tn_findings_add(m->findings, TN_BLOCKER, code, TN_PHASE_ASSESS, "%s", message);
    tn_at_option(f, tn_plan_option_name(option));
    tn_found(f, "%s", found);
    return f;
}

static void list_tasks(struct tn_finding *f)
{
    char text[256];
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; tn_task_at(i) && at < sizeof(text); i++) {
        int n = snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "", tn_task_at(i)->name);
        if (n > 0) at += (size_t)n;
    }
    tn_expected(f, "one of: %s", text);
}

/* The task that was perhaps meant: spelled nearly so, or of a name that begins so. */
static void suggest_task(struct tn_finding *f, struct tn_str name)
{
    struct tn_nearest near = {0};
    const char *longer = NULL;
    for (size_t i = 0; tn_task_at(i); i++) {
        const char *known = tn_task_at(i)->name;
        tn_nearest_offer(&near, name, known);
        if (!longer && name.n > 1 && strlen(known) > name.n && memcmp(known, name.s, name.n) == 0) longer = known;
    }
    if (near.name || longer) tn_remedy(f, "perhaps %s", longer ? longer : near.name);
}

static void resolve_task(struct maker *m)
{
    struct tn_policy *p = m->policy;
    if (!p->task_name || !p->task_name[0]) {
        list_tasks(refuse(m, TN_OPTION_TASK, TN_INVALID_REQUEST, "no task is named", "nothing"));
        return;
    }
    p->task = tn_task_find(p->task_name);
    if (p->task) return;
    struct tn_finding *f = refuse(m, TN_OPTION_TASK, TN_UNSUPPORTED_TASK, "no task of this name exists", p->task_name);
    list_tasks(f);
    suggest_task(f, tn_str_of(p->task_name));
}

/* "a, b,c" into names; empty ones and repetitions are refused. */
static void split_providers(struct maker *m)
{
    struct tn_policy *p = m->policy;
    char *at = tn_arena_strndup(m->arena, p->provider_list, strlen(p->provider_list));
    if (!at) {
        m->no_memory = true;
        return;
    }
    while (at) {
        char *comma = strchr(at, ',');
        if (comma) *comma = 0;
        while (*at == ' ') at++;
        for (size_t n = strlen(at); n > 0 && at[n - 1] == ' '; n--) at[n - 1] = 0;
        bool repeated = false;
        for (uint32_t i = 0; i < p->provider_count; i++) repeated |= strcmp(p->providers[i], at) == 0;
        if (!*at || repeated || p->provider_count == TN_POLICY_PROVIDERS) {
            struct tn_finding *f = refuse(m, TN_OPTION_PROVIDER, TN_INVALID_REQUEST, "the list of providers cannot be read",
                                          p->provider_list);
            tn_expected(f, "up to %d different names, separated by commas", TN_POLICY_PROVIDERS);
            return;
        }
        p->providers[p->provider_count++] = at;
        at = comma ? comma + 1 : NULL;
    }
}

static void resolve_level(struct maker *m)
{
    struct tn_policy *p = m->policy;
    char text[256];
    size_t at = 0;
    p->level = TN_LEVEL_STRUCTURALLY_VALID;
    if (!p->require_level) return;
    enum tn_level level;
    bool known = tn_level_parse(tn_str_of(p->require_level), &level);
    if (known && level != TN_LEVEL_WITHDRAWN) {
        p->level = level;
        return;
    }
    text[0] = 0;
    for (int i = 0; i < TN_LEVELS && at < sizeof(text); i++) {
        if (i == TN_LEVEL_WITHDRAWN) continue;
        int n = snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "", tn_level_name((enum tn_level)i));
        if (n > 0) at += (size_t)n;
    }
    tn_expected(refuse(m, TN_OPTION_REQUIRE_LEVEL, TN_UNSUPPORTED_OPTION, "no evidence level of this name can be required",
                       p->require_level), "one of: %s", text);
}

/* One of two words; whether it is the second. */
static bool second_of(struct maker *m, enum tn_plan_option option, const char *value, const char *first, const char *second,
                      const char *message)
{
    if (strcmp(value, second) == 0) return true;
    if (strcmp(value, first) != 0) tn_expected(refuse(m, option, TN_UNSUPPORTED_OPTION, message, value), "%s or %s", first, second);
    return false;
}

/* Whether it is there is each provider's to say. */
static void resolve_device(struct maker *m)
{
    struct tn_policy *p = m->policy;
    p->place = (struct tn_hint_device){.type = TN_DEVICE_CPU};
    struct tn_hint_device said;
    if (tn_hint_device_parse(tn_str_of(p->device), &said) && said.type != TN_DEVICE_ANY) {
        p->place = said;
        return;
    }
    struct tn_finding *f = refuse(m, TN_OPTION_DEVICE, TN_PLACEMENT_REFUSED, "no device of this name exists", p->device);
    tn_expected(f, "cpu, gpu or npu, with :INDEX behind it where there are several");
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_digest(struct tn_str s, struct tn_digest *out)
{
    if (s.n != 2 * TN_SHA256_BYTES) return false;
    for (size_t i = 0; i < TN_SHA256_BYTES; i++) {
        int high = hex_value(s.s[2 * i]), low = hex_value(s.s[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out->bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* "DIGEST, DIGEST": what is permitted is named by its bytes and never by where it lies. */
static void resolve_code(struct maker *m)
{
    struct tn_policy *p = m->policy;
    size_t most = 1;
    for (const char *c = p->allow_code; c && *c; c++) most += *c == ',';
    if (!p->allow_code) return;
    p->code = tn_arena_array(m->arena, most, sizeof(*p->code));
    if (!p->code) m->no_memory = true;
    for (const char *at = p->allow_code; at && p->code;) {
        size_t n = strcspn(at, ",");
        struct tn_str s = {at, n};
        while (s.n > 0 && *s.s == ' ') s.s++, s.n--;
        while (s.n > 0 && s.s[s.n - 1] == ' ') s.n--;
        if (!read_digest(s, &p->code[p->code_count])) {
            tn_expected(refuse(m, TN_OPTION_ALLOW_CODE, TN_INVALID_REQUEST, "the list of code that may run cannot be read", p->allow_code),
                        "SHA-256 digests of 64 lower-case hexadecimal digits, separated by commas");
            return;
        }
        p->code_count++;
        at = at[n] ? at + n + 1 : NULL;
    }
}

static void resolve_machine(struct maker *m, const struct tn_policy_defaults *defaults)
{
    struct tn_policy *p = m->policy;
    resolve_device(m);
    p->split = second_of(m, TN_OPTION_PLACEMENT, p->placement, "strict", "split", "no placement of this name exists");
    p->falls_at_load = second_of(m, TN_OPTION_FALLBACK, p->fallback, "plan", "load", "no fallback of this name exists");
    p->precision_changes = second_of(m, TN_OPTION_PRECISION, p->precision, "keep", "change", "no permission of this name exists");
    resolve_code(m);
    if (strcmp(p->numeric, "f32") != 0 && strcmp(p->numeric, "bf16") != 0) {
        tn_expected(refuse(m, TN_OPTION_NUMERIC, TN_UNSUPPORTED_OPTION, "no numeric policy of this name exists", p->numeric),
                    "f32 or bf16");
    }
    if (p->threads > defaults->most_threads) {
        char found[32];
        snprintf(found, sizeof(found), "%llu", (unsigned long long)p->threads);
        tn_expected(refuse(m, TN_OPTION_THREADS, TN_RESOURCE_LIMIT, "more threads are asked for than the limit allows", found),
                    "at most %llu", (unsigned long long)defaults->most_threads);
    }
}

enum tn_status tn_policy_make(struct tn_policy *policy, struct tn_arena *arena, const tn_plan_options *options,
                              const enum tn_choice_origin *origin, const struct tn_hint *place,
                              const struct tn_policy_defaults *defaults, struct tn_findings *findings,
                              struct tn_error *err)
{
    struct maker m = {policy, arena, origin, place, findings, false};
    *policy = (struct tn_policy){0};
    policy->task_name = keep(&m, TN_OPTION_TASK, options->task, NULL);
    policy->provider_list = keep(&m, TN_OPTION_PROVIDER, options->provider, "native");
    policy->device = keep_device(&m, options->device);
    policy->placement = keep(&m, TN_OPTION_PLACEMENT, options->placement, "strict");
    policy->numeric = keep(&m, TN_OPTION_NUMERIC, options->numeric, "f32");
    policy->require_level = keep(&m, TN_OPTION_REQUIRE_LEVEL, options->require_level, NULL);
    policy->without = keep(&m, TN_OPTION_WITHOUT, options->without, NULL);
    policy->fallback = keep(&m, TN_OPTION_FALLBACK, options->fallback, "plan");
    policy->precision = keep(&m, TN_OPTION_PRECISION, options->precision, "keep");
    policy->allow_code = keep(&m, TN_OPTION_ALLOW_CODE, options->allow_code, NULL);
    policy->threads = keep_number(&m, TN_OPTION_THREADS, options->threads, defaults->threads);
    policy->memory_limit = keep_number(&m, TN_OPTION_MEMORY_LIMIT, options->memory_limit, defaults->memory_limit);
    if (!m.no_memory) {
        resolve_task(&m);
        split_providers(&m);
        resolve_level(&m);
        resolve_machine(&m, defaults);
    }
    return m.no_memory ? tn_error_memory(err, TN_PHASE_ASSESS, "keeping the options") : TN_OK;
}

bool tn_policy_accepts(const struct tn_policy *p, enum tn_level level)
{
    if (level == TN_LEVEL_WITHDRAWN) return p->require_level && p->level == TN_LEVEL_RECOGNISED;
    return tn_level_satisfies(level, p->level);
}

void tn_policy_write(struct tn_json_writer *w, const struct tn_policy *p)
{
    tn_jw_key(w, "options");
    tn_jw_begin_object(w);
    for (int i = 0; i < TN_PLAN_OPTIONS; i++) tn_option_write(w, &p->option[i]);
    tn_jw_end_object(w);
}
