"""Runs on a real cluster of two nodes are those of this process, bit for bit, whatever happens to a node."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from playground.jobs import JobHandle, JobStatus, Request
from playground.jobs.cluster import ClusterPool
from playground.training.trained_network import from_trainer
from playground.training.variants import Training, TrainingState
from tests.training.tiny import CONFIG, SMALL, train
from tests.waiting import until

OBJECT_STORE = 80 << 20
"""Bytes of each node."""

TwoNodes = tuple[ClusterPool, Callable[[str], None]]


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[TwoNodes]:
    """The pool, and a way to end all of a node at once, as a machine that loses its power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "a token of thirty-two characters".replace(" ", "-"))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join((os.getcwd(), os.environ.get("PYTHONPATH", ""))))
        from ray.cluster_utils import Cluster

        cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": OBJECT_STORE},
        )
        added = [cluster.add_node(wait=False, num_cpus=1, object_store_memory=OBJECT_STORE) for _ in range(2)]
        pool = ClusterPool(cluster.address)
        cluster.wait_for_nodes()
        before = signal.getsignal(signal.SIGTERM)
        pool.connect()
        assert signal.getsignal(signal.SIGTERM) is before, "the server ends in its own way"
        nodes = {node.node_id: node for node in added}
        yield pool, lambda node_id: cluster.remove_node(nodes[node_id], allow_graceful=False)
        pool.close()
        cluster.shutdown()


LONG = replace(SMALL, steps=2000, dropout_attention=0.1, token_masking=0.1)


def ended(handle: JobHandle[Any]) -> str:
    """The status of a run that is over, and why it failed if it did."""
    until(lambda: handle.ended)
    return f"{handle.status}{handle.error}"


def test_a_run_that_is_stopped_keeps_the_network_that_it_has_reached(two_nodes: TwoNodes) -> None:
    handle = two_nodes[0].join("stopped", Request(Training, (CONFIG, LONG)))
    until(lambda: handle.state is not None and handle.state.step > 0)
    handle.stop(timeout=60)
    assert handle.state is not None
    assert handle.state.trained is not None
    assert handle.state.trained.results.steps == handle.state.step == len(handle.state.history.loss)


def test_a_run_whose_node_is_killed_ends_with_the_same_weights(two_nodes: TwoNodes) -> None:
    import ray

    kept: list[TrainingState] = []

    def keep(state: TrainingState, status: JobStatus) -> None:
        assert status == "finished"
        kept.append(state)

    handle = two_nodes[0].join("training", Request(Training, (CONFIG, LONG)), keep)
    until(lambda: handle.state is not None and handle.state.step > 0)
    run: Any = handle.job.computation
    two_nodes[1](ray.get(run.worker.__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id())))
    assert ended(handle) == "finished"
    whole = train(LONG)
    assert kept[0].history.loss == whole.history.loss
    assert kept[0].trained is not None
    assert kept[0].trained.key == from_trainer(whole).key
    assert list(kept[0].history.snapshots) == list(whole.history.snapshots)


def test_without_the_setting_ray_is_never_imported_and_with_it_once_it_connects(repository: Path) -> None:
    program = """
import sys
from playground.web.server import Settings
from playground.web.session.services import choose_pool, services
chosen = [services().pool, choose_pool(Settings(ray="auto", ray_cpus=0.5))]
print([type(each).__name__ for each in chosen], "ray" in sys.modules)
"""
    environment = {name: value for name, value in os.environ.items() if name != "PLAYGROUND_RAY"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repository, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "['JobPool', 'ClusterPool'] False"
