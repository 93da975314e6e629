/*
 * Refusals of the genai_config convention, by code and pointer: types and ranges, keys that are dropped or unknown, numbers
 * that contradict one another or the graphs, files that leave the package or are not there. Each is one edit of a good
 * package and, where nothing else is said, the only fault.
 */
#include "genai_kit.h"

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

TEST(wrong_types_and_ranges)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, VOCAB, "\"vocab_size\": \"100\"", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size", "wrong type",
              "\"100\"", "a whole number"),
        FAULT("plain", 1, VOCAB, "\"vocab_size\": 1.5", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size", "wrong type"),
        FAULT("plain", 1, VOCAB, "\"vocab_size\": null", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size", "wrong type"),
        FAULT("plain", 1, VOCAB, "\"vocab_size\": 0", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size", "out of range"),
        FAULT("plain", 1, VOCAB, "\"vocab_size\": -4", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size", "out of range"),
        FAULT("plain", 1, VOCAB, "\"vocab_size\": 1000000000000000019884624838656", TN_METADATA_INVALID, DOCUMENT,
              "/model/vocab_size", "out of range"),
        FAULT("plain", 1, VOCAB, "\"vocab_size\": 1e999", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size"),
        FAULT("plain", 1, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1000000", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/num_hidden_layers", "out of range", "1000000", "1 to 1024"),
        FAULT("plain", 1, "\"type\": \"llama\"", "\"type\": 3", TN_METADATA_INVALID, DOCUMENT, "/model/type", "wrong type"),
        FAULT("plain", 1, "\"type\": \"llama\"", "\"type\": \"\"", TN_METADATA_INVALID, DOCUMENT, "/model/type", "is empty",
              "\"\"", "one of chatglm"),
        FAULT("plain", 1, "\"type\": \"llama\"", "\"type\": \"lama\"", TN_UNKNOWN_FAMILY, DOCUMENT, "/model/type",
              "does not know", "\"lama\"", "whisper", "\"llama\""),
        FAULT("plain", 1, "\"type\": \"llama\"", "\"type\": \"a kind of its own\"", TN_UNKNOWN_FAMILY, DOCUMENT,
              "/model/type", "does not know", NULL, "one of chatglm", "export the model again"),
        FAULT("plain", 1, "\"do_sample\": false", "\"do_sample\": 0", TN_METADATA_INVALID, DOCUMENT, "/search/do_sample",
              "wrong type", "0", "true or false"),
        FAULT("plain", 1, "\"top_p\": 1.0", "\"top_p\": 1.5", TN_METADATA_INVALID, DOCUMENT, "/search/top_p", "out of range",
              "1.5", "0 to 1"),
        FAULT("plain", 1, "\"temperature\": 1.0", "\"temperature\": -1", TN_METADATA_INVALID, DOCUMENT,
              "/search/temperature", "out of range"),
        FAULT("plain", 1, "\"num_beams\": 1", "\"num_beams\": 0", TN_METADATA_INVALID, DOCUMENT, "/search/num_beams",
              "out of range"),
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": []", TN_METADATA_INVALID, DOCUMENT,
              "/model/eos_token_id", "empty list"),
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": [2, \"3\"]", TN_METADATA_INVALID, DOCUMENT,
              "/model/eos_token_id/1", "wrong type"),
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": {}", TN_METADATA_INVALID, DOCUMENT,
              "/model/eos_token_id", "wrong type"),
        FAULT("plain", 1, "\"pad_token_id\": 0", "\"pad_token_id\": -1", TN_METADATA_INVALID, DOCUMENT,
              "/model/pad_token_id", "out of range"),
        FAULT("plain", 1, "\"input_ids\": \"input_ids\"", "\"input_ids\": 1", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/inputs/input_ids", "wrong type"),
        FAULT("plain", 1, "\"input_ids\": \"input_ids\"", "\"input_ids\": \"\"", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/inputs/input_ids", "is empty"),
        FAULT("plain", 1, "\"input_ids\": \"input_ids\"", "\"input_ids\": \"a\\u0000b\"", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/inputs/input_ids", "NUL"),
        FAULT("stages", 1, "\"input_ids\"\n                        ],", "3\n                        ],", TN_METADATA_INVALID,
              DOCUMENT, "/model/decoder/pipeline/0/embedding/inputs/0", "wrong type"),
        FAULT("hybrid", 1, "\"conv_cache_size\": 3", "\"conv_cache_size\": 0", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/conv_cache_size", "out of range"),
    };
    RUN(rows);
}

/* Sizes that a port shows are those of the port: of the encoder, of what it gives to the decoder, and of convolutions. */
TEST(sizes_are_those_of_the_ports)
{
#define ENCODER "\"filename\": \"encoder.onnx\",\n            "
    static const struct genai_fault rows[] = {
        FAULT("speech_to_text", 1, ENCODER "\"head_size\": 8", ENCODER "\"head_size\": 9", TN_METADATA_INVALID, DOCUMENT,
              "/model/encoder/head_size", "head size is not that of its cache", NULL, "head_size 9"),
        FAULT("speech_to_text", 1, ENCODER "\"head_size\": 8,\n            \"hidden_size\": 32",
              ENCODER "\"head_size\": 8,\n            \"hidden_size\": 33", TN_METADATA_INVALID, DOCUMENT,
              "/model/encoder/hidden_size", "not the width of what it gives", NULL, "hidden_size 33"),
        FAULT("speech_to_text", 1, "\"num_key_value_heads\": 4\n        }\n    },", "\"num_key_value_heads\": 2\n        }\n    },",
              TN_METADATA_INVALID, DOCUMENT, "/model/encoder/num_key_value_heads", "not that of its cache", NULL,
              "num_key_value_heads 2"),
        FAULT("hybrid", 1, "\"conv_cache_size\": 3", "\"conv_cache_size\": 4", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/conv_cache_size", "a convolution's state is not that of its port", NULL, "conv_cache_size 4"),
    };
    RUN(rows);
}

TEST(what_must_be_there)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, "\"type\": \"llama\",", "", TN_METADATA_INVALID, DOCUMENT, "/model/type", "is missing"),
        FAULT("plain", 1, CONTEXT ",", "", TN_METADATA_INVALID, DOCUMENT, "/model/context_length", "is missing"),
        FAULT("plain", 1, ",\n        " VOCAB, "", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size", "is missing"),
        FAULT("plain", 1, "\"filename\": \"model.onnx\",", "", TN_METADATA_INVALID, DOCUMENT, "/model/decoder/filename",
              "is missing"),
        FAULT("plain", 1, "\"num_hidden_layers\": 2,", "", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/num_hidden_layers", "is missing", "names per layer"),
    };
    RUN(rows);
}

TEST(dropped_and_unknown_keys)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, VOCAB, VOCAB ", \"vocab_sizes\": 3", TN_UNSUPPORTED_CONFIG, DOCUMENT, "/model/vocab_sizes",
              "is not known", "3", "the nearest is vocab_size", "--accept-loss"),
        FAULT("plain", 1, "\"top_k\": 50", "\"top_k\": 50, \"min_p\": 0.1", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/search/min_p", "is not known"),
        FAULT("plain", 1, "\"search\": {", "\"frobnicate\": 1, \"search\": {", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/frobnicate", "is not known"),
        FAULT("plain", 1, "\"attention_mask\": \"attention_mask\"",
              "\"attention_mask\": \"attention_mask\", \"attention_masks\": \"x\"", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/model/decoder/inputs/attention_masks", "is not known", "\"x\"", "the nearest is attention_mask"),
        FAULT("plain", 1, "\"search\": {", "\"engine\": {\"dynamic_batching\": {\"block_size\": 16}}, \"search\": {",
              TN_UNSUPPORTED_CONFIG, DOCUMENT, "/engine", "would be lost: deployment"),
        FAULT("plain", 1, "\"top_k\": 50", "\"top_k\": 50, \"random_seed\": 7", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/search/random_seed", "belongs to a request"),
        FAULT("plain", 1, "\"top_k\": 50", "\"top_k\": 50, \"chunk_size\": 256", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/search/chunk_size", "would be lost"),
        FAULT("plain", 1, "\"num_attention_heads\": 4",
              "\"session_options\": {\"provider_options\": [{\"cuda\": {}}]}, \"num_attention_heads\": 4",
              TN_UNSUPPORTED_CONFIG, DOCUMENT, "/model/decoder/session_options/provider_options", "would be lost"),
        FAULT("as_built", 2, "\"onnxruntime-genai\"", "\"other\"", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/model/decoder/session_options/log_id", "would be lost", "\"other\"", "", "--accept-loss"),
        FAULT("windows", 2, "\"slide_inputs\": false,", "", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/model/decoder/sliding_window/slide_inputs", "absent it means true"),
        FAULT("windows", 2, "\"slide_inputs\": false", "\"slide_inputs\": true", TN_UNSUPPORTED_CONFIG, DOCUMENT,
              "/model/decoder/sliding_window/slide_inputs", "would be lost"),
        FAULT("hybrid", 1, "\"conv\",", "\"mamba\",", TN_UNSUPPORTED_CONFIG, DOCUMENT, "/model/decoder/layer_types/0",
              "nobody here knows", "mamba"),
    };
    RUN(rows);
}

/* A dropped key with a value that says nothing loses nothing. */
TEST(values_that_say_nothing)
{
    static const struct {
        const char *from, *to;
    } edits[] = {
        {"\"top_k\": 50", "\"top_k\": 50, \"random_seed\": -1"},
        {"\"top_k\": 50", "\"top_k\": 50, \"chunk_size\": 0, \"batch_size\": 1"},
        {"\"num_attention_heads\": 4", "\"session_options\": {}, \"num_attention_heads\": 4"},
        {"\"num_attention_heads\": 4", "\"session_options\": {\"provider_options\": []}, \"num_attention_heads\": 4"},
        {"\"search\": {", "\"engine\": {}, \"search\": {"},
        {"\"eos_token_id\": 2", "\"eos_token_id\": [2]"},
        {"\"eos_token_id\": 2", "\"eos_token_id\": 2.0"},
    };
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        genai_new("plain");
        kit_edit(DOCUMENT, edits[i].from, edits[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        FAULTS(d, 0);
        CHECK(has_contract(d));
        kit_close(d);
    }
}

TEST(code_is_denied_whatever_is_accepted)
{
    static const char *const places[] = {
        "\"session_options\": {\"custom_ops_library\": \"evil.so\"}, \"num_attention_heads\": 4",
        "\"shared_initializers\": [{\"custom_ops_library\": \"evil.so\"}], \"num_attention_heads\": 4"};
    static const char *const pointers[] = {"/model/decoder/session_options/custom_ops_library",
                                           "/model/decoder/shared_initializers/0/custom_ops_library"};
    for (size_t i = 0; i < 2; i++) {
        genai_new("plain");
        kit_edit(DOCUMENT, "\"num_attention_heads\": 4", places[i]);
        kit_options.accept_loss = true;
        struct tn_description *d = kit_describe();
        if (!d) continue;
        KIT_EXPECT(d, TN_BLOCKER, TN_CUSTOM_CODE_DENIED, DOCUMENT, pointers[i], "names a library", "evil.so");
        kit_close(d);
    }
}

TEST(numbers_that_contradict_one_another)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": [2, 100]", TN_METADATA_INVALID, DOCUMENT,
              "/model/eos_token_id/1", "outside the vocabulary", "100", "less than vocab_size 100"),
        FAULT("plain", 1, "\"bos_token_id\": 1", "\"bos_token_id\": 5000", TN_METADATA_INVALID, DOCUMENT,
              "/model/bos_token_id", "outside the vocabulary"),
        FAULT("plain", 1, "\"max_length\": 64", "\"max_length\": 65", TN_METADATA_INVALID, DOCUMENT, "/search/max_length",
              "beyond the context", "65", "context_length 64"),
        FAULT("plain", 1, "\"min_length\": 0", "\"min_length\": 65", TN_METADATA_INVALID, DOCUMENT, "/search/min_length",
              "beyond the largest"),
        FAULT("plain", 1, "\"num_attention_heads\": 4", "\"num_attention_heads\": 5", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/num_key_value_heads", "does not divide"),
        FAULT("windows", 1, "                    0,\n                    2\n", "0, 4", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/sliding_window/layers/1", "is no layer"),
        FAULT("windows", 1, "                    0,\n                    2\n", "0, 0", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/sliding_window/layers/1", "twice"),
        FAULT("hybrid", 1, "                \"conv\",\n                \"full_attention\",\n", "", TN_METADATA_INVALID,
              DOCUMENT, "/model/decoder/layer_types", "one entry per layer", "2 entries"),
    };
    RUN(rows);
}

TEST(document_and_graph_contradict_each_other)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, VOCAB, "\"vocab_size\": 101", TN_METADATA_INVALID, DOCUMENT, "/model/vocab_size",
              "not the width of the logits", "\"logits\"", "vocab_size 101"),
        FAULT("plain", 1, "\"head_size\": 8", "\"head_size\": 16", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/head_size", "head size is not that of the cache"),
        FAULT("plain", 1, "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 4", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/num_key_value_heads", "number of heads is not that of the cache"),
        FAULT("plain", 4, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/inputs/past_key_names", "names a port that the graph lacks",
              "\"past_key_values.2.key\" of layer 2"),
        FAULT("plain", 2, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", TN_AMBIGUOUS_ROLE, DOCUMENT,
              "/model/decoder/inputs", "nothing says what goes into", "past_key_values.1.key"),
        FAULT("plain", 1, "\"attention_mask\": \"attention_mask\"", "\"attention_mask\": \"mask\"", TN_METADATA_INVALID,
              DOCUMENT, "/model/decoder/inputs/attention_mask", "lacks", "no input \"mask\""),
        FAULT("plain", 1, "\"logits\": \"logits\"", "\"logits\": \"scores\"", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/outputs/logits", "lacks", "no output \"scores\""),
        FAULT("plain", 1, "\"past_key_values.%d.key\"", "\"past_key_values.%d.%d\"", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/inputs/past_key_names", "is no pattern"),
        FAULT("plain", 1, "\"past_key_values.%d.key\"", "\"past_key_values.0.key\"", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/inputs/past_key_names", "is no pattern"),
        FAULT("pictures", 1, "\"hidden_size\": 32", "\"hidden_size\": 64", TN_METADATA_INVALID, DOCUMENT,
              "/model/decoder/hidden_size", "not the width of the embeddings"),
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].package, "pictures") != 0) run_genai_faults(&rows[i], 1);
    }
    genai_new("pictures");
    kit_options.accept_loss = true;
    kit_edit(DOCUMENT, rows[9].from, rows[9].to);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    kit_expect(d, rows[9].expected, __FILE__, __LINE__);
    FAULTS(d, 1);
    kit_close(d);
}

TEST(stages_and_graphs)
{
    genai_new("stages");
    kit_edit(DOCUMENT, "\"hidden_0\",", "\"hidden_9\",");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/model/decoder/pipeline/1/block0/inputs/0",
               "names a port that the graph lacks", "hidden_9", "an input of block0.onnx");
    FAULTS(d, 1);
    kit_close(d);
    genai_new("stages");
    kit_edit(DOCUMENT, "\"logits\": \"logits\"", "\"logits\": \"scores\"");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/model/decoder/outputs/logits", "names a port that no stage has",
               "scores");
    FAULTS(d, 1);
    kit_close(d);
}

/* Ports of a graph that no document ever stated so. */
TEST(graphs_of_other_types)
{
    static const struct {
        const char *lines[12];
        const char *pointer, *message;
    } rows[] = {
        {{"<input_ids:1:batch,sequence", "<attention_mask:7:batch,total", "<past_key_values.0.key:1:batch,2,past,8",
          "<past_key_values.0.value:1:batch,2,past,8", ">logits:1:batch,sequence,100", ">present.0.key:1:batch,2,total,8",
          ">present.0.value:1:batch,2,total,8"},
         "/model/decoder/inputs/input_ids", "does not take whole numbers"},
        {{"<input_ids:7:batch,sequence", "<attention_mask:7:batch,total", "<past_key_values.0.key:1:batch,2,past,8",
          "<past_key_values.0.value:1:batch,2,past,8", ">logits:7:batch,sequence,100", ">present.0.key:1:batch,2,total,8",
          ">present.0.value:1:batch,2,total,8"},
         "/model/decoder/outputs/logits", "does not give reals"},
        {{"<input_ids:7:batch,sequence", "<attention_mask:7:batch,total", "<past_key_values.0.key:1:batch,2,past,8",
          "<past_key_values.0.value:1:batch,2,past,8", ">logits:1:batch,sequence,100", ">present.0.key:10:batch,2,total,8",
          ">present.0.value:1:batch,2,total,8"},
         "/model/decoder/inputs/past_key_names", "not of the type of its successor"},
        {{"<input_ids:7:batch,sequence", "<attention_mask:7:batch,total", "<past_key_values.0.key:1:batch,2,past,8",
          "<past_key_values.0.value:1:batch,past,16", ">logits:1:batch,sequence,100", ">present.0.key:1:batch,2,total,8",
          ">present.0.value:1:batch,total,16"},
         "/model/decoder/inputs/past_value_names", "has not the axes of one"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        genai_new("plain");
        kit_edit(DOCUMENT, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
        put_graph("model.onnx", rows[i].lines);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, rows[i].pointer, rows[i].message);
        CHECK(!has_contract(d));
        kit_close(d);
    }
}

TEST(state_without_its_other_half)
{
    genai_new("plain");
    kit_edit(DOCUMENT, ",\n                \"past_value_names\": \"past_key_values.%d.value\"", "");
    kit_edit(DOCUMENT, ",\n                \"present_value_names\": \"present.%d.value\"", "");
    static const char *const lines[] = {"<input_ids:7:batch,sequence", "<attention_mask:7:batch,total",
                                        "<past_key_values.0.key:1:batch,2,past,8", "<past_key_values.1.key:1:batch,2,past,8",
                                        ">logits:1:batch,sequence,100", ">present.0.key:1:batch,2,total,8",
                                        ">present.1.key:1:batch,2,total,8", NULL};
    put_graph("model.onnx", lines);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/model/decoder/inputs/past_key_names", "half of a cache");
    FAULTS(d, 1);
    kit_close(d);
}

/* All problems of a document in one pass. */
TEST(everything_at_once)
{
    genai_new("plain");
    kit_edit(DOCUMENT, VOCAB, "\"vocab_size\": -1");
    kit_edit(DOCUMENT, "\"top_p\": 1.0", "\"top_p\": 7");
    kit_edit(DOCUMENT, "\"filename\": \"model.onnx\"", "\"filename\": \"../model.onnx\"");
    kit_edit(DOCUMENT, "\"bos_token_id\": 1", "\"bos_token_id\": \"x\", \"foo\": 1");
    kit_edit(DOCUMENT, "\"search\": {", "\"engine\": {\"x\": 1}, \"search\": {");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 6);
    kit_close(d);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Every field that names a file, in sections that are used, dropped and unknown. */
TEST(files_stay_inside)
{
    static const char *const names[] = {"../model.onnx", "/etc/passwd", "a/../../x", "a\\\\b", "x\\u0000.onnx"};
    static const struct {
        const char *package, *from, *format, *pointer;
    } fields[] = {
        {"plain", "\"filename\": \"model.onnx\"", "\"filename\": \"%s\"", "/model/decoder/filename"},
        {"speech_to_text", "\"filename\": \"encoder.onnx\"", "\"filename\": \"%s\"", "/model/encoder/filename"},
        {"pictures", "\"filename\": \"vision.onnx\"", "\"filename\": \"%s\"", "/model/vision/filename"},
        {"pictures", "\"filename\": \"embedding.onnx\"", "\"filename\": \"%s\"", "/model/embedding/filename"},
        {"pictures", "\"processor_config.json\"", "\"%s\"", "/model/vision/config_filename"},
        {"pictures", "\"image_token_id\": 7", "\"speech\": {\"adapter_filename\": \"%s\"}", "/model/speech/adapter_filename"},
        {"stages", "\"filename\": \"block1.onnx\"", "\"filename\": \"%s\"", "/model/decoder/pipeline/2/block1/filename"},
        {"plain", "\"bos_token_id\": 1", "\"tokenizer_dir\": \"%s\"", "/model/tokenizer_dir"},
        {"plain", "\"bos_token_id\": 1", "\"joiner\": {\"filename\": \"%s\"}", "/model/joiner/filename"},
        {"plain", "\"bos_token_id\": 1", "\"mtp\": {\"filename\": \"%s\"}", "/model/mtp/filename"},
        {"plain", "\"bos_token_id\": 1", "\"vad\": {\"filename\": \"%s\"}", "/model/vad/filename"},
        {"plain", "\"bos_token_id\": 1", "\"moonshine\": {\"encoder_filename\": \"%s\"}", "/model/moonshine/encoder_filename"},
        {"plain", "\"bos_token_id\": 1", "\"whatever\": {\"filename\": \"%s\"}", "/model/whatever/filename"},
        {"plain", "\"num_attention_heads\": 4", "\"shared_initializers\": [{\"data_file\": \"%s\"}]",
         "/model/decoder/shared_initializers/0/data_file"},
        {"plain", "\"search\": {", "\"runtime_profiles\": [{\"overlay\": {\"model\": {\"decoder\": {\"filename\": \"%s\"}}}}], \"search\": {",
         "/runtime_profiles/0/overlay/model/decoder/filename"},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            char text[512];
            genai_new(fields[i].package);
            kit_options.accept_loss = true;
            snprintf(text, sizeof(text), fields[i].format, names[k]);
            kit_edit(DOCUMENT, fields[i].from, text);
            struct tn_description *d = kit_describe();
            if (!d) continue;
            KIT_EXPECT(d, TN_BLOCKER, TN_PATH_ESCAPE, DOCUMENT, fields[i].pointer, "leaves the package");
            kit_close(d);
        }
    }
}

TEST(files_that_are_not_there)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, "\"filename\": \"model.onnx\"", "\"filename\": \"other.onnx\"", TN_ARTIFACT_MISSING, DOCUMENT,
              "/model/decoder/filename", "not there", "other.onnx"),
        FAULT("plain", 1, "\"filename\": \"model.onnx\"", "\"filename\": \"\"", TN_ARTIFACT_MISSING, DOCUMENT,
              "/model/decoder/filename", "not there"),
        FAULT("stages", 1, "\"filename\": \"head.onnx\"", "\"filename\": \"tail.onnx\"", TN_ARTIFACT_MISSING, DOCUMENT,
              "/model/decoder/pipeline/3/head/filename", "not there", "tail.onnx"),
        FAULT("plain", 1, "\"bos_token_id\": 1", "\"bos_token_id\": 1, \"tokenizer_dir\": \"tok\"", TN_ARTIFACT_MISSING,
              DOCUMENT, "/model/tokenizer_dir", "a folder that is not there"),
        FAULT("plain", 1, "\"filename\": \"model.onnx\"", "\"filename\": \"" DOCUMENT "\"", TN_ARTIFACT_MALFORMED, DOCUMENT,
              "/model/decoder/filename", "no ONNX graph"),
    };
    RUN(rows);
    /* No graph at all: nothing that the inventory could call weights. */
    genai_new("plain");
    kit_remove("model.onnx");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->dialect, "genai_config");
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, DOCUMENT, "/model/decoder/filename", "not there", "model.onnx");
    kit_close(d);
}

TEST(links_and_pipes)
{
    genai_new("stages");
    kit_remove("head.onnx");
    CHECK_INT(symlink("/etc/passwd", in_folder("%s", kit_name("head.onnx"))), 0);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_PATH_ESCAPE, DOCUMENT, "/model/decoder/pipeline/3/head/filename", "leads out");
    kit_close(d);
    genai_new("stages");
    kit_remove("head.onnx");
    CHECK_INT(mkfifo(in_folder("%s", kit_name("head.onnx")), 0600), 0);
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MALFORMED, DOCUMENT, "/model/decoder/pipeline/3/head/filename", "FIFO");
    kit_close(d);
    genai_new("stages");
    kit_remove("head.onnx");
    CHECK_INT(symlink("nowhere.onnx", in_folder("%s", kit_name("head.onnx"))), 0);
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, DOCUMENT, "/model/decoder/pipeline/3/head/filename", "leads nowhere");
    kit_close(d);
}

TEST(broken_graphs)
{
    genai_new("plain");
    kit_put("model.onnx", "not a protobuf");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    EXPECT(kit_inventory, TN_ARTIFACT_MALFORMED, "", "model.onnx");
    CHECK(!has_contract(d));
    kit_close(d);
}

TEST(limits_are_limits)
{
    size_t n = 0;
    static char text[400000];
    genai_new("plain");
    n += (size_t)snprintf(text + n, sizeof(text) - n, "\"eos_token_id\": [2");
    for (int i = 0; i < 300; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, ", 3");
    snprintf(text + n, sizeof(text) - n, "]");
    kit_edit(DOCUMENT, "\"eos_token_id\": 2", text);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/model/eos_token_id", "too long a list", NULL, "256");
    kit_close(d);

    genai_new("stages");
    n = (size_t)snprintf(text, sizeof(text), "\"pipeline\": [");
    for (int i = 0; i < 70; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s{\"s%d\": {\"filename\": \"head.onnx\"}}", i ? ", " : "", i);
    snprintf(text + n, sizeof(text) - n, "], \"pipelines\": [");
    kit_edit(DOCUMENT, "\"pipeline\": [", text);
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_RESOURCE_LIMIT, DOCUMENT, "/model/decoder/pipeline", "too many");
    kit_close(d);
}

