/*
 * Fuzz target: the JSON reader. What it accepts is used: every value is visited, read in each type, named by pointer
 * and found again; the document is written out and must read the same. A trap is a finding.
 */
#include "base/json.h"
#include "base/json_write.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

static void write_value(struct tn_json_writer *w, struct tn_json v);

static void write_children(struct tn_json_writer *w, struct tn_json v)
{
    bool object = tn_json_is(v, TN_JSON_OBJECT);
    size_t count = 0;
    for (struct tn_json child = tn_json_first(v); tn_json_present(child); child = tn_json_next(child), count++) {
        if (object) tn_jw_key_str(w, tn_json_key(child));
        write_value(w, child);
    }
    require(count == tn_json_count(v));
}

static void write_value(struct tn_json_writer *w, struct tn_json v)
{
    bool flag;
    struct tn_str text;
    double number;
    int64_t i;
    uint64_t u;
    switch (tn_json_type(v)) {
    case TN_JSON_NULL: tn_jw_null(w); break;
    case TN_JSON_BOOL:
        require(tn_json_bool(v, &flag));
        tn_jw_bool(w, flag);
        break;
    case TN_JSON_NUMBER:
        if (tn_json_i64(v, &i) && i >= 0) require(tn_json_u64(v, &u) && u == (uint64_t)i);
        if (tn_json_f64(v, &number)) require(number - number == 0);
        tn_jw_raw(w, tn_json_text(v));
        break;
    case TN_JSON_STRING:
        require(tn_json_str(v, &text));
        tn_jw_str(w, text);
        break;
    case TN_JSON_ARRAY:
        tn_jw_begin_array(w);
        write_children(w, v);
        tn_jw_end_array(w);
        break;
    case TN_JSON_OBJECT:
        tn_jw_begin_object(w);
        write_children(w, v);
        tn_jw_end_object(w);
        break;
    }
}

/* A pointer that was not cut leads back to the value. */
static void check_pointers(struct tn_json root, struct tn_json v, unsigned depth)
{
    char pointer[200];
    struct tn_str text = tn_json_pointer(v, pointer, sizeof(pointer));
    if (text.n + 10 < sizeof(pointer) && !memchr(pointer, 0, text.n)) {
        struct tn_json again = tn_json_find(root, pointer);
        require(again.doc == v.doc && again.node == v.node);
    }
    unsigned visited = 0;
    if (depth > 8) return;
    for (struct tn_json child = tn_json_first(v); tn_json_present(child) && visited++ < 16;
         child = tn_json_next(child)) {
        check_pointers(root, child, depth + 1);
    }
}

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
