/*
 * YAML through libyaml's events. The surprising decision: events become JSON text in our own memory, and the JSON reader
 * makes the document from it. So every value of a YAML document has JSON text, numbers and duplicate keys are judged by
 * the same code, and an alias is a copy of bytes. Beside the text stands one place per node, the byte in the YAML where
 * it was written. The second pass costs a twentieth of the first.
 *
 * Input is hostile; libyaml sees it after tn_yaml_check_text only. Nothing recurses by the input's depth.
 */
#include "base/json_node.h"
#include "base/json_write.h"
#include "base/yaml.h"
#include "base/yaml_parts.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define NO_ANCHOR UINT32_MAX

/* A container that is being written. */
struct open {
    uint32_t key_from, key_to; /* the current member's key in the JSON text, with its quotes */
    uint32_t count;            /* members or elements begun */
    uint32_t anchor;           /* index, or NO_ANCHOR */
    uint32_t height;           /* levels of containers below it so far */
    bool object, key_next;
};

struct reader {
    struct tn_alloc *alloc;
    const struct tn_limits *limits;
    struct tn_str file, text;
    struct tn_error *err;
    yaml_parser_t parser;
    struct tn_buf json;
    struct tn_json_writer strings; /* into `json`; only ever writes strings, so it keeps no nesting */
    uint32_t *places;
    size_t place_count, place_cap;
    struct open *stack;
    size_t depth, stack_cap;
    struct tn_yaml_anchors anchors;
    uint64_t expansion; /* bytes that aliases have added */
    size_t seen_index, seen_byte; /* a character of libyaml's count and its byte in the text */
    size_t documents;
};

/* ---- places ----------------------------------------------------------------------------------------------------- */

static bool continues(const struct reader *r, size_t at)
{
    return at < r->text.n && ((unsigned char)r->text.s[at] & 0xC0) == 0x80;
}

/* libyaml counts characters; events come in the order of the text, so one walk over it serves all of them. */
static size_t byte_of(struct reader *r, size_t index)
{
    while (r->seen_index < index && r->seen_byte < r->text.n) {
        do r->seen_byte++;
        while (continues(r, r->seen_byte));
        r->seen_index++;
    }
    while (r->seen_index > index) {
        do r->seen_byte--;
        while (continues(r, r->seen_byte));
        r->seen_index--;
    }
    return r->seen_byte;
}

static struct open *top(struct reader *r)
{
    return r->depth ? &r->stack[r->depth - 1] : NULL;
}

static bool wants_key(struct reader *r)
{
    const struct open *container = top(r);
    return container && container->object && container->key_next;
}

/* A segment of a pointer from a key as the writer wrote it. */
static void put_segment(struct tn_buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '\\' && i + 1 < n) {
            c = s[++i] == 'n' ? '\n' : s[i] == 'r' ? '\r' : s[i] == 't' ? '\t' : s[i];
            if (c == 'u') {
                c = '?'; /* a control character: shown, not looked up */
                i += 4;
            }
        }
        if (c == '~') {
            tn_buf_puts(out, "~0");
        } else if (c == '/') {
            tn_buf_puts(out, "~1");
        } else {
            tn_buf_putc(out, c);
        }
    }
}

/* The pointer of the value that is being read; of its container while a key is. Cut at cap. */
static struct tn_str pointer_here(struct reader *r, char *buf, size_t cap)
{
    struct tn_buf out = {.data = buf, .cap = cap, .max = cap - 1};
    buf[0] = 0;
    for (size_t i = 0; i < r->depth; i++) {
        const struct open *o = &r->stack[i];
        if (o->object && o->key_next) continue;
        tn_buf_putc(&out, '/');
        if (o->object) {
            put_segment(&out, r->json.data + o->key_from + 1, o->key_to - o->key_from - 2);
        } else {
            char digits[24];
            int n = snprintf(digits, sizeof(digits), "%lu", o->count ? (unsigned long)o->count - 1 : 0);
            tn_buf_append(&out, digits, (size_t)n);
        }
    }
    return tn_buf_str(&out);
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

static struct tn_finding *refuse_byte(struct reader *r, enum tn_status code, size_t byte, const char *what)
{
    struct tn_yaml_position at = r->err ? tn_yaml_position(r->text, byte) : (struct tn_yaml_position){0};
    struct tn_finding *f = tn_error_set(r->err, code, TN_PHASE_PACKAGE, "YAML, line %zu, column %zu: %s", at.line,
                                        at.column, what);
    tn_at_offset(f, r->file, byte);
    return f;
}

/* Refuses what an event says; the place is its byte and the pointer of the value. */
static struct tn_finding *refuse(struct reader *r, const yaml_event_t *e, enum tn_status code, const char *what)
{
    struct tn_finding *f = refuse_byte(r, code, byte_of(r, e->start_mark.index), what);
    char pointer[256];
    if (f) tn_at_element(f, TN_ELEMENT_POINTER, pointer_here(r, pointer, sizeof(pointer)));
    return f;
}

static enum tn_status malformed(struct reader *r, const yaml_event_t *e, const char *what, const char *expected,
                                const char *remedy)
{
    struct tn_finding *f = refuse(r, e, TN_ARTIFACT_MALFORMED, what);
    if (e->type == YAML_SCALAR_EVENT) {
        tn_found(f, "%.*s", (int)(e->data.scalar.length > 200 ? 200 : e->data.scalar.length),
                 (const char *)e->data.scalar.value);
    } else if (e->type == YAML_ALIAS_EVENT) {
        tn_found(f, "*%.200s", (const char *)e->data.alias.anchor);
    }
    tn_expected(f, "%s", expected);
    tn_remedy(f, "%s", remedy);
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status tell_limit(struct tn_finding *f, const char *name, uint64_t found, uint64_t limit)
{
    tn_found(f, "%llu", (unsigned long long)found);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    tn_remedy(f, "raise the limit %s if the file is trusted", name);
    return TN_RESOURCE_LIMIT;
}

static enum tn_status over_limit(struct reader *r, const yaml_event_t *e, const char *name, uint64_t found,
                                 uint64_t limit)
{
    char what[96];
    snprintf(what, sizeof(what), "the document exceeds the limit %s", name);
    return tell_limit(refuse(r, e, TN_RESOURCE_LIMIT, what), name, found, limit);
}

static enum tn_status no_memory(struct reader *r)
{
    return tn_error_memory(r->err, TN_PHASE_PACKAGE, "reading a YAML document");
}

/* What the buffer of the JSON text has to say after an event. */
static enum tn_status text_status(struct reader *r, const yaml_event_t *e)
{
    enum tn_status status = tn_buf_status(&r->json);
    if (status == TN_RESOURCE_LIMIT) return over_limit(r, e, "json_bytes", (uint64_t)r->json.max + 1, r->json.max);
    return status ? no_memory(r) : TN_OK;
}

static enum tn_status parser_failed(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    /* libyaml 0.2.5 forgets to say so when memory for the handle of a verbatim tag is lost. */
    if (p->error == YAML_MEMORY_ERROR || p->error == YAML_NO_ERROR) return no_memory(r);
    char what[200];
    const char *problem = p->problem ? p->problem : "it cannot be read";
    if (p->context) {
        snprintf(what, sizeof(what), "%s (%s that began in line %zu)", problem, p->context, p->context_mark.line + 1);
    } else {
        snprintf(what, sizeof(what), "%s", problem);
    }
    /* The reader counts bytes of what it was given; the scanner and the parser count characters. */
    size_t byte = p->error == YAML_READER_ERROR ? p->problem_offset : byte_of(r, p->problem_mark.index);
    if (byte > r->text.n) byte = r->text.n;
    struct tn_finding *f = refuse_byte(r, TN_ARTIFACT_MALFORMED, byte, what);
    if (byte < r->text.n) {
        tn_found(f, "byte 0x%02X", (unsigned)(unsigned char)r->text.s[byte]);
    } else {
        tn_found(f, "the end of the document after %zu bytes", r->text.n);
    }
    tn_expected(f, "one document of YAML 1.2");
    tn_remedy(f, "repair the file or fetch it again");
    return TN_ARTIFACT_MALFORMED;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static enum tn_status add_places(struct reader *r, const yaml_event_t *e, size_t count)
{
    if (count > r->limits->json_nodes || r->place_count > r->limits->json_nodes - count) {
        return over_limit(r, e, "json_nodes", r->place_count + count, r->limits->json_nodes);
    }
    void *places = r->places;
    if (!tn_yaml_make_room(r->alloc, &places, &r->place_cap, r->place_count + count, sizeof(*r->places))) return no_memory(r);
    r->places = places;
    return TN_OK;
}

/* The comma, the count and the place of a key, a member's value or an element. */
static enum tn_status begin_node(struct reader *r, const yaml_event_t *e)
{
    struct open *container = top(r);
    if (container && (!container->object || container->key_next)) {
        if (container->count++ > 0) tn_buf_putc(&r->json, ',');
    }
    enum tn_status status = add_places(r, e, 1);
    if (status == TN_OK) r->places[r->place_count++] = (uint32_t)byte_of(r, e->start_mark.index);
    return status;
}

/* A key was written in [from, end of the text), or a value of the given height. */
static void end_node(struct reader *r, uint32_t from, uint32_t height)
{
    struct open *container = top(r);
    if (!container) return;
    if (wants_key(r)) {
        container->key_from = from;
        container->key_to = (uint32_t)r->json.len;
        container->key_next = false;
        tn_buf_putc(&r->json, ':');
        return;
    }
    container->key_next = container->object;
    if (height > container->height) container->height = height;
}

static bool starts_string(const struct reader *r, uint32_t from)
{
    return from < r->json.len && r->json.data[from] == '"';
}

/* ---- anchors and aliases ---------------------------------------------------------------------------------------- */

/* Begins what `name` stands for (NULL: no anchor) at the node that begin_node has just begun. */
static enum tn_status begin_anchor(struct reader *r, const yaml_event_t *e, const yaml_char_t *name, uint32_t *index)
{
    *index = NO_ANCHOR;
    if (!name) return TN_OK;
    if (r->anchors.count >= r->limits->yaml_anchors) {
        return over_limit(r, e, "yaml_anchors", r->anchors.count + 1, r->limits->yaml_anchors);
    }
    size_t length = strlen((const char *)name);
    if (length > r->limits->name_bytes) return over_limit(r, e, "name_bytes", length, r->limits->name_bytes);
    struct tn_yaml_anchor anchor = {.from = (uint32_t)r->json.len, .first_place = (uint32_t)r->place_count - 1};
    *index = (uint32_t)r->anchors.count;
    return tn_yaml_anchors_add(&r->anchors, tn_str_of((const char *)name), &anchor) ? TN_OK : no_memory(r);
}

static void end_anchor(struct reader *r, uint32_t index, uint32_t height, size_t scalar_bytes)
{
    if (index == NO_ANCHOR) return;
    struct tn_yaml_anchor *anchor = &r->anchors.items[index];
    anchor->to = (uint32_t)r->json.len;
    anchor->last_place = (uint32_t)r->place_count;
    anchor->height = height;
    anchor->scalar_bytes = scalar_bytes;
}

static enum tn_status check_copy(struct reader *r, const yaml_event_t *e, const struct tn_yaml_anchor *anchor)
{
    uint64_t total = r->expansion + (anchor->to - anchor->from);
    if (total > r->limits->yaml_expansion) {
        return over_limit(r, e, "yaml_expansion", total, r->limits->yaml_expansion);
    }
    if (r->depth + anchor->height > r->limits->json_depth) {
        return over_limit(r, e, "json_depth", r->depth + anchor->height, r->limits->json_depth);
    }
    if (!wants_key(r)) return TN_OK;
    if (!starts_string(r, anchor->from)) {
        return malformed(r, e, "a key that is an alias to something else than a string", "a string key",
                         "write the key in quotes");
    }
    if (anchor->scalar_bytes > r->limits->name_bytes) {
        return over_limit(r, e, "name_bytes", anchor->scalar_bytes, r->limits->name_bytes);
    }
    return TN_OK;
}

/* Copies text and places; the copy itself is at the alias, what is inside it where it was written. */
static enum tn_status copy_anchored(struct reader *r, const yaml_event_t *e, const struct tn_yaml_anchor *anchor)
{
    size_t inside = anchor->last_place - anchor->first_place - 1, n = anchor->to - anchor->from;
    enum tn_status status = add_places(r, e, inside);
    if (status) return status;
    memcpy(r->places + r->place_count, r->places + anchor->first_place + 1, inside * sizeof(*r->places));
    r->place_count += inside;
    uint32_t from = (uint32_t)r->json.len;
    char *at = tn_buf_reserve(&r->json, n);
    if (!at) return TN_OK; /* the buffer remembers */
    memcpy(at, r->json.data + anchor->from, n);
    r->json.len += n;
    r->expansion += n;
    end_node(r, from, anchor->height);
    return TN_OK;
}

static enum tn_status on_alias(struct reader *r, const yaml_event_t *e)
{
    enum tn_status status = begin_node(r, e);
    if (status) return status;
    const struct tn_yaml_anchor *anchor =
        tn_yaml_anchors_find(&r->anchors, tn_str_of((const char *)e->data.alias.anchor));
    if (!anchor) {
        return malformed(r, e, "an alias to an anchor that is not there", "an anchor of that name before the alias",
                         "define the anchor or write the value itself");
    }
    if (anchor->to == 0) {
        return malformed(r, e, "an alias inside its own anchor", "a value that does not contain itself",
                         "write the value itself");
    }
    status = check_copy(r, e, anchor);
    return status ? status : copy_anchored(r, e, anchor);
}

/* ---- scalars ---------------------------------------------------------------------------------------------------- */

#define CORE_TAG "tag:yaml.org,2002:"

/* What stands behind the core prefix of a tag; NULL for any other tag. */
static const char *core_tag(const yaml_char_t *tag)
{
    const char *s = (const char *)tag;
    return strncmp(s, CORE_TAG, sizeof(CORE_TAG) - 1) == 0 ? s + sizeof(CORE_TAG) - 1 : NULL;
}

static enum tn_status foreign_tag(struct reader *r, const yaml_event_t *e, const char *tag)
{
    struct tn_finding *f = refuse(r, e, TN_ARTIFACT_MALFORMED, strncmp(tag, CORE_TAG, sizeof(CORE_TAG) - 1) == 0
                                                                  ? "a tag that does not agree with its value"
                                                                  : "a tag that is not of the core schema");
    tn_found(f, "the tag %s", tag);
    tn_expected(f, "no tag, or the one of !!str, !!int, !!float, !!bool, !!null, !!seq, !!map that the value has");
    tn_remedy(f, "remove the tag; quote the value if it is a string");
    return TN_ARTIFACT_MALFORMED;
}

/*
 * The tag "!" makes a string of a plain scalar in YAML 1.2; libyaml drops it without a trace. A plain scalar begins with
 * neither '!' nor '&', so the text of the event tells.
 */
static bool has_bare_tag(struct reader *r, const yaml_event_t *e)
{
    const char *s = r->text.s;
    size_t i = byte_of(r, e->start_mark.index);
    if (i == r->text.n || (s[i] != '&' && s[i] != '!')) return false;
    size_t end = byte_of(r, e->end_mark.index);
    while (i < end && !strchr(" \t\r\n!", s[i])) i++; /* the anchor */
    while (i < end && strchr(" \t\r\n#", s[i])) {
        bool comment = s[i] == '#';
        while (comment && i < end && s[i] != '\n' && s[i] != '\r') i++;
        i += !comment;
    }
    return i < end && s[i] == '!';
}

/* Class of a scalar by style, tag and text; *as_float: a decimal integer that its tag makes a float. */
static enum tn_status classify(struct reader *r, const yaml_event_t *e, struct tn_str s, enum tn_yaml_class *class,
                               bool *as_float)
{
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    *as_float = false;
    if (!e->data.scalar.tag) {
        bool bare = plain ? has_bare_tag(r, e) : e->data.scalar.plain_implicit;
        if (bare) return foreign_tag(r, e, "!");
        *class = plain ? tn_yaml_classify(s) : TN_YAML_STRING;
        return TN_OK;
    }
    const char *tag = core_tag(e->data.scalar.tag);
    *class = tn_yaml_classify(s);
    if (tag && tn_yaml_apply_tag(tag, class, as_float)) return TN_OK;
    return foreign_tag(r, e, (const char *)e->data.scalar.tag);
}

static enum tn_status put_key(struct reader *r, const yaml_event_t *e, struct tn_str s, enum tn_yaml_class class)
{
    if (s.n > r->limits->name_bytes) return over_limit(r, e, "name_bytes", s.n, r->limits->name_bytes);
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !e->data.scalar.tag;
    if (plain && tn_str_is(s, "<<")) {
        return malformed(r, e, "a merge key, which is not part of YAML 1.2", "keys written out",
                         "write the merged members themselves; quote << if it is a name");
    }
    if (!tn_yaml_is_plain_key(class, s)) {
        return malformed(r, e, s.n ? "a key that is no string and has several spellings" : "an empty key",
                         "a string, or an integer, true, false or null as JSON spells it", "write the key in quotes");
    }
    if (class != TN_YAML_STRING && e->data.scalar.anchor) {
        return malformed(r, e, "an anchor at a key that is no string", "a string", "write the key in quotes");
    }
    tn_jw_str(&r->strings, s);
    return TN_OK;
}

static enum tn_status put_value(struct reader *r, const yaml_event_t *e, struct tn_str s, enum tn_yaml_class class,
                                bool as_float)
{
    if (class == TN_YAML_STRING) {
        tn_jw_str(&r->strings, s);
    } else if (class == TN_YAML_NOT_FINITE) {
        return malformed(r, e, "a number that is not finite", "a finite number", "write a number, or a string in quotes");
    } else if (as_float) {
        tn_yaml_put_decimal_as_float(&r->json, s);
    } else if (!tn_yaml_put_value(&r->json, class, s)) {
        return malformed(r, e, "an integer of more than 64 bits in base 8 or 16", "at most 64 bits",
                         "write it in decimal");
    }
    return TN_OK;
}

static enum tn_status on_scalar(struct reader *r, const yaml_event_t *e)
{
    struct tn_str s = {(const char *)e->data.scalar.value, e->data.scalar.length};
    enum tn_yaml_class class;
    bool as_float;
    uint32_t anchor = NO_ANCHOR;
    enum tn_status status = begin_node(r, e);
    if (status) return status;
    if (s.n > r->limits->yaml_scalar_bytes) {
        return over_limit(r, e, "yaml_scalar_bytes", s.n, r->limits->yaml_scalar_bytes);
    }
    status = classify(r, e, s, &class, &as_float);
    if (!status) status = begin_anchor(r, e, e->data.scalar.anchor, &anchor);
    if (status) return status;
    uint32_t from = (uint32_t)r->json.len;
    status = wants_key(r) ? put_key(r, e, s, class) : put_value(r, e, s, class, as_float);
    if (status) return status;
    end_anchor(r, anchor, 0, s.n);
    end_node(r, from, 0);
    return TN_OK;
}

/* ---- containers ------------------------------------------------------------------------------------------------- */

static enum tn_status open_container(struct reader *r, const yaml_event_t *e, bool object, const yaml_char_t *tag,
                                     const yaml_char_t *name)
{
    bool key = wants_key(r);
    uint32_t anchor;
    enum tn_status status = begin_node(r, e);
    if (status) return status;
    if (key) {
        return malformed(r, e, object ? "a key that is a mapping" : "a key that is a list", "a scalar key",
                         "use a string as the key");
    }
    const char *core = tag ? core_tag(tag) : NULL;
    if (tag && !(core && strcmp(core, object ? "map" : "seq") == 0)) return foreign_tag(r, e, (const char *)tag);
    if (r->depth >= r->limits->json_depth) {
        return over_limit(r, e, "json_depth", r->depth + 1, r->limits->json_depth);
    }
    void *stack = r->stack;
    if (!tn_yaml_make_room(r->alloc, &stack, &r->stack_cap, r->depth + 1, sizeof(*r->stack))) return no_memory(r);
    r->stack = stack;
    status = begin_anchor(r, e, name, &anchor);
    if (status) return status;
    r->stack[r->depth++] = (struct open){.anchor = anchor, .object = object, .key_next = object};
    tn_buf_putc(&r->json, object ? '{' : '[');
    return TN_OK;
}

static void close_container(struct reader *r)
{
    struct open closed = r->stack[--r->depth];
    tn_buf_putc(&r->json, closed.object ? '}' : ']');
    end_anchor(r, closed.anchor, closed.height + 1, 0);
    end_node(r, 0, closed.height + 1);
}

/* ---- documents -------------------------------------------------------------------------------------------------- */

static enum tn_status on_document(struct reader *r, const yaml_event_t *e)
{
    const yaml_version_directive_t *version = e->data.document_start.version_directive;
    if (r->documents++ > 0) {
        return malformed(r, e, "a second document begins", "one document", "split the file, or remove the line ---");
    }
    if (version && (version->major != 1 || version->minor != 2)) {
        struct tn_finding *f = refuse(r, e, TN_ARTIFACT_MALFORMED, "a document of another version of YAML");
        tn_found(f, "%%YAML %d.%d", version->major, version->minor);
        tn_expected(f, "%%YAML 1.2, or no such line");
        tn_remedy(f, "write the document in YAML 1.2, where yes and no are strings and 010 is ten");
        return TN_ARTIFACT_MALFORMED;
    }
    return TN_OK;
}

static enum tn_status on_end(struct reader *r)
{
    if (r->documents > 0) return TN_OK;
    struct tn_finding *f = refuse_byte(r, TN_ARTIFACT_MALFORMED, r->text.n, "there is no document");
    tn_found(f, "%s", r->text.n ? "nothing but space, comments and directives" : "an empty file");
    tn_expected(f, "one document");
    tn_remedy(f, "fetch the file again");
    return TN_ARTIFACT_MALFORMED;
}

static enum tn_status on_event(struct reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT: return on_document(r, e);
    case YAML_ALIAS_EVENT: return on_alias(r, e);
    case YAML_SCALAR_EVENT: return on_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(r, e, false, e->data.sequence_start.tag, e->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return open_container(r, e, true, e->data.mapping_start.tag, e->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: close_container(r); return TN_OK;
    case YAML_STREAM_END_EVENT: return on_end(r);
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_NO_EVENT: break;
    }
    return TN_OK;
}

static enum tn_status read_events(struct reader *r)
{
    size_t skip = r->text.n >= 3 && memcmp(r->text.s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    r->seen_byte = skip;
    if (!yaml_parser_initialize(&r->parser)) return no_memory(r);
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text.s + skip, r->text.n - skip);
    enum tn_status status = TN_OK;
    for (bool last = false; !status && !last;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event)) {
            status = parser_failed(r);
            break;
        }
        last = event.type == YAML_STREAM_END_EVENT;
        status = on_event(r, &event);
        if (!status) status = text_status(r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&r->parser);
    return status;
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

enum tn_status tn_yaml_check_size(const struct tn_limits *limits, struct tn_str file, uint64_t size_bytes,
                                  struct tn_error *err)
{
    uint64_t most = limits->yaml_bytes < UINT32_MAX ? limits->yaml_bytes : UINT32_MAX;
    if (size_bytes <= most) return TN_OK;
    struct tn_finding *f =
        tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "YAML: the document exceeds the limit yaml_bytes");
    tn_at_offset(f, file, most);
    return tell_limit(f, "yaml_bytes", size_bytes, most);
}

static enum tn_status check_text(struct reader *r)
{
    enum tn_status status = tn_yaml_check_size(r->limits, r->file, r->text.n, r->err);
    if (status) return status;
    struct tn_yaml_flaw flaw = tn_yaml_check_text(r->text);
    if (flaw.what) {
        struct tn_finding *f = refuse_byte(r, TN_ARTIFACT_MALFORMED, flaw.offset, flaw.what);
        tn_found(f, "byte 0x%02X", (unsigned)(unsigned char)r->text.s[flaw.offset]);
        tn_expected(f, "%s", flaw.expected);
        tn_remedy(f, "repair the file or fetch it again");
        return TN_ARTIFACT_MALFORMED;
    }
    size_t directives = tn_yaml_count_directives(r->text);
    if (directives <= r->limits->yaml_directives) return TN_OK;
    struct tn_finding *f = refuse_byte(r, TN_RESOURCE_LIMIT, 0, "the document exceeds the limit yaml_directives");
    return tell_limit(f, "yaml_directives", directives, r->limits->yaml_directives);
}

static enum tn_status read_json(struct reader *r, struct tn_json_doc *doc)
{
    struct tn_str json;
    json.s = tn_buf_take(&r->json, &json.n);
    if (!json.s) return no_memory(r);
    uint32_t *places = r->places;
    r->places = NULL;
    enum tn_status status = tn_json_parse_places(doc, r->alloc, r->limits, r->file, json, places, r->err);
    if (status != TN_ARTIFACT_MALFORMED || !r->err) return status;
    /* Only a duplicate key can be wrong with text of our own; say where people see it. */
    struct tn_finding *f = &r->err->primary;
    struct tn_yaml_position at = tn_yaml_position(r->text, f->offset < 0 ? 0 : (size_t)f->offset);
    snprintf(f->message, sizeof(f->message), "YAML, line %zu, column %zu: duplicate key in a mapping", at.line,
             at.column);
    return status;
}

enum tn_status tn_yaml_parse(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                             struct tn_str file, struct tn_str text, struct tn_error *err)
{
    struct reader r = {.alloc = alloc, .limits = limits, .file = file, .err = err};
    r.text = text.s ? text : TN_STR("");
    uint64_t most = limits->json_bytes < UINT32_MAX ? limits->json_bytes : UINT32_MAX - 1;
    *doc = (struct tn_json_doc){0};
    tn_buf_init(&r.json, alloc, (size_t)most);
    tn_jw_init(&r.strings, &r.json, false);
    tn_yaml_anchors_init(&r.anchors, alloc);
    enum tn_status status = check_text(&r);
    if (!status) status = read_events(&r);
    if (!status) status = read_json(&r, doc);
    tn_free(alloc, r.places);
    tn_free(alloc, r.stack);
    tn_yaml_anchors_release(&r.anchors);
    tn_buf_release(&r.json);
    return status;
}

bool tn_yaml_named(struct tn_str path)
{
    return tn_str_ends(path, ".yaml") || tn_str_ends(path, ".yml");
}
