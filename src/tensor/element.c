/* Element types; see the header. Bits alone decide: no result depends on the CPU's modes. Inputs are trusted. */
#include "tensor/element.h"

#include "base/checked.h"
#include "kernel/float16.h"

#include <math.h>

size_t tn_element_size(enum tn_element e)
{
    if (tn_elements_have(TN_ELS_PACKED, e)) return 0;
    if (e == TN_EL_C64) return 8;
    if (e == TN_EL_C128) return 16;
    switch (e) {
#define X(name, number, type)                                                                      \
    case TN_EL_##name: return sizeof(type);
        TN_ELEMENT_TYPE_LIST(X)
#undef X
    default: return 0;
    }
}

bool tn_element_bytes(enum tn_element e, uint64_t count, size_t *out)
{
    size_t each = tn_element_size(e), bits;
    if (each) return count <= SIZE_MAX && tn_mul((size_t)count, each, out);
    if (!tn_elements_have(TN_ELS_PACKED, e)) return false;
    if (count > SIZE_MAX || !tn_mul((size_t)count, tn_onnx_element_bits(e), &bits) || !tn_add(bits, 7, &bits)) return false;
    *out = bits / 8;
    return true;
}

/* ---- small formats ------------------------------------------------------------------------------------------------ */

/*
 * sign, exponent bits, fraction bits, bias; what the top codes mean. FN: only the all-ones code is NaN; UZ: there is no
 * negative zero, its code is NaN; IEEE: infinities and NaNs; E8M0: powers of two alone, 255 is NaN; PLAIN: finite alone, NaN
 * becomes the zero with a sign, as numpy's conversion has it.
 */
enum tops { IEEE, FN, UZ, PLAIN };
struct small {
    int exponent, fraction, bias;
    enum tops tops;
};

static bool small_of(enum tn_element e, struct small *out)
{
    switch (e) {
    case TN_EL_F8E4M3FN: *out = (struct small){4, 3, 7, FN}; return true;
    case TN_EL_F8E4M3FNUZ: *out = (struct small){4, 3, 8, UZ}; return true;
    case TN_EL_F8E5M2: *out = (struct small){5, 2, 15, IEEE}; return true;
    case TN_EL_F8E5M2FNUZ: *out = (struct small){5, 2, 16, UZ}; return true;
    case TN_EL_F4E2M1: *out = (struct small){2, 1, 1, PLAIN}; return true;
    default: return false;
    }
}

float tn_small_float(enum tn_element e, uint8_t code)
{
    struct small s;
    if (e == TN_EL_F8E8M0) return code == 255 ? NAN : ldexpf(1.0f, code - 127);
    if (!small_of(e, &s)) return 0;
    int width = s.exponent + s.fraction;
    int sign = code >> width & 1, magnitude = code & ((1 << width) - 1);
    int exponent = magnitude >> s.fraction, fraction = magnitude & ((1 << s.fraction) - 1);
    if (s.tops == UZ && sign && magnitude == 0) return NAN;
    if (s.tops == FN && magnitude == (1 << width) - 1) return NAN;
    if (s.tops == IEEE && exponent == (1 << s.exponent) - 1) return fraction ? NAN : sign ? -INFINITY : INFINITY;
    float value = exponent ? ldexpf((float)(fraction + (1 << s.fraction)), exponent - s.bias - s.fraction)
                           : ldexpf((float)fraction, 1 - s.bias - s.fraction);
    return sign ? -value : value;
}

static uint8_t power_of_two(float value, bool saturate)
{
    int exponent;
    if (isnan(value) || value < 0) return 255;
    if (isinf(value)) return saturate ? 254 : 255;
    float fraction = frexpf(value, &exponent); /* value = fraction * 2^exponent, fraction in [.5, 1) */
    if (value == 0) return 0;
    exponent += fraction > 0.75f ? 127 : 126; /* nearest; 1.5 * 2^n is nearer to neither and stays */
    if (exponent < 0) return 0;
    return exponent > 254 ? (uint8_t)(saturate ? 254 : 255) : (uint8_t)exponent;
}

static uint8_t beyond(const struct small *s, int sign, int largest, bool saturate)
{
    int width = s->exponent + s->fraction, code;
    if (s->tops == PLAIN || saturate) code = largest;
    else if (s->tops == UZ) return (uint8_t)(1 << width);
    else if (s->tops == FN) code = (1 << width) - 1;
    else code = ((1 << s->exponent) - 1) << s->fraction;
    return (uint8_t)(sign << width | code);
}

uint8_t tn_small_float_of(enum tn_element e, float value, bool saturate)
{
    struct small s;
    if (e == TN_EL_F8E8M0) return power_of_two(value, saturate);
    if (!small_of(e, &s)) return 0;
    int width = s.exponent + s.fraction, sign = signbit(value) ? 1 : 0;
    int top = (1 << width) - 1, largest = s.tops == FN ? top - 1 : s.tops == IEEE ? (top >> s.fraction << s.fraction) - 1 : top;
    if (isnan(value)) return (uint8_t)(s.tops == UZ ? 1 << width : s.tops == PLAIN ? 1 << width : sign << width | top);
    float magnitude = fabsf(value);
    if (isinf(value)) return beyond(&s, sign, largest, saturate);
    if (magnitude == 0) return (uint8_t)(s.tops == UZ ? 0 : sign << width);
    int exponent;
    frexpf(magnitude, &exponent);
    int unit = exponent - 1 < 1 - s.bias ? 1 - s.bias : exponent - 1; /* of the binade, or of the subnormals */
    float steps = ldexpf(magnitude, s.fraction - unit), whole = floorf(steps), rest = steps - whole;
    int code = (int)whole + (rest > 0.5f || (rest == 0.5f && ((int)whole & 1)));
    /* codes are consecutive: a fraction that overflows carries into the exponent */
    code += (unit - (1 - s.bias)) << s.fraction;
    if (code > largest) return beyond(&s, sign, largest, saturate);
    if (code == 0 && s.tops == UZ) return 0;
    return (uint8_t)(sign << width | code);
}

/* ---- single elements ---------------------------------------------------------------------------------------------- */

static unsigned packed_code(enum tn_element e, const void *data, size_t i)
{
    unsigned bits = tn_onnx_element_bits(e), per = 8 / bits;
    return ((const uint8_t *)data)[i / per] >> (i % per * bits) & ((1u << bits) - 1);
}

static void set_packed_code(enum tn_element e, void *data, size_t i, unsigned code)
{
    unsigned bits = tn_onnx_element_bits(e), per = 8 / bits, at = (unsigned)(i % per) * bits, mask = ((1u << bits) - 1) << at;
    uint8_t *p = (uint8_t *)data + i / per;
    *p = (uint8_t)((*p & ~mask) | (code << at & mask));
}

static int signed_code(unsigned code, unsigned bits)
{
    return (int)code - (code >> (bits - 1) ? 1 << bits : 0);
}

double tn_element_get(enum tn_element e, const void *data, size_t i)
{
    switch (e) {
    case TN_EL_F32: return ((const float *)data)[i];
    case TN_EL_F64: return ((const double *)data)[i];
    case TN_EL_F16: return tn_f16_to_f32(((const uint16_t *)data)[i]);
    case TN_EL_BF16: return tn_bf16_to_f32(((const uint16_t *)data)[i]);
    case TN_EL_U64: return (double)((const uint64_t *)data)[i];
    case TN_EL_C64: return ((const float *)data)[2 * i];
    case TN_EL_C128: return ((const double *)data)[2 * i];
    case TN_EL_F4E2M1: return tn_small_float(e, (uint8_t)packed_code(e, data, i));
    case TN_EL_F8E4M3FN:
    case TN_EL_F8E4M3FNUZ:
    case TN_EL_F8E5M2:
    case TN_EL_F8E5M2FNUZ:
    case TN_EL_F8E8M0: return tn_small_float(e, ((const uint8_t *)data)[i]);
    default: return (double)tn_element_get_int(e, data, i);
    }
}

/*
 * To float32 by rounding to odd: a second rounding to 16 bits then gives what one rounding would have given (Boldo and
 * Melquiond 2008, "Emulation of FMA and correctly rounded sums", theorem on double rounding).
 */
static float odd(double value)
{
    float f = (float)value;
    if ((double)f == value || isnan(value)) return f;
    uint32_t bits = tn_f32_bits(f);
    if (fabs((double)f) > fabs(value)) bits--;
    return tn_f32_of_bits(bits | 1);
}

static int64_t whole(double value)
{
    if (isnan(value)) return 0;
    if (value >= 0x1p63) return INT64_MAX;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

int64_t tn_element_get_int(enum tn_element e, const void *data, size_t i)
{
    switch (e) {
    case TN_EL_BOOL:
    case TN_EL_U8: return ((const uint8_t *)data)[i];
    case TN_EL_I8: return ((const int8_t *)data)[i];
    case TN_EL_U16: return ((const uint16_t *)data)[i];
    case TN_EL_I16: return ((const int16_t *)data)[i];
    case TN_EL_U32: return ((const uint32_t *)data)[i];
    case TN_EL_I32: return ((const int32_t *)data)[i];
    case TN_EL_U64:
    case TN_EL_I64: return ((const int64_t *)data)[i];
    case TN_EL_U4:
    case TN_EL_U2: return packed_code(e, data, i);
    case TN_EL_I4:
    case TN_EL_I2: return signed_code(packed_code(e, data, i), tn_onnx_element_bits(e));
    case TN_EL_STRING: return 0;
    default: return whole(tn_element_get(e, data, i));
    }
}

void tn_element_set(enum tn_element e, void *data, size_t i, double value, bool saturate)
{
    switch (e) {
    case TN_EL_F32: ((float *)data)[i] = (float)value; break;
    case TN_EL_F64: ((double *)data)[i] = value; break;
    case TN_EL_F16: ((uint16_t *)data)[i] = tn_f32_to_f16(odd(value)); break;
    case TN_EL_BF16: ((uint16_t *)data)[i] = tn_f32_to_bf16(odd(value)); break;
    case TN_EL_C64:
        ((float *)data)[2 * i] = (float)value;
        ((float *)data)[2 * i + 1] = 0;
        break;
    case TN_EL_C128:
        ((double *)data)[2 * i] = value;
        ((double *)data)[2 * i + 1] = 0;
        break;
    case TN_EL_F4E2M1: set_packed_code(e, data, i, tn_small_float_of(e, (float)value, saturate)); break;
    case TN_EL_F8E4M3FN:
    case TN_EL_F8E4M3FNUZ:
    case TN_EL_F8E5M2:
    case TN_EL_F8E5M2FNUZ:
    case TN_EL_F8E8M0: ((uint8_t *)data)[i] = tn_small_float_of(e, (float)value, saturate); break;
    case TN_EL_BOOL: ((uint8_t *)data)[i] = value != 0; break;
    case TN_EL_U64: ((uint64_t *)data)[i] = value >= 0x1p63 ? (uint64_t)fmin(value, 0x1.fffffffffffffp63) : (uint64_t)whole(value); break;
    default: tn_element_set_int(e, data, i, whole(value)); break;
    }
}

void tn_element_set_int(enum tn_element e, void *data, size_t i, int64_t value)
{
    switch (e) {
    case TN_EL_U8:
    case TN_EL_I8: ((uint8_t *)data)[i] = (uint8_t)value; break;
    case TN_EL_U16:
    case TN_EL_I16: ((uint16_t *)data)[i] = (uint16_t)value; break;
    case TN_EL_U32:
    case TN_EL_I32: ((uint32_t *)data)[i] = (uint32_t)value; break;
    case TN_EL_U64:
    case TN_EL_I64: ((int64_t *)data)[i] = value; break;
    case TN_EL_BOOL: ((uint8_t *)data)[i] = value != 0; break;
    case TN_EL_U4:
    case TN_EL_I4:
    case TN_EL_U2:
    case TN_EL_I2: set_packed_code(e, data, i, (unsigned)value & 15u); break;
    case TN_EL_STRING: break;
    default: tn_element_set(e, data, i, (double)value, false); break;
    }
}
