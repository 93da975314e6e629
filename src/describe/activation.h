/*
 * The element-wise activations, one list for those who read them from a package (describe, family), write them into a
 * program (graph) and compute them (kernel).
 */
#ifndef TN_DESCRIBE_ACTIVATION_H
#define TN_DESCRIBE_ACTIVATION_H

/* X(enum name, text). Texts are tenon's own names; families map their configuration's spellings
 * onto them. */
#define TN_ACT_LIST(X)                                                                             \
    X(IDENTITY, "identity")                                                                        \
    X(RELU, "relu")                                                                                \
    X(RELU6, "relu6")           /* min(max(x, 0), 6) */                                            \
    X(LEAKY_RELU, "leaky_relu") /* x < 0 ? 0.01 x : x */                                           \
    X(ELU, "elu")               /* x < 0 ? e^x - 1 : x */                                          \
    X(GELU, "gelu")             /* x Phi(x), by the error function */                              \
    X(GELU_TANH, "gelu_tanh")   /* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */            \
    X(QUICK_GELU, "quick_gelu") /* x sigmoid(1.702 x) */                                           \
    X(SILU, "silu")             /* x sigmoid(x) */                                                 \
    X(MISH, "mish")             /* x tanh(log(1 + e^x)) */                                         \
    X(TANH, "tanh")                                                                                \
    X(SIGMOID, "sigmoid")                                                                          \
    /* The rare ones below are computed by the reference in every table, element by element. */    \
    X(SELU, "selu")               /* 1.0507 (x < 0 ? 1.67326 (e^x - 1) : x) */                     \
    X(SOFTPLUS, "softplus")       /* x > 20 ? x : log(1 + e^x) */                                  \
    X(SQRT_SOFTPLUS, "sqrt_softplus")                                                              \
    X(SOFTSIGN, "softsign")       /* x / (1 + |x|) */                                              \
    X(LOG_SIGMOID, "log_sigmoid") /* -log(1 + e^-x) */                                             \
    X(TANH_SHRINK, "tanh_shrink") /* x - tanh x */                                                 \
    X(HARD_TANH, "hard_tanh")     /* min(max(x, -1), 1) */                                         \
    X(HARD_SIGMOID, "hard_sigmoid") /* relu6(x + 3) / 6 */                                         \
    X(HARD_SWISH, "hard_swish")   /* x relu6(x + 3) / 6 */                                         \
    X(HARD_SHRINK, "hard_shrink") /* |x| > 1/2 ? x : 0 */                                          \
    X(SOFT_SHRINK, "soft_shrink") /* x -+ 1/2 towards 0 */                                         \
    X(RRELU, "rrelu")             /* x < 0 ? 11/48 x : x, the mean slope that inference uses */    \
    X(RELU_SQUARED, "relu_squared")                                                                \
    X(GELU_10, "gelu_10")         /* gelu, clipped to [-10, 10] */                                 \
    X(LAPLACE, "laplace")         /* (1 + erf((x - 0.707107) / (0.282095 sqrt 2))) / 2 */

enum tn_act {
#define X(name, text) TN_ACT_##name,
    TN_ACT_LIST(X)
#undef X
    TN_ACTS
};

static inline const char *tn_act_name(enum tn_act act)
{
    static const char *const names[TN_ACTS] = {
#define X(name, text) text,
        TN_ACT_LIST(X)
#undef X
    };
    return (unsigned)act < TN_ACTS ? names[act] : "unknown";
}

#endif
