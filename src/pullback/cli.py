"""The command line.

    pullback demo [CSV] [--output PNG]              fit the predator-prey model to the shipped data or to one's own
    pullback demo digits [--output PNG]             train a network on images of digits
    pullback explain model.py:loss 1.5 "[1.0, 2.0]"  every stage of the program that `loss` becomes for these arguments
    pullback doctor                                 versions, processor, cache, and a self-test
    pullback cache info | clear                     what is kept on disk of earlier compilations

Exit status: 0 done, 1 a check or the program failed, 2 the request cannot be carried out (one line on stderr says why).
"""

import argparse
import importlib.util
import sys
from ast import literal_eval
from collections.abc import Callable, Sequence
from pathlib import Path


class RequestError(Exception):
    """A request that cannot be carried out; the message is one line for the user."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except RequestError as error:
        print(f"pullback: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pullback", description="A differentiating compiler for plain Python.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="fit a predator-prey model to data, or train a network on digits")
    demo.add_argument(
        "job",
        nargs="?",
        type=Path,
        metavar="CSV | digits",
        help="header and rows of time, prey, predator (default: hares and lynxes), or the word digits",
    )
    demo.add_argument("--output", type=Path, metavar="PNG", help="where the picture goes (default: the job's name)")
    demo.set_defaults(command=_demo)

    explain = commands.add_parser("explain", help="show every stage of a function's compilation")
    explain.add_argument("function", metavar="FILE.py:FUNCTION")
    explain.add_argument("values", nargs="*", metavar="ARG", help="a Python literal; [1.0, 2.0] is an array")
    explain.add_argument("--grad", action="store_true", help="explain the gradient by the first argument")
    explain.add_argument("--residuals", action="store_true", help="what the reverse pass keeps, where, and why")
    explain.set_defaults(command=_explain)

    doctor = commands.add_parser("doctor", help="show versions, processor and cache, and run a self-test")
    doctor.set_defaults(command=_doctor)

    cache = commands.add_parser("cache", help="show or clear what is kept on disk of earlier compilations")
    cache.add_argument("what", choices=("info", "clear"))
    cache.set_defaults(command=_cache)
    return parser


def _demo(options: argparse.Namespace) -> int:
    job = _digits if options.job == Path("digits") else _populations
    try:
        return job(options)
    except ModuleNotFoundError as error:
        # Only the demo wants these packages.
        wanted = {"matplotlib": "matplotlib", "tqdm": "tqdm", "sklearn": "scikit-learn"}
        name = wanted.get((error.name or "").partition(".")[0])
        if name is None:
            raise
        raise RequestError(f"the demo needs {name}: pip install 'pullback[demo]'") from error


def _digits(options: argparse.Namespace) -> int:
    from .demo.digits import DigitsError, run

    picture = options.output or Path("digits.png")
    _into(picture, lambda: run(picture, print), DigitsError)
    return 0


def _populations(options: argparse.Namespace) -> int:
    from .demo.data import DataError, shipped_data
    from .demo.fit import FitError
    from .demo.report import run

    source = options.job or shipped_data()
    picture = options.output or Path(source.with_suffix(".png").name)
    _into(picture, lambda: run(source, picture, print), DataError, FitError)
    return 0


def _into(picture: Path, work: Callable[[], None], *failures: type[Exception]) -> None:
    """Run the work that draws a picture; what may go wrong is said in one line."""
    if not picture.parent.is_dir():
        raise RequestError(f"{picture}: no such folder")
    try:
        work()
    except failures as error:
        raise RequestError(str(error)) from error
    except OSError as error:
        raise RequestError(f"{picture}: {error.strerror or error}") from error


def _explain(options: argparse.Namespace) -> int:
    import pullback as pb

    function = load_function(options.function)
    values = [parse_value(text) for text in options.values]
    if options.grad:
        function = pb.grad(function)
    try:
        print(pb.explain(function, residuals=options.residuals)(*values))
    except pb.CompileError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def load_function(target: str) -> Callable[..., object]:
    """The function named by FILE.py:FUNCTION; the file is run as a module of its own."""
    name, colon, attribute = target.rpartition(":")
    if not colon or not attribute:
        raise RequestError(f"expected FILE.py:FUNCTION, found {target!r}")
    path = Path(name)
    if not path.is_file():
        raise RequestError(f"{name}: no such file")
    # A name of its own, so that a file called like some module hides nothing.
    spec = importlib.util.spec_from_file_location(f"explained_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{name}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise RequestError(f"{name}: {type(error).__name__} while it was loaded: {error}") from error
    found: object = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise RequestError(f"{name} has no function {attribute!r}")
        found = getattr(found, part)
    if not callable(found):
        raise RequestError(f"{attribute!r} in {name} is not a function")
    return found


def parse_value(text: str) -> object:
    """A Python literal; every list of numbers, or of equally long lists of numbers, in it becomes an array."""
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise RequestError(f"argument {text!r} is not a Python literal") from error
    return _with_arrays(value)


def _with_arrays(value: object) -> object:
    import numpy as np

    match value:
        case list():
            try:
                array = np.asarray(value)
            except ValueError:
                array = np.asarray(None)
            return array if array.dtype.kind in "bif" else [_with_arrays(item) for item in value]
        case tuple():
            return tuple(_with_arrays(item) for item in value)
        case dict():
            return {key: _with_arrays(item) for key, item in value.items()}
        case _:
            return value


def _doctor(options: argparse.Namespace) -> int:
    from .doctor import examine

    return examine(print)


def _cache(options: argparse.Namespace) -> int:
    from .codegen import cache

    if options.what == "clear":
        print(f"{cache.clear()} entries removed from {cache.directory()}")
        return 0
    found = cache.info()
    print(f"place    {found.directory}")
    print(f"entries  {found.entries}")
    print(f"size     {found.bytes / 1e6:.1f} MB, at most {found.limit / 1e6:.1f} MB")
    print(f"found    {found.hits} times, and {found.misses} times not")
    return 0


if __name__ == "__main__":
    sys.exit(main())
