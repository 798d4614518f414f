"""Backpropagators of operations, chosen by the types that they meet.

    v, b = with_back(*)(x, y)          floats:    the primitives that the product is made of, each with its partials
    v, b = with_back(@)(a, c)          arrays:    the operation as a whole, by its own adjoint
    v, b = with_back(call)(f, x)       functions: f's version with a backpropagator
    v, b = with_back(<)(x, y)          no sensitivity: the operation itself

Each is a function of untyped IR made once per operation and types; J of it, and J of that, gives any order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from pullback.analysis.alias import written_parameters
from pullback.infer.adapted import adapted
from pullback.infer.binding import bind, pack_tuple
from pullback.infer.calls import call, call_bound
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Branch, Code, Frame
from pullback.infer.heaps import heap_of
from pullback.infer.lattice import family_of
from pullback.infer.lifted import Lifted
from pullback.infer.machine_values import leaves
from pullback.infer.made import back_function, function, preset
from pullback.infer.pushes import collecting, reject_pushed
from pullback.infer.registry import HANDLERS, prelude, row_of
from pullback.infer.sensitivities import sensitive, unboxed
from pullback.infer.stored import cells_of, keeps_floats
from pullback.infer.values import AV, MISSING, items_of
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims.base import get
from pullback.prims.prelude import FUNCTIONS
from pullback.types import (
    ArrayRef,
    BoxedFunction,
    Builtin,
    Closure,
    Constant,
    Dict,
    Iterator,
    List,
    Never,
    Number,
    Ref,
    Slice,
    Str,
    Table,
    Tuple,
    Type,
    Union,
)  # fmt: skip

__all__ = ["TARGETS", "apply_with_back", "as_whole", "derived", "with_back"]

# What stands for calls of functions of derivative types, and of builtins by name: a code and its operands.
Target = Callable[[Frame, AV, Sequence[AV], tuple[str, ...]], tuple[Code, list[AV]] | None]
TARGETS: dict[type[Type] | str, Target] = {}
_HELP = "differentiate it in the default formulation"
_DISPLAYS = frozenset({"py.list", "py.dict", "py.dict_of", "py.set"})


def with_back(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], order: int, count: int
) -> list[AV]:
    """The results of an operation (`count` of them), then backpropagators of orders 1 to `order`."""
    if any(isinstance(av.type, Never) for av in operands):
        cx.stop()
        return []
    if operation == "py.apply":
        code = attributes["code"]
        assert isinstance(code, Code)
        return apply_with_back(cx, code, operands, order)
    if operation == "py.stepped":
        return _stepped(cx, attributes, operands[0], order)
    if operation == "py.push":
        target, *arguments = operands
        assert isinstance(target.type, Closure) and isinstance(target.type.code, Code)
        code = derived(cx, target.type.code, order)
        return _called(cx, AV(replace(target.type, code=code), target.values), arguments, order)
    if operation == "py.call":
        found = _call(cx, attributes, operands, order)
        if found is not None:
            return found
    if operation in _DISPLAYS and operands and "growing" not in attributes:
        found = _display(cx, operation, attributes, operands, order)
        if found is not None:
            return found
    elif not any(sensitive(av.type) for av in operands):
        return _unless_stored(cx, operation, attributes, operands, order, count)
    if operation not in _DISPLAYS and any(isinstance(av.type, Union) for av in operands):
        whole = dispatch(
            cx, operands, lambda cx, one: pack_tuple(_by_type(cx, operation, attributes, one, order, count))
        )
        return [] if cx.dead else items_of(whole)
    return _by_type(cx, operation, attributes, operands, order, count)


def apply_with_back(cx: Frame, code: Code, operands: Sequence[AV], order: int) -> list[AV]:
    """A call of the version of a function with backpropagators of these orders."""
    return _called(cx, AV(Closure(derived(cx, code, order), (), code.name)), operands, order)


def _called(
    cx: Frame, function: AV, operands: Sequence[AV], order: int
) -> list[AV]:
    whole = call_bound(cx, function, operands)
    if cx.dead:
        return []
    backs: list[AV] = []
    for _ in range(order):
        whole, back = items_of(whole)
        backs.insert(0, back)
    return [whole, *backs]


def _stepped(cx: Frame, attributes: Mapping[str, object], subject: AV, order: int) -> list[AV]:
    """What a loop steps through."""
    loop = attributes["loop"]
    assert isinstance(loop, Op)
    code = collecting(cx, subject, loop)
    if code is None and isinstance(subject.type, Ref | Iterator):
        reject_pushed(cx, subject)
    if code is None and not sensitive(subject.type):  # to begin may move what is stored
        return _unless_stored(cx, "py.stepped", {}, [subject], order, 1)
    return apply_with_back(cx, _same(cx) if code is None else code, [subject], order)


def _same(cx: Frame) -> Code:
    """The function of one argument that returns it."""
    if "same" not in cx.session.codes:
        param = Value(None, "x")
        cx.session.codes["same"] = Code(function("same", [param], Builder(Block([param])), [param]), {})
    return cx.session.codes["same"]


def derived(cx: Frame, code: Code, order: int) -> Code:
    """The code of J applied so many times."""
    session = cx.session
    assert session.backward is not None
    for _ in range(order):
        key = ("with_back", code)
        found = session.codes.get(key)
        if found is None:
            made = session.backward.transform(code.untyped)
            found = replace(code, untyped=made, primal=code.primal or code)
            session.codes[key] = found
        code = found
    return code


# ----------------------------------------------------------------------------------------------------------- calls


def _call(cx: Frame, attributes: Mapping[str, object], operands: Sequence[AV], order: int) -> list[AV] | None:
    """A call of a function whose untyped IR is known; None of another."""
    callee, *arguments = operands
    names = attributes.get("keywords") or ()
    assert isinstance(names, tuple)
    match callee.type:
        case Union():
            whole = dispatch(
                cx, [callee],
                lambda cx, one: pack_tuple(with_back(cx, "py.call", attributes, [*one, *arguments], order, 1)),
            )  # fmt: skip
            return [] if cx.dead else items_of(whole)
        case BoxedFunction():
            return _call_boxed(cx, attributes, operands, order)
        case Closure(Code()):
            return _call_closure(cx, callee, arguments, names, order, bound=bool(attributes.get("bound")))
        case Builtin(name) if name in FUNCTIONS and name not in HANDLERS and row_of(name) is None:
            return with_back(cx, "py.call", attributes, [prelude(cx, name), *arguments], order, 1)
    target = TARGETS.get(callee.type.name if isinstance(callee.type, Builtin) else type(callee.type))
    if target is None:
        return None
    found = target(cx, callee, arguments, names)
    return None if found is None else apply_with_back(cx, *found, order)


def _call_boxed(cx: Frame, attributes: Mapping[str, object], operands: Sequence[AV], order: int) -> list[AV]:
    callee, *arguments = operands
    assert isinstance(callee.type, BoxedFunction)
    count = len(family_of(callee.type).members)
    tag = cx.e("box_tag", callee.value)

    def one(number: int) -> list[AV]:
        return with_back(cx, "py.call", attributes, [unboxed(cx, callee, number), *arguments], order, 1)

    def rest(number: int) -> list[AV]:
        if number == count - 1:
            return _alive(cx, one(number), order)
        hit = cx.e("eq", tag, cx.e.integer(number))
        return cx.choose(hit, lambda: _alive(cx, one(number), order), lambda: rest(number + 1))

    return rest(0)


def _alive(cx: Frame, results: list[AV], order: int) -> list[AV]:
    return [AV(Never()) for _ in range(order + 1)] if cx.dead else results


def _call_closure(
    cx: Frame, callee: AV, arguments: Sequence[AV], names: tuple[str, ...], order: int, *, bound: bool
) -> list[AV]:
    """A call of a Python function: of J of it, if each parameter is given by one operand in turn."""
    assert isinstance(callee.type, Closure) and isinstance(callee.type.code, Code)
    code = callee.type.code
    if code.untyped.attrs.get("generator"):
        return _kept(cx, callee, arguments, names, order)
    parameters = code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    kinds = [kind for _, kind, _ in parameters]
    in_turn = len(arguments) == len(kinds) and {*kinds} <= {"positional", "positional_only"}
    if bound or (in_turn and not names):
        function = AV(Closure(derived(cx, code, order), callee.type.captured, code.name), callee.values)
        return _called(cx, function, arguments, order)
    count = len(arguments) - len(names)
    bind(cx, callee, arguments[:count], dict(zip(names, arguments[count:], strict=True)))  # its errors come first
    return apply_with_back(
        cx, adapted(cx, callee.type, len(arguments), names), [*items_of(callee), *arguments], order
    )


def _kept(
    cx: Frame, callee: AV, arguments: Sequence[AV], names: tuple[str, ...], order: int
) -> list[AV]:
    """A call of a generator function, which keeps the function and the arguments."""
    count = len(arguments) - len(names)
    made = call(cx, callee, arguments[:count], dict(zip(names, arguments[count:], strict=True)))
    if cx.dead:
        return []
    if names or len(items_of(made)) != 1 + len(arguments):
        raise cx.error("a generator with keywords or defaults has no backpropagator in the formulation by closures",
                       "this cannot be differentiated by closures", "give every argument by its position")  # fmt: skip
    return _as_made(cx, made, [callee, *arguments], tuple(range(1 + len(arguments))), order)


# ---------------------------------------------------------------------------------------------------- other operations


def _directly(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], order: int, count: int
) -> list[AV]:
    """The operation itself; nothing of it has a sensitivity."""
    results = _perform(cx, operation, attributes, operands, count)
    if cx.dead:
        return []
    nothing = AV(Closure(_nothing(cx, len(operands)), (), "back"))
    return [*results, *[nothing] * order]


def _unless_stored(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], order: int, count: int
) -> list[AV]:
    """The operation itself, if it touches no cell that may have a sensitivity."""
    branch = cx.branch(lambda: _perform(cx, operation, attributes, operands, count) or [AV(Never())] * count)
    if not branch.dead and keeps_floats(cx, branch):
        return _by_type(cx, operation, attributes, operands, order, count)
    results = _spliced(cx, branch)
    nothing = AV(Closure(_nothing(cx, len(operands)), (), "back"))
    return [] if cx.dead else [*results, *[nothing] * order]


def _spliced(cx: Frame, branch: Branch) -> list[AV]:
    """What was tried aside, as what is done."""
    cx.e.block.ops += branch.block.ops
    cx.dead = cx.dead or branch.dead
    return branch.results


def _display(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], order: int
) -> list[AV] | None:
    """A list or dict of fixed structure, whose items have sensitivities of their own; None of what lies in a heap."""
    branch = cx.branch(lambda: _perform(cx, operation, attributes, operands, 1) or [AV(Never())])
    (made,) = branch.results
    if branch.dead or not isinstance(made.type, List | Dict):
        return None
    places: list[int | None] = list(range(len(operands)))
    if isinstance(made.type, Dict):
        keys = attributes.get("keys")
        named = list(keys) if isinstance(keys, tuple) else [av.type.value for av in operands[::2]]  # type: ignore[union-attr]
        last = {name: number for number, name in enumerate(named)}  # a repeated key keeps its last value
        shown = [made.type.keys.index(name) if last[name] == i else None for i, name in enumerate(named)]
        places = shown if isinstance(keys, tuple) else [place for one in shown for place in (None, one)]
    _spliced(cx, branch)
    return _as_made(cx, made, operands, tuple(places), order)


def _as_made(
    cx: Frame, made: AV, operands: Sequence[AV], places: tuple[int | None, ...], order: int
) -> list[AV]:
    """A structure with the backpropagators of what it was made of: which of its items each operand is, if any."""
    key = ("display", places)
    code = cx.session.codes.get(key)
    if code is None:
        params = [Value(None, f"x{i}") for i in range(len(operands) + 1)]
        builder = Builder(Block(params))
        result = builder.append_untyped(get("py.as_made"), params, attrs={"places": places})
        code = cx.session.codes[key] = Code(function("display", params, builder, result.results), {})
    return apply_with_back(cx, code, [*operands, made], order)  # what answers for the last one is not asked for it


def _perform(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], count: int
) -> list[AV]:
    op = _op_of(cx, operation, attributes, len(operands), count)
    if operation in _DISPLAYS and attributes.get("growing"):
        heap_of(cx, operation.removeprefix("py.").removesuffix("_of"), (cx.code, op, cx.skeleton, cx.seen_at))
    cx.env.update(zip(op.operands, operands, strict=True))
    cx.infer_op(op)
    return [] if cx.dead else [cx.env[v] for v in op.results]


def _op_of(cx: Frame, operation: str, attributes: Mapping[str, object], operands: int, count: int) -> Op:
    """The op that stands for the one being inferred: always the same, for it is a site of what it makes."""
    key = ("performed", cx.code, cx.op, operation, operands)
    found = cx.session.performed.get(key)
    if found is None:
        found = Op(get(operation), [Value() for _ in range(operands)], [Value() for _ in range(count)], attributes)
        cx.session.performed[key] = found
    found.span = cx.span
    return found


def _nothing(cx: Frame, count: int) -> Code:
    """A backpropagator that answers zero for each operand."""
    key = ("nothing", count)
    if key not in cx.session.codes:
        builder = Builder(Block([Value(None, "d")]))
        zeros = [builder.append_untyped(get("py.zero"), ()).result for _ in range(count)]
        builder.block.results = [builder.append_untyped(get("py.tuple"), zeros).result]
        cx.session.codes[key] = Code(back_function("nothing", builder.block, ()), {})
    return cx.session.codes[key]


def _by_type(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], order: int, count: int
) -> list[AV]:
    params = [_fresh(cx, av) for av in operands]
    branch = cx.branch(lambda: _perform(cx, operation, attributes, params, count) or [AV(Never())] * count)
    if branch.dead:
        return _directly(cx, operation, attributes, operands, order, count)
    stored = keeps_floats(cx, branch)
    if not stored:
        _refuse_writes(cx, branch, params)
    if not stored and not any(sensitive(av.type) for av in branch.results):
        return _directly(cx, operation, attributes, operands, order, count)
    place = cx.span if any(op.name in ("check", "call") for op in branch.block.walk()) else None
    key = ("operation", place, cells_of(branch), *_key(cx, operation, attributes, operands))
    code = cx.session.codes.get(key)
    if code is None:
        lifted = Lifted(cx, operation, params, branch).function()
        if lifted is not None:
            code = cx.session.codes[key] = Code(lifted, {})
        else:
            _refuse_writes(cx, branch, params)
            code = cx.session.codes[key] = as_whole(cx, operation, attributes, operands, count)
    found = apply_with_back(cx, code, operands, order)
    return [*items_of(found[0]), *found[1:]] if count != 1 and found else found


def _key(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV]
) -> tuple[Hashable, ...]:
    """What the code of an operation depends on: types, and what is written as a literal."""
    literals = tuple(repr(av.literal) if av.literal is not MISSING else None for av in operands)
    items = tuple(repr(cx.literals.get(v)) for av in operands for v in av.values)
    stated = tuple(sorted(attributes.items(), key=lambda item: item[0]))
    return operation, stated, tuple(av.type for av in operands), literals, items


def _fresh(cx: Frame, av: AV) -> AV:
    """A parameter of the same type that is written as the same literals."""
    fresh = cx.fresh(av.type)
    for old, new in zip(av.values, fresh.values, strict=True):
        if old in cx.literals:
            cx.literals[new] = cx.literals[old]
    return AV(av.type, fresh.values, av.literal)


def _refuse_writes(cx: Frame, branch: Branch, params: Sequence[AV]) -> None:
    """Writes to what the operation is given would go unnoticed by backpropagators."""
    ops = list(branch.block.walk())
    tables = any(isinstance(v.type, Table) for op in ops for v in op.operands)
    if tables or any(isinstance(av.type, Ref) for av in params):
        raise cx.error("what is stored here has no backpropagator in the formulation by closures",
                       "of objects, lists and dicts only the numbers have one", _HELP)  # fmt: skip
    given = [v for av in params for v in av.values]
    if not any(isinstance(v.type, ArrayRef) for v in given) or not any("write" in op.prim.effects for op in ops):
        return
    function = Function("operation", Block(given, branch.block.ops, [v for av in branch.results for v in av.values]))
    if written_parameters(_reached(cx, function))[function.name].written:
        raise cx.error("a change of what was there before has no backpropagator in the formulation by closures",
                       "this writes to memory", _HELP)  # fmt: skip


def _reached(cx: Frame, function: Function) -> Program:
    """The function with what it calls, as far as that is inferred."""
    known = {spec.name: spec.function for spec in cx.session.order}
    found, pending = {function.name: function}, [function]
    while pending:
        for op in pending.pop().body.walk():
            callee = known.get(str(op.attrs.get("callee")))
            if callee is not None and callee.name not in found:
                found[callee.name] = callee
                pending.append(callee)
    return Program(found, function.name)


# ------------------------------------------------------------------------------------------- operations as a whole


def as_whole(
    cx: Frame, operation: str, attributes: Mapping[str, object], operands: Sequence[AV], count: int
) -> Code:
    """The operation as one function; its backpropagator is its own adjoint (`py.back_of`)."""
    key = ("whole", cx.span, *_key(cx, operation, attributes, operands))
    if key in cx.session.codes:
        return cx.session.codes[key]
    for av in operands:
        leaves(cx, av.type)  # refuse what has no sensitivity here
    params = [Value(None, f"x{i}") for i in range(len(operands))]
    builder = Builder(Block(params), cx.span)
    given = [_baked(cx, builder, av, param) for av, param in zip(operands, params, strict=True)]
    op = builder.append_untyped(get(operation), given, attrs=dict(attributes), results=count)
    results = op.results if count == 1 else builder.append_untyped(get("py.tuple"), op.results).results
    primal = function(operation.removeprefix("py."), params, builder, results)

    params = [Value(None, f"x{i}") for i in range(len(operands))]
    outer = Builder(Block(params), cx.span)
    code = preset(cx, key, primal, outer.block)
    value = outer.append_untyped(get("py.apply"), params, attrs={"code": code}).result
    inside, given_back = [Value(None, v.name) for v in params], Value(None, "d")
    back = Builder(Block([*inside, given_back]), cx.span)
    found = back.append_untyped(get("py.back_of"), [*inside, given_back], attrs={"code": code})
    back.block.results = found.results
    undo = back_function(primal.name, back.block, tuple(v.name for v in inside))
    closure = outer.append_untyped(get("py.closure"), params, attrs={"function": undo}).result
    outer.block.results = [outer.append_untyped(get("py.tuple"), [value, closure]).result]
    return code


def _baked(cx: Frame, builder: Builder, av: AV, param: Value) -> Value:
    """The operand, with what is written as a literal written again: it may have to be known while compiling."""
    literal = cx.literal_of(av) if isinstance(av.type, Number | Constant | Str) else None
    if isinstance(literal, bool | int | float | str):
        return builder.append_untyped(get("py.const"), (), attrs={"value": literal}).result
    if isinstance(av.type, Slice | Tuple) and av.values:
        if isinstance(av.type, Tuple) and av.type.python is not None:
            return param
        items: list[Value] = []
        for index, item in enumerate(items_of(av)):
            inner = builder.append_untyped(get("py.part"), [param], attrs={"index": index}).result
            items.append(_baked(cx, builder, item, inner))
        name = "py.slice" if isinstance(av.type, Slice) else "py.tuple"
        return builder.append_untyped(get(name), items).result
    return param
