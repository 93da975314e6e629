/* Port names of a lone decoder graph in the old form, and the layout of its cache. A workflow states all of
   this by itself. Constants; see tables.h for what they decide. */
#include "describe/standard/tables_types.h"

TN_DOC_OBJECT_TYPE(tn_std_model_io_spec, "ModelIoSpec",
                   "Which port of the graph is which. Ports that are not named here are found by type and "
                   "shape, or not at all.",
    TN_DOC_NULL("aliasing", &tn_std_state_aliasing,
                "Whether a present output may share memory with its past input."),
    TN_DOC_NULL("attention_mask_input", TN_DOC_NAME, "Port of the attention mask."),
    TN_DOC_NULL("audio_features_input", TN_DOC_NAME, "Port of spectrogram features, on an encoder."),
    TN_DOC_NULL("cross_kv_inputs", TN_DOC_LIST_OF(TN_DOC_NAME),
                "Ports of the cross-attention cache, in the order of the outputs."),
    TN_DOC_NULL("cross_kv_outputs", TN_DOC_LIST_OF(TN_DOC_NAME), "Ports that give the cross-attention cache."),
    TN_DOC_NULL("encoder_hidden_states_input", TN_DOC_NAME, "Port of the encoder's result."),
    TN_DOC_NULL("hidden_output", TN_DOC_NAME, "Port of hidden states per token."),
    TN_DOC_NULL("inputs_embeds_input", TN_DOC_NAME, "Port of ready embeddings."),
    TN_DOC_NULL("kv_inputs", TN_DOC_LIST_OF(TN_DOC_NAME),
                "Ports of the past cache, in the order of the outputs."),
    TN_DOC_NULL("kv_layout", &tn_std_kv_cache_layout, "How the cache lies in memory."),
    TN_DOC_NULL("kv_outputs", TN_DOC_LIST_OF(TN_DOC_NAME), "Ports of the present cache."),
    TN_DOC_NULL("kv_ownership", &tn_std_kv_ownership,
                "Whether the graph advances the cache or reads another's; absent is \"owned\"."),
    TN_DOC_NULL("logits_output", TN_DOC_NAME, "Port of next-token scores."),
    TN_DOC_MAY("optional_inputs", TN_DOC_NAMED(&tn_std_optional_input_spec), NULL,
               "Inputs that may be left out, by port, and what stands in for them."),
    TN_DOC_NULL("position_ids_input", TN_DOC_NAME, "Port of position ids."),
    TN_DOC_NULL("sequence_source", &tn_std_sequence_input_kind,
                "Which sequence port drives generation; absent is \"token_ids\"."),
    TN_DOC_NULL("state_pairs", TN_DOC_SOME_OF(&tn_std_loop_state_pair),
                "Recurrent state: pairs of ports beside the cache."),
    TN_DOC_NULL("static_cache", &tn_std_static_cache_io_spec, "Ports of a cache of fixed size."),
    TN_DOC_NULL("token_input", TN_DOC_NAME, "Port of token ids."));

TN_DOC_OBJECT_TYPE(tn_std_optional_input_spec, "OptionalInputSpec", "An input that may be left out.",
    TN_DOC_MUST("absent", &tn_std_absent_input_spec, "What the graph gets instead."),
    TN_DOC_MUST("presence", TN_DOC_NAME, "Key in the request that tells whether it is there."));

TN_DOC_OBJECT_TYPE(tn_std_absent_input_spec, "AbsentInputSpec", "The stand-in for an input that was left out.",
    TN_DOC_MUST("kind", &tn_std_absent_input_kind, "How it is made."),
    TN_DOC_MUST("shape", TN_DOC_LIST_OF(&tn_std_tensor_dimension), "Its shape."));

TN_DOC_ENUM_TYPE(tn_std_absent_input_kind, "AbsentInputKind", "\"zeros\": a tensor of zeros.", "zeros");

TN_DOC_OBJECT_TYPE(tn_std_loop_state_pair, "LoopStatePair",
                   "One recurrent state: what goes out of a step comes back into the next.",
    TN_DOC_MUST("init", &tn_std_state_init_kind, "Content before the first step."),
    TN_DOC_MUST("input", TN_DOC_NAME, "Port that takes the state."),
    TN_DOC_MUST("output", TN_DOC_NAME, "Port that gives the next state."),
    TN_DOC_MUST("update", &tn_std_state_update_kind, "How the old state becomes the new one."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_state_init_kind, "StateInitKind", "Content of a state before the first step.",
                      "zeros");

TN_DOC_OPEN_ENUM_TYPE(tn_std_state_update_kind, "StateUpdateKind", "How a state moves on.", "replace");

TN_DOC_OBJECT_TYPE(tn_std_static_cache_io_spec, "StaticCacheIoSpec",
                   "A cache of fixed size that the graph writes at given places. The four lists go by layer "
                   "and have one length.",
    TN_DOC_MUST("key_cache_inputs", TN_DOC_SOME_OF(TN_DOC_NAME), "Key buffers, by layer."),
    TN_DOC_MUST("key_cache_outputs", TN_DOC_SOME_OF(TN_DOC_NAME), "Key buffers after the step, by layer."),
    TN_DOC_MUST("kv_sequence_length_input", TN_DOC_NAME, "Port of the number of valid entries."),
    TN_DOC_MUST("value_cache_inputs", TN_DOC_SOME_OF(TN_DOC_NAME), "Value buffers, by layer."),
    TN_DOC_MUST("value_cache_outputs", TN_DOC_SOME_OF(TN_DOC_NAME), "Value buffers after the step, by layer."),
    TN_DOC_MUST("write_indices_input", TN_DOC_NAME, "Port of the places that are written."));

TN_DOC_CHOICE_TYPE(tn_std_kv_cache_layout, "KvCacheLayout",
                   "The cache in memory: a known layout by name, or strides.", &tn_std_kv_named_layout,
                   &tn_std_kv_stride_descriptor);

TN_DOC_ENUM_TYPE(tn_std_kv_named_layout, "KvNamedLayout", "Heads before positions, or positions before heads.",
                 "head_major_bnsh", "seq_major_bsnh");

TN_DOC_OBJECT_TYPE(tn_std_kv_stride_descriptor, "KvStrideDescriptor",
                   "A layout by strides, possibly a part of a larger block.",
    TN_DOC_MAY("reservation_offset_elements", TN_DOC_UINT64, NULL,
               "Elements of the larger block before this one."),
    TN_DOC_NULL("reservation_seq_slots", TN_DOC_UINT64,
                "Positions of the larger block; absent when it is no larger."),
    TN_DOC_MUST("strides", &tn_std_kv_axis_strides, "Stride of each axis."));

TN_DOC_OBJECT_TYPE(tn_std_kv_axis_strides, "KvAxisStrides",
                   "Strides as products of run-time sizes; an empty list is a stride of one element.",
    TN_DOC_MAY("batch", TN_DOC_LIST_OF(&tn_std_kv_stride_dim), "[]", "Factors of the batch axis."),
    TN_DOC_MAY("head", TN_DOC_LIST_OF(&tn_std_kv_stride_dim), "[]", "Factors of the head axis."),
    TN_DOC_MAY("head_dim", TN_DOC_LIST_OF(&tn_std_kv_stride_dim), "[]", "Factors of the innermost axis."),
    TN_DOC_MAY("seq", TN_DOC_LIST_OF(&tn_std_kv_stride_dim), "[]", "Factors of the position axis."));

TN_DOC_ENUM_TYPE(tn_std_kv_stride_dim, "KvStrideDim", "A size that is known only when a session runs.",
                 "kv_heads", "seq_capacity", "head_dim");

TN_DOC_ENUM_TYPE(tn_std_kv_ownership, "KvOwnership",
                 "\"owned\" caches are advanced by the graph, \"shared\" ones by another decoder.", "owned",
                 "shared");

TN_DOC_ENUM_TYPE(tn_std_sequence_input_kind, "SequenceInputKind",
                 "Generation is driven by ids or by embeddings.", "token_ids", "inputs_embeds");
