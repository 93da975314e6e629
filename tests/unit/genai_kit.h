/*
 * What the tests of genai_config share: private copies of the committed packages, graphs of other ports, and checks of
 * what an edit of the document leads to. Defines _GNU_SOURCE and comes first.
 */
#ifndef TN_GENAI_KIT_H
#define TN_GENAI_KIT_H

#define _GNU_SOURCE
#include "describe_kit.h"
#include "describe/serial.h"
#include "onnx_ports.h"

#include <dirent.h>

#define DOCUMENT "genai_config.json"

/* ---- packages ---------------------------------------------------------------------------------------------------- */

static inline void copy_folder(const char *from, const char *to)
{
    char path[1024], target[400];
    DIR *folder = opendir(from);
    if (!folder) {
        test_fail(__FILE__, __LINE__, "no folder %s", from);
        return;
    }
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        size_t size;
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof(path), "%s/%s", from, e->d_name);
        snprintf(target, sizeof(target), "%.100s%s", to, e->d_name);
        if (e->d_type == DT_DIR) {
            strcat(target, "/");
            copy_folder(path, target);
            continue;
        }
        char *bytes = test_read_file(path, &size);
        put_bytes(kit_name(target), bytes, size);
        free(bytes);
    }
    closedir(folder);
}

/* A vocabulary of 100 texts, "t0" to "t99", beside the document: every id of the committed packages is in it. */
static inline void put_vocabulary(const char *name)
{
    static char text[8192];
    size_t n = (size_t)snprintf(text, sizeof(text), "{\"version\": \"1.0\", \"added_tokens\": [], \"model\": {\"type\": \"BPE\", \"vocab\": {");
    for (int i = 0; i < 100; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\"t%d\": %d", i ? ", " : "", i, i);
    snprintf(text + n, sizeof(text) - n, "}, \"merges\": []}}");
    kit_put(name, text);
}

/* As committed: without a tokenizer. */
static inline void genai_bare(const char *package)
{
    char path[256];
    kit_empty();
    snprintf(path, sizeof(path), "golden/genai/packages/%s", package);
    copy_folder(test_path(path), "");
}

static inline void genai_new(const char *package)
{
    genai_bare(package);
    if (strcmp(package, "two_folders") != 0) {
        put_vocabulary("tokenizer.json");
    } else {
        put_vocabulary("cpu/tokenizer.json");
        put_vocabulary("gpu/tokenizer.json");
    }
}

/* Both documents that `describe` writes for a committed package, whose losses are accepted, beside it. */
static inline bool genai_described(const char *package)
{
    struct tn_serial_options serial = {.yaml = true};
    struct tn_buf texts[2];
    genai_new(package);
    kit_options.accept_loss = true;
    struct tn_description *d = kit_describe();
    kit_options.accept_loss = false;
    if (!d) return false;
    for (size_t i = 0; i < 2; i++) tn_buf_init(&texts[i], &alloc, 1 << 22);
    tn_error_clear(err);
    bool ok = tn_description_documents(d, &serial, &texts[0], &texts[1], err) == TN_OK;
    if (!ok) test_fail(__FILE__, __LINE__, "%s: %s", package, err->primary.message);
    if (ok) kit_put("inference_metadata.yaml", texts[0].data);
    if (ok) kit_put("tenon_package.json", texts[1].data);
    for (size_t i = 0; i < 2; i++) tn_buf_release(&texts[i]);
    kit_close(d);
    return ok;
}

static inline void put_graph(const char *name, const char *const *lines)
{
    static struct ports_buf model;
    ports_model(&model, lines);
    put_bytes(kit_name(name), model.data, model.n);
}

/* Blockers that say more than "nothing here executes it". */
static inline size_t faults(const struct tn_description *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *f = &d->findings.items[i];
        bool imported = strncmp(f->file, "(contract", 9) == 0;
        if (f->severity == TN_BLOCKER && f->code != TN_PROVIDER_UNAVAILABLE && !imported) count++;
    }
    return count;
}

static inline void expect_faults(const struct tn_description *d, size_t count, int line)
{
    if (faults(d) == count) return;
    test_fail(__FILE__, line, "%zu faults, expected %zu", faults(d), count);
    print_findings(&d->findings);
}
#define FAULTS(d, count) expect_faults((d), (count), __LINE__)

static inline bool has_contract(const struct tn_description *d)
{
    return tn_json_present(tn_json_root(&d->contract));
}

static inline const struct tn_std_group *group(const struct tn_description *d, const char *name)
{
    return tn_standard_group(&d->standard, tn_str_of(name));
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

struct genai_fault {
    const char *package, *from, *to;
    struct kit_expected expected;
    size_t count;
    int line;
};
#define FAULT(package, count, from, to, ...) {(package), (from), (to), {TN_BLOCKER, __VA_ARGS__}, (count), __LINE__}

static inline void run_genai_faults(const struct genai_fault *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        genai_new(rows[i].package);
        kit_edit(DOCUMENT, rows[i].from, rows[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_expect(d, rows[i].expected, __FILE__, rows[i].line);
        expect_faults(d, rows[i].count, rows[i].line);
        if (has_contract(d)) test_fail(__FILE__, rows[i].line, "a contract in spite of a fault");
        kit_close(d);
    }
}
#define RUN(rows) run_genai_faults((rows), sizeof(rows) / sizeof((rows)[0]))
#define VOCAB "\"vocab_size\": 100"
#define CONTEXT "\"context_length\": 64"

#endif
