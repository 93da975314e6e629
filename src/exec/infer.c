/*
 * Types over a whole graph, and the assessment that they allow: which operator, which version, which element types. All
 * gaps in one pass; a node that cannot be typed leaves its outputs unknown, and what follows from them is not reported a
 * second time.
 */
#include "exec/exec.h"

#include <string.h>

/* A node of more operands is refused: variadic ones of published graphs have some hundred. */
enum { OPERANDS = 4096 };

struct inference {
    struct tn_model *model;
    struct tn_findings *findings;
    struct tn_heap heap; /* headers of constants that inference reads */
    bool no_memory;
};

/* ---- operands ----------------------------------------------------------------------------------------------------- */

struct operands {
    const struct tn_type **types;
    const struct tn_tensor **data;
    const struct tn_net_value **values;
    struct tn_type *out;
    const tn_dim_t **content;
    uint32_t *content_count;
};

static bool make_operands(struct inference *inf, const struct tn_node *n, struct operands *o)
{
    struct tn_alloc *a = inf->model->ctx->alloc;
    size_t in = n->in_count + 1, out = n->out_count + 1;
    *o = (struct operands){.types = tn_calloc(a, in, sizeof(*o->types)), .data = tn_calloc(a, in, sizeof(*o->data)),
                           .values = tn_calloc(a, in, sizeof(*o->values)), .out = tn_calloc(a, out, sizeof(*o->out)),
                           .content = tn_calloc(a, out, sizeof(*o->content)),
                           .content_count = tn_calloc(a, out, sizeof(*o->content_count))};
    return o->types && o->data && o->values && o->out && o->content && o->content_count;
}

static void free_operands(struct inference *inf, const struct tn_node *n, struct operands *o)
{
    struct tn_alloc *a = inf->model->ctx->alloc;
    for (uint32_t i = 0; o->data && i < n->in_count; i++) tn_tensor_drop((struct tn_tensor *)o->data[i]);
    tn_free(a, o->types);
    tn_free(a, o->data);
    tn_free(a, o->values);
    tn_free(a, o->out);
    tn_free(a, o->content);
    tn_free(a, o->content_count);
}

static bool is_input(const struct tn_net *net, const struct tn_net_value *v)
{
    for (uint32_t i = 0; i < net->input_count; i++) {
        if (&net->values[net->inputs[i]] == v) return true;
    }
    return false;
}

static void gather(struct inference *inf, const struct tn_net *net, const struct tn_node *n, struct operands *o)
{
    for (uint32_t i = 0; i < n->in_count; i++) {
        const struct tn_net_value *v = tn_net_at(net, n->in[i]);
        const struct tn_net *home = net;
        for (uint32_t k = 0; k < n->in[i].level; k++) home = home->around;
        if (!v) continue;
        o->types[i] = &v->type;
        o->values[i] = v;
        const struct tn_constant *c = v->constant;
        if (!c || !c->data || is_input(home, v)) continue;
        o->data[i] = tn_tensor_foreign(&inf->heap, c->element, c->rank, c->dims, c->data);
        inf->no_memory |= !o->data[i];
    }
}

/* ---- types -------------------------------------------------------------------------------------------------------- */

static void at_node(struct tn_finding *f, const struct inference *inf, const struct tn_node *n)
{
    if (inf->model->view) tn_at_offset(f, inf->model->view->file, n->at);
    tn_at_element(f, TN_ELEMENT_OPERATOR, n->name);
}

static struct tn_finding *gap(struct inference *inf, const struct tn_node *n, const char *message)
{
    struct tn_finding *f = tn_findings_add(inf->findings, TN_BLOCKER, TN_UNSUPPORTED_OPERATOR, TN_PHASE_ASSESS,
                                           "%s: %.*s of domain %.*s, version %lld", message, TN_FMT_ARG(n->type),
                                           TN_FMT_ARG(n->domain), (long long)n->version);
    at_node(f, inf, n);
    tn_remedy(f, "run the package with another provider, or export it with operators that are known here");
    return f;
}

static void put_elements(struct tn_finding *f, tn_elements set)
{
    char text[320] = "";
    size_t at = 0;
    for (unsigned e = 1; e < TN_EL_COUNT; e++) {
        const char *name = tn_onnx_element_name(e);
        size_t n = strlen(name);
        if (!tn_elements_have(set, (enum tn_element)e) || at + n + 3 > sizeof(text)) continue;
        if (at) {
            memcpy(text + at, ", ", 2);
            at += 2;
        }
        memcpy(text + at, name, n + 1);
        at += n;
    }
    tn_expected(f, "%s", text);
}

/* The operands' element types: first what the standard admits, then what the kernels have. */
static bool types_fit(struct inference *inf, const struct tn_node *n, const struct operands *o)
{
    bool good = true;
    enum tn_element bound[16] = {TN_EL_NONE};
    for (uint32_t i = 0; n->schema && i < n->in_count; i++) {
        const struct tn_schema_port *port = tn_schema_in(n->schema, i);
        const struct tn_type *t = o->types[i];
        char text[160];
        if (!port || !t || t->kind == TN_KIND_NONE) continue;
        const struct tn_schema_types *allowed = &n->schema->types[port->types];
        bool other = t->kind == TN_KIND_TENSOR && port->same && port->types < 16 && bound[port->types] && t->element &&
                     bound[port->types] != t->element;
        if (other || !tn_schema_admits(allowed, t)) {
            struct tn_finding *f = gap(inf, n, "an operand of a type that the standard does not admit");
            tn_found(f, "%s for %s", tn_type_text(inf->model, t, text, sizeof(text)), port->name);
            put_elements(f, other ? UINT64_C(1) << bound[port->types] : allowed->tensor);
            good = false;
            continue;
        }
        if (t->kind == TN_KIND_TENSOR && port->same && port->types < 16) bound[port->types] = t->element;
        tn_elements have = tn_operator_elements(n->op, allowed->name);
        if (t->kind != TN_KIND_TENSOR || t->element == TN_EL_NONE || tn_elements_have(have, t->element)) continue;
        struct tn_finding *f = gap(inf, n, "no kernel for the element type of an operand");
        tn_found(f, "%s for %s", tn_onnx_element_name(t->element), port->name);
        put_elements(f, have & allowed->tensor);
        good = false;
    }
    return good;
}

/*
 * What the file states of a value and what follows from the node: the file may know dimensions that do not follow. It may not
 * contradict in kind, element or rank; where it counts columns otherwise, which exporters do and runtimes bear, the node is
 * believed and the reader told. A symbol that is stated for a dimension that is otherwise unknown becomes its name.
 */
static bool merge(struct inference *inf, const struct tn_node *n, struct tn_net_value *v, const struct tn_type *found)
{
    struct tn_type stated = v->type;
    char a[160], b[160];
    if (found->kind == TN_KIND_NONE) return true;
    v->type = *found;
    if (stated.kind == TN_KIND_NONE) return true;
    bool differs = false, good = stated.kind == found->kind && (!stated.element || !found->element || stated.element == found->element);
    if (good && found->kind == TN_KIND_TENSOR && stated.shape.known) {
        if (!found->shape.known) v->type.shape = stated.shape;
        else good = stated.shape.rank == found->shape.rank;
        for (uint32_t i = 0; good && found->shape.known && i < found->shape.rank; i++) {
            tn_dim_t said = stated.shape.dims[i], is = found->shape.dims[i];
            if (tn_dim_known(said) && tn_dim_known(is)) differs |= said != is;
            else if (!tn_dim_known(is) && tn_dim_known(said)) v->type.shape.dims[i] = said;
        }
    }
    if (good && !differs) return true;
    struct tn_finding *f = tn_findings_add(inf->findings, good && inf->model->view ? TN_WARNING : TN_BLOCKER, TN_ARTIFACT_MALFORMED, TN_PHASE_ASSESS,
                                           "the file states another type than the node gives: %.*s", TN_FMT_ARG(n->type));
    at_node(f, inf, n);
    tn_found(f, "%s", tn_type_text(inf->model, &stated, a, sizeof(a)));
    tn_expected(f, "%s", tn_type_text(inf->model, found, b, sizeof(b)));
    tn_remedy(f, "export the model again");
    return good && inf->model->view;
}

/* ---- graphs ------------------------------------------------------------------------------------------------------- */

static void infer_net(struct inference *inf, struct tn_net *net);

struct in_progress {
    struct tn_infer x; /* first: what the operator sees */
    struct inference *inf;
};

static bool infer_inner(struct tn_infer *x, const struct tn_net *inner, const struct tn_type *const *in, const struct tn_type **out)
{
    struct inference *inf = ((struct in_progress *)x)->inf;
    struct tn_net *net = (struct tn_net *)inner; /* the model is being made */
    for (uint32_t i = 0; i < net->input_count; i++) {
        struct tn_net_value *v = &net->values[net->inputs[i]];
        if (in[i] && in[i]->kind != TN_KIND_NONE) v->type = *in[i];
    }
    size_t before = inf->findings->blockers;
    infer_net(inf, net);
    for (uint32_t i = 0; i < net->output_count; i++) {
        const struct tn_net_value *v = tn_net_at(net, net->results[i]);
        out[i] = v ? &v->type : NULL;
    }
    return inf->findings->blockers == before;
}

static bool run_infer(struct inference *inf, const struct tn_net *net, const struct tn_node *n, struct operands *o)
{
    struct tn_finding why = {0};
    struct in_progress p = {.x = {.net = net, .node = n, .symbols = &inf->model->symbols, .arena = &inf->model->arena,
                                  .types = o->types, .data = o->data, .values = o->values, .in_count = n->in_count,
                                  .out_count = n->out_count, .out = o->out, .content = o->content,
                                  .content_count = o->content_count, .graph = infer_inner, .why = &why},
                            .inf = inf};
    if (n->op->infer(&p.x)) return true;
    if (!p.x.failed) return false; /* a graph inside has said why */
    bool file = inf->model->view != NULL; /* else a family's: configuration and tensors disagree */
    struct tn_finding *f = tn_findings_add(inf->findings, TN_BLOCKER, file ? TN_ARTIFACT_MALFORMED : TN_TENSOR_MISMATCH, TN_PHASE_ASSESS,
                                           "operands that do not fit together: %.*s", TN_FMT_ARG(n->type));
    at_node(f, inf, n);
    tn_found(f, "%s", why.found);
    tn_expected(f, "%s", why.expected);
    tn_remedy(f, file ? "export the model again" : "the configuration and the weights belong to different models");
    return false;
}

static void infer_node(struct inference *inf, struct tn_net *net, struct tn_node *n)
{
    struct operands o;
    const char *lacks;
    if (n->in_count > OPERANDS || n->out_count > OPERANDS) {
        gap(inf, n, "more operands than can be");
        return;
    }
    if (!make_operands(inf, n, &o)) {
        inf->no_memory = true;
        free_operands(inf, n, &o);
        return;
    }
    gather(inf, net, n, &o);
    /* A node that a patch wrote may be of a domain that no schema describes: it has its row already. */
    if (n->schema) n->op = tn_operator_find(n->domain, n->type, n->version);
    if (!n->op) {
        bool known;
        tn_op_schema_find(n->domain, n->type, n->version, &known);
        struct tn_finding *f = gap(inf, n, n->schema ? "an operator without a kernel" : known ? "an operator that is not in this version of its domain" : "an unknown operator");
        for (uint32_t i = 0; f && i < n->in_count && i < 1; i++) {
            char text[160];
            if (o.types[i]) tn_found(f, "operand %s", tn_type_text(inf->model, o.types[i], text, sizeof(text)));
        }
    } else if (types_fit(inf, n, &o)) {
        lacks = n->op->lacks ? n->op->lacks(n) : NULL;
        if (lacks) tn_found(gap(inf, n, "attribute values without a kernel"), "%s", lacks);
        else run_infer(inf, net, n, &o);
    }
    for (uint32_t i = 0; i < n->out_count && !inf->no_memory; i++) {
        if (n->out[i] == TN_NET_NONE) continue;
        struct tn_net_value *v = &net->values[n->out[i]];
        merge(inf, n, v, &o.out[i]);
        v->content = o.content[i];
        v->content_count = o.content_count[i];
    }
    free_operands(inf, n, &o);
}

static void infer_net(struct inference *inf, struct tn_net *net)
{
    for (uint32_t i = 0; i < net->node_count && !inf->no_memory; i++) infer_node(inf, net, &net->nodes[i]);
}

enum tn_status tn_net_infer_node(struct tn_model *model, struct tn_net *net, struct tn_node *node)
{
    struct tn_findings findings;
    struct inference inf = {.model = model, .findings = &findings};
    tn_findings_init(&findings, model->ctx->alloc, 4);
    tn_heap_init(&inf.heap, model->ctx->alloc);
    infer_node(&inf, net, node);
    enum tn_status st = findings.blockers ? TN_TENSOR_MISMATCH : TN_OK;
    if (inf.no_memory || model->failed || model->symbols.failed) st = TN_INSUFFICIENT_MEMORY;
    tn_heap_release(&inf.heap);
    tn_findings_release(&findings);
    return st;
}

enum tn_status tn_net_infer(struct tn_model *model, struct tn_findings *findings, struct tn_error *err)
{
    struct inference inf = {.model = model, .findings = findings};
    tn_heap_init(&inf.heap, model->ctx->alloc);
    infer_net(&inf, model->main);
    tn_heap_release(&inf.heap);
    if (inf.no_memory || model->failed || model->symbols.failed)
        return tn_error_memory(err, TN_PHASE_ASSESS, "finding the types of a graph");
    return TN_OK;
}
