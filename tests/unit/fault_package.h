/* Copies of a committed package with one piece of one file changed, for tests that ask what the change does. */
#ifndef TN_TESTS_FAULT_PACKAGE_H
#define TN_TESTS_FAULT_PACKAGE_H

#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>

struct package_edit {
    const char *name, *file;
    const char *from, *to; /* one piece of text for another; to NULL: the file ends there */
};

/* Like strstr in bytes that may hold NUL. */
static inline char *package_find(char *bytes, size_t size, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= size; i++) {
        if (memcmp(bytes + i, part, n) == 0) return bytes + i;
    }
    return NULL;
}

static inline void package_write(const char *path, char *bytes, size_t size, const struct package_edit *edit)
{
    char *at = package_find(bytes, size, edit->from);
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s does not contain %s", path, edit->from);
        return;
    }
    size_t before = (size_t)(at - bytes), from = strlen(edit->from), to = edit->to ? strlen(edit->to) : 0;
    char *out = malloc(size + to);
    memcpy(out, bytes, before);
    if (to) memcpy(out + before, edit->to, to);
    if (edit->to) memcpy(out + before + to, at + from, size - before - from);
    test_write_file(path, out, edit->to ? size - from + to : before);
    free(out);
}

/* tests/golden/packages/bert_mean_normalize below the test's folder, as edit->name; edit->file NULL: as it is. */
static inline void package_copy(char *folder, size_t cap, const struct package_edit *edit)
{
    static const char *const files[] = {"1_Pooling/config.json", "config.json",  "config_sentence_transformers.json",
                                        "model.safetensors",     "modules.json", "sentence_bert_config.json",
                                        "tokenizer.json",        "README.md",    "tokenizer_config.json",
                                        "vocab.txt"};
    char path[1024], from[256];
    snprintf(folder, cap, "%s/%s", test_folder(), edit->name);
    snprintf(path, sizeof(path), "%s/1_Pooling", folder);
    mkdir(folder, 0700);
    mkdir(path, 0700);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t size = 0;
        snprintf(from, sizeof(from), "golden/packages/bert_mean_normalize/%s", files[i]);
        char *bytes = test_read_file(test_path(from), &size);
        if (!bytes) {
            test_fail(__FILE__, __LINE__, "no %s", from);
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        if (edit->file && strcmp(files[i], edit->file) == 0) {
            package_write(path, bytes, size, edit);
        } else {
            test_write_file(path, bytes, size);
        }
        free(bytes);
    }
}

#endif
