"""The table of the five says what their presets are; the catalogue of their mistakes is whole."""

import ast
import re
from dataclasses import fields, replace
from pathlib import Path
from unittest import mock

import pytest

from playground.config import ModelConfig
from playground.mistakes.registry import MISTAKES
from playground.presets import PRESETS
from playground.tutorials import table as module
from playground.tutorials.table import NAMES, Row, build_table
from playground.tutorials.tutorial_texts import TUTORIALS
from tests.tutorials.changes import change_field

ROOT = Path(__file__).resolve().parents[2]

# Written out once by hand, from the description of the tutorials; the order of cells is A to E.
EXPECTED = {
    "embedding": ["lookup × √d_model", "none: raw vectors", "none: raw vectors", *["lookup × √d_model"] * 2],
    "positions": ["sinusoidal", "sinusoidal, exponent doubled", "none", "sinusoidal", "sinusoidal"],
    "norm placement": ["pre-norm", *["post-norm"] * 4],
    "norm": ["one gain, one bias; unbiased deviation", *["a gain and a bias per feature; biased deviation"] * 4],
    "eps of the norm": ["1e-06, added to the deviation", *["1e-05, added to the variance"] * 4],
    "norm after the last block": ["yes", "no", "no", "yes", "no"],
    "activation": ["ReLU", "ReLU", "ReLU", "GELU", "ReLU"],
    "merging heads": [*["transpose, then reshape"] * 2, "reshape alone", *["transpose, then reshape"] * 2],
    "Q, K, V projections": ["three", "three", "one fused, head by head", "three", "three"],
    "d_model, heads, layers, d_ff": ["512, 8, 6, 2,048", "16, 4, 1, 64", "512, 8, 5, 2,048", *["512, 8, 6, 2,048"] * 2],
    "vocabulary": ["5", "–", "–", "10,000", "10,000"],
    "parameters": ["18,904,602", "3,280", "15,761,920", "24,035,328", "24,034,304"],
}
LATER = {
    *("bias", "d_embedding", "d_head", "first_norm", "gated", "global_every", "local_rotary_base", "n_kv_heads"),
    *("position_offset", "qk_norm", "relative_buckets", "relative_distance", "rotary_base", "share_layers", "window"),
}
UNSAID = {"embedding_norm", "n_segments", "residual", *LATER}  # the same in all five
SAID = {field.name for field in fields(ModelConfig)} - UNSAID - {"max_len", "dropout"}


def rows() -> dict[str, Row]:
    return {row.name: row for row in build_table()}


def test_every_tutorial_has_its_letter() -> None:
    assert list(NAMES) == ["A", "B", "C", "D", "E"]
    assert set(NAMES.values()) == {name for name in PRESETS if name.startswith("tutorial-")}


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_say_what_the_presets_are(name: str) -> None:
    assert rows()[name].cells == dict(zip("ABCDE", EXPECTED[name], strict=True))


def test_what_stands_out_is_marked() -> None:
    assert rows()["embedding"].unusual() == {"B", "C"}
    assert rows()["mask"].unusual() == {"B", "C", "D"}
    assert rows()["dropout"].unusual() == {"B", "C", "E"}


def test_notes_belong_to_rows_and_letters() -> None:
    assert all(row.notes.keys() <= NAMES.keys() for row in build_table())
    assert module._NOTES.keys() <= rows().keys()


def test_a_changed_preset_changes_its_cells() -> None:
    before, config = rows(), PRESETS["tutorial-e"].config
    for field in SAID:
        other = replace(PRESETS["tutorial-e"], config=change_field(config, field))
        with mock.patch.dict(PRESETS, {"tutorial-e": other}):
            after = rows()
        assert any(after[name].cells["E"] != before[name].cells["E"] for name in before), field
        assert all(after[name].cells["A"] == before[name].cells["A"] for name in before)


def test_fields_without_a_row_are_the_same_in_all_five() -> None:
    for field in UNSAID:
        assert len({getattr(PRESETS[preset].config, field) for preset in NAMES.values()}) == 1


def test_nothing_stands_out_where_no_cell_is_the_most_common() -> None:
    assert Row("r", {"A": "1", "B": "1", "C": "2", "D": "2", "E": "3"}, "all").unusual() == set()
    assert Row("r", dict.fromkeys("ABCDE", "1"), "nothing").unusual() == set()
    assert Row("r", {"A": "1", "B": "1", "C": "2", "D": "3", "E": "1"}, "some").unusual() == {"C", "D"}


IN_LINKS = ("as tutorial B",)
"""Words that links hold, whose captions have the title."""


def texts_of(source: str) -> list[str]:
    """A module's strings, each with its f-string's fixed parts, without its docstrings."""
    tree = ast.parse(source)
    unread = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in unread]
    return [node.value for node in parts if isinstance(node.value, str) and node.value not in IN_LINKS]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("folder", ["pages", "playground"])
def test_a_letter_never_stands_without_its_title(folder: str) -> None:
    files = [file for file in (ROOT / folder).rglob("*") if file.suffix in {".py", ".md"}]
    read = {file: file.read_text(encoding="utf-8") for file in files}
    texts = {file: texts_of(text) if file.suffix == ".py" else [text] for file, text in read.items()}
    alone = re.compile(r"\b[Tt]utorials? [A-E]\b(?! ·|:)")
    assert texts
    assert not [(file.name, text) for file, found in texts.items() for text in found if alone.search(text)]


def test_all_five_are_there() -> None:
    assert TUTORIALS.keys() == NAMES.keys()


@pytest.mark.parametrize("letter", TUTORIALS)
def test_every_lesson_has_a_page(letter: str, repository: Path) -> None:
    topics = TUTORIALS[letter].topics
    assert topics
    pages = {path.stem.replace("_", "-") for path in repository.glob("pages/*.py")}
    assert {topic.page for topic in topics} <= pages - {"tutorials"}


def test_the_number_of_mistakes_found() -> None:
    assert {letter: len(tutorial.mistakes) for letter, tutorial in TUTORIALS.items()} == {
        "A": 6, "B": 2, "C": 4, "D": 6, "E": 11,
    }  # fmt: skip


def test_what_stands_in_quotation_marks_stands_in_the_tutorial() -> None:
    printed = " ".join(mistake.printed for tutorial in TUTORIALS.values() for mistake in tutorial.mistakes)
    quoted = {"we used pre-norm", "attention is permutation invariant", "std ≈ 1", "like BERT-base"}
    assert set(re.findall("“(.*?)”", printed)) == quoted


@pytest.mark.parametrize("letter", TUTORIALS)
def test_every_mistake_is_shown_where_there_is_something_to_compute(letter: str) -> None:
    for mistake in TUTORIALS[letter].mistakes:
        assert mistake.happens.endswith(".") or (not mistake.happens and mistake.keys)
        assert not mistake.printed.endswith(".")
        if mistake.demonstration is None:
            assert mistake.happens == "NameError."
        else:
            told = mistake.demonstration()
            assert told == mistake.demonstration()
            assert "\n" not in told
            assert "nan" not in told


def test_a_tutorials_mistakes_are_those_of_the_registry_that_name_it() -> None:
    named = {(letter, key) for letter, each in TUTORIALS.items() for one in each.mistakes for key in one.keys}
    sources = {
        (letter, key)
        for key, mistake in MISTAKES.items()
        for letter in re.findall(r"^tutorial ([A-E]) ·", mistake.source)
    }
    assert named == sources
