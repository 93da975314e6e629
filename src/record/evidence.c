/*
 * The graph of what evidence rests on: facts of package, build and machine below, kinds of evidence above, each following
 * from kinds before it. A changed fact ends what rests on it, directly or by what that follows from, and nothing else.
 * Constants and pure functions.
 */
#include "record/record.h"

#include <string.h>

#define BIT(dependency) (UINT32_C(1) << TN_DEPENDS_ON_##dependency)
#define FROM(evidence) (UINT32_C(1) << TN_EVIDENCE_##evidence)

static const struct {
    const char *name, *what;
    uint32_t facts;   /* a bit per dependency */
    uint32_t follows; /* a bit per kind of evidence, which stands before this one in the list */
} kinds[TN_EVIDENCE_KINDS] = {
    [TN_EVIDENCE_AUDIT] = {"weight_audit", "every tensor is bound as the configuration wants it", BIT(WEIGHTS) | BIT(WEIGHT_HEADERS) | BIT(CONFIG) | BIT(FAMILY), 0},
    [TN_EVIDENCE_TOKENS] = {"token_goldens", "texts become the tokens that the reference makes of them", BIT(TOKENIZER), 0},
    [TN_EVIDENCE_LOADING] = {"loading", "it loads, computes the same each time, and gives everything back", BIT(PROVIDER) | BIT(ISA_CLASS) | BIT(NUMERIC), FROM(AUDIT)},
    [TN_EVIDENCE_INVARIANTS] = {"task_invariants", "what the task promises holds", BIT(DESCRIPTION) | BIT(RECIPE) | BIT(CONTRACT), FROM(TOKENS) | FROM(LOADING)},
    [TN_EVIDENCE_REFERENCE] = {"reference_answers", "answers are those of an independent implementation", 0, FROM(INVARIANTS)},
    [TN_EVIDENCE_DEPLOYMENT] = {"deployment_figures", "time and memory are what was measured", 0, FROM(LOADING)},
};

const char *tn_evidence_name(enum tn_evidence_kind kind)
{
    return (unsigned)kind < TN_EVIDENCE_KINDS ? kinds[kind].name : "unknown";
}

const char *tn_evidence_what(enum tn_evidence_kind kind)
{
    return (unsigned)kind < TN_EVIDENCE_KINDS ? kinds[kind].what : "";
}

uint32_t tn_evidence_rests_on(enum tn_evidence_kind kind)
{
    uint32_t facts = kinds[kind].facts;
    for (unsigned k = 0; k < (unsigned)kind; k++)
        if (kinds[kind].follows >> k & 1) facts |= tn_evidence_rests_on((enum tn_evidence_kind)k);
    return facts;
}

bool tn_evidence_holds(enum tn_evidence_kind kind, uint32_t changed)
{
    return (tn_evidence_rests_on(kind) & changed) == 0;
}

enum tn_evidence_kind tn_evidence_of_check(struct tn_str id, enum tn_level level)
{
    static const struct {
        const char *begins;
        enum tn_evidence_kind kind;
    } rows[] = {
        {"golden.ids", TN_EVIDENCE_TOKENS},  {"load.", TN_EVIDENCE_LOADING},     {"unload.", TN_EVIDENCE_LOADING},
        {"threads.", TN_EVIDENCE_LOADING},   {"golden.", TN_EVIDENCE_REFERENCE}, {"compare.", TN_EVIDENCE_REFERENCE},
        {"memory.", TN_EVIDENCE_DEPLOYMENT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (tn_str_starts(id, rows[i].begins)) return rows[i].kind;
    if (level == TN_LEVEL_DEPLOYMENT_QUALIFIED) return TN_EVIDENCE_DEPLOYMENT;
    return level == TN_LEVEL_REFERENCE_QUALIFIED ? TN_EVIDENCE_REFERENCE : TN_EVIDENCE_INVARIANTS;
}
