"""Label names of checkpoints, mapped to one convention.

Three-way heads use entailment, neutral, contradiction in any order; two-way heads use entailment and not_entailment
(supported or not). Names that could mean either side are refused: a guessed order would turn verdicts around.
"""

from __future__ import annotations

from collections.abc import Sequence

from entailgrid_models.errors import CheckpointError

ENTAILMENT = "entailment"
NEUTRAL = "neutral"
CONTRADICTION = "contradiction"
NOT_ENTAILMENT = "not_entailment"

THREE_WAY = (ENTAILMENT, NEUTRAL, CONTRADICTION)
TWO_WAY = (ENTAILMENT, NOT_ENTAILMENT)

_NAMES = {
    ENTAILMENT: ("entailment", "entail", "entails", "entailed", "support", "supports", "supported"),
    NEUTRAL: ("neutral", "not_enough_info", "not_enough_information", "not_enough_evidence", "nei"),
    CONTRADICTION: ("contradiction", "contradict", "contradicts", "contradicted", "refute", "refutes", "refuted"),
    NOT_ENTAILMENT: (
        "not_entailment", "non_entailment", "not_entailed", "not_supported", "unsupported", "not_support",
    ),
}  # fmt: skip
_CONVENTION = {name: label for label, names in _NAMES.items() for name in names}


def normalise_labels(names: Sequence[str]) -> tuple[str, ...]:
    """The checkpoint's label names, in its own order, in the words of the convention.

    Raises CheckpointError when a name is not known or the names do not form a three-way or two-way head.
    """
    known = [_CONVENTION.get(name.strip().lower().replace("-", "_").replace(" ", "_")) for name in names]
    labels = tuple(label for label in known if label is not None)
    if len(labels) == len(names) and sorted(labels) in (sorted(THREE_WAY), sorted(TWO_WAY)):
        return labels
    raise CheckpointError(
        f"label names {list(names)} are ambiguous; expected entailment, neutral, contradiction or "
        "entailment, not_entailment (supported, not_supported) in id2label of config.json"
    )
