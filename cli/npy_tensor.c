#define _XOPEN_SOURCE 700
#include "npy_tensor.h"

#include "beside.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- types ---- */

static const struct {
    const char *descr; /* without the byte order */
    const char *element;
    unsigned bytes, part; /* part: what is swapped in the other byte order */
} types[] = {{"f4", "float32", 4, 4},     {"f8", "float64", 8, 8},   {"f2", "float16", 2, 2},   {"b1", "bool", 1, 1},
             {"i1", "int8", 1, 1},        {"i2", "int16", 2, 2},     {"i4", "int32", 4, 4},     {"i8", "int64", 8, 8},
             {"u1", "uint8", 1, 1},       {"u2", "uint16", 2, 2},    {"u4", "uint32", 4, 4},    {"u8", "uint64", 8, 8},
             {"c8", "complex64", 8, 4},   {"c16", "complex128", 16, 8}, {"V2", "bfloat16", 2, 2},
             {"V1", "float8_e4m3fn", 1, 1}, {"V1", "float8_e4m3fnuz", 1, 1}, {"V1", "float8_e5m2", 1, 1},
             {"V1", "float8_e5m2fnuz", 1, 1}, {"V1", "float8_e8m0", 1, 1}};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

static size_t type_of_element(const char *element)
{
    size_t i = 0;
    while (i < TYPES && strcmp(types[i].element, element) != 0) i++;
    return i;
}

static bool machine_is_big(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* ---- reading ---- */

/* What the header says. */
struct header {
    char order, descr[16];
    bool fortran, have_descr, have_shape;
    int64_t dims[8];
    size_t rank, count, begins;
};

static tn_status refuse(struct cli *cli, const char *option, const char *path, const char *what)
{
    cli_refuse(cli, TN_INVALID_REQUEST, option, "%.200s is no .npy file that can be read", path);
    snprintf(cli->problem.found, sizeof(cli->problem.found), "%s", what);
    snprintf(cli->problem.expected, sizeof(cli->problem.expected), "an array as numpy.save writes it, of numbers, truth values or fixed strings");
    return TN_INVALID_REQUEST;
}

static const char *skip_blanks(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\n' || *s == '\t')) s++;
    return s;
}

/* The value after 'key': of the header's dictionary, which is a Python literal; NULL: not there. */
static const char *member(const char *s, const char *end, const char *key)
{
    char quoted[32];
    int n = snprintf(quoted, sizeof(quoted), "'%s'", key);
    for (; s + n < end; s++) {
        if (memcmp(s, quoted, (size_t)n) != 0) continue;
        s = skip_blanks(s + n, end);
        return s < end && *s == ':' ? skip_blanks(s + 1, end) : NULL;
    }
    return NULL;
}

static bool read_descr(struct header *h, const char *s, const char *end)
{
    size_t n = 0;
    if (!s || s + 3 >= end || *s != '\'' || !strchr("<>|=", s[1])) return false;
    h->order = s[1];
    for (s += 2; s < end && *s != '\''; s++) {
        if (n + 1 == sizeof(h->descr)) return false;
        h->descr[n++] = *s;
    }
    h->descr[n] = 0;
    return s < end && n > 1;
}

static bool read_shape(struct header *h, const char *s, const char *end)
{
    if (!s || *s != '(') return false;
    h->count = 1;
    for (s = skip_blanks(s + 1, end); s < end && *s != ')';) {
        uint64_t v = 0;
        if (h->rank == 8 || *s < '0' || *s > '9') return false;
        for (; s < end && *s >= '0' && *s <= '9'; s++) {
            if (v > (UINT64_MAX >> 2) / 10) return false;
            v = v * 10 + (uint64_t)(*s - '0');
        }
        if (v && h->count > ((size_t)1 << 48) / v) return false;
        h->count *= (size_t)v;
        h->dims[h->rank++] = (int64_t)v;
        s = skip_blanks(s, end);
        if (s < end && *s == ',') s = skip_blanks(s + 1, end);
        else if (s >= end || *s != ')') return false;
    }
    return s < end;
}

static const char *read_header(struct header *h, const char *text, size_t n)
{
    if (n < 12 || memcmp(text, "\x93NUMPY", 6) != 0) return "no magic at its beginning";
    const unsigned char *u = (const unsigned char *)text;
    size_t long_form = u[6] >= 2, at = long_form ? 12 : 10;
    size_t length = long_form ? (size_t)u[8] | (size_t)u[9] << 8 | (size_t)u[10] << 16 | (size_t)u[11] << 24 : (size_t)u[8] | (size_t)u[9] << 8;
    if (u[6] < 1 || u[6] > 3) return "a version that is not known";
    if (length > n - at) return "a header that is cut";
    const char *s = text + at, *end = s + length;
    h->begins = at + length;
    if (!read_descr(h, member(s, end, "descr"), end)) return "no plain element type";
    if (!read_shape(h, member(s, end, "shape"), end)) return "no shape of at most 8 dimensions";
    const char *fortran = member(s, end, "fortran_order");
    if (!fortran || end - fortran < 5) return "no word on the order of its elements";
    h->fortran = memcmp(fortran, "True", 4) == 0;
    return NULL;
}

static void swap_parts(char *data, size_t bytes, unsigned part)
{
    for (size_t at = 0; at + part <= bytes; at += part) {
        for (unsigned i = 0; i < part / 2; i++) {
            char c = data[at + i];
            data[at + i] = data[at + part - 1 - i];
            data[at + part - 1 - i] = c;
        }
    }
}

/* Column-major elements into row-major order. */
static void *reorder(const struct header *h, const char *from, size_t each)
{
    char *to = cli_alloc(cli_product(h->count ? h->count : 1, each));
    int64_t index[8] = {0};
    for (size_t i = 0; i < h->count; i++) {
        size_t at = 0, stride = 1;
        for (size_t d = 0; d < h->rank; d++) {
            at += (size_t)index[d] * stride;
            stride *= (size_t)h->dims[d];
        }
        memcpy(to + i * each, from + at * each, each);
        for (size_t d = h->rank; d-- > 0;) {
            if (++index[d] < h->dims[d]) break;
            index[d] = 0;
        }
    }
    return to;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) return out[0] = (char)c, 1;
    if (c < 0x800) return out[0] = (char)(0xC0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Fixed strings: of code points in 32 bits ("U"), or bytes ("S"); zeros at the end are padding. */
static const char *take_strings(struct cli_npy_tensor *t, const struct header *h, const char *from, size_t each, bool big)
{
    bool wide = h->descr[0] == 'U';
    size_t units = wide ? each / 4 : each, used = 0;
    tn_string *texts = cli_alloc_zero(cli_product(h->count + 1, sizeof(*texts)));
    t->data = texts;
    t->texts = cli_alloc(cli_product(h->count, each) + 1);
    for (size_t i = 0; i < h->count; i++) {
        const unsigned char *u = (const unsigned char *)from + i * each;
        size_t begin = used, kept = used;
        for (size_t k = 0; k < units; k++) {
            const unsigned char *p = u + 4 * k;
            uint32_t c = wide ? big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                                    : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0]
                              : u[k];
            if (wide && (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))) return "a string with a code point that there is not";
            if (wide) used += put_utf8(t->texts + used, c);
            else t->texts[used++] = (char)c;
            if (c) kept = used;
        }
        used = kept;
        texts[i] = (tn_string){t->texts + begin, kept - begin};
    }
    t->value.element = "string";
    t->value.size = h->count * sizeof(*texts);
    return NULL;
}

static const char *take_numbers(struct cli_npy_tensor *t, const struct header *h, const char *from, size_t type, bool swap)
{
    size_t bytes = h->count * types[type].bytes;
    t->data = cli_alloc(bytes);
    memcpy(t->data, from, bytes);
    if (swap) swap_parts(t->data, bytes, types[type].part);
    t->value.element = types[type].element;
    t->value.size = bytes;
    return NULL;
}

static const char *take(struct cli_npy_tensor *t, const struct header *h, const char *text, size_t n)
{
    size_t type = 0, each;
    uint64_t units = 0;
    bool strings = h->descr[0] == 'U' || h->descr[0] == 'S';
    bool big = h->order == '>' || (h->order == '=' && machine_is_big());
    while (type < TYPES && strcmp(types[type].descr, h->descr) != 0) type++;
    if (strings && (!cli_read_count(h->descr + 1, &units) || units > 1 << 20)) return "strings of a length that cannot be";
    if (!strings && type == TYPES) return "an element type that is not known";
    if (!strings && strcmp(types[type].descr, "V1") == 0) return "records of one byte, which may be of several types";
    each = strings ? (size_t)units * (h->descr[0] == 'U' ? 4 : 1) : types[type].bytes;
    if (each && h->count > (n - h->begins) / each) return "fewer elements than its shape has";
    if (cli_product(h->count, each) != n - h->begins) return "more elements than its shape has";
    void *ordered = h->fortran && h->rank > 1 ? reorder(h, text + h->begins, each) : NULL;
    const char *from = ordered ? ordered : text + h->begins;
    const char *fault = strings ? take_strings(t, h, from, each, big) : take_numbers(t, h, from, type, big != machine_is_big() && h->order != '|');
    free(ordered);
    memcpy(t->dims, h->dims, sizeof(t->dims));
    t->value.rank = h->rank;
    t->value.dims = t->dims;
    t->value.data = t->data;
    return fault;
}

/* The file as one block; tensors may be far larger than texts of options. */
static tn_status read_file(struct cli *cli, const char *option, const char *path, char **text, size_t *length)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    *text = NULL;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        int reason = fd < 0 ? errno : EINVAL;
        if (fd >= 0) close(fd);
        cli_refuse(cli, TN_INVALID_REQUEST, option, "cannot read %.200s", path);
        snprintf(cli->problem.found, sizeof(cli->problem.found), "%s", reason == EINVAL ? "not a plain file" : strerror(reason));
        return TN_INVALID_REQUEST;
    }
    char *data = cli_alloc((size_t)st.st_size + 1);
    while (used < (size_t)st.st_size) {
        ssize_t n = read(fd, data + used, (size_t)st.st_size - used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        used += (size_t)n;
    }
    close(fd);
    *text = data;
    *length = used;
    return TN_OK;
}

tn_status cli_npy_read(struct cli *cli, const char *option, const char *path, struct cli_npy_tensor *out)
{
    struct header h = {0};
    char *text;
    size_t n = 0;
    memset(out, 0, sizeof(*out));
    tn_status status = read_file(cli, option, path, &text, &n);
    if (status != TN_OK) return status;
    const char *fault = read_header(&h, text, n);
    if (!fault) fault = take(out, &h, text, n);
    free(text);
    return fault ? refuse(cli, option, path, fault) : TN_OK;
}

void cli_npy_release(struct cli_npy_tensor *t)
{
    free(t->data);
    free(t->texts);
    memset(t, 0, sizeof(*t));
}

/* ---- writing ---- */

bool cli_npy_holds(const tn_port_value *v)
{
    return v->kind == TN_VALUE_TENSOR && type_of_element(v->element) < TYPES;
}

/* The header is padded so that the data begin at a multiple of 64. */
static size_t make_header(char *out, size_t cap, const tn_port_value *v)
{
    size_t type = type_of_element(v->element), at = 10;
    char order = types[type].bytes == 1 ? '|' : machine_is_big() ? '>' : '<';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    at += (size_t)snprintf(out + at, cap - at, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, types[type].descr);
    for (size_t i = 0; i < v->rank; i++) at += (size_t)snprintf(out + at, cap - at, "%lld,%s", (long long)v->dims[i], i + 1 < v->rank ? " " : "");
    at += (size_t)snprintf(out + at, cap - at, "), }");
    while ((at + 1) % 64) out[at++] = ' ';
    out[at++] = '\n';
    out[8] = (char)((at - 10) & 0xFF);
    out[9] = (char)((at - 10) >> 8);
    return at;
}

int cli_npy_write(const char *path, const tn_port_value *v)
{
    char header[512];
    size_t n = make_header(header, sizeof(header), v);
    char *whole = cli_alloc(n + v->size);
    memcpy(whole, header, n);
    if (v->size) memcpy(whole + n, v->data, v->size);
    int reason = cli_write_whole(path, whole, n + v->size);
    free(whole);
    return reason;
}
