/*
 * tokenizer.json against the class that transformers loads it with. Where the two agree, the file is used as it stands;
 * where they differ, each difference is a warning that names both keys, and the class decides, as it does in the
 * reference. Only what changes ids is compared; src/text validates the file itself. Inputs are untrusted.
 */
#include "describe/builder.h"

#define RULE "transformers.tokenizer/1"

struct stages {
    struct tn_tokenizer_reader *r;
    struct tn_json root;
    struct tn_tokenizer_vocabulary vocabulary;
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

bool tn_tokenizer_is_word_pieces(const struct tn_tokenizer_check *k, const char *class)
{
    struct tn_json model = tn_json_get(k->file, "model"), type = tn_json_get(model, "type");
    if (!tn_json_present(type) || has_type(model, "WordPiece")) return true;
    struct tn_finding *f = tn_blocker(k->b, TN_UNSUPPORTED_PROCESSOR, "%s needs a WordPiece model", class);
    tn_at_json(f, type);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(type)));
    tn_expected(f, "WordPiece");
    tn_remedy(f, tn_json_present(k->stated) ? "set the source to file and the class to PreTrainedTokenizerFast, which take the stages of "
                                              "tokenizer.json"
                                            : "set tokenizer_class in tokenizer_config.json to PreTrainedTokenizerFast");
    return false;
}

/* False when the class cannot be built from this model at all. */
static bool compare_model(struct stages *s)
{
    struct tn_tokenizer_reader *r = s->r;
    struct tn_tokenizer_check check = tn_tokenizer_check_of(r);
    struct tn_json model = tn_json_get(s->root, "model");
    struct tn_json prefix = tn_json_get(model, "continuing_subword_prefix"), unk = tn_json_get(model, "unk_token");
    struct tn_json longest = tn_json_get(model, "max_input_chars_per_word");
    struct tn_str text;
    uint64_t chars;
    if (!tn_tokenizer_is_word_pieces(&check, r->class->name)) return false;
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
    const struct tn_tokenizer_vocabulary *ids = &s->vocabulary;
    bool bert = s->r->class->pair_template == TN_TEMPLATE_ONE_SEPARATOR;
    if (has_type(v, bert ? "BertProcessing" : "RobertaProcessing"))
        return is_token_pair(tn_json_get(v, "sep"), t->sep_token, ids->have_sep, ids->sep_id) &&
               is_token_pair(tn_json_get(v, "cls"), t->cls_token, ids->have_cls, ids->cls_id);
    if (!has_type(v, "TemplateProcessing")) return false;
    return is_template(s, tn_json_get(v, "single"), bert_single, 3) &&
           is_template(s, tn_json_get(v, "pair"), bert ? bert_pair : roberta_pair, bert ? 5 : 6) &&
           has_id(v, t->cls_token, ids->have_cls, ids->cls_id) && has_id(v, t->sep_token, ids->have_sep, ids->sep_id);
}

bool tn_tokenizer_same_template(struct tn_tokenizer_reader *r, struct tn_json root,
                                const struct tn_tokenizer_vocabulary *vocabulary)
{
    struct stages s = {.r = r, .root = root, .vocabulary = *vocabulary};
    return same_post_processor(&s, tn_json_get(root, "post_processor"));
}

static void compare_post_processor(struct stages *s)
{
    struct tn_json v = tn_json_get(s->root, "post_processor");
    if (same_post_processor(s, v)) return;
    differs(s, "post_processor", v,
            s->r->class->pair_template == TN_TEMPLATE_ONE_SEPARATOR ? "cls A sep, and cls A sep B sep for pairs"
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
    struct stages s = {.r = r, .root = r->file};
    if (!tn_json_present(s.root) && r->class->stages != TN_STAGES_BERT) {
        tn_tokenizer_refuse_lines(r);
        return;
    }
    if (!tn_json_present(s.root)) {
        r->facts->lower_case_first = r->hints->module_lower_case;
        tn_tokenizer_read_vocab_txt(r);
        record_source(r);
        return;
    }
    struct tn_tokenizer_check check = tn_tokenizer_check_of(r);
    s.vocabulary = tn_tokenizer_scan_vocabulary(&check);
    tn_tokenizer_compare_added(r);
    tn_tokenizer_compare_vocab_txt(r);
    compare_added_edge(&s, "add_bos_token", false);
    compare_added_edge(&s, "add_eos_token", true);
    if (r->class->from_file) {
        compare_case(&s);
        r->facts->lower_case_first =
            r->hints->module_lower_case && !has_lowercase_stage(tn_json_get(s.root, "normalizer"));
    } else if (r->class->stages != TN_STAGES_BERT) {
        if (!tn_tokenizer_compare_rebuilt(r, &s.vocabulary)) return;
        r->facts->lower_case_first = r->hints->module_lower_case;
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
