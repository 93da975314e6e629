/*
 * What a generation contract says of a graph's inputs: the package's default of a field is the input's, a caller keeps to the
 * bounds of an override, and a field of sampling that no override exposes is nobody's to set. Which input carries a field is
 * said by the override, or by the input's role. The contract has been judged before; it is untrusted.
 */
#include "describe/dialect/graph_contract.h"

static const struct {
    const char *role, *field;
} carried[] = {
    {"sampling_temperature", "temperature"},
    {"sampling_top_k", "top_k"},
    {"sampling_top_p", "top_p"},
    {"sampling_min_p", "min_p"},
};

static const struct tn_std_override *override_of(const struct tn_standard *doc, struct tn_str input)
{
    for (size_t i = 0; i < doc->generation.override_count; i++)
        if (tn_str_eq(doc->generation.overrides[i].input.name, input)) return &doc->generation.overrides[i];
    return NULL;
}

/* The field of sampling that the input carries by its role, or "". */
static struct tn_str field_of(const struct tn_std_input *in)
{
    for (size_t i = 0; in->runtime_role && i < sizeof(carried) / sizeof(carried[0]); i++)
        if (tn_str_is(in->role.name, carried[i].role)) return tn_str_of(carried[i].field);
    return TN_STR("");
}

/* One value, or a list of nothing but it. */
static bool is_same(struct tn_json v, struct tn_json one)
{
    double a, b;
    if (tn_json_is(v, TN_JSON_ARRAY)) {
        for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e))
            if (!is_same(e, one)) return false;
        return true;
    }
    if (tn_json_f64(v, &a) && tn_json_f64(one, &b)) return a == b;
    return tn_str_eq(tn_json_text(v), tn_json_text(one));
}

static void take_default(struct tn_graph_reading *c, struct tn_graph_input *said, struct tn_str field)
{
    struct tn_json v = tn_json_get_str(c->doc->generation.defaults, field);
    if (!tn_json_present(v) || tn_json_is(v, TN_JSON_NULL)) return;
    if (!tn_json_present(said->value)) {
        said->value = v;
        return;
    }
    if (is_same(said->value, v)) return;
    tn_expected(tn_contract_refuse(c->b, said->value, TN_METADATA_INVALID,
                                   "the input's default is another than the package's default of the field that it carries"),
                "%.*s, by /generation/defaults/%.*s", TN_FMT_ARG(tn_json_text(v)), TN_FMT_ARG(field));
}

void tn_graph_generation(struct tn_graph_reading *c, uint32_t input, const struct tn_std_input *in)
{
    struct tn_graph_input *said = &c->graph->said_in[input];
    const struct tn_std_override *o = override_of(c->doc, in->name);
    struct tn_str role = field_of(in), field = o ? o->field : role;
    if (field.n == 0) return;
    take_default(c, said, field);
    if (o) {
        said->has_minimum = o->minimum.present;
        said->has_maximum = o->maximum.present;
        said->minimum = o->minimum.value;
        said->maximum = o->maximum.value;
    } else if (tn_json_present(said->value)) {
        said->closed = true;
    }
}
