/*
 * The word patterns that byte-level tokenizers actually use, written by hand over UTF-8 bytes: GPT-2's, those of cl100k
 * (also Llama 3 and Qwen), o200k and DeepSeek, with what is split off before them. Each is recognised by its exact text
 * and gives the same words as that expression by the general engine; tests hold one against the other. Constant; any
 * thread may call.
 */
#ifndef TN_TEXT_SPLITTER_H
#define TN_TEXT_SPLITTER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum tn_word_pattern {
    TN_WORDS_NONE,
    TN_WORDS_GPT2,
    TN_WORDS_CL100K, /* up to three digits together */
    TN_WORDS_QWEN,   /* the same, one digit */
    TN_WORDS_O200K,
    TN_WORDS_DEEPSEEK
};

/* What is cut into pieces before words are looked for; an expression never sees beyond its piece. */
enum tn_piece_pattern {
    TN_PIECES_WHOLE,
    TN_PIECES_DIGITS,  /* Digits(individual_digits): each numeric character alone */
    TN_PIECES_DEEPSEEK /* up to three \p{N}, runs of Han and kana */
};

/* The pattern with this text, or TN_WORDS_NONE. */
enum tn_word_pattern tn_word_pattern_of(struct tn_str expression);
/* Whether the two expressions are those that DeepSeek splits by first. */
bool tn_is_deepseek_numbers(struct tn_str expression);
bool tn_is_deepseek_cjk(struct tn_str expression);

/* The end of the piece of s[at, n) that begins at `at` < n. s is valid UTF-8 and `at` the start of a character. */
size_t tn_next_piece(enum tn_piece_pattern pattern, const char *s, size_t at, size_t n);
/* The end of the word that begins at `at` < n, within the piece that ends at n. */
size_t tn_next_word(enum tn_word_pattern pattern, const char *s, size_t at, size_t n);

#endif
