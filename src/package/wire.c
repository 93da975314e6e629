/*
 * The wire reader; see the header. Groups (types 3 and 4) are long gone from the formats that we meet: an error. So is
 * a varint of more than 64 bits, whose surplus other readers drop: two readers must not see two numbers.
 */
#include "package/wire.h"

#include <string.h>

void tn_wire_init(struct tn_wire *w, const struct tn_source *source)
{
    w->source = source;
    w->block_at = 0;
    w->block_n = 0;
    w->fields = 0;
    w->failed = false;
    w->failed_at = 0;
    w->why = "";
}

bool tn_wire_fail(struct tn_wire *w, uint64_t at, const char *why)
{
    if (w->failed) return false;
    w->failed = true;
    w->failed_at = at;
    w->why = why;
    return false;
}

enum { FIRST_BLOCK = 4096 };

static bool load(struct tn_wire *w, uint64_t at)
{
    uint64_t left = at < w->source->size ? w->source->size - at : 0;
    /* The next block follows this one where long lists are read: then more of it will be needed. */
    size_t most = w->block_n && at - w->block_at <= w->block_n ? TN_WIRE_BLOCK : FIRST_BLOCK, n = left < most ? (size_t)left : most;
    w->block_n = 0;
    if (n == 0) return tn_wire_fail(w, at, "the file ends here");
    if (w->source->read(w->source->context, at, w->block, n) != 0) return tn_wire_fail(w, at, "cannot be read");
    w->block_at = at;
    w->block_n = n;
    return true;
}

static bool byte_at(struct tn_wire *w, uint64_t at, unsigned char *out)
{
    if ((at < w->block_at || at - w->block_at >= w->block_n) && !load(w, at)) return false;
    *out = w->block[at - w->block_at];
    return true;
}

bool tn_wire_varint(struct tn_wire *w, struct tn_wire_range *range, uint64_t *out)
{
    uint64_t value = 0, start = range->at;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char c;
        if (range->at >= range->end) return tn_wire_fail(w, start, "a number is cut off");
        if (!byte_at(w, range->at, &c)) return false;
        range->at++;
        if (shift == 63 && c > 1) break;
        value |= (uint64_t)(c & 0x7F) << shift;
        if (!(c & 0x80)) {
            *out = value;
            return true;
        }
    }
    return tn_wire_fail(w, start, "a number of more than 64 bits");
}

static bool fixed(struct tn_wire *w, struct tn_wire_range *message, unsigned bytes, uint64_t *out)
{
    uint64_t value = 0;
    if (message->end - message->at < bytes) return tn_wire_fail(w, message->at, "a number is cut off");
    for (unsigned i = 0; i < bytes; i++) {
        unsigned char c;
        if (!byte_at(w, message->at + i, &c)) return false;
        value |= (uint64_t)c << (8 * i);
    }
    message->at += bytes;
    *out = value;
    return true;
}

static bool length_delimited(struct tn_wire *w, struct tn_wire_range *message, struct tn_wire_field *out)
{
    uint64_t length;
    if (!tn_wire_varint(w, message, &length)) return false;
    if (length > message->end - message->at)
        return tn_wire_fail(w, out->at, "a length goes beyond the message around it");
    out->bytes = (struct tn_wire_range){message->at, message->at + length};
    message->at += length;
    return true;
}

bool tn_wire_next(struct tn_wire *w, struct tn_wire_range *message, struct tn_wire_field *out)
{
    uint64_t key;
    if (w->failed || message->at >= message->end) return false;
    *out = (struct tn_wire_field){.at = message->at};
    if (++w->fields > TN_WIRE_FIELDS) return tn_wire_fail(w, message->at, "too many fields");
    if (!tn_wire_varint(w, message, &key)) return false;
    out->type = (unsigned)(key & 7);
    if (key >> 3 == 0 || key >> 3 > UINT32_C(0x1FFFFFFF)) return tn_wire_fail(w, out->at, "no field has this number");
    out->number = (uint32_t)(key >> 3);
    switch (out->type) {
    case TN_WIRE_VARINT: return tn_wire_varint(w, message, &out->value);
    case TN_WIRE_FIXED64: return fixed(w, message, 8, &out->value);
    case TN_WIRE_FIXED32: return fixed(w, message, 4, &out->value);
    case TN_WIRE_BYTES: return length_delimited(w, message, out);
    case 3:
    case 4: return tn_wire_fail(w, out->at, "a group, which the format has not");
    default: return tn_wire_fail(w, out->at, "no wire type has this number");
    }
}

/* The part of a message that lies in the block, when a run of `like` may begin there. */
static bool in_block(const struct tn_wire *w, const struct tn_wire_range *message, const struct tn_wire_field *like, const unsigned char **p,
                     const unsigned char **stop, unsigned char *key)
{
    uint64_t at = message->at, end = w->block_at + w->block_n < message->end ? w->block_at + w->block_n : message->end;
    if (w->failed || like->number > 15 || at < w->block_at || at >= end) return false;
    *p = w->block + (at - w->block_at);
    *stop = *p + (end - at);
    *key = (unsigned char)(like->number << 3 | like->type);
    return true;
}

size_t tn_wire_more_bytes(struct tn_wire *w, struct tn_wire_range *message, const struct tn_wire_field *like, struct tn_wire_range *out, size_t cap)
{
    const unsigned char *p, *stop;
    unsigned char key;
    size_t n = 0;
    if (like->type != TN_WIRE_BYTES || !in_block(w, message, like, &p, &stop, &key)) return 0;
    for (; n < cap && w->fields < TN_WIRE_FIELDS && stop - p > 2 && *p == key && p[1] < 0x80 && stop - p - 2 >= p[1]; p += 2 + p[1], n++, w->fields++) {
        uint64_t at = w->block_at + (uint64_t)(p + 2 - w->block);
        out[n] = (struct tn_wire_range){at, at + p[1]};
    }
    message->at = w->block_at + (uint64_t)(p - w->block);
    return n;
}

/* Behind one field of this key that lies whole before stop - 10, and has a number of up to nine bytes or a length of one; NULL: other. */
static inline const unsigned char *behind(const unsigned char *p, const unsigned char *stop, unsigned type)
{
    if (type == TN_WIRE_FIXED32) return p + 5;
    if (type == TN_WIRE_FIXED64) return p + 9;
    if (type == TN_WIRE_BYTES) return p[1] < 0x80 && stop - p - 2 >= p[1] ? p + 2 + p[1] : NULL;
    if (p[1] < 0x80) return p + 2; /* most numbers take one byte or two */
    if (p[2] < 0x80) return p + 3;
    for (unsigned n = 3; n < 10; n++) {
        if (p[n] < 0x80) return p + n + 1;
    }
    return NULL;
}

static inline size_t skip_run(const unsigned char **at, const unsigned char *stop, unsigned char key, unsigned type, size_t most)
{
    const unsigned char *p = *at, *q;
    size_t n = 0;
    for (; n < most && stop - p > 10 && *p == key && (q = behind(p, stop, type)); n++) p = q;
    *at = p;
    return n;
}

/* As tn_wire_more: what could be wrong is left to tn_wire_next. One loop for each type. */
size_t tn_wire_skip(struct tn_wire *w, struct tn_wire_range *message, const struct tn_wire_field *like)
{
    const unsigned char *p, *stop;
    unsigned char key;
    size_t n = 0, most = w->fields < TN_WIRE_FIELDS ? (size_t)(TN_WIRE_FIELDS - w->fields) : 0;
    if (!in_block(w, message, like, &p, &stop, &key)) return 0;
    if (like->type == TN_WIRE_VARINT) n = skip_run(&p, stop, key, TN_WIRE_VARINT, most);
    else if (like->type == TN_WIRE_BYTES) n = skip_run(&p, stop, key, TN_WIRE_BYTES, most);
    else if (like->type == TN_WIRE_FIXED32) n = skip_run(&p, stop, key, TN_WIRE_FIXED32, most);
    else n = skip_run(&p, stop, key, TN_WIRE_FIXED64, most);
    w->fields += n;
    message->at = w->block_at + (uint64_t)(p - w->block);
    return n;
}

uint64_t tn_wire_count(struct tn_wire *w, struct tn_wire_range message, const struct tn_wire_field *like)
{
    uint64_t n = 0, fields = w->fields;
    struct tn_wire_field f = *like;
    if (w->failed) return 0;
    while (f.number == like->number && f.type == like->type) {
        n += tn_wire_skip(w, &message, like);
        if (!tn_wire_next(w, &message, &f)) break;
        n++;
    }
    n -= n && (f.number != like->number || f.type != like->type);
    w->fields = fields;
    w->failed = false;
    return n;
}

/* Only what lies whole in the block and has a number of up to nine bytes: no error is possible. */
size_t tn_wire_more(struct tn_wire *w, struct tn_wire_range *message, const struct tn_wire_field *like, uint64_t *out, size_t cap)
{
    const unsigned char *p, *stop, *q;
    unsigned char key;
    size_t n = 0, most = w->fields < TN_WIRE_FIELDS ? (size_t)(TN_WIRE_FIELDS - w->fields) : 0;
    if (!in_block(w, message, like, &p, &stop, &key)) return 0;
    most = most < cap ? most : cap;
    if (like->type == TN_WIRE_FIXED32) {
        for (; n < most && stop - p > 10 && *p == key; p += 5) out[n++] = (uint64_t)p[1] | (uint64_t)p[2] << 8 | (uint64_t)p[3] << 16 | (uint64_t)p[4] << 24;
    } else {
        for (; n < most && stop - p > 10 && *p == key && (q = behind(p, stop, TN_WIRE_VARINT)); p = q) {
            uint64_t value = p[1] & 0x7F;
            for (unsigned k = 2; k < q - p; k++) value |= (uint64_t)(p[k] & 0x7F) << (7 * (k - 1));
            out[n++] = value;
        }
    }
    w->fields += n;
    message->at = w->block_at + (uint64_t)(p - w->block);
    return n;
}

bool tn_wire_copy(struct tn_wire *w, struct tn_wire_range bytes, void *out, size_t n)
{
    if (w->failed || n > bytes.end - bytes.at) return tn_wire_fail(w, bytes.at, "more bytes are needed than there are");
    if (n == 0) return true;
    if (n > FIRST_BLOCK) {
        if (w->source->read(w->source->context, bytes.at, out, n) == 0) return true;
        return tn_wire_fail(w, bytes.at, "cannot be read");
    }
    bool inside = bytes.at >= w->block_at && bytes.at - w->block_at < w->block_n;
    if ((!inside || w->block_n - (bytes.at - w->block_at) < n) && !load(w, bytes.at)) return false;
    if (w->block_n < n) return tn_wire_fail(w, bytes.at, "the file ends here");
    memcpy(out, w->block + (bytes.at - w->block_at), n);
    return true;
}

size_t tn_wire_text(struct tn_wire *w, struct tn_wire_range bytes, char *out, size_t cap)
{
    uint64_t length = bytes.end - bytes.at;
    size_t n = length < cap - 1 ? (size_t)length : cap - 1;
    if (!tn_wire_copy(w, bytes, out, n)) n = 0;
    out[n] = 0;
    return n;
}
