/*
 * tokenizer.json -> tokenizer: the frame of the file and the typed reads that the stages share. Input is hostile.
 *
 * We are stricter than the library on purpose: it ignores members it does not know and corrects ids that contradict the
 * vocabulary with a warning; both can be a wrong answer, so both are refused with the place.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/*
 * What came of a part of the file, remembered: TN_OK, so that the parts behind it are read too. Without a list, or when
 * memory is gone, the status as it is.
 */
static enum tn_status pass_over(struct tn_text_loader *ld, enum tn_status status)
{
    if (!status || status == TN_INSUFFICIENT_MEMORY || !ld->found || !ld->err) return status;
    struct tn_finding *f = tn_findings_add(ld->found, TN_BLOCKER, status, TN_PHASE_LOAD, "%s", "");
    if (f) *f = ld->err->primary;
    tn_error_clear(ld->err);
    return TN_OK;
}

/* ---- refusals ------------------------------------------------------------------------------------------------- */

void tn_load_place(const struct tn_text_loader *ld, struct tn_finding *f, struct tn_json v, const char *member)
{
    if (!v.doc) {
        tn_at_file(f, ld->file);
    } else if (member) {
        tn_at_json_member(f, v, member);
    } else {
        tn_at_json(f, v);
    }
}

enum tn_status tn_load_memory(struct tn_text_loader *ld)
{
    return tn_error_memory(ld->err, TN_PHASE_LOAD, "building the tokenizer");
}

enum tn_status tn_load_malformed(struct tn_text_loader *ld, struct tn_json object, const char *member,
                                 const char *expected)
{
    struct tn_json v = tn_json_get(object, member);
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: \"%s\" is %s", member, v.doc ? "not valid" : "missing");
    tn_at_json_member(f, object, member);
    if (v.doc) {
        struct tn_str text = tn_json_text(v);
        tn_found(f, "%.*s", (int)(text.n < 80 ? text.n : 80), text.s);
    } else {
        tn_found(f, "nothing");
    }
    tn_expected(f, "%s", expected);
    tn_remedy(f, "repair the tokenizer file or fetch it again");
    return TN_ARTIFACT_MALFORMED;
}

enum tn_status tn_load_unknown(struct tn_text_loader *ld, struct tn_json stage, const char *what, struct tn_str type,
                               const char *known)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD,
                                        "tokenizer: the %s \"%.*s\" is not supported", what, TN_FMT_ARG(type));
    tn_at_json_member(f, stage, "type");
    tn_found(f, "%.*s", TN_FMT_ARG(type));
    tn_expected(f, "one of: %s", known);
    tn_remedy(f, "use a package whose tokenizer consists of the listed stages");
    return TN_UNSUPPORTED_PROCESSOR;
}

enum tn_status tn_load_too_many(struct tn_text_loader *ld, struct tn_json place, const char *what, uint64_t limit)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_RESOURCE_LIMIT, TN_PHASE_LOAD,
                                        "tokenizer: too many %s, or nested too deeply", what);
    tn_load_place(ld, f, place, NULL);
    tn_expected(f, "at most %llu %s, nested at most %llu deep", (unsigned long long)limit, what,
                (unsigned long long)ld->ctx->limits.json_depth);
    return TN_RESOURCE_LIMIT;
}

enum tn_status tn_load_too_long(struct tn_text_loader *ld, struct tn_json place, struct tn_str token)
{
    const struct tn_limits *limits = &ld->ctx->limits;
    struct tn_finding *f = tn_error_set(ld->err, TN_RESOURCE_LIMIT, TN_PHASE_LOAD, "tokenizer: a token exceeds a limit");
    tn_load_place(ld, f, place, NULL);
    tn_found(f, "%zu bytes", token.n);
    tn_expected(f, "at most vocab_entries = %llu tokens of at most name_bytes = %llu bytes",
                (unsigned long long)limits->vocab_entries, (unsigned long long)limits->name_bytes);
    return TN_RESOURCE_LIMIT;
}

/* Whether `name` is a word of the blank-separated list; *position counts words. */
static bool in_list(const char *list, struct tn_str name, int *position)
{
    *position = 0;
    for (const char *at = list; *at; (*position)++) {
        size_t n = strcspn(at, " ");
        if (n == name.n && memcmp(at, name.s, n) == 0) return true;
        at += n;
        while (*at == ' ') at++;
    }
    return false;
}

enum tn_status tn_load_members(struct tn_text_loader *ld, struct tn_json stage, const char *what, const char *known)
{
    int position;
    for (struct tn_json v = tn_json_first(stage); v.doc; v = tn_json_next(v)) {
        struct tn_str key = tn_json_key(v);
        if (in_list(known, key, &position) || tn_json_is(v, TN_JSON_NULL)) continue;
        struct tn_finding *f = tn_error_set(ld->err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD,
                                            "tokenizer: unknown member \"%.*s\" of the %s", TN_FMT_ARG(key), what);
        tn_at_json(f, v);
        tn_found(f, "%.*s", TN_FMT_ARG(key));
        tn_expected(f, "only: %s", known);
        tn_remedy(f, "an unknown member may change ids; use a package without it");
        if (pass_over(ld, TN_UNSUPPORTED_PROCESSOR)) return TN_UNSUPPORTED_PROCESSOR;
    }
    return TN_OK;
}

/* ---- typed members -------------------------------------------------------------------------------------------- */

enum tn_status tn_load_type(struct tn_text_loader *ld, struct tn_json stage, const char *what, struct tn_str *type)
{
    if (!tn_json_is(stage, TN_JSON_OBJECT)) {
        struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                            "tokenizer: the %s is not an object", what);
        tn_at_json(f, stage);
        tn_found(f, "%s", tn_json_type_name(tn_json_type(stage)));
        tn_expected(f, "an object with a member \"type\"");
        return TN_ARTIFACT_MALFORMED;
    }
    return tn_load_str(ld, stage, "type", type);
}

enum tn_status tn_load_bool(struct tn_text_loader *ld, struct tn_json object, const char *member, const bool *fallback,
                            bool *out)
{
    struct tn_json v = tn_json_get(object, member);
    if (!v.doc && fallback) {
        *out = *fallback;
        return TN_OK;
    }
    return tn_json_bool(v, out) ? TN_OK : tn_load_malformed(ld, object, member, "true or false");
}

enum tn_status tn_load_size(struct tn_text_loader *ld, struct tn_json object, const char *member, uint64_t *out)
{
    struct tn_json v = tn_json_get(object, member);
    if (tn_json_is_integer(v) && tn_json_u64(v, out)) return TN_OK;
    return tn_load_malformed(ld, object, member, "an integer of 0 or more");
}

enum tn_status tn_load_u32(struct tn_text_loader *ld, struct tn_json object, const char *member, uint32_t *out)
{
    uint64_t value;
    struct tn_json v = tn_json_get(object, member);
    if (!tn_json_is_integer(v) || !tn_json_u64(v, &value) || value > UINT32_MAX) {
        return tn_load_malformed(ld, object, member, "an integer from 0 to 4294967295");
    }
    *out = (uint32_t)value;
    return TN_OK;
}

enum tn_status tn_load_str(struct tn_text_loader *ld, struct tn_json object, const char *member, struct tn_str *out)
{
    return tn_json_str(tn_json_get(object, member), out) ? TN_OK : tn_load_malformed(ld, object, member, "a string");
}

enum tn_status tn_load_choice(struct tn_text_loader *ld, struct tn_json object, const char *member,
                              const char *choices, const int *fallback, int *out)
{
    struct tn_str name;
    struct tn_json v = tn_json_get(object, member);
    if (!v.doc && fallback) {
        *out = *fallback;
        return TN_OK;
    }
    if (!tn_json_str(v, &name) || !in_list(choices, name, out)) {
        char expected[200];
        snprintf(expected, sizeof(expected), "one of: %s", choices);
        return tn_load_malformed(ld, object, member, expected);
    }
    return TN_OK;
}

enum tn_status tn_load_points(struct tn_text_loader *ld, struct tn_str s, uint32_t **out, size_t *count)
{
    *out = tn_arena_array(&ld->t->arena, s.n ? s.n : 1, sizeof(**out));
    if (!*out) return tn_load_memory(ld);
    *count = 0;
    for (size_t i = 0; i < s.n;) i += tn_utf8_decode(s.s + i, s.n - i, &(*out)[(*count)++]);
    return TN_OK;
}

/* ---- truncation and padding: facts, applied only on request --------------------------------------------------- */

static enum tn_status load_truncation(struct tn_text_loader *ld, struct tn_json v)
{
    struct tn_text_truncation *out = &ld->t->truncation;
    const int right = 1;
    int direction;
    if (!v.doc || tn_json_is(v, TN_JSON_NULL)) return TN_OK;
    enum tn_status status = tn_load_members(ld, v, "truncation", "direction max_length strategy stride");
    if (!status) status = tn_load_size(ld, v, "max_length", &out->max_length);
    if (!status) status = tn_load_size(ld, v, "stride", &out->stride);
    if (!status) status = tn_load_choice(ld, v, "strategy", "LongestFirst OnlyFirst OnlySecond", NULL, &out->strategy);
    if (!status) status = tn_load_choice(ld, v, "direction", "Left Right", &right, &direction);
    if (status) return status;
    out->present = true;
    out->left = direction == 0;
    return TN_OK;
}

static enum tn_status load_padding_strategy(struct tn_text_loader *ld, struct tn_json v)
{
    struct tn_padding *out = &ld->t->padding;
    struct tn_json strategy = tn_json_get(v, "strategy");
    struct tn_str name;
    if (tn_json_str(strategy, &name) && tn_str_is(name, "BatchLongest")) return TN_OK;
    if (tn_json_count(strategy) == 1 && tn_json_is(tn_json_get(strategy, "Fixed"), TN_JSON_NUMBER)) {
        out->fixed = true;
        return tn_load_size(ld, strategy, "Fixed", &out->fixed_length);
    }
    return tn_load_malformed(ld, v, "strategy", "\"BatchLongest\" or {\"Fixed\": length}");
}

static enum tn_status load_padding(struct tn_text_loader *ld, struct tn_json v)
{
    struct tn_padding *out = &ld->t->padding;
    struct tn_str token;
    int direction;
    if (!v.doc || tn_json_is(v, TN_JSON_NULL)) return TN_OK;
    enum tn_status status = tn_load_members(
        ld, v, "padding", "strategy direction pad_to_multiple_of pad_id pad_type_id pad_token");
    if (!status) status = load_padding_strategy(ld, v);
    if (!status) status = tn_load_choice(ld, v, "direction", "Left Right", NULL, &direction);
    struct tn_json multiple = tn_json_get(v, "pad_to_multiple_of");
    if (!status && multiple.doc && !tn_json_is(multiple, TN_JSON_NULL)) {
        status = tn_load_size(ld, v, "pad_to_multiple_of", &out->multiple);
    }
    if (!status) status = tn_load_u32(ld, v, "pad_id", &out->id);
    if (!status) status = tn_load_u32(ld, v, "pad_type_id", &out->type_id);
    if (!status) status = tn_load_str(ld, v, "pad_token", &token);
    if (status) return status;
    out->present = true;
    out->left = direction == 0;
    out->token = tn_arena_str(&ld->t->arena, token);
    return out->token.s ? TN_OK : tn_load_memory(ld);
}

/* ---- the file ------------------------------------------------------------------------------------------------- */

static enum tn_status load_version(struct tn_text_loader *ld, struct tn_json root)
{
    struct tn_str version;
    if (!tn_json_get(root, "version").doc) return TN_OK;
    enum tn_status status = tn_load_str(ld, root, "version", &version);
    if (status || tn_str_is(version, "1.0")) return status;
    struct tn_finding *f = tn_error_set(ld->err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD,
                                        "tokenizer: unknown version of the file format");
    tn_at_json_member(f, root, "version");
    tn_found(f, "%.*s", TN_FMT_ARG(version));
    tn_expected(f, "1.0");
    return TN_UNSUPPORTED_PROCESSOR;
}

/* Added tokens and templates name tokens of the model: behind one that does not hold they say nothing of their own. */
static enum tn_status load_vocabulary(struct tn_text_loader *ld, struct tn_json root)
{
    if (!tn_json_get(root, "model").doc) return tn_load_malformed(ld, root, "model", "the tokenizer's model");
    enum tn_status status = tn_model_load(ld, tn_json_get(root, "model"));
    if (!status) status = tn_added_load(ld, tn_json_get(root, "added_tokens"));
    if (!status) status = tn_post_load(ld, tn_json_get(root, "post_processor"));
    return status;
}

static enum tn_status load_stages(struct tn_text_loader *ld, struct tn_json root)
{
    enum tn_status status = pass_over(ld, load_version(ld, root));
    if (!status) status = pass_over(ld, load_truncation(ld, tn_json_get(root, "truncation")));
    if (!status) status = pass_over(ld, load_padding(ld, tn_json_get(root, "padding")));
    if (!status) status = pass_over(ld, tn_normalizers_load(ld, tn_json_get(root, "normalizer"), 0));
    if (!status) status = pass_over(ld, tn_pre_tokenizers_load(ld, tn_json_get(root, "pre_tokenizer"), 0));
    if (!status) status = pass_over(ld, load_vocabulary(ld, root));
    if (!status) status = pass_over(ld, tn_decoder_load(ld, tn_json_get(root, "decoder")));
    return status;
}

static enum tn_status load_document(struct tn_text_loader *ld, struct tn_json root)
{
    if (!tn_json_is(root, TN_JSON_OBJECT)) {
        struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                            "tokenizer: the document is not an object");
        tn_at_json(f, root);
        return TN_ARTIFACT_MALFORMED;
    }
    enum tn_status status = tn_load_members(ld, root, "tokenizer",
                                            "version truncation padding added_tokens normalizer pre_tokenizer "
                                            "post_processor decoder model");
    if (!status) status = load_stages(ld, root);
    if (status || !ld->found) return status;
    return ld->found->starved ? tn_load_memory(ld) : tn_error_from_findings(ld->err, ld->found);
}

enum tn_status tn_text_tokenizer_from_json(const struct tn_context *ctx, struct tn_json root,
                                           struct tn_text_tokenizer **out, struct tn_error *err)
{
    struct tn_findings found;
    struct tn_text_loader ld = {.ctx = ctx, .err = err, .found = err ? &found : NULL};
    *out = NULL;
    enum tn_status status = tn_text_tokenizer_new(&ld);
    if (status) return status;
    tn_findings_init(&found, ctx->alloc, TN_ERROR_FINDINGS);
    status = load_document(&ld, root);
    tn_findings_release(&found);
    if (status) {
        tn_text_tokenizer_free(ld.t);
        return status;
    }
    tn_text_tokenizer_seal(ld.t);
    *out = ld.t;
    return TN_OK;
}
