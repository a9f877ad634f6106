# The commands of the README. Each does the set-up it needs on a machine that has only python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CPU_BUDGET ?= 180

.PHONY: demo test check lint style types layers docs pictures site bench mutants schema constraints clean

demo: $(VENV)/installed
	$(BIN)/seedbed run configs/demo.yaml

test: $(VENV)/installed
	$(BIN)/python -m pytest -n 3 --dist loadfile

# Before each commit: some minutes of CPU. Tests that are not marked slow have a budget, so that it stays at that.
check: lint
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" -p tests.support.cpu_budget --cpu-budget $(CPU_BUDGET) tests/unit tests/golden

lint: style types layers

style: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed
	$(BIN)/pyright --project pyproject.toml

layers: $(VENV)/installed
	$(BIN)/lint-imports

# The docs as a site, in site/, with pictures of the present tree; a dead link or a docstring that cannot be read fails it.
docs: pictures site

# Runs the demo and a sweep with failing calls, and takes pictures of their pages with Chromium.
pictures: $(VENV)/installed
	$(BIN)/python -m bench.pictures

site: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(VENV)/installed
	$(BIN)/python -m bench

# Plants bugs one at a time and asks the tests nearest to each; half an hour or so. See tests/README.md.
mutants: $(VENV)/installed
	$(BIN)/python -m tests.mutants

schema: $(VENV)/installed
	$(BIN)/seedbed schema > configs/schema.json

# Every version that works together; made without addresses of indexes.
constraints: $(VENV)/installed
	$(BIN)/python -m pip freeze --exclude-editable | grep -vE '^(torch|nvidia|triton)|@' | sort -f > constraints.txt

$(VENV)/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	-$(BIN)/seedbed server stop
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .ruff_cache .import_linter_cache bench_results
