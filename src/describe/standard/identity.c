/*
 * The canonical form of a standard document and its digest. Knows no field except "profiles" and their requirement.
 * Inputs are untrusted; the canonical text is built in memory, since a container is only known to be empty at its end.
 *
 * Whole numbers beyond 2^53 keep their digits. An implementation that passes every number through a double would make
 * two such documents one, and a false match is the costlier mistake.
 */
#include "describe/standard/identity.h"
#include "base/buf.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 256 }; /* above the reader's own bound on a document's nesting */

struct canon {
    struct tn_buf out;
    struct tn_alloc *alloc;
    enum tn_status failed;
};

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static int exponent_of(const char *text)
{
    int value = 0;
    bool negative = *text == '-';
    for (text += *text == '-' || *text == '+'; *text >= '0' && *text <= '9'; text++) value = value * 10 + (*text - '0');
    return negative ? -value : value;
}

/* The fewest digits that read back as the same value: d.ddd as digits and the exponent of the first one. */
static int shortest(double value, char *digits, int *exponent)
{
    char text[40], plain[40];
    for (int precision = 0; precision < 17; precision++) {
        double back;
        int n = 0;
        snprintf(text, sizeof(text), "%.*e", precision, value);
        char *e = strchr(text, 'e');
        *exponent = exponent_of(e + 1);
        for (char *p = text; p < e; p++)
            if (*p >= '0' && *p <= '9') digits[n++] = *p;
        /* Rebuilt with a full stop, whatever the locale writes. */
        int m = snprintf(plain, sizeof(plain), "%c.%.*s%se%d", digits[0], n - 1, digits + 1, n == 1 ? "0" : "",
                         *exponent);
        if (precision == 16 || (tn_parse_f64((struct tn_str){plain, (size_t)m}, &back) && !(back < value) &&
                                !(back > value)))
            return n;
    }
    return 0;
}

/* Positional decimal without an exponent: integral values as integers, others by their shortest digits. */
static void put_real(struct tn_buf *out, double value)
{
    char digits[24];
    int exponent;
    if (value < 0) {
        tn_buf_putc(out, '-');
        value = -value;
    }
    if (!(value > 0)) {
        tn_buf_putc(out, '0');
        return;
    }
    int n = shortest(value, digits, &exponent);
    while (n > 1 && digits[n - 1] == '0') n--;
    if (exponent < 0) {
        tn_buf_puts(out, "0.");
        for (int i = -1; i > exponent; i--) tn_buf_putc(out, '0');
    }
    for (int i = 0; i < n; i++) {
        if (i > 0 && i == exponent + 1) tn_buf_putc(out, '.');
        tn_buf_putc(out, digits[i]);
    }
    for (int i = n; i <= exponent; i++) tn_buf_putc(out, '0');
}

static void put_number(struct tn_buf *out, struct tn_json v)
{
    int64_t whole;
    uint64_t large;
    double real = 0;
    if (tn_json_i64(v, &whole)) tn_buf_printf(out, "%" PRId64, whole);
    else if (tn_json_u64(v, &large)) tn_buf_printf(out, "%" PRIu64, large);
    else if (tn_json_is_integer(v)) tn_buf_append(out, tn_json_text(v).s, tn_json_text(v).n);
    else if (tn_json_f64(v, &real)) put_real(out, real);
    else tn_buf_append(out, tn_json_text(v).s, tn_json_text(v).n);
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void put_text(struct tn_buf *out, struct tn_str s)
{
    static const char short_form[] = "btn\0fr"; /* of 8 to 13 */
    tn_buf_putc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (c == '"' || c == '\\') {
            tn_buf_putc(out, '\\');
            tn_buf_putc(out, (char)c);
        } else if (c >= 8 && c <= 13 && short_form[c - 8]) {
            tn_buf_putc(out, '\\');
            tn_buf_putc(out, short_form[c - 8]);
        } else if (c < 0x20) {
            tn_buf_printf(out, "\\u%04x", c);
        } else {
            tn_buf_putc(out, (char)c);
        }
    }
    tn_buf_putc(out, '"');
}

/* ---- containers ------------------------------------------------------------------------------------------------- */

static bool put(struct canon *c, struct tn_json v, unsigned depth, bool is_profiles);

static int by_key(const void *a, const void *b, void *context)
{
    (void)context;
    return tn_str_order(tn_json_key(*(const struct tn_json *)a), tn_json_key(*(const struct tn_json *)b));
}

static bool is_ignorable(struct tn_json profile)
{
    struct tn_str requirement;
    return tn_json_str(tn_json_get(profile, "requirement"), &requirement) && tn_str_is(requirement, "ignorable");
}

static bool put_object(struct canon *c, struct tn_json v, unsigned depth, bool is_profiles)
{
    size_t count = tn_json_count(v), start = c->out.len, n = 0;
    struct tn_json *members = tn_calloc(c->alloc, count + 1, sizeof(*members));
    if (!members) {
        c->failed = TN_INSUFFICIENT_MEMORY;
        return false;
    }
    for (struct tn_json m = tn_json_first(v); tn_json_present(m); m = tn_json_next(m)) members[n++] = m;
    tn_sort(members, n, sizeof(*members), by_key, NULL);
    tn_buf_putc(&c->out, '{');
    bool some = false;
    for (size_t i = 0; i < n && !c->failed; i++) {
        size_t before = c->out.len;
        if (is_profiles && is_ignorable(members[i])) continue;
        if (some) tn_buf_putc(&c->out, ',');
        put_text(&c->out, tn_json_key(members[i]));
        tn_buf_putc(&c->out, ':');
        if (put(c, members[i], depth + 1, depth == 0 && tn_str_is(tn_json_key(members[i]), "profiles"))) some = true;
        else if (c->out.len >= before) c->out.len = before;
    }
    tn_free(c->alloc, members);
    if (some) tn_buf_putc(&c->out, '}');
    else if (c->out.len >= start) c->out.len = start;
    return some;
}

static bool put_array(struct canon *c, struct tn_json v, unsigned depth)
{
    size_t start = c->out.len;
    bool some = false;
    tn_buf_putc(&c->out, '[');
    for (struct tn_json e = tn_json_first(v); tn_json_present(e) && !c->failed; e = tn_json_next(e)) {
        size_t before = c->out.len;
        if (some) tn_buf_putc(&c->out, ',');
        if (put(c, e, depth + 1, false)) some = true;
        else if (c->out.len >= before) c->out.len = before;
    }
    if (some) tn_buf_putc(&c->out, ']');
    else if (c->out.len >= start) c->out.len = start;
    return some;
}

/* Writes the value's canonical form; false, and nothing written, when it says nothing. */
static bool put(struct canon *c, struct tn_json v, unsigned depth, bool is_profiles)
{
    struct tn_str text;
    bool truth = false;
    if (depth > DEPTH) {
        c->failed = TN_RESOURCE_LIMIT;
        return false;
    }
    switch (tn_json_type(v)) {
    case TN_JSON_OBJECT: return put_object(c, v, depth, is_profiles);
    case TN_JSON_ARRAY: return put_array(c, v, depth);
    case TN_JSON_NUMBER: put_number(&c->out, v); return true;
    case TN_JSON_BOOL:
        tn_json_bool(v, &truth);
        tn_buf_puts(&c->out, truth ? "true" : "false");
        return true;
    case TN_JSON_STRING:
        tn_json_str(v, &text);
        put_text(&c->out, text);
        return true;
    case TN_JSON_NULL: break;
    }
    return false;
}

enum tn_status tn_standard_identity(struct tn_json root, struct tn_alloc *alloc, struct tn_digest *out,
                                    struct tn_error *err)
{
    struct canon c = {.alloc = alloc};
    tn_buf_init(&c.out, alloc, SIZE_MAX / 2);
    if (!put(&c, root, 0, false)) tn_buf_puts(&c.out, "{}");
    enum tn_status status = c.failed ? c.failed : tn_buf_status(&c.out);
    if (!status) *out = tn_sha256_of(c.out.data, c.out.len);
    tn_buf_release(&c.out);
    if (status == TN_RESOURCE_LIMIT) {
        struct tn_finding *f = tn_error_set(err, status, TN_PHASE_DESCRIBE,
                                            "the document nests too deep for an identity");
        tn_at_json(f, root);
        tn_expected(f, "at most %d levels", DEPTH);
    } else if (status) {
        return tn_error_memory(err, TN_PHASE_DESCRIBE, "a document's identity");
    }
    return status;
}

char *tn_standard_identity_text(const struct tn_digest *digest, char *text)
{
    char hex[TN_SHA256_HEX];
    snprintf(text, TN_STANDARD_IDENTITY_TEXT, "%s:%s", TN_STANDARD_IDENTITY_SCHEME, tn_digest_hex(digest, hex));
    return text;
}
