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
# One process for all of the laboratory's tests grows to 2 GB; on one core each folder has its own. Code 5: no such tests.
PARTS := $(sort $(dir $(shell find tests -name 'test_*.py')))
COMPILE := CUSTOM_COMPILE_COMMAND="make lock" build/lock/bin/pip-compile --quiet --generate-hashes --strip-extras \
    --allow-unsafe --no-emit-options --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
    --constraint constraints.txt

.PHONY: demo test test-all test-lab docs check check-runtime lock sbom bench-speed bench-accuracy bench-foundation clean

demo: $(DEMO)  ## a picture and a table on a real scene, in demo/
	$(BIN)/mrac demo --out demo

test: check-runtime  ## the runtime half: no torch
	$(PYTEST) -m "not lab" tests/mrac tests/contract tests/e2e

test-all: test check test-lab  ## the laboratory as well, and what of the runtime half needs torch: gigabytes

test-lab: $(DEV)
ifeq ($(WORKERS),1)
	failed=0; for part in $(PARTS); do $(PYTEST) -q -m lab $${part}test_*.py || [ $$? = 5 ] || failed=1; done; exit $$failed
else
	$(PYTEST) -m lab
endif

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

# Of every file of a version, so of all platforms and Pythons. The versions are those of constraints.txt; what only the
# laboratory needs has no hashes, torch being one package of several builds.
lock:  ## hashes of what the runtime and the build need, in locks/
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet --disable-pip-version-check pip-tools==7.6.2
	$(COMPILE) --output-file locks/runtime.txt pyproject.toml
	$(COMPILE) --output-file locks/build.txt --all-build-deps --only-build-deps pyproject.toml

sbom: $(TEST)  ## the wheel, and what it brings: packages, weights, licences, hashes: dist/sbom.json, CycloneDX
	$(BIN)/python -m tests.e2e.build_dist dist
	$(BIN)/python -m tests.e2e.sbom dist

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
