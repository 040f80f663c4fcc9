"""The commands `cache stats|forget|clear|verify`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import click
from rich.text import Text

from entailgrid.doors.cli import STORES
from entailgrid.doors.console import console_on, one_line
from entailgrid.errors import CacheUnavailable
from entailgrid.inference.cache import EntailmentCache, open_cache, sha_bytes

SOUND, DAMAGED = 0, 1


def run_stats(spec: str, *, as_json: bool) -> None:
    """Prints what the store holds."""
    with _opened(spec) as cache:
        stats = cache.stats()
        if stats.stored_entries is None or stats.stored_bytes is None:
            raise CacheUnavailable(f"{stats.store}: the store is out of reach")
        found = {"store": stats.store, "entries": stats.stored_entries, "bytes": stats.stored_bytes}
        _say(found, f"{stats.store}: {stats.stored_entries:,} entries, {stats.stored_bytes / 1e6:.1f} MB", as_json=as_json)


def run_forget(spec: str, outputs: Sequence[str], *, as_json: bool) -> None:
    """Removes everything derived from each tool output."""
    with _opened(spec) as cache:
        for output in outputs:
            sha_bytes(output)
        removed = {output: cache.forget(output) for output in outputs}
        total = sum(removed.values())
        _say({"removed": removed}, f"{total:,} entries of {len(removed)} tool outputs removed", as_json=as_json)


def run_clear(spec: str, *, as_json: bool) -> None:
    """Removes everything."""
    with _opened(spec) as cache:
        removed = cache.clear()
        _say({"removed": removed}, f"{removed:,} entries removed", as_json=as_json)


def run_verify(spec: str, *, as_json: bool) -> int:
    """Checks every entry against its checksum and removes what is damaged; the exit status."""
    with _opened(spec) as cache:
        damaged = cache.verify()
        _say({"damaged": damaged}, f"{damaged:,} damaged entries removed" if damaged else "no damage", as_json=as_json)
        return DAMAGED if damaged else SOUND


@contextmanager
def _opened(spec: str) -> Iterator[EntailmentCache]:
    if spec == "memory":
        raise click.ClickException(f"cache is 'memory', which ends with its process; expected {STORES}")
    try:
        cache = open_cache(spec, 0)
        assert cache is not None
        with closing(cache):
            yield cache
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def _say(values: dict[str, Any], line: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(values))
    else:
        console_on(sys.stdout).print(Text(one_line(line)))
