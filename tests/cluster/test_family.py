"""The family of the small English is trained on a cluster as it is here."""

from dataclasses import replace

import pytest
import torch

from playground.language.family import __main__ as command
from playground.language.learner import Learner, LearningRequest
from playground.language.network import BASE, Spec
from tests.cluster.conftest import TwoNodes

TINY = Spec(replace(BASE, d_model=16, n_heads=2, d_ff=32, n_layers=1))


class ShortRequest(LearningRequest):
    """A training of a few steps."""

    def build(self) -> Learner:
        return Learner(self.spec, steps=10)


def test_the_cluster_trains_the_same_networks(two_nodes: TwoNodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "LearningRequest", ShortRequest)
    specs = [TINY, replace(TINY, seed=1)]
    there = {trained.spec: trained for trained in command.train_on_cluster(specs, two_nodes.pool)}
    assert there.keys() == set(specs)
    here = ShortRequest(spec=TINY).build()
    for _ in here.run():
        pass
    assert here.state.trained is not None
    assert torch.equal(there[TINY].network.head.weight, here.state.trained.network.head.weight)
    assert there[TINY].shares == here.state.trained.shares
