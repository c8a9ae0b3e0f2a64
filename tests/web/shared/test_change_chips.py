"""Changes on request: their chips, names, and what is pinned beside them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.views.scenes import name_change
from tests.changes import made
from tests.web.app_test import SMALL, array, captions, charts, component_data, open_page, press, sentences

CHANGES = "1.1:zero,-0.2:mean,9.0:zero,1.3:cut_4_2,positions:shuffle_1"
HOSTILE = (
    "3.1:zero,3.1:zero", "<script>alert(1)</script>", ",,,,", "1.1:zero~9", "-1.-1:zero", "1.1:weight_0_0_nan",
    "embed:patch_*_0", "\u202e1.1:zero", "1.1:" + "9" * 5000, ",".join(["1.1:zero"] * 500),
)  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("do", HOSTILE)
def test_a_hostile_link_opens_with_what_can_be_read(do: str) -> None:
    app = open_page("what_if", **SMALL, do=do)
    assert not app.error
    assert "Traceback" not in sentences(app)
    assert len(component_data(app, "change_chips").get("chips", [])) <= 24


@pytest.mark.parametrize("do", ["1.1:zero", "-1.1:zero"])
def test_without_a_text_the_chips_stay_and_those_that_are_on_wait(do: str) -> None:
    (chip,) = component_data(open_page("attention", **SMALL | {"text": ""}, do=do), "change_chips")["chips"]
    assert (chip["name"], chip["reason"]) == ("layer 1, head 1 off", "")
    assert bool(chip["note"]) == (do[0] != "-")


def test_a_patch_between_sentences_of_other_lengths_is_told_of_and_the_rest_applies() -> None:
    text, do = "abcdef\nabc\nxyzuvw", "0.out:patch_2_2,0.out:patch_3_3,1.1:zero"
    app = open_page("attention", **SMALL | {"text": text}, do=do)
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


def test_swap_and_reset_take_changes_along() -> None:
    app = open_page("attention", **SMALL, do="1.1:zero", pinned="true", b_do="-0.0:zero")
    for text in ("0.0:zero", "1.1:zero"):
        press(app, "pin_swap")
        assert [chip["text"] for chip in component_data(app, "change_chips")["chips"]] == [text]
    assert component_data(press(app, "reset"), "change_chips") == {}


TOKENS = ["[CLS]", "the", "animal", "it", "a" * 300]

NAMES = {
    "3.*:zero~0.5": "layer 3, all heads off · strength 0.5",
    "3.1:mean": "layer 3, head 1: mean over tokens",
    "2.ffn:off": "layer 2: feed-forward off",
    "3.1:cut_3_2": "layer 3, head 1: it₃ ↛ animal₂",
    "3.1:force_3_2": "layer 3, head 1: it₃ → animal₂ alone",
    "3.1:weight_3_2_0.25": "layer 3, head 1: it₃ → animal₂ 0.25",
    "3.1:force_3_2_after": "layer 3, head 1: it₃ → animal₂ 1, after the softmax",
    "3.1:hide_2": "layer 3, head 1: animal₂ hidden",
    "3.1:uniform_*": "layer 3, head 1: every token → all evenly",
    "3.1:copy_3_0": "layer 3, head 1: it₃ → as head 0",
    "positions:shuffle_7": "positions shuffled, seed 7",
    "embed:patch_3_2": "the embedding: it₃ as in sentence 2",
    "3.1.z:patch_*_2": "layer 3, head 1, the heads' results: every token as in sentence 2",
    "3.mid:patch_*_1": "layer 3, the stream after attention: every token as in sentence 1",
    "3.1:cut_99_2": "layer 3, head 1: token 99 ↛ animal₂",
}


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_names_are_short_and_have_the_tokens_words(text: str, name: str) -> None:
    assert name_change(made(text), TOKENS) == name


@given(st.lists(st.text(max_size=400), min_size=4, max_size=4))
def test_no_token_makes_a_name_long_or_breaks_its_line(tokens: list[str]) -> None:
    name = name_change(made("3.1:weight_3_2_0.25_after"), tokens)
    assert len(name) < 80
    assert len(name.splitlines()) == 1
