/*
 * Borders of what tenon_package.json may list: as many modules as the limit allows and one more, and nothing behind a sparse
 * vector. From the documents alone.
 */
#include "documents_kit.h"

TEST(as_many_modules_as_the_limit)
{
    REQUIRE(documents_alone());
    ctx.limits.modules = 4;
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_INT(d->module_count, 4);
    kit_close(d);
    ctx.limits.modules = 3;
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_RESOURCE_LIMIT, DOCUMENT, "/modules", "more modules", NULL, "at most 3");
    CHECK_INT(d->module_count, 0);
    kit_close(d);
    ctx.limits = tn_limits_default();
}

/* ---- behind a sparse vector ------------------------------------------------------------------------------------------ */

static bool sparse_documents(void)
{
    kit_new();
    kit_edit("config.json", "\"BertModel\"", "\"BertForMaskedLM\"");
    kit_put("modules.json", "[{\"idx\": 0, \"name\": \"0\", \"path\": \"\", \"type\": \"sentence_transformers.sparse_encoder.models.MLMTransformer\"}, "
                            "{\"idx\": 1, \"name\": \"1\", \"path\": \"1_SpladePooling\", \"type\": "
                            "\"sentence_transformers.sparse_encoder.models.SpladePooling\"}]");
    kit_put("1_SpladePooling/config.json", "{\"pooling_strategy\": \"max\", \"activation_function\": \"relu\"}");
    kit_edit("config_sentence_transformers.json", "\"similarity_fn_name\": \"cosine\"", "\"similarity_fn_name\": \"dot\", \"model_type\": \"SparseEncoder\"");
    if (!documents_beside(false)) return false;
    static const char *const conventions[] = {"config.json", "tokenizer_config.json", "modules.json", "sentence_bert_config.json",
                                              "config_sentence_transformers.json", "1_SpladePooling/config.json", "1_Pooling/config.json",
                                              "2_Dense/config.json"};
    for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++) kit_remove(conventions[i]);
    return true;
}

TEST(nothing_stands_behind_a_sparse_vector)
{
    static const char *const kinds[] = {
        "\"normalize\", \"path\": \"\", \"on_tokens\": false",
        "\"pooling\", \"path\": \"\", \"on_tokens\": false, \"pooling\": [\"mean\"], \"include_prompt\": true",
        "\"splade_pooling\", \"path\": \"\", \"on_tokens\": false, \"strategy\": \"max\", \"log_twice\": false",
    };
    REQUIRE(sparse_documents());
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    REQUIRE(d->module_count == 2);
    CHECK_INT(d->modules[1].kind, TN_MODULE_SPLADE);
    kit_close(d);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char text[512];
        REQUIRE(sparse_documents());
        kit_edit(DOCUMENT, "\"log_twice\": false\n    }", "\"log_twice\": false\n    }, @");
        snprintf(text, sizeof(text), "{\"index\": 2, \"kind\": %s, \"in_features\": 7, \"out_features\": 7}", kinds[i]);
        kit_edit(DOCUMENT, "@", text);
        d = kit_describe();
        REQUIRE(d);
        KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/modules/2", "does not stand where its kind of rows comes in");
        kit_close(d);
    }
}

/* Only a sparse vector is cut to its largest terms, and only a head over the vocabulary gives one. */
TEST(terms_of_a_sparse_vector)
{
    REQUIRE(sparse_documents());
    kit_edit(DOCUMENT, "\"max_active_dims\": null", "\"max_active_dims\": 3");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    CHECK_INT(d->max_active_dims, 3);
    kit_close(d);
    REQUIRE(documents_alone());
    kit_edit(DOCUMENT, "\"max_active_dims\": null", "\"max_active_dims\": 3");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/max_active_dims", "belongs to sparse vectors", "3", "splade_pooling");
    kit_close(d);
    REQUIRE(sparse_documents());
    kit_edit(DOCUMENT, "\"kind\": \"masked_lm\"", "\"kind\": \"token_classification\"");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/modules/1/kind", "stands behind no head over the vocabulary");
    kit_close(d);
}

/* The encoder's module is where its component is. */
TEST(the_folder_of_the_encoder)
{
    REQUIRE(documents_alone());
    kit_edit(DOCUMENT, "\"kind\": \"transformer\",\n      \"path\": \"\"", "\"kind\": \"transformer\",\n      \"path\": \"2_Dense\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/modules/0/path", "another folder than its component", "\"2_Dense\"",
               "the component's folder");
    kit_close(d);
}
