"""Callbacks that set several choices at once: a preset, the trained network, another text.

All that set the sidebar's values do it by `choose_values`, which sees to what else a value changes.
Callbacks run before any widget is drawn: only then do widgets take new values.
"""

from collections.abc import Mapping
from time import monotonic
from typing import Any

import streamlit as st

from playground.link import params
from playground.link.params import TASK_TITLES
from playground.link.query import shape_to_train, values_of_preset
from playground.text import split_sentences
from playground.training.tasks import TASKS
from playground.training.trained_network import KeptRun
from playground.web.choices import setup
from playground.web.choices.setup import current_setup, current_value, note_focus_text, trained_network
from playground.web.session import caches


def choose_values(values: Mapping[str, Any]) -> None:
    """Choose values of parameters, by their keys in the link; for callbacks.

    Query and key, and a decoder's step, if they are among the values, are those of the text then.
    """
    if "text" in values:
        replace_text(values["text"])
    st.session_state.update({key: value for key, value in values.items() if key != "text"})
    if "weights" in values:
        st.session_state["run"] = values.get("run", "")
    if values.get("weights") == "minilm":  # what it locks is settled only in the run, and decides on the tokens
        locked = preset_values("minilm-l6")
        st.session_state.update({key: value for key, value in locked.items() if key in params.LOCKED})
    if values.keys() & {"query", "key"}:
        note_focus_text()


def change_trained_shape(key: str, value: Any) -> None:
    """Take the shape that Training trains with one setting changed, and random weights; for callbacks."""
    shape = shape_to_train(current_setup().state.asked)
    choose_values({"weights": "random", "untrained": False, **shape, key: value})


def swap_pinned() -> None:
    """Pin the present settings, and set the sidebar to those that were pinned; for callbacks."""
    keep_replaced()
    pinned = setup.pinned_values()
    if pinned is not None:
        setup.pin(current_setup().state.asked)
        choose_values(pinned)


def apply_preset(name: str, *, small: bool = False, **others: Any) -> None:
    """Set the sidebar to a preset with random weights, and other values; `small`: in a size that can be trained."""
    size = params.SMALL if small else {}
    choose_values({"weights": "random", **preset_values(name), **size, **others})


def use_task_defaults() -> None:
    """Set the chosen task's defaults; settings for which no task has one stay as they are."""
    defaults = TASKS[TASK_TITLES[st.session_state["training_task"]]].defaults
    for name in {name for task in TASKS.values() for name in task.defaults}:
        key = f"training_{name}"
        st.session_state[key] = defaults.get(name, params.OWN[key].default)


def preset_values(name: str) -> Mapping[str, Any]:
    """What a preset sets beside the weights, by the sidebar's keys, with the tokenizers that this server has."""
    return values_of_preset(name, has_wordpiece=caches.checkpoint_available())


def choose_run(run: KeptRun) -> None:
    """Choose a trained network, and an example of its task where it knows less than half of the text."""
    keep_replaced()
    trained = run.network
    choose_values({"weights": "trained here", "untrained": False, "run": run.name})
    sentences = split_sentences(current_value("text")).sentences
    unknown = [each for row in trained.tokenizer.encode_batch(sentences).unknown for each in row]
    if 2 * sum(unknown) > len(unknown) or not unknown:
        replace_text(trained.example)


def use_example_text() -> None:
    """Replace the text by an example of the trained network's task."""
    trained = trained_network(current_setup())
    if trained is not None:
        replace_text(trained.example)


LATE = 5.0
"""Seconds for which a field that says the old text is late; after them, somebody wants it back."""

_REPLACED = "_text_replaced"
"""Session key of the old text, the new one, when it took the other's place, and whether a second field brought it."""

_NOTHING = (None, None, 0.0, False)


def replace_text(text: str, *, by_second_field: bool = False) -> None:
    """Put a text in the place of the visitor's, that a button or the second field for it has brought.

    The browser does not know it before this run has ended: a press until then sends the first field's old text along.
    """
    keep_replaced()
    old = current_value("text")
    if text != old:
        st.session_state[_REPLACED] = (old, text, monotonic(), by_second_field)
    st.session_state["text"] = text


def is_late(text: str, *, in_second_field: bool = False) -> bool:
    """Whether a field that says this has not heard yet that the text was replaced."""
    old, _, when, by_second_field = st.session_state.get(_REPLACED, _NOTHING)
    return bool(text == old and monotonic() - when < LATE and not (in_second_field and by_second_field))


def keep_replaced() -> None:
    """Put the new text back where the sidebar's field reported the old one late; any other text is the visitor's.

    A button's callback may run before the field's own, and so calls this before it looks at the text.
    """
    text = current_value("text")
    old, new, *_ = st.session_state.get(_REPLACED, _NOTHING)
    if is_late(text):
        st.session_state["text"] = new
    elif text not in (old, new):
        forget_replaced()


def forget_replaced() -> None:
    """Take every text from now on as the visitor's, who has typed another one."""
    st.session_state.pop(_REPLACED, None)
