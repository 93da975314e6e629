/* Decoders: ids back to text. WordPiece and none; the rest is refused by name. */
#include "text/internal.h"

#include <string.h>

enum tn_status tn_decoder_load(struct tn_text_loader *ld, struct tn_json stage)
{
    struct tn_decoder *out = &ld->t->decoder;
    struct tn_str type, prefix;
    if (!stage.doc || tn_json_is(stage, TN_JSON_NULL)) return TN_OK;
    enum tn_status status = tn_load_type(ld, stage, "decoder", &type);
    if (status) return status;
    if (!tn_str_is(type, "WordPiece")) return tn_load_unknown(ld, stage, "decoder", type, "WordPiece");
    status = tn_load_members(ld, stage, "decoder WordPiece", "type prefix cleanup");
    if (!status) status = tn_load_str(ld, stage, "prefix", &prefix);
    if (!status) status = tn_load_bool(ld, stage, "cleanup", NULL, &out->cleanup);
    if (status) return status;
    out->present = true;
    out->prefix = tn_arena_str(&ld->t->arena, prefix);
    return out->prefix.s ? TN_OK : tn_load_memory(ld);
}

/* Replaces every `from` in b[start, len) by the shorter or equal `to`. */
static void shorten(struct tn_buf *b, size_t start, const char *from, const char *to)
{
    size_t n = strlen(from), m = strlen(to), out = start;
    for (size_t i = start; i < b->len;) {
        if (b->len - i >= n && memcmp(b->data + i, from, n) == 0) {
            memcpy(b->data + out, to, m);
            out += m;
            i += n;
        } else {
            b->data[out++] = b->data[i++];
        }
    }
    b->len = out;
    b->data[out] = 0;
}

/* The clean-up of the WordPiece decoder, applied to each token with its leading blank, in this order. */
static void clean_up(struct tn_buf *b, size_t start)
{
    static const char *const rules[][2] = {
        {" .", "."},     {" ?", "?"},     {" !", "!"},           {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
        {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},   {" 've", "'ve"}, {" 're", "'re"},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) shorten(b, start, rules[i][0], rules[i][1]);
}

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

enum tn_status tn_text_decode(const struct tn_text_tokenizer *t, const uint32_t *ids, size_t count, bool skip_special,
                              struct tn_buf *out)
{
    const struct tn_decoder *d = &t->decoder;
    bool first = true, special;
    for (size_t i = 0; i < count && !tn_buf_status(out); i++) {
        struct tn_str token = decoded_token(t, ids[i], &special);
        if (!token.s || (special && skip_special)) continue;
        size_t start = out->len;
        bool continues = d->present && !first && token.n >= d->prefix.n &&
                         memcmp(token.s, d->prefix.s, d->prefix.n) == 0;
        if (continues) {
            token.s += d->prefix.n;
            token.n -= d->prefix.n;
        } else if (!first) {
            tn_buf_putc(out, ' ');
        }
        tn_buf_append(out, token.s, token.n);
        if (d->present && d->cleanup && !tn_buf_status(out) && out->len > start) clean_up(out, start);
        first = false;
    }
    return tn_buf_status(out);
}
