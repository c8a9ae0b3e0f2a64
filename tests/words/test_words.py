"""The words of every page: used, complete, and few."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fluent.syntax import FluentParser
from fluent.syntax import ast as fluent
from fluent.syntax.visitor import Visitor

from playground.words import FOLDER, say

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(FOLDER.glob("en/*.ftl"))
MOST_WORDINGS = 5


def messages(path: Path) -> dict[str, fluent.Pattern]:
    """A file's texts by their keys, attributes behind a dot."""
    found = {}
    for entry in FluentParser().parse(path.read_text(encoding="utf-8")).body:
        assert not isinstance(entry, fluent.Junk), f"{path.name}: {entry.content}"
        if isinstance(entry, fluent.Message):
            if entry.value is not None:
                found[entry.id.name] = entry.value
            found |= {f"{entry.id.name}.{each.id.name}": each.value for each in entry.attributes}
    return found


class Reading(Visitor):  # type: ignore[misc]
    """What a text asks for: its values, and the variants of its choices."""

    def __init__(self, pattern: fluent.Pattern) -> None:
        self.values: set[str] = set()
        self.wordings = 1
        self.visit(pattern)

    def visit_VariableReference(self, node: fluent.VariableReference) -> None:  # noqa: N802 - named by the library
        self.values.add(node.id.name)

    def visit_SelectExpression(self, node: fluent.SelectExpression) -> None:  # noqa: N802
        self.wordings += len(node.variants) - 1
        self.generic_visit(node)


def calls() -> Iterator[tuple[str, str | None, set[str] | None]]:
    """Every `say(page, key, …)` of the source: the page, the key (None: computed), the names (None: spread)."""
    for path in ROOT.glob("playground/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say" and node.args:
                page, key = node.args[0], node.args[1] if len(node.args) > 1 else None
                if isinstance(page, ast.Constant):
                    names = {each.arg for each in node.keywords if each.arg is not None}
                    is_spread = len(names) < len(node.keywords)
                    yield page.value, key.value if isinstance(key, ast.Constant) else None, None if is_spread else names


def used_keys(page: str) -> set[str]:
    """Keys that a page's calls name, and all quoted words of modules that compute theirs."""
    named = {key for each, key, _ in calls() if each == page and key is not None}
    if any(each == page and key is None for each, key, _ in calls()):
        for path in ROOT.glob("playground/**/*.py"):
            text = path.read_text(encoding="utf-8")
            if f'say("{page}"' in text:
                named |= set(re.findall(r'"([a-z][a-z0-9.-]*)"', text))
    return named


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_text_is_used_and_has_few_wordings(path: Path) -> None:
    found = messages(path)
    used = used_keys(path.stem)
    families = {key.rpartition("-")[0] for key in found}
    spelled = {key for key in found if key in used or key.rpartition("-")[0] in used or key.partition(".")[0] in used}
    assert sorted(found.keys() - spelled) == [], f"unused (families: {sorted(families & used)})"
    assert {key: n for key, text in found.items() if (n := Reading(text).wordings) > MOST_WORDINGS} == {}


def test_every_call_finds_its_text_with_all_its_values() -> None:
    asked = [each for each in calls() if each[1] is not None]
    files = {path.stem: messages(path) for path in FILES}
    for page, key, names in asked:
        assert key in files[page], f"{page}.{key}"
        if names is not None:
            assert Reading(files[page][key]).values == names, f"{page}.{key}"


def test_a_missing_value_or_message_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "some.ftl").write_text("ends = It ends at { NUM($length) }.\n    .help = Help.\n")
    monkeypatch.setattr("playground.words.FOLDER", tmp_path)
    assert say("some", "ends", length=12.3456) == "It ends at 12.3."
    assert say("some", "ends.help") == "Help."
    for key, values in (("ends", {}), ("other", {})):
        with pytest.raises(KeyError):
            say("some", key, **values)
