"""The bug lab: encoders with mistakes, suspects, and tests beside a right encoder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground.config import ModelConfig
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.model import Encoder
from playground.text.data import load_data

Array = NDArray[np.float32]

LEVELS = ("easy", "any", "two")
"""One mistake with clear signs; any one; two of different parts."""

MAX_SEED, N_TOKENS, N_PADDING = 9_999, 8, 2

WORDS = ("[PAD]", "a", "cat", "dog", "sees", "the", "old", "red", "bird", "and", "runs", "home")

SEEN = 1e-3
"""Smaller differences do not count; a share of the largest number, at least of 1."""

_N_SUSPECTS = 5
"""Mistakes to choose from; a decoy comes on top."""

_DATA = load_data(__file__)

DECOYS: Mapping[str, Mapping[str, str]] = _DATA["decoys"]
"""What looks wrong and is right, by key."""

SUSPECTS: Mapping[str, tuple[str, str]] = {
    **{key: (each.title, each.meaning) for key, each in MISTAKES.items() if key not in _DATA["left-out"]},
    **{key: (each["title"], each["meaning"]) for key, each in DECOYS.items()},
}
"""Title and meaning by key; new mistakes are left out, as they would change links' cases."""


# --- a case


@lru_cache(maxsize=16)
def _build_encoder(config: ModelConfig, seed: int) -> Encoder:
    """Return the right encoder; its biases are not zero."""
    made, generator = Encoder(config, seed).eval(), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return made


def _build_mask(name: str) -> Tensor | None:
    if name == "causal":
        return torch.ones(1, N_TOKENS, N_TOKENS).tril().bool()
    return torch.arange(N_TOKENS)[None] < N_TOKENS - N_PADDING if name == "padding" else None


@dataclass(frozen=True)
class Case:
    """An encoder with mistakes, and suspects."""

    seed: int
    level: str
    config: ModelConfig
    mask: str
    """`none`, `padding` or `causal`."""
    mistakes: tuple[str, ...]
    suspects: tuple[str, ...] = ()
    """In the order shown."""

    @property
    def encoder(self) -> Encoder:
        """Without the mistakes."""
        return _build_encoder(self.config, self.seed)

    @cached_property
    def given(self) -> Input:
        """Eight words; a padding mask hides the last two."""
        ids = _sample(np.random.default_rng(self.seed), range(1, len(WORDS)), N_TOKENS)
        ids[self.n_real :] = [0] * (N_TOKENS - self.n_real)
        return Input(torch.tensor([ids]), _build_mask(self.mask))

    @property
    def tokens(self) -> list[str]:
        """Its words."""
        return [WORDS[i] for i in self.given.ids[0].tolist()]

    @property
    def n_real(self) -> int:
        """Tokens but padding."""
        return N_TOKENS - N_PADDING if self.mask == "padding" else N_TOKENS

    def with_mistakes(self, *mistakes: str) -> "Case":
        """Return the same encoder and sentence with other mistakes."""
        return replace(self, mistakes=mistakes)

    @cached_property
    def right(self) -> "Case":
        """The encoder without mistakes."""
        return self.with_mistakes()

    @cached_property
    def tensors(self) -> Mapping[str, Tensor]:
        """Every intermediate by its name in a trace, a batch of 1."""
        return run_edited(self.encoder, self.given, [MISTAKES[key].making for key in self.mistakes])

    def read(self, name: str) -> Tensor:
        """Return the real tokens' rows, without the batch axis."""
        return self.tensors[name][0, ..., : self.n_real, :]

    def shows_each(self) -> bool:
        """Return whether each mistake changes the output, alone and beside the other."""
        others = [self.with_mistakes(*(each for each in self.mistakes if each != key)) for key in self.mistakes]
        pairs = [(self.with_mistakes(key), self.right) for key in self.mistakes] + [(self, other) for other in others]
        return all(count_others(*(each.read("final").numpy() for each in pair)) for pair in pairs)

    def find_alibi(self, key: str) -> tuple[str, int, int] | None:
        """Return a tensor that another mistake would change, how many of its numbers, of how many."""
        sets: list[tuple[str, ...]] = [(key,)]
        if len(self.mistakes) > 1:
            sets = [(key, each) for each in self.mistakes if MISTAKES[each].part != MISTAKES[key].part]
        alibis = [self._find_difference(self.with_mistakes(*each), MISTAKES[key].shows) for each in sets]
        return alibis[0] if alibis and all(alibis) else None

    def _find_difference(self, other: "Case", shows: str) -> tuple[str, int, int] | None:
        """Return the first tensor that differs, preferably one that ends with `shows`."""
        for name in (*(name for name in other.tensors if name.endswith(shows)), *other.tensors):
            numbers = other.read(name).numpy()
            if n_others := count_others(numbers, self.read(name).numpy()):
                return name, n_others, numbers.size
        return None


def count_others(one: NDArray[Any], other: NDArray[Any]) -> int:
    """Return how many numbers differ by more than rounding, or in being finite."""
    finite = np.isfinite(one) & np.isfinite(other)
    size = max(1.0, float(np.abs(other[finite]).max(initial=0)))
    n_finite = int((np.abs(one[finite] - other[finite]) > SEEN * size).sum())
    return n_finite + int((np.isfinite(one) != np.isfinite(other)).sum())


Option = TypeVar("Option")


def _pick(draw: np.random.Generator, options: Sequence[Option]) -> Option:
    return options[int(draw.integers(len(options)))]


def _sample(draw: np.random.Generator, options: Sequence[Option], n: int) -> list[Option]:
    return [options[i] for i in draw.permutation(len(options))[:n].tolist()]


def _draw_config(draw: np.random.Generator) -> ModelConfig:
    return ModelConfig(
        vocab_size=len(WORDS),
        d_model=16,
        n_heads=4,
        n_layers=2,
        d_ff=32,
        positions="sinusoidal",
        scale_embeddings=True,
        norm_placement=_pick(draw, ("post", "pre")),
        activation=_pick(draw, ("relu", "gelu")),
        norm_eps=1e-5,
        dropout=0.0,
    )


@lru_cache(maxsize=256)
def open_case(seed: int, level: str) -> Case:
    """Return the case of a seed up to `MAX_SEED` and one of `LEVELS`: always the same."""
    draw = np.random.default_rng([seed, LEVELS.index(level)])
    while True:
        config, mask = _draw_config(draw), _pick(draw, ("none", "padding", "causal"))
        possible = [key for key in SUSPECTS if key in MISTAKES and MISTAKES[key].applies(config, _build_mask(mask))]
        pool = [key for key in possible if key in _DATA["easy"] or level != "easy"]
        mistakes = tuple(_sample(draw, pool, 2 if level == "two" else 1))
        parts = {MISTAKES[key].part for key in mistakes}
        others = _sample(draw, [key for key in possible if key not in mistakes], _N_SUSPECTS - len(mistakes))
        decoy = _pick(draw, [key for key, each in DECOYS.items() if each["part"] not in parts])
        suspects = _sample(draw, [*mistakes, *others, decoy], _N_SUSPECTS + 1)
        case = Case(seed, level, config, mask, mistakes, tuple(suspects))
        if len(parts) == len(mistakes) and case.shows_each() and all(map(case.find_alibi, others)):
            return case


# --- tests


@dataclass(frozen=True)
class LabTest:
    """Something to test."""

    key: str
    title: str
    measure: Callable[[Case], Array]
    effort: int = 4
    """A key of `EFFORTS`."""
    shows: str = "The numbers here, and in a right encoder with the same weights."
    sentence: str = "Largest difference from a right encoder with the same weights: **{most:.2f}**."
    draws: str = "both numbers"
    """Its map's columns: `numbers` or `tokens`; `both` encoders."""

    def write_finding(self, case: Case) -> str:
        """Return what it shows in a case."""
        theirs, right = self.measure(case), self.measure(case.right)
        finite = np.isfinite(theirs) & np.isfinite(right)
        most = float(np.abs(theirs[finite] - right[finite]).max(initial=0))
        symptom = " ".join(MISTAKES[key].symptom for key in case.mistakes)
        return self.sentence.format(theirs=theirs, right=right, most=most, symptom=symptom)


def _numbers(*values: Any) -> Array:
    return np.array([float(value) for value in values], np.float32)


def _count_signs(case: Case) -> Array:
    hidden = case.read("layers.0.ffn.hidden")
    return _numbers((hidden == 0).float().mean(), (hidden < 0).float().mean(), hidden.min())


def _measure_lengths(case: Case) -> Array:
    tokens = case.read("embed.tokens")
    rows = case.encoder.state_dict()["embed.tokens.weight"][case.given.ids[0, : case.n_real]]
    vectors = (tokens, case.read("embed.sum") - tokens, rows, rows * case.config.d_model**0.5)
    return _numbers(*(each.norm(dim=-1).mean() for each in vectors))


def _measure_scores(case: Case) -> Array:
    q, k, scores = (case.tensors[f"layers.0.attn.{each}"][0] for each in ("q", "k", "scores"))
    by_hand = q @ k.transpose(-2, -1)
    kept = torch.isfinite(scores) & (by_hand.abs() > 0.05)
    factors = scores[kept] / by_hand[kept]
    return _numbers(factors.median(), factors.max() - factors.min())


@torch.inference_mode()
def _compare_layers(case: Case) -> Array:
    layers: Any = case.encoder.layers
    read, got = case.tensors["layers.1.ffn.in"], case.tensors["layers.1.ffn.up"]
    return _numbers(*((block.ffn.up(read) - got).abs().max() for block in layers))


def _read_map(name: str, case: Case) -> Array:
    """Return the sentence's matrix, of head 0 if there are heads."""
    rows = case.read(name)
    found: Array = (rows[0] if rows.ndim > 2 else rows).numpy()
    return found


def _differ(case: Case, one: str, *others: str) -> Array:
    return _numbers(*((case.read(one) - case.read(other)).abs().max() for other in others))


_MEASURES: Mapping[str, Callable[[Case], Array]] = {
    "row-sums": lambda case: _numbers(*case.read("layers.0.attn.pattern").sum(dim=-1).aminmax()),
    "lengths": _measure_lengths,
    "norm": lambda case: _numbers(
        case.read("layers.0.norm1.normalized").mean(),
        *(case.read("layers.0.norm1.normalized").var(-1, correction=each).mean() for each in (0, 1)),
    ),
    "hidden": _count_signs,
    "pattern": partial(_read_map, "layers.0.attn.pattern"),
    "norm-place": lambda case: _differ(case, "embed.out", "layers.0.attn.in", "layers.0.norm1.in"),
    "score": _measure_scores,
    "sum": lambda case: _numbers(
        (case.read("layers.0.resid_mid") - case.read("embed.out") - case.read("layers.0.attn.out")).abs().max()
    ),
    "layers": _compare_layers,
    "positions": lambda case: (case.read("embed.sum") - case.read("embed.tokens")).numpy(),
    "symptom": lambda case: _numbers(),
}
"""What each test measures; those beside a right encoder measure a tensor."""


def _build_test(key: str, words: Mapping[str, Any]) -> LabTest:
    point = key.removeprefix("beside-").replace("-", ".")
    measure, shown = _MEASURES.get(key, partial(_read_map, point)), {"draws": ""} if key in _MEASURES else {}
    return LabTest(**{"key": key, "measure": measure, **shown, **words})


TESTS: Mapping[str, LabTest] = {key: _build_test(key, words) for key, words in _DATA["tests"].items()}
"""By key, those of little effort first."""

EFFORTS: Mapping[int, str] = _DATA["efforts"]
"""Their titles."""
