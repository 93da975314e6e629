/*
 * What the readers of a standard document share: tolerant typed reads of one member each, and arrays in the arena.
 * A refused allocation is remembered in the reader and ends in an empty array; tn_standard_read asks once.
 */
#ifndef TN_DESCRIBE_STANDARD_READ_H
#define TN_DESCRIBE_STANDARD_READ_H

#include "describe/standard/standard.h"

struct tn_std_reader {
    struct tn_arena *arena;
    bool memory_gone;
    bool too_deep;
    struct tn_json deep_at;
};

/* One word of a vocabulary; lists end with NULL. */
struct tn_std_word {
    const char *text;
    int value;
};

/* Member by name; null is absence. */
struct tn_json tn_std_get(struct tn_json object, const char *key);
struct tn_std_ref tn_std_ref_at(struct tn_json v);
struct tn_std_ref tn_std_ref_of(struct tn_json object, const char *key);
struct tn_str tn_std_str_of(struct tn_json object, const char *key);
struct tn_std_count tn_std_count_of(struct tn_json object, const char *key);
struct tn_std_real tn_std_real_of(struct tn_json object, const char *key);
bool tn_std_bool_of(struct tn_json object, const char *key, bool otherwise);
/* The word's value; 0 when absent, not text or outside the list. */
int tn_std_word_of(struct tn_json object, const char *key, const struct tn_std_word *words);

/* Zeroed array of count items and *n = count; NULL and 0 when empty or memory is gone. */
void *tn_std_array(struct tn_std_reader *r, size_t count, size_t size, size_t *n);
/* An array of strings; other elements are skipped. */
struct tn_std_refs tn_std_refs_of(struct tn_std_reader *r, struct tn_json object, const char *key);
/* An object of strings; other members are skipped. */
struct tn_std_bindings tn_std_bindings_of(struct tn_std_reader *r, struct tn_json object, const char *key);
void tn_std_contract_at(struct tn_std_reader *r, struct tn_json v, struct tn_std_contract *out);

/* The parts of the document, one file each. */
void tn_std_read_workflow(struct tn_std_reader *r, struct tn_json v, struct tn_std_workflow *out);
void tn_std_read_steps(struct tn_std_reader *r, struct tn_json v, unsigned depth, struct tn_std_steps *out);
void tn_std_read_state(struct tn_std_reader *r, struct tn_json workflow, struct tn_std_workflow *out);
void tn_std_read_adapters(struct tn_std_reader *r, struct tn_json v, struct tn_std_adapters *out);
void tn_std_read_speculative(struct tn_std_reader *r, struct tn_json v, struct tn_std_speculative *out);
void tn_std_read_facts(struct tn_std_reader *r, struct tn_json root, struct tn_standard *doc);

#endif
