"""An ablation is its runs, each as it would be alone, and can be watched from another thread while it goes on."""

import gc
import sys
import threading
import weakref
from collections.abc import Generator
from dataclasses import fields, replace
from typing import cast

import pytest

from playground import ModelConfig
from playground.errors import RecipeError
from playground.training.recipe import Recipe
from playground.training.regularisers.ablation import Ablation, AblationRun, ablation_runs
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.tasks import make_data
from playground.training.trainer import Trainer

CONFIG = ModelConfig(vocab_size=0, d_model=8, n_heads=2, n_layers=1, d_ff=16, max_len=16, dropout=0.0)
RECIPE = Recipe(task="reverse", length=6, n_symbols=5, n_train=40, n_validation=24, steps=10, batch_size=8)


def ended(ablation: Ablation) -> Ablation:
    for _ in ablation.run():
        pass
    return ablation


def changed(each: AblationRun, baseline: AblationRun) -> dict[str, object]:
    pairs = ((field.name, getattr(each.recipe, field.name)) for field in fields(Recipe))
    return {name: value for name, value in pairs if value != getattr(baseline.recipe, name)}


def test_every_run_is_the_baseline_with_one_switch_turned_and_the_last_has_all() -> None:
    recipe = replace(RECIPE, clip=0.5, dropout_residual=0.2, token_masking=0.4)
    baseline, *rest, together = ablation_runs(recipe, ["clip", "mask_padding", "dropout_residual", "patience"])
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
    ("chosen", "titles"),
    [
        ([], ["none of them"]),
        (["clip"], ["none of them", "Gradient clipping"]),
        (["causal", "clip"], ["none of them", "without causal mask", "Gradient clipping"]),
        (["distill", "clip"], ["none of them", "Gradient clipping", "Knowledge distillation", "all of these"]),
        (["clip", "clip"], ["none of them", "Gradient clipping"]),
        (["layer_norm", "causal"], ["none of them", "without causal mask", "without layer normalisation"]),
    ],
)
def test_runs_come_in_the_order_of_the_ten(chosen: list[str], titles: list[str]) -> None:
    assert [each.title for each in ablation_runs(RECIPE, chosen)] == titles


def test_everything_can_be_chosen_at_once() -> None:
    found = ablation_runs(RECIPE, list(REGULARISERS))
    assert len(found) == len(REGULARISERS) + 2
    assert len({each.recipe for each in found}) == len(found)
    with pytest.raises(KeyError):
        ablation_runs(RECIPE, ["clipping"])


def test_every_run_goes_as_it_would_alone() -> None:
    switches = ["mask_padding", "label_smoothing", "distill", "token_swapping"]
    ablation = ended(Ablation(CONFIG, ablation_runs(RECIPE, switches)))
    assert len(ablation.results()) == len(ablation.runs) == 6
    for result, each in zip(ablation.results(), ablation.runs, strict=True):
        alone = Trainer(CONFIG, each.recipe)
        for _ in alone.run():
            pass
        assert result.run == each
        assert result.history.loss == alone.history.loss
        assert [each.validation for each in result.history.evaluations] == [
            each.validation for each in alone.history.evaluations
        ]
        assert result.outcome == "finished"
        assert result.evaluation is not None
        assert result.evaluation == result.history.evaluations[-1]
        assert result.history.snapshots == []


def test_what_is_kept_is_the_evaluation_of_the_weights_that_came_back() -> None:
    """Eight sequences are soon known by heart: the best weights are not the last."""
    recipe = replace(RECIPE, n_train=8, steps=300, lr=1e-2, schedule="constant", patience=3)
    baseline, stopped = ended(Ablation(CONFIG, ablation_runs(recipe, ["patience"]))).results()
    evaluations = stopped.history.evaluations
    assert stopped.outcome == "stopped early"
    assert stopped.evaluation == min(evaluations, key=lambda each: each.validation.loss) == evaluations[-4]
    assert baseline.outcome == "finished"
    assert baseline.evaluation == baseline.history.evaluations[-1]
    assert len(baseline.history.loss) == 300


def test_a_run_that_diverges_is_told_and_the_others_go_on() -> None:
    recipe = replace(RECIPE, steps=60, lr=100.0, optimizer="sgd", schedule="constant", clip=1e-3)
    baseline, clipped = ended(Ablation(CONFIG, ablation_runs(recipe, ["clip"]))).results()
    assert baseline.outcome == "diverged"
    assert baseline.evaluation is not None
    assert baseline.evaluation.step < len(baseline.history.loss)
    assert clipped.outcome == "finished"


def test_in_use_differs_where_a_mask_is_missing() -> None:
    baseline, without = ended(Ablation(CONFIG, ablation_runs(RECIPE, ["mask_padding"]))).results()
    for result, same in ((baseline, True), (without, False)):
        assert result.unbatched is not None
        assert result.evaluation is not None
        assert (result.unbatched.loss == pytest.approx(result.evaluation.validation.loss, rel=1e-5)) == same


def test_progress_rises_from_0_to_1_and_results_grow() -> None:
    ablation = Ablation(CONFIG, ablation_runs(RECIPE, ["clip", "distill"]))
    assert ablation.progress == 0
    assert ablation.results() == []
    assert ablation.n_answers == int(make_data(RECIPE).validation.mask.sum())
    before, counts = 0.0, []
    for number in ablation.run():
        assert before <= ablation.progress <= 1
        before = ablation.progress
        results = ablation.results()
        assert len(results) == number + 1
        assert all(result.outcome == "finished" for result in results[:-1])
        assert all(result.unbatched is not None for result in results[:-1])
        assert results[-1].unbatched is None
        counts.append(len(results[-1].history.loss))
    assert counts == [*range(1, 11), *range(1, 11), *([0] * 10), *range(1, 11), *([0] * 10), *range(1, 11)]
    assert ablation.progress == 1
    assert all(result.unbatched is not None for result in ablation.results())


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_what_is_broken_off_keeps_its_numbers_and_no_network(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ablation = Ablation(CONFIG, ablation_runs(RECIPE, ["clip"]))
    steps = cast(Generator[int, None, None], ablation.run())
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
    ablation = Ablation(CONFIG, ablation_runs(recipe, ["clip", "label_smoothing", "weight_decay", "token_masking"]))
    wrong: list[object] = []
    done = threading.Event()

    def watch() -> None:
        last, most = 0.0, 0
        while not done.is_set():
            results = ablation.results()
            if len(results) < most:
                wrong.append(("a run is gone", most))
            most = len(results)
            for result, each in zip(results, ablation.runs, strict=False):
                if result.run is not each or len(result.history.loss) > 3:
                    wrong.append(result)
            if any(result.unbatched is None for result in results[:-1]):
                wrong.append("a run before the last has not ended")
            progress = ablation.progress
            if progress < last - 1e-9:
                wrong.append(("back", last, progress))
            last = progress

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


def test_a_task_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(RecipeError, match="too few"):
        Ablation(CONFIG, ablation_runs(replace(RECIPE, n_symbols=2, length=2), ["clip"]))
