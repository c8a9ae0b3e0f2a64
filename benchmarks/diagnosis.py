"""How long a diagnosis takes: of each mistake alone, of pairs of them, and of tensors that nothing explains."""

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import torch
from torch import Tensor

from benchmarks.results import Result
from playground.config import ModelConfig
from playground.diagnosis import diagnose
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.model import Encoder
from playground.presets import PRESETS

N_PAIRS = 24

DEFAULT = PRESETS["minilm-l6"].config
SMALL = replace(DEFAULT, n_layers=2, d_model=16, n_heads=4, d_ff=32)

CASES: tuple[tuple[str, ModelConfig, int, float], ...] = (
    ("2 layers × 8 tokens", SMALL, 8, 0.5),
    ("the default's 6 layers × 32 tokens", DEFAULT, 32, 5.0),
)
"""What is diagnosed, with how many tokens, in how many seconds at most."""


def measure() -> Iterator[Result]:
    """The longest diagnosis of each kind, in seconds."""
    for title, config, n_tokens, target in CASES:
        torch.manual_seed(0)
        encoder = Encoder(config).eval()
        given = Input(torch.randint(1, config.vocab_size, (1, n_tokens)), None)
        single, pairs = _list_theirs(encoder, given)
        nothing = {
            name: tensor + 0.2 * torch.randn_like(tensor) for name, tensor in run_edited(encoder, given, []).items()
        }
        for what, all_theirs in (("one mistake", single), ("two mistakes", pairs), ("nothing explains it", [nothing])):
            seconds = [_time(encoder, given.ids, theirs) for theirs in all_theirs]
            note = f"the longest of {len(seconds)}" if len(seconds) > 1 else ""
            yield Result(f"diagnosis, {title}, {what}", max(seconds), target, "s", note)


def _list_theirs(encoder: Encoder, given: Input) -> tuple[list[Mapping[str, Tensor]], list[Mapping[str, Tensor]]]:
    """Every intermediate with each mistake, and with some pairs on different parts."""
    possible = [each for each in MISTAKES.values() if each.applies(encoder.config, None) and not each.making.drops]
    pairs = [pair for pair in combinations(possible, 2) if pair[0].part != pair[1].part]
    chosen = random.Random(0).sample(pairs, N_PAIRS)
    single = [run_edited(encoder, given, [each.making]) for each in possible]
    return single, [run_edited(encoder, given, [each.making for each in pair]) for pair in chosen]


def _time(encoder: Encoder, ids: Tensor, theirs: Mapping[str, Tensor]) -> float:
    start = time.perf_counter()
    diagnose(encoder, ids, theirs)
    return time.perf_counter() - start
