/*
 * Task profiles and generation: outputs that exist, axes inside them, decoding that can name its classes, overrides that
 * are wired to a request's input and defaults that stay within their own bounds.
 */
#include "describe/standard/check_internal.h"

/* ---- outputs of a profile --------------------------------------------------------------------------------------- */

static void check_outputs(struct tn_std_check *c, const struct tn_std_profile *p)
{
    for (size_t i = 0; i < p->outputs.count; i++) {
        struct tn_std_ref ref = {p->outputs.items[i].value, p->outputs.items[i].at};
        if (!tn_std_output(c, ref.name)) tn_std_say_unknown(c, &ref, TN_STD_SPACE_OUTPUT);
    }
}

static const struct tn_std_output *output_of(const struct tn_std_check *c, const struct tn_std_profile *p,
                                             const char *role)
{
    for (size_t i = 0; i < p->outputs.count; i++)
        if (!role || tn_str_is(p->outputs.items[i].key, role)) return tn_std_output(c, p->outputs.items[i].value);
    return NULL;
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

static void check_pooling(struct tn_std_check *c, const struct tn_std_profile *p)
{
    if (!p->has_pooling) return;
    if (p->outputs.count == 1) check_axis(c, &p->pooling_axis, output_of(c, p, NULL), "pooling");
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
    struct tn_finding *f;
    char text[TN_STD_TYPE_TEXT];
    if (!tn_json_present(p->lengths.at)) return;
    for (size_t i = 0; i < p->outputs.count; i++) {
        if (!tn_str_eq(p->outputs.items[i].key, p->lengths.name)) continue;
        const struct tn_std_output *out = tn_std_output(c, p->outputs.items[i].value);
        struct tn_std_type type = out ? tn_std_type_of(c->doc, &out->contract) : (struct tn_std_type){0};
        if (tn_std_type_is_integer(&type) && (!type.has_rank || type.rank == 1)) return;
        f = tn_std_say(c, p->lengths.at, "the lengths are a whole number per row");
        tn_found(f, "%s", tn_std_type_text(&type, text));
        tn_expected(f, "int64 of rank 1");
        return;
    }
    tn_std_say_unknown(c, &p->lengths, TN_STD_SPACE_PROFILE_OUTPUT);
}

static void check_decoding(struct tn_std_check *c, const struct tn_std_profile *p)
{
    if (!p->has_decoding) return;
    bool outputs_known = !tn_std_hides(c, p->at, "outputs");
    const struct tn_std_output *logits = outputs_known ? output_of(c, p, "logits") : NULL;
    if (outputs_known && !logits && p->outputs.count == 1) logits = output_of(c, p, NULL);
    check_axis(c, &p->time_axis, logits, "frames");
    check_axis(c, &p->class_axis, logits, "classes");
    if (p->time_axis.present && p->class_axis.present && p->time_axis.value == p->class_axis.value) {
        struct tn_finding *f = tn_std_say(c, p->class_axis.at, "frames and classes cannot lie on one axis");
        tn_found(f, "%llu for both", (unsigned long long)p->class_axis.value);
        tn_expected(f, "two axes");
    }
    if (p->has_vocabulary) check_vocabulary(c, p);
    check_classes(c, p, logits);
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
    }
    check_bounds(c, o, in->default_at, "the input");
}

void tn_std_check_generation(struct tn_std_check *c)
{
    for (size_t i = 0; i < c->doc->generation.override_count; i++) check_override(c, &c->doc->generation.overrides[i]);
}
