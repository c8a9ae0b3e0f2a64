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
from playground.analysis.streams import StreamSplit, split_stream
from playground.analysis.walkthrough import Walk
from playground.charts.figure import Array
from playground.charts.names import quote_place, token_names
from playground.errors import InputError
from playground.link.lab import Lab, compute_run, once
from playground.link.opening import Focus
from playground.link.params import AUTOMATIC, MEAN
from playground.runs.encoder_run import Run
from playground.words import say

ROUNDING = 1e-4
"""Share of the largest weight that rounding may take."""


@dataclass(frozen=True, eq=False)
class HeadsRun:
    """A run, and the lab that explains its heads; all of it may raise as a run does."""

    lab: Lab
    run: Run

    def measure_habits(self, source: str) -> Habits:
        """Return what heads do in `fixed sentences`, or in `this text`."""
        return measure_habits([self.run]) if source == "this text" else _habits_in_probes(self.lab.without_changes)


@once
def stream_of(lab: Lab, layer: int) -> StreamSplit:
    """Return what each source adds to the vectors that a layer reads; of the number of layers: to the final ones."""
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

    @property
    def has_parts(self) -> bool:
        """Whether there is an opponent, and the score's parts add up to the lead over it."""
        return self.verdict not in ("only", "unknown")

    @property
    def weight(self) -> float:
        """What the model itself gives the key, before changes that set weights of the row."""
        return float(self.rivals.weights[self.rivals.rank - 1])

    @property
    def names(self) -> tuple[str, str, str]:
        """The query, the key and its rival in markdown."""
        tokens, opponent = self.walk.layer.run.tokens, self.split.opponent
        query, key = quote_place(tokens, self.walk.query), quote_place(tokens, self.walk.key)
        return query, key, say("attention", "rival-mean") if opponent is None else quote_place(tokens, opponent)


def explain_cell(subject: HeadsRun, focus: Focus, rival: str = AUTOMATIC) -> Explanation:
    """Return what explains a cell, set beside a rival, as `attention_rival` names it; raises as the run.

    By default, and if the rival cannot be one, that is the strongest other word, or the strongest other key.
    """
    walk = Walk(subject.lab.layer(focus.layer), focus.head, focus.query, focus.key)
    stream, rivals = stream_of(subject.lab, focus.layer), compete(walk)
    maps = _head_maps(subject.lab, focus.layer, focus.head, destination(walk)[1])
    opponent = find_rival(subject.run, focus, walk.unmasked())
    if rival == MEAN:
        opponent = None
    elif rival != AUTOMATIC and int(rival) != walk.key and int(rival) in rivals.keys:
        opponent = int(rival)
    split = split_score(walk, stream, maps, opponent)
    return Explanation(walk, maps, split, rivals, judge(split, len(rivals.keys)))


def find_rival(run: Run, focus: Focus, weights: Array) -> int | None:
    """Return the key with the most weight, or score, (T,), beside this one, among words if this is one; None without.

    Heads that find no word look at [CLS] or [SEP]: as the rival of a word it would say little about that word. The
    query's own word is the last choice: nobody asks why *it* means this and not itself.
    """
    allowed = run.allowed_in(focus.layer)[focus.query] & ~run.padding
    others = [int(each) for each in np.argsort(-weights, kind="stable") if allowed[each] and each != focus.key]
    words = [other for other in others if _is_word(run, other)] if _is_word(run, focus.key) else []
    return next(iter([word for word in words if word != focus.query] or words or others), None)


def _is_word(run: Run, place: int) -> bool:
    return not run.special[place] and any(map(str.isalnum, run.tokens[place]))


def ask_why(run: Run, focus: Focus, rival: int | None = None, weights: Array | None = None) -> str:
    """Return the question in markdown: why the query looks at the key, why not more, or why not at all.

    Args:
        run: whose tokens are named.
        focus: the cell.
        rival: with more weight than the key's, it makes the question "not more"; by default as of `explain_cell`.
        weights: (T,), the query's, if not the run's.
    """
    query, key = focus.query, focus.key
    weights = run.pattern(focus.layer)[focus.head, query] if weights is None else weights
    rival = find_rival(run, focus, weights) if rival is None else rival
    is_less = rival is not None and weights[key] < (1 - ROUNDING) * weights[rival]
    case = "hidden" if is_hidden(run, focus) else "less" if is_less else "more"
    return say("attention", f"question-{case}", query=quote_place(run.tokens, query), key=quote_place(run.tokens, key))


def is_hidden(run: Run, focus: Focus) -> bool:
    """Whether the key is hidden from the query in the focus's layer."""
    return run.why_hidden(focus.layer, focus.query, focus.key) != ""


def name_rivals(found: Explanation) -> dict[str, str]:
    """Return what may be asked for as rival, as plain text by its word in the link."""
    walk, names = found.walk, token_names(found.walk.layer.run.tokens)
    best = find_rival(walk.layer.run, Focus(walk.layer.layer, walk.head, walk.query, walk.key), walk.unmasked())
    automatic = say("attention", "rival-none") if best is None else say("attention", "rival-best", key=names[best])
    rivals = {str(key): names[key] for key in sorted(found.rivals.keys.tolist()) if key != walk.key}
    return {AUTOMATIC: automatic, MEAN: say("attention", "rival-mean"), **rivals}
