/* The id of a record document: a digest of its members by value. Shared by the writer and the reader of documents. */
#ifndef TN_RECORD_DIGEST_H
#define TN_RECORD_DIGEST_H

#include "record/record.h"

/* Hexadecimal and NUL into id; the members "id" and "stored" of the root do not count. */
void tn_record_digest(struct tn_json root, char id[TN_RECORD_ID + 1]);

#endif
