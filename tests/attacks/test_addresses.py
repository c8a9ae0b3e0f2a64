"""One limit for the links that the app writes, and that it reads."""

import pytest
from playwright.sync_api import Browser, expect

from playground.limits import LINK_FIELDS, MAX_ADDRESS
from playground.link.opening import split_link
from tests.attacks.client import ask
from tests.browser.server import Server
from tests.browser.visitor import Visitor


def test_what_is_too_long_is_said_and_the_rest_is_read(target: Server) -> None:
    fits = f"/attention?text={'x' * (MAX_ADDRESS - 20)}"
    assert ask(target, fits)[0] == 200
    status, page = ask(target, f"{fits}{'x' * 100}")
    assert status == 414
    assert f"takes {MAX_ADDRESS:,} characters" in page
    assert ask(target, "/attention?" + "&".join(f"p{n}=1" for n in range(LINK_FIELDS + 1)))[0] == 414
    assert target.tracebacks() == []


@pytest.mark.flaky(reruns=1)
def test_a_link_that_is_too_long_goes_into_a_file(target: Server, browser: Browser) -> None:
    visitor = Visitor.anew(target, browser, accept_downloads=True)
    visitor.open("/training?training_task=Next+character")
    visitor.type_text("猫" * 1_900)
    texts = visitor.page.locator(".st-key-training_text textarea")
    texts.fill("狗" * 3_999)
    texts.blur()
    visitor.settled()
    visitor.page.get_by_role("button", name="Copy link to this view").click()
    file = visitor.page.get_by_role("link", name="Save the link as a file")
    expect(file).to_be_visible()
    with visitor.page.expect_download() as download:
        file.click()
    link = download.value.path().read_text()
    assert len(link) > MAX_ADDRESS
    page, values = split_link(link)
    assert (page, values["text"]) == ("training", ["猫" * 1_900])
    assert values["training_text"][0].count("狗") == 3_999
    visitor.page.context.close()
