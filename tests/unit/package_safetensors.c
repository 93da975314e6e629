/* The safetensors reader: each rule by code, place and words; reads that fail; files that are something else. */
#define _GNU_SOURCE
#include "package_util.h"

/* ---- headers as text over an in-memory source -------------------------------------------------------------------- */

struct outcome {
    enum tn_status status;
    struct tn_tensor_list list;
    struct tn_arena arena;
    struct tn_digest digest;
};

static void read_bytes(struct outcome *o, const void *bytes, size_t n)
{
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(bytes, n, TN_STR("m.safetensors"), &holder);
    *o = (struct outcome){.list = {.alloc = &alloc}};
    tn_arena_init(&o->arena, &alloc);
    tn_error_clear(err);
    o->status = tn_safetensors_read(&ctx, &source, 7, &o->arena, &o->list, &o->digest, err);
}

/* The frame around `header`, then `data` zero bytes. */
static void read_header(struct outcome *o, const char *header, size_t data)
{
    size_t n = strlen(header);
    unsigned char *bytes = calloc(1, n + 8 + data);
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)n >> (8 * i));
    memcpy(bytes + 8, header, n);
    read_bytes(o, bytes, n + 8 + data);
    free(bytes);
}

static void end(struct outcome *o)
{
    tn_free(&alloc, o->list.items);
    tn_arena_release(&o->arena);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static void refuse(const char *header, size_t data, enum tn_status code, const char *message, const char *tensor,
                   const char *found, int line)
{
    struct outcome o;
    read_header(&o, header, data);
    bool right = o.status == code && err->primary.code == code && strstr(err->primary.message, message) &&
                 strcmp(err->primary.file, "m.safetensors") == 0 &&
                 (!tensor || strcmp(err->primary.element, tensor) == 0) &&
                 (!found || strstr(err->primary.found, found)) && o.list.count == 0;
    if (!right) {
        test_fail(__FILE__, line, "%s: got %s \"%s\" [%s %s] found \"%s\"", header, tn_status_name(o.status),
                  err->primary.message, err->primary.file, err->primary.element, err->primary.found);
    }
    end(&o);
}
#define REFUSE(header, data, code, message, tensor, found) refuse(header, data, code, message, tensor, found, __LINE__)

TEST(a_header_that_holds)
{
    struct outcome o;
    read_header(&o,
                "{\"__metadata__\":{\"format\":\"pt\"},"
                "\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[8,14]},"
                "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                "\"none\":{\"dtype\":\"I8\",\"shape\":[5,0,2],\"data_offsets\":[14,14]},"
                "\"one\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[14,15]}}   ",
                15);
    CHECK_INT(o.status, TN_OK);
    REQUIRE(o.list.count == 4);
    const struct tn_tensor_info *b = &o.list.items[0], *one = &o.list.items[3];
    CHECK(tn_str_is(b->name, "b"));
    CHECK_INT(b->file, 7);
    CHECK_INT(b->dtype, TN_DTYPE_BF16);
    CHECK_INT(b->bytes, 6);
    CHECK_INT(one->rank, 0);
    CHECK_INT(one->bytes, 1);
    CHECK_INT(one->offset - b->offset, 6);
    CHECK_INT(b->offset % 8, (8 + o.list.items[1].offset) % 8);
    end(&o);
}

TEST(every_type_is_named_and_measured)
{
    static const struct {
        const char *spelling;
        unsigned eight; /* bytes of eight elements */
    } types[] = {{"F64", 64},    {"F32", 32},    {"F16", 16},        {"BF16", 16},      {"F8_E4M3", 8}, {"F8_E5M2", 8},
                 {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"F4", 4},         {"C64", 64},    {"I64", 64},
                 {"I32", 32},    {"I16", 16},    {"I8", 8},          {"U64", 64},       {"U32", 32},    {"U16", 16},
                 {"U8", 8},      {"BOOL", 8},    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char header[256];
        struct outcome o;
        snprintf(header, sizeof(header), "{\"t\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,%u]}}",
                 types[i].spelling, types[i].eight);
        read_header(&o, header, types[i].eight);
        CHECK_INT(o.status, TN_OK);
        CHECK(o.list.count == 1 && o.list.items[0].dtype == tn_dtype_of_safetensors(tn_str_of(types[i].spelling)));
        end(&o);
        if (types[i].eight == 64) continue;
        snprintf(header, sizeof(header), "{\"t\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,64]}}",
                 types[i].spelling);
        REFUSE(header, 64, TN_ARTIFACT_MALFORMED, "do not fit its shape", "t", "64 bytes at 0");
    }
    for (unsigned d = 0; d < TN_DTYPE_UNKNOWN; d++) {
        CHECK(tn_dtype_bits((enum tn_dtype)d) > 0);
        CHECK_INT(tn_dtype_bytes((enum tn_dtype)d), tn_dtype_bits((enum tn_dtype)d) / 8);
    }
    REFUSE("{\"t\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, TN_ARTIFACT_MALFORMED, "whole byte",
           "t", "12 bits of f4");
}

TEST(unknown_type_is_named_once_with_its_first_tensor)
{
    struct outcome o;
    read_header(&o,
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
                "\"b\":{\"dtype\":\"Q9_K\",\"shape\":[4],\"data_offsets\":[4,7]},"
                "\"c\":{\"dtype\":\"Q9_K\",\"shape\":[4],\"data_offsets\":[7,10]}}",
                10);
    CHECK_INT(o.status, TN_UNSUPPORTED_QUANTIZATION);
    CHECK_INT(err->count, 1);
    CHECK_STR(err->primary.element, "b");
    CHECK_STR(err->primary.found, "\"Q9_K\"; 2 tensor(s) of unknown type, this is the first");
    end(&o);
}

TEST(tensors_tile_the_data)
{
#define T(name, begin, finish) \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" #finish "],\"data_offsets\":[" #begin "," #finish "]}"
    REFUSE("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[4],"
           "\"data_offsets\":[3,7]}}",
           7, TN_ARTIFACT_MALFORMED, "share bytes", "b", "\"a\" ends at 4");
    REFUSE("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],"
           "\"data_offsets\":[1,3]}}",
           4, TN_ARTIFACT_MALFORMED, "share bytes", "b", "\"a\" ends at 4");
    REFUSE("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"z\":{\"dtype\":\"U8\",\"shape\":[0],"
           "\"data_offsets\":[2,2]}}",
           4, TN_ARTIFACT_MALFORMED, "share bytes", "z", "\"a\" ends at 4");
    REFUSE("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[4],"
           "\"data_offsets\":[6,10]}}",
           10, TN_ARTIFACT_MALFORMED, "belong to no tensor", "b", "2 bytes between \"a\"");
    REFUSE("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[1,5]}}", 5, TN_ARTIFACT_MALFORMED,
           "belong to no tensor", "a", "1 bytes before the first tensor");
    REFUSE("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 6, TN_ARTIFACT_MALFORMED,
           "after the last tensor", NULL, "file size");
    REFUSE("{}", 1, TN_ARTIFACT_MALFORMED, "after the last tensor", NULL, "file size");
#undef T
    struct outcome o;
    read_header(&o, "{}", 0);
    CHECK_INT(o.status, TN_OK);
    CHECK_INT(o.list.count, 0);
    end(&o);
}

TEST(all_problems_of_a_file_at_once)
{
    struct outcome o;
    read_header(&o,
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[3,7]},"
                "\"c\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[9,13]}}",
                13);
    CHECK_INT(o.status, TN_ARTIFACT_MALFORMED);
    CHECK_INT(err->count, 3);
    end(&o);
}

TEST(cut_files)
{
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
                                 "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,32]}}";
    struct outcome o;
    unsigned char bytes[8 + sizeof(header) + 32] = {(unsigned char)(sizeof(header) - 1)};
    size_t n = sizeof(header) - 1, whole = 8 + n + 32;
    memcpy(bytes + 8, header, n);
    char expected[64];
    for (size_t size = 0; size < whole; size++) {
        read_bytes(&o, bytes, size);
        CHECK_INT(o.status, TN_ARTIFACT_MALFORMED);
        if (size > 8 && size < 8 + n) {
            CHECK_CONTAINS(err->primary.message, "cut inside its header");
            snprintf(expected, sizeof(expected), "file size %zu, %zu bytes missing", size, 8 + n - size);
            CHECK_CONTAINS(err->primary.found, expected);
            CHECK_INT(err->primary.offset, size);
        } else if (size >= 8 + n) {
            CHECK_CONTAINS(err->primary.message, "ends before its last tensor");
            CHECK_STR(err->primary.element, size < 8 + n + 16 ? "a" : "b");
            snprintf(expected, sizeof(expected), "file size %zu, %zu bytes missing, %d tensor(s)", size, whole - size,
                     size < 8 + n + 16 ? 2 : 1);
            CHECK_CONTAINS(err->primary.found, expected);
            snprintf(expected, sizeof(expected), "ends at %zu", whole);
            CHECK_CONTAINS(err->primary.expected, expected);
        } else {
            CHECK_CONTAINS(err->primary.message, "not in the safetensors format");
        }
        end(&o);
    }
    read_bytes(&o, bytes, whole);
    CHECK_INT(o.status, TN_OK);
    end(&o);
}

TEST(members_are_strict)
{
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":1}}", 1, TN_ARTIFACT_MALFORMED,
           "does not define", "t", "\"x\"");
    REFUSE("{\"t\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, TN_ARTIFACT_MALFORMED, "no element type", "t", NULL);
    REFUSE("{\"t\":[]}", 1, TN_ARTIFACT_MALFORMED, "no element type", "t", NULL);
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, TN_ARTIFACT_MALFORMED, "no shape", "t", NULL);
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, TN_ARTIFACT_MALFORMED,
           "not a whole number", "t", "-1");
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1, TN_ARTIFACT_MALFORMED,
           "not a whole number", "t", "1.0");
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[18446744073709551616],\"data_offsets\":[0,1]}}", 1,
           TN_ARTIFACT_MALFORMED, "not a whole number", "t", "18446744073709551616");
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1, TN_ARTIFACT_MALFORMED, "not a range",
           "t", "[1,0]");
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, TN_ARTIFACT_MALFORMED, "not a range",
           "t", "[0]");
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{\"a\":0,\"b\":1}}}", 1, TN_ARTIFACT_MALFORMED,
           "not a range", "t", NULL);
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, TN_ARTIFACT_MALFORMED, "not a range", "t", NULL);
    REFUSE("{\"__metadata__\":{\"a\":1}}", 0, TN_ARTIFACT_MALFORMED, "not a map of strings", "/__metadata__/a",
           "number");
    REFUSE("{\"__metadata__\":[]}", 0, TN_ARTIFACT_MALFORMED, "not a map of strings", "/__metadata__", "array");
    REFUSE("{}\n", 0, TN_ARTIFACT_MALFORMED, "padded with something", NULL, "0x0A");
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"t\":{\"dtype\":\"U8\",\"shape\":[1],"
           "\"data_offsets\":[1,2]}}",
           2, TN_ARTIFACT_MALFORMED, "duplicate key", "/t", "\"t\" twice");
}

TEST(malformed_json_is_placed_in_the_file)
{
    struct outcome o;
    read_header(&o, "{\"t\":x}", 0);
    CHECK_INT(o.status, TN_ARTIFACT_MALFORMED);
    CHECK_INT(err->primary.offset, 8 + 5);
    end(&o);
}

TEST(limits_of_a_header)
{
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1, TN_RESOURCE_LIMIT,
           "limit rank", "t", "9 dimensions");
    REFUSE("{\"t\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,1]}}", 1, TN_RESOURCE_LIMIT,
           "beyond 64 bits", "t", NULL);
    REFUSE("{\"t\":{\"dtype\":\"F32\",\"shape\":[140737488355328],\"data_offsets\":[0,1]}}", 1, TN_RESOURCE_LIMIT,
           "limit tensor_bytes", "t", "562949953421312 bytes");
    ctx.limits.header_bytes = 40;
    REFUSE("{\"__metadata__\":{\"a\":\"0123456789012345678901234567890\"}}", 0, TN_RESOURCE_LIMIT, "limit header_bytes",
           NULL, "bytes");
    ctx.limits = tn_limits_default();
    ctx.limits.tensors = 1;
    struct outcome o;
    read_header(&o,
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},\"b\":{\"dtype\":\"U8\",\"shape\":[],"
                "\"data_offsets\":[1,2]}}",
                2);
    CHECK_INT(o.status, TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "limit tensors");
    end(&o);
    ctx.limits = tn_limits_default();
    ctx.limits.name_bytes = 3;
    REFUSE("{\"long\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, TN_RESOURCE_LIMIT,
           "limit name_bytes", "long", "4 bytes");
}

TEST(huge_claims_cost_nothing)
{
    static const unsigned char claims[][9] = {
        {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, '{'},
        {0, 0, 0, 0, 0, 0, 0, 0x80, '{'},
        {0, 0, 0, 0, 1, 0, 0, 0, '{'},
        {0, 0, 0, 6, 0, 0, 0, 0, '{'},
        {0, 0, 0, 0, 0, 0, 0, 0, '{'},
    };
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        struct outcome o;
        tn_alloc_reset_peak(&alloc);
        read_bytes(&o, claims[i], sizeof(claims[i]));
        CHECK(o.status == TN_ARTIFACT_MALFORMED || o.status == TN_RESOURCE_LIMIT);
        CHECK(tn_alloc_peak(&alloc) < 65536);
        end(&o);
    }
}

TEST(what_stands_in_the_place_of_weights)
{
    struct outcome o;
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 90868376\n";
    read_bytes(&o, pointer, sizeof(pointer) - 1);
    CHECK_INT(o.status, TN_ARTIFACT_MISSING); /* the code that such a file has everywhere */
    CHECK_CONTAINS(err->primary.message, "only something in its place");
    CHECK_CONTAINS(err->primary.found, "git-lfs");
    CHECK_CONTAINS(err->primary.found, "90868376");
    CHECK_CONTAINS(err->primary.remedy, "git lfs pull");
    end(&o);
    static const char page[] = "\n<!DOCTYPE HTML><html><title>Sign in</title></html>";
    read_bytes(&o, page, sizeof(page) - 1);
    CHECK_INT(o.status, TN_ARTIFACT_MISSING);
    CHECK_CONTAINS(err->primary.found, "web page");
    CHECK_CONTAINS(err->primary.remedy, "raw address");
    end(&o);
    read_bytes(&o, "", 0);
    CHECK_INT(o.status, TN_ARTIFACT_MALFORMED);
    CHECK_CONTAINS(err->primary.found, "0 bytes");
    end(&o);
}

TEST(digest_covers_length_and_header_alone)
{
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";
    unsigned char frame[8 + sizeof(header)] = {(unsigned char)(sizeof(header) - 1)};
    memcpy(frame + 8, header, sizeof(header) - 1);
    struct tn_digest expected = tn_sha256_of(frame, 8 + sizeof(header) - 1);
    struct outcome o;
    read_header(&o, header, 4);
    CHECK(tn_digest_eq(&o.digest, &expected));
    end(&o);
}

/* ---- failing reads ----------------------------------------------------------------------------------------------- */

struct failing {
    struct tn_source inner;
    unsigned calls, fail_at;
};

static int failing_read(void *context, uint64_t offset, void *dst, size_t n)
{
    struct failing *f = context;
    if (++f->calls == f->fail_at) return 5; /* EIO */
    return f->inner.read(f->inner.context, offset, dst, n);
}

TEST(read_failure_sweep)
{
    char *bytes;
    size_t n = 0;
    bytes = test_read_file(test_path("golden/packages/bert_mean_normalize/model.safetensors"), &n);
    REQUIRE(bytes);
    for (unsigned at = 1;; at++) {
        struct tn_str holder;
        struct failing f = {.fail_at = at};
        f.inner = tn_source_of_memory(bytes, n, TN_STR("m.safetensors"), &holder);
        struct tn_source source = {.size = n, .read = failing_read, .context = &f, .name = TN_STR("m.safetensors")};
        struct outcome o = {.list = {.alloc = &alloc}};
        tn_arena_init(&o.arena, &alloc);
        tn_error_clear(err);
        o.status = tn_safetensors_read(&ctx, &source, 0, &o.arena, &o.list, &o.digest, err);
        if (f.calls < at) {
            CHECK_INT(o.status, TN_OK);
            CHECK(at > 2);
            end(&o);
            break;
        }
        CHECK_INT(o.status, TN_ARTIFACT_MALFORMED);
        CHECK_CONTAINS(err->primary.message, "cannot read");
        CHECK_INT(o.list.count, 0);
        end(&o);
    }
    free(bytes);
}

TEST(allocation_sweep_of_the_reader)
{
    size_t n = 0;
    char *bytes = test_read_file(test_path("golden/packages/bert_mean_normalize/model.safetensors"), &n);
    REQUIRE(bytes);
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(bytes, n, TN_STR("m.safetensors"), &holder);
    unsigned at = 1;
    for (;; at++) {
        struct outcome o = {.list = {.alloc = &alloc}};
        tn_arena_init(&o.arena, &alloc);
        tn_error_clear(err);
        tn_alloc_fail(&alloc, at, at % 2 == 0);
        o.status = tn_safetensors_read(&ctx, &source, 0, &o.arena, &o.list, &o.digest, err);
        tn_alloc_fail(&alloc, 0, false);
        bool done = o.status == TN_OK;
        if (!done) {
            CHECK_INT(o.status, TN_INSUFFICIENT_MEMORY);
            CHECK_INT(err->primary.code, TN_INSUFFICIENT_MEMORY);
            CHECK_INT(o.list.count, 0);
        }
        end(&o);
        if (done) break;
    }
    CHECK(at > 5);
    free(bytes);
}
