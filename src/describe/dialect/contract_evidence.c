/*
 * What a declared contract says, as evidence: its values as facts, the roles of its graphs' ports with the rule that settled
 * each, its semantic identity, and what a cached result of its workflow depends on. Nothing here is a condition of running;
 * for a person it is what the package says of itself, for a program what a cache or a plan may be keyed by.
 *
 * The contract is untrusted; its shape was checked, and a contract with a fault of its own has no identity.
 */
#include "describe/dialect/contract.h"
#include "describe/roles.h"
#include "describe/standard/cache_deps.h"
#include "describe/standard/identity.h"

#include <stdio.h>
#include <string.h>

#define RULE "inference_metadata.contract/1"

/*
 * Facts are for reading: of a contract with more values the rest is told as a number, and graphs beyond the first are not
 * asked. The largest published workflow has about thirty components.
 */
enum { MOST_FACTS = 500, DEPTH = 12, NAME_BYTES = 256, MOST_ROLES = 2 * TN_ROLE_NONE, MOST_GRAPHS = 64, MOST_COMPONENTS = 1000 };

/* Comparisons of names; a quarter of a second or so. */
#define MOST_WORK ((uint64_t)1 << 26)

/* ---- values ------------------------------------------------------------------------------------------------------ */

struct walk {
    struct tn_builder *b;
    size_t told, more;
};

/* Steps and ports stand in the document: here they would be its copy. */
static bool is_bulk(struct tn_str key)
{
    static const char *const names[] = {"steps", "ports", "transforms", "contract"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (tn_str_is(key, names[i])) return true;
    return false;
}

static void tell(struct walk *w, struct tn_json v, const char *name)
{
    if (w->told++ < MOST_FACTS) tn_fact_of_json(w->b, v, RULE, true, "%s", name);
    else w->more++;
}

/* "contract.model.attention.type" for each value; a list is one. */
static void walk(struct walk *w, struct tn_json object, const char *prefix, unsigned depth)
{
    for (struct tn_json v = tn_json_first(object); tn_json_present(v) && w->b->failed == TN_OK; v = tn_json_next(v)) {
        char name[NAME_BYTES], clean[96];
        struct tn_str key = tn_json_key(v);
        if (is_bulk(key) || tn_json_type(v) == TN_JSON_NULL) continue;
        tn_clean_text(clean, sizeof(clean), key.s, key.n);
        snprintf(name, sizeof(name), "%.150s.%s", prefix, clean);
        if (tn_json_is(v, TN_JSON_OBJECT) && depth < DEPTH) walk(w, v, name, depth + 1);
        else tell(w, v, name);
    }
}

static void tell_values(struct tn_builder *b, struct tn_json root)
{
    struct walk w = {.b = b};
    char text[32];
    walk(&w, root, "contract", 0);
    if (w.more == 0) return;
    int n = snprintf(text, sizeof(text), "%zu", w.more);
    tn_fact_of_text(b, TN_FROM_FILE, root.doc->file, TN_STR(""), (struct tn_str){text, (size_t)n}, RULE, true, "contract.more");
}

/* ---- roles ------------------------------------------------------------------------------------------------------- */

/* Roles that are settled become facts, and a declaration against the port's name is told; nobody asks for the others. */
static void settle(struct tn_builder *b, const struct tn_role_question *q)
{
    struct tn_findings all;
    tn_findings_init(&all, b->alloc, b->d->findings.max);
    for (unsigned i = 0; i < MOST_ROLES && b->failed == TN_OK; i++) {
        enum tn_role role = (enum tn_role)(i / 2);
        if (!tn_role_has_side(role, i & 1)) continue;
        struct tn_role_binding binding = tn_role_settle(q, role, i & 1, false, &all);
        tn_role_fact(b, q, &binding);
    }
    for (size_t i = 0; i < all.count; i++) {
        struct tn_findings one = {.items = &all.items[i], .count = 1};
        if (all.items[i].severity == TN_NOTE) tn_findings_append(&b->d->findings, &one);
    }
    tn_findings_release(&all);
}

static void ask_graph(struct tn_builder *b, const struct tn_std_component *c, const struct tn_onnx_view *view)
{
    const struct tn_standard *doc = &b->d->standard;
    uint32_t count = view->input_count + view->output_count;
    struct tn_role_port *ports = tn_calloc(b->alloc, count ? count : 1, sizeof(*ports));
    if (!ports) {
        tn_builder_no_memory(b);
        return;
    }
    struct tn_role_question q = {.component = c->name,
                                 .graph = view->file,
                                 .place = c->at,
                                 .ports = ports,
                                 .port_count = tn_role_ports(view, doc, c, ports),
                                 .vocab_size = doc->model.vocab_size.present ? doc->model.vocab_size.value : 0,
                                 .names = true};
    settle(b, &q);
    tn_free(b->alloc, ports);
}

/*
 * A file that does not read, or is not there, has its finding. One of several graphs that declares nothing is asked nothing:
 * the only input of a sampler looks like a sequence of tokens, too.
 */
static void tell_roles(struct tn_builder *b)
{
    const struct tn_std_workflow *w = &b->d->standard.workflow;
    size_t asked = 0;
    for (size_t i = 0; i < w->component_count && b->failed == TN_OK && asked < MOST_GRAPHS; i++) {
        const struct tn_std_component *c = &w->components[i];
        struct tn_onnx_view *view = NULL;
        struct tn_str path;
        if (c->implementation != TN_STD_ONNX || c->artifact.name.n == 0) continue;
        if (w->component_count > 1 && c->roles.count == 0) continue;
        tn_error_clear(b->scratch);
        enum tn_status status = tn_package_reference(&b->d->arena, TN_STR(""), c->artifact.name, &path, b->scratch);
        const struct tn_package_file *file = status ? NULL : tn_inventory_file(b->inv, path);
        if (file && !file->malformed) status = tn_inventory_onnx(b->inv, file, &view, b->scratch);
        if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
        if (view) ask_graph(b, c, view), asked++;
        tn_onnx_view_free(view);
    }
}

/* ---- identity, dependencies -------------------------------------------------------------------------------------- */

static bool is_faulty(const struct tn_builder *b, struct tn_json root)
{
    for (size_t i = 0; i < b->d->findings.count; i++) {
        const struct tn_finding *f = &b->d->findings.items[i];
        if (f->severity == TN_BLOCKER && f->code == TN_METADATA_INVALID && tn_str_is(root.doc->file, f->file)) return true;
    }
    return false;
}

static void take_identity(struct tn_builder *b, struct tn_json root)
{
    char text[TN_STANDARD_IDENTITY_TEXT];
    struct tn_digest digest;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_standard_identity(root, b->alloc, &digest, b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    if (!status) b->d->contract_identity = tn_builder_str(b, tn_str_of(tn_standard_identity_text(&digest, text)));
}

struct size {
    uint64_t values, writes;
};

static void measure(const struct tn_std_steps *steps, struct size *n)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        n->values += s->inputs.count + s->outputs.count + s->merged_count + 1;
        n->writes += 2 * s->carried_count;
        measure(&s->setup, n);
        measure(&s->body, n);
        measure(&s->cases, n);
        if (s->otherwise) measure(&(struct tn_std_steps){.items = s->otherwise, .count = 1}, n);
    }
}

/* An upper bound of what the derivation compares. Counts are of parts of a document, so that no product overflows. */
static uint64_t work_of(const struct tn_standard *doc)
{
    const struct tn_std_workflow *w = &doc->workflow;
    struct size n = {0};
    uint64_t ports = 0, effects = 0, bindings = 0, components = w->component_count;
    measure(&w->steps, &n);
    for (size_t i = 0; i < w->serving.group_count; i++) ports += w->serving.groups[i].port_count;
    for (size_t i = 0; i < w->component_count; i++) effects += w->components[i].effects.count;
    for (size_t i = 0; i < doc->adapters.artifact_count; i++) bindings += doc->adapters.artifacts[i].binding_count;
    uint64_t flow = n.values * (ports + components) + w->cell_count * n.writes;
    uint64_t domains = effects * effects + (effects ? components * n.values : 0);
    return flow + domains + bindings * doc->adapters.target_count + components * doc->language_count;
}

/* What nobody would read is not derived, and that is told. */
static bool is_readable(struct tn_builder *b, struct tn_json root)
{
    const struct tn_standard *doc = &b->d->standard;
    if (doc->workflow.component_count <= MOST_COMPONENTS && work_of(doc) <= MOST_WORK) return true;
    tn_at_json(tn_note(b, TN_RESOURCE_LIMIT, "the workflow is too large to say what a cached result of it depends on"), root);
    return false;
}

static void take_dependencies(struct tn_builder *b)
{
    struct tn_std_dependencies deps;
    struct tn_description *d = b->d;
    tn_error_clear(b->scratch);
    if (tn_standard_dependencies(&d->standard, &deps, b->scratch) != TN_OK) {
        tn_builder_no_memory(b);
        return;
    }
    d->dependencies = tn_builder_array(b, deps.count, sizeof(*d->dependencies));
    for (size_t i = 0; i < deps.count && d->dependencies; i++) {
        d->dependencies[i] = deps.items[i];
        d->dependencies[i].name = tn_builder_str(b, deps.items[i].name);
        d->dependency_count++;
    }
    tn_std_dependencies_release(&deps);
}

void tn_contract_evidence(struct tn_builder *b, struct tn_json root)
{
    if (b->failed != TN_OK) return;
    tell_values(b, root);
    if (b->failed == TN_OK && tn_json_present(b->d->standard.at)) tell_roles(b);
    if (b->failed != TN_OK || is_faulty(b, root)) return;
    take_identity(b, root);
    if (b->failed == TN_OK && tn_json_present(b->d->standard.workflow.at) && is_readable(b, root)) take_dependencies(b);
}
