# Everything is made from a machine that has Python >= 3.11, a C compiler and make.
#   make reproduce   the paper's experiments on the shipped table: figures, CSV and claims in paper_figures/
#   make test        the test suite
#   make build       the kernels alone, in the mode the environment asks for (LDIV_DEBUG=1 ..., see setup.py)
#   make coverage    the suite with line coverage of the .py and .pyx files
#   make lint        ruff and mypy
#   make package     wheel and sdist in dist/, their metadata checked
#   make dist        the same, each installed in an environment of its own and tried
#   make bench       the aims of speed and memory on this commit, pass or short, the paper's grid, and the asv suite (.asv/; make bench-html to browse it)
#   make docs        the documentation, docs/_build/html; its examples are run by make test
#   make full        the paper's experiments at full size
VENV ?= .venv
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN = $(VENV)/Scripts
else
PYTHON ?= python3
BIN = $(VENV)/bin
endif
SOURCES = pyproject.toml setup.py $(wildcard ext/ldiv/_kernels/*.pyx ext/ldiv/_kernels/*.pxd)

.PHONY: reproduce full test build coverage lint package dist docs bench bench-html clean

reproduce: $(VENV)/installed
	$(BIN)/python -m experiments run --quick
	$(BIN)/python -m experiments figures --quick
	$(BIN)/python -m experiments claims --quick
	$(BIN)/python -m experiments report --quick

full: $(VENV)/installed
	$(BIN)/python -m experiments run --full
	$(BIN)/python -m experiments figures --full
	$(BIN)/python -m experiments claims --full
	$(BIN)/python -m experiments report --full

test: $(VENV)/installed
	$(BIN)/python -m pytest

# The environment is remade when the build or the list of dependencies changes.
$(VENV)/installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

build: $(VENV)/installed
	$(BIN)/python setup.py -q build_ext --inplace

coverage: $(VENV)/installed
	LDIV_LINETRACE=1 $(BIN)/python setup.py -q build_ext --inplace
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest tests -m 'not slow'; status=$$?; \
	$(BIN)/python -m coverage combine --quiet; \
	$(BIN)/python -m coverage report --include='ldiv/*,ext/ldiv/*'; \
	$(BIN)/python setup.py -q build_ext --inplace; exit $$status

lint: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ruff mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

package: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist . > build/package.log 2>&1 || { cat build/package.log; exit 1; }
	$(BIN)/twine check --strict dist/*

dist: package
	for package in dist/*; do \
	  rm -rf build/try && $(PYTHON) -m venv build/try && build/try/bin/python -m pip install --quiet $$package && \
	  (cd build/try && bin/python -c "import ldiv; d = ldiv.datasets.load('acs2018'); print(ldiv.solve(d, 6))") || exit 1; \
	done

docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m experiments.benchmarks
	$(BIN)/python -m experiments.benchmarks.grid
	$(BIN)/asv machine --yes > /dev/null
	$(BIN)/asv run --python=same --set-commit-hash=$$(git rev-parse HEAD) --quick --show-stderr

bench-html:
	$(BIN)/asv publish && $(BIN)/asv preview

clean:
	rm -rf build dist *.egg-info ldiv/_kernels/*.so ext/ldiv/_kernels/*.c ext/ldiv/_kernels/*.html
