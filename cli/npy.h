/*
 * NumPy's .npy, version 1.0: float32, C order, [rows, columns]. Rows are written as they come and the number of rows is
 * put into the header at the end. The file appears under its name complete or not at all.
 */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include "app.h"

struct cli_npy {
    struct cli *cli;
    const char *path;  /* as asked for, "-" for standard output */
    char *temporary;   /* beside it; NULL: an unnamed file that is copied at the end */
    struct cli_out *out;
    size_t rows, columns;
};

/* TN_OK or a filled cli->problem. */
tn_status cli_npy_open(struct cli_npy *npy, struct cli *cli, const char *path);
/* row NULL: a row of NaN. All rows have the same number of columns. */
tn_status cli_npy_row(struct cli_npy *npy, const float *row, size_t columns);
/* Publishes the file. */
tn_status cli_npy_finish(struct cli_npy *npy);
/* Removes what was not published. */
void cli_npy_close(struct cli_npy *npy);

#endif
