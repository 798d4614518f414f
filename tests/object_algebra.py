"""Expressions that differentiate themselves: ten classes whose methods and operators call one another."""

from __future__ import annotations

import math


class Expr:
    def __add__(self, o):
        return Add(self, lift(o))

    def __radd__(self, o):
        return Add(lift(o), self)

    def __mul__(self, o):
        return Mul(self, lift(o))

    def __rmul__(self, o):
        return Mul(lift(o), self)

    def __neg__(self):
        return Neg(self)


def lift(o):
    return o if isinstance(o, Expr) else Const(o)


class Const(Expr):
    def __init__(self, v):
        self.v = v

    def ev(self, x):
        return self.v

    def d(self):
        return Const(0.0)


class Var(Expr):
    def ev(self, x):
        return x

    def d(self):
        return Const(1.0)


class Add(Expr):
    def __init__(self, l, r):
        self.l, self.r = l, r

    def ev(self, x):
        return self.l.ev(x) + self.r.ev(x)

    def d(self):
        return self.l.d() + self.r.d()


class Mul(Expr):
    def __init__(self, l, r):
        self.l, self.r = l, r

    def ev(self, x):
        return self.l.ev(x) * self.r.ev(x)

    def d(self):
        return self.l.d() * self.r + self.l * self.r.d()


class Neg(Expr):
    def __init__(self, e):
        self.e = e

    def ev(self, x):
        return -self.e.ev(x)

    def d(self):
        return -self.e.d()


class Sin(Expr):
    def __init__(self, e):
        self.e = e

    def ev(self, x):
        return math.sin(self.e.ev(x))

    def d(self):
        return Cos(self.e) * self.e.d()


class Cos(Expr):
    def __init__(self, e):
        self.e = e

    def ev(self, x):
        return math.cos(self.e.ev(x))

    def d(self):
        return -(Sin(self.e) * self.e.d())


class Exp(Expr):
    def __init__(self, e):
        self.e = e

    def ev(self, x):
        return math.exp(self.e.ev(x))

    def d(self):
        return Exp(self.e) * self.e.d()


class Sq(Expr):
    def __init__(self, e):
        self.e = e

    def ev(self, x):
        return self.e.ev(x) ** 2

    def d(self):
        return 2.0 * self.e * self.e.d()


def slope_and_curvature(a):
    x = Var()
    e = Sin(x * x + 3.0) * Exp(-x) + Sq(Cos(x) + 1.0)
    d = e.d()
    return d.ev(a) + d.d().ev(a)
