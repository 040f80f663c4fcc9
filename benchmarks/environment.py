"""The header and the writer that every benchmark's JSON shares."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def write_results(name: str, packages: list[str], results: dict[str, Any]) -> Path:
    """Writes results/<name>.json: command (paths outside the repository reduced to their last part), date, machine,
    versions of Python and `packages`, results."""
    document = {
        "command": " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *map(_without_folders, sys.argv[1:])]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(packages),
        "results": results,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return path


def machine() -> dict[str, Any]:
    """CPU model, logical cores, memory in GB, load average of the last minute, operating system."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 1e9, 1),
        "load_1min": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions(packages: list[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _without_folders(argument: str) -> str:
    return Path(argument).name if Path(argument).is_absolute() else argument
