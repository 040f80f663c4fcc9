"""Files of traces, read one document at a time; a bad one is handed on as its error and never stops the others."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.ingest import detect, traces_from
from entailgrid.provenance.json_text import MAX_TRACE_BYTES, decode, load_json, too_large
from entailgrid.provenance.lines import Chained, LineStream, numbered_lines, open_bytes, read_all, reason
from entailgrid.provenance.validation import validate
from entailgrid.types import Gold, InputFormat, Trace

STANDARD_INPUT = "-"

_NO_ANSWER = "holds no answer; expected a trace, or a conversation with assistant text after a tool result"
_LOG_INDEX = re.compile(r"\[(\d+)\]\.?(.*)", re.DOTALL)


@dataclass(frozen=True)
class Document:
    """A trace, the labels that came with it as they came, and where it stood (`traces.jsonl:7`)."""

    trace: Trace
    gold_raw: object = None
    where: str = ""


def read_traces(
    path: str | Path,
    *,
    format: InputFormat | None = None,
    answer_file: str | Path | None = None,
    max_trace_bytes: int = MAX_TRACE_BYTES,
    stdin: BinaryIO | None = None,
) -> Iterator[Trace | InvalidTrace]:
    """The traces of a file, or of standard input for `-`, and, in their place, the errors of what could not be read.

    `.json` holds one document, `.jsonl` one a line, either may be gzipped (`.gz`); standard input and other names hold
    lines or one document over many lines. An MCP log is the whole file. `format=None` detects the format of each
    document. `answer_file` holds the answer where the format has none. `max_trace_bytes` bounds a document,
    decompressed. Nothing is raised for bad input; a file without any answer is an error too.
    """
    documents = read_documents(path, format=format, answer_file=answer_file, max_trace_bytes=max_trace_bytes, stdin=stdin)
    for item in documents:
        yield item.trace if isinstance(item, Document) else item


def read_documents(
    path: str | Path,
    *,
    format: InputFormat | None = None,
    answer_file: str | Path | None = None,
    max_trace_bytes: int = MAX_TRACE_BYTES,
    stdin: BinaryIO | None = None,
) -> Iterator[Document | InvalidTrace]:
    """As `read_traces`, with the labels (`gold`) of each trace."""
    standard = str(path) == STANDARD_INPUT
    name = "stdin" if standard else str(path)
    plain = Path(name).with_suffix("") if name.endswith(".gz") else Path(name)
    found = False
    try:
        answer = None if answer_file is None else _read_answer(Path(answer_file), max_trace_bytes)
        with nullcontext(stdin or sys.stdin.buffer) if standard else open_bytes(Path(path)) as stream:
            reader = _Reader(name, plain.stem, format, answer, max_trace_bytes)
            for item in reader.read(stream, plain.suffix):
                found = True
                yield item
    except InvalidTrace as error:
        yield error
        return
    if not found:
        yield InvalidTrace(_NO_ANSWER, name)


def read_gold(document: Document) -> Gold | None:
    """The labels of a document, or None where it has none. Raises `InvalidTrace` with their path."""
    if document.gold_raw is None:
        return None
    where = f"{document.where}: gold" if document.where else "gold"
    gold = validate(Gold, document.gold_raw, where)
    length = len(document.trace.answer)
    for index, claim in enumerate(gold.claims):
        place = f"{where}.claims[{index}]"
        if not 0 <= claim.start < length:
            raise InvalidTrace(f"expected an offset of the answer (0..{length}), found {claim.start}", f"{place}.start")
        if not claim.start < claim.end <= length:
            expected = f"expected an offset after {claim.start} and up to {length}"
            raise InvalidTrace(f"{expected}, found {claim.end}", f"{place}.end")
    return gold


def _read_answer(path: Path, limit: int) -> str:
    """The answer in a text file, without the line end at its end."""
    with open_bytes(path) as stream:
        try:
            return decode(read_all(stream, limit)).rstrip("\r\n")
        except InvalidTrace as error:
            raise error.at(str(path)) from None
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidTrace(f"cannot be read: {reason(error)}", str(path)) from None


@dataclass(frozen=True)
class _Reader:
    """Reads one stream; `name` stands in error messages, `stem` in the ids of traces that have none."""

    name: str
    stem: str
    format: InputFormat | None
    answer: str | None
    limit: int

    def read(self, stream: BinaryIO, suffix: str) -> Iterator[Document | InvalidTrace]:
        """Everything in `stream`. Raises `InvalidTrace` for what concerns the stream as a whole."""
        try:
            if suffix == ".json" and self.format != "mcp":
                yield from self._document(load_json(read_all(stream, self.limit), self.limit), None)
            elif suffix == ".jsonl":
                yield from self._lines(stream)
            else:
                yield from self._lines_or_document(stream)
        except InvalidTrace as error:
            raise error.at(self.name) from None
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidTrace(f"cannot be read: {reason(error)}", self.name) from None

    def _lines_or_document(self, stream: BinaryIO) -> Iterator[Document | InvalidTrace]:
        """Lines, unless the first one is no JSON by itself and the whole is one document, or begins like one."""
        head = raw = stream.readline(self.limit + 1)
        while raw and not raw.strip():
            raw = stream.readline(self.limit + 1)
            head += raw
        try:
            load_json(head, self.limit)
        except InvalidTrace:
            head += stream.read(max(self.limit + 1 - len(head), 0))
            second = head.strip().partition(b"\n")[2].lstrip()[:1]
            try:
                document = load_json(head, self.limit)
            except InvalidTrace:
                if second not in (b"{", b"[", b""):
                    raise
            else:
                yield from self._document(document, None)
                return
        yield from self._lines(Chained(head, stream))

    def _lines(self, stream: LineStream) -> Iterator[Document | InvalidTrace]:
        lines = numbered_lines(stream, self.limit)
        kind = self.format
        for number, line in lines:
            try:
                document = self._parse(line)
                kind = kind or detect(document)
            except InvalidTrace as error:
                yield error.at(f"{self.name}:{number}")
                continue
            if kind == "mcp":
                yield from self._log(chain([(number, line)], lines))
                return
            kind = self.format
            yield from self._document(document, number)

    def _parse(self, line: bytes | InvalidTrace) -> object:
        if isinstance(line, InvalidTrace):
            raise line
        return load_json(line, self.limit)

    def _document(self, document: object, number: int | None) -> Iterator[Document | InvalidTrace]:
        """The traces of one document, on line `number` if it stands on one."""
        where = self.name if number is None else f"{self.name}:{number}"
        gold = document.get("gold") if isinstance(document, dict) and "sources" in document else None
        try:
            traces = traces_from(document, self.format, default_id=f"{self.stem}:{number or 1}", answer=self.answer)
        except InvalidTrace as error:
            yield error.at(where)
            return
        for trace in traces:
            yield Document(trace, gold, where)

    def _log(self, lines: Iterator[tuple[int, bytes | InvalidTrace]]) -> Iterator[Document | InvalidTrace]:
        """An MCP log, one message a line: one trace, and a damaged line spoils it."""
        messages: list[tuple[int, object]] = []
        size = 0
        try:
            for number, line in lines:
                size += len(line) if isinstance(line, bytes) else 0
                if size > self.limit:
                    raise too_large(self.limit)
                messages.append((number, self._parse(line)))
        except InvalidTrace as error:
            yield error.at(f"{self.name}:{number}")
            return
        try:
            traces = traces_from([message for _, message in messages], "mcp", default_id=f"{self.stem}:1", answer=self.answer)
        except InvalidTrace as error:
            yield self._log_error(error, [number for number, _ in messages])
            return
        yield from (Document(trace, None, self.name) for trace in traces)

    def _log_error(self, error: InvalidTrace, numbers: list[int]) -> InvalidTrace:
        """The error with the line of the message in place of its index."""
        index = _LOG_INDEX.fullmatch(error.where)
        if index is None:
            return error.at(self.name)
        place = type(error)(error.problem, index[2])
        return place.at(f"{self.name}:{numbers[int(index[1])]}")
