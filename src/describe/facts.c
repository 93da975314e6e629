/*
 * Facts: values with the place that stated them. They are kept in the order in which they are read, which depends on
 * the package alone. Long values (label maps, token tables) are replaced by their kind and size: a fact is for reading.
 */
#include "base/json_write.h"
#include "describe/builder.h"

#include <stdio.h>

enum { LONGEST_VALUE = 512, LONGEST_NAME = 256 };

static struct tn_fact *next_fact(struct tn_builder *b)
{
    if (b->failed != TN_OK) return NULL;
    if (b->fact_count == b->fact_cap) {
        size_t cap = b->fact_cap ? b->fact_cap * 2 : 64;
        struct tn_fact *facts = tn_realloc(b->alloc, b->facts, cap * sizeof(*facts));
        if (!facts) {
            tn_builder_no_memory(b);
            return NULL;
        }
        b->facts = facts;
        b->fact_cap = cap;
    }
    return &b->facts[b->fact_count];
}

static struct tn_str short_value(struct tn_str text, char *buf, size_t cap)
{
    if (text.n <= LONGEST_VALUE) return text;
    const char *kind = text.s[0] == '{' ? "object" : text.s[0] == '[' ? "array" : text.s[0] == '"' ? "string" : "number";
    int n = snprintf(buf, cap, "\"(%s of %llu bytes)\"", kind, (unsigned long long)text.n);
    return (struct tn_str){buf, (size_t)n};
}

static void add_fact(struct tn_builder *b, struct tn_fact fact, const char *name, va_list args)
{
    char text[LONGEST_NAME], size_note[64];
    struct tn_fact *slot = next_fact(b);
    if (!slot) return;
    int n = vsnprintf(text, sizeof(text), name, args);
    if (n < 0) n = 0;
    if ((size_t)n >= sizeof(text)) n = (int)sizeof(text) - 1;
    fact.name = tn_builder_str(b, (struct tn_str){text, (size_t)n});
    fact.value = tn_builder_str(b, short_value(fact.value, size_note, sizeof(size_note)));
    fact.file = tn_builder_str(b, fact.file);
    fact.pointer = tn_builder_str(b, fact.pointer);
    if (b->failed != TN_OK) return;
    *slot = fact;
    b->fact_count++;
}

void tn_fact_of_json(struct tn_builder *b, struct tn_json value, const char *rule, bool descriptive,
                     const char *name, ...)
{
    char pointer[256];
    va_list args;
    if (!tn_json_present(value)) return; /* missing, and refused for that */
    va_start(args, name);
    add_fact(b,
             (struct tn_fact){.value = tn_json_text(value),
                              .origin = TN_FROM_FILE,
                              .file = value.doc->file,
                              .pointer = tn_json_pointer(value, pointer, sizeof(pointer)),
                              .rule = tn_str_of(rule),
                              .descriptive = descriptive},
             name, args);
    va_end(args);
}

void tn_fact_of_text(struct tn_builder *b, enum tn_origin origin, struct tn_str file, struct tn_str pointer,
                     struct tn_str value, const char *rule, bool descriptive, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    add_fact(b,
             (struct tn_fact){.value = value,
                              .origin = origin,
                              .file = file,
                              .pointer = pointer,
                              .rule = tn_str_of(rule),
                              .descriptive = descriptive},
             name, args);
    va_end(args);
}

void tn_fact_of_default(struct tn_builder *b, const char *schema, const char *value, const char *rule,
                        const char *name, ...)
{
    char file[128];
    int n = snprintf(file, sizeof(file), "default of schema %s", schema);
    va_list args;
    va_start(args, name);
    add_fact(b,
             (struct tn_fact){.value = tn_str_of(value),
                              .origin = TN_FROM_DEFAULT,
                              .file = {file, (size_t)n},
                              .pointer = TN_STR(""),
                              .rule = tn_str_of(rule)},
             name, args);
    va_end(args);
}

struct tn_str tn_json_quoted(struct tn_builder *b, struct tn_str plain)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, b->alloc, plain.n * 6 + 16);
    tn_jw_init(&w, &text, false);
    tn_jw_str(&w, plain);
    if (tn_buf_status(&text) != TN_OK) tn_builder_no_memory(b);
    struct tn_str quoted = tn_builder_str(b, tn_buf_str(&text));
    tn_buf_release(&text);
    return quoted;
}
