/*
 * Requirements and wishes of a package. What is stated comes from its documents; what is derived follows from what a
 * dialect has put into the description, so that a package which states nothing still says what it needs.
 *
 * execution_hints.json inside the package is data of the package: it ranks as a hint in the metadata. The user's own file
 * is handed in with the plan's options.
 */
#include "describe/requirements.h"

#include "package/onnx.h"

#include <string.h>

#define HINTS_FILE "execution_hints.json"

/* ---- capabilities --------------------------------------------------------------------------------------------------- */

static void require(struct tn_builder *b, struct tn_capability_need need)
{
    struct tn_description *d = b->d;
    enum { FIRST = 16 };
    if (b->failed != TN_OK) return;
    if (d->capability_count == TN_CAPABILITY_NEEDS) {
        struct tn_finding *f = tn_blocker(b, TN_RESOURCE_LIMIT, "the package requires more capabilities than are looked at");
        tn_at_pointer(f, need.file, need.pointer);
        tn_expected(f, "at most %d", TN_CAPABILITY_NEEDS);
        d->capability_count++; /* said once; the list itself holds no more */
    }
    if (d->capability_count > TN_CAPABILITY_NEEDS) return;
    /* Full at every power of two from FIRST on; the old arrays are left to the arena. */
    uint32_t n = d->capability_count;
    if (n == 0 || (n >= FIRST && (n & (n - 1)) == 0)) {
        struct tn_capability_need *wider = tn_builder_array(b, n ? (size_t)n * 2 : FIRST, sizeof(*wider));
        if (!wider) return;
        if (n) memcpy(wider, d->capabilities, n * sizeof(*wider));
        d->capabilities = wider;
    }
    d->capabilities[d->capability_count++] = need;
}

void tn_require_stated(struct tn_builder *b, struct tn_str id, struct tn_json place)
{
    char pointer[256];
    require(b, (struct tn_capability_need){
                   .id = tn_builder_str(b, id),
                   .file = tn_builder_str(b, place.doc->file),
                   .pointer = tn_builder_str(b, tn_json_pointer(place, pointer, sizeof(pointer))),
               });
}

void tn_require_stated_list(struct tn_builder *b, struct tn_json list)
{
    struct tn_str id;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v) && b->failed == TN_OK; v = tn_json_next(v)) {
        if (tn_json_str(v, &id)) tn_require_stated(b, id, v);
    }
}

void tn_require_derived(struct tn_builder *b, const char *id, const char *structure, struct tn_str file,
                        struct tn_str pointer)
{
    require(b, (struct tn_capability_need){.id = tn_str_of(id), .file = file, .pointer = pointer, .derived = structure});
}

/* Places are those of the description: its documents differ from convention to convention. */
static void derive(struct tn_builder *b)
{
    const struct tn_description *d = b->d;
    static const char where[] = "description";
    if (d->component_count > 0)
        tn_require_derived(b, "tenon.native_family", "a component of a known architecture", tn_str_of(where),
                           TN_STR("/components/0"));
    if (d->tokenizer.present)
        tn_require_derived(b, "tenon.tokenizer", "the package's tokenizer", tn_str_of(where), TN_STR("/tokenizer"));
    if (d->module_count > 0)
        tn_require_derived(b, "tenon.module_chain", "the list of modules", tn_str_of(where), TN_STR("/modules"));
    if (d->prompt_count > 0)
        tn_require_derived(b, "tenon.prompts", "the package's prompts", tn_str_of(where), TN_STR("/prompts"));
}

/* ---- the rest -------------------------------------------------------------------------------------------------------- */

/* Only memory makes these readers fail. */
static void took(struct tn_builder *b, enum tn_status status)
{
    if (status) tn_builder_no_memory(b);
}

void tn_take_hardware(struct tn_builder *b, struct tn_json v)
{
    if (b->failed == TN_OK && tn_json_present(v)) took(b, tn_hardware_read(v, &b->d->arena, &b->d->hardware, NULL));
}

void tn_take_generation(struct tn_builder *b, struct tn_json v)
{
    if (b->failed != TN_OK || !tn_json_present(v)) return;
    took(b, tn_generation_read(v, &b->d->arena, &b->d->findings, &b->d->generation, NULL));
}

void tn_take_hints(struct tn_builder *b, struct tn_json v)
{
    if (b->failed != TN_OK || !tn_json_present(v)) return;
    took(b, tn_hints_read(v, TN_HINT_FROM_METADATA, &b->d->arena, &b->d->findings, &b->d->hints, NULL));
}

void tn_take_model_properties(struct tn_builder *b, const struct tn_hint_property *properties, size_t count,
                              struct tn_str file)
{
    if (b->failed != TN_OK) return;
    took(b, tn_hints_of_properties(properties, count, file, &b->d->arena, &b->d->findings, &b->d->hints,
                                   &b->d->hint_layers, NULL));
}

static void take_properties_of(struct tn_builder *b, const struct tn_package_file *file)
{
    struct tn_onnx_view *view;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_inventory_onnx(b->inv, file, &view, b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    if (status) return; /* a graph that cannot be walked has no hints; whoever is to run it says what is wrong */
    struct tn_hint_property *p = tn_calloc(b->alloc, view->property_count, sizeof(*p));
    for (uint32_t i = 0; p && i < view->property_count; i++) {
        p[i] = (struct tn_hint_property){.key = view->properties[i].key, .value = view->properties[i].value};
    }
    if (p) tn_take_model_properties(b, p, view->property_count, file->path);
    else tn_builder_no_memory(b);
    tn_free(b->alloc, p);
    tn_onnx_view_free(view);
}

/* Of the chosen weights alone: other variants of a package wish for themselves. */
static void take_model_hints(struct tn_builder *b)
{
    const struct tn_variant *v = b->d->variant;
    for (uint32_t i = 0; v && i < v->file_count && b->failed == TN_OK; i++) {
        const struct tn_package_file *file = &b->inv->files[v->files[i]];
        if (file->role == TN_ROLE_ONNX && !file->malformed) take_properties_of(b, file);
    }
}

void tn_describe_requirements(struct tn_builder *b)
{
    struct tn_json_doc doc;
    if (tn_builder_json(b, TN_STR(HINTS_FILE), TN_JSON_OBJECT, &doc)) {
        tn_take_hints(b, tn_json_root(&doc));
        tn_json_release(&doc);
    }
    take_model_hints(b);
    derive(b);
    if (b->failed != TN_OK) return;
    if (b->d->capability_count > TN_CAPABILITY_NEEDS) b->d->capability_count = TN_CAPABILITY_NEEDS;
    tn_capabilities_check(b->d->capabilities, b->d->capability_count, TN_PHASE_DESCRIBE, &b->d->findings);
}
