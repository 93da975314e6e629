/* One tokenizer under 16 threads with different options gives what one thread gives. Run under the thread sanitizer too. */
#include "text_util.h"

#include "base/hash.h"
#include "base/os_thread.h"

enum { THREADS = 16, TEXTS = 40 };

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

/* The tokenizer of `x` under all threads, then each thread's work once more alone. */
static void share(struct text_fixture *x, struct tn_str name)
{
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = worker(x, i);
        REQUIRE(tn_thread_start(&workers[i].thread, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) tn_thread_join(&workers[i].thread);
    for (int i = 0; i < THREADS; i++) {
        struct worker alone = worker(x, i);
        work(&alone);
        if (workers[i].failed || alone.failed || !tn_digest_eq(&alone.digest, &workers[i].digest)) {
            test_fail(__FILE__, __LINE__, "%.*s: thread %d differs", (int)name.n, name.s, i);
        }
    }
}

static void share_row(struct tn_json row)
{
    struct text_fixture x;
    struct tn_str name = TN_STR("a row without a name");
    tn_json_str(tn_json_get(row, "what"), &name);
    text_init(&x);
    if (tn_text_tokenizer_from_json(&x.ctx, tn_json_get(row, "file"), &x.t, x.err)) {
        test_fail(__FILE__, __LINE__, "%.*s: %s", (int)name.n, name.s, x.err->primary.message);
    } else {
        share(&x, name);
    }
    text_close(&x);
}

/* BPE with and without its fast path, Unigram, WordLevel: every family that has a golden. */
TEST(sixteen_threads_share_the_tokenizer_of_every_family)
{
    struct text_fixture x;
    struct tn_json_doc doc;
    size_t n = 0, rows = 0;
    text_init(&x);
    char *json = test_read_file(test_path("golden/tokenizer_extra/families.json"), &n);
    REQUIRE(json != NULL);
    REQUIRE(!tn_json_parse(&doc, &x.alloc, &x.ctx.limits, TN_STR("families"), (struct tn_str){json, n}, x.err));
    for (struct tn_json row = tn_json_first(tn_json_get(tn_json_root(&doc), "rows")); row.doc; row = tn_json_next(row), rows++) share_row(row);
    CHECK(rows > 20);
    tn_json_release(&doc);
    free(json);
    text_close(&x);
}

TEST(sixteen_threads_share_a_wordpiece_tokenizer)
{
    struct text_fixture x;
    text_init(&x);
    REQUIRE(!text_open(&x, "golden/packages/bert_mean_normalize/tokenizer.json"));
    share(&x, TN_STR("WordPiece"));
    text_close(&x);
}
