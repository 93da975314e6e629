/* Shared by the functions that print records. */
#ifndef TN_API_RECORDS_H
#define TN_API_RECORDS_H

#include "base/json.h"
#include "base/json_write.h"
#include "record/record.h"

/* The members of an object, in order, into the object that the caller has begun. Numbers keep their spelling. */
void tn_records_copy_members(struct tn_json_writer *w, struct tn_json object);

/* "NAME/VERSION" strings of this build, as far as they are known without a package. */
struct tn_records_present {
    struct tn_record_facts facts;
    char provider[96], family[96], recipe[96];
};

/* *p is zeroed. */
struct tn_runtime;
void tn_records_see_present(struct tn_records_present *p, const struct tn_runtime *runtime, const struct tn_record_index *index);
/* "NAME" of "NAME/VERSION". */
struct tn_str tn_records_name_part(struct tn_str s);

#endif
