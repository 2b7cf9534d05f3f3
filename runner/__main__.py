"""``python -m runner``."""

import gc
import os


def start() -> None:
    """Import the command line, and run it.

    What modules make at import stays: looking for garbage in it meanwhile, and again in every process forked
    later, would cost a tenth of the start.
    """
    parent = os.getppid()  # at once: a launcher that is killed meanwhile is noticed by its change
    gc.disable()
    from runner.cli import main

    gc.freeze()
    gc.enable()
    main(parent)


if __name__ == "__main__":
    start()
