/* The windows that are filtered: tiles of results, points, and G of Y = A' [(G g) * (B' d)], by place in enum tn_filter. */
#ifndef TN_KERNEL_FILTER_FORMS_H
#define TN_KERNEL_FILTER_FORMS_H

#include "kernel/kernel.h"

struct filter_form {
    int rows, columns; /* results of a tile */
    int points_down, points_across;
    int taps_down, taps_across;
    const double (*g)[5]; /* [points of a direction][taps] */
};

/* Points 0, 1, -1, 2, -2 and infinity under three taps. */
static const double filter_g3[6][5] = {{0.25, 0, 0},
                                       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                       {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                       {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                       {0, 0, 1}};
/* Points 0, 1, -1, 2, -2, 1/2, -1/2 and infinity under five. */
static const double filter_g5[8][5] = {{1, 0, 0, 0, 0},
                                       {-2.0 / 9, -2.0 / 9, -2.0 / 9, -2.0 / 9, -2.0 / 9},
                                       {-2.0 / 9, 2.0 / 9, -2.0 / 9, 2.0 / 9, -2.0 / 9},
                                       {1.0 / 90, 1.0 / 45, 2.0 / 45, 4.0 / 45, 8.0 / 45},
                                       {1.0 / 90, -1.0 / 45, 2.0 / 45, -4.0 / 45, 8.0 / 45},
                                       {32.0 / 45, 16.0 / 45, 8.0 / 45, 4.0 / 45, 2.0 / 45},
                                       {32.0 / 45, -16.0 / 45, 8.0 / 45, -4.0 / 45, 2.0 / 45},
                                       {0, 0, 0, 0, 1}};

static const struct filter_form filter_forms[TN_FILTERS] = {
    [TN_FILTER_3X3] = {4, 4, 6, 6, 3, 3, filter_g3},
    [TN_FILTER_1X3] = {1, 4, 1, 6, 1, 3, filter_g3},
    [TN_FILTER_1X5] = {1, 4, 1, 8, 1, 5, filter_g5},
};

#endif
