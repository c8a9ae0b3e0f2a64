"""What the page Similarity looks at: the text's sentences and those of its list, and what an encoder makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from playground.analysis import sentences
from playground.analysis.sentences import DepthMap, LeftOutWords, Pair, Pooling, SentenceDepths, is_for_any_text
from playground.charts.scene import Scene
from playground.errors import InputError, PlaygroundError
from playground.limits import MAX_LISTED
from playground.link.lab import Lab, once, turn_on_text
from playground.link.opening import LinkedView
from playground.model.changes import Change
from playground.runs.variant_runs import count_affordable
from playground.text import split_sentences
from playground.words import say

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

KNOWN_FROM = 0.75
"""Share of the example's tokens that a tokenizer has to know to show it."""

Changes = tuple[tuple[Change, ...], ...]
"""The changes of each sentence's run."""


@dataclass(frozen=True)
class Sentences:
    """Sentences, and what an encoder makes of them."""

    lab: Lab
    """Of all of them."""
    depths: SentenceDepths
    changes: Changes
    is_example: bool = False
    """Whether the example stands behind the text."""
    notes: tuple[str, ...] = ()
    """What was left out, in sentences."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The sentences."""
        return self.lab.text.sentences

    @property
    def changes_for_any_text(self) -> Changes:
        """Those that mean the same in a text with a word less."""
        return tuple(tuple(filter(is_for_any_text, each)) for each in self.changes)

    def pair(self, pooling: Pooling, numbers: Sequence[int]) -> Pair:
        """The sentences of these numbers, from 1, or the last ones, with their cosine."""
        first, second = (min(number, len(self.texts)) - 1 for number in numbers)
        return Pair(first, second, float(self.depths.similarity(pooling)[first, second]))


def sentences_scene(view: LinkedView) -> Scene[Sentences]:
    """The view's sentences with those of its list; raises as `list_sentences`."""
    return Scene(list_sentences(view.lab, view.values["similarity_list"]))


def list_sentences(lab: Lab, listed: str = "") -> Sentences:
    """The lab's sentences and listed ones, or the example beside a single sentence; as many as can be run together.

    Raises:
        PlaygroundError: there is none, the tokenizer cannot read them, the model is too large, or numbers overflow.
    """
    typed = lab.text.sentences
    pasted = split_sentences(listed, max(MAX_LISTED - len(typed), 1), "list")
    is_example = not pasted.sentences and len(typed) < 2 and _knows_example(lab)
    texts = (*typed, *(EXAMPLE if is_example else pasted.sentences))[:MAX_LISTED]
    if not texts:
        raise InputError(say("similarity", "nothing"))
    whole, notes = _with_sentences(lab, texts), [*pasted.notes]
    lengths = [len(tokens) for tokens in whole.batch.tokens]
    readable = tuple(text for text, length in zip(texts, lengths, strict=True) if length)
    kept = readable[: count_affordable(whole.config, [*filter(None, lengths)] or [1])]
    if not kept:
        raise InputError(say("similarity", "nothing"))
    if kept != texts:
        notes.append(say("similarity", "bounded", kept=len(kept), all=len(texts)))
        whole = _with_sentences(lab, kept)
    n_cut = sum(map(bool, whole.batch.truncated))
    if n_cut:
        notes.append(say("similarity", "cut", n=n_cut, tokens=whole.batch.ids.shape[1]))
    changes = tuple(whole.fit_changes(i).applied for i in range(len(kept)))
    depths = read_depths(whole, changes)
    if not depths.is_finite:
        raise InputError(say("similarity", "overflow"))
    return Sentences(whole, depths, changes, is_example, tuple(notes))


def _with_sentences(lab: Lab, texts: tuple[str, ...]) -> Lab:
    """A lab of these sentences that looks at the one that the lab looks at, or at the first."""
    (chosen,) = lab.text.sentences[lab.sentence : lab.sentence + 1] or texts[:1]
    return lab.at(lab.state.with_sentences(texts, texts.index(chosen) if chosen in texts else 0))


def _knows_example(lab: Lab) -> bool:
    try:
        unknown = [flag for row in _with_sentences(lab, EXAMPLE).batch.unknown for flag in row]
    except PlaygroundError:
        return False
    return sum(unknown) <= (1 - KNOWN_FROM) * len(unknown)


@once
def read_depths(lab: Lab, changes: Changes) -> SentenceDepths:
    """Run every sentence with its changes; raises as `Lab.run`."""
    with turn_on_text(lab.source, lab.run_key) as (encoder, batch):
        return sentences.read_depths(encoder, batch, seed=lab["seed"], causal=lab["causal"], interventions=changes)


@once
def map_depths(lab: Lab, changes: Changes, pooling: Pooling) -> DepthMap:
    """The sentences on two axes at every depth."""
    return sentences.map_depths(read_depths(lab, changes).pooled[pooling])


@once
def leave_words_out(lab: Lab, changes: Changes, side: int, other: int, pooling: Pooling) -> LeftOutWords:
    """One sentence without each of its words, beside another one; every change is one for any text."""
    vector = read_depths(lab, changes).pooled[pooling][-1, other]
    with turn_on_text(lab.source, lab.run_key) as (encoder, batch):
        return sentences.leave_words_out(
            encoder,
            lab.tokenizer,
            batch,
            side,
            vector,
            pooling,
            seed=lab["seed"],
            causal=lab["causal"],
            interventions=changes[side],
        )
