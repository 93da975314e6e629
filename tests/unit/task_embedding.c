/*
 * The dense embedding recipe by itself: what happens to vectors, which rows are pooled behind a prompt, and the steps it
 * takes. No provider and no session: the test plays the scheduler.
 */
#include "session_fake.h"

#include "task/embedding.h"

/* ---- vectors ------------------------------------------------------------------------------------------------------ */

static void expect_finish(bool package, uint64_t package_dims, tn_tristate normalize, unsigned dims, uint32_t out,
                          bool first, bool last, bool normalized)
{
    struct tn_embedding_finish f = tn_embedding_finish_of(package, package_dims, 10, normalize, dims);
    if (f.dimensions != out || f.normalize_first != first || f.normalize_last != last || f.normalized != normalized) {
        test_fail(__FILE__, __LINE__, "package %d/%llu, normalize %d, dimensions %u: %u %d %d %d", package,
                  (unsigned long long)package_dims, (int)normalize, dims, f.dimensions, f.normalize_first, f.normalize_last,
                  f.normalized);
    }
}

TEST(the_order_of_normalising_and_cutting)
{
    expect_finish(true, 0, TN_AUTO, 0, 10, true, false, true);
    expect_finish(true, 0, TN_YES, 0, 10, true, false, true);
    expect_finish(true, 0, TN_NO, 0, 10, false, false, false);
    expect_finish(false, 0, TN_AUTO, 0, 10, false, false, false);
    expect_finish(false, 0, TN_YES, 0, 10, false, true, true);
    expect_finish(true, 0, TN_AUTO, 4, 4, true, false, false);
    expect_finish(true, 0, TN_YES, 4, 4, true, true, true);
    expect_finish(true, 0, TN_NO, 4, 4, false, false, false);
    expect_finish(false, 0, TN_YES, 4, 4, false, true, true);
    expect_finish(true, 6, TN_AUTO, 0, 6, true, false, false);
    expect_finish(true, 6, TN_YES, 0, 6, true, true, true);
    expect_finish(true, 6, TN_AUTO, 8, 8, true, false, false); /* the request's word counts */
    expect_finish(true, 6, TN_AUTO, 10, 10, true, false, true);
    expect_finish(true, 60, TN_AUTO, 0, 10, true, false, true); /* wider than the vector: nothing is cut */
}

TEST(normalising)
{
    float x[2] = {2, 2}, zero[3] = {0, 0, 0}, tiny[2] = {1e-30f, 0}, huge[2] = {3e38f, 3e38f};
    tn_embedding_normalize(x, 2);
    CHECK_NEAR(x[0], 0.70710678, 1e-7);
    CHECK_NEAR(x[1], 0.70710678, 1e-7);
    tn_embedding_normalize(zero, 3);
    for (int i = 0; i < 3; i++) CHECK(zero[i] == 0);
    tn_embedding_normalize(tiny, 2); /* 1e-30 / 1e-12, as torch's functional normalize */
    CHECK_NEAR(tiny[0], 1e-18, 1e-24);
    tn_embedding_normalize(huge, 2);
    CHECK_NEAR(huge[0], 0.70710678, 1e-7);
}

/* ---- spans behind a prompt ------------------------------------------------------------------------------------------ */

struct player {
    struct bench b;
    struct tn_description d; /* a changed copy */
    struct tn_module modules[2];
    struct tn_prompt prompt;
    struct tn_text_tokenizer *tokenizer;
    struct tn_recipe_model *model;
    struct tn_batch batch;
    struct tn_recipe_scratch scratch;
    struct tn_task_route route;
    int32_t ids[4096], types[4096], offsets[257];
    struct tn_span spans[256];
    size_t items[256];
    uint8_t status[256];
    float out[256 * 4];
};

static const struct tn_recipe *const recipe = &tn_recipe_embedding_dense;

static bool play_begin(struct player *p, const enum tn_pooling *modes, uint32_t count, const char *prompt)
{
    memset(&fake, 0, sizeof(fake));
    if (!bench_open(&p->b, test_path("golden/packages/bert_options"))) return false;
    p->d = *p->b.d;
    p->modules[0] = p->d.modules[0];
    p->modules[1] = (struct tn_module){.kind = TN_MODULE_POOLING, .pooling_count = count, .include_prompt = false};
    memcpy(p->modules[1].pooling, modes, count * sizeof(*modes));
    p->prompt = (struct tn_prompt){TN_STR("p"), tn_str_of(prompt)};
    p->d.modules = p->modules;
    p->d.module_count = 2;
    p->d.prompts = &p->prompt;
    p->d.prompt_count = 1;
    p->route = (struct tn_task_route){.component = &p->d.components[0], .first_module = 1, .module_end = 2, .max_tokens = 32};
    p->batch = (struct tn_batch){.ids = p->ids, .type_ids = p->types, .offsets = p->offsets, .spans = p->spans, .items = p->items,
                                 .status = p->status, .out = p->out, .width = 4, .max_rows = 4096, .max_sequences = 256};
    tn_text_encoding_init(&p->scratch.encoding, &p->b.alloc);
    if (tn_tokenizer_build(&p->b.ctx, &p->d, &p->tokenizer, p->b.err)) return false;
    struct tn_recipe_env env = {.ctx = &p->b.ctx, .d = &p->d, .route = &p->route, .tokenizer = p->tokenizer, .output_width = 4};
    return recipe->prepare(&env, &p->model, p->b.err) == TN_OK;
}

static void play_end(struct player *p)
{
    recipe->discard(p->model);
    tn_text_encoding_release(&p->scratch.encoding);
    tn_text_tokenizer_free(p->tokenizer);
    bench_end(&p->b);
}

/* One text with the prompt. Its span, or the code that it failed with. */
static enum tn_status play_span(struct player *p, const char *text, struct tn_span *span, uint32_t *tokens)
{
    tn_string s = bench_text(text);
    tn_embed_request r = TN_INIT(tn_embed_request);
    struct tn_recipe_run *run;
    tn_event e = {0};
    r.texts = &s;
    r.count = 1;
    r.role = "p";
    uint64_t bytes;
    CHECK_INT(recipe->measure(p->model, &r, &bytes, p->b.err), TN_OK);
    if (recipe->start(p->model, &r, &p->b.alloc, &run, p->b.err)) return TN_RUNTIME_FAILURE;
    tn_batch_clear(&p->batch);
    static uint64_t id;
    struct tn_step step = {.run_id = ++id, .wanted = &p->batch, .row_quota = 4096, .item_end = 100, .scratch = &p->scratch};
    CHECK_INT(recipe->advance(run, &step, p->b.err), TN_OK);
    *span = p->spans[0];
    *tokens = p->batch.rows;
    if (step.done) recipe->event(run, 0, &e, p->b.err);
    else CHECK_INT(p->batch.sequences, 1);
    recipe->finish(run);
    recipe->release(run);
    return (enum tn_status)e.status;
}

TEST(a_prompt_is_left_out_of_pooling)
{
    static struct player p;
    enum tn_pooling mean[] = {TN_POOLING_MEAN};
    struct tn_span span;
    uint32_t tokens;
    REQUIRE(play_begin(&p, mean, 1, "the people "));
    /* [CLS] the people's tokens ... [SEP]: the prompt alone, without its [SEP] */
    CHECK_INT(play_span(&p, "", &span, &tokens), TN_OK);
    uint32_t prompt = tokens - 1;
    CHECK_INT(span.count, 1);
    CHECK_INT(span.first, prompt);
    CHECK_INT(play_span(&p, "the", &span, &tokens), TN_OK);
    CHECK_INT(span.first, prompt);
    CHECK_INT(span.position, prompt);
    CHECK_INT(span.count, tokens - prompt);
    CHECK_INT(span.count, 2);
    play_end(&p);
}

TEST(a_prompt_that_melts_into_the_text)
{
    /* Alone "hell" is four pieces; with "o" behind it the word is known, and fewer tokens stand there than are left out. */
    static const struct {
        enum tn_pooling modes[2];
        uint32_t count;
        enum tn_status expected;
        int32_t span;
    } cases[] = {
        {{TN_POOLING_MEAN}, 1, TN_OK, 0},
        {{TN_POOLING_LAST_TOKEN}, 1, TN_OK, 0},
        {{TN_POOLING_CLS}, 1, TN_OK, 1},
        {{TN_POOLING_MAX}, 1, TN_NUMERICAL_FAILURE, 0},
        {{TN_POOLING_MAX, TN_POOLING_MEAN}, 2, TN_NUMERICAL_FAILURE, 0},
        {{TN_POOLING_CLS, TN_POOLING_MEAN}, 2, TN_SHAPE_OUTSIDE_ENVELOPE, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct player p;
        struct tn_span span;
        uint32_t tokens;
        memset(&p, 0, sizeof(p));
        REQUIRE(play_begin(&p, cases[i].modes, cases[i].count, "hell"));
        CHECK_INT(play_span(&p, "o", &span, &tokens), cases[i].expected);
        if (cases[i].expected == TN_OK) CHECK_INT(span.count, cases[i].span);
        if (cases[i].expected == TN_OK) CHECK_INT(span.first + span.count <= (int32_t)tokens, 1);
        play_end(&p);
    }
}

/* ---- batches --------------------------------------------------------------------------------------------------------- */

TEST(a_batch_takes_what_fits)
{
    static struct player p;
    uint32_t ids[5] = {1, 2, 3, 4, 5}, types[5] = {0, 0, 1, 1, 1};
    memset(&p, 0, sizeof(p));
    p.batch = (struct tn_batch){.ids = p.ids, .type_ids = p.types, .offsets = p.offsets, .spans = p.spans, .items = p.items,
                                .status = p.status, .out = p.out, .width = 4, .max_rows = 12, .max_sequences = 3};
    tn_batch_clear(&p.batch);
    CHECK(tn_batch_add(&p.batch, 7, ids, types, 5, (struct tn_span){1, 4, 1}));
    CHECK(tn_batch_add(&p.batch, 8, ids, NULL, 5, (struct tn_span){2, 3, 2}));
    CHECK(!tn_batch_add(&p.batch, 9, ids, NULL, 5, (struct tn_span){0, 5, 0})); /* rows */
    CHECK(tn_batch_add(&p.batch, 9, ids, NULL, 0, (struct tn_span){0, 0, 0}));
    CHECK(!tn_batch_add(&p.batch, 9, ids, NULL, 1, (struct tn_span){0, 1, 0})); /* sequences */
    CHECK_INT(p.batch.rows, 10);
    CHECK_INT(p.offsets[1], 5);
    CHECK_INT(p.offsets[3], 10);
    CHECK_INT(p.spans[1].first, 7);
    CHECK_INT(p.spans[1].position, 2);
    CHECK_INT(p.items[1], 8);
    CHECK_INT(p.types[4], 1);
    CHECK_INT(p.types[9], 0);
}

/* ---- the registry ------------------------------------------------------------------------------------------------------ */

TEST(tasks_by_name)
{
    CHECK(tn_task_find("embedding.dense") == &tn_task_embedding_dense);
    CHECK(tn_task_find("embedding.dens") == NULL);
    CHECK(tn_task_find("") == NULL);
    size_t n = 0;
    for (; tn_task_at(n); n++) CHECK(tn_task_find(tn_task_at(n)->name) == tn_task_at(n));
    CHECK(n >= 3);
    CHECK_STR(tn_task_embedding_dense.contract, "tenon.embedding.dense/v1");
}
