/*
 * Every field that names a file stays inside the package by its spelling alone: relative, forward slashes, no "..". What
 * links make of it later is the package's business; a name that already leaves is refused before anything is opened. And
 * a file has one name: what would have to be tidied up first ("a//b", "./a", "a/") is refused too.
 */
#include "describe/standard/check_internal.h"

/* Why a path cannot be taken, or NULL. */
static const char *fault_of(struct tn_str path)
{
    size_t start = 0;
    if (path.n == 0) return "an empty name";
    for (size_t i = 0; i < path.n; i++) {
        if (path.s[i] == 0) return "a NUL byte";
        if (path.s[i] == '\\') return "a backslash";
    }
    if (path.s[0] == '/') return "an absolute path";
    if (path.n >= 2 && path.s[1] == ':') return "a drive";
    for (size_t i = 0; i <= path.n; i++) {
        if (i < path.n && path.s[i] != '/') continue;
        if (i - start == 2 && path.s[start] == '.' && path.s[start + 1] == '.') return "a step upwards";
        start = i + 1;
    }
    return NULL;
}

/* Why a path that stays inside is not the one name of its file, or NULL. */
static const char *untidy(struct tn_str path)
{
    size_t start = 0;
    for (size_t i = 0; i <= path.n; i++) {
        if (i < path.n && path.s[i] != '/') continue;
        if (i == start) return i == path.n ? "a slash at the end" : "an empty segment";
        if (i - start == 1 && path.s[start] == '.') return "a segment \".\"";
        start = i + 1;
    }
    return NULL;
}

const char *tn_standard_path_fault(struct tn_str path, bool *leaves)
{
    const char *fault = fault_of(path);
    *leaves = fault != NULL;
    return fault ? fault : untidy(path);
}

static void check_tidy(struct tn_std_check *c, const struct tn_std_artifact *a)
{
    const char *fault = untidy(a->path);
    if (!fault) return;
    struct tn_finding *f = tn_std_say(c, a->at, "the file is not named as it is");
    tn_found(f, "%s in \"%.*s\"", fault, TN_FMT_ARG(a->path));
    tn_expected(f, "the path of a file: segments with single slashes between them");
}

static bool check_path(void *user, const struct tn_std_artifact *a)
{
    struct tn_std_check *c = user;
    const char *fault = fault_of(a->path);
    if (!fault) {
        check_tidy(c, a);
        return true;
    }
    struct tn_finding *f = tn_std_say(c, a->at, "the file's name leaves the package");
    if (f) f->code = TN_PATH_ESCAPE;
    tn_found(f, "%s in a name of %zu bytes", fault, a->path.n);
    tn_expected(f, "a path relative to the package, with forward slashes and without \"..\"");
    return true;
}

void tn_std_check_paths(struct tn_std_check *c)
{
    tn_standard_artifacts(c->doc, check_path, c);
}
