/*
 * The whole judgement of a standard document in one pass: shape, what its parts mean together and, with a package, the
 * files that it names. Every stage goes on after the faults of the one before; what follows from a broken value is not
 * told as a fault of its own.
 */
#ifndef TN_DESCRIBE_STANDARD_JUDGE_H
#define TN_DESCRIBE_STANDARD_JUDGE_H

#include "describe/standard/standard.h"
#include "package/package.h"

/*
 * Adds all findings and fills *doc, which is to be released with tn_standard_release; doc->marks says what of it must not
 * be relied on. `inv` NULL: the document alone. TN_OK whenever the document could be judged, whatever was found;
 * else TN_INSUFFICIENT_MEMORY, or TN_RESOURCE_LIMIT with a finding, and *doc is zeroed.
 */
enum tn_status tn_standard_judge(struct tn_json root, struct tn_alloc *alloc, const struct tn_inventory *inv,
                                 struct tn_standard *doc, struct tn_findings *findings, struct tn_error *err);

#endif
