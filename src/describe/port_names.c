/*
 * The one exporter convention for names of ports, "onnx.port_names/1": what Optimum's ONNX export writes, which
 * transformers.js packages share. A table and how a name is held against it; who may ask is decided in roles.c.
 */
#include "describe/roles.h"

const struct tn_port_name tn_port_names[] = {
    {"input_ids", TN_ROLE_OF_TOKEN_IDS},
    {"decoder_input_ids", TN_ROLE_OF_TOKEN_IDS},
    {"inputs_embeds", TN_ROLE_OF_INPUTS_EMBEDS},
    {"attention_mask", TN_ROLE_OF_ATTENTION_MASK},
    {"decoder_attention_mask", TN_ROLE_OF_ATTENTION_MASK},
    {"position_ids", TN_ROLE_OF_POSITION_IDS},
    {"token_type_ids", TN_ROLE_OF_TOKEN_TYPE_IDS},
    {"encoder_hidden_states", TN_ROLE_OF_ENCODER_HIDDEN_STATES},
    {"encoder_attention_mask", TN_ROLE_OF_ENCODER_ATTENTION_MASK},
    {"pixel_values", TN_ROLE_OF_PIXEL_VALUES},
    {"input_features", TN_ROLE_OF_INPUT_FEATURES},
    {"input_values", TN_ROLE_OF_INPUT_VALUES},
    {"use_cache_branch", TN_ROLE_OF_USE_CACHE},
    {"logits", TN_ROLE_OF_LOGITS},
    {"last_hidden_state", TN_ROLE_OF_HIDDEN_STATES},
    {"pooler_output", TN_ROLE_OF_POOLED},
    {"sentence_embedding", TN_ROLE_OF_SENTENCE_EMBEDDING},
    {"past_key_values.N.key", TN_ROLE_OF_PAST_KEY},
    {"past_key_values.N.value", TN_ROLE_OF_PAST_VALUE},
    {"past_key_values.N.decoder.key", TN_ROLE_OF_PAST_KEY},
    {"past_key_values.N.decoder.value", TN_ROLE_OF_PAST_VALUE},
    {"past_key_values.N.encoder.key", TN_ROLE_OF_CROSS_PAST_KEY},
    {"past_key_values.N.encoder.value", TN_ROLE_OF_CROSS_PAST_VALUE},
    {"present.N.key", TN_ROLE_OF_PRESENT_KEY},
    {"present.N.value", TN_ROLE_OF_PRESENT_VALUE},
    {"present.N.decoder.key", TN_ROLE_OF_PRESENT_KEY},
    {"present.N.decoder.value", TN_ROLE_OF_PRESENT_VALUE},
    {"present.N.encoder.key", TN_ROLE_OF_CROSS_PRESENT_KEY},
    {"present.N.encoder.value", TN_ROLE_OF_CROSS_PRESENT_VALUE},
    {NULL, TN_ROLE_NONE},
};

/* Digits without leading zeros, at most six; how many bytes they take, 0: none. */
static size_t layer_at(struct tn_str name, size_t at, uint32_t *layer)
{
    size_t n = 0;
    uint32_t value = 0;
    for (; at + n < name.n && n < 6 && name.s[at + n] >= '0' && name.s[at + n] <= '9'; n++)
        value = value * 10 + (uint32_t)(name.s[at + n] - '0');
    if (n == 0 || (n > 1 && name.s[at] == '0')) return 0;
    *layer = value;
    return n;
}

static bool matches(const char *pattern, struct tn_str name, uint32_t *layer)
{
    size_t at = 0;
    for (; *pattern; pattern++) {
        size_t n = *pattern == 'N' ? layer_at(name, at, layer) : at < name.n && name.s[at] == *pattern;
        if (n == 0) return false;
        at += n;
    }
    return at == name.n;
}

enum tn_role tn_port_name_role(struct tn_str name, bool output, uint32_t *layer)
{
    for (const struct tn_port_name *row = tn_port_names; row->pattern; row++) {
        /* Of what may stand on either side the convention names the reader's: an input. */
        bool side = output ? !tn_role_has_side(row->role, false) : tn_role_has_side(row->role, false);
        if (side && matches(row->pattern, name, layer)) return row->role;
    }
    return TN_ROLE_NONE;
}
