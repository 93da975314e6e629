/*
 * What the families after the first three refuse, and how long a text may be: one edit of a good package's configuration
 * and the finding that follows, by code, place and words; whether the description finds it or the binding does.
 */
#include "native_fixture.h"

struct fault {
    const char *package, *file, *from, *to;
    enum tn_status code;
    const char *place;   /* JSON pointer, or the tensor's name */
    const char *message; /* part of it */
    const char *text;    /* part of what was found or expected; NULL: not looked at */
    int line;
};
#define FAULT_IN(package, file, from, to, ...) {(package), (file), (from), (to), __VA_ARGS__, __LINE__}
#define FAULT(package, from, to, ...) FAULT_IN(package, "config.json", from, to, __VA_ARGS__)

/* A copy of the package with the first occurrence of `from` replaced. */
static const char *edited(const char *package, const char *file, const char *from, const char *to)
{
    static char folder[512];
    char command[2048], path[1024];
    size_t n;
    snprintf(folder, sizeof(folder), "%s/%s", test_folder(), package);
    snprintf(command, sizeof(command), "rm -rf '%s' && cp -r '%s/%s' '%s'", folder, test_path("golden/packages"), package, folder);
    if (system(command) != 0) test_skip("cp does not work here");
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    char *text = test_read_file(path, &n), *at = text ? strstr(text, from) : NULL;
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s does not hold %s", path, from);
        free(text);
        return folder;
    }
    struct { char *s; size_t n; } out = {malloc(n + strlen(to) + 1), 0};
    size_t head = (size_t)(at - text);
    memcpy(out.s, text, head);
    memcpy(out.s + head, to, strlen(to));
    memcpy(out.s + head + strlen(to), at + strlen(from), n - head - strlen(from));
    out.n = n - strlen(from) + strlen(to);
    test_write_file(path, out.s, out.n);
    free(out.s);
    free(text);
    return folder;
}

static bool has(const char *text, const char *part)
{
    return !part || strstr(text, part) != NULL;
}

static bool listed(const struct tn_findings *list, const struct fault *fault)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        if (f->severity != TN_BLOCKER || f->code != fault->code || strcmp(f->element, fault->place) != 0) continue;
        if (has(f->message, fault->message) && (has(f->found, fault->text) || has(f->expected, fault->text))) return true;
    }
    return false;
}

static void print(const struct tn_findings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        fprintf(stderr, "    %s at %s: %s; found %s; expected %s\n", tn_status_name(f->code), f->element, f->message, f->found,
                f->expected);
    }
}

static void run(const struct fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct fault *fault = &faults[i];
        struct fixture x;
        const char *folder = edited(fault->package, fault->file, fault->from, fault->to);
        if (fixture_assess(&x, folder, "f32", 1)) {
            test_fail(__FILE__, fault->line, "%s with %s is not refused", fault->package, fault->to);
        } else if (!listed(&x.d->findings, fault) && !listed(&x.assessment.findings, fault)) {
            test_fail(__FILE__, fault->line, "%s with %s: no %s at %s with \"%s\" among:", fault->package, fault->to,
                      tn_status_name(fault->code), fault->place, fault->message);
            print(&x.d->findings);
            print(&x.assessment.findings);
        }
        fixture_close(&x);
    }
}
#define RUN(faults) run((faults), sizeof(faults) / sizeof((faults)[0]))

TEST(roberta)
{
    static const struct fault faults[] = {
        FAULT("roberta_mean_normalize", "\"pad_token_id\": 1", "\"pad_token_id\": null", TN_UNSUPPORTED_CONFIG,
              "/pad_token_id", "wrong type", NULL),
        FAULT("roberta_mean_normalize", "\"pad_token_id\": 1", "\"pad_token_id\": 4000", TN_UNSUPPORTED_CONFIG,
              "/pad_token_id", "outside the vocabulary", "less than vocab_size"),
        FAULT("roberta_mean_normalize", "\"is_decoder\": false", "\"is_decoder\": true", TN_UNSUPPORTED_CONFIG,
              "/is_decoder", "would change answers", "false"),
        FAULT("roberta_mean_normalize", "\"max_position_embeddings\": 66", "\"max_position_embeddings\": 67",
              TN_TENSOR_MISMATCH, "embeddings.position_embeddings.weight", "shape does not fit", "[67, 32]"),
        FAULT("roberta_mean_normalize", "\"type_vocab_size\": 1", "\"type_vocab_size\": 2", TN_TENSOR_MISMATCH,
              "embeddings.token_type_embeddings.weight", "shape does not fit", "[2, 32]"),
        FAULT("xlm_roberta_mean_normalize", "\"use_cache\"", "\"position_embedding_type\": \"relative_key\", \"use_cache\"",
              TN_UNSUPPORTED_CONFIG, "/position_embedding_type", "not implement", "absolute"),
    };
    RUN(faults);
}

TEST(electra)
{
    static const struct fault faults[] = {
        FAULT("electra_mean_normalize", "\"embedding_size\": 20", "\"embedding_size\": 36", TN_UNEXPECTED_TENSOR,
              "embeddings_project.weight", "this configuration does not have", "embedding_size other than hidden_size"),
        FAULT("electra_same_width", "\"embedding_size\": 16", "\"embedding_size\": 15", TN_MISSING_TENSOR,
              "embeddings_project.weight", "no tensor for role", NULL),
        FAULT("electra_mean_normalize", "\"embedding_size\": 20", "\"embedding_size\": 21", TN_TENSOR_MISMATCH,
              "embeddings.word_embeddings.weight", "shape does not fit embedding_size", "21 (embedding_size of "),
    };
    RUN(faults);
}

TEST(modernbert_tensors)
{
    static const struct fault faults[] = {
        FAULT("modernbert_mean_normalize", "\"attention_bias\": false", "\"attention_bias\": true", TN_MISSING_TENSOR,
              "layers.0.attn.Wqkv.bias", "no tensor for role", NULL),
        FAULT("modernbert_mean_normalize", "\"mlp_bias\": false", "\"mlp_bias\": true", TN_MISSING_TENSOR,
              "layers.4.mlp.Wi.bias", "no tensor for role", NULL),
        FAULT("modernbert_biases", "\"norm_bias\": true", "\"norm_bias\": false", TN_UNEXPECTED_TENSOR,
              "model.layers.1.attn_norm.bias", "this configuration does not have", "norm_bias"),
        FAULT("modernbert_biases", "\"attention_bias\": true", "\"attention_bias\": false", TN_UNEXPECTED_TENSOR,
              "model.layers.2.attn.Wo.bias", "this configuration does not have", "attention_bias"),
        FAULT("modernbert_mean_normalize", "\"intermediate_size\": 40", "\"intermediate_size\": 44", TN_TENSOR_MISMATCH,
              "layers.0.mlp.Wi.weight", "shape does not fit intermediate_size", "44 (intermediate_size of "),
        FAULT("modernbert_mean_normalize", "\"num_attention_heads\": 3", "\"num_attention_heads\": 16", TN_UNSUPPORTED_CONFIG,
              "/hidden_size", "odd size", "an even size"),
    };
    RUN(faults);
}

TEST(modernbert_kinds_of_layers)
{
    static const struct fault faults[] = {
        FAULT("modernbert_layer_types", "    \"sliding_attention\",\n    \"full_attention\",\n",
              "    \"full_attention\",\n", TN_UNSUPPORTED_CONFIG, "/layer_types", "one entry for each layer", "3 entries"),
        FAULT("modernbert_layer_types", "\"sliding_attention\",", "\"chunked_attention\",", TN_UNSUPPORTED_CONFIG,
              "/layer_types", "not known", "chunked_attention"),
        FAULT("modernbert_layer_types", "\"sliding_attention\",", "7,", TN_UNSUPPORTED_CONFIG, "/layer_types", "wrong type",
              "a list of strings"),
        FAULT("modernbert_old_names", "\"global_attn_every_n_layers\": 2", "\"global_attn_every_n_layers\": 0",
              TN_UNSUPPORTED_CONFIG, "/global_attn_every_n_layers", "out of range", NULL),
    };
    RUN(faults);
}

/* Scaled rotary positions: a rule that is not implemented, a parameter too many or too few, a key that nobody reads. */
TEST(modernbert_rotary)
{
    static const struct fault faults[] = {
        FAULT("modernbert_rope_linear", "\"rope_type\": \"linear\"", "\"rope_type\": \"yarn\"", TN_UNSUPPORTED_CONFIG,
              "/rope_parameters/full_attention/rope_type", "not implement", "\"default\" | \"linear\" | \"llama3\""),
        FAULT("modernbert_rope_linear", "\"rope_type\": \"linear\"", "\"rope_type\": \"default\"", TN_UNSUPPORTED_CONFIG,
              "/rope_parameters/full_attention", "does not read", "factor beside rope_type default"),
        FAULT("modernbert_rope_linear", "\"factor\": 4.0,", "", TN_UNSUPPORTED_CONFIG, "/rope_parameters/full_attention",
              "its rope_type and absent", "factor, for rope_type linear"),
        FAULT("modernbert_rope_linear", "\"factor\": 4.0", "\"factor\": 0", TN_UNSUPPORTED_CONFIG,
              "/rope_parameters/full_attention", "out of range", "factor above 0"),
        FAULT("modernbert_rope_llama3", "\"low_freq_factor\": 1.0,", "", TN_UNSUPPORTED_CONFIG,
              "/rope_parameters/full_attention", "its rope_type and absent", "low_freq_factor"),
        FAULT("modernbert_rope_llama3", "\"low_freq_factor\": 1.0", "\"low_freq_factor\": 9.0", TN_UNSUPPORTED_CONFIG,
              "/rope_parameters/full_attention", "out of range", "high_freq_factor above low_freq_factor"),
        FAULT("modernbert_rope_linear", "\"factor\": 4.0", "\"factor\": 4.0, \"partial_rotary_factor\": 0.5",
              TN_UNSUPPORTED_CONFIG, "/rope_parameters/full_attention/partial_rotary_factor", "unknown field", NULL),
        FAULT("modernbert_rope_scaling", "\"factor\": 2.0", "\"factor\": 2.0, \"mscale\": 1", TN_UNSUPPORTED_CONFIG,
              "/rope_scaling/mscale", "unknown field", NULL),
        FAULT("modernbert_rope_scaling", "\"rope_type\": \"linear\"", "\"rope_type\": \"dynamic\"", TN_UNSUPPORTED_CONFIG,
              "/rope_scaling/rope_type", "not implement", NULL),
        FAULT("modernbert_old_names", "\"local_rope_theta\": 70.0", "\"local_rope_theta\": null", TN_UNSUPPORTED_CONFIG,
              "/local_rope_theta", "wrong type", "a number"),
        FAULT("modernbert_thetas", "\"rope_parameters\"", "\"global_rope_theta\": 7.0, \"rope_parameters\"",
              TN_UNSUPPORTED_CONFIG, "/global_rope_theta", "different values", NULL),
    };
    RUN(faults);
}

TEST(deberta_v2)
{
    static const struct fault faults[] = {
        FAULT("deberta_v2_mean_normalize", "\"position_buckets\"", "\"conv_kernel_size\": 3, \"position_buckets\"",
              TN_UNSUPPORTED_CONFIG, "/conv_kernel_size", "would change answers", "0 | null"),
        FAULT("deberta_v2_mean_normalize", "\"position_buckets\"", "\"attention_head_size\": 32, \"position_buckets\"",
              TN_UNSUPPORTED_CONFIG, "/attention_head_size", "does not give hidden_size", "16"),
        FAULT("deberta_v2_mean_normalize", "\"position_buckets\": 8", "\"position_buckets\": 7.5", TN_UNSUPPORTED_CONFIG,
              "/position_buckets", "no whole number", NULL),
        FAULT("deberta_v2_mean_normalize", "\"position_buckets\": 8", "\"position_buckets\": 1", TN_UNSUPPORTED_CONFIG,
              "/position_buckets", "leaves no distances", "2 or more"),
        FAULT("deberta_v2_mean_normalize", "\"position_buckets\": 8", "\"position_buckets\": 500", TN_UNSUPPORTED_CONFIG,
              "/position_buckets", "leaves no distances", "500 buckets"),
        FAULT("deberta_v2_mean_normalize", "\"position_buckets\": 8", "\"position_buckets\": 9", TN_TENSOR_MISMATCH,
              "encoder.rel_embeddings.weight", "shape does not fit", "[18, 48]"),
        FAULT("deberta_v2_mean_normalize", "    \"p2c\",\n", "    \"p2p\",\n", TN_UNSUPPORTED_CONFIG, "/pos_att_type",
              "not implement", "\"c2p|p2c\""),
        FAULT("deberta_v2_mean_normalize", "\"norm_rel_ebd\": \"layer_norm\"", "\"norm_rel_ebd\": \"none\"",
              TN_UNEXPECTED_TENSOR, "encoder.LayerNorm.weight", "this configuration does not have", "norm_rel_ebd layer_norm"),
        FAULT("deberta_v2_mean_normalize", "\"share_att_key\": true", "\"share_att_key\": false", TN_MISSING_TENSOR,
              "encoder.layer.0.attention.self.pos_key_proj.weight", "no tensor for role", NULL),
        FAULT("deberta_v2_own_projections", "\"relative_attention\": true", "\"relative_attention\": false",
              TN_UNEXPECTED_TENSOR, "encoder.rel_embeddings.weight", "this configuration does not have", "relative_attention"),
        FAULT("deberta_v2_mean_normalize", "\"position_biased_input\": false", "\"position_biased_input\": true",
              TN_MISSING_TENSOR, "embeddings.position_embeddings.weight", "no tensor for role", NULL),
        FAULT("deberta_v2_narrow_embeddings", "\"embedding_size\": 10", "\"embedding_size\": 16", TN_UNEXPECTED_TENSOR,
              "embeddings.embed_proj.weight", "this configuration does not have", "embedding_size other than hidden_size"),
        FAULT("deberta_v2_all_positions", "\"type_vocab_size\": 3", "\"type_vocab_size\": 0", TN_UNEXPECTED_TENSOR,
              "embeddings.token_type_embeddings.weight", "this configuration does not have", "type_vocab_size above 0"),
    };
    RUN(faults);
}

/* ---- tokenizer classes that build their own stages ------------------------------------------------------------------- */

/* A file that says something else than its class builds is refused by stage. */
TEST(stages_of_the_class)
{
    static const char roberta[] = "roberta_own_tokenizer", xlm[] = "xlm_roberta_own_tokenizer";
    static const char deberta[] = "deberta_v2_own_tokenizer", split[] = "deberta_v2_own_tokenizer_split";
    static const char file[] = "tokenizer.json", config[] = "tokenizer_config.json";
    static const struct fault faults[] = {
        FAULT_IN(roberta, file, "\"normalizer\": null", "\"normalizer\": {\"type\": \"Lowercase\"}", TN_UNSUPPORTED_PROCESSOR,
                 "/normalizer", "RobertaTokenizer builds", "none"),
        FAULT_IN(roberta, file, "\"use_regex\": true", "\"use_regex\": false", TN_UNSUPPORTED_PROCESSOR, "/pre_tokenizer",
                 "RobertaTokenizer builds", "ByteLevel"),
        FAULT_IN(roberta, config, "\"add_prefix_space\": false", "\"add_prefix_space\": true", TN_UNSUPPORTED_PROCESSOR,
                 "/pre_tokenizer", "RobertaTokenizer builds", "add_prefix_space"),
        FAULT_IN(roberta, config, "\"trim_offsets\": true", "\"trim_offsets\": false", TN_UNSUPPORTED_PROCESSOR,
                 "/post_processor", "RobertaTokenizer builds", "trim_offsets"),
        FAULT_IN(roberta, file, "\"fuse_unk\": false", "\"fuse_unk\": true", TN_UNSUPPORTED_PROCESSOR, "/model",
                 "RobertaTokenizer builds", "BPE without"),
        FAULT_IN(roberta, file, "\"ignore_merges\": false", "\"ignore_merges\": true", TN_UNSUPPORTED_PROCESSOR, "/model",
                 "RobertaTokenizer builds", "BPE without"),
        FAULT_IN(xlm, file, "\"normalizer\": null", "\"normalizer\": {\"type\": \"NFKC\"}", TN_UNSUPPORTED_PROCESSOR,
                 "/normalizer", "XLMRobertaTokenizer builds", "Precompiled"),
        FAULT_IN(xlm, file, "\"type\": \"WhitespaceSplit\"", "\"type\": \"Whitespace\"", TN_UNSUPPORTED_PROCESSOR,
                 "/pre_tokenizer", "XLMRobertaTokenizer builds", "WhitespaceSplit"),
        FAULT_IN(xlm, file, "\"prepend_scheme\": \"always\"", "\"prepend_scheme\": \"first\"", TN_UNSUPPORTED_PROCESSOR,
                 "/pre_tokenizer", "XLMRobertaTokenizer builds", "Metaspace"),
        FAULT_IN(xlm, file, "\"unk_id\": 3", "\"unk_id\": 1", TN_UNSUPPORTED_PROCESSOR, "/model", "XLMRobertaTokenizer builds",
                 "unk_id 3"),
        FAULT_IN(xlm, config, "\"bos_token\": \"<s>\"", "\"bos_token\": \"</s>\"", TN_UNSUPPORTED_PROCESSOR, "/post_processor",
                 "XLMRobertaTokenizer builds", "<s> A </s>"),
        FAULT_IN(deberta, file, "\"strip_right\": true", "\"strip_right\": false", TN_UNSUPPORTED_PROCESSOR, "/normalizer",
                 "DebertaV2Tokenizer builds", "Strip at the end"),
        FAULT_IN(deberta, config, "\"do_lower_case\": false", "\"do_lower_case\": true", TN_UNSUPPORTED_PROCESSOR,
                 "/normalizer", "DebertaV2Tokenizer builds", "Lowercase if do_lower_case"),
        FAULT_IN(split, config, "\"split_by_punct\": true", "\"split_by_punct\": false", TN_UNSUPPORTED_PROCESSOR,
                 "/pre_tokenizer", "DebertaV2Tokenizer builds", "split_by_punct"),
        FAULT_IN(deberta, file, "\"unk_id\": 3", "\"unk_id\": 0", TN_UNSUPPORTED_PROCESSOR, "/model",
                 "DebertaV2Tokenizer builds", "place of unk_token"),
    };
    RUN(faults);
}

/* The library takes ModernBERT's tokenizer.json as it stands, whatever class the files name. */
TEST(a_generic_class_is_taken_whatever_is_named)
{
    struct fixture x;
    const char *folder = edited("modernbert_thetas", "tokenizer_config.json", "\"TokenizersBackend\"", "\"RobertaTokenizer\"");
    CHECK(fixture_assess(&x, folder, "f32", 1));
    if (x.d) CHECK_INT(x.d->tokenizer.source, TN_TOKENIZER_FILE);
    fixture_close(&x);
}

/* ---- lengths -------------------------------------------------------------------------------------------------------- */

static void check_length(const char *package, const char *file, const char *from, const char *to, uint64_t expected, size_t warnings)
{
    struct fixture x;
    size_t found = 0;
    if (!fixture_assess(&x, edited(package, file, from, to), "f32", 1)) {
        test_fail(__FILE__, __LINE__, "%s with %s: %s", package, to, x.err->primary.message);
    } else {
        CHECK_INT(x.d->max_seq_length, expected);
        for (size_t i = 0; i < x.d->findings.count; i++) found += x.d->findings.items[i].severity == TN_WARNING;
        CHECK_INT(found, warnings);
    }
    fixture_close(&x);
}

/* Positions that count from the padding index leave rows - (padding index + 1); computed positions have no end. */
TEST(lengths_follow_the_position_table)
{
    check_length("roberta_mean_normalize", "tokenizer_config.json", "\"model_max_length\": 64", "\"model_max_length\": 9999", 64, 0);
    check_length("roberta_mean_normalize", "sentence_bert_config.json", "{", "{\"max_seq_length\": 66,", 64, 1);
    check_length("roberta_pad_elsewhere", "sentence_bert_config.json", "{", "{\"max_seq_length\": 35,", 34, 1);
    check_length("roberta_pad_elsewhere", "sentence_bert_config.json", "{", "{\"max_seq_length\": 34,", 34, 0);
    check_length("electra_mean_normalize", "sentence_bert_config.json", "{", "{\"max_seq_length\": 500,", 48, 1);
    check_length("modernbert_mean_normalize", "sentence_bert_config.json", "{", "{\"max_seq_length\": 500,", 500, 0);
    check_length("modernbert_mean_normalize", "tokenizer_config.json", "\"model_max_length\": 160", "\"model_max_length\": 9999", 160, 0);
    check_length("deberta_v2_mean_normalize", "sentence_bert_config.json", "{", "{\"max_seq_length\": 500,", 500, 0);
    check_length("deberta_v2_all_positions", "sentence_bert_config.json", "{", "{\"max_seq_length\": 500,", 48, 1);
}
