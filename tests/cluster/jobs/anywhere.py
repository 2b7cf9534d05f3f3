"""The same function wherever the first word says; further words are options, as NAME=VALUE."""

import json
import sys

import runner

where, *words = sys.argv[1:]
options = {name: json.loads(value) for name, _, value in (word.partition("=") for word in words)}


@runner.on_allocation(where, **options)
def total(numbers, client=None):
    return sum(client.gather(client.map(lambda number: 2 * number, numbers)))


if __name__ == "__main__":
    print("total", total(range(10)))
