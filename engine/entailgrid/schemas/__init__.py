"""JSON Schemas of the contract, generated from the models: `python -m entailgrid.schemas` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel

from entailgrid.types import ContentBlock, EmbeddedResource, Report, Source, Trace

FOLDER = Path(__file__).parent
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def trace_schema() -> dict[str, Any]:
    """What `parse_trace` accepts, the MCP spellings and the ignored `_meta` and `gold` among it."""
    schema = Trace.model_json_schema(mode="validation")
    definitions = schema["$defs"]
    for model in (Source, ContentBlock, EmbeddedResource):
        _add_spellings(model, definitions[model.__name__])
    for part in (schema, definitions["Source"]):
        part["properties"].update({"_meta": {"description": "Ignored."}, "gold": {"description": "Ignored here."}})
    contents = ("text", "content", "structured_content", "structuredContent")
    definitions["Source"]["anyOf"] = [{"required": [name]} for name in contents]
    return {"$schema": DIALECT, **schema}


def report_schema() -> dict[str, Any]:
    """What a report looks like as JSON."""
    return {"$schema": DIALECT, **Report.model_json_schema(mode="serialization")}


def schema_texts() -> dict[str, str]:
    """The files of this folder, by name."""
    schemas = {"trace.schema.json": trace_schema(), "report.schema.json": report_schema()}
    return {name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas.items()}


def write_schemas(folder: Path = FOLDER) -> list[Path]:
    """Write the schemas into `folder` and return their paths."""
    paths = []
    for name, text in schema_texts().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _add_spellings(model: type[BaseModel], schema: dict[str, Any]) -> None:
    for name, field in model.model_fields.items():
        if isinstance(field.validation_alias, AliasChoices):
            described = schema["properties"][name]
            schema["properties"].update({str(choice): described for choice in field.validation_alias.choices})
