/*
 * Walks genai_config.json against the table: used keys are checked and become facts, the others become losses or
 * refusals, all of one pass. The document is untrusted; the table is not.
 *
 * The surprising decision: a dropped key is looked into all the same. A file that it names must lie inside the package,
 * and code that it names is refused, since nobody should have to trust what we promise not to read.
 */
#include "describe/dialect/genai.h"
#include "describe/losses.h"

#include <stdio.h>
#include <string.h>

enum { POINTER_BYTES = 256, FACT_BYTES = 200 };

/* ---- losses ------------------------------------------------------------------------------------------------------ */

static void keep_loss(struct tn_genai *g, struct tn_json at, struct tn_str pointer, enum tn_loss_kind kind,
                      const char *reason)
{
    struct tn_builder *b = g->b;
    const char *rule = kind == TN_LOSS_DROPPED ? "genai.dropped/1" : "genai.unknown/1";
    struct tn_loss *loss = tn_loss_keep(b, kind, g->root.doc->file, pointer, tn_str_of(reason));
    if (!loss) return;
    struct tn_str value = tn_json_present(at) ? tn_json_text(at) : TN_STR("null");
    tn_fact_of_text(b, TN_FROM_USER, loss->file, loss->pointer, value, rule, true, "loss.%.*s", TN_FMT_ARG(pointer));
}

/* `at` is absent for what a key means by being absent. */
static void lose(struct tn_genai *g, struct tn_json at, struct tn_str pointer, enum tn_loss_kind kind, const char *reason,
                 const char *nearest)
{
    struct tn_builder *b = g->b;
    if (b->options->accept_loss) {
        keep_loss(g, at, pointer, kind, reason);
        return;
    }
    g->hole = true;
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%.*s in %.*s %s: %s", TN_FMT_ARG(pointer),
                                      TN_FMT_ARG(g->root.doc->file),
                                      kind == TN_LOSS_DROPPED ? "would be lost" : "is not known", reason);
    tn_at_pointer(f, g->root.doc->file, pointer);
    if (tn_json_present(at)) tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(at)));
    if (nearest) tn_expected(f, "a known key; the nearest is %s", nearest);
    else if (kind == TN_LOSS_UNKNOWN) tn_expected(f, "a key of %s", TN_GENAI_SCHEMA);
    if (kind == TN_LOSS_DROPPED) tn_remedy(f, "accept the loss with --accept-loss; the evidence then lists it");
    else tn_remedy(f, "--accept-loss, or if it never changes an answer --descriptive %.*s", TN_FMT_ARG(pointer));
}

void tn_genai_lose(struct tn_genai *g, struct tn_json at, struct tn_str pointer, const char *reason)
{
    lose(g, at, pointer, TN_LOSS_DROPPED, reason, NULL);
}

static bool says_nothing(const struct tn_genai_key *key, struct tn_json v)
{
    enum tn_json_type type = tn_json_type(v);
    if ((type == TN_JSON_OBJECT || type == TN_JSON_ARRAY) && tn_json_count(v) == 0) return true;
    double a, b;
    if (!key || !key->neutral) return false;
    if (tn_json_f64(v, &a) && tn_parse_f64(tn_str_of(key->neutral), &b)) return a == b;
    return tn_str_is(tn_json_text(v), key->neutral);
}

/* ---- what a dropped value names ---------------------------------------------------------------------------------- */

static bool names_file(struct tn_str key)
{
    return tn_str_is(key, "filename") || tn_str_ends(key, "_filename") || tn_str_is(key, "data_file");
}

static void deny_code(struct tn_genai *g, struct tn_json v)
{
    char pointer[POINTER_BYTES];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    g->hole = true;
    struct tn_finding *f = tn_blocker(g->b, TN_CUSTOM_CODE_DENIED, "%.*s in %.*s names a library to load",
                                      TN_FMT_ARG(at), TN_FMT_ARG(v.doc->file));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "graphs of standard operators");
}

static void look_inside(struct tn_genai *g, struct tn_json v, unsigned depth)
{
    struct tn_str path;
    for (struct tn_json e = tn_json_first(v); tn_json_present(e) && depth > 0; e = tn_json_next(e)) {
        if (tn_str_is(tn_json_key(e), "custom_ops_library")) deny_code(g, e);
        else if (names_file(tn_json_key(e))) (void)tn_genai_file(g, e, false, &path);
        look_inside(g, e, depth - 1);
    }
}

static bool is_port_key(const struct tn_genai_key *key)
{
    return strstr(key->path, "/inputs/") || strstr(key->path, "/outputs/");
}

static void drop(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json v, const char *reason)
{
    char pointer[POINTER_BYTES];
    struct tn_str path, at = tn_json_pointer(v, pointer, sizeof(pointer));
    (void)tn_asserted(g->b, v.doc->file, at, false);
    if (key && key->kind == TN_GENAI_FILENAME) (void)tn_genai_file(g, v, false, &path);
    if (key && is_port_key(key)) g->dropped_ports = true;
    look_inside(g, v, 2 * TN_GENAI_DEPTH);
    if (!says_nothing(key, v)) lose(g, v, at, TN_LOSS_DROPPED, reason, NULL);
}

/* ---- used keys --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *path;
    size_t offset;
} sizes[] = {
    {"/model/context_length", offsetof(struct tn_genai, context)},
    {"/model/vocab_size", offsetof(struct tn_genai, vocabulary)},
    {"/model/decoder/num_hidden_layers", offsetof(struct tn_genai, layers)},
    {"/model/decoder/num_attention_heads", offsetof(struct tn_genai, heads)},
    {"/model/decoder/num_key_value_heads", offsetof(struct tn_genai, kv_heads)},
    {"/model/decoder/head_size", offsetof(struct tn_genai, head_size)},
    {"/model/decoder/hidden_size", offsetof(struct tn_genai, hidden)},
    {"/model/decoder/sliding_window/window_size", offsetof(struct tn_genai, window)},
    {"/model/decoder/conv_cache_size", offsetof(struct tn_genai, convolved)},
    {"/model/encoder/num_key_value_heads", offsetof(struct tn_genai, encoder_kv_heads)},
    {"/model/encoder/head_size", offsetof(struct tn_genai, encoder_head_size)},
    {"/model/encoder/hidden_size", offsetof(struct tn_genai, encoder_hidden)},
};

static void keep_size(struct tn_genai *g, const char *path, struct tn_json v)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (strcmp(sizes[i].path, path) != 0) continue;
        struct tn_genai_size *size = (struct tn_genai_size *)((char *)g + sizes[i].offset);
        size->at = v;
        size->present = tn_json_u64(v, &size->value);
    }
}

/* The fact's name with each * replaced by the name that matched it. */
static void fact_name(const struct tn_genai_key *key, const struct tn_str *names, char *out, size_t cap)
{
    size_t n = 0, level = 0;
    const char *path = key->path;
    for (const char *p = key->text; *p && n + 1 < cap; p++) {
        if (*p != '*') {
            out[n++] = *p;
            continue;
        }
        for (; *path && *path != '*'; path++) level += *path == '/';
        struct tn_str name = names[level - 1];
        for (size_t i = 0; i < name.n && n + 1 < cap; i++) out[n++] = name.s[i];
        if (*path) path++;
    }
    out[n] = 0;
}

static void use(struct tn_genai *g, const struct tn_genai_key *key, const struct tn_str *names, struct tn_json v)
{
    char name[FACT_BYTES], clean[FACT_BYTES], pointer[POINTER_BYTES];
    (void)tn_asserted(g->b, v.doc->file, tn_json_pointer(v, pointer, sizeof(pointer)), false);
    if (!tn_genai_check(g, key, v)) return;
    keep_size(g, key->path, v);
    fact_name(key, names, name, sizeof(name));
    tn_clean_text(clean, sizeof(clean), name, strlen(name));
    tn_fact_of_json(g->b, v, TN_GENAI_RULE, false, "%s", clean);
}

static void unknown(struct tn_genai *g, const struct tn_str *names, size_t count, struct tn_json v)
{
    char pointer[POINTER_BYTES];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    look_inside(g, v, 2 * TN_GENAI_DEPTH);
    if (tn_asserted(g->b, v.doc->file, at, true)) {
        tn_fact_of_text(g->b, TN_FROM_USER, v.doc->file, at, tn_json_text(v), TN_GENAI_RULE, true, "asserted.%.*s",
                        TN_FMT_ARG(at));
        return;
    }
    lose(g, v, at, TN_LOSS_UNKNOWN, "nobody here knows what it changes", tn_genai_nearest(names, count));
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static void walk(struct tn_genai *g, const struct tn_genai_key *above, struct tn_json v, struct tn_str *names,
                 size_t count);

static void no_container(struct tn_genai *g, struct tn_json v, const char *expected)
{
    tn_expected(tn_genai_refuse(g, v, "has the wrong type"), "%s", expected);
}

/* Lists of objects are walked as if their elements were one object: positions are no part of a key. */
static bool is_list_of_objects(const struct tn_genai_key *key)
{
    return tn_str_ends(tn_str_of(key->path), "/pipeline") || tn_str_ends(tn_str_of(key->path), "/state_groups");
}

static void walk_list(struct tn_genai *g, const struct tn_genai_key *key, struct tn_json list, struct tn_str *names,
                      size_t count)
{
    size_t length = tn_json_count(list);
    if (length > TN_GENAI_GRAPHS) {
        char pointer[POINTER_BYTES];
        struct tn_finding *f = tn_blocker(g->b, TN_RESOURCE_LIMIT, "%.*s in %.*s has too many entries",
                                          TN_FMT_ARG(tn_json_pointer(list, pointer, sizeof(pointer))),
                                          TN_FMT_ARG(list.doc->file));
        tn_at_json(f, list);
        tn_found(f, "%zu", length);
        tn_expected(f, "at most %d", TN_GENAI_GRAPHS);
        return;
    }
    for (struct tn_json e = tn_json_first(list); tn_json_present(e); e = tn_json_next(e)) {
        if (tn_json_is(e, TN_JSON_OBJECT)) walk(g, key, e, names, count);
        else no_container(g, e, "an object");
    }
}

static void member(struct tn_genai *g, const struct tn_genai_key *above, struct tn_json v, struct tn_str *names,
                   size_t count)
{
    const struct tn_genai_key *key = tn_genai_key_of(names, count);
    if (!key && above && above->rest) {
        drop(g, NULL, v, above->rest);
    } else if (!key) {
        unknown(g, names, count, v);
    } else if (key->class == TN_GENAI_DENIED) {
        deny_code(g, v);
    } else if (key->class == TN_GENAI_DROPPED) {
        drop(g, key, v, key->text);
    } else if (key->class == TN_GENAI_USED) {
        use(g, key, names, v);
    } else if (tn_json_is(v, TN_JSON_OBJECT)) {
        walk(g, key, v, names, count);
    } else if (tn_json_is(v, TN_JSON_ARRAY) && is_list_of_objects(key)) {
        walk_list(g, key, v, names, count);
    } else {
        no_container(g, v, is_list_of_objects(key) ? "a list of objects" : "an object");
    }
}

static void walk(struct tn_genai *g, const struct tn_genai_key *above, struct tn_json v, struct tn_str *names,
                 size_t count)
{
    if (count == TN_GENAI_DEPTH) return; /* no row is that deep: a member there was dropped or unknown further up */
    for (struct tn_json e = tn_json_first(v); tn_json_present(e) && g->b->failed == TN_OK; e = tn_json_next(e)) {
        names[count] = tn_json_key(e);
        member(g, above, e, names, count + 1);
    }
}

/* ---- what must be there ------------------------------------------------------------------------------------------ */

static bool need(struct tn_genai *g, struct tn_json object, const char *key, const char *what)
{
    if (tn_json_present(tn_json_get(object, key))) return true;
    g->hole = true;
    struct tn_finding *f = tn_blocker(g->b, TN_METADATA_INVALID, "%s is missing in %.*s", key,
                                      TN_FMT_ARG(g->root.doc->file));
    tn_at_json_member(f, object, key);
    tn_found(f, "nothing");
    tn_expected(f, "%s", what);
    return false;
}

static void check_required(struct tn_genai *g)
{
    if (!need(g, g->root, "model", "an object") || !tn_json_is(g->model, TN_JSON_OBJECT)) return;
    (void)need(g, g->model, "type", "the kind of model, a string");
    (void)need(g, g->model, "context_length", "the most tokens of a sequence");
    (void)need(g, g->model, "vocab_size", "the rows of the logits");
    if (!need(g, g->model, "decoder", "an object")) return;
    struct tn_json decoder = tn_json_get(g->model, "decoder");
    if (tn_json_present(tn_json_get(decoder, "pipeline")) || !tn_json_is(decoder, TN_JSON_OBJECT)) return;
    (void)need(g, decoder, "filename", "the name of a graph, or a pipeline of several");
}

/* Windows of a prompt are what an absent key means. */
static void check_window_defaults(struct tn_genai *g)
{
    static const char *const names[] = {"slide_inputs", "slide_key_value_cache"};
    struct tn_json window = tn_json_find(g->model, "/decoder/sliding_window");
    if (!tn_json_is(window, TN_JSON_OBJECT)) return;
    for (size_t i = 0; i < 2; i++) {
        char pointer[POINTER_BYTES];
        if (tn_json_present(tn_json_get(window, names[i]))) continue;
        int n = snprintf(pointer, sizeof(pointer), "/model/decoder/sliding_window/%s", names[i]);
        lose(g, (struct tn_json){NULL, 0}, (struct tn_str){pointer, (size_t)n}, TN_LOSS_DROPPED,
             "absent it means true: prompts and cache move by windows, which the standard cannot say", NULL);
    }
}

void tn_genai_read(struct tn_genai *g)
{
    struct tn_str names[TN_GENAI_DEPTH];
    g->model = tn_json_get(g->root, "model");
    g->search = tn_json_get(g->root, "search");
    walk(g, NULL, g->root, names, 0);
    check_required(g);
    check_window_defaults(g);
}
