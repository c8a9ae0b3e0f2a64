"""Why one query looks at one key: the answer in words and bars, and the computation."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attribution import (
    Claim,
    HeadMaps,
    ScoreSplit,
    Verdict,
    destination,
    find_claim,
    head_maps,
    judge,
    judge_swap,
    measure,
    move,
    rank_keys,
    split_score,
    swap_words,
)
from playground.analysis.attribution import Group as Part
from playground.analysis.streams import CHANGES, Parts, split_stream
from playground.analysis.walkthrough import Walk, list_row_changes
from playground.charts.chart import (
    Button,
    Group,
    Item,
    LabelledBars,
    Menu,
    Options,
    Paragraph,
    Table,
)
from playground.charts.draw import bars
from playground.charts.figure import Array
from playground.charts.names import escape_markdown, quote_place, quote_token, token_names
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.language.family import STOPS
from playground.link import params
from playground.link.lab import Lab, once
from playground.link.opening import Focus
from playground.link.params import AUTOMATIC, MEAN
from playground.runs.encoder_run import Run
from playground.text.wording import factor, number, write_number
from playground.words import say

ROUNDING = 1e-4
"""Share of the largest weight that rounding may take."""

PARTS: Mapping[Part, str] = {
    "token": "the tokens",
    "position": "their positions",
    "distance": "their distances",
    "attention": "earlier attention",
    "feed-forward": "earlier feed-forward",
    "change": "your changes",
    "others": "segment and biases",
}
"""What the groups of sources are called."""


@once
def _stream_of(lab: Lab, layer: int) -> Parts:
    return split_stream(lab.run, lab.encoder, layer)


@once
def _head_maps(lab: Lab, layer: int, head: int, piece: int) -> HeadMaps:
    return head_maps(lab.encoder, layer, head, piece)


@dataclass(frozen=True)
class Explanation:
    """What explains one cell of a head's map."""

    walk: Walk
    maps: HeadMaps
    split: ScoreSplit
    rivals: Mapping[int, float]
    """Weights of the query's keys, the highest score first."""
    strongest: int | None
    verdict: Verdict

    @property
    def has_parts(self) -> bool:
        """Whether the score's parts add up to the lead over an opponent."""
        return self.verdict not in ("only", "unknown")

    @property
    def names(self) -> tuple[str, str, str]:
        """The query, the key and its rival in markdown."""
        tokens, opponent = self.walk.layer.run.tokens, self.split.opponent
        query, key = quote_place(tokens, self.walk.query), quote_place(tokens, self.walk.key)
        return query, key, say("attention", "rival-mean") if opponent is None else quote_place(tokens, opponent)


def explain_cell(lab: Lab, focus: Focus, rival: str = AUTOMATIC) -> Explanation:
    """Return what explains a cell, beside the rival of `attention_rival`, or the strongest; raises as the run."""
    walk = Walk(lab.layer(focus.layer), focus.head, focus.query, focus.key)
    stream, rivals = _stream_of(lab, focus.layer), rank_keys(walk)
    maps = _head_maps(lab, focus.layer, focus.head, destination(walk)[1])
    strongest = _find_rival(lab.run, focus, walk.unmasked())
    opponent = None if rival == MEAN else strongest
    if rival.isdecimal() and int(rival) != walk.key and int(rival) in rivals:
        opponent = int(rival)
    split = split_score(walk, stream, maps, opponent)
    return Explanation(walk, maps, split, rivals, strongest, judge(split, len(rivals)))


def _find_rival(run: Run, focus: Focus, weights: Array) -> int | None:
    """Return the strongest other key by weight or score, (T,): beside a word another word, if any."""

    def is_word(place: int) -> bool:
        return not run.special[place] and any(map(str.isalnum, run.tokens[place]))

    allowed = run.allowed_in(focus.layer)[focus.query] & ~run.padding
    others = [int(each) for each in np.argsort(-weights, kind="stable") if allowed[each] and each != focus.key]
    words = [other for other in others if is_word(other)] if is_word(focus.key) else []
    return next(iter([word for word in words if word != focus.query] or words or others), None)


def is_hidden(run: Run, focus: Focus) -> bool:
    """Return whether the key is hidden from the query."""
    return run.why_hidden(focus.layer, focus.query, focus.key) != ""


def ask_why(run: Run, focus: Focus) -> str:
    """Return the question (markdown): why the query looks at the key, not more, or not at all."""
    weights = run.pattern(focus.layer)[focus.head, focus.query]
    rival = _find_rival(run, focus, weights)
    is_less = rival is not None and weights[focus.key] < (1 - ROUNDING) * weights[rival]
    case = "hidden" if is_hidden(run, focus) else "less" if is_less else "more"
    query, key = quote_place(run.tokens, focus.query), quote_place(run.tokens, focus.key)
    return say("attention", f"question-{case}", query=query, key=key)


def answer_why(scene: Scene[Lab], options: Options) -> Group:
    """Return the answer; of random weights, a way to trained ones."""
    lab, run = scene.now, scene.now.run
    if lab.state.is_random:
        return Group("why", (Paragraph(say("attention", "random")), _open_trained(lab)))
    header = Paragraph(ask_why(run, scene.focus), "header")
    if is_hidden(run, scene.focus):
        return Group("why", (header, Paragraph(say("attention", "hidden"))))
    return Group("why", (header, *_describe(explain_cell(lab, scene.focus, options["attention_rival"]))))


def _open_trained(lab: Lab) -> Item:
    settings = {key: lab[key] for key, stops in STOPS.items() if lab[key] in stops}
    chosen = {"weights": "english", "untrained": False, "causal": False, "seed": 0}
    chosen |= params.english_defaults(settings) | settings
    return Button("open_trained", say("attention", "open-trained"), chosen, icon=":material/school:")


def _describe(found: Explanation) -> Iterator[Item]:
    if list_row_changes(found.walk):
        yield Paragraph(say("attention", "row-set"))
    case, numbers = find_reason(found)
    yield Paragraph(say("attention", f"reason-{case}", **numbers))
    if found.has_parts:
        yield _show_parts(found)


def _offer_rivals(found: Explanation) -> Menu:
    names, best = token_names(found.walk.layer.run.tokens), found.strongest
    strongest = say("attention", "rival-none") if best is None else say("attention", "rival-best", key=names[best])
    rivals = {str(key): names[key] for key in sorted(found.rivals) if key != found.walk.key}
    rivals = {AUTOMATIC: strongest, MEAN: say("attention", "rival-mean"), **rivals}
    return Menu("attention_rival", say("attention", "rival"), rivals, say("attention", "rival.help"))


def find_reason(found: Explanation) -> tuple[str, dict[str, Any]]:
    """Return the verdict on a cell's score; its own weight, rank, lead and largest part."""
    query, key, rival = found.names
    case, amounts, rivals = found.verdict, found.split.amounts, found.rivals
    numbers = {"query": query, "key": key, "weight": rivals[found.walk.key]}
    if case != "only":
        numbers |= {
            "rank": [*rivals].index(found.walk.key) + 1,
            "keys": len(rivals),
            "rival": rival,
            "lead": found.split.lead,
        }
    if found.has_parts:
        largest = next(iter(amounts))
        numbers |= {"part": PARTS[largest], "amount": amounts[largest]}
    return case, numbers


def _show_parts(found: Explanation) -> LabelledBars[Lab]:
    """Return the lead by kinds of sources, the same for every cell, so that nothing below moves."""
    config = found.walk.config
    is_there = {
        "change": CHANGES in found.split.sources,
        "distance": config.has_position_bias,
        "position": config.has_position_table or config.positions == "none",  # else no vector holds them
    }
    groups = [group for group in PARTS if is_there.get(group, True)]
    amounts = np.array([found.split.amounts.get(group, 0.0) for group in groups])
    kinds = ["bias" if group == "others" else group for group in groups]
    _, key, rival = found.names
    return LabelledBars(
        key="why_parts",
        **bars.contributions([PARTS[group] for group in groups], kinds, amounts, "part of the difference"),
        alt=say("attention", "parts.alt"),
        caption=say("attention", "parts.caption", key=key, rival=rival, lead=found.split.lead),
        controls=(_offer_rivals(found),),
    )


# --- the computation behind the cell


def _show_sources(found: Explanation, lab: Lab) -> Iterator[Item]:
    if not found.has_parts:
        yield Paragraph(say("attention", "sources-none"), "caption")
        return
    walk, split, (_, key, rival) = found.walk, found.split, found.names
    names, kinds = [source.name for source in split.sources], [source.kind for source in split.sources]
    first = f"s_{{{walk.query},{walk.key}}}"
    second = rf"\bar s_{{{walk.query}}}" if split.opponent is None else f"s_{{{walk.query},{split.opponent}}}"
    yield Paragraph(
        r"{s = \tfrac{1}{\sqrt{d_\mathrm{head}}} \sum_a \sum_b q_a \cdot k_b} \qquad\allowbreak "
        rf"{{{first} - {second} = {number(split.score)} - {factor(split.opponent_score)} = {number(split.lead)}}}",
        "formula",
    )
    yield Paragraph(say("attention", "sources", key=key, rival=rival))
    lead, rounding = float(split.relative.sum()), abs(split.relative_remainder)
    yield LabelledBars[Lab](
        key="why_key_sources",
        **bars.contributions(names, kinds, split.by_key_source, "part of the difference"),
        caption=say("attention", "sources.caption", key=key, rival=rival, lead=lead, rounding=rounding),
        alt=say("attention", "sources.alt"),
        table=lambda _: pd.DataFrame(split.relative, names, names).rename_axis("query \\ key"),
    )


def find_swap(lab: Lab, found: Explanation) -> tuple[Claim, Claim] | None:
    """Return the words' weights as they stand and swapped with the rival's word; None where that tests nothing."""
    walk, text = found.walk, lab.text_key
    if lab.state.is_random or text.hidden or text.tokenizer in ("word", "bpe") or list_row_changes(walk):
        return None
    focus, weights = (walk.query, walk.key), walk.of_query("attn.pattern")
    claim = find_claim(lab.batch, lab.sentence, weights, walk.allowed.tolist(), focus, found.split.opponent)
    if claim is None:
        return None
    swapped = swap_words(claim)
    other = lab.at(lab.state.with_sentences((swapped.text,)))
    try:
        measured = measure(swapped, other.batch, other.run.pattern(walk.layer.layer)[walk.head])
    except PlaygroundError:  # it cannot be read
        return None
    return None if measured is None else (claim, measured)


def _show_swap(found: Explanation, lab: Lab) -> Iterator[Item]:
    claims = find_swap(lab, found)
    if claims is None:
        yield Paragraph(say("attention", "swap-none"), "caption")
        return
    before, after = claims
    words = [before.word(place) for place in (before.key, before.rival)]
    names = [say("attention", "swap.weight", word=quote_token(word)) for word in words]
    rows = {escape_markdown(claim.text): [f"{weight:.2f}" for weight in claim.weights] for claim in claims}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=names)
    yield Paragraph(say("attention", f"swap-{judge_swap(before.weights, after.weights)}"))
    yield Table[Any](key="why_swap", frame=lambda _: table, is_markdown=True, compares=False)


def _show_moved(found: Explanation, lab: Lab) -> Iterator[Item]:
    walk, (query, key, _) = found.walk, found.names
    shares, length, written, whole = move(walk, found.maps)
    tokens, weights = token_names(walk.layer.run.tokens), walk.of_query("attn.pattern")
    weight = float(weights[walk.key])
    lengths = rf"{number(length, 3)} = {number(weight * length, 3)}"
    yield Paragraph(rf"\lVert w v \rVert = {number(weight, 3)} \cdot {lengths}", "formula")
    yield Paragraph(rf"\lVert W_O\, w v \rVert = {number(written, 3)}", "formula")
    if math.isfinite(whole):
        yield Paragraph(say("attention", "moved", share=write_number(100 * whole, 2)))
    shares = np.where(walk.allowed, shares, 0)
    shown = bars.strongest(np.abs(shares), walk.key).tolist()
    values = shares[shown].tolist()
    yield LabelledBars[Lab](
        key="why_moved",
        labels=[tokens[i] for i in shown],
        values=values,
        colours=bars.highlight(len(shown), shown.index(walk.key)),
        texts=bars.write_amounts(values, "+"),
        title="share of the head's output",
        caption=say("attention", "moved.caption", query=query, key=key),
        alt=say("attention", "moved.alt"),
        table=lambda _: pd.DataFrame({"weight": weights, "share of the head's output": shares}, tokens),
    )


STEPS: Mapping[str, Callable[[Explanation, Lab], Iterator[Item]]] = {
    "sources": _show_sources,
    "swap two words": _show_swap,
    "what it moves": _show_moved,
}
"""By the value of `attention_view`."""
