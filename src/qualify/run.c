/*
 * One qualification from plan to record: what is tried in which order. Each check is in a file of its own kind; this one
 * only knows the order, the texts, and what a record says about the run as a whole.
 */
#include "qualify/suite.h"

#include "base/os.h"
#include "task/embedding.h"

#include <string.h>

/*
 * Short and long, empty and blank, several scripts, characters that tokenizers remove, a word that no vocabulary holds.
 * Index 3 is the plain short one and index 4 the sentence of different words that single checks use; the last slot takes
 * the long text.
 */
static const char *const fixed_texts[TN_SUITE_TEXTS - 1] = {
    "",
    " \t\n ",
    "a",
    "One short sentence.",
    "Seven different words stand in this line",
    "How far is the moon, and how long would a train take to get there?",
    "In 1969, 2 people walked 1.5 km: 50% more than planned (see p. 12-14).",
    "if (count == 0) { return NULL; } /* nothing to do */",
    "Gr\xC3\xB6\xC3\x9F" "e, na\xC3\xAFve caf\xC3\xA9, cafe\xCC\x81, \xC4\xB0zmir",
    "\xD0\x9F\xD0\xBE\xD0\xB3\xD0\xBE\xD0\xB4\xD0\xB0 \xD1\x85\xD0\xBE\xD1\x80\xD0\xBE\xD1\x88\xD0\xB0\xD1\x8F",
    "\xE5\xA4\xA9\xE6\xB0\x94\xE5\xBE\x88\xE5\xA5\xBD\xE3\x80\x82\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E",
    "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7 \xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA5\x87",
    "signs \xF0\x9F\x9A\x80\xF0\x9F\x98\x80 and zero\xE2\x80\x8Bwidth, soft\xC2\xADhyphen, bell\x07",
    "qzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpqzxjkvwpq",
    "The keeper of the lighthouse wrote every evening into the same book: the wind, the sea, the ships that had passed, "
    "and whether the lamp had needed oil. In autumn the lines were short. In winter they were shorter still, because "
    "the ink froze, and on some days there was only a number. In spring the keeper read the whole book again from the "
    "beginning and found that nothing in it was wrong and that almost everything was missing.",
};

static const char *const exclusions[] = {
    "only this machine's CPU class and this build were tried",
    "deployment_qualified cannot be reached by this suite: it says nothing about throughput, latency or load",
    "the quality of the model for any purpose was not judged, only that it computes what it should",
    NULL,
};

static const char *const exclusions_without_golden[] = {
    "only this machine's CPU class and this build were tried",
    "no golden file was given: nothing compares the answers with another implementation",
    "deployment_qualified cannot be reached by this suite: it says nothing about throughput, latency or load",
    "the quality of the model for any purpose was not judged, only that it computes what it should",
    NULL,
};

static enum tn_status prepare_texts(struct tn_suite *s)
{
    size_t words = s->max_tokens + 7 < TN_SUITE_LONG ? s->max_tokens + 7 : TN_SUITE_LONG;
    s->long_text = tn_malloc(s->alloc, 2 * words);
    if (!s->long_text) return tn_suite_no_memory(s);
    for (size_t i = 0; i < words; i++) {
        s->long_text[2 * i] = (char)('z' - i % 26);
        s->long_text[2 * i + 1] = ' ';
    }
    s->count = TN_SUITE_TEXTS;
    for (size_t i = 0; i + 1 < s->count; i++) {
        const char *text = fixed_texts[i][0] || !s->kind->stand_in ? fixed_texts[i] : s->kind->stand_in;
        s->texts[i] = (tn_string){text, strlen(text)};
    }
    s->texts[s->count - 1] = (tn_string){s->long_text, 2 * words};
    return TN_OK;
}

/* ---- what the record says ----------------------------------------------------------------------------------------- */

static struct tn_str last_part(struct tn_str path)
{
    while (path.n > 1 && path.s[path.n - 1] == '/') path.n--;
    size_t from = path.n;
    while (from > 0 && path.s[from - 1] != '/') from--;
    return (struct tn_str){path.s + from, path.n - from};
}

static struct tn_str hex_of(struct tn_arena *arena, const struct tn_digest *digest)
{
    char hex[TN_SHA256_HEX];
    return tn_arena_str(arena, tn_str_of(tn_digest_hex(digest, hex)));
}

static enum tn_status describe_package(struct tn_suite *s)
{
    struct tn_record *r = s->r;
    char text[256];
    struct tn_cpu cpu;
    r->package = tn_arena_str(&r->arena, last_part(s->d->inv->root));
    r->dialect = tn_arena_str(&r->arena, s->d->dialect);
    r->variant = tn_arena_str(&r->arena, s->d->variant ? s->d->variant->id : TN_STR(""));
    r->manifest = hex_of(&r->arena, &s->d->inv->manifest);
    r->plan = hex_of(&r->arena, &s->plan->fingerprint);
    tn_cpu_detect(&cpu);
    r->brand = tn_arena_str(&r->arena, tn_str_of(cpu.brand));
    tn_os_describe(text, sizeof(text));
    r->os = tn_arena_str(&r->arena, tn_str_of(text));
    bool complete = r->package.s && r->dialect.s && r->variant.s && r->manifest.s && r->plan.s && r->brand.s && r->os.s;
    return complete ? TN_OK : tn_suite_no_memory(s);
}

/* Copies what the plan holds: the record outlives it. */
static enum tn_status describe_route(struct tn_suite *s)
{
    struct tn_record *r = s->r;
    const struct tn_record_route *from = &s->plan->row->record_route;
    const struct tn_str *in[] = {&from->provider, &from->provider_version, &from->family, &from->isa_class,
                                 &from->stored,   &from->compute,          &from->accumulate, &from->kv,
                                 &from->recipe,   &from->contract};
    struct tn_str *out[] = {&r->route.provider, &r->route.provider_version, &r->route.family, &r->route.isa_class,
                            &r->route.stored,   &r->route.compute,          &r->route.accumulate, &r->route.kv,
                            &r->route.recipe,   &r->route.contract};
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
        *out[i] = tn_arena_str(&r->arena, *in[i]);
        if (!out[i]->s) return tn_suite_no_memory(s);
    }
    r->task = tn_str_of(s->plan->task->name);
    r->contract = r->route.contract;
    r->recipe = r->route.recipe;
    r->suite = tn_str_of(s->kind->revision);
    r->build = tn_str_of(tn_version());
    r->created = tn_os_wall_seconds();
    r->max_tokens = s->max_tokens;
    r->threads = s->plan->row->request.threads;
    return tn_record_facts_of(&r->facts, &r->arena, s->d, &r->route, s->err);
}

enum tn_status tn_suite_describe(struct tn_suite *s)
{
    enum tn_status status = describe_package(s);
    return status ? status : describe_route(s);
}

static enum tn_status describe_golden(struct tn_suite *s)
{
    struct tn_record *r = s->r;
    r->exclusions = s->golden.present ? exclusions : exclusions_without_golden;
    r->ceiling = s->golden.present ? TN_LEVEL_REFERENCE_QUALIFIED : TN_LEVEL_LOADS;
    /* A field that the caller vouches for is not evidence, whatever the numbers say. */
    if (s->d->descriptive_count) {
        struct tn_check *c = tn_suite_check(s, "package.understood", TN_LEVEL_REFERENCE_QUALIFIED,
                                            "every field of the configuration is understood", NULL);
        if (!c) return tn_suite_no_memory(s);
        tn_check_skip(c, "the caller vouches for %u of them", (unsigned)s->d->descriptive_count);
        r->ceiling = TN_LEVEL_LOADS;
    }
    if (!s->golden.present) return TN_OK;
    r->golden_file = tn_arena_str(&r->arena, last_part(tn_str_of(s->env->golden)));
    r->golden_sha256 = hex_of(&r->arena, &s->golden.digest);
    r->golden_certificate = tn_arena_str(&r->arena, s->golden.certificate);
    r->golden_cases = s->golden.count;
    return r->golden_file.s && r->golden_sha256.s && r->golden_certificate.s ? TN_OK : tn_suite_no_memory(s);
}

/* The space of the package's vectors, as the account of a request tells it. */
static enum tn_status read_space(struct tn_suite *s)
{
    tn_execution *x = NULL;
    tn_document *account = NULL;
    tn_event event = {0};
    struct tn_json_doc doc = {0};
    struct tn_str space;
    size_t length = 0;
    tn_embed_request request = tn_suite_request(&s->texts[3], 1);
    enum tn_status status = tn_embed_start(s->session, &request, &x, s->err);
    while (!status && event.kind != TN_EVENT_TERMINAL) {
        status = tn_execution_next(x, UINT32_MAX, &event, s->scratch);
        /* Whether texts can be embedded at all is what the checks find out. */
        if (status && s->err) *s->err = *s->scratch;
        else if (!status && tn_suite_is_fatal(s, event.status)) status = event.status;
    }
    if (!status) status = tn_execution_drain(x, UINT32_MAX, s->err);
    if (!status) status = tn_execution_account(x, &account, s->err);
    if (!status) {
        const char *text = tn_document_text(account, &length);
        status = tn_json_parse(&doc, s->alloc, &s->env->ctx->limits, TN_STR("account"), (struct tn_str){text, length},
                               s->err);
    }
    if (!status && tn_json_str(tn_json_find(tn_json_root(&doc), "/identity/space"), &space)) {
        s->r->space = tn_arena_str(&s->r->arena, space);
        if (!s->r->space.s) status = tn_suite_no_memory(s);
    }
    tn_json_release(&doc);
    tn_document_free(account);
    tn_execution_free(x);
    return status;
}

/* ---- the run ------------------------------------------------------------------------------------------------------ */

static enum tn_status refuse_task(struct tn_suite *s)
{
    struct tn_finding *f = tn_error_set(s->err, TN_UNSUPPORTED_TASK, TN_PHASE_RECORD, "there is no suite for this task");
    tn_found(f, "%s", s->plan->task->name);
    return TN_UNSUPPORTED_TASK;
}

static enum tn_status refuse_golden(struct tn_suite *s)
{
    struct tn_finding *f = tn_error_set(s->err, TN_UNSUPPORTED_OPTION, TN_PHASE_RECORD, "goldens of this task cannot be read");
    tn_at_option(f, "golden");
    tn_found(f, "task %s", s->plan->task->name);
    tn_expected(f, "no golden file: the task's invariants alone");
    return TN_UNSUPPORTED_OPTION;
}

/* Plan, golden and tokenizer: everything that can refuse before a weight is read. */
static enum tn_status begin(struct tn_suite *s)
{
    tn_plan_options options = tn_suite_options(s);
    enum tn_status status = tn_plan_new(s->env->package, &options, &s->plan, s->err);
    if (status) return status;
    s->d = s->plan->survey.planner->d;
    s->max_tokens = (size_t)s->plan->survey.route.max_tokens;
    s->normalizes = tn_embedding_normalizes(s->d);
    s->kind = tn_suite_kind_of(s->plan->task);
    if (!s->kind) return refuse_task(s);
    if (s->env->golden && !s->kind->embeds) return refuse_golden(s);
    if (s->env->golden) {
        status = tn_golden_open(&s->golden, s->env->ctx, s->env->golden, s->err);
        if (!status) status = tn_golden_belongs(&s->golden, s->d->inv, s->env->stop, s->err);
    }
    if (!status) status = tn_suite_describe(s);
    if (!status) status = describe_golden(s);
    if (!status) status = tn_tokenizer_open(s->env->package, &s->tokenizer, s->err);
    if (!status) status = prepare_texts(s);
    return status;
}

static void note_envelope(struct tn_suite *s)
{
    s->r->texts = s->base.count;
    s->r->dimensions = s->base.dimensions;
    for (size_t i = 0; i < s->base.count; i++) {
        if (s->base.events[i].tokens > s->r->longest_tokens) s->r->longest_tokens = s->base.events[i].tokens;
    }
}

/* The first session, and the answers that all others are held against. */
static enum tn_status first_answers(struct tn_suite *s)
{
    tn_load_options load = TN_INIT(tn_load_options);
    load.cancel = s->env->cancel;
    enum tn_status status = tn_session_load(s->plan, &load, &s->session, s->err);
    if (status) return status;
    tn_embed_request request = tn_suite_request(s->texts, s->count);
    status = tn_suite_ask(s, s->session, &request, &s->base);
    if (!status) note_envelope(s);
    if (!s->kind->embeds) s->r->space = TN_STR("");
    return status || !s->kind->embeds ? status : read_space(s);
}

static enum tn_status run_checks(struct tn_suite *s)
{
    enum tn_status status = s->kind->embeds ? tn_check_mask(s) : TN_OK;
    if (!status) status = first_answers(s);
    for (tn_suite_check_fn *const *check = s->kind->checks; !status && *check; check++) {
        status = tn_cancel_fail(s->env->stop, TN_PHASE_RECORD, s->err);
        if (!status) status = (*check)(s);
    }
    return status;
}

enum tn_status tn_qualify_run(const struct tn_qualify_env *env, struct tn_record *out, struct tn_error *err)
{
    struct tn_suite s = {.env = env, .alloc = env->ctx->alloc, .r = out, .err = err};
    s.scratch = tn_calloc(s.alloc, 1, sizeof(*s.scratch));
    if (!s.scratch) return tn_suite_no_memory(&s);
    enum tn_status status = begin(&s);
    if (!status) status = run_checks(&s);
    tn_session_free(s.session);
    tn_answers_release(&s.base);
    tn_golden_release(&s.golden);
    tn_tokenizer_free(s.tokenizer);
    tn_plan_free(s.plan);
    tn_free(s.alloc, s.long_text);
    tn_free(s.alloc, s.scratch);
    return status;
}
