"""Exercises in the browser: answers, right and wrong; what is sent before; what the browser keeps."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Response, WebSocketRoute, expect

from tests.browser.server import Server, serve
from tests.browser.test_every_page import expect_readable, grave_violations
from tests.browser.visitor import Visitor

SECRET = "Secretword"
"""What every explanation of the tests' exercises has, and nothing else."""

SECRETS = {
    "number": ["2,176", "2176", "Each map also adds", "parameter_breakdown", "4,592"],
    "click": ["attention_pattern_chart", "exercise_truth", "0.2793"],
}
"""What would give an answer away, beside the explanation: its numbers, and the charts that have them."""


@pytest.fixture(scope="module")
def exercise_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app with the tests' own exercises."""
    with serve(tmp_path_factory.mktemp("exercises"), "-m", "tests.browser.with_exercises") as running:
        yield running


@pytest.fixture
def laptop(exercise_server: Server, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor with a laptop, whose browser has kept nothing yet."""
    visitor = Visitor(exercise_server, shared_context)
    visitor.page.goto(f"{exercise_server.url}/_stcore/health")  # of this address, whose storage a module's tests share
    visitor.page.evaluate("localStorage.clear()")
    yield visitor
    visitor.assert_well()
    visitor.page.close()


def open_demo(visitor: Visitor, name: str) -> Locator:
    """Open an exercise of the tests; returns its form."""
    visitor.open(f"/exercises?exercises_key=demo-{name}")
    return visitor.page.locator("[data-testid=stForm]").first


def click(visitor: Visitor, key: str) -> None:
    visitor.widget(key).get_by_role("button").click()


def expect_wrong(visitor: Visitor) -> None:
    expect(visitor.widget("answer")).to_contain_text("Not yet, after 1 try")
    expect(visitor.widget("exercise_explanation")).to_have_count(0)
    assert SECRET not in visitor.settled().text()


def expect_right(visitor: Visitor, tries: str) -> None:
    expect(visitor.widget("answer")).to_contain_text(f"You have found it, in {tries}")
    expect(visitor.widget("exercise_explanation")).to_contain_text(SECRET)
    visitor.settled()


class Traffic:
    """Everything that a page is sent, but for the front end's own files."""

    def __init__(self, visitor: Visitor) -> None:
        self.messages: list[bytes] = []
        self.bodies: list[Response] = []
        visitor.page.route_web_socket("**/_stcore/stream", self._pass_on)
        visitor.page.on("response", self._keep)

    def _keep(self, response: Response) -> None:
        self.bodies.append(response)

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
    field = open_demo(laptop, "number").get_by_role("textbox")
    for text, told in (("many", "is no number"), ("2048", "Each map also adds a bias")):
        field.fill(text)
        click(laptop, "exercise_check")
        expect(laptop.widget("exercise_feedback")).to_contain_text(told)
    expect_wrong(laptop)
    field.fill("4352/2")
    field.press("Enter")
    expect_right(laptop, "2 tries")
    expect(laptop.widget("exercise_hidden")).to_contain_text("4,592 parameters")  # the page's own first sentence
    assert "parameter_breakdown" in laptop.charts()
    link = laptop.widget("exercise_explanation").get_by_role("link").get_attribute("href")
    assert link is not None
    laptop.page.goto(f"{laptop.server.url}/{link.removeprefix('./')}")
    expect(laptop.settled().widget("answer")).to_contain_text("4,592 parameters")


@pytest.mark.parametrize("name", list(SECRETS))
def test_nothing_of_the_answer_is_sent_before_it_is_given_up(name: str, laptop: Visitor) -> None:
    """And the form and what follows can be read and heard."""
    traffic = Traffic(laptop)
    secrets = [SECRET.encode(), *(word.encode() for word in SECRETS[name])]
    form = open_demo(laptop, name)
    expect_readable(laptop)
    for number in (1, 2):
        click(laptop, "exercise_hint")
        expect(laptop.widget("exercise_hints")).to_contain_text(f"Hint {number}.")
    expect(laptop.widget("exercise_hint")).to_have_count(0)
    if name == "number":
        form.get_by_role("textbox").fill("7")
    else:
        for label in ("layer 1", "head 1"):
            form.get_by_role("radio", name=label).click()
    click(laptop, "exercise_check")
    expect_wrong(laptop)
    sent = traffic.everything()
    assert len(sent) > 10_000, "the page itself is among it"
    assert [secret for secret in secrets if secret in sent] == []
    click(laptop, "exercise_give_up")
    expect(laptop.widget("exercise_explanation")).to_contain_text(SECRET)
    assert grave_violations(laptop.settled()) == set()
    assert laptop.small_texts() == []
    assert all(secret in traffic.everything() for secret in (secrets[0], secrets[-1]))


@pytest.mark.parametrize(
    "script",
    [
        "",
        "localStorage.getItem('progress of the exercises') ?? localStorage.setItem('progress of the exercises', '{]')",
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })",
    ],
)
def test_the_browser_keeps_what_was_found_and_a_broken_storage_does_no_harm(laptop: Visitor, script: str) -> None:
    laptop.page.add_init_script(script)
    open_demo(laptop, "number").get_by_role("textbox").fill("2176")
    click(laptop, "exercise_check")
    expect_right(laptop, "1 try")
    if script:
        click(laptop, "exercise_list")
    else:
        laptop.open("/exercises")  # a new session
    expect(laptop.widget("answer")).to_contain_text("You have found 1 of")
