/* config.json by the tables: values, defaults, aliases, classes of fields, assertions, and every refusal. */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "describe/dialect/known_architectures.h"

TEST(values_and_defaults)
{
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    const struct tn_component *c = &d->components[0];
    CHECK_TSTR(d->dialect, "sentence_transformers");
    CHECK_TSTR(c->model_type, "bert");
    CHECK_TSTR(c->architecture, "BertModel");
    CHECK_INT(tn_component_value(c, "hidden_size")->u, 8);
    CHECK_INT(tn_component_value(c, "type_vocab_size")->u, 2);
    CHECK_NEAR(tn_component_value(c, "layer_norm_eps")->f, 1e-12, 0);
    CHECK_TSTR(tn_component_value(c, "hidden_act")->s, "gelu");
    CHECK_TSTR(tn_component_value(c, "position_embedding_type")->s, "absolute");
    CHECK(tn_component_value(c, "tie_word_embeddings")->b);
    CHECK(!tn_component_value(c, "no_such_name")->present);
    CHECK_FACT(d, "encoder.hidden_size", "8", "config.json");
    CHECK_TSTR(kit_fact(d, "encoder.hidden_size")->pointer, "/hidden_size");
    CHECK_TSTR(kit_fact(d, "encoder.hidden_size")->rule, "transformers.config/1");
    CHECK(!kit_fact(d, "encoder.hidden_size")->descriptive);
    CHECK_FACT(d, "encoder.type_vocab_size", "2", "default of schema bert/1");
    CHECK_INT(kit_fact(d, "encoder.type_vocab_size")->origin, TN_FROM_DEFAULT);
    CHECK_FACT(d, "encoder.transformers_version", "\"4.30.0\"", "config.json");
    CHECK(kit_fact(d, "encoder.transformers_version")->descriptive);
    kit_close(d);
}

TEST(wrong_values)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"foo\"", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/hidden_act", "does not implement", "\"foo\"",
                  "\"gelu\" | \"gelu_python\""),
        KIT_FAULT("config.json", "\"pad_token_id\": 0",
                  "\"pad_token_id\": 0, \"position_embedding_type\": \"relative_key\"", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/position_embedding_type", "does not implement",
                  "relative_key", "\"absolute\""),
        KIT_FAULT("config.json", "\"hidden_size\": 8", "\"hidden_size\": \"8\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "config.json", "/hidden_size", "wrong type", "\"8\"", "whole number"),
        KIT_FAULT("config.json", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": 1.5", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/num_hidden_layers", "wrong type", "1.5", "whole number"),
        KIT_FAULT("config.json", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": -1", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/num_hidden_layers", "wrong type", "-1", "not negative"),
        KIT_FAULT("config.json", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": 0", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/num_hidden_layers", "out of range", "0", "1 to 4096"),
        KIT_FAULT("config.json", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": null", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/num_hidden_layers", "wrong type", "null", "whole number"),
        KIT_FAULT("config.json", "1e-12", "2", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/layer_norm_eps",
                  "out of range", "2", "0 to 1"),
        KIT_FAULT("config.json", "1e-12", "true", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/layer_norm_eps",
                  "wrong type", "true", "a number"),
        KIT_FAULT("config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": 3", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "config.json", "/hidden_act", "wrong type", "3", "gelu"),
        KIT_FAULT("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"tie_word_embeddings\": 1", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/tie_word_embeddings", "wrong type", "1", "true or false"),
        KIT_FAULT("config.json", "\"num_attention_heads\": 2", "\"num_attention_heads\": 3", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/hidden_size", "no multiple", "num_attention_heads 3",
                  "multiple of 3"),
        KIT_FAULT("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 7", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "config.json", "/pad_token_id", "outside the vocabulary", "7", "vocab_size 7"),
    };
    KIT_RUN(faults);
}

TEST(fields_that_change_the_forward_pass)
{
    static const struct kit_fault faults[] = {
#define OFF(field, value, accepted)                                                                \
    KIT_FAULT("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"" field "\": " value, TN_BLOCKER, \
              TN_UNSUPPORTED_CONFIG, "config.json", "/" field, "would change answers", value, accepted)
        OFF("is_decoder", "true", "false"),
        OFF("is_encoder_decoder", "true", "false"),
        OFF("is_causal", "true", "false"),
        OFF("add_cross_attention", "true", "false"),
        OFF("cross_attention_hidden_size", "64", "null"),
        OFF("use_bidirectional_attention", "false", "true"),
        OFF("pruned_heads", "{\"0\": [1]}", "{}"),
        OFF("rope_scaling", "{\"type\": \"linear\"}", "null"),
        OFF("tie_encoder_decoder", "true", "false"),
        OFF("is_decoder", "\"false\"", "false"),
#undef OFF
    };
    KIT_RUN(faults);
}

TEST(harmless_fields)
{
    static const struct kit_fault edits[] = {
#define ADD(text) KIT_FAULT("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, " text, 0)
        ADD("\"is_decoder\": false, \"pruned_heads\": {}, \"add_cross_attention\": null"),
        ADD("\"gradient_checkpointing\": true, \"use_cache\": true, \"chunk_size_feed_forward\": 4"),
        ADD("\"torch_dtype\": \"float16\", \"_name_or_path\": \"x\", \"output_hidden_states\": true"),
        ADD("\"id2label\": {\"0\": \"a\"}, \"label2id\": {\"a\": 0}, \"classifier_dropout\": null"),
        ADD("\"position_embedding_type\": \"absolute\", \"pooler_type\": \"first_token_transform\""),
        ADD("\"quantization_config\": null, \"auto_map\": {}"),
        ADD("\"temperature\": 1.0, \"bad_words_ids\": null, \"tie_word_embeddings\": false"),
#undef ADD
        KIT_FAULT("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": null", 0),
        KIT_FAULT("config.json", "\"hidden_size\": 8", "\"hidden_size\": 8.0", 0),
        KIT_FAULT("config.json", "\"hidden_act\": \"gelu\", ", "", 0),
    };
    KIT_HARMLESS(edits);
}

TEST(unknown_field_and_the_way_out)
{
    static const char *const fields[] = {"/frobnicate"};
    kit_new();
    kit_edit("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"frobnicate\": {\"a\": [1]}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/frobnicate", "unknown field", "{\"a\": [1]}", NULL,
               "--descriptive /frobnicate");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);

    kit_options.descriptive = fields;
    kit_options.descriptive_count = 1;
    d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    REQUIRE(d->descriptive_count == 1);
    CHECK_TSTR(d->descriptive[0], "/frobnicate");
    const struct tn_fact *fact = kit_fact(d, "encoder.frobnicate");
    REQUIRE(fact);
    CHECK_INT(fact->origin, TN_FROM_USER);
    CHECK(fact->descriptive);
    CHECK_TSTR(fact->pointer, "/frobnicate");
    kit_close(d);
}

TEST(assertions_name_one_document_or_all)
{
    static const char *const right[] = {"config.json#/frobnicate"}, *const wrong[] = {"modules.json#/frobnicate"};
    kit_new();
    kit_edit("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"frobnicate\": 1");
    kit_options.descriptive = right;
    kit_options.descriptive_count = 1;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
    kit_options.descriptive = wrong;
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/frobnicate", "unknown field");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_OPTION, NULL, "descriptive", "no unknown field modules.json#/frobnicate");
    kit_close(d);
}

TEST(assertions_that_are_refused)
{
    static const char *const fields[] = {"/hidden_size", "/is_decoder", "/transformers_version", "/nowhere"};
    kit_new();
    kit_edit("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"is_decoder\": true");
    kit_options.descriptive = fields;
    kit_options.descriptive_count = 4;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->descriptive_count, 0);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_OPTION, NULL, "descriptive", "known and cannot be asserted", "/hidden_size");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_OPTION, NULL, "descriptive", "known and cannot be asserted", "/is_decoder");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_OPTION, NULL, "descriptive", "known and cannot", "/transformers_version");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_OPTION, NULL, "descriptive", "no unknown field /nowhere", "/nowhere");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/is_decoder", "would change answers");
    CHECK_INT(d->findings.blockers, 5);
    kit_close(d);
}

TEST(misspelled_field_names_the_near_one)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("config.json", "\"hidden_act\": \"gelu\"", "\"hiden_act\": \"gelu\"", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/hiden_act", "unknown field", "gelu", "nearest is /hidden_act"),
    };
    KIT_RUN(faults);
}

/* A key that spells a pointer is one key, and no row's. */
TEST(keys_with_slashes_are_not_pointers)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, \"a/hidden_size~\": 1", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/a~1hidden_size~0", "unknown field"),
    };
    KIT_RUN(faults);
}

TEST(three_faults_are_three_findings)
{
    kit_new();
    kit_edit("config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"foo\"");
    kit_edit("config.json", "\"num_attention_heads\": 2", "\"num_attention_heads\": 3");
    kit_edit("2_Dense/config.json", "Tanh", "Foo");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->findings.blockers, 3);
    kit_close(d);
}

/* ---- architecture ----------------------------------------------------------------------------------------------- */

TEST(model_type_has_five_wrong_answers)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("config.json", "\"model_type\": \"bert\", ", "", TN_BLOCKER, TN_UNKNOWN_FAMILY, "config.json",
                  "/model_type", "is absent", "nothing", "bert, distilbert, mpnet", "add \"model_type\": \"bert\""),
        KIT_FAULT("config.json", "\"bert\"", "\"\"", TN_BLOCKER, TN_UNKNOWN_FAMILY, "config.json", "/model_type",
                  "is empty", "\"\"", "one of bert"),
        KIT_FAULT("config.json", "\"bert\"", "\"camembert\"", TN_BLOCKER, TN_UNKNOWN_FAMILY, "config.json", "/model_type",
                  "known architecture without a family", "camembert", "bert, distilbert, mpnet",
                  "positions counted from the padding index"),
        KIT_FAULT("config.json", "\"bert\"", "\"brt\"", TN_BLOCKER, TN_UNKNOWN_FAMILY, "config.json", "/model_type",
                  "not a name", "brt", "one of bert", "nearest names: bert"),
        KIT_FAULT("config.json", "\"bert\"", "7", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/model_type",
                  "wrong type", "7", "a string"),
        KIT_FAULT("config.json", "\"bert\"", "null", TN_BLOCKER, TN_UNKNOWN_FAMILY, "config.json", "/model_type",
                  "is absent"),
        KIT_FAULT("config.json", "\"bert\"", "\"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"", TN_BLOCKER,
                  TN_UNKNOWN_FAMILY, "config.json", "/model_type", "not a name"),
    };
    KIT_RUN(faults);
}

TEST(architectures_has_five_wrong_answers)
{
    static const struct kit_fault faults[] = {
        KIT_FAULT("config.json", "[\"BertModel\"]", "[]", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json",
                  "/architectures", "is empty", "[]", "one of BertModel", "leave the key out"),
        KIT_FAULT("config.json", "[\"BertModel\"]", "[\"MPNetModel\"]", TN_BLOCKER, TN_UNSUPPORTED_CONFIG,
                  "config.json", "/architectures/0", "two families", "MPNetModel", "BertModel", "\"mpnet\""),
        KIT_FAULT("config.json", "[\"BertModel\"]", "[\"BertModle\"]", TN_BLOCKER, TN_UNKNOWN_FAMILY, "config.json",
                  "/architectures/0", "not known", "BertModle", "BertModel", "nearest names: BertModel"),
        KIT_FAULT("config.json", "[\"BertModel\"]", "\"BertModel\"", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json",
                  "/architectures", "wrong type", "\"BertModel\"", "list of strings"),
        KIT_FAULT("config.json", "[\"BertModel\"]", "[1]", TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json",
                  "/architectures/0", "entry of the wrong type", "1", "a string"),
        KIT_FAULT("config.json", "[\"BertModel\"]", "[\"BertModel\", \"BertForMaskedLM\"]", TN_BLOCKER,
                  TN_UNSUPPORTED_CONFIG, "config.json", "/architectures/1", "several classes"),
    };
    KIT_RUN(faults);
}

TEST(absent_architectures_mean_the_plain_class)
{
    kit_new();
    kit_edit("config.json", "\"architectures\": [\"BertModel\"], ", "");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    CHECK_TSTR(d->components[0].architecture, "BertModel");
    CHECK_FACT(d, "encoder.architecture", "\"BertModel\"", "default of schema bert/1");
    kit_close(d);
}

/* The head is recorded; whether a task wants it is for the recipe to say. */
TEST(heads_are_kept)
{
    kit_new();
    kit_edit("config.json", "[\"BertModel\"]", "[\"BertForSequenceClassification\"]");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    CHECK_TSTR(d->components[0].architecture, "BertForSequenceClassification");
    kit_close(d);
}

TEST(known_names_are_no_families)
{
    for (size_t i = 0; i < tn_known_architecture_count; i++) {
        struct tn_str name = tn_str_of(tn_known_architectures[i].model_type);
        for (size_t k = 0; k < 3; k++)
            for (const char *const *type = kit_schemas[k]->model_types; *type; type++) CHECK(!tn_str_is(name, *type));
        for (size_t k = 0; k < i; k++) CHECK(!tn_str_is(name, tn_known_architectures[k].model_type));
        CHECK(strlen(tn_known_architectures[i].missing) > 0);
    }
}

/* ---- custom code and quantisation ------------------------------------------------------------------------------- */

TEST(custom_code_and_quantisation)
{
    static const struct kit_fault faults[] = {
#define ADD(text, ...) KIT_FAULT("config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 0, " text, __VA_ARGS__)
        ADD("\"auto_map\": {\"AutoModel\": \"modeling.X\"}", TN_BLOCKER, TN_CUSTOM_CODE_DENIED,
                  "config.json", "/auto_map", "names code", "modeling.X"),
        ADD("\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128}",
                  TN_BLOCKER, TN_UNSUPPORTED_QUANTIZATION, "config.json", "/quantization_config", "quantised",
                  "method \"gptq\", bits 4, group 128", "f32, f16 or bf16", "checkpoint from which"),
        ADD("\"quantization_config\": {\"quant_method\": \"bitsandbytes\", \"load_in_8bit\": true}",
                  TN_BLOCKER, TN_UNSUPPORTED_QUANTIZATION, "config.json", "/quantization_config", NULL,
                  "method \"bitsandbytes\", bits 8, group not stated"),
        ADD("\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}",
                  TN_BLOCKER, TN_UNSUPPORTED_QUANTIZATION, "config.json", "/quantization_config", NULL,
                  "method \"fp8\", bits not stated, group [128, 128]"),
        ADD("\"compression_config\": {\"quantization_method\": \"x\"}", TN_BLOCKER,
                  TN_UNSUPPORTED_QUANTIZATION, "config.json", "/compression_config"),
        ADD("\"quantization_config\": []", TN_BLOCKER, TN_UNSUPPORTED_QUANTIZATION, "config.json",
                  "/quantization_config", NULL, "method not stated"),
#undef ADD
    };
    KIT_RUN(faults);
}

/* ---- the other families ----------------------------------------------------------------------------------------- */

TEST(distilbert_uses_the_same_names)
{
    kit_bare();
    kit_put("config.json", "{\"model_type\": \"distilbert\", \"architectures\": [\"DistilBertForMaskedLM\"], \"dim\": 8, "
                           "\"n_layers\": 2, \"n_heads\": 4, \"hidden_dim\": 32, \"vocab_size\": 7, "
                           "\"max_position_embeddings\": 32, \"sinusoidal_pos_embds\": true, \"activation\": \"relu\", "
                           "\"tie_weights_\": true, \"hidden_size\": 8}");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    const struct tn_component *c = &d->components[0];
    CHECK_INT(tn_component_value(c, "hidden_size")->u, 8);
    CHECK_INT(tn_component_value(c, "num_hidden_layers")->u, 2);
    CHECK_INT(tn_component_value(c, "num_attention_heads")->u, 4);
    CHECK_INT(tn_component_value(c, "intermediate_size")->u, 32);
    CHECK_TSTR(tn_component_value(c, "hidden_act")->s, "relu");
    CHECK_TSTR(d->dialect, "transformers");
    CHECK_INT(d->module_count, 0);
    kit_close(d);
}

TEST(aliases_must_agree)
{
    kit_bare();
    kit_put("config.json", "{\"model_type\": \"distilbert\", \"dim\": 8, \"hidden_size\": 16, \"n_heads\": 4, "
                           "\"vocab_size\": 7, \"max_position_embeddings\": 32}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/hidden_size", "dim and hidden_size", "8 and 16");
    CHECK_INT(d->findings.blockers, 1);
    kit_close(d);
}

TEST(mpnet_positions_and_constants)
{
    static const char *const good =
        "{\"model_type\": \"mpnet\", \"hidden_size\": 8, \"num_attention_heads\": 2, \"num_hidden_layers\": 1, "
        "\"intermediate_size\": 8, \"vocab_size\": 7, \"max_position_embeddings\": 20, \"pad_token_id\": 1}";
    kit_bare();
    kit_put("config.json", good);
    kit_edit("tokenizer_config.json", "\"model_max_length\": 32", "\"model_max_length\": 1000000000000000019884624838656");
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    CHECK_INT(d->max_seq_length, 18);
    CHECK_INT(tn_component_value(&d->components[0], "relative_attention_num_buckets")->u, 32);
    kit_close(d);
    kit_edit("config.json", "\"pad_token_id\": 1", "\"pad_token_id\": 0, \"relative_attention_num_buckets\": 64");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/pad_token_id", "does not implement", "0", "1");
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, "config.json", "/relative_attention_num_buckets", NULL, "64", "32");
    kit_close(d);
}

/* ---- the tables themselves -------------------------------------------------------------------------------------- */

static void check_rows(const struct tn_schema_field *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(rows[i].pointer[0] == '/' && strlen(rows[i].name) > 0);
        if (rows[i].kind == TN_FIELD_SEMANTIC) CHECK(rows[i].accepted != NULL);
        for (size_t k = 0; k < i; k++) CHECK(strcmp(rows[i].pointer, rows[k].pointer) != 0);
    }
}

TEST(tables_are_well_formed)
{
    check_rows(tn_transformers_common_fields, tn_transformers_common_field_count);
    for (size_t k = 0; k < 3; k++) {
        const struct tn_schema *s = kit_schemas[k];
        check_rows(s->fields, s->field_count);
        CHECK(s->tokenizer_class != NULL && s->architectures[0] != NULL);
        for (size_t i = 0; i < s->field_count; i++)
            for (size_t c = 0; c < tn_transformers_common_field_count; c++)
                if (s->fields[i].kind != TN_FIELD_UNDERSTOOD)
                    CHECK(strcmp(s->fields[i].pointer, tn_transformers_common_fields[c].pointer) != 0);
    }
}

/* A default passes the check of its own row: a package that spells all defaults out is as good as one that has none. */
TEST(defaults_are_accepted_values)
{
    for (size_t k = 0; k < 3; k++) {
        char config[4096];
        const struct tn_schema *s = kit_schemas[k];
        size_t n = (size_t)snprintf(config, sizeof(config), "{\"model_type\": \"%s\"", s->model_types[0]);
        for (size_t i = 0; i < s->field_count; i++)
            if (s->fields[i].kind == TN_FIELD_UNDERSTOOD && s->fields[i].absent)
                n += (size_t)snprintf(config + n, sizeof(config) - n, ", \"%s\": %s", s->fields[i].pointer + 1,
                                      s->fields[i].absent);
        snprintf(config + n, sizeof(config) - n, "}");
        kit_bare();
        kit_put("config.json", config);
        struct tn_description *stated = kit_describe();
        REQUIRE(stated && stated->component_count == 1);
        KIT_CLEAN(stated);
        struct tn_sha256 a, b;
        tn_sha256_init(&a);
        tn_description_fingerprint(stated, &a);
        kit_close(stated);
        snprintf(config, sizeof(config), "{\"model_type\": \"%s\"}", s->model_types[0]);
        kit_put("config.json", config);
        struct tn_description *absent = kit_describe();
        REQUIRE(absent && absent->component_count == 1);
        KIT_CLEAN(absent);
        tn_sha256_init(&b);
        tn_description_fingerprint(absent, &b);
        struct tn_digest x = tn_sha256_finish(&a), y = tn_sha256_finish(&b);
        CHECK(tn_digest_eq(&x, &y));
        kit_close(absent);
    }
}
