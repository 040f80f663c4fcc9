"""The committed JSON Schemas are those of the code, and agree with the models on what a trace is."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.ingest import parse_trace
from entailgrid.schemas import FOLDER, schema_texts, write_schemas

EXAMPLE: dict[str, Any] = {
    "id": "trace-001",
    "question": "Can I still get my money back?",
    "answer": "According to the account record, this plan includes a 30-day refund window.",
    "answered_at": "2026-10-02T14:05:00Z",
    "sources": [
        {
            "id": "req_8842",
            "server": "crm-mcp.internal",
            "tool": "get_account",
            "arguments": {"account_id": "A-17"},
            "content": [{"type": "text", "text": "Account A-17. Plan: Premium. Seats: 12."}],
            "structured_content": None,
            "is_error": False,
            "output_schema": None,
            "fetched_at": "2026-10-02T14:03:11Z",
            "ttl_seconds": 3600,
            "tier": "T0",
            "name": "account record",
            "url": None,
            "confidence": None,
            "source_chain": [],
            "signature": None,
        },
        {
            "id": "req_8843",
            "server": "docs-mcp.internal",
            "tool": "get_refund_policy",
            "name": "refund policy",
            "text": "Premium plans include a refund window of 30 days.",
        },
    ],
    "citations": [{"start": 0, "end": 75, "source_ids": ["req_8842"]}],
}


def schema(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["trace.schema.json", "report.schema.json"])
def test_committed_schema_is_that_of_the_code(name: str) -> None:
    committed = (FOLDER / name).read_text(encoding="utf-8")
    assert committed == schema_texts()[name], "run `python -m entailgrid.schemas` and commit the result"
    jsonschema.Draft202012Validator.check_schema(json.loads(committed))


def test_write_schemas_writes_both(tmp_path: Any) -> None:
    assert sorted(path.name for path in write_schemas(tmp_path)) == ["report.schema.json", "trace.schema.json"]
    assert (tmp_path / "trace.schema.json").read_text(encoding="utf-8") == schema_texts()["trace.schema.json"]


def test_contract_example_is_valid_by_schema_and_by_model() -> None:
    jsonschema.validate(EXAMPLE, schema("trace.schema.json"))
    trace = parse_trace(EXAMPLE)
    assert trace.sources[0].content[0].text == "Account A-17. Plan: Premium. Seats: 12."
    assert trace.sources[1].blocks[0].text == "Premium plans include a refund window of 30 days."
    assert trace.answer[trace.citations[0].start : trace.citations[0].end] == EXAMPLE["answer"]


SAME_VERDICT = [
    ("MCP spellings", {"sources": [{"id": "a", "content": [], "isError": True, "outputSchema": {}}]}, True),
    ("structuredContent alone", {"sources": [{"id": "a", "structuredContent": {"x": 1}}]}, True),
    ("_meta and gold", {"_meta": {}, "gold": {}, "sources": [{"id": "a", "text": "", "_meta": 1, "gold": 2}]}, True),
    ("no sources", {"sources": []}, True),
    ("unknown key at the top", {"sources": [], "sourcse": []}, False),
    ("unknown key in a source", {"sources": [{"id": "a", "text": "", "txet": ""}]}, False),
    ("a source without content", {"sources": [{"id": "a"}]}, False),
    ("an empty id", {"sources": [{"id": "", "text": ""}]}, False),
    ("a negative TTL", {"sources": [{"id": "a", "text": "", "ttl_seconds": -1}]}, False),
    ("an unknown tier", {"sources": [{"id": "a", "text": "", "tier": "T4"}]}, False),
    ("a citation that starts before the answer", {"sources": [], "citations": [{"start": -1, "end": 2}]}, False),
    ("sources missing", {}, False),
]


@pytest.mark.parametrize(("data", "accepted"), [case[1:] for case in SAME_VERDICT], ids=[case[0] for case in SAME_VERDICT])
def test_schema_and_model_agree(data: dict[str, Any], accepted: bool) -> None:
    document = {"answer": "an answer", **copy.deepcopy(data)}
    by_schema = jsonschema.Draft202012Validator(schema("trace.schema.json")).is_valid(document)
    try:
        parse_trace(document)
        by_model = True
    except InvalidTrace:
        by_model = False
    assert (by_schema, by_model) == (accepted, accepted)
