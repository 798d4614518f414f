"""erf, cbrt, the inverse hyperbolic functions, polygamma, and those called in a library: gamma, lgamma, erfc, digamma.

erf is x + x P(x**2) for |x| <= 1/2; above, one of 22 minimax polynomials of degree 11 around the centres 5/8 ... 47/8,
picked from a table by the argument. Both are evaluated, so there is no branch.

cbrt splits off the exponent's multiple of 3, starts from a minimax polynomial of the mantissa (27 bits) and adds two
terms of the binomial series of its residual, which fma gives exactly enough.

asinh, acosh and atanh are written as log(1 + w) (fdlibm's identities, K. C. Ng, 1993) with w in two parts:

    asinh(x) = log(1 + x + x**2 / (1 + sqrt(1 + x**2)))     x >= 0
    acosh(x) = log(1 + t + sqrt(t (t + 2)))                 t = x - 1
    atanh(x) = log(1 + 2x / (1 - x)) / 2                    x >= 0

gamma, lgamma and erfc come from the C library of the platform (in double, also for float32), and are as accurate as
it is: 5 ulp for gamma in glibc 2.36. digamma is SciPy's compiled `psi`. polygamma of order n >= 1 is
(-1)**(n+1) n! zeta(n+1, x), the Hurwitz zeta function by Euler-Maclaurin summation (J. M. Borwein et al.,
Computational strategies for the Riemann zeta function, 2000); for x < 0 with x = f - m, 0 < f < 1:

    zeta(s, x) = zeta(s, f) + (-1)**s (zeta(s, 1 - f) - zeta(s, m + 1 - f))
"""

from __future__ import annotations

import math

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_logarithm import LEAST_NORMAL, MANTISSA, ONE_BITS, fast_sum, logarithm_of_one_plus
from pullback.codegen.elementary_tables import ERF_TABLE
from pullback.codegen.elementary_text import Body, Recipes, Value, literal, recipe

RECIPES: Recipes = {}
ERF_TERMS = 12
ZETA_START = 20.0  # terms are summed until the argument has reached this plus the exponent
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


@recipe(RECIPES, "erf")
def _erf(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    z = magnitude * magnitude
    inner = body.fma(magnitude, body.estrin(z, c.ERF_SMALL), magnitude)
    # Interval number floor(4 |x|), between 2 and 23; a NaN reads the last row and stays NaN through the argument.
    quarters = magnitude * 4.0
    bounded = body.select(quarters.less(2.0), 2.0, body.select(quarters.less(23.0), quarters, 23.0))
    number = body.trunc(bounded)
    row = body.bits(number + 2.0**52) & 31
    d = magnitude - (number + 0.5) * 0.25
    start = (row - 2) * ERF_TERMS
    offsets = [start, *(start + i for i in range(1, ERF_TERMS))]
    first, second, *others = (body.load("pb.table.erf", ERF_TABLE, "double", offset) for offset in offsets)
    # The constant, which is most of the value, is added last.
    change = body.estrin(d * d, [second * d, *body.pairs(d, others)])
    outer = body.select(magnitude.greater(5.93), 1.0, first + change)
    return body.copysign(body.select(magnitude.less(0.5), inner, outer), x)


@recipe(RECIPES, "cbrt")
def _cbrt(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    tiny = magnitude.less(LEAST_NORMAL)
    bits = body.bits(body.select(tiny, magnitude * 2.0**54, magnitude))
    exponent = bits >> 52
    third = (exponent * 21846) >> 16  # exponent // 3
    extra = exponent - third * 3
    mantissa = body.from_bits((bits & MANTISSA) | ONE_BITS)
    a = mantissa * body.from_bits((extra + 1023) << 52)
    root_two = body.select(extra.compare("eq", 0), 1.0, body.select(extra.compare("eq", 1), 2 ** (1 / 3), 4 ** (1 / 3)))
    y = body.estrin(mantissa - 1.0, c.CBRT) * root_two
    square = y * y
    residual = body.fma(-square, y, a) - body.fma(y, y, -square) * y
    d = residual / a
    root = body.fma(y, d * body.fma(d, -1 / 9, 1 / 3), y)
    shift = body.select(tiny, body.constant("i64", 1023 - 341 - 18), 1023 - 341)
    result = body.copysign(root * body.from_bits((third + shift) << 52), x)
    ordinary = magnitude.greater(0.0) & magnitude.less(math.inf)
    return body.select(ordinary, result, x)


LARGE = 2.0**28  # above it asinh(x) and acosh(x) are log(2x) = log(1 + x - 1) + log(2)


@recipe(RECIPES, "asinh")
def _asinh(body: Body, x: Value) -> Value:
    a = body.fabs(x)
    large = a.greater(LARGE)
    square = body.select(large, 0.0, a * a)
    w = fast_sum(a, square / (body.sqrt(square + 1.0) + 1.0))
    result = logarithm_of_one_plus(body, w.high, body.select(large, -1.0, w.low), large)
    return body.copysign(body.select(a.less(math.inf), result, a), x)


@recipe(RECIPES, "acosh")
def _acosh(body: Body, x: Value) -> Value:
    large = x.greater(LARGE)
    t = x - 1.0
    t_low = (x - t) - 1.0
    around = t + 2.0
    around_low = (t - (around - 2.0)) + t_low
    square = body.select(large, 0.0, t * around)
    square_low = body.fma(t, around, -square) + body.fma(t, around_low, t_low * around)
    root = body.sqrt(square)
    root_low = (body.fma(-root, root, square) + square_low) / (root + root)
    w = fast_sum(root, t)
    low = body.select(root.greater(0.0), w.low + root_low + t_low, body.select(large, -1.0, 0.0))
    result = logarithm_of_one_plus(body, body.select(large, x, w.high), low, large)
    inside = body.select(x.less(math.inf), result, x)
    return body.select(x.less(1.0), math.nan, inside)


@recipe(RECIPES, "atanh")
def _atanh(body: Body, x: Value) -> Value:
    a = body.fabs(x)
    difference = 1.0 - a
    difference_low = (1.0 - difference) - a
    ratio = (a + a) / difference
    ratio_low = body.fma(-ratio, difference_low, body.fma(-ratio, difference, a + a)) / difference
    inside = logarithm_of_one_plus(body, ratio, ratio_low) * 0.5
    outside = body.select(a.equal(1.0), math.inf, math.nan)
    return body.copysign(body.select(a.less(1.0), inside, outside), x)


def _from_library(name: str, function: str) -> None:
    @recipe(RECIPES, name)
    def build(body: Body, x: Value) -> Value:
        return body.external(function, "double", x)


for _name, _function in {
    "gamma": "tgamma", "lgamma": "lgamma", "erfc": "erfc",
}.items():  # fmt: skip
    _from_library(_name, _function)


@recipe(RECIPES, "digamma")
def _digamma(body: Body, x: Value) -> Value:
    return body.external("psi", "double", x, body.constant("i32", 0))


@recipe(RECIPES, "polygamma", ("i64", "x"))
def _polygamma(body: Body, order: Value, x: Value) -> Value:
    return body.call("pb.polygamma.any", "double", order, x)


def polygamma_any(body: Body, order: Value, x: Value) -> Value:
    """Any order: digamma for 0, NaN below, else by the zeta function."""
    zero = _digamma(body, x)
    exponent = body.convert("sitofp", order, "double") + 1.0
    zeta = body.call("pb.zeta.any", "double", exponent, x)
    factorial = body.external("tgamma", "double", exponent)
    odd = (order & 1).compare("eq", 1)
    value = body.select(odd, factorial, -factorial) * zeta
    value = body.select(order.compare("slt", 0), math.nan, value)
    return body.select(order.compare("eq", 0), zero, value)


def zeta_any(body: Body, exponent: Value, x: Value) -> Value:
    """zeta(s, x) for integers s >= 2: inf at the poles 0, -1, -2, ..., by reflection for other negative x."""
    m = body.intrinsic("floor", x)
    fraction = x - m
    negative = x.less(0.0)
    start = body.select(negative, fraction, x)
    direct = body.call("pb.zeta.positive", "double", exponent, start)
    mirrored = body.select(negative, (m + 1.0) - x, 1.0)
    reflected = body.call("pb.zeta.positive", "double", exponent, mirrored)
    far = body.call("pb.zeta.positive", "double", exponent, body.select(negative, mirrored - m, 1.0))
    half = exponent * 0.5
    even = body.trunc(half).equal(half)
    difference = reflected - far
    total = direct + body.select(even, difference, -difference)
    value = body.select(negative, total, direct)
    return body.select(x.compare("ole", 0.0) & x.equal(m), math.inf, value)


def zeta_positive() -> str:
    """zeta(s, x) for x > 0, as text because it is a loop; it calls pb.pow.f64.

    Terms (x + i)**-s are added until x + i >= 20 + s (Kahan's summation), then the tail's integral, half a term, and
    ten Bernoulli terms B2k/(2k)! s (s+1) ... (s+2k-2) a**(-s-2k+1); or until a term does not count, which comes soon
    where s is large.
    """
    lines = []
    term, factor = "%scaled", "%s"
    total = "%tail"
    for k, bernoulli in enumerate(BERNOULLI, 1):
        denominator = float((2 * k) * (2 * k - 1))
        lines += [
            f"  %f{k} = fdiv double {factor}, {literal('double', denominator)}",
            f"  %p{k} = fmul double {term}, %f{k}",
            f"  %b{k} = fmul double %p{k}, {literal('double', bernoulli)}",
            f"  %t{k} = fadd double {total}, %b{k}",
            f"  %u{k} = fadd double %s, {literal('double', 2.0 * k - 1)}",
            f"  %v{k} = fadd double %s, {literal('double', 2.0 * k)}",
            f"  %w{k} = fmul double %u{k}, %v{k}",
            f"  %q{k} = fmul double %p{k}, %inverse",
            f"  %r{k} = fmul double %q{k}, %inverse",
        ]
        term, factor, total = f"%r{k}", f"%w{k}", f"%t{k}"
    series = "\n".join(lines)
    head = "define internal double @pb.zeta.positive(double %s, double %x) noinline nounwind willreturn memory(none) {"
    return f"""{head}
entry:
  %minus = fneg double %s
  %enough = fadd double %s, {literal("double", ZETA_START)}
  br label %test
test:
  %a = phi double [ %x, %entry ], [ %next, %add ]
  %i = phi double [ {literal("double", 0)}, %entry ], [ %j, %add ]
  %sum = phi double [ {literal("double", 0)}, %entry ], [ %new, %add ]
  %lost = phi double [ {literal("double", 0)}, %entry ], [ %rest, %add ]
  %small = fcmp olt double %a, %enough
  br i1 %small, label %add, label %finish
add:
  %power = call double @pb.pow.f64(double %a, double %minus)
  %fixed = fsub double %power, %lost
  %new = fadd double %sum, %fixed
  %got = fsub double %new, %sum
  %rest0 = fsub double %got, %fixed
  %finite = fcmp olt double %new, {literal("double", float("inf"))}
  %rest = select i1 %finite, double %rest0, double {literal("double", 0)}
  %j = fadd double %i, {literal("double", 1)}
  %next = fadd double %x, %j
  %least = fmul double %new, {literal("double", 2.0**-60)}
  %nothing = fcmp ole double %fixed, %least
  br i1 %nothing, label %done, label %test
done:
  ret double %new
finish:
  %last = call double @pb.pow.f64(double %a, double %minus)
  %less = fsub double %s, {literal("double", 1)}
  %fewer = fneg double %less
  %raised = call double @pb.pow.f64(double %a, double %fewer)
  %integral = fdiv double %raised, %less
  %half = fmul double %last, {literal("double", 0.5)}
  %tail = fadd double %integral, %half
  %inverse = fdiv double {literal("double", 1)}, %a
  %scaled = fmul double %last, %inverse
{series}
  %all = fadd double %sum, {total}
  %infinite = fcmp oeq double %x, {literal("double", float("inf"))}
  %result = select i1 %infinite, double {literal("double", 0)}, double %all
  ret double %result
}}
"""
