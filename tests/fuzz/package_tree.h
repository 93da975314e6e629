/*
 * A folder tree out of bytes, the same for the fuzz target and for the tests that replay what it found. Records follow
 * one another: a kind, a name (an index into the table of names that packages use), a length of two bytes, contents.
 * Nothing is made outside the given folder: names come from tables or are single components.
 */
#ifndef TN_PACKAGE_TREE_H
#define TN_PACKAGE_TREE_H

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TREE_RECORDS = 24, TREE_CONTENTS = 8192 };

static const char *const tree_names[] = {
    "config.json",
    "modules.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "2_Dense/model.safetensors",
    "2_Dense/config.json",
    "onnx/model.onnx",
    "onnx/model.onnx_data",
    "m-00001-of-00002.gguf",
    "m-00002-of-00002.gguf",
    "openvino/m.xml",
    "openvino/m.bin",
    "tokenizer.json",
    "adapter_config.json",
    "adapter_model.safetensors",
    "model_index.json",
    "unet/diffusion_pytorch_model.safetensors",
    "unet/diffusion_pytorch_model.fp16.safetensors",
    "pytorch_model.bin",
    "genai_config.json",
    "README.md",
    "model.fp16.safetensors",
    "snapshots/aa/model.safetensors",
    "snapshots/aa/config.json",
    "snapshots/bb/config.json",
    "refs/main",
    "blobs/1",
    "a/b/c/d.json",
    ".hidden/x",
    "weights.npz",
};
static const char *const tree_targets[] = {
    "config.json", "model.safetensors", "../../blobs/1", "blobs/1", "..",
    ".",           "/etc/passwd",       "/dev/null",     "absent",  "a/b",
};
enum {
    TREE_NAMES = sizeof(tree_names) / sizeof(tree_names[0]),
    TREE_TARGETS = sizeof(tree_targets) / sizeof(tree_targets[0])
};

static inline void tree_remove(const char *path)
{
    char child[4096];
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) >= (int)sizeof(child)) continue;
        if (lstat(child, &st) == 0 && S_ISDIR(st.st_mode)) {
            tree_remove(child);
            rmdir(child);
        } else {
            unlink(child);
        }
    }
    if (dir) closedir(dir);
}

static inline void tree_parents(const char *root, char *path)
{
    for (char *p = path + strlen(root) + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
}

static inline void tree_put(const char *path, const uint8_t *data, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (write(fd, data, n) < 0) unlink(path);
    close(fd);
}

/* A name of its own: the first bytes of the contents as one component. */
static inline void tree_own_name(char *name, size_t cap, const uint8_t *data, size_t n)
{
    size_t k = 0;
    for (; k < n && k < 20 && k + 1 < cap && data[k]; k++) name[k] = data[k] == '/' ? '_' : (char)data[k];
    name[k] = 0;
    if (k == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) strcpy(name, "x");
}

static inline void tree_make(const char *root, const uint8_t *data, size_t size)
{
    for (unsigned record = 0; record < TREE_RECORDS && size >= 4; record++) {
        char path[8192], own[64];
        unsigned kind = data[0] % 5, which = data[1];
        size_t n = (size_t)(data[2] | data[3] << 8) % TREE_CONTENTS;
        data += 4;
        size -= 4;
        if (n > size) n = size;
        tree_own_name(own, sizeof(own), data, n);
        snprintf(path, sizeof(path), "%s/%s", root, kind == 4 ? own : tree_names[which % TREE_NAMES]);
        tree_parents(root, path);
        switch (kind) {
        case 0:
        case 1:
        case 4: tree_put(path, data, n); break;
        case 2:
            if (symlink(tree_targets[n ? data[0] % TREE_TARGETS : 0], path) != 0) break;
            break;
        case 3:
            if (mkfifo(path, 0600) != 0) break;
            break;
        default: break;
        }
        data += n;
        size -= n;
    }
}

#endif
