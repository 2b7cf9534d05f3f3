"""The page on files of other programs says of every key what the code does with it."""

import re
from pathlib import Path

import pytest

from runner.tomo.settings import NAMES, PLACES
from runner.tomo.settings.others import aps, nabu

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "from_nabu.md").read_text()
PARTS = re.split(r"^## ", PAGE, flags=re.MULTILINE)
PROGRAMS = [pytest.param(PARTS[1], nabu, id="nabu"), pytest.param(PARTS[2], aps, id="aps")]


def words(text):
    return re.findall(r"`([\w.-]+)`", text)


@pytest.mark.parametrize(("part", "program"), PROGRAMS)
def test_what_is_taken_over_is_in_its_table(part, program):
    rows = re.findall(r"^\| (`.+?) \| (`.+?) \| .*\|$", part, re.MULTILINE)
    listed = {tuple(words(keys)): tuple(words(settings)) for keys, settings in rows}
    assert listed == {tuple(rule.keys): rule.becomes for rule in program.RULES if rule.becomes}
    assert {name for settings in listed.values() for name in settings} <= {*NAMES, *PLACES}


@pytest.mark.parametrize(("part", "program"), PROGRAMS)
def test_all_else_is_in_its_list(part, program):
    fixed, needless = re.split(r"^Passed over: ", part, flags=re.MULTILINE)
    known = {key for rule in program.RULES for key in rule.keys}
    only = {key for rule in program.RULES if not rule.becomes and not rule.needless for key in rule.keys}
    passed = {key for rule in program.RULES if rule.needless for key in rule.keys}
    listed = known & set(words(fixed.partition("Fine where")[2]))
    assert listed == only
    assert known & set(words(needless)) == passed - (
        {*program.DETAILS} - {"logs-home"} if program is aps else set()
    )
