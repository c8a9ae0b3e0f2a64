"""Runs of variants go as they would alone; they can be watched, taken apart and compared, seed by seed."""

import gc
import weakref
from dataclasses import replace

import pytest
import torch

from playground import ModelConfig
from playground.training import variants
from playground.training.network import Evaluation, History, Measure, evaluate_in_use
from playground.training.recipe import Recipe
from playground.training.tasks import make_data
from tests.training.tiny import CONFIG, CPU, SMALL, train

TINY = ModelConfig(vocab_size=0, d_model=8, n_heads=2, n_layers=1, d_ff=16, max_len=16, dropout=0.0)
RECIPE = Recipe(task="reverse", length=6, n_symbols=5, n_train=40, n_validation=24, steps=10, batch_size=8)


def test_what_has_ended_keeps_neither_network_nor_training_set() -> None:
    training = variants.Training(CONFIG, replace(SMALL, steps=5))
    assert training._trainer is not None
    whole = training._trainer.data
    trainer, train_set = weakref.ref(training._trainer), weakref.ref(whole.train)
    for _ in training.run():
        pass
    training.close("finished")
    first, baseline = whole.validation[slice(0, 1)], whole.baseline
    del whole
    gc.collect()
    assert (trainer(), train_set()) == (None, None)
    data = training.state.data
    assert (len(data.train), data.baseline) == (0, baseline)
    assert torch.equal(data.validation.ids, first.ids)
    assert data.validation.ids.untyped_storage().nbytes() == first.ids.nbytes


def ended(training: variants.VariantTraining) -> variants.VariantsState:
    for _ in training.run():
        pass
    training.close("finished")
    return training.state


@pytest.mark.long
def test_every_run_goes_as_it_would_alone_with_its_seed() -> None:
    runs = variants.regulariser_runs(TINY, replace(RECIPE, seed=4), ["label_smoothing", "distill"], n_seeds=3)
    assert (variants.seeds_of(runs), len(runs), variants.first_seed(runs)) == ([4, 5, 6], 9, list(runs[:3]))
    state = ended(variants.VariantTraining(runs))
    assert (state.progress, state.n_ended) == (1.0, 9)
    for result, run in zip(state.results, runs, strict=True):
        alone = train(run.recipe, TINY)
        assert (result.run, result.outcome, result.history.snapshots) == (run, "finished", {})
        assert result.history.loss == alone.history.loss
        assert result.evaluation == result.history.evaluations[-1]
        assert result.in_use == evaluate_in_use(alone.network, alone.data.validation, run.recipe, CPU)
    given = {run.recipe.seed: make_data(run.recipe) for run in runs}
    again = ended(variants.VariantTraining(runs[3:5], data=given))
    assert [result.history.loss for result in again.results] == [each.history.loss for each in state.results[3:5]]


def test_a_run_is_measured_by_the_weights_that_it_kept_and_the_others_go_on() -> None:
    wild = replace(RECIPE, steps=60, lr=100.0, optimizer="sgd", schedule="constant", clip=1e-3)
    plain, clipped = ended(variants.VariantTraining(variants.regulariser_runs(TINY, wild, ["clip"]))).results
    assert (plain.outcome, clipped.outcome) == ("diverged", "finished")
    assert plain.evaluation is not None
    assert plain.evaluation.step < len(plain.history.loss)


def test_what_is_broken_off_keeps_its_numbers() -> None:
    training = variants.VariantTraining(variants.regulariser_runs(TINY, RECIPE, ["clip"]))
    assert not training.state.results
    steps = training.run()
    for _ in range(RECIPE.steps + 3):
        next(steps)
    steps.close()
    training.close("cancelled")
    first, second = training.state.results
    assert (len(first.history.loss), len(second.history.loss)) == (RECIPE.steps, 3)
    assert (first.has_ended, second.has_ended, training.state.progress) == (True, False, 1 / 2)


# --- effects

CHANGES = {"none": (0.0, 0.0, 0.0), "dropout_residual": (0.10, 0.12, 0.08), "clip": (-0.14, -0.16, -0.15)}
BASELINES = (0.40, 0.50, 0.45)


def made(name: str, seed: int, used: Measure | None) -> variants.VariantResult:
    """A run that has ended, or goes on where nothing is measured in use."""
    evaluation = Evaluation(500, Measure(0.1, 0.9), Measure(2.0, 0.6))
    run = variants.VariantRun(name, f"with {name}", Recipe(seed=seed), CONFIG)
    return variants.VariantResult(run, History(loss=[1.0] * 500), "finished" if used else "", evaluation, used)


def of_seeds(n: int) -> variants.VariantsState:
    """The first `n` of nine runs, seed after seed; changes are those of `CHANGES`, in accuracy and in loss."""
    results = [
        made(name, seed, Measure(3.0 + seed - 10 * changes[seed], usual + changes[seed]))
        for seed, usual in enumerate(BASELINES)
        for name, changes in CHANGES.items()
    ]
    return variants.VariantsState(tuple(each.run for each in results), make_data(SMALL), tuple(results[:n]))


def test_an_effect_over_seeds_is_the_mean_of_the_paired_changes_and_their_range() -> None:
    for n_results, n_seeds in ((1, 1), (5, 1), (8, 2), (9, 3)):
        effects = variants.measure_effects(of_seeds(n_results))
        assert len(effects) == min(n_results, 3)
        assert {effect.n_seeds for effect in effects.values()} == {n_seeds}
    for name, changes in CHANGES.items():
        effect = effects[name]
        assert effect.accuracy_change == pytest.approx(sum(changes) / 3)
        assert effect.accuracy_spread == pytest.approx(max(changes) - min(changes))
        assert effect.loss_change == pytest.approx(-10 * sum(changes) / 3)
        assert effect.accuracy == pytest.approx(0.45 + sum(changes) / 3)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 0.99, 1.0])
def test_the_doubt_covers_two_draws_of_as_many_answers(share: float) -> None:
    """Two runs that are equally good differ by more than that in about one of twenty cases, by chance alone."""
    n, generator = 2_500, torch.Generator().manual_seed(0)
    draws = torch.binomial(torch.full((2, 4_000), float(n)), torch.tensor(share), generator=generator)
    apart = (draws[0] - draws[1]).abs() / n
    assert (apart > variants.difference_noise(share, n)).float().mean() < 0.06
    assert 0 < variants.difference_noise(share, n) < 0.03
