/* The tokenizer as a value: making, releasing, looking up, and its identity. */
#include "text/internal.h"

enum tn_status tn_text_tokenizer_new(struct tn_text_loader *ld)
{
    struct tn_text_tokenizer *t = tn_calloc(ld->ctx->alloc, 1, sizeof(*t));
    if (!t) return tn_load_memory(ld);
    t->alloc = ld->ctx->alloc;
    t->limits = ld->ctx->limits;
    t->cache_bits = TN_CACHE_BITS;
    tn_arena_init(&t->arena, t->alloc);
    tn_vocab_init(&t->vocab, t->alloc);
    tn_vocab_init(&t->added.vocab, t->alloc);
    ld->t = t;
    return TN_OK;
}

void tn_text_tokenizer_free(struct tn_text_tokenizer *t)
{
    if (!t) return;
    tn_added_release(t);
    tn_vocab_release(&t->vocab);
    tn_free(t->alloc, t->bpe.pairs);
    tn_free(t->alloc, t->unigram.scores);
    tn_free(t->alloc, t->unigram.entries);
    tn_piece_trie_release(&t->unigram.trie);
    tn_free(t->alloc, t->normalizers.at);
    tn_free(t->alloc, t->pre_tokenizers.at);
    tn_arena_release(&t->arena);
    tn_free(t->alloc, t);
}

/* ---- lookups -------------------------------------------------------------------------------------------------- */

size_t tn_text_vocab_size(const struct tn_text_tokenizer *t)
{
    size_t model = t->vocab.count ? (size_t)t->vocab.max_id + 1 : 0;
    size_t added = t->added.count ? (size_t)t->added.vocab.max_id + 1 : 0;
    return model > added ? model : added;
}

struct tn_str tn_text_token(const struct tn_text_tokenizer *t, uint32_t id)
{
    struct tn_str token = tn_vocab_token(&t->vocab, id);
    return token.s ? token : tn_vocab_token(&t->added.vocab, id);
}

bool tn_text_token_id(const struct tn_text_tokenizer *t, struct tn_str token, uint32_t *id)
{
    return tn_vocab_id(&t->added.vocab, token, id) || tn_vocab_id(&t->vocab, token, id);
}

static bool program_begins(const struct tn_post_program *p)
{
    return p->count && p->ops[0].is_token;
}

static bool program_ends(const struct tn_post_program *p)
{
    return p->count && p->ops[p->count - 1].is_token;
}

struct tn_text_facts tn_text_tokenizer_facts(const struct tn_text_tokenizer *t)
{
    static const char *const strategies[] = {"longest_first", "only_first", "only_second"};
    const struct tn_post_program *single = &t->post.programs[0][1];
    return (struct tn_text_facts){
        .truncation = t->truncation.present,
        .padding = t->padding.present,
        .truncation_max_length = t->truncation.max_length,
        .adds_bos_like_first = program_begins(single),
        .adds_eos_like_last = program_ends(single),
        .unicode_version = TN_UC_VERSION,
        .truncation_stride = t->truncation.stride,
        .truncation_strategy = t->truncation.present ? strategies[t->truncation.strategy] : NULL,
        .truncation_left = t->truncation.left,
        .padding_left = t->padding.left,
        .padding_fixed = t->padding.fixed,
        .padding_length = t->padding.fixed_length,
        .padding_multiple = t->padding.multiple,
        .padding_id = t->padding.id,
        .padding_type_id = t->padding.type_id,
        .padding_token = t->padding.token,
        .decoder = t->decoder.present,
        .byte_pairs = t->kind == &tn_model_bpe,
        .continuing_prefix = t->kind == &tn_model_wordpiece ? t->model.prefix.n > 0 : t->kind == &tn_model_bpe && t->bpe.prefix.n > 0,
        .special_tokens_single = t->post.added[0],
        .special_tokens_pair = t->post.added[1],
    };
}

/* ---- identity ------------------------------------------------------------------------------------------------- */

static void hash_points(struct tn_sha256 *h, const uint32_t *points, size_t n)
{
    tn_sha256_update_u64(h, n);
    for (size_t i = 0; i < n; i++) tn_sha256_update_u64(h, points[i]);
}

static void hash_pattern(struct tn_sha256 *h, const struct tn_pattern *p)
{
    hash_points(h, p->literal, p->length);
    tn_sha256_update_str(h, p->text);
}

static void hash_stages(struct tn_sha256 *h, const struct tn_text_tokenizer *t)
{
    tn_sha256_update_u64(h, t->normalizers.count);
    for (size_t i = 0; i < t->normalizers.count; i++) {
        const struct tn_normalizer *n = &t->normalizers.at[i];
        tn_sha256_update_u64(h, (uint64_t)n->kind << 8 | (uint64_t)n->clean_text | (uint64_t)n->chinese << 1 |
                                    (uint64_t)n->strip_accents << 2 | (uint64_t)n->lowercase << 3 |
                                    (uint64_t)n->left << 4 | (uint64_t)n->right << 5);
        hash_pattern(h, &n->pattern);
        hash_points(h, n->content, n->content_length);
        if (n->charsmap) tn_sha256_update(h, n->charsmap->identity.bytes, sizeof(n->charsmap->identity.bytes));
    }
    tn_sha256_update_u64(h, t->pre_tokenizers.count);
    for (size_t i = 0; i < t->pre_tokenizers.count; i++) {
        const struct tn_pre_tokenizer *p = &t->pre_tokenizers.at[i];
        tn_sha256_update_u64(h, (uint64_t)p->kind << 8 | (uint64_t)p->behavior << 1 | (uint64_t)p->invert);
        tn_sha256_update_u64(h, p->delimiter);
        tn_sha256_update_u64(h, p->length);
        hash_pattern(h, &p->pattern);
        tn_sha256_update_u64(h, (uint64_t)p->replacement << 32 | (uint64_t)p->prepend << 8 |
                                    (uint64_t)p->add_prefix_space << 2 | (uint64_t)p->use_regex << 1 |
                                    (uint64_t)p->split);
    }
}

static void hash_added(struct tn_sha256 *h, const struct tn_added *added)
{
    tn_sha256_update_u64(h, added->count);
    for (size_t i = 0; i < added->count; i++) {
        const struct tn_added_token *a = &added->at[i];
        tn_sha256_update_str(h, a->content);
        tn_sha256_update_u64(h, a->id);
        tn_sha256_update_u64(h, (uint64_t)a->single_word | (uint64_t)a->lstrip << 1 | (uint64_t)a->rstrip << 2 |
                                    (uint64_t)a->normalized << 3 | (uint64_t)a->special << 4);
    }
}

static void hash_post(struct tn_sha256 *h, const struct tn_post *post)
{
    for (int i = 0; i < 4; i++) {
        const struct tn_post_program *p = &post->programs[i >> 1][i & 1];
        tn_sha256_update_u64(h, p->count);
        for (size_t k = 0; k < p->count; k++) {
            const struct tn_post_op *op = &p->ops[k];
            tn_sha256_update_u64(h, (uint64_t)op->is_token | (uint64_t)op->trim << 1 |
                                        (uint64_t)op->trim_prefix_space << 2 | (uint64_t)op->first << 3 |
                                        (uint64_t)op->special << 4 | (uint64_t)op->sequence << 8);
            tn_sha256_update_u64(h, (uint64_t)op->id << 32 | op->type_id);
        }
    }
    tn_sha256_update_u64(h, post->added[0]);
    tn_sha256_update_u64(h, post->added[1]);
}

void tn_text_tokenizer_seal(struct tn_text_tokenizer *t)
{
    struct tn_sha256 h;
    tn_fast_bert_prepare(t);
    tn_fast_bytes_prepare(t);
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.tokenizer/2"));
    tn_sha256_update_str(&h, tn_str_of(TN_UC_VERSION));
    tn_sha256_update_str(&h, tn_str_of(t->kind->name));
    t->kind->fingerprint(t, &h);
    hash_stages(&h, t);
    hash_added(&h, &t->added);
    hash_post(&h, &t->post);
    t->identity = tn_sha256_finish(&h);
}

void tn_text_fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h)
{
    tn_sha256_update(h, t->identity.bytes, sizeof(t->identity.bytes));
}
