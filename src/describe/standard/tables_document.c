/* The root of the document, and the facts of a package that belong to no graph: tokenizer, generation defaults,
   task profiles, hardware, quantization. Constants; see tables.h for what they decide. */
#include "describe/standard/tables_types.h"

const struct tn_doctype_title tn_standard_document_title = {
    .id = "urn:tenon:schema:description",
    .title = "ONNX inference metadata, as tenon reads it",
};

TN_DOC_ENUM_TYPE(tn_std_schema_version, "SchemaVersion",
                 "One version in two spellings; the semantic identity goes by the spelling.", "v1", "1.0");

static const struct tn_docfield document_fields[] = {
    TN_DOC_NULL("adapters", &tn_std_adapter_service_contract,
                "Low-rank adapters and how a request selects them."),
    TN_DOC_NULL("generation", &tn_std_generation_contract,
                "Defaults of the author, and what a caller may change."),
    TN_DOC_NULL("hardware_requirements", &tn_std_hardware_requirements,
                "What a machine needs, and what would help."),
    TN_DOC_NULL("model", &tn_std_model_capabilities,
                "Facts of the whole package: attention geometry, sizes, experts, sharding."),
    TN_DOC_NULL("package", &tn_std_package_facts, "Tokenizer and grammar facts."),
    TN_DOC_NULL("pipeline", &tn_std_pipeline_spec, "The workflow that is executed."),
    TN_DOC_NULL("preprocessing", &tn_std_preprocessing_spec, "Programs that turn media into tensors."),
    TN_DOC_MAY("profiles", TN_DOC_NAMED(&tn_std_task_profile), NULL, "Tasks that the package serves, by name."),
    TN_DOC_NULL("quantization", &tn_std_quantization_intent, "Which precision the weights were meant to have."),
    TN_DOC_MAY("required_capabilities", TN_DOC_LIST_OF(TN_DOC_NAME), "[]",
               "Identifiers of behaviour without which a runtime must refuse the package."),
    TN_DOC_NULL("schema_version", &tn_std_schema_version,
                "Version of this document. \"v1\", \"1.0\" and absent are read alike."),
    TN_DOC_NULL("speculative", &tn_std_speculative_contract, "How a proposer component goes with its target."),
};

static const struct tn_docrule document_rules[] = {
    {.pointer = "/pipeline",
     .conflict = "/model/io",
     .why = "a workflow states the ports of its graphs, and there is one place for them"},
};

const struct tn_doctype tn_standard_document_type = {
    .kind = TN_DOC_OBJECT,
    .name = "InferenceMetadata",
    .note = "What a package of ONNX graphs computes and what running it correctly takes. Null members mean "
            "the same as absent ones.",
    .fields = document_fields,
    .field_count = TN_DOC_COUNT(document_fields),
    .rules = document_rules,
    .rule_count = TN_DOC_COUNT(document_rules),
};

TN_DOC_OBJECT_TYPE(tn_std_package_facts, "PackageFacts",
                   "What is needed to read requests as the author meant them.",
    TN_DOC_MAY("constraint_languages", TN_DOC_LIST_OF(&tn_std_constraint_language_facts), NULL,
               "Grammar languages that a component of the package understands."),
    TN_DOC_NULL("tokenizer", &tn_std_tokenizer_facts, "Vocabulary, special tokens and files of the tokenizer."));

TN_DOC_OBJECT_TYPE(tn_std_constraint_language_facts, "ConstraintLanguageFacts",
                   "One grammar language and its exact version; the grammars come with requests.",
    TN_DOC_MUST("component", TN_DOC_NAME, "Workflow component that reads grammars of this language."),
    TN_DOC_MUST("dialect", TN_DOC_NAME, "Name of the language, \"json_schema\" or \"ebnf\" for example."),
    TN_DOC_MUST("version", TN_DOC_NAME, "Exact version of the language."));

TN_DOC_OBJECT_TYPE(tn_std_tokenizer_facts, "TokenizerFacts",
                   "The tokenizer that the weights were trained with.",
    TN_DOC_MUST("algorithm", TN_DOC_NAME, "Name of the algorithm, \"bpe\" or \"wordpiece\" for example."),
    TN_DOC_MAY("artifacts", TN_DOC_SOME_OF(&tn_std_tokenizer_artifact), NULL, "Files of the tokenizer."),
    TN_DOC_MAY("byte_level", TN_DOC_BOOLEAN, "false",
               "Whether pieces are made of bytes; otherwise of characters."),
    TN_DOC_MAY("special_tokens", TN_DOC_NAMED(&tn_std_special_token_fact), NULL,
               "Special tokens by role, \"eos\" for example."),
    TN_DOC_MUST("vocab_size", TN_DOC_SIZE, "Ids in the vocabulary, added tokens counted."));

TN_DOC_OBJECT_TYPE(tn_std_tokenizer_artifact, "TokenizerArtifact", "One file of the tokenizer.",
    TN_DOC_MUST("location", TN_DOC_NAME, "Path inside the package."));

TN_DOC_OBJECT_TYPE(tn_std_special_token_fact, "SpecialTokenFact", "One special token by id and text.",
    TN_DOC_MUST("content", TN_DOC_NAME, "Exactly how it is written."),
    TN_DOC_MUST("id", TN_DOC_UINT32, "Its id in the vocabulary."));

TN_DOC_OBJECT_TYPE(tn_std_generation_contract, "GenerationContract",
                   "How text is generated when nobody asks otherwise, and what may be asked.",
    TN_DOC_NULL("defaults", &tn_std_generation_defaults, "Values that hold when a request is silent."),
    TN_DOC_MAY("overrides", TN_DOC_NAMED(&tn_std_generation_override), NULL,
               "The only fields that a request may change, each bound to a workflow input."));

TN_DOC_OBJECT_TYPE(tn_std_generation_defaults, "GenerationDefaults",
                   "Sampling and beam search as the author wants them; only what was stated.",
    TN_DOC_NULL("diversity_penalty", TN_DOC_FLOAT, "Penalty between groups of beams."),
    TN_DOC_NULL("do_sample", TN_DOC_BOOLEAN, "Whether tokens are drawn; otherwise the most probable is taken."),
    TN_DOC_NULL("early_stopping", TN_DOC_BOOLEAN,
                "Whether beam search ends as soon as enough beams have ended."),
    TN_DOC_NULL("length_penalty", TN_DOC_FLOAT, "Exponent on the length in beam scores."),
    TN_DOC_NULL("max_length", TN_DOC_UINT, "Most tokens of a sequence, prompt counted."),
    TN_DOC_NULL("min_length", TN_DOC_UINT, "Least tokens of a sequence, prompt counted."),
    TN_DOC_NULL("no_repeat_ngram_size", TN_DOC_UINT, "Length of runs that may not occur twice; 0 for none."),
    TN_DOC_NULL("num_beams", TN_DOC_UINT, "Beams; 1 is no beam search."),
    TN_DOC_NULL("num_return_sequences", TN_DOC_UINT, "Sequences that are returned."),
    TN_DOC_NULL("repetition_penalty", TN_DOC_FLOAT,
                "Divisor on scores of tokens that were there already; 1 changes nothing."),
    TN_DOC_NULL("temperature", TN_DOC_FLOAT, "Divisor on the scores before sampling."),
    TN_DOC_NULL("top_k", TN_DOC_UINT, "How many of the best tokens stay candidates."),
    TN_DOC_NULL("top_p", TN_DOC_FLOAT, "Probability mass that stays candidate."));

TN_DOC_OBJECT_TYPE(tn_std_generation_override, "GenerationOverride", "One field that a request may change.",
    TN_DOC_NULL("constraint", &tn_std_generation_override_constraint, "Bounds on the value."),
    TN_DOC_MUST("input", TN_DOC_NAME, "Workflow input, sourced from the request, that carries it."));

TN_DOC_OBJECT_TYPE(tn_std_generation_override_constraint, "GenerationOverrideConstraint", "Inclusive bounds.",
    TN_DOC_NULL("maximum", TN_DOC_DOUBLE, "Largest value."),
    TN_DOC_NULL("minimum", TN_DOC_DOUBLE, "Smallest value."));

TN_DOC_OBJECT_TYPE(tn_std_hardware_requirements, "HardwareRequirements",
                   "What a machine must have (minimum) and what would help.",
    TN_DOC_NULL("beneficial_dtypes", TN_DOC_LIST_OF(&tn_std_d_type),
                "Types that speed things up and are not needed."),
    TN_DOC_NULL("kv_cache_memory_per_1k_tokens_mb", TN_DOC_FLOAT_POSITIVE,
                "MiB of cache per thousand tokens, estimated."),
    TN_DOC_NULL("min_memory_gb", TN_DOC_FLOAT_POSITIVE, "GiB without which the package does not run."),
    TN_DOC_NULL("min_tp_degree", TN_DOC_SIZE, "Least useful number of tensor-parallel parts."),
    TN_DOC_NULL("required_dtypes", TN_DOC_LIST_OF(&tn_std_d_type), "Types that the device must compute."),
    TN_DOC_NULL("supports_tensor_parallel", TN_DOC_BOOLEAN, "Whether the model can be cut across devices."));

TN_DOC_OBJECT_TYPE(tn_std_quantization_intent, "QuantizationIntent",
                   "Precision of the weights, apart from how they are packed.",
    TN_DOC_NULL("default", &tn_std_precision, "Precision of what no override names."),
    TN_DOC_NULL("overrides", TN_DOC_LIST_OF(&tn_std_quantization_override), "Exceptions by layer or component."));

TN_DOC_OBJECT_TYPE(tn_std_quantization_override, "QuantizationOverride", "One exception.",
    TN_DOC_NULL("component", TN_DOC_NAME, "Part that it holds for, \"lm_head\" for example."),
    TN_DOC_NULL("layers", TN_DOC_LIST_OF(TN_DOC_INT32),
                "Layers that it holds for; negative ones count from the last."),
    TN_DOC_MUST("precision", &tn_std_precision, "The precision there."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_precision, "Precision", "A precision or a named quantization recipe.", "float32",
                      "fp32", "float16", "fp16", "bfloat16", "bf16", "float8_e4m3fn", "float8_e5m2", "int8",
                      "int4", "int4_group128");

TN_DOC_OBJECT_TYPE(tn_std_task_profile, "TaskProfile", "One task that the package serves.",
    TN_DOC_NULL("batch_invariance", &tn_std_batch_invariance,
                "Whether a row's answer depends on its company in the batch."),
    TN_DOC_NULL("decoding", &tn_std_sequence_decoding_spec, "How frames become tokens."),
    TN_DOC_MAY("generation_affecting", TN_DOC_BOOLEAN, "false",
               "Whether the profile changes generated text, and with it what caches may be shared."),
    TN_DOC_MUST("kind", TN_DOC_NAME, "Name of the task, \"embedding\" for example."),
    TN_DOC_MAY("outputs", TN_DOC_NAMED(TN_DOC_NAME), NULL, "Workflow outputs that the task reads, by role."),
    TN_DOC_NULL("pooling", &tn_std_pooling_spec, "How a sequence becomes one vector."),
    TN_DOC_MAY("requirement", &tn_std_profile_requirement, "\"required\"",
               "What a reader does that does not know this profile."),
    TN_DOC_MUST("version", TN_DOC_NAME, "Version of what the profile promises."));

TN_DOC_ENUM_TYPE(tn_std_profile_requirement, "ProfileRequirement",
                 "\"required\" profiles must be understood, \"ignorable\" ones may be left out.", "required",
                 "ignorable");

TN_DOC_OPEN_ENUM_TYPE(tn_std_batch_invariance, "BatchInvariance",
                      "\"row_independent\" rows answer alike alone and in company; \"padding_sensitive\" ones "
                      "do not.",
                      "row_independent", "padding_sensitive");

TN_DOC_OBJECT_TYPE(tn_std_pooling_spec, "PoolingSpec", "The reduction of a sequence to one vector.",
    TN_DOC_MUST("axis", TN_DOC_UINT, "Axis that goes away."),
    TN_DOC_MUST("kind", &tn_std_pooling_kind, "How it is reduced."),
    TN_DOC_MAY("normalize", TN_DOC_BOOLEAN, "false", "Whether the vector is scaled to length 1."));

TN_DOC_ENUM_TYPE(tn_std_pooling_kind, "PoolingKind", "Mean, maximum, first token, or last real token.", "mean",
                 "max", "cls", "last_token");

TN_DOC_OBJECT_TYPE(tn_std_sequence_decoding_spec, "SequenceDecodingSpec",
                   "How per-frame class scores become a token sequence without a generation loop.",
    TN_DOC_NULL("blank_id", TN_DOC_UINT32, "Class that means nothing was said."),
    TN_DOC_MUST("class_axis", TN_DOC_UINT, "Axis of the classes in the scores."),
    TN_DOC_MAY("collapse_repeats", TN_DOC_BOOLEAN, "false", "Whether a run of one class counts once."),
    TN_DOC_MUST("kind", &tn_std_sequence_decoding_kind, "The algorithm."),
    TN_DOC_NULL("lengths", TN_DOC_NAME, "Profile output with the number of valid frames of each row."),
    TN_DOC_MUST("time_axis", TN_DOC_UINT, "Axis of the frames in the scores."),
    TN_DOC_NULL("vocabulary", &tn_std_decoding_vocabulary, "What the classes stand for."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_sequence_decoding_kind, "SequenceDecodingKind",
                      "Frame-by-frame decoding algorithms.", "ctc", "greedy_argmax");

TN_DOC_OBJECT_TYPE(tn_std_decoding_vocabulary, "DecodingVocabulary", "Texts of the classes.",
    TN_DOC_MAY("ignored_tokens", TN_DOC_LIST_OF(TN_DOC_TEXT), NULL, "Tokens dropped before words are made."),
    TN_DOC_NULL("size", TN_DOC_UINT, "Number of classes."),
    TN_DOC_MUST("source", &tn_std_decoding_vocabulary_source, "Where the texts come from."),
    TN_DOC_MAY("tokens", TN_DOC_LIST_OF(TN_DOC_TEXT), NULL, "Texts by class, when they stand here."),
    TN_DOC_NULL("word_delimiter", TN_DOC_TEXT, "Token that stands between words."));

TN_DOC_OPEN_ENUM_TYPE(tn_std_decoding_vocabulary_source, "DecodingVocabularySource",
                      "The package's tokenizer, or the list beside it.", "tokenizer", "inline");
