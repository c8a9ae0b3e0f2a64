"""How many heads can go: the curve is that of weights without them, and what is saved is what they cost."""

import numpy as np
import pytest

from playground import Encoder, count_parameters
from playground.analysis.sweeps import order_at_random
from playground.model.changes import Change
from tests.web.app_test import (
    SMALL,
    array,
    captions,
    charts,
    choose,
    component_data,
    open_page,
    press,
    prose,
    working,
)
from tests.web.views.what_if.what_if_page import (
    CONFIG,
    PAIR,
    PARTS,
    PRUNE,
    cosine,
    open_view,
    progress,
    vector,
    without_heads,
)

SENTENCES = PAIR.split("\n")
BEFORE = [vector(Encoder(CONFIG, 0), text) for text in SENTENCES]


def left(order: list[int], n: int) -> float:
    """The mean similarity of both sentences to themselves without the first n heads of an order."""
    pruned = without_heads([divmod(number, 4) for number in order[:n]])
    return float(np.mean([cosine(vector(pruned, text), one) for text, one in zip(SENTENCES, BEFORE, strict=True)]))


def order_of_effects() -> list[int]:
    effects = array(charts(open_view(PARTS))["head_effects"])
    return np.argsort(effects.ravel(), kind="stable").tolist()  # type: ignore[no-any-return]


def test_the_curve_is_that_of_weights_without_the_heads_that_matter_least() -> None:
    app = open_view(PRUNE, whatif_pruned=3)
    traces = charts(app)["pruning_curves"]
    order = order_of_effects()
    np.testing.assert_allclose(array(traces, 2, "y"), [left(order, n) for n in range(9)], atol=1e-5)
    random = [[left(list(order_at_random(CONFIG, seed)), n) for n in range(9)] for seed in range(3)]
    np.testing.assert_allclose(array(traces, 1, "y"), np.mean(random, axis=0), atol=1e-5)
    assert (
        f"the 3 of 8 heads with the least effect**, similarity to the untouched vector: **{left(order, 3):.3f}**"
        in prose(app)
    )
    assert f"{np.mean(random, axis=0)[3]:.3f} in random order" in prose(app)
    assert "the text's 2 sentences" in captions(app)


def test_the_curves_follow_by_themselves_once_the_order_is_known() -> None:
    app = open_page("what_if", whatif_view=PRUNE, text="a text of its own", whatif_pruned=4, seed=201, **SMALL)
    assert progress(app).startswith("Done: 8 heads")
    assert "pruning_curves" not in charts(app)
    assert component_data(app, "ask_again"), "the browser asks for the next step"
    assert "pruning_curves" in charts(working(app.run()))
    assert app.slider(key="whatif_pruned").value == 4


def test_what_is_saved_is_the_difference_of_two_models_parameters() -> None:
    app = open_view(PRUNE, whatif_pruned=2)
    head = 3 * (16 * 4 + 4) + 4 * 16
    share = 2 * head / count_parameters(CONFIG).total
    assert f"parameters ({share:.1%})" in prose(app)
    attention, n = 4 * 2 * 9 * 16 * 4 + 2 * 2 * 9 * 9 * 4, 9  # of one head: four maps, scores and sums
    whole = 2 * (4 * attention + 2 * 2 * n * 16 * 32)
    assert f"{2 * attention / whole:.1%} of the FLOPs at 9 tokens" in prose(app)


def test_the_slider_takes_heads_out_and_a_press_makes_them_changes() -> None:
    app = open_view(PRUNE)
    assert app.slider(key="whatif_pruned").value == 8, "twenty are asked for, and the model has eight"
    choose(app, whatif_pruned=0)
    assert "**Without 0 of 8 heads**, similarity to the untouched vector: **1.000**" in prose(app)
    assert app.button(key="whatif_take_out_0").disabled
    assert "whatif_take_out_followed" not in {button.key for button in app.button}
    choose(app, whatif_pruned=5)
    press(app, "whatif_take_out_0")
    made = [made.change for made in app.session_state["do"].made]
    heads = {(each.layer, head) for each in made if each.kind == "zero"
             for head in (range(4) if each.head is None else [each.head])}  # fmt: skip
    assert heads == {divmod(number, 4) for number in order_of_effects()[:5]}
    assert len(made) <= 5
    assert "without your changes" in captions(app)
    press(app, "whatif_take_out_followed")
    assert "whatif_heads" in charts(app)


def test_all_heads_of_a_layer_are_one_change() -> None:
    app = press(open_view(PRUNE, whatif_pruned=8), "whatif_take_out_0")
    assert [made.change for made in app.session_state["do"].made] == [
        Change("zero", 0),
        Change("zero", 1),
    ]


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"norm_placement": "pre", "final_norm": True, "causal": True, "fused_qkv": True},
        {"norm": "none", "residual": False, "n_heads": 1, "n_layers": 1, "positions": "none"},
        {"tokenizer": "vectors", "whatif_pruned": 9216},
    ],
    ids=str,
)
@pytest.mark.parametrize("text", [PAIR, "x"])
def test_the_curve_is_drawn_in_every_architecture(text: str, changes: dict[str, object]) -> None:
    app = open_view(PRUNE, text, **changes)
    curve = array(charts(app)["pruning_curves"], 2, "y")
    assert curve[0] == 1
    assert np.isfinite(curve).all()
