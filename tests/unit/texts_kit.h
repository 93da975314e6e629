/*
 * Golden packages whose weights are a graph in the place of safetensors: the same documents, and the same answers are asked.
 * Defines _GNU_SOURCE and comes first.
 */
#ifndef TN_TEST_TEXTS_KIT_H
#define TN_TEST_TEXTS_KIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXTS_PATH = 2048 };

static inline void texts_copy_file(const char *from, const char *to)
{
    size_t size = 0;
    char *bytes = test_read_file(from, &size);
    if (bytes) test_write_file(to, bytes, size);
    free(bytes);
}

/* Without the encoder's weights; those of modules in folders of their own stay. */
static inline void texts_copy_tree(const char *from, const char *to, bool inner)
{
    DIR *dir = opendir(from);
    struct dirent *entry;
    mkdir(to, 0700);
    while (dir && (entry = readdir(dir))) {
        char source[TEXTS_PATH], target[TEXTS_PATH];
        struct stat st;
        if (entry->d_name[0] == '.' || (!inner && strcmp(entry->d_name, "model.safetensors") == 0)) continue;
        snprintf(source, sizeof(source), "%.1700s/%.255s", from, entry->d_name);
        snprintf(target, sizeof(target), "%.1700s/%.255s", to, entry->d_name);
        if (stat(source, &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) texts_copy_tree(source, target, true);
        else texts_copy_file(source, target);
    }
    if (dir) closedir(dir);
}

/*
 * A copy of the package at `path` with the graph golden/texts/FILE.onnx, FILE being that of the golden up to its dot; its
 * path to `out`. False: there is no such graph.
 */
static inline bool texts_over_graph(const char *file, const char *path, char *out, size_t cap)
{
    char graph[TEXTS_PATH], folder[TEXTS_PATH], target[TEXTS_PATH];
    struct stat st;
    int n = (int)strcspn(file, ".");
    snprintf(graph, sizeof(graph), "%.700s/%.*s.onnx", test_path("golden/texts"), n, file);
    if (stat(graph, &st) != 0) return false;
    snprintf(folder, sizeof(folder), "%.700s/%.*s_over_graph", test_folder(), n, file);
    texts_copy_tree(path, folder, false);
    snprintf(target, sizeof(target), "%.1700s/onnx", folder);
    mkdir(target, 0700);
    snprintf(target, sizeof(target), "%.1700s/onnx/model.onnx", folder);
    texts_copy_file(graph, target);
    snprintf(out, cap, "%.1100s", folder);
    return true;
}

#endif
