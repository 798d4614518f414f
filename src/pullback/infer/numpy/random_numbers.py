"""numpy.random.default_rng: a generator in compiled code, an object of the prelude's class.

rng = np.random.default_rng(seed)     the seed is an int or a sequence of ints; without one it is refused
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.engine import Frame
from pullback.infer.numbers import as_number
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV
from pullback.types import DType, NoneType, Number

__all__: list[str] = []


def _default_rng(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = dict(zip(("seed",), arguments, strict=False)) | dict(keywords)
    seed = found.get("seed")
    if seed is None or isinstance(seed.type, NoneType):
        raise cx.error("default_rng() without a seed gives other numbers at every call", "a seed is needed here",
                       "write np.random.default_rng(seed) with an int, or pass the seed as an argument")  # fmt: skip
    if isinstance(seed.type, Number) and seed.type.dtype.is_float:
        title = "SeedSequence expects int or sequence of ints for entropy"
        raise cx.error(title, "this is a float", "write int(seed)", raised=("TypeError", title))
    return call(cx, prelude(cx, "pullback.generator_of"), arguments, keywords)


def _high_product(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    x, y = (as_number(cx, av) for av in arguments)
    return AV(Number(DType.U64, weak=False), (cx.e("high_product", x.value, y.value),))


def _no_generator(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    raise cx.error("np.random.Generator cannot be called in compiled code", "it is only known as a class",
                   "write np.random.default_rng(seed)")  # fmt: skip


HANDLERS.update({
    "numpy.random.Generator": _no_generator, "numpy.random.default_rng": _default_rng,
    "pullback.high_product": _high_product,
})  # fmt: skip
