"""The cache's store for several machines: one Redis hash a tool output, so that forgetting one is a single DEL."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from entailgrid.errors import CacheUnavailable
from entailgrid.inference.cache import SHA, Entry, sealed, unsealed

_PREFIX = b"entailgrid:1:"
_TIMEOUT = 0.25
"""Seconds: a lookup that takes longer costs more than what it would save."""
_BACKOFF = (0.5, 30.0)

_log = logging.getLogger("entailgrid")
T = TypeVar("T")


class RedisStore:
    """Entries of `HSET entailgrid:1:<sha256> <digest> <crc32 + value>`. While the server is out of reach the memory goes on
    alone, with one warning an outage and `degraded`; the server is tried again after 0.5 to 30 seconds."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        try:
            import redis
        except ImportError as error:
            raise ValueError("a redis:// cache needs the package redis: pip install 'entailgrid[redis]'") from error
        self.name = url.rsplit("@", 1)[-1] if "@" in url else url
        self.degraded = False
        self._clock = clock
        self._lock = threading.Lock()
        self._retry_at, self._pause = 0.0, _BACKOFF[0]
        self._error: type[Exception] = redis.RedisError
        try:
            self._client: Any = redis.Redis.from_url(url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT)
        except ValueError as error:
            raise ValueError(f"cache is {url!r}: {error}") from error

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        groups: dict[bytes, list[int]] = {}
        for index, key in enumerate(keys):
            groups.setdefault(key[:SHA], []).append(index)

        def read() -> list[list[bytes | None]]:
            pipe = self._client.pipeline(transaction=False)
            for sha, members in groups.items():
                pipe.hmget(_name(sha), [keys[index][SHA:] for index in members])
            return list(pipe.execute())

        found: list[bytes | None] = [None] * len(keys)
        answers = self._tried(read)
        for members, values in zip(groups.values(), answers or [], strict=answers is not None):
            for index, value in zip(members, values, strict=True):
                found[index] = None if value is None else unsealed(keys[index], value)
        return found

    def put_many(self, entries: Sequence[Entry]) -> None:
        groups: dict[bytes, dict[bytes, bytes]] = {}
        for key, value in entries:
            groups.setdefault(key[:SHA], {})[key[SHA:]] = sealed(key, value)

        def write() -> None:
            pipe = self._client.pipeline(transaction=False)
            for sha, fields in groups.items():
                pipe.hset(_name(sha), mapping=fields)
            pipe.execute()

        self._tried(write)

    def forget(self, sha256: bytes) -> int:
        def delete() -> int:
            pipe = self._client.pipeline(transaction=True)
            pipe.hlen(_name(sha256))
            pipe.delete(_name(sha256))
            return int(pipe.execute()[0])

        return self._demanded(delete)

    def clear(self) -> int:
        return self._demanded(lambda: sum(self.forget(_sha(name)) for name in self._client.scan_iter(_PREFIX + b"*", 500)))

    def verify(self) -> int:
        def check() -> int:
            count = 0
            for name in self._client.scan_iter(_PREFIX + b"*", 500):
                fields = self._client.hgetall(name)
                damaged = [field for field, value in fields.items() if unsealed(_sha(name) + field, value) is None]
                count += self._client.hdel(name, *damaged) if damaged else 0
            return count

        return self._demanded(check)

    def size(self) -> tuple[int, int] | None:
        def measure() -> tuple[int, int]:
            names = list(self._client.scan_iter(_PREFIX + b"*", 500))
            pipe = self._client.pipeline(transaction=False)
            for name in names:
                pipe.hlen(name)
                pipe.memory_usage(name)
            answers = pipe.execute()
            return sum(answers[::2]), sum(size or 0 for size in answers[1::2])

        return self._tried(measure)

    def close(self) -> None:
        self._client.close()

    def _demanded(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except self._error as error:
            raise CacheUnavailable(f"{self.name}: {error}") from error

    def _tried(self, call: Callable[[], T]) -> T | None:
        if self.degraded and self._clock() < self._retry_at:
            return None
        try:
            answer = call()
        except self._error as error:
            self._lost(error)
            return None
        if self.degraded:
            with self._lock:
                self.degraded, self._pause = False, _BACKOFF[0]
        return answer

    def _lost(self, error: Exception) -> None:
        with self._lock:
            if not self.degraded:
                _log.warning("%s is out of reach (%s); this process goes on with its memory alone", self.name, error)
            self.degraded = True
            self._retry_at = self._clock() + self._pause
            self._pause = min(2 * self._pause, _BACKOFF[1])


def _name(sha256: bytes) -> bytes:
    return _PREFIX + sha256.hex().encode()


def _sha(name: bytes) -> bytes:
    return bytes.fromhex(name.removeprefix(_PREFIX).decode())
