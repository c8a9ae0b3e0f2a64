"""A run learns, is the same each time, keeps the right weights, and is not disturbed by being watched."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from playground import Encoder
from playground.errors import RecipeError
from playground.model.dropout import Dropout
from playground.training.evaluation import evaluate
from playground.training.network import Tagger
from playground.training.trainer import Trainer, build_optimizer
from tests.training.tiny import CONFIG, CPU, SMALL, flat_weights, train


@pytest.mark.parametrize("task", ["copy", "reverse", "sort", "count", "seq2seq-copy", "seq2seq-reverse"])
def test_a_short_run_learns_something(task: str) -> None:
    trainer = train(replace(SMALL, task=task, steps=120))
    first, last = trainer.history.evaluations[0], trainer.history.evaluations[-1]
    assert last.validation.loss < 0.8 * first.validation.loss
    assert last.validation.accuracy > trainer.data.baseline
    assert (trainer.outcome, trainer.step, trainer.kept_step) == ("finished", 120, 120)


@pytest.mark.parametrize("task", ["reverse", "characters", "masked", "seq2seq-reverse"])
def test_runs_of_one_recipe_are_equal_and_leave_torchs_own_generator_alone(task: str) -> None:
    recipe = replace(
        SMALL, task=task, length=12, steps=8, dropout_attention=0.1, dropout_feedforward=0.1, dropout_positions=0.1,
        dropout_residual=0.1, token_masking=0.2, token_swapping=0.2, span_masking=0.2,
    )  # fmt: skip
    state = torch.get_rng_state()
    one = train(recipe)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(3)
    two = train(recipe)
    assert one.history.loss == two.history.loss
    assert torch.equal(flat_weights(one), flat_weights(two))
    torch.set_rng_state(state)
    assert one.history.loss != train(replace(recipe, seed=1)).history.loss


def test_each_dropout_has_its_own_probability_and_generator() -> None:
    recipe = replace(SMALL, dropout_positions=0.1, dropout_attention=0.2, dropout_feedforward=0.3, dropout_residual=0.4)
    modules = Trainer(CONFIG, recipe).network.encoder.named_modules()
    drops = {name: module for name, module in modules if isinstance(module, Dropout)}
    assert {name: module.p for name, module in drops.items()} == {
        "embed.dropout": 0.1,
        "layers.0.attn.weight_dropout": 0.2,
        "layers.0.ffn.hidden_dropout": 0.3,
        "layers.0.attn.dropout": 0.4,
        "layers.0.ffn.dropout": 0.4,
    }
    seeds = {module.p: module.generator.initial_seed() for module in drops.values() if module.generator is not None}
    assert len(set(seeds.values())) == 4


def test_watching_changes_nothing() -> None:
    recipe = replace(SMALL, dropout_residual=0.2)
    watched, alone = train(recipe), train(recipe, watch=False)
    assert watched.history.loss == alone.history.loss
    assert torch.equal(flat_weights(watched), flat_weights(alone))
    assert alone.history.evaluations == []


def test_every_sequence_is_seen_before_one_is_seen_again() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, n_train=50, batch_size=20, steps=5))
    rows = torch.cat(list(trainer._batches()))
    assert sorted(rows[:50].tolist()) == list(range(50))
    assert sorted(rows[50:].tolist()) == list(range(50))


@pytest.mark.parametrize(("lr", "watch", "patience"), [(3, True, 0), (100, True, 0), (1e4, True, 0), (100, False, 0),
                                                       (100, False, 3)])  # fmt: skip
def test_a_loss_that_runs_away_stops_the_run_and_keeps_good_weights(lr: float, watch: bool, patience: int) -> None:
    """Adam, at the smallest rate, makes losses climb step by step: many of them are finite, and none is any good."""
    sgd: dict[str, Any] = {"optimizer": "sgd", "schedule": "constant"} if lr > 3 else {}
    recipe = replace(SMALL, lr=lr, steps=200, patience=patience, **sgd)
    trainer = train(recipe, watch=watch)
    assert trainer.outcome == "diverged"
    assert trainer.kept_step < trainer.step < 200
    assert flat_weights(trainer).isfinite().all()
    assert f"learning rate of {lr:g}; the weights of step {trainer.kept_step} are kept" in trainer.message()
    untrained = Trainer(CONFIG, recipe)
    first, kept = (
        evaluate(each.network.eval(), trainer.data.validation, recipe, CPU).loss for each in (untrained, trainer)
    )
    good = max(first, math.log(len(trainer.data.labels)))
    assert kept <= good * 1.00001
    assert watch or torch.equal(flat_weights(trainer), flat_weights(untrained))
    if watch:
        losses = {evaluation.step: evaluation.validation.loss for evaluation in trainer.history.evaluations}
        assert kept == pytest.approx(losses[trainer.kept_step], rel=1e-5)
        assert lr > 3 or max(losses.values()) > good


def test_a_teacher_that_ran_away_is_named() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, steps=60, distill=0.5))
    teacher = trainer.teacher
    assert teacher is not None
    teacher.recipe = replace(teacher.recipe, lr=100.0, schedule="constant")
    teacher.optimizer = build_optimizer(teacher.network, replace(SMALL, optimizer="sgd", lr=100.0))
    for _ in trainer.run():
        if trainer.step:
            assert trainer.message() == ""
    assert (teacher.outcome, trainer.outcome) == ("diverged", "finished")
    end, rest = trainer.message().split(" The loss of its teacher ")
    assert end == "All 60 steps are done."
    assert f"at step {teacher.step}:" in rest
    assert f"of step {teacher.kept_step}." in rest


def test_a_teacher_learns_first_and_is_twice_as_wide() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, steps=4, distill=0.5))
    assert trainer.teacher is not None
    assert (trainer.teacher.config.d_model, trainer.teacher.config.d_ff) == (64, 128)
    assert trainer.teacher.config.d_head == 2 * CONFIG.d_head
    seen = [(trainer.teacher.step, trainer.step, trainer.progress) for _ in trainer.run()]
    assert [pair[:2] for pair in seen] == [(i, 0) for i in range(1, 5)] + [(4, i) for i in range(1, 5)]
    assert [pair[2] for pair in seen[:3]] == [1 / 8, 2 / 8, 3 / 8]
    assert trainer.progress == 1
    assert trainer.message() == "All 4 steps are done."


@pytest.mark.parametrize("n_train", [1, 2, 3])
@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_sequences_longer_than_the_position_table_are_refused(n_train: int, task: str) -> None:
    """A few training sequences may all be short; validation has long ones."""
    recipe = replace(SMALL, task=task, length=8, n_train=n_train, steps=1)
    needed = 9 if task == "seq2seq-reverse" else 8
    for max_len in range(4, needed):
        with pytest.raises(RecipeError, match=f"{needed} tokens") as caught:
            Trainer(replace(CONFIG, max_len=max_len), recipe)
        works: Any = caught.value.works[0]
        Trainer(replace(CONFIG, max_len=max_len), replace(recipe, length=works))
    Trainer(replace(CONFIG, max_len=4, positions="none"), recipe)
    train(recipe, replace(CONFIG, max_len=needed))


def test_the_encoder_starts_from_its_own_seed_s_weights() -> None:
    network = Tagger(replace(CONFIG, vocab_size=9), 5, seed=3)
    alone = Encoder(replace(CONFIG, vocab_size=9), seed=3)
    assert all(
        torch.equal(a, b)
        for a, b in zip(network.encoder.state_dict().values(), alone.state_dict().values(), strict=True)
    )
