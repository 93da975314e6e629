/*
 * The evidence store: the only file that knows SQLite. Owns the schema and its migrations. Refuses to know what a check
 * means. The file on disk is untrusted: documents are verified by their id whenever they are read.
 *
 * The rollback journal and not the write-ahead log: there is one small write per qualification, and a journal needs no
 * shared memory (home folders on network file systems), leaves one file and can be read where nothing may be written.
 * Two processes are kept apart by BEGIN IMMEDIATE and the busy timeout.
 *
 * SQLite's memory is not on our account: its allocator can only be replaced for the whole process, which belongs to the
 * host. It is bounded instead: a page cache of 1 MiB for the time of one call.
 */
#include "record/record.h"

#include "base/os.h"

#include <sqlite3.h>
#include <string.h>

enum {
    APPLICATION_ID = 0x746E6F6E, /* "tnon" */
    SCHEMA_VERSION = 1,
    DOCUMENT_MAX = 16 << 20,
    ID_PREFIX_MIN = 4,
    WITHDRAWN_MOST = 256
};

static const char FILE_NAME[] = "records.db";

/* migrations[v] takes a database of version v to version v + 1. */
static const char *const migrations[SCHEMA_VERSION] = {
    "CREATE TABLE record("
    " id TEXT NOT NULL PRIMARY KEY CHECK(length(id) = 32),"
    " created INTEGER NOT NULL,"
    " level TEXT NOT NULL,"
    " passed INTEGER NOT NULL CHECK(passed IN (0, 1)),"
    " task TEXT NOT NULL,"
    " package TEXT NOT NULL,"
    " suite TEXT NOT NULL,"
    " document TEXT NOT NULL);"
    "CREATE TABLE dependency("
    " record TEXT NOT NULL REFERENCES record(id) ON DELETE CASCADE,"
    " kind TEXT NOT NULL,"
    " value TEXT NOT NULL,"
    " needed_for TEXT NOT NULL,"
    " PRIMARY KEY(record, kind)) WITHOUT ROWID;"
    "CREATE INDEX dependency_value ON dependency(kind, value);"
    "CREATE INDEX record_created ON record(created);"
    "PRAGMA user_version = 1;"
    "PRAGMA application_id = 1953394542;",
};

struct connection {
    const struct tn_record_store *store;
    struct tn_buf path;
    sqlite3 *db; /* NULL: there is nothing to read */
};

/* ---- errors ------------------------------------------------------------------------------------------------------- */

static struct tn_finding *complain(const struct connection *c, enum tn_status code, struct tn_error *err,
                                   const char *message)
{
    struct tn_finding *f = tn_error_set(err, code, TN_PHASE_RECORD, "%s", message);
    tn_at_file(f, tn_buf_str(&c->path));
    return f;
}

static enum tn_status os_failure(const struct connection *c, int error, const char *message, struct tn_error *err)
{
    char text[128];
    struct tn_finding *f = complain(c, TN_RUNTIME_FAILURE, err, message);
    tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
    tn_remedy(f, "name a state folder that this user may write to");
    return TN_RUNTIME_FAILURE;
}

static enum tn_status foreign(const struct connection *c, const char *found, struct tn_error *err)
{
    struct tn_finding *f =
        complain(c, TN_ARTIFACT_MALFORMED, err, "the evidence store is not a database of tenon, or it is damaged");
    tn_found(f, "%s", found);
    tn_expected(f, "a SQLite database with application id 0x%08X", (unsigned)APPLICATION_ID);
    tn_remedy(f, "move the file away; nothing was changed in it");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status sqlite_failure(const struct connection *c, int rc, const char *what, struct tn_error *err)
{
    const char *text = c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc);
    struct tn_finding *f;
    switch (rc & 0xFF) {
    case SQLITE_NOMEM:
        return tn_error_memory(err, TN_PHASE_RECORD, what);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return foreign(c, text, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        f = complain(c, TN_BUSY, err, "another process holds the evidence store");
        tn_expected(f, "it to be free within %d ms", TN_RECORD_BUSY_MS);
        tn_remedy(f, "try again");
        return TN_BUSY;
    case SQLITE_FULL:
        f = complain(c, TN_RESOURCE_LIMIT, err, "the disk with the evidence store is full");
        tn_remedy(f, "free some space, or name another state folder");
        return TN_RESOURCE_LIMIT;
    default:
        f = tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_RECORD, "the evidence store failed while %s", what);
        tn_at_file(f, tn_buf_str(&c->path));
        tn_found(f, "%s (SQLite code %d)", text, rc);
        tn_remedy(f, "check the permissions of the state folder and its disk");
        return TN_RUNTIME_FAILURE;
    }
}

/* ---- statements --------------------------------------------------------------------------------------------------- */

/* Runs statements that return nothing of interest; constants of this file only. */
static enum tn_status run(const struct connection *c, const char *sql, const char *what, struct tn_error *err)
{
    int rc = SQLITE_OK;
    while (rc == SQLITE_OK && *sql) {
        sqlite3_stmt *statement = NULL;
        rc = sqlite3_prepare_v2(c->db, sql, -1, &statement, &sql);
        if (rc != SQLITE_OK) break;
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        if (rc == SQLITE_DONE) rc = SQLITE_OK;
        sqlite3_finalize(statement);
    }
    return rc == SQLITE_OK ? TN_OK : sqlite_failure(c, rc, what, err);
}

static enum tn_status read_number(const struct connection *c, const char *sql, int64_t *out, struct tn_error *err)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? TN_OK : sqlite_failure(c, rc, "reading its version", err);
}

static void bind_str(sqlite3_stmt *statement, int at, struct tn_str s)
{
    sqlite3_bind_text64(statement, at, s.s ? s.s : "", s.n, SQLITE_STATIC, SQLITE_UTF8);
}

static struct tn_str column_str(sqlite3_stmt *statement, int at)
{
    const char *text = (const char *)sqlite3_column_text(statement, at);
    return (struct tn_str){text ? text : "", text ? (size_t)sqlite3_column_bytes(statement, at) : 0};
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

static void close_store(struct connection *c)
{
    sqlite3_close(c->db); /* rolls back what was not committed */
    c->db = NULL;
    tn_buf_release(&c->path);
}

static enum tn_status make_path(struct connection *c, struct tn_error *err)
{
    const char *folder = c->store->folder;
    if (!folder || !*folder) {
        struct tn_finding *f =
            tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_RECORD, "the runtime has no state folder");
        tn_remedy(f, "name one when the runtime is made; the command takes --state-dir");
        return TN_INVALID_REQUEST;
    }
    tn_buf_init(&c->path, c->store->ctx->alloc, 4096);
    /* A relative name that looks like a URI must stay a name. */
    if (*folder != '/') tn_buf_puts(&c->path, "./");
    tn_buf_printf(&c->path, "%s/%s", folder, FILE_NAME);
    enum tn_status status = tn_buf_status(&c->path);
    if (status == TN_INSUFFICIENT_MEMORY) return tn_error_memory(err, TN_PHASE_RECORD, "opening the evidence store");
    if (!status) return TN_OK;
    tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_RECORD, "the name of the state folder is too long");
    return TN_INVALID_REQUEST;
}

/*
 * A store that is not there yet holds no records; one that never can be there is refused: the nearest part of the
 * folder's path that exists must be a folder.
 */
static enum tn_status check_folder(const struct connection *c, struct tn_error *err)
{
    struct tn_buf path;
    struct tn_file_info info = {.kind = TN_FILE_MISSING};
    enum tn_status status = TN_OK;
    int error = 0;
    tn_buf_init(&path, c->store->ctx->alloc, 4096);
    tn_buf_puts(&path, c->store->folder);
    if (tn_buf_status(&path)) status = tn_error_memory(err, TN_PHASE_RECORD, "opening the evidence store");
    while (!status && path.len > 0) {
        while (path.len > 1 && path.data[path.len - 1] == '/') path.len--;
        path.data[path.len] = 0;
        error = tn_os_stat(path.data, true, &info);
        if (error || info.kind != TN_FILE_MISSING || path.len == 1) break;
        while (path.len > 0 && path.data[path.len - 1] != '/') path.len--;
    }
    if (!status && error) {
        status = os_failure(c, error, "the state folder cannot be looked at", err);
    } else if (!status && info.kind != TN_FILE_DIRECTORY && info.kind != TN_FILE_MISSING) {
        struct tn_finding *f =
            tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_RECORD, "the state folder is not a folder");
        tn_at_file(f, tn_buf_str(&path));
        tn_found(f, info.kind == TN_FILE_REGULAR ? "a file" : "neither a file nor a folder");
        tn_expected(f, "a folder, or a name at which one can be made");
        tn_remedy(f, "name another state folder; the command takes --state-dir");
        status = TN_INVALID_REQUEST;
    }
    tn_buf_release(&path);
    return status;
}

/* Whether there is a file to open; makes an empty one for a writer. */
static enum tn_status find_file(struct connection *c, bool write, bool *exists, struct tn_error *err)
{
    struct tn_file_info info;
    enum tn_status status = check_folder(c, err);
    if (status) return status;
    int error = write ? tn_os_make_folders(c->store->folder) : 0;
    if (error) return os_failure(c, error, "the state folder cannot be made", err);
    error = write ? tn_os_create(c->path.data) : 0;
    if (error) return os_failure(c, error, "the evidence store cannot be made", err);
    error = tn_os_stat(c->path.data, true, &info);
    if (error) return os_failure(c, error, "the evidence store cannot be looked at", err);
    if (info.kind != TN_FILE_MISSING && info.kind != TN_FILE_REGULAR) return foreign(c, "not a regular file", err);
    *exists = info.kind == TN_FILE_REGULAR && (write || info.stamp.size > 0);
    return TN_OK;
}

static enum tn_status configure(const struct connection *c, struct tn_error *err)
{
    sqlite3_busy_timeout(c->db, TN_RECORD_BUSY_MS);
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, DOCUMENT_MAX + 4096);
    sqlite3_limit(c->db, SQLITE_LIMIT_ATTACHED, 0);
    /* A hostile file may hold triggers and views: its schema may not call anything, nor change itself. */
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return run(c, "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; PRAGMA cache_size = -1024",
               "setting it up", err);
}

/* What marks a file as ours, in one transaction: another process may be making the schema between two reads. */
static enum tn_status read_marks(const struct connection *c, int64_t *application, int64_t *version, int64_t *tables,
                                 struct tn_error *err)
{
    bool own = sqlite3_get_autocommit(c->db) != 0;
    enum tn_status status = own ? run(c, "BEGIN", "looking at its schema", err) : TN_OK;
    if (!status) status = read_number(c, "PRAGMA application_id", application, err);
    if (!status) status = read_number(c, "PRAGMA user_version", version, err);
    if (!status) status = read_number(c, "SELECT count(*) FROM sqlite_schema", tables, err);
    if (!status && own) status = run(c, "COMMIT", "looking at its schema", err);
    return status;
}

static enum tn_status read_version(const struct connection *c, int64_t *version, struct tn_error *err)
{
    int64_t application = 0, tables = 0;
    enum tn_status status = read_marks(c, &application, version, &tables, err);
    if (status) return status;
    if (application == 0 && *version == 0 && tables == 0) return TN_OK;
    if (application != APPLICATION_ID) return foreign(c, "another program's database", err);
    if (*version < 1 || tables == 0) return foreign(c, "a database without tables", err);
    if (*version <= SCHEMA_VERSION) return TN_OK;
    struct tn_finding *f =
        complain(c, TN_VERSION_UNQUALIFIED, err, "the evidence store was written by a later version of tenon");
    tn_found(f, "schema %lld", (long long)*version);
    tn_expected(f, "at most %d", SCHEMA_VERSION);
    tn_remedy(f, "use that version, or name another state folder");
    return TN_VERSION_UNQUALIFIED;
}

/* Brings the schema up to date; several processes may try at once. */
static enum tn_status migrate(const struct connection *c, struct tn_error *err)
{
    int64_t version = 0;
    enum tn_status status = read_version(c, &version, err);
    if (status || version == SCHEMA_VERSION) return status;
    status = run(c, "BEGIN IMMEDIATE", "starting a change of schema", err);
    if (!status) status = read_version(c, &version, err);
    while (!status && version < SCHEMA_VERSION) {
        status = run(c, migrations[version++], "changing its schema", err);
    }
    if (!status) status = run(c, "COMMIT", "changing its schema", err);
    return status;
}

/* On success c->db is open with the current schema, or NULL when there is nothing to read. */
static enum tn_status open_store(struct connection *c, const struct tn_record_store *store, bool write,
                                 struct tn_error *err)
{
    bool exists = false;
    int64_t version = 0;
    *c = (struct connection){.store = store};
    enum tn_status status = make_path(c, err);
    if (!status) status = find_file(c, write, &exists, err);
    if (!status && exists) {
        /* Also readers ask to write: they may have to roll back what a killed writer left. SQLite falls back by itself. */
        int rc = sqlite3_open_v2(c->path.data, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
        if (rc != SQLITE_OK) status = sqlite_failure(c, rc, "opening it", err);
        if (!status) status = configure(c, err);
        if (!status) status = write ? migrate(c, err) : read_version(c, &version, err);
        if (!status && !write && version == 0) {
            sqlite3_close(c->db);
            c->db = NULL;
        } else if (!status && !write && version < SCHEMA_VERSION) {
            status = migrate(c, err);
        }
    }
    if (status) close_store(c);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static enum tn_status insert_record(const struct connection *c, const struct tn_record_index *index,
                                    struct tn_str document, struct tn_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(c->db,
                                "INSERT OR IGNORE INTO record(id, created, level, passed, task, package, suite, document)"
                                " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                                -1, &s, NULL);
    if (rc == SQLITE_OK) {
        bind_str(s, 1, tn_str_of(index->id));
        sqlite3_bind_int64(s, 2, index->created);
        bind_str(s, 3, tn_str_of(tn_level_name(index->level)));
        sqlite3_bind_int(s, 4, index->passed);
        bind_str(s, 5, index->task);
        bind_str(s, 6, index->package);
        bind_str(s, 7, index->suite);
        bind_str(s, 8, document);
        rc = sqlite3_step(s);
    }
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? TN_OK : sqlite_failure(c, rc, "storing a record", err);
}

static enum tn_status insert_dependencies(const struct connection *c, const struct tn_record_index *index,
                                          struct tn_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(c->db,
                                "INSERT OR IGNORE INTO dependency(record, kind, value, needed_for)"
                                " VALUES(?1, ?2, ?3, ?4)",
                                -1, &s, NULL);
    for (unsigned kind = 0; kind < TN_DEPENDENCIES && rc == SQLITE_OK; kind++) {
        if (!index->facts.value[kind].n) continue;
        bind_str(s, 1, tn_str_of(index->id));
        bind_str(s, 2, tn_str_of(tn_dependency_name((enum tn_dependency)kind)));
        bind_str(s, 3, index->facts.value[kind]);
        bind_str(s, 4, tn_str_of(tn_level_name(index->needed[kind])));
        rc = sqlite3_step(s);
        if (rc == SQLITE_DONE) rc = sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return rc == SQLITE_OK ? TN_OK : sqlite_failure(c, rc, "storing what a record rests on", err);
}

enum tn_status tn_record_put(const struct tn_record_store *store, struct tn_str document, struct tn_error *err)
{
    struct tn_json_doc doc;
    struct tn_record_index index;
    struct connection c;
    if (document.n > DOCUMENT_MAX) {
        struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_RECORD, "a record document is too large");
        tn_found(f, "%zu bytes", document.n);
        tn_expected(f, "at most %d bytes", DOCUMENT_MAX);
        return TN_RESOURCE_LIMIT;
    }
    enum tn_status status =
        tn_json_parse(&doc, store->ctx->alloc, &store->ctx->limits, TN_STR("record"), document, err);
    if (status) return status;
    status = tn_record_read(tn_json_root(&doc), &index, err);
    if (!status) status = open_store(&c, store, true, err);
    if (!status) {
        status = run(&c, "BEGIN IMMEDIATE", "starting to store a record", err);
        if (!status) status = insert_record(&c, &index, document, err);
        if (!status) status = insert_dependencies(&c, &index, err);
        if (!status) status = run(&c, "COMMIT", "storing a record", err);
        close_store(&c);
    }
    tn_json_release(&doc);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* Verifies one row (id, document) and shows it. */
static enum tn_status show_row(const struct connection *c, sqlite3_stmt *s, tn_record_visit_fn visit, void *user,
                               struct tn_error *err)
{
    struct tn_json_doc doc = {0};
    struct tn_record_row row = {.id = column_str(s, 0), .document = column_str(s, 1)};
    const struct tn_context *ctx = c->store->ctx;
    row.damage = tn_json_parse(&doc, ctx->alloc, &ctx->limits, TN_STR("record"), row.document, NULL);
    if (!row.damage) row.damage = tn_record_read(tn_json_root(&doc), &row.index, NULL);
    if (!row.damage && !tn_str_is(row.id, row.index.id)) row.damage = TN_ARTIFACT_MALFORMED;
    if (row.damage) row.index = (struct tn_record_index){0};
    enum tn_status status = row.damage == TN_INSUFFICIENT_MEMORY
                                ? tn_error_memory(err, TN_PHASE_RECORD, "reading a record")
                                : visit(user, &row, err);
    tn_json_release(&doc);
    return status;
}

static enum tn_status show_rows(const struct connection *c, sqlite3_stmt *s, tn_record_visit_fn visit, void *user,
                                struct tn_error *err)
{
    int rc;
    enum tn_status status = TN_OK;
    while (!status && (rc = sqlite3_step(s)) != SQLITE_DONE) {
        status = rc == SQLITE_ROW ? show_row(c, s, visit, user, err)
                                  : sqlite_failure(c, rc, "reading records", err);
    }
    return status;
}

/* ?1 and ?2, where the statement has them, are bound to a and b. */
static enum tn_status select_rows(const struct tn_record_store *store, const char *sql, struct tn_str a,
                                  struct tn_str b, tn_record_visit_fn visit, void *user, struct tn_error *err)
{
    struct connection c;
    enum tn_status status = open_store(&c, store, false, err);
    if (status) return status;
    if (c.db) {
        sqlite3_stmt *s = NULL;
        int rc = sqlite3_prepare_v2(c.db, sql, -1, &s, NULL);
        if (rc != SQLITE_OK) {
            status = sqlite_failure(&c, rc, "reading records", err);
        } else {
            if (sqlite3_bind_parameter_count(s) >= 1) bind_str(s, 1, a);
            if (sqlite3_bind_parameter_count(s) >= 2) bind_str(s, 2, b);
            status = show_rows(&c, s, visit, user, err);
        }
        sqlite3_finalize(s);
    }
    close_store(&c);
    return status;
}

enum tn_status tn_record_each(const struct tn_record_store *store, tn_record_visit_fn visit, void *user,
                              struct tn_error *err)
{
    struct tn_str none = {"", 0};
    return select_rows(store, "SELECT id, document FROM record ORDER BY created DESC, rowid DESC", none, none, visit,
                       user, err);
}

struct getting {
    struct tn_buf *out;
    uint32_t count;
    enum tn_status damage;
};

static enum tn_status keep_document(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct getting *g = user;
    if (g->count++) return TN_OK;
    g->damage = row->damage;
    tn_buf_append(g->out, row->document.s, row->document.n);
    return tn_buf_status(g->out) ? tn_error_memory(err, TN_PHASE_RECORD, "reading a record") : TN_OK;
}

static bool is_id_prefix(struct tn_str id)
{
    if (id.n < ID_PREFIX_MIN || id.n > TN_RECORD_ID) return false;
    for (size_t i = 0; i < id.n; i++) {
        if (!strchr("0123456789abcdef", id.s[i])) return false;
    }
    return true;
}

static enum tn_status not_one(const char *id, enum tn_status code, const char *message, const char *remedy,
                              struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, code, TN_PHASE_RECORD, "%s", message);
    tn_at_option(f, "ID");
    tn_found(f, "%s", id);
    tn_remedy(f, "%s", remedy);
    return code;
}

enum tn_status tn_record_get(const struct tn_record_store *store, const char *id, struct tn_buf *out,
                             struct tn_error *err)
{
    struct getting g = {.out = out};
    struct tn_str prefix = tn_str_of(id ? id : "");
    char after[TN_RECORD_ID + 2];
    if (!is_id_prefix(prefix)) {
        return not_one(prefix.s, TN_INVALID_REQUEST, "not the id of a record, nor the start of one",
                       "give at least 4 of its hexadecimal digits; `tenon records` lists them", err);
    }
    memcpy(after, prefix.s, prefix.n);
    memcpy(after + prefix.n, "g", 2); /* sorts behind every digit */
    enum tn_status status = select_rows(store, "SELECT id, document FROM record WHERE id >= ?1 AND id < ?2 LIMIT 2",
                                        prefix, tn_str_of(after), keep_document, &g, err);
    if (status) return status;
    if (g.count == 0) {
        return not_one(id, TN_ARTIFACT_MISSING, "there is no such record", "`tenon records` lists them", err);
    }
    if (g.count > 1) {
        return not_one(id, TN_INVALID_REQUEST, "several records start with this id", "give more of its digits", err);
    }
    if (!g.damage) return TN_OK;
    return not_one(id, TN_ARTIFACT_MALFORMED, "the stored record does not match its id",
                   "run `tenon qualify` again to make a new one", err);
}

/* ---- standing ----------------------------------------------------------------------------------------------------- */

struct standing {
    const struct tn_record_facts *facts;
    struct tn_record_standing *out;
    bool closed; /* a failure or withdrawal hides what follows */
    uint32_t withdrawn_count;
    char withdrawn[WITHDRAWN_MOST][TN_RECORD_ID + 1];
};

/* Withdrawals come before what they withdraw, which is older. */
static bool is_withdrawn(const struct standing *s, const char *id)
{
    for (uint32_t i = 0; i < s->withdrawn_count; i++)
        if (strcmp(s->withdrawn[i], id) == 0) return true;
    return false;
}

/* More withdrawals for one package than anybody keeps in mind: then nothing older counts. */
static void note_withdrawal(struct standing *s, struct tn_str id)
{
    if (s->withdrawn_count == WITHDRAWN_MOST) {
        s->closed = true;
        return;
    }
    memcpy(s->withdrawn[s->withdrawn_count], id.s, TN_RECORD_ID);
    s->withdrawn[s->withdrawn_count++][TN_RECORD_ID] = 0;
}

/* Whether any changed dependency matters at `level` or below. */
static bool touches(const struct tn_record_index *record, uint32_t changed, enum tn_level level)
{
    for (unsigned kind = 0; kind < TN_DEPENDENCIES; kind++) {
        if (changed >> kind & 1 && record->needed[kind] <= level) return true;
    }
    return false;
}

static enum tn_status weigh(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct standing *s = user;
    struct tn_record_standing *out = s->out;
    uint32_t changed = 0;
    (void)err;
    if (s->closed || row->damage || is_withdrawn(s, row->index.id)) return TN_OK;
    if (row->index.withdraws.n) note_withdrawal(s, row->index.withdraws);
    enum tn_level level = tn_record_holds(&row->index, s->facts, false, &changed);
    if (row->index.withdraws.n && changed) return TN_OK; /* it is about another route than this one */
    if (touches(&row->index, changed, TN_LEVEL_LOADS)) return TN_OK;
    if (!out->found || (level != TN_LEVEL_WITHDRAWN && level > out->level)) {
        out->found = true;
        out->level = level;
        out->failed = !row->index.passed;
        memcpy(out->id, row->index.id, sizeof(out->id));
    }
    bool failed_here = !row->index.passed && !touches(&row->index, changed, (enum tn_level)(row->index.level + 1));
    s->closed = row->index.level == TN_LEVEL_WITHDRAWN || failed_here;
    return TN_OK;
}

enum tn_status tn_record_level_for(const struct tn_record_store *store, const struct tn_record_facts *facts,
                                   struct tn_record_standing *out, struct tn_error *err)
{
    *out = (struct tn_record_standing){.level = TN_LEVEL_RECOGNISED};
    struct standing s = {.facts = facts, .out = out};
    /* An unknown value must not meet another unknown one: '' is never stored. */
    return select_rows(store,
                       "SELECT id, document FROM record WHERE id IN (SELECT record FROM dependency WHERE"
                       " (kind = 'weights' AND value = ?1) OR (kind = 'weight_headers' AND value = ?2))"
                       " ORDER BY created DESC, rowid DESC",
                       facts->value[TN_DEPENDS_ON_WEIGHTS], facts->value[TN_DEPENDS_ON_WEIGHT_HEADERS], weigh, &s,
                       err);
}
