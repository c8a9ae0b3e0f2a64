"""Where a change is made: what, where by the focus, how far it goes; buttons that make one, or say why they cannot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from playground.charts.names import escape_markdown
from playground.config import ModelConfig
from playground.link.changes import MAX_CHANGES
from playground.link.opening import Focus
from playground.model.changes import HEAD_POINTS, KINDS, PATCH_POINTS, SUBLAYERS, Change
from playground.runs.encoder_run import Run
from playground.text.wording import lower_first
from playground.views.change_names import name_changes, name_token
from playground.web.choices.setup import current_setup
from playground.web.shared.change_chips import draw_change_button, draw_followed_button, explain_refusal, is_same_place
from playground.words import say

CHOSEN_HEAD, EVERY_HEAD = "the chosen head", "every head"
CHOSEN_LAYER, EVERY_LAYER = "the chosen layer", "every layer"

MAX_SEED = 9_999

TITLES = list(dict.fromkeys(title for kind in KINDS.values() for title in kind.menu.titles))
"""What can be changed, by what the menu calls it."""


def draw_first_changes(run: Run, focus: Focus, outcome: str) -> None:
    """The three kinds to begin with, at the focus: what each does, then the button that makes it or takes it back.

    What is made has the `outcome`, in markdown: the page's answer may be above the window.
    """
    setup = current_setup()
    query, key = (escape_markdown(name_token(run.tokens, token)) for token in (focus.query, focus.key))
    in_all = run.config.n_layers <= MAX_CHANGES  # a link holds no more
    hidden_in = range(run.config.n_layers) if in_all else [focus.layer]
    layers = "every layer" if in_all else f"layer {focus.layer}"
    names = {"layer": focus.layer, "head": focus.head, "query": query, "key": key, "layers": layers}
    firsts = {
        "off": [Change("zero", focus.layer, focus.head)],
        "cut": [Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0))],
        "hide": [Change("hide", each, None, (focus.key,)) for each in hidden_in],
    }
    with st.container(key="examples"):
        columns = st.columns(len(firsts), gap="medium")
    for place, (column, (name, wanted)) in enumerate(zip(columns, firsts.items(), strict=True)):
        is_made = setup.switched_on.issuperset(wanted)
        reason = "" if is_made else explain_refusal(setup, wanted)
        make, undo = say("what_if", f"first-{name}.make", **names), say("what_if", f"first-{name}.undo", **names)
        with column, st.container(gap="xsmall"):
            st.markdown(outcome if is_made and outcome else say("what_if", f"first-{name}", **names))
            if reason:
                st.caption(escape_markdown(reason))
            kind: dict[str, Any] = {"key": f"example_{place}", "icon": ":material/play_arrow:"}
            draw_change_button(make, undo, wanted, is_made=is_made, reason=reason, **kind)


def draw_change_maker(run: Run, focus: Focus) -> None:
    """The choices and their button, for every kind of change."""
    setup = current_setup()
    with st.container(key="compose"):
        wanted = compose_changes(focus, run.config, len(setup.text.sentences), setup.sentence)
        st.markdown(escape_markdown(name_changes(wanted, run.tokens)), width="content")
        is_made = setup.switched_on.issuperset(wanted)
        replaces = any(made != each and is_same_place(made, each) for made, _ in setup.changes for each in wanted)
        reason = "" if is_made else explain_refusal(setup, wanted)
        label = say("what_if", "make")
        if replaces:
            label = say("what_if", "make.strength", strength=wanted[0].strength)
        undo = say("what_if", "make.undo")
        draw_change_button(label, undo, wanted, is_made=is_made, reason=reason, key="compose_make")
        if reason:
            st.caption(escape_markdown(reason), width="content")


@dataclass
class _Composed:
    """What is chosen by now, and what it is chosen of."""

    focus: Focus
    config: ModelConfig
    n_sentences: int
    sentence: int
    values: dict[str, Any] = field(default_factory=dict)
    """By the names of a change's arguments; also `layers` and `head`."""


def compose_changes(focus: Focus, config: ModelConfig, n_sentences: int, sentence: int) -> list[Change]:
    """Draw the choices; returns the change that they describe, at the focus; a token is hidden by one in each layer.

    Args:
        focus: the layer, the head, and the two tokens that it is about.
        config: of the model.
        n_sentences: of the text.
        sentence: the one that is changed, from 0.
    """
    title = st.selectbox(say("what_if", "kind"), TITLES, key="compose_kind")
    composed = _Composed(focus, config, n_sentences, sentence)
    values = composed.values = {"layers": [focus.layer], "head": None, "query": focus.query, "key": focus.key}
    with st.container(key="compose_choices", horizontal=True, vertical_alignment="bottom"):
        kinds = {kind.menu.answer: name for name, kind in KINDS.items() if title in kind.menu.titles}
        chosen = next(iter(kinds.values()))
        menu = KINDS[chosen].menu
        values |= menu.titles[title]
        for choice in menu.choices:
            _choose(choice, composed)
        if menu.question is not None:
            chosen = kinds[_pick(menu.question.label, tuple(kinds), menu.question.key, menu.question.help)]
        for choice in KINDS[chosen].menu.further_choices:
            _choose(choice, composed)
        name, help_text = say("what_if", "strength"), say("what_if", "strength.help")
        strength = st.slider(name, 0.0, 1.0, 1.0, 0.05, key="compose_strength", help=help_text, width=220)
    args = tuple(values[name] for name in KINDS[chosen].args)
    return [Change(chosen, layer, values["head"], args, strength) for layer in values["layers"]]


def _choose(choice: str, composed: _Composed) -> None:
    """Draw what a kind's menu asks for, and keep what is chosen."""
    values, focus = composed.values, composed.focus
    match choice:
        case "head":
            chosen = _pick("Where", (CHOSEN_HEAD, EVERY_HEAD), "head")
            values["head"] = None if chosen == EVERY_HEAD else focus.head
        case "own head":
            if values["point"] in HEAD_POINTS:
                _choose("head", composed)
        case "layers":
            if _pick("In which layers", (EVERY_LAYER, CHOSEN_LAYER), "layers") == EVERY_LAYER:
                values["layers"] = range(composed.config.n_layers)
            elif _pick("Where", (EVERY_HEAD, CHOSEN_HEAD), "hidden") == CHOSEN_HEAD:
                values["head"] = focus.head
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
            n_heads = composed.config.n_heads
            others = [other for other in range(n_heads) if other != focus.head] or [focus.head]
            key = f"compose_source_{n_heads}_{focus.head}"
            values["source"] = st.selectbox("The head to copy", others, key=key, width=140)
        case "seed":
            seed = st.number_input("Seed of the order", 0, MAX_SEED, 1, key="compose_seed", width=160)
            values |= {"seed": int(seed), "layers": [None]}
        case "sentence":
            numbers = range(1, composed.n_sentences + 1)
            others = [number for number in numbers if number != composed.sentence + 1] or [composed.sentence + 2]
            key = f"compose_sentence_{composed.n_sentences}_{composed.sentence}"
            values["sentence"] = st.selectbox("From sentence", others, key=key, width=140) - 1
        case "point":
            points = {words: point for point, (_, words) in PATCH_POINTS.items()}
            last = len(points) - 1
            chosen = st.selectbox("At which point", list(points), index=last, key="compose_point", width=240)
            values["point"] = points[chosen]
            if points[chosen] == "embed":
                values["layers"] = [None]


def _pick(label: str, options: Sequence[str], key: str, help_text: str | None = None) -> str:
    """A choice of one word, the first unless another is chosen."""
    chosen = st.segmented_control(
        label, options, default=options[0], required=True, key=f"compose_{key}", help=help_text
    )
    return chosen or options[0]


def offer_changes(key: str, offers: Mapping[str, Sequence[Change]]) -> None:
    """Draw a button for each offer, by its label, which takes back what is made; grey where it cannot be made."""
    setup, reasons = current_setup(), []
    with st.container(key=key, horizontal=True):
        for number, (label, wanted) in enumerate(offers.items()):
            is_made = bool(wanted) and setup.switched_on.issuperset(wanted)
            reasons.append("" if is_made else explain_refusal(setup, wanted))
            undo = say("what_if", "offered.undo", label=lower_first(label))
            help_text = reasons[-1] or say("what_if", "offered")
            kind: dict[str, Any] = {"key": f"{key}_{number}", "icon": ":material/add:", "help_text": help_text}
            draw_change_button(label, undo, wanted, is_made=is_made, reason=reasons[-1], **kind)
        if any(wanted and setup.switched_on.issuperset(wanted) for wanted in offers.values()):
            draw_followed_button(f"{key}_followed")
    for reason in filter(None, dict.fromkeys(reasons)):
        st.caption(escape_markdown(reason))
