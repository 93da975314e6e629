/*
 * Encoding: cuts added tokens out of the raw text and sends what lies between through the fast path or the general one.
 * The general path is the definition: characters with alignment, stage by stage, for every combination of stages.
 */
#include "text/internal.h"

#include "base/checked.h"
#include "base/utf8.h"

#include <string.h>

/* A normal form makes at most 18 characters of one; nobody's Replace makes a text this much longer. */
enum { GROWTH = 32, GROWTH_FLOOR = 65536 };

/* ---- scratch -------------------------------------------------------------------------------------------------- */

bool tn_text_grow(struct tn_alloc *alloc, void *array, size_t *cap, size_t need, size_t item)
{
    void **at = array;
    size_t target = *cap + *cap / 2, bytes;
    if (need <= *cap && *at) return true;
    if (target < need) target = need;
    if (target < 16) target = 16;
    if (!tn_mul(target, item, &bytes)) return false;
    void *p = tn_realloc(alloc, *at, bytes);
    if (!p) return false;
    *at = p;
    *cap = target;
    return true;
}

bool tn_chars_reserve(struct tn_alloc *alloc, struct tn_chars *chars, size_t need)
{
    return tn_text_grow(alloc, &chars->at, &chars->cap, need, sizeof(*chars->at));
}

bool tn_splits_push(struct tn_alloc *alloc, struct tn_splits *splits, struct tn_split split)
{
    if (!tn_text_grow(alloc, &splits->at, &splits->cap, splits->count + 1, sizeof(*splits->at))) return false;
    splits->at[splits->count++] = split;
    return true;
}

/* Every array that is wanted has its own capacity; list->cap is the smallest. */
bool tn_tokens_reserve(struct tn_alloc *alloc, struct tn_token_list *list, size_t more)
{
    size_t need;
    if (!tn_add(list->count, more, &need)) return false;
    if (!tn_text_grow(alloc, &list->ids, &list->ids_cap, need, sizeof(*list->ids))) return false;
    list->cap = list->ids_cap;
    if (list->want_offsets) {
        size_t item = sizeof(*list->offsets);
        if (!tn_text_grow(alloc, &list->offsets, &list->offsets_cap, list->cap, item)) return false;
    }
    if (list->want_blanks) {
        if (!tn_text_grow(alloc, &list->blanks, &list->blanks_cap, list->cap, sizeof(*list->blanks))) return false;
    }
    if (list->want_words) {
        if (!tn_text_grow(alloc, &list->words, &list->words_cap, list->cap, sizeof(*list->words))) return false;
    }
    return true;
}

bool tn_chars_read(struct tn_text_scratch *s, const char *text, size_t begin, size_t end)
{
    struct tn_chars *chars = &s->chars;
    if (!tn_chars_reserve(s->alloc, chars, end - begin)) return false;
    chars->count = s->spare.count = 0;
    s->most_chars = (end - begin) * GROWTH + GROWTH_FLOOR;
    for (size_t i = begin; i < end;) {
        uint32_t c = 0;
        size_t n = tn_utf8_decode(text + i, end - i, &c);
        chars->at[chars->count++] = (struct tn_char){c, (uint32_t)i, (uint32_t)(i + n)};
        i += n;
    }
    return true;
}

static void release_list(struct tn_alloc *alloc, struct tn_token_list *list)
{
    tn_free(alloc, list->ids);
    tn_free(alloc, list->offsets);
    tn_free(alloc, list->blanks);
    tn_free(alloc, list->words);
}

void tn_text_scratch_release(struct tn_text_scratch *s)
{
    tn_free(s->alloc, s->cache);
    tn_free(s->alloc, s->chars_seen);
    tn_free(s->alloc, s->chars.at);
    tn_free(s->alloc, s->spare.at);
    tn_free(s->alloc, s->forms);
    tn_free(s->alloc, s->splits.at);
    tn_free(s->alloc, s->next.at);
    release_list(s->alloc, &s->sequences[0]);
    release_list(s->alloc, &s->sequences[1]);
    tn_free(s->alloc, s->word);
    tn_free(s->alloc, s->word_offsets);
    tn_free(s->alloc, s->hashes);
    tn_free(s->alloc, s->output_offsets);
    tn_free(s->alloc, s->output_words);
    tn_regex_run_release(&s->regex);
    tn_free(s->alloc, s->bpe.symbols);
    tn_free(s->alloc, s->bpe.heap.at);
    for (size_t i = 0; i < TN_BPE_BUCKETS; i++) tn_free(s->alloc, s->bpe.buckets[i].at);
    tn_free(s->alloc, s->bpe.text);
    tn_free(s->alloc, s->path);
}

void tn_text_encoding_init(struct tn_text_encoding *e, struct tn_alloc *alloc)
{
    *e = (struct tn_text_encoding){.alloc = alloc};
}

void tn_text_encoding_release(struct tn_text_encoding *e)
{
    if (!e->alloc) return;
    tn_free(e->alloc, e->ids);
    tn_free(e->alloc, e->type_ids);
    tn_free(e->alloc, e->special_mask);
    if (e->scratch) tn_text_scratch_release(e->scratch);
    tn_free(e->alloc, e->scratch);
    tn_text_encoding_init(e, e->alloc);
}

/* A quarter of a megabyte of words does not pay for one short text. */
enum { CACHE_FROM_BYTES = 2048 };

/* Working memory with empty caches; what they hold belongs to one tokenizer. */
static bool prepare_scratch(const struct tn_text_tokenizer *t, struct tn_text_encoding *e, size_t bytes)
{
    if (!e->scratch) {
        e->scratch = tn_calloc(e->alloc, 1, sizeof(*e->scratch));
        if (!e->scratch) return false;
        e->scratch->alloc = e->alloc;
    }
    struct tn_text_scratch *s = e->scratch;
    bool wanted = s->cache || s->used || bytes >= CACHE_FROM_BYTES;
    s->used = true;
    if (wanted && (!s->cache || s->cache_bits != t->cache_bits)) {
        tn_free(e->alloc, s->cache);
        s->cache = tn_malloc_aligned(e->alloc, sizeof(*s->cache) << t->cache_bits, 64);
        s->owned = false;
        if (!s->cache) return false;
        s->cache_bits = t->cache_bits;
        memset(s->cache, 0, sizeof(*s->cache) << s->cache_bits);
    }
    if (!s->chars_seen) s->chars_seen = tn_malloc(e->alloc, sizeof(*s->chars_seen) << TN_CHAR_CACHE_BITS);
    if (!s->chars_seen) return false;
    if (!tn_text_grow(e->alloc, &s->hashes, &s->hashes_cap, TN_CACHE_BYTES, sizeof(*s->hashes))) return false;
    if (!tn_text_grow(e->alloc, &s->word, &s->word_cap, 256, 1)) return false;
    if (s->owned && tn_digest_eq(&s->owner, &t->identity)) return true;
    if (s->cache) memset(s->cache, 0, sizeof(*s->cache) << s->cache_bits);
    memset(s->chars_seen, 0xFF, sizeof(*s->chars_seen) << TN_CHAR_CACHE_BITS);
    s->owner = t->identity;
    s->owned = true;
    return true;
}

/* ---- tokens --------------------------------------------------------------------------------------------------- */

/* U+0120 is how byte-level vocabularies write a blank. */
static bool is_blank(uint32_t c)
{
    return c == 0x120 || (tn_uc_flags(c) & TN_UC_WHITE);
}

static uint16_t saturate(size_t n)
{
    return n < TN_BLANKS_OF_TOKEN ? (uint16_t)n : TN_BLANKS_OF_TOKEN - 1;
}

/* Blanks that a text begins and ends with; all of them twice when it is nothing else. */
void tn_count_blanks(struct tn_str s, uint16_t out[2])
{
    size_t leading = 0, run = 0;
    bool only = true;
    uint32_t c = 0;
    for (size_t i = 0; i < s.n;) {
        i += tn_utf8_decode(s.s + i, s.n - i, &c);
        run = is_blank(c) ? run + 1 : 0;
        if (only && !is_blank(c)) only = false;
        leading += only;
    }
    out[0] = saturate(leading);
    out[1] = saturate(run);
}

enum tn_status tn_push_added(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                             uint32_t token, uint32_t begin, uint32_t end)
{
    if (!tn_tokens_reserve(s->alloc, list, 1)) return TN_INSUFFICIENT_MEMORY;
    size_t k = list->count++;
    list->ids[k] = t->added.at[token].id;
    if (list->want_offsets) {
        list->offsets[k][0] = begin;
        list->offsets[k][1] = end;
    }
    if (list->want_words) list->words[k] = list->word++;
    return TN_OK;
}

/* ---- the general path ----------------------------------------------------------------------------------------- */

/* The bytes of s->chars.at[begin, end) and what they stand for, into s->word and s->word_offsets. */
static bool spell(struct tn_text_scratch *s, size_t begin, size_t end, size_t *n)
{
    size_t room;
    if (!tn_mul(end - begin, 4, &room)) return false;
    if (!tn_text_grow(s->alloc, &s->word, &s->word_cap, room, 1)) return false;
    if (!tn_text_grow(s->alloc, &s->word_offsets, &s->word_offsets_cap, room, sizeof(*s->word_offsets))) return false;
    *n = 0;
    for (size_t i = begin; i < end; i++) {
        size_t length = tn_utf8_encode(s->chars.at[i].c, s->word + *n);
        for (size_t k = 0; k < length; k++) {
            s->word_offsets[*n + k][0] = s->chars.at[i].begin;
            s->word_offsets[*n + k][1] = s->chars.at[i].end;
        }
        *n += length;
    }
    return true;
}

static enum tn_status model_tokens(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                   struct tn_token_list *list, struct tn_split split)
{
    size_t n, first = list->count;
    if (!spell(s, split.begin, split.end, &n)) return TN_INSUFFICIENT_MEMORY;
    uint64_t hash = tn_vocab_hash(t->vocab.seed, s->word, n);
    enum tn_status status = t->kind->word(t, s, list, n, split.end - split.begin, hash, true, 0);
    if (status) return status;
    for (size_t k = first; list->want_blanks && k < list->count; k++) {
        if (list->blanks[k][0] == TN_BLANKS_OF_TOKEN) tn_count_blanks(tn_text_token(t, list->ids[k]), list->blanks[k]);
    }
    for (size_t k = first; list->want_words && k < list->count; k++) list->words[k] = list->word;
    list->word++;
    return TN_OK;
}

/* Cuts the normalized added tokens out of s->chars. */
static enum tn_status split_normalized(const struct tn_text_tokenizer *t, struct tn_text_scratch *s)
{
    const struct tn_chars *chars = &s->chars;
    size_t n, taken = 0, from = 0, at_byte = 0;
    struct tn_match match;
    if (!spell(s, 0, chars->count, &n)) return TN_INSUFFICIENT_MEMORY;
    /* Byte positions of matches become character positions; word_offsets is free until the next word. */
    for (uint32_t i = 0; i < chars->count; i++) {
        char bytes[4];
        size_t length = tn_utf8_encode(chars->at[i].c, bytes);
        for (size_t k = 0; k < length; k++) s->word_offsets[at_byte++][0] = i;
    }
    while (tn_trie_next(&t->added.normalized, s->word, n, from, &match)) {
        from = match.end;
        if (!tn_added_accept(t, s->word, n, taken, &match)) continue;
        uint32_t begin = s->word_offsets[match.begin][0];
        uint32_t end = match.end < n ? s->word_offsets[match.end][0] : (uint32_t)chars->count;
        if (taken < match.begin) {
            struct tn_split before = {s->word_offsets[taken][0], begin, TN_NO_TOKEN};
            if (!tn_splits_push(s->alloc, &s->splits, before)) {
                return TN_INSUFFICIENT_MEMORY;
            }
        }
        if (match.begin < match.end && !tn_splits_push(s->alloc, &s->splits, (struct tn_split){begin, end, match.token})) {
            return TN_INSUFFICIENT_MEMORY;
        }
        taken = match.end;
    }
    if (taken == n) return TN_OK;
    struct tn_split rest = {s->word_offsets[taken][0], (uint32_t)chars->count, TN_NO_TOKEN};
    return tn_splits_push(s->alloc, &s->splits, rest) ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static enum tn_status encode_general(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                     struct tn_token_list *list, const char *text, size_t begin, size_t end)
{
    if (!tn_chars_read(s, text, begin, end)) return TN_INSUFFICIENT_MEMORY;
    enum tn_status status = tn_normalize(t, s);
    if (status || s->chars.count == 0) return status;
    s->splits.count = 0;
    if (t->added.normalized.count) {
        status = split_normalized(t, s);
    } else {
        struct tn_split whole = {0, (uint32_t)s->chars.count, TN_NO_TOKEN};
        status = tn_splits_push(s->alloc, &s->splits, whole) ? TN_OK : TN_INSUFFICIENT_MEMORY;
    }
    if (!status) status = tn_pre_tokenize(t, s);
    for (size_t i = 0; i < s->splits.count && !status; i++) {
        struct tn_split split = s->splits.at[i];
        if (split.token == TN_NO_TOKEN) {
            status = model_tokens(t, s, list, split);
            continue;
        }
        size_t n;
        status = tn_push_added(t, s, list, split.token, s->chars.at[split.begin].begin, s->chars.at[split.end - 1].end);
        if (status || !list->want_blanks) continue;
        if (!spell(s, split.begin, split.end, &n)) return TN_INSUFFICIENT_MEMORY;
        tn_count_blanks((struct tn_str){s->word, n}, list->blanks[list->count - 1]);
    }
    return status;
}

/* ---- one sequence --------------------------------------------------------------------------------------------- */

static enum tn_status encode_between(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                     struct tn_token_list *list, const char *text, size_t begin, size_t end,
                                     bool general)
{
    if (begin >= end) return TN_OK;
    bool handled = false;
    general = general || list->want_words;
    if (t->fast_bytes.words && !general) {
        enum tn_status status = tn_fast_bytes_encode(t, s, list, text, begin, end, &handled);
        if (status || handled) return status;
    }
    if (t->fast.usable && !general && !list->want_blanks) {
        enum tn_status status = tn_fast_bert_encode(t, s, list, text, begin, end, &handled);
        if (status || handled) return status;
    }
    return encode_general(t, s, list, text, begin, end);
}

static enum tn_status encode_sequence(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                      struct tn_token_list *list, struct tn_str text, bool general)
{
    size_t taken = 0, from = 0;
    struct tn_match match;
    enum tn_status status = TN_OK;
    list->count = 0;
    while (!status && tn_trie_next(&t->added.raw, text.s, text.n, from, &match)) {
        from = match.end;
        if (!tn_added_accept(t, text.s, text.n, taken, &match)) continue;
        status = encode_between(t, s, list, text.s, taken, match.begin, general);
        taken = match.end;
        if (status || match.begin >= match.end) continue; /* an earlier match took its blanks: nothing is left of it */
        status = tn_push_added(t, s, list, match.token, (uint32_t)match.begin, (uint32_t)match.end);
        if (!status && list->want_blanks) {
            struct tn_str value = {text.s + match.begin, match.end - match.begin};
            tn_count_blanks(value, list->blanks[list->count - 1]);
        }
    }
    return status ? status : encode_between(t, s, list, text.s, taken, text.n, general);
}

static enum tn_status check_text(const struct tn_text_tokenizer *t, struct tn_str text, struct tn_error *err)
{
    if (text.n > t->limits.text_bytes || text.n >= UINT32_MAX / 2) {
        struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_REQUEST,
                                            "a text exceeds the limit text_bytes");
        tn_found(f, "%zu bytes", text.n);
        tn_expected(f, "at most %llu", (unsigned long long)t->limits.text_bytes);
        return TN_RESOURCE_LIMIT;
    }
    size_t valid = text.n ? tn_utf8_valid_prefix(text.s, text.n) : 0;
    if (valid == text.n) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "a text is not valid UTF-8");
    if (f) f->offset = (int64_t)valid;
    tn_found(f, "byte 0x%02X at offset %zu", (unsigned)(unsigned char)text.s[valid], valid);
    tn_expected(f, "UTF-8 without surrogates and overlong forms");
    tn_remedy(f, "convert the text to UTF-8");
    return TN_INVALID_REQUEST;
}

static enum tn_status encode_failed(const struct tn_text_tokenizer *t, enum tn_status status, struct tn_error *err)
{
    if (status == TN_INVALID_REQUEST) {
        struct tn_finding *f = tn_error_set(err, status, TN_PHASE_REQUEST,
                                            "a text has a character without a token, and there is no unknown token");
        tn_expected(f, "text of which the vocabulary has all characters");
        return status;
    }
    if (status != TN_RESOURCE_LIMIT) return tn_error_memory(err, TN_PHASE_REQUEST, "encoding a text");
    struct tn_finding *f = tn_error_set(err, status, TN_PHASE_REQUEST,
                                        "a text becomes too long: more than %d times by normalization, or too many tokens", GROWTH);
    tn_expected(f, "at most %llu tokens (limit tokens)", (unsigned long long)t->limits.tokens);
    return status;
}

enum tn_status tn_text_encode(const struct tn_text_tokenizer *t, struct tn_str text, struct tn_str pair,
                              const struct tn_text_options *options, struct tn_text_encoding *e,
                              struct tn_error *err)
{
    const struct tn_str texts[2] = {text, pair};
    e->count = e->total = e->window = 0;
    e->truncated = false;
    if (!prepare_scratch(t, e, text.n + (pair.s ? pair.n : 0))) return tn_error_memory(err, TN_PHASE_REQUEST, "encoding a text");
    for (int i = 0; i < (pair.s ? 2 : 1); i++) {
        struct tn_token_list *list = &e->scratch->sequences[i];
        list->want_offsets = options->want_offsets;
        list->want_blanks = options->want_offsets && t->post.trims;
        list->want_words = options->want_words;
        list->word = 0;
        list->cap = list->count = 0; /* the first reservation looks at every array that is wanted */
        enum tn_status status = check_text(t, texts[i], err);
        if (status) return status;
        status = encode_sequence(t, e->scratch, list, texts[i], options->general_path);
        if (status) return encode_failed(t, status, err);
    }
    return tn_text_window(t, text, pair, options, 0, e, err);
}

enum tn_status tn_text_window(const struct tn_text_tokenizer *t, struct tn_str text, struct tn_str pair,
                              const struct tn_text_options *options, size_t window, struct tn_text_encoding *e,
                              struct tn_error *err)
{
    const struct tn_str texts[2] = {text, pair};
    e->window = window;
    enum tn_status status = tn_post_process(t, texts, options, e, err);
    return status == TN_RESOURCE_LIMIT || status == TN_INSUFFICIENT_MEMORY ? encode_failed(t, status, err) : status;
}
