/*
 * encode TOKENIZER.json TEXTS [general]: encodes many texts for the parity check. TEXTS holds, per text, its length in
 * bytes as a little-endian u32 and the text. Standard output, all little-endian u32: the status and the number of tokens;
 * per token its id, type id, special mask, begin and end in bytes; the length of the decoded text (special tokens left
 * out), and its bytes. "general" takes the general path alone.
 */
#include "base/json.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) exit(2);
    fclose(file);
    *n = (size_t)size;
    return data;
}

static void write_u32(uint32_t v)
{
    unsigned char bytes[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16), (unsigned char)(v >> 24)};
    fwrite(bytes, 1, sizeof(bytes), stdout);
}

static uint32_t read_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void answer(const struct tn_text_tokenizer *t, struct tn_str text, bool general, struct tn_text_encoding *e)
{
    struct tn_text_options o = {.want_offsets = true, .general_path = general};
    struct tn_buf decoded;
    enum tn_status status = tn_text_encode(t, text, (struct tn_str){0}, &o, e, NULL);
    size_t count = status ? 0 : e->count;
    write_u32((uint32_t)status);
    write_u32((uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        write_u32(e->ids[i]);
        write_u32(e->type_ids[i]);
        write_u32(e->special_mask[i]);
        write_u32(e->offsets[i][0]);
        write_u32(e->offsets[i][1]);
    }
    tn_buf_init(&decoded, e->alloc, (size_t)1 << 28);
    if (tn_text_decode(t, e->ids, count, true, &decoded)) exit(3);
    write_u32((uint32_t)decoded.len);
    fwrite(decoded.len ? decoded.data : "", 1, decoded.len, stdout);
    tn_buf_release(&decoded);
}

int main(int argc, char **argv)
{
    static struct tn_error err;
    struct tn_alloc alloc;
    struct tn_context ctx = {.alloc = &alloc, .limits = tn_limits_default()};
    struct tn_text_tokenizer *t = NULL;
    struct tn_text_encoding e;
    struct tn_json_doc doc;
    size_t n, size;
    if (argc < 3) return 2;
    char *json = read_file(argv[1], &n), *texts = read_file(argv[2], &size);
    tn_alloc_init(&alloc);
    enum tn_status status = tn_json_parse(&doc, &alloc, &ctx.limits, TN_STR("tokenizer.json"), (struct tn_str){json, n}, &err);
    if (!status) {
        status = tn_text_tokenizer_from_json(&ctx, tn_json_root(&doc), &t, &err);
        tn_json_release(&doc);
    }
    if (status) {
        fprintf(stderr, "%s: %s %s\n", err.primary.message, err.primary.element, err.primary.found);
        return 1;
    }
    tn_text_encoding_init(&e, &alloc);
    for (size_t at = 0; size - at >= 4;) {
        uint32_t length = read_u32(texts + at);
        if (length > size - at - 4) return 2;
        answer(t, (struct tn_str){texts + at + 4, length}, argc > 3 && strcmp(argv[3], "general") == 0, &e);
        at += 4 + (size_t)length;
    }
    tn_text_encoding_release(&e);
    tn_text_tokenizer_free(t);
    free(json);
    free(texts);
    return tn_alloc_current(&alloc) ? 4 : 0;
}
