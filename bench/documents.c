/*
 * What it takes to validate a metadata document: parse, shape, typed form, meaning, identity, each timed alone.
 *
 *     documents [--components N] FILE...
 *
 * With --components the workflow's components are repeated under new names until there are N of them. The fastest of 200 rounds counts, in processor time, which neighbours on the machine do not take.
 */
#include "base/json_write.h"
#include "base/yaml.h"
#include "describe/standard/check.h"
#include "describe/standard/identity.h"
#include "describe/standard/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 200, STAGES = 5 };

static struct tn_alloc alloc;
static struct tn_limits limits;
static struct tn_error err;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, err.primary.message);
    exit(1);
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = malloc(1 << 22);
    if (!f || !text) die(path);
    *n = fread(text, 1, 1 << 22, f);
    fclose(f);
    return text;
}

/* The components, and again under new names. */
static void repeat(struct tn_json_writer *w, struct tn_json root, size_t want)
{
    struct tn_json components = tn_json_find(root, "/pipeline/workflow/components");
    size_t have = tn_json_count(components), n = have;
    tn_jw_begin_object(w);
    for (struct tn_json v = tn_json_first(components); tn_json_present(v); v = tn_json_next(v)) {
        tn_jw_key_str(w, tn_json_key(v));
        tn_jw_json(w, v);
    }
    while (n < want) {
        for (struct tn_json v = tn_json_first(components); tn_json_present(v) && n < want; v = tn_json_next(v), n++) {
            char name[256];
            struct tn_str key = tn_json_key(v);
            snprintf(name, sizeof(name), "%.*s.%zu", (int)(key.n > 200 ? 200 : key.n), key.s, n);
            tn_jw_key(w, name);
            tn_jw_json(w, v);
        }
    }
    tn_jw_end_object(w);
}

/* The document as JSON text with its components repeated. */
static struct tn_str widened(struct tn_json root, size_t want)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &alloc, 1 << 24);
    tn_jw_init(&w, &text, true);
    tn_jw_begin_object(&w);
    for (struct tn_json v = tn_json_first(root); tn_json_present(v); v = tn_json_next(v)) {
        tn_jw_key_str(&w, tn_json_key(v));
        if (!tn_str_is(tn_json_key(v), "pipeline")) {
            tn_jw_json(&w, v);
            continue;
        }
        tn_jw_begin_object(&w);
        tn_jw_key(&w, "workflow");
        tn_jw_begin_object(&w);
        struct tn_json workflow = tn_json_get(v, "workflow");
        for (struct tn_json m = tn_json_first(workflow); tn_json_present(m); m = tn_json_next(m)) {
            tn_jw_key_str(&w, tn_json_key(m));
            if (tn_str_is(tn_json_key(m), "components")) repeat(&w, root, want);
            else tn_jw_json(&w, m);
        }
        tn_jw_end_object(&w);
        tn_jw_end_object(&w);
    }
    tn_jw_end_object(&w);
    size_t n;
    char *s = tn_buf_take(&text, &n);
    if (!s) die("widening");
    return (struct tn_str){s, n};
}

static void round_of(const char *path, bool yaml, struct tn_str text, double *best, size_t *blockers)
{
    struct tn_json_doc doc;
    struct tn_standard standard;
    struct tn_findings findings;
    struct tn_digest digest;
    double at[STAGES + 1];
    tn_findings_init(&findings, &alloc, 1000);
    at[0] = seconds();
    if (yaml ? tn_yaml_parse(&doc, &alloc, &limits, tn_str_of(path), text, &err)
             : tn_json_parse(&doc, &alloc, &limits, tn_str_of(path), text, &err)) die(path);
    at[1] = seconds();
    tn_standard_check_tables(tn_json_root(&doc), &findings);
    at[2] = seconds();
    if (tn_standard_read(&standard, &alloc, tn_json_root(&doc), &err)) die(path);
    at[3] = seconds();
    tn_standard_check(&standard, &findings, &err);
    at[4] = seconds();
    tn_standard_identity(tn_json_root(&doc), &alloc, &digest, &err);
    at[5] = seconds();
    for (int s = 0; s < STAGES; s++)
        if (at[s + 1] - at[s] < best[s]) best[s] = at[s + 1] - at[s];
    *blockers = findings.blockers;
    tn_standard_release(&standard);
    tn_json_release(&doc);
    tn_findings_release(&findings);
}

static void measure(const char *path, size_t want)
{
    struct tn_json_doc doc;
    struct tn_str text;
    double best[STAGES], sum = 0;
    size_t blockers = 0;
    bool yaml = tn_yaml_named(tn_str_of(path));
    char *file = read_file(path, &text.n);
    text.s = file;
    for (int s = 0; s < STAGES; s++) best[s] = 1e9;
    if (yaml ? tn_yaml_parse(&doc, &alloc, &limits, tn_str_of(path), text, &err)
             : tn_json_parse(&doc, &alloc, &limits, tn_str_of(path), text, &err)) die(path);
    size_t components = tn_json_count(tn_json_find(tn_json_root(&doc), "/pipeline/workflow/components"));
    struct tn_str wide = {NULL, 0};
    if (want > components) {
        wide = widened(tn_json_root(&doc), want);
        text = wide; /* JSON is YAML, and the slower of the two readers counts */
        components = want;
    }
    for (int r = 0; r < ROUNDS; r++) round_of(path, yaml, text, best, &blockers);
    for (int s = 0; s < STAGES; s++) sum += best[s];
    printf("%s: %zu components, %zu bytes, %zu blockers: parse %.3f ms, shape %.3f, read %.3f, meaning %.3f, identity %.3f, "
           "together %.3f ms\n", path, components, text.n, blockers, best[0] * 1e3, best[1] * 1e3, best[2] * 1e3,
           best[3] * 1e3, best[4] * 1e3, sum * 1e3);
    tn_free(&alloc, (void *)(uintptr_t)wide.s);
    tn_json_release(&doc);
    free(file);
}

int main(int argc, char **argv)
{
    size_t want = 0;
    tn_alloc_init(&alloc);
    limits = tn_limits_default();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--components") == 0 && i + 1 < argc) want = strtoul(argv[++i], NULL, 10);
        else measure(argv[i], want);
    }
    return 0;
}
