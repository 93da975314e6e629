/*
 * What genai_config.json says, tenon understands and the standard's form cannot say: it is lost with the contract, like a
 * key that is dropped, and stands in the same list. Special tokens go by role, id and text there, one for each role, so
 * that an id needs a tokenizer.json which has a text for it; and one window is that of all layers.
 *
 * Ids and files are untrusted. An id that was refused before is no loss: it has its finding.
 */
#include "describe/dialect/genai.h"

#include <stdio.h>
#include <string.h>

#define TOKEN_ID "_token_id"

static bool is_refused(const struct tn_genai *g, const char *pointer)
{
    const struct tn_findings *all = &g->b->d->findings;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].severity == TN_BLOCKER && strncmp(all->items[i].element, pointer, strlen(pointer)) == 0) return true;
    return false;
}

/* ---- the tokenizer's file ---------------------------------------------------------------------------------------- */

static const char *algorithm_of(struct tn_json root)
{
    static const char *const names[][2] = {
        {"BPE", "bpe"}, {"Unigram", "unigram"}, {"WordPiece", "wordpiece"}, {"WordLevel", "wordlevel"}};
    struct tn_str type = tn_tokenizer_model_type(root);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (tn_str_is(type, names[i][0])) return names[i][1];
    return NULL;
}

/* A text of the vocabulary for every id that is wanted; added tokens hold, whatever the model says of the same id. */
static void meet(struct tn_genai_tokenizer *t, struct tn_str content, uint64_t id)
{
    if (id < UINT64_MAX && id >= t->size) t->size = id + 1;
    for (size_t i = 0; i < t->special_count; i++)
        if (t->special[i].id == id && t->special[i].content.n == 0) t->special[i].content = content;
}

static void scan(struct tn_genai *g, struct tn_json root)
{
    struct tn_genai_tokenizer *t = &g->tokenizer;
    struct tn_json list = tn_json_find(root, "/model/vocab");
    struct tn_added_list added;
    bool array = tn_json_is(list, TN_JSON_ARRAY); /* Unigram: the position is the id */
    uint64_t position = 0, id;
    struct tn_str token;
    if (!tn_added_list_init(&added, g->b, root)) return;
    for (size_t i = 0; i < added.count; i++) meet(t, added.items[i].content, added.items[i].id);
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), position++) {
        token = tn_json_key(v);
        id = position;
        if (array ? tn_json_str(tn_json_first(v), &token) : tn_json_u64(v, &id)) meet(t, token, id);
    }
    tn_added_list_release(&added, g->b);
    for (size_t i = 0; i < t->special_count; i++) t->special[i].content = tn_builder_str(g->b, t->special[i].content);
}

/* What is wrong with the file itself was said where the tokenizer was described. */
static void read_file(struct tn_genai *g, struct tn_str folder)
{
    struct tn_genai_tokenizer *t = &g->tokenizer;
    struct tn_json_doc doc = {0};
    struct tn_str path = tn_builder_join(g->b, folder, "tokenizer.json");
    const struct tn_package_file *file = g->b->failed == TN_OK ? tn_inventory_file(g->b->inv, path) : NULL;
    t->unread = file || is_refused(g, "/model/tokenizer_dir");
    if (!file) return;
    t->path = path;
    if (file->malformed) return;
    tn_error_clear(g->b->scratch);
    enum tn_status status = tn_inventory_json(g->b->inv, path, &doc, g->b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(g->b);
    if (status) return;
    t->algorithm = algorithm_of(tn_json_root(&doc));
    t->byte_level = tn_tokenizer_has_bytes(tn_json_root(&doc));
    scan(g, tn_json_root(&doc));
    t->unread = false;
    tn_json_release(&doc);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static bool is_id(const struct tn_genai *g, struct tn_json v, uint64_t *id)
{
    return tn_json_u64(v, id) && *id <= UINT32_MAX && (!g->vocabulary.present || *id < g->vocabulary.value);
}

static void lose(struct tn_genai *g, struct tn_json v, const char *reason)
{
    char pointer[256];
    tn_genai_lose(g, v, tn_json_pointer(v, pointer, sizeof(pointer)), reason);
}

/* Of a list the first has the role; one that stands there again is no other. */
static void want(struct tn_genai *g, struct tn_json v)
{
    struct tn_genai_tokenizer *t = &g->tokenizer;
    struct tn_json list = v;
    bool several = tn_json_is(v, TN_JSON_ARRAY);
    uint64_t id, other;
    if (several) v = tn_json_first(v);
    if (t->special_count == TN_GENAI_TOKENS || !is_id(g, v, &id)) return;
    struct tn_str key = tn_json_key(list);
    t->special[t->special_count++] = (struct tn_genai_token){
        .role = {key.s, key.n - (sizeof(TOKEN_ID) - 1)}, .id = id, .content = TN_STR(""), .at = v};
    if (!several || tn_json_count(list) > TN_GENAI_IDS) return;
    for (struct tn_json e = tn_json_next(v); tn_json_present(e); e = tn_json_next(e))
        if (is_id(g, e, &other) && other != id) lose(g, e, "the standard has one token for each role, and this is another");
}

static bool is_sayable(const struct tn_genai_tokenizer *t, const struct tn_genai_token *s)
{
    return t->path.n > 0 && t->algorithm && s->content.n > 0;
}

static const char *reason_of(const struct tn_genai_tokenizer *t)
{
    if (t->path.n == 0) return "the standard states a token with its text, and no tokenizer.json says which that is";
    return "the standard states a token with its text, and the tokenizer.json of the package has none of this id";
}

static void take_tokens(struct tn_genai *g, struct tn_str folder)
{
    struct tn_genai_tokenizer *t = &g->tokenizer;
    size_t kept = 0;
    for (struct tn_json v = tn_json_first(g->model); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str names[] = {TN_STR("model"), tn_json_key(v)};
        const struct tn_genai_key *key = tn_genai_key_of(names, 2);
        bool token = key && (key->kind == TN_GENAI_ID || key->kind == TN_GENAI_IDS_KIND);
        if (token && tn_str_ends(tn_json_key(v), TOKEN_ID)) want(g, v);
    }
    read_file(g, folder);
    if (t->unread) g->hole = true;
    for (size_t i = 0; i < t->special_count && g->b->failed == TN_OK; i++) {
        if (is_sayable(t, &t->special[i])) t->special[kept++] = t->special[i];
        else if (!t->unread) lose(g, t->special[i].at, reason_of(t));
    }
    t->special_count = kept;
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

bool tn_genai_one_window(const struct tn_genai *g)
{
    bool all = g->window.present && g->layers.present;
    for (uint32_t i = 0; all && i < g->layers.value; i++) all = tn_genai_layer_of(g, i).windowed;
    return all;
}

/* Which layers have the window is not known where the lists that say it were refused. */
static bool is_doubtful(const struct tn_genai *g)
{
    return is_refused(g, "/model/decoder/sliding_window/layers") || is_refused(g, "/model/decoder/layer_types") ||
           is_refused(g, "/model/decoder/num_hidden_layers");
}

static void take_attention(struct tn_genai *g)
{
    static const char without[] = "the standard states attention by its heads and by those of keys and values, and one number is missing";
    /* a number that was refused is no missing one */
    bool stated = (g->heads.present || is_refused(g, "/model/decoder/num_attention_heads")) &&
                  (g->kv_heads.present || is_refused(g, "/model/decoder/num_key_value_heads"));
    const struct tn_genai_size *const sizes[] = {&g->heads, &g->kv_heads, &g->head_size};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !stated; i++)
        if (sizes[i]->present) lose(g, sizes[i]->at, without);
    if (!g->window.present) return;
    if (!stated) lose(g, g->window.at, without);
    else if (!tn_genai_one_window(g) && !is_doubtful(g))
        lose(g, g->window.at, "the standard has one window for all layers, and this one is of some");
}

void tn_genai_take_unsaid(struct tn_genai *g, struct tn_str folder)
{
    take_tokens(g, folder);
    take_attention(g);
}
