"""The tool ``runner rerun``: what failed of a map is done again, in a batch job as before."""

from __future__ import annotations

import click


@click.command(short_help="Submit again what failed of a map.")
@click.argument("name")
@click.argument("keys", nargs=-1)
def command(name: str, keys: tuple[str, ...]) -> int:
    """Do again what failed or was lost of the map NAME, or the components KEYS, as the map was made: in a
    batch job like the one before, or on this machine.

    What those components had is removed. A map that was made inside of a job has no batch job of its own: it
    is said which command does the components then, here or in a job.
    """
    from runner.errors import UsageError
    from runner.maps.map import open_map
    from runner.maps.status import describe

    opened = open_map(name)
    unknown = [key for key in keys if key not in opened.keys]
    if unknown:
        raise UsageError(f"map {opened.name} has no component {unknown[0]!r}", f"see: runner status {name}")
    if opened.record.job is None:
        click.echo(_what_now(name, len(opened.forget(keys or None))))
        return 0
    opened.rerun(keys or None)
    status = opened.status()
    click.echo(describe(opened.name, status))
    return 1 if status.state == "complete" and status.failed else 0


def _what_now(name: str, count: int) -> str:
    """Say how to do components of a map that was not made with a job."""
    if count == 0:
        return f"nothing is to be done of map {name}"
    what = "1 component is" if count == 1 else f"{count} components are"
    return "\n".join(
        (
            f"{what} to be done. The map was made inside of a job, and there is none to submit again:",
            f"  here and now:    runner resume {name}",
            f"  in a batch job:  runner submit --nodes 4 --time 2:00:00 resume {name}",
        )
    )
