/* The tables of heads and problem types. Knows no family, no task and no document. */
#include "describe/head.h"

#include <stdio.h>

static const struct {
    const char *name, *suffix, *what;
    bool labelled;
    uint64_t outputs;
} kinds[TN_HEAD_KINDS] = {
#define X(name, text, suffix, what, labelled, outputs) {text, suffix, what, labelled, outputs},
    TN_HEAD_LIST(X)
#undef X
};

const char *tn_head_kind_name(enum tn_head_kind kind)
{
    return (unsigned)kind < TN_HEAD_KINDS ? kinds[kind].name : "unknown";
}

const char *tn_head_kind_what(enum tn_head_kind kind)
{
    return (unsigned)kind < TN_HEAD_KINDS ? kinds[kind].what : "unknown";
}

bool tn_head_kind_is_labelled(enum tn_head_kind kind)
{
    return (unsigned)kind < TN_HEAD_KINDS && kinds[kind].labelled;
}

bool tn_head_kind_is_vocabulary(enum tn_head_kind kind)
{
    return kind == TN_HEAD_MASKED_LM || kind == TN_HEAD_PRETRAINING;
}

uint64_t tn_head_kind_outputs(enum tn_head_kind kind)
{
    return (unsigned)kind < TN_HEAD_KINDS ? kinds[kind].outputs : 0;
}

bool tn_head_kind_of(struct tn_str name, enum tn_head_kind *out)
{
    for (unsigned i = 0; i < TN_HEAD_KINDS; i++) {
        if (!tn_str_is(name, kinds[i].name)) continue;
        *out = (enum tn_head_kind)i;
        return true;
    }
    return false;
}

bool tn_head_of_class(struct tn_str architecture, enum tn_head_kind *out)
{
    for (unsigned i = 0; i < TN_HEAD_KINDS; i++) {
        if (!tn_str_ends(architecture, kinds[i].suffix)) continue;
        *out = (enum tn_head_kind)i;
        return true;
    }
    return false;
}

const char *tn_problem_name(enum tn_problem problem)
{
    static const char *const names[TN_PROBLEMS] = {
#define X(name, text) text,
        TN_PROBLEM_LIST(X)
#undef X
    };
    return (unsigned)problem < TN_PROBLEMS ? names[problem] : "unknown";
}

bool tn_head_labels_are_made_up(const struct tn_head *head)
{
    for (uint64_t i = 0; i < head->outputs; i++) {
        char text[32];
        snprintf(text, sizeof(text), "LABEL_%llu", (unsigned long long)i);
        if (!tn_str_is(head->labels[i], text)) return false;
    }
    return true;
}

bool tn_head_problem_fits(const struct tn_head *head)
{
    return head->problem != TN_PROBLEM_SINGLE_LABEL || head->outputs != 1;
}
