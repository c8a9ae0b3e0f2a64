"""The verdict on changes: how far the sentence has moved, and whether that is much beside single heads switched off."""

from dataclasses import dataclass

import numpy as np

from playground.analysis.changes import sentence_change
from playground.charts.figure import Array
from playground.runs.arrays import FLOAT32_ROUNDING
from playground.runs.encoder_run import Run
from playground.text.wording import write_share
from playground.views.change_names import count_changes

MUCH, LITTLE = 2.0, 0.5
"""How many times the median head's effect is called much, and from where down little."""


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """How far the sentence's vector moves without each head alone."""

    values: Array
    """(L, H), as shares of its length; NaN where one is not measured yet, or has left fp32's range."""
    n_measured: int
    """How many of them are measured by now."""


def judge_changes(untouched: Run, run: Run, heads: HeadEffects | None, *, is_random: bool) -> str:
    """How far a run's changes have moved the sentence, beside the median head where that is known, in markdown.

    The sentence's vector is the mean over its tokens, as it is where heads are measured.
    """
    moved = float(sentence_change(untouched, run).relative)
    whose = _name_changes(run)
    weights = "The weights are random." if is_random else ""
    if not np.isfinite(moved):
        return (
            f"How far {whose} moved the sentence cannot be told: its vector is 0, or has left the range of 32-bit "
            f"floats. {weights}".rstrip()
        )
    if moved <= FLOAT32_ROUNDING:
        told = "the sentence, as the mean of its tokens' vectors, **stays where it is**, but for rounding."
        return f"With {whose}, {told} {weights}".rstrip()
    told = f"the sentence, as the mean of its tokens' vectors, moves by **{write_share(moved)}** of its length."
    return " ".join(filter(None, (f"With {whose}, {told}", _compare(moved, run, heads), weights)))


def say_how_far(untouched: Run, run: Run, heads: HeadEffects | None) -> str:
    """The verdict in a few words, in markdown, for a place beside what made the changes."""
    moved = float(sentence_change(untouched, run).relative)
    if not np.isfinite(moved):
        return "How far the sentence moved cannot be told."
    if moved <= FLOAT32_ROUNDING:
        return f"With {_name_changes(run)}, the sentence **stays where it is**."
    told = f"With {_name_changes(run)}, the sentence moves by **{write_share(moved)}** of its length."
    is_compared = heads is not None and np.isfinite(heads.values).all() and heads.values.size > 1
    return f"{told} {_judge(moved, float(np.median(heads.values)))}." if heads is not None and is_compared else told


def _name_changes(run: Run) -> str:
    n = count_changes(run)
    return "your change" if n == 1 else f"your {n} changes"


def _compare(moved: float, run: Run, heads: HeadEffects | None) -> str:
    """Whether that is much, in a sentence; empty where nothing is known of heads."""
    if heads is None:
        return ""
    n_heads = heads.values.size
    if heads.n_measured < n_heads:
        return (
            f"Is that much? To compare, each of the {n_heads:,} heads is switched off alone: {heads.n_measured:,} so "
            "far."
        )
    if not np.isfinite(heads.values).all():
        return ""
    median = float(np.median(heads.values))
    if n_heads == 1:
        return f"Without its only head, it moves by **{write_share(median)}**."
    own = _find_single_head(run)
    others = heads.values if own is None else np.delete(heads.values, np.ravel_multi_index(own, heads.values.shape))
    n_further = int((others > moved).sum())
    further = {0: "no", others.size: "every"}.get(n_further, f"{n_further:,}")
    which = " other" if own is not None else ""
    verb = "head moves" if further in ("no", "every", "1") else "heads move"
    return (
        f"{_judge(moved, median)}: the median of the {n_heads:,} heads, each switched off alone, moves it by "
        f"**{write_share(median)}**, and {further}{which} {verb} it further."
    )


def _judge(moved: float, median: float) -> str:
    if moved >= MUCH * median:
        return "That is much"
    return "That is little" if moved < LITTLE * median else "That is about what one head does"


def _find_single_head(run: Run) -> tuple[int, int] | None:
    """The head, (layer, head), where to switch it off is all that a run has changed."""
    first, *others = run.interventions
    if others or first.layer is None or first.head is None or not first.silences_head(first.layer, first.head):
        return None
    return first.layer, first.head
