# `make demo` and `make test` need nothing but Python 3.11 or newer: the last rules build the environment they run in, one
# for all targets, to which each adds what it needs itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.installed-demo
TEST := $(VENV)/.installed-test
DEV := $(VENV)/.installed-dev
DOCS := $(VENV)/.installed-docs
DATA ?= ../shared/data/eval
# On one core a second process gains nothing, and both together need more than 2 GB.
WORKERS ?= $(shell [ "$$(nproc 2> /dev/null)" = 1 ] && echo 1 || echo 2)
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal

.PHONY: demo test test-all docs check check-runtime bench-speed bench-accuracy bench-foundation clean

demo: $(DEMO)  ## a picture and a table on a real scene, in demo/
	$(BIN)/mrac demo --out demo

test: check-runtime  ## the runtime half: no torch
	$(PYTEST) -m "not lab" tests/mrac tests/contract tests/e2e

test-all: test check  ## the laboratory as well, and what of the runtime half needs torch: gigabytes
	$(PYTEST) -m lab

docs: $(DOCS)  ## the manual, in build/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs

# Where torch is not installed all of it is Any: hence the options.
check-runtime: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src/mrac --exclude src/mrac/lab --ignore-missing-imports --allow-subclassing-any \
	    --allow-untyped-decorators --no-warn-return-any --no-warn-unused-ignores

check: $(DEV)  ## style and types of everything
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench-speed: $(DEV)  ## ours beside scipy, scikit-learn and numpy, in one run, as ratios
	$(BIN)/pytest tests/speed/test_speed.py --benchmark-enable -q -p no:xdist -s

bench-accuracy: $(DEV)  ## depth from clean anchors, without and with the network; DATA: a folder with a manifest.csv
	$(BIN)/python -m mrac.lab.studies.clean_anchors --data $(DATA) --sets nyu kitti15 sunrgbd tum --foundation none
	$(BIN)/python -m mrac.lab.studies.clean_anchors --data $(DATA) --sets nyu kitti15 sunrgbd tum --foundation embedded

bench-foundation: $(DEV)  ## the embedded network by itself, beside fits that need none
	$(BIN)/python -m mrac.lab.studies.foundation --data $(DATA) --sets nyu kitti15 sunrgbd tum

# Compiling all modules of all packages takes longer than importing, and so compiling, those that are used.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.[$*]'
	touch $@

$(BIN)/pip:
	$(PYTHON) -c 'import sys; sys.exit("mrac: Python 3.11 or newer is needed: make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) demo build dist docs/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks
