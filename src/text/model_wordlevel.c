/* WordLevel: a word is a token or the unknown token. */
#include "text/word_cache.h"

static enum tn_status load_wordlevel(struct tn_text_loader *ld, struct tn_json model)
{
    struct tn_str unk;
    struct tn_json vocab = tn_json_get(model, "vocab");
    enum tn_status status = tn_load_members(ld, model, "model WordLevel", "type vocab unk_token");
    if (!status) status = tn_load_str(ld, model, "unk_token", &unk);
    if (!status && !tn_json_is(vocab, TN_JSON_OBJECT)) {
        status = tn_load_malformed(ld, model, "vocab", "an object of token: id");
    }
    if (!status) status = tn_model_vocab_load(ld, vocab);
    if (!status) status = tn_model_vocab_seal(ld, vocab);
    return status ? status : tn_model_unknown(ld, model, unk, &ld->t->model.unk_id);
}

static enum tn_status wordlevel_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                     struct tn_token_list *list, size_t n, size_t chars, uint64_t hash, bool by_table,
                                     uint32_t base)
{
    (void)chars;
    if (list->count == list->cap && !tn_tokens_reserve(s->alloc, list, 1)) return TN_INSUFFICIENT_MEMORY;
    uint32_t entry = tn_vocab_find(&t->vocab, hash, s->word, n);
    tn_word_push(s, list, entry == TN_NO_ENTRY ? t->model.unk_id : t->vocab.ids[entry], 0, n, by_table, base);
    return TN_OK;
}

static void fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h)
{
    tn_sha256_update_u64(h, t->model.unk_id);
    tn_model_vocab_fingerprint(t, h);
}

const struct tn_model_kind tn_model_wordlevel = {
    .name = "WordLevel",
    .load = load_wordlevel,
    .word = wordlevel_word,
    .fingerprint = fingerprint,
};
