"""What every task knows: its data and settings. Legend: N sequences, T tokens, T' targets of the longest."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.text import Tokenizer, word_level_tokenizer
from playground.text.tokenizer import PAD, UNKNOWN, visible

IGNORE = -100
"""Target where nothing is asked."""

MASK, BOS, EOS = "[MASK]", "[BOS]", "[EOS]"
SPECIALS = (PAD, UNKNOWN, MASK)
"""Begin every vocabulary; an encoder–decoder adds [BOS], [EOS]."""

PAD_ID, UNKNOWN_ID, MASK_ID, BOS_ID, EOS_ID = range(5)


@dataclass(frozen=True, eq=False)
class Examples:
    """Sequences and their targets."""

    ids: Tensor
    """(N, T) int64; 0 after the end."""
    targets: Tensor
    """(N, T') int64 classes, or `IGNORE`; T' is T, with a decoder T + 1."""

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Tensor | slice) -> "Examples":
        """Some sequences, cut where the longest ends."""
        n_tokens = (self.ids[rows] != PAD_ID).sum(1)
        width = int(n_tokens.max()) if len(n_tokens) else 0
        extra = self.targets.shape[1] - self.ids.shape[1]
        return Examples(self.ids[rows, :width], self.targets[rows, : width + extra])

    def to(self, device: torch.device) -> "Examples":
        """Return them on another device."""
        return Examples(self.ids.to(device), self.targets.to(device))

    @property
    def mask(self) -> Tensor:
        """(N, T) bool, True = a token."""
        return self.ids != PAD_ID

    @property
    def decoder_mask(self) -> Tensor:
        """(N, T') bool, True = a token."""
        return self.targets != IGNORE

    @property
    def decoder_ids(self) -> Tensor:
        """[BOS] and the target shifted right: (N, T') int64."""
        shifted = F.pad(self.targets[:, :-1], (1, 0), value=BOS_ID)
        return shifted.masked_fill(~self.decoder_mask, PAD_ID)

    @property
    def n_answers(self) -> int:
        """Asked positions."""
        return int((self.targets != IGNORE).sum())


def share_right(answers: Tensor, targets: Tensor) -> float:
    """Return the share of asked positions answered right."""
    right = (answers == targets)[targets != IGNORE]
    return float(right.to(torch.float64).mean())


def commonest_answer_share(train: Examples, validation: Examples) -> float:
    """Return the validation share of the commonest training target."""
    answer = train.targets[train.targets != IGNORE].bincount().argmax()
    return share_right(answer, validation.targets)


@dataclass(frozen=True, kw_only=True)
class DataRecipe:
    """The part of a `Recipe` that its data depend on."""

    task: str = "reverse"
    text: str = ""
    """Empty: Python's help topics."""
    length: Annotated[int, (2, 256)] = 12
    """Symbols in the longest sequence or in a window."""
    n_symbols: Annotated[int, (2, 26)] = 10
    """Different symbols in made-up sequences."""
    n_train: Annotated[int, (1, 100_000)] = 4096
    """Sequences to learn from."""
    n_validation: Annotated[int, (1, 4_096)] = 128
    seed: Annotated[int, (0, 2**31 - 1)] = 0
    """Of all draws."""


@dataclass(frozen=True, eq=False)
class Task:
    """Something to learn; its question and the rule to beat are words of the page Training."""

    name: str
    """As a recipe calls it."""
    title: str
    """On pages and in links."""
    _: KW_ONLY
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe."""
    ablation_sizes: Mapping[str, Any] = field(default_factory=dict)
    ablation_small: int = 100
    """Training sequences that are learnt by heart."""
    has_decoder: bool = False
    predicts_next: bool = False
    """Later tokens are hidden then."""
    reads_text: bool = False
    counts_symbols: bool = False
    """Whether `n_symbols` counts."""

    def make_data(self, recipe: DataRecipe) -> "Data":
        """Return a recipe's data; RecipeError if there can be none."""
        raise NotImplementedError

    @property
    def unused_fields(self) -> set[str]:
        """Return the recipe's fields that change nothing in this task."""
        return {
            *([] if self.reads_text else ["text"]),
            *([] if self.counts_symbols else ["n_symbols"]),
            *([] if self.predicts_next else ["causal"]),
            *(["mask_padding"] if self.reads_text else []),  # windows of text are equally long
        }

    def join(self, tokens: Iterable[str]) -> str:
        """Return tokens as text."""
        return ("" if self.reads_text else " ").join(tokens)

    def show_blanks(self, sequence: str) -> str:
        """Return a sequence with visible blanks."""
        return sequence.replace(" ", visible(" ")) if self.reads_text else sequence


@dataclass(frozen=True, eq=False)
class Data:
    """Everything that a task's network sees."""

    task: Task
    tokenizer: Tokenizer
    vocabulary: tuple[str, ...]
    """In the order of ids."""
    labels: tuple[str, ...]
    """Of classes."""
    train: Examples
    validation: Examples
    """Sequences that do not occur in `train`."""
    baseline: float
    """Validation share that the rule gets right."""
    example: str
    """The first validation sequence, as text."""

    def text(self, ids: list[int]) -> str:
        """Return ids as text."""
        return self.task.join(self.vocabulary[i] for i in ids)


def build_data(
    task: Task,
    vocabulary: tuple[str, ...],
    train: Examples,
    validation: Examples,
    example: str,
    labels: tuple[str, ...] | None = None,
    baseline: float | None = None,
) -> Data:
    """Return the data of a task; by default classes are tokens, and the rule is the commonest answer."""
    tokenizer = word_level_tokenizer(vocabulary, blanks_between=not task.reads_text)
    labels = labels or tuple(map(tokenizer.id_to_token, range(len(vocabulary))))
    baseline = commonest_answer_share(train, validation) if baseline is None else baseline
    return Data(task, tokenizer, vocabulary, labels, train, validation, baseline, example)


def generator(seed: int, purpose: str, device: torch.device | None = None) -> torch.Generator:
    """Return a generator that depends on the run's seed and its purpose alone."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return torch.Generator(device or torch.device("cpu")).manual_seed(int.from_bytes(digest[:7], "big"))
