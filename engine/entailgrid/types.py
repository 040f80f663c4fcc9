"""The nouns of the contract: a trace goes in, a report comes out. Wire format and Python API are the same models."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

Decision = Literal["allow", "block", "abstain"]
Support = Literal["supported", "contradicted", "not_enough_evidence"]
Attribution = Literal[
    "correct",
    "wrong_source",
    "ambiguous",
    "uncited",
    "phantom_source",
    "error_source",
    "stale_source",
    "below_tier",
]
Quadrant = Literal["fact_right_source_right", "fact_right_source_wrong", "fact_wrong_source_right", "fact_wrong_source_wrong"]
Verdict = Literal["pass", "block", "abstain", "skip"]
CitationForm = Literal[
    "explicit", "bracket", "short_id", "tool", "markdown_link", "url", "footnote", "author_date", "prose", "unknown"
]
CitationStatus = Literal["resolved", "phantom", "unparsed"]
SourceStatus = Literal["ok", "error", "schema_mismatch", "stale", "empty"]
Tier = Literal["T0", "T1", "T2", "T3"]
Stakes = Literal["high", "normal", "low"]
LiteralKind = Literal[
    "number",
    "date",
    "time",
    "duration",
    "amount",
    "quantity",
    "percentage",
    "version",
    "identifier",
    "quotation",
]
LiteralStatus = Literal["match", "mismatch", "cannot_check"]
InputFormat = Literal["contract", "openai", "openai-responses", "anthropic", "cohere", "mcp"]

USER_MESSAGE = "user message"
"""Name of the sources that are a user's own words."""


def _iso(value: Any) -> Any:
    if isinstance(value, datetime) or (isinstance(value, str) and not value.strip().lstrip("+-").replace(".", "").isdigit()):
        return value
    raise ValueError("expected an ISO 8601 date and time such as 2026-10-02T14:05:00Z")


def _aware(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)


Timestamp = Annotated[datetime, BeforeValidator(_iso, json_schema_input_type=datetime), AfterValidator(_aware)]
"""ISO 8601; a time without an offset is taken as UTC."""


Seconds = Annotated[StrictInt, Field(ge=0)] | Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class EmbeddedResource(BaseModel):
    """The resource inside an MCP `resource` content block; other keys are kept as they came."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    uri: StrictStr | None = None
    mime_type: StrictStr | None = Field(None, validation_alias=AliasChoices("mime_type", "mimeType"))
    text: StrictStr | None = None


class ContentBlock(BaseModel):
    """One MCP content block (text, resource, resource_link, image, audio); other keys are kept as they came."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    type: StrictStr
    text: StrictStr | None = None
    mime_type: StrictStr | None = Field(None, validation_alias=AliasChoices("mime_type", "mimeType"))
    resource: EmbeddedResource | None = None

    @property
    def body(self) -> str:
        """The text that evidence offsets index: the block's own, or that of its embedded resource."""
        if self.text is not None:
            return self.text
        return (self.resource.text or "") if self.resource else ""


class Source(_Frozen):
    """One tool result (or message) that an answer may rest on."""

    id: StrictStr = Field(min_length=1)
    text: StrictStr | None = Field(None, description="Shorthand for one text content block.")
    content: tuple[ContentBlock, ...] = ()
    structured_content: Any = Field(None, validation_alias=AliasChoices("structured_content", "structuredContent"))
    is_error: StrictBool = Field(False, validation_alias=AliasChoices("is_error", "isError"))
    output_schema: dict[str, Any] | None = Field(
        None, validation_alias=AliasChoices("output_schema", "outputSchema"), description="JSON Schema of the result."
    )
    server: StrictStr | None = None
    tool: StrictStr | None = None
    arguments: dict[str, Any] | None = None
    fetched_at: Timestamp | None = None
    ttl_seconds: Seconds | None = None
    tier: Tier | None = None
    name: StrictStr | None = Field(None, description="How people call this source, e.g. 'account record'.")
    url: StrictStr | None = None
    confidence: StrictFloat | StrictInt | StrictStr | None = None
    source_chain: tuple[StrictStr, ...] = ()
    signature: StrictStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _drop_meta(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if key not in ("_meta", "gold")}
        return data

    @model_validator(mode="after")
    def _has_content(self) -> Source:
        given = {"text", "content", "structured_content"} & self.model_fields_set
        if not given or (given == {"text"} and self.text is None):
            raise ValueError("needs one of text, content, structured_content")
        if self.text is not None and self.content:
            raise ValueError("has both text and content; give one of them")
        return self

    @property
    def blocks(self) -> tuple[ContentBlock, ...]:
        """The content blocks, with the `text` shorthand expanded."""
        return self.content if self.text is None else (ContentBlock(type="text", text=self.text),)


class ExplicitCitation(_Frozen):
    """A citation given by half-open character offsets (code points) of the answer."""

    start: StrictInt = Field(ge=0)
    end: StrictInt = Field(ge=0)
    source_ids: tuple[StrictStr, ...]


class Trace(_Frozen):
    """An agent's answer with the sources that it had."""

    answer: StrictStr
    sources: tuple[Source, ...]
    id: StrictStr | None = None
    question: StrictStr | None = None
    answered_at: Timestamp | None = None
    citations: tuple[ExplicitCitation, ...] = Field(
        (), description="Explicit citations. Where there are none, citations are read from the answer."
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_meta(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if key not in ("_meta", "gold")}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Trace:
        seen: dict[str, int] = {}
        for index, source in enumerate(self.sources):
            if source.id in seen:
                raise ValueError(f"sources[{index}].id: {source.id!r} is already the id of sources[{seen[source.id]}]")
            seen[source.id] = index
        for index, citation in enumerate(self.citations):
            if not citation.start < citation.end <= len(self.answer):
                raise ValueError(
                    f"citations[{index}]: offsets {citation.start}..{citation.end} are not a span of the answer "
                    f"(0..{len(self.answer)} code points)"
                )
        return self


class Evidence(_Frozen):
    """Where a source supports or contradicts a claim: a span of a block's text, or a JSON Pointer."""

    source_id: str
    block: int | None = None
    start: int | None = None
    end: int | None = None
    pointer: str | None = Field(None, description="RFC 6901, into structured_content.")
    text: str = Field(description="The evidence as the model read it.")
    probability: float


class LiteralReport(_Frozen):
    """One number, date, amount, identifier, ... of a claim, compared with a source."""

    text: str
    kind: LiteralKind
    status: LiteralStatus
    source_id: str | None = None
    found: str | None = Field(None, description="The differing value of the source, where there is one.")


class ClaimReport(_Frozen):
    id: str
    text: str = Field(description="The claim as it was scored.")
    start: int
    end: int
    support: Support | None
    attribution: Attribution | None
    quadrant: Quadrant | None
    verdict: Verdict
    probability: float | None = Field(description="That the claim is true and rightly attributed.")
    cited: tuple[str, ...] = ()
    supported_by: tuple[Evidence, ...] = ()
    contradicted_by: tuple[Evidence, ...] = ()
    literals: tuple[LiteralReport, ...] = ()
    reason: str | None = Field(None, description="Why the claim is skipped or not verified.")


class CitationReport(_Frozen):
    start: int
    end: int
    form: CitationForm
    source_ids: tuple[str, ...]
    status: CitationStatus


class SourceReport(_Frozen):
    id: str
    sha256: str
    status: SourceStatus
    reason: str | None = None


class Coverage(_Frozen):
    pairs_scored: int
    pairs_from_cache: int
    pairs_skipped: int
    tokens_unscored: int


class Timing(_Frozen):
    total: float
    queue: float
    inference: float


class ModelReport(_Frozen):
    router: str
    nli: str
    calibration: str
    profile: str


class Report(_Frozen):
    """The verdict on one trace. Two reports are equal when `Report.same_as` says so."""

    trace_id: str
    decision: Decision
    reasons: tuple[str, ...]
    claims: tuple[ClaimReport, ...]
    citations: tuple[CitationReport, ...]
    sources: tuple[SourceReport, ...]
    coverage: Coverage
    timing_ms: Timing
    model: ModelReport

    def same_as(self, other: Report, tolerance: float = 1e-4) -> bool:
        """Equality of the contract: all but timing and where scores came from; probabilities within `tolerance`."""
        return _close(_comparable(self), _comparable(other), tolerance)


def _comparable(report: Report) -> dict[str, Any]:
    data = report.model_dump(exclude={"timing_ms"})
    del data["coverage"]["pairs_scored"], data["coverage"]["pairs_from_cache"]
    return data


def _close(left: Any, right: Any, tolerance: float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return abs(left - right) <= tolerance
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_close(left[key], right[key], tolerance) for key in left)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(_close(a, b, tolerance) for a, b in zip(left, right, strict=True))
    return bool(left == right)


class GoldClaim(_Frozen):
    """A labelled claim; a `None` field is not scored."""

    text: str | None = None
    start: StrictInt
    end: StrictInt
    support: Support | None = None
    attribution: Attribution | None = None
    source_ids: tuple[str, ...] | None = Field(None, description="The sources that truly support the claim.")


class Gold(_Frozen):
    """The labels of a trace, under its key `gold`."""

    decision: Decision | None = None
    claims: tuple[GoldClaim, ...] = ()
    tags: tuple[str, ...] = ()
