"""The command line: `entailgrid verify`, and the exit statuses of all commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn, get_args

import click

from entailgrid import __version__
from entailgrid.errors import EntailgridError
from entailgrid.types import InputFormat, Stakes

ALLOWED, BLOCKED, ABSTAINED, FAILED = 0, 1, 2, 3
INTERRUPTED = 130
OUTPUT_CLOSED = 141
"""As a shell reports a program that SIGPIPE ended."""

STORES = "lmdb:PATH or redis://HOST:PORT/DB"
PROFILES = ("balanced", "strict", "precise")


class _Commands(click.Group):
    """Ends quietly when the reader of standard output is gone."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(OUTPUT_CLOSED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="entailgrid", message="%(prog)s %(version)s")
def cli() -> None:
    """Checks each claim of an agent's answer: is it supported, and by the very source that it cites?"""


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that `verify` and `eval` share."""
    options = [
        click.option("--policy", metavar="FILE", help="TOML file: trust tiers of servers, what an uncited claim gets."),
        click.option("--model", default="embedded", metavar="NAME", help="embedded, or a folder of `models export`."),
        click.option("--backend", type=click.Choice(["onnx-cpu"]), default="onnx-cpu", show_default=True),
        click.option("--threads", type=click.IntRange(min=1), help="Model threads; default: the physical cores."),
        click.option("--cache", default="memory", show_default=True, metavar="CACHE", help=f"memory, {STORES}, or none."),
        click.option("--profile", type=click.Choice(PROFILES), default="balanced", show_default=True),
        click.option("--budget-ms", type=click.FloatRange(min=0, min_open=True), help="Time for each answer."),
        click.option("--stakes", type=click.Choice(get_args(Stakes)), default="normal", show_default=True),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@click.option("--json", "as_json", is_flag=True, help="One JSON report a line on standard output, and nothing else.")
@click.option("--from", "format", type=click.Choice(get_args(InputFormat)), help="Input format; default: detected.")
@click.option("--answer", "answer_file", metavar="FILE", help="The answer, where the input carries none.")
@engine_options
def verify(traces: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Verify answers: one trace a .json file, one a line of a .jsonl file (.gz too), - for standard input.

    Exit status: 0 every answer allowed, 1 at least one blocked, 2 at least one abstained and none blocked, 3 bad input
    or a failed run.
    """
    from entailgrid.doors.verifying import run_verify

    sys.exit(run_verify(traces, options, as_json=as_json))


@cli.command("eval")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="The metrics as one JSON object.")
@engine_options
def evaluate(files: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Measure verdicts on traces that carry gold labels (key `gold`).

    Exit status: 0 when it ran, 3 on bad input.
    """
    from entailgrid.doors.evaluating import run_eval

    sys.exit(run_eval(files, {**options, "format": None, "answer_file": None}, as_json=as_json))


@cli.group()
def models() -> None:
    """The models: what ships, and how to export others."""


@models.command("list")
@click.option("--json", "as_json", is_flag=True, help="A JSON list.")
def list_models(*, as_json: bool) -> None:
    """List the models that ship with the package."""
    from entailgrid.doors.modelling import run_list

    run_list(as_json=as_json)


@models.command("export")
@click.argument("source")
@click.argument("out")
@click.option("--dtype", type=click.Choice(["float32", "int8"]), default="float32", show_default=True)
@click.option("--task", type=click.Choice(["classification", "embedding"]), default="classification", show_default=True)
def export_model(source: str, out: str, *, dtype: str, task: str) -> None:
    """Write the checkpoint folder SOURCE as ONNX into the folder OUT (needs the extra `export`)."""
    from entailgrid.doors.modelling import run_export

    run_export(source, out, dtype=dtype, task=task)


@cli.group()
def cache() -> None:
    """The entailment cache that `--cache lmdb:PATH` or `--cache redis://…` keeps."""


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of every `cache` command."""
    command = click.option("--json", "as_json", is_flag=True, help="One JSON object.")(command)
    where = click.option("--cache", "spec", required=True, metavar="CACHE", help=f"{STORES}.")
    return where(command)


@cache.command("stats")
@store_options
def cache_stats(spec: str, *, as_json: bool) -> None:
    """How many entries and bytes the store holds."""
    from entailgrid.doors.caching import run_stats

    run_stats(spec, as_json=as_json)


@cache.command("forget")
@click.argument("outputs", nargs=-1, required=True, metavar="SHA256...")
@store_options
def cache_forget(outputs: tuple[str, ...], spec: str, *, as_json: bool) -> None:
    """Remove everything derived from tool outputs, named by `sources[].sha256` of a report."""
    from entailgrid.doors.caching import run_forget

    run_forget(spec, outputs, as_json=as_json)


@cache.command("clear")
@store_options
def cache_clear(spec: str, *, as_json: bool) -> None:
    """Remove everything."""
    from entailgrid.doors.caching import run_clear

    run_clear(spec, as_json=as_json)


@cache.command("verify")
@store_options
def cache_verify(spec: str, *, as_json: bool) -> None:
    """Check every entry against its checksum and remove what is damaged.

    Exit status: 0 no damage, 1 damage found, 3 store out of reach.
    """
    from entailgrid.doors.caching import run_verify

    sys.exit(run_verify(spec, as_json=as_json))


def main() -> NoReturn:
    """The entry point. Every problem is one line on standard error."""
    try:
        sys.exit(cli.main(prog_name="entailgrid", standalone_mode=False) or ALLOWED)
    except click.Abort:
        sys.exit(INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(FAILED)
    except click.UsageError as error:
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        _fail(f"{error.format_message()}{hint}")
    except click.ClickException as error:
        _fail(error.format_message())
    except EntailgridError as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    from entailgrid.doors.console import report_problem

    report_problem(message)
    sys.exit(FAILED)
