"""Numeric literals: numbers, amounts, percentages, durations, quantities, and ranges of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from entailgrid.claims.literal.currencies import currency_after, currency_before
from entailgrid.claims.literal.model import Bound, Literal, Measure
from entailgrid.claims.literal.numerals import CONTEXT, Atom, compile_ascii, find_atoms
from entailgrid.claims.literal.units import Unit, scale_after, unit_after
from entailgrid.types import LiteralKind

_COMPACT_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_COMPACT = compile_ascii(
    r"(?<![\w.])(?=\d{1,6} ?[dh] ?\d|\d{1,6} ?m ?\d{1,2} ?s)(?:(?P<d>\d{1,6}) ?d ?)?(?:(?P<h>\d{1,6}) ?h ?)?"
    r"(?:(?P<m>\d{1,6}) ?m(?:in)? ?)?(?:(?P<s>\d{1,6}) ?s)?(?<![ ])(?!\w)"
)
_ISO = compile_ascii(
    r"(?<![\w])P(?=\d|T\d)(?:(?P<Y>\d{1,6})Y)?(?:(?P<M>\d{1,6})M)?(?:(?P<W>\d{1,6})W)?(?:(?P<D>\d{1,6})D)?"
    r"(?:T(?:(?P<h>\d{1,6})H)?(?:(?P<m>\d{1,6})M)?(?:(?P<s>\d{1,9})S)?)?(?!\w)"
)
_PLAYING = compile_ascii(r"(?<![\w:.,])(?P<m>\d{2,3}):(?P<s>[0-5]\d)(?![\w:]|[.,]\d)")
_CUES: tuple[tuple[Bound, str], ...] = (
    (
        "about",
        r"about|approximately|approx\.?|around|roughly|circa|ca\.|c\.|nearly|almost|close to|some|"
        r"(?:an )?estimated|~|≈",
    ),
    (
        "over",
        r"over|more than|greater than|above|exceeding|exceeds?|at least|(?:a )?minimum of|min\.?|no less than|"
        r"no fewer than|"
        r"not less than|upwards of|longer than|>=?|≥",
    ),
    (
        "under",
        r"under|less than|fewer than|below|up to|at most|(?:a )?maximum of|max\.?|no more than|"
        r"not more than|shorter than|"
        r"<=?|≤",
    ),
)
_CUE = re.compile(
    "(?:^|[^\\w])(?:" + "|".join(f"(?P<{bound}>{words})" for bound, words in _CUES) + ") {0,2}(?:an? |the )?$",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"(?<!no )(?<!not )\b(?:more|greater|less|fewer|longer|shorter) than\b|\b(?:exceed(?:s|ing)?|under|below)\b|[<>](?!=)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?P<over>\+(?!\d)| (?:or|and) (?:more|longer|above|over|higher)\b)|(?P<under> or (?:less|fewer|under|lower)\b)"
)
_ABOUT_TAIL = re.compile(r" or so\b| approximately\b", re.IGNORECASE)
_JOIN = re.compile(r"[ \u00a0]?(?:-|–|—|−|\.\.\.?)[ \u00a0]?|[ \u00a0]{1,2}(?:to|through|up to|till|until)[ \u00a0]{1,2}")
_YEARS = re.compile(r"(?:19|20)\d\d[-–]\d\d")
_AND = re.compile(r" {1,2}and {1,2}")
_BETWEEN = re.compile(r"\bbetween (?:about |approximately |around )?$", re.IGNORECASE)
_CHAIN = re.compile(r",? ?(?:and |& )?")
_IS = re.compile(r" (?:is|are|was|were) {1,2}$")
_NOT_NAME = re.compile(r"[^\w .()/%€$£&'-]")
_NOUN_FOLLOWS = re.compile(r"[ \u00a0]{1,2}(?!(?:and|or|to|is|are|was|were|in|on|at|for|from|per|by|of|with)\b)[a-z]")


@dataclass(frozen=True, slots=True)
class _Term:
    """A numeral with its currency, scale and unit."""

    atom: Atom
    start: int
    end: int
    figures: tuple[Decimal, ...]
    unit: Unit | None
    scale: int = 0


def find_durations(text: str) -> Iterator[Literal]:
    """Durations written as one token: "2h 30m", "P30D", "PT2H", and "40:58", which is no time of day."""
    for match in _COMPACT.finditer(text):
        parts = [(int(match[name]), size) for name, size in _COMPACT_UNITS if match[name]]
        if len(parts) > 1:
            yield _duration(text, match, Decimal(sum(count * size for count, size in parts)), "time")
    for match in _PLAYING.finditer(text):
        if int(match["m"]) > 24:
            yield _duration(text, match, Decimal(int(match["m"]) * 60 + int(match["s"])), "time")
    for match in _ISO.finditer(text):
        group = {name: int(value or 0) for name, value in match.groupdict().items()}
        months = group["Y"] * 12 + group["M"]
        seconds = group["W"] * 604800 + group["D"] * 86400 + group["h"] * 3600 + group["m"] * 60 + group["s"]
        if months and seconds:
            yield _duration(text, match, Decimal(seconds), f"time after {months} months")
        else:
            yield _duration(text, match, Decimal(months or seconds), "calendar" if months else "time")


def _duration(text: str, match: re.Match[str], value: Decimal, unit: str) -> Literal:
    measures = (Measure(value, value),)
    end = match.end()
    return Literal(text[match.start() : end], "duration", match.start(), end, unit=unit, measures=measures)


def find_measures(text: str) -> Iterator[Literal]:
    """Every numeral of the text as one literal, ranges and compound durations joined."""
    terms: list[_Term] = []
    for atom in find_atoms(text):
        if not terms or atom.start >= terms[-1].end:
            terms.append(_read(text, atom))
    index = 0
    while index < len(terms):
        term = terms[index]
        following = terms[index + 1] if index + 1 < len(terms) else None
        if following is not None and (literal := _range(text, term, following)) is not None:
            index += 2
            yield _finish(text, literal)
            continue
        literal, used = _chain(text, terms, index)
        index += used
        if not _is_noise(term):
            yield _finish(text, literal)


def _is_noise(term: _Term) -> bool:
    """A lone "one" or a bare half: pronouns and set phrases more often than values."""
    return term.atom.is_word and not term.atom.is_ordinal and term.unit is None and term.figures[0] in (1, Decimal("0.5"))


def _read(text: str, atom: Atom) -> _Term:
    start, end, figures = atom.start, atom.end, atom.readings
    if atom.is_ordinal:
        return _Term(atom, start, end, figures, None)
    unit: Unit | None = None
    if before := currency_before(text, start):
        unit, start = Unit("amount", before[0]), before[1]
    elif text[start - 1 : start] in ("-", "−") and (before := currency_before(text, start - 1)):
        unit, start, figures = Unit("amount", before[0]), before[1], tuple(CONTEXT.minus(value) for value in figures)
    negative = start > 0 and text[start - 1] in "-−" and not _is_joined(text, start - 1)
    scale = scale_after(text, end, money=unit is not None)
    if scale:
        figures, end = tuple(CONTEXT.multiply(value, scale[0]) for value in figures), scale[1]
    if unit is None and text[end : end + 4] == " an ":
        end = end + 3 if unit_after(text, end + 3) else end
    elif unit is None and text[end : end + 3] == " a ":
        end = end + 2 if unit_after(text, end + 2) else end
    if after := currency_after(text, end):
        name = after[0] if unit is None or unit.dimension in ("$", "¥", "") else unit.dimension
        unit, end = Unit("amount", name), after[1]
    elif unit is None and (found := unit_after(text, end)):
        unit, end = found
    if negative:
        figures, start = tuple(CONTEXT.minus(value) for value in figures), start - 1
    elif unit is not None and unit.kind == "amount" and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        figures = (*figures, *(CONTEXT.minus(value) for value in figures))
    return _Term(atom, start, end, figures, unit, scale[0] if scale else 0)


def _is_joined(text: str, dash: int) -> bool:
    return dash > 0 and (text[dash - 1].isalnum() or text[dash - 1] in ")%$€£\"'.")


def _range(text: str, low: _Term, high: _Term) -> Literal | None:
    if low.atom.is_ordinal or high.atom.is_ordinal:
        return None
    between = text[low.end : high.start]
    figures_high = high.figures
    if high.start < high.atom.start and text[high.start] in "-−":
        if any(char != text[high.start] for char in between.strip()) or between.endswith(" "):
            return None
        figures_high = tuple(CONTEXT.minus(value) for value in high.figures)
    elif not _JOIN.fullmatch(between) and not (
        _AND.fullmatch(between) and _BETWEEN.search(text[max(0, low.start - 24) : low.start])
    ):
        return None
    if _YEARS.fullmatch(text[low.start : high.end]):
        figures_high = (Decimal(text[low.start : low.start + 2] + text[high.start : high.end]),)
    unit = high.unit or low.unit
    if low.unit is not None and unit is not None and (low.unit.kind, low.unit.dimension) != (unit.kind, unit.dimension):
        return None
    figures_low = low.figures
    if not low.scale and high.scale:
        figures_low = tuple(CONTEXT.multiply(value, high.scale) for value in figures_low)
    pairs = [(a, b) for a in figures_low for b in figures_high if a < b]
    if not pairs or (len(figures_low) == len(figures_high) == 2 and len(pairs) > 2):
        pairs = [pair for pair in zip(figures_low, figures_high, strict=False) if pair[0] < pair[1]]
    if not pairs:
        return None
    low_unit = low.unit or unit
    figures = tuple(Measure(a, b) for a, b in pairs)
    measures = tuple(Measure(_base(low_unit, a), _base(unit, b)) for a, b in pairs)
    return _literal(text, low.start, high.end, unit, figures, measures)


def _chain(text: str, terms: list[_Term], index: int) -> tuple[Literal, int]:
    """The literal at `index`, summed with the smaller duration units that follow it ("1 hour and 30 minutes")."""
    first = terms[index]
    figures = tuple(Measure(value, value) for value in first.figures)
    total = tuple(_base(first.unit, value) for value in first.figures)
    last, used = first, 1
    while first.unit is not None and first.unit.kind == "duration" and index + used < len(terms):
        step = terms[index + used]
        if (
            step.unit is None
            or last.unit is None
            or step.unit.dimension != first.unit.dimension
            or step.unit.factor >= last.unit.factor
            or step.atom.start != step.start
            or not _CHAIN.fullmatch(text[last.end : step.start])
        ):
            break
        total = tuple(CONTEXT.add(value, _base(step.unit, step.figures[0])) for value in total)
        last, used = step, used + 1
    measures = tuple(Measure(value, value) for value in total)
    literal = _literal(text, first.start, last.end, first.unit, figures if used == 1 else (), measures)
    atom = first.atom
    small = first.unit is None and not first.scale and first.figures[0] <= 10
    unit = "ordinal" if atom.is_ordinal else literal.unit
    return replace(literal, weak=small and (atom.is_word or atom.is_ordinal), unit=unit), used


def _base(unit: Unit | None, figure: Decimal) -> Decimal:
    return figure if unit is None else unit.convert(figure)


def _literal(
    text: str, start: int, end: int, unit: Unit | None, figures: tuple[Measure, ...], measures: tuple[Measure, ...]
) -> Literal:
    kind: LiteralKind = "number" if unit is None else unit.kind
    dimension = "" if unit is None else unit.dimension
    return Literal(text[start:end], kind, start, end, unit=dimension, figures=figures, measures=measures)


def _finish(text: str, literal: Literal) -> Literal:
    """The literal with what stands around it: a bound, the field's name, whether a noun follows."""
    window = text[max(0, literal.start - 26) : literal.start]
    bound: Bound = "exact"
    strict = False
    if match := _CUE.search(window):
        bound = "about" if match["about"] else "over" if match["over"] else "under"
        strict = bool(_STRICT.search(match.group())) and not text.startswith(" ago", literal.end)
    elif match := _TAIL.match(text, literal.end):
        bound = "over" if match["over"] else "under"
    elif _ABOUT_TAIL.match(text, literal.end):
        bound = "about"
    isolated = _NOUN_FOLLOWS.match(text, literal.end) is None
    return replace(literal, bound=bound, strict=strict, isolated=isolated, key=key_before(text, literal.start))


def key_before(text: str, position: int) -> str:
    """The field name or label that ends right before `position` ("refund_window": 30 -> refund_window), or ""."""
    window = text[max(0, position - 64) : position]
    line = window[max(window.rfind(mark) for mark in "\n{,;|") + 1 :]
    head = line.rstrip(" \t\"'[(")
    if head.endswith((":", "=")):
        head = head[:-1]
    elif match := _IS.search(line):
        head = line[: match.start()]
    else:
        return ""
    return _NOT_NAME.split(head.rstrip(" \t\"'”"))[-1].lstrip(" .()/%€$£&'-0123456789").rstrip()
