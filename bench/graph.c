/*
 * Times one graph on our own kernels:
 *
 *     graph MODEL.onnx [--threads N] [--seconds S] [--profile] [--nodes] [--without PATCH]...
 *         [--out FILE] NAME=TYPE:DIMS:FILE...
 *
 * FILE holds the input's elements as they lie in memory. Prints one JSON object: milliseconds of a call (median and least)
 * after two calls that count for nothing, milliseconds until the first call could be made, and bytes held. --out writes
 * the float outputs one behind the other, for comparison. --profile adds milliseconds by operator type, --nodes by node
 * with the shape of its second operand, --without leaves out a patch of the optimiser (all: every one).
 */
#define _GNU_SOURCE
#include "exec/patch.h"
#include "net/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PORTS = 64, CALLS = 4096 };

static struct tn_alloc alloc;
static struct tn_context context;
static struct tn_error err;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void die(const char *what)
{
    const struct tn_finding *f = &err.primary;
    fprintf(stderr, "graph: %s: %s [%s] found %s, expected %s\n", what, f->message, f->element, f->found, f->expected);
    exit(1);
}

/* A text as "float32:1x3x224x224:FILE". */
static struct tn_tensor *read_input(struct tn_heap *heap, const char *text)
{
    char type[32], shape[256], path[2048];
    int64_t dims[TN_RANK];
    uint32_t rank = 0, element = 0;
    if (sscanf(text, "%31[^:]:%255[^:]:%2047s", type, shape, path) != 3) die(text);
    element = tn_onnx_element_named(tn_str_of(type));
    for (char *p = shape, *end; *p && strcmp(shape, "-") != 0; p = *end ? end + 1 : end) dims[rank++] = strtoll(p, &end, 10);
    struct tn_tensor *t = tn_tensor_new(heap, (enum tn_element)element, rank, dims);
    FILE *f = fopen(path, "rb");
    if (!t || !f || fread(t->data, 1, t->bytes, f) != t->bytes) die(path);
    fclose(f);
    return t;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct kind {
    struct tn_str type;
    double ms;
    unsigned nodes;
};

static int by_time(const void *a, const void *b)
{
    return by_size(&((const struct kind *)b)->ms, &((const struct kind *)a)->ms);
}

/* Milliseconds of a call by operator type, the dearest first. */
static void print_profile(const struct tn_net *net, const uint64_t *ns, int calls)
{
    static struct kind kinds[256];
    size_t count = 0;
    for (uint32_t i = 0; i < net->node_count; i++) {
        size_t k = 0;
        while (k < count && !tn_str_eq(kinds[k].type, net->nodes[i].type)) k++;
        if (k == 256) continue;
        if (k == count) kinds[count++] = (struct kind){.type = net->nodes[i].type};
        kinds[k].ms += (double)ns[i] * 1e-6 / calls;
        kinds[k].nodes++;
    }
    qsort(kinds, count, sizeof(*kinds), by_time);
    for (size_t k = 0; k < count && k < 16; k++)
        fprintf(stderr, "%10.4f ms %5u %.*s\n", kinds[k].ms, kinds[k].nodes, TN_FMT_ARG(kinds[k].type));
}

/* Milliseconds of a call for each node of some weight, in order. */
static void print_nodes(const struct tn_net *net, const uint64_t *ns, int calls)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        double ms = (double)ns[i] * 1e-6 / calls;
        fprintf(stderr, "%10.4f ms %.*s", ms, TN_FMT_ARG(n->type));
        for (uint32_t k = 0; k < n->in_count && k < 2; k++) {
            const struct tn_type *t = n->in[k].value == TN_NET_NONE ? NULL : &tn_net_at(net, n->in[k])->type;
            fprintf(stderr, " [");
            for (uint32_t d = 0; t && t->shape.known && d < t->shape.rank; d++)
                fprintf(stderr, tn_dim_known(t->shape.dims[d]) ? " %lld" : " ?", (long long)t->shape.dims[d]);
            fprintf(stderr, " ]");
        }
        for (uint32_t k = 0; k < n->attr_count; k++) {
            const struct tn_attr *a = &n->attrs[k];
            if (a->type == TN_ATTR_STRING) fprintf(stderr, " %.*s", TN_FMT_ARG(a->as.s));
            if (a->type == TN_ATTR_INT) fprintf(stderr, " %.*s=%lld", TN_FMT_ARG(a->name), (long long)a->as.i);
            if (a->type == TN_ATTR_INTS && a->count) fprintf(stderr, " %.*s=%lld", TN_FMT_ARG(a->name), (long long)a->as.ints[0]);
        }
        fputc('\n', stderr);
    }
}

int main(int argc, char **argv)
{
    const char *path = NULL, *out_path = NULL, *inputs[PORTS], *without[PORTS];
    size_t without_count = 0;
    unsigned threads = 1, input_count = 0;
    double limit = 2;
    bool profile = false, by_node = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) threads = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) limit = atof(argv[++i]);
        else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) out_path = argv[++i];
        else if (strcmp(argv[i], "--without") == 0 && i + 1 < argc && without_count < PORTS) without[without_count++] = argv[++i];
        else if (strcmp(argv[i], "--profile") == 0) profile = true;
        else if (strcmp(argv[i], "--nodes") == 0) profile = by_node = true;
        else if (!path) path = argv[i];
        else if (input_count < PORTS) inputs[input_count++] = argv[i];
    }
    if (!path) return 2;
    tn_alloc_init(&alloc);
    context = (struct tn_context){.alloc = &alloc, .limits = tn_limits_default()};
    struct tn_pool *pool;
    struct tn_inventory *inv = NULL;
    struct tn_onnx_view *view;
    struct tn_model *model;
    struct tn_program *program;
    struct tn_exec_context *c;
    struct tn_findings findings;
    struct tn_os_file file;
    char folder[2048];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (tn_pool_new(&alloc, threads, &pool)) die("threads");
    if (tn_inventory_open(&context, folder, &inv, &err)) die(folder);
    double begin = now();
    tn_findings_init(&findings, &alloc, 100);
    const struct tn_package_file *entry = tn_inventory_file(inv, tn_str_of(slash ? slash + 1 : path));
    if (!entry || tn_inventory_open_file(inv, entry, &file, &err)) die(path);
    struct tn_source source = tn_source_of_file(&file, entry->path);
    if (tn_onnx_view_open(&context, &source, &view, &err) || tn_model_import(&context, inv, &source, view, &findings, &model, &err)) die("reading");
    if (model) tn_net_check(model, &findings);
    if (model && !findings.blockers && tn_net_infer(model, &findings, &err)) die("types");
    for (size_t i = 0; i < findings.count; i++) fprintf(stderr, "graph: %s [%s] found %s\n", findings.items[i].message, findings.items[i].element, findings.items[i].found);
    if (findings.blockers) return 1;
    struct tn_program_options options = {.pool = pool, .threads = threads, .without = without, .without_count = without_count};
    if (tn_program_new(model, &options, &program, &err) || tn_exec_context_new(program, 0, &c, &err)) die("loading");
    double ready = now() - begin;
    const struct tn_net *net = model->main;
    struct tn_tensor *in[PORTS] = {0}, *out[PORTS] = {0};
    for (unsigned i = 0; i < input_count; i++) {
        const char *equal = strchr(inputs[i], '=');
        for (uint32_t k = 0; equal && k < net->input_count; k++) {
            struct tn_str name = net->values[net->inputs[k]].name;
            if (name.n == (size_t)(equal - inputs[i]) && memcmp(name.s, inputs[i], name.n) == 0) in[k] = read_input(tn_exec_heap(c), equal + 1);
        }
    }
    static double took[CALLS];
    const uint64_t *node_ns = NULL;
    int calls = 0;
    double all = 0;
    for (int i = -2; i < CALLS && (all < limit * 1e3 || calls < 3); i++) {
        double start = now();
        if (i == 0 && profile) node_ns = tn_exec_profile(c);
        if (tn_exec_run(c, in, out, NULL, NULL, &err)) die("running");
        double ms = now() - start;
        if (i >= 0) all += took[calls++] = ms;
        if (i == 0 && out_path) {
            FILE *f = fopen(out_path, "wb");
            for (uint32_t k = 0; f && k < net->output_count; k++) {
                for (uint64_t e = 0; out[k] && out[k]->kind == TN_KIND_TENSOR && e < out[k]->count; e++) {
                    double v = out[k]->element == TN_EL_STRING ? 0 : tn_element_get(out[k]->element, out[k]->data, e);
                    fwrite(&v, sizeof(v), 1, f);
                }
            }
            if (f) fclose(f);
        }
        for (uint32_t k = 0; k < net->output_count; k++) {
            tn_tensor_drop(out[k]);
            out[k] = NULL;
        }
    }
    if (node_ns) {
        struct tn_buf text;
        struct tn_json_writer w;
        print_profile(net, node_ns, calls);
        if (by_node) print_nodes(net, node_ns, calls);
        tn_buf_init(&text, &alloc, 1 << 20);
        tn_jw_init(&w, &text, false);
        tn_net_patch_counts(model, &w);
        fprintf(stderr, "%.*s\n", (int)text.len, text.data);
        tn_buf_release(&text);
    }
    qsort(took, (size_t)calls, sizeof(*took), by_size);
    printf("{\"median_ms\": %.4f, \"least_ms\": %.4f, \"calls\": %d, \"ready_ms\": %.2f, \"peak_mb\": %.1f}\n", took[calls / 2], took[0], calls,
           ready, (double)tn_alloc_peak(&alloc) / 1e6);
    for (uint32_t k = 0; k < net->input_count; k++) tn_tensor_drop(in[k]);
    tn_exec_context_free(c);
    tn_program_free(program);
    tn_model_free(model);
    tn_findings_release(&findings);
    tn_os_close(&file);
    tn_inventory_free(inv);
    tn_pool_free(pool);
    return 0;
}
