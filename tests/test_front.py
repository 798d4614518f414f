"""The front end: its IR runs as CPython runs the source, is clean where it should be, and refuses with a reason.

An evaluator of untyped IR on real Python objects stands in for the rest of the compiler.
"""

import builtins
import functools
import importlib
import inspect
import linecache
import operator
import random
import textwrap

import programs
import pytest

from pullback import front
from pullback.diagnostic import CompileError
from pullback.ir.show import show_function

# ---------------------------------------------------------------------------------------------------------- evaluator

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
UNSET = object()


def evaluate(function, namespace, captures=(), defaults=()):
    """A Python callable that runs the untyped function."""
    kinds = {"positional_only": 0, "positional": 1, "keyword_only": 3}
    waiting = list(defaults)
    parameters = [
        inspect.Parameter(n, inspect._ParameterKind(kinds[k]), default=waiting.pop(0) if has else inspect.Parameter.empty)
        for n, k, has in function.attrs["parameters"]
    ]
    signature = inspect.Signature(parameters)

    def run(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        env = dict(zip(function.body.params, [*captures, *bound.arguments.values()], strict=True))
        (result,) = run_block(function.body, env, namespace, run)
        assert result is not UNSET
        return result

    return run


def run_block(block, env, namespace, itself):
    for op in block.ops:
        results = run_op(op, [env[v] for v in op.operands], env, namespace, itself)
        env.update(zip(op.results, results, strict=True))
    return [env[v] for v in block.results]


def run_op(op, operands, env, namespace, itself):
    def run(block, *arguments):
        env.update(zip(block.params, arguments, strict=True))
        return run_block(block, env, namespace, itself)

    name, a = op.name.removeprefix("py."), op.attrs
    if name in ("if", "while", "for", "unbound", "check_bound", "closure"):
        pass
    else:
        assert UNSET not in [o if o is UNSET else None for o in operands], f"{op.name} reads an unset value"
    match name:
        case "const":
            return [a["value"]]
        case "global":
            found = namespace.get(a["name"], vars(builtins).get(a["name"], UNSET))
            if found is UNSET:
                raise NameError(a["name"])
            return [found]
        case "binary":
            return [BINARY[a["operator"]](*operands)]
        case "inplace":
            return [getattr(operator, "i" + BINARY[a["operator"]].__name__.rstrip("_"))(*operands)]
        case "unary":
            return [UNARY[a["operator"]](*operands)]
        case "compare":
            return [COMPARE[a["operator"]](*operands)]
        case "truth":
            return [bool(operands[0])]
        case "attribute":
            return [getattr(operands[0], a["name"])]
        case "subscript":
            return [operands[0][operands[1]]]
        case "slice":
            return [slice(*operands)]
        case "call":
            split = len(operands) - len(a["keywords"])
            return [operands[0](*operands[1:split], **dict(zip(a["keywords"], operands[split:], strict=True)))]
        case "tuple":
            return [tuple(operands)]
        case "list":
            return [list(operands)]
        case "dict":
            return [dict(zip(a["keys"], operands, strict=True))]
        case "unpack":
            return unpack(operands[0], a["count"])
        case "closure":
            inner = a["function"]
            count = len(inner.attrs["captures"])
            return [evaluate(inner, namespace, operands[:count], operands[count:])]
        case "self":
            return [itself]
        case "import":
            module = importlib.import_module(a["module"])
            return [getattr(module, a["name"]) if a["name"] else module]
        case "unbound":
            return [UNSET]
        case "check_bound":
            if operands[0] is UNSET:
                raise (NameError if a.get("free") else UnboundLocalError)(a["name"])
            return operands
        case "raise":
            raise operands[0]
        case "assert":
            if not operands[0]:
                raise AssertionError(*operands[1:])
            return []
        case "if":
            assert type(operands[0]) is bool
            return run(op.blocks[0] if operands[0] else op.blocks[1])
        case "while":
            cond, body = op.blocks
            while run(cond, *operands)[0]:
                operands = run(body, *operands)
            return operands
        case "for":
            iterable, *carried = operands
            for element in iterable:
                results = run(op.blocks[0], element, *carried)
                if a["breaks"]:
                    go, *results = results
                carried = results
                if a["breaks"] and not go:
                    break
            return carried
    raise AssertionError(f"no meaning for {op.name}")


def unpack(value, count):
    items = list(value)
    if len(items) != count:
        raise ValueError(f"{count} values to unpack")
    return items


def outcome(function, *arguments):
    """The value or the exception, each with its type."""
    try:
        value = function(*arguments)
    except Exception as error:
        told = isinstance(error, ValueError | AssertionError) and "unpack" not in str(error)
        return type(error).__name__, str(error) if told else ""
    return repr(value)


def compiled(function):
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    captures = [cell.cell_contents for cell in function.__closure__ or ()]
    untyped = front.parse(function)
    if untyped.attrs["self_name"]:
        captures.remove(function)
    return evaluate(untyped, function.__globals__, captures, defaults)


def check(function, *argument_lists):
    """CPython and the evaluator agree on every list of arguments, and on the side effects `note` records."""
    run = compiled(function)
    for arguments in argument_lists:
        NOTES.clear()
        expected = outcome(function, *arguments), list(NOTES)
        NOTES.clear()
        found = outcome(run, *arguments), list(NOTES)
        assert found == expected, (function.__name__, arguments, show_function(front.parse(function)))


NOTES = []


def note(value):
    NOTES.append(value)
    return value
