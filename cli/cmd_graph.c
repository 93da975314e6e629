/* graph: the graph of a package that is one. */
#include "app.h"

#include <stdio.h>

static void view_list(struct cli_view *v, const char *name, const struct cli_json *list)
{
    for (const struct cli_json *m = cli_json_first(list); m; m = m->next) cli_view_field(v, name, cli_json_text(m));
}

static void put_names(struct cli_table *t, const struct cli_json *list)
{
    char text[200];
    size_t n = 0;
    text[0] = 0;
    for (const struct cli_json *m = cli_json_first(list); m && n + 1 < sizeof(text); m = m->next) {
        int added = snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", m->type == CLI_JSON_STRING ? cli_json_text(m) : "-");
        n += added > 0 ? (size_t)added : 0;
    }
    cli_table_cell(t, text);
}

static void view_patches(struct cli_view *v, const struct cli_json *list)
{
    for (const struct cli_json *p = cli_json_first(list); p; p = p->next)
        cli_view_fieldf(v, "rewritten", "%s x %s: %s", cli_json_text(cli_json_get(p, "patch")), cli_json_text(cli_json_get(p, "count")),
                        cli_json_text(cli_json_get(p, "what")));
}

static void view_graph(struct cli_view *v, const struct cli_json *root)
{
    const struct cli_json *graph = cli_json_get(root, "graph");
    struct cli_table t;
    cli_view_field(v, "file", cli_json_text(cli_json_get(root, "file")));
    for (const struct cli_json *m = cli_json_first(cli_json_get(root, "opsets")); m; m = m->next)
        cli_view_fieldf(v, "opset", "%s %s", m->key, cli_json_text(m));
    view_list(v, "input", cli_json_get(graph, "inputs"));
    view_list(v, "output", cli_json_get(graph, "outputs"));
    view_patches(v, cli_json_get(root, "patches"));
    cli_view_heading(v, "nodes");
    cli_table_begin(&t, "llll");
    cli_table_cell(&t, "operator");
    cli_table_cell(&t, "name");
    cli_table_cell(&t, "from");
    cli_table_cell(&t, "to");
    for (const struct cli_json *n = cli_json_first(cli_json_get(graph, "nodes")); n; n = n->next) {
        cli_table_cell(&t, cli_json_text(cli_json_get(n, "operator")));
        cli_table_cell(&t, cli_json_text(cli_json_get(n, "name")));
        put_names(&t, cli_json_get(n, "inputs"));
        put_names(&t, cli_json_get(n, "outputs"));
    }
    cli_table_print(&t, v);
}

int cli_graph(struct cli *cli)
{
    tn_graph_options options = TN_INIT(tn_graph_options);
    tn_document *document = NULL;
    if (cli->values.dot && cli->values.json) {
        cli_refuse(cli, TN_INVALID_REQUEST, "dot", "--dot and --json are two forms of one answer");
        return cli_fail_problem(cli);
    }
    options.format = cli->values.dot ? "dot" : "json";
    options.optimized = cli->values.optimized;
    options.without = cli->values.without;
    tn_status status = cli_open_package(cli, true);
    if (status == TN_OK) status = cli_check_unused(cli);
    if (status == TN_OK) status = tn_package_graph(cli->package, &options, &document, cli->err);
    if (status != TN_OK) return cli_fail_any(cli, status);
    if (!cli->values.dot) return cli_print_document(cli, document, view_graph);
    size_t length;
    const char *text = tn_document_text(document, &length);
    cli_out_bytes(&cli->out, text, length);
    tn_document_free(document);
    return 0;
}
