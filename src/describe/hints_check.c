/*
 * What is wrong with a document of hints: its shape by the tables of the standard, then what they cannot say. Selectors that
 * can select nothing in any graph, actions without what they are about, and how much of it there may be. Documents are
 * untrusted; a document that passes here is read without another look (hints_read.c), so that every limit stands once.
 */
#include "describe/hints.h"

#include "describe/standard/tables.h"

#include <string.h>

struct checker {
    struct tn_findings *findings;
    size_t hints, names; /* so far */
};

/* Absent and null are the same. */
static struct tn_json member(struct tn_json object, const char *name)
{
    struct tn_json v = tn_json_get(object, name);
    return tn_json_is(v, TN_JSON_NULL) ? (struct tn_json){0} : v;
}

static struct tn_finding *refuse(struct checker *c, struct tn_json v, enum tn_status code, const char *message)
{
    struct tn_finding *f = tn_findings_add(c->findings, TN_BLOCKER, code, TN_PHASE_DESCRIBE, "%s", message);
    tn_at_json(f, v);
    return f;
}

/* ---- selectors ---------------------------------------------------------------------------------------------------- */

static void check_list(struct checker *c, struct tn_json v)
{
    size_t n = tn_json_count(v);
    if (!tn_json_is(v, TN_JSON_ARRAY)) return;
    if (n == 0) {
        struct tn_finding *f = refuse(c, v, TN_METADATA_INVALID, "an empty list selects nothing");
        tn_found(f, "[]");
        tn_expected(f, "at least one name");
        tn_remedy(f, "state one, or drop the hint");
    }
    bool within = c->names <= TN_HINT_NAMES_MOST;
    c->names += n;
    if (!within || c->names <= TN_HINT_NAMES_MOST) return; /* told once */
    tn_expected(refuse(c, v, TN_RESOURCE_LIMIT, "the hints list more names than are taken"),
                "at most %d names and operator types in one document", TN_HINT_NAMES_MOST);
}

static void check_pattern(struct checker *c, struct tn_json v)
{
    struct tn_str s;
    struct tn_finding *f;
    if (!tn_json_str(v, &s)) return;
    if (s.n > TN_HINT_PATTERN_BYTES) {
        f = refuse(c, v, TN_RESOURCE_LIMIT, "the pattern is longer than patterns may be");
        tn_found(f, "%zu bytes", s.n);
        tn_expected(f, "at most %d bytes", TN_HINT_PATTERN_BYTES);
    } else if (memchr(s.s, 0, s.n)) {
        f = refuse(c, v, TN_METADATA_INVALID, "the pattern holds a NUL byte, and no name does");
        tn_found(f, "%zu bytes", s.n);
        tn_expected(f, "a pattern without NUL bytes");
        tn_remedy(f, "remove the byte, or drop the hint");
    } else if (memchr(s.s, '[', s.n) || memchr(s.s, ']', s.n)) {
        f = refuse(c, v, TN_METADATA_INVALID, "a pattern knows no sets of characters, and would take a bracket as it stands");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(s));
        tn_expected(f, "* for any text, ? for one character");
        tn_remedy(f, "several hints do for a set; \"names\" takes names that hold brackets");
    }
}

static void check_range(struct checker *c, struct tn_json v)
{
    uint64_t first, last;
    if (!tn_json_u64(tn_json_get(v, "start"), &first) || !tn_json_u64(tn_json_get(v, "end"), &last) || first <= last) return;
    struct tn_finding *f = refuse(c, v, TN_METADATA_INVALID, "the range of layers ends before it starts");
    tn_found(f, "%llu to %llu", (unsigned long long)first, (unsigned long long)last);
    tn_expected(f, "a start that is at most the end; both layers belong to the range");
}

static void check_selector(struct checker *c, struct tn_json v)
{
    check_list(c, member(v, "names"));
    check_list(c, member(v, "op_types"));
    check_pattern(c, member(v, "pattern"));
    check_range(c, member(v, "layer_range"));
}

/* ---- actions ------------------------------------------------------------------------------------------------------ */

static void need(struct checker *c, struct tn_json v, struct tn_str action, const char *key)
{
    if (tn_json_present(member(v, key))) return;
    struct tn_finding *f = tn_findings_add(c->findings, TN_BLOCKER, TN_METADATA_INVALID, TN_PHASE_DESCRIBE,
                                           "the hint %.*s says nothing without \"%s\"", TN_FMT_ARG(action), key);
    tn_at_json_member(f, v, key);
    tn_found(f, "nothing");
    tn_expected(f, "the member \"%s\"", key);
    tn_remedy(f, "state it, or drop the hint");
}

/* What stands beside an action that has no use for it is not guessed at. */
static void note_idle(struct checker *c, struct tn_json v, struct tn_str action, const char *key)
{
    struct tn_json idle = member(v, key);
    if (!tn_json_present(idle)) return;
    struct tn_finding *f = tn_findings_add(c->findings, TN_NOTE, TN_METADATA_INVALID, TN_PHASE_DESCRIBE,
                                           "\"%s\" has no meaning for the hint %.*s", key, TN_FMT_ARG(action));
    tn_at_json(f, idle);
}

static void check_action(struct checker *c, struct tn_json v)
{
    struct tn_str action;
    if (!tn_json_str(member(v, "action"), &action)) return;
    bool arena = tn_str_is(action, tn_hint_kind_name(TN_HINT_ARENA_SIZE));
    bool chunks = tn_str_is(action, tn_hint_kind_name(TN_HINT_CHUNK_SIZE));
    bool overlap = tn_str_is(action, tn_hint_kind_name(TN_HINT_OVERLAP));
    if (arena) {
        need(c, v, action, "device");
        need(c, v, action, "bytes");
        note_idle(c, v, action, "selector");
    } else {
        note_idle(c, v, action, "device");
        note_idle(c, v, action, "bytes");
    }
    if (chunks) need(c, v, action, "chunk_size");
    else if (!overlap) note_idle(c, v, action, "chunk_size");
}

/* ---- documents ---------------------------------------------------------------------------------------------------- */

/* Whether the hint is one of those that are taken; the first that is not is told. */
static bool counts(struct checker *c, struct tn_json v, size_t all)
{
    if (c->hints++ < TN_HINTS_MOST) return true;
    if (c->hints > TN_HINTS_MOST + 1) return false;
    struct tn_finding *f = refuse(c, v, TN_RESOURCE_LIMIT, "there are more hints than are taken");
    tn_found(f, "%zu hints", all);
    tn_expected(f, "at most %d hints in one document", TN_HINTS_MOST);
    tn_remedy(f, "say it by fewer hints: a pattern or a range of layers selects many nodes");
    return false;
}

void tn_hints_check_meaning(struct tn_json root, struct tn_findings *findings)
{
    static const char *const sections[] = {"placement", "memory", "scheduling"};
    enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };
    struct checker c = {.findings = findings};
    struct tn_json lists[SECTIONS];
    size_t all = 0;
    for (size_t i = 0; i < SECTIONS; i++) {
        lists[i] = member(root, sections[i]);
        if (!tn_json_is(lists[i], TN_JSON_ARRAY)) lists[i] = (struct tn_json){0};
        all += tn_json_count(lists[i]);
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        for (struct tn_json v = tn_json_first(lists[i]); tn_json_present(v); v = tn_json_next(v)) {
            if (!counts(&c, v, all)) return;
            check_selector(&c, member(v, "selector"));
            if (i > 0) check_action(&c, v);
        }
    }
}

enum tn_status tn_hints_check(struct tn_json root, struct tn_findings *findings)
{
    size_t before = findings->blockers;
    if (tn_execution_hints_check_tables(root, findings) == TN_INSUFFICIENT_MEMORY) return TN_INSUFFICIENT_MEMORY;
    tn_hints_check_meaning(root, findings);
    return findings->blockers == before ? TN_OK : TN_METADATA_INVALID;
}
