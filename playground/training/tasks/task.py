"""What every task answers about itself: its texts, its data, its network, and which settings count for it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from playground.text import Tokenizer
from playground.text.pieces import visible
from playground.training.tasks.examples import Examples


@dataclass(frozen=True, kw_only=True)
class DataRecipe:
    """The part of a `Recipe` that its data depend on: the same data for the same values."""

    task: str = "reverse"
    """What has to be learnt: a name of `tasks.TASKS`."""
    text: str = ""
    """The text to learn from, where the task is about text; empty: Python's help topics."""
    length: int = 12
    """Symbols in the longest sequence; for text, in every window."""
    n_symbols: int = 10
    """Different symbols in made-up sequences."""
    n_train: int = 4096
    """Sequences to learn from."""
    n_validation: int = 128
    """Sequences that are never learnt from, to measure on."""
    seed: int = 0
    """Of the data, the initial weights, the order of batches, and every regulariser's draws."""


class Task(ABC):
    """Something to learn. A new one is a subclass in a module of this folder, and an entry of `task_list.TASKS`.

    Attributes:
        name: as a recipe calls it.
        title: as a page calls it, and as a link spells it.
        question: what has to be learnt, in one sentence.
        rule: what the simple rule does that a network has to beat.
        defaults: what a recipe for this task starts from, by field, where that is not the recipe's own default.
        ablation_sizes: sizes of the data in an ablation, by the recipe's fields.
        ablation_small: how many training sequences are so few that a network learns them by heart.
        has_decoder: whether an encoder–decoder learns it, token by token; else an encoder with a head, all at once.
        predicts_next: whether the token that comes next is asked: later tokens have to be hidden then.
        reads_text: whether its sequences are windows of the recipe's `text`, a token a character.
        counts_symbols: whether the recipe's `n_symbols` counts.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    rule: ClassVar[str]
    defaults: ClassVar[Mapping[str, Any]] = {}
    ablation_sizes: ClassVar[Mapping[str, Any]] = {}
    ablation_small: ClassVar[int] = 100
    has_decoder: ClassVar[bool] = False
    predicts_next: ClassVar[bool] = False
    reads_text: ClassVar[bool] = False
    counts_symbols: ClassVar[bool] = False

    @abstractmethod
    def make_data(self, recipe: DataRecipe) -> "Data":
        """The recipe's data; RecipeError where there can be none."""

    @property
    def unused_fields(self) -> dict[str, str]:
        """The recipe's fields that change nothing in this task, each with the reason."""
        reasons = {
            "text": "" if self.reads_text else "its sequences are made up",
            "n_symbols": "" if self.counts_symbols else "its symbols are given",
            "causal": "" if self.predicts_next else "nothing comes next that would have to be hidden",
            "mask_padding": "windows of text are equally long, so that nothing is padded" if self.reads_text else "",
            "token_swapping": "the answer is the next character, which a swap would show" if self.predicts_next else "",
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
    """Everything that a task's network sees.

    Attributes:
        task: what has to be learnt.
        tokenizer: reads text with the task's own vocabulary, into the ids that `train` and `validation` hold.
        vocabulary: the tokens as they are written, in the order of their ids.
        labels: what each class is called; for most tasks the vocabulary, made readable.
        train: what is learnt from.
        validation: sequences that do not occur in `train`.
        baseline: the share of validation targets that the task's simple rule gets right.
        example: the first validation sequence, as text.
    """

    task: Task
    tokenizer: Tokenizer
    vocabulary: tuple[str, ...]
    labels: tuple[str, ...]
    train: Examples
    validation: Examples
    baseline: float
    example: str

    def text(self, ids: list[int]) -> str:
        """Token ids as text, which the tokenizer reads back where no token is [UNK]."""
        return self.task.join(self.vocabulary[i] for i in ids)
