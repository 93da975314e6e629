/*
 * Protobuf wire format over a block source: fields one after the other, nested messages as ranges, nothing decoded that
 * nobody asks for. Reads 4 KiB at a time, more where one block follows the other, and jumps over what is skipped, so that a
 * model of gigabytes costs a few reads. The bytes are hostile: one sticky error with its place and reason, every length is checked against its
 * enclosing range, and the number of fields visited is bounded. Encoding: protobuf.dev, "Encoding".
 *
 * Values of type TN_WIRE_BYTES stay ranges of the source: weights are never copied here.
 */
#ifndef TN_PACKAGE_WIRE_H
#define TN_PACKAGE_WIRE_H

#include "base/source.h"

enum { TN_WIRE_VARINT = 0, TN_WIRE_FIXED64 = 1, TN_WIRE_BYTES = 2, TN_WIRE_FIXED32 = 5 };
/* The largest unrolled graphs that are published have some million nodes of a dozen fields; 2^25 take half a second. */
enum { TN_WIRE_BLOCK = 32 << 10, TN_WIRE_FIELDS = 32 << 20 };

struct tn_wire {
    const struct tn_source *source;
    uint64_t block_at;
    size_t block_n;
    uint64_t fields; /* visited so far */
    bool failed;
    uint64_t failed_at; /* offset in the source */
    const char *why;    /* constant text */
    unsigned char block[TN_WIRE_BLOCK];
};

/* Bytes [at, end) of the source: a message, a string, packed numbers. */
struct tn_wire_range {
    uint64_t at, end;
};

struct tn_wire_field {
    uint32_t number;
    unsigned type;
    uint64_t at;                /* of the key */
    uint64_t value;             /* varint and fixed types */
    struct tn_wire_range bytes; /* of type TN_WIRE_BYTES */
};

void tn_wire_init(struct tn_wire *w, const struct tn_source *source);
/* The next field of a message, whose range moves on; false at its end or after an error (w->failed tells). */
bool tn_wire_next(struct tn_wire *w, struct tn_wire_range *message, struct tn_wire_field *out);
/*
 * Values of fields with the key of `like`, a varint or a fixed type of 32 bits, that follow at the front of a message without
 * another one between them: at most `cap`, and perhaps fewer than there are. What is left comes by tn_wire_next.
 */
size_t tn_wire_more(struct tn_wire *w, struct tn_wire_range *message, const struct tn_wire_field *like, uint64_t *out, size_t cap);
/* The same of fields of type TN_WIRE_BYTES, whose lengths are below 128. */
size_t tn_wire_more_bytes(struct tn_wire *w, struct tn_wire_range *message, const struct tn_wire_field *like, struct tn_wire_range *out, size_t cap);
/* Moves on over such fields of any type, and returns how many. */
size_t tn_wire_skip(struct tn_wire *w, struct tn_wire_range *message, const struct tn_wire_field *like);
/* How many there are, this side of the first other field or error, neither of which this call is about: nothing moves on. */
uint64_t tn_wire_count(struct tn_wire *w, struct tn_wire_range message, const struct tn_wire_field *like);
/* One varint of at most 10 bytes and 64 bits from the front of a range, as packed numbers need it. */
bool tn_wire_varint(struct tn_wire *w, struct tn_wire_range *range, uint64_t *out);
/* Copies the first n bytes of a range that holds as many; false after an error. Small ranges come from the block. */
bool tn_wire_copy(struct tn_wire *w, struct tn_wire_range bytes, void *out, size_t n);
/* Copies at most cap - 1 bytes and a NUL; returns how many. */
size_t tn_wire_text(struct tn_wire *w, struct tn_wire_range bytes, char *out, size_t cap);
/* The first error stays. Always false. */
bool tn_wire_fail(struct tn_wire *w, uint64_t at, const char *why);

#endif
