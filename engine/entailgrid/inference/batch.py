"""Token-budget batches: pure planning over sequence lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def plan_batches(lengths: Sequence[int], token_budget: int) -> list[NDArray[np.int64]]:
    """Indices of `lengths`, longest first, cut so that rows x longest stays within `token_budget` (padding counted).

    A sequence above the budget makes a batch of its own.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    batches: list[NDArray[np.int64]] = []
    start = 0
    while start < len(order):
        rows = max(1, token_budget // max(1, lengths[order[start]]))
        batches.append(order[start : start + rows])
        start += rows
    return batches


def pack(sequences: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`(values[total], cu_seqlens[n + 1])` of variable-length sequences."""
    lengths = [len(sequence) for sequence in sequences]
    return np.concatenate(sequences), np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def windows(length: int, room: int) -> list[tuple[int, int]]:
    """Half-open windows of `room` tokens over a premise of `length`, half overlapping, the last one flush with the end."""
    if room < 1:
        raise ValueError(f"room must be positive, got {room}")
    if length <= room:
        return [(0, length)]
    starts = list(range(0, length - room, max(1, room // 2)))
    return [(start, start + room) for start in [*starts, length - room]]
