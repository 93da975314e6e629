/*
 * The fast path: BertNormalizer, BertPreTokenizer and WordPiece in one pass over bytes. ASCII is classified, lower-cased and
 * hashed byte by byte; other characters are worked out once by the tables and remembered in the scratch. Alignment
 * costs nothing while a word is plain ASCII, since its bytes are then those of the original.
 *
 * A character whose treatment depends on its neighbours makes the whole text go the general way: a spacing mark that
 * canonical ordering may move (a few dozen in Unicode), and one whose image could begin a normalized added token.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

enum kind {
    KIND_WORD,     /* belongs to a word as its image */
    KIND_SPACE,    /* ends a word */
    KIND_ISOLATED, /* a word of its own */
    KIND_DROP,     /* vanishes; the word goes on */
    KIND_HIGH,     /* not ASCII: look it up */
    KIND_SLOW      /* not for this path */
};

static enum kind ascii_kind(const struct tn_normalizer *n, uint32_t c)
{
    unsigned flags = tn_uc_flags(c);
    if (n->clean_text && flags & TN_UC_CLEAN_DROP) return KIND_DROP;
    if (n->clean_text && flags & TN_UC_CLEAN_SPACE) return KIND_SPACE;
    return flags & TN_UC_WHITE ? KIND_SPACE : flags & TN_UC_PUNCT ? KIND_ISOLATED : KIND_WORD;
}

void tn_fast_bert_prepare(struct tn_text_tokenizer *t)
{
    struct tn_fast_bert *f = &t->fast;
    uint32_t image[TN_UC_MAX_IMAGE];
    f->usable = t->kind == &tn_model_wordpiece && t->normalizers.count == 1 && t->normalizers.at[0].kind == TN_NORM_BERT &&
                t->pre_tokenizers.count == 1 && t->pre_tokenizers.at[0].kind == TN_PRE_BERT &&
                !t->added.normalized.first[' '];
    if (!f->usable) return;
    f->normalizer = t->normalizers.at[0];
    memset(f->kind, KIND_HIGH, sizeof(f->kind));
    for (uint32_t c = 0; c < 128; c++) {
        f->kind[c] = (uint8_t)ascii_kind(&f->normalizer, c);
        tn_uc_lower(c, image);
        f->image[c] = (uint8_t)(f->normalizer.lowercase ? image[0] : c);
        bool blank = f->normalizer.clean_text && f->kind[c] == KIND_SPACE;
        if (f->kind[c] != KIND_DROP && t->added.normalized.first[blank ? ' ' : f->image[c]]) f->kind[c] = KIND_SLOW;
    }
}

/* ---- characters that are not ASCII ---------------------------------------------------------------------------- */

/* Adds one character of an image; false when it does not fit or the character may move. */
static bool add_image(const struct tn_normalizer *n, struct tn_cached_char *out, uint32_t c, unsigned *flags)
{
    uint32_t lower[TN_UC_MAX_IMAGE] = {c};
    size_t count = n->lowercase ? tn_uc_lower(c, lower) : 1;
    for (size_t i = 0; i < count; i++) {
        if (out->bytes + 4u > sizeof(out->image)) return false;
        out->bytes = (uint8_t)(out->bytes + tn_utf8_encode(lower[i], out->image + out->bytes));
        *flags |= tn_uc_flags(lower[i]);
        out->chars++;
    }
    return true;
}

static bool begins_token(const struct tn_trie *trie, const struct tn_cached_char *seen)
{
    bool begins = false;
    for (size_t i = 0; i < seen->bytes; i++) begins |= trie->first[(unsigned char)seen->image[i]];
    return begins;
}

static enum kind classify(const struct tn_text_tokenizer *t, struct tn_cached_char *out, uint32_t c)
{
    const struct tn_normalizer *n = &t->fast.normalizer;
    unsigned before = tn_uc_flags(c), after = 0;
    uint32_t parts[TN_UC_MAX_IMAGE] = {c};
    if (n->clean_text && before & TN_UC_CLEAN_DROP) return KIND_DROP;
    if (n->clean_text && before & TN_UC_CLEAN_SPACE) return KIND_SPACE;
    size_t count = n->strip_accents ? tn_uc_decompose(c, false, parts) : 1;
    for (size_t i = 0; i < count; i++) {
        if (n->strip_accents && tn_uc_flags(parts[i]) & TN_UC_MARK_NONSPACING) continue;
        if (n->strip_accents && tn_uc_ccc(parts[i])) return KIND_SLOW;
        if (!add_image(n, out, parts[i], &after)) return KIND_SLOW;
    }
    if (begins_token(&t->added.normalized, out)) return KIND_SLOW;
    if (out->chars == 0) return n->chinese && before & TN_UC_CHINESE ? KIND_SPACE : KIND_DROP;
    if (!(after & (TN_UC_WHITE | TN_UC_PUNCT))) {
        return n->chinese && before & TN_UC_CHINESE ? KIND_ISOLATED : KIND_WORD;
    }
    if (out->chars > 1) return KIND_SLOW;
    return after & TN_UC_WHITE ? KIND_SPACE : KIND_ISOLATED;
}

static const struct tn_cached_char *look_up(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, uint32_t c)
{
    struct tn_cached_char *slot = &s->chars_seen[c * UINT32_C(0x9E3779B1) >> (32 - TN_CHAR_CACHE_BITS)];
    if (slot->c == c) return slot;
    *slot = (struct tn_cached_char){.c = c};
    slot->kind = (uint8_t)classify(t, slot, c);
    return slot;
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

struct word {
    size_t bytes, chars; /* chars beyond `bytes` of ASCII are counted as they come */
    uint64_t hash;
    uint32_t begin;      /* of the first byte in the text */
    uint32_t last;       /* just past the last ASCII byte taken */
    bool table;          /* offsets are in s->word_offsets; else byte i is begin + i */
};

static inline bool word_room(struct tn_text_scratch *s, const struct word *w, size_t more)
{
    return s->word_cap - w->bytes >= more || tn_text_grow(s->alloc, &s->word, &s->word_cap, w->bytes + more, 1);
}

/* From here on this word's offsets are kept one by one. */
static bool use_table(struct tn_text_scratch *s, struct word *w)
{
    if (!tn_text_grow(s->alloc, &s->word_offsets, &s->word_offsets_cap, s->word_cap, sizeof(*s->word_offsets))) {
        return false;
    }
    for (uint32_t i = 0; !w->table && i < w->bytes; i++) {
        s->word_offsets[i][0] = w->begin + i;
        s->word_offsets[i][1] = w->begin + i + 1;
    }
    w->table = true;
    return true;
}

static enum tn_status end_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                               struct tn_token_list *list, struct word *w)
{
    if (w->bytes == 0) return TN_OK;
    enum tn_status status = tn_wordpiece_word(t, s, list, w->bytes, w->chars, w->hash, w->table, w->begin);
    *w = (struct word){.hash = t->vocab.seed};
    return status;
}

/* Appends the image of text[at, to). */
static bool add_to_word(struct tn_text_scratch *s, const struct tn_token_list *list, struct word *w, const char *image,
                        size_t n, size_t chars, uint32_t at, uint32_t to)
{
    if (!word_room(s, w, n)) return false;
    if (list->want_offsets && !use_table(s, w)) return false;
    for (size_t i = 0; i < n; i++) {
        s->word[w->bytes] = image[i];
        w->hash = tn_vocab_hash_step(w->hash, (unsigned char)image[i]);
        if (list->want_offsets) {
            s->word_offsets[w->bytes][0] = at;
            s->word_offsets[w->bytes][1] = to;
        }
        w->bytes++;
    }
    w->chars += chars;
    return true;
}

/* Takes word bytes of ASCII from text[at, end) and returns where they stop; at the buffer's end it stops early. */
static size_t take_ascii(const struct tn_fast_bert *f, struct tn_text_scratch *s, struct word *w, const char *text,
                         size_t at, size_t end)
{
    size_t room = s->word_cap - w->bytes, stop = room < end - at ? at + room : end, from = at;
    char *out = s->word + w->bytes;
    uint64_t h = w->hash;
    while (at < stop && f->kind[(unsigned char)text[at]] == KIND_WORD) {
        unsigned char c = f->image[(unsigned char)text[at++]];
        *out++ = (char)c;
        h = tn_vocab_hash_step(h, c);
    }
    w->hash = h;
    w->bytes += at - from;
    w->chars += at - from;
    return at;
}

/* A run of word bytes; keeps the offsets when this word has them one by one, or must from here on. */
static bool ascii_run(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, const struct tn_token_list *list,
                      struct word *w, const char *text, size_t *at, size_t end)
{
    size_t first = w->bytes, from = *at;
    if (first == 0) w->begin = (uint32_t)from;
    if (!word_room(s, w, 64)) return false;
    *at = take_ascii(&t->fast, s, w, text, from, end);
    bool gap = first && w->last != from;
    w->last = (uint32_t)*at;
    if (!list->want_offsets || !(w->table || gap)) return true;
    size_t taken = w->bytes;
    w->bytes = first; /* what was before the gap is as it was */
    if (!use_table(s, w)) return false;
    w->bytes = taken;
    for (size_t i = first; i < taken; i++) {
        s->word_offsets[i][0] = (uint32_t)(from + i - first);
        s->word_offsets[i][1] = (uint32_t)(from + i - first + 1);
    }
    return true;
}

static enum tn_status isolated(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                               struct tn_token_list *list, struct word *w, const char *image, size_t n, size_t chars,
                               size_t at, size_t to)
{
    enum tn_status status = end_word(t, s, list, w);
    if (status) return status;
    w->begin = (uint32_t)at;
    if (!add_to_word(s, list, w, image, n, chars, (uint32_t)at, (uint32_t)to)) return TN_INSUFFICIENT_MEMORY;
    return end_word(t, s, list, w);
}

/* One character that is not ASCII; KIND_SLOW stops the fast path. */
static enum tn_status high_char(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                struct tn_token_list *list, struct word *w, const char *text, size_t *at, size_t end,
                                enum kind *kind)
{
    uint32_t c = 0;
    size_t from = *at, to = from + tn_utf8_decode(text + from, end - from, &c);
    const struct tn_cached_char *seen = look_up(t, s, c);
    *kind = (enum kind)seen->kind;
    *at = to;
    if (seen->kind == KIND_SPACE) return end_word(t, s, list, w);
    if (seen->kind == KIND_ISOLATED) return isolated(t, s, list, w, seen->image, seen->bytes, seen->chars, from, to);
    if (seen->kind != KIND_WORD) return TN_OK;
    if (w->bytes == 0) w->begin = (uint32_t)from;
    bool added = add_to_word(s, list, w, seen->image, seen->bytes, seen->chars, (uint32_t)from, (uint32_t)to);
    return added ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static enum tn_status scan(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                           const char *text, size_t at, size_t end, enum kind *last)
{
    const struct tn_fast_bert *f = &t->fast;
    struct word w = {.hash = t->vocab.seed};
    enum tn_status status = TN_OK;
    while (at < end && !status) {
        enum kind kind = (enum kind)f->kind[(unsigned char)text[at]];
        switch (kind) {
        case KIND_WORD:
            if (!ascii_run(t, s, list, &w, text, &at, end)) status = TN_INSUFFICIENT_MEMORY;
            break;
        case KIND_SPACE:
            status = end_word(t, s, list, &w);
            at++;
            break;
        case KIND_ISOLATED:
            status = isolated(t, s, list, &w, text + at, 1, 1, at, at + 1);
            at++;
            break;
        case KIND_DROP: at++; break;
        case KIND_SLOW: *last = KIND_SLOW; return TN_OK;
        default:
            status = high_char(t, s, list, &w, text, &at, end, last);
            if (*last == KIND_SLOW) return status;
        }
    }
    return status ? status : end_word(t, s, list, &w);
}

enum tn_status tn_fast_bert_encode(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                   struct tn_token_list *list, const char *text, size_t begin, size_t end,
                                   bool *handled)
{
    size_t count = list->count;
    enum kind last = KIND_WORD;
    enum tn_status status = scan(t, s, list, text, begin, end, &last);
    *handled = last != KIND_SLOW;
    if (*handled) return status;
    list->count = count;
    return status;
}
