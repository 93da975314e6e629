/*
 * Facts of the package and the model that must not contradict each other: special tokens inside their vocabulary,
 * geometry of attention and experts, legal shards and stages, precision overrides, hardware demands.
 */
#include "describe/standard/check_internal.h"

/* ---- tokenizer -------------------------------------------------------------------------------------------------- */

/* Text that stands for two ids stands for none: whoever reads it could not tell which is meant. */
static bool check_text(struct tn_std_check *c, const struct tn_std_special_token *s,
                       const struct tn_std_special_token *first)
{
    if (!s->id.present || !first->id.present || s->id.value == first->id.value) return false;
    if (!tn_json_present(s->content.at) || !tn_json_present(first->content.at)) return false;
    if (!tn_str_eq(s->content.name, first->content.name)) return false;
    struct tn_finding *f = tn_std_say(c, s->content.at, "two special tokens have one text and two ids");
    tn_found(f, "the text of \"%.*s\", id %llu, for id %llu", TN_FMT_ARG(first->role),
             (unsigned long long)first->id.value, (unsigned long long)s->id.value);
    tn_expected(f, "one id for each text");
    return true;
}

/* An entry of the vocabulary is one text, whatever roles it has. */
static void check_content(struct tn_std_check *c, const struct tn_std_tokenizer *t, size_t i)
{
    const struct tn_std_special_token *s = &t->special[i];
    for (size_t k = 0; k < i; k++) {
        const struct tn_std_special_token *first = &t->special[k];
        if (check_text(c, s, first)) return;
        if (!s->id.present || !first->id.present || s->id.value != first->id.value) continue;
        if (!tn_json_present(s->content.at) || !tn_json_present(first->content.at)) continue;
        if (tn_str_eq(s->content.name, first->content.name)) continue;
        struct tn_finding *f = tn_std_say(c, s->content.at, "two special tokens have one id and two texts");
        tn_found(f, "%zu bytes for id %llu, another text than of \"%.*s\"", s->content.name.n,
                 (unsigned long long)s->id.value, TN_FMT_ARG(first->role));
        tn_expected(f, "one text for each id");
        return;
    }
}

static void check_tokenizer(struct tn_std_check *c)
{
    const struct tn_std_tokenizer *t = &c->doc->tokenizer;
    for (size_t i = 0; i < t->special_count; i++) {
        const struct tn_std_special_token *s = &t->special[i];
        if (!s->id.present || !t->vocab_size.present || s->id.value < t->vocab_size.value) continue;
        if (tn_std_unknown(c, t->vocab_size.at)) break;
        struct tn_finding *f = tn_std_say(c, s->id.at, "the special token is outside the vocabulary");
        tn_found(f, "%llu", (unsigned long long)s->id.value);
        tn_expected(f, "less than %llu, the vocab_size", (unsigned long long)t->vocab_size.value);
    }
    for (size_t i = 0; i < t->special_count; i++) check_content(c, t, i);
    for (size_t i = 0; i < c->doc->language_count && tn_json_present(c->flow->at); i++)
        tn_std_want_component(c, &c->doc->languages[i].component);
}

/* ---- attention and experts -------------------------------------------------------------------------------------- */

static void say_beyond(struct tn_std_check *c, const struct tn_std_count *count, const struct tn_std_count *most,
                       const char *message, const char *of)
{
    struct tn_finding *f = tn_std_say(c, count->at, "%s", message);
    tn_found(f, "%llu", (unsigned long long)count->value);
    tn_expected(f, "at most %llu, %s", (unsigned long long)most->value, of);
}

static void check_attention(struct tn_std_check *c, const struct tn_std_model *m)
{
    struct tn_finding *f;
    if (m->heads.present && m->kv_heads.present && m->kv_heads.value > 0 && m->heads.value % m->kv_heads.value != 0) {
        f = tn_std_say(c, m->kv_heads.at, "query heads cannot be shared out evenly over the key and value heads");
        tn_found(f, "%llu for %llu", (unsigned long long)m->kv_heads.value, (unsigned long long)m->heads.value);
        tn_expected(f, "a divisor of num_attention_heads");
    }
    if (m->sink_tokens.present && m->sink_tokens.value > 0 && !m->sliding_window.present) {
        f = tn_std_say(c, m->sink_tokens.at, "tokens are kept beside a window that is not there");
        tn_expected(f, "a sliding_window, or no sink_tokens");
    }
}

/* Whether a component carries state along a sequence: then its logits are of tokens, and not of some other classes. */
static bool decodes(const struct tn_std_check *c, const struct tn_std_component *component)
{
    for (size_t g = 0; g < c->flow->serving.group_count; g++) {
        const struct tn_std_group *group = &c->flow->serving.groups[g];
        for (size_t i = 0; i < group->port_count; i++)
            if (tn_str_eq(group->ports[i].component, component->name)) return true;
    }
    return false;
}

/*
 * The rows of the table of logits, where a graph says how many there are. A proposer may have a vocabulary of its own,
 * so one graph that agrees is enough.
 */
static void check_vocab_size(struct tn_std_check *c, const struct tn_std_model *m)
{
    const struct tn_std_dim *other = NULL;
    if (!m->vocab_size.present || tn_std_hides(c, c->flow->at, "components")) return;
    for (size_t i = 0; i < c->flow->component_count; i++) {
        const struct tn_std_component *component = &c->flow->components[i];
        for (size_t k = 0; k < component->roles.count && decodes(c, component); k++) {
            const struct tn_std_binding *role = &component->roles.items[k];
            const struct tn_std_port *port = tn_standard_port(&component->outputs, role->key);
            if (!tn_str_is(role->value, "logits") || !port || port->contract.dim_count == 0) continue;
            const struct tn_std_dim *last = &port->contract.dims[port->contract.dim_count - 1];
            if (!last->fixed || last->extent < 0) continue;
            if ((uint64_t)last->extent == m->vocab_size.value || tn_std_unknown(c, component->at)) return;
            other = last;
        }
    }
    if (!other) return;
    char pointer[256];
    struct tn_str place = tn_json_pointer(other->at, pointer, sizeof(pointer));
    struct tn_finding *f = tn_std_say(c, m->vocab_size.at, "the graph's logits have another number of classes");
    tn_found(f, "%llu", (unsigned long long)m->vocab_size.value);
    tn_expected(f, "%lld, as %.*s says", (long long)other->extent, TN_FMT_ARG(place));
}

static void check_experts(struct tn_std_check *c, const struct tn_std_model *m)
{
    if (m->experts.present && m->experts_per_token.present && m->experts_per_token.value > m->experts.value)
        say_beyond(c, &m->experts_per_token, &m->experts, "a token takes more experts than there are",
                   "the routed experts");
    if (m->expert_groups.present && m->groups_per_token.present && m->groups_per_token.value > m->expert_groups.value)
        say_beyond(c, &m->groups_per_token, &m->expert_groups, "a token takes more groups than there are",
                   "the group_count");
    struct tn_finding *f;
    if (m->experts.present && m->expert_groups.present && m->expert_groups.value > 0 &&
        m->experts.value % m->expert_groups.value != 0) {
        f = tn_std_say(c, m->expert_groups.at, "the experts do not fall into groups of one size");
        tn_found(f, "%llu groups of %llu experts", (unsigned long long)m->expert_groups.value,
                 (unsigned long long)m->experts.value);
        tn_expected(f, "a divisor of routed_expert_count");
    }
    if (!m->expert_count.present || !m->experts.present || m->expert_count.value == m->experts.value) return;
    f = tn_std_say(c, m->expert_count.at, "two facts give two numbers of experts");
    tn_found(f, "%llu", (unsigned long long)m->expert_count.value);
    tn_expected(f, "%llu, as mixture_of_experts says", (unsigned long long)m->experts.value);
}

/* ---- sharding --------------------------------------------------------------------------------------------------- */

static void check_shards(struct tn_std_check *c, const struct tn_std_model *m)
{
    for (size_t i = 0; i < m->tensor_parallel_count; i++) {
        const struct tn_std_tensor_shard *shard = &m->tensor_parallel[i];
        for (size_t k = 0; k < shard->replicated.count; k++) {
            if (!tn_str_eq(shard->replicated.items[k].name, shard->name)) continue;
            struct tn_finding *f = tn_std_say(c, shard->replicated.items[k].at,
                                              "a parameter group cannot be split and replicated at once");
            tn_found(f, "\"%.*s\"", TN_FMT_ARG(shard->name));
            tn_expected(f, "other values");
        }
    }
}

/* Whether an earlier stage owns the name already. */
static bool taken(const struct tn_std_model *m, size_t stage, bool groups, struct tn_str name)
{
    for (size_t i = 0; i < stage; i++) {
        const struct tn_std_refs *list = groups ? &m->stages[i].state_groups : &m->stages[i].components;
        for (size_t k = 0; k < list->count; k++)
            if (tn_str_eq(list->items[k].name, name)) return true;
    }
    return false;
}

static void check_stage(struct tn_std_check *c, const struct tn_std_model *m, size_t i)
{
    const struct tn_std_stage *s = &m->stages[i];
    struct tn_finding *f;
    for (size_t k = 0; k < s->components.count; k++) {
        if (!tn_std_want_component(c, &s->components.items[k]) ||
            !taken(m, i, false, s->components.items[k].name)) continue;
        f = tn_std_say(c, s->components.items[k].at, "two stages run this component");
        tn_expected(f, "each component in one stage");
    }
    for (size_t k = 0; k < s->state_groups.count; k++) {
        if (!tn_std_want_group(c, &s->state_groups.items[k]) ||
            !taken(m, i, true, s->state_groups.items[k].name)) continue;
        f = tn_std_say(c, s->state_groups.items[k].at, "two stages own this state group");
        tn_expected(f, "each group in one stage");
    }
    for (size_t k = 0; k < s->outputs.count; k++) tn_std_want_value(c, &s->outputs.items[k]);
}

/* ---- quantisation and hardware ---------------------------------------------------------------------------------- */

static bool shares_layer(struct tn_json a, struct tn_json b)
{
    int64_t x, y;
    if (!tn_json_present(a) || !tn_json_present(b)) return true; /* all layers */
    for (struct tn_json i = tn_json_first(a); tn_json_present(i); i = tn_json_next(i))
        for (struct tn_json k = tn_json_first(b); tn_json_present(k); k = tn_json_next(k))
            if (tn_json_i64(i, &x) && tn_json_i64(k, &y) && x == y) return true;
    return false;
}

static void check_precision(struct tn_std_check *c)
{
    const struct tn_std_quantization_override *all = c->doc->quantization_overrides;
    for (size_t i = 0; i < c->doc->quantization_override_count; i++) {
        const struct tn_std_quantization_override *o = &all[i];
        struct tn_finding *f;
        if (!tn_json_present(o->component.at) && !tn_json_present(o->layers)) {
            f = tn_std_say(c, o->at, "the override selects nothing in particular");
            tn_expected(f, "layers, a component, or both; what holds everywhere is the default");
        }
        for (size_t k = 0; k < i; k++) {
            if (!tn_str_eq(all[k].component.name, o->component.name) ||
                tn_str_eq(all[k].precision.name, o->precision.name)) continue;
            if (tn_json_present(all[k].layers) != tn_json_present(o->layers) ||
                !shares_layer(all[k].layers, o->layers)) continue;
            f = tn_std_say(c, o->precision.at, "two overrides give one part two precisions");
            tn_found(f, "\"%.*s\" after \"%.*s\"", TN_FMT_ARG(o->precision.name), TN_FMT_ARG(all[k].precision.name));
            tn_expected(f, "one precision for each part");
            break;
        }
    }
}

static void check_hardware(struct tn_std_check *c, const struct tn_std_hardware *h)
{
    if (!h->min_tp_degree.present || h->min_tp_degree.value <= 1 || !h->has_tensor_parallel ||
        h->tensor_parallel) return;
    struct tn_finding *f = tn_std_say(c, h->min_tp_degree.at,
                                      "a degree of a parallelism that the model does not support");
    tn_found(f, "%llu with supports_tensor_parallel false", (unsigned long long)h->min_tp_degree.value);
    tn_expected(f, "1, or a model that supports it");
}

void tn_std_check_facts(struct tn_std_check *c)
{
    const struct tn_std_model *m = &c->doc->model;
    check_tokenizer(c);
    check_attention(c, m);
    check_vocab_size(c, m);
    check_experts(c, m);
    check_shards(c, m);
    for (size_t i = 0; i < m->stage_count && tn_json_present(c->flow->at); i++) check_stage(c, m, i);
    check_precision(c);
    check_hardware(c, &c->doc->hardware);
}
