/*
 * Fuzz target: the JSON reader. What it accepts is used: every value is visited, read in each type, named by pointer
 * and found again; the document is written out and must read the same. A trap is a finding.
 */
#include "json_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits, unsigned round)
{
    struct tn_buf out;
    struct tn_json_writer w;
    struct tn_json_doc again;
    tn_buf_init(&out, alloc, 16 << 20);
    tn_jw_init(&w, &out, round & 1);
    write_value(&w, tn_json_root(doc));
    check_pointers(tn_json_root(doc), tn_json_root(doc), 0);
    if (!tn_buf_status(&out) && round < 2) {
        require(tn_json_parse(&again, alloc, limits, TN_STR("again"), tn_buf_str(&out), NULL) == TN_OK);
        require(again.count == doc->count);
        use(&again, alloc, limits, round + 1);
        tn_json_release(&again);
    }
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
    enum tn_status status =
        tn_json_parse(&doc, &alloc, &limits, TN_STR("fuzz"), (struct tn_str){(const char *)data, size}, &err);
    if (status == TN_OK) {
        use(&doc, &alloc, &limits, 0);
        tn_json_release(&doc);
    } else {
        require(status == TN_ARTIFACT_MALFORMED || status == TN_RESOURCE_LIMIT);
        require(err.primary.code == status && err.primary.offset >= 0 && (uint64_t)err.primary.offset <= size);
    }
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
