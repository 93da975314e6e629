/* Filtered windows on AVX2 (-mavx2 -mfma -mf16c). */
#include "kernel/x86/vec_avx2.h"

#include "kernel/x86/filter_body.h"
