/* Demands on the machine against the machine. The unit of the standard's "GB" is 2^30 bytes: its text says GiB. */
#include "describe/hardware.h"

#include <math.h>
#include <stdio.h>

static bool read_types(struct tn_json list, struct tn_arena *arena, struct tn_str **out, size_t *count)
{
    struct tn_str name;
    if (!tn_json_is(list, TN_JSON_ARRAY)) return true;
    struct tn_str *types = *out = tn_arena_array(arena, tn_json_count(list), sizeof(*types));
    if (!types) return false;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_json_str(v, &name)) continue;
        types[*count] = tn_arena_str(arena, name);
        if (!types[(*count)++].s) return false;
    }
    return true;
}

enum tn_status tn_hardware_read(struct tn_json v, struct tn_arena *arena, struct tn_hardware *out, struct tn_error *err)
{
    char pointer[256];
    *out = (struct tn_hardware){0};
    if (!tn_json_is(v, TN_JSON_OBJECT)) return TN_OK;
    out->file = tn_arena_str(arena, v.doc->file);
    out->pointer = tn_arena_str(arena, tn_json_pointer(v, pointer, sizeof(pointer)));
    out->has_memory = tn_json_f64(tn_json_get(v, "min_memory_gb"), &out->memory_gib);
    out->has_degree = tn_json_u64(tn_json_get(v, "min_tp_degree"), &out->tp_degree);
    if (out->file.s && out->pointer.s &&
        read_types(tn_json_get(v, "required_dtypes"), arena, &out->required, &out->required_count) &&
        read_types(tn_json_get(v, "beneficial_dtypes"), arena, &out->beneficial, &out->beneficial_count))
        return TN_OK;
    *out = (struct tn_hardware){0};
    return tn_error_memory(err, TN_PHASE_DESCRIBE, "reading the demands on the machine");
}

static void place(struct tn_finding *f, const struct tn_hardware *h, const char *member, int index)
{
    char text[256];
    int n = index < 0 ? snprintf(text, sizeof(text), "%.*s/%s", TN_FMT_ARG(h->pointer), member)
                      : snprintf(text, sizeof(text), "%.*s/%s/%d", TN_FMT_ARG(h->pointer), member, index);
    tn_at_pointer(f, h->file, (struct tn_str){text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1});
}

static double gib(uint64_t bytes)
{
    return (double)bytes / (double)(UINT64_C(1) << 30);
}

static void check_memory(const struct tn_hardware *h, const struct tn_hardware_facts *facts, enum tn_phase phase,
                         struct tn_findings *findings)
{
    bool limited = facts->memory_limit > 0 && (facts->memory_bytes == 0 || facts->memory_limit < facts->memory_bytes);
    uint64_t have = limited ? facts->memory_limit : facts->memory_bytes;
    if (!h->has_memory || !(h->memory_gib > 0)) return;
    if (have == 0) {
        struct tn_finding *f = tn_findings_add(findings, TN_NOTE, TN_RESOURCE_LIMIT, phase,
                                               "how much memory the machine has is not known; the package demands a minimum");
        place(f, h, "min_memory_gb", -1);
        tn_expected(f, "at least %s GiB", TN_F64(h->memory_gib));
        return;
    }
    if (gib(have) >= h->memory_gib) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_RESOURCE_LIMIT, phase,
                                           limited ? "the memory limit is below the least that the package demands"
                                                   : "the machine has less memory than the package demands");
    place(f, h, "min_memory_gb", -1);
    tn_found(f, "%s GiB%s", TN_F64(floor(gib(have) * 1000) / 1000), limited ? " by the limit" : " in this machine");
    tn_expected(f, "at least %s GiB", TN_F64(h->memory_gib));
    tn_remedy(f, limited ? "raise or drop the memory limit" : "run it on a machine with more memory");
}

static bool has_type(const struct tn_hardware_facts *facts, struct tn_str name)
{
    for (size_t i = 0; facts->dtypes[i]; i++) {
        if (tn_str_is(name, facts->dtypes[i])) return true;
    }
    return false;
}

static void list_types(struct tn_finding *f, const struct tn_hardware_facts *facts)
{
    char text[256] = "nothing";
    size_t used = 0;
    for (size_t i = 0; facts->dtypes[i] && used < sizeof(text); i++) {
        int n = snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", facts->dtypes[i]);
        if (n > 0) used += (size_t)n;
    }
    tn_expected(f, "one of: %s", text);
}

static void check_types(const struct tn_hardware *h, const struct tn_hardware_facts *facts, enum tn_phase phase,
                        struct tn_findings *findings)
{
    for (size_t i = 0; i < h->required_count; i++) {
        if (has_type(facts, h->required[i])) continue;
        struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_MISSING_CAPABILITY, phase,
                                               "the package demands the number type %.*s, which is not taken here",
                                               TN_FMT_ARG(h->required[i]));
        place(f, h, "required_dtypes", (int)i);
        tn_found(f, "%.*s", TN_FMT_ARG(h->required[i]));
        list_types(f, facts);
        tn_remedy(f, "run it where this type is taken, or use a package without the demand");
    }
    for (size_t i = 0; i < h->beneficial_count; i++) {
        if (has_type(facts, h->beneficial[i])) continue;
        struct tn_finding *f = tn_findings_add(findings, TN_NOTE, TN_OK, phase,
                                               "the package would gain from the number type %.*s, which is not here",
                                               TN_FMT_ARG(h->beneficial[i]));
        place(f, h, "beneficial_dtypes", (int)i);
        list_types(f, facts);
    }
}

/* "When tensor parallelism is selected": a model that is not spread is not spread too little. */
static void check_degree(const struct tn_hardware *h, const struct tn_hardware_facts *facts, enum tn_phase phase,
                         struct tn_findings *findings)
{
    bool spread = facts->tp_degree > 1;
    if (!h->has_degree || h->tp_degree <= 1 || h->tp_degree <= facts->tp_degree) return;
    struct tn_finding *f = tn_findings_add(findings, spread ? TN_BLOCKER : TN_NOTE,
                                           spread ? TN_MISSING_CAPABILITY : TN_OK, phase,
                                           spread ? "the package gains nothing from so few devices"
                                                  : "the package is meant to be spread over several devices, and runs on one");
    place(f, h, "min_tp_degree", -1);
    tn_found(f, "a tensor-parallel degree of %llu", (unsigned long long)(spread ? facts->tp_degree : 1));
    tn_expected(f, "at least %llu", (unsigned long long)h->tp_degree);
    if (spread) tn_remedy(f, "spread it over more devices, or over none");
}

void tn_hardware_check(const struct tn_hardware *h, const struct tn_hardware_facts *facts, enum tn_phase phase,
                       struct tn_findings *findings)
{
    if (!h->pointer.s) return;
    check_memory(h, facts, phase, findings);
    if (facts->dtypes) check_types(h, facts, phase, findings);
    check_degree(h, facts, phase, findings);
}
