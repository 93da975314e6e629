/*
 * .npy files of any element type and shape, in and out: all plain types of NumPy, and the two-byte and one-byte records
 * that ml_dtypes writes for bfloat16 and float8. Files are untrusted.
 */
#ifndef CLI_NPY_TENSOR_H
#define CLI_NPY_TENSOR_H

#include "app.h"

struct cli_npy_tensor {
    tn_port_value value; /* of kind TN_VALUE_TENSOR; views of what follows */
    int64_t dims[8];
    void *data;
    char *texts; /* bytes of strings */
};

/* The whole file; `option` and `path` are for the refusal. Release in either case. */
tn_status cli_npy_read(struct cli *cli, const char *option, const char *path, struct cli_npy_tensor *out);
void cli_npy_release(struct cli_npy_tensor *t);
/* Whether a value has a form as .npy: a tensor of a type that NumPy, or its extension, has. */
bool cli_npy_holds(const tn_port_value *v);
/* Such a value into a file that appears whole or not at all. 0 or an errno. */
int cli_npy_write(const char *path, const tn_port_value *v);

#endif
