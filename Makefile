# Everything is made from a machine that has Python >= 3.11, a C compiler and make.
#   make reproduce   the paper's experiments on the shipped table: figures, CSV and claims in paper_figures/
#   make test        the test suite
#   make build       the kernels alone, in the mode the environment asks for (LDIV_DEBUG=1 ..., see setup.py)
#   make coverage    the suite with line coverage of the .py and .pyx files
#   make lint        ruff (format too) and mypy
#   make mutants     small wrong changes of the code, each of which a test must notice: build/mutants.md
#   make debug       kernel tests on kernels that check every index (build/debug, beside the release build)
#   make sanitize    the same under the C compiler's address and undefined-behaviour sanitizers (build/sanitize)
#   make oldest      the tests of tables with the oldest numpy, pandas, polars ... that pyproject.toml allows (Python 3.11: newer ones lack wheels of them)
#   make package     wheel and sdist in dist/, their metadata checked; a part of the sdist's tests run in what it unpacks to
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
PYTHON_HERE = $(CURDIR)/$(BIN)/python
SDIST_TESTS = tests/test_kernels.py tests/test_contract.py tests/test_frames.py tests/test_fuzz.py tests/test_boundary.py ldiv/table README.md
KERNELS = $(wildcard ext/ldiv/_kernels/*.pyx ext/ldiv/_kernels/*.pxd)
# Without kernels, which an editable install would all build anew; build_ext builds those that changed.
INSTALL = LDIV_NO_KERNELS=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable

.PHONY: reproduce full test build coverage lint mutants debug sanitize oldest package dist docs bench bench-html clean

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

# The environment is remade when the build or the list of dependencies changes, kernels when one of them does.
BUILD_NEEDS = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])
$(VENV)/environment: pyproject.toml setup.py
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -c '$(BUILD_NEEDS)')
	$(INSTALL) '.[test]'
	touch $@

$(VENV)/installed: $(VENV)/environment $(KERNELS)
	$(BIN)/python setup.py -q build_ext --inplace
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
	$(BIN)/ruff format --check .
	$(BIN)/mypy

mutants: $(VENV)/installed
	$(BIN)/python -m tools.mutants --out build/mutants.md

# Kernels of another mode are built in a copy of the tree, so that the release build in place stays what it is.
KERNEL_TESTS = tests/test_kernels.py tests/test_contract.py tests/test_boundary.py tests/test_local_search.py
COPIED = ldiv ext tests tools experiments setup.py pyproject.toml README.md LICENSE
define copy
	mkdir -p $(1) && git ls-files -z $(COPIED) | xargs -0 cp --parents -u -t $(1)
endef

debug: $(VENV)/installed
	$(call copy,build/debug)
	cd build/debug && LDIV_DEBUG=1 $(PYTHON_HERE) setup.py -q build_ext --inplace
	cd build/debug && PYTHONPATH=$(CURDIR)/build/debug $(PYTHON_HERE) -m pytest -p no:cacheprovider $(KERNEL_TESTS) \
	  tests/test_bounds.py tests/test_counts.py tests/test_against_oracles.py

# The sanitizer's library must come before Python's own allocations; what Python never frees is no leak of ours.
SANITIZER = LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc
sanitize: $(VENV)/installed
	$(call copy,build/sanitize)
	cd build/sanitize && LDIV_SANITIZE=address,undefined $(PYTHON_HERE) setup.py -q build_ext --inplace
	cd build/sanitize && $(SANITIZER) PYTHONPATH=$(CURDIR)/build/sanitize $(PYTHON_HERE) -m pytest -p no:cacheprovider $(KERNEL_TESTS)

# Everything is installed at the least version that pyproject.toml declares.
OLDEST ?= build/oldest
oldest: $(VENV)/installed
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: $$($(BIN)/python -m tools.oldest)
	$(call copy,build/oldest-tree)
	cd build/oldest-tree && cp -u ../../ldiv/_kernels/*.so ldiv/_kernels/
	cd build/oldest-tree && ../../$(OLDEST)/bin/python -m pytest -p no:cacheprovider tests/test_frames.py tests/test_reported.py tests/test_contract.py

package: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist . > build/package.log 2>&1 || { cat build/package.log; exit 1; }
	$(BIN)/twine check --strict dist/*
	rm -rf build/sdist && mkdir -p build/sdist && tar -xzf dist/*.tar.gz --strip-components=1 -C build/sdist
	cd build/sdist && $(PYTHON_HERE) setup.py -q build_ext --inplace
	cd build/sdist && PYTHONPATH=$(CURDIR)/build/sdist $(PYTHON_HERE) -m pytest -p no:cacheprovider $(SDIST_TESTS)

dist: package
	for package in dist/*; do \
	  rm -rf build/try && $(PYTHON) -m venv build/try && build/try/bin/python -m pip install --quiet $$package && \
	  (cd build/try && bin/python -c "import ldiv; d = ldiv.datasets.load('acs2018'); print(ldiv.solve(d, 6))") || exit 1; \
	done

docs: $(VENV)/installed
	$(INSTALL) '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

bench: $(VENV)/installed
	$(INSTALL) '.[bench]'
	$(BIN)/python -m experiments.benchmarks
	$(BIN)/python -m experiments.benchmarks.grid
	$(BIN)/asv machine --yes > /dev/null
	$(BIN)/asv run --python=same --set-commit-hash=$$(git rev-parse HEAD) --quick --show-stderr

bench-html:
	$(BIN)/asv publish && $(BIN)/asv preview

clean:
	rm -rf build dist *.egg-info ldiv/_kernels/*.so ext/ldiv/_kernels/*.c ext/ldiv/_kernels/*.html
