/*
 * What the files of src/text share: the tokenizer as built, the caller's scratch, and one contract per stage. Each stage
 * has one file that parses it from JSON (untrusted) and runs it. The pipeline runs in two forms: the general one over
 * struct tn_char arrays, which carries the library's alignment for every stage, and fast_bert.c, one pass over bytes
 * for the BERT stages. Both must give the same result; a test holds one against the other.
 */
#ifndef TN_TEXT_INTERNAL_H
#define TN_TEXT_INTERNAL_H

#include "base/buf.h"
#include "text/piece_trie.h"
#include "text/regex.h"
#include "text/splitter.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "text/vocab.h"

/* ---- text in the general form --------------------------------------------------------------------------------- */

/* One character of the normalized text and the bytes of the original that it stands for. */
struct tn_char {
    uint32_t c, begin, end;
};

struct tn_chars {
    struct tn_char *at;
    size_t count, cap;
};

/* A piece of the normalized text; `token` is an index into the added tokens, or TN_NO_TOKEN while still text. */
struct tn_split {
    uint32_t begin, end; /* characters */
    uint32_t token;
};

struct tn_splits {
    struct tn_split *at;
    size_t count, cap;
};

enum { TN_NO_TOKEN = UINT32_MAX };

/* Tokens of one sequence before post-processing. The optional arrays are filled when the list says so. */
struct tn_token_list {
    uint32_t *ids;
    uint32_t (*offsets)[2];
    uint16_t (*blanks)[2];   /* blanks that the token's text begins and ends with */
    uint32_t *words;         /* the split that the token is of */
    size_t count, cap;       /* cap: of the smallest array that is wanted */
    size_t ids_cap, offsets_cap, blanks_cap, words_cap;
    bool want_offsets, want_blanks, want_words;
    uint32_t word;           /* the next split */
};

/* In blanks[k][0]: those of the token's text in the vocabulary, not counted yet. */
enum { TN_BLANKS_OF_TOKEN = UINT16_MAX };

/* ---- scratch -------------------------------------------------------------------------------------------------- */

enum { TN_CACHE_BITS = 12, TN_CACHE_BITS_BPE = 14, TN_CACHE_PIECES = 6, TN_CACHE_BYTES = 28 };

/* A word that was tokenized before; one cache line. */
struct tn_cached_word {
    uint32_t tag;
    uint8_t bytes, pieces; /* bytes: with the word's form, see word_cache.h */
    uint8_t ends[TN_CACHE_PIECES]; /* byte after each piece, in the word */
    uint32_t ids[TN_CACHE_PIECES];
    char word[TN_CACHE_BYTES];
};
_Static_assert(sizeof(struct tn_cached_word) == 64, "one cache line per word");

/* What the fast path knows of a character that is not ASCII. */
struct tn_cached_char {
    uint32_t c;   /* UINT32_MAX: free */
    uint8_t kind; /* enum in fast_bert.c */
    uint8_t bytes, chars; /* of the image */
    char image[17];
};

enum { TN_CHAR_CACHE_BITS = 9 };

/* A character of a normal form on its way: what it does to the alignment, and its combining class. */
struct tn_form {
    uint32_t c;
    int32_t change;
    uint32_t ccc;
};

/* A part of a word while merges are applied: a list through the array; length 0: swallowed by the one before. */
struct tn_bpe_symbol {
    uint32_t id, length; /* bytes */
    uint32_t prev, next; /* UINT32_MAX: none */
};

struct tn_bpe_merge {
    uint64_t key; /* rank, then position: the order of merging */
    uint32_t id;  /* of the result */
};

struct tn_bpe_merges {
    struct tn_bpe_merge *at;
    size_t count, cap;
};

enum { TN_BPE_BUCKETS = 64 };

struct tn_bpe_work {
    struct tn_bpe_symbol *symbols;
    size_t count, cap;
    struct tn_bpe_merges heap;
    struct tn_bpe_merges buckets[TN_BPE_BUCKETS]; /* by the highest bit in which a key differs from `floor` */
    uint64_t filled;                              /* which buckets hold anything */
    uint64_t floor;                               /* no key in a bucket is below it, no key in the heap is not */
    char *text; /* a character with prefix and suffix, a word in the byte alphabet */
    size_t text_cap;
    uint64_t steps; /* merges looked at, for tests of linear time */
};

/* Unigram: the best way to a position of a word, then the way on from it. */
struct tn_best_path {
    double score;
    uint32_t start, id; /* of the piece that ends here; start UINT32_MAX: none does */
    uint32_t next, next_id;
};

struct tn_text_scratch {
    struct tn_alloc *alloc;
    struct tn_digest owner; /* tokenizer that the caches belong to */
    bool owned, used;
    struct tn_cached_word *cache; /* NULL until it pays */
    unsigned cache_bits;
    struct tn_cached_char *chars_seen;
    struct tn_chars chars, spare;
    size_t most_chars; /* a normalizer must not make more of the current text */
    struct tn_form *forms;
    size_t form_count, forms_cap;
    struct tn_splits splits, next;
    struct tn_regex_run regex;
    struct tn_bpe_work bpe;
    struct tn_best_path *path;
    size_t path_cap;
    struct tn_token_list sequences[2];
    char *word; /* bytes of the current word */
    size_t word_cap;
    uint32_t (*word_offsets)[2]; /* per byte of it */
    size_t word_offsets_cap;
    uint64_t *hashes; /* of the prefixes of a word */
    size_t hashes_cap;
    size_t output_cap[3]; /* of the arrays of the encoding */
    uint32_t (*output_offsets)[2];
    uint32_t *output_words;
    size_t output_offsets_cap, output_words_cap;
};

/* Grows *array to at least `need` items (doubling); what it holds is kept. */
bool tn_text_grow(struct tn_alloc *alloc, void *array, size_t *cap, size_t need, size_t item);
bool tn_chars_reserve(struct tn_alloc *alloc, struct tn_chars *chars, size_t need);
bool tn_splits_push(struct tn_alloc *alloc, struct tn_splits *splits, struct tn_split split);
bool tn_tokens_reserve(struct tn_alloc *alloc, struct tn_token_list *list, size_t more);

/* ---- loading -------------------------------------------------------------------------------------------------- */

struct tn_text_loader {
    const struct tn_context *ctx;
    struct tn_text_tokenizer *t;
    struct tn_error *err;
    struct tn_str file; /* the fallback rule's vocabulary; else empty, and places are JSON values */
    struct tn_findings *found; /* what is refused and can be passed over, so that all of it is told; NULL: the first fault ends it */
};

/* The place of a finding: the value, its member when one is named, or the vocabulary file. */
void tn_load_place(const struct tn_text_loader *ld, struct tn_finding *f, struct tn_json v, const char *member);

/* The name in "type", or an error; `what` is the kind of stage. */
enum tn_status tn_load_type(struct tn_text_loader *ld, struct tn_json stage, const char *what, struct tn_str *type);
/* Refuses an unknown `type` with the list of known names. */
enum tn_status tn_load_unknown(struct tn_text_loader *ld, struct tn_json stage, const char *what, struct tn_str type,
                               const char *known);
/* Refuses members that are not in the blank-separated list `known`, unless they are null. */
enum tn_status tn_load_members(struct tn_text_loader *ld, struct tn_json stage, const char *what, const char *known);
/* Any other refusal at a member: malformed (wrong type, missing) or unsupported (understood but not offered). */
enum tn_status tn_load_malformed(struct tn_text_loader *ld, struct tn_json object, const char *member,
                                 const char *expected);
enum tn_status tn_load_memory(struct tn_text_loader *ld);
/* More steps or deeper nesting than is read. */
enum tn_status tn_load_too_many(struct tn_text_loader *ld, struct tn_json place, const char *what, uint64_t limit);
/* A token that is longer than a name may be, or one too many. */
enum tn_status tn_load_too_long(struct tn_text_loader *ld, struct tn_json place, struct tn_str token);
/* Typed members; absent is an error unless `fallback` is given. */
enum tn_status tn_load_bool(struct tn_text_loader *ld, struct tn_json object, const char *member, const bool *fallback,
                            bool *out);
enum tn_status tn_load_u32(struct tn_text_loader *ld, struct tn_json object, const char *member, uint32_t *out);
enum tn_status tn_load_size(struct tn_text_loader *ld, struct tn_json object, const char *member, uint64_t *out);
enum tn_status tn_load_str(struct tn_text_loader *ld, struct tn_json object, const char *member, struct tn_str *out);
/* One of a blank-separated list of names; *out is its position. */
enum tn_status tn_load_choice(struct tn_text_loader *ld, struct tn_json object, const char *member,
                              const char *choices, const int *fallback, int *out);
/* UTF-8 text as code points in the tokenizer's arena. */
enum tn_status tn_load_points(struct tn_text_loader *ld, struct tn_str s, uint32_t **out, size_t *count);

/* ---- normalizer ----------------------------------------------------------------------------------------------- */

enum tn_normalizer_kind {
    TN_NORM_BERT,
    TN_NORM_NFC,
    TN_NORM_NFD,
    TN_NORM_NFKC,
    TN_NORM_NFKD,
    TN_NORM_LOWERCASE,
    TN_NORM_STRIP,
    TN_NORM_STRIP_ACCENTS,
    TN_NORM_REPLACE,
    TN_NORM_PREPEND,
    TN_NORM_NMT,
    TN_NORM_PRECOMPILED,
    TN_NORM_BYTE_LEVEL
};

/* A literal, or a regular expression. */
struct tn_pattern {
    uint32_t *literal;
    size_t length;
    const struct tn_regex *regex;
    struct tn_str text; /* of the expression */
};

/* A double array over bytes; values are offsets of images, each up to a NUL. */
struct tn_charsmap {
    uint32_t *units;
    uint32_t count;
    struct tn_str images;
    struct tn_digest identity;
};

struct tn_normalizer {
    enum tn_normalizer_kind kind;
    bool clean_text, chinese, strip_accents, lowercase; /* bert */
    bool left, right;                                   /* strip */
    struct tn_pattern pattern;                          /* replace */
    uint32_t *content;                                  /* replace, prepend */
    size_t content_length;
    const struct tn_charsmap *charsmap;                 /* precompiled */
};

/* Steps of nested Sequences in their order. */
struct tn_normalizers {
    struct tn_normalizer *at;
    size_t count, cap;
};

enum tn_status tn_normalizers_load(struct tn_text_loader *ld, struct tn_json stage, unsigned depth);
/* Applies all steps to s->chars. */
enum tn_status tn_normalize(const struct tn_text_tokenizer *t, struct tn_text_scratch *s);
enum tn_status tn_precompiled_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_normalizer *out);
/* What the map makes of s->chars, as characters with changes in s->forms. */
enum tn_status tn_precompiled_forms(const struct tn_charsmap *map, struct tn_text_scratch *s);
enum tn_status tn_pattern_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_pattern *out);
/* For Replace: refuses an expression that may match nothing. */
enum tn_status tn_pattern_not_empty(struct tn_text_loader *ld, struct tn_json stage, const struct tn_pattern *p);
/* A search through chars[0, n), of one pattern at a time and scratch. */
struct tn_pattern_search {
    const struct tn_pattern *pattern;
    struct tn_regex_run *run;
    const struct tn_char *chars;
    size_t n, from;
};
void tn_pattern_begin(struct tn_pattern_search *search, struct tn_text_scratch *s, const struct tn_pattern *p,
                      const struct tn_char *chars, size_t n);
/* The next match; a regular expression may match nothing (see regex.h). */
enum tn_status tn_pattern_next(struct tn_pattern_search *search, size_t *begin, size_t *end, bool *found);

/* ---- pre-tokenizer -------------------------------------------------------------------------------------------- */

enum tn_pre_kind {
    TN_PRE_BERT,
    TN_PRE_WHITESPACE,
    TN_PRE_WHITESPACE_SPLIT,
    TN_PRE_PUNCTUATION,
    TN_PRE_DIGITS,
    TN_PRE_DELIMITER,
    TN_PRE_SPLIT,
    TN_PRE_FIXED_LENGTH,
    TN_PRE_BYTE_LEVEL,
    TN_PRE_METASPACE,
    TN_PRE_UNICODE_SCRIPTS
};

enum tn_behavior { /* in the order of the list in pre_tokenizer.c */
    TN_REMOVED,
    TN_ISOLATED,
    TN_MERGED_WITH_PREVIOUS,
    TN_MERGED_WITH_NEXT,
    TN_CONTIGUOUS
};

enum tn_prepend_scheme { /* in the order of the list in pre_rewrite.c */
    TN_PREPEND_FIRST,
    TN_PREPEND_NEVER,
    TN_PREPEND_ALWAYS
};

struct tn_pre_tokenizer {
    enum tn_pre_kind kind;
    enum tn_behavior behavior;
    bool invert;
    uint32_t delimiter;
    uint64_t length; /* fixed length, in characters */
    struct tn_pattern pattern; /* also ByteLevel's own */
    bool add_prefix_space, use_regex;  /* ByteLevel */
    uint32_t replacement;              /* Metaspace */
    enum tn_prepend_scheme prepend;
    bool split;
};

struct tn_pre_tokenizers {
    struct tn_pre_tokenizer *at;
    size_t count, cap;
};

enum tn_status tn_pre_tokenizers_load(struct tn_text_loader *ld, struct tn_json stage, unsigned depth);
/* Splits s->splits further (those that are not tokens yet). */
enum tn_status tn_pre_tokenize(const struct tn_text_tokenizer *t, struct tn_text_scratch *s);
/* By the step's pattern and behavior. */
enum tn_status tn_pre_split(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step);

/* ByteLevel and Metaspace, which also change the characters of each piece. */
enum tn_status tn_pre_byte_level_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out);
enum tn_status tn_pre_metaspace_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_pre_tokenizer *out);
enum tn_status tn_pre_byte_level(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step);
enum tn_status tn_pre_metaspace(struct tn_text_scratch *s, const struct tn_pre_tokenizer *step);

/* ---- the byte alphabet ---------------------------------------------------------------------------------------- */

/* The expression of ByteLevel itself, GPT-2's. */
#define TN_GPT2_PATTERN "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

/* How byte-level stages write a byte as a character below U+0144, and back; -1: no such character. */
uint32_t tn_byte_char(unsigned char byte);
int tn_char_byte(uint32_t c);

/* ---- model ---------------------------------------------------------------------------------------------------- */

/* A kind of model: one file and one row in the table of model.c. */
struct tn_model_kind {
    const char *name;
    enum tn_status (*load)(struct tn_text_loader *ld, struct tn_json model);
    /*
     * Tokenizes s->word[0, n) of `chars` characters and appends to the list; bytes become offsets by s->word_offsets
     * when `by_table`, else by adding `base`. `hash` is the word's hash from the vocabulary's seed.
     */
    enum tn_status (*word)(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                           size_t n, size_t chars, uint64_t hash, bool by_table, uint32_t base);
    /* All that can change ids. */
    void (*fingerprint)(const struct tn_text_tokenizer *t, struct tn_sha256 *h);
};

extern const struct tn_model_kind tn_model_wordpiece, tn_model_bpe, tn_model_unigram, tn_model_wordlevel;

/* The vocabulary {token: id} of a model, in three steps; `vocab` is an object (absent for the fallback rule). */
enum tn_status tn_model_vocab_load(struct tn_text_loader *ld, struct tn_json vocab);
enum tn_status tn_model_vocab_seal(struct tn_text_loader *ld, struct tn_json vocab);
/* Refusals: more entries than the limit; a failure of the table at `place`. */
enum tn_status tn_model_vocab_limit(struct tn_text_loader *ld, struct tn_json vocab);
enum tn_status tn_model_vocab_failed(struct tn_text_loader *ld, struct tn_json place, enum tn_status status);
void tn_model_vocab_fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h);
/* The id of "unk_token", which must be in the vocabulary. */
enum tn_status tn_model_unknown(struct tn_text_loader *ld, struct tn_json model, struct tn_str unk, uint32_t *id);

/* Two symbols and what they become. */
struct tn_bpe_pair {
    uint64_t pair; /* left id, right id */
    uint32_t rank; /* TN_BPE_NO_RANK: the slot is free */
    uint32_t id;
};

enum { TN_BPE_NO_RANK = UINT32_MAX, TN_BPE_SHORT = 64, TN_BPE_LOW = 0x144 };

struct tn_bpe {
    struct tn_bpe_pair *pairs; /* open addressing */
    unsigned pair_bits;
    uint64_t pair_seed;
    struct tn_digest merges;   /* of the list, for the identity */
    struct tn_str prefix, suffix, unk;
    bool has_unk, fuse_unk, byte_fallback, ignore_merges;
    bool plain;      /* merging the lowest rank first is all there is: see bpe_merge.c */
    uint32_t unk_id;
    uint32_t low[TN_BPE_LOW]; /* ids of the first characters, which hold the byte alphabet; TN_BPE_NO_RANK: none */
    uint32_t bytes[256];      /* ids of <0xHH>; TN_BPE_NO_RANK: not all of them are there */
};

static inline uint64_t tn_bpe_hash(const struct tn_bpe *m, uint64_t pair)
{
    uint64_t h = (pair ^ m->pair_seed) * UINT64_C(0x9E3779B97F4A7C15);
    return (h ^ h >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}

/* The merge of two symbols, or NULL. */
static inline const struct tn_bpe_pair *tn_bpe_find(const struct tn_bpe *m, uint32_t a, uint32_t b)
{
    uint64_t pair = (uint64_t)a << 32 | b;
    size_t mask = ((size_t)1 << m->pair_bits) - 1;
    for (size_t i = (size_t)(tn_bpe_hash(m, pair) >> (64 - m->pair_bits));; i = (i + 1) & mask) {
        if (m->pairs[i].rank == TN_BPE_NO_RANK) return NULL;
        if (m->pairs[i].pair == pair) return &m->pairs[i];
    }
}

/* Applies all merges to s->bpe.symbols[0, count), which are linked; swallowed ones get length 0. */
enum tn_status tn_bpe_merge_all(const struct tn_bpe *m, struct tn_text_scratch *s);
/* The same for n <= TN_BPE_SHORT symbols of a plain model, in place; ends[i] is where symbol i ends. Returns how many. */
size_t tn_bpe_merge_short(const struct tn_bpe *m, uint32_t *ids, uint32_t *ends, size_t n);

struct tn_unigram {
    double *scores;    /* by id */
    uint32_t *entries; /* of the vocabulary, by id */
    uint32_t count;
    double lowest;
    bool has_unk, byte_fallback;
    uint32_t unk_id;
    struct tn_piece_trie trie;
    bool has_byte[256]; /* <0xHH> is a token */
    uint32_t bytes[256];
};

struct tn_wordpiece {
    uint32_t unk_id;
    struct tn_str unk, prefix;
    uint64_t prefix_hash;
    uint64_t max_chars;
};

enum tn_status tn_model_load(struct tn_text_loader *ld, struct tn_json model);
/* Seals the vocabulary; `model` is absent for the fallback rule. */
enum tn_status tn_wordpiece_finish(struct tn_text_loader *ld, struct tn_json model);
/* tn_model_kind.word of WordPiece, for the fast path. */
enum tn_status tn_wordpiece_word(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                 struct tn_token_list *list, size_t n, size_t chars, uint64_t hash, bool by_table,
                                 uint32_t base);

/* ---- added tokens --------------------------------------------------------------------------------------------- */

struct tn_added_token {
    struct tn_str content;
    struct tn_str normalized_content; /* what the normalized text is searched for, and what decoding prints */
    uint32_t id;
    bool single_word, lstrip, rstrip, normalized, special;
    bool was_special; /* some entry of this text was: decoding leaves it out */
};

struct tn_trie_node {
    uint32_t child, sibling; /* 0: none; node 0 is the root */
    uint32_t token;          /* TN_NO_TOKEN: none ends here */
    unsigned char byte;
};

struct tn_trie {
    struct tn_trie_node *nodes;
    size_t count, cap;
    uint8_t first[256]; /* bytes that a token can begin with */
    int only;           /* the one such byte, -1: several or none */
};

struct tn_added {
    struct tn_added_token *at;
    size_t count, cap;
    uint32_t next_id; /* while loading: for a token that is new */
    struct tn_vocab vocab; /* content -> id; its entries are numbered as `at` */
    struct tn_trie raw, normalized;
};

enum tn_status tn_added_load(struct tn_text_loader *ld, struct tn_json list);
/* For the fallback rule: one token as the file would list it. */
enum tn_status tn_added_append(struct tn_text_loader *ld, struct tn_json place, const struct tn_added_token *token);
enum tn_status tn_added_finish(struct tn_text_loader *ld, struct tn_json list);
void tn_added_release(struct tn_text_tokenizer *t);

struct tn_match {
    size_t begin, end;
    uint32_t token;
};

/* The next leftmost-longest match at or after `from`, blanks not yet taken in; false: none. */
bool tn_trie_next(const struct tn_trie *trie, const char *s, size_t n, size_t from, struct tn_match *out);
/* Applies single_word, lstrip and rstrip; false: the match is discarded. `taken` is the end of the last accepted one. */
bool tn_added_accept(const struct tn_text_tokenizer *t, const char *s, size_t n, size_t taken, struct tn_match *match);

/* ---- post-processor ------------------------------------------------------------------------------------------- */

/* One step of the result: a sequence or a special token. */
struct tn_post_op {
    bool is_token;
    uint32_t sequence; /* 0, 1 */
    uint32_t id;
    uint32_t type_id;
    uint32_t special;
    bool trim, trim_prefix_space; /* offsets leave blanks out, as RobertaProcessing does */
    bool first; /* the sequence begins its encoding, so that its first token may keep one blank */
};

struct tn_post_program {
    struct tn_post_op *ops;
    size_t count;
};

/* The post-processor, worked out at load for each of the four kinds of request. */
struct tn_post {
    struct tn_post_program programs[2][2]; /* [pair][special tokens wanted] */
    uint64_t added[2];                     /* tokens that truncation reserves, [pair] */
    bool trims;
};

enum tn_status tn_post_load(struct tn_text_loader *ld, struct tn_json stage);
/* Truncates the sequences and writes the encoding, of which e->window says which. */
enum tn_status tn_post_process(const struct tn_text_tokenizer *t, const struct tn_str texts[2],
                               const struct tn_text_options *options, struct tn_text_encoding *e,
                               struct tn_error *err);

/* ---- decoder -------------------------------------------------------------------------------------------------- */

enum tn_status tn_decoder_load(struct tn_text_loader *ld, struct tn_json stage);

/* Texts on their way through a decoder's steps: one after the other, text i ends at ends[i]. */
struct tn_decoded {
    struct tn_alloc *alloc;
    struct tn_buf text, next;
    size_t *ends, *next_ends;
    size_t count, ends_cap, next_count, next_ends_cap;
    struct tn_text_scratch scratch; /* for patterns */
    enum tn_status failed;
};

struct tn_decoder_step;
void tn_decoded_init(struct tn_decoded *d, struct tn_alloc *alloc, size_t max);
void tn_decoded_release(struct tn_decoded *d);
enum tn_status tn_decoded_status(const struct tn_decoded *d);
void tn_decoded_add(struct tn_decoded *d, struct tn_str s);
enum tn_status tn_decoder_run(const struct tn_decoder_step *step, struct tn_decoded *d);

/* ---- the tokenizer -------------------------------------------------------------------------------------------- */

enum tn_strategy { TN_LONGEST_FIRST, TN_ONLY_FIRST, TN_ONLY_SECOND };

struct tn_text_truncation {
    bool present, left;
    uint64_t max_length, stride;
    int strategy;
};

struct tn_padding {
    bool present, left, fixed;
    uint64_t fixed_length, multiple;
    uint32_t id, type_id;
    struct tn_str token;
};

enum tn_decoder_kind {
    TN_DEC_BYTE_LEVEL,
    TN_DEC_WORDPIECE,
    TN_DEC_METASPACE,
    TN_DEC_BPE,
    TN_DEC_BYTE_FALLBACK,
    TN_DEC_FUSE,
    TN_DEC_STRIP,
    TN_DEC_REPLACE,
    TN_DEC_CTC
};

struct tn_decoder_step {
    enum tn_decoder_kind kind;
    bool cleanup, drop_first;
    struct tn_str text, delimiter; /* prefix, suffix, content, padding token */
    uint32_t c;                    /* Metaspace's sign, what Strip cuts */
    uint64_t start, stop;
    struct tn_pattern pattern;
};

struct tn_decoder {
    bool present;
    struct tn_decoder_step *steps; /* of nested Sequences in their order */
    size_t count;
};

/* What the fast path does with each byte. */
struct tn_fast_bert {
    bool usable;
    struct tn_normalizer normalizer;
    uint8_t kind[256]; /* enum in fast_bert.c */
    uint8_t image[128];
};

/* Byte-level BPE in one pass over bytes. */
struct tn_fast_bytes {
    enum tn_word_pattern words; /* TN_WORDS_NONE: this path is not usable */
    enum tn_piece_pattern pieces;
    bool nfc;            /* only texts that are their own NFC */
    uint32_t ids[256];   /* first symbol of each byte */
};

struct tn_text_tokenizer {
    struct tn_alloc *alloc;
    struct tn_limits limits;
    struct tn_arena arena;
    const struct tn_model_kind *kind;
    struct tn_vocab vocab;
    struct tn_wordpiece model;
    struct tn_bpe bpe;
    struct tn_unigram unigram;
    struct tn_normalizers normalizers;
    struct tn_pre_tokenizers pre_tokenizers;
    struct tn_added added;
    struct tn_post post;
    struct tn_decoder decoder;
    struct tn_text_truncation truncation;
    struct tn_padding padding;
    struct tn_fast_bert fast;
    struct tn_fast_bytes fast_bytes;
    unsigned cache_bits; /* of the words that a scratch remembers */
    struct tn_digest identity;
};

/* Decodes text[begin, end) into s->chars. */
bool tn_chars_read(struct tn_text_scratch *s, const char *text, size_t begin, size_t end);
void tn_text_scratch_release(struct tn_text_scratch *s);

/* ---- encoding ------------------------------------------------------------------------------------------------- */

void tn_fast_bert_prepare(struct tn_text_tokenizer *t);
/* Encodes text[begin, end), which holds no added token. *handled false: the general path must do it; nothing was added. */
enum tn_status tn_fast_bert_encode(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                   struct tn_token_list *list, const char *text, size_t begin, size_t end,
                                   bool *handled);
void tn_fast_bytes_prepare(struct tn_text_tokenizer *t);
/* The same for byte-level BPE. */
enum tn_status tn_fast_bytes_encode(const struct tn_text_tokenizer *t, struct tn_text_scratch *s,
                                    struct tn_token_list *list, const char *text, size_t begin, size_t end,
                                    bool *handled);
/* An added token that stands for the bytes [begin, end) of the text; its blanks are the caller's. */
enum tn_status tn_push_added(const struct tn_text_tokenizer *t, struct tn_text_scratch *s, struct tn_token_list *list,
                             uint32_t token, uint32_t begin, uint32_t end);
/* Blanks that a token's text begins and ends with, for trimmed offsets; all of them twice when it is nothing else. */
void tn_count_blanks(struct tn_str s, uint16_t out[2]);
/* A zeroed tokenizer in ld->t. */
enum tn_status tn_text_tokenizer_new(struct tn_text_loader *ld);
/* The last step of loading: what is derived from the stages. Cannot fail. */
void tn_text_tokenizer_seal(struct tn_text_tokenizer *t);

#endif
