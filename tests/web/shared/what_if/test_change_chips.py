"""Changes stand on every page; what cannot apply says why, and no link breaks a page."""

from collections.abc import Sequence

import pytest

from playground.link import changes as link_changes
from playground.model import interventions
from playground.model.change_texts import read_change, write_change
from playground.model.changes import Change, Subject
from tests.web.app_test import (
    SMALL,
    array,
    captions,
    charts,
    component_data,
    open_page,
    press,
    sentences,
    without_error,
)

CHANGES = "1.1:zero,-0.2:mean,9.0:zero,1.3:cut_4_2,positions:shuffle_1"
HOSTILE = (
    "3.1:zero,3.1:zero", "<script>alert(1)</script>", "-", ",,,,", "~~~", "1.1:zero~9", "-1.-1:zero", "9e9.1:zero",
    "1.1:weight_0_0_nan", "embed:patch_*_0", "\u202e1.1:zero", "1.1:" + "9" * 5000, ",".join(["1.1:zero"] * 500),
)  # fmt: skip


@pytest.mark.parametrize("do", HOSTILE)
def test_a_hostile_link_opens_with_what_can_be_read(do: str) -> None:
    app = open_page("what_if", **SMALL, do=do)
    assert not app.error
    assert "Traceback" not in sentences(app)
    assert len(component_data(app, "change_chips").get("chips", [])) <= 24


def test_a_text_that_no_run_can_have_leaves_the_chips() -> None:
    app = open_page("attention", **SMALL | {"text": ""}, do="1.1:zero")
    (chip,) = component_data(app, "change_chips")["chips"]
    assert (chip["name"], chip["reason"], chip["is_pending"]) == ("layer 1, head 1 off", "", True)
    (chip,) = component_data(open_page("attention", **SMALL | {"text": ""}, do="-1.1:zero"), "change_chips")["chips"]
    assert (chip["note"], chip["is_pending"]) == ("", False)


def test_a_change_of_a_head_that_is_off_says_that_it_has_no_effect_and_is_made() -> None:
    app = open_page("attention", **SMALL, do="1.1:zero,1.1:cut_4_2,1.2:cut_4_2,-0.attn:off,0.1:zero")
    chips = component_data(app, "change_chips")["chips"]
    assert [bool(chip["note"]) for chip in chips] == [False, True, False, False, False]
    assert "head 1 of layer 1 is off" in chips[1]["note"]
    assert not any(chip["reason"] or chip["is_pending"] for chip in chips)
    assert "4 changes" in captions(app)


def test_a_patch_between_sentences_of_other_lengths_is_told_of_and_the_rest_applies() -> None:
    app = open_page(
        "attention", **SMALL | {"text": "abcdef\nabc\nxyzuvw"}, do="0.out:patch_2_2,0.out:patch_3_3,1.1:zero"
    )
    reasons = [chip["reason"] for chip in component_data(app, "change_chips")["chips"]]
    assert "6 and 3 tokens" in reasons[0]
    assert reasons[1:] == ["", ""]
    assert "2 changes" in captions(app)


def test_all_is_taken_back_at_once() -> None:
    app = open_page("attention", **SMALL, do="1.1:cut_4_2,1.2:zero")
    assert array(charts(app)["attention_pattern"], name="customdata")[4, 2] == 0
    press(app, "changes_back")
    assert component_data(app, "change_chips") == {}
    assert array(charts(app)["attention_pattern"], name="customdata")[4, 2] > 0


def test_positions_shows_the_model_without_changes() -> None:
    one, two = (open_page("positions", **SMALL, **query) for query in ({}, {"do": "positions:shuffle_3,0.attn:off"}))
    assert charts(one).keys() == charts(two).keys()
    for name, traces in charts(one).items():
        assert traces == charts(two)[name]


def test_a_page_reads_and_checks_the_changes_of_its_link_once(monkeypatch: pytest.MonkeyPatch) -> None:
    interventions.divide_changes.cache_clear()
    read, checked, check = [], [], interventions.check_change

    def note_read(text: str) -> Change | None:
        read.append(text)
        return read_change(text)

    def note_check(subject: Subject, wanted: Change, applied: Sequence[Change] = ()) -> None:
        checked.append(write_change(wanted))
        check(subject, wanted, applied)

    monkeypatch.setattr(link_changes, "read_change", note_read)
    monkeypatch.setattr(interventions, "check_change", note_check)
    app = without_error(open_page("norms", **SMALL, do="1.1:zero,-0.0:zero,0.2:mean", seed=911))
    assert read == ["1.1:zero", "0.0:zero", "0.2:mean"]
    assert checked == [read[0], read[2]]
    without_error(app.run())
    assert (len(read), len(checked)) == (3, 2)
