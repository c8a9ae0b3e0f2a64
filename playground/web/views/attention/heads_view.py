"""Heads by what they do: which of them link two tokens, and what each is known for."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn, ProgressColumn

from playground.analysis.attention import KNOWN_FROM, POSITION_ONLY, PROBES, Habits
from playground.analysis.head_search import HeadSearch, search_heads
from playground.charts.markdown import quote_place
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.focus import current_focus
from playground.web.choices.setup import current_setup
from playground.web.shared import panels
from playground.web.shared.pinning import beside_same_tokens, say_present_alone
from playground.web.views.attention import attribution_cache
from playground.web.views.attention.attention_views import note_special_tokens
from playground.web.views.attention.open_head import draw_head_table

HABITS_HELP = (
    f"fixed sentences: {len(PROBES)} short ones that come with this app, the same for every visitor. "
    "this text: the sentence that you look at."
)


def draw_linking_heads(run: Run, query: int, key: int) -> None:
    """Every head's weight from a query to a key, the largest first."""
    names = quote_place(run.tokens, query), quote_place(run.tokens, key)
    if run.padding[query] or not run.allowed[query, key]:
        st.markdown(
            f"No head links {names[0]} to {names[1]}: the mask hides the key, so its weight is 0 in all of them."
        )
        return
    found = search_heads(run, query, key)
    st.markdown(_describe_search(found, *names))
    columns = {
        "weight": ProgressColumn(format="%.3f", min_value=0, max_value=1),
        "z": NumberColumn(format="%+.1f"),
        "pinned": NumberColumn(format="%.3f"),
        "now − pinned": NumberColumn(format="%+.3f"),
    }
    draw_head_table("heads_that_link", _join_pinned(found.table, run, query, key), columns, current_focus(run))
    st.caption(
        f"**Every head's weight from {names[0]} to {names[1]}.** rank: its place among the {found.n_keys} keys of "
        f"{names[0]}, 1 the strongest. {_describe_z(found)} {note_special_tokens(run)} "
        "Click at the left of a row to open its head."
    )


def _join_pinned(table: pd.DataFrame, run: Run, query: int, key: int) -> pd.DataFrame:
    """The table with each head's weight in the pinned run and the difference, where it has the head and the tokens."""
    pinned = beside_same_tokens(run, "these weights")
    if pinned is None:
        return table
    shape = pinned.run.config.n_layers, pinned.run.config.n_heads
    patterns = [pinned.run.pattern(layer)[:, query, key] for layer in range(shape[0])]
    places = zip(table["layer"], table["head"], strict=True)
    say_present_alone("ranks and z")
    weights = np.array([patterns[i][j] if i < shape[0] and j < shape[1] else np.nan for i, j in places], np.float32)
    return table.assign(pinned=weights, **{"now − pinned": table["weight"] - weights})


def draw_known_for(run: Run, layer: int, head: int) -> None:
    """What every head is known for, by rules that each name some keys."""
    source = widgets.choice("attention_habits", "Measured on", help_text=HABITS_HELP)
    key = current_setup().run_key
    with panels.explain_errors():
        fixed = source == "fixed sentences"
        habits = attribution_cache.habits_in_probes(key) if fixed else attribution_cache.habits_in_text(key)
    st.markdown(_describe_habits(habits, run, layer, head))
    say_present_alone("the habits")
    if fixed and run.interventions:
        st.caption("The fixed sentences are read by the model without your changes.")
    table = _habit_table(habits)
    columns = dict.fromkeys(habits.scores, NumberColumn(format="%.2f"))
    draw_head_table("known_for", table, columns, current_focus(run))
    even = ", ".join(f"{name} {share:.2f}" for name, share in habits.even.items() if share > 0)
    absent = [name for name, scores in habits.scores.items() if np.isnan(scores).all()]
    left_out = f" Nothing here to measure: {', '.join(absent)}." if absent else ""
    st.caption(
        "**Share of a head's weight that goes to the keys of each rule**, averaged over the text's own tokens as "
        "queries (Clark et al. 2019, Voita et al. 2019). Same token: itself, and the same piece elsewhere. "
        "Position only: how much of the weights' variance the distance between query and key alone explains (R², "
        f"adjusted). A head that spreads evenly would have: {even}. Known for: the highest score, if it is at least "
        f"{KNOWN_FROM:g} and twice the even head's. Position only is named where no other rule is met, for a head that "
        f"looks one token back follows the distance too.{left_out} {note_special_tokens(run, 'count as keys')} "
        "Click at the left of a row to open its head."
    )


def _describe_search(found: HeadSearch, query: str, key: str) -> str:
    first, n_heads = found.table.iloc[0], len(found.table)
    n_first = int((found.table["rank"] == 1).sum())
    told = (
        f"{query} gives {key} the most weight in **layer {first['layer']:.0f}, head {first['head']:.0f}**: "
        f"{first['weight']:.2f}. In {n_first} of {n_heads} heads it is the strongest key."
    )
    z = found.table["z"]
    if z.notna().any() and n_heads > 1:
        strong, weak = (found.table.iloc[int(at)] for at in (z.argmax(), z.argmin()))
        told += f" Against the head's own habit (z), it is strongest in {_name_head(strong)}"
        told += f", and weakest in {_name_head(weak)}." if strong["z"] > weak["z"] else "."
    return told


def _name_head(row: pd.Series) -> str:
    return f"layer {row['layer']:.0f}, head {row['head']:.0f} (z = {row['z']:+.1f})"


def _describe_z(found: HeadSearch) -> str:
    if found.n_compared < 2:
        return "z: there are too few other cells to say how unusual a weight is."
    low, high = found.distances
    where = f"at the same distance, {low:+d}" if low == high else f"at the nearest distances, {low:+d} to {high:+d}"
    return (
        f"z: how unusual this weight is for the head. It compares log-odds with the head's {found.n_compared} other "
        f"weights {where} tokens, in standard deviations."
    )


def _habit_table(habits: Habits) -> pd.DataFrame:
    """A row a head: first those that are known for something, the rarest habit and its highest score on top."""
    places = list(np.ndindex(*habits.scores[POSITION_ONLY].shape))
    layers, heads = zip(*places, strict=True)
    known = [habits.known_for(*place) for place in places]
    counts = Counter(known)
    order = sorted(
        range(len(places)),
        key=lambda i: (known[i] is None, counts[known[i]], known[i], -_score(habits, known[i], places[i])),
    )
    scores = {name: values.ravel() for name, values in habits.scores.items() if not np.isnan(values).all()}
    table = pd.DataFrame({"layer": layers, "head": heads, "known for": [name or "–" for name in known], **scores})
    return table.iloc[order].reset_index(drop=True)


def _score(habits: Habits, rule: str | None, place: tuple[int, ...]) -> float:
    return 0.0 if rule is None else float(habits.scores[rule][place])


def _describe_habits(habits: Habits, run: Run, layer: int, head: int) -> str:
    known = habits.known_for(layer, head)
    name = f"Layer {layer}, head {head}"
    if known is None:
        told = f"**{name}** is known for none of these."
    else:
        told = f"**{name}** is known for: {known} ({habits.scores[known][layer, head]:.2f})."
    shape = run.config.n_layers, run.config.n_heads
    counts = Counter(habits.known_for(*place) for place in product(*map(range, shape)))
    n_none = counts.pop(None, 0)
    listed = ", ".join(f"{rule} {count}" for rule, count in counts.most_common())
    return f"{told} Of all {shape[0] * shape[1]} heads: {listed}{', ' if listed else ''}none of these {n_none}."
