"""A change as the visitor puts it together: what, where it is by the focus, and how far it goes."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from playground.config import ModelConfig
from playground.link.opening import Focus
from playground.model.interventions import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)
from playground.model.interventions.intervention_kinds import HEAD_POINTS, RowKind
from playground.views.change_names import POINTS, SUBLAYERS

CHOSEN_HEAD, EVERY_HEAD = "the chosen head", "every head"
CHOSEN_LAYER, EVERY_LAYER = "the chosen layer", "every layer"
BEFORE, AFTER = "before the softmax", "after the softmax"

SOFTMAX_HELP = (
    "before the softmax: the score is set, so that the row still adds up to 1 and the other keys share the rest in the "
    "proportions that they had. after the softmax: one weight is set and the others stay, so the row adds up to 1 no "
    "more."
)

MAX_SEED = 9_999


def compose_changes(focus: Focus, config: ModelConfig, n_sentences: int, sentence: int) -> list[Intervention]:
    """Draw the choices; returns the change that they describe, at the focus; a token is hidden by one in each layer.

    Args:
        focus: the layer, the head, and the two tokens that it is about.
        config: of the model.
        n_sentences: of the text.
        sentence: the one that is changed, from 0.
    """
    kind = st.selectbox("What to change", list(_KINDS), key="compose_kind")
    with st.container(key="compose_choices", horizontal=True, vertical_alignment="bottom"):
        composed = _KINDS[kind](focus, config, (n_sentences, sentence))
        strength = st.slider(
            "Strength",
            0.0,
            1.0,
            1.0,
            0.05,
            key="compose_strength",
            help="0 changes nothing, 1 replaces the numbers. Between the two they are blended: (1 − strength) · old + "
            "strength · new.",
            width=220,
        )
    parts = composed if isinstance(composed, list) else [composed]
    return [replace(part, strength=strength) for part in parts]


def _choose_head(focus: Focus, key: str = "head", options: Sequence[str] = (CHOSEN_HEAD, EVERY_HEAD)) -> int | None:
    """The focus's head, or None for every head of its layer; the first option unless another is chosen."""
    return None if _pick("Where", options, key) == EVERY_HEAD else focus.head


def _choose_token(focus: Focus) -> int | None:
    """The focus's query, or None for every token."""
    chosen = _pick("Which token", ("the chosen query", "every token"), "token")
    return None if chosen == "every token" else focus.query


def _zero(focus: Focus, config: ModelConfig, text: tuple[int, int]) -> Intervention:
    return ZeroHead(focus.layer, _choose_head(focus))


def _average(focus: Focus, config: ModelConfig, text: tuple[int, int]) -> Intervention:
    return AverageHead(focus.layer, _choose_head(focus))


def _skip(focus: Focus, config: ModelConfig, text: tuple[int, int]) -> Intervention:
    names = {name: sublayer for sublayer, name in SUBLAYERS.items()}
    return SkipSublayer(focus.layer, names[_pick("Which sublayer", tuple(names), "sublayer")])


def _set_pair(focus: Focus, weight: float | None) -> Intervention:
    head = _choose_head(focus)
    when = _pick("When", (BEFORE, AFTER), "when", SOFTMAX_HELP)
    if weight is None:
        weight = st.slider("Weight", 0.0, 1.0, 0.5, 0.05, key="compose_weight", width=220)
    return SetWeight(focus.layer, head, focus.query, focus.key, weight, renormalise=when != AFTER)


def _hide(focus: Focus, config: ModelConfig, text: tuple[int, int]) -> list[Intervention]:
    """One change a layer: in every layer and head, unless the visitor asks for the chosen ones alone."""
    in_every_layer = _pick("In which layers", (EVERY_LAYER, CHOSEN_LAYER), "layers") == EVERY_LAYER
    head = None if in_every_layer else _choose_head(focus, "hidden", (EVERY_HEAD, CHOSEN_HEAD))
    layers = range(config.n_layers) if in_every_layer else [focus.layer]
    return [HideToken(layer, head, focus.key) for layer in layers]


def _set_row(focus: Focus, config: ModelConfig, text: tuple[int, int]) -> Intervention:
    rows: dict[str, RowKind] = {"to all evenly": "uniform", "to itself alone": "diagonal", "as another head": "copy"}
    head, query = _choose_head(focus), _choose_token(focus)
    row = rows[_pick("It attends", tuple(rows), "row")]
    if row != "copy":
        return SetRow(focus.layer, head, query, row)
    others = [other for other in range(config.n_heads) if other != focus.head] or [focus.head]
    source = st.selectbox("The head to copy", others, key=f"compose_source_{config.n_heads}_{focus.head}", width=140)
    return SetRow(focus.layer, focus.head if head is not None else None, query, row, source)


def _shuffle(focus: Focus, config: ModelConfig, text: tuple[int, int]) -> Intervention:
    return ShufflePositions(int(st.number_input("Seed of the order", 0, MAX_SEED, 1, key="compose_seed", width=160)))


def _patch(focus: Focus, config: ModelConfig, text: tuple[int, int]) -> Intervention:
    n_sentences, sentence = text
    others = [number for number in range(1, n_sentences + 1) if number != sentence + 1] or [sentence + 2]
    source = st.selectbox("From sentence", others, key=f"compose_sentence_{n_sentences}_{sentence}", width=140)
    points = {name: point for point, name in POINTS.items()}
    point = points[st.selectbox("At which point", list(points), index=len(points) - 1, key="compose_point", width=240)]
    token = _choose_token(focus)
    head = _choose_head(focus) if point in HEAD_POINTS else None
    return PatchVector(None if point == "embed" else focus.layer, point, token, source - 1, head)


_Composer = Callable[[Focus, ModelConfig, tuple[int, int]], Intervention | list[Intervention]]

_KINDS: dict[str, _Composer] = {
    "switch a head off": _zero,
    "replace a head by its mean over tokens": _average,
    "switch a sublayer off": _skip,
    "forbid a pair: the query does not see the key": lambda focus, config, text: _set_pair(focus, 0.0),
    "force a pair: the query sees the key alone": lambda focus, config, text: _set_pair(focus, 1.0),
    "set a pair's weight": lambda focus, config, text: _set_pair(focus, None),
    "hide a token: no other token sees the key": _hide,
    "set what a query attends to": _set_row,
    "shuffle positions": _shuffle,
    "take a vector from another sentence": _patch,
}
"""What can be changed, by what the menu calls it."""


def _pick(label: str, options: Sequence[str], key: str, help_text: str | None = None) -> str:
    """A choice of one word, the first unless another is chosen."""
    chosen = st.segmented_control(
        label, options, default=options[0], required=True, key=f"compose_{key}", help=help_text
    )
    return chosen or options[0]
