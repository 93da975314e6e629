/* Findings: bounded list, cleaned texts. Texts may come from untrusted files; nothing here interprets them. */
#include "base/findings.h"

#include "base/json_write.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

void tn_findings_init(struct tn_findings *list, struct tn_alloc *alloc, size_t max)
{
    *list = (struct tn_findings){.alloc = alloc, .max = max};
}

void tn_findings_release(struct tn_findings *list)
{
    if (list->alloc) tn_free(list->alloc, list->items);
    list->items = NULL;
    list->count = list->cap = 0;
}

static struct tn_finding *append_slot(struct tn_findings *list)
{
    if (list->count == list->max) return NULL;
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 4;
        struct tn_finding *items = tn_realloc(list->alloc, list->items, cap * sizeof(*items));
        list->starved |= !items;
        if (!items) return NULL;
        list->items = items;
        list->cap = cap;
    }
    return &list->items[list->count++];
}

struct tn_finding *tn_findings_add(struct tn_findings *list, enum tn_severity severity, enum tn_status code,
                                   enum tn_phase phase, const char *format, ...)
{
    if (!list) return NULL;
    if (severity == TN_BLOCKER) list->blockers++;
    struct tn_finding *f = append_slot(list);
    if (!f) {
        list->dropped++;
        return NULL;
    }
    va_list args;
    va_start(args, format);
    tn_finding_begin(f, severity, code, phase, format, args);
    va_end(args);
    return f;
}

/* The same fault at the same place, noticed by two stages. Two tokens missing from one list are two faults: `found`. */
static bool is_listed(const struct tn_findings *list, const struct tn_finding *f)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *other = &list->items[i];
        if (other->code == f->code && other->severity == f->severity && other->offset == f->offset &&
            other->item == f->item && strcmp(other->message, f->message) == 0 && strcmp(other->file, f->file) == 0 &&
            strcmp(other->element, f->element) == 0 && strcmp(other->found, f->found) == 0) {
            return true;
        }
    }
    return false;
}

void tn_findings_append(struct tn_findings *list, const struct tn_findings *from)
{
    size_t seen = 0;
    for (size_t i = 0; i < from->count; i++) {
        bool blocker = from->items[i].severity == TN_BLOCKER;
        seen += blocker;
        if (is_listed(list, &from->items[i])) continue;
        list->blockers += blocker;
        struct tn_finding *f = append_slot(list);
        if (f) {
            *f = from->items[i];
        } else {
            list->dropped++;
        }
    }
    list->dropped += from->dropped;
    list->starved |= from->starved;
    if (from->blockers > seen) list->blockers += from->blockers - seen;
}

const struct tn_finding *tn_findings_first_blocker(const struct tn_findings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].severity == TN_BLOCKER) return &list->items[i];
    }
    return NULL;
}

static bool is_bidi_control(uint32_t c)
{
    return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
}

/* Length of the printable character at s, or 0 when its first byte must be escaped. */
static size_t printable_length(const char *s, size_t n)
{
    uint32_t c;
    size_t length = tn_utf8_decode(s, n, &c);
    if (length == 0 || c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0) || is_bidi_control(c)) return 0;
    return length;
}

void tn_clean_text(char *dst, size_t cap, const char *s, size_t n)
{
    size_t out = 0;
    for (size_t i = 0; i < n;) {
        size_t length = printable_length(s + i, n - i);
        size_t need = length ? length : 4;
        if (out + need + 1 > cap) {
            /* Back to the start of a character that leaves room; dst[out] itself has never been written. */
            size_t written = out;
            while (out > 0 && out + 4 > cap) out--;
            while (out > 0 && out < written && ((unsigned char)dst[out] & 0xC0) == 0x80) out--;
            memcpy(dst + out, "...", 3);
            out += 3;
            break;
        }
        if (length) {
            memcpy(dst + out, s + i, length);
            i += length;
        } else {
            snprintf(dst + out, cap - out, "\\x%02X", (unsigned)(unsigned char)s[i]);
            i++;
        }
        out += need;
    }
    dst[out] = 0;
}

static void format_clean(char *dst, size_t cap, const char *format, va_list args)
{
    char raw[1024];
    int n = vsnprintf(raw, sizeof(raw), format, args);
    if (n < 0) n = 0;
    size_t length = (size_t)n < sizeof(raw) ? (size_t)n : sizeof(raw) - 1;
    tn_clean_text(dst, cap, raw, length);
}

void tn_finding_begin(struct tn_finding *f, enum tn_severity severity, enum tn_status code, enum tn_phase phase,
                      const char *format, va_list args)
{
    if (!f) return;
    memset(f, 0, sizeof(*f));
    f->severity = severity;
    f->code = code;
    f->phase = phase;
    f->offset = f->item = -1;
    format_clean(f->message, sizeof(f->message), format, args);
}

void tn_at_file(struct tn_finding *f, struct tn_str file)
{
    if (f) tn_clean_text(f->file, sizeof(f->file), file.s, file.n);
}

void tn_at_element(struct tn_finding *f, enum tn_element_kind kind, struct tn_str element)
{
    if (!f) return;
    f->element_kind = kind;
    tn_clean_text(f->element, sizeof(f->element), element.s, element.n);
}

void tn_at_pointer(struct tn_finding *f, struct tn_str file, struct tn_str pointer)
{
    tn_at_file(f, file);
    tn_at_element(f, TN_ELEMENT_POINTER, pointer);
}

void tn_at_offset(struct tn_finding *f, struct tn_str file, uint64_t offset)
{
    tn_at_file(f, file);
    if (f) f->offset = offset > INT64_MAX ? INT64_MAX : (int64_t)offset;
}

void tn_at_tensor(struct tn_finding *f, struct tn_str file, struct tn_str tensor)
{
    tn_at_file(f, file);
    tn_at_element(f, TN_ELEMENT_TENSOR, tensor);
}

void tn_at_option(struct tn_finding *f, const char *option)
{
    tn_at_element(f, TN_ELEMENT_OPTION, tn_str_of(option));
}

void tn_at_item(struct tn_finding *f, size_t item)
{
    if (f) f->item = (int64_t)item;
}

#define FORMAT_FIELD(field)                                                                        \
    do {                                                                                           \
        if (!f) return;                                                                            \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        format_clean(f->field, sizeof(f->field), format, args);                                    \
        va_end(args);                                                                              \
    } while (0)

void tn_found(struct tn_finding *f, const char *format, ...)
{
    FORMAT_FIELD(found);
}

void tn_expected(struct tn_finding *f, const char *format, ...)
{
    FORMAT_FIELD(expected);
}

void tn_remedy(struct tn_finding *f, const char *format, ...)
{
    FORMAT_FIELD(remedy);
}

const char *tn_severity_name(enum tn_severity severity)
{
    return severity == TN_BLOCKER ? "blocker" : severity == TN_WARNING ? "warning" : "note";
}

const char *tn_element_name(enum tn_element_kind kind)
{
    switch (kind) {
#define X(name, text)                                                                              \
    case TN_ELEMENT_##name:                                                                        \
        return text;
        TN_ELEMENT_LIST(X)
#undef X
    }
    return "none";
}

static void write_where(struct tn_json_writer *w, const struct tn_finding *f)
{
    tn_jw_key(w, "where");
    tn_jw_begin_object(w);
    if (f->file[0]) tn_jw_member_cstr(w, "file", f->file);
    if (f->element_kind != TN_ELEMENT_NONE) tn_jw_member_cstr(w, tn_element_name(f->element_kind), f->element);
    if (f->offset >= 0) tn_jw_member_u64(w, "offset", (uint64_t)f->offset);
    if (f->item >= 0) tn_jw_member_u64(w, "index", (uint64_t)f->item);
    tn_jw_end_object(w);
}

static void write_text(struct tn_json_writer *w, const char *key, const char *text)
{
    if (text[0]) {
        tn_jw_member_cstr(w, key, text);
    } else {
        tn_jw_key(w, key);
        tn_jw_null(w);
    }
}

void tn_finding_write_members(struct tn_json_writer *w, const struct tn_finding *f)
{
    tn_jw_member_cstr(w, "code", tn_status_name(f->code));
    tn_jw_member_cstr(w, "phase", tn_phase_name(f->phase));
    tn_jw_member_cstr(w, "message", f->message);
    write_where(w, f);
    write_text(w, "found", f->found);
    write_text(w, "expected", f->expected);
    write_text(w, "remedy", f->remedy);
}

void tn_finding_write(struct tn_json_writer *w, const struct tn_finding *f)
{
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "severity", tn_severity_name(f->severity));
    tn_finding_write_members(w, f);
    tn_jw_end_object(w);
}

static size_t listed_blockers(const struct tn_findings *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) n += list->items[i].severity == TN_BLOCKER;
    return n;
}

void tn_findings_write(struct tn_json_writer *w, const struct tn_findings *list)
{
    tn_jw_begin_array(w);
    for (size_t i = 0; i < list->count; i++) tn_finding_write(w, &list->items[i]);
    if (list->dropped) {
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "severity", tn_severity_name(list->starved || list->blockers > listed_blockers(list) ? TN_BLOCKER : TN_NOTE));
        tn_jw_member_cstr(w, "code", tn_status_name(list->starved ? TN_INSUFFICIENT_MEMORY : TN_RESOURCE_LIMIT));
        tn_jw_member_cstr(w, "message", "further findings are not listed");
        tn_jw_member_u64(w, "dropped", list->dropped);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}
