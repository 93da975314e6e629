/*
 * The tokenizer's vocabulary as far as the description needs it: ids that fit the embedding table, and added tokens on
 * which tokenizer.json and tokenizer_config.json agree. What the reference would silently add to a tokenizer while
 * loading is refused: no file of the package holds those ids. Inputs are untrusted; all work is bounded by sorting.
 */
#include "describe/builder.h"
#include "base/sort.h"

#include <string.h>

/* ---- ids -------------------------------------------------------------------------------------------------------- */

static void meet(struct tn_tokenizer_vocabulary *v, uint64_t id, struct tn_json place)
{
    if (tn_json_present(v->place) && id <= v->largest) return;
    v->largest = id;
    v->place = place;
}

static void scan(const struct tn_tokenizer_reader *r, struct tn_tokenizer_vocabulary *s)
{
    struct tn_json root = tn_json_root(&r->file), list = tn_json_find(root, "/model/vocab");
    const struct tn_tokenizer_facts *t = r->facts;
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
    list = tn_json_get(root, "added_tokens");
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v))
        if (tn_json_u64(tn_json_get(v, "id"), &id)) meet(s, id, tn_json_get(v, "id"));
}

/* An id beyond the embedding table would be an out-of-range read in the reference; here it is found beforehand. */
static void check_table(struct tn_tokenizer_reader *r, uint64_t largest, struct tn_str file, struct tn_json place)
{
    if (!r->hints->component) return;
    const struct tn_value *rows = tn_component_value(r->hints->component, "vocab_size");
    if (!rows->present || rows->u == 0 || largest < rows->u) return;
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_CONFIG, "ids in %.*s go beyond vocab_size of config.json",
                                      TN_FMT_ARG(file));
    if (tn_json_present(place)) tn_at_json(f, place);
    else tn_at_file(f, file);
    tn_found(f, "id %llu", (unsigned long long)largest);
    tn_expected(f, "ids below vocab_size %llu", (unsigned long long)rows->u);
}

struct tn_tokenizer_vocabulary tn_tokenizer_scan_vocabulary(struct tn_tokenizer_reader *r)
{
    struct tn_tokenizer_vocabulary vocabulary = {0};
    scan(r, &vocabulary);
    if (tn_json_present(vocabulary.place))
        check_table(r, vocabulary.largest, r->facts->tokenizer_json, vocabulary.place);
    return vocabulary;
}

/* ---- added tokens ----------------------------------------------------------------------------------------------- */

struct added {
    uint64_t id;
    struct tn_str content;
    struct tn_json token;
};

struct added_list {
    struct added *items;
    size_t count;
};

static int by_id(const void *a, const void *b, void *context)
{
    (void)context;
    uint64_t x = ((const struct added *)a)->id, y = ((const struct added *)b)->id;
    return x < y ? -1 : x > y;
}

static int by_content(const void *a, const void *b, void *context)
{
    (void)context;
    return tn_str_order(((const struct added *)a)->content, ((const struct added *)b)->content);
}

static const struct added *find(const struct added_list *list, const struct added *key, tn_order_fn *order)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int side = order(key, &list->items[middle], NULL);
        if (side == 0) return &list->items[middle];
        if (side < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

/* The well-formed added tokens of tokenizer.json; src/text refuses the others. False without memory. */
static bool list_added(struct tn_tokenizer_reader *r, struct added_list *list)
{
    struct tn_json tokens = tn_json_get(tn_json_root(&r->file), "added_tokens");
    *list = (struct added_list){tn_calloc(r->b->alloc, tn_json_count(tokens), sizeof(struct added)), 0};
    if (!list->items) {
        tn_builder_no_memory(r->b);
        return false;
    }
    for (struct tn_json v = tn_json_first(tokens); tn_json_present(v); v = tn_json_next(v)) {
        struct added *item = &list->items[list->count];
        item->token = v;
        if (tn_json_u64(tn_json_get(v, "id"), &item->id) && tn_json_str(tn_json_get(v, "content"), &item->content))
            list->count++;
    }
    return true;
}

static bool same_flag(struct tn_json a, struct tn_json b, const char *key, bool special)
{
    bool normalized = strcmp(key, "normalized") == 0; /* AddedToken's default: text is normalised unless special */
    bool x = normalized && !special, y = x;
    (void)tn_json_bool(tn_json_get(a, key), &x);
    (void)tn_json_bool(tn_json_get(b, key), &y);
    return x == y;
}

static bool same_token(struct tn_json a, struct tn_json b)
{
    static const char *const flags[] = {"special", "normalized", "lstrip", "rstrip", "single_word"};
    struct tn_str x, y;
    bool special = false;
    (void)tn_json_bool(tn_json_get(a, "special"), &special);
    if (!tn_json_str(tn_json_get(a, "content"), &x) || !tn_json_str(tn_json_get(b, "content"), &y)) return false;
    if (!tn_str_eq(x, y)) return false;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (!same_flag(a, b, flags[i], special)) return false;
    return true;
}

static void added_differs(struct tn_tokenizer_reader *r, struct tn_json v, const char *what)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "added tokens of tokenizer_config.json and tokenizer.json differ: %s", what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_remedy(f, "save the tokenizer again, so that both files are of one state");
}

static bool decimal_key(struct tn_str key, uint64_t *id)
{
    double number;
    if (key.n == 0 || key.n > 18 || !tn_parse_f64(key, &number) || number < 0) return false;
    *id = (uint64_t)number;
    return (double)*id == number;
}

/* added_tokens_decoder {"103": {...}} against added_tokens [{"id": 103, ...}]. */
static void compare_decoder(struct tn_tokenizer_reader *r, const struct added_list *list)
{
    struct tn_json decoder = tn_json_get(tn_json_root(&r->config), "added_tokens_decoder");
    size_t matched = 0;
    if (tn_json_type(decoder) == TN_JSON_NULL) return;
    for (struct tn_json v = tn_json_first(decoder); tn_json_present(v); v = tn_json_next(v)) {
        struct added key = {.id = 0};
        const struct added *item = decimal_key(tn_json_key(v), &key.id) ? find(list, &key, by_id) : NULL;
        if (!item) added_differs(r, v, "one is missing in tokenizer.json");
        else if (!same_token(v, item->token)) added_differs(r, v, "one has other contents or flags");
        else matched++;
    }
    if (!r->class->from_file && matched < list->count)
        added_differs(r, decoder, "tokenizer.json has more, which the class would not load");
}

static void need_added(struct tn_tokenizer_reader *r, const struct added_list *list, struct tn_str token,
                       const char *key)
{
    struct added wanted = {.content = token};
    if (token.n == 0 || find(list, &wanted, by_content)) return;
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "%s is no added token of tokenizer.json; the reference would add it", key);
    tn_at_pointer(f, r->facts->tokenizer_json, TN_STR("/added_tokens"));
    tn_found(f, "no entry \"%.*s\"", TN_FMT_ARG(token));
    tn_remedy(f, "save the tokenizer again");
}

static struct tn_json extra_tokens(const struct tn_tokenizer_reader *r, const char *key)
{
    struct tn_json map = tn_json_get(tn_json_root(&r->map), key);
    return tn_tokenizer_map_counts(r) && tn_json_present(map) ? map : tn_json_get(tn_json_root(&r->config), key);
}

/* additional_special_tokens and extra_special_tokens: texts, or objects with a content, that become special tokens. */
static void need_extra(struct tn_tokenizer_reader *r, const struct added_list *list, const char *key)
{
    struct tn_json extra = extra_tokens(r, key);
    struct tn_str text;
    for (struct tn_json v = tn_json_first(extra); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_json content = tn_json_is(v, TN_JSON_OBJECT) ? tn_json_get(v, "content") : v;
        if (tn_json_str(content, &text)) need_added(r, list, text, key);
        else added_differs(r, v, "an entry is no token");
    }
}

void tn_tokenizer_compare_added(struct tn_tokenizer_reader *r)
{
    const struct tn_tokenizer_facts *t = r->facts;
    struct added_list list;
    if (!list_added(r, &list)) return;
    tn_sort(list.items, list.count, sizeof(*list.items), by_id, NULL);
    compare_decoder(r, &list);
    tn_sort(list.items, list.count, sizeof(*list.items), by_content, NULL);
    need_added(r, &list, t->unk_token, "unk_token");
    need_added(r, &list, t->cls_token, "cls_token");
    need_added(r, &list, t->sep_token, "sep_token");
    need_added(r, &list, t->pad_token, "pad_token");
    need_added(r, &list, t->mask_token, "mask_token");
    need_extra(r, &list, "additional_special_tokens");
    need_extra(r, &list, "extra_special_tokens");
    tn_free(r->b->alloc, list.items);
}

/* ---- vocab.txt alone -------------------------------------------------------------------------------------------- */

static void refuse_without_file(struct tn_tokenizer_reader *r, struct tn_str place, const char *what)
{
    struct tn_finding *f = tn_blocker(r->b, TN_UNSUPPORTED_PROCESSOR, "%s, and there is no tokenizer.json", what);
    tn_at_file(f, place);
    tn_expected(f, "tokenizer.json");
    tn_remedy(f, "load it with transformers and save_pretrained(), which writes tokenizer.json");
}

/* Which of the special tokens have a line of their own; the reference appends the others behind the last id. */
struct line_count {
    uint64_t lines;
    struct tn_str wanted[5];
    bool there[5];
};

static void see_line(struct line_count *c, struct tn_str line)
{
    while (line.n > 0 && (line.s[line.n - 1] == '\r' || line.s[line.n - 1] == ' ' || line.s[line.n - 1] == '\t')) line.n--;
    for (size_t i = 0; i < 5; i++) c->there[i] |= tn_str_eq(line, c->wanted[i]);
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

static void check_lines(struct tn_tokenizer_reader *r)
{
    const struct tn_tokenizer_facts *t = r->facts;
    struct line_count count = {.wanted = {t->unk_token, t->cls_token, t->sep_token, t->pad_token, t->mask_token}};
    struct tn_str text;
    const struct tn_package_file *file = tn_inventory_file(r->b->inv, t->vocab_txt);
    if (!file || file->malformed) return; /* the inventory said what is wrong with it */
    tn_error_clear(r->b->scratch);
    enum tn_status status = tn_inventory_read(r->b->inv, t->vocab_txt, &text, r->b->scratch);
    if (status != TN_OK) {
        tn_builder_report(r->b, status);
        return;
    }
    see_lines(&count, text);
    tn_free(r->b->inv->ctx->alloc, (void *)(uintptr_t)text.s);
    uint64_t ids = count.lines;
    for (size_t i = 0; i < 5; i++) ids += count.wanted[i].n > 0 && !count.there[i];
    if (ids > 0) check_table(r, ids - 1, t->vocab_txt, (struct tn_json){NULL, 0});
}

void tn_tokenizer_read_vocab_txt(struct tn_tokenizer_reader *r)
{
    struct tn_str added = tn_builder_join(r->b, r->hints->folder, "added_tokens.json");
    r->facts->source = TN_TOKENIZER_VOCAB;
    if (r->class->from_file) refuse_without_file(r, r->facts->vocab_txt, "the tokenizer class loads tokenizer.json");
    if (r->b->failed == TN_OK && tn_builder_has(r->b, added))
        refuse_without_file(r, added, "tokens are added to vocab.txt");
    if (tn_json_count(extra_tokens(r, "additional_special_tokens")) > 0 ||
        tn_json_count(extra_tokens(r, "extra_special_tokens")) > 0)
        refuse_without_file(r, r->facts->tokenizer_config, "special tokens are added to vocab.txt");
    check_lines(r);
}
