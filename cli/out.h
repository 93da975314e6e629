/*
 * Writing: one buffered stream over a file descriptor that remembers its first failure, and the ways in which this
 * program puts values on it. Numbers never depend on the locale. Nothing here decides what is printed.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_OUT_BYTES = 1 << 16 };

struct cli_out {
    int fd;
    int failure; /* errno of the first write that failed, 0: none; later output is dropped */
    bool begun;  /* something was printed */
    size_t used;
    char buf[CLI_OUT_BYTES];
};

void cli_out_init(struct cli_out *o, int fd);
void cli_out_bytes(struct cli_out *o, const char *s, size_t n);
void cli_out_text(struct cli_out *o, const char *s);
void cli_out_repeat(struct cli_out *o, char c, size_t n);
void cli_out_format(struct cli_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_out_flush(struct cli_out *o);

/* ---- values ---- */

void cli_out_u64(struct cli_out *o, uint64_t v);
/* The shortest decimal that reads back as the same float; "null" for what JSON has no number for. */
void cli_out_f32(struct cli_out *o, float v);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void cli_out_json(struct cli_out *o, const char *s, size_t n);
/* Text for people: control, bidi and line separator characters and invalid bytes appear as \xNN or \u{N}. */
void cli_out_safe(struct cli_out *o, const char *s, size_t n);

/* The same float text into buf[32]; returns its length. */
size_t cli_format_f32(char *buf, float v);
/* The text that cli_out_safe prints, into a new string (free). */
char *cli_safe_copy(const char *s, size_t n);
/*
 * Decodes one UTF-8 character of s[0, n), n > 0: its length, or 0 when the bytes are not valid UTF-8 (overlong,
 * surrogate, beyond U+10FFFF, cut).
 */
size_t cli_utf8(const char *s, size_t n, uint32_t *code);

#endif
