"""One literal of a claim against the literals of a premise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from entailgrid.claims.literal.codes import shape
from entailgrid.claims.literal.model import Check, Clock, Day, Literal, Measure
from entailgrid.claims.literal.numerals import LETTERS
from entailgrid.claims.literal.numeric import Relation, is_year, relate_measures
from entailgrid.types import LiteralStatus

_QUOTES = str.maketrans("“”„«»‘’‚`_*\u00a0\u202f\u2009", '"""""\'\'\'\'      '[:14])
_ELLIPSIS = re.compile(r"\s*(?:\[(?:\.{3}|…)\]|\.{3}|…)\s*")
_ALNUM = LETTERS.replace("_", "")
_MARKS = re.compile(r"[\s_#-]+")


def compare(claim: Literal, premise: Sequence[Literal], premise_text: str) -> Check:
    """What the premise says about a claim's literal.

    `match`: the premise holds an equal value (for identifiers and quotations: the text itself). `mismatch`: it holds
    comparable values and none is equal. `cannot_check`: it holds nothing comparable, or lacks a part of what is stated.
    """
    candidates = _flatten(premise)
    if claim.kind == "quotation":
        missing: LiteralStatus = "cannot_check" if _is_title(claim.name) else "mismatch"
        return Check(claim, "match" if _is_quoted(claim.name, premise_text) else missing)
    if claim.kind == "identifier":
        return _compare_identifier(claim, candidates, premise_text)
    best, found = Relation.NONE, None
    distance = Decimal(0)
    for literal in candidates:
        relation, gap = _relate(claim, literal)
        if relation > best or (relation == best and relation is not Relation.NONE and gap < distance):
            best, found, distance = relation, literal, gap
            if relation is Relation.EQUAL:
                break
    if best < Relation.LOOSE and _holds_both_bounds(claim, candidates):
        return Check(claim, "match")
    return _conclude(claim, best, found)


def _conclude(claim: Literal, best: Relation, found: Literal | None) -> Check:
    if best >= Relation.LOOSE:
        return Check(claim, "match", found)
    status: LiteralStatus = "mismatch" if best in (Relation.FAR, Relation.DIFFERENT) and not claim.weak else "cannot_check"
    return Check(claim, status, found if status == "mismatch" else None)


def _flatten(premise: Iterable[Literal]) -> list[Literal]:
    """The premise's literals, with those inside its quotations in their place."""
    return [item for literal in premise for item in (literal.inner if literal.kind == "quotation" else (literal,))]


def _relate(claim: Literal, literal: Literal) -> tuple[Relation, Decimal]:
    """How the premise's literal stands to the claim's, and how far apart they are."""
    if claim.measures:
        if literal.measures:
            return relate_measures(claim, literal)
        return _relate_number_to_other(claim, literal), Decimal(0)
    if claim.kind == "date":
        return _relate_date(claim, literal)
    if claim.clock and literal.clock:
        return _relate_clock(claim.clock, literal)
    if claim.kind == "version":
        return _relate_version(claim, literal), Decimal(0)
    return Relation.NONE, Decimal(0)


def _relate_number_to_other(claim: Literal, literal: Literal) -> Relation:
    """A bare number may stand for a year, a version or the number inside an identifier."""
    if claim.kind != "number":
        return Relation.NONE
    if literal.kind == "date":
        if _same_year(claim.measures, literal.days):
            return Relation.LOOSE
        dated = is_year(claim) and any(day.year is not None for day in literal.days)
        return Relation.DIFFERENT if dated else Relation.NONE
    if literal.kind == "version":
        return Relation.LOOSE if literal.name == claim.text else Relation.NONE
    if literal.kind == "identifier" and len(claim.text) >= 4:
        return Relation.LOOSE if claim.text in _MARKS.split(literal.name) else Relation.NONE
    return Relation.NONE


def _same_year(measures: tuple[Measure, ...], days: tuple[Day, ...]) -> bool:
    return any(not item.is_range and item.low == day.year for item in measures for day in days if day.year is not None)


def _holds_both_bounds(claim: Literal, candidates: Sequence[Literal]) -> bool:
    """A range of the claim that the premise states as two values (`min: 10, max: 12`)."""
    for index, measure in enumerate(claim.measures):
        if not measure.is_range or index >= len(claim.figures):
            continue
        figures = claim.figures[index]
        ends = (
            Literal(claim.text, claim.kind, 0, 0, unit=claim.unit, measures=(Measure(m, m),), figures=(Measure(f, f),))
            for m, f in ((measure.low, figures.low), (measure.high, figures.high))
        )
        if all(any(relate_measures(end, literal)[0] >= Relation.LOOSE for literal in candidates) for end in ends):
            return True
    return False


def _relate_date(claim: Literal, literal: Literal) -> tuple[Relation, Decimal]:
    if literal.kind == "number":
        only_year = all(day == Day(year=day.year) for day in claim.days)
        same = only_year and _same_year(literal.measures, claim.days)
        return (Relation.LOOSE if same else Relation.NONE), Decimal(0)
    results = [_relate_day(stated, known) for stated in claim.days for known in literal.days]
    return max(results, key=lambda item: (item[0], -item[1]), default=(Relation.NONE, Decimal(0)))


def _relate_day(stated: Day, known: Day) -> tuple[Relation, Decimal]:
    """Equal if `known` has every stated field; unclear if it lacks some and contradicts none."""
    agree = differ = missing = 0
    for want, have in _field_pairs(stated, known):
        agree, differ, missing = agree + (want == have), differ + (have not in (None, want)), missing + (have is None)
    if differ:
        return Relation.DIFFERENT, Decimal(differ - agree)
    if missing:
        return (Relation.UNCLEAR if agree else Relation.NONE), Decimal(missing)
    return Relation.EQUAL, Decimal(0)


def _field_pairs(stated: Day, known: Day) -> Iterator[tuple[int, int | None]]:
    quarter = known.quarter if known.month is None else (known.month + 2) // 3
    for want, have in (
        (stated.year, known.year),
        (stated.quarter, quarter),
        (stated.month, known.month),
        (stated.day, known.day),
        (stated.weekday, weekday(known)),
    ):
        if want is not None:
            yield want, have
    if stated.month is not None and known.month is None and quarter is not None and (stated.month + 2) // 3 != quarter:
        yield (stated.month + 2) // 3, quarter


def weekday(day: Day) -> int | None:
    """The weekday that a date states or implies (Zeller's congruence, Monday = 0)."""
    if day.weekday is not None or day.year is None or day.month is None or day.day is None:
        return day.weekday
    month, year = (day.month, day.year) if day.month > 2 else (day.month + 12, day.year - 1)
    return (day.day + 13 * (month + 1) // 5 + year + year // 4 - year // 100 + year // 400 + 5) % 7


def _relate_clock(stated: Clock, literal: Literal) -> tuple[Relation, Decimal]:
    known = literal.clock
    if known is None:
        return Relation.NONE, Decimal(0)
    shifts = _zone_shifts(stated, known)
    if shifts is None:
        return Relation.DIFFERENT, Decimal(1)
    gaps = [abs(a - b - shift * 60) % 86400 for a in stated.seconds for b in known.seconds for shift in shifts]
    gap = min(min(value, 86400 - value) for value in gaps)
    if gap == 0:
        lacks_seconds = stated.to_the_second and not known.to_the_second and any(value % 60 for value in stated.seconds)
        return (Relation.UNCLEAR if lacks_seconds else Relation.EQUAL), Decimal(0)
    to_the_minute = not stated.to_the_second and any(
        (b + shift * 60) // 60 % 1440 == a // 60 for a in stated.seconds for b in known.seconds for shift in shifts
    )
    if to_the_minute:
        return Relation.EQUAL, Decimal(0)
    if stated.to_the_second and not known.to_the_second and gap < 60:
        return Relation.UNCLEAR, Decimal(gap)
    return Relation.DIFFERENT, Decimal(gap)


def _zone_shifts(stated: Clock, known: Clock) -> tuple[int, ...] | None:
    """Minutes by which `stated` may run ahead of `known`; `None` if their zones cannot be reconciled."""
    if not stated.zone or not known.zone or stated.zone == known.zone:
        return (0,)
    if not stated.offsets or not known.offsets:
        return None
    return tuple({a - b for a in stated.offsets for b in known.offsets})


def _relate_version(claim: Literal, literal: Literal) -> Relation:
    if literal.kind == "number":
        return Relation.LOOSE if literal.text == claim.name else Relation.NONE
    if literal.kind != "version":
        return Relation.NONE
    if literal.name == claim.name:
        return Relation.EQUAL
    return Relation.LOOSE if literal.name.startswith(f"{claim.name}.") else Relation.DIFFERENT


def _compare_identifier(claim: Literal, candidates: Sequence[Literal], premise_text: str) -> Check:
    if claim.unit == "phone":
        known = re.sub(r"[ ().-]", "", premise_text)
        phones = [literal for literal in candidates if literal.unit == "phone"]
        equal = next((item for item in phones if item.name.endswith(claim.name) or claim.name.endswith(item.name)), None)
        if equal or re.search(rf"(?<!\d){claim.name}(?!\d)", known):
            return Check(claim, "match", equal)
        return Check(claim, "mismatch", phones[0]) if phones else Check(claim, "cannot_check")
    edge = "" if claim.unit == "suffix" else f"(?<![{_ALNUM}])"
    if re.search(rf"{edge}{_loose(claim.name)}(?![{_ALNUM}])", premise_text, re.IGNORECASE):
        return Check(claim, "match", next((item for item in candidates if item.name == claim.name), None))
    alike = [literal for literal in candidates if _is_alike(claim, literal)]
    if not alike:
        return Check(claim, "cannot_check")
    return Check(claim, "mismatch", max(alike, key=lambda literal: _common_prefix(claim.name, literal.name)))


def _loose(name: str) -> str:
    """A pattern for the name in which underscores, hyphens and spaces may stand for one another."""
    return r"[\s_#-]{1,3}".join(re.escape(part) for part in _MARKS.split(name) if part)


def _is_alike(claim: Literal, literal: Literal) -> bool:
    if literal.kind == "number":
        return claim.name.isdigit() and literal.text.isdigit() and len(literal.text) == len(claim.name) >= 4
    if literal.kind != "identifier" or literal.unit != claim.unit:
        return literal.kind == "identifier" and claim.unit == "suffix" and len(claim.name) == len(literal.name)
    if shape(literal.text) == shape(claim.text):
        return True
    return claim.name.isdigit() and any(
        piece.isdigit() and len(piece) == len(claim.name) for piece in _MARKS.split(literal.name)
    )


def _common_prefix(left: str, right: str) -> int:
    return next((index for index, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _is_title(quotation: str) -> bool:
    """Whether every longer word is capitalised: the name of a work rather than words that somebody said."""
    return all(not word[0].islower() for word in re.findall(r"[^\W\d_]{4,}", quotation))


def _is_quoted(quotation: str, premise_text: str) -> bool:
    """Whether the premise holds the quotation, ellipses aside in its order; case, spaces, quote style aside."""
    known, position = _plain(premise_text), 0
    for part in _ELLIPSIS.split(quotation):
        words = _plain(part).strip(" .,;:!?'\"")
        at = known.find(words, position)
        if at < 0:
            return False
        position = at + len(words)
    return True


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).replace("\\n", " ").replace('\\"', '"').casefold().split())
