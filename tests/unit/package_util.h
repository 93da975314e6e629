/*
 * What the package tests share: a folder in which a test builds a package, a writer of safetensors files whose header
 * is given as text, and assertions about findings by code, place and words.
 */
#ifndef TN_PACKAGE_UTIL_H
#define TN_PACKAGE_UTIL_H

#include "test.h"

#include "package/package.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tn_alloc alloc;
static struct tn_context ctx;
static struct tn_error *err;

__attribute__((constructor)) static void set_up(void)
{
    tn_alloc_init(&alloc);
    ctx = (struct tn_context){.alloc = &alloc, .limits = tn_limits_default()};
    err = calloc(1, sizeof(*err));
}

/* Absolute path of an entry of the test's folder; valid until the fourth next call. */
static inline const char *in_folder(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline const char *in_folder(const char *format, ...)
{
    static char paths[4][8192];
    static unsigned next;
    char name[4096], *path = paths[next++ % 4];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    snprintf(path, sizeof(paths[0]), "%s/%s", test_folder(), name);
    return path;
}

/* Makes the folders above an entry. */
static inline void make_parents(const char *path)
{
    char part[8192];
    for (size_t i = strlen(test_folder()) + 1; path[i]; i++) {
        if (path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        mkdir(part, 0755);
    }
}

static inline void put_bytes(const char *name, const void *p, size_t n)
{
    const char *path = in_folder("%s", name);
    make_parents(path);
    test_write_file(path, p, n);
}

static inline void put_text(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/* The frame, the header text and `data` zero bytes (sparse). */
static inline void put_safetensors(const char *name, const char *header, uint64_t data)
{
    size_t n = strlen(header);
    unsigned char *bytes = malloc(n + 8);
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)n >> (8 * i));
    memcpy(bytes + 8, header, n);
    put_bytes(name, bytes, n + 8);
    if (truncate(in_folder("%s", name), (off_t)(n + 8 + data)) != 0) test_fail(__FILE__, __LINE__, "truncate");
    free(bytes);
}

/* One f32 tensor of four elements. */
static inline void put_tensor(const char *name, const char *tensor)
{
    char header[512];
    snprintf(header, sizeof(header), "{\"%s\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}", tensor);
    put_safetensors(name, header, 16);
}

/* NULL on failure, which is then in err. */
static inline struct tn_inventory *open_quietly(const char *path)
{
    struct tn_inventory *inv = NULL;
    tn_error_clear(err);
    tn_inventory_open(&ctx, path, &inv, err);
    return inv;
}

static inline struct tn_inventory *open_package(const char *path)
{
    struct tn_inventory *inv = open_quietly(path);
    if (!inv) test_fail(__FILE__, __LINE__, "%s: %s (%s)", path, err->primary.message, err->primary.found);
    return inv;
}

static inline void close_package(struct tn_inventory *inv)
{
    tn_inventory_free(inv);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    CHECK_INT(alloc.blocks, 0);
}

/* `file` NULL: any place. */
static inline const struct tn_finding *find_in(const struct tn_findings *list, enum tn_status code, const char *part,
                                               const char *file)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        if (f->code == code && strstr(f->message, part) && (!file || strcmp(f->file, file) == 0)) return f;
    }
    return NULL;
}

static inline void print_findings(const struct tn_findings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        printf("      %s %s: %s [%s %s] found: %s; expected: %s\n", tn_severity_name(f->severity),
               tn_status_name(f->code), f->message, f->file, f->element, f->found, f->expected);
    }
}

/* A finding with this code and these words, about this file; a test failure and a blank one otherwise. */
static inline const struct tn_finding *expect_in(const struct tn_findings *list, enum tn_status code, const char *part,
                                                 const char *file, int line)
{
    static const struct tn_finding none;
    const struct tn_finding *f = find_in(list, code, part, file);
    if (!f) {
        test_fail(__FILE__, line, "no finding %s \"%s\" at %s among %zu", tn_status_name(code), part, file ? file : "-",
                  list->count);
        print_findings(list);
        return &none;
    }
    return f;
}
#define EXPECT(inv, code, part, file) expect_in(&(inv)->findings, (code), (part), (file), __LINE__)

static inline void expect_clean(const struct tn_inventory *inv, int line)
{
    if (inv->findings.count == 0) return;
    test_fail(__FILE__, line, "%zu findings where none was expected", inv->findings.count);
    print_findings(&inv->findings);
}
#define EXPECT_CLEAN(inv) expect_clean((inv), __LINE__)

static inline bool has_evidence(const struct tn_inventory *inv, const char *dialect, const char *rule)
{
    for (uint32_t i = 0; i < inv->evidence_count; i++) {
        if (tn_str_is(inv->evidence[i].dialect, dialect) && tn_str_is(inv->evidence[i].rule, rule)) return true;
    }
    return false;
}

static inline const struct tn_variant *variant_of(const struct tn_inventory *inv, const char *id)
{
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        if (tn_str_is(inv->variants[i].id, id)) return &inv->variants[i];
    }
    return NULL;
}

#endif
