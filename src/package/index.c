/*
 * A shard index against the headers, in both directions: every entry names a shard that is there and holds the tensor,
 * every tensor of the shards has an entry. The five ways to disagree have five codes. The index is untrusted JSON; each
 * file name in it goes through tn_package_reference.
 */
#include "package/scan.h"

#include "base/sort.h"

#include <string.h>

struct index {
    struct tn_scan *s;
    struct tn_scan_set *set;
    uint32_t file, mark;
    struct tn_json map;
    uint32_t *owners;        /* by entry: index of the file that it names, TN_NO_FILE */
    struct tn_json *missing; /* entries whose file is not listed */
    size_t missing_count;
    bool last_missing;
    bool *named;     /* by tensor of the set */
    uint32_t *files; /* of the set, in the order in which they were met */
    uint32_t file_count;
    size_t file_cap;
};

static struct tn_str text_of(struct tn_json v)
{
    struct tn_str text = {0};
    tn_json_str(v, &text);
    return text;
}

static struct tn_finding *finding(struct index *x, enum tn_status code, struct tn_json at, const char *what)
{
    struct tn_finding *f = tn_scan_finding(x->s, x->file, TN_BLOCKER, code, "%s", what);
    if (tn_json_present(at)) tn_at_json(f, at);
    return f;
}

/* ---- which file an entry means ----------------------------------------------------------------------------------- */

static enum tn_status resolve(struct index *x, struct tn_json entry, uint32_t *owner)
{
    struct tn_scan *s = x->s;
    struct tn_arena scratch;
    struct tn_str path;
    *owner = TN_NO_FILE;
    if (!tn_json_is(entry, TN_JSON_STRING)) {
        tn_found(finding(x, TN_ARTIFACT_MALFORMED, entry, "an entry of weight_map is not a file name"), "%s",
                 tn_json_type_name(tn_json_type(entry)));
        return TN_OK;
    }
    tn_arena_init(&scratch, s->alloc);
    struct tn_str folder = tn_package_folder(s->inv->files[x->file].path);
    enum tn_status status = tn_package_reference(&scratch, folder, text_of(entry), &path, s->problem);
    if (status) {
        size_t before = s->inv->findings.count;
        status = tn_scan_take(s, x->file, TN_BLOCKER, status);
        if (!status && s->inv->findings.count > before) tn_at_json(&s->inv->findings.items[before], entry);
    } else {
        *owner = tn_inventory_index(s->inv, path);
        if (*owner == TN_NO_FILE) {
            x->missing[x->missing_count++] = entry;
        } else if (s->inv->files[*owner].role != TN_ROLE_SAFETENSORS) {
            tn_found(finding(x, TN_ARTIFACT_MALFORMED, entry, "weight_map names a file that is not safetensors"),
                     "%.*s", TN_FMT_ARG(path));
            *owner = TN_NO_FILE;
        }
    }
    tn_arena_release(&scratch);
    return status;
}

/* Entries for one shard usually stand together: a repeated name is not resolved again. */
static enum tn_status resolve_all(struct index *x)
{
    size_t i = 0;
    struct tn_str last = {0};
    for (struct tn_json v = tn_json_first(x->map); tn_json_present(v); v = tn_json_next(v), i++) {
        struct tn_str name = text_of(v);
        size_t missing = x->missing_count;
        bool again = last.s && name.s && tn_str_eq(name, last);
        if (again && x->owners[i - 1] != TN_NO_FILE) {
            x->owners[i] = x->owners[i - 1];
        } else if (again && x->last_missing) {
            x->owners[i] = TN_NO_FILE;
            x->missing[x->missing_count++] = v;
        } else {
            enum tn_status status = resolve(x, v, &x->owners[i]);
            if (status) return status;
            x->last_missing = x->missing_count > missing;
            last = name;
        }
    }
    return TN_OK;
}

/* ---- the set ----------------------------------------------------------------------------------------------------- */

static enum tn_status take_file(struct index *x, uint32_t file)
{
    struct tn_scan *s = x->s;
    if (s->extra[file].member == x->mark) return TN_OK;
    uint32_t *files = tn_grow(s->alloc, x->files, &x->file_cap, x->file_count, sizeof(*files));
    if (!files) return tn_scan_memory(s);
    x->files = files;
    files[x->file_count++] = file;
    s->extra[file].member = x->mark;
    tn_scan_claim(s, file);
    return TN_OK;
}

/* Whether `file` continues the series of the first shard; neighbours in the order of paths. */
static bool is_sibling(const struct index *x, uint32_t file, const struct tn_shard_name *series)
{
    const struct tn_package_file *f = &x->s->inv->files[file];
    struct tn_shard_name other;
    return f->role == TN_ROLE_SAFETENSORS && tn_shard_name(f->path, ".safetensors", &other) &&
           tn_str_eq(other.stem, series->stem) && other.total == series->total && other.width == series->width;
}

static enum tn_status take_forgotten(struct index *x, uint32_t file)
{
    struct tn_scan *s = x->s;
    if (s->extra[file].named == x->mark) return TN_OK;
    struct tn_finding *f =
        tn_scan_finding(s, file, TN_BLOCKER, TN_UNEXPECTED_TENSOR, "a shard that the index does not name");
    tn_found(f, "%u tensors; index %.*s", s->extra[file].tensor_count, TN_FMT_ARG(s->inv->files[x->file].path));
    tn_remedy(f, "fetch index and shards from the same revision");
    return take_file(x, file);
}

/* Shards of the same series as the first one that no entry names. */
static enum tn_status take_siblings(struct index *x)
{
    struct tn_shard_name series;
    uint32_t first = x->files[0], from = first, to = first + 1;
    if (!tn_shard_name(x->s->inv->files[first].path, ".safetensors", &series)) return TN_OK;
    while (from > 0 && is_sibling(x, from - 1, &series)) from--;
    while (to < x->s->inv->file_count && is_sibling(x, to, &series)) to++;
    enum tn_status status = TN_OK;
    for (uint32_t i = from; !status && i < to; i++) status = take_forgotten(x, i);
    return status;
}

static int by_number(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static enum tn_status collect_files(struct index *x)
{
    struct tn_scan *s = x->s;
    enum tn_status status = TN_OK;
    for (size_t i = 0; !status && i < tn_json_count(x->map); i++) {
        if (x->owners[i] == TN_NO_FILE) continue;
        s->extra[x->owners[i]].named = x->mark;
        status = take_file(x, x->owners[i]);
    }
    if (!status && x->file_count) status = take_siblings(x);
    if (status) return status;
    struct tn_shard_name name;
    struct tn_str first = x->file_count ? s->inv->files[x->files[0]].path : s->inv->files[x->file].path;
    tn_shard_name(first, ".safetensors", &name);
    x->set->stem = name.stem;
    x->set->file_count = x->file_count;
    x->set->files = tn_arena_array(s->arena, x->file_count, sizeof(*x->set->files));
    if (!x->set->files) return tn_scan_memory(s);
    for (uint32_t i = 0; i < x->file_count; i++) x->set->files[i] = x->files[i];
    tn_sort(x->set->files, x->file_count, sizeof(*x->set->files), by_number, NULL);
    return tn_scan_set_tensors(s, x->set);
}

/* ---- agreement --------------------------------------------------------------------------------------------------- */

static int by_file_name(const void *a, const void *b, void *context)
{
    (void)context;
    const struct tn_json *x = a, *y = b;
    int order = tn_str_order(text_of(*x), text_of(*y));
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* One finding per missing shard, however many tensors it should hold. */
static void report_missing(struct index *x)
{
    tn_sort(x->missing, x->missing_count, sizeof(*x->missing), by_file_name, NULL);
    for (size_t i = 0, next; i < x->missing_count; i = next) {
        struct tn_str name = text_of(x->missing[i]);
        for (next = i + 1; next < x->missing_count && tn_str_eq(text_of(x->missing[next]), name); next++) {
        }
        struct tn_finding *f =
            finding(x, TN_ARTIFACT_MISSING, x->missing[i], "a shard that the index names is missing");
        tn_found(f, "no file %.*s, which should hold %zu tensor(s), \"%.*s\" first", TN_FMT_ARG(name), next - i,
                 TN_FMT_ARG(tn_json_key(x->missing[i])));
        tn_remedy(f, "fetch the missing shard");
    }
}

/* The set's tensors; NULL when it has none. */
static const struct tn_tensor_info *tensors_of(const struct index *x)
{
    return x->set->tensor_count ? x->s->inv->tensors + x->set->first_tensor : NULL;
}

/* First tensor of the set with this name, or the set's count. */
static uint32_t find_tensor(const struct index *x, struct tn_str name)
{
    const struct tn_tensor_info *items = tensors_of(x);
    uint32_t low = 0, high = x->set->tensor_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tn_str_order(items[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < x->set->tensor_count && tn_str_eq(items[low].name, name) ? low : x->set->tensor_count;
}

static void check_entry(struct index *x, struct tn_json entry, uint32_t owner)
{
    const struct tn_inventory *inv = x->s->inv;
    const struct tn_tensor_info *items = tensors_of(x);
    struct tn_str name = tn_json_key(entry), shard = inv->files[owner].path;
    uint32_t at = find_tensor(x, name);
    bool there = false;
    for (uint32_t i = at; i < x->set->tensor_count && tn_str_eq(items[i].name, name); i++) {
        x->named[i] = true;
        there = there || items[i].file == owner;
    }
    if (there || !x->s->extra[owner].good) return; /* a broken shard has been reported as that */
    struct tn_finding *f;
    if (at < x->set->tensor_count) {
        f = finding(x, TN_TENSOR_MISMATCH, entry, "the index names another shard than the one that holds the tensor");
        tn_found(f, "\"%.*s\" is in %.*s", TN_FMT_ARG(name), TN_FMT_ARG(inv->files[items[at].file].path));
    } else {
        f = finding(x, TN_MISSING_TENSOR, entry, "the index names a tensor that is in no shard");
        tn_found(f, "no tensor \"%.*s\" in any shard", TN_FMT_ARG(name));
    }
    tn_expected(f, "\"%.*s\" in %.*s", TN_FMT_ARG(name), TN_FMT_ARG(shard));
    tn_remedy(f, "fetch index and shards from the same revision");
}

static void report_unnamed(struct index *x)
{
    const struct tn_inventory *inv = x->s->inv;
    for (uint32_t i = 0; i < x->set->tensor_count; i++) {
        const struct tn_tensor_info *t = &inv->tensors[x->set->first_tensor + i];
        if (x->named[i] || x->s->extra[t->file].named != x->mark) continue; /* a whole shard was reported as that */
        struct tn_finding *f =
            tn_scan_finding(x->s, t->file, TN_BLOCKER, TN_UNEXPECTED_TENSOR, "a tensor in a shard is not in the index");
        tn_at_element(f, TN_ELEMENT_TENSOR, t->name);
        tn_found(f, "in %.*s, not in %.*s", TN_FMT_ARG(inv->files[t->file].path), TN_FMT_ARG(inv->files[x->file].path));
        tn_remedy(f, "fetch index and shards from the same revision");
    }
}

static void check_total(struct index *x, struct tn_json root)
{
    uint64_t stated, bytes = 0;
    struct tn_json value = tn_json_find(root, "/metadata/total_size");
    const struct tn_inventory *inv = x->s->inv;
    for (uint32_t i = 0; i < x->set->file_count; i++) {
        if (!x->s->extra[x->set->files[i]].good) return;
    }
    for (uint32_t i = 0; i < x->set->tensor_count; i++) bytes += inv->tensors[x->set->first_tensor + i].bytes;
    if (x->missing_count || !tn_json_u64(value, &stated) || stated == bytes) return;
    struct tn_finding *f = tn_scan_finding(x->s, x->file, TN_WARNING, TN_ARTIFACT_MALFORMED,
                                           "the index states another total size than its shards have");
    tn_at_json(f, value);
    tn_found(f, "%llu bytes of tensors", (unsigned long long)bytes);
    tn_expected(f, "%llu", (unsigned long long)stated);
}

static enum tn_status check(struct index *x, struct tn_json root)
{
    enum tn_status status = resolve_all(x);
    if (!status) status = collect_files(x);
    if (status) return status;
    report_missing(x);
    x->named = tn_calloc(x->s->alloc, x->set->tensor_count + 1, sizeof(*x->named));
    if (!x->named) return tn_scan_memory(x->s);
    size_t i = 0;
    for (struct tn_json v = tn_json_first(x->map); tn_json_present(v); v = tn_json_next(v), i++) {
        if (x->owners[i] != TN_NO_FILE) check_entry(x, v, x->owners[i]);
    }
    report_unnamed(x);
    check_total(x, root);
    return TN_OK;
}

enum tn_status tn_scan_index(struct tn_scan *s, uint32_t index_file, uint32_t mark)
{
    struct tn_json_doc doc;
    struct tn_str path = s->inv->files[index_file].path;
    enum tn_status status = tn_inventory_json(s->inv, path, &doc, s->problem);
    if (status) return tn_scan_take(s, index_file, TN_BLOCKER, status);
    struct tn_json root = tn_json_root(&doc);
    struct index x = {.s = s, .file = index_file, .mark = mark, .map = tn_json_get(root, "weight_map")};
    size_t entries = tn_json_count(x.map);
    x.set = tn_scan_add_set(s, tn_package_folder(path), tn_base_name(path));
    x.owners = tn_malloc(s->alloc, entries * sizeof(*x.owners) + 1);
    x.missing = tn_malloc(s->alloc, entries * sizeof(*x.missing) + 1);
    if (!x.set || !x.owners || !x.missing) {
        status = tn_scan_memory(s);
    } else {
        x.set->index_file = index_file;
        status = check(&x, root);
    }
    tn_free(s->alloc, x.owners);
    tn_free(s->alloc, x.missing);
    tn_free(s->alloc, x.named);
    tn_free(s->alloc, x.files);
    tn_json_release(&doc);
    return status;
}
