/*
 * State cells: how long they live, who owns them, how their shape may change, what they begin with.
 *
 * The corollaries of lifetime: what the workflow owns is freed by liveness and declares no boundary; what the runtime
 * or an outsider owns has no last reader in the graph and must declare one; a cell of a state group is the runtime's.
 */
#include "describe/standard/check_internal.h"

static void check_lifetime(struct tn_std_check *c, const struct tn_std_cell *cell)
{
    bool bounded = tn_json_present(cell->boundary_at);
    struct tn_finding *f;
    if (tn_std_hides(c, cell->at, "management") || tn_std_hides(c, cell->at, "scope")) return;
    if (cell->management == TN_STD_WORKFLOW && bounded) {
        f = tn_std_say(c, cell->boundary_at, "a cell that the workflow manages is freed with its last reader");
        tn_expected(f, "no release_boundary, or management runtime or external");
    } else if (cell->management != TN_STD_WORKFLOW && !bounded) {
        f = tn_std_say_member(c, cell->at, "release_boundary", "nobody can tell when this cell may be released");
        tn_expected(f, "a release_boundary, because the graph knows no last reader of state that it does not own");
    }
    if (cell->management != TN_STD_WORKFLOW && cell->boundary == TN_STD_END_OF_SESSION && !cell->session_scope) {
        f = tn_std_say(c, cell->boundary_at, "a cell cannot outlive its scope");
        tn_found(f, "release_boundary session, scope invocation");
        tn_expected(f, "scope session");
    }
    if (!tn_json_present(cell->session) || cell->session_scope) return;
    f = tn_std_say(c, cell->session, "a session lease stands on a cell that ends with the invocation");
    tn_expected(f, "scope session");
}

static void check_membership(struct tn_std_check *c, const struct tn_std_cell *cell)
{
    const struct tn_std_group *group = tn_std_want_group(c, &cell->group);
    struct tn_finding *f;
    if (!tn_json_present(cell->group.at)) return;
    if (cell->management != TN_STD_RUNTIME) {
        f = tn_std_say_member(c, cell->at, "management", "a cell of a state group is stored by the runtime");
        tn_found(f, cell->management == TN_STD_EXTERNAL ? "external" : "workflow");
        tn_expected(f, "runtime");
    }
    if (!group) return;
    if (cell->advisory && tn_json_present(group->checkpoint.at)) {
        f = tn_std_say_member(c, cell->at, "class", "advisory state must not get into checkpoints");
        tn_expected(f, "semantic, or a group without a checkpoint");
    }
    if (group->update == TN_STD_INDEXED_SCATTER && cell->recurrence != TN_STD_INVARIANT) {
        f = tn_std_say(c, cell->recurrence_at, "a buffer of fixed capacity does not change its shape");
        tn_expected(f, "invariant, as the group \"%.*s\" writes by indexed_scatter", TN_FMT_ARG(group->name));
    }
    if (group->update == TN_STD_REPLACE && cell->recurrence == TN_STD_GROWING) {
        f = tn_std_say(c, cell->recurrence_at, "state that each step replaces as a whole does not grow");
        tn_expected(f, "invariant or bounded");
    }
    if ((group->kind == TN_STD_CROSS_ATTENTION || group->kind == TN_STD_ENCODER) &&
        cell->recurrence == TN_STD_GROWING) {
        f = tn_std_say(c, cell->recurrence_at,
                       "state that follows from an encoder's result does not grow with the decoder");
        tn_expected(f, "invariant or bounded");
    }
    enum tn_std_layout_kind layout = cell->contract.layout.kind;
    if (tn_json_present(cell->contract.at) && (layout == TN_STD_SHARED || layout == TN_STD_TOKEN_PACKED)) {
        f = tn_std_say_member(c, cell->contract.at, "batch_layout",
                              "nothing says which axis of this state moves with its request");
        tn_found(f, "%s", tn_std_layout_name(layout));
        tn_expected(f, "request_aligned or runtime_sequence_state");
    }
    const struct tn_std_cell *clash;
    if (tn_std_axis_clash(c, group, &clash)) return; /* told at the group */
    if (cell->recurrence != TN_STD_INVARIANT && cell->axis.present && group->sequence_axis.present &&
        cell->axis.value != group->sequence_axis.value) {
        f = tn_std_say(c, cell->axis.at, "the cell changes along another axis than its group's sequence");
        tn_found(f, "%llu", (unsigned long long)cell->axis.value);
        tn_expected(f, "%llu, the sequence_axis of \"%.*s\"", (unsigned long long)group->sequence_axis.value,
                    TN_FMT_ARG(group->name));
        return;
    }
    if (!group->sequence_axis.present || !cell->contract.rank.present) return;
    if (group->sequence_axis.value < cell->contract.rank.value) return;
    f = tn_std_say(c, cell->contract.rank.at, "the group's sequence axis is outside this cell");
    tn_found(f, "rank %llu, sequence_axis %llu", (unsigned long long)cell->contract.rank.value,
             (unsigned long long)group->sequence_axis.value);
    tn_expected(f, "an axis of the cell");
}

/* Where a growing or bounded cell takes its sizes from. */
static void check_size(struct tn_std_check *c, const struct tn_std_ref *ref, const char *what)
{
    const struct tn_std_value *v = tn_std_want_value(c, ref);
    char text[TN_STD_TYPE_TEXT];
    if (!v || (tn_std_type_is_integer(&v->type) && tn_std_type_is_scalar(&v->type))) return;
    struct tn_finding *f = tn_std_say(c, ref->at, "%s is no whole number", what);
    tn_found(f, "%s", tn_std_type_text(&v->type, text));
    tn_expected(f, "int64 of rank 0, or of rank 1 with one element");
}

static void check_recurrence(struct tn_std_check *c, const struct tn_std_cell *cell)
{
    if (cell->recurrence == TN_STD_INVARIANT) return;
    check_size(c, &cell->max, "the bound of a recurrence");
    if (cell->recurrence == TN_STD_GROWING) check_size(c, &cell->increment, "the increment of a recurrence");
    const struct tn_std_group *group = tn_std_group(c, cell->group.name);
    if (!cell->axis.present || !cell->contract.rank.present) return;
    if (group && group->sequence_axis.present &&
        group->sequence_axis.value != cell->axis.value) return; /* told already */
    struct tn_finding *f;
    if (tn_std_unknown(c, cell->contract.at)) return;
    if (cell->axis.value >= cell->contract.rank.value) {
        f = tn_std_say(c, cell->axis.at, "the cell has no axis of this number");
        tn_found(f, "axis %llu of rank %llu", (unsigned long long)cell->axis.value,
                 (unsigned long long)cell->contract.rank.value);
        tn_expected(f, "an axis below the cell's rank");
    } else if (cell->axis.value < cell->contract.dim_count && cell->contract.dims[cell->axis.value].fixed) {
        f = tn_std_say(c, cell->axis.at, "the axis along which the cell changes has a fixed extent");
        tn_found(f, "extent %lld", (long long)cell->contract.dims[cell->axis.value].extent);
        tn_expected(f, "a symbolic extent");
    }
}

/* The initial value fits the cell, except along the axis that changes. */
static void check_initializer(struct tn_std_check *c, const struct tn_std_cell *cell)
{
    const struct tn_std_value *from = tn_std_want_value(c, &cell->initializer);
    struct tn_std_type wanted = tn_std_type_of(c->doc, &cell->contract);
    uint64_t free_axis = cell->recurrence == TN_STD_INVARIANT || !cell->axis.present ? TN_STD_NO_AXIS
        : cell->axis.value;
    char text[TN_STD_TYPE_TEXT];
    if (!from || from->origin == TN_STD_FROM_CELL) return;
    const char *clash = tn_std_type_clash(&from->type, &wanted, NULL, free_axis);
    if (!clash) return;
    struct tn_finding *f = tn_std_say(c, cell->initializer.at, "the cell does not take its initial value: %s", clash);
    tn_found(f, "%s", tn_std_type_text(&from->type, text));
    tn_expected(f, "%s", tn_std_type_text(&wanted, text));
}

void tn_std_check_cells(struct tn_std_check *c)
{
    for (size_t i = 0; i < c->flow->cell_count; i++) {
        const struct tn_std_cell *cell = &c->flow->cells[i];
        check_lifetime(c, cell);
        check_membership(c, cell);
        check_recurrence(c, cell);
        check_initializer(c, cell);
    }
}
