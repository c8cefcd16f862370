# Two commands do everything: `make study` and `make test`. Each sets up .venv itself.
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(wildcard src/steelyard/_kernels/*.pyx src/steelyard/_kernels/*.pxd)
RESULTS ?= results/patients
BENCH ?= results/bench
JOBS ?= 2

.PHONY: study test docs test-oldest test-newest coverage mutants attack lint lint-page dist bench bench-compare bench-growth clean help

help:
	@echo "make study   run the main job on the embedded data set, results in $(RESULTS)"
	@echo "make test    run all tests"
	@echo "make test-oldest    a wheel with the oldest versions that pyproject.toml allows; TESTS='tests/model -x'"
	@echo "make test-newest    the same with the newest versions; both on Python 3.11, 3.12 and 3.13, or ON='3.12'"
	@echo "make coverage   how much of the package the tests reach, with a floor"
	@echo "make mutants   change the code and see whether a test fails; MUTANTS='steelyard.model.thresholding*'"
	@echo "make dist    build the source archive and the wheel twice, compare and check them; TESTS='tests/model' tests them"
	@echo "make docs    build the documentation in docs/_build/html, offline; warnings are errors"
	@echo "make attack  kill, fuzz and flood the program, and print what was seen; ATTACK='--only fuzzing'"
	@echo "make lint    ruff, cython-lint, mypy, import-linter, and the scripts of the page"
	@echo "make bench   speed and memory, ours beside scikit-learn's, in one run; JSON files in $(BENCH)"
	@echo "make bench-compare REV=main   this folder beside another revision, timed in turns, as ratios"
	@echo "make bench-growth   how time and memory grow with rows, attributes, labels and candidates"

# The stamps make the set-up run again only when the dependencies or the compiled kernels change.
.venv/installed: pyproject.toml setup.py $(KERNELS)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "steelyard needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/installed-test: .venv/installed
	$(BIN)/python -m pip install --quiet --group test --group lint
	@touch $@

study: .venv/installed
	$(BIN)/steelyard study --out $(RESULTS)

test: .venv/installed-test lint
	$(BIN)/python -m pytest -n 2 --dist worksteal  # whole files per worker, so fixtures are made once

.venv/installed-docs: .venv/installed
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

docs: .venv/installed-docs
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --jobs 2 --quiet docs docs/_build/html
	@echo "docs/_build/html/index.html"

# Each builds a wheel and installs it into new environments under build/.
test-oldest test-newest:
	$(PYTHON) tools/versions.py $(@:test-%=%) $(if $(ON),--python $(ON)) $(if $(TESTS),--tests "$(TESTS)")

.venv/installed-release: .venv/installed
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

dist: .venv/installed-release
	$(BIN)/python tools/dist.py $(if $(TESTS),--tests "$(TESTS)")

# Only Python is measured: the kernels are compiled, and each is compared with an oracle by its tests.
coverage: .venv/installed-release .venv/installed-test
	$(BIN)/python -m coverage run -m pytest -q tests/explain tests/model tests/test_heuristics.py
	$(BIN)/python -m coverage report --skip-covered --skip-empty

# An environment of its own: mutmut works with pytest 8 only. The kernels are those of .venv.
build/mutants/installed: .venv/installed pyproject.toml
	$(PYTHON) -m venv build/mutants
	build/mutants/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	build/mutants/bin/python -m pip install --quiet . duckdb hypothesis polars pyarrow pytest-timeout "mutmut>=3.8" "pytest<9"
	@touch $@

mutants: build/mutants/installed
	build/mutants/bin/python -m mutmut run --max-children $(JOBS) $(MUTANTS)
	build/mutants/bin/python -m mutmut results
	build/mutants/bin/python tools/mutants.py

attack: .venv/installed-test
	PYTHONPATH=tests $(BIN)/python -W ignore -m attack $(ATTACK)

# The scripts of the page; also installs axe-core, which the tests of the page use.
node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error

lint-page:
	@if command -v npm >/dev/null; then \
	  $(MAKE) --no-print-directory node_modules/.package-lock.json && npm run --silent lint; \
	elif [ -n "$$STEELYARD_REQUIRE_DATA" ]; then \
	  echo "npm is missing, which checks the scripts of the page" >&2; exit 1; \
	else \
	  echo "skipped: npm is missing, so the scripts of the page are not checked"; \
	fi

lint: .venv/installed-test lint-page
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(BIN):$$PATH" cython-lint src  # it looks for pycodestyle on the path
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed-test
	$(BIN)/python benchmarks/timings.py --json $(BENCH)/timings.json
	$(BIN)/python benchmarks/speed.py --json $(BENCH)/speed.json

bench-compare: .venv/installed-test
	@test -n "$(REV)" || { echo "make bench-compare REV=main: REV is missing" >&2; exit 2; }
	$(BIN)/python benchmarks/compare.py $(REV) --json $(BENCH)/compare.json

bench-growth: .venv/installed-test
	$(BIN)/python benchmarks/growth.py

clean:
	rm -rf .venv build dist results docs/_build docs/gallery docs/api/generated node_modules src/*.egg-info src/steelyard/_kernels/*.so mutants .coverage .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
