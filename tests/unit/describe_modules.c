/* modules.json and its modules: order, classes, every pooling shape, weights, widths, and every refusal. */
#define _GNU_SOURCE
#include "describe_kit.h"

/* ---- the chain -------------------------------------------------------------------------------------------------- */

TEST(chain_in_order)
{
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 4);
    KIT_CLEAN(d);
    CHECK_INT(d->modules[0].kind, TN_MODULE_TRANSFORMER);
    CHECK_INT(d->modules[0].out_features, 8);
    CHECK(d->modules[0].on_tokens);
    CHECK_INT(d->modules[1].kind, TN_MODULE_POOLING);
    CHECK_INT(d->modules[1].pooling_count, 1);
    CHECK_INT(d->modules[1].pooling[0], TN_POOLING_MEAN);
    CHECK(d->modules[1].include_prompt);
    CHECK_INT(d->modules[2].kind, TN_MODULE_DENSE);
    CHECK_TSTR(d->modules[2].activation, "tanh");
    CHECK_TSTR(d->modules[2].path, "2_Dense");
    CHECK(d->modules[2].bias && !d->modules[2].residual && !d->modules[2].on_tokens);
    REQUIRE(d->modules[2].weight && d->modules[2].bias_tensor);
    CHECK_TSTR(d->modules[2].weight->name, "linear.weight");
    CHECK_TSTR(kit_inventory->files[d->modules[2].weight->file].path, "2_Dense/model.safetensors");
    CHECK_INT(d->modules[3].kind, TN_MODULE_NORMALIZE);
    CHECK_INT(d->modules[3].out_features, 4);
    CHECK_INT(d->modules[3].index, 3);
    CHECK_FACT(d, "module.2.in_features", "8", "2_Dense/config.json");
    CHECK_FACT(d, "module.2.use_residual", "false", "default of schema st.dense/1");
    CHECK_FACT(d, "module.1.type", "\"sentence_transformers.models.Pooling\"", "modules.json");
    kit_close(d);
}

TEST(class_paths_of_all_releases)
{
    static const struct kit_fault edits[] = {
        KIT_FAULT("modules.json", "models.Transformer", "models.Transformer.Transformer", 0),
        KIT_FAULT("modules.json", "models.Transformer", "base.modules.transformer.Transformer", 0),
        KIT_FAULT("modules.json", "models.Transformer", "base.modules.Transformer", 0),
        KIT_FAULT("modules.json", "models.Pooling", "sentence_transformer.modules.pooling.Pooling", 0),
        KIT_FAULT("modules.json", "models.Pooling", "sentence_transformer.modules.Pooling", 0),
        KIT_FAULT("modules.json", "models.Dense", "base.modules.dense.Dense", 0),
        KIT_FAULT("modules.json", "models.Normalize", "sentence_transformer.modules.normalize.Normalize", 0),
        KIT_FAULT("modules.json", "models.Normalize", "base.modules.normalize.Normalize", 0),
        KIT_FAULT("modules.json", "\"type\"", "\"kwargs\": [], \"type\"", 0),
    };
    KIT_HARMLESS(edits);
}

TEST(module_refusals)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("modules.json", "models.Normalize", "models.LSTM", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json",
                  "/3", "module 3 (sentence_transformers.models.LSTM in 3_Normalize)", "LSTM", "Transformer, Pooling",
                  "recurrent layer"),
        KIT_FAULT("modules.json", "models.Normalize", "models.WeightedLayerPooling", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "modules.json", "/3", "module 3", NULL, NULL, "weighted sum"),
        KIT_FAULT("modules.json", "models.Normalize", "sparse_encoder.models.SpladePooling", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "modules.json", "/3", "head over the vocabulary", NULL, "MLMTransformer"),
        KIT_FAULT("modules.json", "models.Normalize", "sparse_encoder.models.SparseAutoEncoder", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "modules.json", "/3", "does not implement"),
        KIT_FAULT("modules.json", "models.Normalize", "models.Frobnicate", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "modules.json", "/3", "never heard of", "models.Frobnicate"),
        KIT_FAULT("modules.json", "models.Normalize", "elsewhere.Normalize", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "modules.json", "/3", "never heard of"),
        KIT_FAULT("modules.json", "sentence_transformers.models.Normalize", "my_code.Normalize", TN_BLOCKER,
                  TN_CUSTOM_CODE_DENIED, "modules.json", "/3", "module 3 (my_code.Normalize in 3_Normalize)"),
        KIT_FAULT("modules.json", "sentence_transformers.models.Normalize", "Normalize", TN_BLOCKER,
                  TN_CUSTOM_CODE_DENIED, "modules.json", "/3", "outside sentence_transformers"),
        KIT_FAULT("modules.json", "\"type\": \"sentence_transformers.models.Normalize\"", "\"type\": 3", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "modules.json", "/3/type", "wrong type", "3", "a string"),
        KIT_FAULT("modules.json", ", \"type\": \"sentence_transformers.models.Normalize\"", "", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "modules.json", "/3/type", "is missing", "nothing"),
        KIT_FAULT("modules.json", "\"path\": \"3_Normalize\", ", "", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json",
                  "/3/path", "is missing"),
        KIT_FAULT("modules.json", "\"idx\": 3", "\"extra\": 1, \"idx\": 3", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "modules.json", "/3/extra", "unknown field", "1", NULL, "--descriptive /3/extra"),
        KIT_FAULT("modules.json", "\"idx\": 3", "\"kwargs\": [\"task\"], \"idx\": 3", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "modules.json", "/3/kwargs", "would change answers", "task", "[]"),
        KIT_FAULT("modules.json", "\"name\": \"3\"", "\"name\": \"2\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "modules.json", "/3/name", "one name", "\"2\" twice"),
        KIT_FAULT("modules.json", "\"idx\": 3", "\"idx\": 5", TN_WARNING, TN_UNSUPPORTED_CONFIG, "modules.json",
                  "/3/idx", "the module's place", "5", "3"),
        KIT_FAULT("modules.json", "models.Normalize", "models.Transformer", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "modules.json", "/3", "not the first and only encoder"),
        KIT_FAULT("modules.json", "models.Normalize", "models.Pooling", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "modules.json", "/3", "directly behind token rows"),
    };
    KIT_RUN(faults);
}

/* By the inventory, which looks at the same names; the description does not repeat it, and both know the place. */
TEST(a_path_that_leaves_is_told_once)
{
    static const char *const paths[] = {"/etc", "../x", "a/../../x", "a\\\\b", "x\\u0000y"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        for (int module = 1; module < 4; module++) {
            static const char *const names[] = {"", "1_Pooling", "2_Dense", "3_Normalize"};
            char from[64], to[64], element[32];
            snprintf(from, sizeof(from), "\"path\": \"%s\"", names[module]);
            snprintf(to, sizeof(to), "\"path\": \"%s\"", paths[i]);
            snprintf(element, sizeof(element), "/%d/path", module);
            kit_new();
            kit_edit("modules.json", from, to);
            struct tn_description *d = kit_describe();
            REQUIRE(d);
            CHECK_INT(kit_inventory->findings.blockers, 1);
            CHECK_INT(d->findings.blockers, 0);
            const struct tn_finding *f = EXPECT(kit_inventory, TN_PATH_ESCAPE, "file name in the package is refused", "modules.json");
            CHECK_STR(f->element, element);
            kit_close(d);
        }
    }
}

TEST(lists_that_are_none)
{
    kit_new();
    kit_put("modules.json", "[]");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json", "", "no modules");
    kit_close(d);
    kit_put("modules.json", "{}");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json", "", "not a JSON array", "object", "array");
    kit_close(d);
    kit_put("modules.json", "[1]");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json", "/0", "no object", "1");
    kit_close(d);
}

TEST(more_modules_than_the_limit)
{
    char list[8192];
    size_t n = (size_t)snprintf(list, sizeof(list), "[");
    for (int i = 0; i < 65; i++) n += (size_t)snprintf(list + n, sizeof(list) - n, "%s{\"name\": \"%d\"}", i ? ", " : "", i);
    snprintf(list + n, sizeof(list) - n, "]");
    kit_new();
    kit_put("modules.json", list);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_RESOURCE_LIMIT, "modules.json", NULL, "more modules", "65", "1 to 64");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

TEST(broken_module_document_is_told_by_the_inventory)
{
    kit_new();
    kit_put("2_Dense/config.json", "{\"in_features\": 8, \"in_features\": 9}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(d->findings.blockers + kit_inventory->findings.blockers > 0);
    kit_close(d);
}

TEST(encoder_in_a_subfolder)
{
    kit_new();
    kit_edit("modules.json", "\"path\": \"\"", "\"path\": \"0_Transformer\"");
    kit_put("0_Transformer/config.json", KIT_CONFIG);
    kit_put("0_Transformer/tokenizer.json", KIT_TOKENIZER);
    kit_put("0_Transformer/tokenizer_config.json", KIT_TOKENIZER_CONFIG);
    kit_put("0_Transformer/sentence_bert_config.json", "{\"max_seq_length\": 12}");
    put_tensor(kit_name("0_Transformer/model.safetensors"), "x");
    kit_remove("model.safetensors");
    kit_remove("config.json");
    kit_remove("tokenizer.json");
    kit_remove("tokenizer_config.json");
    kit_remove("sentence_bert_config.json");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    CHECK_TSTR(d->components[0].folder, "0_Transformer");
    CHECK_TSTR(d->tokenizer.tokenizer_json, "0_Transformer/tokenizer.json");
    CHECK_INT(d->max_seq_length, 12);
    kit_close(d);
}

/* ---- the Transformer module ------------------------------------------------------------------------------------- */

TEST(transformer_module_refusals)
{
    static const struct kit_fault faults[] = {
#define ADD(text, ...)                                                                             \
    KIT_FAULT("sentence_bert_config.json", "\"do_lower_case\": false", "\"do_lower_case\": false, " text, __VA_ARGS__)
        ADD("\"model_args\": {\"torch_dtype\": \"float16\"}", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
            "sentence_bert_config.json", "/model_args", "would change answers", "float16", "{}"),
        ADD("\"tokenizer_args\": {\"x\": 1}", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json",
            "/tokenizer_args", "would change answers"),
        ADD("\"query_length\": 32", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/query_length"),
        ADD("\"transformer_task\": \"text-generation\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json",
            "/transformer_task", "does not implement", "text-generation", "feature-extraction"),
        ADD("\"transformer_task\": \"fill-mask\"", TN_BLOCKER, TN_TASK_HEAD_MISMATCH, "modules.json", "/0", "asks for a head", "fill-mask",
            "ForMaskedLM"),
        ADD("\"module_output_name\": \"sentence_embedding\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
            "sentence_bert_config.json", "/module_output_name", "does not implement"),
        ADD("\"modality_config\": {\"image\": {\"method\": \"forward\", \"method_output_name\": \"x\"}}", TN_BLOCKER,
            TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/modality_config", "something else than text", "image",
            "last_hidden_state"),
        ADD("\"modality_config\": {\"text\": {\"method\": \"forward\", \"method_output_name\": \"pooler_output\"}}",
            TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/modality_config", "module 0"),
        ADD("\"frobnicate\": 1", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/frobnicate",
            "unknown field"),
#undef ADD
        KIT_FAULT("sentence_bert_config.json", "16", "\"16\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "sentence_bert_config.json", "/max_seq_length", "wrong type", "\"16\"", "whole number"),
        KIT_FAULT("sentence_bert_config.json", "16", "0", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "sentence_bert_config.json", "/max_seq_length", "out of range"),
        KIT_FAULT("sentence_bert_config.json", "\"do_lower_case\": false", "\"do_lower_case\": 0", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/do_lower_case", "wrong type"),
    };
    KIT_RUN(faults);
}

TEST(newer_transformer_file)
{
    kit_new();
    kit_put("sentence_bert_config.json",
            "{\"transformer_task\": \"feature-extraction\", \"modality_config\": {\"text\": {\"method\": \"forward\", "
            "\"method_output_name\": \"last_hidden_state\"}}, \"module_output_name\": \"token_embeddings\"}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_INT(d->max_seq_length, 32);
    kit_close(d);
}

/* The first file in the library's order that holds something. */
TEST(older_names_of_the_transformer_file)
{
    kit_new();
    kit_remove("sentence_bert_config.json");
    kit_put("sentence_roberta_config.json", "{}");
    kit_put("sentence_distilbert_config.json", "{\"max_seq_length\": 7}");
    kit_put("sentence_xlnet_config.json", "{\"max_seq_length\": 9}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_INT(d->max_seq_length, 7);
    CHECK_FACT(d, "module.0.max_seq_length", "7", "sentence_distilbert_config.json");
    kit_close(d);
}

/* ---- pooling ---------------------------------------------------------------------------------------------------- */

static void check_pooling(const char *config, const char *modules, const enum tn_pooling *modes, uint32_t count)
{
    kit_new();
    kit_put("1_Pooling/config.json", config);
    kit_put("modules.json", modules);
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 2);
    KIT_CLEAN(d);
    CHECK_INT(d->modules[1].pooling_count, count);
    for (uint32_t i = 0; i < count; i++) CHECK_INT(d->modules[1].pooling[i], modes[i]);
    CHECK_INT(d->modules[1].out_features, 8 * count);
    kit_close(d);
}

TEST(pooling_shapes)
{
    static const char *const modules =
        "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_Pooling", "Pooling") "]";
    static const enum tn_pooling all[] = {TN_POOLING_CLS,           TN_POOLING_MAX,           TN_POOLING_MEAN,
                                          TN_POOLING_MEAN_SQRT_LEN, TN_POOLING_WEIGHTED_MEAN, TN_POOLING_LAST_TOKEN};
    static const enum tn_pooling two[] = {TN_POOLING_LAST_TOKEN, TN_POOLING_CLS};
    /* flags in another order than the library's: its own order counts */
    check_pooling("{\"pooling_mode_lasttoken\": true, \"pooling_mode_weightedmean_tokens\": true, "
                  "\"pooling_mode_mean_sqrt_len_tokens\": true, \"pooling_mode_mean_tokens\": true, "
                  "\"pooling_mode_max_tokens\": true, \"pooling_mode_cls_token\": true, \"word_embedding_dimension\": 8}",
                  modules, all, 6);
    check_pooling("{\"embedding_dimension\": 8, \"pooling_mode\": [\"lasttoken\", \"cls\"]}", modules, two, 2);
    check_pooling("{\"embedding_dimension\": 8, \"pooling_mode\": \"lasttoken\"}", modules, two, 1);
    check_pooling("{\"embedding_dimension\": 8, \"pooling_mode\": [\"max\"]}", modules, all + 1, 1);
    /* nothing on: the mean */
    check_pooling("{\"word_embedding_dimension\": 8, \"pooling_mode_mean_tokens\": false}", modules, all + 2, 1);
    check_pooling("{\"word_embedding_dimension\": 8}", modules, all + 2, 1);
    /* both shapes in one file: pooling_mode stands */
    check_pooling("{\"embedding_dimension\": 8, \"pooling_mode\": \"cls\", \"pooling_mode_mean_tokens\": true}", modules,
                  all, 1);
    check_pooling("{\"embedding_dimension\": 8, \"word_embedding_dimension\": 8, \"pooling_mode\": \"cls\"}", modules, all,
                  1);
}

TEST(pooling_prompt_switch)
{
    kit_new();
    kit_edit("1_Pooling/config.json", "\"word_embedding_dimension\"", "\"include_prompt\": false, \"word_embedding_dimension\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 4);
    KIT_CLEAN(d);
    CHECK(!d->modules[1].include_prompt);
    kit_close(d);
}

TEST(pooling_refusals)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("1_Pooling/config.json", "\"word_embedding_dimension\": 8, ", "", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "1_Pooling/config.json", "/embedding_dimension", "is missing", "nothing"),
        KIT_FAULT("1_Pooling/config.json", "8", "9", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "1_Pooling/config.json",
                  "/embedding_dimension", "module 1 (sentence_transformers.models.Pooling in 1_Pooling)",
                  "embedding_dimension 9", "8, the width"),
        KIT_FAULT("1_Pooling/config.json", "8", "4, \"embedding_dimension\": 8", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "1_Pooling/config.json", "/word_embedding_dimension", "one field", "8 and 4"),
        KIT_FAULT("1_Pooling/config.json", "8", "8, \"pooling_mode\": \"median\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "1_Pooling/config.json", "/pooling_mode", "mode that is not known", "median", "\"weightedmean\""),
        KIT_FAULT("1_Pooling/config.json", "8", "8, \"pooling_mode\": [\"cls\", \"cls\"]", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "1_Pooling/config.json", "/pooling_mode/1", "twice"),
        KIT_FAULT("1_Pooling/config.json", "8", "8, \"pooling_mode\": []", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "1_Pooling/config.json", "/pooling_mode", "no pooling mode"),
        KIT_FAULT("1_Pooling/config.json", "8", "8, \"pooling_mode\": [3]", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "1_Pooling/config.json", "/pooling_mode/0", "no string", "3"),
        KIT_FAULT("1_Pooling/config.json", "8", "8, \"pooling_mode\": null", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "1_Pooling/config.json", "/pooling_mode", "no string", "null"),
        KIT_FAULT("1_Pooling/config.json", "\"pooling_mode_mean_tokens\": true", "\"pooling_mode_mean_tokens\": 1",
                  TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "1_Pooling/config.json", "/pooling_mode_mean_tokens", "wrong type",
                  "1", "true or false"),
        KIT_FAULT("1_Pooling/config.json", "8", "8, \"pooling_mode_attention\": true", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "1_Pooling/config.json", "/pooling_mode_attention", "unknown field"),
    };
    KIT_RUN(faults);
}

/* Releases to 5.3 took the absent flag as true, later ones as false. */
TEST(pooling_flag_that_two_releases_read_differently)
{
    kit_new();
    kit_put("1_Pooling/config.json", "{\"word_embedding_dimension\": 8, \"pooling_mode_cls_token\": true}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "1_Pooling/config.json", "/pooling_mode_mean_tokens",
               "whether the mean", "nothing", "since 5.4", "add \"pooling_mode_mean_tokens\"");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

TEST(pooling_without_its_file)
{
    kit_new();
    kit_remove("1_Pooling/config.json");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, "1_Pooling/config.json", "1", "module 1", NULL, NULL, "download");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

/* ---- Dense ------------------------------------------------------------------------------------------------------ */

TEST(dense_activations)
{
    static const char *const rows[][2] = {
        {"torch.nn.modules.linear.Identity", "identity"},      {"torch.nn.Identity", "identity"},
        {"torch.nn.modules.activation.ReLU", "relu"},          {"torch.nn.modules.activation.ReLU6", "relu6"},
        {"torch.nn.modules.activation.LeakyReLU", "leaky_relu"}, {"torch.nn.modules.activation.ELU", "elu"},
        {"torch.nn.modules.activation.GELU", "gelu"},          {"torch.nn.modules.activation.SiLU", "silu"},
        {"torch.nn.modules.activation.Mish", "mish"},          {"torch.nn.modules.activation.Sigmoid", "sigmoid"},
        {"torch.nn.modules.activation.Softplus", "softplus"},  {"torch.nn.modules.activation.Hardtanh", "hard_tanh"},
        {"torch.nn.Tanh", "tanh"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        kit_new();
        kit_edit("2_Dense/config.json", "torch.nn.modules.activation.Tanh", rows[i][0]);
        struct tn_description *d = kit_describe();
        REQUIRE(d && d->module_count == 4);
        KIT_CLEAN(d);
        CHECK_TSTR(d->modules[2].activation, rows[i][1]);
        kit_close(d);
    }
    kit_new();
    kit_edit("2_Dense/config.json", ", \"activation_function\": \"torch.nn.modules.activation.Tanh\"", "");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 4);
    KIT_CLEAN(d);
    CHECK_TSTR(d->modules[2].activation, "tanh");
    CHECK_FACT(d, "module.2.activation_function", "\"torch.nn.modules.activation.Tanh\"",
               "default of schema st.dense/1");
    kit_close(d);
}

TEST(dense_refusals)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("2_Dense/config.json", "activation.Tanh", "activation.Softmax", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "2_Dense/config.json", "/activation_function", "module 2", "activation.Softmax", "Tanh, ReLU"),
        KIT_FAULT("2_Dense/config.json", "torch.nn.modules.activation.Tanh", "my.code.Tanh", TN_BLOCKER,
                  TN_CUSTOM_CODE_DENIED, "2_Dense/config.json", "/activation_function", "outside torch.nn",
                  "my.code.Tanh"),
        KIT_FAULT("2_Dense/config.json", "torch.nn.modules.activation.Tanh", "torch.tanh", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", "/activation_function", "does not implement"),
        KIT_FAULT("2_Dense/config.json", "\"torch.nn.modules.activation.Tanh\"", "null", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", "/activation_function", "wrong type", "null"),
        KIT_FAULT("2_Dense/config.json", "\"in_features\": 8", "\"in_features\": 6", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "2_Dense/config.json", "/in_features", "does not fit the module before it", "in_features 6",
                  "8, the width"),
        KIT_FAULT("2_Dense/config.json", "\"out_features\": 4", "\"out_features\": 5", TN_BLOCKER, TN_TENSOR_MISMATCH,
                  "2_Dense/model.safetensors", "linear.weight", "another shape", "[4, 8]", "[5, 8]"),
        KIT_FAULT("2_Dense/config.json", "\"out_features\": 4, ", "", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "2_Dense/config.json", "/out_features", "is missing"),
        KIT_FAULT("2_Dense/config.json", "\"bias\": true", "\"bias\": false", TN_BLOCKER, TN_UNEXPECTED_TENSOR,
                  "2_Dense/model.safetensors", "linear.bias", "nothing reads"),
        KIT_FAULT("2_Dense/config.json", "\"bias\": true", "\"bias\": true, \"use_residual\": true", TN_BLOCKER,
                  TN_MISSING_TENSOR, "2_Dense/model.safetensors", "residual.weight", "lacks a tensor"),
        KIT_FAULT("2_Dense/config.json", "\"bias\": true", "\"bias\": true, \"init_weight\": null", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", "/init_weight", "unknown field"),
        KIT_FAULT("2_Dense/config.json", "\"bias\": true", "\"bias\": true, \"module_input_name\": \"token_embeddings\"",
                  TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", "/module_input_name", "behind the pooling",
                  "token_embeddings", "sentence_embedding"),
        KIT_FAULT("2_Dense/config.json", "\"bias\": true", "\"bias\": true, \"module_input_name\": \"elsewhere\"",
                  TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", "/module_input_name", "does not implement",
                  "elsewhere", "sentence_embedding"),
        KIT_FAULT("2_Dense/config.json", "\"bias\": true", "\"bias\": true, \"module_output_name\": \"token_embeddings\"",
                  TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", "/module_output_name",
                  "writes another feature", "token_embeddings", "sentence_embedding"),
        KIT_FAULT("modules.json", "\"1_Pooling\", \"type\": \"sentence_transformers.models.Pooling\"",
                  "\"2_Dense\", \"type\": \"sentence_transformers.models.Dense\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "2_Dense/config.json", "/module_input_name", "stands before the pooling", "sentence_embedding",
                  "token_embeddings"),
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        /* a changed width or shape can concern both tensors */
        kit_new();
        kit_edit(faults[i].name, faults[i].from, faults[i].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        kit_expect(d, faults[i].expected, faults[i].file, faults[i].line);
        kit_close(d);
    }
}

TEST(dense_without_weights)
{
    kit_new();
    kit_remove("2_Dense/model.safetensors");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, "2_Dense/model.safetensors", "2",
               "module 2 (sentence_transformers.models.Dense in 2_Dense) has no weights", "nothing",
               "2_Dense/model.safetensors", "download");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
    static const unsigned char pickle[] = {0x80, 2, '}', 'q', 0, '.'};
    put_bytes(kit_name("2_Dense/pytorch_model.bin"), pickle, sizeof(pickle));
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, "2_Dense/model.safetensors", "2", "only as a pickle",
               "2_Dense/pytorch_model.bin", NULL, "safe_serialization");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

TEST(dense_tensors_of_another_kind)
{
    static const char *const headers[][4] = {
        {"{\"linear.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[0,128]}}", "128", "linear.bias",
         "lacks a tensor"},
        {"{\"linear.bias\":{\"dtype\":\"F32\",\"shape\":[4,1],\"data_offsets\":[0,16]},"
         "\"linear.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[16,144]}}",
         "144", "linear.bias", "another shape"},
        {"{\"linear.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
         "\"linear.weight\":{\"dtype\":\"I8\",\"shape\":[4,8],\"data_offsets\":[16,48]}}",
         "48", "linear.weight", "another type"},
        {"{\"linear.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
         "\"linear.weight\":{\"dtype\":\"F32\",\"shape\":[32],\"data_offsets\":[16,144]}}",
         "144", "linear.weight", "another shape"},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        kit_new();
        put_safetensors(kit_name("2_Dense/model.safetensors"), headers[i][0], (uint64_t)atoi(headers[i][1]));
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        enum tn_status code = i == 0 ? TN_MISSING_TENSOR : TN_TENSOR_MISMATCH;
        KIT_EXPECT(d, TN_BLOCKER, code, "2_Dense/model.safetensors", headers[i][2], headers[i][3]);
        CHECK_INT(d->findings.blockers, 1);
        kit_close(d);
    }
}

TEST(dense_without_its_file)
{
    kit_new();
    kit_remove("2_Dense/config.json");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, "2_Dense/config.json", "2", "module 2", NULL, NULL, "download");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

TEST(dense_residual_and_tokens)
{
    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "2_Dense", "Dense") ", " KIT_MODULE(
                                "2", "1_Pooling", "Pooling") "]");
    kit_put("1_Pooling/config.json", "{\"embedding_dimension\": 4, \"pooling_mode\": \"mean\"}");
    kit_edit("2_Dense/config.json", "\"bias\": true",
             "\"bias\": false, \"use_residual\": true, \"module_input_name\": \"token_embeddings\", "
             "\"module_output_name\": \"token_embeddings\"");
    put_safetensors(kit_name("2_Dense/model.safetensors"),
                    "{\"linear.weight\":{\"dtype\":\"F16\",\"shape\":[4,8],\"data_offsets\":[0,64]},"
                    "\"residual.weight\":{\"dtype\":\"BF16\",\"shape\":[4,8],\"data_offsets\":[64,128]}}",
                    128);
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 3);
    KIT_CLEAN(d);
    CHECK(d->modules[1].on_tokens && d->modules[1].residual && !d->modules[1].bias);
    REQUIRE(d->modules[1].residual_weight != NULL);
    CHECK_TSTR(d->modules[1].residual_weight->name, "residual.weight");
    CHECK(d->modules[1].bias_tensor == NULL);
    CHECK_INT(d->modules[2].in_features, 4);
    kit_close(d);
}

/* ---- LayerNorm, Normalize, Dropout ------------------------------------------------------------------------------ */

#define NORM_MODULES                                                                               \
    "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_Pooling", "Pooling") ", "       \
    KIT_MODULE("2", "2_LayerNorm", "LayerNorm") ", " KIT_MODULE("3", "3_Dropout", "Dropout") ", "  \
    KIT_MODULE("4", "4_Normalize", "Normalize") "]"

static void norm_package(void)
{
    kit_new();
    kit_put("modules.json", NORM_MODULES);
    kit_put("2_LayerNorm/config.json", "{\"dimension\": 8}");
    kit_put("3_Dropout/config.json", "{\"dropout\": 0.2}");
    put_safetensors(kit_name("2_LayerNorm/model.safetensors"),
                    "{\"norm.bias\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]},"
                    "\"norm.weight\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[32,64]}}",
                    64);
}

TEST(layer_norm_and_dropout)
{
    norm_package();
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 4);
    KIT_CLEAN(d);
    CHECK_INT(d->modules[2].kind, TN_MODULE_LAYER_NORM);
    CHECK_NEAR(d->modules[2].eps, 1e-5, 0);
    REQUIRE(d->modules[2].weight && d->modules[2].bias_tensor);
    CHECK_INT(d->modules[3].kind, TN_MODULE_NORMALIZE);
    CHECK_INT(d->modules[3].index, 4);
    CHECK_FACT(d, "module.3.effect", "\"none at inference\"", "modules.json");
    CHECK_FACT(d, "module.2.eps", "1e-5", "default of schema st.layer_norm/1");
    kit_close(d);
}

TEST(layer_norm_refusals)
{
    norm_package();
    kit_put("2_LayerNorm/config.json", "{\"dimension\": 7, \"eps\": 1e-6}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "2_LayerNorm/config.json", "/dimension", "does not fit",
               "dimension 7", "8, the width");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "2_LayerNorm/config.json", "/eps", "unknown field");
    kit_close(d);
    norm_package();
    put_tensor(kit_name("2_LayerNorm/model.safetensors"), "norm.weight");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_TENSOR_MISMATCH, "2_LayerNorm/model.safetensors", "norm.weight", "module 2", "[2, 2]",
               "[8]");
    KIT_EXPECT(d, TN_BLOCKER, TN_MISSING_TENSOR, "2_LayerNorm/model.safetensors", "norm.bias", "module 2");
    kit_close(d);
    norm_package();
    kit_remove("2_LayerNorm/config.json");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, "2_LayerNorm/config.json", "2", "module 2");
    kit_close(d);
}

TEST(normalize_sides)
{
    kit_new();
    kit_put("3_Normalize/config.json", "{\"module_input_name\": \"sentence_embedding\", \"module_output_name\": null}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
    kit_put("3_Normalize/config.json", "{\"module_input_name\": \"token_embeddings\", \"p\": 1}");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "3_Normalize/config.json", "/module_input_name",
               "behind the pooling");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "3_Normalize/config.json", "/p", "unknown field");
    kit_close(d);
}

/* Some packages give Normalize the encoder's folder, whose configuration is not its own. */
TEST(normalize_in_the_encoders_folder)
{
    kit_new();
    kit_edit("modules.json", "\"path\": \"3_Normalize\"", "\"path\": \"\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 4);
    KIT_CLEAN(d);
    CHECK_INT(d->modules[3].kind, TN_MODULE_NORMALIZE);
    CHECK(!d->modules[3].on_tokens);
    kit_close(d);
}

TEST(sentence_modules_before_the_pooling)
{
    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "3_Normalize", "Normalize") "]");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json", "/1", "stands before the pooling");
    kit_close(d);
}

TEST(chain_without_encoder)
{
    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "1_Pooling", "Pooling") ", " KIT_MODULE("1", "2_Dense", "Dense") "]");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json", "/0", "directly behind token rows");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
    kit_put("modules.json", "[" KIT_MODULE("0", "3_Normalize", "Normalize") ", " KIT_MODULE("1", "1_Pooling", "Pooling") "]");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "modules.json", "/0", "module 0");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}
