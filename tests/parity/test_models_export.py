"""Exported graphs against transformers, plain torch and each other, on tiny seeded checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny import LABELS, tiny_tokenizer, write_tiny_checkpoint

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnx")
pytest.importorskip("safetensors")

from entailgrid_models.bert import bi_encoder, cross_encoder  # noqa: E402
from entailgrid_models.calibrate import calibrate, covering_scale  # noqa: E402
from entailgrid_models.checkpoint import read_checkpoint  # noqa: E402
from entailgrid_models.errors import CheckpointError  # noqa: E402
from entailgrid_models.export import Dtype, export  # noqa: E402
from entailgrid_models.onnx import OnnxModel  # noqa: E402

LENGTHS = (64, 1, 2, 3, 17, 63, 5)
ENCODER = {"architectures": ["BertModel"]}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_checkpoint(tmp_path_factory.mktemp("classifier"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_checkpoint(tmp_path_factory.mktemp("encoder"), seed=1, **ENCODER)


def packed(vocabulary: int = 20) -> tuple[npt.NDArray[np.int64], ...]:
    generator = np.random.default_rng(0)
    total = sum(LENGTHS)
    return generator.integers(1, vocabulary, total), np.cumsum((0, *LENGTHS)), generator.integers(0, 2, total)


def padded() -> dict[str, torch.Tensor]:
    ids, offsets, types = packed()
    visible = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
    inputs = {"attention_mask": visible.astype(np.int64)}
    for name, values in (("input_ids", ids), ("token_type_ids", types)):
        inputs[name] = np.zeros(visible.shape, np.int64)
        inputs[name][visible] = values
    assert offsets[-1] == visible.sum()
    return {name: torch.from_numpy(value) for name, value in inputs.items()}


def reference_logits(folder: Path) -> npt.NDArray[np.float32]:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        return model(**padded()).logits.numpy()


def reference_embeddings(folder: Path) -> npt.NDArray[np.float32]:
    model = transformers.AutoModel.from_pretrained(folder).eval()
    inputs = padded()
    with torch.inference_mode():
        states = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"][:, :, None]
        mean = (states * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean, dim=1).numpy()


def test_torch_module_equals_transformers(classifier: Path, encoder: Path) -> None:
    with torch.inference_mode():
        logits = cross_encoder(read_checkpoint(classifier))(**padded()).numpy()
        embeddings = bi_encoder(read_checkpoint(encoder))(**padded()).numpy()
    assert np.abs(logits - reference_logits(classifier)).max() < 1e-5
    assert np.abs(embeddings - reference_embeddings(encoder)).max() < 1e-5


def test_float32_export_equals_transformers(classifier: Path, encoder: Path, tmp_path: Path) -> None:
    manifest = export(classifier, tmp_path / "nli", "float32", "classification")
    assert manifest.labels == LABELS
    logits = OnnxModel.load(tmp_path / "nli").forward(*packed())
    assert np.abs(logits - reference_logits(classifier)).max() < 1e-5
    export(encoder, tmp_path / "router", "float32", "embedding")
    embeddings = OnnxModel.load(tmp_path / "router").forward(*packed())
    assert np.abs(embeddings - reference_embeddings(encoder)).max() < 1e-5


def test_a_model_without_token_types_has_no_such_input(tmp_path: Path) -> None:
    folder = write_tiny_checkpoint(tmp_path / "checkpoint", type_vocab_size=1)
    assert export(folder, tmp_path / "out").inputs == ("input_ids", "attention_mask")
    logits = OnnxModel.load(tmp_path / "out").forward(*packed())
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        expected = model(**(padded() | {"token_type_ids": torch.zeros(len(LENGTHS), 64, dtype=torch.long)})).logits
    assert np.abs(logits - expected.numpy()).max() < 1e-5


def test_masked_tokens_are_not_seen_wherever_they_stand(classifier: Path, tmp_path: Path) -> None:
    import onnxruntime

    export(classifier, tmp_path)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    inputs = {name: value.numpy() for name, value in padded().items()}
    inputs["attention_mask"][0, 5:20] = 0
    logits = session.run(None, inputs)[0]
    inputs["input_ids"][inputs["attention_mask"] == 0] = 7
    assert np.array_equal(session.run(None, inputs)[0], logits)


@pytest.mark.parametrize("dtype", ["int8", "int8-storage"])
def test_int8_stays_near_float32_and_is_stored_in_int8(classifier: Path, tmp_path: Path, dtype: Dtype) -> None:
    import onnx

    export(classifier, tmp_path / "float32", "float32")
    assert export(classifier, tmp_path / "int8", dtype).dtype == dtype
    float32, int8 = (OnnxModel.load(tmp_path / name).forward(*packed()) for name in ("float32", "int8"))
    assert 0 < np.abs(int8 - float32).max() < 0.1 * np.abs(float32).max()
    large = [t for t in onnx.load(tmp_path / "int8" / "model.onnx").graph.initializer if np.prod(t.dims) > 1000]
    assert large
    assert all(tensor.data_type == onnx.TensorProto.INT8 for tensor in large)


def optimised_kinds(folder: Path) -> list[str]:
    """The operators that ONNX Runtime runs for the model in `folder`, set as the serving path sets it."""
    import onnx
    import onnxruntime

    from entailgrid_models.onnx import _SESSION_CONFIG

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    options.log_severity_level = 3
    options.add_session_config_entry("session.disable_quant_qdq", _SESSION_CONFIG["session.disable_quant_qdq"])
    onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    return [node.op_type for node in onnx.load(folder / "optimised.onnx").graph.node]


def test_stored_int8_weights_are_folded_to_float32_at_load(classifier: Path, tmp_path: Path) -> None:
    export(classifier, tmp_path, "int8-storage")
    kinds = set(optimised_kinds(tmp_path))
    assert not {kind for kind in kinds if "Quant" in kind or "NBits" in kind or "Integer" in kind or kind == "QAttention"}
    assert {"Attention", "BiasGelu", "MatMul"} <= kinds


def test_int8_products_have_fixed_scales_and_the_first_token_ends_in_float32(classifier: Path, tmp_path: Path) -> None:
    export(classifier, tmp_path, "int8")
    kinds = optimised_kinds(tmp_path)
    # Layer 1 whole; of layer 2 keys and values. Its query, output, inner and outer products are float32.
    assert [kinds.count(kind) for kind in ("QAttention", "MatMulIntegerToFloat", "MatMul")] == [1, 3 + 2, 4]
    assert not {"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "MatMulNBits", "DequantizeLinear"} & set(kinds)


def test_int8_encoder_has_integer_products_throughout(encoder: Path, tmp_path: Path) -> None:
    export(encoder, tmp_path, "int8", "embedding")
    embeddings = OnnxModel.load(tmp_path).forward(*packed())
    assert (embeddings * reference_embeddings(encoder)).sum(1).min() > 0.99
    kinds = optimised_kinds(tmp_path)
    assert [kinds.count(kind) for kind in ("QAttention", "MatMulIntegerToFloat", "MatMul")] == [2, 6, 0]


def test_calibrated_ranges_are_those_of_transformers(classifier: Path) -> None:
    pairs = [("the premium plan includes a refund", "30 days ."), ("price 12", "not the dose of seats"), ("", "5 mg")]
    scales = calibrate(read_checkpoint(classifier), pairs, classify=True)
    tokenizer = tiny_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    model = transformers.AutoModelForSequenceClassification.from_pretrained(classifier).eval()
    states = []
    for pair in pairs:
        encoding = tokenizer.encode(*pair)
        with torch.inference_mode():
            ids, types = torch.tensor([encoding.ids]), torch.tensor([encoding.type_ids])
            output = model(ids, token_type_ids=types, output_hidden_states=True)
        states.append([layer.numpy() for layer in output.hidden_states])
    for layer in range(2):
        values = np.concatenate([row[layer].ravel() for row in states])
        assert scales[f"encoder.layer.{layer}.attention.self.qkv"].scale == pytest.approx(np.ptp(values) / 255, rel=1e-3)


def test_other_calibration_pairs_give_other_scales(classifier: Path, tmp_path: Path) -> None:
    built_in = export(classifier, tmp_path / "built-in", "int8")
    own = export(classifier, tmp_path / "own", "int8", calibration=[("the dose", "5 mg")])
    assert own.files["model.onnx"] != built_in.files["model.onnx"]
    with pytest.raises(CheckpointError, match="at least one pair"):
        export(classifier, tmp_path / "none", "int8", calibration=[])
    with pytest.raises(CheckpointError, match="float32 takes no calibration"):
        export(classifier, tmp_path / "float32", "float32", calibration=[("a", "b")])


def test_weights_of_integer_products_leave_room_for_16_bit_sums(classifier: Path, tmp_path: Path) -> None:
    """Two neighbours at most 2 * 255 * 64 < 2**15: CPUs without VNNI add them in 16 bits, saturating."""
    import onnx

    export(classifier, tmp_path, "int8")
    graph = onnx.load(tmp_path / "model.onnx").graph
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    used = [weights[node.input[1]] for node in graph.node if node.op_type in ("QAttention", "MatMulIntegerToFloat")]
    assert used
    assert all(2 * 255 * np.abs(weight.astype(int)).max() < 2**15 for weight in used)
    assert all(np.abs(weight.astype(int)).max(axis=0).min() == 64 for weight in used)


@given(low=st.floats(-100, 100), width=st.floats(0, 200))
def test_a_scale_covers_its_range_and_represents_zero_exactly(low: float, width: float) -> None:
    high = low + width
    scale = covering_scale(low, high)
    assert 0 <= scale.zero_point <= 255
    for value in (low, 0.0, high):
        step = np.clip(np.rint(value / scale.scale) + scale.zero_point, 0, 255) - scale.zero_point
        assert abs(step * scale.scale - value) <= 1.1 * scale.scale * (value != 0)


def test_export_is_reproducible(classifier: Path, tmp_path: Path) -> None:
    first, second = (export(classifier, tmp_path / name, "int8") for name in ("one", "two"))
    assert first == second


def test_task_and_head_must_agree(classifier: Path, encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="has a classification head"):
        export(classifier, tmp_path, "float32", "embedding")
    with pytest.raises(CheckpointError, match="no classification head"):
        export(encoder, tmp_path, "float32", "classification")
