/* Linear layer on AVX2 (-mavx2 -mfma -mf16c): tiles of 6 x 16. */
#include "kernel/x86/vec_avx2.h"

#include "kernel/x86/linear_body.h"
