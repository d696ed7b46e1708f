# Everything runs in .venv, which the first target builds from the hashed lock.
# Works with GNU make on Linux and macOS.

SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCK := requirements/dev.txt

# Tests run in several processes; one thread of linear algebra in each avoids crowding the cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1

.PHONY: help setup demo test lint format types contracts unit long audit bench-utility bench-speed bench-coverage \
	bench-plans bench-constants pages \
	experiments experiments-quick docs lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  %-18s %s\n", $$1, $$2 }'

setup: $(STAMP) ## build .venv from the lock

# The candidates are run, not merely looked up: a version manager may have a stub that refuses.
$(STAMP): $(LOCK) pyproject.toml
	@python=""; \
	for candidate in python3.13 python3.12 python3.11 python3; do \
		if $$candidate -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
			>/dev/null 2>&1; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "publicmoments needs Python 3.11, 3.12 or 3.13, and none was found on PATH;" \
			"install one and run make again" >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$($$python --version)"; \
	$$python -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement $(LOCK)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## plan, fit and report on made-up data, in a few seconds
	@$(BIN)/pmt demo

test: lint types contracts unit ## lint, types, import contracts, tests and doctests

lint: $(STAMP) ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## mend style and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP) ## check types
	$(BIN)/mypy

contracts: $(STAMP) ## check who may import whom
	$(BIN)/lint-imports

unit: $(STAMP) ## run tests and doctests
	$(ONE_THREAD) $(BIN)/pytest -n auto -q

long: $(STAMP) ## run the tests that take long, which test leaves out; two minutes on two cores
	$(ONE_THREAD) $(BIN)/pytest -n auto -q -m long

audit: $(STAMP) ## attack, mutate, fuzz and soak the library, and print one page; forty minutes
	$(ONE_THREAD) $(BIN)/python -m audit

bench-utility: $(STAMP) ## measure accuracy against the alternatives; most of an hour, by estimate
	$(ONE_THREAD) $(BIN)/python benchmarks/utility.py --page-folder docs

bench-coverage: $(STAMP) ## measure how often intervals cover, fifteen minutes on two cores
	$(ONE_THREAD) $(BIN)/python benchmarks/coverage.py --repeats 500 --page-folder docs
	$(ONE_THREAD) $(BIN)/python benchmarks/coverage_wild.py --page-folder docs

bench-plans: $(STAMP) ## measure how right plans are; a quarter of an hour on two cores
	$(ONE_THREAD) $(BIN)/python benchmarks/plans.py --page-folder docs

bench-constants: $(STAMP) ## measure what each constant of the estimators is worth; half an hour
	$(ONE_THREAD) $(BIN)/python benchmarks/constants.py --page-folder docs

bench-speed: $(STAMP) ## measure speed beside references, six minutes on two cores
	$(BIN)/python benchmarks/speed.py run
	$(BIN)/python benchmarks/speed.py page

pages: $(STAMP) ## write the pages of results again from their tables, without measuring
	$(BIN)/python -m benchmarks.pages
	$(BIN)/python -m experiments --plot
	$(BIN)/python -m experiments.moments --plot

experiments: $(STAMP) ## the paper's figures and theorems at full size, about 40 minutes on two cores
	$(ONE_THREAD) $(BIN)/python -m experiments
	$(ONE_THREAD) $(BIN)/python -m experiments.moments

experiments-quick: $(STAMP) ## the same with few repeats, within two minutes
	$(ONE_THREAD) $(BIN)/python -m experiments --quick
	$(ONE_THREAD) $(BIN)/python -m experiments.moments --quick

docs: $(STAMP) ## build the documentation site in build/site; any warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lock: $(STAMP) ## resolve the development environment anew
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		--group dev --group docs --all-extras --quiet --output-file $(LOCK) pyproject.toml

clean: ## remove .venv, caches and build outputs
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find audit src tests benchmarks examples experiments -type d -name __pycache__ -prune -exec rm -rf {} +
