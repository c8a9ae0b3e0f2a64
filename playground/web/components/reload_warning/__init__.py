"""A component without a picture: where it is drawn, the browser asks before it reloads or closes the page."""

from playground.web.components.load_component import load_component

_warning = load_component("reload_warning")


def ask_before_reload() -> None:
    """Let the browser ask for as long as this is drawn.

    A browser may keep a page that asks out of its back/forward cache, so this is drawn only where something gets lost.
    """
    _warning(key="reload_warning")
