/*
 * tokenizer.json against the class that transformers loads it with. Where the two agree, the file is used as it stands;
 * where they differ, each difference is a warning that names both keys, and the class decides, as it does in the
 * reference. Only shapes that change ids are compared; src/text validates the file itself. Inputs are untrusted.
 */
#include "describe/builder.h"

#include <stdlib.h>
#include <string.h>

#define RULE "transformers.tokenizer/1"

struct stages {
    struct tn_tokenizer_reader *r;
    struct tn_json root;
    bool have_cls, have_sep;
    uint64_t cls_id, sep_id;
    bool differ;
};

/* ---- messages --------------------------------------------------------------------------------------------------- */

/* "tokenizer.json says X; the class builds Y". `v` is the place in tokenizer.json, absent for a missing stage. */
static void differs(struct stages *s, const char *stage, struct tn_json v, const char *built)
{
    struct tn_tokenizer_reader *r = s->r;
    s->differ = true;
    struct tn_finding *f = tn_warning(r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "the %s in tokenizer.json is not the one that %s builds, which is used", stage,
                                      r->class->name);
    if (tn_json_present(v)) tn_at_json(f, v);
    else tn_at_json_member(f, s->root, stage);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_present(v) ? tn_json_text(v) : TN_STR("nothing")));
    tn_expected(f, "%s (transformers 5 rebuilds the stage, 4.x took the file's)", built);
    tn_remedy(f, "for the file's own stages set tokenizer_class in tokenizer_config.json to PreTrainedTokenizerFast");
}

/* Two keys that mean one thing, one in each file; tokenizer_config.json decides in every version of transformers. */
static void option_differs(struct stages *s, const char *option, struct tn_json v, const char *used)
{
    struct tn_tokenizer_reader *r = s->r;
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    struct tn_json stated = tn_json_get(tn_json_root(&r->config), option);
    s->differ = true;
    struct tn_finding *f =
        tn_warning(r->b, TN_UNSUPPORTED_PROCESSOR, "%s %s %s, %.*s in %.*s says %.*s; the former is used", option,
                   tn_json_present(stated) ? "in tokenizer_config.json says" : "defaults to", used, TN_FMT_ARG(at),
                   TN_FMT_ARG(v.doc->file), TN_FMT_ARG(tn_json_text(v)));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "%s, by %s", used, option);
}

static bool has_type(struct tn_json v, const char *type)
{
    struct tn_str s;
    return tn_json_str(tn_json_get(v, "type"), &s) && tn_str_is(s, type);
}

/* ---- normalizer, pre-tokenizer, model --------------------------------------------------------------------------- */

static const char *flag(bool value)
{
    return value ? "true" : "false";
}

static void compare_flag(struct stages *s, struct tn_json v, const char *option, bool used)
{
    bool stated = true;
    if (tn_json_bool(v, &stated) && stated != used) option_differs(s, option, v, flag(used));
}

static void compare_normalizer(struct stages *s)
{
    const struct tn_tokenizer_facts *t = s->r->facts;
    struct tn_json v = tn_json_get(s->root, "normalizer"), strip = tn_json_get(v, "strip_accents");
    bool clean = true, lower = true, stripped;
    if (!has_type(v, "BertNormalizer")) {
        differs(s, "normalizer", v, "BertNormalizer");
        return;
    }
    if (tn_json_bool(tn_json_get(v, "clean_text"), &clean) && !clean)
        differs(s, "normalizer", tn_json_get(v, "clean_text"), "clean_text true");
    (void)tn_json_bool(tn_json_get(v, "lowercase"), &lower);
    compare_flag(s, tn_json_get(v, "lowercase"), "do_lower_case", t->do_lower_case);
    compare_flag(s, tn_json_get(v, "handle_chinese_chars"), "tokenize_chinese_chars", t->tokenize_chinese_chars);
    /* Unset follows the case: what counts is whether accents go. */
    if (!tn_json_bool(strip, &stripped)) stripped = lower;
    bool used = t->strip_accents_set ? t->strip_accents : t->do_lower_case;
    if (stripped != used && tn_json_present(strip) && (t->strip_accents_set || tn_json_is(strip, TN_JSON_BOOL)))
        option_differs(s, "strip_accents", strip, t->strip_accents_set ? flag(t->strip_accents) : "null");
}

static void compare_pre_tokenizer(struct stages *s)
{
    struct tn_json v = tn_json_get(s->root, "pre_tokenizer");
    if (!has_type(v, "BertPreTokenizer")) differs(s, "pre_tokenizer", v, "BertPreTokenizer");
}

/* False when the class cannot be built from this model at all. */
static bool compare_model(struct stages *s)
{
    struct tn_tokenizer_reader *r = s->r;
    struct tn_json model = tn_json_get(s->root, "model");
    struct tn_json prefix = tn_json_get(model, "continuing_subword_prefix"), unk = tn_json_get(model, "unk_token");
    struct tn_json longest = tn_json_get(model, "max_input_chars_per_word");
    struct tn_str text;
    uint64_t chars;
    if (tn_json_present(tn_json_get(model, "type")) && !has_type(model, "WordPiece")) {
        struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR, "%s needs a WordPiece model",
                                          r->class->name);
        tn_at_json(f, tn_json_get(model, "type"));
        tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(tn_json_get(model, "type"))));
        tn_expected(f, "WordPiece");
        tn_remedy(f, "set tokenizer_class in tokenizer_config.json to PreTrainedTokenizerFast");
        return false;
    }
    if (tn_json_str(prefix, &text) && !tn_str_is(text, "##")) differs(s, "model", prefix, "##");
    if (tn_json_u64(longest, &chars) && chars != 100) differs(s, "model", longest, "100");
    if (tn_json_str(unk, &text) && !tn_str_eq(text, r->facts->unk_token))
        option_differs(s, "unk_token", unk, "another token");
    return true;
}

/* ---- post-processor --------------------------------------------------------------------------------------------- */

/* One piece of a template: "C" cls, "S" sep, "A", "B"; `type` is its type id. */
struct piece {
    char what;
    uint64_t type;
};

static const struct piece bert_single[] = {{'C', 0}, {'A', 0}, {'S', 0}};
static const struct piece bert_pair[] = {{'C', 0}, {'A', 0}, {'S', 0}, {'B', 1}, {'S', 1}};
static const struct piece roberta_pair[] = {{'C', 0}, {'A', 0}, {'S', 0}, {'S', 0}, {'B', 0}, {'S', 0}};

static bool is_special(const struct stages *s, struct tn_json piece, bool cls)
{
    struct tn_str id;
    const struct tn_tokenizer_facts *t = s->r->facts;
    return tn_json_str(tn_json_find(piece, "/SpecialToken/id"), &id) &&
           tn_str_eq(id, cls ? t->cls_token : t->sep_token);
}

static bool is_piece(const struct stages *s, struct tn_json v, struct piece wanted)
{
    bool sequence = wanted.what == 'A' || wanted.what == 'B';
    struct tn_str id;
    uint64_t type = UINT64_MAX;
    (void)tn_json_u64(tn_json_find(v, sequence ? "/Sequence/type_id" : "/SpecialToken/type_id"), &type);
    if (type != wanted.type) return false;
    if (!sequence) return is_special(s, v, wanted.what == 'C');
    return tn_json_str(tn_json_find(v, "/Sequence/id"), &id) && id.n == 1 && id.s[0] == wanted.what;
}

static bool is_template(const struct stages *s, struct tn_json list, const struct piece *pieces, size_t count)
{
    struct tn_json v = tn_json_first(list);
    for (size_t i = 0; i < count; i++, v = tn_json_next(v))
        if (!tn_json_present(v) || !is_piece(s, v, pieces[i])) return false;
    return !tn_json_present(v);
}

/* The ids that a template gives its special tokens are those of the vocabulary. */
static bool has_id(struct tn_json post, struct tn_str token, bool known, uint64_t id)
{
    uint64_t stated;
    struct tn_json ids = tn_json_get(tn_json_get_str(tn_json_get(post, "special_tokens"), token), "ids");
    return known && tn_json_count(ids) == 1 && tn_json_u64(tn_json_first(ids), &stated) && stated == id;
}

/* ["[SEP]", 102] */
static bool is_token_pair(struct tn_json v, struct tn_str token, bool known, uint64_t id)
{
    struct tn_str text;
    uint64_t stated;
    return known && tn_json_count(v) == 2 && tn_json_str(tn_json_first(v), &text) && tn_str_eq(text, token) &&
           tn_json_u64(tn_json_next(tn_json_first(v)), &stated) && stated == id;
}

static bool same_post_processor(const struct stages *s, struct tn_json v)
{
    const struct tn_tokenizer_facts *t = s->r->facts;
    bool bert = s->r->class->pair_template == TN_TEMPLATE_BERT;
    if (has_type(v, bert ? "BertProcessing" : "RobertaProcessing"))
        return is_token_pair(tn_json_get(v, "sep"), t->sep_token, s->have_sep, s->sep_id) &&
               is_token_pair(tn_json_get(v, "cls"), t->cls_token, s->have_cls, s->cls_id);
    if (!has_type(v, "TemplateProcessing")) return false;
    return is_template(s, tn_json_get(v, "single"), bert_single, 3) &&
           is_template(s, tn_json_get(v, "pair"), bert ? bert_pair : roberta_pair, bert ? 5 : 6) &&
           has_id(v, t->cls_token, s->have_cls, s->cls_id) && has_id(v, t->sep_token, s->have_sep, s->sep_id);
}

static void compare_post_processor(struct stages *s)
{
    struct tn_json v = tn_json_get(s->root, "post_processor");
    if (same_post_processor(s, v)) return;
    differs(s, "post_processor", v,
            s->r->class->pair_template == TN_TEMPLATE_BERT ? "cls A sep, and cls A sep B sep for pairs"
                                                           : "cls A sep, and cls A sep sep B sep for pairs");
}

/* Whether a special token stands first or last for one text. */
static bool puts_special(struct tn_json post, bool last)
{
    if (has_type(post, "BertProcessing") || has_type(post, "RobertaProcessing")) return true;
    struct tn_json edge = {NULL, 0}, list = tn_json_get(post, "single");
    if (has_type(post, "Sequence")) {
        for (struct tn_json v = tn_json_first(tn_json_get(post, "processors")); tn_json_present(v); v = tn_json_next(v))
            if (!has_type(v, "Sequence") && puts_special(v, last)) return true;
        return false;
    }
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        if (last || !tn_json_present(edge)) edge = v;
    }
    return tn_json_present(tn_json_get(edge, "SpecialToken"));
}

/* add_bos_token / add_eos_token: the reference drops both when tokenizer.json is there. */
static void compare_added_edge(struct stages *s, const char *key, bool last)
{
    struct tn_tokenizer_reader *r = s->r;
    struct tn_json stated = tn_json_get(tn_json_root(&r->config), key), post = tn_json_get(s->root, "post_processor");
    bool wanted, there = !r->class->from_file || puts_special(post, last);
    if (!tn_json_bool(stated, &wanted) || wanted == there) return;
    struct tn_finding *f = tn_warning(r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "%s in %.*s is %s, but /post_processor in %.*s puts %s token %s", key,
                                      TN_FMT_ARG(stated.doc->file), flag(wanted), TN_FMT_ARG(s->root.doc->file),
                                      there ? "a special" : "no special", last ? "last" : "first");
    tn_at_json(f, stated);
    tn_found(f, "%s", flag(wanted));
    tn_expected(f, "%s: tokenizer.json decides, as in the reference", flag(there));
    tn_remedy(f, "remove %s, or save tokenizer.json with the post-processor that is meant", key);
}

/* ---- a file that is loaded as it stands --------------------------------------------------------------------------- */

static bool lowers(struct tn_json normalizer, unsigned depth)
{
    bool lower = false;
    if (has_type(normalizer, "Lowercase")) return true;
    if (has_type(normalizer, "BertNormalizer")) return tn_json_bool(tn_json_get(normalizer, "lowercase"), &lower) && lower;
    if (!has_type(normalizer, "Sequence") || depth > 8) return false;
    for (struct tn_json v = tn_json_first(tn_json_get(normalizer, "normalizers")); tn_json_present(v); v = tn_json_next(v))
        if (lowers(v, depth + 1)) return true;
    return false;
}

/* do_lower_case is read by no code here, so a contradiction is only told. */
static void compare_case(struct stages *s)
{
    struct tn_tokenizer_reader *r = s->r;
    struct tn_json stated = tn_json_get(tn_json_root(&r->config), "do_lower_case");
    bool wanted, there = lowers(tn_json_get(s->root, "normalizer"), 0);
    if (!tn_json_bool(stated, &wanted) || wanted == there) return;
    struct tn_finding *f = tn_warning(r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "do_lower_case in %.*s is %s, but /normalizer in %.*s %s the case",
                                      TN_FMT_ARG(stated.doc->file), flag(wanted), TN_FMT_ARG(s->root.doc->file),
                                      there ? "lowers" : "keeps");
    tn_at_json(f, stated);
    tn_found(f, "%s", flag(wanted));
    tn_expected(f, "%s: %s takes its stages from tokenizer.json", flag(there), r->class->name);
}

/* A Lowercase stage of its own, not the switch inside BertNormalizer: the library's own test for do_lower_case. */
static bool has_lowercase_stage(struct tn_json normalizer)
{
    if (has_type(normalizer, "Lowercase")) return true;
    if (!has_type(normalizer, "Sequence")) return false;
    for (struct tn_json v = tn_json_first(tn_json_get(normalizer, "normalizers")); tn_json_present(v); v = tn_json_next(v))
        if (has_type(v, "Lowercase")) return true;
    return false;
}

/* ---- vocabulary and added tokens -------------------------------------------------------------------------------- */

struct vocabulary {
    uint64_t largest;
    struct tn_json place; /* of the largest id */
};

static void meet(struct vocabulary *v, uint64_t id, struct tn_json place)
{
    if (tn_json_present(v->place) && id <= v->largest) return;
    v->largest = id;
    v->place = place;
}

static void scan_vocabulary(struct stages *s, struct vocabulary *vocabulary)
{
    struct tn_json list = tn_json_find(s->root, "/model/vocab");
    const struct tn_tokenizer_facts *t = s->r->facts;
    bool array = tn_json_is(list, TN_JSON_ARRAY); /* Unigram: the position is the id */
    uint64_t position = 0, id;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), position++) {
        id = position;
        if (!array && !tn_json_u64(v, &id)) continue;
        meet(vocabulary, id, v);
        if (array) continue;
        if (tn_str_eq(tn_json_key(v), t->cls_token)) s->have_cls = true, s->cls_id = id;
        if (tn_str_eq(tn_json_key(v), t->sep_token)) s->have_sep = true, s->sep_id = id;
    }
    for (struct tn_json v = tn_json_first(tn_json_get(s->root, "added_tokens")); tn_json_present(v); v = tn_json_next(v))
        if (tn_json_u64(tn_json_get(v, "id"), &id)) meet(vocabulary, id, tn_json_get(v, "id"));
}

/* An id beyond the embedding table would be an out-of-range read in the reference; here it is found beforehand. */
static void check_table(struct tn_tokenizer_reader *r, uint64_t largest, struct tn_str file, struct tn_json place)
{
    if (!r->hints->component) return;
    const struct tn_value *rows = tn_component_value(r->hints->component, "vocab_size");
    if (!rows->present || rows->u == 0 || largest < rows->u) return;
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_CONFIG, "ids in %.*s go beyond vocab_size of config.json",
                                      TN_FMT_ARG(file));
    if (tn_json_present(place)) tn_at_json(f, place);
    else tn_at_file(f, file);
    tn_found(f, "id %llu", (unsigned long long)largest);
    tn_expected(f, "ids below vocab_size %llu", (unsigned long long)rows->u);
}

struct added {
    uint64_t id;
    struct tn_json token;
};

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct added *)a)->id, y = ((const struct added *)b)->id;
    return x < y ? -1 : x > y;
}

/* The added tokens of tokenizer.json sorted by id; NULL without memory. */
static struct added *list_added(struct stages *s, size_t *count)
{
    struct tn_json list = tn_json_get(s->root, "added_tokens");
    struct added *items = tn_calloc(s->r->b->alloc, tn_json_count(list), sizeof(*items));
    *count = 0;
    if (!items) {
        tn_builder_no_memory(s->r->b);
        return NULL;
    }
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        items[*count].token = v;
        if (tn_json_u64(tn_json_get(v, "id"), &items[*count].id)) (*count)++;
    }
    if (*count > 1) qsort(items, *count, sizeof(*items), by_id);
    return items;
}

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
static void compare_decoder(struct stages *s, const struct added *items, size_t count)
{
    struct tn_tokenizer_reader *r = s->r;
    struct tn_json decoder = tn_json_get(tn_json_root(&r->config), "added_tokens_decoder");
    size_t matched = 0;
    if (tn_json_type(decoder) == TN_JSON_NULL) return;
    for (struct tn_json v = tn_json_first(decoder); tn_json_present(v); v = tn_json_next(v)) {
        struct added key = {.id = 0};
        const struct added *item = NULL;
        if (decimal_key(tn_json_key(v), &key.id)) item = bsearch(&key, items, count, sizeof(*items), by_id);
        if (!item) added_differs(r, v, "one is missing in tokenizer.json");
        else if (!same_token(v, item->token)) added_differs(r, v, "one has other contents or flags");
        else matched++;
    }
    if (!r->class->from_file && matched < count)
        added_differs(r, decoder, "tokenizer.json has more, which the class would not load");
}

static bool is_added(const struct added *items, size_t count, struct tn_str token)
{
    struct tn_str content;
    for (size_t i = 0; i < count; i++)
        if (tn_json_str(tn_json_get(items[i].token, "content"), &content) && tn_str_eq(content, token)) return true;
    return false;
}

static void need_added(struct tn_tokenizer_reader *r, const struct added *items, size_t count, struct tn_str token,
                       const char *key)
{
    if (token.n == 0 || is_added(items, count, token)) return;
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "%s is no added token of tokenizer.json; the reference would add it", key);
    tn_at_pointer(f, r->facts->tokenizer_json, TN_STR("/added_tokens"));
    tn_found(f, "no entry \"%.*s\"", TN_FMT_ARG(token));
    tn_remedy(f, "save the tokenizer again");
}

/* additional_special_tokens, or extra_special_tokens as a list: texts that become special tokens. */
static struct tn_json extra_tokens(const struct tn_tokenizer_reader *r, const char *key)
{
    struct tn_json map = tn_json_get(tn_json_root(&r->map), key);
    return tn_tokenizer_map_counts(r) && tn_json_present(map) ? map : tn_json_get(tn_json_root(&r->config), key);
}

static void need_extra(struct tn_tokenizer_reader *r, const struct added *items, size_t count, const char *key)
{
    struct tn_json list = extra_tokens(r, key);
    struct tn_str text;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_json content = tn_json_is(v, TN_JSON_OBJECT) ? tn_json_get(v, "content") : v;
        if (tn_json_str(content, &text)) need_added(r, items, count, text, key);
        else added_differs(r, v, "an entry is no token");
    }
}

static void compare_added(struct stages *s)
{
    struct tn_tokenizer_reader *r = s->r;
    const struct tn_tokenizer_facts *t = r->facts;
    size_t count;
    struct added *items = list_added(s, &count);
    if (!items) return;
    compare_decoder(s, items, count);
    need_added(r, items, count, t->unk_token, "unk_token");
    need_added(r, items, count, t->cls_token, "cls_token");
    need_added(r, items, count, t->sep_token, "sep_token");
    need_added(r, items, count, t->pad_token, "pad_token");
    need_added(r, items, count, t->mask_token, "mask_token");
    need_extra(r, items, count, "additional_special_tokens");
    need_extra(r, items, count, "extra_special_tokens");
    tn_free(r->b->alloc, items);
}

/* ---- vocab.txt alone -------------------------------------------------------------------------------------------- */

static void refuse_without_file(struct tn_tokenizer_reader *r, struct tn_str place, const char *what)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR, "%s, and there is no tokenizer.json", what);
    tn_at_file(f, place);
    tn_expected(f, "tokenizer.json");
    tn_remedy(f, "load it with transformers and save_pretrained(), which writes tokenizer.json");
}

static void count_lines(struct tn_tokenizer_reader *r)
{
    struct tn_str text;
    tn_error_clear(r->b->scratch);
    enum tn_status status = tn_inventory_read(r->b->inv, r->facts->vocab_txt, &text, r->b->scratch);
    if (status != TN_OK) {
        tn_builder_report(r->b, status);
        return;
    }
    uint64_t lines = text.n > 0 && text.s[text.n - 1] != '\n';
    for (size_t i = 0; i < text.n; i++) lines += text.s[i] == '\n';
    tn_free(r->b->alloc, (void *)(uintptr_t)text.s);
    if (lines > 0) check_table(r, lines - 1, r->facts->vocab_txt, (struct tn_json){NULL, 0});
}

static void read_vocabulary_alone(struct tn_tokenizer_reader *r)
{
    struct tn_str added = tn_builder_join(r->b, r->hints->folder, "added_tokens.json");
    r->facts->source = TN_TOKENIZER_VOCAB;
    if (r->class->from_file) refuse_without_file(r, r->facts->vocab_txt, "the tokenizer class loads tokenizer.json");
    if (r->b->failed == TN_OK && tn_builder_has(r->b, added))
        refuse_without_file(r, added, "tokens are added to vocab.txt");
    if (tn_json_count(extra_tokens(r, "additional_special_tokens")) > 0 ||
        tn_json_count(extra_tokens(r, "extra_special_tokens")) > 0)
        refuse_without_file(r, r->facts->tokenizer_config, "special tokens are added to vocab.txt");
    count_lines(r);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static void record_source(struct tn_tokenizer_reader *r)
{
    static const char *const names[] = {"\"file\"", "\"class\"", "\"vocab\""};
    struct tn_str file = r->facts->source == TN_TOKENIZER_VOCAB ? r->facts->vocab_txt : r->facts->tokenizer_json;
    tn_fact_of_text(r->b, TN_FROM_STRUCTURE, file, TN_STR(""), tn_str_of(names[r->facts->source]), RULE, false,
                    "tokenizer.source");
}

void tn_tokenizer_compare(struct tn_tokenizer_reader *r)
{
    struct stages s = {.r = r, .root = tn_json_root(&r->file)};
    struct vocabulary vocabulary = {0};
    if (!tn_json_present(s.root)) {
        r->facts->lower_case_first = r->hints->module_lower_case;
        read_vocabulary_alone(r);
        record_source(r);
        return;
    }
    scan_vocabulary(&s, &vocabulary);
    if (tn_json_present(vocabulary.place))
        check_table(r, vocabulary.largest, r->facts->tokenizer_json, vocabulary.place);
    compare_added_edge(&s, "add_bos_token", false);
    compare_added_edge(&s, "add_eos_token", true);
    compare_added(&s);
    if (r->class->from_file) {
        compare_case(&s);
        r->facts->lower_case_first =
            r->hints->module_lower_case && !has_lowercase_stage(tn_json_get(s.root, "normalizer"));
    } else {
        if (!compare_model(&s)) return;
        compare_normalizer(&s);
        compare_pre_tokenizer(&s);
        compare_post_processor(&s);
        r->facts->lower_case_first = r->hints->module_lower_case;
    }
    r->facts->source = s.differ ? TN_TOKENIZER_CLASS : TN_TOKENIZER_FILE;
    record_source(r);
}
