"""The far end of the fan-out, which starts a rank and passes on what it is told."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from tests.cluster.processes import run

STARTS = """
import os, signal, sys
from runner.batch.fanout import far_end

start = far_end._start

def start_and_be_told(told):
    rank = start(told)
    os.kill(os.getpid(), signal.SIGTERM)
    return rank

far_end._start = start_and_be_told
sys.exit(far_end.main(sys.argv[1:]))
"""


def test_a_signal_that_comes_while_the_rank_is_started_is_for_the_rank(tmp_path: Path) -> None:
    told = {"argv": ["sleep", "60"], "environ": {}, "folder": str(tmp_path)}
    (tmp_path / "told").write_text(json.dumps(told))
    finished = run([sys.executable, "-c", STARTS, tmp_path / "told"], timeout=30, env=dict(os.environ))
    assert finished.returncode == 128 + signal.SIGTERM, finished.stderr
