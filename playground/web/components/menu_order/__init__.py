"""Order without a picture: what was typed reaches the server before the page that is asked for next."""

from playground.web.components.load_component import load_component

_order = load_component("menu_order")


def send_text_before_page() -> None:
    """Let a press on the menu wait until the text that it takes the cursor from is sent."""
    _order(key="menu_order")
