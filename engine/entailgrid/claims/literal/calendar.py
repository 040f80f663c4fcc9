"""Dates and times of day."""

from __future__ import annotations

import re
from collections.abc import Iterator

from entailgrid.claims.literal.model import Clock, Day, Literal
from entailgrid.claims.literal.numerals import compile_ascii

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_NAMES: dict[str, int] = {}
for _index, _month in enumerate(_MONTHS, 1):
    _NAMES |= dict.fromkeys((_month, _month.upper(), _month[:3], _month[:3].upper()), _index)
_NAMES |= {"Sept": 9, "SEPT": 9}
_MONTH = rf"(?P<month>{'|'.join(sorted(_NAMES, key=len, reverse=True))})(?![A-Za-z])\.?"
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NTH = r"(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12]\d{3})(?!\d|[:]\d)"
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}

_ISO = compile_ascii(r"(?<![\d./-])(?P<year>[12]\d{3})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?!\d)(?!-\d)")
_NUMERIC = compile_ascii(
    r"(?<![\d./-])(?P<first>\d{1,2})(?:(?P<sep>[/.-])(?P<second>\d{1,2})(?P=sep)(?P<year>[12]\d{3})"
    r"|/(?P<slash>\d{1,2})/(?P<short>\d{2}))(?![\d/]|[.-]\d)"
)
_CUED = compile_ascii(r"(?i:\b(?:on|by|until|before|after|since)) (?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\d/])")
_DAY_FIRST = compile_ascii(
    rf"(?<![\d.,:/])(?:(?P<from>\d{{1,2}}){_NTH} ?[-–] ?)?(?P<day>\d{{1,2}}){_NTH}(?: of)?"
    rf"[ \u00a0-]{{1,2}}{_MONTH}(?:,?[ \u00a0-]{{1,2}}{_YEAR})?"
)
_MONTH_FIRST = compile_ascii(
    rf"(?<!\w){_MONTH}[ \u00a0]{{1,2}}(?P<day>\d{{1,2}}){_NTH}(?![\w]|[:.]\d)"
    rf"(?: ?[-–] ?(?P<to>\d{{1,2}}){_NTH}(?![\w]|[:.]\d))?"
    rf"(?:,?[ \u00a0]{{1,2}}{_YEAR})?"
)
_MONTH_YEAR = compile_ascii(rf"(?<!\w){_MONTH},?(?: of)?[ \u00a0-]{{1,2}}{_YEAR}")
_LONE_MONTH = compile_ascii(
    r"\b(?:in|on|by|since|until|till|from|of|during|before|after|to|through|last|next|early|late|mid|between|and|for|each|every)"
    rf"[ \u00a0-](?P<month>{'|'.join(_MONTHS)})(?![A-Za-z])(?!,?[ \u00a0-]{{1,2}}\d)"
)
_YEAR_MONTH = compile_ascii(r"(?<![\d./-])(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?![\d-])")
_QUARTER = compile_ascii(
    r"(?<!\w)Q(?P<quarter>[1-4])(?!\w)(?:[ \u00a0-]?(?:of |FY ?)?(?P<year>[12]\d{3})(?!\d))?"
    r"|(?<!\w)(?P<year2>[12]\d{3})[ -]?Q(?P<quarter2>[1-4])(?!\w)"
    r"|(?<!\w)(?P<word>(?i:first|second|third|fourth|1st|2nd|3rd|4th)) [Qq]uarter"
    r"(?:(?: of|,)? (?P<year3>[12]\d{3})(?!\d))?",
)
_FISCAL = compile_ascii(r"(?<!\w)(?:FY|CY) ?['’]?(?P<year>20\d\d|19\d\d|[0-4]\d)(?!\w)")
_CUED_YEAR = compile_ascii(
    r"(?i:(?<!\w)(?:in|since|by|until|till|from|year|before|after|during|of)) "
    r"(?P<year>(?:19|20)\d\d)(?![\w%$€£]|[.,:/-]\d)"
)
_WEEKDAY = compile_ascii(rf"(?<!\w)(?P<weekday>{'|'.join(_DAYS)})s?(?!\w)")

_ZONES: dict[str, tuple[int, ...]] = {
    "UTC": (0,), "GMT": (0,), "Z": (0,), "WET": (0,), "BST": (60,), "CET": (60,), "CEST": (120,), "EET": (120,),
    "EEST": (180,), "EST": (-300,), "EDT": (-240,), "ET": (-300, -240), "CST": (-360,), "CDT": (-300,),
    "CT": (-360, -300),
    "MST": (-420,), "MDT": (-360,), "MT": (-420, -360), "PST": (-480,), "PDT": (-420,), "PT": (-480, -420), "IST": (),
    "JST": (540,), "KST": (540,), "SGT": (480,), "HKT": (480,), "AEST": (600,), "AEDT": (660,), "NZST": (720,),
}  # fmt: skip
_LABEL = "|".join(sorted(_ZONES, key=len, reverse=True))
_OFFSET = r"[+-]\d{2}:?\d{2}"
_ZONE = rf"(?P<zone>{_LABEL}|{_OFFSET})(?!\w)"
_ZONE_IN_TEXT = rf"(?P<zone>{_LABEL}|(?<=:\d\d:\d\d){_OFFSET})(?!\w)"
_HALF = r"(?P<half>[AaPp]\.?[Mm])(?!\w)\.?"
_TIME = compile_ascii(
    r"(?<![\w:.,])(?:(?<=[^T])|T?)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,9})?)?"
    rf"(?:\+1(?![\d:]))?(?:[ \u00a0\u202f]?{_HALF})?(?: ?\(?{_ZONE_IN_TEXT}\)?)?(?![\d:])"
)
_STAMP = compile_ascii(
    rf"(?<=\d)[T ](?P<hour>\d{{2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}})(?:[.,]\d{{1,9}})?)?(?:{_ZONE})?(?![\d:])"
)
_HOUR = compile_ascii(rf"(?<![\w:.,$€£])(?P<hour>\d{{1,2}})[ \u00a0\u202f]?{_HALF}(?: ?{_ZONE})?")
_OCLOCK = compile_ascii(r"(?<![\w:.,])(?P<hour>\d{1,2}) ?o['’]clock(?!\w)")
_NAMED = compile_ascii(r"(?<!\w)(?:12 )?(?P<name>noon|midday|midnight)(?!\w)", re.IGNORECASE)


def find_dates(text: str) -> Iterator[Literal]:
    """Dates in the text, most telling form first; spans may overlap, the caller keeps the first."""
    for pattern in (_ISO, _NUMERIC, _CUED):
        for match in pattern.finditer(text):
            group = match.groupdict()
            if days := _numeric_days(group):
                yield _date(text, match.start("year") if pattern is _ISO else match.start("first"), match.end(), days)
    for pattern, edge in ((_DAY_FIRST, "from"), (_MONTH_FIRST, "to")):
        for match in pattern.finditer(text):
            yield from _named_days(text, match, edge)
    for match in _MONTH_YEAR.finditer(text):
        yield _date(text, *match.span(), (Day(int(match["year"]), _NAMES[match["month"]]),))
    for match in _YEAR_MONTH.finditer(text):
        yield _date(text, *match.span(), (Day(int(match["year"]), int(match["month"])),))
    for match in _QUARTER.finditer(text):
        year = match["year"] or match["year2"] or match["year3"]
        quarter = _QUARTERS[match["word"].lower()] if match["word"] else int(match["quarter"] or match["quarter2"])
        yield _date(text, *match.span(), (Day(int(year) if year else None, quarter=quarter),))
    for pattern in (_FISCAL, _CUED_YEAR):
        for match in pattern.finditer(text):
            year = int(match["year"]) + (2000 if len(match["year"]) == 2 else 0)
            yield _date(text, *match.span("year"), (Day(year),))
    for match in _LONE_MONTH.finditer(text):
        yield _date(text, *match.span("month"), (Day(month=_NAMES[match["month"]]),))
    for match in _WEEKDAY.finditer(text):
        yield _date(text, *match.span("weekday"), (Day(weekday=_DAYS.index(match["weekday"])),))


def _date(text: str, start: int, end: int, days: tuple[Day, ...]) -> Literal:
    return Literal(text[start:end], "date", start, end, days=days)


def _numeric_days(group: dict[str, str | None]) -> tuple[Day, ...]:
    """Every valid reading: year first, else month/day and day/month."""
    if "first" not in group:
        return _valid(int(group["year"] or 0), int(group["month"] or 0), int(group["day"] or 0))
    first, second = int(group["first"] or 0), int(group["second"] or group.get("slash") or 0)
    short, year = group.get("short"), group.get("year")
    number = int(year) if year else (2000 if int(short) < 70 else 1900) + int(short) if short else None
    return tuple(dict.fromkeys((*_valid(number, first, second), *_valid(number, second, first))))


def _valid(year: int | None, month: int, day: int) -> tuple[Day, ...]:
    return (Day(year, month, day),) if 1 <= month <= 12 and 1 <= day <= 31 else ()


def _named_days(text: str, match: re.Match[str], edge: str) -> Iterator[Literal]:
    """One date, or both ends of "May 20-22"."""
    year = int(match["year"]) if match["year"] else None
    month, day = _NAMES[match["month"]], int(match["day"])
    end = match.end("year") if match["year"] else match.end("month") if edge == "from" else match.end()
    if not 1 <= day <= 31:
        return
    other = match[edge]
    if other is None or not 1 <= int(other) <= 31:
        yield _date(text, match.start(), end, (Day(year, month, day),))
    elif edge == "from":
        yield _date(text, *match.span("from"), (Day(year, month, int(other)),))
        yield _date(text, match.start("day"), end, (Day(year, month, day),))
    else:
        yield _date(text, match.start(), match.end("day"), (Day(year, month, day),))
        yield _date(text, match.start("to"), end, (Day(year, month, int(other)),))


def find_times(text: str) -> Iterator[Literal]:
    """Times of day, spans as in `find_dates`."""
    for pattern in (_STAMP, _TIME, _HOUR, _OCLOCK):
        for match in pattern.finditer(text):
            group = match.groupdict()
            clock = _clock(group, certain=pattern is _STAMP)
            start = match.start("hour")
            end = match.end()
            if clock is not None:
                if text[end - 1] == ")" and "(" not in text[start:end]:
                    end -= 1
                yield Literal(text[start:end], "time", start, end, clock=clock)
    for match in _NAMED.finditer(text):
        seconds = (0, 86400) if match["name"].lower() == "midnight" else (43200,)
        yield Literal(match.group(), "time", match.start(), match.end(), clock=Clock(seconds[:1], False))


def _clock(group: dict[str, str | None], *, certain: bool) -> Clock | None:
    raw = group["hour"] or "0"
    hour, minute, second = int(raw), int(group.get("minute") or 0), int(group.get("second") or 0)
    half = (group.get("half") or "").replace(".", "").lower()
    if hour > 24 or minute > 59 or second > 59 or (half and not 1 <= hour <= 23):
        return None
    hours: tuple[int, ...] = (hour % 24,)
    if half and hour <= 12:
        hours = (hour % 12 + (12 if half == "pm" else 0),)
    elif not half and not certain and 1 <= hour <= 12 and raw[0] != "0" and group.get("second") is None:
        hours = (hour % 24, (hour + 12) % 24)
    zone = (group.get("zone") or "").upper()
    seconds = tuple(value * 3600 + minute * 60 + second for value in hours)
    return Clock(seconds, group.get("second") is not None, zone, zone_offsets(zone))


def zone_offsets(zone: str) -> tuple[int, ...]:
    """Minutes east of UTC that a zone label may stand for; empty if unknown."""
    if zone[:1] in ("+", "-"):
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        return (-minutes if zone[0] == "-" else minutes,)
    return _ZONES.get(zone, ())
