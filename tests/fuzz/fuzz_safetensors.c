/*
 * Fuzz target: the safetensors reader over bytes in memory. What it accepts must hold: every tensor inside the file, no
 * two of them sharing a byte, every byte of the data owned. The first byte of the input extends the file by that many
 * KiB of claimed but absent data, so that headers for larger data are reachable by small inputs.
 */
#include "package/package.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

struct extended {
    const uint8_t *data;
    size_t size;
};

static int read_extended(void *context, uint64_t offset, void *dst, size_t n)
{
    const struct extended *e = context;
    memset(dst, 0, n);
    if (offset < e->size) memcpy(dst, e->data + offset, n < e->size - offset ? n : e->size - (size_t)offset);
    return 0;
}

static void check(const struct tn_tensor_list *list, uint64_t size)
{
    uint64_t total = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_tensor_info *t = &list->items[i];
        require(t->offset <= size && t->bytes <= size - t->offset && t->offset >= 10);
        require(t->rank <= TN_MAX_RANK && t->dtype < TN_DTYPE_UNKNOWN && t->name.s && t->name.s[t->name.n] == 0);
        uint64_t elements = 1;
        for (uint32_t d = 0; d < t->rank; d++) elements *= t->shape[d];
        require(elements * tn_dtype_bits(t->dtype) == t->bytes * 8);
        total += t->bytes;
        for (size_t k = 0; k < i && k < 50; k++) {
            const struct tn_tensor_info *o = &list->items[k];
            require(t->bytes == 0 || o->bytes == 0 || t->offset + t->bytes <= o->offset ||
                    o->offset + o->bytes <= t->offset);
        }
    }
    require(total <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tn_error err;
    struct tn_alloc alloc;
    struct tn_arena arena;
    struct tn_digest digest;
    if (size == 0) return 0;
    struct extended bytes = {data + 1, size - 1};
    struct tn_source source = {
        .size = bytes.size + (uint64_t)data[0] * 1024,
        .read = read_extended,
        .context = &bytes,
        .name = TN_STR("fuzz"),
    };
    tn_alloc_init(&alloc);
    tn_arena_init(&arena, &alloc);
    struct tn_tensor_list list = {.alloc = &alloc};
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    ctx.limits.header_bytes = 1 << 20;
    enum tn_status status = tn_safetensors_read(&ctx, &source, 3, &arena, &list, &digest, &err);
    if (status == TN_OK) {
        check(&list, source.size);
    } else {
        require(status != TN_INSUFFICIENT_MEMORY && err.primary.code == status && list.count == 0);
    }
    tn_free(&alloc, list.items);
    tn_arena_release(&arena);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
