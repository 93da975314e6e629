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
#include "base/json_write.h"
#include "base/os.h"
#include "base/source.h"

/*
 * X(enumerator, name in JSON, spelling in safetensors, bits per element). All element types that the container has been
 * published with: those that no kernel reads yet are named and measured all the same. UNKNOWN is a spelling that we
 * have never heard of: such a tensor is listed with the bytes that it claims, and its file carries a blocker.
 */
#define TN_DTYPE_LIST(X)                                                                           \
    X(F64, "f64", "F64", 64)                                                                       \
    X(F32, "f32", "F32", 32)                                                                       \
    X(F16, "f16", "F16", 16)                                                                       \
    X(BF16, "bf16", "BF16", 16)                                                                    \
    X(F8_E4M3, "f8_e4m3", "F8_E4M3", 8)                                                            \
    X(F8_E5M2, "f8_e5m2", "F8_E5M2", 8)                                                            \
    X(F8_E8M0, "f8_e8m0", "F8_E8M0", 8)                                                            \
    X(F8_E4M3FNUZ, "f8_e4m3fnuz", "F8_E4M3FNUZ", 8)                                                \
    X(F8_E5M2FNUZ, "f8_e5m2fnuz", "F8_E5M2FNUZ", 8)                                                \
    X(F6_E2M3, "f6_e2m3", "F6_E2M3", 6)                                                            \
    X(F6_E3M2, "f6_e3m2", "F6_E3M2", 6)                                                            \
    X(F4, "f4", "F4", 4)                                                                           \
    X(C64, "c64", "C64", 64)                                                                       \
    X(I64, "i64", "I64", 64)                                                                       \
    X(I32, "i32", "I32", 32)                                                                       \
    X(I16, "i16", "I16", 16)                                                                       \
    X(I8, "i8", "I8", 8)                                                                           \
    X(U64, "u64", "U64", 64)                                                                       \
    X(U32, "u32", "U32", 32)                                                                       \
    X(U16, "u16", "U16", 16)                                                                       \
    X(U8, "u8", "U8", 8)                                                                           \
    X(BOOL, "bool", "BOOL", 8)                                                                     \
    X(UNKNOWN, "unknown", "", 0)

enum tn_dtype {
#define X(name, text, spelling, bits) TN_DTYPE_##name,
    TN_DTYPE_LIST(X)
#undef X
    TN_DTYPE_COUNT
};

const char *tn_dtype_name(enum tn_dtype dtype);
unsigned tn_dtype_bits(enum tn_dtype dtype);
/* Bytes of one element; 0 for types smaller than a byte and for UNKNOWN: not readable element by element. */
size_t tn_dtype_bytes(enum tn_dtype dtype);
/* By the container's spelling ("BF16"); TN_DTYPE_UNKNOWN when there is no such type. */
enum tn_dtype tn_dtype_of_safetensors(struct tn_str spelling);

enum { TN_MAX_RANK = 8 };
#define TN_NO_FILE UINT32_MAX

/* What a file is, decided by its contents and place, not by its name alone. */
#define TN_FILE_ROLE_LIST(X)                                                                       \
    X(UNKNOWN, "unknown")            /* neither contents nor place say what it is */               \
    X(CONFIG, "config")              /* JSON or YAML document that describes behaviour */          \
    X(TOKENIZER, "tokenizer")        /* tokenizer.json, vocab.txt, merges, sentencepiece ... */    \
    X(SAFETENSORS, "safetensors")                                                                  \
    X(SAFETENSORS_INDEX, "safetensors_index")                                                      \
    X(GGUF, "gguf")                                                                                \
    X(ONNX, "onnx")                                                                                \
    X(ONNX_DATA, "onnx_data")                                                                      \
    X(OPENVINO, "openvino")          /* the .xml and its .bin */                                   \
    X(PICKLE, "pickle")              /* named, never opened beyond its first bytes */              \
    X(WEIGHTS, "weights")            /* another weight container that we can name: npz, hdf5 ... */ \
    X(METADATA, "metadata")          /* inference_metadata.* and tenon_package.json */             \
    X(CODE, "code")                                                                                \
    X(DOCUMENT, "document")          /* readme, licence, picture: descriptive */                   \
    X(OTHER, "other")                /* hidden files and droppings of tools: never opened */       \
    X(ONNX_TEXT, "onnx_text")        /* a graph in protobuf's text form: inspected, never executed */

enum tn_file_role {
#define X(name, text) TN_ROLE_##name,
    TN_FILE_ROLE_LIST(X)
#undef X
};

const char *tn_file_role_name(enum tn_file_role role);

struct tn_package_file {
    struct tn_str path; /* inside the package, '/' separated, clean UTF-8 */
    struct tn_str disk; /* the same as the system spells it; differs from `path` only where a name had to be cleaned */
    uint64_t size;
    enum tn_file_role role;
    const char *format; /* "safetensors", "gguf", "torch_zip", "npz", ... or "" when nothing was recognised */
    struct tn_file_stamp stamp;
    bool link;          /* the entry is a link to the file */
    bool malformed;     /* not what it claims to be; the reason is among the findings already, so do not add it again */
    bool have_digest;   /* documents: SHA-256 of the contents */
    struct tn_digest digest;
    bool have_header;   /* containers: SHA-256 of the header (safetensors), or of the first and last 64 KiB */
    struct tn_digest header;
};

/* One tensor of a container header. Offsets are absolute in the file and were checked against its size. */
struct tn_tensor_info {
    struct tn_str name;
    uint32_t file; /* index into files */
    enum tn_dtype dtype;
    uint32_t rank;
    uint64_t shape[TN_MAX_RANK];
    uint64_t offset, bytes; /* the container promises no alignment */
};

/*
 * A complete alternative: one weight container set with what belongs to it. A file that stands there under several
 * names of one configuration (links, hard links) is one; its other names are noted. The ids:
 *
 *   "safetensors"                    the set of a folder whose stem is "model", or its only set; in a folder other than
 *   "FOLDER/safetensors"             the root the folder comes first
 *   "onnx/model_quantized.onnx"      any other container, and further safetensors sets: the path of its (first) file
 *   "pytorch_pickle"                 all pickles of a folder are one set, since nobody looks inside
 *   "diffusers", "diffusers.fp16"    the component folders that model_index.json names, one per suffix
 */
struct tn_variant {
    struct tn_str id;        /* stable within the package */
    struct tn_str container; /* "safetensors", "gguf", "onnx", "openvino_ir", "pytorch_pickle", "peft_adapter", ... */
    struct tn_str folder;    /* inside the package, "" for the root: the nearest one with a config.json, else its own */
    struct tn_str place;     /* the folder of its first file */
    struct tn_str what;      /* one line for people: "2 files, 90.9 MB, f32" */
    bool executable;         /* whether a provider of this build can read the container */
    bool graph;              /* carries its own computation; as a choice it yields to weights that a family computes with */
    uint32_t *files;         /* indices of its weight files */
    uint32_t file_count;
    uint32_t index_file;     /* the shard index, or TN_NO_FILE */
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
    struct tn_str root;   /* absolute path without links, as opened; NUL-terminated */
    struct tn_str shown;  /* as the caller wrote it */
    struct tn_package_file *files; /* sorted by path */
    uint32_t file_count;
    struct tn_tensor_info *tensors;
    uint32_t tensor_count;
    struct tn_variant *variants; /* sorted by id; executable weights first, then executable graphs */
    uint32_t variant_count;
    /*
     * Weights that belong to every variant and are no choice: the folders that modules.json names after its first
     * module ("2_Dense"). Same shape as a variant; `place` is the module's folder. See tn_inventory_part.
     */
    struct tn_variant *parts;
    uint32_t part_count;
    struct tn_evidence *evidence;
    uint32_t evidence_count;
    struct tn_findings findings; /* problems and notes of inventory, all of them */
    uint32_t *finding_files;     /* beside findings.items: the file that each is tied to, TN_NO_FILE: the package */
    struct tn_digest manifest;   /* identity: small files by hash, weight containers by header hash and size */
};

/*
 * `path` is a folder, a single file (nothing around it is guessed), a repository folder of the Hugging Face cache
 * ("models--org--name": the snapshot of refs/main, or the only one) or one of its snapshots.
 *
 * Fails only when nothing can be listed (TN_ARTIFACT_MISSING, TN_PATH_ESCAPE), when several snapshots leave a choice
 * (TN_AMBIGUOUS_PACKAGE), at a limit (TN_RESOURCE_LIMIT: files, directory_depth, tensors) or without memory; everything
 * else becomes findings. Reads headers and small documents, in parallel with nothing. The context must outlive the
 * inventory.
 *
 * What is looked at: hidden folders (.git, .cache) and __pycache__ are skipped and counted in a note; hidden files and
 * droppings of tools (*~, *.tmp, *.incomplete, *.lock) are listed as "other" and never opened. Links must end inside
 * the package, or, for a snapshot, in its repository's own blobs. Links to folders inside the package are not followed,
 * since what they lead to is listed already.
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
/* The folder of a path, "" for the root; a view. */
struct tn_str tn_package_folder(struct tn_str path);
/*
 * A file name that a document of the package gives, relative to `folder`, as a path inside the package: every field
 * that names a file goes through here. TN_PATH_ESCAPE for an absolute name, "..", a backslash or a NUL; the caller adds
 * the place. "." and doubled or closing slashes are removed; "" is the folder itself.
 */
enum tn_status tn_package_reference(struct tn_arena *arena, struct tn_str folder, struct tn_str name,
                                    struct tn_str *out, struct tn_error *err);

/*
 * The variant to use: `id` or, when NULL, the only one that is executable (graphs count where there are no executable
 * weights), or the only one. Several:
 * TN_AMBIGUOUS_PACKAGE whose findings list the ids with what each is. None: TN_ARTIFACT_MISSING. Pure choice: does not
 * look at `executable` of a variant that was asked for by name.
 */
enum tn_status tn_inventory_variant(const struct tn_inventory *inv, const char *id, const struct tn_variant **out,
                                    struct tn_error *err);
/* The weights of a module's folder (an executable set first), or NULL when it has none. */
const struct tn_variant *tn_inventory_part(const struct tn_inventory *inv, struct tn_str folder);
/* Tensor of a variant or part by name (binary search), or NULL. */
const struct tn_tensor_info *tn_variant_tensor(const struct tn_inventory *inv, const struct tn_variant *variant,
                                               struct tn_str name);
/*
 * Appends the findings that concern a use of this variant: all but those tied to files of other variants alone. A
 * broken ONNX export does not stand in the way of good safetensors. variant NULL: all.
 */
void tn_inventory_findings(const struct tn_inventory *inv, const struct tn_variant *variant, struct tn_findings *out);

/*
 * A weight file held open with its stamp checked, and mapped read-only.
 *
 * Policy. A file that another process cuts while it is mapped raises SIGBUS on access, and no check beforehand can
 * exclude that. So what reads weights from files that it does not control uses tn_mapping_read: it copies through the
 * open file, and a short or changed file is TN_ARTIFACT_STALE. Views through `base` are for files that nobody writes (a
 * read-only mount, our own private cache): the caller checks before and after (tn_mapping_check), and a cut between the
 * two remains its risk. A file that is replaced by rename raises nothing: the open one stays, and is reported as stale.
 */
struct tn_mapping {
    struct tn_os_file file;
    const unsigned char *base; /* NULL for an empty file */
    uint64_t size;
};
enum tn_status tn_inventory_map(const struct tn_inventory *inv, uint32_t file, struct tn_mapping *out,
                                struct tn_error *err);
void tn_mapping_close(struct tn_mapping *m);
/* TN_ARTIFACT_STALE when the file behind the map has changed or shrunk since it was inventoried. */
enum tn_status tn_mapping_check(const struct tn_inventory *inv, uint32_t file, const struct tn_mapping *m,
                                struct tn_error *err);
/* Copies n bytes at offset; never a signal. Check once after the last read that the file is still the same. */
enum tn_status tn_mapping_read(const struct tn_inventory *inv, uint32_t file, const struct tn_mapping *m,
                               uint64_t offset, void *dst, size_t n, struct tn_error *err);

/*
 * Identity "manifest" covers path, role and size of every file except descriptive ones (role document) and ignored ones
 * (role other), the contents of documents, and of weight containers the header. It does not know times, links, the
 * package's place, or bytes in the middle of weights.
 *
 * Identity "closure": SHA-256 over path and contents of the same files. Reads everything in blocks of 1 MiB.
 */
enum tn_status tn_inventory_closure(const struct tn_inventory *inv, const struct tn_cancel *cancel,
                                    struct tn_digest *out, struct tn_error *err);

/* Members variants, evidence, tensors, files, findings of the inspect document, inside the caller's object. */
void tn_inventory_write(struct tn_json_writer *w, const struct tn_inventory *inv);
/* The same with another list in the place of the inventory's own findings: theirs and those of later stages. */
void tn_inventory_write_with(struct tn_json_writer *w, const struct tn_inventory *inv,
                             const struct tn_findings *findings);

/* ---- safetensors reader, also used alone by tests and fuzzing ---------------------------------------------------- */

/*
 * Parses and validates one header: 8-byte length, JSON, dtypes, shapes, ranges that tile the data area exactly without
 * overlap or hole. Appends tensors (names copied into arena) in the header's order; nothing is appended on failure, and
 * err then carries every problem of the file. *header_digest is the SHA-256 of the length and header bytes.
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
