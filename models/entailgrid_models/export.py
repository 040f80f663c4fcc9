"""Writes a checkpoint as ONNX: `model.onnx`, `tokenizer.json` and `manifest.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from entailgrid_models.checkpoint import Checkpoint, read_checkpoint
from entailgrid_models.errors import CheckpointError
from entailgrid_models.manifest import FORMAT, MODEL, TOKENIZER, Manifest, ModelCard, sha256

PRODUCER = "entailgrid-models 0.1.0"

Dtype = Literal["float32", "int8", "int8-storage"]
Task = Literal["classification", "embedding"]


def export(
    source: Path,
    out: Path,
    dtype: Dtype = "float32",
    task: Task = "classification",
    *,
    card: ModelCard | None = None,
    calibration: Sequence[tuple[str, str]] | None = None,
) -> Manifest:
    """Exports the checkpoint folder `source` into the folder `out`, which is created where it is missing.

    The graph takes int64 input_ids, attention_mask and, where the model has them, token_type_ids [batch, sequence] and
    gives float32 `logits` [batch, labels] in the checkpoint's own order, or `embeddings` [batch, hidden] of length 1.
    `int8` computes the products in int8: weights with a scale per output channel, activations with a scale fixed here from
    the `calibration` pairs (premise, hypothesis; None: those that ship with the package), never from the batch, so a score
    does not depend on what else is in it. `int8-storage` computes in float32 from weights stored in int8.

    Raises CheckpointError for a source that cannot be exported and for `calibration` that is empty or that `dtype` has no
    use for, OSError where `out` cannot be written.
    """
    checkpoint = read_checkpoint(source)
    if task == "classification" and checkpoint.labels is None:
        raise CheckpointError(f"{source}: no classification head; export it with task 'embedding'")
    if task == "embedding" and checkpoint.labels is not None:
        raise CheckpointError(f"{source}: has a classification head; embedding models are BertModel checkpoints")
    if calibration is not None and dtype != "int8":
        raise CheckpointError(f"dtype {dtype} takes no calibration pairs; only int8 does")
    card = card or ModelCard(name=checkpoint.name, origin=checkpoint.name)
    out.mkdir(parents=True, exist_ok=True)
    inputs = _write_model(checkpoint, out / MODEL, dtype, task, calibration)
    (out / TOKENIZER).write_text(checkpoint.tokenizer_json, "utf-8")
    manifest = _manifest(checkpoint, card, dtype, task, inputs, out)
    manifest.write(out)
    return manifest


def _write_model(
    checkpoint: Checkpoint, path: Path, dtype: Dtype, task: Task, calibration: Sequence[tuple[str, str]] | None
) -> tuple[str, ...]:
    try:
        import onnx

        from entailgrid_models.bert_graph import bert_graph
        from entailgrid_models.calibrate import calibrate
    except ModuleNotFoundError as error:
        raise CheckpointError(f"export needs {error.name}: pip install 'entailgrid[export]'") from error
    classify = task == "classification"
    scales = calibrate(checkpoint, calibration, classify=classify) if dtype == "int8" else None
    model = bert_graph(checkpoint, classify=classify, int8=dtype != "float32", scales=scales)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))
    return tuple(value.name for value in model.graph.input)


def _manifest(
    checkpoint: Checkpoint, card: ModelCard, dtype: Dtype, task: Task, inputs: tuple[str, ...], out: Path
) -> Manifest:
    from entailgrid_models.graph import OPSET

    return Manifest(
        format=FORMAT,
        name=card.name,
        origin=card.origin,
        licence=card.licence,
        training_data=card.training_data,
        task=task,
        architecture=checkpoint.architecture,
        dtype=dtype,
        hidden_size=checkpoint.config.hidden_size,
        layers=checkpoint.config.layers,
        max_tokens=checkpoint.max_tokens,
        pad_token_id=checkpoint.config.pad_token_id,
        labels=checkpoint.labels,
        inputs=inputs,
        output="logits" if task == "classification" else "embeddings",
        opset=OPSET,
        producer=PRODUCER,
        files={name: sha256(out / name) for name in (MODEL, TOKENIZER)},
    )
