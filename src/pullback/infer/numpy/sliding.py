"""Windows that slide over an array: np.lib.stride_tricks.sliding_window_view.

    0 1 2 3 0 1 2 3 0 1 2 3     windows of 2 over n = 4 elements: the array thrice
    0 1 2 3 0                   seen in rows of n + 1 elements
    1 2 3 0 1                   the first 3 columns are the windows

NumPy's view reads each element many times over.  This is a read-only copy, of which no write may tell that it is one
(see `axes.spread`), seen through views that exist for every array: so it has the derivatives that these have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pullback.infer.elementwise import array_sizes, require_room
from pullback.infer.engine import Frame
from pullback.infer.numpy.axes import axes_of, expanded, is_none, moved, of_array, rank_of, several
from pullback.infer.numpy.reductions import flag
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV
from pullback.infer.views import array_of, integer
from pullback.ir.node import Value
from pullback.types import Array, show

__all__: list[str] = []

_NAME = "numpy.lib.stride_tricks.sliding_window_view"


@dataclass(frozen=True, slots=True)
class _Window:
    """Along an axis of n elements: the width of the windows, and how many there are."""

    size: Value
    width: Value
    count: Value


def _windows(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    widths = several(cx, found["window_shape"], "a window")
    rank = rank_of(av)
    axes = list(range(rank)) if is_none(found, "axis") else axes_of(cx, found["axis"], rank)
    if len(widths) != len(axes):
        title = f"{len(widths)} windows for {len(axes)} axes"
        raise cx.error(title, show(found["window_shape"].type), "name the axes: axis=", raised=("ValueError", title))
    if flag(cx, found, "writeable"):
        label = "compiled code copies the windows, which would not reach the array"
        raise cx.error("sliding windows cannot be written to in compiled code", label, "write to the array itself")
    others = [axis for axis in range(rank) if axis not in axes]
    turned = moved(cx, av, [*axes, *others])
    sizes = array_sizes(cx, turned)
    windows = [_window(cx, integer(cx, width), size) for width, size in zip(widths, sizes, strict=False)]
    if not windows:
        return turned
    opened = _opened(cx, _repeated(cx, turned, windows), windows, sizes[len(axes) :])
    places = {**{axis: 2 * k + 1 for k, axis in enumerate(axes)},
              **{axis: 2 * len(axes) + k for k, axis in enumerate(others)}}  # fmt: skip
    found_in = moved(cx, opened, [*(places[axis] for axis in range(rank)), *(2 * k for k in range(len(axes)))])
    rows = axes == [rank - 1] and isinstance(av.type, Array) and av.type.row_major
    assert isinstance(found_in.type, Array)
    return AV(replace(found_in.type, rows=rows, columns=False), found_in.values)  # as results made of NumPy's view lie


def _window(cx: Frame, width: Value, size: Value) -> _Window:
    e, zero = cx.e, cx.e.integer(0)
    cx.check(e("ge", width, zero), "ValueError", "`window_shape` cannot contain negative values")
    cx.check(e("le", width, size), "ValueError", "window shape cannot be larger than input array shape")
    return _Window(size, width, e("add", e("sub", size, width), e.integer(1)))


def _repeated(cx: Frame, av: AV, windows: Sequence[_Window]) -> AV:
    """The array once more than a window has elements, each time before its axis."""
    e, sizes = cx.e, list[Value]()
    for k, window in enumerate(windows):
        av = expanded(cx, av, 2 * k)
        sizes += [e("add", window.width, e.integer(1)), window.size]
    sizes += array_sizes(cx, av)[2 * len(windows) :]
    assert isinstance(av.type, Array)
    require_room(cx, sizes, av.type.dtype)
    attrs: dict[str, object] = {"whole": True, "foreign": False, "readonly": True, "spread": True}
    value = e("reshape", av.value, *sizes, **attrs)
    return array_of(value, replace(av.type, readonly=True, rows=False, columns=False, foreign=False))


def _opened(cx: Frame, av: AV, windows: Sequence[_Window], rest: Sequence[Value]) -> AV:
    """Rows one longer than the array, cut off where no window begins: axes (place in the window, window) for each."""
    e, one = cx.e, cx.e.integer(1)
    assert isinstance(av.type, Array)
    lengths = [e("mul", e("add", window.width, one), window.size) for window in windows]
    value = e("view_reshape", av.value, *lengths, *rest)
    split = list[Value]()
    for axis, window in enumerate(windows):
        longer = e("add", window.size, one)
        used = e("mul", window.width, longer)
        value = e("view_slice", value, e.integer(0), used, one, axis=axis, unit=True)
        split += [window.width, longer]
    fits = {} if len(windows) == 1 else {"given": "fits"}
    value = e("view_reshape", value, *split, *rest, **fits)
    for k, window in enumerate(windows):
        value = e("view_slice", value, e.integer(0), window.count, one, axis=2 * k + 1, unit=True)
    return array_of(value, av.type)


HANDLERS[_NAME] = of_array(_NAME, ("x", "window_shape", "axis", "subok", "writeable"), _windows)
