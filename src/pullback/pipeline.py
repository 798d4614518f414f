"""The stages in order, and what each leaves behind.

    request --infer--> typed Program --passes--> --ad--> plain Program --passes--> --codegen--> native entry

`lower` runs up to code generation and can keep the text after every stage; `compile_entry` goes all the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pullback import ad, front
from pullback.analysis.mismatch import reject_mismatches
from pullback.codegen import build, manifest
from pullback.diagnostic import CompileError, Diagnostic
from pullback.infer import Entry, Session, infer_entry, new_session
from pullback.infer import Options as Meaning
from pullback.infer.engine import deep_recursion
from pullback.ir.check import check_program
from pullback.ir.node import Function, Program
from pullback.ir.show import show_function, show_program
from pullback.passes import (
    bounds,
    catch,
    choices,
    copies,
    counted,
    cse,
    dce,
    elements,
    equal,
    forward_cells,
    fuse,
    gathers,
    inline,
    licm,
    order,
    owned_cells,
    ownership,
    promote,
    promote_tables,
    release_trips,
    reshapes,
    reuse,
    rows,
    share,
    silence,
    simplify,
    sizes,
    split,
    streams,
    unroll,
    unused_tables,
    versions,
)  # fmt: skip
from pullback.runtime.request import DEFAULT, Options, Request

__all__ = ["Lowered", "Options", "Request", "compile_entry", "lower", "optimise"]


@dataclass(slots=True)
class Lowered:
    """A Program ready for code generation; `stages` holds the text after each stage, where it was asked for."""

    entry: Entry
    stages: dict[str, str] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self.entry.program


def lower(request: Request, options: Options = DEFAULT, *, keep: bool = False) -> Lowered:
    """Infer, differentiate and optimise what the request reaches."""
    with _room(request):
        return _lower(request, options, keep)


@contextmanager
def _room(request: Request) -> Iterator[None]:
    """The stages recurse as the program nests; what nests too deeply is refused, as CPython's own compiler does."""
    try:
        with deep_recursion():
            yield
    except RecursionError:
        name = getattr(request.function, "__name__", "the function")
        title = f"{name}() nests too deeply to be compiled"
        help = "split long expressions and chains of `elif` into several functions"
        raise CompileError(Diagnostic(title, help=help)) from None


def _lower(request: Request, options: Options, keep: bool) -> Lowered:
    meaning = Meaning(checks=options.error_model == "python", boundscheck=options.boundscheck)
    transform = ad.backpropagating if options.formulation == "closures" else None
    session = new_session(front.parse, meaning, request.held, transform)
    lowered = Lowered(infer_entry(session, request))
    if keep:
        lowered.stages["front"] = _untyped(session)
    if request.kind == "pullback":
        silence.run(lowered.program)  # the call whose pullback it is has printed already
    _record(lowered, "infer", options, keep)
    catch.run(lowered.program)
    reshapes.run(lowered.program)
    _optimise_program(lowered.program, options)
    reject_mismatches(lowered.program)
    _record(lowered, "passes", options, keep)
    ad.expand(lowered.program, optimise=optimise if options.passes else None)
    _record(lowered, "ad", options, keep)
    _optimise_program(lowered.program, options)
    if options.passes:
        inline.prune(lowered.program)
        owned_cells.run(lowered.program)
        for function in lowered.program.functions.values():
            for run in _LAST:
                run(function, lowered.program)
    _record(lowered, "passes again", options, keep)
    return lowered


def compile_entry(request: Request, options: Options = DEFAULT) -> build.Entry:
    """Native code for the request, kept for later processes."""
    lowered = lower(request, options)
    with _room(request):
        entry = build.build(lowered.program, lowered.entry.boundary, build.Options(fastmath=options.fastmath))
    manifest.save(manifest.key(request, options), request.function, entry)
    return entry


def _untyped(session: Session) -> str:
    return "\n\n".join(show_function(code.untyped) for code in session.codes.values())


def _record(lowered: Lowered, stage: str, options: Options, keep: bool) -> None:
    if options.verify:
        check_program(lowered.program, stage)
    if keep:
        lowered.stages[stage] = show_program(lowered.program)


def _optimise_program(program: Program, options: Options) -> None:
    if not options.passes:
        return
    inline.run(program.functions[program.entry], program)
    inline.prune(program)
    for function in program.functions.values():
        if options.formulation == "closures":
            choices.run(function, program)  # which closure a branch yielded; before branches become selects
            copies.run(function, program)  # sensitivities are copied where somebody else might hold them
        optimise(function, program)
        if options.formulation == "closures":
            gathers.run(function, program)  # sensitivities of elements that were read
            streams.run(function, program)  # backpropagators of array operations, whose results meet
            copies.run(function, program)
            optimise(function, program)
    unused_tables.run(program)


_ROUND: tuple[Callable[[Function, Program], None], ...] = (
    simplify.run,  # folds constants and branches, so that less is left for the others
    promote_tables.run,  # objects that only this function knows become values
    forward_cells.run,  # what was just stored in a table is not read again
    cse.run,  # needs canonical operands
    sizes.run,  # carried arrays keep their sizes
    equal.run,  # what follows a check, before it moves away from it
    licm.run,  # moves what cse left out of loops
    bounds.run,  # proves checks by ranges; their conditions die
    counted.run,  # a counting `while` whose end is known becomes a `for`
    unroll.run,  # few trips known while compiling
    equal.run,  # sizes that were compared become one value, now also in loops whose checks have moved out
    dce.run,  # drops what the others made dead
    promote.run,  # small arrays of literal shape become scalars
    fuse.run,  # elementwise ops whose arrays nobody else wants
)
ROUNDS = 2
_LAST: tuple[Callable[[Function, Program], None], ...] = (
    share.run,  # expensive functions computed twice, where the second result can hold the first
    versions.run,  # writes of expressions that may share memory with their target
    split.run,  # the trips of a loop before its index checks can fail; after differentiation only
    simplify.run,
    cse.run,
    dce.run,
    elements.run,  # several accesses in a row to one element become one
    order.run,  # reverse loops that only add run forwards
    reuse.run,  # the last reader of a fresh array writes into it
    rows.run,  # passes over memory that add to overlapping views
    release_trips.run,  # rows and records that no trip of a loop leaves to the next
    ownership.run,  # where arrays and buffers end
)


def optimise(function: Function, program: Program) -> None:
    """The passes on one function, before and after differentiation."""
    inline.run(function, program)
    for _ in range(ROUNDS):
        for run in _ROUND:
            run(function, program)
