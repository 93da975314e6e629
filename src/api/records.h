/* Shared by the functions that print records. */
#ifndef TN_API_RECORDS_H
#define TN_API_RECORDS_H

#include "base/json.h"
#include "base/json_write.h"

/* The members of an object, in order, into the object that the caller has begun. Numbers keep their spelling. */
void tn_records_copy_members(struct tn_json_writer *w, struct tn_json object);

#endif
