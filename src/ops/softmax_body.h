/* Softmax and its kin along an axis, for one type. REAL, TN_BODY(name), EXP(x). Items are (outer, inner). */
struct TN_BODY(softmax) {
    const REAL *x;
    REAL *y;
    struct tn_rows rows;
};

/* A row's largest number; what is not a number is left to the exponentials. */
static REAL TN_BODY(largest)(const REAL *x, uint64_t n, uint64_t step)
{
    REAL most = -INFINITY;
    for (uint64_t i = 0; i < n; i++) most = x[i * step] > most ? x[i * step] : most;
    return most;
}

/* The same of numbers side by side, in sixteen lanes. */
static REAL TN_BODY(largest_near)(const REAL *x, uint64_t n)
{
    REAL lane[16], most;
    uint64_t i = 0;
    for (int k = 0; k < 16; k++) lane[k] = -INFINITY;
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) lane[k] = x[i + k] > lane[k] ? x[i + k] : lane[k];
    }
    most = TN_BODY(largest)(lane, 16, 1);
    for (; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

/* y = e^(x - most); the sum of them, in sixteen lanes. */
static REAL TN_BODY(exponentials)(const REAL *x, REAL *y, uint64_t n, REAL most)
{
    REAL lane[16] = {0}, sum = 0;
    uint64_t i = 0;
    for (uint64_t k = 0; k < n; k++) y[k] = EXP(x[k] - most);
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) lane[k] += y[i + k];
    }
    for (; i < n; i++) sum += y[i];
    for (int k = 0; k < 16; k++) sum += lane[k];
    return sum;
}

static void TN_BODY(softmax_rows)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(softmax) *k = user;
    uint64_t n = k->rows.axis, inner = k->rows.inner;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at = i / inner * n * inner + i % inner;
        const REAL *x = k->x + at;
        REAL *y = k->y + at, most = inner == 1 ? TN_BODY(largest_near)(x, n) : TN_BODY(largest)(x, n, inner), sum = 0;
        if (inner == 1) {
            sum = TN_BODY(exponentials)(x, y, n, most);
        } else {
            for (uint64_t m = 0; m < n; m++) sum += y[m * inner] = EXP(x[m * inner] - most);
        }
        REAL factor = 1 / sum;
        if (inner == 1) {
            for (uint64_t m = 0; m < n; m++) y[m] *= factor;
        } else {
            for (uint64_t m = 0; m < n; m++) y[m * inner] *= factor;
        }
    }
}

static void TN_BODY(log_softmax_rows)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(softmax) *k = user;
    uint64_t n = k->rows.axis, inner = k->rows.inner;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at = i / inner * n * inner + i % inner;
        const REAL *x = k->x + at;
        REAL *y = k->y + at, most = TN_BODY(largest)(x, n, inner), sum = 0;
        for (uint64_t m = 0; m < n; m++) sum += EXP(x[m * inner] - most);
        REAL logarithm = (REAL)log((double)sum);
        for (uint64_t m = 0; m < n; m++) y[m * inner] = x[m * inner] - most - logarithm;
    }
}

/* One at the first of the largest, zero elsewhere. */
static void TN_BODY(hardmax_rows)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(softmax) *k = user;
    uint64_t n = k->rows.axis, inner = k->rows.inner;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at = i / inner * n * inner + i % inner, best = 0;
        for (uint64_t m = 1; m < n; m++) {
            if (k->x[at + m * inner] > k->x[at + best * inner]) best = m;
        }
        for (uint64_t m = 0; m < n; m++) k->y[at + m * inner] = m == best;
    }
}
