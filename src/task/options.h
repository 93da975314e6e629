/* Statements about a task's options: the contract's default, the package's word, the request's. Shared by the tasks. */
#ifndef TN_TASK_OPTIONS_H
#define TN_TASK_OPTIONS_H

#include "describe/describe.h"
#include "describe/effective.h"

struct tn_option_maker {
    const struct tn_description *d;
    struct tn_arena *arena;
    struct tn_option *out; /* room for TN_TASK_OPTIONS */
    uint32_t count;
    bool no_memory;
};

/* The next option with the contract's default; value .s NULL: there is none. */
struct tn_option *tn_option_begin(struct tn_option_maker *m, const char *name, struct tn_str otherwise);
/* The package's word, placed where the fact of this name was read; fact NULL: nowhere in particular. */
void tn_option_of_package(struct tn_option_maker *m, struct tn_option *o, struct tn_str value, const char *fact);
/* The request's word on an option of that name among `count`; value .s NULL: no memory. */
/*
 * Copies options whose texts may go before the copies do (a model's, for a run that outlives it): the texts go into the
 * arena. Returns count.
 */
uint32_t tn_options_keep(struct tn_option *to, const struct tn_option *from, uint32_t count, struct tn_arena *arena, bool *no_memory);
void tn_option_of_request(struct tn_option *options, uint32_t count, const char *name, struct tn_str value, bool *no_memory);

#endif
