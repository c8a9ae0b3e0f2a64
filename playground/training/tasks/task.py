"""What every task answers about itself: its texts, its data, its network, and which settings count for it.

Legend: N sequences, T tokens, T' targets of the longest of them.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.text import Tokenizer, word_level_tokenizer
from playground.text.tokenizer import PAD, UNKNOWN, visible

IGNORE = -100
"""The target of a position where nothing is asked."""

MASK, BOS, EOS = "[MASK]", "[BOS]", "[EOS]"
SPECIALS = (PAD, UNKNOWN, MASK)
"""The tokens that every vocabulary begins with; an encoder–decoder's goes on with [BOS] and [EOS]."""

PAD_ID, UNKNOWN_ID, MASK_ID, BOS_ID, EOS_ID = range(5)


@dataclass(frozen=True, eq=False)
class Examples:
    """Sequences and their targets, on the CPU."""

    ids: Tensor
    """(N, T) int64, what the encoder reads; 0 after the end."""
    targets: Tensor
    """(N, T') int64, a class for each token, or `IGNORE` where nothing is asked. T' is T without a decoder; with one it
    is T + 1, as [EOS] is asked, too."""

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: Tensor | slice) -> "Examples":
        """Some of the sequences, cut off where the longest of them ends."""
        n_tokens = (self.ids[rows] != PAD_ID).sum(1)
        width = int(n_tokens.max()) if len(n_tokens) else 0
        extra = self.targets.shape[1] - self.ids.shape[1]
        return Examples(self.ids[rows, :width], self.targets[rows, : width + extra])

    def to(self, device: torch.device) -> "Examples":
        """These examples on another device."""
        return Examples(self.ids.to(device), self.targets.to(device))

    @property
    def mask(self) -> Tensor:
        """Where the encoder reads a token: (N, T) bool."""
        return self.ids != PAD_ID

    @property
    def decoder_mask(self) -> Tensor:
        """Where a decoder reads a token, which is where one is asked: (N, T') bool."""
        return self.targets != IGNORE

    @property
    def decoder_ids(self) -> Tensor:
        """What a decoder reads, [BOS] and the target shifted right: (N, T') int64, 0 after the end."""
        shifted = F.pad(self.targets[:, :-1], (1, 0), value=BOS_ID)
        return shifted.masked_fill(~self.decoder_mask, PAD_ID)

    @property
    def n_answers(self) -> int:
        """The number of positions where an answer is asked for."""
        return int((self.targets != IGNORE).sum())


def share_right(answers: Tensor, targets: Tensor) -> float:
    """The share of asked positions where `answers`, broadcast to the targets, is right."""
    right = (answers == targets)[targets != IGNORE]
    return float(right.to(torch.float64).mean())


def commonest_answer_share(train: Examples, validation: Examples) -> float:
    """The share of validation targets that equal the commonest target of the training set."""
    answer = train.targets[train.targets != IGNORE].bincount().argmax()
    return share_right(answer, validation.targets)


@dataclass(frozen=True, kw_only=True)
class DataRecipe:
    """The part of a `Recipe` that its data depend on: the same data for the same values."""

    task: str = "reverse"
    """What has to be learnt: a name of `tasks.TASKS`."""
    text: str = ""
    """The text to learn from, where the task is about text; empty: Python's help topics."""
    length: Annotated[int, (2, 256)] = 12
    """Symbols in the longest sequence; for text, in every window."""
    n_symbols: Annotated[int, (2, 26)] = 10
    """Different symbols in made-up sequences."""
    n_train: Annotated[int, (1, 100_000)] = 4096
    """Sequences to learn from."""
    n_validation: Annotated[int, (1, 4_096)] = 128
    """Sequences that are never learnt from, to measure on."""
    seed: Annotated[int, (0, 2**31 - 1)] = 0
    """Of the data, the initial weights, the order of batches, and every regulariser's draws."""


class Task(ABC):
    """Something to learn. A new one is a subclass in a module of this folder, and an entry of `TASKS`."""

    name: ClassVar[str]
    """As a recipe calls it."""
    title: ClassVar[str]
    """As a page calls it, and as a link spells it."""
    question: ClassVar[str]
    """What has to be learnt, in one sentence."""
    example_note: ClassVar[str] = ""
    """What there is to see in an example of sequence and answer, where that may surprise."""
    rule: ClassVar[str]
    """What the simple rule does that a network has to beat."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """What a recipe for this task starts from, by field, where that is not the recipe's own default."""
    ablation_sizes: ClassVar[Mapping[str, Any]] = {}
    """Sizes of the data in an ablation, by the recipe's fields."""
    ablation_small: ClassVar[int] = 100
    """How many training sequences are so few that a network learns them by heart."""
    has_decoder: ClassVar[bool] = False
    """Whether an encoder–decoder learns it, token by token; else an encoder with a head, all at once."""
    predicts_next: ClassVar[bool] = False
    """Whether the token that comes next is asked: later tokens have to be hidden then."""
    reads_text: ClassVar[bool] = False
    """Whether its sequences are windows of the recipe's `text`, a token a character."""
    counts_symbols: ClassVar[bool] = False
    """Whether the recipe's `n_symbols` counts."""

    @abstractmethod
    def make_data(self, recipe: DataRecipe) -> "Data":
        """The recipe's data; RecipeError where there can be none."""

    def build_data(
        self,
        vocabulary: tuple[str, ...],
        train: Examples,
        validation: Examples,
        *,
        example: str,
        labels: tuple[str, ...] | None = None,
        baseline: float | None = None,
    ) -> "Data":
        """`Data` of this task; without labels classes are tokens, and without a baseline its rule is one answer."""
        tokenizer = word_level_tokenizer(vocabulary, blanks_between=not self.reads_text)
        labels = tuple(map(tokenizer.id_to_token, range(len(vocabulary)))) if labels is None else labels
        baseline = commonest_answer_share(train, validation) if baseline is None else baseline
        return Data(self, tokenizer, vocabulary, labels, train, validation, baseline, example)

    @property
    def unused_fields(self) -> dict[str, str]:
        """The recipe's fields that change nothing in this task, each with the reason."""
        reasons = {
            "text": "" if self.reads_text else "its sequences are made up",
            "n_symbols": "" if self.counts_symbols else "its symbols are given",
            "causal": "" if self.predicts_next else "nothing comes next that would have to be hidden",
            "mask_padding": "windows of text are equally long, so that nothing is padded" if self.reads_text else "",
        }
        return {field: reason for field, reason in reasons.items() if reason}

    def join(self, tokens: Iterable[str]) -> str:
        """Tokens as text: characters in one piece, symbols with blanks between them."""
        return ("" if self.reads_text else " ").join(tokens)

    def show_blanks(self, sequence: str) -> str:
        """A sequence as a network reads it, with visible blanks where they are characters, as in its labels."""
        return sequence.replace(" ", visible(" ")) if self.reads_text else sequence


@dataclass(frozen=True, eq=False)
class Data:
    """Everything that a task's network sees."""

    task: Task
    """What has to be learnt."""
    tokenizer: Tokenizer
    """Reads text with the task's own vocabulary, into the ids that `train` and `validation` hold."""
    vocabulary: tuple[str, ...]
    """The tokens as they are written, in the order of their ids."""
    labels: tuple[str, ...]
    """What each class is called; for most tasks the vocabulary, made readable."""
    train: Examples
    """What is learnt from."""
    validation: Examples
    """Sequences that do not occur in `train`."""
    baseline: float
    """The share of validation targets that the task's simple rule gets right."""
    example: str
    """The first validation sequence, as text."""

    def text(self, ids: list[int]) -> str:
        """Token ids as text, which the tokenizer reads back where no token is [UNK]."""
        return self.task.join(self.vocabulary[i] for i in ids)


def generator(seed: int, purpose: str, device: torch.device | None = None) -> torch.Generator:
    """A generator, on the CPU by default, that depends on the run's seed and on what it is for, and on nothing else."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return torch.Generator(device or torch.device("cpu")).manual_seed(int.from_bytes(digest[:7], "big"))
