/*
 * What the models share: the vocabulary as an object of token: id, and its part of the identity. Input is hostile; memory
 * follows what was read, never an id.
 */
#include "text/internal.h"

enum tn_status tn_model_vocab_limit(struct tn_text_loader *ld, struct tn_json vocab)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_RESOURCE_LIMIT, TN_PHASE_LOAD,
                                        "tokenizer: the vocabulary exceeds the limit vocab_entries");
    tn_at_json(f, vocab);
    tn_found(f, "%zu entries", tn_json_count(vocab));
    tn_expected(f, "at most %llu", (unsigned long long)ld->ctx->limits.vocab_entries);
    return TN_RESOURCE_LIMIT;
}

enum tn_status tn_model_vocab_failed(struct tn_text_loader *ld, struct tn_json vocab, enum tn_status status)
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

enum tn_status tn_model_vocab_load(struct tn_text_loader *ld, struct tn_json vocab)
{
    struct tn_vocab *v = &ld->t->vocab;
    size_t bytes = 0;
    uint32_t entry;
    if (tn_json_count(vocab) > ld->ctx->limits.vocab_entries) return tn_model_vocab_limit(ld, vocab);
    for (struct tn_json m = tn_json_first(vocab); m.doc; m = tn_json_next(m)) bytes += tn_json_key(m).n;
    enum tn_status status = tn_vocab_reserve(v, tn_json_count(vocab), bytes);
    if (status) return tn_model_vocab_failed(ld, vocab, status);
    for (struct tn_json m = tn_json_first(vocab); m.doc; m = tn_json_next(m)) {
        uint64_t id;
        if (!tn_json_is_integer(m) || !tn_json_u64(m, &id) || id > UINT32_MAX) return bad_id(ld, m);
        if (tn_json_key(m).n > ld->ctx->limits.name_bytes) return tn_load_too_long(ld, m, tn_json_key(m));
        status = tn_vocab_add(v, tn_json_key(m), (uint32_t)id, false, &entry);
        if (status) return tn_model_vocab_failed(ld, vocab, status);
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

/* After the last token: two tokens with one id are refused. */
enum tn_status tn_model_vocab_seal(struct tn_text_loader *ld, struct tn_json vocab)
{
    uint32_t clash[2];
    enum tn_status status = tn_vocab_seal(&ld->t->vocab, clash);
    if (status == TN_ARTIFACT_MALFORMED) return id_clash(ld, vocab, clash);
    return status ? tn_model_vocab_failed(ld, vocab, status) : TN_OK;
}

enum tn_status tn_model_unknown(struct tn_text_loader *ld, struct tn_json model, struct tn_str unk, uint32_t *id)
{
    if (tn_vocab_id(&ld->t->vocab, unk, id)) return TN_OK;
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: the unknown token is not in the vocabulary");
    tn_load_place(ld, f, model, "unk_token");
    tn_found(f, "%.*s", TN_FMT_ARG(unk));
    tn_expected(f, "a token of the vocabulary");
    return TN_ARTIFACT_MALFORMED;
}

/* Entries in the order of their ids, so that two files that list them otherwise are one tokenizer. */
void tn_model_vocab_fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h)
{
    const struct tn_vocab *v = &t->vocab;
    tn_sha256_update_u64(h, v->count);
    for (uint32_t i = 0; i < v->by_id_count; i++) {
        if (v->by_id[i] == TN_NO_ENTRY) continue;
        struct tn_str token = tn_vocab_entry(v, v->by_id[i]);
        uint32_t head[2] = {v->ids[v->by_id[i]], (uint32_t)token.n};
        tn_sha256_update(h, head, sizeof(head));
        tn_sha256_update(h, token.s, token.n);
    }
}
