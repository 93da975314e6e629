/*
 * From container sets to the alternatives that a caller may choose among, and the parts that belong to all of them. The
 * only judgement made here is whether a provider of this build reads the container at all; whether it can run what is
 * inside is a matter of assessment. Ids follow the table in package.h.
 */
#include "package/scan.h"

#include "base/sort.h"
#include "package/onnx.h"

#include <stdio.h>
#include <string.h>

/* ---- lines for people -------------------------------------------------------------------------------------------- */

/* "90.9 MB": decimal units, as download pages show them. */
static const char *human_bytes(uint64_t bytes, char *out, size_t cap)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    uint64_t unit = 1000;
    size_t i = 0;
    if (bytes < 1000) {
        snprintf(out, cap, "%llu B", (unsigned long long)bytes);
        return out;
    }
    for (; bytes / unit >= 1000; i++) unit *= 1000;
    uint64_t tenths = (bytes + unit / 20) / (unit / 10);
    snprintf(out, cap, "%llu.%llu %s", (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10), units[i]);
    return out;
}

/* ", f32, bf16": the element types of a range of tensors, the one with most bytes first. */
static void list_types(const struct tn_inventory *inv, const struct tn_variant *v, char *out, size_t cap)
{
    uint64_t bytes[TN_DTYPE_COUNT] = {0};
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        const struct tn_tensor_info *t = &inv->tensors[v->first_tensor + i];
        bytes[t->dtype] += t->bytes;
    }
    size_t n = 0;
    out[0] = 0;
    for (;;) {
        unsigned most = TN_DTYPE_COUNT;
        for (unsigned d = 0; d < TN_DTYPE_COUNT; d++) {
            if (bytes[d] && (most == TN_DTYPE_COUNT || bytes[d] > bytes[most])) most = d;
        }
        if (most == TN_DTYPE_COUNT || n + 16 > cap) return;
        n += (size_t)snprintf(out + n, cap - n, ", %s", tn_dtype_name((enum tn_dtype)most));
        bytes[most] = 0;
    }
}

static enum tn_status describe(struct tn_scan *s, struct tn_variant *v, struct tn_str note)
{
    char size[32], types[256];
    list_types(s->inv, v, types, sizeof(types));
    v->what = tn_scan_text(s, "%u file%s, %s%s%s%.*s", v->file_count, v->file_count == 1 ? "" : "s",
                           human_bytes(v->bytes, size, sizeof(size)), types, note.n ? ", " : "", TN_FMT_ARG(note));
    return v->what.s ? TN_OK : tn_scan_memory(s);
}

/* ---- placing ----------------------------------------------------------------------------------------------------- */

/* A folder of modules.json after the first module's: its weights are no choice. */
static bool is_part(const struct tn_scan *s, struct tn_str folder)
{
    if (folder.n == 0 || s->module_count == 0 || tn_str_eq(folder, s->modules[0])) return false;
    for (uint32_t i = 1; i < s->module_count; i++) {
        if (tn_str_eq(folder, s->modules[i])) return true;
    }
    return false;
}

static bool is_component(const struct tn_scan *s, struct tn_str folder)
{
    for (uint32_t i = 0; i < s->component_count; i++) {
        if (tn_str_eq(folder, s->components[i])) return true;
    }
    return false;
}

/* Index of the file of this name in a folder. The path is scratch: hostile depth must not fill the arena. */
static uint32_t file_in(struct tn_scan *s, struct tn_str folder, const char *name)
{
    tn_buf_clear(&s->path);
    tn_buf_append(&s->path, folder.s, folder.n);
    if (folder.n) tn_buf_putc(&s->path, '/');
    tn_buf_append(&s->path, name, strlen(name));
    return tn_buf_status(&s->path) ? TN_NO_FILE : tn_inventory_index(s->inv, tn_buf_str(&s->path));
}

struct tn_str tn_scan_config_folder(struct tn_scan *s, struct tn_str place)
{
    struct tn_str at = place;
    while (at.n > 0 && file_in(s, at, "config.json") == TN_NO_FILE) at = tn_package_folder(at);
    return at;
}

/* The folder of the configuration, or the place itself where there is none. */
static struct tn_str find_folder(struct tn_scan *s, struct tn_str place)
{
    struct tn_str folder = tn_scan_config_folder(s, place);
    return folder.n || file_in(s, folder, "config.json") != TN_NO_FILE ? folder : place;
}

static enum tn_status append(struct tn_scan *s, struct tn_variant *v, struct tn_str note)
{
    struct tn_inventory *inv = s->inv;
    bool part = is_part(s, v->place);
    for (uint32_t i = 0; i < v->file_count; i++) v->bytes += inv->files[v->files[i]].size;
    v->folder = find_folder(s, v->place);
    enum tn_status status = describe(s, v, note);
    if (status) return status;
    struct tn_variant **list = part ? &inv->parts : &inv->variants;
    uint32_t *count = part ? &inv->part_count : &inv->variant_count;
    struct tn_variant *items = tn_grow(s->alloc, *list, part ? &s->part_cap : &s->variant_cap, *count, sizeof(*items));
    if (!items) return tn_scan_memory(s);
    *list = items;
    items[(*count)++] = *v;
    return TN_OK;
}

/* ---- safetensors ------------------------------------------------------------------------------------------------- */

/* What follows the first point of a stem ("fp16" of "diffusion_pytorch_model.fp16"), or "". */
static struct tn_str suffix_of(struct tn_str stem)
{
    const char *point = stem.n ? memchr(stem.s, '.', stem.n) : NULL;
    return point ? (struct tn_str){point + 1, stem.n - (size_t)(point + 1 - stem.s)} : TN_STR("");
}

/* Sets that are choices by folder, then components of a pipeline by suffix: what belongs together stands together. */
static int by_group(const void *a, const void *b, void *context)
{
    (void)context;
    const struct tn_scan_set *x = a, *y = b;
    if (x->component != y->component) return x->component ? 1 : -1;
    int order = x->component ? tn_str_order(suffix_of(x->stem), suffix_of(y->stem)) : 0;
    if (!order) order = tn_str_order(x->folder, y->folder);
    if (!order) order = tn_str_order(x->stem, y->stem);
    return order ? order : (x->first_tensor > y->first_tensor) - (x->first_tensor < y->first_tensor);
}

static bool same_folder(const struct tn_scan_set *a, const struct tn_scan_set *b)
{
    return !a->component && !b->component && tn_str_eq(a->folder, b->folder);
}

static bool same_name(const struct tn_scan_set *a, const struct tn_scan_set *b)
{
    return same_folder(a, b) && tn_str_eq(a->stem, b->stem);
}

/*
 * The set named "model" of a folder, or its only one, carries the container's name; others their first file's path. Of
 * "model.safetensors" beside an indexed "model-00001-of-…" the indexed one is the set named "model".
 */
static struct tn_str set_id(struct tn_scan *s, uint32_t i)
{
    const struct tn_scan_set *set = &s->sets[i], *before = i > 0 ? set - 1 : NULL;
    const struct tn_scan_set *after = i + 1 < s->set_count ? set + 1 : NULL;
    bool only = !(before && same_folder(set, before)) && !(after && same_folder(set, after));
    bool twin = (before && same_name(set, before)) || (after && same_name(set, after));
    bool named = tn_str_is(set->stem, "model") && (!twin || set->index_file != TN_NO_FILE);
    if (only || named) return tn_package_join(s->arena, set->folder, TN_STR("safetensors"));
    return s->inv->files[set->file_count ? set->files[0] : set->index_file].path;
}

/* The evidence of an adapter configuration in the set's folder, or NULL. */
static const struct tn_evidence *adapter_of(struct tn_scan *s, const struct tn_scan_set *set)
{
    if (!tn_str_is(set->stem, "adapter_model")) return NULL;
    uint32_t file = file_in(s, set->folder, "adapter_config.json");
    uint32_t evidence = file == TN_NO_FILE ? 0 : s->extra[file].adapter;
    return evidence ? &s->inv->evidence[evidence - 1] : NULL;
}

static enum tn_status add_set(struct tn_scan *s, uint32_t i)
{
    const struct tn_scan_set *set = &s->sets[i];
    const struct tn_evidence *adapter = adapter_of(s, set);
    struct tn_variant v = {
        .id = set_id(s, i),
        .container = adapter ? TN_STR("peft_adapter") : TN_STR("safetensors"),
        .place = set->folder,
        .executable = !adapter,
        .files = set->files,
        .file_count = set->file_count,
        .index_file = set->index_file,
        .first_tensor = set->first_tensor,
        .tensor_count = set->tensor_count,
    };
    if (!v.id.s) return tn_scan_memory(s);
    return append(s, &v, adapter ? adapter->detail : TN_STR(""));
}

/* Component sets first..last-1, of one suffix. Names may repeat across components: the range of tensors stays empty. */
static enum tn_status add_pipeline(struct tn_scan *s, uint32_t first, uint32_t last)
{
    struct tn_str suffix = suffix_of(s->sets[first].stem);
    struct tn_variant v = {.container = TN_STR("diffusers"), .place = TN_STR(""), .index_file = TN_NO_FILE};
    uint32_t count = 0, tensors = 0;
    for (uint32_t i = first; i < last; i++) count += s->sets[i].file_count;
    v.files = tn_arena_array(s->arena, count, sizeof(*v.files));
    v.id = tn_scan_text(s, "diffusers%s%.*s", suffix.n ? "." : "", TN_FMT_ARG(suffix));
    if (!v.files || !v.id.s) return tn_scan_memory(s);
    for (uint32_t i = first; i < last; i++) {
        const struct tn_scan_set *set = &s->sets[i];
        if (set->file_count) memcpy(v.files + v.file_count, set->files, set->file_count * sizeof(*v.files));
        v.file_count += set->file_count;
        tensors += set->tensor_count;
    }
    struct tn_str note = tn_scan_text(s, "%u components, %u tensors", last - first, tensors);
    return note.s ? append(s, &v, note) : tn_scan_memory(s);
}

static enum tn_status add_sets(struct tn_scan *s)
{
    enum tn_status status = TN_OK;
    for (uint32_t i = 0; i < s->set_count; i++) s->sets[i].component = is_component(s, s->sets[i].folder);
    if (s->set_count) tn_sort(s->sets, s->set_count, sizeof(*s->sets), by_group, NULL);
    for (uint32_t i = 0, next; !status && i < s->set_count; i = next) {
        const struct tn_scan_set *set = &s->sets[i];
        for (next = i + 1; set->component && next < s->set_count; next++) {
            if (!tn_str_eq(suffix_of(set->stem), suffix_of(s->sets[next].stem))) break;
        }
        status = set->component ? add_pipeline(s, i, next) : add_set(s, i);
    }
    return status;
}

/* ---- other containers -------------------------------------------------------------------------------------------- */

/* Files first..last-1, of which `belongs` says which go into the variant. */
static enum tn_status add_files(struct tn_scan *s, struct tn_str id, const char *container, uint32_t first,
                                uint32_t last, bool (*belongs)(const struct tn_scan *s, uint32_t leader, uint32_t file))
{
    const struct tn_package_file *files = s->inv->files;
    struct tn_variant v = {
        .id = id,
        .container = tn_str_of(container),
        .place = tn_package_folder(files[first].path),
        .index_file = TN_NO_FILE,
    };
    uint32_t count = 0;
    for (uint32_t i = first; i < last; i++) count += belongs(s, first, i);
    v.files = tn_arena_array(s->arena, count, sizeof(*v.files));
    if (!v.files || !id.s) return tn_scan_memory(s);
    for (uint32_t i = first; i < last; i++) {
        if (!belongs(s, first, i)) continue;
        v.files[v.file_count++] = i;
        tn_scan_claim(s, i);
    }
    return append(s, &v, s->extra[first].note.s ? s->extra[first].note : TN_STR(""));
}

static bool same_folder_pickle(const struct tn_scan *s, uint32_t leader, uint32_t file)
{
    const struct tn_package_file *files = s->inv->files;
    return files[file].role == TN_ROLE_PICKLE &&
           tn_str_eq(tn_package_folder(files[file].path), tn_package_folder(files[leader].path));
}

/* Splits of one GGUF: "x-00001-of-00003.gguf". */
static bool same_gguf(const struct tn_scan *s, uint32_t leader, uint32_t file)
{
    const struct tn_package_file *a = &s->inv->files[leader], *b = &s->inv->files[file];
    struct tn_shard_name x, y;
    if (leader == file) return true;
    return b->role == TN_ROLE_GGUF && tn_shard_name(a->path, ".gguf", &x) && tn_shard_name(b->path, ".gguf", &y) &&
           x.total == y.total && x.width == y.width && tn_str_eq(x.stem, y.stem) &&
           tn_str_eq(tn_package_folder(a->path), tn_package_folder(b->path));
}

/* One past the last of a series, whose files are neighbours in the order of paths. */
static uint32_t series_end(const struct tn_scan *s, uint32_t first)
{
    uint32_t last = first + 1;
    while (last < s->inv->file_count && same_gguf(s, first, last)) last++;
    return last;
}

static bool alone(const struct tn_scan *s, uint32_t leader, uint32_t file)
{
    (void)s;
    return leader == file;
}

/* External data of a graph stands relative to the graph's own folder. */
static enum tn_status find_data(struct tn_scan *s, uint32_t graph, const struct tn_onnx_location *l, uint32_t *out)
{
    struct tn_inventory *inv = s->inv;
    struct tn_str path, place = inv->files[graph].path;
    struct tn_arena scratch;
    tn_arena_init(&scratch, s->alloc);
    *out = TN_NO_FILE;
    enum tn_status status = tn_package_reference(&scratch, tn_package_folder(place), l->name, &path, s->problem);
    if (status) {
        size_t before = inv->findings.count;
        status = tn_scan_take(s, graph, TN_BLOCKER, status);
        if (!status && inv->findings.count > before) tn_at_tensor(&inv->findings.items[before], place, l->first);
    } else {
        *out = tn_inventory_index(inv, path);
        if (*out == TN_NO_FILE) {
            struct tn_finding *f =
                tn_scan_finding(s, graph, TN_BLOCKER, TN_ARTIFACT_MISSING, "external data of a graph is missing");
            tn_at_tensor(f, place, l->first);
            tn_onnx_location_missing(f, l, path);
            tn_remedy(f, "%s", s->single.n ? "open the folder that holds graph and data"
                                           : "fetch the data file into the graph's folder");
        }
    }
    tn_arena_release(&scratch);
    return status;
}

static enum tn_status add_onnx(struct tn_scan *s, uint32_t graph)
{
    struct tn_inventory *inv = s->inv;
    const struct tn_scan_file *extra = &s->extra[graph];
    struct tn_str path = inv->files[graph].path;
    struct tn_variant v = {
        .id = path,
        .container = TN_STR("onnx"),
        .place = tn_package_folder(path),
        .executable = true,
        .graph = true,
        .index_file = TN_NO_FILE,
    };
    v.files = tn_arena_array(s->arena, extra->location_count + 1, sizeof(*v.files));
    if (!v.files) return tn_scan_memory(s);
    v.files[v.file_count++] = graph;
    tn_scan_claim(s, graph);
    for (uint32_t i = 0; i < extra->location_count; i++) {
        uint32_t data;
        enum tn_status status = find_data(s, graph, &extra->locations[i], &data);
        if (status) return status;
        if (data == TN_NO_FILE) continue;
        if (inv->files[data].role == TN_ROLE_UNKNOWN) {
            inv->files[data].role = TN_ROLE_ONNX_DATA;
            inv->files[data].format = "onnx_data";
        }
        v.files[v.file_count++] = data;
    }
    return append(s, &v, extra->note);
}

/* The graph and its weights: one stem, .xml and .bin. */
static enum tn_status add_openvino(struct tn_scan *s, uint32_t graph)
{
    struct tn_inventory *inv = s->inv;
    struct tn_str path = inv->files[graph].path;
    struct tn_variant v = {
        .id = path,
        .container = TN_STR("openvino_ir"),
        .place = tn_package_folder(path),
        .index_file = TN_NO_FILE,
    };
    char *data = tn_arena_strndup(s->arena, path.s, path.n);
    v.files = tn_arena_array(s->arena, 2, sizeof(*v.files));
    if (!v.files || !data) return tn_scan_memory(s);
    memcpy(data + path.n - 4, ".bin", 4);
    uint32_t weights = tn_inventory_index(inv, (struct tn_str){data, path.n});
    v.files[v.file_count++] = graph;
    tn_scan_claim(s, graph);
    if (weights != TN_NO_FILE && inv->files[weights].role == TN_ROLE_UNKNOWN) {
        inv->files[weights].role = TN_ROLE_OPENVINO;
        inv->files[weights].format = "openvino_bin";
        v.files[v.file_count++] = weights;
    }
    return append(s, &v, TN_STR(""));
}

/* One past the last file in the folder of `first` or below: files are sorted by path. */
static uint32_t folder_end(const struct tn_scan *s, uint32_t first)
{
    struct tn_str folder = tn_package_folder(s->inv->files[first].path);
    uint32_t last = first;
    while (last < s->inv->file_count &&
           (folder.n == 0 ||
            (s->inv->files[last].path.n > folder.n && memcmp(s->inv->files[last].path.s, folder.s, folder.n) == 0))) {
        last++;
    }
    return last;
}

static bool is_other(enum tn_file_role role)
{
    return role == TN_ROLE_GGUF || role == TN_ROLE_ONNX || role == TN_ROLE_WEIGHTS || role == TN_ROLE_PICKLE ||
           role == TN_ROLE_OPENVINO;
}

static enum tn_status add_other(struct tn_scan *s, uint32_t i)
{
    const struct tn_package_file *file = &s->inv->files[i];
    if (s->extra[i].used || !is_other(file->role)) return TN_OK;
    if (tn_scan_is_taken(s, i)) {
        tn_scan_note_name(s, i);
        return TN_OK;
    }
    switch (file->role) {
    case TN_ROLE_GGUF: return add_files(s, file->path, "gguf", i, series_end(s, i), same_gguf);
    case TN_ROLE_ONNX: return add_onnx(s, i);
    case TN_ROLE_WEIGHTS: return add_files(s, file->path, file->format, i, i + 1, alone);
    case TN_ROLE_PICKLE:
        return add_files(s, tn_package_join(s->arena, tn_package_folder(file->path), TN_STR("pytorch_pickle")),
                         "pytorch_pickle", i, folder_end(s, i), same_folder_pickle);
    case TN_ROLE_OPENVINO: return tn_ends_fold(file->path, ".xml") ? add_openvino(s, i) : TN_OK;
    default: return TN_OK;
    }
}

/* ---- the stage --------------------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b, void *context)
{
    (void)context;
    const struct tn_variant *x = a, *y = b;
    int order = tn_str_order(x->id, y->id);
    if (!order) order = (x->first_tensor > y->first_tensor) - (x->first_tensor < y->first_tensor);
    return order ? order : tn_str_order(x->container, y->container);
}

static int by_use(const void *a, const void *b, void *context)
{
    const struct tn_variant *x = a, *y = b;
    if (x->executable != y->executable) return x->executable ? -1 : 1;
    if (x->graph != y->graph) return x->graph ? 1 : -1;
    return by_id(a, b, context);
}
_Static_assert(sizeof(struct tn_variant) <= TN_SORT_ITEM, "a variant can be sorted");

/* An id that stands twice (a file may be called "safetensors") gets a number. Sorted by id on entry. */
static enum tn_status make_unique(struct tn_scan *s)
{
    struct tn_inventory *inv = s->inv;
    for (uint32_t i = inv->variant_count; i-- > 1;) {
        if (!tn_str_eq(inv->variants[i].id, inv->variants[i - 1].id)) continue;
        struct tn_str id = inv->variants[i].id;
        char number[16];
        int n = snprintf(number, sizeof(number), "#%u", i);
        char *longer = tn_arena_alloc(s->arena, id.n + (size_t)n + 1);
        if (!longer) return tn_scan_memory(s);
        memcpy(longer, id.s, id.n);
        memcpy(longer + id.n, number, (size_t)n);
        inv->variants[i].id = (struct tn_str){longer, id.n + (size_t)n};
    }
    return TN_OK;
}

/* What is large and belongs to nothing may be what somebody misses. */
static void note_unclaimed(struct tn_scan *s)
{
    enum { LARGE = 1 << 20 };
    for (uint32_t i = 0; i < s->inv->file_count; i++) {
        const struct tn_package_file *file = &s->inv->files[i];
        if (file->role != TN_ROLE_UNKNOWN || file->size < LARGE || file->malformed) continue;
        struct tn_finding *f =
            tn_scan_finding(s, i, TN_NOTE, TN_OK, "a large file of unknown kind belongs to no variant");
        tn_found(f, "%llu bytes", (unsigned long long)file->size);
    }
}

enum tn_status tn_scan_variants(struct tn_scan *s)
{
    struct tn_inventory *inv = s->inv;
    enum tn_status status = add_sets(s);
    /* Where a file has several names, those that count come first. */
    for (unsigned rank = 0; rank < (s->several_names ? TN_NAME_RANKS : 1); rank++) {
        for (uint32_t i = 0; !status && i < inv->file_count; i++) {
            if (!s->several_names || s->extra[i].rank == rank) status = add_other(s, i);
        }
    }
    if (status) return status;
    note_unclaimed(s);
    if (inv->variant_count) tn_sort(inv->variants, inv->variant_count, sizeof(*inv->variants), by_id, NULL);
    if (inv->part_count) tn_sort(inv->parts, inv->part_count, sizeof(*inv->parts), by_use, NULL);
    status = make_unique(s);
    if (inv->variant_count) tn_sort(inv->variants, inv->variant_count, sizeof(*inv->variants), by_use, NULL);
    return status;
}
