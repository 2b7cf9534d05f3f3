"""``python -m runner``."""

import gc
import os


def main() -> None:
    """Import the command line, and run it.

    What modules make at import stays: looking for garbage in it meanwhile, and again in every process forked
    later, would cost a tenth of the start.
    """
    parent = os.getppid()  # at once: a launcher that is killed meanwhile is noticed by its change
    gc.disable()
    from runner import cli

    gc.freeze()
    gc.enable()
    cli.main(parent)


if __name__ == "__main__":
    main()
