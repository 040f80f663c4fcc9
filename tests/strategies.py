"""Hypothesis strategies: traces that are valid and nasty."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

FRAGMENTS = [
    "The refund window is 30 days.",
    "refund policy",
    "According to the refund policy, ",
    "[1]",
    "[req_1]",
    "[[2]]",
    "[^1]",
    "[^1]: req_1",
    "【1】",
    "[tool:get_plan]",
    "[S3fa21c]",
    "(Smith, 2020)",
    "https://example.com/a",
    "[x](https://e.org)",
    "# Heading\n",
    "- item one\n",
    "1. first\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```\ncode\n```",
    "> quote\n",
    "Sources:\n",
    "\n",
    "\r\n",
    "\u2028",
    "\x00",
    "\x0b",
    "\t",
    "\ufeff",
    "\u200d",
    "\u202e",
    "مرحبا بالعالم 5 أيام",
    "שלום 30 ימים",
    "東京は晴れ。大阪は雨。",
    "🙂",
    "👩‍👩‍👧‍👦",
    "e\u0301",
    "½",
    "３０日",
    "Dr. N.V. Inc. e.g. 3.5",
    "I have sent the email.",
    "?",
    "!",
    "...",
    '"',
    "“",
    "”",
    "'",
    "`",
    "**bold**",
    "__",
    "<b>",
    "<table><tr><td>1</td></tr></table>",
    "</p>",
    "&amp;",
    '{"a": 1}',
    "[1, 2",
    "{",
    "}",
    "null",
    "a,b\n1,2\n3,4\n",
    "$1,200.00",
    "12.5%",
    "9" * 40,
    "x" * 700,
    "\u0345",
    "ß",
    "İ",
]

_PIECE = st.sampled_from(FRAGMENTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(_PIECE, max_size=8).map(" ".join),
    st.lists(_PIECE, max_size=8).map("".join),
)
"""Any text without lone surrogates, mostly made of what parsers trip over."""

_SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
JSON_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=10
)
JSON_CONTAINERS = st.lists(JSON_VALUES, max_size=4) | st.dictionaries(TEXTS, JSON_VALUES, max_size=4)


def json_texts() -> st.SearchStrategy[str]:
    """JSON texts in several layouts."""
    layouts: list[dict[str, Any]] = [{}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (",", ":")}]
    return st.builds(lambda value, layout: json.dumps(value, **layout), JSON_CONTAINERS, st.sampled_from(layouts))


BODIES = TEXTS | json_texts()
_TIMES = st.sampled_from(["2026-10-02T14:05:00Z", "2026-10-02T14:05:00", "2026-10-01T00:00:00+05:30"])


@st.composite
def _contents(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["text", "content", "structured", "both", "resource"]))
    if kind == "text":
        return {"text": draw(BODIES)}
    if kind == "structured":
        return {"structuredContent": draw(JSON_VALUES)}
    if kind == "resource":
        return {"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": draw(BODIES)}}]}
    blocks = draw(st.lists(BODIES.map(lambda text: {"type": "text", "text": text}), max_size=3))
    return {"content": blocks, **({"structured_content": draw(JSON_VALUES)} if kind == "both" else {})}


@st.composite
def sources(draw: st.DrawFn, index: int = 0) -> dict[str, Any]:
    """One source with any mix of the contract's optional fields."""
    optional: dict[str, st.SearchStrategy[Any]] = {
        "isError": st.booleans(),
        "server": st.sampled_from(["crm", "docs-mcp.internal"]),
        "tool": st.sampled_from(["get_plan", "send_email", "search"]),
        "arguments": st.dictionaries(st.text(max_size=5), _SCALARS, max_size=2),
        "fetched_at": _TIMES,
        "ttl_seconds": st.sampled_from([0, 60, 1e9]),
        "tier": st.sampled_from(["T0", "T1", "T2", "T3"]),
        "name": st.sampled_from(["refund policy", "account record", ""]) | TEXTS,
        "url": st.sampled_from(["https://example.com/a", "not a url", ""]),
        "outputSchema": st.sampled_from([{"type": "object"}, {}, {"type": 7}]),
    }
    fields = draw(st.fixed_dictionaries({}, optional=optional))
    name = draw(st.sampled_from([f"req_{index + 1}", f"S3fa21{index}", f"a b {index}", f"é{index}"]))
    return {"id": name, **draw(_contents()), **fields}


@st.composite
def traces(draw: st.DrawFn, max_sources: int = 3) -> dict[str, Any]:
    """A valid trace as a dict."""
    answer = draw(TEXTS)
    listed = [draw(sources(index)) for index in range(draw(st.integers(0, max_sources)))]
    trace: dict[str, Any] = {"answer": answer, "sources": listed}
    if draw(st.booleans()):
        trace["answered_at"] = draw(_TIMES)
    if answer and draw(st.booleans()):
        start = draw(st.integers(0, len(answer) - 1))
        end = draw(st.integers(start + 1, len(answer)))
        ids = [source["id"] for source in listed] + ["nowhere"]
        trace["citations"] = [{"start": start, "end": end, "source_ids": [draw(st.sampled_from(ids))]}]
    return trace
