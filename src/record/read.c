/*
 * Reading a record document: schema, id, and the members that the store indexes. The text is untrusted: it may come
 * from a database that somebody edited or from a file that somebody sent.
 */
#include "record/record.h"

#include "base/hash.h"
#include "record/digest.h"

#include <string.h>

/* Deeper than any record that is written; the walk below is recursive. */
enum { DEPTH = 16 };

static void feed(struct tn_sha256 *h, struct tn_json v, unsigned depth)
{
    enum tn_json_type type = tn_json_type(v);
    bool truth = false;
    double number = 0;
    struct tn_str text = {0};
    tn_sha256_update_u64(h, type);
    if (tn_json_bool(v, &truth)) tn_sha256_update_u64(h, truth);
    if (tn_json_str(v, &text)) tn_sha256_update_str(h, text);
    if (type == TN_JSON_NUMBER) {
        if (!tn_json_f64(v, &number)) tn_sha256_update_str(h, tn_json_text(v));
        if (number == 0) number = 0; /* -0 is 0 */
        tn_sha256_update(h, &number, sizeof(number));
    }
    if (depth > 0) tn_sha256_update_u64(h, tn_json_count(v));
    if (depth == DEPTH) {
        tn_sha256_update_str(h, tn_json_text(v));
        return;
    }
    for (struct tn_json child = tn_json_first(v); tn_json_present(child); child = tn_json_next(child)) {
        if (depth == 0 && (tn_str_is(tn_json_key(child), "id") || tn_str_is(tn_json_key(child), "stored"))) continue;
        tn_sha256_update_str(h, tn_json_key(child));
        feed(h, child, depth + 1);
    }
}

void tn_record_digest(struct tn_json root, char id[TN_RECORD_ID + 1])
{
    struct tn_sha256 h;
    char hex[TN_SHA256_HEX];
    tn_sha256_init(&h);
    feed(&h, root, 0);
    struct tn_digest digest = tn_sha256_finish(&h);
    memcpy(id, tn_digest_hex(&digest, hex), TN_RECORD_ID);
    id[TN_RECORD_ID] = 0;
}

static enum tn_status malformed(struct tn_json object, const char *key, const char *expected, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_MALFORMED, TN_PHASE_RECORD, "not a record document");
    struct tn_json v = tn_json_get(object, key);
    tn_at_json_member(f, object, key);
    tn_found(f, "%s", tn_json_present(v) ? tn_json_type_name(tn_json_type(v)) : "nothing");
    tn_expected(f, "%s", expected);
    tn_remedy(f, "run `tenon qualify` again to make a new record");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status read_text(struct tn_json object, const char *key, struct tn_str *out, struct tn_error *err)
{
    return tn_json_str(tn_json_get(object, key), out) ? TN_OK : malformed(object, key, "a string", err);
}

static enum tn_status read_schema(struct tn_json root, struct tn_error *err)
{
    struct tn_str schema;
    enum tn_status status = read_text(root, "schema", &schema, err);
    if (status || tn_str_is(schema, TN_RECORD_SCHEMA)) return status;
    struct tn_finding *f = tn_error_set(err, TN_VERSION_UNQUALIFIED, TN_PHASE_RECORD, "a record of another schema");
    tn_at_json_member(f, root, "schema");
    tn_found(f, "%.*s", TN_FMT_ARG(schema));
    tn_expected(f, "%s", TN_RECORD_SCHEMA);
    tn_remedy(f, "read it with the version of tenon that wrote it");
    return TN_VERSION_UNQUALIFIED;
}

static enum tn_status read_id(struct tn_json root, struct tn_record_index *out, struct tn_error *err)
{
    struct tn_str stated;
    enum tn_status status = read_text(root, "id", &stated, err);
    if (status) return status;
    tn_record_digest(root, out->id);
    if (tn_str_is(stated, out->id)) return TN_OK;
    struct tn_finding *f =
        tn_error_set(err, TN_ARTIFACT_MALFORMED, TN_PHASE_RECORD, "a record was changed after it was made");
    tn_at_json_member(f, root, "id");
    tn_found(f, "id %.*s over contents whose digest is %s", TN_FMT_ARG(stated), out->id);
    tn_expected(f, "the id to be the digest of the other members");
    tn_remedy(f, "run `tenon qualify` again to make a new record");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status read_level(struct tn_json object, const char *key, enum tn_level *out, struct tn_error *err)
{
    struct tn_str name;
    if (tn_json_str(tn_json_get(object, key), &name) && tn_level_parse(name, out)) return TN_OK;
    return malformed(object, key, "a level such as \"loads\"", err);
}

static enum tn_status read_dependency(struct tn_json row, struct tn_record_index *out, struct tn_error *err)
{
    struct tn_str name, value;
    enum tn_dependency kind;
    enum tn_level needed;
    enum tn_status status = read_text(row, "kind", &name, err);
    if (!status && !tn_dependency_parse(name, &kind)) status = malformed(row, "kind", "a known dependency", err);
    if (!status) status = read_text(row, "value", &value, err);
    if (!status) status = read_level(row, "needed_for", &needed, err);
    if (status) return status;
    out->facts.value[kind] = value;
    out->needed[kind] = needed;
    return TN_OK;
}

/* Of a withdrawal alone: which record no longer counts, and why. */
static enum tn_status read_withdrawal(struct tn_json root, struct tn_record_index *out, struct tn_error *err)
{
    struct tn_json w = tn_json_get(root, "withdrawal");
    if (!tn_json_present(w)) return TN_OK;
    if (!tn_json_is(w, TN_JSON_OBJECT) || out->level != TN_LEVEL_WITHDRAWN) return malformed(root, "withdrawal", "an object in a withdrawn record", err);
    enum tn_status status = read_text(w, "record", &out->withdraws, err);
    if (!status && out->withdraws.n != TN_RECORD_ID) status = malformed(w, "record", "the id of a record", err);
    return status ? status : read_text(w, "reason", &out->reason, err);
}

static enum tn_status read_dependencies(struct tn_json root, struct tn_record_index *out, struct tn_error *err)
{
    struct tn_json rows = tn_json_get(root, "dependencies");
    if (!tn_json_is(rows, TN_JSON_ARRAY)) return malformed(root, "dependencies", "an array", err);
    for (unsigned i = 0; i < TN_DEPENDENCIES; i++) out->needed[i] = tn_dependency_level((enum tn_dependency)i);
    enum tn_status status = TN_OK;
    for (struct tn_json row = tn_json_first(rows); !status && tn_json_present(row); row = tn_json_next(row)) {
        status = read_dependency(row, out, err);
    }
    return status;
}

enum tn_status tn_record_read(struct tn_json root, struct tn_record_index *out, struct tn_error *err)
{
    *out = (struct tn_record_index){0};
    enum tn_status status = read_schema(root, err);
    if (!status) status = read_id(root, out, err);
    if (!status) status = read_level(root, "level", &out->level, err);
    if (!status && !tn_json_bool(tn_json_get(root, "passed"), &out->passed)) {
        status = malformed(root, "passed", "true or false", err);
    }
    if (!status && !tn_json_i64(tn_json_get(root, "created_seconds"), &out->created)) {
        status = malformed(root, "created_seconds", "seconds since 1970", err);
    }
    if (!status) status = read_text(root, "created", &out->created_text, err);
    if (!status) status = read_text(root, "task", &out->task, err);
    if (!status) status = read_text(root, "suite", &out->suite, err);
    struct tn_json package = tn_json_get(root, "package"), failures = tn_json_get(root, "failures");
    if (!status && !tn_json_is(package, TN_JSON_OBJECT)) status = malformed(root, "package", "an object", err);
    if (!status) status = read_text(package, "name", &out->package, err);
    if (!status) status = read_text(package, "manifest", &out->manifest, err);
    if (!status && !tn_json_is(failures, TN_JSON_ARRAY)) status = malformed(root, "failures", "an array", err);
    out->failures = tn_json_count(failures);
    if (!status) status = read_withdrawal(root, out, err);
    return status ? status : read_dependencies(root, out, err);
}
