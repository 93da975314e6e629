/*
 * Steps of recurrent layers, for one type. A step's products with the input are made for all steps at once; those with
 * the state here, row by row. REAL, TN_BODY(name), EXP(x), TANH(x); PACKED when the state's weights may be packed.
 */
static REAL TN_BODY(activate)(const struct activation *f, REAL x)
{
    REAL a = (REAL)f->alpha, b = (REAL)f->beta;
    switch (f->kind) {
    case RELU:
        return x > 0 ? x : 0;
    case TANH:
        return TANH(x);
    case SIGMOID:
        return 1 / (1 + EXP(-x));
    case AFFINE:
        return a * x + b;
    case LEAKY_RELU:
        return x >= 0 ? x : a * x;
    case THRESHOLDED_RELU:
        return x >= a ? x : 0;
    case SCALED_TANH:
        return a * TANH(b * x);
    case HARD_SIGMOID:
        return a * x + b < 0 ? 0 : a * x + b > 1 ? 1 : a * x + b;
    case ELU:
        return x >= 0 ? x : a * (EXP(x) - 1);
    case SOFTSIGN:
        return x / (1 + (x < 0 ? -x : x));
    default:
        return (REAL)(x > 30 ? (double)x : log1p(exp((double)x)));
    }
}

/* f(clipped x), over a row. */
static void TN_BODY(activate_row)(const struct recurrent *l, const struct activation *f, REAL *x, uint64_t n)
{
    const double clip = l->clip;
    REAL limit = (REAL)clip;
    for (uint64_t i = 0; clip > 0 && i < n; i++) x[i] = x[i] > limit ? limit : x[i] < -limit ? -limit : x[i];
#ifdef PACKED
    if (l->kernels && (f->kind == SIGMOID || f->kind == TANH)) {
        l->kernels->activate(f->kind == TANH ? TN_ACT_TANH : TN_ACT_SIGMOID, x, n, 1, n, 0, 1);
        return;
    }
#else
    (void)l;
#endif
    if (f->kind == SIGMOID) {
        for (uint64_t i = 0; i < n; i++) x[i] = 1 / (1 + EXP(-x[i]));
        return;
    }
    for (uint64_t i = 0; i < n; i++) x[i] = TN_BODY(activate)(f, x[i]);
}

/* y[n] += sum over k of a[k] * b[k][n], rows of b apart by `step`. */
static void TN_BODY(add_product)(const REAL *a, const REAL *b, uint64_t step, REAL *y, uint64_t n, uint64_t k)
{
    for (uint64_t i = 0; i < k; i++) {
        REAL x = a[i];
        const REAL *row = b + i * step;
        for (uint64_t o = 0; o < n; o++) y[o] += x * row[o];
    }
}

/* The state's products of a direction; part 1 is the hidden gate of a GRU, which part 0 then leaves out. */
static void TN_BODY(add_state)(const struct recurrent *l, unsigned direction, unsigned part, const REAL *h, const REAL *r, REAL *y)
{
    uint64_t n = l->hidden, width = l->gates * n, first = part ? 2 * n : 0, count = l->gates != 3 ? width : part ? n : 2 * n;
#ifdef PACKED
    const struct tn_linear *layer = l->state ? l->state->r[direction][part] : NULL;
    if (layer) {
        struct tn_linear_args a = {.layer = layer, .x = h, .x_stride = n, .y = y, .y_stride = count, .residual = y, .residual_stride = count,
                                   .rows = 1, .act = TN_ACT_IDENTITY};
        l->kernels->linear(&a, 0, 1);
        return;
    }
#else
    (void)direction;
#endif
    TN_BODY(add_product)(h, r + first, width, y, count, n);
}

/*
 * One step of one row: `gates` holds the input's products and biases [gates, hidden], `r` the state's weights turned to
 * [hidden, gates * hidden]. h and c are replaced.
 */
static void TN_BODY(lstm_step)(const struct recurrent *l, unsigned direction, REAL *gates, const REAL *r, const REAL *peep, REAL *h, REAL *c)
{
    uint64_t n = l->hidden;
    const struct activation *f = l->functions + direction * 3;
    REAL *i = gates, *o = gates + n, *g = gates + 2 * n, *k = gates + 3 * n; /* input, output, forget, cell */
    TN_BODY(add_state)(l, direction, 0, h, r, gates);
    for (uint64_t d = 0; peep && d < n; d++) {
        i[d] += peep[d] * c[d];
        g[d] += peep[2 * n + d] * c[d];
    }
    TN_BODY(activate_row)(l, &f[0], i, n);
    if (l->coupled) {
        for (uint64_t d = 0; d < n; d++) g[d] = 1 - i[d];
    } else {
        TN_BODY(activate_row)(l, &f[0], g, n);
    }
    TN_BODY(activate_row)(l, &f[1], k, n);
    for (uint64_t d = 0; d < n; d++) c[d] = g[d] * c[d] + i[d] * k[d];
    for (uint64_t d = 0; peep && d < n; d++) o[d] += peep[n + d] * c[d];
    TN_BODY(activate_row)(l, &f[0], o, n);
    for (uint64_t d = 0; d < n; d++) h[d] = c[d];
    TN_BODY(activate_row)(l, &f[2], h, n);
    for (uint64_t d = 0; d < n; d++) h[d] *= o[d];
}

/* r_bias: the state's bias of the hidden gate, where it is not in `gates` already. */
static void TN_BODY(gru_step)(const struct recurrent *l, unsigned direction, REAL *gates, const REAL *r, const REAL *r_bias, REAL *h, REAL *room)
{
    uint64_t n = l->hidden;
    const struct activation *f = l->functions + direction * 2;
    REAL *z = gates, *reset = gates + n, *k = gates + 2 * n;
    TN_BODY(add_state)(l, direction, 0, h, r, gates);
    TN_BODY(activate_row)(l, &f[0], z, 2 * n);
    if (l->linear_before_reset) {
        for (uint64_t d = 0; d < n; d++) room[d] = r_bias ? r_bias[d] : 0;
        TN_BODY(add_state)(l, direction, 1, h, r, room);
        for (uint64_t d = 0; d < n; d++) k[d] += reset[d] * room[d];
    } else {
        for (uint64_t d = 0; d < n; d++) room[d] = reset[d] * h[d];
        TN_BODY(add_state)(l, direction, 1, room, r, k);
    }
    TN_BODY(activate_row)(l, &f[1], k, n);
    for (uint64_t d = 0; d < n; d++) h[d] = (1 - z[d]) * k[d] + z[d] * h[d];
}

static void TN_BODY(rnn_step)(const struct recurrent *l, unsigned direction, REAL *gates, const REAL *r, REAL *h)
{
    uint64_t n = l->hidden;
    TN_BODY(add_state)(l, direction, 0, h, r, gates);
    TN_BODY(activate_row)(l, &l->functions[direction], gates, n);
    for (uint64_t d = 0; d < n; d++) h[d] = gates[d];
}

struct TN_BODY(layer) {
    const struct recurrent *l;
    REAL *gates;       /* [directions, steps, batch, gates * hidden] */
    const REAL *turned; /* [directions, hidden, gates * hidden] */
    const REAL *bias, *peep;
    REAL *h, *c; /* [directions, batch, hidden] */
    REAL *y;     /* or NULL */
    REAL *room;  /* [directions, batch, hidden] */
};

/* Items are (direction, batch): all steps of a row, in order. */
static void TN_BODY(layer_rows)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(layer) *k = user;
    const struct recurrent *l = k->l;
    uint64_t n = l->hidden, width = l->gates * n;
    for (uint64_t item = begin; item < end; item++) {
        unsigned direction = (unsigned)(item / l->batch);
        uint64_t row = item % l->batch, steps = l->lengths ? (uint64_t)l->lengths[row] : l->steps;
        REAL *h = k->h + item * n, *c = k->c ? k->c + item * n : NULL;
        const REAL *r = k->turned ? k->turned + direction * n * width : NULL;
        const REAL *bias = k->bias ? k->bias + direction * 2 * width : NULL, *peep = k->peep ? k->peep + direction * 3 * n : NULL;
        bool back = l->reverse || direction == 1;
        for (uint64_t s = 0; s < l->steps; s++) {
            uint64_t t = s < steps && back ? steps - 1 - s : s;
            REAL *gates = k->gates + ((direction * l->steps + t) * l->batch + row) * width;
            REAL *y = k->y ? k->y + t * l->y_step + direction * l->y_direction + row * l->y_row : NULL;
            if (s >= steps) {
                for (uint64_t d = 0; y && d < n; d++) y[d] = 0;
                continue;
            }
            if (l->gates == 4) TN_BODY(lstm_step)(l, direction, gates, r, peep, h, c);
            else if (l->gates == 3) TN_BODY(gru_step)(l, direction, gates, r, bias ? bias + width + 2 * n : NULL, h, k->room + item * n);
            else TN_BODY(rnn_step)(l, direction, gates, r, h);
            for (uint64_t d = 0; y && d < n; d++) y[d] = h[d];
        }
    }
}

/* The state's weights [gates * hidden, hidden], turned. */
static void TN_BODY(turn)(const REAL *from, REAL *to, uint64_t width, uint64_t hidden)
{
    for (uint64_t g = 0; g < width; g++) {
        for (uint64_t d = 0; d < hidden; d++) to[d * width + g] = from[g * hidden + d];
    }
}

/* Biases of the input and of the state, which only a GRU that multiplies before its reset keeps apart. */
static void TN_BODY(fill_bias)(const struct recurrent *l, const REAL *bias, REAL *gates, uint64_t rows)
{
    uint64_t width = l->gates * l->hidden, both = l->linear_before_reset ? 2 * l->hidden : width;
    for (uint64_t i = 0; i < rows; i++) {
        for (uint64_t g = 0; g < width; g++) gates[i * width + g] = bias ? bias[g] + (g < both ? bias[width + g] : 0) : 0;
    }
}
