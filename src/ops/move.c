/*
 * Operators that move elements without looking at them: Transpose, Concat, Split, Slice, Pad, Tile, DepthToSpace and
 * SpaceToDepth. Elements are bytes of one size; texts are copied, so that a result owns what it points to.
 */
#include "ops/move.h"

#include <string.h>

/* ---- moving ------------------------------------------------------------------------------------------------------- */

bool tn_move_size(struct tn_run *r, enum tn_element e, size_t *out)
{
    *out = tn_element_size(e);
    return *out || tn_run_refuse(r, "elements of whole bytes", "%s", tn_onnx_element_name(e));
}

bool tn_move_done(struct tn_run *r, struct tn_tensor *y)
{
    if (y->element != TN_EL_STRING) return true;
    struct tn_str *texts = y->data;
    for (uint64_t i = 0; i < y->count; i++) {
        if (!tn_tensor_set_text(y, i, texts[i])) return tn_run_no_memory(r);
    }
    return true;
}

static void copy_strided(char *y, const char *x, int64_t n, int64_t step, size_t size)
{
    if (step == 1) {
        memcpy(y, x, (size_t)n * size);
    } else if (size == 4) {
        for (int64_t i = 0; i < n; i++) memcpy(y + i * 4, x + i * step * 4, 4);
    } else if (size == 8) {
        for (int64_t i = 0; i < n; i++) memcpy(y + i * 8, x + i * step * 8, 8);
    } else if (size == 1) {
        for (int64_t i = 0; i < n; i++) y[i] = x[i * step];
    } else {
        for (int64_t i = 0; i < n; i++) memcpy(y + i * (int64_t)size, x + i * step * (int64_t)size, size);
    }
}

struct walk {
    const struct tn_move *m;
    size_t size;
};

/* Items are rows of the innermost dimension. */
static void walk_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct walk *w = user;
    const struct tn_move *m = w->m;
    uint32_t inner = m->rank - 1;
    for (uint64_t row = begin; row < end; row++) {
        int64_t x = m->x_begin, y = m->y_begin;
        uint64_t rest = row;
        for (uint32_t i = inner; i-- > 0;) {
            int64_t at = (int64_t)(rest % (uint64_t)m->dims[i]);
            rest /= (uint64_t)m->dims[i];
            x += at * m->x_stride[i];
            y += at * m->y_stride[i];
        }
        const char *from = (const char *)m->x + x * (int64_t)w->size;
        char *to = (char *)m->y + y * (int64_t)w->size;
        if (m->y_stride[inner] == 1) {
            copy_strided(to, from, m->dims[inner], m->x_stride[inner], w->size);
        } else {
            for (int64_t i = 0; i < m->dims[inner]; i++)
                memcpy(to + i * m->y_stride[inner] * (int64_t)w->size, from + i * m->x_stride[inner] * (int64_t)w->size, w->size);
        }
    }
}

/*
 * Elements of four bytes whose last two dimensions change places: items are blocks of the one that is dense in x, so that its
 * lines are read to the end while they are in the cache.
 */
enum { TURNED = 32 };

static void turn_block(const uint32_t *x, int64_t x_stride, uint32_t *y, int64_t y_stride, int64_t rows, int64_t columns)
{
    int64_t k = 0;
    for (; k + 4 <= columns; k += 4) {
        const uint32_t *a = x + k * x_stride, *b = a + x_stride, *c = b + x_stride, *d = c + x_stride;
        for (int64_t i = 0; i < rows; i++) {
            uint32_t *to = y + i * y_stride + k;
            to[0] = a[i];
            to[1] = b[i];
            to[2] = c[i];
            to[3] = d[i];
        }
    }
    if (columns - k == 3) {
        const uint32_t *a = x + k * x_stride, *b = a + x_stride, *c = b + x_stride;
        for (int64_t i = 0; i < rows; i++) {
            uint32_t *to = y + i * y_stride + k;
            to[0] = a[i];
            to[1] = b[i];
            to[2] = c[i];
        }
        return;
    }
    for (; k < columns; k++) {
        for (int64_t i = 0; i < rows; i++) y[i * y_stride + k] = x[k * x_stride + i];
    }
}

static void walk_turned(void *user, uint64_t begin, uint64_t end)
{
    const struct walk *w = user;
    const struct tn_move *m = w->m;
    const uint32_t from = m->rank - 2, to = m->rank - 1;
    const uint64_t blocks = ((uint64_t)m->dims[from] + TURNED - 1) / TURNED;
    for (uint64_t item = begin; item < end; item++) {
        int64_t x = m->x_begin, y = m->y_begin, at = (int64_t)(item % blocks) * TURNED, rows = m->dims[from] - at < TURNED ? m->dims[from] - at : TURNED;
        uint64_t rest = item / blocks;
        for (uint32_t i = from; i-- > 0;) {
            int64_t place = (int64_t)(rest % (uint64_t)m->dims[i]);
            rest /= (uint64_t)m->dims[i];
            x += place * m->x_stride[i];
            y += place * m->y_stride[i];
        }
        turn_block((const uint32_t *)m->x + x + at, m->x_stride[to], (uint32_t *)m->y + y + at * m->y_stride[from], m->y_stride[from], rows, m->dims[to]);
    }
}

/* Neighbouring dimensions that both sides walk alike become one. */
static void merge(struct tn_move *m)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < m->rank; i++) {
        if (m->dims[i] == 1) continue;
        if (rank && m->x_stride[rank - 1] == m->x_stride[i] * m->dims[i] && m->y_stride[rank - 1] == m->y_stride[i] * m->dims[i]) {
            m->dims[rank - 1] *= m->dims[i];
            m->x_stride[rank - 1] = m->x_stride[i];
            m->y_stride[rank - 1] = m->y_stride[i];
            continue;
        }
        m->dims[rank] = m->dims[i];
        m->x_stride[rank] = m->x_stride[i];
        m->y_stride[rank++] = m->y_stride[i];
    }
    if (rank == 0) {
        m->dims[0] = m->x_stride[0] = m->y_stride[0] = 1;
        rank = 1;
    }
    m->rank = rank;
}

void tn_move(struct tn_run *r, struct tn_move m, size_t size)
{
    struct walk w = {&m, size};
    uint64_t rows = 1;
    for (uint32_t i = 0; i < m.rank; i++) {
        if (m.dims[i] == 0) return;
    }
    merge(&m);
    if (size == 4 && m.rank >= 2 && m.x_stride[m.rank - 2] == 1 && m.y_stride[m.rank - 1] == 1) {
        uint64_t blocks = ((uint64_t)m.dims[m.rank - 2] + TURNED - 1) / TURNED;
        for (uint32_t i = 0; i + 2 < m.rank; i++) blocks *= (uint64_t)m.dims[i];
        tn_run_items(r, blocks, (uint64_t)m.dims[m.rank - 1] * TURNED, walk_turned, &w);
        return;
    }
    for (uint32_t i = 0; i + 1 < m.rank; i++) rows *= (uint64_t)m.dims[i];
    tn_run_items(r, rows, (uint64_t)m.dims[m.rank - 1], walk_rows, &w);
}

void tn_strides(const int64_t *dims, uint32_t rank, int64_t *out)
{
    int64_t step = 1;
    for (uint32_t i = rank; i-- > 0;) {
        out[i] = step;
        step *= dims[i] ? dims[i] : 1;
    }
}

/* ---- Transpose ---------------------------------------------------------------------------------------------------- */

static bool permutation(const struct tn_node *node, uint32_t rank, uint32_t *out)
{
    size_t n;
    const int64_t *perm = tn_attr_ints(node, "perm", &n);
    bool seen[TN_RANK] = {false};
    if (perm && n != rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t from = perm ? (perm[i] < 0 ? perm[i] + rank : perm[i]) : (int64_t)(rank - 1 - i);
        if (from < 0 || from >= rank || seen[from]) return false;
        seen[from] = true;
        out[i] = (uint32_t)from;
    }
    return true;
}

static bool infer_transpose(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    uint32_t perm[TN_RANK];
    if (!t) return true;
    struct tn_type out = *t;
    if (t->shape.known) {
        if (!permutation(x->node, t->shape.rank, perm)) return tn_infer_refuse(x, "a permutation of the operand's dimensions", "perm for rank %u", t->shape.rank);
        for (uint32_t i = 0; i < t->shape.rank; i++) out.shape.dims[i] = t->shape.dims[perm[i]];
    }
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_transpose(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    struct tn_move m = {.x = x->data, .y = y->data, .rank = y->rank};
    int64_t strides[TN_RANK];
    uint32_t perm[TN_RANK];
    size_t size;
    if (tn_elements_have(TN_ELS_PACKED, x->element)) return tn_run_refuse(r, "elements of whole bytes", "%s", tn_onnx_element_name(x->element));
    if (!tn_move_size(r, x->element, &size)) return false;
    permutation(r->node, x->rank, perm);
    tn_strides(x->dims, x->rank, strides);
    tn_strides(y->dims, y->rank, m.y_stride);
    for (uint32_t i = 0; i < y->rank; i++) {
        m.dims[i] = y->dims[i];
        m.x_stride[i] = strides[perm[i]];
    }
    tn_move(r, m, size);
    return tn_move_done(r, y);
}

/* ---- Concat ------------------------------------------------------------------------------------------------------- */

static void concat_content(struct tn_infer *x)
{
    tn_dim_t all[TN_CONTENT];
    uint32_t at = 0;
    for (uint32_t i = 0; i < x->in_count; i++) {
        const tn_dim_t *content;
        uint32_t n;
        if (!tn_in_sizes(x, i, &content, &n) || at + n > TN_CONTENT) return;
        if (n) memcpy(all + at, content, n * sizeof(*all));
        at += n;
    }
    tn_out_content(x, 0, all, at);
}

static bool infer_concat(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    struct tn_type out = *t;
    uint32_t axis = 0;
    if (!x->running) concat_content(x);
    for (uint32_t i = 0; i < x->in_count; i++) {
        const struct tn_shape *s;
        if (!tn_in_shape(x, i, &s)) {
            tn_out_unknown(x, 0, t->element);
            return true;
        }
        if (i == 0) {
            if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", 1), s->rank, &axis)) return false;
            continue;
        }
        if (s->rank != out.shape.rank) return tn_infer_refuse(x, "operands of one rank", "%u beside %u", s->rank, out.shape.rank);
        for (uint32_t k = 0; k < s->rank; k++) {
            tn_dim_t a = out.shape.dims[k], b = s->dims[k];
            if (k == axis) out.shape.dims[k] = tn_dim_add(x->symbols, a, b);
            else if (tn_dim_known(a) && tn_dim_known(b) && a != b) return tn_infer_refuse(x, "equal dimensions but for the axis", "%lld beside %lld", (long long)a, (long long)b);
            else if (!tn_dim_known(a)) out.shape.dims[k] = b;
        }
    }
    tn_out_type(x, 0, &out);
    return true;
}

static bool run_concat(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    int64_t axis = tn_attr_int(r->node, "axis", 1), strides[TN_RANK], at = 0;
    size_t size;
    if (!tn_move_size(r, y->element, &size)) return false;
    axis = axis < 0 ? axis + y->rank : axis;
    tn_strides(y->dims, y->rank, strides);
    for (uint32_t i = 0; i < r->in_count; i++) {
        struct tn_tensor *x = r->in[i];
        struct tn_move m = {.x = x->data, .y = y->data, .rank = y->rank, .y_begin = at * strides[axis]};
        memcpy(m.dims, x->dims, sizeof(m.dims));
        memcpy(m.y_stride, strides, sizeof(strides));
        tn_strides(x->dims, x->rank, m.x_stride);
        tn_move(r, m, size);
        at += x->dims[axis];
    }
    return tn_move_done(r, y);
}

/* ---- Split -------------------------------------------------------------------------------------------------------- */

/* Sizes of the parts: given, or equal ones of which the last may be shorter (version 18). False: not known yet. */
static bool parts_of(struct tn_infer *x, tn_dim_t whole, int64_t *out, uint32_t count)
{
    size_t n;
    uint32_t given = 0;
    const int64_t *split = tn_attr_ints(x->node, "split", &n);
    if (count > TN_CONTENT) return tn_infer_refuse(x, "at most 64 parts", "%u", count);
    if (split) {
        given = (uint32_t)n;
        if (n == count) memcpy(out, split, n * sizeof(*out));
    } else if (tn_in_given(x, 1)) {
        if (!tn_in_numbers(x, 1, out, TN_CONTENT, &given)) return false;
    } else {
        if (!tn_dim_known(whole)) return false;
        int64_t each = (whole + count - 1) / count, left = whole;
        for (uint32_t i = 0; i < count; i++) {
            out[i] = left < each ? left : each;
            left -= out[i];
        }
        return true;
    }
    int64_t sum = 0;
    if (given != count) return tn_infer_refuse(x, "a size for each output", "%u sizes for %u outputs", given, count);
    for (uint32_t i = 0; i < count; i++) {
        if (out[i] < 0 || __builtin_add_overflow(sum, out[i], &sum)) return tn_infer_refuse(x, "sizes that are not negative", "%lld", (long long)out[i]);
    }
    if (tn_dim_known(whole) && sum != whole) return tn_infer_refuse(x, "sizes that add up to the dimension", "%lld of %lld", (long long)sum, (long long)whole);
    return true;
}

static bool infer_split(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t parts[TN_CONTENT];
    uint32_t axis;
    if (!t) return true;
    for (uint32_t k = 0; k < x->out_count; k++) tn_out_unknown(x, k, t->element);
    if (!t->shape.known) return true;
    if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", 0), t->shape.rank, &axis)) return false;
    bool known = parts_of(x, t->shape.dims[axis], parts, x->out_count);
    if (x->failed) return false;
    for (uint32_t k = 0; k < x->out_count; k++) {
        struct tn_type out = *t;
        out.shape.dims[axis] = known ? parts[k] : tn_dim_unknown(x->symbols);
        tn_out_type(x, k, &out);
    }
    return true;
}

static bool run_split(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0];
    int64_t axis = tn_attr_int(r->node, "axis", 0), strides[TN_RANK], at = 0;
    size_t size;
    if (!tn_move_size(r, x->element, &size)) return false;
    axis = axis < 0 ? axis + x->rank : axis;
    tn_strides(x->dims, x->rank, strides);
    for (uint32_t k = 0; k < r->out_count; k++) {
        struct tn_tensor *y = r->out[k];
        struct tn_move m = {.x = x->data, .y = y->data, .rank = x->rank, .x_begin = at * strides[axis]};
        memcpy(m.dims, y->dims, sizeof(m.dims));
        memcpy(m.x_stride, strides, sizeof(strides));
        tn_strides(y->dims, y->rank, m.y_stride);
        tn_move(r, m, size);
        at += y->dims[axis];
        if (!tn_move_done(r, y)) return false;
    }
    return true;
}

/* ---- Slice -------------------------------------------------------------------------------------------------------- */

struct cut {
    int64_t begin, step, count;
};

/* starts, ends, axes, steps: attributes before version 10, operands afterwards. False: not known yet. */
static bool slice_numbers(struct tn_infer *x, const char *name, uint32_t operand, int64_t *out, uint32_t *count)
{
    size_t n;
    const int64_t *fixed = tn_attr_ints(x->node, name, &n);
    *count = 0;
    if (fixed) {
        if (n > TN_CONTENT) return tn_infer_refuse(x, "at most 64 numbers", "%zu", n);
        memcpy(out, fixed, n * sizeof(*out));
        *count = (uint32_t)n;
        return true;
    }
    return !tn_in_given(x, operand) || tn_in_numbers(x, operand, out, TN_CONTENT, count);
}

static struct cut cut_of(int64_t begin, int64_t end, int64_t step, int64_t dim)
{
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? dim - 1 : dim;
    begin = begin < 0 ? begin + dim : begin;
    end = end < 0 ? end + dim : end;
    /* what lies outside is moved to the border; a begin before it, going down, gives nothing */
    begin = begin < low ? low : begin > high ? high : begin;
    end = end < low ? low : end > (step < 0 ? dim - 1 : dim) ? high : end;
    if (step < 0 && begin < 0) return (struct cut){0, step, 0};
    int64_t span = step > 0 ? end - begin : begin - end, by = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
    return (struct cut){begin, step, span > 0 ? (span - 1) / by + 1 : 0};
}

/* The cuts of all dimensions; *known false where a dimension or a number is a symbol. */
static bool cuts_of(struct tn_infer *x, const struct tn_shape *s, struct cut *cuts, bool *known, bool *touched)
{
    int64_t starts[TN_CONTENT], ends[TN_CONTENT], axes[TN_CONTENT], steps[TN_CONTENT];
    uint32_t n, m, a, k;
    bool all = slice_numbers(x, "starts", 1, starts, &n) && slice_numbers(x, "ends", 2, ends, &m) && slice_numbers(x, "axes", 3, axes, &a) &&
               slice_numbers(x, "steps", 4, steps, &k);
    *known = all;
    if (x->failed) return false;
    for (uint32_t i = 0; i < s->rank; i++) {
        cuts[i] = (struct cut){0, 1, s->dims[i]};
        touched[i] = !all;
    }
    if (!all) return true;
    if (n != m || (a && a != n) || (k && k != n) || n > s->rank) return tn_infer_refuse(x, "as many starts as ends, axes and steps", "%u, %u, %u, %u", n, m, a, k);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis;
        int64_t step = k ? steps[i] : 1;
        if (!tn_infer_axis(x, a ? axes[i] : (int64_t)i, s->rank, &axis)) return false;
        if (step == 0) return tn_infer_refuse(x, "steps other than 0", "0");
        if (tn_dim_known(s->dims[axis])) {
            cuts[axis] = cut_of(starts[i], ends[i], step, s->dims[axis]);
        } else if (starts[i] == 0 && step == 1 && ends[i] >= INT32_MAX) {
            continue; /* everything */
        } else {
            touched[axis] = true;
        }
    }
    return true;
}

/*
 * From the first on to an end that is a dimension, along axes whose lengths are numbers: the length is the least of both.
 * What exporters write for the first rows of a table. False: something else.
 */
static bool slice_to_symbols(struct tn_infer *x, const struct tn_shape *s, struct tn_shape *out)
{
    int64_t starts[TN_CONTENT], axes[TN_CONTENT], steps[TN_CONTENT];
    uint32_t n, m, a, k, axis;
    const tn_dim_t *ends;
    if (x->running || x->node->version < 10 || !tn_in_content(x, 2, &ends, &m)) return false;
    if (!slice_numbers(x, "starts", 1, starts, &n) || !slice_numbers(x, "axes", 3, axes, &a) || !slice_numbers(x, "steps", 4, steps, &k)) return false;
    if (n != m || (a && a != n) || (k && k != n) || n > s->rank) return false;
    *out = *s;
    for (uint32_t i = 0; i < n; i++) {
        axis = (uint32_t)(a ? axes[i] < 0 ? axes[i] + s->rank : axes[i] : i);
        if (starts[i] != 0 || (k && steps[i] != 1) || axis >= s->rank) return false;
        if (!tn_dim_known(s->dims[axis]) || !tn_dim_not_negative(x->symbols, ends[i])) return false;
        out->dims[axis] = tn_dim_least(x->symbols, ends[i], s->dims[axis]);
    }
    return true;
}

static bool infer_slice(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    struct cut cuts[TN_RANK];
    bool known, touched[TN_RANK];
    const tn_dim_t *content;
    uint32_t n;
    if (!t) return true;
    if (!t->shape.known) {
        tn_out_unknown(x, 0, t->element);
        return true;
    }
    if (!cuts_of(x, &t->shape, cuts, &known, touched)) return false;
    struct tn_type out = *t;
    if (!known && slice_to_symbols(x, &t->shape, &out.shape)) {
        tn_out_type(x, 0, &out);
        return true;
    }
    out = *t;
    for (uint32_t i = 0; i < t->shape.rank; i++) out.shape.dims[i] = touched[i] ? tn_dim_unknown(x->symbols) : cuts[i].count;
    tn_out_type(x, 0, &out);
    if (x->running || !known || t->shape.rank != 1 || touched[0] || !tn_in_content(x, 0, &content, &n)) return true;
    tn_dim_t kept[TN_CONTENT];
    for (int64_t i = 0; i < cuts[0].count; i++) kept[i] = content[cuts[0].begin + i * cuts[0].step];
    tn_out_content(x, 0, kept, (uint32_t)cuts[0].count);
    return true;
}

static bool run_slice(struct tn_run *r)
{
    struct tn_tensor *x = r->in[0], *y = r->out[0];
    struct tn_infer again = {.node = r->node, .in_count = r->in_count, .running = true, .why = r->why};
    const struct tn_tensor *data[5] = {0};
    struct tn_type types[5];
    const struct tn_type *type_of[5] = {0};
    struct tn_shape shape = {.known = true, .rank = x->rank};
    struct cut cuts[TN_RANK];
    struct tn_move m = {.x = x->data, .y = y->data, .rank = x->rank};
    int64_t strides[TN_RANK];
    bool known, touched[TN_RANK];
    size_t size;
    for (uint32_t i = 0; i < r->in_count && i < 5; i++) {
        data[i] = r->in[i];
        type_of[i] = r->in[i] ? &types[i] : NULL;
    }
    again.data = data;
    again.types = type_of;
    memcpy(shape.dims, x->dims, sizeof(shape.dims));
    if (!tn_move_size(r, x->element, &size) || !cuts_of(&again, &shape, cuts, &known, touched)) return false;
    tn_strides(x->dims, x->rank, strides);
    tn_strides(y->dims, y->rank, m.y_stride);
    for (uint32_t i = 0; i < x->rank; i++) {
        m.dims[i] = y->dims[i];
        m.x_begin += y->dims[i] ? cuts[i].begin * strides[i] : 0;
        m.x_stride[i] = strides[i] * (cuts[i].count > 1 ? cuts[i].step : 1);
    }
    tn_move(r, m, size);
    return tn_move_done(r, y);
}

static const struct tn_operator rows[] = {
    {.name = "Transpose", .since = 1, .infer = infer_transpose, .run = run_transpose},
    {.name = "Concat", .since = 1, .infer = infer_concat, .run = run_concat},
    {.name = "Split", .since = 1, .infer = infer_split, .run = run_split},
    {.name = "Slice", .since = 1, .infer = infer_slice, .run = run_slice},
};

const struct tn_operators tn_ops_move = {rows, sizeof(rows) / sizeof(rows[0])};
