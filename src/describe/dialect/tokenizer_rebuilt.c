/*
 * Tokenizer classes that build every stage themselves and whose stages this build does not write: RobertaTokenizer,
 * XLMRobertaTokenizer and DebertaV2Tokenizer of transformers 5.24 take only the vocabulary (the merges, the character
 * map) from tokenizer.json. A file that holds the very stages which its class builds is used as it stands; any other is
 * refused, stage by stage, because the reference would not use what the file says. Inputs are untrusted.
 */
#include "describe/builder.h"

#include <stdio.h>

struct rebuilt {
    struct tn_tokenizer_reader *r;
    struct tn_json root;
    const struct tn_tokenizer_vocabulary *vocabulary;
};

/* ---- looking -------------------------------------------------------------------------------------------------------- */

static bool has_type(struct tn_json v, const char *type)
{
    struct tn_str s;
    return tn_json_str(tn_json_get(v, "type"), &s) && tn_str_is(s, type);
}

static bool text_is(struct tn_json v, const char *key, const char *wanted)
{
    struct tn_str s;
    return tn_json_str(tn_json_get(v, key), &s) && tn_str_is(s, wanted);
}

/* null, absent, or "". */
static bool is_empty(struct tn_json v, const char *key)
{
    struct tn_json m = tn_json_get(v, key);
    struct tn_str s;
    return tn_json_type(m) == TN_JSON_NULL || (tn_json_str(m, &s) && s.n == 0);
}

static bool flag_is(struct tn_json v, const char *key, bool wanted, bool absent)
{
    bool stated = absent;
    struct tn_json m = tn_json_get(v, key);
    return (tn_json_type(m) == TN_JSON_NULL || tn_json_bool(m, &stated)) && stated == wanted;
}

/* Element i of a Sequence stage's list; of a stage that is no sequence the stage itself, at 0. */
static struct tn_json step(struct tn_json stage, const char *list, unsigned i)
{
    if (has_type(stage, "Sequence")) return tn_json_at(tn_json_get(stage, list), i);
    return i == 0 && tn_json_is(stage, TN_JSON_OBJECT) ? stage : (struct tn_json){NULL, 0};
}

/* ---- saying --------------------------------------------------------------------------------------------------------- */

static void refuse(struct rebuilt *s, const char *stage, const char *built)
{
    const char *class = s->r->class->name;
    struct tn_json v = tn_json_get(s->root, stage);
    struct tn_finding *f = tn_blocker(s->r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "the %s in tokenizer.json is not the one that %s builds in its place", stage, class);
    if (tn_json_present(v)) tn_at_json(f, v);
    else tn_at_json_member(f, s->root, stage);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_present(v) ? tn_json_text(v) : TN_STR("nothing")));
    tn_expected(f, "%s", built);
    tn_remedy(f, "load and save the tokenizer with transformers 5, which writes the stages that it uses; or, if the file's "
                 "own stages are meant, set tokenizer_class in tokenizer_config.json to PreTrainedTokenizerFast");
}

static void require(struct rebuilt *s, bool same, const char *stage, const char *built)
{
    if (!same) refuse(s, stage, built);
}

/* ---- stages that two classes share ---------------------------------------------------------------------------------- */

/* U+2581, in front of every word. Files of releases before 0.15 say add_prefix_space instead of prepend_scheme. */
static bool is_metaspace(struct tn_json v, const char *scheme)
{
    bool named = tn_json_present(tn_json_get(v, "prepend_scheme"));
    bool prepended = named ? text_is(v, "prepend_scheme", scheme)
                           : flag_is(v, "add_prefix_space", scheme[0] == 'a', true) && scheme[0] != 'f';
    return has_type(v, "Metaspace") && text_is(v, "replacement", "\xe2\x96\x81") && prepended &&
           flag_is(v, "split", true, true);
}

/* The position in the vocabulary that stands for what no piece covers. */
static bool is_unigram(const struct rebuilt *s, uint64_t unk)
{
    struct tn_json model = tn_json_get(s->root, "model");
    uint64_t stated;
    bool type = has_type(model, "Unigram") || !tn_json_present(tn_json_get(model, "type"));
    return type && tn_json_u64(tn_json_get(model, "unk_id"), &stated) && stated == unk &&
           flag_is(model, "byte_fallback", false, false);
}

/* ---- RobertaTokenizer ------------------------------------------------------------------------------------------------- */

static void compare_roberta(struct rebuilt *s)
{
    const struct tn_tokenizer_options *o = &s->r->options;
    struct tn_json pre = tn_json_get(s->root, "pre_tokenizer"), model = tn_json_get(s->root, "model");
    struct tn_json post = tn_json_get(s->root, "post_processor");
    require(s, tn_json_type(tn_json_get(s->root, "normalizer")) == TN_JSON_NULL, "normalizer", "none");
    require(s, has_type(pre, "ByteLevel") && flag_is(pre, "add_prefix_space", o->add_prefix_space, true) &&
            flag_is(pre, "use_regex", true, true),
            "pre_tokenizer", "ByteLevel with its pattern, and add_prefix_space as in tokenizer_config.json (default false)");
    /* The first files with merges name no type. */
    bool pairs = has_type(model, "BPE") || (is_empty(model, "type") && tn_json_present(tn_json_get(model, "merges")));
    require(s, pairs && tn_json_type(tn_json_get(model, "dropout")) == TN_JSON_NULL &&
                   tn_json_type(tn_json_get(model, "unk_token")) == TN_JSON_NULL &&
                   is_empty(model, "continuing_subword_prefix") &&
                   is_empty(model, "end_of_word_suffix") && flag_is(model, "fuse_unk", false, false) &&
                   flag_is(model, "byte_fallback", false, false) && flag_is(model, "ignore_merges", false, false),
            "model", "BPE without unk_token, affixes and switches");
    require(s, has_type(post, "RobertaProcessing") && tn_tokenizer_same_template(s->r, s->root, s->vocabulary) &&
                   flag_is(post, "trim_offsets", o->trim_offsets, true) &&
                   flag_is(post, "add_prefix_space", o->add_prefix_space, true),
            "post_processor", "RobertaProcessing with cls and sep, trim_offsets and add_prefix_space of tokenizer_config.json "
                              "(defaults true and false)");
}

/* The class puts bos and eos around texts, which are cls and sep unless somebody says otherwise. */
static bool edges_agree(const struct tn_tokenizer_reader *r)
{
    static const char *const keys[] = {"bos_token", "eos_token"};
    const struct tn_str edges[] = {r->facts->cls_token, r->facts->sep_token};
    for (unsigned i = 0; i < 2; i++) {
        struct tn_json v = tn_json_get(tn_json_root(&r->config), keys[i]);
        struct tn_str s;
        if (tn_json_is(v, TN_JSON_OBJECT)) v = tn_json_get(v, "content");
        if (tn_json_str(v, &s) && !tn_str_eq(s, edges[i])) return false;
    }
    return true;
}

/* ---- XLMRobertaTokenizer ---------------------------------------------------------------------------------------------- */

static void compare_xlm_roberta(struct rebuilt *s)
{
    const char *scheme = s->r->options.add_prefix_space ? "always" : "never";
    struct tn_json normalizer = tn_json_get(s->root, "normalizer"), pre = tn_json_get(s->root, "pre_tokenizer");
    bool none = tn_json_type(normalizer) == TN_JSON_NULL;
    bool map = has_type(step(normalizer, "normalizers", 0), "Precompiled") &&
               !tn_json_present(step(normalizer, "normalizers", 1));
    require(s, none || map, "normalizer", "Precompiled with the character map of the file, or none where the file has no map");
    require(s, has_type(pre, "Sequence") && has_type(step(pre, "pretokenizers", 0), "WhitespaceSplit") &&
                   is_metaspace(step(pre, "pretokenizers", 1), scheme) && !tn_json_present(step(pre, "pretokenizers", 2)),
            "pre_tokenizer", "WhitespaceSplit, then Metaspace in front of every word unless add_prefix_space is false");
    require(s, is_unigram(s, 3), "model", "Unigram with unk_id 3 and without byte_fallback");
    require(s, edges_agree(s->r) && tn_tokenizer_same_template(s->r, s->root, s->vocabulary), "post_processor",
            "<s> A </s>, and <s> A </s> </s> B </s> for pairs, all of type 0");
}

/* ---- DebertaV2Tokenizer ----------------------------------------------------------------------------------------------- */

static bool is_blank_replacer(struct tn_json v)
{
    struct tn_json pattern = tn_json_get(v, "pattern");
    return has_type(v, "Replace") && text_is(pattern, "Regex", "\\s{2,}|[\\n\\r\\t]") && text_is(v, "content", " ");
}

static bool is_deberta_normalizer(const struct rebuilt *s)
{
    struct tn_json v = tn_json_get(s->root, "normalizer");
    unsigned i = 0;
    if (!has_type(v, "Sequence")) return false;
    if (s->r->options.do_lower_case && !has_type(step(v, "normalizers", i++), "Lowercase")) return false;
    struct tn_json strip = step(v, "normalizers", i + 2);
    return is_blank_replacer(step(v, "normalizers", i)) && has_type(step(v, "normalizers", i + 1), "NFC") &&
           has_type(strip, "Strip") && flag_is(strip, "strip_left", false, true) && flag_is(strip, "strip_right", true, true) &&
           !tn_json_present(step(v, "normalizers", i + 3));
}

/* The place of [unk_token, 0.0] in the vocabulary, as the class looks for it; else its option. */
static uint64_t deberta_unk(const struct rebuilt *s)
{
    uint64_t place = 0;
    struct tn_json list = tn_json_find(s->root, "/model/vocab");
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), place++) {
        struct tn_str token;
        double score;
        if (tn_json_str(tn_json_first(v), &token) && tn_str_eq(token, s->r->facts->unk_token) &&
            tn_json_f64(tn_json_at(v, 1), &score) && score == 0) return place;
    }
    return s->r->options.unk_id;
}

static void compare_deberta_v2(struct rebuilt *s)
{
    const struct tn_tokenizer_options *o = &s->r->options;
    struct tn_json pre = tn_json_get(s->root, "pre_tokenizer");
    unsigned i = o->split_by_punct ? 1 : 0;
    bool punctuation = !o->split_by_punct || (has_type(step(pre, "pretokenizers", 0), "Punctuation") &&
                                              text_is(step(pre, "pretokenizers", 0), "behavior", "Isolated"));
    require(s, is_deberta_normalizer(s), "normalizer",
            "Lowercase if do_lower_case, Replace of blanks, NFC, and Strip at the end");
    require(s, punctuation && is_metaspace(step(pre, "pretokenizers", i), o->add_prefix_space ? "always" : "first") &&
                   !tn_json_present(step(pre, "pretokenizers", i + 1)),
            "pre_tokenizer", "Punctuation if split_by_punct, then Metaspace in front of every word, or of the first one if "
                             "add_prefix_space is false");
    require(s, is_unigram(s, deberta_unk(s)), "model", "Unigram whose unk_id is the place of unk_token, without byte_fallback");
    require(s, tn_tokenizer_same_template(s->r, s->root, s->vocabulary), "post_processor",
            "[CLS] A [SEP], and [CLS] A [SEP] B [SEP] for pairs, type 1 from B on");
}

bool tn_tokenizer_compare_rebuilt(struct tn_tokenizer_reader *r, const struct tn_tokenizer_vocabulary *vocabulary)
{
    struct rebuilt s = {.r = r, .root = r->file, .vocabulary = vocabulary};
    size_t before = r->b->d->findings.blockers;
    switch (r->class->stages) {
    case TN_STAGES_BERT: break;
    case TN_STAGES_ROBERTA: compare_roberta(&s); break;
    case TN_STAGES_XLM_ROBERTA: compare_xlm_roberta(&s); break;
    case TN_STAGES_DEBERTA_V2: compare_deberta_v2(&s); break;
    }
    return r->b->d->findings.blockers == before;
}

void tn_tokenizer_refuse_lines(struct tn_tokenizer_reader *r)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR, "%s cannot be made from %.*s", r->class->name,
                                      TN_FMT_ARG(r->facts->vocab_txt));
    tn_at_file(f, r->facts->vocab_txt);
    tn_found(f, "a list of tokens");
    tn_expected(f, "tokenizer.json");
    tn_remedy(f, "load it with transformers and save_pretrained(), which writes tokenizer.json");
}
