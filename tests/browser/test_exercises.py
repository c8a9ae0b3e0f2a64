"""Exercises in the browser: answers, right and wrong; what is sent before; what the browser keeps."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Response, WebSocketRoute, expect

from tests.browser.test_every_page import expect_readable, grave_violations
from tests.browser.visitor import Visitor

SECRET = "Secretword"
"""What every explanation of the tests' exercises has, and nothing else."""

SECRETS = {
    "number": ["2,176", "2176", "Each map also adds", "parameter_breakdown", "4,592"],
    "click": ["attention_pattern_chart", "exercise_truth", "0.2793"],
}
"""What would give an answer away, beside the explanation: its numbers, and the charts that have them."""


@pytest.fixture
def student(visitor: Visitor) -> Visitor:
    """A visitor whose browser has kept nothing yet."""
    visitor.page.goto(f"{visitor.server.url}/_stcore/health")  # of this address, whose storage the tests share
    visitor.page.evaluate("localStorage.clear()")
    return visitor


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


def test_a_number_with_its_usual_mistake_and_what_is_no_number(student: Visitor) -> None:
    field = open_demo(student, "number").get_by_role("textbox")
    for text, told in (("many", "is not a number"), ("2048", "Each map also adds a bias")):
        field.fill(text)
        click(student, "exercise_check")
        expect(student.widget("exercise_feedback")).to_contain_text(told)
    expect_wrong(student)
    field.fill("4352/2")
    field.press("Enter")
    expect_right(student, "2 tries")
    expect(student.widget("exercise_hidden")).to_contain_text("4,592 parameters")  # the page's own first sentence
    assert "parameter_breakdown" in student.charts()
    student.open("/exercises")  # a new session
    expect(student.widget("answer")).to_contain_text("You have found 1 of")


@pytest.mark.parametrize("name", list(SECRETS))
def test_nothing_of_the_answer_is_sent_before_it_is_given_up(name: str, student: Visitor) -> None:
    """And the form and what follows can be read and heard."""
    traffic = Traffic(student)
    secrets = [SECRET.encode(), *(word.encode() for word in SECRETS[name])]
    form = open_demo(student, name)
    expect_readable(student)
    for number in (1, 2):
        click(student, "exercise_hint")
        expect(student.widget("exercise_hints")).to_contain_text(f"Hint {number}.")
    if name == "number":
        form.get_by_role("textbox").fill("7")
    else:
        for label in ("layer 1", "head 1"):
            form.get_by_role("radio", name=label).click()
    click(student, "exercise_check")
    expect_wrong(student)
    sent = traffic.everything()
    assert len(sent) > 10_000, "the page itself is among it"
    assert [secret for secret in secrets if secret in sent] == []
    click(student, "exercise_give_up")
    expect(student.widget("exercise_explanation")).to_contain_text(SECRET)
    assert grave_violations(student.settled()) == set()
    assert all(secret in traffic.everything() for secret in (secrets[0], secrets[-1]))


@pytest.mark.parametrize(
    "script",
    [
        "localStorage.getItem('progress of the exercises') ?? localStorage.setItem('progress of the exercises', '{]')",
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })",
    ],
)
def test_a_broken_storage_does_no_harm(student: Visitor, script: str) -> None:
    student.page.add_init_script(script)
    open_demo(student, "number").get_by_role("textbox").fill("2176")
    click(student, "exercise_check")
    expect_right(student, "1 try")
    click(student, "exercise_list")
    expect(student.widget("answer")).to_contain_text("You have found 1 of")
