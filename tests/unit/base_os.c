/* The system layer: kinds of entries, files that are no files, exact reads, maps, listing, private and atomic writing. */
#define _GNU_SOURCE
#include "test.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *in_folder(const char *name)
{
    static char paths[4][8192];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", test_folder(), name);
    return path;
}

static enum tn_file_kind kind(const char *path, bool follow)
{
    struct tn_file_info info;
    CHECK_INT(tn_os_stat(path, follow, &info), 0);
    return info.kind;
}

TEST(kinds)
{
    test_write_file(in_folder("file"), "abc", 3);
    REQUIRE(symlink("file", in_folder("link")) == 0);
    REQUIRE(symlink("absent", in_folder("dangling")) == 0);
    REQUIRE(symlink("loop", in_folder("loop")) == 0);
    REQUIRE(mkfifo(in_folder("fifo"), 0600) == 0);
    CHECK_INT(kind(in_folder("file"), false), TN_FILE_REGULAR);
    CHECK_INT(kind(test_folder(), false), TN_FILE_DIRECTORY);
    CHECK_INT(kind(in_folder("link"), false), TN_FILE_LINK);
    CHECK_INT(kind(in_folder("link"), true), TN_FILE_REGULAR);
    CHECK_INT(kind(in_folder("dangling"), true), TN_FILE_MISSING);
    CHECK_INT(kind(in_folder("absent"), true), TN_FILE_MISSING);
    CHECK_INT(kind(in_folder("file/below"), true), TN_FILE_MISSING);
    CHECK_INT(kind(in_folder("fifo"), true), TN_FILE_OTHER);
    struct tn_file_info info;
    CHECK_INT(tn_os_stat(in_folder("loop"), true, &info), ELOOP);
}

TEST(only_regular_files_are_opened)
{
    struct tn_os_file file;
    REQUIRE(mkfifo(in_folder("fifo"), 0600) == 0);
    CHECK_INT(tn_os_open(in_folder("fifo"), &file), TN_OS_NOT_REGULAR); /* and does not wait for a writer */
    CHECK_INT(file.fd, -1);
    CHECK_INT(tn_os_open(test_folder(), &file), TN_OS_NOT_REGULAR);
    CHECK_INT(tn_os_open("/dev/null", &file), TN_OS_NOT_REGULAR);
    CHECK_INT(tn_os_open(in_folder("absent"), &file), ENOENT);
    tn_os_close(&file);
}

TEST(reads_are_exact)
{
    struct tn_os_file file;
    char out[8] = "";
    test_write_file(in_folder("file"), "0123456789", 10);
    REQUIRE(tn_os_open(in_folder("file"), &file) == 0);
    CHECK_INT(file.stamp.size, 10);
    CHECK_INT(tn_os_read(&file, 3, out, 4), 0);
    CHECK_STR(out, "3456");
    CHECK_INT(tn_os_read(&file, 10, out, 0), 0);
    CHECK_INT(tn_os_read(&file, 7, out, 4), TN_OS_SHORT);
    CHECK_INT(tn_os_read(&file, UINT64_MAX, out, 1), TN_OS_SHORT);
    CHECK_INT(tn_os_read(&file, (uint64_t)INT64_MAX + 1, out, 1), TN_OS_SHORT);
    tn_os_close(&file);
    tn_os_close(&file);
}

TEST(stamps_tell_a_change)
{
    struct tn_os_file file;
    struct tn_file_stamp now;
    struct timespec pause = {.tv_nsec = 20000000};
    test_write_file(in_folder("file"), "abc", 3);
    REQUIRE(tn_os_open(in_folder("file"), &file) == 0);
    CHECK(tn_os_stamp(&file, &now) == 0 && tn_file_stamp_eq(&now, &file.stamp));
    nanosleep(&pause, NULL);
    test_write_file(in_folder("file"), "abd", 3); /* same size, same file */
    CHECK(tn_os_stamp(&file, &now) == 0 && !tn_file_stamp_eq(&now, &file.stamp));
    CHECK(now.size == file.stamp.size && now.inode == file.stamp.inode);
    tn_os_close(&file);
}

TEST(maps)
{
    struct tn_os_file file;
    const void *p = NULL;
    test_write_file(in_folder("file"), "0123456789", 10);
    REQUIRE(tn_os_open(in_folder("file"), &file) == 0);
    CHECK(tn_os_map(&file, 0, &p) != 0);
    REQUIRE(tn_os_map(&file, 10, &p) == 0);
    CHECK(memcmp(p, "0123456789", 10) == 0);
    tn_os_will_need(p, 10);
    tn_os_close(&file); /* the map outlives the descriptor */
    CHECK(((const char *)p)[9] == '9');
    tn_os_unmap(p, 10);
    tn_os_unmap(NULL, 0);
}

struct names {
    unsigned count, stop_at;
    bool dots;
};

static bool visit(void *context, const char *name)
{
    struct names *names = context;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) names->dots = true;
    return ++names->count != names->stop_at;
}

TEST(listing)
{
    struct names names = {0};
    test_write_file(in_folder("a"), "", 0);
    test_write_file(in_folder("b"), "", 0);
    test_write_file(in_folder(".c"), "", 0);
    CHECK_INT(tn_os_list(test_folder(), visit, &names), 0);
    CHECK_INT(names.count, 3);
    CHECK(!names.dots);
    names = (struct names){.stop_at = 2};
    CHECK_INT(tn_os_list(test_folder(), visit, &names), 0);
    CHECK_INT(names.count, 2);
    CHECK_INT(tn_os_list(in_folder("absent"), visit, &names), ENOENT);
    CHECK_INT(tn_os_list(in_folder("a"), visit, &names), ENOTDIR);
}

TEST(real_paths)
{
    struct tn_alloc alloc;
    struct tn_buf path;
    tn_alloc_init(&alloc);
    test_write_file(in_folder("file"), "", 0);
    REQUIRE(symlink("file", in_folder("link")) == 0);
    tn_buf_init(&path, &alloc, 4096);
    CHECK_INT(tn_os_realpath(in_folder("./link"), &path), 0);
    CHECK(tn_str_ends(tn_buf_str(&path), "/file"));
    tn_buf_clear(&path);
    CHECK_INT(tn_os_realpath(in_folder("absent"), &path), ENOENT);
    tn_buf_release(&path);
    tn_buf_init(&path, &alloc, 3);
    CHECK(tn_os_realpath(in_folder("file"), &path) != 0);
    tn_buf_release(&path);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 0777 : 0;
}

TEST(private_folders_and_files)
{
    umask(0);
    CHECK_INT(tn_os_make_folders(in_folder("a/b/c")), 0);
    CHECK_INT(tn_os_make_folders(in_folder("a/b/c")), 0);
    CHECK_INT(mode_of(in_folder("a")), 0700);
    CHECK_INT(mode_of(in_folder("a/b/c")), 0700);
    CHECK_INT(tn_os_create(in_folder("a/file")), 0);
    CHECK_INT(mode_of(in_folder("a/file")), 0600);
    CHECK(tn_os_make_folders(in_folder("a/file/x")) != 0);
    CHECK(tn_os_make_folders("") != 0);
    CHECK_INT(tn_os_remove(in_folder("a/file")), 0);
    CHECK_INT(tn_os_remove(in_folder("a/file")), ENOENT);
}

TEST(atomic_writing)
{
    size_t n = 0;
    struct names names = {0};
    umask(0);
    CHECK_INT(tn_os_write_atomic(in_folder("file"), "first", 5), 0);
    CHECK_INT(mode_of(in_folder("file")), 0600);
    int old = open(in_folder("file"), O_RDONLY);
    CHECK_INT(tn_os_write_atomic(in_folder("file"), "second!", 7), 0);
    char seen[8] = "";
    CHECK(read(old, seen, 5) == 5); /* who had it open still sees the old contents, whole */
    CHECK_STR(seen, "first");
    close(old);
    char *now = test_read_file(in_folder("file"), &n);
    CHECK(now && n == 7 && memcmp(now, "second!", 7) == 0);
    free(now);
    CHECK(tn_os_write_atomic(in_folder("absent/file"), "x", 1) != 0);
    CHECK_INT(tn_os_list(test_folder(), visit, &names), 0);
    CHECK_INT(names.count, 1); /* no temporary file stays */
}

TEST(figures_of_the_machine)
{
    char text[128];
    uint64_t before = tn_os_monotonic_ns();
    CHECK(tn_os_monotonic_ns() >= before);
    CHECK(tn_os_wall_seconds() > 1600000000);
    CHECK(tn_os_processors() >= 1);
    CHECK(tn_os_memory_total() >= tn_os_memory_available());
    tn_os_describe(text, sizeof(text));
    CHECK(text[0] != 0);
    CHECK_CONTAINS(tn_os_error_text(ENOENT, text, sizeof(text)), "No such file");
    CHECK_CONTAINS(tn_os_error_text(TN_OS_SHORT, text, sizeof(text)), "ends too early");
    CHECK(tn_os_error_text(99999, text, sizeof(text))[0] != 0);
}
