"""Every change has a short name and a sentence, with the tokens' words, whatever the tokens are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.link.interventions.read_interventions import read_intervention
from playground.views.change_names import explain_change, name_change

TOKENS = ["[CLS]", "the", "animal", "it", "a" * 300]

NAMES = {
    "3.1:zero": "layer 3, head 1 off",
    "3.*:zero~0.5": "layer 3, all heads off · 0.5 of the way",
    "3.1:mean": "layer 3, head 1: mean over tokens",
    "2.ffn:off": "layer 2: feed-forward off",
    "3.1:cut_3_2": "layer 3, head 1: it₃ ↛ animal₂",
    "3.1:force_3_2": "layer 3, head 1: it₃ → animal₂ alone",
    "3.1:weight_3_2_0.25": "layer 3, head 1: it₃ → animal₂ 0.25",
    "3.1:force_3_2_after": "layer 3, head 1: it₃ → animal₂ 1, after the softmax",
    "3.1:cut_3_2_after": "layer 3, head 1: it₃ ↛ animal₂ 0, after the softmax",
    "3.1:hide_2": "layer 3, head 1: animal₂ hidden",
    "3.*:hide_2~0.5": "layer 3, all heads: animal₂ hidden · 0.5 of the way",
    "3.1:uniform_*": "layer 3, head 1: every token → all evenly",
    "3.1:copy_3_0": "layer 3, head 1: it₃ → as head 0",
    "positions:shuffle_7": "positions shuffled, seed 7",
    "positions:shuffle_1": "positions shuffled",
    "embed:patch_3_2": "embedding: it₃ as in sentence 2",
    "3.1.z:patch_*_2": "layer 3, head 1's result: every token as in sentence 2",
    "3.out:patch_2_2": "after layer 3: animal₂ as in sentence 2",
    "3.mid:patch_*_1": "layer 3, after attention: every token as in sentence 1",
    "3.k:patch_3_2": "layer 3, keys: it₃ as in sentence 2",
    "3.1:cut_99_2": "layer 3, head 1: token 99 ↛ animal₂",
}


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_names_are_short_and_have_the_tokens_words(text: str, name: str) -> None:
    assert name_change(read_intervention(text), TOKENS) == name


@pytest.mark.parametrize("text", NAMES)
def test_a_sentence_says_what_becomes_of_which_token(text: str) -> None:
    sentence = explain_change(read_intervention(text), TOKENS)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    names_animal = "patch_2_" in text if "patch" in text else "_2" in text
    assert ("animal₂" in sentence) == names_animal


@given(st.lists(st.text(max_size=400), min_size=4, max_size=4))
def test_no_token_makes_a_name_long_or_breaks_its_line(tokens: list[str]) -> None:
    name = name_change(read_intervention("3.1:weight_3_2_0.25_after"), tokens)
    assert len(name) < 80
    assert len(name.splitlines()) == 1
