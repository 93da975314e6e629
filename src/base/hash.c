/* Thin wrapper around nettle's SHA-256: the library's context lies inside ours, checked at compile time. */
#include "base/hash.h"

#include <nettle/sha2.h>
#include <string.h>

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(((struct tn_sha256 *)0)->state), "nettle's context fits");

static struct sha256_ctx *context(struct tn_sha256 *h)
{
    return (struct sha256_ctx *)(void *)h->state;
}

void tn_sha256_init(struct tn_sha256 *h)
{
    sha256_init(context(h));
}

void tn_sha256_update(struct tn_sha256 *h, const void *p, size_t n)
{
    if (n) sha256_update(context(h), n, p);
}

void tn_sha256_update_u64(struct tn_sha256 *h, uint64_t v)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(v >> (8 * i));
    tn_sha256_update(h, bytes, sizeof(bytes));
}

void tn_sha256_update_str(struct tn_sha256 *h, struct tn_str s)
{
    tn_sha256_update_u64(h, s.n);
    tn_sha256_update(h, s.s, s.n);
}

struct tn_digest tn_sha256_finish(struct tn_sha256 *h)
{
    struct tn_digest d;
    sha256_digest(context(h), sizeof(d.bytes), d.bytes);
    return d;
}

struct tn_digest tn_sha256_of(const void *p, size_t n)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update(&h, p, n);
    return tn_sha256_finish(&h);
}

char *tn_digest_hex(const struct tn_digest *d, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < TN_SHA256_BYTES; i++) {
        out[2 * i] = digits[d->bytes[i] >> 4];
        out[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    out[2 * TN_SHA256_BYTES] = 0;
    return out;
}

bool tn_digest_eq(const struct tn_digest *a, const struct tn_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}
