"""Units after a numeral or in a field's name: what they measure and how they convert."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from entailgrid.claims.literal import currencies
from entailgrid.claims.literal.numerals import CONTEXT, LETTERS, SCALE_WORDS
from entailgrid.types import LiteralKind


@dataclass(frozen=True, slots=True)
class Unit:
    """`value = (figure + shift) * factor / divisor`, in the base unit of `dimension`."""

    kind: LiteralKind
    dimension: str
    factor: Decimal = Decimal(1)
    divisor: Decimal = Decimal(1)
    shift: Decimal = Decimal(0)

    def convert(self, figure: Decimal) -> Decimal:
        """A figure in this unit as a value in the dimension's base unit."""
        shifted = CONTEXT.add(figure, self.shift) if self.shift else figure
        scaled = shifted if self.factor == 1 else CONTEXT.multiply(shifted, self.factor)
        return scaled if self.divisor == 1 else CONTEXT.divide(scaled, self.divisor)


def _table(kind: LiteralKind, rows: str) -> dict[str, Unit]:
    """Units from lines of "dimension factor name name ..."; an underscore in a name is a space."""
    table: dict[str, Unit] = {}
    for row in rows.strip().splitlines():
        dimension, factor, *names = row.split()
        table |= {name.replace("_", " "): Unit(kind, dimension, Decimal(factor)) for name in names}
    return table


_CELSIUS = Unit("quantity", "temperature")
_FAHRENHEIT = Unit("quantity", "temperature", Decimal(5), Decimal(9), Decimal(-32))
_PERCENT = Unit("percentage", "percent")
_CENT = Unit("amount", "", Decimal("0.01"))

_DURATION_WORDS = _table("duration", """
    time 0.001 millisecond msec
    time 1 second sec
    time 60 minute min
    time 3600 hour hr
    time 86400 day calendar_day
    time 604800 week wk
    time 1209600 fortnight
    business_day 1 business_day working_day
    calendar 1 month calendar_month
    calendar 3 calendar_quarter
    calendar 12 year yr
    calendar 120 decade
    """)  # fmt: skip
_QUANTITY_WORDS = _table("quantity", """
    mass 0.000001 microgram mcg
    mass 0.001 milligram
    mass 1 gram gramme
    mass 1000 kilogram kilo
    mass 1000000 tonne metric_ton
    mass 453.59237 pound lb
    mass 28.349523125 ounce
    length 0.001 millimeter millimetre
    length 0.01 centimeter centimetre
    length 1 meter metre
    length 1000 kilometer kilometre
    length 1609.344 mile
    length 0.3048 foot feet
    length 0.0254 inch inche
    length 0.9144 yard
    volume 0.001 milliliter millilitre
    volume 0.01 centiliter centilitre
    volume 1 liter litre
    volume 3.785411784 gallon
    area 1 square_meter square_metre
    area 1000000 square_kilometer square_kilometre
    area 0.09290304 square_foot square_feet sq_ft sq._ft
    area 4046.8564224 acre
    area 10000 hectare
    data 1 byte
    data 1000 kilobyte
    data 1000000 megabyte
    data 1000000000 gigabyte
    data 1000000000000 terabyte
    energy 3600000 kilowatt_hour
    energy 4184 kilocalorie calorie
    power 1 watt
    power 1000 kilowatt
    power 1000000 megawatt
    voltage 1 volt
    current 1 amp ampere
    frequency 1 hertz
    mph 1 mph
    bpm 1 bpm
    rpm 1 rpm
    IU 1 iu international_unit
    """)  # fmt: skip
_PERCENT_WORDS = _table("percentage", """
    percent 1 percent per_cent pct
    point 1 percentage_point pp ppt
    point 0.01 basis_point
    """)  # fmt: skip
_WORDS: dict[str, Unit] = {
    **_DURATION_WORDS,
    **_QUANTITY_WORDS,
    **_PERCENT_WORDS,
    **{name: Unit("amount", code) for name, code in currencies.WORDS.items()},
    **dict.fromkeys(("celsius", "degree celsius", "degrees celsius"), _CELSIUS),
    **dict.fromkeys(("fahrenheit", "degree fahrenheit", "degrees fahrenheit"), _FAHRENHEIT),
    "cent": _CENT,
}
"""Written out, in any case, with or without a plural s."""

_SIGNS: dict[str, Unit] = {
    **_table("duration", """
    time 0.000001 µs μs
    time 0.001 ms
    time 1 s
    time 3600 h
    """),
    **_table("quantity", """
    mass 0.000000001 ng
    mass 0.000001 µg μg ug
    mass 0.001 mg
    mass 1 g
    mass 1000 kg
    mass 28.349523125 oz
    length 0.000000001 nm
    length 0.000001 µm μm
    length 0.001 mm
    length 0.01 cm
    length 1 m
    length 1000 km
    length 0.3048 ft
    length 0.9144 yd
    volume 0.000001 µl µL μL
    volume 0.001 ml mL cc
    volume 0.01 cl cL
    volume 0.1 dl dL
    volume 1 l L
    area 1 m² m2 sqm
    area 1000000 km²
    area 10000 ha
    cubic 1 m³ m3
    data 1000 kB KB
    data 1000000 MB
    data 1000000000 GB
    data 1000000000000 TB
    data 1000000000000000 PB
    data 1024 KiB
    data 1048576 MiB
    data 1073741824 GiB
    data 1099511627776 TiB
    bitrate 1000 kbps Kbps
    bitrate 1000000 Mbps
    bitrate 1000000000 Gbps
    energy 1000 kJ
    energy 3600 Wh
    energy 3600000 kWh
    energy 3600000000 MWh
    energy 4184 kcal
    power 0.001 mW
    power 1 W
    power 1000 kW
    power 1000000 MW
    power 1000000000 GW
    voltage 0.001 mV
    voltage 1 V
    voltage 1000 kV
    current 0.001 mA
    current 1 A
    charge 0.001 mAh
    charge 1 Ah
    frequency 1 Hz
    frequency 1000 kHz
    frequency 1000000 MHz
    frequency 1000000000 GHz
    substance 0.000001 µmol μmol
    substance 0.001 mmol
    substance 1 mol
    pressure 100 hPa
    pressure 1000 kPa
    """),
    **{name: Unit("quantity", name) for name in ("mmHg", "psi", "mEq", "mIU", "dB", "px", "ppm", "dpi", "km/h")},
    **dict.fromkeys(("kph", "kmh"), Unit("quantity", "km/h")),
    **dict.fromkeys(("°C", "℃"), _CELSIUS),
    **dict.fromkeys(("°F", "℉"), _FAHRENHEIT),
    "%": _PERCENT,
    "‰": Unit("percentage", "percent", Decimal("0.1")),
    "bps": Unit("percentage", "point", Decimal("0.01")),
    "¢": _CENT,
}  # fmt: skip
"""Symbols, in which case matters (mg, Mg)."""

_SCALE_WORDS = SCALE_WORDS | {
    "mio": 10**6, "millionen": 10**6, "millones": 10**6, "millón": 10**6, "mrd": 10**9, "milliarden": 10**9,
    "milliarde": 10**9, "milliard": 10**9,
}  # fmt: skip
_SCALE_SIGNS = {
    "k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "mln": 10**6, "MM": 10**6, "m": 10**6, "B": 10**9, "b": 10**9,
    "bn": 10**9, "Bn": 10**9, "T": 10**12, "tn": 10**12,
}  # fmt: skip


def _alternation(names: Iterable[str]) -> str:
    return "|".join(re.escape(name).replace(r"\ ", "[ -]") for name in sorted(names, key=len, reverse=True))


_GAP = r"(?:[ \t\u00a0\u2009\u202f]{0,4}|-)"
_END = rf"(?![{LETTERS}])"
_WORD_UNIT = re.compile(rf"{_GAP}({_alternation(_WORDS)})s?{_END}", re.IGNORECASE)
_SIGN_UNIT = re.compile(rf"{_GAP}({_alternation(_SIGNS)}){_END}")
_COMPOUND = re.compile(
    rf"{_GAP}((?:mg|g|kg|µg|mcg|ng|mmol|µmol|mol|mEq|m?IU|m?U|m|km|ml|mL|l|L|W|kW|kWh|beats|breaths|requests)"
    rf"(?:/(?:kg|dL|dl|L|l|mL|ml|m2|m²|m³|h|hr|s|sec|min|day|d|week|km|second|minute|hour)){{1,2}}){_END}"
)
_SCALE_WORD = re.compile(rf"(?:[ \t\u00a0]{{0,3}}|-)({_alternation(_SCALE_WORDS)})[s.]?{_END}", re.IGNORECASE)
_SCALE_SIGN = re.compile(rf"({_alternation(_SCALE_SIGNS)}){_END}")
_KEY_WORD = re.compile(r"[A-Za-zµ°%$€£]+")


def scale_after(text: str, position: int, *, money: bool) -> tuple[int, int] | None:
    """The factor of "million", "bn", "k", "dozen" ... at `position`, and its end. m, b, MM and T need a currency."""
    if match := _SCALE_WORD.match(text, position):
        return _SCALE_WORDS[match[1].lower()], match.end()
    start = position + 1 if money and text[position : position + 1] == " " else position
    match = _SCALE_SIGN.match(text, start)
    if match and (money or match[1] not in ("m", "b", "MM", "T")):
        return _SCALE_SIGNS[match[1]], match.end()
    return None


def unit_after(text: str, position: int) -> tuple[Unit, int] | None:
    """The unit of a numeral that ends at `position`, and the unit's end."""
    if match := _COMPOUND.match(text, position):
        name = "km/h" if match[1] in ("km/h", "km/hr") else match[1].replace("mcg", "µg").replace("dl", "dL")
        return Unit("quantity", name), match.end()
    if match := _SIGN_UNIT.match(text, position):
        return _SIGNS[match[1]], match.end()
    if match := _WORD_UNIT.match(text, position):
        name = match[1].lower()
        return _WORDS[name if name in _WORDS else name.replace("-", " ")], match.end()
    return None


def unit_of_key(key: str) -> Unit | None:
    """The unit that a field name states last: `refund_window_days`, `ttlSeconds`, `Weight (kg)`; a currency anywhere.

    A duration must be in the plural or `ms`: `year`, `month`, `min` are more often a date's part or a minimum.
    """
    words = _KEY_WORD.findall(re.sub(r"([a-z])([A-Z])", r"\1 \2", key))
    if words and (unit := _unit_named(words[-1])) is not None:
        return unit
    code = next((word.upper() for word in words if word.upper() in currencies.CODES), None)
    if code is not None:
        return Unit("amount", code)
    return _PERCENT if key.rstrip(" )").endswith("%") else None


def _unit_named(word: str) -> Unit | None:
    if word in currencies.SYMBOLS:
        return Unit("amount", currencies.SYMBOLS[word])
    low = word.lower()
    if low in _DURATION_WORDS:
        return None
    unit = _WORDS.get(low) or _WORDS.get(low.removesuffix("s"))
    return _SIGNS.get(word) if unit is None and len(low) > 1 else unit
