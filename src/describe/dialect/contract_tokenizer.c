/*
 * The tokenizer of a contract that leads to our own document: its algorithm, its files, its ids and its special tokens,
 * against the vocabulary that the component reads. Both documents and the vocabulary are untrusted; the work is one pass
 * over the vocabulary with a binary search among the special tokens that are stated.
 *
 * The surprising decision: a number of ids is right when it counts the tokens, and also when it is one more than the
 * largest id. A vocabulary with holes has two sizes, and libraries give either.
 */
#include "base/sort.h"
#include "describe/dialect/contract.h"
#include "describe/package_document.h"

#include <string.h>

/* A special token that the contract states, looked for in the vocabulary. */
struct wanted {
    const struct tn_std_special_token *stated;
    bool found;
    uint64_t id;
};

struct held {
    struct tn_builder *b;
    const struct tn_std_tokenizer *stated;
    const struct tn_tokenizer_facts *facts;
    struct wanted *wanted; /* by content */
    size_t wanted_count;
    uint64_t count, end; /* tokens, and one more than the largest id */
};

static int by_content(const void *a, const void *b, void *context)
{
    (void)context;
    return tn_str_order(((const struct wanted *)a)->stated->content.name, ((const struct wanted *)b)->stated->content.name);
}

static bool want(struct held *h)
{
    h->wanted = tn_calloc(h->b->alloc, h->stated->special_count ? h->stated->special_count : 1, sizeof(*h->wanted));
    if (!h->wanted) {
        tn_builder_no_memory(h->b);
        return false;
    }
    for (size_t i = 0; i < h->stated->special_count; i++)
        if (tn_json_present(h->stated->special[i].content.at)) h->wanted[h->wanted_count++].stated = &h->stated->special[i];
    tn_sort(h->wanted, h->wanted_count, sizeof(*h->wanted), by_content, NULL);
    return true;
}

/* A token of the vocabulary; several roles may be one token. Which id a token has is settled by the first that names it. */
static void meet(struct held *h, struct tn_str token, uint64_t id)
{
    size_t low = 0, high = h->wanted_count;
    if (id >= h->end) h->end = id == UINT64_MAX ? id : id + 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tn_str_order(h->wanted[middle].stated->content.name, token) < 0) low = middle + 1;
        else high = middle;
    }
    for (; low < h->wanted_count && tn_str_eq(h->wanted[low].stated->content.name, token) && !h->wanted[low].found; low++) {
        h->wanted[low].found = true;
        h->wanted[low].id = id;
    }
}

/* ---- the vocabulary ---------------------------------------------------------------------------------------------- */

static void scan_document(struct held *h, struct tn_json root)
{
    struct tn_json list = tn_json_find(root, "/model/vocab");
    struct tn_added_list added;
    bool array = tn_json_is(list, TN_JSON_ARRAY); /* Unigram: the position is the id */
    uint64_t position = 0, twice = 0, id;
    struct tn_str token;
    if (!tn_added_list_init(&added, h->b, root)) return;
    /* What was added holds, whatever the model says of the same token. */
    for (size_t i = 0; i < added.count; i++) meet(h, added.items[i].content, added.items[i].id);
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), position++) {
        token = tn_json_key(v);
        id = position;
        if (array ? !tn_json_str(tn_json_first(v), &token) : !tn_json_u64(v, &id)) continue;
        if (tn_added_by_content(&added, token)) twice++;
        meet(h, token, id);
    }
    h->count = position + added.count - twice;
    tn_added_list_release(&added, h->b);
}

static void scan_lines(struct held *h, struct tn_str text)
{
    for (size_t at = 0; at < text.n; h->count++) {
        const char *end = memchr(text.s + at, '\n', text.n - at);
        struct tn_str line = {text.s + at, end ? (size_t)(end - text.s) - at : text.n - at};
        at += line.n + 1;
        while (line.n > 0 && (line.s[line.n - 1] == '\r' || line.s[line.n - 1] == ' ' || line.s[line.n - 1] == '\t')) line.n--;
        meet(h, line, h->count);
    }
}

/* ---- algorithm and files ----------------------------------------------------------------------------------------- */

/* "BPE", "bpe"; "WordPiece", "word_piece": spellings of one name. */
static bool same_name(struct tn_str a, struct tn_str b)
{
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.n && (a.s[i] == '_' || a.s[i] == '-')) i++;
        while (k < b.n && (b.s[k] == '_' || b.s[k] == '-')) k++;
        if (i == a.n || k == b.n) return i == a.n && k == b.n;
        char x = a.s[i++], y = b.s[k++];
        if (x >= 'A' && x <= 'Z') x = (char)(x - 'A' + 'a');
        if (y >= 'A' && y <= 'Z') y = (char)(y - 'A' + 'a');
        if (x != y) return false;
    }
}

static struct tn_finding *contradiction(struct held *h, struct tn_json v)
{
    if (tn_doc_is_touched(&h->b->d->standard.marks, v)) return NULL;
    struct tn_finding *f = tn_blocker(h->b, TN_METADATA_INVALID, "the contract and the tokenizer of the package contradict each other");
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    return f;
}

static struct tn_str file_of(const struct held *h)
{
    return h->facts->source == TN_TOKENIZER_VOCAB ? h->facts->vocab_txt : h->facts->tokenizer_json;
}

static void compare_algorithm(struct held *h, struct tn_str type)
{
    if (!tn_json_present(h->stated->algorithm.at) || same_name(h->stated->algorithm.name, type)) return;
    tn_expected(contradiction(h, h->stated->algorithm.at), "%.*s, by %.*s", TN_FMT_ARG(type), TN_FMT_ARG(file_of(h)));
}

static void compare_bytes(struct held *h, bool bytes)
{
    struct tn_json v = tn_json_get(h->stated->at, "byte_level");
    bool stated;
    if (!tn_json_bool(v, &stated) || stated == bytes) return;
    tn_expected(contradiction(h, v), "%s, by %.*s", bytes ? "true" : "false", TN_FMT_ARG(file_of(h)));
}

/* The component's tokenizer is one file; what else it depends on stands in our own document. */
static void compare_files(struct held *h)
{
    for (size_t i = 0; i < h->stated->artifacts.count; i++) {
        const struct tn_std_ref *ref = &h->stated->artifacts.items[i];
        struct tn_str path;
        tn_error_clear(h->b->scratch);
        enum tn_status status = tn_package_reference(&h->b->d->arena, TN_STR(""), ref->name, &path, h->b->scratch);
        if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(h->b);
        if (status || tn_str_eq(path, file_of(h))) continue; /* one that leaves the package was refused with the contract */
        tn_expected(tn_contract_contradiction(h->b, ref->at), "%.*s, by " TN_PACKAGE_FILE "#/tokenizer", TN_FMT_ARG(file_of(h)));
    }
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

static void compare_size(struct held *h)
{
    const struct tn_std_count *stated = &h->stated->vocab_size;
    if (!stated->present || stated->value == h->count || stated->value == h->end) return;
    tn_expected(contradiction(h, stated->at), "%llu, by %.*s", (unsigned long long)h->count, TN_FMT_ARG(file_of(h)));
}

/* The roles that our own document has, too. */
static const struct {
    const char *role, *key;
    size_t offset; /* in struct tn_tokenizer_facts */
} roles[] = {
    {"unk", "unk_token", offsetof(struct tn_tokenizer_facts, unk_token)},
    {"cls", "cls_token", offsetof(struct tn_tokenizer_facts, cls_token)},
    {"sep", "sep_token", offsetof(struct tn_tokenizer_facts, sep_token)},
    {"pad", "pad_token", offsetof(struct tn_tokenizer_facts, pad_token)},
    {"mask", "mask_token", offsetof(struct tn_tokenizer_facts, mask_token)},
};

/* False after a finding: then the id would say the same again. */
static bool compare_content(struct held *h, const struct tn_std_special_token *s)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        struct tn_str token = *(const struct tn_str *)((const char *)h->facts + roles[i].offset);
        if (!tn_str_is(s->role, roles[i].role) && !tn_str_is(s->role, roles[i].key)) continue;
        if (tn_str_eq(token, s->content.name)) return true;
        tn_expected(tn_contract_contradiction(h->b, s->content.at), "\"%.*s\", by " TN_PACKAGE_FILE "#/tokenizer/%s",
                    TN_FMT_ARG(token), roles[i].key);
        return false;
    }
    return true;
}

/* Whether the document gives the text another id as well: then it has been refused for that. */
static bool has_two_ids(const struct held *h, const struct tn_std_special_token *s)
{
    for (size_t i = 0; i < h->wanted_count; i++) {
        const struct tn_std_special_token *other = h->wanted[i].stated;
        if (other->id.present && other->id.value != s->id.value && tn_str_eq(other->content.name, s->content.name)) return true;
    }
    return false;
}

static void compare_special(struct held *h)
{
    for (size_t i = 0; i < h->wanted_count; i++) {
        const struct wanted *w = &h->wanted[i];
        if (!compare_content(h, w->stated)) continue;
        if (!w->found)
            tn_expected(contradiction(h, w->stated->content.at), "a token of %.*s", TN_FMT_ARG(file_of(h)));
        else if (w->stated->id.present && w->stated->id.value != w->id && !has_two_ids(h, w->stated))
            tn_expected(contradiction(h, w->stated->id.at), "%llu, the id of \"%.*s\" by %.*s", (unsigned long long)w->id,
                        TN_FMT_ARG(w->stated->content.name), TN_FMT_ARG(file_of(h)));
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool read_document(struct held *h)
{
    struct tn_json root;
    if (!tn_builder_tokenizer(h->b, h->facts->tokenizer_json, &root)) return false;
    compare_algorithm(h, h->facts->source == TN_TOKENIZER_CLASS ? TN_STR("WordPiece") : tn_tokenizer_model_type(root));
    compare_bytes(h, h->facts->source == TN_TOKENIZER_FILE && tn_tokenizer_has_bytes(root));
    scan_document(h, root);
    return true;
}

static bool read_lines(struct held *h)
{
    struct tn_str text;
    tn_error_clear(h->b->scratch);
    enum tn_status status = tn_inventory_read(h->b->inv, h->facts->vocab_txt, &text, h->b->scratch);
    if (status != TN_OK) {
        tn_builder_report(h->b, status);
        return false;
    }
    compare_algorithm(h, TN_STR("WordPiece"));
    compare_bytes(h, false);
    scan_lines(h, text);
    tn_free(h->b->inv->ctx->alloc, (void *)(uintptr_t)text.s);
    return true;
}

void tn_contract_tokenizer(struct tn_builder *b)
{
    struct held h = {.b = b, .stated = &b->d->standard.tokenizer, .facts = &b->d->tokenizer};
    if (!tn_json_present(h.stated->at) || b->d->component_count == 0 || b->failed != TN_OK) return;
    if (!h.facts->present && !tn_contract_refused_below(b, "/tokenizer"))
        tn_expected(tn_contract_contradiction(b, h.stated->at), "no tokenizer, by " TN_PACKAGE_FILE "#/tokenizer");
    if (!h.facts->present || h.facts->refused || !want(&h)) return;
    if (h.facts->source == TN_TOKENIZER_VOCAB ? read_lines(&h) : read_document(&h)) {
        compare_files(&h);
        compare_size(&h);
        compare_special(&h);
    }
    tn_free(b->alloc, h.wanted);
}
