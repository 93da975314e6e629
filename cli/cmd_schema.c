/* schema: the JSON Schemas of the documents that tenon reads and writes. No package is involved. */
#include "app.h"
#include "views.h"

int cli_schema(struct cli *cli)
{
    tn_document *document = NULL;
    bool list = cli->values.operand_count == 0;
    tn_status status = cli_open_runtime(cli, true);
    if (status == TN_OK && list) status = tn_schemas(cli->runtime, &document, cli->err);
    if (status == TN_OK && !list) status = tn_schema(cli->runtime, cli->values.operands[0], &document, cli->err);
    if (status != TN_OK) return cli_fail_any(cli, status);
    return cli_print_document(cli, document, list ? cli_view_schemas : cli_view_schema);
}
