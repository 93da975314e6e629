/* How a component goes through its graph: which output, how wide, and what a tokenizer must not exceed. Pure. */
#include "provider/texts/texts.h"

#include "base/json_write.h"

#include <string.h>

static uint64_t value_of(const struct tn_component *c, const char *name)
{
    return tn_component_value(c, name)->u;
}

static const struct tn_onnx_dim *dim_of(const struct tn_onnx_port *p, uint32_t i)
{
    return p->rank_known && i < p->rank ? &p->dims[i] : NULL;
}

/* A dimension that the file fixes; 0: it does not. */
static uint64_t fixed(const struct tn_onnx_dim *d)
{
    return d && d->kind == TN_ONNX_DIM_VALUE && d->value > 0 ? (uint64_t)d->value : 0;
}

static struct tn_finding *refuse(struct tn_findings *findings, const struct tn_text_graph *t, enum tn_status code, const char *what)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, code, TN_PHASE_ASSESS, "%s", what);
    tn_at_file(f, t->graph->file->path);
    return f;
}

/* ---- which rows --------------------------------------------------------------------------------------------------- */

/* What a head gives for each row, by the documents. */
static uint64_t head_width(const struct tn_component_request *r)
{
    if (r->head->kind == TN_HEAD_MASKED_LM || r->head->kind == TN_HEAD_PRETRAINING) return value_of(r->component, "vocab_size");
    return r->head->outputs;
}

static bool is_whole(const struct tn_component_request *r)
{
    return r->head && r->head->kind == TN_HEAD_SEQUENCE_CLASSIFICATION;
}

/* A head is part of its graph: nothing of it is in the package but what the graph computes. */
static bool choose_output(struct tn_text_graph *t, const struct tn_component_request *r, struct tn_findings *findings)
{
    const struct tn_graph_texts *ports = t->graph->texts;
    t->output = r->head ? ports->logits : ports->hidden;
    t->whole = is_whole(r);
    t->width = r->head ? head_width(r) : value_of(r->component, "hidden_size");
    if (t->output == TN_NO_PORT) {
        struct tn_finding *f = refuse(findings, t, r->head ? TN_TASK_HEAD_MISMATCH : TN_UNSUPPORTED_TASK,
                                      r->head ? "the graph ends before the head: no output has its numbers" : "no output of the graph has the encoder's rows");
        tn_found(f, r->head ? "no output logits" : "no output last_hidden_state");
        tn_remedy(f, r->head ? "export the graph with its head" : "export the encoder without its head, for feature extraction");
        return false;
    }
    const struct tn_onnx_port *p = &t->graph->view->outputs[t->output];
    uint32_t rank = t->whole ? 2 : 3;
    uint64_t last = p->rank_known ? fixed(dim_of(p, p->rank - 1)) : 0;
    if ((!p->rank_known || p->rank == rank) && (!last || last == t->width)) return true;
    char text[256];
    struct tn_finding *f = refuse(findings, t, TN_TENSOR_MISMATCH, "the graph's output does not fit the package's documents");
    tn_at_tensor(f, t->graph->file->path, p->name);
    tn_found(f, "%s", tn_onnx_port_text(p, text, sizeof(text)));
    tn_expected(f, "[batch, %s%llu]", t->whole ? "" : "sequence, ", (unsigned long long)t->width);
    tn_remedy(f, "the configuration and the graph belong to different models");
    return false;
}

/* ---- what goes in ------------------------------------------------------------------------------------------------- */

static void check_length(struct tn_text_graph *t, const struct tn_component_request *r, struct tn_findings *findings)
{
    const struct tn_onnx_port *ids = t->graph->inputs[t->graph->texts->ids];
    uint64_t batch = fixed(dim_of(ids, 0));
    t->length = fixed(dim_of(ids, 1));
    if (batch > 1) {
        struct tn_finding *f = refuse(findings, t, TN_SHAPE_OUTSIDE_ENVELOPE, "the graph takes no single text");
        tn_found(f, "%llu texts in every call", (unsigned long long)batch);
    }
    t->alone = t->alone || batch == 1;
    if (t->length && t->length < r->max_rows) {
        struct tn_finding *f = refuse(findings, t, TN_SHAPE_OUTSIDE_ENVELOPE, "the graph takes shorter texts than the package states");
        tn_found(f, "%llu tokens", (unsigned long long)t->length);
        tn_expected(f, "%llu", (unsigned long long)r->max_rows);
    }
    if (t->length && t->graph->texts->mask == TN_NO_PORT) {
        struct tn_finding *f = refuse(findings, t, TN_AMBIGUOUS_ROLE, "the graph fixes the length of a text and has no mask for what is shorter");
        tn_found(f, "%llu tokens in every call, no attention mask", (unsigned long long)t->length);
    }
    if (t->hides && t->graph->texts->mask == TN_NO_PORT)
        refuse(findings, t, TN_UNSUPPORTED_OPERATOR, "the graph has no mask that could hide the rows of a query's expansion");
}

/* Whether some operator takes one scale from all texts of a call. */
static bool minds_company(const struct tn_onnx_view *view)
{
    static const struct {
        const char *domain, *type;
    } operators[] = {
        {"ai.onnx", "DynamicQuantizeLinear"},
        {"com.microsoft", "DynamicQuantizeMatMul"},
        {"com.microsoft", "DynamicQuantizeLSTM"},
    };
    for (uint32_t i = 0; i < view->operator_count; i++) {
        const struct tn_onnx_operator *o = &view->operators[i];
        for (size_t k = 0; k < sizeof(operators) / sizeof(operators[0]); k++) {
            if (tn_str_is(o->domain, operators[k].domain) && tn_str_is(o->type, operators[k].type)) return true;
        }
    }
    return false;
}

void tn_text_graph_make(struct tn_text_graph *t, const struct tn_component_request *r, struct tn_findings *findings)
{
    const struct tn_component *c = r->component;
    *t = (struct tn_text_graph){.graph = r->graph,
                                .alone = minds_company(r->graph->view),
                                .hides = r->hiding_rows > 0,
                                .from_pad = c->schema->reserved_by != NULL,
                                .vocab_size = value_of(c, "vocab_size"),
                                .type_count = tn_token_types(r->d),
                                .pad_id = value_of(c, "pad_token_id"),
                                .max_rows = r->max_rows};
    if (!choose_output(t, r, findings)) return;
    check_length(t, r, findings);
}

uint64_t tn_text_graph_bytes(const struct tn_text_graph *t)
{
    uint64_t rows = t->max_rows > TN_TEXT_CALL_ROWS ? t->max_rows : TN_TEXT_CALL_ROWS;
    if (t->length > rows) rows = t->length;
    return rows * (4 * sizeof(int64_t) + t->width * sizeof(float));
}

/* ---- documents ---------------------------------------------------------------------------------------------------- */

static void write_port(struct tn_json_writer *w, const char *member, const struct tn_text_graph *t, uint32_t port)
{
    tn_jw_key(w, member);
    if (port == TN_NO_PORT) tn_jw_null(w);
    else tn_jw_str(w, t->graph->inputs[port]->name);
}

void tn_text_graph_write(struct tn_json_writer *w, const struct tn_text_graph *t)
{
    const struct tn_graph_texts *ports = t->graph->texts;
    tn_jw_key(w, "texts");
    tn_jw_begin_object(w);
    write_port(w, "token_ids", t, ports->ids);
    write_port(w, "attention_mask", t, ports->mask);
    write_port(w, "token_type_ids", t, ports->types);
    write_port(w, "position_ids", t, ports->positions);
    tn_jw_member_str(w, "rows", t->graph->view->outputs[t->output].name);
    tn_jw_member_cstr(w, "row_for_each", t->whole ? "text" : "token");
    tn_jw_member_u64(w, "width", t->width);
    tn_jw_member_cstr(w, "calls", t->alone ? "one text each" : "texts of like length together, under a mask");
    tn_jw_end_object(w);
}

void tn_text_graph_fingerprint(const struct tn_text_graph *t, struct tn_sha256 *h)
{
    const struct tn_graph_texts *ports = t->graph->texts;
    const uint64_t numbers[] = {ports->ids, ports->mask, ports->types, ports->positions, t->output, t->whole, t->alone,
                                t->hides, t->from_pad, t->width, t->length, t->pad_id};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) tn_sha256_update_u64(h, numbers[i]);
}
