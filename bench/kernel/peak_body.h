/* 12 independent chains of STEP: more than any latency needs, and with two operands they still fit the
 * 16 registers of AVX2. */
enum { CHAINS = 12 };

static double run_chains(unsigned turns, VECTOR start, VECTOR a, VECTOR b, double flops_per_step)
{
    VECTOR chain[CHAINS];
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) {
        chain[i] = start;
        __asm__ volatile("" : "+" CONSTRAINT(chain[i])); /* equal chains would be merged */
    }
    for (unsigned turn = 0; turn < turns; turn++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) chain[i] = STEP(chain[i], a, b);
    }
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) __asm__ volatile("" : : CONSTRAINT(chain[i]));
    return (double)turns * CHAINS * flops_per_step;
}
