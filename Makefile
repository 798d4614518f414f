# Every target sets up what it needs: a fresh clone wants only python3 (3.11 to 3.14) and make.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

# The newest Python on PATH that really starts (a version manager leaves shims that fail).
PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	$$name -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' >/dev/null 2>&1 \
	&& echo $$name && break; done)

.PHONY: help setup demo test suite test-all bench bench-all lint clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup: $(VENV)/.setup  ## make the virtual environment and install pullback into it

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "pullback needs Python 3.11, 3.12, 3.13 or 3.14 with venv on PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.setup: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo,dev]'
	@touch $@

demo: setup  ## fit the hare and lynx populations of Hudson Bay, then learn digits
	$(BIN)/pullback demo
	$(BIN)/pullback demo digits

lint: setup  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src

test: setup  ## lint, types and the test suite, side by side
	$(MAKE) --no-print-directory -j 2 lint suite

suite: setup
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not slow"

test-all: lint  ## the test suite with its slow part
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

bench: setup  ## compiled gradients against hand-written C (wants gcc)
	$(BIN)/python benchmarks/run.py

bench-all: setup  ## the same beside JAX, PyTorch and Numba (installs them), with growth and first calls
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/run.py --opponents --growth --first

clean:  ## remove the environment, caches and build products
	rm -rf $(VENV) .build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
