"""The serving path: an exported model on ONNX Runtime's CPU provider.

onnxruntime and tokenizers are imported on first use; torch, transformers and onnx never.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from entailgrid_models.errors import CheckpointError, ModelForwardError
from entailgrid_models.labels import CONTRADICTION, ENTAILMENT, NEUTRAL, THREE_WAY, TWO_WAY
from entailgrid_models.manifest import MODEL, TOKENIZER, Manifest, check_files, read_manifest

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

__all__ = ["CheckpointError", "ModelForwardError", "OnnxModel", "pair_probabilities", "physical_cores"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


class OnnxModel:
    """One loaded model. `forward` and `tokenizer` may be called from any thread.

    `fingerprint` is the first 16 hex digits of the model file's SHA-256; `max_tokens` counts special tokens;
    `labels` is the order of the logits, None for an embedding model.
    """

    def __init__(self, manifest: Manifest, session: InferenceSession, tokenizer_json: str) -> None:
        self.manifest = manifest
        self.name = manifest.name
        self.fingerprint = manifest.files[MODEL][:16]
        self.max_tokens = manifest.max_tokens
        self.labels = manifest.labels
        self._session = session
        self._tokenizer_json = tokenizer_json
        self._local = threading.local()

    @classmethod
    def load(cls, folder: Path, *, threads: int | None = None) -> OnnxModel:
        """Loads a folder written by the exporter; `threads` None means the physical cores.

        Raises CheckpointError where a file is missing, does not have the manifest's SHA-256, or is not what its name
        says.
        """
        manifest = read_manifest(folder)
        check_files(folder, manifest)
        session = _open_session(folder / MODEL, physical_cores() if threads is None else threads)
        model = cls(manifest, session, (folder / TOKENIZER).read_text("utf-8"))
        model.tokenizer()
        return model

    def tokenizer(self) -> Tokenizer:
        """The calling thread's own tokenizer, truncation and padding off (a shared one raises "Already borrowed")."""
        tokenizer: Tokenizer | None = getattr(self._local, "tokenizer", None)
        if tokenizer is None:
            tokenizer = self._local.tokenizer = _read_tokenizer(self._tokenizer_json)
        return tokenizer

    def forward(self, input_ids: IntArray, cu_seqlens: IntArray, token_type_ids: IntArray | None = None) -> FloatArray:
        """Scores packed sequences in one batch, padded inside to the longest.

        input_ids, token_type_ids: int64 [total]; cu_seqlens: int64 [n + 1], the offsets of the n sequences, from 0 to
        total. `token_type_ids` None means zeros. Returns logits [n, labels] or embeddings [n, hidden], float32.
        Raises ValueError for offsets that do not fit or a sequence above `max_tokens`, ModelForwardError where ONNX
        Runtime fails or a value is not finite.
        """
        lengths = self._lengths(input_ids, cu_seqlens)
        if not len(lengths):
            return np.zeros((0, len(self.labels) if self.labels else self.manifest.hidden_size), np.float32)
        visible = np.arange(lengths.max()) < lengths[:, None]
        feeds = {
            "input_ids": _padded(input_ids, visible, self.manifest.pad_token_id),
            "attention_mask": visible.astype(np.int64),
        }
        if "token_type_ids" in self.manifest.inputs:
            types = np.zeros_like(input_ids) if token_type_ids is None else token_type_ids
            feeds["token_type_ids"] = _padded(types, visible, 0)
        output = self._run(feeds)
        if not np.isfinite(output).all():
            raise ModelForwardError(f"{self.name}: the forward pass gave values that are not finite")
        return output

    def _lengths(self, input_ids: IntArray, cu_seqlens: IntArray) -> IntArray:
        lengths: IntArray = np.diff(cu_seqlens)
        if len(cu_seqlens) < 1 or cu_seqlens[0] != 0 or cu_seqlens[-1] != len(input_ids) or (lengths < 1).any():
            raise ValueError("cu_seqlens must rise from 0 to the number of tokens")
        if len(lengths) and lengths.max() > self.max_tokens:
            raise ValueError(f"a sequence has {lengths.max()} tokens; {self.name} takes at most {self.max_tokens}")
        return lengths

    def _run(self, feeds: dict[str, IntArray]) -> FloatArray:
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        try:
            output: FloatArray = self._session.run([self.manifest.output], feeds)[0]
        except (state.Fail, state.InvalidArgument, state.RuntimeException) as error:
            raise ModelForwardError(f"{self.name}: {error}") from error
        return output


def pair_probabilities(logits: FloatArray, labels: tuple[str, ...]) -> FloatArray:
    """Softmax of logits [n, labels], as float32 [n, 3] in the order entailment, neutral, contradiction.

    Two-label heads (entailment, not_entailment) give `[p, 0, 1 - p]`.
    """
    if sorted(labels) not in (sorted(THREE_WAY), sorted(TWO_WAY)):
        raise ValueError(f"labels {labels} are not of the convention")
    shifted = logits - logits.max(axis=1, keepdims=True)
    shares = np.exp(shifted)
    shares /= shares.sum(axis=1, keepdims=True)
    entailment = shares[:, labels.index(ENTAILMENT)]
    if len(labels) == len(TWO_WAY):
        return np.stack([entailment, np.zeros_like(entailment), 1 - entailment], axis=1)
    order = [labels.index(label) for label in (ENTAILMENT, NEUTRAL, CONTRADICTION)]
    ordered: FloatArray = shares[:, order]
    return ordered


def physical_cores() -> int:
    """Physical cores that this process may run on; the logical ones where Linux does not tell them apart."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    allowed = os.sched_getaffinity(0)
    siblings = (Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") for cpu in allowed)
    try:
        return len({path.read_text() for path in siblings})
    except OSError:
        return len(allowed)


def _padded(values: IntArray, visible: npt.NDArray[np.bool_], fill: int) -> IntArray:
    padded = np.full(visible.shape, fill, np.int64)
    padded[visible] = values
    return padded


def _read_tokenizer(text: str) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _open_session(path: Path, threads: int) -> InferenceSession:
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    _share_arena()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.enable_mem_pattern = False  # one plan a shape, kept: memory would grow with the number of shapes
    for key, value in _SESSION_CONFIG.items():
        options.add_session_config_entry(key, value)
    settings: dict[str, Any] = {
        "providers": ["CPUExecutionProvider"],
        "disabled_optimizers": ["SkipLayerNormFusion"],  # its CPU kernel is slower than Add + LayerNormalization
    }
    errors = (state.Fail, state.InvalidGraph, state.InvalidProtobuf, state.InvalidArgument, state.NotImplemented)
    try:
        return onnxruntime.InferenceSession(str(path), options, **settings)
    except errors as error:
        raise CheckpointError(f"{path}: not an ONNX model that onnxruntime can run: {error}") from error


_SESSION_CONFIG = {
    # Lets the constant folder turn int8 weights into float32 at load. By default ONNX Runtime 1.32 makes them
    # MatMulNBits with int8 activations: a quarter slower (measured), and logits move by up to 3e-3 with the batch,
    # which breaks law 2.
    "session.disable_quant_qdq": "1",
    "session.use_env_allocators": "1",
    "session.force_spinning_stop": "1",  # threads spin during a run only; an idle process uses no CPU
}


@cache
def _share_arena() -> None:
    """One arena for every session of the process (separate ones grow in turn: onnxruntime issue 29351).

    It grows by powers of two. Measured over 200 random shapes alternating router and NLI model: 310 MB resident at
    2,048 tokens a batch and 437 MB at 4,096; extending by the size requested leaves holes, 405 MB and 634 MB.
    """
    import onnxruntime

    kind, placement = onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, onnxruntime.OrtMemType.DEFAULT
    memory = onnxruntime.OrtMemoryInfo("Cpu", kind, 0, placement)
    no_limit, next_power_of_two, default = 0, 0, -1
    onnxruntime.create_and_register_allocator(memory, onnxruntime.OrtArenaCfg(no_limit, next_power_of_two, default, default))
