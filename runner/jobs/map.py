"""The job ``map``: call a function with each of many arguments, and keep every result."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from runner.errors import MissingFileError, UsageError
from runner.jobs.commands import run_command

_FILE = click.Path(path_type=Path, readable=False)  # what cannot be read, we say better than click


@click.command("map")
@click.argument("function", metavar="MODULE:FUNCTION")
@click.argument("arguments", type=_FILE)
@click.option("--name", required=True, help="Of the map; its folder is maps/NAME, or in RUNNER_MAPS.")
@click.option("--chunk", type=click.IntRange(1), help="Components handed out together.  [by their time]")
@click.option(
    "--on-error",
    type=click.Choice(("continue", "stop")),
    default="continue",
    show_default=True,
    help="Whether others are begun when one has failed.",
)
@click.option("--cluster-per-component", is_flag=True, help="Each component may use the whole cluster.")
@click.option(
    "--changed",
    type=click.Choice(("keep", "redo")),
    help="What becomes of results of a function or an argument that has changed.  [stop]",
)
def command(*, function: str, arguments: Path, name: str, **options: Any) -> None:
    """Call FUNCTION of MODULE with each of ARGUMENTS, and keep every result in the folder of the map.

    ARGUMENTS is a file: .txt has a text in each line, .jsonl a value of JSON, .csv a row after the line of
    names (the function gets a dict). The same command again goes on: what is done stays, what failed is tried
    again. Leaves with 1 if a component failed, with 75 if the time was over before all was done.
    """
    from runner.jobs.resume import finish
    from runner.maps.by_name import load_function
    from runner.maps.make import prepare

    finish(prepare(load_function(function), read_arguments(arguments), name=name, **options))


def run(args: tuple[str, ...]) -> int:
    """Run the job with arguments as on the command line.

    Raises
    ------
    RunnerError
        What the user has to mend.
    """
    return run_command(command, args)


def check(given: Mapping[str, Any]) -> None:
    """Find now what would be found when the cluster is up.

    Raises
    ------
    MissingFileError, UsageError
        If there is no such function, or the arguments cannot be read.
    """
    from runner.maps.by_name import check_function
    from runner.maps.layout import check_name

    check_name(given["name"])
    check_function(given["function"], (str(Path.cwd()), *sys.path))  # as the client will look for it
    read_arguments(given["arguments"])


def read_arguments(path: Path) -> list[Any]:
    """Read a file of arguments, by its ending: ``.txt``, ``.jsonl`` or ``.csv``.

    Raises
    ------
    MissingFileError
        If it is not there.
    UsageError
        If it is of another kind, or a line cannot be read.
    """
    try:
        text = path.read_text()
    except OSError as error:
        raise MissingFileError(f"{path} cannot be read ({error.strerror})") from error
    if path.suffix == ".txt":
        return [line for line in text.splitlines() if line.strip()]
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines()))
    if path.suffix == ".jsonl":
        return [_value(line, f"{path}:{number}") for number, line in enumerate(text.splitlines(), 1) if line]
    raise UsageError(f"{path} is no file of arguments", "name one that ends with .txt, .jsonl or .csv")


def _value(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where} is no JSON ({error})", "write one value in each line") from error
