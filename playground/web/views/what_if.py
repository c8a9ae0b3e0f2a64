"""The live parts of the page What if: numbers that grow while somebody looks, and the form of every kind of change.

A sentence is run in hundreds of variants, part by part; what is measured is kept for everybody, and shown with a bar.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
import streamlit as st

from playground.analysis.comparison import measure_variants, score_change, score_nearness
from playground.charts.names import escape_markdown
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.link.lab import Lab, once
from playground.link.opening import Focus, LinkedView
from playground.model.changes import HEAD_POINTS, KINDS, PATCH_POINTS, SUBLAYERS, Change, Kind
from playground.model.interventions import InterventionTrace
from playground.runs.arrays import Array
from playground.runs.variant_runs import rows_at_once
from playground.views.scenes import name_changes, offer_changes
from playground.views.what_if import Followed, show_what_if, what_if_scene
from playground.views.what_if_parts import SweepKey, list_variants, measure_rows
from playground.web.components import ask_again
from playground.web.shared import panels
from playground.web.shared.renderer import Live, draw_page, render
from playground.words import say

Rows = tuple[int, ...]
"""Numbers of the variants that are measured together."""

MOST_TOGETHER = 24
"""Rows that are measured together, at most: others wait no longer for a turn than that takes."""

BY_ITSELF = 150
"""Rows of a measurement that begins without being asked."""

SLICE = 0.4
"""Seconds of computing in one rerun of the page; between two of them it answers the visitor."""

MAX_PASSES = 4_096
"""Of all variants of one measurement, each counted from its first changed layer."""


def draw_changes() -> None:
    """Draw the page."""
    live = Live(widgets={"measure": _draw_measurement, "change_maker": _draw_change_maker})
    sources = (Kind, InterventionTrace, measure_variants, score_change, score_nearness)
    draw_page("what-if", "What if a part worked otherwise?", show_what_if, _grow_scene, *sources, live=live, pins=False)


def _grow_scene(view: LinkedView) -> Scene[Followed]:
    scene = what_if_scene(view)
    return Scene(Followed(scene.now.lab, lambda lab, sweep: _sweep_numbers(lab, sweep).numbers), scene.focus)


class Growing:
    """Numbers, (rows,), NaN if not measured yet; sessions share and fill them."""

    def __init__(self, parts: Iterable[Rows]) -> None:
        """Measure `parts` one after the other."""
        self.parts = tuple(parts)
        self.numbers = np.full(sum(map(len, self.parts)), np.nan, np.float32)
        self.n_done = 0  # parts
        self.lock = threading.Lock()

    @property
    def is_complete(self) -> bool:
        """Whether everything is measured."""
        return self.n_done == len(self.parts)

    @property
    def n_measured(self) -> int:
        """Rows that are measured."""
        return sum(map(len, self.parts[: self.n_done]))

    def advance(self, measure: Callable[[Rows], Array], seconds: float) -> None:
        """Measure the next parts for so many seconds; nothing if somebody else does. Failures keep the rest."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            begin = monotonic()
            while not self.is_complete:
                rows = self.parts[self.n_done]
                self.numbers[list(rows)] = measure(rows)
                self.n_done += 1
                if monotonic() - begin >= seconds:
                    return
        finally:
            self.lock.release()


def cut(rows: Sequence[int], most: int) -> list[Rows]:
    """Return rows in parts of at most `most` and `MOST_TOGETHER`."""
    most = min(most, MOST_TOGETHER)
    return [tuple(rows[first : first + most]) for first in range(0, len(rows), most)]


@once
def _sweep_numbers(lab: Lab, sweep: SweepKey) -> Growing:
    """Return the numbers of a sweep, a row a variant; raises TooLargeError."""
    run, n_layers = lab.run, lab.config.n_layers
    starts = [min((each.first_layer for each in made), default=0) for made in list_variants(sweep, run)]
    if sum(n_layers - max(0, start) for start in starts) > MAX_PASSES * n_layers:
        raise TooLargeError(say("what_if", "too-many", runs=len(starts)))
    together = ([row for row, start in enumerate(starts) if start == layer] for layer in sorted(set(starts)))
    return Growing(part for rows in together for part in cut(rows, rows_at_once(lab.config, len(run.tokens))))


def _draw_measurement(name: str, lab: Lab, sweep: SweepKey) -> None:
    """Measure for a moment, and draw the progress; more rows than `BY_ITSELF` wait for the switch."""
    with panels.explain_errors():
        growing = _sweep_numbers(lab, sweep)
        n, was_complete = len(growing.numbers), growing.is_complete
        goes_on = n <= BY_ITSELF or st.session_state.get(f"{name}_measure", False)
        if goes_on:
            growing.advance(partial(measure_rows, lab, sweep), SLICE)
    with st.container(key=f"{name}_progress", horizontal=True, vertical_alignment="center"):
        done = growing.n_measured
        st.progress(done / max(1, n), say("what_if", "tried", n=n, done=done))
        st.toggle(say("what_if", "measuring"), key=f"{name}_measure", disabled=n <= BY_ITSELF or growing.is_complete)
        if goes_on and not was_complete:  # after the last part, what stands above it is drawn with it
            ask_again(f"{name}_again")


# --- every kind of change

TITLES = {title: (name, implied) for name, kind in KINDS.items() for title, implied in kind.titles.items()}
"""Kinds, and the arguments that are settled, by what the menu calls them."""


def _draw_change_maker(lab: Lab, focus: Focus) -> None:
    with st.container(key="compose"):
        wanted = compose_changes(focus, lab.config, len(lab.text.sentences), lab.sentence)
        st.markdown(escape_markdown(name_changes(wanted, lab.run.tokens)), width="content")
        render([offer_changes(lab, "compose_make", {say("what_if", "make"): wanted})])


def compose_changes(focus: Focus, config: ModelConfig, n_sentences: int, sentence: int) -> list[Change]:
    """Draw the choices; return the changes that they describe, at the focus."""
    chosen, implied = TITLES[st.selectbox(say("what_if", "kind"), list(TITLES), key="compose_kind")]
    values: dict[str, Any] = {"layers": [focus.layer], "head": None, "query": focus.query, "key": focus.key, **implied}
    with st.container(key="compose_choices", horizontal=True, vertical_alignment="bottom"):
        for choice in KINDS[chosen].choices:
            _choose(choice, values, focus, config, (n_sentences, sentence))
        name, help_text = say("what_if", "strength"), say("what_if", "strength.help")
        strength = st.slider(name, 0.0, 1.0, 1.0, 0.05, key="compose_strength", help=help_text, width=220)
    args = tuple(values[name] for name in KINDS[chosen].args)
    return [Change(chosen, layer, values["head"], args, strength) for layer in values["layers"]]


def _choose(choice: str, values: dict[str, Any], focus: Focus, config: ModelConfig, sentences: tuple[int, int]) -> None:
    """Draw one choice, and keep it in `values`, by the names of a change's arguments."""
    match choice:
        case "head" | "own head":
            if choice == "head" or values["point"] in HEAD_POINTS:
                is_one = _pick("Where", ("the chosen head", "every head"), "head") == "the chosen head"
                values["head"] = focus.head if is_one else None
        case "layers":
            if _pick("In which layers", ("every layer", "the chosen layer"), "layers") == "every layer":
                values["layers"] = range(config.n_layers)
        case "sublayer":
            names = {name: sublayer for sublayer, name in SUBLAYERS.items()}
            values["sublayer"] = names[_pick("Which sublayer", tuple(names), "sublayer")]
        case "weight":
            if "weight" not in values:
                values["weight"] = st.slider("Weight", 0.0, 1.0, 0.5, 0.05, key="compose_weight", width=220)
        case "token":
            if _pick("Which token", ("the chosen query", "every token"), "token") == "every token":
                values["query"] = None
        case "source":
            others = [other for other in range(config.n_heads) if other != focus.head] or [focus.head]
            key = f"compose_source_{config.n_heads}_{focus.head}"
            values["source"] = st.selectbox("The head to copy", others, key=key, width=140)
        case "seed":
            seed = st.number_input("Seed of the order", 0, 9_999, 1, key="compose_seed", width=160)
            values |= {"seed": int(seed), "layers": [None]}
        case "sentence":
            n, sentence = sentences
            others = [number for number in range(1, n + 1) if number != sentence + 1] or [sentence + 2]
            key = f"compose_sentence_{n}_{sentence}"
            values["sentence"] = st.selectbox("From sentence", others, key=key, width=140) - 1
        case "point":
            points = {words: point for point, (_, words) in PATCH_POINTS.items()}
            words = st.selectbox("At which point", list(points), len(points) - 1, key="compose_point", width=240)
            values["point"] = points[words]
            if points[words] == "embed":
                values["layers"] = [None]


def _pick(label: str, options: Sequence[str], key: str) -> str:
    return st.segmented_control(label, options, default=options[0], required=True, key=f"compose_{key}") or options[0]
