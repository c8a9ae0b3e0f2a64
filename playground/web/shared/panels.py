"""What stands around every page: fragments, heading, changes, what is pinned, the run and its answer, tables, code."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import partial, wraps
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from playground.charts.names import escape_markdown
from playground.errors import BusyError, PlaygroundError
from playground.language.text import IDS, VOCABULARY
from playground.link.lab import FittedChanges, Lab, fill_in, head_costs, hidden_word
from playground.link.params import write_changed
from playground.link.query import explain_cut
from playground.model.change_texts import write_change
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text.sentences import foreign_script
from playground.text.wording import count_heads, count_noun, name_device
from playground.views.scenes import count_changes, group_layers, list_differences, name_changes, name_sides, name_tokens
from playground.web.choices import shortcuts
from playground.web.choices.open_page import correct_address, is_fragment_rerun
from playground.web.choices.setup import (
    current_notices,
    current_setup,
    current_value,
    keep_replaced,
    pin,
    pinned_setup,
    session_choices,
    settle_tokens,
    trained_network,
)
from playground.web.components import CHANGES_KEY, ask_before_reload, draw_chips, draw_token_chips
from playground.web.session import caches, own_models
from playground.web.session.own_models import session_experiments
from playground.web.session.services import services
from playground.web.shared import navigation
from playground.web.shared.navigation import current_page, page_named
from playground.words import say

ASKED = "_exercise_asked"
"""Session key of the page whose settings an exercise asks to change, and of its question."""

Source = FunctionType | type | ModuleType | Callable[..., Any]


# --- fragments, and where an answer stands

P = ParamSpec("P")
R = TypeVar("R")


class PageEndError(Exception):
    """Ends the page, or the fragment; its explanation is already drawn."""


@contextmanager
def run_in_turn() -> Iterator[None]:
    """Run a page or a fragment in a turn; if none is free, `draw_in_turn` tries again."""
    with ExitStack() as held:
        with suppress(BusyError):
            held.enter_context(services().turns.take())
        yield


def draw_in_turn(page: str, draw: Callable[[], None], part: str = "page") -> None:
    """Draw a page, by its path, or a part of it; one sentence says if no turn is free."""
    _ANSWER.set(None)
    _PROOF.set(None)
    with services().meters.watch_rerun(page, part), suppress(PageEndError), ExitStack() as held:
        try:
            held.enter_context(services().turns.take())
        except BusyError as error:
            st.error(str(error))
            return
        draw()


def fragment(view: Callable[P, None], run_every: float | None = None) -> Callable[P, None]:
    """Return `view` as a fragment that may end early; alone, it corrects the address and may end a lesson's step."""

    @wraps(view)
    def draw(*args: P.args, **kwargs: P.kwargs) -> None:
        if not is_fragment_rerun():
            with suppress(PageEndError):
                view(*args, **kwargs)
            return
        with run_in_turn():
            draw_in_turn(session_choices().page, partial(view, *args, **kwargs), view.__qualname__)
            is_outdated = navigation.is_line_outdated()
            correct_address(f"address_{view.__qualname__}")
        if is_outdated:
            st.rerun()

    return st.fragment(draw, run_every=run_every)


def warn_before_reload() -> None:
    """Ask before a reload while an experiment is active."""

    def ask_while_active() -> None:
        if session_experiments().active_page() is not None:
            ask_before_reload()

    is_active = session_experiments().active_page() is not None
    fragment(ask_while_active, run_every=2 if is_active else None)()


def as_one_element(view: Callable[P, R]) -> Callable[P, R]:
    """Return `view` drawn as one element: Streamlit drops clicks in fragments whose place has changed."""

    @wraps(view)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        with st.container():
            return view(*args, **kwargs)

    return draw


_ANSWER: ContextVar[DeltaGenerator | None] = ContextVar("answer_place", default=None)
_PROOF: ContextVar[DeltaGenerator | None] = ContextVar("proof_place", default=None)


def keep_answer_place() -> None:
    """Have the page's answer stand here."""
    _ANSWER.set(st.container())


def keep_places_above_focus() -> None:
    """Keep places for the page's answer and for the chart that proves it."""
    if _ANSWER.get() is None:
        keep_answer_place()
        _PROOF.set(_ANSWER.get())
    else:
        _PROOF.set(st.container())


def take_answer_place() -> DeltaGenerator:
    """Return the kept place of the answer, or here."""
    place = _ANSWER.get() or st.container()
    _ANSWER.set(None)
    return place


def take_proof_place() -> DeltaGenerator | None:
    """Return the kept place of the chart that proves the answer, if any."""
    place = _PROOF.get()
    _PROOF.set(None)
    return place


# --- heading and changes


@as_one_element
def draw_heading(question: str) -> None:
    """Draw the page's question, notices and changes."""
    st.title(question)
    if sentences := current_notices():
        listed = "\n".join(f"- {sentence}" for sentence in sentences) if len(sentences) > 1 else sentences[0]
        st.container(key="notices").info(listed)
    page, asked = st.session_state.get(ASKED, (None, ""))
    if page == current_page().path:
        with st.container(key="exercise_asked", horizontal=True, vertical_alignment="center"):
            st.info(f"**Exercise:** {asked}")
            st.page_link(page_named("exercises"), label="Back to the exercise", width="content")
    draw_change_chips()


@as_one_element
def draw_change_chips() -> None:
    """Draw a chip for each change, pressed while it is on."""
    setup, page = current_setup(), current_page()
    if not setup.changes:
        return
    tokens, fitted, waits = _read_text(setup)
    groups, chips = _group(setup), list[dict[str, str | bool]]()
    for group, is_on in groups:
        reason = name_tokens(next((fitted.reasons[each] for each in group if each in fitted.reasons), ""), tokens)
        told = {"reason": reason, "note": waits if is_on else ""}
        chips.append({"text": _write_group(group), "name": name_changes(group, tokens), "is_on": is_on, **told})
    with st.container(key=f"{CHANGES_KEY}_line", horizontal=True, vertical_alignment="center", gap="small"):
        draw_chips(chips, _switch, _take_back)
        if len(groups) > 1:
            st.button("Take all back", key="changes_back", type="tertiary", on_click=shortcuts.take_back_all)
        if page.path != "what-if" and not st.context.is_embedded:
            look = partial(shortcuts.choose_places, whatif_view="what followed")
            if _draw_button("followed", ":material/arrow_forward:", look):
                st.switch_page(page_named("what-if"), query_params={})
    if fitted.applied and page.hides_changes:
        st.caption(say("frame", "no-changes"))


def _read_text(setup: Lab) -> tuple[Sequence[str], FittedChanges, str]:
    try:
        if setup.text.sentences:
            return setup.batch.tokens[setup.sentence], setup.fitted_changes, ""
    except PlaygroundError:  # the page says it where it asks for the run
        pass
    return (), FittedChanges(), say("frame", "changes-wait")


def _group(setup: Lab) -> list[tuple[tuple[Change, ...], bool]]:
    made, n_layers = dict(setup.changes), setup.config.n_layers
    groups = [
        (group, is_on)
        for is_on in (True, False)
        for group in group_layers([each for each in made if made[each] == is_on], n_layers)
    ]
    return sorted(groups, key=lambda found: list(made).index(found[0][0]))


def _switch() -> None:
    pressed = _find_group(st.session_state[CHANGES_KEY].switched)
    shortcuts.switch_changes([each for each, is_on in current_setup().changes if is_on != (each in pressed)])


def _take_back() -> None:
    shortcuts.take_back(_find_group(st.session_state[CHANGES_KEY].taken))


def _find_group(text: object) -> tuple[Change, ...]:
    return next((group for group, _ in _group(current_setup()) if _write_group(group) == text), ())


def _write_group(group: Sequence[Change]) -> str:
    return ",".join(map(write_change, group))


# --- pinned settings, the run and its answer


def start_comparison(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Pin `before`, and set the sidebar to `after`; for callbacks."""
    keep_replaced()
    pin(before)
    shortcuts.choose_values(after)


@as_one_element
def draw_pin_line() -> None:
    """Draw the button that pins, or what differs from what is pinned."""
    pinned, page = pinned_setup(), current_page()
    with st.container(key="pin_line", horizontal=True, vertical_alignment="center", gap="small"):
        if pinned is None:
            _draw_button("pin", ":material/push_pin:", _pin)
            return
        differences = list_differences(pinned.values, current_setup().values)
        before, now = map(escape_markdown, name_sides(differences))
        told = say("frame", "compared", before=before, now=now) if differences else say("frame", "pinned")
        st.markdown(f":material/push_pin: {told}", width="content")
        _draw_button("pin_swap", ":material/swap_horiz:", shortcuts.swap_pinned, disabled=not differences)
        _draw_button("pin", ":material/push_pin:", _pin, disabled=not differences)
        _draw_button("unpin", ":material/close:", pin)
        if page.path != "compare":
            st.page_link(page_named("compare"), label="Compare in full", icon=":material/compare_arrows:")
    if page.runs_text and (why := _explain_failure(pinned)):
        st.info(say("frame", "pinned-fails", why=why))


def _explain_failure(pinned: Lab) -> str:
    if not pinned.text.sentences:
        return say("frame", "pinned-fails.text")
    try:
        caches.run_sentence(pinned.run_key)
    except PlaygroundError as error:
        return escape_markdown(error)
    return ""


def _draw_button(key: str, icon: str, on_click: Callable[[], None], *, disabled: bool = False) -> bool:
    label, help_text = say("frame", f"do-{key}"), say("frame", f"help-{key}")
    return st.button(label, key=key, icon=icon, type="tertiary", on_click=on_click, help=help_text, disabled=disabled)


def _pin() -> None:
    keep_replaced()
    pin(current_setup().state.asked)


def shown_run(*, changed: bool = True) -> Run:
    """Return the run of the visitor's sentence; an error ends the page."""
    with explain_errors():
        setup = current_setup()
        return caches.run_sentence(setup.run_key if changed else setup.untouched_key)


@contextmanager
def explain_errors() -> Iterator[None]:
    """Show an expected error as one sentence, and end the page or fragment."""
    try:
        yield
    except PlaygroundError as error:
        st.error(escape_markdown(error))
        raise PageEndError from None


def require_text(setup: Lab, invitation: str) -> None:
    """Show what was cut from the text; without a sentence, end the page with the invitation."""
    for note in setup.text.notes:
        st.info(note, icon=":material/content_cut:")
    if not setup.text.sentences:
        st.info(invitation)
        raise PageEndError


@as_one_element
def draw_run_line(*, changed: bool = True) -> Run:
    """Draw what is odd about the run, its size and its answer; return the run."""
    setup = current_setup()
    require_text(setup, say("frame", "no-text"))
    run = shown_run(changed=changed)
    settle_tokens(run)
    if odd := list(_list_oddities(setup, run)):
        st.info(" ".join(odd), icon=":material/help:")
    n_sentences, n = len(setup.text.sentences), count_changes(run)
    parts = [
        f"sentence {setup.sentence + 1} of {n_sentences}" if n_sentences > 1 else "",
        count_noun(run.n_real, "token") + (f" + {run.padding.size - run.n_real} padding" if run.padding.any() else ""),
        count_heads(run.config.n_layers, run.config.n_heads),
        f"{1000 * run.seconds:.0f} ms on {name_device(run.device)}",
        own_models.describe_weights(setup.weights),
        "" if run.config.vocab_size else say("frame", "vectors"),
        f":violet-badge[{count_noun(n, 'change')}]" if n else "",
    ]
    st.caption(" · ".join(filter(None, parts)))
    if setup.state.is_english:
        _draw_answer_line(setup, run)
    return run


def _list_oddities(setup: Lab, run: Run) -> Iterator[str]:
    if trained_network(setup) and all(setup.batch.unknown[setup.sentence]):
        yield say("frame", "odd-unknown")
    if setup.weights == "minilm" and (script := foreign_script(setup.batch.sentences[setup.sentence])):
        yield say("frame", "odd-language", script=script)
    if not np.isfinite(run.arrays["final"]).all():
        yield say("frame", "odd-overflow")
    if n_cut := setup.batch.truncated[setup.sentence]:
        yield say("frame", "odd-cut", kept=str(run.n_real), cut=str(n_cut), why=explain_cut(setup.values))


_CHIPS = "mask_chips"


def _draw_answer_line(setup: Lab, run: Run) -> None:
    hidden = hidden_word(setup)
    place = hidden[0] if hidden else None
    with st.container(key="answer_line", horizontal=True, vertical_alignment="center", gap="small"):
        if hidden is not None:
            st.markdown("  \n".join(_describe_answer(setup, *hidden)), width="content")
        with st.popover(say("frame", "hide"), icon=":material/visibility_off:"):
            st.caption(say("frame", "hide.how"))
            chips = [
                (token, "", "special" if special else "plain", "hidden" if place == i else "hide")
                for i, (token, special) in enumerate(zip(run.real_tokens, run.special, strict=False))
            ]
            draw_token_chips(chips, query=place, on_click=_hide, name=_CHIPS)


def _describe_answer(setup: Lab, place: int, right: str) -> Iterator[str]:
    untouched, pinned = setup.without_changes, pinned_setup()
    yield f":material/edit: [?] = {_list_likeliest(fill_in(setup)[-1], right)}"
    with suppress(PlaygroundError):  # the page says why there is no pinned run
        if pinned is not None and pinned.text.sentences and hidden_word(pinned) == (place, right):
            yield f"Pinned: {_list_likeliest(fill_in(pinned)[-1], right)}"
    if not right:
        return
    word, before = escape_markdown(right), float(fill_in(untouched)[-1][IDS[right]])
    if setup.run_key != setup.untouched_key:
        yield f"Without your changes: *{word}* {before:.2f}"
    costs = head_costs(untouched, right)
    layer, head = np.unravel_index(int(costs.argmax()), costs.shape)
    yield f"Without layer {layer}, head {head}: *{word}* {before - costs[layer, head]:.2f}"


def _list_likeliest(probabilities: Array, right: str) -> str:
    best = [i for i in np.argsort(-probabilities, kind="stable")[:5] if probabilities[i] >= 0.005]
    words = [(VOCABULARY[i], f"{escape_markdown(VOCABULARY[i])} {probabilities[i]:.2f}") for i in best]
    return " · ".join(f"**{told}**" if word == right else told for word, told in words)


def _hide() -> None:
    place, setup = st.session_state[_CHIPS].clicked, current_setup()
    special = setup.batch.special[setup.sentence]
    if isinstance(place, int) and 0 <= place < len(special) and not special[place]:
        st.session_state["mask"] = place


def fold_settings(key: str, title: str, names: Iterable[str]) -> ExpanderContainer:
    """Return an expander for parameters' widgets, open if a link has set one."""
    if key not in st.session_state:  # once a session: else it would open or close under the visitor's hands
        st.session_state[key] = bool(write_changed({name: current_value(name) for name in names}))
    return st.expander(title, key=key, on_change="rerun")


def code_behind(key: str, *sources: Source) -> None:
    """Show the source of what computed a page in an expander."""
    panel = st.expander("The code behind this", icon=":material/code:", key=f"{key}_code", on_change="rerun")
    if panel.open:
        with panel:
            st.caption(say("frame", "code"))
            for source in sources:
                st.caption(f"`{inspect.getmodule(source).__name__}`")  # type: ignore[union-attr]
                st.code(inspect.getsource(source), language="python")
