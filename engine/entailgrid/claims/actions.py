"""Claims about what the agent did ("I have sent the email"): the action tool's result is their evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from entailgrid.language import stem, words
from entailgrid.types import Source

_GROUPS = [
    "create add book make place open register submit schedule reserve order confirm purchase complete set",
    "update modify change edit upgrade downgrade adjust add apply remove reschedule rebook switch move set save",
    "delete remove cancel close revoke terminate",
    "send email notify issue deliver forward post message publish text",
    "transfer escalate connect route hand assign",
    "refund credit process return reimburse",
    "pay charge bill process",
]
_LOOKUPS = frozenset(
    stem(w) for w in """get search find list fetch lookup look query retrieve read show describe check load view""".split()
)
_FOUND = frozenset(
    stem(w) for w in """found find retrieved located checked reviewed searched accessed pulled looked verified""".split()
)
_ANY = frozenset(stem(word) for word in ["process", "complete", "finalize", "execute", "perform"])
_BY_STEM: dict[str, frozenset[str]] = {}
for _group in _GROUPS:
    _stems = frozenset(stem(word) for word in _group.split())
    for _word in _stems:
        _BY_STEM[_word] = _BY_STEM.get(_word, frozenset()) | _stems
_IRREGULAR = {
    "sent": "send",
    "made": "make",
    "found": "find",
    "paid": "pay",
    "set": "set",
    "booked": "book",
    "put": "place",
}

_DONE = re.compile(
    r"\b(?:(?:i|we)(?:(?:'|’)ve| have)?|(?:has|have|had)(?: now| already| just)? been|was|were|is|are(?: now)?|been)"
    r"(?: (?:now|already|also|just|successfully|been))* (?P<verb>\w{3,}(?:ed|en)|sent|made|found|paid|set)\b",
    re.IGNORECASE,
)


def action_verbs(claim: str) -> frozenset[str]:
    """Stems of the verbs of completed actions in `claim`; empty where it reports none."""
    verbs = {match.group("verb").lower() for match in _DONE.finditer(claim)}
    return frozenset(stem(_IRREGULAR.get(verb, verb)) for verb in verbs)


def is_action(claim: str) -> bool:
    """Whether `claim` says that the agent (or its tools) did something: first person, or marked as successful."""
    if not action_verbs(claim) & (_BY_STEM.keys() | _FOUND | _ANY):
        return False
    return bool(
        re.search(r"\b(?:I|we|We)(?:['’]ve| have|\b)|\b(?:has|have) (?:now |already |just )?been\b|\bsuccessfully\b", claim)
    )


_FAILED = frozenset("failed failure error rejected declined denied refused undelivered bounced".split())
_TO_WHOM = re.compile(r"\b(?:to|for|with) (?:(?:Mr|Ms|Mrs|Dr|Prof)\b\.? )?([A-Z][\w'’-]{2,})")


def reports_failure(result: Any) -> bool:
    """Whether an action tool's own result says that the action failed (`"status": "failed"`)."""
    if not isinstance(result, Mapping):
        return False
    return any(str(result.get(key)).lower() in _FAILED for key in ("status", "state", "outcome", "result"))


def recipients(claim: str) -> frozenset[str]:
    """Names (lower-case) of those to or for whom something was done."""
    return frozenset(match.group(1).lower() for match in _TO_WHOM.finditer(claim))


def performing_sources(claim: str, sources: Sequence[Source]) -> list[int]:
    """Indices of the tool results that performed the action which `claim` reports, in order."""
    verbs = action_verbs(claim)
    wanted = frozenset().union(*(_BY_STEM.get(verb, frozenset((verb,))) for verb in verbs)) if verbs else frozenset()
    if verbs & _ANY:
        wanted = frozenset(_BY_STEM)
    objects = frozenset(stem(word) for word in words(claim))
    found = []
    for index, source in enumerate(sources):
        tool = [stem(word) for word in words(source.tool or "")]
        if not tool:
            continue
        looks_up = bool(_LOOKUPS & set(tool))
        about_same = bool(objects & (set(tool) - _LOOKUPS - wanted))
        if (not looks_up and wanted & set(tool)) or (looks_up and verbs & _FOUND and about_same):
            found.append(index)
    return found
