"""Why one query looks at one key: the answer in words and bars, its tests, and the computation behind it."""

from collections.abc import Iterator, Mapping

import numpy as np

from playground.analysis.attribution import NAMES, describe
from playground.analysis.changes import list_row_changes
from playground.analysis.stream_sources import CHANGES
from playground.analysis.walkthrough import Walk
from playground.charts import bars
from playground.charts.chart import Control, Group, Item, LabelledBars, Options, Panel, Paragraph, Widget
from playground.charts.markdown import escape_markdown, quote_place
from playground.charts.scene import Scene, note_other_tokens
from playground.errors import PlaygroundError
from playground.link.opening import Focus
from playground.runs.encoder_run import Hidden, Run
from playground.text.wording import lower_first, write_amount, write_weight
from playground.views.attention.counterfactuals import show_test
from playground.views.attention.explanation import Explanation, HeadsRun, ask_why, explain_cell, is_hidden, name_rivals
from playground.views.attention.notes import name_row_changes, note_special_tokens, say_present_alone
from playground.views.attention.why_steps import STEPS

HELP = (
    "sources: what wrote the two vectors that meet. competition: the other keys, in the softmax. "
    "products: q · k, number by number. what it moves: the value behind the weight."
)


def answer_why(scene: Scene[HeadsRun], options: Options) -> tuple[Group, Iterator[Item], Group]:
    """The answer in words and in bars; its test by other sentences, if there is one; the steps of the computation.

    The test runs its sentences when it is asked for, so that the answer is drawn before.
    """
    if scene.now.is_random and not options["attention_steps"]:
        said = "The weights are random: nothing was learnt, so there is no why. The steps below show the computation."
        items: list[Item] = [Widget("why_arrival"), Paragraph(said), Widget("open_trained")]
        return Group("why", tuple(items)), iter(()), _fold_steps(scene, None, options)
    found, problem = None, None
    if not is_hidden(scene.now.run, scene.focus):
        try:
            found = explain_cell(scene.now, scene.focus, options["attention_rival"])
        except PlaygroundError as error:
            problem = Paragraph(escape_markdown(error), "error")
    question = _ask(scene.now.run, scene.focus, found)
    items = [Widget("why_arrival"), Paragraph(question, "header")]
    if problem is not None:
        return Group("why", (*items, problem)), iter(()), _fold_steps(scene, None, options)
    if found is None:
        items.append(Paragraph(_describe_hidden(scene.now.run, scene.focus)))
    else:
        hidden = f" {note_special_tokens(scene.now.run)}" if options["attention_hide"] else ""
        items.append(Widget("why_rival", {"names": name_rivals(found)}))
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
        yield Paragraph(note_other_tokens("these reasons"), "caption")
        return
    focus = scene.focus.within(scene.pinned.run.config)
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
    half = run.config.window_of(focus.layer) // 2
    causes: Mapping[Hidden, str] = {
        "padding query": "This query is padding, which is no word: nobody reads what it attends to.",
        "padding key": "This key is padding, which is no word. The mask hides it from every query, so its weight is 0.",
        "causal": "This key comes later in the sentence, and the mask is causal. It is hidden from the query: its "
        "weight is 0.",
        "window": f"This key is further away than {half} {'token' if half == 1 else 'tokens'}, and this layer has a "
        "window. It is hidden from the query: its weight is 0.",
    }
    return causes[run.why_hidden(focus.layer, focus.query, focus.key)]


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
        f"**Weights of this row are set by {name_row_changes(walk, changes)}.** This one is **{weight}** now. "
        "What follows is what the model itself computes before that. "
    )


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
    parts = bars.contributions([NAMES[group] for group in groups], kinds, amounts, title="part of the difference")
    yield LabelledBars[HeadsRun](
        key="why_parts",
        bars=lambda _: parts,
        caption=f"**Score of {key} minus score of {opponent}**, by what a token's vector is the sum of: its word, its "
        "position, what earlier layers added, and what every token gets (segment, biases). To the right a bar speaks "
        f"for {key}, to the left for {opponent}. Together: {write_amount(found.split.lead, '+')}.",
        alt="Bars: parts of the difference of two keys' scores, by kind of source",
    )


def _show_tests(scene: Scene[HeadsRun], found: Explanation | None, options: Options) -> Iterator[Item]:
    """The test of the answer by other sentences, where there is one."""
    if found is None:
        return
    items: list[Item] = []
    try:
        items += show_test(scene.now.lab, found.walk, found.split.opponent, options["attention_word"])
    except PlaygroundError as error:
        items.append(Paragraph(escape_markdown(error), "error"))
    items += say_present_alone(scene, "the tests")
    yield Group("why_tests", tuple(items))


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
