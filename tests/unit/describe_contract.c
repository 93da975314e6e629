/*
 * Borders of what a contract states of our own component: where a statement is compared and where it is passed over, what the
 * closed list of understood members lets through, and that a fault of the one document is no measure for the other.
 */
#include "documents_kit.h"

#define TOP "schema_version: v1\n"
#define FLOW "/pipeline/workflow"
#define EMBEDDER FLOW "/components/embedder"
#define LAYOUT "              batch_layout:\n                kind: request_aligned\n                axis: 0\n"
#define INPUTS "          inputs:\n            text:\n              dtype: string\n              rank: 1\n              shape:\n" \
               "              - batch\n" LAYOUT

/* Findings at the place in the contract. */
static size_t at(const struct tn_description *d, const char *pointer)
{
    size_t count = 0;
    for (size_t i = 0; i < d->findings.count; i++)
        count += strcmp(d->findings.items[i].file, CONTRACT) == 0 && strcmp(d->findings.items[i].element, pointer) == 0;
    return count;
}

struct edit {
    const char *file, *from, *to;
};

static struct tn_description *edited(const struct edit *edits, size_t count)
{
    if (!documents_alone()) return NULL;
    for (size_t i = 0; i < count && edits[i].file; i++) kit_edit(edits[i].file, edits[i].from, edits[i].to);
    return kit_describe();
}

/* ---- what the component is given ------------------------------------------------------------------------------------- */

TEST(a_component_without_an_input_is_told_where_it_is_missing)
{
    static const struct {
        struct edit edit;
        const char *place;
        size_t told;
    } rows[] = {
        {{CONTRACT, INPUTS, "          inputs: {}\n"}, EMBEDDER "/ports/inputs", 1},
        {{CONTRACT, INPUTS, ""}, EMBEDDER "/ports/inputs", 1},
        /* What the tables refuse is not told again; under a misspelt name they may well stand. */
        {{CONTRACT, INPUTS, "          inputs: 7\n"}, EMBEDDER "/ports/inputs", 1},
        {{CONTRACT, INPUTS, "          inputs: []\n"}, EMBEDDER "/ports/inputs", 1},
        {{CONTRACT, "          inputs:\n            text:\n", "          inptus:\n            text:\n"}, EMBEDDER "/ports/inputs", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_description *d = edited(&rows[i].edit, 1);
        REQUIRE(d);
        if (at(d, rows[i].place) != rows[i].told) {
            test_fail(__FILE__, __LINE__, "row %zu: %zu at %s", i, at(d, rows[i].place), rows[i].place);
            print_findings(&d->findings);
        }
        kit_close(d);
    }
}

/* Axis 0 is that of the texts. Ports that say where their rows lie were compared with it already. */
TEST(rows_lie_on_the_first_axis)
{
#define SCOPE(axis) {CONTRACT, "        implementation:\n", "        row_scope:\n          axis: " axis "\n        implementation:\n"}
#define BARE {CONTRACT, LAYOUT, ""}
    static const struct {
        struct edit edits[3];
        size_t told;
    } rows[] = {
        {{SCOPE("1"), BARE, BARE}, 1},
        {{SCOPE("0"), BARE, BARE}, 0},
        {{SCOPE("0")}, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_description *d = edited(rows[i].edits, 3);
        REQUIRE(d);
        if (at(d, EMBEDDER "/row_scope/axis") != rows[i].told) {
            test_fail(__FILE__, __LINE__, "row %zu", i);
            print_findings(&d->findings);
        }
        if (rows[i].told)
            KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, CONTRACT, EMBEDDER "/row_scope/axis", "contradict each other", "1",
                       "0, the axis of the texts");
        kit_close(d);
    }
}

/* ---- one fault, one measure ----------------------------------------------------------------------------------------------- */

#define ATTENTION "model:\n  attention:\n    type: multi_head\n    num_attention_heads: 3\n    head_dim: 9\n"
#define SIZES "  max_sequence_length: 16\n  vocab_size: 7\n"

/* A value of our own document that was refused says nothing about the contract's. */
TEST(what_was_refused_is_no_measure)
{
    static const struct {
        struct edit edits[2];
        const char *place;
        size_t told;
    } rows[] = {
        {{{CONTRACT, "model:\n", ATTENTION}}, "/model/attention/num_attention_heads", 1},
        {{{CONTRACT, "model:\n", ATTENTION}}, "/model/attention/head_dim", 1},
        {{{CONTRACT, "model:\n", ATTENTION}, {DOCUMENT, "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"sine\""}},
         "/model/attention/num_attention_heads", 0},
        {{{CONTRACT, SIZES, "  max_sequence_length: 17\n  vocab_size: 8\n"}}, "/model/max_sequence_length", 1},
        {{{CONTRACT, SIZES, "  max_sequence_length: 17\n  vocab_size: 8\n"}}, "/model/vocab_size", 1},
        {{{CONTRACT, SIZES, "  max_sequence_length: 17\n  vocab_size: 8\n"},
          {DOCUMENT, "\"max_seq_length\": 16", "\"max_seq_length\": 99"}}, "/model/max_sequence_length", 0},
        {{{CONTRACT, SIZES, "  max_sequence_length: 17\n  vocab_size: 8\n"},
          {DOCUMENT, "\"vocab_size\": 7", "\"vocab_size\": \"7\""}}, "/model/vocab_size", 0},
        {{{CONTRACT, SIZES, "  max_sequence_length: 17\n  vocab_size: 8\n"},
          {DOCUMENT, "\"vocab_size\": 7", "\"vocab_size\": \"7\""}}, "/model/max_sequence_length", 1},
        /* an output that is as wide as nobody knows */
        {{{CONTRACT, "              - 4\n", "              - 5\n"}}, EMBEDDER "/ports/outputs/embedding/shape/1", 1},
        {{{CONTRACT, "              - 4\n", "              - 5\n"}, {DOCUMENT, "\"kind\": \"dense\"", "\"kind\": \"dance\""}},
         EMBEDDER "/ports/outputs/embedding/shape/1", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_description *d = edited(rows[i].edits, 2);
        REQUIRE(d);
        if (at(d, rows[i].place) != rows[i].told) {
            test_fail(__FILE__, __LINE__, "row %zu: %zu at %s", i, at(d, rows[i].place), rows[i].place);
            print_findings(&d->findings);
        }
        kit_close(d);
    }
}

/* ---- the closed list -------------------------------------------------------------------------------------------------------- */

/* What is empty, null or false says nothing; what says something is understood or refused. */
TEST(what_says_nothing_is_passed_over)
{
    static const struct {
        struct edit edit;
        const char *place;
        size_t told;
    } members[] = {
        {{CONTRACT, "        implementation:\n", "        cache_affects_state: []\n        implementation:\n"},
         EMBEDDER "/cache_affects_state", 0},
        {{CONTRACT, "        required: true\n", "        required: true\n        default: null\n"}, FLOW "/inputs/request.text/default", 0},
        {{CONTRACT, "        required: true\n", "        required: true\n        default: \"\"\n"}, FLOW "/inputs/request.text/default", 1},
        {{CONTRACT, TOP, TOP "model_extra: {}\n"}, "/model_extra", 1}, /* of the table, not of the list */
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct tn_description *d = edited(&members[i].edit, 1);
        REQUIRE(d);
        if ((at(d, members[i].place) > 0) != (members[i].told > 0)) {
            test_fail(__FILE__, __LINE__, "row %zu: %zu at %s", i, at(d, members[i].place), members[i].place);
            print_findings(&d->findings);
        }
        kit_close(d);
    }
}

/* ---- the tokenizer ------------------------------------------------------------------------------------------------------------ */

#define TOKENIZER(algorithm, size, members) \
    TOP "package:\n  tokenizer:\n    algorithm: " algorithm "\n    vocab_size: " size "\n" members
#define SPECIAL(role, id, content) "    special_tokens:\n      " role ":\n        id: " id "\n        content: \"" content "\"\n"
#define OF "/package/tokenizer"

/* A vocabulary with a hole has two sizes: the number of its tokens, and one more than the largest id. */
TEST(a_vocabulary_with_a_hole_has_two_sizes)
{
    static const struct {
        const char *size;
        size_t told;
    } rows[] = {{"5", 1}, {"6", 1}, {"7", 0}, {"8", 0}, {"9", 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char to[256];
        snprintf(to, sizeof(to), TOKENIZER("wordpiece", "%s", ""), rows[i].size);
        REQUIRE(documents_alone());
        kit_edit("tokenizer.json", "\"##b\": 6", "\"##b\": 7");
        kit_edit(DOCUMENT, "\"vocab_size\": 7", "\"vocab_size\": 8");
        kit_edit(CONTRACT, "  vocab_size: 7\n", "  vocab_size: 8\n");
        kit_edit(CONTRACT, TOP, to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK_INT(at(d, OF "/vocab_size"), rows[i].told);
        kit_close(d);
    }
}

TEST(names_of_algorithms_differ_in_more_than_spelling)
{
    static const struct {
        const char *name;
        size_t told;
    } rows[] = {
        {"wordpiece", 0}, {"WORD_PIECE", 0}, {"Word-Piece", 0}, {"_wordpiece_", 0}, {"wordpieces", 1}, {"wordpiec", 1},
        {"word piece", 1}, {"wordlevel", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char to[256];
        snprintf(to, sizeof(to), TOKENIZER("\"%s\"", "7", ""), rows[i].name);
        REQUIRE(documents_alone());
        kit_edit(CONTRACT, TOP, to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        size_t told = 0; /* a name that is nearly one of the usual ones is noted, too */
        for (size_t k = 0; k < d->findings.count; k++)
            told += d->findings.items[k].severity == TN_BLOCKER && strcmp(d->findings.items[k].element, OF "/algorithm") == 0;
        if (told != rows[i].told) test_fail(__FILE__, __LINE__, "%s: %zu findings", rows[i].name, told);
        kit_close(d);
    }
}

/* What was added holds, whatever the model says of the same token; each role has the id of its own token. */
TEST(ids_of_special_tokens_are_those_of_the_vocabulary)
{
    static const struct {
        const char *members, *place;
        size_t told;
    } rows[] = {
        {SPECIAL("unk", "1", "[UNK]"), OF "/special_tokens/unk/id", 0},
        {SPECIAL("unk_token", "2", "[UNK]"), OF "/special_tokens/unk_token/id", 1},
        {SPECIAL("pad", "0", "[PAD]"), OF "/special_tokens/pad/id", 0},
        {SPECIAL("pad", "1", "[PAD]"), OF "/special_tokens/pad/id", 1},
        {SPECIAL("mask_token", "4", "[MASK]"), OF "/special_tokens/mask_token/id", 0},
        {SPECIAL("mask", "4", "[UNK]"), OF "/special_tokens/mask/content", 1},
        {SPECIAL("sep", "3", "[SEP]"), OF "/special_tokens/sep/id", 0},
        {SPECIAL("sep", "3", "[CLS]"), OF "/special_tokens/sep/content", 1},
        {SPECIAL("bos", "6", "##b"), OF "/special_tokens/bos/id", 0},
        {SPECIAL("bos", "5", "##b"), OF "/special_tokens/bos/id", 1},
        {SPECIAL("eos", "5", "a"), OF "/special_tokens/eos/id", 0},
        {SPECIAL("eos", "5", "b"), OF "/special_tokens/eos/content", 1},
        {"    special_tokens:\n      bos:\n        id: 2\n        content: \"[CLS]\"\n      cls:\n        id: 2\n        content: "
         "\"[CLS]\"\n      eos:\n        id: 4\n        content: \"[SEP]\"\n", OF "/special_tokens/eos/id", 1},
        {"    special_tokens:\n      bos:\n        id: 2\n        content: \"[CLS]\"\n      cls:\n        id: 3\n        content: "
         "\"[CLS]\"\n", OF "/special_tokens/cls/content", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char to[512];
        snprintf(to, sizeof(to), TOKENIZER("wordpiece", "7", "%s"), rows[i].members);
        REQUIRE(documents_alone());
        kit_edit(CONTRACT, TOP, to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        if (at(d, rows[i].place) != rows[i].told || d->findings.blockers != rows[i].told) {
            test_fail(__FILE__, __LINE__, "row %zu: %zu at %s", i, at(d, rows[i].place), rows[i].place);
            print_findings(&d->findings);
        }
        kit_close(d);
    }
}

/* The file of lines: the number of the line is the id, and blanks at its end are none of the token. */
TEST(a_vocabulary_of_lines)
{
    static const struct {
        const char *size, *members, *place;
        size_t told;
    } rows[] = {
        {"7", SPECIAL("sep", "3", "[SEP]"), OF "/special_tokens/sep/id", 0},
        {"7", SPECIAL("sep", "4", "[SEP]"), OF "/special_tokens/sep/id", 1},
        {"7", SPECIAL("bos", "6", "##b"), OF "/special_tokens/bos/content", 0},
        {"7", SPECIAL("unk", "1", "[UNK]"), OF "/special_tokens/unk/content", 0},
        {"7", SPECIAL("mask", "4", "[MASK]"), OF "/special_tokens/mask/content", 0},
        {"7", SPECIAL("eos", "5", "a"), OF "/special_tokens/eos/content", 0},
        {"7", "    artifacts:\n    - location: vocab.txt\n", OF "/artifacts/0/location", 0},
        {"7", "    artifacts:\n    - location: tokenizer.json\n", OF "/artifacts/0/location", 1},
        {"8", "", OF "/vocab_size", 1},
        {"6", "", OF "/vocab_size", 1},
    };
    for (size_t k = 0; k < 2 * sizeof(rows) / sizeof(rows[0]); k++) {
        char to[512];
        size_t i = k / 2;
        snprintf(to, sizeof(to), TOKENIZER("wordpiece", "%s", "%s"), rows[i].size, rows[i].members);
        REQUIRE(documents_alone());
        kit_edit(DOCUMENT, "\"source\": \"file\"", "\"source\": \"vocab\"");
        kit_edit(DOCUMENT, "\"pair_template\": null", "\"pair_template\": \"one_separator\"");
        kit_edit(DOCUMENT, "\"do_lower_case\": null", "\"do_lower_case\": true");
        kit_edit(DOCUMENT, "\"tokenize_chinese_chars\": null", "\"tokenize_chinese_chars\": true");
        kit_edit(DOCUMENT, "\"tokenizer_json\": \"tokenizer.json\"", "\"tokenizer_json\": \"\"");
        kit_edit(DOCUMENT, "\"vocab_txt\": \"\"", "\"vocab_txt\": \"vocab.txt\"");
        /* A last line ends or it does not. */
        kit_put("vocab.txt", k % 2 ? "[PAD]\n[UNK]\r\n[CLS]\n[SEP] \n[MASK]\t\na \t\r\n##b"
                                   : "[PAD]\n[UNK]\r\n[CLS]\n[SEP]  \n[MASK]\t\na\n##b\n");
        kit_edit(CONTRACT, TOP, to);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        if (at(d, rows[i].place) != rows[i].told || d->findings.blockers != rows[i].told) {
            test_fail(__FILE__, __LINE__, "row %zu: %zu at %s", i, at(d, rows[i].place), rows[i].place);
            print_findings(&d->findings);
        }
        kit_close(d);
    }
}

/* ---- values of the family's table --------------------------------------------------------------------------------------------- */

/* Nothing takes a default: a value that is left out is refused at its place, with what could stand there. */
TEST(a_value_that_is_left_out)
{
    static const char *const rows[][2] = {
        {"\"hidden_act\": \"gelu\",", "hidden_act"},
        {"\"layer_norm_eps\": 1e-12,", "layer_norm_eps"},
        {"\"num_hidden_layers\": 1,", "num_hidden_layers"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char pointer[128], message[128];
        snprintf(pointer, sizeof(pointer), "/components/0/config/%s", rows[i][1]);
        snprintf(message, sizeof(message), "the value %s of the family bert/1 is missing", rows[i][1]);
        REQUIRE(documents_alone());
        kit_edit(DOCUMENT, rows[i][0], "");
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        KIT_EXPECT(d, TN_BLOCKER, TN_METADATA_INVALID, DOCUMENT, pointer, message, "nothing");
        kit_close(d);
    }
}

/* null is a value where the family's table takes it for one, and nowhere else. */
TEST(a_value_that_is_null)
{
    static const struct edit good = {DOCUMENT, "\"pad_token_id\": 0", "\"pad_token_id\": null"};
    static const struct edit bad = {DOCUMENT, "\"hidden_act\": \"gelu\"", "\"hidden_act\": null"};
    struct tn_description *d = edited(&good, 1);
    REQUIRE(d && d->component_count == 1);
    KIT_CLEAN(d);
    const struct tn_value *v = tn_component_value(d->components, "pad_token_id");
    CHECK(v && !v->present);
    kit_close(d);
    d = edited(&bad, 1);
    REQUIRE(d);
    KIT_EXPECT(d, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, DOCUMENT, "/components/0/config/hidden_act", NULL, "null");
    kit_close(d);
}
