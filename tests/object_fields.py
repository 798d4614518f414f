"""Fields that some path leaves unset, objects that others see before they are complete, fields of several types."""

from __future__ import annotations

from typing import Any

import numpy as np


class Kid:
    def __init__(self, parent, d):
        self.depth = parent.depth + 1
        self.d = d


class Parent:
    def __init__(self, a, early):
        self.depth = 0
        self.kids = []
        if early:
            self.kids.append(Kid(self, a))
        self.x = a

    def total(self):
        return self.x + sum(k.depth for k in self.kids)


def parent(a, e):
    return Parent(a, e).total()


class Bad:
    def __init__(self, a, reg):
        reg.append(self)
        if a > 1:
            raise ValueError("no")
        self.x = a


def leaked(a):
    reg = []
    try:
        Bad(a, reg)
    except ValueError:
        pass
    return reg[0].x if hasattr(reg[0], "x") else -1.0


def leaked2(a):
    reg = []
    try:
        Bad(a, reg)
    except ValueError:
        pass
    return reg[0].x


class B0:
    def __init__(self):
        self.base = 2.0

    def use(self):
        return self.base


class NoSuper(B0):
    def __init__(self, a):
        self.a = a


def nosuper(a):
    o = NoSuper(a)
    return o.a + (o.base if hasattr(o, "base") else 0.5)


def nosuper2(a, f):
    o = NoSuper(a)
    if f:
        o.base = a
    return o.use()


class ReadFirst:
    x = 5.0

    def __init__(self, a):
        self.y = self.x
        self.x = a


def readfirst(a):
    o = ReadFirst(a)
    return o.y * o.x


class Loopy:
    def __init__(self, n):
        for i in range(n):
            self.last = i * 1.0


def loopy(a, n):
    return Loopy(n).last * a


class Cond:
    def __init__(self, a):
        if a > 0:
            self.v = a
            self.k = 1
        else:
            self.v = -a
            self.k = 2


def cond(a):
    o = Cond(a)
    return o.v * o.k


class Arr:
    def __init__(self, a):
        self.m = np.array([a, 2.0])

    def upd(self, f):
        if f:
            self.m = self.m[::-1]
        self.m[0] += 1.0
        return float(self.m @ self.m)


def arr(a, f):
    return Arr(a).upd(f)


class SelfRef:
    def __init__(self, a):
        self.me = self
        self.a = a


def selfref(a):
    return SelfRef(a).me.me.a


class Late2:
    def set(self, a):
        self.q = a
        return self


def late(a, f):
    o = Late2()
    if f:
        o.set(a)
    return o.q


class Parent2:
    def __init__(self, a):
        self.a = a
        self.child = Child2(self)


class Child2:
    def __init__(self, p):
        self.p = p
        self.v = p.a * 2


def mutual(a):
    return Parent2(a).child.p.child.v


CASES: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (parent, [(1.5, True), (1.5, False)]),
    (leaked, [(0.5,), (1.5,)]),
    (leaked2, [(0.5,), (1.5,)]),
    (nosuper, [(1.0,)]),
    (nosuper2, [(1.0, True), (1.0, False)]),
    (readfirst, [(3.0,)]),
    (loopy, [(2.0, 3), (2.0, 0)]),
    (cond, [(2.0,), (-3.0,)]),
    (arr, [(1.0, True), (1.0, False)]),
    (selfref, [(2.0,)]),
    (late, [(1.0, True), (1.0, False)]),
    (mutual, [(1.5,)]),
]
