/*
 * What goes into and comes out of a package whose component this build runs itself: its ports go by requests, and what it
 * computes comes out. From the documents alone; each fault by its code, its pointer, what was found and what was expected.
 */
#include "documents_kit.h"

/* The same package without its chain: rows stay tokens'. */
static bool encoder_documents(void)
{
    static const char *const conventions[] = {"config.json", "tokenizer_config.json", "sentence_bert_config.json",
                                              "config_sentence_transformers.json", "1_Pooling/config.json",
                                              "2_Dense/config.json"};
    kit_new();
    kit_remove("modules.json");
    if (!documents_beside(false)) return false;
    for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++) kit_remove(conventions[i]);
    return true;
}

/* ---- ports of the component, which this build runs itself ------------------------------------------------------------- */

#define PORT "/pipeline/workflow/components/embedder/ports"
#define FLOW "/pipeline/workflow"
#define INPUT "            text:\n              dtype: string\n              rank: 1\n"
#define OUTPUT "            embedding:\n              dtype: float32\n              rank: 2\n"
#define ROWS "              shape:\n              - batch\n"
#define LAYOUT "              batch_layout:\n                kind: request_aligned\n                axis: 0\n"
#define EDIT(from, to, pointer, ...) KIT_FAULT(CONTRACT, from, to, TN_BLOCKER, TN_METADATA_INVALID, CONTRACT, pointer, __VA_ARGS__)

static const struct kit_fault ports[] = {
    EDIT(INPUT ROWS, INPUT "              shape:\n              - 4\n", PORT "/inputs/text/shape/0", "has one size", "4", "symbol"),
    EDIT(INPUT ROWS, INPUT "              shape:\n              - 0\n", PORT "/inputs/text/shape/0", "has one size", "0", "symbol"),
    EDIT(OUTPUT ROWS, OUTPUT "              shape:\n              - 1\n", PORT "/outputs/embedding/shape/0", "has one size", "1",
         "number of texts"),
    EDIT(OUTPUT ROWS, OUTPUT "              shape:\n              - tokens\n", PORT "/outputs/embedding/shape/0", "not those of the texts",
         "tokens", "\"batch\""),
    EDIT(OUTPUT ROWS "              - 4\n", OUTPUT ROWS "              - batch\n", PORT "/outputs/embedding/shape/1", "one symbol",
         "batch", "another symbol"),
    EDIT(INPUT ROWS LAYOUT, INPUT ROWS "              batch_layout:\n                kind: shared\n",
         PORT "/inputs/text/batch_layout", "row per request", "shared", "request_aligned, axis 0"),
    EDIT(OUTPUT ROWS "              - 4\n" LAYOUT,
         OUTPUT ROWS "              - 4\n              batch_layout:\n                kind: runtime_sequence_state\n",
         PORT "/outputs/embedding/batch_layout", "row per request", "runtime_sequence_state", "request_aligned, axis 0"),
    EDIT(INPUT, "            text:\n              dtype: int64\n              rank: 1\n", PORT "/inputs/text", "another value", "int64",
         "dtype string and rank 1"),
    /* the file */
    EDIT("          artifact: tenon_package.json\n", "", "/pipeline/workflow/components/embedder/implementation/artifact",
         "names no artifact", "nothing", DOCUMENT),
    EDIT("artifact: tenon_package.json\n", "artifact: tenon_package.json/\n",
         "/pipeline/workflow/components/embedder/implementation/artifact", "not named as it is", "a slash at the end", "single slashes"),
    EDIT("artifact: tenon_package.json\n", "artifact: ./tenon_package.json\n",
         "/pipeline/workflow/components/embedder/implementation/artifact", "not named as it is", "\".\"", "single slashes"),
    /* the borders of the workflow, beside ports that hold */
    EDIT("          rank: 1\n          shape:\n          - batch\n", "          rank: 1\n          shape:\n          - 8\n",
         FLOW "/inputs/request.text/contract/shape/0", "has one size", "8", "symbol"),
    EDIT("          rank: 2\n          shape:\n          - batch\n", "          rank: 2\n          shape:\n          - 2\n",
         FLOW "/outputs/embedding/contract/shape/0", "has one size", "2", "symbol"),
    /* nothing comes out */
    EDIT("    - kind: emit\n      mode: replace\n      output: embedding\n      value: text.embedding\n", "", FLOW "/outputs/embedding",
         "no step emits it", "no emit of", "emit step"),
};

TEST(ports_that_are_run_here_go_by_requests)
{
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
        REQUIRE(documents_alone());
        kit_edit(ports[i].name, ports[i].from, ports[i].to);
        struct tn_description *d = kit_describe();
        if (!d) continue;
        kit_expect(d, ports[i].expected, ports[i].file, ports[i].line);
        if (strstr(ports[i].expected.element, "/shape/")) CHECK_INT(d->findings.blockers, 1);
        kit_close(d);
    }
}

/* Rows of tokens: the second axis is a request's own too, and the two are not to be mistaken for each other. */
TEST(rows_of_tokens_go_by_requests)
{
    static const struct kit_fault tokens[] = {
        EDIT("              - batch\n              - tokens\n", "              - tokens\n              - batch\n",
             "/pipeline/workflow/components/encoder/ports/outputs/hidden_states/shape/0", "not those of the texts", "tokens", "\"batch\""),
        EDIT("              - batch\n              - tokens\n", "              - batch\n              - 16\n",
             "/pipeline/workflow/components/encoder/ports/outputs/hidden_states/shape/1", "has one size", "16", "tokens"),
        EDIT("              - batch\n              - tokens\n", "              - batch\n              - batch\n",
             "/pipeline/workflow/components/encoder/ports/outputs/hidden_states/shape/1", "one symbol", "batch", "another"),
    };
    REQUIRE(encoder_documents());
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    KIT_CLEAN(d);
    kit_close(d);
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        REQUIRE(encoder_documents());
        kit_edit(tokens[i].name, tokens[i].from, tokens[i].to);
        d = kit_describe();
        if (!d) continue;
        kit_expect(d, tokens[i].expected, tokens[i].file, tokens[i].line);
        kit_close(d);
    }
}

/* A workflow that declares no output and emits nothing computes in vain, whatever its component declares. */
TEST(what_is_computed_comes_out)
{
    static const char *const without[] = {
        "    - kind: emit\n      mode: replace\n      output: embedding\n      value: text.embedding\n",
        "    outputs:\n      embedding:\n        contract:\n          dtype: float32\n          rank: 2\n          shape:\n"
        "          - batch\n          - 4\n          batch_layout:\n            kind: request_aligned\n            axis: 0\n"
        "        role: tensor\n        stage: post_adapter\n",
        "    outputs:\n      embedding: embedding\n",
    };
    for (int declared = 0; declared < 2; declared++) {
        REQUIRE(documents_alone());
        for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) kit_edit(CONTRACT, without[i], "");
        /* without any port and any result the component's own document is what shows that there is one */
        if (!declared) kit_edit(CONTRACT, "      outputs:\n        embedding: text.embedding\n", "");
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        kit_expect(d, (struct kit_expected){TN_BLOCKER, TN_METADATA_INVALID, CONTRACT, FLOW "/steps",
                                            "comes out", "no emit step", "emit"}, __FILE__, __LINE__);
        kit_close(d);
    }
}

/* Our own document's fields that name files are held to the same. */
TEST(folders_are_spelled_as_they_are)
{
    static const char *const spellings[] = {"2_Dense/", "./2_Dense", "2_Dense//"};
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        char text[64];
        REQUIRE(documents_alone());
        snprintf(text, sizeof(text), "\"path\": \"%s\"", spellings[i]);
        kit_edit(DOCUMENT, "\"path\": \"2_Dense\"", text);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        kit_expect(d, (struct kit_expected){TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, "/modules/2/path", "is not spelled",
                                            spellings[i], "\"2_Dense\""}, __FILE__, __LINE__);
        kit_close(d);
    }
}
