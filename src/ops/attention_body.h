/* Attention by blocks of query rows, for one type. REAL, TN_BODY(name), EXP(x), MULTIPLY(...). */

/* Keys [*from, *to) that a query may see by its place; the rest is masked. */
static void TN_BODY(visible)(const struct tn_attention *a, uint64_t batch, uint64_t row, int64_t *from, int64_t *to)
{
    int64_t place = (int64_t)row + (a->from_valid ? a->valid[batch] - (int64_t)a->q_rows : a->before);
    *from = 0;
    *to = (int64_t)a->kv_rows;
    if (a->valid && a->valid[batch] < *to) *to = a->valid[batch];
    if (a->causal && place + 1 < *to) *to = place + 1;
    if (a->right >= 0 && place + a->right + 1 < *to) *to = place + a->right + 1;
    if (a->left >= 0 && place - a->left > *from) *from = place - a->left;
    if ((a->allow || a->add) && (int64_t)a->mask_keys < *to) *to = (int64_t)a->mask_keys;
    if (*to < 0) *to = 0;
    if (*from > *to) *from = *to;
}

/* Raw products to probabilities, in place. A row that sees no key is all zeros. */
static void TN_BODY(score_row)(const struct tn_attention *a, uint64_t batch, uint64_t head, uint64_t row, REAL *s)
{
    uint64_t n = a->kv_rows, mask = batch * a->mask_step[0] + head * a->mask_step[1] + row * a->mask_step[2];
    REAL *keep = a->scores ? (REAL *)a->scores + ((batch * a->q_heads + head) * a->q_rows + row) * n : NULL;
    REAL scale = (REAL)a->scale, cap = (REAL)a->softcap, most = -INFINITY, sum = 0;
    int64_t from, to;
    TN_BODY(visible)(a, batch, row, &from, &to);
    for (uint64_t i = 0; i < n; i++) s[i] *= scale;
    if (keep && a->stage == 0) memcpy(keep, s, n * sizeof(*s));
    for (uint64_t i = 0; cap > 0 && i < n; i++) s[i] = cap * (REAL)tanh((double)(s[i] / cap));
    if (keep && a->stage == 1) memcpy(keep, s, n * sizeof(*s));
    for (int64_t i = 0; i < (int64_t)n; i++) {
        bool seen = i >= from && i < to && (!a->allow || a->allow[mask + (uint64_t)i]);
        REAL add = seen && a->add ? ((const REAL *)a->add)[mask + (uint64_t)i] : 0;
        s[i] = !seen || add == -INFINITY ? -INFINITY : s[i] + add;
        most = s[i] > most ? s[i] : most;
    }
    if (keep && a->stage == 2) memcpy(keep, s, n * sizeof(*s));
    if (most == -INFINITY) most = 0; /* all masked: e^-inf is zero */
    for (uint64_t i = 0; i < n; i++) s[i] = EXP(s[i] - most);
    for (uint64_t i = 0; i < n; i++) sum += s[i];
    REAL factor = sum == 0 ? 0 : 1 / sum;
    for (uint64_t i = 0; i < n; i++) s[i] *= factor;
    if (keep && a->stage == 3) memcpy(keep, s, n * sizeof(*s));
}

/* A block of rows of one head. */
static void TN_BODY(block)(const struct attention_job *j, uint64_t item, void *room)
{
    const struct tn_attention *a = j->a;
    uint64_t head = item / j->blocks, first = item % j->blocks * j->block, batch = head / a->q_heads;
    uint64_t rows = a->q_rows - first < j->block ? a->q_rows - first : j->block;
    head %= a->q_heads;
    uint64_t kv = head / (a->q_heads / a->kv_heads);
    REAL *scores = room;
    const REAL *q = (const REAL *)a->q + batch * a->q_at.batch + head * a->q_at.head + first * a->q_at.row;
    const REAL *k = (const REAL *)a->k + batch * a->k_at.batch + kv * a->k_at.head;
    const REAL *v = (const REAL *)a->v + batch * a->v_at.batch + kv * a->v_at.head;
    void *pack = (char *)room + j->scores_bytes;
    MULTIPLY(j, q, a->q_at.row, k, 1, a->k_at.row, scores, a->kv_rows, rows, a->kv_rows, a->size, pack);
    for (uint64_t i = 0; i < rows; i++) TN_BODY(score_row)(a, batch, head, first + i, scores + i * a->kv_rows);
    if (!a->y) return;
    REAL *y = (REAL *)a->y + batch * a->y_at.batch + head * a->y_at.head + first * a->y_at.row;
    MULTIPLY(j, scores, a->kv_rows, v, a->v_at.row, 1, y, a->y_at.row, rows, a->v_size, a->kv_rows, pack);
}
