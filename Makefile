# One command per chore. Each sets itself up on first use, into .venv and, what takes long to build, into the user's
# cache; afterwards it needs no network.

VENV := .venv
READY := $(VENV)/.ready
BIN := $(VENV)/bin
# A Python that is new enough and can make virtual environments; choose one with `make PYTHON=...`.
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long lint cluster format bench bench-cluster docs conformance clean

help:  ## list the chores
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

setup: $(READY)  ## make .venv, with posse and its tools in it

demo: $(READY)  ## show what posse does, in a minute
	$(BIN)/posse demo $(ARGS)

test: lint  ## lint, then run the tests
	$(BIN)/python -m tests.cluster.binaries --optional
	$(BIN)/pytest -n auto --maxprocesses 4 $(ARGS)

test-long: lint  ## the same with all 200 kills of the scheduler, in some twenty minutes
	$(BIN)/python -m tests.cluster.binaries --optional
	POSSE_KILLS=200 $(BIN)/pytest -n auto --maxprocesses 4 $(ARGS)

lint: $(READY)  ## style, types and who may import whom
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

cluster: $(READY)  ## build the API server that some tests run against: once, for minutes
	$(BIN)/python -m tests.cluster.binaries

format: $(READY)  ## put the code into the one form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY)  ## measure; choose with ARGS
	$(BIN)/python -m bench $(ARGS)

bench-cluster: $(READY)  ## measure from created to bound on a real API server; choose with ARGS
	$(BIN)/python -m bench.cluster $(ARGS)

docs: $(READY)  ## check that the docs' links resolve and their commands exist
	$(BIN)/python docs/check.py

conformance: $(READY)  ## hold decisions against the recorded ones; choose with ARGS
	$(BIN)/python conformance/run.py --all-fields $(ARGS)

clean:  ## remove .venv, caches and builds
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis .pytest_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: posse needs Python 3.11 or newer, with venv and ensurepip;" \
		"none of python3.13, python3.12, python3.11, python3 is one. Name yours: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@
