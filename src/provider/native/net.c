/*
 * Assessment of a package that is a graph: reads it from headers alone, judges it by the standard's schemas and by the
 * operators' rows, all gaps in one report, and adds up what its values will take. An eligible graph stays with the plan,
 * typed and rewritten: nothing writes to it any more, and all loads share it. No file stays open; a load opens it again
 * for the weights, after it has been found unchanged.
 */
#include "provider/native/native.h"

#include "base/checked.h"
#include "base/json_write.h"
#include "exec/patch.h"
#include "net/check.h"

#include <stdio.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* The description has walked the same bytes, or the file is another one now and is not opened. */
static enum tn_status read_model(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_graph_facts *g,
                                 struct tn_findings *findings, struct tn_model **model, struct tn_error *err)
{
    struct tn_os_file file;
    *model = NULL;
    enum tn_status st = tn_inventory_open_file(inv, g->file, &file, err);
    if (st) return st;
    struct tn_source source = tn_source_of_file(&file, g->file->path);
    st = tn_model_import_lent(ctx, inv, &source, g->view, findings, model, err);
    if (!st && *model) tn_net_check(*model, findings);
    if (!st && *model && !findings->blockers) st = tn_net_infer(*model, findings, err);
    tn_os_close(&file);
    if (*model) (*model)->source = (struct tn_source){.size = 0};
    if (!st && !findings->blockers) return TN_OK;
    tn_model_free(*model);
    *model = NULL;
    return st;
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

typedef bool tn_each_net(void *user, const struct tn_net *net);

/* The graph and all graphs inside its nodes. */
static bool each_net(const struct tn_net *net, tn_each_net *fn, void *user)
{
    if (!fn(user, net)) return false;
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        for (uint32_t k = 0; k < n->attr_count; k++) {
            const struct tn_attr *a = &n->attrs[k];
            bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
            for (size_t g = 0; graphs && g < a->count; g++)
                if (!each_net(a->as.graphs[g], fn, user)) return false;
        }
    }
    return true;
}

struct sums {
    uint64_t nodes, constants;
};

static bool add_net(void *user, const struct tn_net *net)
{
    struct sums *s = user;
    s->nodes += net->node_count;
    for (uint32_t v = 0; v < net->value_count; v++) {
        const struct tn_constant *c = net->values[v].constant;
        if (c && !tn_add64(s->constants, c->bytes, &s->constants)) return false;
    }
    return true;
}

/* Bytes of a value whose whole shape is known before any input is; *open where it is not. */
static uint64_t bytes_of(const struct tn_net_value *v, bool *open)
{
    size_t bytes = 0;
    uint64_t count = 1;
    const struct tn_type *t = &v->type;
    bool whole = t->kind == TN_KIND_TENSOR && t->shape.known;
    for (uint32_t i = 0; whole && i < t->shape.rank; i++)
        whole = tn_dim_known(t->shape.dims[i]) && tn_mul64(count, (uint64_t)t->shape.dims[i], &count);
    whole = whole && tn_element_bytes(t->element, count, &bytes);
    *open |= !whole;
    return whole ? bytes : 0;
}

/* Most bytes of values that are alive at once, over the main graph; values of open shapes count as nothing. */
static enum tn_status peak_of(const struct tn_net *net, struct tn_alloc *alloc, uint64_t *peak, bool *open)
{
    uint32_t *last = tn_calloc(alloc, (size_t)net->value_count + 1, sizeof(*last));
    uint64_t *ends = tn_calloc(alloc, (size_t)net->node_count + 2, sizeof(*ends));
    uint64_t alive = 0;
    *peak = 0;
    for (uint32_t i = 0; last && ends && i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        for (uint32_t k = 0; k < n->in_count; k++)
            if (n->in[k].value != TN_NET_NONE && n->in[k].level == 0) last[n->in[k].value] = i + 1;
        for (uint32_t k = 0; k < n->out_count; k++)
            if (n->out[k] != TN_NET_NONE) last[n->out[k]] = i + 1;
    }
    for (uint32_t k = 0; last && ends && k < net->output_count; k++)
        if (net->results[k].value != TN_NET_NONE && net->results[k].level == 0) last[net->results[k].value] = net->node_count + 1;
    for (uint32_t i = 0; last && ends && i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        for (uint32_t k = 0; k < n->out_count; k++) {
            if (n->out[k] == TN_NET_NONE) continue;
            uint64_t bytes = bytes_of(&net->values[n->out[k]], open);
            alive += bytes;
            ends[last[n->out[k]]] += bytes;
        }
        if (alive > *peak) *peak = alive;
        alive -= ends[i + 1];
    }
    enum tn_status st = last && ends ? TN_OK : TN_INSUFFICIENT_MEMORY;
    tn_free(alloc, last);
    tn_free(alloc, ends);
    return st;
}

/* ---- the plan's part ---------------------------------------------------------------------------------------------- */

/* An operator with how often it stands in the graph. */
struct tally {
    const struct tn_node *node;
    uint64_t count;
};

struct tallies {
    struct tn_arena *arena;
    struct tally *items;
    uint32_t count, cap;
    bool no_memory;
};

static bool same_operator(const struct tn_node *a, const struct tn_node *b)
{
    return a->version == b->version && tn_str_eq(a->type, b->type) && tn_str_eq(a->domain, b->domain);
}

static bool tally_net(void *user, const struct tn_net *net)
{
    struct tallies *t = user;
    for (uint32_t i = 0; i < net->node_count; i++) {
        uint32_t k = 0;
        while (k < t->count && !same_operator(t->items[k].node, &net->nodes[i])) k++;
        if (k == t->count && t->count == t->cap) {
            uint32_t cap = t->cap ? 2 * t->cap : 32;
            struct tally *moved = tn_arena_array(t->arena, cap, sizeof(*moved));
            if (!moved) return false;
            if (t->count) memcpy(moved, t->items, t->count * sizeof(*moved));
            t->items = moved;
            t->cap = cap;
        }
        if (k == t->count) t->items[t->count++] = (struct tally){&net->nodes[i], 0};
        t->items[k].count++;
    }
    return true;
}

static void write_type(struct tn_json_writer *w, const struct tn_model *model, const struct tn_type *type)
{
    char text[512];
    const char *element = type->kind == TN_KIND_TENSOR ? tn_onnx_element_name(type->element) : NULL;
    tn_jw_member_cstr(w, "type", tn_type_text(model, type, text, sizeof(text)));
    tn_jw_member_cstr(w, "element", element);
    tn_jw_key(w, "dims");
    if (type->kind != TN_KIND_TENSOR || !type->shape.known) {
        tn_jw_null(w);
        return;
    }
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < type->shape.rank; i++) {
        if (tn_dim_known(type->shape.dims[i])) tn_jw_i64(w, type->shape.dims[i]);
        else tn_jw_cstr(w, tn_dim_text(&model->symbols, type->shape.dims[i], text, sizeof(text)));
    }
    tn_jw_end_array(w);
}

static void write_inputs(struct tn_json_writer *w, const struct tn_model *model)
{
    const struct tn_net *net = model->main;
    tn_jw_key(w, "inputs");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < net->input_count; i++) {
        const struct tn_net_value *v = &net->values[net->inputs[i]];
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", v->name);
        write_type(w, model, &v->type);
        tn_jw_member_bool(w, "required", v->constant == NULL);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_outputs(struct tn_json_writer *w, const struct tn_model *model)
{
    const struct tn_net *net = model->main;
    tn_jw_key(w, "outputs");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < net->output_count; i++) {
        const struct tn_net_value *v = tn_net_at(net, net->results[i]);
        static const struct tn_type unknown = {.kind = TN_KIND_NONE};
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", model->view->outputs[i].name);
        write_type(w, model, v ? &v->type : &unknown);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_operators(struct tn_json_writer *w, const struct tallies *t)
{
    tn_jw_key(w, "operators");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tn_node *n = t->items[i].node;
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "domain", n->domain);
        tn_jw_member_str(w, "operator", n->type);
        tn_jw_member_u64(w, "version", (uint64_t)n->version);
        tn_jw_member_u64(w, "count", t->items[i].count);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

/* What becomes of the graph: the plan names it, and a load does the same again. */
static enum tn_status write_patched(struct tn_native_net *net, struct tn_model *model, struct tn_json_writer *w, struct tn_error *err)
{
    struct sums s = {0, 0};
    enum tn_status st = tn_net_patch(model, net->without, net->without_count, err);
    if (!st) st = peak_of(model->main, model->ctx->alloc, &net->values_bytes, &net->open);
    if (st) return st;
    (void)each_net(model->main, add_net, &s); /* the sums did not overflow before */
    tn_jw_key(w, "patches");
    tn_net_patches_write(model, w);
    tn_jw_member_u64(w, "nodes_run", s.nodes);
    tn_jw_member_u64(w, "values_bytes", net->values_bytes);
    tn_jw_member_bool(w, "open_shapes", net->open);
    return TN_OK;
}

static enum tn_status write_members(struct tn_native_net *net, struct tn_model *model, struct tn_arena *arena, struct tn_error *err)
{
    struct tn_buf text;
    struct tn_json_writer w;
    char hex[TN_SHA256_HEX];
    struct tallies t = {.arena = arena};
    if (!each_net(model->main, tally_net, &t)) return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
    tn_buf_init(&text, model->ctx->alloc, (size_t)model->ctx->limits.json_bytes);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    tn_jw_member_str(&w, "file", model->view->file);
    tn_jw_member_u64(&w, "nodes", net->nodes);
    tn_jw_member_cstr(&w, "structure", tn_digest_hex(&net->structure, hex));
    write_inputs(&w, model);
    write_outputs(&w, model);
    write_operators(&w, &t);
    enum tn_status st = write_patched(net, model, &w, err);
    tn_jw_member_cstr(&w, "calls", "one at a time, in the order of arrival");
    tn_jw_end_object(&w);
    if (!st && !tn_buf_status(&text)) net->members = tn_arena_str(arena, tn_buf_str(&text));
    tn_buf_release(&text);
    return st || net->members.s ? st : tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
}

/* ---- stored types ------------------------------------------------------------------------------------------------- */

struct stored {
    uint64_t bytes[TN_EL_COUNT];
};

static bool add_stored(void *user, const struct tn_net *net)
{
    struct stored *s = user;
    for (uint32_t v = 0; v < net->value_count; v++) {
        const struct tn_constant *c = net->values[v].constant;
        if (c) s->bytes[c->element] += c->bytes;
    }
    return true;
}

/* One type says it all when the others are a thousandth: indices and shapes beside weights. */
static struct tn_str stored_of(const struct tn_model *model)
{
    struct stored s = {{0}};
    uint64_t all = 0;
    unsigned most = TN_EL_NONE;
    (void)each_net(model->main, add_stored, &s);
    for (unsigned e = 0; e < TN_EL_COUNT; e++) {
        all += s.bytes[e];
        if (s.bytes[e] > s.bytes[most]) most = e;
    }
    if (all == 0) return TN_STR("none");
    if (s.bytes[most] < all - all / 1000) return TN_STR("mixed");
    return most == TN_EL_F32 ? TN_STR("f32") : tn_str_of(tn_onnx_element_name(most));
}

/* ---- whole -------------------------------------------------------------------------------------------------------- */

/* Memory of calls whose shapes are open cannot be told from headers; the figure then is a lower bound. */
static enum tn_status summarise(struct tn_native_net *net, struct tn_model *model, struct tn_assessment *a, struct tn_error *err)
{
    struct sums s = {0, 0};
    if (!each_net(model->main, add_net, &s)) {
        tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_ASSESS, "the sizes of this graph do not fit the machine's words");
        return TN_RESOURCE_LIMIT;
    }
    net->nodes = s.nodes;
    net->constant_bytes = s.constants;
    net->structure = tn_native_net_structure(model);
    if (!tn_native_net_constants(model->main, &a->arena, &net->constants)) return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
    a->numeric = (struct tn_numeric){.stored = stored_of(model), .compute = TN_COMPUTE_F32, .accumulate = "f32", .kv = "none"};
    enum tn_status st = write_members(net, model, &a->arena, err);
    a->estimate = (struct tn_estimate){.weights_bytes = s.constants, .workspace_bytes = net->values_bytes, .uncertainty = net->open ? 1.0 : 0.5};
    return st;
}

/* "a, b,c" into names of the arena. */
static bool split_without(struct tn_native_net *net, struct tn_arena *arena, const char *list)
{
    size_t most = 1;
    for (const char *p = list; p && *p; p++) most += *p == ',';
    if (!list) return true;
    char *at = tn_arena_strndup(arena, list, strlen(list));
    net->without = tn_arena_array(arena, most, sizeof(*net->without));
    if (!at || !net->without) return false;
    while (at) {
        char *comma = strchr(at, ',');
        if (comma) *comma = 0;
        while (*at == ' ') at++;
        net->without[net->without_count++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return true;
}

/* A refusal that came as an error joins the findings, so that it is listed with the others. */
static void adopt(struct tn_assessment *a, const struct tn_error *err, enum tn_status status)
{
    struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, status, TN_PHASE_ASSESS, "%s", err->primary.message);
    if (f) *f = err->primary;
}

static void refuse_bf16(struct tn_assessment *a)
{
    struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, TN_UNSUPPORTED_OPTION, TN_PHASE_ASSESS,
                                           "numeric policy \"bf16\" cannot be had for a graph, which states the type of every value");
    tn_at_option(f, "--numeric");
    tn_expected(f, "f32: each operator computes in the types that the graph gives it");
}

static enum tn_status assess_into(struct tn_native_net *net, struct tn_assessment *a, const struct tn_component_request *r,
                                  struct tn_error *err)
{
    enum tn_status st = read_model(r->ctx, r->d->inv, r->graph, &a->findings, &net->model, err);
    if (!st && net->model) {
        st = summarise(net, net->model, a, err);
        if (!st) a->decision = TN_ELIGIBLE;
    }
    return st;
}

enum tn_status tn_native_net_assess(struct tn_native_program *program, struct tn_assessment *a,
                                    const struct tn_component_request *r, struct tn_error *err)
{
    struct tn_native_net *net = tn_arena_alloc(&a->arena, sizeof(*net));
    struct tn_error *own = tn_calloc(r->ctx->alloc, 1, sizeof(*own));
    enum tn_status st = TN_OK;
    if (!net || !own) {
        st = tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
    } else {
        *net = (struct tn_native_net){.members = {NULL, 0}};
        program->net = net;
        if (program->compute == TN_COMPUTE_BF16) refuse_bf16(a);
        /* What the description refuses would be found a second time, or hide what follows from it. */
        if (!split_without(net, &a->arena, r->without)) st = tn_error_memory(own, TN_PHASE_ASSESS, "assessing a graph");
        else if (!r->d->findings.blockers) st = assess_into(net, a, r, own);
    }
    if (own && st == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(err, TN_PHASE_ASSESS, "assessing a graph");
    } else if (own && st) {
        adopt(a, own, st);
        st = TN_OK;
    }
    tn_free(r->ctx->alloc, own);
    if (a->findings.blockers) a->decision = TN_UNSUPPORTED;
    return st;
}
