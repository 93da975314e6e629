/*
 * What every transformers configuration may carry besides its architecture's own fields: the members of
 * PretrainedConfig in 4.6 to 4.57 and PreTrainedConfig in 5.24, whose files are everywhere.
 *
 * The test for "descriptive" is the forward pass of an encoder at inference: a field that cannot change the last hidden
 * state is kept for people. A family whose forward pass reads one of these fields has a row of its own, which comes
 * first.
 */
#include "describe/schema_rows.h"

/* Read by code of their own: which family, which tokenizer, custom code, quantisation. */
#define READ_ELSEWHERE(pointer) {(pointer), (pointer) + 1, TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0}

const struct tn_schema_field tn_transformers_common_fields[] = {
    READ_ELSEWHERE("/model_type"),
    READ_ELSEWHERE("/architectures"),
    READ_ELSEWHERE("/tokenizer_class"),
    READ_ELSEWHERE("/auto_map"),
    READ_ELSEWHERE("/quantization_config"),
    READ_ELSEWHERE("/compression_config"), /* the older name of compressed-tensors */

    /* Another forward pass, unless off. */
    TN_ROW_OFF("/is_decoder", "false | null"),
    TN_ROW_OFF("/is_encoder_decoder", "false | null"),
    TN_ROW_OFF("/is_causal", "false | null"),
    TN_ROW_OFF("/use_bidirectional_attention", "true | null"),
    TN_ROW_OFF("/add_cross_attention", "false | null"),
    TN_ROW_OFF("/cross_attention_hidden_size", "null"),
    TN_ROW_OFF("/tie_encoder_decoder", "false | null"),
    TN_ROW_OFF("/pruned_heads", "{} | null"),
    TN_ROW_OFF("/use_bfloat16", "false | null"),
    TN_ROW_OFF("/per_layer_config", "{} | null"),
    TN_ROW_OFF("/tie_last_hidden_states", "null"),
    TN_ROW_OFF("/rope_scaling", "null"),
    TN_ROW_OFF("/rope_parameters", "null"),
    TN_ROW_OFF("/adapters", "{} | null"), /* of the adapters library: weights inside the layers */
    TN_ROW_OFF("/adapter_fusion_models", "[] | null"),

    /* Origin and bookkeeping. */
    TN_ROW_DESCRIPTIVE("/_name_or_path"),
    TN_ROW_DESCRIPTIVE("/name_or_path"),
    TN_ROW_DESCRIPTIVE("/_commit_hash"),
    TN_ROW_DESCRIPTIVE("/transformers_version"),
    TN_ROW_DESCRIPTIVE("/transformers.js_config"),
    TN_ROW_DESCRIPTIVE("/sentence_transformers"), /* of a scorer of pairs: head_config.c reads what counts behind the encoder */
    TN_ROW_DESCRIPTIVE("/sbert_ce_default_activation_function"), /* the same before 4.0 */
    TN_ROW_DESCRIPTIVE("/finetuning_task"),
    TN_ROW_DESCRIPTIVE("/task_specific_params"),
    TN_ROW_DESCRIPTIVE("/language"),
    TN_ROW_DESCRIPTIVE("/unsloth_fixed"),
    TN_ROW_DESCRIPTIVE("/unsloth_version"),
    TN_ROW_DESCRIPTIVE("/custom_pipelines"), /* code that only pipeline() would load */

    /* How weights are stored and held; the numeric policy of the plan decides what is computed. */
    TN_ROW_DESCRIPTIVE("/torch_dtype"),
    TN_ROW_DESCRIPTIVE("/dtype"),

    /* How the same numbers are computed. Chunks of the feed-forward layer are rows, and rows are independent. */
    TN_ROW_DESCRIPTIVE("/chunk_size_feed_forward"),
    TN_ROW_DESCRIPTIVE("/attn_implementation"),
    TN_ROW_DESCRIPTIVE("/_attn_implementation"),
    TN_ROW_DESCRIPTIVE("/_attn_implementation_internal"),
    TN_ROW_DESCRIPTIVE("/_attn_implementation_autoset"),
    TN_ROW_DESCRIPTIVE("/_experts_implementation_internal"),
    TN_ROW_DESCRIPTIVE("/experts_implementation"),
    TN_ROW_DESCRIPTIVE("/torchscript"),
    TN_ROW_DESCRIPTIVE("/tf_legacy_loss"),
    TN_ROW_DESCRIPTIVE("/xla_device"),
    TN_ROW_DESCRIPTIVE("/_flash_attn_2_enabled"),
    TN_ROW_DESCRIPTIVE("/use_cache"),
    TN_ROW_DESCRIPTIVE("/output_past"), /* use_cache until 2.x */

    /* What is returned besides the last hidden state. */
    TN_ROW_DESCRIPTIVE("/output_hidden_states"),
    TN_ROW_DESCRIPTIVE("/output_attentions"),
    TN_ROW_DESCRIPTIVE("/return_dict"),
    TN_ROW_DESCRIPTIVE("/output_scores"),
    TN_ROW_DESCRIPTIVE("/return_dict_in_generate"),

    /* Training. */
    TN_ROW_DESCRIPTIVE("/initializer_range"),
    TN_ROW_DESCRIPTIVE("/initializer_factor"),
    TN_ROW_DESCRIPTIVE("/gradient_checkpointing"),

    /* Labels of a head change nothing in the encoder; head_config.c reads them where the head is run. */
    TN_ROW_DESCRIPTIVE("/id2label"),
    TN_ROW_DESCRIPTIVE("/label2id"),
    TN_ROW_DESCRIPTIVE("/num_labels"),
    TN_ROW_DESCRIPTIVE("/_num_labels"),
    TN_ROW_DESCRIPTIVE("/problem_type"),

    /* Ids for generation and padding; an encoder's ids come from its tokenizer. */
    TN_ROW_DESCRIPTIVE("/bos_token_id"),
    TN_ROW_DESCRIPTIVE("/eos_token_id"),
    TN_ROW_DESCRIPTIVE("/eos_token_ids"),
    TN_ROW_DESCRIPTIVE("/sep_token_id"),
    TN_ROW_DESCRIPTIVE("/cls_token_id"),
    TN_ROW_DESCRIPTIVE("/mask_token_id"),
    TN_ROW_DESCRIPTIVE("/decoder_start_token_id"),

    /* Generation defaults that every class carried until 4.57. */
    TN_ROW_DESCRIPTIVE("/prefix"),
    TN_ROW_DESCRIPTIVE("/max_length"),
    TN_ROW_DESCRIPTIVE("/max_new_tokens"),
    TN_ROW_DESCRIPTIVE("/min_length"),
    TN_ROW_DESCRIPTIVE("/do_sample"),
    TN_ROW_DESCRIPTIVE("/early_stopping"),
    TN_ROW_DESCRIPTIVE("/num_beams"),
    TN_ROW_DESCRIPTIVE("/num_beam_groups"),
    TN_ROW_DESCRIPTIVE("/diversity_penalty"),
    TN_ROW_DESCRIPTIVE("/temperature"),
    TN_ROW_DESCRIPTIVE("/top_k"),
    TN_ROW_DESCRIPTIVE("/top_p"),
    TN_ROW_DESCRIPTIVE("/typical_p"),
    TN_ROW_DESCRIPTIVE("/repetition_penalty"),
    TN_ROW_DESCRIPTIVE("/length_penalty"),
    TN_ROW_DESCRIPTIVE("/no_repeat_ngram_size"),
    TN_ROW_DESCRIPTIVE("/encoder_no_repeat_ngram_size"),
    TN_ROW_DESCRIPTIVE("/bad_words_ids"),
    TN_ROW_DESCRIPTIVE("/num_return_sequences"),
    TN_ROW_DESCRIPTIVE("/forced_bos_token_id"),
    TN_ROW_DESCRIPTIVE("/forced_eos_token_id"),
    TN_ROW_DESCRIPTIVE("/remove_invalid_values"),
    TN_ROW_DESCRIPTIVE("/exponential_decay_length_penalty"),
    TN_ROW_DESCRIPTIVE("/suppress_tokens"),
    TN_ROW_DESCRIPTIVE("/begin_suppress_tokens"),
};

const size_t tn_transformers_common_field_count =
    sizeof(tn_transformers_common_fields) / sizeof(tn_transformers_common_fields[0]);
