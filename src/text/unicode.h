/*
 * Unicode properties and mappings exactly as the pinned `tokenizers` library applies them; it mixes four Unicode
 * versions, so each property has its own (see TN_UC_VERSION). Tables are constant; any thread may call.
 */
#ifndef TN_TEXT_UNICODE_H
#define TN_TEXT_UNICODE_H

#include "text/unicode_tables.h"

#include <stdbool.h>
#include <stddef.h>

/* Part of a tokenizer's identity: lower case; normal forms; categories of the BERT stages; words of regular expressions. */
#define TN_UC_VERSION "tokenizers-0.23.3/case-17.0/normal-forms-9.0/categories-8.0/words-16.0/numeric-17.0"

enum tn_uc_flag {
    TN_UC_WHITE = 1 << 0,           /* White_Space */
    TN_UC_PUNCT = 1 << 1,           /* ASCII punctuation and general category P */
    TN_UC_CLEAN_DROP = 1 << 2,      /* BertNormalizer clean_text removes it */
    TN_UC_CLEAN_SPACE = 1 << 3,     /* BertNormalizer clean_text makes it a space */
    TN_UC_CHINESE = 1 << 4,         /* BertNormalizer handle_chinese_chars puts spaces around it */
    TN_UC_MARK_NONSPACING = 1 << 5, /* Mn, as BertNormalizer strip_accents knows it */
    TN_UC_MARK = 1 << 6,            /* M, as StripAccents knows it */
    TN_UC_WORD = 1 << 7,            /* \w */
    TN_UC_NUMERIC = 1 << 8,         /* N, as Digits knows it */
    TN_UC_NMT_DROP = 1 << 9,
    TN_UC_NMT_SPACE = 1 << 10,
    TN_UC_NFC_ACTIVE = 1 << 11      /* a text without such characters is its own NFC */
};

/* All take any scalar value up to U+10FFFF. */
static inline unsigned tn_uc_flags(uint32_t c)
{
    return tn_uc_flag_data[(size_t)tn_uc_flag_stage[c >> TN_UC_SHIFT] << TN_UC_SHIFT | (c & ((1u << TN_UC_SHIFT) - 1))];
}

/* Canonical combining class. */
static inline unsigned tn_uc_ccc(uint32_t c)
{
    return tn_uc_ccc_data[(size_t)tn_uc_ccc_stage[c >> TN_UC_SHIFT] << TN_UC_SHIFT | (c & ((1u << TN_UC_SHIFT) - 1))];
}

enum { TN_UC_MAX_IMAGE = 18 }; /* longest full decomposition (U+FDFA) */

/* Writes the image of c, at least one code point, and returns how many. */
size_t tn_uc_lower(uint32_t c, uint32_t out[TN_UC_MAX_IMAGE]);
/* Full canonical (or compatibility) decomposition of one code point, not reordered against neighbours. */
size_t tn_uc_decompose(uint32_t c, bool compatible, uint32_t out[TN_UC_MAX_IMAGE]);
/* The primary composite of two code points, or 0. */
uint32_t tn_uc_compose(uint32_t a, uint32_t b);

#endif
