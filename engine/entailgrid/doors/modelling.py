"""The commands `models list` and `models export`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

import click
from rich.text import Text

from entailgrid.doors.console import Hanging, console_on, one_line
from entailgrid_models.errors import CheckpointError
from entailgrid_models.export import Dtype, Task, export
from entailgrid_models.registry import ModelEntry, list_models


def run_list(*, as_json: bool) -> None:
    """Prints the models that ship with the package."""
    try:
        entries = list_models()
    except CheckpointError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print(json.dumps([_as_json(entry) for entry in entries]))
        return
    console = console_on(sys.stdout)
    for entry in entries:
        manifest = entry.manifest
        console.print(Text.assemble((f"{entry.preset}/{entry.role}", "bold"), f"  {manifest.name}"))
        labels = f", labels {', '.join(manifest.labels)}" if manifest.labels else ""
        console.print(Hanging(Text(f"{manifest.task}, {manifest.dtype}, {entry.size / 1e6:.1f} MB{labels}"), first="  "))
        console.print(Hanging(Text(f"{one_line(manifest.origin)}; licence {manifest.licence}", "dim"), first="  "))


def _as_json(entry: ModelEntry) -> dict[str, Any]:
    manifest = entry.manifest
    return {
        "preset": entry.preset,
        "role": entry.role,
        "name": manifest.name,
        "task": manifest.task,
        "dtype": manifest.dtype,
        "labels": list(manifest.labels) if manifest.labels else None,
        "size_bytes": entry.size,
        "origin": manifest.origin,
        "licence": manifest.licence,
        "folder": str(entry.folder),
        "files": dict(manifest.files),
    }


def run_export(source: str, out: str, *, dtype: str, task: str) -> None:
    """Exports a checkpoint folder as ONNX and says where it lies."""
    try:
        manifest = export(Path(source), Path(out), cast(Dtype, dtype), cast(Task, task))
    except CheckpointError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or out}: {error.strerror or error}") from error
    except ModuleNotFoundError as error:
        raise click.ClickException(f"export needs {error.name}: pip install 'entailgrid[export]'") from error
    console_on(sys.stdout).print(Text(one_line(f"{manifest.name}: {manifest.task}, {manifest.dtype}, written to {out}")))
