"""Numerals, digits or words, as exact decimals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow

CONTEXT = Context(prec=80, traps=[InvalidOperation, Overflow, DivisionByZero])
MAX_DIGITS = 40
"""Longer runs of digits are names, not numbers."""

LETTERS = "A-Za-z0-9_À-ɏͰ-ӿ"
"""Characters that end no literal beside them, for a regular expression's class. CJK is absent: it has no spaces."""
SPACES = "\u00a0\u2009\u202f"


def compile_ascii(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern whose word characters are ASCII, so that a literal may stand right beside CJK text."""
    return re.compile(pattern, flags | re.ASCII)


_NUMERAL = re.compile(
    rf"(?<![{LETTERS}])(?<!\d)(?<!\d[.,])\d+(?:[.,'’٫٬{SPACES}]\d+)*(?:[eE][+-]?\d{{1,3}}(?!\w))?|(?<![\w.])\.\d{{1,40}}(?![\d.])"
)
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?:,\d{1,2})?(?=[ \u00a0]?(?:€|EUR\b|PLN\b|SEK\b|NOK\b|zł|kr\b))")
_POWER = re.compile(r"[ \u00a0]?[x×·][ \u00a0]?10\^?([-−]?\d{1,3})(?!\d)")
_EXPONENT = re.compile(r"\^([-−]?\d{1,3})(?!\d)")
_VULGAR = dict(zip("½¼¾⅓⅔⅛⅜⅝⅞", ("1/2", "1/4", "3/4", "1/3", "2/3", "1/8", "3/8", "5/8", "7/8"), strict=True))
_VULGAR_SIGN = re.compile(f"[{''.join(_VULGAR)}]")
_FRACTION = re.compile(r"(?<![\w./])(\d{1,2})/(2|3|4|5|6|8|10|12|16)(?![\d/]|[.,]\d)")
_MIXED = re.compile(rf"[ \u00a0-]?(?:([{''.join(_VULGAR)}])|(?<=[ -])([1-9]/[2-9])(?![\d/])| and a half\b)")

_UNITS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: value
    for value, word in zip(
        range(20, 100, 10), ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], strict=True
    )
}
SCALE_WORDS = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "lakh": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS = dict(
    zip(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"],
        range(1, 11),
        strict=True,
    )
)
_CARDINAL = "|".join(sorted([*_UNITS, *_TENS], key=len, reverse=True))
_SCALE = "|".join(SCALE_WORDS)
_WORDS = re.compile(
    rf"(?<![\w-])(?:(?:{_CARDINAL})(?:(?:[ -]|,? and ){{1}}(?:a )?(?:{_CARDINAL}|{_SCALE})(?!\w)){{0,12}}"
    rf"|(?:an? )?(?:{_SCALE})|half (?:an? )?(?:{_SCALE})|half(?= an? | of |-)|(?:{'|'.join(_ORDINALS)}))(?!\w)",
    re.IGNORECASE,
)
_ORDINAL_SIGN = re.compile(r"(?:st|nd|rd|th)(?!\w)")


@dataclass(frozen=True, slots=True)
class Atom:
    """One numeral at `start:end`, with its possible readings."""

    start: int
    end: int
    readings: tuple[Decimal, ...]
    is_word: bool = False
    is_ordinal: bool = False


def find_atoms(text: str) -> list[Atom]:
    """All numerals of the text in order, without overlap."""
    found = [*_spaced(text), *_fractions(text), *_digits(text), *_words(text)]
    kept: list[Atom] = []
    for atom in sorted(found, key=lambda atom: (atom.start, -atom.end)):
        if not kept or atom.start >= kept[-1].end:
            kept.append(atom)
    return kept


def readings(numeral: str) -> tuple[Decimal, ...]:
    """The values that a numeral may stand for: none ("1.2.3"), one ("1,200.00") or two ("1.200": 1.2 and 1200)."""
    body, _, exponent = numeral.replace("E", "e").partition("e")
    body = body.replace("٫", ".").replace("٬", ",")
    parts = re.split(r"\D", body)
    if sum(map(len, parts)) > MAX_DIGITS:
        return ()
    values = _mantissas(body, parts)
    if exponent:
        return tuple(CONTEXT.scaleb(value, Decimal(exponent)) for value in values)
    return values


def _mantissas(body: str, parts: list[str]) -> tuple[Decimal, ...]:
    marks = [char for char in body if not char.isdigit()]
    if not marks:
        return (Decimal(body),)
    last, whole = marks[-1], Decimal("".join(parts))
    decimal = Decimal(f"{''.join(parts[:-1]) or '0'}.{parts[-1]}")
    grouped = _is_grouped(parts)
    if len(marks) == 1:
        if last not in ".,":
            return (whole,) if grouped else ()
        return (decimal, whole) if grouped and last == "." else (whole, decimal) if grouped else (decimal,)
    if len(set(marks)) == 1:
        return (whole,) if grouped or (last == "," and _is_indian(parts)) else ()
    mixed = last in ".," and last not in marks[:-1] and len(set(marks[:-1])) == 1
    return (decimal,) if mixed and (_is_grouped(parts[:-1]) or _is_indian(parts[:-1])) else ()


def _is_grouped(parts: list[str]) -> bool:
    return 1 <= len(parts[0]) <= 3 and parts[0][0] != "0" and all(len(part) == 3 for part in parts[1:])


def _is_indian(parts: list[str]) -> bool:
    return 1 <= len(parts[0]) <= 2 and len(parts[-1]) == 3 and all(len(part) == 2 for part in parts[1:-1])


def _spaced(text: str) -> Iterator[Atom]:
    for match in _SPACED.finditer(text):
        value = Decimal(match.group().replace(" ", "").replace(",", "."))
        yield Atom(match.start(), match.end(), (value,))


def _fractions(text: str) -> Iterator[Atom]:
    for match in _VULGAR_SIGN.finditer(text):
        yield Atom(match.start(), match.end(), (_ratio(_VULGAR[match.group()]),))
    for match in _FRACTION.finditer(text):
        if int(match[1]) < int(match[2]):
            yield Atom(match.start(), match.end(), (_ratio(match.group()),))


def _ratio(fraction: str) -> Decimal:
    above, below = fraction.split("/")
    return CONTEXT.divide(Decimal(above), Decimal(below))


def _digits(text: str) -> Iterator[Atom]:
    for match in _NUMERAL.finditer(text):
        values = readings(match.group())
        if values:
            yield _extended(text, match.start(), match.end(), values)
            continue
        for piece in re.finditer(r"\d+(?:\.\d+(?!\.))?", match.group()):
            single = readings(piece.group())
            if single:
                yield Atom(match.start() + piece.start(), match.start() + piece.end(), single)


def _extended(text: str, start: int, end: int, values: tuple[Decimal, ...]) -> Atom:
    """The atom with what may follow its digits: an ordinal ending, a power of ten, a fraction."""
    if match := _ORDINAL_SIGN.match(text, end):
        return Atom(start, match.end(), values, is_ordinal=True)
    if match := _POWER.match(text, end):
        power = Decimal(match[1].replace("−", "-"))
        return Atom(start, match.end(), tuple(CONTEXT.scaleb(value, power) for value in values))
    if text[start:end] == "10" and (match := _EXPONENT.match(text, end)):
        return Atom(start, match.end(), (CONTEXT.scaleb(Decimal(1), Decimal(match[1].replace("−", "-"))),))
    if match := _MIXED.match(text, end):
        part = _ratio(_VULGAR[match[1]] if match[1] else match[2] or "1/2")
        return Atom(start, match.end(), tuple(CONTEXT.add(value, part) for value in values))
    return Atom(start, end, values)


def _words(text: str) -> Iterator[Atom]:
    for match in _WORDS.finditer(text):
        phrase = match.group().lower()
        if phrase in _ORDINALS:
            yield Atom(match.start(), match.end(), (Decimal(_ORDINALS[phrase]),), is_word=True, is_ordinal=True)
            continue
        value, end = _word_value(phrase), match.end()
        if half := re.compile(r" and a half(?!\w)", re.IGNORECASE).match(text, end):
            value, end = value + Decimal("0.5"), half.end()
        yield Atom(match.start(), end, (value,), is_word=True)


def _word_value(phrase: str) -> Decimal:
    total, current = Decimal(0), Decimal(0)
    for word in re.split(r"[ ,-]+", phrase):
        if word == "half":
            current = Decimal("0.5")
        elif word in _UNITS or word in _TENS:
            current += _UNITS.get(word, _TENS.get(word, 0))
        elif word in ("hundred", "dozen"):
            current = (current or Decimal(1)) * SCALE_WORDS[word]
        elif word in SCALE_WORDS:
            total += (current or Decimal(1)) * SCALE_WORDS[word]
            current = Decimal(0)
    return total + current
