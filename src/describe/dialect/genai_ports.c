/*
 * What the keys under "inputs" and "outputs" of genai_config.json mean: the role of the port in the standard's
 * vocabulary, whether the name stands for one port or for one per layer, and which output carries a state on. Constants;
 * the keys are those that onnxruntime-genai 0.18 accepts, found by asking it. Keys that are dropped are in genai_keys.c.
 *
 * A default name is what the runtime takes for an absent key. It binds only where the graph has a port of that name,
 * and shows as a fact of origin "default": this is the convention's one list of names.
 */
#include "describe/dialect/genai.h"

#define IN TN_GENAI_INPUT
#define OUT TN_GENAI_OUTPUT

/* a port; one with a role; a state of one port; a state of a port per layer */
#define PLAIN(section, direction, key, name) {section, direction, key, name, false, NULL, TN_GENAI_PLAIN, NULL, NULL}
#define ROLE(section, direction, key, name, role) {section, direction, key, name, false, role, TN_GENAI_PLAIN, NULL, NULL}
#define LAYERS(section, direction, key, name, family, next, half)                                  \
    {section, direction, key, name, true, NULL, family, next, half}
#define STATE(section, direction, key, name, next)                                                 \
    {section, direction, key, name, false, NULL, TN_GENAI_RECURRENT, next, NULL}

static const struct tn_genai_port ports[] = {
    ROLE("decoder", IN, "input_ids", "input_ids", "token_ids"),
    ROLE("decoder", IN, "inputs_embeds", "inputs_embeds", "inputs_embeds"),
    ROLE("decoder", IN, "attention_mask", "attention_mask", "attention_mask"),
    ROLE("decoder", IN, "position_ids", "position_ids", "position_ids"),
    ROLE("decoder", IN, "encoder_hidden_states", "encoder_hidden_states", "encoder_hidden_states"),
    ROLE("decoder", IN, "hidden_states", NULL, "hidden_states"),
    PLAIN("decoder", IN, "encoder_attention_mask", "encoder_attention_mask"),
    PLAIN("decoder", IN, "current_sequence_length", "current_sequence_length"),
    PLAIN("decoder", IN, "past_key_values_length", "past_key_values_length"),
    PLAIN("decoder", IN, "past_sequence_length", "past_sequence_length"),
    PLAIN("decoder", IN, "total_sequence_length", "total_sequence_length"),
    PLAIN("decoder", IN, "per_layer_inputs", NULL),
    PLAIN("decoder", IN, "targets", NULL),
    PLAIN("decoder", IN, "targets_length", NULL),
    LAYERS("decoder", IN, "past_key_names", "past_key_values.%d.key", TN_GENAI_ATTENTION, "present_key_names", "key"),
    LAYERS("decoder", IN, "past_value_names", "past_key_values.%d.value", TN_GENAI_ATTENTION, "present_value_names",
           "value"),
    LAYERS("decoder", IN, "past_names", NULL, TN_GENAI_ATTENTION, "present_names", "combined"),
    LAYERS("decoder", IN, "cross_past_key_names", NULL, TN_GENAI_CROSS, NULL, "key"),
    LAYERS("decoder", IN, "cross_past_value_names", NULL, TN_GENAI_CROSS, NULL, "value"),
    LAYERS("decoder", IN, "past_conv_names", NULL, TN_GENAI_RECURRENT, "present_conv_names", NULL),
    LAYERS("decoder", IN, "past_recurrent_names", NULL, TN_GENAI_RECURRENT, "present_recurrent_names", NULL),
    STATE("decoder", IN, "rnn_states_prev", "rnn_states_prev", "rnn_states"),
    STATE("decoder", IN, "lstm_hidden_state", NULL, "lstm_hidden_state"),
    STATE("decoder", IN, "lstm_cell_state", NULL, "lstm_cell_state"),
    ROLE("decoder", OUT, "logits", "logits", "logits"),
    ROLE("decoder", OUT, "hidden_states", NULL, "hidden_states"),
    PLAIN("decoder", OUT, "aux_hidden_states", NULL),
    PLAIN("decoder", OUT, "outputs", NULL),
    PLAIN("decoder", OUT, "outputs_length", NULL),
    LAYERS("decoder", OUT, "present_key_names", "present.%d.key", TN_GENAI_ATTENTION, NULL, "key"),
    LAYERS("decoder", OUT, "present_value_names", "present.%d.value", TN_GENAI_ATTENTION, NULL, "value"),
    LAYERS("decoder", OUT, "present_names", NULL, TN_GENAI_ATTENTION, NULL, "combined"),
    LAYERS("decoder", OUT, "present_conv_names", NULL, TN_GENAI_RECURRENT, NULL, NULL),
    LAYERS("decoder", OUT, "present_recurrent_names", NULL, TN_GENAI_RECURRENT, NULL, NULL),
    LAYERS("decoder", OUT, "output_cross_qk_names", NULL, TN_GENAI_PLAIN, NULL, NULL),
    STATE("decoder", OUT, "rnn_states", "rnn_states", NULL),
    STATE("decoder", OUT, "lstm_hidden_state", NULL, NULL),
    STATE("decoder", OUT, "lstm_cell_state", NULL, NULL),

    ROLE("encoder", IN, "input_ids", "input_ids", "token_ids"),
    ROLE("encoder", IN, "inputs_embeds", NULL, "inputs_embeds"),
    ROLE("encoder", IN, "attention_mask", "attention_mask", "attention_mask"),
    ROLE("encoder", IN, "position_ids", "position_ids", "position_ids"),
    ROLE("encoder", IN, "audio_features", "audio_features", "audio_features"),
    PLAIN("encoder", IN, "input_lengths", NULL),
    PLAIN("encoder", IN, "lang_id", NULL),
    STATE("encoder", IN, "cache_last_channel", NULL, "cache_last_channel_next"),
    STATE("encoder", IN, "cache_last_channel_len", NULL, "cache_last_channel_len_next"),
    STATE("encoder", IN, "cache_last_time", NULL, "cache_last_time_next"),
    ROLE("encoder", OUT, "encoder_hidden_states", "encoder_hidden_states", "encoder_hidden_states"),
    PLAIN("encoder", OUT, "encoder_outputs", NULL),
    PLAIN("encoder", OUT, "output_lengths", NULL),
    LAYERS("encoder", OUT, "cross_present_key_names", "present_key_cross_%d", TN_GENAI_CROSS, NULL, "key"),
    LAYERS("encoder", OUT, "cross_present_value_names", "present_value_cross_%d", TN_GENAI_CROSS, NULL, "value"),
    STATE("encoder", OUT, "cache_last_channel_next", NULL, NULL),
    STATE("encoder", OUT, "cache_last_channel_len_next", NULL, NULL),
    STATE("encoder", OUT, "cache_last_time_next", NULL, NULL),

    ROLE("embedding", IN, "input_ids", "input_ids", "token_ids"),
    PLAIN("embedding", IN, "image_features", "image_features"),
    ROLE("embedding", IN, "audio_features", "audio_features", "audio_features"),
    ROLE("embedding", OUT, "inputs_embeds", "inputs_embeds", "inputs_embeds"),
    PLAIN("embedding", OUT, "per_layer_inputs", NULL),

    PLAIN("vision", IN, "pixel_values", "pixel_values"),
    PLAIN("vision", IN, "pixel_position_ids", NULL),
    PLAIN("vision", IN, "image_sizes", "image_sizes"),
    PLAIN("vision", IN, "image_grid_thw", NULL),
    PLAIN("vision", IN, "attention_mask", NULL),
    PLAIN("vision", OUT, "image_features", "image_features"),

    PLAIN("speech", IN, "audio_embeds", "audio_embeds"),
    PLAIN("speech", IN, "attention_mask", NULL),
    PLAIN("speech", IN, "audio_sizes", "audio_sizes"),
    PLAIN("speech", IN, "audio_lengths", NULL),
    PLAIN("speech", IN, "audio_projection_mode", NULL),
    ROLE("speech", OUT, "audio_features", "audio_features", "audio_features"),

    PLAIN("joiner", IN, "encoder_outputs", "encoder_outputs"),
    PLAIN("joiner", IN, "decoder_outputs", "decoder_outputs"),
    ROLE("joiner", OUT, "logits", "logits", "logits"),
};

size_t tn_genai_port_count(void)
{
    return sizeof(ports) / sizeof(ports[0]);
}

const struct tn_genai_port *tn_genai_port_at(size_t index)
{
    return &ports[index];
}
