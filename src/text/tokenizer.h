/*
 * Tokenizer: the tokenizer.json pipeline as stages (normalizer, pre-tokenizer, model, post-processor, decoder, added
 * tokens, truncation, padding). Built from untrusted files, immutable afterwards and shared between threads; all options
 * are arguments and all working memory is in the caller's scratch. Ids, type ids, masks and offsets equal those of the
 * `tokenizers` library. An unknown stage is refused by name (TN_UNSUPPORTED_PROCESSOR).
 */
#ifndef TN_TEXT_TOKENIZER_H
#define TN_TEXT_TOKENIZER_H

#include "base/buf.h"
#include "base/context.h"
#include "base/hash.h"
#include "base/json.h"

struct tn_text_tokenizer;

/* The fallback rule "vocab.txt + tokenizer_config.json" (BertTokenizer of transformers). */
struct tn_wordpiece_options {
    struct tn_str vocab_name; /* file name for errors */
    struct tn_str vocab;      /* contents of vocab.txt: one token per line, id = line number */
    bool do_lower_case, tokenize_chinese_chars, strip_accents_set, strip_accents;
    struct tn_str unk_token, cls_token, sep_token, pad_token, mask_token;
    /* MPNetTokenizer: the mask takes blanks before it, two separators between a pair, all type ids 0, offsets trimmed. */
    bool mpnet;
};

/* `root` is the parsed tokenizer.json; it may be released afterwards. */
enum tn_status tn_text_tokenizer_from_json(const struct tn_context *ctx, struct tn_json root,
                                           struct tn_text_tokenizer **out, struct tn_error *err);
enum tn_status tn_text_tokenizer_from_vocab(const struct tn_context *ctx, const struct tn_wordpiece_options *options,
                                            struct tn_text_tokenizer **out, struct tn_error *err);
void tn_text_tokenizer_free(struct tn_text_tokenizer *t);

enum tn_text_strategy { TN_TEXT_AS_STATED, TN_TEXT_LONGEST_FIRST, TN_TEXT_ONLY_FIRST, TN_TEXT_ONLY_SECOND };

struct tn_text_options {
    bool no_special;
    bool truncate_right_set; /* else the side that the tokenizer states, default right */
    bool truncate_left;
    size_t max_tokens;       /* 0: none; special tokens included, as the library's truncation counts */
    bool want_offsets;       /* offsets cost time; embedding does not need them */
    /* Which text of a pair is shortened; 0: as the tokenizer states, default longest first. */
    enum tn_text_strategy strategy;
    bool general_path;       /* never take the fast path: for tests, the result is the same */
    bool want_words;         /* needs the general path, which is slower */
    /*
     * What max_tokens cuts off becomes further windows, as the library's overflow does: each has the last `stride` tokens
     * of the one before again. Goes with only_first and only_second; nothing is truncated then.
     */
    bool windows;
    size_t stride;
};

enum { TN_TEXT_NO_WORD = UINT32_MAX };

/* Result and working memory, reusable for any number of texts; one thread at a time. */
struct tn_text_encoding {
    uint32_t *ids, *type_ids, *special_mask;
    uint32_t (*offsets)[2]; /* bytes of the original text; NULL unless wanted */
    uint32_t *words;        /* which piece of the pre-tokenized text, rising; TN_TEXT_NO_WORD: none. NULL unless wanted */
    size_t count;
    struct tn_text_part {
        size_t first, count;
    } parts[2];             /* where the tokens of each text stand; count 0: there are none */
    size_t window, windows; /* which one this is, and of how many; 0 of 1 unless windows were asked for */
    size_t total;           /* tokens before truncation, special tokens included */
    bool truncated;
    struct tn_text_scratch *scratch;
    struct tn_alloc *alloc;
};

void tn_text_encoding_init(struct tn_text_encoding *e, struct tn_alloc *alloc);
void tn_text_encoding_release(struct tn_text_encoding *e);

/* `pair` with .s NULL: none. The text must be valid UTF-8 (else TN_INVALID_REQUEST with the byte offset). */
enum tn_status tn_text_encode(const struct tn_text_tokenizer *t, struct tn_str text, struct tn_str pair,
                              const struct tn_text_options *options, struct tn_text_encoding *e,
                              struct tn_error *err);

/* Another window of the same encoding: same texts and options as in the call that made it. */
enum tn_status tn_text_window(const struct tn_text_tokenizer *t, struct tn_str text, struct tn_str pair,
                              const struct tn_text_options *options, size_t window, struct tn_text_encoding *e,
                              struct tn_error *err);

/*
 * Text of ids as the library's decode gives it, appended to `out`; ids without a token are left out, special tokens on
 * request. The status is that of the buffer.
 */
enum tn_status tn_text_decode(const struct tn_text_tokenizer *t, const uint32_t *ids, size_t count, bool skip_special,
                              struct tn_buf *out);

size_t tn_text_vocab_size(const struct tn_text_tokenizer *t); /* largest id + 1, added tokens included */
/* Text of an id; .s NULL when there is none. */
struct tn_str tn_text_token(const struct tn_text_tokenizer *t, uint32_t id);
bool tn_text_token_id(const struct tn_text_tokenizer *t, struct tn_str token, uint32_t *id);
/* Identity of everything that can change ids: model, stages, added tokens, version of the Unicode tables. */
void tn_text_fingerprint(const struct tn_text_tokenizer *t, struct tn_sha256 *h);
/* What the file says about padding and truncation, for contradictions (0 / false when absent). */
struct tn_text_facts {
    bool truncation, padding;
    uint64_t truncation_max_length;
    bool adds_bos_like_first, adds_eos_like_last; /* whether the post-processor puts a special token first / last */
    const char *unicode_version;
    uint64_t truncation_stride;      /* stated, but a single result has no overflow to use it */
    const char *truncation_strategy; /* "longest_first" ...; NULL when no truncation is stated */
    bool truncation_left;
    bool padding_left, padding_fixed;
    uint64_t padding_length, padding_multiple; /* 0: none */
    uint32_t padding_id, padding_type_id;
    struct tn_str padding_token; /* valid while the tokenizer lives */
    bool decoder;                /* a decoder is stated; else tokens are joined by blanks */
    bool continuing_prefix;      /* tokens inside a word carry a prefix of their own ("##") */
    uint64_t special_tokens_single, special_tokens_pair; /* what truncation reserves */
};
struct tn_text_facts tn_text_tokenizer_facts(const struct tn_text_tokenizer *t);

#endif
