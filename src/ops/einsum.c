/*
 * Einsum: sums of products by an equation over letters. Two operands become batched matrix products when no letter is
 * summed within one of them; everything else is summed element by element. Integers wrap.
 */
#include "ops/gemm.h"
#include "ops/real.h"

#include <string.h>

enum { OPERANDS = 16, LETTERS = 52, LABELS = LETTERS + TN_RANK, NO_LABEL = 255 };

/* Labels of a term's dimensions: letters, then the dimensions of an ellipsis counted from its end. */
struct term {
    uint32_t rank;
    uint8_t label[TN_RANK];
};

struct equation {
    uint32_t count;
    struct term in[OPERANDS], out;
};

/* ---- equations ---------------------------------------------------------------------------------------------------- */

static uint8_t letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A') : c >= 'a' && c <= 'z' ? (uint8_t)(c - 'a' + 26) : NO_LABEL;
}

/* One term up to a comma, an arrow or the end. `dots`: dimensions that an ellipsis stands for. */
static const char *read_term(struct tn_str text, size_t *at, uint32_t dots, struct term *out)
{
    bool seen = false;
    out->rank = 0;
    for (; *at < text.n; ++*at) {
        char c = text.s[*at];
        if (c == ',' || c == '-') break;
        if (c == ' ') continue;
        if (c == '.') {
            if (seen || text.n - *at < 3 || memcmp(text.s + *at, "...", 3) != 0) return "one ellipsis of three dots";
            seen = true;
            *at += 2;
            if (out->rank + dots > TN_RANK) return "no more dimensions than tensors have";
            for (uint32_t d = dots; d-- > 0;) out->label[out->rank++] = (uint8_t)(LETTERS + d);
            continue;
        }
        if (letter(c) == NO_LABEL) return "letters, an ellipsis, commas and an arrow";
        if (out->rank == TN_RANK) return "no more dimensions than tensors have";
        out->label[out->rank++] = letter(c);
    }
    return NULL;
}

/* How many dimensions the ellipsis of a term stands for, given the operand's rank; 0 without one. */
static uint32_t dots_of(struct tn_str text, size_t at, uint32_t rank)
{
    uint32_t letters = 0;
    bool dots = false;
    for (; at < text.n && text.s[at] != ',' && text.s[at] != '-'; at++) {
        letters += letter(text.s[at]) != NO_LABEL;
        dots |= text.s[at] == '.';
    }
    return dots && rank > letters ? rank - letters : 0;
}

/* Without an arrow: the ellipsis, then letters that appear once, in the order of their codes. */
static const char *implicit_out(struct equation *q, uint32_t dots)
{
    uint32_t seen[LABELS] = {0};
    for (uint32_t i = 0; i < q->count; i++) {
        for (uint32_t d = 0; d < q->in[i].rank; d++) seen[q->in[i].label[d]]++;
    }
    q->out.rank = 0;
    for (uint32_t d = dots; d-- > 0;) q->out.label[q->out.rank++] = (uint8_t)(LETTERS + d);
    for (uint32_t l = 0; l < LETTERS; l++) {
        if (seen[l] != 1) continue;
        if (q->out.rank == TN_RANK) return "no more dimensions than tensors have";
        q->out.label[q->out.rank++] = (uint8_t)l;
    }
    return NULL;
}

/* NULL, or what the equation should have been. */
static const char *read_equation(struct tn_str text, const uint32_t *ranks, uint32_t count, struct equation *q)
{
    size_t at = 0;
    uint32_t most = 0;
    q->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t dots = dots_of(text, at, ranks[i]);
        const char *bad = read_term(text, &at, dots, &q->in[i]);
        if (bad) return bad;
        if (q->in[i].rank != ranks[i]) return "a term with as many dimensions as its operand";
        if (dots > most) most = dots;
        bool comma = at < text.n && text.s[at] == ',';
        if (comma != (i + 1 < count)) return "as many terms as operands";
        at += comma;
    }
    if (at == text.n) return implicit_out(q, most);
    if (text.n - at < 2 || text.s[at + 1] != '>') return "an arrow in front of the result's term";
    at += 2;
    const char *bad = read_term(text, &at, most, &q->out);
    if (bad) return bad;
    return at == text.n ? NULL : "nothing behind the result's term";
}

/* ---- inference ---------------------------------------------------------------------------------------------------- */

static bool merge_dim(struct tn_infer *x, tn_dim_t *known, bool *set, tn_dim_t d)
{
    if (!*set || *known == 1) {
        *known = d;
        *set = true;
    } else if (*known != d && d != 1) {
        if (tn_dim_known(*known) && tn_dim_known(d))
            return tn_infer_refuse(x, "equal dimensions for equal letters", "%lld beside %lld", (long long)*known, (long long)d);
        if (tn_dim_known(d)) *known = d;
    }
    return true;
}

static bool infer_einsum(struct tn_infer *x)
{
    struct equation q;
    const struct tn_type *t = tn_in_type(x, 0);
    const struct tn_shape *s;
    uint32_t ranks[OPERANDS];
    tn_dim_t dim[LABELS] = {0}, out[TN_RANK];
    bool set[LABELS] = {false}, used[LABELS] = {false};
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (x->in_count > OPERANDS) return tn_infer_refuse(x, "at most 16 operands", "%u", x->in_count);
    for (uint32_t i = 0; i < x->in_count; i++) {
        if (!tn_in_shape(x, i, &s)) return true;
        ranks[i] = s->rank;
    }
    const char *bad = read_equation(tn_attr_text(x->node, "equation"), ranks, x->in_count, &q);
    if (bad) return tn_infer_refuse(x, bad, "another equation");
    for (uint32_t i = 0; i < q.count; i++) {
        tn_in_shape(x, i, &s);
        for (uint32_t d = 0; d < s->rank; d++) {
            uint8_t l = q.in[i].label[d];
            if (!merge_dim(x, &dim[l], &set[l], s->dims[d])) return false;
        }
    }
    for (uint32_t d = 0; d < q.out.rank; d++) {
        uint8_t l = q.out.label[d];
        if (!set[l] || used[l]) return tn_infer_refuse(x, "letters of the operands, each once, in the result", "another equation");
        used[l] = true;
        out[d] = dim[l];
    }
    tn_out_tensor(x, 0, t ? t->element : TN_EL_NONE, q.out.rank, out);
    return true;
}

/* ---- sums, element by element ------------------------------------------------------------------------------------- */

/* The loops: result's dimensions first, then what is summed. A step is 0 where an operand lacks the label. */
struct loops {
    uint32_t count, kept;
    uint8_t label[LABELS];
    uint64_t size[LABELS];
    uint64_t step[OPERANDS][LABELS];
    uint32_t operands;
    uint64_t summed; /* elements summed into one */
    enum tn_element element;
    const void *in[OPERANDS];
    void *out;
};

static void make_loops(const struct equation *q, struct tn_tensor *const *in, struct loops *l)
{
    uint32_t place[LABELS];
    *l = (struct loops){.operands = q->count, .summed = 1, .kept = q->out.rank, .element = in[0]->element};
    for (uint32_t i = 0; i < LABELS; i++) place[i] = UINT32_MAX;
    for (uint32_t d = 0; d < q->out.rank; d++) {
        place[q->out.label[d]] = l->count;
        l->label[l->count++] = q->out.label[d];
    }
    for (uint32_t i = 0; i < q->count; i++) {
        for (uint32_t d = 0; d < q->in[i].rank; d++) {
            if (place[q->in[i].label[d]] != UINT32_MAX) continue;
            place[q->in[i].label[d]] = l->count;
            l->label[l->count++] = q->in[i].label[d];
        }
    }
    for (uint32_t i = 0; i < l->count; i++) l->size[i] = 1;
    for (uint32_t i = 0; i < q->count; i++) {
        uint64_t step = 1;
        for (uint32_t d = q->in[i].rank; d-- > 0;) {
            uint32_t p = place[q->in[i].label[d]];
            uint64_t size = (uint64_t)in[i]->dims[d];
            if (size != 1) {
                l->size[p] = size;
                l->step[i][p] += step;
            }
            step *= size;
        }
    }
    for (uint32_t i = l->kept; i < l->count; i++) l->summed *= l->size[i];
}

/* Offsets of each operand for the flat index over loops [begin, end). */
static void offsets_of(const struct loops *l, uint32_t begin, uint32_t end, uint64_t flat, uint64_t *at)
{
    for (uint32_t i = end; i-- > begin;) {
        uint64_t index = flat % l->size[i];
        flat /= l->size[i];
        for (uint32_t o = 0; o < l->operands; o++) at[o] += index * l->step[o][i];
    }
}

#define SUM(name, type, load, store)                                                                  \
    static void name(void *user, uint64_t begin, uint64_t end)                                       \
    {                                                                                                 \
        const struct loops *l = user;                                                                 \
        for (uint64_t i = begin; i < end; i++) {                                                      \
            uint64_t base[OPERANDS] = {0};                                                            \
            type sum = 0;                                                                             \
            offsets_of(l, 0, l->kept, i, base);                                                       \
            for (uint64_t k = 0; k < l->summed; k++) {                                                \
                uint64_t at[OPERANDS];                                                                \
                memcpy(at, base, sizeof(at));                                                         \
                offsets_of(l, l->kept, l->count, k, at);                                              \
                type product = load(0);                                                               \
                for (uint32_t o = 1; o < l->operands; o++) product *= load(o);                        \
                sum += product;                                                                       \
            }                                                                                         \
            store;                                                                                    \
        }                                                                                             \
    }

#define LOAD_F32(o) ((const float *)l->in[o])[at[o]]
#define LOAD_F64(o) ((const double *)l->in[o])[at[o]]
#define LOAD_INT(o) (uint64_t)tn_element_get_int(l->element, l->in[o], at[o])
SUM(sum_f32, float, LOAD_F32, ((float *)l->out)[i] = sum)
SUM(sum_f64, double, LOAD_F64, ((double *)l->out)[i] = sum)
SUM(sum_int, uint64_t, LOAD_INT, tn_element_set_int(l->element, l->out, i, (int64_t)sum))

/* ---- as matrix products ------------------------------------------------------------------------------------------- */

/* Loops of two operands by where they appear: both and kept, the first, the second, both and summed. */
enum role { BATCH, LEFT, RIGHT, INNER, ROLES };

struct split {
    uint32_t loop[ROLES][LABELS], count[ROLES];
    uint64_t size[ROLES];
};

static bool split_loops(const struct loops *l, struct split *s)
{
    memset(s, 0, sizeof(*s));
    for (int r = 0; r < ROLES; r++) s->size[r] = 1;
    for (uint32_t i = 0; i < l->count; i++) {
        bool a = l->step[0][i] != 0, b = l->step[1][i] != 0, kept = i < l->kept;
        if (!kept && a != b) return false;
        enum role role = kept ? (a && b ? BATCH : b ? RIGHT : LEFT) : INNER;
        s->loop[role][s->count[role]++] = i;
        s->size[role] *= l->size[i];
    }
    return true;
}

struct permute {
    const struct loops *l;
    const uint32_t *order; /* loops, outermost first */
    uint32_t count;
    uint64_t step[LABELS]; /* by loop, in what is read or written */
    const float *from;
    float *to;
    bool scatter; /* to[step] = from[i], otherwise to[i] = from[step] */
};

static void permute_items(void *user, uint64_t begin, uint64_t end)
{
    const struct permute *p = user;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t flat = i, at = 0;
        for (uint32_t k = p->count; k-- > 0;) {
            uint32_t loop = p->order[k];
            at += flat % p->l->size[loop] * p->step[loop];
            flat /= p->l->size[loop];
        }
        if (p->scatter) p->to[at] = p->from[i];
        else p->to[i] = p->from[at];
    }
}

static void concat_roles(const struct split *s, enum role a, enum role b, enum role c, uint32_t *order, uint32_t *count)
{
    enum role roles[3] = {a, b, c};
    *count = 0;
    for (int r = 0; r < 3; r++) {
        for (uint32_t i = 0; i < s->count[roles[r]]; i++) order[(*count)++] = s->loop[roles[r]][i];
    }
}

static bool products(struct tn_run *r, struct tn_reals *reals, const struct loops *l, const struct split *s)
{
    uint64_t *at = tn_run_scratch(r, s->size[BATCH] * 2, sizeof(*at));
    uint64_t m = s->size[LEFT], n = s->size[RIGHT], k = s->size[INNER], batch = s->size[BATCH];
    float *a = tn_reals_scratch(reals, batch * m * k), *b = tn_reals_scratch(reals, batch * k * n), *c = tn_reals_scratch(reals, batch * m * n);
    uint32_t order[LABELS], count;
    bool good = at && a && b && c;
    if (good) {
        struct permute p = {.l = l, .order = order, .from = l->in[0], .to = a};
        memcpy(p.step, l->step[0], sizeof(p.step));
        concat_roles(s, BATCH, LEFT, INNER, order, &p.count);
        tn_run_items(r, batch * m * k, 16, permute_items, &p);
        p.from = l->in[1];
        p.to = b;
        memcpy(p.step, l->step[1], sizeof(p.step));
        concat_roles(s, BATCH, INNER, RIGHT, order, &p.count);
        tn_run_items(r, batch * k * n, 16, permute_items, &p);
        for (uint64_t i = 0; i < batch; i++) {
            at[i] = i * m * k;
            at[batch + i] = i * k * n;
        }
        struct tn_gemm g = {.m = m, .n = n, .k = k, .a = a, .a_row = k, .b = b, .b_k = n, .b_n = 1, .c = c, .c_row = n};
        good = tn_gemm_batch(r, &g, batch, at, at + batch);
        uint64_t step = 1;
        for (uint32_t i = l->kept; i-- > 0;) {
            p.step[i] = step;
            step *= l->size[i];
        }
        p.from = c;
        p.to = l->out;
        p.scatter = true;
        concat_roles(s, BATCH, LEFT, RIGHT, order, &count);
        p.count = count;
        if (good) tn_run_items(r, batch * m * n, 16, permute_items, &p);
    }
    tn_heap_give(r->heap, at);
    return good;
}

static bool run_einsum(struct tn_run *r)
{
    struct equation q;
    struct loops l;
    struct split s;
    struct tn_reals reals;
    uint32_t ranks[OPERANDS];
    enum tn_element e = r->in[0]->element;
    bool real = tn_elements_have(TN_ELS_FLOAT, e);
    for (uint32_t i = 0; i < r->in_count; i++) ranks[i] = r->in[i]->rank;
    if (read_equation(tn_attr_text(r->node, "equation"), ranks, r->in_count, &q) || r->out[0]->count == 0) return true;
    make_loops(&q, r->in, &l);
    tn_reals_begin(&reals, r, e);
    for (uint32_t i = 0; i < r->in_count; i++) l.in[i] = real ? tn_reals_in(&reals, i) : r->in[i]->data;
    l.out = real ? tn_reals_out(&reals, 0) : r->out[0]->data;
    if (!tn_reals_good(&reals)) return tn_reals_end(&reals);
    if (real && e != TN_EL_F64 && l.operands == 2 && l.summed > 0 && split_loops(&l, &s)) products(r, &reals, &l, &s);
    else tn_run_items(r, r->out[0]->count, l.summed * 8 * l.operands, real ? (reals.wide ? sum_f64 : sum_f32) : sum_int, &l);
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.name = "Einsum", .since = 12, .infer = infer_einsum, .run = run_einsum},
};

const struct tn_operators tn_ops_einsum = {rows, sizeof(rows) / sizeof(rows[0])};
