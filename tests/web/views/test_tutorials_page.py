"""The Tutorials page, its numbers against ones computed here, and its doors to the other pages."""

from unittest import mock

import numpy as np
import pytest
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import ElementTree, parse_tree_from_messages

from playground.link.kinds import write
from playground.link.params import ARCHITECTURE, SMALL, page_parameters
from playground.link.query import read
from playground.pages import PAGES
from playground.presets import PRESETS
from playground.training.tasks import TASKS
from playground.tutorials import TUTORIALS, Topic
from tests.web.app_test import (
    array,
    charts,
    component_data,
    open_page,
    press,
    sentences,
    values,
    without_error,
)

TITLES = {path: page.title for path, page in PAGES.items()}


def test_open_as_preset_sets_the_sidebar_and_opens_the_page() -> None:
    app = press(open_page("tutorials", tutorials_letter="A", seed="3"), "tutorials_open_overview")
    preset = PRESETS["tutorial-a"]
    assert values(app) == {key: vars(preset.config)[key] for key in ARCHITECTURE}
    expected = {"weights": "random", "seed": 3, "text": preset.text, "tokenizer": preset.tokenizer}
    assert values(app, *expected) == expected
    assert app.title[0].value == "What happens to a sentence in an encoder?"


def open_topic(letter: str, words: str, **query: object) -> AppTest:
    """Press the button of a tutorial's one topic whose sentence has these words."""
    topics = TUTORIALS[letter].topics
    (number,) = (i for i, topic in enumerate(topics, start=1) if words in topic.text)
    return press(open_page("tutorials", tutorials_letter=letter, **query), f"tutorials_open_{number}")


TOPICS = [(letter, topic) for letter, tutorial in TUTORIALS.items() for topic in tutorial.topics]
ELSEWHERE = {
    "overview_shapes": False,
    "norms_view": "tokens",
    "positions_view": "similarity",
    "parameters_view": "layers",
    "step_path": "as tutorial B",
    "encdec_attention": "encoder self",
    "attention_show": "average of heads",
}
"""What the visitor has looked at before, on other views than the topics'."""


@pytest.mark.sweep
@pytest.mark.parametrize(("letter", "topic"), TOPICS, ids=[f"{letter}: {topic.text[:30]}" for letter, topic in TOPICS])
def test_a_topic_opens_what_it_promises_and_scrolls_there(letter: str, topic: Topic) -> None:
    app = open_page("tutorials", tutorials_letter=letter)
    for key, value in ELSEWHERE.items():
        app.session_state[key] = value
    messages: list[ForwardMsg] = []

    def record(queue: list[ForwardMsg]) -> ElementTree:
        messages[:] = queue
        return parse_tree_from_messages(queue)

    number = 1 + TUTORIALS[letter].topics.index(topic)
    with mock.patch.object(local_script_runner, "parse_tree_from_messages", record):
        without_error(press(app, f"tutorials_open_{number}"))
    drawn = {key for message in messages for key in keys_of(message.delta)}
    assert app.title[0].value != "What is different in the tutorial that I follow?"
    assert {key: app.session_state[key] for key in topic.settings} == topic.settings
    assert component_data(app, "scroll_to").get("target", "") == topic.target
    assert topic.target in {"", *drawn}
    if topic == TUTORIALS["A"].topics[-1]:
        assert not component_data(app.run(), "scroll_to"), "it scrolls once"


def keys_of(delta: Delta) -> list[str]:
    """The key of what a message draws: a container, a widget or a component."""
    block, element = delta.add_block, delta.new_element
    kinds = [block, getattr(block, block.WhichOneof("type") or "", None)]
    kinds.append(getattr(element, element.WhichOneof("type") or "", None))
    return [key for kind in kinds if (key := user_key_from_element_id(getattr(kind, "id", "")))]


def test_the_regularising_mask_is_causal_when_its_topic_opens_and_no_longer_after_another_topic() -> None:
    app = open_topic("C", "Masking as")
    assert values(app, "causal", "tokenizer", "weights") == {
        "causal": True,
        "tokenizer": "vectors",
        "weights": "random",
    }
    pattern = array(charts(app)["attention_pattern"])
    assert np.array_equal(np.isnan(pattern), ~np.tri(len(pattern), dtype=bool))
    app = press(open_page("tutorials", tutorials_letter="C", causal=True), "tutorials_open_overview")
    assert values(app, "causal") == {"causal": False}


def test_the_next_step_is_the_task_next_character_with_its_defaults() -> None:
    app = open_topic("D", "Its next step", training_length=20)
    assert app.title[0].value == "How does a transformer learn?"
    assert values(app, *SMALL) == SMALL, "its own size takes too long"
    expected = {"training_task": "Next character"}
    expected |= {f"training_{name}": value for name, value in TASKS["characters"].defaults.items()}
    assert values(app, *expected) == expected


@pytest.mark.parametrize("letter", TUTORIALS)
def test_what_topics_set_are_words_of_the_pages_own_parameters(letter: str) -> None:
    for topic in TUTORIALS[letter].topics:
        for key, value in topic.settings.items():
            assert key in {*page_parameters(topic.page), "causal", "text", "sentence"}
            assert read(key, [write(value)]) == (value, None)


def test_a_wrong_link_is_told() -> None:
    app = without_error(open_page("tutorials", tutorials_letter="Z"))
    assert "tutorials_letter" in sentences(app)
    assert values(app, "tutorials_letter") == {"tutorials_letter": "A"}
