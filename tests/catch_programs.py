"""Programs that catch exceptions, each with arguments that take its paths; some leave with an exception.

    @case((2.0,), (0.0,))
    def inverse_or_zero(x): ...

CPython says what the value or the exception is, the dual numbers of ``oracle`` what the derivatives are.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb

__all__ = ["CASES", "LEAVING", "Case", "asserted", "raised_from_twice"]


@dataclass(frozen=True, slots=True)
class Case:
    """A program; `second`: compare second derivatives too."""

    function: Callable[..., Any]
    arguments: tuple[tuple[Any, ...], ...]
    argnums: tuple[int, ...]
    second: bool

    @property
    def name(self) -> str:
        return self.function.__name__


CASES: dict[str, Case] = {}


def case(
    *arguments: tuple[Any, ...], argnums: tuple[int, ...] = (0,), second: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function and return it unchanged."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = Case(function, arguments, argnums, second)
        return function

    return register


A = np.array([0.5, -1.5, 2.0, 3.25])


class Diverged(Exception):
    """Only keeps its arguments."""


class TooFar(Diverged):
    limit = 3.0

    def excess(self):
        return self.args[0] - self.limit


class Stopped(ValueError):
    def __init__(self, value, trips):
        super().__init__(f"stopped after {trips} trips")
        self.value = value
        self.trips = trips


class Labelled(Exception):
    def __init__(self, label, x=1.0):
        self.label = label
        self.x = x

    def __str__(self):
        return "labelled " + self.label


# ----------------------------------------------------------------------------------------------- the simple forms


@case((2.0,), (0.0,))
def division(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = -1.0
    return y * x + y


@case((2.0,), (0.0,))
def returns_from_both(x):
    try:
        return 3.0 / x
    except ZeroDivisionError:
        return x * 5.0


@case((2.0,), (-2.0,), (0.0,))
def own_raise(x):
    try:
        if x < 0.0:
            raise ValueError("negative")
        y = math.log(x)
    except ValueError:
        y = x * x
    return y


@case((2.0,), (-2.0,), (0.0,), (700.0,), (1000.0,))
def several_handlers(x):
    try:
        y = math.exp(x) / x + math.sqrt(x)
    except ZeroDivisionError:
        return -1.0
    except OverflowError:
        return x * 2.0
    except (ValueError, TypeError):
        return x * 3.0
    return y


@case((2.0,), (-2.0,), (0.0,))
def bare_except(x):
    try:
        y = math.log(x) / (x - 2.0)
    except:  # noqa: E722
        y = x * 7.0
    return y


@case((2.0,), (-2.0,), (0.0,))
def base_class(x):
    try:
        y = 1.0 / x
        if y < 0.0:
            raise OverflowError("big")
    except ArithmeticError:
        y = x + 1.0
    return y


@case((2.0,), (0.0,), (-1.0,))
def with_else(x):
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = 0.5
    else:
        y = math.log(x + 2.0) * y
    return y * 2.0


@case((2.0,), (0.0,), (-3.0,))
def else_is_not_protected(x):
    try:
        y = 1.0 / x
    except (ZeroDivisionError, ValueError):
        y = 0.5
    else:
        y = math.log(x)
    return y


@case((2.0,), (0.0,), (-3.0,))
def with_finally(x):
    y = 1.0
    try:
        y = 2.0 / x
    finally:
        z = x * 2.0
    return y + z


@case((2.0,), (0.0,), (-3.0,))
def everything(x):
    log = 0.0
    try:
        y = math.log(x)
        log += 1.0
    except ValueError:
        y = x
        log += 10.0
    else:
        log += 100.0 * y
    finally:
        log += 1000.0 * x
    return log + y


@case((2.0,), (0.0,))
def variables_at_the_raise(x):
    a = 1.0
    b = 2.0
    try:
        a = x * 3.0
        b = a / x
        a = b + 1.0
    except ZeroDivisionError:
        return a + 10.0 * b
    return a * b


@case((2.0,), (0.0,), (5.0,))
def marked_in_a_branch(x):
    a = 1.0
    try:
        if x > 3.0:
            a = x * x
        b = 1.0 / (x * (x - 5.0))
    except ZeroDivisionError:
        b = a * 2.0 + x
    return a + b


@case((2.0,), (0.0,))
def unset_in_the_handler(x):
    try:
        y = 1.0 / x
        z = y + 1.0
    except ZeroDivisionError:
        return y
    return z


@case((2.0, 1), (0.0, 1), (0.0, 0))
def name_of_the_exception_is_unset(x, again):
    try:
        y = 1.0 / x
    except ZeroDivisionError as e:
        y = 3.0
    if again:
        return y
    return e  # noqa: F821


# --------------------------------------------------------------------------------------------------------- checks


@case((A, 1), (A, 7), (A, -9))
def index(a, i):
    try:
        return a[i] * a[i]
    except IndexError:
        return a[0] * 3.0


@case((A, 1), (A, 7))
def index_message(a, i):
    try:
        y = a[i]
    except IndexError as e:
        raise KeyError("lookup") from e
    return y


@case((2.0, 3), (2.0, 0))
def integer_division(x, n):
    try:
        k = 7 // n
    except ZeroDivisionError:
        k = 2
    return x**k


@case((2.0, 3), (2.0, 4))
def tuple_index(x, i):
    t = (x, 2.0 * x, x * x, 3.0)
    try:
        return t[i]
    except IndexError:
        return -x


@case((A,), (A[:2],), (A[:3],))
def unpacking(a):
    try:
        x, y, z = a
    except ValueError:
        return a[0] * 2.0
    return x * y * z


@case((A, A), (A, A[:2]), (A, A[:1]))
def shapes(a, b):
    try:
        c = a * b
    except ValueError:
        return np.sum(a) * 3.0
    return np.sum(c * c)


@case((A, 0), (A, 5))
def assertion(a, i):
    try:
        assert i < len(a), "too far"
        return a[i] * 2.0
    except AssertionError as e:
        return a[0] * 3.0 if str(e) == "too far" else 0.0


@case((2.0,), (-2.0,))
def assertion_that_leaves(x):
    try:
        assert x > 0.0, f"x is {x}"
    except ValueError:
        return 0.0
    return x


# -------------------------------------------------------------------------------------------------------- callees


def helper(x):
    if x < 0.0:
        raise ValueError("negative")
    return math.sqrt(x) / (x - 1.0)


@case((4.0,), (-4.0,), (1.0,))
def callee(x):
    try:
        return helper(x) * x
    except ValueError:
        return x * 3.0


@case((4.0,), (-4.0,), (1.0,))
def callee_twice(x):
    total = 0.0
    for shift in (0.0, 5.0, -6.0):
        try:
            total += helper(x + shift) * x
        except ValueError:
            total += x
        except ZeroDivisionError:
            total += 100.0 * x
    return total


@case((4.0,), (-4.0,), (1.0,))
def callee_outside_and_inside(x):
    try:
        y = helper(x + 20.0)
    except ValueError:
        y = 0.0
    return y * helper(x)


def countdown(x, n):
    if n == 0:
        return 1.0 / x
    return x * countdown(x - 1.0, n - 1)


@case((5.5, 3), (3.0, 3), (2.0, 3))
def recursion(x, n):
    try:
        return countdown(x, n)
    except ZeroDivisionError:
        return x * x


def peel(x, n):
    try:
        if n == 0:
            raise ValueError("bottom")
        return peel(x * 1.1, n - 1) * 2.0
    except ValueError:
        if n == 2:
            return x * x
        raise


@case((1.5, 2), (1.5, 5), (1.5, 1))
def recursion_that_catches(x, n):
    return peel(x, n)


@case((2.0,), (0.0,), (-1.0,))
def inner_function(x):
    def inverse(y):
        if y < 0.0:
            raise KeyError("negative")
        return x / y

    try:
        return inverse(x * x * x)
    except KeyError:
        return x * 4.0
    except ZeroDivisionError:
        return x + 4.0


@case((2.0,), (0.0,))
def function_given(x):
    def guarded(f, otherwise):
        try:
            return f()
        except ZeroDivisionError:
            return otherwise

    return guarded(lambda: 1.0 / x, x * 3.0) + guarded(lambda: x * x, 1.0)


def always(x):
    raise ValueError("always")


@case((2.0,))
def callee_that_always_raises(x):
    try:
        always(x)
    except ValueError:
        return x * 6.0


@case((2.0,))
def callee_that_always_raises_leaves(x):
    try:
        always(x)
    except KeyError:
        return x * 6.0


# ---------------------------------------------------------------------------------------------------------- loops


@case((A,), (np.array([1.0, 0.0, 2.0]),))
def skip_bad_elements(a):
    total = 0.0
    for x in a:
        try:
            if x == 0.0:
                raise ValueError("zero")
            total += 1.0 / float(x)
        except ValueError:
            continue
    return total


@case((A, 10), (A, 2))
def loop_ends_by_exception(a, n):
    total = 0.0
    try:
        for i in range(n):
            total += a[i] * a[i] * (i + 1)
    except IndexError:
        total = total * 2.0
    return total


@case((3.0, 10), (2.5, 4), (1.0, 3))
def counter_at_the_raise(x, n):
    i = 0
    y = 1.0
    try:
        while i < n:
            y = y * x / (x - i)
            i += 1
    except ZeroDivisionError:
        return y * i + x
    return y


@case((3.0, 10), (2.5, 4))
def break_in_try(x, n):
    total = 0.0
    for i in range(n):
        try:
            if i == 3:
                break
            total += 1.0 / (x - i)
        except ZeroDivisionError:
            total += x
        finally:
            total += 0.5 * x
    return total


@case((3.0, 10), (2.5, 4))
def continue_in_finally_loop(x, n):
    total = 0.0
    for i in range(n):
        try:
            if i % 2 == 0:
                continue
            total += x / (3 - i)
        except ZeroDivisionError:
            total -= x
        finally:
            total += x * x
        total += 1.0
    return total


@case((0.5, 20), (0.5, 2))
def exception_as_loop_control(x, n):
    total = 0.0
    try:
        for i in range(n):
            for j in range(n):
                if i * j > 6:
                    raise StopIteration
                total += x**i * j
    except StopIteration:
        total *= x
    return total


@case((0.5,), (3.0,))
def retry(x):
    trips = 0
    while True:
        try:
            y = math.log(x - 2.0)
            break
        except ValueError:
            x = x + 1.0
            trips += 1
            if trips > 5:
                return -1.0
    return y * x + trips


@case((2.0, 3), (0.5, 3))
def condition_that_raises(x, n):
    y = x
    trips = 0
    try:
        while math.sqrt(y) > 0.0:
            y = y - 0.7
            trips += 1
    except ValueError:
        return y * x + trips
    return y


@case((2.0, 3), (0.5, 0))
def return_in_loop_in_try(x, n):
    try:
        for i in range(5):
            y = x / (n - i)
            if y > 1.5:
                return y
    except ZeroDivisionError:
        return -x
    return 0.0


# -------------------------------------------------------------------------------------------------------- finally


@case((2.0,), (0.0,))
def return_in_finally(x):
    y = 3.0
    try:
        y = 1.0 / x
    finally:
        return y * x + 1.0  # noqa: B012


@case((2.0,), (0.0,), (-2.0,))
def return_in_finally_sometimes(x):
    y = 3.0
    try:
        if x < 0.0:
            return x * 10.0
        y = 1.0 / x
    finally:
        if y > 2.0:
            return y * x + 1.0  # noqa: B012
    return y


@case((2.0,), (0.0,))
def return_passes_finally(x):
    y = 0.0
    try:
        y = x * x
        return y / x
    except ZeroDivisionError:
        return y + 1.0
    finally:
        y = 100.0


@case((3.0,), (2.0,))
def break_in_finally(x):
    total = 0.0
    for i in range(4):
        try:
            total += 1.0 / (x - i)
        finally:
            if i == 2:
                break  # noqa: B012
    return total


@case((3.0,), (0.0,), (-1.0,))
def finally_in_finally(x):
    log = 1.0
    try:
        try:
            y = math.log(x)
        finally:
            log = log * 2.0 + x
    except ValueError:
        y = 0.0
        log += 5.0
    finally:
        log = log * 3.0
    return y + log


@case((3.0,), (0.0,), (-1.0,))
def exception_in_finally(x):
    try:
        try:
            y = math.log(x)
        finally:
            z = 1.0 / x
    except ZeroDivisionError:
        return x + 1.0
    except ValueError:
        return x + 2.0
    return y * z


@case((3.0,), (0.0,))
def mutation_is_kept(x):
    a = np.zeros(3)
    try:
        a[0] = x * x
        a[1] = 1.0 / x
        a[2] = x
    except ZeroDivisionError:
        a[2] = 5.0 + x
    return a[0] + 2.0 * a[1] + 3.0 * a[2]


# --------------------------------------------------------------------------------------------------------- nested


@case((3.0,), (0.0,), (-1.0,), (1.0,))
def nested(x):
    try:
        try:
            y = math.log(x)
            y = 1.0 / y
        except ValueError:
            y = 1.0 / (x + 1.0)
    except ZeroDivisionError:
        y = x * 9.0
    return y


@case((3.0,), (0.0,), (-1.0,), (1.0,))
def handler_raises(x):
    try:
        try:
            y = 1.0 / math.log(x)
        except ValueError:
            raise KeyError("again")
    except KeyError:
        y = x * x
    except ZeroDivisionError:
        y = x * 4.0
    return y


@case((3.0,), (0.0,), (-1.0,))
def reraise(x):
    try:
        try:
            y = math.log(x)
        except ValueError:
            if x < 0.0:
                raise
            y = x
    except ValueError as e:
        y = x * x if str(e) == "expected a positive input" or str(e) == "math domain error" else x * 2.0
    return y


@case((3.0,), (0.0,), (-1.0,))
def reraise_that_leaves(x):
    try:
        y = math.log(x) / (x - 3.0)
    except ValueError:
        if x < 0.0:
            raise
        y = x
    return y


@case((3.0,), (0.0,), (-1.0,))
def raise_the_exception(x):
    try:
        y = math.log(x) / (x - 3.0)
    except (ValueError, ZeroDivisionError) as e:
        if x < 0.0:
            raise e
        y = 2.0 * x
    return y


@case((3.0,), (0.0,), (-1.0,))
def try_in_handler(x):
    try:
        y = math.log(x)
    except ValueError:
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            y = 5.0 + x
    return y


@case((3.0,), (0.0,), (-1.0,))
def try_in_else_and_finally(x):
    y = x
    try:
        y = y / (x + 1.0)
    except ZeroDivisionError:
        y = -7.0 * x
    else:
        try:
            y += math.log(x)
        except ValueError:
            y += 20.0 * x
    finally:
        try:
            y = y / x
        except ZeroDivisionError:
            y = y + 0.5
    return y


# ------------------------------------------------------------------------------------------------------ exceptions


@case((3.0,), (0.5,))
def arguments(x):
    try:
        if x > 1.0:
            raise Diverged("too large", x, 3)
        y = x
    except Diverged as e:
        text, value, count = e.args
        y = value * value * count if text == "too large" else 0.0
    return y


@case((3.0,), (0.5,))
def first_argument(x):
    try:
        if x > 1.0:
            raise Diverged(x * x)
        raise Diverged(2.0 * x)
    except Diverged as e:
        return e.args[0] * 3.0


@case((3.0,), (0.5,), (7.0,))
def subclass_first(x):
    try:
        if x > 5.0:
            raise TooFar(x)
        if x > 1.0:
            raise Diverged(x * x)
        y = x
    except TooFar as e:
        y = e.excess() * 2.0 + e.limit
    except Diverged as e:
        y = e.args[0]
    return y


@case((3.0,), (0.5,), (7.0,))
def is_instance(x):
    try:
        if x > 5.0:
            raise TooFar(x)
        if x > 1.0:
            raise Diverged(x * x)
        y = x
    except Diverged as e:
        y = 2.0 * e.args[0] if isinstance(e, TooFar) else e.args[0] * x
    return y


def iterate(x, n):
    total = 0.0
    for trip in range(n):
        total += x**trip
        if total > 10.0:
            raise Stopped(total, trip)
    return total


@case((3.0, 10), (0.5, 10))
def attributes(x, n):
    try:
        return iterate(x, n)
    except Stopped as e:
        return e.value * e.trips


@case((3.0, 10), (0.5, 10))
def attributes_that_leave(x, n):
    return iterate(x, n) * x


@case((3.0, 10), (0.5, 10))
def text_with_numbers(x, n):
    try:
        return iterate(x, n)
    except Stopped as e:
        return x if str(e) == "stopped after 2 trips" else e.value


@case((3.0,), (-1.0,))
def own_text(x):
    try:
        if x < 0.0:
            raise Labelled("low", x * x)
        raise Labelled("high")
    except Labelled as e:
        return e.x * 2.0 if str(e) == "labelled low" else x * e.x


@case((3.0,), (-1.0,))
def raised_from(x):
    try:
        return math.sqrt(x)
    except ValueError as e:
        raise Diverged("no root", x) from e


@case((3.0,), (-1.0,))
def raised_from_none(x):
    try:
        return math.sqrt(x)
    except ValueError:
        raise RuntimeError("no root") from None


@case((3.0,), (-1.0,))
def made_before(x):
    problem = ValueError("made before")
    try:
        if x < 0.0:
            raise problem
        return x * x
    except ValueError as e:
        return x if e.args[0] == "made before" else 0.0


@case((3.0, 1), (3.0, 2))
def key_error(x, which):
    table = {"a": x, "b": x * x}
    key = "a" if which == 1 else "c"
    try:
        return table[key] * 2.0
    except KeyError:
        return -x


@case((3.0,))
def sure_type_error(x):
    try:
        return x + None
    except TypeError:
        return x * 2.0


@case((3.0,))
def sure_attribute_error(x):
    try:
        return x.nothing
    except AttributeError:
        return x * 2.0


@case((3.0, 0.0), (3.0, 2.0), argnums=(0, 1))
def two_arguments(x, y):
    try:
        z = x / y
    except ZeroDivisionError:
        z = x * 3.0 + y
    return z * y


@case((np.float32(3.0), 2), (np.float32(3.0), 9))
def single_precision(x, i):
    a = np.zeros(4, dtype=np.float32)
    a[1] = x
    a[2] = x * x
    try:
        y = a[i] * x
    except IndexError:
        y = x * x * x
    return y


@case((3.0,), (-1.0,))
def suppressed(x):
    y = x
    with contextlib.suppress(ValueError):
        y = math.sqrt(x)
    return y * 2.0


@case((3.0, 6), (-1.0, 6))
def caught_in_a_closure_of_a_loop(x, n):
    total = x
    for i in range(n):

        def step(y, i=i):
            try:
                return y / (i - 2)
            except ZeroDivisionError:
                return y * x

        total = total + step(total)
    return total


# ------------------------------------------------------------------------------------- with the rest of the language


class Rich(Exception):
    def __init__(self, x, pair, name="n"):
        super().__init__(x, name)
        self.x = x
        self.pair = pair
        self.name = name


@case((2.0, A), (-2.0, A))
def array_in_an_exception(c, xs):
    try:
        if c < 0.0:
            raise Diverged(xs * c)
        return np.sum(xs) * c
    except Diverged as e:
        return np.sum(e.args[0] * xs)


@case((2.0,), (2.5,))
def kept_after_the_handler(c):
    err = None
    total = c
    for i in range(4):
        try:
            total = total / (c - i)
        except ZeroDivisionError as e:
            err = e
    if err is not None:
        return total * 2.0 + len(err.args)
    return total


@case((2.0,), (0.0,))
def list_that_grows(c):
    found = []
    try:
        found.append(c * 2.0)
        found.append(1.0 / c)
        found.append(3.0)
    except ZeroDivisionError:
        found.append(-c - 5.0)
    return sum(found)


@case((2.0,))
def list_in_an_exception(c):
    try:
        raise Rich(c, [c, 2.0])
    except Rich as e:
        e.pair.append(3.0 * c)
        return sum(e.pair) * e.x


def sink(x, n):
    if n == 0:
        raise Rich(x, (x, n), "bottom")
    try:
        return sink(x * 1.5, n - 1) + 1.0
    finally:
        x += 1.0


@case((2.0, 3), (-1.0, 0))
def recursion_with_finally(c, n):
    try:
        return sink(c, n)
    except Rich as e:
        return e.x * e.pair[0] * c


def judge(e, c):
    return c * 2.0 if isinstance(e, ZeroDivisionError) else c * 3.0


@case((4.0,), (1.0,), (-1.0,))
def exception_passed_and_captured(c):
    try:
        y = math.sqrt(c) / (c - 1.0)
    except (ZeroDivisionError, ValueError) as e:
        scaled = lambda k: judge(e, c) * k  # noqa: E731, F821
        pair = (e, c)
        y = scaled(2.0) + (1.0 if str(pair[0]) == "float division by zero" else 5.0)
    return y


@case(({"a": 1.0, "b": 2.0},), ({"a": 1.0, "b": 0.0},))
def fields_of_a_dict(d):
    try:
        return d["a"] / d["b"]
    except ZeroDivisionError:
        return d["a"] * 2.0


def inverses(n, c):
    for i in range(n):
        yield c / (i - 2)


@case((2.0,))
def generator_that_raises(c):
    total = 0.0
    try:
        for v in inverses(5, c):
            total += v
    except ZeroDivisionError:
        total *= 3.0
    return total


@case((2.0,), (2.5,))
def comprehension_that_raises(c):
    try:
        xs = [1.0 / (c - i) for i in range(3)]
    except ZeroDivisionError:
        xs = [c]
    return sum(xs)


@case((2.0,))
def dict_filled_on_demand(c):
    d = {}
    for i in range(5):
        try:
            d[i % 3] += c * i
        except KeyError:
            d[i % 3] = c
    return d[0] + 2.0 * d[1] + 3.0 * d[2]


@case((2.0,))
def iterator_to_its_end(c):
    it = iter([c, 2.0])
    s = 0.0
    try:
        while True:
            s += next(it)
    except StopIteration:
        s *= 3.0
    return s


@case((2.0,))
def sure_errors(c):
    total = c
    try:
        total += float("x")
    except ValueError:
        total += c * 4.0
    try:
        x, y, z = (c, 1.0)
    except ValueError:
        total += c * 5.0
    try:
        total += (c, 1.0)[5]
    except IndexError:
        total += c * c
    try:
        total += {"a": c}["b"]
    except KeyError as e:
        total += c * 6.0 if e.args[0] == "b" else 0.0
    return total


def newton(f, x):
    for _ in range(20):
        slope = pb.grad(f)(x)
        if slope == 0.0:
            raise Diverged("flat", x)
        step = f(x) / slope
        x = x - step
        if abs(step) < 1e-12:
            return x
    raise Diverged("slow", x)


@case((4.0,), (-1.0,), second=False)
def newton_that_gives_up(c):
    try:
        return newton(lambda x: x * x - c, 1.0)
    except Diverged as e:
        return e.args[1] * 100.0


@case((2.0,), (-2.0,), second=False)
def derivatives_that_raise(c):
    def g(x):
        if x < 0.0:
            raise Rich(x * c, (x, 2), "a")
        return x * x * c

    total = 0.0
    try:
        total += pb.grad(g)(c)
    except Rich as e:
        total += e.x
    try:
        v, t = pb.jvp(g, (c,), (1.0,))
        total += v * t
    except Rich as e:
        total += e.x * e.pair[0]
    try:
        v, back = pb.vjp(g, c)
        total += v + back(2.0)[0]
    except Rich as e:
        total += e.args[0] * (2.0 if e.name == "a" else 1.0)
    return total


class Account:
    def __init__(self, x):
        self.x = x
        self.count = 0

    def draw(self, y):
        if y > self.x:
            raise Diverged("short", y - self.x)
        self.x -= y
        return self.x


@case((2.0,), (0.5,))
def method_that_raises(c):
    account = Account(c)
    total = 0.0
    for y in (0.5, 1.0, 5.0, 0.25):
        try:
            total += account.draw(y) * y
        except Diverged as e:
            total += e.args[1]
        finally:
            account.count += 10
    return total * account.count


@case((2.0,), (0.1,))
def captured_variable_that_changes(c):
    count = 0.0

    def bump(d):
        nonlocal count
        count += d
        if count > 3.0:
            raise ValueError("full", count)
        return count

    try:
        for _ in range(10):
            bump(c)
    except ValueError as e:
        return count * e.args[1]
    return count


def even(n, x):
    if n == 0:
        raise Diverged(x)
    return odd(n - 1, x * 1.5)


def odd(n, x):
    if n == 0:
        return x
    try:
        return even(n - 1, x + 1.0)
    except Diverged as e:
        if n > 3:
            raise
        return e.args[0] * x


@case((2.0, 4), (2.0, 2), (2.0, 3))
def mutual_recursion(c, n):
    try:
        return even(n, c)
    except Diverged as e:
        return e.args[0] * 2.0


class Journal:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log[0] += 1.0
        return self

    def __exit__(self, kind, value, trace):
        self.log[1] += 1.0 if kind is None else 5.0
        return kind is not None and issubclass(kind, KeyError)


@case((2.0,), (0.5,), (-1.0,))
def context_manager(c):
    log = np.zeros(2)
    try:
        with Journal(log):
            if c > 1.0:
                raise KeyError("x")
            if c < 0.0:
                raise IndexError("y")
            c = c * 3.0
    except IndexError:
        c = c * 7.0
    return c * (log[0] + log[1])


@case((2.0,), (5.0,))
def functions_in_a_list(c):
    total = 0.0
    for g in [lambda x: x * c, lambda x: x / 0.0, lambda x: math.log(x - 3.0)]:
        try:
            total += g(c)
        except (ZeroDivisionError, ValueError):
            total += 2.0 * c
    return total


@case((2.0, "square"), (0.0, "inverse"), (2.0, "other"))
def text_argument(c, name):
    try:
        match name:
            case "square":
                return c * c
            case "inverse":
                return 1.0 / c
            case _:
                raise KeyError(name)
    except KeyError as e:
        return c * 3.0 if e.args[0] == "other" else c
    except ZeroDivisionError as e:
        return 5.0 if f"{e}!" == "float division by zero!" else 6.0


@case((2.0,), (0.5,))
def endless_until_it_works(c):
    n = 0
    while True:
        n += 1
        try:
            if n < 3:
                raise Diverged
            return c * n
        except Diverged:
            pass
        finally:
            c += 1.0


@case((2.0,))
def exception_that_changes(c):
    first = Labelled("a", c)
    first.x = c * c
    try:
        raise first
    except Labelled as e:
        e.x += 1.0
        return first.x * c * (2.0 if e is first else 1.0)


@case((2.0,), (0.5,))
def class_of_the_exception(c):
    try:
        total = 1.0 / (c - 2.0)
        raise KeyError("k")
    except Exception as e:
        total = c * (2.0 if type(e).__name__ == "ZeroDivisionError" else 3.0)
        return total + (1.0 if type(e) is KeyError else 0.0) + (1.0 if e.__class__ is KeyError else 0.0)


@case((0.7,), (2.0,))
def causes_of_several_kinds(c):
    total = 0.0
    for k in range(4):
        try:
            try:
                if k == 0:
                    raise Labelled("a", c * c)
                if k == 1:
                    raise ValueError("no", c)
                if k == 2:
                    total += [c][k]
            except Labelled as e:
                raise RuntimeError("a") from e
            except ValueError as e:
                raise RuntimeError("b") from e
            except IndexError:
                raise RuntimeError("c") from None
        except RuntimeError as e:
            cause = e.__cause__
            if cause is None:
                total = total * c + 5.0
            elif isinstance(cause, Labelled):
                total += cause.x * 2.0
            else:
                total += cause.args[1] * math.sin(c)
    return total


@case((2.0,), (0.3,))
def cause_of_a_cause(c):
    try:
        try:
            raise Labelled("a", c)
        except Labelled as e:
            try:
                raise RuntimeError(e.x * c) from e
            except RuntimeError as f:
                raise KeyError(3) from f
    except KeyError as e:
        return e.__cause__.args[0] * c


@case((2.0,), (0.3,), (-1.0,))
def cause_read_and_raised_again(c):
    try:
        try:
            return 1.0 / (c - 2.0) if c > 1.0 else math.sqrt(c) + [c][int(c) * 5]
        except ZeroDivisionError as e:
            raise Labelled("zero", c) from e
        except ValueError as e:
            raise RuntimeError("root", c) from e
    except (Labelled, RuntimeError) as e:
        if isinstance(e.__cause__, ValueError):
            raise
        return c * 3.0


@case((2.0,), (0.1,))
def argument_of_the_check_that_failed(c):
    try:
        value = math.sqrt(math.sin(c) - 0.2)
        if not (True):
            raise ValueError("bad", c)
    except ValueError as e:
        value = math.sin(e.args[1])
    return value * c


# ------------------------------------------------------------------------------------ exceptions that leave with -1.0


class Named(Exception):
    def __init__(self, x: float, name: str) -> None:
        super().__init__(f"{name} at {x}")
        self.x = x
        self.name = name
        self.pair = (x, name, None, True)


def raised_from(x: float) -> float:
    try:
        return math.sqrt(x)
    except ValueError as e:
        raise Named(x, "outer") from e


def raised_from_twice(x: float) -> float:
    try:
        return raised_from(x)
    except Named as e:
        raise KeyError("top", x) from e


def raised_from_new(x: float) -> float:
    raise ValueError("a") from KeyError("b", x)


def raised_from_class(x: float) -> float:
    raise RuntimeError from ValueError


def raised_in_handler_and_caught(x: float) -> float:
    try:
        return 1.0 / (x + 1.0)
    except ZeroDivisionError as e:
        try:
            raise Named(x, "mid") from e
        except Named as r:
            raise OverflowError("top") from r


def raised_from_nothing(x: float) -> float:
    try:
        return math.sqrt(x)
    except ValueError:
        raise LookupError(x, "none") from None


def passes_finally(x: float) -> float:
    try:
        raise Named(x, "a")
    finally:
        x += 1.0


def asserted(x: float) -> float:
    assert x > 0.0, (x, "negative")
    return x


def number_as_text(x: float) -> float:
    raise SystemExit(3)


LEAVING = (
    raised_from, raised_from_twice, raised_from_new, raised_from_class, raised_in_handler_and_caught,
    raised_from_nothing, passes_finally, asserted, number_as_text,
)  # fmt: skip
