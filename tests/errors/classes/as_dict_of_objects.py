"""asdict of a dataclass that holds objects of its own class."""

from dataclasses import asdict, dataclass


@dataclass
class Link:
    value: float
    next: object = None


def f(link):
    return asdict(link)["value"]


ARGS = (Link(1.0, Link(2.0)),)
