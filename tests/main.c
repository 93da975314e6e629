/* Runner: one process per test, a time limit, named skips, and the closing line. */
#define _GNU_SOURCE
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TESTS = 4096, SECONDS = 300, EXIT_SKIP = 77 };

static struct {
    const char *file, *name;
    test_fn fn;
} tests[MAX_TESTS];
static size_t test_count;
static bool failed;
static char folder[512];

void test_register(const char *file, const char *name, test_fn fn)
{
    if (test_count == MAX_TESTS) {
        fprintf(stderr, "too many tests\n");
        exit(2);
    }
    const char *slash = strrchr(file, '/');
    tests[test_count].file = slash ? slash + 1 : file;
    tests[test_count].name = name;
    tests[test_count++].fn = fn;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    failed = true;
    printf("    %s:%d: ", file, line);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char child[4096];
        snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        struct stat st;
        if (lstat(child, &st) == 0 && S_ISDIR(st.st_mode)) {
            remove_tree(child);
        } else {
            unlink(child);
        }
    }
    if (dir) closedir(dir);
    rmdir(path);
}

static void clean_up(void)
{
    if (folder[0]) remove_tree(folder);
}

void test_skip(const char *format, ...)
{
    va_list args;
    printf("    skipped: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    clean_up();
    _exit(failed ? 1 : EXIT_SKIP);
}

const char *test_path(const char *relative)
{
    static char paths[8][4096];
    static unsigned next;
    char *path = paths[next++ % 8];
    const char *root = getenv("TN_TESTS");
    snprintf(path, sizeof(paths[0]), "%s/%s", root ? root : "tests", relative);
    return path;
}

const char *test_folder(void)
{
    if (!folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof(folder), "%s/tenon-test-XXXXXX", base ? base : "/tmp");
        if (!mkdtemp(folder)) {
            perror("mkdtemp");
            exit(2);
        }
    }
    return folder;
}

char *test_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long n = ftell(file);
    rewind(file);
    char *data = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (data && fread(data, 1, (size_t)n, file) != (size_t)n) {
        free(data);
        data = NULL;
    }
    fclose(file);
    if (data) data[n] = 0;
    if (data && size) *size = (size_t)n;
    return data;
}

void test_write_file(const char *path, const void *p, size_t n)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(p, 1, n, file) != n || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

double test_uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(test_random(state) >> 11) / 9007199254740992.0);
}

static int run_one(size_t i)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(SECONDS);
        tests[i].fn();
        fflush(stdout);
        clean_up();
        exit(failed ? 1 : 0);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        printf("    ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
        return 1;
    }
    return WEXITSTATUS(status);
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    int order = strcmp(x[0], y[0]);
    return order ? order : strcmp(x[1], y[1]);
}

static bool wanted(size_t i, int argc, char **argv)
{
    char full[512];
    snprintf(full, sizeof(full), "%s.%s", tests[i].file, tests[i].name);
    for (int a = 1; a < argc; a++) {
        if (strstr(full, argv[a])) return true;
    }
    return argc < 2;
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, ""); /* a comma locale must change nothing */
    unsigned passed = 0, failures = 0, skipped = 0;
    qsort(tests, test_count, sizeof(tests[0]), by_name);
    for (size_t i = 0; i < test_count; i++) {
        if (!wanted(i, argc, argv)) continue;
        int code = run_one(i);
        passed += code == 0;
        skipped += code == EXIT_SKIP;
        if (code == 0) continue;
        if (code == EXIT_SKIP) {
            printf("SKIP %s.%s\n", tests[i].file, tests[i].name);
            continue;
        }
        failures++;
        printf("FAIL %s.%s (again: %s %s.%s)\n", tests[i].file, tests[i].name, argv[0], tests[i].file, tests[i].name);
    }
    printf("%u passed, %u failed, %u skipped\n", passed, failures, skipped);
    return failures ? 1 : passed ? 0 : 1;
}
