"""The pages under the tutorials' presets: each has its tutorial's size and input, also where that is raw vectors."""

from typing import Any

import pytest
import torch

from playground import Encoder, ModelConfig
from playground.accounting import count_encoder_decoder
from playground.link.lab import Lab
from playground.link.params import DEFAULT_TARGET, DEFAULT_TEXT, SHARED
from playground.link.state import RANDOM, RunKey, State
from playground.model import causal_and_padding
from playground.presets import PRESETS
from playground.text import words
from playground.text.tokenizer import draw_vectors
from playground.web.choices.shortcuts import preset_values
from playground.web.session import caches
from tests.web.app_test import PAGES, captions, charts, formulas, open_page, sentences

TEXT = "one two\none two three two"
"""The first line is padded; a word stands twice."""


def link_to(preset: str, **changes: Any) -> dict[str, Any]:
    """What the link says after a preset is pressed, and of other choices."""
    return {"weights": "random", **preset_values(preset), **changes}


@pytest.mark.sweep
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_raw_vectors(page: str) -> None:
    app = open_page(page, **link_to("tutorial-b", text=TEXT, causal=True, sentence=1))
    assert not app.error
    assert sentences(app) == ""
    assert "matches: Tutorial B" in captions(app)


def key_of(preset: str, **changes: Any) -> RunKey:
    """The run behind the pages, after a preset is pressed."""
    values = {**{key: param.default for key, param in SHARED.items()}, **preset_values(preset), "text": TEXT}
    return Lab(State(values | {"weights": "random"} | changes, RANDOM), caches.APP).run_key


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("preset", ["tutorial-b", "tutorial-c"])
def test_the_pages_run_is_the_presets_encoder_on_the_drawn_vectors(preset: str, causal: bool) -> None:
    run = caches.run_sentence(key_of(preset, causal=causal, seed=7))
    config = PRESETS[preset].config
    assert run.config == config
    model = Encoder(config, seed=7)
    x = torch.zeros(1, 4, config.d_model)
    x[0, :2] = draw_vectors(["one", "two"], config.d_model, 7)
    keys = torch.tensor([[True, True, False, False]])
    expected = model.encode(model.embed_vectors(x), causal_and_padding(keys) if causal else keys).detach()
    torch.testing.assert_close(torch.tensor(run.arrays["final"]), expected[0], rtol=0, atol=1e-5)


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
    n_words = words([DEFAULT_TEXT]).vocab_size
    config = ModelConfig(**vars(PRESETS["tutorial-b"].config) | {"vocab_size": n_words})
    total = count_encoder_decoder(config, words([DEFAULT_TARGET]).vocab_size).total
    assert f"{total:,} parameters" in captions(as_vectors)
