/*
 * Choosing among the variants of a package, and which findings stand in the way of one. Pure functions of an inventory:
 * nothing is guessed, a choice that is not forced is refused with everything that could have been chosen.
 */
#include "package/package.h"

static void list_variants(const struct tn_inventory *inv, struct tn_error *err)
{
    if (!err) return;
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *v = &inv->variants[i];
        if (err->count == TN_ERROR_FINDINGS) {
            err->dropped++;
            continue;
        }
        struct tn_findings one = {.items = &err->findings[err->count], .cap = 1, .max = 1};
        struct tn_finding *f =
            tn_findings_add(&one, TN_NOTE, TN_OK, TN_PHASE_PACKAGE, "variant %.*s: %.*s%s", TN_FMT_ARG(v->id),
                            TN_FMT_ARG(v->what), v->executable ? "" : " (recognised, not executable here)");
        tn_at_element(f, TN_ELEMENT_OPTION, v->id);
        err->count++;
    }
}

static void name_ids(const struct tn_inventory *inv, struct tn_finding *f)
{
    char text[384];
    size_t n = 0;
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        struct tn_str id = inv->variants[i].id;
        if (n + id.n + 8 > sizeof(text)) {
            text[n++] = '.', text[n++] = '.', text[n++] = '.';
            break;
        }
        if (i) text[n++] = ',', text[n++] = ' ';
        for (size_t k = 0; k < id.n; k++) text[n++] = id.s[k];
    }
    tn_expected(f, "one of: %.*s", (int)n, text);
}

static enum tn_status ambiguous(const struct tn_inventory *inv, uint32_t executable, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_AMBIGUOUS_PACKAGE, TN_PHASE_PACKAGE,
                                        "the package holds %u variants and none was chosen", inv->variant_count);
    tn_at_option(f, "variant");
    tn_found(f, "%u variants, %u of them executable", inv->variant_count, executable);
    name_ids(inv, f);
    tn_remedy(f, "name one of them: --variant ID");
    list_variants(inv, err);
    return TN_AMBIGUOUS_PACKAGE;
}

static enum tn_status nothing(const struct tn_inventory *inv, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_MISSING, TN_PHASE_PACKAGE, "the package holds no weights");
    tn_at_file(f, inv->shown);
    tn_found(f, "%u files, none of them a known weight container", inv->file_count);
    tn_expected(f, "safetensors, GGUF, ONNX or OpenVINO files");
    tn_remedy(f, "fetch the whole package");
    return TN_ARTIFACT_MISSING;
}

static enum tn_status unknown(const struct tn_inventory *inv, const char *id, struct tn_error *err)
{
    struct tn_finding *f =
        tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_PACKAGE, "the package has no variant of this id");
    tn_at_option(f, "variant");
    tn_found(f, "\"%s\"", id);
    name_ids(inv, f);
    list_variants(inv, err);
    return TN_INVALID_REQUEST;
}

enum tn_status tn_inventory_variant(const struct tn_inventory *inv, const char *id, const struct tn_variant **out,
                                    struct tn_error *err)
{
    *out = NULL;
    if (inv->variant_count == 0) return nothing(inv, err);
    const struct tn_variant *first = &inv->variants[0]; /* executable ones stand first, weights before graphs */
    uint32_t executable = 0, equal = 0;
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *v = &inv->variants[i];
        if (id && tn_str_is(v->id, id)) *out = v;
        executable += v->executable;
        equal += v->executable && v->graph == first->graph;
    }
    if (id) return *out ? TN_OK : unknown(inv, id, err);
    if (equal != 1 && inv->variant_count != 1) return ambiguous(inv, executable, err);
    *out = first;
    return TN_OK;
}

const struct tn_variant *tn_inventory_part(const struct tn_inventory *inv, struct tn_str folder)
{
    for (uint32_t i = 0; i < inv->part_count; i++) {
        if (tn_str_eq(inv->parts[i].place, folder)) return &inv->parts[i];
    }
    return NULL;
}

static bool uses(const struct tn_variant *v, uint32_t file)
{
    for (uint32_t i = 0; i < v->file_count; i++) {
        if (v->files[i] == file) return true;
    }
    return v->index_file == file;
}

/* Tied to the package, to this variant, or to a file that no variant claims. */
static bool concerns(const struct tn_inventory *inv, const struct tn_variant *variant, uint32_t file)
{
    if (!variant || file == TN_NO_FILE || uses(variant, file)) return true;
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        if (uses(&inv->variants[i], file)) return false;
    }
    return true;
}

void tn_inventory_findings(const struct tn_inventory *inv, const struct tn_variant *variant, struct tn_findings *out)
{
    const struct tn_findings *all = &inv->findings;
    for (size_t i = 0; i < all->count; i++) {
        if (!concerns(inv, variant, inv->finding_files[i])) continue;
        struct tn_findings one = {.items = &all->items[i], .count = 1};
        tn_findings_append(out, &one);
    }
    struct tn_findings lost = {.dropped = all->dropped, .starved = all->starved};
    for (size_t i = 0; i < all->count; i++) lost.blockers += all->items[i].severity == TN_BLOCKER;
    lost.blockers = all->blockers - lost.blockers;
    tn_findings_append(out, &lost);
}
