/*
 * A contract beside the files of its convention: what differs is a warning at the contract's member, with the value of either
 * side and the place where the convention says its own. And what a contract states of weights that are of several types.
 */
#include "documents_kit.h"

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
