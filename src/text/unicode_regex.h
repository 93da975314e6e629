/*
 * Unicode as the regular expressions of the pinned `tokenizers` library know it: its engine has a version of its own.
 * One byte per code point: the general category and two bits for what \w (in brackets) and \s match. Constant tables.
 */
#ifndef TN_TEXT_UNICODE_REGEX_H
#define TN_TEXT_UNICODE_REGEX_H

#include "text/unicode_tables.h"

#include <stddef.h>

/* In the order of tn_uc_category_names. */
enum tn_uc_category {
    TN_UC_LU,
    TN_UC_LL,
    TN_UC_LT,
    TN_UC_LM,
    TN_UC_LO,
    TN_UC_MN,
    TN_UC_MC,
    TN_UC_ME,
    TN_UC_ND,
    TN_UC_NL,
    TN_UC_NO,
    TN_UC_PC,
    TN_UC_PD,
    TN_UC_PS,
    TN_UC_PE,
    TN_UC_PI,
    TN_UC_PF,
    TN_UC_PO,
    TN_UC_SM,
    TN_UC_SC,
    TN_UC_SK,
    TN_UC_SO,
    TN_UC_ZS,
    TN_UC_ZL,
    TN_UC_ZP,
    TN_UC_CC,
    TN_UC_CF,
    TN_UC_CO,
    TN_UC_CN,
    TN_UC_CATEGORIES
};

/* Sets of categories, one bit each. */
enum {
    TN_UC_L = 0x1Fu,
    TN_UC_M = 0x7u << TN_UC_MN,
    TN_UC_N = 0x7u << TN_UC_ND,
    TN_UC_P = 0x7Fu << TN_UC_PC,
    TN_UC_S = 0xFu << TN_UC_SM
};

enum { TN_UC_REGEX_CATEGORY = 0x1F, TN_UC_REGEX_WORD = 0x20, TN_UC_REGEX_SPACE = 0x40 };

struct tn_uc_script {
    const char *name;
    uint32_t first, count; /* ranges of it */
};

extern const uint16_t tn_uc_regex_stage[];
extern const uint8_t tn_uc_regex_data[];
extern const char *const tn_uc_category_names[TN_UC_CATEGORIES];
extern const uint32_t tn_uc_script_ranges[][2]; /* inclusive, rising within a script */
extern const struct tn_uc_script tn_uc_scripts[];
extern const size_t tn_uc_script_count;

/* Category and bits of any scalar value. */
static inline unsigned tn_uc_regex(uint32_t c)
{
    return tn_uc_regex_data[(size_t)tn_uc_regex_stage[c >> TN_UC_SHIFT] << TN_UC_SHIFT | (c & ((1u << TN_UC_SHIFT) - 1))];
}

/* Whether the category of c is in the set. */
static inline int tn_uc_in(uint32_t c, unsigned set)
{
    return (int)(set >> (tn_uc_regex(c) & TN_UC_REGEX_CATEGORY) & 1);
}

#endif
