/*
 * The longest input. The library's rule: max_seq_length of the Transformer module, if stated, replaces the tokenizer's
 * model_max_length; else the smaller of model_max_length and max_position_embeddings counts. Ours adds one thing: a
 * number beyond the position table, which would end in an out-of-range read there, is cut to the table, with a warning.
 *
 * A truncation that tokenizer.json states never counts: the library sets its own on every call.
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
                                      "%s in %.*s is more than the position table of %.*s holds, which is used",
                                      chosen->pointer + 1, TN_FMT_ARG(chosen->file), TN_FMT_ARG(table->file));
    tn_at_pointer(f, chosen->file, tn_str_of(chosen->pointer));
    tn_found(f, "%llu", (unsigned long long)chosen->value);
    tn_expected(f, "at most %llu, by max_position_embeddings", (unsigned long long)table->value);
}

static void note_replaced(struct tn_builder *b, const struct statement *used, const struct statement *other)
{
    if (!used->set || !other->set || used->value == other->value) return;
    struct tn_finding *f = tn_note(b, TN_UNSUPPORTED_CONFIG, "%s in %.*s is replaced by %s in %.*s", other->pointer + 1,
                                   TN_FMT_ARG(other->file), used->pointer + 1, TN_FMT_ARG(used->file));
    tn_at_pointer(f, other->file, tn_str_of(other->pointer));
    tn_found(f, "%llu", (unsigned long long)other->value);
    tn_expected(f, "%llu is used", (unsigned long long)used->value);
}

/* Positions that the table of the encoder has; not set without one. */
static struct statement table_of(struct tn_builder *b, const struct tn_component *c, bool *hard)
{
    struct statement table = {.pointer = "/max_position_embeddings"};
    if (!c) return table;
    table.value = tn_component_positions(c, hard);
    table.file = tn_builder_join(b, c->folder, "config.json");
    table.set = table.value > 0;
    return table;
}

void tn_describe_length(struct tn_builder *b, const struct tn_length_sources *sources)
{
    const struct tn_tokenizer_facts *t = &b->d->tokenizer;
    struct statement module = {sources->module_set, sources->module, sources->module_file, "/max_seq_length"};
    struct statement tokenizer = {t->model_max_length_set, t->model_max_length, t->tokenizer_config, "/model_max_length"};
    struct statement file = {t->truncation_set, t->truncation_max_length, t->tokenizer_json, "/truncation/max_length"};
    bool hard = true;
    struct statement table = table_of(b, sources->component, &hard);
    struct statement *chosen = module.set ? &module : tokenizer.set ? &tokenizer : &table;
    if (b->failed != TN_OK || !chosen->set) return;
    if (chosen == &module) note_replaced(b, chosen, &tokenizer);
    /* Positions that are computed have no end: there a module may ask for more than training saw, as in the library. */
    if (table.set && table.value < chosen->value && (hard || chosen != &module)) {
        /* Where the module says nothing the library takes the smaller one itself. */
        if (chosen == &module) warn_beyond(b, chosen, &table);
        else note_replaced(b, &table, chosen);
        chosen = &table;
    }
    note_replaced(b, chosen, &file);
    char text[32];
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)chosen->value);
    b->d->max_seq_length = chosen->value;
    tn_fact_of_text(b, TN_FROM_FILE, chosen->file, tn_str_of(chosen->pointer), (struct tn_str){text, (size_t)n}, RULE,
                    false, "max_seq_length");
}
