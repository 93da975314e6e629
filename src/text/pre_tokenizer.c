/*
 * Pre-tokenizers: a flat list of steps, each of which splits every piece that is not a token yet. A step is a pattern
 * (which spans match) and a behavior (what becomes of the matches), as in the library.
 */
#include "text/internal.h"
#include "text/unicode_segments.h"

/* ---- loading -------------------------------------------------------------------------------------------------- */

static const char known_types[] = "BertPreTokenizer ByteLevel Metaspace Whitespace WhitespaceSplit Punctuation Digits "
                                  "CharDelimiterSplit Split FixedLength UnicodeScripts Sequence";
static const char behaviors[] = "Removed Isolated MergedWithPrevious MergedWithNext Contiguous";
enum { MAX_STEPS = 256 };

static enum tn_status load_behavior(struct tn_text_loader *ld, struct tn_json stage, const int *fallback,
                                    struct tn_pre_tokenizer *out)
{
    int behavior = 0;
    enum tn_status status = tn_load_choice(ld, stage, "behavior", behaviors, fallback, &behavior);
    out->behavior = (enum tn_behavior)behavior;
    return status;
}

static enum tn_status load_punctuation(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    const int isolated = TN_ISOLATED;
    enum tn_status status = tn_load_members(ld, stage, "pre-tokenizer Punctuation", "type behavior");
    return status ? status : load_behavior(ld, stage, &isolated, out);
}

static enum tn_status load_digits(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    bool individual = false;
    enum tn_status status = tn_load_members(ld, stage, "pre-tokenizer Digits", "type individual_digits");
    if (!status) status = tn_load_bool(ld, stage, "individual_digits", NULL, &individual);
    out->behavior = individual ? TN_ISOLATED : TN_CONTIGUOUS;
    return status;
}

static enum tn_status load_delimiter(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    struct tn_str s;
    uint32_t *points;
    size_t count;
    enum tn_status status = tn_load_members(ld, stage, "pre-tokenizer CharDelimiterSplit", "type delimiter");
    if (!status) status = tn_load_str(ld, stage, "delimiter", &s);
    if (!status) status = tn_load_points(ld, s, &points, &count);
    if (status) return status;
    if (count != 1) return tn_load_malformed(ld, stage, "delimiter", "exactly one character");
    out->delimiter = points[0];
    out->behavior = TN_REMOVED;
    return TN_OK;
}

static enum tn_status load_split(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    enum tn_status status = tn_load_members(ld, stage, "pre-tokenizer Split", "type pattern behavior invert");
    if (!status) status = tn_pattern_load(ld, stage, &out->pattern);
    if (!status) status = load_behavior(ld, stage, NULL, out);
    return status ? status : tn_load_bool(ld, stage, "invert", NULL, &out->invert);
}

static enum tn_status load_fixed_length(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out)
{
    enum tn_status status = tn_load_members(ld, stage, "pre-tokenizer FixedLength", "type length");
    out->length = 5;
    if (!status && tn_json_get(stage, "length").doc) status = tn_load_size(ld, stage, "length", &out->length);
    if (!status && out->length == 0) return tn_load_malformed(ld, stage, "length", "an integer of 1 or more");
    return status;
}

static const struct {
    const char *name;
    enum tn_pre_kind kind;
    enum tn_behavior behavior;
    enum tn_status (*load)(struct tn_text_loader *, struct tn_json, struct tn_pre_tokenizer *); /* NULL: only "type" */
} types[] = {
    {"BertPreTokenizer", TN_PRE_BERT, TN_ISOLATED, NULL},
    {"Whitespace", TN_PRE_WHITESPACE, TN_REMOVED, NULL},
    {"WhitespaceSplit", TN_PRE_WHITESPACE_SPLIT, TN_REMOVED, NULL},
    {"Punctuation", TN_PRE_PUNCTUATION, TN_ISOLATED, load_punctuation},
    {"Digits", TN_PRE_DIGITS, TN_ISOLATED, load_digits},
    {"CharDelimiterSplit", TN_PRE_DELIMITER, TN_REMOVED, load_delimiter},
    {"Split", TN_PRE_SPLIT, TN_REMOVED, load_split},
    {"FixedLength", TN_PRE_FIXED_LENGTH, TN_ISOLATED, load_fixed_length},
    {"ByteLevel", TN_PRE_BYTE_LEVEL, TN_ISOLATED, tn_pre_byte_level_load},
    {"UnicodeScripts", TN_PRE_UNICODE_SCRIPTS, TN_REMOVED, NULL},
    {"Metaspace", TN_PRE_METASPACE, TN_MERGED_WITH_NEXT, tn_pre_metaspace_load},
};

static enum tn_status load_sequence(struct tn_text_loader *ld, struct tn_json stage, unsigned depth)
{
    struct tn_json steps = tn_json_get(stage, "pretokenizers");
    enum tn_status status = tn_load_members(ld, stage, "pre-tokenizer Sequence", "type pretokenizers");
    if (status) return status;
    if (!tn_json_is(steps, TN_JSON_ARRAY)) {
        return tn_load_malformed(ld, stage, "pretokenizers", "an array of pre-tokenizers");
    }
    for (struct tn_json step = tn_json_first(steps); step.doc && !status; step = tn_json_next(step)) {
        if (tn_json_is(step, TN_JSON_NULL)) return tn_load_malformed(ld, stage, "pretokenizers", "no null inside");
        status = tn_pre_tokenizers_load(ld, step, depth + 1);
    }
    return status;
}

enum tn_status tn_pre_tokenizers_load(struct tn_text_loader *ld, struct tn_json stage, unsigned depth)
{
    struct tn_pre_tokenizers *list = &ld->t->pre_tokenizers;
    struct tn_str type;
    if (depth == 0 && (!stage.doc || tn_json_is(stage, TN_JSON_NULL))) return TN_OK;
    enum tn_status status = tn_load_type(ld, stage, "pre-tokenizer", &type);
    if (status) return status;
    if (depth >= ld->ctx->limits.json_depth || list->count >= MAX_STEPS) {
        return tn_load_too_many(ld, stage, "pre-tokenizers", MAX_STEPS);
    }
    if (tn_str_is(type, "Sequence")) return load_sequence(ld, stage, depth);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!tn_str_is(type, types[i].name)) continue;
        struct tn_pre_tokenizer step = {.kind = types[i].kind, .behavior = types[i].behavior};
        status = types[i].load ? types[i].load(ld, stage, &step) : tn_load_members(ld, stage, "pre-tokenizer", "type");
        if (status) return status;
        if (!tn_text_grow(ld->t->alloc, &list->at, &list->cap, list->count + 1, sizeof(*list->at))) {
            return tn_load_memory(ld);
        }
        list->at[list->count++] = step;
        return TN_OK;
    }
    return tn_load_unknown(ld, stage, "pre-tokenizer", type, known_types);
}

/* ---- matching ------------------------------------------------------------------------------------------------- */

/* A span of one piece: matched by the pattern or lying between matches. Only a regular expression makes empty ones. */
struct span {
    uint32_t begin, end;
    bool match;
};

/* Walks through a piece; spans tile it. */
struct cursor {
    const struct tn_pre_tokenizer *step;
    const struct tn_char *chars;
    uint32_t at, end;
    struct tn_pattern_search search;
    uint32_t begin;     /* of the piece */
    struct span match;  /* found by the search, not yet given */
    bool waiting, exhausted;
    enum tn_status status;
};

typedef struct span (*next_span)(struct cursor *c);

/* Each flagged character is a match of its own. */
static struct span flagged_span(struct cursor *c, unsigned flag)
{
    uint32_t at = c->at, to = at + 1;
    if (tn_uc_flags(c->chars[at].c) & flag) return (struct span){at, to, true};
    while (to < c->end && !(tn_uc_flags(c->chars[to].c) & flag)) to++;
    return (struct span){at, to, false};
}

static struct span white_span(struct cursor *c)
{
    return flagged_span(c, TN_UC_WHITE);
}

static struct span punctuation_span(struct cursor *c)
{
    return flagged_span(c, TN_UC_PUNCT);
}

static struct span numeric_span(struct cursor *c)
{
    return flagged_span(c, TN_UC_NUMERIC);
}

static struct span delimiter_span(struct cursor *c)
{
    uint32_t at = c->at, to = at + 1;
    if (c->chars[at].c == c->step->delimiter) return (struct span){at, to, true};
    while (to < c->end && c->chars[to].c != c->step->delimiter) to++;
    return (struct span){at, to, false};
}

/* \w+|[^\w\s]+ inverted: what it does not match is what Removed removes. */
static unsigned word_class(uint32_t c)
{
    unsigned flags = tn_uc_flags(c);
    return flags & TN_UC_WORD ? 1 : flags & TN_UC_WHITE ? 0 : 2;
}

static struct span word_span(struct cursor *c)
{
    uint32_t at = c->at, to = at + 1;
    unsigned class = word_class(c->chars[at].c);
    while (to < c->end && word_class(c->chars[to].c) == class) to++;
    return (struct span){at, to, class == 0};
}

static void find_match(struct cursor *c)
{
    size_t begin, end;
    bool found = false;
    c->status = tn_pattern_next(&c->search, &begin, &end, &found);
    c->waiting = found;
    c->exhausted = !found;
    if (found) c->match = (struct span){c->begin + (uint32_t)begin, c->begin + (uint32_t)end, true};
}

static struct span pattern_span(struct cursor *c)
{
    struct span span;
    if (!c->waiting && !c->exhausted) find_match(c);
    if (c->waiting && c->match.begin == c->at) {
        c->waiting = false;
        span = c->match;
    } else {
        span = (struct span){c->at, c->waiting ? c->match.begin : c->end, false};
    }
    span.match = span.match != c->step->invert;
    return span;
}

static struct span fixed_span(struct cursor *c)
{
    uint32_t left = c->end - c->at;
    return (struct span){c->at, c->step->length < left ? c->at + (uint32_t)c->step->length : c->end, true};
}

/* Up to another script. What comes before the first script of a piece is lost, as in the library. */
static struct span script_span(struct cursor *c)
{
    uint32_t at = c->at, to = at + 1;
    unsigned script = tn_uc_script_of(c->chars[at].c), other;
    while (to < c->end && ((other = tn_uc_script_of(c->chars[to].c)) == 0 || other == script)) to++;
    if (script) return (struct span){at, to, false};
    for (to = at + 1; to < c->end && tn_uc_script_of(c->chars[to].c) == 0; to++) continue;
    return (struct span){at, to, true};
}

/* ---- behaviors ------------------------------------------------------------------------------------------------ */

/* Whether the span joins the piece before it. */
static bool joins(enum tn_behavior behavior, bool match, bool previous_match)
{
    if (behavior == TN_CONTIGUOUS) return match == previous_match;
    return behavior == TN_MERGED_WITH_PREVIOUS && match && !previous_match;
}

static bool push_piece(struct tn_text_scratch *s, struct span span)
{
    return tn_splits_push(s->alloc, &s->next, (struct tn_split){span.begin, span.end, TN_NO_TOKEN});
}

/* Empty pieces take part in the behaviors and vanish afterwards. */
static void drop_empty(struct tn_splits *splits, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < splits->count; i++) {
        if (splits->at[i].begin < splits->at[i].end) splits->at[kept++] = splits->at[i];
    }
    splits->count = kept;
}

static enum tn_status split_piece(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step, next_span next,
                                  struct tn_split piece)
{
    size_t first = s->next.count; /* pieces of this piece begin here */
    bool previous = false;
    struct span pending = {0}; /* MergedWithNext: a match that waits for what follows */
    struct cursor c = {.step = step, .chars = s->chars.at, .at = piece.begin, .begin = piece.begin, .end = piece.end};
    if (next == pattern_span) {
        tn_pattern_begin(&c.search, s, &step->pattern, s->chars.at + piece.begin, piece.end - piece.begin);
    }
    while (c.at < c.end || (next == pattern_span && !c.exhausted)) {
        if (next == pattern_span && c.at == c.end) {
            /* What is left is at most an empty match at the end. */
            if (!c.waiting) find_match(&c);
            if (!c.waiting) break;
        }
        struct span span = next(&c);
        if (c.status) return c.status;
        c.at = span.end;
        if (step->behavior == TN_REMOVED && span.match) continue;
        if (step->behavior == TN_MERGED_WITH_NEXT) {
            if (pending.match && !span.match) {
                span.begin = pending.begin;
                pending.match = false;
            } else if (pending.match && !push_piece(s, pending)) {
                return TN_INSUFFICIENT_MEMORY;
            }
            if (span.match) {
                pending = span;
                continue;
            }
        }
        if (s->next.count > first && joins(step->behavior, span.match, previous)) {
            s->next.at[s->next.count - 1].end = span.end;
        } else if (!push_piece(s, span)) {
            return TN_INSUFFICIENT_MEMORY;
        }
        previous = span.match;
    }
    if (c.status) return c.status;
    if (pending.match && !push_piece(s, pending)) return TN_INSUFFICIENT_MEMORY;
    if (next == pattern_span) drop_empty(&s->next, first);
    return TN_OK;
}

static enum tn_status run(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step, next_span next)
{
    enum tn_status status = TN_OK;
    s->next.count = 0;
    for (size_t i = 0; i < s->splits.count && !status; i++) {
        if (s->splits.at[i].token == TN_NO_TOKEN) {
            status = split_piece(s, step, next, s->splits.at[i]);
        } else if (!tn_splits_push(s->alloc, &s->next, s->splits.at[i])) {
            status = TN_INSUFFICIENT_MEMORY;
        }
    }
    struct tn_splits swap = s->splits;
    s->splits = s->next;
    s->next = swap;
    return status;
}

enum tn_status tn_pre_split(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step)
{
    return run(s, step, pattern_span);
}

static enum tn_status run_bert(struct tn_text_scratch *s)
{
    const struct tn_pre_tokenizer removed = {.behavior = TN_REMOVED}, isolated = {.behavior = TN_ISOLATED};
    enum tn_status status = run(s, &removed, white_span);
    return status ? status : run(s, &isolated, punctuation_span);
}

static enum tn_status run_step(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step)
{
    switch (step->kind) {
    case TN_PRE_BERT: return run_bert(s);
    case TN_PRE_WHITESPACE: return run(s, step, word_span);
    case TN_PRE_WHITESPACE_SPLIT: return run(s, step, white_span);
    case TN_PRE_PUNCTUATION: return run(s, step, punctuation_span);
    case TN_PRE_DIGITS: return run(s, step, numeric_span);
    case TN_PRE_DELIMITER: return run(s, step, delimiter_span);
    case TN_PRE_SPLIT: return run(s, step, pattern_span);
    case TN_PRE_FIXED_LENGTH: return run(s, step, fixed_span);
    case TN_PRE_BYTE_LEVEL: return tn_pre_byte_level(s, step);
    case TN_PRE_METASPACE: return tn_pre_metaspace(s, step);
    case TN_PRE_UNICODE_SCRIPTS: return run(s, step, script_span);
    }
    return TN_OK;
}

enum tn_status tn_pre_tokenize(const struct tn_text_tokenizer *t, struct tn_text_scratch *s)
{
    enum tn_status status = TN_OK;
    for (size_t i = 0; i < t->pre_tokenizers.count && !status; i++) status = run_step(s, &t->pre_tokenizers.at[i]);
    return status;
}
