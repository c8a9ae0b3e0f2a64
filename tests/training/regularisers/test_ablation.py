"""An ablation is its runs, each as it would be alone, and can be watched from another thread while it goes on."""

import gc
import sys
import threading
import weakref
from dataclasses import fields, replace
from itertools import pairwise

import pytest

from playground import ModelConfig
from playground.training.evaluation import evaluate_unbatched
from playground.training.recipe import Recipe
from playground.training.regularisers.ablation import (
    Ablation,
    AblationTraining,
    ablation_trainings,
    seeds_of,
    trainings_of_one_seed,
)
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.tasks import make_data
from playground.training.trainer import Trainer
from tests.training.tiny import CPU, train

CONFIG = ModelConfig(vocab_size=0, d_model=8, n_heads=2, n_layers=1, d_ff=16, max_len=16, dropout=0.0)
RECIPE = Recipe(task="reverse", length=6, n_symbols=5, n_train=40, n_validation=24, steps=10, batch_size=8)


def ended(ablation: Ablation) -> Ablation:
    for _ in ablation.run():
        pass
    return ablation


def changed(each: AblationTraining, baseline: AblationTraining) -> dict[str, object]:
    pairs = ((field.name, getattr(each.recipe, field.name)) for field in fields(Recipe))
    return {name: value for name, value in pairs if value != getattr(baseline.recipe, name)}


def test_every_run_is_the_baseline_with_one_switch_turned_and_the_last_has_all() -> None:
    recipe = replace(RECIPE, clip=0.5, dropout_residual=0.2, token_masking=0.4)
    baseline, *rest, together = ablation_trainings(recipe, ["clip", "mask_padding", "dropout_residual", "patience"])
    assert baseline.recipe == RECIPE
    assert [(each.title, changed(each, baseline)) for each in rest] == [
        ("without padding mask", {"mask_padding": False}),
        ("Early stopping", {"patience": REGULARISERS["patience"].usual}),
        ("Gradient clipping", {"clip": 0.5}),
        ("Dropout at residual connections", {"dropout_residual": 0.2}),
    ]
    assert together.title == "all that can be added"
    names = [each.name for each in (baseline, *rest, together)]
    assert names == ["none", "mask_padding", "patience", "clip", "dropout_residual", "all"]
    assert changed(together, baseline) == {"clip": 0.5, "dropout_residual": 0.2, "patience": 5}


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ([], []),
        (["clip", "clip"], ["clip"]),
        (["causal", "clip"], ["causal", "clip"]),
        (["distill", "clip"], ["clip", "distill", "all"]),
        (["layer_norm", "causal"], ["causal", "layer_norm"]),
        (list(REGULARISERS), [*REGULARISERS, "all"]),
    ],
)
def test_runs_come_in_the_order_of_the_ten(chosen: list[str], names: list[str]) -> None:
    found = ablation_trainings(RECIPE, chosen)
    assert [each.name for each in found] == ["none", *names]
    assert len({each.recipe for each in found}) == len({each.title for each in found}) == len(found)


def test_an_unknown_regulariser_is_refused() -> None:
    with pytest.raises(KeyError):
        ablation_trainings(RECIPE, ["clipping"])


def test_every_run_goes_as_it_would_alone() -> None:
    switches = ["mask_padding", "label_smoothing", "distill", "token_swapping"]
    ablation = ended(Ablation(CONFIG, ablation_trainings(RECIPE, switches)))
    assert len(ablation.trainings) == 6
    for result, each in zip(ablation.results(), ablation.trainings, strict=True):
        alone = train(each.recipe, CONFIG)
        assert result.training == each
        assert result.history.loss == alone.history.loss
        assert [each.validation for each in result.history.evaluations] == [
            each.validation for each in alone.history.evaluations
        ]
        assert result.outcome == "finished"
        assert result.evaluation is not None
        assert result.evaluation == result.history.evaluations[-1]
        assert result.unbatched == evaluate_unbatched(alone.network, alone.data.validation, each.recipe, CPU)
        assert result.history.snapshots == []


def test_with_several_seeds_every_run_goes_as_it_would_with_its_seed_alone() -> None:
    recipe = replace(RECIPE, seed=4)
    runs = ablation_trainings(recipe, ["clip", "noise"], n_seeds=3)
    assert seeds_of(runs) == [4, 5, 6]
    assert trainings_of_one_seed(runs) == list(ablation_trainings(recipe, ["clip", "noise"])) == list(runs[:4])
    assert list(runs[4:8]) == list(ablation_trainings(replace(recipe, seed=5), ["clip", "noise"]))
    found = ended(Ablation(CONFIG, runs)).results()
    for i, seed in ((0, 4), (4, 5), (9, 6)):
        alone = train(replace(runs[i].recipe, seed=seed), CONFIG)
        assert found[i].history.loss == alone.history.loss
        assert found[i].unbatched == evaluate_unbatched(alone.network, alone.data.validation, alone.recipe, CPU)
    assert len({tuple(result.history.loss) for result in found}) == 12
    data = {seed: make_data(replace(recipe, seed=seed)) for seed in (4, 5, 6)}
    given = ended(Ablation(CONFIG, runs[3:5], data=data)).results()
    assert [result.history.loss for result in given] == [result.history.loss for result in found[3:5]]


def test_a_run_is_measured_by_the_weights_that_it_kept_and_the_others_go_on() -> None:
    wild = replace(RECIPE, steps=60, lr=100.0, optimizer="sgd", schedule="constant", clip=1e-3)
    baseline, clipped = ended(Ablation(CONFIG, ablation_trainings(wild, ["clip"]))).results()
    assert (baseline.outcome, clipped.outcome) == ("diverged", "finished")
    assert baseline.evaluation is not None
    assert baseline.evaluation.step < len(baseline.history.loss)
    by_heart = replace(RECIPE, n_train=8, steps=200, lr=1e-2, schedule="constant", patience=2)
    (stopped,) = ended(Ablation(CONFIG, ablation_trainings(by_heart, ["patience"])[1:])).results()
    assert stopped.outcome == "stopped early"
    assert stopped.evaluation == stopped.history.evaluations[-3]


def test_progress_rises_from_0_to_1_and_results_grow() -> None:
    ablation = Ablation(CONFIG, ablation_trainings(RECIPE, ["clip", "distill"]))
    assert ablation.progress == 0
    assert ablation.results() == []
    assert ablation.n_answers == int(make_data(RECIPE).validation.mask.sum())
    before, counts = 0.0, []
    for number in ablation.run():
        assert before <= ablation.progress <= 1
        before = ablation.progress
        results = ablation.results()
        assert len(results) == number + 1
        assert results[-1].unbatched is None
        counts.append(len(results[-1].history.loss))
    assert counts == [*range(1, 11), *range(1, 11), *([0] * 10), *range(1, 11), *([0] * 10), *range(1, 11)]
    assert ablation.progress == 1
    assert all(result.unbatched is not None for result in ablation.results())


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_what_is_broken_off_keeps_its_numbers_and_no_network(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ablation = Ablation(CONFIG, ablation_trainings(RECIPE, ["clip"]))
    steps = ablation.run()
    for _ in range(RECIPE.steps + 3):
        next(steps)
    assert ablation._running is not None
    network = weakref.ref(ablation._running[1].network)
    if how == "cancelled":
        steps.close()
    else:
        monkeypatch.setattr(Trainer, "_learn", None)
        with pytest.raises(TypeError):
            next(steps)
    del steps
    gc.collect()
    assert network() is None
    first, second = ablation.results()
    assert (len(first.history.loss), len(second.history.loss)) == (RECIPE.steps, 3)
    assert (first.unbatched is None, second.unbatched is None) == (False, True)
    assert ablation.progress == 1 / 2


def test_another_thread_never_sees_a_run_under_another_s_name() -> None:
    recipe = replace(RECIPE, steps=3, n_train=16)
    ablation = Ablation(
        CONFIG, ablation_trainings(recipe, ["clip", "label_smoothing", "weight_decay", "token_masking"])
    )
    counts, progress, wrong, done = [0], [0.0], list[object](), threading.Event()

    def watch() -> None:
        while not done.is_set():
            results = ablation.results()
            counts.append(len(results))
            progress.append(ablation.progress)
            wrong.extend(result for result in results[:-1] if result.unbatched is None)
            for result, each in zip(results, ablation.trainings, strict=False):
                if result.training is not each or len(result.history.loss) > 3:
                    wrong.append(result)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    watcher = threading.Thread(target=watch)
    try:
        watcher.start()
        ended(ablation)
    finally:
        done.set()
        watcher.join()
        sys.setswitchinterval(interval)
    assert wrong == []
    assert counts == sorted(counts)
    assert all(after >= before - 1e-9 for before, after in pairwise(progress))
