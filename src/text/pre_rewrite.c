/*
 * Pre-tokenizers that also change the characters of a piece: ByteLevel (a blank in front, words by its expression, bytes
 * as characters) and Metaspace (blanks become a visible sign, one in front). A character that is put in front shares the
 * alignment of the first one, the bytes of a character share its own.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

/* ---- loading -------------------------------------------------------------------------------------------------- */

enum tn_status tn_pre_byte_level_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    const bool yes = true;
    bool trim;
    struct tn_regex *regex;
    const char *why;
    size_t at;
    enum tn_status status = tn_load_members(ld, stage, "pre-tokenizer ByteLevel",
                                            "type add_prefix_space trim_offsets use_regex");
    if (!status) status = tn_load_bool(ld, stage, "add_prefix_space", NULL, &out->add_prefix_space);
    if (!status) status = tn_load_bool(ld, stage, "trim_offsets", NULL, &trim);
    if (!status) status = tn_load_bool(ld, stage, "use_regex", &yes, &out->use_regex);
    if (status || !out->use_regex) return status;
    if (tn_regex_compile(&ld->t->arena, TN_STR(TN_GPT2_PATTERN), &regex, &why, &at)) return tn_load_memory(ld);
    out->pattern.regex = regex;
    out->pattern.text = TN_STR(TN_GPT2_PATTERN);
    return TN_OK;
}

static enum tn_status load_scheme(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    const int always = TN_PREPEND_ALWAYS;
    int scheme = always;
    bool prefix = true;
    struct tn_json old = tn_json_get(stage, "add_prefix_space");
    enum tn_status status = tn_load_choice(ld, stage, "prepend_scheme", "first never always", &always, &scheme);
    if (!status && old.doc && !tn_json_is(old, TN_JSON_NULL)) {
        status = tn_load_bool(ld, stage, "add_prefix_space", NULL, &prefix);
    }
    if (status) return status;
    out->prepend = (enum tn_prepend_scheme)scheme;
    if (prefix || out->prepend == TN_PREPEND_NEVER) return TN_OK;
    return tn_load_malformed(ld, stage, "add_prefix_space", "true, or false together with prepend_scheme \"never\"");
}

/* One character. */
static enum tn_status load_replacement(struct tn_text_loader *ld, struct tn_json stage, uint32_t *out)
{
    struct tn_str s;
    enum tn_status status = tn_load_str(ld, stage, "replacement", &s);
    if (status) return status;
    if (s.n == 0 || tn_utf8_decode(s.s, s.n, out) != s.n) {
        return tn_load_malformed(ld, stage, "replacement", "exactly one character");
    }
    return TN_OK;
}

enum tn_status tn_pre_metaspace_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    struct tn_json split = tn_json_get(stage, "split");
    enum tn_status status = tn_load_members(ld, stage, "Metaspace",
                                            "type replacement prepend_scheme split add_prefix_space str_rep");
    out->split = true;
    if (!status) status = load_replacement(ld, stage, &out->replacement);
    if (!status) status = load_scheme(ld, stage, out);
    if (!status && split.doc && !tn_json_is(split, TN_JSON_NULL)) status = tn_load_bool(ld, stage, "split", NULL, &out->split);
    if (status) return status;
    out->pattern.literal = tn_arena_array(&ld->t->arena, 1, sizeof(*out->pattern.literal));
    if (!out->pattern.literal) return tn_load_memory(ld);
    out->pattern.literal[0] = out->replacement;
    out->pattern.length = 1;
    return TN_OK;
}

/* ---- rewriting ------------------------------------------------------------------------------------------------ */

/* Writes pieces of s->chars anew into s->spare; finish() makes them the text. */
struct rewriting {
    struct tn_text_scratch *s;
    enum tn_status failed;
};

static void begin_rewriting(struct rewriting *r, struct tn_text_scratch *s)
{
    *r = (struct rewriting){.s = s};
    s->spare.count = s->next.count = 0;
}

static void put(struct rewriting *r, uint32_t c, const struct tn_char *like)
{
    struct tn_chars *out = &r->s->spare;
    if (r->failed) return;
    if (out->count == out->cap && !tn_chars_reserve(r->s->alloc, out, out->count + 1)) {
        r->failed = TN_INSUFFICIENT_MEMORY;
        return;
    }
    out->at[out->count++] = (struct tn_char){c, like->begin, like->end};
}

static void end_piece(struct rewriting *r, size_t first, uint32_t token)
{
    struct tn_split piece = {(uint32_t)first, (uint32_t)r->s->spare.count, token};
    if (!r->failed && !tn_splits_push(r->s->alloc, &r->s->next, piece)) r->failed = TN_INSUFFICIENT_MEMORY;
}

static enum tn_status finish(struct rewriting *r)
{
    struct tn_text_scratch *s = r->s;
    if (!r->failed && (s->spare.count > s->most_chars || s->spare.count >= UINT32_MAX)) r->failed = TN_RESOURCE_LIMIT;
    if (r->failed) return r->failed;
    struct tn_chars chars = s->chars;
    s->chars = s->spare;
    s->spare = chars;
    struct tn_splits splits = s->splits;
    s->splits = s->next;
    s->next = splits;
    return TN_OK;
}

/* A character before each piece that does not begin with it; Metaspace's scheme "first" asks for the text's beginning. */
static enum tn_status prepend(struct tn_text_scratch *s, uint32_t c, bool first_only)
{
    struct rewriting r;
    begin_rewriting(&r, s);
    for (size_t i = 0; i < s->splits.count; i++) {
        struct tn_split piece = s->splits.at[i];
        const struct tn_char *from = s->chars.at + piece.begin;
        size_t start = s->spare.count;
        if (piece.token == TN_NO_TOKEN && from->c != c && !(first_only && from->begin != 0)) put(&r, c, from);
        for (uint32_t k = piece.begin; k < piece.end; k++) put(&r, s->chars.at[k].c, &s->chars.at[k]);
        end_piece(&r, start, piece.token);
    }
    return finish(&r);
}

static enum tn_status bytes_as_chars(struct tn_text_scratch *s)
{
    struct rewriting r;
    char bytes[4];
    begin_rewriting(&r, s);
    for (size_t i = 0; i < s->splits.count; i++) {
        struct tn_split piece = s->splits.at[i];
        size_t start = s->spare.count;
        for (uint32_t k = piece.begin; k < piece.end; k++) {
            const struct tn_char *from = &s->chars.at[k];
            size_t n = tn_utf8_encode(from->c, bytes);
            if (piece.token != TN_NO_TOKEN) {
                put(&r, from->c, from);
                continue;
            }
            for (size_t b = 0; b < n; b++) put(&r, tn_byte_char((unsigned char)bytes[b]), from);
        }
        end_piece(&r, start, piece.token);
    }
    return finish(&r);
}

enum tn_status tn_pre_byte_level(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step)
{
    enum tn_status status = step->add_prefix_space ? prepend(s, ' ', false) : TN_OK;
    if (!status && step->use_regex) status = tn_pre_split(s, step);
    return status ? status : bytes_as_chars(s);
}

enum tn_status tn_pre_metaspace(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step)
{
    enum tn_status status = TN_OK;
    for (size_t i = 0; i < s->splits.count; i++) {
        struct tn_split piece = s->splits.at[i];
        for (uint32_t k = piece.begin; piece.token == TN_NO_TOKEN && k < piece.end; k++) {
            if (s->chars.at[k].c == ' ') s->chars.at[k].c = step->replacement;
        }
    }
    if (step->prepend != TN_PREPEND_NEVER) status = prepend(s, step->replacement, step->prepend == TN_PREPEND_FIRST);
    return status || !step->split ? status : tn_pre_split(s, step);
}
