"""manifest.json of an exported model: what the files are, where they come from, and their SHA-256."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from entailgrid_models.errors import CheckpointError

FORMAT = 1
MANIFEST = "manifest.json"
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"


@dataclass(frozen=True)
class ModelCard:
    """What a checkpoint's files cannot tell: its name, origin, licence, and the data that it was trained on."""

    name: str
    origin: str
    licence: str | None = None
    training_data: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """`files` maps file name to SHA-256 (hex); `labels` is the order of the logits, None for an embedding model."""

    format: int
    name: str
    origin: str
    licence: str | None
    training_data: tuple[str, ...]
    task: str
    architecture: str
    dtype: str
    hidden_size: int
    layers: int
    max_tokens: int
    pad_token_id: int
    labels: tuple[str, ...] | None
    inputs: tuple[str, ...]
    output: str
    opset: int
    producer: str
    files: dict[str, str]

    def write(self, folder: Path) -> None:
        (folder / MANIFEST).write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Raises CheckpointError where the manifest is missing or not one that this version reads."""
    path = folder / MANIFEST
    if not path.is_file():
        raise CheckpointError(f"{folder}: no {MANIFEST}; expected a folder written by `entailgrid models export`")
    try:
        raw = json.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path}: not JSON: {error}") from error
    names = {field.name for field in fields(Manifest)}
    if not isinstance(raw, dict) or raw.get("format") != FORMAT or set(raw) != names:
        raise CheckpointError(f"{path}: expected a manifest of format {FORMAT} with the fields {', '.join(sorted(names))}")
    if not isinstance(raw["files"], dict):
        raise CheckpointError(f"{path}: files must map file names to SHA-256")
    return Manifest(**{name: _frozen(value) for name, value in raw.items()})


def check_files(folder: Path, manifest: Manifest) -> None:
    """Raises CheckpointError for a file that is missing or whose SHA-256 is not the manifest's."""
    if missing := {MODEL, TOKENIZER} - set(manifest.files):
        raise CheckpointError(f"{folder / MANIFEST}: no checksum for {', '.join(sorted(missing))}")
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise CheckpointError(f"{path}: file is missing")
        actual = sha256(path)
        if actual != expected:
            raise CheckpointError(f"{path}: checksum {actual}, expected {expected}")


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
