/*
 * Copies of whole packages with or without their convention's documents, and the pair of documents put into them, by the
 * public functions alone. Defines _GNU_SOURCE and comes first.
 */
#ifndef TN_DOCUMENTS_TREE_H
#define TN_DOCUMENTS_TREE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "api_util.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 1024 };

static inline bool is_configuration(const char *name)
{
    static const char *const kept[] = {"tokenizer.json", "vocab.txt", "inference_metadata.yaml", "inference_metadata.json",
                                       "tenon_package.json"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strcmp(name, kept[i]) == 0) return false;
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

static inline void copy_file(const char *from, const char *to)
{
    size_t size = 0;
    char *bytes = test_read_file(from, &size);
    if (bytes) test_write_file(to, bytes, size);
    free(bytes);
}

/* Copies a tree; `configuration` says whether with the convention's own documents. */
static inline void copy_tree(const char *from, const char *to, bool configuration)
{
    DIR *dir = opendir(from);
    struct dirent *entry;
    mkdir(to, 0700);
    while (dir && (entry = readdir(dir))) {
        char source[PATH + 256], target[PATH + 256];
        struct stat st;
        if (entry->d_name[0] == '.') continue;
        snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
        snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
        if (stat(source, &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) copy_tree(source, target, configuration);
        else if (configuration || !is_configuration(entry->d_name)) copy_file(source, target);
    }
    if (dir) closedir(dir);
}

static inline void put(const char *folder, const char *name, const char *text)
{
    char path[PATH + 256];
    snprintf(path, sizeof(path), "%.1200s/%s", folder, name);
    test_write_file(path, text, strlen(text));
}

/* Replaces one piece of a document; the piece must be there. */
static inline void edit(const char *folder, const char *name, const char *from, const char *to)
{
    char path[PATH + 256];
    size_t size = 0;
    snprintf(path, sizeof(path), "%.1200s/%s", folder, name);
    char *text = test_read_file(path, &size), *at = text ? strstr(text, from) : NULL;
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s does not contain %s", path, from);
    } else {
        size_t room = size + strlen(to) + 1;
        char *out = malloc(room);
        snprintf(out, room, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
        test_write_file(path, out, strlen(out));
        free(out);
    }
    free(text);
}

/* The two documents of a package into a folder. */
static inline void describe_into(struct api *a, const char *path, const char *folder, const char *format, bool provenance)
{
    tn_package *package = api_open(a, path);
    tn_document *metadata = NULL, *content = NULL;
    tn_description_options o = TN_INIT(tn_description_options);
    char name[64];
    o.format = format;
    o.provenance = provenance;
    if (!package) return;
    CHECK_INT(tn_package_describe(package, &o, &metadata, &content, a->err), TN_OK);
    snprintf(name, sizeof(name), "inference_metadata.%s", format);
    put(folder, name, tn_document_text(metadata, NULL));
    put(folder, "tenon_package.json", tn_document_text(content, NULL));
    tn_document_free(metadata);
    tn_document_free(content);
    tn_package_free(package);
}

#endif
