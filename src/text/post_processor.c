/*
 * Post-processors: special tokens, type ids, trimmed offsets. What they do depends only on whether there is a pair and
 * whether special tokens are wanted, so the stage is worked out at load into four small programs and never interpreted.
 *
 * The library passes a list of encodings through nested processors and merges them at the end. Here such an encoding is
 * a run of operations; `lengths` says how many belong to each.
 */
#include "text/internal.h"

#include <string.h>

enum { MAX_OPS = 4096, MAX_ENCODINGS = 1024, MAX_PROCESSORS = 64 };

static const char known_types[] = "TemplateProcessing BertProcessing RobertaProcessing ByteLevel Sequence";

/* A program while it is built. */
struct draft {
    struct tn_post_op *ops;
    size_t count, cap;
    uint32_t *lengths; /* operations of each encoding */
    size_t encodings, lengths_cap;
};

struct builder {
    struct tn_text_loader *ld;
    struct tn_json stage; /* where the work is, for refusals */
    struct draft now, next;
    bool pair, special;
    bool trimmed;
    unsigned processors;
    uint64_t added;
};

static enum tn_status push_op(struct builder *b, struct tn_post_op op)
{
    struct draft *d = &b->next;
    if (d->count >= MAX_OPS) {
        return tn_load_too_many(b->ld, b->stage, "pieces of the post-processor", MAX_OPS);
    }
    if (!tn_text_grow(b->ld->t->alloc, &d->ops, &d->cap, d->count + 1, sizeof(*d->ops))) return tn_load_memory(b->ld);
    d->ops[d->count++] = op;
    return TN_OK;
}

static enum tn_status end_encoding(struct builder *b, size_t first_op)
{
    struct draft *d = &b->next;
    if (d->encodings >= MAX_ENCODINGS) {
        return tn_load_too_many(b->ld, b->stage, "pieces of the post-processor", MAX_ENCODINGS);
    }
    if (!tn_text_grow(b->ld->t->alloc, &d->lengths, &d->lengths_cap, d->encodings + 1, sizeof(*d->lengths))) {
        return tn_load_memory(b->ld);
    }
    d->lengths[d->encodings++] = (uint32_t)(d->count - first_op);
    return TN_OK;
}

static void swap_drafts(struct builder *b)
{
    struct draft swap = b->now;
    b->now = b->next;
    b->next = swap;
    b->next.count = b->next.encodings = 0;
}

/* Operations of an encoding of `now`. */
static struct tn_post_op *encoding_ops(struct builder *b, size_t index, size_t *count)
{
    size_t first = 0;
    for (size_t i = 0; i < index; i++) first += b->now.lengths[i];
    *count = b->now.lengths[index];
    return b->now.ops + first;
}

static struct tn_post_op token_op(uint32_t id, uint32_t type_id)
{
    return (struct tn_post_op){.is_token = true, .id = id, .type_id = type_id, .special = 1};
}

/* ---- TemplateProcessing --------------------------------------------------------------------------------------- */

static enum tn_status template_error(struct tn_text_loader *ld, struct tn_json place, const char *what,
                                     const char *expected)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: the template of the post-processor %s", what);
    tn_at_json(f, place);
    tn_expected(f, "%s", expected);
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status template_sequence(struct builder *b, struct tn_json piece)
{
    struct tn_str id;
    uint32_t type_id;
    enum tn_status status = tn_load_members(b->ld, piece, "template piece", "id type_id");
    if (!status) status = tn_load_str(b->ld, piece, "id", &id);
    if (!status) status = tn_load_u32(b->ld, piece, "type_id", &type_id);
    if (status) return status;
    bool second = tn_str_is(id, "B");
    if (!second && !tn_str_is(id, "A")) return tn_load_malformed(b->ld, piece, "id", "\"A\" or \"B\"");
    if (second && b->now.encodings < 2) {
        return template_error(b->ld, piece, "names a sequence that is not there", "\"B\" only where there is a pair");
    }
    size_t n, first = b->next.count;
    struct tn_post_op *ops = encoding_ops(b, second, &n);
    for (size_t i = 0; i < n; i++) {
        struct tn_post_op op = ops[i];
        op.type_id = type_id;
        if ((status = push_op(b, op))) return status;
    }
    return end_encoding(b, first);
}

static enum tn_status template_special(struct builder *b, struct tn_json stage, struct tn_json piece)
{
    struct tn_str id;
    uint32_t type_id;
    enum tn_status status = tn_load_members(b->ld, piece, "template piece", "id type_id");
    if (!status) status = tn_load_str(b->ld, piece, "id", &id);
    if (!status) status = tn_load_u32(b->ld, piece, "type_id", &type_id);
    if (status) return status;
    struct tn_json token = tn_json_get_str(tn_json_get(stage, "special_tokens"), id);
    struct tn_json ids = tn_json_get(token, "ids");
    if (!tn_json_is(ids, TN_JSON_ARRAY)) {
        return template_error(b->ld, piece, "names a special token that is not listed", "a key of \"special_tokens\"");
    }
    b->added += tn_json_count(ids);
    if (!b->special) return TN_OK;
    size_t first = b->next.count;
    for (struct tn_json v = tn_json_first(ids); v.doc; v = tn_json_next(v)) {
        uint64_t value = 0;
        tn_json_u64(v, &value);
        if ((status = push_op(b, token_op((uint32_t)value, type_id)))) return status;
    }
    return end_encoding(b, first);
}

/* Checks the special tokens: each has ids that exist and as many token texts. */
static enum tn_status check_special_tokens(struct tn_text_loader *ld, struct tn_json stage)
{
    struct tn_json tokens = tn_json_get(stage, "special_tokens");
    if (!tn_json_is(tokens, TN_JSON_OBJECT)) {
        return tn_load_malformed(ld, stage, "special_tokens", "an object of special tokens");
    }
    if (tn_json_count(tokens) > MAX_ENCODINGS) return tn_load_too_many(ld, tokens, "special tokens", MAX_ENCODINGS);
    for (struct tn_json token = tn_json_first(tokens); token.doc; token = tn_json_next(token)) {
        struct tn_json ids = tn_json_get(token, "ids"), texts = tn_json_get(token, "tokens");
        enum tn_status status = tn_load_members(ld, token, "special token", "id ids tokens");
        if (status) return status;
        if (!tn_json_is(ids, TN_JSON_ARRAY)) return tn_load_malformed(ld, token, "ids", "an array of ids");
        if (!tn_json_is(texts, TN_JSON_ARRAY) || tn_json_count(texts) != tn_json_count(ids)) {
            return tn_load_malformed(ld, token, "tokens", "an array of as many texts as ids");
        }
        for (struct tn_json v = tn_json_first(ids); v.doc; v = tn_json_next(v)) {
            uint64_t id;
            if (tn_json_is_integer(v) && tn_json_u64(v, &id) && id <= UINT32_MAX &&
                tn_text_token(ld->t, (uint32_t)id).s) {
                continue;
            }
            return template_error(ld, v, "uses an id that no token has", "ids of the vocabulary");
        }
    }
    return TN_OK;
}

static enum tn_status apply_template(struct builder *b, struct tn_json stage)
{
    struct tn_json template;
    enum tn_status status = tn_load_members(b->ld, stage, "post-processor TemplateProcessing",
                                            "type single pair special_tokens");
    if (!status) status = check_special_tokens(b->ld, stage);
    if (status) return status;
    if (b->now.encodings > 2) {
        return template_error(b->ld, stage, "follows a processor that already made pieces",
                              "one or two sequences before it");
    }
    const char *name = b->now.encodings == 2 ? "pair" : "single";
    template = tn_json_get(stage, name);
    if (!tn_json_is(template, TN_JSON_ARRAY)) return tn_load_malformed(b->ld, stage, name, "an array of pieces");
    if (tn_json_count(template) > MAX_ENCODINGS) return tn_load_too_many(b->ld, template, "pieces", MAX_ENCODINGS);
    for (struct tn_json v = tn_json_first(template); v.doc && !status; v = tn_json_next(v)) {
        struct tn_json sequence = tn_json_get(v, "Sequence"), special = tn_json_get(v, "SpecialToken");
        if (tn_json_count(v) != 1 || (!sequence.doc && !special.doc)) {
            return template_error(b->ld, v, "has an unknown piece", "{\"Sequence\": ...} or {\"SpecialToken\": ...}");
        }
        status = sequence.doc ? template_sequence(b, sequence) : template_special(b, stage, special);
    }
    if (!status) swap_drafts(b);
    return status;
}

/* ---- BertProcessing, RobertaProcessing ------------------------------------------------------------------------ */

/* ["text", id] */
static enum tn_status load_pair(struct tn_text_loader *ld, struct tn_json stage, const char *member, uint32_t *id)
{
    struct tn_json v = tn_json_get(stage, member);
    struct tn_str text;
    uint64_t value;
    if (tn_json_is(v, TN_JSON_ARRAY) && tn_json_count(v) == 2 && tn_json_str(tn_json_at(v, 0), &text) &&
        tn_json_is_integer(tn_json_at(v, 1)) && tn_json_u64(tn_json_at(v, 1), &value) && value <= UINT32_MAX &&
        tn_text_token(ld->t, (uint32_t)value).s) {
        *id = (uint32_t)value;
        return TN_OK;
    }
    return tn_load_malformed(ld, stage, member, "[text, id] with an id of the vocabulary");
}

struct wrapping {
    uint32_t cls, sep;
    bool roberta, trim, prefix_space;
};

static enum tn_status wrap_encoding(struct builder *b, const struct wrapping *w, size_t index)
{
    size_t n, first = b->next.count;
    struct tn_post_op *ops = encoding_ops(b, index, &n);
    uint32_t type_id = w->roberta || index == 0 ? 0 : 1;
    enum tn_status status = TN_OK;
    bool begins = b->special && (index == 0 || w->roberta);
    if (begins) status = push_op(b, token_op(index == 0 ? w->cls : w->sep, type_id));
    for (size_t i = 0; i < n && !status; i++) {
        struct tn_post_op op = ops[i];
        if (w->trim && !op.is_token) {
            op.trim = true;
            op.trim_prefix_space = w->prefix_space;
            op.first = i == 0; /* before special tokens are put around it */
        }
        if (w->roberta) op.type_id = 0;
        if (b->special) op.special = 0;
        status = push_op(b, op);
    }
    if (!status && b->special) status = push_op(b, token_op(w->sep, type_id));
    return status ? status : end_encoding(b, first);
}

static enum tn_status apply_wrapping(struct builder *b, struct tn_json stage, bool roberta)
{
    struct wrapping w = {.roberta = roberta};
    enum tn_status status = tn_load_members(b->ld, stage, roberta ? "post-processor RobertaProcessing"
                                                                  : "post-processor BertProcessing",
                                            roberta ? "type sep cls trim_offsets add_prefix_space" : "type sep cls");
    if (!status) status = load_pair(b->ld, stage, "sep", &w.sep);
    if (!status) status = load_pair(b->ld, stage, "cls", &w.cls);
    if (!status && roberta) status = tn_load_bool(b->ld, stage, "trim_offsets", NULL, &w.trim);
    if (!status && roberta) status = tn_load_bool(b->ld, stage, "add_prefix_space", NULL, &w.prefix_space);
    if (status) return status;
    if (w.trim && b->trimmed) {
        return template_error(b->ld, stage, "trims offsets twice", "one processor that trims offsets");
    }
    b->trimmed |= w.trim;
    b->added += roberta && b->pair ? 4 : b->pair ? 3 : 2;
    for (size_t i = 0; i < b->now.encodings && !status; i++) status = wrap_encoding(b, &w, i);
    if (!status) swap_drafts(b);
    return status;
}

/* ---- ByteLevel ------------------------------------------------------------------------------------------------ */

/* Trims offsets, as RobertaProcessing does, and adds nothing. */
static enum tn_status apply_byte_level(struct builder *b, struct tn_json stage)
{
    const bool yes = true;
    bool trim = false, prefix_space = false, regex;
    enum tn_status status = tn_load_members(b->ld, stage, "post-processor ByteLevel",
                                            "type add_prefix_space trim_offsets use_regex");
    if (!status) status = tn_load_bool(b->ld, stage, "add_prefix_space", NULL, &prefix_space);
    if (!status) status = tn_load_bool(b->ld, stage, "trim_offsets", NULL, &trim);
    if (!status) status = tn_load_bool(b->ld, stage, "use_regex", &yes, &regex);
    if (status || !trim) return status;
    if (b->trimmed) return template_error(b->ld, stage, "trims offsets twice", "one processor that trims offsets");
    b->trimmed = true;
    for (size_t i = 0; i < b->now.encodings; i++) {
        size_t n;
        struct tn_post_op *ops = encoding_ops(b, i, &n);
        for (size_t k = 0; k < n; k++) {
            if (ops[k].is_token) continue;
            ops[k].trim = true;
            ops[k].trim_prefix_space = prefix_space;
            ops[k].first = k == 0;
        }
    }
    return TN_OK;
}

/* ---- building the programs ------------------------------------------------------------------------------------ */

static enum tn_status apply(struct builder *b, struct tn_json stage, unsigned depth)
{
    struct tn_str type;
    enum tn_status status = tn_load_type(b->ld, stage, "post-processor", &type);
    if (status) return status;
    b->stage = stage;
    if (depth >= b->ld->ctx->limits.json_depth || b->processors++ >= MAX_PROCESSORS) {
        return tn_load_too_many(b->ld, stage, "post-processors", MAX_PROCESSORS);
    }
    if (tn_str_is(type, "TemplateProcessing")) return apply_template(b, stage);
    if (tn_str_is(type, "BertProcessing")) return apply_wrapping(b, stage, false);
    if (tn_str_is(type, "RobertaProcessing")) return apply_wrapping(b, stage, true);
    if (tn_str_is(type, "ByteLevel")) return apply_byte_level(b, stage);
    if (!tn_str_is(type, "Sequence")) return tn_load_unknown(b->ld, stage, "post-processor", type, known_types);
    struct tn_json steps = tn_json_get(stage, "processors");
    status = tn_load_members(b->ld, stage, "post-processor Sequence", "type processors");
    if (status) return status;
    if (!tn_json_is(steps, TN_JSON_ARRAY)) return tn_load_malformed(b->ld, stage, "processors", "an array");
    for (struct tn_json step = tn_json_first(steps); step.doc && !status; step = tn_json_next(step)) {
        status = apply(b, step, depth + 1);
    }
    return status;
}

static enum tn_status build(struct builder *b, struct tn_json stage, struct tn_post_program *out)
{
    enum tn_status status = TN_OK;
    for (uint32_t i = 0; i < (b->pair ? 2u : 1u) && !status; i++) {
        status = push_op(b, (struct tn_post_op){.sequence = i, .type_id = i});
        if (!status) status = end_encoding(b, i);
    }
    if (status) return status;
    swap_drafts(b);
    if (stage.doc && !tn_json_is(stage, TN_JSON_NULL)) status = apply(b, stage, 0);
    if (status) return status;
    out->count = b->now.count;
    out->ops = tn_arena_array(&b->ld->t->arena, b->now.count, sizeof(*out->ops));
    if (!out->ops) return tn_load_memory(b->ld);
    if (out->count) memcpy(out->ops, b->now.ops, out->count * sizeof(*out->ops));
    return TN_OK;
}

enum tn_status tn_post_load(struct tn_text_loader *ld, struct tn_json stage)
{
    struct tn_post *post = &ld->t->post;
    enum tn_status status = TN_OK;
    for (int i = 0; i < 4 && !status; i++) {
        struct builder b = {.ld = ld, .pair = i & 2, .special = i & 1};
        status = build(&b, stage, &post->programs[b.pair][b.special]);
        post->added[b.pair] = b.added;
        post->trims |= b.trimmed;
        tn_free(ld->t->alloc, b.now.ops);
        tn_free(ld->t->alloc, b.now.lengths);
        tn_free(ld->t->alloc, b.next.ops);
        tn_free(ld->t->alloc, b.next.lengths);
    }
    return status;
}
