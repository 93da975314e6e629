/* Named tensors of the command line: NAME=FILE.npy, NAME=FILE.json or NAME=JSON, as values of a request. */
#ifndef CLI_PORTS_H
#define CLI_PORTS_H

#include "app.h"
#include "npy_tensor.h"

struct cli_ports {
    struct cli_npy_tensor *files; /* [count] */
    char **texts;                 /* [count] of JSON files */
    tn_port_value *inputs;        /* [count] */
    size_t count;
};

/* Every --input. Release in any case; values are views of what was read and of argv. */
tn_status cli_ports_read(struct cli *cli, struct cli_ports *ports);
void cli_ports_release(struct cli_ports *ports);

#endif
