/*
 * A declared contract against the one that the import of a convention makes of the same package. The two may divide the work
 * into other components and call values otherwise, so what is compared is what has one name in both: facts of the model, of
 * the tokenizer and of generation, the roles of a graph's ports, and the list of what was lost; of components, what
 * convention_flow.c finds by their files. Only what both state is compared: a contract need not repeat its convention.
 *
 * An import that stopped short at a fault makes no contract. What it read before is compared all the same, fact by fact, so
 * that one wrong number does not hide the next.
 */
#include "describe/convention.h"

#include "describe/losses.h"
#include "describe/package_document.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 8, POINTER_BYTES = 256 };

/* ---- where the convention says it -------------------------------------------------------------------------------- */

/* Values of a contract, and the facts that an import keeps of them; * stands for the last name. */
static const struct {
    const char *pointer, *fact;
} sources[] = {
    {"/model/max_sequence_length", "model.context_length"},
    {"/model/vocab_size", "model.vocab_size"},
    {"/model/attention/num_attention_heads", "decoder.num_attention_heads"},
    {"/model/attention/num_kv_heads", "decoder.num_key_value_heads"},
    {"/model/attention/head_dim", "decoder.head_size"},
    {"/model/attention/sliding_window", "decoder.sliding_window"},
    {"/generation/defaults/*", "generation.*"},
    {"/package/tokenizer/special_tokens/*/id", "tokens.*"},
};

enum { SOURCES = sizeof(sources) / sizeof(sources[0]) };

static const struct tn_fact *fact_named(const struct tn_builder *b, const char *before, struct tn_str name)
{
    size_t n = strlen(before);
    for (size_t i = 0; i < b->fact_count; i++) {
        const struct tn_fact *f = &b->facts[i];
        if (f->origin != TN_FROM_FILE || f->name.n != n + name.n || !tn_str_starts(f->name, before)) continue;
        if (memcmp(f->name.s + n, name.s, name.n) == 0) return f;
    }
    return NULL;
}

/* The fact by row i about the value at a pointer; NULL: the row is of another value, or no file says it. */
static const struct tn_fact *fact_by(const struct tn_contract_pair *p, size_t i, struct tn_str at)
{
    char before[64];
    const char *star = strchr(sources[i].pointer, '*');
    size_t n = star ? (size_t)(star - sources[i].pointer) : 0, rest = star ? strlen(star + 1) : 0;
    if (!star) return tn_str_is(at, sources[i].pointer) ? fact_named(p->other, sources[i].fact, TN_STR("")) : NULL;
    if (at.n <= n + rest || memcmp(at.s, sources[i].pointer, n) != 0 || memcmp(at.s + at.n - rest, star + 1, rest) != 0) return NULL;
    snprintf(before, sizeof(before), "%.*s", (int)strcspn(sources[i].fact, "*"), sources[i].fact);
    return fact_named(p->other, before, (struct tn_str){at.s + n, at.n - n - rest});
}

static const struct tn_fact *fact_about(const struct tn_contract_pair *p, struct tn_json v)
{
    char pointer[POINTER_BYTES];
    const struct tn_fact *fact = NULL;
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    for (size_t i = 0; i < SOURCES && !fact; i++) fact = fact_by(p, i, at);
    return fact;
}

/* ---- what differs ------------------------------------------------------------------------------------------------ */

void tn_contract_differs(const struct tn_contract_pair *p, struct tn_json at, struct tn_str declared, struct tn_str other)
{
    const struct tn_fact *fact = fact_about(p, at);
    struct tn_finding *f = tn_warning(p->b, TN_METADATA_INVALID, "the declared contract decides against the convention's files");
    tn_at_json(f, at);
    if (fact) tn_found(f, "%.*s in the contract, %.*s by %.*s#%.*s", TN_FMT_ARG(declared), TN_FMT_ARG(other),
                       TN_FMT_ARG(fact->file), TN_FMT_ARG(fact->pointer));
    else tn_found(f, "%.*s in the contract, %.*s by the import of %.*s", TN_FMT_ARG(declared), TN_FMT_ARG(other),
                  TN_FMT_ARG(p->other->d->dialect));
    tn_remedy(f, "remove the documents of the convention, or describe the package again from them");
}

static bool is_equal(struct tn_json a, struct tn_json b)
{
    double x, y;
    if (tn_json_f64(a, &x) && tn_json_f64(b, &y)) return x == y;
    return tn_json_type(a) == tn_json_type(b) && tn_str_eq(tn_json_text(a), tn_json_text(b));
}

/* Members of both, down to what is no object; a list is one value. */
static void compare(const struct tn_contract_pair *p, struct tn_json declared, struct tn_json other, unsigned depth)
{
    if (!tn_json_present(declared) || !tn_json_present(other) || tn_json_type(declared) == TN_JSON_NULL) return;
    if (!tn_json_is(declared, TN_JSON_OBJECT) || !tn_json_is(other, TN_JSON_OBJECT) || depth == DEPTH) {
        if (tn_json_is(declared, TN_JSON_ARRAY) && tn_json_is(other, TN_JSON_ARRAY)) return; /* files: their spelling is free */
        if (!is_equal(declared, other)) tn_contract_differs(p, declared, tn_json_text(declared), tn_json_text(other));
        return;
    }
    for (struct tn_json v = tn_json_first(declared); tn_json_present(v); v = tn_json_next(v))
        compare(p, v, tn_json_get_str(other, tn_json_key(v)), depth + 1);
}

/* ---- an import that stopped short -------------------------------------------------------------------------------- */

/* What was refused where it stands is told there. */
static bool is_refused(const struct tn_builder *b, const struct tn_fact *fact)
{
    for (size_t i = 0; i < b->d->findings.count; i++) {
        const struct tn_finding *f = &b->d->findings.items[i];
        if (f->severity == TN_BLOCKER && tn_str_is(fact->file, f->file) && tn_str_is(fact->pointer, f->element)) return true;
    }
    return false;
}

static bool is_said_by(struct tn_json v, const struct tn_fact *fact)
{
    double x, y;
    if (tn_json_f64(v, &x) && tn_parse_f64(fact->value, &y)) return x == y;
    return tn_str_eq(tn_json_text(v), fact->value);
}

/* Values with a fact of their own; of a fact that is a list the contract may have taken a part. */
static void compare_facts(const struct tn_contract_pair *p, struct tn_json declared)
{
    if (tn_json_is(declared, TN_JSON_OBJECT)) {
        for (struct tn_json v = tn_json_first(declared); tn_json_present(v); v = tn_json_next(v)) compare_facts(p, v);
        return;
    }
    const struct tn_fact *fact = tn_json_type(declared) == TN_JSON_NULL ? NULL : fact_about(p, declared);
    if (!fact || (fact->value.n && fact->value.s[0] == '[') || is_refused(p->other, fact) || is_said_by(declared, fact)) return;
    tn_contract_differs(p, declared, tn_json_text(declared), fact->value);
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

static void compare_roles(const struct tn_contract_pair *p)
{
    const struct tn_std_workflow *w = &p->b->d->standard.workflow;
    for (size_t i = 0; i < w->component_count; i++) {
        const struct tn_std_component *c = &w->components[i];
        const struct tn_std_component *other = c->implementation == TN_STD_ONNX ? with_artifact(p->other->d, c) : NULL;
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

static void report_loss(const struct tn_contract_pair *p, const struct tn_loss *loss, bool declared)
{
    struct tn_finding *f = tn_warning(p->b, TN_METADATA_INVALID,
                                      declared ? "the contract lists a loss, and the convention's files have no such field"
                                               : "a field of the convention's files is neither carried nor listed as lost");
    tn_at_pointer(f, loss->file, loss->pointer);
    tn_found(f, "%s: %.*s", tn_loss_kind_name(loss->kind), TN_FMT_ARG(loss->reason));
    tn_remedy(f, "remove the documents of the convention, or describe the package again from them");
}

/*
 * A contract that lists none was not made by an import, and owes its convention nothing. An import that stopped short has
 * not found all of its own.
 */
static void compare_losses(const struct tn_contract_pair *p, bool whole)
{
    const struct tn_description *d = p->b->d;
    const struct tn_description *other = p->other->d;
    for (uint32_t i = 0; i < other->loss_count && d->loss_count > 0; i++)
        if (!is_listed(d, &other->losses[i])) report_loss(p, &other->losses[i], false);
    for (uint32_t i = 0; i < d->loss_count && whole; i++)
        if (!is_listed(other, &d->losses[i])) report_loss(p, &d->losses[i], true);
}

void tn_compare_contracts(struct tn_builder *b, const struct tn_builder *other)
{
    static const char *const sections[] = {"model", "package", "generation"};
    struct tn_contract_pair p = {.b = b, .other = other};
    struct tn_json declared = tn_json_root(&b->d->contract), imported = tn_json_root(&other->d->contract);
    bool whole = tn_json_present(imported);
    if (b->failed != TN_OK || !tn_json_present(declared)) return;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        struct tn_json section = tn_json_get(declared, sections[i]);
        if (whole) compare(&p, section, tn_json_get(imported, sections[i]), 0);
        else compare_facts(&p, section);
    }
    if (whole) compare_roles(&p);
    if (whole) tn_compare_flows(&p);
    compare_losses(&p, whole);
}
