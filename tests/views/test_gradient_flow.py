"""The view Gradient flow as a function on values: two encoders' numbers against their own backward passes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from playground import Encoder, ModelConfig, open_link
from playground.analysis.gradients import BY_NAME, VARIANTS, Flow, backward, common_config, variant_config
from playground.charts.chart import Curves, Item, Table
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.errors import TooLargeError
from playground.link.kinds import write
from playground.link.lab import Lab
from playground.presets import PRESETS
from playground.text import characters
from playground.text.wording import write_share
from playground.training.tasks import make_data
from playground.training.variants import VariantsState, VariantTraining
from playground.views import gradient_flow
from tests.views.scenes import SMALL, parts_of

PARTS = ("whole layer", "attention", "feed-forward", "stream")
PAIR = {"gradient_first": "no norm", "gradient_second": "pre-norm, no residual"}


def show(**query: object) -> tuple[Scene[Lab], list[Item]]:
    """The page of a small encoder of 3 layers."""
    small = {"weights": "random", "tokenizer": "char", "d_model": 16, "n_heads": 4, "d_ff": 32, "text": "abcd"}
    asked = query if "d_model" in query else small | {"gradient_layers": 3} | query
    link = "&".join(f"{key}={write(value)}" for key, value in (PAIR | asked).items())
    view_of_link = open_link(f"http://host/gradient-flow?{link}")
    scene = gradient_flow.gradient_scene(view_of_link)
    return scene, parts_of(gradient_flow.show_gradient_flow(scene, view_of_link.values))


def chart(items: list[Item], key: str) -> Any:
    return next(each for each in items if isinstance(each, Curves | Table) and each.key == key)


def lines(scene: Scene[Lab], items: list[Item], key: str) -> dict[str, Any]:
    return {curve.name: curve.y for curve in chart(items, key).curves(scene.now)}


def flow_of(name: str, n_layers: int) -> Flow:
    """The backward pass of an encoder that is built by itself."""
    config = common_config(ModelConfig(**SMALL | {"positions": "learned", "n_segments": 2}), n_layers)
    encoder = Encoder(variant_config(config, BY_NAME[name]), seed=0)
    return backward(encoder, characters().encode_batch(["abcd"]).ids[0])


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_its_gradients(part: str) -> None:
    scene, items = show(gradient_of=part)
    drawn = lines(scene, items, "gradient_by_layer")
    assert list(drawn) == list(PAIR.values())
    for name, norms in drawn.items():
        np.testing.assert_allclose(norms, flow_of(name, 3)[part], rtol=1e-5)
    draw_chart(chart(items, "gradient_by_layer"), scene)


def test_a_way_is_the_first_norm_over_the_last() -> None:
    for norms, case in (([2.0, 7.0, 1.0], "arrives"), ([1e-4, 1.0], "vanishes"), ([1e4, 1.0], "explodes")):
        assert gradient_flow.find_way(np.array(norms)) == (case, norms[0] / norms[-1])
    for broken in ([0.0, 0.0], [np.nan, 1.0], [1.0, np.inf]):
        assert gradient_flow.find_way(np.array(broken))[0] == "broken"


def test_the_chain_rules_factors_multiply_to_the_streams_ratio() -> None:
    scene, items = show(gradient_six=True)
    table = chart(items, "gradient_chain").frame(scene.now)
    for name in PAIR.values():
        stream = flow_of(name, 3)["stream"]
        factor, mean, ratio = table.loc[f"**{name}**"]
        assert factor == f"${BY_NAME[name].factor}$"
        assert float(ratio) == pytest.approx(stream[0] / stream[-1], rel=1e-2)
        assert float(mean) ** 3 == pytest.approx(float(ratio), rel=1e-2)


def test_what_the_encoders_do_not_share_changes_nothing() -> None:
    others = {"embedding_norm": True, "do": "0.1:zero", "n_layers": 2, "residual": False}
    plain, other = (pd.DataFrame(lines(*show(**each), "gradient_by_layer")) for each in ({}, others))
    pd.testing.assert_frame_equal(plain, other)


def test_a_long_sentence_is_cut_and_a_large_encoder_refused() -> None:
    short, long = (show(text="ab" * n)[0].now for n in (32, 50))
    one, other = (gradient_flow.run_back(lab, VARIANTS[0], 3)["stream"] for lab in (short, long))
    np.testing.assert_array_equal(one, other)
    with pytest.raises(TooLargeError):
        gradient_flow.run_back(replace(long, source=type(long.source)(max_parameters=1_000)), VARIANTS[0], 3)


def train(first: str, second: str, **changes: Any) -> VariantsState:
    recipe = replace(gradient_flow.pair_recipe(0), **changes)
    config, data = replace(PRESETS["minilm-l6"].config, **gradient_flow.SIZES), make_data(recipe)
    trainings = gradient_flow.pair_trainings(config, [BY_NAME[first], BY_NAME[second]], recipe, data)
    training = VariantTraining(trainings, data={0: data})
    for _ in training.run():
        pass
    return training.state


@pytest.mark.long
def test_two_encoders_differ_in_the_variant_alone_and_what_they_learn_is_drawn() -> None:
    trained = train("pre-norm", "no norm, no residual", steps=3, n_train=64)
    first, second = (run.config for run in trained.runs)
    assert (first.norm, first.norm_placement, first.residual, first.n_layers) == (
        "layer",
        "pre",
        True,
        gradient_flow.N_LAYERS,
    )
    assert second == replace(first, norm="none", norm_placement="post", residual=False)
    outcome, figure = gradient_flow.find_outcome(trained), gradient_flow.draw_pair(trained)
    assert (outcome["rule"], outcome["steps"]) == (trained.data.baseline, 3)
    for line, result in zip(figure["data"][1:], trained.results, strict=True):
        assert line["y"].tolist() == pytest.approx([each.validation.accuracy for each in result.history.evaluations])
        assert result.in_use is not None
        assert f"*{result.run.name}* **{write_share(result.in_use.accuracy)}**" in outcome["shares"]


@pytest.mark.sweep
def test_with_the_pages_own_recipe_the_one_with_residual_connections_learns() -> None:
    without, with_residual = (result.in_use for result in train("post-norm, no residual", "post-norm").results)
    assert without is not None
    assert with_residual is not None
    assert with_residual.accuracy > without.accuracy + 0.2
