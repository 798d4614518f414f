"""Packed objects: a copy for repeated calls, written in place, and objects again."""

import copy
import gc
import pickle
import sys
import threading

import numpy as np
import pytest

import pullback as pb
from test_graphs import Net, Params, Tree, canonical, network, polynomial, total, tree, weighted


def test_a_packed_object_counts_as_the_object():
    t = tree(4)
    packed = pb.pack(t)
    compiled = pb.jit(total)
    assert [compiled(packed) for _ in range(3)] == [total(t)] * 3
    assert compiled(t) == total(t)
    value, gradient = pb.value_and_grad(polynomial)(packed)
    assert value == pytest.approx(polynomial(t))
    assert canonical(gradient) == canonical(pb.grad(polynomial)(t))
    assert canonical(packed.unpack()) == canonical(t)
    assert packed.unpack() is not t


def test_it_is_a_copy():
    t = tree(2)
    packed = pb.pack(t)
    t.value = 100.0
    assert pb.jit(total)(packed) == total(tree(2))


def test_arrays_and_lists_in_packed_objects():
    p, x = Params(np.linspace(0.1, 0.5, 3), 1.5), np.arange(3.0)
    packed, compiled = pb.pack(p), pb.jit(weighted)
    for _ in range(3):
        assert compiled(packed, x) == pytest.approx(weighted(p, x))
    net = Net([np.eye(2) * 0.5, np.ones((2, 2))], 1.3)
    packed = pb.pack(net)
    for _ in range(2):
        value, gradient = pb.value_and_grad(network)(packed, np.ones(2))
        assert value == pytest.approx(network(net, np.ones(2)))
        assert gradient.layers[1].shape == (2, 2)
    numbers = pb.pack([1.0, 2.0, 3.0])
    assert [pb.jit(sum_of)(numbers) for _ in range(2)] == [6.0, 6.0]


def sum_of(xs):
    total = 0.0
    for x in xs:
        total += x
    return total


def test_what_is_written_stays_in_the_packed_object():
    def grow(t):
        t.value += 1.0
        t.left = Tree(t.value, t.left)
        return t.left

    t = tree(2)
    packed, compiled = pb.pack(t), pb.jit(grow)
    for _ in range(4):
        compiled(packed)
        grow(t)
        assert pb.jit(total)(packed) == total(t)
    assert canonical(packed.unpack()) == canonical(t)

    def extend(xs, x):
        xs.append(x)
        return len(xs)

    xs, longer = pb.pack([1.0]), pb.jit(extend)
    assert [longer(xs, 2.0) for _ in range(3)] == [2, 3, 4]
    assert xs.unpack() == [1.0, 2.0, 2.0, 2.0]


def test_two_packed_objects_and_others_in_one_call():
    def three(a, b, c):
        return total(a) * 2.0 + total(b) * 3.0 + total(c)

    a, b, c = tree(2), tree(3), tree(1, 4.0)
    compiled = pb.jit(three)
    packed = pb.pack(a), pb.pack(b)
    for _ in range(3):
        assert compiled(*packed, c) == pytest.approx(three(a, b, c))
    assert compiled(packed[0], packed[0], c) == pytest.approx(three(a, a, c))


def test_identity_of_results():
    packed = pb.pack(tree(2))
    left = pb.jit(lambda t: t.left)
    assert left(packed) is left(packed)
    arrays = pb.pack(Params(np.ones(3), 1.0))
    weights = pb.jit(lambda p: p.w)
    assert weights(arrays) is weights(arrays)


def test_copies_pickles_and_refusals():
    packed = pb.pack(tree(2))
    for other in (copy.copy(packed), copy.deepcopy(packed), pickle.loads(pickle.dumps(packed)), pb.pack(packed)):
        assert other is not packed
        assert canonical(other.unpack()) == canonical(packed.unpack())
    for value in (1.0, np.ones(2), (1.0, 2.0), {"a": 1.0}):
        with pytest.raises(TypeError, match="pack takes objects and lists"):
            pb.pack(value)


def test_threads():
    packed, compiled, found = pb.pack(tree(6)), pb.jit(total), []

    def work():
        found.extend(compiled(packed) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [total(tree(6))] * 200


def test_nothing_leaks():
    compiled, gradient = pb.jit(total), pb.grad(polynomial)

    def calls(count):
        for _ in range(count):
            packed = pb.pack(tree(3))
            compiled(packed), compiled(packed), gradient(packed)
        gc.collect()
        return sys.getrefcount(None), len(gc.get_objects())

    calls(10)
    before = calls(10)
    after = calls(200)
    assert all(abs(a - b) < 200 for a, b in zip(after, before, strict=True))
