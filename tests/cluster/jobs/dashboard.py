"""Ask the cluster's dashboard for its first page."""

import time
import urllib.error
import urllib.request

from distributed import get_client

url = get_client().dashboard_link
end = time.monotonic() + 40
while True:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            print(url, answer.status)
        break
    except urllib.error.HTTPError:  # its pages come when the job has begun
        assert time.monotonic() < end
        time.sleep(0.1)
