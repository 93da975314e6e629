/*
 * Decoders: tokens back to text. A decoder is a list of steps over the list of token texts, as in the library; the last
 * list is joined. Texts lie one after the other in a buffer, so a step is one pass from buffer to buffer.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

/* ---- loading -------------------------------------------------------------------------------------------------- */

static const char known_types[] = "ByteLevel WordPiece Metaspace BPEDecoder ByteFallback Fuse Strip Replace CTC Sequence";
enum { MAX_STEPS = 64 };

static enum tn_status load_text(struct tn_text_loader *ld, struct tn_json stage, const char *member, struct tn_str *out)
{
    struct tn_str s;
    enum tn_status status = tn_load_str(ld, stage, member, &s);
    if (status) return status;
    *out = tn_arena_str(&ld->t->arena, s);
    return out->s ? TN_OK : tn_load_memory(ld);
}

static enum tn_status load_wordpiece(struct tn_text_loader *ld, struct tn_json stage, struct tn_decoder_step *out)
{
    enum tn_status status = tn_load_members(ld, stage, "decoder WordPiece", "type prefix cleanup");
    if (!status) status = load_text(ld, stage, "prefix", &out->text);
    return status ? status : tn_load_bool(ld, stage, "cleanup", NULL, &out->cleanup);
}

static enum tn_status load_byte_level(struct tn_text_loader *ld, struct tn_json stage, struct tn_decoder_step *out)
{
    struct tn_pre_tokenizer unused = {.kind = TN_PRE_BYTE_LEVEL};
    (void)out;
    return tn_pre_byte_level_load(ld, stage, &unused);
}

static enum tn_status load_metaspace(struct tn_text_loader *ld, struct tn_json stage, struct tn_decoder_step *out)
{
    struct tn_pre_tokenizer read = {.kind = TN_PRE_METASPACE};
    enum tn_status status = tn_pre_metaspace_load(ld, stage, &read);
    out->c = read.replacement;
    out->drop_first = read.prepend != TN_PREPEND_NEVER;
    return status;
}

static enum tn_status load_bpe(struct tn_text_loader *ld, struct tn_json stage, struct tn_decoder_step *out)
{
    enum tn_status status = tn_load_members(ld, stage, "decoder BPEDecoder", "type suffix");
    if (!status) status = load_text(ld, stage, "suffix", &out->text);
    if (!status && out->text.n == 0) status = tn_load_malformed(ld, stage, "suffix", "a text that is not empty");
    return status;
}

static enum tn_status load_strip(struct tn_text_loader *ld, struct tn_json stage, struct tn_decoder_step *out)
{
    struct tn_str s;
    enum tn_status status = tn_load_members(ld, stage, "decoder Strip", "type content start stop");
    if (!status) status = tn_load_str(ld, stage, "content", &s);
    if (!status) status = tn_load_size(ld, stage, "start", &out->start);
    if (!status) status = tn_load_size(ld, stage, "stop", &out->stop);
    if (status) return status;
    if (s.n && tn_utf8_decode(s.s, s.n, &out->c) == s.n) return TN_OK;
    return tn_load_malformed(ld, stage, "content", "exactly one character");
}

static enum tn_status load_replace(struct tn_text_loader *ld, struct tn_json stage, struct tn_decoder_step *out)
{
    enum tn_status status = tn_load_members(ld, stage, "decoder Replace", "type pattern content");
    if (!status) status = tn_pattern_load(ld, stage, &out->pattern);
    if (!status) status = tn_pattern_not_empty(ld, stage, &out->pattern);
    return status ? status : load_text(ld, stage, "content", &out->text);
}

static enum tn_status load_ctc(struct tn_text_loader *ld, struct tn_json stage, struct tn_decoder_step *out)
{
    enum tn_status status = tn_load_members(ld, stage, "decoder CTC", "type pad_token word_delimiter_token cleanup");
    if (!status) status = load_text(ld, stage, "pad_token", &out->text);
    if (!status) status = load_text(ld, stage, "word_delimiter_token", &out->delimiter);
    if (!status) status = tn_load_bool(ld, stage, "cleanup", NULL, &out->cleanup);
    if (!status && out->text.n == 0) status = tn_load_malformed(ld, stage, "pad_token", "a text that is not empty");
    if (!status && out->delimiter.n == 0) {
        status = tn_load_malformed(ld, stage, "word_delimiter_token", "a text that is not empty");
    }
    return status;
}

static const struct {
    const char *name;
    enum tn_decoder_kind kind;
    enum tn_status (*load)(struct tn_text_loader *, struct tn_json, struct tn_decoder_step *); /* NULL: only "type" */
} types[] = {
    {"ByteLevel", TN_DEC_BYTE_LEVEL, load_byte_level},
    {"WordPiece", TN_DEC_WORDPIECE, load_wordpiece},
    {"Metaspace", TN_DEC_METASPACE, load_metaspace},
    {"BPEDecoder", TN_DEC_BPE, load_bpe},
    {"ByteFallback", TN_DEC_BYTE_FALLBACK, NULL},
    {"Fuse", TN_DEC_FUSE, NULL},
    {"Strip", TN_DEC_STRIP, load_strip},
    {"Replace", TN_DEC_REPLACE, load_replace},
    {"CTC", TN_DEC_CTC, load_ctc},
};

static enum tn_status load_step(struct tn_text_loader *ld, struct tn_json stage, unsigned depth);

static enum tn_status load_sequence(struct tn_text_loader *ld, struct tn_json stage, unsigned depth)
{
    struct tn_json steps = tn_json_get(stage, "decoders");
    enum tn_status status = tn_load_members(ld, stage, "decoder Sequence", "type decoders");
    if (status) return status;
    if (!tn_json_is(steps, TN_JSON_ARRAY)) return tn_load_malformed(ld, stage, "decoders", "an array of decoders");
    for (struct tn_json v = tn_json_first(steps); v.doc && !status; v = tn_json_next(v)) {
        status = load_step(ld, v, depth + 1);
    }
    return status;
}

static enum tn_status load_step(struct tn_text_loader *ld, struct tn_json stage, unsigned depth)
{
    struct tn_decoder *d = &ld->t->decoder;
    struct tn_str type;
    enum tn_status status = tn_load_type(ld, stage, "decoder", &type);
    if (status) return status;
    if (depth >= ld->ctx->limits.json_depth || d->count >= MAX_STEPS) {
        return tn_load_too_many(ld, stage, "decoders", MAX_STEPS);
    }
    if (tn_str_is(type, "Sequence")) return load_sequence(ld, stage, depth);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!tn_str_is(type, types[i].name)) continue;
        struct tn_decoder_step *step = &d->steps[d->count];
        *step = (struct tn_decoder_step){.kind = types[i].kind};
        status = types[i].load ? types[i].load(ld, stage, step) : tn_load_members(ld, stage, "decoder", "type");
        d->count += !status;
        return status;
    }
    return tn_load_unknown(ld, stage, "decoder", type, known_types);
}

enum tn_status tn_decoder_load(struct tn_text_loader *ld, struct tn_json stage)
{
    struct tn_decoder *d = &ld->t->decoder;
    if (!stage.doc || tn_json_is(stage, TN_JSON_NULL)) return TN_OK;
    d->present = true;
    d->steps = tn_arena_array(&ld->t->arena, MAX_STEPS, sizeof(*d->steps));
    return d->steps ? load_step(ld, stage, 0) : tn_load_memory(ld);
}

/* ---- ids to texts --------------------------------------------------------------------------------------------- */

/* What decoding prints for an id, and whether that text is one of the special tokens. */
static struct tn_str decoded_token(const struct tn_text_tokenizer *t, uint32_t id, bool *special)
{
    const struct tn_vocab *v = &t->added.vocab;
    uint32_t entry = tn_vocab_entry_of(v, id);
    struct tn_str token = entry == TN_NO_ENTRY ? tn_text_token(t, id) : t->added.at[entry].normalized_content;
    *special = false;
    if (!token.s || v->count == 0) return token;
    entry = tn_vocab_find(v, tn_vocab_hash(v->seed, token.s, token.n), token.s, token.n);
    *special = entry != TN_NO_ENTRY && t->added.at[entry].was_special;
    return token;
}

static enum tn_status run_steps(const struct tn_text_tokenizer *t, struct tn_decoded *d, struct tn_buf *out)
{
    enum tn_status status = TN_OK;
    for (size_t i = 0; i < t->decoder.count && !status; i++) status = tn_decoder_run(&t->decoder.steps[i], d);
    if (!status) tn_buf_append(out, d->text.data ? d->text.data : "", d->text.len);
    return status ? status : tn_buf_status(out);
}

static enum tn_status join_tokens(const struct tn_text_tokenizer *t, const uint32_t *ids, size_t count, bool skip_special,
                                  struct tn_buf *out)
{
    bool first = true, special;
    for (size_t i = 0; i < count && !tn_buf_status(out); i++) {
        struct tn_str token = decoded_token(t, ids[i], &special);
        if (!token.s || (special && skip_special)) continue;
        if (!first) tn_buf_putc(out, ' ');
        tn_buf_append(out, token.s, token.n);
        first = false;
    }
    return tn_buf_status(out);
}

enum tn_status tn_text_decode(const struct tn_text_tokenizer *t, const uint32_t *ids, size_t count, bool skip_special,
                              struct tn_buf *out)
{
    struct tn_decoded d;
    bool special;
    if (!t->decoder.present) return join_tokens(t, ids, count, skip_special, out);
    tn_decoded_init(&d, out->alloc, out->max);
    for (size_t i = 0; i < count && !tn_decoded_status(&d); i++) {
        struct tn_str token = decoded_token(t, ids[i], &special);
        if (token.s && !(special && skip_special)) tn_decoded_add(&d, token);
    }
    enum tn_status status = tn_decoded_status(&d);
    if (!status) status = run_steps(t, &d, out);
    tn_decoded_release(&d);
    if (status && !tn_buf_status(out)) out->failed = status;
    return status;
}
