"""An ablation whose runs are computed apart shows what one after the other could have shown."""

import pickle
from dataclasses import replace

import pytest

from playground.training.evaluation import History
from playground.training.regularisers.ablation import Ablation, AblationRequest, AblationState, ablation_trainings
from playground.training.regularisers.ablation_report import measure_effects
from tests.training.tiny import CONFIG, SMALL

RECIPE = replace(SMALL, steps=4)
REQUEST = AblationRequest(CONFIG, ablation_trainings(RECIPE, ["clip"], n_seeds=2))


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
    whole = Ablation(CONFIG, REQUEST.trainings)
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
    request = AblationRequest(CONFIG, REQUEST.trainings[:2])
    broken_off, going_on = request.build(), request.build()
    steps = broken_off.run()
    for _ in range(n_steps):
        next(steps)
    going_on.restore(pickle.loads(pickle.dumps(broken_off.checkpoint())))
    for _ in going_on.run():
        pass
    for own, other in zip(going_on.results(), states[:2], strict=True):
        assert (own.history.loss, own.unbatched) == (other.results[0].history.loss, other.results[0].unbatched)
