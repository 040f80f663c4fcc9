"""Routing: for each claim the best few segments of *every* source, by embedding and by shared words."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from entailgrid.evidence.segment import Segment
from entailgrid.language import content_words, remembered


@dataclass(frozen=True, slots=True)
class Candidate:
    """A premise for one claim: one segment of a source, or up to `RoutingLimits.join` of them joined in document order."""

    source: int
    segments: tuple[int, ...]
    text: str
    cosine: float
    coverage: float


@dataclass(frozen=True, slots=True)
class RoutingLimits:
    """How many premises of a source a claim meets. `lexical` weighs shared words against the cosine in the ranking.

    A source that is not cited and whose best segment ranks `margin` below the trace's best offers that segment alone.
    """

    single: int = 2
    join: int = 3
    join_gain: float = 0.07
    lexical: float = 1.0
    max_chars: int = 900
    margin: float = 0.6


@dataclass(frozen=True, slots=True)
class Routed:
    """Candidates of one claim over all sources, and how many segments were left out."""

    candidates: tuple[Candidate, ...]
    skipped: int


@remembered(65536)
def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's content words; words with digits count too."""
    return frozenset(content_words(text))


_UNKNOWN = 2.5


class Lexicon:
    """Document frequencies of stems over the segments of one trace."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        counts = Counter(word for segment in segments for word in stems_of(segment.text))
        self._count = counts
        self._total = len(segments)

    def weight(self, word: str) -> float:
        """Smoothed inverse document frequency; a word that no source holds weighs `_UNKNOWN`."""
        count = self._count.get(word, 0)
        return 1.0 + math.log((1 + self._total) / (1 + count)) if count else _UNKNOWN

    def known(self, words: frozenset[str]) -> frozenset[str]:
        return frozenset(word for word in words if word in self._count)

    def coverage(self, claim: frozenset[str], text: frozenset[str]) -> float:
        """Share of the claim's weighted words that `text` holds, in [0, 1]; 1 where the claim has none."""
        total = sum(self.weight(word) for word in claim)
        return sum(self.weight(word) for word in claim & text) / total if total else 1.0


def route(
    claims: Sequence[str],
    segments: Sequence[Segment],
    lexicon: Lexicon,
    claim_vectors: NDArray[np.float32],
    segment_vectors: NDArray[np.float32],
    limits: RoutingLimits,
    cited: Sequence[frozenset[int]],
) -> list[Routed]:
    """Candidates per claim. `claim_vectors [m, dim]` and `segment_vectors [n, dim]` are unit vectors; `cited` are the sources
    that each claim cites."""
    by_source: dict[int, list[int]] = {}
    for index, segment in enumerate(segments):
        by_source.setdefault(segment.source, []).append(index)
    cosines = claim_vectors @ segment_vectors.T if len(segments) else np.zeros((len(claims), 0), np.float32)
    postings: dict[str, list[int]] = {}
    for index, segment in enumerate(segments):
        for word in stems_of(segment.text):
            postings.setdefault(word, []).append(index)
    routed = []
    for row, claim in enumerate(claims):
        words = stems_of(claim)
        covered = _coverages(words, lexicon, postings, len(segments))
        ranks = cosines[row] + limits.lexical * covered
        floor = float(ranks.max()) - limits.margin if len(segments) else 0.0
        scene = _Scene(segments, words, ranks, cosines[row], covered, lexicon, limits)
        chosen = [
            candidate
            for source, members in sorted(by_source.items())
            for candidate in scene.candidates(source, members, floor if source not in cited[row] else -math.inf)
        ]
        seen = {index for candidate in chosen for index in candidate.segments}
        routed.append(Routed(tuple(chosen), len(segments) - len(seen)))
    return routed


def _coverages(words: frozenset[str], lexicon: Lexicon, postings: dict[str, list[int]], count: int) -> NDArray[np.float32]:
    covered = np.zeros(count, np.float32)
    total = sum(lexicon.weight(word) for word in words)
    if not total:
        return np.ones(count, np.float32)
    for word in words:
        if word in postings:
            covered[postings[word]] += lexicon.weight(word)
    return covered / np.float32(total)


@dataclass(frozen=True, slots=True)
class _Scene:
    """One claim before all segments: its words, and each segment's rank, cosine and coverage."""

    segments: Sequence[Segment]
    words: frozenset[str]
    ranks: NDArray[np.float32]
    cosines: NDArray[np.float32]
    covered: NDArray[np.float32]
    lexicon: Lexicon
    limits: RoutingLimits

    def candidates(self, source: int, members: Sequence[int], floor: float) -> list[Candidate]:
        """The premises of one source: its best segment; above `floor` also the next, the one with most of the claim's words,
        and a join."""
        order = sorted(members, key=lambda index: (-float(self.ranks[index]), index))
        if float(self.ranks[order[0]]) < floor:
            return [self._single(source, order[0])]
        best = order[: self.limits.single]
        wordiest = max(order, key=lambda index: (float(self.covered[index]), float(self.ranks[index])))
        found = [self._single(source, index) for index in dict.fromkeys([*best, wordiest])]
        joined = _join(order, self.segments, self.words, self.lexicon, self.limits)
        if len(joined) > 1:
            text = _joined_text([self.segments[index] for index in sorted(joined)])
            cosine = max(float(self.cosines[index]) for index in joined)
            coverage = self.lexicon.coverage(self.words, stems_of(text))
            found.append(Candidate(source, tuple(sorted(joined)), text, cosine, coverage))
        return found

    def _single(self, source: int, index: int) -> Candidate:
        return Candidate(source, (index,), self.segments[index].text, float(self.cosines[index]), float(self.covered[index]))


def _join(
    order: Sequence[int], segments: Sequence[Segment], words: frozenset[str], lexicon: Lexicon, limits: RoutingLimits
) -> list[int]:
    """The best segment and, greedily, those that hold most of the claim's words which are still missing."""
    joined, missing = [order[0]], words - stems_of(segments[order[0]].text)
    total = sum(lexicon.weight(word) for word in lexicon.known(words)) or 1.0
    length = len(segments[order[0]].text)
    while len(joined) < limits.join and missing:
        gains = [
            (sum(lexicon.weight(word) for word in missing & stems_of(segments[index].text)), -rank, index)
            for rank, index in enumerate(order[:64])
            if index not in joined and length + len(segments[index].text) <= limits.max_chars
        ]
        gain, _, index = max(gains, default=(0.0, 0, -1))
        if gain / total < limits.join_gain:
            break
        joined.append(index)
        missing -= stems_of(segments[index].text)
        length += len(segments[index].text)
    return joined


def _joined_text(parts: Sequence[Segment]) -> str:
    """The parts' texts in order; a record title that they share is said once."""
    texts = [parts[0].text]
    for before, part in itertools.pairwise(parts):
        shared = part.record and part.record == before.record
        texts.append(part.text.removeprefix(f"{part.record}. ") if shared else part.text)
    return " | ".join(texts) if any(part.fields for part in parts) else " ".join(texts)
