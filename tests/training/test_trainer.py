"""A run learns, is the same each time, goes on from a checkpoint, keeps the right weights; its steps are torch's."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from playground import ModelConfig
from playground.errors import RecipeError
from playground.model.init import Dropout
from playground.training.network import Tagger, evaluate
from playground.training.recipe import MASK_ID, OptimizerName, Recipe
from playground.training.tasks import make_data
from playground.training.trainer import BestWeights, Trainer, build_optimizer, clip_gradient, learning_rate, mask_tokens
from tests.training.tiny import CONFIG, CPU, SMALL, flat_weights, train


def test_a_short_run_learns_something() -> None:
    trainer = train(replace(SMALL, task="count", steps=120))
    first, last = trainer.history.evaluations[0], trainer.history.evaluations[-1]
    assert last.validation.loss < 0.8 * first.validation.loss
    assert last.validation.accuracy > trainer.data.baseline
    assert (trainer.outcome, trainer.step, trainer.kept_step) == ("finished", 120, 120)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", ["reverse", "characters", "masked", "seq2seq-reverse"])
def test_runs_of_one_recipe_are_equal_and_leave_torchs_own_generator_alone(task: str) -> None:
    recipe = replace(
        SMALL, task=task, length=12, steps=8, dropout_attention=0.1, dropout_residual=0.1, token_masking=0.2
    )  # fmt: skip
    state = torch.get_rng_state()
    one = train(recipe)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(3)
    two = train(recipe)
    assert torch.equal(flat_weights(one), flat_weights(two))
    torch.set_rng_state(state)
    assert one.history.loss != train(replace(recipe, seed=1)).history.loss


def test_each_dropout_has_its_own_probability_and_generator() -> None:
    recipe = replace(SMALL, dropout_attention=0.2, dropout_residual=0.4)
    modules = Trainer(CONFIG, recipe).network.encoder.named_modules()
    drops = {name: module for name, module in modules if isinstance(module, Dropout)}
    assert {name: module.p for name, module in drops.items()} == {
        "embed.dropout": 0.0,
        "layers.0.attn.weight_dropout": 0.2,
        "layers.0.ffn.hidden_dropout": 0.0,
        "layers.0.attn.dropout": 0.4,
        "layers.0.ffn.dropout": 0.4,
    }
    seeds = {module.p: module.generator.initial_seed() for module in drops.values() if module.generator is not None}
    assert len(set(seeds.values())) == len(seeds) == 3


def test_every_sequence_is_seen_before_one_is_seen_again() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, n_train=50, batch_size=20, steps=5))
    rows = torch.cat(list(trainer._batches()))
    assert sorted(rows[:50].tolist()) == list(range(50))
    assert sorted(rows[50:].tolist()) == list(range(50))


@pytest.mark.parametrize(("lr", "watch"), [(3, True), (1e4, True), (100, False)])
def test_a_loss_that_runs_away_stops_the_run_and_keeps_good_weights(lr: float, watch: bool) -> None:
    """Adam, at the smallest rate, makes losses climb step by step: many of them are finite, and none is any good."""
    sgd: dict[str, Any] = {"optimizer": "sgd", "schedule": "constant"} if lr > 3 else {}
    recipe = replace(SMALL, lr=lr, steps=200, **sgd)
    trainer = train(recipe, watch=watch)
    assert trainer.outcome == "diverged"
    assert trainer.kept_step < trainer.step < 200
    assert flat_weights(trainer).isfinite().all()
    assert f"the weights of step {trainer.kept_step} are kept" in trainer.message()
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


def test_a_teacher_learns_first_and_is_twice_as_wide() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, steps=4, distill=0.5))
    assert trainer.teacher is not None
    assert (trainer.teacher.config.d_model, trainer.teacher.config.d_ff) == (64, 128)
    assert trainer.teacher.config.head_width == 2 * CONFIG.head_width
    seen = [(trainer.teacher.step, trainer.step, trainer.progress) for _ in trainer.run()]
    assert [pair[:2] for pair in seen] == [(i, 0) for i in range(1, 5)] + [(4, i) for i in range(1, 5)]
    assert [pair[2] for pair in seen[:3]] == [1 / 8, 2 / 8, 3 / 8]
    assert trainer.progress == 1
    assert trainer.message() == "The run finished at step 4; the weights of step 4 are kept."


@pytest.mark.parametrize(("task", "needed"), [("reverse", 8), ("seq2seq-reverse", 9)])
def test_sequences_longer_than_the_position_table_are_refused(task: str, needed: int) -> None:
    """A few training sequences may all be short; validation has long ones."""
    recipe, config = replace(SMALL, task=task, length=8, n_train=1, steps=1), replace(CONFIG, max_len=needed - 1)
    with pytest.raises(RecipeError, match=f"{needed} tokens") as caught:
        Trainer(config, recipe)
    works: Any = caught.value.works[0]
    Trainer(config, replace(recipe, length=works))
    Trainer(replace(config, positions="none"), recipe)


@pytest.mark.parametrize(
    ("patience", "losses", "ran_away", "kept"),
    [
        (0, [2.0, 1.0, 1.5, 9.0], False, 3),
        (0, [2.0, 3.0, 9.0], True, 1),  # no worse than guessing, 3 nats
        (0, [4.0, 3.5, 9.0], True, 1),  # no worse than the untrained network
        (0, [4.0, 5.0, 9.0], True, 0),
        (9, [2.0, 1.0, 1.5, 9.0], False, 1),
        (9, [math.nan, math.inf], True, 0),
        (0, [1.0, math.nan], True, 0),
    ],
)
def test_the_best_or_the_last_good_weights_come_back(
    patience: int, losses: list[float], ran_away: bool, kept: int
) -> None:
    network = torch.nn.Linear(1, 1, bias=False).requires_grad_(False)
    network.weight.fill_(0)
    best = BestWeights(network, patience, guess_loss=3.0)
    for step, loss in enumerate(losses):
        network.weight.fill_(step)
        best.update(network, step, loss)
    assert best.restore(network, len(losses) - 1, diverged=ran_away) == kept
    assert network.weight.item() == kept


NARROW = ModelConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=1, d_ff=16, max_len=12, dropout=0.0)


def with_gradients(scale: float = 1.0) -> Tagger:
    network, generator = Tagger(NARROW, 5, seed=1), torch.Generator().manual_seed(2)
    for parameter in network.parameters():
        parameter.grad = scale * torch.randn(parameter.shape, generator=generator)
    return network


def gradients(network: nn.Module) -> list[torch.Tensor]:
    return [parameter.grad for parameter in network.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("largest", [0.01, 1.0, 1e6, 0.0])
def test_clipping_is_torchs_and_without_a_limit_the_gradient_is_only_measured(largest: float) -> None:
    ours, theirs = with_gradients(), with_gradients()
    norm = clip_gradient(ours.parameters(), largest)
    torch.testing.assert_close(norm, torch.nn.utils.clip_grad_norm_(theirs.parameters(), largest or math.inf))
    for mine, reference in zip(gradients(ours), gradients(theirs), strict=True):
        torch.testing.assert_close(mine, reference, rtol=1.3e-6 if largest else 0, atol=1e-5 if largest else 0)


def test_the_paper_s_schedule_peaks_at_the_rate_and_a_constant_one_stays() -> None:
    recipe, d_model = Recipe(schedule="paper", warmup=4000, lr=1 / math.sqrt(512 * 4000)), 512
    for step in (1, 10, 3999, 4000, 4001, 100_000):
        paper = d_model**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(step, recipe) == pytest.approx(paper, rel=1e-12)
        assert learning_rate(step, Recipe(schedule="constant", lr=0.5)) == 0.5
    assert learning_rate(50, Recipe(schedule="paper", warmup=50, lr=0.02)) == 0.02


@pytest.mark.parametrize(
    ("name", "decay", "left"), [("adamw", 0.5, 0.95), ("sgd", 0.5, 0.95), ("adam", 0.01, 0.9), ("adam", 0.5, 0.9)]
)
def test_weight_decay_shrinks_matrices_and_tables_alone(name: OptimizerName, decay: float, left: float) -> None:
    """Adam rescales it: where the decay is all of the gradient, any λ makes a step of the whole learning rate."""
    network = Tagger(NARROW, 5, seed=1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.fill_(1.0)
            parameter.grad = torch.zeros_like(parameter)
    build_optimizer(network, Recipe(optimizer=name, lr=0.1, weight_decay=decay)).step()
    for key, parameter in network.named_parameters():
        torch.testing.assert_close(parameter, torch.full_like(parameter, left if parameter.ndim == 2 else 1.0), msg=key)


DATA = make_data(Recipe(length=12, n_train=2_000, n_validation=1)).train


@pytest.mark.parametrize("p", [0.0, 0.05, 0.95])
def test_each_token_is_masked_with_its_probability_and_no_special_one(p: float) -> None:
    ids = DATA.ids.clone()
    ids[:, 3], ids[:, 5] = 1, 2
    before, ordinary = ids.clone(), ids > 2
    found = mask_tokens(ids, p, torch.Generator().manual_seed(0))
    hidden = (found == MASK_ID) & ordinary
    assert torch.equal(ids, before), "the batch itself must stay as it is"
    assert torch.equal(found[~hidden], ids[~hidden])
    n = int(ordinary.sum())
    assert abs(hidden.sum().item() - n * p) <= 4 * (n * p * (1 - p)) ** 0.5
