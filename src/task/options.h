/* Statements about a task's options: the contract's default, the package's word, the request's. Shared by the tasks. */
#ifndef TN_TASK_OPTIONS_H
#define TN_TASK_OPTIONS_H

#include "base/json_write.h"
#include "task/task.h"

/* A task's own: what is in force where a request says nothing. */
typedef enum tn_status tn_options_of(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                     struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err);

struct tn_option_maker {
    const struct tn_description *d;
    struct tn_arena *arena;
    struct tn_option *out; /* room for TN_TASK_OPTIONS */
    uint32_t count;
    bool no_memory;
};

/* The next option with the contract's default; value .s NULL: there is none. */
struct tn_option *tn_option_begin(struct tn_option_maker *m, const char *name, struct tn_str otherwise);
/* What ends a task's function of options. */
enum tn_status tn_options_end(const struct tn_option_maker *m, uint32_t *count, struct tn_error *err);
/* The package's word, placed where the fact of this name was read; fact NULL: nowhere in particular. */
void tn_option_of_package(struct tn_option_maker *m, struct tn_option *o, struct tn_str value, const char *fact);

/*
 * What is in force for a session's requests, or for one of them, with what it was said over; texts live in the arena.
 * All zeros is empty and may be released.
 */
struct tn_stated {
    struct tn_arena arena;
    struct tn_option options[TN_TASK_OPTIONS];
    uint32_t count;
    bool no_memory; /* a statement of this request could not be kept */
};

/* A session's: what `options`, the task's, says of the package. To be released whatever the status. */
enum tn_status tn_stated_begin(struct tn_stated *s, const struct tn_recipe_env *env, tn_options_of *options, struct tn_error *err);
/*
 * Begins a request's: what is in force for the session, with texts of its own, because accounts are written when the
 * session's may be gone. A failure shows in no_memory.
 */
void tn_stated_over(struct tn_stated *s, const struct tn_stated *session, struct tn_alloc *alloc);
/* The request's word; value .s NULL: no memory. */
void tn_stated_request(struct tn_stated *s, const char *name, struct tn_str value);
void tn_stated_request_u64(struct tn_stated *s, const char *name, uint64_t value);
void tn_stated_request_word(struct tn_stated *s, const char *name, const char *word);
/* What a request's statements hold, at most; `texts`: bytes of the texts among them that are the request's own. */
uint64_t tn_stated_bytes(const struct tn_stated *session, uint64_t texts);
void tn_stated_release(struct tn_stated *s);
/* Member "options" of an account. */
void tn_stated_write(const struct tn_stated *s, struct tn_json_writer *w);
/* The value of an option that is in force, as JSON. */
struct tn_str tn_stated_value(const struct tn_stated *s, const char *name);

#endif
