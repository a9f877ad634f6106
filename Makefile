# The commands of the README. Each does the set-up it needs on a machine that has only python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench schema constraints clean

demo: $(VENV)/installed
	$(BIN)/seedbed run configs/demo.yaml

test: $(VENV)/installed
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --project pyproject.toml
	$(BIN)/lint-imports

bench: $(VENV)/installed
	$(BIN)/python -m bench

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
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .import_linter_cache bench_results
