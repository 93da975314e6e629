/*
 * Fuzz target: the YAML reader. What it accepts is used like any document; its text is JSON that the JSON reader reads the
 * same, and that the YAML reader, when it takes it, reads the same too. A trap is a finding.
 */
#include "json_use.h"

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same nodes: both documents have the same number and write the same text. */
static void check_same(struct tn_json_doc *doc, struct tn_json_doc *again)
{
    require(again->count == doc->count);
    require(tn_str_eq(tn_json_text(tn_json_root(again)), tn_json_text(tn_json_root(doc))));
}

static void check_places(struct tn_json v, size_t size, unsigned depth)
{
    require(tn_json_offset(v) <= size);
    if (depth > 8) return;
    for (struct tn_json c = tn_json_first(v); tn_json_present(c); c = tn_json_next(c)) check_places(c, size, depth + 1);
}

static void use(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits, size_t size)
{
    struct tn_json root = tn_json_root(doc);
    struct tn_json_doc again;
    struct tn_buf out;
    struct tn_json_writer w;
    check_places(root, size, 0);
    check_pointers(root, root, 0);
    require(tn_json_parse(&again, alloc, limits, TN_STR("again"), tn_json_text(root), NULL) == TN_OK);
    check_same(doc, &again);
    tn_json_release(&again);
    /* Not everything in JSON is allowed in YAML: raw line breaks of Unicode, implicit keys above 1024 characters. */
    if (tn_yaml_parse(&again, alloc, limits, TN_STR("again"), tn_json_text(root), NULL) == TN_OK) {
        check_same(doc, &again);
        tn_json_release(&again);
    }
    tn_buf_init(&out, alloc, 16 << 20);
    tn_jw_init(&w, &out, false);
    write_value(&w, root);
    require(!tn_buf_status(&out) && tn_str_eq(tn_buf_str(&out), tn_json_text(root)));
    tn_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tn_error err;
    struct tn_alloc alloc;
    struct tn_json_doc doc;
    struct tn_limits limits = tn_limits_default();
    tn_alloc_init(&alloc);
    limits.json_depth = TN_JW_DEPTH - 1;
    limits.yaml_scalar_bytes = 4096; /* small ones are reached by small inputs */
    limits.yaml_expansion = 8192;
    limits.yaml_anchors = 16;
    limits.yaml_directives = 4;
    enum tn_status status =
        tn_yaml_parse(&doc, &alloc, &limits, TN_STR("fuzz"), (struct tn_str){(const char *)data, size}, &err);
    if (status == TN_OK) {
        use(&doc, &alloc, &limits, size);
        tn_json_release(&doc);
    } else {
        require(status == TN_ARTIFACT_MALFORMED || status == TN_RESOURCE_LIMIT);
        require(err.primary.code == status && err.primary.offset >= 0 && (uint64_t)err.primary.offset <= size);
        require(doc.alloc == NULL && err.primary.expected[0] && err.primary.remedy[0]);
    }
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
