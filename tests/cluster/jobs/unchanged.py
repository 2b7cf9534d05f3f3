"""A script as anybody writes it: all is where `python job.py` has it, on the client and the workers."""

import multiprocessing
import os
import sys

import beside
import dask
from distributed import Client, get_client


def local_function(number):
    return beside.double(number) + 1


def tripled(number):
    return 3 * number


def look():
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    launcher = [name for name in os.environ if name.startswith(("OMPI_", "PMIX_", "PMI_"))]
    return visible, launcher


if __name__ == "__main__":
    with Client() as client:
        assert client.gather(client.map(local_function, range(5))) == [1, 3, 5, 7, 9]
    assert get_client().submit(local_function, 4).result() == 9
    # no Client of the script's own: still the cluster, not threads in here
    pid = dask.delayed(os.getpid)().compute()
    assert pid != os.getpid()
    assert get_client().submit(look).result() == ("", [])
    assert all(name.startswith("tls://") for name in get_client().scheduler_info(n_workers=-1)["workers"])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(tripled, [1, 2]) == [3, 6]
    print("name", __name__)
    print("file", __file__)
    print("argv", sys.argv)
    print("path", sys.path[0])
    if "--read" in sys.argv:
        print("stdin", repr(sys.stdin.read()))
