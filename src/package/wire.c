/* The wire reader; see the header. Groups (types 3 and 4) are long gone from the formats that we meet: an error. */
#include "package/wire.h"

#include <string.h>

void tn_wire_init(struct tn_wire *w, const struct tn_source *source)
{
    w->source = source;
    w->block_at = 0;
    w->block_n = 0;
    w->fields = 0;
    w->failed = false;
}

static bool fail(struct tn_wire *w)
{
    w->failed = true;
    return false;
}

static bool load(struct tn_wire *w, uint64_t at)
{
    uint64_t left = at < w->source->size ? w->source->size - at : 0;
    size_t n = left < TN_WIRE_BLOCK ? (size_t)left : TN_WIRE_BLOCK;
    if (n == 0 || w->source->read(w->source->context, at, w->block, n) != 0) return fail(w);
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

static bool varint(struct tn_wire *w, struct tn_wire_range *message, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char c;
        if (message->at >= message->end || !byte_at(w, message->at, &c)) return fail(w);
        message->at++;
        value |= (uint64_t)(c & 0x7F) << shift;
        if (!(c & 0x80)) {
            *out = value;
            return true;
        }
    }
    return fail(w);
}

static bool fixed(struct tn_wire *w, struct tn_wire_range *message, unsigned bytes, uint64_t *out)
{
    uint64_t value = 0;
    if (message->end - message->at < bytes) return fail(w);
    for (unsigned i = 0; i < bytes; i++) {
        unsigned char c;
        if (!byte_at(w, message->at + i, &c)) return false;
        value |= (uint64_t)c << (8 * i);
    }
    message->at += bytes;
    *out = value;
    return true;
}

bool tn_wire_next(struct tn_wire *w, struct tn_wire_range *message, struct tn_wire_field *out)
{
    uint64_t key, length;
    if (w->failed || message->at >= message->end) return false;
    if (++w->fields > TN_WIRE_FIELDS || !varint(w, message, &key)) return fail(w);
    *out = (struct tn_wire_field){.type = (unsigned)(key & 7)};
    if (key >> 3 == 0 || key >> 3 > UINT32_C(0x1FFFFFFF)) return fail(w);
    out->number = (uint32_t)(key >> 3);
    switch (out->type) {
    case TN_WIRE_VARINT: return varint(w, message, &out->value);
    case TN_WIRE_FIXED64: return fixed(w, message, 8, &out->value);
    case TN_WIRE_FIXED32: return fixed(w, message, 4, &out->value);
    case TN_WIRE_BYTES:
        if (!varint(w, message, &length) || length > message->end - message->at) return fail(w);
        out->bytes = (struct tn_wire_range){message->at, message->at + length};
        message->at += length;
        return true;
    default: return fail(w);
    }
}

size_t tn_wire_text(struct tn_wire *w, struct tn_wire_range bytes, char *out, size_t cap)
{
    uint64_t length = bytes.end - bytes.at;
    size_t n = length < cap - 1 ? (size_t)length : cap - 1;
    if (n && w->source->read(w->source->context, bytes.at, out, n) != 0) {
        w->failed = true;
        n = 0;
    }
    out[n] = 0;
    return n;
}
