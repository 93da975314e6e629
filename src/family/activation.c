/*
 * Spellings of activations in configurations and what they compute. The keys of transformers' ACT2FN; those that differ
 * only in how the reference evaluates the same formula share a row's function.
 */
#include "family/family.h"

static const struct {
    const char *spelling;
    enum tn_act act;
} activations[] = {
    {"gelu", TN_ACT_GELU},
    {"gelu_python", TN_ACT_GELU},
    {"gelu_new", TN_ACT_GELU_TANH},
    {"gelu_fast", TN_ACT_GELU_TANH},
    {"gelu_pytorch_tanh", TN_ACT_GELU_TANH},
    {"gelu_python_tanh", TN_ACT_GELU_TANH},
    {"gelu_accurate", TN_ACT_GELU_TANH},
    {"quick_gelu", TN_ACT_QUICK_GELU},
    {"relu", TN_ACT_RELU},
    {"relu6", TN_ACT_RELU6},
    {"leaky_relu", TN_ACT_LEAKY_RELU},
    {"silu", TN_ACT_SILU},
    {"swish", TN_ACT_SILU},
    {"mish", TN_ACT_MISH},
    {"tanh", TN_ACT_TANH},
    {"sigmoid", TN_ACT_SIGMOID},
    {"linear", TN_ACT_IDENTITY},
    {"gelu_10", TN_ACT_GELU_10},
    {"hardswish", TN_ACT_HARD_SWISH},
    {"laplace", TN_ACT_LAPLACE},
    {"relu2", TN_ACT_RELU_SQUARED},
    {"sqrtsoftplus", TN_ACT_SQRT_SOFTPLUS},
};

bool tn_activation_of(struct tn_str spelling, enum tn_act *out)
{
    for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]); i++) {
        if (!tn_str_is(spelling, activations[i].spelling)) continue;
        *out = activations[i].act;
        return true;
    }
    return false;
}
