/* A record that looks like one of a real run, for the tests of src/record. */
#ifndef TN_TESTS_RECORD_SAMPLE_H
#define TN_TESTS_RECORD_SAMPLE_H

#include "record/record.h"
#include "test.h"

struct sample {
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_record_store store;
    struct tn_error err;
};

static inline struct sample *sample_new(const char *folder)
{
    static struct sample s;
    tn_alloc_init(&s.alloc);
    tn_error_clear(&s.err);
    s.ctx = (struct tn_context){.alloc = &s.alloc, .limits = tn_limits_default()};
    s.store = (struct tn_record_store){.ctx = &s.ctx, .folder = folder};
    return &s;
}

static inline void sample_facts(struct tn_record_facts *facts)
{
    static const char *const values[TN_DEPENDENCIES] = {
        [TN_DEPENDS_ON_WEIGHTS] = "aa11", [TN_DEPENDS_ON_WEIGHT_HEADERS] = "bb22",
        [TN_DEPENDS_ON_CONFIG] = "cc33",  [TN_DEPENDS_ON_FAMILY] = "some/1",
        [TN_DEPENDS_ON_PROVIDER] = "native/1", [TN_DEPENDS_ON_ISA_CLASS] = "portable",
        [TN_DEPENDS_ON_NUMERIC] = "stored=f32 compute=f32 accumulate=f32 kv=none",
        [TN_DEPENDS_ON_DESCRIPTION] = "dd44", [TN_DEPENDS_ON_TOKENIZER] = "ee55",
        [TN_DEPENDS_ON_RECIPE] = "embedding.dense/1", [TN_DEPENDS_ON_CONTRACT] = "tenon.embedding.dense/v1"};
    for (unsigned i = 0; i < TN_DEPENDENCIES; i++) facts->value[i] = tn_str_of(values[i]);
}

static inline void sample_record(struct tn_record *r, struct sample *s, int64_t created)
{
    static const char *const exclusions[] = {"only the CPU was tried", NULL};
    tn_record_init(r, &s->alloc);
    r->created = created;
    r->task = TN_STR("embedding.dense");
    r->contract = TN_STR("tenon.embedding.dense/v1");
    r->recipe = TN_STR("embedding.dense/1");
    r->suite = TN_STR("embedding.dense/1");
    r->package = TN_STR("sample");
    r->dialect = TN_STR("sentence_transformers");
    r->manifest = TN_STR("0123");
    r->weights = TN_STR("aa11");
    r->build = TN_STR("0.1.0");
    r->os = TN_STR("Test 1");
    r->route = (struct tn_record_route){.provider = TN_STR("native"), .provider_version = TN_STR("1")};
    r->exclusions = exclusions;
    r->ceiling = TN_LEVEL_REFERENCE_QUALIFIED;
    sample_facts(&r->facts);
}

/* Adds checks whose failure keeps the record below `failing`; TN_LEVEL_RECOGNISED: none fails. */
static inline void sample_checks(struct tn_record *r, enum tn_level failing)
{
    struct tn_check *c = tn_record_check(r, "first", TN_LEVEL_LOADS, "something holds", NULL);
    tn_check_measure(c, "max_abs", 0.25);
    if (failing == TN_LEVEL_LOADS) tn_check_fail(c, "found %d", 3);
    c = tn_record_check(r, "second", TN_LEVEL_REFERENCE_QUALIFIED, "numbers agree", "rounding of one sum");
    tn_check_measure(c, "max_rel", 1e-7);
    if (failing == TN_LEVEL_REFERENCE_QUALIFIED) tn_check_fail(c, "0.5 is not 0.25");
    tn_check_skip(tn_record_check(r, "third", TN_LEVEL_LOADS, "never tried", NULL), "no prompts");
}

/* Stores one; its id goes to id[TN_RECORD_ID + 1]. */
static inline enum tn_status sample_put(struct sample *s, int64_t created, enum tn_level failing, const char *tokenizer,
                                        char *id)
{
    struct tn_record r;
    struct tn_buf text;
    struct tn_json_doc doc;
    sample_record(&r, s, created);
    sample_checks(&r, failing);
    if (tokenizer) r.facts.value[TN_DEPENDS_ON_TOKENIZER] = tn_str_of(tokenizer);
    tn_buf_init(&text, &s->alloc, 1 << 20);
    enum tn_status status = tn_record_write(&r, &text, &s->err);
    if (!status && id) {
        struct tn_record_index index;
        status = tn_json_parse(&doc, &s->alloc, &s->ctx.limits, TN_STR("record"), tn_buf_str(&text), &s->err);
        if (!status) status = tn_record_read(tn_json_root(&doc), &index, &s->err);
        if (!status) memcpy(id, index.id, sizeof(index.id));
        tn_json_release(&doc);
    }
    if (!status) status = tn_record_put(&s->store, tn_buf_str(&text), &s->err);
    tn_buf_release(&text);
    tn_record_release(&r);
    return status;
}

#endif
