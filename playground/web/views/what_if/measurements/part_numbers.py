"""The effects of parts as the numbers of a map: of what, between which bounds, and in which words."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from playground.analysis.effects.sweeps import cosines, list_heads, list_sublayers
from playground.analysis.vector_changes import sentence_vector
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text.wording import with_minus
from playground.web.session.caches import RunKey
from playground.web.views.what_if.measurements import sweep_caches, task_caches
from playground.web.views.what_if.measurements.growing_numbers import GrowingNumbers, Rows
from playground.web.views.what_if.measurements.sweep_caches import PartKind, SweepKey

Target = Literal["sentence vector", "similarity", "right answers"]


@dataclass(frozen=True)
class PartNumbers:
    """What is measured of some parts, and how it is read off."""

    identity: Hashable
    """All that the measurement depends on."""
    growing: GrowingNumbers
    measure: Callable[[Rows], Array]
    effects: Callable[[], Array]
    """A number for each part by now: (parts,), NaN where it is not measured."""
    signed: bool
    """Whether it may be below 0."""
    bar: str
    """What the colours stand for."""
    meaning: str
    """What a number is, as a caption says it."""
    number: str
    """The format of a number in a sentence."""
    of_sublayers: Callable[[], "PartNumbers"]
    """These numbers, measured of the sublayers instead."""
    instead_of: str = ""
    """What was asked for and cannot be measured."""

    @property
    def instead(self) -> str:
        """What a title adds where the sentence's vector stands in for what was asked for."""
        return f", on the sentence vector instead of {self.instead_of}" if self.instead_of else ""

    def written(self, effect: float) -> str:
        """An effect as a sentence says it."""
        return with_minus(f"{effect:{self.number}}")

    def written_median(self) -> str:
        """The median effect as a sentence says it; with signs also that of the sizes, by which effects are sorted."""
        median = self.written(float(np.nanmedian(self.effects())))
        unsigned = self.number.removeprefix("+")
        return f"{median}; without signs {np.nanmedian(self.sizes):{unsigned}}" if self.signed else median

    @property
    def sizes(self) -> Array:
        """How much each part matters, whatever the sign: (parts,)."""
        return np.abs(self.effects())


def numbers_on_vector(key: RunKey, parts: SweepKey, instead_of: str = "") -> PartNumbers:
    """The change of the sentence's vector, `instead_of` another measure; raises as `sweep_caches.sweep_numbers`."""
    growing = sweep_caches.sweep_numbers(key, parts)
    return PartNumbers(
        (key, parts),
        growing,
        lambda rows: sweep_caches.measure_rows(key, parts, rows),
        lambda: growing.numbers[:, 0].copy(),
        signed=False,
        bar="change",
        meaning="how far the sentence's vector moves, as a share of its length. The vector is the mean over the "
        "sentence's tokens",
        number=".1%",
        of_sublayers=lambda: numbers_on_vector(key, SweepKey("sublayers"), instead_of),
        instead_of=instead_of,
    )


def numbers_on_similarity(key: RunKey, parts: SweepKey, other: int, run: Run) -> PartNumbers:
    """The change of the cosine with another sentence's vector; raises as `sweep_caches.sweep_numbers`."""
    growing = sweep_caches.sweep_numbers(key, parts)
    vectors = sweep_caches.text_vectors(key._replace(sentence=0))
    before = float(cosines(sentence_vector(run)[None], vectors[other : other + 1])[0, 0])
    return PartNumbers(
        (key, parts),
        growing,
        lambda rows: sweep_caches.measure_rows(key, parts, rows),
        lambda: growing.numbers[:, 1 + other] - np.float32(before),
        signed=True,
        bar="change",
        meaning=f"what is added to the similarity of this sentence and sentence {other + 1}, the cosine of their "
        f"vectors, which is {before:.3f} with every part. Sentence {other + 1} itself keeps every part",
        number="+.4f",
        of_sublayers=lambda: numbers_on_similarity(key, SweepKey("sublayers"), other, run),
    )


def numbers_on_answers(run_key: RunKey, kind: PartKind) -> PartNumbers:
    """The change of the probability of the right answer, for heads or sublayers of a network trained here."""
    config, weights = run_key.config, run_key.weights
    parts = list_heads(config) if kind == "heads" else list_sublayers(config)
    variants: list[list[Change]] = [[], *([part] for part in parts)]
    growing = task_caches.task_scores(weights, kind, len(variants))
    scores = growing.numbers[:, task_caches.PROBABILITY]
    return PartNumbers(
        (weights, kind),
        growing,
        lambda rows: task_caches.measure_variants(weights, variants, rows),
        lambda: scores[1:] - scores[0],
        signed=True,
        bar="change",
        meaning="what is added to the probability of the right answer, a mean over all positions that are asked for in "
        f"{len(task_caches.validation_sequences(weights)):,} validation sequences",
        number="+.4f",
        of_sublayers=lambda: numbers_on_answers(run_key, "sublayers"),
    )
