"""Call objects: what `jit(f)` is to Python.  A call costs some 20 ns and runs no Python code.

    c = CallObject(f, specialise)
    c(2.0)              no specialization yet: specialise(c, (2.0,), {}) compiles, installs an entry, gives the result
    c(3.0)              the entry takes the call
    c(x=3.0)            bound as CPython would, then the same entry
    c(1)                the entry does not apply: specialise(c, (1,), {})
    c(swapped_array)    no entry ever applies: called with a native copy instead (`twins`)

The object is laid out as a bound method of CPython, with `_miss` as its function and itself as its self, and then two
chains:

    header | function | self | - | vectorcall | chain of positional calls | chain of bound calls

so until an entry is installed, and wherever a chain ends, CPython's own vectorcall of bound methods calls
`_miss(c, ...)`: no native code is made before a function is called.  A chain is an array of entries, the newest first.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from pullback.diagnostic import InternalError
from pullback.runtime import generators, layout, symbols, twins
from pullback.runtime.noted import Noted

__all__ = ["BOUND_CHAIN", "CHAIN", "MISS", "CallObject", "Entry", "Specialise", "connect", "transform_of"]

CHAIN = layout.METHOD_VECTORCALL + 8
BOUND_CHAIN = CHAIN + 8
_SIZE = BOUND_CHAIN + 8

LONGEST = 64
"""Entries that an object keeps; the oldest leaves."""


class _Miss:
    """The type of `MISS`."""

    def __repr__(self) -> str:
        return "MISS"


MISS = _Miss()
"""What `call_bound` gives when no entry applies."""


class Entry(Protocol):
    """Native code of one specialization; the code lives while this object does."""

    @property
    def address(self) -> int: ...


Specialise = Callable[["CallObject", tuple[object, ...], dict[str, object]], object]


class _Native:
    """Addresses in the library of codegen.support, set by `connect`."""

    vectorcall = 0
    bound_miss = 0
    call_bound: Callable[..., object] | None = None
    definition: object = None


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_METH_FASTCALL = 0x80


def connect(vectorcall: int, bound_miss: int, call_bound: int) -> None:
    """Tell call objects where the native functions they need are.  Called once, before an entry is installed."""
    definition = _MethodDefinition(b"call_bound", call_bound, _METH_FASTCALL, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    _Native.definition = definition  # CPython keeps a pointer to it
    _Native.call_bound = new(ctypes.addressof(definition), None, None)
    _Native.bound_miss = bound_miss
    _Native.vectorcall = vectorcall


# --------------------------------------------------------------------------------------------------------- the type


class _Slot(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_int),
        ("item_size", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    )


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_TP_CALL, _TP_MEMBERS = 50, 72
_PY_SSIZE_T, _READ_ONLY = 19, 1
_DEFAULT, _BASE_TYPE, _HAVE_VECTORCALL = 1 << 18, 1 << 10, 1 << 11


def _make_base() -> Any:
    """A type with a vectorcall and nothing else; a Python subclass adds attributes, weak references and collection."""
    members = (_Member * 2)(
        _Member(b"__vectorcalloffset__", _PY_SSIZE_T, layout.METHOD_VECTORCALL, _READ_ONLY, None), _Member()
    )
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p).value
    slots = (_Slot * 3)(_Slot(_TP_CALL, call), _Slot(_TP_MEMBERS, ctypes.addressof(members)), _Slot(0, None))
    flags = _DEFAULT | _BASE_TYPE | _HAVE_VECTORCALL
    spec = _Spec(b"pullback.runtime.callobject.NativeCall", _SIZE, 0, flags, ctypes.addressof(slots))
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p]
    base = make(ctypes.addressof(spec))
    _kept.append((members, slots, spec))  # CPython 3.11 refers to the name and the members
    return base


_kept: list[object] = []
layout.verify()
_Base: Any = _make_base()


def _write(place: int, value: int) -> None:
    ctypes.c_size_t.from_address(place).value = value


class CallObject(_Base):  # type: ignore[misc]
    """A callable with native entries.

    function: the Python function it stands for, as `__wrapped__`; name, docstring and signature are taken from it.
    specialise: called as specialise(self, arguments, keywords) when no entry applies.  The arguments are all the
        parameters in order, defaults filled in, and there are no keywords, unless the function takes *args or **kwargs.
    recipe: (callable, arguments) that makes an equal object; used by pickle where the name does not lead here.
    """

    __wrapped__: Callable[..., object]
    translates = False  # its code hands out random generators

    def __init__(
        self,
        function: Callable[..., object],
        specialise: Specialise,
        recipe: tuple[Callable[..., object], tuple[object, ...]] | None = None,
    ) -> None:
        # Another call object's attributes are its own business: only its name and the like are taken.
        updated = () if isinstance(function, CallObject | Noted) else functools.WRAPPER_UPDATES
        functools.update_wrapper(self, function, updated=updated)
        self._specialise = specialise
        self._recipe = recipe
        self._python = _python_function(function)
        self._binder = _binder(self._python)
        self._entries: tuple[Entry, ...] = ()
        self._chains: list[object] = []
        self._lock = threading.RLock()
        at = id(self)
        _write(at + layout.METHOD_FUNCTION, id(_MISS_FUNCTION))
        _write(at + layout.METHOD_SELF, at)
        _write(at + layout.METHOD_VECTORCALL, symbols.address("pb.miss"))

    # ------------------------------------------------------------------------------------------------------ entries

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The installed specializations, the newest first."""
        return self._entries

    def install(self, entry: Entry) -> None:
        """Let the entry take the calls it applies to, before all others."""
        with self._lock:
            self._set((entry, *(e for e in self._entries if e is not entry))[:LONGEST])

    def remove(self, entry: Entry) -> None:
        """Forget an entry."""
        with self._lock:
            self._set(tuple(e for e in self._entries if e is not entry))

    def _set(self, entries: tuple[Entry, ...]) -> None:
        if not _Native.vectorcall:
            raise RuntimeError("callobject.connect has not been called")
        # Calls that run now may still read the old chain and be inside the code of old entries: they are kept.
        positional, bound = (
            (ctypes.c_size_t * (len(entries) + 1))(*(e.address for e in entries), end)
            for end in (symbols.address("pb.miss"), _Native.bound_miss)
        )
        self._chains += [positional, bound, *(e for e in self._entries if e not in entries)]
        self._entries = entries
        at = id(self)
        _write(at + CHAIN, ctypes.addressof(positional))
        _write(at + BOUND_CHAIN, ctypes.addressof(bound))
        _write(at + layout.METHOD_VECTORCALL, _Native.vectorcall)

    def call_bound(self, *arguments: object) -> object:
        """The result for all the parameters, in order; `MISS` if no entry applies."""
        if not self._entries or _Native.call_bound is None:
            return MISS
        return _Native.call_bound(self, *arguments)

    def bind(self, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> tuple[object, ...]:
        """All the parameters in order, as CPython would bind them: TypeError with its message if they do not fit."""
        if self._binder is None:
            raise TypeError(f"{self.__name__} takes a variable number of arguments")
        assert self._python is not None
        self._binder.__defaults__ = self._python.__defaults__
        self._binder.__kwdefaults__ = self._python.__kwdefaults__
        return self._binder(*arguments, **keywords)  # type: ignore[no-any-return]

    def _miss(self, /, *arguments: object, **keywords: object) -> object:
        try:
            return self._missed(arguments, keywords)
        except InternalError:
            raise
        except BaseException as error:
            raise error.with_traceback(_without_ours(error.__traceback__))  # noqa: B904  its cause stays what it is

    def _missed(self, arguments: tuple[object, ...], keywords: dict[str, object]) -> object:
        values = arguments
        if self._binder is not None:
            values = self.bind(arguments, keywords)
            if keywords or len(values) != len(arguments):
                result = self.call_bound(*values)
                if result is not MISS:
                    return result
            keywords = {}
        if not keywords and (self.translates or generators.needed(values)):
            return generators.call(self._with_states, values)
        if not keywords and twins.needed(values):
            return twins.call(self._call_or_specialise, values)
        return self._specialise(self, values, keywords)

    def _with_states(self, *values: object) -> object:
        if twins.needed(values):
            return twins.call(self._call_or_specialise, values)
        return self._specialise(self, values, {})

    def _call_or_specialise(self, *values: object) -> object:
        result = self.call_bound(*values)
        return self._specialise(self, values, {}) if result is MISS else result

    # --------------------------------------------------------------------------------------- as a Python function

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self if instance is None else types.MethodType(self, instance)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)

    def __repr__(self) -> str:
        return f"<compiled {getattr(self, '__qualname__', '?')} of {getattr(self, '__module__', '?')}>"

    def __copy__(self) -> CallObject:
        return self

    def __deepcopy__(self, memo: object) -> CallObject:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        name = getattr(self, "__qualname__", "")
        if _found_by_name(getattr(self, "__module__", ""), name) is self:
            return name
        if self._recipe is not None:
            return self._recipe
        raise TypeError(f"{self!r} cannot be pickled: it is not found as {name} in its module")


_MISS_FUNCTION = CallObject._miss
_PACKAGE = str(Path(__file__).parents[1]) + os.sep


def _without_ours(frames: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback from the first frame on that is the user's: those between the call and it say nothing."""
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        frames = frames.tb_next
    return frames


def transform_of(value: object) -> Any:
    """(kind, function, options) of jit(f), grad(f), ...; None for others: functools.wraps copies attributes."""
    return getattr(value, "__pullback__", None) if isinstance(value, CallObject | Noted) else None


def _inherit_vectorcall() -> None:
    """CPython 3.11 does not let a class written in Python inherit the vectorcall; calls would cost twice as much."""
    if sys.version_info >= (3, 12) or CallObject.__flags__ & _HAVE_VECTORCALL:
        return
    flags = ctypes.c_ulong.from_address(id(CallObject) + layout.TYPE_FLAGS)
    if flags.value == CallObject.__flags__:
        flags.value |= _HAVE_VECTORCALL


_inherit_vectorcall()


def _found_by_name(module: str, qualified: str) -> object:
    found: object = sys.modules.get(module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return found


def _python_function(function: object) -> types.FunctionType | None:
    """The function, written in Python, whose parameters the call object has."""
    while isinstance(function, CallObject | Noted):
        function = function.__wrapped__
    return function if isinstance(function, types.FunctionType) else None


def _binder(function: types.FunctionType | None) -> Any:
    """A function of the same name and parameters that gives them back as a tuple; None for *args and **kwargs."""
    if function is None or function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return None
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    # Names are put in place afterwards: a user's parameter may be called as one likes.
    plain = [f"p{i}" for i in range(len(positional) + len(keyword_only))]
    listed = [*plain[: len(positional)], *(["*"] if keyword_only else []), *plain[len(positional) :]]
    if code.co_posonlyargcount:
        listed.insert(code.co_posonlyargcount, "/")
    scope: dict[str, Any] = {}
    exec(f"def bind({', '.join(listed)}): return ({''.join(f'{name},' for name in plain)})", scope)
    made = scope["bind"].__code__.replace(
        co_varnames=positional + keyword_only, co_name=code.co_name, co_qualname=code.co_qualname
    )
    binder = types.FunctionType(made, {}, code.co_name)
    binder.__qualname__ = function.__qualname__
    return binder
