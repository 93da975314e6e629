/*
 * Operators that treat each row alone: layer norm, embedding, rotary positions, gates, L2 normalisation, activation,
 * check.
 */
#include "kernel/float16.h"
#include "kernel/x86/vec_math.h"
#include "kernel/x86/norm_row.h"
#include "kernel/x86/x86.h"

static void add_rows(const float *a, const float *b, float *y, size_t width)
{
    size_t i = 0;
    for (; i + VEC <= width; i += VEC) v_store(y + i, v_add(v_load(a + i), v_load(b + i)));
    if (i == width) return;
    vtail tail = v_tail(width - i);
    v_store_tail(y + i, tail, v_add(v_load_tail(a + i, tail), v_load_tail(b + i, tail)));
}

void TN_ISA(layer_norm)(const struct tn_layer_norm_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const float *x = a->x + t * a->x_stride;
        float *y = a->y + t * a->y_stride;
        if (a->residual) {
            add_rows(x, a->residual + t * a->residual_stride, y, a->width);
            x = y;
        }
        norm_row(x, y, a->width, a->gamma, a->beta, a->eps);
    }
}

/* One head: a c - b s and b c + a s, each with one fused multiply-add. */
static void rotate_head(float *x, const float *cosine, const float *sine, size_t half)
{
    for (size_t d = 0; d < half; d += VEC) {
        vtail tail = v_tail(half - d);
        vec c = v_load_tail(cosine + d, tail), s = v_load_tail(sine + d, tail);
        vec a = v_load_tail(x + d, tail), b = v_load_tail(x + half + d, tail);
        v_store_tail(x + d, tail, v_fnma(b, s, v_mul(a, c)));
        v_store_tail(x + half + d, tail, v_fma(a, s, v_mul(b, c)));
    }
}

void TN_ISA(rotary)(const struct tn_rotary_args *a, unsigned rank, unsigned size)
{
    size_t begin, end, half = a->head_dim / 2;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const size_t at = (size_t)a->positions[t] * half;
        float *x = a->x + t * a->stride;
        for (size_t head = 0; head < a->heads; head++, x += a->head_dim) {
            rotate_head(x, a->cosine + at, a->sine + at, half);
        }
    }
}

/* Row by row, so that the copy, the activation and the product meet in the first cache. */
void TN_ISA(gate)(const struct tn_gate_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const float *x = a->x + t * a->x_stride, *gate = x + a->width;
        float *y = a->y + t * a->y_stride;
        memcpy(y, x, a->width * sizeof(float));
        act_region(a->act, y, a->width, 1, a->width);
        for (size_t i = 0; i < a->width; i += VEC) {
            vtail tail = v_tail(a->width - i);
            v_store_tail(y + i, tail, v_mul(v_load_tail(y + i, tail), v_load_tail(gate + i, tail)));
        }
    }
}

TN_INLINE vec load_stored(enum tn_float_type type, const char *p)
{
    if (type == TN_FLOAT_F16) return v_load_f16(p);
    if (type == TN_FLOAT_BF16) return v_load_bf16(p);
    return v_load((const float *)(const void *)p);
}

/* y (+)= row `row` of the table */
static void gather_row(const struct tn_embed_table *table, size_t row, float *y, size_t width,
                       bool add)
{
    const size_t size = tn_float_type_size(table->type);
    const char *p = (const char *)table->data + row * width * size;
    size_t i = 0;
    for (; i + VEC <= width; i += VEC) {
        vec e = load_stored(table->type, p + i * size);
        v_store(y + i, add ? v_add(v_load(y + i), e) : e);
    }
    for (; i < width; i++) {
        float e = tn_load_element(table->type, p, i);
        y[i] = add ? y[i] + e : e;
    }
}

void TN_ISA(embed)(const struct tn_embed_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        float *y = a->y + t * a->y_stride;
        for (size_t n = 0; n < a->tables; n++) {
            const struct tn_embed_table *table = &a->table[n];
            size_t row = table->index ? (size_t)table->index[t] : 0;
            gather_row(table, row, y, a->width, n > 0);
        }
        if (a->norm) norm_row(y, y, a->width, a->gamma, a->beta, a->eps);
    }
}

void TN_ISA(normalize)(const float *x, size_t x_stride, float *y, size_t y_stride, size_t rows,
                       size_t width, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        const float *from = x + t * x_stride;
        float *to = y + t * y_stride;
        float norm = sqrtf(row_squares(from, width, 0.0f));
        const vec divisor = v_set(norm < 1e-12f ? 1e-12f : norm);
        for (size_t i = 0; i < width; i += VEC) {
            vtail tail = v_tail(width - i);
            v_store_tail(to + i, tail, v_div(v_load_tail(from + i, tail), divisor));
        }
    }
}

void TN_ISA(activate)(enum tn_act act, float *x, size_t stride, size_t rows, size_t width,
                      unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(rows, rank, size, &begin, &end);
    act_region(act, x + begin * stride, stride, end - begin, width);
}

void TN_ISA(rows_finite)(const float *x, size_t stride, size_t rows, size_t width, uint8_t *finite,
                         unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        bool bad = false;
        for (size_t i = 0; i < width && !bad; i += VEC) {
            bad = v_any_nonfinite(v_load_tail(x + t * stride + i, v_tail(width - i)));
        }
        finite[t] = !bad;
    }
}

void TN_ISA(to_f32)(enum tn_float_type type, const void *src, float *dst, size_t count)
{
    const char *p = src;
    const size_t size = tn_float_type_size(type);
    size_t i = 0;
    for (; i + VEC <= count; i += VEC) v_store(dst + i, load_stored(type, p + i * size));
    for (; i < count; i++) dst[i] = tn_load_element(type, p, i);
}

void TN_ISA(from_f32)(enum tn_float_type type, const float *src, void *dst, size_t count)
{
    char *p = dst;
    if (type == TN_FLOAT_F32) {
        memcpy(dst, src, count * sizeof(float));
        return;
    }
    size_t i = 0;
    for (; i + VEC <= count; i += VEC) {
        if (type == TN_FLOAT_F16) {
            v_store_f16(p + i * 2, v_load(src + i));
        } else {
            v_store_bf16(p + i * 2, v_load(src + i));
        }
    }
    for (; i < count; i++) {
        uint16_t h = type == TN_FLOAT_F16 ? tn_f32_to_f16(src[i]) : tn_f32_to_bf16(src[i]);
        memcpy(p + i * 2, &h, sizeof(h));
    }
}
