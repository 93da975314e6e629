/*
 * Task profiles and generation: outputs that exist, axes inside them, decoding that can name its classes, overrides that
 * are wired to a request's input and defaults that stay within their own bounds.
 */
#include "base/doctype_text.h"
#include "base/nearest.h"
#include "describe/standard/check_internal.h"

#include <float.h>

/* ---- outputs of a profile --------------------------------------------------------------------------------------- */

static void check_outputs(struct tn_std_check *c, const struct tn_std_profile *p)
{
    for (size_t i = 0; i < p->outputs.count && tn_std_has_workflow(c); i++) {
        struct tn_std_ref ref = {p->outputs.items[i].value, p->outputs.items[i].at};
        if (!tn_std_output(c, ref.name)) tn_std_say_unknown(c, &ref, TN_STD_SPACE_OUTPUT);
    }
}

static const struct tn_std_binding *role_of(const struct tn_std_profile *p, struct tn_str role)
{
    for (size_t i = 0; i < p->outputs.count; i++)
        if (tn_str_eq(p->outputs.items[i].key, role)) return &p->outputs.items[i];
    return NULL;
}

static const struct tn_std_output *only_output(const struct tn_std_check *c, const struct tn_std_profile *p)
{
    return p->outputs.count == 1 ? tn_std_output(c, p->outputs.items[0].value) : NULL;
}

/* Whether an axis lies inside an output; told when it does not. */
static bool check_axis(struct tn_std_check *c, const struct tn_std_count *axis, const struct tn_std_output *out,
                       const char *what)
{
    if (!axis->present || !out || !out->contract.rank.present || axis->value < out->contract.rank.value) return true;
    struct tn_finding *f = tn_std_say(c, axis->at, "the output has no axis of this number for %s", what);
    tn_found(f, "axis %llu of rank %llu", (unsigned long long)axis->value,
             (unsigned long long)out->contract.rank.value);
    tn_expected(f, "an axis below the rank of \"%.*s\"", TN_FMT_ARG(out->name));
    return false;
}

/* Rows are decoded one by one, so what is counted along an axis cannot be the rows. */
static void check_row_axis(struct tn_std_check *c, const struct tn_std_count *axis, const struct tn_std_output *out,
                           const char *what)
{
    const struct tn_std_layout *l = out ? &out->contract.layout : NULL;
    if (!axis->present || !l || (l->kind != TN_STD_REQUEST_ALIGNED && l->kind != TN_STD_REQUEST_EXPANDED)) return;
    if (l->axis != axis->value || tn_std_unknown(c, out->at)) return;
    struct tn_finding *f = tn_std_say(c, axis->at, "the rows of \"%.*s\" lie on this axis, and not its %s",
                                      TN_FMT_ARG(out->name), what);
    tn_found(f, "axis %llu, batch_layout %s on axis %llu", (unsigned long long)axis->value, tn_std_layout_name(l->kind),
             (unsigned long long)l->axis);
    tn_expected(f, "another axis");
}

static void check_pooling(struct tn_std_check *c, const struct tn_std_profile *p)
{
    if (!p->has_pooling) return;
    if (p->outputs.count == 1) check_axis(c, &p->pooling_axis, only_output(c, p), "pooling");
    if (p->outputs.count > 0) return;
    struct tn_finding *f = tn_std_say_member(c, p->at, "outputs", "the profile pools, and names no output to pool");
    tn_expected(f, "the workflow output that is reduced");
}

/* ---- decoding --------------------------------------------------------------------------------------------------- */

static bool has_token(const struct tn_std_refs *tokens, struct tn_str token)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (tn_str_eq(tokens->items[i].name, token)) return true;
    return false;
}

static void want_token(struct tn_std_check *c, const struct tn_std_profile *p, const struct tn_std_ref *token,
                       const char *what)
{
    if (!tn_json_present(token->at) || has_token(&p->tokens, token->name)) return;
    struct tn_finding *f = tn_std_say(c, token->at, "%s is no token of the inline vocabulary", what);
    tn_found(f, "%zu bytes", token->name.n);
    tn_expected(f, "an element of tokens");
}

static void check_vocabulary(struct tn_std_check *c, const struct tn_std_profile *p)
{
    bool is_inline = tn_str_is(p->vocabulary_source.name, "inline");
    struct tn_finding *f;
    if (is_inline && tn_std_hides(c, p->vocabulary_at, "tokens")) return;
    bool package_known = !tn_std_hides(c, c->doc->at, "package");
    if (package_known && tn_str_is(p->vocabulary_source.name, "tokenizer") && !tn_json_present(c->doc->tokenizer.at)) {
        f = tn_std_say(c, p->vocabulary_source.at, "the classes are the tokenizer's, and the package has none");
        tn_expected(f, "package.tokenizer, or an inline vocabulary");
    }
    if (!is_inline) return;
    if (p->tokens.count == 0) {
        f = tn_std_say_member(c, p->vocabulary_at, "tokens", "an inline vocabulary is empty");
        tn_expected(f, "a string for each class");
        return;
    }
    if (p->vocabulary_size.present && p->vocabulary_size.value != p->tokens.count) {
        f = tn_std_say(c, p->vocabulary_size.at, "the vocabulary has another size than it says");
        tn_found(f, "%llu", (unsigned long long)p->vocabulary_size.value);
        tn_expected(f, "%zu, the number of tokens", p->tokens.count);
    }
    want_token(c, p, &p->word_delimiter, "the word delimiter");
    for (size_t i = 0; i < p->ignored_tokens.count; i++) want_token(c, p, &p->ignored_tokens.items[i],
                                                                    "an ignored token");
}

/* How many classes there are, by the first thing that says so. */
static bool class_count(const struct tn_std_check *c, const struct tn_std_profile *p,
                        const struct tn_std_output *logits,
                        uint64_t *count)
{
    const struct tn_std_contract *contract = logits ? &logits->contract : NULL;
    bool from_tokenizer = tn_str_is(p->vocabulary_source.name, "tokenizer");
    if (p->tokens.count > 0) *count = p->tokens.count;
    else if (p->vocabulary_size.present) *count = p->vocabulary_size.value;
    else if (contract && p->class_axis.present && p->class_axis.value < contract->dim_count &&
             contract->dims[p->class_axis.value].fixed && contract->dims[p->class_axis.value].extent >= 0)
        *count = (uint64_t)contract->dims[p->class_axis.value].extent;
    else if (from_tokenizer && c->doc->tokenizer.vocab_size.present) *count = c->doc->tokenizer.vocab_size.value;
    else return false;
    return true;
}

/* The extent of the axis of classes, where it is a number, and the classes that are listed are one number. */
static void check_extent(struct tn_std_check *c, const struct tn_std_profile *p, const struct tn_std_output *logits)
{
    const struct tn_std_contract *contract = logits ? &logits->contract : NULL;
    uint64_t listed = p->tokens.count > 0 ? p->tokens.count : p->vocabulary_size.value;
    if (!contract || listed == 0 || !p->class_axis.present || p->class_axis.value >= contract->dim_count) return;
    if (tn_std_hides(c, p->decoding_at, "vocabulary") || tn_std_unknown(c, logits->at)) return;
    if (p->tokens.count > 0 && p->vocabulary_size.present && p->vocabulary_size.value != listed) return; /* told there */
    const struct tn_std_dim *d = &contract->dims[p->class_axis.value];
    if (!d->fixed || d->extent < 0 || (uint64_t)d->extent == listed) return;
    struct tn_finding *f = tn_std_say(c, d->at, "the axis of classes has another extent than the vocabulary has classes");
    tn_found(f, "%lld", (long long)d->extent);
    tn_expected(f, "%llu, as many as the profile \"%.*s\" lists", (unsigned long long)listed, TN_FMT_ARG(p->name));
}

static void check_classes(struct tn_std_check *c, const struct tn_std_profile *p, const struct tn_std_output *logits)
{
    uint64_t count;
    struct tn_finding *f;
    if (!p->blank_id.present) {
        if (!tn_str_is(p->decoding.name, "ctc")) return;
        f = tn_std_say_member(c, p->decoding_at, "blank_id",
                              "CTC decoding drops the blank, and nobody says which class it is");
        tn_expected(f, "the blank's class id");
        return;
    }
    if (!class_count(c, p, logits, &count) || p->blank_id.value < count) return;
    if (tn_std_hides(c, p->decoding_at, "vocabulary") || (logits && tn_std_unknown(c, logits->at))) return;
    f = tn_std_say(c, p->blank_id.at, "the blank is no class");
    tn_found(f, "%llu", (unsigned long long)p->blank_id.value);
    tn_expected(f, "less than %llu, the number of classes", (unsigned long long)count);
}

static void check_lengths(struct tn_std_check *c, const struct tn_std_profile *p)
{
    const struct tn_std_binding *role = role_of(p, p->lengths.name);
    char text[TN_STD_TYPE_TEXT];
    if (!tn_json_present(p->lengths.at)) return;
    if (!role) {
        tn_std_say_unknown(c, &p->lengths, TN_STD_SPACE_PROFILE_OUTPUT);
        return;
    }
    const struct tn_std_output *out = tn_std_output(c, role->value);
    struct tn_std_type type = out ? tn_std_type_of(c->doc, &out->contract) : (struct tn_std_type){0};
    if (tn_std_type_is_integer(&type) && (!type.has_rank || type.rank == 1)) return;
    struct tn_finding *f = tn_std_say(c, p->lengths.at, "the lengths are a whole number per row");
    tn_found(f, "%s", tn_std_type_text(&type, text));
    tn_expected(f, "int64 of rank 1");
}

/* The output that is decoded: that of the role logits, or the only one beside the lengths. */
static const struct tn_std_output *find_logits(struct tn_std_check *c, const struct tn_std_profile *p)
{
    const struct tn_std_binding *logits = role_of(p, TN_STR("logits")), *other = NULL;
    size_t others = 0;
    for (size_t i = 0; i < p->outputs.count; i++) {
        if (tn_json_present(p->lengths.at) && tn_str_eq(p->outputs.items[i].key, p->lengths.name)) continue;
        other = &p->outputs.items[i];
        others++;
    }
    if (!logits && others == 1) logits = other;
    if (logits) return tn_std_output(c, logits->value);
    struct tn_json map = p->outputs.at;
    struct tn_finding *f = tn_std_say_member(c, tn_json_is(map, TN_JSON_OBJECT) ? map : p->at,
                                             tn_json_is(map, TN_JSON_OBJECT) ? "logits" : "outputs",
                                             "nothing says which output the profile decodes");
    tn_found(f, "%zu outputs beside the lengths, none with the role logits", others);
    tn_expected(f, "a workflow output under the role logits");
    return NULL;
}

static void check_decoding(struct tn_std_check *c, const struct tn_std_profile *p)
{
    if (!p->has_decoding) return;
    bool outputs_known = !tn_std_hides(c, p->at, "outputs");
    const struct tn_std_output *logits = outputs_known ? find_logits(c, p) : NULL;
    if (check_axis(c, &p->time_axis, logits, "frames")) check_row_axis(c, &p->time_axis, logits, "frames");
    if (check_axis(c, &p->class_axis, logits, "classes")) check_row_axis(c, &p->class_axis, logits, "classes");
    if (p->time_axis.present && p->class_axis.present && p->time_axis.value == p->class_axis.value) {
        struct tn_finding *f = tn_std_say(c, p->class_axis.at, "frames and classes cannot lie on one axis");
        tn_found(f, "%llu for both", (unsigned long long)p->class_axis.value);
        tn_expected(f, "two axes");
    }
    if (p->has_vocabulary) check_vocabulary(c, p);
    check_classes(c, p, logits);
    check_extent(c, p, logits);
    if (outputs_known) check_lengths(c, p);
}

void tn_std_check_profiles(struct tn_std_check *c)
{
    for (size_t i = 0; i < c->doc->profile_count; i++) {
        const struct tn_std_profile *p = &c->doc->profiles[i];
        check_outputs(c, p);
        check_pooling(c, p);
        check_decoding(c, p);
    }
}

/* ---- generation ------------------------------------------------------------------------------------------------- */

static void check_bounds(struct tn_std_check *c, const struct tn_std_override *o, struct tn_json v, const char *whose)
{
    double value;
    if (!tn_json_f64(v, &value)) return;
    bool low = o->minimum.present && value < o->minimum.value, high = o->maximum.present && value > o->maximum.value;
    if (!low && !high) return;
    struct tn_finding *f = tn_std_say(c, v, "the default of %s lies outside what a caller may ask for", whose);
    tn_found(f, "%s", TN_F64(value));
    if (low) tn_expected(f, "%s or more", TN_F64(o->minimum.value));
    else tn_expected(f, "%s or less", TN_F64(o->maximum.value));
}

/* The fields that an input role carries: where one of the two is known, so is the other. */
static const struct {
    const char *field, *role;
} carried_by[] = {
    {"temperature", "sampling_temperature"}, {"top_k", "sampling_top_k"}, {"top_p", "sampling_top_p"},
    {"min_p", "sampling_min_p"},             {"seed", "seed"},
};

/* The role that the field wants, and the field that the role wants; NULL: unknown. */
static void carrier_of(const struct tn_std_override *o, const struct tn_std_input *in, const char **role, const char **field)
{
    *role = *field = NULL;
    for (size_t i = 0; i < sizeof(carried_by) / sizeof(carried_by[0]); i++) {
        if (tn_str_is(o->field, carried_by[i].field)) *role = carried_by[i].role;
        if (tn_str_is(in->role.name, carried_by[i].role)) *field = carried_by[i].field;
    }
}

static bool is_carried(const struct tn_std_check *c, const struct tn_std_override *o, const struct tn_std_input *in)
{
    const char *role, *field;
    if (!in->runtime_role || tn_std_unknown(c, in->at)) return true;
    carrier_of(o, in, &role, &field);
    return role ? tn_str_is(in->role.name, role) : !field;
}

/* An override sets what its name says: the input's role, and its element type, say the same. */
static bool check_carrier(struct tn_std_check *c, const struct tn_std_override *o, const struct tn_std_input *in)
{
    const char *wanted, *carries;
    if (is_carried(c, o, in)) return true;
    carrier_of(o, in, &wanted, &carries);
    struct tn_finding *f = tn_std_say(c, o->input.at, "the override is wired to an input that carries something else");
    tn_found(f, "\"%.*s\" with the role %.*s", TN_FMT_ARG(in->name), TN_FMT_ARG(in->role.name));
    if (wanted) tn_expected(f, "an input with the role %s", wanted);
    else tn_expected(f, "an input that carries %.*s; this one carries %s", TN_FMT_ARG(o->field), carries);
    return false;
}

/* Whether an override of the input has been refused: then its role may be what is wrong. */
static bool is_doubtful(const struct tn_std_check *c, const struct tn_std_input *in)
{
    for (size_t i = 0; i < c->doc->generation.override_count; i++) {
        const struct tn_std_override *o = &c->doc->generation.overrides[i];
        if (tn_str_eq(o->input.name, in->name) && !is_carried(c, o, in)) return true;
    }
    return false;
}

/* What a request asks for is one value, and one input takes it. */
static void check_carried_once(struct tn_std_check *c)
{
    const struct tn_std_input *first[sizeof(carried_by) / sizeof(carried_by[0])] = {0};
    for (size_t i = 0; i < c->flow->input_count; i++) {
        const struct tn_std_input *in = &c->flow->inputs[i];
        for (size_t k = 0; in->runtime_role && k < sizeof(carried_by) / sizeof(carried_by[0]); k++) {
            if (!tn_str_is(in->role.name, carried_by[k].role) || is_doubtful(c, in)) continue;
            if (first[k]) {
                struct tn_finding *f = tn_std_say(c, in->role.at, "two inputs have one role, and a request has one value for it");
                tn_found(f, "%s for \"%.*s\" after \"%.*s\"", carried_by[k].role, TN_FMT_ARG(in->name), TN_FMT_ARG(first[k]->name));
                tn_expected(f, "one input with this role; several steps may read it");
            } else {
                first[k] = in;
            }
        }
    }
}

/* Whether anything takes the input, or asks whether it is there. */
static bool is_wired(const struct tn_std_check *c, const struct tn_std_input *in)
{
    uint32_t index = (uint32_t)(in - c->flow->inputs);
    for (size_t i = 0; i < c->value_count; i++) {
        const struct tn_std_value *v = &c->values[i];
        bool of_input = v->origin == TN_STD_FROM_INPUT || v->origin == TN_STD_FROM_PRESENCE;
        if (of_input && v->index == index && v->read) return true;
    }
    return c->steps_open || tn_std_hides(c, c->flow->at, "steps") || tn_std_hides(c, c->flow->at, "state") ||
           tn_std_hides(c, c->flow->at, "serving");
}

/* What a caller asks for would reach nobody. */
static bool check_wired(struct tn_std_check *c, const struct tn_std_override *o, const struct tn_std_input *in)
{
    if (is_wired(c, in)) return true;
    struct tn_finding *f = tn_std_say(c, o->input.at, "the override is wired to an input that nothing in the workflow reads");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(in->name));
    tn_expected(f, "an input that some step reads");
    return false;
}

/* Two overrides of one input, or of inputs with one role, would give it two values. */
static void check_alone(struct tn_std_check *c, const struct tn_std_override *o, const struct tn_std_input *in)
{
    for (const struct tn_std_override *other = c->doc->generation.overrides; other < o; other++) {
        const struct tn_std_input *taken = tn_standard_input(c->doc, other->input.name);
        if (!taken || !is_carried(c, other, taken)) continue;
        bool one_role = in->runtime_role && taken->runtime_role && in->role.name.n && tn_str_eq(in->role.name, taken->role.name);
        if (taken != in && !one_role) continue;
        struct tn_finding *f = tn_std_say(c, o->input.at, taken == in ? "two overrides are wired to one input"
                                                                      : "two overrides are wired to inputs with one role");
        tn_found(f, "\"%.*s\" after \"%.*s\" of the override %.*s", TN_FMT_ARG(in->name), TN_FMT_ARG(taken->name),
                 TN_FMT_ARG(other->field));
        tn_expected(f, "an input and a role of its own for each override");
        return;
    }
}

/* A field may be anything; one that is spelled nearly as a usual one may have been meant as that. */
static void note_field(struct tn_std_check *c, const struct tn_std_override *o)
{
    static const char *const usual[] = {
        "diversity_penalty", "do_sample",   "early_stopping", "length_penalty",     "max_length",
        "max_output_tokens", "min_length",  "min_p",          "no_repeat_ngram_size", "num_beams",
        "num_return_sequences", "repetition_penalty", "seed", "temperature",        "top_k", "top_p",
    };
    struct tn_nearest near = {0};
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (tn_str_is(o->field, usual[i])) return;
        tn_nearest_offer(&near, o->field, usual[i]);
    }
    if (!near.name) return;
    struct tn_finding *f = tn_std_note(c, o->at, "the override sets a field without a meaning here, nearly one of the usual ones");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(o->field));
    tn_doc_advise(f, &near, NULL);
}

/* Outside these a field means nothing. The standard has no ranges; docs/SCHEMAS.md says why they are refused. */
static const struct meaning {
    const char *field;
    double minimum, maximum;
} meanings[] = {
    {"temperature", 0, DBL_MAX}, {"top_p", 0, 1},     {"repetition_penalty", DBL_MIN, DBL_MAX},
    {"num_beams", 1, DBL_MAX},   {"num_return_sequences", 1, DBL_MAX},
};

static void expect_meaning(struct tn_finding *f, const struct meaning *m)
{
    if (m->maximum < DBL_MAX) tn_expected(f, "%s to %s", TN_F64(m->minimum), TN_F64(m->maximum));
    else if (m->minimum == DBL_MIN) tn_expected(f, "more than 0");
    else tn_expected(f, "%s or more", TN_F64(m->minimum));
}

/* A bound outside lets callers ask for what means nothing. */
static void check_limit(struct tn_std_check *c, const struct meaning *m, const struct tn_std_real *bound)
{
    if (!bound->present || (bound->value >= m->minimum && bound->value <= m->maximum)) return;
    struct tn_finding *f = tn_std_say(c, bound->at, "the constraint admits what no sampling has as %s", m->field);
    tn_found(f, "%s", TN_F64(bound->value));
    expect_meaning(f, m);
}

static void check_constraint(struct tn_std_check *c, const struct tn_std_override *o)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        if (!tn_str_is(o->field, meanings[i].field)) continue;
        check_limit(c, &meanings[i], &o->minimum);
        check_limit(c, &meanings[i], &o->maximum);
    }
}

static void check_override(struct tn_std_check *c, const struct tn_std_override *o)
{
    const struct tn_std_input *in = tn_standard_input(c->doc, o->input.name);
    struct tn_finding *f;
    if (o->minimum.present && o->maximum.present && o->minimum.value > o->maximum.value) {
        f = tn_std_say(c, o->constraint_at, "no value satisfies the constraint");
        tn_found(f, "%s to %s", TN_F64(o->minimum.value), TN_F64(o->maximum.value));
        tn_expected(f, "a minimum that is not above the maximum");
        return;
    }
    note_field(c, o);
    check_constraint(c, o);
    check_bounds(c, o, tn_json_get_str(c->doc->generation.defaults, o->field), "the package");
    if (!tn_json_present(o->input.at)) return;
    if (!in) {
        tn_std_say_unknown(c, &o->input, TN_STD_SPACE_INPUT);
        return;
    }
    if (in->source != TN_STD_REQUEST) {
        f = tn_std_say(c, o->input.at, "the override is wired to an input that no request can set");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(in->name));
        tn_expected(f, "an input whose source is request");
    } else if (check_carrier(c, o, in) && check_wired(c, o, in)) {
        check_alone(c, o, in);
    }
    check_bounds(c, o, in->default_at, "the input");
}

static void check_meaning(struct tn_std_check *c, const struct meaning *m)
{
    struct tn_json v = tn_json_get(c->doc->generation.defaults, m->field);
    double value;
    if (!tn_json_f64(v, &value) || (value >= m->minimum && value <= m->maximum)) return;
    for (size_t i = 0; i < c->doc->generation.override_count; i++) { /* told with its bounds */
        const struct tn_std_override *o = &c->doc->generation.overrides[i];
        if (!tn_str_is(o->field, m->field)) continue;
        if (o->minimum.present ? value < o->minimum.value : o->maximum.present && value > o->maximum.value) return;
    }
    struct tn_finding *f = tn_std_say(c, v, "no sampling has this %s", m->field);
    tn_found(f, "%s", TN_F64(value));
    expect_meaning(f, m);
}

static void check_defaults(struct tn_std_check *c)
{
    struct tn_json defaults = c->doc->generation.defaults, least = tn_json_get(defaults, "min_length");
    double low, high;
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) check_meaning(c, &meanings[i]);
    if (!tn_json_f64(least, &low) || !tn_json_f64(tn_json_get(defaults, "max_length"), &high) || low <= high) return;
    struct tn_finding *f = tn_std_say(c, least, "no text is as long as the least and as short as the most");
    tn_found(f, "%s", TN_F64(low));
    tn_expected(f, "at most %s, the max_length", TN_F64(high));
}

void tn_std_check_generation(struct tn_std_check *c)
{
    check_defaults(c);
    check_carried_once(c);
    for (size_t i = 0; i < c->doc->generation.override_count && tn_std_has_workflow(c); i++) check_override(c, &c->doc->generation.overrides[i]);
}
