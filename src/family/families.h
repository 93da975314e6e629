/*
 * The families, one file each. Adding one is adding its file (a struct tn_family named tn_family_NAME and a struct
 * tn_schema named tn_schema_NAME) and a row here.
 */
#ifndef TN_FAMILY_FAMILIES_H
#define TN_FAMILY_FAMILIES_H

#include "family/family.h"

#define TN_FAMILY_LIST(X)                                                                          \
    X(bert)                                                                                        \
    X(distilbert)                                                                                  \
    X(mpnet)                                                                                       \
    X(roberta)                                                                                     \
    X(xlm_roberta)                                                                                 \
    X(electra)                                                                                     \
    X(modernbert)                                                                                  \
    X(deberta_v2)

#define X(name) extern const struct tn_family tn_family_##name;
TN_FAMILY_LIST(X)
#undef X

#endif
