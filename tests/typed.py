"""A small language for tests that build typed IR by hand.

    code = Code("f", F64, I64)                     parameters x, n
    x, n = code.params
    (r,) = code.for_(n, [x], lambda k, r: [r * x + code.sin(r)])
    function = code.done(r)
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Value
from pullback.prims import Emitter, get
from pullback.prims.array import elementwise_types
from pullback.types import BOOL, F64, I64, Scalar


class V:
    """A value with operators."""

    def __init__(self, code, value):
        self.code, self.value = code, value

    def _binary(self, name, other):
        return V(self.code, self.code.e(name, self.value, self.code.value(other, self.value.type)))

    def __add__(self, other): return self._binary("add", other)
    def __sub__(self, other): return self._binary("sub", other)
    def __mul__(self, other): return self._binary("mul", other)
    def __truediv__(self, other): return self._binary("div", other)
    def __mod__(self, other): return self._binary("mod", other)
    def __radd__(self, other): return self.code.lift(other, self) + self
    def __rsub__(self, other): return self.code.lift(other, self) - self
    def __rmul__(self, other): return self.code.lift(other, self) * self
    def __rtruediv__(self, other): return self.code.lift(other, self) / self
    def __neg__(self): return V(self.code, self.code.e("neg", self.value))
    def __lt__(self, other): return self._binary("lt", other)
    def __gt__(self, other): return self._binary("gt", other)
    def __ge__(self, other): return self._binary("ge", other)
    def __and__(self, other): return self._binary("and_", other)
    def __pow__(self, n): return V(self.code, self.code.e("powi", self.value, n=n))

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        return V(self.code, self.code.e("array_get", self.value, *(self.code.value(i, I64) for i in index)))


class Code:
    """Builds one function."""

    def __init__(self, name, *types):
        self.name, self.body = name, Block([Value(t) for t in types])
        self.e = Emitter(self.body)
        self.params = [V(self, v) for v in self.body.params]

    def value(self, x, type_=F64):
        return x.value if isinstance(x, V) else x if isinstance(x, Value) else self.e.constant(x, type_)

    def lift(self, x, like):
        return V(self, self.value(x, like.value.type))

    def const(self, x, type_=F64):
        return V(self, self.value(x, type_))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *operands, **attrs: self.op(name, *operands, **attrs)[0]

    def op(self, prim, /, *operands, **attrs):
        values = [self.value(v, I64 if isinstance(v, int) else F64) for v in operands]
        made = self.e.append(get(prim), values, attrs=attrs)
        return [V(self, v) for v in made.results] or [None]

    def inside(self, types, body):
        """A block whose results `body(parameters)` gives."""
        block, outer = Block([Value(t) for t in types]), self.e
        self.e = Emitter(block)
        block.results = [self.value(v) for v in body(*(V(self, v) for v in block.params))]
        self.e = outer
        return block

    def if_(self, condition, yes, no):
        blocks = [self.inside([], yes), self.inside([], no)]
        return self.structured("if", [condition.value], blocks, [v.type for v in blocks[0].results])

    def for_(self, n, inits, body):
        values = [self.value(v) for v in inits]
        types = [v.type for v in values]
        return self.structured("for", [self.value(n, I64), *values], [self.inside([I64, *types], body)], types)

    def while_(self, inits, cond, body):
        values = [self.value(v) for v in inits]
        types = [v.type for v in values]
        blocks = [self.inside(types, lambda *c: [cond(*c)]), self.inside(types, body)]
        return self.structured("while", values, blocks, types)

    def structured(self, name, operands, blocks, types, **attrs):
        return [V(self, v) for v in self.e.append(get(name), operands, blocks=blocks, types=types, attrs=attrs).results]

    def call(self, callee, arguments, types):
        return self.structured("call", [self.value(v) for v in arguments], [], types, callee=callee)

    def request(self, kind, callee, arguments, types, **attrs):
        return self.structured(kind, [self.value(v) for v in arguments], [], types, callee=callee, **attrs)

    def map(self, sizes, inputs, outputs, body, targets=()):
        operands = [self.value(v) for v in inputs]
        block = self.inside([Scalar(v.type.dtype) for v in operands], body)
        types = elementwise_types(len(sizes), outputs, [v.type for v in block.results])
        attrs = {"rank": len(sizes), "outputs": tuple(outputs), "targets": len(targets)}
        all_ = [*(self.value(s, I64) for s in sizes), *operands, *(self.value(t) for t in targets)]
        return self.structured("elementwise", all_, [block], types, **attrs)

    def done(self, *results):
        self.body.results = [self.value(v) for v in results]
        return Function(self.name, self.body)


__all__ = ["BOOL", "F64", "I64", "Code", "V"]
