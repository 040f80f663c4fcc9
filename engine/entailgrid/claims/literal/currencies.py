"""Currencies by code, symbol and word."""

from __future__ import annotations

import re

CODES = frozenset((
    "USD", "EUR", "GBP", "JPY", "CNY", "INR", "CAD", "AUD", "NZD", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF",
    "RON", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "TRY", "RUB", "AED", "SAR", "ILS", "THB", "IDR", "MYR", "PHP",
    "TWD", "BTC", "ETH",
))  # fmt: skip
SYMBOLS = {
    "US$": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "R$": "BRL", "$": "$", "€": "EUR", "£": "GBP", "¥": "¥", "₹": "INR", "Rs.": "INR", "Rs": "INR", "₩": "KRW",
    "₽": "RUB", "₪": "ILS", "₺": "TRY", "₿": "BTC", "zł": "PLN",
}  # fmt: skip
WORDS = {
    "us dollar": "USD", "dollar": "$", "buck": "$", "euro": "EUR", "pound sterling": "GBP", "pounds sterling": "GBP",
    "quid": "GBP", "yen": "JPY", "rupee": "INR", "yuan": "CNY", "peso": "", "krona": "", "krone": "", "kronor": "",
    "swiss franc": "CHF", "franc": "",
}  # fmt: skip
_FAMILIES = {
    "$": frozenset(("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD")),
    "¥": frozenset(("JPY", "CNY")),
}

_CODE = "|".join(sorted(CODES))
_SYMBOL = "|".join(re.escape(sign) for sign in sorted(SYMBOLS, key=len, reverse=True))
_BEFORE = re.compile(rf"(?<![A-Za-z])(?:({_SYMBOL})|({_CODE}))[ \u00a0\u202f]{{0,2}}$")
_AFTER = re.compile(rf"[ \t\u00a0\u202f]{{0,3}}(?:({_SYMBOL})(?!\d)|({_CODE})(?!\w))")


def same_currency(left: str, right: str) -> bool:
    """Whether two currencies may be the same: "" is open, "$" is any dollar, "¥" yen or yuan."""
    if not left or not right or left == right:
        return True
    return right in _FAMILIES.get(left, ()) or left in _FAMILIES.get(right, ())


def currency_before(text: str, position: int) -> tuple[str, int] | None:
    """The currency that ends at `position`, and where it starts."""
    window = max(0, position - 6)
    match = _BEFORE.search(text[window:position])
    return (SYMBOLS[match[1]] if match[1] else match[2], window + match.start()) if match else None


def currency_after(text: str, position: int) -> tuple[str, int] | None:
    """The currency that starts at `position`, and where it ends."""
    match = _AFTER.match(text, position)
    return (SYMBOLS[match[1]] if match[1] else match[2], match.end()) if match else None
