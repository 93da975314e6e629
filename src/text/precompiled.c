/*
 * The Precompiled normalizer: SentencePiece's map from character sequences to images, a double array over bytes with
 * offsets into a blob of texts. The map comes from an untrusted file; every state that can be reached is visited when it
 * is loaded, so that a lookup needs no doubt.
 *
 * What is looked up is the library's choice: a grapheme cluster of at most five bytes as a whole, else each of its
 * characters alone; and the shortest beginning that the map knows stands for all of it.
 */
#include "text/internal.h"

#include "base/utf8.h"
#include "text/unicode_segments.h"

#include <string.h>

/* ---- base64 ------------------------------------------------------------------------------------------------------- */

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* RFC 4648 with padding and without spare bits; `out` has room for s.n / 4 * 3 bytes. */
static bool decode_base64(struct tn_str s, unsigned char *out, size_t *n)
{
    size_t padding = 0;
    *n = 0;
    if (s.n == 0 || s.n % 4) return false;
    while (padding < 2 && s.s[s.n - 1 - padding] == '=') padding++;
    for (size_t i = 0; i < s.n; i += 4) {
        size_t digits = i + 4 == s.n ? 4 - padding : 4;
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++) {
            int v = k < digits ? sextet(s.s[i + k]) : 0;
            if (v < 0) return false;
            bits = bits << 6 | (uint32_t)v;
        }
        if (bits & ((1u << (4 - digits) * 8) - 1)) return false;
        for (size_t k = 0; k + 1 < digits; k++) out[(*n)++] = (unsigned char)(bits >> (16 - 8 * k));
    }
    return true;
}

/* ---- the double array --------------------------------------------------------------------------------------------- */

static bool has_leaf(uint32_t unit)
{
    return unit >> 8 & 1;
}

static uint32_t label_of(uint32_t unit)
{
    return unit & (UINT32_C(1) << 31 | 0xFF);
}

/* The shift makes at most 30 bits. */
static uint32_t offset_of(uint32_t unit)
{
    return unit >> 10 << ((unit & UINT32_C(1) << 9) >> 6);
}

/* The state at `position`: where its children begin; checks what the library would read there. */
static bool check_state(const struct tn_charsmap *map, uint32_t position, uint32_t *base)
{
    uint32_t unit = map->units[position];
    *base = position ^ offset_of(unit);
    if ((*base | 0xFF) >= map->count) return false;
    if (!has_leaf(unit) || position == 0) return true;
    uint32_t value = map->units[*base] & ~(UINT32_C(1) << 31);
    return value <= map->images.n && (value == map->images.n || ((unsigned char)map->images.s[value] & 0xC0) != 0x80);
}

/* Visits every state; `queue` and `seen` have room for map->count. */
static bool check_states(const struct tn_charsmap *map, uint32_t *queue, uint8_t *seen)
{
    size_t n = 1;
    queue[0] = 0;
    seen[0] = 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t base;
        if (!check_state(map, queue[i], &base)) return false;
        for (uint32_t c = 1; c < 256; c++) {
            uint32_t child = base ^ c;
            if (label_of(map->units[child]) != c || seen[child]) continue;
            seen[child] = 1;
            queue[n++] = child;
        }
    }
    return true;
}

/* The image of the shortest beginning of s that the map knows. */
static bool look_up(const struct tn_charsmap *map, struct tn_str s, struct tn_str *image)
{
    uint32_t at = offset_of(map->units[0]);
    for (size_t i = 0; i < s.n && s.s[i]; i++) {
        unsigned char c = (unsigned char)s.s[i];
        at ^= c;
        uint32_t unit = map->units[at];
        if (label_of(unit) != c) return false;
        at ^= offset_of(unit);
        if (!has_leaf(unit)) continue;
        size_t begin = map->units[at] & ~(UINT32_C(1) << 31);
        const char *from = map->images.s + begin;
        const char *end = memchr(from, 0, map->images.n - begin);
        *image = (struct tn_str){from, end ? (size_t)(end - from) : map->images.n - begin};
        return true;
    }
    return false;
}

/* ---- loading ------------------------------------------------------------------------------------------------------ */

static enum tn_status bad_map(struct tn_text_loader *ld, struct tn_json stage, const char *expected)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD,
                                        "tokenizer: \"precompiled_charsmap\" is not a map of characters");
    tn_at_json_member(f, stage, "precompiled_charsmap");
    tn_expected(f, "%s", expected);
    tn_remedy(f, "repair the tokenizer file or fetch it again");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status read_map(struct tn_text_loader *ld, struct tn_json stage, struct tn_str bytes, struct tn_charsmap *map)
{
    const unsigned char *p = (const unsigned char *)bytes.s;
    uint32_t size = bytes.n < 4 ? 0 : (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    map->count = size / 4;
    if (map->count == 0 || map->count * (uint64_t)4 > bytes.n - 4) {
        return bad_map(ld, stage, "a size, as many bytes of double array, and texts");
    }
    size_t used = 4 + (size_t)map->count * 4;
    struct tn_str images = {bytes.s + used, bytes.n - used};
    if (tn_utf8_valid_prefix(images.s, images.n) != images.n) return bad_map(ld, stage, "texts in UTF-8");
    map->units = tn_arena_array(&ld->t->arena, map->count, sizeof(*map->units));
    map->images = tn_arena_str(&ld->t->arena, images);
    if (!map->units || !map->images.s) return tn_load_memory(ld);
    for (uint32_t i = 0; i < map->count; i++) {
        const unsigned char *u = p + 4 + (size_t)i * 4;
        map->units[i] = (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
    }
    uint32_t *queue = tn_calloc(ld->t->alloc, map->count, sizeof(*queue));
    uint8_t *seen = tn_calloc(ld->t->alloc, map->count, 1);
    bool memory = queue && seen, sound = memory && check_states(map, queue, seen);
    tn_free(ld->t->alloc, queue);
    tn_free(ld->t->alloc, seen);
    if (!memory) return tn_load_memory(ld);
    return sound ? TN_OK : bad_map(ld, stage, "a double array whose states and values lie inside the map");
}

enum tn_status tn_precompiled_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_normalizer *out)
{
    struct tn_str text;
    size_t n;
    enum tn_status status = tn_load_members(ld, stage, "normalizer Precompiled", "type precompiled_charsmap");
    if (!status) status = tn_load_str(ld, stage, "precompiled_charsmap", &text);
    if (status) return status;
    unsigned char *bytes = tn_malloc(ld->t->alloc, text.n / 4 * 3 + 3);
    struct tn_charsmap *map = tn_arena_alloc(&ld->t->arena, sizeof(*map));
    if (!bytes || !map) {
        status = tn_load_memory(ld);
    } else if (!decode_base64(text, bytes, &n)) {
        status = bad_map(ld, stage, "base64 with its padding");
    } else {
        status = read_map(ld, stage, (struct tn_str){(const char *)bytes, n}, map);
        map->identity = tn_sha256_of(bytes, n);
    }
    tn_free(ld->t->alloc, bytes);
    out->charsmap = map;
    return status;
}

/* ---- clusters ----------------------------------------------------------------------------------------------------- */

static bool is_syllable(uint32_t c)
{
    return c >= 0xAC00 && c <= 0xD7A3;
}

/* Rules GB6 to GB8: Hangul. */
static bool hangul_joins(uint32_t a, uint32_t b, enum tn_uc_grapheme x, enum tn_uc_grapheme y)
{
    bool open = is_syllable(a) && (a - 0xAC00) % 28 == 0; /* LV */
    if (x == TN_UC_LEAD) return y == TN_UC_LEAD || y == TN_UC_VOWEL || is_syllable(b);
    if (x == TN_UC_VOWEL || open) return y == TN_UC_VOWEL || y == TN_UC_TRAIL;
    return (x == TN_UC_TRAIL || is_syllable(a)) && y == TN_UC_TRAIL;
}

/*
 * The end of the cluster that begins at `at` (UAX 29). Left out are the rules that only join characters of clusters of
 * more than five bytes: regional indicators and Indic conjuncts.
 */
static size_t cluster_end(const struct tn_chars *chars, size_t at)
{
    enum tn_uc_grapheme x = tn_uc_grapheme_of(chars->at[at].c), y;
    bool picture = x == TN_UC_PICTURE; /* GB11: the cluster is a picture and marks */
    for (size_t i = at + 1; i < chars->count; i++, x = y) {
        uint32_t a = chars->at[i - 1].c, b = chars->at[i].c;
        y = tn_uc_grapheme_of(b);
        if (a == '\r' && b == '\n') continue;
        if (x == TN_UC_CONTROL || y == TN_UC_CONTROL) return i;
        bool joins = y == TN_UC_EXTEND || x == TN_UC_PREPEND || hangul_joins(a, b, x, y) ||
                     (picture && a == 0x200D && y == TN_UC_PICTURE);
        if (!joins) return i;
        picture = y == TN_UC_PICTURE || (picture && y == TN_UC_EXTEND);
    }
    return chars->count;
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

enum { LONGEST_CLUSTER = 5 };

/* Bytes of chars[begin, end) when they are few enough to be looked up together; else 0. */
static size_t spell_cluster(const struct tn_chars *chars, size_t begin, size_t end, char out[LONGEST_CLUSTER + 4])
{
    size_t n = 0;
    for (size_t i = begin; i < end && n <= LONGEST_CLUSTER; i++) n += tn_utf8_encode(chars->at[i].c, out + n);
    return n <= LONGEST_CLUSTER ? n : 0;
}

static enum tn_status push(struct tn_text_scratch *s, uint32_t c, int32_t change)
{
    if (s->form_count >= s->most_chars) return TN_RESOURCE_LIMIT;
    if (!tn_text_grow(s->alloc, &s->forms, &s->forms_cap, s->form_count + 1, sizeof(*s->forms))) return TN_INSUFFICIENT_MEMORY;
    s->forms[s->form_count++] = (struct tn_form){c, change, 0};
    return TN_OK;
}

/*
 * The image in place of `old` characters: additional ones are insertions; missing ones are swallowed by the last
 * character before, if there is one.
 */
static enum tn_status push_image(struct tn_text_scratch *s, struct tn_str image, size_t old)
{
    enum tn_status status = TN_OK;
    size_t first = s->form_count;
    uint32_t c = 0;
    for (size_t i = 0; i < image.n && !status;) {
        i += tn_utf8_decode(image.s + i, image.n - i, &c);
        status = push(s, c, 0);
    }
    size_t new = s->form_count - first;
    for (size_t i = old; i < new; i++) s->forms[first + i].change = 1;
    if (new < old && s->form_count) s->forms[s->form_count - 1].change -= (int32_t)(old - new);
    return status;
}

/* One cluster, chars[begin, end). */
static enum tn_status normalize_cluster(const struct tn_charsmap *map, struct tn_text_scratch *s, size_t begin, size_t end)
{
    char bytes[LONGEST_CLUSTER + 4];
    struct tn_str image;
    size_t n = spell_cluster(&s->chars, begin, end, bytes);
    enum tn_status status = TN_OK;
    if (n && look_up(map, (struct tn_str){bytes, n}, &image)) return push_image(s, image, end - begin);
    for (size_t i = begin; i < end && !status; i++) {
        n = tn_utf8_encode(s->chars.at[i].c, bytes);
        status = look_up(map, (struct tn_str){bytes, n}, &image) ? push_image(s, image, 1) : push(s, s->chars.at[i].c, 0);
    }
    return status;
}

enum tn_status tn_precompiled_forms(const struct tn_charsmap *map, struct tn_text_scratch *s)
{
    enum tn_status status = TN_OK;
    s->form_count = 0;
    for (size_t at = 0; at < s->chars.count && !status;) {
        size_t end = cluster_end(&s->chars, at);
        status = normalize_cluster(map, s, at, end);
        at = end;
    }
    return status;
}
