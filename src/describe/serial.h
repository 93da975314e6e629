/*
 * The two documents of a description: inference_metadata.yaml|json and tenon_package.json. Together they say what the
 * package does, so that it runs from them with config.json and its like removed.
 */
#ifndef TN_DESCRIBE_SERIAL_H
#define TN_DESCRIBE_SERIAL_H

#include "base/buf.h"
#include "describe/describe.h"

struct tn_serial_options {
    bool yaml;       /* inference_metadata as YAML, else JSON; the other document is always JSON */
    bool provenance; /* tenon_package.json with the origin of each value */
};

/*
 * Whether documents are written for this description. Else an error with all that stands in the package's way, what keeps
 * them from being written first.
 */
enum tn_status tn_description_writable(const struct tn_description *d, struct tn_error *err);

/*
 * Appends the texts. A package that states its contract itself gets that contract, in the form that was asked for. What
 * could not be found out stands in tenon_package.json under /undetermined. A package whose documents or files are broken
 * has no description: it is refused with all that is broken. Else fails without memory or when a buffer is full.
 */
enum tn_status tn_description_documents(const struct tn_description *d, const struct tn_serial_options *options,
                                        struct tn_buf *metadata, struct tn_buf *package, struct tn_error *err);

#endif
