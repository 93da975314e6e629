/*
 * No string of a genai_config.json leads out of the package, whatever key it stands under and however the losses are taken;
 * what is called a file is spelled like one; names of ports are no paths.
 */
#include "genai_kit.h"

struct row {
    const char *from, *to, *pointer;
    enum tn_status code; /* TN_OK: accepted */
};

#define AT_TYPE "\"bos_token_id\": 1"
#define OPTIONS(text) "\"bos_token_id\": 1, \"zzz\": " text
#define SESSION(text) "\"head_size\": 8, \"session_options\": " text
#define SESSION_AT "/model/decoder/session_options"

static void run_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        genai_new("plain");
        kit_options.accept_loss = true;
        kit_edit(DOCUMENT, rows[i].from, rows[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        expect_faults(d, rows[i].code != TN_OK, __LINE__);
        if (rows[i].code) KIT_EXPECT(d, TN_BLOCKER, rows[i].code, DOCUMENT, rows[i].pointer, "");
        if (has_contract(d) != (rows[i].code == TN_OK)) test_fail(__FILE__, __LINE__, "row %zu: %s", i, rows[i].to);
        kit_close(d);
    }
}

TEST(every_string_stays_inside)
{
    static const struct row rows[] = {
        {"\"head_size\": 8", SESSION("{\"external_data_file\": \"../x\"}"), SESSION_AT "/external_data_file", TN_PATH_ESCAPE},
        {"\"head_size\": 8", SESSION("{\"optimized_model_filepath\": \"/tmp/pwn\"}"), SESSION_AT "/optimized_model_filepath",
         TN_PATH_ESCAPE},
        {"\"head_size\": 8", SESSION("{\"config_entries\": {\"..\": \"../x\"}}"), SESSION_AT "/config_entries/..", TN_PATH_ESCAPE},
        {"\"head_size\": 8", SESSION("{\"config_entries\": {\"a\": \"b\\\\..\\\\c\"}}"), SESSION_AT "/config_entries/a",
         TN_PATH_ESCAPE},
        {"\"head_size\": 8", "\"head_size\": 8, \"adapters\": {\"a\": \"../x\"}", "/model/decoder/adapters/a", TN_PATH_ESCAPE},
        {AT_TYPE, OPTIONS("{\"file\": \"../x\"}"), "/model/zzz/file", TN_PATH_ESCAPE},
        {AT_TYPE, OPTIONS("{\"filename\": [\"../x\"]}"), "/model/zzz/filename/0", TN_PATH_ESCAPE},
        {AT_TYPE, OPTIONS("[[[[[[[[[[[[\"c:/x\"]]]]]]]]]]]]"), "/model/zzz/0/0/0/0/0/0/0/0/0/0/0/0", TN_PATH_ESCAPE},
        {AT_TYPE, OPTIONS("\"..\""), "/model/zzz", TN_PATH_ESCAPE},
        {AT_TYPE, OPTIONS("\"\\\\\\\\host\\\\x\""), "/model/zzz", TN_PATH_ESCAPE},
        {AT_TYPE, OPTIONS("{\"weights_path\": \"a:b\"}"), "/model/zzz/weights_path", TN_PATH_ESCAPE},
        {AT_TYPE, OPTIONS("[\"..x\", \"x..\", \"a/...\", \"b:/\", \"a:b\", \"x/y\", \".\", \"\"]"), "/model/zzz/3", TN_PATH_ESCAPE},
    };
    run_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* As in our own documents, so that one file has one name. */
TEST(files_are_spelled_as_they_are)
{
    static const struct row rows[] = {
        {"\"model.onnx\"", "\"model.onnx/\"", "/model/decoder/filename", TN_METADATA_INVALID},
        {"\"model.onnx\"", "\"./model.onnx\"", "/model/decoder/filename", TN_METADATA_INVALID},
        {AT_TYPE, OPTIONS("{\"cache_path\": \"a//b\"}"), "/model/zzz/cache_path", TN_METADATA_INVALID},
        {AT_TYPE, OPTIONS("{\"some_file\": [\"a\", \"b/\"]}"), "/model/zzz/some_file/1", TN_METADATA_INVALID},
    };
    run_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

TEST(what_leads_nowhere_is_accepted)
{
    static const struct row rows[] = {
        {AT_TYPE, OPTIONS("[\"..x\", \"x..\", \"a/...\", \"a:b\", \"x/y\", \".\", \"\", \"a//b\"]"), NULL, TN_OK},
        {AT_TYPE, OPTIONS("{\"file_names\": \"a//b\", \"some_path\": \"QnnHtp.dll\"}"), NULL, TN_OK},
        {"\"head_size\": 8", SESSION("{\"log_id\": \"x\"}"), NULL, TN_OK},
    };
    run_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Exporters call ports after scopes; that the graph has no such port is another fault. */
TEST(names_of_ports_are_no_paths)
{
    genai_new("plain");
    kit_edit(DOCUMENT, "\"logits\": \"logits\"", "\"logits\": \"/lm_head/../logits\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 1);
    KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/model/decoder/outputs/logits", "the graph lacks");
    kit_close(d);
}
