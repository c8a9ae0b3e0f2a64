"""Every switch changes what it says, and nothing else: the baseline and a switched run share all the rest."""

import math
import random
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from playground import ModelConfig, Trace
from playground.model.init import Embedding, Linear
from playground.training.augment import augment
from playground.training.evaluation import evaluate, evaluate_unbatched, scores
from playground.training.network import build_network
from playground.training.recipe import Recipe, architecture, teacher_config
from playground.training.regularisers.ablation import ablation_runs
from playground.training.regularisers.catalogue import REGULARISERS, TEN, reason_without_effect, without_regularisers
from playground.training.seeding import generator
from playground.training.tasks import Examples, make_data
from playground.training.tasks.examples import IGNORE
from playground.training.trainer import Trainer

CPU = torch.device("cpu")
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
DROPOUTS = {
    "dropout_attention": ("attn.weight_dropout",),
    "dropout_feedforward": ("ffn.hidden_dropout",),
    "dropout_positions": ("embed.dropout",),
    "dropout_residual": ("attn.dropout", "ffn.dropout"),
}
"""Where each one drops, as a trace names it."""
AUGMENTATIONS = ("token_masking", "token_swapping", "span_masking")


def baseline(switch: str) -> Recipe:
    """A run in which a switch can matter, without it."""
    return {"causal": COINS, "patience": BY_HEART}.get(switch, BASE)


def switched(switch: str) -> Recipe:
    """The same run with it."""
    changes: dict[str, Any] = {switch: STRENGTHS.get(switch, 0.3)}
    return replace(baseline(switch), **changes)


@dataclass
class Observed:
    """A run, and what it began with, read, dropped and stepped with, by step."""

    trainer: Trainer
    initial: dict[str, Tensor]
    rows: list[Tensor] = field(default_factory=list)
    read: list[Tensor] = field(default_factory=list)
    used_norms: list[float] = field(default_factory=list)
    dropouts: list[Trace] = field(default_factory=list)

    @property
    def losses(self) -> list[float]:
        return self.trainer.history.loss

    @property
    def final(self) -> Tensor:
        return torch.cat([parameter.flatten() for parameter in self.trainer.network.parameters()])

    def count_dropped(self, point: str) -> tuple[int, int]:
        """How many numbers were zeroed at a point, and out of how many."""
        pairs = [
            (trace[name], trace[f"{name.removesuffix('.in')}.out"])
            for trace in self.dropouts
            for name in trace
            if name.endswith(".in") and any(part in name for part in DROPOUTS[point])
        ]
        n = sum(int((before != 0).sum()) for before, _ in pairs)
        return sum(int(((before != 0) & (after == 0)).sum()) for before, after in pairs), n


def run(recipe: Recipe) -> Observed:
    data = make_data(recipe)
    rows: list[Tensor] = []

    class Recorded(Examples):
        def __getitem__(self, wanted: Tensor | slice) -> Examples:
            if isinstance(wanted, Tensor):
                rows.append(wanted)
            return super().__getitem__(wanted)

    trainer = Trainer(CONFIG, recipe, data=replace(data, train=Recorded(**vars(data.train))))
    if trainer.teacher is not None:
        trainer.teacher.data = data  # the same, unrecorded: only the student's rows are compared
    network = trainer.network
    observed = Observed(trainer, {name: tensor.clone() for name, tensor in network.state_dict().items()})
    forward = network.forward

    def traced(*arguments: Any) -> Any:
        if network.training:
            observed.read.append(arguments[0].clone())
            observed.dropouts.append(Trace(keep=lambda name: "dropout." in name))
            arguments = (*arguments[:-1], observed.dropouts[-1])
        return forward(*arguments)

    def note_used(*_: Any) -> None:
        gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
        observed.used_norms.append(float(torch.nn.utils.get_total_norm(gradients)))

    trainer.optimizer.register_step_pre_hook(note_used)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "forward", traced)
        for _ in trainer.run():
            pass
    observed.rows = list(rows)  # what tests look up later is no batch
    return observed


cached_run = cache(run)


# --- all switches


@pytest.mark.parametrize("switch", REGULARISERS)
def test_a_switch_changes_one_field(switch: str) -> None:
    regulariser = REGULARISERS[switch]
    for recipe in (Recipe(), replace(Recipe(), clip=2.0, dropout_residual=0.5, mask_padding=False, patience=9)):
        plain, turned = (run.recipe for run in ablation_runs(recipe, [switch]))
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


def test_plain_is_what_a_recipe_is_by_default() -> None:
    everything = Recipe(**{switch: regulariser.usual for switch, regulariser in REGULARISERS.items()})
    assert without_regularisers(everything) == without_regularisers(Recipe()) == Recipe()
    assert without_regularisers(replace(everything, mask_padding=False, causal=False, layer_norm=False)) == Recipe()


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


@pytest.mark.parametrize(
    ("switch", "strength"),
    [(name, 1e-9) for name, found in REGULARISERS.items() if isinstance(found.usual, float) and name != "clip"]
    + [("clip", 1e6), ("patience", 1_000)],
)
def test_a_strength_that_does_next_to_nothing_leaves_the_baselines_losses(switch: str, strength: Any) -> None:
    changes: dict[str, Any] = {switch: strength}
    assert run(replace(BASE, **changes)).losses == pytest.approx(cached_run(BASE).losses, rel=1e-4)


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


@pytest.mark.parametrize("switch", [*DROPOUTS, "weight_decay", "label_smoothing", "clip", "distill"])
def test_a_switch_leaves_what_augmentation_draws(switch: str) -> None:
    augmented = replace(BASE, token_masking=0.2, token_swapping=0.2)
    changes: dict[str, Any] = {switch: STRENGTHS.get(switch, 0.3)}
    both = run(replace(augmented, **changes))
    assert all(torch.equal(a, b) for a, b in zip(both.read, cached_run(augmented).read, strict=True))


# --- one by one


@pytest.mark.parametrize("switch", DROPOUTS)
def test_dropout_drops_at_its_own_place_alone_and_as_often_as_it_says(switch: str) -> None:
    for point in DROPOUTS:
        zeros, n = cached_run(switched(switch)).count_dropped(point)
        assert n > 5_000
        p = 0.3 if point == switch else 0.0
        assert zeros / n == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / n))
        assert cached_run(BASE).count_dropped(point)[0] == 0


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


def test_in_use_is_one_sequence_at_a_time_behind_both_masks() -> None:
    for switch in ("mask_padding", "causal"):
        trainer = cached_run(switched(switch)).trainer
        masked = replace(trainer.recipe, causal=True, mask_padding=True)
        losses, right = [], []
        for row in range(len(trainer.data.validation)):
            one = trainer.data.validation[torch.tensor([row])]
            logits = scores(trainer.network, one, masked)[0]
            losses.append(F.cross_entropy(logits, one.targets[0], reduction="none"))
            right.append(logits.argmax(-1) == one.targets[0])
        in_use = evaluate_unbatched(trainer.network, trainer.data.validation, trainer.recipe, CPU)
        assert in_use.loss == pytest.approx(float(torch.cat(losses).mean()), rel=1e-4)
        assert in_use.accuracy == pytest.approx(float(torch.cat(right).float().mean()), abs=1e-6)
        batched = evaluate(trainer.network, trainer.data.validation, trainer.recipe, CPU)
        assert in_use.loss != pytest.approx(batched.loss, rel=1e-3)


@pytest.mark.parametrize("task", ["sort", "characters", "masked", "seq2seq-copy"])
def test_with_both_masks_use_is_what_is_measured_in_batches(task: Any) -> None:
    trainer = run(replace(BASE, task=task, steps=3)).trainer
    in_use = evaluate_unbatched(trainer.network, trainer.data.validation, trainer.recipe, CPU)
    batched = evaluate(trainer.network, trainer.data.validation, trainer.recipe, CPU)
    assert in_use.loss == pytest.approx(batched.loss, rel=1e-5)
    assert in_use.accuracy == pytest.approx(batched.accuracy, abs=1e-6)


def test_weight_decay_makes_matrices_smaller() -> None:
    decayed = {
        name: [
            float(module.weight.norm())
            for module in cached_run(recipe).trainer.network.modules()
            if isinstance(module, Linear | Embedding)
        ]
        for name, recipe in (("off", BASE), ("on", replace(BASE, weight_decay=1.0)))
    }
    assert all(on < off for on, off in zip(decayed["on"], decayed["off"], strict=True))
    # By what AdamW says: each step takes lr · λ of a weight away, and the gradient's part hardly differs so soon.
    shrunk = [on / off for on, off in zip(decayed["on"], decayed["off"], strict=True)]
    assert all(ratio == pytest.approx((1 - BASE.lr * 1.0) ** BASE.steps, rel=0.02) for ratio in shrunk)


def test_label_smoothing_is_in_the_loss_of_the_same_network_and_in_no_evaluation() -> None:
    smooth, plain = cached_run(switched("label_smoothing")), cached_run(BASE)
    trainer = smooth.trainer
    network = build_network(trainer.config, trainer.data.task, len(trainer.data.labels), BASE.seed)
    batch = trainer.data.train[smooth.rows[0]]
    logits = scores(network, batch, BASE).transpose(1, 2)
    assert plain.losses[0] == pytest.approx(F.cross_entropy(logits, batch.targets).item(), rel=1e-5)
    expected = F.cross_entropy(logits, batch.targets, label_smoothing=0.3, ignore_index=IGNORE)
    assert smooth.losses[0] == pytest.approx(expected.item(), rel=1e-5)
    assert smooth.trainer.history.evaluations[0].train == plain.trainer.history.evaluations[0].train


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


@pytest.mark.parametrize("switch", AUGMENTATIONS)
def test_the_network_reads_augmented_batches(switch: str) -> None:
    observed, random, train = cached_run(switched(switch)), generator(BASE.seed, "augment"), make_data(BASE).train
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


def test_distillation_mixes_the_loss_with_a_teacher_that_has_learnt() -> None:
    recipe = replace(BASE, distill=0.3, temperature=3.0)
    student = cached_run(recipe)
    teacher = Trainer(teacher_config(CONFIG), BASE)
    for _ in teacher.run():
        pass
    assert student.trainer.teacher is not None
    assert student.trainer.teacher.history.loss == teacher.history.loss
    batch = student.trainer.data.train[student.rows[0]]
    network = build_network(
        student.trainer.config, student.trainer.data.task, len(student.trainer.data.labels), recipe.seed
    )
    kept = batch.targets != IGNORE
    ours, theirs = (scores(one, batch, recipe)[kept] for one in (network, teacher.network))
    apart = F.kl_div((ours / 3).log_softmax(-1), (theirs / 3).softmax(-1), reduction="batchmean")
    expected = 0.7 * F.cross_entropy(ours, batch.targets[kept]) + 0.3 * 9 * apart
    assert student.losses[0] == pytest.approx(expected.item(), rel=1e-5)
    assert cached_run(BASE).trainer.teacher is None


# --- where a switch can do nothing


def test_what_cannot_matter_is_named_and_does_not() -> None:
    idle_in = {
        "causal": (BASE, "layer"),
        "mask_padding": (COINS, "layer"),
        "layer_norm": (BASE, "none"),
        "token_swapping": (COINS, "layer"),
    }
    for switch, regulariser in REGULARISERS.items():
        for name, (recipe, norm) in idle_in.items():
            assert bool(reason_without_effect(regulariser, recipe, norm)) == (
                switch == name
                or (switch == "causal" and recipe.task != "characters")
                or (switch in ("mask_padding", "token_swapping") and recipe.task == "characters")
            )
    for switch, (recipe, norm) in idle_in.items():
        short = replace(recipe, steps=3)
        config = replace(CONFIG, norm=norm)  # type: ignore[arg-type]
        losses = []
        usual = REGULARISERS[switch].usual
        for strength in (usual, type(usual)(0)):
            trainer = Trainer(config, replace(short, **{switch: strength}))
            for _ in trainer.run():
                pass
            losses.append(trainer.history.loss)
        assert losses[0] == losses[1]
