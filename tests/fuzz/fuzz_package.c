/*
 * Fuzz target: a whole package folder, made from the input (package_tree.h) on TMPDIR. The inventory is opened and
 * used: written as JSON that must parse, every variant chosen, its findings collected, its tensors looked up, the
 * closure taken.
 */
#define _GNU_SOURCE
#include "fuzz_folder.h"
#include "package_tree.h"

#include "package/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tn_error err;

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

/* A variant or a part. */
static void use_set(const struct tn_inventory *inv, const struct tn_variant *v)
{
    struct tn_findings found;
    tn_findings_init(&found, inv->ctx->alloc, 5000);
    tn_inventory_findings(inv, v, &found);
    require(found.count <= inv->findings.count && found.blockers <= inv->findings.blockers);
    tn_findings_release(&found);
    require(v->first_tensor + v->tensor_count <= inv->tensor_count);
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        const struct tn_tensor_info *t = &inv->tensors[v->first_tensor + i],
                                    *found_one = tn_variant_tensor(inv, v, t->name);
        require(found_one && tn_str_eq(found_one->name, t->name));
        require(t->file < inv->file_count && t->offset <= inv->files[t->file].size &&
                t->bytes <= inv->files[t->file].size - t->offset);
    }
    for (uint32_t i = 0; i < v->file_count; i++) require(v->files[i] < inv->file_count);
}

static void write_document(const struct tn_inventory *inv)
{
    struct tn_buf out;
    struct tn_json_writer w;
    struct tn_json_doc doc;
    tn_buf_init(&out, inv->ctx->alloc, 64 << 20);
    tn_jw_init(&w, &out, false);
    tn_jw_begin_object(&w);
    tn_inventory_write(&w, inv);
    tn_jw_end_object(&w);
    require(tn_buf_status(&out) == TN_OK);
    require(tn_json_parse(&doc, inv->ctx->alloc, &inv->ctx->limits, TN_STR("out"), tn_buf_str(&out), &err) == TN_OK);
    tn_json_release(&doc);
    tn_buf_release(&out);
}

/* The dear part, for a quarter of the inputs: everything read again, and a second opening that must agree. */
static void compare(const struct tn_inventory *inv)
{
    struct tn_inventory *again;
    struct tn_digest digest;
    require(tn_inventory_closure(inv, NULL, &digest, &err) != TN_INSUFFICIENT_MEMORY);
    require(tn_inventory_open(inv->ctx, fuzz_folder(), &again, &err) == TN_OK);
    require(tn_digest_eq(&inv->manifest, &again->manifest) && inv->findings.count == again->findings.count);
    tn_inventory_free(again);
}

static void use(const struct tn_inventory *inv)
{
    const struct tn_variant *chosen;
    struct tn_str text;
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *v = &inv->variants[i];
        use_set(inv, v);
        require(tn_inventory_variant(inv, v->id.s, &chosen, &err) == TN_OK && chosen == v);
    }
    for (uint32_t i = 0; i < inv->part_count; i++) {
        use_set(inv, &inv->parts[i]);
        require(tn_inventory_part(inv, inv->parts[i].place) != NULL);
    }
    tn_inventory_variant(inv, NULL, &chosen, &err);
    write_document(inv);
    for (uint32_t i = 0; i < inv->file_count; i++) {
        if (tn_inventory_read(inv, inv->files[i].path, &text, &err) == TN_OK)
            tn_free(inv->ctx->alloc, (void *)(uintptr_t)text.s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tn_alloc alloc;
    struct tn_inventory *inv;
    const char *folder = fuzz_folder();
    tree_make(folder, data, size);
    tn_alloc_init(&alloc);
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    enum tn_status status = tn_inventory_open(&ctx, folder, &inv, &err);
    require(status != TN_INSUFFICIENT_MEMORY && (status == TN_OK) == (inv != NULL));
    if (inv) {
        use(inv);
        if (size % 4 == 0) compare(inv);
    }
    tn_inventory_free(inv);
    require(tn_alloc_current(&alloc) == 0);
    tree_remove(folder);
    return 0;
}
