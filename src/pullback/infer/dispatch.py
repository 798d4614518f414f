"""Operations on unions: one meaning per alternative, chosen by the tag, merged where the code is the same.

    total: float or np.float64;  total + x  ->  one fadd; only the tag of the result differs
    total / n                    ->  if tag == 0: checked division else: plain division
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from pullback.diagnostic import CompileError
from pullback.infer.engine import Branch, Frame
from pullback.infer.lattice import join
from pullback.infer.values import AV, coerce, members
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import get
from pullback.types import NEVER, Never, Type, Union, slots

__all__ = ["dispatch", "fails"]

Rule = Callable[[Frame, Sequence[AV]], AV]
MOST_COMBINATIONS = 256


def dispatch(cx: Frame, operands: Sequence[AV], rule: Rule) -> AV:
    """Apply `rule` to every combination of alternatives of the operands."""
    if any(isinstance(av.type, Never) for av in operands):
        return cx.stop()
    if not any(isinstance(av.type, Union) for av in operands):
        return rule(cx, operands)
    combinations = list(itertools.product(*map(members, operands)))
    if len(combinations) > MOST_COMBINATIONS:
        raise cx.error("too many combinations of types meet here", f"{len(combinations)} of them")
    made = [_attempt(cx, combination, rule) for combination in combinations]
    if all(isinstance(found, CompileError) for found in made):
        raise made[0]  # type: ignore[misc]
    return _picked(cx, operands, combinations, made)


def _attempt(cx: Frame, combination: Sequence[AV], rule: Rule) -> Branch | CompileError:
    """The code for one alternative of each operand, or why there is none."""
    try:
        return cx.branch(lambda: [rule(cx, combination)])
    except CompileError as error:
        return error


def _picked(
    cx: Frame, operands: Sequence[AV], combinations: Sequence[Sequence[AV]], made: Sequence[Branch | CompileError]
) -> AV:
    """What is made for the alternatives that the operands have at run time: code is made once for each combination."""
    branches = [found if isinstance(found, Branch) else None for found in made]
    merged = _merge(cx, operands, combinations, branches)
    if merged is not None:
        return merged
    position = next(i for i, av in enumerate(operands) if isinstance(av.type, Union))
    width = len(combinations) // len(members(operands[position]))
    groups = [slice(start, start + width) for start in range(0, len(combinations), width)]
    picked = [_group(cx, operands, position, combinations[group], made[group]) for group in groups]
    return _by_tag(cx, operands[position].values[0], picked)


def _group(
    cx: Frame, operands: Sequence[AV], position: int, combinations: Sequence[Sequence[AV]],
    made: Sequence[Branch | CompileError],
) -> Branch:  # fmt: skip
    """The code for one alternative of the operand at `position`, which is the first that has several."""
    first = made[0]
    if all(isinstance(found, CompileError) for found in made):
        assert isinstance(first, CompileError)
        return cx.branch(lambda: [fails(cx, first)])
    if len(made) == 1:
        assert isinstance(first, Branch)
        return first
    narrowed = [*operands[:position], combinations[0][position], *operands[position + 1 :]]
    return cx.branch(lambda: [_picked(cx, narrowed, combinations, made)])


def fails(cx: Frame, error: CompileError) -> AV:
    """As in Python, only the path that meets the unsuitable type fails."""
    exception, message = error.diagnostic.raised or ("TypeError", error.diagnostic.title)
    cx.check(cx.e.boolean(False), exception, message)
    return cx.stop()


def _merge(
    cx: Frame, operands: Sequence[AV], combinations: Sequence[Sequence[AV]], branches: Sequence[Branch | None]
) -> AV | None:
    """One copy of the code when all alternatives have the same; the result's tag is computed from theirs."""
    first = branches[0]
    if first is None or first.dead:
        return None
    for branch in branches:
        if branch is None or branch.dead or isinstance(branch.results[0].type, Union):
            return None
        mapping = _same_code(branch.block, first.block)
        if mapping is None or tuple(mapping.get(v, v) for v in branch.results[0].values) != first.results[0].values:
            return None
    types = [b.results[0].type for b in branches if b is not None]
    joined = types[0]
    for type_ in types[1:]:
        joined = join(joined, type_)
    if isinstance(joined, Union):
        if any(slots(member) != slots(types[0]) for member in joined.members):
            return None
        if any(t not in joined.members for t in types):
            return None
    elif any(t != joined for t in types):
        return None
    cx.e.block.ops += first.block.ops
    result = first.results[0]
    if not isinstance(joined, Union):
        return result
    inside = coerce(cx.e, result, joined)
    tags = [joined.members.index(t) for t in types]
    return AV(joined, (_tag(cx, operands, combinations, tags), *inside.values[1:]))


def _tag(cx: Frame, operands: Sequence[AV], combinations: Sequence[Sequence[AV]], tags: Sequence[int]) -> Value:
    """Select the result's tag by the operands' tags."""
    e = cx.e
    result = e.integer(tags[-1])
    for combination, tag in reversed(list(zip(combinations, tags, strict=True))[:-1]):
        if tag == tags[-1] and len(set(tags)) == 1:
            continue
        condition: Value | None = None
        for av, member in zip(operands, combination, strict=True):
            if isinstance(av.type, Union):
                hit = e("eq", av.values[0], e.integer(av.type.members.index(member.type)))
                condition = hit if condition is None else e("and_", condition, hit)
        assert condition is not None
        result = e("select", condition, e.integer(tag), result)
    return result


def _by_tag(cx: Frame, tag: Value, branches: Sequence[Branch]) -> AV:
    """Nested `if`s, all of the type that holds the results of all branches."""
    joined: Type = NEVER
    for branch in branches:
        joined = join(joined, branch.results[0].type)
    blocks = [cx.close(branch, [joined]) for branch in branches]
    last = blocks[-1]
    for index in reversed(range(len(blocks) - 1)):
        outer = Block()
        with cx.into(outer) as e:
            hit = e("eq", tag, e.integer(index))
            outer.results = e.append(get("if"), [hit], blocks=[blocks[index], last], types=slots(joined)).results
        last = outer
    cx.e.block.ops += last.ops
    cx.dead = cx.dead or all(branch.dead for branch in branches)
    return AV(joined, tuple(last.results))


def _same_code(block: Block, model: Block) -> dict[Value, Value] | None:
    """A renaming of the block's values to the model's if the ops are otherwise equal, else None."""
    mapping: dict[Value, Value] = {}
    return mapping if _same_ops(block.ops, model.ops, mapping) else None


def _same_ops(ops: Sequence[Op], model: Sequence[Op], mapping: dict[Value, Value]) -> bool:
    if len(ops) != len(model):
        return False
    for a, b in zip(ops, model, strict=True):
        if a.prim is not b.prim or a.attrs != b.attrs or len(a.blocks) != len(b.blocks):
            return False
        if [mapping.get(v, v) for v in a.operands] != b.operands or len(a.results) != len(b.results):
            return False
        for x, y in zip(a.blocks, b.blocks, strict=True):
            if len(x.params) != len(y.params):
                return False
            mapping.update(zip(x.params, y.params, strict=True))
            if not _same_ops(x.ops, y.ops, mapping) or [mapping.get(v, v) for v in x.results] != y.results:
                return False
        if [v.type for v in a.results] != [v.type for v in b.results]:
            return False
        mapping.update(zip(a.results, b.results, strict=True))
    return True


