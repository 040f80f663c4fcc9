"""Policies: tiers, their files, and what a tier may back (rule 9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from entailgrid import InvalidTrace, Policy
from entailgrid.types import Source, Tier
from entailgrid.verdict.policy import load_policy, may_back


def source(**fields: str) -> Source:
    return Source.model_validate({"id": "s", "text": "a", **fields})


def test_the_policy_names_tiers_by_server_or_tool_and_else_the_trace() -> None:
    policy = Policy(tiers={"crm": "T1", "crm/search": "T3"})
    assert policy.tier_of(source(server="crm", tool="get_account", tier="T0")) == "T1"
    assert policy.tier_of(source(server="crm", tool="search", tier="T0")) == "T3"
    assert policy.tier_of(source(server="other", tool="search", tier="T2")) == "T2"
    assert policy.tier_of(source(tier="T2")) == "T2"
    assert policy.tier_of(source()) is None


def test_the_default_flags_what_is_uncited() -> None:
    assert Policy().uncited == "flag"
    for bad in ({"uncited": "maybe"}, {"tiers": {"a": "T9"}}, {"unknown": 1}):
        with pytest.raises(ValidationError):
            Policy.model_validate(bad)


@pytest.mark.parametrize(
    ("tier", "claim", "prose", "expected"),
    [
        (None, "It is 5.", False, True), ("T0", "It is 5.", False, True), ("T1", "You should take 5 mg.", False, True),
        ("T3", "It is 5.", True, False), ("T3", "It is 5.", False, False), ("T2", "It is 5.", True, True),
        ("T2", "It is 5.", False, False), ("T2", "You should take 5 mg.", True, False), ("T2", "You must take 5 mg.", True, False),
        ("T2", "Always take 5 mg.", True, False), ("T2", "We recommend 5 mg.", True, False),
        ("T2", "Patients have to take 5 mg.", True, False), ("T2", "Don't take 5 mg.", True, False),
        ("T2", "The study measured 5 mg.", True, True),
    ],
)  # fmt: skip
def test_what_a_tier_may_back(tier: Tier | None, claim: str, prose: bool, expected: bool) -> None:
    assert may_back(tier, claim, named_in_prose=prose) == expected


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('uncited = "block"\n[tiers]\n"crm-mcp.internal" = "T0"\n"web/search" = "T3"\n', "utf-8")
    assert load_policy(path) == Policy(uncited="block", tiers={"crm-mcp.internal": "T0", "web/search": "T3"})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"uncited = maybe", "not TOML"), (b'uncited = "maybe"', "uncited"), (b'unicted = "block"', "unicted"),
        (b'[tiers]\na = "T7"', "tiers.a"), (b"\xff\xfe", "not TOML"),
    ],
)  # fmt: skip
def test_bad_files_name_file_and_field(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidTrace, match=expected) as caught:
        load_policy(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_or_a_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InvalidTrace, match="cannot be read"):
            load_policy(path)
