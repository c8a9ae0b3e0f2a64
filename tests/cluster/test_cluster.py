"""Runs on a real cluster of two nodes are those of this process, bit for bit, whatever happens to a node."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from playground.analysis.gradient_variants import VARIANTS, DepthSweep, SweepRequest, common_config
from playground.jobs import JobStatus, Member, SharedRuns
from playground.jobs.cluster import ENVIRONMENT, UNREACHABLE
from playground.link.state import TextKey
from playground.training.ablation import Ablation, AblationRequest
from playground.training.regularisers import ablation_trainings
from playground.training.run_state import TrainingRequest, TrainingState
from playground.training.trained_network import from_trainer
from playground.views.gradient_flow import list_depths
from playground.web.session.services import other_services, services
from playground.web.views import gradient_flow
from playground.web.views.gradient_flow import ComparisonKey
from tests.cluster.conftest import TwoNodes
from tests.training.tiny import CONFIG, SMALL, train
from tests.waiting import until

LONG = replace(SMALL, steps=2000, dropout_attention=0.1, token_masking=0.1)


def ended(member: Member[Any]) -> str:
    """The status of a run that is over, and why it failed if it did."""
    until(lambda: member.ended)
    return f"{member.status}{member.error}"


def test_an_ablations_runs_go_side_by_side_and_give_the_numbers_of_one_after_the_other(two_nodes: TwoNodes) -> None:
    runs = ablation_trainings(CONFIG, replace(SMALL, steps=60), ["clip"])
    assert two_nodes.queue.max_running == 2
    member = SharedRuns(two_nodes.queue, 4, 10**8).join("ablation", AblationRequest(runs))
    until(lambda: member.run.steps.computation is not None)
    run: Any = member.run.steps.computation
    most = 0
    while not member.ended:
        most = max(most, sum(part.worker is not None for part in run._parts))
        time.sleep(0.02)
    assert ended(member) == "finished"
    assert most == 2
    here = Ablation(runs)
    for _ in here.run():
        pass
    assert member.state is not None
    for there, own in zip(member.state.results, here.results(), strict=True):
        assert (there.training, there.outcome, there.unbatched) == (own.training, own.outcome, own.unbatched)
        assert there.history.loss == own.history.loss
    assert member.state.n_answers == here.n_answers


def test_a_page_has_its_sweep_over_depths_computed_there_and_draws_the_same_numbers(
    two_nodes: TwoNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = ComparisonKey(
        TextKey("char", 0, 64, ("abcd",)), 0, common_config(replace(CONFIG, vocab_size=300), 5), 3, 1.4, causal=True
    )
    depths = list_depths(5)[:-1]
    variants = VARIANTS[:2]
    monkeypatch.setattr(gradient_flow, "SweepRequest", partial(SweepRequest, variants=variants))
    here = gradient_flow._sweep(key, depths)
    runs, patient = SharedRuns(two_nodes.queue, 4, 10**8), replace(services().settings, busy_timeout=120.0)
    monkeypatch.setattr(DepthSweep, "run", Mock(side_effect=AssertionError))  # nothing is computed in this process
    with other_services(backend=two_nodes.queue, runs=runs, settings=patient):
        assert gradient_flow._sweep(key, depths) == here
    assert {variant: tuple(by_depth) for variant, by_depth in here.items()} == dict.fromkeys(variants, depths)


def test_a_run_that_pauses_and_whose_node_is_killed_ends_with_the_same_weights(two_nodes: TwoNodes) -> None:
    import ray

    kept: list[TrainingState] = []

    def keep(state: TrainingState, status: JobStatus) -> str:
        assert status == "finished"
        kept.append(state)
        return ""

    member = SharedRuns(two_nodes.queue, 4, 10**8).join("training", TrainingRequest(CONFIG, LONG), keep)
    until(lambda: member.state is not None and member.state.step > 0)
    member.pause(timeout=30)
    assert member.status == "paused"
    until(lambda: ray.available_resources().get("CPU") == 2)  # it makes room for others
    assert member.state is not None
    paused_at = member.state.step
    member.resume()
    run: Any = member.run.steps.computation
    (part,) = run._parts
    until(lambda: part.worker is not None and part.state is not None and part.state.step > paused_at)
    two_nodes.kill(ray.get(part.worker.__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id())))
    assert ended(member) == "finished"
    whole = train(LONG)
    assert kept[0].history.loss == whole.history.loss
    assert kept[0].trained is not None
    assert kept[0].trained.key == from_trainer(whole).key
    assert [each.step for each in kept[0].history.snapshots] == [each.step for each in whole.history.snapshots]


def test_only_who_has_the_token_takes_part(two_nodes: TwoNodes) -> None:
    from ray import _raylet

    assert ENVIRONMENT["RAY_AUTH_MODE"] == "token"
    assert _raylet.get_authentication_mode() == _raylet.AuthenticationMode.TOKEN  # type: ignore[attr-defined]
    printed, _ = two_nodes.stranger.communicate(timeout=60)
    assert printed.strip() == UNREACHABLE


def test_without_the_setting_ray_is_never_imported_and_with_it_once_it_connects(repository: Path) -> None:
    program = """
import sys
from playground.web.server.settings import Settings
from playground.web.session.services import choose_backend, services
chosen = [services().backend, choose_backend(Settings(ray="auto", ray_cpus=0.5))]
print([type(each).__name__ for each in chosen], "ray" in sys.modules)
"""
    environment = {name: value for name, value in os.environ.items() if name != "PLAYGROUND_RAY"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repository, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "['JobQueue', 'ClusterQueue'] False"
