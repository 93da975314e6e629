/*
 * The tokenizer's vocabulary as far as the description needs it: added tokens on which tokenizer.json and
 * tokenizer_config.json agree. What the reference would silently add to a tokenizer while loading is refused: no file of
 * the package holds those ids. What does not depend on the convention stands in describe/tokenizer_check.c. Inputs are
 * untrusted; all work is bounded by sorting.
 */
#include "describe/builder.h"

#include <string.h>

/* ---- added tokens ----------------------------------------------------------------------------------------------- */

static bool same_flag(struct tn_json a, struct tn_json b, const char *key, bool special)
{
    bool normalized = strcmp(key, "normalized") == 0; /* AddedToken's default: text is normalised unless special */
    bool x = normalized && !special, y = x;
    (void)tn_json_bool(tn_json_get(a, key), &x);
    (void)tn_json_bool(tn_json_get(b, key), &y);
    return x == y;
}

static bool same_token(struct tn_json a, struct tn_json b)
{
    static const char *const flags[] = {"special", "normalized", "lstrip", "rstrip", "single_word"};
    struct tn_str x, y;
    bool special = false;
    (void)tn_json_bool(tn_json_get(a, "special"), &special);
    if (!tn_json_str(tn_json_get(a, "content"), &x) || !tn_json_str(tn_json_get(b, "content"), &y)) return false;
    if (!tn_str_eq(x, y)) return false;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (!same_flag(a, b, flags[i], special)) return false;
    return true;
}

static void added_differs(struct tn_tokenizer_reader *r, struct tn_json v, const char *what)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "added tokens of tokenizer_config.json and tokenizer.json differ: %s", what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_remedy(f, "save the tokenizer again, so that both files are of one state");
}

static bool decimal_key(struct tn_str key, uint64_t *id)
{
    double number;
    if (key.n == 0 || key.n > 18 || !tn_parse_f64(key, &number) || number < 0) return false;
    *id = (uint64_t)number;
    return (double)*id == number;
}

/* added_tokens_decoder {"103": {...}} against added_tokens [{"id": 103, ...}]. */
static void compare_decoder(struct tn_tokenizer_reader *r, const struct tn_added_list *list)
{
    struct tn_json decoder = tn_json_get(tn_json_root(&r->config), "added_tokens_decoder");
    size_t matched = 0;
    if (tn_json_type(decoder) == TN_JSON_NULL) return;
    for (struct tn_json v = tn_json_first(decoder); tn_json_present(v); v = tn_json_next(v)) {
        uint64_t id;
        const struct tn_added *item = decimal_key(tn_json_key(v), &id) ? tn_added_by_id(list, id) : NULL;
        if (!item) added_differs(r, v, "one is missing in tokenizer.json");
        else if (!same_token(v, item->token)) added_differs(r, v, "one has other contents or flags");
        else matched++;
    }
    if (!r->class->from_file && matched < list->count)
        added_differs(r, decoder, "tokenizer.json has more, which the class would not load");
}

static struct tn_json extra_tokens(const struct tn_tokenizer_reader *r, const char *key)
{
    struct tn_json map = tn_json_get(tn_json_root(&r->map), key);
    return tn_tokenizer_map_counts(r) && tn_json_present(map) ? map : tn_json_get(tn_json_root(&r->config), key);
}

/* additional_special_tokens and extra_special_tokens: texts, or objects with a content, that become special tokens. */
static void need_extra(struct tn_tokenizer_reader *r, const struct tn_added_list *list, const char *key)
{
    struct tn_tokenizer_check check = tn_tokenizer_check_of(r);
    struct tn_json extra = extra_tokens(r, key);
    struct tn_str text;
    for (struct tn_json v = tn_json_first(extra); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_json content = tn_json_is(v, TN_JSON_OBJECT) ? tn_json_get(v, "content") : v;
        if (tn_json_str(content, &text)) tn_tokenizer_need_added(&check, list, text, key);
        else added_differs(r, v, "an entry is no token");
    }
}

void tn_tokenizer_compare_added(struct tn_tokenizer_reader *r)
{
    struct tn_tokenizer_check check = tn_tokenizer_check_of(r);
    struct tn_added_list list;
    if (!tn_added_list_init(&list, r->b, check.file)) return;
    compare_decoder(r, &list);
    need_extra(r, &list, "additional_special_tokens");
    need_extra(r, &list, "extra_special_tokens");
    tn_added_list_release(&list, r->b);
    tn_tokenizer_check_specials(&check);
}

/* ---- vocab.txt alone -------------------------------------------------------------------------------------------- */

static void refuse_without_file(struct tn_tokenizer_reader *r, struct tn_str place, const char *what)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR, "%s, and there is no tokenizer.json", what);
    tn_at_file(f, place);
    tn_expected(f, "tokenizer.json");
    tn_remedy(f, "load it with transformers and save_pretrained(), which writes tokenizer.json");
}

void tn_tokenizer_read_vocab_txt(struct tn_tokenizer_reader *r)
{
    struct tn_str added = tn_builder_join(r->b, r->hints->folder, "added_tokens.json");
    r->facts->source = TN_TOKENIZER_VOCAB;
    if (r->class->from_file) refuse_without_file(r, r->facts->vocab_txt, "the tokenizer class loads tokenizer.json");
    if (r->b->failed == TN_OK && tn_builder_has(r->b, added))
        refuse_without_file(r, added, "tokens are added to vocab.txt");
    if (tn_json_count(extra_tokens(r, "additional_special_tokens")) > 0 ||
        tn_json_count(extra_tokens(r, "extra_special_tokens")) > 0)
        refuse_without_file(r, r->facts->tokenizer_config, "special tokens are added to vocab.txt");
    struct tn_tokenizer_check check = tn_tokenizer_check_of(r);
    tn_tokenizer_check_lines(&check);
}
