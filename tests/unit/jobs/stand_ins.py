"""Commands of batch systems that cannot be had here, played by programs of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


class StandIns:
    """A folder of programs that is alone on the ``PATH``, with the shell's own.

    Parameters
    ----------
    folder : Path
        Where programs and what they were told are kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.bin = folder / "bin"
        for made in (self.work, self.bin):
            made.mkdir()
        for name in ("bash", "sh", "cat", "env", "sleep", "wc"):
            (self.bin / name).symlink_to(
                f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}"
            )
        (self.work / "job.py").write_text("print('hello')\n")

    def play(self, name: str, body: str) -> None:
        """Make a command; what it is called with and finds in its environment is kept."""
        program = self.bin / name
        program.write_text(
            f'#!/bin/bash\necho "$@" >> {self.folder}/{name}.asked\nenv > {self.folder}/{name}.env\n{body}\n'
        )
        program.chmod(0o755)

    def asked(self, name: str) -> list[str]:
        """The command lines with which a command was called."""
        file = self.folder / f"{name}.asked"
        return file.read_text().splitlines() if file.exists() else []

    def environ(self, name: str) -> dict[str, str]:
        """The environment in which it was called last."""
        lines = (self.folder / f"{name}.env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def run(self, *words: str, timeout: float = 60, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run ``runner`` where only these commands are."""
        return subprocess.run(
            [sys.executable, "-m", "runner", *words],
            cwd=self.work,
            env={
                "PATH": str(self.bin),
                "HOME": str(self.folder),
                "LANG": "C.UTF-8",
                "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
                **environ,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
