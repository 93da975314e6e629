/*
 * Weights under several names: a link inside the package, two links to one blob of a snapshot, a hard link. One device
 * and inode is one file, and a second name is no second alternative, as long as both names belong to one configuration
 * (the nearest config.json above them): the same bytes under two configurations are two models.
 */
#include "package/scan.h"

#include "base/sort.h"

struct name {
    uint32_t file;
    struct tn_str folder; /* of its configuration */
};

/*
 * Weights that are what they are under any name. Others are found by theirs: the parts of a split GGUF, what a graph
 * names relative to its own place, the two files of OpenVINO; pickles of a folder are one set anyway.
 */
static bool is_free_of_its_name(const struct tn_scan *s, uint32_t file)
{
    struct tn_shard_name name;
    switch (s->inv->files[file].role) {
    case TN_ROLE_SAFETENSORS:
    case TN_ROLE_WEIGHTS: return true;
    case TN_ROLE_GGUF: return !tn_shard_name(s->inv->files[file].path, ".gguf", &name);
    case TN_ROLE_ONNX: return s->extra[file].location_count == 0;
    default: return false;
    }
}

/* Which of several names counts, smallest first: beside the configuration, the usual name, the file and not a link. */
static unsigned rank_of(const struct tn_package_file *file, struct tn_str folder)
{
    struct tn_shard_name name;
    tn_shard_name(file->path, ".safetensors", &name);
    bool usual = tn_str_is(name.stem, "model") || tn_str_is(name.stem, "adapter_model");
    return (tn_str_eq(tn_package_folder(file->path), folder) ? 0 : 4) + (usual ? 0 : 2) + (file->link ? 1 : 0);
}

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Names of one file and one configuration stand together. */
static int by_file(const struct tn_scan *s, const struct name *x, const struct name *y)
{
    const struct tn_file_stamp *a = &s->inv->files[x->file].stamp, *b = &s->inv->files[y->file].stamp;
    int order = by_number(a->device, b->device);
    if (!order) order = by_number(a->inode, b->inode);
    return order ? order : tn_str_order(x->folder, y->folder);
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct tn_scan *s = context;
    const struct name *x = a, *y = b;
    int order = by_file(s, x, y);
    if (!order) order = by_number(s->extra[x->file].rank, s->extra[y->file].rank);
    return order ? order : by_number(x->file, y->file);
}

enum tn_status tn_scan_names(struct tn_scan *s)
{
    struct tn_inventory *inv = s->inv;
    struct name *names = tn_calloc(s->alloc, inv->file_count, sizeof(*names));
    size_t count = 0;
    if (!names) return tn_scan_memory(s);
    for (uint32_t i = 0; i < inv->file_count; i++) {
        s->extra[i].same = i;
        if (!is_free_of_its_name(s, i)) continue;
        names[count] = (struct name){i, tn_scan_config_folder(s, tn_package_folder(inv->files[i].path))};
        s->extra[i].rank = rank_of(&inv->files[i], names[count].folder);
        count++;
    }
    if (count) tn_sort(names, count, sizeof(*names), by_rank, s);
    for (size_t i = 1; i < count; i++) {
        if (by_file(s, &names[i - 1], &names[i]) != 0) continue;
        s->extra[names[i].file].same = s->extra[names[i - 1].file].same;
        s->several_names = true;
    }
    tn_free(s->alloc, names);
    return TN_OK;
}

void tn_scan_claim(struct tn_scan *s, uint32_t file)
{
    struct tn_scan_file *first = &s->extra[s->extra[file].same];
    s->extra[file].used = true;
    if (!first->taken) first->taken_as = file;
    first->taken = true;
}

bool tn_scan_is_taken(const struct tn_scan *s, uint32_t file)
{
    return s->extra[file].used || s->extra[s->extra[file].same].taken;
}

void tn_scan_note_name(struct tn_scan *s, uint32_t file)
{
    if (s->extra[file].used) return;
    s->extra[file].used = true;
    struct tn_finding *f = tn_scan_finding(s, file, TN_NOTE, TN_OK, "another name of a file that is listed already");
    tn_found(f, "the same file as %.*s", TN_FMT_ARG(s->inv->files[s->extra[s->extra[file].same].taken_as].path));
}
