/*
 * WordPiece: the longest vocabulary entry from the left, then again with the continuing prefix. The whole word becomes
 * the unknown token when it is too long (in characters) or a rest has no entry.
 *
 * Prefix hashes are running, so the candidates of one start cost one pass over the bytes. Words are remembered in the
 * caller's scratch, where nearly all words of running text are found.
 */
#include "text/internal.h"

#include "base/checked.h"

#include <string.h>

/* ---- loading -------------------------------------------------------------------------------------------------- */

static enum tn_status vocab_limit(struct tn_text_loader *ld, struct tn_json vocab)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_RESOURCE_LIMIT, TN_PHASE_LOAD,
                                        "tokenizer: the vocabulary exceeds the limit vocab_entries");
    tn_at_json(f, vocab);
    tn_found(f, "%zu entries", tn_json_count(vocab));
    tn_expected(f, "at most %llu", (unsigned long long)ld->ctx->limits.vocab_entries);
    return TN_RESOURCE_LIMIT;
}

static enum tn_status vocab_failed(struct tn_text_loader *ld, struct tn_json vocab, enum tn_status status)
{
    if (status == TN_INSUFFICIENT_MEMORY) return tn_load_memory(ld);
    struct tn_finding *f = tn_error_set(ld->err, status, TN_PHASE_LOAD,
                                        "tokenizer: the vocabulary cannot be held in a table");
    tn_load_place(ld, f, vocab, NULL);
    tn_expected(f, "less than 4 GiB of text and no engineered collisions");
    return status;
}

static enum tn_status bad_id(struct tn_text_loader *ld, struct tn_json v)
{
    struct tn_str text = tn_json_text(v);
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: the id of a vocabulary entry is not an id");
    tn_at_json(f, v);
    tn_found(f, "%.*s", (int)(text.n < 80 ? text.n : 80), text.s);
    tn_expected(f, "an integer from 0 to 4294967295");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status load_vocab(struct tn_text_loader *ld, struct tn_json vocab)
{
    struct tn_vocab *v = &ld->t->vocab;
    size_t bytes = 0;
    uint32_t entry;
    if (tn_json_count(vocab) > ld->ctx->limits.vocab_entries) return vocab_limit(ld, vocab);
    for (struct tn_json m = tn_json_first(vocab); m.doc; m = tn_json_next(m)) bytes += tn_json_key(m).n;
    enum tn_status status = tn_vocab_reserve(v, tn_json_count(vocab), bytes);
    if (status) return vocab_failed(ld, vocab, status);
    for (struct tn_json m = tn_json_first(vocab); m.doc; m = tn_json_next(m)) {
        uint64_t id;
        if (!tn_json_is_integer(m) || !tn_json_u64(m, &id) || id > UINT32_MAX) return bad_id(ld, m);
        if (tn_json_key(m).n > ld->ctx->limits.name_bytes) return tn_load_too_long(ld, m, tn_json_key(m));
        status = tn_vocab_add(v, tn_json_key(m), (uint32_t)id, false, &entry);
        if (status) return vocab_failed(ld, vocab, status);
    }
    return TN_OK;
}

static enum tn_status id_clash(struct tn_text_loader *ld, struct tn_json vocab, const uint32_t clash[2])
{
    const struct tn_vocab *v = &ld->t->vocab;
    struct tn_str a = tn_vocab_entry(v, clash[0]), b = tn_vocab_entry(v, clash[1]);
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: two vocabulary entries have the id %lu",
                                        (unsigned long)v->ids[clash[0]]);
    struct tn_json place = tn_json_get_str(vocab, b);
    tn_load_place(ld, f, place.doc ? place : vocab, NULL);
    tn_found(f, "\"%.*s\" and \"%.*s\"", TN_FMT_ARG(a), TN_FMT_ARG(b));
    tn_expected(f, "one entry per id");
    return TN_ARTIFACT_MALFORMED;
}

enum tn_status tn_wordpiece_finish(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_text_tokenizer *t = ld->t;
    struct tn_json vocab = tn_json_get(model, "vocab");
    uint32_t clash[2];
    enum tn_status status = tn_vocab_seal(&t->vocab, clash);
    if (status == TN_ARTIFACT_MALFORMED) return id_clash(ld, vocab, clash);
    if (status) return vocab_failed(ld, vocab, status);
    t->model.prefix_hash = tn_vocab_hash(t->vocab.seed, t->model.prefix.s, t->model.prefix.n);
    if (tn_vocab_id(&t->vocab, t->model.unk, &t->model.unk_id)) return TN_OK;
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: the unknown token is not in the vocabulary");
    tn_load_place(ld, f, model, "unk_token");
    tn_found(f, "%.*s", TN_FMT_ARG(t->model.unk));
    tn_expected(f, "a token of the vocabulary");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status load_wordpiece(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_wordpiece *m = &ld->t->model;
    struct tn_str unk, prefix;
    enum tn_status status = tn_load_members(ld, model, "model WordPiece",
                                            "type unk_token continuing_subword_prefix max_input_chars_per_word vocab");
    if (!status) status = tn_load_str(ld, model, "unk_token", &unk);
    if (!status) status = tn_load_str(ld, model, "continuing_subword_prefix", &prefix);
    if (!status) status = tn_load_size(ld, model, "max_input_chars_per_word", &m->max_chars);
    if (status) return status;
    struct tn_json vocab = tn_json_get(model, "vocab");
    if (!tn_json_is(vocab, TN_JSON_OBJECT)) return tn_load_malformed(ld, model, "vocab", "an object of token: id");
    m->unk = tn_arena_str(&ld->t->arena, unk);
    m->prefix = tn_arena_str(&ld->t->arena, prefix);
    if (!m->unk.s || !m->prefix.s) return tn_load_memory(ld);
    status = load_vocab(ld, vocab);
    return status ? status : tn_wordpiece_finish(ld, model);
}

/* ---- tokenizing a word ---------------------------------------------------------------------------------------- */

static inline void push(struct tn_text_scratch *s, struct tn_token_list *list, uint32_t id, size_t from, size_t to,
                 bool by_table, uint32_t base)
{
    size_t k = list->count++;
    list->ids[k] = id;
    if (list->want_offsets) {
        list->offsets[k][0] = by_table ? s->word_offsets[from][0] : base + (uint32_t)from;
        list->offsets[k][1] = by_table ? s->word_offsets[to - 1][1] : base + (uint32_t)to;
    }
    if (list->want_blanks) list->blanks[k][0] = list->blanks[k][1] = 0;
}

/* memcmp for the few bytes of a word, without a call: two loads that may overlap, or four. */
static inline bool same_bytes(const char *a, const char *b, size_t n)
{
    uint64_t x, y, z, w;
    uint32_t p, q, r, s;
    if (n >= 8) {
        for (size_t i = 0; i + 8 < n; i += 8) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y) return false;
        }
        memcpy(&z, a + n - 8, 8);
        memcpy(&w, b + n - 8, 8);
        return z == w;
    }
    if (n >= 4) {
        memcpy(&p, a, 4);
        memcpy(&q, b, 4);
        memcpy(&r, a + n - 4, 4);
        memcpy(&s, b + n - 4, 4);
        return ((p ^ q) | (r ^ s)) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

/* The longest entry at `from`: its id and end; false: none. */
static bool longest_entry(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, size_t from, size_t n,
                          uint32_t *id, size_t *end)
{
    const struct tn_vocab *v = &t->vocab;
    const char *word = s->word;
    size_t prefix = from ? t->model.prefix.n : 0;
    if (prefix >= v->longest && prefix) return false;
    size_t longest = v->longest - prefix < n - from ? v->longest - prefix : n - from;
    uint64_t h = from ? t->model.prefix_hash : v->seed;
    for (size_t i = 0; i < longest; i++) s->hashes[i] = h = tn_vocab_hash_step(h, (unsigned char)word[from + i]);
    for (size_t length = longest; length > 0; length--) {
        if (from + length < n && (word[from + length] & 0xC0) == 0x80) continue; /* inside a character */
        h = s->hashes[length - 1];
        size_t mask = ((size_t)1 << v->slot_bits) - 1;
        for (size_t i = (size_t)(h >> (64 - v->slot_bits)); v->slots[i].entry; i = (i + 1) & mask) {
            if (v->slots[i].tag != (uint32_t)h) continue;
            struct tn_str entry = tn_vocab_entry(v, v->slots[i].entry - 1);
            if (entry.n != prefix + length || (prefix && memcmp(entry.s, t->model.prefix.s, prefix) != 0)) continue;
            if (!same_bytes(entry.s + prefix, word + from, length)) continue;
            *id = v->ids[v->slots[i].entry - 1];
            *end = from + length;
            return true;
        }
    }
    return false;
}

static enum tn_status split_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                 struct tn_token_list *list, size_t n, bool by_table, uint32_t base)
{
    size_t room = t->vocab.longest < n ? t->vocab.longest : n;
    if (!tn_text_grow(s->alloc, &s->hashes, &s->hashes_cap, room, sizeof(*s->hashes))) return TN_INSUFFICIENT_MEMORY;
    size_t start = list->count;
    for (size_t from = 0, end = 0; from < n; from = end) {
        uint32_t id;
        if (!longest_entry(t, s, from, n, &id, &end)) {
            list->count = start;
            push(s, list, t->model.unk_id, 0, n, by_table, base);
            return TN_OK;
        }
        if (!tn_tokens_reserve(s->alloc, list, 1)) return TN_INSUFFICIENT_MEMORY;
        push(s, list, id, from, end, by_table, base);
    }
    return TN_OK;
}

/* Ends of pieces are only known as offsets, so a word is remembered only when they can be told again. */
static void remember(struct tn_text_scratch *s, struct tn_cached_word *slot, uint32_t tag, size_t n,
                     const uint32_t *ids, const uint8_t *ends, size_t pieces)
{
    slot->tag = tag;
    slot->bytes = (uint8_t)n;
    slot->pieces = (uint8_t)pieces;
    memcpy(slot->ids, ids, pieces * sizeof(*ids));
    memcpy(slot->ends, ends, pieces);
    memcpy(slot->word, s->word, n);
}

/* Pieces of a short word into ids and ends; 0 when they are more than the cache holds. */
static size_t split_short(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, size_t n,
                          uint32_t ids[TN_CACHE_PIECES], uint8_t ends[TN_CACHE_PIECES])
{
    size_t pieces = 0;
    for (size_t from = 0, end = 0; from < n; from = end, pieces++) {
        uint32_t id;
        if (pieces == TN_CACHE_PIECES) return 0;
        if (!longest_entry(t, s, from, n, &id, &end)) {
            ids[0] = t->model.unk_id;
            ends[0] = (uint8_t)n;
            return 1;
        }
        ids[pieces] = id;
        ends[pieces] = (uint8_t)end;
    }
    return pieces;
}

enum tn_status tn_wordpiece_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                 struct tn_token_list *list, size_t n, size_t chars, uint64_t hash, bool by_table,
                                 uint32_t base)
{
    if (list->cap - list->count < TN_CACHE_PIECES && !tn_tokens_reserve(s->alloc, list, TN_CACHE_PIECES)) {
        return TN_INSUFFICIENT_MEMORY;
    }
    if (chars > t->model.max_chars) {
        push(s, list, t->model.unk_id, 0, n, by_table, base);
        return TN_OK;
    }
    if (!s->cache || n > TN_CACHE_BYTES) return split_word(t, s, list, n, by_table, base);
    struct tn_cached_word *slot = &s->cache[hash >> (64 - TN_CACHE_BITS)];
    if (slot->tag != (uint32_t)hash || slot->bytes != n || !same_bytes(slot->word, s->word, n)) {
        uint32_t ids[TN_CACHE_PIECES];
        uint8_t ends[TN_CACHE_PIECES];
        size_t pieces = split_short(t, s, n, ids, ends);
        if (pieces == 0) return split_word(t, s, list, n, by_table, base);
        remember(s, slot, (uint32_t)hash, n, ids, ends, pieces);
    }
    if (!list->want_offsets && !list->want_blanks) {
        for (size_t i = 0; i < slot->pieces; i++) list->ids[list->count++] = slot->ids[i];
        return TN_OK;
    }
    for (size_t i = 0, from = 0; i < slot->pieces; i++) {
        push(s, list, slot->ids[i], from, slot->ends[i], by_table, base);
        from = slot->ends[i];
    }
    return TN_OK;
}

/* ---- identity ------------------------------------------------------------------------------------------------- */

/* Entries in the order of their ids, so that two files that list them otherwise are one tokenizer. */
static void fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h)
{
    const struct tn_vocab *v = &t->vocab;
    tn_sha256_update_str(h, t->model.unk);
    tn_sha256_update_str(h, t->model.prefix);
    tn_sha256_update_u64(h, t->model.max_chars);
    tn_sha256_update_u64(h, v->count);
    for (uint32_t i = 0; i < v->by_id_count; i++) {
        if (v->by_id[i] == TN_NO_ENTRY) continue;
        struct tn_str token = tn_vocab_entry(v, v->by_id[i]);
        uint32_t head[2] = {v->ids[v->by_id[i]], (uint32_t)token.n};
        tn_sha256_update(h, head, sizeof(head));
        tn_sha256_update(h, token.s, token.n);
    }
}

const struct tn_model_kind tn_model_wordpiece = {
    .name = "WordPiece",
    .load = load_wordpiece,
    .word = tn_wordpiece_word,
    .fingerprint = fingerprint,
};
