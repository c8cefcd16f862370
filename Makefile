# Two commands do everything: `make study` and `make test`. Each sets up .venv itself.
PYTHON ?= python3
BIN := .venv/bin
KERNELS := $(wildcard src/steelyard/_kernels/*.pyx src/steelyard/_kernels/*.pxd)
RESULTS ?= results/segments

.PHONY: study test attack lint lint-page bench bench-growth clean help

help:
	@echo "make study   run the main job on the embedded data set, results in $(RESULTS)"
	@echo "make test    run all tests"
	@echo "make attack  kill, fuzz and flood the program, and print what was seen; ATTACK='--only fuzzing'"
	@echo "make lint    ruff, cython-lint, mypy, import-linter, and the scripts of the page"
	@echo "make bench   speed and memory, ours beside scikit-learn's, in one run"
	@echo "make bench-growth   how time and memory grow with rows, attributes, labels and candidates"

# The stamps make the set-up run again only when the dependencies or the compiled kernels change.
.venv/installed: pyproject.toml setup.py $(KERNELS)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "steelyard needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	@touch $@

.venv/installed-test: .venv/installed
	$(BIN)/python -m pip install --quiet --group test --group lint
	@touch $@

study: .venv/installed
	$(BIN)/steelyard study --out $(RESULTS)

test: .venv/installed-test lint
	$(BIN)/python -m pytest -n 2

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
	$(BIN)/python benchmarks/speed.py

bench-growth: .venv/installed-test
	$(BIN)/python benchmarks/growth.py

clean:
	rm -rf .venv build dist results node_modules src/*.egg-info src/steelyard/_kernels/*.so .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
