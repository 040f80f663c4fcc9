"""`python -m entailgrid.schemas [FOLDER]`: write the JSON Schemas of the contract."""

from __future__ import annotations

import sys
from pathlib import Path

from entailgrid.schemas import FOLDER, write_schemas

if __name__ == "__main__":
    for path in write_schemas(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER):
        print(path)
