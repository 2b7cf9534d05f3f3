# The commands of this project: make demo, make test, and the parts of make test.

PYTHON := .venv/bin/python
SCRIPTS := .ci/run $(wildcard tools/*.sh) $(filter-out %.md,$(wildcard tests/testbed/*))

.PHONY: help demo test lint docs bench gpu-check conformance clean

help:
	@echo 'make demo    reconstruct a simulated scan with two workers, check it, draw it (demo/)'
	@echo 'make test    everything that CI runs: lint, docs, tests; installs SLURM and Chromium when root on Debian'
	@echo 'make lint    the checks of the code alone'
	@echo 'make docs    the documentation (docs/_build/html)'
	@echo 'make bench   the benchmarks'
	@echo 'make gpu-check    the engine on a GPU of this machine: right, in its memory, how fast (8 minutes at most)'
	@echo 'make conformance  the tests of dask-mpi and SLURMRunner, run on us (3 minutes)'
	@echo 'make clean   remove what these commands made, but for .venv'

demo:
	@tools/environment.sh plot
	@mkdir -p demo
	$(PYTHON) -m runner simulate demo/scan.nx --overwrite
	$(PYTHON) -m runner --workers 2 reconstruct demo/scan.nx demo/volume.h5 --overwrite
	@$(PYTHON) examples/check_demo.py demo/scan.nx demo/volume.h5 demo/slices.png
	@echo 'slices: demo/slices.png    volume: silx view demo/volume.h5 (pip install "silx[full]"), or h5web in a browser'

test: environment lint docs
	@tools/mpi.sh
	@tools/browser.sh
	@tools/valgrind.sh
	tools/tests.sh

environment:
	@tools/environment.sh test lint docs
.PHONY: environment

lint: environment
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/codespell
	.venv/bin/shellcheck $(SCRIPTS)

docs: environment
	@if [ -e docs/conf.py ]; then \
		echo '.venv/bin/sphinx-build -W -q docs docs/_build/html'; \
		.venv/bin/sphinx-build -W -q docs docs/_build/html; \
	else \
		echo 'docs: nothing to build, docs/conf.py is not there yet'; \
	fi

bench: environment
	@tools/mpi.sh
	$(PYTHON) -m benchmarks launch
	$(PYTHON) -m benchmarks scheduler
	$(PYTHON) -m benchmarks reconstruct
	$(PYTHON) -m benchmarks chain
	$(PYTHON) -m benchmarks corrections

gpu-check:
	$(PYTHON) -m benchmarks.gpu_check

conformance: environment
	@tools/mpi.sh
	$(PYTHON) -m tests.conformance.run

clean:
	rm -rf build dist demo docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
