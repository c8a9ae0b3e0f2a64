"""The words of every page: used, complete, and few."""

import ast
from functools import cache
from pathlib import Path

import pytest
from fluent.syntax import FluentParser
from fluent.syntax import ast as fluent
from fluent.syntax.visitor import Visitor

from playground.words import FOLDER, say
from tests.words.states import GOLDEN, PREFIXES, write_states

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(FOLDER.glob("en/*.ftl"))
MOST_WORDINGS = 5


@cache
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


class Reading(Visitor):
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


@cache
def calls() -> list[tuple[str, str, set[str] | None]]:
    """Every `say(page, key, …)` of the source: the page, the key or a computed one's beginning, the names of values.

    A beginning ends in a hyphen; the names are None where a mapping is spread.
    """
    found: list[tuple[str, str, set[str] | None]] = []
    for path in (*ROOT.glob("playground/**/*.py"), *ROOT.glob("pages/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                page, key = node.args
                if isinstance(key, ast.JoinedStr):
                    key = key.values[0]
                assert isinstance(page, ast.Constant), f"{path}: a page's name is written out"
                assert isinstance(key, ast.Constant), f"{path}: a key is written out, or begins with what it is"
                names = {each.arg for each in node.keywords if each.arg is not None}
                known = names if len(names) == len(node.keywords) else None
                found.append((str(page.value), str(key.value), known))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_text_is_used_and_has_few_wordings(path: Path) -> None:
    found = messages(path)
    used = {key for page, key, _ in calls() if page == path.stem}
    begun = tuple(key for key in used if key.endswith("-"))
    assert sorted(key for key in found if key not in used and not key.startswith(begun or "-")) == []
    assert {key: n for key, text in found.items() if (n := Reading(text).wordings) > MOST_WORDINGS} == {}


def test_every_call_finds_its_text_with_all_its_values() -> None:
    files = {path.stem: messages(path) for path in FILES}
    for page, key, names in calls():
        if key.endswith("-"):
            assert any(each.startswith(key) for each in files[page]), f"{page}.{key}"
            continue
        assert key in files[page], f"{page}.{key}"
        if names is not None:
            assert Reading(files[page][key]).values == names, f"{page}.{key}"


def test_a_missing_value_or_message_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "some.ftl").write_text("ends = It ends at { NUM($length) }.\n    .help = Help.\n")
    monkeypatch.setattr("playground.words.FOLDER", tmp_path)
    assert say("some", "ends", length=12.3456) == "It ends at 12.3."
    assert say("some", "ends.help") == "Help."
    for key in ("ends", "other"):
        with pytest.raises(KeyError):
            say("some", key)


@pytest.mark.long
@pytest.mark.parametrize("page", PREFIXES)
def test_a_page_says_what_was_reviewed(page: str) -> None:
    """`python -m tests.words.states` writes the files anew: review the difference."""
    assert write_states(page) == (GOLDEN / f"{page}.txt").read_text(encoding="utf-8")
