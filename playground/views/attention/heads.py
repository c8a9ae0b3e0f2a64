"""Heads by what they do, and a token's stream: which heads link two tokens, what each is known for, what writes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attention import POSITION_ONLY, PROBES, Habits, search_heads
from playground.charts.chart import Control, Group, Item, LabelledBars, Options, Paragraph, Table, Widget
from playground.charts.draw.bars import contributions
from playground.charts.names import escape_markdown, quote_place, token_names
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.views.attention.explanation import HeadsRun, stream_of
from playground.words import say

MOST_LINKING = 3
"""Heads in the row on top of the page."""


def list_linking_heads(run: Run, focus: Focus) -> Widget:
    """Return the row of the heads with the most weight from the query to the key, the way into the page."""
    names = token_names(run.tokens)
    pair = {"query": names[focus.query], "key": names[focus.key]}
    data: dict[str, Any] = {"title": say("attention", "linking", **pair), "heads": []}
    if _is_hidden_everywhere(run, focus):
        data["title"] = say("attention", "linking-hidden", **pair)
    else:
        found = search_heads(run, focus.query, focus.key)["weight"].dropna().head(MOST_LINKING).reset_index()
        data["heads"] = [tuple(head) for head in found.astype(object).to_numpy().tolist()]
    n_heads = run.config.n_layers * run.config.n_heads
    return Widget("linking_heads", {**data, "place": (focus.layer, focus.head), "n_heads": n_heads})


def show_linking_heads(scene: Scene[HeadsRun], options: Options) -> Iterator[Item]:
    """Every head's weight from the query to the key, the largest first."""
    run, focus = scene.now.run, scene.focus
    query, key = (quote_place(run.tokens, place) for place in (focus.query, focus.key))
    if _is_hidden_everywhere(run, focus):
        yield Paragraph(say("attention", "linking-hidden", query=query, key=key))
        return
    found = search_heads(run, focus.query, focus.key)
    layer, head = found.index[0]
    first, n_first = found["weight"].iloc[0], int((found["rank"] == 1).sum())
    numbers = {"weight": first, "n_first": n_first, "n_heads": len(found)}
    yield Paragraph(say("attention", "link", query=query, key=key, layer=layer, head=head, **numbers))
    yield Paragraph(say("attention", "link.caption"), "caption")
    yield _head_table(
        "heads_that_link",
        options,
        frame=lambda subject: search_heads(subject.run, focus.query, focus.key),
        formats={"weight": "%.3f", "rank": "%d", "z": "%+.1f"},
        fills={"weight": 1},
        compares=scene.same_tokens,
    )


def _is_hidden_everywhere(run: Run, focus: Focus) -> bool:
    """Whether the key is hidden from the query in every layer: some layers may have a window, and others none."""
    return all(run.why_hidden(layer, focus.query, focus.key) for layer in range(run.config.n_layers))


def _head_table(key: str, options: Options, **table: Any) -> Group:
    """Return a table with a row a head; a click on one opens it, and a button leads to it."""
    leaves = {"attention_show": "one head"} if options["attention_show"] == "average of heads" else {}

    def open_head(place: tuple[int, int]) -> dict[str, Any]:
        return {"layer": int(place[0]), "head": int(place[1]), **leaves}

    return Group(
        key, (Table[HeadsRun](key=f"{key}_table", on_row=open_head, **table), Widget("open_head", {"key": key}))
    )


def show_known_for(scene: Scene[HeadsRun], options: Options) -> Iterator[Item]:
    """What every head is known for, by rules that each name some keys."""
    yield Control("attention_habits", say("attention", "habits"), say("attention", "habits.help", n=len(PROBES)))
    try:
        habits = scene.now.measure_habits(options["attention_habits"])
    except PlaygroundError as error:
        yield Paragraph(escape_markdown(error), "error")
        return
    layer, head = scene.focus.layer, scene.focus.head
    known = habits.known_for(layer, head)
    if known is None:
        yield Paragraph(say("attention", "known-none", layer=layer, head=head))
    else:
        share = habits.scores[known][layer, head]
        yield Paragraph(say("attention", "known", layer=layer, head=head, rule=known, share=share))
    yield _head_table(
        "known_for",
        options,
        frame=lambda _: habit_table(habits),
        formats=dict.fromkeys(habits.scores, "%.2f"),
        compares=False,
    )
    yield Paragraph(say("attention", "habits.caption"), "caption")


def habit_table(habits: Habits) -> pd.DataFrame:
    """A row a head: first those that are known for something, the rarest habit and its highest score on top."""
    places = list(np.ndindex(*habits.scores[POSITION_ONLY].shape))
    known = [habits.known_for(*place) for place in places]
    counts = Counter(known)

    def score(rule: str | None, place: tuple[int, ...]) -> float:
        return 0.0 if rule is None else float(habits.scores[rule][place])

    order = sorted(
        range(len(places)),
        key=lambda i: (known[i] is None, counts[known[i]], known[i], -score(known[i], places[i])),
    )
    scores = {name: values.ravel() for name, values in habits.scores.items() if not np.isnan(values).all()}
    heads = pd.MultiIndex.from_tuples(places, names=["layer", "head"])
    return pd.DataFrame({"known for": [name or "–" for name in known], **scores}, heads).iloc[order]


def show_stream(scene: Scene[HeadsRun], options: Options) -> Iterator[Item]:
    """What has written to the query, and how much of it is in its final vector."""
    run, token = scene.now.run, scene.focus.query
    name = quote_place(run.tokens, token)
    try:
        found = stream_of(scene.now.lab, run.config.n_layers)
    except PlaygroundError as error:
        yield Paragraph(escape_markdown(error), "error")
        return
    shares = found.shares_of(token)
    if np.isfinite(shares).all():
        names, kinds = [source.name for source in found.sources], [source.kind for source in found.sources]
        first = int(np.argmax(shares))
        yield Paragraph(say("attention", "stream", token=name, source=names[first], share=shares[first]))
        bars = contributions(names, kinds, shares, title="share of the final vector")
        columns = {"length as written": found.written[:, token], "share of the final vector": shares}
        yield LabelledBars[HeadsRun](
            key="stream_shares",
            alt=say("attention", "stream.alt"),
            caption=say("attention", "stream.caption"),
            bars=lambda _: bars,
            table=lambda _: pd.DataFrame({"source": names, **columns}),
        )
    yield Widget("stream_reading", {"token": token})
