"""The elementary functions of generated code, written in LLVM IR.

A code generator calls `symbol(name, dtype)` in its module's text, and adds the definitions once:

    call double @pb.exp.f64(double %x)

    library = definitions([("exp", "f64")])
    module = own_text + library.functions + "\\n".join(own_declarations | library.declarations)
    for name, address in library.externals.items():
        builder.import_symbol(name, address)

Every function is scalar SSA code without fast-math flags, `internal` and `alwaysinline`; the common ones have no
branches, so LLVM's vectoriser widens them and scalar and vector code give the same bits. float32 instances compute in
float32 (`elementary_single`), or in double with shorter polynomials, and round once. Results are within 2.5 ulp (most
within 1) of the true value on the whole range, subnormals included, and special values are those of C99 Annex F and
NumPy. Exceptions are zeros of lgamma and digamma, around which digits are lost, and functions called in SciPy
(`elementary_scipy`). `tests/accuracy_table.txt` has true values of all that are within.
Nothing reads or writes memory except constant tables; nothing traps.

Signatures: all take and return the dtype, but isnan, isinf and isfinite return i1, and polygamma takes an i64 order.
sin, cos and tan bring masked vector forms of their cold functions, which are not `internal` but `weak_odr hidden`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pullback.codegen import (
    elementary_basic,
    elementary_bessel,
    elementary_exponential,
    elementary_gamma,
    elementary_logarithm,
    elementary_normal,
    elementary_scipy,
    elementary_special,
    elementary_trigonometric,
)
from pullback.codegen.elementary_libraries import RUNTIME, MissingFunction, address
from pullback.codegen.elementary_single import SINGLE
from pullback.codegen.elementary_text import Body, Builder, Recipe, Value

__all__ = ["ARITY", "NAMES", "Definitions", "MissingFunction", "definitions", "runtime_symbols", "symbol"]

_RECIPES: Final[dict[str, Recipe]] = {
    **elementary_basic.RECIPES,
    **elementary_exponential.RECIPES,
    **elementary_logarithm.RECIPES,
    **elementary_trigonometric.RECIPES,
    **elementary_special.RECIPES,
    **elementary_gamma.RECIPES,
    **elementary_normal.RECIPES,
    **elementary_bessel.RECIPES,
    **elementary_scipy.RECIPES,
}
NAMES: Final[frozenset[str]] = frozenset(_RECIPES)
ARITY: Final[dict[str, int]] = {name: len(recipe.arguments) for name, recipe in _RECIPES.items()}
_TYPES: Final = {"f64": "double", "f32": "float"}
_INLINE: Final = "alwaysinline nounwind willreturn memory(none)"
_COLD: Final = "noinline cold nounwind willreturn memory(none)"
# The large-argument functions are rarely run but come along with every sin: keep them cheap to compile.
_CHEAP: Final = f"optnone {_COLD}"


@dataclass(frozen=True, slots=True)
class Definitions:
    """IR text of functions and tables, declarations (a line each), and addresses to import."""

    functions: str
    declarations: frozenset[str]
    externals: dict[str, int]


def symbol(name: str, dtype: str) -> str:
    """Return the LLVM name of a function's instance for "f64" or "f32"."""
    if name not in NAMES or dtype not in _TYPES:
        raise KeyError(f"no elementary function {name!r} for {dtype!r}")
    return f"@pb.{name}.{dtype}"


def definitions(requests: Iterable[tuple[str, str]]) -> Definitions:
    """Return the text of the requested (name, dtype) instances and of all they call, each once and in a fixed order.

    Raises `MissingFunction` if a C function that they need does not exist on this platform.
    """
    waiting = sorted({symbol(name, dtype)[1:] for name, dtype in requests}, reverse=True)
    written: dict[str, str] = {}
    tables: dict[str, str] = {}
    declarations: set[str] = set()
    externals: set[str] = set()
    while waiting:
        function = waiting.pop()
        if function in written:
            continue
        text, body = _write(function)
        written[function] = text
        tables.update(body.tables)
        declarations |= body.declarations
        externals |= body.externals
        waiting += reversed(body.functions)
    parts = [*(f"{line}\n" for line in tables.values()), *written.values()]
    addresses = {name: address(name.removeprefix("pb.c.")) for name in sorted(externals)}
    return Definitions("".join(parts), frozenset(declarations), addresses)


def runtime_symbols() -> dict[str, int]:
    """Return the C functions that LLVM may call of its own accord on processors without fma or rounding instructions.

    A JIT that does not search the process's own symbols must import them.
    """
    found = {}
    for name in RUNTIME:
        try:
            found[name] = address(name)
        except MissingFunction:
            continue
    return found


def _write(function: str) -> tuple[str, Body]:
    """Write one function, given by its symbol without the @."""
    match function.split("."):
        case ["pb", name, dtype] if dtype in _TYPES:
            return _instance(function, _RECIPES[name], dtype)
        case ["pb", ("sin" | "cos" | "tan") as name, "large"]:
            body = Body(single=False)
            value = elementary_trigonometric.large_argument(body, name, body.value("double", "%a0"))
            return _text(function, ["double"], value, _CHEAP), body
        case ["pb", ("sin" | "cos") as name, "far"]:
            body = Body(single=False)
            value = elementary_trigonometric.far_argument(body, name, body.value("float", "%a0"))
            return _text(function, ["float"], value, _CHEAP), body
        case ["pb", ("sin" | "cos" | "tan"), ("large" | "far") as cold, width]:
            scalar = function.removesuffix(f".{width}")
            body = Body(single=False, functions={scalar: None})
            type_name = "double" if cold == "large" else "float"
            return elementary_trigonometric.masked_vector(scalar, type_name, int(width[1:])), body
        case ["pb", "zeta", "positive"]:
            body = Body(single=False, functions={"pb.zeta.term": None, "pb.zeta.tail": None})
            return elementary_gamma.zeta_positive(), body
        case ["pb", "rising"]:
            fma = "declare double @llvm.fma.f64(double, double, double)"
            return elementary_gamma.rising(), Body(single=False, declarations={fma})
        case _:
            return _cold(function, *_HELPERS[function])


_HELPERS: Final[dict[str, tuple[tuple[str, ...], Builder]]] = {
    "pb.fmod.any": (("double", "double"), lambda body, x, y: body.external("fmod", "double", x, y)),
    "pb.gamma.any": (("double",), elementary_gamma.gamma_any),
    "pb.gamma.far": (("double",), elementary_gamma.gamma_far),
    "pb.lgamma.negative": (("double",), elementary_gamma.lgamma_negative),
    "pb.lgamma.far": (("double",), elementary_gamma.lgamma_far),
    "pb.lgamma.pair": (("double",), elementary_gamma.lgamma_pair),
    "pb.lgamma.near": (("double",), elementary_gamma.lgamma_near),
    "pb.beta.near": (("double", "double"), elementary_gamma.beta_near),
    "pb.beta.far": (("double", "double"), elementary_gamma.beta_far),
    "pb.betaln.far": (("double", "double"), elementary_gamma.betaln_far),
    "pb.betaln.other": (("double", "double"), elementary_gamma.betaln_other),
    "pb.beta.other": (("double", "double"), elementary_gamma.beta_other),
    "pb.digamma.negative": (("double",), elementary_gamma.digamma_negative),
    "pb.polygamma.higher": (("i64", "double"), elementary_gamma.polygamma_higher),
    "pb.zeta.any": (("double", "double"), elementary_gamma.zeta_any),
    "pb.zeta.negative": (("double", "double"), elementary_gamma.zeta_negative),
    "pb.zeta.term": (("double", "double", "double"), elementary_gamma.zeta_term),
    "pb.zeta.tail": (("double", "double", "double"), elementary_gamma.zeta_tail),
}


def _instance(function: str, recipe: Recipe, dtype: str) -> tuple[str, Body]:
    own = _TYPES[dtype]
    kinds = [own if kind == "x" else kind for kind in recipe.arguments]
    result = own if recipe.result == "x" else recipe.result
    body = Body(single=dtype == "f32")
    arguments = [body.value(kind, f"%a{i}") for i, kind in enumerate(kinds)]
    name = function.split(".")[1]
    if dtype == "f32" and name in SINGLE:
        value = SINGLE[name](body, *arguments)
    elif recipe.native or dtype == "f64":
        value = recipe.build(body, *arguments)
    else:
        wide = [body.convert("fpext", a, "double") if a.type == "float" else a for a in arguments]
        value = body.convert("fptrunc", recipe.build(body, *wide), "float")
    assert value.type == result, (function, value.type)
    return _text(function, kinds, value, _INLINE), body


def _cold(function: str, kinds: tuple[str, ...], build: Builder) -> tuple[str, Body]:
    body = Body(single=False)
    value = build(body, *(body.value(kind, f"%a{i}") for i, kind in enumerate(kinds)))
    return _text(function, list(kinds), value, _COLD), body


def _text(function: str, kinds: list[str], value: Value, attributes: str) -> str:
    parameters = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
    lines = "\n".join(value.body.lines)
    head = f"define internal {value.type} @{function}({parameters}) {attributes} {{\nentry:\n"
    return f"{head}{lines}\n  ret {value.type} {value.text}\n}}\n"
