/*
 * Paths in genai_config.json, wherever they stand: nobody has to know a key for its value to lead out of the package, and
 * a loss that is accepted is still handed on to whoever reads the original. So every string of the document is looked at,
 * in lists and objects too; what a key calls a file is named as our own documents name one.
 *
 * Names of ports are no paths: exporters call them after the graph's scopes ("/model/layers.0/...").
 */
#include "describe/dialect/genai.h"
#include "describe/standard/check.h"

#include <string.h>

/* Names on the way to a value; positions in lists are no part of it. */
struct way {
    struct tn_str names[TN_GENAI_DEPTH];
    size_t count; /* beyond TN_GENAI_DEPTH only the number is kept */
};

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static bool is_absolute(struct tn_str s)
{
    if (s.n > 0 && is_separator(s.s[0])) return true;
    bool letter = s.n >= 3 && ((s.s[0] >= 'a' && s.s[0] <= 'z') || (s.s[0] >= 'A' && s.s[0] <= 'Z'));
    return letter && s.s[1] == ':' && is_separator(s.s[2]);
}

static bool steps_up(struct tn_str s)
{
    size_t start = 0;
    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && !is_separator(s.s[i])) continue;
        if (i - start == 2 && s.s[start] == '.' && s.s[start + 1] == '.') return true;
        start = i + 1;
    }
    return false;
}

static bool calls_file(struct tn_str key)
{
    return tn_str_ends(key, "file") || tn_str_ends(key, "filename") || tn_str_ends(key, "path");
}

/* Whether the value has a finding of its own; that it would be lost is another matter. */
static bool is_told(const struct tn_genai *g, struct tn_json v)
{
    char pointer[sizeof(((struct tn_finding *)0)->element)];
    const struct tn_findings *all = &g->b->d->findings;
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    for (size_t i = 0; i < all->count; i++) {
        const struct tn_finding *f = &all->items[i];
        if (f->severity != TN_BLOCKER || f->code == TN_UNSUPPORTED_CONFIG) continue;
        if (tn_str_is(at, f->element) && tn_str_is(v.doc->file, f->file)) return true;
    }
    return false;
}

static void refuse(struct tn_genai *g, struct tn_json v, enum tn_status code, const char *fault)
{
    if (is_told(g, v)) return;
    struct tn_finding *f = tn_genai_refuse(g, v, code == TN_PATH_ESCAPE ? "leaves the package" : "does not name a file as it is");
    if (f) f->code = code;
    tn_found(f, "%s in %.*s", fault, TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "a name inside the package, relative to %.*s: segments with single slashes between them",
                TN_FMT_ARG(v.doc->file));
}

static void look_at(struct tn_genai *g, struct tn_json v, bool file)
{
    struct tn_str s;
    bool leaves;
    if (!tn_json_str(v, &s)) return;
    const char *fault = file ? tn_standard_path_fault(s, &leaves) : NULL;
    if (fault) refuse(g, v, leaves ? TN_PATH_ESCAPE : TN_METADATA_INVALID, fault);
    else if (is_absolute(s)) refuse(g, v, TN_PATH_ESCAPE, "an absolute path");
    else if (steps_up(s)) refuse(g, v, TN_PATH_ESCAPE, "a step upwards");
}

/* Whether the table says that the value names ports. */
static bool names_ports(const struct way *way)
{
    const struct tn_genai_key *key = way->count <= TN_GENAI_DEPTH ? tn_genai_key_of(way->names, way->count) : NULL;
    if (!key) return false;
    bool port = key->kind == TN_GENAI_PORT || key->kind == TN_GENAI_PATTERN || key->kind == TN_GENAI_NAMES;
    return port || key->kind == TN_GENAI_RENAMES || strstr(key->path, "/inputs/") || strstr(key->path, "/outputs/");
}

/* As deep as the parser reads; `file`: the nearest name calls a file. */
static void walk(struct tn_genai *g, struct tn_json v, struct way *way, bool file)
{
    bool object = tn_json_is(v, TN_JSON_OBJECT);
    look_at(g, v, file);
    for (struct tn_json e = tn_json_first(v); tn_json_present(e) && g->b->failed == TN_OK; e = tn_json_next(e)) {
        if (!object) {
            walk(g, e, way, file);
            continue;
        }
        if (way->count < TN_GENAI_DEPTH) way->names[way->count] = tn_json_key(e);
        way->count++;
        if (!names_ports(way)) walk(g, e, way, calls_file(tn_json_key(e)));
        way->count--;
    }
}

void tn_genai_check_paths(struct tn_genai *g)
{
    struct way way = {.count = 0};
    walk(g, g->root, &way, false);
}
