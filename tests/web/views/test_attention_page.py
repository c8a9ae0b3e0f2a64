"""The attention page draws the weights of the head that the link names, in every view, and its buttons work."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, open_link
from playground.charts.names import escape, token_names
from playground.link.params import PARAMS
from playground.runs.encoder_run import Run, run
from playground.text import characters
from tests.web import app_test
from tests.web.app_test import (
    SMALL_CONFIG,
    answer,
    array,
    charts,
    choose,
    open_page,
    open_panels,
    press,
    trained_trace,
    widgets,
    without_error,
)

SMALL = {**app_test.SMALL, "n_layers": "3", "seed": "7"}
TEXT = "a cat sat\na <b>rather</b> longer cat"


def computed(sentence: int = 0, *, causal: bool = False, text: str = TEXT) -> Run:
    """The run behind SMALL, made without the app."""
    config = ModelConfig(**SMALL_CONFIG | {"n_layers": 3})
    return run(Encoder(config, 7), characters().encode_batch(text.split("\n")), sentence, causal=causal)


def page(**query: object) -> AppTest:
    return without_error(open_page("attention", **SMALL | {"text": TEXT, "attention_closer": True} | query))


def masked(pattern: NDArray[np.float32], result: Run) -> NDArray[np.float32]:
    """A pattern as it is drawn: NaN where a query may not attend, and in the rows of padding."""
    return np.where(result.allowed & ~result.padding[:, None], pattern, np.float32(np.nan))


def test_the_heatmap_is_the_chosen_head_of_the_chosen_sentence() -> None:
    result = computed(1, causal=True)
    app = page(sentence=2, causal=True, layer=2, head=3)
    (trace,) = charts(app)["attention_pattern"]
    np.testing.assert_array_equal(array([trace], name="customdata"), masked(result.patterns()[2, 3], result))
    assert trace["x"] == trace["y"] == list(map(escape, token_names(result.tokens)))
    assert not any("<" in name for name in trace["x"])


@pytest.mark.parametrize(
    ("link", "view"),
    [("attention_view=ranking", "ranking"), ("attention_steps=true", "sources"),
     ("attention_why=what it moves", "what it moves")],
)  # fmt: skip
def test_a_link_opens_the_panel_that_it_needs(link: str, view: str) -> None:
    """Also a link from before the steps of a weight were views."""
    chosen = dict([link.split("=")])
    assert not open_page("attention", **SMALL).session_state["attention_closer"]
    app = without_error(open_page("attention", **SMALL, **chosen))
    assert (app.session_state["attention_closer"], app.session_state["attention_view"]) == (True, view)
    assert not app.info, "every parameter is known"
    values = open_link(f"attention?{link}").values
    assert (values["attention_closer"], values["attention_view"]) == (True, view)
    assert not open_page("attention", **SMALL, **chosen, attention_closer="false").session_state["attention_closer"]


def test_a_maps_menu_says_how_it_is_drawn_once_beside_pinned_settings() -> None:
    app = open_panels(page(b_n_layers=2), "attention_pattern_save_menu", "head_pinned_save_menu")
    choose(app, attention_show="average of heads")
    assert "average of heads" in answer(app)


def test_what_was_chosen_in_a_panel_stays_while_it_is_closed() -> None:
    app = choose(open_page("attention", **SMALL), attention_view="ranking")
    app.session_state["attention_closer"] = False
    assert "attention_view" not in widgets(choose(app, head=1))
    assert widgets(open_panels(app, "attention_closer"))["attention_view"].value == "ranking"


def test_the_buttons_on_top_are_the_strongest_heads_of_the_pair_and_open_them() -> None:
    app = open_page("attention", query=10, key=8, attention_show="average of heads")
    patterns = np.stack([trained_trace()[f"layers.{layer}.attn.pattern"][0, :, 10, 8] for layer in range(6)])
    order = [divmod(int(at), 12) for at in np.argsort(-patterns.ravel(), kind="stable")[:3]]
    labels = [app.button(key=f"linking_{rank}").label for rank in range(3)]
    assert [label.split(":")[0] for label in labels] == [f"Layer {layer}, head {head}" for layer, head in order]
    press(app, "linking_0")
    assert (app.session_state["layer"], app.session_state["head"]) == order[0]
    assert "layer {}, head {}".format(*order[0]) in answer(app)
    assert app.button(key="linking_0").disabled, "it is open"


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"text": "a\nabc", "sentence": 1, "key": 0, "norm_placement": "pre", "final_norm": True, "causal": True},
        {"text": "a", "norm": "scalar", "fused_qkv": True, "head_merge": "reshape"},
        {"tokenizer": "vectors", "positions": "sinusoidal-doubled"},
        {"norm": "none", "positions": "none", "residual": False, "n_segments": 0, "layer": 1},
        {"norm": "none", "n_layers": 96, "d_model": 64, "layer": 95},
    ],
    ids=["pre-norm", "one token", "vectors", "bare", "overflow"],
)
def test_every_view_and_every_step_opens_in_every_state(changes: dict[str, Any]) -> None:
    app = without_error(open_page("attention", **SMALL | changes, attention_closer=True))
    for view in PARAMS["attention_view"].options:
        without_error(choose(app, attention_view=view))
