"""The Gradient flow page: what it refuses, and the training of its two encoders."""

from dataclasses import replace

import pytest

from playground.views import gradient_flow
from playground.web.session.own_models import OWN
from tests.web.app_test import array, charts, choose, open_page, press, sentences, without_error, words, working
from tests.web.experiment_pages import ended

SMALL = {
    "weights": "random", "tokenizer": "char", "d_model": "16", "n_heads": "4", "d_ff": "32", "text": "abcd",
    "gradient_layers": "3",
}  # fmt: skip


def test_encoders_too_large_are_refused_and_the_choices_stay() -> None:
    shape = {"weights": "random", "d_model": "1024", "n_heads": "16", "d_ff": "4096"}
    app = working(open_page("gradient_flow", **shape, gradient_layers="48"))
    assert "this server runs at most" in sentences(app)
    assert not charts(app)
    choose(app, gradient_layers=1)
    assert array(charts(app)["gradient_by_layer"], 0, "y").shape == (1,)


@pytest.mark.long
@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_both_are_trained_and_the_outcome_has_their_two_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(gradient_flow.pair_recipe(0), steps=2, n_train=64, n_validation=40)
    monkeypatch.setattr(gradient_flow, "pair_recipe", lambda seed: replace(short, seed=seed))
    app = choose(without_error(open_page("gradient_flow", **SMALL)), gradient_second_menu="pre-norm")
    app = ended(press(app, "gradient-flow_start"), "gradient-flow")
    results = app.session_state[OWN].experiments.get("gradient-flow").state.results
    assert [each.run.title for each in results] == ["no norm", "pre-norm"]
    assert "After 2 steps, right for new letters: *no norm*" in words(app)
