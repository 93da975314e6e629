/*
 * Runs of fields: whatever mixture of one by one, several at once, skipped and counted reads them, the same fields come, errors
 * included, over blocks and by the hundred thousand.
 */
#define _GNU_SOURCE
#include "onnx_util.h"

#include "package/wire.h"

enum { FIELDS = 30000 };

/* Runs of one key, lengths and numbers of all sizes, now and then a key of another kind. */
static struct bytes draw(uint64_t *seed)
{
    struct bytes b = {0};
    for (int i = 0; i < FIELDS;) {
        unsigned type = (unsigned[]){TN_WIRE_VARINT, TN_WIRE_BYTES, TN_WIRE_FIXED32, TN_WIRE_FIXED64}[test_random(seed) % 4], number_of = 1 + test_random(seed) % 20;
        int run = (int)(test_random(seed) % 3 ? test_random(seed) % 5000 : 1);
        for (; run-- > 0 && i < FIELDS; i++) {
            uint64_t value = test_random(seed) >> test_random(seed) % 64;
            varint(&b, number_of << 3 | type);
            if (type == TN_WIRE_VARINT) varint(&b, value);
            if (type == TN_WIRE_FIXED32) put(&b, &value, 4);
            if (type == TN_WIRE_FIXED64) put(&b, &value, 8);
            if (type != TN_WIRE_BYTES) continue;
            unsigned n = test_random(seed) % 200 ? (unsigned)(test_random(seed) % 12) : 200;
            varint(&b, n);
            for (unsigned k = 0; k < n; k++) put_byte(&b, (unsigned)test_random(seed) & 255);
        }
    }
    return b;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

struct walk {
    uint64_t fields, hash;
    bool failed;
    uint64_t at;
};

static struct walk one_by_one(const struct tn_source *source)
{
    struct tn_wire *w = calloc(1, sizeof(*w));
    struct tn_wire_range all = {0, source->size};
    struct tn_wire_field f;
    struct walk k = {0};
    tn_wire_init(w, source);
    for (; tn_wire_next(w, &all, &f); k.fields++) k.hash = mix(k.hash, f.at);
    k.failed = w->failed;
    k.at = w->failed_at;
    free(w);
    return k;
}

/* A run by a way that is drawn; numbers and ranges are those of single fields. */
static void take_run(struct tn_wire *w, struct tn_wire_range *all, const struct tn_wire_field *like, struct walk *k, uint64_t *seed)
{
    uint64_t values[64];
    struct tn_wire_range ranges[64], before = *all;
    uint64_t how = test_random(seed) % 4, n = 0;
    if (how == 0) n = tn_wire_skip(w, all, like);
    if (how == 1 && (like->type == TN_WIRE_VARINT || like->type == TN_WIRE_FIXED32)) n = tn_wire_more(w, all, like, values, 64);
    if (how == 2) n = tn_wire_more_bytes(w, all, like, ranges, 64);
    for (uint64_t i = 0; i < n; i++, k->fields++) {
        struct tn_wire_field f;
        CHECK(tn_wire_next(w, &before, &f) && f.number == like->number && f.type == like->type);
        k->hash = mix(k->hash, f.at);
        if (how == 1) CHECK(f.value == values[i]);
        if (how == 2) CHECK(f.bytes.at == ranges[i].at && f.bytes.end == ranges[i].end);
    }
    CHECK(before.at == all->at);
}

static struct walk mixed(const struct tn_source *source, uint64_t *seed)
{
    struct tn_wire *w = calloc(1, sizeof(*w));
    struct tn_wire_range all = {0, source->size};
    struct tn_wire_field f, last = {0};
    struct walk k = {0};
    uint64_t left = 0;
    tn_wire_init(w, source);
    while (tn_wire_next(w, &all, &f)) {
        k.hash = mix(k.hash, f.at);
        k.fields++;
        if (left && f.number == last.number && f.type == last.type) left--;
        else left = 0;
        if (!left && test_random(seed) % 8 == 0) left = tn_wire_count(w, all, &f);
        last = f;
        uint64_t fields = k.fields;
        take_run(w, &all, &f, &k, seed);
        left = left > k.fields - fields ? left - (k.fields - fields) : 0;
    }
    k.failed = w->failed;
    k.at = w->failed_at;
    free(w);
    return k;
}

static void check_same(const struct bytes *b, size_t n, uint64_t *seed)
{
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(b->data, n, TN_STR("m"), &holder);
    struct walk a = one_by_one(&source), c = mixed(&source, seed);
    CHECK(a.fields == c.fields && a.hash == c.hash && a.failed == c.failed && a.at == c.at);
}

TEST(runs_of_fields_are_those_that_come_one_by_one)
{
    for (uint64_t seed = 1; seed < 12; seed++) {
        uint64_t state = seed;
        struct bytes b = draw(&state);
        check_same(&b, b.n, &state);
        for (int i = 0; i < 20; i++) check_same(&b, test_random(&state) % b.n, &state); /* cut off anywhere */
        for (int i = 0; i < 20; i++) b.data[test_random(&state) % b.n] = (unsigned char)test_random(&state);
        check_same(&b, b.n, &state);
        free(b.data);
    }
}

TEST(a_count_is_that_of_the_run)
{
    struct bytes b = {0};
    struct tn_str holder;
    struct tn_wire *w = calloc(1, sizeof(*w));
    struct tn_wire_field f;
    for (int i = 0; i < FIELDS; i++) number(&b, 8, (uint64_t)i);
    number(&b, 9, 1);
    number(&b, 8, 1);
    struct tn_source source = tn_source_of_memory(b.data, b.n, TN_STR("m"), &holder);
    struct tn_wire_range all = {0, b.n};
    tn_wire_init(w, &source);
    CHECK(tn_wire_next(w, &all, &f));
    CHECK_INT(tn_wire_count(w, all, &f), FIELDS - 1);
    CHECK_INT(w->fields, 1);
    for (uint64_t i = 1; i < FIELDS; i++) CHECK(tn_wire_next(w, &all, &f) && f.value == i);
    CHECK_INT(tn_wire_count(w, all, &f), 0);
    free(w);
    free(b.data);
}
