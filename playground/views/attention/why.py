"""Why one query looks at one key: an answer in words and bars, and the computation behind it in four steps."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attention import Habits
from playground.analysis.attribution import (
    LEAST_TOLD,
    NAMES,
    Competition,
    HeadMaps,
    ScoreSplit,
    Verdict,
    compete,
    describe,
    judge,
    largest_pair,
    move,
    multiply,
    rotary_pairs,
    split_score,
)
from playground.analysis.changes import list_output_changes, list_row_changes
from playground.analysis.stream_sources import CHANGES, StreamSplit
from playground.analysis.tex import factor, number, sum_of_products
from playground.analysis.walkthrough import Walk
from playground.charts import bars, palette
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Curves,
    Formula,
    Group,
    Item,
    LabelledBars,
    Options,
    Panel,
    Paragraph,
    Picture,
    Widget,
)
from playground.charts.figure import Array, Curve, Figure, Mark
from playground.charts.markdown import escape_markdown, quote_place
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.link.opening import Focus
from playground.link.params import AUTOMATIC, MEAN
from playground.model.changes import Change
from playground.runs.encoder_run import LayerRun, Run
from playground.text.wording import (
    join_words,
    lower_first,
    round_parts,
    with_minus,
    write_amount,
    write_number,
    write_weight,
)
from playground.views.attention.counterfactuals import SentenceOfRun, show_test
from playground.views.change_names import name_change

MOST_REASONS = 4
"""Sources that are named of those which speak against a key."""

ROUNDING = 1e-4
"""Share of the largest weight that rounding may take."""

HELP = (
    "sources: what wrote the two vectors that meet. competition: the other keys, in the softmax. "
    "products: q · k, number by number. what it moves: the value behind the weight."
)


@dataclass(frozen=True)
class HeadsRun:
    """A run, and what explains its heads: a page has it in caches, so all of it may raise as a run does."""

    run: Run
    trace_layer: Callable[[int], LayerRun]
    split_stream: Callable[[int], StreamSplit]
    """What each source adds to the vectors that a layer's attention reads; of the number of layers: at the end."""
    head_maps: Callable[[Walk], HeadMaps]
    measure_habits: Callable[[str], Habits]
    """What heads do in `fixed sentences`, or in `this text`."""
    thumbnails: Callable[[bool], Array]
    """Every head's weights, shrunk; without special tokens on request."""
    sentence: SentenceOfRun | None = None
    """The run's sentence, where others can be read in its place."""
    is_random: bool = False
    """Whether the weights are random: nothing was learnt."""


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
    """Whether the mask hides the key from the query."""
    return bool(run.padding[focus.query] or not run.allowed_in(focus.layer)[focus.query, focus.key])


def nearest_head(run: Run, focus: Focus) -> Focus:
    """The focus with the layer and head of this run, or the nearest that it has."""
    config = run.config
    return Focus(min(focus.layer, config.n_layers - 1), min(focus.head, config.n_heads - 1), focus.query, focus.key)


def note_special_tokens(run: Run, count: str = "count") -> str:
    """That special tokens count in numbers which hiding them leaves as they are; empty where there are none."""
    return f"Special tokens {count}, hidden or not." if (run.special & ~run.padding).any() else ""


def say_present_alone(scene: Scene[Any], what: str) -> Iterator[Item]:
    """One sentence, where anything is pinned, on what is shown of the present settings only: a plural."""
    if scene.pinned is not None:
        text = f"This view shows {what} of the present settings alone. **Swap** shows the pinned ones instead."
        yield Paragraph(text, "caption")


def answer_why(scene: Scene[HeadsRun], options: Options) -> tuple[Group, Iterator[Item], Group]:
    """The answer in words and in bars; its test by other sentences, if there is one; the steps of the computation.

    The test runs its sentences when it is asked for, so that the answer is drawn before.
    """
    found, problem = None, None
    if not is_hidden(scene.now.run, scene.focus):
        try:
            found = explain_cell(scene.now, scene.focus, options["attention_rival"])
        except PlaygroundError as error:
            problem = Paragraph(escape_markdown(error), "error")
    question = _ask(scene.now.run, scene.focus, found)
    items: list[Item] = [Widget("why_arrival"), Paragraph(question, "header")]
    if problem is not None:
        return Group("why", (*items, problem)), iter(()), _fold_steps(scene, None, options)
    if found is None:
        items.append(Paragraph(_describe_hidden(scene.now.run, scene.focus)))
    else:
        hidden = f" {note_special_tokens(scene.now.run)}" if options["attention_hide"] else ""
        items.append(Widget("why_rival", {"names": _name_rivals(found)}))
        items.append(Paragraph(f"{_describe_changes(found.walk)}{found.note}{_describe(found, has_bars=True)}{hidden}"))
        items += _show_parts(found)
    has_numbers = found is not None and found.verdict.kind != "not finite"
    explained = found if has_numbers else None
    tests, steps = _show_tests(scene, explained, options), _fold_steps(scene, explained, options)
    return Group("why", (*items, *_answer_pinned(scene, options))), tests, steps


def _ask(run: Run, focus: Focus, found: Explanation | None) -> str:
    """The question about a cell; about what the model itself computes where changes set weights of its row."""
    if found is None or not list_row_changes(found.walk):
        return ask_why(run, focus, None if found is None else found.split.opponent)
    own = np.zeros(len(run.tokens), np.float32)
    own[found.rivals.keys] = found.rivals.weights
    return f"Without your change: {lower_first(ask_why(run, focus, found.split.opponent, own))}"


def _answer_pinned(scene: Scene[HeadsRun], options: Options) -> Iterator[Item]:
    """Why the pinned run looks there, in words; nothing where nothing is pinned."""
    if scene.pinned is None:
        return
    if not scene.same_tokens:
        text = "The pinned settings read other tokens, so these reasons are shown for the present settings alone."
        yield Paragraph(text, "caption")
        return
    focus = nearest_head(scene.pinned.run, scene.focus)
    if is_hidden(scene.pinned.run, focus):
        answer = _describe_hidden(scene.pinned.run, focus)
    else:
        try:
            found = explain_cell(scene.pinned, focus, options["attention_rival"])
            answer = f"{_describe_changes(found.walk)}{found.note}{_describe(found)}"
        except PlaygroundError as error:
            answer = escape_markdown(error)
    name = escape_markdown(scene.pinned_name)
    yield Paragraph(f"**{name}, layer {focus.layer}, head {focus.head}.** {answer}", "caption")


def _describe(found: Explanation, *, has_bars: bool = False) -> str:
    """The answer in words, in markdown; with bars below it, which have the amounts, without them."""
    answer = describe(found.verdict, found.split.lead, has_bars=has_bars)
    return answer if found.verdict.kind == "not finite" else f"{_describe_place(found)} {answer}"


def _describe_hidden(run: Run, focus: Focus) -> str:
    """Why a query gives a key no weight at all."""
    if run.padding[focus.query]:
        return "This query is padding, which is no word: nobody reads what it attends to."
    if run.padding[focus.key]:
        return "This key is padding, which is no word. The mask hides it from every query, so its weight is 0."
    return "This key comes later in the sentence, and the mask is causal. It is hidden from the query: its weight is 0."


def _describe_place(found: Explanation) -> str:
    """The weight, and the score beside the rival's."""
    walk, rivals = found.walk, found.rivals
    tokens, score = walk.layer.run.tokens, float(rivals.scores[rivals.rank - 1])
    n, weight = len(rivals.keys), write_weight(rivals.weights[rivals.rank - 1])
    subject = f"{quote_place(tokens, walk.query)} looks at {quote_place(tokens, walk.key)} with weight **{weight}**"
    if rivals.best_other is None:
        return f"{subject}, its only key."
    lead, other = found.split.lead, found.names[2]
    place = f"the strongest of its {n} keys" if rivals.rank == 1 else f"number {rivals.rank} of its {n} keys"
    if found.rival_place == rivals.best_other:
        other = f"{'the next' if rivals.rank == 1 else 'the strongest'}, {other}"
    side = "above" if lead >= 0 else "below"
    return (
        f"{subject}, {place}. Its score is {write_amount(score)}, {write_amount(abs(lead))} {side} {other}; the "
        "softmax turns scores into weights."
    )


def _describe_changes(walk: Walk) -> str:
    """That changes set weights of this row, and what they make of this one; empty where none does."""
    changes = list_row_changes(walk)
    if not changes:
        return ""
    weight = write_weight(walk.of_query("attn.pattern")[walk.key])
    return (
        f"**Weights of this row are set by {_name_changes(walk, changes)}.** This one is **{weight}** now. "
        "What follows is what the model itself computes before that. "
    )


def _name_changes(walk: Walk, changes: Sequence[Change]) -> str:
    tokens = walk.layer.run.tokens
    what = "your change" if len(changes) == 1 else "your changes"
    return f"{what} {join_words([f'“{escape_markdown(name_change(change, tokens))}”' for change in changes])}"


def _show_parts(found: Explanation) -> Iterator[Item]:
    """The lead over the opponent by kinds of sources, the same for every cell, so that nothing below them moves."""
    if not found.has_parts:
        return
    config = found.walk.config
    is_there = {
        "change": CHANGES in found.split.sources,
        "distance": config.has_position_bias,
        "position": config.has_position_table or config.positions == "none",  # else no vector holds them
    }
    groups = [group for group in NAMES if is_there.get(group, True)]
    amounts = np.array([found.verdict.amounts.get(group, 0.0) for group in groups])
    kinds = ["bias" if group == "others" else group for group in groups]
    _, key, opponent = found.names
    yield _bars(
        "why_parts",
        bars.contributions([NAMES[group] for group in groups], kinds, amounts, title="part of the difference"),
        caption=f"**Score of {key} minus score of {opponent}**, by what a token's vector is the sum of: its word, its "
        "position, what earlier layers added, and what every token gets (segment, biases). To the right a bar speaks "
        f"for {key}, to the left for {opponent}. Together: {write_amount(found.split.lead, '+')}.",
        alt="Bars: parts of the difference of two keys' scores, by kind of source",
    )


def _name_rivals(found: Explanation) -> dict[str, str]:
    """What may be asked for as rival, as plain text by its word in the link."""
    names, keys = token_names(found.walk.layer.run.tokens), found.rivals.keys
    best = _find_rival(found.walk, found.rivals)
    automatic = "no other key" if best is None else f"{_name_automatic(found.walk, best)}: {names[best]}"
    rivals = {str(key): names[key] for key in sorted(keys.tolist()) if key != found.walk.key}
    return {AUTOMATIC: automatic, MEAN: "the mean over its keys", **rivals}


def _bars(key: str, drawn: bars.LabelledRows, **chart: Any) -> LabelledBars[HeadsRun]:
    return LabelledBars(key=key, bars=lambda _: drawn, **chart)


def _show_tests(scene: Scene[HeadsRun], found: Explanation | None, options: Options) -> Iterator[Item]:
    """The test of the answer by other sentences, where there is one."""
    if found is None:
        return
    subject, items = scene.now, list[Item]()
    if subject.sentence is not None:
        try:
            items += show_test(
                subject.sentence,
                found.walk,
                found.split.opponent,
                options["attention_word"],
                is_random=subject.is_random,
            )
        except PlaygroundError as error:
            items.append(Paragraph(escape_markdown(error), "error"))
        items += say_present_alone(scene, "the tests")
    yield Group("why_tests", tuple(items))


def _say_why_not(found: Explanation) -> Iterator[Item]:
    """What spoke against the key or the rival, whichever lost, by what wrote their vectors; the largest first."""
    split, (_, key, rival) = found.split, found.names
    is_no_key = split.opponent is None and split.lead > 0
    if found.verdict.kind not in ("mostly", "mixed") or is_no_key:
        return
    loser, winner = (rival, key) if split.lead > 0 else (key, rival)
    amounts = split.by_key_source * (1 if split.lead > 0 else -1)
    against, in_favour = float(amounts[amounts > 0].sum()), float(-amounts[amounts < 0].sum())
    order = [i for i in np.argsort(-amounts, kind="stable")[:MOST_REASONS] if amounts[i] > 0]
    against, in_favour = round_parts([against, -in_favour], abs(split.lead))
    told = {split.sources[i].name: float(amounts[i]) for i in order}
    rest = against - sum(told.values())
    if rest >= LEAST_TOLD:
        told[f"everything else against {loser}"] = rest
    written = zip(told, round_parts(list(told.values()), against), strict=True)
    reasons = "".join(f"\n- {name}: {write_amount(amount)}" for name, amount in written)
    yield Paragraph(
        f"**Why not {loser}?** The key with the higher score gets more weight. These parts of the two vectors put "
        f"{winner} ahead of {loser}:\n{reasons}"
        f"\n\nTogether {write_amount(against)} against {loser} and {write_amount(-in_favour)} for it: its score is "
        f"{write_amount(against + in_favour)} lower."
    )


def _fold_steps(scene: Scene[HeadsRun], found: Explanation | None, options: Options) -> Group:
    """The computation behind the cell, folded; without one, the panel stays as it is, open or not."""
    shown: list[Item] = []
    if options["attention_steps"] and found is None:
        shown.append(Paragraph("There is nothing to compute for this cell: choose another one.", "caption"))
    elif options["attention_steps"] and found is not None:
        shown += [*say_present_alone(scene, "these four steps"), *STEPS[options["attention_why"]](found)]
    title = "How it comes about: sources, competition, products, what it moves"
    choice = Control("attention_why", "How it comes about", HELP)
    return Group("why_steps", (Panel("attention_steps", title, (choice, *shown)),))


def show_sources(found: Explanation) -> Iterator[Item]:
    """The difference of two keys' scores, by what wrote the keys' vectors and by what wrote the query's."""
    if not found.has_parts:
        yield Paragraph("There is nothing to compare here: the other steps show the computation.", "caption")
        return
    yield from _say_why_not(found)
    walk, split, (query, key, opponent) = found.walk, found.split, found.names
    names, kinds = [source.name for source in split.sources], [source.kind for source in split.sources]
    first = f"s_{{{walk.query},{walk.key}}}"
    second = rf"\bar s_{{{walk.query}}}" if split.opponent is None else f"s_{{{walk.query},{split.opponent}}}"
    yield Formula(
        r"{s = \tfrac{1}{\sqrt{d_\mathrm{head}}} \sum_a \sum_b q_a \cdot k_b} \qquad\allowbreak "
        rf"{{{first} - {second} = {number(split.score)} - {factor(split.opponent_score)} = {number(split.lead)}}}"
    )
    from_query, from_key, amount = largest_pair(split)
    against = ", against the rest" if amount * split.lead < 0 else ""
    yield Paragraph(
        "A vector is the sum of what its sources wrote, so a score is a sum over pairs of sources. The softmax sees "
        f"differences of scores alone; so each part of {key} is shown minus that of {opponent}. By size, the largest "
        f"pair is {from_query.name} at {query} with {from_key.name} at {key} instead of at {opponent}: "
        f"{write_amount(amount, '+')}{against}."
    )
    lead = write_amount(float(split.relative.sum()), "+")
    rounding = write_number(abs(split.relative_remainder), 1)
    sums = f"The bars add up to {lead}. {_describe_exactness(walk)}. Rounding takes {rounding}."
    by_key, by_query = (
        bars.contributions(names, kinds, amounts, title="part of the difference")
        for amounts in (split.by_key_source, split.by_query_source)
    )
    keys = _bars(
        "why_key_sources",
        by_key,
        caption=f"**By what wrote the keys' vectors**: that of {key}, to the right, against that of {opponent}, to "
        f"the left. {sums}",
        alt="Bars: parts of the difference of two keys' scores, by source of the keys' vectors",
        table=lambda _: pd.DataFrame(split.relative, names, names).rename_axis("query \\ key"),
    )
    queries = _bars(
        "why_query_sources",
        by_query,
        caption=f"**By what wrote the query's vector**, that of {query}: the same {lead}, split the "
        "other way. The numbers below the keys' chart have every pair.",
        alt="Bars: parts of the difference of two keys' scores, by source of the query's vector",
    )
    yield Columns(((keys,), (queries,)))


def show_competition(explained: Explanation) -> Iterator[Item]:
    """The query's strongest keys, and by how much the chosen one is ahead of each."""
    walk, found, (query, key, opponent) = explained.walk, explained.rivals, explained.names
    words: list[Item] = [Formula(r"w_j = \frac{e^{s_j}}{\sum_i e^{s_i}} \qquad \frac{w_j}{w_i} = e^{s_j - s_i}")]
    if explained.rival_place is not None:
        lead = float(found.lead[explained.rival_place])
        mine, others = (float(found.weights[i]) for i in (found.rank - 1, explained.rival_place))
        ratio = rf" \approx \frac{{{number(mine)}}}{{{number(others)}}}" if others else ""
        words.append(Formula(rf"e^{{{number(lead)}}} = {number(_exp(lead))}{ratio}"))
        told = (
            f"Every point of score more is a factor of e = 2.72 in weight. {key} is {write_amount(abs(lead))} "
            f"{'ahead of' if lead >= 0 else 'behind'} {opponent}: it has {_times(lead)} the weight."
        )
        words.append(Paragraph(told))
    words.append(Paragraph(f"All {len(found.keys)} weights of {query} add up to 1: a key gains only what others lose."))
    place = found.rank - 1
    shown = bars.strongest(found.weights, place)
    labels = np.array(token_names(walk.layer.run.tokens))
    scores = [f"score {write_amount(float(score))}" for score in found.scores]
    texts = [
        f"{write_weight(found.weights[i])} ({scores[i]}{'' if i == place else f', × {found.ratios[i]:.2g}'})"
        for i in shown
    ]
    left_out = "" if len(shown) == len(found.keys) else f" The strongest of {len(found.keys)} keys are drawn."
    chosen = int(np.flatnonzero(shown == place)[0])
    columns = {
        "key": labels[found.keys],
        "score": found.scores,
        "weight": found.weights,
        "chosen key ahead by": found.lead,
        "its weight over the chosen key's": found.ratios,
    }
    chart = _bars(
        "why_competition",
        bars.LabelledRows(
            labels[found.keys[shown]].tolist(),
            found.weights[shown].tolist(),
            bars.highlight(len(shown), chosen),
            texts,
            "attention weight",
        ),
        caption=f"**What {query} may look at.** Bars are weights. In brackets: the score, and how many times the "
        f"weight of {key} that is. The amber bar is {key}.{left_out}",
        alt="Bars: attention weights of one query's keys",
        table=lambda _: pd.DataFrame(columns),
        table_title="The numbers: click a row to choose the rival",
        on_row=lambda row: {"attention_rival": str(found.keys[row])},
    )
    yield Columns((tuple(words), (chart,)), (2, 3))


def show_products(explained: Explanation) -> Iterator[Item]:
    """The products of q and k from the largest on, and their running sum."""
    walk, (query, key, _) = explained.walk, explained.names
    found = multiply(walk)
    q, k = walk.of_query("attn.q")[found.numbers], walk.layer["attn.k"][walk.head, walk.key][found.numbers]
    dot, d_head = float(found.running[-1]), walk.config.head_width
    root = math.sqrt(d_head)
    half = 1 + int(np.argmax(np.abs(found.products).cumsum() >= np.abs(found.products).sum() / 2))
    words = (
        Formula(sum_of_products(r"q \cdot k", q, k, dot)),
        Formula(
            rf"s = \frac{{q \cdot k}}{{\sqrt{{d_\mathrm{{head}}}}}} = \frac{{{number(dot)}}}{{\sqrt{{{d_head}}}}}"
            rf" = {number(dot / root)}"
        ),
        Paragraph(
            f"{query} asks with its query vector q, {key} answers with its key vector k: {d_head} numbers each. "
            f"Half of their products' total size is in {half} of {d_head}."
        ),
    )
    columns = {"number": found.numbers, "q": q, "k": k, "q × k": found.products, "sum so far": found.running}
    bias = float(walk.position_bias()[walk.key])
    ends = (
        f"the score, {dot / root:.4g}" if not bias else f"{dot / root:.4g}; the distance adds {bias:.4g} to the score"
    )
    ends = with_minus(ends)
    chart = Picture[HeadsRun](
        key="why_products",
        alt="Bars: products of query and key; line: their running sum",
        caption=f"**All {d_head} products**, each over √d_head = {root:.4g}. Blue: one product. Amber: their sum "
        f"so far, which ends at {ends}.",
        figure=lambda _: running_sum(found.numbers, found.products / root, found.running / root),
        table=lambda _: pd.DataFrame(columns),
        compares=False,
    )
    yield Columns((words, (chart,)), (2, 3))
    if walk.config.positions == "rotary":
        yield from _show_pairs(explained)


def _show_pairs(explained: Explanation) -> Iterator[Item]:
    """With rotary positions: the same query and key at any distance, by pairs of features that turn fast or slowly."""
    walk, (query, key, _) = explained.walk, explained.names
    pairs = rotary_pairs(walk)
    half = (len(pairs.frequencies) + 1) // 2
    parts = {"fast pairs": slice(None, half), "slow pairs": slice(half, None)}
    now = {name: float(pairs.now[part].sum()) for name, part in parts.items()}
    most = max(len(walk.layer.run.tokens) - 1, 8)
    distances = np.arange(-most, most + 1, dtype=np.float64)
    by_pair = pairs.at(distances)
    lines = {"the score": by_pair.sum(axis=0)} | {name: by_pair[part].sum(axis=0) for name, part in parts.items()}
    colours = {"the score": palette.ATTENTION, "fast pairs": palette.Q, "slow pairs": palette.K}
    frame = pd.DataFrame(lines, pd.Index(distances.astype(int), name="query − key"))
    yield Curves[HeadsRun](
        key="why_rotation",
        alt="Lines: the score of the same two vectors at other distances, and its parts by fast and slow pairs.",
        caption=f"**The same two words further apart or closer.** Queries and keys turn by their positions, so the "
        f"score of {query} with {key} changes with their distance alone. Here, at {pairs.distance:+d} tokens, fast "
        f"pairs add {write_number(now['fast pairs'])} and slow pairs {write_number(now['slow pairs'])}. Fast pairs "
        "turn a radian in a few tokens and tell neighbours apart; slow ones hardly change with the distance, and can "
        "compare what words mean.",
        curves=lambda _: [Curve(name, distances, line, colours[name]) for name, line in lines.items()],
        x=Axis("query − key, in tokens"),
        y=[lambda _: {"title": "part of the score"}],
        marks=(Mark(pairs.distance, f"here: {pairs.distance:+d}"),),
        height=340,
        table=lambda _: frame,
        compares=False,
    )


def running_sum(numbers: Any, products: Array, running: Array) -> Figure:
    """Products as bars, in their order, and a line for their sum so far; `numbers` say where each stands in q and k."""
    x = np.arange(1, len(products) + 1)
    pieces = {
        "type": "bar",
        "x": x,
        "y": products.astype(np.float32),
        "customdata": numbers.astype(np.int32),
        "marker": {"color": palette.Q},
        "name": "one product",
        "hovertemplate": "number %{customdata}: %{y:.4g}",
    }
    sums = figures.Curve("sum so far", x, running.astype(np.float32), palette.K, hover="sum so far: %{y:.4g}", marker=4)
    layout = {
        "xaxis": {"title": "products, the largest size first", "fixedrange": True, "zeroline": False},
        "yaxis": {"title": "part of the score", "fixedrange": True},
        "hovermode": "x unified",
    }
    return figures.style([pieces, *figures.curve_traces(sums)], layout, height=340, legend=True)


def show_moved(explained: Explanation) -> Iterator[Item]:
    """What the weight moves to the query, and what share of everything that is."""
    walk, (query, key, _) = explained.walk, explained.names
    changes = list_output_changes(walk)
    if changes:
        yield Paragraph(
            f"What the head gathers is then set by {_name_changes(walk, changes)}: it goes no further as shown here."
        )
    found = move(walk, explained.maps)
    tokens, weights = token_names(walk.layer.run.tokens), walk.of_query("attn.pattern")
    lengths = rf"{number(found.value_norm, 3)} = {number(found.moved_norm, 3)}"
    told = (
        f"Behind $W_O$ this is {_share(found.output_share)} of attention's output, all heads together (by projection)."
    )
    if walk.config.residual:
        told += f" Its length is {_share(found.stream_share)} of that of the token's vector, which it is added to."
    else:
        told += " There is no residual connection: the token's own vector is not added to it."
    if found.token != walk.query:
        told += (
            f" With `head_merge = reshape` it is written to {quote_place(walk.layer.run.tokens, found.token)}, "
            f"not to {query}."
        )
    words = (
        Formula(rf"\lVert w v \rVert = {number(float(weights[walk.key]), 3)} \cdot {lengths}"),
        Formula(rf"\lVert W_O\, w v \rVert = {number(found.written_norm, 3)}"),
        Paragraph(told),
    )
    shares = np.where(walk.allowed, found.head_shares, 0)
    shown = bars.strongest(np.abs(shares), walk.key)
    chosen = int(np.flatnonzero(shown == walk.key)[0])
    chart = _bars(
        "why_moved",
        bars.LabelledRows(
            [tokens[i] for i in shown],
            shares[shown].tolist(),
            bars.highlight(len(shown), chosen),
            bars.write_amounts(shares[shown].tolist(), "+"),
            "share of the head's output",
        ),
        caption=f"**Whose values make up the head's output for {query}**, z = Σ w v? A key's share is its w v, "
        "projected on z: (w v) · z / ‖z‖². Shares add up to 1; one below 0 pulls against the others. A heavy "
        f"weight on a short value moves little (Kobayashi et al. 2020). The amber bar is {key}.",
        alt="Bars: each key's share of the head's output",
        table=lambda _: pd.DataFrame({"weight": weights, "share of the head's output": shares}, tokens),
    )
    yield Columns((words, (chart,)), (2, 3))


def _describe_exactness(walk: Walk) -> str:
    """On what condition the sum is exact."""
    config = walk.config
    before = config.norm_placement == "pre" or config.embedding_norm or walk.layer.layer > 0
    if config.norm == "none" or not before:
        return "No norm stands in the way, so the sum is exact"
    return "The sum is exact, with each norm at the scale of this run; without a source, that would be another"


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _times(lead: float) -> str:
    return f"{_exp(lead):.2g} times" if _exp(lead) < math.inf else "∞ times"


def _share(x: float) -> str:
    return f"{x:.1%}" if math.isfinite(x) else "no measurable share"


STEPS: Mapping[str, Callable[[Explanation], Iterator[Item]]] = {
    "sources": show_sources,
    "competition": show_competition,
    "products": show_products,
    "what it moves": show_moved,
}
"""By the value of `attention_why`."""
