"""A visitor who does not wait for the page: what is chosen during a run is neither lost nor left behind."""

import os
import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.visitor import Visitor

IS_SOAK = "SOAK_PAUSES" in os.environ
PAUSES = (0, 200, 800, 2000) if IS_SOAK else (0, 800)
"""Milliseconds between a text and the next choice: the run of the text is over after two seconds alone."""

SMALL_PAIR = "/encoder-decoder?encdec_source=your+text&weights=random&n_layers=8&n_heads=8&d_model=256&d_ff=512"


def choices(address: str) -> dict[str, list[str]]:
    """The parameters of a link, without its version."""
    return {key: texts for key, texts in parse_qs(urlsplit(address).query).items() if key != "v"}


def test_an_attention_chosen_after_an_edit_of_the_target_is_shown_and_linked(visitor: Visitor) -> None:
    visitor.open(SMALL_PAIR)
    field = visitor.widget("encdec_target").locator("textarea")
    for i, pause in enumerate(PAUSES):
        attention, lines = (
            ("decoder self", "encoder self")[i % 2],
            (f"a target {i}", f"a target {i}\nof two lines")[i % 2],
        )
        field.fill(lines)
        field.press("Control+Enter")
        visitor.page.wait_for_timeout(pause)
        visitor.choose("encdec_attention", attention)
        copied = choices(visitor.copied_link())
        visitor.settled()
        chosen = {"encdec_attention": [attention], "encdec_target": [lines]}
        assert (pause, visitor.query()) == (pause, visitor.query() | chosen)
        assert (pause, copied) == (pause, visitor.query())
        expect(visitor.widget("encdec_pattern")).to_contain_text(f"{attention}, layer 0, head 0")


_SLOW = """const send = WebSocket.prototype.send
WebSocket.prototype.send = function (...message) { setTimeout(() => send.apply(this, message), 250) }"""


def test_a_link_copied_over_a_slow_connection_holds_the_last_choice(visitor: Visitor) -> None:
    visitor.page.add_init_script(_SLOW)
    visitor.open("/positions?positions_closer=true")
    for view, pause in (("doubled exponent", 0), ("similarity", 600)):
        text = f"after {pause}"
        visitor.type_text(text)
        visitor.page.wait_for_timeout(pause)
        visitor.choose("positions_view", view)
        copied = choices(visitor.copied_link())
        assert (pause, copied) == (pause, copied | {"positions_view": [view], "text": [text]})


def test_a_menu_link_opens_its_page_and_takes_the_text_that_was_being_typed(visitor: Visitor) -> None:
    visitor.open("/attention")
    for title, held in (("Norms", 0), ("Attention", 100)):
        text = f"Typed and left after {held} ms"
        field = visitor.widget("text").locator("textarea")
        field.fill(text)
        visitor.menu_link(title).click(delay=held)
        expect(visitor.page).to_have_title(re.compile(f"^{title} · "))
        expect(field).to_have_value(text)
        assert visitor.settled().query()["text"] == [text]
        assert f"/{title.lower()}" in visitor.page.url
