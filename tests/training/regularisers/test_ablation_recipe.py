"""With few sequences the page's network really learns by heart, and an amount changes their number alone."""

from dataclasses import replace

import pytest

from playground.presets import PRESETS
from playground.training.recipe import architecture
from playground.training.regularisers.ablation import PLENTY, SIZES, Ablation, ablation_recipe, ablation_trainings
from playground.training.regularisers.catalogue import without_regularisers
from playground.training.tasks import TASKS, make_data

CONFIG = replace(PRESETS["minilm-l6"].config, **SIZES)


@pytest.mark.parametrize("task", TASKS)
def test_the_amounts_differ_in_the_number_of_sequences_alone(task: str) -> None:
    small, plenty = (ablation_recipe(task, amount, 7, {"clip": 0.5}) for amount in ("small", "plenty"))
    assert replace(small, n_train=PLENTY) == plenty
    assert small.n_train <= 100 < plenty.n_train
    assert (small.seed, small.clip, small.n_validation) == (7, 0.5, 512)
    assert small.optimizer == "adamw"  # weight decay is what it says
    for recipe in (small, plenty):
        data = make_data(recipe)
        assert (len(data.train), len(data.validation)) == (recipe.n_train, 512)
        assert architecture(CONFIG, recipe, data).d_model == 32  # and the sequences are not too long for it


def test_a_hundred_sequences_are_learnt_by_heart() -> None:
    """The page's default setting, cut short for speed: what happens if nothing is done about it."""
    recipe = replace(without_regularisers(ablation_recipe("reverse", "small", 0, {})), steps=250)
    ablation = Ablation(CONFIG, ablation_trainings(recipe, []))
    for _ in ablation.run():
        pass
    (result,) = ablation.results()
    assert result.evaluation is not None
    assert result.evaluation.train.accuracy > 0.99
    assert result.evaluation.gap > 0.4
    lowest = min(each.validation.loss for each in result.history.evaluations)
    assert result.evaluation.validation.loss > 1.5 * lowest  # surer and surer of wrong answers
