"""Where a change is made: what, where by the focus, how far it goes; buttons that make one, or say why they cannot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.config import ModelConfig
from playground.link.changes import MAX_CHANGES
from playground.link.opening import Focus
from playground.model.changes import HEAD_POINTS, KINDS, PATCH_POINTS, SUBLAYERS, Change
from playground.runs.encoder_run import Run
from playground.text.wording import lower_first
from playground.views.change_names import name_changes, name_token
from playground.web.choices.setup import Setup, current_setup
from playground.web.shared.change_chips import draw_change_button, draw_followed_button, explain_refusal, is_same_place

CHOSEN_HEAD, EVERY_HEAD = "the chosen head", "every head"
CHOSEN_LAYER, EVERY_LAYER = "the chosen layer", "every layer"

MAX_SEED = 9_999

TITLES = list(dict.fromkeys(title for kind in KINDS.values() for title in kind.menu.titles))
"""What can be changed, by what the menu calls it."""


@dataclass(frozen=True)
class FirstChange:
    """A change to begin with, and what is said of it before it is made."""

    name: str
    told: str
    """What it does where it can be made, in markdown; it stands above the button."""
    label: str
    undo: str
    """What the button is called while the change is made."""
    wanted: Sequence[Change]


def draw_first_changes(run: Run, focus: Focus, outcome: str) -> None:
    """The three kinds to begin with, at the focus: what each does, then the button that makes it or takes it back.

    A grey button has its reason above it instead. What is made has the `outcome`, in markdown, which a visitor who
    has pressed its button sees there: the page's answer may be above the window.
    """
    setup = current_setup()
    fits = set(setup.fitted_changes.applied)
    firsts = list_first_changes(run, focus)
    with st.container(key="examples"):
        columns = st.columns(len(firsts), gap="medium")
    for place, (column, first) in enumerate(zip(columns, firsts, strict=True)):
        is_made = setup.switched_on.issuperset(first.wanted)
        reason = "" if is_made else explain_refusal(setup, first.wanted)
        with column, st.container(gap="xsmall"):
            told = "not possible here." if reason else first.told
            if is_made:
                told = lower_first(outcome) if set(first.wanted) <= fits else "its chip above says why it does not fit."
            st.markdown(f"**{first.name}:** {told}")
            if reason:
                st.caption(escape_markdown(reason))
            draw_change_button(
                escape_markdown(first.label),
                escape_markdown(first.undo),
                first.wanted,
                is_made=is_made,
                reason=reason,
                key=f"example_{place}",
                icon=":material/play_arrow:",
                help_text=escape_markdown(name_changes(first.wanted, run.tokens)),
            )


def list_first_changes(run: Run, focus: Focus) -> list[FirstChange]:
    """A head off, a connection cut, a word hidden."""
    query, key = (name_token(run.tokens, token) for token in (focus.query, focus.key))
    layer, head = focus.layer, focus.head
    in_all = run.config.n_layers <= MAX_CHANGES  # a link holds no more
    layers, where = (range(run.config.n_layers), "") if in_all else ([layer], f" in layer {layer}")
    hide = [Change("hide", each, None, (focus.key,)) for each in layers]
    cut = Change("weight", layer, head, (focus.query, focus.key, 0.0))
    asks, seen = escape_markdown(query), escape_markdown(key)
    return [
        FirstChange(
            "Off",
            f"layer {layer}, head {head} adds nothing to any token.",
            f"Switch layer {layer}, head {head} off",
            "Switch this head on again",
            [Change("zero", layer, head)],
        ),
        FirstChange(
            "Cut",
            f"in this head, {asks} gives {seen} no weight; other tokens get it.",
            f"Cut {query} → {key} in this head",
            f"Restore {query} → {key}",
            [cut],
        ),
        FirstChange(
            "Hide",
            f"no other token sees {seen}{where or ', in any layer'}.",
            f"Hide {key} from every other token{where}",
            f"Show {key} again{where}",
            hide,
        ),
    ]


def draw_change_maker(run: Run, focus: Focus) -> None:
    """The choices and their button, for every kind of change."""
    setup = current_setup()
    with st.container(key="compose"):
        wanted = compose_changes(focus, run.config, len(setup.text.sentences), setup.sentence)
        st.markdown(escape_markdown(name_changes(wanted, run.tokens)), width="content")
        _offer(setup, wanted)


def _offer(setup: Setup, wanted: Sequence[Change]) -> None:
    """The button that makes the changes or takes them back, or one sentence on why they cannot be made."""
    is_made = setup.switched_on.issuperset(wanted)
    replaces = any(made != each and is_same_place(made, each) for made, _ in setup.changes for each in wanted)
    reason = "" if is_made else explain_refusal(setup, wanted)
    label = f"Set its strength to {wanted[0].strength:g}" if replaces else "Make this change"
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_change_button(label, "Take this change back", wanted, is_made=is_made, reason=reason, key="compose_make")
        if reason or is_made:
            waits = any(each in setup.fitted_changes.reasons for each in wanted)
            where = "its chip above says why it does not fit" if waits else "what followed from it stands on this page"
            st.caption(escape_markdown(reason or f"This change is made already: {where}."), width="content")


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
    title = st.selectbox("What to change", TITLES, key="compose_kind")
    composed = _Composed(focus, config, n_sentences, sentence)
    composed.values = {"layers": [focus.layer], "head": None, "query": focus.query, "key": focus.key}
    with st.container(key="compose_choices", horizontal=True, vertical_alignment="bottom"):
        kind = _choose_kind(title, composed)
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
    values = composed.values
    args = tuple(values[name] for name in KINDS[kind].args)
    return [Change(kind, layer, values["head"], args, strength) for layer in values["layers"]]


def _choose_kind(title: str, composed: _Composed) -> str:
    """The kind that a title of the menu means, asked where there are several; draws what else is asked for."""
    kinds = {kind.menu.answer: name for name, kind in KINDS.items() if title in kind.menu.titles}
    chosen = next(iter(kinds.values()))
    menu = KINDS[chosen].menu
    composed.values |= menu.titles[title]
    for choice in menu.choices:
        CHOICES[choice](composed)
    if menu.question is not None:
        chosen = kinds[_pick(menu.question.label, tuple(kinds), menu.question.key, menu.question.help)]
    for choice in KINDS[chosen].menu.further_choices:
        CHOICES[choice](composed)
    return chosen


def _choose_head(composed: _Composed) -> None:
    """The focus's head, or every head of its layer."""
    chosen = _pick("Where", (CHOSEN_HEAD, EVERY_HEAD), "head")
    composed.values["head"] = None if chosen == EVERY_HEAD else composed.focus.head


def _choose_own_head(composed: _Composed) -> None:
    """The head where heads have vectors of their own."""
    if composed.values["point"] in HEAD_POINTS:
        _choose_head(composed)


def _choose_layers(composed: _Composed) -> None:
    """Every layer and head, unless the visitor asks for the chosen ones alone."""
    if _pick("In which layers", (EVERY_LAYER, CHOSEN_LAYER), "layers") == EVERY_LAYER:
        composed.values["layers"] = range(composed.config.n_layers)
    elif _pick("Where", (EVERY_HEAD, CHOSEN_HEAD), "hidden") == CHOSEN_HEAD:
        composed.values["head"] = composed.focus.head


def _choose_sublayer(composed: _Composed) -> None:
    names = {name: sublayer for sublayer, name in SUBLAYERS.items()}
    composed.values["sublayer"] = names[_pick("Which sublayer", tuple(names), "sublayer")]


def _choose_weight(composed: _Composed) -> None:
    if "weight" not in composed.values:
        composed.values["weight"] = st.slider("Weight", 0.0, 1.0, 0.5, 0.05, key="compose_weight", width=220)


def _choose_token(composed: _Composed) -> None:
    """The focus's query, or every token."""
    if _pick("Which token", ("the chosen query", "every token"), "token") == "every token":
        composed.values["query"] = None


def _choose_source(composed: _Composed) -> None:
    """Another head of the layer."""
    n_heads, head = composed.config.n_heads, composed.focus.head
    others = [other for other in range(n_heads) if other != head] or [head]
    key = f"compose_source_{n_heads}_{head}"
    composed.values["source"] = st.selectbox("The head to copy", others, key=key, width=140)


def _choose_seed(composed: _Composed) -> None:
    composed.values["seed"] = int(st.number_input("Seed of the order", 0, MAX_SEED, 1, key="compose_seed", width=160))
    composed.values["layers"] = [None]


def _choose_sentence(composed: _Composed) -> None:
    """Another sentence of the text; one that is not there, where there is no other."""
    n_sentences, sentence = composed.n_sentences, composed.sentence
    others = [number for number in range(1, n_sentences + 1) if number != sentence + 1] or [sentence + 2]
    key = f"compose_sentence_{n_sentences}_{sentence}"
    composed.values["sentence"] = st.selectbox("From sentence", others, key=key, width=140) - 1


def _choose_point(composed: _Composed) -> None:
    points = {words: point for point, (_, words) in PATCH_POINTS.items()}
    chosen = st.selectbox("At which point", list(points), index=len(points) - 1, key="compose_point", width=240)
    composed.values["point"] = points[chosen]
    if points[chosen] == "embed":
        composed.values["layers"] = [None]


CHOICES: dict[str, Callable[[_Composed], None]] = {
    "head": _choose_head,
    "own head": _choose_own_head,
    "layers": _choose_layers,
    "sublayer": _choose_sublayer,
    "weight": _choose_weight,
    "token": _choose_token,
    "source": _choose_source,
    "seed": _choose_seed,
    "sentence": _choose_sentence,
    "point": _choose_point,
}
"""What a kind's menu can ask for."""


def _pick(label: str, options: Sequence[str], key: str, help_text: str | None = None) -> str:
    """A choice of one word, the first unless another is chosen."""
    chosen = st.segmented_control(
        label, options, default=options[0], required=True, key=f"compose_{key}", help=help_text
    )
    return chosen or options[0]


def offer_changes(key: str, offers: Mapping[str, Sequence[Change]]) -> None:
    """Draw a button for each offer, by its label, which takes back what is made; grey where it cannot be made.

    The whole page follows a press, as its heading names the changes.
    """
    setup, refused = current_setup(), []
    with st.container(key=key, horizontal=True):
        made_offers = {label for label, wanted in offers.items() if wanted and setup.switched_on.issuperset(wanted)}
        for number, (label, wanted) in enumerate(offers.items()):
            is_made = label in made_offers
            reason = "" if is_made else explain_refusal(setup, wanted)
            if reason:
                refused.append(reason)
            draw_change_button(
                label,
                f"Undo: {lower_first(label)}",
                wanted,
                is_made=is_made,
                reason=reason,
                key=f"{key}_{number}",
                icon=":material/add:",
                help_text=reason or "Changes stand below the heading; the pages show the model with them.",
            )
        if made_offers:
            draw_followed_button(f"{key}_followed")
    for reason in dict.fromkeys(refused):
        st.caption(escape_markdown(reason))
