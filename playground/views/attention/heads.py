"""Heads by what they do, and a token's stream: which heads link two tokens, what each is known for, what writes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attention import KNOWN_FROM, POSITION_ONLY, PROBES, Habits
from playground.analysis.head_search import HeadSearch, search_heads, strongest_heads
from playground.analysis.stream_sources import TokenStream, follow_token
from playground.charts.bars import contributions
from playground.charts.chart import Columns, Control, Group, Item, LabelledBars, Options, Paragraph, Table, Widget
from playground.charts.markdown import escape_markdown, quote_place
from playground.charts.names import token_names
from playground.charts.scene import Scene, note_other_tokens
from playground.errors import PlaygroundError
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.text.wording import with_minus, write_decimals, write_weight
from playground.views.attention.explanation import HeadsRun
from playground.views.attention.notes import note_special_tokens, say_present_alone

HABITS_HELP = (
    f"fixed sentences: {len(PROBES)} short ones that come with this app, the same for every visitor. "
    "this text: the sentence that you look at."
)


MOST_LINKING = 6
"""Heads in the row on top of the page; a phone shows half of them."""


def list_linking_heads(run: Run, focus: Focus) -> Widget:
    """The row of the heads with the most weight from the query to the key, the way into the page."""
    names = token_names(run.tokens)
    query, key = names[focus.query], names[focus.key]
    n_heads = run.config.n_layers * run.config.n_heads
    data: dict[str, Any] = {"title": f"Heads that link {query} to {key}, the strongest first", "heads": []}
    if _is_hidden_everywhere(run, focus):
        data["title"] = f"No head links {query} to {key}: the mask hides the key."
    else:
        data["heads"] = strongest_heads(run, focus.query, focus.key, MOST_LINKING)
    return Widget("linking_heads", {**data, "place": (focus.layer, focus.head), "n_heads": n_heads})


def show_linking_heads(scene: Scene[HeadsRun], options: Options) -> Iterator[Item]:
    """Every head's weight from the query to the key, the largest first."""
    run, focus = scene.now.run, scene.focus
    query, key = (quote_place(run.tokens, place) for place in (focus.query, focus.key))
    if _is_hidden_everywhere(run, focus):
        yield Paragraph(f"No head links {query} to {key}: the mask hides the key, so its weight is 0 in all of them.")
        return
    found = search_heads(run, focus.query, focus.key)
    yield Paragraph(_describe_search(found, query, key))
    if scene.pinned is not None and not scene.same_tokens:
        yield Paragraph(note_other_tokens("these weights"), "caption")

    def weights(subject: HeadsRun) -> pd.DataFrame:
        if _is_hidden_everywhere(subject.run, focus):
            return pd.DataFrame({"weight": 0.0}, _by_head(subject.run))
        return search_heads(subject.run, focus.query, focus.key).table.set_index(["layer", "head"])

    has_window = run.config.window > 0
    among = f"the {found.n_keys} keys of {query}"
    if has_window:
        among = f"the keys that its layer lets {query} see, {found.n_keys} at most"
    yield Paragraph(
        f"**Every head's weight from {query} to {key}.** rank: its place among {among}, 1 the strongest. "
        f"{_describe_z(found, at_most=has_window)} {note_special_tokens(run)} Click a row to open its head.",
        "caption",
    )
    yield _head_table(
        "heads_that_link",
        options,
        frame=weights,
        formats={"weight": "%.3f", "rank": "%d", "z": "%+.1f"},
        fills={"weight": 1},
        compares=scene.same_tokens,
    )


def _is_hidden_everywhere(run: Run, focus: Focus) -> bool:
    """Whether the key is hidden from the query in every layer: some layers may have a window, and others none."""
    return all(run.why_hidden(layer, focus.query, focus.key) for layer in range(run.config.n_layers))


def _by_head(run: Run) -> pd.MultiIndex:
    return pd.MultiIndex.from_product([range(run.config.n_layers), range(run.config.n_heads)], names=["layer", "head"])


def _head_table(key: str, options: Options, **table: Any) -> Group:
    """A table with a row a head; a click on one opens it, far above, and a button says which is open."""
    leaves = {"attention_show": "one head"} if options["attention_show"] == "average of heads" else {}

    def open_head(place: tuple[int, int]) -> dict[str, Any]:
        return {"layer": int(place[0]), "head": int(place[1]), **leaves}

    return Group(
        key, (Table[HeadsRun](key=f"{key}_table", on_row=open_head, **table), Widget("open_head", {"key": key}))
    )


def show_known_for(scene: Scene[HeadsRun], options: Options) -> Iterator[Item]:
    """What every head is known for, by rules that each name some keys."""
    run, source = scene.now.run, options["attention_habits"]
    yield Control("attention_habits", "Measured on", HABITS_HELP)
    try:
        habits = scene.now.measure_habits(source)
    except PlaygroundError as error:
        yield Paragraph(escape_markdown(error), "error")
        return
    yield Paragraph(_describe_habits(habits, scene.focus))
    yield from say_present_alone(scene, "the habits")
    if source == "fixed sentences" and run.interventions:
        yield Paragraph("The fixed sentences are read by the model without your changes.", "caption")
    yield _head_table(
        "known_for",
        options,
        frame=lambda _: habit_table(habits),
        formats=dict.fromkeys(habits.scores, "%.2f"),
        compares=False,
    )
    even = ", ".join(f"{name} {shares.mean():.2f}" for name, shares in habits.even.items() if shares.mean() > 0)
    evenly = "evenly would have, on average over the layers" if run.config.window else "evenly would have"
    absent = [name for name, scores in habits.scores.items() if np.isnan(scores).all()]
    left_out = f" Nothing here to measure: {', '.join(absent)}." if absent else ""
    yield Paragraph(
        "**Share of a head's weight that goes to the keys of each rule**, averaged over the text's own tokens as "
        "queries (Clark et al. 2019, Voita et al. 2019). Same token: itself, and the same piece elsewhere. "
        "Position only: how much of the weights' variance the distance between query and key alone explains (R², "
        f"adjusted). A head that spreads {evenly}: {even}. Known for: the highest score, if it is at least "
        f"{KNOWN_FROM:g} and twice the even head's. Position only is named where no other rule is met, for a head that "
        f"looks one token back follows the distance too.{left_out} {note_special_tokens(run, 'count as keys')} "
        "Click a row to open its head.",
        "caption",
    )


def _describe_search(found: HeadSearch, query: str, key: str) -> str:
    first, n_heads = found.table.iloc[0], len(found.table)
    n_first = int((found.table["rank"] == 1).sum())
    told = (
        f"{query} gives {key} the most weight in **layer {first['layer']:.0f}, head {first['head']:.0f}**: "
        f"{write_weight(first['weight'])}. In {n_first} of {n_heads} heads it is the strongest key."
    )
    z = found.table["z"]
    if z.notna().any() and n_heads > 1:
        strong, weak = (found.table.iloc[int(at)] for at in (z.argmax(), z.argmin()))
        told += f" Against the head's own habit (z), it is strongest in {_name_head(strong)}"
        told += f", and weakest in {_name_head(weak)}." if strong["z"] > weak["z"] else "."
    return told


def _name_head(row: pd.Series) -> str:
    return f"layer {row['layer']:.0f}, head {row['head']:.0f} (z = {write_decimals(row['z'], 1, '+')})"


def _describe_z(found: HeadSearch, *, at_most: bool) -> str:
    if found.n_compared < 2:
        return "z: there are too few other cells to say how unusual a weight is."
    low, high = found.distances
    where = f"at the same distance, {low:+d}" if low == high else f"at the nearest distances, {low:+d} to {high:+d}"
    where = with_minus(where)
    others = f"{found.n_compared} other weights{' at most,' * at_most}"
    return (
        f"z: how unusual this weight is for the head. It compares log-odds with the head's {others} {where} tokens, in "
        "standard deviations."
    )


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


def _describe_habits(habits: Habits, focus: Focus) -> str:
    known = habits.known_for(focus.layer, focus.head)
    name = f"Layer {focus.layer}, head {focus.head}"
    if known is None:
        told = f"**{name}** is known for none of these."
    else:
        told = f"**{name}** is known for: {known} ({habits.scores[known][focus.layer, focus.head]:.2f})."
    places = list(np.ndindex(*habits.scores[POSITION_ONLY].shape))
    counts = Counter(habits.known_for(*place) for place in places)
    n_none = counts.pop(None, 0)
    listed = ", ".join(f"{rule} {count}" for rule, count in counts.most_common())
    return f"{told} Of all {len(places)} heads: {listed}{', ' if listed else ''}none of these {n_none}."


def show_stream(scene: Scene[HeadsRun], options: Options) -> Iterator[Item]:
    """What has written to the query, how much of it is in its final vector, and what it would be read as on the way."""
    run, token = scene.now.run, scene.focus.query
    name = quote_place(run.tokens, token)
    try:
        found = follow_token(scene.now.split_stream(run.config.n_layers), token)
    except PlaygroundError as error:
        yield Paragraph(escape_markdown(error), "error")
        return
    yield from say_present_alone(scene, "the stream")
    if np.isfinite(found.shares).all():
        yield from _show_shares(found, name, run)
    else:
        yield Paragraph(f"The vector of {name} is 0, or has left the range of 32-bit floats: it has no shares.")
    yield Widget("stream_reading", {"token": token})


def _show_shares(found: TokenStream, name: str, run: Run) -> Iterator[Item]:
    names, kinds = [source.name for source in found.sources], [source.kind for source in found.sources]
    first = int(np.argmax(found.shares))
    yield Paragraph(
        f"The vector of {name} that leaves the encoder is a sum of what {len(names)} sources wrote. The largest share "
        f"comes from **{names[first]}**: {found.shares[first]:.0%}."
    )
    table = pd.DataFrame(
        {
            "source": names,
            "length as written": found.written,
            "length of what is left": found.kept,
            "share of the final vector": found.shares,
        }
    )
    shown = np.flatnonzero(np.isfinite(found.written))
    lengths = contributions(
        [names[i] for i in shown],
        [kinds[i] for i in shown],
        found.written[shown],
        title="length as written",
        signed=False,
    )
    shares = contributions(names, kinds, found.shares, title="share of the final vector")
    written = LabelledBars[HeadsRun](
        key="stream_written",
        alt="Bars: length of what each source writes to one token",
        caption=f"**What is written to {name}**, from the embeddings on: the L2 norm of each part, as it is added. "
        f"Biases of norms are no part of it.{_describe_norms(run)}",
        bars=lambda _: lengths,
        table=lambda _: table,
    )
    left = LabelledBars[HeadsRun](
        key="stream_shares",
        alt="Bars: share of each source in the final vector of one token",
        caption="**What is left of it at the end.** A part's share is its projection on the final vector x: part · "
        "x / ‖x‖², each norm at the scale of this run. Shares add up to 1; a part below 0 points away from x.",
        bars=lambda _: shares,
    )
    yield Columns(((written,), (left,)))


def _describe_norms(run: Run) -> str:
    """What happens to a part after it was written."""
    if not run.config.residual:
        return " Without residual connections, only what the last feed-forward network wrote arrives."
    if run.config.norm != "none" and run.config.norm_placement == "post":
        return " Every norm that follows rescales all that was written before it."
    return ""
