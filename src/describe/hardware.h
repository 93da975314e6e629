/*
 * What a package demands of the machine (hardware_requirements of the inference-metadata proposal), held against what is
 * there. A minimum that is not met blocks; what would merely help is a note. Nothing here asks the machine itself: figures
 * come in as data.
 */
#ifndef TN_DESCRIBE_HARDWARE_H
#define TN_DESCRIBE_HARDWARE_H

#include "base/json.h"

struct tn_hardware {
    struct tn_str file, pointer; /* of the object; .s NULL: nothing is demanded */
    bool has_memory, has_degree;
    double memory_gib;
    uint64_t tp_degree;
    struct tn_str *required, *beneficial;
    size_t required_count, beneficial_count;
};

/* Reads an object whose shape has been checked; what is of another type is passed over. Strings go into the arena. */
enum tn_status tn_hardware_read(struct tn_json v, struct tn_arena *arena, struct tn_hardware *out, struct tn_error *err);

struct tn_hardware_facts {
    uint64_t memory_bytes;      /* of the machine; 0: not known */
    uint64_t memory_limit;      /* what the caller allows; 0: all of it */
    const char *const *dtypes;  /* that are taken, by the names of the standard; NULL-terminated; NULL: not known */
    uint64_t tp_degree;         /* devices that the model is spread over by tensor parallelism; 0 or 1: it is not */
};

/*
 * Too little memory is TN_RESOURCE_LIMIT: another machine or a higher limit helps, waiting does not. A missing number type
 * is TN_MISSING_CAPABILITY, and so is a degree of tensor parallelism below the least useful one; the standard speaks of that
 * degree only where tensor parallelism is selected, so a model that runs whole on one device has a note. A machine whose
 * memory is not known is a note.
 */
void tn_hardware_check(const struct tn_hardware *h, const struct tn_hardware_facts *facts, enum tn_phase phase,
                       struct tn_findings *findings);

#endif
