/*
 * What the import of a genai_config loses: token ids, windows and heads that the standard's form cannot say; that the list
 * stands in the described package, is read from there again and is evidence; and what happens when document and original
 * disagree later.
 */
#include "genai_kit.h"

#include "base/json_write.h"
#include "describe/serial.h"

#define CONTRACT "inference_metadata.yaml"
#define CONTENT "tenon_package.json"
#define BOS "/model/bos_token_id"
#define EOS "/model/eos_token_id"

static const struct tn_loss *loss_at(const struct tn_description *d, const char *pointer)
{
    for (uint32_t i = 0; i < d->loss_count; i++)
        if (tn_str_is(d->losses[i].pointer, pointer)) return &d->losses[i];
    return NULL;
}

static const struct tn_std_special_token *special(const struct tn_description *d, const char *role)
{
    for (size_t i = 0; i < d->standard.tokenizer.special_count; i++)
        if (tn_str_is(d->standard.tokenizer.special[i].role, role)) return &d->standard.tokenizer.special[i];
    return NULL;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

TEST(tokens_have_their_texts)
{
    genai_new("plain");
    struct tn_description *d = kit_describe();
    REQUIRE(d && has_contract(d));
    FAULTS(d, 0);
    CHECK_INT(d->loss_count, 0);
    CHECK_TSTR(d->standard.tokenizer.algorithm.name, "bpe");
    CHECK_INT(d->standard.tokenizer.vocab_size.value, 100);
    CHECK_INT(d->standard.tokenizer.special_count, 3);
    REQUIRE(special(d, "bos") && special(d, "eos") && special(d, "pad"));
    CHECK_INT(special(d, "eos")->id.value, 2);
    CHECK_TSTR(special(d, "eos")->content.name, "t2");
    REQUIRE(d->standard.tokenizer.artifacts.count == 1);
    CHECK_TSTR(d->standard.tokenizer.artifacts.items[0].name, "tokenizer.json");
    kit_close(d);
    /* An added token holds, whatever the model says of its id, and counts among the ids. */
    kit_edit("tokenizer.json", "\"added_tokens\": []", "\"added_tokens\": [" KIT_ADDED("2", "</s>") ", " KIT_ADDED("120", "<x>") "]");
    d = kit_describe();
    REQUIRE(d && has_contract(d) && special(d, "eos"));
    CHECK_TSTR(special(d, "eos")->content.name, "</s>");
    CHECK_INT(d->standard.tokenizer.vocab_size.value, 121);
    kit_close(d);
}

/* In the folder that the document names, of a vocabulary that is a list, and by bytes. */
TEST(the_tokenizer_of_another_folder)
{
    genai_bare("plain");
    kit_put("tok/tokenizer.json", "{\"version\": \"1.0\", \"added_tokens\": [], \"decoder\": {\"type\": \"ByteLevel\"}, \"model\": "
                                  "{\"type\": \"Unigram\", \"vocab\": [[\"<p>\", 0], [\"<b>\", 0], [\"<e>\", 0]]}}");
    kit_edit(DOCUMENT, "\"bos_token_id\": 1", "\"bos_token_id\": 1, \"tokenizer_dir\": \"tok\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d && has_contract(d) && special(d, "bos") && special(d, "eos") && special(d, "pad"));
    CHECK_TSTR(d->standard.tokenizer.algorithm.name, "unigram");
    CHECK_TSTR(special(d, "bos")->content.name, "<b>");
    CHECK_TSTR(special(d, "pad")->content.name, "<p>");
    CHECK_TSTR(d->standard.tokenizer.artifacts.items[0].name, "tok/tokenizer.json");
    bool bytes = false;
    CHECK(tn_json_bool(tn_json_find(tn_json_root(&d->contract), "/package/tokenizer/byte_level"), &bytes) && bytes);
    kit_close(d);
}

TEST(an_id_without_a_text_is_a_loss)
{
    genai_bare("plain");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 3);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, DOCUMENT, EOS, "would be lost", "2", NULL, "--accept-loss");
    CHECK(!has_contract(d));
    kit_close(d);
    kit_options.accept_loss = true;
    d = kit_describe();
    REQUIRE(d && has_contract(d));
    CHECK_INT(d->loss_count, 3);
    REQUIRE(loss_at(d, BOS));
    CHECK_INT(loss_at(d, BOS)->kind, TN_LOSS_DROPPED);
    CHECK_FACT(d, "loss." BOS, "1", DOCUMENT);
    CHECK_FACT(d, "tokens.bos", "1", DOCUMENT); /* the description knows it all the same */
    CHECK(!tn_json_present(tn_json_get(tn_json_root(&d->contract), "package")));
    kit_close(d);
    /* There is a tokenizer, and the id is in no vocabulary of it. */
    put_vocabulary("tokenizer.json");
    kit_edit("tokenizer.json", "\"t2\": 2", "\"t2\": 102");
    d = kit_describe();
    REQUIRE(d && has_contract(d));
    CHECK_INT(d->loss_count, 1);
    CHECK(loss_at(d, EOS) && !special(d, "eos") && special(d, "bos"));
    kit_close(d);
}

TEST(further_ids_of_a_list_are_losses)
{
    genai_new("plain");
    kit_edit(DOCUMENT, "\"eos_token_id\": 2", "\"eos_token_id\": [2, 7, 2, 9]");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 2);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, DOCUMENT, EOS "/1", "one token for each role", "7");
    kit_close(d);
    kit_options.accept_loss = true;
    d = kit_describe();
    REQUIRE(d && has_contract(d));
    CHECK_INT(d->loss_count, 2);
    CHECK(loss_at(d, EOS "/1") && loss_at(d, EOS "/3"));
    REQUIRE(special(d, "eos"));
    CHECK_INT(special(d, "eos")->id.value, 2);
    kit_close(d);
    /* One alone in a list is one. */
    kit_options.accept_loss = false;
    kit_edit(DOCUMENT, "[2, 7, 2, 9]", "[5]");
    d = kit_describe();
    REQUIRE(d && has_contract(d) && special(d, "eos"));
    CHECK_INT(special(d, "eos")->id.value, 5);
    kit_close(d);
}

/* What was refused for another reason is no loss beside it. */
TEST(one_fault_of_a_token_is_one_finding)
{
    static const struct genai_fault rows[] = {
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": 100", TN_METADATA_INVALID, DOCUMENT, EOS, "outside the vocabulary"),
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": [2, 100]", TN_METADATA_INVALID, DOCUMENT, EOS "/1", "outside"),
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": []", TN_METADATA_INVALID, DOCUMENT, EOS),
        FAULT("plain", 1, "\"eos_token_id\": 2", "\"eos_token_id\": \"x\"", TN_METADATA_INVALID, DOCUMENT, EOS),
    };
    RUN(rows);
    genai_new("plain");
    kit_put("tokenizer.json", "{\"model\": ");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    FAULTS(d, 1);
    CHECK(!has_contract(d));
    kit_close(d);
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

TEST(heads_that_cannot_be_stated)
{
    genai_new("plain");
    kit_edit(DOCUMENT, "\"num_attention_heads\": 4,", "");
    kit_options.accept_loss = true;
    struct tn_description *d = kit_describe();
    REQUIRE(d && has_contract(d));
    CHECK_INT(d->loss_count, 2);
    CHECK(loss_at(d, "/model/decoder/num_key_value_heads") && loss_at(d, "/model/decoder/head_size"));
    kit_close(d);
    /* The size of a head is no condition. */
    genai_new("plain");
    kit_edit(DOCUMENT, "\"head_size\": 8,", "");
    d = kit_describe();
    REQUIRE(d && has_contract(d));
    FAULTS(d, 0);
    CHECK_INT(d->standard.model.heads.value, 4);
    CHECK_INT(d->standard.model.kv_heads.value, 2);
    kit_close(d);
}

/* ---- the described package --------------------------------------------------------------------------------------- */

static char *documents[2]; /* free() */

static void release_documents(void)
{
    for (size_t i = 0; i < 2; i++) {
        free(documents[i]);
        documents[i] = NULL;
    }
}

/* Both documents of the package as it stands into `documents`. */
static bool write_documents(void)
{
    struct tn_serial_options serial = {.yaml = true, .provenance = true};
    struct tn_description *d = kit_describe();
    struct tn_buf texts[2];
    if (!d) return false;
    for (size_t i = 0; i < 2; i++) tn_buf_init(&texts[i], &alloc, 1 << 22);
    tn_error_clear(err);
    bool ok = tn_description_documents(d, &serial, &texts[0], &texts[1], err) == TN_OK;
    if (!ok) test_fail(__FILE__, __LINE__, "%s", err->primary.message);
    release_documents();
    for (size_t i = 0; i < 2; i++) {
        if (ok) documents[i] = strdup(texts[i].data);
        tn_buf_release(&texts[i]);
    }
    kit_close(d);
    return ok;
}

static void put_documents(void)
{
    kit_put(CONTRACT, documents[0]);
    kit_put(CONTENT, documents[1]);
}

/* A package that lost two keys, the text of one id and a window; its documents stand beside it. */
static bool described(bool original)
{
    genai_new("windows");
    kit_edit(DOCUMENT, "\"top_k\": 50", "\"top_k\": 50, \"min_p\": 0.1, \"random_seed\": 4");
    kit_edit("tokenizer.json", "\"t1\": 1", "\"t1\": 101");
    kit_options.accept_loss = true;
    if (!write_documents()) return false;
    put_documents();
    kit_options.accept_loss = false;
    if (!original) kit_remove(DOCUMENT);
    return true;
}

static size_t warnings(const struct tn_description *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->findings.count; i++) n += d->findings.items[i].severity == TN_WARNING;
    return n;
}

TEST(losses_stay_in_the_described_package)
{
    static const char *const pointers[] = {"/model/decoder/sliding_window/window_size", BOS, "/search/min_p", "/search/random_seed"};
    for (int original = 0; original < 2; original++) {
        REQUIRE(described(original));
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK_TSTR(d->dialect, "inference_metadata");
        CHECK_INT(d->loss_count, 4);
        for (size_t i = 0; i < 4; i++) {
            char name[128];
            const struct tn_loss *loss = loss_at(d, pointers[i]);
            REQUIRE(loss);
            CHECK_TSTR(loss->file, DOCUMENT);
            CHECK(loss->reason.n > 10);
            snprintf(name, sizeof(name), "loss.%s", pointers[i]);
            REQUIRE(kit_fact(d, name));
            CHECK_TSTR(kit_fact(d, name)->file, CONTENT);
            CHECK(kit_fact(d, name)->descriptive);
        }
        CHECK_INT(loss_at(d, "/search/min_p")->kind, TN_LOSS_UNKNOWN);
        CHECK_INT(loss_at(d, "/search/random_seed")->kind, TN_LOSS_DROPPED);
        if (warnings(d)) print_findings(&d->findings);
        CHECK_INT(warnings(d), 0); /* the original says the same, and its losses need no second word */
        kit_close(d);
        /* Described again it is the same pair, byte for byte. */
        char *first[2] = {documents[0], documents[1]};
        documents[0] = documents[1] = NULL;
        REQUIRE(write_documents());
        for (size_t i = 0; i < 2; i++) {
            CHECK_STR(documents[i], first[i]);
            free(first[i]);
        }
        release_documents();
    }
}

TEST(a_list_of_losses_is_judged)
{
    static const struct {
        const char *from, *to, *pointer, *message;
        enum tn_status code;
    } rows[] = {
        {"\"class\": \"unknown\"", "\"class\": \"mislaid\"", "/losses/0/class", "", TN_METADATA_INVALID},
        {"\"file\": \"" DOCUMENT "\",\n      \"pointer\"", "\"file\": \"../x\", \"pointer\"", "/losses/0/file", "leaves the package",
         TN_PATH_ESCAPE},
        {"\"pointer\": \"/search/min_p\"", "\"pointer\": \"min_p\"", NULL, "no place in a document", TN_METADATA_INVALID},
        {"\"losses\": [", "\"losses\": [1, ", "/losses/0", "", TN_METADATA_INVALID},
        {"\"losses\": [", "\"loses\": [", "/loses", "", TN_METADATA_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REQUIRE(described(false));
        kit_edit(CONTENT, rows[i].from, rows[i].to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_EXPECT(d, TN_BLOCKER, rows[i].code, CONTENT, rows[i].pointer, rows[i].message);
        kit_close(d);
        release_documents();
    }
}

/* ---- document and original --------------------------------------------------------------------------------------- */

/* The contract decides; what the original says otherwise is a warning, and never a refusal. */
TEST(the_original_is_compared)
{
    static const struct {
        const char *file, *from, *to, *at, *pointer, *found;
    } rows[] = {
        {DOCUMENT, "\"context_length\": 64", "\"context_length\": 128", CONTRACT, "/model/max_sequence_length", "128 by genai_config.json#/model/context_length"},
        {DOCUMENT, "\"top_p\": 1.0", "\"top_p\": 0.5", CONTRACT, "/generation/defaults/top_p", "0.5 by genai_config.json#/search/top_p"},
        {DOCUMENT, "\"min_p\": 0.1", "\"max_p\": 0.1", DOCUMENT, "/search/max_p", "unknown"},
        {CONTRACT, "attention_mask: attention_mask", "attention_mask: position_ids", CONTRACT,
         "/pipeline/workflow/components/decoder/ports/roles/attention_mask", "\"attention_mask\" by the import"},
        {DOCUMENT, "\"filename\": \"model.onnx\"", "\"filename\": \"other.onnx\"", DOCUMENT, "/model/decoder/filename", "other.onnx"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REQUIRE(described(true));
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        size_t blockers = d->findings.blockers;
        kit_close(d);
        kit_edit(rows[i].file, rows[i].from, rows[i].to);
        d = kit_describe();
        REQUIRE(d);
        bool told = false;
        for (size_t k = 0; k < d->findings.count; k++) {
            const struct tn_finding *f = &d->findings.items[k];
            told |= f->severity == TN_WARNING && strcmp(f->file, rows[i].at) == 0 && strcmp(f->element, rows[i].pointer) == 0 &&
                    strstr(f->found, rows[i].found);
        }
        if (!told || d->findings.blockers != blockers) {
            test_fail(__FILE__, __LINE__, "row %zu, %zu blockers instead of %zu", i, d->findings.blockers, blockers);
            print_findings(&d->findings);
        }
        kit_close(d);
        release_documents();
    }
}

static size_t told(const struct tn_description *d, const char *file, const char *pointer, const char *found)
{
    size_t n = 0;
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *f = &d->findings.items[i];
        n += f->severity == TN_WARNING && strcmp(f->file, file) == 0 && strcmp(f->element, pointer) == 0 && strstr(f->found, found);
    }
    return n;
}

/* An import that stops short at a number makes no contract; what else it read is compared all the same. */
TEST(one_wrong_number_hides_no_other)
{
    REQUIRE(described(true));
    release_documents();
    kit_edit(DOCUMENT, "\"vocab_size\": 100", "\"vocab_size\": 99");
    kit_edit(DOCUMENT, "\"temperature\": 1.0", "\"temperature\": 0.5");
    kit_edit(DOCUMENT, "\"context_length\": 64", "\"context_length\": 128");
    kit_edit(DOCUMENT, "\"do_sample\": false", "\"do_sample\": true");
    kit_edit(DOCUMENT, "\"eos_token_id\": 2", "\"eos_token_id\": 3");
    kit_edit(DOCUMENT, "\"min_p\": 0.1", "\"max_p\": 0.1");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->findings.blockers, 0);
    CHECK_INT(told(d, DOCUMENT, "/model/vocab_size", "100"), 1); /* refused there, and the contract's own is not told beside */
    CHECK_INT(told(d, CONTRACT, "/model/vocab_size", ""), 0);
    CHECK_INT(told(d, CONTRACT, "/generation/defaults/temperature", "1.0 in the contract, 0.5 by " DOCUMENT "#/search/temperature"), 1);
    CHECK_INT(told(d, CONTRACT, "/generation/defaults/do_sample", "false in the contract, true by " DOCUMENT "#/search/do_sample"), 1);
    CHECK_INT(told(d, CONTRACT, "/generation/defaults/top_p", ""), 0);
    CHECK_INT(told(d, CONTRACT, "/model/max_sequence_length", "64 in the contract, 128 by " DOCUMENT "#/model/context_length"), 1);
    CHECK_INT(told(d, CONTRACT, "/package/tokenizer/special_tokens/eos/id", "2 in the contract, 3 by " DOCUMENT "#" EOS), 1);
    CHECK_INT(told(d, DOCUMENT, "/search/max_p", "unknown"), 1);
    KIT_EXPECT(d, TN_WARNING, TN_METADATA_INVALID, DOCUMENT, "/search/max_p", "neither carried nor listed", NULL, NULL, "describe the package again");
    CHECK_INT(told(d, DOCUMENT, "/search/min_p", ""), 0); /* an import that stopped short may not have come to it */
    kit_close(d);
}

/* Of a list of ids the contract has the first. */
TEST(a_list_of_ids_beside_a_wrong_number)
{
    REQUIRE(described(true));
    release_documents();
    kit_edit(DOCUMENT, "\"vocab_size\": 100", "\"vocab_size\": 99");
    kit_edit(DOCUMENT, "\"eos_token_id\": 2", "\"eos_token_id\": [2, 3]");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(told(d, CONTRACT, "/package/tokenizer/special_tokens/eos/id", ""), 0);
    kit_close(d);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool has_losses(const struct tn_description *d)
{
    return d->loss_count == 4;
}

TEST(every_allocation_of_reading_losses_can_fail)
{
    REQUIRE(described(true));
    release_documents();
    kit_sweep(has_losses);
}
