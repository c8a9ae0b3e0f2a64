"""A run learns, is the same each time, keeps the right weights, and is not disturbed by being watched."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from playground import Encoder, ModelConfig
from playground.errors import RecipeError
from playground.model.dropout import Dropout
from playground.training.evaluation import (
    N_EVALUATIONS,
    evaluate,
    evaluation_steps,
    scores,
    snapshot_steps,
    take_snapshot,
)
from playground.training.network import Tagger
from playground.training.optimiser import build_optimizer
from playground.training.recipe import Recipe
from playground.training.tasks import make_data
from playground.training.tasks.examples import IGNORE
from playground.training.trainer import Trainer

CONFIG = ModelConfig(vocab_size=0, d_model=32, n_heads=2, n_layers=1, d_ff=64, max_len=32, dropout=0.3)
SMALL = Recipe(task="reverse", length=5, n_symbols=5, n_train=200, n_validation=40, steps=30, batch_size=16, lr=3e-3)
CPU = torch.device("cpu")


def trained(recipe: Recipe = SMALL, config: ModelConfig = CONFIG, *, watch: bool = True) -> Trainer:
    trainer = Trainer(config, recipe, watch=watch)
    for _ in trainer.run():
        pass
    return trainer


def weights(trainer: Trainer) -> torch.Tensor:
    return torch.cat([parameter.flatten() for parameter in trainer.network.parameters()])


@pytest.mark.parametrize("task", ["copy", "reverse", "sort", "count", "seq2seq-copy", "seq2seq-reverse"])
def test_a_short_run_learns_something(task: str) -> None:
    trainer = trained(replace(SMALL, task=task, steps=120))
    first, last = trainer.history.evaluations[0], trainer.history.evaluations[-1]
    assert last.validation.loss < 0.8 * first.validation.loss
    assert last.validation.accuracy > trainer.data.baseline
    assert (trainer.outcome, trainer.step, trainer.kept_step) == ("finished", 120, 120)


@pytest.mark.parametrize("task", ["reverse", "characters", "masked", "seq2seq-reverse"])
def test_two_runs_of_one_recipe_are_equal(task: str) -> None:
    recipe = replace(
        SMALL, task=task, length=12, steps=8, dropout_attention=0.1, dropout_residual=0.1, token_masking=0.2
    )
    one, torch_state = trained(recipe), torch.get_rng_state()
    torch.rand(3)
    two = trained(recipe)
    assert one.history.loss == two.history.loss
    assert torch.equal(weights(one), weights(two))
    torch.set_rng_state(torch_state)
    three = trained(replace(recipe, seed=1))
    assert one.history.loss != three.history.loss


def test_nothing_is_drawn_from_torchs_own_generator() -> None:
    state = torch.get_rng_state()
    trained(replace(SMALL, steps=3, dropout_feedforward=0.5, span_masking=0.2))
    assert torch.equal(torch.get_rng_state(), state)


DROPOUTS = {
    "dropout_positions": "positions",
    "dropout_attention": "attention",
    "dropout_feedforward": "feed-forward",
    "dropout_residual": "residual",
}


@pytest.mark.parametrize("switch", DROPOUTS)
def test_a_dropout_leaves_the_other_places_their_zeros(switch: str) -> None:
    zeros = []
    for p in (0.0, 0.3):
        changes: dict[str, Any] = dict.fromkeys(DROPOUTS, 0.3) | {switch: p}
        recipe = replace(SMALL, **changes)
        modules = Trainer(CONFIG, recipe).network.train().modules()
        drawn = [(module.point, module(torch.ones(40)) == 0) for module in modules if isinstance(module, Dropout)]
        zeros.append([found for point, found in drawn if point != DROPOUTS[switch]])
    assert all(torch.equal(without, beside) for without, beside in zip(*zeros, strict=True))
    assert len({tuple(found.tolist()) for found in zeros[0]}) == len(zeros[0]) > 2


def test_watching_changes_nothing() -> None:
    recipe = replace(SMALL, dropout_residual=0.2)
    watched, alone = trained(recipe), trained(recipe, watch=False)
    assert watched.history.loss == alone.history.loss
    assert torch.equal(weights(watched), weights(alone))
    assert alone.history.evaluations == []


def test_every_sequence_is_seen_before_one_is_seen_again() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, n_train=50, batch_size=20, steps=5))
    rows = torch.cat(list(trainer._batches()))
    assert sorted(rows[:50].tolist()) == list(range(50))
    assert sorted(rows[50:].tolist()) == list(range(50))


def test_evaluations_are_plain_cross_entropy_over_the_whole_set() -> None:
    trainer = trained(replace(SMALL, label_smoothing=0.3, dropout_residual=0.5, steps=5))
    validation = trainer.data.validation
    logits = scores(trainer.network, validation, trainer.recipe)
    loss = F.cross_entropy(logits.transpose(1, 2), validation.targets, ignore_index=IGNORE)
    kept = validation.targets != IGNORE
    right = (logits.argmax(-1) == validation.targets)[kept].float().mean()
    last = trainer.history.evaluations[-1]
    assert last.validation.loss == pytest.approx(loss.item(), rel=1e-5)
    assert last.validation.accuracy == pytest.approx(right.item(), abs=1e-6)


def test_measuring_in_pieces_is_measuring_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(CONFIG, SMALL)
    whole = evaluate(trainer.network, trainer.data.validation, SMALL, CPU)
    monkeypatch.setattr("playground.training.evaluation._TOKENS", 15)
    pieces = evaluate(trainer.network, trainer.data.validation, SMALL, CPU)
    assert pieces.loss == pytest.approx(whole.loss, rel=1e-5)
    assert pieces.accuracy == whole.accuracy


def test_evaluations_are_spread_over_the_run() -> None:
    steps = sorted(evaluation_steps(1_000))
    assert (steps[0], steps[-1], len(steps)) == (0, 1_000, N_EVALUATIONS + 1)
    assert evaluation_steps(3) == {0, 1, 2, 3}
    assert [evaluation.step for evaluation in trained(replace(SMALL, steps=7)).history.evaluations] == list(range(8))


def test_snapshots_hold_what_the_network_attends_to() -> None:
    trainer = trained(replace(SMALL, steps=4))
    assert [snapshot.step for snapshot in trainer.history.snapshots] == [0, 1, 2, 3, 4]
    pattern = trainer.history.snapshots[-1].patterns["self"]
    length = int(trainer.data.validation.mask[0].sum())
    assert pattern.shape == (1, 2, length, length)
    assert pattern.sum(-1) == pytest.approx(1, abs=1e-5)
    assert not (trainer.history.snapshots[0].patterns["self"] == pattern).all()
    assert not pattern.flags.writeable


def test_an_encoder_decoder_s_snapshots_hold_all_three() -> None:
    trainer = trained(replace(SMALL, task="seq2seq-reverse", steps=1))
    shapes = {name: pattern.shape for name, pattern in trainer.history.snapshots[0].patterns.items()}
    n = int(trainer.data.validation.mask[0].sum())
    assert shapes == {"encoder self": (1, 2, n, n), "decoder self": (1, 2, n + 1, n + 1), "cross": (1, 2, n + 1, n)}


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
@pytest.mark.parametrize("affordable", [0, 1, 2, 3, 7, N_EVALUATIONS, N_EVALUATIONS + 1, 50])
def test_large_attention_is_saved_less_often(task: str, affordable: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(CONFIG, replace(SMALL, task=task))
    whole = take_snapshot(trainer.network, trainer.data, trainer.recipe, 0, CPU)
    numbers = sum(pattern.size for pattern in whole.patterns.values())
    monkeypatch.setattr("playground.training.evaluation.MAX_SNAPSHOT_NUMBERS", affordable * numbers + numbers // 2)
    for n_steps in (7, 30, 1_000):
        steps = sorted(snapshot_steps(trainer.config, n_steps, trainer.data))
        evaluated = sorted(evaluation_steps(n_steps))
        assert len(steps) == (min(affordable, len(evaluated)) if affordable > 1 else 0)
        assert set(steps) <= set(evaluated)
        if steps:
            assert (steps[0], steps[-1]) == (0, n_steps)
            apart = {evaluated.index(b) - evaluated.index(a) for a, b in pairwise(steps)}
            assert max(apart) - min(apart) <= 1


@pytest.mark.parametrize(("affordable", "saved"), [(4, [0, 10, 20, 30]), (1, [])])
def test_a_run_saves_the_snapshots_that_it_can_afford(
    affordable: int, saved: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    n = int(make_data(SMALL).validation.mask[0].sum())
    monkeypatch.setattr("playground.training.evaluation.MAX_SNAPSHOT_NUMBERS", affordable * 2 * n * n)
    trainer = trained()
    assert [snapshot.step for snapshot in trainer.history.snapshots] == saved
    assert len(trainer.history.evaluations) == N_EVALUATIONS + 1


@pytest.mark.parametrize("lr", [3.0, 100.0, 1e4])
def test_a_loss_that_runs_away_stops_the_run_and_keeps_good_weights(lr: float) -> None:
    """Adam, at the smallest rate, makes losses climb step by step: many of them are finite, and none is any good."""
    sgd = {"optimizer": "sgd", "schedule": "constant"} if lr > 3 else {}
    trainer = trained(replace(SMALL, lr=lr, steps=200, **sgd))  # type: ignore[arg-type]
    assert trainer.outcome == "diverged"
    assert trainer.kept_step < trainer.step < 200
    assert weights(trainer).isfinite().all()
    assert f"learning rate of {lr:g}" in trainer.message()
    losses = {evaluation.step: evaluation.validation.loss for evaluation in trainer.history.evaluations}
    kept = evaluate(trainer.network, trainer.data.validation, trainer.recipe, CPU)
    assert kept.loss == pytest.approx(losses[trainer.kept_step], rel=1e-5)
    good = max(losses[0], math.log(len(trainer.data.labels)))
    assert kept.loss <= good * 1.00001
    assert lr > 3 or max(losses.values()) > good


@pytest.mark.parametrize("patience", [0, 3])
def test_unwatched_a_run_that_runs_away_ends_with_the_weights_that_it_names(patience: int) -> None:
    recipe = replace(SMALL, lr=100.0, optimizer="sgd", schedule="constant", steps=200, patience=patience)
    trainer = trained(recipe, watch=False)
    assert trainer.outcome == "diverged"
    assert trainer.kept_step == 0
    untrained = Trainer(CONFIG, recipe)
    assert torch.equal(weights(trainer), weights(untrained))
    assert "the weights of step 0 are kept" in trainer.message()


def test_a_teacher_that_ran_away_is_named() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, steps=60, distill=0.5))
    assert trainer.teacher is not None
    trainer.teacher.recipe = replace(trainer.teacher.recipe, lr=100.0, schedule="constant")
    trainer.teacher.optimizer = build_optimizer(trainer.teacher.network, replace(SMALL, optimizer="sgd", lr=100.0))
    for _ in trainer.run():
        if trainer.step:
            assert trainer.message() == ""
    assert (trainer.teacher.outcome, trainer.outcome) == ("diverged", "finished")
    assert trainer.message() == (
        f"All 60 steps are done. The loss of its teacher had run away at step {trainer.teacher.step}: it taught with "
        f"the weights of step {trainer.teacher.kept_step}."
    )
    well = trained(replace(SMALL, steps=4, distill=0.5))
    assert well.message() == "All 4 steps are done."


def test_a_teacher_learns_first_and_is_twice_as_wide() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, steps=4, distill=0.5))
    assert trainer.teacher is not None
    assert (trainer.teacher.config.d_model, trainer.teacher.config.d_ff) == (64, 128)
    assert trainer.teacher.config.d_head == 2 * CONFIG.d_head
    seen = [(trainer.teacher.step, trainer.step, trainer.progress) for _ in trainer.run()]
    assert [pair[:2] for pair in seen] == [(i, 0) for i in range(1, 5)] + [(4, i) for i in range(1, 5)]
    assert [pair[2] for pair in seen[:3]] == [1 / 8, 2 / 8, 3 / 8]
    assert trainer.progress == 1


@pytest.mark.parametrize("hidden", [True, False])
def test_a_batch_s_padding_does_not_change_an_answer_unless_it_is_not_hidden(hidden: bool) -> None:
    trainer = Trainer(CONFIG, replace(SMALL, mask_padding=hidden))
    lengths = trainer.data.train.mask.sum(1)
    short, long = int(lengths.argmin()), int(lengths.argmax())
    alone, together = (
        scores(trainer.network, trainer.data.train[torch.tensor(rows)], trainer.recipe)[0, : lengths[short]]
        for rows in ([short], [short, long])
    )
    assert torch.allclose(alone, together, atol=1e-5) == hidden


def test_without_norms_the_network_has_none() -> None:
    trainer = Trainer(CONFIG, replace(SMALL, layer_norm=False))
    assert trainer.config.norm == "none"
    assert not [name for name, _ in trainer.network.named_parameters() if "norm" in name]


def test_sequences_longer_than_the_position_table_are_refused() -> None:
    with pytest.raises(RecipeError, match="max_len=4 rows") as caught:
        Trainer(replace(CONFIG, max_len=4), SMALL)
    Trainer(replace(CONFIG, max_len=4), replace(SMALL, length=caught.value.works[0]))  # type: ignore[arg-type]
    Trainer(replace(CONFIG, max_len=4, positions="none"), SMALL)


@pytest.mark.parametrize("n_train", [1, 2, 3])
@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_what_is_measured_on_must_fit_the_position_table_too(n_train: int, task: str) -> None:
    """A few training sequences may all be short; validation has long ones."""
    recipe = replace(SMALL, task=task, length=8, n_train=n_train, steps=1)
    needed = 9 if task == "seq2seq-reverse" else 8
    for max_len in range(4, needed):
        with pytest.raises(RecipeError, match=f"{needed} tokens"):
            Trainer(replace(CONFIG, max_len=max_len), recipe)
    trained(recipe, replace(CONFIG, max_len=needed))


def test_the_encoder_starts_from_its_own_seed_s_weights() -> None:
    network = Tagger(replace(CONFIG, vocab_size=9), 5, seed=3)
    alone = Encoder(replace(CONFIG, vocab_size=9), seed=3)
    assert all(
        torch.equal(a, b)
        for a, b in zip(network.encoder.state_dict().values(), alone.state_dict().values(), strict=True)
    )


def test_augmentation_leaves_the_targets_and_the_data_alone() -> None:
    recipe = replace(SMALL, token_masking=0.5, token_swapping=0.5, steps=2)
    train = trained(recipe).data.train
    untouched = make_data(recipe).train
    assert torch.equal(train.ids, untouched.ids)
    assert torch.equal(train.targets, untouched.targets)
