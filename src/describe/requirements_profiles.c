/*
 * Task profiles of a package's own inference metadata, and the versions of what a request brings: what this runtime keeps
 * of them, and what it does not know. A profile that is not understood refuses the package unless it says itself that a
 * reader may skip it; one that is understood must hold for the way in which texts are computed here.
 */
#include "describe/requirements.h"

#define EMBEDDING "embedding"

/* Three spellings of one version. */
static bool is_first_version(struct tn_str version)
{
    return tn_str_is(version, "1") || tn_str_is(version, "1.0") || tn_str_is(version, "v1");
}

static struct tn_finding *refuse(struct tn_builder *b, enum tn_status code, struct tn_json at, const char *what)
{
    struct tn_finding *f = tn_blocker(b, code, "%s", what);
    tn_at_json(f, at);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(at)));
    return f;
}

static struct tn_json member_of(const struct tn_std_profile *p, const char *key)
{
    struct tn_json v = tn_json_get(p->at, key);
    return tn_json_present(v) ? v : p->at;
}

/* Where the profile is another than the one that is known here; absent: it is that one. */
static struct tn_json unknown_part(const struct tn_std_profile *p)
{
    if (!tn_str_is(p->kind.name, EMBEDDING)) return member_of(p, "kind");
    if (!is_first_version(p->version.name)) return member_of(p, "version");
    if (p->has_pooling) return member_of(p, "pooling");
    if (p->has_decoding) return member_of(p, "decoding");
    if (p->generation_affecting) return member_of(p, "generation_affecting");
    return (struct tn_json){NULL, 0};
}

static void check_company(struct tn_builder *b, const struct tn_std_profile *p)
{
    struct tn_json v = tn_json_get(p->at, "batch_invariance");
    if (tn_json_type(v) == TN_JSON_NULL || tn_str_is(p->batch_invariance.name, "row_independent")) return;
    struct tn_finding *f = refuse(b, TN_UNSUPPORTED_CONFIG, v,
                                  "the answer for a text depends on its company in a way that is not implemented");
    tn_expected(f, "row_independent: every text is computed as if it were alone");
}

static const struct tn_std_output *output_of(const struct tn_standard *doc, struct tn_str name)
{
    for (size_t i = 0; i < doc->workflow.output_count; i++)
        if (tn_str_eq(doc->workflow.outputs[i].name, name)) return &doc->workflow.outputs[i];
    return NULL;
}

/* One row for each text. */
static void check_rows(struct tn_builder *b, const struct tn_standard *doc, const struct tn_std_profile *p)
{
    for (size_t i = 0; i < p->outputs.count; i++) {
        const struct tn_std_output *out = output_of(doc, p->outputs.items[i].value);
        if (!out || !out->contract.rank.present || out->contract.rank.value == 2) continue;
        struct tn_finding *f = refuse(b, TN_METADATA_INVALID, p->outputs.items[i].at,
                                      "the profile's embedding is no row for each text");
        tn_expected(f, "an output of rank 2");
    }
}

static void check_profile(struct tn_builder *b, const struct tn_standard *doc, const struct tn_std_profile *p)
{
    struct tn_json unknown = unknown_part(p);
    if (!tn_json_present(unknown)) {
        check_company(b, p);
        check_rows(b, doc, p);
    } else if (p->ignorable) {
        struct tn_finding *f = tn_note(b, TN_MISSING_CAPABILITY,
                                       "a profile that this build does not know is left out, as it allows");
        tn_at_json(f, unknown);
    } else {
        struct tn_finding *f = refuse(b, TN_MISSING_CAPABILITY, unknown,
                                      "the document requires a profile that this build does not know");
        tn_expected(f, "kind " EMBEDDING ", version 1, with its output, or a profile whose requirement is ignorable");
    }
}

static void check_role(struct tn_builder *b, const struct tn_std_input *input)
{
    if (!input->runtime_role || is_first_version(input->role_version)) return;
    struct tn_finding *f = refuse(b, TN_MISSING_CAPABILITY, tn_json_find(input->at, "/role/version"),
                                  "the input's role has a version that this build does not know");
    tn_expected(f, "1.0");
}

void tn_require_profiles(struct tn_builder *b, const struct tn_standard *doc)
{
    for (size_t i = 0; i < doc->profile_count; i++) check_profile(b, doc, &doc->profiles[i]);
    for (size_t i = 0; i < doc->workflow.input_count; i++) check_role(b, &doc->workflow.inputs[i]);
}
