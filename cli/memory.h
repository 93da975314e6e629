/*
 * Memory of the program itself, from the C library. Running out of it ends the program with a line on standard error
 * and exit code 4: there is nothing to clean up that the system does not. All results are freed with free().
 */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stddef.h>

/* Never NULL, also for 0 bytes. */
void *cli_alloc(size_t n);
void *cli_alloc_zero(size_t n);
void *cli_realloc(void *p, size_t n);
char *cli_copy(const char *s, size_t n); /* plus a NUL */
/* a * b; ends the program on overflow. */
size_t cli_product(size_t a, size_t b);
/* Room for one more item: grows *items (of `size` bytes each) when count has reached *cap. */
void cli_grow(void *items, size_t size, size_t count, size_t *cap);

#endif
