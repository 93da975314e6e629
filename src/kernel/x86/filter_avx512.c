/* Filtered windows on AVX-512 (-mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma). */
#include "kernel/x86/vec_avx512.h"

#include "kernel/x86/filter_body.h"
