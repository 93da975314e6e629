/*
 * Withdrawing: a record of its own that says that another one no longer counts, and why. It holds what that one held, so
 * that it stands against the same route and can be read alone. Nothing is deleted or changed.
 */
#include "record/record.h"

#include "record/digest.h"

#include <string.h>

enum { REASON_BYTES = 1000, WHOLE_BYTES = 16 << 20 };

static enum tn_status refuse(const char *option, const char *message, const char *found, const char *expected, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_RECORD, "%s", message);
    tn_at_option(f, option);
    tn_found(f, "%s", found);
    tn_expected(f, "%s", expected);
    return TN_INVALID_REQUEST;
}

static bool is_own(struct tn_str key)
{
    static const char *const own[] = {"id", "level", "created", "created_seconds", "withdrawal", "stored"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (tn_str_is(key, own[i])) return true;
    return false;
}

static void write_members(struct tn_json_writer *w, struct tn_json root, const struct tn_record_index *old, const char *reason,
                          int64_t created, const char *id)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "schema", TN_RECORD_SCHEMA);
    tn_jw_member_cstr(w, "id", id);
    tn_jw_member_cstr(w, "level", tn_level_name(TN_LEVEL_WITHDRAWN));
    tn_record_write_time(w, created);
    for (struct tn_json v = tn_json_first(root); tn_json_present(v); v = tn_json_next(v)) {
        if (is_own(tn_json_key(v)) || tn_str_is(tn_json_key(v), "schema")) continue;
        tn_jw_key_str(w, tn_json_key(v));
        tn_jw_raw(w, tn_json_text(v));
    }
    tn_jw_key(w, "withdrawal");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "record", old->id);
    tn_jw_member_cstr(w, "level", tn_level_name(old->level));
    tn_jw_member_cstr(w, "reason", reason);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

/* Written twice: first without an id to find it out, then with it. */
static enum tn_status write_whole(struct tn_json root, const struct tn_record_index *old, const char *reason, int64_t created,
                                  const struct tn_context *ctx, struct tn_buf *out, struct tn_error *err)
{
    char id[TN_RECORD_ID + 1] = "";
    for (int pass = 0; pass < 2; pass++) {
        struct tn_json_writer w;
        struct tn_json_doc doc;
        tn_buf_clear(out);
        tn_jw_init(&w, out, false);
        write_members(&w, root, old, reason, created, id);
        if (tn_buf_status(out)) return tn_error_memory(err, TN_PHASE_RECORD, "withdrawing a record");
        if (pass == 1) return TN_OK;
        enum tn_status st = tn_json_parse(&doc, ctx->alloc, &ctx->limits, TN_STR("record"), tn_buf_str(out), err);
        if (st) return st;
        tn_record_digest(tn_json_root(&doc), id);
        tn_json_release(&doc);
    }
    return TN_OK;
}

struct looking {
    const char *id;
    bool found;
};

static enum tn_status look(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct looking *l = user;
    (void)err;
    l->found |= !row->damage && tn_str_is(row->index.withdraws, l->id);
    return TN_OK;
}

static enum tn_status check(const struct tn_record_store *store, const struct tn_record_index *old, struct tn_error *err)
{
    struct looking l = {old->id, false};
    if (old->withdraws.n) return refuse("ID", "a withdrawal cannot be withdrawn", old->id, "a record of a qualification; qualify again to replace it", err);
    enum tn_status st = tn_record_each(store, look, &l, err);
    return !st && l.found ? refuse("ID", "the record is withdrawn already", old->id, "a record that still counts", err) : st;
}

enum tn_status tn_record_withdraw(const struct tn_record_store *store, const char *id, const char *reason, int64_t created,
                                  struct tn_buf *out, struct tn_error *err)
{
    const struct tn_context *ctx = store->ctx;
    struct tn_buf text;
    struct tn_json_doc doc = {0};
    struct tn_record_index old;
    size_t n = reason ? strlen(reason) : 0;
    if (n == 0 || n > REASON_BYTES)
        return refuse("reason", n ? "the reason is too long" : "a withdrawal needs a reason", n ? "more" : "none", "some words, 1000 bytes at most", err);
    tn_buf_init(&text, ctx->alloc, WHOLE_BYTES);
    enum tn_status st = tn_record_get(store, id, &text, err);
    if (!st) st = tn_json_parse(&doc, ctx->alloc, &ctx->limits, TN_STR("record"), tn_buf_str(&text), err);
    if (!st) st = tn_record_read(tn_json_root(&doc), &old, err);
    if (!st) st = check(store, &old, err);
    if (!st) st = write_whole(tn_json_root(&doc), &old, reason, created < old.created ? old.created : created, ctx, out, err);
    if (!st) st = tn_record_put(store, tn_buf_str(out), err);
    tn_json_release(&doc);
    tn_buf_release(&text);
    return st;
}
