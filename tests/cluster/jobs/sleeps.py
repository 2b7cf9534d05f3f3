"""Sleep until somebody stops us."""

import os
import time
from pathlib import Path

(Path(os.environ["TEST_FOLDER"]) / "sleeping").touch()
time.sleep(60)
