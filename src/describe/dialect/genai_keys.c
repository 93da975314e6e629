/*
 * Every key of genai_config.json and what becomes of it: one constant table, beside the ports of genai_ports.c. The keys
 * are those that onnxruntime-genai 0.18 accepts, found by offering it each name in each object; whatever is not here is
 * unknown. A row says used (with the fact that it becomes) or dropped (with the reason): there is no third kind that is
 * read and forgotten.
 *
 * What decides between the two is whether the key changes an answer, not whether it is easy to keep. Settings of
 * sessions, batching and memory are the runtime's affair and are dropped; so are steps before or beside the model whose
 * meaning is code of that runtime, since half a description of them would be a wrong one.
 */
#include "describe/dialect/genai.h"

#include "base/nearest.h"

#include <string.h>

#define INT_MOST 2147483647.0 /* the convention's whole numbers have 32 bits */
#define REAL_MOST 3.4e38      /* and its reals are of single precision */

#define OBJECT(path) {path, TN_GENAI_OBJECT, TN_GENAI_ANY, 0, 0, NULL, NULL, NULL}
#define SETTINGS(path) {path, TN_GENAI_OBJECT, TN_GENAI_ANY, 0, 0, NULL, NULL, DEPLOYMENT}
#define COUNT(path, low, fact) {path, TN_GENAI_USED, TN_GENAI_COUNT, low, INT_MOST, fact, NULL, NULL}
#define REAL(path, low, high, fact) {path, TN_GENAI_USED, TN_GENAI_NUMBER, low, high, fact, NULL, NULL}
#define TOKEN(path, fact) {path, TN_GENAI_USED, TN_GENAI_ID, 0, INT_MOST, fact, NULL, NULL}
#define USED(path, kind, fact) {path, TN_GENAI_USED, kind, 0, INT_MOST, fact, NULL, NULL}
#define DROPPED(path, reason) {path, TN_GENAI_DROPPED, TN_GENAI_ANY, 0, 0, reason, NULL, NULL}
#define DROPPED_UNLESS(path, neutral, reason) {path, TN_GENAI_DROPPED, TN_GENAI_ANY, 0, 0, reason, neutral, NULL}
#define DROPPED_FILE(path, reason) {path, TN_GENAI_DROPPED, TN_GENAI_FILENAME, 0, 0, reason, NULL, NULL}

#define DEPLOYMENT "deployment: how sessions run is the runtime's choice, not a fact of the package"
#define SERVER "deployment: batching and paging of a server"
#define MEMORY "deployment: where weights and caches lie in memory"
#define PROPOSER "a second model that proposes tokens: the import describes the target alone, whose answers it does not change"
#define PAGED "a port of one paged-attention kernel: the standard states what a cache means, not where its pages are"
#define SCALES "scales of a quantised cache: the standard has no such half of a cache"
#define PICTURE "a parameter of picture preparation or positions whose program stands in no document"
#define SOUND "a parameter of sound preparation whose program stands in no document"
#define TRANSDUCER "a rule of transducer decoding, which is code of that runtime"
#define PROCESSOR "the processor's own document, whose steps are not imported"
#define SPEAKING "speech output beside the text, whose order of calls is code of that runtime"
#define STREAMING "a streaming pipeline whose order of calls is code of that runtime"

static const struct tn_genai_key keys[] = {
    OBJECT("/model"),
    OBJECT("/search"),
    DROPPED("/engine", SERVER),
    DROPPED("/speculative", PROPOSER),
    DROPPED("/runtime_profiles", DEPLOYMENT),

    USED("/model/type", TN_GENAI_TEXT, "model.type"),
    COUNT("/model/context_length", 1, "model.context_length"),
    COUNT("/model/vocab_size", 1, "model.vocab_size"),
    USED("/model/tokenizer_dir", TN_GENAI_FOLDER, "tokenizer.folder"),
    TOKEN("/model/bos_token_id", "tokens.bos"),
    {"/model/eos_token_id", TN_GENAI_USED, TN_GENAI_IDS_KIND, 0, INT_MOST, "tokens.eos", NULL, NULL},
    TOKEN("/model/pad_token_id", "tokens.pad"),
    TOKEN("/model/sep_token_id", "tokens.sep"),
    TOKEN("/model/decoder_start_token_id", "tokens.decoder_start"),
    TOKEN("/model/image_token_id", "tokens.image"),
    TOKEN("/model/video_token_id", "tokens.video"),
    TOKEN("/model/audio_token_id", "tokens.audio"),
    TOKEN("/model/vision_start_token_id", "tokens.vision_start"),
    TOKEN("/model/boa_token_id", "tokens.audio_begin"),
    TOKEN("/model/bot_token_id", "tokens.tool_begin"),
    TOKEN("/model/eot_token_id", "tokens.tool_end"),
    TOKEN("/model/bor_token_id", "tokens.reasoning_begin"),
    TOKEN("/model/eor_token_id", "tokens.reasoning_end"),

    OBJECT("/model/decoder"),
    OBJECT("/model/encoder"),
    OBJECT("/model/embedding"),
    OBJECT("/model/vision"),
    OBJECT("/model/speech"),
    OBJECT("/model/joiner"),
    DROPPED("/model/draft", PROPOSER),
    DROPPED("/model/mtp", PROPOSER),
    DROPPED("/model/dflash2", PROPOSER),
    DROPPED("/model/dspark", PROPOSER),
    DROPPED("/model/audio_output", SPEAKING),
    DROPPED("/model/moonshine", STREAMING),
    DROPPED("/model/vad", SOUND),
    DROPPED("/model/blank_id", TRANSDUCER),
    DROPPED("/model/max_symbols_per_step", TRANSDUCER),
    DROPPED("/model/tdt_durations", TRANSDUCER),
    DROPPED("/model/subsampling_factor", TRANSDUCER),
    DROPPED("/model/chunk_samples", SOUND),
    DROPPED("/model/conv_context", SOUND),
    DROPPED("/model/fft_size", SOUND),
    DROPPED("/model/hop_length", SOUND),
    DROPPED("/model/left_context", SOUND),
    DROPPED("/model/left_context_samples", SOUND),
    DROPPED("/model/right_context_samples", SOUND),
    DROPPED("/model/log_eps", SOUND),
    DROPPED("/model/norm_eps", SOUND),
    DROPPED("/model/num_mels", SOUND),
    DROPPED("/model/pre_encode_cache_size", SOUND),
    DROPPED("/model/preemph", SOUND),
    DROPPED("/model/sample_rate", SOUND),
    DROPPED("/model/win_length", SOUND),

    USED("/model/*/filename", TN_GENAI_FILENAME, "*.filename"),
    OBJECT("/model/*/inputs"),
    OBJECT("/model/*/outputs"),
    SETTINGS("/model/*/session_options"),
    SETTINGS("/model/*/run_options"),
    {"/model/*/session_options/custom_ops_library", TN_GENAI_DENIED, TN_GENAI_TEXT, 0, 0, NULL, NULL, NULL},

    COUNT("/model/decoder/head_size", 1, "decoder.head_size"),
    COUNT("/model/decoder/hidden_size", 1, "decoder.hidden_size"),
    COUNT("/model/decoder/num_attention_heads", 1, "decoder.num_attention_heads"),
    COUNT("/model/decoder/num_key_value_heads", 1, "decoder.num_key_value_heads"),
    {"/model/decoder/num_hidden_layers", TN_GENAI_USED, TN_GENAI_COUNT, 1, TN_GENAI_LAYERS,
     "decoder.num_hidden_layers", NULL, NULL},
    COUNT("/model/encoder/head_size", 1, "encoder.head_size"),
    COUNT("/model/encoder/hidden_size", 1, "encoder.hidden_size"),
    COUNT("/model/encoder/num_attention_heads", 1, "encoder.num_attention_heads"),
    COUNT("/model/encoder/num_key_value_heads", 1, "encoder.num_key_value_heads"),
    {"/model/encoder/num_hidden_layers", TN_GENAI_USED, TN_GENAI_COUNT, 1, TN_GENAI_LAYERS,
     "encoder.num_hidden_layers", NULL, NULL},
    USED("/model/decoder/layer_types", TN_GENAI_WORDS, "decoder.layer_types"),
    COUNT("/model/decoder/conv_cache_size", 1, "decoder.conv_cache_size"),

    OBJECT("/model/decoder/sliding_window"),
    COUNT("/model/decoder/sliding_window/window_size", 1, "decoder.sliding_window"),
    USED("/model/decoder/sliding_window/layers", TN_GENAI_COUNTS, "decoder.sliding_window_layers"),
    DROPPED_UNLESS("/model/decoder/sliding_window/slide_inputs", "false",
                   "the graph takes prompts in windows, which the standard cannot say"),
    DROPPED_UNLESS("/model/decoder/sliding_window/slide_key_value_cache", "false",
                   "the cache moves by whole windows, which the standard cannot say"),
    DROPPED_UNLESS("/model/decoder/sliding_window/cache_slack", "0", MEMORY),
    DROPPED("/model/decoder/sliding_window/pad_value", "filling of windows of a prompt, which the standard cannot say"),
    DROPPED("/model/decoder/sliding_window/alignment", "filling of windows of a prompt, which the standard cannot say"),

    OBJECT("/model/decoder/state_groups"),
    USED("/model/decoder/state_groups/kind", TN_GENAI_TEXT, "decoder.state_group"),
    USED("/model/decoder/state_groups/layer_ids", TN_GENAI_COUNTS, "decoder.state_group_layers"),
    DROPPED("/model/decoder/state_groups/bindings", PROPOSER),
    DROPPED("/model/decoder/state_groups/state_update", PROPOSER),
    DROPPED("/model/decoder/state_update_capacity", PROPOSER),
    DROPPED("/model/decoder/shared_initializers", MEMORY),

    DROPPED("/model/decoder/inputs/attention_metadata", PAGED),
    DROPPED("/model/decoder/inputs/block_table", PAGED),
    DROPPED("/model/decoder/inputs/block_table_windowed", PAGED),
    DROPPED("/model/decoder/inputs/cache_indirection", "a port of one beam-search kernel"),
    DROPPED("/model/decoder/inputs/cumulative_sequence_lengths", PAGED),
    DROPPED("/model/decoder/inputs/logits_indices", PAGED),
    DROPPED("/model/decoder/inputs/past_sequence_lengths", PAGED),
    DROPPED("/model/decoder/inputs/past_key_scale_names", SCALES),
    DROPPED("/model/decoder/inputs/past_value_scale_names", SCALES),
    DROPPED("/model/decoder/inputs/state_update_active", PROPOSER),
    DROPPED("/model/decoder/inputs/state_update_capture_count", PROPOSER),
    DROPPED("/model/decoder/outputs/present_key_scale_names", SCALES),
    DROPPED("/model/decoder/outputs/present_value_scale_names", SCALES),
    DROPPED("/model/decoder/outputs/state_update_conv_value_names", PROPOSER),
    DROPPED("/model/decoder/outputs/state_update_recurrent_capsule_names", PROPOSER),

    OBJECT("/model/decoder/pipeline"),
    OBJECT("/model/decoder/pipeline/*"),
    OBJECT("/model/vision/pipeline"),
    OBJECT("/model/vision/pipeline/*"),
    USED("/model/*/pipeline/*/filename", TN_GENAI_FILENAME, "*.*.filename"),
    USED("/model/*/pipeline/*/inputs", TN_GENAI_NAMES, "*.*.inputs"),
    USED("/model/*/pipeline/*/outputs", TN_GENAI_NAMES, "*.*.outputs"),
    USED("/model/decoder/pipeline/*/output_names_forwarder", TN_GENAI_RENAMES, "decoder.*.renames"),
    USED("/model/decoder/pipeline/*/run_on_prompt", TN_GENAI_BOOL, "decoder.*.run_on_prompt"),
    USED("/model/decoder/pipeline/*/run_on_token_gen", TN_GENAI_BOOL, "decoder.*.run_on_token_gen"),
    USED("/model/decoder/pipeline/*/is_lm_head", TN_GENAI_BOOL, "decoder.*.is_lm_head"),
    DROPPED_UNLESS("/model/decoder/pipeline/*/inherit_session_options", "false", DEPLOYMENT),
    DROPPED_UNLESS("/model/decoder/pipeline/*/reset_session_idx", "-1", MEMORY),
    SETTINGS("/model/*/pipeline/*/session_options"),
    SETTINGS("/model/*/pipeline/*/run_options"),
    {"/model/*/pipeline/*/session_options/custom_ops_library", TN_GENAI_DENIED, TN_GENAI_TEXT, 0, 0, NULL, NULL, NULL},

    DROPPED_FILE("/model/vision/config_filename", PROCESSOR),
    DROPPED_FILE("/model/speech/config_filename", PROCESSOR),
    DROPPED_FILE("/model/vision/adapter_filename", "weights that are added for pictures alone"),
    DROPPED_FILE("/model/speech/adapter_filename", "weights that are added for sound alone"),
    DROPPED("/model/vision/max_num_patches", PICTURE),
    DROPPED("/model/vision/num_visual_tokens", PICTURE),
    DROPPED("/model/vision/patch_size", PICTURE),
    DROPPED("/model/vision/spatial_merge_size", PICTURE),
    DROPPED("/model/vision/tokens_per_second", PICTURE),
    DROPPED("/model/vision/window_size", PICTURE),

    COUNT("/search/max_length", 1, "generation.max_length"),
    COUNT("/search/min_length", 0, "generation.min_length"),
    USED("/search/do_sample", TN_GENAI_BOOL, "generation.do_sample"),
    REAL("/search/temperature", 0, REAL_MOST, "generation.temperature"),
    COUNT("/search/top_k", 0, "generation.top_k"),
    REAL("/search/top_p", 0, 1, "generation.top_p"),
    COUNT("/search/num_beams", 1, "generation.num_beams"),
    COUNT("/search/num_return_sequences", 1, "generation.num_return_sequences"),
    REAL("/search/repetition_penalty", 1e-6, REAL_MOST, "generation.repetition_penalty"),
    REAL("/search/length_penalty", -REAL_MOST, REAL_MOST, "generation.length_penalty"),
    REAL("/search/diversity_penalty", -REAL_MOST, REAL_MOST, "generation.diversity_penalty"),
    COUNT("/search/no_repeat_ngram_size", 0, "generation.no_repeat_ngram_size"),
    USED("/search/early_stopping", TN_GENAI_BOOL, "generation.early_stopping"),
    USED("/search/past_present_share_buffer", TN_GENAI_BOOL, "state.shared_buffer"),
    DROPPED_UNLESS("/search/batch_size", "1", SERVER),
    DROPPED_UNLESS("/search/chunk_size", "0", SERVER),
    DROPPED_UNLESS("/search/random_seed", "-1", "a seed belongs to a request"),
    DROPPED_UNLESS("/search/blank_penalty", "0", TRANSDUCER),
    DROPPED("/search/audio_interleaved", SPEAKING),
    DROPPED("/search/audio_temperature", SPEAKING),
    DROPPED("/search/audio_top_k", SPEAKING),
};

/* What stands for all rows of genai_ports.c. */
static const struct tn_genai_key port_keys[2][2] = {
    {USED("/model/*/inputs/*", TN_GENAI_PORT, "*.inputs.*"), USED("/model/*/inputs/*", TN_GENAI_PATTERN, "*.inputs.*")},
    {USED("/model/*/outputs/*", TN_GENAI_PORT, "*.outputs.*"), USED("/model/*/outputs/*", TN_GENAI_PATTERN, "*.outputs.*")},
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

size_t tn_genai_key_count(void)
{
    return KEYS;
}

const struct tn_genai_key *tn_genai_key_at(size_t index)
{
    return &keys[index];
}

/* The part of a path after the slash at `from`, and where the next begins. */
static struct tn_str part(const char **from)
{
    const char *begin = *from + 1, *end = begin + strcspn(begin, "/");
    *from = end;
    return (struct tn_str){begin, (size_t)(end - begin)};
}

static bool matches(const char *path, const struct tn_str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (*path != '/') return false;
        struct tn_str p = part(&path);
        if (!tn_str_is(p, "*") && !tn_str_eq(p, names[i])) return false;
    }
    return *path == 0;
}

/* Whether the path is one of ports: then the direction. */
static bool is_ports(const struct tn_str *names, size_t count, enum tn_genai_direction *direction)
{
    if (count < 3 || !tn_str_is(names[0], "model")) return false;
    bool inputs = tn_str_is(names[2], "inputs"), outputs = tn_str_is(names[2], "outputs");
    *direction = inputs ? TN_GENAI_INPUT : TN_GENAI_OUTPUT;
    return inputs || outputs;
}

static const struct tn_genai_key *port_key(const struct tn_str *names, size_t count)
{
    enum tn_genai_direction direction;
    if (count != 4 || !is_ports(names, count, &direction)) return NULL;
    for (size_t i = 0; i < tn_genai_port_count(); i++) {
        const struct tn_genai_port *p = tn_genai_port_at(i);
        if (p->direction == direction && tn_str_is(names[1], p->section) && tn_str_is(names[3], p->key))
            return &port_keys[direction][p->per_layer];
    }
    return NULL;
}

const struct tn_genai_key *tn_genai_key_of(const struct tn_str *names, size_t count)
{
    for (size_t i = 0; i < KEYS; i++)
        if (matches(keys[i].path, names, count)) return &keys[i];
    return port_key(names, count);
}

/* ---- nearest ----------------------------------------------------------------------------------------------------- */

const char *tn_genai_nearest(const struct tn_str *names, size_t count)
{
    struct tn_nearest best = {NULL, 0};
    enum tn_genai_direction direction;
    struct tn_str wanted = names[count - 1];
    for (size_t i = 0; i < KEYS; i++) {
        const char *last = strrchr(keys[i].path, '/') + 1;
        struct tn_str known[TN_GENAI_DEPTH + 1];
        if (*last == '*' || count > TN_GENAI_DEPTH) continue;
        for (size_t k = 0; k + 1 < count; k++) known[k] = names[k];
        known[count - 1] = tn_str_of(last);
        if (matches(keys[i].path, known, count)) tn_nearest_offer(&best, wanted, last);
    }
    if (count != 4 || !is_ports(names, count, &direction)) return best.name;
    for (size_t i = 0; i < tn_genai_port_count(); i++) {
        const struct tn_genai_port *p = tn_genai_port_at(i);
        if (p->direction == direction && tn_str_is(names[1], p->section)) tn_nearest_offer(&best, wanted, p->key);
    }
    return best.name;
}
