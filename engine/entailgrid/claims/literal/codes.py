"""Literals that are compared as text: quotations, identifiers, versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from entailgrid.claims.literal import currencies
from entailgrid.claims.literal.calendar import zone_offsets
from entailgrid.claims.literal.model import Literal
from entailgrid.claims.literal.numerals import LETTERS, compile_ascii
from entailgrid.claims.literal.units import scale_after, unit_after

_QUOTED = compile_ascii(r'(?<![\w"])"([^"\n]{3,600})"(?![\w"])|“([^“”\n]{3,600})”|«([^«»\n]{3,600})»|„([^„“”\n]{3,600})[“”]')
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
MIN_QUOTED_WORDS = 3
"""Shorter quoted strings are titles, labels and scare quotes."""

_EMAIL = compile_ascii(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?!\w)")
_UUID = compile_ascii(r"(?<!\w)[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?!\w)")
_PHONE = compile_ascii(
    r"(?<![\w+.])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,4}"
    r"|(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-. ]\d{4})(?![\w-]|[.,]\d)"
)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_ADDRESS = compile_ascii(rf"(?<![\w.,])(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|[.,]\d)")
_HASH_NUMBER = compile_ascii(r"(?<![\w#&])#(\d{2,40})(?!\w)")
_CUED_NUMBER = compile_ascii(
    r"(?i:(?<![A-Za-z])(?:certificate|order|reservation|confirmation|ticket|card|account|case|invoice|customer|user|patient|"
    r"reference|ref|tracking|passport|id|number|no|mrn|sku|claim|policy|serial|part))\.?"
    r"(?i:[ _](?:number|no\.?|id|#))?[\"']?(?:[ _:#=\"']{1,4})(?P<digits>\d{4,40})(?![\w%]|[.,]\d)"
)
_ENDING = compile_ascii(
    r"(?i:\b(?:ending|ends) (?:in|with) |\blast (?:four|4)(?: digits)?:? |[x*•]{2,12}[ -]?)(?P<digits>\d{3,8})(?!\w)"
)
_LONG_DIGITS = compile_ascii(r"(?<![\w.,])\d{41,}(?!\w)")
_TOKEN = compile_ascii(
    rf"(?<![{LETTERS}])(?<![A-Za-z0-9_]-)(?<!\d[.,])(?=[A-Za-z_-]*[0-9]|[A-Z]+_)[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*(?![{LETTERS}])"
)
_AIRPORT = compile_ascii(
    r"\((?P<a>[A-Z]{3})\)|(?<!\w)(?P<b>[A-Z]{3})(?: to | ?(?:→|->|–|-) ?)(?P<c>[A-Z]{3})(?!\w)|\"(?P<d>[A-Z]{3})\""
)
_ACRONYMS = frozenset(
    [
        "API",
        "CEO",
        "CFO",
        "CTO",
        "FAQ",
        "PDF",
        "USA",
        "CSV",
        "URL",
        "SQL",
        "WHO",
        "FDA",
        "IRS",
        "FBI",
        "CIA",
        "NBA",
        "NFL",
        "NHS",
        "TBD",
        "ETA",
        "ETD",
        "FYI",
        "NHL",
        "ROI",
        "KPI",
    ]
)
_ORDINAL = compile_ascii(r"\d+(?:st|nd|rd|th)|\d+[xX]|\d+[eE]\d{1,3}")
_SEAT = compile_ascii(r"\d{1,3}[A-H]")
_PREFIXES = frozenset(
    [
        "mid",
        "top",
        "pre",
        "post",
        "non",
        "sub",
        "sept",
        "level",
        "grade",
        "type",
        "phase",
        "step",
        "class",
        "age",
        "aged",
        "under",
        "over",
    ]
)

_SUFFIX = r"(?:-?(?:rc|alpha|beta|dev|post|preview|snapshot|a|b)[.-]?\d{0,4}(?!\w))?"
_TAGGED = compile_ascii(rf"(?<![\w.])[vV]\.?(?P<v>\d{{1,8}}(?:\.\d{{1,8}}){{0,5}}{_SUFFIX})(?!\w|\.\d)", re.IGNORECASE)
_DOTTED = compile_ascii(rf"(?<![\w.,])(?P<v>\d{{1,8}}(?:\.\d{{1,8}}){{2,5}}{_SUFFIX})(?!\w|[.,]\d)", re.IGNORECASE)
_NAMED = compile_ascii(
    r"(?<!\w)(?i:versions?|release|ver\.?|python|node(?:\.js)?|java|ubuntu|debian|fedora|ios|ipados|android|macos|windows|php|"
    r"ruby|golang|rust|kubernetes|postgres(?:ql)?|mysql|redis|cuda|tls|ssl|http|usb|bluetooth|chrome|firefox|django|react|angular|"
    r"openssl|gcc|llvm|pytorch|tensorflow|numpy|pandas|docker|helm|terraform|linux|kernel|api|schema)"
    r"(?:[_ ]version)?[\"']?"
    rf"(?: ?[:=] ?[\"']?| {{1,2}})v?(?P<v>\d{{1,8}}(?:\.\d{{1,8}}){{0,5}}{_SUFFIX})(?![\w%]|[.,]\d)"
)


def find_quotations(text: str) -> Iterator[Literal]:
    """Quoted strings of at least three words, quote marks included in the span."""
    for match in _QUOTED.finditer(text):
        body = next(group for group in match.groups() if group is not None)
        if len(_WORD.findall(body)) >= MIN_QUOTED_WORDS:
            yield Literal(match.group(), "quotation", match.start(), match.end(), name=body)


def find_strong_identifiers(text: str) -> Iterator[Literal]:
    """Identifiers whose form alone tells: e-mail addresses, UUIDs, phone numbers, IP addresses, `#123`."""
    for pattern in (_EMAIL, _UUID, _PHONE, _ADDRESS, _LONG_DIGITS, _HASH_NUMBER):
        for match in pattern.finditer(text):
            name = re.sub(r"\D", "", match.group()) if pattern is _PHONE else match.group().lstrip("#").casefold()
            unit = "phone" if pattern is _PHONE else ""
            yield Literal(match.group(), "identifier", match.start(), match.end(), name=name, unit=unit)


def find_versions(text: str) -> Iterator[Literal]:
    """Versions by a leading v, by three or more parts, or by the name of a product before them."""
    for pattern in (_TAGGED, _NAMED, _DOTTED):
        for match in pattern.finditer(text):
            parts = match["v"].split(".")
            if pattern is _DOTTED and all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3:
                continue
            start = match.start() if pattern is _TAGGED else match.start("v")
            yield Literal(text[start : match.end()], "version", start, match.end(), name=match["v"].casefold())


def find_identifiers(text: str) -> Iterator[Literal]:
    """Tokens that mix letters and digits, long numbers that a word announces, three-letter codes in parentheses."""
    for match in _TOKEN.finditer(text):
        if is_identifier(match.group()):
            yield Literal(match.group(), "identifier", match.start(), match.end(), name=match.group().casefold())
    for pattern in (_ENDING, _CUED_NUMBER):
        for match in pattern.finditer(text):
            digits = match["digits"]
            is_year = len(digits) == 4 and digits[:2] in ("19", "20")
            if pattern is _ENDING or (len(digits) >= 5 or not is_year):
                start, end = match.span("digits")
                unit = "suffix" if pattern is _ENDING else ""
                yield Literal(digits, "identifier", start, end, name=digits, unit=unit)
    for match in _AIRPORT.finditer(text):
        for group in "abcd":
            code = match[group]
            if code and code not in currencies.CODES and code not in _ACRONYMS and not zone_offsets(code):
                start, end = match.span(group)
                yield Literal(code, "identifier", start, end, name=code.casefold())


def is_identifier(token: str) -> bool:
    """Whether a token with a digit or an underscore names something, not a measure ("30-day", "500mg", "2x")."""
    digits = sum(char.isdigit() for char in token)
    if not digits:
        return token.isupper() and "_" in token.strip("_")
    if digits == len(token) or _ORDINAL.fullmatch(token):
        return False
    if _SEAT.fullmatch(token):
        return True
    pieces = re.split(r"[-_]", token)
    first = re.match(r"\d+", token)
    if first and (_is_measure(token, first.end()) or all(piece.isdigit() for piece in pieces)):
        return False
    if any(not piece.isdigit() and not piece.isalpha() and not _ORDINAL.fullmatch(piece) for piece in pieces if piece):
        return not (first and _is_measure(pieces[0], first.end()))
    if first and "_" not in token and len(pieces[0]) <= 3 and pieces[1].islower():
        return False
    return pieces[0].casefold() not in _PREFIXES or "_" in token


def _is_measure(token: str, position: int) -> bool:
    unit = unit_after(token, position) or scale_after(token, position, money=True)
    return unit is not None and (unit[1] == len(token) or token[unit[1]] == "-")


def shape(name: str) -> str:
    """What an identifier looks like: its length from six on, else (or with marks) its pattern."""
    if name.isdigit():
        return f"9x{len(name)}"
    if "@" in name:
        return "@"
    pattern = re.sub(r"\d", "9", re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", name)))
    if len([word for word in re.split(r"[-_. ]", name) if word]) > 1:
        return re.sub(r"9+", "9", re.sub(r"a+|A+", "A", pattern))
    return f"mixed{len(name)}" if len(name) >= 6 and not name.isalpha() else pattern
