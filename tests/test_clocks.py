"""Durations are measured with clocks that nobody sets: a machine's time may jump, back as well as forth."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("playground", "pages", "deploy")
SET_BY_HAND = {
    "time": {"time", "time_ns", "localtime", "gmtime", "ctime", "strftime", "clock_gettime"},
    "datetime": {"datetime", "date", "now", "today", "utcnow"},
}
"""By its module, what reads the clock that people and servers set."""


def settable_clocks(source: str) -> set[str]:
    """What a text uses of these."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in SET_BY_HAND:
            found.update(f"{node.module}.{name.name}" for name in node.names if name.name in SET_BY_HAND[node.module])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = node.value.id
            found.update({f"{module}.{node.attr}"} if node.attr in SET_BY_HAND.get(module, ()) else ())
    return found


@pytest.mark.long
def test_nothing_measures_with_a_clock_that_can_be_set() -> None:
    sources = [ROOT / "streamlit_app.py", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    found = {str(path): settable_clocks(path.read_text(encoding="utf-8")) for path in sources}
    assert len(found) > 200
    assert {path: clocks for path, clocks in found.items() if clocks} == {}
