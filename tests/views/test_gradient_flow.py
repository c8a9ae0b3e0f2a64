"""The view Gradient flow as a function on values: two encoders' numbers against their own backward passes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from playground import Encoder, ModelConfig, open_link
from playground.analysis.gradients import BY_NAME, Flow, backward, common_config, variant_config
from playground.charts.chart import Curves, Item, Table
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.errors import TooLargeError
from playground.link.params import write
from playground.link.query import values_of_preset
from playground.text import characters
from playground.views.gradient_flow import Encoders, find_way, gradient_scene, show_gradient_flow
from tests.views.scenes import SMALL, parts_of, words

PARTS = ("whole layer", "attention", "feed-forward", "norms", "stream")
PAIR = {"gradient_first": "no norm", "gradient_second": "pre-norm, no residual"}


def show(view: str = "chain rule", **query: object) -> tuple[Scene[Encoders], list[Item]]:
    """The page of a small encoder of 3 layers."""
    small = {"weights": "random", "tokenizer": "char", "d_model": 16, "n_heads": 4, "d_ff": 32, "text": "abcd"}
    asked = (query if "d_model" in query else small | {"gradient_layers": 3} | query) | {"gradient_view": view}
    link = "&".join(f"{key}={write(value)}" for key, value in (PAIR | asked).items())
    view_of_link = open_link(f"http://host/gradient-flow?{link}")
    scene = gradient_scene(view_of_link)
    return scene, parts_of(show_gradient_flow(scene, view_of_link.values))


def chart(items: list[Item], key: str) -> Any:
    return next(each for each in items if isinstance(each, Curves | Table) and each.key == key)


def lines(scene: Scene[Encoders], items: list[Item], key: str) -> dict[str, Any]:
    return {curve.name: curve.y for curve in chart(items, key).curves(scene.now)}


def flow_of(name: str, n_layers: int, scale: float = 1.0) -> Flow:
    """The backward pass of an encoder that is built by itself."""
    config = common_config(ModelConfig(**SMALL | {"positions": "learned", "n_segments": 2}), n_layers)
    encoder = Encoder(variant_config(config, BY_NAME[name]), seed=0)
    for key, parameter in encoder.named_parameters():
        if parameter.ndim == 2 and key.startswith("layers."):
            parameter.data *= scale
    return backward(encoder, characters().encode_batch(["abcd"]).ids[0])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_every_part_has_its_gradients(part: str, scale: float) -> None:
    scene, items = show(gradient_of=part, gradient_scale=scale)
    drawn = lines(scene, items, "gradient_by_layer")
    assert list(drawn) == [name for name in PAIR.values() if part != "norms" or "no norm" not in name]
    for name, norms in drawn.items():
        np.testing.assert_allclose(norms, flow_of(name, 3, scale).gradients[part], rtol=1e-5)
    draw_chart(chart(items, "gradient_by_layer"), scene)


def test_a_way_is_the_first_norm_over_the_last() -> None:
    for norms, case in (([2.0, 7.0, 1.0], "arrives"), ([1e-4, 1.0], "vanishes"), ([1e4, 1.0], "explodes")):
        assert find_way(np.array(norms)) == (case, {"ratio": norms[0] / norms[-1]})
    for broken in ([0.0, 0.0], [np.nan, 1.0], [1.0, np.inf]):
        assert find_way(np.array(broken)) == ("broken", {})
    assert find_way(None) == ("missing", {})


def test_the_chain_rules_factors_multiply_to_the_streams_ratio() -> None:
    scene, items = show()
    table = chart(items, "gradient_chain").frame(scene.now)
    for name in PAIR.values():
        stream = flow_of(name, 3).gradients["stream"]
        factor, mean, ratio = table.loc[f"**{name}**"]
        assert factor == f"${BY_NAME[name].factor}$"
        assert float(ratio) == pytest.approx(stream[0] / stream[-1], rel=1e-2)
        assert float(mean) ** 3 == pytest.approx(float(ratio), rel=1e-2)


def test_the_sweep_has_the_first_norm_of_each_depth_and_the_loss_is_the_encoders() -> None:
    scene, items = show("depth sweep", gradient_layers=5)
    swept = chart(items, "gradient_by_depth").table(scene.now)
    assert list(swept.index) == [1, 2, 4, 5]
    for name in PAIR.values():
        expected = [flow_of(name, depth).gradients["whole layer"][0] for depth in swept.index]
        np.testing.assert_allclose(swept[name], expected, rtol=1e-5)
    scene, items = show("loss")
    losses = chart(items, "gradient_losses").frame(scene.now)["loss"]
    assert losses.to_dict() == pytest.approx({name: flow_of(name, 3).loss for name in PAIR.values()})


@pytest.mark.long
def test_tutorial_ds_exercise_is_answered_by_its_gradients() -> None:
    preset = {"weights": "random"} | values_of_preset("tutorial-d", has_wordpiece=True)
    cases: dict[str, str] = {}
    for first, second in (("post-norm", "no norm"), ("post-norm, no residual", "no norm, no residual")):
        scene, _ = show(**preset, gradient_layers=6, gradient_first=first, gradient_second=second)
        cases |= {each.name: find_way(scene.now.flow(each).gradients["whole layer"])[0] for each in scene.now.pair}
    assert {name for name, case in cases.items() if case != "arrives"} == {"no norm, no residual"}


@pytest.mark.parametrize("query", [{"embedding_norm": True}, {"do": "0.1:zero"}, {"n_layers": 2, "residual": False}])
def test_what_the_encoders_do_not_share_changes_nothing(query: dict[str, Any]) -> None:
    plain, other = (pd.DataFrame(lines(*show(**each), "gradient_by_layer")) for each in ({}, query))
    pd.testing.assert_frame_equal(plain, other)


@pytest.mark.parametrize("view", ["chain rule", "depth sweep", "loss"])
def test_one_layer_and_one_token_are_enough_and_numbers_may_leave_32_bits(view: str) -> None:
    for query in (
        {"text": "a", "gradient_layers": 1, "positions": "none"},
        {"gradient_layers": 48, "gradient_scale": 4.0},
    ):
        scene, items = show(view, **query, gradient_six=True, gradient_of="norms")
        for each in items:
            if isinstance(each, Curves):
                draw_chart(each, scene)


def test_a_long_sentence_is_cut_and_a_large_encoder_refused() -> None:
    scene, items = show(text="ab" * 50)
    assert scene.now.batch.ids.shape == (1, 64)
    assert "36 more are left out" in words(items)
    lab = replace(scene.now.lab, source=type(scene.now.lab.source)(max_parameters=1_000))
    with pytest.raises(TooLargeError):
        replace(scene.now, lab=lab).flow(scene.now.pair[0])
