/*
 * Speculation: the ports that tie proposer and target together, and whether everything that a rejected proposal has
 * touched can be undone as far as proposals reach.
 *
 * The region is the body of the innermost loop that invokes both; every component in it runs on every proposed position,
 * so its effects are held to the same bound. Without such a loop only the two are. The retry class of an effect plays no
 * part: that something may be repeated does not say that it can be undone.
 */
#include "describe/standard/check_internal.h"

#include <string.h>

/* ---- the region ------------------------------------------------------------------------------------------------- */

static bool invokes(const struct tn_std_steps *steps, struct tn_str component)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind == TN_STD_INVOKE && tn_str_eq(s->component.name, component)) return true;
        if (invokes(&s->setup, component) || invokes(&s->body, component) || invokes(&s->cases, component)) return true;
        if (s->otherwise && invokes(&(struct tn_std_steps){.items = s->otherwise, .count = 1}, component)) return true;
    }
    return false;
}

/* The body of the innermost loop with both, or NULL. */
static const struct tn_std_steps *find_region(const struct tn_std_steps *steps, const struct tn_std_speculative *s)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *step = &steps->items[i];
        const struct tn_std_steps *inner = find_region(&step->body, s);
        if (!inner) inner = find_region(&step->setup, s);
        if (!inner) inner = find_region(&step->cases, s);
        if (!inner && step->otherwise) inner = find_region(&(struct tn_std_steps){.items = step->otherwise,
                .count = 1}, s);
        if (inner) return inner;
        if (step->kind == TN_STD_LOOP && invokes(&step->body, s->proposer.name) && invokes(&step->body, s->target.name))
            return &step->body;
    }
    return NULL;
}

/* Marks the components that run on every proposed position. */
static void mark(const struct tn_std_check *c, const struct tn_std_steps *steps, bool *runs)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        const struct tn_std_component *component = s->kind == TN_STD_INVOKE ? tn_std_component(c, s->component.name)
            : NULL;
        if (component) runs[component - c->flow->components] = true;
        mark(c, &s->setup, runs);
        mark(c, &s->body, runs);
        mark(c, &s->cases, runs);
        if (s->otherwise) mark(c, &(struct tn_std_steps){.items = s->otherwise, .count = 1}, runs);
    }
}

static bool runs_here(const struct tn_std_check *c, const bool *runs, struct tn_str name)
{
    const struct tn_std_component *component = tn_std_component(c, name);
    return component && runs[component - c->flow->components];
}

/* ---- effects ---------------------------------------------------------------------------------------------------- */

static void check_effect(struct tn_std_check *c, const struct tn_std_effect *effect,
                         const struct tn_std_component *component)
{
    uint64_t width = c->doc->speculative.max_proposal_width.value;
    struct tn_finding *f;
    if (effect->safety == TN_STD_UNSAFE) {
        f = tn_std_say_member(c, effect->at, "speculation_safety",
                              "the effect happens on every proposed position and cannot be undone");
        tn_found(f, "%s, by way of \"%.*s\"", tn_json_present(effect->safety_at) ? "none" : "nothing, which means none",
                 TN_FMT_ARG(component->name));
        tn_expected(f, "clonable, or rewindable by %llu or more", (unsigned long long)width);
    } else if (effect->safety == TN_STD_REWINDABLE && effect->max_depth.value < width) {
        f = tn_std_say(c, tn_json_present(effect->max_depth.at) ? effect->max_depth.at : effect->safety_at,
                       "the effect cannot be rewound as far as proposals reach");
        tn_found(f, "%llu positions", (unsigned long long)effect->max_depth.value);
        tn_expected(f, "%llu or more, the maximum proposal width", (unsigned long long)width);
    }
}

static void check_effects(struct tn_std_check *c, const bool *runs)
{
    for (size_t e = 0; e < c->flow->effect_count; e++) {
        const struct tn_std_effect *effect = &c->flow->effects[e];
        const struct tn_std_component *by = NULL;
        for (size_t i = 0; i < c->flow->component_count && !by; i++) {
            const struct tn_std_component *component = &c->flow->components[i];
            for (size_t k = 0; runs[i] && k < component->effects.count; k++)
                if (tn_str_eq(component->effects.items[k].name, effect->name)) by = component;
        }
        if (by) check_effect(c, effect, by);
    }
}

/* ---- state ------------------------------------------------------------------------------------------------------ */

static void check_group_bound(struct tn_std_check *c, const struct tn_std_group *group)
{
    uint64_t width = c->doc->speculative.max_proposal_width.value;
    struct tn_json place = tn_json_present(group->capabilities_at) ? group->capabilities_at : group->at;
    const char *member = tn_json_present(group->capabilities_at) ? "rollback_positions" : "capabilities";
    struct tn_finding *f;
    if (!group->rollback_positions.present || group->rollback_positions.value < width) {
        f = tn_std_say_member(c, place, member, "the group \"%.*s\" cannot be rolled back as far as proposals reach",
                              TN_FMT_ARG(group->name));
        if (group->rollback_positions.present) tn_found(f, "%llu positions",
                                                        (unsigned long long)group->rollback_positions.value);
        else tn_found(f, "no rollback_positions");
        tn_expected(f, "%llu or more, the maximum proposal width", (unsigned long long)width);
    } else if (group->update == TN_STD_REPLACE && !group->snapshot) {
        f = tn_std_say_member(c, place, "snapshot", "state that each step replaces has no suffix to cut off");
        tn_expected(f, "snapshot true, so that the runtime can restore what was before the proposal");
    }
}

/* Groups that must move: those of the cells named for rollback and, again and again, whatever they drag along. */
static void check_groups(struct tn_std_check *c)
{
    const struct tn_std_serving *s = &c->flow->serving;
    const struct tn_std_speculative *spec = &c->doc->speculative;
    bool *moves = tn_arena_array(&c->arena, s->group_count + 1, sizeof(*moves));
    if (!moves) {
        c->memory_gone = true;
        return;
    }
    for (size_t i = 0; i < spec->rollback_state.count; i++) {
        const struct tn_std_cell *cell = tn_std_cell(c, spec->rollback_state.items[i].name);
        const struct tn_std_group *group = cell ? tn_std_group(c, cell->group.name) : NULL;
        if (group) moves[group - s->groups] = true;
    }
    for (bool again = true; again;) {
        again = false;
        for (size_t g = 0; g < s->group_count; g++) {
            for (size_t k = 0; moves[g] && k < s->groups[g].cascade.count; k++) {
                const struct tn_std_group *next = tn_std_group(c, s->groups[g].cascade.items[k].name);
                if (!next || moves[next - s->groups]) continue;
                moves[next - s->groups] = true;
                again = true;
            }
        }
    }
    for (size_t g = 0; g < s->group_count; g++)
        if (moves[g]) check_group_bound(c, &s->groups[g]);
}

/* State that the region advances but nobody names would keep what a rejected proposal wrote. */
static void check_forgotten(struct tn_std_check *c, const bool *runs)
{
    const struct tn_std_speculative *spec = &c->doc->speculative;
    for (size_t i = 0; i < c->flow->cell_count; i++) {
        const struct tn_std_cell *cell = &c->flow->cells[i];
        const struct tn_std_group *group = tn_std_group(c, cell->group.name);
        bool advanced = false, named = false;
        for (size_t k = 0; group && k < group->port_count; k++)
            advanced = advanced || (!group->ports[k].read_only && runs_here(c, runs, group->ports[k].component));
        for (size_t k = 0; k < spec->rollback_state.count; k++)
            named = named || tn_str_eq(spec->rollback_state.items[k].name, cell->name);
        if (!advanced || named) continue;
        struct tn_finding *f = tn_std_say_member(c, spec->at, "rollback_state",
                                                 "the state cell \"%.*s\" advances with every proposal and is not rolled back",
                                                 TN_FMT_ARG(cell->name));
        tn_expected(f, "its name in rollback_state");
    }
}

/* ---- ports of proposer and target ------------------------------------------------------------------------------- */

static void want_port(struct tn_std_check *c, const struct tn_std_component *component, bool output,
                      const struct tn_std_ref *ref)
{
    if (!component || !tn_json_present(ref->at)) return;
    if (tn_std_may_have_port(c, component, output, ref->name)) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "the component \"%.*s\" declares no %s port of this name",
                                      TN_FMT_ARG(component->name), output ? "output" : "input");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(ref->name));
    tn_expected(f, "a port of components.%.*s.ports.%s", TN_FMT_ARG(component->name), output ? "outputs" : "inputs");
}

static void want_target(struct tn_std_check *c, const struct tn_std_ref *ref, const char *what)
{
    const struct tn_std_speculative *s = &c->doc->speculative;
    if (!tn_json_present(ref->at) || tn_str_eq(ref->name, s->target.name) || tn_std_hides(c, s->at, "target")) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "%s comes from the target", what);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(ref->name));
    tn_expected(f, "\"%.*s\"", TN_FMT_ARG(s->target.name));
}

static void check_carry(struct tn_std_check *c, const struct tn_std_component *target)
{
    const struct tn_std_speculative *s = &c->doc->speculative;
    struct tn_finding *f;
    if (!tn_json_present(s->folded_carry_output.at)) return;
    if (!tn_json_present(s->seed_at)) {
        f = tn_std_say_member(c, s->execution_at, "folded_carry_seed", "nothing says what the first step folds in");
        tn_expected(f, "the target's output that seeds the carry");
    }
    if (!tn_json_present(s->table_at)) {
        f = tn_std_say_member(c, s->execution_at, "token_embedding",
                              "nothing says where the embedding of the last token comes from");
        tn_expected(f, "the target's embedding table");
    }
    bool bound = false;
    for (size_t i = 0; i < s->port_bindings.count; i++)
        bound = bound || tn_str_is(s->port_bindings.items[i].key, "target_hidden_context");
    if (!bound) {
        f = tn_std_say_member(c, tn_json_present(s->port_bindings.at) ? s->port_bindings.at : s->at,
                              tn_json_present(s->port_bindings.at) ? "target_hidden_context" : "port_bindings",
                              "nothing says which input the folded carry lands in");
        tn_expected(f, "port_bindings.target_hidden_context, the token_embedding_input");
    }
    want_target(c, &s->seed_component, "the seed of a folded carry");
    want_target(c, &s->table_component, "the embedding table");
    want_port(c, target, true, &s->seed_output);
    for (size_t i = 0; i < s->port_bindings.count; i++) {
        const struct tn_std_binding *b = &s->port_bindings.items[i];
        if (!tn_str_is(b->key, "target_hidden_context") || tn_str_eq(b->value, s->token_embedding_input.name)) continue;
        if (tn_std_hides(c, s->execution_at, "token_embedding_input")) continue;
        f = tn_std_say(c, b->at, "a folded carry lands in the fused input and nowhere else");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(b->value));
        tn_expected(f, "\"%.*s\", the token_embedding_input", TN_FMT_ARG(s->token_embedding_input.name));
    }
}

static void check_recurrent(struct tn_std_check *c, const struct tn_std_component *proposer,
                            const struct tn_std_recurrent *r)
{
    const struct tn_std_speculative *s = &c->doc->speculative;
    const struct tn_std_cell *cell = tn_std_want_cell(c, &r->state);
    bool named = false;
    want_port(c, proposer, false, &r->input);
    want_port(c, proposer, true, &r->output);
    for (size_t i = 0; i < s->rollback_state.count; i++)
        named = named || tn_str_eq(s->rollback_state.items[i].name, r->state.name);
    if (!cell || named || tn_json_present(cell->group.at)) return; /* cells of groups are told with their region */
    struct tn_finding *f = tn_std_say(c, r->state.at,
                                      "the proposer carries this cell along a chain that may be rejected");
    tn_expected(f, "its name in rollback_state");
}

/* Each input takes one value of a step, and each cell is carried once. */
static void check_once(struct tn_std_check *c, size_t i)
{
    const struct tn_std_speculative *s = &c->doc->speculative;
    const struct tn_std_recurrent *r = &s->recurrent[i];
    const char *taken = tn_json_present(r->input.at) && tn_json_present(s->token_embedding_input.at) &&
        tn_str_eq(r->input.name, s->token_embedding_input.name) ? "the token_embedding_input" : NULL;
    bool carried = false;
    struct tn_finding *f;
    for (size_t k = 0; k < i; k++) {
        const struct tn_std_recurrent *q = &s->recurrent[k];
        if (tn_json_present(r->input.at) && tn_str_eq(q->input.name, r->input.name)) taken = "another recurrent value";
        carried = carried || (tn_json_present(r->state.at) && tn_str_eq(q->state.name, r->state.name));
    }
    if (taken) {
        f = tn_std_say(c, r->input.at, "two values of one step go through this input");
        tn_found(f, "\"%.*s\", which %s takes", TN_FMT_ARG(r->input.name), taken);
        tn_expected(f, "an input of its own");
    }
    if (!carried) return;
    f = tn_std_say(c, r->state.at, "two recurrent values are carried in this cell");
    tn_found(f, "\"%.*s\" again", TN_FMT_ARG(r->state.name));
    tn_expected(f, "a cell of its own for each");
}

static void check_chain(struct tn_std_check *c, const struct tn_std_component *proposer,
                        const struct tn_std_component *target)
{
    const struct tn_std_speculative *s = &c->doc->speculative;
    if (!s->chained) return;
    want_port(c, proposer, false, &s->token_embedding_input);
    want_port(c, proposer, true, &s->logits_output);
    want_port(c, proposer, true, &s->folded_carry_output);
    check_carry(c, target);
    for (size_t i = 0; i < s->recurrent_count; i++) check_recurrent(c, proposer, &s->recurrent[i]);
    for (size_t i = 0; i < s->recurrent_count; i++) check_once(c, i);
    if (s->recurrent_count > 0 || tn_json_present(s->folded_carry_output.at)) return;
    if (tn_std_hides(c, s->execution_at, "folded_carry_output")) return;
    struct tn_finding *f = tn_std_say_member(c, s->execution_at, "recurrent",
                                             "a chain whose steps hand nothing on is no chain");
    tn_expected(f, "a recurrent value or a folded carry");
}

static void check_vocabulary(struct tn_std_check *c)
{
    const struct tn_std_speculative *s = &c->doc->speculative;
    const struct tn_std_count *all = c->doc->model.vocab_size.present ? &c->doc->model.vocab_size
        : &c->doc->tokenizer.vocab_size;
    struct tn_finding *f;
    if (s->vocabulary != TN_STD_SUBSET || !s->proposer_vocab_size.present) return;
    if (s->proposer_vocab_size.value == 0) {
        f = tn_std_say(c, s->proposer_vocab_size.at, "a proposer without a vocabulary proposes nothing");
        tn_found(f, "0");
        tn_expected(f, "1 or more");
        return;
    }
    if (!all->present || s->proposer_vocab_size.value <= all->value) return;
    f = tn_std_say(c, s->proposer_vocab_size.at, "a subset is larger than the vocabulary");
    tn_found(f, "%llu", (unsigned long long)s->proposer_vocab_size.value);
    tn_expected(f, "at most %llu", (unsigned long long)all->value);
}

/* Groups, as the schema says, or single cells of them, as documents write it. */
static void check_shared(struct tn_std_check *c)
{
    const struct tn_std_refs *shared = &c->doc->speculative.shared_state;
    for (size_t i = 0; i < shared->count; i++)
        if (!tn_std_group(c, shared->items[i].name) && !tn_std_cell(c, shared->items[i].name))
            tn_std_say_unknown(c, &shared->items[i], TN_STD_SPACE_GROUP_OR_CELL);
}

/* Names of initializers. A graph's are C strings in most tools, so one with a NUL would name two different things. */
static void check_weights(struct tn_std_check *c)
{
    const struct tn_std_refs *weights = &c->doc->speculative.shared_weights;
    for (size_t i = 0; i < weights->count; i++) {
        const struct tn_str name = weights->items[i].name;
        if (!name.n || !memchr(name.s, 0, name.n)) continue;
        struct tn_finding *f = tn_std_say(c, weights->items[i].at, "no weight has such a name");
        tn_found(f, "a NUL byte in %zu bytes", name.n);
        tn_expected(f, "a name without NUL bytes");
    }
}

void tn_std_check_speculative(struct tn_std_check *c)
{
    const struct tn_std_speculative *s = &c->doc->speculative;
    if (!tn_json_present(s->at)) return;
    check_vocabulary(c);
    check_weights(c);
    if (!tn_std_has_workflow(c)) return;
    const struct tn_std_component *proposer = tn_std_want_component(c, &s->proposer);
    const struct tn_std_component *target = tn_std_want_component(c, &s->target);
    for (size_t i = 0; i < s->port_bindings.count; i++) {
        struct tn_std_ref port = {s->port_bindings.items[i].value, s->port_bindings.items[i].at};
        want_port(c, proposer, false, &port);
    }
    check_chain(c, proposer, target);
    check_shared(c);
    for (size_t i = 0; i < s->rollback_state.count; i++) tn_std_want_cell(c, &s->rollback_state.items[i]);
    if (!proposer || !target || !s->max_proposal_width.present) return;
    bool *runs = tn_arena_array(&c->arena, c->flow->component_count, sizeof(*runs));
    c->memory_gone = c->memory_gone || !runs;
    if (!runs) return;
    const struct tn_std_steps *region = find_region(&c->flow->steps, s);
    runs[proposer - c->flow->components] = runs[target - c->flow->components] = true;
    if (region) mark(c, region, runs);
    check_effects(c, runs);
    check_groups(c);
    check_forgotten(c, runs);
}
