"""What the command line writes: harmless text, consoles, problems on standard error, a progress bar for long work."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

WIDEST = 100
"""Columns; longer lines are hard to read."""

PROGRESS_AFTER = 2.0
"""Seconds of work before a progress bar shows."""

_UNSAFE = re.compile("\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """`text` with control characters, escapes and direction overrides made visible; line feeds and tabs stay."""
    return _UNSAFE.sub(_picture, text)


def one_line(text: str) -> str:
    """`text` as one harmless line."""
    return " ".join(visible(text).split())


def _picture(match: re.Match[str]) -> str:
    found = match.group()
    if found == "\r\n":
        return "\n"
    code = ord(found)
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class _PipedConsole(Console):
    """Leaves a closed pipe to the command line instead of ending the program on its own."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console_on(stream: TextIO) -> Console:
    """A console that colours only a terminal and never reads markup, emoji names or numbers into text."""
    if not (stream.encoding or "").lower().startswith("utf") and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    console = _PipedConsole(
        file=stream, force_terminal=stream.isatty(), highlight=False, markup=False, emoji=False, soft_wrap=False
    )
    console.width = min(console.width, WIDEST)
    return console


class Hanging:
    """Text wrapped behind a label, its further lines indented as far as the first; without trailing spaces."""

    def __init__(self, body: Text, first: str, style: str = "") -> None:
        self._body, self._first, self._style = body, first, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        indent = cell_len(self._first)
        label = Text(self._first, self._style)
        for line in self._body.wrap(console, max(options.max_width - indent, 10), overflow="fold"):
            line.rstrip()
            yield label + line if line.plain or label.plain.strip() else Text()
            label = Text(" " * indent)


def report_problem(message: str) -> None:
    """One line on standard error."""
    console = console_on(sys.stderr)
    console.print(Text.assemble(("error: ", "bold red"), one_line(message)), soft_wrap=True)


class Ticker:
    """A progress bar on standard error, there only on a terminal and once the work lasts `PROGRESS_AFTER` seconds."""

    def __init__(self, what: str, stream: TextIO) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn(what),
            BarColumn(bar_width=20),
            TextColumn("{task.completed:.0f} done{task.fields[note]}"),
            TimeElapsedColumn(),
            console=console_on(stream),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task(what, total=None, note="")
        self._lock = threading.Lock()
        self._timer = threading.Timer(PROGRESS_AFTER, self._show)
        self._timer.daemon = True
        self._shown = self._closed = False
        self._enabled = stream.isatty()

    def __enter__(self) -> Ticker:
        if self._enabled:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._shown:
                self._progress.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._closed:
                self._progress.start()
                self._shown = True

    def advance(self, note: str = "") -> None:
        self._progress.update(self._task, advance=1, note=f", {note}" if note else "")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Steps out of the way while something else writes to the terminal."""
        with self._lock:
            if self._shown:
                self._progress.stop()
            try:
                yield
            finally:
                if self._shown:
                    self._progress.start()
