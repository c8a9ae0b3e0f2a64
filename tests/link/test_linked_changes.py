"""A link's changes of the computation outside of the app: made in its run, told of where they cannot be."""

from collections.abc import Sequence

import numpy as np
import pytest

from playground import open_link
from playground.command_line import main
from playground.link.interventions import read_interventions
from playground.link.interventions.read_interventions import read_intervention
from playground.link.link_values import write_query
from playground.model.interventions import Intervention, Subject, ZeroHead
from playground.runs.encoder_run import run

SMALL = "weights=random&tokenizer=char&d_model=16&n_heads=4&n_layers=2&d_ff=32&text=abcdef%0Aabc"


def test_a_links_changes_are_made_in_its_run_and_what_cannot_be_is_told() -> None:
    view, plain = open_link(f"{SMALL}&do=1.2:zero,-0.0:zero,9.0:zero,0.out:patch_1_2,<b>"), open_link(SMALL)
    assert view.changes.applied == (ZeroHead(1, 2),)
    expected = run(view.encoder, view.batch, 0, interventions=[ZeroHead(1, 2)])
    np.testing.assert_array_equal(view.run.arrays["final"], expected.arrays["final"])
    assert not np.array_equal(view.run.arrays["final"], plain.run.arrays["final"])
    assert len(view.notices) == 3
    told = " ".join(view.notices)
    assert all(part in told for part in ("the model's layers are 0 to 1", "6 and 3 tokens", "is not a change"))
    assert plain.notices == ()
    assert open_link(write_query(view.values)).changes.applied == view.changes.applied


def test_the_text_is_read_once_and_each_change_checked_once_on_the_way_to_the_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, checked, check = [], [], Subject.check

    def note_check(subject: Subject, wanted: Intervention, applied: Sequence[Intervention] = ()) -> None:
        checked.append(wanted)
        check(subject, wanted, applied)

    def note_read(text: str) -> Intervention:
        read.append(text)
        return read_intervention(text)

    monkeypatch.setattr(Subject, "check", note_check)
    monkeypatch.setattr(read_interventions, "read_intervention", note_read)
    view = open_link(f"{SMALL}&seed=7&do=1.2:zero,0.0:zero,-0.1:zero")
    assert view.run.interventions == (ZeroHead(1, 2), ZeroHead(0, 0))
    assert read == ["1.2:zero", "0.0:zero", "0.1:zero"]
    assert checked == [ZeroHead(1, 2), ZeroHead(0, 0)]


def test_the_command_makes_changes_and_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["abcdef", "--weights", "random", "--tokenizer", "char", "--layers", "2", "--heads", "4", "--d-model", "64"]
    assert main([*small, "--do", "1.2:cut_3_1,-0.0:zero,9.9:zero", "--head", "1.2"]) == 0
    shown = capsys.readouterr().out
    assert "what if: 1.2:cut_3_1\n" in shown
    assert "the model's layers are 0 to 1" in shown
    (row,) = [line for line in shown.splitlines() if line.strip().startswith("3 d ")]
    assert row.split()[3] == "."
    assert "do=1.2%3Acut_3_1%2C-0.0%3Azero%2C9.9%3Azero" in shown.splitlines()[-1]
    assert main(["--link", shown.splitlines()[-1]]) == 0
    assert "what if: 1.2:cut_3_1\n" in capsys.readouterr().out


def test_junk_among_the_commands_changes_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--do", "1.1:nonsense"])
    assert capsys.readouterr().err.count("\n") == 1
