"""map, filter, itertools and functools, in the accepted Python: lazy where CPython's are, by generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["FUNCTIONS"]


def map_(function: Callable[..., Any], iterable: Any) -> Iterator[Any]:
    for item in iterable:
        yield function(item)


def starmap(function: Callable[..., Any], iterable: Any) -> Iterator[Any]:
    for items in iterable:
        yield function(*items)


def filter_(function: Callable[[Any], Any], iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if function(item):
            yield item


def filter_true(iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if item:
            yield item


def filterfalse(function: Callable[[Any], Any], iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if not function(item):
            yield item


def filter_not(iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if not item:
            yield item


def takewhile(predicate: Callable[[Any], Any], iterable: Any) -> Iterator[Any]:
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate: Callable[[Any], Any], iterable: Any) -> Iterator[Any]:
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


def compress(data: Any, selectors: Any) -> Iterator[Any]:
    for item, selected in zip(data, selectors, strict=False):
        if selected:
            yield item


def chain_one(iterable: Any) -> Iterator[Any]:
    for item in iterable:  # noqa: UP028
        yield item


def chain_more(first: Any, second: Any) -> Iterator[Any]:
    for item in first:  # noqa: UP028
        yield item
    for item in second:  # noqa: UP028
        yield item


def chain_from(iterables: Any) -> Iterator[Any]:
    for iterable in iterables:
        for item in iterable:  # noqa: UP028
            yield item


def accumulated(values: Any, function: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """accumulate of what has a length and indices."""
    if len(values) > 0:
        total = values[0]
        yield total
        for k in range(1, len(values)):
            total = function(total, values[k])
            yield total


def summed(values: Any) -> Iterator[Any]:
    if len(values) > 0:
        total = values[0]
        yield total
        for k in range(1, len(values)):
            total = total + values[k]
            yield total


def accumulated_from(iterable: Any, function: Callable[[Any, Any], Any], initial: Any) -> Iterator[Any]:
    total = initial
    yield total
    for item in iterable:
        total = function(total, item)
        yield total


def summed_from(iterable: Any, initial: Any) -> Iterator[Any]:
    total = initial
    yield total
    for item in iterable:
        total = total + item
        yield total


def accumulated_as_given(iterable: Any, function: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """accumulate of a generator, which is stepped through as the results are."""
    first = True
    total = None
    for item in iterable:
        total = item if first else function(total, item)
        first = False
        yield total


def summed_as_given(iterable: Any) -> Iterator[Any]:
    first = True
    total = None
    for item in iterable:
        total = item if first else total + item
        first = False
        yield total


def transposed(rows: Any) -> Iterator[Any]:
    """zip(*rows)."""
    shortest = min([len(row) for row in rows], default=0)
    for k in range(shortest):
        yield tuple([row[k] for row in rows])


def islice(iterable: Any, start: int, stop: Any, step: int) -> Iterator[Any]:
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if stop is not None and stop <= start:
        return
    k = 0
    wanted = start
    for item in iterable:
        if k == wanted:
            yield item
            wanted += step
            if stop is not None and wanted >= stop:
                return
        k += 1


def pairwise(values: Any) -> Iterator[Any]:
    for k in range(len(values) - 1):
        yield values[k], values[k + 1]


def cycle(values: Any) -> Iterator[Any]:
    while len(values) > 0:
        for item in values:  # noqa: UP028
            yield item


def pairwise_as_given(iterable: Any) -> Iterator[Any]:
    """pairwise of a generator."""
    first = True
    before = None
    for item in iterable:
        if not first:
            yield before, item
        first = False
        before = item


def cycled_as_given(iterable: Any) -> Iterator[Any]:
    """cycle of a generator: it is stepped through once."""
    values = []
    for item in iterable:
        values.append(item)
        yield item
    while len(values) > 0:
        for item in values:  # noqa: UP028
            yield item


def rows_of(pool: Any) -> Iterator[Any]:
    for item in pool:
        yield (item,)


def product_more(rows: Any, pool: Any) -> Iterator[Any]:
    for row in rows:
        for item in pool:
            yield (*row, item)


def places_first(n: int) -> Iterator[Any]:
    for k in range(n):
        yield (k,)


def combinations_more(rows: Any, n: int) -> Iterator[Any]:
    for row in rows:
        for k in range(row[-1] + 1, n):
            yield (*row, k)


def repeated_more(rows: Any, n: int) -> Iterator[Any]:
    """Combinations with replacement."""
    for row in rows:
        for k in range(row[-1], n):
            yield (*row, k)


def permutations_more(rows: Any, n: int) -> Iterator[Any]:
    for row in rows:
        for k in range(n):
            if k not in row:
                yield (*row, k)


def chosen(pool: Any, rows: Any) -> Iterator[Any]:
    """The items of a pool at the places of each row."""
    for row in rows:
        yield tuple([pool[k] for k in row])


def combinations_of(pool: Any, r: int) -> Iterator[Any]:
    """Combinations of run-time size: the last place that can grow does, and those after it follow."""
    n = len(pool)
    if r <= n:
        places = list(range(r))
        yield tuple([pool[k] for k in places])
        k = r - 1
        while k >= 0:
            if places[k] == n - r + k:
                k -= 1
            else:
                places[k] += 1
                for j in range(k + 1, r):
                    places[j] = places[j - 1] + 1
                yield tuple([pool[k] for k in places])
                k = r - 1


def repeated_of(pool: Any, r: int) -> Iterator[Any]:
    """Combinations with replacement, of run-time size."""
    n = len(pool)
    if n > 0 or r == 0:
        places = [0] * r
        yield tuple([pool[k] for k in places])
        k = r - 1
        while k >= 0:
            if places[k] == n - 1:
                k -= 1
            else:
                more = places[k] + 1
                for j in range(k, r):
                    places[j] = more
                yield tuple([pool[k] for k in places])
                k = r - 1


def permutations_of(pool: Any, r: int) -> Iterator[Any]:
    """Permutations of run-time size: at each place, `left` tells how many of those after it are still to come there."""
    n = len(pool)
    if r <= n:
        places = list(range(n))
        left = list(range(n, n - r, -1))
        yield tuple([pool[k] for k in places[:r]])
        k = r - 1
        while k >= 0:
            left[k] -= 1
            if left[k] == 0:
                places.append(places.pop(k))
                left[k] = n - k
                k -= 1
            else:
                j = n - left[k]
                places[k], places[j] = places[j], places[k]
                yield tuple([pool[k] for k in places[:r]])
                k = r - 1


def grouped(values: Any, key: Callable[[Any], Any]) -> Iterator[Any]:
    k = 0
    while k < len(values):
        held = key(values[k])
        group = [values[k]]
        k += 1
        while k < len(values) and key(values[k]) == held:
            group.append(values[k])
            k += 1
        yield held, group


def grouped_alike(values: Any) -> Iterator[Any]:
    k = 0
    while k < len(values):
        held = values[k]
        group = [held]
        k += 1
        while k < len(values) and values[k] == held:
            group.append(values[k])
            k += 1
        yield held, group


def reduce(function: Callable[[Any, Any], Any], values: Any) -> Any:
    if len(values) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    result = values[0]
    for k in range(1, len(values)):
        result = function(result, values[k])
    return result


def reduce_from(function: Callable[[Any, Any], Any], iterable: Any, initial: Any) -> Any:
    result = initial
    for item in iterable:
        result = function(result, item)
    return result


def largest_by(values: Any, key: Callable[[Any], Any]) -> Any:
    """max of a list that is not empty, by a key."""
    best = values[0]
    most = key(best)
    for k in range(1, len(values)):
        measure = key(values[k])
        if measure > most:
            best, most = values[k], measure
    return best


def smallest_by(values: Any, key: Callable[[Any], Any]) -> Any:
    """min of a list that is not empty, by a key."""
    best = values[0]
    least = key(best)
    for k in range(1, len(values)):
        measure = key(values[k])
        if measure < least:
            best, least = values[k], measure
    return best


def largest(values: Any) -> Any:
    """max of a list that is not empty."""
    best = values[0]
    for k in range(1, len(values)):
        if values[k] > best:
            best = values[k]
    return best


def smallest(values: Any) -> Any:
    """min of a list that is not empty."""
    best = values[0]
    for k in range(1, len(values)):
        if values[k] < best:
            best = values[k]
    return best


FUNCTIONS: dict[str, Any] = {
    f"pullback.iter_{function.__name__.rstrip('_')}": function
    for function in (
        map_, starmap, filter_, filter_true, filterfalse, filter_not, takewhile, dropwhile, compress, chain_one,
        chain_more, chain_from, accumulated, summed, accumulated_from, summed_from, islice, pairwise, cycle,
        accumulated_as_given, summed_as_given, pairwise_as_given, cycled_as_given,
        rows_of, product_more, places_first, combinations_more, repeated_more, permutations_more, chosen,
        combinations_of, repeated_of, permutations_of, grouped,
        grouped_alike, transposed, reduce, reduce_from, largest_by, smallest_by, largest, smallest,
    )
}  # fmt: skip
