"""How many small faults the tests find: one at a time is put into a copy of the project, and the tests are run on it.

    python -m benchmarks.mutants --seed 1 --count 100

A fault is a comparison, an operator, a number or a condition that is another one (DeMillo, Lipton and Sayward, "Hints
on Test Data Selection", 1978). Which are drawn depends on the seed and the sources alone. The tests of a fault's own
folder are asked first, then all that `make check` runs without opening pages, then the pages. Prints a line a fault:
one that nothing finds either changes nothing that can be seen or lacks a test.
"""

import argparse
import ast
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("accounting", "analysis", "link", "model", "runs", "training")
MODULES = ("web/session/caches.py", "web/session/result_cache.py", "web/session/weights_cache.py")
"""In `playground/`, whose sources get faults: the model, what is computed from it, links, training and caches."""

STAGES = (
    (),  # and the tests of the fault's own folder
    ("tests", *(f"--ignore=tests/{each}" for each in ("attacks", "browser", "cluster", "deploy", "processes", "web"))),
    ("tests/web",),
)
"""Arguments of pytest, one after the other until a test fails."""

LONGEST = 900
"""Seconds for one stage: a fault that makes a loop endless is found by that."""

_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One fault in one module."""

    path: Path
    """Below the project's folder."""
    line: int
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
    for node in _expressions(ast.parse(text)):
        other = _other(node)
        if other is not None:
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            raw = text.encode()
            source = (raw[:begin] + f"({other})".encode() + raw[end:]).decode()
            yield Mutant(path, node.lineno, raw[begin:end].decode(), other, source)


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """Those that are computed: no annotations and no parts of texts."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr):
                yield child
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _expressions(child)


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


def find(mutant: Mutant, copy: Path) -> str:
    """Which test finds it in a `copy` of the project: its name, `endless`, or nothing."""
    original = (copy / mutant.path).read_text()
    (copy / mutant.path).write_text(mutant.source)
    try:
        own = _folder_of_tests(mutant.path)
        for stage in ((own,) if own else (), *STAGES[1:]):
            if stage and (found := _run(stage, copy)):
                return found
        return ""
    finally:
        (copy / mutant.path).write_text(original)


def _folder_of_tests(path: Path) -> str:
    """Where the tests of a module lie: those of the nearest folder that has any."""
    folder = Path("tests", *path.parts[1:-1])
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return "" if folder == Path("tests") else str(folder)


def _run(arguments: Sequence[str], copy: Path) -> str:
    """The first failing test's name; `endless` for one that does not end; empty if all pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--hypothesis-profile", "quick"]
    command += ["-m", "not sweep and not long", "--tb=no", *arguments]
    try:
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return "endless"
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else f"pytest ended with {done.returncode}"


def main() -> None:
    """Draw faults and tell of each which test finds it."""
    parser = argparse.ArgumentParser(description="How many small faults the tests find.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    chosen = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=copy, input=archive, check=True)
        for number, mutant in enumerate(draw_mutants(chosen.seed, chosen.count), 1):
            by = find(mutant, copy)
            found += bool(by)
            place = f"{mutant.path}:{mutant.line}"
            print(f"{number} {'found' if by else 'MISSED'} {place} {mutant.before} → {mutant.after} {by}", flush=True)
    print(f"{found} of {chosen.count} found")


if __name__ == "__main__":
    os.nice(19)
    main()
