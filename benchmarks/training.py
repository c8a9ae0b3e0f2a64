"""Training beside plain torch.nn: the same network, optimiser and batches, and what it costs to watch."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.model import compare
from benchmarks.results import Result, interleaved
from playground.presets import PRESETS
from playground.training.network import N_EVALUATIONS
from playground.training.recipe import IGNORE, Data, Recipe
from playground.training.tasks import make_data
from playground.training.trainer import Trainer, measure_speed

CONFIG = replace(
    PRESETS["minilm-l6"].config, d_model=64, n_heads=4, n_layers=2, d_ff=256, embedding_norm=False, n_segments=0
)
"""The training page's sizes; without the two things that torch.nn's encoder has not, and BERT has."""

RECIPE = Recipe(steps=100_000, schedule="constant", lr=1e-3)

STEPS = 10
"""In one round."""


class Plain(nn.Module):
    """The network as torch.nn spells it."""

    def __init__(self, n_tokens: int, n_classes: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(n_tokens, CONFIG.d_model)
        self.positions = nn.Embedding(CONFIG.max_len, CONFIG.d_model)
        layer = nn.TransformerEncoderLayer(
            CONFIG.d_model, CONFIG.n_heads, CONFIG.d_ff, dropout=0.0, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, CONFIG.n_layers, enable_nested_tensor=False)
        self.head = nn.Linear(CONFIG.d_model, n_classes)

    def forward(self, ids: Tensor, padding: Tensor) -> Tensor:
        """ids (B, T), padding (B, T) bool, True = hidden → logits (B, T, C)."""
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        return self.head(self.encoder(x, src_key_padding_mask=padding))  # type: ignore[no-any-return]


def measure() -> Iterator[Result]:
    """A step, and watching."""
    data = make_data(RECIPE)
    trainer = Trainer(CONFIG, RECIPE, data=data, watch=False)
    steps = trainer.run()

    def ours() -> None:
        for _ in range(STEPS):
            next(steps)

    times = interleaved({"torch": plain_loop(data), "ours": ours}, rounds=40)
    what = f"{STEPS} training steps of {RECIPE.batch_size} sequences / the same network in torch.nn"
    yield compare(what, times["ours"], times["torch"], 1.0)
    yield watching(data)
    yield from estimates()


def plain_loop(data: Data) -> Callable[[], None]:
    """The usual loop around torch's modules."""
    network = Plain(data.tokenizer.vocab_size, len(data.labels)).train()
    n, wanted = sum(p.numel() for p in network.parameters()), Trainer(CONFIG, RECIPE, data=data).network
    if n != sum(p.numel() for p in wanted.parameters()):
        raise AssertionError("The two networks differ in size")
    optimizer = torch.optim.Adam(network.parameters(), RECIPE.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)
    order = torch.Generator().manual_seed(0)

    def loop() -> None:
        for _ in range(STEPS):
            rows = torch.randperm(len(data.train), generator=order)[: RECIPE.batch_size]
            logits = network(data.train.ids[rows], ~data.train.mask[rows])
            loss = F.cross_entropy(logits.flatten(0, 1), data.train.targets[rows].flatten(), ignore_index=IGNORE)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            loss.item()

    return loop


def watching(data: Data) -> Result:
    """The page's usual run with its evaluations and snapshots, over the same run without; looks are evenly spaced."""
    recipe = replace(RECIPE, steps=Recipe().steps)

    def blocks(watch: bool) -> Callable[[], None]:
        steps = Trainer(CONFIG, recipe, data=data, watch=watch).run()

        def to_the_next_look() -> None:
            for _ in range(recipe.steps // N_EVALUATIONS):
                next(steps)

        return to_the_next_look

    times = interleaved({"alone": blocks(False), "watched": blocks(True)}, rounds=N_EVALUATIONS - 1)
    what = f"{recipe.steps // N_EVALUATIONS} steps of a run of {recipe.steps}, watched / not watched"
    return compare(what, times["watched"], times["alone"], 1.1)


def estimates() -> Iterator[Result]:
    """How long two runs take, over what the page says before; a factor of two either way is what "about" promises."""
    cpu = torch.device("cpu")
    for recipe in (Recipe(), Recipe(task="sort", length=32, n_train=1_024, steps=300, batch_size=64)):
        expected = measure_speed(cpu).seconds(CONFIG, recipe)
        trainer = Trainer(CONFIG, recipe)
        started = time.perf_counter()
        for _ in trainer.run():
            pass
        what = f"seconds of {recipe.steps} steps of {recipe.task}, length {recipe.length} / the page's estimate"
        yield compare(what, [time.perf_counter() - started], [expected], 2.0)
