/*
 * Added tokens: tokens that are cut out of the text before (or, when "normalized", after) normalization, whatever the
 * model would have made of them. Matching is leftmost-longest over bytes; single_word, lstrip and rstrip are applied to
 * a match afterwards, and a discarded match is still stepped over, as in the library.
 *
 * Ids: the library gives a token the id that the vocabulary has for it, else the next free number, and only warns when
 * the file says otherwise. We compute the same id and refuse a file that contradicts it.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

/* ---- tries ---------------------------------------------------------------------------------------------------- */

static bool trie_child(struct tn_alloc *alloc, struct tn_trie *trie, uint32_t node, unsigned char byte, uint32_t *out)
{
    uint32_t child = trie->nodes[node].child;
    while (child && trie->nodes[child].byte != byte) child = trie->nodes[child].sibling;
    if (!child) {
        if (!tn_text_grow(alloc, &trie->nodes, &trie->cap, trie->count + 1, sizeof(*trie->nodes))) return false;
        child = (uint32_t)trie->count++;
        trie->nodes[child] = (struct tn_trie_node){.sibling = trie->nodes[node].child, .token = TN_NO_TOKEN, .byte = byte};
        trie->nodes[node].child = child;
    }
    *out = child;
    return true;
}

/* TN_ARTIFACT_MALFORMED: another token has the same text; *other names it. */
static enum tn_status trie_insert(struct tn_alloc *alloc, struct tn_trie *trie, struct tn_str s, uint32_t token,
                                  uint32_t *other)
{
    if (trie->count == 0) {
        if (!tn_text_grow(alloc, &trie->nodes, &trie->cap, 1, sizeof(*trie->nodes))) return TN_INSUFFICIENT_MEMORY;
        trie->nodes[trie->count++] = (struct tn_trie_node){.token = TN_NO_TOKEN};
    }
    uint32_t node = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!trie_child(alloc, trie, node, (unsigned char)s.s[i], &node)) return TN_INSUFFICIENT_MEMORY;
    }
    if (trie->nodes[node].token != TN_NO_TOKEN) {
        *other = trie->nodes[node].token;
        return TN_ARTIFACT_MALFORMED;
    }
    trie->nodes[node].token = token;
    trie->first[(unsigned char)s.s[0]] = 1;
    return TN_OK;
}

/* One possible first byte is searched for faster than several. */
static void trie_finish(struct tn_trie *trie)
{
    int seen = 0;
    for (int i = 0; i < 256; i++) {
        if (!trie->first[i]) continue;
        seen++;
        trie->only = i;
    }
    if (seen != 1) trie->only = -1;
}

/* Longest token that begins at s[0]; its length, or 0. */
static size_t trie_longest(const struct tn_trie *trie, const char *s, size_t n, uint32_t *token)
{
    size_t found = 0;
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t child = trie->nodes[node].child;
        while (child && trie->nodes[child].byte != (unsigned char)s[i]) child = trie->nodes[child].sibling;
        if (!child) break;
        node = child;
        if (trie->nodes[node].token == TN_NO_TOKEN) continue;
        *token = trie->nodes[node].token;
        found = i + 1;
    }
    return found;
}

bool tn_trie_next(const struct tn_trie *trie, const char *s, size_t n, size_t from, struct tn_match *out)
{
    if (trie->count == 0) return false;
    for (size_t i = from; i < n; i++) {
        if (trie->only >= 0) {
            const char *hit = memchr(s + i, trie->only, n - i);
            if (!hit) return false;
            i = (size_t)(hit - s);
        } else if (!trie->first[(unsigned char)s[i]]) {
            continue;
        }
        size_t length = trie_longest(trie, s + i, n - i, &out->token);
        if (!length) continue;
        out->begin = i;
        out->end = i + length;
        return true;
    }
    return false;
}

/* ---- what is beside a match ----------------------------------------------------------------------------------- */

/* The character that ends at s[at], valid UTF-8, at > 0; its first byte's position. */
static size_t char_before(const char *s, size_t at, uint32_t *c)
{
    size_t begin = at - 1;
    while (begin > 0 && ((unsigned char)s[begin] & 0xC0) == 0x80) begin--;
    tn_utf8_decode(s + begin, at - begin, c);
    return begin;
}

bool tn_added_accept(const struct tn_text_tokenizer *t, const char *s, size_t n, size_t taken, struct tn_match *match)
{
    const struct tn_added_token *token = &t->added.at[match->token];
    uint32_t c = 0;
    if (token->single_word) {
        if (match->begin > 0 && (char_before(s, match->begin, &c), tn_uc_flags(c) & TN_UC_WORD)) return false;
        if (match->end < n && (tn_utf8_decode(s + match->end, n - match->end, &c), tn_uc_flags(c) & TN_UC_WORD)) {
            return false;
        }
    }
    if (token->lstrip) {
        size_t begin = match->begin;
        while (begin > 0) {
            size_t before = char_before(s, begin, &c);
            if (!(tn_uc_flags(c) & TN_UC_WHITE)) break;
            begin = before;
        }
        match->begin = begin > taken ? begin : taken;
    }
    while (token->rstrip && match->end < n) {
        size_t used = tn_utf8_decode(s + match->end, n - match->end, &c);
        if (!(tn_uc_flags(c) & TN_UC_WHITE)) break;
        match->end += used;
    }
    return true;
}

/* ---- loading -------------------------------------------------------------------------------------------------- */

static enum tn_status contradiction(struct tn_text_loader *ld, struct tn_json place, const struct tn_added_token *token,
                                    uint32_t id)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: the added token \"%.*s\" has another id in the vocabulary",
                                        TN_FMT_ARG(token->content));
    tn_load_place(ld, f, place, "id");
    tn_found(f, "%lu", (unsigned long)token->id);
    tn_expected(f, "%lu: the vocabulary's id, or for a new token the next number after the vocabulary",
                (unsigned long)id);
    return TN_ARTIFACT_MALFORMED;
}

/* The id that the library gives: the vocabulary's, else the next number. */
static uint32_t library_id(const struct tn_text_tokenizer *t, struct tn_str content, uint32_t next)
{
    uint32_t id;
    if (tn_vocab_id(&t->added.vocab, content, &id) || tn_vocab_id(&t->vocab, content, &id)) return id;
    return next;
}

enum tn_status tn_added_append(struct tn_text_loader *ld, struct tn_json place, const struct tn_added_token *token)
{
    struct tn_text_tokenizer *t = ld->t;
    struct tn_added *added = &t->added;
    uint32_t at = 0;
    if (token->content.n == 0) return TN_OK; /* the library skips it as well */
    uint32_t id = library_id(t, token->content, added->next_id);
    if (id != token->id) return contradiction(ld, place, token, id);
    uint32_t known;
    if (!tn_vocab_id(&added->vocab, token->content, &known) && !tn_vocab_id(&t->vocab, token->content, &known)) {
        if (tn_vocab_token(&t->vocab, id).s) return contradiction(ld, place, token, id + 1);
        added->next_id++;
    }
    if (added->count >= ld->ctx->limits.vocab_entries || token->content.n > ld->ctx->limits.name_bytes) {
        return tn_load_too_long(ld, place, token->content);
    }
    enum tn_status status = tn_vocab_add(&added->vocab, token->content, id, true, &at);
    if (status == TN_INSUFFICIENT_MEMORY) return tn_load_memory(ld);
    if (status) return tn_load_too_many(ld, place, "added tokens", ld->ctx->limits.vocab_entries);
    struct tn_str content = tn_arena_str(&t->arena, token->content);
    if (!content.s) return tn_load_memory(ld);
    bool repeated = at < added->count;
    if (!tn_text_grow(t->alloc, &added->at, &added->cap, (size_t)at + 1, sizeof(*added->at))) return tn_load_memory(ld);
    added->count = added->vocab.count;
    bool special = token->special || (repeated && added->at[at].was_special);
    added->at[at] = *token;
    added->at[at].content = added->at[at].normalized_content = content;
    added->at[at].was_special = special;
    return TN_OK;
}

static enum tn_status load_token(struct tn_text_loader *ld, struct tn_json v)
{
    struct tn_added_token token = {0};
    enum tn_status status = TN_OK;
    if (!tn_json_is(v, TN_JSON_OBJECT)) return tn_load_malformed(ld, v, "content", "an added token is an object");
    status = tn_load_members(ld, v, "added token", "id content single_word lstrip rstrip normalized special");
    if (!status) status = tn_load_u32(ld, v, "id", &token.id);
    if (!status) status = tn_load_str(ld, v, "content", &token.content);
    if (!status) status = tn_load_bool(ld, v, "single_word", NULL, &token.single_word);
    if (!status) status = tn_load_bool(ld, v, "lstrip", NULL, &token.lstrip);
    if (!status) status = tn_load_bool(ld, v, "rstrip", NULL, &token.rstrip);
    if (!status) status = tn_load_bool(ld, v, "normalized", NULL, &token.normalized);
    if (!status) status = tn_load_bool(ld, v, "special", NULL, &token.special);
    return status ? status : tn_added_append(ld, v, &token);
}

/* What the normalizer makes of a token's text. */
static enum tn_status normalize_content(struct tn_text_loader *ld, struct tn_text_scratch *s,
                                        struct tn_added_token *token)
{
    struct tn_buf buf;
    char bytes[4];
    if (!tn_chars_read(s, token->content.s, 0, token->content.n) || tn_normalize(ld->t, s)) return tn_load_memory(ld);
    tn_buf_init(&buf, ld->t->alloc, SIZE_MAX / 2);
    for (size_t i = 0; i < s->chars.count; i++) tn_buf_append(&buf, bytes, tn_utf8_encode(s->chars.at[i].c, bytes));
    struct tn_str normalized = tn_buf_str(&buf);
    if (!tn_buf_status(&buf)) token->normalized_content = tn_arena_str(&ld->t->arena, normalized);
    enum tn_status status = tn_buf_status(&buf) || !token->normalized_content.s ? tn_load_memory(ld) : TN_OK;
    tn_buf_release(&buf);
    return status;
}

static enum tn_status same_text(struct tn_text_loader *ld, struct tn_json list, uint32_t a, uint32_t b)
{
    struct tn_str x = ld->t->added.at[a].content, y = ld->t->added.at[b].content;
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: two added tokens are the same text after normalization");
    tn_load_place(ld, f, list, NULL);
    tn_found(f, "\"%.*s\" and \"%.*s\"", TN_FMT_ARG(x), TN_FMT_ARG(y));
    tn_expected(f, "added tokens that differ");
    return TN_ARTIFACT_MALFORMED;
}

/* In the library such a token cuts the text between any two characters. */
static enum tn_status vanished(struct tn_text_loader *ld, struct tn_json list, const struct tn_added_token *token)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: nothing is left of the added token %lu after normalization",
                                        (unsigned long)token->id);
    tn_load_place(ld, f, list, NULL);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(token->content));
    tn_expected(f, "a token that the normalizer keeps, or \"normalized\": false");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status build_tries(struct tn_text_loader *ld, struct tn_json list, struct tn_text_scratch *s)
{
    struct tn_text_tokenizer *t = ld->t;
    for (uint32_t i = 0; i < t->added.count; i++) {
        struct tn_added_token *token = &t->added.at[i];
        uint32_t other = 0;
        enum tn_status status = token->normalized ? normalize_content(ld, s, token) : TN_OK;
        if (status) return status;
        if (token->normalized_content.n == 0) return vanished(ld, list, token);
        status = trie_insert(t->alloc, token->normalized ? &t->added.normalized : &t->added.raw,
                             token->normalized_content, i, &other);
        if (status == TN_ARTIFACT_MALFORMED) return same_text(ld, list, other, i);
        if (status) return tn_load_memory(ld);
    }
    trie_finish(&t->added.raw);
    trie_finish(&t->added.normalized);
    return TN_OK;
}

enum tn_status tn_added_finish(struct tn_text_loader *ld, struct tn_json list)
{
    struct tn_text_tokenizer *t = ld->t;
    struct tn_text_scratch scratch = {.alloc = t->alloc};
    uint32_t clash[2];
    enum tn_status status = build_tries(ld, list, &scratch);
    tn_text_scratch_release(&scratch);
    if (status) return status;
    status = tn_vocab_seal(&t->added.vocab, clash);
    if (status == TN_INSUFFICIENT_MEMORY) return tn_load_memory(ld);
    return status ? same_text(ld, list, clash[0], clash[1]) : TN_OK;
}

enum tn_status tn_added_load(struct tn_text_loader *ld, struct tn_json list)
{
    enum tn_status status = TN_OK;
    if (list.doc && !tn_json_is(list, TN_JSON_ARRAY) && !tn_json_is(list, TN_JSON_NULL)) {
        struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                            "tokenizer: \"added_tokens\" is not an array");
        tn_at_json(f, list);
        return TN_ARTIFACT_MALFORMED;
    }
    tn_vocab_init(&ld->t->added.vocab, ld->t->alloc);
    ld->t->added.next_id = ld->t->kind == &tn_model_unigram ? ld->t->unigram.count : ld->t->vocab.count;
    for (struct tn_json v = tn_json_first(list); v.doc && !status; v = tn_json_next(v)) status = load_token(ld, v);
    return status ? status : tn_added_finish(ld, list);
}

void tn_added_release(struct tn_text_tokenizer *t)
{
    tn_vocab_release(&t->added.vocab);
    tn_free(t->alloc, t->added.at);
    tn_free(t->alloc, t->added.raw.nodes);
    tn_free(t->alloc, t->added.normalized.nodes);
}
