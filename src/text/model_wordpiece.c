/*
 * WordPiece: the longest vocabulary entry from the left, then again with the continuing prefix. The whole word becomes
 * the unknown token when it is too long (in characters) or a rest has no entry.
 *
 * Prefix hashes are running, so the candidates of one start cost one pass over the bytes. Words are remembered in the
 * caller's scratch, where nearly all words of running text are found.
 */
#include "text/word_cache.h"

#include "base/checked.h"

#include <string.h>

/* ---- loading -------------------------------------------------------------------------------------------------- */

enum tn_status tn_wordpiece_finish(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_text_tokenizer *t = ld->t;
    struct tn_json vocab = tn_json_get(model, "vocab");
    enum tn_status status = tn_model_vocab_seal(ld, vocab);
    if (status) return status;
    t->model.prefix_hash = tn_vocab_hash(t->vocab.seed, t->model.prefix.s, t->model.prefix.n);
    return tn_model_unknown(ld, model, t->model.unk, &t->model.unk_id);
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
    status = tn_model_vocab_load(ld, vocab);
    return status ? status : tn_wordpiece_finish(ld, model);
}

/* ---- tokenizing a word ---------------------------------------------------------------------------------------- */

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
            if (!tn_same_bytes(entry.s + prefix, word + from, length)) continue;
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
            tn_word_push(s, list, t->model.unk_id, 0, n, by_table, base);
            return TN_OK;
        }
        if (!tn_tokens_reserve(s->alloc, list, 1)) return TN_INSUFFICIENT_MEMORY;
        tn_word_push(s, list, id, from, end, by_table, base);
    }
    return TN_OK;
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
        tn_word_push(s, list, t->model.unk_id, 0, n, by_table, base);
        return TN_OK;
    }
    if (!s->cache || n > TN_CACHE_BYTES) return split_word(t, s, list, n, by_table, base);
    struct tn_cached_word *slot = tn_cache_place(s, hash);
    if (!tn_cache_holds(slot, hash, s->word, n, 0)) {
        uint32_t ids[TN_CACHE_PIECES];
        uint8_t ends[TN_CACHE_PIECES];
        size_t pieces = split_short(t, s, n, ids, ends);
        if (pieces == 0) return split_word(t, s, list, n, by_table, base);
        tn_cache_put(slot, hash, s->word, n, 0, ids, ends, pieces);
    }
    tn_cache_push(s, list, slot, by_table, base);
    return TN_OK;
}

/* ---- identity ------------------------------------------------------------------------------------------------- */

static void fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h)
{
    tn_sha256_update_str(h, t->model.unk);
    tn_sha256_update_str(h, t->model.prefix);
    tn_sha256_update_u64(h, t->model.max_chars);
    tn_model_vocab_fingerprint(t, h);
}

const struct tn_model_kind tn_model_wordpiece = {
    .name = "WordPiece",
    .load = load_wordpiece,
    .word = tn_wordpiece_word,
    .fingerprint = fingerprint,
};
