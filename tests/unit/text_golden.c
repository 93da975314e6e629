/*
 * Every tokenizer of tests/golden/tokenizer against the encodings of the `tokenizers` library: ids, type ids, special
 * masks, byte offsets, decoded text; by the fast path and by the general one.
 */
#include "text_util.h"

#include <dirent.h>

enum { MOST = 4096 };

/* Tokenizers that we refuse to load although the library loads them, and why. */
static const struct {
    const char *name;
    enum tn_status code;
    const char *message;
} refused[] = {
    {"unk_missing", TN_ARTIFACT_MALFORMED, "unknown token"},
    /* The file gives a token of the vocabulary another id; the library keeps the vocabulary's and warns. */
    {"added_many_t", TN_ARTIFACT_MALFORMED, "has another id"},
    {"added_many_f", TN_ARTIFACT_MALFORMED, "has another id"},
    {"added_mixed", TN_ARTIFACT_MALFORMED, "has another id"},
};

struct golden {
    struct text_fixture x;
    const char *name;
    size_t cases, skipped;
};

static size_t read_ints(struct tn_json array, uint32_t *out)
{
    size_t n = 0;
    for (struct tn_json v = tn_json_first(array); v.doc && n < MOST; v = tn_json_next(v)) {
        uint64_t value = UINT32_MAX;
        tn_json_u64(v, &value);
        out[n++] = (uint32_t)value;
    }
    return n;
}

/* What one case says, without padding: where attention_mask is 0, nothing is compared. */
struct expected {
    uint32_t ids[MOST], types[MOST], special[MOST], chars[MOST * 2], bytes[MOST * 2];
    size_t count;
};

static void read_expected(struct tn_json c, struct expected *out)
{
    static uint32_t mask[MOST], raw[5][MOST * 2];
    size_t n = read_ints(tn_json_get(c, "ids"), raw[0]);
    bool masked = read_ints(tn_json_get(c, "attention_mask"), mask) > 0;
    memset(raw[1], 0, sizeof(raw[1]));
    memset(raw[2], 0, sizeof(raw[2]));
    read_ints(tn_json_get(c, "type_ids"), raw[1]);
    read_ints(tn_json_get(c, "special_tokens_mask"), raw[2]);
    read_ints(tn_json_get(c, "offsets_chars"), raw[3]);
    if (!read_ints(tn_json_get(c, "offsets_bytes"), raw[4])) memcpy(raw[4], raw[3], sizeof(raw[3]));
    out->count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = out->count;
        if (masked && !mask[i]) continue;
        out->ids[k] = raw[0][i];
        out->types[k] = raw[1][i];
        out->special[k] = raw[2][i];
        memcpy(out->chars + 2 * k, raw[3] + 2 * i, 8);
        memcpy(out->bytes + 2 * k, raw[4] + 2 * i, 8);
        out->count++;
    }
}

static void fail_case(const struct golden *g, struct tn_json c, const char *what, size_t at)
{
    struct tn_str text = {0};
    char clean[128];
    tn_json_str(tn_json_get(c, "text"), &text);
    tn_clean_text(clean, sizeof(clean), text.s, text.n);
    test_fail(__FILE__, __LINE__, "%s, case %zu \"%s\": %s differ at %zu (%zu tokens)", g->name, g->cases, clean, what,
              at, g->x.e.count);
}

/* The library forgets which sequence a token belongs to where a template repeats one; then it has characters only. */
static bool same_offset(const struct expected *want, const struct tn_text_encoding *e, size_t i)
{
    bool bytes = memcmp(e->offsets[i], want->bytes + 2 * i, 8) == 0;
    return bytes || (want->bytes[2 * i] == want->chars[2 * i] && want->bytes[2 * i + 1] == want->chars[2 * i + 1] &&
                     !e->special_mask[i] && e->offsets[i][0] >= want->chars[2 * i]);
}

static void compare(const struct golden *g, struct tn_json c, const struct expected *want)
{
    const struct tn_text_encoding *e = &g->x.e;
    size_t n = e->count < want->count ? e->count : want->count;
    for (size_t i = 0; i < n; i++) {
        if (e->ids[i] != want->ids[i]) return fail_case(g, c, "ids", i);
        if (e->type_ids[i] != want->types[i]) return fail_case(g, c, "type ids", i);
        if (e->special_mask[i] != want->special[i]) return fail_case(g, c, "special masks", i);
        if (!same_offset(want, e, i)) return fail_case(g, c, "offsets", i);
    }
    if (e->count != want->count) fail_case(g, c, "counts", n);
}

static void check_decoded(const struct golden *g, struct tn_json c, const char *member, bool skip_special)
{
    struct tn_str want;
    struct tn_buf out;
    if (!tn_json_str(tn_json_get(c, member), &want)) return;
    tn_buf_init(&out, (struct tn_alloc *)&g->x.alloc, 1 << 20);
    CHECK_INT(tn_text_decode(g->x.t, g->x.e.ids, g->x.e.count, skip_special, &out), TN_OK);
    if (!tn_str_eq(tn_buf_str(&out), want)) {
        test_fail(__FILE__, __LINE__, "%s, case %zu: %s is \"%s\"", g->name, g->cases, member, out.data);
    }
    tn_buf_release(&out);
}

static int position(struct tn_str name, const char *const *list)
{
    for (int i = 0; list[i]; i++) {
        if (tn_str_is(name, list[i])) return i;
    }
    return -1;
}

/* Options of a case; false: the case has no meaning here (max_length 0 is our "no limit"). */
static bool read_options(const struct golden *g, struct tn_json c, struct tn_text_options *o)
{
    static const char *const strategies[] = {"longest_first", "only_first", "only_second", NULL};
    struct tn_text_facts facts = tn_text_tokenizer_facts(g->x.t);
    struct tn_json truncation = tn_json_get(c, "truncation");
    struct tn_str strategy = TN_STR(""), direction = TN_STR("");
    uint64_t max = facts.truncation ? facts.truncation_max_length : 0;
    bool add_special = true;
    tn_json_bool(tn_json_get(c, "add_special"), &add_special);
    o->no_special = !add_special;
    o->want_offsets = true;
    if (truncation.doc) {
        tn_json_u64(tn_json_get(truncation, "max_length"), &max);
        tn_json_str(tn_json_get(truncation, "strategy"), &strategy);
        tn_json_str(tn_json_get(truncation, "direction"), &direction);
        o->strategy = (enum tn_text_strategy)(1 + position(strategy, strategies));
        o->truncate_right_set = true;
        o->truncate_left = tn_str_is(direction, "left");
    }
    o->max_tokens = (size_t)max;
    return !truncation.doc || max > 0;
}

static void run_case(struct golden *g, struct tn_json c)
{
    static struct expected want;
    struct tn_text_options o = {0};
    struct tn_str text = {0}, pair = {0};
    uint64_t stride = 0;
    tn_json_str(tn_json_get(c, "text"), &text);
    tn_json_str(tn_json_get(c, "pair"), &pair);
    tn_json_u64(tn_json_find(c, "/truncation/stride"), &stride);
    bool error = tn_json_get(c, "error").doc != NULL;
    struct tn_text_facts facts = tn_text_tokenizer_facts(g->x.t);
    if (!read_options(g, c, &o) || (error && stride)) {
        g->skipped++;
        return;
    }
    uint64_t specials = o.no_special ? 0 : pair.s ? facts.special_tokens_pair : facts.special_tokens_single;
    read_expected(c, &want);
    for (int general = 0; general < 2; general++) {
        o.general_path = general;
        enum tn_status status = tn_text_encode(g->x.t, text, pair, &o, &g->x.e, g->x.err);
        if (o.max_tokens && o.max_tokens < specials) {
            CHECK_INT(status, TN_INVALID_REQUEST); /* the library overflows and does not truncate */
        } else if (error) {
            CHECK_INT(status, TN_INPUT_TOO_LONG);
        } else {
            CHECK_INT(status, TN_OK);
            compare(g, c, &want);
            CHECK(g->x.e.total >= g->x.e.count);
            CHECK(g->x.e.truncated == (g->x.e.total > g->x.e.count));
        }
    }
    check_decoded(g, c, "decoded", true);
    check_decoded(g, c, "decoded_with_special", false);
    g->cases++;
}

static bool is_refused(const struct golden *g, enum tn_status status)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strcmp(refused[i].name, g->name) != 0) continue;
        CHECK_INT(status, refused[i].code);
        CHECK_CONTAINS(g->x.err->primary.message, refused[i].message);
        return true;
    }
    return false;
}

static size_t run_golden(const char *name, struct tn_json root)
{
    struct golden g = {.name = name};
    struct tn_str file;
    char path[512];
    if (!tn_json_str(tn_json_get(root, "tokenizer"), &file)) return 0;
    snprintf(path, sizeof(path), "golden/%.*s", (int)file.n, file.s);
    text_init(&g.x);
    enum tn_status status = text_open(&g.x, path);
    if (!is_refused(&g, status)) {
        if (status) {
            test_fail(__FILE__, __LINE__, "%s does not load: %s (%s)", name, g.x.err->primary.message,
                      g.x.err->primary.element);
        }
        struct tn_json cases = tn_json_get(root, "cases");
        for (struct tn_json c = tn_json_first(cases); c.doc && !status; c = tn_json_next(c)) run_case(&g, c);
    }
    text_close(&g.x);
    return g.cases;
}

TEST(all_goldens)
{
    DIR *dir = opendir(test_path("golden/tokenizer"));
    struct dirent *entry;
    size_t cases = 0, files = 0;
    REQUIRE(dir);
    while ((entry = readdir(dir))) {
        char name[256], relative[512];
        struct tn_json_doc doc;
        struct tn_alloc alloc;
        struct tn_limits limits = tn_limits_default();
        size_t n = 0;
        const char *dot = strstr(entry->d_name, ".json");
        if (!dot || strncmp(entry->d_name, "unicode_", 8) == 0) continue;
        snprintf(name, sizeof(name), "%.*s", (int)(dot - entry->d_name), entry->d_name);
        snprintf(relative, sizeof(relative), "golden/tokenizer/%s", entry->d_name);
        char *json = test_read_file(test_path(relative), &n);
        REQUIRE(json);
        tn_alloc_init(&alloc);
        struct tn_str text = {json, n};
        if (tn_json_parse(&doc, &alloc, &limits, tn_str_of(entry->d_name), text, NULL) == TN_OK) {
            size_t ran = run_golden(name, tn_json_root(&doc));
            cases += ran;
            files += ran > 0;
            tn_json_release(&doc);
        } else {
            test_fail(__FILE__, __LINE__, "%s is not JSON", relative);
        }
        free(json);
    }
    closedir(dir);
    CHECK(files > 100);
    CHECK(cases > 1500);
}

/* Files that the library does not load, and those that it loads and we refuse all the same. */
TEST(library_refusals)
{
    struct tn_json_doc doc;
    struct text_fixture x;
    size_t n = 0, rows = 0;
    char *json = test_read_file(test_path("golden/tokenizer/library_refusals.json"), &n);
    REQUIRE(json);
    text_init(&x);
    REQUIRE(tn_json_parse(&doc, &x.alloc, &x.ctx.limits, TN_STR("rows"), (struct tn_str){json, n}, NULL) == TN_OK);
    struct tn_json list = tn_json_get(tn_json_root(&doc), "rows");
    for (struct tn_json row = tn_json_first(list); row.doc; row = tn_json_next(row), rows++) {
        struct tn_str what = TN_STR("");
        tn_json_str(tn_json_get(row, "what"), &what);
        enum tn_status status = tn_text_tokenizer_from_json(&x.ctx, tn_json_get(row, "file"), &x.t, x.err);
        if (status != TN_UNSUPPORTED_PROCESSOR && status != TN_ARTIFACT_MALFORMED) {
            test_fail(__FILE__, __LINE__, "\"%.*s\" gives %d", (int)what.n, what.s, (int)status);
        }
        CHECK(x.t == NULL);
        CHECK(x.err->primary.element[0] != 0);
    }
    CHECK(rows >= 15);
    tn_json_release(&doc);
    free(json);
    text_close(&x);
}

/* ---- goldens of tools/golden/tokenizer_extra.py ------------------------------------------------------------------ */

struct rows {
    struct tn_alloc alloc;
    struct tn_json_doc doc;
    char *json;
    struct tn_json list;
};

static bool open_rows(struct rows *r, const char *relative)
{
    struct tn_limits limits = tn_limits_default();
    size_t n = 0;
    memset(r, 0, sizeof(*r));
    tn_alloc_init(&r->alloc);
    r->json = test_read_file(test_path(relative), &n);
    if (!r->json || tn_json_parse(&r->doc, &r->alloc, &limits, TN_STR("rows"), (struct tn_str){r->json, n}, NULL)) {
        return false;
    }
    r->list = tn_json_get(tn_json_root(&r->doc), "rows");
    return true;
}

static void close_rows(struct rows *r)
{
    tn_json_release(&r->doc);
    free(r->json);
}

static size_t run_row(struct golden *g, struct tn_json row, enum tn_status status)
{
    if (status) {
        test_fail(__FILE__, __LINE__, "%s does not load: %s (%s)", g->name, g->x.err->primary.message,
                  g->x.err->primary.element);
    }
    struct tn_json cases = tn_json_get(row, "cases");
    for (struct tn_json c = tn_json_first(cases); c.doc && !status; c = tn_json_next(c)) run_case(g, c);
    text_close(&g->x);
    return g->cases;
}

static size_t run_files(const char *relative, const char *what)
{
    struct rows r;
    size_t cases = 0;
    if (!open_rows(&r, relative)) return 0;
    for (struct tn_json row = tn_json_first(r.list); row.doc; row = tn_json_next(row)) {
        struct golden g = {0};
        char name[64];
        uint64_t seed = 0;
        tn_json_u64(tn_json_get(row, "seed"), &seed);
        snprintf(name, sizeof(name), "%s %llu", what, (unsigned long long)seed);
        g.name = name;
        text_init(&g.x);
        enum tn_status status = tn_text_tokenizer_from_json(&g.x.ctx, tn_json_get(row, "file"), &g.x.t, g.x.err);
        cases += run_row(&g, row, status);
    }
    close_rows(&r);
    return cases;
}

TEST(random_stages)
{
    CHECK(run_files("golden/tokenizer_extra/random.json", "random stages") > 1000);
}

TEST(regular_expressions)
{
    CHECK_INT(run_files("golden/tokenizer_extra/regex.json", "regular expression"), 200);
}

TEST(families)
{
    CHECK(run_files("golden/tokenizer_extra/families.json", "family") > 1200);
}

TEST(blanks_beside_added_tokens)
{
    CHECK(run_files("golden/tokenizer_extra/t1.json", "flags") > 300);
}

TEST(random_models)
{
    CHECK(run_files("golden/tokenizer_extra/models.json", "random models") > 1500);
}

TEST(vocab_txt)
{
    struct rows r;
    size_t cases = 0;
    REQUIRE(open_rows(&r, "golden/tokenizer_extra/vocab_txt.json"));
    for (struct tn_json row = tn_json_first(r.list); row.doc; row = tn_json_next(row)) {
        struct golden g = {0};
        struct tn_str what = {0};
        char name[64];
        struct tn_wordpiece_options o = {.vocab_name = TN_STR("vocab.txt"), .tokenize_chinese_chars = true,
                                         .unk_token = TN_STR("[UNK]"), .cls_token = TN_STR("[CLS]"),
                                         .sep_token = TN_STR("[SEP]"), .pad_token = TN_STR("[PAD]"),
                                         .mask_token = TN_STR("[MASK]")};
        tn_json_str(tn_json_get(row, "what"), &what);
        snprintf(name, sizeof(name), "%.*s", (int)what.n, what.s);
        g.name = name;
        tn_json_str(tn_json_get(row, "vocab"), &o.vocab);
        tn_json_bool(tn_json_get(row, "do_lower_case"), &o.do_lower_case);
        tn_json_bool(tn_json_get(row, "tokenize_chinese_chars"), &o.tokenize_chinese_chars);
        o.strip_accents_set = tn_json_bool(tn_json_get(row, "strip_accents"), &o.strip_accents);
        tn_json_bool(tn_json_get(row, "mpnet"), &o.mpnet);
        if (o.mpnet) {
            o.cls_token = TN_STR("<s>");
            o.sep_token = TN_STR("</s>");
            o.pad_token = TN_STR("<pad>");
            o.mask_token = TN_STR("<mask>");
        }
        text_init(&g.x);
        cases += run_row(&g, row, tn_text_tokenizer_from_vocab(&g.x.ctx, &o, &g.x.t, g.x.err));
    }
    CHECK_INT(cases, 150);
    close_rows(&r);
}
