"""``python -m runner``."""

import gc


def start() -> None:
    """Import the command line, and run it.

    What modules make at import stays: looking for garbage in it meanwhile, and again in every process forked
    later, would cost a tenth of the start.
    """
    gc.disable()
    from runner.cli import main

    gc.freeze()
    gc.enable()
    main()


if __name__ == "__main__":
    start()
