"""Canonical hashes and the status of a source (rules 4, 10 and 12)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entailgrid.evidence.sources import arguments_sha256, canonical_sha256, inspect, source_sha256
from entailgrid.types import Source, Trace
from strategies import JSON_VALUES, TEXTS, sources


def source(**fields: Any) -> Source:
    return Source.model_validate({"id": "s", **fields})


def status(answered_at: str | None = None, **fields: Any) -> str:
    trace = Trace.model_validate({"answer": "", "sources": [{"id": "s", **fields}], "answered_at": answered_at})
    return inspect(trace.sources[0], trace.answered_at).status


# --- hashes ---------------------------------------------------------------------------------------------------------


def test_hash_is_that_of_the_canonical_json_of_the_contract() -> None:
    canonical = '{"content":[{"text":"é \\"1\\"","type":"text"}],"is_error":false,"structured_content":{"a":1,"b":[1.5,null]}}'
    one = source(content=[{"type": "text", "text": 'é "1"'}], structured_content={"b": [1.5, None], "a": 1.0})
    assert source_sha256(one) == hashlib.sha256(canonical.encode()).hexdigest()


def _shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shuffled(item) for key, item in reversed(value.items())}
    return [_shuffled(item) for item in value] if isinstance(value, list) else value


@given(JSON_VALUES)
@settings(max_examples=100, deadline=None)
def test_key_order_does_not_matter(value: Any) -> None:
    assert canonical_sha256(value) == canonical_sha256(_shuffled(value))


@given(JSON_VALUES)
@settings(max_examples=60, deadline=None)
def test_a_json_round_trip_keeps_the_hash(value: Any) -> None:
    assert canonical_sha256(json.loads(json.dumps(value))) == canonical_sha256(value)


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_text_is_shorthand_for_one_text_block(text: str) -> None:
    assert source_sha256(source(text=text)) == source_sha256(source(content=[{"type": "text", "text": text}]))


@given(sources())
@settings(max_examples=100, deadline=None)
def test_mcp_spellings_hash_alike(fields: dict[str, Any]) -> None:
    renamed = {"structuredContent": "structured_content", "isError": "is_error", "outputSchema": "output_schema"}
    snake = {renamed.get(key, key): value for key, value in fields.items()}
    assert source_sha256(Source.model_validate(fields)) == source_sha256(Source.model_validate(snake))


def test_mime_type_spellings_hash_alike() -> None:
    blocks = [[{"type": "text", "text": "a", key: "text/plain"}] for key in ("mimeType", "mime_type")]
    assert source_sha256(source(content=blocks[0])) == source_sha256(source(content=blocks[1]))


def test_content_error_flag_and_structure_are_hashed_and_nothing_else() -> None:
    base = source_sha256(source(text="a"))
    different = [
        source(text="b"), source(text="a", is_error=True), source(text="a", structured_content=0),
        source(content=[{"type": "text", "text": "a"}, {"type": "text", "text": ""}]),
        source(content=[{"type": "text", "text": "a", "annotations": {"audience": ["user"]}}]),
    ]  # fmt: skip
    hashes = [source_sha256(one) for one in different]
    assert len({base, *hashes}) == len(hashes) + 1
    same = source(text="a", name="x", tool="t", tier="T3", url="u", arguments={"a": 1}, ttl_seconds=5)
    assert source_sha256(same) == base


@given(st.integers(-(2**80), 2**80), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_neighbouring_big_integers_hash_apart(number: int, step: int) -> None:
    assert canonical_sha256({"id": number}) != canonical_sha256({"id": number + step})
    assert canonical_sha256([number]) == canonical_sha256([number])


def test_arguments_have_their_own_hash() -> None:
    assert arguments_sha256(source(text="")) is None
    left, right = source(text="", arguments={"a": 1, "b": 2}), source(text="x", arguments={"b": 2, "a": 1})
    assert arguments_sha256(left) == arguments_sha256(right) == canonical_sha256({"a": 1, "b": 2})


# --- status ---------------------------------------------------------------------------------------------------------

ERRORS = {
    "flag": {"text": "fine", "is_error": True},
    "MCP flag": {"text": "fine", "isError": True},
    "flag on empty": {"text": "", "is_error": True},
    "ok false": {"text": '{"ok": false, "message": "no such account"}'},
    "ok false structured": {"structured_content": {"ok": False}},
    "ok false, reason": {"text": '{"ok": false, "error": "timeout"}'},
    "success false": {"text": '{"success": false, "error": {"code": 12}}'},
    "error text": {"text": '{"error": "Account not found"}'},
    "error object": {"structured_content": {"error": {"code": -32602, "message": "Invalid params"}}},
    "error with code": {"text": '{"error": "not_found", "status": 404, "request_id": "a-1"}'},
    "error with null data": {"text": '{"error": "boom", "data": null}'},
    "error with empty results": {"text": '{"error": "boom", "results": []}'},
    "errors of GraphQL": {"text": '{"errors": [{"message": "Cannot query field"}], "data": null}'},
    "JSON-RPC error": {"text": '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "boom"}}'},
    "problem details": {"text": '{"title": "Not Found", "status": 404, "detail": "No such order"}'},
    "status error": {"text": '{"status": "error", "message": "Rate limit exceeded"}'},
    "HTML 502": {"text": "<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>"},
    "HTML 404": {"text": "<!DOCTYPE html>\n<html><body><h1>Not Found</h1><p>The page is gone.</p></body></html>"},
    "HTML error": {"text": "<!doctype html><html><title>Error</title><p>Something went wrong</p></html>"},
    "HTML login": {"text": "<html><title>Sign in - Acme</title><form></form></html>"},
    "HTML behind a brand": {"text": "<html><title>Acme | Page not found</title><p>Try the start page.</p></html>"},
    "HTML 403": {"text": "<html><body><h1>403 Forbidden</h1><hr>nginx</body></html>"},
    "traceback": {"text": 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 3'},
    "exception": {"text": "ValueError: invalid account id"},
    "Java exception": {"text": "java.lang.NullPointerException: Cannot invoke method"},
    "error colon": {"text": "Error: account not found"},
    "HTTP line": {"text": "HTTP/1.1 503 Service Unavailable\r\n\r\n"},
    "status line": {"text": "404 Not Found"},
    "wrapped in blocks": {"content": [{"type": "text", "text": '{"error": "Account not found"}'}]},
    "MCP SDK": {"text": "Error executing tool get_account: connection refused"},
    "timeout": {"text": "TimeoutError: the request timed out after 30 s"},
}  # fmt: skip

FINE = {
    "plain": {"text": "The refund window is 30 days."},
    "error null": {"text": '{"error": null, "plan": "Premium"}'},
    "error false": {"text": '{"error": false, "plan": "Premium"}'},
    "error empty": {"text": '{"errors": [], "data": {"plan": "Premium"}}'},
    "error beside data": {"text": '{"error": "1 of 20 rows skipped", "data": [1, 2, 3]}'},
    "ok true": {"text": '{"ok": true}'},
    "error count": {"text": '{"error": 0, "warnings": 2}'},
    "error rate": {"text": '{"error": 0.02, "service": "api"}'},
    "a record of an error": {"text": '{"ticket": 12, "error": "E42", "product": "washer", "fix": "clean the filter"}'},
    "HTTP code as a value": {"text": '{"code": 404, "name": "Blue"}'},
    "house number": {"text": "404 Elm Street, Springfield"},
    "about errors": {"text": "Errors are logged for 30 days."},
    "error in prose": {"text": "Error rates fell by 3 percent in May."},
    "exception in prose": {"text": "Exceptions to the policy need approval."},
    "HTML page": {"text": "<html><head><title>Refunds</title></head><body><p>30 days.</p></body></html>"},
    "HTML page on errors": {"text": "<html><title>How we fixed the login flow</title><p>Text</p></html>"},
    "HTML page with a number": {"text": "<html><title>Room 404 for rent</title><p>Text</p></html>"},
    "HTML page about an error": {"text": "<html><h1>What error code E42 means</h1><p>Clean the filter.</p></html>"},
    "empty list": {"text": "[]"},
    "empty object": {"text": "{}"},
    "structured zero": {"structured_content": 0},
    "structured false": {"structured_content": False},
    "status of an order": {"text": '{"status": "failed", "order": "A-17", "amount": 30}'},
    "payment refused": {"text": '{"payment_id": "p1", "success": false, "data": {"reason": "card expired"}}'},
    "500 in data": {"text": '{"status": 500, "seats": 12}'},
    "bracketed prose": {"text": "[Note] The window is 30 days."},
    "braces in prose": {"text": "{name} is a placeholder"},
    "zero text": {"text": "0"},
    "JSON lines": {"text": '{"a": 1}\n{"a": 2}'},
    "schema holds": {"structured_content": {"a": 1}, "output_schema": {"type": "object", "required": ["a"]}},
    "schema holds in text": {"text": '{"a": 1}', "output_schema": {"type": "object", "required": ["a"]}},
    "no ttl": {"text": "a", "fetched_at": "1999-01-01T00:00:00Z"},
}  # fmt: skip


@pytest.mark.parametrize("fields", ERRORS.values(), ids=ERRORS.keys())
def test_error_results_are_errors_without_the_flag(fields: dict[str, Any]) -> None:
    assert status(**fields) == "error"


@pytest.mark.parametrize("fields", FINE.values(), ids=FINE.keys())
def test_good_but_odd_results_stay_ok(fields: dict[str, Any]) -> None:
    assert status("2026-10-02T14:05:00Z", **fields) == "ok"


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""}, {"text": " \n\t"}, {"content": []}, {"content": [{"type": "image", "data": "aGk=",
        "mimeType": "image/png"}]},
        {"structured_content": None}, {"content": [{"type": "text", "text": ""}, {"type": "text", "text": "\u2003"}]},
    ],
)  # fmt: skip
def test_nothing_to_read_is_empty(fields: dict[str, Any]) -> None:
    assert status(**fields) == "empty"


@pytest.mark.parametrize(
    "fields",
    [
        {"structured_content": {"a": "1"}, "output_schema": {"properties": {"a": {"type": "integer"}}}},
        {"text": '{"b": 1}', "outputSchema": {"type": "object", "required": ["a"]}},
        {"text": "prose", "output_schema": {"type": "object"}},
        {"structured_content": {}, "output_schema": {"type": "objekt"}},
        {"structured_content": {}, "output_schema": {"$ref": "https://example.com/remote.json"}},
        {"structured_content": {}, "output_schema": {"$ref": "#/$defs/missing"}},
        {"structured_content": {"a": {}}, "output_schema": {"$ref": "#"} | {"required": ["b"]}},
    ],
)
def test_results_that_fail_their_schema(fields: dict[str, Any]) -> None:
    assert status(**fields) == "schema_mismatch"


TTL = {"text": "a", "fetched_at": "2026-10-02T14:00:00Z", "ttl_seconds": 60}


@pytest.mark.parametrize(
    ("answered_at", "change", "expected"),
    [
        ("2026-10-02T14:01:00Z", {}, "ok"),
        ("2026-10-02T14:01:00.000001Z", {}, "stale"),
        ("2026-10-02T14:01:01Z", {}, "stale"),
        ("2026-10-02T16:01:00+02:00", {}, "ok"),
        ("2026-10-02T14:01:00", {}, "ok"),
        ("2026-10-02T13:00:00Z", {}, "ok"),
        ("2026-10-02T14:00:00Z", {"ttl_seconds": 0}, "ok"),
        ("2026-10-02T14:00:01Z", {"ttl_seconds": 0}, "stale"),
        ("2026-10-02T14:00:01Z", {"ttl_seconds": 0.5}, "stale"),
        ("9999-10-02T14:00:01Z", {"ttl_seconds": 1e300}, "ok"),
        (None, {}, "ok"),
        ("2027-01-01T00:00:00Z", {"ttl_seconds": None}, "ok"),
        ("2027-01-01T00:00:00Z", {"fetched_at": None}, "ok"),
        ("2027-01-01T00:00:00Z", {"text": ""}, "empty"),
        ("2027-01-01T00:00:00Z", {"is_error": True}, "error"),
    ],
)
def test_staleness(answered_at: str | None, change: dict[str, Any], expected: str) -> None:
    assert status(answered_at, **{**TTL, **change}) == expected


@given(sources(), st.sampled_from([None, "2026-10-02T14:05:00Z"]))
@settings(max_examples=200, deadline=None)
def test_every_source_has_one_status_and_a_hash(fields: dict[str, Any], answered_at: str | None) -> None:
    trace = Trace.model_validate({"answer": "", "sources": [fields], "answered_at": answered_at})
    report = inspect(trace.sources[0], trace.answered_at)
    assert report.status in ("ok", "error", "schema_mismatch", "stale", "empty")
    assert len(report.sha256) == 64
    assert (report.status == "ok") == (report.reason is None)
