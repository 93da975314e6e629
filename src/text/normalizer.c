/*
 * Normalizers: parsed from JSON into a flat list of steps (a Sequence of Sequences is the same steps in order) and run
 * over characters that know which bytes of the original they stand for.
 *
 * Alignment follows the library's rule: the result is a stream of (character, change). Change 0 replaces the next
 * character of the input and takes its alignment, -N also swallows N more, and 1 is an insertion that shares the
 * alignment of the character before it.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

/* ---- loading -------------------------------------------------------------------------------------------------- */

static const char known_types[] = "BertNormalizer NFC NFD NFKC NFKD Lowercase Strip StripAccents Replace Prepend Nmt "
                                  "Precompiled ByteLevel Sequence";
enum { MAX_STEPS = 256 };

static enum tn_status load_bert(struct tn_text_loader *ld, struct tn_json stage, struct tn_normalizer *out)
{
    struct tn_json strip = tn_json_get(stage, "strip_accents");
    enum tn_status status = tn_load_members(ld, stage, "normalizer BertNormalizer",
                                            "type clean_text handle_chinese_chars strip_accents lowercase");
    if (!status) status = tn_load_bool(ld, stage, "clean_text", NULL, &out->clean_text);
    if (!status) status = tn_load_bool(ld, stage, "handle_chinese_chars", NULL, &out->chinese);
    if (!status) status = tn_load_bool(ld, stage, "lowercase", NULL, &out->lowercase);
    out->strip_accents = out->lowercase;
    if (!status && strip.doc && !tn_json_is(strip, TN_JSON_NULL)) {
        status = tn_load_bool(ld, stage, "strip_accents", NULL, &out->strip_accents);
    }
    return status;
}

static enum tn_status load_strip(struct tn_text_loader *ld, struct tn_json stage, struct tn_normalizer *out)
{
    enum tn_status status = tn_load_members(ld, stage, "normalizer Strip", "type strip_left strip_right");
    if (!status) status = tn_load_bool(ld, stage, "strip_left", NULL, &out->left);
    if (!status) status = tn_load_bool(ld, stage, "strip_right", NULL, &out->right);
    return status;
}

static enum tn_status load_content(struct tn_text_loader *ld, struct tn_json stage, const char *member,
                                   struct tn_normalizer *out)
{
    struct tn_str content;
    enum tn_status status = tn_load_str(ld, stage, member, &content);
    return status ? status : tn_load_points(ld, content, &out->content, &out->content_length);
}

static enum tn_status load_replace(struct tn_text_loader *ld, struct tn_json stage, struct tn_normalizer *out)
{
    enum tn_status status = tn_load_members(ld, stage, "normalizer Replace", "type pattern content");
    if (!status) status = tn_pattern_load(ld, stage, &out->pattern);
    if (!status) status = tn_pattern_not_empty(ld, stage, &out->pattern);
    return status ? status : load_content(ld, stage, "content", out);
}

static enum tn_status load_prepend(struct tn_text_loader *ld, struct tn_json stage, struct tn_normalizer *out)
{
    enum tn_status status = tn_load_members(ld, stage, "normalizer Prepend", "type prepend");
    if (!status) status = load_content(ld, stage, "prepend", out);
    /* Prepending nothing makes the library lose track of its alignment. */
    if (!status && out->content_length == 0) status = tn_load_malformed(ld, stage, "prepend", "a text that is not empty");
    return status;
}

static const struct {
    const char *name;
    enum tn_normalizer_kind kind;
    enum tn_status (*load)(struct tn_text_loader *, struct tn_json, struct tn_normalizer *); /* NULL: only "type" */
} types[] = {
    {"BertNormalizer", TN_NORM_BERT, load_bert},
    {"Bert", TN_NORM_BERT, load_bert},
    {"NFC", TN_NORM_NFC, NULL},
    {"NFD", TN_NORM_NFD, NULL},
    {"NFKC", TN_NORM_NFKC, NULL},
    {"NFKD", TN_NORM_NFKD, NULL},
    {"Lowercase", TN_NORM_LOWERCASE, NULL},
    {"Strip", TN_NORM_STRIP, load_strip},
    {"StripAccents", TN_NORM_STRIP_ACCENTS, NULL},
    {"Replace", TN_NORM_REPLACE, load_replace},
    {"Prepend", TN_NORM_PREPEND, load_prepend},
    {"Nmt", TN_NORM_NMT, NULL},
    {"Precompiled", TN_NORM_PRECOMPILED, tn_precompiled_load},
    {"ByteLevel", TN_NORM_BYTE_LEVEL, NULL},
};

static enum tn_status load_sequence(struct tn_text_loader *ld, struct tn_json stage, unsigned depth)
{
    struct tn_json steps = tn_json_get(stage, "normalizers");
    enum tn_status status = tn_load_members(ld, stage, "normalizer Sequence", "type normalizers");
    if (status) return status;
    if (!tn_json_is(steps, TN_JSON_ARRAY)) return tn_load_malformed(ld, stage, "normalizers", "an array of normalizers");
    for (struct tn_json step = tn_json_first(steps); step.doc && !status; step = tn_json_next(step)) {
        if (tn_json_is(step, TN_JSON_NULL)) return tn_load_malformed(ld, stage, "normalizers", "no null inside");
        status = tn_normalizers_load(ld, step, depth + 1);
    }
    return status;
}

enum tn_status tn_normalizers_load(struct tn_text_loader *ld, struct tn_json stage, unsigned depth)
{
    struct tn_normalizers *list = &ld->t->normalizers;
    struct tn_str type;
    if (depth == 0 && (!stage.doc || tn_json_is(stage, TN_JSON_NULL))) return TN_OK;
    enum tn_status status = tn_load_type(ld, stage, "normalizer", &type);
    if (status) return status;
    if (depth >= ld->ctx->limits.json_depth || list->count >= MAX_STEPS) {
        return tn_load_too_many(ld, stage, "normalizers", MAX_STEPS);
    }
    if (tn_str_is(type, "Sequence")) return load_sequence(ld, stage, depth);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!tn_str_is(type, types[i].name)) continue;
        struct tn_normalizer step = {.kind = types[i].kind};
        status = types[i].load ? types[i].load(ld, stage, &step) : tn_load_members(ld, stage, "normalizer", "type");
        if (status) return status;
        if (!tn_text_grow(ld->t->alloc, &list->at, &list->cap, list->count + 1, sizeof(*list->at))) {
            return tn_load_memory(ld);
        }
        list->at[list->count++] = step;
        return TN_OK;
    }
    return tn_load_unknown(ld, stage, "normalizer", type, known_types);
}

/* ---- the output of a step ------------------------------------------------------------------------------------- */

/* Reads s->chars, writes s->spare; finish() swaps them. */
struct transform {
    struct tn_text_scratch *s;
    size_t position; /* characters of the input consumed */
    enum tn_status failed;
};

static void emit(struct transform *x, uint32_t c, int change)
{
    struct tn_chars *in = &x->s->chars, *out = &x->s->spare;
    if (x->failed) return;
    if (out->count >= x->s->most_chars) {
        x->failed = TN_RESOURCE_LIMIT; /* steps that each double the text would double it for ever */
        return;
    }
    if (out->count == out->cap && !tn_chars_reserve(x->s->alloc, out, out->count + 1)) {
        x->failed = TN_INSUFFICIENT_MEMORY;
        return;
    }
    size_t from = change > 0 && x->position > 0 ? x->position - 1 : x->position;
    if (from >= in->count) from = in->count - 1;
    out->at[out->count++] = (struct tn_char){c, in->at[from].begin, in->at[from].end};
    if (change <= 0) x->position += 1 + (size_t)-change;
}

static enum tn_status finish(struct transform *x)
{
    struct tn_chars done = x->s->spare;
    if (x->failed) {
        x->s->spare.count = 0;
        return x->failed;
    }
    x->s->spare = x->s->chars;
    x->s->spare.count = 0;
    x->s->chars = done;
    return TN_OK;
}

/* ---- steps that keep or change single characters in place ----------------------------------------------------- */

/* A filter keeps alignments, so it is a plain compaction. */
static void drop_flagged(struct tn_chars *chars, unsigned flag)
{
    size_t kept = 0;
    for (size_t i = 0; i < chars->count; i++) {
        if (!(tn_uc_flags(chars->at[i].c) & flag)) chars->at[kept++] = chars->at[i];
    }
    chars->count = kept;
}

static void blank_flagged(struct tn_chars *chars, unsigned flag)
{
    for (size_t i = 0; i < chars->count; i++) {
        if (tn_uc_flags(chars->at[i].c) & flag) chars->at[i].c = ' ';
    }
}

static void strip(struct tn_chars *chars, bool left, bool right)
{
    size_t begin = 0, end = chars->count;
    while (left && begin < end && tn_uc_flags(chars->at[begin].c) & TN_UC_WHITE) begin++;
    while (right && end > begin && tn_uc_flags(chars->at[end - 1].c) & TN_UC_WHITE) end--;
    if (begin) memmove(chars->at, chars->at + begin, (end - begin) * sizeof(*chars->at));
    chars->count = end - begin;
}

/* ---- steps that lengthen the text ----------------------------------------------------------------------------- */

static enum tn_status lowercase(struct tn_text_scratch *s)
{
    struct transform x = {.s = s};
    uint32_t image[TN_UC_MAX_IMAGE];
    for (size_t i = 0; i < s->chars.count; i++) {
        size_t n = tn_uc_lower(s->chars.at[i].c, image);
        for (size_t k = 0; k < n; k++) emit(&x, image[k], k > 0);
    }
    return finish(&x);
}

static enum tn_status space_chinese(struct tn_text_scratch *s)
{
    struct transform x = {.s = s};
    for (size_t i = 0; i < s->chars.count; i++) {
        uint32_t c = s->chars.at[i].c;
        bool chinese = tn_uc_flags(c) & TN_UC_CHINESE;
        if (chinese) emit(&x, ' ', 0);
        emit(&x, c, chinese);
        if (chinese) emit(&x, ' ', 1);
    }
    return finish(&x);
}

static enum tn_status prepend(struct tn_text_scratch *s, const struct tn_normalizer *step)
{
    struct transform x = {.s = s};
    for (size_t i = 0; i < step->content_length; i++) emit(&x, step->content[i], i > 0);
    emit(&x, s->chars.at[0].c, 1);
    for (size_t i = 1; i < s->chars.count; i++) emit(&x, s->chars.at[i].c, 0);
    return finish(&x);
}

/* What is put in stands for the last character that was taken out. */
static enum tn_status replace(struct tn_text_scratch *s, const struct tn_normalizer *step)
{
    struct transform x = {.s = s};
    struct tn_pattern_search search;
    size_t begin = s->chars.count, end = 0;
    bool found = true;
    tn_pattern_begin(&search, s, &step->pattern, s->chars.at, s->chars.count);
    for (size_t i = 0; found;) {
        enum tn_status status = tn_pattern_next(&search, &begin, &end, &found);
        if (status) return status;
        for (size_t stop = found ? begin : s->chars.count; i < stop; i++) {
            x.position = i;
            emit(&x, s->chars.at[i].c, 0);
        }
        if (!found) break;
        x.position = i = end;
        for (size_t k = 0; k < step->content_length; k++) emit(&x, step->content[k], 1);
    }
    return finish(&x);
}

/* ---- normal forms --------------------------------------------------------------------------------------------- */

static bool push_form(struct tn_text_scratch *s, uint32_t c, int change)
{
    if (!tn_text_grow(s->alloc, &s->forms, &s->forms_cap, s->form_count + 1, sizeof(*s->forms))) return false;
    s->forms[s->form_count++] = (struct tn_form){c, change, tn_uc_ccc(c)};
    return true;
}

/* Merges the runs from[a, b) and from[b, c) into `to`, stable. */
static void merge_runs(const struct tn_form *from, struct tn_form *to, size_t a, size_t b, size_t c)
{
    size_t i = a, j = b;
    for (size_t k = a; k < c; k++) to[k] = j >= c || (i < b && from[i].ccc <= from[j].ccc) ? from[i++] : from[j++];
}

/* Stable sort by class: hostile text may be one run of marks, so bottom-up merging, with n items of room in `spare`. */
static void sort_marks(struct tn_form *marks, struct tn_form *spare, size_t n)
{
    struct tn_form *from = marks, *to = spare;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t a = 0; a < n; a += 2 * width) {
            size_t b = a + width < n ? a + width : n, c = b + width < n ? b + width : n;
            merge_runs(from, to, a, b, c);
        }
        struct tn_form *swap = from;
        from = to;
        to = swap;
    }
    if (from != marks) memcpy(marks, from, n * sizeof(*marks));
}

static bool order_marks(struct tn_text_scratch *s)
{
    for (size_t i = 0; i < s->form_count;) {
        size_t end = i;
        bool sorted = true;
        while (end < s->form_count && s->forms[end].ccc) {
            if (end > i && s->forms[end].ccc < s->forms[end - 1].ccc) sorted = false;
            end++;
        }
        if (!sorted) {
            size_t total = s->form_count + (end - i);
            if (!tn_text_grow(s->alloc, &s->forms, &s->forms_cap, total, sizeof(*s->forms))) return false;
            sort_marks(s->forms + i, s->forms + s->form_count, end - i);
        }
        i = end > i ? end : i + 1;
    }
    return true;
}

/*
 * Canonical composition in place (Unicode Standard, section 3.11): a character joins the last starter unless a mark of
 * the same or a higher class stands between. The composite's change is the sum of the two, less one character.
 */
static void compose(struct tn_text_scratch *s)
{
    size_t kept = 0, starter = SIZE_MAX;
    unsigned last = 0; /* class of the last mark kept after the starter; 0: none */
    for (size_t i = 0; i < s->form_count; i++) {
        struct tn_form form = s->forms[i];
        bool blocked = starter == SIZE_MAX || (last && last >= form.ccc);
        uint32_t composite = blocked ? 0 : tn_uc_compose(s->forms[starter].c, form.c);
        if (composite) {
            s->forms[starter].c = composite;
            s->forms[starter].change += form.change - 1;
            continue;
        }
        if (form.ccc == 0) {
            starter = kept;
            last = 0;
        } else if (starter != SIZE_MAX) {
            last = form.ccc;
        }
        s->forms[kept++] = form;
    }
    s->form_count = kept;
}

static enum tn_status normal_form(struct tn_text_scratch *s, bool compatible, bool composed)
{
    struct transform x = {.s = s};
    uint32_t image[TN_UC_MAX_IMAGE];
    s->form_count = 0;
    for (size_t i = 0; i < s->chars.count; i++) {
        size_t n = tn_uc_decompose(s->chars.at[i].c, compatible, image);
        for (size_t k = 0; k < n; k++) {
            if (!push_form(s, image[k], k > 0)) return TN_INSUFFICIENT_MEMORY;
        }
    }
    if (!order_marks(s)) return TN_INSUFFICIENT_MEMORY;
    if (composed) compose(s);
    for (size_t i = 0; i < s->form_count; i++) emit(&x, s->forms[i].c, s->forms[i].change);
    return finish(&x);
}

/* ---- maps ----------------------------------------------------------------------------------------------------- */

static enum tn_status precompiled(struct tn_text_scratch *s, const struct tn_normalizer *step)
{
    struct transform x = {.s = s};
    enum tn_status status = tn_precompiled_forms(step->charsmap, s);
    for (size_t i = 0; i < s->form_count && !status; i++) emit(&x, s->forms[i].c, s->forms[i].change);
    return status ? status : finish(&x);
}

static enum tn_status byte_level(struct tn_text_scratch *s)
{
    struct transform x = {.s = s};
    char bytes[4];
    for (size_t i = 0; i < s->chars.count; i++) {
        size_t n = tn_utf8_encode(s->chars.at[i].c, bytes);
        for (size_t k = 0; k < n; k++) emit(&x, tn_byte_char((unsigned char)bytes[k]), k > 0);
    }
    return finish(&x);
}

/* ---- running -------------------------------------------------------------------------------------------------- */

static enum tn_status bert(struct tn_text_scratch *s, const struct tn_normalizer *step)
{
    enum tn_status status = TN_OK;
    if (step->clean_text) {
        drop_flagged(&s->chars, TN_UC_CLEAN_DROP);
        blank_flagged(&s->chars, TN_UC_CLEAN_SPACE);
    }
    if (step->chinese) status = space_chinese(s);
    if (!status && step->strip_accents) {
        status = normal_form(s, false, false);
        if (!status) drop_flagged(&s->chars, TN_UC_MARK_NONSPACING);
    }
    if (!status && step->lowercase) status = lowercase(s);
    return status;
}

static enum tn_status run_step(struct tn_text_scratch *s, const struct tn_normalizer *step)
{
    switch (step->kind) {
    case TN_NORM_BERT: return bert(s, step);
    case TN_NORM_NFC: return normal_form(s, false, true);
    case TN_NORM_NFD: return normal_form(s, false, false);
    case TN_NORM_NFKC: return normal_form(s, true, true);
    case TN_NORM_NFKD: return normal_form(s, true, false);
    case TN_NORM_LOWERCASE: return lowercase(s);
    case TN_NORM_REPLACE: return replace(s, step);
    case TN_NORM_PREPEND: return prepend(s, step);
    case TN_NORM_STRIP: strip(&s->chars, step->left, step->right); return TN_OK;
    case TN_NORM_STRIP_ACCENTS: drop_flagged(&s->chars, TN_UC_MARK); return TN_OK;
    case TN_NORM_PRECOMPILED: return precompiled(s, step);
    case TN_NORM_BYTE_LEVEL: return byte_level(s);
    case TN_NORM_NMT:
        drop_flagged(&s->chars, TN_UC_NMT_DROP);
        blank_flagged(&s->chars, TN_UC_NMT_SPACE);
        return TN_OK;
    }
    return TN_OK;
}

enum tn_status tn_normalize(const struct tn_text_tokenizer *t, struct tn_text_scratch *s)
{
    enum tn_status status = TN_OK;
    for (size_t i = 0; i < t->normalizers.count && s->chars.count && !status; i++) {
        status = run_step(s, &t->normalizers.at[i]);
    }
    return status;
}
