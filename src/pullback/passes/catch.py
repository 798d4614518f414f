"""Makes flags of exceptions that are caught; runs first, so no later stage meets a `try`.

    r = try {body: c = check(ok); a = f(x); yield a}        if(ok) {(r, site) = f__caught(x)} {site = 1}
            {handler (e): b = ...; yield b}           ->    if(site == 0) {yield r} {b = ...; yield b}

A place that raises inside a `try` that takes it sets the *state* instead: the number of the place (0: nothing was
raised) and what goes with it; what follows in the block stands under an `if`, loops ask before each trip.  A callee
that may raise such a thing has another version that returns the state after its results.  What no `try` takes stays a
`check`, and so do programs without `try`.  A value of the type EXCEPTION becomes a number and values of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pullback.analysis.raises import Raises, Site, failure_of, site_of
from pullback.diagnostic import CompileError, Diagnostic
from pullback.ir.node import Function, Op, Program
from pullback.passes.catching_ops import Body
from pullback.prims.control import MOST_PAYLOAD
from pullback.runtime.failures import not_carried
from pullback.types import EXCEPTION, I64, Machine, show

__all__ = ["Plan", "run"]


def run(program: Program) -> None:
    """Rewrite every function that catches, and make the versions of those that raise into a handler."""
    if any(op.name in ("try", "reraise") for f in program.functions.values() for op in f.body.walk()):
        Plan(program, Raises(program.functions)).rewrite()
    for function in program.functions.values():
        _refuse_structures(function)


class Plan:
    """The numbers of places, where the state keeps what goes with them, and the versions of functions."""

    def __init__(self, program: Program, raises: Raises) -> None:
        self.program = program
        self.raises = raises
        self.originals = dict(program.functions)
        self.sites = list(dict.fromkeys(site for sites in raises.caught.values() for site in sites))
        self.numbers = {site: number for number, site in enumerate(self.sites, 1)}
        self.pool: list[Machine] = []
        for site in self.sites:
            self._make_room(site.types)
        self.versions: dict[tuple[str, frozenset[Site]], str] = {}
        self.waiting: list[tuple[str, frozenset[Site]]] = []
        self.boxes: dict[str, frozenset[Site]] = {}

    def _make_room(self, types: Sequence[Machine]) -> None:
        free = list(self.pool)
        for type_ in types:
            if type_ in free:
                free.remove(type_)
            else:
                self.pool.append(type_)

    def places(self, types: Sequence[Machine]) -> tuple[int, ...]:
        """Where in the pool values of these types are kept; the first ones stay where they are if more follow."""
        used: set[int] = set()
        found: list[int] = []
        for type_ in types:
            place = next(i for i, other in enumerate(self.pool) if other == type_ and i not in used)
            used.add(place)
            found.append(place)
        return tuple(found)

    def used(self, sites: Iterable[Site]) -> list[int]:
        """The places of the pool that any of the sites uses."""
        return sorted({place for site in sites for place in self.places(site.types)})

    @property
    def exception(self) -> list[Machine]:
        """What an EXCEPTION becomes."""
        return [I64, *self.pool]

    def expanded(self, types: Iterable[Machine]) -> tuple[Machine, ...]:
        return tuple(t for type_ in types for t in (self.exception if type_ == EXCEPTION else [type_]))

    def version(self, name: str, sites: frozenset[Site]) -> str:
        """The function that returns the state where one of the sites raises."""
        key = (name, sites)
        found = self.versions.get(key)
        if found is None:
            number = sum(1 for other, _ in self.versions if other == name)
            found = self.versions[key] = f"{name}__caught{number or ''}"
            self.waiting.append(key)
        return found

    def rewrite(self) -> None:
        """All functions, then the versions that they call."""
        self._find_boxes()
        for name, layout in self.program.layouts.items():
            self.program.layouts[name] = [self.expanded(variant) for variant in layout]
        for function in self.originals.values():
            if self._needed(function):
                self.program.functions[function.name] = Body(self, frozenset()).function(function, function.name)
        while self.waiting:
            name, sites = self.waiting.pop()
            version = self.versions[name, sites]
            self.program.functions[version] = Body(self, sites).function(self.originals[name], version)

    def _needed(self, function: Function) -> bool:
        values = [*function.body.params, *function.body.results]
        if any(value.type == EXCEPTION for value in values):
            return True
        return any(self._touched(op) for op in function.body.walk())

    def _touched(self, op: Op) -> bool:
        if op.name in ("try", "reraise") or op.attrs.get("box") in self.boxes:
            return True
        return any(value.type == EXCEPTION for value in (*op.operands, *op.results))

    def _find_boxes(self) -> None:
        """Both halves of a `vjp` whose function may raise into a handler must mean the same version of it."""
        for function in self.originals.values():
            for op in function.body.walk():
                if op.name == "vjp":
                    sites = self.raises.escapes.get(str(op.attrs["callee"]), {})
                    taken = frozenset(site for site in sites if site in self.numbers)
                    if taken:
                        self.boxes[str(op.attrs["box"])] = taken


def _refuse_structures(function: Function) -> None:
    """With an exception that leaves compiled code go few numbers, and what is made of them."""
    for op in function.body.walk():
        if op.name != "check" or "failure" not in op.attrs:
            continue
        site = site_of(op)
        parts = [part for part in (site, site.cause) if part is not None and part.failure is not None]
        held = next((type_ for part in parts if (type_ := not_carried(failure_of(part))) is not None), None)
        if held is not None:
            title = f"an exception that may leave compiled code holds {show(held)}"
            help = "give it the numbers that tell what was wrong"
            raise CompileError(Diagnostic(title, op.span, "numbers, text and tuples of them can go with it", help))
        if len(op.operands) > 1 + MOST_PAYLOAD:
            title = f"an exception that may leave compiled code holds more than {MOST_PAYLOAD} numbers"
            raise CompileError(Diagnostic(title, op.span, f"these are {len(op.operands) - 1}", "give it fewer"))
