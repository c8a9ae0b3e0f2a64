"""Every switch of a recipe is in the catalogue, changes what it says and nothing else, and is named where idle."""

import math
import random
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from playground import ModelConfig
from playground.training.augment import augment
from playground.training.network import Tagger, build_network, evaluate, evaluate_unbatched, scores
from playground.training.recipe import Recipe, architecture, teacher_config
from playground.training.regularisers import (
    REGULARISERS,
    TEN,
    ablation_trainings,
    reason_without_effect,
    without_regularisers,
)
from playground.training.tasks import make_data
from playground.training.tasks.task import IGNORE, generator
from playground.training.trainer import Trainer
from tests.training.tiny import CPU, flat_weights, train

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

STRENGTHS: dict[str, Any] = {"clip": 0.1, "patience": 2, "span_masking": 0.4, "mask_padding": False, "causal": False,
                             "layer_norm": False}  # fmt: skip
AUGMENTATIONS = ("token_masking", "token_swapping", "span_masking", "shuffling")


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


@pytest.mark.sampled(6)
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
    if switch not in AUGMENTATIONS:  # theirs: see below
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=False))


@pytest.mark.parametrize("switch", REGULARISERS)
def test_the_switch_changes_what_is_learnt(switch: str) -> None:
    assert cached_run(switched(switch)).losses != cached_run(baseline(switch)).losses
    on, off = (flat_weights(cached_run(recipe).trainer) for recipe in (switched(switch), baseline(switch)))
    assert not torch.equal(on[:100], off[:100])


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("switch", AUGMENTATIONS)
def test_the_network_reads_augmented_batches_whatever_else_is_on(switch: str, others: bool) -> None:
    everything = {name: found.usual for name, found in REGULARISERS.items() if name not in (*AUGMENTATIONS, "patience")}
    observed = cached_run(replace(switched(switch), **(everything if others else {})))
    draws, train = [generator(BASE.seed, purpose) for purpose in ("augment", "shuffle")], make_data(BASE).train
    for rows, read in zip(observed.rows, observed.read, strict=True):
        assert torch.equal(read, augment(train[rows].ids, observed.trainer.recipe, *draws))
        assert not torch.equal(read, train[rows].ids)


def test_the_first_loss_is_that_of_noisy_vectors() -> None:
    noisy = cached_run(switched("noise"))
    data = noisy.trainer.data
    network = build_network(noisy.trainer.config, data.task, len(data.labels), BASE.seed)
    assert isinstance(network, Tagger)
    batch = data.train[noisy.rows[0]]
    x = network.encoder.embed(batch.ids)
    x = x + 0.3 * torch.empty_like(x).normal_(generator=generator(BASE.seed, "noise"))
    logits = network.head(network.encoder.encode(x, batch.mask))
    loss = F.cross_entropy(logits.transpose(1, 2), batch.targets, ignore_index=IGNORE)
    assert noisy.losses[0] == pytest.approx(loss.item(), rel=1e-5)
    assert noisy.losses[0] != cached_run(BASE).losses[0]


@pytest.mark.parametrize("switch", REGULARISERS)
def test_a_switch_changes_one_field(switch: str) -> None:
    regulariser = REGULARISERS[switch]
    for recipe in (Recipe(), replace(Recipe(), clip=2.0, dropout_residual=0.5, mask_padding=False, patience=9)):
        plain, turned = (run.recipe for run in ablation_trainings(CONFIG, recipe, [switch]))
        wanted = False if regulariser.on_by_default else getattr(recipe, switch) or regulariser.usual
        assert getattr(turned, switch) == wanted
        assert replace(turned, **{switch: getattr(plain, switch)}) == plain
        assert type(getattr(turned, switch)) is type(getattr(Recipe(), switch))


def test_every_switch_of_a_recipe_is_there_in_the_order_of_the_ten() -> None:
    others = {"task", "text", "length", "n_symbols", "n_train", "n_validation", "seed", "steps", "batch_size"}
    others |= {"optimizer", "schedule", "lr", "warmup", "temperature"}
    assert {entry.name for entry in fields(Recipe)} - others == set(REGULARISERS)
    numbers = [regulariser.number for regulariser in REGULARISERS.values()]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(TEN) == set(range(1, 11))
    assert all(bool(regulariser.scale) != regulariser.on_by_default for regulariser in REGULARISERS.values())


def test_what_is_on_by_default_is_chosen_by_going_without_it() -> None:
    names = [regulariser.choice for regulariser in REGULARISERS.values() if regulariser.on_by_default]
    assert names == ["Without padding mask", "Without causal mask", "Without layer normalisation"]
    assert all(each.choice == each.title for each in REGULARISERS.values() if not each.on_by_default)


def test_plain_is_what_a_recipe_is_by_default() -> None:
    everything = Recipe(**{switch: regulariser.usual for switch, regulariser in REGULARISERS.items()})
    assert without_regularisers(everything) == without_regularisers(Recipe()) == Recipe()
    assert without_regularisers(replace(everything, mask_padding=False, causal=False, layer_norm=False)) == Recipe()


def test_what_cannot_matter_is_named_and_does_not() -> None:
    idle_in = {
        "causal": (BASE, "layer"),
        "mask_padding": (COINS, "layer"),
        "layer_norm": (BASE, "none"),
        "token_swapping": (COINS, "layer"),
        "shuffling": (COINS, "layer"),
    }
    for switch, regulariser in REGULARISERS.items():
        for name, (recipe, norm) in idle_in.items():
            assert bool(reason_without_effect(regulariser, recipe, norm)) == (
                switch == name
                or (switch == "causal" and recipe.task != "characters")
                or (switch in ("mask_padding", "token_swapping", "shuffling") and recipe.task == "characters")
            )
    for switch, (recipe, norm) in idle_in.items():
        short = replace(recipe, steps=3)
        config = replace(CONFIG, norm=norm)  # type: ignore[arg-type]
        usual = REGULARISERS[switch].usual
        strengths = (usual, type(usual)(0))
        on, off = (train(replace(short, **{switch: each}), config).history.loss for each in strengths)
        assert on == off
