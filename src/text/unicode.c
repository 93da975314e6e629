/* Mappings over the generated tables, plus the arithmetic of Hangul syllables (Unicode Standard, section 3.12). */
#include "text/unicode.h"

enum {
    S_BASE = 0xAC00,
    L_BASE = 0x1100,
    V_BASE = 0x1161,
    T_BASE = 0x11A7,
    L_COUNT = 19,
    V_COUNT = 21,
    T_COUNT = 28,
    S_COUNT = L_COUNT * V_COUNT * T_COUNT
};

static const struct tn_uc_record *record_of(uint32_t c)
{
    size_t block = (size_t)tn_uc_record_stage[c >> TN_UC_SHIFT] << TN_UC_SHIFT;
    return &tn_uc_records[tn_uc_record_data[block | (c & ((1u << TN_UC_SHIFT) - 1))]];
}

static size_t from_pool(uint32_t place, uint32_t out[TN_UC_MAX_IMAGE])
{
    size_t n = tn_uc_pool[place];
    for (size_t i = 0; i < n; i++) out[i] = tn_uc_pool[place + 1 + i];
    return n;
}

size_t tn_uc_lower(uint32_t c, uint32_t out[TN_UC_MAX_IMAGE])
{
    uint32_t lower = record_of(c)->lower;
    if (lower >> 31) return from_pool(lower & 0x7FFFFFFF, out);
    out[0] = lower ? lower : c;
    return 1;
}

size_t tn_uc_decompose(uint32_t c, bool compatible, uint32_t out[TN_UC_MAX_IMAGE])
{
    if (c >= S_BASE && c < S_BASE + S_COUNT) {
        uint32_t s = c - S_BASE;
        out[0] = L_BASE + s / (V_COUNT * T_COUNT);
        out[1] = V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT;
        out[2] = T_BASE + s % T_COUNT;
        return out[2] == T_BASE ? 2 : 3;
    }
    const struct tn_uc_record *record = record_of(c);
    uint32_t place = compatible ? record->nfkd : record->nfd;
    if (place) return from_pool(place, out);
    out[0] = c;
    return 1;
}

static uint32_t compose_hangul(uint32_t a, uint32_t b)
{
    if (a >= L_BASE && a < L_BASE + L_COUNT && b >= V_BASE && b < V_BASE + V_COUNT) {
        return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
    }
    if (a >= S_BASE && a < S_BASE + S_COUNT && (a - S_BASE) % T_COUNT == 0 && b > T_BASE && b < T_BASE + T_COUNT) {
        return a + (b - T_BASE);
    }
    return 0;
}

uint32_t tn_uc_compose(uint32_t a, uint32_t b)
{
    uint32_t syllable = compose_hangul(a, b);
    if (syllable) return syllable;
    size_t low = 0, high = tn_uc_pair_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct tn_uc_pair *pair = &tn_uc_pairs[mid];
        if (pair->first == a && pair->second == b) return pair->composite;
        if (pair->first < a || (pair->first == a && pair->second < b)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return 0;
}
