/* Where the packages with real weights are that `make fetch-models` brings. */
#ifndef TN_TESTS_REAL_MODELS_H
#define TN_TESTS_REAL_MODELS_H

#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Path of a file or folder below the models' folder; false when it is not there. */
static inline bool real_model(char *path, size_t cap, const char *name)
{
    const char *models = getenv("TENON_MODELS"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat st;
    if (models) snprintf(path, cap, "%s/%s", models, name);
    else if (cache) snprintf(path, cap, "%s/tenon/models/%s", cache, name);
    else snprintf(path, cap, "%s/.cache/tenon/models/%s", home ? home : ".", name);
    return stat(path, &st) == 0;
}

#endif
