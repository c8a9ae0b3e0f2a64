"""Changes survive a link and are made in its run; whatever else stands there is told of in a sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import open_link
from playground.link.kinds import MAX_CHANGES, Changes, MadeChange, read_changes
from playground.link.query import write_query
from playground.model.change_texts import read_change, write_change
from playground.model.changes import Change
from playground.runs.encoder_run import run

EXAMPLES: dict[str, Change] = {
    "3.1:zero": Change("zero", 3, 1), "3.*:zero~0.5": Change("zero", 3, strength=0.5),
    "0.11:mean": Change("mean", 0, 11), "2.attn:off": Change("off", 2, None, ("attn",)),
    "2.ffn:off~0.25": Change("off", 2, None, ("ffn",), strength=0.25),
    "3.1:cut_4_7": Change("weight", 3, 1, (4, 7, 0.0)),
    "3.1:force_4_7_after": Change("weight_after", 3, 1, (4, 7, 1.0)),
    "3.*:weight_4_7_0.25": Change("weight", 3, None, (4, 7, 0.25)), "3.1:hide_7": Change("hide", 3, 1, (7,)),
    "3.*:hide_7~0.5": Change("hide", 3, None, (7,), strength=0.5), "3.1:uniform_4": Change("uniform", 3, 1, (4,)),
    "3.*:diagonal_*": Change("diagonal", 3, None, (None,)), "3.1:copy_4_0": Change("copy", 3, 1, (4, 0)),
    "positions:shuffle_7": Change("shuffle", args=(7,)),
    "embed:patch_4_2": Change("patch", None, None, ("embed", 4, 1)),
    "3.mid:patch_*_1": Change("patch", 3, None, ("mid", None, 0)),
    "3.1.z:patch_4_2": Change("patch", 3, 1, ("z", 4, 1)), "3.z:patch_4_2": Change("patch", 3, None, ("z", 4, 1)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "change"), EXAMPLES.items())
def test_the_text_of_each_kind_is_frozen(text: str, change: Change) -> None:
    assert write_change(change) == text
    assert read_changes(text) == (Changes((MadeChange(change),)), None)
    assert read_changes(f"-{text}") == (Changes((MadeChange(change, is_on=False),)), None)


@given(st.text(max_size=60) | st.text(alphabet="0123456789.*:~_,-e attnzerofpch", max_size=60))
def test_junk_is_read_or_told_of(text: str) -> None:
    found, sentences = read_changes(text)
    items = [item for item in text.split(",") if item]
    assert bool(items) == bool(found.made or sentences)
    assert "\n" not in (sentences or "")
    assert read_changes(str(found)) == (found, None)


@pytest.mark.parametrize(
    "text",
    ["", "zero", "3:zero", "3.1:", "3.1:zero~", "3.1:zero~2", "3.1:zero~nan", "3.1:zero~1.2.3", "3.1:zero~-1",
     "-1.0:zero", "3.1:off", "٣.1:zero", "3.1:cut_4", "3.1:cut_4_7_0.5", "3.1:weight_4_7", "3.1:weight_4_7_7",
     "3.1:copy_4", "3.1:uniform_4_0", "positions:shuffle", "embed:patch_4", "3.embed:patch_4_2", "3.1.mid:patch_4_2",
     "3.1:zero\n", "9999999999.1:zero", "3.1:force_*_7", "3.1:hide_*", "3.1:hide_7_after", "3.1:zero~0.5~0.5"],
)  # fmt: skip
def test_what_is_no_change_is_refused(text: str) -> None:
    assert read_change(text) is None


def test_the_readable_rest_applies_and_a_link_holds_only_so_many() -> None:
    found, sentences = read_changes("3.1:zero,<b>,2.ffn:off")
    assert str(found) == "3.1:zero,2.ffn:off"
    assert str(sentences).count("is not a change") == 1
    assert "<" not in str(sentences)
    found, sentences = read_changes(",".join(f"{i}.1:zero" for i in range(10 * MAX_CHANGES)))
    assert len(found.made) == MAX_CHANGES
    assert read_changes(str(found)) == (found, None)
    assert "more than 64 changes" in str(sentences)


SMALL = "weights=random&tokenizer=char&d_model=16&n_heads=4&n_layers=2&d_ff=32&text=abcdef%0Aabc"


def test_a_links_changes_are_made_in_its_run_and_what_cannot_be_is_told() -> None:
    view, plain = open_link(f"{SMALL}&do=1.2:zero,-0.0:zero,9.0:zero,0.out:patch_1_2,<b>"), open_link(SMALL)
    assert view.lab.fitted_changes.applied == (Change("zero", 1, 2),)
    expected = run(view.encoder, view.batch, 0, interventions=[Change("zero", 1, 2)])
    np.testing.assert_array_equal(view.run.arrays["final"], expected.arrays["final"])
    assert not np.array_equal(view.run.arrays["final"], plain.run.arrays["final"])
    assert len(view.notices) == 3
    told = " ".join(view.notices)
    assert all(part in told for part in ("the model's layers are 0 to 1", "6 and 3 tokens", "is not a change"))
    assert plain.notices == ()
    assert open_link(write_query(view.values)).lab.fitted_changes.applied == view.lab.fitted_changes.applied
