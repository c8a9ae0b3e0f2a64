"""Commands for teachers: what holds in their exercises, and what codes say."""

from pathlib import Path

import pytest

from playground.command_line import main
from playground.learn.exercise import shipped_exercises
from playground.learn.results import SignedResult, make_keys, read_private_key, sign_result
from tests.learn.test_reading import WHOLE


def write(folder: Path, text: str, name: str = "mine.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_an_exercise_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "check", write(tmp_path, WHOLE)]) == 0
    assert capsys.readouterr().out.endswith("mine.yaml: how-wide holds in all 2 cases.\n")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("solved: 16", "solved: 17", "found by hand, “17”, is not right"),
        ("example: 64", "example: 16", "“not divided” is right here"),
        ("example: 64", "example: 3", "taken for no expected mistake"),
        ("n_heads: 4", "n_heads: 7", "n_heads"),
        ("question:", "rests_on: [nothing]\nquestion:", "“nothing”, which is no exercise"),
        ("question:", "hidden: [nothing]\nquestion:", "has no “nothing”"),
        ("{width: 32}]", "{width: 33}]", "case “33”"),
        ("config[n_heads]\nsolved", "config[nothing]\nsolved", "has no “nothing”"),
        (" | .0f", " | .0q", "is no format"),
        ("level: 1", "level: 9", "line 4"),
    ],
)
def test_what_does_not_hold_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    assert old in WHOLE
    assert main(["lesson", "check", write(tmp_path, WHOLE.replace(old, new))]) == 1
    assert says in capsys.readouterr().out


def test_options_of_which_none_or_two_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, end = WHOLE.index("answer:"), WHOLE.index("hints:")
    for conditions, says in ((("1 > 2", "1 > 2"), "None of the options"), (("1 < 2", "1 < 2"), "More than one")):
        options = "".join(
            f"    {name}: {{text: x, when: {when}}}\n" for name, when in zip("ab", conditions, strict=True)
        )
        answer = f"answer:\n  kind: choose\n  options:\n{options}"
        assert main(["lesson", "check", write(tmp_path, WHOLE[:start] + answer + WHOLE[end:])]) == 1
        assert says in capsys.readouterr().out


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    assert main(["lesson", "check", str(tmp_path / "none.yaml"), str(tmp_path / "bytes.yaml"), str(tmp_path)]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_codes_are_verified_line_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "keys"]) == 0
    lines = capsys.readouterr().out.split()
    private, public = lines[0].partition("=")[2], lines[-1]
    result = SignedResult(exercise="how-wide", variant=0, answer="16", is_right=True, tries=1, time=0)
    code = sign_result(result, read_private_key(private))
    assert main(["results", "verify", write(tmp_path, f"{code}\n\n", "codes"), "--key", public]) == 0
    assert capsys.readouterr().out == "line 1: how-wide 0: 16: right, 1 try, 1970-01-01 00:00:00 UTC\n"
    assert main(["results", "verify", write(tmp_path, f"{code}\n{code[5:]}\n", "codes"), "--key", public]) == 1
    assert "line 2: This code" in capsys.readouterr().out
    assert main(["results", "verify", write(tmp_path, "\n", "codes"), "--key", public]) == 2
    assert main(["results", "verify", str(tmp_path / "codes"), "--key", make_keys()[1]]) == 2


def test_a_sentence_that_begins_like_a_command_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson check", "--weights", "random", "--layers", "1"]) == 0
    assert "lesson" in capsys.readouterr().out


def test_what_is_shipped_is_called_after_its_key() -> None:
    for key, exercise in shipped_exercises().items():
        assert exercise.key == key


def test_all_that_is_wrong_in_a_file_is_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, "title: 3\nminutes: many\nauthor: me\nsteps: []\n")
    assert main(["lesson", "check", file]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("line ")[2][:1] for line in lines] == ["3", "1", "2"]
