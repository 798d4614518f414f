"""SciPy's special functions: a few lines of their own where logarithms suffice, else SciPy's compiled functions.

    logit(x) = log(x / (1 - x)), around 1/2 log1p(2x - 1) - log1p(1 - 2x)
    jv(n, x) = the function behind scipy.special.cython_special.jv, as are all in `POINTERS`

Special cases and accuracy are SciPy's: erfcinv is off by up to 3 ulp, k1 and exp1 4, zetac 4, k0 6, dawsn and expi 7,
spence 13, binom 50, poch 150, and kl_div of numbers that are nearly equal by more, as are j0, j1, y0, y1 around their
zeros and beta and betaln of numbers that are not in `elementary_gamma`. What is written here widens to vectors; the
others are called element by element. Names are those of `scipy.special`, except hurwitz, which is its zeta of two
arguments.
"""

from __future__ import annotations

import math

from pullback.codegen.elementary_libraries import POINTERS
from pullback.codegen.elementary_pairs import unpacked
from pullback.codegen.elementary_text import PAIR, Body, Recipes, Value, recipe

RECIPES: Recipes = {}
LARGEST_EXPONENT = 2.0**60  # a power with it is 0, 1 or inf, as with any greater one


def _from_scipy(name: str, arity: int) -> None:
    @recipe(RECIPES, name, ("x",) * arity)
    def build(body: Body, *operands: Value) -> Value:
        return body.external(name, "double", *operands, body.constant("i32", 0))


for _name, _arity in POINTERS.items():
    if _name not in ("psi", "beta", "betaln"):  # which `elementary_gamma` calls
        _from_scipy(_name, _arity)


def _call(body: Body, name: str, *operands: Value) -> Value:
    return body.call(f"pb.{name}.f64", "double", *operands)


def _both_positive(x: Value, y: Value) -> Value:
    return x.greater(0.0) & y.greater(0.0)


@recipe(RECIPES, "logit")
def _logit(body: Body, x: Value) -> Value:
    s = (x - 0.5) * 2.0
    middle = _call(body, "log1p", s) - _call(body, "log1p", -s)
    near = x.compare("oge", 0.3) & x.compare("ole", 0.65)
    return body.select(near, middle, _call(body, "log", x / (1.0 - x)))


@recipe(RECIPES, "log_expit")
def _log_expit(body: Body, x: Value) -> Value:
    """min(x, 0) - log1p(exp(-|x|))"""
    tail = _call(body, "log1p", _call(body, "exp", -body.fabs(x)))
    return body.select(x.greater(0.0), 0.0, x) - tail


def _zero_times(body: Body, x: Value, y: Value, logarithm: Value) -> Value:
    """x * logarithm; 0 where x is 0, unless y is NaN."""
    return body.select(x.equal(0.0) & y.equal(y), 0.0, x * logarithm)


@recipe(RECIPES, "xlogy", ("x", "x"))
def _xlogy(body: Body, x: Value, y: Value) -> Value:
    return _zero_times(body, x, y, _call(body, "log", y))


@recipe(RECIPES, "xlog1py", ("x", "x"))
def _xlog1py(body: Body, x: Value, y: Value) -> Value:
    return _zero_times(body, x, y, _call(body, "log1p", y))


@recipe(RECIPES, "entr")
def _entr(body: Body, x: Value) -> Value:
    inside = -x * _call(body, "log", x)
    outside = body.select(x.less(0.0), -math.inf, inside)
    return body.select(x.equal(0.0), 0.0, outside)


def _ratio_logarithm(body: Body, x: Value, y: Value) -> Value:
    """log(x / y), by log1p where the two are close, and by two logarithms where the quotient leaves the range."""
    ratio = x / y
    close = ratio.greater(0.5) & ratio.less(2.0)
    inside = ratio.greater(2.0**-1022) & ratio.less(math.inf)
    far = body.select(inside, _call(body, "log", ratio), _call(body, "log", x) - _call(body, "log", y))
    return body.select(close, _call(body, "log1p", (x - y) / y), far)


def _relative_entropy(body: Body, x: Value, y: Value, inside: Value, at_zero: Value | float) -> Value:
    outside = body.select(x.equal(0.0) & y.compare("oge", 0.0), at_zero, body.constant("double", math.inf))
    return body.select(x.compare("uno", y), math.nan, body.select(_both_positive(x, y), inside, outside))


@recipe(RECIPES, "rel_entr", ("x", "x"))
def _rel_entr(body: Body, x: Value, y: Value) -> Value:
    return _relative_entropy(body, x, y, x * _ratio_logarithm(body, x, y), 0.0)


@recipe(RECIPES, "kl_div", ("x", "x"))
def _kl_div(body: Body, x: Value, y: Value) -> Value:
    return _relative_entropy(body, x, y, x * _ratio_logarithm(body, x, y) - x + y, y)


@recipe(RECIPES, "hurwitz", ("x", "x"))
def _hurwitz(body: Body, s: Value, q: Value) -> Value:
    """inf for s = 1 and at the poles q = 0, -1, ...; NaN for s < 1, and for other negative q unless s is an integer."""
    exponent = body.select(s.greater(1.0), s, 2.0)
    exponent = body.select(exponent.less(LARGEST_EXPONENT), exponent, LARGEST_EXPONENT)
    value = unpacked(body.call("pb.zeta.any", PAIR, exponent, q)).total()
    undefined = q.less(0.0) & body.trunc(s).compare("une", s)
    pole = q.compare("ole", 0.0) & body.trunc(q).equal(q)
    value = body.select(undefined | s.compare("uno", s), math.nan, value)
    value = body.select(pole, math.inf, value)
    value = body.select(s.less(1.0) | q.compare("uno", q), math.nan, value)
    return body.select(s.equal(1.0), math.inf, value)
