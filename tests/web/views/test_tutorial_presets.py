"""The pages under the tutorials' presets: each has its tutorial's size and input, also where that is raw vectors."""

from typing import Any

import pytest

from playground.web.choices.shortcuts import preset_values
from tests.web.app_test import PAGES, captions, charts, formulas, open_page, sentences


def link_to(preset: str, **changes: Any) -> dict[str, Any]:
    """What the link says after a preset is pressed, and of other choices."""
    return {"weights": "random", **preset_values(preset), **changes}


@pytest.mark.sweep
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_raw_vectors(page: str) -> None:
    app = open_page(page, **link_to("tutorial-b", text="one two\none two three two", causal=True))
    assert not app.error
    assert sentences(app) == ""


def test_formulas_have_the_vector_instead_of_a_row_and_the_page_says_that_nobody_learned_it() -> None:
    app = open_page("step_by_step", **link_to("tutorial-b"))
    assert formulas(app)[0] == "x = v + P_t"
    assert "vectors drawn from the seed, not learned" in captions(app)


def test_an_encoder_decoder_takes_the_texts_words_instead_of_vectors() -> None:
    own = {"encdec_source": "your text"}
    as_vectors = open_page("encoder_decoder", **link_to("tutorial-b"), **own)
    as_words = open_page("encoder_decoder", **link_to("tutorial-b", tokenizer="word"), **own)
    for name, traces in charts(as_words).items():
        assert charts(as_vectors)[name] == traces
