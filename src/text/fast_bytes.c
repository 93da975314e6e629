/*
 * The fast path of byte-level BPE: words by a hand-written splitter, straight from the text's bytes; the byte alphabet of
 * the vocabulary is never spelled out. Words are remembered by their bytes. Offsets are those of whole characters, found by
 * looking at the text.
 *
 * A text that NFC could change, and any tokenizer with other stages, goes the general way.
 */
#include "text/word_cache.h"

#include "base/utf8.h"

/* ---- when it may be taken ----------------------------------------------------------------------------------------- */

static bool pattern_step(const struct tn_pre_tokenizer *p)
{
    bool all_kept = (p->behavior == TN_ISOLATED && !p->invert) || (p->behavior == TN_REMOVED && p->invert);
    return p->kind == TN_PRE_SPLIT && p->pattern.regex && all_kept;
}

/* Words and pieces of the pre-tokenizer's steps. DeepSeek's expression does not match everything, so it must be kept. */
static void recognise(const struct tn_pre_tokenizers *steps, struct tn_fast_bytes *out)
{
    const struct tn_pre_tokenizer *p = steps->at;
    size_t n = steps->count;
    if (n == 0 || p[n - 1].kind != TN_PRE_BYTE_LEVEL || p[n - 1].add_prefix_space) return;
    if (p[n - 1].use_regex) {
        bool digits = n == 2 && p[0].kind == TN_PRE_DIGITS && p[0].behavior == TN_ISOLATED;
        if (n > 1 && !digits) return;
        out->pieces = digits ? TN_PIECES_DIGITS : TN_PIECES_WHOLE;
        out->words = TN_WORDS_GPT2;
    } else if (n == 2 && pattern_step(&p[0])) {
        out->words = tn_word_pattern_of(p[0].pattern.text);
        if (out->words == TN_WORDS_DEEPSEEK) out->words = TN_WORDS_NONE;
    } else if (n == 4 && pattern_step(&p[0]) && pattern_step(&p[1]) && pattern_step(&p[2]) && !p[0].invert &&
               !p[1].invert && !p[2].invert && tn_is_deepseek_numbers(p[0].pattern.text) &&
               tn_is_deepseek_cjk(p[1].pattern.text) && tn_word_pattern_of(p[2].pattern.text) == TN_WORDS_DEEPSEEK) {
        out->pieces = TN_PIECES_DEEPSEEK;
        out->words = TN_WORDS_DEEPSEEK;
    }
}

void tn_fast_bytes_prepare(struct tn_text_tokenizer *t)
{
    struct tn_fast_bytes *f = &t->fast_bytes;
    const struct tn_normalizers *norm = &t->normalizers;
    if (t->kind != &tn_model_bpe || !t->bpe.plain || t->bpe.suffix.n) return;
    if (norm->count > 1 || (norm->count == 1 && norm->at[0].kind != TN_NORM_NFC)) return;
    f->nfc = norm->count == 1;
    for (unsigned b = 0; b < 256; b++) {
        f->ids[b] = t->bpe.low[tn_byte_char((unsigned char)b)];
        if (f->ids[b] == TN_BPE_NO_RANK && b != 0xC0 && b != 0xC1 && b < 0xF5) return; /* a byte that text can have */
    }
    recognise(&t->pre_tokenizers, f);
}

static bool is_own_nfc(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        uint64_t eight;
        uint32_t c = 0;
        if (n - at >= 8 && (memcpy(&eight, s + at, 8), (eight & UINT64_C(0x8080808080808080)) == 0)) {
            at += 8;
            continue;
        }
        at += tn_utf8_decode(s + at, n - at, &c);
        if (tn_uc_flags(c) & TN_UC_NFC_ACTIVE) return false;
    }
    return true;
}

/* ---- words -------------------------------------------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9FB21C651E98DF25);
    return h ^ h >> 32;
}

/* Of at most TN_CACHE_BYTES bytes. */
static inline uint64_t hash_word(const char *s, size_t n)
{
    uint64_t h = n * UINT64_C(0x9E3779B97F4A7C15), v = 0;
    uint32_t a, b;
    if (n >= 8) {
        for (size_t i = 0; i + 8 < n; i += 8) {
            memcpy(&v, s + i, 8);
            h = mix(h, v);
        }
        memcpy(&v, s + n - 8, 8);
    } else if (n >= 4) {
        memcpy(&a, s, 4);
        memcpy(&b, s + n - 4, 4);
        v = (uint64_t)a << 32 | b;
    } else {
        v = (uint64_t)(unsigned char)s[0] << 16 | (uint64_t)(unsigned char)s[n / 2] << 8 | (unsigned char)s[n - 1];
    }
    return mix(h, v) * UINT64_C(0xD6E8FEB86659FD93);
}

enum { MOST_BLANKS = TN_BLANKS_OF_TOKEN - 1 };

/* One token of text[from, to), widened to whole characters. */
static inline void push(struct tn_token_list *list, uint32_t id, const char *text, size_t from, size_t to, size_t end)
{
    size_t k = list->count++;
    list->ids[k] = id;
    if (list->want_blanks) {
        size_t leading = from, trailing = to;
        while (leading < to && text[leading] == ' ') leading++;
        while (trailing > from && text[trailing - 1] == ' ') trailing--;
        list->blanks[k][0] = (uint16_t)(leading - from < MOST_BLANKS ? leading - from : MOST_BLANKS);
        list->blanks[k][1] = (uint16_t)(to - trailing < MOST_BLANKS ? to - trailing : MOST_BLANKS);
    }
    if (!list->want_offsets) return;
    while (((unsigned char)text[from] & 0xC0) == 0x80) from--;
    while (to < end && ((unsigned char)text[to] & 0xC0) == 0x80) to++;
    list->offsets[k][0] = (uint32_t)from;
    list->offsets[k][1] = (uint32_t)to;
}

/* The whole word as a token of the vocabulary, which has it in the byte alphabet. */
static bool whole_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, const char *word, size_t n,
                       uint32_t *id, bool *memory)
{
    struct tn_bpe_work *w = &s->bpe;
    size_t length = 0;
    *memory = n <= t->vocab.longest ? tn_text_grow(s->alloc, &w->text, &w->text_cap, 2 * n, 1) : true;
    if (!*memory || n > t->vocab.longest) return false;
    for (size_t i = 0; i < n; i++) length += tn_utf8_encode(tn_byte_char((unsigned char)word[i]), w->text + length);
    return tn_vocab_id(&t->vocab, (struct tn_str){w->text, length}, id);
}

/* Many symbols: the heap. */
static enum tn_status long_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                                const char *text, size_t from, size_t to, size_t end)
{
    struct tn_bpe_work *w = &s->bpe;
    size_t n = to - from;
    if (!tn_text_grow(s->alloc, &w->symbols, &w->cap, n, sizeof(*w->symbols))) return TN_INSUFFICIENT_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = t->fast_bytes.ids[(unsigned char)text[from + i]];
        w->symbols[i] = (struct tn_bpe_symbol){id, 1, i ? i - 1 : UINT32_MAX, i + 1 < n ? i + 1 : UINT32_MAX};
    }
    w->count = n;
    enum tn_status status = tn_bpe_merge_all(&t->bpe, s);
    for (size_t i = 0; i < n && !status; i += w->symbols[i].length) {
        if (list->count == list->cap && !tn_tokens_reserve(s->alloc, list, 1)) return TN_INSUFFICIENT_MEMORY;
        push(list, w->symbols[i].id, text, from + i, from + i + w->symbols[i].length, end);
    }
    return status;
}

/* A word that is not remembered; it is from now on when it is short and has few pieces. */
static enum tn_status new_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                               const char *text, size_t from, size_t to, size_t end, struct tn_cached_word *slot,
                               uint64_t hash)
{
    uint32_t ids[TN_BPE_SHORT], ends[TN_BPE_SHORT];
    size_t n = to - from, pieces = 1;
    bool memory = true;
    ends[0] = (uint32_t)n;
    if (!(t->bpe.ignore_merges && whole_word(t, s, text + from, n, &ids[0], &memory))) {
        if (!memory) return TN_INSUFFICIENT_MEMORY;
        if (n > TN_BPE_SHORT) return long_word(t, s, list, text, from, to, end);
        for (uint32_t i = 0; i < n; i++) {
            ids[i] = t->fast_bytes.ids[(unsigned char)text[from + i]];
            ends[i] = i + 1;
        }
        pieces = tn_bpe_merge_short(&t->bpe, ids, ends, n);
    }
    if (slot && pieces <= TN_CACHE_PIECES) {
        uint8_t short_ends[TN_CACHE_PIECES];
        for (size_t i = 0; i < pieces; i++) short_ends[i] = (uint8_t)ends[i];
        tn_cache_put(slot, hash, text + from, n, 0, ids, short_ends, pieces);
    }
    if (list->cap - list->count < pieces && !tn_tokens_reserve(s->alloc, list, pieces)) return TN_INSUFFICIENT_MEMORY;
    for (size_t i = 0, at = 0; i < pieces; at = ends[i++]) push(list, ids[i], text, from + at, from + ends[i], end);
    return TN_OK;
}

static inline enum tn_status one_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                      struct tn_token_list *list, const char *text, size_t from, size_t to, size_t end)
{
    size_t n = to - from;
    if (n > TN_CACHE_BYTES || !s->cache) return new_word(t, s, list, text, from, to, end, NULL, 0);
    uint64_t hash = hash_word(text + from, n);
    struct tn_cached_word *slot = tn_cache_place(s, hash);
    if (!tn_cache_holds(slot, hash, text + from, n, 0)) return new_word(t, s, list, text, from, to, end, slot, hash);
    if (list->cap - list->count < TN_CACHE_PIECES && !tn_tokens_reserve(s->alloc, list, TN_CACHE_PIECES)) {
        return TN_INSUFFICIENT_MEMORY;
    }
    if (!list->want_offsets) {
        for (size_t i = 0; i < slot->pieces; i++) list->ids[list->count++] = slot->ids[i];
        return TN_OK;
    }
    for (size_t i = 0, at = 0; i < slot->pieces; at = slot->ends[i++]) {
        push(list, slot->ids[i], text, from + at, from + slot->ends[i], end);
    }
    return TN_OK;
}

/* ---- the text ----------------------------------------------------------------------------------------------------- */

/* text[begin, end) without added tokens. */
static enum tn_status encode_words(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                   struct tn_token_list *list, const char *text, size_t begin, size_t end)
{
    const struct tn_fast_bytes *f = &t->fast_bytes;
    enum tn_status status = TN_OK;
    for (size_t at = begin; at < end && !status;) {
        size_t piece = tn_next_piece(f->pieces, text, at, end);
        while (at < piece && !status) {
            size_t to = tn_next_word(f->words, text, at, piece);
            status = one_word(t, s, list, text, at, to, end);
            at = to;
        }
    }
    return status;
}

/* Cuts out the normalized added tokens; the text is its own normal form. */
static enum tn_status encode_between_added(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                           struct tn_token_list *list, const char *text, size_t begin, size_t end)
{
    size_t taken = 0, from = 0, n = end - begin;
    struct tn_match match;
    enum tn_status status = TN_OK;
    while (!status && tn_trie_next(&t->added.normalized, text + begin, n, from, &match)) {
        from = match.end;
        if (!tn_added_accept(t, text + begin, n, taken, &match)) continue;
        status = encode_words(t, s, list, text, begin + taken, begin + match.begin);
        taken = match.end;
        if (status || match.begin >= match.end) continue;
        status = tn_push_added(t, s, list, match.token, (uint32_t)(begin + match.begin), (uint32_t)(begin + match.end));
        if (status || !list->want_blanks) continue;
        struct tn_str value = {text + begin + match.begin, match.end - match.begin};
        tn_count_blanks(value, list->blanks[list->count - 1]);
    }
    return status ? status : encode_words(t, s, list, text, begin + taken, end);
}

enum tn_status tn_fast_bytes_encode(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                    struct tn_token_list *list, const char *text, size_t begin, size_t end,
                                    bool *handled)
{
    *handled = !t->fast_bytes.nfc || is_own_nfc(text + begin, end - begin);
    return *handled ? encode_between_added(t, s, list, text, begin, end) : TN_OK;
}
