"""Fill the LLVM templates of the scalar primitives (`Prim.lower`) for one dtype, once.

    "{a} = fcmp oeq {T} {0}, 0.0\\nselect i1 {a}, {T} 1.0, {T} {0}"     for f64 becomes the lines
    "{a} = fcmp oeq double {0}, 0.0"     "select i1 {a}, double 1.0, double {0}"

ready for `str.format` with operands and temporaries.  Only `{name}` is a token; all other braces are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pullback.codegen.abi import LLVM
from pullback.prims.base import Elementary, Prim
from pullback.types import DType

__all__ = ["FAST", "Template", "declaration", "template"]

_TOKEN = re.compile(r"\{(\w+)\}")
_INTRINSIC = re.compile(r"call (?:nsz )?(.*)(@llvm\.[\w.]+)\(")
_LIBRARY = re.compile(r"@pb\.(\w+)\.(f\d\d)\(")
_FLOAT_OPERATION = re.compile(r"\b(fadd|fsub|fmul|fdiv|frem|fneg) ")
_OVERLOAD = {dtype: "i1" if dtype is DType.BOOL else dtype.value.replace("u", "i") for dtype in DType}
# Neither nnan nor ninf: isnan and comparisons keep their meaning.
FAST = "reassoc nsz arcp contract afn "


@dataclass(frozen=True, slots=True)
class Template:
    """`lines` set the temporaries; `result` is a right-hand side; `declarations` are (symbol, line) pairs."""

    lines: tuple[str, ...]
    result: str
    temporaries: tuple[str, ...]
    declarations: tuple[tuple[str, str], ...]
    elementary: tuple[tuple[str, str], ...] = ()  # (name, dtype) of the library's functions that are called


def kinds_of(dtype: DType) -> tuple[str, ...]:
    """The keys of `Prim.lower` for a dtype, the first that is there counts."""
    kind = "float" if dtype.is_float else "int" if dtype.is_int else "bool"
    return (dtype.value, "uint", kind) if dtype.is_unsigned else (dtype.value, kind)


_known: dict[tuple[str, DType, DType, bool], Template | Elementary | None] = {}


def template(prim: Prim, operand: DType, result: DType, fast: bool) -> Template | Elementary | None:
    """The primitive's lowering for operands of a dtype; None when it has none."""
    key = (prim.name, operand, result, fast)
    if key not in _known:
        _known[key] = _fill(prim.lower or {}, operand, result, fast)
    return _known[key]


def _fill(
    lower: Mapping[str, str | Elementary], operand: DType, result: DType, fast: bool
) -> Template | Elementary | None:
    text = next((lower[kind] for kind in kinds_of(operand) if kind in lower), None)
    if text is None or isinstance(text, Elementary):
        return text
    bits = 8 * operand.bytes
    known = {"T": LLVM[operand], "t": _OVERLOAD[operand], "R": LLVM[result], "bits": str(bits), "mask": str(bits - 1)}
    temporaries: dict[str, None] = {}

    def fill(line: str) -> str:
        parts = _TOKEN.split(line)
        for i in range(0, len(parts), 2):
            parts[i] = parts[i].replace("{", "{{").replace("}", "}}")
        for i in range(1, len(parts), 2):
            name = parts[i]
            if name in known:
                parts[i] = known[name]
                continue
            if not name.isdigit():
                temporaries[name] = None
            parts[i] = "{" + name + "}"
        line = "".join(parts)
        return _FLOAT_OPERATION.sub(rf"\1 {FAST}", line) if fast else line

    *lines, last = (fill(line) for line in text.strip().split("\n"))
    declared = tuple(d for line in (*lines, last) if (d := declaration(line)) is not None)
    called = tuple(_LIBRARY.findall("\n".join((*lines, last))))
    return Template(tuple(lines), last, tuple(temporaries), declared, called)


def declaration(line: str) -> tuple[str, str] | None:
    """The symbol and the declaration of the intrinsic that an instruction calls, derived from the call."""
    found = _INTRINSIC.search(line)
    if found is None:
        return None
    result = found.group(1).strip().replace("{{", "{").replace("}}", "}")
    arguments = line[found.end() : line.rindex(")")]
    types = ", ".join(argument.split()[0] for argument in arguments.split(",") if argument.strip())
    symbol = found.group(2)
    return symbol, f"declare {result} {symbol}({types})"
