"""Backpropagators of operations, chosen by the types that they meet.

    v, b = with_back(*)(x, y)          floats:    the primitives that the product is made of, each with its partials
    v, b = with_back(@)(a, c)          arrays:    the operation as a whole, by its own adjoint
    v, b = with_back(call)(f, x)       functions: f's version with a backpropagator
    v, b = with_back(<)(x, y)          no sensitivity: the operation itself

Each is a function of untyped IR made once per operation and types; J of it, and J of that, gives any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.adapted import adapted
from pullback.infer.binding import bind, pack_tuple
from pullback.infer.called import with_calls
from pullback.infer.calls import call, call_bound, widened
from pullback.infer.changes import is_found, refuse_aliases, refuse_stores, writes_to_given
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Branch, Code, Frame
from pullback.infer.heaps import heap_of
from pullback.infer.lattice import family_of
from pullback.infer.lifted import Lifted
from pullback.infer.made import back_function, function
from pullback.infer.module_variables import note_globals
from pullback.infer.nested_tuples import note_rows
from pullback.infer.pushes import collecting, delegating, reject_pushed
from pullback.infer.registry import HANDLERS, prelude, row_of
from pullback.infer.resumed import entered
from pullback.infer.sensitivities import sensitive, unboxed
from pullback.infer.shadowed import holds_shadowed, stripped, tracks
from pullback.infer.sites import ShadowsWanted
from pullback.infer.starred import spread
from pullback.infer.stars import of_all
from pullback.infer.statements import statement_code
from pullback.infer.stored import cells_of, keeps_floats
from pullback.infer.values import AV, items_of
from pullback.infer.wholes import as_whole, key_of, with_shadows
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import get
from pullback.prims.prelude import FUNCTIONS
from pullback.types import (
    BoxedFunction,
    Builtin,
    Closure,
    Dict,
    Iterator,
    List,
    Never,
    Ref,
    Type,
    Union,
)  # fmt: skip

__all__ = ["TARGETS", "apply_with_back", "derived", "with_back"]

# What stands for calls of functions of derivative types, and of builtins by name: a code and its operands.
Target = Callable[[Frame, AV, Sequence[AV], tuple[str, ...]], tuple[Code, list[AV]] | None]
TARGETS: dict[type[Type] | str, Target] = {}
_HELP = "differentiate it in the default formulation"
_DISPLAYS = frozenset({"py.list", "py.dict", "py.dict_of", "py.set", "py.tuple"})


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
    if operation == "py.statement":
        return _statement(cx, attributes, operands, order)
    if operation == "py.entered" and entered(cx, _op_of(cx, operation, attributes, 1, 1), operands) is operands[0]:
        return apply_with_back(cx, _same(cx), operands, order)
    if operation == "py.stepped":
        return _stepped(cx, attributes, operands[0], order)
    if operation == "py.delegate":
        return _delegated(cx, operands, order)
    if operation == "py.push":
        target, *arguments = operands
        assert isinstance(target.type, Closure) and isinstance(target.type.code, Code)
        code = derived(cx, target.type.code, order)
        return _called(cx, AV(replace(target.type, code=code), target.values), arguments, order)
    if operation == "py.call_star":
        return _starred(cx, attributes, operands, order)
    if operation == "py.call":
        found = _call(cx, attributes, operands, order)
        if found is not None:
            return found
    if operation in _DISPLAYS and operands and "growing" not in attributes:
        found = _display(cx, operation, attributes, operands, order)
        if found is not None:
            return found
    if not any(sensitive(av.type) or holds_shadowed(av.type) for av in operands):
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


def _called(cx: Frame, function: AV, operands: Sequence[AV], order: int) -> list[AV]:
    whole = call_bound(cx, function, operands)
    if cx.dead:
        return []
    backs: list[AV] = []
    for _ in range(order):
        whole, back = items_of(whole)
        backs.insert(0, back)
    return [whole, *backs]


def _statement(cx: Frame, attributes: Mapping[str, object], operands: Sequence[AV], order: int) -> list[AV]:
    """A statement as a whole."""
    op = attributes["statement"]
    assert isinstance(op, Op)
    code = statement_code(cx, op, operands, order)
    if isinstance(code, Branch):
        nothing = AV(Closure(_nothing(cx, len(operands)), (), "back"))
        results = _spliced(cx, code)
        return [] if cx.dead else [*results, *[nothing] * order]
    found = apply_with_back(cx, code, operands, order)
    count = len(op.results)
    return [*items_of(found[0]), *found[1:]] if count != 1 and found else found


def _stepped(cx: Frame, attributes: Mapping[str, object], subject: AV, order: int) -> list[AV]:
    """What a loop steps through."""
    loop = attributes["loop"]
    assert isinstance(loop, Op)
    code = collecting(cx, subject, loop)
    if code is None and isinstance(subject.type, Ref | Iterator):
        reject_pushed(cx, subject)
    known = sensitive(subject.type) or holds_shadowed(subject.type)
    if code is None and not known:  # to begin may move what is stored
        return _unless_stored(cx, "py.stepped", {}, [subject], order, 1)
    return apply_with_back(cx, _same(cx) if code is None else code, [subject], order)


def _delegated(cx: Frame, operands: Sequence[AV], order: int) -> list[AV]:
    """What steps through something hands its elements to a consumer."""
    subject, consumer, state = operands
    if isinstance(subject.type, Union):
        whole = dispatch(cx, [subject], lambda cx, one: pack_tuple(_delegated(cx, [*one, consumer, state], order)))
        return [] if cx.dead else items_of(whole)
    return apply_with_back(cx, delegating(cx, subject), operands, order)


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
            source = with_calls(session, code.untyped)
            note_rows(session, source)
            note_globals(session, code, source)
            made = session.backward.transform(source)
            found = replace(code, untyped=made, primal=code.primal or code, level=code.level + 1)
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


def _starred(cx: Frame, attributes: Mapping[str, object], operands: Sequence[AV], order: int) -> list[AV]:
    """A call with * or **."""
    callee, *values = operands
    kinds = attributes["kinds"]
    assert isinstance(kinds, tuple)
    for place, kind in enumerate(("callee", *kinds)):
        if kind in ("callee", "*", "**") and isinstance(operands[place].type, Union):

            def rule(cx: Frame, one: Sequence[AV], place: int = place) -> AV:
                chosen = [*operands[:place], *one, *operands[place + 1 :]]
                return pack_tuple(_starred(cx, attributes, chosen, order))

            whole = dispatch(cx, [operands[place]], rule)
            return [] if cx.dead else items_of(whole)
    whole_list = of_all(callee.type, kinds, values)
    if whole_list is not None:
        return with_back(cx, "py.call", {"keywords": ()}, [prelude(cx, whole_list), *values], order, 1)
    return apply_with_back(cx, spread(cx, callee, kinds, values), operands, order)


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
) -> list[AV] | None:
    """A call of a Python function: of J of it, if each parameter is given by one operand in turn.

    None of one with a derivative rule of its own.
    """
    assert isinstance(callee.type, Closure) and isinstance(callee.type.code, Code)
    code = callee.type.code
    if code.stated is not None:
        return None  # an operation as a whole, whose adjoint is its own rule
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
    return apply_with_back(cx, adapted(cx, callee.type, len(arguments), names), [*items_of(callee), *arguments], order)


def _kept(cx: Frame, callee: AV, arguments: Sequence[AV], names: tuple[str, ...], order: int) -> list[AV]:
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
    if any(holds_shadowed(av.type) for av in branch.results):  # from outside
        return [*_spliced(cx, branch), *[AV(Closure(_nothing(cx, len(operands)), (), "back"))] * order]
    fresh = cx.session.shadowed and any(tracks(av.type) for av in branch.results) and not is_found(branch)
    if not branch.dead and (fresh or keeps_floats(cx, branch)):
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
    below = [stripped(av, order) for av in operands]  # heaps learn of arrays without their shadows
    branch = cx.branch(lambda: _perform(cx, operation, attributes, below, 1) or [AV(Never())])
    if branch.dead or not isinstance(branch.results[0].type, List | Dict):
        return None
    if any(holds_shadowed(av.type) for av in operands):
        branch = cx.branch(lambda: _perform(cx, operation, attributes, operands, 1))
    (made,) = branch.results
    assert isinstance(made.type, List | Dict)
    places: list[int | None] = list(range(len(operands)))
    if isinstance(made.type, Dict):
        keys = attributes.get("keys")
        named = list(keys) if isinstance(keys, tuple) else [av.type.value for av in operands[::2]]  # type: ignore[union-attr]
        last = {name: number for number, name in enumerate(named)}  # a repeated key keeps its last value
        shown = [made.type.keys.index(name) if last[name] == i else None for i, name in enumerate(named)]
        places = shown if isinstance(keys, tuple) else [place for one in shown for place in (None, one)]
    _spliced(cx, branch)
    return _as_made(cx, made, operands, tuple(places), order)


def _as_made(cx: Frame, made: AV, operands: Sequence[AV], places: tuple[int | None, ...], order: int) -> list[AV]:
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
    operands = [widened(cx, av) for av in operands]  # as they are passed to the function that is made here
    below = [stripped(av, order) for av in operands]
    params = [_fresh(cx, av) for av in below]
    branch = cx.branch(lambda: _perform(cx, operation, attributes, params, count) or [AV(Never())] * count)
    if branch.dead:
        return _directly(cx, operation, attributes, below, order, count)
    stored = keeps_floats(cx, branch)
    writes = writes_to_given(cx, branch, params)
    if writes and not cx.session.overwrites:
        raise ShadowsWanted(overwrites=True)
    if not (stored or writes) and not any(sensitive(av.type) for av in branch.results):
        return _directly(cx, operation, attributes, below, order, count)
    place = cx.span if any(op.name in ("check", "call") for op in branch.block.walk()) else None
    key = ("operation", cx.session.shadowed, place, cells_of(branch), *key_of(cx, operation, attributes, below))
    code = cx.session.codes.get(key)
    if code is None:
        lifted = Lifted(cx, operation, params, branch).function()
        if lifted is not None:
            code = cx.session.codes[key] = Code(lifted, {})
        else:
            refuse_stores(cx, branch, params)
            code = as_whole(cx, operation, attributes, below, count)
            if cx.session.shadowed:
                refuse_aliases(cx, branch, params, writes=writes)
                code = with_shadows(cx, code, len(below))
            cx.session.codes[key] = code
    found = apply_with_back(cx, code, operands, order)
    return [*items_of(found[0]), *found[1:]] if count != 1 and found else found


def _fresh(cx: Frame, av: AV) -> AV:
    """A parameter of the same type that is written as the same literals, or known to be the same numbers."""
    fresh = cx.fresh(av.type)
    for old, new in zip(av.values, fresh.values, strict=True):
        cx.definitions.alias(new, old)
        if old in cx.literals:
            cx.literals[new] = cx.literals[old]
    return AV(av.type, fresh.values, av.literal)
