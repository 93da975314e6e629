/*
 * How the pinned `tokenizers` library joins characters: classes of grapheme clusters (Unicode Standard Annex 29, as far
 * as clusters of at most five bytes can show them) and the scripts of the UnicodeScripts pre-tokenizer. Constant tables.
 */
#ifndef TN_TEXT_UNICODE_SEGMENTS_H
#define TN_TEXT_UNICODE_SEGMENTS_H

#include "text/unicode_tables.h"

#include <stddef.h>

enum tn_uc_grapheme {
    TN_UC_ANY,
    TN_UC_CONTROL, /* CR and LF too */
    TN_UC_EXTEND,  /* Extend, SpacingMark, ZWJ */
    TN_UC_PREPEND,
    TN_UC_PICTURE,
    TN_UC_LEAD,
    TN_UC_VOWEL,
    TN_UC_TRAIL
};

extern const uint16_t tn_uc_grapheme_stage[];
extern const uint8_t tn_uc_grapheme_data[];
extern const uint16_t tn_uc_script_stage[];
extern const uint8_t tn_uc_script_data[];

static inline enum tn_uc_grapheme tn_uc_grapheme_of(uint32_t c)
{
    size_t block = (size_t)tn_uc_grapheme_stage[c >> TN_UC_SHIFT] << TN_UC_SHIFT;
    return (enum tn_uc_grapheme)tn_uc_grapheme_data[block | (c & ((1u << TN_UC_SHIFT) - 1))];
}

/* A number per script; 0: the pre-tokenizer never cuts beside such a character. */
static inline unsigned tn_uc_script_of(uint32_t c)
{
    size_t block = (size_t)tn_uc_script_stage[c >> TN_UC_SHIFT] << TN_UC_SHIFT;
    return tn_uc_script_data[block | (c & ((1u << TN_UC_SHIFT) - 1))];
}

#endif
