/*
 * What a package's contract states of our own component: compared with what the package does, or refused where it stands.
 * From the documents alone; each statement by its code and its pointer, beside statements of the same kind that are true.
 */
#include "documents_kit.h"

#define FLOW "/pipeline/workflow"
#define EMBEDDER FLOW "/components/embedder"
#define TEXT FLOW "/inputs/request.text"
#define TOP "schema_version: v1\n"
#define INVALID(from, to, pointer, ...) KIT_FAULT(CONTRACT, from, to, TN_BLOCKER, TN_METADATA_INVALID, CONTRACT, pointer, __VA_ARGS__)
#define UNSUPPORTED(from, to, pointer, ...) \
    KIT_FAULT(CONTRACT, from, to, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, CONTRACT, pointer, __VA_ARGS__)

static void run(const struct kit_fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        REQUIRE(documents_alone());
        kit_edit(faults[i].name, faults[i].from, faults[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_expect(d, faults[i].expected, faults[i].file, faults[i].line);
        kit_close(d);
    }
}
#define RUN(faults) run((faults), sizeof(faults) / sizeof((faults)[0]))

static void run_true(const struct kit_fault *edits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        REQUIRE(documents_alone());
        kit_edit(edits[i].name, edits[i].from, edits[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_clean(d, edits[i].file, edits[i].line);
        kit_close(d);
    }
}

/* ---- facts of the model ---------------------------------------------------------------------------------------------- */

#define ATTENTION(members) "model:\n  attention:\n    type: multi_head\n" members
#define AT "/model/attention"

TEST(sizes_attention_and_precision_are_those_of_the_component)
{
    static const struct kit_fault faults[] = {
        INVALID("model:\n", ATTENTION("    num_attention_heads: 3\n"), AT "/num_attention_heads", "contradict each other", "3", "2, by"),
        INVALID("model:\n", ATTENTION("    head_dim: 7\n"), AT "/head_dim", "contradict each other", "7", "4, by"),
        INVALID("model:\n", ATTENTION("    num_kv_heads: 1\n"), AT "/num_kv_heads", "contradict each other", "1", "2, by"),
        INVALID("model:\n", ATTENTION("    sliding_window: 4\n"), AT "/sliding_window", "contradict each other", "4", "every token"),
        INVALID("model:\n", "model:\n  attention:\n    type: grouped_query\n", AT "/type", "contradict each other",
                "grouped_query", "multi_head"),
        INVALID("model:\n", "model:\n  attention:\n    type: com.example.own\n    fallback_behavior: gqa\n",
                AT "/fallback_behavior", "contradict each other", "gqa", "multi_head"),
        UNSUPPORTED("model:\n", ATTENTION("    key_sequence_lengths:\n      scalar_broadcast: unit_batch\n"), AT "/key_sequence_lengths",
                    "does not understand"),
        INVALID(TOP, TOP "quantization:\n  default: int4\n", "/quantization/default", "the weights", "int4", "f32"),
        INVALID(TOP, TOP "quantization:\n  overrides:\n  - layers: [0]\n    precision: int8\n",
                "/quantization/overrides/0/precision", "the weights", "int8", "f32"),
        KIT_FAULT(DOCUMENT, "\"max_seq_length\": 16", "\"max_seq_length\": 0", TN_BLOCKER, TN_METADATA_INVALID, CONTRACT,
                  "/model/max_sequence_length", "contradict each other", "16", "nothing"),
    };
    static const struct kit_fault good[] = {
        KIT_FAULT(CONTRACT, "model:\n", ATTENTION("    num_attention_heads: 2\n    num_kv_heads: 2\n    head_dim: 4\n"), TN_NOTE),
        KIT_FAULT(CONTRACT, "model:\n", "model:\n  attention:\n    type: com.example.own\n    fallback_behavior: multi_head\n", TN_NOTE),
        KIT_FAULT(CONTRACT, TOP, TOP "quantization:\n  default: fp32\n", TN_NOTE),
        KIT_FAULT(CONTRACT, "model:\n", "model:\n  runtime_configurable:\n    continuous_batching: true\n", TN_NOTE),
    };
    RUN(faults);
    run_true(good, sizeof(good) / sizeof(good[0]));
}

/* ---- the tokenizer ------------------------------------------------------------------------------------------------------ */

#define TOKENIZER(algorithm, size, members) \
    TOP "package:\n  tokenizer:\n    algorithm: " algorithm "\n    vocab_size: " size "\n" members
#define SPECIAL(role, id, content) "    special_tokens:\n      " role ":\n        id: " id "\n        content: \"" content "\"\n"
#define OF "/package/tokenizer"
#define ALSO(role, id, content) "      " role ":\n        id: " id "\n        content: \"" content "\"\n"
/* roles in no order of their texts */
#define SEVERAL(sep) SPECIAL("unk", "1", "[UNK]") ALSO("pad", "0", "[PAD]") ALSO("sep", sep, "[SEP]") ALSO("cls", "2", "[CLS]") ALSO("mask", "4", "[MASK]")

TEST(the_tokenizer_is_that_of_the_component)
{
    static const struct kit_fault faults[] = {
        INVALID(TOP, TOKENIZER("bpe", "7", ""), OF "/algorithm", "the tokenizer", "bpe", "WordPiece"),
        INVALID(TOP, TOKENIZER("wordpiece", "200", ""), OF "/vocab_size", "the tokenizer", "200", "7"),
        INVALID(TOP, TOKENIZER("wordpiece", "7", "    byte_level: true\n"), OF "/byte_level", "the tokenizer", "true", "false"),
        INVALID(TOP, TOKENIZER("wordpiece", "7", SPECIAL("cls", "3", "[SEP]")), OF "/special_tokens/cls/content",
                "contradict each other", "[SEP]", "[CLS]"),
        INVALID(TOP, TOKENIZER("wordpiece", "7", SPECIAL("cls", "5", "[CLS]")), OF "/special_tokens/cls/id", "the tokenizer", "5", "2"),
        INVALID(TOP, TOKENIZER("wordpiece", "7", SEVERAL("6")), OF "/special_tokens/sep/id", "the tokenizer", "6", "3, the id of \"[SEP]\""),
        INVALID(TOP, TOKENIZER("wordpiece", "7", SPECIAL("eos", "5", "nobody")), OF "/special_tokens/eos/content", "the tokenizer",
                "nobody", "a token of"),
        INVALID(TOP, TOKENIZER("wordpiece", "7", "    artifacts:\n    - location: model.safetensors\n"), OF "/artifacts/0/location",
                "contradict each other", "model.safetensors", "tokenizer.json"),
        UNSUPPORTED(TOP, TOP "package:\n  constraint_languages:\n  - component: embedder\n    dialect: ebnf\n    version: \"1\"\n",
                    "/package/constraint_languages", "does not understand"),
        KIT_FAULT(DOCUMENT, "\"class\": \"BertTokenizer\"", "\"class\": \"XLMRobertaTokenizer\"", TN_BLOCKER, TN_METADATA_INVALID,
                  DOCUMENT, "/tokenizer/class", "no", "XLMRobertaTokenizer", "WordPiece"),
    };
    static const struct kit_fault good[] = {
        KIT_FAULT(CONTRACT, TOP, TOKENIZER("WordPiece", "7", "    byte_level: false\n    artifacts:\n    - location: tokenizer.json\n"
                                      SPECIAL("cls", "2", "[CLS]")), TN_NOTE),
        KIT_FAULT(CONTRACT, TOP, TOKENIZER("wordpiece", "7", SPECIAL("eos", "3", "[SEP]")), TN_NOTE),
        KIT_FAULT(CONTRACT, TOP, TOKENIZER("wordpiece", "7", SEVERAL("3")), TN_NOTE),
        KIT_FAULT(DOCUMENT, "\"class\": \"BertTokenizer\"", "\"class\": \"PreTrainedTokenizerFast\"", TN_NOTE),
    };
    RUN(faults);
    run_true(good, sizeof(good) / sizeof(good[0]));
}

/* ---- the workflow ------------------------------------------------------------------------------------------------------ */

#define SOURCE "        source:\n          kind: request\n"
#define RUNTIME "          kind: runtime\n          role: prompt_text\n          version: \"1.0\"\n"

TEST(what_the_component_is_given_is_the_text_of_the_request)
{
    static const struct kit_fault faults[] = {
        UNSUPPORTED(SOURCE, "        source:\n          kind: literal\n        default: always this\n", TEXT "/source", "elsewhere",
                    "literal", "request"),
        UNSUPPORTED(SOURCE, SOURCE "        default: always this\n", TEXT "/default", "does not understand", "always this"),
        UNSUPPORTED(SOURCE, "        source:\n          kind: application\n          name: own\n", TEXT "/source", "elsewhere",
                    "application", "request"),
        UNSUPPORTED("role: prompt_text", "role: negative_prompt_text", TEXT "/role", "another role", "negative_prompt_text",
                    "prompt_text"),
        UNSUPPORTED(RUNTIME, "          kind: opaque\n", TEXT "/role", "another role", "opaque", "prompt_text"),
        UNSUPPORTED("        required: true\n", "        required: false\n        default: x\n", TEXT "/required", "computes nothing",
                    "false", "true"),
        UNSUPPORTED("    inputs:\n      request.text:\n",
                    "    inputs:\n      request.more:\n        contract:\n          dtype: string\n          rank: 1\n"
                    "        role:\n          kind: opaque\n        source:\n          kind: request\n      request.text:\n",
                    FLOW "/inputs/request.more", "does not read"),
        UNSUPPORTED("            text:\n              dtype: string\n",
                    "            text:\n              optional: true\n              dtype: string\n",
                    EMBEDDER "/ports/inputs/text/optional", "in every call", "true", "false"),
        INVALID("            text:\n              dtype: string\n",
                "            other:\n              dtype: string\n              rank: 1\n              optional: true\n"
                "            text:\n              dtype: string\n",
                EMBEDDER "/ports/inputs/text", "contradict each other", "string", "one port"),
        INVALID("        role: tensor\n", "        role: text\n", FLOW "/outputs/embedding/role", "contradict each other", "text",
                "tensor"),
    };
    RUN(faults);
}

#define IMPLEMENTATION "        implementation:\n"
#define PORTS "        ports:\n          inputs:\n"

TEST(what_the_component_means_and_keeps)
{
    static const struct kit_fault faults[] = {
        UNSUPPORTED(IMPLEMENTATION, "        contract:\n          id: onnx-genai.token-sampler\n          version: \"1\"\n" IMPLEMENTATION,
                    EMBEDDER "/contract", "does not understand", "token-sampler", "nothing"),
        INVALID(IMPLEMENTATION, "        row_scope:\n          axis: 0\n          stateful: true\n" IMPLEMENTATION,
                EMBEDDER "/row_scope/stateful", "contradict each other", "true", "false"),
        UNSUPPORTED(IMPLEMENTATION, "        row_scope:\n          axis: 0\n        cache_affects_state: [x]\n" IMPLEMENTATION,
                    EMBEDDER "/cache_affects_state", "does not understand"),
        /* roles of ports */
        INVALID(PORTS, "        ports:\n          roles:\n            zzz: token_ids\n          inputs:\n", EMBEDDER "/ports/roles/zzz",
                "not declared", "zzz", "a port"),
        INVALID(PORTS, "        ports:\n          roles:\n            text: token_ids\n          inputs:\n", EMBEDDER "/ports/roles/text",
                "cannot have its role", "string", "type"),
        INVALID(PORTS, "        ports:\n          roles:\n            embedding: token_ids\n          inputs:\n",
                EMBEDDER "/ports/roles/embedding", "cannot have its role", "an output of float32", "side"),
        INVALID(PORTS, "        ports:\n          roles:\n            embedding: hidden_states\n          inputs:\n",
                EMBEDDER "/ports/roles/embedding", "contradict each other", "hidden_states", "no role"),
        INVALID("          outputs:\n            embedding:\n",
                "          roles:\n            embedding: logits\n            second: logits\n          outputs:\n"
                "            second:\n              dtype: float32\n              rank: 2\n            embedding:\n",
                EMBEDDER "/ports/roles/second", "two ports have one role", "second", "one port"),
    };
    static const struct kit_fault good[] = {
        KIT_FAULT(CONTRACT, IMPLEMENTATION, "        row_scope:\n          axis: 0\n" IMPLEMENTATION, TN_NOTE),
        KIT_FAULT(CONTRACT, IMPLEMENTATION, "        cache_affects_state: []\n" IMPLEMENTATION, TN_NOTE),
    };
    RUN(faults);
    run_true(good, sizeof(good) / sizeof(good[0]));
}

/* ---- the head ------------------------------------------------------------------------------------------------------------ */

/* An encoder alone: its class says what comes out. With modules behind it the head is nobody's, as in the convention. */
TEST(a_class_with_a_head_and_none_stated)
{
    static const char *const rest[] = {"config.json", "tokenizer_config.json", "sentence_bert_config.json",
                                       "config_sentence_transformers.json", "1_Pooling/config.json", "2_Dense/config.json"};
    kit_new();
    kit_remove("modules.json");
    REQUIRE(documents_beside(false));
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) kit_remove(rest[i]);
    kit_edit(DOCUMENT, "\"architecture\": \"BertModel\"", "\"architecture\": \"BertForMaskedLM\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/head", "leaves out the head", "null", "masked_lm");
    kit_close(d);
    REQUIRE(documents_alone());
    kit_edit(DOCUMENT, "\"architecture\": \"BertModel\"", "\"architecture\": \"BertForMaskedLM\"");
    d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
}
