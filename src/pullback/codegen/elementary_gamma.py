"""gamma, lgamma, digamma, beta, betaln, polygamma and the Hurwitz zeta function.

gamma: with n the integer next to x and d = x - n, for |x| < 23.5

    gamma(x) = (d + 1) (d + 2) ... (d + n - 1) gamma(1 + d)            n > 0
    gamma(x) = gamma(1 + d) / (d (d - 1) ... (d + n))                  n <= 0

where 1/gamma(1 + d) = 1 + euler d + d**2 P(d), P a minimax polynomial, and the factors are exact. Above, by Stirling's

    log gamma(x) = (x - 1/2) log(x) - x + log(2 pi)/2 + P(1/x**2)/x

and below by reflection, gamma(x) = -pi / (x sin(pi x) gamma(-x)). All is in pairs of doubles and rounded once or twice.
lgamma is the C library's (in double, also for float32), below 0 the logarithm of that. digamma is SciPy's compiled
`psi`, below 0 psi(1 - x) - pi/tan(pi x) with pi x reduced exactly.

beta and betaln of positive numbers below 10**6 are made of gammas or of their logarithms in pairs; others are SciPy's.

polygamma of order n >= 1 is (-1)**(n+1) n! zeta(n+1, x), the Hurwitz zeta function by Euler-Maclaurin summation
(J. M. Borwein et al., Computational strategies for the Riemann zeta function, 2000), its terms and their sum in pairs;
for x < 0 with x = f - m, 0 < f < 1:

    zeta(s, x) = zeta(s, f) + (-1)**s (zeta(s, 1 - f) - zeta(s, m + 1 - f))
"""

from __future__ import annotations

import math

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_exponential import exponential_parts, power_of_two, two_scales
from pullback.codegen.elementary_logarithm import long_logarithm, natural_logarithm
from pullback.codegen.elementary_pairs import (
    Pair,
    add,
    constant_pair,
    divide,
    fast_sum,
    multiply,
    negative,
    product,
    scale,
    select_pair,
    two_sum,
    unpacked,
)
from pullback.codegen.elementary_text import PAIR, Body, Recipes, Value, literal, recipe
from pullback.codegen.elementary_trigonometric import half_turns, sine_of

RECIPES: Recipes = {}
NEAR = 23.5  # up to it factors are multiplied: 22! is the largest factorial that is a double
TINY = 2.0**-54  # below it gamma(x) is 1/x
_NOINLINE = "noinline nounwind willreturn memory(none)"
GREATEST = 200.0  # gamma is inf there, and 0 at its negative

# ----------------------------------------------------------------------------------------------------------- gamma


@recipe(RECIPES, "gamma")
def _gamma(body: Body, x: Value) -> Value:
    return body.call("pb.gamma.any", "double", x)


def gamma_any(body: Body, x: Value) -> Value:
    """gamma for any x; NaN at the poles but 0."""
    value = body.select(body.fabs(x).less(TINY), 1.0 / x, _near(body, x).total())
    value = body.otherwise_call(body.fabs(x).less(NEAR), value, "pb.gamma.far", x)
    return body.select(_is_pole(body, x), math.nan, value)


def _is_pole(body: Body, x: Value) -> Value:
    """A negative integer or -inf."""
    return x.less(0.0) & body.intrinsic("floor", x).equal(x)


def _near(body: Body, x: Value) -> Pair:
    """gamma for |x| < NEAR, with an error of about 2**-56; something for others."""
    n = body.intrinsic("rint", x)
    positive = n.greater(0.0)
    less = n - 1.0
    start = body.select(positive, x - less, x)
    count = body.select(body.fabs(x).less(NEAR), body.select(positive, less, -less), 0.0)
    factors = unpacked(body.call("pb.rising", PAIR, start, count))
    reciprocal = _reciprocal(body, x - n)
    one = constant_pair(body, 1.0, 0.0)
    below = multiply(reciprocal, select_pair(body, positive, one, factors))
    return divide(select_pair(body, positive, factors, one), below)


def _reciprocal(body: Body, d: Value) -> Pair:
    """1/gamma(1 + d) for |d| <= 1/2."""
    high = body.fma(d, c.EULER, 1.0)
    low = body.fma(d, c.EULER, 1.0 - high)
    tail = d * d * body.estrin(d, c.RECIPROCAL_GAMMA)
    return fast_sum(high, tail + body.fma(d, c.EULER_REST, low))


def rising() -> str:
    """x (x + 1) ... (x + count - 1) as a pair, as text because it is a loop; the factors must be exact."""
    zero, one = literal("double", 0), literal("double", 1)
    return f"""define internal {PAIR} @pb.rising(double %x, double %count) {_NOINLINE} {{
entry:
  %some = fcmp olt double {zero}, %count
  br i1 %some, label %times, label %done
times:
  %i = phi double [ {zero}, %entry ], [ %next, %times ]
  %high = phi double [ {one}, %entry ], [ %product, %times ]
  %low = phi double [ {zero}, %entry ], [ %rest, %times ]
  %factor = fadd double %x, %i
  %product = fmul double %high, %factor
  %minus = fneg double %product
  %lost = call double @llvm.fma.f64(double %high, double %factor, double %minus)
  %rest = call double @llvm.fma.f64(double %low, double %factor, double %lost)
  %next = fadd double %i, {one}
  %more = fcmp olt double %next, %count
  br i1 %more, label %times, label %done
done:
  %first = phi double [ {one}, %entry ], [ %product, %times ]
  %second = phi double [ {zero}, %entry ], [ %rest, %times ]
  %half = insertvalue {PAIR} poison, double %first, 0
  %whole = insertvalue {PAIR} %half, double %second, 1
  ret {PAIR} %whole
}}
"""


def gamma_far(body: Body, x: Value) -> Value:
    """gamma for |x| >= NEAR, also inf, NaN."""
    negative_x = x.less(0.0)
    logarithm = _stirling(body, _bounded_size(body, x))
    mirrored = add(constant_pair(body, c.LOG_PI, c.LOG_PI_REST), negative(logarithm))
    exponent = select_pair(body, negative_x, mirrored, logarithm)
    power, bits = exponential_parts(body, exponent.high, exponent.low)
    first, second = (power_of_two(body, n) for n in two_scales(body, bits))
    sine = sine_of(body, half_turns(body, x), 0)
    divisor = select_pair(body, negative_x, product(-x, sine), constant_pair(body, 1.0, 0.0))
    # Scaled last, so that subnormal results are rounded once.
    value = divide(Pair(power.high * first, power.low * first), divisor).total() * second
    return body.select(x.compare("uno", x), x, body.select(x.greater(GREATEST), math.inf, value))


def _bounded_size(body: Body, x: Value) -> Value:
    size = body.fabs(x)
    return body.select(size.less(GREATEST), size, GREATEST)


def _stirling(body: Body, x: Value) -> Pair:
    """log gamma(x) for x >= NEAR, with an error of about 2**-64 of it."""
    inverse = 1.0 / x
    series = inverse * body.estrin(inverse * inverse, c.STIRLING)
    power = scale(long_logarithm(body, x), x - 0.5)
    less = fast_sum(power.high, -x)
    total = add(less, constant_pair(body, c.HALF_LOG_TWO_PI, c.HALF_LOG_TWO_PI_REST))
    return fast_sum(total.high, total.low + (power.low + series))


# ---------------------------------------------------------------------------------------- log gamma and its derivative


@recipe(RECIPES, "lgamma")
def _lgamma(body: Body, x: Value) -> Value:
    fast = body.external("lgamma", "double", x)
    return body.otherwise_call(x.compare("uge", 0.0), fast, "pb.lgamma.negative", x)


def lgamma_negative(body: Body, x: Value) -> Value:
    """log |gamma(x)| for x < 0; inf at the poles."""
    size = body.fabs(x)
    tiny = size.less(TINY)
    near = _near(body, x)
    argument = Pair(body.select(tiny, size, body.fabs(near.high)), body.select(tiny, 0.0, near.low / near.high))
    logarithm = long_logarithm(body, argument.high)
    value = logarithm.high + (logarithm.low + argument.low)
    value = body.select(tiny, -value, value)
    value = body.otherwise_call(size.less(NEAR), value, "pb.lgamma.far", x)
    return body.select(_is_pole(body, x), math.inf, value)


def lgamma_far(body: Body, x: Value) -> Value:
    """log |gamma(x)| for x <= -NEAR other than integers: log(pi / |x sin(pi x)|) - log gamma(-x)."""
    size = body.fabs(x)
    sine = body.fabs(sine_of(body, half_turns(body, x), 0))
    rest = add(long_logarithm(body, size), long_logarithm(body, sine))
    rest = add(constant_pair(body, c.LOG_PI, c.LOG_PI_REST), negative(rest))
    return add(rest, negative(_stirling(body, size))).total()


@recipe(RECIPES, "digamma")
def _digamma(body: Body, x: Value) -> Value:
    return body.otherwise_call(x.compare("uge", 0.0), _psi(body, x), "pb.digamma.negative", x)


def _psi(body: Body, x: Value) -> Value:
    return body.external("psi", "double", x, body.constant("i32", 0))


def digamma_negative(body: Body, x: Value) -> Value:
    """psi(1 - x) - pi/tan(pi x); NaN at the poles."""
    angle = half_turns(body, x)
    sine, cosine = sine_of(body, angle, 0), sine_of(body, angle, 1)
    numerator = scale(constant_pair(body, math.pi, 2 * c.HALF_PI_2), cosine)
    cotangent = divide(numerator, Pair(sine, body.constant("double", 0.0)))
    direct = two_sum(-cotangent.high, _psi(body, 1.0 - x))
    value = direct.high + (direct.low - cotangent.low)
    value = body.select(x.greater(-TINY), body.constant("double", -1.0) / x, value)
    return body.select(_is_pole(body, x), math.nan, value)


# -------------------------------------------------------------------------------------------------------- beta

BETA_LARGEST = 1e6  # above it the logarithms of gamma cancel too much
BETA_LEAST = 2.0**-300  # below it products of gammas may overflow


def _log_gamma(body: Body, x: Value) -> Pair:
    return unpacked(body.call("pb.lgamma.pair", PAIR, x))


def lgamma_pair(body: Body, x: Value) -> Value:
    """log gamma(x) for x > 0, with an error of about 2**-56, or 2**-64 of it where that is more."""
    return body.otherwise_call(x.compare("oge", NEAR), _stirling(body, x).packed(), "pb.lgamma.near", x)


def lgamma_near(body: Body, x: Value) -> Value:
    """The same for x < NEAR."""
    tiny = x.less(TINY)
    near = _near(body, x)
    logarithm = long_logarithm(body, body.select(tiny, x, near.high))
    rest = Pair(logarithm.high, logarithm.low + near.low / near.high)
    return select_pair(body, tiny, negative(logarithm), rest).packed()


def _slope(body: Body, x: Value) -> Value:
    """digamma(x) for x > 0 to two digits, by which roundings count; tiny x have none that do."""
    inverse = 1.0 / x
    series = natural_logarithm(body, x) - inverse * body.fma(inverse, 1 / 12, 0.5)
    return body.select(x.less(TINY), 0.0, body.select(x.less(1.0), -inverse, series))


def beta_near(body: Body, a: Value, b: Value) -> Value:
    """gamma(a) gamma(b) / gamma(a + b) for a + b < NEAR; what rounding takes from a + b counts by digamma."""
    total = two_sum(a, b)
    value = divide(multiply(_near(body, a), _near(body, b)), _near(body, total.high))
    lost = total.low * _slope(body, total.high)
    return fast_sum(value.high, body.fma(value.high, -lost, value.low)).packed()


def _log_beta(body: Body, a: Value, b: Value) -> Pair:
    """log gamma(a) + log gamma(b) - log gamma(a + b), likewise."""
    total = two_sum(a, b)
    value = add(add(_log_gamma(body, a), _log_gamma(body, b)), negative(_log_gamma(body, total.high)))
    return fast_sum(value.high, body.fma(-total.low, _slope(body, total.high), value.low))


def _is_near(body: Body, a: Value, b: Value) -> Value:
    return a.greater(BETA_LEAST) & b.greater(BETA_LEAST) & (a + b).less(NEAR)


def _is_moderate(body: Body, a: Value, b: Value) -> Value:
    return a.greater(0.0) & b.greater(0.0) & a.less(BETA_LARGEST) & b.less(BETA_LARGEST)


def _near_beta(body: Body, near: Value, a: Value, b: Value) -> Pair:
    """Of what is not near, the value at 1, which costs the least."""
    return unpacked(body.call("pb.beta.near", PAIR, *(body.select(near, v, 1.0) for v in (a, b))))


@recipe(RECIPES, "beta", ("x", "x"))
def _beta(body: Body, a: Value, b: Value) -> Value:
    near = _is_near(body, a, b)
    return body.otherwise_call(near, _near_beta(body, near, a, b).total(), "pb.beta.far", a, b)


@recipe(RECIPES, "betaln", ("x", "x"))
def _betaln(body: Body, a: Value, b: Value) -> Value:
    near = _is_near(body, a, b)
    value = _near_beta(body, near, a, b)
    logarithm = long_logarithm(body, value.high)
    result = logarithm.high + (logarithm.low + value.low / value.high)
    return body.otherwise_call(near, result, "pb.betaln.far", a, b)


def beta_far(body: Body, a: Value, b: Value) -> Value:
    """beta by logarithms."""
    logarithm = _log_beta(body, a, b)
    power, bits = exponential_parts(body, logarithm.high, logarithm.low)
    first, second = (power_of_two(body, n) for n in two_scales(body, bits))
    value = power.total() * first * second
    return body.otherwise_call(_is_moderate(body, a, b), value, "pb.beta.other", a, b)


def betaln_far(body: Body, a: Value, b: Value) -> Value:
    """betaln by logarithms."""
    value = _log_beta(body, a, b).total()
    return body.otherwise_call(_is_moderate(body, a, b), value, "pb.betaln.other", a, b)


def betaln_other(body: Body, a: Value, b: Value) -> Value:
    """SciPy's."""
    return body.external("betaln", "double", a, b, body.constant("i32", 0))


def beta_other(body: Body, a: Value, b: Value) -> Value:
    """SciPy's."""
    return body.external("beta", "double", a, b, body.constant("i32", 0))


# ----------------------------------------------------------------------------------------- polygamma and Hurwitz's zeta

ZETA_START = 20.0  # terms are summed until the argument has reached this plus the exponent
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


@recipe(RECIPES, "polygamma", ("i64", "x"))
def _polygamma(body: Body, order: Value, x: Value) -> Value:
    zero = body.call("pb.digamma.f64", "double", x)
    return body.otherwise_call(order.compare("eq", 0), zero, "pb.polygamma.higher", order, x)


def polygamma_higher(body: Body, order: Value, x: Value) -> Value:
    """Orders from 1 on by the zeta function; NaN for negative ones."""
    exponent = body.convert("sitofp", order, "double") + 1.0
    zeta = unpacked(body.call("pb.zeta.any", PAIR, exponent, x))
    factorial = body.call("pb.gamma.any", "double", exponent)
    odd = (order & 1).compare("eq", 1)
    signed = body.select(odd, factorial, -factorial)
    value = scale(zeta, signed)
    finite = body.fabs(zeta.high).less(math.inf) & body.fabs(value.high).less(math.inf)
    result = body.select(finite, value.total(), zeta.high * signed)
    return body.select(order.compare("slt", 0), math.nan, result)


def zeta_any(body: Body, exponent: Value, x: Value) -> Value:
    """zeta(s, x) for s > 1: inf at the poles 0, -1, -2, ...; for other negative x s must be an integer."""
    negative_x = x.less(0.0)
    zero = body.constant("double", 0.0)
    # Below 0 the value is not used, and that of inf costs the least.
    direct = body.call("pb.zeta.positive", PAIR, exponent, body.select(negative_x, math.inf, x), zero)
    value = unpacked(body.otherwise_call(x.compare("uge", 0.0), direct, "pb.zeta.negative", exponent, x))
    pole = x.compare("ole", 0.0) & body.intrinsic("floor", x).equal(x)
    return select_pair(body, pole, constant_pair(body, math.inf, 0.0), value).packed()


def zeta_negative(body: Body, exponent: Value, x: Value) -> Value:
    """zeta(s, x) for x < 0 and integers s, by reflection; something at the poles."""

    def positive(argument: Pair) -> Pair:
        return unpacked(body.call("pb.zeta.positive", PAIR, exponent, argument.high, argument.low))

    m = body.intrinsic("floor", x)
    finite = x.greater(-math.inf)
    one, zero = body.constant("double", 1.0), body.constant("double", 0.0)
    direct = positive(two_sum(body.select(finite, x, 0.5), body.select(finite, -m, 0.5)))
    mirrored = positive(Pair(body.select(finite, (m + 1.0) - x, 0.5), zero))
    far = positive(two_sum(one, body.select(finite, -x, 1.0)))
    half = exponent * 0.5
    even = body.trunc(half).equal(half)
    others = add(mirrored, negative(far))
    total = add(direct, select_pair(body, even, others, negative(others)))
    # Of infinite terms pairs make NaN.
    plain = mirrored.high - far.high
    plain = direct.high + body.select(even, plain, -plain)
    return select_pair(body, body.fabs(plain).less(math.inf), total, Pair(plain, zero)).packed()


def zeta_term(body: Body, x: Value, rest: Value, exponent: Value) -> Value:
    """(x + rest)**-s for positive finite x"""
    logarithm = long_logarithm(body, x)
    power = scale(Pair(logarithm.high, logarithm.low + rest / x), -exponent)
    moderate = body.fabs(power.high).less(1000.0)
    parts, bits = exponential_parts(body, power.high, body.select(moderate, power.low, 0.0))
    first, second = (power_of_two(body, n) for n in two_scales(body, bits))
    high, low = (parts.high * first) * second, (parts.low * first) * second
    return Pair(high, body.select(high.less(math.inf), low, 0.0)).packed()


def zeta_tail(body: Body, x: Value, rest: Value, exponent: Value) -> Value:
    """The sum of (x + rest + k)**-s over k = 0, 1, ... for x >= ZETA_START + s or so.

    The integral, half a term, and ten Bernoulli terms B2k/(2k)! s (s+1) ... (s+2k-2) x**(-s-2k+1).
    """
    less = exponent - 1.0
    last, raised = (unpacked(body.call("pb.zeta.term", PAIR, x, rest, power)) for power in (exponent, less))
    integral = divide(raised, Pair(less, body.constant("double", 0.0)))
    inverse = 1.0 / x
    square = inverse * inverse
    factor, power = exponent, last.high * inverse
    series = body.constant("double", 0.0)
    for k, bernoulli in enumerate(BERNOULLI, 1):
        power = power * (factor / float((2 * k) * (2 * k - 1)))
        series = series + power * bernoulli
        power = power * square
        factor = (exponent + (2.0 * k - 1)) * (exponent + 2.0 * k)
    half = Pair(last.high * 0.5, body.fma(last.low, 0.5, series))
    total = add(integral, half)
    infinite = x.equal(math.inf)
    return select_pair(body, infinite, constant_pair(body, 0.0, 0.0), total).packed()


def zeta_positive() -> str:
    """zeta(s, x + rest) for x > 0, as text because it is a loop; it calls pb.zeta.term and pb.zeta.tail.

    Terms (x + rest + i)**-s are added until x + i >= 20 + s, then the tail; or until a term does not count (or is NaN),
    which comes soon where s is large.
    """
    zero, one = literal("double", 0), literal("double", 1)
    return f"""define internal {PAIR} @pb.zeta.positive(double %s, double %x, double %rest) {_NOINLINE} {{
entry:
  %enough = fadd double %s, {literal("double", ZETA_START)}
  br label %test
test:
  %i = phi double [ {zero}, %entry ], [ %next, %add ]
  %high = phi double [ {zero}, %entry ], [ %sum, %add ]
  %low = phi double [ {zero}, %entry ], [ %less, %add ]
  %a = fadd double %x, %i
  %part = fsub double %a, %x
  %other = fsub double %a, %part
  %lost0 = fsub double %x, %other
  %lost1 = fsub double %i, %part
  %lost2 = fadd double %lost0, %lost1
  %a.rest = fadd double %lost2, %rest
  %small = fcmp olt double %a, %enough
  br i1 %small, label %add, label %finish
add:
  %term = call {PAIR} @pb.zeta.term(double %a, double %a.rest, double %s)
  %term.high = extractvalue {PAIR} %term, 0
  %term.low = extractvalue {PAIR} %term, 1
  %sum = fadd double %high, %term.high
  %got = fsub double %sum, %high
  %missed = fsub double %term.high, %got
  %more = fadd double %missed, %term.low
  %less0 = fadd double %low, %more
  %finite = fcmp olt double %sum, {literal("double", float("inf"))}
  %less = select i1 %finite, double %less0, double {zero}
  %next = fadd double %i, {one}
  %least = fmul double %sum, {literal("double", 2.0**-70)}
  %nothing = fcmp ule double %term.high, %least
  br i1 %nothing, label %done, label %test
finish:
  %tail = call {PAIR} @pb.zeta.tail(double %a, double %a.rest, double %s)
  %tail.high = extractvalue {PAIR} %tail, 0
  %tail.low = extractvalue {PAIR} %tail, 1
  %all = fadd double %high, %tail.high
  %all.part = fsub double %all, %high
  %all.other = fsub double %all, %all.part
  %all.lost0 = fsub double %high, %all.other
  %all.lost1 = fsub double %tail.high, %all.part
  %all.lost2 = fadd double %all.lost0, %all.lost1
  %lows = fadd double %low, %tail.low
  %all.rest0 = fadd double %all.lost2, %lows
  %all.finite = fcmp olt double %all, {literal("double", float("inf"))}
  %all.rest = select i1 %all.finite, double %all.rest0, double {zero}
  br label %done
done:
  %first = phi double [ %sum, %add ], [ %all, %finish ]
  %second = phi double [ %less, %add ], [ %all.rest, %finish ]
  %half = insertvalue {PAIR} poison, double %first, 0
  %whole = insertvalue {PAIR} %half, double %second, 1
  ret {PAIR} %whole
}}
"""
