"""A conversation read in order: calls, results, messages; a trace for each answer after the first result."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from entailgrid.provenance.formats.shape import joined_text, web_address
from entailgrid.provenance.json_text import parse_arguments
from entailgrid.provenance.validation import validate
from entailgrid.types import USER_MESSAGE, ExplicitCitation, Source, Trace

Citation = tuple[int, int, list[str]]
"""Half-open offsets of the answer in code points, and the ids of the cited sources."""

NO_RESULT = "No result was received for this call."

_MARKER = re.compile(r"\s*(?:[(\[【]|https?://)")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？]\s+|[。！？]|\n\s*(?:[-*•]\s+|\d+[.)]\s+)?)")


@dataclass(frozen=True)
class Call:
    """A tool call that waits for its result."""

    tool: str | None
    arguments: dict[str, Any] | None
    server: str | None = None


@dataclass
class Entry:
    """A source in the making. `excerpts` are quotations of a text that the format withholds."""

    fields: dict[str, Any]
    where: str
    excerpts: list[str] = field(default_factory=list)
    built: Source | None = None

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def url(self) -> str | None:
        return self.fields.get("url")

    def quote(self, excerpt: str) -> None:
        """Add an excerpt to a source whose text is withheld; elsewhere the text is known."""
        if not self.fields.get("content") and excerpt not in self.excerpts:
            self.excerpts.append(excerpt)
            self.built = None

    def build(self) -> Source:
        """The source as it stands now."""
        if self.built is None:
            fields = dict(self.fields)
            if self.excerpts:
                fields["content"] = [{"type": "text", "text": excerpt} for excerpt in self.excerpts]
            self.built = validate(Source, fields, self.where)
        return self.built


class Conversation:
    """Collects what is known so far; `answer` takes a snapshot as a trace.

    Sources of a trace: results in order, then user messages (`user_1`, ...), then system messages (`system`,
    `system_2`, ...). Ids are unique: the second result of call `c` is `c#2`.
    """

    def __init__(self, id: str) -> None:
        self.id = id
        self.traces: list[Trace] = []
        self.results: list[Entry] = []
        self.question: str | None = None
        self._users: list[Entry] = []
        self._system: list[Entry] = []
        self._calls: dict[str, Call] = {}
        self._ids: set[str] = set()
        self._turns = 0

    def call(self, id: str, tool: str | None, arguments: object, server: str | None = None) -> None:
        """Note a call; a later one with the same id takes its place."""
        self._calls[id] = Call(tool, parse_arguments(arguments), server)

    def called(self, id: str) -> Call:
        """The latest call with this id so far; an unknown one for a result without a call."""
        return self._calls.get(id, Call(None, None))

    def result(self, id: str | None, content: list[dict[str, Any]], where: str, **fields: Any) -> Entry:
        """Add a tool result (or a document); `fields` are those of `Source`."""
        entry = Entry({"id": self._unique(id or f"result_{len(self.results) + 1}"), "content": content}, where)
        entry.fields.update({key: value for key, value in fields.items() if value is not None})
        self.results.append(entry)
        return entry

    def reply(self, call_id: str, content: list[dict[str, Any]], where: str, **fields: Any) -> Entry:
        """Add the result of a call noted before, with its tool, arguments and server."""
        call = self.called(call_id)
        known: dict[str, Any] = {"tool": call.tool, "arguments": call.arguments, "server": call.server}
        known["url"] = web_address((call.arguments or {}).get("url"))
        known.update({key: value for key, value in fields.items() if value is not None})
        return self.result(fields.get("id") or call_id, content, where, **{k: v for k, v in known.items() if k != "id"})

    def user(self, content: list[dict[str, Any]], where: str) -> None:
        """Add a user message; it is the question of the answers that follow."""
        self._turns += 1
        self.question = joined_text(content) or self.question
        if content:
            fields = {"id": self._unique(f"user_{self._turns}"), "content": content, "name": USER_MESSAGE}
            self._users.append(Entry(fields, where))

    def system(self, content: list[dict[str, Any]], where: str) -> None:
        """Add a system (or developer) message."""
        if content:
            name = "system" if not self._system else f"system_{len(self._system) + 1}"
            self._system.append(Entry({"id": self._unique(name), "content": content, "name": "system prompt"}, where))

    def sources(self) -> tuple[Source, ...]:
        """The sources so far, in the order of the contract."""
        return tuple(entry.build() for entry in (*self.results, *self._users, *self._system))

    def answer(self, index: int, text: str, citations: list[Citation]) -> None:
        """Record assistant text; it is an answer if it is not blank and there is a result before it."""
        if self.results and text.strip():
            self.traces.append(self.snapshot(f"{self.id}/{index}", text, citations))

    def snapshot(self, id: str, text: str, citations: list[Citation]) -> Trace:
        """The trace of an answer given now; every citation is a span of `text` already."""
        explicit = tuple(ExplicitCitation(start=start, end=end, source_ids=tuple(ids)) for start, end, ids in citations)
        sources = self.sources()
        return Trace(id=id, question=self.question, answer=text, sources=sources, citations=explicit)

    def with_url(self, url: str) -> list[str]:
        """Ids of the sources at this address, the trackers that search tools append aside."""
        wanted = _plain_url(url)
        return [entry.id for entry in self.results if entry.url and _plain_url(entry.url) == wanted]

    def _unique(self, id: str) -> str:
        name, count = id, 1
        while name in self._ids:
            count += 1
            name = f"{id}#{count}"
        self._ids.add(name)
        return name


def marker_reach(text: str, start: int, end: int) -> tuple[int, int]:
    """The span that an annotation cites: its own words, or, where it sits on a link or bracket, the sentence before."""
    if not _MARKER.match(text, start, end):
        return start, end
    return sentence_start(text, start), end


def sentence_start(text: str, end: int) -> int:
    """Where the sentence (or line) that ends at `end` begins."""
    body = text[:end].rstrip()
    limit = len(body) - 1
    starts = [match.end() for match in _SENTENCE_START.finditer(body) if match.end() <= limit]
    return starts[-1] if starts else 0


def _plain_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    query = urlencode([pair for pair in parse_qsl(parts.query, True) if not pair[0].startswith("utm_")])
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), query, ""))
