/*
 * The names of a workflow that hold a value: inputs, presence flags, state cells, outputs of invocations, merges of
 * branches, induction values. Each is produced once in the whole document; whoever comes second is refused.
 */
#include "describe/standard/check_internal.h"

/* ---- counting, so that one table of the right size serves ------------------------------------------------------- */

static size_t count_steps(const struct tn_std_steps *steps);

static size_t count_step(const struct tn_std_step *s)
{
    size_t n = s->outputs.count + s->merged_count + (tn_json_present(s->iteration.at) ? 1 : 0);
    n += count_steps(&s->setup) + count_steps(&s->body) + count_steps(&s->cases);
    return n + (s->otherwise ? count_step(s->otherwise) : 0);
}

static size_t count_steps(const struct tn_std_steps *steps)
{
    size_t n = 0;
    for (size_t i = 0; i < steps->count; i++) n += count_step(&steps->items[i]);
    return n;
}

/* ---- collecting ------------------------------------------------------------------------------------------------- */

static struct tn_std_value *add(struct tn_std_check *c, struct tn_str name, struct tn_json at,
                                enum tn_std_origin origin)
{
    uint32_t taken = tn_std_names_put(&c->value_names, name, (uint32_t)c->value_count);
    if (taken == TN_STD_NO_NAME) {
        struct tn_std_value *v = &c->values[c->value_count++];
        v->name = name;
        v->at = at;
        v->origin = origin;
        return v;
    }
    char pointer[256];
    struct tn_finding *f = tn_std_say(c, at, "the value \"%.*s\" is produced twice", TN_FMT_ARG(name));
    struct tn_str first = tn_json_pointer(c->values[taken].at, pointer, sizeof(pointer));
    tn_found(f, "the first time at %.*s", TN_FMT_ARG(first));
    tn_expected(f, "one producer for each value");
    return NULL;
}

static void collect_steps(struct tn_std_check *c, const struct tn_std_steps *steps);

static void collect_step(struct tn_std_check *c, const struct tn_std_step *s)
{
    for (size_t i = 0; i < s->outputs.count; i++) {
        struct tn_std_value *v = add(c, s->outputs.items[i].value, s->outputs.items[i].at, TN_STD_FROM_INVOKE);
        if (!v) continue;
        v->producer = tn_std_component(c, s->component.name);
        v->producer_port = s->outputs.items[i].key;
    }
    if (tn_json_present(s->iteration.at)) {
        struct tn_std_value *v = add(c, s->iteration.name, s->iteration.at, TN_STD_FROM_ITERATION);
        if (v) v->type = tn_std_type_of(c->doc, &s->iteration_contract);
    }
    for (size_t i = 0; i < s->merged_count; i++) add(c, s->merged[i].name, s->merged[i].at, TN_STD_FROM_BRANCH);
    collect_steps(c, &s->setup);
    collect_steps(c, &s->body);
    collect_steps(c, &s->cases);
    if (s->otherwise) collect_step(c, s->otherwise);
}

static void collect_steps(struct tn_std_check *c, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) collect_step(c, &steps->items[i]);
}

static void collect_inputs(struct tn_std_check *c)
{
    static const struct tn_std_dim no_dims[1];
    for (size_t i = 0; i < c->flow->input_count; i++) {
        const struct tn_std_input *in = &c->flow->inputs[i];
        struct tn_std_value *v = add(c, in->name, in->at, TN_STD_FROM_INPUT);
        if (v) v->index = (uint32_t)i;
        if (v) v->type = tn_std_type_of(c->doc, &in->contract);
        if (!tn_json_present(in->present_as.at)) continue;
        v = add(c, in->present_as.name, in->present_as.at, TN_STD_FROM_PRESENCE);
        if (!v) continue;
        v->index = (uint32_t)i;
        v->type = (struct tn_std_type){.known = true, .dtype = TN_STD_BOOL, .has_rank = true, .has_shape = true,
                                       .dims = no_dims};
    }
}

static void collect_cells(struct tn_std_check *c)
{
    for (size_t i = 0; i < c->flow->cell_count; i++) {
        const struct tn_std_cell *cell = &c->flow->cells[i];
        struct tn_std_value *v = add(c, cell->name, cell->at, TN_STD_FROM_CELL);
        if (!v) continue;
        const struct tn_std_group *group = tn_std_group(c, cell->group.name);
        v->index = (uint32_t)i;
        v->type = tn_std_type_of(c->doc, &cell->contract);
        bool known = !tn_std_unknown(c, cell->at) && !c->open[TN_STD_SPACE_GROUP] && !(group && tn_std_unknown(c, group->at));
        v->private_state = known && cell->management != TN_STD_WORKFLOW && !(group && tn_json_present(group->checkpoint.at));
    }
}

void tn_std_check_values(struct tn_std_check *c)
{
    size_t most = count_steps(&c->flow->steps) + 2 * c->flow->input_count + c->flow->cell_count;
    c->values = tn_arena_array(&c->arena, most + 1, sizeof(*c->values));
    c->scope = tn_arena_array(&c->arena, most + 1, sizeof(*c->scope));
    c->memory_gone = !c->values || !c->scope || !tn_std_names_init(&c->value_names, &c->arena, most);
    if (c->memory_gone) return;
    collect_inputs(c);
    collect_cells(c);
    collect_steps(c, &c->flow->steps);
}
