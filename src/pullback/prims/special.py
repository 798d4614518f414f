"""Special functions of SciPy: one row each, with closed derivatives to any order.

    ndtr:  partial exp(-x*x/2) / sqrt(2 pi)         jv: partial (jv(n - 1, x) - jv(n + 1, x)) / 2 by x
    expit: partial y * expit(-x)                    betaln: partial digamma(a) - digamma(a + b) by a

Parameters whose derivative has no closed form (the order of a Bessel function) are `Refused`: differentiating by them
is an error, not a zero.  Values are computed by `codegen.elementary_scipy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.ir.node import Op, Value
from pullback.prims.base import Elementary, Emitter, Partial, Prim, PublicName, Refused, register
from pullback.prims.scalar import FLOATS, same, ufunc

__all__ = ["PRIMS"]

Slope = Partial | Refused | float | None
Rule = Callable[[Emitter, Sequence[Value], Value], Sequence[Slope]]  # (emit, operands, result) -> partials
ORDER = Refused("there is no formula for the derivative by the order or the parameter of {name}",
                "let it be an int, a literal, or pb.stop_gradient(...)")  # fmt: skip


def _public(names: Sequence[str]) -> tuple[PublicName, ...]:
    return tuple(PublicName(f"scipy.special.{name}", "ufunc") for name in names)


def _by_scipy(name: str) -> Callable[..., Any]:
    def impl(*operands: Any) -> Any:
        from scipy import special  # here because it takes a fifth of a second to load

        with np.errstate(all="ignore"):
            return type(operands[-1])(getattr(special, name)(*map(float, operands)))

    return impl


def _row(
    name: str, arity: int, rule: Rule, *, public: Sequence[str] | None = None, samples: str = "real",
    doc: str = "", impl: Callable[..., Any] | None = None, lower: str | None = None,
) -> Prim:  # fmt: skip
    """A row; the public names default to the primitive's own."""

    def partials(e: Emitter, op: Op) -> Sequence[Slope]:
        return rule(e, op.operands, op.result)

    arguments = ", ".join(("x", "a, x", "a, b, x", "a, b, c, x")[arity - 1 : arity])
    shown = _public((name,) if public is None else public)
    return Prim(
        name=name, doc=doc or f"{name}({arguments})", infer=same(FLOATS, arity), impl=impl or _by_scipy(name),
        derivative=partials, lower={"float": Elementary(lower or name)}, samples=samples,
        public=(*shown, *(ufunc("i0") if name == "i0" else ())),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- writing of formulas


def _times(e: Emitter, factor: float, x: Value) -> Value:
    return e("mul", e.like(factor, x), x)


def _half(e: Emitter, x: Value) -> Value:
    return _times(e, 0.5, x)


def _square(e: Emitter, x: Value) -> Value:
    return e("mul", x, x)


def _shifted(e: Emitter, x: Value, by: float) -> Value:
    return e("add", x, e.like(by, x))


def _over(e: Emitter, numerator: float, x: Value) -> Value:
    return e("div", e.like(numerator, x), x)


def _digamma(e: Emitter, x: Value) -> Value:
    return e("polygamma", e.integer(0), x)


def _strong(*values: Value) -> tuple[Partial, ...]:
    return tuple(Partial(value, strong=True) for value in values)


def _exp_square(e: Emitter, x: Value, exponent: float, factor: float) -> Value:
    """factor * exp(exponent * x * x)"""
    return _times(e, factor, e("exp", _times(e, exponent, _square(e, x))))


# --------------------------------------------------------------------------------- the error function's relatives

ROOT_PI, ROOT_TWO_PI = math.sqrt(math.pi), math.sqrt(2.0 * math.pi)


def _log_ndtr(e: Emitter, x: Value) -> Value:
    """The density over the distribution: sqrt(2/pi) / erfcx(-x / sqrt(2)), which neither over- nor underflows."""
    return _over(e, math.sqrt(2.0 / math.pi), e("erfcx", _times(e, -math.sqrt(0.5), x)))


def _erfcx(e: Emitter, x: Value, y: Value) -> Value:
    return e("sub", _times(e, 2.0, e("mul", x, y)), e.like(2.0 / ROOT_PI, x))


def _dawsn(e: Emitter, x: Value, y: Value) -> Value:
    return e("sub", e.like(1.0, x), _times(e, 2.0, e("mul", x, y)))


NORMAL = (
    _row("erfinv", 1, lambda e, x, y: _strong(_exp_square(e, y, 1.0, ROOT_PI / 2)), samples="unit"),
    _row("erfcinv", 1, lambda e, x, y: _strong(_exp_square(e, y, 1.0, -ROOT_PI / 2)), samples="fraction"),
    _row("erfcx", 1, lambda e, x, y: _strong(_erfcx(e, x[0], y))),
    _row("dawsn", 1, lambda e, x, y: _strong(_dawsn(e, x[0], y))),
    _row("ndtr", 1, lambda e, x, y: (Partial(_exp_square(e, x[0], -0.5, 1.0 / ROOT_TWO_PI)),)),
    _row("ndtri", 1, lambda e, x, y: _strong(_exp_square(e, y, 0.5, ROOT_TWO_PI)), samples="fraction"),
    _row("log_ndtr", 1, lambda e, x, y: _strong(_log_ndtr(e, x[0]))),
)

# --------------------------------------------------------------------------------------- logistic, x log x and kin


def _logit(e: Emitter, x: Value) -> Value:
    return _over(e, 1.0, e("mul", x, e("sub", e.like(1.0, x), x)))


def _xlogy(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    """log y, and x/y where x is not 0; a strong zero, so that further derivatives at 0 are right."""
    return _strong(e("log", x[1]), e("zmul", x[0], _over(e, 1.0, x[1])))


def _xlog1py(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    return _strong(e("log1p", x[1]), e("zmul", x[0], _over(e, 1.0, _shifted(e, x[1], 1.0))))


def _entr(e: Emitter, x: Value) -> Value:
    return e("sub", e.like(-1.0, x), e("log", x))


def _relative(plus: float) -> Rule:
    """log(x/y) + 1 - plus and plus - x/y: of rel_entr (0) and of kl_div (1)."""

    def rule(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
        ratio = e("div", *x)
        first = e("log", ratio) if plus else _shifted(e, e("log", ratio), 1.0)
        second = e("sub", e.like(plus, ratio), ratio) if plus else e("neg", ratio)
        return _strong(first, second)

    return rule


LOGISTIC = (
    _row("expit", 1, lambda e, x, y: (Partial(e("mul", y, e("expit", e("neg", x[0])))),), lower="sigmoid"),
    _row("logit", 1, lambda e, x, y: _strong(_logit(e, x[0])), samples="fraction"),
    _row("log_expit", 1, lambda e, x, y: (Partial(e("expit", e("neg", x[0]))),)),
    _row("xlogy", 2, _xlogy, samples="positive"),
    _row("xlog1py", 2, _xlog1py, samples="positive"),
    _row("entr", 1, lambda e, x, y: _strong(_entr(e, x[0])), samples="positive"),
    _row("rel_entr", 2, _relative(0.0), samples="positive"),
    _row("kl_div", 2, _relative(1.0), samples="positive"),
)

# ------------------------------------------------------------------------------------------------- gamma and beta


def _beta(e: Emitter, x: Sequence[Value], y: Value | None) -> Sequence[Slope]:
    """Of betaln: digamma(a) - digamma(a + b); of beta that times the value."""
    total = _digamma(e, e("add", *x))
    slopes = [e("sub", _digamma(e, v), total) for v in x]
    return _strong(*(slopes if y is None else [e("mul", y, s) for s in slopes]))


def _binom(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    n, k = x
    rest = _digamma(e, _shifted(e, e("sub", n, k), 1.0))
    first = e("sub", _digamma(e, _shifted(e, n, 1.0)), rest)
    return _strong(e("mul", y, first), e("mul", y, e("sub", rest, _digamma(e, _shifted(e, k, 1.0)))))


def _poch(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    total = _digamma(e, e("add", *x))
    return _strong(e("mul", y, e("sub", total, _digamma(e, x[0]))), e("mul", y, total))


def _gamma_density(e: Emitter, a: Value, x: Value) -> Value:
    """x**(a-1) exp(-x) / gamma(a)"""
    return e("exp", e("sub", e("sub", e("xlogy", _shifted(e, a, -1.0), x), x), e("lgamma", a)))


def _beta_density(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    """x**(a-1) (1-x)**(b-1) / beta(a, b)"""
    a, b, t = x
    power = e("add", e("xlogy", _shifted(e, a, -1.0), t), e("xlog1py", _shifted(e, b, -1.0), e("neg", t)))
    return (ORDER, ORDER, *_strong(e("exp", e("sub", power, e("betaln", a, b)))))


def _incomplete(sign: float) -> Rule:
    def rule(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
        density = _gamma_density(e, *x)
        return (ORDER, *_strong(density if sign > 0 else e("neg", density)))

    return rule


def _zeta(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    s, q = x
    return (ORDER, *_strong(e("neg", e("mul", s, e("hurwitz", _shifted(e, s, 1.0), q)))))


GAMMA = (
    _row("beta", 2, _beta, samples="positive"),
    _row("betaln", 2, lambda e, x, y: _beta(e, x, None), samples="positive"),
    _row("binom", 2, _binom, samples="positive"),
    _row("poch", 2, _poch, samples="positive"),
    _row("gammainc", 2, _incomplete(1.0), public=(), samples="positive"),
    _row("gammaincc", 2, _incomplete(-1.0), public=(), samples="positive"),
    _row("betainc", 3, _beta_density, samples="fraction"),
    _row("hurwitz", 2, _zeta, public=(), samples="above one", doc="zeta(s, q), the sum of (q + k)**-s",
         impl=_by_scipy("zeta")),
    _row("zetac", 1, lambda e, x, y: (ORDER,), samples="above one", doc="zeta(s) - 1"),
)  # fmt: skip

# ---------------------------------------------------------------------------------- Bessel functions and integrals


def _neighbours(name: str, x: Sequence[Value], e: Emitter) -> tuple[Value, Value]:
    order, argument = x
    return e(name, _shifted(e, order, -1.0), argument), e(name, _shifted(e, order, 1.0), argument)


def _bessel(name: str, sign: float) -> Rule:
    """(f(n-1) + sign f(n+1)) / 2 by x."""

    def rule(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
        below, above = _neighbours(name, x, e)
        return (ORDER, *_strong(_half(e, e("add" if sign > 0 else "sub", below, above))))

    return rule


def _kv(name: str, scaled: bool) -> Rule:
    def rule(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
        slope = e("neg", _half(e, e("add", *_neighbours(name, x, e))))
        return (ORDER, *_strong(e("add", y, slope) if scaled else slope))

    return rule


def _ive(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    slope = _half(e, e("add", *_neighbours("ive", x, e)))
    return (ORDER, *_strong(e("sub", slope, e("mul", e("sign", x[1]), y))))


def _second(name: str, e: Emitter, x: Value) -> Value:
    return e(name, e.like(2.0, x), x)


def _i0e(e: Emitter, x: Value, y: Value) -> Value:
    return e("sub", e("i1e", x), e("mul", e("sign", x), y))


def _i1e(e: Emitter, x: Value, y: Value) -> Value:
    return e("sub", _half(e, e("add", e("i0e", x), _second("ive", e, x))), e("mul", e("sign", x), y))


def _expn(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    """-expn(n - 1), and below order 1 by the recurrence: (exp(-x) - (n - 1) y) / x."""
    n, t = e("trunc", x[0]), x[1]  # as SciPy does
    low = e("lt", n, e.like(1.0, n))
    above = e("expn", e("select", low, e.like(0.0, n), _shifted(e, n, -1.0)), t)
    below = e("div", e("sub", e("exp", e("neg", t)), e("mul", _shifted(e, n, -1.0), y)), t)
    return (ORDER, *_strong(e("neg", e("select", low, below, above))))


def _exponential_over(e: Emitter, x: Value, sign: float) -> Value:
    return e("div", e("exp", x if sign > 0 else e("neg", x)), x if sign > 0 else e("neg", x))


BESSEL = (
    _row("i0", 1, lambda e, x, y: _strong(e("i1", x[0]))),
    _row("i1", 1, lambda e, x, y: _strong(_half(e, e("add", e("i0", x[0]), _second("iv", e, x[0]))))),
    _row("i0e", 1, lambda e, x, y: (Partial(_i0e(e, x[0], y)),)),
    _row("i1e", 1, lambda e, x, y: (Partial(_i1e(e, x[0], y)),)),
    _row("j0", 1, lambda e, x, y: (Partial(e("neg", e("j1", x[0]))),)),
    _row("j1", 1, lambda e, x, y: (Partial(_half(e, e("sub", e("j0", x[0]), _second("jv", e, x[0])))),)),
    _row("y0", 1, lambda e, x, y: _strong(e("neg", e("y1", x[0]))), samples="positive"),
    _row("y1", 1, lambda e, x, y: _strong(_half(e, e("sub", e("y0", x[0]), _second("yv", e, x[0])))),
         samples="positive"),
    _row("k0", 1, lambda e, x, y: _strong(e("neg", e("k1", x[0]))), samples="positive"),
    _row("k1", 1, lambda e, x, y: _strong(e("neg", _half(e, e("add", e("k0", x[0]), _second("kv", e, x[0]))))),
         samples="positive"),
    _row("jv", 2, _bessel("jv", -1.0), public=("jv", "jn"), samples="positive"),
    _row("yv", 2, _bessel("yv", -1.0), samples="above one"),
    _row("iv", 2, _bessel("iv", 1.0), samples="positive"),
    _row("ive", 2, _ive, samples="positive"),
    _row("kv", 2, _kv("kv", scaled=False), samples="above one"),
    _row("kve", 2, _kv("kve", scaled=True), samples="above one"),
    _row("expn", 2, _expn, public=(), samples="positive"),
    _row("exp1", 1, lambda e, x, y: _strong(_exponential_over(e, x[0], -1.0)), samples="positive"),
    _row("expi", 1, lambda e, x, y: _strong(_exponential_over(e, x[0], 1.0)), samples="positive"),
)  # fmt: skip

# ---------------------------------------------------------------------- elliptic integrals, hypergeometric functions


def _hypergeometric(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    """a b / c times the function whose parameters are greater by 1."""
    a, b, c, t = x
    above = e("hyp2f1", *(_shifted(e, v, 1.0) for v in (a, b, c)), t)
    return (ORDER, ORDER, ORDER, *_strong(e("mul", e("div", e("mul", a, b), c), above)))


def _confluent(e: Emitter, x: Sequence[Value], y: Value) -> Sequence[Slope]:
    a, b, t = x
    above = e("hyp1f1", _shifted(e, a, 1.0), _shifted(e, b, 1.0), t)
    return (ORDER, ORDER, *_strong(e("mul", e("div", a, b), above)))


def _by_series(e: Emitter, m: Value, parameters: tuple[float, float, float], factor: float) -> Value:
    return _times(e, factor, e("hyp2f1", *(e.like(p, m) for p in parameters), m))


def _ellipk(e: Emitter, m: Value) -> Value:
    """K is pi/2 2F1(1/2, 1/2; 1; m)."""
    return _by_series(e, m, (1.5, 1.5, 2.0), math.pi / 8)


def _ellipe(e: Emitter, m: Value) -> Value:
    """E is pi/2 2F1(-1/2, 1/2; 1; m)."""
    return _by_series(e, m, (0.5, 1.5, 2.0), -math.pi / 8)


def _ellipkm1(e: Emitter, p: Value, k: Value) -> Value:
    """Of K(1 - p): near p = 0, where 1 - p loses digits, (K - E/p) / (2 (1 - p)), elsewhere by the series."""
    one, half = e.like(1.0, p), e.like(0.5, p)
    near = e("lt", p, half)
    low, rest = e("select", near, p, half), e("select", near, half, e("sub", one, p))
    quotient = e("div", e("sub", k, e("div", e("ellipe", e("sub", one, low)), low)), _times(e, 2.0, e("sub", one, low)))
    return e("select", near, quotient, e("neg", _ellipk(e, rest)))


def _spence(e: Emitter, z: Value) -> Value:
    """log(z) / (1 - z), which is -1 at 1."""
    one = e.like(1.0, z)
    gap = e("sub", z, one)
    small = e("lt", e("abs", gap), e.like(1e-3, z))
    t = e("select", small, gap, e.like(0.0, z))
    series = e.like(0.0, z)
    for k in range(7, 0, -1):  # -log(1 + t) / t
        series = e("add", e.like((-1.0) ** k / k, z), e("mul", t, series))
    apart = e("select", small, e.like(2.0, z), z)
    return e("select", small, series, e("div", e("log", apart), e("sub", one, apart)))


ELLIPTIC = (
    _row("ellipk", 1, lambda e, x, y: _strong(_ellipk(e, x[0])), samples="fraction"),
    _row("ellipe", 1, lambda e, x, y: _strong(_ellipe(e, x[0])), samples="fraction"),
    _row("ellipkm1", 1, lambda e, x, y: _strong(_ellipkm1(e, x[0], y)), samples="fraction"),
    _row("hyp2f1", 4, _hypergeometric, public=(), samples="fraction", doc="hyp2f1(a, b, c, z)"),
    _row("hyp1f1", 3, _confluent, samples="fraction"),
    _row("spence", 1, lambda e, x, y: _strong(_spence(e, x[0])), samples="positive"),
)  # fmt: skip

PRIMS = tuple(register(p) for p in (*NORMAL, *LOGISTIC, *GAMMA, *BESSEL, *ELLIPTIC))
