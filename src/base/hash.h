/* SHA-256 (from nettle) as a value without allocation, and digests as hexadecimal text. */
#ifndef TN_BASE_HASH_H
#define TN_BASE_HASH_H

#include "base/status.h"

enum { TN_SHA256_BYTES = 32, TN_SHA256_HEX = 65 };

struct tn_sha256 {
    _Alignas(16) unsigned char state[128];
};

struct tn_digest {
    unsigned char bytes[TN_SHA256_BYTES];
};

void tn_sha256_init(struct tn_sha256 *h);
void tn_sha256_update(struct tn_sha256 *h, const void *p, size_t n);
/* Length-prefixed, so that neighbouring fields cannot run into one another. */
void tn_sha256_update_str(struct tn_sha256 *h, struct tn_str s);
void tn_sha256_update_u64(struct tn_sha256 *h, uint64_t v); /* little endian */
struct tn_digest tn_sha256_finish(struct tn_sha256 *h);
struct tn_digest tn_sha256_of(const void *p, size_t n);

/* Lower-case hexadecimal and NUL into out[TN_SHA256_HEX]; returns out. */
char *tn_digest_hex(const struct tn_digest *d, char *out);
bool tn_digest_eq(const struct tn_digest *a, const struct tn_digest *b);

#endif
