"""What docs/how-to/jupyter.md says, done: notebook, dashboard and a kernel at home, on a job of SLURM."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from tests.cluster.processes import Command
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.ways import Way

pytestmark = [pytest.mark.cluster, pytest.mark.slurm]

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "jupyter.md").read_text()
CELLS = re.findall(r"^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
JUPYTER = Path(sys.executable).with_name("jupyter")
HOME = "node4"  # a person's own machine: the job is on the first hosts

OPEN_DASHBOARD = """
import sys, time, urllib.error, urllib.request
from bokeh.client import pull_session

url = f"http://127.0.0.1:{sys.argv[1]}/status"
end = time.monotonic() + 40
while True:
    try:
        print(urllib.request.urlopen(url, timeout=10).status)
        break
    except urllib.error.HTTPError:  # its pages come when the job has begun
        assert time.monotonic() < end
        time.sleep(0.1)
session = pull_session(url=url)  # as the page does in a browser: what is drawn comes by a web socket
print(session.document.title)
"""

CONNECT = """
import sys, runner

client = runner.connect(sys.argv[1])
print(sum(client.gather(client.map(lambda number: number**2, range(10)))))
client.shutdown()
"""


@contextmanager
def served(slurm: VirtualSlurm, environment: dict[str, str], folder: Path) -> Iterator[Command]:
    """A job that serves; a client in the block must end it."""
    way = Way("srun", folder, environment, slurm, flags=("--time", "5"))
    with way.start("--scheduler-file", "cluster.json", "serve", "--idle", "60s", ranks=3) as job:
        end = time.monotonic() + 40
        while not ((folder / "cluster.json").exists() and "  stop  " in job.stderr):
            assert job.running(), job.stderr
            assert time.monotonic() < end, job.stderr
            time.sleep(0.05)
        yield job
        finished = job.wait(timeout=30)
    assert finished.returncode == 0, finished.stderr
    assert "a client shut the cluster down" in finished.stderr
    way.check_nothing_is_left()


def line_of_page(*words: str) -> str:
    """The one command of the page with all these words."""
    (line,) = (
        line for line in re.findall(r"^    (\S.*)$", PAGE, re.MULTILINE) if all(w in line for w in words)
    )
    return line


def inline_command(start: str) -> str:
    """The one command in the page's running text that begins so."""
    (command,) = re.findall(rf"`({start} [^`]+)`", PAGE)
    return command


@contextmanager
def tunnel(slurm: VirtualSlurm, line: str, port: int, environment: dict[str, str]) -> Iterator[None]:
    """Run the page's `ssh` on the machine at home, with this cluster's names, while the block runs."""
    argv = line.replace("-J login", "-J head").split()
    knock = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
    with slurm.start(argv, host=HOME, env=environment) as forwarding:
        end = time.monotonic() + 20
        while slurm.run([sys.executable, "-c", knock], timeout=10, host=HOME).returncode:
            assert forwarding.running(), forwarding.stderr
            assert time.monotonic() < end, "the tunnel does not listen"
        yield


def test_the_notebook_of_the_page(slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = tmp_path / "notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    with served(slurm, environment, tmp_path):
        folders = {"JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "IPYTHONDIR": str(tmp_path / "ipython")}
        argv = [JUPYTER, *inline_command("jupyter execute").split()[1:], "--inplace"]
        done = slurm.run(argv, timeout=60, cwd=tmp_path, env=environment | folders, gone_within=5.0)
        assert done.returncode == 0, done.stderr
    outputs = [output for cell in nbformat.read(notebook, 4).cells for output in cell.outputs]
    assert [output.text for output in outputs] == ["285\n", "1000\n"]


def test_dashboard_and_kernel_on_a_machine_at_home(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    with served(slurm, environment, tmp_path) as job:
        port, host = re.search(r"ssh -N -L (\d+):127\.0\.0\.1:\1 (\w+)", job.stderr).groups()
        line = line_of_page("-J login", "127.0.0.1:8787", "node07")
        line = line.replace("8787:127.0.0.1:8787 node07", f"19999:127.0.0.1:{port} {host}")
        with tunnel(slurm, line, 19999, environment):
            argv = [sys.executable, "-c", OPEN_DASHBOARD, "19999"]
            opened = slurm.run(argv, timeout=60, host=HOME, env=environment)
        assert (opened.returncode, opened.stdout) == (0, "200\nDask: Status\n"), opened.stderr

        fetch = "; ".join([line_of_page("umask"), line_of_page("ssh login cat"), line_of_page("sed -i")])
        fetch = fetch.replace("ssh login cat ", f"ssh head cat {tmp_path}/").replace(":8786", ":18786")
        slurm.run(["bash", "-ec", fetch], timeout=20, host=HOME, cwd=tmp_path, env=environment)
        address = re.search(r"tls://([\d.]+:\d+)", (tmp_path / "cluster.json").read_text())[1]
        line = line_of_page("-J login", "10.0.0.7").replace(
            "8786:10.0.0.7:8786 node07", f"18786:{address} {host}"
        )
        with tunnel(slurm, line, 18786, environment):
            argv = [sys.executable, "-c", CONNECT, "away.json"]
            computed = slurm.run(argv, timeout=60, host=HOME, cwd=tmp_path, env=environment)
        assert (computed.returncode, computed.stdout) == (0, "285\n"), computed.stderr
