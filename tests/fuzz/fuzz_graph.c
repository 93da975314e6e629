/*
 * Fuzz target: dataflow graphs from bytes in memory. What is read is judged and typed; what is accepted is made a program
 * and called, twice, with operands of the declared types: it answers or refuses, gives all memory back, and gives the same
 * bits again. The first byte chooses numbers for symbols and values.
 */
#include "exec/exec.h"
#include "net/check.h"

#include "base/os.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORTS = 16, ELEMENTS = 1 << 14, BUDGET = 48 << 20 };

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

/* An operand as the port states it, with small numbers; NULL where it cannot be made simply. */
static struct tn_tensor *operand(struct tn_heap *heap, const struct tn_type *type, unsigned choice)
{
    int64_t dims[TN_RANK];
    uint64_t count;
    if (type->kind != TN_KIND_TENSOR || !type->shape.known) return NULL;
    for (uint32_t i = 0; i < type->shape.rank; i++) dims[i] = tn_dim_known(type->shape.dims[i]) ? type->shape.dims[i] : (int64_t)(choice % 3 + 1);
    if (!tn_shape_count(dims, type->shape.rank, &count) || count > ELEMENTS) return NULL;
    struct tn_tensor *t = tn_tensor_new(heap, type->element, type->shape.rank, dims);
    for (uint64_t i = 0; t && i < t->count; i++) {
        if (t->element == TN_EL_STRING) tn_tensor_set_text(t, i, (struct tn_str){"a b", (i + choice) % 4});
        else if (tn_elements_have(TN_ELS_FLOAT, t->element)) tn_element_set(t->element, t->data, i, ((double)((i * 7 + choice) % 11) - 5) / 4, false);
        else tn_element_set_int(t->element, t->data, i, (int64_t)((i + choice) % 3));
    }
    return t;
}

static bool same(const struct tn_tensor *a, const struct tn_tensor *b)
{
    if (!a || !b) return a == b;
    if (a->kind != b->kind || a->count != b->count) return false;
    for (uint64_t i = 0; a->kind != TN_KIND_TENSOR && i < a->count; i++) {
        if (!same(a->items[i], b->items[i])) return false;
    }
    return a->kind != TN_KIND_TENSOR || a->element == TN_EL_STRING || a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0;
}

static bool is_random(const struct tn_net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        if (net->nodes[i].op && net->nodes[i].op->not_pure) return true;
        for (uint32_t k = 0; k < net->nodes[i].attr_count; k++) {
            const struct tn_attr *a = &net->nodes[i].attrs[k];
            for (size_t g = 0; (a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS) && g < a->count; g++) {
                if (is_random(a->as.graphs[g])) return true;
            }
        }
    }
    return false;
}

static void call(struct tn_exec_context *c, const struct tn_net *net, unsigned choice, struct tn_error *err)
{
    struct tn_tensor *in[PORTS] = {0}, *out[2][PORTS] = {{0}};
    struct tn_heap *heap = tn_exec_heap(c);
    enum tn_status st[2] = {TN_OK, TN_OK};
    for (uint32_t i = 0; i < net->input_count; i++) in[i] = operand(heap, &net->values[net->inputs[i]].type, choice + i);
    for (int turn = 0; turn < 2; turn++) {
        struct tn_cancel cancel = {.requested = false};
        atomic_store(&cancel.deadline_ns, tn_os_monotonic_ns() + UINT64_C(300000000));
        tn_error_clear(err);
        st[turn] = tn_exec_run(c, in, out[turn], NULL, &cancel, err);
        require(err->primary.code == st[turn]);
    }
    if (st[0] == TN_OK && st[1] == TN_OK && !is_random(net)) {
        for (uint32_t k = 0; k < net->output_count; k++) require(same(out[0][k], out[1][k]));
    }
    for (uint32_t k = 0; k < PORTS; k++) {
        tn_tensor_drop(in[k]);
        tn_tensor_drop(out[0][k]);
        tn_tensor_drop(out[1][k]);
    }
}

static void run(const struct tn_context *ctx, struct tn_model *model, unsigned choice, struct tn_error *err)
{
    struct tn_program *program = NULL;
    struct tn_exec_context *c = NULL;
    struct tn_program_options options = {.threads = 1};
    (void)ctx;
    if (model->main->input_count > PORTS || model->main->output_count > PORTS) return;
    if (tn_program_new(model, &options, &program, err)) return;
    if (tn_exec_context_new(program, 0, &c, err) == TN_OK) call(c, model->main, choice, err);
    tn_exec_context_free(c);
    tn_program_free(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tn_error err;
    struct tn_alloc alloc;
    struct tn_onnx_view *view = NULL;
    struct tn_model *model = NULL;
    struct tn_findings findings;
    struct tn_str holder;
    if (size == 0) return 0;
    tn_alloc_init(&alloc);
    atomic_store(&alloc.budget, BUDGET);
    tn_error_clear(&err);
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    struct tn_source source = tn_source_of_memory(data + 1, size - 1, TN_STR("fuzz"), &holder);
    tn_findings_init(&findings, &alloc, 64);
    if (tn_onnx_view_open(&ctx, &source, &view, &err) == TN_OK) {
        tn_onnx_check(view, NULL, &findings);
        size_t blocked = findings.blockers;
        enum tn_status st = tn_model_import(&ctx, NULL, &source, view, &findings, &model, &err);
        require(st || model || findings.blockers || findings.dropped);
        if (model) tn_net_check(model, &findings);
        if (model && findings.blockers == blocked && !findings.dropped) st = tn_net_infer(model, &findings, &err);
        if (model && !st && !findings.blockers && !findings.dropped) run(&ctx, model, data[0], &err);
    }
    tn_findings_release(&findings);
    tn_model_free(model);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
