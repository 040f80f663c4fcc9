"""The entailment cache against a plain dict; its stores against damage, kills, full disks and absent servers."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entailgrid import Verifier
from entailgrid.errors import CacheUnavailable
from entailgrid.inference.cache import EntailmentCache, key_of, open_cache, sealed, unsealed
from entailgrid.inference.lmdb_store import LmdbStore
from entailgrid.inference.redis_store import RedisStore
from redis_server import start_redis

SHAS = [sha256(str(number).encode()).hexdigest() for number in range(4)]


def key(output: int, name: str) -> bytes:
    return key_of(SHAS[output], "pair", name)


def memory() -> EntailmentCache:
    return EntailmentCache(1 << 20)


# --- keys and memory ----------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=4), max_size=3), st.lists(st.text(max_size=4), max_size=3))
def test_keys_are_equal_only_for_equal_parts(first: list[str], second: list[str]) -> None:
    assert (key_of(SHAS[0], "pair", *first) == key_of(SHAS[0], "pair", *second)) == (first == second)
    assert key_of(SHAS[0], "pair", *first) != key_of(SHAS[1], "pair", *first)
    assert key_of(SHAS[0], "pair", *first) != key_of(SHAS[0], "tokens", *first)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["put", "get", "forget", "clear"]), st.integers(0, 3), st.sampled_from("abc"), st.binary(max_size=6)
    ),
    max_size=40,
)


@given(OPERATIONS)
def test_memory_is_a_dict_that_can_forget(operations: list[tuple[str, int, str, bytes]]) -> None:
    cache, model = memory(), dict[bytes, bytes]()
    for what, output, name, value in operations:
        where = key(output, name)
        if what == "put":
            cache.put_many([(where, value)], cache.generation)
            model[where] = value
        elif what == "get":
            assert cache.get_many([where]) == [model.get(where)]
        elif what == "forget":
            gone = [one for one in model if one[:32].hex() == SHAS[output]]
            assert cache.forget(SHAS[output]) == len(gone)
            for one in gone:
                del model[one]
        else:
            assert cache.clear() == len(model)
            model.clear()
    assert cache.stats().entries == len(model)
    assert (cache.stats().bytes == 0) == (not model)


def test_memory_is_bounded_and_drops_the_least_recently_used() -> None:
    cache = EntailmentCache(10 * (48 + 12 + 330))
    for number in range(10):
        cache.put_many([(key(0, str(number)), bytes(12))], 0)
    cache.get_many([key(0, "0")])
    cache.put_many([(key(1, "new"), bytes(12))], 0)
    assert cache.get_many([key(0, "0"), key(0, "1"), key(1, "new")]) == [bytes(12), None, bytes(12)]
    assert cache.stats().evictions == 1
    assert cache.stats().bytes <= 10 * (48 + 12 + 330)


def test_what_was_forgotten_while_it_was_computed_stays_forgotten() -> None:
    cache = memory()
    before = cache.generation
    cache.forget(SHAS[0])
    cache.put_many([(key(0, "a"), b"x"), (key(1, "a"), b"y")], before)
    assert cache.get_many([key(0, "a"), key(1, "a")]) == [None, b"y"]
    cache.put_many([(key(0, "a"), b"x")], cache.generation)
    assert cache.get_many([key(0, "a")]) == [b"x"]


def test_a_checksum_covers_key_and_value() -> None:
    stored = sealed(b"k", b"value")
    assert unsealed(b"k", stored) == b"value"
    assert unsealed(b"j", stored) is None
    assert unsealed(b"k", stored[:-1] + b"f") is None


@pytest.mark.parametrize("spec", ["", "disk", "lmdb:", "http://x", "redis:"])
def test_an_unknown_cache_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="expected 'memory', 'lmdb:PATH'"):
        open_cache(spec, 1)
    with pytest.raises(ValueError, match="expected 'memory'"):
        Verifier(cache=spec)


def test_forget_wants_a_sha() -> None:
    with pytest.raises(ValueError, match="64 hexadecimal"):
        memory().forget("abc")


# --- stores -------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["lmdb", "redis"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], EntailmentCache]:
    """Opens a cache with nothing in memory on one store."""
    if request.param == "lmdb":
        return lambda: EntailmentCache(1 << 20, LmdbStore(tmp_path / "cache", 1 << 24))
    port = request.getfixturevalue("redis_port")
    return lambda: EntailmentCache(1 << 20, RedisStore(f"redis://127.0.0.1:{port}/0"))


def test_a_store_keeps_what_was_put(reopen: Callable[[], EntailmentCache]) -> None:
    first = reopen()
    first.put_many([(key(0, "a"), b"x"), (key(0, "b"), bytes(1000)), (key(1, "a"), b"")], 0)
    first.close()
    second = reopen()
    assert second.get_many([key(0, "a"), key(0, "b"), key(1, "a"), key(2, "a")]) == [b"x", bytes(1000), b"", None]
    assert second.stats().stored_entries == 3
    assert second.verify() == 0
    assert second.forget(SHAS[0]) == 2
    assert second.get_many([key(0, "a"), key(1, "a")]) == [None, b""]
    second.close()
    third = reopen()
    assert third.get_many([key(0, "b"), key(1, "a")]) == [None, b""]
    assert third.clear() == 1
    assert third.stats().stored_entries == 0
    third.close()


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def filled(path: Path) -> None:
    store = LmdbStore(path, 1 << 24)
    store.put_many([(key(0, str(number)), bytes([number % 256]) * 40) for number in range(500)])
    store.close()


@pytest.mark.parametrize("damage", ["truncated", "garbled", "emptied"])
def test_a_damaged_store_is_rebuilt_with_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str) -> None:
    filled(tmp_path)
    file = tmp_path / "data.mdb"
    raw = file.read_bytes()
    file.write_bytes({"truncated": raw[: len(raw) // 2], "garbled": b"\xff" * len(raw), "emptied": raw[:100]}[damage])
    store = LmdbStore(tmp_path, 1 << 24)
    assert store.get_many([key(0, "1")]) == [None]
    store.put_many([(key(0, "1"), b"new")])
    assert store.get_many([key(0, "1")]) == [b"new"]
    assert len(warnings_of(caplog)) == 1
    assert not store.degraded
    store.close()


def test_a_flipped_bit_is_found(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    filled(tmp_path)
    file = tmp_path / "data.mdb"
    raw = file.read_bytes()
    file.write_bytes(raw.replace(bytes([7]) * 40, bytes([7]) * 39 + b"\x06"))
    store = LmdbStore(tmp_path, 1 << 24)
    assert store.get_many([key(0, "7")]) == [None]
    assert len(warnings_of(caplog)) == 1
    assert store.size() == (0, store.size()[1])  # type: ignore[index]
    store.close()


def test_another_version_is_rebuilt(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import lmdb

    with lmdb.open(str(tmp_path)) as env, env.begin(write=True) as transaction:
        transaction.put(b"\x00version", b"entailgrid cache 0")
        transaction.put(key(0, "1"), b"old")
    store = LmdbStore(tmp_path, 1 << 24)
    assert store.get_many([key(0, "1")]) == [None]
    assert "entailgrid cache 0" in warnings_of(caplog)[0]
    store.close()


def test_a_full_store_leaves_the_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = EntailmentCache(1 << 24, LmdbStore(tmp_path, 1 << 17))
    for number in range(100):
        cache.put_many([(key(0, str(number)), bytes(4000))], 0)
    assert cache.get_many([key(0, "0"), key(0, "99")]) == [bytes(4000), bytes(4000)]
    assert cache.degraded
    assert len(warnings_of(caplog)) == 1
    cache.close()


def test_a_store_that_cannot_be_opened_leaves_the_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = EntailmentCache(1 << 20, LmdbStore(tmp_path / "file"))
    cache.put_many([(key(0, "a"), b"x")], 0)
    assert cache.get_many([key(0, "a")]) == [b"x"]
    assert cache.degraded
    assert len(warnings_of(caplog)) == 1
    with pytest.raises(CacheUnavailable):
        cache.forget(SHAS[0])


WRITER = """
import sys
from entailgrid.inference.cache import key_of
from entailgrid.inference.lmdb_store import LmdbStore
store = LmdbStore(sys.argv[1], 1 << 26)
print("ready", flush=True)
for number in range(10**6):
    store.put_many([(key_of(sys.argv[2], "pair", f"{number}.{i}"), bytes(12)) for i in range(20)])
"""


def test_kills_during_writes_damage_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for round_ in range(50):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), SHAS[round_ % 4]], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        store = LmdbStore(tmp_path, 1 << 26)  # two processes on one store
        wait_for(lambda: bool(store.get_many([key_of(SHAS[round_ % 4], "pair", "0.0")])[0]))  # noqa: B023
        writer.send_signal(signal.SIGKILL)
        writer.wait(20)
        writer.stdout.close()
        assert store.verify() == 0
        store.clear()
        store.close()
    assert warnings_of(caplog) == []


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until


def test_a_forked_child_does_without(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path, 1 << 24)
    store.put_many([(key(0, "a"), b"x")])
    store._process = os.getpid() + 1  # as the child of a fork sees it
    assert store.get_many([key(0, "a")]) == [None]
    with pytest.raises(CacheUnavailable):
        store.forget(bytes(32))
    store._process = os.getpid()
    store.close()


def test_redis_may_go_and_come_back(redis_port: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    store = RedisStore(f"redis://127.0.0.1:{redis_port}/0", clock=lambda: now[0])
    cache = EntailmentCache(1 << 20, store)
    cache.put_many([(key(0, "a"), b"x")], 0)
    store._client.shutdown(nosave=True)
    for _ in range(3):
        cache.put_many([(key(0, "b"), b"y")], 0)
        assert cache.get_many([key(0, "a"), key(0, "b"), key(0, "c")]) == [b"x", b"y", None]
    assert cache.degraded
    assert len(warnings_of(caplog)) == 1
    with pytest.raises(CacheUnavailable):
        cache.forget(SHAS[0])
    again = start_redis(redis_port, tmp_path)
    now[0] += 60
    cache.put_many([(key(0, "c"), b"z")], cache.generation)
    assert not cache.degraded
    assert store.get_many([key(0, "c")]) == [b"z"]
    cache.close()
    again.terminate()
    again.wait(20)


def test_an_absent_redis_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    cache = open_cache("redis://127.0.0.1:1/0", 1 << 20)
    assert cache is not None
    cache.put_many([(key(0, "a"), b"x")], 0)
    assert cache.get_many([key(0, "a"), key(1, "a")]) == [b"x", None]
    assert len(warnings_of(caplog)) == 1
    cache.close()


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    import lmdb

    with lmdb.open(str(tmp_path)) as env, env.begin(write=True) as transaction:
        transaction.put(b"theirs", b"data")
    with pytest.raises(ValueError, match="another program"):
        LmdbStore(tmp_path)
    with lmdb.open(str(tmp_path)) as env, env.begin() as transaction:
        assert transaction.get(b"theirs") == b"data"


def test_a_lookup_during_a_forget_brings_nothing_back(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path, 1 << 24)
    cache = EntailmentCache(1 << 20, store)
    store.put_many([(key(0, "a"), b"x")])
    forget = store.forget

    def looked_up_first(sha: bytes) -> int:
        assert cache.get_many([key(0, "a")]) == [b"x"]
        return forget(sha)

    store.forget = looked_up_first  # type: ignore[method-assign]
    assert cache.forget(SHAS[0]) == 1
    assert cache.get_many([key(0, "a")]) == [None]
    cache.close()
