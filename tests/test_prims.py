"""Every primitive's record: its implementation against an independent one, its derivative against differences."""

import itertools
import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import special_meaning
from native import Native
from pullback.interp import run
from pullback.ir.check import check_program
from pullback.ir.node import Block, Function, Program, Value
from pullback.prims import REGISTRY, Emitter, get
from pullback.prims.base import NOT_DIFFERENTIABLE, Linear, Partial, Refused
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import BOOL, F32, F64, I64, DType, Scalar

SCALARS = {name: prim for name, prim in REGISTRY.items() if prim.impl is not None}
NUMPY = {Scalar(dtype): kind for dtype, kind in NUMPY_DTYPES.items()}
BITS = {Scalar(dtype): 8 * dtype.bytes for dtype in DType if dtype.is_int}
F16 = Scalar(DType.F16)
PRECISION = {F64: 4e-15, F32: 1e-6, F16: 4e-3}


def wrapped(number, type_):
    low, high = type_.dtype.limits
    return (number - low) % (high - low + 1) + low


def inside(number, type_):
    return wrapped(number, type_) == number


def trunc_division(x, y):
    return x - y * math.trunc(Fraction(x) / Fraction(y))


def order_of(t, x):
    if t in BITS:
        return x - t.dtype.limits[0]
    size = 8 * t.dtype.bytes
    magnitude = int(NUMPY[t](abs(x)).view(f"int{size}"))
    return 2 ** (size - 1) + magnitude if x >= 0 else 2 ** (size - 1) - 1 - magnitude


def sign(x):
    return (x > 0) - (x < 0)


# What each record means, in Python of its own.  Operands are Python numbers; `t` is the operands' machine type.
MEANING = {
    "add": lambda t, x, y: x + y,
    "accumulate": lambda t, x, y: x + y,
    "sub": lambda t, x, y: x - y,
    "mul": lambda t, x, y: x * y,
    "zmul": lambda t, x, y: x * y if x and y else 0.0,
    "div": lambda t, x, y: x / y,
    "neg": lambda t, x: -x,
    "fma": lambda t, x, y, z: float(Fraction(x) * Fraction(y) + Fraction(z)),
    "floordiv": lambda t, x, y: x // y,
    "mod": lambda t, x, y: x % y,
    "fmod": lambda t, x, y: math.fmod(x, y),
    "remainder": lambda t, x, y: math.remainder(x, y),
    "abs": lambda t, x: abs(x),
    "sign": lambda t, x: sign(x),
    "copysign": lambda t, x, y: math.copysign(x, y),
    "pow": lambda t, x, y: math.pow(x, y),
    "powi": lambda t, x, n: float(mpmath.mpf(x) ** n),
    "ipow": lambda t, x, n: x ** max(n, 0),
    "maximum": lambda t, x, y: max(x, y),
    "minimum": lambda t, x, y: min(x, y),
    "larger": lambda t, x, y: max(x, y),
    "smaller": lambda t, x, y: min(x, y),
    "order_bits": lambda t, x: order_of(t, x),
    "python_max": lambda t, x, y: max(x, y),
    "python_min": lambda t, x, y: min(x, y),
    "eq": lambda t, x, y: x == y,
    "ne": lambda t, x, y: x != y,
    "lt": lambda t, x, y: x < y,
    "le": lambda t, x, y: x <= y,
    "gt": lambda t, x, y: x > y,
    "ge": lambda t, x, y: x >= y,
    "and_": lambda t, x, y: x & y,
    "or_": lambda t, x, y: x | y,
    "xor_": lambda t, x, y: x ^ y,
    "not_": lambda t, x: not x if t == BOOL else ~x,
    "shl": lambda t, x, n: x << n if n < BITS[t] else 0,
    "shr": lambda t, x, n: x >> n,
    "select": lambda t, c, x, y: x if c else y,
    "stop": lambda t, x: x,
    "discrete": lambda t, x: x,
    "differentiated": lambda t, x: False,
    "high_product": lambda t, x, y: (int(x) * int(y)) >> 64,
    "attach": lambda t, y, x, w: y,
    "cast": lambda t, x, to: x,
    "add_overflows": lambda t, x, y: not inside(x + y, t),
    "sub_overflows": lambda t, x, y: not inside(x - y, t),
    "mul_overflows": lambda t, x, y: not inside(x * y, t),
    "pow_overflows": lambda t, x, n: not inside(x**n, t),
    "ult": lambda t, i, n: 0 <= i < n,
    "wrap_index": lambda t, i, n: i + n if i < 0 else i,
    "block_start": lambda t, b, n, blocks: int(b) * int(n) // max(int(blocks), 1),
    "exp": lambda t, x: mpmath.exp(x),
    "exp2": lambda t, x: mpmath.mpf(2) ** x,
    "expm1": lambda t, x: mpmath.expm1(x),
    "log": lambda t, x: mpmath.log(x),
    "log2": lambda t, x: mpmath.log(x, 2),
    "log10": lambda t, x: mpmath.log10(x),
    "log1p": lambda t, x: mpmath.log1p(x),
    "sqrt": lambda t, x: mpmath.sqrt(x),
    "cbrt": lambda t, x: mpmath.cbrt(x),
    "sin": lambda t, x: mpmath.sin(x),
    "cos": lambda t, x: mpmath.cos(x),
    "tan": lambda t, x: mpmath.tan(x),
    "asin": lambda t, x: mpmath.asin(x),
    "acos": lambda t, x: mpmath.acos(x),
    "atan": lambda t, x: mpmath.atan(x),
    "sinh": lambda t, x: mpmath.sinh(x),
    "cosh": lambda t, x: mpmath.cosh(x),
    "tanh": lambda t, x: mpmath.tanh(x),
    "asinh": lambda t, x: mpmath.asinh(x),
    "acosh": lambda t, x: mpmath.acosh(x),
    "atanh": lambda t, x: mpmath.atanh(x),
    "erf": lambda t, x: mpmath.erf(x),
    "erfc": lambda t, x: mpmath.erfc(x),
    "gamma": lambda t, x: mpmath.gamma(x),
    "lgamma": lambda t, x: mpmath.log(abs(mpmath.gamma(x))),
    "floor": lambda t, x: math.floor(x),
    "ceil": lambda t, x: math.ceil(x),
    "trunc": lambda t, x: math.trunc(x),
    "rint": lambda t, x: round(x),
    "atan2": lambda t, y, x: mpmath.atan2(y, x),
    "hypot": lambda t, x, y: mpmath.hypot(x, y),
    "nextafter": lambda t, x, y: math.nextafter(x, y),
    "polygamma": lambda t, n, x: mpmath.psi(n, x),
    "isnan": lambda t, x: x != x,
    "isinf": lambda t, x: x in (math.inf, -math.inf),
    "isfinite": lambda t, x: x - x == 0,
    **special_meaning.MEANING,
}

ATTRIBUTES = {
    "powi": [{"n": n} for n in (-2, -1, 0, 1, 2, 3, 5)],
    "cast": [{"to": dtype} for dtype in DType],
    "maximum": [{}, {"literal": (False, True)}, {"literal": (True, False)}],
    "python_max": [{}, {"literal": (False, True)}],
}


def signatures(name):
    """Operand types that the record accepts, with attributes."""
    prim = REGISTRY[name]
    found = []
    for attrs in ATTRIBUTES.get(name, [{}]):
        of_three = [F64, F32, F16, I64, BOOL]
        kinds = {1: NUMPY, 2: NUMPY, 3: of_three, 4: [F64, F32]}
        for types in itertools.chain(*(itertools.product(known, repeat=n) for n, known in kinds.items())):
            try:
                prim.result_types(types, attrs)
            except (TypeError, ValueError):
                continue
            found.append((types, attrs))
    return found


def draw(samples, type_, rng):
    """An operand out of the record's domain, on a coarse grid so that float32 holds it."""
    if type_ == BOOL:
        return rng.random() < 0.5
    if type_ in BITS:
        if samples == "small":
            return rng.randint(0, 6)
        if samples == "positive":
            return rng.randint(0, 3)
        least, most = type_.dtype.limits
        number = rng.choice([rng.randint(max(least, -9), 9), rng.randint(least, most), most, least])
        return number or 1 if samples == "nonzero" else number
    low, high = {"positive": (0.125, 6), "unit": (-0.9, 0.9), "above one": (1.125, 6),
                 "fraction": (0.1, 0.9)}.get(samples, (-6, 6))
    while True:
        number = round(rng.uniform(low, high) * 64) / 64
        if samples != "nonzero" or abs(number) > 0.2:
            return number


def draws(name, types, seed, count):
    rng = random.Random(f"{name} {seed}")
    return [[draw(REGISTRY[name].samples, t, rng) for t in types] for _ in range(count)]


def as_result(number, type_):
    if type_ == BOOL:
        return bool(number)
    if type_ in BITS:
        return wrapped(int(number), type_)
    return float(NUMPY[type_](float(number)))


def program_of(types, build):
    """A program of one function; `build(emit, params)` returns its results."""
    params = [Value(t) for t in types]
    block = Block(params)
    block.results = list(build(Emitter(block), params))
    program = Program({"f": Function("f", block)}, "f")
    check_program(program)
    return program


def test_every_record_has_a_meaning():
    assert set(SCALARS) == set(MEANING)


@pytest.mark.parametrize("name", sorted(SCALARS))
def test_the_implementation_is_right(name):
    assert signatures(name)
    for types, attrs in signatures(name):
        (result,) = REGISTRY[name].result_types(types, attrs)
        program = program_of(types, lambda e, params, attrs=attrs: [e(name, *params, **attrs)])
        extra = [v for k, v in attrs.items() if k != "literal"]
        for operands in draws(name, types, types, 25):
            expected = as_result(MEANING[name](types[-1], *operands, *extra), result)
            (found,) = run(program, operands)
            assert type(found) is NUMPY[result]
            if result in PRECISION:
                tolerance = max(PRECISION.get(t, 0.0) for t in (*types, result))
                if name in special_meaning.MEANING:
                    tolerance = max(tolerance, special_meaning.TOLERANCE)
                assert found.item() == pytest.approx(expected, rel=tolerance, abs=tolerance / 4), operands
            else:
                assert found.item() == expected, operands


SPECIAL = {
    ("div", (1.0, 0.0)): math.inf,
    ("div", (-1.0, 0.0)): -math.inf,
    ("zmul", (0.0, math.inf)): 0.0,
    ("zmul", (math.nan, 0.0)): 0.0,
    ("zmul", (2.0, math.inf)): math.inf,
    ("maximum", (math.nan, 1.0)): math.nan,
    ("minimum", (1.0, math.nan)): math.nan,
    ("python_max", (1.0, math.nan)): 1.0,
    ("python_max", (math.nan, 1.0)): math.nan,
    ("sign", (math.nan,)): math.nan,
    ("log", (0.0,)): -math.inf,
    ("log", (-1.0,)): math.nan,
    ("sqrt", (-1.0,)): math.nan,
    ("exp", (1000.0,)): math.inf,
    ("pow", (0.0, 0.0)): 1.0,
    ("pow", (math.nan, 0.0)): 1.0,
    ("pow", (-8.0, 1 / 3)): math.nan,
    ("gamma", (200.0,)): math.inf,
    ("lgamma", (-1.0,)): math.inf,
    ("lgamma", (0.0,)): math.inf,
    ("mod", (-1.0, math.inf)): math.inf,
    ("mod", (5.0, -3.0)): -1.0,
    ("floordiv", (-7.0, 2.0)): -4.0,
    ("fmod", (-7.0, 4.0)): -3.0,
    ("rint", (2.5,)): 2.0,
    ("atan2", (0.0, -1.0)): math.pi,
    ("hypot", (math.inf, math.nan)): math.inf,
}


@pytest.mark.parametrize(("name", "operands"), SPECIAL)
def test_special_values(name, operands):
    (found,) = run(program_of([F64] * len(operands), lambda e, params: [e(name, *params)]), operands)
    assert found.item() == pytest.approx(SPECIAL[name, operands], nan_ok=True)


def test_int_corner_cases_wrap():
    least = -(2**63)
    for name, operands, expected in [
        ("floordiv", (7, 0), 0), ("mod", (7, 0), 0), ("floordiv", (least, -1), least), ("mod", (least, -1), 0),
        ("neg", (least,), least), ("abs", (least,), least), ("floordiv", (-7, 2), -4), ("mod", (-7, 2), 1),
        ("shl", (1, 64), 0), ("shr", (-1, 70), -1), ("ipow", (2, 64), 0), ("ipow", (2, -1), 1),
    ]:  # fmt: skip
        assert run(program_of([I64] * len(operands), lambda e, params: [e(name, *params)]), operands) == [expected]
    cast = program_of([F64], lambda e, params: [e("cast", params[0], to=DType.I64)])
    assert [run(cast, [x])[0] for x in (-2.9, 1e300, math.nan)] == [-2, least, least]


# ------------------------------------------------------------------------------------------------- derivatives


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_record_states_its_derivative(name):
    derivative = REGISTRY[name].derivative
    assert callable(derivative) or isinstance(derivative, Linear) or derivative in (NOT_DIFFERENTIABLE, "structural")


STATED = ("attach",)  # its derivative is what it states, not a slope of its value
PARTIALS = sorted(n for n, p in SCALARS.items() if callable(p.derivative) and not isinstance(p.derivative, Linear))
STEP = 2.0**-9


def float_signatures(name):
    return [(types, attrs) for types, attrs in signatures(name) if set(types) <= {F64, I64} and F64 in types]


def partials_program(name, types, attrs):
    """A program that computes all partials (None as 0), and which of them are strong."""
    strong = []

    def build(emit, params):
        op = emit.op(name, *params, **attrs)
        parts = REGISTRY[name].derivative(emit, op)
        assert len(parts) == len(params)
        results = []
        for part in parts:
            refused = isinstance(part, Refused)
            value = part.value if isinstance(part, Partial) else None if refused else part
            strong.append(None if refused else isinstance(part, Partial) and part.strong)
            results.append(value if isinstance(value, Value) else emit.constant(value or 0.0, F64))
        return results

    return program_of(types, build), strong


def near_a_kink(name, operands):
    """Operands close to each other, or an operand of abs close to 0."""
    if name in ("abs", "copysign"):
        return abs(operands[0]) < 0.1
    return any(abs(x - y) < 0.05 for x, y in itertools.pairwise(operands))


def difference(program, operands, i):
    """A five-point difference along operand i; None where the function jumps nearby."""

    def at(steps):
        moved = list(operands)
        moved[i] = operands[i] + steps * STEP
        return run(program, moved)[0].item()

    values = {steps: at(steps) for steps in (-2, -1, 1, 2)}
    slope = (8 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12 * STEP)
    rough = (values[2] - values[-2]) / (4 * STEP)
    return slope if abs(slope - rough) < 1e-3 * (1 + abs(slope)) else None


@pytest.mark.parametrize("name", [name for name in PARTIALS if name not in STATED])
def test_partials_are_the_derivative(name):
    assert float_signatures(name)
    for types, attrs in float_signatures(name):
        value = program_of(types, lambda e, params, attrs=attrs: [e(name, *params, **attrs)])
        partials, strong = partials_program(name, types, attrs)
        literal = attrs.get("literal", (False,) * len(types))
        compared = 0
        for operands in draws(name, types, "partials", 20):
            found = run(partials, operands)
            for i, type_ in enumerate(types):
                if type_ != F64 or literal[i] or strong[i] is None or near_a_kink(name, operands):
                    continue
                slope = difference(value, operands, i)
                if slope is not None:
                    compared += 1
                    assert found[i].item() == pytest.approx(slope, rel=2e-6, abs=2e-6), (operands, i, attrs)
        assert compared >= 5 or all(kind is None for kind in strong)


EDGES = {"real": (0.0, -0.0, 1.0, -1.0, 1000.0, -1000.0), "nonzero": (1e-320, 1.0, -1.0, 0.0), "small": (0.0, 1.0),
         "positive": (0.0, 1e-320, 1.0, 200.0, -1.0), "unit": (-1.0, 0.0, 1.0), "above one": (1.0, 2.0),
         "fraction": (0.0, 0.5, 1.0)}  # fmt: skip


@pytest.mark.parametrize("name", PARTIALS)
def test_partials_that_are_not_finite_are_strong(name):
    for types, attrs in float_signatures(name):
        partials, strong = partials_program(name, types, attrs)
        choices = [EDGES[REGISTRY[name].samples] if t == F64 else (0, 1) for t in types]
        for operands in itertools.product(*choices):
            for i, found in enumerate(run(partials, operands)):
                assert strong[i] is not False or math.isfinite(found), (operands, i, attrs)


LINEAR = sorted(name for name, prim in SCALARS.items() if isinstance(prim.derivative, Linear))


@pytest.mark.parametrize("name", LINEAR)
def test_pushforward_and_transpose_are_adjoint(name):
    """<y, J x> = <J' y, x>, and J is the op itself since the op is linear."""
    for types, attrs in signatures(name):
        (result,) = REGISTRY[name].result_types(types, attrs)
        active = [i for i, t in enumerate(types) if t in PRECISION]
        if result not in PRECISION or not active:
            continue
        rule = REGISTRY[name].derivative

        def build(emit, params, attrs=attrs, types=types, active=active, rule=rule, result=result):
            count = len(types)
            operands, tangents, seed = params[:count], params[count:-1], params[-1]
            op = emit.op(name, *operands, **attrs)
            given = [tangents[active.index(i)] if i in active else None for i in range(count)]
            cotangents = rule.transpose(emit, op, seed)
            assert [c is not None for c in cotangents] == [i in active for i in range(count)]
            return [rule.pushforward(emit, op, given), *(c for c in cotangents if c is not None)]

        program = program_of([*types, *(types[i] for i in active), result], build)
        rng = random.Random(name)
        for operands in draws(name, types, "linear", 10):
            tangents, seed = [rng.randint(-8, 8) / 4 for _ in active], rng.randint(-8, 8) / 4
            pushed, *pulled = [v.item() for v in run(program, [*operands, *tangents, seed])]
            assert seed * pushed == sum(c * t for c, t in zip(pulled, tangents, strict=True))
            moved = [x + tangents[active.index(i)] if i in active else x for i, x in enumerate(operands)]
            plain = program_of(types, lambda e, params, attrs=attrs: [e(name, *params, **attrs)])
            change = run(plain, moved)[0].item() - run(plain, operands)[0].item()
            assert pushed == pytest.approx(change, abs=1e-5)


TIES = {"maximum": (0.5, 0.5), "minimum": (0.5, 0.5), "python_max": (0.5, 0.5), "python_min": (0.5, 0.5),
        "hypot": (0.0, 0.0), "atan2": (0.0, 0.0), "abs": (0.0,), "sign": (0.0,)}  # fmt: skip


@pytest.mark.parametrize("name", TIES)
def test_kinks(name):
    if REGISTRY[name].derivative == NOT_DIFFERENTIABLE:
        return
    count = len(TIES[name])
    assert run(partials_program(name, [F64] * count, {})[0], [0.0] * count) == list(TIES[name])


@pytest.mark.parametrize(("literal", "share"), [((False, True), (0.0, 0.0)), ((True, False), (0.0, 0.0))])
def test_a_literal_gets_no_share_of_a_tie(literal, share):
    for name in ("maximum", "minimum", "python_max", "python_min"):
        assert run(partials_program(name, [F64, F64], {"literal": literal})[0], [2.0, 2.0]) == list(share)


def test_attach_adds_a_stated_derivative():
    assert run(partials_program("attach", [F64] * 3, {})[0], [5.0, 7.0, 0.25]) == [1.0, 0.25, 0.0]


def test_powers_at_zero():
    x_to_0 = partials_program("pow", [F64, F64], {})[0]
    assert run(x_to_0, [0.0, 0.0])[0] == 0.0
    assert run(x_to_0, [0.0, 2.0]) == [0.0, 0.0]
    assert run(partials_program("powi", [F64], {"n": 0})[0], [0.0]) == [0.0]


def test_every_scalar_op_of_derivatives_has_a_record():
    """Ops that partials emit are themselves scalar records, so every order exists."""
    for name in PARTIALS:
        for types, attrs in float_signatures(name):
            program, _ = partials_program(name, types, attrs)
            for op in program.functions["f"].body.walk():
                assert op.name == "const" or get(op.name).impl is not None


# ------------------------------------------------------------------------------------------------------ lowering

EDGE_VALUES = {
    F64: (0.0, -0.0, 1.0, -1.0, 0.5, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan),
    F32: (0.0, -0.0, 1.0, -1.0, 0.5, 1e38, -1e38, math.inf, -math.inf, math.nan),
    F16: (0.0, -0.0, 1.0, -1.0, 0.5, 6e4, -6e4, math.inf, -math.inf, math.nan),
    BOOL: (False, True),
    **{t: (0, 1, 2, 3, *t.dtype.limits, max(t.dtype.limits[0], -1), bits - 1, bits) for t, bits in BITS.items()},
}


def by_operands():
    """All records that take the same operands, so that they are compiled together."""
    groups = {}
    for name in sorted(SCALARS):
        for types, attrs in signatures(name):
            groups.setdefault(types, []).append((name, attrs))
    return groups


def close(found, expected, type_):
    """Equal, or a few units in the last place apart where a library's function is approximated."""
    if type_ not in PRECISION:
        return found == expected
    if np.isnan(expected) or np.isinf(expected):
        return np.isnan(found) if np.isnan(expected) else found == expected
    with np.errstate(over="ignore"):
        room = 8 * np.spacing(np.abs(expected)) + np.finfo(NUMPY[type_]).tiny
    return abs(float(found) - float(expected)) <= max(room, 1e-14 if type_ == F64 else 1e-6)


def beyond(name, values):
    """Operands for which the record promises nothing."""
    if name == "hurwitz":  # SciPy itself has nan where the limit is 0
        return not all(abs(float(v)) < 1e15 for v in values)
    if name in ("kl_div", "rel_entr"):  # SciPy's quotient overflows where ours is right
        x, y = (abs(float(v)) for v in values)
        return x > 0 and y > 0 and not 1e-290 < x / y < 1e290
    if name == "betaln":  # SciPy's gamma function overflows where ours is right
        return any(0 < abs(float(v)) < 1e-300 for v in values)
    return name == "ult" and values[1] < 0


@pytest.mark.parametrize("types", by_operands(), ids=lambda types: "-".join(map(str, types)))
def test_compiled_code_computes_the_same(types):
    cases = by_operands()[types]
    program = program_of(types, lambda e, params: [e(name, *params, **attrs) for name, attrs in cases])
    native = Native(program)
    results = program.functions["f"].body.results
    operands = [values for name, _ in cases[:6] for values in draws(name, types, "native", 4)]
    if cases[0][0] != "polygamma":  # its order is small
        edges = list(itertools.product(*(EDGE_VALUES[t] for t in types)))
        operands += random.Random(1).sample(edges, k=min(len(edges), 40))
    for values in operands:
        for (name, attrs), result, found, expected in zip(
            cases, results, native(*values), run(program, values), strict=True
        ):
            assert close(found, expected, result.type) or beyond(name, values), (name, attrs, values, found, expected)
