"""A component without a picture: the browser runs the fragment around it once more, after it has drawn it."""

from playground.web.components.load_component import load_component
from playground.web.components.moment import moment

_again = load_component("ask_again")


def ask_again(key: str) -> None:
    """Have the browser run this fragment once more; drawn for as long as there is something left to do.

    What takes long is done in small parts, one a run. A visitor's choice between two of them is answered at once, and
    where nobody looks any more, nobody asks.
    """
    _again(key=key, data=moment(), on_again_change=_answer)


def _answer() -> None:
    """The run that follows is all that was asked for."""
