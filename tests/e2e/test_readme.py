"""The README's example runs and prints what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def test_the_example_prints_what_the_readme_shows() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    shown = re.search(r"prints\n\n```\n(.*?)```", README, re.DOTALL)
    assert code
    assert shown
    run = subprocess.run([sys.executable, "-c", code.group(1)], capture_output=True, text=True, check=True)
    assert run.stdout == shown.group(1)


def test_the_figures_are_those_of_the_results() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "readme_figures.py"
    code = f"import sys; sys.path.insert(0, {str(script.parent)!r}); import readme_figures; print(readme_figures.table())"
    table = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert table.strip() in README
