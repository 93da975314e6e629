/*
 * Shorthand for tables of documents, so that a table reads as a table. Only files that define tables include this.
 *
 *     TN_DOC_OBJECT_TYPE(tn_std_pooling, "PoolingSpec", "Reduces a sequence to one vector per row.",
 *         TN_DOC_MUST("axis", TN_DOC_UINT, "Axis that the reduction removes."),
 *         TN_DOC_MAY("normalize", TN_DOC_BOOLEAN, "false", "Whether the result is scaled to unit length."),
 *     );
 */
#ifndef TN_BASE_DOCTYPE_ROWS_H
#define TN_BASE_DOCTYPE_ROWS_H

#include "base/doctype.h"

#define TN_DOC_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- members: required, optional with what absence means, optional or null (with what both mean), required or null, import only */
#define TN_DOC_MUST(name, type, note) {(name), (type), TN_DOC_REQUIRED, NULL, (note)}
#define TN_DOC_MAY(name, type, absent, note) {(name), (type), 0, (absent), (note)}
#define TN_DOC_NULL(name, type, note) {(name), (type), TN_DOC_NULLABLE, NULL, (note)}
#define TN_DOC_NULL_AS(name, type, absent, note) {(name), (type), TN_DOC_NULLABLE, (absent), (note)}
#define TN_DOC_MUST_NULL(name, type, note) {(name), (type), TN_DOC_REQUIRED | TN_DOC_NULLABLE, NULL, (note)}
#define TN_DOC_OLD(name, type, note) {(name), (type), TN_DOC_NULLABLE | TN_DOC_DEPRECATED, NULL, (note)}

/* ---- plain values, written where they are used. A NAME refers to something or is referred to; a TEXT is said to people. */
#define TN_DOC_PLAIN(...) (&(const struct tn_doctype){__VA_ARGS__})
#define TN_DOC_INTEGER_TYPE(format_, least_, most_) \
    TN_DOC_PLAIN(.kind = TN_DOC_INT, .format = (format_), .least = (least_), .most = (most_))
#define TN_DOC_UINT TN_DOC_INTEGER_TYPE("uint", 0, UINT64_MAX)
#define TN_DOC_SIZE TN_DOC_INTEGER_TYPE("uint", 1, UINT64_MAX)
#define TN_DOC_UINT64 TN_DOC_INTEGER_TYPE("uint64", 0, UINT64_MAX)
#define TN_DOC_UINT32 TN_DOC_INTEGER_TYPE("uint32", 0, UINT32_MAX)
#define TN_DOC_SIZE32 TN_DOC_INTEGER_TYPE("uint32", 1, UINT32_MAX)
#define TN_DOC_UINT16 TN_DOC_INTEGER_TYPE("uint16", 0, UINT16_MAX)
#define TN_DOC_INT64 TN_DOC_INTEGER_TYPE("int64", INT64_MIN, INT64_MAX)
#define TN_DOC_INT32 TN_DOC_INTEGER_TYPE("int32", INT32_MIN, INT32_MAX)
#define TN_DOC_DOUBLE TN_DOC_PLAIN(.kind = TN_DOC_NUMBER, .format = "double", .low = -DBL_MAX, .high = DBL_MAX)
#define TN_DOC_FLOAT TN_DOC_PLAIN(.kind = TN_DOC_NUMBER, .format = "float", .low = -(double)FLT_MAX, .high = (double)FLT_MAX)
#define TN_DOC_FLOAT_POSITIVE TN_DOC_PLAIN(.kind = TN_DOC_NUMBER, .format = "float", .low = 0, .high = (double)FLT_MAX)
#define TN_DOC_BOOLEAN TN_DOC_PLAIN(.kind = TN_DOC_BOOL)
#define TN_DOC_TEXT TN_DOC_PLAIN(.kind = TN_DOC_STRING)
#define TN_DOC_NAME TN_DOC_PLAIN(.kind = TN_DOC_STRING, .min_length = 1)
#define TN_DOC_ANYTHING TN_DOC_PLAIN(.kind = TN_DOC_ANY)
#define TN_DOC_LIST_OF(type) TN_DOC_PLAIN(.kind = TN_DOC_LIST, .items = (type))
#define TN_DOC_SOME_OF(type) TN_DOC_PLAIN(.kind = TN_DOC_LIST, .items = (type), .min_items = 1)
#define TN_DOC_SET_OF_NAMES TN_DOC_PLAIN(.kind = TN_DOC_LIST, .items = TN_DOC_NAME, .unique = true)
#define TN_DOC_MAP_OF(type) TN_DOC_PLAIN(.kind = TN_DOC_MAP, .items = (type))
#define TN_DOC_NAMED(type) TN_DOC_PLAIN(.kind = TN_DOC_MAP, .items = (type), .named = true)
#define TN_DOC_VALUES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define TN_DOC_ONE_OF(...) TN_DOC_PLAIN(.kind = TN_DOC_ENUM, .values = TN_DOC_VALUES(__VA_ARGS__))

/* ---- named types */
#define TN_DOC_OBJECT_TYPE(symbol, name_, note_, ...)                                              \
    static const struct tn_docfield symbol##_fields[] = {__VA_ARGS__};                             \
    const struct tn_doctype symbol = {.kind = TN_DOC_OBJECT,                                       \
                                      .name = (name_),                                             \
                                      .note = (note_),                                             \
                                      .fields = symbol##_fields,                                   \
                                      .field_count = TN_DOC_COUNT(symbol##_fields)};               \
    _Static_assert(TN_DOC_COUNT(symbol##_fields) <= 64, "one bit per member")
#define TN_DOC_ENUM_TYPE(symbol, name_, note_, ...)                                                \
    const struct tn_doctype symbol = {                                                             \
        .kind = TN_DOC_ENUM, .name = (name_), .note = (note_), .values = TN_DOC_VALUES(__VA_ARGS__)}
/* The listed values are those with a meaning today; others are extensions that a reader may know. */
#define TN_DOC_OPEN_ENUM_TYPE(symbol, name_, note_, ...)                                           \
    const struct tn_doctype symbol = {.kind = TN_DOC_ENUM,                                         \
                                      .name = (name_),                                             \
                                      .note = (note_),                                             \
                                      .values = TN_DOC_VALUES(__VA_ARGS__),                        \
                                      .open = true}
#define TN_DOC_CHOICE_TYPE(symbol, name_, note_, ...)                                              \
    const struct tn_doctype symbol = {.kind = TN_DOC_CHOICE,                                       \
                                      .name = (name_),                                             \
                                      .note = (note_),                                             \
                                      .choices = (const struct tn_doctype *const[]){__VA_ARGS__, NULL}}
#define TN_DOC_VARIANT(tag_, note_, ...)                                                           \
    {(tag_), (note_), (const struct tn_docfield[]){__VA_ARGS__},                                   \
     sizeof((const struct tn_docfield[]){__VA_ARGS__}) / sizeof(struct tn_docfield)}
#define TN_DOC_BARE_VARIANT(tag_, note_) {(tag_), (note_), NULL, 0}
#define TN_DOC_UNION_TYPE(symbol, name_, note_, ...)                                               \
    static const struct tn_docvariant symbol##_variants[] = {__VA_ARGS__};                         \
    const struct tn_doctype symbol = {.kind = TN_DOC_UNION,                                        \
                                      .name = (name_),                                             \
                                      .note = (note_),                                             \
                                      .tag = "kind",                                               \
                                      .variants = symbol##_variants,                               \
                                      .variant_count = TN_DOC_COUNT(symbol##_variants)}

#endif
