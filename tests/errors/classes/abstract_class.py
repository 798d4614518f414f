"""A class with an abstract method has no objects."""

from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self): ...


def f(x):
    return Shape().area() * x


ARGS = (2.0,)
