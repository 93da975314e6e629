/*
 * Semantic identity of an inference-metadata document: one digest for all documents that say the same. It is identity
 * and not integrity: nothing about who wrote a document or which bytes stand beside it.
 *
 * Computed over the document as parsed, JSON or YAML, before anything is read from it. Normalisation: keys sorted by
 * their bytes, null dropped, containers that come out empty dropped, profiles with requirement "ignorable" dropped,
 * numbers by value; then compact JSON and SHA-256.
 */
#ifndef TN_DESCRIBE_STANDARD_IDENTITY_H
#define TN_DESCRIBE_STANDARD_IDENTITY_H

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"

#define TN_STANDARD_IDENTITY_SCHEME "onnx-genai-metadata-identity-v1:sha256"

/* The scheme, a colon, the digest in hexadecimal, and NUL. */
enum { TN_STANDARD_IDENTITY_TEXT = sizeof(TN_STANDARD_IDENTITY_SCHEME) + TN_SHA256_HEX };

/* TN_INSUFFICIENT_MEMORY, or TN_RESOURCE_LIMIT for a document that nests deeper than any standard document can. */
enum tn_status tn_standard_identity(struct tn_json root, struct tn_alloc *alloc, struct tn_digest *out,
                                    struct tn_error *err);
/* Into text[TN_STANDARD_IDENTITY_TEXT]; returns it. */
char *tn_standard_identity_text(const struct tn_digest *digest, char *text);

#endif
