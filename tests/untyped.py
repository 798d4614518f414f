"""An evaluator of untyped IR on real Python objects: what the front end makes, without the rest of the compiler."""

import builtins
import collections.abc
import importlib
import inspect
import operator

from pullback import front
from pullback.ir.show import show_function

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
INPLACE = lambda symbol: getattr(operator, "i" + BINARY[symbol].__name__.rstrip("_"))
UNSET = object()


KINDS = {"positional_only": 0, "positional": 1, "var_positional": 2, "keyword_only": 3, "var_keyword": 4}


class Cell:
    """A variable that functions share."""

    def __init__(self, value=UNSET):
        self.value = value


class Generator:
    """What a call of a generator function gives: iterated over, it is pushed into a list."""

    def __init__(self, push):
        self.push = push

    def __iter__(self):
        items = []
        self.push(lambda item, state: (items.append(item), (True, state))[1], None)
        return iter(items)


def evaluate(function, namespace, captures=(), defaults=()):
    """A Python callable that runs the untyped function."""
    kinds = KINDS
    waiting = list(defaults)
    missing = inspect.Parameter.empty
    parameters = [
        inspect.Parameter(name, inspect._ParameterKind(kinds[kind]), default=waiting.pop(0) if has_default else missing)
        for name, kind, has_default in function.attrs["parameters"]
    ]
    signature = inspect.Signature(parameters)

    def run(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = [*captures, *bound.arguments.values()]
        if function.attrs["generator"]:
            return Generator(lambda *last: body([*given, *last], run))
        return body(given, run)

    def body(given, run):
        env = dict(zip(function.body.params, given, strict=True))
        (result,) = run_block(function.body, env, namespace, run)
        assert result is not UNSET
        return result

    run.__name__ = function.attrs["python_name"]
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
    if name in ("if", "while", "for", "unbound", "check_bound", "closure", "cell", "cell_set", "try", "mark"):
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
            return [INPLACE(a["operator"])(*operands)]
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
        case "setitem":
            operands[0][operands[1]] = operands[2]
            return []
        case "inplace_item":
            subject, index, old, value = operands
            subject[index] = INPLACE(a["operator"])(old, value)
            return []
        case "call":
            split = len(operands) - len(a["keywords"])
            return [operands[0](*operands[1:split], **dict(zip(a["keywords"], operands[split:], strict=True)))]
        case "call_star":
            return [call_star(a["kinds"], *operands)]
        case "cell":
            return [Cell(*operands)]
        case "cell_get":
            if operands[0].value is UNSET:
                raise (NameError if a.get("free") else UnboundLocalError)(a["name"])
            return [operands[0].value]
        case "cell_set":
            operands[0].value = operands[1]
            return []
        case "setattr":
            setattr(operands[0], a["name"], operands[1])
            return []
        case "delattr":
            delattr(operands[0], a["name"])
            return []
        case "delitem":
            del operands[0][operands[1]]
            return []
        case "set":
            return [set(operands)]
        case "dict_of":
            return [dict(zip(operands[::2], operands[1::2], strict=True))]
        case "sequence_star":
            items = [i for o, star in zip(operands, a["stars"], strict=True) for i in (o if star else [o])]
            return [{"list": list, "tuple": tuple, "set": set}[a["kind"]](items)]
        case "dict_star":
            return [dict_star(a["kinds"], operands)]
        case "fstring":
            return [fstring(a["parts"], operands)]
        case "append":
            operands[0].append(operands[1])
            return []
        case "add":
            operands[0].add(operands[1])
            return []
        case "unpack_star":
            items = list(operands[0])
            stop = len(items) - a["after"]
            if a["before"] > stop:
                raise ValueError("not enough values to unpack")
            return [*items[: a["before"]], items[a["before"] : stop], *items[stop:]]
        case "is_sequence":
            (x,) = operands
            fits = isinstance(x, collections.abc.Sequence) and not isinstance(x, str | bytes | bytearray)
            return [fits and len(x) >= a["least"] and (a["most"] is None or len(x) <= a["most"])]
        case "entered":
            return [operands[0]]
        case "is_context":
            return [False]
        case "is_mapping":
            return [isinstance(operands[0], collections.abc.Mapping)]
        case "match_position":
            x, kind = operands
            return [x if kind in (int, float, str, tuple, list) else getattr(x, kind.__match_args__[a["position"]])]
        case "match_rest":
            return [{key: value for key, value in operands[0].items() if key not in operands[1:]}]
        case "delegate":
            return list(delegate(*operands)) if len(op.results) == 3 else [delegate(*operands)]
        case "try":
            MARKS[a["guard"]] = list(operands)
            try:
                return run(op.blocks[0])
            except BaseException as error:
                return run(op.blocks[1], error, *MARKS[a["guard"]])
        case "mark":
            MARKS[a["guard"]][a["slot"]] = operands[0]
            return []
        case "catches":
            return [isinstance(*operands)]
        case "reraise":
            raise operands[0]
        case "resume":
            if operands[0] is not None:
                raise operands[0]
            return []
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
            if len(operands) == 2:
                raise operands[0] from operands[1]
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


MARKS = {}  # per guard what its handler sees of the names


def call_star(kinds, function, *operands):
    arguments, keywords = [], {}
    for kind, value in zip(kinds, operands, strict=True):
        match kind:
            case "positional":
                arguments.append(value)
            case "*":
                arguments += value
            case "**":
                keywords.update(value)
            case _:
                keywords[kind[1:]] = value
    return function(*arguments, **keywords)


def dict_star(kinds, operands):
    result, waiting = {}, list(operands)
    for kind in kinds:
        if kind == "**":
            result.update(waiting.pop(0))
        else:
            key = waiting.pop(0)
            result[key] = waiting.pop(0)
    return result


def fstring(parts, values):
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        index, conversion, spec = part
        value = {"": lambda x: x, "s": str, "r": repr, "a": ascii}[conversion](values[index])
        text += format(value, spec if isinstance(spec, str) else fstring(spec, values))
    return text


def delegate(iterable, consumer, state):
    if isinstance(iterable, Generator):
        return iterable.push(consumer, state)
    for item in iterable:
        go, state = consumer(item, state)
        if not go:
            return False, None, state
    return True, None, state


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


def well_formed(block, outer=frozenset()):
    """Every value is defined once, before its use, in a block around it."""
    scope = set(outer) | set(block.params)
    for op in block.ops:
        assert set(op.operands) <= scope, op
        for inner in op.blocks:
            well_formed(inner, scope)
        assert not scope & set(op.results), op
        scope |= set(op.results)
        if op.name == "py.closure":
            well_formed(op.attrs["function"].body)
        if op.name in ("if", "py.while", "py.for", "py.try"):
            skipped = {"py.while": 1}.get(op.name, 0)
            leading = 1 if op.attrs.get("breaks") else 0
            assert all(len(b.results) == len(op.results) + leading for b in op.blocks[skipped:]), op
    assert set(block.results) <= scope, block.results


def compiled(function):
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    captures = [cell.cell_contents for cell in function.__closure__ or ()]
    untyped = front.parse(function)
    well_formed(untyped.body)
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
    NOTES.append("function" if callable(value) else repr(value))
    return value
