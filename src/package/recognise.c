/*
 * Conventions by evidence: members of the JSON documents that each convention is known by. Reads a document only as far
 * as telling conventions apart needs; what its fields mean is for src/describe. A document that cannot be read is a
 * blocker where a convention rests on it, since taking it for absent would change answers.
 */
#include "package/scan.h"

#include <string.h>

enum { SMALL_DOCUMENT = 1 << 20 };

struct document {
    struct tn_scan *s;
    uint32_t file;
    struct tn_str path, name, folder;
    struct tn_json root;
};

static struct tn_str member_text(struct tn_json object, const char *key)
{
    struct tn_str text = TN_STR("");
    tn_json_str(tn_json_get(object, key), &text);
    return text;
}

/* ---- one function per document ----------------------------------------------------------------------------------- */

/* A copy of a folder that a document names; *ok false when it was refused, with a finding. */
static enum tn_status reference(struct document *d, struct tn_json v, struct tn_str name, struct tn_str *out, bool *ok)
{
    struct tn_scan *s = d->s;
    enum tn_status status = tn_package_reference(s->arena, d->folder, name, out, s->problem);
    *ok = status == TN_OK;
    if (!status) return TN_OK;
    size_t before = s->inv->findings.count;
    status = tn_scan_take(s, d->file, TN_BLOCKER, status);
    if (!status && s->inv->findings.count > before) tn_at_json(&s->inv->findings.items[before], v);
    return status;
}

/* Folders of a pipeline are few; more would be a way to make us compare for hours. */
static bool too_many(struct document *d, size_t count)
{
    uint64_t limit = d->s->ctx->limits.modules;
    if (count <= limit) return false;
    struct tn_finding *f = tn_scan_finding(d->s, d->file, TN_BLOCKER, TN_RESOURCE_LIMIT,
                                           "the document exceeds the limit modules");
    tn_found(f, "%zu entries", count);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    return true;
}

/* The folders of a list of modules, added to those of another document: where both stand, both name parts. */
static enum tn_status take_module_folders(struct document *d, struct tn_json list)
{
    struct tn_scan *s = d->s;
    size_t count = tn_json_count(list);
    struct tn_str *folders = tn_arena_array(s->arena, s->module_count + count, sizeof(*folders));
    if (!folders) return tn_scan_memory(s);
    for (uint32_t i = 0; i < s->module_count; i++) folders[i] = s->modules[i];
    s->modules = folders;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_json path = tn_json_get(v, "path");
        bool ok;
        enum tn_status status = reference(d, path, member_text(v, "path"), &s->modules[s->module_count], &ok);
        if (status) return status;
        if (ok) s->module_count++;
    }
    return TN_OK;
}

static enum tn_status see_modules(struct document *d)
{
    size_t count = tn_json_count(d->root);
    if (d->folder.n || !tn_json_is(d->root, TN_JSON_ARRAY) || count == 0) return TN_OK;
    bool typed = false; /* one entry that lacks its type is a fault, a list of such entries another kind of document */
    for (struct tn_json v = tn_json_first(d->root); tn_json_present(v); v = tn_json_next(v)) {
        typed = typed || tn_json_present(tn_json_get(v, "type"));
    }
    if (!typed || too_many(d, count)) return TN_OK;
    enum tn_status status = take_module_folders(d, d->root);
    if (status) return status;
    return tn_scan_evidence(d->s, "sentence_transformers", "st.modules_json", d->file, "%zu module%s", count, count == 1 ? "" : "s");
}

/* tenon_package.json: only where the weights of modules stand. */
static enum tn_status see_package_document(struct document *d)
{
    struct tn_json list = tn_json_get(d->root, "modules");
    if (d->folder.n || !tn_json_is(list, TN_JSON_ARRAY) || too_many(d, tn_json_count(list))) return TN_OK;
    return take_module_folders(d, list);
}

static enum tn_status see_config(struct document *d)
{
    struct tn_str type = member_text(d->root, "model_type");
    struct tn_json architecture = tn_json_at(tn_json_get(d->root, "architectures"), 0);
    struct tn_str class_name = TN_STR("");
    tn_json_str(architecture, &class_name);
    if (type.n == 0 && class_name.n == 0) return TN_OK;
    return tn_scan_evidence(d->s, "transformers", "transformers.config_json", d->file,
                            "model_type %.*s, architecture %.*s", TN_FMT_ARG(type), TN_FMT_ARG(class_name));
}

static enum tn_status see_index(struct document *d)
{
    struct tn_json map = tn_json_get(d->root, "weight_map");
    struct tn_str first = TN_STR("");
    if (!tn_json_is(map, TN_JSON_OBJECT) || tn_json_count(map) == 0) {
        if (!tn_str_ends(d->name, ".safetensors.index.json")) return TN_OK;
        struct tn_finding *f = tn_scan_finding(d->s, d->file, TN_BLOCKER, TN_ARTIFACT_MALFORMED,
                                               "the shard index maps no tensor to a file");
        tn_at_json_member(f, d->root, "weight_map");
        bool empty = tn_json_is(map, TN_JSON_OBJECT);
        tn_found(f, "%s", !tn_json_present(map) ? "no weight_map"
                          : empty               ? "an empty object"
                                                : tn_json_type_name(tn_json_type(map)));
        tn_expected(f, "an object from tensor names to file names");
        tn_remedy(f, "fetch the index again, or remove it when the weights stand in one file");
        return TN_OK;
    }
    tn_json_str(tn_json_first(map), &first);
    if (tn_str_ends(first, ".safetensors") || tn_str_starts(d->name, "model.safetensors")) {
        d->s->inv->files[d->file].role = TN_ROLE_SAFETENSORS_INDEX;
    }
    return TN_OK;
}

static enum tn_status see_pipeline(struct document *d)
{
    struct tn_scan *s = d->s;
    struct tn_str class_name = member_text(d->root, "_class_name");
    if (d->folder.n || class_name.n == 0 || too_many(d, tn_json_count(d->root))) return TN_OK;
    s->components = tn_arena_array(s->arena, tn_json_count(d->root), sizeof(*s->components));
    if (!s->components) return tn_scan_memory(s);
    for (struct tn_json v = tn_json_first(d->root); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str *out = &s->components[s->component_count];
        bool ok;
        if (!tn_json_is(v, TN_JSON_ARRAY) || tn_json_key(v).s[0] == '_') continue;
        enum tn_status status = reference(d, v, tn_json_key(v), out, &ok);
        if (status) return status;
        if (ok && out->n) s->component_count++;
    }
    return tn_scan_evidence(s, "diffusers", "diffusers.model_index", d->file, "pipeline %.*s of %u components",
                            TN_FMT_ARG(class_name), s->component_count);
}

static enum tn_status see_adapter(struct document *d)
{
    struct tn_str kind = member_text(d->root, "peft_type"), base = member_text(d->root, "base_model_name_or_path");
    if (kind.n == 0) return TN_OK;
    d->s->extra[d->file].adapter = d->s->inv->evidence_count + 1;
    return tn_scan_evidence(d->s, "peft", "peft.adapter_config", d->file, "%.*s adapter of base %.*s", TN_FMT_ARG(kind),
                            TN_FMT_ARG(base.n ? base : TN_STR("(not named)")));
}

static enum tn_status see_genai(struct document *d)
{
    struct tn_str type = member_text(tn_json_get(d->root, "model"), "type");
    if (!tn_json_is(tn_json_get(d->root, "search"), TN_JSON_OBJECT)) return TN_OK;
    return tn_scan_evidence(d->s, "genai_config", "genai.config_json", d->file, "model type %.*s", TN_FMT_ARG(type));
}

static const struct {
    const char *name; /* base name, or the end of it when `suffix` */
    bool suffix;
    enum tn_status (*see)(struct document *d);
} kinds[] = {
    {"modules.json", false, see_modules},      {"config.json", false, see_config},
    {"model_index.json", false, see_pipeline}, {"adapter_config.json", false, see_adapter},
    {"genai_config.json", false, see_genai},   {"tenon_package.json", false, see_package_document},
    {".json", true, see_index},
};

/* ---- the stage --------------------------------------------------------------------------------------------------- */

static enum tn_status look(struct document *d, enum tn_status (*see)(struct document *d))
{
    struct tn_scan *s = d->s;
    struct tn_json_doc doc;
    struct tn_package_file *file = &s->inv->files[d->file];
    enum tn_status status = tn_inventory_json(s->inv, d->path, &doc, s->problem);
    if (status) {
        /* Of the other documents only a shard index would matter, and a broken one is known by its name alone. */
        bool index = tn_ends_fold(d->name, ".index.json") && tn_contains_fold(d->name, "safetensors");
        if (see == see_index && !index) {
            return status == TN_INSUFFICIENT_MEMORY ? tn_scan_memory(s) : TN_OK;
        }
        file->malformed = true;
        return tn_scan_take(s, d->file, TN_BLOCKER, status);
    }
    d->root = tn_json_root(&doc);
    status = see(d);
    tn_json_release(&doc);
    return status;
}

/* Evidence that the contents of a single file gave while it was sniffed. */
static enum tn_status see_container(struct tn_scan *s, uint32_t index)
{
    const struct tn_package_file *file = &s->inv->files[index];
    const struct tn_scan_file *extra = &s->extra[index];
    struct tn_str name = tn_base_name(file->path);
    switch (file->role) {
    case TN_ROLE_GGUF: return tn_scan_evidence(s, "gguf", "gguf.magic", index, "%.*s", TN_FMT_ARG(extra->note));
    case TN_ROLE_ONNX: return tn_scan_evidence(s, "onnx", "onnx.model_proto", index, "%.*s", TN_FMT_ARG(extra->note));
    case TN_ROLE_ONNX_TEXT:
        return tn_scan_evidence(s, "onnx_text", "onnx.text_form", index, "a graph in text form, never executed");
    case TN_ROLE_OPENVINO: return tn_scan_evidence(s, "openvino_ir", "openvino.net_xml", index, "a graph in XML");
    case TN_ROLE_PICKLE:
        return tn_scan_evidence(s, "pytorch_pickle", "pickle.first_bytes", index, "%s, not opened", file->format);
    case TN_ROLE_WEIGHTS:
        return tn_scan_evidence(s, file->format, "container.first_bytes", index, "recognised by its first bytes");
    case TN_ROLE_METADATA:
        return tn_scan_evidence(s, "inference_metadata", "metadata.document", index, "a declared contract");
    case TN_ROLE_SAFETENSORS:
        if (!tn_str_is(extra->written_for, "mlx")) return TN_OK;
        return tn_scan_evidence(s, "mlx", "safetensors.metadata_format", index, "written for MLX");
    case TN_ROLE_TOKENIZER:
        if (!tn_str_is(name, "tokenizer.json")) return TN_OK;
        return tn_scan_evidence(s, "tokenizers", "tokenizers.tokenizer_json", index, "%llu bytes",
                                (unsigned long long)file->size);
    default: return TN_OK;
    }
}

static enum tn_status look_at(struct tn_scan *s, uint32_t index)
{
    const struct tn_package_file *file = &s->inv->files[index];
    struct document d = {
        .s = s,
        .file = index,
        .path = file->path,
        .name = tn_base_name(file->path),
        .folder = tn_package_folder(file->path),
    };
    bool document = file->role == TN_ROLE_CONFIG || tn_str_is(d.name, "tenon_package.json");
    if (!document || !s->extra[index].readable || file->malformed) return TN_OK;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!(kinds[i].suffix ? tn_str_ends(d.name, kinds[i].name) : tn_str_is(d.name, kinds[i].name))) continue;
        bool large = kinds[i].suffix && file->size > SMALL_DOCUMENT && !tn_ends_fold(d.name, ".index.json");
        return large ? TN_OK : look(&d, kinds[i].see);
    }
    return TN_OK;
}

enum tn_status tn_scan_recognise(struct tn_scan *s)
{
    enum tn_status status = TN_OK;
    for (uint32_t i = 0; !status && i < s->inv->file_count; i++) {
        status = look_at(s, i);
        if (!status) status = see_container(s, i);
    }
    return status;
}
