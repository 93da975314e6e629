/*
 * Unigram: the division of a word into pieces whose scores have the largest sum (Viterbi; Kudo 2018). The first of equal
 * sums stays, positions from the left, pieces from the shortest: that order and sums in double, from the left, are part of
 * the library's answer. So is how it reads a score: see score_of.
 *
 * A character without a piece of its own may be unknown, at ten below the lowest score; unknown neighbours are one token,
 * which becomes bytes <0xHH> with byte_fallback when all of them are tokens.
 */
#include "text/word_cache.h"

#include "base/utf8.h"

#include <stdio.h>

static const double unknown_penalty = 10.0;

/* ---- loading ------------------------------------------------------------------------------------------------------ */

static double power_of_ten(unsigned exponent)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char text[16];
    double power = 0;
    if (exponent < sizeof(exact) / sizeof(exact[0])) return exact[exponent];
    int n = snprintf(text, sizeof(text), "1e%u", exponent);
    tn_parse_f64((struct tn_str){text, (size_t)n}, &power);
    return power;
}

/* A JSON number taken apart: as many digits as fit 64 bits, and what they are multiplied with. */
struct decimal {
    bool negative, full;
    uint64_t digits;
    int64_t exponent;
};

static void take_digit(struct decimal *d, unsigned digit, bool fraction)
{
    if (d->full || d->digits > (UINT64_MAX - digit) / 10) {
        d->full = true;
        d->exponent += !fraction;
        return;
    }
    d->digits = d->digits * 10 + digit;
    d->exponent -= fraction;
}

static struct decimal take_apart(struct tn_str s)
{
    struct decimal d = {.negative = s.n && s.s[0] == '-'};
    bool fraction = false;
    size_t i = d.negative;
    for (; i < s.n && s.s[i] != 'e' && s.s[i] != 'E'; i++) {
        if (s.s[i] == '.') {
            fraction = true;
        } else {
            take_digit(&d, (unsigned)(s.s[i] - '0'), fraction);
        }
    }
    if (i >= s.n) return d;
    bool down = s.s[++i] == '-';
    int64_t exponent = 0;
    for (i += s.s[i] == '-' || s.s[i] == '+'; i < s.n && exponent < 100000; i++) exponent = exponent * 10 + (s.s[i] - '0');
    d.exponent += down ? -exponent : exponent;
    return d;
}

/*
 * The library's reader does not round to the nearest double: it makes a double of the digits and multiplies or divides it
 * once by a power of ten. Scores are compared for equality in effect, so the last bit counts. False: out of range.
 */
static bool score_of(struct tn_json v, double *out)
{
    struct decimal d = take_apart(tn_json_text(v));
    double f = (double)d.digits;
    while (f != 0 && d.exponent < -308) {
        f /= 1e308;
        d.exponent += 308;
    }
    if (f != 0 && d.exponent > 308) return false;
    if (f != 0) f = d.exponent >= 0 ? f * power_of_ten((unsigned)d.exponent) : f / power_of_ten((unsigned)-d.exponent);
    *out = d.negative ? -f : f;
    return f <= 1.7976931348623157e308;
}

static enum tn_status bad_piece(struct tn_text_loader *ld, struct tn_json v, const char *what)
{
    struct tn_str text = tn_json_text(v);
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD, "tokenizer: %s", what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", (int)(text.n < 80 ? text.n : 80), text.s);
    tn_expected(f, "[text, score]");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status load_piece(struct tn_text_loader *ld, struct tn_json v, uint32_t id)
{
    struct tn_unigram *m = &ld->t->unigram;
    struct tn_str text;
    struct tn_json score = tn_json_at(v, 1);
    uint32_t entry;
    if (!tn_json_is(v, TN_JSON_ARRAY) || tn_json_count(v) != 2 || !tn_json_str(tn_json_at(v, 0), &text) ||
        !tn_json_is(score, TN_JSON_NUMBER) || !score_of(score, &m->scores[id])) {
        return bad_piece(ld, v, "a piece of the vocabulary is not a text and a score");
    }
    if (text.n > ld->ctx->limits.name_bytes) return tn_load_too_long(ld, v, text);
    /* Of a text that stands there twice the last number is its token; the other one still decodes to it. */
    enum tn_status status = tn_vocab_add(&ld->t->vocab, text, id, true, &entry);
    if (status) return tn_model_vocab_failed(ld, v, status);
    m->entries[id] = entry;
    if (id == 0 || m->scores[id] < m->lowest) m->lowest = m->scores[id];
    return TN_OK;
}

static enum tn_status load_pieces(struct tn_text_loader *ld, struct tn_json vocab)
{
    size_t n = tn_json_count(vocab), bytes = 0;
    uint32_t id = 0;
    struct tn_str text;
    if (n > ld->ctx->limits.vocab_entries) return tn_model_vocab_limit(ld, vocab);
    for (struct tn_json v = tn_json_first(vocab); v.doc; v = tn_json_next(v)) {
        if (tn_json_str(tn_json_first(v), &text)) bytes += text.n;
    }
    enum tn_status status = tn_vocab_reserve(&ld->t->vocab, n, bytes);
    if (status) return tn_model_vocab_failed(ld, vocab, status);
    ld->t->unigram.scores = tn_calloc(ld->t->alloc, n ? n : 1, sizeof(double));
    ld->t->unigram.entries = tn_calloc(ld->t->alloc, n ? n : 1, sizeof(uint32_t));
    if (!ld->t->unigram.scores || !ld->t->unigram.entries) return tn_load_memory(ld);
    ld->t->unigram.count = (uint32_t)n;
    for (struct tn_json v = tn_json_first(vocab); v.doc && !status; v = tn_json_next(v)) status = load_piece(ld, v, id++);
    return status;
}

static enum tn_status load_unknown(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_unigram *m = &ld->t->unigram;
    struct tn_json v = tn_json_get(model, "unk_id");
    if (!v.doc || tn_json_is(v, TN_JSON_NULL)) return TN_OK;
    m->has_unk = true;
    enum tn_status status = tn_load_u32(ld, model, "unk_id", &m->unk_id);
    if (!status && m->unk_id >= m->count) {
        status = tn_load_malformed(ld, model, "unk_id", "the number of a piece of the vocabulary");
    }
    return status;
}

/* Numbers whose text has a later one. */
static bool name_all_numbers(struct tn_text_tokenizer *t)
{
    struct tn_vocab *v = &t->vocab;
    for (uint32_t id = 0; id < t->unigram.count; id++) {
        if (v->ids[t->unigram.entries[id]] == id) continue;
        if (!v->dense) return false;
        v->by_id[id] = t->unigram.entries[id];
    }
    return true;
}

static enum tn_status load_unigram(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_unigram *m = &ld->t->unigram;
    const bool no = false;
    struct tn_json vocab = tn_json_get(model, "vocab");
    char text[8];
    enum tn_status status = tn_load_members(ld, model, "model Unigram", "type unk_id vocab byte_fallback");
    if (!status) status = tn_load_bool(ld, model, "byte_fallback", &no, &m->byte_fallback);
    if (!status && !tn_json_is(vocab, TN_JSON_ARRAY)) {
        status = tn_load_malformed(ld, model, "vocab", "an array of [text, score]");
    }
    if (!status) status = load_pieces(ld, vocab);
    if (!status) status = load_unknown(ld, model);
    if (!status) status = tn_model_vocab_seal(ld, vocab);
    if (status) return status;
    if (!name_all_numbers(ld->t)) return bad_piece(ld, vocab, "most pieces of the vocabulary are one text");
    status = tn_piece_trie_build(&m->trie, ld->t->alloc, &ld->t->vocab);
    if (status) return tn_model_vocab_failed(ld, vocab, status);
    ld->t->cache_bits = TN_CACHE_BITS_BPE;
    for (unsigned b = 0; b < 256; b++) {
        snprintf(text, sizeof(text), "<0x%02X>", b);
        m->has_byte[b] = tn_vocab_id(&ld->t->vocab, (struct tn_str){text, 6}, &m->bytes[b]);
    }
    return TN_OK;
}

/* ---- the best path ------------------------------------------------------------------------------------------------ */

static inline void offer(struct tn_best_path *at, double score, uint32_t start, uint32_t id)
{
    if (at->start != UINT32_MAX && !(score > at->score)) return;
    at->score = score;
    at->start = start;
    at->id = id;
}

/* Fills s->path[0, n]. */
static enum tn_status find_path(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, size_t n)
{
    const struct tn_unigram *m = &t->unigram;
    const struct tn_vocab *v = &t->vocab;
    if (!tn_text_grow(s->alloc, &s->path, &s->path_cap, n + 1, sizeof(*s->path))) return TN_INSUFFICIENT_MEMORY;
    const unsigned char *word = (const unsigned char *)s->word;
    const double unknown = m->lowest - unknown_penalty;
    for (size_t i = 0; i <= n; i++) s->path[i] = (struct tn_best_path){.start = UINT32_MAX};
    for (size_t at = 0, length; at < n; at += length) {
        double here = s->path[at].score;
        bool single = false;
        uint32_t node = 0, point;
        length = tn_utf8_decode(s->word + at, n - at, &point);
        for (size_t to = at; to < n && (node = tn_piece_child(&m->trie, node, word[to]));) {
            uint32_t entry = m->trie.nodes[node].entry;
            to++;
            if (entry == TN_NO_ENTRY) continue;
            uint32_t id = v->ids[entry];
            offer(&s->path[to], m->scores[id] + here, (uint32_t)at, id);
            single |= to - at == length;
        }
        if (single) continue;
        if (!m->has_unk) {
            struct tn_best_path *end = &s->path[at + length];
            if (end->start == UINT32_MAX || unknown + here > end->score) return TN_INVALID_REQUEST;
            continue;
        }
        offer(&s->path[at + length], unknown + here, (uint32_t)at, m->unk_id);
    }
    return TN_OK;
}

/* Turns the links around: from each piece's start to its end, unknown neighbours as one. */
static void turn_path(const struct tn_unigram *m, struct tn_text_scratch *s, size_t n)
{
    uint32_t end = (uint32_t)n, after = UINT32_MAX;
    while (end > 0) {
        struct tn_best_path piece = s->path[end];
        bool unknown = m->has_unk && piece.id == m->unk_id, joins = unknown && after != UINT32_MAX;
        /* `after` is the end of a run of unknown pieces that begins at `end`. */
        s->path[piece.start].next = joins ? after : end;
        s->path[piece.start].next_id = piece.id;
        after = unknown ? s->path[piece.start].next : UINT32_MAX;
        end = piece.start;
    }
}

/* The text of an unknown token is what stands in the word. */
static void count_blanks(const struct tn_text_scratch *s, struct tn_token_list *list, size_t token, size_t from, size_t to)
{
    if (list->want_blanks) tn_count_blanks((struct tn_str){s->word + from, to - from}, list->blanks[token]);
}

/* An unknown run: a token that it happens to spell, bytes, or the unknown token. *simple: one token. */
static enum tn_status push_unknown(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                   struct tn_token_list *list, size_t from, size_t to, bool by_table, uint32_t base,
                                   bool *simple)
{
    const struct tn_unigram *m = &t->unigram;
    uint32_t id = m->unk_id;
    bool bytes = !tn_vocab_id(&t->vocab, (struct tn_str){s->word + from, to - from}, &id) && m->byte_fallback;
    for (size_t i = from; i < to && bytes; i++) bytes = m->has_byte[(unsigned char)s->word[i]];
    *simple &= !bytes;
    if (!tn_tokens_reserve(s->alloc, list, bytes ? to - from : 1)) return TN_INSUFFICIENT_MEMORY;
    if (!bytes) {
        tn_word_push(s, list, id, from, to, by_table, base);
        count_blanks(s, list, list->count - 1, from, to);
    }
    for (size_t i = from; i < to && bytes; i++) {
        tn_word_push(s, list, m->bytes[(unsigned char)s->word[i]], from, to, by_table, base);
    }
    return TN_OK;
}

/* ---- tokenizing a word -------------------------------------------------------------------------------------------- */

static enum tn_status push_path(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                                size_t n, bool by_table, uint32_t base, bool *simple)
{
    const struct tn_unigram *m = &t->unigram;
    enum tn_status status = TN_OK;
    for (size_t at = 0; at < n && !status; at = s->path[at].next) {
        uint32_t to = s->path[at].next, id = s->path[at].next_id;
        if (m->has_unk && id == m->unk_id) {
            status = push_unknown(t, s, list, at, to, by_table, base, simple);
            continue;
        }
        if (list->count == list->cap && !tn_tokens_reserve(s->alloc, list, 1)) return TN_INSUFFICIENT_MEMORY;
        tn_word_push(s, list, id, at, to, by_table, base);
    }
    return status;
}

/* What push_path appended, for the next time; offsets are those of the path. */
static void remember(struct tn_text_scratch *s, struct tn_cached_word *slot, const uint32_t *ids, size_t pieces, size_t n,
                     uint64_t hash)
{
    uint8_t ends[TN_CACHE_PIECES];
    size_t at = 0;
    for (size_t i = 0; i < pieces; i++) {
        at = s->path[at].next;
        ends[i] = (uint8_t)at;
    }
    if (at == n) tn_cache_put(slot, hash, s->word, n, 0, ids, ends, pieces);
}

static enum tn_status unigram_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                   struct tn_token_list *list, size_t n, size_t chars, uint64_t hash, bool by_table,
                                   uint32_t base)
{
    struct tn_cached_word *slot = s->cache && n <= TN_CACHE_BYTES ? tn_cache_place(s, hash) : NULL;
    size_t first = list->count;
    bool simple = true;
    (void)chars;
    if (list->cap - list->count < TN_CACHE_PIECES && !tn_tokens_reserve(s->alloc, list, TN_CACHE_PIECES)) {
        return TN_INSUFFICIENT_MEMORY;
    }
    if (slot && tn_cache_holds(slot, hash, s->word, n, 0)) {
        tn_cache_push(s, list, slot, by_table, base);
        for (size_t i = 0, from = 0; list->want_blanks && i < slot->pieces; from = slot->ends[i++]) {
            if (slot->ids[i] == t->unigram.unk_id) count_blanks(s, list, first + i, from, slot->ends[i]);
        }
        return TN_OK;
    }
    enum tn_status status = find_path(t, s, n);
    if (status) return status;
    turn_path(&t->unigram, s, n);
    status = push_path(t, s, list, n, by_table, base, &simple);
    size_t pieces = list->count - first;
    if (!status && slot && simple && pieces <= TN_CACHE_PIECES) remember(s, slot, list->ids + first, pieces, n, hash);
    return status;
}

/* ---- identity ----------------------------------------------------------------------------------------------------- */

static void fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h)
{
    const struct tn_unigram *m = &t->unigram;
    tn_sha256_update_u64(h, (uint64_t)m->has_unk | (uint64_t)m->byte_fallback << 1 | (uint64_t)m->unk_id << 32);
    tn_sha256_update_u64(h, m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t bits;
        memcpy(&bits, &m->scores[i], sizeof(bits));
        tn_sha256_update_u64(h, bits);
        tn_sha256_update_u64(h, m->entries[i]);
    }
    tn_model_vocab_fingerprint(t, h);
}

const struct tn_model_kind tn_model_unigram = {
    .name = "Unigram",
    .load = load_unigram,
    .word = unigram_word,
    .fingerprint = fingerprint,
};
