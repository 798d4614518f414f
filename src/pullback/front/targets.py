"""Targets: what assignments, `del` and augmented assignments write to.

    a, (x.b, *c) = v       a, v1 = py.unpack v; v2, c = py.unpack_star v1; py.setattr{b} x, v2
    x[i] += v              x and i once, then the old item, then v
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pullback.front.expressions import OPERATORS
from pullback.front.functions import Functions
from pullback.front.state import Binding
from pullback.ir.node import Value

__all__ = ["Targets"]


class Targets(Functions):
    """The part of the walk that binds and unbinds."""

    def assign(self, s: ast.Assign) -> None:
        """Left to right; a literal tuple on the right needs no tuple: `a, b = b, a` binds values."""
        (target, *more) = s.targets
        if not more and isinstance(target, ast.Tuple | ast.List) and _matches(target, s.value):
            assert isinstance(s.value, ast.Tuple | ast.List)
            return self.store_items(target.elts, self.items(target, s.value))
        value = self.expression(s.value)
        for target in s.targets:
            self.store(target, value)
        return None

    def items(self, target: ast.Tuple | ast.List, value: ast.Tuple | ast.List) -> list[Value | list[object]]:
        """The values for nested targets, evaluated in order."""
        found: list[Value | list[object]] = []
        for part, item in zip(target.elts, value.elts, strict=True):
            if isinstance(part, ast.Tuple | ast.List) and _matches(part, item):
                assert isinstance(item, ast.Tuple | ast.List)
                found.append(list(self.items(part, item)))
            else:
                found.append(self.expression(item))
        return found

    def store_items(self, targets: Sequence[ast.expr], items: Sequence[object]) -> None:
        for target, item in zip(targets, items, strict=True):
            if isinstance(item, list):
                assert isinstance(target, ast.Tuple | ast.List)
                self.store_items(target.elts, item)
            else:
                assert isinstance(item, Value)
                self.store(target, item)

    def annotate(self, s: ast.AnnAssign) -> None:
        """`x: int = 1`; without a value only the parts of the target are evaluated."""
        if s.value is not None:
            self.store(s.target, self.expression(s.value))
        elif isinstance(s.target, ast.Attribute):
            self.expression(s.target.value)
        elif isinstance(s.target, ast.Subscript):
            self.expression(s.target.value)
            self.expression(s.target.slice)

    def store(self, target: ast.expr, value: Value) -> None:
        """Bind a target: a name, an attribute, an item, or a sequence of targets."""
        match target:
            case ast.Name():
                self.assign_name(target, value)
            case ast.Tuple() | ast.List():
                for part, item in zip(target.elts, self.unpacked(target, value), strict=True):
                    self.store(part.value if isinstance(part, ast.Starred) else part, item)
            case ast.Subscript():
                subject = self.expression(target.value)
                index = self.expression(target.slice)
                self.op(target, "py.setitem", subject, index, value, results=0)
            case ast.Attribute():
                subject = self.expression(target.value)
                self.op(target, "py.setattr", subject, value, results=0).attrs["name"] = self.private(target)
            case _:
                self.unsupported(target)

    def unpacked(self, target: ast.Tuple | ast.List, value: Value) -> Sequence[Value]:
        """One value for each part of the target; a starred part takes a list of what the others leave."""
        count = len(target.elts)
        star = next((i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
        if star is None:
            op = self.op(target, "py.unpack", value, results=count)
            op.attrs["count"] = count
        else:
            op = self.op(target, "py.unpack_star", value, results=count)
            op.attrs.update(before=star, after=count - star - 1)
        return op.results

    def delete(self, target: ast.expr) -> None:
        """`del` of a name, which must be set, of an item or of an attribute."""
        match target:
            case ast.Name():
                self.read(target)
                self.assign_name(target, self.make(target, "py.unbound", name=target.id))
                if self.scope.declared.get(target.id) == "global":
                    return
                if not self.cells.keys() & {target.id}:
                    self.state.names[target.id] = Binding(self.state.names[target.id].value, maybe=True)
            case ast.Tuple() | ast.List():
                for part in target.elts:
                    self.delete(part)
            case ast.Subscript():
                subject = self.expression(target.value)
                self.op(target, "py.delitem", subject, self.expression(target.slice), results=0)
            case ast.Attribute():
                subject = self.expression(target.value)
                self.op(target, "py.delattr", subject, results=0).attrs["name"] = self.private(target)
            case _:
                self.unsupported(target)

    def assign_name(self, target: ast.Name, value: Value) -> None:
        kind = self.scope.declared.get(target.id)
        self.at(target)
        if kind == "global":
            self.set_global(target.id, value)
            return
        if kind is not None and target.id not in self.cells:
            self.refuse(
                target, f"the nonlocal name '{target.id}' is assigned",
                "a variable of the function around can be read here but not changed",
                "return the new value and let the caller store it",
            )  # fmt: skip
        self.bind(target.id, value)

    def set_global(self, name: str, value: Value) -> None:
        self.op(None, "py.global_set", value, results=0).attrs["name"] = self.unit.found.mangled(name)

    def augment_item(self, s: ast.AugAssign, target: ast.Subscript) -> None:
        """x[i] += v: x and i once, then the old item, then v."""
        subject = self.expression(target.value)
        index = self.expression(target.slice)
        old = self.make(target, "py.subscript", subject, index)
        value = self.expression(s.value)
        self.op(s, "py.inplace_item", subject, index, old, value, results=0).attrs["operator"] = OPERATORS[type(s.op)]

    def augment_attribute(self, s: ast.AugAssign, target: ast.Attribute) -> None:
        """x.a += v: x once, then the old value, then v."""
        subject = self.expression(target.value)
        name = self.private(target)
        old = self.make(target, "py.attribute", subject, name=name)
        new = self.make(s, "py.inplace", old, self.expression(s.value), operator=OPERATORS[type(s.op)])
        self.op(s, "py.setattr", subject, new, results=0).attrs["name"] = name

    def augment(self, s: ast.AugAssign) -> None:
        if isinstance(s.target, ast.Subscript):
            return self.augment_item(s, s.target)
        if isinstance(s.target, ast.Attribute):
            return self.augment_attribute(s, s.target)
        old = self.read(s.target)
        value = self.expression(s.value)
        self.assign_name(s.target, self.make(s, "py.inplace", old, value, operator=OPERATORS[type(s.op)]))
        return None


def _matches(target: ast.expr, value: ast.expr) -> bool:
    """Whether a tuple of targets meets a literal tuple of as many values, none of either starred."""
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return False
    starred = any(isinstance(part, ast.Starred) for part in [*target.elts, *value.elts])
    return len(target.elts) == len(value.elts) and not starred
