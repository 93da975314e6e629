/* One tokenizer under 16 threads with different options gives what one thread gives. Run under the thread sanitizer too. */
#include "text_util.h"

#include "base/hash.h"
#include "base/os_thread.h"

enum { THREADS = 16, TEXTS = 60 };

struct worker {
    const struct tn_text_tokenizer *t;
    struct tn_alloc *alloc;
    struct tn_text_options options;
    struct tn_thread thread;
    struct tn_digest digest;
    bool failed;
};

static size_t random_text(uint64_t *state, char *out)
{
    static const char *const parts[] = {"the", " hello", "  ", "caf\u00e9", "e\u0301", "\u4e2d\u56fd", " 123", "\n", "'s", "WORLD", "\ufb01", "<mask>", "<s>", "\U0001f917", "!!", "x"};
    size_t n = 0;
    for (uint64_t i = test_random(state) % 60; i > 0; i--) {
        const char *part = parts[test_random(state) % (sizeof(parts) / sizeof(parts[0]))];
        memcpy(out + n, part, strlen(part));
        n += strlen(part);
    }
    return n;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct tn_text_encoding e;
    struct tn_sha256 h;
    struct tn_buf decoded;
    uint64_t state = 7;
    char text[1024];
    tn_sha256_init(&h);
    tn_text_encoding_init(&e, w->alloc);
    for (int i = 0; i < TEXTS; i++) {
        struct tn_str s = {text, random_text(&state, text)}, pair = i % 5 == 0 ? TN_STR("the other one") : (struct tn_str){0};
        w->failed |= tn_text_encode(w->t, s, pair, &w->options, &e, NULL) != TN_OK;
        tn_sha256_update(&h, e.ids, e.count * sizeof(*e.ids));
        if (e.offsets) tn_sha256_update(&h, e.offsets, e.count * sizeof(*e.offsets));
        tn_buf_init(&decoded, w->alloc, 1 << 20);
        w->failed |= tn_text_decode(w->t, e.ids, e.count, i % 2, &decoded) != TN_OK;
        tn_sha256_update_str(&h, tn_buf_str(&decoded));
        tn_buf_release(&decoded);
    }
    w->digest = tn_sha256_finish(&h);
    tn_text_encoding_release(&e);
    return NULL;
}

static struct worker worker(const struct text_fixture *x, int i)
{
    return (struct worker){.t = x->t,
                           .alloc = (struct tn_alloc *)&x->alloc,
                           .options = {.want_offsets = i & 1, .no_special = i & 2, .general_path = i & 4, .max_tokens = i & 8 ? 12 : 0,
                                       .truncate_right_set = i & 8, .truncate_left = i % 3 == 0}};
}

static void share(const char *family)
{
    struct text_fixture x;
    struct worker workers[THREADS];
    text_init(&x);
    if (text_open_family(&x, family)) {
        test_fail(__FILE__, __LINE__, "%s: %s", family, x.err->primary.message);
        text_close(&x);
        return;
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i] = worker(&x, i);
        REQUIRE(tn_thread_start(&workers[i].thread, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) tn_thread_join(&workers[i].thread);
    for (int i = 0; i < THREADS; i++) {
        struct worker alone = worker(&x, i);
        work(&alone);
        if (workers[i].failed || alone.failed || !tn_digest_eq(&alone.digest, &workers[i].digest)) {
            test_fail(__FILE__, __LINE__, "%s: thread %d differs", family, i);
        }
    }
    text_close(&x);
}

TEST(sixteen_threads_share_a_tokenizer)
{
    static const char *const families[] = {"Qwen", "RoBERTa", "XLM-RoBERTa", "Llama 2", "CLIP", "DeepSeek", "WordLevel"};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) share(families[i]);
}
