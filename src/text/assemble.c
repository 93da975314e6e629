/*
 * The last stage of encoding: truncates the sequences as the library does and writes the result by the
 * post-processor's program.
 */
#include "text/internal.h"

#include "base/checked.h"
#include "base/utf8.h"

#include <string.h>

/* ---- truncation ----------------------------------------------------------------------------------------------- */

/* The tokens of a sequence that are kept: list[begin, begin + count). */
struct kept {
    size_t begin, count;
};

/* Windows over a sequence of `total` tokens: `length` each, every one `step` further than the one before. */
struct windows {
    size_t total, length, step;
};

static size_t count_windows(struct windows w)
{
    return w.length >= w.total ? 1 : 1 + (w.total - w.length + w.step - 1) / w.step;
}

/* Where the library's Encoding.truncate begins and ends its parts: from the left, or from the right end of the text. */
static struct kept window_at(struct windows w, size_t k, bool left)
{
    size_t from = k * w.step, rest = w.total - from, length = rest < w.length ? rest : w.length;
    return (struct kept){left ? rest - length : from, length};
}

/* Lengths for longest_first: the shorter sequence is spared until both are half. */
static void share(uint64_t max, size_t *a, size_t *b)
{
    size_t low = *a < *b ? *a : *b, high;
    high = low > max ? low : (low > max - low ? low : (size_t)(max - low));
    if (low + high > max) {
        low = (size_t)(max / 2);
        high = low + (size_t)(max % 2);
    }
    bool swapped = *a > *b;
    size_t first = swapped ? high : low, second = swapped ? low : high;
    if (first < *a) *a = first;
    if (second < *b) *b = second;
}

static enum tn_status too_short(struct tn_error *err, const char *which, uint64_t max)
{
    struct tn_finding *f = tn_error_set(err, TN_INPUT_TOO_LONG, TN_PHASE_REQUEST,
                                        "the %s text cannot be truncated enough", which);
    tn_expected(f, "at most %llu tokens, special tokens left out", (unsigned long long)max);
    tn_remedy(f, "shorten the other text, or truncate the longest first");
    return TN_INPUT_TOO_LONG;
}

static enum tn_status no_advance(struct tn_error *err, size_t length, size_t stride)
{
    struct tn_finding *f = tn_error_set(err, TN_INPUT_TOO_LONG, TN_PHASE_REQUEST,
                                        "windows over the longer text would never get further: the other one is too long");
    tn_found(f, "room for %zu tokens of a text in a window, of which %zu are those of the window before", length, stride);
    tn_expected(f, "room for more than %zu", stride);
    tn_remedy(f, "shorten the other text, or let windows overlap less");
    return TN_INPUT_TOO_LONG;
}

static enum tn_status no_room(struct tn_error *err, uint64_t max, uint64_t reserved)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                        "max_tokens leaves no room for the special tokens");
    tn_at_option(f, "max_tokens");
    tn_found(f, "%llu", (unsigned long long)max);
    tn_expected(f, "at least %llu, the special tokens of the post-processor", (unsigned long long)reserved);
    return TN_INVALID_REQUEST;
}

/* Shortens the lengths to `max` tokens of text together. */
static enum tn_status plan_lengths(int strategy, uint64_t max, bool pair, size_t lengths[2], struct tn_error *err)
{
    uint64_t total = (uint64_t)lengths[0] + lengths[1];
    if (max == 0) {
        lengths[0] = lengths[1] = 0;
        return TN_OK;
    }
    if (total <= max) return TN_OK;
    uint64_t remove = total - max;
    if (strategy == TN_LONGEST_FIRST) {
        if (pair) {
            share(max, &lengths[0], &lengths[1]);
        } else {
            lengths[0] = (size_t)max;
        }
        return TN_OK;
    }
    int target = strategy == TN_ONLY_SECOND;
    if (target && !pair) return too_short(err, "second", max);
    if (lengths[target] <= remove) return too_short(err, target ? "second" : "first", max);
    lengths[target] -= (size_t)remove;
    return TN_OK;
}

static enum tn_status truncate_sequences(const struct tn_text_tokenizer *t, bool pair,
                                         const struct tn_text_options *o, const struct tn_token_list lists[2],
                                         size_t window, struct kept kept[2], size_t *windows, struct tn_error *err)
{
    uint64_t max = o->max_tokens, reserved = o->no_special ? 0 : t->post.added[pair];
    bool left = o->truncate_right_set ? o->truncate_left : t->truncation.present && t->truncation.left;
    int strategy = o->strategy ? (int)o->strategy - 1 : t->truncation.present ? t->truncation.strategy
                                                                              : TN_LONGEST_FIRST;
    if (max < reserved) return no_room(err, max, reserved);
    size_t lengths[2] = {lists[0].count, pair ? lists[1].count : 0};
    enum tn_status status = plan_lengths(strategy, max - reserved, pair, lengths, err);
    for (int i = 0; i < 2; i++) {
        kept[i] = (struct kept){left ? lists[i].count - lengths[i] : 0, lengths[i]};
    }
    int longer = strategy == TN_ONLY_SECOND;
    if (status || !o->windows || lengths[longer] >= lists[longer].count) return status;
    if (lengths[longer] <= o->stride) return no_advance(err, lengths[longer], o->stride);
    struct windows w = {lists[longer].count, lengths[longer], lengths[longer] - o->stride};
    *windows = count_windows(w);
    kept[longer] = window_at(w, window < *windows ? window : *windows - 1, left);
    return TN_OK;
}

/* ---- writing the result --------------------------------------------------------------------------------------- */

static size_t program_tokens(const struct tn_post_program *program, const size_t counts[2])
{
    size_t total = 0;
    for (size_t i = 0; i < program->count; i++) total += program->ops[i].is_token ? 1 : counts[program->ops[i].sequence];
    return total;
}

static bool reserve_output(struct tn_text_encoding *e, size_t n, bool offsets, bool words)
{
    struct tn_text_scratch *s = e->scratch;
    if (!tn_text_grow(e->alloc, &e->ids, &s->output_cap[0], n, sizeof(*e->ids))) return false;
    if (!tn_text_grow(e->alloc, &e->type_ids, &s->output_cap[1], n, sizeof(*e->type_ids))) return false;
    if (!tn_text_grow(e->alloc, &e->special_mask, &s->output_cap[2], n, sizeof(*e->special_mask))) return false;
    if (offsets && !tn_text_grow(e->alloc, &s->output_offsets, &s->output_offsets_cap, n, sizeof(*s->output_offsets))) return false;
    if (words && !tn_text_grow(e->alloc, &s->output_words, &s->output_words_cap, n, sizeof(*s->output_words))) return false;
    e->offsets = offsets ? s->output_offsets : NULL;
    e->words = words ? s->output_words : NULL;
    return true;
}

/* `count` characters further in the original text; stays at `end`. */
static uint32_t forward(const char *text, uint32_t at, uint32_t end, unsigned count)
{
    for (; count && at < end; count--) {
        for (at++; at < end && ((unsigned char)text[at] & 0xC0) == 0x80; at++) continue;
    }
    return at;
}

/* `count` characters back; false when the text has fewer. */
static bool backward(const char *text, uint32_t *at, unsigned count)
{
    uint32_t to = *at;
    for (; count && to > 0; count--) {
        for (to--; to > 0 && ((unsigned char)text[to] & 0xC0) == 0x80; to--) continue;
    }
    *at = to;
    return count == 0;
}

/*
 * RobertaProcessing's trim_offsets: blanks at the ends of a token's text do not count, except one leading blank of the
 * first token (of what truncation kept), which add_prefix_space may have put there. Trailing blanks that would reach
 * before the text are left alone.
 */
static void trim(const struct tn_post_op *op, const uint16_t blanks[2], const char *text, bool first,
                 uint32_t offsets[2])
{
    unsigned leading = blanks[0];
    uint32_t end = offsets[1];
    if (leading == 1 && (first || offsets[0] == 0) && op->trim_prefix_space) leading = 0;
    offsets[0] = forward(text, offsets[0], offsets[1], leading);
    if (backward(text, &end, blanks[1])) offsets[1] = end > offsets[0] ? end : offsets[0];
}

static void write_sequence(const struct tn_post_op *op, const struct tn_token_list *list, struct kept kept,
                           const char *text, struct tn_text_encoding *e)
{
    size_t at = e->count;
    if (kept.count == 0) return;
    e->parts[op->sequence] = (struct tn_text_part){at, kept.count};
    if (e->words) memcpy(e->words + at, list->words + kept.begin, kept.count * sizeof(*e->words));
    memcpy(e->ids + at, list->ids + kept.begin, kept.count * sizeof(*e->ids));
    for (size_t i = 0; i < kept.count; i++) e->type_ids[at + i] = op->type_id;
    for (size_t i = 0; i < kept.count; i++) e->special_mask[at + i] = op->special;
    if (e->offsets) {
        memcpy(e->offsets + at, list->offsets + kept.begin, kept.count * sizeof(*e->offsets));
        for (size_t i = 0; op->trim && i < kept.count; i++) {
            trim(op, list->blanks[kept.begin + i], text, op->first && i == 0, e->offsets[at + i]);
        }
    }
    e->count += kept.count;
}

static void write_token(const struct tn_post_op *op, struct tn_text_encoding *e)
{
    size_t at = e->count++;
    e->ids[at] = op->id;
    e->type_ids[at] = op->type_id;
    e->special_mask[at] = op->special;
    if (e->offsets) e->offsets[at][0] = e->offsets[at][1] = 0;
    if (e->words) e->words[at] = TN_TEXT_NO_WORD;
}

enum tn_status tn_post_process(const struct tn_text_tokenizer *t, const struct tn_str texts[2],
                               const struct tn_text_options *o, struct tn_text_encoding *e, struct tn_error *err)
{
    bool pair = texts[1].s != NULL;
    const struct tn_post_program *program = &t->post.programs[pair][!o->no_special];
    const struct tn_token_list *lists = e->scratch->sequences;
    size_t counts[2] = {lists[0].count, pair ? lists[1].count : 0};
    struct kept kept[2] = {{0, counts[0]}, {0, counts[1]}};
    e->total = program_tokens(program, counts);
    e->truncated = false;
    e->windows = 1;
    memset(e->parts, 0, sizeof(e->parts));
    if (e->total > t->limits.tokens) return TN_RESOURCE_LIMIT;
    if (o->max_tokens) {
        enum tn_status status = truncate_sequences(t, pair, o, lists, e->window, kept, &e->windows, err);
        if (status) return status;
        e->truncated = e->windows == 1 && (kept[0].count < counts[0] || kept[1].count < counts[1]);
        counts[0] = kept[0].count;
        counts[1] = kept[1].count;
    }
    e->count = 0;
    if (!reserve_output(e, program_tokens(program, counts), o->want_offsets, o->want_words)) return TN_INSUFFICIENT_MEMORY;
    for (size_t i = 0; i < program->count; i++) {
        const struct tn_post_op *op = &program->ops[i];
        if (op->is_token) {
            write_token(op, e);
        } else {
            write_sequence(op, &lists[op->sequence], kept[op->sequence], texts[op->sequence].s, e);
        }
    }
    return TN_OK;
}
