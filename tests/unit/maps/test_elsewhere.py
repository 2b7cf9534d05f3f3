"""What another interpreter tells of a function and its arguments, and what it keeps from us."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.errors import UsageError
from runner.maps import elsewhere
from runner.maps.component import Work
from runner.maps.elsewhere import check_elsewhere, describe_from_afar
from runner.maps.layout import Layout
from runner.maps.record import Component, read_record
from tests.unit.maps.made import made


class Deadly:
    """Ends the process of whoever opens its pickle."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os._exit, (0,)


def one_of(folder: Path, argument: object) -> tuple[Work, Component]:
    layout = made(folder, len, [argument])
    record = read_record(layout)
    return Work.of(layout, record), record.components[0]


@pytest.mark.parametrize(("argument", "text"), [({"scan": "a.nx"}, "{'scan': 'a.nx'}"), (Deadly(), "")])
def test_the_argument_of_a_component_that_killed_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: object, text: str
) -> None:
    monkeypatch.setattr(elsewhere, "_TELL_SECONDS", 100.0)  # the machine may be busy
    work, component = one_of(tmp_path, argument)
    Layout(work.folder).log(component.key).write_text("its last words\n")
    failure = describe_from_afar(work, component, "it died", seconds=1.0, worker="w")
    assert (failure.error, failure.host, failure.pid, failure.log) == ("it died", "", 0, "its last words")
    assert failure.argument == text


def test_what_can_be_loaded_and_what_not(tmp_path: Path) -> None:
    work, component = one_of(tmp_path, "text")
    check_elsewhere(work, component, "builtins:len")
    (tmp_path / "scan42" / work.inputs.name).write_bytes(b"no pickle")
    with pytest.raises(UsageError, match="another process cannot load builtins:len or its argument"):
        check_elsewhere(work, component, "builtins:len")
