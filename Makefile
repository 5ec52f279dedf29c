# Needs make and a Python (3.10 or later) that has pip and venv; everything else goes into .venv.
#   make demo     compare methods on the bundled Cora
#   make reproduce  the paper's tables and figure (RUNS=10 JOBS=2 OUT=results)
#   make test     the test suite, without the tests marked soak
#   make soak     the tests marked soak, which take long (with a C compiler, also failing disks and power failures)
#   make mutants  break the core in 200 places, one at a time, and see whether the tests notice (half an hour)
#   make fuzz     coverage-guided fuzzing of all that reads bytes (SECONDS=600)
#   make audit    a software bill of materials, dist/sbom.json, and known vulnerabilities of what is installed
#   make wheel    the wheel, in dist/; the same commit gives the same bytes
#   make install  .venv with everything for development
#   make lint     format, style, types, layers
#   make docs     the documentation as a site, in site/
#   make bench    the benchmarks, one after the other (BENCH=benchmarks/bench_startup.py for one of them)
#   make clean    remove .venv and what the tools leave behind

PYTHON ?= python3
VENV ?= .venv
BENCH_VENV ?= .venv-bench
FUZZ_VENV ?= .venv-fuzz
AUDIT_VENV ?= .venv-audit
SECONDS ?= 600
RUNS ?= 10
JOBS ?= 2
OUT ?= results
BENCH ?= $(sort $(wildcard benchmarks/bench_*.py))

IN_VENV := $(VENV)/bin/python
PIP_FLAGS := --quiet --disable-pip-version-check --constraint constraints.txt
# There is a test process on each core already: threads of libraries would only wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1
SOURCES := src tests benchmarks scripts examples
STATED := pyproject.toml constraints.txt

.DELETE_ON_ERROR:
.PHONY: demo reproduce test soak mutants fuzz audit wheel install lint bench docs clean

demo: $(VENV)/.installed
	$(VENV)/bin/planetoid demo

reproduce: $(VENV)/.installed
	$(VENV)/bin/planetoid reproduce all --runs $(RUNS) --jobs $(JOBS) --out $(OUT)

test: $(VENV)/.installed-test
	$(ONE_THREAD) $(IN_VENV) -m pytest -n auto --dist loadfile -m "not soak"

soak: $(VENV)/.installed-test
	$(ONE_THREAD) $(IN_VENV) -m pytest -n auto --dist loadfile -m soak

mutants: $(VENV)/.installed-test
	$(ONE_THREAD) $(IN_VENV) scripts/mutants.py
	$(IN_VENV) scripts/update_docs.py

fuzz: $(FUZZ_VENV)/.installed
	PYTHONPATH=src:. OMP_NUM_THREADS=1 $(FUZZ_VENV)/bin/python -m tests.fuzz $(SECONDS) $(TARGETS)

audit: $(VENV)/.installed $(AUDIT_VENV)/.installed
	mkdir -p dist
	$(AUDIT_VENV)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file dist/sbom.json $(VENV)/bin/python
	$(AUDIT_VENV)/bin/pip-audit --skip-editable --path "$$($(IN_VENV) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

wheel: $(VENV)/.installed-test
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(IN_VENV) -m hatchling build --target wheel --directory dist

install: $(VENV)/.installed-dev

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check $(SOURCES)
	$(VENV)/bin/ruff format --check $(SOURCES)
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/.installed $(BENCH_VENV)/.installed
	@for script in $(BENCH); do echo "== $$script"; $(IN_VENV) $$script || exit 1; done

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(IN_VENV) -m mkdocs build --strict --quiet
	@echo "site/index.html; with search: $(IN_VENV) -m http.server --directory site"

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(FUZZ_VENV) $(AUDIT_VENV) build dist demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# ---- environments; a stamp says what has been installed ------------------------------

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	    { echo "planetoid needs Python 3.10 or later; name one with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# torch comes first and by its exact version: a looser requirement would bring gigabytes of CUDA.
$(VENV)/.installed: $(STATED) | $(VENV)/bin/python
	@echo "Installing planetoid and what it needs into $(VENV) (a few minutes the first time)"
	$(IN_VENV) -m pip install $(PIP_FLAGS) "$$(grep '^torch==' constraints.txt)"
	$(IN_VENV) -m pip install $(PIP_FLAGS) --editable .
	touch $@

$(VENV)/.installed-%: $(VENV)/.installed
	$(IN_VENV) -m pip install $(PIP_FLAGS) --editable '.[$*]'
	touch $@

# The libraries that benchmarks compare with have pins of their own, so they live apart.
$(BENCH_VENV)/.installed: benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.txt
	touch $@

# atheris instruments planetoid, but is no part of it: it finds the installed dependencies by a path.
$(FUZZ_VENV)/.installed: tests/fuzz/requirements.txt $(VENV)/.installed-test
	$(PYTHON) -m venv $(FUZZ_VENV)
	$(FUZZ_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/fuzz/requirements.txt
	$(IN_VENV) -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
	    "$$($(FUZZ_VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/dependencies.pth"
	touch $@

$(AUDIT_VENV)/.installed: scripts/audit-requirements.txt
	$(PYTHON) -m venv $(AUDIT_VENV)
	$(AUDIT_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement scripts/audit-requirements.txt
	touch $@
