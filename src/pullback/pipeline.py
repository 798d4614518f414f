"""The stages in order, and what each leaves behind.

    request --infer--> typed Program --passes--> --ad--> plain Program --passes--> --codegen--> native entry

`lower` runs up to code generation and can keep the text after every stage; `compile_entry` goes all the way.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pullback import ad, front
from pullback.analysis.alias import written_parameters
from pullback.analysis.mismatch import reject_mismatches
from pullback.codegen import build, manifest
from pullback.diagnostic import CompileError, Diagnostic
from pullback.infer import Backward, Entry, Session, infer_entry, new_session
from pullback.infer import Options as Meaning
from pullback.infer.engine import deep_recursion
from pullback.ir.check import check_program
from pullback.ir.node import Function, Program
from pullback.ir.show import show_function, show_program
from pullback.ir.walk import fingerprint
from pullback.passes import (
    apart,
    bounds,
    catch,
    choices,
    copies,
    counted,
    cse,
    dce,
    elements,
    equal,
    finite,
    forward_cells,
    fuse,
    gathers,
    idle,
    inline,
    jam,
    licm,
    order,
    outrun,
    owned_cells,
    ownership,
    parallel,
    parallel_maps,
    plain,
    products,
    promote,
    promote_tables,
    release_trips,
    replay,
    reshapes,
    reuse,
    rolling,
    rows,
    running_sums,
    settle,
    share,
    shelves,
    silence,
    simplify,
    sizes,
    skew,
    split,
    streams,
    terms,
    unread,
    unroll,
    unused_tables,
    versions,
)  # fmt: skip
from pullback.runtime.request import DEFAULT, Options, Request

__all__ = ["Lowered", "Options", "Request", "compile_entry", "lower", "optimise"]


@dataclass(slots=True)
class Lowered:
    """A Program ready for code generation; `stages` holds the text after each stage, where it was asked for.

    residuals: what reverse passes keep.  differentiates: is there any derivative in it.
    """

    entry: Entry
    stages: dict[str, str] = field(default_factory=dict)
    residuals: list[ad.Residual] = field(default_factory=list)
    differentiates: bool = False

    @property
    def kept(self) -> str:
        """`residuals` as text."""
        return ad.shown(self.residuals)

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


@contextmanager
def _uncollected() -> Iterator[None]:
    """Python's collector of cycles waits.

    Most of what a compilation makes lives until its end, so that looking through it again and again, with all that the
    process holds besides, finds nothing and takes a sixth of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _lower(request: Request, options: Options, keep: bool) -> Lowered:
    meaning = Meaning(checks=options.error_model == "python", boundscheck=options.boundscheck)
    backward = Backward(ad.backpropagating, catch.run) if options.formulation == "closures" else None
    session = new_session(front.parse, meaning, request.held, backward)
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
    if options.passes and options.formulation == "ssa":  # chains of backpropagators make loops serial
        parallel.check(lowered.program)
    _record(lowered, "passes", options, keep)
    budget = _budget(lowered.program, options)
    lowered.differentiates = any("wrt" in op.attrs for f in lowered.program.functions.values() for op in f.body.walk())
    lowered.residuals = ad.expand(lowered.program, optimise=optimise if options.passes else None, budget=budget)
    _record(lowered, "ad", options, keep)
    if options.passes:
        if options.fastmath:
            finite.run(lowered.program)
        settle.run(lowered.program)
    _optimise_program(lowered.program, options)
    if options.passes:
        inline.prune(lowered.program)
        owned_cells.run(lowered.program)
        products.run(lowered.program)  # functions get parameters, so that it comes before the passes on each
        for function in lowered.program.functions.values():
            if options.formulation == "closures":
                terms.run(function, lowered.program)  # what several uses of a value give it
            for run in _LAST:
                if (options.parallel or run is not parallel_maps.run) and not (options.fastmath and run is jam.run):
                    run(function, lowered.program)
            if options.fastmath:
                replay.run(function, lowered.program)
        for function in lowered.program.functions.values():  # after all others: functions and calls get owners
            ownership.run(function, lowered.program)
    _record(lowered, "passes again", options, keep)
    return lowered


def _budget(program: Program, options: Options) -> ad.Budget:
    """How reverse loops keep within the memory budget: code for that is only made when a call would not.

    Such a call begins anew, so this is not for programs that print or change arrays of the caller.
    """
    if options.scheduled or options.memory_budget is not None:
        return ad.Budget("schedule", options.memory_budget)
    ops = (op for function in program.functions.values() for op in function.body.walk())
    prints = any(op.name == "text_effect" and op.attrs["function"] == "print" for op in ops)
    return ad.Budget("arrays" if prints or written_parameters(program)[program.entry].written else "guard")


def compile_entry(request: Request, options: Options = DEFAULT) -> build.Entry:
    """Native code for the request, kept for later processes."""
    with _uncollected(), _room(request):
        lowered = _lower(request, options, keep=False)
        how = build.Options(fastmath=options.fastmath, parallel=options.parallel)
        entry = build.build(lowered.program, lowered.entry.boundary, how)
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
            unread.run(function, program)  # what the backpropagator of the other branch does not read
            copies.run(function, program)  # sensitivities are copied where somebody else might hold them
        optimise(function, program)
        if options.formulation == "closures":
            gathers.run(function, program)  # sensitivities of elements that were read
            streams.run(function, program)  # backpropagators of array operations, whose results meet
            gathers.run(function, program)  # sums that have become such
            copies.run(function, program)
            running_sums.run(function, program)  # what loops add up
            optimise(function, program)
    unused_tables.run(program)


_ROUND: tuple[Callable[[Function, Program], None], ...] = (
    apart.run,  # what does not share memory needs no copy
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
_SETTLED = "settled"  # the fingerprint of a function that a round has left as it was
_LAST: tuple[Callable[[Function, Program], None], ...] = (
    parallel.run,  # loops over prange become loops over blocks of trips
    share.run,  # expensive functions computed twice, where the second result can hold the first
    versions.run,  # writes of expressions that may share memory with their target
    split.run,  # the trips of a loop before its index checks can fail; after differentiation only
    simplify.run,
    cse.run,
    dce.run,
    jam.run,  # chains of additions of neighbouring trips run together
    elements.run,  # several accesses in a row to one element become one
    order.run,  # reverse loops that only add run forwards
    rolling.run,  # what others add to neighbouring elements is added up in numbers
    idle.run,  # those that would add zeros are left out
    plain.run,  # their products by what the loop does not change
    outrun.run,  # recurrences before the sums of functions of them
    skew.run,  # rows of cells that need their neighbours, each a column behind
    reuse.run,  # the last reader of a fresh array writes into it
    rows.run,  # passes over memory that add to overlapping views
    parallel_maps.run,  # large maps over blocks, where several threads are asked for
    release_trips.run,  # rows and records that no trip of a loop leaves to the next
    shelves.run,  # arrays that loops make become rows of one
)


def optimise(function: Function, program: Program) -> None:
    """The passes on one function, before and after differentiation, until a round of them changes nothing."""
    inline.run(function, program)
    before = fingerprint(function)
    for _ in range(ROUNDS):
        if function.attrs.get(_SETTLED) == before:
            return
        for run in _ROUND:
            run(function, program)
        after = fingerprint(function)
        if after == before:
            function.attrs[_SETTLED] = before
        before = after
