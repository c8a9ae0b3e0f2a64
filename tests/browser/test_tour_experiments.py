"""The second and the third experiment in a browser, by mouse and keyboard, and by a finger on a phone."""

from playwright.sync_api import Locator, expect

from tests.browser.test_every_page import expect_readable
from tests.browser.test_tour import conclusion, line
from tests.browser.visitor import Visitor

OWN = "The weather in Bonn was lovely on Sunday."
DENIED = "The weather in Bonn was not lovely on Sunday."
REPEATED = "On Sunday Bonn had beautiful sunshine."

SMALL = (
    "weights=random&training_length=5&training_n_symbols=6&training_n_train=256&d_model=32&n_heads=2"
    "&n_layers=1&d_ff=64&training_batch_size=32&training_steps=100"
)
PATIENT = 60_000


def act(visitor: Visitor, button: Locator) -> None:
    """Press a button by the keyboard, or by a finger on a phone."""
    if visitor.page.viewport_size and visitor.page.viewport_size["width"] < 500:
        button.tap()
    else:
        button.press("Enter")


def expect_step(visitor: Visitor, number: int, n_steps: int) -> None:
    """The step's number on the page and in the address, and the line in sight."""
    expect(line(visitor)).to_contain_text(f"Step {number} of {n_steps}", timeout=PATIENT)
    visitor.settled()
    assert visitor.query()["tour"] == [str(number)]
    expect(line(visitor)).to_be_in_viewport(ratio=0.9)


def go_on(visitor: Visitor, number: int, n_steps: int) -> None:
    """Go on from a step that is done."""
    expect(line(visitor)).to_contain_text(f"Step {number} of {n_steps}: done", timeout=PATIENT)
    act(visitor, visitor.settled().widget("tour_on").get_by_role("button"))


def write_list(visitor: Visitor, *sentences: str) -> None:
    field = visitor.widget("similarity_list").locator("textarea")
    field.fill("\n".join(sentences))
    field.press("Control+Enter")


def test_the_cosine_of_a_negation_is_tested_to_the_end(phone: Visitor) -> None:
    phone.open(f"/similarity?tour=1&experiment=negation&text={OWN}")
    expect_step(phone, 1, 4)
    expect(phone.widget("answer")).to_be_hidden()  # which is to be guessed
    phone.widget("tour_answer_far").get_by_role("button").tap()
    expect_step(phone, 2, 4)
    expect(phone.widget("answer")).to_be_visible()
    write_list(phone, DENIED)
    go_on(phone, 2, 4)
    expect_step(phone, 3, 4)
    line(phone).get_by_role("button", name="Show me").tap()
    phone.choose("similarity_view", "leave a word out")
    go_on(phone, 3, 4)
    expect_step(phone, 4, 4)
    write_list(phone, DENIED, REPEATED)
    expect(conclusion(phone)).to_contain_text("though one denies the other")
    expect(conclusion(phone)).to_contain_text("held")
    expect_readable(phone.settled())
    assert phone.query()["tour"] == ["5"]


def test_a_network_is_trained_and_its_heads_are_switched_off_one_after_the_other(visitor: Visitor) -> None:
    visitor.open(f"/training?tour=1&experiment=reverse&{SMALL}")
    expect_step(visitor, 1, 6)
    act(visitor, visitor.widget("training_start").get_by_role("button"))
    go_on(visitor, 1, 6)
    expect_step(visitor, 2, 6)
    act(visitor, line(visitor).get_by_role("button", name="No head"))
    go_on(visitor, 2, 6)
    expect_step(visitor, 3, 6)
    act(visitor, visitor.widget("training_look").get_by_role("button"))
    go_on(visitor, 3, 6)
    expect_step(visitor, 4, 6)
    act(visitor, line(visitor).get_by_role("link", name="Open Attention"))
    expect(visitor.page.locator("h1")).to_contain_text("Who attends")
    visitor.settled()
    act(visitor, visitor.widget("quick_off").get_by_role("button"))
    expect_step(visitor, 5, 6)
    act(visitor, line(visitor).get_by_role("button", name="Under 40 %"))
    go_on(visitor, 5, 6)
    expect_step(visitor, 6, 6)
    act(visitor, line(visitor).get_by_role("button", name="Do it for me"))
    expect(conclusion(visitor)).to_contain_text("of the letters right")
    expect_readable(visitor.settled())
    assert visitor.query()["tour"] == ["7"]
