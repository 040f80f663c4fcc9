"""What a deployment demands of sources and claims, as one TOML file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from entailgrid.errors import InvalidTrace
from entailgrid.types import Source, Tier


class Policy(BaseModel):
    """`uncited`: what a supported claim without citation gets. `tiers`: by `server` or `server/tool`; a trace's own
    tier stands where the policy names none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    uncited: Literal["pass", "flag", "block"] = "flag"
    tiers: dict[str, Tier] = {}

    def tier_of(self, source: Source) -> Tier | None:
        for key in (f"{source.server}/{source.tool}", source.server):
            if key and key in self.tiers:
                return self.tiers[key]
        return source.tier


def load_policy(path: Path) -> Policy:
    """The policy in a TOML file; InvalidTrace names the file, the field and what was expected."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidTrace(f"cannot be read: {error.strerror or error}", str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidTrace(f"not TOML: {error}", str(path)) from error
    try:
        return Policy.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidTrace(f"{place}: {first['msg']}", str(path)) from error


_RECOMMENDATION = re.compile(
    r"^(?:take|stop|start|use|avoid|continue|administer|give|apply|buy|sell|switch)\b|"
    r"\b(?:should|must|have to|need to|recommend(?:ed|s)?|advise[ds]?|always|never|safe to|do not|don['’]t)\b",
    re.IGNORECASE,
)


def may_back(tier: Tier | None, claim: str, *, named_in_prose: bool) -> bool:
    """Whether a source of `tier` may back a claim (rule 9): T3 never; T2 only a fact whose own sentence names the source."""
    if tier == "T3":
        return False
    if tier == "T2":
        return named_in_prose and not _RECOMMENDATION.search(claim)
    return True
