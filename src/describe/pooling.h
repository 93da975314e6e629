/*
 * The pooling modes of sentence-transformers, one list for those who read them from a package (describe) and those who
 * compute them (kernel). The order is the one in which the library concatenates several modes.
 */
#ifndef TN_DESCRIBE_POOLING_H
#define TN_DESCRIBE_POOLING_H

/* X(enum name, the library's own name) */
#define TN_POOLING_LIST(X)                                                                         \
    X(CLS, "cls")                            /* row 0 of the span */                               \
    X(MAX, "max")                                                                                  \
    X(MEAN, "mean")                                                                                \
    X(MEAN_SQRT_LEN, "mean_sqrt_len_tokens") /* sum / sqrt(count) */                               \
    X(WEIGHTED_MEAN, "weightedmean")         /* weights 1, 2, 3 .. by position in the sequence */  \
    X(LAST_TOKEN, "lasttoken")               /* last row of the span */

enum tn_pooling {
#define X(name, text) TN_POOLING_##name,
    TN_POOLING_LIST(X)
#undef X
    TN_POOLINGS
};

static inline const char *tn_pooling_name(enum tn_pooling mode)
{
    static const char *const names[TN_POOLINGS] = {
#define X(name, text) text,
        TN_POOLING_LIST(X)
#undef X
    };
    return (unsigned)mode < TN_POOLINGS ? names[mode] : "unknown";
}

#endif
