/*
 * BPE: a word's characters are its first symbols, merges join them. Loading checks what the library only assumes: both
 * parts and the result of every merge are tokens, the prefix is no longer than what it is cut from. Dropout is refused.
 *
 * A character without a token becomes its bytes <0xHH> (byte_fallback, when all of them are tokens), else the unknown
 * token, else nothing; offsets follow the lengths of the symbols, as the library counts them.
 */
#include "text/word_cache.h"

#include "base/checked.h"
#include "base/utf8.h"

#include <stdio.h>

/* ---- the table of pairs ------------------------------------------------------------------------------------------- */

enum { LONGEST_WALK = 1024, SEEDS = 8 };

static void empty_table(struct tn_bpe *m)
{
    for (size_t i = 0; i >> m->pair_bits == 0; i++) m->pairs[i] = (struct tn_bpe_pair){.rank = TN_BPE_NO_RANK};
    m->pair_seed = m->pair_seed * UINT64_C(0xD1342543DE82EF95) + 1;
}

/* A pair that is listed twice has the later rank, as in the library. False: the walk is too long. */
static bool place_pair(struct tn_bpe *m, struct tn_bpe_pair item)
{
    size_t mask = ((size_t)1 << m->pair_bits) - 1, i = (size_t)(tn_bpe_hash(m, item.pair) >> (64 - m->pair_bits));
    for (size_t walked = 0; walked < LONGEST_WALK; walked++, i = (i + 1) & mask) {
        if (m->pairs[i].rank != TN_BPE_NO_RANK && m->pairs[i].pair != item.pair) continue;
        m->pairs[i] = item;
        return true;
    }
    return false;
}

static bool place_pairs(struct tn_bpe *m, const struct tn_bpe_pair *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!place_pair(m, list[i])) return false;
    }
    return true;
}

static enum tn_status build_table(struct tn_text_loader *ld, struct tn_json merges, const struct tn_bpe_pair *list,
                                  size_t n)
{
    struct tn_bpe *m = &ld->t->bpe;
    m->pair_bits = 4;
    while (((size_t)1 << m->pair_bits) < n + n / 2 + 1) m->pair_bits++;
    m->pairs = tn_malloc(ld->t->alloc, sizeof(*m->pairs) << m->pair_bits);
    if (!m->pairs) return tn_load_memory(ld);
    for (int i = 0; i < SEEDS; i++) {
        empty_table(m);
        if (place_pairs(m, list, n)) return TN_OK;
    }
    struct tn_finding *f = tn_error_set(ld->err, TN_RESOURCE_LIMIT, TN_PHASE_LOAD,
                                        "tokenizer: the merges cannot be held in a table");
    tn_at_json(f, merges);
    tn_expected(f, "no engineered collisions");
    return TN_RESOURCE_LIMIT;
}

/* ---- merges ------------------------------------------------------------------------------------------------------- */

struct merge_reader {
    struct tn_text_loader *ld;
    struct tn_json merges;
    struct tn_bpe_pair *list;
    size_t count;
    char *text; /* of a result: as long as the longest token */
    struct tn_sha256 identity;
};

static enum tn_status bad_merge(struct merge_reader *r, struct tn_json v, const char *what, struct tn_str found)
{
    struct tn_finding *f = tn_error_set(r->ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD, "tokenizer: %s", what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", (int)(found.n < 200 ? found.n : 200), found.s);
    tn_expected(f, "[left, right] or \"left right\", two tokens whose union is a token");
    tn_remedy(f, "repair the tokenizer file or fetch it again");
    return TN_ARTIFACT_MALFORMED;
}

/* "left right": one blank, neither less nor more. */
static bool split_legacy(struct tn_str line, struct tn_str parts[2])
{
    size_t blank = 0;
    while (blank < line.n && line.s[blank] != ' ') blank++;
    if (blank == line.n) return false;
    parts[0] = (struct tn_str){line.s, blank};
    parts[1] = (struct tn_str){line.s + blank + 1, line.n - blank - 1};
    for (size_t i = 0; i < parts[1].n; i++) {
        if (parts[1].s[i] == ' ') return false;
    }
    return true;
}

static bool read_parts(struct tn_json v, bool legacy, struct tn_str parts[2])
{
    struct tn_str line;
    if (legacy) return tn_json_str(v, &line) && split_legacy(line, parts);
    return tn_json_count(v) == 2 && tn_json_is(v, TN_JSON_ARRAY) && tn_json_str(tn_json_at(v, 0), &parts[0]) &&
           tn_json_str(tn_json_at(v, 1), &parts[1]);
}

/* The token that two parts make: the right one without the prefix. */
static bool result_id(const struct merge_reader *r, const struct tn_str parts[2], uint64_t left_hash, uint32_t *id)
{
    const struct tn_vocab *v = &r->ld->t->vocab;
    size_t prefix = r->ld->t->bpe.prefix.n, n = parts[0].n + parts[1].n - prefix;
    if (n > v->longest) return false;
    memcpy(r->text, parts[0].s, parts[0].n);
    memcpy(r->text + parts[0].n, parts[1].s + prefix, parts[1].n - prefix);
    uint64_t h = tn_vocab_hash(left_hash, parts[1].s + prefix, parts[1].n - prefix);
    uint32_t entry = tn_vocab_find(v, h, r->text, n);
    if (entry == TN_NO_ENTRY) return false;
    *id = v->ids[entry];
    return true;
}

static enum tn_status read_merge(struct merge_reader *r, struct tn_json v, bool legacy)
{
    const struct tn_vocab *vocab = &r->ld->t->vocab;
    struct tn_str parts[2];
    uint32_t entries[2], id = 0;
    uint64_t hashes[2];
    if (!read_parts(v, legacy, parts)) return bad_merge(r, v, "a merge does not have two parts", tn_json_text(v));
    for (int i = 0; i < 2; i++) {
        hashes[i] = tn_vocab_hash(vocab->seed, parts[i].s, parts[i].n);
        entries[i] = tn_vocab_find(vocab, hashes[i], parts[i].s, parts[i].n);
        if (entries[i] == TN_NO_ENTRY) return bad_merge(r, v, "a part of a merge is not in the vocabulary", parts[i]);
    }
    if (parts[1].n < r->ld->t->bpe.prefix.n) {
        return bad_merge(r, v, "the right part of a merge is shorter than the continuing prefix", parts[1]);
    }
    if (!result_id(r, parts, hashes[0], &id)) {
        return bad_merge(r, v, "the result of a merge is not in the vocabulary", tn_json_text(v));
    }
    uint32_t a = vocab->ids[entries[0]], b = vocab->ids[entries[1]], row[3] = {a, b, id};
    tn_sha256_update(&r->identity, row, sizeof(row));
    r->list[r->count] = (struct tn_bpe_pair){(uint64_t)a << 32 | b, (uint32_t)r->count, id};
    r->count++;
    return TN_OK;
}

static bool is_version_line(struct tn_json v)
{
    struct tn_str line;
    return tn_json_str(v, &line) && line.n >= 8 && memcmp(line.s, "#version", 8) == 0;
}

static enum tn_status read_merges(struct merge_reader *r)
{
    struct tn_json first = tn_json_first(r->merges);
    bool legacy = tn_json_is(first, TN_JSON_STRING);
    enum tn_status status = TN_OK;
    for (struct tn_json v = first; v.doc && !status; v = tn_json_next(v)) {
        if (!legacy || !is_version_line(v)) status = read_merge(r, v, legacy);
    }
    return status;
}

static enum tn_status load_merges(struct tn_text_loader *ld, struct tn_json model)
{
    struct merge_reader r = {.ld = ld, .merges = tn_json_get(model, "merges")};
    struct tn_alloc *alloc = ld->t->alloc;
    size_t n = tn_json_count(r.merges);
    if (!tn_json_is(r.merges, TN_JSON_ARRAY)) return tn_load_malformed(ld, model, "merges", "an array of merges");
    if (n >= UINT32_MAX / 4) return tn_load_too_many(ld, r.merges, "merges", UINT32_MAX / 4);
    r.list = tn_calloc(alloc, n ? n : 1, sizeof(*r.list));
    r.text = tn_malloc(alloc, ld->t->vocab.longest + 1);
    tn_sha256_init(&r.identity);
    enum tn_status status = r.list && r.text ? read_merges(&r) : tn_load_memory(ld);
    if (!status) status = build_table(ld, r.merges, r.list, r.count);
    ld->t->bpe.merges = tn_sha256_finish(&r.identity);
    tn_free(alloc, r.list);
    tn_free(alloc, r.text);
    return status;
}

/* ---- the rest of the model ---------------------------------------------------------------------------------------- */

/* A member that may be null; then, and when absent, the text is empty. */
static enum tn_status optional_str(struct tn_text_loader *ld, struct tn_json model, const char *member, bool *present,
                                   struct tn_str *out)
{
    struct tn_json v = tn_json_get(model, member);
    struct tn_str s = TN_STR("");
    *present = v.doc && !tn_json_is(v, TN_JSON_NULL);
    enum tn_status status = *present ? tn_load_str(ld, model, member, &s) : TN_OK;
    if (status) return status;
    if (s.n > ld->ctx->limits.name_bytes) return tn_load_too_long(ld, v, s);
    *out = tn_arena_str(&ld->t->arena, s);
    return out->s ? TN_OK : tn_load_memory(ld);
}

static enum tn_status optional_bool(struct tn_text_loader *ld, struct tn_json model, const char *member, bool *out)
{
    struct tn_json v = tn_json_get(model, member);
    *out = false;
    return v.doc && !tn_json_is(v, TN_JSON_NULL) ? tn_load_bool(ld, model, member, NULL, out) : TN_OK;
}

static enum tn_status refuse_dropout(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_json v = tn_json_get(model, "dropout");
    double p;
    if (!v.doc || tn_json_is(v, TN_JSON_NULL)) return TN_OK;
    if (!tn_json_f64(v, &p)) return tn_load_malformed(ld, model, "dropout", "null or 0");
    if (p == 0) return TN_OK;
    struct tn_finding *f = tn_error_set(ld->err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD,
                                        "tokenizer: BPE with dropout is not supported");
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "null or 0: the same text always has the same tokens");
    tn_remedy(f, "dropout belongs to training; remove it from the file");
    return TN_UNSUPPORTED_PROCESSOR;
}

/* With both, the library's offsets run past the end of the word. */
static enum tn_status refuse_lost_alignment(struct tn_text_loader *ld, struct tn_json model)
{
    const struct tn_bpe *m = &ld->t->bpe;
    if (!m->byte_fallback || (!m->prefix.n && !m->suffix.n)) return TN_OK;
    return tn_load_malformed(ld, model, "byte_fallback", "false together with a prefix or suffix of sub-words");
}

/* Tables of what nearly every symbol begins as. */
static void fill_tables(struct tn_text_tokenizer *t)
{
    struct tn_bpe *m = &t->bpe;
    char text[8];
    for (uint32_t c = 0; c < TN_BPE_LOW; c++) {
        size_t n = tn_utf8_encode(c, text);
        if (!tn_vocab_id(&t->vocab, (struct tn_str){text, n}, &m->low[c])) m->low[c] = TN_BPE_NO_RANK;
    }
    for (unsigned b = 0; b < 256; b++) {
        snprintf(text, sizeof(text), "<0x%02X>", b);
        if (!tn_vocab_id(&t->vocab, (struct tn_str){text, 6}, &m->bytes[b])) m->bytes[b] = TN_BPE_NO_RANK;
    }
}

static enum tn_status load_bpe(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_bpe *m = &ld->t->bpe;
    bool present;
    enum tn_status status = tn_load_members(ld, model, "model BPE",
                                            "type dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk "
                                            "byte_fallback ignore_merges vocab merges");
    if (!status) status = refuse_dropout(ld, model);
    if (!status) status = optional_str(ld, model, "unk_token", &m->has_unk, &m->unk);
    if (!status) status = optional_str(ld, model, "continuing_subword_prefix", &present, &m->prefix);
    if (!status) status = optional_str(ld, model, "end_of_word_suffix", &present, &m->suffix);
    if (!status) status = optional_bool(ld, model, "fuse_unk", &m->fuse_unk);
    if (!status) status = optional_bool(ld, model, "byte_fallback", &m->byte_fallback);
    if (!status) status = optional_bool(ld, model, "ignore_merges", &m->ignore_merges);
    if (!status) status = refuse_lost_alignment(ld, model);
    struct tn_json vocab = tn_json_get(model, "vocab");
    if (!status && !tn_json_is(vocab, TN_JSON_OBJECT)) {
        status = tn_load_malformed(ld, model, "vocab", "an object of token: id");
    }
    if (!status) status = tn_model_vocab_load(ld, vocab);
    if (!status) status = tn_model_vocab_seal(ld, vocab);
    if (!status && m->has_unk) status = tn_model_unknown(ld, model, m->unk, &m->unk_id);
    if (!status) status = load_merges(ld, model);
    if (status) return status;
    m->plain = m->prefix.n == 0 && !(m->has_unk && m->unk.n == 0);
    ld->t->cache_bits = TN_CACHE_BITS_BPE;
    fill_tables(ld->t);
    return TN_OK;
}

/* ---- the symbols of a word ---------------------------------------------------------------------------------------- */

static bool add_symbol(struct tn_text_scratch *s, uint32_t id, size_t length)
{
    struct tn_bpe_work *w = &s->bpe;
    if (!tn_text_grow(s->alloc, &w->symbols, &w->cap, w->count + 1, sizeof(*w->symbols))) return false;
    uint32_t at = (uint32_t)w->count++;
    if (at) w->symbols[at - 1].next = at;
    w->symbols[at] = (struct tn_bpe_symbol){id, (uint32_t)length, at ? at - 1 : UINT32_MAX, UINT32_MAX};
    return true;
}

/* The token of one character as it stands in the word. *memory turns false when there is none. */
static bool char_id(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_str c, bool first, bool last,
                    uint32_t *id, bool *memory)
{
    const struct tn_bpe *m = &t->bpe;
    struct tn_bpe_work *w = &s->bpe;
    struct tn_str prefix = first ? TN_STR("") : m->prefix, suffix = last ? m->suffix : TN_STR("");
    if (prefix.n == 0 && suffix.n == 0) {
        uint32_t point = 0;
        if (c.n > 2) return tn_vocab_id(&t->vocab, c, id);
        tn_utf8_decode(c.s, c.n, &point);
        if (point >= TN_BPE_LOW) return tn_vocab_id(&t->vocab, c, id);
        *id = m->low[point];
        return *id != TN_BPE_NO_RANK || tn_vocab_id(&t->vocab, c, id); /* the id itself may be that number */
    }
    if (!tn_text_grow(s->alloc, &w->text, &w->text_cap, prefix.n + c.n + suffix.n, 1)) return (*memory = false, false);
    memcpy(w->text, prefix.s, prefix.n);
    memcpy(w->text + prefix.n, c.s, c.n);
    memcpy(w->text + prefix.n + c.n, suffix.s, suffix.n);
    return tn_vocab_id(&t->vocab, (struct tn_str){w->text, prefix.n + c.n + suffix.n}, id);
}

/* <0xHH> for each byte; false: one of them is no token. */
static bool fall_back(const struct tn_bpe *m, struct tn_text_scratch *s, struct tn_str c, bool *memory)
{
    for (size_t i = 0; i < c.n; i++) {
        if (m->bytes[(unsigned char)c.s[i]] == TN_BPE_NO_RANK) return false;
    }
    for (size_t i = 0; i < c.n && *memory; i++) *memory = add_symbol(s, m->bytes[(unsigned char)c.s[i]], 1);
    return true;
}

static enum tn_status spell_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, size_t n)
{
    const struct tn_bpe *m = &t->bpe;
    size_t unknown = 0; /* bytes of the unknown token that waits for its end */
    bool memory = true;
    s->bpe.count = 0;
    for (size_t at = 0, to; at < n && memory; at = to) {
        uint32_t point, id;
        to = at + tn_utf8_decode(s->word + at, n - at, &point);
        struct tn_str c = {s->word + at, to - at};
        if (char_id(t, s, c, at == 0, to == n, &id, &memory)) {
            if (unknown) memory = add_symbol(s, m->unk_id, unknown);
            unknown = 0;
            memory = memory && add_symbol(s, id, c.n);
        } else if (memory && !(m->byte_fallback && fall_back(m, s, c, &memory)) && m->has_unk) {
            if (unknown && !m->fuse_unk) {
                memory = add_symbol(s, m->unk_id, unknown);
                unknown = 0;
            }
            unknown += c.n;
        }
    }
    if (unknown && memory) memory = add_symbol(s, m->unk_id, unknown);
    return memory ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

/* ---- tokenizing a word -------------------------------------------------------------------------------------------- */

/* Symbols that are left as ids and ends, when they fit the cache; 0: they do not. */
static size_t few_pieces(const struct tn_bpe_work *w, uint32_t ids[TN_CACHE_PIECES], uint8_t ends[TN_CACHE_PIECES])
{
    size_t n = 0, end = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->symbols[i].length == 0) continue;
        if (n == TN_CACHE_PIECES) return 0;
        end += w->symbols[i].length;
        ids[n] = w->symbols[i].id;
        ends[n++] = (uint8_t)end;
    }
    return n;
}

static enum tn_status push_symbols(struct tn_text_scratch *s, struct tn_token_list *list, bool by_table, uint32_t base)
{
    const struct tn_bpe_work *w = &s->bpe;
    if (!tn_tokens_reserve(s->alloc, list, w->count)) return TN_INSUFFICIENT_MEMORY;
    for (size_t i = 0, from = 0; i < w->count; i++) {
        size_t length = w->symbols[i].length;
        if (length == 0) continue;
        tn_word_push(s, list, w->symbols[i].id, from, from + length, by_table, base);
        from += length;
    }
    return TN_OK;
}

enum { GENERAL_WORD = 1 }; /* kind in the cache: the fast path keeps its words as bytes of the text */

static enum tn_status bpe_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                               size_t n, size_t chars, uint64_t hash, bool by_table, uint32_t base)
{
    struct tn_cached_word *slot = NULL;
    (void)chars;
    if (list->cap - list->count < TN_CACHE_PIECES && !tn_tokens_reserve(s->alloc, list, TN_CACHE_PIECES)) {
        return TN_INSUFFICIENT_MEMORY;
    }
    uint32_t entry = t->bpe.ignore_merges ? tn_vocab_find(&t->vocab, hash, s->word, n) : TN_NO_ENTRY;
    if (entry != TN_NO_ENTRY) {
        tn_word_push(s, list, t->vocab.ids[entry], 0, n, by_table, base);
        return TN_OK;
    }
    if (s->cache && n <= TN_CACHE_BYTES) {
        slot = tn_cache_place(s, hash);
        if (tn_cache_holds(slot, hash, s->word, n, GENERAL_WORD)) {
            tn_cache_push(s, list, slot, by_table, base);
            return TN_OK;
        }
    }
    enum tn_status status = spell_word(t, s, n);
    if (!status) status = tn_bpe_merge_all(&t->bpe, s);
    if (status) return status;
    uint32_t ids[TN_CACHE_PIECES];
    uint8_t ends[TN_CACHE_PIECES];
    size_t pieces = slot ? few_pieces(&s->bpe, ids, ends) : 0;
    if (pieces) tn_cache_put(slot, hash, s->word, n, GENERAL_WORD, ids, ends, pieces);
    return push_symbols(s, list, by_table, base);
}

/* ---- identity ----------------------------------------------------------------------------------------------------- */

static void fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h)
{
    const struct tn_bpe *m = &t->bpe;
    tn_sha256_update_str(h, m->unk);
    tn_sha256_update_str(h, m->prefix);
    tn_sha256_update_str(h, m->suffix);
    tn_sha256_update_u64(h, (uint64_t)m->has_unk | (uint64_t)m->fuse_unk << 1 | (uint64_t)m->byte_fallback << 2 |
                                (uint64_t)m->ignore_merges << 3);
    tn_sha256_update(h, m->merges.bytes, sizeof(m->merges.bytes));
    tn_model_vocab_fingerprint(t, h);
}

const struct tn_model_kind tn_model_bpe = {
    .name = "BPE",
    .load = load_bpe,
    .word = bpe_word,
    .fingerprint = fingerprint,
};
