/* Codes on AVX2. */
#include "kernel/x86/words_avx2.h"

#include "kernel/x86/codes_body.h"
