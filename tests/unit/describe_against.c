/*
 * A contract beside the files of its convention: what differs is a warning at the contract's member, with the value of either
 * side and the place where the convention says its own. And what a contract states of weights that are of several types.
 */
#include "documents_kit.h"

#include "describe/convention.h"

/* ---- differences ------------------------------------------------------------------------------------------------------- */

static size_t warnings(const struct tn_description *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->findings.count; i++) count += d->findings.items[i].severity == TN_WARNING;
    return count;
}

static struct tn_digest fingerprint(const struct tn_description *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_description_fingerprint(d, &h);
    return tn_sha256_finish(&h);
}

/* A Dropout that leaves a gap in the numbers of the modules, and two modules behind it. */
static bool with_a_gap(void)
{
    kit_new();
    kit_put("modules.json", "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_Pooling", "Pooling") ", "
                            KIT_MODULE("2", "2_Dropout", "Dropout") ", " KIT_MODULE("3", "3_Dense", "Dense") ", "
                            KIT_MODULE("4", "4_Normalize", "Normalize") "]");
    kit_put("2_Dropout/config.json", "{\"dropout\": 0.2}");
    kit_put("3_Dense/config.json", KIT_DENSE);
    put_safetensors(kit_name("3_Dense/model.safetensors"), KIT_DENSE_TENSORS, 144);
    return documents_beside(false);
}

/* The numbers of the modules are places in the list of the convention: they name modules in messages and compute nothing. */
TEST(a_gap_in_the_numbers_of_modules_is_told_and_changes_nothing)
{
    REQUIRE(with_a_gap());
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 4);
    KIT_CLEAN(d);
    CHECK_INT(d->modules[2].index, 3);
    CHECK_INT(d->modules[3].index, 4);
    struct tn_digest first = fingerprint(d);
    kit_close(d);
    kit_edit(DOCUMENT, "\"index\": 3", "\"index\": 2");
    d = kit_describe();
    REQUIRE(d && d->module_count == 4);
    KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/modules/2/index", "decides against the convention's files",
               "2 in the contract, 3 by ");
    CHECK_INT(d->findings.blockers, 0);
    CHECK_INT(warnings(d), 1);
    CHECK_INT(d->modules[2].index, 2);
    struct tn_digest other = fingerprint(d);
    CHECK(tn_digest_eq(&first, &other));
    kit_close(d);
    /* Against one another the two documents differ in the gap alone, and neither is refused. */
    kit_edit(DOCUMENT, "\"index\": 4", "\"index\": 3");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/modules/3/index", NULL, "3 in the contract, 4 by ");
    CHECK_INT(warnings(d), 2);
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);
}

/* Behind a gap the convention's facts are those of the module, not of its position. */
TEST(a_difference_behind_a_gap_names_the_files_of_its_module)
{
    REQUIRE(with_a_gap());
    kit_edit(DOCUMENT, "\"activation\": \"tanh\"", "\"activation\": \"relu\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/modules/2/activation", NULL,
               "\"relu\" in the contract, \"tanh\" by 3_Dense/config.json#/activation_function");
    CHECK_INT(warnings(d), 1);
    kit_close(d);
}

/* One edit of the document and the one warning that it leads to. */
static void one_difference(const char *from, const char *to, const char *pointer, const char *found, int line)
{
    kit_edit(DOCUMENT, from, to);
    struct tn_description *d = kit_describe();
    if (!d) return;
    kit_expect(d, (struct kit_expected){TN_WARNING, TN_METADATA_INVALID, DOCUMENT, pointer, "decides against", found, NULL,
                                       "remove the documents"}, __FILE__, line);
    CHECK_INT(warnings(d), 1);
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);
}

/* A chain whose Dense stands at this position, behind as many Normalize modules as that takes. */
static bool with_dense_at(unsigned position)
{
    char text[2048] = "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_Pooling", "Pooling");
    size_t n = strlen(text);
    kit_new();
    for (unsigned i = 2; i <= position; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              ", {\"idx\": %u, \"name\": \"%u\", \"path\": \"%s\", \"type\": \"sentence_transformers.models.%s\"}", i, i,
                              i == position ? "2_Dense" : "3_Normalize", i == position ? "Dense" : "Normalize");
    snprintf(text + n, sizeof(text) - n, "]");
    kit_put("modules.json", text);
    return documents_beside(false);
}

TEST(a_difference_names_its_module_at_any_position)
{
    static const unsigned positions[] = {2, 8, 9, 10, 12};
    for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++) {
        char pointer[64];
        REQUIRE(with_dense_at(positions[i]));
        snprintf(pointer, sizeof(pointer), "/modules/%u/activation", positions[i]);
        one_difference("\"activation\": \"tanh\"", "\"activation\": \"relu\"", pointer,
                       "\"relu\" in the contract, \"tanh\" by 2_Dense/config.json#/activation_function", __LINE__);
    }
}

/* One side has a module more. */
TEST(a_module_of_one_side_alone)
{
    static const char shorter[] = "[" KIT_MODULE("0", "", "Transformer") ", " KIT_MODULE("1", "1_Pooling", "Pooling") ", "
                                  KIT_MODULE("2", "2_Dense", "Dense") "]";
    kit_new();
    REQUIRE(documents_beside(false));
    kit_put("modules.json", shorter);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/modules/3", NULL, "in the contract, nothing by modules.json");
    CHECK_INT(warnings(d), 1);
    CHECK_INT(d->module_count, 4);
    kit_close(d);
    REQUIRE(documents_beside(false)); /* of the four, again: the contract decides */
    kit_put("modules.json", KIT_MODULES);
    d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
    kit_new();
    kit_put("modules.json", shorter);
    REQUIRE(documents_beside(false));
    kit_put("modules.json", KIT_MODULES);
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/modules/3", NULL, "nothing in the contract, {");
    CHECK_INT(warnings(d), 1);
    CHECK_INT(d->module_count, 3);
    kit_close(d);
}

TEST(a_difference_says_where_the_convention_says_it)
{
    static const char *const rows[][4] = {
        {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"", "/components/0/config/hidden_act",
         "\"relu\" in the contract, \"gelu\" by config.json#/hidden_act"},
        {"\"architecture\": \"BertModel\"", "\"architecture\": \"BertForMaskedLM\"", "/components/0/architecture",
         "\"BertModel\" by config.json#/architectures"},
        {"\"similarity\": \"cosine\"", "\"similarity\": \"dot\"", "/similarity",
         "\"cosine\" by config_sentence_transformers.json#/similarity_fn_name"},
        {"\"query\": \"Q: \"", "\"query\": \"Query: \"", "/prompts/query",
         "\"Query: \" in the contract, \"Q: \" by config_sentence_transformers.json#/prompts/query"},
        {"\"max_seq_length\": 16", "\"max_seq_length\": 15", "/max_seq_length",
         "15 in the contract, 16 by sentence_bert_config.json#/max_seq_length"},
        {"\"pooling\": [\n        \"mean\"", "\"pooling\": [\n        \"max\"", "/modules/1/pooling/0", "by 1_Pooling/config.json"},
        {"\"truncation_side\": \"right\"", "\"truncation_side\": \"left\"", "/tokenizer/truncation_side", "\"right\" by "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        kit_new();
        REQUIRE(documents_beside(false));
        if (i == 4) kit_edit(CONTRACT, "max_sequence_length: 16", "max_sequence_length: 15");
        one_difference(rows[i][0], rows[i][1], rows[i][2], rows[i][3], __LINE__);
    }
}

/* Names of prompts are whole: neither a longer one, nor one that is a default, is mistaken for the one that differs. */
TEST(a_difference_names_its_prompt)
{
    static const char prompts[] = "\"prompts\": {\"query.long\": \"L\", \"a/b~c\": \"S\", \"query\": \"Q: \"";
    static const char *const rows[][4] = {
        {"\"query\": \"Q: \"", "\"query\": \"R\"", "/prompts/query", "\"Q: \" by config_sentence_transformers.json#/prompts/query"},
        {"\"query.long\": \"L\"", "\"query.long\": \"R\"", "/prompts/query.long",
         "\"L\" by config_sentence_transformers.json#/prompts/query.long"},
        {"\"a/b~c\": \"S\"", "\"a/b~c\": \"R\"", "/prompts/a~1b~0c", "\"S\" by config_sentence_transformers.json#/prompts/a~1b~0c"},
        {"\"document\": \"\"", "\"document\": \"R\"", "/prompts/document", "\"\" by config_sentence_transformers.json"},
        {"\"query\": \"Q: \"", "\"quer\": \"Q: \"", "/prompts/quer", "\"Q: \" in the contract, nothing by config_sentence_transformers.json"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        kit_new();
        kit_edit("config_sentence_transformers.json", "\"prompts\": {\"query\": \"Q: \"", prompts);
        REQUIRE(documents_beside(false));
        kit_edit(DOCUMENT, rows[i][0], rows[i][1]);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, rows[i][2], "decides against", rows[i][3]);
        CHECK_INT(warnings(d), i == 4 ? 2 : 1);
        for (size_t k = 0; k < d->findings.count && i > 2; k++) /* no file says it: no place in one */
            if (strcmp(d->findings.items[k].element, rows[i][2]) == 0) CHECK(!strchr(d->findings.items[k].found, '#'));
        kit_close(d);
    }
}

/* A text that a file states counts beside a fault of another file. */
TEST(a_prompt_beside_a_refused_convention)
{
    kit_new();
    REQUIRE(documents_beside(false));
    kit_edit(DOCUMENT, "\"query\": \"Q: \"", "\"query\": \"Query: \"");
    kit_edit("config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/prompts/query", "decides against",
               "\"Q: \" by config_sentence_transformers.json#/prompts/query");
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_CONFIG, "config.json", "/hidden_act", NULL, "sine");
    CHECK_INT(warnings(d), 2);
    kit_close(d);
}

/* What the documents name is theirs; what else a convention would read is beside them. */
TEST(files_beside_a_contract)
{
    static const struct {
        const char *path;
        bool beside;
    } rows[] = {
        {"config.json", true},  {"vocab.txt", true},           {"tokenizer.json", false}, {DOCUMENT, false},
        {CONTRACT, false},      {"model.safetensors", false}, {"nowhere.json", false},   {"special_tokens_map.json", true},
    };
    REQUIRE(documents_alone());
    kit_put("config.json", KIT_CONFIG);
    kit_put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n");
    kit_put("special_tokens_map.json", "{}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (tn_is_beside_contract(d, tn_str_of(rows[i].path)) != rows[i].beside) test_fail(__FILE__, __LINE__, "%s", rows[i].path);
    kit_close(d);
    kit_edit(DOCUMENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"\"");
    kit_edit(DOCUMENT, "\"vocab_txt\": \"\"", "\"vocab_txt\": \"vocab.txt\"");
    kit_edit(DOCUMENT, "\"source\": \"file\"", "\"source\": \"vocab\"");
    d = kit_describe();
    REQUIRE(d);
    CHECK(!tn_is_beside_contract(d, TN_STR("vocab.txt")));
    kit_close(d);
    /* Without a contract nothing is beside one. */
    kit_new();
    d = kit_describe();
    REQUIRE(d);
    CHECK(!tn_is_beside_contract(d, TN_STR("config.json")));
    kit_close(d);
}

/* ---- a convention that is refused ------------------------------------------------------------------------------------- */

#define REFUSED "by the convention's own files alone the package would be refused"

static size_t notes(const struct tn_description *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->findings.count; i++)
        count += d->findings.items[i].severity == TN_NOTE && strcmp(d->findings.items[i].message, REFUSED) == 0;
    return count;
}

/* What is no document's fault keeps the package from running by the convention: told once, and where. */
TEST(weights_that_the_convention_alone_misses)
{
    kit_new();
    REQUIRE(documents_beside(false));
    kit_edit("modules.json", "\"path\": \"2_Dense\"", "\"path\": \"9_Dense\"");
    kit_put("9_Dense/config.json", KIT_DENSE);
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_NOTE, TN_ARTIFACT_MISSING, "9_Dense/model.safetensors", NULL, REFUSED, "has no weights");
    CHECK_INT(notes(d), 1);
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);
    /* Beside a document's own fault, which is a warning at its place, it is not told. */
    kit_edit("config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\"");
    d = kit_describe();
    REQUIRE(d);
    KIT_EXPECT(d, TN_WARNING, TN_UNSUPPORTED_CONFIG, "config.json", "/hidden_act", REFUSED, "sine");
    CHECK_INT(notes(d), 0);
    CHECK_INT(d->findings.blockers, 0);
    kit_close(d);
}

/* A comparison that found no memory is none: nothing is described then. */
TEST(a_comparison_without_memory)
{
    struct tn_description *d = NULL;
    kit_new();
    REQUIRE(documents_beside(true));
    kit_edit(DOCUMENT, "\"activation\": \"tanh\"", "\"activation\": \"relu\"");
    struct tn_inventory *inv = open_package(in_folder("%s", kit_root));
    REQUIRE(inv);
    uint64_t before = tn_alloc_current(&alloc);
    for (uint64_t n = 1; n < 100000; n++) {
        tn_error_clear(err);
        tn_alloc_fail(&alloc, n, n % 2 == 0);
        enum tn_status status = tn_describe(inv, &kit_options, &d, err);
        bool reached = alloc.calls >= alloc.fail_at;
        tn_alloc_fail(&alloc, 0, false);
        if (status != (reached ? TN_INSUFFICIENT_MEMORY : TN_OK))
            test_fail(__FILE__, __LINE__, "allocation %llu: %s", (unsigned long long)n, tn_status_name(status));
        if (!reached) CHECK_INT(warnings(d), 1);
        tn_description_free(status ? NULL : d);
        CHECK_INT(tn_alloc_current(&alloc), before);
        if (!reached) break;
    }
    close_package(inv);
}

/* ---- precision of weights --------------------------------------------------------------------------------------------- */

#define TOP "schema_version: v1\n"
#define DEFAULT(word) TOP "quantization:\n  default: " word "\n"
#define OVERRIDE(word) TOP "quantization:\n  overrides:\n  - layers: [0]\n    precision: " word "\n"

#define TENSOR(name, type, count, from, to) \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" count "],\"data_offsets\":[" from "," to "]}"

static const char two_floats[] = "{" TENSOR("a", "F32", "2", "0", "8") "," TENSOR("b", "F16", "4", "8", "16") "}";
static const char half_and_indices[] = "{" TENSOR("a", "F16", "4", "0", "8") "," TENSOR("b", "I64", "1", "8", "16") "}";
static const char whole_numbers[] = "{" TENSOR("a", "I64", "1", "0", "8") "," TENSOR("b", "I32", "2", "8", "16") "}";
static const char twice_the_first[] = "{" TENSOR("a", "F16", "2", "0", "4") "," TENSOR("b", "F32", "2", "4", "12") ","
                                      TENSOR("c", "F16", "2", "12", "16") "}";

/* Findings about the statement at a pointer; of the weights themselves there are others. */
static size_t about(const struct tn_description *d, const char *pointer)
{
    size_t count = 0;
    for (size_t i = 0; i < d->findings.count; i++)
        count += strcmp(d->findings.items[i].file, CONTRACT) == 0 && strcmp(d->findings.items[i].element, pointer) == 0;
    return count;
}

TEST(a_precision_beside_weights_of_several_types)
{
    static const struct {
        const char *header, *to, *pointer;
        enum tn_status code; /* TN_OK: it is true */
        const char *expected;
    } rows[] = {
        {two_floats, DEFAULT("float32"), "/quantization/default", TN_UNSUPPORTED_CONFIG, "nothing"},
        {two_floats, DEFAULT("float16"), "/quantization/default", TN_UNSUPPORTED_CONFIG, "nothing"},
        {two_floats, OVERRIDE("fp16"), "/quantization/overrides/0/precision", TN_UNSUPPORTED_CONFIG, "nothing"},
        {twice_the_first, DEFAULT("float16"), "/quantization/default", TN_UNSUPPORTED_CONFIG, "nothing"},
        {whole_numbers, DEFAULT("int8"), "/quantization/default", TN_UNSUPPORTED_CONFIG, "nothing"},
        {half_and_indices, DEFAULT("float16"), "/quantization/default", TN_OK, ""},
        {half_and_indices, OVERRIDE("fp16"), "/quantization/overrides/0/precision", TN_OK, ""},
        {half_and_indices, DEFAULT("float32"), "/quantization/default", TN_METADATA_INVALID, "which is f16"},
        {half_and_indices, OVERRIDE("bf16"), "/quantization/overrides/0/precision", TN_METADATA_INVALID, "which is f16"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REQUIRE(documents_alone());
        put_safetensors(kit_name("model.safetensors"), rows[i].header, 16);
        kit_edit(CONTRACT, TOP, rows[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        CHECK_INT(about(d, rows[i].pointer), rows[i].code != TN_OK);
        if (rows[i].code) KIT_EXPECT(d, TN_BLOCKER, rows[i].code, CONTRACT, rows[i].pointer, NULL, NULL, rows[i].expected);
        kit_close(d);
    }
}
