"""What is measured is plain cross-entropy under the recipe's masks; attention is saved as often as it is affordable."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from playground.training.network import (
    evaluate,
    evaluate_in_use,
    evaluation_steps,
    keeps_attention,
    scores,
    take_snapshot,
)
from playground.training.recipe import IGNORE
from playground.training.trainer import Trainer
from tests.training.tiny import CONFIG, CPU, SMALL, cached_train, train


def test_evaluations_are_plain_cross_entropy_over_the_whole_set_in_one_piece_or_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trainer = train(replace(SMALL, label_smoothing=0.3, dropout_residual=0.5, steps=5))
    validation = trainer.data.validation
    logits = scores(trainer.network, validation, trainer.recipe)
    loss = F.cross_entropy(logits.transpose(1, 2), validation.targets, ignore_index=IGNORE)
    asked = validation.targets != IGNORE
    right = (logits.argmax(-1) == validation.targets)[asked].float().mean()
    monkeypatch.setattr("playground.training.network._TOKENS", 15)
    in_pieces = evaluate(trainer.network, validation, trainer.recipe, CPU)
    for measure in (trainer.history.evaluations[-1].validation, in_pieces):
        assert measure.loss == pytest.approx(loss.item(), rel=1e-5)
        assert measure.accuracy == pytest.approx(right.item(), abs=1e-6)


@pytest.mark.parametrize("task", ["sort", "characters", "masked", "seq2seq-copy"])
def test_in_use_is_one_sequence_at_a_time_behind_both_masks(task: str) -> None:
    trainer = cached_train(replace(SMALL, task=task, length=8, n_symbols=6, steps=3, causal=False))
    network, validation, masked = trainer.network, trainer.data.validation, replace(SMALL, task=task)
    losses, right = [], []
    for row in range(len(validation)):
        one = validation[torch.tensor([row])]
        logits, targets = scores(network, one, masked)[0], one.targets[0]
        losses.append(F.cross_entropy(logits, targets, reduction="none", ignore_index=IGNORE)[targets != IGNORE])
        right.append((logits.argmax(-1) == targets)[targets != IGNORE])
    in_use = evaluate_in_use(network, validation, trainer.recipe, CPU)
    assert in_use.loss == pytest.approx(float(torch.cat(losses).mean()), rel=1e-4)
    assert in_use.accuracy == pytest.approx(float(torch.cat(right).float().mean()), abs=1e-6)
    batched = evaluate(network, validation, trainer.recipe, CPU)
    assert (in_use.loss != pytest.approx(batched.loss, rel=1e-4)) == (task == "characters")


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_snapshots_hold_what_the_network_attends_to(task: str) -> None:
    trainer = cached_train(replace(SMALL, task=task, steps=4))
    n = int(trainer.data.validation.mask[0].sum())
    first, *_, last = trainer.history.snapshots.values()
    shapes = {"self": (1, 2, n, n)} if task == "reverse" else {
        "encoder self": (1, 2, n, n), "decoder self": (1, 2, n + 1, n + 1), "cross": (1, 2, n + 1, n),
    }  # fmt: skip
    assert {name: pattern.shape for name, pattern in last.items()} == shapes
    for name, pattern in last.items():
        assert pattern.sum(-1) == pytest.approx(1, abs=1e-5)
        assert not (first[name] == pattern).all()
        assert not pattern.flags.writeable


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_attention_is_saved_as_long_as_it_is_affordable(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(CONFIG, replace(SMALL, task=task))
    whole = take_snapshot(trainer.network, trainer.data, trainer.recipe, CPU)
    numbers = len(evaluation_steps(1_000)) * sum(pattern.size for pattern in whole.values())
    for affordable in (numbers, numbers - 1):
        monkeypatch.setattr("playground.training.network.MAX_SNAPSHOT_NUMBERS", affordable)
        assert keeps_attention(trainer.config, trainer.data) == (affordable == numbers)
