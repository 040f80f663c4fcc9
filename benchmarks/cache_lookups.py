"""Lookups a second of the entailment cache, on one core, in batches of 100 keys that all hit.

python benchmarks/cache_lookups.py
"""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory

from environment import write_results

from entailgrid.inference.cache import EntailmentCache, key_of
from entailgrid.inference.lmdb_store import LmdbStore

ENTRIES, BATCH, ROUNDS = 50_000, 100, 5
OUTPUTS = [hashlib.sha256(bytes([number])).hexdigest() for number in range(100)]
TEXTS = [f"account A-{number}, plan: Premium | seats: {number} | refund window: 30 days" for number in range(ENTRIES)]


def key(number: int) -> bytes:
    return key_of(
        OUTPUTS[number % 100], "pair", "0,0,80,None", TEXTS[number], "The plan has 12 seats.", "0123456789abcdef", "256", "1"
    )


def rate(run: Callable[[], None]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return round(ENTRIES / statistics.median(seconds))


def main() -> None:
    keys = [key(number) for number in range(ENTRIES)]
    batches = [keys[at : at + BATCH] for at in range(0, ENTRIES, BATCH)]
    entries = [(one, bytes(12)) for one in keys]
    memory = EntailmentCache(1 << 30)
    memory.put_many(entries, 0)
    with TemporaryDirectory() as folder:
        store = LmdbStore(folder)
        began = time.perf_counter()
        for at in range(0, 5000, BATCH):
            store.put_many(entries[at : at + BATCH])
        commit = (time.perf_counter() - began) / (5000 / BATCH)
        store.put_many(entries)

        def look(get: Callable[[list[bytes]], list[bytes | None]]) -> None:
            for batch in batches:
                assert None not in get(batch)

        def build_and_look() -> None:
            for at in range(0, ENTRIES, BATCH):
                assert None not in memory.get_many([key(number) for number in range(at, at + BATCH)])

        results = {
            "entries": ENTRIES,
            "batch": BATCH,
            "lookups_per_second": {
                "memory": rate(lambda: look(memory.get_many)),
                "memory_keys_built": rate(build_and_look),
                "lmdb": rate(lambda: look(store.get_many)),
            },
            "lmdb_commit_of_100_entries_ms": round(commit * 1000, 2),
        }
        store.close()
    print(results)
    print(write_results("cache_lookups", ["lmdb"], results))


if __name__ == "__main__":
    main()
