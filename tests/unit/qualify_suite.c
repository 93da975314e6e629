/*
 * The whole qualification through the public functions: packages that must pass against the reference's goldens, goldens
 * and stores that must be noticed, and what a plan makes of the evidence.
 */
#include "fault_package.h"

#include "base/hash.h"
#include "base/json.h"
#include "tenon/tenon.h"

struct world {
    tn_runtime *runtime;
    tn_package *package;
    tn_error *err;
    char state[4096];
    struct tn_alloc alloc; /* of the test's own JSON documents */
};

static bool world_open(struct world *w, const char *name, bool state)
{
    char path[4096];
    tn_runtime_options options = TN_INIT(tn_runtime_options);
    memset(w, 0, sizeof(*w));
    tn_alloc_init(&w->alloc);
    snprintf(w->state, sizeof(w->state), "%s/state", test_folder());
    options.threads = 2;
    options.state_folder = state ? w->state : NULL;
    w->err = tn_error_new();
    snprintf(path, sizeof(path), "golden/packages/%s", name);
    if (tn_runtime_new(&options, &w->runtime, w->err) ||
        tn_package_open(w->runtime, name[0] == '/' ? name : test_path(path), NULL, &w->package, w->err)) {
        test_fail(__FILE__, __LINE__, "%s: %s", name, tn_error_message(w->err));
        return false;
    }
    return true;
}

static void world_close(struct world *w)
{
    tn_package_free(w->package);
    tn_memory_info info = TN_INIT(tn_memory_info);
    tn_runtime_memory(w->runtime, false, &info);
    tn_runtime_free(w->runtime);
    tn_error_free(w->err);
}

static struct tn_json parsed(struct world *w, tn_document *document, struct tn_json_doc *doc)
{
    size_t length = 0;
    const char *text = tn_document_text(document, &length);
    struct tn_limits limits = tn_limits_default();
    if (tn_json_parse_copy(doc, &w->alloc, &limits, TN_STR("document"), (struct tn_str){text, length}, NULL)) {
        test_fail(__FILE__, __LINE__, "not JSON: %.200s", text);
        memset(doc, 0, sizeof(*doc));
    }
    tn_document_free(document);
    return tn_json_root(doc);
}

static const char *text_at(struct tn_json v, const char *pointer)
{
    static char texts[8][512];
    static unsigned next;
    char *out = texts[next++ % 8];
    struct tn_str s = {"(absent)", 8};
    tn_json_str(tn_json_find(v, pointer), &s);
    snprintf(out, sizeof(texts[0]), "%.*s", (int)s.n, s.s);
    return out;
}

static bool true_at(struct tn_json v, const char *pointer)
{
    bool b = false;
    return tn_json_bool(tn_json_find(v, pointer), &b) && b;
}

/* Names every check of the record that did not end as expected. */
static void show_failures(const char *name, struct tn_json record)
{
    struct tn_json list = tn_json_get(record, "failures");
    for (struct tn_json f = tn_json_first(list); tn_json_present(f); f = tn_json_next(f)) {
        test_fail(__FILE__, __LINE__, "%s: %s: %s", name, text_at(f, "/id"), text_at(f, "/detail"));
    }
}

static tn_status qualify(struct world *w, const char *golden, const char *numeric, tn_document **out)
{
    tn_plan_options plan = TN_INIT(tn_plan_options);
    tn_qualify_options options = TN_INIT(tn_qualify_options);
    plan.task = "embedding.dense";
    plan.numeric = numeric;
    options.plan = &plan;
    options.golden = golden;
    return tn_qualify(w->package, &options, out, w->err);
}

static const char *golden_of(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "golden/embed/%s.json", name);
    return test_path(path);
}

static struct tn_json check_named(struct tn_json record, const char *id)
{
    struct tn_json list = tn_json_get(record, "checks");
    for (struct tn_json c = tn_json_first(list); tn_json_present(c); c = tn_json_next(c)) {
        if (strcmp(text_at(c, "/id"), id) == 0) return c;
    }
    test_fail(__FILE__, __LINE__, "no check %s", id);
    return (struct tn_json){0};
}

/* Every kind of chain, three families, prompts, truncation on either side, options. */
static void must_pass(const char *name)
{
    struct world w;
    struct tn_json_doc doc = {0};
    tn_document *document = NULL;
    if (!world_open(&w, name, true)) return;
    if (qualify(&w, golden_of(name), NULL, &document)) {
        test_fail(__FILE__, __LINE__, "%s: %s: %s", name, tn_error_message(w.err), tn_error_found(w.err));
    } else {
        struct tn_json record = parsed(&w, document, &doc);
        show_failures(name, record);
        CHECK(true_at(record, "/passed"));
        CHECK_STR(text_at(record, "/level"), "reference_qualified");
        CHECK(true_at(record, "/stored/done"));
        CHECK_STR(text_at(record, "/schema"), "tenon.record/v1");
        CHECK_INT(strlen(text_at(record, "/package/weights")), 64);
        CHECK_INT(strlen(text_at(record, "/package/space")), 64);
    }
    tn_json_release(&doc);
    world_close(&w);
}

TEST(three_families_pass)
{
    must_pass("bert_mean_normalize");
    must_pass("distilbert_cls");
    must_pass("mpnet_mean_normalize");
}

TEST(prompts_and_options_pass)
{
    must_pass("bert_prompt_excluded");
    must_pass("bert_prompt_included");
    must_pass("bert_options");
    must_pass("bert_options_normalized");
    must_pass("bert_truncate_dim");
}

TEST(chains_and_tokenizers_pass)
{
    must_pass("bert_dense_chain");
    must_pass("bert_layernorm");
    must_pass("bert_truncate_left");
    must_pass("bert_lower_in_module");
    must_pass("bert_type_ids");
    must_pass("bert_vocab_txt_uncased");
    must_pass("bert_sharded");
}

TEST(without_a_golden_it_loads_and_no_more)
{
    struct world w;
    struct tn_json_doc doc = {0};
    tn_document *document = NULL;
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    REQUIRE(qualify(&w, NULL, NULL, &document) == TN_OK);
    struct tn_json record = parsed(&w, document, &doc);
    show_failures("bert_mean_normalize", record);
    CHECK_STR(text_at(record, "/level"), "loads");
    CHECK_INT(tn_json_type(tn_json_get(record, "golden")), TN_JSON_NULL);
    /* Nothing that this package allows to be tried was left out. */
    static const char *const tried[] = {"mask.last_token", "company.alone", "company.order", "threads.one", "norm.unit",
                                        "length.cut",      "length.refused", "load.same",    "unload.memory"};
    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        CHECK_STR(text_at(check_named(record, tried[i]), "/outcome"), "passed");
    }
    CHECK_STR(text_at(check_named(record, "prompts.pooled"), "/outcome"), "skipped");
    CHECK_CONTAINS(text_at(record, "/exclusions/1"), "no golden file");
    tn_json_release(&doc);
    world_close(&w);
}

/* A copy of a golden in which one piece of text is replaced. */
static const char *edited_golden(const char *name, const char *from, const char *to)
{
    static char path[4096];
    char *text = test_read_file(golden_of(name), NULL), *at = text ? strstr(text, from) : NULL;
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s does not contain %s", name, from);
        return "";
    }
    char *out = malloc(strlen(text) + strlen(to) + 1);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    snprintf(path, sizeof(path), "%s/edited.json", test_folder());
    test_write_file(path, out, strlen(out));
    free(out);
    free(text);
    return path;
}

static void must_notice(const char *golden, const char *id, const char *detail)
{
    struct world w;
    struct tn_json_doc doc = {0};
    tn_document *document = NULL;
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    REQUIRE(qualify(&w, golden, NULL, &document) == TN_OK);
    struct tn_json record = parsed(&w, document, &doc);
    CHECK(!true_at(record, "/passed"));
    CHECK_STR(text_at(record, "/level"), "loads");
    CHECK_STR(text_at(record, "/failures/0/id"), id);
    CHECK_CONTAINS(text_at(record, "/failures/0/detail"), detail);
    CHECK_INT(tn_json_count(tn_json_get(record, "failures")), 1);
    CHECK(true_at(record, "/stored/done")); /* a failure is evidence too */
    tn_json_release(&doc);
    world_close(&w);
}

/* 6e-6 in a component of .25: far below what anybody sees, above what rounding explains. */
TEST(a_golden_that_differs_a_little_is_noticed)
{
    must_notice(edited_golden("bert_mean_normalize", "0.248901948", "0.248907948"), "golden.embedding", "case 3 differs by");
    must_notice(edited_golden("bert_mean_normalize", "\"ids\":[2,102,168", "\"ids\":[2,102,169"), "golden.ids", "case 2");
    must_notice(edited_golden("bert_mean_normalize", "\"tokens_untruncated\":16", "\"tokens_untruncated\":17"),
                "golden.embedding", "case 3: 16 tokens where the golden counts 17");
    must_notice(edited_golden("bert_mean_normalize", "\"embedding\":[0.0519626439,", "\"embedding\":["),
                "golden.embedding", "32 components where the golden has 31");
    must_notice(edited_golden("bert_mean_normalize", "\"embedding\":[0.0519626439,", "\"embedding\":[null,"),
                "golden.embedding", "not a finite number");
}

/* The stages of one text are compared in the order of the pipeline, and the first that differs is named. */
TEST(the_first_stage_that_differs_is_named)
{
    static const struct {
        const char *from, *to, *detail;
    } cases[] = {
        {"-0.0698749423", "-0.0698809423", "embeddings differs first, by "},
        {"-0.848463356", "-0.848469356", "layer 0 output norm differs first, by "},
        {"-0.297865808", "-0.297871808", "layer 1 output norm differs first, by "},
        {"-1.44140697", "-1.44141697", "module 1 pooling differs first, by "},
        {"-0.0698749423", "null", "embeddings: a number is not finite"},
        {"-0.0698749423,", "", "embeddings: 512 numbers where the golden has 511"},
        {"{\"index\":1,\"type\":\"Pooling\"", "{\"index\":7,\"type\":\"Pooling\"", NULL},
        {"\"ids\": [2,182,", "\"ids\": [2,181,", "embeddings differs first, by "},
        {"\"ids\": [2,182,", "\"ids\": [2,99999,", "the recorded ids cannot be run"},
        {"\"ids\": [2,182,78,183,79,109,83,23,61,69,89,103,4,127,80,3]", "\"ids\": []", "0 recorded ids"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].detail) {
            must_notice(edited_golden("bert_mean_normalize", cases[i].from, cases[i].to), "golden.stages", cases[i].detail);
            continue;
        }
        /* a module that the package does not have is nobody's stage */
        struct world w;
        struct tn_json_doc doc = {0};
        tn_document *document = NULL;
        REQUIRE(world_open(&w, "bert_mean_normalize", false));
        REQUIRE(qualify(&w, edited_golden("bert_mean_normalize", cases[i].from, cases[i].to), NULL, &document) == TN_OK);
        show_failures("module 7", parsed(&w, document, &doc));
        tn_json_release(&doc);
        world_close(&w);
    }
}

TEST(stages_are_compared_where_they_are_recorded)
{
    static const struct {
        const char *name;
        double stages; /* 0: the golden has none */
    } cases[] = {
        {"bert_mean_normalize", 4}, /* embeddings, two layers, pooling; Normalize is the recipe's */
        {"mpnet_mean_normalize", 4},
        {"distilbert_cls", 4},
        {"bert_dense_chain", 1 + 1 + 13},
        {"bert_layernorm", 1 + 1 + 5}, /* Dropout has no operator */
        {"bert_options", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tn_json_doc doc = {0};
        tn_document *document = NULL;
        double stages = 0, worst = 1;
        REQUIRE(world_open(&w, cases[i].name, false));
        REQUIRE(qualify(&w, golden_of(cases[i].name), NULL, &document) == TN_OK);
        struct tn_json record = parsed(&w, document, &doc), checks = tn_json_get(record, "checks"), found = {0};
        for (struct tn_json c = tn_json_first(checks); tn_json_present(c); c = tn_json_next(c)) {
            if (strcmp(text_at(c, "/id"), "golden.stages") == 0) found = c;
        }
        CHECK_INT(tn_json_present(found), cases[i].stages > 0);
        if (cases[i].stages > 0) {
            CHECK_STR(text_at(found, "/outcome"), "passed");
            CHECK(tn_json_f64(tn_json_find(found, "/measured/stages"), &stages));
            CHECK(tn_json_f64(tn_json_find(found, "/measured/max_rel"), &worst));
            if (stages != cases[i].stages) test_fail(__FILE__, __LINE__, "%s: %g stages", cases[i].name, stages);
            CHECK(worst > 0 && worst <= 2e-6);
        }
        tn_json_release(&doc);
        world_close(&w);
    }
}

TEST(a_golden_of_another_package_is_refused)
{
    struct world w;
    tn_document *document = NULL;
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    CHECK_INT(qualify(&w, golden_of("distilbert_cls"), NULL, &document), TN_ARTIFACT_STALE);
    CHECK_STR(tn_error_phase(w.err), "record");
    CHECK(document == NULL);
    CHECK_INT(qualify(&w, "/no/such/golden.json", NULL, &document), TN_ARTIFACT_MISSING);
    CHECK_INT(qualify(&w, test_path("golden/embed/activations.json"), NULL, &document), TN_METADATA_INVALID);
    struct stat st;
    CHECK(stat(w.state, &st) != 0); /* nothing was stored */
    world_close(&w);
}

/* A golden that names the weights alone, so that it outlives changes of everything else. */
static const char *golden_of_weights(void)
{
    char hex[TN_SHA256_HEX], member[256];
    size_t size = 0;
    char *bytes = test_read_file(test_path("golden/packages/bert_mean_normalize/model.safetensors"), &size);
    struct tn_digest digest = tn_sha256_of(bytes, size);
    free(bytes);
    snprintf(member, sizeof(member), "\"package_files\": {\"model.safetensors\": \"%s\"}, \"package\"",
             tn_digest_hex(&digest, hex));
    return edited_golden("bert_mean_normalize", "\"package\"", member);
}

static bool reopen(struct world *w, const char *folder, const char *descriptive)
{
    tn_package_options options = TN_INIT(tn_package_options);
    options.descriptive = descriptive ? &descriptive : NULL;
    options.descriptive_count = descriptive ? 1 : 0;
    tn_package_free(w->package);
    w->package = NULL;
    tn_status status = tn_package_open(w->runtime, folder, &options, &w->package, w->err);
    if (status) test_fail(__FILE__, __LINE__, "%s: %s", folder, tn_error_message(w->err));
    return status == TN_OK;
}

static const char *plan_level(struct world *w, const char *require_level)
{
    tn_plan_options options = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_document *document = NULL;
    struct tn_json_doc doc = {0};
    static char level[64];
    options.task = "embedding.dense";
    options.require_level = require_level;
    tn_status status = tn_plan_new(w->package, &options, &plan, w->err);
    if (!status) status = tn_plan_json(plan, &document, w->err);
    snprintf(level, sizeof(level), "%s", tn_status_name(status));
    if (!status) snprintf(level, sizeof(level), "%s", text_at(parsed(w, document, &doc), "/evidence_level"));
    tn_json_release(&doc);
    tn_plan_free(plan);
    return level;
}

TEST(a_plan_knows_its_evidence)
{
    struct world w;
    tn_document *document = NULL;
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    CHECK_STR(plan_level(&w, NULL), "structurally_valid");
    CHECK_STR(plan_level(&w, "reference_qualified"), "version_unqualified");
    REQUIRE(qualify(&w, golden_of("bert_mean_normalize"), NULL, &document) == TN_OK);
    tn_document_free(document);
    CHECK_STR(plan_level(&w, "reference_qualified"), "reference_qualified");
    REQUIRE(qualify(&w, edited_golden("bert_mean_normalize", "0.248901948", "0.25"), NULL, &document) == TN_OK);
    tn_document_free(document);
    CHECK_STR(plan_level(&w, NULL), "loads");
    CHECK_STR(plan_level(&w, "reference_qualified"), "version_unqualified");
    /* Another package learns nothing from it. */
    tn_package_free(w.package);
    REQUIRE(tn_package_open(w.runtime, test_path("golden/packages/mpnet_mean_normalize"), NULL, &w.package, w.err) == TN_OK);
    CHECK_STR(plan_level(&w, NULL), "structurally_valid");
    world_close(&w);
}

/* Each change ends exactly the evidence that rests on it. */
TEST(evidence_expires_by_what_it_rests_on)
{
    static const struct {
        struct package_edit edit;
        const char *level;
    } cases[] = {
        {{"readme", "README.md", "Random", "RANDOM"}, "reference_qualified"},
        {{"author", "config.json", "random/bert", "other/bert"}, "reference_qualified"},
        {{"spaces", "config.json", "\"vocab_size\": 209", "\"vocab_size\" :  209"}, "reference_qualified"},
        {{"tokenizer", "tokenizer.json", "\"version\"", "\"version\" "}, "loads"},
        {{"prompts", "config_sentence_transformers.json", "{\n", "{\"prompts\": {\"q\": \"ask: \"},"}, "loads"},
        {{"limit", "sentence_bert_config.json", "48", "32"}, "loads"},
        {{"epsilon", "config.json", "1e-12", "1e-5"}, "structurally_valid"},
        {{"names", "model.safetensors", "\"format\":\"pt\"", "\"format\":\"np\""}, "structurally_valid"},
    };
    struct world w;
    tn_document *document = NULL;
    char folder[512];
    const char *golden = golden_of_weights();
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    REQUIRE(qualify(&w, golden, NULL, &document) == TN_OK);
    tn_document_free(document);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        package_copy(folder, sizeof(folder), &cases[i].edit);
        if (!reopen(&w, folder, NULL)) continue;
        const char *level = plan_level(&w, NULL);
        if (strcmp(level, cases[i].level) != 0) {
            test_fail(__FILE__, __LINE__, "%s: %s, expected %s", cases[i].edit.name, level, cases[i].level);
        }
    }
    world_close(&w);
}

/* A field that only the caller vouches for: it may agree with a golden and is no evidence for the package all the same. */
TEST(what_the_caller_vouches_for_is_not_evidence)
{
    static const struct package_edit edit = {"vouched", "config.json", "\"use_cache\": true",
                                             "\"use_cache\": true, \"use_some\": true"};
    struct world w;
    struct tn_json_doc doc = {0};
    tn_document *document = NULL;
    char folder[512];
    const char *golden = golden_of_weights();
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    package_copy(folder, sizeof(folder), &edit);
    REQUIRE(reopen(&w, folder, NULL));
    CHECK_INT(qualify(&w, golden, NULL, &document), TN_UNSUPPORTED_CONFIG);
    REQUIRE(reopen(&w, folder, "/use_some"));
    REQUIRE(qualify(&w, golden, NULL, &document) == TN_OK);
    struct tn_json record = parsed(&w, document, &doc);
    show_failures("vouched", record);
    CHECK_STR(text_at(record, "/level"), "loads");
    CHECK_STR(text_at(check_named(record, "golden.embedding"), "/outcome"), "passed");
    CHECK_STR(text_at(check_named(record, "package.understood"), "/outcome"), "skipped");
    tn_json_release(&doc);
    world_close(&w);
}

TEST(records_are_listed_shown_and_exported)
{
    struct world w;
    tn_document *document = NULL;
    struct tn_json_doc one = {0}, list = {0}, shown = {0}, all = {0};
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    REQUIRE(tn_records_list(w.runtime, &document, w.err) == TN_OK);
    CHECK_INT(tn_json_count(tn_json_get(parsed(&w, document, &list), "records")), 0);
    tn_json_release(&list);
    REQUIRE(qualify(&w, NULL, NULL, &document) == TN_OK);
    const char *id = text_at(parsed(&w, document, &one), "/id");
    REQUIRE(tn_records_list(w.runtime, &document, w.err) == TN_OK);
    struct tn_json row = tn_json_find(parsed(&w, document, &list), "/records/0");
    CHECK_STR(text_at(row, "/id"), id);
    CHECK_STR(text_at(row, "/level"), "loads");
    CHECK_STR(text_at(row, "/holds_here"), "loads");
    CHECK_INT(tn_json_count(tn_json_get(row, "changed")), 0);
    CHECK_STR(text_at(row, "/package"), "bert_mean_normalize");
    REQUIRE(tn_records_show(w.runtime, id, &document, w.err) == TN_OK);
    CHECK_STR(text_at(parsed(&w, document, &shown), "/id"), id);
    REQUIRE(tn_records_export(w.runtime, &document, w.err) == TN_OK);
    CHECK_STR(text_at(parsed(&w, document, &all), "/records/0/id"), id);
    CHECK_INT(tn_records_show(w.runtime, "ffffffff", &document, w.err), TN_ARTIFACT_MISSING);
    CHECK_INT(tn_records_show(w.runtime, "x", &document, w.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_show(w.runtime, NULL, &document, w.err), TN_INVALID_REQUEST);
    tn_json_release(&one);
    tn_json_release(&list);
    tn_json_release(&shown);
    tn_json_release(&all);
    world_close(&w);
}

TEST(a_record_that_cannot_be_stored_is_still_returned)
{
    struct world w;
    tn_document *document = NULL;
    struct tn_json_doc doc = {0};
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    test_write_file(w.state, "a file where the folder should be", 33);
    REQUIRE(qualify(&w, NULL, NULL, &document) == TN_OK);
    struct tn_json record = parsed(&w, document, &doc);
    CHECK(true_at(record, "/passed"));
    CHECK(!true_at(record, "/stored/done"));
    CHECK_STR(text_at(record, "/stored/error/code"), "invalid_request");
    tn_json_release(&doc);
    world_close(&w);
    REQUIRE(world_open(&w, "bert_mean_normalize", false));
    REQUIRE(qualify(&w, NULL, NULL, &document) == TN_OK);
    record = parsed(&w, document, &doc);
    CHECK_STR(text_at(record, "/stored/error/message"), "the runtime has no state folder");
    tn_json_release(&doc);
    world_close(&w);
}

TEST(a_cancelled_run_leaves_nothing)
{
    struct world w;
    tn_document *document = NULL;
    tn_cancel_token *token = NULL;
    tn_memory_info before = TN_INIT(tn_memory_info), after = TN_INIT(tn_memory_info);
    tn_plan_options plan = TN_INIT(tn_plan_options);
    tn_qualify_options options = TN_INIT(tn_qualify_options);
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    REQUIRE(tn_cancel_token_new(w.runtime, &token, w.err) == TN_OK);
    plan.task = "embedding.dense";
    options.plan = &plan;
    options.cancel = token;
    REQUIRE(qualify(&w, NULL, NULL, &document) == TN_OK); /* the pool's threads are there from now on */
    tn_document_free(document);
    tn_runtime_memory(w.runtime, false, &before);
    tn_cancel_token_request(token);
    CHECK_INT(tn_qualify(w.package, &options, &document, w.err), TN_CANCELLED);
    CHECK(document == NULL);
    tn_runtime_memory(w.runtime, false, &after);
    CHECK_INT(after.current_bytes, before.current_bytes);
    CHECK_INT(after.blocks, before.blocks);
    tn_cancel_token_free(token);
    world_close(&w);
}

TEST(arguments_are_checked)
{
    struct world w;
    tn_document *document = NULL;
    tn_qualify_options options = TN_INIT(tn_qualify_options);
    REQUIRE(world_open(&w, "bert_mean_normalize", false));
    CHECK_INT(tn_qualify(NULL, &options, &document, w.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_qualify(w.package, &options, NULL, w.err), TN_INVALID_REQUEST);
    options.struct_size = 3;
    CHECK_INT(tn_qualify(w.package, &options, &document, w.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_list(NULL, &document, w.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_list(w.runtime, NULL, w.err), TN_INVALID_REQUEST);
    CHECK_INT(tn_records_list(w.runtime, &document, NULL), TN_INVALID_REQUEST); /* no state folder */
    world_close(&w);
}

/* In bf16 single components move; what is compared is the direction, with f32 and with the golden. */
TEST(bf16_is_judged_by_direction)
{
    struct world w;
    tn_document *document = NULL;
    struct tn_json_doc doc = {0};
    REQUIRE(world_open(&w, "bert_mean_normalize", true));
    tn_status status = qualify(&w, golden_of("bert_mean_normalize"), "bf16", &document);
    if (status == TN_UNSUPPORTED_OPERATOR) {
        world_close(&w);
        test_skip("this CPU has no bf16 kernels");
    }
    REQUIRE(status == TN_OK);
    struct tn_json record = parsed(&w, document, &doc);
    CHECK_STR(text_at(check_named(record, "company.alone"), "/outcome"), "passed");
    CHECK_STR(text_at(check_named(record, "threads.one"), "/outcome"), "passed");
    double cosine = 0;
    CHECK(tn_json_f64(tn_json_find(check_named(record, "numeric.cosine"), "/measured/min_cosine"), &cosine));
    CHECK(cosine > 0.999 && cosine < 1);
    CHECK_STR(text_at(record, "/numeric/compute"), "bf16");
    tn_json_release(&doc);
    world_close(&w);
}
