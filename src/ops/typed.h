/* What files of typed loops share. */
#ifndef TN_OPS_TYPED_H
#define TN_OPS_TYPED_H

#include "kernel/float16.h"
#include "ops/op.h"

/* A load that converts nothing. */
#define TN_AS_IS(x) (x)

#endif
