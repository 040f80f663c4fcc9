"""The literal check: every number, date, amount, identifier, ... of a claim is held against the source.

`extract` reads a text's literals, `compare` says whether a premise holds one (match, mismatch, cannot_check), `derive`
recomputes simple derived values (rule 15 of the contract). All three are pure.
"""

from entailgrid.claims.literal.comparison import compare
from entailgrid.claims.literal.derivation import derive
from entailgrid.claims.literal.extraction import extract
from entailgrid.claims.literal.model import Check, Clock, Day, Derivation, Literal, Measure

__all__ = ["Check", "Clock", "Day", "Derivation", "Literal", "Measure", "compare", "derive", "extract"]
