/*
 * The core schema of YAML 1.2.2 (section 10.3.2): which plain scalars are null, booleans and numbers, and the JSON text of
 * the same value. Pure functions on hostile text; no locale, no conversion through double, so no digit is lost.
 */
#include "base/yaml_parts.h"

#include <stdio.h>
#include <string.h>

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(struct tn_str s, size_t i)
{
    while (i < s.n && digit(s.s[i])) i++;
    return i;
}

static bool one_of(struct tn_str s, const char *a, const char *b, const char *c)
{
    return tn_str_is(s, a) || tn_str_is(s, b) || tn_str_is(s, c);
}

static struct tn_str after(struct tn_str s, size_t n)
{
    return (struct tn_str){s.s + n, s.n - n};
}

static size_t sign_of(struct tn_str s)
{
    return s.n > 0 && (s.s[0] == '-' || s.s[0] == '+');
}

/* [-+]? [0-9]+ , [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static enum tn_yaml_class classify_decimal(struct tn_str s)
{
    size_t start = sign_of(s), i = skip_digits(s, start), digits = i - start;
    if (i == s.n) return digits ? TN_YAML_DECIMAL : TN_YAML_STRING;
    if (s.s[i] == '.') {
        size_t fraction = i + 1;
        i = skip_digits(s, fraction);
        digits += i - fraction;
    }
    if (digits == 0) return TN_YAML_STRING;
    if (i < s.n && (s.s[i] == 'e' || s.s[i] == 'E')) {
        i += 1 + sign_of(after(s, i + 1));
        size_t exponent = i;
        i = skip_digits(s, exponent);
        if (i == exponent) return TN_YAML_STRING;
    }
    return i == s.n ? TN_YAML_FLOAT : TN_YAML_STRING;
}

static bool hex_digit(char c)
{
    return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* 0o [0-7]+ , 0x [0-9a-fA-F]+ ; neither has a sign. */
static enum tn_yaml_class classify_based(struct tn_str s)
{
    bool hex = s.s[1] == 'x';
    for (size_t i = 2; i < s.n; i++) {
        if (hex ? !hex_digit(s.s[i]) : s.s[i] < '0' || s.s[i] > '7') return TN_YAML_STRING;
    }
    return hex ? TN_YAML_HEX : TN_YAML_OCTAL;
}

enum tn_yaml_class tn_yaml_classify(struct tn_str s)
{
    if (s.n == 0 || tn_str_is(s, "~")) return TN_YAML_NULL;
    switch (s.s[0]) {
    case 'n':
    case 'N':
        return one_of(s, "null", "Null", "NULL") ? TN_YAML_NULL : TN_YAML_STRING;
    case 't':
    case 'T':
        return one_of(s, "true", "True", "TRUE") ? TN_YAML_TRUE : TN_YAML_STRING;
    case 'f':
    case 'F':
        return one_of(s, "false", "False", "FALSE") ? TN_YAML_FALSE : TN_YAML_STRING;
    default:
        break;
    }
    if (s.n > 2 && s.s[0] == '0' && (s.s[1] == 'o' || s.s[1] == 'x')) return classify_based(s);
    if (one_of(after(s, sign_of(s)), ".inf", ".Inf", ".INF") || one_of(s, ".nan", ".NaN", ".NAN")) {
        return TN_YAML_NOT_FINITE;
    }
    return digit(s.s[0]) || s.s[0] == '.' || sign_of(s) ? classify_decimal(s) : TN_YAML_STRING;
}

bool tn_yaml_apply_tag(const char *name, enum tn_yaml_class *class, bool *as_float)
{
    enum tn_yaml_class plain = *class;
    *as_float = false;
    if (strcmp(name, "str") == 0) {
        *class = TN_YAML_STRING;
        return true;
    }
    if (strcmp(name, "null") == 0) return plain == TN_YAML_NULL;
    if (strcmp(name, "bool") == 0) return plain == TN_YAML_TRUE || plain == TN_YAML_FALSE;
    if (strcmp(name, "int") == 0) return plain == TN_YAML_DECIMAL || plain == TN_YAML_OCTAL || plain == TN_YAML_HEX;
    *as_float = strcmp(name, "float") == 0 && plain == TN_YAML_DECIMAL;
    return *as_float || (strcmp(name, "float") == 0 && (plain == TN_YAML_FLOAT || plain == TN_YAML_NOT_FINITE));
}

/* Sign and digits as JSON wants them: no plus, no leading zeros, at least one digit. Returns where the digits end. */
static size_t put_integer(struct tn_buf *out, struct tn_str s)
{
    size_t i = sign_of(s), end = skip_digits(s, i);
    if (i && s.s[0] == '-') tn_buf_putc(out, '-');
    while (end - i > 1 && s.s[i] == '0') i++;
    if (i == end) tn_buf_putc(out, '0');
    tn_buf_append(out, s.s + i, end - i);
    return end;
}

static void put_float(struct tn_buf *out, struct tn_str s)
{
    size_t i = put_integer(out, s);
    if (i < s.n && s.s[i] == '.') {
        size_t end = skip_digits(s, i + 1);
        tn_buf_append(out, s.s + i, end - i);
        if (end == i + 1) tn_buf_putc(out, '0');
        i = end;
    }
    tn_buf_append(out, s.s + i, s.n - i);
}

static bool put_based(struct tn_buf *out, struct tn_str s, unsigned bits)
{
    uint64_t value = 0;
    for (size_t i = 2; i < s.n; i++) {
        char c = s.s[i];
        if (value >> (64 - bits)) return false;
        value = value << bits | (uint64_t)(digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    char text[24];
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    tn_buf_append(out, text, (size_t)n);
    return true;
}

bool tn_yaml_put_value(struct tn_buf *out, enum tn_yaml_class class, struct tn_str s)
{
    switch (class) {
    case TN_YAML_NULL: tn_buf_puts(out, "null"); break;
    case TN_YAML_TRUE: tn_buf_puts(out, "true"); break;
    case TN_YAML_FALSE: tn_buf_puts(out, "false"); break;
    case TN_YAML_DECIMAL: put_integer(out, s); break;
    case TN_YAML_OCTAL: return put_based(out, s, 3);
    case TN_YAML_HEX: return put_based(out, s, 4);
    case TN_YAML_FLOAT: put_float(out, s); break;
    case TN_YAML_NOT_FINITE:
    case TN_YAML_STRING: break;
    }
    return true;
}

void tn_yaml_put_decimal_as_float(struct tn_buf *out, struct tn_str s)
{
    put_integer(out, s);
    tn_buf_puts(out, ".0");
}

bool tn_yaml_is_plain_key(enum tn_yaml_class class, struct tn_str s)
{
    switch (class) {
    case TN_YAML_NULL: return tn_str_is(s, "null");
    case TN_YAML_TRUE: return tn_str_is(s, "true");
    case TN_YAML_FALSE: return tn_str_is(s, "false");
    case TN_YAML_DECIMAL: {
        size_t first = s.s[0] == '-';
        return s.s[0] != '+' && (s.s[first] != '0' || s.n == 1);
    }
    case TN_YAML_STRING: return true;
    default: return false;
    }
}
