/*
 * Loading tokenizer.json: what is refused, with code, place and found; hostile files; facts. Each file is the small one
 * below with one part put in another's place.
 */
#include "text_util.h"

#include "base/buf.h"
#include "text/internal.h"

static const char small[] =
    "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],"
    "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
    "\"strip_accents\":null,\"lowercase\":true},"
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"[CLS]\",\"type_id\":0}},"
    "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},"
    "{\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],"
    "\"special_tokens\":{\"[CLS]\":{\"id\":\"[CLS]\",\"ids\":[1],\"tokens\":[\"[CLS]\"]}}},"
    "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
    "\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"[CLS]\":1,\"a\":2,\"##b\":3,\"c\":4}}}";

/* The small file with `old` replaced by `new`; free() it. */
static char *edited(const char *old, const char *new)
{
    const char *at = strstr(small, old);
    size_t head = at ? (size_t)(at - small) : 0, n = sizeof(small) + strlen(new);
    char *out = malloc(n);
    if (!at || !out) {
        test_fail(__FILE__, __LINE__, "no \"%s\" to replace", old);
        return out;
    }
    snprintf(out, n, "%.*s%s%s", (int)head, small, new, at + strlen(old));
    return out;
}

static void expect_refusal(const char *json, enum tn_status code, const char *element, const char *found,
                           const char *message)
{
    struct text_fixture x;
    text_init(&x);
    enum tn_status status = text_load(&x, json, strlen(json));
    if (status != code) test_fail(__FILE__, __LINE__, "%s: status %d, expected %d", message, (int)status, (int)code);
    CHECK(x.t == NULL);
    CHECK_STR(x.err->primary.file, "tokenizer.json");
    if (element) CHECK_STR(x.err->primary.element, element);
    if (found) CHECK_CONTAINS(x.err->primary.found, found);
    CHECK_CONTAINS(x.err->primary.message, message);
    text_close(&x);
}

static void refuse(const char *old, const char *new, enum tn_status code, const char *element, const char *found,
                   const char *message)
{
    char *json = edited(old, new);
    expect_refusal(json, code, element, found, message);
    free(json);
}

#define BERT_NORMALIZER                                                                            \
    "{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"              \
    "\"strip_accents\":null,\"lowercase\":true}"
#define VOCAB "{\"[UNK]\":0,\"[CLS]\":1,\"a\":2,\"##b\":3,\"c\":4}"

TEST(small_file_loads)
{
    struct text_fixture x;
    struct tn_text_options o = {0};
    text_init(&x);
    REQUIRE(text_load(&x, small, strlen(small)) == TN_OK);
    CHECK_INT(text_encode(&x, "AB c x", &o), TN_OK);
    CHECK_STR(text_ids(&x), "1,2,3,4,0");
    CHECK_INT(tn_text_vocab_size(x.t), 5);
    text_close(&x);
}

TEST(unknown_stages_are_named)
{
    refuse(BERT_NORMALIZER, "{\"type\":\"Frobnicate\"}", TN_UNSUPPORTED_PROCESSOR, "/normalizer/type", "Frobnicate",
           "the normalizer \"Frobnicate\"");
    refuse(BERT_NORMALIZER, "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"NFX\"}]}",
           TN_UNSUPPORTED_PROCESSOR, "/normalizer/normalizers/1/type", "NFX", "NFX");
    refuse("{\"type\":\"BertPreTokenizer\"}", "{\"type\":\"ByteLevel2\"}", TN_UNSUPPORTED_PROCESSOR,
           "/pre_tokenizer/type", "ByteLevel2", "ByteLevel2");
    refuse("{\"type\":\"BertPreTokenizer\"}", "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"legacy\":true}",
           TN_UNSUPPORTED_PROCESSOR, "/pre_tokenizer/legacy", "legacy", "Metaspace");
    refuse("\"TemplateProcessing\"", "\"Marvellous\"", TN_UNSUPPORTED_PROCESSOR, "/post_processor/type", "Marvellous",
           "post-processor");
    refuse("{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}", "{\"type\":\"Frobnicate\"}",
           TN_UNSUPPORTED_PROCESSOR, "/decoder/type", "Frobnicate", "decoder");
    refuse("\"type\":\"WordPiece\",\"unk", "\"type\":\"Frobnicate\",\"unk", TN_UNSUPPORTED_PROCESSOR, "/model/type",
           "Frobnicate", "model");
    refuse("\"version\":\"1.0\"", "\"version\":\"2.0\"", TN_UNSUPPORTED_PROCESSOR, "/version", "2.0", "version");
}

/* Old files have no "type"; the kind follows from the members, in the library's order. */
TEST(kinds_of_models_without_type)
{
    refuse("\"type\":\"WordPiece\",\"unk_token\"", "\"merges\":[],\"unk_token\"", TN_UNSUPPORTED_PROCESSOR, NULL, NULL, "model BPE");
    refuse("\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",", "",
           TN_UNSUPPORTED_PROCESSOR, NULL, NULL, "WordLevel");
    refuse("\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":"
           "100,\"vocab\":" VOCAB, "\"extra\":1,\"vocab\":[[\"a\",-1.5]]", TN_UNSUPPORTED_PROCESSOR, NULL, NULL, "Unigram");
}

TEST(model_without_type_loads)
{
    struct text_fixture x;
    struct tn_text_options o = {0};
    char *json = edited("\"type\":\"WordPiece\",\"unk", "\"unk");
    text_init(&x);
    CHECK_INT(text_load(&x, json, strlen(json)), TN_OK);
    CHECK_INT(text_encode(&x, "ab", &o), TN_OK);
    CHECK_STR(text_ids(&x), "1,2,3");
    text_close(&x);
    free(json);
}

TEST(unknown_members_are_named)
{
    refuse("\"lowercase\":true}", "\"lowercase\":true,\"turkish\":true}", TN_UNSUPPORTED_PROCESSOR,
           "/normalizer/turkish", "turkish", "turkish");
    refuse("\"vocab\":{", "\"fuse_unk\":true,\"vocab\":{", TN_UNSUPPORTED_PROCESSOR, "/model/fuse_unk", NULL, "fuse_unk");
    refuse("\"version\":\"1.0\"", "\"version\":\"1.0\",\"chat\":{}", TN_UNSUPPORTED_PROCESSOR, "/chat", NULL, "chat");
    refuse("{\"type\":\"BertPreTokenizer\"}", "{\"type\":\"BertPreTokenizer\",\"invert\":false}",
           TN_UNSUPPORTED_PROCESSOR, "/pre_tokenizer/invert", NULL, "invert");
    /* null means "off" everywhere. */
    struct text_fixture x;
    char *json = edited("\"vocab\":{", "\"dropout\":null,\"vocab\":{");
    text_init(&x);
    CHECK_INT(text_load(&x, json, strlen(json)), TN_OK);
    text_close(&x);
    free(json);
}

TEST(members_of_the_wrong_kind)
{
    refuse("\"strip_accents\":null", "\"strip_accents\":\"yes\"", TN_ARTIFACT_MALFORMED, "/normalizer/strip_accents",
           "\"yes\"", "strip_accents");
    refuse("\"clean_text\":true,", "", TN_ARTIFACT_MALFORMED, "/normalizer/clean_text", "nothing", "missing");
    refuse("\"max_input_chars_per_word\":100", "\"max_input_chars_per_word\":-1", TN_ARTIFACT_MALFORMED,
           "/model/max_input_chars_per_word", "-1", "max_input_chars_per_word");
    refuse("\"vocab\":" VOCAB, "\"vocab\":7", TN_ARTIFACT_MALFORMED, "/model/vocab", "7", "vocab");
    refuse("\"type\":\"WordPiece\",\"unk", "\"type\":3,\"unk", TN_ARTIFACT_MALFORMED, "/model/type", "3", "type");
    refuse("\"model\":", "\"decoder2\":null,\"nodel\":", TN_UNSUPPORTED_PROCESSOR, "/nodel", NULL, "nodel");
    refuse("\"normalizer\":" BERT_NORMALIZER, "\"normalizer\":[]", TN_ARTIFACT_MALFORMED, "/normalizer", "array", "normalizer");
    refuse("{\"type\":\"BertPreTokenizer\"}", "{\"type\":\"Punctuation\",\"behavior\":\"Sometimes\"}",
           TN_ARTIFACT_MALFORMED, "/pre_tokenizer/behavior", "Sometimes", "behavior");
    refuse("{\"type\":\"BertPreTokenizer\"}", "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"ab\"}",
           TN_ARTIFACT_MALFORMED, "/pre_tokenizer/delimiter", "ab", "delimiter");
    expect_refusal("[]", TN_ARTIFACT_MALFORMED, NULL, NULL, "not an object");
    expect_refusal("{\"version\":\"1.0\"}", TN_ARTIFACT_MALFORMED, "/model", "nothing", "missing");
}

TEST(ids)
{
    refuse("\"c\":4", "\"c\":4294967296", TN_ARTIFACT_MALFORMED, "/model/vocab/c", "4294967296", "not an id");
    refuse("\"c\":4", "\"c\":-1", TN_ARTIFACT_MALFORMED, "/model/vocab/c", "-1", "not an id");
    refuse("\"c\":4", "\"c\":1.5", TN_ARTIFACT_MALFORMED, "/model/vocab/c", "1.5", "not an id");
    refuse("\"c\":4", "\"c\":4.0", TN_ARTIFACT_MALFORMED, "/model/vocab/c", "4.0", "not an id");
    refuse("\"c\":4", "\"c\":\"4\"", TN_ARTIFACT_MALFORMED, "/model/vocab/c", "\"4\"", "not an id");
    refuse("\"c\":4", "\"c\":2", TN_ARTIFACT_MALFORMED, "/model/vocab/c", "\"a\" and \"c\"", "id 2");
    refuse("\"c\":4", "\"c\":4000000000,\"d\":4000000000", TN_ARTIFACT_MALFORMED, "/model/vocab/d", "\"c\" and \"d\"",
           "id 4000000000");
    refuse("\"unk_token\":\"[UNK]\"", "\"unk_token\":\"<unk>\"", TN_ARTIFACT_MALFORMED, "/model/unk_token", "<unk>",
           "unknown token");
    refuse("\"ids\":[1]", "\"ids\":[77]", TN_ARTIFACT_MALFORMED, NULL, NULL, "no token has");
    refuse("\"SpecialToken\":{\"id\":\"[CLS]\"", "\"SpecialToken\":{\"id\":\"[SEP]\"", TN_ARTIFACT_MALFORMED,
           "/post_processor/single/0/SpecialToken", NULL, "not listed");
    refuse("{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\"", "{\"Sequence\":{\"id\":\"B\",\"type_id\":0}}],\"pair\"",
           TN_ARTIFACT_MALFORMED, NULL, NULL, "not there");
}

/* A claimed id costs no memory. */
TEST(sparse_ids)
{
    struct text_fixture x;
    struct tn_text_options o = {0};
    char *json = edited("\"c\":4", "\"c\":4294967295");
    text_init(&x);
    CHECK_INT(text_load(&x, json, strlen(json)), TN_OK);
    CHECK(tn_alloc_peak(&x.alloc) < 100000);
    CHECK_INT(text_encode(&x, "c", &o), TN_OK);
    CHECK_STR(text_ids(&x), "1,4294967295");
    CHECK(tn_text_vocab_size(x.t) == (size_t)4294967296);
    CHECK_INT(tn_text_token(x.t, UINT32_MAX).n, 1);
    CHECK(tn_text_token(x.t, 4).s == NULL);
    text_close(&x);
    free(json);
}

#define ADDED(id, content, normalized)                                                             \
    "{\"id\":" #id ",\"content\":" content ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":"  \
    #normalized ",\"special\":true}"

TEST(added_tokens)
{
    refuse("\"added_tokens\":[]", "\"added_tokens\":[" ADDED(3, "\"[CLS]\"", false) "]", TN_ARTIFACT_MALFORMED,
           "/added_tokens/0/id", "3", "another id");
    refuse("\"added_tokens\":[]", "\"added_tokens\":[" ADDED(6, "\"<x>\"", false) "]", TN_ARTIFACT_MALFORMED,
           "/added_tokens/0/id", "6", "another id");
    refuse("\"added_tokens\":[]", "\"added_tokens\":[" ADDED(5, "\"<X>\"", true) "," ADDED(6, "\"<x>\"", true) "]",
           TN_ARTIFACT_MALFORMED, "/added_tokens", "\"<X>\" and \"<x>\"", "same text");
    refuse("\"added_tokens\":[]", "\"added_tokens\":[" ADDED(5, "\"\\u0301\"", true) "]", TN_ARTIFACT_MALFORMED,
           "/added_tokens", NULL, "nothing is left");
    refuse("\"added_tokens\":[]", "\"added_tokens\":[{\"id\":5,\"content\":\"x\"}]", TN_ARTIFACT_MALFORMED,
           "/added_tokens/0/single_word", "nothing", "missing");
    refuse("\"added_tokens\":[]", "\"added_tokens\":{}", TN_ARTIFACT_MALFORMED, "/added_tokens", NULL, "not an array");
    struct text_fixture x;
    struct tn_text_options o = {0};
    uint32_t id = 0;
    char *json = edited("\"added_tokens\":[]", "\"added_tokens\":[" ADDED(5, "\"<x>\"", false) "," ADDED(1, "\"[CLS]\"", false)
                        "," ADDED(9, "\"\"", false) "]");
    text_init(&x);
    CHECK_INT(text_load(&x, json, strlen(json)), TN_OK);
    CHECK_INT(text_encode(&x, "a<x>[CLS]c", &o), TN_OK);
    CHECK_STR(text_ids(&x), "1,2,5,1,4");
    CHECK_INT(tn_text_vocab_size(x.t), 6);
    CHECK(tn_text_token_id(x.t, TN_STR("<x>"), &id) && id == 5);
    CHECK(tn_text_token_id(x.t, TN_STR("##b"), &id) && id == 3);
    CHECK(!tn_text_token_id(x.t, TN_STR("b"), &id));
    CHECK(tn_str_is(tn_text_token(x.t, 5), "<x>"));
    text_close(&x);
    free(json);
}

TEST(patterns)
{
    static const char *const refused[] = {
        "[a-z",     "(a",         "a)",       "\\\\",       "[]",         "[^]",        "[z-a]",        "a{3,2}",
        "a{0}",     "a{,3}",      "a{2}{3}",  "a{2}?",      "a{1,2}+",    "x{0,}y{1001}", "*a",        "a**",
        "(a*)*",    "(|a)+",      "(?=a)*",   "(?i)x",      "(?x:a)",     "(?<n>a)",    "(?<=ab)c",     "(?i:ss)",
        "(?i:\u00e9)", "(?i:[^a])", "(?i:\\\\p{L})", "\\\\p{Frob}", "\\\\1", "\\\\k<n>", "\\\\h", "\\\\R",
        "\\\\X",     "\\\\xFF",    "[a[b]]",   "[a&&b]",     "[[:alpha:]]", "[a-\\\\d]", "[\\\\d-z]",   "a*",
        "a{",       "^",          "(((((((((((((((((((((((((a)))))))))))))))))))))))))"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char stage[256];
        snprintf(stage, sizeof(stage), "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"%s\"},\"content\":\"\"}", refused[i]);
        enum tn_status code = refused[i][0] == '(' && refused[i][1] == '(' ? TN_RESOURCE_LIMIT : TN_UNSUPPORTED_PROCESSOR;
        refuse(BERT_NORMALIZER, stage, code, "/normalizer/pattern/Regex", NULL, "regular expression");
    }
    refuse(BERT_NORMALIZER, "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"x\"}", TN_ARTIFACT_MALFORMED,
           "/normalizer/pattern", NULL, "pattern");
    refuse(BERT_NORMALIZER, "{\"type\":\"Prepend\",\"prepend\":\"\"}", TN_ARTIFACT_MALFORMED, "/normalizer/prepend", NULL,
           "prepend");
}

/* Stages nested a million deep end in the JSON reader's limit, a moderate nest in the tokenizer's own. */
TEST(deep_nesting)
{
    struct text_fixture x;
    struct tn_buf b;
    text_init(&x);
    for (size_t depth = 40; depth <= 1000000; depth *= 25000) {
        tn_buf_init(&b, &x.alloc, 1 << 30);
        tn_buf_puts(&b, "{\"version\":\"1.0\",\"normalizer\":");
        for (size_t i = 0; i < depth; i++) tn_buf_puts(&b, "{\"type\":\"Sequence\",\"normalizers\":[");
        for (size_t i = 0; i < depth; i++) tn_buf_puts(&b, "]}");
        tn_buf_puts(&b, ",\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\",\"continuing_subword_prefix\":\"\","
                        "\"max_input_chars_per_word\":9,\"vocab\":{\"u\":0}}}");
        CHECK_INT(tn_buf_status(&b), TN_OK);
        CHECK_INT(text_load(&x, b.data, b.len), depth > 128 ? TN_RESOURCE_LIMIT : TN_OK);
        if (depth > 128) { /* by the name of the limit, at the byte at which it was passed */
            CHECK_CONTAINS(x.err->primary.message, "limit json_depth");
            CHECK(x.err->primary.offset > 31 && x.err->primary.offset < 31 + 128 * 36);
        }
        tn_buf_release(&b);
        tn_text_tokenizer_free(x.t);
        x.t = NULL;
    }
    text_close(&x);
}

TEST(too_many_steps)
{
    struct text_fixture x;
    struct tn_buf b;
    text_init(&x);
    tn_buf_init(&b, &x.alloc, 1 << 20);
    tn_buf_puts(&b, "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}");
    for (int i = 0; i < 300; i++) tn_buf_puts(&b, ",{\"type\":\"NFC\"}");
    tn_buf_puts(&b, "]}");
    refuse(BERT_NORMALIZER, b.data, TN_RESOURCE_LIMIT, NULL, NULL, "too many normalizers");
    tn_buf_release(&b);
    text_close(&x);
}

/* Keys chosen to fall into one slot of the table: another seed scatters them, and all are found. */
TEST(engineered_collisions)
{
    enum { KEYS = 2400, KEY = 11 };
    static char keys[KEYS][KEY + 1];
    struct text_fixture x;
    struct tn_buf b;
    uint64_t state = 4, first_seed;
    size_t found = 0, wrong = 0;
    text_init(&x);
    struct tn_vocab empty;
    tn_vocab_init(&empty, &x.alloc);
    first_seed = empty.seed;
    while (found < KEYS) {
        char key[KEY + 1];
        snprintf(key, sizeof(key), "%011llx", (unsigned long long)(test_random(&state) >> 20));
        if (tn_vocab_hash(first_seed, key, KEY) >> 52 == 7) memcpy(keys[found++], key, KEY + 1);
    }
    tn_buf_init(&b, &x.alloc, 1 << 20);
    tn_buf_puts(&b, "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\",\"continuing_subword_prefix\":\"\","
                    "\"max_input_chars_per_word\":99,\"vocab\":{\"u\":0");
    for (size_t i = 0; i < KEYS; i++) tn_buf_printf(&b, ",\"%s\":%zu", keys[i], i + 1);
    tn_buf_puts(&b, "}}}");
    enum tn_status status = text_load(&x, b.data, b.len);
    CHECK_INT(status, TN_OK);
    if (status == TN_OK) CHECK(x.t->vocab.seed != first_seed);
    for (uint32_t i = 0, id = 0; i < KEYS && status == TN_OK; i++) {
        wrong += !tn_text_token_id(x.t, tn_str_of(keys[i]), &id) || id != i + 1;
    }
    CHECK_INT(wrong, 0);
    tn_buf_release(&b);
    text_close(&x);
}

TEST(vocabulary_limit)
{
    struct text_fixture x;
    text_init(&x);
    x.ctx.limits.vocab_entries = 4;
    CHECK_INT(text_load(&x, small, strlen(small)), TN_RESOURCE_LIMIT);
    CHECK_STR(x.err->primary.element, "/model/vocab");
    text_close(&x);
}

TEST(long_tokens)
{
    static char token[6000], vocab[6400];
    memset(token, 'x', 5000);
    snprintf(vocab, sizeof(vocab), "\"c\":4,\"%s\":5", token);
    refuse("\"c\":4", vocab, TN_RESOURCE_LIMIT, NULL, "5000 bytes", "exceeds a limit");
    snprintf(vocab, sizeof(vocab), "\"added_tokens\":[{\"id\":5,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,"
             "\"rstrip\":false,\"normalized\":false,\"special\":true}]", token);
    refuse("\"added_tokens\":[]", vocab, TN_RESOURCE_LIMIT, NULL, "5000 bytes", "exceeds a limit");
}

TEST(facts)
{
    struct text_fixture x;
    char *json = edited("\"truncation\":null,\"padding\":null",
                        "\"truncation\":{\"direction\":\"Left\",\"max_length\":128,\"strategy\":\"OnlyFirst\",\"stride\":3},"
                        "\"padding\":{\"strategy\":{\"Fixed\":64},\"direction\":\"Right\",\"pad_to_multiple_of\":8,"
                        "\"pad_id\":4,\"pad_type_id\":1,\"pad_token\":\"c\"}");
    text_init(&x);
    REQUIRE(text_load(&x, json, strlen(json)) == TN_OK);
    struct tn_text_facts f = tn_text_tokenizer_facts(x.t);
    CHECK(f.truncation && f.truncation_left && f.padding && f.padding_fixed && !f.padding_left && f.decoder);
    CHECK_INT(f.truncation_max_length, 128);
    CHECK_INT(f.truncation_stride, 3);
    CHECK_STR(f.truncation_strategy, "only_first");
    CHECK_INT(f.padding_length, 64);
    CHECK_INT(f.padding_multiple, 8);
    CHECK_INT(f.padding_id, 4);
    CHECK_INT(f.padding_type_id, 1);
    CHECK(tn_str_is(f.padding_token, "c"));
    CHECK(f.adds_bos_like_first && !f.adds_eos_like_last);
    CHECK_INT(f.special_tokens_single, 1);
    CHECK_INT(f.special_tokens_pair, 0);
    CHECK_CONTAINS(f.unicode_version, "17.0");
    text_close(&x);
    free(json);
    refuse("\"truncation\":null", "\"truncation\":{\"max_length\":1,\"stride\":0,\"strategy\":\"Never\"}",
           TN_ARTIFACT_MALFORMED, "/truncation/strategy", "Never", "strategy");
    refuse("\"padding\":null", "\"padding\":{\"strategy\":\"Widest\"}", TN_ARTIFACT_MALFORMED, "/padding/strategy",
           "Widest", "strategy");
}

static struct tn_digest fingerprint_of(const char *json)
{
    struct text_fixture x;
    struct tn_sha256 h;
    text_init(&x);
    if (text_load(&x, json, strlen(json))) test_fail(__FILE__, __LINE__, "%s", x.err->primary.message);
    tn_sha256_init(&h);
    if (x.t) tn_text_fingerprint(x.t, &h);
    text_close(&x);
    return tn_sha256_finish(&h);
}

/* All that can change ids changes the fingerprint; the order of the vocabulary and the padding do not. */
TEST(fingerprint)
{
    static const char *const changes[][2] = {
        {"\"lowercase\":true", "\"lowercase\":false"},
        {"\"strip_accents\":null", "\"strip_accents\":false"},
        {"{\"type\":\"BertPreTokenizer\"}", "{\"type\":\"WhitespaceSplit\"}"},
        {"\"c\":4", "\"c\":5"},
        {"\"c\":4", "\"d\":4"},
        {"\"max_input_chars_per_word\":100", "\"max_input_chars_per_word\":99"},
        {"\"ids\":[1]", "\"ids\":[2]"},
        {"\"added_tokens\":[]", "\"added_tokens\":[" ADDED(4, "\"c\"", false) "]"},
        {"\"continuing_subword_prefix\":\"##\"", "\"continuing_subword_prefix\":\"#\""},
    };
    struct tn_digest base = fingerprint_of(small);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        char *json = edited(changes[i][0], changes[i][1]);
        struct tn_digest found = fingerprint_of(json);
        if (tn_digest_eq(&base, &found)) test_fail(__FILE__, __LINE__, "%s changes nothing", changes[i][1]);
        free(json);
    }
    static const char *const same[][2] = {
        {VOCAB, "{\"c\":4,\"##b\":3,\"a\":2,\"[CLS]\":1,\"[UNK]\":0}"},
        {"\"padding\":null", "\"padding\":{\"strategy\":\"BatchLongest\",\"direction\":\"Left\",\"pad_id\":0,"
                             "\"pad_type_id\":0,\"pad_token\":\"a\"}"},
        {"\"strip_accents\":null", "\"strip_accents\":true"},
    };
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        char *json = edited(same[i][0], same[i][1]);
        struct tn_digest found = fingerprint_of(json);
        if (!tn_digest_eq(&base, &found)) test_fail(__FILE__, __LINE__, "%s changes the fingerprint", same[i][1]);
        free(json);
    }
}

TEST(vocab_txt_refusals)
{
    struct text_fixture x;
    struct tn_wordpiece_options o = {.vocab_name = TN_STR("vocab.txt"), .unk_token = TN_STR("[UNK]"),
                                     .cls_token = TN_STR("[CLS]"), .sep_token = TN_STR("[SEP]"),
                                     .pad_token = TN_STR("[PAD]"), .mask_token = TN_STR("[MASK]")};
    text_init(&x);
    o.vocab = TN_STR("[CLS]\n[SEP]\na\n");
    CHECK_INT(tn_text_tokenizer_from_vocab(&x.ctx, &o, &x.t, x.err), TN_ARTIFACT_MALFORMED);
    CHECK_STR(x.err->primary.file, "vocab.txt");
    CHECK_CONTAINS(x.err->primary.message, "unknown token");
    o.vocab = TN_STR("[UNK]\n\xFF\n");
    CHECK_INT(tn_text_tokenizer_from_vocab(&x.ctx, &o, &x.t, x.err), TN_ARTIFACT_MALFORMED);
    CHECK_CONTAINS(x.err->primary.message, "UTF-8");
    CHECK_STR(x.err->primary.file, "vocab.txt");
    o.vocab = TN_STR("");
    CHECK_INT(tn_text_tokenizer_from_vocab(&x.ctx, &o, &x.t, x.err), TN_ARTIFACT_MALFORMED);
    o.vocab = TN_STR("[UNK]\na\n");
    o.cls_token = (struct tn_str){0};
    CHECK_INT(tn_text_tokenizer_from_vocab(&x.ctx, &o, &x.t, x.err), TN_ARTIFACT_MALFORMED);
    CHECK_CONTAINS(x.err->primary.message, "special token");
    CHECK_STR(x.err->primary.file, "vocab.txt");
    text_close(&x);
}
