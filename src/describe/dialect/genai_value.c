/*
 * One value of genai_config.json: type, range, patterns of names, names of files. All of it is untrusted. What breaks
 * the convention's own rules is TN_METADATA_INVALID: no reader could mean it; what is well formed and cannot be carried
 * is TN_UNSUPPORTED_CONFIG and the business of genai_read.c.
 */
#include "describe/dialect/genai.h"

#include <stdio.h>
#include <string.h>

struct tn_finding *tn_genai_refuse(struct tn_genai *g, struct tn_json v, const char *what)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    struct tn_finding *f = tn_blocker(g->b, TN_METADATA_INVALID, "%.*s in %.*s %s", TN_FMT_ARG(at),
                                      TN_FMT_ARG(v.doc->file), what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    g->hole = true;
    return f;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

bool tn_genai_pattern(struct tn_str text)
{
    size_t conversions = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] != '%') continue;
        if (i + 1 == text.n || text.s[i + 1] != 'd') return false;
        conversions++;
    }
    return conversions == 1;
}

struct tn_str tn_genai_expand(struct tn_genai *g, struct tn_str pattern, uint32_t layer)
{
    char digits[16];
    int n = snprintf(digits, sizeof(digits), "%u", (unsigned)layer);
    const char *at = memchr(pattern.s, '%', pattern.n);
    size_t before = (size_t)(at - pattern.s), length = pattern.n - 2 + (size_t)n;
    char *name = tn_builder_array(g->b, length + 1, 1);
    if (!name) return TN_STR("");
    memcpy(name, pattern.s, before);
    memcpy(name + before, digits, (size_t)n);
    memcpy(name + before + (size_t)n, at + 2, pattern.n - before - 2);
    return (struct tn_str){name, length};
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool file_is(const struct tn_finding *f, struct tn_str path)
{
    return f->severity == TN_BLOCKER && strlen(f->file) == path.n && memcmp(f->file, path.s, path.n) == 0;
}

/* Why the inventory does not list it: a link that leaves, a FIFO, a link to nothing. */
static const struct tn_finding *why_not_listed(const struct tn_inventory *inv, struct tn_str path)
{
    for (size_t i = 0; i < inv->findings.count; i++)
        if (file_is(&inv->findings.items[i], path)) return &inv->findings.items[i];
    return NULL;
}

static bool has_folder(const struct tn_inventory *inv, struct tn_str path)
{
    for (uint32_t i = 0; i < inv->file_count; i++) {
        struct tn_str file = inv->files[i].path;
        if (path.n == 0 || (file.n > path.n && file.s[path.n] == '/' && memcmp(file.s, path.s, path.n) == 0)) return true;
    }
    return false;
}

static bool not_there(struct tn_genai *g, struct tn_json v, struct tn_str path, bool folder)
{
    const struct tn_finding *cause = why_not_listed(g->b->inv, path);
    g->hole = true;
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    struct tn_finding *f =
        cause ? tn_blocker(g->b, cause->code, "%.*s in %.*s: %s", TN_FMT_ARG(at), TN_FMT_ARG(v.doc->file), cause->message)
              : tn_blocker(g->b, TN_ARTIFACT_MISSING, "%.*s in %.*s names a %s that is not there", TN_FMT_ARG(at),
                           TN_FMT_ARG(v.doc->file), folder ? "folder" : "file");
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(path));
    tn_expected(f, "a %s inside the package, relative to %.*s", folder ? "folder" : "file", TN_FMT_ARG(v.doc->file));
    tn_remedy(f, "fetch the whole package");
    return false;
}

static bool leaves(struct tn_genai *g, struct tn_json v, enum tn_status status)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    g->hole = true;
    if (status != TN_PATH_ESCAPE) {
        tn_builder_report(g->b, status);
        return false;
    }
    struct tn_finding *f = tn_blocker(g->b, status, "%.*s in %.*s leaves the package: %s", TN_FMT_ARG(at),
                                      TN_FMT_ARG(v.doc->file), g->b->scratch->primary.message);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "a name inside the package, relative to %.*s", TN_FMT_ARG(v.doc->file));
    return false;
}

bool tn_genai_file(struct tn_genai *g, struct tn_json v, bool folder, struct tn_str *path)
{
    struct tn_str stated;
    *path = TN_STR("");
    if (!tn_json_str(v, &stated) || g->b->failed != TN_OK) return false;
    tn_error_clear(g->b->scratch);
    enum tn_status status = tn_package_reference(&g->b->d->arena, g->folder, stated, path, g->b->scratch);
    if (status) return leaves(g, v, status);
    if (folder ? has_folder(g->b->inv, *path) : path->n > 0 && tn_builder_has(g->b, *path)) return true;
    return not_there(g, v, *path, folder);
}

/* ---- types and ranges -------------------------------------------------------------------------------------------- */

static const char *kind_text(enum tn_genai_kind kind)
{
    switch (kind) {
    case TN_GENAI_BOOL: return "true or false";
    case TN_GENAI_COUNT: return "a whole number";
    case TN_GENAI_NUMBER: return "a number";
    case TN_GENAI_TEXT: return "a string";
    case TN_GENAI_PORT: return "the name of a port";
    case TN_GENAI_PATTERN: return "the name of a port for each layer, with exactly one %d and no other %";
    case TN_GENAI_NAMES: return "a list of names of ports";
    case TN_GENAI_RENAMES: return "an object of names of ports";
    case TN_GENAI_WORDS: return "a list of strings";
    case TN_GENAI_COUNTS: return "a list of whole numbers";
    case TN_GENAI_ID: return "the id of a token";
    case TN_GENAI_IDS_KIND: return "the id of a token, or a list of them";
    case TN_GENAI_FILENAME: return "the name of a file";
    case TN_GENAI_FOLDER: return "the name of a folder";
    case TN_GENAI_ANY: break;
    }
    return "any value";
}

static bool wrong_type(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json v)
{
    tn_expected(tn_genai_refuse(g, v, "has the wrong type"), "%s", kind_text(key->kind));
    return false;
}

static bool check_number(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json v, bool whole)
{
    double number;
    int64_t integer;
    if (!tn_json_is(v, TN_JSON_NUMBER)) return wrong_type(g, key, v);
    bool readable = tn_json_f64(v, &number);
    if (readable && whole && number > -9e15 && number < 9e15 && !tn_json_i64(v, &integer)) return wrong_type(g, key, v);
    if (readable && number >= key->low && number <= key->high) return true;
    struct tn_finding *f = tn_genai_refuse(g, v, "is out of range");
    tn_expected(f, "%s, %s to %s", kind_text(key->kind), TN_F64(key->low), TN_F64(key->high));
    return false;
}

const char *tn_genai_name_fault(const struct tn_genai *g, struct tn_str name, bool pattern)
{
    if (name.n == 0) return "is empty";
    if (memchr(name.s, 0, name.n)) return "holds a NUL byte";
    if (name.n > g->b->inv->ctx->limits.name_bytes) return "is too long";
    return pattern && !tn_genai_pattern(name) ? "is no pattern of names" : NULL;
}

static bool check_name(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json v)
{
    struct tn_str name;
    if (!tn_json_str(v, &name)) return wrong_type(g, key, v);
    bool pattern = key->kind == TN_GENAI_PATTERN;
    const char *what = tn_genai_name_fault(g, name, pattern);
    if (!what) return true;
    tn_expected(tn_genai_refuse(g, v, what), "%s", kind_text(pattern ? key->kind : TN_GENAI_PORT));
    return false;
}

/* Every element by its own key; an empty list says nothing. */
static bool check_list(struct tn_genai *g, const struct tn_genai_key *key, enum tn_genai_kind kind, size_t most,
                       struct tn_json v)
{
    struct tn_genai_key element = *key;
    element.kind = kind;
    size_t count = tn_json_count(v);
    if (count > most) {
        tn_expected(tn_genai_refuse(g, v, "is too long a list"), "at most %zu entries", most);
        return false;
    }
    bool good = true;
    for (struct tn_json e = tn_json_first(v); tn_json_present(e); e = tn_json_next(e))
        good = tn_genai_check(g, &element, e) && good;
    return good;
}

static bool check_ids(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json v)
{
    if (!tn_json_is(v, TN_JSON_ARRAY)) return check_number(g, key, v, true);
    if (tn_json_count(v) == 0) {
        tn_expected(tn_genai_refuse(g, v, "is an empty list"), "%s", kind_text(key->kind));
        return false;
    }
    return check_list(g, key, TN_GENAI_ID, TN_GENAI_IDS, v);
}

bool tn_genai_check(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json v)
{
    struct tn_str path;
    bool list = tn_json_is(v, TN_JSON_ARRAY);
    switch (key->kind) {
    case TN_GENAI_ANY: return true;
    case TN_GENAI_BOOL: return tn_json_is(v, TN_JSON_BOOL) || wrong_type(g, key, v);
    case TN_GENAI_COUNT:
    case TN_GENAI_ID: return check_number(g, key, v, true);
    case TN_GENAI_NUMBER: return check_number(g, key, v, false);
    case TN_GENAI_TEXT: return tn_json_is(v, TN_JSON_STRING) || wrong_type(g, key, v);
    case TN_GENAI_PORT:
    case TN_GENAI_PATTERN: return check_name(g, key, v);
    case TN_GENAI_NAMES: return list ? check_list(g, key, TN_GENAI_PORT, TN_GENAI_NAMED, v) : wrong_type(g, key, v);
    case TN_GENAI_WORDS: return list ? check_list(g, key, TN_GENAI_TEXT, TN_GENAI_LAYERS, v) : wrong_type(g, key, v);
    case TN_GENAI_COUNTS: return list ? check_list(g, key, TN_GENAI_COUNT, TN_GENAI_LAYERS, v) : wrong_type(g, key, v);
    case TN_GENAI_RENAMES:
        if (!tn_json_is(v, TN_JSON_OBJECT)) return wrong_type(g, key, v);
        return check_list(g, key, TN_GENAI_PORT, TN_GENAI_NAMED, v);
    case TN_GENAI_IDS_KIND: return check_ids(g, key, v);
    case TN_GENAI_FILENAME:
    case TN_GENAI_FOLDER:
        if (!tn_json_is(v, TN_JSON_STRING)) return wrong_type(g, key, v);
        return tn_genai_file(g, v, key->kind == TN_GENAI_FOLDER, &path);
    }
    return false;
}
