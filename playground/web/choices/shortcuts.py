"""Callbacks that set several choices at once, before any widget is drawn."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import streamlit as st

from playground.language.text import english_tokenizer
from playground.link import params
from playground.link.kinds import MAX_CHANGES, Changes, MadeChange
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT, FOCUS, LOCKED, OWN, PARAMS, SHARED, write_all
from playground.link.query import read, shape_to_train, values_of_preset
from playground.model.changes import Change
from playground.text import split_sentences
from playground.training.tasks import TASKS
from playground.training.trained_network import TrainedNetwork
from playground.web.choices import setup
from playground.web.choices.setup import current_setup, current_value, keep_replaced, session_choices
from playground.web.session import caches
from playground.words import say


def replace_text(text: str, *, by_second_field: bool = False) -> None:
    """Replace the visitor's text."""
    keep_replaced()
    setup.set_values({"text": text}, by_second_field=by_second_field)


def choose_values(values: Mapping[str, Any]) -> None:
    """Choose values of parameters."""
    keep_replaced()
    setup.set_values({"run": "", **values} if "weights" in values else values)


def choose(chosen: Mapping[str, Any]) -> None:
    """Choose values of parameters; pages' own are checked like a link's."""
    keep_replaced()
    choose_values({key: value for key, value in chosen.items() if key in SHARED})
    choose_places(**{key: value for key, value in chosen.items() if key not in SHARED})


def choose_places(**chosen: object) -> None:
    """Choose places of the focus, or values of a page's own parameters, which are checked like a link's."""
    readings = {key: read(key, write_all(value)) for key, value in chosen.items() if key in PARAMS}
    setup.set_values({key: value for key, (value, complaint) in readings.items() if complaint is None})


def move_focus(**asked: object) -> None:
    """Choose a layer, head, query or key; what is none of them is left out."""
    choose_places(**{key: value for key, value in asked.items() if key in FOCUS})


def undo() -> None:
    """Bring back the moment before the last choice."""
    keep_replaced()
    kept = session_choices().moments
    if len(kept) > 1 and setup.take_moment() == kept[-1]:
        kept.pop()
    setup.restore(kept[-1])


def reset_everything() -> None:
    """Set every parameter to its default, and pin nothing."""
    setup.pin(None)
    setup.set_values(params.default_values({}))
    setup.note_focus_text(by_page=True)


def swap_pinned() -> None:
    """Pin the present settings, and choose those that were pinned."""
    keep_replaced()
    pinned = session_choices().pinned
    if pinned is not None:
        setup.pin(current_setup().state.asked)
        choose_values(pinned)


def apply_preset(name: str, *, small: bool = False, **others: Any) -> None:
    """Choose a preset with random weights, and other values; `small`: in a size that can be trained."""
    size = params.SMALL if small else {}
    choose_values({"weights": "random", **preset_values(name), **size, **others})


def preset_values(name: str) -> Mapping[str, Any]:
    """Return what a preset sets beside the weights, with the tokenizers that this server has."""
    return values_of_preset(name, has_wordpiece=caches.checkpoint_available())


def change_trained_shape(key: str, value: Any) -> None:
    """Take the shape that Training trains with one setting changed, and random weights."""
    shape = shape_to_train(current_setup().state.asked)
    choose_values({"weights": "random", "untrained": False, **shape, key: value})


def use_task_defaults() -> None:
    """Set the chosen task's defaults; settings for which no task has one stay as they are."""
    defaults = TASKS[params.TASK_TITLES[st.session_state["training_task"]]].defaults
    for name in {name for task in TASKS.values() for name in task.defaults}:
        key = f"training_{name}"
        st.session_state[key] = defaults.get(name, OWN[key].default)


def choose_run(trained: TrainedNetwork) -> None:
    """Choose a trained network, and an example of its task if it knows less than half of the text."""
    keep_replaced()
    choose_values({"weights": "trained here", "untrained": False, "run": trained.run_name})
    sentences = split_sentences(current_value("text")).sentences
    unknown = [each for row in trained.tokenizer.encode_batch(sentences).unknown for each in row]
    if 2 * sum(unknown) > len(unknown) or not unknown:
        replace_text(trained.example)


def use_example_text() -> None:
    """Replace the text by an example of the trained network's task."""
    trained = setup.trained_network(current_setup())
    if trained is not None:
        replace_text(trained.example)


# --- the small English


def choose_english(**settings: Any) -> None:
    """Choose the small English's base with these settings instead; a text that it does not know gives way."""
    keep_replaced()
    values = {key: value for key, value in params.english_defaults(settings).items() if key in ARCHITECTURE}
    text = current_value("text")
    if text == DEFAULT_TEXT or not knows(text):
        values |= {"text": params.ENGLISH_TEXT, "mask": params.ENGLISH_PLACE}
    choose_values({"weights": "english", "untrained": False, "causal": False, "seed": 0, **values, **settings})


def knows(text: str) -> bool:
    """Whether all words of a text are of the small English, and there are some."""
    sentences = split_sentences(text).sentences
    return bool(sentences) and not any(map(any, english_tokenizer().encode_batch(sentences).unknown))


def leave_minilm(key: str, value: Any) -> None:
    """Choose the small English with the one change that was made on MiniLM's control."""
    text = current_value("text")
    choose_english(**{key: value})
    setup.note_replaced("weights", "minilm")
    if current_value("text") != text:
        setup.note_moment(setup.take_moment(), [say("sidebar", "text-replaced")], session_choices().page, is_new=True)


def weights_chosen() -> None:
    """Follow the choice of other weights: the small English brings its base, the others their own shape."""
    weights = st.session_state["weights"]
    keep_replaced()
    if st.session_state["weights"] != weights:
        return  # a control was moved, and the browser has not heard of it
    if weights == "english":
        choose_english()
        return
    st.session_state["mask"], st.session_state["run"] = params.NO_MASK, ""
    if current_value("text") == params.ENGLISH_TEXT:
        replace_text(DEFAULT_TEXT)
    _restore_shape(weights)


def _restore_shape(weights: str) -> None:
    free = setup.last_moment(lambda each: each != "trained here")
    if free is not None and weights != "trained here":
        st.session_state.update({key: free.values[key] for key in ("causal", "seed")})
    before = setup.last_moment(lambda each: each == weights) or setup.last_moment(lambda each: each == "random")
    if before is not None and weights in ("random", "mine"):
        st.session_state.update({key: before.values[key] for key in LOCKED})


def back_to_minilm() -> None:
    """Bring back what was chosen before the small English, or else MiniLM with its own text."""
    before = setup.last_moment(lambda weights: weights == "minilm")
    if before is None:
        text = {"text": DEFAULT_TEXT} if current_value("text") == params.ENGLISH_TEXT else {}
        choose_values({"weights": "minilm", "untrained": False, **text})
    else:
        setup.restore(before)


def follow_move(key: str) -> None:
    """Move what follows a setting of the small English that the visitor has moved."""
    before = session_choices().moments[-1].values
    old = params.english_defaults(before)
    new = params.english_defaults({**before, key: st.session_state[key]})
    following = [each for each in params.FOLLOWING if each != key and before[each] == old[each]]
    st.session_state.update({each: new[each] for each in following})


def use_sentence(text: str, place: int) -> None:
    """Take a sentence of the small English and hide one of its words, by its position."""
    replace_text(text)
    st.session_state["mask"] = place


# --- changes of the computation


def switch_changes(on: Collection[Change]) -> None:
    """Switch these on, and all others of the visitor's changes off."""
    _keep(MadeChange(each, each in on) for each, _ in current_setup().changes)


def take_back(changes: Collection[Change]) -> None:
    """Forget these changes."""
    _keep(each for each in current_setup().changes if each.change not in changes)


def take_back_all() -> None:
    """Forget every change."""
    _keep(())


def _keep(changes: Iterable[MadeChange]) -> None:
    st.session_state["do"] = Changes(tuple(changes)[:MAX_CHANGES])
