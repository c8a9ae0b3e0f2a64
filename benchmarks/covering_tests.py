"""Which tests execute a line, and what some of them say of a copy of the project: for `benchmarks.mutants`."""

import importlib
import multiprocessing
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

QUICK = ("--hypothesis-profile", "quick")
CHECK = (*QUICK, "-m", "not sweep and not long")
"""What `make check` runs."""

UNASKED = tuple(f"--ignore=tests/{folder}" for folder in ("attacks", "browser", "cluster", "deploy", "processes"))
"""What takes a browser, servers or a cluster."""

LIMIT = 300
"""Seconds for some tests together; one that a fault has made endless is ended before."""

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["torch._dynamo", "pytest", "streamlit.testing.v1", "plotly.graph_objects", "pandas"])


class Coverage:
    """Which tests of `make check` execute a line, as a watched run of them all tells."""

    def __init__(self, copy: Path, kept: Path) -> None:
        """Reads what is `kept` of the watched run; where nothing is, it takes place in the `copy`."""
        data, log = kept / "check.coverage", kept / "check.txt"
        if not log.exists():
            command = [sys.executable, "-m", "pytest", *CHECK, *UNASKED, "-n", "2", "--dist", "loadscope"]
            command += ["--cov=playground", "--cov-context=test", "--cov-report=", "-p", "no:cacheprovider"]
            command += ["-vv", "--durations=0", "--durations-min=0"]
            environment = {**os.environ, "COVERAGE_FILE": str(data)}
            done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
            log.write_text(done.stdout)
        self.seconds: defaultdict[str, float] = defaultdict(float)
        for seconds, test in re.findall(r"^([\d.]+)s (?:setup|call) +(.+)$", log.read_text(), re.MULTILINE):
            self.seconds[test] += float(seconds)
        coverage = importlib.import_module("coverage")  # of requirements-bench.txt alone, as pytest-timeout
        self._data = coverage.CoverageData(str(data))
        self._data.read()
        self._copy = copy
        self._passes: dict[str, bool] = {}

    def tests_of(self, path: Path, line: int, statement: int) -> list[str]:
        """Those that execute a line of a module, or else its statement's, the quickest first.

        If `statement` is 0, as what it says is computed at import: those that execute any line of the module, and all
        of its folder's.
        """
        files = [file for file in self._data.measured_files() if file.endswith(f"/{path}")]
        contexts = self._data.contexts_by_lineno(files[0]) if files else {}
        lines = [line if contexts.get(line) else statement] if statement else contexts
        names = {tuple(context.rsplit("|", 1)) for each in lines for context in contexts.get(each, []) if context}
        shared = {test.split("::")[0] for test, phase in names if phase == "setup"}  # perhaps a fixture of the module
        chosen = {test for test, _ in names} | {test for test in self.seconds if test.split("::")[0] in shared}
        if not statement:
            chosen |= {test for test in self.seconds if test.startswith(f"{folder_of_tests(path)}/")}
        return sorted(chosen - {*self.failing}, key=lambda test: self.seconds[test])

    @property
    def failing(self) -> list[str]:
        """Tests that are known to fail without a fault, where no others have run before them: they can find none."""
        return [test for test, passes in self._passes.items() if not passes]

    def passes(self, test: str) -> bool:
        """Whether a test passes on its own in the copy, without a fault."""
        if test not in self._passes:
            self._passes[test] = ask(self._copy, files_of([test]), [test], time.monotonic() + LIMIT) == ""
        return self._passes[test]


def folder_of_tests(path: Path) -> str:
    """Where the tests of a module lie: those of the nearest folder that has any."""
    folder = Path("tests", *path.parts[1:-1])
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return str(folder)


def files_of(tests: Sequence[str]) -> list[str]:
    """Their files, each once."""
    return list(dict.fromkeys(test.split("::")[0] for test in tests))


def ask(copy: Path, arguments: list[str], tests: list[str] | None, end: float) -> str | None:
    """The first failing test's name; empty if all pass; None if there is no answer when `end` has come."""
    answers, asked = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(target=_answer, args=(copy, arguments, tests, asked))
    process.start()
    asked.close()
    try:
        return str(answers.recv()) if answers.poll(max(end - time.monotonic(), 0)) else None
    except EOFError:
        return "the process ended"
    finally:
        process.kill()
        process.join()


class _Chosen:
    """Plugin of pytest: it runs `tests` alone, all where this is None, and keeps the name of the first that fails."""

    def __init__(self, tests: Sequence[str] | None) -> None:
        self.tests = None if tests is None else frozenset(tests)
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self.tests is None or item.nodeid in self.tests]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def _answer(copy: Path, arguments: list[str], tests: list[str] | None, asked: Connection) -> None:
    """Runs `tests`, or all that `arguments` say, in a process that has imported large packages, and not this one."""
    sys.dont_write_bytecode = False  # whatever the shell says: compiling takes longer than the tests
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    chosen = _Chosen(tests)
    options = ["-q", "-x", "--tb=no", "--assert=plain", "--timeout=60", "-p", "no:cacheprovider", "-p", "no:xdist"]
    code = pytest.main([*options, *arguments], plugins=[chosen])
    passed = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    asked.send(chosen.failed or ("" if passed else f"pytest ended with {code}"))
