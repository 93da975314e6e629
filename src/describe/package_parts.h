/* What the readers of tenon_package.json share. Internal to package_*.c. */
#ifndef TN_DESCRIBE_PACKAGE_PARTS_H
#define TN_DESCRIBE_PACKAGE_PARTS_H

#include "describe/package_document.h"

#define TN_PACKAGE_RULE "tenon.package/1"

/* Members of an object whose shape was checked: the value, or nothing ("" , false, 0) where there is none of the type. */
struct tn_str tn_package_text(struct tn_builder *b, struct tn_json object, const char *key);
bool tn_package_flag(struct tn_json object, const char *key);
uint64_t tn_package_size(struct tn_json object, const char *key);
/*
 * "POINTER in DOCUMENT what": a blocker at the value that shows it. NULL, and no finding, where the shape has refused the
 * value already, or something in it.
 */
struct tn_finding *tn_package_refuse(struct tn_builder *b, struct tn_json v, enum tn_status code, const char *what);
/* A file or folder that the document names, as the inventory spells it; "" after a finding, and then *good is false. */
struct tn_str tn_package_path(struct tn_builder *b, struct tn_json object, const char *key, bool *good);

/* package_head.c, package_tokenizer.c: the two objects, into the description whose component and modules are there. */
void tn_package_read_head(struct tn_builder *b, struct tn_json object);
/* The document states no head: then the component's class must not promise one that would be what comes out. */
void tn_package_read_headless(struct tn_builder *b, struct tn_json root);
void tn_package_read_tokenizer(struct tn_builder *b, struct tn_json object);
/* package_multi.c: "multi_vector" of the document, behind modules and head, and what goes with it. */
void tn_package_read_multi_vector(struct tn_builder *b, struct tn_json root);
void tn_package_check_similarity(struct tn_builder *b, struct tn_json root);

#endif
