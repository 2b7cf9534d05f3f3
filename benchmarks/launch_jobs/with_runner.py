"""Plain Dask; everything else is the launcher's."""

from common import work
from distributed import Client

client = Client()
work(client, len(client.scheduler_info(n_workers=-1)["workers"]))
