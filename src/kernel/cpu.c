/*
 * What this CPU can do, by CPUID and XGETBV. A feature counts only when the operating system saves
 * its registers: CPUID alone says what the silicon has, and using it anyway would kill the process.
 */
#include "kernel/kernel.h"

#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>

struct regs {
    unsigned a, b, c, d;
};

static struct regs leaf(unsigned number, unsigned sub)
{
    struct regs r = {0};
    if (!__get_cpuid_count(number, sub, &r.a, &r.b, &r.c, &r.d)) r = (struct regs){0};
    return r;
}

static bool bit(unsigned word, unsigned n)
{
    return word >> n & 1;
}

/* XCR0: which register states the operating system has enabled. */
static unsigned enabled_state(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static void read_brand(char *brand)
{
    if (leaf(0x80000000u, 0).a < 0x80000004u) return;
    for (unsigned i = 0; i < 3; i++) {
        struct regs r = leaf(0x80000002u + i, 0);
        memcpy(brand + i * sizeof(r), &r, sizeof(r));
    }
}

void tn_cpu_detect(struct tn_cpu *cpu)
{
    enum { STATE_AVX = 0x6, STATE_AVX512 = 0xe6 };
    *cpu = (struct tn_cpu){0};
    read_brand(cpu->brand);
    struct regs one = leaf(1, 0), seven = leaf(7, 0), seven_one = leaf(7, 1);
    if (seven.a < 1) seven_one = (struct regs){0};
    bool osxsave = bit(one.c, 27), avx = bit(one.c, 28);
    if (!osxsave || !avx) return;
    unsigned state = enabled_state();
    if ((state & STATE_AVX) != STATE_AVX) return;
    bool fma = bit(one.c, 12), f16c = bit(one.c, 29), avx2 = bit(seven.b, 5);
    cpu->avx2 = fma && f16c && avx2;
    if (!cpu->avx2 || (state & STATE_AVX512) != STATE_AVX512) return;
    bool f = bit(seven.b, 16), dq = bit(seven.b, 17), bw = bit(seven.b, 30), vl = bit(seven.b, 31);
    cpu->avx512 = f && dq && bw && vl;
    cpu->avx512_vnni = cpu->avx512 && bit(seven.c, 11);
    cpu->avx512_bf16 = cpu->avx512 && bit(seven_one.a, 5);
}

#else

void tn_cpu_detect(struct tn_cpu *cpu)
{
    *cpu = (struct tn_cpu){0};
}

#endif
