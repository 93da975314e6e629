/*
 * How soon a graph is ready through the public interface, and what it takes:
 *
 *     ready PACKAGE [--variant ID] [--threads N] [--cache DIR] [--calls N] NAME=TYPE:DIMS:FILE...
 *
 * FILE holds the input's elements as they lie in memory. Prints one JSON object: milliseconds of opening the package, of its
 * plan and of the load, of the first call and of the median one; resident bytes that were added by them (ready: before the
 * first call; peak: the most at any time), and what our allocator holds. With a cache folder the second run is the warm one.
 */
#define _GNU_SOURCE
#include "tenon/tenon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PORTS = 64, CALLS = 1000 };

static tn_error *err;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* "VmRSS", "VmHWM" in kB. */
static long memory_of(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long found = 0;
    size_t n = strlen(key);
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, key, n) == 0 && line[n] == ':') found = strtol(line + n + 1, NULL, 10);
    if (f) fclose(f);
    return found;
}

static void need(tn_status st, const char *what)
{
    if (st == TN_OK) return;
    fprintf(stderr, "ready: %s: %s: %s [%s] found %s\n", what, tn_status_name(st), tn_error_message(err), tn_error_element(err), tn_error_found(err));
    exit(1);
}

struct input {
    tn_port_value value;
    int64_t dims[8];
    char name[256], type[32];
};

static void read_input(struct input *in, const char *text)
{
    char shape[256], path[2048];
    FILE *f;
    const char *equals = strchr(text, '=');
    if (!equals || equals - text > 255 || sscanf(equals + 1, "%31[^:]:%255[^:]:%2047s", in->type, shape, path) != 3 || !(f = fopen(path, "rb"))) {
        fprintf(stderr, "ready: %s\n", text);
        exit(2);
    }
    memcpy(in->name, text, (size_t)(equals - text));
    in->value.name = (tn_string){in->name, (size_t)(equals - text)};
    in->value.element = in->type;
    in->value.dims = in->dims;
    for (char *p = shape, *end; *p && strcmp(shape, "-") != 0 && in->value.rank < 8; p = *end ? end + 1 : end) in->dims[in->value.rank++] = strtoll(p, &end, 10);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    void *data = malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) exit(2);
    fclose(f);
    in->value.data = data;
    in->value.size = (size_t)size;
}

static double call(tn_session *session, const tn_port_value *values, size_t count)
{
    tn_tensor_request request = TN_INIT(tn_tensor_request);
    tn_execution *x;
    tn_event e;
    double begin = now();
    request.inputs = values;
    request.count = count;
    need(tn_tensor_start(session, &request, &x, err), "starting");
    do need(tn_execution_next(x, UINT32_MAX, &e, err), "running");
    while (e.kind != TN_EVENT_TERMINAL);
    need(e.status, "running");
    tn_execution_free(x);
    return now() - begin;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static struct input inputs[PORTS];
    static tn_port_value values[PORTS];
    static double took[CALLS];
    const char *path = NULL;
    size_t count = 0;
    int calls = 3;
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    tn_plan_options plan_options = TN_INIT(tn_plan_options);
    tn_package_options package_options = TN_INIT(tn_package_options);
    tn_memory_info memory = TN_INIT(tn_memory_info);
    tn_runtime *runtime;
    tn_package *package;
    tn_plan *plan;
    tn_session *session;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) o.threads = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--cache") == 0 && i + 1 < argc) o.cache_folder = argv[++i];
        else if (strcmp(argv[i], "--calls") == 0 && i + 1 < argc) calls = atoi(argv[++i]);
        else if (strcmp(argv[i], "--variant") == 0 && i + 1 < argc) package_options.variant = argv[++i];
        else if (!path) path = argv[i];
        else if (count < PORTS) read_input(&inputs[count++], argv[i]);
    }
    if (!path || calls > CALLS) return 2;
    for (size_t i = 0; i < count; i++) values[i] = inputs[i].value;
    err = tn_error_new();
    plan_options.task = "tensor";
    long before = memory_of("VmRSS");
    double begin = now();
    need(tn_runtime_new(&o, &runtime, err), "runtime");
    need(tn_package_open(runtime, path, &package_options, &package, err), "opening");
    double opened = now();
    need(tn_plan_new(package, &plan_options, &plan, err), "planning");
    double planned = now();
    need(tn_session_load(plan, NULL, &session, err), "loading");
    double loaded = now();
    long ready = memory_of("VmRSS");
    double first = calls > 0 ? call(session, values, count) : 0;
    for (int i = 0; i < calls; i++) took[i] = call(session, values, count);
    qsort(took, (size_t)calls, sizeof(*took), by_size);
    tn_runtime_memory(runtime, false, &memory);
    printf("{\"open_ms\": %.2f, \"plan_ms\": %.2f, \"load_ms\": %.2f, \"ready_ms\": %.2f, \"first_ms\": %.2f, \"median_ms\": %.3f, "
           "\"ready_mb\": %.1f, \"peak_mb\": %.1f, \"held_mb\": %.1f, \"held_peak_mb\": %.1f}\n",
           opened - begin, planned - opened, loaded - planned, loaded - begin, first, took[calls / 2], (double)(ready - before) / 1024,
           (double)(memory_of("VmHWM") - before) / 1024, (double)memory.current_bytes / 1048576, (double)memory.peak_bytes / 1048576);
    tn_session_free(session);
    tn_plan_free(plan);
    tn_package_free(package);
    tn_runtime_free(runtime);
    tn_error_free(err);
    for (size_t i = 0; i < count; i++) free((void *)inputs[i].value.data);
    return 0;
}
