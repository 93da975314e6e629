/*
 * Workflow inputs: a literal has its value, a default fits its contract, what may be absent can be noticed, and what an
 * output says about pictures or sound stands on a picture or sound.
 */
#include "describe/standard/check_internal.h"

#include <inttypes.h>

static bool fits(struct tn_json v, const struct tn_std_contract *contract)
{
    switch (contract->dtype) {
    case TN_STD_BOOL: return tn_json_is(v, TN_JSON_BOOL);
    case TN_STD_STRING: return tn_json_is(v, TN_JSON_STRING);
    case TN_STD_I64:
    case TN_STD_I32:
    case TN_STD_I8:
    case TN_STD_U8: {
        int64_t whole;
        return tn_json_i64(v, &whole) && !(contract->dtype == TN_STD_U8 && (whole < 0 || whole > 255)) &&
               !(contract->dtype == TN_STD_I8 && (whole < -128 || whole > 127)) &&
               !(contract->dtype == TN_STD_I32 && (whole < INT32_MIN || whole > INT32_MAX));
    }
    case TN_STD_DTYPE_OTHER: return true;
    default: return tn_json_is(v, TN_JSON_NUMBER);
    }
}

/* The number of elements of a contract whose extents are all fixed. */
static bool element_count(const struct tn_std_contract *contract, uint64_t *count)
{
    *count = 1;
    if (!contract->has_shape) return false;
    for (size_t i = 0; i < contract->dim_count; i++) {
        const struct tn_std_dim *d = &contract->dims[i];
        if (!d->fixed || d->extent < 0 || (d->extent > 0 && *count > UINT32_MAX)) return false;
        *count *= (uint64_t)d->extent;
    }
    return true;
}

static void check_default(struct tn_std_check *c, const struct tn_std_input *in)
{
    struct tn_json v = in->default_at;
    uint64_t wanted;
    if (!tn_json_present(in->contract.at)) return;
    if (tn_json_is(v, TN_JSON_ARRAY)) {
        if (element_count(&in->contract, &wanted) && wanted != tn_json_count(v)) {
            struct tn_finding *f = tn_std_say(c, v, "the default does not fill its tensor");
            tn_found(f, "%zu elements", tn_json_count(v));
            tn_expected(f, "%" PRIu64 ", or one scalar for all", wanted);
        }
        v = tn_json_first(v);
    }
    for (; tn_json_present(v); v = tn_json_is(in->default_at, TN_JSON_ARRAY) ? tn_json_next(v) : (struct tn_json){0}) {
        if (fits(v, &in->contract)) continue;
        struct tn_finding *f = tn_std_say(c, v, "the default is no value of its contract");
        tn_found(f, "a %s", tn_json_type_name(tn_json_type(v)));
        tn_expected(f, "%s", tn_std_dtype_name(in->contract.dtype));
        return;
    }
}

static void check_input(struct tn_std_check *c, const struct tn_std_input *in)
{
    struct tn_finding *f;
    if (tn_json_present(in->default_at)) {
        check_default(c, in);
        return;
    }
    if (in->source == TN_STD_LITERAL) {
        f = tn_std_say_member(c, in->at, "default", "a literal input has no value");
        tn_expected(f, "a default");
    } else if (!tn_std_hides(c, in->at, "default") && !in->required && in->source != TN_STD_ARTIFACT &&
               !tn_json_present(in->present_as.at)) {
        f = tn_std_say_member(c, in->at, "present_as", "the input may be absent, and nobody could notice");
        tn_expected(f, "present_as, a default, or required true");
    }
}

static void check_output(struct tn_std_check *c, const struct tn_std_output *out)
{
    struct tn_finding *f;
    if (tn_std_hides(c, out->at, "role")) return;
    if (tn_json_present(out->value_range.at) && !tn_str_is(out->role, "image") && !tn_str_is(out->role, "video")) {
        f = tn_std_say(c, out->value_range.at, "a value range says how pixels are coded, and this output has none");
        tn_expected(f, "role image or video");
    }
    if (tn_json_present(out->media) && !tn_str_is(out->role, "audio")) {
        f = tn_std_say(c, out->media, "a media contract describes sound, and this output is none");
        tn_expected(f, "role audio");
    }
}

void tn_std_check_inputs(struct tn_std_check *c)
{
    for (size_t i = 0; i < c->flow->input_count; i++) check_input(c, &c->flow->inputs[i]);
    for (size_t i = 0; i < c->flow->output_count; i++) check_output(c, &c->flow->outputs[i]);
}
