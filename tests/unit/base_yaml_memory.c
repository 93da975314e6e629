/*
 * libyaml takes its memory from the C library, where no allocator of ours can refuse it. Here the C library refuses: the
 * test program has a malloc of its own, which lets every n-th call of libyaml fail, and counts what it leaves behind and
 * how much it held. Everywhere else in the tests it only passes calls on.
 */
#define _GNU_SOURCE
#include "test.h"

#include "base/yaml.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_ALLOCATOR 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(HAS_ALLOCATOR) || !defined(__GLIBC__)

TEST(memory_of_libyaml)
{
    test_skip("malloc belongs to a sanitizer, or the C library is another one");
}

#else

#include <malloc.h>

/* The tests are compiled with hidden names, and the shared library has to find these. */
#define SEEN __attribute__((visibility("default")))

void *__libc_malloc(size_t n);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static bool watching; /* only while one thread parses */
static uint64_t calls, fail_at;
static int64_t held, peak, blocks;

static bool refuse_now(void)
{
    return watching && ++calls == fail_at;
}

static void *taken(void *p)
{
    if (!watching || !p) return p;
    held += (int64_t)malloc_usable_size(p);
    blocks++;
    if (held > peak) peak = held;
    return p;
}

static void given(void *p)
{
    if (!watching || !p) return;
    held -= (int64_t)malloc_usable_size(p);
    blocks--;
}

SEEN void *malloc(size_t n)
{
    return refuse_now() ? NULL : taken(__libc_malloc(n));
}

SEEN void *realloc(void *p, size_t n)
{
    if (refuse_now()) return NULL;
    given(p);
    return taken(__libc_realloc(p, n));
}

SEEN void free(void *p)
{
    given(p);
    __libc_free(p);
}

/* Memory of ours goes past the counters. */
static void *ours(void *context, size_t n)
{
    (void)context;
    return __libc_malloc(n);
}

static void ours_back(void *context, void *p)
{
    (void)context;
    __libc_free(p);
}

static struct tn_alloc alloc;
static struct tn_error err;

static enum tn_status parse(const char *text, size_t n, uint64_t refuse)
{
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    tn_alloc_init(&alloc);
    alloc.allocate = ours;
    alloc.release = ours_back;
    tn_error_clear(&err);
    calls = 0;
    held = peak = blocks = 0;
    fail_at = refuse;
    watching = true;
    enum tn_status status = tn_yaml_parse(&doc, &alloc, &limits, TN_STR("d"), (struct tn_str){text, n}, &err);
    watching = false;
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    CHECK_INT(blocks, 0);
    CHECK_INT(held, 0);
    return status;
}

TEST(each_allocation_of_libyaml_fails)
{
    static const char *const texts[] = {
        "a: &x [1, {b: 'c d'}]\ne: *x\n\"f\\n\": |\n  text\n? g\n: >-\n  h\n  i\n",
        "%YAML 1.2\n%TAG !c! tag:yaml.org,2002:\n---\na: !c!str b\nc: !!int 1\nd: !<tag:yaml.org,2002:str> e\n...\n",
        "[[[[[[[[[[[[[[[[[[[[a, b: c, {d: e}]]]]]]]]]]]]]]]]]]]]",
        "- - - - - - - - - - - - - - - - - - a: 1\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t n = strlen(texts[i]);
        CHECK_INT(parse(texts[i], n, 0), TN_OK);
        uint64_t all = calls;
        CHECK(all > 10);
        for (uint64_t at = 1; at <= all; at++) {
            enum tn_status status = parse(texts[i], n, at);
            CHECK_INT(status, TN_INSUFFICIENT_MEMORY);
            CHECK(err.retryable && err.primary.code == TN_INSUFFICIENT_MEMORY);
        }
        CHECK_INT(parse(texts[i], n, all + 1), TN_OK);
    }
}

/* What base/yaml.h says of the largest text that the limits let through. */
TEST(memory_of_libyaml)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);
    static const char heads[] = "x!\"|&*[#";
    for (size_t i = 0; heads[i]; i++) {
        memset(text, 'x', N);
        text[0] = heads[i];
        if (heads[i] == '|') memcpy(text, "|\n ", 3);
        (void)parse(text, N, 0);
        if (peak > (int64_t)(4.25 * N)) test_fail(__FILE__, __LINE__, "%c: %lld bytes", heads[i], (long long)peak);
    }
    free(text);
    size_t n = 0;
    text = test_read_file(test_path("golden/standard/packages/decoder/inference_metadata.yaml"), &n);
    REQUIRE(text);
    CHECK_INT(parse(text, n, 0), TN_OK);
    CHECK(peak > 50000 && peak < 100000);
    free(text);
}

#endif
