"""An ablation is its runs, each as it would be alone; it can be watched, taken apart, and continued."""

import gc
import pickle
import sys
import threading
import weakref
from dataclasses import fields, replace
from itertools import pairwise

import pytest

from playground import ModelConfig
from playground.presets import PRESETS
from playground.training.ablation import (
    Ablation,
    AblationRequest,
    AblationState,
    AblationTraining,
    seeds_of,
    trainings_of_one_seed,
)
from playground.training.ablation_report import measure_effects
from playground.training.network import History, evaluate_unbatched
from playground.training.recipe import Recipe, architecture
from playground.training.regularisers import (
    PLENTY,
    REGULARISERS,
    SIZES,
    ablation_recipe,
    ablation_trainings,
    without_regularisers,
)
from playground.training.tasks import TASKS, make_data
from playground.training.trainer import Trainer
from tests.training.tiny import CONFIG, CPU, SMALL, train

TINY = ModelConfig(vocab_size=0, d_model=8, n_heads=2, n_layers=1, d_ff=16, max_len=16, dropout=0.0)
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
    baseline, *rest, together = ablation_trainings(
        TINY, recipe, ["clip", "mask_padding", "dropout_residual", "patience"]
    )
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
    found = ablation_trainings(TINY, RECIPE, chosen)
    assert [each.name for each in found] == ["none", *names]
    assert len({each.recipe for each in found}) == len({each.title for each in found}) == len(found)


def test_an_unknown_regulariser_is_refused() -> None:
    with pytest.raises(KeyError):
        ablation_trainings(TINY, RECIPE, ["clipping"])


@pytest.mark.long
def test_every_run_goes_as_it_would_alone() -> None:
    switches = ["mask_padding", "label_smoothing", "distill", "token_swapping"]
    ablation = ended(Ablation(ablation_trainings(TINY, RECIPE, switches)))
    assert len(ablation.trainings) == 6
    for result, each in zip(ablation.results(), ablation.trainings, strict=True):
        alone = train(each.recipe, TINY)
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


@pytest.mark.long
def test_with_several_seeds_every_run_goes_as_it_would_with_its_seed_alone() -> None:
    recipe = replace(RECIPE, seed=4)
    runs = ablation_trainings(TINY, recipe, ["clip", "noise"], n_seeds=3)
    assert seeds_of(runs) == [4, 5, 6]
    assert trainings_of_one_seed(runs) == list(ablation_trainings(TINY, recipe, ["clip", "noise"])) == list(runs[:4])
    assert list(runs[4:8]) == list(ablation_trainings(TINY, replace(recipe, seed=5), ["clip", "noise"]))
    found = ended(Ablation(runs)).results()
    for i, seed in ((0, 4), (4, 5), (9, 6)):
        alone = train(replace(runs[i].recipe, seed=seed), TINY)
        assert found[i].history.loss == alone.history.loss
        assert found[i].unbatched == evaluate_unbatched(alone.network, alone.data.validation, alone.recipe, CPU)
    assert len({tuple(result.history.loss) for result in found}) == 12
    data = {seed: make_data(replace(recipe, seed=seed)) for seed in (4, 5, 6)}
    given = ended(Ablation(runs[3:5], data=data)).results()
    assert [result.history.loss for result in given] == [result.history.loss for result in found[3:5]]


def test_a_run_is_measured_by_the_weights_that_it_kept_and_the_others_go_on() -> None:
    wild = replace(RECIPE, steps=60, lr=100.0, optimizer="sgd", schedule="constant", clip=1e-3)
    baseline, clipped = ended(Ablation(ablation_trainings(TINY, wild, ["clip"]))).results()
    assert (baseline.outcome, clipped.outcome) == ("diverged", "finished")
    assert baseline.evaluation is not None
    assert baseline.evaluation.step < len(baseline.history.loss)
    by_heart = replace(RECIPE, n_train=8, steps=200, lr=1e-2, schedule="constant", patience=2)
    (stopped,) = ended(Ablation(ablation_trainings(TINY, by_heart, ["patience"])[1:])).results()
    assert stopped.outcome == "stopped early"
    assert stopped.evaluation == stopped.history.evaluations[-3]


def test_progress_rises_from_0_to_1_and_results_grow() -> None:
    ablation = Ablation(ablation_trainings(TINY, RECIPE, ["clip", "distill"]))
    assert ablation.progress == 0
    assert ablation.results() == []
    assert ablation.n_answers == int(make_data(RECIPE).validation.mask.sum())
    assert ablation.state.baseline == make_data(RECIPE).baseline
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
    ablation = Ablation(ablation_trainings(TINY, RECIPE, ["clip"]))
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
    ablation = Ablation(ablation_trainings(TINY, recipe, ["clip", "label_smoothing", "weight_decay", "token_masking"]))
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


SHORT = replace(SMALL, steps=4)
REQUEST = AblationRequest(ablation_trainings(CONFIG, SHORT, ["clip"], n_seeds=2))


@pytest.fixture(scope="module")
def states() -> list[AblationState]:
    """Of every part, once it is done."""
    found = []
    for part in REQUEST.parts:
        ablation = part.build()
        for _ in ablation.run():
            pass
        found.append(ablation.state)
    return found


def unfinished(state: AblationState) -> AblationState:
    (result,) = state.results
    return replace(state, results=(replace(result, history=History(), unbatched=None, outcome=""),), progress=0.5)


def test_all_parts_together_are_the_ablation(states: list[AblationState]) -> None:
    whole = Ablation(REQUEST.trainings)
    for _ in whole.run():
        pass
    joined = REQUEST.join(states)
    assert joined is not None
    assert (joined.trainings, joined.n_answers, joined.progress, joined.n_ended) == (
        whole.trainings,
        whole.n_answers,
        1.0,
        4,
    )
    assert [result.unbatched for result in joined.results] == [result.unbatched for result in whole.results()]
    assert [result.history.loss for result in joined.results] == [result.history.loss for result in whole.results()]


def test_a_run_is_listed_once_all_before_it_are(states: list[AblationState]) -> None:
    assert REQUEST.join([None, states[1], None, None]) is None
    joined = REQUEST.join([states[0], None, states[2], states[3]])
    assert joined is not None
    assert (joined.results, joined.progress) == (states[0].results, 0.75)


def test_a_seed_counts_as_ended_once_those_before_it_have(states: list[AblationState]) -> None:
    joined = REQUEST.join([states[0], unfinished(states[1]), states[2], states[3]])
    assert joined is not None
    assert [result.unbatched is not None for result in joined.results] == [True, False, True, False]
    assert joined.n_ended == 2
    assert "clip" not in measure_effects(joined.results)
    assert measure_effects(REQUEST.join(states).results)["clip"].n_seeds == 2  # type: ignore[union-attr]


def test_a_request_travels_without_its_data() -> None:
    part = replace(REQUEST.parts[1], data={}, threads=3, device="cuda")
    arrived = pickle.loads(pickle.dumps(part))
    assert arrived == replace(part, data=None)


@pytest.mark.parametrize("n_steps", [1, 3, 6])
def test_an_ablation_goes_on_from_a_checkpoint(n_steps: int, states: list[AblationState]) -> None:
    request = AblationRequest(REQUEST.trainings[:2])
    broken_off, going_on = request.build(), request.build()
    steps = broken_off.run()
    for _ in range(n_steps):
        next(steps)
    going_on.restore(pickle.loads(pickle.dumps(broken_off.checkpoint())))
    rest = going_on.run()
    next(rest)
    assert going_on.progress > broken_off.progress, "it began anew"
    for _ in rest:
        pass
    for own, other in zip(going_on.results(), states[:2], strict=True):
        assert (own.history.loss, own.unbatched) == (other.results[0].history.loss, other.results[0].unbatched)


def test_an_ablation_that_has_not_begun_has_nothing_to_go_on_from() -> None:
    assert AblationRequest(REQUEST.trainings[:2]).build().checkpoint() == {"done": [], "running": None}


OF_THE_PAGE = replace(PRESETS["minilm-l6"].config, **SIZES)


@pytest.mark.parametrize("task", TASKS)
def test_the_amounts_differ_in_the_number_of_sequences_alone(task: str) -> None:
    small, plenty = (ablation_recipe(task, amount, 7, {"clip": 0.5}) for amount in ("small", "plenty"))
    assert replace(small, n_train=PLENTY) == plenty
    assert small.n_train == TASKS[task].ablation_small < plenty.n_train
    assert (small.seed, small.clip, small.n_validation) == (7, 0.5, 512)
    assert small.optimizer == "adamw"  # weight decay is what it says
    for recipe in (small, plenty):
        data = make_data(recipe)
        assert (len(data.train), len(data.validation)) == (recipe.n_train, 512)
        assert architecture(OF_THE_PAGE, recipe, data).d_model == 32  # and the sequences are not too long for it


@pytest.mark.long
def test_a_hundred_sequences_are_learnt_by_heart() -> None:
    """The page's default setting, cut short for speed: what happens if nothing is done about it."""
    recipe = replace(without_regularisers(ablation_recipe("reverse", "small", 0, {})), steps=250)
    ablation = Ablation(ablation_trainings(OF_THE_PAGE, recipe, []))
    for _ in ablation.run():
        pass
    (result,) = ablation.results()
    assert result.evaluation is not None
    assert result.evaluation.train.accuracy > 0.99
    assert result.evaluation.gap > 0.4
    lowest = min(each.validation.loss for each in result.history.evaluations)
    assert result.evaluation.validation.loss > 1.5 * lowest  # surer and surer of wrong answers
