/*
 * The whole test framework. A test file defines TEST(name) { ... } bodies; they register themselves, so adding a test
 * is adding a file. Each test runs in a process of its own: a crash fails one test and no other.
 *
 *     tests/run [FILTER...]      runs tests whose "file.name" contains a filter
 *
 * CHECK(...) fails the test and goes on; REQUIRE(...) fails it and returns from the test body.
 */
#ifndef TN_TEST_H
#define TN_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*test_fn)(void);
void test_register(const char *file, const char *name, test_fn fn);
void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the test as skipped, with the reason counted and named. */
_Noreturn void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Path of a file below tests/ (whatever the working directory); valid until the eighth next call. */
const char *test_path(const char *relative);
/* A fresh empty folder, removed when the test ends. */
const char *test_folder(void);
/* Whole file into malloc'd memory plus NUL; NULL when it is not there. */
char *test_read_file(const char *path, size_t *size);
void test_write_file(const char *path, const void *p, size_t n);
/* Small deterministic generator (splitmix64). */
uint64_t test_random(uint64_t *state);
double test_uniform(uint64_t *state, double low, double high);

#define TEST(test_name)                                                                            \
    static void test_##test_name(void);                                                            \
    __attribute__((constructor)) static void register_##test_name(void)                           \
    {                                                                                              \
        test_register(__FILE__, #test_name, test_##test_name);                                     \
    }                                                                                              \
    static void test_##test_name(void)

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "CHECK(%s)", #condition))
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_fail(__FILE__, __LINE__, "REQUIRE(%s)", #condition);                              \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define CHECK_INT(found, expected)                                                                 \
    do {                                                                                           \
        long long f_ = (long long)(found), e_ = (long long)(expected);                             \
        if (f_ != e_) test_fail(__FILE__, __LINE__, "%s: found %lld, expected %lld", #found, f_, e_); \
    } while (0)
#define CHECK_NEAR(found, expected, tolerance)                                                     \
    do {                                                                                           \
        double f_ = (double)(found), e_ = (double)(expected);                                      \
        if (!(fabs(f_ - e_) <= (double)(tolerance)))                                               \
            test_fail(__FILE__, __LINE__, "%s: found %.9g, expected %.9g", #found, f_, e_);        \
    } while (0)
#define CHECK_STR(found, expected)                                                                 \
    do {                                                                                           \
        const char *f_ = (found), *e_ = (expected);                                                \
        if (!f_ || strcmp(f_, e_) != 0)                                                            \
            test_fail(__FILE__, __LINE__, "%s: found \"%s\", expected \"%s\"", #found, f_ ? f_ : "(null)", e_); \
    } while (0)
/* For failure lists: the text contains a part. */
#define CHECK_CONTAINS(text, part)                                                                 \
    do {                                                                                           \
        const char *t_ = (text), *p_ = (part);                                                     \
        if (!t_ || !strstr(t_, p_))                                                                \
            test_fail(__FILE__, __LINE__, "\"%s\" does not contain \"%s\"", t_ ? t_ : "(null)", p_); \
    } while (0)

#endif
