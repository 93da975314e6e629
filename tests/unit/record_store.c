/* The evidence store: round trips, two processes, foreign and damaged files, a full disk, and what outlives what. */
#define _GNU_SOURCE
#include "record_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 4096 };

/* FOLDER/NAME into out[PATH]. */
static char *join(char *out, const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    if (a + b + 2 > PATH) test_skip("the temporary folder has too long a name");
    memcpy(out, folder, a);
    out[a] = '/';
    memcpy(out + a + 1, name, b + 1);
    return out;
}

/* The same in a buffer of its own; valid until the next call. */
static const char *inside(const char *folder, const char *name)
{
    static char path[PATH];
    return join(path, folder, name);
}

struct seen {
    unsigned count, damaged;
    int64_t created[16];
};

static enum tn_status see(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct seen *seen = user;
    (void)err;
    if (row->damage) seen->damaged++;
    if (seen->count < 16) seen->created[seen->count] = row->index.created;
    seen->count++;
    return TN_OK;
}

/* Changes a database behind tenon's back. */
static void meddle(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        test_fail(__FILE__, __LINE__, "%s", sqlite3_errmsg(db));
    }
    sqlite3_close(db);
}

TEST(an_empty_place_holds_nothing_and_reading_makes_nothing)
{
    char folder[PATH];
    join(folder, test_folder(), "none");
    struct sample *s = sample_new(folder);
    struct seen seen = {0};
    struct tn_record_facts facts;
    struct tn_record_standing standing;
    struct stat st;
    sample_facts(&facts);
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, 0);
    CHECK_INT(tn_record_level_for(&s->store, &facts, &standing, &s->err), TN_OK);
    CHECK(!standing.found);
    CHECK(stat(folder, &st) != 0 && errno == ENOENT);
    struct tn_buf out;
    tn_buf_init(&out, &s->alloc, 1 << 20);
    CHECK_INT(tn_record_get(&s->store, "0123", &out, &s->err), TN_ARTIFACT_MISSING);
    tn_buf_release(&out);
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

TEST(records_come_back_newest_first)
{
    char folder[PATH], ids[3][TN_RECORD_ID + 1];
    join(folder, test_folder(), "deep/er");
    struct sample *s = sample_new(folder);
    struct seen seen = {0};
    struct tn_buf out;
    struct stat st;
    CHECK_INT(sample_put(s, 20, TN_LEVEL_RECOGNISED, NULL, ids[0]), TN_OK);
    CHECK_INT(sample_put(s, 30, TN_LEVEL_LOADS, NULL, ids[1]), TN_OK);
    CHECK_INT(sample_put(s, 10, TN_LEVEL_RECOGNISED, NULL, ids[2]), TN_OK);
    CHECK_INT(sample_put(s, 10, TN_LEVEL_RECOGNISED, NULL, ids[2]), TN_OK); /* the same one is one */
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, 3);
    CHECK_INT(seen.damaged, 0);
    CHECK(seen.created[0] == 30 && seen.created[1] == 20 && seen.created[2] == 10);
    REQUIRE(stat(inside(folder, "records.db"), &st) == 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    REQUIRE(stat(folder, &st) == 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    for (int i = 0; i < 3; i++) {
        tn_buf_init(&out, &s->alloc, 1 << 20);
        CHECK_INT(tn_record_get(&s->store, ids[i], &out, &s->err), TN_OK);
        CHECK_CONTAINS(out.data, ids[i]);
        tn_buf_release(&out);
        char start[9] = "";
        memcpy(start, ids[i], 8);
        tn_buf_init(&out, &s->alloc, 1 << 20);
        CHECK_INT(tn_record_get(&s->store, start, &out, &s->err), TN_OK);
        tn_buf_release(&out);
    }
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

TEST(an_exported_document_can_be_stored_elsewhere)
{
    char from[PATH], to[PATH], id[TN_RECORD_ID + 1];
    join(from, test_folder(), "from");
    join(to, test_folder(), "to");
    struct sample *s = sample_new(from);
    struct tn_buf first, second;
    CHECK_INT(sample_put(s, 7, TN_LEVEL_REFERENCE_QUALIFIED, NULL, id), TN_OK);
    tn_buf_init(&first, &s->alloc, 1 << 20);
    tn_buf_init(&second, &s->alloc, 1 << 20);
    REQUIRE(tn_record_get(&s->store, id, &first, &s->err) == TN_OK);
    s->store.folder = to;
    REQUIRE(tn_record_put(&s->store, tn_buf_str(&first), &s->err) == TN_OK);
    REQUIRE(tn_record_get(&s->store, id, &second, &s->err) == TN_OK);
    CHECK_STR(second.data, first.data);
    tn_buf_release(&first);
    tn_buf_release(&second);
}

TEST(ids_are_asked_for_by_prefix)
{
    struct sample *s = sample_new(test_folder());
    char id[TN_RECORD_ID + 1];
    struct tn_buf out;
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, id), TN_OK);
    static const char *const bad[] = {"", "abc", "zzzz", "ABCD", "0123456789abcdef0123456789abcdef0", "' OR 1=1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        tn_buf_init(&out, &s->alloc, 1 << 20);
        CHECK_INT(tn_record_get(&s->store, bad[i], &out, &s->err), TN_INVALID_REQUEST);
        tn_buf_release(&out);
    }
    tn_buf_init(&out, &s->alloc, 1 << 20);
    CHECK_INT(tn_record_get(&s->store, NULL, &out, &s->err), TN_INVALID_REQUEST);
    /* Two records that share a start. */
    char sql[256];
    snprintf(sql, sizeof(sql), "INSERT INTO record SELECT substr(id, 1, 31) || 'x', created, level, passed, task, package,"
             " suite, document FROM record");
    meddle(inside(test_folder(), "records.db"), sql);
    id[8] = 0;
    CHECK_INT(tn_record_get(&s->store, id, &out, &s->err), TN_INVALID_REQUEST);
    CHECK_CONTAINS(s->err.primary.message, "several");
    tn_buf_release(&out);
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

TEST(a_runtime_without_state_folder_says_so)
{
    struct sample *s = sample_new(NULL);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_INVALID_REQUEST);
    CHECK_CONTAINS(s->err.primary.message, "no state folder");
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

/* Each of these files is refused with its name, and not one byte of it changes. */
static void refused(const char *what, const void *bytes, size_t n, enum tn_status expected)
{
    char folder[PATH];
    join(folder, test_folder(), what);
    mkdir(folder, 0700);
    struct sample *s = sample_new(folder);
    const char *path = inside(folder, "records.db");
    test_write_file(path, bytes, n);
    struct seen seen = {0};
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), expected);
    CHECK_CONTAINS(s->err.primary.file, "records.db");
    CHECK(s->err.primary.remedy[0]);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), expected);
    CHECK_INT(seen.count, 0);
    size_t now = 0;
    char *after = test_read_file(inside(folder, "records.db"), &now);
    CHECK(after && now == n && memcmp(after, bytes, n) == 0);
    free(after);
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

static void *bytes_of(const char *folder, size_t *n)
{
    return test_read_file(inside(folder, "records.db"), n);
}

TEST(foreign_and_damaged_files_are_refused_untouched)
{
    char text[8192];
    memset(text, 'x', sizeof(text));
    refused("text", text, sizeof(text), TN_ARTIFACT_MALFORMED);
    refused("short", "SQLite format 3", 16, TN_ARTIFACT_MALFORMED);

    char other[PATH];
    join(other, test_folder(), "other");
    mkdir(other, 0700);
    meddle(inside(other, "records.db"), "CREATE TABLE address(name TEXT); INSERT INTO address VALUES('me')");
    size_t n = 0;
    void *bytes = bytes_of(other, &n);
    refused("foreign", bytes, n, TN_ARTIFACT_MALFORMED);
    free(bytes);

    char ours[PATH];
    join(ours, test_folder(), "ours");
    struct sample *s = sample_new(ours);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_OK);
    bytes = bytes_of(ours, &n);
    REQUIRE(bytes && n > 4096);
    memset((char *)bytes + 100, 0xFF, 12); /* the header of the schema's b-tree */
    refused("damaged", bytes, n, TN_ARTIFACT_MALFORMED);
    free(bytes);
    meddle(inside(ours, "records.db"), "PRAGMA user_version = 99");
    bytes = bytes_of(ours, &n);
    refused("later", bytes, n, TN_VERSION_UNQUALIFIED);
    free(bytes);
}

TEST(what_is_no_file_is_refused)
{
    struct sample *s = sample_new(test_folder());
    mkdir(inside(test_folder(), "records.db"), 0700);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_ARTIFACT_MALFORMED);
    rmdir(inside(test_folder(), "records.db"));
    REQUIRE(mkfifo(inside(test_folder(), "records.db"), 0600) == 0);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_ARTIFACT_MALFORMED);
    unlink(inside(test_folder(), "records.db"));
    /* A state folder below a file cannot be made. */
    test_write_file(inside(test_folder(), "file"), "x", 1);
    char below[PATH];
    join(below, test_folder(), "file/state");
    s->store.folder = below;
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_INVALID_REQUEST);
    CHECK_CONTAINS(s->err.primary.message, "state folder");
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

TEST(an_edited_row_is_shown_as_damaged_and_counts_for_nothing)
{
    struct sample *s = sample_new(test_folder());
    char id[TN_RECORD_ID + 1];
    struct seen seen = {0};
    struct tn_record_facts facts;
    struct tn_record_standing standing;
    struct tn_buf out;
    CHECK_INT(sample_put(s, 1, TN_LEVEL_REFERENCE_QUALIFIED, NULL, id), TN_OK);
    meddle(inside(test_folder(), "records.db"),
           "UPDATE record SET level = 'reference_qualified', passed = 1, document ="
           " replace(document, '\"level\":\"loads\",\"passed\":false', '\"level\":\"reference_qualified\",\"passed\":true')");
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.damaged, 1);
    sample_facts(&facts);
    CHECK_INT(tn_record_level_for(&s->store, &facts, &standing, &s->err), TN_OK);
    CHECK(!standing.found);
    tn_buf_init(&out, &s->alloc, 1 << 20);
    CHECK_INT(tn_record_get(&s->store, id, &out, &s->err), TN_ARTIFACT_MALFORMED);
    tn_buf_release(&out);
}

TEST(a_busy_store_waits)
{
    struct sample *s = sample_new(test_folder());
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_OK);
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        sqlite3 *db = NULL;
        sqlite3_open(inside(test_folder(), "records.db"), &db);
        sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
        if (write(ready[1], "x", 1) != 1) _exit(1);
        usleep(400000);
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        sqlite3_close(db);
        _exit(0);
    }
    char x;
    REQUIRE(read(ready[0], &x, 1) == 1);
    CHECK_INT(sample_put(s, 2, TN_LEVEL_RECOGNISED, NULL, NULL), TN_OK); /* waits for the other process */
    waitpid(pid, NULL, 0);
    struct seen seen = {0};
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, 2);
}

TEST(many_processes_start_an_empty_store_at_once)
{
    enum { PROCESSES = 6, EACH = 4 };
    char folder[PATH];
    join(folder, test_folder(), "race");
    for (int p = 0; p < PROCESSES; p++) {
        if (fork() != 0) continue;
        struct sample *s = sample_new(folder);
        int bad = 0;
        for (int i = 0; i < EACH; i++) bad |= sample_put(s, p * 100 + i, TN_LEVEL_RECOGNISED, NULL, NULL) != TN_OK;
        _exit(bad);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status = 1;
        wait(&status);
        CHECK_INT(status, 0);
    }
    struct sample *s = sample_new(folder);
    struct seen seen = {0};
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, PROCESSES * EACH);
}

/* A writer that dies inside a transaction leaves a journal; the next reader rolls it back. */
TEST(a_killed_writer_leaves_no_half_record)
{
    struct sample *s = sample_new(test_folder());
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_OK);
    pid_t pid = fork();
    if (pid == 0) {
        sqlite3 *db = NULL;
        sqlite3_open(inside(test_folder(), "records.db"), &db);
        sqlite3_exec(db, "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE", NULL, NULL, NULL);
        sqlite3_exec(db, "UPDATE record SET document = document || hex(randomblob(400000))", NULL, NULL, NULL);
        sqlite3_exec(db, "DELETE FROM dependency", NULL, NULL, NULL);
        _exit(access(inside(test_folder(), "records.db-journal"), F_OK) == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    REQUIRE(status == 0);
    struct seen seen = {0};
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, 1);
    CHECK_INT(seen.damaged, 0);
}

/* A small file system of our own, where the system lets us have one. */
static bool small_disk(const char *place)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return false;
    return mount("none", place, "tmpfs", 0, "size=64k,mode=700") == 0;
}

TEST(a_full_disk_is_an_error_and_leaves_the_store_whole)
{
    char place[PATH];
    join(place, test_folder(), "disk");
    mkdir(place, 0700);
    if (!small_disk(place)) test_skip("no file system can be mounted here");
    struct sample *s = sample_new(place);
    enum tn_status status = TN_OK;
    int stored = 0;
    for (int i = 0; i < 100 && !status; i++) {
        status = sample_put(s, i, TN_LEVEL_RECOGNISED, NULL, NULL);
        stored += status == TN_OK;
    }
    CHECK_INT(status, TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(s->err.primary.message, "full");
    struct seen seen = {0};
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, stored);
    CHECK_INT(seen.damaged, 0);
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
    umount(place);
}

TEST(a_read_only_disk_can_be_read_and_says_why_it_is_not_written)
{
    char place[PATH];
    join(place, test_folder(), "disk");
    mkdir(place, 0700);
    if (!small_disk(place)) test_skip("no file system can be mounted here");
    struct sample *s = sample_new(place);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_OK);
    REQUIRE(mount("none", place, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k") == 0);
    struct seen seen = {0};
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, 1);
    CHECK_INT(sample_put(s, 2, TN_LEVEL_RECOGNISED, NULL, NULL), TN_RUNTIME_FAILURE);
    CHECK(s->err.primary.remedy[0]);
    umount(place);
}

static struct tn_record_standing standing_of(struct sample *s, const struct tn_record_facts *facts)
{
    struct tn_record_standing standing;
    CHECK_INT(tn_record_level_for(&s->store, facts, &standing, &s->err), TN_OK);
    return standing;
}

TEST(standing_is_the_best_that_still_holds)
{
    struct sample *s = sample_new(test_folder());
    struct tn_record_facts facts;
    char good[TN_RECORD_ID + 1], bad[TN_RECORD_ID + 1];
    sample_facts(&facts);
    CHECK_INT(sample_put(s, 10, TN_LEVEL_RECOGNISED, NULL, good), TN_OK);
    struct tn_record_standing st = standing_of(s, &facts);
    CHECK(st.found && !st.failed);
    CHECK_INT(st.level, TN_LEVEL_REFERENCE_QUALIFIED);
    CHECK_STR(st.id, good);

    /* When planning the weights are unknown. */
    facts.value[TN_DEPENDS_ON_WEIGHTS] = (struct tn_str){0};
    CHECK_INT(standing_of(s, &facts).level, TN_LEVEL_REFERENCE_QUALIFIED);

    facts.value[TN_DEPENDS_ON_TOKENIZER] = TN_STR("new tokenizer");
    CHECK_INT(standing_of(s, &facts).level, TN_LEVEL_LOADS);
    facts.value[TN_DEPENDS_ON_ISA_CLASS] = TN_STR("other machine");
    CHECK(!standing_of(s, &facts).found);

    /* A later failure hides what came before ... */
    sample_facts(&facts);
    CHECK_INT(sample_put(s, 20, TN_LEVEL_REFERENCE_QUALIFIED, NULL, bad), TN_OK);
    st = standing_of(s, &facts);
    CHECK(st.found && st.failed);
    CHECK_INT(st.level, TN_LEVEL_LOADS);
    CHECK_STR(st.id, bad);
    /* ... and a still later success replaces it. */
    CHECK_INT(sample_put(s, 30, TN_LEVEL_RECOGNISED, NULL, good), TN_OK);
    st = standing_of(s, &facts);
    CHECK(st.found && !st.failed);
    CHECK_INT(st.level, TN_LEVEL_REFERENCE_QUALIFIED);
    CHECK_STR(st.id, good);
}

/* A failure with another tokenizer says nothing about the answers with this one. */
TEST(a_failure_counts_while_its_grounds_stand)
{
    struct sample *s = sample_new(test_folder());
    struct tn_record_facts facts;
    sample_facts(&facts);
    CHECK_INT(sample_put(s, 10, TN_LEVEL_RECOGNISED, NULL, NULL), TN_OK);
    CHECK_INT(sample_put(s, 20, TN_LEVEL_REFERENCE_QUALIFIED, "broken tokenizer", NULL), TN_OK);
    CHECK_INT(standing_of(s, &facts).level, TN_LEVEL_REFERENCE_QUALIFIED);
    facts.value[TN_DEPENDS_ON_TOKENIZER] = TN_STR("broken tokenizer");
    CHECK_INT(standing_of(s, &facts).level, TN_LEVEL_LOADS);
    /* A failure to keep invariants does not depend on the tokenizer. */
    CHECK_INT(sample_put(s, 30, TN_LEVEL_LOADS, "broken tokenizer", NULL), TN_OK);
    sample_facts(&facts);
    struct tn_record_standing st = standing_of(s, &facts);
    CHECK_INT(st.level, TN_LEVEL_STRUCTURALLY_VALID);
    CHECK(st.failed);
}

/* Nothing there yet is no fault; a place where nothing can ever be is. */
TEST(a_state_folder_that_is_none)
{
    char path[4096], below[4096];
    struct seen seen = {0};
    snprintf(path, sizeof(path), "%s/file", test_folder());
    test_write_file(path, "x", 1);
    snprintf(below, sizeof(below), "%s/file/deep/state", test_folder());
    static const struct {
        const char *what;
        int which;
    } cases[] = {{"a file", 0}, {"a file", 1}, {"neither a file nor a folder", 2}, {"neither a file nor a folder", 3}};
    const char *folders[] = {path, below, "/dev/null", "/dev/null/x//y/"};
    for (size_t i = 0; i < 4; i++) {
        struct sample *s = sample_new(folders[i]);
        CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_INVALID_REQUEST);
        CHECK_CONTAINS(s->err.primary.message, "the state folder is not a folder");
        CHECK_STR(s->err.primary.found, cases[i].what);
        CHECK_CONTAINS(s->err.primary.remedy, "--state-dir");
        tn_error_clear(&s->err);
        CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_INVALID_REQUEST);
        CHECK_INT(tn_alloc_current(&s->alloc), 0);
    }
    CHECK_INT(seen.count, 0);
    snprintf(below, sizeof(below), "%s/not/yet/there", test_folder());
    struct sample *s = sample_new(below);
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, NULL), TN_OK);
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, 1);
}

TEST(allocation_failures_leak_nothing_and_store_all_or_nothing)
{
    struct sample *s = sample_new(test_folder());
    struct tn_record_facts facts;
    struct tn_record_standing standing;
    char id[TN_RECORD_ID + 1];
    unsigned n = 1;
    sample_facts(&facts);
    CHECK_INT(sample_put(s, 1, TN_LEVEL_RECOGNISED, NULL, id), TN_OK);
    for (enum tn_status status = TN_INSUFFICIENT_MEMORY; status; n++) {
        tn_alloc_fail(&s->alloc, n, n % 2);
        status = sample_put(s, 2, TN_LEVEL_RECOGNISED, NULL, NULL);
        tn_alloc_fail(&s->alloc, 0, false);
        CHECK(status == TN_OK || status == TN_INSUFFICIENT_MEMORY);
        CHECK_INT(tn_alloc_current(&s->alloc), 0);
    }
    CHECK(n > 5);
    n = 1;
    for (enum tn_status status = TN_INSUFFICIENT_MEMORY; status; n++) {
        tn_alloc_fail(&s->alloc, n, false);
        status = tn_record_level_for(&s->store, &facts, &standing, &s->err);
        tn_alloc_fail(&s->alloc, 0, false);
        CHECK(status == TN_OK || status == TN_INSUFFICIENT_MEMORY);
        CHECK_INT(tn_alloc_current(&s->alloc), 0);
    }
    CHECK(n > 3 && standing.found);
    struct seen seen = {0};
    CHECK_INT(tn_record_each(&s->store, see, &seen, &s->err), TN_OK);
    CHECK_INT(seen.count, 2);
}
