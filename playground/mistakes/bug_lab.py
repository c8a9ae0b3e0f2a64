"""Cases of the bug lab: a small encoder that somebody got wrong, and suspects, all from a seed and a level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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

MAX_SEED = 9_999

WORDS = ("[PAD]", "a", "cat", "dog", "sees", "the", "old", "red", "bird", "and", "runs", "home")
"""The vocabulary; the first is padding."""

N_TOKENS, N_PADDING = 8, 2

SEEN = 1e-3
"""Smaller differences do not count; as a share of the largest number, or of 1 if that is smaller."""

_EASY = (
    "positions-not-added", "no-embedding-scale", "softmax-over-queries", "mask-forgotten", "mask-inverted",
    "mask-after-softmax", "no-peek-off-by-one", "residual-forgotten", "activation-forgotten", "shared-layers",
    "no-score-scale",
)  # fmt: skip

_LEFT_OUT = (
    "dropout-left-on", "eps-outside-root", "positions-twice", "positions-from-one", "sinusoids-in-halves",
    "exponent-per-column", "axes-exchanged", "output-projection-forgotten", "query-key-weights-swapped",
    "hides-itself", "causal-mask-left", "float-mask-added", "norm-over-sequence", "root-of-deviation", "other-eps",
    "gelu-by-tanh",
)  # fmt: skip
"""Those that differ in every run, need a large eps, or came after links to cases were sent, which would change."""

_N_SUSPECTS = 5
"""Mistakes to choose from, those of the case among them; a decoy comes on top."""

BUG_LAB = load_data(__file__)
"""The words of decoys and tests."""


# --- what looks wrong and is right


@dataclass(frozen=True)
class Decoy:
    """Something in the code of every case that looks wrong and is right."""

    key: str
    title: str
    meaning: str
    """What it means, without saying whether it is right."""
    why: str
    """Why it is right."""
    part: str
    """The part of the code; it is no decoy beside a mistake of that part."""


DECOYS: Mapping[str, Decoy] = {key: Decoy(key, **words) for key, words in BUG_LAB["decoys"].items()}

SUSPECTS: tuple[str, ...] = (*(key for key in MISTAKES if key not in _LEFT_OUT), *DECOYS)
"""All that can be suspected, by their keys."""


# --- a case


@dataclass(frozen=True)
class Case:
    """An encoder with mistakes, and suspects."""

    seed: int
    level: str
    config: ModelConfig
    mask: str
    """`none`, `padding` or `causal`."""
    mistakes: tuple[str, ...]
    suspects: tuple[str, ...]
    """Mistakes and decoys, in the order in which they are shown."""


def _build_mask(name: str) -> Tensor | None:
    if name == "none":
        return None
    if name == "causal":
        return torch.ones(N_TOKENS, N_TOKENS).tril().bool()[None]
    keys = torch.ones(1, N_TOKENS, dtype=torch.bool)
    keys[:, -N_PADDING:] = False
    return keys


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
def open_lab(seed: int, level: str) -> "Lab":
    """Return the case of a seed, from 0 to `MAX_SEED`, and one of `LEVELS`: always the same."""
    draw = np.random.default_rng([seed, LEVELS.index(level)])
    while True:
        config, mask = _draw_config(draw), _pick(draw, ("none", "padding", "causal"))
        possible = [key for key in SUSPECTS if key in MISTAKES and MISTAKES[key].applies(config, _build_mask(mask))]
        pool = [key for key in possible if key in _EASY or level != "easy"]
        mistakes = tuple(_sample(draw, pool, 2 if level == "two" else 1))
        parts = {MISTAKES[key].part for key in mistakes}
        others = _sample(draw, [key for key in possible if key not in mistakes], _N_SUSPECTS - len(mistakes))
        decoy = _pick(draw, [key for key, each in DECOYS.items() if each.part not in parts])
        suspects = _sample(draw, [*mistakes, *others, decoy], _N_SUSPECTS + 1)
        lab = Lab(Case(seed, level, config, mask, mistakes, tuple(suspects)))
        if len(parts) == len(mistakes) and lab.shows_each() and all(map(lab.find_alibi, others)):
            return lab


@dataclass(frozen=True, eq=False)
class Pass:
    """What a case's encoder computes with some mistakes."""

    lab: "Lab"
    mistakes: tuple[str, ...]

    @cached_property
    def tensors(self) -> Mapping[str, Tensor]:
        """Every intermediate by its name in a trace, with a batch axis of 1."""
        return self._run(self.lab.given.ids)

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def read(self, name: str) -> Tensor:
        """Return the rows of the real tokens, without the batch axis."""
        return self[name][0, ..., : self.lab.n_real, :]

    def final(self, ids: Tensor) -> Tensor:
        """Return the real tokens' last vectors for other words (1, T): (T', D)."""
        return self._run(ids)["final"][0, : self.lab.n_real]

    def _run(self, ids: Tensor) -> Mapping[str, Tensor]:
        makings = [MISTAKES[key].making for key in self.mistakes]
        return run_edited(self.lab.encoder, Input(ids, self.lab.given.mask), makings)


@dataclass(frozen=True, eq=False)
class Lab:
    """A case's encoder, what it computes with the mistakes, and what it would without."""

    case: Case

    @cached_property
    def encoder(self) -> Encoder:
        """The right one; its biases are not zero."""
        made = Encoder(self.case.config, self.case.seed).eval()
        generator = torch.Generator().manual_seed(self.case.seed)
        with torch.no_grad():
            for parameter in made.parameters():
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
        return made

    @cached_property
    def given(self) -> Input:
        """A sentence of eight words; with a padding mask the last two are padding."""
        draw = np.random.default_rng(self.case.seed)
        ids = _sample(draw, range(1, len(WORDS)), N_TOKENS)
        ids[self.n_real :] = [0] * (N_TOKENS - self.n_real)
        return Input(torch.tensor([ids]), _build_mask(self.case.mask))

    @property
    def tokens(self) -> list[str]:
        """The words that it reads."""
        return [WORDS[i] for i in self.given.ids[0].tolist()]

    @property
    def n_real(self) -> int:
        """Tokens that are not padding."""
        return N_TOKENS - N_PADDING if self.case.mask == "padding" else N_TOKENS

    @cached_property
    def ours(self) -> Pass:
        """The right pass."""
        return Pass(self, ())

    @cached_property
    def theirs(self) -> Pass:
        """The case's pass."""
        return Pass(self, self.case.mistakes)

    def shows_each(self) -> bool:
        """Return whether each mistake changes the real tokens' vectors, alone and beside the other."""
        mistakes = self.case.mistakes
        others = [Pass(self, tuple(each for each in mistakes if each != key)) for key in mistakes]
        pairs = [(Pass(self, (key,)), self.ours) for key in mistakes] + [(self.theirs, other) for other in others]
        return all(is_other(one.read("final").numpy(), other.read("final").numpy()) for one, other in pairs)

    def find_alibi(self, key: str) -> tuple[str, int, int] | None:
        """Return a tensor that another mistake would change, how many of its numbers, and of how many.

        In a case of two, the mistake is made beside either of them. None where it would change nothing.
        """
        case, shows = self.case, MISTAKES[key].shows
        sets: list[tuple[str, ...]] = [(key,)]
        if len(case.mistakes) > 1:
            sets = [(key, each) for each in case.mistakes if MISTAKES[each].part != MISTAKES[key].part]
        alibis = [self._find_difference(Pass(self, each), shows) for each in sets]
        return alibis[0] if alibis and all(alibis) else None

    def _find_difference(self, other: Pass, shows: str) -> tuple[str, int, int] | None:
        """Return the first such tensor of a pass; one whose name ends with `shows` if there is one."""
        for name in (*(name for name in other.tensors if name.endswith(shows)), *other.tensors):
            numbers = other.read(name).numpy()
            if n_others := count_others(numbers, self.theirs.read(name).numpy()):
                return name, n_others, numbers.size
        return None


def count_others(one: NDArray[Any], other: NDArray[Any]) -> int:
    """Return how many numbers differ by more than rounding; an infinite and a finite one do."""
    finite = np.isfinite(one) & np.isfinite(other)
    size = max(1.0, float(np.abs(other[finite]).max(initial=0)))
    n_finite = int((np.abs(one[finite] - other[finite]) > SEEN * size).sum())
    return n_finite + int((np.isfinite(one) != np.isfinite(other)).sum())


def is_other(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays differ by more than rounding."""
    return count_others(one, other) > 0
