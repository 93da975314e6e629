/*
 * What is said about a tokenizer against the files that hold it, whichever document says it: a convention's files and our
 * own document go through the same checks. Ids fit the embedding table, special tokens are in the vocabulary, and what is
 * named as the first, last and padding token is what the file puts there. Inputs are untrusted; all work is bounded by
 * sorting.
 *
 * The surprising decision: where a convention's files contradict each other in a value that neither the reference nor this
 * build reads, that is a warning and the value is dropped; our own document states nothing that is not so, and is refused.
 */
#include "describe/builder.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

/* ---- places --------------------------------------------------------------------------------------------------------- */

static bool is_own(const struct tn_tokenizer_check *k)
{
    return tn_json_present(k->stated);
}

static enum tn_status code_of(const struct tn_tokenizer_check *k)
{
    return is_own(k) ? TN_METADATA_INVALID : TN_UNSUPPORTED_PROCESSOR;
}

/* Where a special token is stated: by our own document, or by the convention's, as far as there is one. */
static void at_token(const struct tn_tokenizer_check *k, struct tn_finding *f, const char *key)
{
    const struct tn_tokenizer_facts *t = k->facts;
    struct tn_str file = t->tokenizer_config.n ? t->tokenizer_config : t->tokenizer_json.n ? t->tokenizer_json : t->vocab_txt;
    char pointer[64];
    int n = snprintf(pointer, sizeof(pointer), "/%s", key);
    if (is_own(k)) tn_at_json_member(f, k->stated, key);
    else tn_at_pointer(f, file, (struct tn_str){pointer, n > 0 ? (size_t)n : 0});
}

/* ---- ids -------------------------------------------------------------------------------------------------------- */

static void meet(struct tn_tokenizer_vocabulary *v, uint64_t id, struct tn_json place)
{
    if (tn_json_present(v->place) && id <= v->largest) return;
    v->largest = id;
    v->place = place;
}

static void scan(const struct tn_tokenizer_check *k, struct tn_tokenizer_vocabulary *s)
{
    struct tn_json list = tn_json_find(k->file, "/model/vocab");
    const struct tn_tokenizer_facts *t = k->facts;
    bool array = tn_json_is(list, TN_JSON_ARRAY); /* Unigram: the position is the id */
    uint64_t position = 0, id;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), position++) {
        struct tn_str token = tn_json_key(v);
        id = position;
        if (!array && !tn_json_u64(v, &id)) continue;
        meet(s, id, v);
        if (array && !tn_json_str(tn_json_first(v), &token)) continue;
        if (tn_str_eq(token, t->cls_token)) s->have_cls = true, s->cls_id = id;
        if (tn_str_eq(token, t->sep_token)) s->have_sep = true, s->sep_id = id;
    }
    list = tn_json_get(k->file, "added_tokens");
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v))
        if (tn_json_u64(tn_json_get(v, "id"), &id)) meet(s, id, tn_json_get(v, "id"));
}

/* Rows of the embedding table; 0: not known. */
static uint64_t rows_of(const struct tn_tokenizer_check *k)
{
    return k->component ? tn_component_value(k->component, "vocab_size")->u : 0;
}

/* An id beyond the embedding table would be an out-of-range read in the reference; here it is found beforehand. */
static struct tn_finding *refuse_beyond(const struct tn_tokenizer_check *k, struct tn_str file, uint64_t largest)
{
    struct tn_str document = k->component->document;
    struct tn_finding *f = tn_blocker(k->b, TN_UNSUPPORTED_CONFIG, "ids in %.*s go beyond vocab_size of %.*s",
                                      TN_FMT_ARG(file), TN_FMT_ARG(document));
    tn_at_file(f, file);
    tn_found(f, "id %llu", (unsigned long long)largest);
    tn_expected(f, "ids below vocab_size %llu", (unsigned long long)rows_of(k));
    tn_remedy(f, "tokenizer and weights belong to different models");
    return f;
}

struct tn_tokenizer_vocabulary tn_tokenizer_scan_vocabulary(const struct tn_tokenizer_check *k)
{
    struct tn_tokenizer_vocabulary vocabulary = {0};
    scan(k, &vocabulary);
    uint64_t rows = rows_of(k);
    if (tn_json_present(vocabulary.place) && rows > 0 && vocabulary.largest >= rows)
        tn_at_json(refuse_beyond(k, k->facts->tokenizer_json, vocabulary.largest), vocabulary.place);
    return vocabulary;
}

/* ---- added tokens --------------------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b, void *context)
{
    (void)context;
    uint64_t x = ((const struct tn_added *)a)->id, y = ((const struct tn_added *)b)->id;
    return x < y ? -1 : x > y;
}

static int by_content(const void *a, const void *b, void *context)
{
    (void)context;
    return tn_str_order((*(const struct tn_added *const *)a)->content, (*(const struct tn_added *const *)b)->content);
}

/* The well-formed ones; src/text refuses the others. */
bool tn_added_list_init(struct tn_added_list *list, struct tn_builder *b, struct tn_json root)
{
    struct tn_json tokens = tn_json_get(root, "added_tokens");
    size_t count = tn_json_count(tokens);
    *list = (struct tn_added_list){tn_calloc(b->alloc, count, sizeof(*list->items)),
                                   tn_calloc(b->alloc, count, sizeof(*list->by_content)), 0};
    if (!list->items || !list->by_content) {
        tn_added_list_release(list, b);
        tn_builder_no_memory(b);
        return false;
    }
    for (struct tn_json v = tn_json_first(tokens); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_added *item = &list->items[list->count];
        item->token = v;
        if (tn_json_u64(tn_json_get(v, "id"), &item->id) && tn_json_str(tn_json_get(v, "content"), &item->content))
            list->count++;
    }
    tn_sort(list->items, list->count, sizeof(*list->items), by_id, NULL);
    for (size_t i = 0; i < list->count; i++) list->by_content[i] = &list->items[i];
    tn_sort(list->by_content, list->count, sizeof(*list->by_content), by_content, NULL);
    return true;
}

void tn_added_list_release(struct tn_added_list *list, struct tn_builder *b)
{
    tn_free(b->alloc, list->items);
    tn_free(b->alloc, list->by_content);
    *list = (struct tn_added_list){0};
}

const struct tn_added *tn_added_by_id(const struct tn_added_list *list, uint64_t id)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].id == id) return &list->items[middle];
        if (id < list->items[middle].id) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

const struct tn_added *tn_added_by_content(const struct tn_added_list *list, struct tn_str content)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int side = tn_str_order(content, list->by_content[middle]->content);
        if (side == 0) return list->by_content[middle];
        if (side < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

void tn_tokenizer_need_added(const struct tn_tokenizer_check *k, const struct tn_added_list *list, struct tn_str token,
                             const char *key)
{
    if (token.n == 0 || tn_added_by_content(list, token)) return;
    struct tn_finding *f = tn_blocker(k->b, code_of(k), "%s is no added token of tokenizer.json%s", key,
                                      is_own(k) ? "" : "; the reference would add it");
    if (is_own(k)) at_token(k, f, key);
    else tn_at_pointer(f, k->facts->tokenizer_json, TN_STR("/added_tokens"));
    if (is_own(k)) {
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(token));
        tn_expected(f, "the content of one of /added_tokens of %.*s, or \"\"", TN_FMT_ARG(k->facts->tokenizer_json));
    } else {
        tn_found(f, "no entry \"%.*s\"", TN_FMT_ARG(token));
    }
    tn_remedy(f, is_own(k) ? "describe the package again, or correct the token" : "save the tokenizer again");
}

/* ---- the model ------------------------------------------------------------------------------------------------------- */

/* The first files name no type; what the model holds tells which it is. */
struct tn_str tn_tokenizer_model_type(struct tn_json file)
{
    struct tn_json model = tn_json_get(file, "model");
    struct tn_str type;
    if (tn_json_str(tn_json_get(model, "type"), &type)) return type;
    if (tn_json_present(tn_json_get(model, "merges"))) return TN_STR("BPE");
    return tn_json_is(tn_json_get(model, "vocab"), TN_JSON_ARRAY) ? TN_STR("Unigram") : TN_STR("WordPiece");
}

static bool has_type(struct tn_json v, const char *type)
{
    struct tn_str s;
    return tn_json_str(tn_json_get(v, "type"), &s) && tn_str_is(s, type);
}

/* Pieces are made of bytes where one of the stages turns a text into them. */
bool tn_tokenizer_has_bytes(struct tn_json root)
{
    static const char *const stages[][2] = {{"normalizer", "normalizers"}, {"pre_tokenizer", "pretokenizers"}, {"decoder", "decoders"}};
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        struct tn_json stage = tn_json_get(root, stages[i][0]), list = tn_json_get(stage, stages[i][1]);
        if (has_type(stage, "ByteLevel")) return true;
        for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v))
            if (has_type(v, "ByteLevel")) return true;
    }
    return false;
}

/* ---- special tokens ------------------------------------------------------------------------------------------------- */

struct special {
    const char *key;
    size_t offset; /* in struct tn_tokenizer_facts */
    bool built;    /* the stages of a class are made with it */
};

static const struct special specials[] = {
    {"unk_token", offsetof(struct tn_tokenizer_facts, unk_token), true},
    {"cls_token", offsetof(struct tn_tokenizer_facts, cls_token), true},
    {"sep_token", offsetof(struct tn_tokenizer_facts, sep_token), true},
    {"pad_token", offsetof(struct tn_tokenizer_facts, pad_token), false},
    {"mask_token", offsetof(struct tn_tokenizer_facts, mask_token), false},
};

enum { SPECIALS = sizeof(specials) / sizeof(specials[0]) };

static struct tn_str *token_of(const struct tn_tokenizer_check *k, size_t i)
{
    return (struct tn_str *)((char *)k->facts + specials[i].offset);
}

void tn_tokenizer_check_built(const struct tn_tokenizer_check *k)
{
    if (k->facts->source == TN_TOKENIZER_FILE) return;
    for (size_t i = 0; i < SPECIALS; i++) {
        if (!specials[i].built || token_of(k, i)->n > 0) continue;
        if (is_own(k) && tn_doc_hides(k->b->marks, k->stated, specials[i].key)) continue;
        struct tn_finding *f = tn_blocker(k->b, code_of(k), "the tokenizer's stages are built with %s, and there is none",
                                          specials[i].key);
        at_token(k, f, specials[i].key);
        tn_found(f, "nothing");
        tn_expected(f, "a token of the vocabulary");
    }
}

/* Nothing reads the value: of a convention its contradiction is told and it is dropped, of our own document refused. */
static struct tn_finding *contradicts(const struct tn_tokenizer_check *k, enum tn_severity severity, struct tn_str *token,
                                      const char *key, const char *other)
{
    struct tn_finding *f = tn_findings_add(&k->b->d->findings, is_own(k) ? TN_BLOCKER : severity, code_of(k),
                                           TN_PHASE_DESCRIBE, "%s is not %s", key, other);
    at_token(k, f, key);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(*token));
    tn_remedy(f, is_own(k) ? "correct %s, or set it to \"\"" : "correct %s, or leave it out", key);
    if (!is_own(k)) *token = TN_STR("");
    return f;
}

/* The token that a post-processor puts first or last around one text; "" when it puts none there, or several. */
static struct tn_str edge_of(struct tn_json post, bool last, unsigned depth)
{
    struct tn_str token = TN_STR(""), id;
    if (has_type(post, "Sequence") && depth < 8) {
        struct tn_json list = tn_json_get(post, "processors");
        for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
            struct tn_str outer = edge_of(v, last, depth + 1);
            if (outer.n > 0) token = outer;
        }
    } else if (has_type(post, "BertProcessing") || has_type(post, "RobertaProcessing")) {
        (void)tn_json_str(tn_json_first(tn_json_get(post, last ? "sep" : "cls")), &token);
    } else if (has_type(post, "TemplateProcessing")) {
        struct tn_json list = tn_json_get(post, "single"), edge = tn_json_first(list);
        if (last && tn_json_count(list) > 0) edge = tn_json_at(list, tn_json_count(list) - 1);
        if (!tn_json_str(tn_json_find(edge, "/SpecialToken/id"), &id)) return token;
        struct tn_json tokens = tn_json_get(tn_json_get_str(tn_json_get(post, "special_tokens"), id), "tokens");
        if (tn_json_count(tokens) == 1) (void)tn_json_str(tn_json_first(tokens), &token);
    }
    return token;
}

static void check_edge(const struct tn_tokenizer_check *k, struct tn_str *token, const char *key, bool last)
{
    struct tn_str there = edge_of(tn_json_get(k->file, "post_processor"), last, 0);
    if (there.n == 0 || token->n == 0 || tn_str_eq(there, *token)) return;
    struct tn_finding *f = contradicts(k, TN_WARNING, token, key,
                                       last ? "what tokenizer.json puts behind a text" : "what tokenizer.json puts before a text");
    tn_expected(f, "\"%.*s\", by /post_processor", TN_FMT_ARG(there));
}

/* The token that the model of tokenizer.json gives for what it does not know; "" when it has none, or none that is there. */
static struct tn_str unknown_of(struct tn_json root)
{
    struct tn_json model = tn_json_get(root, "model");
    struct tn_str token = TN_STR("");
    uint64_t id;
    if (!tn_json_u64(tn_json_get(model, "unk_id"), &id)) (void)tn_json_str(tn_json_get(model, "unk_token"), &token);
    else (void)tn_json_str(tn_json_first(tn_json_at(tn_json_get(model, "vocab"), (size_t)id)), &token); /* Unigram */
    return token;
}

static void check_unknown(const struct tn_tokenizer_check *k)
{
    struct tn_str there = unknown_of(k->file), *token = &k->facts->unk_token;
    if (there.n == 0 || token->n == 0 || tn_str_eq(there, *token)) return;
    struct tn_finding *f = contradicts(k, TN_WARNING, token, "unk_token", "what the model of tokenizer.json gives for unknown text");
    tn_expected(f, "\"%.*s\", by /model", TN_FMT_ARG(there));
}

/* One more than the largest type id that is left by a post-processor; `before`: than that of what it is given. */
static uint64_t types_after(struct tn_json post, bool pair, uint64_t before, unsigned depth)
{
    uint64_t types = 0, type;
    if (has_type(post, "Sequence") && depth < 8) {
        struct tn_json list = tn_json_get(post, "processors");
        for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) before = types_after(v, pair, before, depth + 1);
    }
    if (has_type(post, "BertProcessing")) return pair ? 2 : 1;
    if (has_type(post, "RobertaProcessing")) return 1;
    if (!has_type(post, "TemplateProcessing")) return before;
    struct tn_json pieces = tn_json_get(post, pair ? "pair" : "single");
    for (struct tn_json v = tn_json_first(pieces); tn_json_present(v); v = tn_json_next(v))
        if (tn_json_u64(tn_json_get(tn_json_first(v), "type_id"), &type) && type >= types) types = type + 1;
    return types;
}

void tn_tokenizer_count_types(const struct tn_tokenizer_check *k)
{
    struct tn_tokenizer_facts *t = k->facts;
    struct tn_json post = tn_json_get(k->file, "post_processor");
    bool from_file = t->source == TN_TOKENIZER_FILE;
    t->types[0] = from_file ? types_after(post, false, 1, 0) : 1;
    t->types[1] = from_file ? types_after(post, true, 2, 0) : t->pair_template == TN_TEMPLATE_ONE_SEPARATOR ? 2 : 1;
}

/* The id that stands for padding in the configuration, where a network may read it, against the token's. */
static void check_pad(const struct tn_tokenizer_check *k, uint64_t id)
{
    if (!k->component || k->facts->pad_token.n == 0) return;
    const struct tn_value *pad = tn_component_value(k->component, "pad_token_id");
    uint64_t rows = rows_of(k);
    if (!pad->present || pad->u == id || (rows > 0 && pad->u >= rows)) return; /* beyond the table it is refused anyway */
    struct tn_finding *f = contradicts(k, TN_NOTE, &k->facts->pad_token, "pad_token", "the token of pad_token_id");
    tn_expected(f, "the token of id %llu, by pad_token_id of %.*s; this one has id %llu", (unsigned long long)pad->u,
                TN_FMT_ARG(k->component->document), (unsigned long long)id);
}

void tn_tokenizer_check_specials(const struct tn_tokenizer_check *k)
{
    struct tn_added_list list;
    if (!tn_added_list_init(&list, k->b, k->file)) return;
    for (size_t i = 0; i < SPECIALS; i++) tn_tokenizer_need_added(k, &list, *token_of(k, i), specials[i].key);
    const struct tn_added *pad = tn_added_by_content(&list, k->facts->pad_token);
    if (pad) check_pad(k, pad->id);
    tn_added_list_release(&list, k->b);
    if (!k->as_it_stands) return;
    check_unknown(k);
    check_edge(k, &k->facts->cls_token, "cls_token", false);
    check_edge(k, &k->facts->sep_token, "sep_token", true);
}

/* ---- vocab.txt ------------------------------------------------------------------------------------------------------ */

/* Which of the special tokens have a line of their own; the reference appends the others behind the last id. */
struct line_count {
    uint64_t lines;
    struct tn_str wanted[SPECIALS];
    bool there[SPECIALS];
    uint64_t id[SPECIALS];
};

static void see_line(struct line_count *c, struct tn_str line)
{
    while (line.n > 0 && (line.s[line.n - 1] == '\r' || line.s[line.n - 1] == ' ' || line.s[line.n - 1] == '\t')) line.n--;
    for (size_t i = 0; i < SPECIALS; i++) {
        if (!tn_str_eq(line, c->wanted[i])) continue;
        c->there[i] = true;
        c->id[i] = c->lines;
    }
    c->lines++;
}

static void see_lines(struct line_count *c, struct tn_str text)
{
    for (size_t at = 0; at < text.n;) {
        const char *end = memchr(text.s + at, '\n', text.n - at);
        size_t n = end ? (size_t)(end - text.s) - at : text.n - at;
        see_line(c, (struct tn_str){text.s + at, n});
        at += n + 1;
    }
}

/* The lines themselves, or else the first special token that would go behind the last row. */
static void check_rows(const struct tn_tokenizer_check *k, const struct line_count *c)
{
    uint64_t rows = rows_of(k), ids = c->lines;
    const char *beyond = NULL;
    for (size_t i = 0; i < SPECIALS; i++) {
        if (c->wanted[i].n == 0 || c->there[i]) continue;
        if (ids++ >= rows && !beyond) beyond = specials[i].key;
    }
    if (rows == 0 || ids <= rows) return;
    struct tn_finding *f = refuse_beyond(k, k->facts->vocab_txt, ids - 1);
    if (c->lines <= rows && beyond && is_own(k)) at_token(k, f, beyond);
}

void tn_tokenizer_check_lines(const struct tn_tokenizer_check *k)
{
    struct line_count count = {.lines = 0};
    struct tn_str text;
    struct tn_builder *b = k->b;
    const struct tn_package_file *file = tn_inventory_file(b->inv, k->facts->vocab_txt);
    if (!file || file->malformed) return; /* the inventory said what is wrong with it */
    for (size_t i = 0; i < SPECIALS; i++) count.wanted[i] = *token_of(k, i);
    tn_error_clear(b->scratch);
    enum tn_status status = tn_inventory_read(b->inv, k->facts->vocab_txt, &text, b->scratch);
    if (status != TN_OK) {
        tn_builder_report(b, status);
        return;
    }
    see_lines(&count, text);
    tn_free(b->inv->ctx->alloc, (void *)(uintptr_t)text.s);
    check_rows(k, &count);
    for (size_t i = 0; i < SPECIALS; i++)
        if (specials[i].offset == offsetof(struct tn_tokenizer_facts, pad_token) && count.there[i]) check_pad(k, count.id[i]);
}
