"""Batches within the token budget, packing, and windows that lose no token."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entailgrid.inference.batch import pack, plan_batches, windows

LENGTHS = st.lists(st.integers(1, 300), max_size=60)


@given(LENGTHS, st.integers(1, 600))
def test_every_row_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = plan_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch.tolist()) == list(range(len(lengths)))
    for batch in batches:
        rows = [lengths[index] for index in batch.tolist()]
        assert len(rows) == 1 or len(rows) * max(rows) <= budget
        assert rows == sorted(rows, reverse=True)


@given(LENGTHS.filter(bool), st.integers(1, 600))
def test_no_batch_could_have_taken_the_next_row(lengths: list[int], budget: int) -> None:
    batches = plan_batches(lengths, budget)
    for batch in batches[:-1]:
        assert (len(batch) + 1) * lengths[int(batch[0])] > budget


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=8))
def test_packing_can_be_undone(rows: list[list[int]]) -> None:
    values, edges = pack([np.array(row, np.int64) for row in rows])
    assert edges[0] == 0
    assert edges[-1] == len(values)
    assert [values[a:b].tolist() for a, b in pairwise(edges)] == rows


@given(st.integers(0, 3000), st.integers(1, 300))
def test_windows_cover_everything_and_overlap_by_half(length: int, room: int) -> None:
    found = windows(length, room)
    assert found[0][0] == 0
    assert found[-1][1] == length
    assert all(end - start <= room for start, end in found)
    for (start, end), (following, _) in pairwise(found):
        assert start < following <= end
        assert end - following >= room // 2 - 1


def test_windows_need_room() -> None:
    with pytest.raises(ValueError, match="room"):
        windows(5, 0)
