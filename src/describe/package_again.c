/*
 * What a tenon_package.json that was read hands on to the one that is written of it: what was left open, and where the
 * values came from. A described package that is described again gives the same document.
 *
 * What follows from the documents themselves is not left open: reading them back finds it again. So of a package that
 * has them, the list is theirs, with what stands in neither. Origins are theirs as long as they belong to this very
 * content, whose digest stands beside them; of a content that somebody edited, an origin holds for a value that it states.
 */
#include "describe/package_document.h"
#include "describe/standard/write.h"

#include <stdio.h>
#include <string.h>

#define LEFT_OPEN "/undetermined/"

static struct tn_json stated(const struct tn_description *d, const char *member)
{
    return tn_json_get(tn_json_root(&d->content), member);
}

enum tn_status tn_package_content(const struct tn_description *d, size_t most, struct tn_json_doc *out, struct tn_error *err)
{
    struct tn_buf text;
    struct tn_json_writer w;
    size_t n;
    tn_buf_init(&text, d->arena.alloc, most);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    tn_description_write_content(&w, d);
    tn_jw_end_object(&w);
    enum tn_status status = tn_buf_status(&text);
    char *taken = status ? NULL : tn_buf_take(&text, &n);
    if (!status && !taken) status = TN_INSUFFICIENT_MEMORY;
    if (!status)
        status = tn_json_parse_take(out, d->arena.alloc, &d->inv->ctx->limits, TN_STR(TN_PACKAGE_FILE),
                                    (struct tn_str){taken, n}, err);
    tn_buf_release(&text);
    return status;
}

/* ---- what is left open ------------------------------------------------------------------------------------------- */

/* Places are inside the package, wherever it stands; of the package as a whole: none. */
static const char *inside(const struct tn_description *d, const struct tn_finding *f)
{
    return tn_str_is(d->inv->shown, f->file) || tn_str_is(d->inv->root, f->file) ? "" : f->file;
}

/* The place in that document, where the finding has one. */
static const char *pointer_of(const struct tn_finding *f)
{
    return f->element_kind == TN_ELEMENT_POINTER && f->element[0] == '/' ? f->element : NULL;
}

static void write_entry(struct tn_json_writer *w, const struct tn_description *d, const struct tn_finding *f)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "code", tn_status_name(f->code));
    tn_jw_member_cstr(w, "reason", f->message);
    tn_jw_member_cstr(w, "file", inside(d, f));
    if (pointer_of(f)) tn_jw_member_cstr(w, "pointer", pointer_of(f));
    tn_jw_member_cstr(w, "found", f->found);
    tn_jw_member_cstr(w, "expected", f->expected);
    tn_jw_member_cstr(w, "remedy", f->remedy);
    tn_jw_end_object(w);
}

static bool states(struct tn_json entry, const char *member, const char *text)
{
    struct tn_str s = TN_STR("");
    (void)tn_json_str(tn_json_get(entry, member), &s);
    return tn_str_is(s, text);
}

static bool is_same(struct tn_json a, struct tn_json b)
{
    enum tn_json_type type = tn_json_type(a);
    if (!tn_json_present(a) || !tn_json_present(b)) return tn_json_present(a) == tn_json_present(b);
    if (type != tn_json_type(b) || tn_json_count(a) != tn_json_count(b)) return false;
    if (type != TN_JSON_OBJECT && type != TN_JSON_ARRAY) return tn_str_eq(tn_json_text(a), tn_json_text(b));
    for (struct tn_json v = tn_json_first(a), o = tn_json_first(b); tn_json_present(v); v = tn_json_next(v), o = tn_json_next(o))
        if (!tn_str_eq(tn_json_key(v), tn_json_key(o)) || !is_same(v, o)) return false;
    return true;
}

/* Documents of before have no pointers. */
static bool states_pointer(struct tn_json entry, const struct tn_finding *f)
{
    const char *pointer = pointer_of(f);
    return !tn_json_present(tn_json_get(entry, "pointer")) || states(entry, "pointer", pointer ? pointer : "");
}

/*
 * What this build does not do with a package that is known: no open point of the package, and another build may do it.
 * Where nothing else of a package is known, that nobody reads its weights is why.
 */
bool tn_finding_is_of_build(const struct tn_description *d, const struct tn_finding *f)
{
    bool known = d->component_count > 0 || d->graph || tn_json_present(tn_json_root(&d->contract));
    return f->code == TN_MISSING_CAPABILITY || (f->code == TN_PROVIDER_UNAVAILABLE && known);
}

/* Found when the documents are read back (`next`: what is written of the content), or an entry of theirs already. */
static bool is_stated(const struct tn_description *d, struct tn_json next, const struct tn_finding *f)
{
    struct tn_json root = tn_json_root(&d->content), contract = tn_json_root(&d->contract);
    struct tn_json list = tn_json_get(root, "undetermined");
    if (tn_json_present(contract) && tn_str_is(contract.doc->file, f->file)) return true;
    if (!tn_json_present(root)) return false;
    if (tn_str_is(root.doc->file, f->file)) {
        if (strncmp(f->element, LEFT_OPEN, sizeof(LEFT_OPEN) - 1) == 0) return true;
        return is_same(tn_json_find(root, f->element), tn_json_find(next, f->element));
    }
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        if (states(v, "code", tn_status_name(f->code)) && states(v, "reason", f->message) && states(v, "file", inside(d, f)) &&
            states(v, "found", f->found) && states_pointer(v, f))
            return true;
    }
    return false;
}

/* A graph that the contract's form cannot state: without a contract nobody finds the graph. */
static void write_unstated(struct tn_json_writer *w, const struct tn_description *d)
{
    if (!d->graph || tn_json_present(tn_json_root(&d->contract)) || tn_standard_graph_states(d->graph->view)) return;
    struct tn_finding f = {.code = TN_UNSUPPORTED_CONFIG, .severity = TN_BLOCKER};
    snprintf(f.message, sizeof(f.message), "the graph has a port that a contract cannot state");
    tn_at_file(&f, d->graph->view->file);
    const struct tn_onnx_port *port = tn_standard_unstated_port(d->graph->view);
    if (port) tn_found(&f, "\"%.*s\": no tensor, or one without a type or a rank", TN_FMT_ARG(port->name));
    else tn_found(&f, "no outputs");
    tn_expected(&f, "tensors whose type and rank the graph states");
    tn_remedy(&f, "run the graph without documents, or export it with the shapes of its ports");
    write_entry(w, d, &f);
}

void tn_package_write_undetermined(struct tn_json_writer *w, const struct tn_description *d)
{
    struct tn_findings all;
    struct tn_json_doc next = {0};
    struct tn_json list = stated(d, "undetermined");
    enum tn_status status = tn_json_present(list) ? tn_package_content(d, w->out->max, &next, NULL) : TN_OK;
    if (status && !w->out->failed) w->out->failed = status;
    tn_findings_init(&all, d->arena.alloc, d->findings.max);
    tn_description_findings(d, &all);
    if (all.starved) w->out->failed = TN_INSUFFICIENT_MEMORY;
    tn_jw_key(w, "undetermined");
    tn_jw_begin_array(w);
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) tn_jw_json(w, v);
    for (size_t i = 0; i < all.count; i++) {
        const struct tn_finding *f = &all.items[i];
        if (f->severity != TN_BLOCKER || tn_finding_is_of_build(d, f)) continue;
        if (!is_stated(d, tn_json_root(&next), f)) write_entry(w, d, f);
    }
    write_unstated(w, d);
    tn_jw_end_array(w);
    tn_findings_release(&all);
    tn_json_release(&next);
}

/* ---- where the values came from ---------------------------------------------------------------------------------- */

/* Of what the description says, and of nothing about it. */
static void digest_content(struct tn_json_writer *w, const struct tn_description *d, char *hex)
{
    struct tn_buf text;
    struct tn_json_writer own;
    tn_buf_init(&text, d->arena.alloc, w->out->max);
    tn_jw_init(&own, &text, false);
    tn_jw_begin_object(&own);
    tn_description_write_content(&own, d);
    tn_jw_end_object(&own);
    if (tn_buf_status(&text) && !w->out->failed) w->out->failed = tn_buf_status(&text);
    struct tn_str bytes = tn_buf_str(&text);
    struct tn_digest digest = tn_sha256_of(bytes.s ? bytes.s : "", bytes.n);
    tn_digest_hex(&digest, hex);
    tn_buf_release(&text);
}

static const struct tn_fact *fact_named(const struct tn_description *d, struct tn_str name)
{
    for (uint32_t i = 0; i < d->fact_count; i++)
        if (tn_str_eq(d->facts[i].name, name)) return &d->facts[i];
    return NULL;
}

static bool lists_fact(struct tn_json list, struct tn_str name)
{
    struct tn_str s;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v))
        if (tn_json_str(tn_json_get(v, "name"), &s) && tn_str_eq(s, name)) return true;
    return false;
}

/* As it stands: the text of a value is that of the place that it came from. */
static void hand_on(struct tn_json_writer *w, struct tn_json fact)
{
    tn_jw_begin_object(w);
    for (struct tn_json v = tn_json_first(fact); tn_json_present(v); v = tn_json_next(v)) {
        tn_jw_key_str(w, tn_json_key(v));
        if (tn_str_is(tn_json_key(v), "value")) tn_jw_raw(w, tn_json_text(v));
        else tn_jw_json(w, v);
    }
    tn_jw_end_object(w);
}

/* Facts of an edited document: theirs where the value is the one that they were about, else the document's. */
static void write_edited(struct tn_json_writer *w, const struct tn_description *d, struct tn_json list)
{
    struct tn_str name;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_json_str(tn_json_get(v, "name"), &name)) continue;
        const struct tn_fact *own = fact_named(d, name);
        if (own && !tn_str_eq(own->value, tn_json_text(tn_json_get(v, "value")))) tn_fact_write(w, own);
        else hand_on(w, v);
    }
    for (uint32_t i = 0; i < d->fact_count; i++)
        if (!lists_fact(list, d->facts[i].name)) tn_fact_write(w, &d->facts[i]);
}

static void write_facts(struct tn_json_writer *w, const struct tn_description *d, struct tn_json list, bool same)
{
    tn_jw_key(w, "facts");
    tn_jw_begin_array(w);
    if (!same) write_edited(w, d, list);
    else for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) hand_on(w, v);
    tn_jw_end_array(w);
}

void tn_package_write_provenance(struct tn_json_writer *w, const struct tn_description *d)
{
    char hex[TN_SHA256_HEX];
    struct tn_json known = stated(d, "provenance"), facts = tn_json_get(known, "facts");
    struct tn_str dialect = d->dialect, version = d->dialect_version, of;
    bool handed_on = tn_json_is(facts, TN_JSON_ARRAY);
    if (handed_on) {
        (void)tn_json_str(tn_json_get(known, "dialect"), &dialect);
        (void)tn_json_str(tn_json_get(known, "dialect_version"), &version);
    }
    digest_content(w, d, hex);
    tn_jw_key(w, "provenance");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "dialect", dialect);
    tn_jw_member_str(w, "dialect_version", version);
    tn_jw_member_cstr(w, "content_sha256", hex);
    if (handed_on) write_facts(w, d, facts, tn_json_str(tn_json_get(known, "content_sha256"), &of) && tn_str_is(of, hex));
    else tn_description_write_facts(w, d);
    tn_jw_end_object(w);
}
