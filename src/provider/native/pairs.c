/*
 * Tensors that tie_word_embeddings makes one although the package holds both: read side by side before anything is packed.
 * Equal contents are one tensor that was saved twice. Different contents are a contradiction of weights and configuration:
 * releases of the reference disagree on which of them counts, and so nothing is chosen.
 */
#include "provider/native/native.h"

#include <string.h>

enum { BLOCK = 256 << 10 };

static enum tn_status refuse(const struct tn_inventory *inv, const struct tn_tied_pair *pair, uint64_t at, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_DUPLICATE_TENSOR, TN_PHASE_LOAD,
                                        "two tensors that tie_word_embeddings makes one hold different numbers");
    tn_at_tensor(f, inv->files[pair->other->file].path, pair->other->name);
    tn_found(f, "%.*s and %.*s, which differ at byte %llu", TN_FMT_ARG(pair->read->name), TN_FMT_ARG(pair->other->name),
             (unsigned long long)at);
    tn_expected(f, "equal tensors, or one of them");
    tn_remedy(f, "remove the one that is not meant, or set tie_word_embeddings to false where both are meant");
    return TN_DUPLICATE_TENSOR;
}

static enum tn_status read_block(const struct tn_os_file *file, const struct tn_tensor_info *t, uint64_t at, void *dst, size_t n,
                                 struct tn_error *err)
{
    if (tn_os_read(file, t->offset + at, dst, n) == 0) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD, "a tensor cannot be read to its end");
    tn_at_element(f, TN_ELEMENT_TENSOR, t->name);
    return TN_ARTIFACT_MALFORMED;
}

static size_t first_difference(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    while (i < n && a[i] == b[i]) i++;
    return i;
}

static enum tn_status compare(const struct tn_inventory *inv, const struct tn_tied_pair *pair, const struct tn_os_file files[2],
                              char *block, const struct tn_cancel *cancel, struct tn_error *err)
{
    uint64_t bytes = pair->read->bytes;
    if (pair->other->bytes != bytes || pair->other->dtype != pair->read->dtype) return refuse(inv, pair, 0, err);
    for (uint64_t at = 0; at < bytes; at += BLOCK) {
        size_t n = bytes - at < BLOCK ? (size_t)(bytes - at) : BLOCK;
        enum tn_status st = tn_cancel_fail(cancel, TN_PHASE_LOAD, err);
        if (!st) st = read_block(&files[0], pair->read, at, block, n, err);
        if (!st) st = read_block(&files[1], pair->other, at, block + BLOCK, n, err);
        if (!st && memcmp(block, block + BLOCK, n) != 0) st = refuse(inv, pair, at + first_difference(block, block + BLOCK, n), err);
        if (st) return st;
    }
    return TN_OK;
}

static enum tn_status check(const struct tn_inventory *inv, const struct tn_tied_pair *pair, char *block,
                            const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_os_file files[2];
    enum tn_status st = tn_inventory_open_file(inv, &inv->files[pair->read->file], &files[0], err);
    if (st) return st;
    st = tn_inventory_open_file(inv, &inv->files[pair->other->file], &files[1], err);
    if (!st) {
        st = compare(inv, pair, files, block, cancel, err);
        tn_os_close(&files[1]);
    }
    tn_os_close(&files[0]);
    return st;
}

enum tn_status tn_native_check_pairs(const struct tn_native_program *program, const struct tn_inventory *inv,
                                     const struct tn_load_env *env, struct tn_error *err)
{
    const struct tn_binding *b = &program->binding;
    if (b->pair_count == 0) return TN_OK;
    char *block = tn_malloc(env->ctx->alloc, 2 * BLOCK);
    if (!block) return tn_error_memory(err, TN_PHASE_LOAD, "comparing tied tensors");
    enum tn_status st = TN_OK;
    for (uint32_t i = 0; !st && i < b->pair_count; i++) st = check(inv, &b->pairs[i], block, env->cancel, err);
    tn_free(env->ctx->alloc, block);
    return st;
}
