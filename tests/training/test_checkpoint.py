"""A run that goes on from a checkpoint, on another machine, is the run that was never broken off."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
import torch

from playground.training.trainer import Trainer
from tests.training.tiny import CONFIG, SMALL, cached_train, flat_weights

RANDOM: dict[str, Any] = {
    "dropout_attention": 0.1, "dropout_residual": 0.1, "dropout_positions": 0.1, "dropout_feedforward": 0.1,
    "token_masking": 0.2, "token_swapping": 0.2, "shuffling": 0.3, "noise": 0.1,
}  # fmt: skip


@pytest.mark.parametrize("n_steps", [1, 7, 37])
@pytest.mark.parametrize(
    "changes",
    [
        RANDOM,
        {"optimizer": "sgd", "schedule": "constant"},
        {"optimizer": "adamw", "weight_decay": 0.1, "patience": 2, "lr": 0.1},
        {"distill": 0.5, "steps": 20, **RANDOM},
        {"optimizer": "sgd", "schedule": "constant", "lr": 100, "steps": 60},
        {"task": "seq2seq-reverse", **RANDOM},
    ],
    ids=["random", "sgd", "early stopping", "teacher", "diverging", "decoder"],
)
def test_a_run_goes_on_from_a_checkpoint_bit_for_bit(changes: dict[str, Any], n_steps: int) -> None:
    recipe = replace(SMALL, **{"steps": 40, **changes})
    whole, broken_off = cached_train(recipe), Trainer(CONFIG, recipe)
    steps = broken_off.run()
    for _ in range(n_steps):
        next(steps, None)
    checkpoint = pickle.dumps(broken_off.checkpoint())
    if broken_off.outcome:  # it was over by then
        return
    for _ in range(3):  # what happens after that does not matter
        next(steps, None)
    going_on = Trainer(CONFIG, recipe)
    going_on.restore(pickle.loads(checkpoint))
    for _ in going_on.run():
        pass
    assert torch.equal(flat_weights(going_on), flat_weights(whole))
    for name in ("loss", "lr", "grad_norm"):
        assert getattr(going_on.history, name) == getattr(whole.history, name)
    assert [each.validation for each in going_on.history.evaluations] == [
        each.validation for each in whole.history.evaluations
    ]
    assert (going_on.outcome, going_on.step, going_on.kept_step, going_on.message()) == (
        whole.outcome, whole.step, whole.kept_step, whole.message()
    )  # fmt: skip
    for one, other in zip(going_on.history.snapshots, whole.history.snapshots, strict=True):
        assert all((one.patterns[name] == pattern).all() for name, pattern in other.patterns.items())
