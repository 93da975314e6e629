/*
 * The one reader for untrusted YAML: one document of YAML 1.2 with the core schema, into the same struct tn_json_doc that
 * the JSON reader fills. Everything that reads a document works on either: pointers, typed reads, and the text of a value,
 * which is JSON here too (tn_json_text). tn_json_offset and the places of errors are byte offsets in the YAML text;
 * messages also carry line and column, both counted from 1.
 *
 * What has two readings is refused instead of guessed, always as TN_ARTIFACT_MALFORMED with its place:
 *
 *   - several documents, or none; `%YAML` other than 1.2 (1.1 reads `yes`, `010` and `1:30` as something else);
 *   - duplicate keys, compared as strings; merge keys (`<<`); keys that are lists or mappings; numbers, booleans and null
 *     as keys unless they are integers or words spelled as JSON spells them (`0x10: a`, `~: a`, `1.0: a` are not):
 *     quoting such a key settles it;
 *   - tags other than the core ones that agree with their value; `.inf` and `.nan`, which JSON does not have; integers in
 *     base 8 or 16 beyond 64 bits;
 *   - aliases to what is not complete yet or was never anchored;
 *   - text that is not UTF-8, control characters, a byte order mark elsewhere than at the start, the three line breaks
 *     (U+0085, U+2028, U+2029) that YAML 1.1, and so libyaml, folds and YAML 1.2 does not, and a carriage return without
 *     a line feed, which readers of 1.2 take for either.
 *
 * Plain scalars: null, true, false (three spellings of each), `~`, nothing, integers, `0o17`, `0x1F`, floats. The JSON text
 * of a number has the same value: `+07` is 7, `.5` is 0.5, `0x1F` is 31; decimal integers keep all their digits. All else
 * is a string, and so is everything quoted; `yes`, `on` and `2026-01-01` are strings.
 *
 * Ceilings (base/limits.h; TN_RESOURCE_LIMIT with what was found and the limit): yaml_bytes, yaml_scalar_bytes,
 * yaml_anchors, yaml_expansion, yaml_directives, name_bytes for keys and anchors, json_depth, json_nodes, json_bytes. An
 * alias copies what its anchor holds; copies count as nodes and as expansion, so an alias bomb ends at the limit.
 *
 * Memory: the document and all that is ours come from `alloc`. libyaml has no hook for an allocator: while the call lasts
 * it takes memory from the C library that `alloc` neither counts nor refuses: 0.07 MB, plus twice the document for a huge
 * scalar and four times for a huge tag (measured; 2x in all on ordinary documents). Therefore yaml_bytes is small. When
 * that memory runs out it is TN_INSUFFICIENT_MEMORY like any other. Nothing of it outlives the call.
 *
 * Not recursive; no globals; the locale does not matter. Documents may be parsed in several threads at once.
 */
#ifndef TN_BASE_YAML_H
#define TN_BASE_YAML_H

#include "base/json.h"

/*
 * Parses a copy: `text` need not outlive the document. `file` names it in errors. On failure *doc is released and zeroed.
 * Release with tn_json_release.
 */
enum tn_status tn_yaml_parse(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                             struct tn_str file, struct tn_str text, struct tn_error *err);

/* TN_RESOURCE_LIMIT when a document of that size would be refused: to be asked before a file is read. */
enum tn_status tn_yaml_check_size(const struct tn_limits *limits, struct tn_str file, uint64_t size_bytes,
                                  struct tn_error *err);

/* Whether a path ends in .yaml or .yml. */
bool tn_yaml_named(struct tn_str path);

#endif
