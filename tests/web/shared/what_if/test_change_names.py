"""Every change has a short name and a sentence, with the tokens' words, whatever the tokens are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.link.interventions.read_interventions import read_intervention
from playground.web.shared.what_if.change_names import explain_change, name_change

TOKENS = ["[CLS]", "the", "animal", "it", "a" * 300]

NAMES = {
    "3.1:zero": "3.1: zero",
    "3.*:zero~0.5": "3.all heads: zero · 0.5 of the way",
    "3.1:mean": "3.1: mean over tokens",
    "2.ffn:off": "layer 2: feed-forward off",
    "3.1:cut_3_2": "3.1: it₃ ↛ animal₂",
    "3.1:force_3_2": "3.1: it₃ → animal₂ alone",
    "3.1:weight_3_2_0.25": "3.1: it₃ → animal₂ 0.25",
    "3.1:force_3_2_after": "3.1: it₃ → animal₂ 1, after the softmax",
    "3.1:cut_3_2_after": "3.1: it₃ ↛ animal₂ 0, after the softmax",
    "3.1:uniform_*": "3.1: every token → all evenly",
    "3.1:copy_3_0": "3.1: it₃ → as head 0",
    "positions:shuffle_7": "positions shuffled, seed 7",
    "embed:patch_3_2": "embedding: it₃ from sentence 2",
    "3.1.z:patch_*_2": "3.1 z: every token from sentence 2",
    "3.1:cut_99_2": "3.1: token 99 ↛ animal₂",
}


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_names_are_short_and_have_the_tokens_words(text: str, name: str) -> None:
    assert name_change(read_intervention(text), TOKENS) == name


@pytest.mark.parametrize("text", NAMES)
def test_a_sentence_says_what_becomes_of_which_token(text: str) -> None:
    sentence = explain_change(read_intervention(text), TOKENS)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert ("animal₂" in sentence) == ("_2" in text and "patch" not in text)


@given(st.lists(st.text(max_size=400), min_size=4, max_size=4))
def test_no_token_makes_a_name_long_or_breaks_its_line(tokens: list[str]) -> None:
    name = name_change(read_intervention("3.1:weight_3_2_0.25_after"), tokens)
    assert len(name) < 80
    assert len(name.splitlines()) == 1
