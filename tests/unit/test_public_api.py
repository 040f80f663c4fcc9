"""What `import entailgrid` offers, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys
import types

import entailgrid


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True).stdout


def test_all_is_what_is_exported() -> None:
    public = {
        name
        for name, value in vars(entailgrid).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and name not in ("TYPE_CHECKING", "Any")
    }
    assert public | {"Policy", "Verifier"} == set(entailgrid.__all__)
    assert sorted(entailgrid.__all__) == entailgrid.__all__
    for name in entailgrid.__all__:
        assert getattr(entailgrid, name).__name__ == name


def test_the_contracts_names_can_be_imported() -> None:
    assert python("from entailgrid import Verifier, Trace, Report; print(Verifier.__name__)") == "Verifier\n"


def test_import_is_fast() -> None:
    code = "import time; began = time.perf_counter(); import entailgrid; print(time.perf_counter() - began)"
    assert min(float(python(code)) for _ in range(3)) < 0.4


def test_verifying_never_imports_the_training_stack() -> None:
    trace = {"answer": "The fee is $5 [1].", "sources": [{"id": "a", "text": "The fee is $5."}]}
    code = (
        "import sys, json\nfrom entailgrid import Verifier\n"
        f"with Verifier(threads=1) as verifier:\n    report = verifier.verify(json.loads({json.dumps(trace)!r}))\n"
        "print(report.decision, [name for name in sys.modules if name in ('torch', 'transformers', 'optimum')])"
    )
    assert python(code) == "allow []\n"
