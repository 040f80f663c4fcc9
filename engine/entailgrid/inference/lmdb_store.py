"""The cache's store on one machine: an LMDB environment that several processes may share."""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from entailgrid.errors import CacheUnavailable
from entailgrid.inference.cache import Entry, sealed, unsealed

_VERSION = b"entailgrid cache 1"
_HEADER = b"\x00version"
"""Shorter than any key of an entry (48 bytes), so that it never meets one."""
MAP_SIZE = 4 << 30
"""Bytes that the store may grow to. LMDB reserves address space, not disk."""

_log = logging.getLogger("entailgrid")


class LmdbStore:
    """Entries with a CRC-32 each. What is damaged, cut short or of another version is rebuilt, with one warning; a full or
    read-only disk leaves the memory in use, with one warning and `degraded`.

    Commits are synchronised but for LMDB's meta page: a crash may lose the last commit and damages nothing. An environment
    must not cross a fork, so a forked child does without.
    """

    def __init__(self, path: str | Path, map_size: int = MAP_SIZE) -> None:
        self.name = f"lmdb:{path}"
        self.degraded = False
        self._path, self._map_size = Path(path), map_size
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._env: Any = None
        self._writable = True
        import lmdb

        self._errors: tuple[type[Exception], ...] = (lmdb.Error, OSError)
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            with self._rebuilding():
                self._env = self._opened()
        except self._errors as error:
            self._degrade(f"cannot be opened ({error})")

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        if not self._usable():
            return [None] * len(keys)
        try:
            with self._env.begin() as transaction:
                raw = list(map(transaction.get, keys))
        except self._errors as error:
            self._rebuild(str(error))
            return [None] * len(keys)
        found = [None if value is None else unsealed(key, value) for key, value in zip(keys, raw, strict=True)]
        damaged = [key for key, value, good in zip(keys, raw, found, strict=True) if value is not None and good is None]
        if damaged:
            self._rebuild(f"{len(damaged)} of its values do not match their checksums")
        return found

    def put_many(self, entries: Sequence[Entry]) -> None:
        if not self._usable() or not self._writable:
            return
        try:
            with self._env.begin(write=True) as transaction:
                for key, value in entries:
                    transaction.put(key, sealed(key, value))
        except self._errors as error:
            self._writable = False
            self._degrade(f"takes no more entries ({error})")

    def forget(self, sha256: bytes) -> int:
        return self._delete(sha256)

    def clear(self) -> int:
        count = self._delete(b"")
        self._writable, self.degraded = True, False
        return count

    def verify(self) -> int:
        with self._transaction() as transaction:
            damaged = [key for key, value in transaction.cursor() if key != _HEADER and unsealed(key, value) is None]
            for key in damaged:
                transaction.delete(key)
            return len(damaged)

    def size(self) -> tuple[int, int] | None:
        if not self._usable():
            return None
        stat = self._env.stat()
        pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
        return stat["entries"] - 1, pages * stat["psize"]

    def close(self) -> None:
        if self._usable():
            self._env.close()
            self._env = None

    def _usable(self) -> bool:
        return self._env is not None and os.getpid() == self._process

    def _delete(self, prefix: bytes) -> int:
        count = 0
        with self._transaction() as transaction, transaction.cursor() as cursor:
            found = cursor.set_range(prefix) if prefix else cursor.first()
            while found and cursor.key().startswith(prefix):
                if cursor.key() == _HEADER:
                    found = cursor.next()
                    continue
                found = cursor.delete() and bool(cursor.key())
                count += 1
        return count

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        if not self._usable():
            raise CacheUnavailable(f"{self.name}: the store is not open")
        try:
            with self._env.begin(write=True) as transaction:
                yield transaction
        except self._errors as error:
            raise CacheUnavailable(f"{self.name}: {error}") from error

    def _opened(self) -> Any:
        """The environment, new where the one on disk cannot be used. Called with the rebuilding lock held."""
        import lmdb

        env = None
        try:
            env = self._environment()
            if fault := self._fault(env):
                raise lmdb.CorruptedError(fault)
            return env
        except (lmdb.CorruptedError, lmdb.InvalidError, lmdb.VersionMismatchError, lmdb.PanicError) as error:
            if env is not None:
                env.close()
            _log.warning("%s: rebuilt empty: %s", self.name, error)
            for name in ("data.mdb", "lock.mdb"):
                (self._path / name).unlink(missing_ok=True)
            env = self._environment()
            self._fault(env)
            return env

    def _environment(self) -> Any:
        import lmdb

        return lmdb.open(str(self._path), map_size=self._map_size, metasync=False, max_readers=1024)

    def _fault(self, env: Any) -> str | None:
        """Why the environment cannot be used; a new one gets its header."""
        stat, info = env.stat(), env.info()
        file = self._path / "data.mdb"
        if (info["last_pgno"] + 1) * stat["psize"] > file.stat().st_size and info["last_txnid"] > 0:
            return "the file is cut short"
        with env.begin() as transaction:
            header = transaction.get(_HEADER)
        if header == _VERSION:
            return None
        if header is not None:
            return f"its version is {header!r}, not {_VERSION!r}"
        if stat["entries"]:
            env.close()
            raise ValueError(f"{self._path} holds another program's LMDB database; expected a folder of its own for the cache")
        with env.begin(write=True) as transaction:
            transaction.put(_HEADER, _VERSION)
        return None

    def _rebuild(self, reason: str) -> None:
        with self._lock:
            if not self._usable():
                return
            old, self._env = self._env, None
            try:
                with self._rebuilding():
                    _log.warning("%s: rebuilt empty: %s", self.name, reason)
                    with old.begin(write=True) as transaction:
                        transaction.drop(old.open_db(None, transaction), delete=False)
                        transaction.put(_HEADER, _VERSION)
                    self._env = old
            except self._errors as error:
                self._degrade(f"is damaged and cannot be rebuilt ({error})")

    @contextmanager
    def _rebuilding(self) -> Iterator[None]:
        """One process at a time opens or rebuilds."""
        with (self._path / "open.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _degrade(self, reason: str) -> None:
        if not self.degraded:
            self.degraded = True
            _log.warning("%s %s; this process goes on with its memory alone", self.name, reason)
