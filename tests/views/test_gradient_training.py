"""Two encoders in training as values: what is trained, and that the outcome says what was measured."""

from dataclasses import replace

import pytest

from playground.analysis.gradient_variants import BY_NAME, VARIANTS
from playground.link.params import PARAMS
from playground.presets import PRESETS
from playground.training.network import Measure
from playground.training.tasks import make_data
from playground.training.variants import VariantsState, VariantTraining
from playground.views.gradient_training import (
    N_LAYERS,
    SIZES,
    draw_pair,
    find_outcome,
    pair_recipe,
    pair_trainings,
)
from playground.views.training_curves import WatchedVariants

CONFIG = replace(PRESETS["minilm-l6"].config, **SIZES)


def pair(first: str, second: str, steps: int = 3) -> WatchedVariants:
    recipe = replace(pair_recipe(1), steps=steps, n_train=64)
    data = make_data(recipe)
    trainings = pair_trainings(CONFIG, [BY_NAME[first], BY_NAME[second]], recipe, data)
    training = VariantTraining(trainings, data={1: data})
    for _ in training.run():
        pass
    return WatchedVariants(training.state, data)


def with_shares(trained: WatchedVariants, *shares: float) -> WatchedVariants:
    """The same pair, as if it had got so much right."""
    results = tuple(
        replace(result, unbatched=Measure(1.0, share))
        for result, share in zip(trained.state.results, shares, strict=True)
    )
    state: VariantsState = replace(trained.state, results=results)
    return replace(trained, state=state)


def test_the_pages_choices_are_the_variants() -> None:
    for which in ("first", "second"):
        assert vars(PARAMS[f"gradient_{which}"])["options"] == tuple(variant.name for variant in VARIANTS)


@pytest.mark.long
def test_two_encoders_differ_in_the_variant_alone_and_their_curves_are_drawn() -> None:
    trained = pair("pre-norm", "no norm, no residual")
    first, second = (run.config for run in trained.state.runs)
    assert (first.norm, first.norm_placement, first.residual, first.n_layers) == ("layer", "pre", True, N_LAYERS)
    assert second == replace(first, norm="none", norm_placement="post", residual=False)
    figure = draw_pair(trained)
    for line, result in zip(figure["data"][1:], trained.state.results, strict=True):
        wanted = [each.validation.accuracy for each in result.history.evaluations]
        assert line["y"].tolist() == pytest.approx(wanted)
        assert result.history.loss[0] != trained.state.results[0].history.loss[0] or line is figure["data"][1]


@pytest.mark.sweep
def test_with_the_pages_own_recipe_the_one_with_residual_connections_learns() -> None:
    recipe = pair_recipe(0)
    data = make_data(recipe)
    trainings = pair_trainings(CONFIG, [BY_NAME["post-norm, no residual"], BY_NAME["post-norm"]], recipe, data)
    training = VariantTraining(trainings, data={0: data})
    for _ in training.run():
        pass
    without, with_residual = (result.unbatched for result in training.state.results)
    assert without is not None
    assert with_residual is not None
    assert with_residual.accuracy > without.accuracy + 0.2
    assert find_outcome(WatchedVariants(training.state, data))[0] == "apart"


@pytest.mark.long
def test_the_outcome_is_true_whichever_way_it_came_out() -> None:
    trained = pair("no norm", "no norm, no residual")
    for first, second, expected in ((0.9, 0.2, "apart"), (0.2, 0.9, "apart"), (0.201, 0.2, "chance")):
        case, numbers = find_outcome(with_shares(trained, first, second))
        assert (case, numbers["first_share"], numbers["second_share"]) == (expected, first, second)
        assert (numbers["rule"], numbers["steps"]) == (trained.data.baseline, 3)
