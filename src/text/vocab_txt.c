/*
 * The fallback rule for packages without tokenizer.json: vocab.txt and flags, put together as transformers puts them
 * together for its BERT and MPNet tokenizers. Input is hostile.
 *
 * The file is read as the library reads it: one token per line, blanks at its end cut off, a later line wins over an
 * earlier one with the same text.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

static enum tn_status malformed(struct tn_text_loader *ld, const char *what, const char *expected)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD, "tokenizer: %s", what);
    tn_load_place(ld, f, (struct tn_json){0}, NULL);
    tn_expected(f, "%s", expected);
    return TN_ARTIFACT_MALFORMED;
}

/* ---- vocab.txt ------------------------------------------------------------------------------------------------ */

/* The line without white space at its end. */
static struct tn_str trim_end(struct tn_str line)
{
    while (line.n > 0) {
        size_t begin = line.n - 1;
        uint32_t c = 0;
        while (begin > 0 && ((unsigned char)line.s[begin] & 0xC0) == 0x80) begin--;
        tn_utf8_decode(line.s + begin, line.n - begin, &c);
        if (!(tn_uc_flags(c) & TN_UC_WHITE)) break;
        line.n = begin;
    }
    return line;
}

/* Takes a line off the front of *rest; false at the end. */
static bool next_line(struct tn_str *rest, struct tn_str *line)
{
    if (rest->n == 0) return false;
    const char *end = memchr(rest->s, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->s) : rest->n, used = end ? n + 1 : n;
    *line = trim_end((struct tn_str){rest->s, n});
    *rest = (struct tn_str){rest->s + used, rest->n - used};
    return true;
}

static enum tn_status load_lines(struct tn_text_loader *ld, struct tn_str text)
{
    struct tn_vocab *v = &ld->t->vocab;
    struct tn_str rest = text, line;
    size_t lines = 0;
    if (tn_utf8_valid_prefix(text.s, text.n) != text.n) return malformed(ld, "the vocabulary is not UTF-8", "UTF-8");
    while (next_line(&rest, &line)) lines++;
    if (lines > ld->ctx->limits.vocab_entries) {
        return tn_load_too_many(ld, (struct tn_json){0}, "vocabulary entries", ld->ctx->limits.vocab_entries);
    }
    enum tn_status status = tn_vocab_reserve(v, lines, text.n);
    rest = text;
    for (uint32_t id = 0, entry; !status && next_line(&rest, &line); id++) {
        if (line.n > ld->ctx->limits.name_bytes) return tn_load_too_long(ld, (struct tn_json){0}, line);
        status = tn_vocab_add(v, line, id, true, &entry);
    }
    if (status == TN_INSUFFICIENT_MEMORY) return tn_load_memory(ld);
    return status ? tn_load_too_many(ld, (struct tn_json){0}, "vocabulary entries", UINT32_MAX / 4) : TN_OK;
}

/* ---- special tokens ------------------------------------------------------------------------------------------- */

/* Special tokens are added tokens; one that the vocabulary lacks gets the next number. */
static enum tn_status add_special(struct tn_text_loader *ld, struct tn_str content, bool lstrip)
{
    struct tn_text_tokenizer *t = ld->t;
    struct tn_added_token token = {.content = content, .special = true, .lstrip = lstrip};
    if (!tn_vocab_id(&t->added.vocab, content, &token.id) && !tn_vocab_id(&t->vocab, content, &token.id)) {
        token.id = t->added.next_id;
    }
    return tn_added_append(ld, (struct tn_json){0}, &token);
}

static enum tn_status add_specials(struct tn_text_loader *ld, const struct tn_wordpiece_options *o)
{
    /* In the order in which transformers lists the roles. */
    const struct tn_str bert[] = {o->unk_token, o->sep_token, o->pad_token, o->cls_token};
    const struct tn_str mpnet[] = {o->cls_token, o->sep_token, o->unk_token, o->pad_token};
    enum tn_status status = TN_OK;
    ld->t->added.next_id = ld->t->vocab.count;
    for (size_t i = 0; i < 4 && !status; i++) status = add_special(ld, o->mpnet ? mpnet[i] : bert[i], false);
    if (!status) status = add_special(ld, o->mask_token, o->mpnet);
    return status ? status : tn_added_finish(ld, (struct tn_json){0});
}

/* ---- stages --------------------------------------------------------------------------------------------------- */

static struct tn_post_op sequence_op(uint32_t sequence, const struct tn_wordpiece_options *o)
{
    return (struct tn_post_op){.sequence = sequence, .type_id = o->mpnet ? 0 : sequence, .trim = o->mpnet, .first = true};
}

static void build_program(const struct tn_wordpiece_options *o, bool pair, bool special, uint32_t cls, uint32_t sep,
                          struct tn_post_program *out)
{
    struct tn_post_op *op = out->ops;
    uint32_t second = o->mpnet ? 0 : 1;
    if (special) *op++ = (struct tn_post_op){.is_token = true, .id = cls, .special = 1};
    *op++ = sequence_op(0, o);
    if (special) *op++ = (struct tn_post_op){.is_token = true, .id = sep, .special = 1};
    if (special && pair && o->mpnet) *op++ = (struct tn_post_op){.is_token = true, .id = sep, .special = 1};
    if (pair) *op++ = sequence_op(1, o);
    if (special && pair) *op++ = (struct tn_post_op){.is_token = true, .id = sep, .type_id = second, .special = 1};
    out->count = (size_t)(op - out->ops);
}

static enum tn_status add_stages(struct tn_text_loader *ld, const struct tn_wordpiece_options *o)
{
    struct tn_text_tokenizer *t = ld->t;
    uint32_t cls, sep;
    if (!tn_text_token_id(t, o->cls_token, &cls) || !tn_text_token_id(t, o->sep_token, &sep)) {
        return malformed(ld, "the tokenizer has no first or last special token", "cls_token and sep_token");
    }
    if (!tn_text_grow(t->alloc, &t->normalizers.at, &t->normalizers.cap, 1, sizeof(*t->normalizers.at))) {
        return tn_load_memory(ld);
    }
    t->normalizers.at[t->normalizers.count++] = (struct tn_normalizer){
        .kind = TN_NORM_BERT,
        .clean_text = true,
        .chinese = o->tokenize_chinese_chars,
        .lowercase = o->do_lower_case,
        .strip_accents = o->strip_accents_set ? o->strip_accents : o->do_lower_case,
    };
    if (!tn_text_grow(t->alloc, &t->pre_tokenizers.at, &t->pre_tokenizers.cap, 1, sizeof(*t->pre_tokenizers.at))) {
        return tn_load_memory(ld);
    }
    t->pre_tokenizers.at[t->pre_tokenizers.count++] = (struct tn_pre_tokenizer){.kind = TN_PRE_BERT};
    t->post.trims = o->mpnet;
    t->post.added[0] = 2;
    t->post.added[1] = o->mpnet ? 4 : 3;
    for (int i = 0; i < 4; i++) {
        struct tn_post_program *program = &t->post.programs[i >> 1][i & 1];
        program->ops = tn_arena_array(&t->arena, 6, sizeof(*program->ops));
        if (!program->ops) return tn_load_memory(ld);
        build_program(o, i >> 1, i & 1, cls, sep, program);
    }
    t->decoder = (struct tn_decoder){.present = true, .count = 1, .steps = tn_arena_alloc(&t->arena, sizeof(*t->decoder.steps))};
    if (!t->decoder.steps) return tn_load_memory(ld);
    *t->decoder.steps = (struct tn_decoder_step){.kind = TN_DEC_WORDPIECE, .cleanup = true, .text = t->model.prefix};
    return TN_OK;
}

static enum tn_status load(struct tn_text_loader *ld, const struct tn_wordpiece_options *o)
{
    struct tn_text_tokenizer *t = ld->t;
    t->kind = &tn_model_wordpiece;
    t->model = (struct tn_wordpiece){.max_chars = 100};
    t->model.unk = tn_arena_str(&t->arena, o->unk_token);
    t->model.prefix = tn_arena_str(&t->arena, TN_STR("##"));
    if (!t->model.unk.s || !t->model.prefix.s) return tn_load_memory(ld);
    enum tn_status status = load_lines(ld, o->vocab);
    if (!status) status = tn_wordpiece_finish(ld, (struct tn_json){0});
    if (!status) status = add_specials(ld, o);
    return status ? status : add_stages(ld, o);
}

enum tn_status tn_text_tokenizer_from_vocab(const struct tn_context *ctx, const struct tn_wordpiece_options *options,
                                            struct tn_text_tokenizer **out, struct tn_error *err)
{
    struct tn_text_loader ld = {.ctx = ctx, .err = err, .file = options->vocab_name};
    *out = NULL;
    enum tn_status status = tn_text_tokenizer_new(&ld);
    if (status) return status;
    status = load(&ld, options);
    if (status) {
        tn_text_tokenizer_free(ld.t);
        return status;
    }
    tn_text_tokenizer_seal(ld.t);
    *out = ld.t;
    return TN_OK;
}
