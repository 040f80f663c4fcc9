"""pydantic's findings as one clear line: the path, what was found and what was expected."""

from __future__ import annotations

import difflib
import re
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, ValidationError

from entailgrid.errors import InvalidTrace
from entailgrid.provenance.json_text import describe, join_path, quote

Model = TypeVar("Model", bound=BaseModel)

_LEADING_PATH = re.compile(r"((?:[a-z_]+(?:\[\d+\])?)(?:\.[a-z_]+(?:\[\d+\])?)*): (.*)", re.DOTALL)
_EXPECTED = re.compile(r"^(?:Input|Value) should be ")
_LONGEST_PROBLEM = 300


def validate(model: type[Model], data: object, where: str = "") -> Model:
    """`data` as a `model`. Raises `InvalidTrace` for the first of its problems (a misspelt key before what it
    leaves missing), `where` before its path."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _translate(error, model, data, where) from None


def prefix_path(where: str, path: str) -> str:
    """The path of something inside `where`."""
    return f"{where}{path}" if not where or path.startswith("[") or not path else f"{where}.{path}"


def _translate(error: ValidationError, model: type[BaseModel], data: object, where: str) -> InvalidTrace:
    found = sorted(error.errors(include_url=False), key=lambda item: item["type"] == "missing")
    parts, container = _locate(data, found[0]["loc"])
    path, problem = join_path(parts), _problem(found[0], parts, container, model)
    stated = _LEADING_PATH.fullmatch(problem) if found[0]["type"] == "value_error" else None
    if stated:
        inner, problem = stated.groups()
        path = prefix_path(path, inner)
    if len(problem) > _LONGEST_PROBLEM:
        problem = problem[: _LONGEST_PROBLEM - 1] + "…"
    places = {join_path(_locate(data, item["loc"])[0]) for item in found}
    more = len(places) - 1
    if more:
        problem += f" (and {more} more problem{'s' if more > 1 else ''})"
    return InvalidTrace(problem, prefix_path(where, path))


def _locate(data: object, location: tuple[str | int, ...]) -> tuple[list[str | int], object]:
    """The path that exists in `data` (pydantic appends the names of union branches), and the innermost container."""
    parts: list[str | int] = []
    container: object = None
    cursor = data
    for step in location:
        if isinstance(cursor, dict) and isinstance(step, str):
            container, cursor = cursor, cursor.get(step)
        elif isinstance(cursor, list | tuple) and isinstance(step, int):
            container, cursor = cursor, cursor[step] if step < len(cursor) else None
        else:
            break
        parts.append(step)
    return parts, container


def _problem(item: Any, parts: list[str | int], container: object, model: type[BaseModel]) -> str:
    kind, message = item["type"], str(item["msg"])
    if kind == "missing":
        return "missing; it is required"
    if kind == "extra_forbidden":
        return _unknown_key(str(parts[-1]), container, _model_at(model, parts[:-1]))
    if kind == "value_error":
        return str(item["ctx"]["error"])
    if kind in ("model_type", "dict_type"):
        message = "expected an object"
    elif kind in ("tuple_type", "list_type"):
        message = "expected a list"
    elif kind == "string_too_short":
        message = "expected text that is not empty"
    else:
        message = _EXPECTED.sub("expected ", message)
    return f"{message}, found {describe(item['input'])}"


def _unknown_key(key: str, container: object, model: type[BaseModel] | None) -> str:
    names = _spellings(model) if model else {}
    if key in names:
        others = [quote(name) for name in names if name != key and names[name] == names[key] and _has(container, name)]
        return f"given twice, also as {' and '.join(others)}"
    close = difflib.get_close_matches(key, names, n=1)
    hint = f"did you mean {quote(close[0])}?" if close else f"known keys: {', '.join(dict.fromkeys(names.values()))}"
    return f"unknown key {quote(key)}; {hint}"


def _has(container: object, key: str) -> bool:
    return isinstance(container, dict) and key in container


def _spellings(model: type[BaseModel]) -> dict[str, str]:
    """Every accepted spelling of a key, with the name of its field."""
    names: dict[str, str] = {}
    for name, field in model.model_fields.items():
        names[name] = name
        if isinstance(field.validation_alias, AliasChoices):
            names.update({str(choice): name for choice in field.validation_alias.choices})
    return names


def _model_at(model: type[BaseModel], parts: list[str | int]) -> type[BaseModel] | None:
    """The model that describes the container at `parts`, e.g. `Source` for `sources[0]`."""
    current: type[BaseModel] | None = model
    for step in parts:
        if current is None or isinstance(step, int):
            continue
        field = current.model_fields.get(_spellings(current).get(step, step))
        current = _model_in(field.annotation) if field else None
    return current


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if found := _model_in(inner):
            return found
    return None
