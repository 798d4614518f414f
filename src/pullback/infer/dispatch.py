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

__all__ = ["dispatch"]

Rule = Callable[[Frame, Sequence[AV]], AV]
MOST_COMBINATIONS = 256


def dispatch(cx: Frame, operands: Sequence[AV], rule: Rule) -> AV:
    """Apply `rule` to every combination of alternatives of the operands."""
    if any(isinstance(av.type, Never) for av in operands):
        return cx.stop()
    if not any(isinstance(av.type, Union) for av in operands):
        return rule(cx, operands)
    choices = [members(av) for av in operands]
    combinations = list(itertools.product(*choices))
    if len(combinations) > MOST_COMBINATIONS:
        raise cx.error("too many combinations of types meet here", f"{len(combinations)} of them")
    branches, errors = _try_all(cx, combinations, rule)
    if all(b is None for b in branches):
        raise errors[0]
    merged = _merge(cx, operands, combinations, branches)
    return merged if merged is not None else _chain(cx, operands, choices, rule)


def _try_all(
    cx: Frame, combinations: Sequence[Sequence[AV]], rule: Rule
) -> tuple[list[Branch | None], list[CompileError]]:
    branches: list[Branch | None] = []
    errors: list[CompileError] = []
    for combination in combinations:
        try:
            branches.append(cx.branch(lambda c=combination: [rule(cx, c)]))  # type: ignore[misc]
        except CompileError as error:
            branches.append(None)
            errors.append(error)
    return branches, errors


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


def _chain(cx: Frame, operands: Sequence[AV], choices: Sequence[Sequence[AV]], rule: Rule) -> AV:
    """Nested `if`s over the tag of the first union, then of the next."""
    position = next(i for i, av in enumerate(operands) if isinstance(av.type, Union))
    subject = operands[position]
    assert isinstance(subject.type, Union)

    def one(index: int) -> AV:
        narrowed = [*operands[:position], choices[position][index], *operands[position + 1 :]]
        try:
            return dispatch(cx, narrowed, rule)
        except CompileError as error:
            # As in Python, only the path that meets the unsuitable type fails.
            exception, message = error.diagnostic.raised or ("TypeError", error.diagnostic.title)
            cx.check(cx.e.boolean(False), exception, message)
            return cx.stop()

    branches = [cx.branch(lambda index=index: [one(index)]) for index in range(len(choices[position]))]  # type: ignore[misc]
    return _by_tag(cx, subject.values[0], branches)


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


