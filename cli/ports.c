/* Named tensors of the command line. */
#include "ports.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

static tn_status read_input(struct cli *cli, struct cli_ports *p, size_t i, const char *argument)
{
    const char *equals = strchr(argument, '='), *value = equals ? equals + 1 : "";
    tn_port_value *v = &p->inputs[i];
    size_t length = strlen(value);
    tn_status status = TN_OK;
    if (!equals || equals == argument) {
        cli_refuse(cli, TN_INVALID_REQUEST, "input", "--input %.80s names no input", argument);
        snprintf(cli->problem.expected, sizeof(cli->problem.expected), "NAME=FILE.npy, NAME=FILE.json or NAME=JSON");
        return TN_INVALID_REQUEST;
    }
    if (ends_with(value, ".npy")) {
        status = cli_npy_read(cli, "input", value, &p->files[i]);
        *v = p->files[i].value;
    } else {
        if (ends_with(value, ".json")) {
            status = cli_read_file(cli, "input", value, &p->texts[i], &length);
            value = p->texts[i];
        }
        *v = (tn_port_value){.kind = TN_VALUE_JSON, .data = value, .size = length};
    }
    v->name = (tn_string){argument, (size_t)(equals - argument)};
    return status;
}

tn_status cli_ports_read(struct cli *cli, struct cli_ports *p)
{
    const struct cli_values *v = &cli->values;
    p->count = v->input_count;
    p->files = cli_alloc_zero(cli_product(p->count + 1, sizeof(*p->files)));
    p->texts = cli_alloc_zero(cli_product(p->count + 1, sizeof(*p->texts)));
    p->inputs = cli_alloc_zero(cli_product(p->count + 1, sizeof(*p->inputs)));
    tn_status status = TN_OK;
    for (size_t i = 0; status == TN_OK && i < p->count; i++) status = read_input(cli, p, i, v->inputs[i]);
    return status;
}

void cli_ports_release(struct cli_ports *p)
{
    for (size_t i = 0; p->files && i < p->count; i++) cli_npy_release(&p->files[i]);
    for (size_t i = 0; p->texts && i < p->count; i++) free(p->texts[i]);
    free(p->files);
    free(p->texts);
    free(p->inputs);
}
