/*
 * Golden files: the answers of an implementation that is not ours, with the procedure that made them. JSON:
 *
 *   certificate     script, seed, versions, input_sha256: who made it, and how to make it again
 *   package_files   {"model.safetensors": SHA-256, ...}: the files whose contents the answers depend on
 *   cases           [{text, embedding, ids, type_ids?, tokens_untruncated?,
 *                     prompt_name?, normalize_embeddings?, truncate_dim?}]; the last three are what was asked for
 *   stages          optional, one text through the pipeline: {ids, type_ids?, embeddings [tokens][hidden],
 *                     layers [[tokens][hidden]], modules [{index, output [width]}]}
 *
 * Without package_files the certificate's input_sha256 must be the digest of the whole package folder: for every file
 * in the order of its path's parts the bytes PATH NUL SIZE-IN-DECIMAL NUL CONTENTS. Other members are for people.
 */
#ifndef TN_QUALIFY_GOLDEN_H
#define TN_QUALIFY_GOLDEN_H

#include "base/context.h"
#include "base/hash.h"
#include "base/json.h"
#include "package/package.h"

struct tn_golden {
    struct tn_json_doc doc;
    struct tn_json cases; /* array */
    struct tn_json stages; /* object, or absent */
    struct tn_digest digest; /* of the file */
    struct tn_str certificate; /* JSON text, or "" */
    size_t count;
    bool present;
};

/* Reads the file and checks its form. Release in any case. */
enum tn_status tn_golden_open(struct tn_golden *g, const struct tn_context *ctx, const char *path, struct tn_error *err);
void tn_golden_release(struct tn_golden *g);
/* TN_ARTIFACT_STALE when the golden belongs to another package. Reads every file that it names. */
enum tn_status tn_golden_belongs(const struct tn_golden *g, const struct tn_inventory *inv,
                                 const struct tn_cancel *cancel, struct tn_error *err);

struct tn_golden_case {
    struct tn_str text;
    struct tn_json ids, type_ids, embedding; /* arrays; type_ids may be absent or null */
    bool prompt_named;
    struct tn_str prompt_name;
    bool normalize;
    uint64_t truncate_dim; /* 0: none */
    uint64_t tokens_total; /* before truncation; 0: not stated */
};

/* A case of g->cases. TN_METADATA_INVALID names the member. */
enum tn_status tn_golden_read_case(struct tn_json v, struct tn_golden_case *out, struct tn_error *err);

#endif
