/*
 * safetensors, facts to verdict: every tensor has the bytes that its shape and type need, and the ranges tile the data
 * area exactly, which excludes overlaps, holes, cut files and trailing bytes at once. The first contradiction between
 * size and header is explained as what it is (a cut file), not as its many consequences.
 */
#include "package/scan.h"

#include "base/checked.h"
#include "base/sort.h"

struct check {
    struct tn_findings *findings;
    const struct tn_source *source;
    const struct tn_limits *limits;
    struct tn_tensor_info *items;
    uint32_t *order; /* indices of items by place in the file */
    size_t count;
    uint64_t data_begin, data_bytes;
};

static struct tn_finding *add(struct check *c, const struct tn_tensor_info *t, enum tn_status code, const char *what)
{
    struct tn_finding *f = tn_findings_add(c->findings, TN_BLOCKER, code, TN_PHASE_PACKAGE, "%s", what);
    tn_at_tensor(f, c->source->name, t->name);
    return f;
}

/* Bytes that shape and type need: false when they cannot be computed, with a finding. */
static bool needed_bytes(struct check *c, const struct tn_tensor_info *t, uint64_t *out)
{
    uint64_t bits = tn_dtype_bits(t->dtype), limit = c->limits->tensor_bytes;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (!tn_mul64(bits, t->shape[i], &bits)) {
            struct tn_finding *f = add(c, t, TN_RESOURCE_LIMIT, "a tensor's size is beyond 64 bits");
            tn_expected(f, "at most %llu bytes (limit tensor_bytes)", (unsigned long long)limit);
            return false;
        }
    }
    if (bits % 8) {
        struct tn_finding *f = add(c, t, TN_ARTIFACT_MALFORMED, "a tensor does not end at a whole byte");
        tn_found(f, "%llu bits of %s", (unsigned long long)bits, tn_dtype_name(t->dtype));
        return false;
    }
    *out = bits / 8;
    if (*out > limit) {
        struct tn_finding *f = add(c, t, TN_RESOURCE_LIMIT, "a tensor exceeds the limit tensor_bytes");
        tn_found(f, "%llu bytes", (unsigned long long)*out);
        tn_expected(f, "at most %llu", (unsigned long long)limit);
        return false;
    }
    return true;
}

static void check_sizes(struct check *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct tn_tensor_info *t = &c->items[i];
        uint64_t needed;
        if (t->dtype == TN_DTYPE_UNKNOWN || !needed_bytes(c, t, &needed) || needed == t->bytes) continue;
        struct tn_finding *f =
            add(c, t, TN_ARTIFACT_MALFORMED, "a tensor's data_offsets do not fit its shape and element type");
        tn_found(f, "%llu bytes at %llu", (unsigned long long)t->bytes, (unsigned long long)t->offset);
        tn_expected(f, "%llu bytes", (unsigned long long)needed);
    }
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct check *c = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct tn_tensor_info *x = &c->items[i], *y = &c->items[j];
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return (i > j) - (i < j);
}

/* begin + bytes cannot overflow: both came from one end <= UINT64_MAX. */
static uint64_t end_of(const struct tn_tensor_info *t)
{
    return t->offset + t->bytes;
}

static void overlap(struct check *c, const struct tn_tensor_info *t, const struct tn_tensor_info *other)
{
    struct tn_finding *f = add(c, t, TN_ARTIFACT_MALFORMED, "two tensors share bytes");
    tn_found(f, "begins at %llu, but \"%.*s\" ends at %llu", (unsigned long long)t->offset, TN_FMT_ARG(other->name),
             (unsigned long long)end_of(other));
    tn_expected(f, "each byte in one tensor");
}

static void hole(struct check *c, const struct tn_tensor_info *t, const struct tn_tensor_info *before, uint64_t at)
{
    struct tn_finding *f = add(c, t, TN_ARTIFACT_MALFORMED, "bytes that belong to no tensor");
    if (before) {
        tn_found(f, "%llu bytes between \"%.*s\" and this tensor", (unsigned long long)(t->offset - at),
                 TN_FMT_ARG(before->name));
    } else {
        tn_found(f, "%llu bytes before the first tensor", (unsigned long long)t->offset);
    }
    tn_expected(f, "the tensor to begin at %llu", (unsigned long long)at);
}

/* Walks the tensors by place; returns where the data that they declare ends. */
static uint64_t check_tiling(struct check *c)
{
    uint64_t at = 0;
    const struct tn_tensor_info *before = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct tn_tensor_info *t = &c->items[c->order[i]];
        if (t->offset < at) {
            overlap(c, t, before);
        } else if (t->offset > at) {
            hole(c, t, before, at);
        }
        if (end_of(t) >= at) {
            at = end_of(t);
            before = t;
        }
    }
    return at;
}

static void cut_file(struct check *c, uint64_t declared)
{
    const struct tn_tensor_info *first = NULL;
    size_t affected = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct tn_tensor_info *t = &c->items[c->order[i]];
        if (end_of(t) <= c->data_bytes) continue;
        if (!first) first = t;
        affected++;
    }
    struct tn_finding *f = add(c, first, TN_ARTIFACT_MALFORMED, "the file ends before its last tensor");
    uint64_t end = c->data_begin > UINT64_MAX - declared ? UINT64_MAX : c->data_begin + declared;
    if (f) f->offset = (int64_t)(c->source->size > INT64_MAX ? INT64_MAX : c->source->size);
    tn_found(f, "file size %llu, %llu bytes missing, %zu tensor(s) affected, this one first",
             (unsigned long long)c->source->size, (unsigned long long)(end - c->source->size), affected);
    tn_expected(f, "a file that ends at %llu", (unsigned long long)end);
    tn_remedy(f, "fetch the file again; a download may have been interrupted");
}

static void trailing(struct check *c, uint64_t declared)
{
    struct tn_finding *f = tn_findings_add(c->findings, TN_BLOCKER, TN_ARTIFACT_MALFORMED, TN_PHASE_PACKAGE,
                                           "bytes after the last tensor");
    tn_at_offset(f, c->source->name, c->data_begin + declared);
    tn_found(f, "file size %llu", (unsigned long long)c->source->size);
    tn_expected(f, "a file that ends at %llu", (unsigned long long)(c->data_begin + declared));
    tn_remedy(f, "fetch the file again; two files may have been joined");
}

void tn_safetensors_check(struct tn_findings *findings, const struct tn_source *source, const struct tn_limits *limits,
                          struct tn_tensor_info *items, size_t count, uint32_t *order, uint64_t data_begin)
{
    struct check c = {
        .findings = findings,
        .source = source,
        .limits = limits,
        .items = items,
        .order = order,
        .count = count,
        .data_begin = data_begin,
        .data_bytes = source->size - data_begin,
    };
    size_t before = findings->blockers;
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    tn_sort(order, count, sizeof(*order), by_place, &c);
    check_sizes(&c);
    uint64_t declared = check_tiling(&c);
    if (findings->blockers == before && declared > c.data_bytes) cut_file(&c, declared);
    if (findings->blockers == before && declared < c.data_bytes) trailing(&c, declared);
    for (size_t i = 0; i < count; i++) items[i].offset += data_begin;
}
