"""The button that copies a link to the present view, and shows it beside itself."""

from collections.abc import Mapping

from playground.web.components.load_component import load_component

_button = load_component("copy_link")


def draw_copy_link(version: str, more: Mapping[str, list[str]]) -> None:
    """Draw the button; the link is read from the address bar when it is pressed.

    The version of the link's format goes with it, and `more` parameters where the address bar does not have them.
    """
    _button(key="copy_link", data={"version": version, "more": dict(more)})
