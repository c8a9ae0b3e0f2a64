"""No regular expression of the package takes more than linear time, whatever text it meets."""

import ast
import re
import time
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import pytest

import playground
from playground.model.change_texts import _pattern
from playground.model.changes import KINDS
from playground.weights.schemes import SCHEMES

_ROOT = Path(playground.__file__).parent
_LENGTH = 20_000
_MOST_SECONDS = 1.0
"""Of processor time: a linear search of so many characters takes milliseconds, a quadratic one several seconds."""

Search = Callable[[re.Pattern[str], str], object]


def _find_all(pattern: re.Pattern[str], text: str) -> None:
    for _ in pattern.finditer(text):
        pass


_ONCE: dict[str, Search] = {"match": re.Pattern.match, "fullmatch": re.Pattern.fullmatch}
_SEARCHES = {*_ONCE, "compile", "search", "sub", "split", "findall", "finditer"}


def _in_source() -> Iterator[tuple[str, ast.expr, Search]]:
    """Where each regular expression stands, its source, and how it is used."""
    for path in sorted(_ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module, _, name = ast.unparse(node.func).rpartition(".") if isinstance(node, ast.Call) else ("", "", "")
            if isinstance(node, ast.Call) and module == "re" and name in _SEARCHES:
                yield f"{path.relative_to(_ROOT)}:{node.lineno}", node.args[0], _ONCE.get(name, _find_all)


def _write(source: ast.expr) -> str | None:
    """The pattern; one that is put together has a word in each hole. None: it is a name."""
    if isinstance(source, ast.Constant):
        return str(source.value)
    if isinstance(source, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in source.values)
    return None


PATTERNS = {place: (text, search) for place, source, search in _in_source() if (text := _write(source)) is not None}
PATTERNS |= {f"ignored by {name}": (each.ignored, _ONCE["match"]) for name, each in SCHEMES.items() if each.ignored}
PATTERNS |= {
    f"spelling of {name}, {i}": (pattern, _find_all)
    for name, each in SCHEMES.items()
    for i, (pattern, _) in enumerate(each.spellings)
}
PATTERNS |= {
    f"change {template}": (_pattern(template).pattern, _ONCE["fullmatch"])
    for spec in KINDS.values()
    for template, _ in spec.texts
}


def _worst_texts(pattern: str, length: int) -> Iterator[str]:
    """Texts of one or two kinds of character or word, those of the pattern among them, with an end that fails.

    The words that a pattern begins with, such as `{=`, are there as a whole too.
    """
    words = {word for word in re.findall(r"[A-Za-z]{2,}|[^\w\s\\]", pattern) if len(word) < 10}
    begin = re.sub(r"\\(?=\W)", "", re.match(r"(?:\\\W|[^\\\[(.?*+^$|])*", pattern)[0])  # type: ignore[index]
    pieces = [" ", "a", "A", "1", *{begin} - {""}, *sorted(words - {begin})][:12]
    for end in ("\x00", "x"):
        yield from (piece * (length // len(piece)) + end for piece in pieces)
        yield from (one + other * (length // len(other)) + end for one, other in permutations(pieces, 2))


@pytest.mark.long
@pytest.mark.parametrize("place", PATTERNS)
def test_no_text_makes_a_search_quadratic(place: str) -> None:
    text, search = PATTERNS[place]
    pattern = re.compile(text)
    for short, worst in zip(_worst_texts(text, _LENGTH // 10), _worst_texts(text, _LENGTH), strict=True):
        if _seconds(search, pattern, short) < _MOST_SECONDS / 1_000:  # where it is quadratic, ten times as long is 0.1
            continue
        assert _seconds(search, pattern, worst) < _MOST_SECONDS, (text, worst[:20], worst[-3:])


def _seconds(search: Search, pattern: re.Pattern[str], text: str) -> float:
    start = time.process_time()
    search(pattern, text)
    return time.process_time() - start


def test_every_regular_expression_is_among_them() -> None:
    named = {ast.unparse(source) for _, source, _ in _in_source() if _write(source) is None}
    assert named == {
        "pattern",  # a scheme's spellings
        "scheme.ignored",
        "place[3]", "''.join([*pieces, re.escape(template[at:])])",  # what a change's sentence is made of
    }  # fmt: skip
