"""The address bar ⇄ the session.

The address is read as a session begins, and on a page whose link sets something; a run writes it at its end.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import InputError
from playground.link import params, query
from playground.link.lab import Lab
from playground.link.opening import split_link
from playground.link.params import DEFAULT_TEXT, RECIPE, SHARED, TRAINING, UNBOUND, page_parameters, write_changed
from playground.link.query import Settled, Texts
from playground.pages import page_at
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.trained_network import key_in
from playground.web.choices import setup as choices
from playground.web.choices.setup import current_setup, current_value, current_values, session_choices
from playground.web.components import moment, write_address
from playground.web.session import caches, own_models


def open_page(page: str) -> None:
    """Make the choices for the page with this path go together, before any widget exists."""
    noted = session_choices()
    arrived, noted.page, is_first = noted.page != page, page, not noted.moments
    texts = _unread_texts(is_first=is_first, arrived=arrived)
    sentences: list[str] = []
    if texts is not None:
        sentences = _choose_linked(texts, keeps_others=not is_first)
    if arrived and page == "encoder-decoder" and "encdec_source" not in (texts or ()):
        trained = own_models.shown_network() if current_value("weights") == "trained here" else None
        if trained is not None and trained.task.has_decoder:
            st.session_state["encdec_source"] = "your text"
    is_new = is_first or choices.take_moment() != noted.moments[-1]
    sentences += _settle_choices()
    choices.note_moment(choices.take_moment(), sentences, page, is_new=is_new)


def _unread_texts(*, is_first: bool, arrived: bool) -> Texts | None:
    """Return the address's texts; None if the session's choices count."""
    context = get_script_run_ctx()
    is_step_back = context is not None and context.is_history_navigation
    address = {key: st.query_params.get_all(key) for key in st.query_params}
    noted = session_choices()
    is_other = arrived and not is_step_back and address not in ({}, noted.address_read, noted.address_written[1])
    noted.address_read = address
    return query.normalise(address) if is_first or is_other else None


def follow_link(link: str) -> str:
    """Set every choice to what a link says, but go on presenting; return its page's path; raises InputError."""
    page, texts = split_link(link)
    texts = {"present": params.write_all(current_value("present")), **texts}
    sentences = [*_choose_linked(query.normalise(texts)), *_settle_choices()]
    choices.note_moment(choices.take_moment(), sentences, page, is_new=True)
    return page


def _choose_linked(texts: Texts, *, keeps_others: bool = False) -> list[str]:
    """Choose what a link says; what it does not name is default, unless others are kept. Return sentences on it."""
    others = current_values(params.PARAMS) if keeps_others else None
    values, pinned, sentences = query.read_texts(texts, _settle_linked, others)
    choices.set_values(values)
    is_chosen = not {"query", "key"}.isdisjoint(texts)
    if is_chosen or not keeps_others:
        choices.note_focus_text(values["text"] if is_chosen else DEFAULT_TEXT, by_page=not is_chosen)
    if pinned is not None:
        choices.pin(pinned)
    elif not keeps_others:
        choices.pin(None)
    return sentences


def _settle_choices() -> list[str]:
    chosen, noted = current_values(SHARED), session_choices()
    before = noted.moments[-1].values if noted.moments else None
    settled, reasons = _settle(_bring_networks(chosen), shown_before=before)
    st.session_state.update({key: value for key, value in settled.items() if value != chosen[key]})
    pinned = noted.pinned
    if pinned is not None:
        pinned, unfit = _settle(_bring_networks(pinned) if pinned["weights"] == "trained here" else pinned)
        choices.pin(pinned)
        reasons += map(query.of_pinned, unfit)
    return reasons


def _settle_linked(values: Mapping[str, Any], from_link: Collection[str]) -> Settled:
    settled, reasons = _settle(_bring_networks(values), from_link)
    return settled, reasons + (_missing_from_link(settled) if not {"weights", "run"}.isdisjoint(from_link) else [])


def _bring_networks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Show what was trained since, and what a link names if the server has kept it; return values that name a run."""
    slot = own_models.session_models()
    if values["run"]:
        slot.fetch(values["run"])
    slot.update_shown()
    is_shown = values["weights"] == "trained here"
    follows = not values["run"] if is_shown else is_training_page()
    if slot.trained is None or not follows or key_in(values["run"]) == slot.trained.run_key:
        return dict(values)
    return {**values, "run": slot.trained.run_name}


def _settle(
    values: Mapping[str, Any], from_link: Collection[str] = (), shown_before: Mapping[str, Any] | None = None
) -> Settled:
    return query.settle(
        values,
        from_link,
        shown_before=shown_before,
        has_checkpoint=caches.checkpoint_available(),
        recognised=choices.recognised_weights(values),
    )


def _missing_from_link(settled: Mapping[str, Any]) -> list[str]:
    if choices.recognised_weights(settled) is not None:
        return []
    if settled["weights"] == "mine":
        return [
            "A link can't carry a weights file, so these are random weights of its architecture; "
            "open the file in the sidebar to see yours."
        ]
    is_shown = settled["weights"] == "trained here"
    if not is_shown and not (is_training_page() and settled["run"] and not own_models.shown_network(settled["run"])):
        return []
    return [
        "This server has not kept what the link's network has learnt: its weights are random until **Start** on the "
        "Training page trains it again."
    ]


def correct_address(guard: str = "address") -> None:
    """Note the choices for `Undo`, and write the open page's into the address; `guard` names the place."""
    noted, now = session_choices(), choices.take_moment()
    choices.note_moment(now, is_new=is_fragment_rerun() and now != noted.moments[-1])
    texts = current_parameters()
    if noted.address_written[:2] != (noted.page, texts):
        noted.address_written = (noted.page, texts, moment())
    data = {"parameters": texts, "moment": noted.address_written[2], "session": noted.token}
    write_address(guard, data, partial(_follow_address, guard))


def _follow_address(guard: str) -> None:
    with suppress(InputError):
        follow_link(f"/{session_choices().page}{st.session_state[guard].address}")


def current_parameters(page: str = "") -> dict[str, list[str]]:
    """Return the link's parameters for the open page, or another, as texts; those at their defaults are left out."""
    page = page or session_choices().page
    hidden = set(query.HIDDEN[current_value("encdec_source")])
    if current_value("weights") != "trained here" and page != "training":
        hidden.add("run")
    if not current_value("tour") and page != "lessons":
        hidden.add("lesson")  # nobody is in it
    values = current_values({*SHARED, *UNBOUND, *page_parameters(page)} - hidden)
    texts = write_changed(values)
    if values["text"] != DEFAULT_TEXT and page_at(page).runs_text:
        # The defaults are those of the default text: in another one, a link without them opens at a chosen pair.
        texts |= {key: params.write_all(values[key]) for key in ("query", "key")}
    pinned = session_choices().pinned
    return texts if pinned is None else texts | query.pinned_texts(pinned, current_setup().state.asked)


def shows_example() -> bool:
    """Whether the open page is the Decoder's with its trained example, in which the shared choices change nothing."""
    is_decoder = session_choices().page == "encoder-decoder"
    return is_decoder and bool(current_value("encdec_source") == "trained example")


def is_fragment_rerun() -> bool:
    """Whether this run draws fragments alone, and not the page around them."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def is_training_page() -> bool:
    """Whether the page that is drawn has the training's settings as its own."""
    return session_choices().page == "training"


def training_parameters(recipe: Recipe) -> dict[str, list[str]]:
    """Return the Training page's parameters that make this run again, as texts."""
    values = {name: vars(recipe)[name] for name in RECIPE} | {"task": TASKS[recipe.task].title}
    return write_changed({f"training_{name}": value for name, value in values.items()})


def parameters_to_copy(setup: Lab) -> dict[str, list[str]]:
    """Return what the copied link holds beside the page's parameters, to train the same."""
    if setup["weights"] != "trained here" or is_training_page():
        return {}
    trained = choices.trained_network(setup)
    return training_parameters(trained.recipe) if trained else write_changed(current_values(TRAINING))
