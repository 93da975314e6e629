/*
 * Package: which bytes are here. Opens a directory, a single file or a Hugging Face cache snapshot, lists every file,
 * reads container headers, recognises conventions by evidence, and computes identities. Never the network, never code,
 * never the meaning of a configuration (that is src/describe). Everything in a package is untrusted.
 *
 * A struct tn_inventory is immutable after tn_inventory_open; read it from any thread.
 */
#ifndef TN_PACKAGE_PACKAGE_H
#define TN_PACKAGE_PACKAGE_H

#include "base/arena.h"
#include "base/context.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/os.h"
#include "base/source.h"

/* X(enumerator, name in JSON, bytes per block, elements per block). Only what safetensors can store, for now. */
#define TN_DTYPE_LIST(X)                                                                           \
    X(F64, "f64", 8)                                                                               \
    X(F32, "f32", 4)                                                                               \
    X(F16, "f16", 2)                                                                               \
    X(BF16, "bf16", 2)                                                                             \
    X(F8_E4M3, "f8_e4m3", 1)                                                                       \
    X(F8_E5M2, "f8_e5m2", 1)                                                                       \
    X(I64, "i64", 8)                                                                               \
    X(I32, "i32", 4)                                                                               \
    X(I16, "i16", 2)                                                                               \
    X(I8, "i8", 1)                                                                                 \
    X(U64, "u64", 8)                                                                               \
    X(U32, "u32", 4)                                                                               \
    X(U16, "u16", 2)                                                                               \
    X(U8, "u8", 1)                                                                                 \
    X(BOOL, "bool", 1)

enum tn_dtype {
#define X(name, text, bytes) TN_DTYPE_##name,
    TN_DTYPE_LIST(X)
#undef X
    TN_DTYPE_COUNT
};

const char *tn_dtype_name(enum tn_dtype dtype);
size_t tn_dtype_bytes(enum tn_dtype dtype);

enum { TN_MAX_RANK = 8 };

/* What a file is, decided by its contents and place, not by its name alone. */
#define TN_FILE_ROLE_LIST(X)                                                                       \
    X(UNKNOWN, "unknown")                                                                          \
    X(CONFIG, "config")              /* JSON document that describes behaviour */                  \
    X(TOKENIZER, "tokenizer")        /* tokenizer.json, vocab.txt, merges, sentencepiece ... */    \
    X(SAFETENSORS, "safetensors")                                                                  \
    X(SAFETENSORS_INDEX, "safetensors_index")                                                      \
    X(GGUF, "gguf")                                                                                \
    X(ONNX, "onnx")                                                                                \
    X(ONNX_DATA, "onnx_data")                                                                      \
    X(OPENVINO, "openvino")                                                                        \
    X(PICKLE, "pickle")              /* named, never opened */                                     \
    X(METADATA, "metadata")          /* inference_metadata.* and tenon_package.json */             \
    X(CODE, "code")                                                                                \
    X(DOCUMENT, "document")          /* readme, licence: descriptive */                            \
    X(OTHER, "other")

enum tn_file_role {
#define X(name, text) TN_ROLE_##name,
    TN_FILE_ROLE_LIST(X)
#undef X
};

struct tn_package_file {
    struct tn_str path; /* inside the package, '/' separated, clean UTF-8 */
    uint64_t size;
    enum tn_file_role role;
    struct tn_file_stamp stamp;
    bool have_digest; /* small documents: SHA-256 of the contents */
    struct tn_digest digest;
};

/* One tensor of a container header. Offsets are absolute in the file and were checked against its size. */
struct tn_tensor_info {
    struct tn_str name;
    uint32_t file; /* index into files */
    enum tn_dtype dtype;
    uint32_t rank;
    uint64_t shape[TN_MAX_RANK];
    uint64_t offset, bytes;
};

/* A complete alternative: one weight container set with what belongs to it. */
struct tn_variant {
    struct tn_str id;        /* stable within the package: "safetensors", "onnx/model_quantized.onnx", ... */
    struct tn_str container; /* "safetensors", "gguf", "onnx", "openvino_ir", "pytorch_pickle", ... */
    struct tn_str folder;    /* inside the package, "" for the root: where its config.json stands */
    struct tn_str what;      /* one line for people: "2 shards, 90.9 MB, f32" */
    bool executable;         /* whether a provider of this build can read the container */
    uint32_t *files;         /* indices of its weight files */
    uint32_t file_count;
    uint32_t first_tensor, tensor_count; /* range of `tensors`, sorted by name */
    uint64_t bytes;
};

/* Why we think that the package follows a convention. */
struct tn_evidence {
    struct tn_str dialect; /* "transformers", "sentence_transformers", "gguf", "onnx", "diffusers", ... */
    struct tn_str rule;    /* id of the rule that saw it, e.g. "st.modules_json" */
    struct tn_str file;
    struct tn_str detail;
};

struct tn_inventory {
    const struct tn_context *ctx;
    struct tn_arena arena;
    struct tn_str root;   /* absolute path without links, as opened */
    struct tn_str shown;  /* as the caller wrote it */
    struct tn_package_file *files; /* sorted by path */
    uint32_t file_count;
    struct tn_tensor_info *tensors;
    uint32_t tensor_count;
    struct tn_variant *variants;
    uint32_t variant_count;
    struct tn_evidence *evidence;
    uint32_t evidence_count;
    struct tn_findings findings; /* problems and notes of inventory, all of them */
    struct tn_digest manifest;   /* identity: small files by hash, weight containers by header hash and size */
};

/*
 * Fails only when nothing can be listed or a limit is reached; everything else becomes findings. Reads headers and
 * small documents, in parallel with nothing. The context must outlive the inventory.
 */
enum tn_status tn_inventory_open(const struct tn_context *ctx, const char *path, struct tn_inventory **out,
                                 struct tn_error *err);
void tn_inventory_free(struct tn_inventory *inv);

/* File by path inside the package, or NULL. */
const struct tn_package_file *tn_inventory_file(const struct tn_inventory *inv, struct tn_str path);
/* Opens a listed file again and checks that its stamp is still the one of the inventory (else TN_ARTIFACT_STALE). */
enum tn_status tn_inventory_open_file(const struct tn_inventory *inv, const struct tn_package_file *file,
                                      struct tn_os_file *out, struct tn_error *err);
/* Whole document; free with tn_free(inv->ctx->alloc, ...). TN_ARTIFACT_MISSING when it is not listed. */
enum tn_status tn_inventory_read(const struct tn_inventory *inv, struct tn_str path, struct tn_str *out,
                                 struct tn_error *err);
/* Reads and parses a JSON document of the package; the document owns a copy of the text. */
enum tn_status tn_inventory_json(const struct tn_inventory *inv, struct tn_str path, struct tn_json_doc *out,
                                 struct tn_error *err);
/* "folder/name", or "name" when folder is empty; into the given arena. .s NULL: out of memory. */
struct tn_str tn_package_join(struct tn_arena *arena, struct tn_str folder, struct tn_str name);

/*
 * The variant to use: `id` or, when NULL, the only one that is executable, or the only one. Several: TN_AMBIGUOUS_PACKAGE
 * whose message lists the ids with what each is. None: TN_ARTIFACT_MISSING. Pure choice: does not look at `executable`
 * of a variant that was asked for by name.
 */
enum tn_status tn_inventory_variant(const struct tn_inventory *inv, const char *id, const struct tn_variant **out,
                                    struct tn_error *err);
/* Tensor of a variant by name (binary search), or NULL. */
const struct tn_tensor_info *tn_variant_tensor(const struct tn_inventory *inv, const struct tn_variant *variant,
                                               struct tn_str name);

/* A safetensors file mapped read-only with its stamp checked; views into it are valid until unmapped. */
struct tn_mapping {
    struct tn_os_file file;
    const unsigned char *base;
    uint64_t size;
};
enum tn_status tn_inventory_map(const struct tn_inventory *inv, uint32_t file, struct tn_mapping *out,
                                struct tn_error *err);
void tn_mapping_close(struct tn_mapping *m);
/* TN_ARTIFACT_STALE when the file behind the map has changed or shrunk since it was inventoried. */
enum tn_status tn_mapping_check(const struct tn_inventory *inv, uint32_t file, const struct tn_mapping *m,
                                struct tn_error *err);

/* Identity "closure": SHA-256 over path and contents of every file that can change an answer. Reads everything. */
enum tn_status tn_inventory_closure(const struct tn_inventory *inv, const struct tn_cancel *cancel,
                                    struct tn_digest *out, struct tn_error *err);

/* Members variants, evidence, tensors, files, findings of the inspect document, inside an object begun by the caller. */
void tn_inventory_write(struct tn_json_writer *w, const struct tn_inventory *inv);

/* ---- safetensors reader, also used alone by tests and fuzzing -------------------------------------------------- */

/*
 * Parses and validates one header: 8-byte length, JSON, dtypes, shapes, ranges that tile the data area exactly without
 * overlap or hole. Appends tensors (names copied into arena) to a growable array in the caller's arena order.
 * *header_digest is the SHA-256 of the length and header bytes.
 */
struct tn_tensor_list {
    struct tn_alloc *alloc;
    struct tn_tensor_info *items; /* tn_free */
    size_t count, cap;
};
enum tn_status tn_safetensors_read(const struct tn_context *ctx, const struct tn_source *source, uint32_t file,
                                   struct tn_arena *arena, struct tn_tensor_list *list, struct tn_digest *header_digest,
                                   struct tn_error *err);

#endif
