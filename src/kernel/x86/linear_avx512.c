/* Linear layer on AVX-512 (-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma): tiles of 14 x 32. */
#include "kernel/x86/vec_avx512.h"

#include "kernel/x86/linear_body.h"
