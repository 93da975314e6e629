/* The description in the inference-metadata form. Internal to src/describe. */
#ifndef TN_DESCRIBE_STANDARD_WRITE_H
#define TN_DESCRIBE_STANDARD_WRITE_H

#include "base/json_write.h"
#include "describe/describe.h"

/* One object: the document that goes beside tenon_package.json. */
void tn_standard_document_write(struct tn_json_writer *w, const struct tn_description *d);

#endif
