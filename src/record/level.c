/* Levels and dependencies: names, order, and what still holds when something has changed. Pure. */
#include "record/record.h"

static const char *const level_names[TN_LEVELS] = {
#define X(name, text, what) text,
    TN_LEVEL_LIST(X)
#undef X
};

static const char *const dependency_names[TN_DEPENDENCIES] = {
#define X(name, text, level) text,
    TN_DEPENDENCY_LIST(X)
#undef X
};

const char *tn_level_name(enum tn_level level)
{
    return (unsigned)level < TN_LEVELS ? level_names[level] : "unknown";
}

bool tn_level_parse(struct tn_str name, enum tn_level *out)
{
    for (unsigned i = 0; i < TN_LEVELS; i++) {
        if (!tn_str_is(name, level_names[i])) continue;
        *out = (enum tn_level)i;
        return true;
    }
    return false;
}

bool tn_level_satisfies(enum tn_level have, enum tn_level required)
{
    return have != TN_LEVEL_WITHDRAWN && required != TN_LEVEL_WITHDRAWN && have >= required;
}

const char *tn_dependency_name(enum tn_dependency kind)
{
    return (unsigned)kind < TN_DEPENDENCIES ? dependency_names[kind] : "unknown";
}

bool tn_dependency_parse(struct tn_str name, enum tn_dependency *out)
{
    for (unsigned i = 0; i < TN_DEPENDENCIES; i++) {
        if (!tn_str_is(name, dependency_names[i])) continue;
        *out = (enum tn_dependency)i;
        return true;
    }
    return false;
}

enum tn_level tn_dependency_level(enum tn_dependency kind)
{
    static const enum tn_level levels[TN_DEPENDENCIES] = {
#define X(name, text, level) TN_LEVEL_##level,
        TN_DEPENDENCY_LIST(X)
#undef X
    };
    return (unsigned)kind < TN_DEPENDENCIES ? levels[kind] : TN_LEVEL_RECOGNISED;
}

/* One of WEIGHTS and WEIGHT_HEADERS decides: the weights when both sides know them, else their headers. */
static bool is_superseded(const struct tn_record_index *record, const struct tn_record_facts *facts, unsigned kind)
{
    bool both = record->facts.value[TN_DEPENDS_ON_WEIGHTS].n && facts->value[TN_DEPENDS_ON_WEIGHTS].n;
    return kind == (both ? TN_DEPENDS_ON_WEIGHT_HEADERS : TN_DEPENDS_ON_WEIGHTS);
}

enum tn_level tn_record_holds(const struct tn_record_index *record, const struct tn_record_facts *facts,
                              bool ignore_unknown, uint32_t *changed)
{
    enum tn_level level = record->level;
    uint32_t bits = 0;
    for (unsigned kind = 0; kind < TN_DEPENDENCIES; kind++) {
        struct tn_str now = facts->value[kind], then = record->facts.value[kind];
        if (is_superseded(record, facts, kind) || (then.n == 0 && now.n == 0)) continue;
        if (now.n == 0 && ignore_unknown) continue;
        if (now.n && tn_str_eq(now, then)) continue;
        bits |= UINT32_C(1) << kind;
        enum tn_level needed = record->needed[kind];
        if (level != TN_LEVEL_WITHDRAWN && level >= needed) {
            level = needed > TN_LEVEL_RECOGNISED ? (enum tn_level)(needed - 1) : TN_LEVEL_RECOGNISED;
        }
    }
    if (changed) *changed = bits;
    return level;
}
