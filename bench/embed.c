/*
 * Throughput and latency of a task through the public interface, under the line protocol of bench/peers/common.py:
 *
 *     embed --package DIR --corpus FILE [--threads N] [--precision f32|bf16] [--task NAME]
 *
 *     arrival [N]      N texts (0: all) as they come: nothing is sorted, nothing is padded
 *     latency [COUNT]  one text of 8 tokens
 *     peak             GEMM peak of all threads in this minute, from registers
 *     start            load, first embedding, free: the time of a cold session in a warm process
 *     quit
 *
 * The task is embedding.dense, tag or rerank; for rerank each GROUP lines of the corpus are a query and its documents, and
 * each group is a request.
 */
#include "tenon/tenon.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/pool.h"
#include "kernel/peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 101 };

static const char latency_text[] = "the cat sat on the mat";

struct bench {
    const char *package, *corpus, *precision, *task;
    unsigned threads;
    tn_runtime *runtime;
    tn_package *opened;
    tn_plan *plan;
    tn_session *session;
    tn_error *err;
    tn_string *texts;
    size_t count;
    struct tn_alloc alloc;
    struct tn_pool *pool;
};

static void die(struct bench *b, const char *what)
{
    char text[8192];
    tn_error_json(b->err, text, sizeof(text));
    fprintf(stderr, "%s: %s\n", what, text);
    exit(1);
}

static void read_corpus(struct bench *b)
{
    FILE *file = fopen(b->corpus, "rb");
    char *line = NULL;
    size_t cap = 0;
    long n;
    struct tn_limits limits = tn_limits_default();
    if (!file) {
        perror(b->corpus);
        exit(2);
    }
    while ((n = getline(&line, &cap, file)) > 0) {
        struct tn_json_doc doc;
        struct tn_str text, name = TN_STR("corpus");
        if (tn_json_parse(&doc, &b->alloc, &limits, name, (struct tn_str){line, (size_t)n}, NULL)) exit(2);
        if (!tn_json_str(tn_json_root(&doc), &text)) exit(2);
        b->texts = realloc(b->texts, (b->count + 1) * sizeof(*b->texts));
        char *copy = malloc(text.n + 1);
        memcpy(copy, text.s, text.n);
        b->texts[b->count++] = (tn_string){copy, text.n};
        tn_json_release(&doc);
    }
    free(line);
    fclose(file);
}

static void load(struct bench *b)
{
    tn_plan_options options = TN_INIT(tn_plan_options);
    options.task = b->task;
    options.numeric = b->precision;
    options.threads = b->threads;
    if (tn_plan_new(b->opened, &options, &b->plan, b->err)) die(b, "plan");
    if (tn_session_load(b->plan, NULL, &b->session, b->err)) die(b, "load");
}

static tn_status begin(struct bench *b, const tn_string *texts, size_t count, tn_execution **x)
{
    tn_embed_request embed = TN_INIT(tn_embed_request);
    tn_tag_request tag = TN_INIT(tn_tag_request);
    tn_rerank_request rerank = TN_INIT(tn_rerank_request);
    if (strcmp(b->task, "rerank") == 0) {
        rerank.query = texts[0];
        rerank.documents = texts + 1;
        rerank.count = count - 1;
        return tn_rerank_start(b->session, &rerank, x, b->err);
    }
    if (strcmp(b->task, "tag") == 0) {
        tag.texts = texts;
        tag.count = count;
        tag.aggregation = TN_AGGREGATE_SIMPLE;
        return tn_tag_start(b->session, &tag, x, b->err);
    }
    embed.texts = texts;
    embed.count = count;
    return tn_embed_start(b->session, &embed, x, b->err);
}

/* Tokens used by one request. */
static size_t answer(struct bench *b, const tn_string *texts, size_t count)
{
    tn_execution *x;
    tn_event event;
    size_t tokens = 0;
    if (begin(b, texts, count, &x)) die(b, "start");
    do {
        if (tn_execution_next(x, UINT32_MAX, &event, b->err)) die(b, "next");
        if (event.status) die(b, "answer");
        if (event.kind == TN_EVENT_ITEM) tokens += event.tokens;
    } while (event.kind != TN_EVENT_TERMINAL);
    tn_execution_free(x);
    return tokens;
}

static size_t answer_groups(struct bench *b, const tn_string *texts, size_t count)
{
    size_t tokens = 0;
    for (size_t at = 0; at + GROUP <= count; at += GROUP) tokens += answer(b, texts + at, GROUP);
    return tokens;
}

static void say_rate(const struct bench *b, const char *kind, size_t texts, size_t tokens, double seconds)
{
    printf("{\"peer\": \"tenon\", \"event\": \"%s\", \"precision\": \"%s\", \"threads\": %u, \"texts\": %zu, "
           "\"tokens\": %zu, \"seconds\": %.4f, \"texts_per_s\": %.2f, \"tokens_per_s\": %.1f}\n",
           kind, b->precision, b->threads, texts, tokens, seconds, (double)texts / seconds, (double)tokens / seconds);
    fflush(stdout);
}

static void run_arrival(struct bench *b, size_t count)
{
    bool groups = strcmp(b->task, "rerank") == 0;
    if (count == 0 || count > b->count) count = b->count;
    if (groups) count = count / GROUP * GROUP;
    tn_string *some = malloc((count + 1) * sizeof(*some));
    /* taken evenly over the corpus, as the peers do; of groups the first ones */
    for (size_t i = 0; i < count; i++) some[i] = b->texts[groups ? i : i * b->count / count];
    double start = bench_now();
    size_t tokens = groups ? answer_groups(b, some, count) : answer(b, some, count);
    say_rate(b, "arrival", groups ? count - count / GROUP : count, tokens, bench_now() - start);
    free(some);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_latency(struct bench *b, size_t count)
{
    const tn_string text = {latency_text, sizeof(latency_text) - 1};
    double *ms = malloc(count * sizeof(*ms));
    size_t tokens = 0;
    for (size_t i = 0; i < count + 20; i++) {
        double start = bench_now();
        tokens = answer(b, &text, 1);
        if (i >= 20) ms[i - 20] = (bench_now() - start) * 1e3;
    }
    qsort(ms, count, sizeof(*ms), by_value);
    printf("{\"peer\": \"tenon\", \"event\": \"latency\", \"precision\": \"%s\", \"threads\": %u, \"tokens\": %zu, "
           "\"count\": %zu, \"median_ms\": %.4f, \"p90_ms\": %.4f}\n",
           b->precision, b->threads, tokens, count, ms[count / 2], ms[count * 9 / 10]);
    fflush(stdout);
    free(ms);
}

struct peak {
    const struct tn_kernels *kernels;
    enum tn_compute compute;
    double gflops[64];
};

static void measure_peak(void *arg, unsigned rank, unsigned size)
{
    struct peak *p = arg;
    (void)size;
    p->gflops[rank % 64] = bench_gemm_peak(p->kernels, p->compute);
}

static void run_peak(struct bench *b)
{
    struct tn_cpu cpu;
    struct peak p = {.compute = strcmp(b->precision, "bf16") == 0 ? TN_COMPUTE_BF16 : TN_COMPUTE_F32};
    double sum = 0;
    tn_cpu_detect(&cpu);
    p.kernels = tn_kernels_select(&cpu, NULL);
    tn_pool_run(b->pool, measure_peak, &p, b->threads);
    for (unsigned i = 0; i < b->threads && i < 64; i++) sum += p.gflops[i];
    printf("{\"peer\": \"tenon\", \"event\": \"peak\", \"precision\": \"%s\", \"threads\": %u, \"gflops\": %.1f, "
           "\"kernels\": \"%s\"}\n",
           b->precision, b->threads, sum, p.kernels->name);
    fflush(stdout);
}

static void run_start(struct bench *b)
{
    const tn_string text = {latency_text, sizeof(latency_text) - 1};
    tn_session_free(b->session);
    tn_plan_free(b->plan);
    double start = bench_now();
    load(b);
    double loaded = bench_now();
    answer(b, &text, 1);
    double end = bench_now();
    tn_memory_info memory = TN_INIT(tn_memory_info);
    tn_runtime_memory(b->runtime, false, &memory);
    printf("{\"peer\": \"tenon\", \"event\": \"start\", \"load_ms\": %.2f, \"first_ms\": %.2f, \"peak_bytes\": %llu}\n",
           (loaded - start) * 1e3, (end - loaded) * 1e3, (unsigned long long)memory.peak_bytes);
    fflush(stdout);
}

static bool command(struct bench *b, const char *line)
{
    char word[32] = "";
    size_t number = 0;
    if (sscanf(line, "%31s %zu", word, &number) < 1) return true;
    if (strcmp(word, "arrival") == 0 || strcmp(word, "sorted") == 0) {
        run_arrival(b, number);
    } else if (strcmp(word, "latency") == 0) {
        run_latency(b, number ? number : 300);
    } else if (strcmp(word, "peak") == 0) {
        run_peak(b);
    } else if (strcmp(word, "start") == 0) {
        run_start(b);
    } else {
        return strcmp(word, "quit") != 0;
    }
    return true;
}

static void parse_arguments(struct bench *b, int argc, char **argv)
{
    *b = (struct bench){.precision = "f32", .task = "embedding.dense", .threads = 2};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--package") == 0) b->package = argv[i + 1];
        if (strcmp(argv[i], "--corpus") == 0) b->corpus = argv[i + 1];
        if (strcmp(argv[i], "--precision") == 0) b->precision = argv[i + 1];
        if (strcmp(argv[i], "--task") == 0) b->task = argv[i + 1];
        if (strcmp(argv[i], "--threads") == 0) b->threads = (unsigned)atoi(argv[i + 1]);
    }
    if (b->package && b->corpus && b->threads) return;
    fprintf(stderr, "usage: embed --package DIR --corpus FILE [--threads N] [--precision f32|bf16] [--task NAME]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct bench b;
    char line[256];
    parse_arguments(&b, argc, argv);
    tn_alloc_init(&b.alloc);
    b.err = tn_error_new();
    read_corpus(&b);
    tn_runtime_options options = TN_INIT(tn_runtime_options);
    options.threads = b.threads;
    if (tn_runtime_new(&options, &b.runtime, b.err)) die(&b, "runtime");
    if (tn_package_open(b.runtime, b.package, NULL, &b.opened, b.err)) die(&b, "open");
    if (tn_pool_new(&b.alloc, b.threads, &b.pool)) return 1;
    load(&b);
    answer(&b, b.texts, b.count < GROUP ? b.count : GROUP);
    printf("{\"peer\": \"tenon\", \"event\": \"ready\", \"precision\": \"%s\", \"threads\": %u, \"versions\": {\"tenon\": \"%s\"}}\n",
           b.precision, b.threads, tn_version());
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) && command(&b, line)) {
    }
    tn_session_free(b.session);
    tn_plan_free(b.plan);
    tn_package_free(b.opened);
    tn_runtime_free(b.runtime);
    tn_pool_free(b.pool);
    tn_error_free(b.err);
    return 0;
}
