/*
 * Fuzz target: the ONNX view over bytes in memory, in both serial forms. The first byte chooses: even ones read the
 * rest as a ModelProto (half the byte times 512 bytes of absent weights follow it), odd ones as text. What is
 * accepted is looked up, judged and written: no name leads out of the view, and its JSON is one document.
 */
#include "base/json_write.h"
#include "package/onnx.h"

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

static void look_up(const struct tn_onnx_view *v, uint64_t size)
{
    char line[64];
    for (uint32_t i = 0; i < v->input_count; i++) {
        const struct tn_onnx_port *found = tn_onnx_input(v, v->inputs[i].name);
        require(found && tn_str_eq(found->name, v->inputs[i].name) && found <= &v->inputs[i]);
        require(tn_onnx_port_text(found, line, sizeof(line)) == line && memchr(line, 0, sizeof(line)));
        require(found->initialised == (tn_onnx_initializer(v, found->name) != NULL));
    }
    for (uint32_t i = 0; i < v->initializer_count; i++) {
        const struct tn_onnx_tensor *t = &v->initializers[i];
        require(tn_onnx_initializer(v, t->name) && t->rank <= TN_MAX_RANK);
        require(t->message.at <= t->message.end && t->message.end <= size && t->raw.at <= t->raw.end &&
                t->raw.end <= size);
        require((t->data == TN_ONNX_DATA_EXTERNAL) == (t->external < v->external_count));
    }
    for (uint32_t i = 0; i < v->external_count; i++) require(v->externals[i].file < v->location_count);
    for (uint32_t i = 0; i < v->node_count; i++)
        require(v->nodes[i].op < v->operator_count && v->nodes[i].message.end <= size);
    for (uint32_t i = 1; i < v->operator_count; i++) require(v->operator_order[i] < v->operator_count);
}

static void write_out(const struct tn_onnx_view *v, struct tn_alloc *alloc)
{
    struct tn_buf out;
    struct tn_json_writer w;
    struct tn_json_doc doc;
    const struct tn_limits limits = tn_limits_default();
    tn_buf_init(&out, alloc, 64 << 20);
    tn_jw_init(&w, &out, false);
    tn_onnx_view_write(&w, v);
    require(tn_buf_status(&out) == TN_OK);
    require(tn_json_parse(&doc, alloc, &limits, TN_STR("view"), tn_buf_str(&out), NULL) == TN_OK);
    tn_json_release(&doc);
    tn_buf_release(&out);
}

static void judge(const struct tn_onnx_view *v, struct tn_alloc *alloc)
{
    struct tn_findings list;
    tn_findings_init(&list, alloc, 64);
    tn_onnx_check(v, NULL, &list);
    for (size_t i = 0; i < list.count; i++) require(list.items[i].file[0] != 0);
    tn_findings_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tn_error err;
    struct tn_alloc alloc;
    struct tn_onnx_view *view = NULL;
    if (size == 0) return 0;
    struct extended bytes = {data + 1, size - 1};
    struct tn_source source = {
        .size = bytes.size + (uint64_t)(data[0] / 2) * 512,
        .read = read_extended,
        .context = &bytes,
        .name = TN_STR("fuzz"),
    };
    tn_alloc_init(&alloc);
    tn_error_clear(&err);
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    struct tn_str text = {(const char *)bytes.data, bytes.size};
    enum tn_status status = data[0] & 1 ? tn_onnx_view_open_text(&ctx, source.name, text, &view, &err)
                                        : tn_onnx_view_open(&ctx, &source, &view, &err);
    require(err.primary.code == status && (status == TN_OK) == (view != NULL) && status != TN_INSUFFICIENT_MEMORY);
    if (view) {
        look_up(view, source.size);
        judge(view, &alloc);
        write_out(view, &alloc);
    }
    tn_onnx_view_free(view);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
