/*
 * Whether the library takes a graph. The file is read and judged by our own reader first, as for our own kernels: names,
 * attributes, external data, ports. What only our kernels lack is no blocker here. What the library of a version takes is a
 * table, from what each release was seen to load; the rest it says itself when it loads.
 *
 * Pure: the library may be opened, to know its version; nothing is compiled and no device is asked.
 */
#include "provider/onnxruntime/ort.h"

#include "base/checked.h"
#include "base/json_write.h"
#include "net/check.h"
#include "provider/native/identity.h"

#include <stdio.h>
#include <string.h>

/* ---- by version --------------------------------------------------------------------------------------------------- */

/*
 * Newest opset of each domain and newest format that a release loads; element types of ports beyond those of all. Seen with
 * 1.20, 1.22, 1.24, 1.26, 1.28, 1.30 and 1.32; a release between two has at least what the one before it has.
 */
struct envelope {
    unsigned since;
    int64_t onnx, ml, ir;
    tn_elements more;
};

#define ALWAYS                                                                                                          \
    (TN_ELS_NUMBER | TN_ELS(STRING) | TN_ELS(BOOL) | TN_ELS(F8E4M3FN) | TN_ELS(F8E4M3FNUZ) | TN_ELS(F8E5M2) |            \
     TN_ELS(F8E5M2FNUZ) | TN_ELS(U4) | TN_ELS(I4))

static const struct envelope envelopes[] = {
    {20, 21, 5, 10, 0},
    {22, 22, 5, 10, 0},
    {24, 25, 5, 13, TN_ELS(F4E2M1) | TN_ELS(U2) | TN_ELS(I2)},
    {26, 26, 5, 13, TN_ELS(F4E2M1) | TN_ELS(U2) | TN_ELS(I2)},
    {28, 26, 5, 13, TN_ELS(F4E2M1) | TN_ELS(U2) | TN_ELS(I2) | TN_ELS(F8E8M0)},
    {32, 28, 5, 14, TN_ELS(F4E2M1) | TN_ELS(U2) | TN_ELS(I2) | TN_ELS(F8E8M0)},
};

static const struct envelope *envelope_of(unsigned minor)
{
    size_t i = sizeof(envelopes) / sizeof(envelopes[0]) - 1;
    while (i > 0 && envelopes[i].since > minor) i--;
    return &envelopes[i];
}

static struct tn_finding *refuse(struct tn_assessment *a, enum tn_status code, const char *message)
{
    return tn_findings_add(&a->findings, TN_BLOCKER, code, TN_PHASE_ASSESS, "%s", message);
}

static void judge_versions(struct tn_assessment *a, const struct tn_ort *ort, const struct tn_onnx_view *view)
{
    const struct envelope *e = envelope_of(ort->minor);
    if (view->ir_version > e->ir) {
        struct tn_finding *f = refuse(a, TN_VERSION_UNQUALIFIED, "the graph's format is newer than this version of ONNX Runtime takes");
        tn_at_file(f, view->file);
        tn_found(f, "IR version %lld", (long long)view->ir_version);
        tn_expected(f, "at most %lld for version %s", (long long)e->ir, ort->version);
    }
    for (uint32_t i = 0; i < view->opset_count; i++) {
        const struct tn_onnx_opset *o = &view->opsets[i];
        int64_t newest = tn_str_is(o->domain, "ai.onnx") ? e->onnx : tn_str_is(o->domain, "ai.onnx.ml") ? e->ml : INT64_MAX;
        if (o->version <= newest) continue;
        struct tn_finding *f = refuse(a, TN_VERSION_UNQUALIFIED, "an operator set is newer than this version of ONNX Runtime takes");
        tn_at_file(f, view->file);
        tn_found(f, "%.*s version %lld", TN_FMT_ARG(o->domain), (long long)o->version);
        tn_expected(f, "at most %lld for version %s", (long long)newest, ort->version);
    }
}

static void judge_port(struct tn_assessment *a, const struct tn_ort *ort, const struct tn_onnx_view *view, const struct tn_onnx_port *port)
{
    tn_elements taken = ALWAYS | envelope_of(ort->minor)->more;
    bool kind = port->kind != TN_ONNX_PORT_SPARSE && port->kind != TN_ONNX_PORT_OPAQUE;
    if (kind && (port->element == 0 || (port->element < TN_EL_COUNT && tn_elements_have(taken, (enum tn_element)port->element)))) return;
    char text[256];
    struct tn_finding *f = refuse(a, TN_UNSUPPORTED_OPERATOR, "a port carries what this version of ONNX Runtime takes from no caller");
    tn_at_tensor(f, view->file, port->name);
    tn_found(f, "%s", tn_onnx_port_text(port, text, sizeof(text)));
}

/* ---- nodes -------------------------------------------------------------------------------------------------------- */

typedef void each_node_fn(void *user, const struct tn_node *n);

static void each_node(const struct tn_net *net, each_node_fn *fn, void *user)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        fn(user, n);
        for (uint32_t k = 0; k < n->attr_count; k++) {
            const struct tn_attr *at = &n->attrs[k];
            bool graphs = at->type == TN_ATTR_GRAPH || at->type == TN_ATTR_GRAPHS;
            for (size_t g = 0; graphs && g < at->count; g++) each_node(at->as.graphs[g], fn, user);
        }
    }
}

/* Functions of the file itself have been put in their places, so that what is left is the library's or somebody's code. */
static void judge_domain(void *user, const struct tn_node *n)
{
    struct tn_assessment *a = user;
    static const char *const own[] = {"ai.onnx", "ai.onnx.ml", "com.microsoft"};
    bool standard = n->domain.n > 8 && memcmp(n->domain.s, "ai.onnx.", 8) == 0;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (tn_str_is(n->domain, own[i])) return;
    for (size_t i = 0; i < a->findings.count; i++) { /* once for each operator */
        struct tn_str said = tn_str_of(a->findings.items[i].found);
        if (said.n > n->type.n && memcmp(said.s, n->type.s, n->type.n) == 0 && said.s[n->type.n] == ' ') return;
    }
    struct tn_finding *f = refuse(a, standard ? TN_UNSUPPORTED_OPERATOR : TN_CUSTOM_CODE_DENIED,
                                  standard ? "ONNX Runtime has no operators of this domain"
                                           : "an operator needs a library of custom operators, and none is permitted");
    tn_at_element(f, TN_ELEMENT_OPERATOR, n->name);
    tn_found(f, "%.*s of the domain %.*s", TN_FMT_ARG(n->type), TN_FMT_ARG(n->domain));
    tn_expected(f, "operators of ai.onnx, ai.onnx.ml and com.microsoft");
}

/* ---- figures ------------------------------------------------------------------------------------------------------ */

struct stored {
    uint64_t bytes[TN_EL_COUNT], all;
};

static void add_stored(struct stored *s, const struct tn_onnx_view *view)
{
    for (uint32_t i = 0; i < view->initializer_count; i++) {
        const struct tn_onnx_tensor *t = &view->initializers[i];
        uint64_t bytes;
        if (t->element >= TN_EL_COUNT || !tn_onnx_tensor_bytes(t->element, t->dims, t->rank, &bytes)) continue;
        if (!tn_add64(s->all, bytes, &s->all)) s->all = UINT64_MAX / 4;
        s->bytes[t->element] += bytes;
    }
}

/* One type says it all when the others are a thousandth, as for our own kernels. */
static struct tn_str stored_of(const struct stored *s)
{
    unsigned most = TN_EL_NONE;
    if (s->all == 0) return TN_STR("none");
    for (unsigned e = 0; e < TN_EL_COUNT; e++)
        if (s->bytes[e] > s->bytes[most]) most = e;
    if (s->bytes[most] < s->all - s->all / 1000) return TN_STR("mixed");
    return most == TN_EL_F32 ? TN_STR("f32") : tn_str_of(tn_onnx_element_name(most));
}

static uint64_t files_bytes(const struct tn_component_request *r)
{
    const struct tn_variant *v = r->d->variant;
    uint64_t all = 0;
    for (uint32_t i = 0; v && i < v->file_count; i++) all += r->d->inv->files[v->files[i]].size;
    return all ? all : r->graph->file->size;
}

/* ---- the plan's part ------------------------------------------------------------------------------------------------ */

static void write_ports(struct tn_json_writer *w, const char *key, const struct tn_onnx_port *ports, uint32_t count)
{
    char text[256];
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", ports[i].name);
        tn_jw_member_cstr(w, "type", tn_onnx_port_text(&ports[i], text, sizeof(text)));
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_options(struct tn_json_writer *w, const struct tn_ort_program *p)
{
    tn_jw_key(w, "session_options");
    tn_jw_begin_object(w);
    tn_jw_key(w, "execution_providers");
    tn_jw_begin_array(w);
    if (p->device) tn_jw_cstr(w, p->device);
    if (!p->device || !p->strict) tn_jw_cstr(w, "CPUExecutionProvider");
    tn_jw_end_array(w);
    tn_jw_member_bool(w, "cpu_fallback", p->device && !p->strict);
    tn_jw_member_u64(w, "intra_op_threads", p->threads);
    tn_jw_member_u64(w, "inter_op_threads", 1);
    tn_jw_member_cstr(w, "execution_mode", "sequential");
    tn_jw_member_cstr(w, "optimization", p->plain ? "none" : "all");
    tn_jw_member_bool(w, "memory_pattern", true);
    tn_jw_member_bool(w, "arena", false);
    tn_jw_end_object(w);
}

static void write_memory(struct tn_json_writer *w)
{
    tn_jw_key(w, "memory_counted");
    tn_jw_cstr(w, "values, weights and packed weights on the CPU, and the file while it is read");
    tn_jw_key(w, "memory_uncounted");
    tn_jw_cstr(w, "the library itself, its graph with small constants, its threads, and whatever devices hold");
}

static enum tn_status write_members(struct tn_ort_program *p, struct tn_assessment *a, const struct tn_component_request *r, struct tn_error *err)
{
    struct tn_buf text;
    struct tn_json_writer w;
    char hex[TN_SHA256_HEX];
    const struct tn_onnx_view *view = r->graph->view;
    tn_buf_init(&text, r->ctx->alloc, (size_t)r->ctx->limits.json_bytes);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    tn_jw_member_str(&w, "file", view->file);
    tn_jw_member_u64(&w, "nodes", view->node_count + view->nested_nodes);
    tn_jw_member_cstr(&w, "structure", tn_digest_hex(&p->structure, hex));
    write_ports(&w, "inputs", view->inputs, view->input_count);
    write_ports(&w, "outputs", view->outputs, view->output_count);
    tn_jw_member_cstr(&w, "library", p->ort->version);
    tn_jw_member_cstr(&w, "library_build", p->ort->build);
    write_options(&w, p);
    write_memory(&w);
    tn_jw_member_cstr(&w, "calls", "one at a time, in the order of arrival");
    tn_jw_end_object(&w);
    if (!tn_buf_status(&text)) p->members = tn_arena_str(&a->arena, tn_buf_str(&text));
    tn_buf_release(&text);
    return p->members.s ? TN_OK : tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
}

/* ---- whole -------------------------------------------------------------------------------------------------------- */

static void adopt(struct tn_assessment *a, const struct tn_error *err, enum tn_status status)
{
    struct tn_finding *f = refuse(a, status, err->primary.message);
    if (f) *f = err->primary;
}

static void refuse_missing(struct tn_assessment *a, const struct tn_finding *why)
{
    struct tn_finding *f = refuse(a, why->code, why->message);
    if (f) *f = *why;
    a->decision = why->code == TN_VERSION_UNQUALIFIED ? TN_UNQUALIFIED : TN_UNKNOWN; /* nothing was looked at */
}

static bool reads_texts(const struct tn_onnx_view *view)
{
    bool texts = false;
    for (uint32_t i = 0; i < view->input_count; i++) texts |= view->inputs[i].element == TN_EL_STRING || view->inputs[i].key == TN_EL_STRING;
    return texts;
}

/* Reads the graph as it would be read for our own kernels and gives it back. */
static enum tn_status read_graph(struct tn_ort_program *p, struct tn_assessment *a, const struct tn_component_request *r, struct tn_error *err)
{
    struct tn_os_file file;
    struct tn_model *model = NULL;
    enum tn_status st = tn_inventory_open_file(r->d->inv, r->graph->file, &file, err);
    if (st) return st;
    struct tn_source source = tn_source_of_file(&file, r->graph->file->path);
    st = tn_model_import_lent(r->ctx, r->d->inv, &source, r->graph->view, &a->findings, &model, err);
    if (!st && model) {
        tn_net_check(model, &a->findings);
        each_node(model->main, judge_domain, a);
        p->structure = tn_native_net_structure(model);
    }
    tn_model_free(model);
    tn_os_close(&file);
    return st;
}

static enum tn_status summarise(struct tn_ort_program *p, struct tn_assessment *a, const struct tn_component_request *r, struct tn_error *err)
{
    struct stored s = {{0}, 0};
    const struct tn_onnx_view *view = r->graph->view;
    add_stored(&s, view);
    a->numeric = (struct tn_numeric){.stored = stored_of(&s), .compute = TN_COMPUTE_F32, .accumulate = "f32", .kv = "none"};
    /* Packed weights take the place of those of the file, which it reads from our copy; how large they are is its own affair. */
    a->estimate = (struct tn_estimate){.weights_bytes = s.all, .transient_bytes = files_bytes(r), .uncertainty = 1.0};
    p->texts = reads_texts(view);
    return write_members(p, a, r, err);
}

static void judge_options(struct tn_ort_program *p, struct tn_assessment *a, const struct tn_component_request *r)
{
    struct tn_finding *f;
    if (r->numeric && strcmp(r->numeric, "bf16") == 0) {
        f = refuse(a, TN_UNSUPPORTED_OPTION, "numeric policy \"bf16\" cannot be had for a graph, which states the type of every value");
        tn_at_option(f, "--numeric");
        tn_expected(f, "f32: each operator computes in the types that the graph gives it");
    }
    p->plain = r->without && strcmp(r->without, "all") == 0;
    if (!r->without || p->plain) return;
    f = refuse(a, TN_UNSUPPORTED_OPTION, "ONNX Runtime's optimisations can be left out all together or not at all");
    tn_at_option(f, "without");
    tn_found(f, "%s", r->without);
    tn_expected(f, "all");
}

static enum tn_status assess_graph(struct tn_ort_program *p, struct tn_assessment *a, const struct tn_component_request *r, struct tn_error *err)
{
    const struct tn_onnx_view *view = r->graph->view;
    if (r->device.type != TN_DEVICE_CPU) p->device = tn_ort_device_of(p->ort, &r->device);
    p->strict = !r->split;
    judge_options(p, a, r);
    if (r->d->findings.blockers || !view) return TN_OK; /* what the description refuses would be found a second time */
    judge_versions(a, p->ort, view);
    for (uint32_t i = 0; i < view->input_count; i++) judge_port(a, p->ort, view, &view->inputs[i]);
    for (uint32_t i = 0; i < view->output_count; i++) judge_port(a, p->ort, view, &view->outputs[i]);
    enum tn_status st = read_graph(p, a, r, err);
    if (!st && !a->findings.blockers) st = summarise(p, a, r, err);
    if (!st && !a->findings.blockers) a->decision = TN_ELIGIBLE;
    if (!st && r->component && a->decision == TN_ELIGIBLE) st = tn_texts_assess(r, a, &p->through, err);
    return st;
}

/* The same component may lie beside the weights as a graph: which of them, the caller says. */
static void refuse_family(struct tn_assessment *a, const struct tn_component_request *r)
{
    const struct tn_inventory *inv = r->d->inv;
    struct tn_finding *f = refuse(a, TN_UNKNOWN_FAMILY, "ONNX Runtime runs graphs, and the chosen weights are none");
    if (r->d->variant) tn_found(f, "%.*s: %.*s", TN_FMT_ARG(r->d->variant->id), TN_FMT_ARG(r->d->variant->container));
    tn_expected(f, "a package or variant that is an ONNX graph");
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        if (!inv->variants[i].graph || !inv->variants[i].executable) continue;
        tn_remedy(f, "the package holds graphs as well: choose one, e.g. --variant %.*s", TN_FMT_ARG(inv->variants[i].id));
        return;
    }
    tn_remedy(f, "use the provider native, or export the component as a graph");
}

enum tn_status tn_ort_assess(const struct tn_provider *provider, const struct tn_component_request *r, struct tn_assessment *a,
                             struct tn_error *err)
{
    const struct tn_finding *why = NULL;
    struct tn_cpu cpu;
    *a = (struct tn_assessment){.decision = TN_UNSUPPORTED, .provider = provider};
    tn_arena_init(&a->arena, r->ctx->alloc);
    tn_findings_init(&a->findings, r->ctx->alloc, (size_t)r->ctx->limits.findings);
    struct tn_ort_program *p = tn_arena_alloc(&a->arena, sizeof(*p));
    struct tn_error *own = tn_calloc(r->ctx->alloc, 1, sizeof(*own));
    enum tn_status st = p && own ? TN_OK : tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
    if (st) goto out;
    tn_cpu_detect(&cpu);
    *p = (struct tn_ort_program){.ort = (struct tn_ort *)(uintptr_t)(const void *)provider, .threads = r->threads ? r->threads : 1};
    p->isa_class = tn_kernels_select(&cpu, NULL)->isa_class;
    a->state = p;
    if (!tn_ort_library(p->ort, &why)) refuse_missing(a, why);
    else if (!r->graph) refuse_family(a, r);
    else st = assess_graph(p, a, r, own);
    if (st == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
    } else if (st) {
        adopt(a, own, st);
        st = TN_OK;
    }
out:
    tn_free(r->ctx->alloc, own);
    return st;
}
