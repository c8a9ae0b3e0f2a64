"""What can be learnt here: made-up sequences whose answer is known exactly, and text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from playground.training.recipe import TaskName

Kind = Literal["encoder", "language", "seq2seq"]
Material = Literal["symbols", "brackets", "text"]


@dataclass(frozen=True)
class Task:
    """Something to learn.

    Attributes:
        name: as a recipe calls it.
        title: as a page calls it.
        question: what has to be learnt, in one sentence.
        kind: `encoder`, a class for every token at once; `language`, the token that comes next; `seq2seq`, a target
            said token by token.
        material: what the sequences are made of; a recipe's `n_symbols` counts for `symbols`, its `text` for `text`.
        rule: what the simple rule does that a network has to beat.
        defaults: what a recipe for this task starts from, by field, where that is not the recipe's own default.
    """

    name: TaskName
    title: str
    question: str
    kind: Kind = "encoder"
    material: Material = "symbols"
    rule: str = "always answer with the symbol that is the commonest answer in the training set"
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)


_COMMONEST = (
    "always answer with the token that is the commonest answer in the training set, a symbol or the [EOS] that ends "
    "every answer"
)

TASKS: dict[TaskName, Task] = {
    task.name: task
    for task in (
        Task("copy", "Copy", "Say at every position which symbol stands there.", defaults={"steps": 200}),
        Task(
            "reverse",
            "Reverse",
            "Say at every position which symbol stands there when the sequence is read backwards.",
            defaults={"lr": 2e-3},
        ),
        Task(
            "sort",
            "Sort",
            "Say at every position which number stands there once the sequence is in ascending order.",
        ),
        Task(
            "count",
            "Count",
            "Say at every position how often its symbol occurs in the whole sequence.",
            rule="always answer with the commonest count of the training set",
            defaults={"lr": 2e-3},
        ),
        Task(
            "brackets",
            "Match brackets",
            "Say for every bracket at which position its partner stands, or that it has none.",
            material="brackets",
            rule="always answer with the commonest position of the training set",
            defaults={"length": 16, "n_train": 8_192, "lr": 2e-3, "steps": 800},
        ),
        Task(
            "masked",
            "Fill in the gaps",
            "Say which character stands behind each [MASK], from the characters on both sides.",
            material="text",
            rule="always answer with the commonest character behind a [MASK] of the training set",
            defaults={"length": 32, "n_train": 16_384, "lr": 3e-3, "steps": 1_000},
        ),
        Task(
            "characters",
            "Next character",
            "Say at every position which character comes next, from this one and those before it.",
            kind="language",
            material="text",
            rule="answer with the character that most often follows the present one in the training text",
            defaults={"length": 64, "n_train": 16_384, "batch_size": 32, "lr": 4e-3},
        ),
        Task(
            "seq2seq-copy",
            "Copy, with a decoder",
            "Read a sequence with the encoder, and say it again with the decoder, symbol by symbol.",
            kind="seq2seq",
            rule=_COMMONEST,
            defaults={"steps": 400},
        ),
        Task(
            "seq2seq-reverse",
            "Reverse, with a decoder",
            "Read a sequence with the encoder, and say it backwards with the decoder, symbol by symbol.",
            kind="seq2seq",
            rule=_COMMONEST,
            defaults={"steps": 400},
        ),
    )
}
"""By the name that a recipe uses, in the order of a menu."""
