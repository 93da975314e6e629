/*
 * Which safetensors files belong together: those that one index names, those that are numbered "-00001-of-00004" with
 * one stem, and single files. Works on names and headers that were read before; opens nothing.
 */
#include "package/scan.h"

#include "base/sort.h"

#include <string.h>

/* Reads digits backwards from s[*end); false when there are none or too many. */
static bool digits_before(struct tn_str s, size_t *end, uint32_t *value, uint32_t *width)
{
    size_t from = *end;
    while (from > 0 && s.s[from - 1] >= '0' && s.s[from - 1] <= '9') from--;
    *width = (uint32_t)(*end - from);
    if (*width == 0 || *width > 9) return false;
    *value = 0;
    for (size_t i = from; i < *end; i++) *value = *value * 10 + (uint32_t)(s.s[i] - '0');
    *end = from;
    return true;
}

bool tn_shard_name(struct tn_str path, const char *suffix, struct tn_shard_name *out)
{
    struct tn_str name = tn_base_name(path);
    if (tn_ends_fold(name, suffix)) name.n -= strlen(suffix);
    *out = (struct tn_shard_name){.stem = name};
    size_t end = name.n;
    uint32_t number, total, width, total_width;
    if (!digits_before(name, &end, &total, &total_width) || end < 5 || memcmp(name.s + end - 4, "-of-", 4) != 0)
        return false;
    end -= 4;
    if (!digits_before(name, &end, &number, &width) || end < 2 || name.s[end - 1] != '-') return false;
    if (number == 0 || number > total) return false;
    *out = (struct tn_shard_name){{name.s, end - 1}, number, total, width};
    return true;
}

struct tn_scan_set *tn_scan_add_set(struct tn_scan *s, struct tn_str folder, struct tn_str stem)
{
    struct tn_scan_set *sets = tn_grow(s->alloc, s->sets, &s->set_cap, s->set_count, sizeof(*sets));
    if (!sets) return NULL;
    s->sets = sets;
    sets[s->set_count] = (struct tn_scan_set){.folder = folder, .stem = stem, .index_file = TN_NO_FILE};
    return &sets[s->set_count++];
}

/* ---- tensors of a set -------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b, void *context)
{
    (void)context;
    const struct tn_tensor_info *x = a, *y = b;
    int order = tn_str_order(x->name, y->name);
    return order ? order : (x->file > y->file) - (x->file < y->file);
}

static enum tn_status over_tensors(struct tn_scan *s)
{
    struct tn_finding *f =
        tn_error_set(s->err, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "the package exceeds the limit tensors");
    tn_at_file(f, s->inv->shown);
    tn_expected(f, "at most %llu", (unsigned long long)s->ctx->limits.tensors);
    tn_remedy(f, "open the folder of one model, or raise the limit tensors");
    return TN_RESOURCE_LIMIT;
}

static void report_twice(struct tn_scan *s, const struct tn_scan_set *set)
{
    const struct tn_tensor_info *items = s->inv->tensors + set->first_tensor;
    for (uint32_t i = 1; i < set->tensor_count; i++) {
        if (!tn_str_eq(items[i].name, items[i - 1].name)) continue;
        struct tn_str first = s->inv->files[items[i - 1].file].path;
        struct tn_finding *f =
            tn_scan_finding(s, items[i].file, TN_BLOCKER, TN_DUPLICATE_TENSOR, "the same tensor is in two shards");
        tn_at_element(f, TN_ELEMENT_TENSOR, items[i].name);
        tn_found(f, "in %.*s and in %.*s", TN_FMT_ARG(first), TN_FMT_ARG(s->inv->files[items[i].file].path));
        tn_expected(f, "each tensor in one shard");
        tn_remedy(f, "remove the shard that does not belong to this set");
    }
}

enum tn_status tn_scan_set_tensors(struct tn_scan *s, struct tn_scan_set *set)
{
    struct tn_inventory *inv = s->inv;
    uint64_t count = 0;
    for (uint32_t i = 0; i < set->file_count; i++) count += s->extra[set->files[i]].tensor_count;
    set->first_tensor = inv->tensor_count;
    set->tensor_count = (uint32_t)count;
    if (count == 0) return TN_OK;
    if (count > s->ctx->limits.tensors - inv->tensor_count) return over_tensors(s);
    struct tn_tensor_info *items =
        tn_realloc(s->alloc, inv->tensors, (size_t)(inv->tensor_count + count) * sizeof(*items));
    if (!items) return tn_scan_memory(s);
    inv->tensors = items;
    for (uint32_t i = 0; i < set->file_count; i++) {
        const struct tn_scan_file *extra = &s->extra[set->files[i]];
        if (extra->tensor_count == 0) continue;
        memcpy(items + inv->tensor_count, s->raw.items + extra->first_tensor, extra->tensor_count * sizeof(*items));
        inv->tensor_count += extra->tensor_count;
    }
    tn_sort(items + set->first_tensor, set->tensor_count, sizeof(*items), by_name, NULL);
    report_twice(s, set);
    return TN_OK;
}

/* ---- numbered and single files ----------------------------------------------------------------------------------- */

static bool same_series(const struct tn_shard_name *a, struct tn_str folder_a, const struct tn_shard_name *b,
                        struct tn_str folder_b)
{
    return a->total == b->total && a->width == b->width && tn_str_eq(a->stem, b->stem) && tn_str_eq(folder_a, folder_b);
}

/* Files are sorted by path, so a series stands together in the order of its numbers. */
static void report_missing(struct tn_scan *s, const struct tn_scan_set *set, uint32_t total)
{
    uint32_t next = 1, missing = total - set->file_count, first = 0;
    if (set->file_count >= total) return;
    for (uint32_t i = 0; i < set->file_count && !first; i++, next++) {
        struct tn_shard_name name;
        tn_shard_name(s->inv->files[set->files[i]].path, ".safetensors", &name);
        if (name.number != next) first = next;
    }
    struct tn_finding *f = tn_scan_finding(s, set->files[0], TN_BLOCKER, TN_ARTIFACT_MISSING, "shards are missing");
    tn_found(f, "%u of %u shards, no index; the first that is missing is number %u", set->file_count, total,
             first ? first : next);
    tn_expected(f, "all %u shards", total);
    tn_remedy(f, missing == total - 1 ? "open the folder that holds all shards"
                                      : "fetch the missing shards and the index");
}

/* A series is taken from its first shard on. */
static bool starts_series(const struct tn_scan *s, uint32_t file)
{
    const struct tn_package_file *files = s->inv->files;
    struct tn_shard_name name, before;
    if (file == 0 || !tn_shard_name(files[file].path, ".safetensors", &name)) return true;
    return files[file - 1].role != TN_ROLE_SAFETENSORS || s->extra[file - 1].used ||
           !tn_shard_name(files[file - 1].path, ".safetensors", &before) ||
           !same_series(&name, tn_package_folder(files[file].path), &before, tn_package_folder(files[file - 1].path));
}

/* Whether all of these files have been taken under other names, which is then said. */
static bool are_taken(struct tn_scan *s, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        if (!tn_scan_is_taken(s, i)) return false;
    }
    for (uint32_t i = first; i < last; i++) tn_scan_note_name(s, i);
    return true;
}

static enum tn_status add_series(struct tn_scan *s, uint32_t first)
{
    const struct tn_package_file *files = s->inv->files;
    struct tn_str folder = tn_package_folder(files[first].path);
    struct tn_shard_name name, other;
    bool numbered = tn_shard_name(files[first].path, ".safetensors", &name);
    uint32_t last = first + 1;
    while (numbered && last < s->inv->file_count && tn_shard_name(files[last].path, ".safetensors", &other) &&
           same_series(&name, folder, &other, tn_package_folder(files[last].path)) &&
           files[last].role == TN_ROLE_SAFETENSORS && !s->extra[last].used) {
        last++;
    }
    if (are_taken(s, first, last)) return TN_OK;
    struct tn_scan_set *set = tn_scan_add_set(s, folder, name.stem);
    if (!set) return tn_scan_memory(s);
    set->files = tn_arena_array(s->arena, last - first, sizeof(*set->files));
    if (!set->files) return tn_scan_memory(s);
    for (uint32_t i = first; i < last; i++) {
        set->files[set->file_count++] = i;
        tn_scan_claim(s, i);
    }
    if (numbered) report_missing(s, set, name.total);
    return tn_scan_set_tensors(s, set);
}

enum tn_status tn_scan_sets(struct tn_scan *s)
{
    const struct tn_package_file *files = s->inv->files;
    enum tn_status status = TN_OK;
    for (uint32_t i = 0; !status && i < s->inv->file_count; i++) {
        if (files[i].role == TN_ROLE_SAFETENSORS_INDEX) status = tn_scan_index(s, i, i + 1);
    }
    /* Where a file has several names, those that count come first. */
    for (unsigned rank = 0; rank < (s->several_names ? TN_NAME_RANKS : 1); rank++) {
        for (uint32_t i = 0; !status && i < s->inv->file_count; i++) {
            if (files[i].role != TN_ROLE_SAFETENSORS || s->extra[i].used) continue;
            bool turn = !s->several_names || (s->extra[i].rank == rank && starts_series(s, i));
            if (turn) status = add_series(s, i);
        }
    }
    return status;
}
