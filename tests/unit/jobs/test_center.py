"""The job ``center`` says where the axis is, and passes on what is wrong."""

import pytest

from runner.errors import MissingFileError, UsageError
from runner.jobs.center import run


def test_it_prints_position_and_evidence(shared_data, capsys):
    assert run((str(shared_data / "scans/savu24737_nxtomo.nx"), "--bands", "3")) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines] == [
        "rotation", "spread", "confidence", "method", "pairs", "rows", "rows", "rows"
    ]  # fmt: skip
    assert 85.5 <= float(lines[0][2]) <= 86.25
    assert lines[4][1:4] == ["1,", "from", "-88.20"]
    assert [line[1] for line in lines[5:]] == ["0:16", "60:76", "119:135"]


@pytest.mark.parametrize("args", [(), ("a.nx", "--bandz", "3"), ("a.nx", "--bands", "0")])
def test_wrong_usage_is_ours_to_say(args):
    with pytest.raises(UsageError, match="see center --help"):
        run(args)


def test_errors_of_the_scan_pass_through(tmp_path):
    with pytest.raises(MissingFileError):
        run((str(tmp_path / "none.nx"),))
