"""Every switch changes what it says, and nothing else: the baseline and a switched run share all the rest."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from playground.training.architecture import architecture, teacher_config
from playground.training.augment import augment
from playground.training.evaluation import evaluate, evaluate_unbatched, scores
from playground.training.network import build_network
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.seeding import generator
from playground.training.tasks import make_data
from playground.training.tasks.examples import IGNORE
from tests.training.regularisers.observed import (
    AUGMENTATIONS,
    BASE,
    BY_HEART,
    COINS,
    CONFIG,
    STRENGTHS,
    baseline,
    cached_run,
    run,
    switched,
)
from tests.training.tiny import CPU, train


@pytest.mark.parametrize("switch", REGULARISERS)
def test_weights_data_and_order_are_the_baselines(switch: str) -> None:
    plain, changed = cached_run(baseline(switch)), cached_run(switched(switch))
    for name, tensor in changed.initial.items():
        assert torch.equal(tensor, plain.initial[name])
    left_out = plain.initial.keys() - changed.initial.keys()
    assert bool(left_out) == (switch == "layer_norm")
    assert all("norm" in name for name in left_out)
    for part in ("train", "validation"):
        ours, theirs = (vars(getattr(one.trainer.data, part)) for one in (changed, plain))
        assert all(torch.equal(ours[name], theirs[name]) for name in ("ids", "targets"))
    n = len(changed.rows)
    assert n == len(plain.rows) or switch == "patience"
    assert n > 3
    assert all(torch.equal(a, b) for a, b in zip(changed.rows, plain.rows, strict=False))
    if switch not in AUGMENTATIONS:
        assert all(torch.equal(a, b) for a, b in zip(changed.read, plain.read, strict=False))


@pytest.mark.parametrize("switch", REGULARISERS)
def test_the_switch_changes_what_is_learnt(switch: str) -> None:
    assert cached_run(switched(switch)).losses != cached_run(baseline(switch)).losses
    assert not torch.equal(cached_run(switched(switch)).final[:100], cached_run(baseline(switch)).final[:100])


@pytest.mark.parametrize("switch", [name for name, found in REGULARISERS.items() if not found.on_by_default])
def test_strength_0_is_the_baseline_to_the_bit(switch: str) -> None:
    changes: dict[str, Any] = {switch: 0}
    off = run(replace(switched(switch), **changes))
    plain = cached_run(baseline(switch))
    assert off.losses == plain.losses
    assert torch.equal(off.final, plain.final)
    assert [each.validation for each in off.trainer.history.evaluations] == [
        each.validation for each in plain.trainer.history.evaluations
    ]


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


def test_without_the_causal_mask_the_next_character_is_looked_up() -> None:
    masked, unmasked = cached_run(COINS).trainer, cached_run(switched("causal")).trainer
    honest, looked_up = masked.history.evaluations[-1], unmasked.history.evaluations[-1]
    possible = math.log(4)
    assert honest.validation.loss > 0.95 * possible
    assert looked_up.train.loss < 0.2 * possible
    assert looked_up.validation.loss < 0.2 * possible
    assert looked_up.validation.accuracy > 5 / 6  # the last one's next character is not in the window
    in_use = evaluate_unbatched(unmasked.network, unmasked.data.validation, unmasked.recipe, CPU)
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
    assert "the best, are back" in trainer.message()


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("switch", AUGMENTATIONS)
def test_the_network_reads_augmented_batches_whatever_else_is_on(switch: str, others: bool) -> None:
    everything = {name: found.usual for name, found in REGULARISERS.items() if name not in (*AUGMENTATIONS, "patience")}
    observed = run(replace(switched(switch), **everything)) if others else cached_run(switched(switch))
    random, train = generator(BASE.seed, "augment"), make_data(BASE).train
    for rows, read in zip(observed.rows, observed.read, strict=True):
        assert torch.equal(read, augment(train[rows].ids, observed.trainer.recipe, random))
        assert not torch.equal(read, train[rows].ids)


def test_clipping_bounds_the_gradient_that_is_used() -> None:
    clipped, plain = cached_run(switched("clip")), cached_run(BASE)
    norms = clipped.trainer.history.grad_norm
    assert min(norms) > 0.1
    assert clipped.used_norms == pytest.approx([0.1] * len(norms), rel=1e-4)
    assert plain.used_norms == pytest.approx(plain.trainer.history.grad_norm, rel=1e-4)
    assert clipped.losses[0] == plain.losses[0]
