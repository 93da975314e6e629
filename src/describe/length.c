/*
 * The longest input. The library's rule: max_seq_length of the Transformer module, if stated, replaces the tokenizer's
 * model_max_length; else the smaller of model_max_length and max_position_embeddings counts. Ours adds one thing: a
 * number beyond the position table, which would end in an out-of-range read there, is cut to the table, with a warning.
 *
 * Rows of the table that belong to no position are the family's matter; here a table of n rows has n positions.
 */
#include "describe/builder.h"

#include <stdio.h>

#define RULE "st.max_seq_length/1"

struct statement {
    bool set;
    uint64_t value;
    struct tn_str file;
    const char *pointer;
};

static void warn_beyond(struct tn_builder *b, const struct statement *chosen, const struct statement *table)
{
    struct tn_finding *f = tn_warning(b, TN_UNSUPPORTED_CONFIG,
                                      "%s in %.*s is more than max_position_embeddings in %.*s, which is used",
                                      chosen->pointer + 1, TN_FMT_ARG(chosen->file), TN_FMT_ARG(table->file));
    tn_at_pointer(f, chosen->file, tn_str_of(chosen->pointer));
    tn_found(f, "%llu", (unsigned long long)chosen->value);
    tn_expected(f, "at most %llu", (unsigned long long)table->value);
}

static void warn_differs(struct tn_builder *b, const struct statement *module, const struct statement *tokenizer)
{
    struct tn_finding *f = tn_note(b, TN_UNSUPPORTED_CONFIG,
                                   "%s in %.*s replaces model_max_length in %.*s", module->pointer + 1,
                                   TN_FMT_ARG(module->file), TN_FMT_ARG(tokenizer->file));
    tn_at_pointer(f, tokenizer->file, tn_str_of(tokenizer->pointer));
    tn_found(f, "%llu", (unsigned long long)tokenizer->value);
    tn_expected(f, "%llu is used", (unsigned long long)module->value);
}

void tn_describe_length(struct tn_builder *b, const struct tn_length_sources *sources)
{
    const struct tn_tokenizer_facts *t = &b->d->tokenizer;
    const struct tn_value *rows = sources->component ? tn_component_value(sources->component, "max_position_embeddings") : NULL;
    struct statement module = {sources->module_set, sources->module, sources->module_file, "/max_seq_length"};
    struct statement tokenizer = {t->model_max_length_set, t->model_max_length, t->tokenizer_config, "/model_max_length"};
    struct statement table = {rows && rows->present, rows ? rows->u : 0, TN_STR(""), "/max_position_embeddings"};
    struct statement *chosen = module.set ? &module : tokenizer.set ? &tokenizer : &table;
    if (b->failed != TN_OK || !chosen->set) return;
    if (sources->component) table.file = tn_builder_join(b, sources->component->folder, "config.json");
    if (module.set && tokenizer.set && module.value != tokenizer.value) warn_differs(b, &module, &tokenizer);
    if (table.set && table.value < chosen->value) {
        /* The library itself takes the smaller one silently when the module says nothing. */
        if (chosen == &module) warn_beyond(b, chosen, &table);
        chosen = &table;
    }
    char text[32];
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)chosen->value);
    b->d->max_seq_length = chosen->value;
    tn_fact_of_text(b, TN_FROM_FILE, chosen->file, tn_str_of(chosen->pointer), (struct tn_str){text, (size_t)n}, RULE,
                    false, "max_seq_length");
}
