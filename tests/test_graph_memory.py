"""Objects at the boundary are read and written where they lie: only what the program changes is seen to change."""

import gc
import sys
from dataclasses import dataclass
from typing import Any

import pytest

import pullback as pb
from pullback.runtime import inline_values
from pullback.runtime.objects import attributes


@dataclass
class Node:
    value: float
    next: Any = None


@dataclass(slots=True)
class Slotted:
    value: float
    next: Any = None


@pb.jit
def double(node):
    while node is not None:
        node.value = node.value * 2.0
        node = node.next


@pytest.mark.parametrize("kind", [Node, Slotted])
def test_a_float_that_others_hold_stays_what_it_was(kind):
    shared = float("1.5")
    nodes = kind(float("0.5"), kind(shared, kind(shared)))
    double(nodes)
    assert shared == 1.5
    assert (nodes.value, nodes.next.value, nodes.next.next.value) == (1.0, 3.0, 3.0)
    held = nodes.value
    double(nodes)
    assert held == 1.0 and nodes.value == 2.0


def test_a_float_in_a_list_that_others_hold_stays_what_it_was():
    @pb.jit
    def halve(xs):
        for i in range(len(xs)):
            xs[i] = xs[i] / 2.0

    xs = [float(i) for i in range(40)]
    held = xs[3:5]
    halve(xs)
    assert held == [3.0, 4.0] and xs == [i / 2.0 for i in range(40)]
    halve(xs)
    assert held == [3.0, 4.0] and xs == [i / 4.0 for i in range(40)]


@pytest.mark.skipif(inline_values.FORM is None, reason="this interpreter's layout is not known")
def test_objects_keep_their_arrays_of_attributes():
    nodes = Node(1.0, Node(2.0))
    double(nodes)
    double(nodes)
    assert inline_values.set_names(nodes) == inline_values.set_names(nodes.next) == ("value", "next")
    assert attributes(nodes) == [("value", 4.0), ("next", nodes.next)]


def test_objects_with_a_dictionary_are_read_through_it():
    nodes = Node(1.0, Node(2.0, Node(3.0)))
    nodes.next.__dict__["value"] = 20.0
    nodes.next.next.__dict__ = {"next": None, "value": 30.0}
    double(nodes)
    assert [nodes.value, nodes.next.value, nodes.next.next.value] == [2.0, 40.0, 60.0]
    assert vars(nodes.next.next) == {"next": None, "value": 60.0}


def test_attributes_that_only_the_class_has():
    class Part:
        value = 3.0
        next = None

        def __init__(self, value=None):
            if value is not None:
                self.value = value

    nodes = Part(1.0)
    nodes.next = Part()
    double(nodes)
    assert vars(nodes) == {"value": 2.0, "next": nodes.next} and vars(nodes.next) == {"value": 6.0}
    assert Part.value == 3.0
    del nodes.next.value
    double(nodes)
    assert nodes.value == 4.0 and nodes.next.value == 6.0


def test_names_that_come_later():
    class Late:
        def __init__(self, value):
            self.value = value

    one, other = Late(1.0), Late(2.0)
    other.bias = 5.0

    @pb.jit
    def total(a, b):
        b.bias = b.bias + a.value
        a.extra = b.value
        return a.value + b.value + b.bias

    assert total(one, other) == 9.0
    assert vars(one) == {"value": 1.0, "extra": 2.0} and vars(other) == {"value": 2.0, "bias": 6.0}
    assert total(one, other) == 10.0


def test_more_names_than_an_array_has_room_for():
    class Wide:
        def __init__(self):
            for i in range(40):
                setattr(self, f"a{i}", float(i))

    @pb.jit
    def move(w):
        w.a39 = w.a0 + w.a38
        return w.a39

    wide = Wide()
    assert move(wide) == 38.0 == wide.a39


class Box:
    def __init__(self, part, pair, call=None):
        self.part = part
        self.pair = pair
        self.call = call


def test_one_object_behind_a_tuple_that_two_objects_hold():
    """Nothing but the tuple refers to the node, but it is met twice."""

    @pb.jit
    def write(a, b):
        a.pair[0].value = 7.0
        return b.pair[0].value

    pair = (Node(1.0), 2.0)
    a, b = Box(None, pair), Box(None, pair)
    del pair
    assert write(a, b) == 7.0 and a.pair[0].value == 7.0


def test_one_object_behind_a_function_that_two_objects_hold():
    def reader(node):
        return lambda: node.value

    @pb.jit
    def write(a, b):
        before = a.call()
        a.part = b.part
        return before + b.call()

    call = reader(Node(1.5))
    a, b = Box(None, (), call), Box(Node(2.0), (), call)
    assert write(a, b) == 3.0 and a.part is b.part


def test_an_object_that_refers_to_itself_and_one_met_twice():
    @pb.jit
    def knot(a, b):
        a.next.value = a.next.value + 1.0
        return a.next.value + b.value

    a = Node(1.0)
    a.next = a
    assert knot(a, a) == 4.0 and a.value == 2.0
    del a.next
    gc.collect()


def test_a_union_that_tries_several_members():
    """The first member that is tried takes the node and then fails at the number."""

    @pb.jit
    def write(boxes):
        total = 0.0
        for box in boxes:
            pair = box.pair
            pair[0].value = pair[0].value + 1.0
            if pair[1] is None:
                total += pair[0].value
            else:
                total += 100.0 * pair[0].value
        return total

    boxes = [Box(None, (Node(float(i)), None if i % 2 else 1.0)) for i in range(4)]
    assert write(boxes) == 100.0 + 2.0 + 300.0 + 4.0
    assert [box.pair[0].value for box in boxes] == [1.0, 2.0, 3.0, 4.0]


def test_references_are_given_back():
    nodes = Slotted(1.0, Slotted(2.0))
    shared = nodes.next
    counts = [sys.getrefcount(x) for x in (nodes, shared)]
    for _ in range(20):
        double(nodes)
    after = [sys.getrefcount(x) for x in (nodes, shared)]
    assert counts == after
