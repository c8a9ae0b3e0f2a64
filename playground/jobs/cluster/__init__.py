"""Jobs whose steps are taken on a Ray cluster: the only folder that knows of Ray."""

from playground.jobs.cluster.queue import ClusterQueue

__all__ = ["ClusterQueue"]
