/* Normalisations along axes, for one type. REAL, TN_BODY(name). */
struct TN_BODY(axis) {
    const REAL *x;
    REAL *y;
    struct tn_rows rows;
    double p;
    double alpha, beta, bias; /* LRN */
    int64_t before, behind;
    /* MeanVarianceNormalization: where the elements of a group are, and where groups begin */
    const uint64_t *members, *groups;
    uint64_t member_count;
};

/* x / |x|_p along the axis; zero stays zero. Items are (outer, inner). */
static void TN_BODY(lp_rows)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(axis) *k = user;
    uint64_t inner = k->rows.inner;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at = i / inner * k->rows.axis * inner + i % inner;
        double sum = 0;
        for (uint64_t n = 0; n < k->rows.axis; n++) {
            double v = (double)k->x[at + n * inner];
            sum += k->p == 1 ? fabs(v) : v * v;
        }
        REAL norm = (REAL)(k->p == 1 ? sum : sqrt(sum));
        for (uint64_t n = 0; n < k->rows.axis; n++) k->y[at + n * inner] = norm == 0 ? 0 : k->x[at + n * inner] / norm;
    }
}

/* y = x / (bias + alpha / size * sum of squares of near channels)^beta. Items are (image, channel). */
static void TN_BODY(lrn_planes)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(axis) *k = user;
    uint64_t inner = k->rows.inner;
    int64_t channels = (int64_t)k->rows.axis;
    for (uint64_t i = begin; i < end; i++) {
        int64_t c = (int64_t)(i % k->rows.axis), low = c < k->before ? 0 : c - k->before;
        int64_t high = k->behind >= channels - c ? channels - 1 : c + k->behind;
        const REAL *image = k->x + (i - (uint64_t)c) * inner;
        for (uint64_t p = 0; p < inner; p++) {
            REAL sum = 0, x = image[(uint64_t)c * inner + p];
            for (int64_t n = low; n <= high; n++) sum += image[(uint64_t)n * inner + p] * image[(uint64_t)n * inner + p];
            k->y[i * inner + p] = x / (REAL)pow((double)((REAL)k->bias + (REAL)k->alpha * sum), k->beta);
        }
    }
}

/* (x - mean) / (deviation + 1e-9) over each group. */
static void TN_BODY(mean_variance)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(axis) *k = user;
    double n = (double)k->member_count;
    for (uint64_t i = begin; i < end; i++) {
        const REAL *x = k->x + k->groups[i];
        REAL *y = k->y + k->groups[i];
        double sum = 0, squares = 0;
        for (uint64_t m = 0; m < k->member_count; m++) sum += (double)x[k->members[m]];
        double mean = sum / n;
        for (uint64_t m = 0; m < k->member_count; m++) squares += ((double)x[k->members[m]] - mean) * ((double)x[k->members[m]] - mean);
        double deviation = sqrt(squares / n) + 1e-9;
        for (uint64_t m = 0; m < k->member_count; m++) y[k->members[m]] = (REAL)(((double)x[k->members[m]] - mean) / deviation);
    }
}
