"""What explains one cell of a head's map: its question, what its score is made of, and the rival beside it."""

from dataclasses import dataclass

import numpy as np

from playground.analysis.attention import PROBES, Habits, check_probes, measure_habits
from playground.analysis.attribution import (
    Competition,
    HeadMaps,
    ScoreSplit,
    Verdict,
    compete,
    destination,
    head_maps,
    judge,
    split_score,
)
from playground.analysis.stream_sources import StreamSplit, split_stream
from playground.analysis.walkthrough import Walk
from playground.charts.figure import Array
from playground.charts.markdown import quote_place
from playground.charts.names import token_names
from playground.errors import InputError
from playground.link.lab import Lab, compute_run, once
from playground.link.opening import Focus
from playground.link.params import AUTOMATIC, MEAN
from playground.runs.encoder_run import LayerRun, Run

ROUNDING = 1e-4
"""Share of the largest weight that rounding may take."""


@dataclass(frozen=True, eq=False)
class HeadsRun:
    """A run, and the lab that explains its heads; all of it may raise as a run does."""

    lab: Lab
    run: Run

    @property
    def is_random(self) -> bool:
        """Whether the weights are random: nothing was learnt."""
        return self.lab.state.is_random

    def trace_layer(self, layer: int) -> LayerRun:
        """The run with everything that one layer computes."""
        return self.lab.layer(layer)

    def split_stream(self, layer: int) -> StreamSplit:
        """What each source adds to the vectors that a layer's attention reads; of the number of layers: at the end."""
        return _split_stream(self.lab, layer)

    def head_maps(self, walk: Walk) -> HeadMaps:
        """The learned maps of a walk's head."""
        return _head_maps(self.lab, walk.layer.layer, walk.head, destination(walk)[1])

    def measure_habits(self, source: str) -> Habits:
        """What heads do in `fixed sentences`, or in `this text`."""
        return measure_habits([self.run]) if source == "this text" else _habits_in_probes(self.lab.without_changes)


@once
def _split_stream(lab: Lab, layer: int) -> StreamSplit:
    return split_stream(lab.run, lab.encoder, layer)


@once
def _head_maps(lab: Lab, layer: int, head: int, piece: int) -> HeadMaps:
    return head_maps(lab.encoder, layer, head, piece)


@once
def _habits_in_probes(lab: Lab) -> Habits:
    if lab["tokenizer"] == "word" and lab.config.vocab_size:
        raise InputError("The tokenizer word knows the words of your own text alone, and not the fixed sentences.")
    probes = lab.at(lab.state.with_sentences(PROBES))
    check_probes(probes.batch.unknown)
    return measure_habits([compute_run(probes.source, probes.key_of(i)) for i in range(len(PROBES))])


@dataclass(frozen=True)
class Explanation:
    """What explains one cell of a head's map."""

    walk: Walk
    maps: HeadMaps
    split: ScoreSplit
    rivals: Competition
    verdict: Verdict
    note: str = ""
    """Why another rival stands here than the one that was asked for; empty where it does not."""

    @property
    def rival_place(self) -> int | None:
        """Where the rival stands among the competing keys; None where it is their mean, or where there is none."""
        found = np.flatnonzero(self.rivals.keys == self.split.opponent)
        return int(found[0]) if len(found) else None

    @property
    def has_parts(self) -> bool:
        """Whether the score's parts say something: there is an opponent, and the parts add up to the lead over it."""
        return self.verdict.kind not in ("only key", "rounding", "not finite")

    @property
    def names(self) -> tuple[str, str, str]:
        """The query, the key and its rival in markdown."""
        tokens, opponent = self.walk.layer.run.tokens, self.split.opponent
        query, key = quote_place(tokens, self.walk.query), quote_place(tokens, self.walk.key)
        no_one = "no other key" if len(self.rivals.keys) == 1 else "the mean over its keys"
        return query, key, no_one if opponent is None else quote_place(tokens, opponent)


def explain_cell(subject: HeadsRun, focus: Focus, rival: str = AUTOMATIC) -> Explanation:
    """What explains a cell, set beside a rival, as `attention_rival` names it; raises as the run.

    By default that is the strongest other word where the key is one, and else the strongest other key.
    """
    walk = Walk(subject.trace_layer(focus.layer), focus.head, focus.query, focus.key)
    stream, maps, rivals = subject.split_stream(focus.layer), subject.head_maps(walk), compete(walk)
    opponent, note = _choose_rival(walk, rivals, rival)
    split = split_score(walk, stream, maps, opponent)
    return Explanation(walk, maps, split, rivals, judge(split, len(rivals.keys)), note)


def _choose_rival(walk: Walk, rivals: Competition, asked: str) -> tuple[int | None, str]:
    """The rival's position, None for the mean over the keys, and a sentence where it is not the one asked for."""
    automatic = _find_rival(walk, rivals)
    if asked == MEAN or automatic is None:
        return None, ""
    if asked == AUTOMATIC:
        return automatic, ""
    tokens, place = walk.layer.run.tokens, int(asked)
    if place < len(tokens) and place != walk.key and walk.allowed[place]:
        return place, ""
    if place >= len(tokens):
        why = f"This sentence has no token at position {place}"
    elif place == walk.key:
        why = f"{quote_place(tokens, place)} is the key itself"
    else:
        why = f"{quote_place(tokens, place)} is hidden from the query"
    return automatic, f"{why}, so the rival here is {_name_automatic(walk, automatic)}. "


def _find_rival(walk: Walk, rivals: Competition) -> int | None:
    """The position of the strongest key beside this one, among words where this is one; None where there is no other.

    Heads that find no word look at [CLS] or [SEP]: as the rival of a word it would say little about that word.
    """
    others = [int(key) for key in rivals.keys if key != walk.key]
    return next(iter(_choose_alike(walk.layer.run, walk.query, walk.key, others)), None)


def _choose_alike(run: Run, query: int, key: int, others: list[int]) -> list[int]:
    """The words among other keys where the key is one and there are any; else all of them.

    The query's own word is among them only where there is no other: nobody asks why *it* means this and not itself.
    """
    words = [other for other in others if _is_word(run, other)] if _is_word(run, key) else []
    return [word for word in words if word != query] or words or others


def _is_word(run: Run, place: int) -> bool:
    return not run.special[place] and any(map(str.isalnum, run.tokens[place]))


def _name_automatic(walk: Walk, place: int) -> str:
    is_among_words = all(_is_word(walk.layer.run, each) for each in (walk.key, place))
    return "the strongest other word" if is_among_words else "the strongest other key"


def ask_why(run: Run, focus: Focus, rival: int | None = None, weights: Array | None = None) -> str:
    """The question in markdown: why the query looks at the key, why not more, or why not at all.

    It is about the query's weights in this run, (T,), or about others.

    "Not more" is where the rival has more weight: the answer is then what that one has ahead of this one. Without a
    rival, it is the strongest other word where the key is a word, and else the strongest other key.
    """
    query, key = focus.query, focus.key
    weights = run.pattern(focus.layer)[focus.head, query] if weights is None else weights
    if rival is None:
        allowed = np.flatnonzero(run.allowed_in(focus.layer)[query] & ~run.padding)
        others = _choose_alike(run, query, key, [int(other) for other in allowed if other != key])
        rival = max(others, key=lambda other: float(weights[other]), default=key)
    looks = "look at"
    if is_hidden(run, focus):
        looks = "not look at"
    elif weights[key] < (1 - ROUNDING) * weights[rival]:
        looks = "not look more at"
    whom = "itself" if query == key else quote_place(run.tokens, key)
    return f"Why does {quote_place(run.tokens, query)} {looks} {whom}?"


def is_hidden(run: Run, focus: Focus) -> bool:
    """Whether the key is hidden from the query in the focus's layer."""
    return run.why_hidden(focus.layer, focus.query, focus.key) != ""


def name_rivals(found: Explanation) -> dict[str, str]:
    """What may be asked for as rival, as plain text by its word in the link."""
    names, keys = token_names(found.walk.layer.run.tokens), found.rivals.keys
    best = _find_rival(found.walk, found.rivals)
    automatic = "no other key" if best is None else f"{_name_automatic(found.walk, best)}: {names[best]}"
    rivals = {str(key): names[key] for key in sorted(keys.tolist()) if key != found.walk.key}
    return {AUTOMATIC: automatic, MEAN: "the mean over its keys", **rivals}
