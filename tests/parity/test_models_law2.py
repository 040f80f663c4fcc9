"""Law 2 on what ships: a score does not depend on its batch mates or the number of threads."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entailgrid_models.onnx import OnnxModel, pair_probabilities
from entailgrid_models.registry import resolve

WORDS = st.sampled_from(
    ["the", "plan", "refund", "30", "days", "not", "Premium", "0.5", "mg", "東京", "naïve", "🙂", ",", "A-17"]
)
TEXTS = st.builds(lambda words, times: " ".join(words * times), st.lists(WORDS, min_size=1, max_size=12), st.integers(1, 14))
TOLERANCE = 1e-5


@cache
def load(role: str, threads: int | None = None) -> OnnxModel:
    return OnnxModel.load(getattr(resolve("embedded"), role), threads=threads)


def run(model: OnnxModel, inputs: list[tuple[str, ...]]) -> npt.NDArray[np.float32]:
    """Probabilities or embeddings of `inputs` (one text each, or a pair) as one batch."""
    encodings = [model.tokenizer().encode(*texts) for texts in inputs]
    ids = [encoding.ids[: model.max_tokens] for encoding in encodings]
    types = [encoding.type_ids[: model.max_tokens] for encoding in encodings]
    offsets = np.cumsum([0, *map(len, ids)])
    output = model.forward(np.concatenate(ids), offsets, np.concatenate(types))
    return pair_probabilities(output, model.labels) if model.labels else output


@settings(max_examples=15, deadline=None)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=2, max_size=6))
def test_a_pair_scores_the_same_alone_and_batched(pairs: list[tuple[str, str]]) -> None:
    model = load("nli")
    alone = np.concatenate([run(model, [pair]) for pair in pairs])
    assert np.abs(run(model, pairs) - alone).max() < TOLERANCE


@settings(max_examples=10, deadline=None)
@given(texts=st.lists(TEXTS, min_size=2, max_size=6))
def test_a_text_embeds_the_same_alone_and_batched(texts: list[str]) -> None:
    model = load("router")
    alone = np.concatenate([run(model, [(text,)]) for text in texts])
    batched = run(model, [(text,) for text in texts])
    assert np.abs(batched - alone).max() < TOLERANCE
    assert np.allclose(np.linalg.norm(batched, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("role", ["router", "nli"])
def test_raw_outputs_are_the_same_in_a_batch_of_very_unequal_lengths(role: str) -> None:
    """Random tokens make the model less sure than text does, which shows what probabilities near 0 or 1 hide."""
    model, generator = load(role), np.random.default_rng(0)
    lengths = [1, 2, 3, 63, 64, 65, 127, 200, model.max_tokens, *generator.integers(2, 129, 12)]
    ids = [generator.integers(1000, 30000, length) for length in lengths]
    batched = model.forward(np.concatenate(ids), np.cumsum([0, *lengths]), None)
    alone = np.concatenate([model.forward(row, np.array([0, len(row)]), None) for row in ids])
    assert np.abs(batched - alone).max() < TOLERANCE


@pytest.mark.parametrize("role", ["router", "nli"])
def test_threads_do_not_change_the_score(role: str) -> None:
    inputs = [("Premium plans include a refund window of 30 days. " * n,) for n in (1, 3, 11, 16)]
    assert np.abs(run(load(role, 1), inputs) - run(load(role, 2), inputs)).max() < TOLERANCE


@settings(max_examples=30, deadline=None)
@given(
    lengths=st.lists(st.integers(3, 200), min_size=2, max_size=8),
    seed=st.integers(0, 2**32 - 1),
    threads=st.sampled_from([1, 2]),
)
def test_logits_of_int8_products_do_not_move_with_mates_padding_order_or_threads(
    lengths: list[int], seed: int, threads: int
) -> None:
    """Rounding to uint8 would amplify any float that moves: a step of one activation moves a logit by about 1e-3."""
    assert load("nli").manifest.dtype == "int8"
    generator = np.random.default_rng(seed)
    rows = [generator.integers(1000, 30000, length) for length in lengths]
    types = [(np.arange(length) > length // 2).astype(np.int64) for length in lengths]
    alone = np.concatenate(
        [load("nli", 1).forward(row, np.array([0, len(row)]), kind) for row, kind in zip(rows, types, strict=True)]
    )
    order = generator.permutation(len(rows))
    offsets = np.cumsum([0, *(lengths[i] for i in order)])
    batched = load("nli", threads).forward(
        np.concatenate([rows[i] for i in order]), offsets, np.concatenate([types[i] for i in order])
    )
    assert np.abs(batched - alone[order]).max() < TOLERANCE
