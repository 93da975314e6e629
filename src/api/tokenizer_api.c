/* Tokenizers over the public interface. The tokenizer is shared; each encoding has its own working memory. */
#include "api/api.h"
#include "session/session.h"

struct tn_tokenizer {
    struct tn_ref ref; /* the handle and each encoding */
    struct tn_package *package;
    struct tn_text_tokenizer *text;
};

struct tn_encoding {
    struct tn_tokenizer *tokenizer;
    struct tn_text_encoding encoding;
    uint32_t *mask;
};

static struct tn_alloc *alloc_of(const struct tn_tokenizer *t)
{
    return &t->package->runtime->alloc;
}

static void drop(struct tn_tokenizer *t)
{
    if (!tn_ref_drop(&t->ref)) return;
    struct tn_package *package = t->package;
    tn_text_tokenizer_free(t->text);
    tn_free(&package->runtime->alloc, t);
    tn_package_unref(package);
}

TN_API tn_status tn_tokenizer_open(tn_package *package, tn_tokenizer **out, tn_error *err)
{
    if (out) *out = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_LOAD, "package");
    if (!out) return tn_null_argument(err, TN_PHASE_LOAD, "out");
    struct tn_tokenizer *t = tn_calloc(&package->runtime->alloc, 1, sizeof(*t));
    if (!t) return tn_error_memory(err, TN_PHASE_LOAD, "opening the tokenizer");
    enum tn_status st = tn_tokenizer_build(&package->runtime->ctx, package->description, &t->text, err);
    if (st) {
        tn_free(&package->runtime->alloc, t);
        return st;
    }
    tn_ref_init(&t->ref);
    tn_package_ref(package);
    t->package = package;
    *out = t;
    return TN_OK;
}

TN_API void tn_tokenizer_free(tn_tokenizer *tokenizer)
{
    if (tokenizer) drop(tokenizer);
}

static enum tn_status check(const struct tn_tokenizer *t, const tn_encode_request *r, struct tn_error *err)
{
    uint64_t limit = t->package->runtime->ctx.limits.text_bytes, longest = r->text.length;
    if (!r->text.data && r->text.length > 0) return tn_null_argument(err, TN_PHASE_REQUEST, "text");
    if (!r->pair.data && r->pair.length > 0) return tn_null_argument(err, TN_PHASE_REQUEST, "pair");
    if (r->pair.length > longest) longest = r->pair.length;
    if (longest <= limit) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_REQUEST, "the text passes the limit \"text_bytes\"");
    tn_found(f, "%llu bytes", (unsigned long long)longest);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    return TN_RESOURCE_LIMIT;
}

static enum tn_status encode(struct tn_encoding *e, const tn_encode_request *r, struct tn_error *err)
{
    const struct tn_tokenizer *t = e->tokenizer;
    const struct tn_tokenizer_facts *facts = &t->package->description->tokenizer;
    struct tn_text_options options = {
        .no_special = r->no_special,
        .truncate_right_set = true,
        .truncate_left = tn_str_is(facts->truncation_side, "left"),
        .max_tokens = r->max_tokens,
        .want_offsets = true,
    };
    struct tn_str text = {r->text.data ? r->text.data : "", r->text.length}, pair = {r->pair.data, r->pair.length};
    enum tn_status st = tn_text_encode(t->text, text, pair, &options, &e->encoding, err);
    if (st) return st;
    e->mask = tn_calloc(alloc_of(t), e->encoding.count, sizeof(*e->mask));
    if (!e->mask) return tn_error_memory(err, TN_PHASE_REQUEST, "encoding a text");
    for (size_t i = 0; i < e->encoding.count; i++) e->mask[i] = 1; /* nothing is padded */
    return TN_OK;
}

TN_API tn_status tn_tokenizer_encode(tn_tokenizer *tokenizer, const tn_encode_request *request, tn_encoding **out,
                                     tn_error *err)
{
    tn_encode_request r;
    if (out) *out = NULL;
    if (!tokenizer) return tn_null_argument(err, TN_PHASE_REQUEST, "tokenizer");
    if (!request) return tn_null_argument(err, TN_PHASE_REQUEST, "request");
    if (!out) return tn_null_argument(err, TN_PHASE_REQUEST, "out");
    enum tn_status st = tn_read_options(&r, sizeof(r), request, "tn_encode_request", err);
    if (!st) st = check(tokenizer, &r, err);
    if (st) return st;
    struct tn_encoding *e = tn_calloc(alloc_of(tokenizer), 1, sizeof(*e));
    if (!e) return tn_error_memory(err, TN_PHASE_REQUEST, "encoding a text");
    e->tokenizer = tokenizer;
    tn_ref_take(&tokenizer->ref);
    tn_text_encoding_init(&e->encoding, alloc_of(tokenizer));
    st = encode(e, &r, err);
    if (st) {
        tn_encoding_free(e);
        return st;
    }
    *out = e;
    return TN_OK;
}

TN_API tn_tokens tn_encoding_tokens(const tn_encoding *encoding)
{
    tn_tokens t = {0};
    if (!encoding) return t;
    const struct tn_text_encoding *e = &encoding->encoding;
    t.ids = e->ids;
    t.type_ids = e->type_ids;
    t.attention_mask = encoding->mask;
    t.offsets = (const uint32_t (*)[2])e->offsets;
    t.count = e->count;
    t.truncated = e->truncated;
    return t;
}

TN_API tn_string tn_encoding_token(const tn_encoding *encoding, size_t i)
{
    tn_string none = {NULL, 0};
    if (!encoding || i >= encoding->encoding.count) return none;
    struct tn_str s = tn_text_token(encoding->tokenizer->text, encoding->encoding.ids[i]);
    return (tn_string){s.s, s.n};
}

TN_API void tn_encoding_free(tn_encoding *encoding)
{
    if (!encoding) return;
    struct tn_tokenizer *t = encoding->tokenizer;
    tn_text_encoding_release(&encoding->encoding);
    tn_free(alloc_of(t), encoding->mask);
    tn_free(alloc_of(t), encoding);
    drop(t);
}
