"""The entailment cache: what was computed from a tool output, kept under that output's SHA-256.

A key is the output's SHA-256 (32 bytes) and a digest (16 bytes) of everything else that the value depends on: its kind, the
segment's span and text, the claim, the model's fingerprint and the version of the rules. Values are plain bytes.
"""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, Protocol

from entailgrid.errors import CacheUnavailable

DIGEST = 16
SHA = 32
Kind = Literal["pair", "embedding", "tokens"]
Entry = tuple[bytes, bytes]

_OVERHEAD = 330
"""Bytes that CPython spends on an entry beside its key and value: two bytes objects, a node of the ordered dict, a place in the
set of its tool output (tracemalloc, 100,000 entries)."""


def key_of(sha256: str, kind: Kind, *parts: str) -> bytes:
    """48 bytes. `sha256`: 64 hex digits. Parts are length-prefixed, so that no two lists of parts run together."""
    digest = blake2b(kind.encode(), digest_size=DIGEST)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return bytes.fromhex(sha256) + digest.digest()


def sealed(key: bytes, value: bytes) -> bytes:
    """The value as a store keeps it: behind a CRC-32 of key and value."""
    return zlib.crc32(value, zlib.crc32(key)).to_bytes(4, "big") + value


def unsealed(key: bytes, stored: bytes) -> bytes | None:
    """The value, or None where it does not match its checksum."""
    value = stored[4:]
    return value if stored == sealed(key, value) else None


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Of this process, but for `stored_entries` and `stored_bytes` (None without a store, or while it is out of reach)."""

    store: str
    entries: int
    bytes: int
    hits: int
    misses: int
    evictions: int
    degraded: bool
    stored_entries: int | None = None
    stored_bytes: int | None = None


class Store(Protocol):
    """What stands behind the memory. Methods never raise for a store that is full, damaged or out of reach, but for `forget`,
    `clear` and `verify`, which raise CacheUnavailable: a promise to delete must not be broken in silence."""

    name: str
    degraded: bool

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]: ...

    def put_many(self, entries: Sequence[Entry]) -> None: ...

    def forget(self, sha256: bytes) -> int: ...

    def clear(self) -> int: ...

    def verify(self) -> int: ...

    def size(self) -> tuple[int, int] | None: ...

    def close(self) -> None: ...


class EntailmentCache:
    """Memory, bounded in bytes, in front of an optional store. All methods may be called from any thread."""

    def __init__(self, memory_bytes: int, store: Store | None = None) -> None:
        self._capacity = memory_bytes
        self._store = store
        self._lock = threading.Lock()
        self._values: OrderedDict[bytes, bytes] = OrderedDict()
        self._by_output: dict[bytes, set[bytes]] = {}
        self._forgotten: dict[bytes, int] = {}
        self._bytes = self._hits = self._misses = self._evictions = 0
        self._cleared = 0
        self._listeners: list[Callable[[], None]] = []
        self.generation = 0

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys`, None where there is none."""
        values = self._values
        with self._lock:
            found = list(map(values.get, keys))
            for key, value in zip(keys, found, strict=True):
                if value is not None:
                    values.move_to_end(key)
            missing = [index for index, value in enumerate(found) if value is None]
            generation = self.generation
        if missing and self._store is not None:
            stored = self._store.get_many([keys[index] for index in missing])
            promoted: list[Entry] = []
            for index, value in zip(missing, stored, strict=True):
                found[index] = value
                if value is not None:
                    promoted.append((keys[index], value))
            self._keep(promoted, generation)
        hits = sum(value is not None for value in found)
        with self._lock:
            self._hits += hits
            self._misses += len(keys) - hits
        return found

    def put_many(self, entries: Sequence[Entry], generation: int) -> None:
        """Keep `entries`. `generation`: this object's, read before their values were computed: what belongs to an output
        that was forgotten since is dropped."""
        kept = self._keep(entries, generation)
        if kept and self._store is not None:
            self._store.put_many(kept)
            late = [entry for entry in kept if not self._allowed(entry[0], generation)]
            for sha in {key[:SHA] for key, _ in late}:
                with suppress(CacheUnavailable):  # the caller of `forget` was told
                    self._store.forget(sha)

    def _allowed(self, key: bytes, generation: int) -> bool:
        return self._cleared <= generation and self._forgotten.get(key[:SHA], 0) <= generation

    def _keep(self, entries: Iterable[Entry], generation: int) -> list[Entry]:
        with self._lock:
            kept = [entry for entry in entries if self._allowed(entry[0], generation)]
            for key, value in kept:
                old = self._values.pop(key, None)
                self._bytes += len(value) - len(old) if old is not None else len(key) + len(value) + _OVERHEAD
                self._values[key] = value
                self._by_output.setdefault(key[:SHA], set()).add(key)
            while self._bytes > self._capacity and self._values:
                key, value = self._values.popitem(last=False)
                self._dropped(key, value)
                self._evictions += 1
            return kept

    def _dropped(self, key: bytes, value: bytes) -> None:
        self._bytes -= len(key) + len(value) + _OVERHEAD
        group = self._by_output[key[:SHA]]
        group.discard(key)
        if not group:
            del self._by_output[key[:SHA]]

    def on_forget(self, listener: Callable[[], None]) -> None:
        """`listener` drops what it keeps outside this cache."""
        self._listeners.append(listener)

    def forget(self, tool_output_sha256: str) -> int:
        """Remove everything derived from a tool output; the number of entries removed, the store's if there is one.

        Raises ValueError for what is no SHA-256, CacheUnavailable where the store could not be reached.
        """
        sha = sha_bytes(tool_output_sha256)
        dropped = self._drop(sha)
        try:
            return self._store.forget(sha) if self._store is not None else dropped
        finally:  # again: a lookup meanwhile may have brought an entry back from the store
            if self._store is not None:
                self._drop(sha)
            for listener in self._listeners:
                listener()

    def _drop(self, sha: bytes) -> int:
        """Out of the memory, and from now on out of what was being computed."""
        with self._lock:
            self.generation += 1
            self._forgotten[sha] = self.generation
            keys = list(self._by_output.get(sha, ()))
            for key in keys:
                self._dropped(key, self._values.pop(key))
            return len(keys)

    def clear(self) -> int:
        """Remove everything; the number of entries removed, the store's if there is one. Raises CacheUnavailable."""
        with self._lock:
            self.generation += 1
            self._cleared = self.generation
            count = len(self._values)
            self._values.clear()
            self._by_output.clear()
            self._forgotten.clear()
            self._bytes = 0
        for listener in self._listeners:
            listener()
        return self._store.clear() if self._store is not None else count

    def verify(self) -> int:
        """Check every stored value against its checksum; the number of damaged ones, which are removed."""
        return self._store.verify() if self._store is not None else 0

    @property
    def degraded(self) -> bool:
        return self._store is not None and self._store.degraded

    def stats(self) -> CacheStats:
        size = self._store.size() if self._store is not None else None
        with self._lock:
            return CacheStats(
                store=self._store.name if self._store is not None else "memory",
                entries=len(self._values),
                bytes=self._bytes,
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
                degraded=self.degraded,
                stored_entries=size[0] if size else None,
                stored_bytes=size[1] if size else None,
            )

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


def sha_bytes(sha256: str) -> bytes:
    """The 32 bytes of 64 hex digits. Raises ValueError."""
    try:
        raw = bytes.fromhex(sha256)
    except ValueError:
        raw = b""
    if len(raw) != SHA or len(sha256) != 2 * SHA:
        raise ValueError(f"{sha256!r} is not a SHA-256: expected 64 hexadecimal digits, as in sources[].sha256 of a report")
    return raw


def open_cache(spec: str | None, memory_bytes: int) -> EntailmentCache | None:
    """`memory`, `lmdb:PATH`, `redis://…` (or `rediss://…`), or None for no cache.

    Raises ValueError for anything else, or where the package that the store needs is not installed.
    """
    if spec is None:
        return None
    if spec == "memory":
        return EntailmentCache(memory_bytes)
    if spec.startswith("lmdb:") and spec != "lmdb:":
        from entailgrid.inference.lmdb_store import LmdbStore

        return EntailmentCache(memory_bytes, LmdbStore(spec.removeprefix("lmdb:")))
    if spec.startswith(("redis://", "rediss://")):
        from entailgrid.inference.redis_store import RedisStore

        return EntailmentCache(memory_bytes, RedisStore(spec))
    raise ValueError(f"cache is {spec!r}; expected 'memory', 'lmdb:PATH', 'redis://HOST:PORT/DB' or None")
