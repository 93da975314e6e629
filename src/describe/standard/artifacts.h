/*
 * The package half of validating a standard document: what the document says of files is held against the files. The
 * document alone is the business of check.h; run that first.
 */
#ifndef TN_DESCRIBE_STANDARD_ARTIFACTS_H
#define TN_DESCRIBE_STANDARD_ARTIFACTS_H

#include "describe/standard/standard.h"
#include "package/package.h"

/*
 * All findings of one pass, each at the pointer in the document, with the element of the graph or container in what was
 * found:
 *
 *   - every field that names a file: the name stays inside the package (path_escape), the file is there, is a regular
 *     file and was listed by the inventory (artifact_missing, or what the inventory found in its place);
 *   - graphs of components: readable, versions and external data in order (tn_onnx_check); declared ports exist with the
 *     same type, rank and fixed extents, symbols of one component unify; a graph input that must be fed is declared, or,
 *     where the component declares no inputs, bound by every invocation; ports that roles, contracts and state groups
 *     name exist;
 *   - adapters: targets exist in their component's graph and have its shapes; each weight file holds A and B of each
 *     binding with the rank and features that the document states, and nothing else; adapter_config.json agrees.
 *
 * Names are relative to the folder of the document. Reads headers only. TN_OK whenever the check could be carried out,
 * whatever it found; else TN_INSUFFICIENT_MEMORY.
 */
enum tn_status tn_standard_check_artifacts(const struct tn_standard *doc, const struct tn_inventory *inv,
                                           struct tn_findings *findings, struct tn_error *err);

#endif
