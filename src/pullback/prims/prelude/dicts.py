"""Dicts that change, in the accepted Python: entries in the order of insertion, and an index to find them by hash.

A dict is a row with the fields entries (a reference to the first of its entries: key, value, alive), used (how many
entries were made), live (how many are left), capacity, places and size (the index, a power of two; 0 while the entries
are so few that they are searched one by one).  A place holds the number of an entry plus 1, or 0.
"""

from __future__ import annotations

from typing import Any

from pullback.prims.prelude.intrinsics import (
    at_end,
    copy_row,
    field,
    hash_in,
    hashable,
    outlined,
    put_field,
    raise_with,
    row,
    rows,
    sized,
    structural,
)

__all__ = ["FUNCTIONS"]

FEW = 8  # entries that are searched one by one


@structural
def find(d: Any, key: Any) -> Any:
    """The number of the entry of a key, or -1."""
    hashable(key)
    entries, size = field(d, "entries"), field(d, "size")
    if size == 0:
        for k in range(field(d, "used")):
            entry = row(entries, k)
            if field(entry, "alive") and field(entry, "key") == key:
                return k
        return -1
    places, mask = field(d, "places"), size - 1
    place = hash_in(d, key) & mask
    while True:
        number = field(row(places, place), "entry") - 1
        if number < 0:
            return -1
        entry = row(entries, number)
        if field(entry, "alive") and field(entry, "key") == key:
            return number
        place = (place + 1) & mask


@outlined
def enter(d: Any, number: int, key: Any) -> None:
    """Let the index lead to an entry."""
    places, mask = field(d, "places"), field(d, "size") - 1
    place = hash_in(d, key) & mask
    while field(row(places, place), "entry") != 0:
        place = (place + 1) & mask
    put_field(row(places, place), "entry", number + 1)


@outlined
def rebuild(d: Any, room: int) -> None:
    """Move the entries that are left to a place with room for more, with a new index."""
    before, used = field(d, "entries"), field(d, "used")
    if field(d, "live") == used and at_end(before, field(d, "capacity")):
        rows(before, room - field(d, "capacity"))
    else:
        after = rows(before, room)
        count = 0
        for k in range(used):
            if field(row(before, k), "alive"):
                copy_row(row(after, count), row(before, k))
                count += 1
        put_field(d, "entries", after)
        put_field(d, "used", count)
    put_field(d, "capacity", room)
    index(d, room)


@outlined
def index(d: Any, room: int) -> None:
    """A new index for as many entries, where they are more than few."""
    if room <= FEW:
        put_field(d, "size", 0)
        return
    size = 16
    while size < 2 * room:
        size = 2 * size
    put_field(d, "places", rows(field(d, "places"), size))
    put_field(d, "size", size)
    for k in range(field(d, "used")):
        enter(d, k, field(row(field(d, "entries"), k), "key"))


@structural
def add(d: Any, key: Any, value: Any) -> None:
    """A new entry, of a key that is not there."""
    used = field(d, "used")
    if used == field(d, "capacity"):
        live = field(d, "live")
        rebuild(d, FEW if live < FEW // 2 else (2 * live if live > FEW // 2 else FEW))
        used = field(d, "used")
    entry = row(field(d, "entries"), used)
    put_field(entry, "key", key)
    put_field(entry, "value", value)
    put_field(entry, "alive", True)
    put_field(d, "used", used + 1)
    put_field(d, "live", field(d, "live") + 1)
    if field(d, "size") != 0:
        enter(d, used, key)


@structural
def compact(d: Any) -> None:
    """No entry that is gone lies between those that are left."""
    if field(d, "live") != field(d, "used"):
        rebuild(d, field(d, "capacity"))


@structural
def drop(d: Any, number: int) -> None:
    put_field(row(field(d, "entries"), number), "alive", False)
    put_field(d, "live", field(d, "live") - 1)
    if field(d, "live") == 0:
        clear(d)


@structural
def clear(d: Any) -> None:
    put_field(d, "used", 0)
    put_field(d, "live", 0)
    put_field(d, "capacity", 0)
    put_field(d, "size", 0)


@structural
def next_alive(d: Any, k: int) -> int:
    """The first entry from k that is left."""
    while k < field(d, "used") and not field(row(field(d, "entries"), k), "alive"):
        k = k + 1
    return k


def set_item(d: Any, key: Any, value: Any) -> None:
    number = find(d, key)
    if number < 0:
        add(d, key, value)
    else:
        put_field(row(field(d, "entries"), number), "value", value)


def found(d: Any, key: Any) -> Any:
    """The entry of a key, which must be there."""
    number = find(d, key)
    raise_with(number >= 0, "KeyError", "{}", key)
    return row(field(d, "entries"), number)


def get_item(d: Any, key: Any) -> Any:
    return field(found(d, key), "value")


def get_missing(d: Any, key: Any) -> Any:
    """defaultdict: what its factory makes takes the place of what is missing."""
    number = find(d, key)
    if number < 0:
        value = field(d, "factory")()
        add(d, key, value)
        return field(row(field(d, "entries"), field(d, "used") - 1), "value")
    return field(row(field(d, "entries"), number), "value")


def get_count(d: Any, key: Any) -> Any:
    """Counter: what is missing counts 0."""
    number = find(d, key)
    return 0 if number < 0 else field(row(field(d, "entries"), number), "value")


def delete(d: Any, key: Any) -> None:
    number = find(d, key)
    raise_with(number >= 0, "KeyError", "{}", key)
    drop(d, number)


def contains(d: Any, key: Any) -> Any:
    return find(d, key) >= 0


def get(d: Any, key: Any, default: Any = None) -> Any:
    number = find(d, key)
    if number < 0:
        return default
    return field(row(field(d, "entries"), number), "value")


def setdefault(d: Any, key: Any, default: Any = None) -> Any:
    number = find(d, key)
    if number < 0:
        add(d, key, default)
        number = field(d, "used") - 1
    return field(row(field(d, "entries"), number), "value")


def pop(d: Any, key: Any) -> Any:
    entry = found(d, key)
    value = field(entry, "value")
    drop(d, find(d, key))
    return value


def pop_or(d: Any, key: Any, default: Any) -> Any:
    number = find(d, key)
    if number < 0:
        return default
    value = field(row(field(d, "entries"), number), "value")
    drop(d, number)
    return value


def popitem(d: Any, last: bool = True) -> Any:
    compact(d)
    number = field(d, "used") - 1 if last else 0
    if field(d, "live") == 0:
        raise KeyError("popitem(): dictionary is empty")
    entry = row(field(d, "entries"), number)
    key, value = field(entry, "key"), field(entry, "value")
    drop(d, number)
    return key, value


def move_to_end(d: Any, key: Any, last: bool = True) -> None:
    entry = found(d, key)
    value = field(entry, "value")
    drop(d, find(d, key))
    if last:
        add(d, key, value)
    else:
        items = list(d.items())
        clear(d)
        add(d, key, value)
        for other, held in items:
            add(d, other, held)


def update(d: Any, other: Any) -> None:
    """Entries of a dict, or pairs of key and value."""
    for key in other:
        set_item(d, key, other[key])


def update_pairs(d: Any, pairs: Any) -> None:
    for key, value in pairs:
        set_item(d, key, value)


def from_keys(d: Any, keys: Any, value: Any) -> None:
    for key in keys:
        set_item(d, key, value)


def count_all(d: Any, iterable: Any) -> None:
    """Counter.update of things to count."""
    for key in iterable:
        set_item(d, key, get_count(d, key) + 1)


def add_counts(d: Any, other: Any) -> None:
    for key in other:
        set_item(d, key, get_count(d, key) + other[key])


def most_common(d: Any, n: Any = None) -> Any:
    pairs = sorted(d.items(), key=_count_of, reverse=True)
    return pairs if n is None else pairs[:n]


def _count_of(pair: Any) -> Any:
    return pair[1]


def total(d: Any) -> Any:
    return sum(d.values())


def elements(d: Any) -> Any:
    fresh = sized(0)
    for key in d:
        for _ in range(d[key]):
            fresh.append(key)
    return fresh


def equal(d: Any, other: Any) -> bool:
    if len(d) != len(other):
        return False
    for key in d:
        if key not in other or d[key] != other[key]:
            return False
    return True


FUNCTIONS: dict[str, Any] = {
    f"pullback.dict_{function.__name__}": function
    for function in (
        find, add, index, compact, clear, next_alive, set_item, get_item, get_missing, get_count, delete, contains, get,
        setdefault, pop, pop_or, popitem, move_to_end, update, update_pairs, from_keys, count_all, add_counts,
        most_common, total, elements, equal,
    )
}  # fmt: skip
