/* Shared libraries that are found at run time, behind names of our own. */
#define _GNU_SOURCE
#include "base/os.h"

#include <dlfcn.h>
#include <stdio.h>

static void say(char *why, size_t cap)
{
    const char *text = dlerror();
    if (cap) snprintf(why, cap, "%s", text ? text : "no reason given");
}

void *tn_os_library_open(const char *path, char *why, size_t cap)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) say(why, cap);
    return library;
}

void *tn_os_library_symbol(void *library, const char *name, char *why, size_t cap)
{
    void *symbol = dlsym(library, name);
    if (!symbol) say(why, cap);
    return symbol;
}

void tn_os_library_close(void *library)
{
    if (library) dlclose(library);
}
