/* Nodes against their schemas; see the header. Recursion is bounded by the importer's bound on graphs inside graphs. */
#include "net/check.h"

struct judge {
    struct tn_model *model;
    struct tn_findings *findings;
};

const char *tn_attr_type_name(enum tn_attr_type type)
{
    static const char *const names[] = {"UNDEFINED", "FLOAT", "INT", "STRING", "TENSOR", "GRAPH", "FLOATS", "INTS", "STRINGS",
                                        "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
    return (unsigned)type < TN_ATTR_COUNT ? names[type] : names[0];
}

static struct tn_finding *fault(struct judge *j, const struct tn_node *n, const char *message)
{
    struct tn_finding *f = tn_findings_add(j->findings, TN_BLOCKER, TN_ARTIFACT_MALFORMED, TN_PHASE_ASSESS,
                                           "%s: %.*s (%.*s %lld)", message, TN_FMT_ARG(n->type), TN_FMT_ARG(n->domain),
                                           (long long)n->version);
    tn_at_offset(f, j->model->view->file, n->at);
    tn_at_element(f, TN_ELEMENT_OPERATOR, n->name);
    tn_remedy(f, "export the model again");
    return f;
}

static void judge_attrs(struct judge *j, const struct tn_node *n)
{
    for (uint32_t i = 0; i < n->attr_count; i++) {
        const struct tn_attr *a = &n->attrs[i];
        const struct tn_schema_attr *s = tn_schema_attr_find(n->schema, a->name);
        if (!s) {
            struct tn_finding *f = fault(j, n, "an attribute that the operator does not have");
            tn_found(f, "%.*s", TN_FMT_ARG(a->name));
        } else if (s->type != a->type) {
            struct tn_finding *f = fault(j, n, "an attribute of another type");
            tn_found(f, "%.*s of type %s", TN_FMT_ARG(a->name), tn_attr_type_name(a->type));
            tn_expected(f, "%s", tn_attr_type_name((enum tn_attr_type)s->type));
        }
    }
    for (unsigned i = 0; i < n->schema->attr_count; i++) {
        const struct tn_schema_attr *s = &n->schema->attrs[i];
        if (s->required && !tn_node_attr(n, s->name)) {
            struct tn_finding *f = fault(j, n, "an attribute is missing");
            tn_expected(f, "%s of type %s", s->name, tn_attr_type_name((enum tn_attr_type)s->type));
        }
    }
}

static void judge_count(struct judge *j, const struct tn_node *n, const char *what, uint32_t count, unsigned least, unsigned most)
{
    if (count >= least && (most == 255 || count <= most)) return;
    struct tn_finding *f = fault(j, n, "a wrong number of operands");
    tn_found(f, "%u %s", count, what);
    if (most == 255) tn_expected(f, "at least %u", least);
    else if (least == most) tn_expected(f, "%u", least);
    else tn_expected(f, "%u to %u", least, most);
}

/* A required operand that is left out in the middle. */
static void judge_given(struct judge *j, const struct tn_node *n)
{
    for (uint32_t i = 0; i < n->in_count; i++) {
        const struct tn_schema_port *p = tn_schema_in(n->schema, i);
        if (!p || p->option == TN_PORT_OPTIONAL || n->in[i].value != TN_NET_NONE) continue;
        struct tn_finding *f = fault(j, n, "an operand is missing");
        tn_found(f, "input %u is \"\"", i);
        tn_expected(f, "a value for %s", p->name);
    }
}

static void judge_net(struct judge *j, struct tn_net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        struct tn_node *n = &net->nodes[i];
        bool known;
        n->schema = tn_op_schema_find(n->domain, n->type, n->version, &known);
        if (n->schema) {
            judge_attrs(j, n);
            judge_count(j, n, "inputs", n->in_count, n->schema->min_in, n->schema->max_in);
            judge_count(j, n, "outputs", n->out_count, n->schema->min_out, n->schema->max_out);
            judge_given(j, n);
            if (n->schema->deprecated) fault(j, n, "an operator that this version of its domain has withdrawn");
        }
        for (uint32_t k = 0; k < n->attr_count; k++) {
            const struct tn_attr *a = &n->attrs[k];
            bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
            for (size_t g = 0; graphs && g < a->count; g++) judge_net(j, a->as.graphs[g]);
        }
    }
}

void tn_net_check(struct tn_model *model, struct tn_findings *findings)
{
    struct judge j = {model, findings};
    judge_net(&j, model->main);
}
