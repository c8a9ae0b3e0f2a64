"""How many small faults the tests find: one at a time is put into a copy of the project, and tests are run on it.

    python -m benchmarks.mutants --seed 1 --count 300

A fault is a comparison, an operator, a number or a condition that is another one (DeMillo, Lipton and Sayward, "Hints
on Test Data Selection", 1978). Which are drawn depends on the seed and the sources alone. What `make check` runs is
watched once: then each line is known by the tests that execute it, and a fault is asked of these alone; a survivor
then, in their files and in its own folder's, of what only `make test` runs. What the watched run tells is kept in
`build/mutants/`, by the commit that changed pages, package or tests last. Prints a line a fault: one that survives
either changes nothing that can be seen or lacks a test.
"""

import argparse
import ast
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.covering_tests import LIMIT, QUICK, ROOT, Coverage, ask, files_of, folder_of_tests

FOLDERS = ("accounting", "analysis", "link", "model", "runs", "training")
MODULES = ("web/session/caches.py", "web/session/services.py")
"""In `playground/`, whose sources get faults: the model, what is computed from it, links, training and caches."""

REST = ("-m", "sweep or long or hypothesis")
"""What `make test` runs beside what `make check` does, or with more examples."""

AT_ONCE = 60
"""Tests that are asked at first, of the fault's own folder and of the others."""

_PAIRS: list[tuple[type[ast.AST], type[ast.AST]]] = [
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.And, ast.Or),
]
_OTHER = dict(_PAIRS) | {other: sign for sign, other in _PAIRS} | {ast.FloorDiv: ast.Mult}
"""By which sign another one is replaced."""


@dataclass(frozen=True)
class Mutant:
    """One fault in one module."""

    path: Path
    """Below the project's folder."""
    line: int
    statement: int
    """The line of its statement; 0 where it is computed while the module is imported."""
    before: str
    after: str
    source: str
    """Of the module with the fault in it."""


def mutants(path: Path) -> Iterator[Mutant]:
    """All faults that can be put into the module at `path` below the project's folder, in its order."""
    text = (ROOT / path).read_text()
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    for node, statement in _expressions(ast.parse(text)):
        other = _other(node)
        if other is not None:
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            raw = text.encode()
            source = (raw[:begin] + f"({other})".encode() + raw[end:]).decode()
            yield Mutant(path, node.lineno, statement, raw[begin:end].decode(), other, source)


def _expressions(tree: ast.AST, statement: int = 0) -> Iterator[tuple[ast.expr, int]]:
    """Those that are computed, no annotations and no parts of texts; each with `Mutant.statement`."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "format_spec"):
            continue
        called = name == "body" and isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in value if isinstance(value, list) else [value]:
            below = statement
            if isinstance(child, ast.stmt | ast.expr) and (called or (statement and isinstance(child, ast.stmt))):
                below = child.lineno
            if isinstance(child, ast.expr):
                yield child, below
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _expressions(child, below)


def _other(node: ast.expr) -> str | None:
    """The faulty expression, as source; None where there is none."""
    match node:
        case ast.Compare(left, [sign], [right]) if type(sign) in _OTHER:
            return ast.unparse(ast.Compare(left, [_OTHER[type(sign)]()], [right]))  # type: ignore[list-item]
        case ast.BinOp(left, sign, right) if type(sign) in _OTHER and not (_is_text(left) or _is_text(right)):
            return ast.unparse(ast.BinOp(left, _OTHER[type(sign)](), right))  # type: ignore[arg-type]
        case ast.BoolOp(sign, values):
            return ast.unparse(ast.BoolOp(_OTHER[type(sign)](), values))  # type: ignore[arg-type]
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            return ast.unparse(operand)
        case ast.Constant(bool(value)):
            return str(not value)
        case ast.Constant(int(value)):
            return str(value + 1)
    return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def draw_mutants(seed: int, count: int) -> list[Mutant]:
    """`count` of all, each equally likely."""
    package = ROOT / "playground"
    paths = [path for folder in FOLDERS for path in sorted((package / folder).rglob("*.py"))]
    paths += [package / module for module in MODULES]
    everything = [each for path in paths for each in mutants(path.relative_to(ROOT))]
    return random.Random(seed).sample(everything, count)


def find_by_check(mutant: Mutant, copy: Path, coverage: Coverage) -> str | None:
    """Which test of `make check` finds it in a `copy` of the project; empty for none, None where time is out."""
    tests, folder = coverage.tests_of(mutant.path, mutant.line, mutant.statement), folder_of_tests(mutant.path)
    own = [test for test in tests if test.startswith(f"{folder}/")]
    own.sort(key=lambda test: mutant.path.stem not in test.split("::")[0])  # first those of a file called as the module
    others = [test for test in tests if not test.startswith(f"{folder}/")]
    end = time.monotonic() + LIMIT
    for some in (own[:AT_ONCE], others[:AT_ONCE], own[AT_ONCE:] + others[AT_ONCE:]):
        found = ask(copy, [*QUICK, *files_of(some)], some, end) if some else ""
        if found != "":
            return found
    return ""


def find_by_test(mutant: Mutant, copy: Path, coverage: Coverage) -> str | None:
    """Which test finds it that only `make test` runs, or with more examples; empty for none, None as above."""
    files = [folder_of_tests(mutant.path), *files_of(coverage.tests_of(mutant.path, mutant.line, mutant.statement))]
    failing = [f"--deselect={test}" for test in coverage.failing]
    return ask(copy, [*REST, *files, *failing], None, time.monotonic() + LIMIT)


Finder = Callable[[Mutant, Path, Coverage], str | None]


def find(number: int, mutant: Mutant, copy: Path, coverage: Coverage, ask_tests: Finder) -> str | None:
    """What `ask_tests` says of a fault that is put into the `copy` for so long, but for tests that fail without it."""
    module = copy / mutant.path
    original = module.read_text()
    while True:
        module.write_text(mutant.source)
        os.utime(module, (number, number))  # unlike any that a compiled module is of
        found = ask_tests(mutant, copy, coverage)
        module.write_text(original)
        if not found or "::" not in found or coverage.passes(found):
            return found


def main() -> None:
    """Draw faults and tell of each which test finds it."""
    parser = argparse.ArgumentParser(description="How many small faults the tests find.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="the number of the fault to go on from")
    parser.add_argument("--last", type=int, help="the number of the last one")
    chosen = parser.parse_args()
    last = ["git", "log", "-1", "--format=%h", "--", "pages", "playground", "tests"]
    commit = subprocess.run(last, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kept = ROOT / "build/mutants" / commit.strip()
    kept.mkdir(parents=True, exist_ok=True)
    drawn = draw_mutants(chosen.seed, chosen.count)
    left = list(enumerate(drawn, 1))[chosen.first - 1 : chosen.last]
    count = len(left)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=copy, input=archive, check=True)
        coverage = Coverage(copy, kept)
        for suite, finder in (("check", find_by_check), ("test", find_by_test)):
            open_ = []
            for number, mutant in left:
                by = find(number, mutant, copy, coverage, finder)
                if not by:
                    open_.append((number, mutant))
                verdict = f"found by {by}" if by else "UNDECIDED" if by is None else "MISSED"
                fault = f"{mutant.path}:{mutant.line} {mutant.before} → {mutant.after}"
                print(f"{suite} {number} {fault} {verdict}", flush=True)
            left = open_
            print(f"{count - len(left)} of {count} found by make {suite}", flush=True)


if __name__ == "__main__":
    os.nice(19)
    main()
