/*
 * Which family a configuration asks for. /model_type decides, as AutoConfig does (transformers 5.24 refuses a file
 * without it); /architectures says which head the weights were saved with and must be a class of that family. Knows no
 * family by name: names are matched against the tables that were handed in.
 *
 * Each key has five wrong answers with a message of their own: absent, empty, known but unsupported, never heard of, of
 * the wrong type.
 */
#include "describe/builder.h"
#include "describe/dialect/known_architectures.h"

#include <stdio.h>
#include <string.h>

static bool listed(const char *const *names, struct tn_str name)
{
    for (; *names; names++)
        if (tn_str_is(name, *names)) return true;
    return false;
}

/* ---- lists for messages ----------------------------------------------------------------------------------------- */

struct text {
    char s[384];
    size_t n;
};

static void add_name(struct text *text, const char *name)
{
    int n = snprintf(text->s + text->n, sizeof(text->s) - text->n, "%s%s", text->n ? ", " : "", name);
    if (n > 0 && (size_t)n < sizeof(text->s) - text->n) text->n += (size_t)n;
    else text->s[text->n] = 0;
}

static struct text supported_types(const struct tn_builder *b)
{
    struct text text = {.n = 0};
    for (size_t i = 0; i < b->options->schema_count; i++)
        for (const char *const *name = b->options->schemas[i]->model_types; *name; name++) add_name(&text, *name);
    return text;
}

static struct text class_names(const struct tn_schema *schema)
{
    struct text text = {.n = 0};
    for (const char *const *name = schema->architectures; *name; name++) add_name(&text, *name);
    return text;
}

/* Up to three names, nearest first, that differ in at most half of their letters. */
struct nearest {
    const char *names[3];
    size_t distances[3];
    size_t count;
};

static void consider(struct nearest *best, struct tn_str wanted, const char *name)
{
    size_t distance = tn_edit_distance(wanted, tn_str_of(name));
    if (distance > strlen(name) / 2) return;
    size_t at = best->count;
    while (at > 0 && best->distances[at - 1] > distance) at--;
    if (at >= 3) return;
    if (best->count < 3) best->count++;
    for (size_t i = best->count - 1; i > at; i--) {
        best->names[i] = best->names[i - 1];
        best->distances[i] = best->distances[i - 1];
    }
    best->names[at] = name;
    best->distances[at] = distance;
}

static void remedy_nearest(struct tn_finding *f, const struct nearest *best)
{
    struct text text = {.n = 0};
    for (size_t i = 0; i < best->count; i++) add_name(&text, best->names[i]);
    if (text.n > 0) tn_remedy(f, "nearest names: %s", text.s);
}

/* ---- /model_type ------------------------------------------------------------------------------------------------ */

static const struct tn_schema *schema_of_type(const struct tn_builder *b, struct tn_str type)
{
    for (size_t i = 0; i < b->options->schema_count; i++)
        if (listed(b->options->schemas[i]->model_types, type)) return b->options->schemas[i];
    return NULL;
}

static const struct tn_schema *schema_of_class(const struct tn_builder *b, struct tn_json root)
{
    struct tn_str name;
    if (!tn_json_str(tn_json_first(tn_json_get(root, "architectures")), &name)) return NULL;
    for (size_t i = 0; i < b->options->schema_count; i++)
        if (listed(b->options->schemas[i]->architectures, name)) return b->options->schemas[i];
    return NULL;
}

static struct tn_finding *refuse_type(struct tn_builder *b, struct tn_json root, enum tn_status code, const char *what)
{
    struct tn_finding *f = tn_blocker(b, code, "model_type in %.*s %s", TN_FMT_ARG(root.doc->file), what);
    struct text types = supported_types(b);
    tn_at_json_member(f, root, "model_type");
    tn_expected(f, "one of %s", types.s);
    return f;
}

static void refuse_absent_type(struct tn_builder *b, struct tn_json root)
{
    struct tn_finding *f = refuse_type(b, root, TN_UNKNOWN_FAMILY, "is absent: nothing names the architecture");
    const struct tn_schema *guess = schema_of_class(b, root);
    tn_found(f, "nothing");
    if (guess) tn_remedy(f, "the architectures belong to \"%s\": add \"model_type\": \"%s\"", guess->model_types[0],
                         guess->model_types[0]);
}

static void refuse_named_type(struct tn_builder *b, struct tn_json root, struct tn_str type)
{
    for (size_t i = 0; i < tn_known_architecture_count; i++) {
        if (!tn_str_is(type, tn_known_architectures[i].model_type)) continue;
        struct tn_finding *f = refuse_type(b, root, TN_UNKNOWN_FAMILY, "is a known architecture without a family here");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(type));
        tn_remedy(f, "missing: the family's schema, tensor list and graph builder; %s",
                  tn_known_architectures[i].missing);
        return;
    }
    struct nearest best = {.count = 0};
    for (size_t i = 0; i < b->options->schema_count; i++)
        for (const char *const *name = b->options->schemas[i]->model_types; *name; name++) consider(&best, type, *name);
    for (size_t i = 0; i < tn_known_architecture_count; i++)
        consider(&best, type, tn_known_architectures[i].model_type);
    struct tn_finding *f = refuse_type(b, root, TN_UNKNOWN_FAMILY, "is not a name that this build has heard of");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(type));
    remedy_nearest(f, &best);
}

static const struct tn_schema *read_type(struct tn_builder *b, struct tn_json root, struct tn_component *c)
{
    struct tn_json v = tn_json_get(root, "model_type");
    struct tn_str type;
    if (tn_json_type(v) == TN_JSON_NULL) {
        refuse_absent_type(b, root);
        return NULL;
    }
    if (!tn_json_str(v, &type)) {
        struct tn_finding *f = refuse_type(b, root, TN_UNSUPPORTED_CONFIG, "has the wrong type");
        tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
        tn_expected(f, "a string");
        return NULL;
    }
    if (type.n == 0) {
        tn_found(refuse_type(b, root, TN_UNKNOWN_FAMILY, "is empty"), "\"\"");
        return NULL;
    }
    c->model_type = tn_builder_str(b, type);
    const struct tn_schema *schema = schema_of_type(b, type);
    if (!schema) refuse_named_type(b, root, type);
    else tn_fact_of_json(b, v, "transformers.config/1", false, "%.*s.model_type", TN_FMT_ARG(c->name));
    return schema;
}

/* ---- /architectures --------------------------------------------------------------------------------------------- */

static struct tn_finding *refuse_class(struct tn_builder *b, struct tn_json v, const struct tn_schema *schema,
                                       enum tn_status code, const char *what)
{
    struct tn_finding *f = tn_blocker(b, code, "architectures in %.*s %s", TN_FMT_ARG(v.doc->file), what);
    struct text classes = class_names(schema);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "one of %s", classes.s);
    return f;
}

/* A class of another family under this model_type, a head that we do not cover, or a name never heard of. */
static void refuse_named_class(struct tn_builder *b, struct tn_json v, const struct tn_schema *schema,
                               struct tn_str name)
{
    for (size_t i = 0; i < b->options->schema_count; i++) {
        if (!listed(b->options->schemas[i]->architectures, name)) continue;
        struct tn_finding *f = refuse_class(b, v, schema, TN_UNSUPPORTED_CONFIG, "and model_type name two families");
        tn_remedy(f, "the class belongs to model_type \"%s\"", b->options->schemas[i]->model_types[0]);
        return;
    }
    struct nearest best = {.count = 0};
    for (const char *const *known = schema->architectures; *known; known++) consider(&best, name, *known);
    remedy_nearest(refuse_class(b, v, schema, TN_UNKNOWN_FAMILY, "names a class that is not known for this model_type"),
                   &best);
}

static void read_classes(struct tn_builder *b, struct tn_json root, const struct tn_schema *schema,
                         struct tn_component *c)
{
    struct tn_json list = tn_json_get(root, "architectures");
    if (tn_json_type(list) == TN_JSON_NULL) {
        /* AutoModel then builds the class without a head, which every family lists first. */
        c->architecture = tn_builder_str(b, tn_str_of(schema->architectures[0]));
        tn_fact_of_default(b, schema->id, tn_json_quoted(b, c->architecture).s, "transformers.config/1",
                           "%.*s.architecture", TN_FMT_ARG(c->name));
        return;
    }
    if (!tn_json_is(list, TN_JSON_ARRAY)) {
        tn_expected(refuse_class(b, list, schema, TN_UNSUPPORTED_CONFIG, "has the wrong type"), "a list of strings");
        return;
    }
    if (tn_json_count(list) == 0) {
        tn_remedy(refuse_class(b, list, schema, TN_UNSUPPORTED_CONFIG, "is empty"),
                  "name the class that the weights were saved from, or leave the key out");
        return;
    }
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str name;
        if (!tn_json_str(v, &name)) {
            tn_expected(refuse_class(b, v, schema, TN_UNSUPPORTED_CONFIG, "has an entry of the wrong type"), "a string");
        } else if (!listed(schema->architectures, name) && !tn_str_is(name, TN_CLASS_STANFORD)) {
            refuse_named_class(b, v, schema, name);
        } else if (c->architecture.n == 0) {
            c->architecture = tn_builder_str(b, name);
            tn_fact_of_json(b, v, "transformers.config/1", false, "%.*s.architecture", TN_FMT_ARG(c->name));
        } else if (!tn_str_eq(name, c->architecture)) {
            tn_remedy(refuse_class(b, v, schema, TN_UNSUPPORTED_CONFIG, "names several classes"),
                      "name the one class that the weights were saved from");
        }
    }
}

const struct tn_schema *tn_choose_schema(struct tn_builder *b, struct tn_json root, struct tn_component *c)
{
    const struct tn_schema *schema = read_type(b, root, c);
    if (schema) read_classes(b, root, schema, c);
    return schema;
}
