"""The Tutorials page, its numbers against ones computed here, and its doors to the other pages."""

from unittest import mock

import pytest
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.testing.v1 import local_script_runner
from streamlit.testing.v1.element_tree import ElementTree, parse_tree_from_messages

from playground.link.kinds import write
from playground.link.params import ARCHITECTURE, SMALL, page_parameters
from playground.link.query import read
from playground.pages import PAGES
from playground.presets import PRESETS
from playground.training.tasks import TASKS
from playground.tutorials import TUTORIALS, Topic
from tests.web.app_test import chosen, component_data, open_page, press, values, without_error

TITLES = {path: page.title for path, page in PAGES.items()}


def test_open_as_preset_sets_the_sidebar_and_opens_the_page() -> None:
    app = press(open_page("tutorials", tutorials_letter="A", seed="3"), "tutorials_open_overview")
    preset = PRESETS["tutorial-a"]
    assert values(app) == {key: vars(preset.config)[key] for key in ARCHITECTURE}
    expected = {"weights": "random", "seed": 3, "text": preset.text, "tokenizer": preset.tokenizer}
    assert values(app, *expected) == expected
    assert app.title[0].value == "What happens to a sentence in an encoder?"


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
    assert {key: chosen(app, key) for key in topic.settings} == topic.settings
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


def test_the_next_step_is_the_task_next_character_with_its_defaults() -> None:
    app = press(open_page("tutorials", tutorials_letter="D", training_length=20), "tutorials_open_7")
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
