/*
 * The standard's document for a genai_config package: one pass through its graphs, in their order, from tokens, media and
 * state to logits and the next state, as the standard's own samples state exported graphs. What is not in the package is
 * not in the document either: how a token is chosen and when generation ends is code of that runtime.
 *
 * Made only when every port and number holds and every loss was accepted: half a contract would look like a whole one.
 */
#include "describe/dialect/genai_wiring.h"

#include "base/json_write.h"
#include "describe/dialect/contract.h"
#include "describe/requirements.h"
#include "describe/roles.h"
#include "describe/standard/check.h"
#include "describe/standard/tables.h"

#include <stdio.h>
#include <string.h>

/* Where a place in the document is named: no file of the package. */
#define IMPORTED "(contract imported from " TN_GENAI_FILE ")"

enum { DOCUMENT_BYTES = 64 << 20 };

struct out {
    struct tn_genai *g;
    struct tn_json_writer w;
    const struct tn_genai_wiring *wiring;
};

/* ---- types ------------------------------------------------------------------------------------------------------- */

static void write_layout(struct out *o, const char *kind, bool has_axis, uint32_t axis)
{
    tn_jw_key(&o->w, "batch_layout");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", kind);
    if (has_axis) tn_jw_member_u64(&o->w, "axis", axis);
    tn_jw_end_object(&o->w);
}

/* Rows lie along the first axis whose extent is not fixed to a number; keys and values in one have an axis in front. */
static void write_batch(struct out *o, const struct tn_genai_binding *x)
{
    const struct tn_onnx_port *p = x->graph_port;
    uint32_t axis = x->port && x->port->half && strcmp(x->port->half, "combined") == 0 ? 1 : 0;
    bool rows = p->rank > axis && p->dims[axis].kind != TN_ONNX_DIM_VALUE;
    write_layout(o, rows ? "request_aligned" : "shared", rows, axis);
}

static void write_dim(struct out *o, const struct tn_genai_binding *x, uint32_t axis)
{
    char text[512];
    const struct tn_onnx_dim *dim = &x->graph_port->dims[axis];
    if (dim->kind == TN_ONNX_DIM_VALUE && dim->value >= 0) {
        tn_jw_u64(&o->w, (uint64_t)dim->value);
    } else if (dim->kind == TN_ONNX_DIM_SYMBOL && dim->symbol.n > 0) {
        tn_jw_str(&o->w, dim->symbol);
    } else {
        snprintf(text, sizeof(text), "%.400s.%u", x->name.s, axis);
        tn_jw_cstr(&o->w, text);
    }
}

static void write_contract(struct out *o, const struct tn_genai_binding *x)
{
    const struct tn_onnx_port *p = x->graph_port;
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "dtype", tn_onnx_element_name(p->element));
    tn_jw_member_u64(&o->w, "rank", p->rank);
    tn_jw_key(&o->w, "shape");
    tn_jw_begin_array(&o->w);
    for (uint32_t i = 0; i < p->rank; i++) write_dim(o, x, i);
    tn_jw_end_array(&o->w);
    write_batch(o, x);
    tn_jw_end_object(&o->w);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static void write_kind(struct out *o, const char *key, const char *kind)
{
    tn_jw_key(&o->w, key);
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", kind);
    tn_jw_end_object(&o->w);
}

static const char *runtime_role(const struct tn_genai_binding *x)
{
    if (!x->port) return NULL;
    if (x->port->role && strcmp(x->port->role, "token_ids") == 0) return "prompt_tokens";
    static const char *const media[] = {"pixel_values", "audio_embeds"};
    for (size_t i = 0; i < 2; i++)
        if (strcmp(x->port->key, media[i]) == 0) return "media";
    bool sound = strcmp(x->port->section, "encoder") == 0 && strcmp(x->port->key, "audio_features") == 0;
    return sound ? "media" : NULL;
}

static void write_input(struct out *o, const struct tn_genai_value *v)
{
    const char *role = runtime_role(v->port);
    tn_jw_key_str(&o->w, v->name);
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "contract");
    write_contract(o, v->port);
    tn_jw_key(&o->w, "role");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", role ? "runtime" : "opaque");
    if (role) {
        tn_jw_member_cstr(&o->w, "role", role);
        tn_jw_member_cstr(&o->w, "version", "1.0");
    }
    tn_jw_end_object(&o->w);
    tn_jw_key(&o->w, "source");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", role ? "request" : "application");
    if (!role) tn_jw_member_str(&o->w, "name", v->name);
    tn_jw_end_object(&o->w);
    tn_jw_member_bool(&o->w, "required", true);
    tn_jw_end_object(&o->w);
}

/* What batched serving asks of every workflow with state: one value per row. */
static void write_row_input(struct out *o, const char *name, const char *dtype)
{
    tn_jw_key(&o->w, name);
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "contract");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "dtype", dtype);
    tn_jw_member_u64(&o->w, "rank", 1);
    tn_jw_key(&o->w, "shape");
    tn_jw_begin_array(&o->w);
    tn_jw_cstr(&o->w, "batch");
    tn_jw_end_array(&o->w);
    write_layout(o, "request_aligned", true, 0);
    tn_jw_end_object(&o->w);
    write_kind(o, "role", "opaque");
    tn_jw_key(&o->w, "source");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", "application");
    tn_jw_member_cstr(&o->w, "name", name);
    tn_jw_end_object(&o->w);
    tn_jw_member_bool(&o->w, "required", true);
    tn_jw_end_object(&o->w);
}

static void write_inputs(struct out *o)
{
    tn_jw_key(&o->w, "inputs");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < o->wiring->value_count; i++)
        if (o->wiring->values[i].input) write_input(o, &o->wiring->values[i]);
    if (o->wiring->has_state) {
        write_row_input(o, "rows.active", "bool");
        write_row_input(o, "rows.done", "bool");
        write_row_input(o, "rows.accepted_len", "int64");
    }
    tn_jw_end_object(&o->w);
}

/* ---- components -------------------------------------------------------------------------------------------------- */

static void write_ports(struct out *o, const struct tn_genai_graph *graph, enum tn_genai_direction direction)
{
    tn_jw_key(&o->w, direction == TN_GENAI_INPUT ? "inputs" : "outputs");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < graph->bound.count; i++) {
        const struct tn_genai_binding *x = &graph->bound.items[i];
        if (x->direction != direction) continue;
        tn_jw_key_str(&o->w, x->name);
        write_contract(o, x);
    }
    tn_jw_end_object(&o->w);
}

/* What a port holds is known of either side; the standard's roles are said of the side that has them. */
static void write_roles(struct out *o, const struct tn_genai_graph *graph)
{
    tn_jw_key(&o->w, "roles");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < graph->bound.count; i++) {
        const struct tn_genai_binding *x = &graph->bound.items[i];
        if (!x->port || !x->port->role) continue;
        if (!tn_role_has_side(tn_role_of_standard(tn_str_of(x->port->role)), x->direction == TN_GENAI_OUTPUT)) continue;
        tn_jw_key_str(&o->w, x->name);
        tn_jw_cstr(&o->w, x->port->role);
    }
    tn_jw_end_object(&o->w);
}

static void write_components(struct out *o)
{
    tn_jw_key(&o->w, "components");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < o->g->graph_count; i++) {
        const struct tn_genai_graph *graph = &o->g->graphs[i];
        tn_jw_key_str(&o->w, graph->name);
        tn_jw_begin_object(&o->w);
        tn_jw_key(&o->w, "implementation");
        tn_jw_begin_object(&o->w);
        tn_jw_member_cstr(&o->w, "kind", "onnx");
        tn_jw_member_str(&o->w, "artifact", graph->path);
        tn_jw_end_object(&o->w);
        tn_jw_key(&o->w, "ports");
        tn_jw_begin_object(&o->w);
        write_ports(o, graph, TN_GENAI_INPUT);
        write_ports(o, graph, TN_GENAI_OUTPUT);
        write_roles(o, graph);
        tn_jw_end_object(&o->w);
        tn_jw_end_object(&o->w);
    }
    tn_jw_end_object(&o->w);
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void write_cells(struct out *o)
{
    tn_jw_key(&o->w, "state");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < o->wiring->state_count; i++) {
        const struct tn_genai_cell *s = &o->wiring->states[i];
        tn_jw_key_str(&o->w, s->name);
        tn_jw_begin_object(&o->w);
        tn_jw_key(&o->w, "contract");
        write_contract(o, s->in);
        tn_jw_member_cstr(&o->w, "scope", "invocation");
        tn_jw_member_str(&o->w, "initializer", s->initial);
        write_kind(o, "recurrence", "invariant");
        tn_jw_member_cstr(&o->w, "management", "runtime");
        tn_jw_member_cstr(&o->w, "release_boundary", "invocation");
        tn_jw_member_cstr(&o->w, "service_group", s->group->name);
        tn_jw_end_object(&o->w);
    }
    tn_jw_end_object(&o->w);
}

static void write_alias(struct out *o, const struct tn_genai_cell *s)
{
    tn_jw_key_str(&o->w, s->in->name);
    tn_jw_begin_object(&o->w);
    tn_jw_member_str(&o->w, "input", s->in->name);
    if (s->out) tn_jw_member_str(&o->w, "output", s->out->name);
    else tn_jw_member_cstr(&o->w, "access", "read_only");
    if (s->in->port->half) tn_jw_member_cstr(&o->w, "role", s->in->port->half);
    if (s->in->port->per_layer) tn_jw_member_u64(&o->w, "layer", s->in->layer);
    tn_jw_end_object(&o->w);
}

static void write_group_ports(struct out *o, const struct tn_genai_group *group)
{
    tn_jw_key(&o->w, "ports");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < o->g->graph_count; i++) {
        bool begun = false;
        for (size_t k = 0; k < o->wiring->state_count; k++) {
            const struct tn_genai_cell *s = &o->wiring->states[k];
            if (s->group != group || s->graph != &o->g->graphs[i]) continue;
            if (!begun) {
                tn_jw_key_str(&o->w, o->g->graphs[i].name);
                tn_jw_begin_object(&o->w);
                begun = true;
            }
            write_alias(o, s);
        }
        if (begun) tn_jw_end_object(&o->w);
    }
    tn_jw_end_object(&o->w);
}

static void write_group(struct out *o, const struct tn_genai_group *group)
{
    tn_jw_key(&o->w, group->name);
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", group->kind);
    tn_jw_member_cstr(&o->w, "layout", group->layout);
    if (group->has_sequence) tn_jw_member_u64(&o->w, "sequence_axis", group->sequence_axis);
    if (group->shared_buffer) tn_jw_member_cstr(&o->w, "aliasing", "permitted");
    if (!group->read_only) write_kind(o, "update", group->has_sequence ? "append" : "replace");
    write_group_ports(o, group);
    tn_jw_end_object(&o->w);
}

static void write_serving(struct out *o)
{
    if (!o->wiring->has_state) return;
    tn_jw_key(&o->w, "serving");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "active", "rows.active");
    tn_jw_member_cstr(&o->w, "done", "rows.done");
    tn_jw_member_cstr(&o->w, "accepted_len", "rows.accepted_len");
    tn_jw_key(&o->w, "state_service");
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "groups");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < o->wiring->group_count; i++) write_group(o, &o->wiring->groups[i]);
    tn_jw_end_object(&o->w);
    tn_jw_end_object(&o->w);
    tn_jw_end_object(&o->w);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void write_invoke(struct out *o, const struct tn_genai_graph *graph)
{
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", "invoke");
    tn_jw_member_str(&o->w, "component", graph->name);
    for (int d = TN_GENAI_INPUT; d <= TN_GENAI_OUTPUT; d++) {
        tn_jw_key(&o->w, d == TN_GENAI_INPUT ? "inputs" : "outputs");
        tn_jw_begin_object(&o->w);
        for (size_t i = 0; i < graph->bound.count; i++) {
            const struct tn_genai_binding *x = &graph->bound.items[i];
            if (x->direction != (enum tn_genai_direction)d) continue;
            tn_jw_key_str(&o->w, x->name);
            tn_jw_str(&o->w, tn_genai_value_of(o->wiring, o->g, graph, x));
        }
        tn_jw_end_object(&o->w);
    }
    tn_jw_end_object(&o->w);
}

static void write_steps(struct out *o)
{
    tn_jw_key(&o->w, "steps");
    tn_jw_begin_array(&o->w);
    for (size_t i = 0; i < o->g->graph_count; i++) write_invoke(o, &o->g->graphs[i]);
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "kind", "emit");
    tn_jw_member_str(&o->w, "value", tn_genai_value_of(o->wiring, o->g, o->wiring->last, o->wiring->logits));
    tn_jw_member_cstr(&o->w, "output", "logits");
    tn_jw_member_cstr(&o->w, "mode", "replace");
    tn_jw_end_object(&o->w);
    tn_jw_end_array(&o->w);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void write_manifest(struct out *o)
{
    tn_jw_key(&o->w, "manifest");
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "capabilities");
    tn_jw_begin_array(&o->w);
    if (o->wiring->has_state) tn_jw_cstr(&o->w, "serving_service_contract");
    tn_jw_cstr(&o->w, "typed_emit");
    tn_jw_cstr(&o->w, "workflow_ssa");
    tn_jw_end_array(&o->w);
    tn_jw_end_object(&o->w);
}

static void write_outputs(struct out *o)
{
    tn_jw_key(&o->w, "outputs");
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "logits");
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "contract");
    write_contract(o, o->wiring->logits);
    tn_jw_member_cstr(&o->w, "role", "tensor");
    tn_jw_member_cstr(&o->w, "stage", "pre_adapter");
    tn_jw_end_object(&o->w);
    tn_jw_end_object(&o->w);
}

static void write_generation(struct out *o)
{
    static const char *const fields[] = {
        "diversity_penalty", "do_sample",   "early_stopping", "length_penalty", "max_length",
        "min_length",        "no_repeat_ngram_size", "num_beams", "num_return_sequences", "repetition_penalty",
        "temperature",       "top_k",       "top_p"};
    bool begun = false;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct tn_json v = tn_json_get(o->g->search, fields[i]);
        if (!tn_json_present(v)) continue;
        if (!begun) {
            tn_jw_key(&o->w, "generation");
            tn_jw_begin_object(&o->w);
            tn_jw_key(&o->w, "defaults");
            tn_jw_begin_object(&o->w);
            begun = true;
        }
        tn_jw_key(&o->w, fields[i]);
        tn_jw_raw(&o->w, tn_json_text(v));
    }
    if (!begun) return;
    tn_jw_end_object(&o->w);
    tn_jw_end_object(&o->w);
}

static void write_attention(struct out *o)
{
    const struct tn_genai *g = o->g;
    if (!g->heads.present || !g->kv_heads.present) return;
    tn_jw_key(&o->w, "attention");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "type",
                      g->kv_heads.value < g->heads.value ? "grouped_query_attention" : "multi_head_attention");
    tn_jw_member_u64(&o->w, "num_attention_heads", g->heads.value);
    tn_jw_member_u64(&o->w, "num_kv_heads", g->kv_heads.value);
    if (g->head_size.present) tn_jw_member_u64(&o->w, "head_dim", g->head_size.value);
    if (tn_genai_one_window(g)) tn_jw_member_u64(&o->w, "sliding_window", g->window.value);
    tn_jw_end_object(&o->w);
}

static void write_special(struct out *o)
{
    const struct tn_genai_tokenizer *t = &o->g->tokenizer;
    if (t->special_count == 0) return;
    tn_jw_key(&o->w, "special_tokens");
    tn_jw_begin_object(&o->w);
    for (size_t i = 0; i < t->special_count; i++) {
        tn_jw_key_str(&o->w, t->special[i].role);
        tn_jw_begin_object(&o->w);
        tn_jw_member_u64(&o->w, "id", t->special[i].id);
        tn_jw_member_str(&o->w, "content", t->special[i].content);
        tn_jw_end_object(&o->w);
    }
    tn_jw_end_object(&o->w);
}

static void write_tokenizer(struct out *o)
{
    const struct tn_genai_tokenizer *t = &o->g->tokenizer;
    if (!t->algorithm || t->size == 0) return;
    tn_jw_key(&o->w, "package");
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "tokenizer");
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "algorithm", t->algorithm);
    tn_jw_member_u64(&o->w, "vocab_size", t->size);
    tn_jw_member_bool(&o->w, "byte_level", t->byte_level);
    tn_jw_key(&o->w, "artifacts");
    tn_jw_begin_array(&o->w);
    tn_jw_begin_object(&o->w);
    tn_jw_member_str(&o->w, "location", t->path);
    tn_jw_end_object(&o->w);
    tn_jw_end_array(&o->w);
    write_special(o);
    tn_jw_end_object(&o->w);
    tn_jw_end_object(&o->w);
}

static void write_document(struct out *o)
{
    tn_jw_begin_object(&o->w);
    tn_jw_member_cstr(&o->w, "schema_version", "v1");
    tn_jw_key(&o->w, "model");
    tn_jw_begin_object(&o->w);
    tn_jw_member_u64(&o->w, "max_sequence_length", o->g->context.value);
    tn_jw_member_u64(&o->w, "vocab_size", o->g->vocabulary.value);
    write_attention(o);
    tn_jw_end_object(&o->w);
    write_tokenizer(o);
    write_generation(o);
    tn_jw_key(&o->w, "pipeline");
    tn_jw_begin_object(&o->w);
    tn_jw_key(&o->w, "workflow");
    tn_jw_begin_object(&o->w);
    write_manifest(o);
    write_inputs(o);
    write_outputs(o);
    write_components(o);
    write_cells(o);
    write_serving(o);
    write_steps(o);
    tn_jw_end_object(&o->w);
    tn_jw_end_object(&o->w);
    tn_jw_end_object(&o->w);
}

/*
 * The text becomes the description's contract, and what the standard's reader makes of it its typed form. Names come from
 * a stranger's document: two that collide show in the standard's own check, like in any other contract.
 */
static enum tn_status take_document(struct tn_genai *g, struct tn_buf *text)
{
    struct tn_description *d = g->b->d;
    struct tn_error *err = g->b->scratch;
    size_t n;
    enum tn_status status = tn_buf_status(text);
    if (status == TN_RESOURCE_LIMIT) tn_error_set(err, status, TN_PHASE_DESCRIBE, "the contract would be too large");
    if (status) return status == TN_RESOURCE_LIMIT ? status : tn_error_memory(err, TN_PHASE_DESCRIBE, "importing a contract");
    char *bytes = tn_buf_take(text, &n);
    status = tn_json_parse_take(&d->contract, g->b->alloc, &g->b->inv->ctx->limits, TN_STR(IMPORTED),
                                (struct tn_str){bytes, n}, err);
    struct tn_json root = tn_json_root(&d->contract);
    if (!status) status = tn_standard_check_tables(root, &d->findings);
    if (status == TN_METADATA_INVALID) return TN_OK; /* said */
    if (!status) status = tn_standard_read(&d->standard, g->b->alloc, root, err);
    if (!status) status = tn_standard_check(&d->standard, &d->findings, err);
    if (status == TN_INSUFFICIENT_MEMORY) return tn_error_memory(err, TN_PHASE_DESCRIBE, "importing a contract");
    if (status) return status;
    tn_require_uses(g->b, &d->standard);
    tn_contract_evidence(g->b, root);
    tn_take_generation(g->b, tn_json_get(root, "generation"));
    return TN_OK;
}

void tn_genai_document(struct tn_genai *g)
{
    struct tn_genai_wiring wiring;
    struct tn_buf text;
    if (g->hole || g->b->failed != TN_OK) return;
    if (tn_genai_wire(g, &wiring)) {
        struct out o = {.g = g, .wiring = &wiring};
        tn_buf_init(&text, g->b->alloc, DOCUMENT_BYTES);
        tn_jw_init(&o.w, &text, true);
        write_document(&o);
        tn_error_clear(g->b->scratch);
        enum tn_status status = take_document(g, &text);
        if (status) tn_builder_report(g->b, status);
        tn_buf_release(&text);
    }
    tn_genai_wiring_release(g, &wiring);
}
