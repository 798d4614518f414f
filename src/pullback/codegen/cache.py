"""What was compiled once is kept on disk under the hash of everything it depends on.

    name = key("object", text, fingerprint())       a hash of the parts
    store(name, code)                               atomic; silently nothing on a full or read-only disk
    load(name)                                      the bytes, or None if absent, damaged or not readable

The directory is `$PULLBACK_CACHE_DIR`, or `pullback` in the user's cache directory.  An entry is a digest followed by
the bytes; a damaged one is removed and made anew.  The entries used longest ago leave when the total passes the limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["LIMIT", "Info", "clear", "compiler_fingerprint", "directory", "info", "key", "load", "store"]

LIMIT = 512 << 20
"""Bytes on disk above which old entries are removed."""

_DIGEST = 32
_SWEEP_EVERY = 64  # stores between looks at the total size
_REFRESH = 24 * 3600.0  # how old a time of use may get, seconds
_SUFFIX = ".pb"


@dataclass(frozen=True, slots=True)
class Info:
    """What the cache holds, and how it served this process."""

    directory: Path
    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int


@dataclass(slots=True)
class _Counts:
    hits: int = 0
    misses: int = 0
    stores: int = 0


_counts = _Counts()
_lock = threading.Lock()


def directory() -> Path:
    """Where entries are kept; it need not exist."""
    chosen = os.environ.get("PULLBACK_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    return _user_cache(sys.platform, os.environ, Path.home) / "pullback"


def _user_cache(platform: str, environment: Mapping[str, str], home: Callable[[], Path]) -> Path:
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local) if local else home() / "AppData" / "Local"
    if platform == "darwin":
        return home() / "Library" / "Caches"
    chosen = environment.get("XDG_CACHE_HOME")
    # The XDG rules say that a relative path is to be ignored.
    return Path(chosen) if chosen and os.path.isabs(chosen) else home() / ".cache"


def key(*parts: str | bytes) -> str:
    """A name for what is made from the parts by this version of pullback."""
    digest = hashlib.sha256(getattr(sys.modules["pullback"], "__version__", "").encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@cache
def compiler_fingerprint() -> str:
    """A hash that changes with every edit of this package: part of the key of what is not keyed by generated code."""
    root = Path(__file__).resolve().parents[1]
    facts = [(path.relative_to(root).as_posix(), path.stat()) for path in sorted(root.rglob("*.py"))]
    return key(*(f"{name} {fact.st_size} {fact.st_mtime_ns}" for name, fact in facts))


def _path(name: str) -> Path:
    return directory() / name[:2] / (name + _SUFFIX)


def load(name: str) -> bytes | None:
    """The bytes stored under a key, or None."""
    data = _read(name)
    with _lock:
        if data is None:
            _counts.misses += 1
        else:
            _counts.hits += 1
    return data


def _read(name: str) -> bytes | None:
    with contextlib.suppress(OSError, RuntimeError):
        if not _trusted(directory()):
            return None
        path = _path(name)
        with path.open("rb") as file:
            content, used = file.read(), os.fstat(file.fileno()).st_mtime
        data = content[_DIGEST:]
        if hashlib.sha256(data).digest() != content[:_DIGEST]:
            path.unlink(missing_ok=True)
            return None
        if time.time() - used > _REFRESH:
            os.utime(path)
        return data
    return None


def _trusted(root: Path) -> bool:
    """Code is run from here: the directory must be the user's own and not open to others for writing."""
    if not hasattr(os, "getuid"):
        return True
    facts = root.stat()
    return facts.st_uid == os.getuid() and not facts.st_mode & 0o022


def store(name: str, data: bytes) -> None:
    """Keep bytes under a key.  Whatever fails, the caller goes on without a cache."""
    with contextlib.suppress(OSError, RuntimeError):
        _write(name, data)
        with _lock:
            _counts.stores += 1
            sweep = _counts.stores % _SWEEP_EVERY == 1
        if sweep:
            _evict()


def _write(name: str, data: bytes) -> None:
    path = _path(name)
    directory().mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # A reader sees the old entry, the whole new one or none: never a part.
    handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _entries(root: Path) -> Iterator[tuple[float, int, Path]]:
    """Time of use, size and path of the files of the cache, leftovers of crashed writers included."""
    for path in root.glob("??/*"):
        if path.suffix == _SUFFIX or path.name.startswith(".new-"):
            with contextlib.suppress(OSError):
                facts = path.stat()
                yield facts.st_mtime, facts.st_size, path


def _evict() -> None:
    """Remove leftovers older than a day, then the entries used longest ago, down to three quarters of the limit."""
    found = sorted(_entries(directory()))
    total, now = sum(size for _, size, _ in found), time.time()
    goal = LIMIT * 3 // 4 if total > LIMIT else total
    for used, size, path in found:
        stale = path.name.startswith(".new-") and now - used > _REFRESH
        if stale or total > goal:
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size


def info() -> Info:
    """Number and size of the entries on disk, and this process's hits and misses."""
    found = list(_entries(directory()))
    return Info(directory(), len(found), sum(size for _, size, _ in found), LIMIT, _counts.hits, _counts.misses)


def clear() -> int:
    """Remove every entry; how many there were."""
    removed = 0
    for _, _, path in list(_entries(directory())):
        with contextlib.suppress(OSError):
            path.unlink()
            removed += 1
    return removed
