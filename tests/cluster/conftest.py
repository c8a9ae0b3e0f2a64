"""A real cluster on this machine: two nodes with room for one run each, and the project's own backend."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from playground.jobs.cluster import ClusterPool

OBJECT_STORE = 80 << 20
"""Bytes of each node."""

STRANGER = """
import sys
from playground.errors import ClusterError
from playground.jobs.cluster import ClusterPool
try:
    ClusterPool(sys.argv[1]).connect()
except ClusterError as error:
    print(error)
"""


@dataclass
class TwoNodes:
    """The cluster, of which a node may be killed."""

    cluster: Any
    pool: ClusterPool
    nodes: list[Any]
    stranger: subprocess.Popen[str]
    """Somebody with another token, who tries to connect, and says what comes of it."""

    def kill(self, node_id: str) -> None:
        """End all of a node at once, as a machine that loses its power."""
        (node,) = (node for node in self.nodes if node.node_id == node_id)
        self.cluster.remove_node(node, allow_graceful=False)


@pytest.fixture(scope="session")
def two_nodes() -> Iterator[TwoNodes]:
    """The cluster, for all tests of this folder."""
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
        environment = os.environ | {"RAY_AUTH_TOKEN": "another-token-of-32-characters-x"}
        command = [sys.executable, "-c", STRANGER, cluster.address]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as stranger:
            yield TwoNodes(cluster, pool, added, stranger)
            stranger.kill()
        pool.close()
        cluster.shutdown()
