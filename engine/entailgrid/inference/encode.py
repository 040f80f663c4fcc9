"""Texts to model inputs. Sequences of a pair are tokenised apart, so that a premise is tokenised once for all claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entailgrid.inference.batch import windows
from entailgrid.inference.scheduler import Sequence1d


@dataclass(frozen=True, slots=True)
class _Template:
    """Special tokens around one sequence or two, with their type ids, as the tokenizer's post-processor sets them."""

    before: tuple[tuple[int, int], ...]
    between: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, int], ...]
    types: tuple[int, int]

    @property
    def length(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


def _template(tokenizer: Any, *, pair: bool) -> _Template:
    """Read off a probe: which special tokens stand before, between and after the sequences."""
    encoding = tokenizer.encode("a", "b") if pair else tokenizer.encode("a")
    groups: tuple[list[tuple[int, int]], ...] = ([], [], [])
    types = [0, 0]
    at = 0
    for token, kind, sequence in zip(encoding.ids, encoding.type_ids, encoding.sequence_ids, strict=True):
        if sequence is None:
            groups[at if pair or at == 0 else 2].append((token, kind))
        else:
            types[sequence] = kind
            at = sequence + 1
    return _Template(tuple(groups[0]), tuple(groups[1]), tuple(groups[2]), (types[0], types[1]))


class Encoder:
    """Tokenises for one model. `tokenizer` gives the calling thread's own tokenizer object; `max_tokens` bounds an input."""

    def __init__(self, tokenizer: Callable[[], Any], max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self.max_tokens = max_tokens
        probe = tokenizer()
        self._single = _template(probe, pair=False)
        self._pair = _template(probe, pair=True)

    def token_ids(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Ids of each text without special tokens."""
        encodings = self._tokenizer().encode_batch(list(texts), add_special_tokens=False)
        return [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]

    def singles(self, ids: NDArray[np.int64]) -> list[Sequence1d]:
        """The inputs that a text makes alone: one, or its windows where it is longer than the model takes."""
        room = self.max_tokens - self._single.length
        return [self._assemble(self._single, ids[a:b], None) for a, b in windows(len(ids), room)]

    def pairs(self, premise: NDArray[np.int64], hypothesis: NDArray[np.int64]) -> list[Sequence1d]:
        """The inputs of a pair: the hypothesis beside each window of the premise.

        Raises ValueError where the hypothesis leaves less than a quarter of the input to the premise.
        """
        room = self.max_tokens - self._pair.length - len(hypothesis)
        if room < self.max_tokens // 4:
            limit = self.max_tokens - self._pair.length - self.max_tokens // 4
            raise ValueError(f"hypothesis has {len(hypothesis)} tokens; at most {limit} fit beside a premise")
        return [self._assemble(self._pair, premise[a:b], hypothesis) for a, b in windows(len(premise), room)]

    @staticmethod
    def _assemble(template: _Template, first: NDArray[np.int64], second: NDArray[np.int64] | None) -> Sequence1d:
        middle = template.between if second is not None else ()
        tail = second if second is not None else np.zeros(0, np.int64)
        ids = [
            *(t for t, _ in template.before),
            *first,
            *(t for t, _ in middle),
            *tail,
            *(t for t, _ in template.after),
        ]
        types = [
            *(kind for _, kind in template.before),
            *[template.types[0]] * len(first),
            *(kind for _, kind in middle),
            *[template.types[1]] * len(tail),
            *(kind for _, kind in template.after),
        ]
        return Sequence1d(np.array(ids, dtype=np.int64), np.array(types, dtype=np.int64))
