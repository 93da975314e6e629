/*
 * Loads a tokenizer from hostile bytes and uses what was accepted. Up to the first 0xFF (which no UTF-8 holds) the input
 * is the file: tokenizer.json when it begins with '{', else vocab.txt; what follows is one more text to encode.
 */
#include "base/utf8.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static void check_encoding(const struct tn_text_tokenizer *t, const struct tn_text_encoding *e, const size_t lengths[2])
{
    size_t longest = lengths[0] > lengths[1] ? lengths[0] : lengths[1];
    require(e->total >= e->count && e->truncated == (e->total > e->count));
    for (size_t i = 0; i < e->count; i++) {
        require(e->ids[i] < tn_text_vocab_size(t));
        require(tn_text_token(t, e->ids[i]).s != NULL);
        require(e->special_mask[i] <= 1);
        if (e->offsets) require(e->offsets[i][0] <= e->offsets[i][1] && e->offsets[i][1] <= longest);
    }
}

static bool same(const struct tn_text_encoding *a, const struct tn_text_encoding *b)
{
    if (a->count != b->count || a->total != b->total) return false;
    if (a->count == 0) return true;
    return memcmp(a->ids, b->ids, a->count * sizeof(*a->ids)) == 0 &&
           memcmp(a->type_ids, b->type_ids, a->count * sizeof(*a->ids)) == 0 &&
           memcmp(a->offsets, b->offsets, a->count * sizeof(*a->offsets)) == 0;
}

static void check_decoding(const struct tn_text_tokenizer *t, const struct tn_text_encoding *e, struct tn_alloc *alloc)
{
    struct tn_buf out;
    tn_buf_init(&out, alloc, 1 << 24);
    if (tn_text_decode(t, e->ids, e->count, false, &out) == TN_OK) {
        require(tn_utf8_valid_prefix(out.data ? out.data : "", out.len) == out.len);
    }
    tn_buf_release(&out);
}

/* Both encodings are reused for all texts, as a caller would. */
static void use(const struct tn_text_tokenizer *t, struct tn_text_encoding *fast, struct tn_text_encoding *general,
                struct tn_str text)
{
    for (unsigned i = 0; i < 6; i++) {
        struct tn_text_options o = {.no_special = i == 1, .max_tokens = i == 2 ? 7 : 0, .want_offsets = true,
                                    .truncate_right_set = true, .truncate_left = i == 2,
                                    .strategy = i == 5 ? TN_TEXT_ONLY_FIRST : TN_TEXT_AS_STATED};
        struct tn_str pair = i >= 4 ? TN_STR("Caf\u00e9 [SEP] \u4e2d ab") : (struct tn_str){0};
        size_t lengths[2] = {text.n, pair.n};
        if (i == 5) o.max_tokens = 9;
        enum tn_status status = tn_text_encode(t, text, pair, &o, fast, NULL);
        o.general_path = true;
        enum tn_status again = tn_text_encode(t, text, pair, &o, general, NULL);
        if (status == TN_INSUFFICIENT_MEMORY || again == TN_INSUFFICIENT_MEMORY) continue;
        require(status == again);
        if (status) continue;
        check_encoding(t, fast, lengths);
        require(same(fast, general));
        if (i == 0) check_decoding(t, fast, fast->alloc);
    }
}

static enum tn_status load(const struct tn_context *ctx, struct tn_str file, struct tn_text_tokenizer **t)
{
    struct tn_json_doc doc;
    static struct tn_error err;
    if (file.n == 0 || file.s[0] != '{') {
        struct tn_wordpiece_options o = {.vocab_name = TN_STR("vocab.txt"), .vocab = file, .do_lower_case = file.n % 2,
                                         .tokenize_chinese_chars = file.n % 3 != 0, .mpnet = file.n % 5 == 0,
                                         .unk_token = TN_STR("[UNK]"), .cls_token = TN_STR("[CLS]"),
                                         .sep_token = TN_STR("[SEP]"), .pad_token = TN_STR("[PAD]"),
                                         .mask_token = TN_STR("[MASK]")};
        return tn_text_tokenizer_from_vocab(ctx, &o, t, &err);
    }
    enum tn_status status = tn_json_parse(&doc, ctx->alloc, &ctx->limits, TN_STR("tokenizer.json"), file, NULL);
    if (status) return status;
    status = tn_text_tokenizer_from_json(ctx, tn_json_root(&doc), t, &err);
    tn_json_release(&doc);
    require(status == TN_OK || err.primary.code == status);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const texts[] = {"", "Hello, the world's caf\u00e9s [CLS] <mask> don't ab", " \u4e2d\u56fd\u3000 \u0301x\u0323\u0301 A\u030a \u1e9b\u0323 \U0001d165\u0316",
                                        "a b  c\n\n12.5--x"};
    struct tn_alloc alloc;
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    struct tn_text_tokenizer *t = NULL;
    struct tn_text_encoding fast, general;
    const uint8_t *end = size ? memchr(data, 0xFF, size) : NULL;
    size_t n = end ? (size_t)(end - data) : size;
    tn_alloc_init(&alloc);
    atomic_store(&alloc.budget, (uint64_t)512 << 20);
    ctx.limits.text_bytes = 1 << 16;
    tn_text_encoding_init(&fast, &alloc);
    tn_text_encoding_init(&general, &alloc);
    if (load(&ctx, (struct tn_str){(const char *)data, n}, &t) == TN_OK) {
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) use(t, &fast, &general, tn_str_of(texts[i]));
        if (end) use(t, &fast, &general, (struct tn_str){(const char *)end + 1, size - n - 1});
        tn_text_tokenizer_facts(t);
    }
    tn_text_encoding_release(&fast);
    tn_text_encoding_release(&general);
    tn_text_tokenizer_free(t);
    require(tn_alloc_current(&alloc) == 0);
    return 0;
}
