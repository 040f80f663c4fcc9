"""Lines and documents of a byte stream, bounded in size: what is too large is never held in memory."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.json_text import too_large

_CHUNK = 64 * 1024
_BOM = b"\xef\xbb\xbf"


class LineStream(Protocol):
    """Anything that gives its lines, at most `size` bytes at a time."""

    def readline(self, size: int, /) -> bytes: ...


class Chained:
    """Lines of bytes already read, then of the rest of their stream."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._parts = [io.BytesIO(head), rest]

    def readline(self, size: int, /) -> bytes:
        line = b""
        while self._parts:
            line += self._parts[0].readline(size - len(line))
            if line.endswith(b"\n") or len(line) == size:
                break
            self._parts.pop(0)
        return line


def open_bytes(path: Path) -> BinaryIO:
    """The (decompressed) bytes of a file. Raises `InvalidTrace` when it is not a file that can be read."""
    try:
        if path.is_dir():
            raise InvalidTrace("is a directory; expected a file", str(path))
        return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")
    except FileNotFoundError:
        raise InvalidTrace("no such file", str(path)) from None
    except (OSError, ValueError) as error:
        raise InvalidTrace(f"cannot be read: {reason(error)}", str(path)) from None


def read_all(stream: BinaryIO, limit: int) -> bytes:
    """The whole stream. Raises `PayloadTooLarge` above `limit` bytes."""
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise too_large(limit)
    return data


def numbered_lines(stream: LineStream, limit: int) -> Iterator[tuple[int, bytes | InvalidTrace]]:
    """The lines that are not blank, without their end, with their number from 1; one above `limit` is its refusal."""
    number, longest = 0, limit + len(_BOM) + len(b"\r\n") + 1
    while raw := stream.readline(longest):
        number += 1
        line = raw.removeprefix(_BOM) if number == 1 else raw
        line = line.rstrip(b"\r\n")
        ended = raw.endswith(b"\n") or len(raw) < longest
        if len(line) > limit or not ended:
            skip_line(stream, raw)
            yield number, too_large(limit)
        elif line.strip():
            yield number, line


def skip_line(stream: LineStream, raw: bytes) -> None:
    """Read past the rest of a line that began with `raw`."""
    while raw and not raw.endswith(b"\n"):
        raw = stream.readline(_CHUNK)


def reason(error: Exception) -> str:
    """What the system says about a failed read."""
    if isinstance(error, EOFError):
        return "the gzip data ends early"
    if isinstance(error, zlib.error | gzip.BadGzipFile):
        return f"the gzip data is damaged ({error})"
    return getattr(error, "strerror", None) or str(error)
