"""A command with an option for every setting, which finds what is wrong with them as it is read."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from runner.errors import UsageError
from runner.jobs.settings_options import themes
from runner.tomo.series.entries import entries_of
from runner.tomo.settings import NAMES, PLACES, ConfigFile, load_settings, read_config

_FILE = click.Path(path_type=Path, readable=False)  # what cannot be read, we say better than click


class SettingsCommand(click.Command):
    """A command that takes a scan, a volume and all settings, from the command line and from a file.

    Its function is called with ``scan``, ``volume`` and ``settings``, beside what is its own; with ``notes``
    on the file of settings; with ``init``, a file to write them into in place of a volume, or None; and with
    ``entries``, where SCAN is a table or there are several.
    """

    def __init__(self, name: str, *, params: list[click.Parameter], **attributes: Any) -> None:
        self._themes = themes()
        places = [click.Argument([name], type=_FILE, required=False) for name in PLACES]
        more = click.Argument(["more"], type=_FILE, nargs=-1)
        config = click.Option(
            ["--config"],
            type=_FILE,
            help="File with any of these settings, scan and volume: TOML, or nabu.conf, tomocupy.conf or "
            "tomopy.conf. The command line goes before it.",
        )
        init = click.Option(
            ["--init"],
            is_flag=True,
            help="Write all settings, with remarks and what SCAN says of them, and stop: into [recon.toml], "
            "which may be named in place of VOLUME.",
        )
        settings = [option for options in self._themes.values() for option in options]
        super().__init__(name, params=[*places, more, init, config, *params, *settings], **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the settings together.

        Raises
        ------
        UsageError, MissingFileError
            If the file, or a setting, is not right.
        """
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # that is for completion in a shell, which runs nothing
            _put_together(ctx.params)
            self._ask_for_what_is_missing(ctx)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options by what they are about, those of this command first."""
        of_settings = [option for options in self._themes.values() for option in options]
        own = [
            option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and option not in of_settings
        ]
        for theme, options in {"This command": own, **self._themes}.items():
            records = [record for option in options if (record := option.get_help_record(ctx))]
            with formatter.section(theme):
                formatter.write_dl(records)

    def _ask_for_what_is_missing(self, ctx: click.Context) -> None:
        for parameter in self.params:
            name = str(parameter.name)
            without = name == "volume" and (ctx.params["init"] or ctx.params["entries"])
            if name in PLACES and ctx.params[name] is None and not without:
                raise click.MissingParameter(ctx=ctx, param=parameter)


def _put_together(params: MutableMapping[str, Any]) -> None:
    """Replace the single settings, and the file that holds others, by ``settings``."""
    params["init"] = (params.pop("volume") or Path("recon.toml")) if params["init"] else None
    path = params.pop("config")
    file = ConfigFile() if path is None else read_config(path)
    given = {name: value for name in NAMES if (value := params.pop(name)) is not None}
    places = {name for name in PLACES if params.get(name, params["init"])}  # --init needs no volume
    params["settings"] = load_settings(_usable(file, {*given, *places}), given)
    params["notes"] = file.notes
    params["scan"] = params["scan"] or file.scan
    params["volume"] = params.get("volume") or file.volume
    more, several = params.pop("more"), params["scan"] is not None and params["init"] is None
    params["entries"] = (
        entries_of(params["scan"], params["volume"], more, params["settings"]) if several else ()
    )


def _usable(file: ConfigFile, given: Collection[str]) -> ConfigFile:
    """Refuse what another program's file asks for and is not done here: all of it, a line each."""
    refusals = file.refusals(given)
    if len(refusals) == 1:
        raise UsageError(refusals[0])
    for why in refusals:
        click.echo(why, err=True)
    if refusals:
        raise UsageError(f"{file.path} asks for {len(refusals)} things that are not done here", "see above")
    return replace(file, refused={})
