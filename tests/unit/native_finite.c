/*
 * Every number of every tensor that is read at load is looked at: tables, vectors, layers, of the encoder and of the
 * modules, in each stored type. A load that finds others than finite ones fails and names all such tensors, with the
 * place of the first such number, whichever thread has read it.
 */
#include "native_fixture.h"

#include "provider/native/native.h"

static const char *copy_package(const char *name)
{
    static char folder[512];
    char command[2048];
    snprintf(folder, sizeof(folder), "%s/%s", test_folder(), name);
    snprintf(command, sizeof(command), "rm -rf '%s' && cp -r '%s/%s' '%s'", folder, test_path("golden/packages"), name, folder);
    if (system(command) != 0) test_skip("cp does not work here");
    return folder;
}

static const char *path_in(const char *folder, struct tn_str file)
{
    static char path[1024];
    snprintf(path, sizeof(path), "%s/%.*s", folder, TN_FMT_ARG(file));
    return path;
}

/* NaN, infinity and its negative by turns, in the stored type. */
static void put_bad(enum tn_dtype dtype, unsigned turn, char *at)
{
    static const uint32_t wide[] = {0x7FC00000u, 0x7F800000u, 0xFF800000u, 0x7F800001u};
    static const uint16_t f16[] = {0x7E00u, 0x7C00u, 0xFC00u, 0x7C01u}, bf16[] = {0x7FC0u, 0x7F80u, 0xFF80u, 0x7F81u};
    if (dtype == TN_DTYPE_F32) memcpy(at, &wide[turn % 4], 4);
    else memcpy(at, dtype == TN_DTYPE_F16 ? &f16[turn % 4] : &bf16[turn % 4], 2);
}

static void check_place(const struct tn_finding *f, const struct tn_tensor_info *t, struct tn_str file, uint64_t element)
{
    char name[256], place[128];
    snprintf(name, sizeof(name), "%.*s", TN_FMT_ARG(t->name));
    CHECK_STR(f->element, name);
    snprintf(name, sizeof(name), "%.*s", TN_FMT_ARG(file));
    CHECK_STR(f->file, name);
    if (t->rank > 1) {
        snprintf(place, sizeof(place), "the first in row %llu, column %llu", (unsigned long long)(element / t->shape[1]),
                 (unsigned long long)(element % t->shape[1]));
    } else {
        snprintf(place, sizeof(place), "the first is element %llu", (unsigned long long)element);
    }
    CHECK_CONTAINS(f->found, place);
}

/* One number of each bound tensor in turn: the first, the last, and one in the middle. */
static unsigned try_all_tensors(const char *package)
{
    struct fixture good, bad;
    unsigned tried = 0;
    const char *folder = copy_package(package);
    if (!fixture_assess(&good, folder, "f32", 2)) {
        test_fail(__FILE__, __LINE__, "%s cannot be assessed: %s", package, good.err->primary.message);
        fixture_close(&good);
        return 0;
    }
    const struct tn_native_program *program = good.assessment.state;
    for (uint32_t i = 0; i < program->graph.weight_count; i++) {
        const struct tn_tensor_info *t = program->graph.weights[i].tensor;
        struct tn_str file = good.inv->files[t->file].path;
        uint64_t size = tn_dtype_bytes(t->dtype), count = t->bytes / size;
        uint64_t element = i % 3 == 0 ? 0 : i % 3 == 1 ? count - 1 : count / 2;
        size_t n;
        char *bytes = test_read_file(path_in(folder, file), &n), kept[4];
        if (!bytes) break;
        char *at = bytes + t->offset + element * size;
        memcpy(kept, at, size);
        put_bad(t->dtype, i, at);
        test_write_file(path_in(folder, file), bytes, n);
        CHECK(!fixture_open(&bad, folder, "f32", 1 + i % 2));
        CHECK_INT(bad.err->primary.code, TN_NUMERICAL_FAILURE);
        CHECK_INT(bad.err->count, 1);
        CHECK_CONTAINS(bad.err->primary.found, "1 that are");
        check_place(&bad.err->primary, t, file, element);
        fixture_close(&bad);
        memcpy(at, kept, size);
        test_write_file(path_in(folder, file), bytes, n);
        free(bytes);
        tried++;
    }
    fixture_close(&good);
    CHECK(fixture_open(&good, folder, "f32", 2)); /* all of it is as it was */
    fixture_close(&good);
    return tried;
}

TEST(every_tensor_is_looked_at)
{
    CHECK(try_all_tensors("bert_dense_tanh") >= 20); /* a module with weights of its own */
    CHECK(try_all_tensors("distilbert_act_relu") >= 18);
    CHECK(try_all_tensors("mpnet_eps") >= 20); /* the relative position table */
}

TEST(every_stored_type_is_looked_at)
{
    CHECK(try_all_tensors("bert_f16") >= 20);
    CHECK(try_all_tensors("bert_bf16") >= 20);
}

TEST(all_such_tensors_are_named)
{
    static const char *const names[] = {"embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight",
                                        "encoder.layer.0.output.LayerNorm.bias"};
    struct fixture x;
    const char *folder = copy_package("bert_options");
    size_t n;
    REQUIRE(fixture_assess(&x, folder, "f32", 2));
    char *bytes = test_read_file(path_in(folder, TN_STR("model.safetensors")), &n);
    REQUIRE(bytes);
    for (size_t i = 0; i < 3; i++) {
        const struct tn_tensor_info *t = tn_variant_tensor(x.inv, x.d->variant, tn_str_of(names[i]));
        REQUIRE(t);
        for (size_t k = 0; k <= i; k++) put_bad(t->dtype, (unsigned)k, bytes + t->offset + 4 * (5 + k));
    }
    fixture_close(&x);
    test_write_file(path_in(folder, TN_STR("model.safetensors")), bytes, n);
    free(bytes);
    CHECK(!fixture_open(&x, folder, "f32", 2));
    CHECK_INT(x.err->primary.code, TN_NUMERICAL_FAILURE);
    CHECK_INT(x.err->primary.phase, TN_PHASE_LOAD);
    CHECK_INT(x.err->count, 3);
    for (size_t i = 0; i < 3; i++) {
        char count[32];
        bool named = false;
        snprintf(count, sizeof(count), "%zu that are", i + 1);
        for (size_t k = 0; k < x.err->count; k++) {
            if (strcmp(x.err->findings[k].element, names[i]) != 0) continue;
            named = true;
            CHECK_CONTAINS(x.err->findings[k].found, count);
        }
        if (!named) test_fail(__FILE__, __LINE__, "%s is not named", names[i]);
    }
    fixture_close(&x);
}

/* ---- a table of several chunks ------------------------------------------------------------------------------------ */

enum { ROWS = 70000, WIDTH = 16 }; /* 4,480,000 bytes: rows from 65536 on are in the second chunk */

static void replace_text(const char *path, const char *key, unsigned value)
{
    size_t n;
    char *text = test_read_file(path, &n), *at = text ? strstr(text, key) : NULL;
    if (!at) {
        test_fail(__FILE__, __LINE__, "%s has no %s", path, key);
        free(text);
        return;
    }
    char *end = at + strlen(key), *out = malloc(n + 32);
    size_t head = (size_t)(end - text);
    while ((*end >= '0' && *end <= '9') || *end == ' ') end++;
    int m = sprintf(out, "%.*s%u%s", (int)head, text, value, end);
    test_write_file(path, out, (size_t)m);
    free(out);
    free(text);
}

/* The package's tensors again, the word table with more rows, one number of which is bad. */
static void put_long_table(const char *folder, const struct fixture *x, uint64_t row)
{
    size_t n, at = 0;
    const struct tn_variant *v = x->d->variant;
    char *old = test_read_file(path_in(folder, TN_STR("model.safetensors")), &n), *header = malloc(v->tensor_count * 256);
    char *out = calloc(1, n + (size_t)ROWS * WIDTH * 4 + v->tensor_count * 256);
    uint64_t data = 0;
    header[at++] = '{';
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        const struct tn_tensor_info *t = &x->inv->tensors[v->first_tensor + i];
        bool table = tn_str_is(t->name, "embeddings.word_embeddings.weight");
        uint64_t bytes = table ? (uint64_t)ROWS * WIDTH * 4 : t->bytes;
        at += (size_t)sprintf(header + at, "%s\"%.*s\":{\"dtype\":\"F32\",\"shape\":[", i ? "," : "", TN_FMT_ARG(t->name));
        for (uint32_t k = 0; k < t->rank; k++) {
            at += (size_t)sprintf(header + at, "%s%llu", k ? "," : "", (unsigned long long)(table && k == 0 ? ROWS : t->shape[k]));
        }
        at += (size_t)sprintf(header + at, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)data,
                              (unsigned long long)(data + bytes));
        data += bytes;
    }
    header[at++] = '}';
    for (unsigned i = 0; i < 8; i++) out[i] = (char)((uint64_t)at >> (8 * i));
    memcpy(out + 8, header, at);
    size_t to = 8 + at;
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        const struct tn_tensor_info *t = &x->inv->tensors[v->first_tensor + i];
        bool table = tn_str_is(t->name, "embeddings.word_embeddings.weight");
        memcpy(out + to, old + t->offset, (size_t)t->bytes);
        if (table) put_bad(TN_DTYPE_F32, 0, out + to + (row * WIDTH + 3) * 4);
        to += table ? (size_t)ROWS * WIDTH * 4 : (size_t)t->bytes;
    }
    test_write_file(path_in(folder, TN_STR("model.safetensors")), out, to);
    free(out);
    free(header);
    free(old);
}

TEST(rows_that_no_text_uses_are_looked_at_in_every_chunk)
{
    static const uint64_t rows[] = {65535, 65536, ROWS - 1};
    for (size_t i = 0; i < 3; i++) {
        struct fixture x;
        char place[64];
        const char *folder = copy_package("bert_options");
        REQUIRE(fixture_assess(&x, folder, "f32", 1));
        put_long_table(folder, &x, rows[i]);
        fixture_close(&x);
        replace_text(path_in(folder, TN_STR("config.json")), "\"vocab_size\": ", ROWS);
        CHECK(!fixture_open(&x, folder, "f32", 2));
        CHECK_INT(x.err->primary.code, TN_NUMERICAL_FAILURE);
        CHECK_STR(x.err->primary.element, "embeddings.word_embeddings.weight");
        snprintf(place, sizeof(place), "1 that are NaN or infinite, the first in row %llu, column 3", (unsigned long long)rows[i]);
        CHECK_CONTAINS(x.err->primary.found, place);
        fixture_close(&x);
    }
}
