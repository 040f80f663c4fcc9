"""The literal check against tests/data/literals.tsv, whose expectations were written before the code ran."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from entailgrid.claims.literals import compare, extract

TABLE = Path(__file__).parents[1] / "data" / "literals.tsv"


def _unescape(cell: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), cell).replace("\\n", "\n")


def _rows() -> list[list[str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [[_unescape(cell) for cell in line.split("\t")] for line in lines if line and not line.startswith("# ")]


def test_the_table_is_large_and_well_formed() -> None:
    rows = _rows()
    assert len(rows) >= 200
    assert all(len(row) == 5 and row[3] in ("match", "mismatch", "cannot_check", "none") for row in rows)
    assert len({(row[0], row[1], row[2]) for row in rows}) == len(rows)


@pytest.mark.parametrize("row", _rows(), ids=lambda row: f"{row[2]}: {row[0]} / {row[1]}: {row[4]}"[:110])
def test_case(row: list[str]) -> None:
    claim, premise, kind, expected, _ = row
    literals = [literal for literal in extract(claim) if literal.kind == kind]
    statuses = {compare(literal, extract(premise), premise).status for literal in literals} or {"none"}
    assert statuses == {expected}, [(literal.text, literal.value) for literal in literals]
