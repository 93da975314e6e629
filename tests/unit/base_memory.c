/* Allocator, arena and buffer: accounts, budgets, faults, alignment, limits. */
#define _GNU_SOURCE
#include "test.h"

#include "base/arena.h"
#include "base/buf.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static struct tn_alloc alloc;

__attribute__((constructor)) static void set_up(void)
{
    tn_alloc_init(&alloc);
}

TEST(the_account_is_exact)
{
    void *a = tn_malloc(&alloc, 100), *b = tn_calloc(&alloc, 3, 50), *c = tn_malloc_aligned(&alloc, 1000, 4096);
    CHECK_INT(tn_alloc_current(&alloc), 1250);
    CHECK_INT(alloc.blocks, 3);
    tn_free(&alloc, b);
    CHECK_INT(tn_alloc_current(&alloc), 1100);
    a = tn_realloc(&alloc, a, 300);
    CHECK_INT(tn_alloc_current(&alloc), 1300);
    CHECK_INT(tn_alloc_peak(&alloc), 1400); /* both blocks while the contents move */
    tn_alloc_reset_peak(&alloc);
    CHECK_INT(tn_alloc_peak(&alloc), 1300);
    tn_free(&alloc, a);
    tn_free(&alloc, c);
    tn_free(&alloc, NULL);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    CHECK_INT(alloc.blocks, 0);
}

TEST(alignment_and_zeroing)
{
    for (size_t align = 16; align <= 4096; align *= 2) {
        for (size_t size = 0; size < 300; size += 37) {
            char *p = tn_malloc_aligned(&alloc, size, align);
            CHECK(p && (uintptr_t)p % align == 0);
            memset(p, 0xAA, size);
            tn_free(&alloc, p);
        }
    }
    char *z = tn_calloc(&alloc, 100, 7);
    for (int i = 0; i < 700; i++) CHECK(z[i] == 0);
    tn_free(&alloc, z);
    char *grown = tn_strndup(&alloc, "hello", 5);
    grown = tn_realloc(&alloc, grown, 100);
    CHECK_STR(grown, "hello");
    grown = tn_realloc(&alloc, grown, 3);
    CHECK(memcmp(grown, "hel", 3) == 0);
    tn_free(&alloc, grown);
    void *empty = tn_realloc(&alloc, NULL, 0);
    CHECK(empty != NULL);
    CHECK_INT(alloc.blocks, 1);
    tn_free(&alloc, empty);
}

TEST(impossible_sizes_are_refused)
{
    CHECK(!tn_malloc(&alloc, SIZE_MAX));
    CHECK(!tn_malloc(&alloc, SIZE_MAX - 20));
    CHECK(!tn_calloc(&alloc, SIZE_MAX / 2, 3));
    CHECK(!tn_malloc_aligned(&alloc, SIZE_MAX - 4096, 4096));
    CHECK_INT(tn_alloc_current(&alloc), 0);
    CHECK_INT(alloc.blocks, 0);
}

TEST(budget)
{
    alloc.budget = 1000;
    void *a = tn_malloc(&alloc, 600);
    CHECK(a && !tn_malloc(&alloc, 401));
    void *b = tn_malloc(&alloc, 400);
    CHECK(b != NULL);
    CHECK(!tn_malloc(&alloc, 1));
    tn_free(&alloc, a);
    CHECK_INT(tn_alloc_current(&alloc), 400);
    a = tn_malloc(&alloc, 600);
    CHECK(a != NULL);
    tn_free(&alloc, a);
    tn_free(&alloc, b);
}

TEST(faults)
{
    void *p;
    tn_alloc_fail(&alloc, 2, false);
    p = tn_malloc(&alloc, 1);
    CHECK(p != NULL);
    CHECK(!tn_malloc(&alloc, 1));
    tn_free(&alloc, p);
    p = tn_malloc(&alloc, 1);
    CHECK(p != NULL);
    tn_alloc_fail(&alloc, 1, true);
    CHECK(!tn_malloc(&alloc, 1) && !tn_calloc(&alloc, 1, 1) && !tn_realloc(&alloc, p, 9));
    tn_alloc_fail(&alloc, 0, false);
    tn_free(&alloc, p);
    p = tn_malloc(&alloc, 1);
    CHECK(p != NULL);
    tn_free(&alloc, p);
}

static unsigned host_calls;

static void *host_allocate(void *context, size_t size)
{
    CHECK(context == &host_calls);
    host_calls++;
    return malloc(size);
}

static void host_release(void *context, void *p)
{
    CHECK(context == &host_calls);
    host_calls--;
    free(p);
}

TEST(host_functions)
{
    alloc.allocate = host_allocate;
    alloc.release = host_release;
    alloc.context = &host_calls;
    void *a = tn_malloc_aligned(&alloc, 10, 64), *b = tn_calloc(&alloc, 2, 8);
    CHECK_INT(host_calls, 2);
    tn_free(&alloc, a);
    tn_free(&alloc, b);
    CHECK_INT(host_calls, 0);
}

static void *churn(void *arg)
{
    uint64_t state = (uint64_t)(uintptr_t)arg;
    void *held[16] = {NULL};
    for (int i = 0; i < 20000; i++) {
        size_t at = test_random(&state) % 16;
        tn_free(&alloc, held[at]);
        held[at] = tn_malloc(&alloc, test_random(&state) % 100);
    }
    for (int i = 0; i < 16; i++) tn_free(&alloc, held[i]);
    return NULL;
}

TEST(the_account_holds_between_threads)
{
    pthread_t threads[4];
    alloc.budget = 3000;
    for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, churn, (void *)(uintptr_t)(i + 1)) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    CHECK_INT(alloc.blocks, 0);
    CHECK(tn_alloc_peak(&alloc) <= 3000);
}

TEST(arena)
{
    struct tn_arena arena;
    char *kept[300];
    tn_arena_init(&arena, &alloc);
    for (int i = 0; i < 300; i++) {
        size_t n = (size_t)(i * 7 % 2000);
        kept[i] = tn_arena_alloc(&arena, n);
        REQUIRE(kept[i] != NULL);
        CHECK((uintptr_t)kept[i] % 16 == 0);
        for (size_t k = 0; k < n; k++) CHECK(kept[i][k] == 0);
        memset(kept[i], i, n);
    }
    for (int i = 0; i < 300; i++) {
        for (size_t k = 0; k < (size_t)(i * 7 % 2000); k++) CHECK(kept[i][k] == (char)i);
    }
    CHECK(tn_arena_alloc(&arena, 5 << 20) != NULL);
    CHECK(!tn_arena_alloc(&arena, SIZE_MAX) && !tn_arena_array(&arena, SIZE_MAX / 2, 3));
    CHECK_STR(tn_arena_strndup(&arena, "abcdef", 3), "abc");
    CHECK(tn_str_is(tn_arena_str(&arena, TN_STR("view")), "view"));
    CHECK(tn_arena_str(&arena, TN_STR("")).s != NULL);
    tn_alloc_fail(&alloc, 1, true);
    CHECK(!tn_arena_alloc(&arena, 9 << 20) && !tn_arena_str(&arena, (struct tn_str){kept[0], 9 << 20}).s);
    tn_alloc_fail(&alloc, 0, false);
    tn_arena_release(&arena);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(buffer)
{
    struct tn_buf b;
    size_t n;
    tn_buf_init(&b, &alloc, 100);
    CHECK(tn_str_is(tn_buf_str(&b), ""));
    tn_buf_puts(&b, "abc");
    tn_buf_putc(&b, 'd');
    tn_buf_printf(&b, "-%d-%s", 42, "x");
    CHECK(tn_str_is(tn_buf_str(&b), "abcd-42-x"));
    CHECK(b.data[b.len] == 0);
    char *text = tn_buf_take(&b, &n);
    CHECK_STR(text, "abcd-42-x");
    CHECK_INT(n, 9);
    tn_free(&alloc, text);
    text = tn_buf_take(&b, &n);
    CHECK_STR(text, "");
    tn_free(&alloc, text);
    tn_buf_release(&b);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(buffer_knows_its_maximum)
{
    struct tn_buf b;
    tn_buf_init(&b, &alloc, 10);
    tn_buf_append(&b, "0123456789", 10);
    CHECK_INT(tn_buf_status(&b), TN_OK);
    tn_buf_putc(&b, 'x');
    CHECK_INT(tn_buf_status(&b), TN_RESOURCE_LIMIT);
    CHECK(tn_str_is(tn_buf_str(&b), "0123456789"));
    CHECK(!tn_buf_take(&b, NULL));
    tn_buf_clear(&b);
    CHECK_INT(tn_buf_status(&b), TN_OK);
    tn_buf_puts(&b, "again");
    CHECK(tn_str_is(tn_buf_str(&b), "again"));
    CHECK(!tn_buf_reserve(&b, SIZE_MAX));
    CHECK_INT(tn_buf_status(&b), TN_RESOURCE_LIMIT);
    tn_buf_release(&b);
    tn_buf_init(&b, &alloc, 1000);
    tn_alloc_fail(&alloc, 1, true);
    tn_buf_puts(&b, "x");
    tn_buf_puts(&b, "y");
    tn_alloc_fail(&alloc, 0, false);
    CHECK_INT(tn_buf_status(&b), TN_INSUFFICIENT_MEMORY);
    tn_buf_release(&b);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(numbers_survive_printing)
{
    setlocale(LC_NUMERIC, "C"); /* for the oracle; the test below has a comma */
    uint64_t state = 3;
    char text[40];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = test_random(&state);
        uint32_t half = (uint32_t)bits;
        double d;
        float f;
        memcpy(&d, &bits, sizeof(d));
        memcpy(&f, &half, sizeof(f));
        CHECK(tn_format_f64(text, d) < 32 && (!isfinite(d) || strtod(text, NULL) == d));
        CHECK(tn_format_f32(text, f) < 32 && (!isfinite(f) || strtof(text, NULL) == f));
    }
    CHECK_INT(tn_format_f64(text, NAN), 4);
    CHECK_STR(text, "null");
    tn_format_f64(text, 0.1);
    CHECK_STR(text, "0.1");
    tn_format_f64(text, 1e300);
    CHECK_STR(text, "1e+300");
}

TEST(numbers_under_a_comma_locale)
{
    char text[40];
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        test_skip("no locale with a decimal comma is installed");
    tn_format_f64(text, -1.25e-7);
    CHECK_STR(text, "-1.25e-07");
    tn_format_f32(text, 0.5f);
    CHECK_STR(text, "0.5");
}
