"""What the words of a claim and a premise show beyond the cross-encoder: antonyms, and another bearer of the same fact."""

from __future__ import annotations

import itertools
import re

from entailgrid.language import STOP_WORDS, remembered, stem

_PAIRS = """open/closed open/shut opened/closed available/unavailable available/sold included/excluded includes/excludes
allowed/forbidden allowed/prohibited permitted/prohibited permitted/forbidden enabled/disabled active/inactive
on/off increase/decrease increased/decreased rose/fell rise/fall grew/shrank up/down gain/loss gained/lost
higher/lower highest/lowest high/low more/less most/least larger/smaller largest/smallest maximum/minimum
above/below over/under before/after earlier/later earliest/latest first/last early/late start/end begins/ends
accept/reject accepted/rejected approved/denied approved/rejected approve/deny pass/fail passed/failed
success/failure successful/unsuccessful safe/unsafe safe/dangerous legal/illegal valid/invalid valid/expired
positive/negative present/absent true/false possible/impossible mandatory/optional required/optional free/paid
public/private internal/external inbound/outbound arrive/depart arrives/departs arrival/departure buy/sell
bought/sold win/lose won/lost add/remove added/removed install/uninstall connected/disconnected full/empty old/new
hot/cold heavy/light long/short fast/slow left/right male/female married/single alive/dead healthy/sick
benign/malignant refundable/nonrefundable same/different always/never everyone/nobody all/none daily/weekly
weekly/monthly monthly/annual morning/evening""".split()
_OPPOSITES: dict[str, set[str]] = {}
for _pair in _PAIRS:
    _left, _right = (stem(_word) for _word in _pair.split("/"))
    _OPPOSITES.setdefault(_left, set()).add(_right)
    _OPPOSITES.setdefault(_right, set()).add(_left)

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NEGATION = re.compile(r"\b(?:no|not|none|without|never|lacks?|lacking|neither|nor|cannot)\b|n['’]t\b", re.IGNORECASE)


def negated(text: str) -> bool:
    """Whether `text` holds a negation."""
    return bool(_NEGATION.search(text))


@remembered(65536)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in _WORD.findall(text))


def holds_antonym(claim: str, premise: str) -> bool:
    """Whether the claim says one word of an opposite pair where the premise says the other ('open' against 'closed').

    Both negated or neither; a word that both use is no sign.
    """
    said, held = _stems(claim), _stems(premise)
    if negated(claim) != negated(premise):
        return False
    return any((_OPPOSITES[word] & held) - said for word in said - held if word in _OPPOSITES)


@remembered(65536)
def _qualified(text: str) -> frozenset[tuple[str, str]]:
    """(capitalised word, the word after it) as stems: `Premium plans` -> (premium, plan)."""
    found = set()
    matches = list(_WORD.finditer(text))
    for first, second in itertools.pairwise(matches):
        word = first.group()
        adjacent = not text[first.end() : second.start()].strip()
        if (
            word.isalpha()
            and word[0].isupper()
            and adjacent
            and word.lower() not in STOP_WORDS
            and second.group().lower() not in STOP_WORDS
        ):
            found.add((stem(word.lower()), stem(second.group().lower())))
    return frozenset(found)


def names_another_bearer(claim: str, premise: str) -> bool:
    """Whether the premise says of another thing of the same kind what the claim says: `Basic plans` against `Premium plans`."""
    said, held = _stems(claim), _stems(premise)
    theirs = _qualified(premise)
    for word, noun in _qualified(claim):
        if word in held or not any(noun == other for _, other in theirs):
            continue
        if all(other not in said for other, kind in theirs if kind == noun):
            return True
    return False
