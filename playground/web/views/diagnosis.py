"""The page Diagnosis: somebody's tensors, from a file or pasted, beside those of the sidebar's model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st
import torch

from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown, quote_token
from playground.charts.scene import Scene
from playground.diagnosis import TOLERANCE, diagnose
from playground.errors import InputError, PlaygroundError
from playground.link.state import RunKey
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.mistakes.saved import HOW_TO_SAVE, MAX_BYTES, read_arrays, read_printed, write_saving_code
from playground.model import Encoder
from playground.runs.forward_pass import read_rows
from playground.text.wording import quote_text, upper_first
from playground.views.diagnosis import Diagnosed, describe_names, show_diagnosis
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_setup
from playground.web.components.without_picture import request_scroll
from playground.web.session import caches
from playground.web.session.services import services
from playground.web.shared import panels, uploads
from playground.web.shared.renderer import render

_UPLOADER = "diagnosis_file"
"""Name of the uploader."""

_PROBLEM = "_diagnosis_problem"
"""Session key of the sentence that says why the last tensors were not taken."""

_GIVEN = "_diagnosis_given"
"""Session key, in the run after, of what the visitor gave."""

_FOUND = "_diagnosis_found"
"""Session key of what was found in what they gave last."""

_EXAMPLES = (
    "split-without-transpose",
    "residual-forgotten",
    "no-score-scale",
    "activation-forgotten",
    "softmax-over-queries",
)
"""The mistakes of the encoders that are there to be tried, one after the other."""

_NEXT_EXAMPLE = "_diagnosis_next_example"
"""Session key of the number of the example that comes next."""

_CODE = "The code that saves them, and their names"
"""What the expander of step 2 is called."""

_MOST_TOKENS = 64
"""Of the sentence: a search runs the model some hundred times."""


@dataclass(frozen=True)
class _Given:
    """What a visitor gave."""

    name: str
    """What it is called."""
    tensors: Mapping[str, Any] | None
    """None: those of the sidebar's model with an example's mistake."""
    printed: tuple[str, str] | None = None
    """A tensor's name and its text, still to be read, instead of `tensors`."""
    example: int = 0
    """The number of that example."""


@dataclass(frozen=True, eq=False)
class _Found:
    """What was found, of which the session keeps the first differing tensor alone."""

    name: str
    key: RunKey
    """Of the model and the sentence that it was compared with."""
    diagnosed: Diagnosed


def draw_diagnosis() -> None:
    """The page below its heading."""
    setup = current_setup()
    panels.require_text(setup, "Type a sentence into “Your text”: your encoder and this one are to read the same.")
    key = setup.untouched_key
    with panels.explain_errors(), caches.turn_on_text(key) as (encoder, batch):
        if batch.ids.shape[1] > _MOST_TOKENS:
            raise InputError(
                f"The sentence has more than {_MOST_TOKENS} tokens, too many to look for mistakes: shorten it."
            )
        rows = read_rows(encoder, batch, [setup.sentence], seed=setup["seed"], causal=setup["causal"])
        ids, mask = rows.x, None if bool(rows.mask.all()) else rows.mask
        names = run_edited(encoder, Input(ids, mask), [])
    given: _Given | None = st.session_state.pop(_GIVEN, None)
    if given is not None:
        found = _compare(given, key, ids, mask, encoder, names)
        st.session_state[_FOUND] = found or st.session_state.get(_FOUND)
    n_mistakes = sum(mistake.applies(encoder.config, mask) for mistake in MISTAKES.values())
    _draw_found(key, n_mistakes)
    _draw_ways_in(names, ids, mask)


def _compare(
    given: _Given,
    key: RunKey,
    ids: torch.Tensor,
    mask: torch.Tensor | None,
    encoder: Encoder,
    ours: Mapping[str, torch.Tensor],
) -> _Found | None:
    """What was found in what was given; None where it cannot be compared, which the page says."""
    bar = st.progress(0.0, "Looking for what explains it …")

    def show(done: int, most: int) -> None:
        bar.progress(min(done / max(most, 1), 1.0), "Looking for what explains it …")

    try:
        with services().turns.hold_long_place(), services().turns.take():
            tensors, tolerance = given.tensors, TOLERANCE
            if given.printed is not None:
                array, rounding = read_printed(given.printed[1])
                tensors, tolerance = {given.printed[0]: array}, TOLERANCE + rounding
            if tensors is None:
                possible = [MISTAKES[each] for each in _EXAMPLES if MISTAKES[each].applies(encoder.config, mask)]
                mistake = possible[given.example % len(possible)]
                tensors = run_edited(encoder, Input(ids, mask), [mistake.making])
            found = diagnose(encoder, ids, tensors, mask, tolerance=tolerance, on_progress=show)
    except PlaygroundError as error:
        services().meters.count_refusal(error)
        hint = f" Step 2 has every name and its shape, under “{_CODE}”." if isinstance(error, InputError) else ""
        st.error(f"{escape_markdown(upper_first(given.name))}: {escape_markdown(error)}{hint}")
        return None
    finally:
        bar.empty()
    setup = current_setup()
    first = [] if found.first is None else [found.first]
    order = list(ours)
    before = order[: order.index(found.first)] if found.first is not None else []
    last_right = max((place for place, name in enumerate(before) if name in found.theirs), default=-1)
    diagnosed = Diagnosed(
        replace(found, theirs={}),
        {name: found.theirs[name].numpy() for name in first},
        {name: ours[name].numpy() for name in first},
        setup.batch.tokens[setup.sentence],
        before[last_right + 1 :],
        is_example=given.tensors is None and given.printed is None,
    )
    return _Found(given.name, key, diagnosed)


def _draw_found(key: RunKey, n_mistakes: int) -> None:
    """The report on what was given last; before, what the page does, with so many mistakes that it knows."""
    found: _Found | None = st.session_state.get(_FOUND)
    if found is None or (found.diagnosed.is_example and found.key != key):
        invitation = (
            "Have you written an encoder whose results are wrong? Bring the numbers that it computes. This page finds "
            f"the first wrong one, and tries the **{n_mistakes}** of {len(MISTAKES)} known mistakes that fit this "
            "model, alone and in pairs, to explain it."
        )
        render([Paragraph(invitation, "answer")])
        _draw_example("See it done: try a wrong encoder", "primary")
        return
    if found.key != key:
        st.info(
            "The sidebar's model or its sentence has changed since: bring your tensors again to compare them with it."
        )
    st.caption(f"Checked: {escape_markdown(found.name)}.")
    scene = Scene(found.diagnosed)
    render(show_diagnosis(scene, {}), scene)
    _draw_example("Try another wrong encoder", "secondary")


def _draw_example(label: str, kind: Literal["primary", "secondary"]) -> None:
    st.button(
        label, key="diagnosis_example", on_click=_take_example, icon=":material/bug_report:", type=kind,
        help="The sidebar's model, with one mistake that many make.",
    )  # fmt: skip


def _draw_ways_in(names: Mapping[str, torch.Tensor], ids: torch.Tensor, mask: torch.Tensor | None) -> None:
    st.header("Check your own encoder", anchor=False)
    st.markdown(
        "**1. Build the sidebar's encoder in your own code, with its weights.** *Take it with you*, under **More** "
        "in the sidebar, has them as code. A small encoder is easier to rebuild."
    )
    setup = current_setup()
    if setup.weights != "random":
        st.button(
            "Take a small random encoder", key="diagnosis_small", icon=":material/casino:", on_click=_take_small,
            help="The encoder of 2017, with 2 narrow layers: d_model 16, 4 heads, d_ff 32.",
        )  # fmt: skip
    else:
        config = setup.config
        st.caption(
            f"The sidebar's encoder has random weights; n_layers {config.n_layers}, n_heads {config.n_heads}, d_model "
            f"{config.d_model}, d_ff {config.d_ff}. Steps 2 and 3 are about it."
        )
    st.markdown("**2. Run it on these tokens, and save what it computes.** Some intermediate tensors are enough.")
    st.markdown(" ".join(map(quote_token, setup.batch.tokens[setup.sentence])))
    with st.expander(_CODE, icon=":material/code:"):
        st.code(write_saving_code(setup.config, ids, mask), language="python", wrap_lines=True)
        st.caption("Every name, with its shape. Any of them will do; the earlier ones say more.")
        shapes = {name: tensor.numpy() for name, tensor in names.items()}
        st.dataframe(describe_names(shapes), hide_index=True, height=240)
    st.markdown("**3. Bring them here.** The result then stands at the top of this page.")
    st.file_uploader(
        "A file of NumPy (.npz) or safetensors", key=uploads.uploader_key(_UPLOADER), on_change=_open_file,
        max_upload_size=MAX_BYTES // 2**20, help=f"Saved with {HOW_TO_SAVE}, by the names of step 2.",
    )  # fmt: skip
    if _PROBLEM in st.session_state:
        st.error(st.session_state[_PROBLEM])
    # A key of its own keeps it open while boxes above it come and go.
    with st.expander(
        "Or paste a printed tensor", icon=":material/content_paste:", key="diagnosis_paste", on_change="rerun"
    ):
        st.selectbox("Which one is it?", list(names), index=list(names).index("final"), key="diagnosis_name")
        st.text_area("As it was printed", key="diagnosis_text", placeholder="tensor([[[ 0.1234, -0.5678, …")
        st.button("Compare", key="diagnosis_compare", on_click=_take_printed)


def _open_file() -> None:
    file = uploads.take_file(_UPLOADER)
    if file is not None:
        with uploads.explain_failure(_PROBLEM, quote_text(file.name)):
            st.session_state[_GIVEN] = _Given(quote_text(file.name), read_arrays(file.getvalue()))
            request_scroll("answer")


def _take_small() -> None:
    shortcuts.apply_preset("vaswani-base")
    shortcuts.choose_values({"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32})


def _take_example() -> None:
    st.session_state.pop(_PROBLEM, None)
    example = st.session_state.get(_NEXT_EXAMPLE, 0)
    st.session_state[_NEXT_EXAMPLE] = example + 1
    st.session_state[_GIVEN] = _Given("an example, the sidebar's model with one mistake", None, example=example)
    request_scroll("answer")


def _take_printed() -> None:
    st.session_state.pop(_PROBLEM, None)
    printed = st.session_state["diagnosis_name"], st.session_state.get("diagnosis_text") or ""
    st.session_state[_GIVEN] = _Given("the pasted tensor", None, printed)
    request_scroll("answer")
