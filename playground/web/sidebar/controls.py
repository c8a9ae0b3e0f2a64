"""The sidebar, the same on every page: text, weights, architecture, tokens, seed and link."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, get_args

import streamlit as st

from playground.accounting import count_parameters
from playground.config import SETTINGS, SettingGroup
from playground.errors import PlaygroundError
from playground.link import english, params
from playground.link.kinds import Choice, Size
from playground.link.params import ARCHITECTURE, PARAMS
from playground.link.query import VERSION, model_config, settle, shape_to_train, trains_small
from playground.pages import page_at
from playground.presets import PRESETS
from playground.runs.budget import check_budget, check_kept
from playground.web.choices import history, open_page, shortcuts, widgets
from playground.web.choices.english import follow_move, leave_minilm, note_drawn, weights_chosen
from playground.web.choices.setup import (
    OPEN_PAGE,
    Setup,
    current_setup,
    current_value,
    recognised_weights,
    trained_network,
)
from playground.web.components.drawings import draw_copy_link
from playground.web.session.own_models import session_models
from playground.web.session.services import services
from playground.web.shared.navigation import open_requested_page
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.shared.pinning import pinned_side
from playground.web.sidebar import english_panel, saved_link, upload_panel
from playground.web.sidebar.export_dialog import Variants, export_button
from playground.web.sidebar.trained_panel import draw_trained_panel

GLOSSARY = Path(__file__).with_name("glossary.md").read_text(encoding="utf-8")
"""A paragraph of markdown for each term, in alphabetical order."""


def draw_glossary() -> None:
    """An expander with every term; its text is sent only while it is open."""
    panel = st.expander("Glossary", icon=":material/menu_book:", key="glossary", on_change="rerun")
    if panel.open:
        panel.markdown(GLOSSARY)


SHAPE = (
    ("n_layers", "layers", "Encoder blocks, one after the other."),
    ("n_heads", "heads", "Attention patterns in each layer, side by side."),
    ("d_model", "width", "Numbers that stand for one token."),
    ("positions", "positions", "How the encoder is told the order of the words."),
    ("norm_placement", "norm place", "Before each attention and feed-forward part, after it, or both."),
    ("norm", "norm kind", "What keeps the vectors' lengths in range; none leaves it out."),
    ("residual", "residuals", "Each part adds to its input instead of replacing it."),
)
"""What of the architecture is set in sight: key, label, and one line on what it is. Everything else is for experts."""

IN_SIGHT = tuple(key for key, _, _ in SHAPE)

_TOKENS = ("tokenizer", "vocab_size", "table_rows", "max_len", "causal", "seed")
"""What experts can set beside the architecture."""

EXPERT = "expert"
"""Key of the experts' expander, whose widgets are drawn only while it is open: two dozen, on every page."""

_ASKED = "_expert_asked"
"""Session key of whether a link, or a file, asked for what only experts set, so that their expander was opened."""


def draw(variants: Variants) -> Callable[[], None]:
    """Draw the shared widgets outside the expanders; returns the function that draws those inside.

    The page comes in between, so that two dozen widgets don't keep the browser from its charts. `variants` is what
    there is to take along.
    """
    open_requested_page()
    with st.container(key="state_bar", horizontal=True, gap="small"):
        copy_link("copy_link")
        st.button(
            "Undo", key="undo", icon=":material/undo:", on_click=history.undo,
            help="Brings back what was chosen before your last change.",
        )  # fmt: skip
    is_folded = open_page.shows_example()  # the settings change nothing on the open page
    with st.expander("Settings of the other pages", icon=":material/settings:") if is_folded else st.container():
        setup, locked = draw_text_and_weights()
        st.selectbox(
            "Start from",
            PRESETS,
            index=None,
            key="preset",
            format_func=lambda name: PRESETS[name].title,
            placeholder="a named architecture …",
            on_change=_start_from,
            help="Sets the architecture and the tokens to a tutorial's or a paper's, with random weights. A tutorial "
            "with an example text brings that too.",
        )
        _open_where_asked(setup, locked)
        expert = st.expander("Expert", icon=":material/tune:", key=EXPERT, on_change="rerun")
    more = st.expander("More", icon=":material/more_horiz:")
    draw_glossary()
    st.button(
        "Reset everything",
        key="reset",
        icon=":material/restart_alt:",
        on_click=history.reset_everything,
        width="stretch",
    )

    def draw_expanders() -> None:
        with expert:
            _draw_expert(setup, locked, is_open=bool(expert.open))
        with more:
            export_button(variants)
            saved_link.draw()

    return draw_expanders


def _draw_architecture(setup: Setup, locked: Collection[str]) -> None:
    """Draw what of the architecture is in sight, two settings a row.

    MiniLM's lead to the small English; those of what Training trains, or has trained, to random weights.
    """
    trains = open_page.is_training_page() or trained_network(setup) is not None
    leave = shortcuts.change_trained_shape if trains else leave_minilm
    decided = _are_decided(setup)
    shape = shape_to_train(setup.values) if trains else setup.values
    drawn = [each for each in SHAPE if decided or each[0] not in locked]
    for first in range(0, len(drawn), 2):
        row = drawn[first : first + 2]
        for column, (key, label, line) in zip(st.columns(len(row), gap="small"), row, strict=True):
            with column:
                if decided:
                    widgets.keep(key)
                    widgets.offer(key, label, line, shape[key], leave)
                else:
                    moved = {"on_change": follow_move, "args": (key,)} if setup.state.is_english else {}
                    _draw_setting(setup, key, label, help_text=line, **moved)


def _are_decided(setup: Setup) -> bool:
    """Whether the controls in sight show what the weights or the page decide, so that a move chooses other weights."""
    is_small = open_page.is_training_page() and trains_small(setup.values)
    return is_small or setup["weights"] == "minilm" or trained_network(setup) is not None


def _locked(setup: Setup) -> Collection[str]:
    """The keys of the settings that the chosen weights decide."""
    if setup["weights"] == "minilm":
        return params.LOCKED
    recognised = recognised_weights(setup.values)
    return recognised.settings if recognised else ()


def _open_where_asked(setup: Setup, locked: Collection[str]) -> None:
    """Open the experts' expander, once, for a link with a setting in it and for a file that asks for some."""
    hidden = {*ARCHITECTURE, *_TOKENS} - {*IN_SIGHT, *locked}
    upload = session_models().upload if setup["weights"] == "mine" else None
    asks = upload is not None and not hidden.isdisjoint(upload.recognised.open_settings)
    if _ASKED not in st.session_state:
        defaults = params.default_values(setup.values)
        asks = asks or any(setup[key] != defaults[key] for key in hidden)
    if asks and not st.session_state.get(_ASKED):
        st.session_state[EXPERT] = True
    st.session_state[_ASKED] = asks


def _draw_expert(setup: Setup, locked: Collection[str], *, is_open: bool) -> None:
    """Draw what a newcomer leaves alone, what the weights lock, and which preset all of it matches.

    While the expander is closed, and where a setting has no effect, its value is kept.
    """
    groups = _expert_groups(setup, locked)
    if not is_open:
        for key in (key for group in groups.values() for key in group):
            widgets.keep(key)
        return
    if setup["weights"] == "minilm":
        label, icon = "Unlock: same shape, random weights", ":material/lock_open:"
        st.button(label, key="unlock", icon=icon, on_click=_unlock, width="stretch")
    if not setup.state.is_english:
        st.caption(_nearest_preset(setup))
    for title, group in groups.items():
        if any(group.values()):
            st.markdown(f"**{title}**")
        for key, is_shown in group.items():
            if not is_shown:
                widgets.keep(key)
            elif key == "seed":
                widgets.number(key)
            else:
                is_files = key in ("tokenizer", "vocab_size") and bool(setup.state.own_tokenizer)
                options: dict[str, Any] = {"step": 100} if key == "vocab_size" else {}
                _draw_setting(setup, key, disabled=key in locked or is_files, **options)


def _draw_setting(setup: Setup, key: str, label: str | None = None, **options: Any) -> None:
    """Draw a setting; where a model is run, a slider ends before the server would refuse it."""
    if isinstance(PARAMS[key], Choice) and label:
        widgets.menu(key, label, **options)
        return
    runs_text = setup.text.sentences and page_at(st.session_state[OPEN_PAGE]).runs_text
    if isinstance(PARAMS[key], Size) and runs_text:
        options["fits"] = partial(_is_run, setup, key)
    widgets.draw(key, label, **options)


def _is_run(setup: Setup, key: str, stop: float) -> bool:
    changed = {**setup.values, "sentence": 1, key: stop}
    values, _ = settle(changed, recognised=recognised_weights(setup.values))
    try:
        config = model_config(values, max(setup.config.vocab_size, values["table_rows"]))
        check_budget(config, services().settings.max_parameters)
        check_kept(config, setup.batch.ids.shape[1])
    except PlaygroundError:
        return False
    return True


def _expert_groups(setup: Setup, locked: Collection[str]) -> dict[str, dict[str, bool]]:
    """The experts' settings by the titles of their groups, in order, and whether each has an effect now."""
    in_sight = {*IN_SIGHT} if _are_decided(setup) else {*IN_SIGHT} - {*locked}
    groups = {
        group.capitalize(): {
            key: SETTINGS[key].has_effect(setup.values)
            for key in ARCHITECTURE
            if SETTINGS[key].group == group and key not in {*in_sight, *_TOKENS}
        }
        for group in get_args(SettingGroup)
    }
    tokens = {}
    if trained_network(setup) is None and not setup.state.is_english:
        tokens["tokenizer"] = True
        if setup["tokenizer"] == "bpe":
            tokens["vocab_size"] = True
        tokens["table_rows"] = setup.weights == "random" and not setup.state.takes_vectors
    tokens |= {"max_len": True, "causal": True, "seed": "seed" not in locked and _draws_random(setup)}
    return groups | {"Tokens, masks and chance": tokens}


def _draws_random(setup: Setup) -> bool:
    """Whether the open page shows anything that is drawn from the seed."""
    page, known = page_at(st.session_state[OPEN_PAGE]), recognised_weights(setup.values)
    takes_vectors = setup.state.takes_vectors or (known is not None and not known.settings["vocab_size"])
    has_seed = setup.weights == "random" or setup.state.is_english
    return has_seed or takes_vectors or page.own_networks or page.draws_numbers


@as_one_element
def draw_text_and_weights() -> tuple[Setup, Collection[str]]:
    """Draw text, architecture, weights and what belongs to these; returns the setup and the keys that are locked."""
    widgets.text("text", height=80, on_change=_text_typed)
    setup = current_setup()
    if len(setup.text.sentences) > 1:
        st.caption("Each line is a sentence of its own, in code too: no token sees another line.")
        widgets.whole("sentence", high=len(setup.text.sentences))
    locked = _locked(setup)
    _draw_architecture(setup, locked)
    if setup.state.is_english:
        english_panel.draw_move(setup)
    widgets.choice("weights", on_change=weights_chosen)
    if setup.state.is_english:
        note_drawn()
    if setup["weights"] == "minilm":
        moves = "Moving a control opens a trained encoder of the small English."
        if open_page.is_training_page():
            moves = "It is too large to train here: the controls show its kind in small, which is trained instead."
        st.caption(
            f"**MiniLM-L6**, {count_parameters(setup.config).total:,} parameters, trained on pairs of sentences. "
            f"{moves}"
        )
    elif setup.state.is_english:
        english_panel.draw(setup)
    elif setup["weights"] == "mine":
        upload_panel.draw(setup)
    elif setup["weights"] == "trained here":
        draw_trained_panel(setup)
    elif not open_page.is_training_page():
        n = count_parameters(setup.config).total
        st.caption(f":orange-badge[random weights] {n:,} parameters; nothing was learnt.")
    return setup, locked


def _text_typed() -> None:
    """Take a typed text; the word that was hidden in the text before is none of its own."""
    typed = current_value("text")
    shortcuts.keep_replaced()
    if current_value("text") == typed:  # else the browser has sent an old text late
        st.session_state["mask"] = english.NO_MASK


@fragment
def copy_link(key: str, *, is_small: bool = False) -> None:
    """The button that copies a link. Its click runs this fragment after all choices before the click."""
    setup, side = current_setup(), pinned_side()
    if side and setup["weights"] != "trained here":
        setup = side.setup
    draw_copy_link(key, VERSION, open_page.parameters_to_copy(setup), is_small=is_small)


def _nearest_preset(setup: Setup) -> str:
    """Which presets the sidebar matches in all that they set but the weights; or which comes nearest, and how not."""
    distances = {
        name: {key: theirs for key, theirs in shortcuts.preset_values(name).items() if setup[key] != theirs}
        for name in PRESETS
    }
    same = [PRESETS[name].title for name, different in distances.items() if not different]
    if same:
        return f"matches: {' · '.join(same)}"
    name, different = min(distances.items(), key=lambda item: len(item[1]))
    listed = ", ".join(
        "another text" if key == "text" else f"{key} {setup[key]} instead of {theirs}"
        for key, theirs in different.items()
    )
    return f"nearest: {PRESETS[name].title}, but {listed}"


def _unlock() -> None:
    shortcuts.choose_values({key: current_value(key) for key in params.LOCKED} | {"weights": "random"})


def _start_from() -> None:
    name = st.session_state["preset"]
    if name is not None:
        shortcuts.apply_preset(name, small=open_page.is_training_page())
        st.session_state["preset"] = None  # a shortcut, not a choice that lasts
