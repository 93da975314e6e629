/*
 * The description as a whole: prompts and defaults, lengths, packages without modules, packages that are only
 * recognised, the document, the fingerprint, and what happens when memory runs out at every allocation.
 */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "family/family.h"

#include <dirent.h>

/* ---- config_sentence_transformers.json -------------------------------------------------------------------------- */

TEST(prompts_and_similarity)
{
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->prompt_count == 3);
    KIT_CLEAN(d);
    CHECK_TSTR(d->prompts[0].name, "query");
    CHECK_TSTR(d->prompts[0].text, "Q: ");
    REQUIRE(tn_description_prompt(d, TN_STR("passage")) && tn_description_prompt(d, TN_STR("document")));
    CHECK_TSTR(tn_description_prompt(d, TN_STR("document"))->text, "");
    CHECK(tn_description_prompt(d, TN_STR("nobody")) == NULL);
    CHECK_TSTR(d->default_prompt, "");
    CHECK_TSTR(d->similarity, "cosine");
    CHECK_INT(d->truncate_dim, 0);
    CHECK_FACT(d, "prompt.query", "\"Q: \"", "config_sentence_transformers.json");
    CHECK_FACT(d, "prompt.document", "\"\"", "default of schema st.config/1");
    kit_close(d);

    kit_edit("config_sentence_transformers.json", "\"default_prompt_name\": null",
             "\"default_prompt_name\": \"passage\", \"truncate_dim\": 2");
    d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->default_prompt, "passage");
    CHECK_INT(d->truncate_dim, 2);
    kit_close(d);
}

TEST(package_without_sentence_config)
{
    kit_new();
    kit_remove("config_sentence_transformers.json");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_INT(d->prompt_count, 2);
    CHECK_TSTR(d->similarity, "");
    kit_close(d);
}

TEST(sentence_config_refusals)
{
#define NAME "config_sentence_transformers.json"
    static const struct kit_fault faults[] = {
        KIT_FAULT(NAME, "\"default_prompt_name\": null", "\"default_prompt_name\": \"nobody\"", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, NAME, "/default_prompt_name", "names no prompt", "nobody",
                  "one of query, passage, document"),
        KIT_FAULT(NAME, "\"default_prompt_name\": null", "\"default_prompt_name\": \"\"", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, NAME, "/default_prompt_name", "names no prompt"),
        KIT_FAULT(NAME, "\"cosine\"", "\"maxsim\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, NAME, "/similarity_fn_name",
                  "several vectors", "maxsim", "\"cosine\", \"dot\""),
        KIT_FAULT(NAME, "\"cosine\"", "\"cosine2\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, NAME, "/similarity_fn_name",
                  "does not implement", "cosine2", "\"cosine\" | \"dot\""),
        KIT_FAULT(NAME, "\"Q: \"", "3", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, NAME, "/prompts/query", "is no text",
                  "number", "a string"),
        KIT_FAULT(NAME, "{\"query\": \"Q: \", \"passage\": \"\"}", "[]", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, NAME,
                  "/prompts", "wrong type", "array", "an object"),
        KIT_FAULT(NAME, "\"cosine\"", "\"cosine\", \"truncate_dim\": 0", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, NAME,
                  "/truncate_dim", "out of range"),
        KIT_FAULT(NAME, "\"cosine\"", "\"cosine\", \"frobnicate\": 0", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, NAME,
                  "/frobnicate", "unknown field"),
        KIT_FAULT(NAME, "\"cosine\"", "null, \"model_type\": \"CrossEncoder\"", TN_BLOCKER, TN_TASK_HEAD_MISMATCH,
                  NAME, "/model_type", "runs no head", "CrossEncoder", "sequence-classification"),
        KIT_FAULT(NAME, "\"cosine\"", "\"cosine\", \"model_type\": \"Frobnicator\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  NAME, "/model_type", "not known", "Frobnicator"),
    };
    static const struct kit_fault edits[] = {
        KIT_FAULT(NAME, "\"cosine\"", "null", 0),
        KIT_FAULT(NAME, "\"Q: \"", "null", 0),
        KIT_FAULT(NAME, "\"cosine\"", "\"manhattan\", \"requirements\": {\"transformers\": \">=4\"}", 0),
        KIT_FAULT(NAME, "\"cosine\"", "\"dot\", \"model_type\": \"SentenceTransformer\"", 0),
    };
#undef NAME
    KIT_RUN(faults);
    KIT_HARMLESS(edits);
}

/* ---- lengths ---------------------------------------------------------------------------------------------------- */

static void check_length(const char *module, const char *tokenizer, const char *rows, uint64_t expected)
{
    char text[96];
    kit_new();
    if (module) {
        snprintf(text, sizeof(text), "{\"max_seq_length\": %s}", module);
        kit_put("sentence_bert_config.json", text);
    } else {
        kit_remove("sentence_bert_config.json");
    }
    snprintf(text, sizeof(text), "\"model_max_length\": %s", tokenizer);
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32", text);
    snprintf(text, sizeof(text), "\"max_position_embeddings\": %s", rows);
    kit_edit("config.json", "\"max_position_embeddings\": 32", text);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->max_seq_length, expected);
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);
}

TEST(length_rule)
{
    check_length("16", "32", "64", 16);
    check_length("48", "32", "64", 48); /* the module replaces the tokenizer's number, also by a larger one */
    check_length(NULL, "32", "64", 32);
    check_length("null", "32", "64", 32);
    check_length(NULL, "128", "64", 64);
    check_length(NULL, "1e30", "64", 64);
    check_length("128", "1e30", "64", 64);
}

TEST(length_beyond_the_table_is_a_warning)
{
    kit_new();
    kit_put("sentence_bert_config.json", "{\"max_seq_length\": 100}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_CONFIG, "sentence_bert_config.json", "/max_seq_length",
               "max_seq_length in sentence_bert_config.json is more than the position table of config.json holds", "100",
               "at most 32");
    KIT_EXPECT(d, TN_NOTE, TN_UNSUPPORTED_CONFIG, "tokenizer_config.json", "/model_max_length", "is replaced by");
    CHECK_FACT(d, "max_seq_length", "32", "config.json");
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);
}

/* ---- packages without modules ------------------------------------------------------------------------------------- */

TEST(bare_package_states_no_pooling)
{
    kit_bare();
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    CHECK_TSTR(d->dialect, "transformers");
    CHECK_INT(d->module_count, 0);
    CHECK_INT(d->prompt_count, 0);
    CHECK_INT(d->max_seq_length, 32);
    REQUIRE(d->variant != NULL);
    CHECK_TSTR(d->variant->id, "safetensors");
    CHECK(d->components[0].variant == d->variant);
    kit_close(d);
}

TEST(config_that_is_missing_or_no_object)
{
    kit_new();
    kit_remove("config.json");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, "config.json", "", "nothing says what the weights are");
    CHECK_INT(d->findings.blockers, 1);
    CHECK_INT(d->component_count, 0);
    kit_close(d);
    kit_bare();
    kit_put("config.json", "[]");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "", "not a JSON object", "array", "object");
    kit_close(d);
}

TEST(weights_alone_follow_no_convention)
{
    kit_empty();
    put_tensor(kit_name("model.safetensors"), "x");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNKNOWN_DIALECT, "model.safetensors", "", "no known convention", "1 file,",
               "config.json, or modules.json");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

TEST(no_weights)
{
    kit_bare();
    kit_remove("model.safetensors");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, NULL, NULL, "no weights");
    CHECK_INT(d->component_count, 1);
    kit_close(d);
}

TEST(variants_are_chosen_not_guessed)
{
    kit_bare();
    put_tensor(kit_name("other.safetensors"), "x");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_AMBIGUOUS_PACKAGE, NULL, "variant", "2 variants", NULL, "other.safetensors, safetensors",
               "--variant ID");
    KIT_EXPECT(d, TN_NOTE, TN_OK, NULL, "other.safetensors", "variant other.safetensors");
    kit_close(d);
    kit_options.variant = "other.safetensors";
    d = kit_describe();
    REQUIRE(d && d->variant);
    KIT_CLEAN(d);
    CHECK_TSTR(d->variant->id, "other.safetensors");
    kit_close(d);
    kit_options.variant = "nowhere";
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_INVALID_REQUEST, NULL, "variant", "no variant of this id", "nowhere");
    kit_close(d);
}

TEST(variant_of_another_folder)
{
    kit_new();
    kit_put("elsewhere/config.json", KIT_CONFIG);
    put_tensor(kit_name("elsewhere/model.safetensors"), "x");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->variant);
    KIT_CLEAN(d);
    CHECK_TSTR(d->variant->id, "safetensors");
    kit_close(d);
    kit_options.variant = "elsewhere/safetensors";
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_ARTIFACT_MISSING, NULL, "variant", "does not belong to the encoder's folder",
               "elsewhere/safetensors", "weights in \"\"");
    kit_close(d);
}

/* ---- packages that are only recognised ---------------------------------------------------------------------------- */

TEST(gguf_is_recognised)
{
    static const unsigned char gguf[] = {'G', 'G', 'U', 'F', 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    kit_empty();
    put_bytes(kit_name("model.gguf"), gguf, sizeof(gguf));
    kit_put("config.json", "{\"model_type\": \"llama\"}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->dialect, "gguf");
    KIT_EXPECT(d, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, "model.gguf", "", "the weights are GGUF", "gguf", "safetensors",
               "converted");
    CHECK_INT(d->findings.blockers, 1);
    CHECK_INT(d->component_count, 0);
    kit_close(d);
}

TEST(pickles_are_named_and_the_rest_described)
{
    static const unsigned char pickle[] = {0x80, 2, '}', 'q', 0, '.'};
    kit_new();
    kit_remove("model.safetensors");
    put_bytes(kit_name("pytorch_model.bin"), pickle, sizeof(pickle));
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->dialect, "sentence_transformers");
    KIT_EXPECT(d, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, "pytorch_model.bin", "", "pickled weights, which are never opened",
               "pytorch_pickle", "safetensors", "safe_serialization");
    CHECK_INT(d->findings.blockers, 1);
    CHECK_INT(d->module_count, 4);
    kit_close(d);
}

TEST(diffusers_is_recognised)
{
    kit_empty();
    kit_put("model_index.json", "{\"_class_name\": \"StableDiffusionPipeline\", \"unet\": [\"diffusers\", \"UNet\"]}");
    kit_put("unet/config.json", "{\"_class_name\": \"UNet\"}");
    put_tensor(kit_name("unet/diffusion_pytorch_model.safetensors"), "x");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_TSTR(d->dialect, "diffusers");
    KIT_EXPECT(d, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, NULL, NULL, "a Diffusers pipeline", "diffusers");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

/* ---- the document and the fingerprint ------------------------------------------------------------------------------ */

static char *document_of(const struct tn_description *d)
{
    struct tn_buf buf;
    struct tn_json_writer w;
    size_t n;
    tn_buf_init(&buf, &alloc, 1 << 24);
    tn_jw_init(&w, &buf, false);
    tn_jw_begin_object(&w);
    tn_description_write(&w, d);
    tn_jw_end_object(&w);
    CHECK_INT(tn_buf_status(&buf), TN_OK);
    return tn_buf_take(&buf, &n);
}

static struct tn_digest fingerprint_of(const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_description_fingerprint(d, &h);
    return tn_sha256_finish(&h);
}

TEST(document_is_json_and_deterministic)
{
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    char *a = document_of(d);
    struct tn_json_doc doc;
    CHECK_INT(tn_json_parse(&doc, &alloc, &ctx.limits, TN_STR("out"), tn_str_of(a), err), TN_OK);
    struct tn_json root = tn_json_root(&doc);
    struct tn_str s;
    CHECK(tn_json_str(tn_json_get(root, "dialect"), &s) && tn_str_is(s, "sentence_transformers"));
    CHECK_INT(tn_json_count(tn_json_get(root, "modules")), 4);
    CHECK(tn_json_str(tn_json_find(root, "/modules/2/activation"), &s) && tn_str_is(s, "tanh"));
    CHECK(tn_json_str(tn_json_find(root, "/prompts/query"), &s) && tn_str_is(s, "Q: "));
    CHECK_INT(tn_json_count(tn_json_get(root, "facts")), d->fact_count);
    CHECK(tn_json_is(tn_json_find(root, "/components/0/config/hidden_size"), TN_JSON_NUMBER));
    CHECK(tn_json_str(tn_json_find(root, "/tokenizer/source"), &s) && tn_str_is(s, "file"));
    tn_json_release(&doc);
    tn_description_free(d);
    REQUIRE(tn_describe(kit_inventory, &kit_options, &d, err) == TN_OK);
    char *b = document_of(d);
    CHECK_STR(a, b);
    tn_free(&alloc, a);
    tn_free(&alloc, b);
    kit_close(d);
}

/* Long values are facts of their kind and size. */
TEST(long_values_become_their_size)
{
    char labels[2048] = "\"id2label\": {";
    for (int i = 0; i < 60; i++) {
        char one[32];
        snprintf(one, sizeof(one), "%s\"%d\": \"label%d\"", i ? ", " : "", i, i);
        strcat(labels, one);
    }
    strcat(labels, "}, \"pad_token_id\": 0");
    kit_new();
    kit_edit("config.json", "\"pad_token_id\": 0", labels);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    const struct tn_fact *fact = kit_fact(d, "encoder.id2label");
    REQUIRE(fact);
    CHECK(tn_str_starts(fact->value, "\"(object of "));
    kit_close(d);
}

/* What changes answers changes the fingerprint; what does not, does not. */
TEST(fingerprint)
{
    static const struct {
        const char *name, *from, *to;
        bool same;
    } rows[] = {
        {"config.json", "4.30.0", "4.31.0", true},
        {"config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"is_decoder\": false, \"torch_dtype\": \"x\"", true},
        {"config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"type_vocab_size\": 2", true},
        {"config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"", false},
        {"config.json", "1e-12", "1e-11", false},
        {"config.json", "[\"BertModel\"]", "[\"BertForMaskedLM\"]", false},
        {"1_Pooling/config.json", "\"pooling_mode_max_tokens\": false", "\"include_prompt\": true", true},
        {"1_Pooling/config.json", "\"pooling_mode_max_tokens\": false", "\"include_prompt\": false", false},
        {"2_Dense/config.json", "Tanh", "ReLU", false},
        {"config_sentence_transformers.json", "5.0.0", "5.1.0", true},
        {"config_sentence_transformers.json", "Q: ", "Q:", false},
        {"config_sentence_transformers.json", "cosine", "dot", false},
        {"config_sentence_transformers.json", "\"default_prompt_name\": null", "\"default_prompt_name\": \"query\"", false},
        {"config_sentence_transformers.json", "\"default_prompt_name\": null", "\"truncate_dim\": 2", false},
        {"sentence_bert_config.json", "16", "15", false},
        {"sentence_bert_config.json", "\"do_lower_case\": false", "\"do_lower_case\": true", false},
        {"tokenizer_config.json", "\"do_lower_case\": true", "\"do_lower_case\": false", false},
        {"tokenizer_config.json", "\"do_lower_case\": true", "\"truncation_side\": \"left\"", false},
        {"tokenizer_config.json", "\"do_lower_case\": true", "\"name_or_path\": \"x\"", true},
        {"modules.json", "models.Transformer", "base.modules.transformer.Transformer", true},
    };
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    struct tn_digest first = fingerprint_of(d);
    kit_close(d);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        kit_new();
        kit_edit(rows[i].name, rows[i].from, rows[i].to);
        d = kit_describe();
        REQUIRE(d);
        CHECK_INT(d->findings.blockers, 0);
        struct tn_digest other = fingerprint_of(d);
        if (tn_digest_eq(&first, &other) != rows[i].same)
            test_fail(__FILE__, __LINE__, "%s: %s: fingerprint %s", rows[i].name, rows[i].to,
                      rows[i].same ? "changed" : "stayed");
        kit_close(d);
    }
}

/* ---- without memory ----------------------------------------------------------------------------------------------- */

static void sweep(void)
{
    struct tn_description *d = NULL;
    struct tn_inventory *inv = open_package(in_folder("%s", kit_root));
    REQUIRE(inv);
    uint64_t before = tn_alloc_current(&alloc), blocks = alloc.blocks;
    for (uint64_t n = 1; n < 100000; n++) {
        tn_error_clear(err);
        tn_alloc_fail(&alloc, n, n % 2 == 0);
        enum tn_status status = tn_describe(inv, &kit_options, &d, err);
        bool reached = alloc.calls >= alloc.fail_at;
        alloc.fail_at = 0;
        if (!reached) {
            CHECK_INT(status, TN_OK);
            tn_description_free(d);
            break;
        }
        if (status != TN_INSUFFICIENT_MEMORY || d || err->primary.code != TN_INSUFFICIENT_MEMORY) {
            test_fail(__FILE__, __LINE__, "allocation %llu: %s", (unsigned long long)n, tn_status_name(status));
            tn_description_free(d);
        }
        CHECK_INT(tn_alloc_current(&alloc), before);
        CHECK_INT(alloc.blocks, blocks);
    }
    close_package(inv);
}

TEST(every_allocation_can_fail)
{
    static const char *const descriptive[] = {"/frobnicate", "/nowhere"};
    kit_new();
    kit_edit("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"frobnicate\": 1, \"foo\": 2");
    kit_edit("tokenizer_config.json", "\"do_lower_case\": true", "\"do_lower_case\": false");
    kit_put("special_tokens_map.json", "{\"cls_token\": \"[CLS]\"}");
    kit_options.descriptive = descriptive;
    kit_options.descriptive_count = 2;
    sweep();
    kit_bare();
    kit_remove("tokenizer.json");
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n");
    sweep();
}

/* ---- real packages ------------------------------------------------------------------------------------------------- */

/*
 * Tiny packages of the real configuration classes: all of them are described without a word of complaint, but those whose
 * tokenizer.json contradicts its class on purpose.
 */
TEST(golden_packages)
{
    DIR *folder = opendir(test_path("golden/packages"));
    REQUIRE(folder != NULL);
    size_t count = 0;
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        char path[512];
        if (e->d_name[0] == '.') continue;
        kit_empty();
        kit_options.schemas = tn_family_schemas(&kit_options.schema_count);
        snprintf(path, sizeof(path), "golden/packages/%s", e->d_name);
        struct tn_description *d = kit_describe_at(test_path(path));
        if (!d) continue;
        if (strstr(e->d_name, "_class_tokenizer")) {
            CHECK_INT(d->findings.blockers, 0);
            CHECK_INT(d->tokenizer.source, TN_TOKENIZER_CLASS);
        } else {
            KIT_CLEAN(d);
        }
        CHECK_INT(d->component_count, 1);
        CHECK(d->max_seq_length > 0 && d->tokenizer.present);
        kit_close(d);
        count++;
    }
    closedir(folder);
    CHECK(count >= 60);
}
