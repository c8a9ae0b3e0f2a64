"""The live parts of the page Encoder-decoder: the choice of the pair and its texts."""

import streamlit as st
import torch

from playground.charts.markdown import escape_markdown
from playground.link.params import DEFAULT_TARGET, DEFAULT_TEXT, PARAMS, page_parameters
from playground.training.tasks.translation import ENGLISH, TRANSLATE, WORDS
from playground.views.encoder_decoder import pair_scene, show_encoder_decoder
from playground.web.choices import shortcuts, widgets
from playground.web.choices.open_page import is_fragment_rerun
from playground.web.choices.setup import current_setup, current_value, trained_network
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.focus_line import keep_answer_place
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view
from playground.words import say

PAGE = "encoder-decoder"

_OF_BOTH = ("encdec_source", "encdec_show_training", "encdec_show_masks", "encdec_show_costs")
"""The parameters that neither source has for itself."""

_SWITCHED = "_encdec_switched"
"""Session key of whether the source has just been switched."""


@fragment
def explore_pair() -> None:
    """The page below its heading."""
    if st.session_state.pop(_SWITCHED, False) and is_fragment_rerun():
        st.rerun()  # the sidebar is outside of this fragment, and folds its settings beside the example
    keep_answer_place()
    if widgets.choice("encdec_source", say("encoder_decoder", "source"), on_change=_swap_hidden) == "your text":
        _choose_own()
    else:
        _choose_example()
    st.caption(say("encoder_decoder", "terms"))
    draw_view(PAGE, show_encoder_decoder, pair_scene, ())


def _swap_hidden() -> None:
    """Each of the two sources keeps what its own widgets stood at while the other one is shown."""
    keys = {key for key in page_parameters(PAGE) if key not in _OF_BOTH}
    example = {key for key in keys if key.startswith("encdec_example")}
    shown = example if st.session_state["encdec_source"] == "trained example" else keys - example
    shortcuts.swap_hidden(hidden=keys - shown, shown=shown)
    text, trained = current_value("text"), trained_network(current_setup())
    has_own = current_value("encdec_target") != DEFAULT_TARGET or text == DEFAULT_TEXT
    if shown != example and not has_own and not (trained and trained.task.has_decoder):
        # The link's default translates the default text alone.
        st.session_state["encdec_target"] = widgets.cut_text("encdec_target", text)
    st.session_state[_SWITCHED] = True


def _choose_example() -> None:
    """Draw the English sentence, a button for another one, and the words that the translator reads."""
    trained = trained_network(current_setup())
    if trained is not None and trained.task.has_decoder:
        st.caption(say("encoder_decoder", "own.trained"))
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        widgets.text("encdec_example", say("encoder_decoder", "english"), on_change=_begin_anew)
    with right, st.container(horizontal=True):
        st.button(
            say("encoder_decoder", "english.another"), key="encdec_another", icon=":material/casino:",
            on_click=_draw_sentence, width="stretch",
        )  # fmt: skip
        title = say("encoder_decoder", "english.words", n=len(ENGLISH))
        with st.popover(title, icon=":material/dictionary:", width="stretch"):
            lines = (f"**{kind}**: {' · '.join(word for word, _, _ in forms)}" for kind, forms in WORDS.items())
            st.markdown("  \n".join(lines))
            st.caption(say("encoder_decoder", "english.grammar"))


def _draw_sentence() -> None:
    """Put a sentence of the grammar into the field."""
    random = torch.Generator()
    random.seed()
    (ids,) = TRANSLATE.draw(caches.APP.translator().recipe, 1, random).tolist()
    st.session_state["encdec_example"] = " ".join(ENGLISH[i - TRANSLATE.first_id] for i in ids if i)
    _begin_anew()


def _begin_anew() -> None:
    """Go back to the first step, as the sentence is another."""
    for key in ("encdec_example_position", "encdec_position"):
        if key in st.session_state:
            st.session_state[key] = PARAMS[key].default


def _choose_own() -> None:
    """Draw the visitor's sentence and the field of its target; ends the page without a sentence."""
    setup = current_setup()
    panels.require_text(setup, say("encoder_decoder", "no-text"))
    source = escape_markdown(setup.text.sentences[setup.sentence].strip())
    st.markdown(say("encoder_decoder", "own", text=source))
    widgets.text("encdec_target", say("encoder_decoder", "own.target"), height=90, on_change=_begin_anew)
    st.caption(say("encoder_decoder", "own.settings"))
