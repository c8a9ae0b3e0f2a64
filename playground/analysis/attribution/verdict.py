"""What a split score says, in one word and in plain numbers: the token, its position, earlier layers, or none alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from playground.analysis.attribution.score_sources import ScoreSplit
from playground.analysis.attribution.stream_sources import Source
from playground.analysis.tex import Floats
from playground.text.wording import join_words, write_amount

Group = Literal["token", "position", "attention", "feed-forward", "change", "others"]
Kind = Literal["mostly", "mixed", "even", "only key", "rounding", "not finite"]

MOST = 0.5
"""Share of all pushes and pulls from which on one group is called the most."""

EVEN = 0.05
"""A lead, either way, up to this changes a weight by 5 % against the opponent's: too little to have a reason."""

MOST_ROUNDING = 0.1
"""Share of the lead that the split may leave out, as very large scores lose it to the rounding of 32-bit floats."""

LEAST_TOLD = 0.005
"""The smallest amount that two decimals don't round to 0."""

NAMES: dict[Group, str] = {
    "token": "the tokens",
    "position": "their positions",
    "attention": "earlier attention",
    "feed-forward": "earlier feed-forward",
    "change": "your changes",
    "others": "segment and biases",
}
"""How the groups are called in a sentence about two keys."""

OPENINGS: dict[Group, str] = {
    "token": "Mostly the two tokens themselves.",
    "position": "Mostly the positions of the two keys.",
    "attention": "Mostly what attention of earlier layers wrote at the two keys.",
    "feed-forward": "Mostly what feed-forward networks of earlier layers wrote at the two keys.",
    "change": "Mostly what your changes write at the two keys.",
    "others": "Mostly the segment and the biases, which each key's norms scale in their own way.",
}
"""The verdict where one group has the most."""


@dataclass(frozen=True)
class Verdict:
    """Why this key rather than its opponent, or the reverse, as far as one source of their vectors answers it."""

    kind: Kind
    """`mostly`: one group has at least half of all pushes and pulls. `mixed`: none has. `even`: the score is the
    opponent's, within `EVEN`. `only key`: there is no other. `rounding`: the sources don't add up to the lead."""
    amounts: dict[Group, float]
    """What each group adds to the lead, the largest size first; groups that there are none of are left out."""

    @property
    def largest(self) -> Group:
        """The group with the largest amount, by size."""
        return next(iter(self.amounts))

    @property
    def share(self) -> float:
        """The largest group's share of the sum of all sizes: 0 … 1; 0 where all are 0."""
        total = sum(map(abs, self.amounts.values()))
        return abs(self.amounts[self.largest]) / total if total else 0.0


def judge(split: ScoreSplit, n_keys: int) -> Verdict:
    """The verdict on the difference of two scores of a query that may attend to so many keys."""
    amounts = _by_size(group_amounts(split.sources, split.by_key_source))
    if not all(map(math.isfinite, (*amounts.values(), split.lead))):
        return Verdict("not finite", amounts)
    if n_keys == 1:
        return Verdict("only key", amounts)
    if abs(split.lead) <= EVEN:
        return Verdict("even", amounts)
    if abs(split.relative_remainder) > MOST_ROUNDING * abs(split.lead):
        return Verdict("rounding", amounts)
    found = Verdict("mostly", amounts)
    pulls_along = amounts[found.largest] * split.lead > 0
    return found if found.share >= MOST and pulls_along else Verdict("mixed", amounts)


def group_amounts(sources: Sequence[Source], amounts: Floats) -> dict[Group, float]:
    """Amounts (S,) added up by group; a group without a source is left out."""
    totals: dict[Group, float] = {}
    for source, amount in zip(sources, amounts, strict=True):
        group: Group = "others" if source.kind in ("segment", "bias") else source.kind  # type: ignore[assignment]
        totals[group] = totals.get(group, 0.0) + float(amount)
    return totals


def largest_pair(split: ScoreSplit) -> tuple[Source, Source, float]:
    """The sources of query and key whose pair changes the lead the most, either way, and by how much."""
    query, key = np.unravel_index(int(np.argmax(np.abs(split.relative))), split.relative.shape)
    return split.sources[query], split.sources[key], float(split.relative[query, key])


def describe(verdict: Verdict, lead: float) -> str:
    """The verdict on two keys' scores, and the amounts of every group that has a tenth of all pushes and pulls.

    The rest of the lead is one more amount, unless it rounds to 0.
    """
    if verdict.kind == "not finite":
        return "These numbers have left the range of 32-bit floats, so no source can be told from another."
    if verdict.kind == "only key":
        return "It is the only key that the query may attend to, so its weight is 1 whatever the score."
    lead_text = write_amount(lead, "+")
    if verdict.kind == "even":
        return f"The two scores differ by {lead_text} only: there is little to explain."
    if verdict.kind == "rounding":
        return "The scores are so large that 32-bit floats round away where their difference comes from."
    opening = OPENINGS[verdict.largest] if verdict.kind == "mostly" else "No single source explains it."
    total = sum(map(abs, verdict.amounts.values()))
    large = {group: amount for group, amount in verdict.amounts.items() if abs(amount) >= total / 10}
    told = [f"{NAMES[group]} {write_amount(amount, '+')}" for group, amount in large.items()]
    rest = lead - sum(large.values())
    if abs(rest) >= LEAST_TOLD:
        told.append(f"the rest {write_amount(rest, '+')}")
    listed = join_words(told)
    return f"{opening} The difference, {lead_text}, is a sum by what wrote the two keys' vectors: {listed}."


def _by_size(amounts: dict[Group, float]) -> dict[Group, float]:
    return dict(sorted(amounts.items(), key=lambda item: -abs(item[1])))
