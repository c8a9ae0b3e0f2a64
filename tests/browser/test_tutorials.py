"""Topics of the page Tutorials: their buttons open another page where its promised part is in sight."""

import pytest
from playwright.sync_api import expect

from playground.tutorials.demonstrations import TUTORIALS
from tests.browser.visitor import Visitor


@pytest.mark.parametrize(
    ("letter", "target", "device"),
    [
        ("A", "step_drops", "phone"),
        ("D", "norm_by_hand", "phone"),
        ("E", "encdec_masks", "phone"),
        ("E", "encdec_masks", "visitor"),
    ],
)
def test_the_part_that_a_topic_is_about_comes_into_sight(
    letter: str, target: str, device: str, request: pytest.FixtureRequest
) -> None:
    visitor: Visitor = request.getfixturevalue(device)
    (number,) = (i for i, topic in enumerate(TUTORIALS[letter].topics, start=1) if topic.target == target)
    visitor.open(f"/tutorials?tutorials_letter={letter}")
    visitor.widget(f"tutorials_open_{number}").get_by_role("button").click()
    expect(visitor.widget(target)).to_be_in_viewport()
    middle = visitor.page.evaluate("window.innerHeight / 2")

    def is_in_upper_half() -> bool:
        box = visitor.widget(target).bounding_box()
        return box is not None and 0 <= box["y"] < middle

    visitor.eventually(is_in_upper_half, f"{target} has its top in the window's upper half")


def test_a_click_anywhere_on_a_card_chooses_its_tutorial(visitor: Visitor) -> None:
    visitor.open("/tutorials")
    visitor.widget("tutorials_letter").get_by_text("Notebook 05").click(force=True)  # what lies over it takes the click
    expect(visitor.widget("answer")).to_contain_text("tutorial D")
    assert visitor.settled().query() == {"tutorials_letter": ["D"]}
