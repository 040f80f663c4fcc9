"""JSON as records: one segment an object, `title. key: value | key: value`, with the span or JSON Pointer of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from entailgrid.evidence.passages import bounded
from entailgrid.evidence.premise import MAX_CHARS, MAX_KEY, Field, Segment, short_title, words_of
from entailgrid.evidence.structured import Node, leaf_text
from entailgrid.language import sentences

_IDENTITY = re.compile(r"(?:^|_)(?:id|name|number|code|title|key|sku|symbol|slug)$|^(?:date|year|month|quarter|version)$")


def tree_segments(root: Node, title: str, text: str | None) -> list[Segment]:
    segments = list(_record_segments(root, [], title, text))
    if not segments:
        return [_leafless(root, title, text)]
    return segments


def _leafless(root: Node, title: str, text: str | None) -> Segment:
    """An empty object or array: evidence that there are no results."""
    return _at(Segment(-1, f"{title or 'result'}: no results, none found, empty list", count=0), root, text)


def _at(segment: Segment, node: Node, text: str | None) -> Segment:
    if text is None:
        return replace(segment, pointer=node.pointer)
    return replace(segment, start=node.start, end=node.end)


def _record_segments(node: Node, path: list[str], title: str, text: str | None) -> Iterator[Segment]:
    """One segment an object (its own scalars), then those of its children under its identity."""
    if node.is_leaf:
        yield from _field_groups([(path[-1] if path else "value", node)], path[:-1], title, text)
        return
    members = node.members or []
    scalars = [(key, child) for key, child in members if child.is_leaf]
    nested = [(key, child) for key, child in members if not child.is_leaf]
    if node.is_array:
        yield from _array_segments(node, scalars, nested, path, title, text)
        return
    if path and not members:
        yield _at(Segment(-1, f"{short_title([title, *path])}: none, empty", count=0, record=title), node, text)
    identity = [f"{words_of(key)} {leaf_text(child)}" for key, child in scalars if _IDENTITY.search(key)][:3]
    yield from _field_groups(scalars, path, title, text)
    below = short_title([title, *path] if not identity else [*path, *identity])
    for key, child in nested:
        yield from _record_segments(child, [words_of(key)], below, text)


def _array_segments(
    node: Node,
    scalars: list[tuple[str, Node]],
    nested: list[tuple[str, Node]],
    path: list[str],
    title: str,
    text: str | None,
) -> Iterator[Segment]:
    name = path[-1][:MAX_KEY] if path else "items"
    yield from _scalar_groups(node, scalars, name, short_title([title, *path[:-1]]), text)
    if not node.members:
        yield _at(Segment(-1, f"{short_title([title, *path])}: none, empty list, 0", count=0, record=title), node, text)
    for number, (_, child) in enumerate(nested):
        label = [*path[:-1], f"{name} {number + 1}"] if len(nested) > 1 else path
        yield from _record_segments(child, label, title, text)
    if len(nested) > 1:
        summary = f"{short_title([title, *path[:-1]])}. {name}: {len(nested)} in total"
        yield _at(Segment(-1, summary, count=len(nested), record=title), node, text)


def _scalar_groups(node: Node, scalars: list[tuple[str, Node]], name: str, head: str, text: str | None) -> Iterator[Segment]:
    """Premises `title. name: value; value` of at most twelve members and `MAX_CHARS`; a long member stands alone."""
    group: list[Node] = []
    length = 0
    for _, child in scalars:
        size = len(leaf_text(child)) + 2
        long = size > MAX_CHARS // 2
        if group and (long or len(group) == 12 or length + size > MAX_CHARS):
            yield _scalar_group(node, group, name, head, text)
            group, length = [], 0
        if long:
            yield from _long_field(name, child, head, text)
        else:
            group.append(child)
            length += size
    if group:
        yield _scalar_group(node, group, name, head, text)


def _scalar_group(node: Node, group: list[Node], name: str, head: str, text: str | None) -> Segment:
    body = f"{name}: {'; '.join(leaf_text(child) for child in group)}"
    fields = tuple(_field(name, child, text) for child in group)
    segment = Segment(-1, f"{head}. {body}" if head else body, fields=fields, record=head, count=len(node.members or []))
    if text is None:
        return replace(segment, pointer=node.pointer)
    return replace(segment, start=group[0].start, end=group[-1].end)


def _field(key: str, node: Node, text: str | None) -> Field:
    if text is None:
        return Field(key, leaf_text(node), node.pointer, None, None)
    return Field(key, leaf_text(node), None, node.start, node.end)


def _field_groups(scalars: list[tuple[str, Node]], path: list[str], title: str, text: str | None) -> Iterator[Segment]:
    """Premises `title. key: value | key: value` of at most `MAX_CHARS`, each repeating the record's identity."""
    identity = [(key, child) for key, child in scalars if _IDENTITY.search(key)][:2]
    head = short_title([title, *path])
    group: list[tuple[str, Node]] = []
    for key, child in scalars:
        if len(leaf_text(child)) > MAX_CHARS // 2 or len(key) > MAX_KEY:
            yield from _long_field(key, child, head, text)
        elif group and _length([*group, (key, child)]) > MAX_CHARS - min(len(head), 160):
            yield _group_segment(group, head, text)
            group = [*(item for item in identity if item[0] != key), (key, child)]
        else:
            group.append((key, child))
    if group:
        yield _group_segment(group, head, text)


def _length(group: list[tuple[str, Node]]) -> int:
    return sum(len(key) + len(leaf_text(child)) + 5 for key, child in group)


def _group_segment(group: list[tuple[str, Node]], head: str, text: str | None) -> Segment:
    body = " | ".join(f"{words_of(key)}: {leaf_text(child)}" for key, child in group)
    fields = tuple(_field(words_of(key), child, text) for key, child in group)
    segment = Segment(-1, f"{head}. {body}" if head else body, fields=fields, record=head)
    if text is None:
        pointer = group[0][1].pointer if len(group) == 1 else group[0][1].pointer.rpartition("/")[0]
        return replace(segment, pointer=pointer)
    spans = [child for _, child in group]
    return replace(segment, start=min(node.start for node in spans), end=max(node.end for node in spans))


def _long_field(key: str, node: Node, head: str, text: str | None) -> Iterator[Segment]:
    """A long text inside a record: its own sentences, under the record's title. Offsets name the whole field."""
    body = leaf_text(node)
    label = f"{words_of(key)}: " if key else ""
    if len(key) > MAX_KEY:
        body, label = label + body, ""
    field = _field(words_of(key), node, text)
    for span in bounded(body, sentences(body)):
        piece = body[span.start : span.end]
        yield _at(Segment(-1, f"{head}. {label}{piece}" if head else label + piece, fields=(field,), record=head), node, text)
