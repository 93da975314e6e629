#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void out_of_memory(void)
{
    fputs("tenon: out of memory\n", stderr);
    exit(4);
}

void *cli_alloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p) out_of_memory();
    return p;
}

void *cli_alloc_zero(size_t n)
{
    return memset(cli_alloc(n), 0, n);
}

void *cli_realloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p) out_of_memory();
    return p;
}

char *cli_copy(const char *s, size_t n)
{
    char *out = cli_alloc(n + 1);
    if (n) memcpy(out, s, n);
    out[n] = 0;
    return out;
}

size_t cli_product(size_t a, size_t b)
{
    if (b && a > SIZE_MAX / b) out_of_memory();
    return a * b;
}

void cli_grow(void *items, size_t size, size_t count, size_t *cap)
{
    void *array;
    if (count < *cap) return;
    memcpy(&array, items, sizeof(array)); /* items points at a pointer of any type */
    *cap = *cap ? cli_product(*cap, 2) : 16;
    array = cli_realloc(array, cli_product(*cap, size));
    memcpy(items, &array, sizeof(array));
}
