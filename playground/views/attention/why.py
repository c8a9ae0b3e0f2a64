"""Why one query looks at one key: the answer in words and bars, its test by other sentences, and the computation."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import pandas as pd

from playground.analysis.attribution import Group as Part
from playground.analysis.attribution import move
from playground.analysis.counterfactuals import (
    TEN_SENTENCES,
    Claim,
    Kind,
    Verdict,
    change_text,
    clean_word,
    compare,
    find_claim,
    judge_nouns,
    judge_swap,
    list_alike,
    measure,
)
from playground.analysis.streams import CHANGES
from playground.analysis.tex import factor, number, sum_of_products
from playground.analysis.walkthrough import list_row_changes
from playground.charts.chart import (
    Columns,
    Control,
    Formula,
    Group,
    Item,
    LabelledBars,
    LabelledRows,
    Options,
    Panel,
    Paragraph,
    Table,
    Widget,
)
from playground.charts.draw import bars
from playground.charts.names import escape_markdown, quote_token, token_names
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.limits import MAX_CHARACTERS
from playground.link.lab import Lab, compute_run, once
from playground.link.query import write_query
from playground.text.wording import write_amount, write_number, write_weight
from playground.views.attention.explanation import (
    Explanation,
    HeadsRun,
    ask_why,
    explain_cell,
    is_hidden,
    name_rivals,
)
from playground.words import say

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


def answer_why(scene: Scene[HeadsRun], options: Options) -> tuple[Group, Iterator[Item], Group]:
    """Return the answer in words and in bars; its test by other sentences, if any; the steps of the computation.

    The test runs its sentences when it is asked for, so that the answer is drawn before.
    """
    run, lab = scene.now.run, scene.now.lab
    items: list[Item] = [Widget("why_arrival")]
    if lab.state.is_random and not options["attention_steps"]:
        items += [Paragraph(say("attention", "random")), Widget("open_trained")]
        return Group("why", tuple(items)), iter(()), _fold_steps(lab, None, options)
    found: Explanation | None = None
    if is_hidden(run, scene.focus):
        items += [Paragraph(ask_why(run, scene.focus), "header"), Paragraph(say("attention", "hidden"))]
    else:
        try:
            found = explain_cell(scene.now, scene.focus, options["attention_rival"])
            items += _describe(scene, found)
        except PlaygroundError as error:
            items.append(Paragraph(escape_markdown(error), "error"))
    return Group("why", tuple(items)), _show_tests(lab, found, options), _fold_steps(lab, found, options)


def _describe(scene: Scene[HeadsRun], found: Explanation) -> Iterator[Item]:
    """The question, the weight beside the rival's, and the lead by kinds of sources."""
    run, opponent = scene.now.run, found.split.opponent
    own = np.zeros(len(run.tokens))
    own[found.rivals.keys] = found.rivals.weights
    yield Paragraph(ask_why(run, scene.focus, opponent, own), "header")
    yield Widget("why_rival", {"names": name_rivals(found)})
    if list_row_changes(found.walk):
        yield Paragraph(say("attention", "row-set"))
    case, numbers = find_reason(found)
    yield Paragraph(say("attention", f"reason-{case}", **numbers))
    if found.has_parts:
        yield _show_parts(found)


def find_reason(found: Explanation) -> tuple[str, dict[str, Any]]:
    """Return the verdict on a cell's score, and its weight, rank, lead and largest part."""
    query, key, rival = found.names
    case, amounts = found.verdict, found.split.amounts
    numbers = {"query": query, "key": key, "weight": found.weight}
    if case != "only":
        numbers |= {"rank": found.rivals.rank, "keys": len(found.rivals.keys), "rival": rival, "lead": found.split.lead}
    if found.has_parts:
        largest = next(iter(amounts))
        numbers |= {"part": PARTS[largest], "amount": amounts[largest]}
    return case, numbers


def _show_parts(found: Explanation) -> LabelledBars[HeadsRun]:
    """Return the lead over the opponent by kinds of sources, the same for every cell, so that nothing below moves."""
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
    return _bars(
        "why_parts",
        bars.contributions([PARTS[group] for group in groups], kinds, amounts, title="part of the difference"),
        alt=say("attention", "parts.alt"),
        caption=say("attention", "parts.caption", key=key, rival=rival, lead=found.split.lead),
    )


def _bars(key: str, drawn: LabelledRows, **chart: Any) -> LabelledBars[HeadsRun]:
    return LabelledBars(key=key, bars=lambda _: drawn, **chart)


# --- the test by other sentences


def find_test(lab: Lab, found: Explanation, typed: str) -> tuple[Claim, dict[Kind, Claim]] | None:
    """Return what other sentences test of a cell, and what the head does in each of them.

    None if the cell has no test: random weights, a masked word, a row that changes set, or too few words.
    """
    walk, text = found.walk, lab.text_key
    if lab.state.is_random or text.hidden or text.tokenizer in ("word", "bpe") or list_row_changes(walk):
        return None
    focus, weights = (walk.query, walk.key), walk.of_query("attn.pattern")
    claim = find_claim(lab.batch, lab.sentence, weights, walk.allowed.tolist(), focus, found.split.opponent)
    if claim is None:
        return None
    alike = list_alike(claim.word(claim.key), claim.text)
    outcomes: dict[Kind, Claim] = {}
    for kind, changed in change_text(claim, clean_word(typed) or next(iter(alike), "")).items():
        other = lab.at(lab.state.with_sentences((changed.text,)))
        try:
            outcome = measure(changed, other.batch, other.run.pattern(walk.layer.layer)[walk.head])
        except PlaygroundError:  # it cannot be read
            continue
        if outcome is not None:
            outcomes[kind] = outcome
    return claim, outcomes


def describe_swap(claim: Claim, after: tuple[float, float]) -> tuple[Verdict, dict[str, Any]]:
    """Return what the swap shows, and the weights of both words in both orders, the larger one's word first."""
    words = [quote_token(claim.word(place)) for place in (claim.key, claim.rival)]
    order = (1, 0) if compare(claim.weights) < 0 else (0, 1)
    names = ("before", "after", "other_before", "other_after")
    weights = [pair[place] for place in order for pair in (claim.weights, after)]
    named = {"word": words[order[0]], "other": words[order[1]]}
    return judge_swap(claim.weights, after), named | dict(zip(names, weights, strict=True))


def _show_tests(lab: Lab, found: Explanation | None, options: Options) -> Iterator[Item]:
    """The verdict of the swap, and a table of three other sentences; nothing if they cannot test the cell."""
    made = None if found is None else find_test(lab, found, options["attention_word"])
    if found is None or made is None or "swap" not in made[1]:
        return
    claim, outcomes = made
    verdict, numbers = describe_swap(claim, outcomes["swap"].weights)
    rows = {
        _link(lab, found, kind, each): [
            f"{before:.2f} → **{after:.2f}**" for before, after in zip(claim.weights, each.weights, strict=True)
        ]
        for kind, each in outcomes.items()
    }
    columns = [say("attention", "test.column", word=quote_token(claim.word(i))) for i in (claim.key, claim.rival)]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    items = (
        Paragraph(say("attention", f"test-{verdict}", **numbers)),
        Table[Any](key="why_test", frame=lambda _: table, is_markdown=True, compares=False),
    )
    yield Group("why_tests", items)


def _link(lab: Lab, found: Explanation, kind: Kind, outcome: Claim) -> str:
    """Return what was done, as a link to it beside the present sentence; only the trained model has such links."""
    title = say("attention", f"test-row-{kind}", sentence=escape_markdown(outcome.text))
    sentences = list(lab.text.sentences)
    sentences[lab.sentence] = outcome.text
    text = "\n".join(sentences)
    if lab["weights"] != "minilm" or len(text) > MAX_CHARACTERS:
        return title
    query, key, rival = outcome.positions
    places = {"layer": found.walk.layer.layer, "head": found.walk.head, "attention_rival": str(rival)}
    values = {**lab.values, **places, "text": text, "query": query, "key": key}
    link = parse_qs(write_query(values, lab.values), keep_blank_values=True)
    link |= {"query": [str(query)], "key": [str(key)]}
    return f"[{title}](attention?{urlencode(link, doseq=True)})"


@once
def judge_ten(lab: Lab, layer: int, head: int) -> Counter[Verdict]:
    """Count the verdicts on a head in ten sentences whose two nouns change places; the model knows their words."""
    counts: Counter[Verdict] = Counter()
    for text, first, second, pronoun in TEN_SENTENCES:
        texts = (text.format(first, second), text.format(second, first))
        other = lab.without_changes.at(lab.state.without_changes.with_sentences(texts))
        runs = [compute_run(other.source, other.key_of(i)) for i in (0, 1)]
        verdict = judge_nouns((first, second, pronoun), runs, layer, head)
        if verdict is not None:
            counts[verdict] += 1
    return counts


# --- the computation behind the cell, in four steps


def _fold_steps(lab: Lab, found: Explanation | None, options: Options) -> Group:
    """Return the computation behind the cell, folded; without one, the panel stays as it is, open or not."""
    items: list[Item] = [Control("attention_why", say("attention", "steps"), say("attention", "steps.help"))]
    if options["attention_steps"] and found is not None:
        items += STEPS[options["attention_why"]](found)
        if lab.text_key.tokenizer == "wordpiece" and not lab.state.is_random:
            items += _ask_more(lab, found)
    return Group("why_steps", (Panel("attention_steps", say("attention", "steps.title"), tuple(items)),))


def _ask_more(lab: Lab, found: Explanation) -> Iterator[Item]:
    """Another word for the test's second sentence, and ten other sentences."""
    text, span = lab.batch.sentences[lab.sentence], lab.batch.offsets[lab.sentence][found.walk.key]
    yield Widget("why_word", {"words": list_alike(text[slice(*span)], text)})
    yield Widget("ten_sentences", {"layer": found.walk.layer.layer, "head": found.walk.head})


def show_sources(found: Explanation) -> Iterator[Item]:
    """The difference of two keys' scores, by what wrote the keys' vectors; in the table, by every pair."""
    if not found.has_parts:
        yield Paragraph(say("attention", "sources-none"), "caption")
        return
    walk, split, (_, key, rival) = found.walk, found.split, found.names
    names, kinds = [source.name for source in split.sources], [source.kind for source in split.sources]
    first = f"s_{{{walk.query},{walk.key}}}"
    second = rf"\bar s_{{{walk.query}}}" if split.opponent is None else f"s_{{{walk.query},{split.opponent}}}"
    yield Formula(
        r"{s = \tfrac{1}{\sqrt{d_\mathrm{head}}} \sum_a \sum_b q_a \cdot k_b} \qquad\allowbreak "
        rf"{{{first} - {second} = {number(split.score)} - {factor(split.opponent_score)} = {number(split.lead)}}}"
    )
    yield Paragraph(say("attention", "sources", key=key, rival=rival))
    lead, rounding = float(split.relative.sum()), abs(split.relative_remainder)
    yield _bars(
        "why_key_sources",
        bars.contributions(names, kinds, split.by_key_source, title="part of the difference"),
        caption=say("attention", "sources.caption", key=key, rival=rival, lead=lead, rounding=rounding),
        alt=say("attention", "sources.alt"),
        table=lambda _: pd.DataFrame(split.relative, names, names).rename_axis("query \\ key"),
    )


def show_competition(explained: Explanation) -> Iterator[Item]:
    """The query's strongest keys, and by how much the chosen one is ahead of each."""
    found, (query, key, _) = explained.rivals, explained.names
    words = (
        Formula(r"w_j = \frac{e^{s_j}}{\sum_i e^{s_i}} \qquad \frac{w_j}{w_i} = e^{s_j - s_i}"),
        Paragraph(say("attention", "competition", query=query, keys=len(found.keys))),
    )
    place = found.rank - 1
    shown = bars.strongest(found.weights, place)
    labels = np.array(token_names(explained.walk.layer.run.tokens))[found.keys]
    texts = [f"{write_weight(found.weights[i])} (score {write_amount(float(found.scores[i]))})" for i in shown]
    colours = bars.highlight(len(shown), int(np.flatnonzero(shown == place)[0]))
    weights = found.weights[shown].tolist()
    columns = {"key": labels, "score": found.scores, "weight": found.weights, "chosen key ahead by": found.lead}
    chart = _bars(
        "why_competition",
        LabelledRows(labels[shown].tolist(), weights, colours, texts, "attention weight"),
        caption=say("attention", "competition.caption", query=query, key=key),
        alt=say("attention", "competition.alt"),
        table=lambda _: pd.DataFrame(columns),
        table_title=say("attention", "competition.table"),
        on_row=lambda row: {"attention_rival": str(found.keys[row])},
    )
    yield Columns((words, (chart,)), (2, 3))


def show_products(explained: Explanation) -> Iterator[Item]:
    """The products of q and k, number by number."""
    walk, (query, key, _) = explained.walk, explained.names
    q, k = (
        vector.astype(np.float64) for vector in (walk.of_query("attn.q"), walk.layer["attn.k"][walk.head, walk.key])
    )
    dot, d_head = float(q @ k), walk.config.head_width
    root, bias = math.sqrt(d_head), float(walk.position_bias()[walk.key])
    order = np.argsort(-np.abs(q * k), kind="stable")
    words = (
        Formula(sum_of_products(r"q \cdot k", q[order], k[order], dot)),
        Formula(
            rf"s = \frac{{q \cdot k}}{{\sqrt{{d_\mathrm{{head}}}}}} = \frac{{{number(dot)}}}{{\sqrt{{{d_head}}}}}"
            rf" = {number(dot / root)}"
        ),
        Paragraph(say("attention", "products", query=query, key=key, size=d_head)),
    )
    names, products = [f"number {i}" for i in range(d_head)], q * k / root
    chart = _bars(
        "why_products",
        bars.contributions(names, ["attention"] * d_head, products, title="part of the score"),
        alt=say("attention", "products.alt"),
        caption=say("attention", "products.caption", root=root, score=dot / root, distance=bias),
        table=lambda _: pd.DataFrame({"q": q, "k": k, "q × k": q * k}).rename_axis("number"),
    )
    yield Columns((words, (chart,)), (2, 3))


def show_moved(explained: Explanation) -> Iterator[Item]:
    """What the weight moves to the query, and what share of everything that is."""
    walk, (query, key, _) = explained.walk, explained.names
    found = move(walk, explained.maps)
    tokens, weights = token_names(walk.layer.run.tokens), walk.of_query("attn.pattern")
    lengths = rf"{number(found.value_norm, 3)} = {number(found.moved_norm, 3)}"
    words: list[Item] = [
        Formula(rf"\lVert w v \rVert = {number(float(weights[walk.key]), 3)} \cdot {lengths}"),
        Formula(rf"\lVert W_O\, w v \rVert = {number(found.written_norm, 3)}"),
    ]
    if math.isfinite(found.output_share):
        words.append(Paragraph(say("attention", "moved", share=write_number(100 * found.output_share, 2))))
    shares = np.where(walk.allowed, found.head_shares, 0)
    shown = bars.strongest(np.abs(shares), walk.key)
    colours = bars.highlight(len(shown), int(np.flatnonzero(shown == walk.key)[0]))
    values = shares[shown].tolist()
    texts = bars.write_amounts(values, "+")
    chart = _bars(
        "why_moved",
        LabelledRows([tokens[i] for i in shown], values, colours, texts, "share of the head's output"),
        caption=say("attention", "moved.caption", query=query, key=key),
        alt=say("attention", "moved.alt"),
        table=lambda _: pd.DataFrame({"weight": weights, "share of the head's output": shares}, tokens),
    )
    yield Columns((tuple(words), (chart,)), (2, 3))


STEPS: Mapping[str, Callable[[Explanation], Iterator[Item]]] = {
    "sources": show_sources,
    "competition": show_competition,
    "products": show_products,
    "what it moves": show_moved,
}
"""By the value of `attention_why`."""
