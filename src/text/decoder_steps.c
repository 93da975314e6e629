/*
 * The steps of a decoder. Each reads a list of texts and writes another; the texts of a list lie one after the other in a
 * buffer, `ends` says where. All texts are valid UTF-8 before and after each step.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

/* ---- the list ------------------------------------------------------------------------------------------------- */

void tn_decoded_init(struct tn_decoded *d, struct tn_alloc *alloc, size_t max)
{
    *d = (struct tn_decoded){.alloc = alloc, .scratch = {.alloc = alloc}};
    tn_buf_init(&d->text, alloc, max);
    tn_buf_init(&d->next, alloc, max);
}

void tn_decoded_release(struct tn_decoded *d)
{
    tn_buf_release(&d->text);
    tn_buf_release(&d->next);
    tn_free(d->alloc, d->ends);
    tn_free(d->alloc, d->next_ends);
    tn_text_scratch_release(&d->scratch);
}

enum tn_status tn_decoded_status(const struct tn_decoded *d)
{
    return d->failed ? d->failed : tn_buf_status(&d->text) ? tn_buf_status(&d->text) : tn_buf_status(&d->next);
}

/* Ends the text that was appended to d->next. */
static void end_text(struct tn_decoded *d)
{
    if (!tn_text_grow(d->alloc, &d->next_ends, &d->next_ends_cap, d->next_count + 1, sizeof(*d->next_ends))) {
        d->failed = TN_INSUFFICIENT_MEMORY;
        return;
    }
    d->next_ends[d->next_count++] = d->next.len;
}

static void put(struct tn_decoded *d, struct tn_str s)
{
    tn_buf_append(&d->next, s.s, s.n);
}

static void finish(struct tn_decoded *d)
{
    struct tn_buf text = d->text;
    size_t *ends = d->ends, cap = d->ends_cap;
    d->text = d->next;
    d->ends = d->next_ends;
    d->ends_cap = d->next_ends_cap;
    d->count = d->next_count;
    d->next = text;
    d->next_ends = ends;
    d->next_ends_cap = cap;
    d->next_count = 0;
    tn_buf_clear(&d->next);
}

void tn_decoded_add(struct tn_decoded *d, struct tn_str s)
{
    if (!tn_text_grow(d->alloc, &d->ends, &d->ends_cap, d->count + 1, sizeof(*d->ends))) {
        d->failed = TN_INSUFFICIENT_MEMORY;
        return;
    }
    tn_buf_append(&d->text, s.s, s.n);
    d->ends[d->count++] = d->text.len;
}

static struct tn_str text_at(const struct tn_decoded *d, size_t i)
{
    size_t begin = i ? d->ends[i - 1] : 0;
    return (struct tn_str){d->text.data ? d->text.data + begin : "", d->ends[i] - begin};
}

/* ---- replacing ------------------------------------------------------------------------------------------------ */

/* Appends s with every `from` (not empty) replaced. */
static void put_replaced(struct tn_buf *out, struct tn_str s, struct tn_str from, struct tn_str to)
{
    for (size_t i = 0; i < s.n;) {
        if (s.n - i >= from.n && memcmp(s.s + i, from.s, from.n) == 0) {
            tn_buf_append(out, to.s, to.n);
            i += from.n;
        } else {
            tn_buf_putc(out, s.s[i++]);
        }
    }
}

/* Replaces every `from` in b[start, len) by the shorter or equal `to`. */
static void shorten(struct tn_buf *b, size_t start, const char *from, const char *to)
{
    size_t n = strlen(from), m = strlen(to), out = start;
    for (size_t i = start; i < b->len;) {
        if (b->len - i >= n && memcmp(b->data + i, from, n) == 0) {
            memcpy(b->data + out, to, m);
            out += m;
            i += n;
        } else {
            b->data[out++] = b->data[i++];
        }
    }
    b->len = out;
    b->data[out] = 0;
}

static const char *const clean_rules[][2] = {
    {" .", "."},     {" ?", "?"},     {" !", "!"},           {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
    {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},   {" 've", "'ve"}, {" 're", "'re"},
};
enum { CLEAN_RULES = sizeof(clean_rules) / sizeof(clean_rules[0]), OF_DECODERS_ALONE = 7 };

/* The clean-up of the WordPiece and CTC decoders, applied to each token with its leading blank, in this order. */
static void clean_up(struct tn_buf *b, size_t start)
{
    if (tn_buf_status(b) || b->len == start) return;
    for (size_t i = 0; i < CLEAN_RULES; i++) shorten(b, start, clean_rules[i][0], clean_rules[i][1]);
}

void tn_text_clean_up(struct tn_buf *b, size_t start)
{
    if (tn_buf_status(b) || b->len == start) return;
    for (size_t i = 0; i < CLEAN_RULES; i++)
        if (i != OF_DECODERS_ALONE) shorten(b, start, clean_rules[i][0], clean_rules[i][1]);
}

/* ---- the steps ------------------------------------------------------------------------------------------------ */

static void word_piece(const struct tn_decoder_step *step, struct tn_decoded *d)
{
    for (size_t i = 0; i < d->count && !tn_decoded_status(d); i++) {
        struct tn_str s = text_at(d, i);
        size_t start = d->next.len;
        if (i > 0 && s.n >= step->text.n && memcmp(s.s, step->text.s, step->text.n) == 0) {
            s = (struct tn_str){s.s + step->text.n, s.n - step->text.n};
        } else if (i > 0) {
            tn_buf_putc(&d->next, ' ');
        }
        put(d, s);
        if (step->cleanup) clean_up(&d->next, start);
        end_text(d);
    }
}

static void metaspace(const struct tn_decoder_step *step, struct tn_decoded *d)
{
    uint32_t c = 0;
    for (size_t i = 0; i < d->count && !tn_decoded_status(d); i++) {
        struct tn_str s = text_at(d, i);
        for (size_t at = 0, n; at < s.n; at += n) {
            n = tn_utf8_decode(s.s + at, s.n - at, &c);
            if (c != step->c) {
                tn_buf_append(&d->next, s.s + at, n);
            } else if (i > 0 || !step->drop_first) {
                tn_buf_putc(&d->next, ' ');
            }
        }
        end_text(d);
    }
}

static void bpe_decoder(const struct tn_decoder_step *step, struct tn_decoded *d)
{
    for (size_t i = 0; i < d->count && !tn_decoded_status(d); i++) {
        put_replaced(&d->next, text_at(d, i), step->text, i + 1 == d->count ? TN_STR("") : TN_STR(" "));
        end_text(d);
    }
}

static void fuse(struct tn_decoded *d)
{
    put(d, (struct tn_str){d->text.data ? d->text.data : "", d->text.len});
    end_text(d);
}

/* Bytes of s that are cut at its beginning: at most `most` of the step's character. */
static size_t cut_front(struct tn_str s, uint32_t c, uint64_t most)
{
    uint32_t found = 0;
    size_t at = 0;
    for (uint64_t i = 0; i < most && at < s.n; i++) {
        size_t n = tn_utf8_decode(s.s + at, s.n - at, &found);
        if (found != c) break;
        at += n;
    }
    return at;
}

static size_t cut_back(struct tn_str s, uint32_t c, uint64_t most)
{
    uint32_t found = 0;
    size_t end = s.n;
    for (uint64_t i = 0; i < most && end > 0; i++) {
        size_t at = end - 1;
        while (at > 0 && ((unsigned char)s.s[at] & 0xC0) == 0x80) at--;
        tn_utf8_decode(s.s + at, end - at, &found);
        if (found != c) break;
        end = at;
    }
    return s.n - end;
}

/* Where both cuts meet, the library panics; here nothing is left. */
static void strip(const struct tn_decoder_step *step, struct tn_decoded *d)
{
    for (size_t i = 0; i < d->count && !tn_decoded_status(d); i++) {
        struct tn_str s = text_at(d, i);
        size_t front = cut_front(s, step->c, step->start), back = cut_back(s, step->c, step->stop);
        if (front + back < s.n) put(d, (struct tn_str){s.s + front, s.n - front - back});
        end_text(d);
    }
}

static void replace_one(const struct tn_decoder_step *step, struct tn_decoded *d, struct tn_str s)
{
    struct tn_pattern_search search;
    size_t begin = 0, end = 0, from = 0;
    bool found = true;
    if (!tn_chars_read(&d->scratch, s.s, 0, s.n)) {
        d->failed = TN_INSUFFICIENT_MEMORY;
        return;
    }
    const struct tn_chars *chars = &d->scratch.chars;
    tn_pattern_begin(&search, &d->scratch, &step->pattern, chars->at, chars->count);
    while (!d->failed) {
        d->failed = tn_pattern_next(&search, &begin, &end, &found);
        size_t stop = found && begin < chars->count ? chars->at[begin].begin : s.n;
        if (d->failed) return;
        put(d, (struct tn_str){s.s + from, stop - from});
        if (!found) return;
        put(d, step->text);
        from = end < chars->count ? chars->at[end].begin : s.n;
    }
}

static void replace(const struct tn_decoder_step *step, struct tn_decoded *d)
{
    for (size_t i = 0; i < d->count && !tn_decoded_status(d); i++) {
        replace_one(step, d, text_at(d, i));
        end_text(d);
    }
}

/* Repeated tokens count once, the padding token vanishes. */
static void ctc(const struct tn_decoder_step *step, struct tn_decoded *d)
{
    struct tn_buf cleaned;
    tn_buf_init(&cleaned, d->alloc, d->next.max);
    for (size_t i = 0; i < d->count && !tn_decoded_status(d); i++) {
        struct tn_str s = text_at(d, i);
        size_t start = d->next.len;
        if (i > 0 && tn_str_eq(s, text_at(d, i - 1))) continue;
        tn_buf_clear(&cleaned);
        put_replaced(&cleaned, s, step->text, TN_STR(""));
        if (step->cleanup) clean_up(&cleaned, 0);
        if (tn_buf_status(&cleaned)) d->failed = tn_buf_status(&cleaned);
        struct tn_str text = tn_buf_str(&cleaned);
        if (step->cleanup) {
            put_replaced(&d->next, text, step->delimiter, TN_STR(" "));
        } else {
            put(d, text);
        }
        if (d->next.len > start) end_text(d);
    }
    tn_buf_release(&cleaned);
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

/* U+FFFD for each maximal part of a character, as Unicode recommends (section 3.9) and the library does. */
static void put_lossy(struct tn_buf *out, struct tn_str s)
{
    while (s.n) {
        size_t valid = tn_utf8_valid_prefix(s.s, s.n);
        tn_buf_append(out, s.s, valid);
        s = (struct tn_str){s.s + valid, s.n - valid};
        if (s.n == 0) return;
        const unsigned char *p = (const unsigned char *)s.s;
        size_t length = p[0] < 0xC2 || p[0] > 0xF4 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4, bad = 1;
        unsigned low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
        unsigned high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
        while (bad < length && bad < s.n && p[bad] >= low && p[bad] <= high) {
            bad++;
            low = 0x80;
            high = 0xBF;
        }
        tn_buf_puts(out, "\xEF\xBF\xBD");
        s = (struct tn_str){s.s + bad, s.n - bad};
    }
}

/* The bytes that a token's characters stand for; a token with any other character is taken as it is. */
static void put_bytes(struct tn_buf *out, struct tn_str s)
{
    size_t start = out->len;
    uint32_t c = 0;
    for (size_t at = 0; at < s.n;) {
        at += tn_utf8_decode(s.s + at, s.n - at, &c);
        int byte = tn_char_byte(c);
        if (byte < 0) {
            out->len = start;
            tn_buf_append(out, s.s, s.n);
            return;
        }
        tn_buf_putc(out, (char)byte);
    }
}

static void byte_level(struct tn_decoded *d)
{
    struct tn_buf bytes;
    tn_buf_init(&bytes, d->alloc, d->next.max);
    for (size_t i = 0; i < d->count; i++) put_bytes(&bytes, text_at(d, i));
    if (tn_buf_status(&bytes)) d->failed = tn_buf_status(&bytes);
    if (!d->failed) put_lossy(&d->next, tn_buf_str(&bytes));
    end_text(d);
    tn_buf_release(&bytes);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* <0xHH>; a sign before one digit also passes, as the library parses numbers. -1: another text. */
static int fallback_byte(struct tn_str s)
{
    if (s.n != 6 || memcmp(s.s, "<0x", 3) != 0 || s.s[5] != '>') return -1;
    int high = s.s[3] == '+' ? 0 : hex_value(s.s[3]), low = hex_value(s.s[4]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* A run of byte tokens is one text when it is UTF-8, else a sign per byte. */
static void end_run(struct tn_decoded *d, struct tn_buf *run)
{
    if (tn_buf_status(run)) d->failed = tn_buf_status(run);
    if (run->len == 0 || d->failed) return;
    if (tn_utf8_valid_prefix(run->data, run->len) == run->len) {
        put(d, tn_buf_str(run));
        end_text(d);
    } else {
        for (size_t i = 0; i < run->len; i++) {
            tn_buf_puts(&d->next, "\xEF\xBF\xBD");
            end_text(d);
        }
    }
    tn_buf_clear(run);
}

static void byte_fallback(struct tn_decoded *d)
{
    struct tn_buf run;
    tn_buf_init(&run, d->alloc, d->next.max);
    for (size_t i = 0; i < d->count && !tn_decoded_status(d); i++) {
        int byte = fallback_byte(text_at(d, i));
        if (byte >= 0) {
            tn_buf_putc(&run, (char)byte);
            continue;
        }
        end_run(d, &run);
        put(d, text_at(d, i));
        end_text(d);
    }
    end_run(d, &run);
    tn_buf_release(&run);
}

enum tn_status tn_decoder_run(const struct tn_decoder_step *step, struct tn_decoded *d)
{
    switch (step->kind) {
    case TN_DEC_BYTE_LEVEL: byte_level(d); break;
    case TN_DEC_WORDPIECE: word_piece(step, d); break;
    case TN_DEC_METASPACE: metaspace(step, d); break;
    case TN_DEC_BPE: bpe_decoder(step, d); break;
    case TN_DEC_BYTE_FALLBACK: byte_fallback(d); break;
    case TN_DEC_FUSE: fuse(d); break;
    case TN_DEC_STRIP: strip(step, d); break;
    case TN_DEC_REPLACE: replace(step, d); break;
    case TN_DEC_CTC: ctc(step, d); break;
    }
    enum tn_status status = tn_decoded_status(d);
    if (!status) finish(d);
    return status;
}
