/*
 * As many faults as there are, and none that only follows from another: a document that cannot be read hides neither
 * what is wrong elsewhere nor invents something that is wrong with its neighbours. Counted over inventory, description
 * and task, as `check` reports them.
 */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "task/task.h"

/* Everything that stands in the way of embedding.dense, each fault once. Release it. */
static struct tn_findings all_findings(const struct tn_description *d)
{
    struct tn_findings all;
    struct tn_task_route route;
    tn_findings_init(&all, &alloc, 200);
    tn_inventory_findings(kit_inventory, d->variant, &all);
    tn_findings_append(&all, &d->findings);
    const struct tn_task *task = tn_task_at(0);
    for (size_t i = 1; task && strcmp(task->name, "embedding.dense") != 0; i++) task = tn_task_at(i);
    if (task) task->assess(d, &all, &route);
    else test_fail(__FILE__, __LINE__, "no task embedding.dense");
    return all;
}

static bool has_blocker(const struct tn_findings *all, enum tn_status code, const char *file, const char *element)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct tn_finding *f = &all->items[i];
        if (f->severity == TN_BLOCKER && f->code == code && strcmp(f->file, file) == 0 &&
            (!element || strcmp(f->element, element) == 0))
            return true;
    }
    return false;
}

/* ---- one fault, one finding --------------------------------------------------------------------------------------- */

struct fault {
    const char *name, *from, *to; /* `from` NULL: the whole file is `to`; `to` NULL: it is removed */
    enum tn_status code;
    const char *file, *element;
};

static void make(const struct fault *f)
{
    if (!f->to) kit_remove(f->name);
    else if (!f->from) kit_put(f->name, f->to);
    else kit_edit(f->name, f->from, f->to);
}

#define UNREADABLE "{\"cut\": "

TEST(a_fault_has_no_followers)
{
    static const struct fault faults[] = {
        /* documents that cannot be read, or are of another kind */
        {"config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "config.json", NULL},
        {"config.json", NULL, "[]", TN_UNSUPPORTED_CONFIG, "config.json", ""},
        {"config.json", NULL, NULL, TN_ARTIFACT_MISSING, "config.json", NULL},
        {"config.json", NULL, "{\"model_type\": \"bert\", \"model_type\": \"mpnet\"}", TN_ARTIFACT_MALFORMED, "config.json", NULL},
        {"1_Pooling/config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "1_Pooling/config.json", NULL},
        {"1_Pooling/config.json", NULL, "7", TN_UNSUPPORTED_CONFIG, "1_Pooling/config.json", ""},
        {"1_Pooling/config.json", NULL, NULL, TN_ARTIFACT_MISSING, "1_Pooling/config.json", "1"},
        {"2_Dense/config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "2_Dense/config.json", NULL},
        {"2_Dense/config.json", NULL, "null", TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", ""},
        {"2_Dense/config.json", NULL, NULL, TN_ARTIFACT_MISSING, "2_Dense/config.json", "2"},
        {"3_Normalize/config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "3_Normalize/config.json", NULL},
        {"sentence_bert_config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "sentence_bert_config.json", NULL},
        {"config_sentence_transformers.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED,
         "config_sentence_transformers.json", NULL},
        {"modules.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "modules.json", NULL},
        {"modules.json", NULL, "{}", TN_UNSUPPORTED_CONFIG, "modules.json", ""},
        {"tokenizer.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "tokenizer.json", NULL},
        {"tokenizer_config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "tokenizer_config.json", NULL},
        {"2_Dense/model.safetensors", NULL, "not safetensors", TN_ARTIFACT_MALFORMED, "2_Dense/model.safetensors", NULL},
        {"model.safetensors", NULL, "not safetensors", TN_ARTIFACT_MALFORMED, "model.safetensors", NULL},
        /* entries of the list: what a module makes is known from its class, or not at all */
        {"modules.json", "models.Pooling", "models.CNN", TN_UNSUPPORTED_CONFIG, "modules.json", "/1"},
        {"modules.json", "sentence_transformers.models.Pooling", "mine.Pooling", TN_CUSTOM_CODE_DENIED, "modules.json", "/1"},
        {"modules.json", "\"path\": \"1_Pooling\", ", "", TN_UNSUPPORTED_CONFIG, "modules.json", "/1/path"},
        {"modules.json", "\"path\": \"1_Pooling\"", "\"path\": \"/tmp\"", TN_PATH_ESCAPE, "modules.json", "/1/path"},
        {"modules.json", "\"type\": \"sentence_transformers.models.Pooling\"", "\"type\": 1", TN_UNSUPPORTED_CONFIG,
         "modules.json", "/1/type"},
        {"modules.json", KIT_MODULE("1", "1_Pooling", "Pooling"), "5", TN_UNSUPPORTED_CONFIG, "modules.json", "/1"},
        {"modules.json", "models.Dense", "models.LSTM", TN_UNSUPPORTED_CONFIG, "modules.json", "/2"},
        {"modules.json", "models.Transformer", "models.CLIPModel", TN_UNSUPPORTED_CONFIG, "modules.json", "/0"},
        {"modules.json", KIT_MODULE("0", "", "Transformer"), "{}", TN_UNSUPPORTED_CONFIG, "modules.json", "/0/type"},
        /* a step that is not there at all */
        {"modules.json", KIT_MODULE("0", "", "Transformer") ", ", "", TN_UNSUPPORTED_CONFIG, "modules.json", "/0"},
        {"modules.json", KIT_MODULE("1", "1_Pooling", "Pooling") ", ", "", TN_UNSUPPORTED_CONFIG, "2_Dense/config.json",
         "/module_input_name"},
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        kit_new();
        make(&faults[i]);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        struct tn_findings all = all_findings(d);
        size_t wanted = 1;
        if (strstr(faults[i].name, "modules.json") && faults[i].to && strcmp(faults[i].to, "{}") == 0 && faults[i].from)
            wanted = 3; /* an empty entry lacks type, path and name */
        if (all.blockers != wanted || !has_blocker(&all, faults[i].code, faults[i].file, faults[i].element)) {
            test_fail(__FILE__, __LINE__, "%s, case %zu: %zu blockers, expected %zu with %s at %s %s", faults[i].name, i,
                      all.blockers, wanted, tn_status_name(faults[i].code), faults[i].file,
                      faults[i].element ? faults[i].element : "");
            print_findings(&all);
        }
        tn_findings_release(&all);
        kit_close(d);
    }
}

static void expect_one(enum tn_status code, const char *file, const char *element, int line)
{
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    struct tn_findings all = all_findings(d);
    if (all.blockers != 1 || !has_blocker(&all, code, file, element)) {
        test_fail(__FILE__, line, "%zu blockers, expected one %s at %s %s", all.blockers, tn_status_name(code), file, element);
        print_findings(&all);
    }
    tn_findings_release(&all);
    kit_close(d);
}

/* Behind a module whose rows nobody knows, neither their width nor their kind is a fault. */
TEST(what_follows_an_unknown_module_is_not_judged_by_it)
{
    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_Pooling", "Pooling") ", "
                            KIT_MODULE("2", "2_Dense", "Dense") ", " KIT_MODULE("3", "3_LayerNorm", "LayerNorm") "]");
    kit_put("3_LayerNorm/config.json", "{\"dimension\": 4}"); /* what the Dense would give */
    put_safetensors(kit_name("3_LayerNorm/model.safetensors"),
                    "{\"norm.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
                    "\"norm.weight\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,32]}}",
                    32);
    kit_put("2_Dense/config.json", UNREADABLE);
    expect_one(TN_ARTIFACT_MALFORMED, "2_Dense/config.json", "", __LINE__);
    kit_put("2_Dense/config.json", "[]");
    expect_one(TN_UNSUPPORTED_CONFIG, "2_Dense/config.json", "", __LINE__);

    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_CNN", "CNN") ", "
                            KIT_MODULE("2", "2_Dense", "Dense") ", " KIT_MODULE("3", "1_Pooling", "Pooling") "]");
    kit_edit("2_Dense/config.json", "\"bias\"", "\"module_input_name\": \"token_embeddings\", \"bias\"");
    kit_put("1_Pooling/config.json", "{\"embedding_dimension\": 4, \"pooling_mode\": \"mean\"}");
    expect_one(TN_UNSUPPORTED_CONFIG, "modules.json", "/1", __LINE__);
}

/* ---- n faults, n findings ----------------------------------------------------------------------------------------- */

#define EXTRA(name) {name, "{", "{\"frobnicate\": 1, ", TN_UNSUPPORTED_CONFIG, name, "/frobnicate"}

/* Every subset of seven faults in seven places, in two forms, is reported whole and alone. */
TEST(as_many_findings_as_faults)
{
    static const struct fault forms[2][7] = {
        {
            {"config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "config.json", NULL},
            EXTRA("sentence_bert_config.json"),
            EXTRA("tokenizer_config.json"),
            EXTRA("1_Pooling/config.json"),
            {"2_Dense/model.safetensors", NULL, NULL, TN_ARTIFACT_MISSING, "2_Dense/model.safetensors", "2"},
            {"modules.json", "sentence_transformers.models.Normalize", "mine.Normalize", TN_CUSTOM_CODE_DENIED,
             "modules.json", "/3"},
            EXTRA("config_sentence_transformers.json"),
        },
        {
            EXTRA("config.json"),
            {"sentence_bert_config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "sentence_bert_config.json", NULL},
            {"tokenizer_config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "tokenizer_config.json", NULL},
            {"1_Pooling/config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "1_Pooling/config.json", NULL},
            {"2_Dense/config.json", NULL, UNREADABLE, TN_ARTIFACT_MALFORMED, "2_Dense/config.json", NULL},
            {"3_Normalize/config.json", NULL, "{\"module_input_name\": \"token_embeddings\"}", TN_UNSUPPORTED_CONFIG,
             "3_Normalize/config.json", "/module_input_name"},
            {"config_sentence_transformers.json", NULL, "[]", TN_UNSUPPORTED_CONFIG, "config_sentence_transformers.json",
             ""},
        },
    };
    for (unsigned form = 0; form < 2; form++) {
        for (unsigned set = 1; set < 1u << 7; set++) {
            size_t wanted = 0;
            kit_new();
            for (unsigned i = 0; i < 7; i++) {
                if (!(set >> i & 1)) continue;
                make(&forms[form][i]);
                wanted++;
            }
            struct tn_description *d = kit_describe();
            REQUIRE(d);
            struct tn_findings all = all_findings(d);
            bool whole = all.blockers == wanted;
            for (unsigned i = 0; i < 7; i++) {
                const struct fault *f = &forms[form][i];
                if (set >> i & 1) whole = whole && has_blocker(&all, f->code, f->file, f->element);
            }
            if (!whole) {
                test_fail(__FILE__, __LINE__, "form %u, faults 0x%02x: %zu blockers, expected %zu", form, set, all.blockers,
                          wanted);
                print_findings(&all);
            }
            tn_findings_release(&all);
            kit_close(d);
        }
    }
}

/* ---- what stands in a file's place -------------------------------------------------------------------------------- */

#define SHARD "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"

static void put_all(void)
{
    kit_new();
    kit_remove("model.safetensors");
    kit_put("model.safetensors.index.json",
            "{\"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\", \"b\": \"model-00002-of-00002.safetensors\"}}");
    put_tensor(kit_name("model-00001-of-00002.safetensors"), "a");
    put_tensor(kit_name("model-00002-of-00002.safetensors"), "b");
    kit_put("special_tokens_map.json", "{\"cls_token\": \"[CLS]\"}");
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n");
    kit_put("3_Normalize/config.json", "{}");
}

/* One code, one remedy, one finding: documents, tokenizer files, weights, shards and their index. */
TEST(what_stands_in_a_files_place_is_one_fault)
{
    static const char *const files[] = {
        "config.json",            "modules.json",          "sentence_bert_config.json",
        "tokenizer.json",         "tokenizer_config.json", "config_sentence_transformers.json",
        "special_tokens_map.json", "vocab.txt",            "model.safetensors.index.json",
        "1_Pooling/config.json",  "2_Dense/config.json",   "model-00001-of-00002.safetensors",
        "3_Normalize/config.json", "2_Dense/model.safetensors", "model-00002-of-00002.safetensors",
    };
    static const struct {
        const char *text, *found, *remedy;
    } forms[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 466247\n",
         "a pointer file of git-lfs; the real file has 466247 bytes", "git lfs pull"},
        {"<!DOCTYPE html><html><title>Sign in</title></html>", "a web page", "raw address"},
    };
    put_all();
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    EXPECT_CLEAN(kit_inventory);
    kit_close(d);
    for (size_t i = 0; i < 2 * sizeof(files) / sizeof(files[0]); i++) {
        const char *file = files[i / 2];
        put_all();
        kit_put(file, forms[i % 2].text);
        d = kit_describe();
        REQUIRE(d);
        struct tn_findings all = all_findings(d);
        const struct tn_finding *f = expect_in(&all, TN_ARTIFACT_MISSING, "only something in its place", file, __LINE__);
        CHECK_CONTAINS(f->found, forms[i % 2].found);
        CHECK_CONTAINS(f->remedy, forms[i % 2].remedy);
        if (all.blockers != 1) {
            test_fail(__FILE__, __LINE__, "%s: %zu blockers", file, all.blockers);
            print_findings(&all);
        }
        tn_findings_release(&all);
        kit_close(d);
    }
}

/* A vocab.txt that the tokenizer rests on alone. */
TEST(a_pointer_in_place_of_the_only_vocabulary)
{
    put_all();
    kit_remove("tokenizer.json");
    kit_put("vocab.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 40\n");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    struct tn_findings all = all_findings(d);
    CHECK_INT(all.blockers, 1);
    expect_in(&all, TN_ARTIFACT_MISSING, "only something in its place", "vocab.txt", __LINE__);
    tn_findings_release(&all);
    kit_close(d);
}

/* The class of the tokenizer may stand in the document that cannot be read: nothing is tokenized by a guess. */
TEST(a_tokenizer_of_unknown_class_is_refused)
{
    kit_new();
    kit_put("config.json", UNREADABLE);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK(d->tokenizer.present && !d->tokenizer.refused); /* tokenizer_config.json names it */
    kit_close(d);
    kit_edit("tokenizer_config.json", "\"tokenizer_class\": \"BertTokenizer\", ", "");
    d = kit_describe();
    REQUIRE(d);
    CHECK(d->tokenizer.present && d->tokenizer.refused);
    struct tn_findings all = all_findings(d);
    CHECK_INT(all.blockers, 1);
    tn_findings_release(&all);
    kit_close(d);
    kit_remove("config.json"); /* a folder that holds a tokenizer and no model */
    kit_remove("modules.json");
    kit_remove("model.safetensors");
    kit_remove("2_Dense/model.safetensors");
    d = kit_describe();
    REQUIRE(d);
    CHECK(d->tokenizer.present && !d->tokenizer.refused);
    kit_close(d);
}
