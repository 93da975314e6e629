/*
 * What each file is, by its first bytes and its place; the name is a hypothesis that the contents must bear out. Each
 * file is opened once: for the first 4 KiB, and then what its kind needs (a whole document, a safetensors header, both
 * ends of another container). Pickles are never decoded. Contents are hostile.
 */
#include "package/scan.h"

#include "package/gguf.h"
#include "package/onnx.h"

#include <string.h>

struct sniff {
    struct tn_scan *s;
    uint32_t index;
    struct tn_package_file *file;
    struct tn_scan_file *extra;
    struct tn_os_file *open;
    struct tn_source source;
    struct tn_str head, name;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool tn_contains_fold(struct tn_str s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.n; i++) {
        size_t k = 0;
        while (k < n && lower(s.s[i + k]) == part[k]) k++;
        if (k == n) return true;
    }
    return false;
}

bool tn_ends_fold(struct tn_str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && tn_contains_fold((struct tn_str){s.s + (s.n - n), n}, suffix);
}

static bool ends_with_any(struct tn_str name, const char *const *ends)
{
    for (; *ends; ends++) {
        if (tn_ends_fold(name, *ends)) return true;
    }
    return false;
}

static bool is_any(struct tn_str name, const char *const *names)
{
    for (; *names; names++) {
        if (tn_str_is(name, *names)) return true;
    }
    return false;
}

bool tn_name_is_document(struct tn_str path)
{
    static const char *const ends[] = {".md",  ".rst", ".pdf", ".png",  ".jpg",   ".jpeg",     ".gif",
                                       ".svg", ".bib", ".cff", ".webp", ".ipynb", ".tfevents", NULL};
    static const char *const words[] = {"readme",  "license",    "licence",   "notice",
                                        "copying", "use_policy", "changelog", NULL};
    struct tn_str name = tn_base_name(path);
    if (ends_with_any(name, ends)) return true;
    for (size_t i = 0; words[i]; i++) {
        struct tn_str start = {name.s, name.n < strlen(words[i]) ? name.n : strlen(words[i])};
        bool plain = !memchr(name.s, '.', name.n) || tn_ends_fold(name, ".txt");
        if (plain && tn_ends_fold(start, words[i])) return true;
    }
    return false;
}

/* ---- kinds by contents ------------------------------------------------------------------------------------------- */

static bool head_has(const struct sniff *f, size_t at, const void *bytes, size_t n)
{
    return f->head.n >= at + n && memcmp(f->head.s + at, bytes, n) == 0;
}

static bool head_contains(const struct sniff *f, const char *part, size_t within)
{
    struct tn_str start = {f->head.s, f->head.n < within ? f->head.n : within};
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= start.n; i++) {
        if (memcmp(start.s + i, part, n) == 0) return true;
    }
    return false;
}

static bool is_safetensors(const struct sniff *f)
{
    uint64_t length = 0;
    if (f->head.n < 10 || f->head.s[8] != '{' || (f->head.s[9] != '"' && f->head.s[9] != '}')) return false;
    for (size_t i = 8; i-- > 0;) length = length << 8 | (unsigned char)f->head.s[i];
    return length >= 2 && length < UINT64_C(1) << 48;
}

/* Name of the first entry of a zip archive, from its local header. */
static struct tn_str first_entry(const struct sniff *f)
{
    if (!head_has(f, 0, "PK\x03\x04", 4) || f->head.n < 30) return TN_STR("");
    size_t n = (size_t)(unsigned char)f->head.s[26] | (size_t)(unsigned char)f->head.s[27] << 8;
    if (n > f->head.n - 30) n = f->head.n - 30;
    return (struct tn_str){f->head.s + 30, n};
}

/* Protocol byte of a pickle of version 2 or later, or the archive that newer torch writes around one. */
static const char *pickle_format(const struct sniff *f)
{
    struct tn_str entry = first_entry(f);
    if (tn_str_ends(entry, "/data.pkl") || tn_str_is(entry, "data.pkl") || tn_str_ends(entry, "/.format_version") ||
        tn_str_ends(entry, "/version") || tn_str_ends(entry, "/byteorder")) {
        return "torch_zip";
    }
    return f->head.n > 2 && head_has(f, 0, "\x80", 1) && f->head.s[1] >= 2 && f->head.s[1] <= 5 ? "pickle" : NULL;
}

/* Containers that are named and no more. */
static const char *other_weights(const struct sniff *f)
{
    struct tn_str entry = first_entry(f);
    if (tn_str_ends(entry, ".npy")) return "npz";
    if (tn_str_is(entry, "metadata.json") && tn_ends_fold(f->name, ".keras")) return "keras";
    if (head_has(f, 0, "\x93NUMPY", 6)) return "npy";
    if (head_has(f, 0, "\x89HDF\r\n\x1a\n", 8)) return "hdf5";
    if (head_has(f, 4, "TFL3", 4)) return "tflite";
    if (head_has(f, 0, "tree\nversion=", 13)) return "lightgbm_text";
    if (head_has(f, 0, "{\"learner\":{", 12)) return "xgboost_json";
    if (head_has(f, 0, "{L", 2) && head_contains(f, "learner", 64)) return "xgboost_ubjson";
    if (head_has(f, 0, "tjgg", 4) || head_has(f, 0, "fmgg", 4) || head_has(f, 0, "lmgg", 4)) return "ggml_legacy";
    if (tn_str_is(f->name, "saved_model.pb") && head_has(f, 0, "\x08\x01\x12", 3)) return "tf_saved_model";
    if (tn_ends_fold(f->name, ".msgpack") && f->head.n && ((unsigned char)f->head.s[0] & 0xE0) == 0x80)
        return "flax_msgpack";
    return NULL;
}

static bool is_openvino(const struct sniff *f)
{
    return tn_ends_fold(f->name, ".xml") && head_contains(f, "<net ", 1024) && head_contains(f, "version=", 1024);
}

/* ---- kinds by place and name, of text ---------------------------------------------------------------------------- */

static enum tn_file_role text_role(const struct sniff *f)
{
    static const char *const tokenizer[] = {"tokenizer.json",
                                            "tokenizer_config.json",
                                            "special_tokens_map.json",
                                            "added_tokens.json",
                                            "vocab.txt",
                                            "vocab.json",
                                            "merges.txt",
                                            "tekken.json",
                                            "vocab.bpe",
                                            "bpe.codes",
                                            NULL};
    static const char *const metadata[] = {"inference_metadata.yaml", "inference_metadata.yml",
                                           "inference_metadata.json", "tenon_package.json",
                                           "execution_hints.json",    NULL};
    static const char *const code[] = {".py", ".so", ".dll", ".dylib", ".js", ".sh", NULL};
    static const char *const config[] = {".json", ".yaml", ".yml", ".toml", ".jinja", ".ini", ".cfg", NULL};
    static const char *const pieces[] = {".model", ".spm", ".tiktoken", NULL};
    if (tn_name_is_document(f->name)) return TN_ROLE_DOCUMENT;
    if (is_any(f->name, metadata)) return TN_ROLE_METADATA;
    if (is_any(f->name, tokenizer) || ends_with_any(f->name, pieces)) return TN_ROLE_TOKENIZER;
    if (ends_with_any(f->name, code)) return TN_ROLE_CODE;
    if (ends_with_any(f->name, config)) return TN_ROLE_CONFIG;
    return TN_ROLE_UNKNOWN;
}

/* A graph in text form says so by its name; a text has no magic of its own. */
static bool is_onnx_text(const struct sniff *f)
{
    static const char *const ends[] = {".onnx.textproto", ".onnx.txtpb", ".onnx.pbtxt", NULL};
    return ends_with_any(f->name, ends) && !memchr(f->head.s, 0, f->head.n);
}

static void decide(struct sniff *f)
{
    const char *format;
    struct tn_package_file *file = f->file;
    if (is_safetensors(f) || tn_ends_fold(f->name, ".safetensors")) {
        file->role = TN_ROLE_SAFETENSORS;
        file->format = "safetensors";
    } else if (head_has(f, 0, "GGUF", 4)) {
        file->role = TN_ROLE_GGUF;
        file->format = "gguf";
    } else if ((format = pickle_format(f))) {
        file->role = TN_ROLE_PICKLE;
        file->format = format;
    } else if ((format = other_weights(f))) {
        file->role = TN_ROLE_WEIGHTS;
        file->format = format;
    } else if (is_openvino(f)) {
        file->role = TN_ROLE_OPENVINO;
        file->format = "openvino_ir";
    } else if (is_onnx_text(f)) {
        file->role = TN_ROLE_ONNX_TEXT;
        file->format = "onnx_text";
    } else {
        file->role = text_role(f);
    }
}

/* ---- containers that are recognised and described, not read ------------------------------------------------------ */

static enum tn_status set_note(struct sniff *f, struct tn_str note)
{
    f->extra->note = note;
    return note.s ? TN_OK : tn_scan_memory(f->s);
}

/* A model's first field is its version, so a file that begins otherwise is not looked at unless its name says ONNX. */
static enum tn_status try_onnx(struct sniff *f)
{
    struct tn_onnx_surface surface;
    bool is_onnx = false;
    if (f->file->role != TN_ROLE_UNKNOWN || !(head_has(f, 0, "\x08", 1) || tn_ends_fold(f->name, ".onnx")))
        return TN_OK;
    if (tn_onnx_surface(f->s->ctx, &f->source, f->s->arena, &surface, &is_onnx)) return tn_scan_memory(f->s);
    if (!is_onnx) return TN_OK;
    f->file->role = TN_ROLE_ONNX;
    f->file->format = "onnx";
    f->extra->locations = surface.locations;
    f->extra->location_count = surface.location_count;
    if (!surface.whole) {
        f->file->malformed = true;
        tn_scan_finding(f->s, f->index, TN_BLOCKER, TN_ARTIFACT_MALFORMED, "the graph cannot be walked to its end");
    }
    return set_note(f, tn_scan_text(f->s, "IR %llu, %s, %llu nodes", (unsigned long long)surface.ir_version,
                                    surface.opsets, (unsigned long long)surface.nodes));
}

static enum tn_status describe_gguf(struct sniff *f)
{
    struct tn_gguf_surface surface;
    enum tn_status status = tn_gguf_surface(&f->source, &surface, f->s->problem);
    if (status) {
        f->file->malformed = true;
        return tn_scan_take(f->s, f->index, TN_BLOCKER, status);
    }
    if (surface.big_endian) return set_note(f, tn_scan_text(f->s, "GGUF %u, big-endian", surface.version));
    return set_note(f, tn_scan_text(f->s, "GGUF %u, %llu tensors, %llu entries%s%s", surface.version,
                                    (unsigned long long)surface.tensors, (unsigned long long)surface.entries,
                                    surface.architecture[0] ? ", " : "", surface.architecture));
}

/* A name that promises a container which the contents are not. */
static void check_claim(struct sniff *f)
{
    static const char *const claims[] = {".onnx", ".gguf", ".npz", ".npy", ".h5", ".hdf5", ".tflite", NULL};
    if (f->file->role != TN_ROLE_UNKNOWN || f->file->malformed || !ends_with_any(f->name, claims)) return;
    struct tn_finding *finding = tn_scan_finding(f->s, f->index, TN_WARNING, TN_ARTIFACT_MALFORMED,
                                                 "the contents are not what the file's name says");
    tn_found(finding, "%llu bytes of an unknown kind", (unsigned long long)f->file->size);
    tn_remedy(finding, "fetch the file again; a download may have been interrupted");
    f->file->malformed = true;
}

/* ---- digests ----------------------------------------------------------------------------------------------------- */

static bool is_container(enum tn_file_role role)
{
    switch (role) {
    case TN_ROLE_GGUF:
    case TN_ROLE_ONNX:
    case TN_ROLE_ONNX_DATA:
    case TN_ROLE_PICKLE:
    case TN_ROLE_WEIGHTS: return true;
    default: return false;
    }
}

/* Feeds [from, to) of the file in small blocks; an error number or 0. */
static int hash_range(struct sniff *f, struct tn_sha256 *h, uint64_t from, uint64_t to)
{
    char block[16 << 10];
    while (from < to) {
        size_t n = to - from < sizeof(block) ? (size_t)(to - from) : sizeof(block);
        int error = f->source.read(f->source.context, from, block, n);
        if (error) return error;
        tn_sha256_update(h, block, n);
        from += n;
    }
    return 0;
}

/* Both ends: the head holds a header, the tail an archive's directory with the checksums of its entries. */
static int hash_ends(struct sniff *f)
{
    struct tn_sha256 h;
    uint64_t size = f->file->size, head = size < TN_ENDS_BYTES ? size : TN_ENDS_BYTES;
    uint64_t tail = size - head < TN_ENDS_BYTES ? head : size - TN_ENDS_BYTES;
    tn_sha256_init(&h);
    int error = hash_range(f, &h, 0, head);
    if (!error) error = hash_range(f, &h, tail, size);
    f->file->header = tn_sha256_finish(&h);
    f->file->have_header = !error;
    return error;
}

static int hash_contents(struct sniff *f)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    int error = hash_range(f, &h, 0, f->file->size);
    f->file->digest = tn_sha256_finish(&h);
    f->file->have_digest = !error;
    return error;
}

/* Unknown files of some size are treated as containers: their place in an identity must not cost a full read. */
static int digest(struct sniff *f)
{
    enum { SMALL = 1 << 20 };
    enum tn_file_role role = f->file->role;
    if (role == TN_ROLE_SAFETENSORS || role == TN_ROLE_DOCUMENT || role == TN_ROLE_OTHER) return 0;
    bool large = f->file->size > (role == TN_ROLE_UNKNOWN ? SMALL : f->s->ctx->limits.json_bytes);
    return is_container(role) || large ? hash_ends(f) : hash_contents(f);
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static void cannot_read(struct sniff *f, int error)
{
    char text[128];
    bool harmless = tn_name_is_document(f->file->path);
    struct tn_finding *finding = tn_scan_finding(f->s, f->index, harmless ? TN_WARNING : TN_BLOCKER,
                                                 TN_ARTIFACT_MISSING, "a file cannot be read");
    tn_found(finding, "%s", tn_os_error_text(error, text, sizeof(text)));
    tn_remedy(finding, "check the file and its permissions");
    f->file->malformed = true;
}

/* A pointer or a web page where something useful should be. */
static void report_stand_in(struct sniff *f)
{
    enum tn_file_role role = f->file->role;
    bool page = tn_head_is_html(f->head) && !tn_ends_fold(f->name, ".html") && !tn_ends_fold(f->name, ".htm");
    if (role == TN_ROLE_SAFETENSORS || (!tn_head_is_lfs(f->head) && !page)) return;
    bool harmless = role == TN_ROLE_DOCUMENT || role == TN_ROLE_CODE;
    struct tn_finding *finding = tn_scan_finding(f->s, f->index, harmless ? TN_NOTE : TN_BLOCKER, TN_ARTIFACT_MISSING,
                                                 TN_STAND_IN);
    tn_describe_stand_in(finding, f->head);
    f->file->malformed = !harmless;
}

static enum tn_status read_safetensors(struct sniff *f)
{
    struct tn_scan *s = f->s;
    size_t first = s->raw.count, findings = s->inv->findings.count;
    bool good;
    enum tn_status status = tn_safetensors_scan(s->ctx, &f->source, f->index, s->arena, &s->raw, &f->file->header,
                                                &s->inv->findings, s->problem, &good, &f->extra->written_for);
    if (!tn_scan_tie(s, findings, f->index)) status = TN_INSUFFICIENT_MEMORY;
    if (status) {
        if (s->err) *s->err = *s->problem;
        return status == TN_INSUFFICIENT_MEMORY ? tn_scan_memory(s) : status;
    }
    f->file->have_header = good;
    f->file->malformed = !good;
    f->extra->good = good;
    f->extra->first_tensor = (uint32_t)first;
    f->extra->tensor_count = (uint32_t)(s->raw.count - first);
    return TN_OK;
}

static enum tn_status inspect(struct sniff *f)
{
    size_t n = f->open->stamp.size < TN_SNIFF_BYTES ? (size_t)f->open->stamp.size : TN_SNIFF_BYTES;
    int error = tn_os_read(f->open, 0, f->s->head, n);
    if (error) {
        cannot_read(f, error);
        return TN_OK;
    }
    f->head = (struct tn_str){f->s->head, n};
    f->extra->readable = true;
    decide(f);
    report_stand_in(f);
    if (f->file->role == TN_ROLE_SAFETENSORS) return read_safetensors(f);
    enum tn_status status = f->file->role == TN_ROLE_GGUF ? describe_gguf(f) : try_onnx(f);
    if (status) return status;
    check_claim(f);
    error = digest(f);
    if (error) cannot_read(f, error);
    return TN_OK;
}

static enum tn_status sniff_file(struct tn_scan *s, uint32_t index)
{
    struct tn_package_file *file = &s->inv->files[index];
    struct tn_os_file open;
    struct sniff f = {
        .s = s,
        .index = index,
        .file = file,
        .extra = &s->extra[index],
        .open = &open,
        .name = tn_base_name(file->path),
    };
    const char *path = tn_scan_path(s, file->disk);
    if (!path) return tn_scan_memory(s);
    int error = tn_os_open(path, &open);
    if (error) {
        cannot_read(&f, error);
        return TN_OK;
    }
    enum tn_status status = TN_OK;
    f.source = tn_source_of_file(&open, file->path);
    if (tn_file_stamp_eq(&open.stamp, &file->stamp)) {
        status = inspect(&f);
    } else {
        file->malformed = true;
        tn_scan_finding(s, index, TN_BLOCKER, TN_ARTIFACT_STALE, "a file changed while the package was read");
    }
    tn_os_close(&open);
    return status;
}

enum tn_status tn_scan_sniff(struct tn_scan *s)
{
    enum tn_status status = TN_OK;
    for (uint32_t i = 0; !status && i < s->inv->file_count; i++) {
        if (!s->extra[i].skip) status = sniff_file(s, i);
    }
    return status;
}
