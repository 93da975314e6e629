/*
 * The finished description against its tokenizer as it is built: what would make a load fail, or every request, is found
 * here, where every assessment sees it. Knows nothing of how tokenizers are built; that comes in by the options.
 *
 * Only of packages with an encoder: nobody asks for the task of a folder that holds a tokenizer and nothing else.
 */
#include "describe/builder.h"
#include "describe/package_document.h"

#include <string.h>

/* ---- where it is stated ------------------------------------------------------------------------------------------- */

static const struct tn_fact *fact_of(const struct tn_builder *b, const char *name)
{
    for (size_t i = 0; i < b->fact_count; i++)
        if (b->facts[i].origin == TN_FROM_FILE && tn_str_is(b->facts[i].name, name)) return &b->facts[i];
    return NULL;
}

/* In our own document by its pointer, in a convention's by the fact that was read from it. */
static void at_statement(const struct tn_builder *b, struct tn_finding *f, const char *pointer, const char *fact)
{
    struct tn_json v = tn_json_find(tn_json_root(&b->d->content), pointer);
    const struct tn_fact *from = fact_of(b, fact);
    if (tn_json_present(v)) tn_at_json(f, v);
    else if (from && from->file.n) tn_at_pointer(f, from->file, from->pointer);
    else if (b->d->chain_document.n) tn_at_file(f, b->d->chain_document);
}

static enum tn_status code_of(const struct tn_builder *b)
{
    return tn_json_present(tn_json_root(&b->d->content)) ? TN_METADATA_INVALID : TN_UNSUPPORTED_CONFIG;
}

/* ---- lengths ------------------------------------------------------------------------------------------------------- */

struct stated_length {
    uint64_t tokens; /* 0: not stated */
    const char *pointer, *fact;
};

static void check_length(struct tn_builder *b, const struct stated_length *l, uint64_t special, const char *of)
{
    if (l->tokens == 0 || l->tokens >= special) return;
    struct tn_finding *f = tn_blocker(b, code_of(b), "no text fits: the length leaves no room for the tokens around %s", of);
    at_statement(b, f, l->pointer, l->fact);
    tn_found(f, "%llu", (unsigned long long)l->tokens);
    tn_expected(f, "at least %llu, the special tokens of the post-processor", (unsigned long long)special);
    tn_remedy(f, "correct the length, or take the tokenizer that the package was made with");
}

static void check_lengths(struct tn_builder *b, const struct tn_tokenizer_judgement *j)
{
    const struct tn_description *d = b->d;
    const struct stated_length all = {d->max_seq_length, "/max_seq_length", "max_seq_length"};
    bool pairs = d->head && d->head->cross_encoder;
    check_length(b, &all, j->special[pairs], pairs ? "a pair" : "a text");
    if (!d->multi) return;
    const struct tn_expansion *x = &d->multi->expansion;
    const struct stated_length of_roles[] = {
        {d->multi->length[TN_OF_QUERY], "/multi_vector/query_length", "multi_vector.query_length"},
        {d->multi->length[TN_OF_DOCUMENT], "/multi_vector/document_length", "multi_vector.document_length"},
        {x->fixed ? x->length : 0, "/multi_vector/expansion/length", "multi_vector.expansion.length"},
    };
    for (size_t i = 0; i < sizeof(of_roles) / sizeof(of_roles[0]); i++) check_length(b, &of_roles[i], j->special[0], "a text");
}

/* ---- words ---------------------------------------------------------------------------------------------------------- */

/* The token that fills queries up, where they are, and the tokens that are left out. */
static bool list_words(struct tn_builder *b, struct tn_tokenizer_judgement *j)
{
    const struct tn_multi_vector *m = b->d->multi;
    if (!m) return true;
    struct tn_str *words = tn_builder_array(b, (size_t)m->skip_count + 1, sizeof(*words));
    j->known = tn_builder_array(b, (size_t)m->skip_count + 1, sizeof(*j->known));
    if (!words || !j->known) return false;
    words[j->word_count++] = m->expansion.token;
    for (uint32_t i = 0; i < m->skip_count; i++) words[j->word_count++] = m->skip[i];
    j->words = words;
    return true;
}

static void check_words(struct tn_builder *b, const struct tn_tokenizer_judgement *j)
{
    const struct tn_multi_vector *m = b->d->multi;
    size_t missing = 0, first = 0;
    if (!m) return;
    if (m->expansion.length && m->expansion.token.n && !j->known[0]) {
        struct tn_finding *f = tn_blocker(b, code_of(b), "the token that fills queries up is not in the vocabulary");
        at_statement(b, f, "/multi_vector/expansion/token", "multi_vector.expansion.token");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(m->expansion.token));
        tn_expected(f, "a token of the vocabulary, commonly the mask token");
        tn_remedy(f, "correct the token, or take the tokenizer that the package was made with");
    }
    for (size_t i = j->word_count; i-- > 1;)
        if (!j->known[i]) missing++, first = i;
    if (missing == 0) return;
    struct tn_finding *f = tn_warning(b, code_of(b), "words that are to be skipped are no tokens of the vocabulary");
    at_statement(b, f, "/multi_vector/skip", "multi_vector.skip");
    tn_found(f, "%zu of %u, the first is \"%.*s\"", missing, (unsigned)m->skip_count, TN_FMT_ARG(j->words[first]));
    tn_expected(f, "tokens of the vocabulary; the others are left out, as in the library");
}

/* ---- all of it ------------------------------------------------------------------------------------------------------ */

void tn_judge_description(struct tn_builder *b)
{
    struct tn_description *d = b->d;
    struct tn_tokenizer_judgement j = {0};
    struct tn_json file = {NULL, 0};
    if (b->failed != TN_OK || !b->options->judge || !d->tokenizer.present || d->tokenizer.refused || d->component_count == 0) return;
    bool lines = d->tokenizer.source == TN_TOKENIZER_VOCAB;
    if (!tn_builder_has(b, lines ? d->tokenizer.vocab_txt : d->tokenizer.tokenizer_json)) return; /* said already */
    if (!lines && !tn_builder_tokenizer(b, d->tokenizer.tokenizer_json, &file)) return;
    if (!list_words(b, &j)) return;
    size_t before = d->findings.blockers;
    tn_error_clear(b->scratch);
    enum tn_status st = b->options->judge(d, file, &j, &d->findings, b->scratch);
    if (st) {
        tn_builder_report(b, st);
    } else if (d->findings.blockers > before) {
        d->tokenizer.refused = true;
    } else {
        check_lengths(b, &j);
        check_words(b, &j);
    }
}
