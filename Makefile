# `make demo` and `make test` need nothing but Python 3.11 or newer: the last rules build the environment they run in.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LEAN := $(VENV)/.installed-demo
DATA ?= ../shared/data/eval

.PHONY: demo test check bench-speed bench-accuracy bench-foundation clean

demo: $(LEAN)  ## a picture and a table on a real scene, in demo/
	$(BIN)/mrac demo --out demo

test: check  ## everything that must hold
	$(BIN)/pytest -n 2 --dist worksteal

check: $(STAMP)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench-speed: $(STAMP)  ## ours beside scipy, scikit-learn and numpy, in one run, as ratios
	$(BIN)/pytest tests/speed/test_speed.py --benchmark-enable -q -p no:xdist -s

bench-accuracy: $(STAMP)  ## depth from clean anchors, without and with the network; DATA: a folder with a manifest.csv
	$(BIN)/python -m mrac.lab.studies.clean_anchors --data $(DATA) --sets nyu kitti15 sunrgbd tum --foundation none
	$(BIN)/python -m mrac.lab.studies.clean_anchors --data $(DATA) --sets nyu kitti15 sunrgbd tum --foundation embedded

bench-foundation: $(STAMP)  ## the embedded network by itself, beside fits that need none
	$(BIN)/python -m mrac.lab.studies.foundation --data $(DATA) --sets nyu kitti15 sunrgbd tum

# The demo needs no torch, which everything else pulls in: gigabytes.
$(LEAN): EXTRA := demo
$(STAMP): EXTRA := dev
$(LEAN) $(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("mrac: Python 3.11 or newer is needed: make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(EXTRA)]'
	touch $@

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks
