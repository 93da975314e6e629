/*
 * From tokenizer facts to a tokenizer. The pipeline builder (src/text) reads one form, tokenizer.json; a package whose
 * stages come from a class, or whose vocabulary is a vocab.txt, gets such a document written for it first. The facts say
 * which; the stages are those that the facts document. Files are untrusted, src/text validates every stage.
 */
#include "base/json_write.h"
#include "session/session.h"

#include "base/utf8.h"
#include "base/sort.h"

#include <string.h>

struct maker {
    const struct tn_context *ctx;
    const struct tn_description *d;
    const struct tn_tokenizer_facts *facts;
    struct tn_json_doc file;      /* tokenizer.json, or zeroed */
    struct tn_str lines;          /* vocab.txt, or .s NULL */
    struct entry *entries;        /* of vocab.txt: sorted by token, one each */
    size_t entry_count, line_count;
    struct tn_buf text;           /* the document that is written */
    struct tn_json_writer w;
    struct tn_error *err;
};

/* ---- vocab.txt ----------------------------------------------------------------------------------------------------- */

struct entry {
    struct tn_str token;
    uint64_t id;
};

static bool is_white(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* The line without white space at its end, as the library's reader of vocab.txt takes it. */
static struct tn_str trim_end(struct tn_str line)
{
    while (line.n > 0) {
        size_t at = line.n - 1;
        uint32_t c = 0;
        while (at > 0 && ((unsigned char)line.s[at] & 0xC0) == 0x80) at--;
        if (tn_utf8_decode(line.s + at, line.n - at, &c) != line.n - at || !is_white(c)) break;
        line.n = at;
    }
    return line;
}

/* By token, the later line first. */
static int by_token(const void *a, const void *b, void *context)
{
    const struct entry *x = a, *y = b;
    int order = tn_str_order(x->token, y->token);
    (void)context;
    return order ? order : x->id > y->id ? -1 : x->id < y->id;
}

static size_t count_lines(struct tn_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) n += text.s[i] == '\n';
    return n + (text.n > 0 && text.s[text.n - 1] != '\n');
}

/* One token per line, id = line number; of a token that stands there twice the last line counts. */
static enum tn_status read_vocab(struct maker *m)
{
    enum tn_status st = tn_inventory_read(m->d->inv, m->facts->vocab_txt, &m->lines, m->err);
    if (st) return st;
    size_t valid = tn_utf8_valid_prefix(m->lines.s, m->lines.n);
    if (valid < m->lines.n) {
        struct tn_finding *f = tn_error_set(m->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD, "the vocabulary is not valid UTF-8");
        tn_at_offset(f, m->facts->vocab_txt, valid);
        return TN_ARTIFACT_MALFORMED;
    }
    m->line_count = count_lines(m->lines);
    if (m->line_count > m->ctx->limits.vocab_entries) {
        struct tn_finding *f = tn_error_set(m->err, TN_RESOURCE_LIMIT, TN_PHASE_LOAD, "the vocabulary has too many entries");
        tn_at_file(f, m->facts->vocab_txt);
        tn_found(f, "%zu lines", m->line_count);
        tn_expected(f, "at most %llu", (unsigned long long)m->ctx->limits.vocab_entries);
        return TN_RESOURCE_LIMIT;
    }
    m->entries = tn_calloc(m->ctx->alloc, m->line_count, sizeof(*m->entries));
    if (!m->entries) return tn_error_memory(m->err, TN_PHASE_LOAD, "reading the vocabulary");
    const char *at = m->lines.s, *end = m->lines.s + m->lines.n;
    for (size_t i = 0; i < m->line_count; i++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        m->entries[i] = (struct entry){trim_end((struct tn_str){at, n}), i};
        at += n + 1;
    }
    tn_sort(m->entries, m->line_count, sizeof(*m->entries), by_token, NULL);
    for (size_t i = 0; i < m->line_count; i++) {
        if (i > 0 && tn_str_eq(m->entries[i].token, m->entries[m->entry_count - 1].token)) continue;
        m->entries[m->entry_count++] = m->entries[i];
    }
    return TN_OK;
}

/* ---- ids of special tokens ------------------------------------------------------------------------------------------ */

static bool id_in_file(const struct maker *m, struct tn_str token, uint64_t *id)
{
    struct tn_json root = tn_json_root(&m->file);
    for (struct tn_json t = tn_json_first(tn_json_get(root, "added_tokens")); tn_json_present(t); t = tn_json_next(t)) {
        struct tn_str content;
        if (tn_json_str(tn_json_get(t, "content"), &content) && tn_str_eq(content, token)) {
            return tn_json_u64(tn_json_get(t, "id"), id);
        }
    }
    return tn_json_u64(tn_json_get_str(tn_json_get(tn_json_get(root, "model"), "vocab"), token), id);
}

static bool id_in_lines(const struct maker *m, struct tn_str token, uint64_t *id)
{
    size_t low = 0, high = m->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct entry wanted = {token, UINT64_MAX}; /* before every entry with this token */
        if (by_token(&m->entries[middle], &wanted, NULL) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == m->entry_count || !tn_str_eq(m->entries[low].token, token)) return false;
    *id = m->entries[low].id;
    return true;
}

/* The special tokens of the facts, each once; those that the vocabulary lacks get the next free ids, in this order. */
enum { SPECIALS = 5 };

struct specials {
    struct tn_str token[SPECIALS];
    uint64_t id[SPECIALS];
    size_t count;
};

static struct specials specials_of(const struct maker *m)
{
    const struct tn_tokenizer_facts *t = m->facts;
    const struct tn_str all[SPECIALS] = {t->unk_token, t->sep_token, t->pad_token, t->cls_token, t->mask_token};
    struct specials s = {.count = 0};
    uint64_t next = m->line_count;
    for (size_t i = 0; i < SPECIALS; i++) {
        bool seen = all[i].n == 0;
        for (size_t k = 0; k < s.count; k++) seen |= tn_str_eq(s.token[k], all[i]);
        if (seen) continue;
        s.token[s.count] = all[i];
        if (!id_in_lines(m, all[i], &s.id[s.count])) s.id[s.count] = next++;
        s.count++;
    }
    return s;
}

static bool special_id(const struct maker *m, struct tn_str token, uint64_t *id)
{
    if (m->lines.s == NULL) return id_in_file(m, token, id);
    struct specials s = specials_of(m);
    for (size_t i = 0; i < s.count; i++) {
        if (!tn_str_eq(s.token[i], token)) continue;
        *id = s.id[i];
        return true;
    }
    return false;
}

/* ---- writing the document ------------------------------------------------------------------------------------------- */

static void write_class_normalizer(struct maker *m)
{
    struct tn_json_writer *w = &m->w;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "BertNormalizer");
    tn_jw_member_bool(w, "clean_text", true);
    tn_jw_member_bool(w, "handle_chinese_chars", m->facts->tokenize_chinese_chars);
    if (m->facts->strip_accents_set) {
        tn_jw_member_bool(w, "strip_accents", m->facts->strip_accents);
    } else {
        tn_jw_member_null(w, "strip_accents");
    }
    tn_jw_member_bool(w, "lowercase", m->facts->do_lower_case);
    tn_jw_end_object(w);
}

static void write_lower_case(struct tn_json_writer *w)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "Lowercase");
    tn_jw_end_object(w);
}

/* The normaliser of the class, or `own` of the file, with the lower-case stage of the module in front. */
static void write_normalizer(struct maker *m, struct tn_json own, bool of_class)
{
    struct tn_json_writer *w = &m->w;
    bool first = m->facts->lower_case_first, none = !of_class && tn_json_is(own, TN_JSON_NULL);
    tn_jw_key(w, "normalizer");
    if (first && !none) {
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "type", "Sequence");
        tn_jw_key(w, "normalizers");
        tn_jw_begin_array(w);
    }
    if (first) write_lower_case(w);
    if (of_class) {
        write_class_normalizer(m);
    } else if (!none || !first) {
        tn_jw_raw(w, tn_json_text(own));
    }
    if (first && !none) {
        tn_jw_end_array(w);
        tn_jw_end_object(w);
    }
}

static void write_token_pair(struct tn_json_writer *w, const char *key, struct tn_str token, uint64_t id)
{
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    tn_jw_str(w, token);
    tn_jw_u64(w, id);
    tn_jw_end_array(w);
}

/* One piece of a template: "SpecialToken" or "Sequence". */
static void write_piece(struct tn_json_writer *w, const char *kind, struct tn_str id, uint64_t type)
{
    tn_jw_begin_object(w);
    tn_jw_key(w, kind);
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "id", id);
    tn_jw_member_u64(w, "type_id", type);
    tn_jw_end_object(w);
    tn_jw_end_object(w);
}

static void write_special(struct tn_json_writer *w, struct tn_str token, uint64_t id)
{
    tn_jw_key_str(w, token);
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "id", token);
    tn_jw_key(w, "ids");
    tn_jw_begin_array(w);
    tn_jw_u64(w, id);
    tn_jw_end_array(w);
    tn_jw_key(w, "tokens");
    tn_jw_begin_array(w);
    tn_jw_str(w, token);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

static void write_bert_template(struct maker *m, uint64_t cls, uint64_t sep)
{
    struct tn_json_writer *w = &m->w;
    struct tn_str c = m->facts->cls_token, s = m->facts->sep_token;
    tn_jw_member_cstr(w, "type", "TemplateProcessing");
    for (int pair = 0; pair < 2; pair++) {
        tn_jw_key(w, pair ? "pair" : "single");
        tn_jw_begin_array(w);
        write_piece(w, "SpecialToken", c, 0);
        write_piece(w, "Sequence", TN_STR("A"), 0);
        write_piece(w, "SpecialToken", s, 0);
        if (pair) write_piece(w, "Sequence", TN_STR("B"), 1);
        if (pair) write_piece(w, "SpecialToken", s, 1);
        tn_jw_end_array(w);
    }
    tn_jw_key(w, "special_tokens");
    tn_jw_begin_object(w);
    write_special(w, c, cls);
    if (!tn_str_eq(c, s)) write_special(w, s, sep);
    tn_jw_end_object(w);
}

static enum tn_status write_post_processor(struct maker *m)
{
    struct tn_json_writer *w = &m->w;
    uint64_t cls, sep;
    struct tn_str missing = m->facts->cls_token;
    bool have = special_id(m, missing, &cls);
    if (have) missing = m->facts->sep_token;
    if (!have || !special_id(m, missing, &sep)) {
        struct tn_finding *f = tn_error_set(m->err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD,
                                            "a special token that the tokenizer's class puts around texts has no id");
        tn_at_file(f, m->lines.s ? m->facts->vocab_txt : m->facts->tokenizer_json);
        tn_found(f, "no entry for \"%.*s\"", TN_FMT_ARG(missing));
        return TN_UNSUPPORTED_PROCESSOR;
    }
    tn_jw_key(w, "post_processor");
    tn_jw_begin_object(w);
    if (m->facts->pair_template == TN_TEMPLATE_TWO_SEPARATORS) {
        tn_jw_member_cstr(w, "type", "RobertaProcessing");
        write_token_pair(w, "sep", m->facts->sep_token, sep);
        write_token_pair(w, "cls", m->facts->cls_token, cls);
        tn_jw_member_bool(w, "trim_offsets", true);
        tn_jw_member_bool(w, "add_prefix_space", false);
    } else {
        write_bert_template(m, cls, sep);
    }
    tn_jw_end_object(w);
    return TN_OK;
}

static void write_added_tokens(struct maker *m)
{
    struct tn_json_writer *w = &m->w;
    struct tn_json own = tn_json_get(tn_json_root(&m->file), "added_tokens");
    tn_jw_key(w, "added_tokens");
    if (m->lines.s == NULL) {
        tn_jw_raw(w, tn_json_present(own) ? tn_json_text(own) : TN_STR("[]"));
        return;
    }
    struct specials s = specials_of(m);
    tn_jw_begin_array(w);
    for (size_t i = 0; i < s.count; i++) {
        /* The class with this template lets its mask token take the blank before it. */
        bool lstrip = m->facts->pair_template == TN_TEMPLATE_TWO_SEPARATORS && tn_str_eq(s.token[i], m->facts->mask_token);
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "id", s.id[i]);
        tn_jw_member_str(w, "content", s.token[i]);
        tn_jw_member_bool(w, "single_word", false);
        tn_jw_member_bool(w, "lstrip", lstrip);
        tn_jw_member_bool(w, "rstrip", false);
        tn_jw_member_bool(w, "normalized", false);
        tn_jw_member_bool(w, "special", true);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_model(struct maker *m)
{
    struct tn_json_writer *w = &m->w;
    tn_jw_key(w, "model");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "WordPiece");
    tn_jw_member_str(w, "unk_token", m->facts->unk_token);
    tn_jw_member_cstr(w, "continuing_subword_prefix", "##");
    tn_jw_member_u64(w, "max_input_chars_per_word", 100);
    tn_jw_key(w, "vocab");
    if (m->lines.s == NULL) {
        struct tn_json vocab = tn_json_find(tn_json_root(&m->file), "/model/vocab");
        tn_jw_raw(w, tn_json_present(vocab) ? tn_json_text(vocab) : TN_STR("{}"));
    } else {
        tn_jw_begin_object(w);
        for (size_t i = 0; i < m->entry_count; i++) {
            tn_jw_key_str(w, m->entries[i].token);
            tn_jw_u64(w, m->entries[i].id);
        }
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

/* All stages of the class around the vocabulary. */
static enum tn_status write_class_document(struct maker *m)
{
    struct tn_json_writer *w = &m->w;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "version", "1.0");
    tn_jw_member_null(w, "truncation");
    tn_jw_member_null(w, "padding");
    write_added_tokens(m);
    write_normalizer(m, (struct tn_json){NULL, 0}, true);
    tn_jw_key(w, "pre_tokenizer");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "BertPreTokenizer");
    tn_jw_end_object(w);
    enum tn_status st = write_post_processor(m);
    tn_jw_key(w, "decoder");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", "WordPiece");
    tn_jw_member_cstr(w, "prefix", "##");
    tn_jw_member_bool(w, "cleanup", true);
    tn_jw_end_object(w);
    write_model(m);
    tn_jw_end_object(w);
    return st;
}

/* The file as it stands, but for the lower-case stage in front of its normaliser. */
static enum tn_status write_lowered_document(struct maker *m)
{
    struct tn_json_writer *w = &m->w;
    struct tn_json root = tn_json_root(&m->file);
    bool written = false;
    tn_jw_begin_object(w);
    for (struct tn_json v = tn_json_first(root); tn_json_present(v); v = tn_json_next(v)) {
        if (tn_str_is(tn_json_key(v), "normalizer")) {
            write_normalizer(m, v, false);
            written = true;
        } else {
            tn_jw_key_str(w, tn_json_key(v));
            tn_jw_raw(w, tn_json_text(v));
        }
    }
    if (!written) write_normalizer(m, (struct tn_json){NULL, 0}, false);
    tn_jw_end_object(w);
    return TN_OK;
}

/* ---- building ------------------------------------------------------------------------------------------------------- */

static enum tn_status build_from(struct maker *m, struct tn_json root, struct tn_text_tokenizer **out)
{
    enum tn_status st = tn_text_tokenizer_from_json(m->ctx, root, out, m->err);
    if (!st && m->d->multi) st = tn_tokenizer_keep_markers(m->ctx, m->d->multi, root, out, m->err);
    return st;
}

static enum tn_status build_written(struct maker *m, struct tn_str name, struct tn_text_tokenizer **out)
{
    struct tn_json_doc doc = {0};
    tn_jw_init(&m->w, &m->text, false);
    enum tn_status st = m->facts->source == TN_TOKENIZER_FILE ? write_lowered_document(m) : write_class_document(m);
    if (st) return st;
    if (tn_buf_status(&m->text)) return tn_error_memory(m->err, TN_PHASE_LOAD, "building the tokenizer");
    st = tn_json_parse(&doc, m->ctx->alloc, &m->ctx->limits, name, tn_buf_str(&m->text), m->err);
    if (!st) st = build_from(m, tn_json_root(&doc), out);
    tn_json_release(&doc);
    return st;
}

/* From the document of the maker, or from the lines of vocab.txt. */
static enum tn_status build(struct maker *m, struct tn_text_tokenizer **out)
{
    bool from_lines = m->facts->source == TN_TOKENIZER_VOCAB;
    enum tn_status st = from_lines ? read_vocab(m) : TN_OK;
    if (st) return st;
    if (m->facts->source == TN_TOKENIZER_FILE && !m->facts->lower_case_first) return build_from(m, tn_json_root(&m->file), out);
    return build_written(m, from_lines ? m->facts->vocab_txt : m->facts->tokenizer_json, out);
}

static void release(struct maker *m)
{
    tn_buf_release(&m->text);
    tn_free(m->ctx->alloc, m->entries);
    tn_free(m->d->inv->ctx->alloc, (char *)(uintptr_t)m->lines.s);
}

enum tn_status tn_tokenizer_build(const struct tn_context *ctx, const struct tn_description *d,
                                  struct tn_text_tokenizer **out, struct tn_error *err)
{
    struct maker m = {.ctx = ctx, .d = d, .facts = &d->tokenizer, .err = err};
    enum tn_status st = TN_OK;
    *out = NULL;
    if (!d->tokenizer.present) {
        struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_MISSING, TN_PHASE_LOAD, "the package holds no tokenizer");
        tn_expected(f, "tokenizer.json, or vocab.txt with tokenizer_config.json");
        return TN_ARTIFACT_MISSING;
    }
    if (d->tokenizer.refused) {
        enum tn_status refused = tn_error_from_findings(err, &d->findings);
        return refused ? refused : tn_error_from_findings(err, &d->inv->findings);
    }
    tn_buf_init(&m.text, ctx->alloc, (size_t)ctx->limits.json_bytes);
    if (m.facts->source != TN_TOKENIZER_VOCAB) st = tn_inventory_json(d->inv, m.facts->tokenizer_json, &m.file, err);
    if (!st) st = build(&m, out);
    tn_json_release(&m.file);
    release(&m);
    return st;
}

/* ---- the judgement --------------------------------------------------------------------------------------------------- */

/* The cause of a failed building, with all that was found beside it. */
static void take_findings(const struct tn_error *err, struct tn_findings *out)
{
    struct tn_findings one = {.items = (struct tn_finding *)(uintptr_t)&err->primary, .count = 1};
    struct tn_findings all = {.items = (struct tn_finding *)(uintptr_t)err->findings, .count = err->count, .dropped = err->dropped};
    tn_findings_append(out, err->count ? &all : &one);
}

enum tn_status tn_tokenizer_judge(const struct tn_description *d, struct tn_json file, struct tn_tokenizer_judgement *j,
                                  struct tn_findings *findings, struct tn_error *err)
{
    struct maker m = {.ctx = d->inv->ctx, .d = d, .facts = &d->tokenizer, .err = err};
    struct tn_text_tokenizer *t = NULL;
    uint32_t id;
    if (tn_json_present(file)) m.file = *file.doc; /* borrowed: it stays the caller's */
    tn_buf_init(&m.text, m.ctx->alloc, (size_t)m.ctx->limits.json_bytes);
    enum tn_status st = build(&m, &t);
    release(&m);
    if (st == TN_INSUFFICIENT_MEMORY || st == TN_CANCELLED || st == TN_DEADLINE_EXCEEDED) return st;
    if (st) {
        take_findings(err, findings);
        return TN_OK;
    }
    struct tn_text_facts facts = tn_text_tokenizer_facts(t);
    j->special[0] = facts.special_tokens_single;
    j->special[1] = facts.special_tokens_pair;
    for (size_t i = 0; i < j->word_count; i++) j->known[i] = tn_text_token_id(t, j->words[i], &id);
    tn_text_tokenizer_free(t);
    return TN_OK;
}
