/*
 * Markers: beginnings of prompts that stand in a vocabulary as one token and that a tokenizer would take apart when they
 * come as text ("[unused0]" under a splitter of punctuation, "[Q] " under one that lower-cases). Older packages of several
 * vectors per text put the token's id in front; sentence-transformers 6.2 makes it a special token that no normaliser
 * touches, which gives the same ids, and so do we: the document of the tokenizer gets such entries and is built again.
 */
#include "base/json_write.h"
#include "session/session.h"

enum { MOST_MARKERS = 8 };

struct markers {
    struct tn_str token[MOST_MARKERS];
    uint32_t id[MOST_MARKERS];
    size_t count;
};

/* Without the blanks around it, its first word. */
static struct tn_str first_word(struct tn_str s)
{
    size_t begin = 0, end;
    while (begin < s.n && s.s[begin] == ' ') begin++;
    for (end = begin; end < s.n && s.s[end] != ' '; end++) {}
    return (struct tn_str){s.s + begin, end - begin};
}

static enum tn_status is_whole(const struct tn_text_tokenizer *t, struct tn_str token, uint32_t id, struct tn_text_encoding *e,
                               bool *whole, struct tn_error *err)
{
    struct tn_text_options options = {.no_special = true};
    enum tn_status st = tn_text_encode(t, token, (struct tn_str){NULL, 0}, &options, e, err);
    *whole = !st && e->count == 1 && e->ids[0] == id;
    return st;
}

/* The whole marker if the vocabulary has it, else its first word if it has that. */
static enum tn_status add_marker(const struct tn_text_tokenizer *t, struct tn_str marker, struct tn_text_encoding *e,
                                 struct markers *out, struct tn_error *err)
{
    const struct tn_str candidates[] = {marker, first_word(marker)};
    if (candidates[1].n == 0 || out->count == MOST_MARKERS) return TN_OK;
    for (size_t i = 0; i < 2; i++) {
        bool whole;
        uint32_t id;
        if (!tn_text_token_id(t, candidates[i], &id)) continue;
        enum tn_status st = is_whole(t, candidates[i], id, e, &whole, err);
        for (size_t k = 0; k < out->count; k++) whole |= out->id[k] == id;
        if (st || whole) return st;
        out->id[out->count] = id;
        out->token[out->count++] = candidates[i];
        return TN_OK;
    }
    return TN_OK;
}

static bool is_marker(const struct markers *m, struct tn_json entry)
{
    struct tn_str content;
    for (size_t i = 0; tn_json_str(tn_json_get(entry, "content"), &content) && i < m->count; i++)
        if (tn_str_eq(content, m->token[i])) return true;
    return false;
}

static void write_tokens(struct tn_json_writer *w, const struct markers *m, struct tn_json list)
{
    tn_jw_key(w, "added_tokens");
    tn_jw_begin_array(w);
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v))
        if (!is_marker(m, v)) tn_jw_raw(w, tn_json_text(v));
    for (size_t i = 0; i < m->count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "id", m->id[i]);
        tn_jw_member_str(w, "content", m->token[i]);
        tn_jw_member_bool(w, "single_word", false);
        tn_jw_member_bool(w, "lstrip", false);
        tn_jw_member_bool(w, "rstrip", false);
        tn_jw_member_bool(w, "normalized", false);
        tn_jw_member_bool(w, "special", true);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_document(struct tn_json_writer *w, const struct markers *m, struct tn_json root)
{
    bool written = false;
    tn_jw_begin_object(w);
    for (struct tn_json v = tn_json_first(root); tn_json_present(v); v = tn_json_next(v)) {
        if (tn_str_is(tn_json_key(v), "added_tokens")) {
            write_tokens(w, m, v);
            written = true;
        } else {
            tn_jw_key_str(w, tn_json_key(v));
            tn_jw_raw(w, tn_json_text(v));
        }
    }
    if (!written) write_tokens(w, m, (struct tn_json){NULL, 0});
    tn_jw_end_object(w);
}

static enum tn_status build_again(const struct tn_context *ctx, const struct markers *m, struct tn_json root,
                                  struct tn_text_tokenizer **t, struct tn_error *err)
{
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_json_doc doc = {0};
    struct tn_text_tokenizer *again = NULL;
    tn_buf_init(&text, ctx->alloc, (size_t)ctx->limits.json_bytes);
    tn_jw_init(&w, &text, false);
    write_document(&w, m, root);
    enum tn_status st = tn_buf_status(&text) ? tn_error_memory(err, TN_PHASE_LOAD, "building the tokenizer") : TN_OK;
    if (!st) st = tn_json_parse(&doc, ctx->alloc, &ctx->limits, root.doc->file, tn_buf_str(&text), err);
    if (!st) st = tn_text_tokenizer_from_json(ctx, tn_json_root(&doc), &again, err);
    if (!st) {
        tn_text_tokenizer_free(*t);
        *t = again;
    }
    tn_json_release(&doc);
    tn_buf_release(&text);
    return st;
}

enum tn_status tn_tokenizer_keep_markers(const struct tn_context *ctx, const struct tn_multi_vector *m, struct tn_json root,
                                         struct tn_text_tokenizer **t, struct tn_error *err)
{
    struct markers found = {.count = 0};
    struct tn_text_encoding e;
    enum tn_status st = TN_OK;
    tn_text_encoding_init(&e, ctx->alloc);
    for (uint32_t i = 0; !st && i < m->marker_count; i++) st = add_marker(*t, m->markers[i], &e, &found, err);
    tn_text_encoding_release(&e);
    if (!st && found.count) st = build_again(ctx, &found, root, t, err);
    if (st) {
        tn_text_tokenizer_free(*t);
        *t = NULL;
    }
    return st;
}
