/*
 * A declared contract against the one that the import of a convention makes of the same package. The two may divide the work
 * into other components and call values otherwise, so what is compared is what has one name in both: facts of the model, of
 * the tokenizer and of generation, the roles of a graph's ports, and the list of what was lost. Only what both state is
 * compared: a contract need not repeat its convention.
 */
#include "describe/convention.h"

#include "describe/losses.h"
#include "describe/package_document.h"

#include <string.h>

enum { DEPTH = 8 };

struct pair {
    struct tn_builder *b;
    const struct tn_description *other;
};

static void report(const struct pair *p, struct tn_json declared, struct tn_json other)
{
    struct tn_finding *f = tn_warning(p->b, TN_METADATA_INVALID, "the declared contract decides against the convention's files");
    tn_at_json(f, declared);
    tn_found(f, "%.*s in the contract, %.*s by the import of %.*s", TN_FMT_ARG(tn_json_text(declared)),
             TN_FMT_ARG(tn_json_text(other)), TN_FMT_ARG(p->other->dialect));
    tn_remedy(f, "remove the documents of the convention, or describe the package again from them");
}

static bool is_equal(struct tn_json a, struct tn_json b)
{
    double x, y;
    if (tn_json_f64(a, &x) && tn_json_f64(b, &y)) return x == y;
    return tn_json_type(a) == tn_json_type(b) && tn_str_eq(tn_json_text(a), tn_json_text(b));
}

/* Members of both, down to what is no object; a list is one value. */
static void compare(const struct pair *p, struct tn_json declared, struct tn_json other, unsigned depth)
{
    if (!tn_json_present(declared) || !tn_json_present(other) || tn_json_type(declared) == TN_JSON_NULL) return;
    if (!tn_json_is(declared, TN_JSON_OBJECT) || !tn_json_is(other, TN_JSON_OBJECT) || depth == DEPTH) {
        if (tn_json_is(declared, TN_JSON_ARRAY) && tn_json_is(other, TN_JSON_ARRAY)) return; /* files: their spelling is free */
        if (!is_equal(declared, other)) report(p, declared, other);
        return;
    }
    for (struct tn_json v = tn_json_first(declared); tn_json_present(v); v = tn_json_next(v))
        compare(p, v, tn_json_get_str(other, tn_json_key(v)), depth + 1);
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

static const struct tn_std_component *with_artifact(const struct tn_description *d, const struct tn_std_component *c)
{
    const struct tn_std_workflow *w = &d->standard.workflow;
    for (size_t i = 0; i < w->component_count; i++)
        if (w->components[i].implementation == TN_STD_ONNX && tn_str_eq(w->components[i].artifact.name, c->artifact.name))
            return &w->components[i];
    return NULL;
}

static void compare_roles(const struct pair *p)
{
    const struct tn_std_workflow *w = &p->b->d->standard.workflow;
    for (size_t i = 0; i < w->component_count; i++) {
        const struct tn_std_component *c = &w->components[i];
        const struct tn_std_component *other = c->implementation == TN_STD_ONNX ? with_artifact(p->other, c) : NULL;
        if (other) compare(p, tn_json_find(c->at, "/ports/roles"), tn_json_find(other->at, "/ports/roles"), 0);
    }
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

static bool is_listed(const struct tn_description *d, const struct tn_loss *loss)
{
    for (uint32_t i = 0; i < d->loss_count; i++)
        if (tn_str_eq(d->losses[i].pointer, loss->pointer) && tn_str_eq(d->losses[i].file, loss->file)) return true;
    return false;
}

static void report_loss(const struct pair *p, const struct tn_loss *loss, bool declared)
{
    struct tn_finding *f = tn_warning(p->b, TN_METADATA_INVALID,
                                      declared ? "the contract lists a loss, and the convention's files have no such field"
                                               : "a field of the convention's files is neither carried nor listed as lost");
    tn_at_pointer(f, loss->file, loss->pointer);
    tn_found(f, "%s: %.*s", tn_loss_kind_name(loss->kind), TN_FMT_ARG(loss->reason));
    tn_remedy(f, "remove the documents of the convention, or describe the package again from them");
}

/* A contract that lists none was not made by an import, and owes its convention nothing. */
static void compare_losses(const struct pair *p)
{
    const struct tn_description *d = p->b->d;
    for (uint32_t i = 0; i < p->other->loss_count && d->loss_count > 0; i++)
        if (!is_listed(d, &p->other->losses[i])) report_loss(p, &p->other->losses[i], false);
    for (uint32_t i = 0; i < d->loss_count; i++)
        if (!is_listed(p->other, &d->losses[i])) report_loss(p, &d->losses[i], true);
}

void tn_compare_contracts(struct tn_builder *b, const struct tn_description *other)
{
    static const char *const sections[] = {"model", "package", "generation"};
    struct pair p = {.b = b, .other = other};
    struct tn_json declared = tn_json_root(&b->d->contract), imported = tn_json_root(&other->contract);
    if (b->failed != TN_OK || !tn_json_present(declared) || !tn_json_present(imported)) return;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        compare(&p, tn_json_get(declared, sections[i]), tn_json_get(imported, sections[i]), 0);
    compare_roles(&p);
    compare_losses(&p);
}
