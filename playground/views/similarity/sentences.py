"""What the page Similarity looks at: sentences, and what an encoder makes of them; those that it begins with."""

from collections.abc import Callable
from dataclasses import dataclass

from playground.analysis.sentences import DepthMap, LeftOutWords, Pooling, SentenceDepths
from playground.config import ModelConfig
from playground.text import Batch

EXAMPLE = (
    "The animal crossed the street because it was not tired.",
    "The tired animal stayed on its side of the road.",
    "The film was good.",
    "The film was not good.",
    "I enjoyed the movie.",
    "The dog bit the man.",
    "The man bit the dog.",
    "Interest rates rose last week.",
    "The bank raised its rates.",
)
"""Sentences that mean the same in other words, the opposite in nearly the same words, and something else."""

OPPOSITE = (EXAMPLE[2], EXAMPLE[3], EXAMPLE[4])
"""A sentence, its negation, and the first one in other words."""

SWAPPED = (EXAMPLE[5], EXAMPLE[6])
"""The same words in another order, who does what to whom."""


@dataclass(frozen=True)
class Sentences:
    """Sentences, what an encoder makes of them, and what else can be computed of them."""

    texts: tuple[str, ...]
    batch: Batch
    """Their tokens."""
    depths: SentenceDepths
    config: ModelConfig
    weights: str
    """Whose they are: `minilm`, `random`, or another word for those of the visitor's own."""
    map_depths: Callable[[Pooling], DepthMap]
    """Places the sentences on two axes; raises as their run."""
    leave_words_out: Callable[[int, int, Pooling], LeftOutWords]
    """Runs a sentence without each of its words, beside another one; raises as their run."""
    task: str = ""
    """What the network was trained for, where that was on this server."""
    causal: bool = False
    is_changed: bool = False
    """Whether the visitor has changed any sentence's run."""
    for_any_text: Callable[[], SentenceDepths] | None = None
    """Runs the sentences with the changes that any text can have; None where all changes are such ones."""
