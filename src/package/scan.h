/*
 * What the stages of tn_inventory_open share while an inventory is being made: root, walk, sniff, documents, weights,
 * variants, evidence, identity. Private to src/package. Every stage returns a status only for what ends the whole call
 * (memory, a limit of the package); what is wrong with one file becomes a finding tied to that file.
 */
#ifndef TN_PACKAGE_SCAN_H
#define TN_PACKAGE_SCAN_H

#include "package/package.h"

struct tn_onnx_location;

enum { TN_NAME_RANKS = 8 };
enum { TN_SNIFF_BYTES = 4096, TN_ENDS_BYTES = 64 << 10, TN_PATH_BYTES = 4096 };

/* What one file turned out to be beyond its public entry; parallel to inv->files. */
struct tn_scan_file {
    bool skip;                    /* never opened */
    bool readable;
    bool good;                    /* safetensors: the header was read and holds */
    bool used;                    /* belongs to a set or variant already */
    bool taken;                   /* under one of its names; where `same` is the file itself */
    uint32_t same, taken_as;      /* the first of its names, and the one that was taken: indices of files */
    unsigned rank;                /* among its names, TN_NAME_RANKS of them */
    uint32_t member, named;       /* mark of the index that last took it into its set, or named it, without a search */
    uint32_t first_tensor, tensor_count; /* range of scan->raw */
    uint32_t adapter;             /* adapter_config.json: index of its evidence + 1 */
    struct tn_str note;           /* containers that are recognised: one line for people */
    struct tn_str written_for;    /* safetensors: __metadata__/format */
    struct tn_onnx_location *locations; /* onnx: files of external data, unchecked */
    uint32_t location_count;
};

/* A safetensors container set before it becomes a variant or a part. */
struct tn_scan_set {
    struct tn_str folder, stem;
    uint32_t *files;
    uint32_t file_count, index_file;
    uint32_t first_tensor, tensor_count; /* range of inv->tensors */
    bool component; /* stands in a folder that model_index.json names */
};

struct tn_scan {
    const struct tn_context *ctx;
    struct tn_alloc *alloc;
    struct tn_arena *arena; /* the inventory's */
    struct tn_inventory *inv;
    struct tn_error *err;     /* the caller's, for what ends the call */
    struct tn_error *problem; /* scratch for what becomes a finding; never NULL */
    struct tn_buf path;       /* scratch for absolute paths, reserved whole */
    char *head;               /* first bytes of the file at hand, TN_SNIFF_BYTES */

    struct tn_str blobs;  /* absolute folder that links of a snapshot may lead to, "" for none */
    struct tn_str single; /* the only entry of the root to list, "" for all */
    size_t file_cap, evidence_cap, set_cap, finding_cap, variant_cap, part_cap;
    struct tn_scan_file *extra;
    size_t extra_cap;
    struct tn_tensor_list raw; /* tensors of all good headers, in file order */
    struct tn_scan_set *sets;
    uint32_t set_count;
    bool several_names; /* some weights stand there under more than one name */

    struct tn_str *modules; /* folders of modules.json in order, "" for the root */
    uint32_t module_count;
    struct tn_str *components; /* folders that model_index.json names */
    uint32_t component_count;
};

/* ---- stages, in order -------------------------------------------------------------------------------------------- */

/* Decides root, blobs and single from the caller's path. */
enum tn_status tn_scan_root(struct tn_scan *s, const char *path);
/* Fills files (sorted) and extra. */
enum tn_status tn_scan_walk(struct tn_scan *s);
/* Looks into each file: role, format, digests; headers of safetensors into raw. */
enum tn_status tn_scan_sniff(struct tn_scan *s);
/* Reads the JSON documents that conventions are known by; fills evidence, modules, components, adapters. */
enum tn_status tn_scan_recognise(struct tn_scan *s);
/* Finds weights that stand there under several names. */
enum tn_status tn_scan_names(struct tn_scan *s);
/* Groups safetensors files into sets, checks shard indices, fills inv->tensors. */
enum tn_status tn_scan_sets(struct tn_scan *s);
enum tn_status tn_scan_variants(struct tn_scan *s);
enum tn_status tn_scan_manifest(struct tn_scan *s);

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* A finding tied to a file (TN_NO_FILE: the package), its place already set. NULL is fine to write to. */
struct tn_finding *tn_scan_finding(struct tn_scan *s, uint32_t file, enum tn_severity severity, enum tn_status code,
                                   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* scan->problem as a finding. Memory is returned instead: TN_OK means that the finding was taken. */
enum tn_status tn_scan_take(struct tn_scan *s, uint32_t file, enum tn_severity severity, enum tn_status status);

/* Ties the findings from `first` on, which a reader added by itself, to a file. False: no memory. */
bool tn_scan_tie(struct tn_scan *s, size_t first, uint32_t file);

enum tn_status tn_scan_evidence(struct tn_scan *s, const char *dialect, const char *rule, uint32_t file,
                                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A line for people into the inventory's arena, cleaned; .s NULL without memory. Not for paths. */
struct tn_str tn_scan_text(struct tn_scan *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum tn_status tn_scan_memory(struct tn_scan *s);

/* Absolute path of an entry below the root, NUL-terminated, valid until the next call; NULL: too long. */
const char *tn_scan_path(struct tn_scan *s, struct tn_str disk);
/* Index by path, TN_NO_FILE when not listed. */
uint32_t tn_inventory_index(const struct tn_inventory *inv, struct tn_str path);
struct tn_str tn_base_name(struct tn_str path);
/* The nearest folder upwards that has a config.json, else the root. */
struct tn_str tn_scan_config_folder(struct tn_scan *s, struct tn_str place);
/* A file becomes part of a set or variant; whether it already is, under this name or another. */
void tn_scan_claim(struct tn_scan *s, uint32_t file);
bool tn_scan_is_taken(const struct tn_scan *s, uint32_t file);
/* Says of a taken file that this is another name of it. */
void tn_scan_note_name(struct tn_scan *s, uint32_t file);
/* Whether the name is one that people write and programs do not read: readme, licence, picture. */
bool tn_name_is_document(struct tn_str path);
/* What often stands in a weight file's place: the start of a file decides. */
bool tn_head_is_lfs(struct tn_str head);
bool tn_head_is_html(struct tn_str head);
/* What stands in a file's place: TN_ARTIFACT_MISSING with this message, whatever kind of file it is. */
#define TN_STAND_IN "the file is not here, only something in its place"
/* Fills found and remedy when the head is one of the two. */
bool tn_describe_stand_in(struct tn_finding *f, struct tn_str head);
bool tn_ends_fold(struct tn_str s, const char *suffix); /* ASCII case does not matter */
bool tn_contains_fold(struct tn_str s, const char *part);

/* ---- safetensors sets -------------------------------------------------------------------------------------------- */

/* "model-00002-of-00004" + suffix: stem "model", number 2, total 4, width 5. False: not numbered, stem is all. */
struct tn_shard_name {
    struct tn_str stem;
    uint32_t number, total, width;
};
bool tn_shard_name(struct tn_str path, const char *suffix, struct tn_shard_name *out);
/* A new empty set; NULL without memory. */
struct tn_scan_set *tn_scan_add_set(struct tn_scan *s, struct tn_str folder, struct tn_str stem);
/* Copies the tensors of the set's good files into inv->tensors, sorts them, reports names that occur twice. */
enum tn_status tn_scan_set_tensors(struct tn_scan *s, struct tn_scan_set *set);
/* The set of one shard index, checked against the headers in both directions. `mark` is unique per index. */
enum tn_status tn_scan_index(struct tn_scan *s, uint32_t index_file, uint32_t mark);

/* ---- container headers, each into facts and a line for people ---------------------------------------------------- */

/*
 * The safetensors reader behind tn_safetensors_read: problems go to `findings`. `problem` is scratch and may be NULL.
 * A status other than TN_OK ends everything (memory, the limit of tensors); *good says whether the header holds.
 * *written_for gets __metadata__/format ("pt", "mlx"), "" when there is none.
 */
enum tn_status tn_safetensors_scan(const struct tn_context *ctx, const struct tn_source *source, uint32_t file,
                                   struct tn_arena *arena, struct tn_tensor_list *list, struct tn_digest *header_digest,
                                   struct tn_findings *findings, struct tn_error *problem, bool *good,
                                   struct tn_str *written_for);
/* Verdict over facts: bytes against shape and type, ranges that tile [0, data_bytes). Makes offsets absolute. */
void tn_safetensors_check(struct tn_findings *findings, const struct tn_source *source, const struct tn_limits *limits,
                          struct tn_tensor_info *items, size_t count, uint32_t *order, uint64_t data_begin);

#endif
