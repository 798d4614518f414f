"""Sets, in the accepted Python: a table probed as CPython probes its own, so that sets of ints have its order.

A set is a row with the fields table (a reference to the first of its slots: key, hash, state), mask (the number of
slots minus 1), fill (slots that are or were taken), used (how many keys there are) and finger (where pop looks next).
"""

from __future__ import annotations

from typing import Any

from pullback.prims.prelude.intrinsics import (
    field,
    hash_of,
    new_set,
    outlined,
    put_field,
    raise_with,
    row,
    rows,
    structural,
)

__all__ = ["FUNCTIONS"]

EMPTY, TAKEN, GONE = 0, 1, 2
PROBES = 9  # slots looked at one after the other before the next jump
P1, P2, P5 = 11400714785074694791 - 2**64, 14029467366897019727 - 2**64, 2870177450012600261  # xxHash's
UPPER = 0x07FFFFFFFFFFFFFF  # what a shift by 5 leaves of the bits of a hash


@outlined
def find(s: Any, key: Any) -> Any:
    """The slot of a key, or -1."""
    hash_ = hash_of(key)
    table, mask = field(s, "table"), field(s, "mask")
    place, rest = hash_ & mask, hash_
    while True:
        last = place + PROBES if place + PROBES <= mask else place
        for k in range(last - place + 1):
            slot = row(table, place + k)
            state = field(slot, "state")
            if state == EMPTY:
                return -1
            if state == TAKEN and field(slot, "hash") == hash_ and field(slot, "key") == key:
                return place + k
        rest = (rest >> 5) & UPPER
        place = (place * 5 + 1 + rest) & mask


@outlined
def free_slot(table: Any, mask: int, hash_: int) -> Any:
    """Where a key that is not there goes."""
    place, rest = hash_ & mask, hash_
    while True:
        last = place + PROBES if place + PROBES <= mask else place
        for k in range(last - place + 1):
            if field(row(table, place + k), "state") == EMPTY:
                return row(table, place + k)
        rest = (rest >> 5) & UPPER
        place = (place * 5 + 1 + rest) & mask


@structural
def put_key(slot: Any, key: Any, hash_: int) -> None:
    put_field(slot, "key", key)
    put_field(slot, "hash", hash_)
    put_field(slot, "state", TAKEN)


@outlined
def resize(s: Any, least: int) -> None:
    """A table of more than `least` slots, without those that are gone."""
    size = 8
    while size <= least:
        size = 2 * size
    before, mask = field(s, "table"), field(s, "mask")
    after = rows(before, size)
    for k in range(mask + 1):
        slot = row(before, k)
        if field(slot, "state") == TAKEN:
            hash_ = field(slot, "hash")
            put_key(free_slot(after, size - 1, hash_), field(slot, "key"), hash_)
    put_field(s, "table", after)
    put_field(s, "mask", size - 1)
    put_field(s, "fill", field(s, "used"))


@outlined
def add(s: Any, key: Any) -> None:
    if find(s, key) >= 0:
        return
    hash_, mask = hash_of(key), field(s, "mask")
    put_key(free_slot(field(s, "table"), mask, hash_), key, hash_)
    fill, used = field(s, "fill") + 1, field(s, "used") + 1
    put_field(s, "fill", fill)
    put_field(s, "used", used)
    if fill * 5 >= mask * 3:
        resize(s, used * 2 if used > 50000 else used * 4)


@outlined
def discard(s: Any, key: Any) -> None:
    place = find(s, key)
    if place >= 0:
        take(s, place)


@structural
def take(s: Any, place: int) -> None:
    put_field(row(field(s, "table"), place), "state", GONE)
    put_field(s, "used", field(s, "used") - 1)


@structural
def clear(s: Any) -> None:
    put_field(s, "table", rows(field(s, "table"), 8))
    put_field(s, "mask", 7)
    put_field(s, "fill", 0)
    put_field(s, "used", 0)
    put_field(s, "finger", 0)


@outlined
def next_taken(s: Any, k: int) -> int:
    """The first slot from k that holds a key."""
    while k <= field(s, "mask") and field(row(field(s, "table"), k), "state") != TAKEN:
        k = k + 1
    return k


@outlined
def merge(s: Any, other: Any) -> None:
    """s |= other."""
    if field(other, "used") == 0:
        return
    if (field(s, "fill") + field(other, "used")) * 5 >= field(s, "mask") * 3:
        resize(s, (field(s, "used") + field(other, "used")) * 2)
    clean = field(s, "fill") == 0
    same = clean and field(s, "mask") == field(other, "mask") and field(other, "fill") == field(other, "used")
    for k in range(field(other, "mask") + 1):
        slot = row(field(other, "table"), k)
        if field(slot, "state") == TAKEN:
            key = field(slot, "key")
            if clean:
                table, hash_ = field(s, "table"), field(slot, "hash")
                place = row(table, k) if same else free_slot(table, field(s, "mask"), hash_)
                put_key(place, key, hash_)
                put_field(s, "fill", field(s, "fill") + 1)
                put_field(s, "used", field(s, "used") + 1)
            else:
                add(s, key)


def update(s: Any, iterable: Any) -> None:
    for key in iterable:
        add(s, key)


def contains(s: Any, key: Any) -> Any:
    return find(s, key) >= 0


def remove(s: Any, key: Any) -> None:
    place = find(s, key)
    raise_with(place >= 0, "KeyError", "{}", key)
    take(s, place)


def pop(s: Any) -> Any:
    if field(s, "used") == 0:
        raise KeyError("pop from an empty set")
    place = next_taken(s, field(s, "finger") & field(s, "mask"))
    if place > field(s, "mask"):
        place = next_taken(s, 0)
    key = field(row(field(s, "table"), place), "key")
    take(s, place)
    put_field(s, "finger", place + 1)
    return key


def copy(s: Any) -> Any:
    fresh = new_set(s)
    merge(fresh, s)
    return fresh


def union(s: Any, other: Any) -> Any:
    fresh = new_set(s)
    merge(fresh, s)
    merge(fresh, other)
    return fresh


def intersection(s: Any, other: Any) -> Any:
    fresh = new_set(s)
    if field(other, "used") > field(s, "used"):
        for key in s:
            if find(other, key) >= 0:
                add(fresh, key)
    else:
        for key in other:
            if find(s, key) >= 0:
                add(fresh, key)
    return fresh


def difference(s: Any, other: Any) -> Any:
    fresh = new_set(s)
    if field(s, "used") // 4 > field(other, "used"):
        merge(fresh, s)
        for key in other:
            discard(fresh, key)
        return fresh
    for key in s:
        if find(other, key) < 0:
            add(fresh, key)
    return fresh


def symmetric(s: Any, other: Any) -> Any:
    fresh = new_set(s)
    merge(fresh, other)
    symmetric_update(fresh, s)
    return fresh


def symmetric_update(s: Any, other: Any) -> None:
    for key in other:
        place = find(s, key)
        if place >= 0:
            take(s, place)
        else:
            add(s, key)


def difference_update(s: Any, other: Any) -> None:
    for key in other:
        discard(s, key)


def intersection_update(s: Any, other: Any) -> None:
    kept = intersection(s, other)
    for name in ("table", "mask", "fill", "used"):
        put_field(s, name, field(kept, name))


def within(s: Any, other: Any) -> bool:
    """s <= other."""
    if field(s, "used") > field(other, "used"):
        return False
    for key in s:
        if find(other, key) < 0:
            return False
    return True


def disjoint(s: Any, other: Any) -> bool:
    for key in other:
        if find(s, key) >= 0:
            return False
    return True


@outlined
def hash_of_frozenset(s: Any) -> Any:
    """The same whatever the order of the keys."""
    total = field(s, "used")
    table = field(s, "table")
    for k in range(field(s, "mask") + 1):
        slot = row(table, k)
        if field(slot, "state") == TAKEN:
            hash_ = field(slot, "hash")
            total ^= (hash_ ^ 89869747 ^ (hash_ << 16)) * 3644798167
    return total


@outlined
def hash_of_tuple(items: Any) -> Any:
    """As that of a tuple whose length is known while compiling: xxHash of the hashes of the items."""
    total, count = P5, 0
    for item in items:
        total = total + hash_of(item) * P2
        total = ((total << 31) | ((total >> 33) & (2**31 - 1))) * P1
        count += 1
    total = total + (count ^ P5 ^ 3527539)
    return 1546275796 if total == -1 else total


FUNCTIONS: dict[str, Any] = {
    "pullback.hash_of_frozenset": hash_of_frozenset, "pullback.hash_of_tuple": hash_of_tuple,
} | {
    f"pullback.set_{function.__name__}": function
    for function in (
        add, discard, clear, next_taken, merge, update, contains, remove, pop, copy, union, intersection, difference,
        symmetric, symmetric_update, difference_update, intersection_update, within, disjoint,
    )
}  # fmt: skip
