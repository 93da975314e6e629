#!/usr/bin/env python3
"""Fits the polynomials of src/kernel/x86/vec_math.h and prints them as C. Needs mpmath.

Minimax fits by the Remez exchange in 40 digits, then rounded to float32. The C tests measure what
is left after rounding and evaluation; this script only has to be run again to change a degree.
"""
import struct

import mpmath as mp

mp.mp.dps = 40


def remez(f, weight, low, high, degree, fixed=()):
    """Coefficients of p (degree and below) with max |weight (p - f)| least on [low, high].

    `fixed` are known leading coefficients (constant first) that are kept as they are.
    """
    skip = len(fixed)
    free = degree + 1 - skip
    points = free + 1
    base = lambda x: mp.polyval(list(fixed)[::-1], x) if skip else mp.mpf(0)
    xs = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * points))
          for i in range(points)]
    for _ in range(40):
        a, b = mp.matrix(points, points), mp.matrix(points, 1)
        for i, x in enumerate(xs):
            for j in range(free):
                a[i, j] = x ** (j + skip)
            a[i, free] = (-1) ** i / weight(x)
            b[i] = f(x) - base(x)
        solution = mp.lu_solve(a, b)
        c = list(fixed) + [solution[j] for j in range(free)]
        error = lambda x: weight(x) * (mp.polyval(c[::-1], x) - f(x))
        steps = 50 * points
        grid = [low + (high - low) * (1 - mp.cos(mp.pi * i / steps)) / 2 for i in range(steps + 1)]
        e = [error(x) for x in grid]
        runs = [[0]]
        for i in range(1, steps + 1):
            if (e[i] > 0) == (e[runs[-1][-1]] > 0):
                runs[-1].append(i)
            else:
                runs.append([i])
        peaks = [max(r, key=lambda i: abs(e[i])) for r in runs]
        while len(peaks) > points:
            peaks.pop(0 if abs(e[peaks[0]]) < abs(e[peaks[-1]]) else -1)
        worst = max(abs(v) for v in e)
        if len(peaks) < points or worst < abs(solution[free]) * mp.mpf("1.0005"):
            return c, worst
        xs = [grid[i] for i in peaks]
    return c, worst


def hexfloat(x):
    value = struct.unpack("f", struct.pack("f", float(x)))[0]
    mantissa, exponent = value.hex().split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}p{exponent}f"


def show(name, c, worst):
    print(f"/* {name}: largest error of the fit {mp.nstr(worst, 3)} */")
    for x in c:
        print("    ", hexfloat(x), mp.nstr(x, 10))


def main():
    half = mp.log(2) / 2
    # e^r = 1 + r + r^2 q(r): relative error of e^r
    q = lambda r: (mp.e ** r - 1 - r) / r ** 2 if abs(r) > mp.mpf("1e-12") else mp.mpf("0.5")
    c, worst = remez(q, lambda r: r ** 2 + mp.mpf("1e-30"), -half * mp.mpf("1.0001"),
                     half * mp.mpf("1.0001"), 4)
    show("exp, q", c, worst)
    # 2^f on [-1/2, 1/2] with the constant 1 kept
    c, worst = remez(lambda f: mp.mpf(2) ** f, lambda f: mp.mpf(2) ** -f, mp.mpf("-0.50001"),
                     mp.mpf("0.50001"), 6, fixed=(mp.mpf(1),))
    show("exp2, degree 6", c, worst)
    # Q(t) = 1 - Phi(t) around the nodes n / scale, as a polynomial of d = scale t - n
    scale = mp.mpf(float.fromhex(hexfloat(mp.mpf("14.5") / 6)[:-1]))
    print("scale", hexfloat(scale))
    table = []
    for n in range(15):
        at = lambda d: (n + d) / scale
        upper = lambda d: mp.erfc(at(d) / mp.sqrt(2)) / 2
        low = mp.mpf("-0.5") if n else mp.mpf(0)
        c, worst = remez(upper, lambda d: 1 / upper(d), low, mp.mpf("0.5"), 6)
        print(n, "relative error of the fit", mp.nstr(worst, 3))
        table.append(c)
    table.append([mp.mpf(0)] * 7)
    for degree in range(7):
        print("    {" + ", ".join(hexfloat(row[degree]) for row in table) + "},")


if __name__ == "__main__":
    main()
