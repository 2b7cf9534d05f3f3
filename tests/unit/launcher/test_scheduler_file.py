"""The file for clients elsewhere: private, whole, and ours."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from runner.errors import MissingFileError, StartError, WriteError
from runner.launcher.scheduler_file import Invitation, SchedulerFile, read_invitation
from runner.launcher.security import Credentials

KEYS = Credentials(certificate="certificate", key="key")


@pytest.mark.parametrize("credentials", [KEYS, None])
def test_it_is_read_as_it_was_written_and_goes_at_the_end(
    tmp_path: Path, credentials: Credentials | None
) -> None:
    invitation = Invitation(address="tls://10.0.0.1:1234", credentials=credentials)
    path = tmp_path / "cluster.json"
    with SchedulerFile(path) as file:
        assert not path.exists()
        file.write(invitation)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert read_invitation(path) == invitation
    assert list(tmp_path.iterdir()) == []


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SchedulerFile(None) as file:
        file.write(Invitation(address="tcp://x:1", credentials=None))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="--scheduler-file"):
        SchedulerFile(tmp_path / "no" / "file").write(Invitation(address="tcp://x:1", credentials=None))


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "{}", '{"address": 1, "credentials": {"key": 2}}'])
def test_something_else_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(StartError, match="is no scheduler file"):
        read_invitation(path)


@pytest.mark.parametrize(
    ("mode", "credentials"), [(0o644, KEYS), (0o660, KEYS), (0o666, None), (0o620, None)]
)
def test_a_file_that_others_may_read_or_write_is_refused(
    tmp_path: Path, mode: int, credentials: Credentials | None
) -> None:
    path = tmp_path / "file"
    path.write_bytes(Invitation(address="tcp://x:1", credentials=credentials).to_bytes())
    path.chmod(mode)
    with pytest.raises(StartError, match=f"with mode {mode:o}"):
        read_invitation(path)


def test_dasks_own_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(json.dumps({"type": "Scheduler", "id": "x", "address": "tcp://x:1", "workers": {}}))
    path.chmod(0o644)
    assert read_invitation(path) == Invitation(address="tcp://x:1", credentials=None)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="does the job run"):
        read_invitation(tmp_path / "none")
