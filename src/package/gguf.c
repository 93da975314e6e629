/*
 * GGUF, recognised: version, counts and, when it is the first entry as the writers put it, the architecture. Facts for
 * a line of text; tensors and metadata are for the reader that will execute it. Format: gguf.md of the ggml project.
 */
#include "package/gguf.h"

#include <string.h>

enum { TYPE_STRING = 8, LATEST = 3 };

static uint32_t swap32(uint32_t v)
{
    return v >> 24 | (v >> 8 & 0xFF00) | (v << 8 & 0xFF0000) | v << 24;
}

static void read_architecture(struct tn_cursor *c, struct tn_gguf_surface *out)
{
    static const char key[] = "general.architecture";
    char found[sizeof(key)] = "";
    if (tn_cursor_u64(c) != sizeof(key) - 1) return;
    tn_cursor_bytes(c, found, sizeof(key) - 1);
    if (strcmp(found, key) != 0 || tn_cursor_u32(c) != TYPE_STRING) return;
    uint64_t n = tn_cursor_u64(c);
    if (n < sizeof(out->architecture)) tn_cursor_bytes(c, out->architecture, (size_t)n);
    if (c->failed) out->architecture[0] = 0;
}

enum tn_status tn_gguf_surface(const struct tn_source *source, struct tn_gguf_surface *out, struct tn_error *err)
{
    struct tn_cursor c;
    *out = (struct tn_gguf_surface){0};
    tn_cursor_init(&c, source, 4, source->size, err);
    out->version = tn_cursor_u32(&c);
    out->big_endian = !c.failed && out->version > 0xFFFF && swap32(out->version) <= LATEST;
    if (out->big_endian) {
        out->version = swap32(out->version);
        return TN_OK;
    }
    if (out->version == 1) {
        out->tensors = tn_cursor_u32(&c);
        out->entries = tn_cursor_u32(&c);
    } else {
        out->tensors = tn_cursor_u64(&c);
        out->entries = tn_cursor_u64(&c);
    }
    if (c.failed) return c.failed;
    if (out->version >= 2 && out->version <= LATEST && out->entries) read_architecture(&c, out);
    return TN_OK;
}
