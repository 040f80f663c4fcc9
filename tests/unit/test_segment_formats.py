"""Tables, CSV, HTML and Markdown as evidence with exact spans."""

from __future__ import annotations

import csv
import io
from html import escape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entailgrid.evidence.segment import MAX_CHARS
from reading_sources import TITLE_CHARS, segments, uncovered

CELLS = st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1, max_size=12).map(lambda cell: f"v{cell.strip()}")
TABLES = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=3, max_size=5)
)


def squeeze(text: str) -> str:
    return "".join(text.split())


@given(TABLES, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=80, deadline=None)
def test_csv_rows_are_segments_with_their_columns(rows: list[list[str]], delimiter: str, end: str) -> None:
    header = [f"col{number}" for number in range(len(rows[0]))]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=end).writerows([header, *rows])
    text = buffer.getvalue()
    found = segments(content=[{"type": "text", "text": text, "mimeType": "text/csv"}])
    assert uncovered(text, found) == ""
    table = [segment for segment in found if segment.fields]
    assert len(table) == len(rows)
    for row, segment in zip(rows, table, strict=True):
        assert next(csv.reader([text[segment.start : segment.end]], delimiter=delimiter)) == row
        assert [(field.key, squeeze(field.value)) for field in segment.fields] == [
            (name, squeeze(cell)) for name, cell in zip(header, row, strict=True)
        ] or any(not char.isascii() for cell in row for char in cell)


def test_csv_quoting_with_commas_quotes_and_line_breaks() -> None:
    text = 'name,note,price\n"Smith, J.","said ""yes""\nand left",12\nLee,none,13\n'
    table = [segment for segment in segments(text=text) if segment.fields]
    assert [[field.value for field in segment.fields] for segment in table] == [
        ["Smith, J.", 'said "yes"\nand left', "12"],
        ["Lee", "none", "13"],
    ]
    assert text[table[0].start : table[0].end] == '"Smith, J.","said ""yes""\nand left",12'


def test_a_long_csv_cell_is_not_lost() -> None:
    text = "id,note,price\n1," + "word " * 300 + "THE-END,12\n2,b,13\n3,c,14\n4,d,15\n5,e,16\n6,f,17\n7,g,18\n"
    found = segments(text=text)
    assert uncovered(text, found) == ""
    assert any("THE-END" in segment.text for segment in found)
    assert all(len(segment.text) <= MAX_CHARS + TITLE_CHARS for segment in found)
    page = text.replace("\n", "</td></tr><tr><td>").replace(",", "</td><td>")
    found = segments(text=f"<table><tr><td>{page}</td></tr></table>")
    assert any("THE-END" in segment.text for segment in found)
    assert all(len(segment.text) <= MAX_CHARS + TITLE_CHARS for segment in found)


@given(TABLES)
@settings(max_examples=80, deadline=None)
def test_markdown_table_rows_are_segments(rows: list[list[str]]) -> None:
    header = [f"col{number}" for number in range(len(rows[0]))]
    lines = [f"| {' | '.join(cells)} |" for cells in [header, ["---"] * len(header), *rows]]
    text = "Prices of the plans.\n\n" + "\n".join(lines) + "\n\nValid until May."
    found = segments(text=text)
    table = [segment for segment in found if segment.fields]
    assert [text[segment.start : segment.end] for segment in table] == lines[2:]
    assert [[field.key for field in segment.fields] for segment in table] == [header] * len(rows)
    assert set(uncovered(text, found)) <= set("|-")
    assert found[-1].text == "Valid until May."


def test_ragged_tables_keep_every_cell() -> None:
    text = "| a | b |\n|---|---|\n| 1 |\n| 2 | 3 | EXTRA |\n"
    shown = " ".join(segment.text for segment in segments(text=text))
    assert "EXTRA" in shown
    assert "1" in shown


def test_a_heading_goes_before_its_sentences() -> None:
    text = "# Refunds\nThe window is 30 days.\n\n## Seats\n- Premium has 12 seats.\n"
    found = segments(text=text)
    by_evidence = {text[segment.start : segment.end]: segment.text for segment in found}
    assert by_evidence["The window is 30 days."] == "Refunds: The window is 30 days."
    assert by_evidence["- Premium has 12 seats."].startswith("Seats: ")


PAGE = (
    "<html><head><title>Plans</title><style>p {color: red}</style></head><body>\n<h1>Refund&nbsp;policy</h1>\n"
    "<p>The <b>window</b> is 30&#32;days.<br>It starts at purchase.</p><script>var hidden = 1;</script>\n"
    "<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic</td><td>$5 &amp; tax</td></tr></table>"
    "<ul><li>First</li><li>Second</li></ul></body></html>"
)


def test_html_is_read_as_text_with_spans_into_the_markup() -> None:
    found = segments(text=PAGE)
    by_text = {segment.text: PAGE[segment.start : segment.end] for segment in found}
    assert "hidden" not in str(by_text)
    assert "color" not in str(by_text)
    window = next(evidence for text, evidence in by_text.items() if "30 days" in text)
    assert window == "The <b>window</b> is 30&#32;days."
    (row,) = [segment for segment in found if segment.fields]
    assert [(field.key, field.value) for field in row.fields] == [("plan", "Basic"), ("price", "$5 & tax")]
    assert PAGE[row.start : row.end].startswith("Basic")


@given(st.lists(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=20), min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_no_visible_text_of_html_is_lost(words: list[str]) -> None:
    text = "<html><body>" + "\n".join(f"<p>{escape(word)}</p>" for word in words) + "</body></html>"
    found = segments(text=text)
    assert [text[segment.start : segment.end] for segment in found] == [escape(word) for word in words] or sum(
        len(segment.text) for segment in found
    ) >= sum(map(len, words))
    kept = squeeze("".join(text[segment.start : segment.end] for segment in found))
    assert all(squeeze(escape(word)) in kept for word in words)


BROKEN: list[Any] = [
    "<html><body><p>Unclosed <b>bold text here", "<p>a</p><p>b<p>c < d and e > f</p>",
     "<table><td>1<td>2<tr><td>3</table>",
    "<html><!-- comment never closed <p>text</p>", "<html><script>never closed <p>text</p>",
     "<p>&#0; &#1114112; &bogus; &amp</p></p>",
    "<html><![CDATA[ x ]]><p>hello</p></html>", "<html><svg><title>t</title></svg></html>", "<div " * 50,
     "<html>\r\n<p>a\r\nb</p>",
    "<html><template>hidden<p>x</p></html>", "</p></p>tail", "<html><p>a\u2028b\x0cc</p></html>",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_broken_html_gives_valid_spans(text: str) -> None:
    for segment in segments(text=text):
        assert 0 <= (segment.start or 0) < (segment.end or 0) <= len(text)
