"""A function that ends in many ways, for ``runner map odd_components:work``."""

import os
import sys
import threading
import time

import beside


class OddError(Exception):
    """Cannot be made from its own arguments, as pickle would."""

    def __init__(self, one, two):
        super().__init__(one)
        self.two = two


def work(how):
    print("this is", how)
    thread = threading.Thread(target=lambda: print("a thread of", how))
    thread.start()
    thread.join()
    if how == "exit":
        sys.exit(3)
    if how == "raise":
        raise OddError(1, 2)
    if how == "die":
        os._exit(7)
    if how == "crash":
        os.kill(os.getpid(), 11)
    if how == "lock":
        return threading.Lock()
    time.sleep(0.02)
    return beside.double(len(how))
