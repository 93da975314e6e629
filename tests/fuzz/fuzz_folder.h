/* One folder for all inputs of a target, on TMPDIR or in memory; it goes when the process ends. */
#ifndef TN_FUZZ_FOLDER_H
#define TN_FUZZ_FOLDER_H

#include "package_tree.h"

#include <stdlib.h>

static char fuzz_folder_path[512];

static void fuzz_folder_remove(void)
{
    tree_remove(fuzz_folder_path);
    rmdir(fuzz_folder_path);
}

static inline const char *fuzz_folder(void)
{
    const char *base = getenv("TMPDIR");
    struct stat st;
    if (fuzz_folder_path[0]) return fuzz_folder_path;
    if (!base) base = stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp";
    snprintf(fuzz_folder_path, sizeof(fuzz_folder_path), "%s/tenon-fuzz-XXXXXX", base);
    if (!mkdtemp(fuzz_folder_path)) __builtin_trap();
    atexit(fuzz_folder_remove);
    return fuzz_folder_path;
}

#endif
