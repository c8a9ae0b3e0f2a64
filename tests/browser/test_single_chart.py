"""One chart of a page in a frame, and the way from there to the whole page."""

from html.parser import HTMLParser

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


class FrameReader(HTMLParser):
    """The attributes of the frame in a snippet."""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag == "iframe"
        self.attributes = dict(attributes)


def test_the_snippet_of_a_chart_shows_that_chart_alone_and_leads_back(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open("/attention?layer=2&head=3&text=%22quoted%22+%26+%3Cb%3Ebold")
    weights = visitor.array("attention_pattern")
    visitor.widget("attention_pattern_save_menu").get_by_role("button").click()
    reader = FrameReader()
    snippet = visitor.page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    assert "&amp;" not in snippet, "where it is read as text, it opens the same"
    expect(visitor.page.get_by_test_id("stPopoverBody")).to_contain_text("operator has listed")
    reader.feed(snippet)
    assert reader.attributes["title"]
    source = reader.attributes["src"]
    assert source is not None
    frame = classmate.page
    frame.goto(source)
    expect(classmate.widget("attention_pattern").locator(".main-svg").first).to_be_visible()
    expect(frame.locator("[data-test-script-state=notRunning]")).to_have_count(1)
    assert (classmate.array("attention_pattern") == weights).all()
    assert list(classmate.charts()) == ["attention_pattern"]
    expect(frame.locator("h1")).to_be_hidden()
    expect(classmate.widget("attention_view")).to_be_hidden()
    classmate.move("next head")
    expect(classmate.widget("attention_pattern")).to_contain_text("layer 2, head 4")
    way_out = frame.get_by_role("link", name="Open in the playground")
    visitor.open(str(way_out.get_attribute("href")))
    assert visitor.focused()["head"] == 4
    assert visitor.query()["text"] == ['"quoted" & <b>bold']
