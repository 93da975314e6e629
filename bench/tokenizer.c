/*
 * The tokenizer on one core, over a text file of one text a line: the same measure and the same JSON lines as
 * bench/peers/tokenizers_bench.py, so that the two can be run after one another on one file.
 *
 *     tokenizer --package DIR --corpus CORPUS.txt [--passes N] [--way NAME]
 *
 * Ways: ids alone, ids and offsets, and both by the general path. Each pass goes through the whole file; the fastest
 * pass counts. Rates are bytes of the file per second of processor time, which neighbours on the machine do not take.
 * Loading is timed from the file's text (JSON included) and from the parsed document.
 */
#include "base/json.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
    const char *package, *corpus, *way; /* way: only this one */
    unsigned passes;
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_error *err;
    struct tn_text_tokenizer *t;
    char *text;
    size_t bytes, lines, tokens;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void die(const struct bench *b, const char *what)
{
    fprintf(stderr, "%s: %s (%s %s)\n", what, b->err->primary.message, b->err->primary.file, b->err->primary.element);
    exit(1);
}

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) exit(2);
    fclose(file);
    *n = (size_t)size;
    return data;
}

static void load(struct bench *b)
{
    char path[4096];
    size_t n;
    double parse = 1e9, build = 1e9;
    snprintf(path, sizeof(path), "%s/tokenizer.json", b->package);
    char *json = read_file(path, &n);
    for (unsigned i = 0; i < b->passes; i++) {
        struct tn_json_doc doc;
        struct tn_str file = TN_STR("tokenizer.json");
        double start = seconds();
        if (tn_json_parse(&doc, &b->alloc, &b->ctx.limits, file, (struct tn_str){json, n}, b->err)) die(b, "parse");
        double parsed = seconds();
        tn_text_tokenizer_free(b->t);
        if (tn_text_tokenizer_from_json(&b->ctx, tn_json_root(&doc), &b->t, b->err)) die(b, "load");
        double built = seconds();
        tn_json_release(&doc);
        parse = parsed - start < parse ? parsed - start : parse;
        build = built - parsed < build ? built - parsed : build;
    }
    printf("{\"event\":\"load\",\"bytes\":%zu,\"parse_ms\":%.3f,\"build_ms\":%.3f,\"memory_bytes\":%llu}\n", n, parse * 1e3,
           build * 1e3, (unsigned long long)tn_alloc_current(&b->alloc));
    free(json);
}

static void one_pass(struct bench *b, const struct tn_text_options *o, struct tn_text_encoding *e)
{
    b->lines = b->tokens = 0;
    for (const char *at = b->text, *end = b->text + b->bytes; at < end; b->lines++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        struct tn_str text = {at, (size_t)(line_end - at)};
        if (tn_text_encode(b->t, text, (struct tn_str){0}, o, e, b->err)) die(b, "encode");
        b->tokens += e->count;
        at = line_end + 1;
    }
}

static void run(struct bench *b, const char *way, struct tn_text_options o)
{
    struct tn_text_encoding e;
    double best = 1e9;
    if (b->way && strcmp(b->way, way) != 0) return;
    tn_text_encoding_init(&e, &b->alloc);
    for (unsigned i = 0; i < b->passes; i++) {
        double start = seconds();
        one_pass(b, &o, &e);
        double took = seconds() - start;
        if (took < best) best = took;
    }
    printf("{\"event\":\"%s\",\"threads\":1,\"bytes\":%zu,\"lines\":%zu,\"tokens\":%zu,\"seconds\":%.4f,\"mb_per_s\":%.1f}\n",
           way, b->bytes, b->lines, b->tokens, best, (double)b->bytes / best / 1e6);
    fflush(stdout);
    tn_text_encoding_release(&e);
}

int main(int argc, char **argv)
{
    static struct tn_error err;
    struct bench b = {.passes = 5, .err = &err};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--package") == 0) b.package = argv[i + 1];
        if (strcmp(argv[i], "--corpus") == 0) b.corpus = argv[i + 1];
        if (strcmp(argv[i], "--way") == 0) b.way = argv[i + 1];
        if (strcmp(argv[i], "--passes") == 0) b.passes = (unsigned)strtoul(argv[i + 1], NULL, 10);
    }
    if (!b.package || !b.corpus || b.passes == 0) {
        fprintf(stderr, "usage: %s --package DIR --corpus FILE [--passes N] [--way NAME]\n", argv[0]);
        return 2;
    }
    tn_alloc_init(&b.alloc);
    b.ctx = (struct tn_context){.alloc = &b.alloc, .limits = tn_limits_default()};
    load(&b);
    b.text = read_file(b.corpus, &b.bytes);
    run(&b, "ids", (struct tn_text_options){0});
    run(&b, "ids_and_offsets", (struct tn_text_options){.want_offsets = true});
    run(&b, "general_ids", (struct tn_text_options){.general_path = true});
    run(&b, "general_ids_and_offsets", (struct tn_text_options){.general_path = true, .want_offsets = true});
    tn_text_tokenizer_free(b.t);
    free(b.text);
    return 0;
}
