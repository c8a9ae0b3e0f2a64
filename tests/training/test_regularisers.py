"""Every switch of a recipe is in the catalogue, changes what it says and nothing else, and is named where idle."""

import math
import random
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from playground import ModelConfig
from playground.training.network import build_network, evaluate, evaluate_in_use, scores
from playground.training.recipe import IGNORE, Recipe, architecture, generator, teacher_config
from playground.training.tasks import make_data
from playground.training.trainer import Trainer
from playground.training.variants import REGULARISERS, regulariser_runs
from tests.training.tiny import CPU, train

CONFIG = ModelConfig(vocab_size=0, d_model=16, n_heads=2, n_layers=2, d_ff=32, max_len=32, dropout=0.4)
BASE = Recipe(
    task="reverse", length=8, n_symbols=6, n_train=64, n_validation=32, steps=12, batch_size=32,
    optimizer="adamw", schedule="constant", lr=3e-3,
)  # fmt: skip
BY_HEART = replace(BASE, n_train=8, batch_size=8, steps=75, lr=1e-2)
"""Eight sequences are soon known by heart: the validation loss rises again."""
COINS = replace(
    BASE, task="characters", text="".join(random.Random(0).choices("abcd", k=3_000)), length=6, n_symbols=10,
    n_train=512, n_validation=128, steps=200, lr=1e-2,
)  # fmt: skip
"""Nobody can know what comes next: at best it costs ln 4 nats."""

STRENGTHS: dict[str, Any] = {"clip": 0.1, "patience": 2, "causal": False, "layer_norm": False}


def baseline(switch: str) -> Recipe:
    """A run in which a switch can matter, without it."""
    return {"causal": COINS, "patience": BY_HEART}.get(switch, BASE)


def switched(switch: str) -> Recipe:
    """The same run with it."""
    changes: dict[str, Any] = {switch: STRENGTHS.get(switch, 0.3)}
    return replace(baseline(switch), **changes)


@dataclass
class Observed:
    """A run, and the ids that its network read in each step."""

    trainer: Trainer
    read: list[Tensor]

    @property
    def losses(self) -> list[float]:
        return self.trainer.history.loss

    @property
    def rows(self) -> list[Tensor]:
        return list(self.trainer._batches())[: self.trainer.step]


@cache
def cached_run(recipe: Recipe) -> Observed:
    trainer, read = Trainer(CONFIG, recipe), list[Tensor]()
    network, forward = trainer.network, trainer.network.forward

    def noted(*arguments: Any) -> Any:
        if network.training:
            read.append(arguments[0].clone())
        return forward(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "forward", noted)
        for _ in trainer.run():
            pass
    return Observed(trainer, read)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("switch", REGULARISERS)
def test_weights_and_order_are_the_baselines(switch: str) -> None:
    plain, changed = (Trainer(CONFIG, recipe).network.state_dict() for recipe in (baseline(switch), switched(switch)))
    assert all(torch.equal(tensor, plain[name]) for name, tensor in changed.items())
    left_out = plain.keys() - changed.keys()
    assert bool(left_out) == (switch == "layer_norm")
    assert all("norm" in name for name in left_out)
    ours, theirs = (cached_run(recipe).read for recipe in (switched(switch), baseline(switch)))
    assert 3 < len(ours) <= len(theirs)
    assert len(ours) == len(theirs) or switch == "patience"
    assert cached_run(switched(switch)).losses != cached_run(baseline(switch)).losses
    if switch != "token_masking":  # theirs: see below
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=False))


def test_with_every_switch_off_a_run_is_a_plain_loop_of_torch() -> None:
    plain = cached_run(BASE)
    data = make_data(BASE)
    network = build_network(architecture(CONFIG, BASE, data), data.task, len(data.labels), BASE.seed)
    optimizer = torch.optim.AdamW(network.parameters(), BASE.lr, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.0)
    losses, norms = [], []
    for rows in plain.rows:
        batch = data.train[rows]
        loss = F.cross_entropy(network(batch.ids, batch.mask).transpose(1, 2), batch.targets, ignore_index=IGNORE)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norms.append(torch.nn.utils.clip_grad_norm_(network.parameters(), 1e9).item())
        optimizer.step()
        losses.append(loss.item())
    assert plain.losses == pytest.approx(losses, rel=1e-4)
    assert plain.trainer.history.grad_norm == pytest.approx(norms, rel=1e-3)
    assert torch.equal(torch.cat(plain.rows)[:64], torch.randperm(64, generator=generator(0, "order")))


@pytest.mark.long
def test_without_the_causal_mask_the_next_character_is_looked_up() -> None:
    masked, unmasked = cached_run(COINS).trainer, cached_run(switched("causal")).trainer
    honest, looked_up = masked.history.evaluations[-1], unmasked.history.evaluations[-1]
    possible = math.log(4)
    assert honest.validation.loss > 0.95 * possible
    assert looked_up.train.loss < 0.2 * possible
    assert looked_up.validation.loss < 0.2 * possible
    assert looked_up.validation.accuracy > 5 / 6  # the last one's next character is not in the window
    in_use = evaluate_in_use(unmasked.network, unmasked.data.validation, unmasked.recipe, CPU)
    assert in_use.accuracy < 0.4
    assert in_use.loss > possible


def test_the_first_loss_is_smoothed_or_mixed_with_that_of_a_teacher_that_has_learnt() -> None:
    recipes = (BASE, switched("label_smoothing"), replace(BASE, distill=0.3, temperature=3.0))
    plain, smooth, student = (cached_run(recipe) for recipe in recipes)
    teacher = train(BASE, teacher_config(CONFIG))
    assert plain.trainer.teacher is None
    assert student.trainer.teacher is not None
    assert student.trainer.teacher.history.loss == teacher.history.loss
    data = plain.trainer.data
    network = build_network(plain.trainer.config, data.task, len(data.labels), BASE.seed)
    batch = data.train[plain.rows[0]]
    asked = batch.targets != IGNORE
    ours, theirs = (scores(each, batch, BASE)[asked] for each in (network, teacher.network))
    loss = F.cross_entropy(ours, batch.targets[asked])
    smoothed = F.cross_entropy(ours, batch.targets[asked], label_smoothing=0.3)
    apart = F.kl_div((ours / 3).log_softmax(-1), (theirs / 3).softmax(-1), reduction="batchmean")
    expected = [loss.item(), smoothed.item(), 0.7 * loss.item() + 0.3 * 9 * apart.item()]
    assert [each.losses[0] for each in (plain, smooth, student)] == pytest.approx(expected, rel=1e-5)


def test_early_stopping_is_the_same_run_cut_off_with_its_best_weights() -> None:
    stopped, plain = cached_run(switched("patience")), cached_run(BY_HEART)
    trainer, n = stopped.trainer, stopped.trainer.step
    assert trainer.outcome == "stopped early"
    assert n < plain.trainer.step
    assert stopped.losses == plain.losses[:n]
    losses = {each.step: each.validation.loss for each in plain.trainer.history.evaluations if each.step <= n}
    assert trainer.kept_step == min(losses, key=lambda step: losses[step])
    assert list(losses).index(n) - list(losses).index(trainer.kept_step) == STRENGTHS["patience"]
    now = evaluate(trainer.network, trainer.data.validation, trainer.recipe, CPU)
    assert now.loss == pytest.approx(losses[trainer.kept_step], rel=1e-6)


def test_runs_are_the_plain_one_with_one_field_changed_in_the_order_of_the_ten() -> None:
    runs = regulariser_runs(CONFIG, replace(BASE, clip=2.0, patience=9), ["layer_norm", "clip", "causal", "clip"], 2)
    assert [run.title for run in runs[:3]] == ["plain run", "without causal mask", "without layer normalisation"]
    changes: list[dict[str, Any]] = [{}, {"causal": False}, {"layer_norm": False}, {"clip": 2.0}]
    expected = [replace(BASE, seed=seed, **changed) for seed in (0, 1) for changed in changes]
    assert [run.recipe for run in runs] == expected
    assert regulariser_runs(CONFIG, BASE, ["distill"])[1].recipe.distill == 0.5
