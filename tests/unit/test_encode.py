"""Inputs equal the shipped tokenizers' own pair encoding; windows lose no token."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from entailgrid.inference.encode import Encoder
from entailgrid_models.onnx import OnnxModel
from entailgrid_models.registry import resolve
from strategies import TEXTS


@pytest.fixture(scope="module", params=["nli", "router"])
def model(request: pytest.FixtureRequest) -> OnnxModel:
    return OnnxModel.load(getattr(resolve("embedded"), request.param), threads=1)


def whole(model: OnnxModel) -> Any:
    """The model's tokenizer without truncation or padding."""
    tokenizer = model.tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@given(premise=TEXTS, hypothesis=TEXTS)
@settings(max_examples=60, deadline=None)
def test_a_pair_is_encoded_as_the_tokenizer_does(model: OnnxModel, premise: str, hypothesis: str) -> None:
    encoder = Encoder(model.tokenizer, 5000)
    left, right = encoder.token_ids([premise, hypothesis])
    expected = whole(model).encode(premise, hypothesis)
    (given_input,) = encoder.pairs(left, right)
    assert given_input.input_ids.tolist() == expected.ids
    assert given_input.token_type_ids.tolist() == expected.type_ids
    (single,) = encoder.singles(left)
    assert single.input_ids.tolist() == whole(model).encode(premise).ids


@pytest.mark.parametrize("count", [1, 100, 229, 230, 231, 1000, 5000])
def test_windows_lose_no_token_and_fit(model: OnnxModel, count: int) -> None:
    encoder = Encoder(model.tokenizer, 256)
    premise, hypothesis = np.arange(1000, 1000 + count), np.arange(7, 27)
    inputs = encoder.pairs(premise, hypothesis)
    assert all(len(one) <= 256 for one in inputs)
    assert set(premise.tolist()) <= {token for one in inputs for token in one.input_ids.tolist()}
    special = len(whole(model).encode("", "").ids)
    assert all(len(one) - special - 20 <= count for one in inputs)
    singles = encoder.singles(premise)
    assert all(len(one) <= 256 for one in singles)
    assert set(premise.tolist()) <= {token for one in singles for token in one.input_ids.tolist()}


def test_a_hypothesis_that_leaves_no_room_is_an_error(model: OnnxModel) -> None:
    encoder = Encoder(model.tokenizer, 256)
    with pytest.raises(ValueError, match="at most"):
        encoder.pairs(np.arange(5), np.arange(250))


def test_long_texts_are_not_truncated(model: OnnxModel) -> None:
    (ids,) = Encoder(model.tokenizer, 256).token_ids(["word " * 3000])
    assert len(ids) >= 3000
