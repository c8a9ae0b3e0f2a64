"""A sentence that the browser shows where the server no longer has what the visitor started on this page."""

from playground.web.components.load_component import load_component

_lost = load_component("lost_experiment")


def say_if_lost(page: str, session: str, *, has_experiment: bool, has_network: bool = False) -> None:
    """Say that the page's experiment is lost, if an earlier session had one in this tab and this session has none.

    The server can't know that, as it lost the session with the experiment: the tab remembers which session had one.
    With a network that came back, the curves alone are lost.
    """
    found = {"hasExperiment": has_experiment, "hasNetwork": has_network}
    _lost(key=f"{page}_lost", data={"page": page, "session": session, **found})
