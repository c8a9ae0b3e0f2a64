"""The command for teachers: what does not hold in their exercises."""

from pathlib import Path

import pytest

from playground.command_line import main
from tests.learn.test_reading import WHOLE

_ANSWER = WHOLE[WHOLE.index("  kind: number") : WHOLE.index("solved:")]
_BOTH = "  kind: choose\n  options: {a: {text: x, when: 1 < 2}, b: {text: x, when: 1 < 2}}\n"


def check(folder: Path, text: str) -> int:
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return main(["lesson", "check", str(file)])


def test_an_exercise_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, WHOLE) == 0
    assert "mine.yaml" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("solved: 16", "solved: 17", "“17”"),
        ("example: 64", "example: 16", "“not divided”"),
        ("n_heads: 4", "n_heads: 7", "n_heads"),
        ("question:", "hidden: [nothing]\nquestion:", "has no “nothing”"),
        ("{width: 32}]", "{width: 33}]", "case {'width': 33}"),
        ("config[n_heads]\nsolved", "config[nothing]\nsolved", "“nothing”"),
        (_ANSWER, _BOTH, "The right options are: a and b"),
        (_ANSWER, _BOTH.replace("<", ">"), "The right options are: none"),
    ],
)
def test_what_does_not_hold_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    assert old in WHOLE
    assert check(tmp_path, WHOLE.replace(old, new)) == 1
    assert says in capsys.readouterr().out


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    assert main(["lesson", "check", str(tmp_path / "none.yaml"), str(tmp_path / "bytes.yaml"), str(tmp_path)]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 3
