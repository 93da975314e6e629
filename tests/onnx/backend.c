/*
 * Runs the backend cases of the onnx package (tools/onnx/backend_cases.py writes them) on our own kernels, or through the
 * provider ONNX Runtime:
 *
 *     onnx-backend FOLDER [--known FILE] [--only TEXT] [--threads N] [--onnxruntime LIBRARY] [--results FILE]
 *
 * --known lists cases that are known not to pass, one a line: name, a tab, the reason. A listed case that passes is a failure,
 * unless the reason begins with "?": it then depends on the machine.
 * Prints one line for each case that fails, and counts at the end. --results gets a line for each case: name, a tab, "passes"
 * or why not.
 */
#define _GNU_SOURCE
#include "exec/exec.h"
#include "net/check.h"
#include "net/onnx_attr.h"
#include "provider/onnxruntime/onnxruntime.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    struct tn_tensor *item[1024];
    uint32_t count;
};

static struct tn_alloc alloc;
static struct tn_context context;
static struct tn_pool *pool;
static struct tn_ort *ort; /* NULL: our own kernels */

/* ---- values of test data: onnx-data.proto ------------------------------------------------------------------------- */

struct reading {
    struct tn_model model; /* only what constants need */
    struct tn_onnx_view view;
    struct tn_import im;
    struct tn_heap *heap;
    struct tn_error *err;
    struct tn_str name; /* of the last tensor */
};

static struct tn_tensor *read_tensor(struct reading *r, struct tn_wire_range range)
{
    struct tn_constant c;
    if (!tn_onnx_read_constant(&r->im, range, &r->name, &c)) return NULL;
    struct tn_tensor *t = tn_tensor_new(r->heap, c.element, c.rank, c.dims);
    if (!t) return NULL;
    if (c.element != TN_EL_STRING) {
        tn_constant_read(&r->model, &c, t->data, r->err);
        return t;
    }
    struct tn_str *texts = calloc(t->count + 1, sizeof(*texts));
    tn_constant_read(&r->model, &c, texts, r->err);
    for (uint64_t i = 0; i < t->count; i++) tn_tensor_set_text(t, i, texts[i]);
    free(texts);
    return t;
}

static struct tn_tensor *read_value(struct reading *r, struct tn_wire_range range, const struct tn_type *type);

static struct tn_tensor *finish_group(struct reading *r, enum tn_tensor_kind kind, struct values *v)
{
    struct tn_tensor *t = tn_tensor_group(r->heap, kind, v->item, v->count);
    for (uint32_t i = 0; i < v->count; i++) tn_tensor_drop(v->item[i]);
    return t;
}

/* SequenceProto: tensors 3, sequences 5, maps 6, optionals 7. OptionalProto: the same numbers, one value. */
static struct tn_tensor *read_group(struct reading *r, struct tn_wire_range range, const struct tn_type *type)
{
    struct tn_wire_field f;
    struct values v = {.count = 0};
    static const struct tn_type tensor = {.kind = TN_KIND_TENSOR};
    while (tn_wire_next(&r->im.r->wire, &range, &f)) {
        if (f.type != TN_WIRE_BYTES || f.number < 3 || v.count == 1024) continue;
        v.item[v.count++] = f.number == 3 ? read_tensor(r, f.bytes) : read_value(r, f.bytes, type->of ? type->of : &tensor);
    }
    return finish_group(r, type->kind, &v);
}

/* MapProto: key_type 2, keys 3, string_keys 4, values 5. */
static struct tn_tensor *read_map(struct reading *r, struct tn_wire_range range, const struct tn_type *type)
{
    struct tn_wire_field f;
    struct values v = {.count = 2};
    int64_t keys[256], n = 0;
    struct tn_str texts[256];
    bool text = false;
    static const struct tn_type of = {.kind = TN_KIND_SEQUENCE};
    while (tn_wire_next(&r->im.r->wire, &range, &f)) {
        struct tn_wire_range left = f.bytes;
        uint64_t key;
        if (f.number == 3 && f.type == TN_WIRE_VARINT) keys[n++] = (int64_t)f.value;
        while (f.number == 3 && f.type == TN_WIRE_BYTES && left.at < left.end && tn_wire_varint(&r->im.r->wire, &left, &key))
            keys[n++] = (int64_t)key;
        if (f.number == 4) {
            texts[n++] = tn_onnx_string(r->im.r, f.bytes);
            text = true;
        }
        if (f.number == 5) v.item[1] = read_value(r, f.bytes, &of);
    }
    (void)type;
    struct tn_tensor *values = v.item[1];
    if (values && values->count == 1 && values->items[0]->kind == TN_KIND_TENSOR && values->items[0]->rank == 1) { /* all of them in one tensor */
        v.item[1] = tn_tensor_keep(values->items[0]);
        tn_tensor_drop(values);
    }
    v.item[0] = tn_tensor_new(r->heap, text ? TN_EL_STRING : TN_EL_I64, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        if (text) tn_tensor_set_text(v.item[0], (size_t)i, texts[i]);
        else ((int64_t *)v.item[0]->data)[i] = keys[i];
    }
    return finish_group(r, TN_KIND_MAP, &v);
}

static struct tn_tensor *read_value(struct reading *r, struct tn_wire_range range, const struct tn_type *type)
{
    if (type->kind == TN_KIND_SEQUENCE || type->kind == TN_KIND_OPTIONAL) return read_group(r, range, type);
    if (type->kind == TN_KIND_MAP) return read_map(r, range, type);
    return read_tensor(r, range);
}

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    text = malloc((size_t)n + 1);
    *size = fread(text, 1, (size_t)n, f);
    text[*size] = 0;
    fclose(f);
    return text;
}

/* A file of test data; NULL when there is none. *name: the tensor's own, which may be "". */
static struct tn_tensor *value_of_file(struct tn_heap *heap, const char *path, const struct tn_type *type, char *name, size_t cap,
                                       struct tn_error *err)
{
    size_t size;
    char *bytes = slurp(path, &size);
    struct tn_str holder;
    struct tn_tensor *t = NULL;
    if (!bytes) return NULL;
    struct reading r = {.heap = heap, .err = err};
    r.view.file = tn_str_of("data");
    r.model = (struct tn_model){.ctx = &context, .view = &r.view, .source = tn_source_of_memory(bytes, size, r.view.file, &holder)};
    tn_arena_init(&r.model.arena, &alloc);
    tn_symbols_init(&r.model.symbols, &r.model.arena);
    r.im.r = tn_onnx_reader_new(&context, r.view.file, false, err);
    r.im.model = &r.model;
    r.model.read = r.im.r->view;
    tn_wire_init(&r.im.r->wire, &r.model.source);
    t = read_value(&r, (struct tn_wire_range){0, size}, type);
    snprintf(name, cap, "%.*s", (int)r.name.n, r.name.s ? r.name.s : "");
    tn_onnx_reader_free(r.im.r);
    tn_arena_release(&r.model.arena);
    free(bytes);
    return t;
}

/* ---- comparison --------------------------------------------------------------------------------------------------- */

static bool close_enough(double a, double b, double rtol, double atol)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b)) return a == b;
    return fabs(a - b) <= atol + rtol * fabs(b);
}

static bool same(const struct tn_tensor *got, const struct tn_tensor *want, double rtol, double atol, char *why, size_t cap)
{
    if (!got || !want) {
        snprintf(why, cap, "%s value", got ? "an unexpected" : "no");
        return got == want;
    }
    if (got->kind != want->kind || (got->kind != TN_KIND_TENSOR && got->count != want->count)) {
        snprintf(why, cap, "kind %d with %llu items, not %d with %llu", got->kind, (unsigned long long)got->count, want->kind, (unsigned long long)want->count);
        return false;
    }
    for (uint64_t i = 0; got->kind != TN_KIND_TENSOR && i < got->count; i++) {
        if (!same(got->items[i], want->items[i], rtol, atol, why, cap)) return false;
    }
    if (got->kind != TN_KIND_TENSOR) return true;
    if (got->element != want->element || got->rank != want->rank || memcmp(got->dims, want->dims, got->rank * sizeof(got->dims[0]))) {
        size_t n = (size_t)snprintf(why, cap, "%s [", tn_onnx_element_name(got->element));
        for (uint32_t i = 0; i < got->rank && n < cap; i++) n += (size_t)snprintf(why + n, cap - n, "%lld ", (long long)got->dims[i]);
        if (n < cap) n += (size_t)snprintf(why + n, cap - n, "] not %s [", tn_onnx_element_name(want->element));
        for (uint32_t i = 0; i < want->rank && n < cap; i++) n += (size_t)snprintf(why + n, cap - n, "%lld ", (long long)want->dims[i]);
        return false;
    }
    for (uint64_t i = 0; i < got->count; i++) {
        if (got->element == TN_EL_STRING) {
            if (tn_str_eq(tn_tensor_texts(got)[i], tn_tensor_texts(want)[i])) continue;
            snprintf(why, cap, "text %llu", (unsigned long long)i);
            return false;
        }
        bool complex = got->element == TN_EL_C64 || got->element == TN_EL_C128;
        for (unsigned part = 0; part < 1u + complex; part++) {
            enum tn_element e = got->element == TN_EL_C64 ? TN_EL_F32 : got->element == TN_EL_C128 ? TN_EL_F64 : got->element;
            double a = tn_element_get(e, got->data, complex ? 2 * i + part : i), b = tn_element_get(e, want->data, complex ? 2 * i + part : i);
            if (close_enough(a, b, rtol, atol)) continue;
            snprintf(why, cap, "element %llu is %.9g, not %.9g", (unsigned long long)i, a, b);
            return false;
        }
    }
    return true;
}

/* ---- one case ----------------------------------------------------------------------------------------------------- */

static void say_error(const struct tn_error *err, char *why, size_t cap)
{
    const struct tn_finding *f = &err->primary;
    snprintf(why, cap, "%s: %s [%s] found: %s expected: %s", tn_status_name(f->code), f->message, f->element, f->found, f->expected);
}

/* Test data names its tensors where the order of files is not that of the inputs. */
static uint32_t slot_of(const struct tn_net *net, const uint32_t *ports, uint32_t count, const char *name, uint32_t otherwise)
{
    for (uint32_t i = 0; i < count; i++) {
        if (name[0] && tn_str_is(net->values[ports[i]].name, name)) return i;
    }
    return otherwise;
}

/* Who computes: a context of our own, or an instance of the provider. */
struct runner {
    struct tn_exec_context *c;
    struct tn_instance *instance;
    struct tn_heap *heap; /* of operands */
};

static enum tn_status run(const struct runner *r, struct tn_tensor **in, struct tn_tensor **out, struct tn_error *err)
{
    struct tn_tensor_call call = {.in = in, .out = out};
    return r->c ? tn_exec_run(r->c, in, out, NULL, NULL, err) : tn_ort_provider(ort)->run(r->instance, &call, err);
}

static bool run_set(const struct runner *r, const struct tn_net *net, const char *folder, double rtol, double atol, char *why, size_t cap)
{
    static struct tn_error err;
    struct tn_tensor *in[64] = {0}, *out[64] = {0}, *want[64] = {0};
    bool good = false;
    char path[4096], name[256];
    tn_error_clear(&err);
    for (uint32_t i = 0; i < net->input_count && i < 64; i++) {
        snprintf(path, sizeof(path), "%s/input_%u.pb", folder, i);
        struct tn_tensor *t = value_of_file(r->heap, path, &net->values[net->inputs[i]].type, name, sizeof(name), &err);
        uint32_t k = slot_of(net, net->inputs, net->input_count, name, i);
        if (!t) continue;
        if (in[k]) k = i;
        if (in[k]) tn_tensor_drop(in[k]);
        in[k] = t;
    }
    if (run(r, in, out, &err)) {
        say_error(&err, why, cap);
        goto done;
    }
    good = true;
    for (uint32_t k = 0; good && k < net->output_count && k < 64; k++) {
        struct tn_net_value *v = tn_net_at(net, net->results[k]);
        snprintf(path, sizeof(path), "%s/output_%u.pb", folder, k);
        want[k] = value_of_file(r->heap, path, v && v->type.kind ? &v->type : &(struct tn_type){.kind = out[k] ? out[k]->kind : TN_KIND_TENSOR}, name, sizeof(name), &err);
        if (want[k]) good = same(out[k], want[k], rtol, atol, why, cap);
    }
done:
    for (uint32_t i = 0; i < 64; i++) {
        tn_tensor_drop(in[i]);
        tn_tensor_drop(out[i]);
        tn_tensor_drop(want[i]);
    }
    return good;
}

static bool run_sets(const struct runner *r, const struct tn_net *net, const char *folder, char *why, size_t cap)
{
    char path[4200];
    size_t size;
    bool good = true;
    double rtol = 1e-3, atol = 1e-7;
    snprintf(path, sizeof(path), "%s/tolerance", folder);
    char *text = slurp(path, &size);
    if (text) sscanf(text, "%lf %lf", &rtol, &atol);
    free(text);
    for (unsigned set = 0; good; set++) {
        snprintf(path, sizeof(path), "%s/test_data_set_%u", folder, set);
        DIR *d = opendir(path);
        if (!d) break;
        closedir(d);
        good = run_set(r, net, path, rtol, atol, why, cap);
        /* The same again: what the first call left behind must not show. */
        if (good) good = run_set(r, net, path, rtol, atol, why, cap);
    }
    return good;
}

/* What the case's file holds, without a word about who could compute it. */
static struct tn_model *read_model(const char *folder, char **bytes, struct tn_source *source, struct tn_str *holder, struct tn_findings *findings,
                                   struct tn_error *err)
{
    char path[4200];
    size_t size = 0;
    struct tn_onnx_view *view = NULL;
    struct tn_model *model = NULL;
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    *bytes = slurp(path, &size);
    *source = tn_source_of_memory(*bytes, size, tn_str_of("model.onnx"), holder);
    if (tn_onnx_view_open(&context, source, &view, err) == TN_OK) (void)tn_model_import(&context, NULL, source, view, findings, &model, err);
    return model;
}

static bool run_native(const char *folder, struct tn_model *model, struct tn_findings *findings, unsigned threads, struct tn_error *err, char *why, size_t cap)
{
    struct tn_program *program = NULL;
    struct runner r = {.c = NULL};
    bool good = false;
    tn_net_check(model, findings);
    if (!findings->blockers) tn_net_infer(model, findings, err);
    struct tn_program_options options = {.pool = pool, .threads = threads};
    if (findings->blockers) {
        tn_error_from_findings(err, findings);
        say_error(err, why, cap);
    } else if (tn_program_new(model, &options, &program, err) || tn_exec_context_new(program, 0, &r.c, err)) {
        say_error(err, why, cap);
    } else {
        r.heap = tn_exec_heap(r.c);
        good = run_sets(&r, model->main, folder, why, cap);
    }
    tn_exec_context_free(r.c);
    tn_program_free(program);
    return good;
}

/* The whole road: the file is a package, assessed, loaded and called. */
static bool run_provider(const char *folder, const struct tn_model *model, unsigned threads, struct tn_error *err, char *why, size_t cap)
{
    char path[4200];
    struct tn_heap heap;
    struct tn_inventory *inv = NULL;
    struct tn_description *d = NULL;
    struct tn_assessment a;
    struct runner r = {.heap = &heap};
    const struct tn_provider *p = tn_ort_provider(ort);
    bool assessed = false, good = false;
    tn_heap_init(&heap, &alloc);
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    enum tn_status st = tn_inventory_open(&context, path, &inv, err);
    if (!st) st = tn_describe(inv, NULL, &d, err);
    if (!st) st = tn_error_from_findings(err, &d->findings);
    struct tn_component_request request = {.ctx = &context, .d = d, .graph = d ? d->graph : NULL, .numeric = "f32", .threads = threads, .max_rows = 1};
    struct tn_load_env env = {.ctx = &context, .pool = pool};
    if (!st) {
        assessed = true;
        st = p->assess(p, &request, &a, err);
        if (!st) st = tn_error_from_findings(err, &a.findings);
    }
    if (!st) st = p->load(&a, &request, &env, &r.instance, err);
    if (st) say_error(err, why, cap);
    else good = run_sets(&r, model->main, folder, why, cap);
    if (r.instance) p->release(r.instance);
    if (assessed) tn_assessment_release(&a);
    tn_description_free(d);
    tn_inventory_free(inv);
    tn_heap_release(&heap);
    return good;
}

static bool run_case(const char *folder, unsigned threads, char *why, size_t cap)
{
    static struct tn_error err;
    struct tn_str holder;
    struct tn_source source;
    struct tn_findings findings;
    char *bytes = NULL;
    bool good = false;
    tn_error_clear(&err);
    tn_findings_init(&findings, &alloc, 100);
    struct tn_model *model = read_model(folder, &bytes, &source, &holder, &findings, &err);
    if (model) {
        good = ort ? run_provider(folder, model, threads, &err, why, cap) : run_native(folder, model, &findings, threads, &err, why, cap);
    } else {
        if (findings.blockers) tn_error_from_findings(&err, &findings);
        say_error(&err, why, cap);
    }
    tn_model_free(model);
    tn_findings_release(&findings);
    free(bytes);
    return good;
}

/* ---- all ---------------------------------------------------------------------------------------------------------- */

static const char *reason_of(const char *known, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = known; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, name, n) == 0 && line[n] == '\t') return line + n + 1;
    }
    return NULL;
}

static int no_dots(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    const char *root = NULL, *only = NULL, *library = NULL;
    char *known = NULL;
    FILE *results = NULL;
    unsigned threads = 1, passed = 0, failed = 0, excused = 0;
    size_t size;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--known") == 0 && i + 1 < argc) known = slurp(argv[++i], &size);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
        else if (strcmp(argv[i], "--onnxruntime") == 0 && i + 1 < argc) library = argv[++i];
        else if (strcmp(argv[i], "--results") == 0 && i + 1 < argc) results = fopen(argv[++i], "w");
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) threads = (unsigned)atoi(argv[++i]);
        else root = argv[i];
    }
    if (!root) return 2;
    tn_alloc_init(&alloc);
    context = (struct tn_context){.alloc = &alloc, .limits = tn_limits_default()};
    if (tn_pool_new(&alloc, threads, &pool)) return 2;
    if (library) ort = tn_ort_new(&context, library);
    struct dirent **kinds = NULL, **cases = NULL;
    int kind_count = scandir(root, &kinds, no_dots, alphasort);
    for (int k = 0; k < kind_count; k++) {
        char folder[2048];
        snprintf(folder, sizeof(folder), "%s/%s", root, kinds[k]->d_name);
        int count = scandir(folder, &cases, no_dots, alphasort);
        for (int i = 0; i < count; i++) {
            char path[2600], name[520], why[2048] = "";
            snprintf(name, sizeof(name), "%s/%s", kinds[k]->d_name, cases[i]->d_name);
            snprintf(path, sizeof(path), "%s/%s", folder, cases[i]->d_name);
            free(cases[i]);
            if (only && !strstr(name, only)) continue;
            const char *reason = reason_of(known, name);
            bool good = run_case(path, threads, why, sizeof(why));
            if (results) fprintf(results, "%s\t%s\n", name, good ? "passes" : why);
            bool either = reason && reason[0] == '?';
            passed += good && (!reason || either);
            excused += !good && reason;
            if (good != !reason && !(good && either)) {
                printf("FAIL %s: %s\n", name, good ? "passes, though it is listed as one that does not" : why);
                failed++;
            }
        }
        free(cases);
        cases = NULL;
        free(kinds[k]);
    }
    free(kinds);
    free(known);
    tn_ort_free(ort);
    tn_pool_free(pool);
    if (results) fclose(results);
    unsigned long long left = (unsigned long long)tn_alloc_current(&alloc);
    if (left) printf("FAIL memory: %llu bytes were not given back\n", left);
    printf("%u passed, %u failed, %u excused\n", passed, failed + (left != 0), excused);
    return failed || left;
}
