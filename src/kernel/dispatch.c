/*
 * Names and the choice of a kernel table. One row per table, slowest first; a table whose `usable`
 * fails is as good as absent.
 */
#include "kernel/kernel.h"
#include "kernel/ref/ref.h"
#include "kernel/x86/x86.h"

#include <string.h>

static bool always(const struct tn_cpu *cpu)
{
    (void)cpu;
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(const struct tn_cpu *cpu)
{
    return cpu && cpu->avx2;
}

static bool has_avx512(const struct tn_cpu *cpu)
{
    return cpu && cpu->avx512;
}

static bool has_avx512_vnni(const struct tn_cpu *cpu)
{
    return cpu && cpu->avx512_vnni;
}

/* No CPU has bfloat16 without the older VNNI. */
static bool has_avx512_bf16(const struct tn_cpu *cpu)
{
    return cpu && cpu->avx512_bf16 && cpu->avx512_vnni;
}
#endif

static const struct {
    const struct tn_kernels *kernels;
    bool (*usable)(const struct tn_cpu *cpu);
} tables[] = {
    {&tn_kernels_ref, always},
#if defined(__x86_64__)
    {&tn_kernels_avx2, has_avx2},
    {&tn_kernels_avx512, has_avx512},
    {&tn_kernels_avx512vnni, has_avx512_vnni}, /* the table above with other products of bytes: the same bits and name */
    {&tn_kernels_avx512bf16, has_avx512_bf16}, /* and with bf16 */
#endif
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

const struct tn_kernels *tn_kernels_select(const struct tn_cpu *cpu, const char *name)
{
    for (size_t i = TABLES; i-- > 0;) {
        if (name && strcmp(name, tables[i].kernels->name) != 0) continue;
        if (tables[i].usable(cpu)) return tables[i].kernels;
    }
    return NULL;
}

const char *tn_kernels_name(size_t i)
{
    static const char *const names[] = {"ref", "avx2", "avx512"};
    return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

size_t tn_float_type_size(enum tn_float_type type)
{
    return type == TN_FLOAT_F32 ? 4 : 2;
}

const char *tn_float_type_name(enum tn_float_type type)
{
    static const char *const names[TN_FLOAT_TYPES] = {"f32", "f16", "bf16"};
    return names[type];
}
