"""What the sidebar shows a newcomer, what it folds, and what it leaves out without losing it."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.config import SETTINGS
from playground.link.params import ARCHITECTURE
from playground.presets import PRESETS
from playground.web.sidebar.controls import EXPERT, IN_SIGHT
from tests.web.app_test import choose, open_page, open_panels, values, widgets, working
from tests.web.sidebar.own_files import open_mine, own_model


def expert_keys(app: AppTest) -> set[str]:
    """The widgets in the experts' expander, by their keys; none while it is closed."""
    (expert,) = (each for each in app.sidebar.expander if each.label == "Expert")
    kinds = (expert.select_slider, expert.slider, expert.segmented_control, expert.toggle, expert.number_input)
    return {str(widget.key) for kind in kinds for widget in kind}


def start_from(app: AppTest, preset: str) -> AppTest:
    return working(widgets(app)["preset"].set_value(preset).run())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("link", "is_open"),
    [
        ({}, False),
        ({"causal": "true"}, True),
        ({"weights": "random", "n_layers": "2", "norm_placement": "pre"}, False),
        ({"weights": "random", "norm_eps": "0.1"}, True),
    ],
)
def test_a_link_opens_what_is_for_experts_if_it_sets_some_of_it(link: dict[str, str], is_open: bool) -> None:
    app = open_page("attention", **link)
    assert bool(expert_keys(app)) == is_open
    kept = values(app)
    assert bool(expert_keys(working(app.run()))) == is_open
    assert values(app) == kept


def test_a_preset_opens_nothing_and_is_kept_while_nothing_shows_it() -> None:
    app = start_from(open_page("parameters"), "bert-base")
    assert not expert_keys(app)
    closed = values(app)
    assert expert_keys(open_panels(app, EXPERT))
    app.session_state[EXPERT] = False
    assert not expert_keys(working(app.run()))
    assert values(app) == closed


def test_seven_settings_stand_in_sight_and_the_others_are_for_experts() -> None:
    shape = {*IN_SIGHT}
    app = open_panels(open_page("parameters"), EXPERT)
    assert expert_keys(app) >= {key for key in ARCHITECTURE if SETTINGS[key].has_effect(values(app))} - shape
    assert {f"minilm_{key}" for key in shape} <= set(widgets(app))
    for weights in ("english", "random", "mine"):
        assert expert_keys(choose(app, weights=weights)).isdisjoint(shape)
        assert shape <= set(widgets(app))


CHOSEN = {"positions": "alibi", "norm": "none", "residual": False}


def test_what_is_in_sight_keeps_its_value_as_weights_and_presets_are_chosen() -> None:
    app = open_page("parameters", weights="random", **CHOSEN)
    assert values(choose(app, weights="mine"), *CHOSEN) == CHOSEN
    app = choose(open_page("parameters", weights="random", **CHOSEN), weights="minilm")
    assert values(app, *CHOSEN) == {"positions": "learned", "norm": "layer", "residual": True}
    assert values(choose(app, weights="random"), *CHOSEN) == CHOSEN
    wanted = {key: getattr(PRESETS["tutorial-a"].config, key) for key in CHOSEN}
    assert values(working(start_from(app, "tutorial-a").run()), "weights", *CHOSEN) == {"weights": "random", **wanted}


def test_a_preset_takes_the_place_of_what_a_file_had_locked() -> None:
    app = open_panels(open_mine(own_model(positions="learned", norm="rms")), EXPERT)
    assert {"positions", "norm"} <= expert_keys(app)
    app = working(start_from(app, "tutorial-a").run())
    assert values(app, "positions", "norm") == {"positions": "sinusoidal", "norm": "scalar"}


def test_what_has_no_effect_is_not_shown_and_keeps_its_value() -> None:
    app = open_page("parameters", weights="random", tokenizer="word", table_rows=5_000)
    for _ in range(2):
        assert "table_rows" not in widgets(choose(app, tokenizer="vectors"))
        assert values(choose(app, tokenizer="word"), "table_rows") == {"table_rows": 5_000}


@pytest.mark.long
def test_on_the_decoders_example_the_settings_are_folded() -> None:
    def is_folded(app: AppTest) -> bool:
        return "Settings of the other pages" in [each.label for each in app.sidebar.expander]

    app = open_page("encoder_decoder", text="a cat", n_layers=2)
    assert is_folded(app)
    assert "phone_text" not in widgets(app)
    assert not is_folded(choose(app, encdec_source="your text"))
    assert values(app, "text", "phone_text", "n_layers") == {"text": "a cat", "phone_text": "a cat", "n_layers": 2}
