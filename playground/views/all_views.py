"""Every page that is a view, by its path: what it shows, and what a link's scene of it is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.analysis.comparison import have_same_tokens
from playground.charts.chart import Item, Options
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.link.opening import LinkedView
from playground.runs.encoder_run import Run
from playground.views.norms import show_norms


@dataclass(frozen=True)
class View:
    """A page's view."""

    show: Callable[[Scene[Any], Options], Iterator[Item]]
    scene: Callable[[LinkedView], Scene[Any]]
    """What it looks at where a link is opened without the app; raises as the link's run."""


def run_scene(view: LinkedView) -> Scene[Run]:
    """The run that a link shows, and the pinned one where it can be had."""
    pinned = None
    if view.pinned is not None:
        try:
            pinned = view.pinned.run
        except PlaygroundError:  # the present run is shown alone, as on the page
            pinned = None
    if pinned is None:
        return Scene(view.run, view.focus)
    return Scene(view.run, view.focus, pinned, "pinned", "now", have_same_tokens(view.run, pinned))


VIEWS: Mapping[str, View] = {"norms": View(show_norms, run_scene)}
"""By the pages' paths."""
