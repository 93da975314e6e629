/* Made by tools/unicode/generate.py; do not edit. */
#ifndef TN_TEXT_UNICODE_TABLES_H
#define TN_TEXT_UNICODE_TABLES_H

#include <stdint.h>

enum { TN_UC_SHIFT = 7 };

/* `lower`: 0 none, one code point, or (top bit) an index into the pool. `nfd`, `nfkd`: index or 0. */
struct tn_uc_record {
    uint32_t lower;
    uint16_t nfd, nfkd;
};
struct tn_uc_pair {
    uint32_t first, second, composite;
};

extern const uint8_t tn_uc_flag_stage[];
extern const uint16_t tn_uc_flag_data[];
extern const uint8_t tn_uc_ccc_stage[];
extern const uint8_t tn_uc_ccc_data[];
extern const uint8_t tn_uc_record_stage[];
extern const uint16_t tn_uc_record_data[];
extern const struct tn_uc_record tn_uc_records[];
extern const uint32_t tn_uc_pool[];
extern const struct tn_uc_pair tn_uc_pairs[];
extern const uint32_t tn_uc_pair_count;

#endif
