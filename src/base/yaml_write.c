/*
 * YAML from a parsed document, through libyaml's emitter. The text reads back as the same values under YAML 1.2 and, for
 * the sake of older readers, under 1.1: whatever either could take for something else than a string is quoted.
 *
 * libyaml takes its memory from the C library, as the reader's header says; a document that we write is small.
 */
#include "base/yaml_write.h"

#include "base/yaml_parts.h"

#include <string.h>
#include <yaml.h>

enum { LINE_WIDTH = 120 };

static int append(void *data, unsigned char *bytes, size_t n)
{
    struct tn_buf *out = data;
    tn_buf_append(out, (const char *)bytes, n);
    return tn_buf_status(out) == TN_OK;
}

static bool is_word(struct tn_str s)
{
    static const char *const words[] = {"y", "n", "yes", "no", "on", "off"};
    char lower[4];
    if (s.n == 0 || s.n > 3) return false;
    for (size_t i = 0; i < s.n; i++) lower[i] = s.s[i] >= 'A' && s.s[i] <= 'Z' ? (char)(s.s[i] + 32) : s.s[i];
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == s.n && memcmp(words[i], lower, s.n) == 0) return true;
    return false;
}

/* Letters first: numbers, dates, times and everything with a meaning of its own begin otherwise. */
static bool may_be_plain(struct tn_str s)
{
    char c = s.n ? s.s[0] : 0;
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
    return letter && !is_word(s) && tn_yaml_classify(s) == TN_YAML_STRING;
}

/* U+0085, U+2028, U+2029: line breaks to YAML 1.1 alone, and so nothing but escapes is the same to both. */
static bool has_old_break(struct tn_str s)
{
    for (size_t i = 0; i + 1 < s.n; i++) {
        const unsigned char *c = (const unsigned char *)s.s + i;
        if (c[0] == 0xC2 && c[1] == 0x85) return true;
        if (i + 2 < s.n && c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9)) return true;
    }
    return false;
}

static bool emit_scalar(yaml_emitter_t *emitter, struct tn_str s, yaml_scalar_style_t style)
{
    yaml_event_t event;
    return s.n <= INT32_MAX && yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)s.s, (int)s.n, 1, 1,
                                                            style) && yaml_emitter_emit(emitter, &event);
}

static bool emit_text(yaml_emitter_t *emitter, struct tn_str s)
{
    return emit_scalar(emitter, s, may_be_plain(s) && !has_old_break(s) ? YAML_ANY_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

/* Empty collections have no block form. */
static bool begin(yaml_emitter_t *emitter, struct tn_json v)
{
    yaml_event_t event;
    bool empty = tn_json_count(v) == 0, object = tn_json_is(v, TN_JSON_OBJECT);
    int made = object ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                            empty ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE)
                      : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                             empty ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
    return made && yaml_emitter_emit(emitter, &event);
}

static bool end(yaml_emitter_t *emitter, struct tn_json v)
{
    yaml_event_t event;
    int made = tn_json_is(v, TN_JSON_OBJECT) ? yaml_mapping_end_event_initialize(&event)
                                             : yaml_sequence_end_event_initialize(&event);
    return made && yaml_emitter_emit(emitter, &event);
}

static bool emit_leaf(yaml_emitter_t *emitter, struct tn_json v)
{
    struct tn_str s;
    if (tn_json_str(v, &s)) return emit_text(emitter, s);
    return emit_scalar(emitter, tn_json_text(v), YAML_PLAIN_SCALAR_STYLE);
}

/* Down through first children, along siblings, and up again: `path` holds the containers that are open. */
static bool emit_value(yaml_emitter_t *emitter, struct tn_json root)
{
    struct tn_json path[TN_YAML_WRITE_DEPTH];
    size_t depth = 0;
    struct tn_json v = root;
    for (;;) {
        bool container = tn_json_is(v, TN_JSON_OBJECT) || tn_json_is(v, TN_JSON_ARRAY);
        if (depth > 0 && tn_json_is(path[depth - 1], TN_JSON_OBJECT) && !emit_text(emitter, tn_json_key(v))) return false;
        if (container ? depth == TN_YAML_WRITE_DEPTH || !begin(emitter, v) : !emit_leaf(emitter, v)) return false;
        struct tn_json next = container ? tn_json_first(v) : (struct tn_json){NULL, 0};
        if (container) path[depth++] = v;
        while (!tn_json_present(next) && depth > 0) {
            if (!container) next = tn_json_next(v);
            if (tn_json_present(next)) break;
            if (!end(emitter, path[depth - 1])) return false;
            v = path[--depth];
            container = false;
        }
        if (depth == 0 || !tn_json_present(next)) return true;
        v = next;
    }
}

static bool emit_document(yaml_emitter_t *emitter, struct tn_json root)
{
    yaml_event_t event;
    if (!yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) || !yaml_emitter_emit(emitter, &event)) return false;
    if (!yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) || !yaml_emitter_emit(emitter, &event)) return false;
    if (!emit_value(emitter, root)) return false;
    if (!yaml_document_end_event_initialize(&event, 1) || !yaml_emitter_emit(emitter, &event)) return false;
    return yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

enum tn_status tn_yaml_write(struct tn_json root, struct tn_buf *out)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter)) return TN_INSUFFICIENT_MEMORY;
    yaml_emitter_set_output(&emitter, append, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, LINE_WIDTH);
    bool good = emit_document(&emitter, root);
    enum tn_status status = tn_buf_status(out);
    if (!good && status == TN_OK) {
        status = emitter.error == YAML_MEMORY_ERROR || emitter.error == YAML_NO_ERROR ? TN_INSUFFICIENT_MEMORY
                                                                                      : TN_RUNTIME_FAILURE;
    }
    yaml_emitter_delete(&emitter);
    return status;
}
