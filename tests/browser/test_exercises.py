"""Exercises in the browser: answers, right and wrong; what is sent before; what the browser keeps."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Response, WebSocketRoute, expect

from playground.learn.exercise import Variant, read_exercise
from tests.browser.server import Server, serve
from tests.browser.test_every_page import expect_readable, grave_violations
from tests.browser.visitor import Visitor
from tests.browser.with_exercises import DEMO_EXERCISES

SECRET = "Secretword"
"""What every explanation of the tests' exercises has, and nothing else."""


@pytest.fixture(scope="module")
def exercise_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app with the tests' own exercises."""
    with serve(tmp_path_factory.mktemp("exercises"), "-m", "tests.browser.with_exercises") as running:
        yield running


@pytest.fixture
def laptop(exercise_server: Server, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor with a laptop, whose browser has kept nothing yet."""
    yield from _visit(exercise_server, shared_context)


@pytest.fixture
def phone(exercise_server: Server, phone_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor with a phone, whose browser has kept nothing yet."""
    yield from _visit(exercise_server, phone_context)


def _visit(server: Server, context: BrowserContext) -> Iterator[Visitor]:
    visitor = Visitor(server, context)
    visitor.page.goto(f"{server.url}/_stcore/health")  # of this address, whose storage the tests of a module share
    visitor.page.evaluate("localStorage.clear()")
    yield visitor
    visitor.assert_well()
    visitor.page.close()


def demo(name: str, number: int = 0) -> Variant:
    """An exercise of the tests, computed here."""
    file = DEMO_EXERCISES / f"demo-{name}.yaml"
    return Variant(read_exercise(file.read_text(encoding="utf-8"), file.name), number)


def open_demo(visitor: Visitor, name: str, more: str = "") -> Visitor:
    return visitor.open(f"/exercises?exercises_key=demo-{name}{more}")


def press(visitor: Visitor, target: Locator) -> None:
    """Touch on a phone, click elsewhere."""
    if visitor.page.evaluate("matchMedia('(hover: none)').matches"):
        target.tap()
    else:
        target.click()


def form(visitor: Visitor) -> Locator:
    return visitor.page.locator("[data-testid=stForm], .st-key-exercise_form").first


def check(visitor: Visitor) -> None:
    press(visitor, visitor.widget("exercise_check").get_by_role("button"))


def expect_wrong(visitor: Visitor, tries: int = 1) -> None:
    expect(visitor.widget("answer")).to_contain_text(f"Not yet, after {tries} ")
    expect(visitor.widget("exercise_explanation")).to_have_count(0)
    assert SECRET not in visitor.text()


def expect_right(visitor: Visitor, tries: int = 2) -> None:
    expect(visitor.widget("answer")).to_contain_text(f"You have found it, in {tries} ")
    expect(visitor.widget("exercise_explanation")).to_contain_text(SECRET)


class Traffic:
    """Everything that a page is sent, but for the front end's own files."""

    def __init__(self, visitor: Visitor) -> None:
        self.messages: list[bytes] = []
        self.bodies: list[Response] = []
        visitor.page.route_web_socket("**/_stcore/stream", self._pass_on)
        visitor.page.on("response", lambda response: self.bodies.append(response))

    def _pass_on(self, socket: WebSocketRoute) -> None:
        upstream = socket.connect_to_server()

        def answer(message: str | bytes) -> None:
            self.messages.append(message if isinstance(message, bytes) else message.encode())
            socket.send(message)

        upstream.on_message(answer)

    def everything(self) -> bytes:
        own = [each for each in self.bodies if "/static/" not in urlsplit(each.url).path and each.status == 200]
        bodies = [each.body() for each in own if each.request.resource_type in ("document", "fetch", "xhr", "other")]
        return b"\n".join([*self.messages, *bodies])


def test_a_number_with_its_usual_mistake_and_what_is_no_number(laptop: Visitor) -> None:
    open_demo(laptop, "number")
    field = form(laptop).get_by_role("textbox")
    field.fill("many")
    check(laptop)
    expect(laptop.widget("exercise_feedback")).to_contain_text("is no number")
    field.fill("2048")
    check(laptop)
    expect(laptop.widget("exercise_feedback")).to_contain_text("Each map also adds a bias")
    expect_wrong(laptop)
    laptop.settled()
    field.fill("4352/2")
    field.press("Enter")
    expect_right(laptop)
    expect(laptop.widget("exercise_hidden")).to_contain_text("4,592 parameters")  # the page's own first sentence
    assert "parameter_breakdown" in laptop.settled().charts()
    link = laptop.widget("exercise_explanation").get_by_role("link").get_attribute("href")
    assert link is not None
    laptop.page.goto(f"{laptop.server.url}/{link.removeprefix('./')}")
    expect(laptop.settled().widget("answer")).to_contain_text("4,592 parameters")


def give_up(visitor: Visitor) -> None:
    """What follows can be read and heard, too."""
    visitor.widget("exercise_give_up").get_by_role("button").click()
    expect(visitor.widget("exercise_explanation")).to_contain_text(SECRET)
    visitor.settled()
    assert grave_violations(visitor) == set()
    assert visitor.small_texts() == []


SECRETS = {
    "number": ["2,176", "2176", "Each map also adds", "parameter_breakdown", "4,592"],
    "click": ["attention_pattern_chart", "exercise_truth", "0.2793"],
}
"""What would give an answer away, beside the explanation: its numbers, and the charts that have them."""


@pytest.mark.parametrize("name", list(SECRETS))
def test_nothing_of_the_answer_is_sent_before_it_is_given_up(name: str, laptop: Visitor) -> None:
    """And the form and what follows can be read and heard."""
    traffic = Traffic(laptop)
    secrets = [SECRET.encode(), *(word.encode() for word in SECRETS[name])]
    open_demo(laptop, name)
    expect_readable(laptop)
    for number in (1, 2):
        laptop.widget("exercise_hint").get_by_role("button").click()
        expect(laptop.widget("exercise_hints")).to_contain_text(f"Hint {number}.")
    expect(laptop.widget("exercise_hint")).to_have_count(0)
    if name == "number":
        form(laptop).get_by_role("textbox").fill("7")
    else:
        for label in ("layer 1", "head 1"):
            form(laptop).get_by_role("radio", name=label).click()
    check(laptop)
    expect_wrong(laptop)
    laptop.settled()
    sent = traffic.everything()
    assert len(sent) > 10_000, "the page itself is among it"
    assert [secret for secret in secrets if secret in sent] == []
    kept = laptop.page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    assert SECRET not in kept + laptop.page.url
    give_up(laptop)
    sent = traffic.everything()
    assert {secrets[0], secrets[-1]} <= {secret for secret in secrets if secret in sent}


def find_number(visitor: Visitor) -> None:
    open_demo(visitor, "number")
    form(visitor).get_by_role("textbox").fill("2176")
    check(visitor)
    expect_right(visitor, tries=1)
    visitor.settled()


def test_the_browser_keeps_what_was_found(laptop: Visitor) -> None:
    find_number(laptop)
    laptop.open("/exercises")  # a new session
    expect(laptop.widget("answer")).to_contain_text("You have found 1 of")


@pytest.mark.parametrize(
    "script",
    [
        "localStorage.getItem('progress of the exercises') ?? localStorage.setItem('progress of the exercises', '{]')",
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })",
    ],
)
def test_a_storage_that_is_broken_or_refused_does_no_harm(laptop: Visitor, script: str) -> None:
    laptop.page.add_init_script(script)
    find_number(laptop)
    laptop.widget("exercise_list").get_by_role("button").click()
    expect(laptop.widget("answer")).to_contain_text("You have found 1 of")
